//! Running the recorded program as if it stood in this command's place: signals that this process gets are the program's.

use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicI32, Ordering};

/// The program's process; 0: not started or ended.
static PROGRAM: AtomicI32 = AtomicI32::new(0);
/// A signal that came before the program was there.
static EARLY: AtomicI32 = AtomicI32::new(0);

/// Passes a signal on to the program.
extern "C" fn pass_on(signal: libc::c_int) {
    match PROGRAM.load(Ordering::SeqCst) {
        0 => EARLY.store(signal, Ordering::SeqCst),
        // SAFETY: async-signal-safe; the process is our child and not waited for before the number is 0 again.
        program => unsafe {
            libc::kill(program, signal);
        },
    }
}

/// The terminal sends it to the program itself; this process waits for what comes of that.
extern "C" fn leave_it(_: libc::c_int) {}

/// Runs a program to its end.
///
/// # Errors
/// It cannot be started.
pub fn run(command: &mut Command) -> std::io::Result<ExitStatus> {
    let on = |signal, handler: extern "C" fn(libc::c_int)| {
        // SAFETY: a zeroed action with a handler that is async-signal-safe.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as usize;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    };
    for signal in [libc::SIGTERM, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2] {
        on(signal, pass_on);
    }
    for signal in [libc::SIGINT, libc::SIGQUIT] {
        on(signal, leave_it);
    }
    let mut program = command.spawn()?;
    PROGRAM.store(program.id() as i32, Ordering::SeqCst);
    let early = EARLY.swap(0, Ordering::SeqCst);
    if early != 0 {
        pass_on(early);
    }
    // Looked at without being waited for: until the process is waited for, its number is nobody else's.
    // SAFETY: a zeroed structure for the kernel to fill; the process is our child.
    unsafe {
        let mut information: libc::siginfo_t = std::mem::zeroed();
        while libc::waitid(
            libc::P_PID,
            program.id(),
            &raw mut information,
            libc::WEXITED | libc::WNOWAIT,
        ) == -1
            && std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted
        {}
    }
    PROGRAM.store(0, Ordering::SeqCst);
    program.wait()
}
