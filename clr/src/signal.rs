//! HSA signals that complete batches, and the pool they come from.
//!
//! A signal is set to 1 when a batch takes it and is done below 1. Whoever looks at a signal holds a reference; a signal is used again
//! only when the pool's reference is the last one.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use gneiss_hsa_api::hsa_signal_t;
use parking_lot::Mutex;

use crate::{Result, hsa::Hsa};

/// A completion signal.
#[derive(Debug)]
pub(crate) struct HwSignal {
    hsa: &'static Hsa,
    raw: hsa_signal_t,
    /// Released by a fault: a packet may still decrement it, so it is neither used again nor destroyed.
    poisoned: AtomicBool,
}

impl HwSignal {
    pub(crate) fn new(hsa: &'static Hsa) -> Result<Arc<Self>> {
        Ok(Arc::new(Self {
            hsa,
            raw: hsa.signal_create(1)?,
            poisoned: AtomicBool::new(false),
        }))
    }

    pub(crate) fn raw(&self) -> hsa_signal_t {
        self.raw
    }

    /// The value: 1 pending, 0 done, negative released by a fault.
    pub(crate) fn value(&self) -> i64 {
        // SAFETY: alive until drop.
        unsafe { self.hsa.signal_load(self.raw) }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.value() < 1
    }

    /// Waits until it is done; the calling thread may run device work.
    pub(crate) fn wait(&self) {
        // SAFETY: alive until drop.
        while unsafe { self.hsa.signal_wait_below(self.raw, 1, u64::MAX) } >= 1 {}
    }

    /// As [`wait`](Self::wait) for some nanoseconds at most; whether it is done.
    pub(crate) fn wait_for(&self, nanoseconds: u64) -> bool {
        // SAFETY: alive until drop.
        unsafe { self.hsa.signal_wait_below(self.raw, 1, nanoseconds) < 1 }
    }

    /// Wakes all that wait, for work that will never end.
    pub(crate) fn poison(&self) {
        self.poisoned.store(true, Ordering::Release);
        // SAFETY: alive until drop.
        unsafe { self.hsa.signal_store(self.raw, i64::from(i32::MIN)) };
    }

    fn is_poisoned(&self) -> bool {
        self.poisoned.load(Ordering::Acquire)
    }

    /// Makes it pending again; the caller has the only reference.
    fn rearm(&mut self) {
        // SAFETY: alive, and nobody else uses it.
        unsafe { self.hsa.signal_reset(self.raw, 1) };
    }
}

impl Drop for HwSignal {
    fn drop(&mut self) {
        if !self.is_poisoned() {
            // SAFETY: the last reference; batches hold one until their packets have ended.
            unsafe { self.hsa.signal_destroy(self.raw) };
        }
    }
}

/// Signals that wait for use, for all queues of a device.
#[derive(Debug)]
pub(crate) struct SignalPool {
    hsa: &'static Hsa,
    free: Mutex<Vec<Arc<HwSignal>>>,
}

/// Signals that a pool keeps.
const POOL_LIMIT: usize = 1024;
/// Signals that a queue keeps for itself.
const LOCAL_LIMIT: usize = 8;

impl SignalPool {
    pub(crate) fn new(hsa: &'static Hsa) -> Self {
        Self {
            hsa,
            free: Mutex::new(Vec::new()),
        }
    }

    /// A pending signal: from the queue's own list, the pool, or a new one.
    pub(crate) fn take(&self, local: &mut Vec<Arc<HwSignal>>) -> Result<Arc<HwSignal>> {
        while let Some(mut signal) = local.pop() {
            // A waiter may still hold the signal of an old batch for a moment: such a signal is left to it.
            if let Some(unique) = Arc::get_mut(&mut signal) {
                unique.rearm();
                return Ok(signal);
            }
        }
        loop {
            let Some(mut signal) = self.free.lock().pop() else {
                return HwSignal::new(self.hsa);
            };
            if let Some(unique) = Arc::get_mut(&mut signal) {
                unique.rearm();
                return Ok(signal);
            }
        }
    }

    /// Gives back a signal whose batch has ended.
    pub(crate) fn give(&self, local: &mut Vec<Arc<HwSignal>>, signal: Arc<HwSignal>) {
        if signal.is_poisoned() {
            return;
        }
        if local.len() < LOCAL_LIMIT {
            local.push(signal);
            return;
        }
        let mut free = self.free.lock();
        if free.len() < POOL_LIMIT {
            free.push(signal);
        }
    }
}
