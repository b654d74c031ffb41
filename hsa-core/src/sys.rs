//! The few system calls: futex, clock, threads that block signals.

use std::{sync::atomic::AtomicU32, time::Duration};

use rustix::thread::futex;

/// Sleeps while `word` is `expected`, at most for `timeout`. Returns early for no reason at times.
pub(crate) fn futex_wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) {
    let timeout = timeout.map(|timeout| rustix::time::Timespec {
        tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: timeout.subsec_nanos().into(),
    });
    // EAGAIN, EINTR and ETIMEDOUT all mean: look again. Nothing else can happen to a private futex at a valid address.
    let _ = futex::wait(word, futex::Flags::PRIVATE, expected, timeout.as_ref());
}

/// Wakes all threads that sleep on `word`.
pub(crate) fn futex_wake(word: &AtomicU32) {
    // Waking cannot fail at a valid address.
    let _ = futex::wake(word, futex::Flags::PRIVATE, i32::MAX as u32);
}

/// The system clock of the HSA runtime: nanoseconds of `CLOCK_MONOTONIC`.
pub(crate) fn now() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Starts a daemon thread with all asynchronous signals blocked, so that the program's handlers never run on it.
pub(crate) fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    // SAFETY: the sets are plain values that `sigfillset` initialises; both masks belong to this thread only. A new thread
    // inherits the mask, so it is blocked before its first instruction.
    let old = unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut old: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        for synchronous in [
            libc::SIGSEGV,
            libc::SIGBUS,
            libc::SIGFPE,
            libc::SIGILL,
            libc::SIGTRAP,
            libc::SIGABRT,
        ] {
            libc::sigdelset(&mut all, synchronous);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &all, &mut old);
        old
    };
    let result = std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(body);
    // SAFETY: restores the mask that was in force above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &old, std::ptr::null_mut()) };
    result.map(drop)
}
