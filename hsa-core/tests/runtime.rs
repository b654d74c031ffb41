//! The runtime from end to end, through the table of C functions: no kernel code is needed for these.

mod common;

use std::{
    ffi::c_void,
    sync::{
        Mutex,
        atomic::{AtomicI64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use common::Client;
use gneiss_hsa_api::*;

const AND: u32 = HSA_PACKET_TYPE_BARRIER_AND;
const OR: u32 = HSA_PACKET_TYPE_BARRIER_OR;

#[test]
fn calls_after_the_last_shutdown_fail() {
    let api = {
        let client = Client::new("gfx90a");
        client.api
    };
    // Another test may have initialised the runtime again meanwhile: take the turn, then leave it shut down.
    let client = Client::new("gfx90a");
    // SAFETY: plain calls.
    unsafe {
        (api.hsa_init)().ok().expect("counted");
        (api.hsa_shut_down)().ok().expect("counted");
        (api.hsa_shut_down)().ok().expect("the last");
        assert_eq!((api.hsa_shut_down)(), HSA_STATUS_ERROR_NOT_INITIALIZED);
        let mut version = 0u16;
        let value = (&raw mut version).cast();
        assert_eq!(
            (api.hsa_system_get_info)(HSA_SYSTEM_INFO_VERSION_MAJOR, value),
            HSA_STATUS_ERROR_NOT_INITIALIZED
        );
        (api.hsa_init)().ok().expect("again");
    }
    drop(client);
}

#[test]
fn agents_have_the_attributes_of_their_cards() {
    let client = Client::new("gfx90a:2,gfx1030");
    assert_eq!(client.gpus.len(), 3);
    let api = &client.api;
    let text = |agent, attribute| {
        let mut buffer = [0u8; 64];
        // SAFETY: names have at most 64 bytes.
        unsafe { (api.hsa_agent_get_info)(agent, attribute, buffer.as_mut_ptr().cast()) }
            .ok()
            .expect("name");
        String::from_utf8(
            buffer
                .split(|byte| *byte == 0)
                .next()
                .expect("a part")
                .to_vec(),
        )
        .expect("UTF-8")
    };
    let number = |agent, attribute| {
        let mut value = 0u32;
        // SAFETY: these attributes have four bytes.
        unsafe { (api.hsa_agent_get_info)(agent, attribute, (&raw mut value).cast()) }
            .ok()
            .expect("number");
        value
    };
    assert_eq!(text(client.gpus[0], HSA_AGENT_INFO_NAME), "gfx90a");
    assert_eq!(
        text(client.gpus[2], HSA_AMD_AGENT_INFO_PRODUCT_NAME),
        "AMD Radeon RX 6800 XT"
    );
    assert_eq!(number(client.gpus[0], HSA_AGENT_INFO_WAVEFRONT_SIZE), 64);
    assert_eq!(number(client.gpus[2], HSA_AGENT_INFO_WAVEFRONT_SIZE), 32);
    assert_eq!(
        number(client.gpus[0], HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT),
        104
    );
    assert_eq!(
        number(client.cpu, HSA_AGENT_INFO_DEVICE),
        HSA_DEVICE_TYPE_CPU
    );
    assert_ne!(
        number(client.gpus[0], HSA_AMD_AGENT_INFO_BDFID),
        number(client.gpus[1], HSA_AMD_AGENT_INFO_BDFID)
    );
    let mut guarded = [0xffu8; 4];
    // SAFETY: one byte is written, as the assertion shows.
    unsafe {
        let value = guarded.as_mut_ptr().cast();
        (api.hsa_agent_get_info)(client.gpus[0], HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES, value)
            .ok()
            .expect("bool");
        assert_eq!(guarded, [1, 0xff, 0xff, 0xff]);
        let unknown = (api.hsa_agent_get_info)(client.gpus[0], 0xdead, value);
        assert_eq!(unknown, HSA_STATUS_ERROR_INVALID_ARGUMENT);
        let none = (api.hsa_agent_get_info)(hsa_agent_t { handle: 7 }, 0, value);
        assert_eq!(none, HSA_STATUS_ERROR_INVALID_AGENT);
    }
}

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

#[test]
fn copies_wait_for_dependencies_and_complete() {
    let client = Client::new("gfx90a");
    let size = 9 << 20;
    let coarse = client.pool(client.cpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
    let device = client.pool(
        client.gpus[0],
        HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
    );
    let (source, middle, target) = (
        client.allocate(coarse, size),
        client.allocate(device, size),
        client.allocate(coarse, size),
    );
    // SAFETY: the allocations have `size` bytes.
    unsafe {
        for at in 0..size {
            source.add(at).write((at * 7 + at / 251) as u8);
        }
        target.write_bytes(0, size);
    }
    let (gate, up, down) = (client.signal(1), client.signal(1), client.signal(1));
    let api = &client.api;
    // SAFETY: live objects of these sizes.
    unsafe {
        (api.hsa_amd_profiling_async_copy_enable)(true)
            .ok()
            .expect("enable");
        (api.hsa_amd_memory_async_copy)(
            target.cast(),
            client.cpu,
            middle.cast(),
            client.gpus[0],
            size,
            1,
            &up,
            down,
        )
        .ok()
        .expect("down");
        (api.hsa_amd_memory_async_copy)(
            middle.cast(),
            client.gpus[0],
            source.cast(),
            client.cpu,
            size,
            1,
            &gate,
            up,
        )
        .ok()
        .expect("up");
        std::thread::sleep(Duration::from_millis(10));
        assert_eq!((client.value(up), client.value(down)), (1, 1));
        (api.hsa_signal_store_screlease)(gate, 0);
        client.wait(down);
        assert_eq!(
            std::slice::from_raw_parts(source, size),
            std::slice::from_raw_parts(target, size)
        );
        let mut time = hsa_amd_profiling_async_copy_time_t::default();
        (api.hsa_amd_profiling_get_async_copy_time)(up, &mut time)
            .ok()
            .expect("time");
        let mut now = 0u64;
        (api.hsa_system_get_info)(HSA_SYSTEM_INFO_TIMESTAMP, (&raw mut now).cast())
            .ok()
            .expect("now");
        assert!(
            0 < time.start && time.start < time.end && time.end <= now,
            "{time:?} {now}"
        );
        let too_far = (api.hsa_amd_memory_async_copy)(
            middle.add(1).cast(),
            client.gpus[0],
            source.cast(),
            client.cpu,
            size,
            0,
            std::ptr::null(),
            up,
        );
        assert_eq!(too_far, HSA_STATUS_ERROR_INVALID_ALLOCATION);
    }
    [gate, up, down]
        .into_iter()
        .for_each(|signal| client.destroy(signal));
    [source, middle, target]
        .into_iter()
        .for_each(|pointer| client.free(pointer));
}

#[test]
fn rectangles_keep_what_is_around_them() {
    let client = Client::new("gfx90a");
    let coarse = client.pool(client.cpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
    let (source, target) = (client.allocate(coarse, 4096), client.allocate(coarse, 4096));
    let done = client.signal(1);
    let (dim, zero) = (|x, y, z| hsa_dim3_t { x, y, z }, hsa_dim3_t::default());
    // SAFETY: the shapes fit in the allocations.
    unsafe {
        for at in 0..4096 {
            source.add(at).write(at as u8);
        }
        target.write_bytes(0xee, 4096);
        let from = hsa_pitched_ptr_t {
            base: source.cast(),
            pitch: 64,
            slice: 512,
        };
        let to = hsa_pitched_ptr_t {
            base: target.cast(),
            pitch: 32,
            slice: 256,
        };
        (client.api.hsa_amd_memory_async_copy_rect)(
            &to,
            &dim(4, 1, 0),
            &from,
            &dim(8, 2, 1),
            &dim(12, 3, 2),
            client.gpus[0],
            hsaHostToDevice,
            0,
            std::ptr::null(),
            done,
        )
        .ok()
        .expect("rectangle");
        client.wait(done);
        let mut expected = [0xeeu8; 4096];
        for (slice, row, byte) in
            (0..2).flat_map(|s| (0..3).flat_map(move |r| (0..12).map(move |b| (s, r, b))))
        {
            expected[slice * 256 + (row + 1) * 32 + byte + 4] =
                ((slice + 1) * 512 + (row + 2) * 64 + byte + 8) as u8;
        }
        assert_eq!(std::slice::from_raw_parts(target, 4096), expected);
        let odd = (client.api.hsa_amd_memory_async_copy_rect)(
            &to,
            &zero,
            &from,
            &zero,
            &dim(3, 1, 1),
            client.gpus[0],
            hsaHostToDevice,
            0,
            std::ptr::null(),
            done,
        );
        assert_eq!(odd, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    }
    client.destroy(done);
    client.free(source);
    client.free(target);
}

#[test]
fn pinned_memory_has_another_address_for_the_gpu() {
    let client = Client::new("gfx90a");
    let pool = client.pool(client.cpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
    let api = &client.api;
    let mut memory = vec![5u8; 10_000];
    let host = memory.as_mut_ptr().wrapping_add(3).cast::<c_void>();
    let (mut first, mut second) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the vector outlives the lock, and the structures fit.
    unsafe {
        let lock = |out| {
            (api.hsa_amd_memory_lock_to_pool)(host, 5000, std::ptr::null_mut(), 0, pool, 0, out)
        };
        lock(&mut first).ok().expect("lock");
        lock(&mut second).ok().expect("again");
        assert_eq!(first, second);
        assert_ne!(first, host);
        assert_eq!(first as usize % 4096, host as usize % 4096);
        let mut info: hsa_amd_pointer_info_t = std::mem::zeroed();
        info.size = size_of::<hsa_amd_pointer_info_t>() as u32;
        let none = std::ptr::null_mut();
        (api.hsa_amd_pointer_info)(
            first.wrapping_byte_add(40),
            &mut info,
            None,
            none,
            std::ptr::null_mut(),
        )
        .ok()
        .expect("info");
        assert_eq!(info.r#type, HSA_EXT_POINTER_TYPE_LOCKED);
        assert_eq!(
            (
                info.agentBaseAddress,
                info.hostBaseAddress,
                info.sizeInBytes
            ),
            (first, host, 5000)
        );
        (api.hsa_memory_copy)(first.wrapping_byte_add(10), [9u8; 4].as_ptr().cast(), 4)
            .ok()
            .expect("copy");
        assert_eq!(memory[13..18], [9, 9, 9, 9, 5]);
        (api.hsa_amd_memory_unlock)(host).ok().expect("unlock");
        (api.hsa_amd_memory_unlock)(host).ok().expect("unlock");
        assert_eq!((api.hsa_amd_memory_unlock)(host), HSA_STATUS_ERROR);
    }
}

#[test]
fn memory_ends_at_the_device_s_size_and_comes_back() {
    let client = Client::new("gfx90a");
    let pool = client.pool(
        client.gpus[0],
        HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
    );
    let api = &client.api;
    let mut size = 0usize;
    let mut pointer = std::ptr::null_mut();
    // SAFETY: the buffers fit. The memory is not touched.
    unsafe {
        (api.hsa_amd_memory_pool_get_info)(
            pool,
            HSA_AMD_MEMORY_POOL_INFO_SIZE,
            (&raw mut size).cast(),
        )
        .ok()
        .expect("size");
        let allocate = |size, pointer: &mut *mut c_void| {
            (api.hsa_amd_memory_pool_allocate)(pool, size, 0, pointer)
        };
        assert_eq!(
            allocate(size + 1, &mut pointer),
            HSA_STATUS_ERROR_INVALID_ALLOCATION
        );
        let (mut most, mut more) = (std::ptr::null_mut(), std::ptr::null_mut());
        allocate(size - 4096, &mut most).ok().expect("nearly all");
        assert_eq!(allocate(8192, &mut more), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
        allocate(100, &mut more).ok().expect("the last page");
        (api.hsa_amd_memory_pool_free)(most).ok().expect("free");
        assert_eq!(
            (api.hsa_amd_memory_pool_free)(most),
            HSA_STATUS_ERROR_INVALID_ALLOCATION
        );
        (api.hsa_amd_memory_pool_free)(more).ok().expect("free");
        (api.hsa_amd_memory_pool_free)(std::ptr::null_mut())
            .ok()
            .expect("null is nothing");
        allocate(size, &mut most).ok().expect("all");
        (api.hsa_amd_memory_pool_free)(most).ok().expect("free");
    }
}

static CALLS: AtomicUsize = AtomicUsize::new(0);
static LAST: AtomicI64 = AtomicI64::new(0);

unsafe extern "C" fn handler(value: i64, argument: *mut c_void) -> bool {
    LAST.store(value, Ordering::SeqCst);
    let calls = CALLS.fetch_add(1, Ordering::SeqCst) + 1;
    // SAFETY: the argument is the signal's handle; the function table is the same everywhere.
    unsafe {
        (gneiss_hsa_core::api_table().hsa_signal_store_screlease)(
            hsa_signal_t {
                handle: argument as u64,
            },
            10,
        )
    };
    calls < 3
}

#[test]
fn handlers_stay_armed_until_they_say_false() {
    let client = Client::new("gfx90a");
    CALLS.store(0, Ordering::SeqCst);
    let signal = client.signal(10);
    let api = &client.api;
    let baseline = gneiss_hsa_core::live_objects();
    // SAFETY: a live signal and a handler that fits.
    unsafe {
        let argument = signal.handle as *mut c_void;
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

#[test]
fn the_loader_table_is_filled_as_far_as_asked() {
    let client = Client::new("gfx90a");
    let mut table = [usize::MAX; 7];
    // SAFETY: the table has at least the length that is passed.
    unsafe {
        let get = client.api.hsa_system_get_major_extension_table;
        get(
            HSA_EXTENSION_AMD_LOADER as u16,
            1,
            24,
            table.as_mut_ptr().cast(),
        )
        .ok()
        .expect("table");
        assert!(
            table[..3]
                .iter()
                .all(|slot| *slot != usize::MAX && *slot != 0)
        );
        assert!(table[3..].iter().all(|slot| *slot == usize::MAX));
        assert_eq!(
            get(0x999, 1, 24, table.as_mut_ptr().cast()),
            HSA_STATUS_ERROR
        );
        assert_eq!(
            get(
                HSA_EXTENSION_AMD_LOADER as u16,
                1,
                0,
                table.as_mut_ptr().cast()
            ),
            HSA_STATUS_ERROR_INVALID_ARGUMENT
        );
    }
}

#[test]
fn everything_is_released_at_shutdown() {
    let client = Client::new("gfx90a");
    let signals = gneiss_hsa_core::live_objects().signals;
    let pool = client.pool(
        client.gpus[0],
        HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
    );
    client.allocate(pool, 5 << 20);
    client.queue(128, None, std::ptr::null_mut());
    let blocker = client.signal(1);
    let queue = client.queue(128, None, std::ptr::null_mut());
    client.submit(
        queue,
        Client::barrier(AND, false, &[blocker], hsa_signal_t::default()),
    );
    client.destroy(blocker);
    drop(client);
    let client = Client::new("gfx90a");
    let live = gneiss_hsa_core::live_objects();
    assert_eq!(
        (
            live.queues,
            live.allocations,
            live.executables,
            live.signals
        ),
        (0, 0, 0, signals)
    );
    drop(client);
}
