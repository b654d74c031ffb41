//! Functions that are exported and not supported yet: each answers `hipErrorNotSupported` and logs its name at `AMD_LOG_LEVEL` 1.
//! They look at no argument, so that they have none here.

use crate::{error::*, log};

/// Logs that a function is not supported.
pub(crate) fn report(name: &str) {
    log::line(
        log::Level::Error,
        file!(),
        line!(),
        format_args!("{name}: not supported yet"),
    );
}

macro_rules! unsupported {
    ($($name:ident;)*) => { $(
        #[doc = concat!("`", stringify!($name), "`: not supported yet; gives `hipErrorNotSupported`.")]
        ///
        /// # Safety
        /// No argument is looked at.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() -> hipError_t {
            static SITE: crate::entry::Site =
                crate::entry::Site { name: stringify!($name), file: file!(), line: line!(), init: false, record: true,
                    trace: gneiss_clr::trace::NameId::new() };
            crate::entry::call(&SITE, |_| {}, || {
                report(stringify!($name));
                Err(hipErrorNotSupported)
            })
        }
    )* };
}

// Graphs and stream capture.
unsupported! {
    hipGraphAddKernelNode;
    hipGraphAddMemcpyNode;
    hipGraphAddMemcpyNode1D;
    hipGraphAddMemsetNode;
    hipGraphCreate;
    hipGraphDestroy;
    hipGraphExecDestroy;
    hipGraphInstantiate;
    hipGraphLaunch;
    hipStreamBeginCapture;
    hipStreamEndCapture;
    hipGraphAddDependencies;
    hipGraphAddEmptyNode;
    hipGraphExecKernelNodeSetParams;
    hipGraphGetNodes;
    hipGraphGetRootNodes;
    hipGraphKernelNodeGetParams;
    hipGraphKernelNodeSetParams;
    hipGraphMemcpyNodeGetParams;
    hipGraphMemcpyNodeSetParams;
    hipGraphMemsetNodeGetParams;
    hipGraphMemsetNodeSetParams;
    hipDeviceGetGraphMemAttribute;
    hipDeviceGraphMemTrim;
    hipDeviceSetGraphMemAttribute;
    hipGraphAddChildGraphNode;
    hipGraphAddEventRecordNode;
    hipGraphAddEventWaitNode;
    hipGraphAddHostNode;
    hipGraphAddMemcpyNodeFromSymbol;
    hipGraphAddMemcpyNodeToSymbol;
    hipGraphChildGraphNodeGetGraph;
    hipGraphClone;
    hipGraphDestroyNode;
    hipGraphEventRecordNodeGetEvent;
    hipGraphEventRecordNodeSetEvent;
    hipGraphEventWaitNodeGetEvent;
    hipGraphEventWaitNodeSetEvent;
    hipGraphExecChildGraphNodeSetParams;
    hipGraphExecEventRecordNodeSetEvent;
    hipGraphExecEventWaitNodeSetEvent;
    hipGraphExecHostNodeSetParams;
    hipGraphExecMemcpyNodeSetParams;
    hipGraphExecMemcpyNodeSetParams1D;
    hipGraphExecMemcpyNodeSetParamsFromSymbol;
    hipGraphExecMemcpyNodeSetParamsToSymbol;
    hipGraphExecMemsetNodeSetParams;
    hipGraphExecUpdate;
    hipGraphGetEdges;
    hipGraphHostNodeGetParams;
    hipGraphHostNodeSetParams;
    hipGraphInstantiateWithFlags;
    hipGraphMemcpyNodeSetParams1D;
    hipGraphMemcpyNodeSetParamsFromSymbol;
    hipGraphMemcpyNodeSetParamsToSymbol;
    hipGraphNodeFindInClone;
    hipGraphNodeGetDependencies;
    hipGraphNodeGetDependentNodes;
    hipGraphNodeGetType;
    hipGraphRemoveDependencies;
    hipStreamUpdateCaptureDependencies;
    hipGraphKernelNodeGetAttribute;
    hipGraphKernelNodeSetAttribute;
    hipGraphAddExternalSemaphoresSignalNode;
    hipGraphAddExternalSemaphoresWaitNode;
    hipGraphDebugDotPrint;
    hipGraphExecExternalSemaphoresSignalNodeSetParams;
    hipGraphExecExternalSemaphoresWaitNodeSetParams;
    hipGraphExternalSemaphoresSignalNodeGetParams;
    hipGraphExternalSemaphoresSignalNodeSetParams;
    hipGraphExternalSemaphoresWaitNodeGetParams;
    hipGraphExternalSemaphoresWaitNodeSetParams;
    hipGraphKernelNodeCopyAttributes;
    hipGraphLaunch_spt;
    hipGraphNodeGetEnabled;
    hipGraphNodeSetEnabled;
    hipGraphReleaseUserObject;
    hipGraphRetainUserObject;
    hipGraphUpload;
    hipStreamBeginCapture_spt;
    hipStreamEndCapture_spt;
    hipUserObjectCreate;
    hipUserObjectRelease;
    hipUserObjectRetain;
    hipGraphAddMemAllocNode;
    hipGraphAddMemFreeNode;
    hipGraphAddNode;
    hipGraphMemAllocNodeGetParams;
    hipGraphMemFreeNodeGetParams;
    hipDrvGraphAddMemcpyNode;
    hipDrvGraphAddMemsetNode;
    hipDrvGraphMemcpyNodeGetParams;
    hipDrvGraphMemcpyNodeSetParams;
    hipGraphInstantiateWithParams;
    hipStreamBeginCaptureToGraph;
    hipDrvGraphAddMemFreeNode;
    hipDrvGraphExecMemcpyNodeSetParams;
    hipDrvGraphExecMemsetNodeSetParams;
    hipGraphExecGetFlags;
    hipGraphExecNodeSetParams;
    hipGraphNodeSetParams;
    hipGraphAddBatchMemOpNode;
    hipGraphBatchMemOpNodeGetParams;
    hipGraphBatchMemOpNodeSetParams;
    hipGraphExecBatchMemOpNodeSetParams;
}

// Mipmapped arrays, and border colours of texture references, which have no field for one.
unsupported! {
    hipBindTextureToMipmappedArray;
    hipFreeMipmappedArray;
    hipGetMipmappedArrayLevel;
    hipMallocMipmappedArray;
    hipMipmappedArrayCreate;
    hipMipmappedArrayDestroy;
    hipMipmappedArrayGetLevel;
    hipTexRefGetBorderColor;
    hipTexRefGetMipMappedArray;
    hipTexRefSetBorderColor;
    hipTexRefSetMipmappedArray;
    hipMipmappedArrayGetMemoryRequirements;
}

// Memory of other processes and graphics interfaces.
unsupported! {
    hipIpcCloseMemHandle;
    hipIpcGetEventHandle;
    hipIpcGetMemHandle;
    hipIpcOpenEventHandle;
    hipIpcOpenMemHandle;
    hipDestroyExternalMemory;
    hipDestroyExternalSemaphore;
    hipExternalMemoryGetMappedBuffer;
    hipGLGetDevices;
    hipGraphicsGLRegisterBuffer;
    hipGraphicsMapResources;
    hipGraphicsResourceGetMappedPointer;
    hipGraphicsUnmapResources;
    hipGraphicsUnregisterResource;
    hipImportExternalMemory;
    hipImportExternalSemaphore;
    hipSignalExternalSemaphoresAsync;
    hipWaitExternalSemaphoresAsync;
    hipGraphicsGLRegisterImage;
    hipGraphicsSubResourceGetMappedArray;
}

// Virtual memory management.
unsupported! {
    hipMemAddressFree;
    hipMemAddressReserve;
    hipMemCreate;
    hipMemExportToShareableHandle;
    hipMemGetAccess;
    hipMemGetAllocationGranularity;
    hipMemGetAllocationPropertiesFromHandle;
    hipMemImportFromShareableHandle;
    hipMemMap;
    hipMemMapArrayAsync;
    hipMemPoolExportPointer;
    hipMemPoolExportToShareableHandle;
    hipMemPoolImportFromShareableHandle;
    hipMemPoolImportPointer;
    hipMemRelease;
    hipMemRetainAllocationHandle;
    hipMemSetAccess;
    hipMemUnmap;
    hipMemGetHandleForAddressRange;
    hipMemGetDefaultMemPool;
    hipMemGetMemPool;
    hipMemSetMemPool;
}

// Everything else.
unsupported! {
    hipInitActivityCallback;
    hipLaunchCooperativeKernelMultiDevice;
    hipPointerSetAttribute;
    hipProfilerStart;
    hipProfilerStop;
    hipRegisterActivityCallback;
    hipRegisterApiCallback;
    hipRemoveActivityCallback;
    hipRemoveApiCallback;
    hipRegisterTracerCallback;
    hipModuleLaunchCooperativeKernelMultiDevice;
    hipMemcpy2DArrayToArray;
    hipMemcpyAtoA;
    hipMemcpyAtoD;
    hipMemcpyAtoHAsync;
    hipMemcpyDtoA;
    hipMemcpyHtoAAsync;
    hipLinkAddData;
    hipLinkAddFile;
    hipLinkComplete;
    hipLinkCreate;
    hipLinkDestroy;
    hipStreamBatchMemOp;
    hipMemAdvise_v2;
    hipMemPrefetchAsync_v2;
    hipMemcpy3DBatchAsync;
    hipMemcpy3DPeer;
    hipMemcpy3DPeerAsync;
    hipMemcpyBatchAsync;
    hipStreamSetAttribute;
    hipExtDisableLogging;
    hipExtEnableLogging;
    hipExtSetLoggingParams;
    hipKernelGetAttribute;
    hipKernelGetFunction;
    hipKernelGetLibrary;
    hipKernelGetName;
    hipKernelGetParamInfo;
    hipKernelSetAttribute;
    hipLibraryEnumerateKernels;
    hipLibraryGetKernel;
    hipLibraryGetKernelCount;
    hipLibraryLoadData;
    hipLibraryLoadFromFile;
    hipLibraryUnload;
    hipMemPrefetchBatchAsync;
    hipStreamCopyAttributes;
}
