//! The way to the recorder: a function of the HIP library, asked for through `hipGetProcAddress` by a name that no HIP function has.

use std::{
    ffi::{CStr, c_char, c_void},
    sync::OnceLock,
};

/// The name to ask for. The function takes a message (or null) and a range's number: with a message it begins a range and gives its number, 0 when
/// nothing is recorded; without one it ends the range of that number.
const NAME: &CStr = c"gneissRange";

type Range = unsafe extern "C" fn(*const c_char, u64) -> u64;
type GetProcAddress =
    unsafe extern "C" fn(*const c_char, *mut *mut c_void, i32, u64, *mut u32) -> u32;

/// The function, once found.
static RANGE: OnceLock<Range> = OnceLock::new();

fn find() -> Option<Range> {
    if let Some(known) = RANGE.get() {
        return Some(*known);
    }
    for library in [
        c"libamdhip64.so.5",
        c"libamdhip64.so.6",
        c"libamdhip64.so.7",
        c"libamdhip64.so",
    ] {
        // SAFETY: with NOLOAD nothing is loaded, and no code runs. The handle is kept: the library is never unloaded.
        let get = unsafe {
            let handle = libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            if handle.is_null() {
                continue;
            }
            libc::dlsym(handle, c"hipGetProcAddress".as_ptr())
        };
        if get.is_null() {
            continue;
        }
        let mut found = std::ptr::null_mut();
        let mut status = 0;
        // SAFETY: the function of that name has this type in every HIP library that has it; the places are valid.
        unsafe {
            let get = std::mem::transmute::<*mut c_void, GetProcAddress>(get);
            get(NAME.as_ptr(), &raw mut found, 600, 0, &raw mut status);
        }
        if !found.is_null() {
            // SAFETY: our HIP library gives a function of that type for the name, and no other one knows it.
            let range = unsafe { std::mem::transmute::<*mut c_void, Range>(found) };
            return Some(*RANGE.get_or_init(|| range));
        }
    }
    None
}

/// Begins a range; gives the recorder's number of it, 0 when nothing is recorded.
pub(crate) fn begin(message: &CStr) -> u64 {
    // SAFETY: a terminated string.
    find().map_or(0, |range| unsafe { range(message.as_ptr(), 0) })
}

/// Ends a range of that number; 0 is none.
pub(crate) fn end(number: u64) {
    if number != 0
        && let Some(range) = find()
    {
        // SAFETY: null ends the range.
        unsafe { range(std::ptr::null(), number) };
    }
}
