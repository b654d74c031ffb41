//! Callbacks of events, on a thread of their own.
//!
//! OpenCL's callbacks run when the status is visible to everybody, and may call OpenCL. The runtime below runs its callbacks before that, on
//! a worker that has other work; so those only hand over to this thread, which starts with the first callback and sleeps while there is
//! none. Callbacks are called in the order in which their events have ended, those of one event in the order of registration.

use std::{
    sync::{
        Arc, OnceLock,
        mpsc::{Sender, channel},
    },
    thread,
};

use gneiss_clr::Status;

use crate::{
    constants::{CL_COMPLETE, CL_OUT_OF_HOST_MEMORY},
    context::UserData,
    error::Result,
    event::Event,
    fail,
    handle::Object as _,
    types::{cl_event, cl_int},
};

/// A function of the program's.
type Notify = unsafe extern "C" fn(cl_event, cl_int, *mut std::ffi::c_void);

type Call = Box<dyn FnOnce() + Send>;

/// The thread's inlet.
fn thread() -> Result<&'static Sender<Call>> {
    static CALLS: OnceLock<Option<Sender<Call>>> = OnceLock::new();
    let calls = CALLS.get_or_init(|| {
        let (sender, receiver) = channel::<Call>();
        let started = thread::Builder::new()
            .name("gneiss-callback".to_owned())
            .spawn(move || {
                block_signals();
                for call in receiver {
                    call();
                }
            });
        started.ok().map(|_| sender)
    });
    match calls {
        Some(calls) => Ok(calls),
        None => fail!(
            CL_OUT_OF_HOST_MEMORY,
            "no thread for callbacks can be started"
        ),
    }
}

/// The program's signals are for its own threads.
fn block_signals() {
    // SAFETY: a zeroed set is filled before it is used.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, std::ptr::null_mut());
    }
}

/// Has a function called when an event has a status, or has passed it.
///
/// # Errors
/// `CL_OUT_OF_HOST_MEMORY` if no thread can be started.
pub fn register(event: &Arc<Event>, at: cl_int, notify: Notify, data: UserData) -> Result {
    let calls = thread()?;
    let kept = Arc::clone(event);
    event.clr().on_complete(move |status| {
        let call = move || {
            // The worker makes the end visible right after it has handed over.
            let _ = kept.clr().wait();
            let told = match status {
                Status(error) if error < 0 => error,
                _ if at == CL_COMPLETE => CL_COMPLETE,
                _ => at,
            };
            // SAFETY: the program has given the function for this.
            unsafe { notify(kept.handle().raw(), told, data.get()) };
        };
        // The receiver lives as long as the process.
        let _ = calls.send(Box::new(call));
    });
    Ok(())
}
