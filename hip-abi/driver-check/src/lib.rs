//! Answers programs that look for AMD's kernel driver themselves, before they call HSA: `rocminfo` runs `lsmod | grep amdgpu`
//! or reads `/sys/module/amdgpu/initstate`, and opens `/dev/kfd`. There is no driver below the software GPU, so without an answer such
//! a program gives up.
//!
//! `gneiss run` preloads this library for programs that use HSA and hold one of these names, and for no others. Each call first goes
//! to the system as it is; only if the system has no driver the answer is ours: `/dev/kfd` opens as `/dev/null`, the state of the
//! module reads `live`, and the list of modules has a line for `amdgpu`. Everything else passes through.

#![expect(
    clippy::missing_safety_doc,
    reason = "each function is the C library's of the same name"
)]

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    sync::OnceLock,
};

use libc::{FILE, mode_t};

/// The device that the driver's user-space library opens.
const DEVICE: &CStr = c"/dev/kfd";
/// Says `live` when the module is loaded.
const STATE: &CStr = c"/sys/module/amdgpu/initstate";
/// The command by which older versions of `rocminfo` look for the module.
const LIST: &CStr = c"lsmod | grep amdgpu";
/// What it is replaced with: a line as `lsmod` prints it, for a module that takes no memory.
const LIST_ANSWER: &CStr = c"echo 'amdgpu 0 0'";

/// The C library's function of a name.
fn next(name: &'static CStr, place: &OnceLock<usize>) -> Option<*mut c_void> {
    let address = *place.get_or_init(|| {
        // SAFETY: the name is a C string; the answer is null or the address of the next definition.
        unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) as usize }
    });
    (address != 0).then_some(address as *mut c_void)
}

/// Whether a C string of the caller is this one.
///
/// # Safety
/// `text` is null or a C string.
unsafe fn is(text: *const c_char, wanted: &CStr) -> bool {
    // SAFETY: the caller's promise.
    !text.is_null() && unsafe { CStr::from_ptr(text) } == wanted
}

macro_rules! open {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// The C function is variadic; on x86-64 its third argument comes in the register in which a plain one would.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
            static NEXT: OnceLock<usize> = OnceLock::new();
            let Some(function) = next($text, &NEXT) else { return -1 };
            // SAFETY: the C library's function of this name has this signature, and the arguments are the caller's.
            unsafe {
                let function: unsafe extern "C" fn(*const c_char, c_int, ...) -> c_int = std::mem::transmute(function);
                let file = function(path, flags, mode);
                if file < 0 && is(path, DEVICE) {
                    return function(c"/dev/null".as_ptr(), flags, mode);
                }
                file
            }
        }
    )*};
}

open! {
    /// `open`: `/dev/kfd` opens as `/dev/null` where there is no driver.
    open = c"open";
    /// `open64`, likewise.
    open64 = c"open64";
}

macro_rules! fopen {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {$(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(path: *const c_char, mode: *const c_char) -> *mut FILE {
            static NEXT: OnceLock<usize> = OnceLock::new();
            let Some(function) = next($text, &NEXT) else { return std::ptr::null_mut() };
            // SAFETY: the C library's function of this name has this signature, and the arguments are the caller's; the text of
            // the memory stream is copied by `fmemopen` when it makes its own buffer.
            unsafe {
                let function: unsafe extern "C" fn(*const c_char, *const c_char) -> *mut FILE = std::mem::transmute(function);
                let file = function(path, mode);
                if file.is_null() && is(path, STATE) {
                    return state();
                }
                file
            }
        }
    )*};
}

fopen! {
    /// `fopen`: the state of the module is `live` where there is no driver.
    fopen = c"fopen";
    /// `fopen64`, likewise.
    fopen64 = c"fopen64";
}

/// A stream that reads `live`: the end of a pipe, for the C++ library asks a stream for its file.
fn state() -> *mut FILE {
    let mut ends = [0; 2];
    // SAFETY: the array has room for both ends; the text is shorter than a pipe's buffer, so the write does not wait; each end is
    // closed once, or given to the stream.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return std::ptr::null_mut();
        }
        let written = libc::write(ends[1], c"live\n".as_ptr().cast(), 5);
        libc::close(ends[1]);
        let stream = if written == 5 {
            libc::fdopen(ends[0], c"r".as_ptr())
        } else {
            std::ptr::null_mut()
        };
        if stream.is_null() {
            libc::close(ends[0]);
        }
        stream
    }
}

/// `popen`: the command that looks for the module finds it where there is no driver.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn popen(command: *const c_char, mode: *const c_char) -> *mut FILE {
    static NEXT: OnceLock<usize> = OnceLock::new();
    let Some(function) = next(c"popen", &NEXT) else {
        return std::ptr::null_mut();
    };
    // SAFETY: the C library's function has this signature, and the arguments are the caller's.
    unsafe {
        let function: unsafe extern "C" fn(*const c_char, *const c_char) -> *mut FILE =
            std::mem::transmute(function);
        let ours =
            is(command, LIST) && libc::access(c"/sys/module/amdgpu".as_ptr(), libc::F_OK) != 0;
        function(if ours { LIST_ANSWER.as_ptr() } else { command }, mode)
    }
}
