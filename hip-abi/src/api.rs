//! Every exported function: its name, its version node, whether it works. One table for the version script, `hipGetProcAddress`,
//! `gneiss info --api` and the documentation.
//!
//! Names and nodes are those of AMD's version script (each name under the release that added it), with the names that HIP 5.2
//! exported and later releases dropped. A name in this table without a function does not compile; a function of ours that
//! is missing in it, or listed with the wrong status, fails a test.

use std::ffi::c_void;

use gneiss_hiprtc::*;

use crate::{
    array::*,
    array_copy::*,
    batch_copy::*,
    capture_api::*,
    configuration::*,
    context::*,
    copy::*,
    copy_driver::*,
    copy_rect::*,
    device::*,
    event::*,
    external_memory::*,
    fill_rect::*,
    function::*,
    graph::{
        dot::*, exec_api::*, kernel_api::*, memory_api::*, node_api::*, params::*,
        structure_api::*, update_api::*, user_object::*,
    },
    host_registration::*,
    ipc::*,
    last_error::*,
    launch_entry::*,
    launch_extended::*,
    launch_several::*,
    library::*,
    link::*,
    managed::*,
    memory::*,
    mipmapped_array::*,
    misc::*,
    module::*,
    occupancy::*,
    peer::*,
    per_thread::*,
    pointer::*,
    pool::*,
    pool_api::*,
    profiling::*,
    registration::*,
    stream::*,
    stream_operation::*,
    surface::*,
    symbol::*,
    texture::*,
    texture_object_driver::*,
    texture_reference::*,
    texture_reference_driver::*,
    unsupported::*,
    virtual_memory::*,
    virtual_memory_share::*,
};

/// Whether a function does what HIP says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// It works.
    Works,
    /// It answers `hipErrorNotSupported` (or its kind of error) and logs its name.
    NotSupported,
}

/// One exported function.
#[derive(Debug)]
pub struct Entry {
    /// Name of the symbol.
    pub name: &'static str,
    /// Its version node: `hip_4.2`.
    pub node: &'static str,
    /// Whether it works.
    pub support: Support,
    address: *const c_void,
}

// SAFETY: the address of a function is valid on all threads.
unsafe impl Sync for Entry {}

impl Entry {
    /// Address of the function.
    pub fn address(&self) -> *const c_void {
        self.address
    }
}

/// The function with that name.
pub fn find(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

/// All exported functions, in the order of the nodes.
pub fn entries() -> &'static [Entry] {
    ENTRIES
}

/// Version nodes, oldest first; each inherits from the one before it.
pub const NODES: &[&str] = &[
    "hip_4.2", "hip_4.3", "hip_4.4", "hip_4.5", "hip_5.0", "hip_5.1", "hip_5.2", "hip_5.3",
    "hip_5.5", "hip_5.6", "hip_6.0", "hip_6.1", "hip_6.2", "hip_6.3", "hip_6.4", "hip_6.5",
    "hip_7.1", "hip_7.2",
];

/// The linker's version script for `libamdhip64.so`.
pub fn version_script() -> String {
    let mut script = String::from("# Made from hip-abi/src/api.rs by its test; do not edit.\n");
    for (index, node) in NODES.iter().enumerate() {
        script.push_str(node);
        script.push_str(" {\nglobal:\n");
        for entry in ENTRIES.iter().filter(|entry| entry.node == *node) {
            script.push_str("    ");
            script.push_str(entry.name);
            script.push_str(";\n");
        }
        if index == 0 {
            script.push_str("local:\n    *;\n");
        }
        match index.checked_sub(1) {
            Some(parent) => script.push_str(&format!("}} {};\n", NODES[parent])),
            None => script.push_str("};\n"),
        }
    }
    script
}

/// The page of the documentation that lists every function.
pub fn page() -> String {
    let missing: Vec<&Entry> = ENTRIES
        .iter()
        .filter(|entry| entry.support == Support::NotSupported)
        .collect();
    let mut page = format!(
        "# The HIP functions\n\n\
         Made from `hip-abi/src/api.rs` by its test; do not edit. `gneiss info --api` says the same of the installed library.\n\n\
         {} functions are exported, under the version nodes of AMD's library; {} of them work. The others that have \
         a status return `hipErrorNotSupported` (801), and with `AMD_LOG_LEVEL=1` they log their name and the reason.\n\n\
         ## Not supported\n\n| why | functions |\n| --- | --- |\n",
        ENTRIES.len(),
        ENTRIES.len() - missing.len()
    );
    for (reason, names) in REASONS.iter().chain(OTHER_REASONS) {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        page.push_str(&format!("| {reason} | {} |\n", names.join(", ")));
    }
    page.push_str("\n## Working, by the release that added them\n");
    for node in NODES {
        let names: Vec<String> = ENTRIES
            .iter()
            .filter(|entry| entry.node == *node && entry.support == Support::Works)
            .map(|entry| format!("`{}`", entry.name))
            .collect();
        if !names.is_empty() {
            page.push_str(&format!("\n### {node}\n\n{}\n", names.join(", ")));
        }
    }
    page
}

macro_rules! table {
    ($($node:literal { $($support:ident $name:ident;)* })*) => {
        static ENTRIES: &[Entry] = &[ $($(
            Entry { name: stringify!($name), node: $node, support: Support::$support, address: $name as *const c_void },
        )*)* ];
    };
}

table! {
    "hip_4.2" {
        Works _Z22hipCreateSurfaceObjectPP13__hip_surfacePK15hipResourceDesc;
        Works _Z23hipDestroySurfaceObjectP13__hip_surface;
        Works _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j;
        Works _Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_;
        Works _ZN8hip_impl22hipLaunchKernelGGLImplEmRK4dim3S2_jP12ihipStream_tPPv;
        Works __gnu_f2h_ieee;
        Works __gnu_h2f_ieee;
        NotSupported __hipGetPCH;
        Works __hipPopCallConfiguration;
        Works __hipPushCallConfiguration;
        Works __hipRegisterFatBinary;
        Works __hipRegisterFunction;
        Works __hipRegisterManagedVar;
        Works __hipRegisterSurface;
        Works __hipRegisterTexture;
        Works __hipRegisterVar;
        Works __hipUnregisterFatBinary;
        Works hipApiName;
        Works hipArray3DCreate;
        Works hipArrayCreate;
        Works hipBindTexture;
        Works hipBindTexture2D;
        Works hipBindTextureToArray;
        Works hipBindTextureToMipmappedArray;
        Works hipChooseDevice;
        Works hipChooseDeviceR0000;
        Works hipConfigureCall;
        Works hipCreateChannelDesc;
        Works hipCreateSurfaceObject;
        Works hipCreateTextureObject;
        Works hipCtxCreate;
        Works hipCtxDestroy;
        Works hipCtxDisablePeerAccess;
        Works hipCtxEnablePeerAccess;
        Works hipCtxGetApiVersion;
        Works hipCtxGetCacheConfig;
        Works hipCtxGetCurrent;
        Works hipCtxGetDevice;
        Works hipCtxGetFlags;
        Works hipCtxGetSharedMemConfig;
        Works hipCtxPopCurrent;
        Works hipCtxPushCurrent;
        Works hipCtxSetCacheConfig;
        Works hipCtxSetCurrent;
        Works hipCtxSetSharedMemConfig;
        Works hipCtxSynchronize;
        Works hipDestroySurfaceObject;
        Works hipDestroyTextureObject;
        Works hipDeviceCanAccessPeer;
        Works hipDeviceComputeCapability;
        Works hipDeviceDisablePeerAccess;
        Works hipDeviceEnablePeerAccess;
        Works hipDeviceGet;
        Works hipDeviceGetAttribute;
        Works hipDeviceGetByPCIBusId;
        Works hipDeviceGetCacheConfig;
        Works hipDeviceGetLimit;
        Works hipDeviceGetName;
        Works hipDeviceGetP2PAttribute;
        Works hipDeviceGetPCIBusId;
        Works hipDeviceGetSharedMemConfig;
        Works hipDeviceGetStreamPriorityRange;
        Works hipDeviceGetTexture1DLinearMaxWidth;
        Works hipDevicePrimaryCtxGetState;
        Works hipDevicePrimaryCtxRelease;
        Works hipDevicePrimaryCtxReset;
        Works hipDevicePrimaryCtxRetain;
        Works hipDevicePrimaryCtxSetFlags;
        Works hipDeviceReset;
        Works hipDeviceSetCacheConfig;
        Works hipDeviceSetSharedMemConfig;
        Works hipDeviceSynchronize;
        Works hipDeviceTotalMem;
        Works hipDriverGetVersion;
        Works hipDrvMemcpy3D;
        Works hipDrvMemcpy3DAsync;
        Works hipEnableActivityCallback;
        Works hipEventCreate;
        Works hipEventCreateWithFlags;
        Works hipEventDestroy;
        Works hipEventElapsedTime;
        Works hipEventQuery;
        Works hipEventRecord;
        Works hipEventSynchronize;
        Works hipExtGetLinkTypeAndHopCount;
        Works hipExtLaunchKernel;
        Works hipExtLaunchMultiKernelMultiDevice;
        Works hipExtMallocWithFlags;
        Works hipExtModuleLaunchKernel;
        Works hipExtStreamCreateWithCUMask;
        Works hipExtStreamGetCUMask;
        Works hipFree;
        Works hipFreeArray;
        Works hipFreeHost;
        Works hipFreeMipmappedArray;
        Works hipFuncGetAttribute;
        Works hipFuncGetAttributes;
        Works hipFuncSetAttribute;
        Works hipFuncSetCacheConfig;
        Works hipFuncSetSharedMemConfig;
        Works hipGetChannelDesc;
        Works hipGetCmdName;
        Works hipGetDevice;
        Works hipGetDeviceCount;
        Works hipGetDeviceFlags;
        Works hipGetDeviceProperties;
        Works hipGetDevicePropertiesR0000;
        Works hipGetErrorName;
        Works hipGetErrorString;
        Works hipGetLastError;
        Works hipGetMipmappedArrayLevel;
        Works hipGetStreamDeviceId;
        Works hipGetSymbolAddress;
        Works hipGetSymbolSize;
        Works hipGetTextureAlignmentOffset;
        Works hipGetTextureObjectResourceDesc;
        Works hipGetTextureObjectResourceViewDesc;
        Works hipGetTextureObjectTextureDesc;
        Works hipGetTextureReference;
        Works hipHccModuleLaunchKernel;
        Works hipHostAlloc;
        Works hipHostFree;
        Works hipHostGetDevicePointer;
        Works hipHostGetFlags;
        Works hipHostMalloc;
        Works hipHostRegister;
        Works hipHostUnregister;
        Works hipInit;
        Works hipInitActivityCallback;
        Works hipIpcCloseMemHandle;
        Works hipIpcGetEventHandle;
        Works hipIpcGetMemHandle;
        Works hipIpcOpenEventHandle;
        Works hipIpcOpenMemHandle;
        Works hipKernelNameRef;
        Works hipKernelNameRefByPtr;
        Works hipLaunchByPtr;
        Works hipLaunchCooperativeKernel;
        Works hipLaunchCooperativeKernelMultiDevice;
        Works hipLaunchKernel;
        Works hipMalloc;
        Works hipMalloc3D;
        Works hipMalloc3DArray;
        Works hipMallocArray;
        Works hipMallocHost;
        Works hipMallocManaged;
        Works hipMallocMipmappedArray;
        Works hipMallocPitch;
        Works hipMemAdvise;
        Works hipMemAllocHost;
        Works hipMemAllocPitch;
        Works hipMemGetAddressRange;
        Works hipMemGetInfo;
        Works hipMemPrefetchAsync;
        Works hipMemPtrGetInfo;
        Works hipMemRangeGetAttribute;
        Works hipMemRangeGetAttributes;
        Works hipMemcpy;
        Works hipMemcpy2D;
        Works hipMemcpy2DAsync;
        Works hipMemcpy2DFromArray;
        Works hipMemcpy2DFromArrayAsync;
        Works hipMemcpy2DToArray;
        Works hipMemcpy3D;
        Works hipMemcpy3DAsync;
        Works hipMemcpyAsync;
        Works hipMemcpyAtoH;
        Works hipMemcpyDtoD;
        Works hipMemcpyDtoDAsync;
        Works hipMemcpyDtoH;
        Works hipMemcpyDtoHAsync;
        Works hipMemcpyFromArray;
        Works hipMemcpyFromSymbol;
        Works hipMemcpyFromSymbolAsync;
        Works hipMemcpyHtoA;
        Works hipMemcpyHtoD;
        Works hipMemcpyHtoDAsync;
        Works hipMemcpyParam2D;
        Works hipMemcpyParam2DAsync;
        Works hipMemcpyPeer;
        Works hipMemcpyPeerAsync;
        Works hipMemcpyToArray;
        Works hipMemcpyToSymbol;
        Works hipMemcpyToSymbolAsync;
        Works hipMemcpyWithStream;
        Works hipMemset;
        Works hipMemset2D;
        Works hipMemset2DAsync;
        Works hipMemset3D;
        Works hipMemset3DAsync;
        Works hipMemsetAsync;
        Works hipMemsetD16;
        Works hipMemsetD16Async;
        Works hipMemsetD32;
        Works hipMemsetD32Async;
        Works hipMemsetD8;
        Works hipMemsetD8Async;
        Works hipMipmappedArrayCreate;
        Works hipMipmappedArrayDestroy;
        Works hipMipmappedArrayGetLevel;
        Works hipModuleGetFunction;
        Works hipModuleGetGlobal;
        Works hipModuleGetTexRef;
        Works hipModuleLaunchKernel;
        Works hipModuleLoad;
        Works hipModuleLoadData;
        Works hipModuleLoadDataEx;
        Works hipModuleOccupancyMaxActiveBlocksPerMultiprocessor;
        Works hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags;
        Works hipModuleOccupancyMaxPotentialBlockSize;
        Works hipModuleOccupancyMaxPotentialBlockSizeWithFlags;
        Works hipModuleUnload;
        Works hipOccupancyMaxActiveBlocksPerMultiprocessor;
        Works hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags;
        Works hipOccupancyMaxPotentialBlockSize;
        Works hipPeekAtLastError;
        Works hipPointerGetAttributes;
        Works hipPointerSetAttribute;
        NotSupported hipProfilerStart;
        NotSupported hipProfilerStop;
        Works hipRegisterActivityCallback;
        Works hipRegisterApiCallback;
        Works hipRemoveActivityCallback;
        Works hipRemoveApiCallback;
        Works hipRuntimeGetVersion;
        Works hipSetDevice;
        Works hipSetDeviceFlags;
        Works hipSetupArgument;
        Works hipStreamAddCallback;
        Works hipStreamAttachMemAsync;
        Works hipStreamCreate;
        Works hipStreamCreateWithFlags;
        Works hipStreamCreateWithPriority;
        Works hipStreamDestroy;
        Works hipStreamGetDevice;
        Works hipStreamGetFlags;
        Works hipStreamGetPriority;
        Works hipStreamQuery;
        Works hipStreamSynchronize;
        Works hipStreamWaitEvent;
        Works hipTexObjectCreate;
        Works hipTexObjectDestroy;
        Works hipTexObjectGetResourceDesc;
        Works hipTexObjectGetResourceViewDesc;
        Works hipTexObjectGetTextureDesc;
        Works hipTexRefGetAddress;
        Works hipTexRefGetAddressMode;
        Works hipTexRefGetArray;
        NotSupported hipTexRefGetBorderColor;
        Works hipTexRefGetFilterMode;
        Works hipTexRefGetFlags;
        Works hipTexRefGetFormat;
        Works hipTexRefGetMaxAnisotropy;
        Works hipTexRefGetMipMappedArray;
        Works hipTexRefGetMipmapFilterMode;
        Works hipTexRefGetMipmapLevelBias;
        Works hipTexRefGetMipmapLevelClamp;
        Works hipTexRefSetAddress;
        Works hipTexRefSetAddress2D;
        Works hipTexRefSetAddressMode;
        Works hipTexRefSetArray;
        NotSupported hipTexRefSetBorderColor;
        Works hipTexRefSetFilterMode;
        Works hipTexRefSetFlags;
        Works hipTexRefSetFormat;
        Works hipTexRefSetMaxAnisotropy;
        Works hipTexRefSetMipmapFilterMode;
        Works hipTexRefSetMipmapLevelBias;
        Works hipTexRefSetMipmapLevelClamp;
        Works hipTexRefSetMipmappedArray;
        Works hipUnbindTexture;
        Works hiprtcAddNameExpression;
        Works hiprtcCompileProgram;
        Works hiprtcCreateProgram;
        Works hiprtcDestroyProgram;
        Works hiprtcGetCode;
        Works hiprtcGetCodeSize;
        Works hiprtcGetErrorString;
        Works hiprtcGetLoweredName;
        Works hiprtcGetProgramLog;
        Works hiprtcGetProgramLogSize;
        Works hiprtcLinkAddData;
        Works hiprtcLinkAddFile;
        Works hiprtcLinkComplete;
        Works hiprtcLinkCreate;
        Works hiprtcLinkDestroy;
        Works hiprtcVersion;
    }
    "hip_4.3" {
        Works hipArrayDestroy;
        Works hipDestroyExternalMemory;
        NotSupported hipDestroyExternalSemaphore;
        Works hipDrvMemcpy2DUnaligned;
        Works hipExternalMemoryGetMappedBuffer;
        NotSupported hipGLGetDevices;
        Works hipGraphAddKernelNode;
        Works hipGraphAddMemcpyNode;
        Works hipGraphAddMemcpyNode1D;
        Works hipGraphAddMemsetNode;
        Works hipGraphCreate;
        Works hipGraphDestroy;
        Works hipGraphExecDestroy;
        Works hipGraphInstantiate;
        Works hipGraphLaunch;
        NotSupported hipGraphicsGLRegisterBuffer;
        NotSupported hipGraphicsMapResources;
        NotSupported hipGraphicsResourceGetMappedPointer;
        NotSupported hipGraphicsUnmapResources;
        NotSupported hipGraphicsUnregisterResource;
        Works hipImportExternalMemory;
        NotSupported hipImportExternalSemaphore;
        Works hipMemcpy2DToArrayAsync;
        NotSupported hipSignalExternalSemaphoresAsync;
        Works hipStreamBeginCapture;
        Works hipStreamEndCapture;
        Works hipStreamIsCapturing;
        NotSupported hipWaitExternalSemaphoresAsync;
    }
    "hip_4.4" {
        Works hipGraphAddDependencies;
        Works hipGraphAddEmptyNode;
        Works hipGraphExecKernelNodeSetParams;
        Works hipGraphGetNodes;
        Works hipGraphGetRootNodes;
        Works hipGraphKernelNodeGetParams;
        Works hipGraphKernelNodeSetParams;
        Works hipGraphMemcpyNodeGetParams;
        Works hipGraphMemcpyNodeSetParams;
        Works hipGraphMemsetNodeGetParams;
        Works hipGraphMemsetNodeSetParams;
        Works hipStreamWaitValue32;
        Works hipStreamWaitValue64;
        Works hipStreamWriteValue32;
        Works hipStreamWriteValue64;
    }
    "hip_4.5" {
        Works amd_dbgapi_get_build_id;
        Works amd_dbgapi_get_build_name;
        Works amd_dbgapi_get_git_hash;
        Works hipDeviceGetGraphMemAttribute;
        Works hipDeviceGraphMemTrim;
        Works hipDeviceSetGraphMemAttribute;
        Works hipGraphAddChildGraphNode;
        Works hipGraphAddEventRecordNode;
        Works hipGraphAddEventWaitNode;
        Works hipGraphAddHostNode;
        Works hipGraphAddMemcpyNodeFromSymbol;
        Works hipGraphAddMemcpyNodeToSymbol;
        Works hipGraphChildGraphNodeGetGraph;
        Works hipGraphClone;
        Works hipGraphDestroyNode;
        Works hipGraphEventRecordNodeGetEvent;
        Works hipGraphEventRecordNodeSetEvent;
        Works hipGraphEventWaitNodeGetEvent;
        Works hipGraphEventWaitNodeSetEvent;
        Works hipGraphExecChildGraphNodeSetParams;
        Works hipGraphExecEventRecordNodeSetEvent;
        Works hipGraphExecEventWaitNodeSetEvent;
        Works hipGraphExecHostNodeSetParams;
        Works hipGraphExecMemcpyNodeSetParams;
        Works hipGraphExecMemcpyNodeSetParams1D;
        Works hipGraphExecMemcpyNodeSetParamsFromSymbol;
        Works hipGraphExecMemcpyNodeSetParamsToSymbol;
        Works hipGraphExecMemsetNodeSetParams;
        Works hipGraphExecUpdate;
        Works hipGraphGetEdges;
        Works hipGraphHostNodeGetParams;
        Works hipGraphHostNodeSetParams;
        Works hipGraphInstantiateWithFlags;
        Works hipGraphMemcpyNodeSetParams1D;
        Works hipGraphMemcpyNodeSetParamsFromSymbol;
        Works hipGraphMemcpyNodeSetParamsToSymbol;
        Works hipGraphNodeFindInClone;
        Works hipGraphNodeGetDependencies;
        Works hipGraphNodeGetDependentNodes;
        Works hipGraphNodeGetType;
        Works hipGraphRemoveDependencies;
        NotSupported hipGraphicsGLRegisterImage;
        NotSupported hipGraphicsSubResourceGetMappedArray;
        Works hipStreamGetCaptureInfo;
        Works hipStreamGetCaptureInfo_v2;
        Works hipStreamUpdateCaptureDependencies;
    }
    "hip_5.0" {
        Works hipDrvPointerGetAttributes;
        Works hipGraphKernelNodeGetAttribute;
        Works hipGraphKernelNodeSetAttribute;
        Works hipPointerGetAttribute;
        Works hipThreadExchangeStreamCaptureMode;
    }
    "hip_5.1" {
        Works hipDeviceGetDefaultMemPool;
        Works hipDeviceGetMemPool;
        Works hipDeviceGetUuid;
        Works hipDeviceSetMemPool;
        Works hipFreeAsync;
        Works hipMallocAsync;
        Works hipMallocFromPoolAsync;
        Works hipMemAddressFree;
        Works hipMemAddressReserve;
        Works hipMemCreate;
        Works hipMemExportToShareableHandle;
        Works hipMemGetAccess;
        Works hipMemGetAllocationGranularity;
        Works hipMemGetAllocationPropertiesFromHandle;
        Works hipMemImportFromShareableHandle;
        Works hipMemMap;
        NotSupported hipMemMapArrayAsync;
        Works hipMemPoolCreate;
        Works hipMemPoolDestroy;
        Works hipMemPoolExportPointer;
        Works hipMemPoolExportToShareableHandle;
        Works hipMemPoolGetAccess;
        Works hipMemPoolGetAttribute;
        Works hipMemPoolImportFromShareableHandle;
        Works hipMemPoolImportPointer;
        Works hipMemPoolSetAccess;
        Works hipMemPoolSetAttribute;
        Works hipMemPoolTrimTo;
        Works hipMemRelease;
        Works hipMemRetainAllocationHandle;
        Works hipMemSetAccess;
        Works hipMemUnmap;
    }
    "hip_5.2" {
        Works hipEventRecord_spt;
        Works hipLaunchCooperativeKernel_spt;
        Works hipLaunchKernel_spt;
        Works hipMemcpy2DFromArray_spt;
        Works hipMemcpy2DToArray_spt;
        Works hipMemcpy2D_spt;
        Works hipMemcpy3D_spt;
        Works hipMemcpyAsync_spt;
        Works hipMemcpyFromSymbol_spt;
        Works hipMemcpyToSymbol_spt;
        Works hipMemcpy_spt;
        Works hipMemset2D_spt;
        Works hipMemset3D_spt;
        Works hipMemset_spt;
        Works hipStreamGetFlags_spt;
        Works hipStreamGetPriority_spt;
        Works hipStreamQuery_spt;
        Works hipStreamSynchronize_spt;
        Works hipStreamWaitEvent_spt;
    }
    "hip_5.3" {
        Works hipDeviceSetLimit;
        Works hipDrvGetErrorName;
        Works hipDrvGetErrorString;
        NotSupported hipGraphAddExternalSemaphoresSignalNode;
        NotSupported hipGraphAddExternalSemaphoresWaitNode;
        Works hipGraphDebugDotPrint;
        NotSupported hipGraphExecExternalSemaphoresSignalNodeSetParams;
        NotSupported hipGraphExecExternalSemaphoresWaitNodeSetParams;
        NotSupported hipGraphExternalSemaphoresSignalNodeGetParams;
        NotSupported hipGraphExternalSemaphoresSignalNodeSetParams;
        NotSupported hipGraphExternalSemaphoresWaitNodeGetParams;
        NotSupported hipGraphExternalSemaphoresWaitNodeSetParams;
        Works hipGraphKernelNodeCopyAttributes;
        Works hipGraphLaunch_spt;
        Works hipGraphNodeGetEnabled;
        Works hipGraphNodeSetEnabled;
        Works hipGraphReleaseUserObject;
        Works hipGraphRetainUserObject;
        Works hipGraphUpload;
        Works hipLaunchHostFunc;
        Works hipLaunchHostFunc_spt;
        Works hipMemcpy2DAsync_spt;
        Works hipMemcpy2DFromArrayAsync_spt;
        Works hipMemcpy2DToArrayAsync_spt;
        Works hipMemcpy3DAsync_spt;
        Works hipMemcpyFromArray_spt;
        Works hipMemcpyFromSymbolAsync_spt;
        Works hipMemcpyToSymbolAsync_spt;
        Works hipMemset2DAsync_spt;
        Works hipMemset3DAsync_spt;
        Works hipMemsetAsync_spt;
        Works hipRegisterTracerCallback;
        Works hipStreamAddCallback_spt;
        Works hipStreamBeginCapture_spt;
        Works hipStreamEndCapture_spt;
        Works hipStreamGetCaptureInfo_spt;
        Works hipStreamGetCaptureInfo_v2_spt;
        Works hipStreamIsCapturing_spt;
        Works hipUserObjectCreate;
        Works hipUserObjectRelease;
        Works hipUserObjectRetain;
        Works hiprtcGetBitcode;
        Works hiprtcGetBitcodeSize;
    }
    "hip_5.5" {
        Works hipGraphAddMemAllocNode;
        Works hipGraphAddMemFreeNode;
        Works hipGraphAddNode;
        Works hipGraphMemAllocNodeGetParams;
        Works hipGraphMemFreeNodeGetParams;
        Works hipModuleLaunchCooperativeKernel;
        Works hipModuleLaunchCooperativeKernelMultiDevice;
    }
    "hip_5.6" {
        Works hipArray3DGetDescriptor;
        Works hipArrayGetDescriptor;
        Works hipArrayGetInfo;
        Works hipDrvGraphAddMemcpyNode;
        Works hipDrvGraphAddMemsetNode;
    }
    "hip_6.0" {
        Works hipChooseDeviceR0600;
        Works hipDrvGraphMemcpyNodeGetParams;
        Works hipDrvGraphMemcpyNodeSetParams;
        Works hipExtGetLastError;
        Works hipGetDevicePropertiesR0600;
    }
    "hip_6.1" {
        Works hipGetProcAddress;
        Works hipGraphInstantiateWithParams;
        Works hipStreamBeginCaptureToGraph;
    }
    "hip_6.2" {
        Works hipDrvGraphAddMemFreeNode;
        Works hipDrvGraphExecMemcpyNodeSetParams;
        Works hipDrvGraphExecMemsetNodeSetParams;
        Works hipGetFuncBySymbol;
        Works hipGraphExecGetFlags;
        Works hipGraphExecNodeSetParams;
        Works hipGraphNodeSetParams;
        Works hipMemcpy2DArrayToArray;
        Works hipMemcpyAtoA;
        Works hipMemcpyAtoD;
        Works hipMemcpyAtoHAsync;
        Works hipMemcpyDtoA;
        Works hipMemcpyHtoAAsync;
        Works hipSetValidDevices;
    }
    "hip_6.3" {
        Works hipExtHostAlloc;
    }
    "hip_6.4" {
        Works hipEventRecordWithFlags;
        Works hipGraphAddBatchMemOpNode;
        Works hipGraphBatchMemOpNodeGetParams;
        Works hipGraphBatchMemOpNodeSetParams;
        Works hipGraphExecBatchMemOpNodeSetParams;
        Works hipLinkAddData;
        Works hipLinkAddFile;
        Works hipLinkComplete;
        Works hipLinkCreate;
        Works hipLinkDestroy;
        Works hipStreamBatchMemOp;
    }
    "hip_6.5" {
        Works hipDrvLaunchKernelEx;
        Works hipLaunchKernelExC;
        Works hipMemGetHandleForAddressRange;
    }
    "hip_7.1" {
        Works hipGetDriverEntryPoint;
        Works hipGetDriverEntryPoint_spt;
        Works hipMemAdvise_v2;
        Works hipMemPrefetchAsync_v2;
        Works hipMemcpy3DBatchAsync;
        Works hipMemcpy3DPeer;
        Works hipMemcpy3DPeerAsync;
        Works hipMemcpyBatchAsync;
        Works hipMemsetD2D16;
        Works hipMemsetD2D16Async;
        Works hipMemsetD2D32;
        Works hipMemsetD2D32Async;
        Works hipMemsetD2D8;
        Works hipMemsetD2D8Async;
        Works hipModuleGetFunctionCount;
        Works hipModuleLoadFatBinary;
        Works hipStreamGetAttribute;
        Works hipStreamGetId;
        NotSupported hipStreamSetAttribute;
    }
    "hip_7.2" {
        NotSupported hipExtDisableLogging;
        NotSupported hipExtEnableLogging;
        NotSupported hipExtSetLoggingParams;
        Works hipGetProcAddress_spt;
        Works hipKernelGetAttribute;
        Works hipKernelGetFunction;
        Works hipKernelGetLibrary;
        Works hipKernelGetName;
        Works hipKernelGetParamInfo;
        Works hipKernelSetAttribute;
        Works hipLibraryEnumerateKernels;
        Works hipLibraryGetKernel;
        Works hipLibraryGetKernelCount;
        Works hipLibraryLoadData;
        Works hipLibraryLoadFromFile;
        Works hipLibraryUnload;
        Works hipMemGetDefaultMemPool;
        Works hipMemGetMemPool;
        Works hipMemPrefetchBatchAsync;
        Works hipMemSetMemPool;
        NotSupported hipMipmappedArrayGetMemoryRequirements;
        Works hipOccupancyAvailableDynamicSMemPerBlock;
        NotSupported hipStreamCopyAttributes;
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, path::Path};

    use super::*;

    /// Functions that are written out, by name: those of the sources' `extern "C"` lines.
    fn written_functions() -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut folders = vec![here.join("src"), here.join("rtc/src")];
        while let Some(folder) = folders.pop() {
            for file in std::fs::read_dir(folder).unwrap() {
                let path = file.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                for line in std::fs::read_to_string(path).unwrap().lines() {
                    if let Some(rest) = line.strip_prefix("pub unsafe extern \"C\" fn ") {
                        names.insert(rest.split('(').next().unwrap().to_owned());
                    }
                }
            }
        }
        names
    }

    #[test]
    fn every_written_function_is_in_the_table() {
        let listed: BTreeSet<&str> = ENTRIES.iter().map(|entry| entry.name).collect();
        let written = written_functions();
        let missing: Vec<&String> = written
            .iter()
            .filter(|name| !listed.contains(name.as_str()))
            .collect();
        assert!(missing.is_empty(), "not in the table: {missing:?}");
        let unwritten: Vec<&str> = ENTRIES
            .iter()
            .filter(|entry| entry.support == Support::Works && !written.contains(entry.name))
            .map(|entry| entry.name)
            .collect();
        assert!(
            unwritten.is_empty(),
            "listed as working, but made by the macro for what is not supported: {unwritten:?}"
        );
        assert!(
            written.len() > 300,
            "only {} functions were found in the sources",
            written.len()
        );
    }

    #[test]
    fn names_are_unique_and_nodes_are_known() {
        let mut names = BTreeSet::new();
        for entry in ENTRIES {
            assert!(names.insert(entry.name), "{} is listed twice", entry.name);
            assert!(NODES.contains(&entry.node), "{}", entry.node);
        }
    }

    #[test]
    fn what_is_not_supported_says_so() {
        let import = find("hipImportExternalSemaphore").unwrap();
        assert_eq!(import.support, Support::NotSupported);
        // SAFETY: functions that are not supported look at no argument.
        let call: unsafe extern "C" fn() -> u32 = unsafe { std::mem::transmute(import.address()) };
        // SAFETY: as above.
        let error = unsafe { call() };
        // Here is no device; `tests/programs/memory.hip` asks with one.
        assert!([801, 100].contains(&error), "{error}");
    }

    #[test]
    fn every_function_that_is_not_supported_has_a_reason() {
        let reasoned: Vec<&str> = REASONS
            .iter()
            .chain(OTHER_REASONS)
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        let unique: BTreeSet<&str> = reasoned.iter().copied().collect();
        assert_eq!(unique.len(), reasoned.len(), "a name has two reasons");
        let missing: BTreeSet<&str> = ENTRIES
            .iter()
            .filter(|entry| entry.support == Support::NotSupported)
            .map(|entry| entry.name)
            .collect();
        assert_eq!(unique, missing);
    }

    /// Checks a file that is made from the table, or writes it.
    fn is_up_to_date(name: &str, text: &str) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        if std::env::var_os("GNEISS_BLESS").is_some() {
            std::fs::write(&path, text).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            kept == text,
            "{} differs from the table: run this test with GNEISS_BLESS=1",
            path.display()
        );
    }

    #[test]
    fn the_version_script_is_up_to_date() {
        is_up_to_date("libamdhip64.map", &version_script());
    }

    #[test]
    fn the_page_of_the_documentation_is_up_to_date() {
        is_up_to_date("../docs/hip-api.md", &page());
    }
}
