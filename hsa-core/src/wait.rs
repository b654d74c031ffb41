//! Waiting for signals. A thread that waits first runs ready work of the engine, then spins briefly, then sleeps.
//!
//! Signals that device code changes without an interrupt (`HSA_AMD_SIGNAL_AMD_GPU_ONLY`, or no CPU among the consumers) are looked
//! at every [`POLL`] while asleep.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use gneiss_amdgcn::engine::Engine;
use gneiss_hsa_api::*;

use crate::{
    runtime,
    signal::{self, Held, met},
    sys,
    watch::{self, Watcher},
};

/// How long a waiter spins before it sleeps, in nanoseconds. A dispatch that is nearly done ends in this time; longer only
/// takes the processor from the workers.
const SPIN: u64 = 3_000;

/// How often a sleeping waiter looks at a signal that nobody announces.
const POLL: Duration = Duration::from_micros(200);

/// When a wait ends at the latest.
#[derive(Clone, Copy)]
struct Deadline(Option<u64>);

impl Deadline {
    fn after(timeout: u64) -> Self {
        Self(if timeout == u64::MAX {
            None
        } else {
            Some(sys::now().saturating_add(timeout))
        })
    }

    /// Time left; `None`: none. An endless wait has the longest duration left.
    fn left(self) -> Option<Duration> {
        match self.0 {
            None => Some(Duration::MAX),
            Some(end) => end
                .checked_sub(sys::now())
                .filter(|&left| left > 0)
                .map(Duration::from_nanos),
        }
    }
}

/// Waits until `check` says true or time is up, without sleeping: runs ready work, then spins.
fn wait_awake(deadline: Deadline, check: &mut dyn FnMut() -> bool) -> bool {
    if check() {
        return true;
    }
    if deadline.left().is_none() {
        return false;
    }
    let mut done = false;
    Engine::global().help(&mut || {
        done = check();
        done || deadline.left().is_none()
    });
    if done {
        return true;
    }
    let start = sys::now();
    while sys::now() - start < SPIN && deadline.left().is_some() {
        for _ in 0..16 {
            std::hint::spin_loop();
        }
        if check() {
            return true;
        }
    }
    false
}

/// `hsa_signal_wait_*`: returns the value that was seen last. An unknown signal or condition returns at once.
pub(crate) fn wait(
    signal: hsa_signal_t,
    condition: hsa_signal_condition_t,
    compare: i64,
    timeout: u64,
) -> i64 {
    let Ok(cell) = signal::user(signal) else {
        tracing::error!(?signal, "wait for an invalid signal");
        return 0;
    };
    let mut value = cell.load(Ordering::SeqCst);
    if met(condition, value, compare).unwrap_or(true) || timeout == 0 {
        return value;
    }
    let cell = cell.hold();
    let deadline = Deadline::after(timeout);
    let mut check = || {
        value = cell.load(Ordering::SeqCst);
        cell.destroyed() || met(condition, value, compare).unwrap_or(true)
    };
    while !wait_awake(deadline, &mut check) {
        let Some(left) = deadline.left() else { break };
        if runtime::forked() {
            // Nothing of the device runs in this process: the value can never change.
            break;
        }
        // Waiter's half of the protocol in `signal`: enlist, read the sequence word, look at the value, sleep.
        cell.enlist();
        let sequence = cell.sequence().load(Ordering::SeqCst);
        if !check() {
            sys::futex_wait(cell.sequence(), sequence, sleep(left, cell.polled()));
        }
        cell.resign(1);
    }
    if cell.destroyed() { 0 } else { value }
}

/// How long to sleep at most.
fn sleep(left: Duration, polled: bool) -> Option<Duration> {
    let left = if polled { left.min(POLL) } else { left };
    (left != Duration::MAX).then_some(left)
}

/// A signal, the condition and the value that it is compared with.
pub(crate) struct Wanted {
    pub(crate) signal: hsa_signal_t,
    pub(crate) condition: hsa_signal_condition_t,
    pub(crate) compare: i64,
}

/// Waits until `enough` of the conditions hold at once (1: any; all of them: all). Returns the index of the first that holds and the
/// values; `None` when time is up. A null signal never holds for "any" and always for "all".
pub(crate) fn wait_many(wanted: &[Wanted], all: bool, timeout: u64) -> Option<(usize, Vec<i64>)> {
    let cells: Vec<Option<Held>> = wanted
        .iter()
        .map(|wanted| signal::user(wanted.signal).ok().map(signal::Cell::hold))
        .collect();
    let mut values = vec![0; wanted.len()];
    let mut first = None;
    let mut check = || {
        let mut held = 0;
        first = None;
        for (index, (wanted, cell)) in wanted.iter().zip(&cells).enumerate() {
            let holds = match cell {
                None => all,
                Some(cell) => {
                    values[index] = cell.load(Ordering::SeqCst);
                    cell.destroyed()
                        || met(wanted.condition, values[index], wanted.compare).unwrap_or(true)
                }
            };
            if holds {
                held += 1;
                first = first.or(Some(index));
                if !all {
                    break;
                }
            }
        }
        if all { held == wanted.len() } else { held > 0 }
    };
    let deadline = Deadline::after(timeout);
    let mut done = wait_awake(deadline, &mut check);
    if !done && deadline.left().is_some() && !runtime::forked() {
        let word = Arc::new(AtomicU32::new(0));
        let watches: Vec<_> = cells
            .iter()
            .flatten()
            .filter_map(|cell| watch::add(cell.handle(), Watcher::Word(Arc::clone(&word))))
            .collect();
        let polled = cells.iter().flatten().any(|cell| cell.polled());
        loop {
            let sequence = word.load(Ordering::SeqCst);
            done = wait_awake(deadline, &mut check);
            let Some(left) = deadline.left().filter(|_| !done) else {
                break;
            };
            sys::futex_wait(&word, sequence, sleep(left, polled));
        }
        watches.into_iter().for_each(watch::remove);
    }
    done.then(|| (first.unwrap_or(0), values))
}
