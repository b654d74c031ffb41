//! Work that many ask for and one thread at a time does.
//!
//! Whoever asks counts its request and tries to become the worker. The worker looks at the count before it works and again after it
//! has left: a request that was counted in between, whose maker found the worker still there, is seen then. All steps are
//! sequentially consistent.

use crate::sync::{AtomicBool, AtomicU32, Ordering, order};

/// Who does the work.
#[derive(Debug)]
pub(crate) struct Turn {
    busy: AtomicBool,
    requests: AtomicU32,
}

impl Turn {
    /// Nobody works.
    pub(crate) fn new() -> Self {
        Self {
            busy: AtomicBool::new(false),
            requests: AtomicU32::new(0),
        }
    }

    /// Does the work, or leaves it to the thread that is at it: `work` runs at least once after this call began, on some thread.
    pub(crate) fn request(&self, mut work: impl FnMut()) {
        self.requests.fetch_add(1, Ordering::SeqCst);
        order();
        while !self.busy.load(Ordering::SeqCst) && !self.busy.swap(true, Ordering::SeqCst) {
            let seen = self.requests.load(Ordering::SeqCst);
            work();
            self.busy.store(false, Ordering::SeqCst);
            order();
            if self.requests.load(Ordering::SeqCst) == seen {
                return;
            }
        }
    }
}
