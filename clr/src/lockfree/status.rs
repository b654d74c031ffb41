//! A status that only goes down and ends at 0 or below.

use super::sync::{AtomicI32, Ordering};

/// The cell.
#[derive(Debug)]
pub(crate) struct StatusCell(AtomicI32);

impl StatusCell {
    pub(crate) fn new(status: i32) -> Self {
        Self(AtomicI32::new(status))
    }

    /// Who sees the end sees what the command did on the host.
    pub(crate) fn get(&self) -> i32 {
        // Acquire: pairs with the release in `advance`.
        self.0.load(Ordering::Acquire)
    }

    /// Moves down. False, and no change, if it is there already, below, or at its end.
    pub(crate) fn advance(&self, to: i32) -> bool {
        let mut now = self.0.load(Ordering::Relaxed);
        loop {
            if now <= 0 || to >= now {
                return false;
            }
            // Release: pairs with the acquire in `get`.
            match self
                .0
                .compare_exchange_weak(now, to, Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(_) => return true,
                Err(other) => now = other,
            }
        }
    }

    /// New again; nobody else has it.
    pub(crate) fn reset(&mut self, status: i32) {
        *self = Self::new(status);
    }
}
