//! What the virtual GPU chooses: fence scopes of packets, and who does a copy. Only the mock shows both.

use gneiss_hsa_api::*;

use super::*;
use crate::simulated::CPU;

/// The mock's only GPU.
const GPU: u64 = 2;

/// Stores the headers of its queue's packets in the vector that its argument points to.
unsafe extern "C" fn note_headers(arguments: *const u8) {
    // SAFETY: the test passes a pointer to a mutex that outlives the kernel.
    let place = unsafe { &*(arguments.cast::<u64>().read() as *const Mutex<Vec<u32>>) };
    *place.lock() = mock::headers();
}

const NOTE_HEADERS: Code = Code {
    function: note_headers,
    name: "note_headers",
    arguments: 1,
};

/// A queue's packets so far: their types, and the scopes of acquire and release. The last one is the kernel that looked.
fn packets(queue: &HostQueue, look: &Arc<Kernel>) -> Vec<(u32, u32, u32)> {
    let headers = Mutex::new(Vec::new());
    let place = std::ptr::from_ref(&headers) as u64;
    launch(queue, look, &[place], &[]).wait().expect("no error");
    let scope = |bits: u32, at: u32| bits >> at & 3;
    let headers = headers.lock();
    headers
        .iter()
        .map(|bits| {
            (
                bits & 0xff,
                scope(*bits, HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE),
                scope(*bits, HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE),
            )
        })
        .collect()
}

const AGENT: u32 = HSA_FENCE_SCOPE_AGENT;
const SYSTEM: u32 = HSA_FENCE_SCOPE_SYSTEM;
const KERNEL: u32 = HSA_PACKET_TYPE_KERNEL_DISPATCH;

#[test]
fn a_batch_acquires_from_the_system_first_and_releases_to_it_last() {
    let config = Config {
        max_batch_size: 3,
        ..Config::default()
    };
    for config in all_modes(&config) {
        let f = fixture_with(config);
        let (queue, value) = (f.queue(), f.value(1));
        let (add, look) = (f.kernel(&DOUBLE_AND_ADD), f.kernel(&NOTE_HEADERS));
        // Held back, so that all seven are submitted in one go.
        let gate = Event::user();
        queue
            .enqueue_marker(std::slice::from_ref(&gate))
            .expect("a marker");
        for _ in 0..7 {
            launch(&queue, &add, &[address(&value), 0], &[]);
        }
        gate.set_user_status(Status::COMPLETE);
        queue.finish().expect("no error");
        let mut seen = packets(&queue, &look);
        // Who looks is a batch of its own.
        assert_eq!(seen.pop(), Some((KERNEL, SYSTEM, SYSTEM)));
        let whole = [
            (KERNEL, SYSTEM, AGENT),
            (KERNEL, AGENT, AGENT),
            (KERNEL, AGENT, SYSTEM),
        ];
        assert_eq!(seen[..3], whole);
        assert_eq!(seen[3..6], whole);
        assert_eq!(seen[6..], [(KERNEL, SYSTEM, SYSTEM)]);
        assert_eq!(value.load(Ordering::SeqCst), 1 << 7);
    }
}

#[test]
fn a_kernel_behind_the_hosts_or_an_engines_writes_acquires_from_the_system() {
    for config in all_modes(&Config::default()) {
        let f = fixture_with(config);
        let (queue, value) = (f.queue(), f.value(1));
        let (add, look) = (f.kernel(&DOUBLE_AND_ADD), f.kernel(&NOTE_HEADERS));
        let memory = [f.device_memory(LARGE), f.device_memory(LARGE)];
        let gate = Event::user();
        queue
            .enqueue_marker(std::slice::from_ref(&gate))
            .expect("a marker");
        // SAFETY: the memory lives until the end.
        unsafe {
            launch(&queue, &add, &[address(&value), 0], &[]);
            queue
                .enqueue_copy(memory[1], memory[0], LARGE, &[])
                .expect("a copy");
            launch(&queue, &add, &[address(&value), 0], &[]);
            queue
                .enqueue_fill(memory[1], &[1], 64, &[])
                .expect("a fill");
            launch(&queue, &add, &[address(&value), 0], &[]);
            queue
                .enqueue_host_function(Box::new(|_| {}), false, &[])
                .expect("a function");
            launch(&queue, &add, &[address(&value), 0], &[]);
        }
        gate.set_user_status(Status::COMPLETE);
        queue.finish().expect("no error");
        let seen = packets(&queue, &look);
        let kernels: Vec<_> = seen.iter().filter(|packet| packet.0 == KERNEL).collect();
        assert_eq!(kernels.len(), 5, "{seen:?}");
        for kernel in kernels {
            // What is behind each of them is no packet of this queue: everybody must see what it wrote.
            assert_eq!(*kernel, (KERNEL, SYSTEM, SYSTEM), "{seen:?}");
        }
    }
}

/// More than the host copies itself.
const LARGE: usize = 512 * 1024;

#[test]
fn engines_copy_what_is_large_or_behind_other_work_and_the_host_the_rest() {
    for config in all_modes(&Config::default()) {
        let f = fixture_with(config);
        let queue = f.queue();
        let pinned = || {
            f.runtime
                .allocate_host(&f.device, LARGE, HostFlags::COHERENT)
                .expect("memory")
                .device_address()
        };
        let mut pageable = vec![0_u8; LARGE];
        let source = pageable.as_mut_ptr() as u64;
        // A copy to a new place, and on whose behalf an engine does it; none: the host does.
        let check = |dst: u64, src: u64, size: usize, behind_work: bool, by: Option<(u64, u64)>| {
            let (gate, wait) = (f.value(0), f.kernel(&WAIT_FOR_FLAG));
            if behind_work {
                launch(&queue, &wait, &[address(&gate)], &[]);
            }
            // SAFETY: all memory lives until the end.
            let event = unsafe { queue.enqueue_copy(dst, src, size, &[]) }.expect("a copy");
            queue.flush();
            // An engine has it while the work before it still runs; the host would wait for that.
            let began = std::time::Instant::now();
            while behind_work
                && by.is_some()
                && mock::engine_copies(dst).is_empty()
                && began.elapsed() < Duration::from_secs(60)
            {
                thread::yield_now();
            }
            gate.store(1, Ordering::SeqCst);
            event.wait().expect("no error");
            queue.finish().expect("no error");
            let copies = mock::engine_copies(dst);
            for copy in &copies {
                assert_eq!((copy.src, copy.size), (src, size), "in one piece");
            }
            let agents: Vec<_> = copies.iter().map(|copy| copy.agents).collect();
            assert_eq!(
                agents,
                Vec::from_iter(by),
                "{size} bytes, behind work: {behind_work}"
            );
        };
        let (small, idle, busy) = (4096, false, true);
        let device = || f.device_memory(LARGE);
        // Small, nothing before it: the host.
        check(device(), pinned(), small, idle, None);
        check(device(), device(), small, idle, None);
        // Behind a kernel, or large: an engine, on behalf of both ends.
        for (size, before) in [(small, busy), (LARGE, idle), (LARGE, busy)] {
            check(device(), pinned(), size, before, Some((GPU, CPU)));
            check(pinned(), device(), size, before, Some((CPU, GPU)));
            check(device(), device(), size, before, Some((GPU, GPU)));
            // Engines do not copy from host to host, and not from memory that they do not know.
            check(pinned(), pinned(), size, before, None);
            check(device(), source, size, before, None);
        }
    }
}
