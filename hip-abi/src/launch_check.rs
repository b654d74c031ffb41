//! What a launch is checked against, in the order that AMD's runtime checks it, with the codes of the HIP version presented.
//!
//! HIP 5, as AMD's libamdhip64 5.2.3 answers: a grid of more than 2³²-1 work-items `hipErrorInvalidConfiguration`; an empty grid or block
//! `hipErrorInvalidValue`; too big a block `hipErrorInvalidConfiguration`; past the launch bounds `hipErrorLaunchFailure`; a cooperative launch
//! that does not fit on the device at once `hipErrorCooperativeLaunchTooLarge`; too much LDS `hipErrorOutOfMemory`. A function of a cooperative
//! launch that is not registered is `hipErrorInvalidSymbol` there.
//!
//! From HIP 6 on, as `hipamd/src/hip_module.cpp` of ROCm/clr has it: too much LDS before too big a block, both `hipErrorInvalidValue` (a block
//! `hipErrorInvalidConfiguration` from HIP 7). `hipLaunchCooperativeKernel` looks at both first, and says `hipErrorInvalidConfiguration` of the
//! block and `hipErrorCooperativeLaunchTooLarge` of the LDS. Modules' grids have at most 2³¹-1 by 65536 by 65536 blocks; from gfx12 on others
//! have at most 65536 in y and z.
//!
//! In all versions: arguments given twice or not at all `hipErrorInvalidValue`; then what the kernel's metadata forbids.

use gneiss_clr::Kernel;

use crate::{
    error::*,
    fail,
    launch::{Api, Request},
    occupancy,
    runtime::Device,
    version::{self, Major},
};

/// Blocks of a grid in y and in z, where there is a limit.
const MAX_BLOCKS_YZ: u32 = 65536;

/// Limits that a launch is checked against.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Bytes of LDS of a group.
    lds: usize,
    /// Work-items of a group, by the device.
    workgroup: u32,
    /// Work-items of a group, by the kernel's launch bounds.
    launch_bounds: u32,
    /// Static LDS of the kernel.
    static_lds: usize,
    /// The kernel has arguments.
    needs_arguments: bool,
    /// Groups must divide the grid.
    uniform: bool,
    /// Number of the target's generation.
    generation: u32,
}

impl Limits {
    fn new(kernel: &Kernel, device: &Device) -> Self {
        let (metadata, properties) = (kernel.metadata(), device.clr.properties());
        Limits {
            lds: properties.lds_size,
            workgroup: properties.workgroup_max_size,
            launch_bounds: metadata.max_flat_workgroup_size,
            static_lds: metadata.group_segment_fixed_size as usize,
            needs_arguments: !kernel.explicit_arguments().is_empty(),
            uniform: metadata.uniform_work_group_size,
            generation: properties.gfx_version.0,
        }
    }
}

/// Checks a launch on a device; gives grid and block in work-items.
pub(crate) fn check(
    kernel: &Kernel,
    device: &Device,
    request: &Request,
) -> HipResult<([u32; 3], [u32; 3])> {
    // Only a cooperative launch asks how much fits.
    let resident = || occupancy::resident_blocks(kernel, threads(request) as u32, request.shared);
    validate(
        request,
        &Limits::new(kernel, device),
        version::presented(),
        resident,
    )
}

fn threads(request: &Request) -> u64 {
    request.block.iter().map(|size| u64::from(*size)).product()
}

/// Checks a launch; `resident` gives the blocks that the device holds at once.
fn validate(
    request: &Request,
    limits: &Limits,
    major: Major,
    resident: impl FnOnce() -> u64,
) -> HipResult<([u32; 3], [u32; 3])> {
    if !request.params.is_null() && !request.extra.is_null() {
        return fail!(
            hipErrorInvalidValue,
            "kernelParams and extra are both given"
        );
    }
    blocks_of_grid(request, limits, major)?;
    let (grid, block) = (request.grid, request.block);
    let mut global = grid;
    if request.api != Api::Extended {
        for axis in 0..3 {
            let size = u64::from(grid[axis]) * u64::from(block[axis]);
            let Ok(size) = u32::try_from(size) else {
                return fail!(
                    hipErrorInvalidConfiguration,
                    "{size} work-items in dimension {axis} are more than 4294967295"
                );
            };
            global[axis] = size;
        }
    }
    if major >= Major::Six && request.cooperative && request.api == Api::Runtime {
        block_size(request, limits, hipErrorInvalidConfiguration)?;
        local_memory(request, limits, hipErrorCooperativeLaunchTooLarge)?;
    }
    if grid.contains(&0) || block.contains(&0) {
        return fail!(
            hipErrorInvalidValue,
            "an empty grid: {grid:?} of blocks of {block:?}"
        );
    }
    match major {
        Major::Five => {
            block_size(request, limits, hipErrorInvalidConfiguration)?;
            launch_bounds(request, limits)?;
            fits_at_once(request, resident)?;
            local_memory(request, limits, hipErrorOutOfMemory)?;
            arguments(request, limits)?;
        }
        Major::Six | Major::Seven => {
            local_memory(request, limits, hipErrorInvalidValue)?;
            let error = if major >= Major::Seven {
                hipErrorInvalidConfiguration
            } else {
                hipErrorInvalidValue
            };
            block_size(request, limits, error)?;
            arguments(request, limits)?;
            launch_bounds(request, limits)?;
            fits_at_once(request, resident)?;
        }
    }
    let block = if request.api == Api::Extended {
        std::array::from_fn(|axis| block[axis].min(global[axis]))
    } else {
        block
    };
    if limits.uniform && (0..3).any(|axis| !global[axis].is_multiple_of(block[axis])) {
        return fail!(
            hipErrorInvalidValue,
            "the kernel wants blocks that divide the grid: {global:?} by {block:?}"
        );
    }
    Ok((global, block))
}

fn blocks_of_grid(request: &Request, limits: &Limits, major: Major) -> HipResult {
    let [x, y, z] = request.grid;
    let deep = y > MAX_BLOCKS_YZ || z > MAX_BLOCKS_YZ;
    let error = match request.api {
        _ if major == Major::Five => return Ok(()),
        Api::Module if x > i32::MAX as u32 || deep => hipErrorInvalidValue,
        Api::Runtime if limits.generation >= 12 && deep => hipErrorInvalidConfiguration,
        _ => return Ok(()),
    };
    fail!(
        error,
        "a grid of {:?} blocks is more than [2147483647, {MAX_BLOCKS_YZ}, {MAX_BLOCKS_YZ}]",
        request.grid
    )
}

fn block_size(request: &Request, limits: &Limits, error: hipError_t) -> HipResult {
    let block = request.block;
    let most = limits.workgroup;
    if block.iter().any(|size| *size > most) || threads(request) > u64::from(most) {
        return fail!(
            error,
            "a block of {block:?} threads is more than the device's {most}"
        );
    }
    Ok(())
}

fn local_memory(request: &Request, limits: &Limits, error: hipError_t) -> HipResult {
    if request.shared.saturating_add(limits.static_lds) > limits.lds {
        return fail!(
            error,
            "{} bytes of dynamic and {} of static LDS are more than the {} of a block",
            request.shared,
            limits.static_lds,
            limits.lds
        );
    }
    Ok(())
}

fn arguments(request: &Request, limits: &Limits) -> HipResult {
    if request.params.is_null() && request.extra.is_null() && limits.needs_arguments {
        return fail!(hipErrorInvalidValue, "the kernel's arguments are missing");
    }
    Ok(())
}

fn launch_bounds(request: &Request, limits: &Limits) -> HipResult {
    let threads = threads(request);
    if limits.launch_bounds != 0 && threads > u64::from(limits.launch_bounds) {
        return fail!(
            hipErrorLaunchFailure,
            "a block of {threads} threads is more than the {} of the kernel's __launch_bounds__",
            limits.launch_bounds
        );
    }
    Ok(())
}

/// The blocks of a cooperative launch wait for each other: all of them have to be there.
fn fits_at_once(request: &Request, resident: impl FnOnce() -> u64) -> HipResult {
    if !request.cooperative {
        return Ok(());
    }
    let (blocks, most) = (
        request
            .grid
            .iter()
            .map(|size| u128::from(*size))
            .product::<u128>(),
        resident(),
    );
    if blocks > u128::from(most) {
        return fail!(
            hipErrorCooperativeLaunchTooLarge,
            "{blocks} blocks of a cooperative launch are more than the {most} that the device holds at once"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::dim3;

    const LIMITS: Limits = Limits {
        lds: 65536,
        workgroup: 1024,
        launch_bounds: 256,
        static_lds: 1024,
        needs_arguments: false,
        uniform: false,
        generation: 9,
    };

    const ALL: [Major; 3] = [Major::Five, Major::Six, Major::Seven];

    fn request(api: Api, grid: [u32; 3], block: [u32; 3]) -> Request {
        let of = |[x, y, z]: [u32; 3]| dim3 { x, y, z };
        Request {
            api,
            ..Request::new(of(grid), of(block), 0, std::ptr::null_mut())
        }
    }

    fn runtime(grid: [u32; 3], block: [u32; 3]) -> Request {
        request(Api::Runtime, grid, block)
    }

    /// The error under each version, with room for 100 blocks.
    fn errors(request: &Request) -> [Option<hipError_t>; 3] {
        ALL.map(|major| validate(request, &LIMITS, major, || 100).err())
    }

    #[test]
    fn good_launches() {
        for major in ALL {
            assert_eq!(
                validate(&runtime([3, 2, 1], [64, 2, 1]), &LIMITS, major, || 0),
                Ok(([192, 4, 1], [64, 2, 1]))
            );
            assert_eq!(
                validate(
                    &request(Api::Extended, [100, 1, 1], [256, 1, 1]),
                    &LIMITS,
                    major,
                    || 0
                ),
                Ok(([100, 1, 1], [100, 1, 1]))
            );
        }
    }

    #[test]
    fn an_empty_grid_or_block_is_an_invalid_value() {
        for (grid, block) in [([0, 1, 1], [64, 1, 1]), ([1, 1, 1], [64, 0, 1])] {
            for api in [Api::Runtime, Api::Module, Api::Extended] {
                let errors = errors(&request(api, grid, block));
                assert_eq!(errors, [Some(hipErrorInvalidValue); 3], "{api:?}");
            }
        }
    }

    #[test]
    fn the_code_for_too_big_a_block_changes_twice() {
        for block in [[1025, 1, 1], [32, 33, 1], [u32::MAX, 1, 1]] {
            let want = [
                Some(hipErrorInvalidConfiguration),
                Some(hipErrorInvalidValue),
                Some(hipErrorInvalidConfiguration),
            ];
            assert_eq!(errors(&runtime([1, 1, 1], block)), want);
        }
        // It comes before the launch bounds.
        assert_eq!(
            errors(&runtime([1, 1, 1], [512, 1, 1])),
            [Some(hipErrorLaunchFailure); 3]
        );
    }

    #[test]
    fn too_much_local_memory_is_out_of_memory_in_hip_5() {
        let want = [
            Some(hipErrorOutOfMemory),
            Some(hipErrorInvalidValue),
            Some(hipErrorInvalidValue),
        ];
        for shared in [65536, usize::MAX] {
            let request = Request {
                shared,
                ..runtime([1, 1, 1], [64, 1, 1])
            };
            assert_eq!(errors(&request), want);
        }
        // HIP 5 looks at the launch bounds first.
        let both = Request {
            shared: 65536,
            ..runtime([1, 1, 1], [512, 1, 1])
        };
        assert_eq!(errors(&both)[0], Some(hipErrorLaunchFailure));
        assert_eq!(errors(&both)[1], Some(hipErrorInvalidValue));
    }

    #[test]
    fn grids_have_less_than_two_to_the_32_work_items_in_each_dimension() {
        assert_eq!(
            errors(&runtime([67_108_864, 1, 1], [128, 1, 1])),
            [Some(hipErrorInvalidConfiguration); 3]
        );
    }

    #[test]
    fn grids_in_y_and_z_are_bounded_for_modules_and_on_gfx12() {
        let grid = |api, y| request(api, [1, y, 1], [64, 1, 1]);
        assert_eq!(errors(&grid(Api::Module, 65536)), [None; 3]);
        let refused = Some(hipErrorInvalidValue);
        assert_eq!(errors(&grid(Api::Module, 65537)), [None, refused, refused]);
        assert_eq!(errors(&grid(Api::Runtime, 65537)), [None; 3]);
        let gfx12 = Limits {
            generation: 12,
            ..LIMITS
        };
        let on_gfx12 = |y| validate(&grid(Api::Runtime, y), &gfx12, Major::Six, || 0).err();
        assert_eq!(on_gfx12(65536), None);
        assert_eq!(on_gfx12(65537), Some(hipErrorInvalidConfiguration));
    }

    #[test]
    fn cooperative_launches_must_fit_at_once() {
        let cooperative = |api, grid, block, shared| Request {
            cooperative: true,
            shared,
            ..request(api, grid, block)
        };
        let too_large = Some(hipErrorCooperativeLaunchTooLarge);
        for api in [Api::Runtime, Api::Module, Api::Several] {
            let launch = |blocks| errors(&cooperative(api, [blocks, 1, 1], [64, 1, 1], 0));
            assert_eq!(launch(100), [None; 3]);
            assert_eq!(launch(101), [too_large; 3]);
        }
        let runtime = |grid, block, shared| errors(&cooperative(Api::Runtime, grid, block, shared));
        assert_eq!(
            runtime([1, 1, 1], [1025, 1, 1], 0),
            [Some(hipErrorInvalidConfiguration); 3]
        );
        assert_eq!(
            runtime([0, 1, 1], [64, 1, 1], 0),
            [Some(hipErrorInvalidValue); 3]
        );
        assert_eq!(runtime([1, 1, 1], [64, 1, 1], 65536)[1..], [too_large; 2]);
        let module = cooperative(Api::Module, [1, 1, 1], [64, 1, 1], 65536);
        assert_eq!(errors(&module)[1..], [Some(hipErrorInvalidValue); 2]);
        // In HIP 5 it is the blocks that do not fit: none of them does.
        let none = validate(
            &cooperative(Api::Runtime, [1, 1, 1], [64, 1, 1], 65536),
            &LIMITS,
            Major::Five,
            || 0,
        );
        assert_eq!(none.err(), too_large);
    }

    #[test]
    fn missing_and_doubled_arguments() {
        let limits = Limits {
            needs_arguments: true,
            ..LIMITS
        };
        let mut pointer = std::ptr::null_mut();
        let both = Request {
            params: &raw mut pointer,
            extra: &raw mut pointer,
            ..request(Api::Module, [1, 1, 1], [64, 1, 1])
        };
        for major in ALL {
            let missing = validate(&runtime([1, 1, 1], [64, 1, 1]), &limits, major, || 0);
            assert_eq!(missing, Err(hipErrorInvalidValue));
            assert_eq!(
                validate(&both, &LIMITS, major, || 0),
                Err(hipErrorInvalidValue)
            );
        }
    }
}
