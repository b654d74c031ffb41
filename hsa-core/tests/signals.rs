//! Signals: waits, wake-ups, handlers.

mod common;

use std::{
    ffi::c_void,
    sync::atomic::{AtomicI64, AtomicUsize, Ordering},
    time::Duration,
};

use common::Client;
use gneiss_hsa_api::*;

#[test]
fn a_wait_ends_when_another_thread_changes_the_signal() {
    let client = Client::new("gfx90a");
    let signal = client.signal(1);
    std::thread::scope(|scope| {
        let waiters: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| client.wait(signal)))
            .collect();
        std::thread::sleep(Duration::from_millis(20));
        // SAFETY: a live signal.
        unsafe { (client.api.hsa_signal_subtract_screlease)(signal, 1) };
        waiters
            .into_iter()
            .for_each(|waiter| waiter.join().expect("no panic"));
    });
    // SAFETY: a live signal; the wait gives up.
    let value = unsafe {
        (client.api.hsa_signal_wait_relaxed)(
            signal,
            HSA_SIGNAL_CONDITION_EQ,
            5,
            1_000_000,
            HSA_WAIT_STATE_BLOCKED,
        )
    };
    assert_eq!(value, 0);
    client.destroy(signal);
}

#[test]
fn wake_ups_are_not_lost() {
    let client = Client::new("gfx90a");
    let (ping, pong) = (client.signal(0), client.signal(0));
    let rounds = 3000;
    let api = &client.api;
    let await_value = |signal, value| {
        // SAFETY: live signals.
        let seen = unsafe {
            (api.hsa_signal_wait_scacquire)(
                signal,
                HSA_SIGNAL_CONDITION_EQ,
                value,
                20_000_000_000,
                HSA_WAIT_STATE_BLOCKED,
            )
        };
        assert_eq!(seen, value, "a wake-up was lost");
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 1..=rounds {
                await_value(ping, round);
                // SAFETY: a live signal.
                unsafe { (api.hsa_signal_store_screlease)(pong, round) };
            }
        });
        for round in 1..=rounds {
            // SAFETY: a live signal.
            unsafe { (api.hsa_signal_store_screlease)(ping, round) };
            await_value(pong, round);
        }
    });
    client.destroy(ping);
    client.destroy(pong);
}

#[test]
fn wait_any_names_the_signal_that_changed() {
    let client = Client::new("gfx90a");
    let signals = [client.signal(1), client.signal(1), client.signal(1)];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(10));
            // SAFETY: a live signal.
            unsafe { (client.api.hsa_signal_store_relaxed)(signals[1], -4) };
        });
        let (mut list, mut conditions, mut values) =
            (signals, [HSA_SIGNAL_CONDITION_LT; 3], [1i64; 3]);
        let mut value = 0;
        // SAFETY: lists of three.
        let index = unsafe {
            (client.api.hsa_amd_signal_wait_any)(
                3,
                list.as_mut_ptr(),
                conditions.as_mut_ptr(),
                values.as_mut_ptr(),
                20_000_000_000,
                HSA_WAIT_STATE_BLOCKED,
                &mut value,
            )
        };
        assert_eq!((index, value), (1, -4));
    });
    signals
        .into_iter()
        .for_each(|signal| client.destroy(signal));
}

static CALLS: AtomicUsize = AtomicUsize::new(0);
static LAST: AtomicI64 = AtomicI64::new(0);

/// What the handler is given: a signal, and the functions of the library that it is of.
struct Target<'a> {
    api: &'a HsaApi,
    signal: hsa_signal_t,
}

unsafe extern "C" fn handler(value: i64, argument: *mut c_void) -> bool {
    LAST.store(value, Ordering::SeqCst);
    let calls = CALLS.fetch_add(1, Ordering::SeqCst) + 1;
    // SAFETY: the argument is the target, which outlives the handler; the signal is live.
    unsafe {
        let target = &*argument.cast::<Target<'_>>();
        (target.api.hsa_signal_store_screlease)(target.signal, 10);
    }
    calls < 3
}

#[test]
fn handlers_stay_armed_until_they_say_false() {
    let client = Client::new("gfx90a");
    CALLS.store(0, Ordering::SeqCst);
    let signal = client.signal(10);
    let api = &client.api;
    let baseline = gneiss_hsa_core::live_objects();
    let mut target = Target { api, signal };
    // SAFETY: a live signal, and a handler that its argument fits.
    unsafe {
        let argument = (&raw mut target).cast();
        (api.hsa_amd_signal_async_handler)(
            signal,
            HSA_SIGNAL_CONDITION_LT,
            5,
            Some(handler),
            argument,
        )
        .ok()
        .expect("register");
        for round in 1..=4 {
            (api.hsa_signal_store_screlease)(signal, round);
            let back = if round <= 3 { 10 } else { round };
            let seen = (api.hsa_signal_wait_scacquire)(
                signal,
                HSA_SIGNAL_CONDITION_EQ,
                back,
                20_000_000_000,
                HSA_WAIT_STATE_BLOCKED,
            );
            assert_eq!(seen, back);
        }
    }
    assert_eq!(
        LAST.load(Ordering::SeqCst),
        3,
        "the fourth change finds no handler"
    );
    assert_eq!(CALLS.load(Ordering::SeqCst), 3);
    assert_eq!(gneiss_hsa_core::live_objects(), baseline);
    client.destroy(signal);
}
