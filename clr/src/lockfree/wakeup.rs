//! Sleeping until something has changed, without a lock: a word that counts changes, and how many sleep on it.

use super::sync::{AtomicU32, Ordering, fence};

/// The word.
#[derive(Debug)]
pub(crate) struct Wakeup {
    changes: AtomicU32,
    sleepers: AtomicU32,
}

impl Wakeup {
    pub(crate) fn new() -> Self {
        Self {
            changes: AtomicU32::new(0),
            sleepers: AtomicU32::new(0),
        }
    }

    /// The changes so far: to be read before looking at what may have changed.
    pub(crate) fn seen(&self) -> u32 {
        self.changes.load(Ordering::Acquire)
    }

    /// Something has changed: calls `wake` if somebody may sleep.
    pub(crate) fn notify(&self, wake: impl FnOnce(&AtomicU32)) {
        self.changes.fetch_add(1, Ordering::Release);
        // SeqCst fence: pairs with the one in `sleep`. Either the sleeper sees the change, or we see the sleeper.
        fence(Ordering::SeqCst);
        if self.sleepers.load(Ordering::Relaxed) > 0 {
            wake(&self.changes);
        }
    }

    /// Calls `wait` with the word and `seen`, unless `ready`. `wait` must return at once if the word is no longer `seen`.
    pub(crate) fn sleep(
        &self,
        seen: u32,
        ready: impl FnOnce() -> bool,
        wait: impl FnOnce(&AtomicU32, u32),
    ) {
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        // SeqCst fence: pairs with the one in `notify`.
        fence(Ordering::SeqCst);
        if !ready() {
            wait(&self.changes, seen);
        }
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
    }
}
