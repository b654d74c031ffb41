//! Functions that are exported and not supported: each answers `hipErrorNotSupported` (`hipErrorNoDevice` without a device) and logs its
//! name at `AMD_LOG_LEVEL` 1. They look at no argument, so that they have none here.

use crate::{error::*, log};

/// Logs that a function is not supported.
pub(crate) fn report(name: &str, reason: &str) {
    log::line(
        log::Level::Error,
        file!(),
        line!(),
        format_args!("{name} is not supported: {reason}"),
    );
}

/// The same of functions that have no status to give, or another one: they are written out elsewhere.
pub const OTHER_REASONS: &[(&str, &[&str])] = &[(
    "the run-time compiler needs no precompiled header: none is given",
    &["__hipGetPCH"],
)];

macro_rules! unsupported {
    ($($reason:literal { $($name:ident;)* })*) => {
        /// Why functions are not supported, with their names.
        pub const REASONS: &[(&str, &[&str])] = &[ $(($reason, &[$(stringify!($name)),*])),* ];

        $($(
        #[doc = concat!("`", stringify!($name), "`: not supported; gives `hipErrorNotSupported`.")]
        ///
        /// # Safety
        /// No argument is looked at.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() -> hipError_t {
            static SITE: crate::entry::Site =
                crate::entry::Site { name: stringify!($name), file: file!(), line: line!(), init: true, record: true,
                    trace: gneiss_clr::trace::NameId::new() };
            crate::entry::call(&SITE, |_| {}, |_| {}, || {
                report(stringify!($name), $reason);
                Err(hipErrorNotSupported)
            })
        }
        )*)*
    };
}

unsupported! {
    "arrays that get their memory later: no flag makes one" {
        hipMipmappedArrayGetMemoryRequirements;
    }
    "border colours of texture references, which have no field for one" {
        hipTexRefGetBorderColor;
        hipTexRefSetBorderColor;
    }
    "semaphores of other interfaces: AMD's runtime has them on Windows only, and gives this error on Linux" {
        hipDestroyExternalSemaphore;
        hipGraphAddExternalSemaphoresSignalNode;
        hipGraphAddExternalSemaphoresWaitNode;
        hipGraphExecExternalSemaphoresSignalNodeSetParams;
        hipGraphExecExternalSemaphoresWaitNodeSetParams;
        hipGraphExternalSemaphoresSignalNodeGetParams;
        hipGraphExternalSemaphoresSignalNodeSetParams;
        hipGraphExternalSemaphoresWaitNodeGetParams;
        hipGraphExternalSemaphoresWaitNodeSetParams;
        hipImportExternalSemaphore;
        hipSignalExternalSemaphoresAsync;
        hipWaitExternalSemaphoresAsync;
    }
    "OpenGL: no OpenGL driver shares memory with a software GPU" {
        hipGLGetDevices;
        hipGraphicsGLRegisterBuffer;
        hipGraphicsGLRegisterImage;
        hipGraphicsMapResources;
        hipGraphicsResourceGetMappedPointer;
        hipGraphicsSubResourceGetMappedArray;
        hipGraphicsUnmapResources;
        hipGraphicsUnregisterResource;
    }
    "sparse arrays: AMD's runtime gives this error, too" {
        hipMemMapArrayAsync;
    }
    "profilers attached from outside: AMD's runtime gives this error, too" {
        hipProfilerStart;
        hipProfilerStop;
    }
    "streams keep the attributes that they are made with" {
        hipStreamCopyAttributes;
        hipStreamSetAttribute;
    }
    "the log is set for the whole process, by AMD_LOG_LEVEL and AMD_LOG_MASK" {
        hipExtDisableLogging;
        hipExtEnableLogging;
        hipExtSetLoggingParams;
    }
}
