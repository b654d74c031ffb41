//! Slices: when may the host memory behind a removed mapping be given back?
//!
//! Every thread that runs waves owns a slot. It is inside a slice while its slot holds the epoch at which the slice began, and
//! outside while the slot holds 0. Slices are short (bounded by an instruction budget), so a writer simply waits.
//!
//! Why it is sound: a writer (1) stores the new snapshot, (2) advances the epoch to E, (3) reads the slots. A reader (a) stores the
//! epoch it saw in its slot, (b) loads the snapshot. All of these are `SeqCst`. If (3) misses the reader's store, (a) comes after (3)
//! in the total order, so (b) sees the new snapshot. If (3) sees an epoch below E, the writer waits. If it sees E or more, the
//! reader had read the epoch after (2), and so loads the new snapshot.
//!
//! | field | who may touch it |
//! | --- | --- |
//! | `Slot::epoch` | its thread stores; writers load |
//! | `Slot::claimed` | a thread claims it at its first slice (CAS), and gives it back when it ends |
//! | `Slot::next` | written once before the slot is published |

use std::{
    cell::Cell,
    ptr,
    sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering},
};

use crossbeam_utils::CachePadded;

/// The epoch; 0 is never reached, it means "outside" in a slot.
static EPOCH: CachePadded<AtomicU64> = CachePadded::new(AtomicU64::new(1));

/// All slots that were ever made, newest first. Slots are never freed; there are as many as threads ran waves at the same time.
static SLOTS: AtomicPtr<Slot> = AtomicPtr::new(ptr::null_mut());

#[derive(Debug)]
struct Slot {
    epoch: CachePadded<AtomicU64>,
    claimed: AtomicBool,
    next: *const Slot,
}

// SAFETY: `next` is written before the slot is published and points to a slot that lives for ever; the rest is atomic.
unsafe impl Sync for Slot {}

/// The calling thread's slot, given back when the thread ends.
struct Claim(Cell<Option<&'static Slot>>);

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(slot) = self.0.take() {
            slot.epoch.store(0, Ordering::SeqCst);
            // Pairs with the CAS in `claim`: the next owner sees epoch 0.
            slot.claimed.store(false, Ordering::Release);
        }
    }
}

thread_local! {
    static CLAIM: Claim = const { Claim(Cell::new(None)) };
}

/// Slots in the list.
fn slots() -> impl Iterator<Item = &'static Slot> {
    // Acquire pairs with the Release in `claim`, which publishes the slot's fields.
    let mut at = SLOTS.load(Ordering::Acquire).cast_const();
    std::iter::from_fn(move || {
        // SAFETY: the list holds null or pointers to leaked boxes.
        let slot: &'static Slot = unsafe { at.as_ref()? };
        at = slot.next;
        Some(slot)
    })
}

/// Claims a free slot, or makes one.
fn claim() -> &'static Slot {
    for slot in slots() {
        if !slot.claimed.load(Ordering::Relaxed)
            && slot
                .claimed
                .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
        {
            return slot;
        }
    }
    let mut head = SLOTS.load(Ordering::SeqCst);
    let slot = Box::leak(Box::new(Slot {
        epoch: CachePadded::new(AtomicU64::new(0)),
        claimed: AtomicBool::new(true),
        next: head,
    }));
    // SeqCst, so that a writer that misses the slot comes before its owner's first slice in the total order.
    while let Err(now) = SLOTS.compare_exchange(head, slot, Ordering::SeqCst, Ordering::SeqCst) {
        head = now;
        slot.next = head;
    }
    slot
}

/// A slice of the calling thread. While it lives, snapshots that were current at its start stay valid.
#[derive(Debug)]
pub struct Slice {
    slot: &'static Slot,
    /// Bound to the thread that owns the slot.
    _not_send: std::marker::PhantomData<*const ()>,
}

impl Slice {
    /// Begins a slice.
    ///
    /// # Panics
    /// If the thread is inside a slice already: that is a bug of the engine.
    pub fn enter() -> Slice {
        let slot = CLAIM.with(|mine| {
            mine.0.get().unwrap_or_else(|| {
                let slot = claim();
                mine.0.set(Some(slot));
                slot
            })
        });
        assert_eq!(
            slot.epoch.load(Ordering::Relaxed),
            0,
            "a slice within a slice"
        );
        // SeqCst: see the module's proof, step (a).
        slot.epoch
            .store(EPOCH.load(Ordering::SeqCst), Ordering::SeqCst);
        Slice {
            slot,
            _not_send: std::marker::PhantomData,
        }
    }
}

impl Drop for Slice {
    fn drop(&mut self) {
        // Release would do for the accesses of the slice; the writers' loads are SeqCst.
        self.slot.epoch.store(0, Ordering::Release);
    }
}

/// Begins a new epoch and returns it.
pub(super) fn advance() -> u64 {
    EPOCH.fetch_add(1, Ordering::SeqCst) + 1
}

/// The oldest epoch that a slice still runs in; the current one if there is none.
pub(super) fn oldest() -> u64 {
    let now = EPOCH.load(Ordering::SeqCst);
    slots()
        .map(|slot| slot.epoch.load(Ordering::SeqCst))
        .filter(|&epoch| epoch != 0)
        .min()
        .unwrap_or(now)
}

/// Waits until every slice that began before `epoch` has ended.
pub(super) fn wait_for(epoch: u64) {
    let own = CLAIM.try_with(|mine| mine.0.get()).ok().flatten();
    for slot in slots() {
        let mut turns = 0u32;
        loop {
            let seen = slot.epoch.load(Ordering::SeqCst);
            if seen == 0 || seen >= epoch {
                break;
            }
            assert!(
                !own.is_some_and(|own| ptr::eq(own, slot)),
                "a map was changed from within a slice"
            );
            turns += 1;
            if turns < 64 {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }
}
