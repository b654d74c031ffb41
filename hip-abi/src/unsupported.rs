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
    hipGraphAddExternalSemaphoresSignalNode;
    hipGraphAddExternalSemaphoresWaitNode;
    hipGraphExecExternalSemaphoresSignalNodeSetParams;
    hipGraphExecExternalSemaphoresWaitNodeSetParams;
    hipGraphExternalSemaphoresSignalNodeGetParams;
    hipGraphExternalSemaphoresSignalNodeSetParams;
    hipGraphExternalSemaphoresWaitNodeGetParams;
    hipGraphExternalSemaphoresWaitNodeSetParams;
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

// Semaphores of other interfaces, and graphics.
unsupported! {
    hipDestroyExternalSemaphore;
    hipGLGetDevices;
    hipGraphicsGLRegisterBuffer;
    hipGraphicsMapResources;
    hipGraphicsResourceGetMappedPointer;
    hipGraphicsUnmapResources;
    hipGraphicsUnregisterResource;
    hipImportExternalSemaphore;
    hipSignalExternalSemaphoresAsync;
    hipWaitExternalSemaphoresAsync;
    hipGraphicsGLRegisterImage;
    hipGraphicsSubResourceGetMappedArray;
}

// Virtual memory management.
unsupported! {
    hipMemMapArrayAsync;
}

// Everything else.
unsupported! {
    hipInitActivityCallback;
    hipProfilerStart;
    hipProfilerStop;
    hipRegisterActivityCallback;
    hipRegisterApiCallback;
    hipRemoveActivityCallback;
    hipRemoveApiCallback;
    hipRegisterTracerCallback;
    hipStreamSetAttribute;
    hipExtDisableLogging;
    hipExtEnableLogging;
    hipExtSetLoggingParams;
    hipStreamCopyAttributes;
}
