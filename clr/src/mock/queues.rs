//! Signals, queues and copies of the mock.

use std::{cell::RefCell, collections::VecDeque};

use parking_lot::Mutex;

use super::*;

/// Packets that a queue remembers.
const REMEMBERED: usize = 64;

thread_local! {
    static HEADERS: RefCell<VecDeque<u32>> = const { RefCell::new(VecDeque::new()) };
}

/// For kernels: the header bits of the last packets of the queue that runs this one, which is the last of them.
pub(crate) fn headers() -> Vec<u32> {
    HEADERS.with_borrow(|headers| headers.iter().copied().collect())
}

/// A copy that an engine was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EngineCopy {
    pub(crate) dst: u64,
    pub(crate) src: u64,
    pub(crate) size: usize,
    /// The handles of the agents, that of `dst` first.
    pub(crate) agents: (u64, u64),
}

static ENGINE_COPIES: Mutex<Vec<EngineCopy>> = Mutex::new(Vec::new());

/// The copies to `dst` that engines were given, in order.
pub(crate) fn engine_copies(dst: u64) -> Vec<EngineCopy> {
    let copies = ENGINE_COPIES.lock();
    copies
        .iter()
        .filter(|copy| copy.dst == dst)
        .copied()
        .collect()
}

pub(super) unsafe extern "C" fn signal_create(
    value: i64,
    _: u32,
    _: *const hsa_agent_t,
    place: *mut hsa_signal_t,
) -> hsa_status_t {
    let signal = Box::new(amd_signal_t::user(value));
    LIVE_SIGNALS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the result has a valid place.
    unsafe {
        place.write(hsa_signal_t {
            handle: Box::into_raw(signal) as u64,
        });
    }
    HSA_STATUS_SUCCESS
}

pub(super) unsafe extern "C" fn amd_signal_create(
    value: i64,
    count: u32,
    consumers: *const hsa_agent_t,
    _: u64,
    place: *mut hsa_signal_t,
) -> hsa_status_t {
    // SAFETY: the caller's.
    unsafe { signal_create(value, count, consumers, place) }
}

fn value_of(signal: hsa_signal_t) -> &'static AtomicI64 {
    let address = signal.handle as usize + offset_of!(amd_signal_t, value);
    // SAFETY: the tests keep signals alive while they are used.
    unsafe { AtomicI64::from_ptr(address as *mut i64) }
}

pub(super) unsafe extern "C" fn signal_value_pointer(
    signal: hsa_signal_t,
    place: *mut *mut i64,
) -> hsa_status_t {
    // SAFETY: the result has a valid place.
    unsafe { place.write(value_of(signal).as_ptr()) };
    HSA_STATUS_SUCCESS
}

pub(super) unsafe extern "C" fn signal_destroy(signal: hsa_signal_t) -> hsa_status_t {
    LIVE_SIGNALS.fetch_sub(1, Ordering::Relaxed);
    // SAFETY: from `signal_create`.
    drop(unsafe { Box::from_raw(signal.handle as *mut amd_signal_t) });
    HSA_STATUS_SUCCESS
}

pub(super) unsafe extern "C" fn signal_load(signal: hsa_signal_t) -> i64 {
    value_of(signal).load(Ordering::SeqCst)
}

pub(super) unsafe extern "C" fn signal_store(signal: hsa_signal_t, value: i64) {
    value_of(signal).store(value, Ordering::SeqCst);
}

pub(super) unsafe extern "C" fn signal_wait(
    signal: hsa_signal_t,
    condition: u32,
    compare: i64,
    timeout: u64,
    _: u32,
) -> i64 {
    let start = now();
    loop {
        let value = value_of(signal).load(Ordering::SeqCst);
        let holds = match condition {
            HSA_SIGNAL_CONDITION_EQ => value == compare,
            HSA_SIGNAL_CONDITION_NE => value != compare,
            HSA_SIGNAL_CONDITION_LT => value < compare,
            _ => value >= compare,
        };
        if holds || (timeout != u64::MAX && now() - start > timeout) {
            return value;
        }
        std::thread::sleep(Duration::from_micros(20));
    }
}

fn complete(signal: hsa_signal_t, start: u64) {
    if signal.handle != 0 {
        let amd = signal.handle as *mut amd_signal_t;
        // SAFETY: the signal is alive until it is decremented.
        unsafe {
            (*amd).start_ts = start;
            (*amd).end_ts = now();
        }
        value_of(signal).fetch_sub(1, Ordering::SeqCst);
    }
}

pub(super) unsafe extern "C" fn dispatch_time(
    _: hsa_agent_t,
    signal: hsa_signal_t,
    time: *mut hsa_amd_profiling_dispatch_time_t,
) -> hsa_status_t {
    // SAFETY: the signal is alive and completed.
    unsafe {
        let amd = signal.handle as *const amd_signal_t;
        time.write(hsa_amd_profiling_dispatch_time_t {
            start: (*amd).start_ts,
            end: (*amd).end_ts,
        });
    }
    HSA_STATUS_SUCCESS
}

pub(super) unsafe extern "C" fn copy_time(
    signal: hsa_signal_t,
    time: *mut hsa_amd_profiling_async_copy_time_t,
) -> hsa_status_t {
    // SAFETY: the signal is alive and completed.
    unsafe {
        let amd = signal.handle as *const amd_signal_t;
        time.write(hsa_amd_profiling_async_copy_time_t {
            start: (*amd).start_ts,
            end: (*amd).end_ts,
        });
    }
    HSA_STATUS_SUCCESS
}

pub(super) unsafe extern "C" fn async_copy(
    dst: *mut c_void,
    dst_agent: hsa_agent_t,
    src: *const c_void,
    src_agent: hsa_agent_t,
    size: usize,
    count: u32,
    dependencies: *const hsa_signal_t,
    completion: hsa_signal_t,
) -> hsa_status_t {
    ENGINE_COPIES.lock().push(EngineCopy {
        dst: dst as u64,
        src: src as u64,
        size,
        agents: (dst_agent.handle, src_agent.handle),
    });
    let dependencies: Vec<hsa_signal_t> = if count == 0 {
        Vec::new()
    } else {
        // SAFETY: the caller's list.
        unsafe { std::slice::from_raw_parts(dependencies, count as usize) }.to_vec()
    };
    let (dst, src) = (dst as usize, src as usize);
    std::thread::spawn(move || {
        while dependencies
            .iter()
            .any(|signal| value_of(*signal).load(Ordering::SeqCst) > 0)
        {
            std::thread::sleep(Duration::from_micros(20));
        }
        let start = now();
        // SAFETY: the test keeps both ranges valid until the copy has ended.
        unsafe { std::ptr::copy_nonoverlapping(src as *const u8, dst as *mut u8, size) };
        complete(completion, start);
    });
    HSA_STATUS_SUCCESS
}

/// A queue with its ring and what the packet processor needs.
#[repr(C)]
struct MockQueue {
    amd: amd_queue_t,
    ring: Vec<[u32; 16]>,
    stop: AtomicBool,
    callback: ErrorCallback,
    data: usize,
}

type ErrorCallback = Option<unsafe extern "C" fn(hsa_status_t, *mut hsa_queue_t, *mut c_void)>;

pub(super) unsafe extern "C" fn queue_create(
    _: hsa_agent_t,
    size: u32,
    kind: u32,
    callback: ErrorCallback,
    data: *mut c_void,
    _: u32,
    _: u32,
    place: *mut *mut hsa_queue_t,
) -> hsa_status_t {
    let mut doorbell = hsa_signal_t::default();
    // SAFETY: the result has a valid place; a zeroed amd_queue_t is valid.
    unsafe {
        let _ = signal_create(-1, 0, std::ptr::null(), &raw mut doorbell);
        // Every word, as the ring begins at the first aligned one.
        let ring = vec![[HSA_PACKET_TYPE_INVALID; 16]; size as usize + 4];
        let mut queue = Box::new(MockQueue {
            amd: std::mem::zeroed(),
            ring,
            stop: AtomicBool::new(false),
            callback,
            data: data as usize,
        });
        let base = queue.ring.as_mut_ptr() as usize;
        queue.amd.hsa_queue = hsa_queue_t {
            r#type: kind,
            features: 1,
            base_address: base.next_multiple_of(64) as *mut c_void,
            doorbell_signal: doorbell,
            size,
            reserved1: 0,
            id: now(),
        };
        let queue = Box::into_raw(queue);
        place.write(queue.cast());
        let address = queue as usize;
        std::thread::spawn(move || process(address));
    }
    HSA_STATUS_SUCCESS
}

/// Queues live until the process ends: their threads may still look at them.
pub(super) unsafe extern "C" fn queue_destroy(queue: *mut hsa_queue_t) -> hsa_status_t {
    // SAFETY: from `queue_create`.
    unsafe {
        (*queue.cast::<MockQueue>())
            .stop
            .store(true, Ordering::SeqCst)
    };
    HSA_STATUS_SUCCESS
}

fn index_of(queue: *const hsa_queue_t, offset: usize) -> &'static AtomicU64 {
    // SAFETY: queues are never freed.
    unsafe { AtomicU64::from_ptr((queue as usize + offset) as *mut u64) }
}

pub(super) unsafe extern "C" fn queue_read_index(queue: *const hsa_queue_t) -> u64 {
    index_of(queue, offset_of!(amd_queue_t, read_dispatch_id)).load(Ordering::SeqCst)
}

pub(super) unsafe extern "C" fn queue_add_write_index(
    queue: *const hsa_queue_t,
    value: u64,
) -> u64 {
    index_of(queue, offset_of!(amd_queue_t, write_dispatch_id)).fetch_add(value, Ordering::SeqCst)
}

/// The packet processor: one packet after the other (all packets have the barrier bit here).
fn process(address: usize) {
    let queue = address as *mut MockQueue;
    // SAFETY: queues are never freed; fields other than atomics do not change.
    let (base, size) = unsafe {
        let public = &(*queue).amd.hsa_queue;
        (public.base_address as usize, u64::from(public.size))
    };
    let read = index_of(queue.cast(), offset_of!(amd_queue_t, read_dispatch_id));
    let mut index = 0_u64;
    loop {
        let slot = base + (index % size) as usize * 64;
        // SAFETY: the slot is in the ring.
        let header = unsafe { AtomicU32::from_ptr(slot as *mut u32) };
        while header.load(Ordering::Acquire) & 0xff == HSA_PACKET_TYPE_INVALID {
            // SAFETY: queues are never freed.
            let stop = unsafe { (*queue).stop.load(Ordering::SeqCst) };
            if stop {
                return;
            }
            std::thread::sleep(Duration::from_micros(20));
        }
        let bits = header.load(Ordering::Acquire) & 0xffff;
        let kind = bits & 0xff;
        HEADERS.with_borrow_mut(|headers| {
            if headers.len() == REMEMBERED {
                headers.pop_front();
            }
            headers.push_back(bits);
        });
        // SAFETY: the header says that the packet is complete.
        let words = unsafe { (slot as *const [u32; 16]).read() };
        let word64 = |at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << 32;
        header.store(HSA_PACKET_TYPE_INVALID, Ordering::Release);
        index += 1;
        read.store(index, Ordering::SeqCst);
        let start = now();
        match kind {
            HSA_PACKET_TYPE_KERNEL_DISPATCH => {
                let object = word64(8);
                if object == FAULT {
                    // SAFETY: the creator's callback and data.
                    unsafe {
                        (*queue).callback.expect("a callback")(
                            HSA_STATUS_ERROR_MEMORY_FAULT,
                            queue.cast(),
                            (*queue).data as *mut c_void,
                        );
                    }
                    return;
                }
                // SAFETY: the test's kernels are functions of this type.
                unsafe {
                    let function: unsafe extern "C" fn(*const u8) =
                        std::mem::transmute(object as usize);
                    function(word64(10) as *const u8);
                }
            }
            HSA_PACKET_TYPE_BARRIER_AND => {
                for dependency in 0..5 {
                    let handle = word64(2 + 2 * dependency);
                    while handle != 0
                        && value_of(hsa_signal_t { handle }).load(Ordering::SeqCst) > 0
                    {
                        std::thread::sleep(Duration::from_micros(20));
                    }
                }
            }
            kind => panic!("the mock does not process packets of type {kind}"),
        }
        complete(hsa_signal_t { handle: word64(14) }, start);
    }
}

/// Adds to a signal, as device code does.
pub(crate) fn add(signal: hsa_signal_t, value: i64) {
    value_of(signal).fetch_add(value, Ordering::SeqCst);
}
