//! Sixteen threads make and destroy queues, signals, memory and copies. What is alive returns to what it was, and memory does not grow.
//!
//! `make verify` runs it for a minute; otherwise a few rounds do.

mod common;

use std::time::{Duration, Instant};

use common::Client;
use gneiss_hsa_api::*;

const THREADS: usize = 16;
/// Most growth of the resident set in bytes.
const GROWTH: u64 = 1 << 20;

/// Bytes of this process that are in memory, without what the allocator keeps for later.
fn resident() -> u64 {
    // SAFETY: gives free memory back to the system; nothing that is in use changes.
    unsafe { libc::malloc_trim(0) };
    let text = std::fs::read_to_string("/proc/self/statm").expect("procfs");
    let pages: u64 = text
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse().ok())
        .expect("pages");
    pages * 4096
}

/// One thread's round: every object once.
fn round(client: &Client, thread: usize) {
    let api = &client.api;
    let fine = client.pool(client.cpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED);
    let coarse = client.pool(
        client.gpus[0],
        HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
    );
    let bytes = 4096 * (1 + thread % 3);
    let (host, device) = (client.allocate(fine, bytes), client.allocate(coarse, bytes));
    let (gate, copied, back, over) = (
        client.signal(1),
        client.signal(1),
        client.signal(1),
        client.signal(1),
    );
    let queue = client.queue(64, None, std::ptr::null_mut());
    let pattern = thread as u8 ^ 0x5a;
    // SAFETY: memory and signals of this round, within their sizes, until all work on them is over.
    unsafe {
        host.write_bytes(pattern, bytes);
        let copy = |to: *mut u8, from: *mut u8, after: &hsa_signal_t, done| {
            (api.hsa_amd_memory_async_copy)(
                to.cast(),
                client.gpus[0],
                from.cast(),
                client.cpu,
                bytes,
                1,
                after,
                done,
            )
            .ok()
            .expect("copy");
        };
        copy(device, host, &gate, copied);
        copy(host, device, &copied, back);
        client.submit(
            queue,
            Client::barrier(HSA_PACKET_TYPE_BARRIER_AND, true, &[back], over),
        );
        (api.hsa_signal_store_screlease)(gate, 0);
        client.wait(over);
        assert!(
            (0..bytes)
                .step_by(512)
                .all(|at| device.add(at).read() == pattern)
        );
        (api.hsa_queue_destroy)(queue).ok().expect("destroy");
    }
    [gate, copied, back, over]
        .into_iter()
        .for_each(|signal| client.destroy(signal));
    client.free(host);
    client.free(device);
}

/// All threads, until `over` says so after a round.
fn run(client: &Client, over: impl Fn(usize) -> bool + Sync) {
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let over = &over;
            scope.spawn(move || {
                let mut rounds = 0;
                while !over(rounds) {
                    round(client, thread);
                    rounds += 1;
                }
            });
        }
    });
}

#[test]
fn nothing_is_left_of_what_sixteen_threads_made() {
    // One heap for all threads: else each thread's own heap grows, for a long time, until it has seen the most that it ever holds, and that is
    // as much as is allowed here.
    // SAFETY: sets a parameter of the allocator.
    assert_eq!(unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) }, 1);
    let client = Client::new("gfx90a");
    let live = gneiss_hsa_core::live_objects();
    // What grows once: stacks, free lists, the pools of the allocator.
    run(&client, |rounds| rounds == 100);
    let before = resident();
    if std::env::var_os("GNEISS_VERIFY").is_some() {
        let end = Instant::now() + Duration::from_secs(60);
        run(&client, |_| Instant::now() > end);
    } else {
        run(&client, |rounds| rounds == 1000);
    }
    // A worker may still hold the last signal that it has completed: it lets go of it without anybody waiting for that.
    let end = Instant::now() + Duration::from_secs(20);
    while gneiss_hsa_core::live_objects() != live && Instant::now() < end {
        std::thread::yield_now();
    }
    assert_eq!(gneiss_hsa_core::live_objects(), live);
    let growth = resident().saturating_sub(before);
    eprintln!("{growth} bytes more are in memory");
    assert!(growth < GROWTH, "{growth} bytes more are in memory");
}
