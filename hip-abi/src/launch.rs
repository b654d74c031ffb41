//! Kernel launches: checks in the order that AMD's runtime makes them, then one command of the stream.
//!
//! The order and the codes: no function `hipErrorInvalidDeviceFunction` / `hipErrorInvalidResourceHandle`; arguments given twice, an empty
//! grid `hipErrorInvalidValue`; an empty block `hipErrorInvalidConfiguration` (`hipErrorInvalidValue` from HIP 6); too much LDS or too big
//! a block `hipErrorInvalidValue` (`hipErrorInvalidConfiguration` from HIP 7); missing arguments `hipErrorInvalidValue`; past the launch bounds `hipErrorLaunchFailure`;
//! a grid of more than 2³²-1 work-items `hipErrorInvalidConfiguration`; then what the kernel's metadata forbids.

use std::{cell::RefCell, ffi::c_void, sync::Arc};

use gneiss_clr::{Arguments, Event, Kernel, Launch, MultiGrid};

use crate::{
    capture::{self, Capturing},
    enums::*,
    error::*,
    event, fail,
    graph::operation::{KernelNode, Operation},
    module, registration,
    runtime::{Device, hip_error},
    stream::{self, Resolved, resolve_or},
    types::*,
    version::{self, Major},
};

/// Which family of calls a launch came by: their limits differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// `hipLaunchKernel` and its kin: grids in blocks, up to 2³²-1 work-items in all dimensions together.
    Runtime,
    /// `hipModuleLaunchKernel`: 2³¹-1 blocks in x, 65535 in y and z.
    Module,
    /// `hipExtModuleLaunchKernel`: grids in work-items.
    Extended,
}

/// A launch, as the caller gave it.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Family.
    pub api: Api,
    /// Grid in blocks (in work-items for [`Api::Extended`]).
    pub grid: [u32; 3],
    /// Block in work-items.
    pub block: [u32; 3],
    /// Bytes of dynamic LDS.
    pub shared: usize,
    /// Addresses of the arguments, or null.
    pub params: *mut *mut c_void,
    /// `HIP_LAUNCH_PARAM_…` list, or null.
    pub extra: *mut *mut c_void,
    /// All groups resident at once.
    pub cooperative: bool,
    /// Its part of a launch on several devices.
    pub multigrid: Option<MultiGrid>,
    /// It may overlap with earlier work of its stream.
    pub any_order: bool,
    /// Recorded before the kernel.
    pub start_event: hipEvent_t,
    /// Recorded after the kernel.
    pub stop_event: hipEvent_t,
}

impl Request {
    /// A plain launch of the runtime API.
    pub fn new(grid: dim3, block: dim3, shared: usize, params: *mut *mut c_void) -> Self {
        Request {
            api: Api::Runtime,
            grid: grid.into(),
            block: block.into(),
            shared,
            params,
            extra: std::ptr::null_mut(),
            cooperative: false,
            multigrid: None,
            any_order: false,
            start_event: std::ptr::null_mut(),
            stop_event: std::ptr::null_mut(),
        }
    }
}

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
        }
    }
}

/// Checks a launch; gives grid and block in work-items.
fn validate(request: &Request, limits: &Limits, major: Major) -> HipResult<([u32; 3], [u32; 3])> {
    let &Request {
        api,
        grid,
        block,
        shared,
        params,
        extra,
        ..
    } = request;
    if !params.is_null() && !extra.is_null() {
        return fail!(
            hipErrorInvalidValue,
            "kernelParams and extra are both given"
        );
    }
    if grid.contains(&0) {
        let error = if api == Api::Runtime && major == Major::Five {
            hipErrorInvalidConfiguration
        } else {
            hipErrorInvalidValue
        };
        return fail!(error, "an empty grid: {grid:?}");
    }
    if block.contains(&0) {
        // From HIP 6 on the sizes of the grid in work-items are looked at first, and they are 0, too.
        let error = if major == Major::Five {
            hipErrorInvalidConfiguration
        } else {
            hipErrorInvalidValue
        };
        return fail!(error, "an empty block: {block:?}");
    }
    if shared.saturating_add(limits.static_lds) > limits.lds {
        return fail!(
            hipErrorInvalidValue,
            "{shared} bytes of dynamic and {} of static LDS are more than the {} of a block",
            limits.static_lds,
            limits.lds
        );
    }
    let threads = block.iter().map(|size| u64::from(*size)).product::<u64>();
    if block.iter().any(|size| *size > limits.workgroup) || threads > u64::from(limits.workgroup) {
        let error = if major >= Major::Seven {
            hipErrorInvalidConfiguration
        } else {
            hipErrorInvalidValue
        };
        return fail!(
            error,
            "a block of {block:?} threads is more than the device's {}",
            limits.workgroup
        );
    }
    if params.is_null() && extra.is_null() && limits.needs_arguments {
        return fail!(hipErrorInvalidValue, "the kernel's arguments are missing");
    }
    if limits.launch_bounds != 0 && threads > u64::from(limits.launch_bounds) {
        return fail!(
            hipErrorLaunchFailure,
            "a block of {threads} threads is more than the {} of the kernel's __launch_bounds__",
            limits.launch_bounds
        );
    }
    if api == Api::Module && (grid[0] > i32::MAX as u32 || grid[1] > 65535 || grid[2] > 65535) {
        return fail!(
            hipErrorInvalidValue,
            "a grid of {grid:?} blocks is more than [2147483647, 65535, 65535]"
        );
    }
    let mut global = [0; 3];
    for axis in 0..3 {
        let size = match api {
            Api::Runtime | Api::Module => u64::from(grid[axis]) * u64::from(block[axis]),
            Api::Extended => u64::from(grid[axis]),
        };
        let Ok(size) = u32::try_from(size) else {
            return fail!(
                hipErrorInvalidConfiguration,
                "{size} work-items in dimension {axis} are more than 4294967295"
            );
        };
        global[axis] = size;
    }
    let block = if api == Api::Extended {
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

/// The packed arguments that an `extra` list names: `{1, buffer, 2, &size, 3}`.
///
/// # Safety
/// The list must be readable up to its end mark, and its buffer for its size.
pub(crate) unsafe fn packed<'a>(extra: *mut *mut c_void) -> HipResult<&'a [u8]> {
    let (mut buffer, mut size) = (std::ptr::null::<u8>(), None);
    for index in [0, 2, 4] {
        // SAFETY: the list has not ended yet; each entry but the end mark is followed by its value.
        let key = unsafe { extra.add(index).read() }.addr();
        match key {
            HIP_LAUNCH_PARAM_END => break,
            HIP_LAUNCH_PARAM_BUFFER_POINTER if index < 4 => {
                // SAFETY: as above.
                buffer = unsafe { extra.add(index + 1).read() }.cast_const().cast();
            }
            HIP_LAUNCH_PARAM_BUFFER_SIZE if index < 4 => {
                // SAFETY: as above; the value points at a size_t.
                size = unsafe { extra.add(index + 1).read().cast::<usize>().as_ref() }.copied();
            }
            _ => {
                return fail!(
                    hipErrorInvalidValue,
                    "entry {key:#x} of the launch's extra list is not known"
                );
            }
        }
    }
    match (buffer.is_null(), size) {
        // SAFETY: the caller promises that the buffer is as long as it says.
        (false, Some(size)) => Ok(unsafe { std::slice::from_raw_parts(buffer, size) }),
        _ => fail!(
            hipErrorInvalidValue,
            "the launch's extra list has no buffer or no size"
        ),
    }
}

/// Checks a launch without making it.
///
/// # Errors
/// As a launch.
pub(crate) fn check(kernel: &Kernel, device: &Device, request: &Request) -> HipResult {
    validate(request, &Limits::new(kernel, device), version::presented()).map(drop)
}

/// Launches a kernel in a stream.
///
/// # Safety
/// The arguments must be readable as the kernel's metadata says.
pub(crate) unsafe fn launch(
    kernel: &Arc<Kernel>,
    device: &Device,
    resolved: &Resolved,
    request: &Request,
) -> HipResult<Event> {
    let (grid, block) = validate(request, &Limits::new(kernel, device), version::presented())?;
    let count = kernel.explicit_arguments().len();
    let arguments = if request.extra.is_null() {
        if count == 0 {
            Arguments::Pointers(&[])
        } else {
            // SAFETY: not null, by the check above; the caller promises one pointer for each argument.
            Arguments::Pointers(unsafe {
                std::slice::from_raw_parts(request.params.cast::<*const c_void>(), count)
            })
        }
    } else {
        // SAFETY: as the caller promises.
        Arguments::Packed(unsafe { packed(request.extra)? })
    };
    let launch = Launch {
        kernel,
        grid,
        block,
        dynamic_shared: request.shared as u32,
        arguments,
        cooperative: request.cooperative,
        any_order: request.any_order,
    };
    let queue = &resolved.stream.queue;
    if !request.start_event.is_null() {
        event::find(request.start_event)?
            .set_command(queue.enqueue_marker(&resolved.wait).map_err(hip_error)?);
    }
    // SAFETY: as the caller promises.
    let command = unsafe {
        match &request.multigrid {
            None => queue.enqueue_kernel(&launch, &resolved.wait),
            Some(grid) => queue.enqueue_kernel_of_several(&launch, *grid, &resolved.wait),
        }
    }
    .map_err(hip_error)?;
    if !request.stop_event.is_null() {
        event::find(request.stop_event)?.set_command(queue.enqueue_marker(&[]).map_err(hip_error)?);
    }
    Ok(command)
}

/// Kernels that this thread launched by host address, so that a launch takes no lock of the registry.
struct Recent {
    address: usize,
    device: usize,
    generation: u64,
    kernel: Arc<Kernel>,
}

thread_local! {
    static RECENT: RefCell<Vec<Recent>> = const { RefCell::new(Vec::new()) };
}

const RECENT_KERNELS: usize = 8;

/// The kernel of a host address on a device, from the thread's own memory if it was launched lately.
fn kernel_of(address: *const c_void, device: &Device) -> HipResult<Arc<Kernel>> {
    let generation = registration::generation();
    let known = RECENT.try_with(|recent| {
        let recent = recent.borrow();
        let found = recent.iter().find(|entry| {
            entry.address == address.addr()
                && entry.device == device.ordinal
                && entry.generation == generation
        });
        found.map(|entry| Arc::clone(&entry.kernel))
    });
    if let Ok(Some(kernel)) = known {
        return Ok(kernel);
    }
    let kernel = registration::kernel(address, device)?;
    let entry = Recent {
        address: address.addr(),
        device: device.ordinal,
        generation,
        kernel: Arc::clone(&kernel),
    };
    let _ = RECENT.try_with(|recent| {
        let mut recent = recent.borrow_mut();
        recent.retain(|entry| entry.generation == generation);
        if recent.len() == RECENT_KERNELS {
            recent.remove(0);
        }
        recent.push(entry);
    });
    Ok(kernel)
}

/// The capture of a stream; launches have their own code for a bad stream.
fn capturing(stream: hipStream_t) -> HipResult<Option<Capturing>> {
    capture::of(stream).map_err(|error| {
        if error == hipErrorContextIsDestroyed {
            hipErrorInvalidValue
        } else {
            error
        }
    })
}

/// Makes a launch a node.
///
/// # Safety
/// As for [`launch`].
unsafe fn capture(
    capturing: &Capturing,
    function: usize,
    kernel: Arc<Kernel>,
    device: &Device,
    request: &Request,
) -> HipResult {
    if !request.start_event.is_null() || !request.stop_event.is_null() {
        return capturing.refuse("a launch with events of its own");
    }
    // SAFETY: as the caller promises.
    let node = unsafe { KernelNode::new(function, kernel, device, request)? };
    capturing.add(Operation::Kernel(node))
}

/// Launches a registered kernel.
///
/// # Safety
/// As for [`launch`].
pub(crate) unsafe fn launch_registered(
    function: *const c_void,
    stream: hipStream_t,
    request: &Request,
) -> HipResult {
    if let Some(capturing) = capturing(stream)? {
        let device = stream::find(stream)?.device()?;
        let kernel = kernel_of(function, device)?;
        let handle = function.expose_provenance();
        // SAFETY: as the caller promises.
        return unsafe { capture(&capturing, handle, kernel, device, request) };
    }
    let resolved = resolve_or(stream, hipErrorInvalidValue)?;
    let device = resolved.stream.device()?;
    let kernel = kernel_of(function, device)?;
    // SAFETY: as the caller promises.
    unsafe { launch(&kernel, device, &resolved, request) }?;
    Ok(())
}

/// Launches a kernel of a module.
///
/// # Safety
/// As for [`launch`].
pub(crate) unsafe fn launch_function(
    function: hipFunction_t,
    stream: hipStream_t,
    request: &Request,
) -> HipResult {
    let kernel = module::function(function)?;
    if let Some(capturing) = capturing(stream)? {
        let device = stream::find(stream)?.device()?;
        let handle = function.expose_provenance();
        // SAFETY: as the caller promises.
        return unsafe { capture(&capturing, handle, kernel, device, request) };
    }
    let resolved = resolve_or(stream, hipErrorInvalidValue)?;
    let device = resolved.stream.device()?;
    if kernel.device().index() != device.ordinal {
        return fail!(
            hipErrorInvalidHandle,
            "the kernel is loaded on device {}, the stream is of {}",
            kernel.device().index(),
            device.ordinal
        );
    }
    // SAFETY: as the caller promises.
    unsafe { launch(&kernel, device, &resolved, request) }?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        lds: 65536,
        workgroup: 1024,
        launch_bounds: 256,
        static_lds: 1024,
        needs_arguments: false,
        uniform: false,
    };

    fn request(api: Api, grid: [u32; 3], block: [u32; 3]) -> Request {
        let of = |[x, y, z]: [u32; 3]| dim3 { x, y, z };
        Request {
            api,
            ..Request::new(of(grid), of(block), 0, std::ptr::null_mut())
        }
    }

    fn check(request: &Request) -> Option<hipError_t> {
        validate(request, &LIMITS, Major::Six).err()
    }

    #[test]
    fn good_launches() {
        assert_eq!(
            validate(
                &request(Api::Runtime, [3, 2, 1], [64, 2, 1]),
                &LIMITS,
                Major::Five
            ),
            Ok(([192, 4, 1], [64, 2, 1]))
        );
        assert_eq!(
            validate(
                &request(Api::Extended, [100, 1, 1], [256, 1, 1]),
                &LIMITS,
                Major::Five
            ),
            Ok(([100, 1, 1], [100, 1, 1]))
        );
    }

    #[test]
    fn errors_by_cause() {
        assert_eq!(
            check(&request(Api::Module, [0, 1, 1], [64, 1, 1])),
            Some(hipErrorInvalidValue)
        );
        assert_eq!(
            check(&request(Api::Runtime, [1, 1, 1], [0, 1, 1])),
            Some(hipErrorInvalidValue)
        );
        for (grid, block) in [([1, 1, 1], [0, 1, 1]), ([0, 1, 1], [1, 1, 1])] {
            assert_eq!(
                validate(&request(Api::Runtime, grid, block), &LIMITS, Major::Five),
                Err(hipErrorInvalidConfiguration)
            );
        }
        assert_eq!(
            check(&Request {
                shared: 65536,
                ..request(Api::Runtime, [1, 1, 1], [64, 1, 1])
            }),
            Some(hipErrorInvalidValue)
        );
        assert_eq!(
            check(&Request {
                shared: usize::MAX,
                ..request(Api::Runtime, [1, 1, 1], [64, 1, 1])
            }),
            Some(hipErrorInvalidValue)
        );
        assert_eq!(
            check(&request(Api::Runtime, [1, 1, 1], [1025, 1, 1])),
            Some(hipErrorInvalidValue)
        );
        assert_eq!(
            check(&request(Api::Runtime, [1, 1, 1], [512, 1, 1])),
            Some(hipErrorLaunchFailure)
        );
        assert_eq!(
            check(&request(Api::Runtime, [67_108_864, 1, 1], [128, 1, 1])),
            Some(hipErrorInvalidConfiguration)
        );
        assert_eq!(
            check(&request(Api::Module, [1, 65536, 1], [64, 1, 1])),
            Some(hipErrorInvalidValue)
        );
    }

    #[test]
    fn hip_7_moved_two_codes() {
        let empty = request(Api::Runtime, [0, 1, 1], [64, 1, 1]);
        assert_eq!(
            validate(&empty, &LIMITS, Major::Seven),
            Err(hipErrorInvalidValue)
        );
        let big = request(Api::Runtime, [1, 1, 1], [2048, 1, 1]);
        assert_eq!(
            validate(&big, &LIMITS, Major::Seven),
            Err(hipErrorInvalidConfiguration)
        );
    }

    #[test]
    fn missing_and_doubled_arguments() {
        let limits = Limits {
            needs_arguments: true,
            ..LIMITS
        };
        assert_eq!(
            validate(
                &request(Api::Runtime, [1, 1, 1], [64, 1, 1]),
                &limits,
                Major::Six
            ),
            Err(hipErrorInvalidValue)
        );
        let mut pointer = std::ptr::null_mut();
        let both = Request {
            params: &raw mut pointer,
            extra: &raw mut pointer,
            ..request(Api::Module, [1, 1, 1], [64, 1, 1])
        };
        assert_eq!(check(&both), Some(hipErrorInvalidValue));
    }

    #[test]
    fn extra_lists() {
        let mut buffer = [1_u8, 2, 3, 4];
        let mut size = 3_usize;
        let key = |value: usize| std::ptr::without_provenance_mut::<c_void>(value);
        let mut list = [
            key(1),
            (&raw mut buffer).cast(),
            key(2),
            (&raw mut size).cast(),
            key(3),
        ];
        // SAFETY: the list is complete.
        let good = unsafe { packed(list.as_mut_ptr()) };
        assert_eq!(good, Ok([1, 2, 3].as_slice()));
        for mut list in [
            [key(7), key(0), key(3), key(0), key(3)],
            [key(3), key(0), key(3), key(0), key(3)],
        ] {
            // SAFETY: the list ends with its mark.
            let bad = unsafe { packed(list.as_mut_ptr()) };
            assert_eq!(bad, Err(hipErrorInvalidValue));
        }
    }
}
