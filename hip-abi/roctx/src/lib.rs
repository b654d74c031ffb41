//! `libroctx64.so`: markers and ranges that programs put around their own phases (rocTX).
//!
//! They appear in the recording that `gneiss trace` makes, among the calls of their thread. The recorder lives in the HIP library of the
//! process, which is asked for it by name (`hook`); before that library is loaded, with AMD's in its place, and when nothing is
//! recorded, markers do nothing but count the levels of nested ranges.
//!
//! A range that is open when its thread ends stays open in the recording. Messages are read as UTF-8, with replacements.

mod hook;

use std::{
    cell::RefCell,
    collections::HashMap,
    ffi::{CStr, c_char},
    panic::catch_unwind,
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;

/// Version of the interface.
const VERSION: (u32, u32) = (4, 1);

thread_local! {
    /// The recorder's numbers of the thread's nested ranges, the outermost first.
    static NESTED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Ranges that were started: the recorder's number by ours.
static STARTED: LazyLock<Mutex<HashMap<u64, u64>>> = LazyLock::new(Mutex::default);
static NEXT_RANGE: AtomicU64 = AtomicU64::new(1);

/// Runs a body; a panic does not cross the C interface.
fn entry<T>(fallback: T, body: impl FnOnce() -> T + std::panic::UnwindSafe) -> T {
    catch_unwind(body).unwrap_or(fallback)
}

/// # Safety
/// `message` must be null or a terminated string.
unsafe fn begin(message: *const c_char) -> u64 {
    let message = if message.is_null() {
        c""
    } else {
        // SAFETY: not null; as the caller promises.
        unsafe { CStr::from_ptr(message) }
    };
    hook::begin(message)
}

/// Major version of the interface.
#[unsafe(no_mangle)]
pub extern "C" fn roctx_version_major() -> u32 {
    VERSION.0
}

/// Minor version of the interface.
#[unsafe(no_mangle)]
pub extern "C" fn roctx_version_minor() -> u32 {
    VERSION.1
}

/// Marks a moment.
///
/// # Safety
/// `message` must be null or a terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roctxMarkA(message: *const c_char) {
    entry((), || {
        // SAFETY: as the caller promises.
        hook::end(unsafe { begin(message) });
    });
}

/// Begins a range inside of the thread's innermost one; gives its level, 0 for the outermost, or -1.
///
/// # Safety
/// `message` must be null or a terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roctxRangePushA(message: *const c_char) -> i32 {
    entry(-1, || {
        // SAFETY: as the caller promises.
        let range = unsafe { begin(message) };
        NESTED
            .try_with(|nested| {
                let mut nested = nested.borrow_mut();
                nested.push(range);
                nested.len() as i32 - 1
            })
            .unwrap_or(-1)
    })
}

/// Ends the thread's innermost range; gives its level, or -1 if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn roctxRangePop() -> i32 {
    entry(-1, || {
        NESTED
            .try_with(|nested| {
                let mut nested = nested.borrow_mut();
                match nested.pop() {
                    Some(range) => {
                        hook::end(range);
                        nested.len() as i32
                    }
                    None => -1,
                }
            })
            .unwrap_or(-1)
    })
}

/// Starts a range that any thread may stop; gives its number, not 0.
///
/// # Safety
/// `message` must be null or a terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roctxRangeStartA(message: *const c_char) -> u64 {
    entry(0, || {
        let number = NEXT_RANGE.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        let range = unsafe { begin(message) };
        if range != 0 {
            STARTED.lock().insert(number, range);
        }
        number
    })
}

/// Stops a range. A number that names none does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn roctxRangeStop(range: u64) {
    entry((), || {
        let started = STARTED.lock().remove(&range);
        if let Some(range) = started {
            hook::end(range);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_count_from_0_and_ranges_from_1() {
        // SAFETY: terminated strings, and null, which is allowed.
        unsafe {
            assert_eq!(roctxRangePushA(c"outer".as_ptr()), 0);
            assert_eq!(roctxRangePushA(std::ptr::null()), 1);
            roctxMarkA(c"between".as_ptr());
            assert_eq!(roctxRangePop(), 1);
            assert_eq!(roctxRangePop(), 0);
            assert_eq!(roctxRangePop(), -1);
            let (first, second) = (
                roctxRangeStartA(c"a".as_ptr()),
                roctxRangeStartA(c"b".as_ptr()),
            );
            assert!(first != 0 && second != first);
            roctxRangeStop(second);
            roctxRangeStop(first);
            roctxRangeStop(12345);
        }
        assert_eq!(roctx_version_major(), 4);
    }
}
