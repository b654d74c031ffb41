//! C enumerations and flags of the HIP headers: one `u32` (or `i32`) alias per enumeration, one constant per name.
//!
//! They are integers and not Rust enumerations because C callers may pass any value; every entry point checks what it takes.
//! Values are the same in HIP 5, 6 and 7 (each name with its newest value), except for the enumerations that
//! [`crate::version`] maps at run time: `hipMemoryType` and `hipGraphNodeType`. Names that end in `Begin`, `End` and `Max` are bounds.

#![expect(
    missing_docs,
    reason = "names, values and meanings are those of the HIP headers"
)]

pub type hipDeviceAttribute_t = u32;
pub const hipDeviceAttributeCudaCompatibleBegin: hipDeviceAttribute_t = 0;
pub const hipDeviceAttributeEccEnabled: hipDeviceAttribute_t = 0;
pub const hipDeviceAttributeAccessPolicyMaxWindowSize: hipDeviceAttribute_t = 1;
pub const hipDeviceAttributeAsyncEngineCount: hipDeviceAttribute_t = 2;
pub const hipDeviceAttributeCanMapHostMemory: hipDeviceAttribute_t = 3;
pub const hipDeviceAttributeCanUseHostPointerForRegisteredMem: hipDeviceAttribute_t = 4;
pub const hipDeviceAttributeClockRate: hipDeviceAttribute_t = 5;
pub const hipDeviceAttributeComputeMode: hipDeviceAttribute_t = 6;
pub const hipDeviceAttributeComputePreemptionSupported: hipDeviceAttribute_t = 7;
pub const hipDeviceAttributeConcurrentKernels: hipDeviceAttribute_t = 8;
pub const hipDeviceAttributeConcurrentManagedAccess: hipDeviceAttribute_t = 9;
pub const hipDeviceAttributeCooperativeLaunch: hipDeviceAttribute_t = 10;
pub const hipDeviceAttributeCooperativeMultiDeviceLaunch: hipDeviceAttribute_t = 11;
pub const hipDeviceAttributeDeviceOverlap: hipDeviceAttribute_t = 12;
pub const hipDeviceAttributeDirectManagedMemAccessFromHost: hipDeviceAttribute_t = 13;
pub const hipDeviceAttributeGlobalL1CacheSupported: hipDeviceAttribute_t = 14;
pub const hipDeviceAttributeHostNativeAtomicSupported: hipDeviceAttribute_t = 15;
pub const hipDeviceAttributeIntegrated: hipDeviceAttribute_t = 16;
pub const hipDeviceAttributeIsMultiGpuBoard: hipDeviceAttribute_t = 17;
pub const hipDeviceAttributeKernelExecTimeout: hipDeviceAttribute_t = 18;
pub const hipDeviceAttributeL2CacheSize: hipDeviceAttribute_t = 19;
pub const hipDeviceAttributeLocalL1CacheSupported: hipDeviceAttribute_t = 20;
pub const hipDeviceAttributeLuid: hipDeviceAttribute_t = 21;
pub const hipDeviceAttributeLuidDeviceNodeMask: hipDeviceAttribute_t = 22;
pub const hipDeviceAttributeComputeCapabilityMajor: hipDeviceAttribute_t = 23;
pub const hipDeviceAttributeManagedMemory: hipDeviceAttribute_t = 24;
pub const hipDeviceAttributeMaxBlocksPerMultiProcessor: hipDeviceAttribute_t = 25;
pub const hipDeviceAttributeMaxBlockDimX: hipDeviceAttribute_t = 26;
pub const hipDeviceAttributeMaxBlockDimY: hipDeviceAttribute_t = 27;
pub const hipDeviceAttributeMaxBlockDimZ: hipDeviceAttribute_t = 28;
pub const hipDeviceAttributeMaxGridDimX: hipDeviceAttribute_t = 29;
pub const hipDeviceAttributeMaxGridDimY: hipDeviceAttribute_t = 30;
pub const hipDeviceAttributeMaxGridDimZ: hipDeviceAttribute_t = 31;
pub const hipDeviceAttributeMaxSurface1D: hipDeviceAttribute_t = 32;
pub const hipDeviceAttributeMaxSurface1DLayered: hipDeviceAttribute_t = 33;
pub const hipDeviceAttributeMaxSurface2D: hipDeviceAttribute_t = 34;
pub const hipDeviceAttributeMaxSurface2DLayered: hipDeviceAttribute_t = 35;
pub const hipDeviceAttributeMaxSurface3D: hipDeviceAttribute_t = 36;
pub const hipDeviceAttributeMaxSurfaceCubemap: hipDeviceAttribute_t = 37;
pub const hipDeviceAttributeMaxSurfaceCubemapLayered: hipDeviceAttribute_t = 38;
pub const hipDeviceAttributeMaxTexture1DWidth: hipDeviceAttribute_t = 39;
pub const hipDeviceAttributeMaxTexture1DLayered: hipDeviceAttribute_t = 40;
pub const hipDeviceAttributeMaxTexture1DLinear: hipDeviceAttribute_t = 41;
pub const hipDeviceAttributeMaxTexture1DMipmap: hipDeviceAttribute_t = 42;
pub const hipDeviceAttributeMaxTexture2DWidth: hipDeviceAttribute_t = 43;
pub const hipDeviceAttributeMaxTexture2DHeight: hipDeviceAttribute_t = 44;
pub const hipDeviceAttributeMaxTexture2DGather: hipDeviceAttribute_t = 45;
pub const hipDeviceAttributeMaxTexture2DLayered: hipDeviceAttribute_t = 46;
pub const hipDeviceAttributeMaxTexture2DLinear: hipDeviceAttribute_t = 47;
pub const hipDeviceAttributeMaxTexture2DMipmap: hipDeviceAttribute_t = 48;
pub const hipDeviceAttributeMaxTexture3DWidth: hipDeviceAttribute_t = 49;
pub const hipDeviceAttributeMaxTexture3DHeight: hipDeviceAttribute_t = 50;
pub const hipDeviceAttributeMaxTexture3DDepth: hipDeviceAttribute_t = 51;
pub const hipDeviceAttributeMaxTexture3DAlt: hipDeviceAttribute_t = 52;
pub const hipDeviceAttributeMaxTextureCubemap: hipDeviceAttribute_t = 53;
pub const hipDeviceAttributeMaxTextureCubemapLayered: hipDeviceAttribute_t = 54;
pub const hipDeviceAttributeMaxThreadsDim: hipDeviceAttribute_t = 55;
pub const hipDeviceAttributeMaxThreadsPerBlock: hipDeviceAttribute_t = 56;
pub const hipDeviceAttributeMaxThreadsPerMultiProcessor: hipDeviceAttribute_t = 57;
pub const hipDeviceAttributeMaxPitch: hipDeviceAttribute_t = 58;
pub const hipDeviceAttributeMemoryBusWidth: hipDeviceAttribute_t = 59;
pub const hipDeviceAttributeMemoryClockRate: hipDeviceAttribute_t = 60;
pub const hipDeviceAttributeComputeCapabilityMinor: hipDeviceAttribute_t = 61;
pub const hipDeviceAttributeMultiGpuBoardGroupID: hipDeviceAttribute_t = 62;
pub const hipDeviceAttributeMultiprocessorCount: hipDeviceAttribute_t = 63;
pub const hipDeviceAttributeName: hipDeviceAttribute_t = 64;
pub const hipDeviceAttributePageableMemoryAccess: hipDeviceAttribute_t = 65;
pub const hipDeviceAttributePageableMemoryAccessUsesHostPageTables: hipDeviceAttribute_t = 66;
pub const hipDeviceAttributePciBusId: hipDeviceAttribute_t = 67;
pub const hipDeviceAttributePciDeviceId: hipDeviceAttribute_t = 68;
pub const hipDeviceAttributePciDomainID: hipDeviceAttribute_t = 69;
pub const hipDeviceAttributePersistingL2CacheMaxSize: hipDeviceAttribute_t = 70;
pub const hipDeviceAttributeMaxRegistersPerBlock: hipDeviceAttribute_t = 71;
pub const hipDeviceAttributeMaxRegistersPerMultiprocessor: hipDeviceAttribute_t = 72;
pub const hipDeviceAttributeReservedSharedMemPerBlock: hipDeviceAttribute_t = 73;
pub const hipDeviceAttributeMaxSharedMemoryPerBlock: hipDeviceAttribute_t = 74;
pub const hipDeviceAttributeSharedMemPerBlockOptin: hipDeviceAttribute_t = 75;
pub const hipDeviceAttributeSharedMemPerMultiprocessor: hipDeviceAttribute_t = 76;
pub const hipDeviceAttributeSingleToDoublePrecisionPerfRatio: hipDeviceAttribute_t = 77;
pub const hipDeviceAttributeStreamPrioritiesSupported: hipDeviceAttribute_t = 78;
pub const hipDeviceAttributeSurfaceAlignment: hipDeviceAttribute_t = 79;
pub const hipDeviceAttributeTccDriver: hipDeviceAttribute_t = 80;
pub const hipDeviceAttributeTextureAlignment: hipDeviceAttribute_t = 81;
pub const hipDeviceAttributeTexturePitchAlignment: hipDeviceAttribute_t = 82;
pub const hipDeviceAttributeTotalConstantMemory: hipDeviceAttribute_t = 83;
pub const hipDeviceAttributeTotalGlobalMem: hipDeviceAttribute_t = 84;
pub const hipDeviceAttributeUnifiedAddressing: hipDeviceAttribute_t = 85;
pub const hipDeviceAttributeUuid: hipDeviceAttribute_t = 86;
pub const hipDeviceAttributeWarpSize: hipDeviceAttribute_t = 87;
pub const hipDeviceAttributeMemoryPoolsSupported: hipDeviceAttribute_t = 88;
pub const hipDeviceAttributeCudaCompatibleEnd: hipDeviceAttribute_t = 9999;
pub const hipDeviceAttributeAmdSpecificBegin: hipDeviceAttribute_t = 10000;
pub const hipDeviceAttributeClockInstructionRate: hipDeviceAttribute_t = 10000;
pub const hipDeviceAttributeArch: hipDeviceAttribute_t = 10001;
pub const hipDeviceAttributeMaxSharedMemoryPerMultiprocessor: hipDeviceAttribute_t = 10002;
pub const hipDeviceAttributeGcnArch: hipDeviceAttribute_t = 10003;
pub const hipDeviceAttributeGcnArchName: hipDeviceAttribute_t = 10004;
pub const hipDeviceAttributeHdpMemFlushCntl: hipDeviceAttribute_t = 10005;
pub const hipDeviceAttributeHdpRegFlushCntl: hipDeviceAttribute_t = 10006;
pub const hipDeviceAttributeCooperativeMultiDeviceUnmatchedFunc: hipDeviceAttribute_t = 10007;
pub const hipDeviceAttributeCooperativeMultiDeviceUnmatchedGridDim: hipDeviceAttribute_t = 10008;
pub const hipDeviceAttributeCooperativeMultiDeviceUnmatchedBlockDim: hipDeviceAttribute_t = 10009;
pub const hipDeviceAttributeCooperativeMultiDeviceUnmatchedSharedMem: hipDeviceAttribute_t = 10010;
pub const hipDeviceAttributeIsLargeBar: hipDeviceAttribute_t = 10011;
pub const hipDeviceAttributeAsicRevision: hipDeviceAttribute_t = 10012;
pub const hipDeviceAttributeCanUseStreamWaitValue: hipDeviceAttribute_t = 10013;
pub const hipDeviceAttributeImageSupport: hipDeviceAttribute_t = 10014;
pub const hipDeviceAttributePhysicalMultiProcessorCount: hipDeviceAttribute_t = 10015;
pub const hipDeviceAttributeFineGrainSupport: hipDeviceAttribute_t = 10016;
pub const hipDeviceAttributeAmdSpecificEnd: hipDeviceAttribute_t = 19999;
pub const hipDeviceAttributeVendorSpecificBegin: hipDeviceAttribute_t = 20000;
pub const hipDeviceAttributeUnused1: hipDeviceAttribute_t = 64;
pub const hipDeviceAttributeUnused2: hipDeviceAttribute_t = 86;
pub const hipDeviceAttributeVirtualMemoryManagementSupported: hipDeviceAttribute_t = 89;
pub const hipDeviceAttributeHostRegisterSupported: hipDeviceAttribute_t = 90;
pub const hipDeviceAttributeMemoryPoolSupportedHandleTypes: hipDeviceAttribute_t = 91;
pub const hipDeviceAttributeUnused3: hipDeviceAttribute_t = 10001;
pub const hipDeviceAttributeUnused4: hipDeviceAttribute_t = 10003;
pub const hipDeviceAttributeUnused5: hipDeviceAttribute_t = 10004;
pub const hipDeviceAttributeWallClockRate: hipDeviceAttribute_t = 10017;
pub const hipDeviceAttributePciDomainId: hipDeviceAttribute_t = 69;
pub const hipDeviceAttributeNumberOfXccs: hipDeviceAttribute_t = 10018;
pub const hipDeviceAttributeMaxAvailableVgprsPerThread: hipDeviceAttribute_t = 10019;
pub const hipDeviceAttributePciChipId: hipDeviceAttribute_t = 10020;

pub type hipMemcpyKind = u32;
pub const hipMemcpyHostToHost: hipMemcpyKind = 0;
pub const hipMemcpyHostToDevice: hipMemcpyKind = 1;
pub const hipMemcpyDeviceToHost: hipMemcpyKind = 2;
pub const hipMemcpyDeviceToDevice: hipMemcpyKind = 3;
pub const hipMemcpyDefault: hipMemcpyKind = 4;
pub const hipMemcpyDeviceToDeviceNoCU: hipMemcpyKind = 1024;

pub type hipFuncAttribute = u32;
pub const hipFuncAttributeMaxDynamicSharedMemorySize: hipFuncAttribute = 8;
pub const hipFuncAttributePreferredSharedMemoryCarveout: hipFuncAttribute = 9;
pub const hipFuncAttributeMax: hipFuncAttribute = 10;

pub type hipFunction_attribute = u32;
pub const HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: hipFunction_attribute = 0;
pub const HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: hipFunction_attribute = 1;
pub const HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: hipFunction_attribute = 2;
pub const HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: hipFunction_attribute = 3;
pub const HIP_FUNC_ATTRIBUTE_NUM_REGS: hipFunction_attribute = 4;
pub const HIP_FUNC_ATTRIBUTE_PTX_VERSION: hipFunction_attribute = 5;
pub const HIP_FUNC_ATTRIBUTE_BINARY_VERSION: hipFunction_attribute = 6;
pub const HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA: hipFunction_attribute = 7;
pub const HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: hipFunction_attribute = 8;
pub const HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: hipFunction_attribute = 9;
pub const HIP_FUNC_ATTRIBUTE_MAX: hipFunction_attribute = 10;

pub type hipPointer_attribute = u32;
pub const HIP_POINTER_ATTRIBUTE_CONTEXT: hipPointer_attribute = 1;
pub const HIP_POINTER_ATTRIBUTE_MEMORY_TYPE: hipPointer_attribute = 2;
pub const HIP_POINTER_ATTRIBUTE_DEVICE_POINTER: hipPointer_attribute = 3;
pub const HIP_POINTER_ATTRIBUTE_HOST_POINTER: hipPointer_attribute = 4;
pub const HIP_POINTER_ATTRIBUTE_P2P_TOKENS: hipPointer_attribute = 5;
pub const HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS: hipPointer_attribute = 6;
pub const HIP_POINTER_ATTRIBUTE_BUFFER_ID: hipPointer_attribute = 7;
pub const HIP_POINTER_ATTRIBUTE_IS_MANAGED: hipPointer_attribute = 8;
pub const HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL: hipPointer_attribute = 9;
pub const HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE: hipPointer_attribute = 10;
pub const HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR: hipPointer_attribute = 11;
pub const HIP_POINTER_ATTRIBUTE_RANGE_SIZE: hipPointer_attribute = 12;
pub const HIP_POINTER_ATTRIBUTE_MAPPED: hipPointer_attribute = 13;
pub const HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: hipPointer_attribute = 14;
pub const HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: hipPointer_attribute = 15;
pub const HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS: hipPointer_attribute = 16;
pub const HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: hipPointer_attribute = 17;

pub type hipMemoryAdvise = u32;
pub const hipMemAdviseSetReadMostly: hipMemoryAdvise = 1;
pub const hipMemAdviseUnsetReadMostly: hipMemoryAdvise = 2;
pub const hipMemAdviseSetPreferredLocation: hipMemoryAdvise = 3;
pub const hipMemAdviseUnsetPreferredLocation: hipMemoryAdvise = 4;
pub const hipMemAdviseSetAccessedBy: hipMemoryAdvise = 5;
pub const hipMemAdviseUnsetAccessedBy: hipMemoryAdvise = 6;
pub const hipMemAdviseSetCoarseGrain: hipMemoryAdvise = 100;
pub const hipMemAdviseUnsetCoarseGrain: hipMemoryAdvise = 101;

pub type hipMemRangeAttribute = u32;
pub const hipMemRangeAttributeReadMostly: hipMemRangeAttribute = 1;
pub const hipMemRangeAttributePreferredLocation: hipMemRangeAttribute = 2;
pub const hipMemRangeAttributeAccessedBy: hipMemRangeAttribute = 3;
pub const hipMemRangeAttributeLastPrefetchLocation: hipMemRangeAttribute = 4;
pub const hipMemRangeAttributeCoherencyMode: hipMemRangeAttribute = 100;

pub type hipMemRangeCoherencyMode = u32;
pub const hipMemRangeCoherencyModeFineGrain: hipMemRangeCoherencyMode = 0;
pub const hipMemRangeCoherencyModeCoarseGrain: hipMemRangeCoherencyMode = 1;
pub const hipMemRangeCoherencyModeIndeterminate: hipMemRangeCoherencyMode = 2;

pub type hipLimit_t = u32;
pub const hipLimitPrintfFifoSize: hipLimit_t = 1;
pub const hipLimitMallocHeapSize: hipLimit_t = 2;
pub const hipLimitStackSize: hipLimit_t = 0;
pub const hipLimitRange: hipLimit_t = 4099;
pub const hipExtLimitScratchMin: hipLimit_t = 4096;
pub const hipExtLimitScratchMax: hipLimit_t = 4097;
pub const hipExtLimitScratchCurrent: hipLimit_t = 4098;

pub type hipDeviceP2PAttr = u32;
pub const hipDevP2PAttrPerformanceRank: hipDeviceP2PAttr = 0;
pub const hipDevP2PAttrAccessSupported: hipDeviceP2PAttr = 1;
pub const hipDevP2PAttrNativeAtomicSupported: hipDeviceP2PAttr = 2;
pub const hipDevP2PAttrHipArrayAccessSupported: hipDeviceP2PAttr = 3;

pub type hipFuncCache_t = u32;
pub const hipFuncCachePreferNone: hipFuncCache_t = 0;
pub const hipFuncCachePreferShared: hipFuncCache_t = 1;
pub const hipFuncCachePreferL1: hipFuncCache_t = 2;
pub const hipFuncCachePreferEqual: hipFuncCache_t = 3;

pub type hipSharedMemConfig = u32;
pub const hipSharedMemBankSizeDefault: hipSharedMemConfig = 0;
pub const hipSharedMemBankSizeFourByte: hipSharedMemConfig = 1;
pub const hipSharedMemBankSizeEightByte: hipSharedMemConfig = 2;

pub type hipMemPoolAttr = u32;
pub const hipMemPoolReuseFollowEventDependencies: hipMemPoolAttr = 1;
pub const hipMemPoolReuseAllowOpportunistic: hipMemPoolAttr = 2;
pub const hipMemPoolReuseAllowInternalDependencies: hipMemPoolAttr = 3;
pub const hipMemPoolAttrReleaseThreshold: hipMemPoolAttr = 4;
pub const hipMemPoolAttrReservedMemCurrent: hipMemPoolAttr = 5;
pub const hipMemPoolAttrReservedMemHigh: hipMemPoolAttr = 6;
pub const hipMemPoolAttrUsedMemCurrent: hipMemPoolAttr = 7;
pub const hipMemPoolAttrUsedMemHigh: hipMemPoolAttr = 8;

pub type hipMemLocationType = u32;
pub const hipMemLocationTypeInvalid: hipMemLocationType = 0;
pub const hipMemLocationTypeDevice: hipMemLocationType = 1;
pub const hipMemLocationTypeNone: hipMemLocationType = 0;
pub const hipMemLocationTypeHost: hipMemLocationType = 2;
pub const hipMemLocationTypeHostNuma: hipMemLocationType = 3;
pub const hipMemLocationTypeHostNumaCurrent: hipMemLocationType = 4;

pub type hipMemAccessFlags = u32;
pub const hipMemAccessFlagsProtNone: hipMemAccessFlags = 0;
pub const hipMemAccessFlagsProtRead: hipMemAccessFlags = 1;
pub const hipMemAccessFlagsProtReadWrite: hipMemAccessFlags = 3;

pub type hipMemAllocationType = u32;
pub const hipMemAllocationTypeInvalid: hipMemAllocationType = 0;
pub const hipMemAllocationTypePinned: hipMemAllocationType = 1;
pub const hipMemAllocationTypeMax: hipMemAllocationType = 2147483647;
pub const hipMemAllocationTypeUncached: hipMemAllocationType = 1073741824;

pub type hipMemAllocationHandleType = u32;
pub const hipMemHandleTypeNone: hipMemAllocationHandleType = 0;
pub const hipMemHandleTypePosixFileDescriptor: hipMemAllocationHandleType = 1;
pub const hipMemHandleTypeWin32: hipMemAllocationHandleType = 2;
pub const hipMemHandleTypeWin32Kmt: hipMemAllocationHandleType = 4;

pub type hipStreamCaptureStatus = u32;
pub const hipStreamCaptureStatusNone: hipStreamCaptureStatus = 0;
pub const hipStreamCaptureStatusActive: hipStreamCaptureStatus = 1;
pub const hipStreamCaptureStatusInvalidated: hipStreamCaptureStatus = 2;

pub type hipStreamCaptureMode = u32;
pub const hipStreamCaptureModeGlobal: hipStreamCaptureMode = 0;
pub const hipStreamCaptureModeThreadLocal: hipStreamCaptureMode = 1;
pub const hipStreamCaptureModeRelaxed: hipStreamCaptureMode = 2;

pub type hipChannelFormatKind = u32;
pub const hipChannelFormatKindSigned: hipChannelFormatKind = 0;
pub const hipChannelFormatKindUnsigned: hipChannelFormatKind = 1;
pub const hipChannelFormatKindFloat: hipChannelFormatKind = 2;
pub const hipChannelFormatKindNone: hipChannelFormatKind = 3;

pub type hipArray_Format = u32;
pub const HIP_AD_FORMAT_UNSIGNED_INT8: hipArray_Format = 1;
pub const HIP_AD_FORMAT_UNSIGNED_INT16: hipArray_Format = 2;
pub const HIP_AD_FORMAT_UNSIGNED_INT32: hipArray_Format = 3;
pub const HIP_AD_FORMAT_SIGNED_INT8: hipArray_Format = 8;
pub const HIP_AD_FORMAT_SIGNED_INT16: hipArray_Format = 9;
pub const HIP_AD_FORMAT_SIGNED_INT32: hipArray_Format = 10;
pub const HIP_AD_FORMAT_HALF: hipArray_Format = 16;
pub const HIP_AD_FORMAT_FLOAT: hipArray_Format = 32;

pub type hipComputeMode = u32;
pub const hipComputeModeDefault: hipComputeMode = 0;
pub const hipComputeModeExclusive: hipComputeMode = 1;
pub const hipComputeModeProhibited: hipComputeMode = 2;
pub const hipComputeModeExclusiveProcess: hipComputeMode = 3;

pub type hipDriverProcAddressQueryResult = u32;
pub const HIP_GET_PROC_ADDRESS_SUCCESS: hipDriverProcAddressQueryResult = 0;
pub const HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND: hipDriverProcAddressQueryResult = 1;
pub const HIP_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT: hipDriverProcAddressQueryResult = 2;

pub type hipMemAllocationGranularity_flags = u32;
pub const hipMemAllocationGranularityMinimum: hipMemAllocationGranularity_flags = 0;
pub const hipMemAllocationGranularityRecommended: hipMemAllocationGranularity_flags = 1;

pub type hipStreamBatchMemOpType = u32;
pub const hipStreamMemOpWaitValue32: hipStreamBatchMemOpType = 1;
pub const hipStreamMemOpWriteValue32: hipStreamBatchMemOpType = 2;
pub const hipStreamMemOpWaitValue64: hipStreamBatchMemOpType = 4;
pub const hipStreamMemOpWriteValue64: hipStreamBatchMemOpType = 5;
pub const hipStreamMemOpBarrier: hipStreamBatchMemOpType = 6;
pub const hipStreamMemOpFlushRemoteWrites: hipStreamBatchMemOpType = 3;

pub type hipSynchronizationPolicy = u32;
pub const hipSyncPolicyAuto: hipSynchronizationPolicy = 1;
pub const hipSyncPolicySpin: hipSynchronizationPolicy = 2;
pub const hipSyncPolicyYield: hipSynchronizationPolicy = 3;
pub const hipSyncPolicyBlockingSync: hipSynchronizationPolicy = 4;

pub type hipResourceType = u32;
pub const hipResourceTypeArray: hipResourceType = 0;
pub const hipResourceTypeMipmappedArray: hipResourceType = 1;
pub const hipResourceTypeLinear: hipResourceType = 2;
pub const hipResourceTypePitch2D: hipResourceType = 3;

pub type hipTextureAddressMode = u32;
pub const hipAddressModeWrap: hipTextureAddressMode = 0;
pub const hipAddressModeClamp: hipTextureAddressMode = 1;
pub const hipAddressModeMirror: hipTextureAddressMode = 2;
pub const hipAddressModeBorder: hipTextureAddressMode = 3;

pub type hipTextureFilterMode = u32;
pub const hipFilterModePoint: hipTextureFilterMode = 0;
pub const hipFilterModeLinear: hipTextureFilterMode = 1;

pub type hipTextureReadMode = u32;
pub const hipReadModeElementType: hipTextureReadMode = 0;
pub const hipReadModeNormalizedFloat: hipTextureReadMode = 1;

pub type hipResourceViewFormat = u32;
pub const hipResViewFormatNone: hipResourceViewFormat = 0x00;
pub const hipResViewFormatUnsignedChar1: hipResourceViewFormat = 0x01;
pub const hipResViewFormatUnsignedChar2: hipResourceViewFormat = 0x02;
pub const hipResViewFormatUnsignedChar4: hipResourceViewFormat = 0x03;
pub const hipResViewFormatSignedChar1: hipResourceViewFormat = 0x04;
pub const hipResViewFormatSignedChar2: hipResourceViewFormat = 0x05;
pub const hipResViewFormatSignedChar4: hipResourceViewFormat = 0x06;
pub const hipResViewFormatUnsignedShort1: hipResourceViewFormat = 0x07;
pub const hipResViewFormatUnsignedShort2: hipResourceViewFormat = 0x08;
pub const hipResViewFormatUnsignedShort4: hipResourceViewFormat = 0x09;
pub const hipResViewFormatSignedShort1: hipResourceViewFormat = 0x0a;
pub const hipResViewFormatSignedShort2: hipResourceViewFormat = 0x0b;
pub const hipResViewFormatSignedShort4: hipResourceViewFormat = 0x0c;
pub const hipResViewFormatUnsignedInt1: hipResourceViewFormat = 0x0d;
pub const hipResViewFormatUnsignedInt2: hipResourceViewFormat = 0x0e;
pub const hipResViewFormatUnsignedInt4: hipResourceViewFormat = 0x0f;
pub const hipResViewFormatSignedInt1: hipResourceViewFormat = 0x10;
pub const hipResViewFormatSignedInt2: hipResourceViewFormat = 0x11;
pub const hipResViewFormatSignedInt4: hipResourceViewFormat = 0x12;
pub const hipResViewFormatHalf1: hipResourceViewFormat = 0x13;
pub const hipResViewFormatHalf2: hipResourceViewFormat = 0x14;
pub const hipResViewFormatHalf4: hipResourceViewFormat = 0x15;
pub const hipResViewFormatFloat1: hipResourceViewFormat = 0x16;
pub const hipResViewFormatFloat2: hipResourceViewFormat = 0x17;
pub const hipResViewFormatFloat4: hipResourceViewFormat = 0x18;

/* Flags */
pub const HIP_TRSA_OVERRIDE_FORMAT: u32 = 0x01;
pub const HIP_TRSF_READ_AS_INTEGER: u32 = 0x01;
pub const HIP_TRSF_NORMALIZED_COORDINATES: u32 = 0x02;
pub const HIP_TRSF_SRGB: u32 = 0x10;
pub const hipIpcMemLazyEnablePeerAccess: u32 = 0;
pub const hipStreamDefault: u32 = 0x00;
pub const hipStreamNonBlocking: u32 = 0x01;
pub const hipEventDefault: u32 = 0x0;
pub const hipEventBlockingSync: u32 = 0x1;
pub const hipEventDisableTiming: u32 = 0x2;
pub const hipEventInterprocess: u32 = 0x4;
pub const hipEventReleaseToDevice: u32 = 0x40000000;
pub const hipEventReleaseToSystem: u32 = 0x80000000;
pub const hipHostMallocDefault: u32 = 0x0;
pub const hipHostMallocPortable: u32 = 0x1;
pub const hipHostMallocMapped: u32 = 0x2;
pub const hipHostMallocWriteCombined: u32 = 0x4;
pub const hipHostMallocNumaUser: u32 = 0x20000000;
pub const hipHostMallocCoherent: u32 = 0x40000000;
pub const hipHostMallocNonCoherent: u32 = 0x80000000;
pub const hipMemAttachGlobal: u32 = 0x01;
pub const hipMemAttachHost: u32 = 0x02;
pub const hipMemAttachSingle: u32 = 0x04;
pub const hipDeviceMallocDefault: u32 = 0x0;
pub const hipDeviceMallocFinegrained: u32 = 0x1;
pub const hipDeviceMallocUncached: u32 = 0x3;
pub const hipMallocSignalMemory: u32 = 0x2;
pub const hipHostRegisterDefault: u32 = 0x0;
pub const hipHostRegisterPortable: u32 = 0x1;
pub const hipHostRegisterMapped: u32 = 0x2;
pub const hipHostRegisterIoMemory: u32 = 0x4;
pub const hipExtHostRegisterCoarseGrained: u32 = 0x8;
pub const hipDeviceScheduleAuto: u32 = 0x0;
pub const hipDeviceScheduleSpin: u32 = 0x1;
pub const hipDeviceScheduleYield: u32 = 0x2;
pub const hipDeviceScheduleBlockingSync: u32 = 0x4;
pub const hipDeviceScheduleMask: u32 = 0x7;
pub const hipDeviceMapHost: u32 = 0x8;
pub const hipDeviceLmemResizeToMax: u32 = 0x16;
pub const hipArrayDefault: u32 = 0x00;
pub const hipArrayLayered: u32 = 0x01;
pub const hipArraySurfaceLoadStore: u32 = 0x02;
pub const hipArrayCubemap: u32 = 0x04;
pub const hipArrayTextureGather: u32 = 0x08;
pub const hipOccupancyDefault: u32 = 0x00;
pub const hipCooperativeLaunchMultiDeviceNoPreSync: u32 = 0x01;
pub const hipCooperativeLaunchMultiDeviceNoPostSync: u32 = 0x02;
pub const hipExtAnyOrderLaunch: u32 = 0x01;
pub const hipStreamWaitValueGte: u32 = 0x0;
pub const hipStreamWaitValueEq: u32 = 0x1;
pub const hipStreamWaitValueAnd: u32 = 0x2;
pub const hipStreamWaitValueNor: u32 = 0x3;
pub const hipEventDisableSystemFence: u32 = 0x2000_0000;
pub const hipHostMallocUncached: u32 = 0x1000_0000;
pub const hipHostRegisterReadOnly: u32 = 0x8;
pub const hipCpuDeviceId: i32 = -1;
pub const hipInvalidDeviceId: i32 = -2;
pub const HIP_LAUNCH_PARAM_BUFFER_POINTER: usize = 1;
pub const HIP_LAUNCH_PARAM_BUFFER_SIZE: usize = 2;
pub const HIP_LAUNCH_PARAM_END: usize = 3;
