//! The run-time compiler's interface, without a compiler: every call that would need one fails and says so.

use std::ffi::{c_char, c_void};

use crate::{enums::*, log_error};

fn refuse(name: &str) {
    static TOLD: std::sync::Once = std::sync::Once::new();
    log_error!("{name}: run-time compilation is not supported yet");
    TOLD.call_once(|| {
        eprintln!("gneiss: {name}: run-time compilation (hiprtc) is not supported yet")
    });
}

/// Gives the version of the interface.
///
/// # Safety
/// The places must be null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcVersion(major: *mut i32, minor: *mut i32) -> hiprtcResult {
    if major.is_null() || minor.is_null() {
        return HIPRTC_ERROR_INVALID_INPUT;
    }
    // SAFETY: not null; the caller promises valid places.
    unsafe {
        major.write(9);
        minor.write(0);
    }
    HIPRTC_SUCCESS
}

/// Gives the name of a result.
///
/// # Safety
/// None. The text is constant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcGetErrorString(result: u32) -> *const c_char {
    let text = match result {
        HIPRTC_SUCCESS => c"HIPRTC_SUCCESS",
        HIPRTC_ERROR_OUT_OF_MEMORY => c"HIPRTC_ERROR_OUT_OF_MEMORY",
        HIPRTC_ERROR_PROGRAM_CREATION_FAILURE => c"HIPRTC_ERROR_PROGRAM_CREATION_FAILURE",
        HIPRTC_ERROR_INVALID_INPUT => c"HIPRTC_ERROR_INVALID_INPUT",
        HIPRTC_ERROR_INVALID_PROGRAM => c"HIPRTC_ERROR_INVALID_PROGRAM",
        HIPRTC_ERROR_INVALID_OPTION => c"HIPRTC_ERROR_INVALID_OPTION",
        HIPRTC_ERROR_COMPILATION => c"HIPRTC_ERROR_COMPILATION",
        HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE => c"HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE",
        HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION => {
            c"HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION"
        }
        HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION => {
            c"HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION"
        }
        HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID => c"HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
        HIPRTC_ERROR_INTERNAL_ERROR => c"HIPRTC_ERROR_INTERNAL_ERROR",
        HIPRTC_ERROR_LINKING => c"HIPRTC_ERROR_LINKING",
        _ => c"Invalid HIPRTC error code",
    };
    text.as_ptr()
}

macro_rules! without_a_compiler {
    ($($result:ident: $($name:ident),*;)*) => { $($(
        /// Needs a run-time compiler, which does not exist yet.
        ///
        /// # Safety
        /// No argument is looked at.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() -> hiprtcResult {
            refuse(stringify!($name));
            $result
        }
    )*)* };
}

/// Creates a program, which needs a compiler: the place for it is set to null.
///
/// # Safety
/// `prog` must be null or a valid place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcCreateProgram(prog: *mut *mut c_void) -> hiprtcResult {
    refuse("hiprtcCreateProgram");
    if !prog.is_null() {
        // SAFETY: not null; the caller promises a valid place.
        unsafe { prog.write(std::ptr::null_mut()) };
    }
    HIPRTC_ERROR_PROGRAM_CREATION_FAILURE
}

without_a_compiler! {
    HIPRTC_ERROR_COMPILATION: hiprtcCompileProgram;
    HIPRTC_ERROR_INVALID_PROGRAM: hiprtcDestroyProgram, hiprtcGetLoweredName, hiprtcGetProgramLog, hiprtcGetProgramLogSize, hiprtcGetCode,
        hiprtcGetCodeSize, hiprtcAddNameExpression, hiprtcGetBitcode, hiprtcGetBitcodeSize;
    HIPRTC_ERROR_LINKING: hiprtcLinkCreate, hiprtcLinkAddFile, hiprtcLinkAddData, hiprtcLinkComplete, hiprtcLinkDestroy;
}
