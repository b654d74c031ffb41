//! Global wave sync (GWS): barriers and semaphores for waves of different groups, `ds_gws_*`.
//!
//! A GPU has 64 resources (Vega ISA, 12.13; RDNA 3 ISA, 13.4). Semaphores are the GPU's: one dispatch initialises them, another one uses
//! them. Barriers are those of a dispatch: each arrival brings the number of waves, so they need nothing from before it, and dispatches that run
//! at the same time do not meet in them.
//!
//! A wave that has to wait leaves its thread to others; its group asks at its turns whether the wave may go on.

use std::sync::atomic::{AtomicU64, Ordering};

/// Resources of a GPU.
pub(crate) const RESOURCES: usize = 64;

/// What a wave asks of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// `ds_gws_init`: this is the value of the semaphore. Barriers need none.
    Init(u32),
    /// `ds_gws_barrier` of so many waves.
    Barrier(u32),
    /// `ds_gws_sema_v` and `ds_gws_sema_br`: adds to the value.
    Add(u32),
    /// `ds_gws_sema_p`: waits until the value is above zero, and takes one from it.
    Take,
    /// `ds_gws_sema_release_all`: lets all waves go on that wait.
    ReleaseAll,
}

/// A barrier of waves of a whole grid.
///
/// The number of waves that it waits for comes with each arrival, as compilers emit it; that value also initialises the hardware's
/// resource for the next phase. `ds_gws_init` sets the same number before the first phase and so has nothing to do here.
#[derive(Debug, Default)]
pub(crate) struct GridBarrier(AtomicU64);

impl GridBarrier {
    /// Arrives at a barrier of `waves` waves. The last one to arrive goes on (`None`); others wait until the phase has passed.
    pub(crate) fn arrive(&self, waves: u32) -> Option<u32> {
        let mut now = self.0.load(Ordering::Relaxed);
        loop {
            // Phase in the high half, arrived waves in the low half.
            let (phase, arrived) = ((now >> 32) as u32, now as u32 + 1);
            let last = arrived >= waves;
            let next = if last {
                u64::from(phase.wrapping_add(1)) << 32
            } else {
                now + 1
            };
            // AcqRel: what a wave wrote before it arrived is seen by those that go on after the last arrival.
            match self
                .0
                .compare_exchange_weak(now, next, Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(_) => return (!last).then_some(phase),
                Err(seen) => now = seen,
            }
        }
    }

    pub(crate) fn has_passed(&self, phase: u32) -> bool {
        // Acquire pairs with the last arrival.
        (self.0.load(Ordering::Acquire) >> 32) as u32 != phase
    }
}

/// A semaphore: its value in the low half, waves that wait in the high half.
///
/// What is added while waves wait is theirs: a wave that comes later does not take it from them. Which of those that wait goes on first is
/// open.
#[derive(Debug, Default)]
pub(crate) struct Semaphore(AtomicU64);

impl Semaphore {
    /// Changes value and waiting waves unless `change` says that there is nothing to change.
    fn update(&self, change: impl Fn(u32, u32) -> Option<(u32, u32)>) -> bool {
        // AcqRel: what a wave wrote before it added to the value is seen by those that take from it.
        self.0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |now| {
                let (value, waiting) = change(now as u32, (now >> 32) as u32)?;
                Some(u64::from(waiting) << 32 | u64::from(value))
            })
            .is_ok()
    }

    pub(crate) fn init(&self, to: u32) {
        self.update(|_, waiting| Some((to, waiting)));
    }

    pub(crate) fn add(&self, count: u32) {
        self.update(|value, waiting| Some((value.saturating_add(count), waiting)));
    }

    pub(crate) fn release_all(&self) {
        self.update(|value, waiting| Some((value.max(waiting), waiting)));
    }

    /// Takes one from the value. Otherwise the wave counts as one that waits, until it [resumes](Self::resume) or is
    /// [forgotten](Self::forget).
    pub(crate) fn take(&self) -> bool {
        let free = self.update(|value, waiting| (value > waiting).then(|| (value - 1, waiting)));
        // Between the two somebody may have added to the value: the wave finds that when it asks.
        free || !self.update(|value, waiting| Some((value, waiting + 1)))
    }

    /// Takes one from the value for a wave that waits.
    pub(crate) fn resume(&self) -> bool {
        self.update(|value, waiting| (value > 0).then(|| (value - 1, waiting.saturating_sub(1))))
    }

    /// A wave that waits will never go on.
    pub(crate) fn forget(&self) {
        self.update(|value, waiting| Some((value, waiting.saturating_sub(1))));
    }
}

/// The semaphores of a GPU.
#[derive(Debug)]
pub struct Semaphores([Semaphore; RESOURCES]);

impl Default for Semaphores {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Semaphore::default()))
    }
}

impl Semaphores {
    pub(crate) fn of(&self, resource: usize) -> &Semaphore {
        &self.0[resource]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_barrier_lets_all_go_on_with_the_last() {
        let barrier = GridBarrier::default();
        let first = barrier.arrive(3).expect("waits");
        let second = barrier.arrive(3).expect("waits");
        assert!(!barrier.has_passed(first));
        assert_eq!(barrier.arrive(3), None);
        assert!(barrier.has_passed(first) && barrier.has_passed(second));
        assert!(barrier.arrive(2).is_some_and(|next| next != first));
    }

    #[test]
    fn a_semaphore_lets_as_many_go_on_as_were_added() {
        let semaphore = Semaphore::default();
        assert!(!semaphore.take() && !semaphore.take() && !semaphore.take());
        assert!(!semaphore.resume());
        semaphore.add(2);
        assert!(!semaphore.take(), "both are for those that waited before");
        assert!(semaphore.resume() && semaphore.resume() && !semaphore.resume());
        // Two are left that wait.
        semaphore.add(3);
        assert!(semaphore.take(), "one more than wait");
        assert!(semaphore.resume() && semaphore.resume() && !semaphore.take());
    }

    #[test]
    fn release_all_is_for_those_that_wait() {
        let semaphore = Semaphore::default();
        semaphore.release_all();
        assert!(!semaphore.take(), "nobody waited");
        assert!(!semaphore.take());
        semaphore.release_all();
        semaphore.release_all();
        assert!(!semaphore.take(), "came later");
        assert!(semaphore.resume() && semaphore.resume() && !semaphore.resume());
    }

    #[test]
    fn a_wave_that_never_goes_on_takes_nothing() {
        let semaphore = Semaphore::default();
        semaphore.init(1);
        assert!(semaphore.take() && !semaphore.take());
        semaphore.forget();
        semaphore.add(1);
        assert!(semaphore.take() && !semaphore.take());
    }
}
