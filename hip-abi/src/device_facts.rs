//! What HIP says of a device: the property structures and the attributes, from what its HSA agent says.

use std::ffi::c_char;

use gneiss_clr::{DeviceProperties, ImageLevel, ImageLimits};

use crate::{
    enums::*,
    error::*,
    fail,
    properties::{hipDeviceProp_tR0000, hipDeviceProp_tR0600},
    runtime::Device,
    types::*,
};

/// Bytes of constant memory that HIP reports.
pub const CONSTANT_MEMORY: usize = 0x7fff_ffff;

pub(crate) fn fill_text(place: &mut [c_char], text: &str) {
    let room = place.len() - 1;
    for (target, byte) in place.iter_mut().zip(text.bytes().take(room)) {
        *target = byte.cast_signed();
    }
}

/// The 16 bytes of a device's UUID: those of its text after `GPU-`, as AMD's runtime shows them.
pub(crate) fn uuid(properties: &DeviceProperties) -> hipUUID {
    let mut uuid = hipUUID::default();
    let text = properties
        .uuid
        .strip_prefix("GPU-")
        .unwrap_or(&properties.uuid);
    for (place, byte) in uuid.bytes.iter_mut().zip(text.bytes()) {
        *place = byte.cast_signed();
    }
    uuid
}

/// The target's name with its features: `gfx90a:sramecc+:xnack-`.
pub(crate) fn target(properties: &DeviceProperties) -> &str {
    properties
        .isa
        .rsplit("--")
        .next()
        .unwrap_or(&properties.gfx_name)
}

/// All that the property structures and the attributes say, in one place.
#[derive(Clone, Copy, Debug)]
struct Facts {
    integrated: i32,
    units: i32,
    max_threads_per_unit: i32,
    clock_khz: i32,
    memory_clock_khz: i32,
    l2: i32,
    grid: [i32; 3],
    images: i32,
    managed: i32,
    pageable: i32,
    pitch: usize,
}

impl Facts {
    fn new(p: &DeviceProperties) -> Self {
        let images = i32::from(p.images);
        Facts {
            integrated: i32::from(p.apu),
            // From gfx10 on AMD counts work-group processors, which are pairs of compute units.
            units: (if p.gfx_version.0 >= 10 {
                p.compute_units / 2
            } else {
                p.compute_units
            })
            .max(1) as i32,
            max_threads_per_unit: (p.waves_per_cu
                * p.wavefront_size
                * if p.gfx_version.0 >= 10 { 2 } else { 1 })
            .max(p.workgroup_max_size) as i32,
            clock_khz: (p.max_clock_mhz * 1000) as i32,
            memory_clock_khz: (p.memory_clock_mhz * 1000) as i32,
            l2: p.cache_sizes[1] as i32,
            grid: [i32::MAX, 65536, 65536],
            images,
            managed: 1,
            pageable: i32::from(p.pageable),
            pitch: i32::MAX as usize,
        }
    }
}

fn extent(value: u32) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}

/// What HIP gives as the limit of linear textures: elements of 16 bytes, in bytes.
fn linear_bytes(limits: &ImageLimits) -> i32 {
    i32::try_from(u64::from(limits.buffer) * 16).unwrap_or(i32::MAX)
}

/// The limit of a device's linear textures in bytes.
pub(crate) fn linear_texture_bytes(device: &Device) -> i32 {
    linear_bytes(&device.clr.properties().image_limits)
}

/// Bits of `hipDeviceArch_t`: atomics, doubles and wave functions (0 to 10), system fences (12), grids of three dimensions (15).
const ARCH_BITS: u32 = 0x7ff | 1 << 12 | 1 << 15;

pub(crate) fn properties_r0600(device: &Device) -> hipDeviceProp_tR0600 {
    let p = device.clr.properties();
    let f = Facts::new(p);
    let block = p.workgroup_max_size as i32;
    let cooperative = i32::from(p.cooperative_queues);
    let limits = &p.image_limits;
    let [width, height] = limits.d2_array.map(extent);
    let layers_2d = [width, height, extent(limits.layers)];
    let mut value = hipDeviceProp_tR0600 {
        uuid: uuid(p),
        totalGlobalMem: p.global_memory_size,
        sharedMemPerBlock: p.lds_size,
        regsPerBlock: 65536,
        warpSize: p.wavefront_size as i32,
        memPitch: f.pitch,
        maxThreadsPerBlock: block,
        maxThreadsDim: p.workgroup_max_dim.map(|size| size as i32),
        maxGridSize: f.grid,
        clockRate: f.clock_khz,
        totalConstMem: CONSTANT_MEMORY,
        major: p.gfx_version.0 as i32,
        minor: p.gfx_version.1 as i32,
        textureAlignment: 256,
        texturePitchAlignment: 256,
        deviceOverlap: 1,
        multiProcessorCount: f.units,
        integrated: f.integrated,
        canMapHostMemory: 1,
        maxTexture1D: extent(limits.d1),
        maxTexture1DMipmap: linear_bytes(limits),
        maxTexture1DLinear: linear_bytes(limits),
        maxTexture2D: limits.d2.map(extent),
        maxTexture3D: limits.d3.map(extent),
        maxTexture1DLayered: [extent(limits.d1_array), extent(limits.layers)],
        maxTexture2DLayered: layers_2d,
        maxSurface1D: extent(limits.d1),
        maxSurface2D: limits.d2.map(extent),
        maxSurface3D: limits.d3.map(extent),
        maxSurface1DLayered: [extent(limits.d1_array), extent(limits.layers)],
        maxSurface2DLayered: layers_2d,
        surfaceAlignment: 256,
        concurrentKernels: 1,
        pciBusID: p.pci_bus as i32,
        pciDeviceID: p.pci_device as i32,
        pciDomainID: p.pci_domain as i32,
        asyncEngineCount: 2,
        unifiedAddressing: 1,
        memoryClockRate: f.memory_clock_khz,
        memoryBusWidth: p.memory_width_bits as i32,
        l2CacheSize: f.l2,
        maxThreadsPerMultiProcessor: f.max_threads_per_unit,
        streamPrioritiesSupported: 1,
        globalL1CacheSupported: 1,
        localL1CacheSupported: 1,
        sharedMemPerMultiprocessor: p.lds_size,
        regsPerMultiprocessor: 65536,
        managedMemory: f.managed,
        pageableMemoryAccess: f.pageable,
        hostNativeAtomicSupported: 1,
        singleToDoublePrecisionPerfRatio: 2,
        concurrentManagedAccess: f.managed,
        // Devices reach registered memory under another address.
        canUseHostPointerForRegisteredMem: 0,
        cooperativeLaunch: cooperative,
        cooperativeMultiDeviceLaunch: cooperative,
        cooperativeMultiDeviceUnmatchedFunc: cooperative,
        cooperativeMultiDeviceUnmatchedGridDim: cooperative,
        cooperativeMultiDeviceUnmatchedBlockDim: cooperative,
        cooperativeMultiDeviceUnmatchedSharedMem: cooperative,
        sharedMemPerBlockOptin: p.lds_size,
        directManagedMemAccessFromHost: f.managed,
        maxBlocksPerMultiProcessor: (f.max_threads_per_unit / p.wavefront_size.max(1) as i32)
            .max(1),
        hostRegisterSupported: 1,
        memoryPoolsSupported: 1,
        unifiedFunctionPointers: 1,
        maxSharedMemoryPerMultiProcessor: p.lds_size,
        clockInstructionRate: (p.timestamp_frequency / 1000) as i32,
        arch: hipDeviceArch_t { bits: ARCH_BITS },
        isLargeBar: i32::from(p.large_bar),
        asicRevision: p.asic_revision as i32,
        ..Default::default()
    };
    if ImageLevel::supported(&device.clr) {
        let cubes = [width.min(height), extent(limits.layers) / 6];
        value.maxTexture2DMipmap = limits.d2.map(extent);
        value.maxTextureCubemap = cubes[0];
        value.maxTextureCubemapLayered = cubes;
        value.maxSurfaceCubemap = cubes[0];
        value.maxSurfaceCubemapLayered = cubes;
    }
    fill_text(&mut value.name, &p.product_name);
    fill_text(&mut value.gcnArchName, target(p));
    value
}

pub(crate) fn properties_r0000(device: &Device) -> hipDeviceProp_tR0000 {
    let p = device.clr.properties();
    let new = properties_r0600(device);
    let (major, minor, stepping) = p.gfx_version;
    hipDeviceProp_tR0000 {
        name: new.name,
        totalGlobalMem: new.totalGlobalMem,
        sharedMemPerBlock: new.sharedMemPerBlock,
        regsPerBlock: new.regsPerBlock,
        warpSize: new.warpSize,
        maxThreadsPerBlock: new.maxThreadsPerBlock,
        maxThreadsDim: new.maxThreadsDim,
        maxGridSize: new.maxGridSize,
        clockRate: new.clockRate,
        memoryClockRate: new.memoryClockRate,
        memoryBusWidth: new.memoryBusWidth,
        totalConstMem: new.totalConstMem,
        major: new.major,
        minor: new.minor,
        multiProcessorCount: new.multiProcessorCount,
        l2CacheSize: new.l2CacheSize,
        maxThreadsPerMultiProcessor: new.maxThreadsPerMultiProcessor,
        computeMode: new.computeMode,
        clockInstructionRate: new.clockInstructionRate,
        arch: new.arch,
        concurrentKernels: new.concurrentKernels,
        pciDomainID: new.pciDomainID,
        pciBusID: new.pciBusID,
        pciDeviceID: new.pciDeviceID,
        maxSharedMemoryPerMultiProcessor: new.maxSharedMemoryPerMultiProcessor,
        canMapHostMemory: new.canMapHostMemory,
        gcnArch: (major * 100 + minor * 10 + stepping) as i32,
        gcnArchName: new.gcnArchName,
        integrated: new.integrated,
        cooperativeLaunch: new.cooperativeLaunch,
        cooperativeMultiDeviceLaunch: new.cooperativeMultiDeviceLaunch,
        cooperativeMultiDeviceUnmatchedFunc: new.cooperativeMultiDeviceUnmatchedFunc,
        cooperativeMultiDeviceUnmatchedGridDim: new.cooperativeMultiDeviceUnmatchedGridDim,
        cooperativeMultiDeviceUnmatchedBlockDim: new.cooperativeMultiDeviceUnmatchedBlockDim,
        cooperativeMultiDeviceUnmatchedSharedMem: new.cooperativeMultiDeviceUnmatchedSharedMem,
        maxTexture1DLinear: new.maxTexture1DLinear,
        maxTexture1D: new.maxTexture1D,
        maxTexture2D: new.maxTexture2D,
        maxTexture3D: new.maxTexture3D,
        memPitch: new.memPitch,
        textureAlignment: new.textureAlignment,
        texturePitchAlignment: new.texturePitchAlignment,
        isLargeBar: new.isLargeBar,
        asicRevision: new.asicRevision,
        managedMemory: new.managedMemory,
        pageableMemoryAccess: new.pageableMemoryAccess,
        directManagedMemAccessFromHost: new.directManagedMemAccessFromHost,
        concurrentManagedAccess: new.concurrentManagedAccess,
        ..Default::default()
    }
}

/// A device attribute's value.
pub(crate) fn attribute(device: &Device, attribute: hipDeviceAttribute_t) -> HipResult<i32> {
    let p = device.clr.properties();
    let f = Facts::new(p);
    let new = properties_r0600(device);
    let size = |value: usize| i32::try_from(value).unwrap_or(i32::MAX);
    Ok(match attribute {
        hipDeviceAttributeEccEnabled
        | hipDeviceAttributeAccessPolicyMaxWindowSize
        | hipDeviceAttributeComputeMode
        | hipDeviceAttributeComputePreemptionSupported
        | hipDeviceAttributeIsMultiGpuBoard
        | hipDeviceAttributeKernelExecTimeout
        | hipDeviceAttributeMultiGpuBoardGroupID
        | hipDeviceAttributeCanUseHostPointerForRegisteredMem
        | hipDeviceAttributePageableMemoryAccessUsesHostPageTables
        | hipDeviceAttributePersistingL2CacheMaxSize
        | hipDeviceAttributeReservedSharedMemPerBlock
        | hipDeviceAttributeTccDriver
        | hipDeviceAttributeVirtualMemoryManagementSupported
        | hipDeviceAttributeMemoryPoolSupportedHandleTypes => 0,
        hipDeviceAttributeAsyncEngineCount => new.asyncEngineCount,
        hipDeviceAttributeCanMapHostMemory
        | hipDeviceAttributeConcurrentKernels
        | hipDeviceAttributeDeviceOverlap
        | hipDeviceAttributeGlobalL1CacheSupported
        | hipDeviceAttributeHostNativeAtomicSupported
        | hipDeviceAttributeLocalL1CacheSupported
        | hipDeviceAttributeStreamPrioritiesSupported
        | hipDeviceAttributeUnifiedAddressing
        | hipDeviceAttributeMemoryPoolsSupported
        | hipDeviceAttributeCanUseStreamWaitValue
        | hipDeviceAttributeHostRegisterSupported
        | hipDeviceAttributeNumberOfXccs => 1,
        hipDeviceAttributeClockRate => f.clock_khz,
        hipDeviceAttributeConcurrentManagedAccess
        | hipDeviceAttributeManagedMemory
        | hipDeviceAttributeDirectManagedMemAccessFromHost => f.managed,
        hipDeviceAttributePageableMemoryAccess => f.pageable,
        hipDeviceAttributeCooperativeLaunch
        | hipDeviceAttributeCooperativeMultiDeviceLaunch
        | hipDeviceAttributeCooperativeMultiDeviceUnmatchedFunc
        | hipDeviceAttributeCooperativeMultiDeviceUnmatchedGridDim
        | hipDeviceAttributeCooperativeMultiDeviceUnmatchedBlockDim
        | hipDeviceAttributeCooperativeMultiDeviceUnmatchedSharedMem => new.cooperativeLaunch,
        hipDeviceAttributeIntegrated => f.integrated,
        hipDeviceAttributeL2CacheSize => f.l2,
        hipDeviceAttributeComputeCapabilityMajor => new.major,
        hipDeviceAttributeComputeCapabilityMinor => new.minor,
        hipDeviceAttributeMaxBlocksPerMultiProcessor => new.maxBlocksPerMultiProcessor,
        hipDeviceAttributeMaxBlockDimX => new.maxThreadsDim[0],
        hipDeviceAttributeMaxBlockDimY => new.maxThreadsDim[1],
        hipDeviceAttributeMaxBlockDimZ => new.maxThreadsDim[2],
        hipDeviceAttributeMaxGridDimX => f.grid[0],
        hipDeviceAttributeMaxGridDimY => f.grid[1],
        hipDeviceAttributeMaxGridDimZ => f.grid[2],
        hipDeviceAttributeMaxTexture1DWidth => new.maxTexture1D,
        hipDeviceAttributeMaxTexture1DLinear => new.maxTexture1DLinear,
        hipDeviceAttributeMaxTexture1DMipmap => new.maxTexture1DMipmap,
        hipDeviceAttributeMaxTexture2DWidth => new.maxTexture2D[0],
        hipDeviceAttributeMaxTexture2DHeight => new.maxTexture2D[1],
        hipDeviceAttributeMaxTexture3DWidth => new.maxTexture3D[0],
        hipDeviceAttributeMaxTexture3DHeight => new.maxTexture3D[1],
        hipDeviceAttributeMaxTexture3DDepth => new.maxTexture3D[2],
        hipDeviceAttributeMaxTextureCubemap => new.maxTextureCubemap,
        hipDeviceAttributeMaxSurface1D => new.maxSurface1D,
        hipDeviceAttributeMaxThreadsDim => new.maxThreadsDim[0],
        hipDeviceAttributeMaxThreadsPerBlock => new.maxThreadsPerBlock,
        hipDeviceAttributeMaxThreadsPerMultiProcessor => f.max_threads_per_unit,
        hipDeviceAttributeMaxPitch => size(f.pitch),
        hipDeviceAttributeMemoryBusWidth => new.memoryBusWidth,
        hipDeviceAttributeMemoryClockRate => f.memory_clock_khz,
        hipDeviceAttributeMultiprocessorCount => f.units,
        hipDeviceAttributePciBusId => new.pciBusID,
        hipDeviceAttributePciDeviceId => new.pciDeviceID,
        hipDeviceAttributePciDomainID => new.pciDomainID,
        hipDeviceAttributePciChipId => p.chip_id as i32,
        hipDeviceAttributeMaxRegistersPerBlock
        | hipDeviceAttributeMaxRegistersPerMultiprocessor => new.regsPerBlock,
        hipDeviceAttributeMaxAvailableVgprsPerThread => {
            if p.gfx_version.0 == 9 && p.gfx_version.2 != 10 && p.gfx_version.1 == 0 {
                256
            } else {
                512
            }
        }
        hipDeviceAttributeMaxSharedMemoryPerBlock
        | hipDeviceAttributeSharedMemPerBlockOptin
        | hipDeviceAttributeSharedMemPerMultiprocessor
        | hipDeviceAttributeMaxSharedMemoryPerMultiprocessor => size(p.lds_size),
        hipDeviceAttributeSingleToDoublePrecisionPerfRatio => new.singleToDoublePrecisionPerfRatio,
        hipDeviceAttributeSurfaceAlignment
        | hipDeviceAttributeTextureAlignment
        | hipDeviceAttributeTexturePitchAlignment => 256,
        hipDeviceAttributeTotalConstantMemory => size(CONSTANT_MEMORY),
        hipDeviceAttributeTotalGlobalMem => size(p.global_memory_size),
        hipDeviceAttributeWarpSize => new.warpSize,
        hipDeviceAttributeClockInstructionRate | hipDeviceAttributeWallClockRate => {
            (p.timestamp_frequency / 1000) as i32
        }
        hipDeviceAttributeArch => ARCH_BITS as i32,
        hipDeviceAttributeGcnArch => properties_r0000(device).gcnArch,
        hipDeviceAttributeIsLargeBar => new.isLargeBar,
        hipDeviceAttributeAsicRevision => new.asicRevision,
        hipDeviceAttributeImageSupport => f.images,
        hipDeviceAttributePhysicalMultiProcessorCount => p.compute_units as i32,
        hipDeviceAttributeFineGrainSupport => i32::from(p.fine_grained_pool),
        _ => {
            return fail!(
                hipErrorInvalidValue,
                "device attribute {attribute} does not exist or has no 32-bit value"
            );
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gfx90a() -> DeviceProperties {
        DeviceProperties {
            isa: "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-".into(),
            uuid: "GPU-0123456789abcdef".into(),
            gfx_version: (9, 0, 10),
            compute_units: 104,
            waves_per_cu: 32,
            wavefront_size: 64,
            workgroup_max_size: 1024,
            pci_domain: 0,
            pci_bus: 0x43,
            ..DeviceProperties::default()
        }
    }

    #[test]
    fn names_and_numbers() {
        let p = gfx90a();
        assert_eq!(target(&p), "gfx90a:sramecc+:xnack-");
        assert_eq!(
            uuid(&p).bytes[..4],
            [b'0', b'1', b'2', b'3'].map(u8::cast_signed)
        );
        let f = Facts::new(&p);
        assert_eq!((f.units, f.max_threads_per_unit), (104, 2048));
        let rdna = DeviceProperties {
            gfx_version: (10, 3, 0),
            compute_units: 72,
            wavefront_size: 32,
            ..gfx90a()
        };
        assert_eq!(
            (
                Facts::new(&rdna).units,
                Facts::new(&rdna).max_threads_per_unit
            ),
            (36, 2048)
        );
    }
}
