//! The thread of events: asynchronous signal handlers, callbacks of queues that failed, and functions to be run there.
//!
//! It starts when it is first needed and stays. Handlers of all signals run on it one after another, as in ROCr: a handler that
//! returns true stays armed and is called again while its condition holds; false removes it. A handler may call any HSA function.
//! No lock is held while one runs.

use std::{
    ffi::c_void,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use gneiss_hsa_api::*;
use parking_lot::Mutex;

use crate::{
    entry::HsaResult,
    signal::{self, met},
    sys,
    watch::{self, Watch, Watcher},
};

type Handler = unsafe extern "C" fn(hsa_signal_value_t, *mut c_void) -> bool;

/// A registered handler.
struct Entry {
    signal: hsa_signal_t,
    condition: hsa_signal_condition_t,
    compare: i64,
    handler: Handler,
    argument: usize,
    watch: Watch,
    polled: bool,
}

/// Something to run once.
type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Work {
    jobs: Vec<Job>,
    /// Registered since the thread looked last.
    new: Vec<Entry>,
    /// Handlers registered before are to be forgotten.
    clear: bool,
    started: bool,
}

static WORK: LazyLock<Mutex<Work>> = LazyLock::new(Mutex::default);
/// Bumped at each change; the thread sleeps on it.
static WORD: LazyLock<Arc<AtomicU32>> = LazyLock::new(Arc::default);

/// How often signals are looked at that device code changes silently.
const POLL: Duration = Duration::from_micros(200);

fn poke() {
    WORD.fetch_add(1, Ordering::SeqCst);
    sys::futex_wake(&WORD);
}

/// Changes the work, starts the thread if need be, and wakes it.
fn submit(change: impl FnOnce(&mut Work)) -> HsaResult {
    {
        let mut work = WORK.lock();
        if !work.started {
            sys::spawn("gneiss-events", run).map_err(|error| {
                tracing::error!(%error, "the thread of events cannot be started");
                HSA_STATUS_ERROR_OUT_OF_RESOURCES
            })?;
            work.started = true;
        }
        change(&mut work);
    }
    poke();
    Ok(())
}

/// Makes the thread run and look.
pub(crate) fn start() -> HsaResult {
    submit(|_| {})
}

/// Runs a function on the thread.
pub(crate) fn defer(job: impl FnOnce() + Send + 'static) -> HsaResult {
    submit(|work| work.jobs.push(Box::new(job)))
}

/// `hsa_amd_signal_async_handler` for a real signal.
pub(crate) fn register(
    signal: hsa_signal_t,
    condition: hsa_signal_condition_t,
    compare: i64,
    handler: Handler,
    argument: *mut c_void,
) -> HsaResult {
    let polled = signal::user(signal)?.polled();
    met(condition, 0, compare).ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
    let watch = watch::add(signal, Watcher::Word(Arc::clone(&WORD)))
        .ok_or(HSA_STATUS_ERROR_INVALID_SIGNAL)?;
    let entry = Entry {
        signal,
        condition,
        compare,
        handler,
        argument: argument as usize,
        watch,
        polled,
    };
    submit(|work| work.new.push(entry)).inspect_err(|_| watch::remove(watch))
}

/// Forgets all handlers, at shutdown. One that runs at this moment may end after this.
pub(crate) fn clear() {
    let mut work = WORK.lock();
    if work.started {
        work.clear = true;
        let new = std::mem::take(&mut work.new);
        drop(work);
        new.into_iter().for_each(|entry| watch::remove(entry.watch));
        poke();
    }
}

/// The thread.
fn run() {
    let mut entries: Vec<Entry> = Vec::new();
    loop {
        let sequence = WORD.load(Ordering::SeqCst);
        let (jobs, new, clear) = {
            let mut work = WORK.lock();
            (
                std::mem::take(&mut work.jobs),
                std::mem::take(&mut work.new),
                std::mem::take(&mut work.clear),
            )
        };
        if clear {
            entries
                .drain(..)
                .for_each(|entry| watch::remove(entry.watch));
        }
        let idle = jobs.is_empty();
        entries.extend(new);
        jobs.into_iter().for_each(|job| job());
        let fired = scan(&mut entries);
        if idle && !fired {
            watch::wake_pollers();
            let polled = watch::have_pollers() || entries.iter().any(|entry| entry.polled);
            sys::futex_wait(&WORD, sequence, polled.then_some(POLL));
        }
    }
}

/// Calls each handler whose condition holds, in the order of registration; whether there was one.
fn scan(entries: &mut Vec<Entry>) -> bool {
    let mut fired = false;
    entries.retain(|entry| {
        // The watch keeps the cell: the handle means this signal until the entry is removed.
        let Some(cell) = signal::cell(entry.signal) else {
            return false;
        };
        if cell.destroyed() {
            watch::remove(entry.watch);
            return false;
        }
        let value = cell.load(Ordering::SeqCst);
        if met(entry.condition, value, entry.compare) != Some(true) {
            return true;
        }
        fired = true;
        // SAFETY: the user registered this function with this argument for this signal.
        let keep = unsafe { (entry.handler)(value, entry.argument as *mut c_void) };
        if !keep {
            watch::remove(entry.watch);
        }
        keep
    });
    fired
}
