//! Queues and packets that need no kernel.

mod common;

use std::{ffi::c_void, sync::Mutex, time::Duration};

use common::Client;
use gneiss_hsa_api::*;

const AND: u32 = HSA_PACKET_TYPE_BARRIER_AND;
const OR: u32 = HSA_PACKET_TYPE_BARRIER_OR;

#[test]
fn barriers_wait_for_their_signals_in_order() {
    let client = Client::new("gfx90a");
    let queue = client.queue(64, None, std::ptr::null_mut());
    let (first, second, done, end) = (
        client.signal(1),
        client.signal(1),
        client.signal(1),
        client.signal(1),
    );
    client.submit(queue, Client::barrier(AND, true, &[first, second], done));
    client.submit(queue, Client::barrier(AND, true, &[], end));
    // SAFETY: live signals.
    unsafe { (client.api.hsa_signal_store_screlease)(second, 0) };
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(
        (client.value(done), client.value(end)),
        (1, 1),
        "one dependency is still 1"
    );
    // SAFETY: live signals.
    unsafe { (client.api.hsa_signal_store_screlease)(first, 0) };
    client.wait(end);
    assert_eq!(client.value(done), 0);
    // SAFETY: live objects.
    unsafe {
        assert_eq!((client.api.hsa_queue_load_read_index_scacquire)(queue), 2);
        (client.api.hsa_queue_destroy)(queue).ok().expect("destroy");
        assert_eq!(
            (client.api.hsa_queue_destroy)(std::ptr::null_mut()),
            HSA_STATUS_ERROR_INVALID_ARGUMENT
        );
    }
    [first, second, done, end]
        .into_iter()
        .for_each(|signal| client.destroy(signal));
}

#[test]
fn a_blocked_queue_does_not_stop_another_and_or_needs_one() {
    let client = Client::new("gfx90a");
    let (blocked, free) = (
        client.queue(64, None, std::ptr::null_mut()),
        client.queue(64, None, std::ptr::null_mut()),
    );
    let (never, one, blocked_done, free_done) = (
        client.signal(1),
        client.signal(1),
        client.signal(1),
        client.signal(1),
    );
    client.submit(
        blocked,
        Client::barrier(OR, false, &[never, one], blocked_done),
    );
    // More packets than the ring has, so that it wraps.
    for _ in 0..200 {
        client.submit(
            free,
            Client::barrier(AND, true, &[], hsa_signal_t::default()),
        );
    }
    client.submit(free, Client::barrier(AND, true, &[], free_done));
    client.wait(free_done);
    assert_eq!(client.value(blocked_done), 1);
    // SAFETY: a live signal.
    unsafe { (client.api.hsa_signal_store_screlease)(one, 0) };
    client.wait(blocked_done);
    for queue in [blocked, free] {
        // SAFETY: a live queue.
        unsafe { (client.api.hsa_queue_destroy)(queue) }
            .ok()
            .expect("destroy");
    }
    [never, one, blocked_done, free_done]
        .into_iter()
        .for_each(|signal| client.destroy(signal));
}

#[test]
fn barrier_value_compares_the_masked_value() {
    let client = Client::new("gfx90a");
    let queue = client.queue(64, None, std::ptr::null_mut());
    let (signal, done) = (client.signal(0x0f), client.signal(1));
    client.submit(
        queue,
        hsa_amd_barrier_value_packet_t {
            header: hsa_amd_vendor_packet_header_t {
                header: HSA_PACKET_TYPE_VENDOR_SPECIFIC as u16 | 1 << HSA_PACKET_HEADER_BARRIER,
                AmdFormat: HSA_AMD_PACKET_TYPE_BARRIER_VALUE as u8,
                reserved: 0,
            },
            reserved0: 0,
            signal,
            value: 0x20,
            mask: 0xf0,
            cond: HSA_SIGNAL_CONDITION_EQ,
            reserved1: 0,
            reserved2: 0,
            reserved3: 0,
            completion_signal: done,
        },
    );
    std::thread::sleep(Duration::from_millis(10));
    assert_eq!(client.value(done), 1);
    // SAFETY: live objects.
    unsafe { (client.api.hsa_signal_store_screlease)(signal, 0x2f) };
    client.wait(done);
    // SAFETY: live objects.
    unsafe { (client.api.hsa_queue_destroy)(queue) }
        .ok()
        .expect("destroy");
    client.destroy(signal);
    client.destroy(done);
}

/// What a queue's callback was told.
#[derive(Default)]
struct Heard(Mutex<Vec<hsa_status_t>>);

unsafe extern "C" fn hear(status: hsa_status_t, _queue: *mut hsa_queue_t, data: *mut c_void) {
    // SAFETY: `data` is the `Heard` that the test passes and keeps.
    unsafe { &*data.cast::<Heard>() }
        .0
        .lock()
        .expect("no panic")
        .push(status);
}

#[test]
fn bad_packets_stop_the_queue_and_call_back_once() {
    let client = Client::new("gfx90a");
    // SAFETY: null is allowed; it says that this client prints reports.
    assert!(unsafe { client.api.gneiss_hsa_last_fault.expect("ours")(std::ptr::null()) }.is_null());
    let dispatch = hsa_kernel_dispatch_packet_t {
        header: HSA_PACKET_TYPE_KERNEL_DISPATCH as u16,
        setup: 1,
        workgroup_size_x: 64,
        workgroup_size_y: 1,
        workgroup_size_z: 1,
        reserved0: 0,
        grid_size_x: 64,
        grid_size_y: 1,
        grid_size_z: 1,
        private_segment_size: 0,
        group_segment_size: 0,
        kernel_object: 0x1234,
        kernarg_address: std::ptr::null_mut(),
        reserved2: 0,
        completion_signal: hsa_signal_t::default(),
    };
    let cases = [
        (dispatch, HSA_STATUS_ERROR_INVALID_CODE_OBJECT, "0x1234"),
        (
            hsa_kernel_dispatch_packet_t {
                setup: 0,
                ..dispatch
            },
            HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS,
            "1 to 3 dimensions",
        ),
        (
            hsa_kernel_dispatch_packet_t {
                grid_size_x: 0,
                ..dispatch
            },
            HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS,
            "grid",
        ),
        (
            hsa_kernel_dispatch_packet_t {
                workgroup_size_x: 2048,
                ..dispatch
            },
            HSA_STATUS_ERROR_INVALID_ARGUMENT,
            "2048 work-items",
        ),
        (
            hsa_kernel_dispatch_packet_t {
                group_segment_size: 1 << 20,
                ..dispatch
            },
            HSA_STATUS_ERROR_INVALID_ALLOCATION,
            "LDS",
        ),
        (
            hsa_kernel_dispatch_packet_t {
                private_segment_size: 1 << 20,
                ..dispatch
            },
            HSA_STATUS_ERROR_OUT_OF_RESOURCES,
            "scratch",
        ),
        (
            hsa_kernel_dispatch_packet_t {
                header: 99,
                ..dispatch
            },
            HSA_STATUS_ERROR_INVALID_PACKET_FORMAT,
            "unknown type 99",
        ),
        (
            hsa_kernel_dispatch_packet_t {
                header: HSA_PACKET_TYPE_AGENT_DISPATCH as u16,
                ..dispatch
            },
            HSA_STATUS_ERROR_INVALID_PACKET_FORMAT,
            "agent dispatch",
        ),
        (
            hsa_kernel_dispatch_packet_t {
                header: HSA_PACKET_TYPE_BARRIER_AND as u16,
                completion_signal: hsa_signal_t { handle: 0xbad },
                ..dispatch
            },
            HSA_STATUS_ERROR_INVALID_PACKET_FORMAT,
            "no signal",
        ),
    ];
    for (packet, status, reason) in cases {
        let heard = Box::new(Heard::default());
        let queue = client.queue(64, Some(hear), (&raw const *heard).cast_mut().cast());
        client.submit(queue, packet);
        let deadline = std::time::Instant::now() + Duration::from_secs(20);
        while heard.0.lock().expect("no panic").is_empty() && std::time::Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        client.submit(queue, packet);
        // SAFETY: a live queue; the report lives as long as it.
        let report = unsafe {
            let report = client.api.gneiss_hsa_last_fault.expect("ours")(queue);
            assert!(!report.is_null());
            std::ffi::CStr::from_ptr(report)
                .to_string_lossy()
                .into_owned()
        };
        assert!(report.contains(reason), "{report}");
        // SAFETY: a live queue.
        unsafe { (client.api.hsa_queue_destroy)(queue) }
            .ok()
            .expect("destroy");
        assert_eq!(*heard.0.lock().expect("no panic"), [status], "{reason}");
    }
}
