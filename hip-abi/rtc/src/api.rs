//! The C functions of programs.
//!
//! Pointers that a function writes through are checked for null; strings must be terminated, places as large as the header says.

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use parking_lot::Mutex;

use crate::{compiler::Header, objects::Objects, program::Program, result::*};

/// A program's handle.
pub type hiprtcProgram = *mut c_void;

static PROGRAMS: Objects<Program> = Objects::new();

/// Runs a body: no unwind crosses the C ABI.
pub(crate) fn call(body: impl FnOnce() -> Result) -> hiprtcResult {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => HIPRTC_SUCCESS,
        Ok(Err(error)) => error,
        Err(_) => HIPRTC_ERROR_INTERNAL_ERROR,
    }
}

/// A text of the caller, with a replacement for what is not UTF-8.
///
/// # Safety
/// Null, or a terminated string.
pub(crate) unsafe fn text(pointer: *const c_char) -> Result<String> {
    if pointer.is_null() {
        return Err(HIPRTC_ERROR_INVALID_INPUT);
    }
    // SAFETY: as the caller promises.
    Ok(unsafe { CStr::from_ptr(pointer) }
        .to_string_lossy()
        .into_owned())
}

/// An array of texts.
///
/// # Safety
/// Null, or `count` pointers to terminated strings.
unsafe fn texts(pointer: *const *const c_char, count: c_int) -> Result<Vec<String>> {
    let Ok(count) = usize::try_from(count) else {
        return Err(HIPRTC_ERROR_INVALID_INPUT);
    };
    if count == 0 {
        return Ok(Vec::new());
    }
    if pointer.is_null() {
        return Err(HIPRTC_ERROR_INVALID_INPUT);
    }
    // SAFETY: not null; as the caller promises.
    unsafe {
        std::slice::from_raw_parts(pointer, count)
            .iter()
            .map(|pointer| text(*pointer))
            .collect()
    }
}

fn find(handle: hiprtcProgram) -> Result<Arc<Mutex<Program>>> {
    PROGRAMS.get(handle).ok_or(HIPRTC_ERROR_INVALID_PROGRAM)
}

/// Writes a value to a place of the caller.
///
/// # Safety
/// Null, or a valid place.
pub(crate) unsafe fn give<T>(place: *mut T, value: T) -> Result {
    if place.is_null() {
        return Err(HIPRTC_ERROR_INVALID_INPUT);
    }
    // SAFETY: not null; as the caller promises.
    unsafe { place.write(value) };
    Ok(())
}

/// A missing place is what is wrong, whatever the program is.
fn check_place(place: *const c_char) -> Result {
    if place.is_null() {
        return Err(HIPRTC_ERROR_INVALID_INPUT);
    }
    Ok(())
}

/// Copies bytes to a buffer of the caller.
///
/// # Safety
/// Null, or a place of that many bytes.
unsafe fn give_bytes(place: *mut c_char, bytes: &[u8]) -> Result {
    check_place(place)?;
    // SAFETY: not null; as the caller promises.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), place.cast(), bytes.len()) };
    Ok(())
}

/// Gives the version of the interface, which is 9.0 in every release of HIP.
///
/// # Safety
/// The places must be null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcVersion(major: *mut i32, minor: *mut i32) -> hiprtcResult {
    call(|| {
        if minor.is_null() {
            return Err(HIPRTC_ERROR_INVALID_INPUT);
        }
        // SAFETY: as the caller promises.
        unsafe {
            give(major, 9)?;
            give(minor, 0)
        }
    })
}

/// Gives the name of a result.
///
/// # Safety
/// None. The text is constant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcGetErrorString(result: hiprtcResult) -> *const c_char {
    name(result).as_ptr()
}

/// Creates a program from source and the headers that it includes by name.
///
/// # Safety
/// `prog` must be null or a valid place, strings terminated, and the arrays as long as `numHeaders` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcCreateProgram(
    prog: *mut hiprtcProgram,
    src: *const c_char,
    name: *const c_char,
    numHeaders: i32,
    headers: *const *const c_char,
    includeNames: *const *const c_char,
) -> hiprtcResult {
    call(|| {
        if prog.is_null() {
            return Err(HIPRTC_ERROR_INVALID_PROGRAM);
        }
        // SAFETY: as the caller promises.
        let (source, name, names, texts) = unsafe {
            (
                text(src)?,
                if name.is_null() {
                    String::new()
                } else {
                    text(name)?
                },
                texts(includeNames, numHeaders)?,
                texts(headers, numHeaders)?,
            )
        };
        if source.is_empty() {
            return Err(HIPRTC_ERROR_INVALID_INPUT);
        }
        let headers = names
            .into_iter()
            .zip(texts)
            .map(|(name, text)| Header { name, text });
        let program = Program::new(&name, &source, headers.collect());
        // SAFETY: as the caller promises.
        unsafe { give(prog, PROGRAMS.insert(program)) }
    })
}

/// Ends a program.
///
/// # Safety
/// `prog` must be null or a valid place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcDestroyProgram(prog: *mut hiprtcProgram) -> hiprtcResult {
    call(|| {
        if prog.is_null() {
            return Err(HIPRTC_ERROR_INVALID_INPUT);
        }
        // SAFETY: not null; as the caller promises.
        let handle = unsafe { prog.read() };
        PROGRAMS
            .remove(handle)
            .ok_or(HIPRTC_ERROR_INVALID_PROGRAM)?;
        // SAFETY: as the caller promises.
        unsafe { give(prog, std::ptr::null_mut()) }
    })
}

/// Adds an expression whose symbol [`hiprtcGetLoweredName`] will give.
///
/// # Safety
/// The string must be null or terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcAddNameExpression(
    prog: hiprtcProgram,
    name_expression: *const c_char,
) -> hiprtcResult {
    call(|| {
        // SAFETY: as the caller promises.
        let expression = unsafe { text(name_expression)? };
        find(prog)?.lock().add_expression(&expression)
    })
}

/// Compiles a program. The log tells about a failure.
///
/// # Safety
/// The options must be `numOptions` terminated strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcCompileProgram(
    prog: hiprtcProgram,
    numOptions: i32,
    options: *const *const c_char,
) -> hiprtcResult {
    call(|| {
        let program = find(prog)?;
        // SAFETY: as the caller promises.
        let options = unsafe { texts(options, numOptions)? };
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        program.lock().compile(&options)
    })
}

/// Gives the symbol of a name expression; the text lives as long as the program.
///
/// # Safety
/// The string must be null or terminated, the place null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcGetLoweredName(
    prog: hiprtcProgram,
    name_expression: *const c_char,
    lowered_name: *mut *const c_char,
) -> hiprtcResult {
    call(|| {
        if lowered_name.is_null() {
            return Err(HIPRTC_ERROR_INVALID_INPUT);
        }
        // SAFETY: as the caller promises.
        let expression = unsafe { text(name_expression)? };
        let program = find(prog)?;
        let program = program.lock();
        let name = program.lowered(&expression)?.as_ptr();
        // SAFETY: as the caller promises.
        unsafe { give(lowered_name, name) }
    })
}

/// Gives the bytes of the log, with its terminator; 0 if there is nothing to say.
///
/// # Safety
/// The place must be null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcGetProgramLogSize(
    prog: hiprtcProgram,
    logSizeRet: *mut usize,
) -> hiprtcResult {
    call(|| {
        // A program whose creation failed asks, too; its size must not stay whatever it was.
        // SAFETY: as the caller promises.
        unsafe { give(logSizeRet, 0)? };
        let program = find(prog)?;
        let program = program.lock();
        let log = program.log();
        let size = if log.is_empty() {
            0
        } else {
            log.as_bytes_with_nul().len()
        };
        // SAFETY: as the caller promises.
        unsafe { give(logSizeRet, size) }
    })
}

/// Gives the log.
///
/// # Safety
/// The place must be null or as large as [`hiprtcGetProgramLogSize`] says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcGetProgramLog(
    prog: hiprtcProgram,
    log: *mut c_char,
) -> hiprtcResult {
    call(|| {
        check_place(log)?;
        let program = find(prog)?;
        let program = program.lock();
        let text = program.log();
        let bytes = if text.is_empty() {
            &[]
        } else {
            text.as_bytes_with_nul()
        };
        // SAFETY: as the caller promises.
        unsafe { give_bytes(log, bytes) }
    })
}

/// Gives the bytes of the code object; 0 for relocatable device code.
///
/// # Safety
/// The place must be null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcGetCodeSize(
    prog: hiprtcProgram,
    codeSizeRet: *mut usize,
) -> hiprtcResult {
    call(|| {
        // SAFETY: as the caller promises.
        unsafe { give(codeSizeRet, 0)? };
        let size = find(prog)?.lock().code().len();
        // SAFETY: as the caller promises.
        unsafe { give(codeSizeRet, size) }
    })
}

/// Gives the code object.
///
/// # Safety
/// The place must be null or as large as [`hiprtcGetCodeSize`] says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcGetCode(prog: hiprtcProgram, code: *mut c_char) -> hiprtcResult {
    call(|| {
        check_place(code)?;
        let program = find(prog)?;
        let program = program.lock();
        // SAFETY: as the caller promises.
        unsafe { give_bytes(code, program.code()) }
    })
}

/// Gives the bytes of the bitcode of a program compiled with `-fgpu-rdc`.
///
/// # Safety
/// The place must be null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcGetBitcodeSize(
    prog: hiprtcProgram,
    bitcode_size: *mut usize,
) -> hiprtcResult {
    call(|| {
        // SAFETY: as the caller promises.
        unsafe { give(bitcode_size, 0)? };
        let size = find(prog)?.lock().bitcode()?.len();
        // SAFETY: as the caller promises.
        unsafe { give(bitcode_size, size) }
    })
}

/// Gives the bitcode of a program compiled with `-fgpu-rdc`.
///
/// # Safety
/// The place must be null or as large as [`hiprtcGetBitcodeSize`] says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcGetBitcode(
    prog: hiprtcProgram,
    bitcode: *mut c_char,
) -> hiprtcResult {
    call(|| {
        check_place(bitcode)?;
        let program = find(prog)?;
        let program = program.lock();
        // SAFETY: as the caller promises.
        unsafe { give_bytes(bitcode, program.bitcode()?) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_place_is_told_before_a_bad_program() {
        let nothing = std::ptr::null_mut::<c_char>();
        let program: hiprtcProgram = std::ptr::without_provenance_mut(0x1234);
        // SAFETY: the calls take any handle and a null place.
        unsafe {
            assert_eq!(
                hiprtcGetBitcode(program, nothing),
                HIPRTC_ERROR_INVALID_INPUT
            );
            assert_eq!(hiprtcGetCode(program, nothing), HIPRTC_ERROR_INVALID_INPUT);
            assert_eq!(
                hiprtcGetBitcodeSize(program, std::ptr::null_mut()),
                HIPRTC_ERROR_INVALID_INPUT
            );
        }
    }
}
