//! Places for work that runs, and one processor that waits until enough of them are free.
//!
//! Whoever ends a piece of work frees its place and then looks whether the processor has stalled; the processor says that it stalls
//! and then looks at the places again. Both orders are sequentially consistent, so one of the two sees the other, and the
//! processor is woken or goes on.

use crate::sync::{AtomicBool, AtomicU64, Ordering, order};

/// 64 places: bit i is set while place i is free.
#[derive(Debug)]
pub(crate) struct Places {
    free: AtomicU64,
    stalled: AtomicBool,
}

impl Places {
    /// All free.
    pub(crate) fn new() -> Self {
        Self {
            free: AtomicU64::new(u64::MAX),
            stalled: AtomicBool::new(false),
        }
    }

    /// Whether nothing runs.
    pub(crate) fn idle(&self) -> bool {
        self.free.load(Ordering::SeqCst) == u64::MAX
    }

    /// A free place, which there is. Only the processor takes places.
    pub(crate) fn first(&self) -> usize {
        self.free.load(Ordering::SeqCst).trailing_zeros() as usize
    }

    /// Takes a free place.
    pub(crate) fn take(&self, place: usize) {
        self.free.fetch_and(!(1 << place), Ordering::SeqCst);
    }

    /// Frees a place; true if the processor is to be woken.
    pub(crate) fn give(&self, place: usize) -> bool {
        self.free.fetch_or(1 << place, Ordering::SeqCst);
        order();
        // Pairs with `ready_or_stalled`.
        self.stalled.load(Ordering::SeqCst) && self.stalled.swap(false, Ordering::SeqCst)
    }

    /// Whether the free places are as wanted; if not, the processor has stalled, and a `give` after this says so.
    pub(crate) fn ready_or_stalled(&self, ready: impl Fn(u64) -> bool) -> bool {
        if ready(self.free.load(Ordering::SeqCst)) {
            return true;
        }
        self.stalled.store(true, Ordering::SeqCst);
        order();
        // Pairs with `give`.
        if ready(self.free.load(Ordering::SeqCst)) {
            self.stalled.store(false, Ordering::SeqCst);
            return true;
        }
        false
    }
}
