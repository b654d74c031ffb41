//! The guest memory map: which host memory a device address means, for one GPU.
//!
//! A device pointer is the host address (delta 0), save for lock aliases. The map is read on every memory access of every
//! wave, through a small cache of the worker ([`MapCache`]); it is written only at allocation, freeing and access changes, and when
//! a page fault is served.
//!
//! Invariants:
//! * Mappings never overlap, and keep the exact length that the user asked for: an access past it finds nothing.
//! * Writers publish a new immutable snapshot under the writers' lock and then bump [`GuestMap::generation`].
//! * Readers take no lock. A thread that runs waves is inside a *slice* ([`epoch`]); it notices a new snapshot when the
//!   next slice begins. [`GuestMap::remove`] returns only when no slice can still use the old snapshot, so the caller may unmap.
//! * A thread inside a slice never takes anything out of a map (it would wait for itself); this is checked. It may add, as a
//!   [`Server`] does.
//!
//! Called by the allocator of the HSA runtime (insert, remove, find) and by the engine (caches).

pub mod cache;
pub mod epoch;
mod snapshot;

use std::{
    collections::VecDeque,
    fmt,
    ptr::NonNull,
    sync::{
        OnceLock,
        atomic::{AtomicPtr, AtomicU64, Ordering},
    },
};

use bitflags::bitflags;
use parking_lot::Mutex;

pub use cache::{LostAtomic, MapCache, MemoryFault};
pub(crate) use snapshot::Snapshot;

bitflags! {
    /// What the device may do with a mapping.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Rights: u8 {
        /// Loads.
        const READ = 1;
        /// Stores and atomics.
        const WRITE = 2;
        /// Instruction fetch.
        const EXECUTE = 4;
        /// No right but a lack: float atomics change nothing and give 0, as on fine-grained memory of GFX90A, while all other atomics
        /// work (AMD's tests of its atomics on coherent memory; `-munsafe-fp-atomics` in clang's manual).
        const LOSES_FLOAT_ATOMICS = 8;
    }
}

/// One mapping of a guest range to host memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// First guest address.
    pub base: u64,
    /// Length in bytes: the exact size that the user asked for, so that an access past it is a fault.
    pub len: u64,
    /// Host address of the first byte.
    pub host: *mut u8,
    /// Rights.
    pub rights: Rights,
    /// Number of the allocation, unique in the process, for fault reports.
    pub allocation: u64,
}

// SAFETY: the pointer is an address that the map hands out; whoever dereferences it answers for validity and races.
unsafe impl Send for Mapping {}
// SAFETY: as above; `&Mapping` gives no access to the memory by itself.
unsafe impl Sync for Mapping {}

/// What lies around an address, for fault reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Neighbourhood {
    /// The last mapping that begins at or before the address.
    pub before: Option<Mapping>,
    /// The first mapping that begins after the address.
    pub after: Option<Mapping>,
    /// The mapping that held the address most recently and was removed, if it is still remembered.
    pub freed: Option<Mapping>,
    /// The mapping whose bytes the host has at the address, while the device has them at another one (pinned host memory).
    pub pinned: Option<Mapping>,
}

/// How many removed mappings a map remembers for reports.
const REMEMBERED: usize = 1024;

/// State of the writers.
struct Writers {
    /// Removed mappings, newest last.
    freed: VecDeque<Mapping>,
    /// Old snapshots with the epoch from which no reader can hold them.
    retired: Vec<(u64, NonNull<Snapshot>)>,
}

// SAFETY: the pointers in `retired` are owned boxes that only the holder of the writers' lock touches.
unsafe impl Send for Writers {}

/// The memory map of one GPU.
pub struct GuestMap {
    /// The published snapshot. Stored with `SeqCst` under the writers' lock; loaded with `SeqCst` at the start of a slice: the pair
    /// with the epoch slots needs a total order (see [`epoch`]).
    current: AtomicPtr<Snapshot>,
    /// Counts publications, over all maps of the process, so that a cache cannot mix up two maps.
    generation: AtomicU64,
    writers: Mutex<Writers>,
    /// Who is asked for what the map does not have.
    server: OnceLock<Server>,
}

/// Makes an access possible that a map does not allow, if it can: address, and whether it writes. It is asked from within a slice, may
/// [insert](GuestMap::insert) and [grant](GuestMap::grant), and says whether the map is to be asked again.
pub type Server = Box<dyn Fn(&GuestMap, u64, bool) -> bool + Send + Sync>;

/// Source of generation numbers, shared by all maps.
static GENERATIONS: AtomicU64 = AtomicU64::new(1);

impl Default for GuestMap {
    fn default() -> Self {
        Self {
            current: AtomicPtr::new(Box::into_raw(Box::new(Snapshot::default()))),
            generation: AtomicU64::new(GENERATIONS.fetch_add(1, Ordering::Relaxed)),
            writers: Mutex::new(Writers {
                freed: VecDeque::new(),
                retired: Vec::new(),
            }),
            server: OnceLock::new(),
        }
    }
}

impl fmt::Debug for GuestMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuestMap")
            .field("generation", &self.generation())
            .field("mappings", &self.len())
            .finish()
    }
}

impl Drop for GuestMap {
    fn drop(&mut self) {
        // A reader holds a reference to the map (through its `Gpu`) for as long as its slice lasts, so none is left.
        let writers = self.writers.get_mut();
        let retired = writers
            .retired
            .drain(..)
            .map(|(_, snapshot)| snapshot.as_ptr());
        for snapshot in retired.chain([*self.current.get_mut()]) {
            // SAFETY: each snapshot was made by `Box::into_raw`, is owned by this map alone and no reader is left.
            drop(unsafe { Box::from_raw(snapshot) });
        }
    }
}

impl GuestMap {
    /// Number of the published snapshot; grows with every change and is unique over all maps.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::SeqCst)
    }

    /// Number of mappings.
    pub fn len(&self) -> usize {
        let _writers = self.writers.lock();
        self.locked().len()
    }

    /// Whether the map has no mapping.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The current snapshot; the caller holds the writers' lock, so nobody can retire it.
    fn locked(&self) -> &Snapshot {
        // SAFETY: `current` always points to a live box; it is replaced and freed only under the lock that the caller holds.
        unsafe { &*self.current.load(Ordering::SeqCst) }
    }

    /// The current snapshot, for a thread inside a slice: valid until the slice ends.
    pub(crate) fn current(&self) -> *const Snapshot {
        self.current.load(Ordering::SeqCst)
    }

    /// Publishes a snapshot and returns the epoch from which no reader can see the old one.
    fn publish(&self, writers: &mut Writers, next: Snapshot) -> u64 {
        let old = self
            .current
            .swap(Box::into_raw(Box::new(next)), Ordering::SeqCst);
        self.generation.store(
            GENERATIONS.fetch_add(1, Ordering::Relaxed),
            Ordering::SeqCst,
        );
        let epoch = epoch::advance();
        writers.retired.push((
            epoch,
            NonNull::new(old).expect("the map always has a snapshot"),
        ));
        Self::collect(writers);
        epoch
    }

    /// Frees the snapshots that no reader can hold.
    fn collect(writers: &mut Writers) {
        let oldest = epoch::oldest();
        writers.retired.retain(|&(epoch, snapshot)| {
            let in_use = epoch > oldest;
            if !in_use {
                // SAFETY: made by `Box::into_raw`, unpublished, and every slice now running began after that.
                drop(unsafe { Box::from_raw(snapshot.as_ptr()) });
            }
            in_use
        });
    }

    /// Adds a mapping; fails if it is empty, wraps around, or overlaps one that is there (that one is returned, or the argument).
    ///
    /// # Safety
    /// `mapping.host` must be valid for `mapping.len` bytes, with the stated rights, until the mapping is removed.
    pub unsafe fn insert(&self, mapping: Mapping) -> Result<(), Mapping> {
        if mapping.len == 0 || mapping.base.checked_add(mapping.len).is_none() {
            return Err(mapping);
        }
        let mut writers = self.writers.lock();
        let next = self.locked().with(mapping)?;
        self.publish(&mut writers, next);
        Ok(())
    }

    /// Removes the mapping that starts at `base`, and waits until no worker can still use it.
    pub fn remove(&self, base: u64) -> Option<Mapping> {
        let (epoch, removed) = {
            let mut writers = self.writers.lock();
            let (next, removed) = self.locked().without(base)?;
            let epoch = self.publish(&mut writers, next);
            if writers.freed.len() == REMEMBERED {
                writers.freed.pop_front();
            }
            writers.freed.push_back(removed);
            (epoch, removed)
        };
        epoch::wait_for(epoch);
        Some(removed)
    }

    /// Changes the rights of the mapping that starts at `base`, waits until no worker can use the old ones, and returns those.
    pub fn set_rights(&self, base: u64, rights: Rights) -> Option<Rights> {
        let (epoch, old) = {
            let mut writers = self.writers.lock();
            let (without, mut mapping) = self.locked().without(base)?;
            let old = std::mem::replace(&mut mapping.rights, rights);
            let next = without.with(mapping).ok()?;
            (self.publish(&mut writers, next), old)
        };
        epoch::wait_for(epoch);
        Some(old)
    }

    /// Gives the mapping that starts at `base` rights that it lacks. Nobody is waited for: who still has the old ones asks again.
    /// Whether it is there.
    pub fn grant(&self, base: u64, rights: Rights) -> bool {
        let mut writers = self.writers.lock();
        let Some((without, mut mapping)) = self.locked().without(base) else {
            return false;
        };
        mapping.rights |= rights;
        let Ok(next) = without.with(mapping) else {
            return false;
        };
        self.publish(&mut writers, next);
        true
    }

    /// Whoever is to be asked for what the map does not have: page faults that a GPU recovers from. Only the first one counts.
    pub fn serve_faults(&self, server: Server) {
        // One that is there stays: maps are given theirs when they are made.
        let _ = self.server.set(server);
    }

    /// Asks the server.
    fn serve(&self, address: u64, write: bool) -> bool {
        self.server
            .get()
            .is_some_and(|server| server(self, address, write))
    }

    /// The mapping that holds `address`, if any.
    pub fn find(&self, address: u64) -> Option<Mapping> {
        let _writers = self.writers.lock();
        self.locked().find(address).copied()
    }

    /// What lies around an address.
    pub fn neighbourhood(&self, address: u64) -> Neighbourhood {
        let writers = self.writers.lock();
        let snapshot = self.locked();
        let (before, after) = snapshot.around(address);
        let freed = writers
            .freed
            .iter()
            .rev()
            .find(|m| address.wrapping_sub(m.base) < m.len)
            .copied();
        let pinned = snapshot
            .iter()
            .find(|m| {
                let host = m.host.addr() as u64;
                host != m.base && address.wrapping_sub(host) < m.len
            })
            .copied();
        Neighbourhood {
            before,
            after,
            freed,
            pinned,
        }
    }
}

#[cfg(test)]
mod tests;
