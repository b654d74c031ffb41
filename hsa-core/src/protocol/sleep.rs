//! Sleeping until something changes.
//!
//! No wake-up is lost: a waiter adds itself to the count, reads the sequence word, then looks at the value; a writer changes the
//! value, then looks at the count, and if it is not 0 bumps the sequence word and wakes. All four steps are sequentially
//! consistent, so at least one of the two sees the other: either the waiter sees the new value, or the writer sees the waiter, and
//! then the word differs from what the waiter read, or the wake finds it asleep.

use crate::sync::{AtomicU32, Ordering, order};

/// The words of a thing that can be waited for. The layout is that of two reserved words of `amd_signal_t`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct SleepWord {
    sequence: AtomicU32,
    interest: AtomicU32,
}

impl SleepWord {
    /// Nobody waits.
    #[allow(dead_code, reason = "cells begin as zeros; the models make theirs")]
    pub(crate) fn new() -> Self {
        Self {
            sequence: AtomicU32::new(0),
            interest: AtomicU32::new(0),
        }
    }

    /// Makes it as new; nobody else knows it.
    pub(crate) fn reset(&self) {
        self.sequence.store(0, Ordering::Relaxed);
        self.interest.store(0, Ordering::Relaxed);
    }

    /// Whether somebody is to be told of a change that was made before this, with a sequentially consistent operation.
    pub(crate) fn watched(&self) -> bool {
        order();
        // Pairs with `enlist`.
        self.interest.load(Ordering::SeqCst) != 0
    }

    /// Marks a change; sleepers on [`word`](Self::word) are to be woken after this.
    pub(crate) fn bump(&self) {
        self.sequence.fetch_add(1, Ordering::SeqCst);
    }

    /// Declares that somebody wants to be told of changes. Look at the value after this.
    pub(crate) fn enlist(&self) {
        self.interest.fetch_add(1, Ordering::SeqCst);
        order();
    }

    /// Takes `count` declarations back.
    pub(crate) fn resign(&self, count: u32) {
        self.interest.fetch_sub(count, Ordering::SeqCst);
    }

    /// The word to sleep on while it keeps its value.
    pub(crate) fn word(&self) -> &AtomicU32 {
        &self.sequence
    }
}
