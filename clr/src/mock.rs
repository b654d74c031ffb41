//! A small HSA library for the unit tests: one GPU whose kernels are Rust functions.
//!
//! Signals are real `amd_signal_t`s with atomic values; each queue has a thread that takes packets in order; an async copy is a thread
//! that waits for its dependencies. The kernel object is the address of an `unsafe extern "C" fn(*const u8)` that gets the kernarg address;
//! [`FAULT`] is a kernel object that faults.

use std::{
    ffi::c_void,
    mem::{MaybeUninit, offset_of},
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use gneiss_fatbin::{ArgumentMetadata, KernelMetadata, ValueKind};
use gneiss_hsa_api::*;

use crate::{Config, Device, Kernel, Runtime};

/// A kernel object that faults.
pub(crate) const FAULT: u64 = 0xbad;

const CPU: u64 = 1;
const GPU: u64 = 2;
const CPU_FINE: u64 = 11;
const CPU_KERNARG: u64 = 12;
const GPU_COARSE: u64 = 21;
const GPU_GROUP: u64 = 22;

/// Signals made and not destroyed.
pub(crate) static LIVE_SIGNALS: AtomicUsize = AtomicUsize::new(0);

/// A runtime over a mock of its own.
pub(crate) fn runtime(config: Config) -> Arc<Runtime> {
    Runtime::new(table(), config).expect("the mock starts")
}

/// A kernel with one 8-byte argument for each of `arguments`.
pub(crate) fn kernel(
    device: &Arc<Device>,
    function: unsafe extern "C" fn(*const u8),
    arguments: u32,
) -> Arc<Kernel> {
    kernel_object(device, function as *const () as usize as u64, arguments)
}

pub(crate) fn kernel_object(device: &Arc<Device>, object: u64, arguments: u32) -> Arc<Kernel> {
    let args = (0..arguments)
        .map(|index| ArgumentMetadata {
            name: None,
            type_name: None,
            offset: 8 * index,
            size: 8,
            value_kind: ValueKind::ByValue,
            pointee_align: None,
            address_space: None,
            access: None,
            actual_access: None,
            is_const: false,
            is_restrict: false,
            is_volatile: false,
            is_pipe: false,
        })
        .collect();
    let metadata = KernelMetadata {
        name: "mock".into(),
        symbol: "mock.kd".into(),
        args,
        kernarg_segment_size: 8 * arguments,
        kernarg_segment_align: 8,
        max_flat_workgroup_size: 1024,
        ..Default::default()
    };
    Arc::new(Kernel::new(
        metadata,
        object,
        device.clone(),
        Weak::new(),
        false,
    ))
}

/// The mock's functions; calling any other aborts the test with a message.
fn table() -> HsaApi {
    unsafe extern "C" fn missing() {
        eprintln!("the mock has no such HSA function");
        std::process::abort();
    }
    let words = size_of::<HsaApi>() / size_of::<usize>();
    let mut api = MaybeUninit::<HsaApi>::uninit();
    // SAFETY: the table holds nothing but (optional) function pointers, one word each.
    let mut api = unsafe {
        let place = api.as_mut_ptr().cast::<usize>();
        for index in 0..words {
            place.add(index).write(missing as *const () as usize);
        }
        api.assume_init()
    };
    api.gneiss_hsa_last_fault = None;
    api.hsa_init = init;
    api.hsa_iterate_agents = iterate_agents;
    api.hsa_agent_get_info = agent_get_info;
    api.hsa_agent_iterate_isas = iterate_isas;
    api.hsa_isa_get_info_alt = isa_get_info;
    api.hsa_amd_agent_iterate_memory_pools = iterate_pools;
    api.hsa_amd_memory_pool_get_info = pool_get_info;
    api.hsa_amd_agent_memory_pool_get_info = agent_pool_get_info;
    api.hsa_system_get_info = system_get_info;
    api.hsa_amd_memory_pool_allocate = pool_allocate;
    api.hsa_amd_memory_pool_free = pool_free;
    api.hsa_amd_agents_allow_access = allow_access;
    api.hsa_amd_memory_lock = lock;
    api.hsa_amd_memory_unlock = unlock;
    api.hsa_signal_create = signal_create;
    api.hsa_amd_signal_create = amd_signal_create;
    api.hsa_amd_signal_value_pointer = signal_value_pointer;
    api.hsa_signal_destroy = signal_destroy;
    api.hsa_signal_load_scacquire = signal_load;
    api.hsa_signal_store_screlease = signal_store;
    api.hsa_signal_silent_store_relaxed = signal_store;
    api.hsa_signal_wait_scacquire = signal_wait;
    api.hsa_amd_memory_async_copy = async_copy;
    api.hsa_queue_create = queue_create;
    api.hsa_queue_destroy = queue_destroy;
    api.hsa_queue_load_read_index_scacquire = queue_read_index;
    api.hsa_queue_add_write_index_relaxed = queue_add_write_index;
    api.hsa_amd_profiling_set_profiler_enabled = set_profiler;
    api.hsa_amd_profiling_async_copy_enable = copy_profiler;
    api.hsa_amd_profiling_get_dispatch_time = dispatch_time;
    api.hsa_amd_profiling_get_async_copy_time = copy_time;
    api.hsa_amd_queue_set_priority = set_priority;
    api.hsa_status_string = status_string;
    api.hsa_amd_register_system_event_handler = register_system_event_handler;
    api
}

unsafe extern "C" fn init() -> hsa_status_t {
    HSA_STATUS_SUCCESS
}

type AgentCallback = Option<unsafe extern "C" fn(hsa_agent_t, *mut c_void) -> hsa_status_t>;

unsafe extern "C" fn iterate_agents(callback: AgentCallback, data: *mut c_void) -> hsa_status_t {
    for handle in [CPU, GPU] {
        // SAFETY: the caller's callback and data.
        let _ = unsafe { callback.expect("a callback")(hsa_agent_t { handle }, data) };
    }
    HSA_STATUS_SUCCESS
}

/// Writes a value of any type.
unsafe fn give<T>(place: *mut c_void, value: T) -> hsa_status_t {
    // SAFETY: the caller's.
    unsafe { place.cast::<T>().write_unaligned(value) };
    HSA_STATUS_SUCCESS
}

unsafe extern "C" fn agent_get_info(
    agent: hsa_agent_t,
    attribute: u32,
    value: *mut c_void,
) -> hsa_status_t {
    // SAFETY: the caller's buffer is large enough.
    unsafe {
        match attribute {
            HSA_AGENT_INFO_DEVICE => give(
                value,
                if agent.handle == CPU {
                    HSA_DEVICE_TYPE_CPU
                } else {
                    HSA_DEVICE_TYPE_GPU
                },
            ),
            HSA_AGENT_INFO_NAME => give(value, *b"gfx90a\0"),
            HSA_AGENT_INFO_WAVEFRONT_SIZE => give(value, 64_u32),
            HSA_AGENT_INFO_WORKGROUP_MAX_SIZE => give(value, 1024_u32),
            HSA_AGENT_INFO_WORKGROUP_MAX_DIM => give(value, [1024_u16; 3]),
            HSA_AGENT_INFO_GRID_MAX_DIM => give(value, [u32::MAX; 3]),
            HSA_AGENT_INFO_PROFILE => give(value, HSA_PROFILE_BASE),
            HSA_AGENT_INFO_EXTENSIONS => give(value, [0_u8; 128]),
            HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT => give(value, 110_u32),
            HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU => give(value, 32_u32),
            HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU => give(value, 4_u32),
            _ => HSA_STATUS_ERROR_INVALID_ARGUMENT,
        }
    }
}

type IsaCallback = Option<unsafe extern "C" fn(hsa_isa_t, *mut c_void) -> hsa_status_t>;

unsafe extern "C" fn iterate_isas(
    _: hsa_agent_t,
    callback: IsaCallback,
    data: *mut c_void,
) -> hsa_status_t {
    // SAFETY: the caller's callback and data.
    unsafe { callback.expect("a callback")(hsa_isa_t { handle: 1 }, data) }
}

unsafe extern "C" fn isa_get_info(
    _: hsa_isa_t,
    attribute: u32,
    value: *mut c_void,
) -> hsa_status_t {
    const NAME: &[u8; 42] = b"amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-\0";
    // SAFETY: the caller's buffer is large enough.
    unsafe {
        match attribute {
            HSA_ISA_INFO_NAME_LENGTH => give(value, NAME.len() as u32),
            HSA_ISA_INFO_NAME => give(value, *NAME),
            _ => HSA_STATUS_ERROR_INVALID_ARGUMENT,
        }
    }
}

type PoolCallback =
    Option<unsafe extern "C" fn(hsa_amd_memory_pool_t, *mut c_void) -> hsa_status_t>;

unsafe extern "C" fn iterate_pools(
    agent: hsa_agent_t,
    callback: PoolCallback,
    data: *mut c_void,
) -> hsa_status_t {
    let pools = if agent.handle == CPU {
        [CPU_FINE, CPU_KERNARG]
    } else {
        [GPU_COARSE, GPU_GROUP]
    };
    for handle in pools {
        // SAFETY: the caller's callback and data.
        let _ = unsafe { callback.expect("a callback")(hsa_amd_memory_pool_t { handle }, data) };
    }
    HSA_STATUS_SUCCESS
}

unsafe extern "C" fn pool_get_info(
    pool: hsa_amd_memory_pool_t,
    attribute: u32,
    value: *mut c_void,
) -> hsa_status_t {
    // SAFETY: the caller's buffer is large enough.
    unsafe {
        match attribute {
            HSA_AMD_MEMORY_POOL_INFO_SEGMENT if pool.handle == GPU_GROUP => {
                give(value, HSA_AMD_SEGMENT_GROUP)
            }
            HSA_AMD_MEMORY_POOL_INFO_SEGMENT => give(value, HSA_AMD_SEGMENT_GLOBAL),
            HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS => give(
                value,
                match pool.handle {
                    CPU_FINE => HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED,
                    CPU_KERNARG => {
                        HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED
                            | HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT
                    }
                    _ => HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
                },
            ),
            HSA_AMD_MEMORY_POOL_INFO_SIZE if pool.handle == GPU_GROUP => give(value, 65_536_usize),
            HSA_AMD_MEMORY_POOL_INFO_SIZE => give(value, 1_usize << 30),
            HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE => give(value, 4096_usize),
            _ => HSA_STATUS_ERROR_INVALID_ARGUMENT,
        }
    }
}

unsafe extern "C" fn agent_pool_get_info(
    _: hsa_agent_t,
    _: hsa_amd_memory_pool_t,
    attribute: u32,
    value: *mut c_void,
) -> hsa_status_t {
    // SAFETY: the caller's buffer is large enough.
    unsafe {
        match attribute {
            HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS => {
                give(value, HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT)
            }
            HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO => give(value, [1_u8; 28]),
            _ => HSA_STATUS_ERROR_INVALID_ARGUMENT,
        }
    }
}

fn now() -> u64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64 + 1
}

unsafe extern "C" fn system_get_info(attribute: u32, value: *mut c_void) -> hsa_status_t {
    // SAFETY: the caller's buffer is large enough.
    unsafe {
        match attribute {
            HSA_SYSTEM_INFO_TIMESTAMP => give(value, now()),
            _ => HSA_STATUS_ERROR_INVALID_ARGUMENT,
        }
    }
}

unsafe extern "C" fn pool_allocate(
    _: hsa_amd_memory_pool_t,
    size: usize,
    _: u32,
    place: *mut *mut c_void,
) -> hsa_status_t {
    // The size is kept in front, for freeing.
    let layout = std::alloc::Layout::from_size_align(size + 4096, 4096).expect("a layout");
    // SAFETY: the layout is not empty; the result has a valid place.
    unsafe {
        let memory = std::alloc::alloc(layout);
        memory.cast::<usize>().write(size);
        place.write(memory.add(4096).cast());
    }
    HSA_STATUS_SUCCESS
}

unsafe extern "C" fn pool_free(address: *mut c_void) -> hsa_status_t {
    // SAFETY: from `pool_allocate`.
    unsafe {
        let memory = address.cast::<u8>().sub(4096);
        let size = memory.cast::<usize>().read();
        let layout = std::alloc::Layout::from_size_align(size + 4096, 4096).expect("a layout");
        std::alloc::dealloc(memory, layout);
    }
    HSA_STATUS_SUCCESS
}

unsafe extern "C" fn allow_access(
    _: u32,
    _: *const hsa_agent_t,
    _: *const u32,
    _: *const c_void,
) -> hsa_status_t {
    HSA_STATUS_SUCCESS
}

unsafe extern "C" fn lock(
    host: *mut c_void,
    _: usize,
    _: *mut hsa_agent_t,
    _: i32,
    device: *mut *mut c_void,
) -> hsa_status_t {
    // SAFETY: the result has a valid place.
    unsafe { device.write(host) };
    HSA_STATUS_SUCCESS
}

unsafe extern "C" fn unlock(_: *mut c_void) -> hsa_status_t {
    HSA_STATUS_SUCCESS
}

// ---- Signals ----

unsafe extern "C" fn signal_create(
    value: i64,
    _: u32,
    _: *const hsa_agent_t,
    place: *mut hsa_signal_t,
) -> hsa_status_t {
    let signal = Box::new(amd_signal_t {
        kind: AMD_SIGNAL_KIND_USER,
        value,
        event_mailbox_ptr: 0,
        event_id: 0,
        reserved1: 0,
        start_ts: 0,
        end_ts: 0,
        queue_ptr: std::ptr::null_mut(),
        reserved3: [0; 2],
    });
    LIVE_SIGNALS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the result has a valid place.
    unsafe {
        place.write(hsa_signal_t {
            handle: Box::into_raw(signal) as u64,
        });
    }
    HSA_STATUS_SUCCESS
}

unsafe extern "C" fn amd_signal_create(
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

unsafe extern "C" fn signal_value_pointer(
    signal: hsa_signal_t,
    place: *mut *mut i64,
) -> hsa_status_t {
    // SAFETY: the result has a valid place.
    unsafe { place.write(value_of(signal).as_ptr()) };
    HSA_STATUS_SUCCESS
}

unsafe extern "C" fn signal_destroy(signal: hsa_signal_t) -> hsa_status_t {
    LIVE_SIGNALS.fetch_sub(1, Ordering::Relaxed);
    // SAFETY: from `signal_create`.
    drop(unsafe { Box::from_raw(signal.handle as *mut amd_signal_t) });
    HSA_STATUS_SUCCESS
}

unsafe extern "C" fn signal_load(signal: hsa_signal_t) -> i64 {
    value_of(signal).load(Ordering::SeqCst)
}

unsafe extern "C" fn signal_store(signal: hsa_signal_t, value: i64) {
    value_of(signal).store(value, Ordering::SeqCst);
}

unsafe extern "C" fn signal_wait(
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

unsafe extern "C" fn dispatch_time(
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

unsafe extern "C" fn copy_time(
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

unsafe extern "C" fn async_copy(
    dst: *mut c_void,
    _: hsa_agent_t,
    src: *const c_void,
    _: hsa_agent_t,
    size: usize,
    count: u32,
    dependencies: *const hsa_signal_t,
    completion: hsa_signal_t,
) -> hsa_status_t {
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

// ---- Queues ----

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

unsafe extern "C" fn queue_create(
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
unsafe extern "C" fn queue_destroy(queue: *mut hsa_queue_t) -> hsa_status_t {
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

unsafe extern "C" fn queue_read_index(queue: *const hsa_queue_t) -> u64 {
    index_of(queue, offset_of!(amd_queue_t, read_dispatch_id)).load(Ordering::SeqCst)
}

unsafe extern "C" fn queue_add_write_index(queue: *const hsa_queue_t, value: u64) -> u64 {
    index_of(queue, offset_of!(amd_queue_t, write_dispatch_id)).fetch_add(value, Ordering::SeqCst)
}

unsafe extern "C" fn set_profiler(_: *mut hsa_queue_t, _: i32) -> hsa_status_t {
    HSA_STATUS_SUCCESS
}

unsafe extern "C" fn copy_profiler(_: bool) -> hsa_status_t {
    HSA_STATUS_SUCCESS
}

unsafe extern "C" fn set_priority(_: *mut hsa_queue_t, _: u32) -> hsa_status_t {
    HSA_STATUS_SUCCESS
}

unsafe extern "C" fn register_system_event_handler(
    _: hsa_amd_system_event_callback_t,
    _: *mut c_void,
) -> hsa_status_t {
    HSA_STATUS_SUCCESS
}

unsafe extern "C" fn status_string(
    _: hsa_status_t,
    place: *mut *const std::ffi::c_char,
) -> hsa_status_t {
    // SAFETY: the result has a valid place.
    unsafe { place.write(c"a mock's status".as_ptr()) };
    HSA_STATUS_SUCCESS
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
        let kind = header.load(Ordering::Acquire) & 0xff;
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
