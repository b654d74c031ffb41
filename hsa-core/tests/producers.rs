//! Several producers of one queue, and queues that take no more packets.

mod common;

use std::sync::atomic::{AtomicU64, Ordering};

use common::Client;
use gneiss_hsa_api::*;

const AND: u32 = HSA_PACKET_TYPE_BARRIER_AND;

#[test]
fn packets_of_eight_producers_are_all_processed() {
    const PRODUCERS: u64 = 8;
    const PACKETS: u64 = 500;
    let client = Client::new("gfx90a");
    // A ring that is much smaller than what goes through it.
    let queue = client.queue(64, None, std::ptr::null_mut()) as usize;
    let total = client.signal((PRODUCERS * PACKETS).cast_signed());
    let indexes = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..PRODUCERS {
            scope.spawn(|| {
                for _ in 0..PACKETS {
                    let packet = Client::barrier(AND, false, &[], total);
                    let index = client.submit(queue as *mut hsa_queue_t, packet);
                    indexes.fetch_add(index, Ordering::Relaxed);
                }
            });
        }
    });
    client.wait(total);
    assert_eq!(client.value(total), 0, "each packet completes once");
    let packets = PRODUCERS * PACKETS;
    assert_eq!(
        indexes.into_inner(),
        packets * (packets - 1) / 2,
        "each index is given once"
    );
    // SAFETY: a live queue.
    unsafe {
        let queue = queue as *mut hsa_queue_t;
        assert_eq!(
            (client.api.hsa_queue_load_read_index_scacquire)(queue),
            packets
        );
        (client.api.hsa_queue_destroy)(queue).ok().expect("destroy");
    }
    client.destroy(total);
}

#[test]
fn producers_reserve_packets_by_exchange() {
    let client = Client::new("gfx90a");
    let queue = client.queue(64, None, std::ptr::null_mut()) as usize;
    let api = &client.api;
    // More threads than most machines have processors, in turns: each must let the others run.
    const THREADS: u64 = 8;
    const TURNS: u64 = 400;
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                for turn in (thread..TURNS).step_by(THREADS as usize) {
                    // SAFETY: a live queue; nothing is submitted, so the index is the test's.
                    while unsafe {
                        (api.hsa_queue_cas_write_index_scacq_screl)(
                            queue as *const hsa_queue_t,
                            turn,
                            turn + 1,
                        )
                    } != turn
                    {}
                }
            });
        }
    });
    // SAFETY: a live queue.
    unsafe {
        let queue = queue as *mut hsa_queue_t;
        assert_eq!((api.hsa_queue_load_write_index_scacquire)(queue), TURNS);
        (api.hsa_queue_destroy)(queue).ok().expect("destroy");
    }
}

#[test]
fn a_queue_that_is_inactivated_takes_no_more_packets() {
    let client = Client::new("gfx90a");
    let queue = client.queue(64, None, std::ptr::null_mut());
    let other = client.queue(64, None, std::ptr::null_mut());
    let (before, after, elsewhere) = (client.signal(1), client.signal(1), client.signal(1));
    client.submit(queue, Client::barrier(AND, true, &[], before));
    client.wait(before);
    // SAFETY: a live queue.
    unsafe { (client.api.hsa_queue_inactivate)(queue) }
        .ok()
        .expect("inactivate");
    client.submit(queue, Client::barrier(AND, true, &[], after));
    client.submit(other, Client::barrier(AND, true, &[], elsewhere));
    client.wait(elsewhere);
    // SAFETY: live queues.
    unsafe {
        assert_eq!((client.api.hsa_queue_load_read_index_scacquire)(queue), 1);
        for queue in [queue, other] {
            (client.api.hsa_queue_destroy)(queue).ok().expect("destroy");
        }
    }
    assert_eq!(client.value(after), 1);
    for signal in [before, after, elsewhere] {
        client.destroy(signal);
    }
}
