//! Signals: cells of the public `amd_signal_t` layout in one reserved range of memory that all GPUs can address.
//!
//! The handle is the cell's address; a handle is valid if it is a cell of the range, so handles that come from packets or device
//! code are checked with two comparisons. The fields that AMD leaves reserved hold what waiting needs:
//!
//! | field | who changes it | meaning |
//! | --- | --- | --- |
//! | `kind` | create, destroy | user, doorbell, or invalid (free, or destroyed while somebody waits) |
//! | `value` | everybody, device code too | atomic |
//! | `event_mailbox_ptr`, `event_id` | create | 0 for signals whose waiters poll |
//! | `reserved1` | create, destroy, waiters | references; the cell is free again at 0 |
//! | `reserved3[0]` | whoever changes the value | sequence word that waiters sleep on |
//! | `reserved3[1]` | waiters | how many want to be told of changes |
//!
//! No wake-up is lost: see [`crate::protocol::sleep`].
//!
//! Signals between processes ([`ipc`]) are cells on pages of their own at the end of the range, which other processes map too: what
//! must not be shared of a cell is kept beside it.

pub(crate) mod ipc;

use std::{
    ptr::NonNull,
    sync::{
        LazyLock, OnceLock,
        atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering},
    },
};

use gneiss_hsa_api::*;
use parking_lot::Mutex;

use crate::{config, entry::HsaResult, memory::arena, protocol::sleep::SleepWord, sys, watch};

/// Most signals that can live at a time.
const CAPACITY: usize = 1 << 20;

/// Bytes of the range: cells, a page for the mailbox, the pages of signals between processes.
const RANGE: usize = CAPACITY * size_of::<Cell>() + (1 + ipc::CAPACITY) * arena::PAGE;

/// A cell with its fields as atomics. Same layout as [`amd_signal_t`].
#[repr(C, align(64))]
#[derive(Debug)]
pub(crate) struct Cell {
    kind: AtomicI64,
    value: AtomicI64,
    event_mailbox_ptr: AtomicU64,
    event_id: AtomicU32,
    references: AtomicU32,
    pub(crate) start_ts: AtomicU64,
    pub(crate) end_ts: AtomicU64,
    queue_ptr: AtomicU64,
    sleep: SleepWord,
}

const _: () = assert!(size_of::<Cell>() == size_of::<amd_signal_t>());

/// The range of all cells.
struct Pool {
    base: NonNull<Cell>,
    /// Address of the word that device code writes event ids to; nobody reads it, the interrupt carries the id.
    mailbox: u64,
    /// First of the pages for signals between processes.
    shared: u64,
    free: Mutex<Free>,
}

/// Cells that are not in use.
struct Free {
    list: Vec<u32>,
    /// Cells at and after this index have never been used.
    fresh: u32,
    live: usize,
}

// SAFETY: `base` is the start of a range that lives as long as the process; cells are atomics.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Sync for Pool {}

/// The pool, made at the first signal; `None` if the address space is exhausted.
fn pool() -> Option<&'static Pool> {
    static POOL: OnceLock<Option<Pool>> = OnceLock::new();
    POOL.get_or_init(|| {
        let bytes = CAPACITY * size_of::<Cell>();
        // Untouched pages cost nothing.
        let base = arena::reserve(RANGE).ok()?;
        let mailbox = base.as_ptr() as u64 + bytes as u64;
        Some(Pool {
            base: base.cast(),
            mailbox,
            shared: mailbox + arena::PAGE as u64,
            free: Mutex::new(Free {
                list: Vec::new(),
                fresh: 0,
                live: 0,
            }),
        })
    })
    .as_ref()
}

/// The range that every GPU maps: base and bytes.
pub(crate) fn range() -> HsaResult<(NonNull<u8>, usize)> {
    let pool = pool().ok_or(HSA_STATUS_ERROR_OUT_OF_RESOURCES)?;
    Ok((pool.base.cast(), RANGE))
}

/// Number of live signals.
pub(crate) fn live() -> usize {
    pool().map_or(0, |pool| pool.free.lock().live) + ipc::live()
}

/// The cell of a handle, whatever its kind.
pub(crate) fn cell(signal: hsa_signal_t) -> Option<&'static Cell> {
    let pool = pool()?;
    let offset = signal.handle.wrapping_sub(pool.base.as_ptr() as u64);
    if offset >= (CAPACITY * size_of::<Cell>()) as u64 {
        return ipc::cell(pool, signal);
    }
    if !offset.is_multiple_of(64) {
        return None;
    }
    // SAFETY: inside the range, aligned; the range is mapped for the life of the process and zeros are a valid cell.
    Some(unsafe { pool.base.add(offset as usize / 64).as_ref() })
}

/// The cell of a live signal of a user.
pub(crate) fn user(signal: hsa_signal_t) -> HsaResult<&'static Cell> {
    cell(signal)
        .filter(|cell| {
            cell.kind.load(Ordering::Acquire) == AMD_SIGNAL_KIND_USER
                && cell.local().is_none_or(|local| !local.destroyed())
        })
        .ok_or(HSA_STATUS_ERROR_INVALID_SIGNAL)
}

/// The cell of an event id that device code sent.
pub(crate) fn of_event(event_id: u32) -> Option<&'static Cell> {
    let index = event_id.checked_sub(1)? as usize;
    let pool = pool()?;
    if index >= CAPACITY {
        return None;
    }
    // SAFETY: as in `cell`.
    Some(unsafe { pool.base.add(index).as_ref() })
}

/// Makes a signal. `interrupt`: device code can wake its waiters; else, and with `HSA_ENABLE_INTERRUPT=0`, they poll.
pub(crate) fn create(value: i64, interrupt: bool) -> HsaResult<hsa_signal_t> {
    static ENABLED: LazyLock<bool> = LazyLock::new(|| config::flag("HSA_ENABLE_INTERRUPT", true));
    let interrupt = interrupt && *ENABLED;
    let (cell, index) = allocate()?;
    let pool = pool().ok_or(HSA_STATUS_ERROR_OUT_OF_RESOURCES)?;
    cell.value.store(value, Ordering::Relaxed);
    cell.event_mailbox_ptr
        .store(if interrupt { pool.mailbox } else { 0 }, Ordering::Relaxed);
    cell.event_id
        .store(if interrupt { index + 1 } else { 0 }, Ordering::Relaxed);
    cell.kind.store(AMD_SIGNAL_KIND_USER, Ordering::Release);
    Ok(cell.handle())
}

/// Makes the doorbell of a queue: `value` holds the address of the doorbell's word, and the sequence word the queue's slot.
pub(crate) fn create_doorbell(word: u64, queue: u64, slot: u32) -> HsaResult<hsa_signal_t> {
    let (cell, _) = allocate()?;
    cell.value.store(word.cast_signed(), Ordering::Relaxed);
    cell.queue_ptr.store(queue, Ordering::Relaxed);
    cell.sleep.word().store(slot, Ordering::Relaxed);
    cell.kind.store(AMD_SIGNAL_KIND_DOORBELL, Ordering::Release);
    Ok(cell.handle())
}

/// Takes a free cell with one reference.
fn allocate() -> HsaResult<(&'static Cell, u32)> {
    let pool = pool().ok_or(HSA_STATUS_ERROR_OUT_OF_RESOURCES)?;
    let index = {
        let mut free = pool.free.lock();
        let index = match free.list.pop() {
            Some(index) => index,
            None if (free.fresh as usize) < CAPACITY => {
                free.fresh += 1;
                free.fresh - 1
            }
            None => return Err(HSA_STATUS_ERROR_OUT_OF_RESOURCES),
        };
        free.live += 1;
        index
    };
    // SAFETY: as in `cell`.
    let cell = unsafe { pool.base.add(index as usize).as_ref() };
    cell.event_mailbox_ptr.store(0, Ordering::Relaxed);
    cell.event_id.store(0, Ordering::Relaxed);
    cell.start_ts.store(0, Ordering::Relaxed);
    cell.end_ts.store(0, Ordering::Relaxed);
    cell.queue_ptr.store(0, Ordering::Relaxed);
    cell.sleep.reset();
    cell.references.store(1, Ordering::Relaxed);
    Ok((cell, index))
}

/// Destroys a signal: whoever waits sees value 0 and stops; the cell is free when the last of them has left.
pub(crate) fn destroy(signal: hsa_signal_t) -> HsaResult {
    let cell = cell(signal).ok_or(HSA_STATUS_ERROR_INVALID_SIGNAL)?;
    if let Some(local) = cell.local() {
        return ipc::destroy(cell, local);
    }
    if cell
        .kind
        .compare_exchange(
            AMD_SIGNAL_KIND_USER,
            AMD_SIGNAL_KIND_INVALID,
            Ordering::SeqCst,
            Ordering::Relaxed,
        )
        .is_err()
    {
        return Err(HSA_STATUS_ERROR_INVALID_SIGNAL);
    }
    cell.value.store(0, Ordering::SeqCst);
    cell.changed();
    cell.release();
    Ok(())
}

/// Destroys the doorbell of a queue.
pub(crate) fn destroy_doorbell(signal: hsa_signal_t) {
    if let Some(cell) = cell(signal) {
        cell.kind.store(AMD_SIGNAL_KIND_INVALID, Ordering::SeqCst);
        cell.release();
    }
}

/// A reference that keeps a cell from being used again.
#[derive(Debug)]
pub(crate) struct Held(&'static Cell);

impl std::ops::Deref for Held {
    type Target = Cell;
    fn deref(&self) -> &Cell {
        self.0
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.release();
    }
}

impl Cell {
    /// The handle of this cell.
    pub(crate) fn handle(&self) -> hsa_signal_t {
        hsa_signal_t {
            handle: std::ptr::from_ref(self) as u64,
        }
    }

    /// Keeps the cell for as long as the result lives.
    pub(crate) fn hold(&'static self) -> Held {
        match self.local() {
            None => self.references.fetch_add(1, Ordering::Relaxed),
            Some(local) => local.hold(),
        };
        Held(self)
    }

    /// What this process keeps beside a cell that other processes share.
    fn local(&self) -> Option<&'static ipc::Local> {
        ipc::local(self.handle())
    }

    fn release(&self) {
        if let Some(local) = self.local() {
            ipc::release(self.handle(), local);
            return;
        }
        if self.references.fetch_sub(1, Ordering::AcqRel) == 1
            && let Some(pool) = pool()
        {
            let index = (self.handle().handle - pool.base.as_ptr() as u64) / 64;
            let mut free = pool.free.lock();
            free.list.push(index as u32);
            free.live -= 1;
        }
    }

    /// Whether it has been destroyed.
    pub(crate) fn destroyed(&self) -> bool {
        match self.local() {
            None => self.kind.load(Ordering::Acquire) == AMD_SIGNAL_KIND_INVALID,
            Some(local) => local.destroyed(),
        }
    }

    /// Whether device code changes it without telling, so that waiters must look again now and then.
    pub(crate) fn polled(&self) -> bool {
        self.event_mailbox_ptr.load(Ordering::Relaxed) == 0
    }

    /// The value.
    pub(crate) fn load(&self, order: Ordering) -> i64 {
        self.value.load(order)
    }

    /// Stores a value without waking anybody.
    pub(crate) fn store_silently(&self, value: i64, order: Ordering) {
        self.value.store(value, order);
    }

    /// Changes the value with one atomic operation and wakes whoever waits. The operation must be sequentially consistent: it is
    /// the writer's half of the protocol at the top of this file.
    pub(crate) fn update<R>(&self, operation: impl FnOnce(&AtomicI64) -> R) -> R {
        let result = operation(&self.value);
        self.changed();
        result
    }

    /// Subtracts 1, as the end of a packet or copy does.
    pub(crate) fn complete(&self) {
        self.update(|value| value.fetch_sub(1, Ordering::SeqCst));
    }

    /// Tells whoever waits that the value has changed.
    pub(crate) fn changed(&self) {
        if self.sleep.watched() {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        self.sleep.bump();
        sys::futex_wake(self.sleep.word());
        watch::notify(self.handle());
    }

    /// Declares that somebody wants to be told of changes; look at the value after this.
    pub(crate) fn enlist(&self) {
        self.sleep.enlist();
    }

    /// Takes `count` declarations back.
    pub(crate) fn resign(&self, count: u32) {
        self.sleep.resign(count);
    }

    /// The word to sleep on while it keeps its value.
    pub(crate) fn sequence(&self) -> &AtomicU32 {
        self.sleep.word()
    }

    /// Address of the value, for clients that write it themselves.
    pub(crate) fn value_address(&self) -> *mut i64 {
        self.value.as_ptr()
    }

    /// For a doorbell: the word to store to, the queue's address and its slot.
    pub(crate) fn doorbell(&self) -> Option<(u64, u64, u32)> {
        (self.kind.load(Ordering::Acquire) == AMD_SIGNAL_KIND_DOORBELL).then(|| {
            (
                self.value.load(Ordering::Relaxed).cast_unsigned(),
                self.queue_ptr.load(Ordering::Relaxed),
                self.sleep.word().load(Ordering::Relaxed),
            )
        })
    }
}

/// Whether a value meets a condition; `None` for a condition that does not exist.
pub(crate) fn met(condition: hsa_signal_condition_t, value: i64, compare: i64) -> Option<bool> {
    Some(match condition {
        HSA_SIGNAL_CONDITION_EQ => value == compare,
        HSA_SIGNAL_CONDITION_NE => value != compare,
        HSA_SIGNAL_CONDITION_LT => value < compare,
        HSA_SIGNAL_CONDITION_GTE => value >= compare,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_checked() {
        let signal = create(7, true).expect("memory");
        assert_eq!(user(signal).expect("valid").load(Ordering::Relaxed), 7);
        for handle in [0, signal.handle + 8, u64::MAX, 0x1000] {
            assert!(user(hsa_signal_t { handle }).is_err(), "{handle:#x}");
        }
        destroy(signal).expect("valid");
        assert_eq!(destroy(signal), Err(HSA_STATUS_ERROR_INVALID_SIGNAL));
    }

    #[test]
    fn a_held_cell_is_not_used_again() {
        let signal = create(1, true).expect("memory");
        let held = user(signal).expect("valid").hold();
        destroy(signal).expect("valid");
        assert!(held.destroyed());
        assert_eq!(held.load(Ordering::Relaxed), 0);
        let others: Vec<_> = (0..64).map(|_| create(1, false).expect("memory")).collect();
        assert!(others.iter().all(|other| other.handle != signal.handle));
        drop(held);
        for other in others {
            destroy(other).expect("valid");
        }
    }

    #[test]
    fn event_ids_lead_back_to_the_cell() {
        let signal = create(3, true).expect("memory");
        let id = user(signal)
            .expect("valid")
            .event_id
            .load(Ordering::Relaxed);
        assert_eq!(of_event(id).expect("valid").handle(), signal);
        assert!(of_event(0).is_none() && of_event(u32::MAX).is_none());
        destroy(signal).expect("valid");
    }

    #[test]
    fn conditions() {
        assert_eq!(met(HSA_SIGNAL_CONDITION_LT, -1, 0), Some(true));
        assert_eq!(met(HSA_SIGNAL_CONDITION_GTE, -1, 0), Some(false));
        assert_eq!(met(HSA_SIGNAL_CONDITION_EQ, 4, 4), Some(true));
        assert_eq!(met(HSA_SIGNAL_CONDITION_NE, 4, 4), Some(false));
        assert_eq!(met(9, 0, 0), None);
    }
}
