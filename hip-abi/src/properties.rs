//! `hipDeviceProp_t` in its two layouts. HIP 5 programs call `hipGetDeviceProperties` (layout R0000); headers of HIP 6 and later
//! rename the call to `hipGetDevicePropertiesR0600`.

#![expect(
    missing_docs,
    reason = "field names and meanings are those of the HIP headers"
)]

use std::{
    ffi::c_char,
    mem::{offset_of, size_of},
};

use crate::types::{hipDeviceArch_t, hipUUID};

/// Device properties as HIP 5 lays them out.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipDeviceProp_tR0000 {
    pub name: [c_char; 256],
    pub totalGlobalMem: usize,
    pub sharedMemPerBlock: usize,
    pub regsPerBlock: i32,
    pub warpSize: i32,
    pub maxThreadsPerBlock: i32,
    pub maxThreadsDim: [i32; 3],
    pub maxGridSize: [i32; 3],
    pub clockRate: i32,
    pub memoryClockRate: i32,
    pub memoryBusWidth: i32,
    pub totalConstMem: usize,
    pub major: i32,
    pub minor: i32,
    pub multiProcessorCount: i32,
    pub l2CacheSize: i32,
    pub maxThreadsPerMultiProcessor: i32,
    pub computeMode: i32,
    pub clockInstructionRate: i32,
    pub arch: hipDeviceArch_t,
    pub concurrentKernels: i32,
    pub pciDomainID: i32,
    pub pciBusID: i32,
    pub pciDeviceID: i32,
    pub maxSharedMemoryPerMultiProcessor: usize,
    pub isMultiGpuBoard: i32,
    pub canMapHostMemory: i32,
    pub gcnArch: i32,
    pub gcnArchName: [c_char; 256],
    pub integrated: i32,
    pub cooperativeLaunch: i32,
    pub cooperativeMultiDeviceLaunch: i32,
    pub maxTexture1DLinear: i32,
    pub maxTexture1D: i32,
    pub maxTexture2D: [i32; 2],
    pub maxTexture3D: [i32; 3],
    pub hdpMemFlushCntl: *mut u32,
    pub hdpRegFlushCntl: *mut u32,
    pub memPitch: usize,
    pub textureAlignment: usize,
    pub texturePitchAlignment: usize,
    pub kernelExecTimeoutEnabled: i32,
    pub ECCEnabled: i32,
    pub tccDriver: i32,
    pub cooperativeMultiDeviceUnmatchedFunc: i32,
    pub cooperativeMultiDeviceUnmatchedGridDim: i32,
    pub cooperativeMultiDeviceUnmatchedBlockDim: i32,
    pub cooperativeMultiDeviceUnmatchedSharedMem: i32,
    pub isLargeBar: i32,
    pub asicRevision: i32,
    pub managedMemory: i32,
    pub directManagedMemAccessFromHost: i32,
    pub concurrentManagedAccess: i32,
    pub pageableMemoryAccess: i32,
    pub pageableMemoryAccessUsesHostPageTables: i32,
}

/// Device properties as HIP 6 and 7 lay them out.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipDeviceProp_tR0600 {
    pub name: [c_char; 256],
    pub uuid: hipUUID,
    pub luid: [c_char; 8],
    pub luidDeviceNodeMask: u32,
    pub totalGlobalMem: usize,
    pub sharedMemPerBlock: usize,
    pub regsPerBlock: i32,
    pub warpSize: i32,
    pub memPitch: usize,
    pub maxThreadsPerBlock: i32,
    pub maxThreadsDim: [i32; 3],
    pub maxGridSize: [i32; 3],
    pub clockRate: i32,
    pub totalConstMem: usize,
    pub major: i32,
    pub minor: i32,
    pub textureAlignment: usize,
    pub texturePitchAlignment: usize,
    pub deviceOverlap: i32,
    pub multiProcessorCount: i32,
    pub kernelExecTimeoutEnabled: i32,
    pub integrated: i32,
    pub canMapHostMemory: i32,
    pub computeMode: i32,
    pub maxTexture1D: i32,
    pub maxTexture1DMipmap: i32,
    pub maxTexture1DLinear: i32,
    pub maxTexture2D: [i32; 2],
    pub maxTexture2DMipmap: [i32; 2],
    pub maxTexture2DLinear: [i32; 3],
    pub maxTexture2DGather: [i32; 2],
    pub maxTexture3D: [i32; 3],
    pub maxTexture3DAlt: [i32; 3],
    pub maxTextureCubemap: i32,
    pub maxTexture1DLayered: [i32; 2],
    pub maxTexture2DLayered: [i32; 3],
    pub maxTextureCubemapLayered: [i32; 2],
    pub maxSurface1D: i32,
    pub maxSurface2D: [i32; 2],
    pub maxSurface3D: [i32; 3],
    pub maxSurface1DLayered: [i32; 2],
    pub maxSurface2DLayered: [i32; 3],
    pub maxSurfaceCubemap: i32,
    pub maxSurfaceCubemapLayered: [i32; 2],
    pub surfaceAlignment: usize,
    pub concurrentKernels: i32,
    pub ECCEnabled: i32,
    pub pciBusID: i32,
    pub pciDeviceID: i32,
    pub pciDomainID: i32,
    pub tccDriver: i32,
    pub asyncEngineCount: i32,
    pub unifiedAddressing: i32,
    pub memoryClockRate: i32,
    pub memoryBusWidth: i32,
    pub l2CacheSize: i32,
    pub persistingL2CacheMaxSize: i32,
    pub maxThreadsPerMultiProcessor: i32,
    pub streamPrioritiesSupported: i32,
    pub globalL1CacheSupported: i32,
    pub localL1CacheSupported: i32,
    pub sharedMemPerMultiprocessor: usize,
    pub regsPerMultiprocessor: i32,
    pub managedMemory: i32,
    pub isMultiGpuBoard: i32,
    pub multiGpuBoardGroupID: i32,
    pub hostNativeAtomicSupported: i32,
    pub singleToDoublePrecisionPerfRatio: i32,
    pub pageableMemoryAccess: i32,
    pub concurrentManagedAccess: i32,
    pub computePreemptionSupported: i32,
    pub canUseHostPointerForRegisteredMem: i32,
    pub cooperativeLaunch: i32,
    pub cooperativeMultiDeviceLaunch: i32,
    pub sharedMemPerBlockOptin: usize,
    pub pageableMemoryAccessUsesHostPageTables: i32,
    pub directManagedMemAccessFromHost: i32,
    pub maxBlocksPerMultiProcessor: i32,
    pub accessPolicyMaxWindowSize: i32,
    pub reservedSharedMemPerBlock: usize,
    pub hostRegisterSupported: i32,
    pub sparseHipArraySupported: i32,
    pub hostRegisterReadOnlySupported: i32,
    pub timelineSemaphoreInteropSupported: i32,
    pub memoryPoolsSupported: i32,
    pub gpuDirectRDMASupported: i32,
    pub gpuDirectRDMAFlushWritesOptions: u32,
    pub gpuDirectRDMAWritesOrdering: i32,
    pub memoryPoolSupportedHandleTypes: u32,
    pub deferredMappingHipArraySupported: i32,
    pub ipcEventSupported: i32,
    pub clusterLaunch: i32,
    pub unifiedFunctionPointers: i32,
    pub reserved: [i32; 63],
    pub hipReserved: [i32; 32],
    pub gcnArchName: [c_char; 256],
    pub maxSharedMemoryPerMultiProcessor: usize,
    pub clockInstructionRate: i32,
    pub arch: hipDeviceArch_t,
    pub hdpMemFlushCntl: *mut u32,
    pub hdpRegFlushCntl: *mut u32,
    pub cooperativeMultiDeviceUnmatchedFunc: i32,
    pub cooperativeMultiDeviceUnmatchedGridDim: i32,
    pub cooperativeMultiDeviceUnmatchedBlockDim: i32,
    pub cooperativeMultiDeviceUnmatchedSharedMem: i32,
    pub isLargeBar: i32,
    pub asicRevision: i32,
}

impl Default for hipDeviceProp_tR0000 {
    fn default() -> Self {
        // SAFETY: every field is an integer, an array of integers or a raw pointer: all zero bytes are a value.
        unsafe { std::mem::zeroed() }
    }
}

impl Default for hipDeviceProp_tR0600 {
    fn default() -> Self {
        // SAFETY: as above.
        unsafe { std::mem::zeroed() }
    }
}

const _: () = {
    assert!(size_of::<hipDeviceProp_tR0000>() == 792);
    assert!(size_of::<hipDeviceProp_tR0600>() == 1472);
    assert!(offset_of!(hipDeviceProp_tR0000, name) == 0);
    assert!(offset_of!(hipDeviceProp_tR0600, name) == 0);
    assert!(offset_of!(hipDeviceProp_tR0000, totalGlobalMem) == 256);
    assert!(offset_of!(hipDeviceProp_tR0600, totalGlobalMem) == 288);
    assert!(offset_of!(hipDeviceProp_tR0600, uuid) == 256);
    assert!(offset_of!(hipDeviceProp_tR0000, sharedMemPerBlock) == 264);
    assert!(offset_of!(hipDeviceProp_tR0600, sharedMemPerBlock) == 296);
    assert!(offset_of!(hipDeviceProp_tR0000, regsPerBlock) == 272);
    assert!(offset_of!(hipDeviceProp_tR0600, regsPerBlock) == 304);
    assert!(offset_of!(hipDeviceProp_tR0600, luid) == 272);
    assert!(offset_of!(hipDeviceProp_tR0000, warpSize) == 276);
    assert!(offset_of!(hipDeviceProp_tR0600, warpSize) == 308);
    assert!(offset_of!(hipDeviceProp_tR0000, maxThreadsPerBlock) == 280);
    assert!(offset_of!(hipDeviceProp_tR0600, maxThreadsPerBlock) == 320);
    assert!(offset_of!(hipDeviceProp_tR0000, maxThreadsDim) == 284);
    assert!(offset_of!(hipDeviceProp_tR0600, maxThreadsDim) == 324);
    assert!(offset_of!(hipDeviceProp_tR0000, maxGridSize) == 296);
    assert!(offset_of!(hipDeviceProp_tR0600, maxGridSize) == 336);
    assert!(offset_of!(hipDeviceProp_tR0000, clockRate) == 308);
    assert!(offset_of!(hipDeviceProp_tR0600, clockRate) == 348);
    assert!(offset_of!(hipDeviceProp_tR0000, memoryClockRate) == 312);
    assert!(offset_of!(hipDeviceProp_tR0600, memoryClockRate) == 608);
    assert!(offset_of!(hipDeviceProp_tR0000, memoryBusWidth) == 316);
    assert!(offset_of!(hipDeviceProp_tR0600, memoryBusWidth) == 612);
    assert!(offset_of!(hipDeviceProp_tR0000, totalConstMem) == 320);
    assert!(offset_of!(hipDeviceProp_tR0600, totalConstMem) == 352);
    assert!(offset_of!(hipDeviceProp_tR0000, major) == 328);
    assert!(offset_of!(hipDeviceProp_tR0600, major) == 360);
    assert!(offset_of!(hipDeviceProp_tR0000, minor) == 332);
    assert!(offset_of!(hipDeviceProp_tR0600, minor) == 364);
    assert!(offset_of!(hipDeviceProp_tR0000, multiProcessorCount) == 336);
    assert!(offset_of!(hipDeviceProp_tR0600, multiProcessorCount) == 388);
    assert!(offset_of!(hipDeviceProp_tR0000, l2CacheSize) == 340);
    assert!(offset_of!(hipDeviceProp_tR0600, l2CacheSize) == 616);
    assert!(offset_of!(hipDeviceProp_tR0000, maxThreadsPerMultiProcessor) == 344);
    assert!(offset_of!(hipDeviceProp_tR0600, maxThreadsPerMultiProcessor) == 624);
    assert!(offset_of!(hipDeviceProp_tR0000, computeMode) == 348);
    assert!(offset_of!(hipDeviceProp_tR0600, computeMode) == 404);
    assert!(offset_of!(hipDeviceProp_tR0000, clockInstructionRate) == 352);
    assert!(offset_of!(hipDeviceProp_tR0600, clockInstructionRate) == 1424);
    assert!(offset_of!(hipDeviceProp_tR0000, arch) == 356);
    assert!(offset_of!(hipDeviceProp_tR0600, arch) == 1428);
    assert!(offset_of!(hipDeviceProp_tR0000, concurrentKernels) == 360);
    assert!(offset_of!(hipDeviceProp_tR0600, concurrentKernels) == 576);
    assert!(offset_of!(hipDeviceProp_tR0000, pciDomainID) == 364);
    assert!(offset_of!(hipDeviceProp_tR0600, pciDomainID) == 592);
    assert!(offset_of!(hipDeviceProp_tR0000, pciBusID) == 368);
    assert!(offset_of!(hipDeviceProp_tR0600, pciBusID) == 584);
    assert!(offset_of!(hipDeviceProp_tR0000, pciDeviceID) == 372);
    assert!(offset_of!(hipDeviceProp_tR0600, pciDeviceID) == 588);
    assert!(offset_of!(hipDeviceProp_tR0000, maxSharedMemoryPerMultiProcessor) == 376);
    assert!(offset_of!(hipDeviceProp_tR0600, maxSharedMemoryPerMultiProcessor) == 1416);
    assert!(offset_of!(hipDeviceProp_tR0000, isMultiGpuBoard) == 384);
    assert!(offset_of!(hipDeviceProp_tR0600, isMultiGpuBoard) == 656);
    assert!(offset_of!(hipDeviceProp_tR0600, deviceOverlap) == 384);
    assert!(offset_of!(hipDeviceProp_tR0000, canMapHostMemory) == 388);
    assert!(offset_of!(hipDeviceProp_tR0600, canMapHostMemory) == 400);
    assert!(offset_of!(hipDeviceProp_tR0000, gcnArch) == 392);
    assert!(offset_of!(hipDeviceProp_tR0000, gcnArchName) == 396);
    assert!(offset_of!(hipDeviceProp_tR0600, gcnArchName) == 1160);
    assert!(offset_of!(hipDeviceProp_tR0600, surfaceAlignment) == 568);
    assert!(offset_of!(hipDeviceProp_tR0600, asyncEngineCount) == 600);
    assert!(offset_of!(hipDeviceProp_tR0600, unifiedAddressing) == 604);
    assert!(offset_of!(hipDeviceProp_tR0600, sharedMemPerMultiprocessor) == 640);
    assert!(offset_of!(hipDeviceProp_tR0000, integrated) == 652);
    assert!(offset_of!(hipDeviceProp_tR0600, integrated) == 396);
    assert!(offset_of!(hipDeviceProp_tR0000, cooperativeLaunch) == 656);
    assert!(offset_of!(hipDeviceProp_tR0600, cooperativeLaunch) == 688);
    assert!(offset_of!(hipDeviceProp_tR0000, cooperativeMultiDeviceLaunch) == 660);
    assert!(offset_of!(hipDeviceProp_tR0600, cooperativeMultiDeviceLaunch) == 692);
    assert!(offset_of!(hipDeviceProp_tR0000, maxTexture1DLinear) == 664);
    assert!(offset_of!(hipDeviceProp_tR0600, maxTexture1DLinear) == 416);
    assert!(offset_of!(hipDeviceProp_tR0000, maxTexture1D) == 668);
    assert!(offset_of!(hipDeviceProp_tR0600, maxTexture1D) == 408);
    assert!(offset_of!(hipDeviceProp_tR0000, maxTexture2D) == 672);
    assert!(offset_of!(hipDeviceProp_tR0600, maxTexture2D) == 420);
    assert!(offset_of!(hipDeviceProp_tR0000, maxTexture3D) == 680);
    assert!(offset_of!(hipDeviceProp_tR0600, maxTexture3D) == 456);
    assert!(offset_of!(hipDeviceProp_tR0000, hdpMemFlushCntl) == 696);
    assert!(offset_of!(hipDeviceProp_tR0600, hdpMemFlushCntl) == 1432);
    assert!(offset_of!(hipDeviceProp_tR0000, hdpRegFlushCntl) == 704);
    assert!(offset_of!(hipDeviceProp_tR0600, hdpRegFlushCntl) == 1440);
    assert!(offset_of!(hipDeviceProp_tR0000, memPitch) == 712);
    assert!(offset_of!(hipDeviceProp_tR0600, memPitch) == 312);
    assert!(offset_of!(hipDeviceProp_tR0000, textureAlignment) == 720);
    assert!(offset_of!(hipDeviceProp_tR0600, textureAlignment) == 368);
    assert!(offset_of!(hipDeviceProp_tR0000, texturePitchAlignment) == 728);
    assert!(offset_of!(hipDeviceProp_tR0600, texturePitchAlignment) == 376);
    assert!(offset_of!(hipDeviceProp_tR0000, kernelExecTimeoutEnabled) == 736);
    assert!(offset_of!(hipDeviceProp_tR0600, kernelExecTimeoutEnabled) == 392);
    assert!(offset_of!(hipDeviceProp_tR0000, ECCEnabled) == 740);
    assert!(offset_of!(hipDeviceProp_tR0600, ECCEnabled) == 580);
    assert!(offset_of!(hipDeviceProp_tR0000, tccDriver) == 744);
    assert!(offset_of!(hipDeviceProp_tR0600, tccDriver) == 596);
    assert!(offset_of!(hipDeviceProp_tR0600, memoryPoolsSupported) == 744);
    assert!(offset_of!(hipDeviceProp_tR0000, isLargeBar) == 764);
    assert!(offset_of!(hipDeviceProp_tR0600, isLargeBar) == 1464);
    assert!(offset_of!(hipDeviceProp_tR0000, asicRevision) == 768);
    assert!(offset_of!(hipDeviceProp_tR0600, asicRevision) == 1468);
    assert!(offset_of!(hipDeviceProp_tR0000, managedMemory) == 772);
    assert!(offset_of!(hipDeviceProp_tR0600, managedMemory) == 652);
    assert!(offset_of!(hipDeviceProp_tR0000, directManagedMemAccessFromHost) == 776);
    assert!(offset_of!(hipDeviceProp_tR0600, directManagedMemAccessFromHost) == 708);
    assert!(offset_of!(hipDeviceProp_tR0000, concurrentManagedAccess) == 780);
    assert!(offset_of!(hipDeviceProp_tR0600, concurrentManagedAccess) == 676);
    assert!(offset_of!(hipDeviceProp_tR0600, reserved) == 780);
    assert!(offset_of!(hipDeviceProp_tR0000, pageableMemoryAccess) == 784);
    assert!(offset_of!(hipDeviceProp_tR0600, pageableMemoryAccess) == 672);
    assert!(offset_of!(hipDeviceProp_tR0000, pageableMemoryAccessUsesHostPageTables) == 788);
    assert!(offset_of!(hipDeviceProp_tR0600, pageableMemoryAccessUsesHostPageTables) == 704);
    assert!(offset_of!(hipDeviceProp_tR0600, hipReserved) == 1032);
};
