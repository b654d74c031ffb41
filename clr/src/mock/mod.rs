//! A small HSA library for the unit tests: one GPU whose kernels are Rust functions.
//!
//! Signals are real `amd_signal_t`s with atomic values; each queue has a thread that takes packets in order; an async copy is a thread
//! that waits for its dependencies. The kernel object is the address of an `unsafe extern "C" fn(*const u8)` that gets the kernarg address;
//! [`FAULT`] is a kernel object that faults.

use std::{
    ffi::{CStr, c_void},
    mem::offset_of,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use gneiss_fatbin::{ArgumentMetadata, KernelMetadata, ValueKind};
use gneiss_hsa_api::*;

use crate::{
    Config, Device, Kernel, Runtime,
    simulated::{self, CPU, Pool, Simulated, give},
};

/// A kernel object that faults.
pub(crate) const FAULT: u64 = 0xbad;

mod queues;

use queues::*;
pub(crate) use queues::{add, engine_copies, headers};

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
        crate::kernel::Printf::None,
        false,
    ))
}

struct Mock;

impl Simulated for Mock {
    const LIBRARY: &'static CStr = c"the mock";
    const NAME: &'static CStr = c"gfx90a";
    const ISA: &'static CStr = c"amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-";
    const COMPUTE_UNITS: u32 = 110;
    const ACCESS: u32 = HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT;
    const LINK_ATOMICS: bool = true;
    const FIRST_GPU: u64 = 2;

    fn gpus() -> u64 {
        1
    }

    fn pools(agent: hsa_agent_t) -> Vec<Pool> {
        const FINE: u32 = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED;
        const KERNARG: u32 = FINE | HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT;
        const COARSE: u32 = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED;
        let global = |handle, flags| Pool {
            handle,
            segment: HSA_AMD_SEGMENT_GLOBAL,
            flags,
            size: 1 << 30,
        };
        if agent.handle == CPU {
            return vec![global(11, FINE), global(12, KERNARG)];
        }
        let group = Pool {
            handle: 22,
            segment: HSA_AMD_SEGMENT_GROUP,
            flags: 0,
            size: 65_536,
        };
        vec![global(21, COARSE), group]
    }
}

/// The mock's functions; calling any other aborts the test with a message.
fn table() -> HsaApi {
    let mut api = simulated::table::<Mock>();
    api.hsa_system_get_info = system_get_info;
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
    api.hsa_amd_profiling_get_dispatch_time = dispatch_time;
    api.hsa_amd_profiling_get_async_copy_time = copy_time;
    api
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
