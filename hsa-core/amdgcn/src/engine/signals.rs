//! Blocking of asynchronous signals on the threads that run device code: a program's handlers run on its own threads, never in
//! the middle of a wave.

use std::mem::MaybeUninit;

/// Blocks every signal but the synchronous faults on the calling thread and returns the mask that was there.
pub(super) fn block_all() -> libc::sigset_t {
    let mut all = MaybeUninit::uninit();
    let mut old = MaybeUninit::uninit();
    // SAFETY: `sigfillset` initialises `all`; `pthread_sigmask` reads it and writes `old`; both cannot fail with these arguments.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        for signal in [
            libc::SIGSEGV,
            libc::SIGBUS,
            libc::SIGFPE,
            libc::SIGILL,
            libc::SIGTRAP,
        ] {
            libc::sigdelset(all.as_mut_ptr(), signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), old.as_mut_ptr());
        old.assume_init()
    }
}

/// Lets signals in that are pending and that `mask`, which [`block_all`] has returned, does not block; blocks them again.
pub(super) fn let_in(mask: &libc::sigset_t) {
    let mut pending = MaybeUninit::uninit();
    // SAFETY: `sigpending` initialises the set; it cannot fail with a valid pointer.
    let pending = unsafe {
        libc::sigpending(pending.as_mut_ptr());
        pending.assume_init()
    };
    let comes = (1..=libc::SIGRTMAX()).any(|signal| {
        // SAFETY: both sets are valid; a number that is none gives an error, which is not 1.
        unsafe {
            libc::sigismember(&raw const pending, signal) == 1
                && libc::sigismember(mask, signal) == 0
        }
    });
    if comes {
        restore(mask);
        block_all();
    }
}

/// Sets a mask that [`block_all`] has returned.
pub(super) fn restore(mask: &libc::sigset_t) {
    // SAFETY: `mask` is a valid set.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, mask, std::ptr::null_mut()) };
}
