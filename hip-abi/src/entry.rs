//! What every C entry point does around its body: start the runtime, log, catch panics, record the last error.
//!
//! Last error, by presented version: HIP 5 and 6 overwrite it at every call, success included; HIP 7 keeps the last failure until
//! `hipGetLastError` reads it, and success and `hipErrorNotReady` leave it alone.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
};

use gneiss_clr::trace;

use crate::{
    error::{HipResult, hipError_t, hipErrorNotReady, hipErrorUnknown, hipSuccess},
    log::{self, Arguments},
    profiling::{self, RawArguments},
    runtime,
    version::{self, Major},
};

/// One entry point: what `#[hip_api]` knows about it.
#[derive(Debug)]
pub struct Site {
    /// Name of the C function.
    pub name: &'static str,
    /// Source file.
    pub file: &'static str,
    /// Line.
    pub line: u32,
    /// The runtime must have started, with at least one device.
    pub init: bool,
    /// The status becomes the thread's last error.
    pub record: bool,
    /// Its name in a recording.
    pub trace: trace::NameId,
}

thread_local! {
    // Cells of plain integers: no destructor, so they work in static and thread-local destructors too.
    static LAST_ERROR: Cell<hipError_t> = const { Cell::new(hipSuccess) };
    static LAST_STATUS: Cell<hipError_t> = const { Cell::new(hipSuccess) };
}

/// Runs the body of an entry point. Called by the code that `#[hip_api]` makes.
pub fn call(
    site: &'static Site,
    arguments: impl FnOnce(&mut Arguments),
    raw_arguments: impl FnOnce(&mut RawArguments),
    body: impl FnOnce() -> HipResult,
) -> hipError_t {
    let logged = log::api_enabled();
    if logged {
        let mut text = Arguments::default();
        arguments(&mut text);
        log::api_enter(site, &text);
    }
    // What the compiler calls around each launch is not worth two records.
    let recorded = (trace::on() && !site.name.starts_with("__"))
        .then(|| trace::call_begin(&site.trace, site.name));
    let profiled = if profiling::on() {
        let mut raw = RawArguments::default();
        raw_arguments(&mut raw);
        // SAFETY: the list holds arguments of the call that goes on.
        unsafe { profiling::enter(site, &raw) }
    } else {
        None
    };
    let status = run(site.name, hipErrorUnknown, || {
        let result = if site.init {
            runtime::start().and_then(|()| body())
        } else {
            body()
        };
        result.err().unwrap_or(hipSuccess)
    });
    if let Some(profiled) = profiled {
        profiled.leave();
    }
    if site.record {
        record(status, version::presented());
    }
    if let Some(call) = recorded {
        trace::call_end(call, status as u32);
    }
    if logged {
        log::api_leave(site, status);
    }
    status
}

/// Runs a body and gives `fallback` when it panics: no unwind crosses the C ABI.
pub fn run<T>(name: &str, fallback: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        crate::log_error!("{name}: internal error (a panic was caught)");
        fallback
    })
}

fn record(status: hipError_t, major: Major) {
    LAST_STATUS.set(status);
    let sticky = major >= Major::Seven;
    if !sticky || (status != hipSuccess && status != hipErrorNotReady) {
        LAST_ERROR.set(status);
    }
}

/// The thread's last error, left in place.
pub fn peek_last_error() -> hipError_t {
    LAST_ERROR.get()
}

/// The thread's last error, which is reset to success.
pub fn take_last_error() -> hipError_t {
    LAST_ERROR.replace(hipSuccess)
}

/// The status of the thread's last call, reset to success (`hipExtGetLastError`).
pub fn take_last_status() -> hipError_t {
    LAST_STATUS.replace(hipSuccess)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{hipErrorInvalidValue, hipErrorNotFound};

    #[test]
    fn last_error_is_overwritten_up_to_hip_6_and_sticky_from_7() {
        record(hipErrorInvalidValue, Major::Six);
        assert_eq!(peek_last_error(), hipErrorInvalidValue);
        record(hipSuccess, Major::Six);
        assert_eq!(take_last_error(), hipSuccess);

        record(hipErrorNotFound, Major::Seven);
        record(hipSuccess, Major::Seven);
        record(hipErrorNotReady, Major::Seven);
        assert_eq!(peek_last_error(), hipErrorNotFound);
        assert_eq!(take_last_status(), hipErrorNotReady);
        assert_eq!(take_last_error(), hipErrorNotFound);
        assert_eq!(take_last_error(), hipSuccess);
    }

    #[test]
    fn a_panic_becomes_a_status() {
        std::panic::set_hook(Box::new(|_| {}));
        let status = run("test", hipErrorUnknown, || panic!("deliberate"));
        let _ = std::panic::take_hook();
        assert_eq!(status, hipErrorUnknown);
    }
}
