//! Handing work to whoever holds a lock: who cannot get the lock leaves a mark, and the holder looks again before it goes away for good.

use super::sync::{AtomicBool, Ordering, fence};

/// The mark.
#[derive(Debug)]
pub(crate) struct Attention(AtomicBool);

impl Attention {
    pub(crate) fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Whether somebody has asked since the last [`take`](Self::take).
    pub(crate) fn is_asked(&self) -> bool {
        // SeqCst fence: pairs with the one in `serve`, see there.
        fence(Ordering::SeqCst);
        self.0.load(Ordering::Relaxed)
    }

    /// Takes the mark away; who finds it set must look at everything after this.
    fn take(&self) -> bool {
        self.0.swap(false, Ordering::AcqRel)
    }

    /// Sees to it that `work` runs, with the lock held, after this call began: here, or by the thread that has the lock now. `try_lock` gives
    /// the guard, or nothing if another thread will look (it holds the lock, or will call this function).
    pub(crate) fn serve<G>(
        &self,
        mut try_lock: impl FnMut() -> Option<G>,
        mut work: impl FnMut(&mut G),
    ) {
        // Release: what the caller has done before is seen by who takes the mark. A swap, not a store: a store over another thread's mark would
        // cut its tie to who takes it (loom's finding).
        self.0.swap(true, Ordering::AcqRel);
        loop {
            // SeqCst fence: the mark comes before the attempt at the lock; in `is_asked` the unlocking comes before the look at the mark. One
            // of the two sees the other.
            fence(Ordering::SeqCst);
            let Some(mut guard) = try_lock() else {
                return;
            };
            while self.take() {
                work(&mut guard);
            }
            drop(guard);
            if !self.is_asked() {
                return;
            }
        }
    }
}
