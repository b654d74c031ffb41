//! A small HSA library for the unit tests: one GPU whose kernels are Rust functions.
//!
//! Signals are real `amd_signal_t`s with atomic values; each queue has a thread that takes packets in order; an async copy is a thread
//! that waits for its dependencies. The kernel object is the address of an `unsafe extern "C" fn(*const u8)` that gets the kernarg address;
//! [`FAULT`] is a kernel object that faults.

use std::{
    ffi::c_void,
    mem::offset_of,
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

mod queues;

pub(crate) use queues::add;
use queues::*;

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
        .map(|index| ArgumentMetadata::new(ValueKind::ByValue, 8 * index, 8))
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
    let mut api = HsaApi::all_missing(missing);
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
