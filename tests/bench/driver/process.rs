//! What a whole process costs.

use std::{
    mem::MaybeUninit,
    process::{Command, Stdio},
    time::Instant,
};

/// The cost of one process, from its start to its end.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// Wall time, in milliseconds.
    pub wall_ms: f64,
    /// Processor time of all its threads and children, in milliseconds.
    pub processor_ms: f64,
}

/// Runs a command to its end; nothing when it cannot start or does not exit with 0.
pub fn cost(command: &mut Command) -> Option<Cost> {
    let start = Instant::now();
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .ok()?;
    let process = libc::pid_t::try_from(child.id()).ok()?;
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both pointers are to live, writable objects of the types that wait4 fills; the child has not been waited for, and
    // `child` is dropped without a wait.
    let waited = unsafe { libc::wait4(process, &raw mut status, 0, usage.as_mut_ptr()) };
    let wall_ms = start.elapsed().as_secs_f64() * 1e3;
    // SAFETY: all zeros is a valid rusage, and wait4 wrote it when it succeeded.
    let usage = unsafe { usage.assume_init() };
    let ms = |time: libc::timeval| time.tv_sec as f64 * 1e3 + time.tv_usec as f64 * 1e-3;
    (waited == process && libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0).then(|| Cost {
        wall_ms,
        processor_ms: ms(usage.ru_utime) + ms(usage.ru_stime),
    })
}
