//! Operations on signals, in every memory order. An operation that changes the value is sequentially consistent whatever its name asks
//! for: that no wake-up is lost depends on it (see [`crate::signal`]), and a read-modify-write costs the same on x86-64.

use std::sync::atomic::{AtomicI64, Ordering};

use gneiss_hsa_api::*;

use crate::{queue, signal};

/// Changes a user's signal and wakes its waiters; a handle that is no such signal is logged and left alone.
fn change(signal: hsa_signal_t, operation: impl FnOnce(&AtomicI64) -> i64) -> i64 {
    match signal::user(signal) {
        Ok(cell) => cell.update(operation),
        Err(_) => {
            tracing::error!(?signal, "operation on an invalid signal");
            0
        }
    }
}

/// Stores to a signal or rings a doorbell.
fn store(signal: hsa_signal_t, value: i64) {
    match signal::user(signal) {
        Ok(cell) => cell.update(|cell| cell.store(value, Ordering::SeqCst)),
        Err(_) => match signal::cell(signal) {
            Some(cell) => queue::ring(cell, value),
            None => tracing::error!(?signal, "store to an invalid signal"),
        },
    }
}

fn load(signal: hsa_signal_t, order: Ordering) -> i64 {
    match signal::user(signal) {
        Ok(cell) => cell.load(order),
        Err(_) => {
            tracing::error!(?signal, "load of an invalid signal");
            0
        }
    }
}

fn store_silently(signal: hsa_signal_t, value: i64, order: Ordering) {
    match signal::user(signal) {
        Ok(cell) => cell.store_silently(value, order),
        Err(_) => tracing::error!(?signal, "store to an invalid signal"),
    }
}

pub unsafe extern "C" fn hsa_signal_load_relaxed(signal: hsa_signal_t) -> hsa_signal_value_t {
    load(signal, Ordering::Relaxed)
}

pub unsafe extern "C" fn hsa_signal_load_scacquire(signal: hsa_signal_t) -> hsa_signal_value_t {
    load(signal, Ordering::Acquire)
}

pub unsafe extern "C" fn hsa_signal_load_acquire(signal: hsa_signal_t) -> hsa_signal_value_t {
    load(signal, Ordering::Acquire)
}

pub unsafe extern "C" fn hsa_signal_store_relaxed(signal: hsa_signal_t, value: hsa_signal_value_t) {
    store(signal, value);
}

pub unsafe extern "C" fn hsa_signal_store_screlease(
    signal: hsa_signal_t,
    value: hsa_signal_value_t,
) {
    store(signal, value);
}

pub unsafe extern "C" fn hsa_signal_store_release(signal: hsa_signal_t, value: hsa_signal_value_t) {
    store(signal, value);
}

pub unsafe extern "C" fn hsa_signal_silent_store_relaxed(
    signal: hsa_signal_t,
    value: hsa_signal_value_t,
) {
    store_silently(signal, value, Ordering::Relaxed);
}

pub unsafe extern "C" fn hsa_signal_silent_store_screlease(
    signal: hsa_signal_t,
    value: hsa_signal_value_t,
) {
    store_silently(signal, value, Ordering::Release);
}

pub unsafe extern "C" fn hsa_signal_exchange_relaxed(
    signal: hsa_signal_t,
    value: hsa_signal_value_t,
) -> hsa_signal_value_t {
    change(signal, |cell| cell.swap(value, Ordering::SeqCst))
}

pub unsafe extern "C" fn hsa_signal_exchange_scacquire(
    signal: hsa_signal_t,
    value: hsa_signal_value_t,
) -> hsa_signal_value_t {
    change(signal, |cell| cell.swap(value, Ordering::SeqCst))
}

pub unsafe extern "C" fn hsa_signal_exchange_screlease(
    signal: hsa_signal_t,
    value: hsa_signal_value_t,
) -> hsa_signal_value_t {
    change(signal, |cell| cell.swap(value, Ordering::SeqCst))
}

pub unsafe extern "C" fn hsa_signal_exchange_scacq_screl(
    signal: hsa_signal_t,
    value: hsa_signal_value_t,
) -> hsa_signal_value_t {
    change(signal, |cell| cell.swap(value, Ordering::SeqCst))
}

pub unsafe extern "C" fn hsa_signal_exchange_acquire(
    signal: hsa_signal_t,
    value: hsa_signal_value_t,
) -> hsa_signal_value_t {
    change(signal, |cell| cell.swap(value, Ordering::SeqCst))
}

pub unsafe extern "C" fn hsa_signal_exchange_release(
    signal: hsa_signal_t,
    value: hsa_signal_value_t,
) -> hsa_signal_value_t {
    change(signal, |cell| cell.swap(value, Ordering::SeqCst))
}

pub unsafe extern "C" fn hsa_signal_exchange_acq_rel(
    signal: hsa_signal_t,
    value: hsa_signal_value_t,
) -> hsa_signal_value_t {
    change(signal, |cell| cell.swap(value, Ordering::SeqCst))
}

pub unsafe extern "C" fn hsa_signal_cas_relaxed(
    signal: hsa_signal_t,
    expected: hsa_signal_value_t,
    value: hsa_signal_value_t,
) -> hsa_signal_value_t {
    change(signal, |cell| {
        cell.compare_exchange(expected, value, Ordering::SeqCst, Ordering::SeqCst)
            .unwrap_or_else(|found| found)
    })
}

pub unsafe extern "C" fn hsa_signal_cas_scacquire(
    signal: hsa_signal_t,
    expected: hsa_signal_value_t,
    value: hsa_signal_value_t,
) -> hsa_signal_value_t {
    change(signal, |cell| {
        cell.compare_exchange(expected, value, Ordering::SeqCst, Ordering::SeqCst)
            .unwrap_or_else(|found| found)
    })
}

pub unsafe extern "C" fn hsa_signal_cas_screlease(
    signal: hsa_signal_t,
    expected: hsa_signal_value_t,
    value: hsa_signal_value_t,
) -> hsa_signal_value_t {
    change(signal, |cell| {
        cell.compare_exchange(expected, value, Ordering::SeqCst, Ordering::SeqCst)
            .unwrap_or_else(|found| found)
    })
}

pub unsafe extern "C" fn hsa_signal_cas_scacq_screl(
    signal: hsa_signal_t,
    expected: hsa_signal_value_t,
    value: hsa_signal_value_t,
) -> hsa_signal_value_t {
    change(signal, |cell| {
        cell.compare_exchange(expected, value, Ordering::SeqCst, Ordering::SeqCst)
            .unwrap_or_else(|found| found)
    })
}

pub unsafe extern "C" fn hsa_signal_cas_acquire(
    signal: hsa_signal_t,
    expected: hsa_signal_value_t,
    value: hsa_signal_value_t,
) -> hsa_signal_value_t {
    change(signal, |cell| {
        cell.compare_exchange(expected, value, Ordering::SeqCst, Ordering::SeqCst)
            .unwrap_or_else(|found| found)
    })
}

pub unsafe extern "C" fn hsa_signal_cas_release(
    signal: hsa_signal_t,
    expected: hsa_signal_value_t,
    value: hsa_signal_value_t,
) -> hsa_signal_value_t {
    change(signal, |cell| {
        cell.compare_exchange(expected, value, Ordering::SeqCst, Ordering::SeqCst)
            .unwrap_or_else(|found| found)
    })
}

pub unsafe extern "C" fn hsa_signal_cas_acq_rel(
    signal: hsa_signal_t,
    expected: hsa_signal_value_t,
    value: hsa_signal_value_t,
) -> hsa_signal_value_t {
    change(signal, |cell| {
        cell.compare_exchange(expected, value, Ordering::SeqCst, Ordering::SeqCst)
            .unwrap_or_else(|found| found)
    })
}

pub unsafe extern "C" fn hsa_signal_add_relaxed(signal: hsa_signal_t, value: hsa_signal_value_t) {
    change(signal, |cell| cell.fetch_add(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_add_scacquire(signal: hsa_signal_t, value: hsa_signal_value_t) {
    change(signal, |cell| cell.fetch_add(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_add_screlease(signal: hsa_signal_t, value: hsa_signal_value_t) {
    change(signal, |cell| cell.fetch_add(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_add_scacq_screl(
    signal: hsa_signal_t,
    value: hsa_signal_value_t,
) {
    change(signal, |cell| cell.fetch_add(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_add_acquire(signal: hsa_signal_t, value: hsa_signal_value_t) {
    change(signal, |cell| cell.fetch_add(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_add_release(signal: hsa_signal_t, value: hsa_signal_value_t) {
    change(signal, |cell| cell.fetch_add(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_add_acq_rel(signal: hsa_signal_t, value: hsa_signal_value_t) {
    change(signal, |cell| cell.fetch_add(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_subtract_relaxed(
    signal: hsa_signal_t,
    value: hsa_signal_value_t,
) {
    change(signal, |cell| cell.fetch_sub(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_subtract_scacquire(
    signal: hsa_signal_t,
    value: hsa_signal_value_t,
) {
    change(signal, |cell| cell.fetch_sub(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_subtract_screlease(
    signal: hsa_signal_t,
    value: hsa_signal_value_t,
) {
    change(signal, |cell| cell.fetch_sub(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_subtract_scacq_screl(
    signal: hsa_signal_t,
    value: hsa_signal_value_t,
) {
    change(signal, |cell| cell.fetch_sub(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_subtract_acquire(
    signal: hsa_signal_t,
    value: hsa_signal_value_t,
) {
    change(signal, |cell| cell.fetch_sub(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_subtract_release(
    signal: hsa_signal_t,
    value: hsa_signal_value_t,
) {
    change(signal, |cell| cell.fetch_sub(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_subtract_acq_rel(
    signal: hsa_signal_t,
    value: hsa_signal_value_t,
) {
    change(signal, |cell| cell.fetch_sub(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_and_relaxed(signal: hsa_signal_t, value: hsa_signal_value_t) {
    change(signal, |cell| cell.fetch_and(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_and_scacquire(signal: hsa_signal_t, value: hsa_signal_value_t) {
    change(signal, |cell| cell.fetch_and(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_and_screlease(signal: hsa_signal_t, value: hsa_signal_value_t) {
    change(signal, |cell| cell.fetch_and(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_and_scacq_screl(
    signal: hsa_signal_t,
    value: hsa_signal_value_t,
) {
    change(signal, |cell| cell.fetch_and(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_and_acquire(signal: hsa_signal_t, value: hsa_signal_value_t) {
    change(signal, |cell| cell.fetch_and(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_and_release(signal: hsa_signal_t, value: hsa_signal_value_t) {
    change(signal, |cell| cell.fetch_and(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_and_acq_rel(signal: hsa_signal_t, value: hsa_signal_value_t) {
    change(signal, |cell| cell.fetch_and(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_or_relaxed(signal: hsa_signal_t, value: hsa_signal_value_t) {
    change(signal, |cell| cell.fetch_or(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_or_scacquire(signal: hsa_signal_t, value: hsa_signal_value_t) {
    change(signal, |cell| cell.fetch_or(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_or_screlease(signal: hsa_signal_t, value: hsa_signal_value_t) {
    change(signal, |cell| cell.fetch_or(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_or_scacq_screl(
    signal: hsa_signal_t,
    value: hsa_signal_value_t,
) {
    change(signal, |cell| cell.fetch_or(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_or_acquire(signal: hsa_signal_t, value: hsa_signal_value_t) {
    change(signal, |cell| cell.fetch_or(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_or_release(signal: hsa_signal_t, value: hsa_signal_value_t) {
    change(signal, |cell| cell.fetch_or(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_or_acq_rel(signal: hsa_signal_t, value: hsa_signal_value_t) {
    change(signal, |cell| cell.fetch_or(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_xor_relaxed(signal: hsa_signal_t, value: hsa_signal_value_t) {
    change(signal, |cell| cell.fetch_xor(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_xor_scacquire(signal: hsa_signal_t, value: hsa_signal_value_t) {
    change(signal, |cell| cell.fetch_xor(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_xor_screlease(signal: hsa_signal_t, value: hsa_signal_value_t) {
    change(signal, |cell| cell.fetch_xor(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_xor_scacq_screl(
    signal: hsa_signal_t,
    value: hsa_signal_value_t,
) {
    change(signal, |cell| cell.fetch_xor(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_xor_acquire(signal: hsa_signal_t, value: hsa_signal_value_t) {
    change(signal, |cell| cell.fetch_xor(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_xor_release(signal: hsa_signal_t, value: hsa_signal_value_t) {
    change(signal, |cell| cell.fetch_xor(value, Ordering::SeqCst));
}

pub unsafe extern "C" fn hsa_signal_xor_acq_rel(signal: hsa_signal_t, value: hsa_signal_value_t) {
    change(signal, |cell| cell.fetch_xor(value, Ordering::SeqCst));
}
