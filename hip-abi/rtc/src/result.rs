//! `hiprtcResult`: its values and their names.

use std::ffi::CStr;

/// The status that hiprtc functions return.
pub type hiprtcResult = u32;
/// No error.
pub const HIPRTC_SUCCESS: hiprtcResult = 0;
/// Out of memory.
pub const HIPRTC_ERROR_OUT_OF_MEMORY: hiprtcResult = 1;
/// The program could not be created.
pub const HIPRTC_ERROR_PROGRAM_CREATION_FAILURE: hiprtcResult = 2;
/// A bad argument.
pub const HIPRTC_ERROR_INVALID_INPUT: hiprtcResult = 3;
/// No such program.
pub const HIPRTC_ERROR_INVALID_PROGRAM: hiprtcResult = 4;
/// A bad option.
pub const HIPRTC_ERROR_INVALID_OPTION: hiprtcResult = 5;
/// The source does not compile.
pub const HIPRTC_ERROR_COMPILATION: hiprtcResult = 6;
/// Failure of a built-in operation.
pub const HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE: hiprtcResult = 7;
/// Name expressions have to be added before compiling.
pub const HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION: hiprtcResult = 8;
/// Lowered names exist after compiling only.
pub const HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION: hiprtcResult = 9;
/// The name expression was not added, or names nothing.
pub const HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID: hiprtcResult = 10;
/// A fault of this library.
pub const HIPRTC_ERROR_INTERNAL_ERROR: hiprtcResult = 11;
/// Linking failed.
pub const HIPRTC_ERROR_LINKING: hiprtcResult = 100;

/// What functions give before it becomes a status.
pub type Result<T = ()> = std::result::Result<T, hiprtcResult>;

/// The name of a status.
pub fn name(result: hiprtcResult) -> &'static CStr {
    match result {
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
    }
}
