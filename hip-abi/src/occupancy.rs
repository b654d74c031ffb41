//! Occupancy: how many blocks of a kernel a compute unit holds at once.
//!
//! Bounded by waves of a SIMD, vector and scalar registers, and LDS, in the granules of the target's generation (LLVM, AMDGPUUsage;
//! register files of the ISA documents).

use std::ffi::c_void;

use gneiss_clr::Kernel;
use gneiss_hip_abi_macros::hip_api;

use crate::{error::*, fail, module, registration, runtime, types::*};

/// What a kernel and its device say.
#[derive(Clone, Copy, Debug)]
struct Needs {
    gfx: (u32, u32, u32),
    wave: u32,
    vgprs: u32,
    agprs: u32,
    sgprs: u32,
    static_lds: usize,
    lds: usize,
    simds: u32,
    max_block: u32,
    compute_units: u32,
}

impl Needs {
    fn new(kernel: &Kernel) -> Self {
        let (metadata, properties) = (kernel.metadata(), kernel.device().properties());
        Needs {
            gfx: properties.gfx_version,
            wave: if metadata.wavefront_size == 0 {
                properties.wavefront_size
            } else {
                metadata.wavefront_size
            },
            vgprs: metadata.vgpr_count,
            agprs: metadata.agpr_count.unwrap_or(0),
            sgprs: metadata.sgpr_count,
            static_lds: metadata.group_segment_fixed_size as usize,
            lds: properties.lds_size,
            simds: properties.simds_per_cu.max(1),
            max_block: properties
                .workgroup_max_size
                .min(match metadata.max_flat_workgroup_size {
                    0 => u32::MAX,
                    bound => bound,
                }),
            compute_units: properties.compute_units,
        }
    }

    /// Waves that a SIMD holds, by registers and slots.
    fn waves_per_simd(&self) -> u32 {
        let (major, _, stepping) = self.gfx;
        let unified = self.gfx.0 == 9 && (self.gfx.1 >= 4 || (self.gfx.1 == 0 && stepping == 10));
        // Registers of a SIMD, by lane of a wave of this size; granule; waves.
        let (file, granule, slots) = if major >= 10 {
            let (file, granule) = if self.wave == 32 { (1024, 8) } else { (512, 4) };
            (
                file,
                granule,
                if major == 10 && self.gfx.1 < 3 {
                    20
                } else {
                    16
                },
            )
        } else if unified {
            (512, 8, 8)
        } else {
            (256, 4, if stepping == 8 { 8 } else { 10 })
        };
        // Where both kinds share a file, the metadata's number of vector registers counts the accumulation registers, too.
        let used = self.vgprs.max(self.agprs);
        let by_vgprs = file / used.max(1).next_multiple_of(granule);
        // From gfx10 on every wave has its own full set of scalar registers.
        let by_sgprs = if major >= 10 {
            slots
        } else {
            800 / self.sgprs.max(1).next_multiple_of(16)
        };
        slots.min(by_vgprs).min(by_sgprs).max(1)
    }

    /// Blocks of a size that a compute unit holds; 0 if none can run.
    fn blocks(&self, block: u32, dynamic_lds: usize) -> u32 {
        let lds = self.static_lds.saturating_add(dynamic_lds);
        if block == 0 || block > self.max_block || lds > self.lds {
            return 0;
        }
        let waves = block.div_ceil(self.wave.max(1));
        let by_waves = self.waves_per_simd() * self.simds / waves;
        let by_lds = match lds.next_multiple_of(512) {
            0 => u32::MAX,
            used => (self.lds / used) as u32,
        };
        by_waves.min(by_lds)
    }

    /// The block size that fills a compute unit best, and the grid that fills the device with it.
    fn best(&self, dynamic_lds: usize, limit: u32) -> (u32, u32) {
        let most = if limit == 0 {
            self.max_block
        } else {
            limit.min(self.max_block)
        };
        let sizes = (1..=most.div_ceil(self.wave)).map(|waves| (waves * self.wave).min(most));
        let best = sizes
            .max_by_key(|size| (self.blocks(*size, dynamic_lds) * size, *size))
            .unwrap_or(0);
        (self.compute_units * self.blocks(best, dynamic_lds), best)
    }
}

/// Blocks of a size that the kernel's device holds at once.
pub(crate) fn resident_blocks(kernel: &Kernel, block: u32, dynamic_lds: usize) -> u64 {
    let needs = Needs::new(kernel);
    u64::from(needs.compute_units) * u64::from(needs.blocks(block, dynamic_lds))
}

fn write_blocks(place: *mut i32, needs: &Needs, block: i32, dynamic_lds: usize) -> HipResult {
    if place.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the number of blocks");
    }
    let Ok(block @ 1..) = u32::try_from(block) else {
        return fail!(hipErrorInvalidValue, "a block of {block} threads");
    };
    // SAFETY: not null; the caller promises a valid place.
    unsafe { place.write(needs.blocks(block, dynamic_lds) as i32) };
    Ok(())
}

fn write_best(
    grid: *mut i32,
    block: *mut i32,
    needs: &Needs,
    dynamic_lds: usize,
    limit: i32,
) -> HipResult {
    if grid.is_null() || block.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the sizes");
    }
    let (best_grid, best_block) = needs.best(dynamic_lds, limit.max(0).cast_unsigned());
    // SAFETY: not null; the caller promises valid places.
    unsafe {
        grid.write(best_grid as i32);
        block.write(best_block as i32);
    }
    Ok(())
}

fn of_registered(function: *const c_void) -> HipResult<Needs> {
    if function.is_null() {
        return fail!(hipErrorInvalidDeviceFunction, "no kernel");
    }
    Ok(Needs::new(&*registration::kernel(
        function,
        runtime::current()?,
    )?))
}

fn of_function(function: hipFunction_t) -> HipResult<Needs> {
    if function.is_null() {
        return fail!(hipErrorInvalidValue, "no kernel");
    }
    Ok(Needs::new(&*module::function(function)?))
}

/// Blocks of a registered kernel that a compute unit holds.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipOccupancyMaxActiveBlocksPerMultiprocessor(
    numBlocks: *mut i32,
    f: *const c_void,
    blockSize: i32,
    dynSharedMemPerBlk: usize,
) -> hipError_t {
    write_blocks(numBlocks, &of_registered(f)?, blockSize, dynSharedMemPerBlk)
}

/// Blocks of a registered kernel that a compute unit holds; the flags change nothing.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    numBlocks: *mut i32,
    f: *const c_void,
    blockSize: i32,
    dynSharedMemPerBlk: usize,
    flags: u32,
) -> hipError_t {
    if flags > 1 {
        return fail!(
            hipErrorInvalidValue,
            "occupancy flags {flags:#x} do not exist"
        );
    }
    write_blocks(numBlocks, &of_registered(f)?, blockSize, dynSharedMemPerBlk)
}

/// The block size that fills the device best, and its grid.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipOccupancyMaxPotentialBlockSize(
    gridSize: *mut i32,
    blockSize: *mut i32,
    f: *const c_void,
    dynSharedMemPerBlk: usize,
    blockSizeLimit: i32,
) -> hipError_t {
    write_best(
        gridSize,
        blockSize,
        &of_registered(f)?,
        dynSharedMemPerBlk,
        blockSizeLimit,
    )
}

/// Blocks of a module's kernel that a compute unit holds.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    numBlocks: *mut i32,
    f: hipFunction_t,
    blockSize: i32,
    dynSharedMemPerBlk: usize,
) -> hipError_t {
    write_blocks(numBlocks, &of_function(f)?, blockSize, dynSharedMemPerBlk)
}

/// Blocks of a module's kernel that a compute unit holds; the flags change nothing.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    numBlocks: *mut i32,
    f: hipFunction_t,
    blockSize: i32,
    dynSharedMemPerBlk: usize,
    flags: u32,
) -> hipError_t {
    if flags > 1 {
        return fail!(
            hipErrorInvalidValue,
            "occupancy flags {flags:#x} do not exist"
        );
    }
    write_blocks(numBlocks, &of_function(f)?, blockSize, dynSharedMemPerBlk)
}

/// The block size of a module's kernel that fills the device best, and its grid.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleOccupancyMaxPotentialBlockSize(
    gridSize: *mut i32,
    blockSize: *mut i32,
    f: hipFunction_t,
    dynSharedMemPerBlk: usize,
    blockSizeLimit: i32,
) -> hipError_t {
    write_best(
        gridSize,
        blockSize,
        &of_function(f)?,
        dynSharedMemPerBlk,
        blockSizeLimit,
    )
}

/// As `hipModuleOccupancyMaxPotentialBlockSize`; the flags change nothing.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleOccupancyMaxPotentialBlockSizeWithFlags(
    gridSize: *mut i32,
    blockSize: *mut i32,
    f: hipFunction_t,
    dynSharedMemPerBlk: usize,
    blockSizeLimit: i32,
    flags: u32,
) -> hipError_t {
    if flags > 1 {
        return fail!(
            hipErrorInvalidValue,
            "occupancy flags {flags:#x} do not exist"
        );
    }
    write_best(
        gridSize,
        blockSize,
        &of_function(f)?,
        dynSharedMemPerBlk,
        blockSizeLimit,
    )
}

/// Bytes of dynamic LDS that blocks of a size may have so that a number of them fits a compute unit.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipOccupancyAvailableDynamicSMemPerBlock(
    dynamicSmemSize: *mut usize,
    f: *const c_void,
    numBlocks: i32,
    blockSize: i32,
) -> hipError_t {
    if dynamicSmemSize.is_null() || numBlocks < 1 || blockSize < 1 {
        return fail!(
            hipErrorInvalidValue,
            "no place for the size, or {numBlocks} blocks of {blockSize} threads"
        );
    }
    let needs = of_registered(f)?;
    let share = needs.lds / numBlocks.cast_unsigned() as usize / 512 * 512;
    let size = if needs.blocks(blockSize.cast_unsigned(), 0) < numBlocks.cast_unsigned() {
        0
    } else {
        share.saturating_sub(needs.static_lds)
    };
    // SAFETY: not null; the caller promises a valid place.
    unsafe { dynamicSmemSize.write(size) };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GFX90A: Needs = Needs {
        gfx: (9, 0, 10),
        wave: 64,
        vgprs: 32,
        agprs: 0,
        sgprs: 32,
        static_lds: 0,
        lds: 65536,
        simds: 4,
        max_block: 1024,
        compute_units: 104,
    };

    #[test]
    fn waves_bound_small_kernels() {
        assert_eq!(GFX90A.waves_per_simd(), 8);
        assert_eq!(GFX90A.blocks(256, 0), 8);
        assert_eq!(GFX90A.blocks(1024, 0), 2);
        assert_eq!(GFX90A.blocks(1025, 0), 0);
    }

    #[test]
    fn registers_and_lds_bound_big_ones() {
        assert_eq!(
            Needs {
                vgprs: 128,
                ..GFX90A
            }
            .waves_per_simd(),
            4
        );
        assert_eq!(
            Needs {
                vgprs: 256,
                agprs: 128,
                ..GFX90A
            }
            .waves_per_simd(),
            2
        );
        assert_eq!(GFX90A.blocks(64, 32768), 2);
        assert_eq!(GFX90A.blocks(64, 65537), 0);
        let gfx1030 = Needs {
            gfx: (10, 3, 0),
            wave: 32,
            simds: 2,
            ..GFX90A
        };
        assert_eq!(gfx1030.waves_per_simd(), 16);
        assert_eq!(
            Needs {
                vgprs: 128,
                ..gfx1030
            }
            .waves_per_simd(),
            8
        );
    }

    #[test]
    fn the_best_block_fills_the_compute_unit() {
        let (grid, block) = GFX90A.best(0, 0);
        assert_eq!(block, 1024);
        assert_eq!(grid, 104 * 2);
        assert_eq!(GFX90A.best(0, 256).1, 256);
    }
}
