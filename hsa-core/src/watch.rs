//! Who, besides sleeping threads, is told when a signal changes: blocked queues and copies (engine tasks), threads that wait for
//! several signals, and the thread of asynchronous handlers.
//!
//! A watcher is added under the signal's handle and counts as interest in the signal's cell. Tasks are told once and forgotten: when
//! polled they look again and, if need be, come back. Other watchers stay until they are removed.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering},
    },
};

use gneiss_amdgcn::engine::{Engine, Task};
use gneiss_hsa_api::hsa_signal_t;
use parking_lot::Mutex;

use crate::{
    signal::{self, Held},
    sys,
};

/// Who is told.
pub(crate) enum Watcher {
    /// An engine task, told once.
    Task(Arc<dyn Task>),
    /// A thread that sleeps on this word.
    Word(Arc<AtomicU32>),
}

struct Entry {
    id: u64,
    watcher: Watcher,
    /// Keeps the cell, so that the handle means the same signal for as long as the entry is there.
    signal: Held,
}

const SHARDS: usize = 64;

/// Lists by signal handle.
type Lists = HashMap<u64, Vec<Entry>>;

/// The lists of the signals of each shard.
static WATCHERS: [Mutex<Option<Lists>>; SHARDS] = [const { Mutex::new(None) }; SHARDS];

/// Source of entry numbers.
static IDS: AtomicU64 = AtomicU64::new(1);

fn shard(signal: hsa_signal_t) -> &'static Mutex<Option<Lists>> {
    &WATCHERS[(signal.handle / 64) as usize % SHARDS]
}

/// A watcher that was added; give it back with [`remove`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    signal: hsa_signal_t,
    id: u64,
}

/// Adds a watcher. Look at the signal's value after this, not before. `None` if the handle is no signal.
pub(crate) fn add(signal: hsa_signal_t, watcher: Watcher) -> Option<Watch> {
    let held = signal::cell(signal)?.hold();
    held.enlist();
    let id = IDS.fetch_add(1, Ordering::Relaxed);
    shard(signal)
        .lock()
        .get_or_insert_default()
        .entry(signal.handle)
        .or_default()
        .push(Entry {
            id,
            watcher,
            signal: held,
        });
    Some(Watch { signal, id })
}

/// Removes a watcher, if it is still there.
pub(crate) fn remove(watch: Watch) {
    let entry = {
        let mut shard = shard(watch.signal).lock();
        let Some(map) = shard.as_mut() else { return };
        let Some(list) = map.get_mut(&watch.signal.handle) else {
            return;
        };
        let Some(at) = list.iter().position(|entry| entry.id == watch.id) else {
            return;
        };
        let entry = list.swap_remove(at);
        if list.is_empty() {
            map.remove(&watch.signal.handle);
        }
        entry
    };
    entry.signal.resign(1);
}

/// Tells the watchers of a signal. Called without locks, by whoever changed the value.
pub(crate) fn notify(signal: hsa_signal_t) {
    let mut tasks = Vec::new();
    {
        let mut shard = shard(signal).lock();
        let Some(map) = shard.as_mut() else { return };
        let Some(list) = map.get_mut(&signal.handle) else {
            return;
        };
        for entry in list.extract_if(.., |entry| matches!(entry.watcher, Watcher::Task(_))) {
            tasks.push(entry);
        }
        for entry in list.iter() {
            if let Watcher::Word(word) = &entry.watcher {
                word.fetch_add(1, Ordering::SeqCst);
                sys::futex_wake(word);
            }
        }
        if list.is_empty() {
            map.remove(&signal.handle);
        }
    }
    for entry in tasks {
        entry.signal.resign(1);
        if let Watcher::Task(task) = &entry.watcher {
            Engine::global().wake(task);
        }
    }
}

/// Tasks that wait for a signal that device code changes without telling. They look again after each dispatch, and the thread of
/// events makes them look now and then.
static POLLERS: Mutex<Vec<(u64, Arc<dyn Task>)>> = Mutex::new(Vec::new());
/// Number of pollers, so that the end of a dispatch costs one load when there are none.
static POLLER_COUNT: AtomicUsize = AtomicUsize::new(0);

/// A task that is told to look now and then, for as long as this lives.
#[derive(Debug)]
pub(crate) struct Poller(u64);

/// Adds a task that looks now and then.
pub(crate) fn poll(task: Arc<dyn Task>) -> Poller {
    let id = IDS.fetch_add(1, Ordering::Relaxed);
    POLLERS.lock().push((id, task));
    POLLER_COUNT.fetch_add(1, Ordering::SeqCst);
    if let Err(status) = crate::events::start() {
        tracing::error!(%status, "a queue waits for a signal that nobody looks at while no dispatch ends");
    }
    Poller(id)
}

impl Drop for Poller {
    fn drop(&mut self) {
        let mut pollers = POLLERS.lock();
        if let Some(at) = pollers.iter().position(|(id, _)| *id == self.0) {
            let task = pollers.swap_remove(at);
            drop(pollers);
            drop(task);
            POLLER_COUNT.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Whether there are pollers.
pub(crate) fn have_pollers() -> bool {
    POLLER_COUNT.load(Ordering::SeqCst) != 0
}

/// Makes all pollers look.
pub(crate) fn wake_pollers() {
    if have_pollers() {
        let tasks: Vec<_> = POLLERS
            .lock()
            .iter()
            .map(|(_, task)| Arc::clone(task))
            .collect();
        for task in &tasks {
            Engine::global().wake(task);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_bumped_until_removed() {
        let signal = signal::create(1, true).expect("memory");
        let cell = signal::user(signal).expect("valid");
        let word = Arc::new(AtomicU32::new(0));
        let watch = add(signal, Watcher::Word(Arc::clone(&word))).expect("valid");
        cell.complete();
        cell.complete();
        assert_eq!(word.load(Ordering::SeqCst), 2);
        remove(watch);
        cell.complete();
        assert_eq!(word.load(Ordering::SeqCst), 2);
        signal::destroy(signal).expect("valid");
    }
}
