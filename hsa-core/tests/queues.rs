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

/// A vendor packet that jumps to an indirect buffer of this many dwords.
fn pm4_packet(buffer: u64, dwords: u32, completion: hsa_signal_t) -> [u32; 16] {
    let header = HSA_PACKET_TYPE_VENDOR_SPECIFIC | 1 << HSA_PACKET_HEADER_BARRIER;
    let mut packet = [0u32; 16];
    packet[0] = header | 1 << 16;
    packet[1] = 3 << 30 | 2 << 16 | 0x3f << 8;
    packet[2] = buffer as u32;
    packet[3] = (buffer >> 32) as u32;
    packet[4] = dwords | 1 << 23;
    packet[5] = 10;
    packet[14] = completion.handle as u32;
    packet[15] = (completion.handle >> 32) as u32;
    packet
}

#[test]
fn indirect_buffers_that_invalidate_caches_complete() {
    let client = Client::new("gfx90a");
    let fine = client.pool(client.cpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED);
    let buffer = client.allocate(fine, 4096).cast::<u32>();
    let queue = client.queue(64, None, std::ptr::null_mut());
    let done = client.signal(1);
    // SAFETY: the allocation holds the dwords.
    unsafe {
        // ACQUIRE_MEM as it is sent to GFX9.
        let acquire = [
            3 << 30 | 5 << 16 | 0x58 << 8,
            0x2884_0000,
            u32::MAX,
            0xff,
            0,
            0,
            0,
        ];
        buffer.copy_from_nonoverlapping(acquire.as_ptr(), acquire.len());
    }
    client.submit(queue, pm4_packet(buffer as u64, 7, done));
    client.wait(done);
    // SAFETY: a live queue.
    unsafe { (client.api.hsa_queue_destroy)(queue) }
        .ok()
        .expect("destroy");
    client.destroy(done);
    client.free(buffer.cast());
}

#[test]
fn indirect_buffers_that_write_registers_stop_the_queue() {
    let client = Client::new("gfx90a");
    let fine = client.pool(client.cpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED);
    let buffer = client.allocate(fine, 4096).cast::<u32>();
    // SAFETY: the allocation holds the dword; null is allowed.
    unsafe {
        client.api.gneiss_hsa_last_fault.expect("ours")(std::ptr::null());
        buffer.write(3 << 30 | 1 << 16 | 0x79 << 8);
    }
    for (address, dwords, reason) in [
        (buffer as u64, 3, "SET_UCONFIG_REG"),
        (buffer as u64, 2000, "2000 dwords"),
        (0x1000, 3, "no memory of this agent"),
    ] {
        let heard = Box::new(Heard::default());
        let data = (&raw const *heard).cast_mut().cast();
        let queue = client.queue(64, Some(hear), data);
        let done = client.signal(1);
        client.submit(queue, pm4_packet(address, dwords, done));
        heard.wait();
        assert_eq!(
            *heard.0.lock().expect("no panic"),
            [HSA_STATUS_ERROR_INVALID_PACKET_FORMAT]
        );
        assert_eq!(client.value(done), 1, "not complete");
        let report = last_fault(&client, queue);
        assert!(report.contains(reason), "{report}");
        // SAFETY: a live queue.
        unsafe { (client.api.hsa_queue_destroy)(queue) }
            .ok()
            .expect("destroy");
        client.destroy(done);
    }
    client.free(buffer.cast());
}

/// What a queue's callback was told.
#[derive(Default)]
struct Heard(Mutex<Vec<hsa_status_t>>);

impl Heard {
    /// Waits until something was told; returns without it after 20 seconds.
    fn wait(&self) {
        let deadline = std::time::Instant::now() + Duration::from_secs(20);
        while self.0.lock().expect("no panic").is_empty() && std::time::Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// The report of the fault of a live queue.
fn last_fault(client: &Client, queue: *mut hsa_queue_t) -> String {
    // SAFETY: the queue is live, and the report lives as long as it.
    unsafe {
        let report = client.api.gneiss_hsa_last_fault.expect("ours")(queue);
        assert!(!report.is_null());
        std::ffi::CStr::from_ptr(report)
            .to_string_lossy()
            .into_owned()
    }
}

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
        heard.wait();
        client.submit(queue, packet);
        let report = last_fault(&client, queue);
        assert!(report.contains(reason), "{report}");
        // SAFETY: a live queue.
        unsafe { (client.api.hsa_queue_destroy)(queue) }
            .ok()
            .expect("destroy");
        assert_eq!(*heard.0.lock().expect("no panic"), [status], "{reason}");
    }
}

#[test]
fn masks_and_priorities_are_kept_and_checked() {
    let client = Client::new("gfx1030");
    let api = &client.api;
    let queue = client.queue(64, None, std::ptr::null_mut());
    // SAFETY: a live queue; masks have the words that their counts say.
    unsafe {
        let mut mask = [0u32; 4];
        (api.hsa_amd_queue_cu_get_mask)(queue, 96, mask.as_mut_ptr())
            .ok()
            .expect("mask");
        assert_eq!(mask, [u32::MAX, u32::MAX, 0xff, 0], "72 compute units");
        let set = |mask: &[u32]| {
            (api.hsa_amd_queue_cu_set_mask)(queue, 32 * mask.len() as u32, mask.as_ptr())
        };
        assert_eq!(
            set(&[0b0110]),
            HSA_STATUS_ERROR_INVALID_ARGUMENT,
            "half of a work-group processor"
        );
        set(&[0b1100, 0, 0xff00])
            .ok()
            .expect("units that are not there are cut");
        (api.hsa_amd_queue_cu_get_mask)(queue, 96, mask.as_mut_ptr())
            .ok()
            .expect("mask");
        assert_eq!(mask[..3], [0b1100, 0, 0]);
        set(&[0]).ok().expect("a mask without a bit is taken");
        assert_eq!(
            (api.hsa_amd_queue_cu_set_mask)(queue, 33, mask.as_ptr()),
            HSA_STATUS_ERROR_INVALID_ARGUMENT
        );
        (api.hsa_amd_queue_cu_set_mask)(queue, 0, std::ptr::null())
            .ok()
            .expect("all again");
        (api.hsa_amd_queue_cu_get_mask)(queue, 32, mask.as_mut_ptr())
            .ok()
            .expect("mask");
        assert_eq!(mask[0], u32::MAX);
        for priority in [HSA_AMD_QUEUE_PRIORITY_LOW, HSA_AMD_QUEUE_PRIORITY_HIGH] {
            (api.hsa_amd_queue_set_priority)(queue, priority)
                .ok()
                .expect("priority");
        }
        assert_eq!(
            (api.hsa_amd_queue_set_priority)(queue, 3),
            HSA_STATUS_ERROR_INVALID_ARGUMENT
        );

        let agent = client.gpus[0];
        let mut kind = 9;
        (api.hsa_amd_coherency_set_type)(agent, HSA_AMD_COHERENCY_TYPE_NONCOHERENT)
            .ok()
            .expect("set");
        (api.hsa_amd_coherency_get_type)(agent, &mut kind)
            .ok()
            .expect("get");
        assert_eq!(kind, HSA_AMD_COHERENCY_TYPE_NONCOHERENT);
        let limit = api.hsa_amd_agent_set_async_scratch_limit.expect("exported");
        limit(agent, 1 << 20).ok().expect("limit");
        assert_eq!(limit(agent, usize::MAX), HSA_STATUS_ERROR_INVALID_ARGUMENT);
        let mut bytes = 0u64;
        (api.hsa_agent_get_info)(
            agent,
            HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT,
            (&raw mut bytes).cast(),
        )
        .ok()
        .expect("get");
        assert_eq!(bytes, 1 << 20);

        // The ring is the queue's: a program cannot free it.
        let ring = (*queue).base_address;
        assert_eq!((api.hsa_memory_free)(ring), HSA_STATUS_ERROR_RESOURCE_FREE);
        let done = client.signal(1);
        client.submit(queue, Client::barrier(AND, false, &[], done));
        client.wait(done);
        client.destroy(done);
        (api.hsa_queue_destroy)(queue).ok().expect("destroy");
    }
}

#[test]
fn a_soft_queue_s_packets_are_the_program_s() {
    let client = Client::new("gfx90a");
    let api = &client.api;
    let doorbell = client.signal(0);
    let mut queue = std::ptr::null_mut();
    // SAFETY: a live queue, whose ring this test alone reads; the pool's handle is the region's.
    unsafe {
        let pool = client.pool(client.cpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED);
        let region = hsa_region_t {
            handle: pool.handle,
        };
        let make = |size, features, queue: &mut *mut hsa_queue_t| {
            (api.hsa_soft_queue_create)(
                region,
                size,
                HSA_QUEUE_TYPE_SINGLE,
                features,
                doorbell,
                queue,
            )
        };
        assert_eq!(
            make(48, HSA_QUEUE_FEATURE_AGENT_DISPATCH, &mut queue),
            HSA_STATUS_ERROR_INVALID_ARGUMENT
        );
        assert_eq!(make(16, 0, &mut queue), HSA_STATUS_ERROR_INVALID_ARGUMENT);
        make(16, HSA_QUEUE_FEATURE_AGENT_DISPATCH, &mut queue)
            .ok()
            .expect("queue");
        let done = client.signal(1);
        let packet = hsa_agent_dispatch_packet_t {
            header: HSA_PACKET_TYPE_AGENT_DISPATCH as u16,
            r#type: 0x8000,
            reserved0: 0,
            return_address: std::ptr::null_mut(),
            arg: [1, 2, 3, 4],
            reserved2: 0,
            completion_signal: done,
        };
        let index = client.submit(queue, packet);
        assert_eq!(
            client.value(doorbell),
            index as i64,
            "the doorbell is the program's signal"
        );
        let taken = (*queue)
            .base_address
            .cast::<hsa_agent_dispatch_packet_t>()
            .read();
        assert_eq!((taken.r#type, taken.arg), (0x8000, [1, 2, 3, 4]));
        (api.hsa_queue_store_read_index_screlease)(queue, 1);
        (api.hsa_signal_subtract_screlease)(taken.completion_signal, 1);
        client.wait(done);
        (api.hsa_queue_destroy)(queue).ok().expect("destroy");
        client.destroy(done);
    }
    client.destroy(doorbell);
}

#[test]
fn waits_for_any_of_many_chained_barriers_name_one_that_has_passed() {
    const RUNS: usize = 150;
    const CHAIN: usize = 40;
    const WAITED: usize = 8;
    let client = Client::new("gfx90a");
    let queues = [(); 2].map(|()| client.queue(64, None, std::ptr::null_mut()));
    for run in 0..RUNS {
        let start = client.signal(1);
        let chain: Vec<_> = (0..CHAIN).map(|_| client.signal(1)).collect();
        let before = std::iter::once(&start).chain(&chain);
        for (link, (&before, &own)) in before.zip(&chain).enumerate() {
            // Neighbours in different queues: each packet really waits for its signal.
            client.submit(
                queues[link % 2],
                Client::barrier(AND, false, &[before], own),
            );
        }
        // Other eight in each run, from the start of the chain to its end.
        let mut waited: Vec<_> = (0..WAITED).map(|n| chain[(n * 5 + run) % CHAIN]).collect();
        let mut conditions = [HSA_SIGNAL_CONDITION_LT; WAITED];
        let mut values = [1i64; WAITED];
        // SAFETY: a live signal.
        unsafe { (client.api.hsa_signal_store_screlease)(start, 0) };
        let mut value = -1;
        // SAFETY: lists of eight.
        let index = unsafe {
            (client.api.hsa_amd_signal_wait_any)(
                WAITED as u32,
                waited.as_mut_ptr(),
                conditions.as_mut_ptr(),
                values.as_mut_ptr(),
                20_000_000_000,
                HSA_WAIT_STATE_BLOCKED,
                &mut value,
            )
        };
        assert_eq!(value, 0, "run {run}, signal {index}");
        assert_eq!(client.value(waited[index as usize]), 0, "run {run}");
        client.wait(chain[CHAIN - 1]);
        chain
            .into_iter()
            .chain([start])
            .for_each(|signal| client.destroy(signal));
    }
    for queue in queues {
        // SAFETY: a live queue.
        unsafe { (client.api.hsa_queue_destroy)(queue) }
            .ok()
            .expect("destroy");
    }
}
