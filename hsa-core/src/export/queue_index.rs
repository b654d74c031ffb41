//! Read and write indexes of queues, in every memory order. For speed nothing is checked, as in ROCr: the queue must be valid.

use std::{
    cell::Cell,
    mem::offset_of,
    sync::atomic::{AtomicU64, Ordering},
};

use gneiss_hsa_api::*;

/// The write index.
///
/// # Safety
/// `queue` is a live queue of this runtime.
unsafe fn write_index<'a>(queue: *const hsa_queue_t) -> &'a AtomicU64 {
    // SAFETY: every queue is the start of an `amd_queue_t`, whose indexes everybody accesses as atomics.
    unsafe {
        AtomicU64::from_ptr(
            queue
                .cast_mut()
                .byte_add(offset_of!(amd_queue_t, write_dispatch_id))
                .cast(),
        )
    }
}

/// The read index.
///
/// # Safety
/// As [`write_index`].
unsafe fn read_index<'a>(queue: *const hsa_queue_t) -> &'a AtomicU64 {
    // SAFETY: as in `write_index`.
    unsafe {
        AtomicU64::from_ptr(
            queue
                .cast_mut()
                .byte_add(offset_of!(amd_queue_t, read_dispatch_id))
                .cast(),
        )
    }
}

/// Exchanges the write index if it is as expected; the value before. A producer that has lost so often that it must be waiting for
/// others lets them run: with more producers than processors it would spin for its whole time slice otherwise.
///
/// # Safety
/// As [`write_index`].
unsafe fn compare_exchange(
    queue: *const hsa_queue_t,
    expected: u64,
    value: u64,
    success: Ordering,
    failure: Ordering,
) -> u64 {
    /// Losses of a thread between two times that it gives way.
    const LOSSES: u32 = 16;
    thread_local! {
        static LOST: Cell<u32> = const { Cell::new(0) };
    }
    // SAFETY: the caller's promise.
    let index = unsafe { write_index(queue) };
    match index.compare_exchange(expected, value, success, failure) {
        Ok(before) => before,
        Err(found) => {
            let lost = LOST.get().wrapping_add(1);
            LOST.set(lost);
            if lost.is_multiple_of(LOSSES) {
                std::thread::yield_now();
            }
            found
        }
    }
}

pub unsafe extern "C" fn hsa_queue_load_read_index_relaxed(queue: *const hsa_queue_t) -> u64 {
    // SAFETY: the caller passes a live queue.
    unsafe { read_index(queue).load(Ordering::Relaxed) }
}

pub unsafe extern "C" fn hsa_queue_load_read_index_scacquire(queue: *const hsa_queue_t) -> u64 {
    // SAFETY: the caller passes a live queue.
    unsafe { read_index(queue).load(Ordering::Acquire) }
}

pub unsafe extern "C" fn hsa_queue_load_read_index_acquire(queue: *const hsa_queue_t) -> u64 {
    // SAFETY: the caller passes a live queue.
    unsafe { read_index(queue).load(Ordering::Acquire) }
}

pub unsafe extern "C" fn hsa_queue_store_read_index_relaxed(queue: *const hsa_queue_t, value: u64) {
    // SAFETY: the caller passes a live queue.
    unsafe { read_index(queue).store(value, Ordering::Relaxed) }
}

pub unsafe extern "C" fn hsa_queue_store_read_index_screlease(
    queue: *const hsa_queue_t,
    value: u64,
) {
    // SAFETY: the caller passes a live queue.
    unsafe { read_index(queue).store(value, Ordering::Release) }
}

pub unsafe extern "C" fn hsa_queue_store_read_index_release(queue: *const hsa_queue_t, value: u64) {
    // SAFETY: the caller passes a live queue.
    unsafe { read_index(queue).store(value, Ordering::Release) }
}

pub unsafe extern "C" fn hsa_queue_load_write_index_relaxed(queue: *const hsa_queue_t) -> u64 {
    // SAFETY: the caller passes a live queue.
    unsafe { write_index(queue).load(Ordering::Relaxed) }
}

pub unsafe extern "C" fn hsa_queue_load_write_index_scacquire(queue: *const hsa_queue_t) -> u64 {
    // SAFETY: the caller passes a live queue.
    unsafe { write_index(queue).load(Ordering::Acquire) }
}

pub unsafe extern "C" fn hsa_queue_load_write_index_acquire(queue: *const hsa_queue_t) -> u64 {
    // SAFETY: the caller passes a live queue.
    unsafe { write_index(queue).load(Ordering::Acquire) }
}

pub unsafe extern "C" fn hsa_queue_store_write_index_relaxed(
    queue: *const hsa_queue_t,
    value: u64,
) {
    // SAFETY: the caller passes a live queue.
    unsafe { write_index(queue).store(value, Ordering::Relaxed) }
}

pub unsafe extern "C" fn hsa_queue_store_write_index_screlease(
    queue: *const hsa_queue_t,
    value: u64,
) {
    // SAFETY: the caller passes a live queue.
    unsafe { write_index(queue).store(value, Ordering::Release) }
}

pub unsafe extern "C" fn hsa_queue_store_write_index_release(
    queue: *const hsa_queue_t,
    value: u64,
) {
    // SAFETY: the caller passes a live queue.
    unsafe { write_index(queue).store(value, Ordering::Release) }
}

pub unsafe extern "C" fn hsa_queue_add_write_index_relaxed(
    queue: *const hsa_queue_t,
    value: u64,
) -> u64 {
    // SAFETY: the caller passes a live queue.
    unsafe { write_index(queue).fetch_add(value, Ordering::Relaxed) }
}

pub unsafe extern "C" fn hsa_queue_add_write_index_scacquire(
    queue: *const hsa_queue_t,
    value: u64,
) -> u64 {
    // SAFETY: the caller passes a live queue.
    unsafe { write_index(queue).fetch_add(value, Ordering::Acquire) }
}

pub unsafe extern "C" fn hsa_queue_add_write_index_screlease(
    queue: *const hsa_queue_t,
    value: u64,
) -> u64 {
    // SAFETY: the caller passes a live queue.
    unsafe { write_index(queue).fetch_add(value, Ordering::Release) }
}

pub unsafe extern "C" fn hsa_queue_add_write_index_scacq_screl(
    queue: *const hsa_queue_t,
    value: u64,
) -> u64 {
    // SAFETY: the caller passes a live queue.
    unsafe { write_index(queue).fetch_add(value, Ordering::AcqRel) }
}

pub unsafe extern "C" fn hsa_queue_add_write_index_acquire(
    queue: *const hsa_queue_t,
    value: u64,
) -> u64 {
    // SAFETY: the caller passes a live queue.
    unsafe { write_index(queue).fetch_add(value, Ordering::Acquire) }
}

pub unsafe extern "C" fn hsa_queue_add_write_index_release(
    queue: *const hsa_queue_t,
    value: u64,
) -> u64 {
    // SAFETY: the caller passes a live queue.
    unsafe { write_index(queue).fetch_add(value, Ordering::Release) }
}

pub unsafe extern "C" fn hsa_queue_add_write_index_acq_rel(
    queue: *const hsa_queue_t,
    value: u64,
) -> u64 {
    // SAFETY: the caller passes a live queue.
    unsafe { write_index(queue).fetch_add(value, Ordering::AcqRel) }
}

pub unsafe extern "C" fn hsa_queue_cas_write_index_relaxed(
    queue: *const hsa_queue_t,
    expected: u64,
    value: u64,
) -> u64 {
    // SAFETY: the caller passes a live queue.
    unsafe { compare_exchange(queue, expected, value, Ordering::Relaxed, Ordering::Relaxed) }
}

pub unsafe extern "C" fn hsa_queue_cas_write_index_scacquire(
    queue: *const hsa_queue_t,
    expected: u64,
    value: u64,
) -> u64 {
    // SAFETY: the caller passes a live queue.
    unsafe { compare_exchange(queue, expected, value, Ordering::Acquire, Ordering::Acquire) }
}

pub unsafe extern "C" fn hsa_queue_cas_write_index_screlease(
    queue: *const hsa_queue_t,
    expected: u64,
    value: u64,
) -> u64 {
    // SAFETY: the caller passes a live queue.
    unsafe { compare_exchange(queue, expected, value, Ordering::Release, Ordering::Relaxed) }
}

pub unsafe extern "C" fn hsa_queue_cas_write_index_scacq_screl(
    queue: *const hsa_queue_t,
    expected: u64,
    value: u64,
) -> u64 {
    // SAFETY: the caller passes a live queue.
    unsafe { compare_exchange(queue, expected, value, Ordering::AcqRel, Ordering::Acquire) }
}

pub unsafe extern "C" fn hsa_queue_cas_write_index_acquire(
    queue: *const hsa_queue_t,
    expected: u64,
    value: u64,
) -> u64 {
    // SAFETY: the caller passes a live queue.
    unsafe { compare_exchange(queue, expected, value, Ordering::Acquire, Ordering::Acquire) }
}

pub unsafe extern "C" fn hsa_queue_cas_write_index_release(
    queue: *const hsa_queue_t,
    expected: u64,
    value: u64,
) -> u64 {
    // SAFETY: the caller passes a live queue.
    unsafe { compare_exchange(queue, expected, value, Ordering::Release, Ordering::Relaxed) }
}

pub unsafe extern "C" fn hsa_queue_cas_write_index_acq_rel(
    queue: *const hsa_queue_t,
    expected: u64,
    value: u64,
) -> u64 {
    // SAFETY: the caller passes a live queue.
    unsafe { compare_exchange(queue, expected, value, Ordering::AcqRel, Ordering::Acquire) }
}
