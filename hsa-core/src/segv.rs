//! The process's handler of SIGSEGV: installed when it is first needed, and always chained to the handler that was there.
//!
//! It answers for two kinds of faults only, and gives every other one to the older handler, or to the system:
//! * a store to a range that is being moved to shared memory ([`while_moving`]) waits until it has been moved, and is done again;
//! * a fault of a worker of the engine means that host memory which a kernel may use was unmapped by the program: a line says so,
//!   and the process dies of the signal as it would have without us. A worker runs no code but ours, so no other handler could
//!   know what to do.
//!
//! The handler calls nothing but system calls that are allowed in handlers, and takes no lock.

use std::{
    ffi::{c_int, c_void},
    mem::MaybeUninit,
    sync::{
        Once, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;

/// One range moves at a time.
static MOVER: Mutex<()> = Mutex::new(());
/// The range that moves, or moved last.
static BASE: AtomicU64 = AtomicU64::new(0);
static LENGTH: AtomicU64 = AtomicU64::new(0);
/// Whether it moves now.
static MOVING: AtomicBool = AtomicBool::new(false);
/// Thread and address of the last access that was sent back after its range had moved.
static RETRIED: AtomicU64 = AtomicU64::new(0);

/// The handler that was there before.
static OLD: OnceLock<libc::sigaction> = OnceLock::new();

/// Installs the handler, once.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let mut old = MaybeUninit::uninit();
        // SAFETY: both structures are plain data; the handler has the three-argument signature that `SA_SIGINFO` asks for. The old
        // action is read first, so that the handler finds it from its first call on.
        unsafe {
            if libc::sigaction(libc::SIGSEGV, std::ptr::null(), old.as_mut_ptr()) != 0 {
                return;
            }
            let _ = OLD.set(old.assume_init());
            let mut new: libc::sigaction = std::mem::zeroed();
            new.sa_sigaction =
                handle as unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) as usize;
            new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            if libc::sigaction(libc::SIGSEGV, &new, std::ptr::null_mut()) != 0 {
                tracing::warn!(
                    "no handler for SIGSEGV: stores while memory becomes shared are not safe"
                );
            }
        }
    });
}

/// Runs `body` while stores of other threads to a range wait. `body` makes the range read-only, moves it, and leaves it writable,
/// or undoes what it did. Stores by system calls (reading a file into the range) fail with `EFAULT` meanwhile.
pub(crate) fn while_moving<R>(base: u64, length: u64, body: impl FnOnce() -> R) -> R {
    install();
    let _mover = MOVER.lock();
    BASE.store(base, Ordering::SeqCst);
    LENGTH.store(length, Ordering::SeqCst);
    RETRIED.store(0, Ordering::SeqCst);
    MOVING.store(true, Ordering::SeqCst);
    let result = body();
    MOVING.store(false, Ordering::SeqCst);
    result
}

/// Whether the fault was of a range that moves, and is over: the access is to be done again.
fn moved(address: u64) -> bool {
    if address.wrapping_sub(BASE.load(Ordering::SeqCst)) >= LENGTH.load(Ordering::SeqCst) {
        return false;
    }
    let mut waited = false;
    while MOVING.load(Ordering::SeqCst) {
        waited = true;
        // SAFETY: a system call without arguments.
        unsafe { libc::sched_yield() };
    }
    // The range may have become writable between the fault and this look: such a thread comes here once. One that comes again with the
    // same address has another reason.
    // SAFETY: a system call without arguments.
    let thread = unsafe { libc::syscall(libc::SYS_gettid) }.cast_unsigned();
    let mark = address ^ thread << 48;
    waited || RETRIED.swap(mark, Ordering::SeqCst) != mark
}

/// Whether this thread is one of the engine's workers.
fn on_worker() -> bool {
    let mut name = [0u8; 16];
    // SAFETY: the buffer has the 16 bytes that the call writes.
    let status = unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    status == 0 && name.starts_with(b"gneiss-")
}

fn write(text: &[u8]) {
    // SAFETY: the buffer is valid for its length. A text that cannot be written is lost; nobody could be told.
    unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
}

unsafe extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes a valid structure.
    let address = unsafe { (*info).si_addr() } as u64;
    if moved(address) {
        return;
    }
    if on_worker() {
        let mut digits = [b'0'; 16];
        for (at, digit) in digits.iter_mut().enumerate() {
            *digit = b"0123456789abcdef"[(address >> (60 - 4 * at) & 15) as usize];
        }
        write(b"gneiss: a kernel or a copy used host memory that is not there any more, at 0x");
        write(&digits);
        write(b": was registered or pinned memory unmapped before the work ended?\n");
    }
    let Some(old) = OLD.get() else { return };
    // SAFETY: the old action is what the system had; its handler has the signature that its flags say. Without one the action is
    // restored, and the access is done again and ends the process.
    unsafe {
        if old.sa_sigaction == libc::SIG_DFL || old.sa_sigaction == libc::SIG_IGN {
            libc::sigaction(signal, old, std::ptr::null_mut());
        } else if old.sa_flags & libc::SA_SIGINFO != 0 {
            let function: unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                std::mem::transmute(old.sa_sigaction);
            function(signal, info, context);
        } else {
            let function: unsafe extern "C" fn(c_int) = std::mem::transmute(old.sa_sigaction);
            function(signal);
        }
    }
}
