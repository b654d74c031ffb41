//! Signals between processes: each is a cell at the start of a page of its own, which is a memfd that other processes map.
//!
//! Its value, its sequence word and the count of who wants to be told are shared. How many references this process has, and whether
//! it has destroyed its signal, are this process's own and lie in [`Local`]; another process's signal lives on. Waiters look
//! again now and then: a device of another process tells nobody here.

use std::{
    os::fd::{AsFd, OwnedFd},
    ptr::NonNull,
    sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering},
};

use gneiss_hsa_api::*;
use parking_lot::Mutex;

use super::{Cell, Pool, pool};
use crate::{
    entry::HsaResult,
    ipc::Handle,
    memory::{arena::PAGE, share},
};

/// Most signals between processes that one process has at a time.
pub(super) const CAPACITY: usize = 4096;

/// Name of the memfds.
const NAME: &str = "signal";

/// What this process keeps of a cell.
#[derive(Debug)]
pub(super) struct Local {
    references: AtomicU32,
    destroyed: AtomicBool,
    /// The page, for as long as a reference lives.
    file: Mutex<Option<OwnedFd>>,
}

static LOCAL: [Local; CAPACITY] = [const {
    Local {
        references: AtomicU32::new(0),
        destroyed: AtomicBool::new(true),
        file: Mutex::new(None),
    }
}; CAPACITY];

/// Places that are not in use, and the first that never was.
static FREE: Mutex<(Vec<usize>, usize)> = Mutex::new((Vec::new(), 0));
static LIVE: AtomicUsize = AtomicUsize::new(0);

/// Number of live signals between processes.
pub(super) fn live() -> usize {
    LIVE.load(Ordering::Relaxed)
}

fn place(pool: &Pool, signal: hsa_signal_t) -> Option<usize> {
    let offset = signal.handle.checked_sub(pool.shared)? as usize;
    (offset.is_multiple_of(PAGE) && offset / PAGE < CAPACITY).then_some(offset / PAGE)
}

/// The cell of a handle that lies in the pages of this module.
pub(super) fn cell(pool: &Pool, signal: hsa_signal_t) -> Option<&'static Cell> {
    place(pool, signal)?;
    let cell = NonNull::new(signal.handle as *mut Cell)?;
    // SAFETY: the start of a page of the range, which is mapped for the life of the process; zeros are a valid cell.
    Some(unsafe { cell.as_ref() })
}

/// What this process keeps of a cell; `None` for a cell that no other process shares.
pub(super) fn local(signal: hsa_signal_t) -> Option<&'static Local> {
    Some(&LOCAL[place(pool()?, signal)?])
}

impl Local {
    pub(super) fn hold(&self) -> u32 {
        self.references.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn destroyed(&self) -> bool {
        self.destroyed.load(Ordering::Acquire)
    }
}

/// Maps a page with a cell and gives it one reference.
fn map(file: OwnedFd) -> HsaResult<&'static Cell> {
    let pool = pool().ok_or(HSA_STATUS_ERROR_OUT_OF_RESOURCES)?;
    let place = {
        let mut free = FREE.lock();
        match free.0.pop() {
            Some(place) => place,
            None if free.1 < CAPACITY => {
                free.1 += 1;
                free.1 - 1
            }
            None => return Err(HSA_STATUS_ERROR_OUT_OF_RESOURCES),
        }
    };
    let address = (pool.shared as usize + place * PAGE) as *mut u8;
    let page = NonNull::new(address).ok_or(HSA_STATUS_ERROR_OUT_OF_RESOURCES)?;
    // SAFETY: the page is of the range, and the place was free: nobody uses it.
    if let Err(error) = unsafe { share::map_over(file.as_fd(), 0, PAGE, page) } {
        tracing::warn!(%error, "the page of a signal cannot be mapped");
        FREE.lock().0.push(place);
        return Err(HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    }
    let local = &LOCAL[place];
    *local.file.lock() = Some(file);
    local.references.store(1, Ordering::Relaxed);
    local.destroyed.store(false, Ordering::Release);
    LIVE.fetch_add(1, Ordering::Relaxed);
    // SAFETY: as in `cell`.
    Ok(unsafe { page.cast::<Cell>().as_ref() })
}

/// Makes a signal that other processes can attach.
pub(crate) fn create(value: i64) -> HsaResult<hsa_signal_t> {
    let file = share::file(NAME, PAGE as u64).map_err(|error| {
        tracing::warn!(%error, "no file for a signal between processes");
        HSA_STATUS_ERROR_OUT_OF_RESOURCES
    })?;
    let cell = map(file)?;
    cell.value.store(value, Ordering::Relaxed);
    cell.kind.store(AMD_SIGNAL_KIND_USER, Ordering::Release);
    Ok(cell.handle())
}

/// The handle of a signal for other processes.
pub(crate) fn export(signal: hsa_signal_t) -> HsaResult<Handle> {
    super::user(signal)?;
    let local = local(signal).ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
    let file = local.file.lock();
    let file = file.as_ref().ok_or(HSA_STATUS_ERROR_INVALID_SIGNAL)?;
    Handle::new(file.as_fd(), PAGE as u64, 0).map_err(|_| HSA_STATUS_ERROR_OUT_OF_RESOURCES)
}

/// Attaches a signal of another process.
pub(crate) fn attach(handle: Handle) -> HsaResult<hsa_signal_t> {
    Ok(map(handle.open(NAME)?)?.handle())
}

/// Destroys this process's signal.
pub(super) fn destroy(cell: &Cell, local: &Local) -> HsaResult {
    if local.destroyed.swap(true, Ordering::SeqCst) {
        return Err(HSA_STATUS_ERROR_INVALID_SIGNAL);
    }
    // Who waits here looks and sees that it is over; the value is the other processes' too and stays.
    cell.wake();
    cell.release();
    Ok(())
}

/// Takes a reference back; with the last the page goes.
pub(super) fn release(signal: hsa_signal_t, local: &Local) {
    if local.references.fetch_sub(1, Ordering::AcqRel) != 1 {
        return;
    }
    let Some(page) = NonNull::new(signal.handle as *mut u8) else {
        return;
    };
    let Some(place) = pool().and_then(|pool| place(pool, signal)) else {
        return;
    };
    // SAFETY: the last reference is gone, so nobody uses the page; private zeros take its place.
    if let Err(error) = unsafe { share::unshare(page, PAGE, true) } {
        tracing::error!(%error, "the page of a signal cannot be taken back: it is not used again");
        return;
    }
    *local.file.lock() = None;
    LIVE.fetch_sub(1, Ordering::Relaxed);
    FREE.lock().0.push(place);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::{destroy, user};

    #[test]
    fn attached_signals_are_one_signal_with_lives_of_their_own() {
        let first = create(5).expect("memory");
        let second = attach(export(first).expect("shared")).expect("attached");
        assert_ne!(first.handle, second.handle);
        let (a, b) = (user(first).expect("live"), user(second).expect("live"));
        a.update(|value| value.fetch_sub(2, Ordering::SeqCst));
        assert_eq!(b.load(Ordering::SeqCst), 3);
        assert!(a.polled() && b.polled());
        destroy(first).expect("live");
        assert_eq!(destroy(first), Err(HSA_STATUS_ERROR_INVALID_SIGNAL));
        assert!(user(first).is_err());
        assert_eq!(b.load(Ordering::SeqCst), 3, "the other one lives on");
        destroy(second).expect("live");
    }

    #[test]
    fn a_signal_of_this_process_alone_has_no_handle() {
        let signal = crate::signal::create(1, true).expect("memory");
        assert_eq!(export(signal), Err(HSA_STATUS_ERROR_INVALID_ARGUMENT));
        destroy(signal).expect("live");
    }
}
