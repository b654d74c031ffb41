//! HSA devices without hardware or code: what the simulated device of a replay and the unit tests' mock answer alike.
//!
//! A library of that kind implements [`Simulated`] for a type of its own and starts from [`table`]: agents, ISA, pools, host memory and the
//! settings that have no effect are here, signals, queues, copies and time are its own.

use std::{
    alloc::Layout,
    ffi::{CStr, c_char, c_void},
};

use gneiss_hsa_api::*;

/// The handle of the CPU agent; every other handle is a GPU.
pub(crate) const CPU: u64 = 1;

/// A memory pool as `hsa_amd_memory_pool_get_info` describes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pool {
    pub(crate) handle: u64,
    /// `HSA_AMD_SEGMENT_…`.
    pub(crate) segment: u32,
    /// `HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_…`.
    pub(crate) flags: u32,
    /// Bytes.
    pub(crate) size: usize,
}

/// What tells one library of simulated devices from another.
pub(crate) trait Simulated {
    /// Who speaks in messages.
    const LIBRARY: &'static CStr;
    /// The agents' name.
    const NAME: &'static CStr;
    /// The full ISA name of the GPUs.
    const ISA: &'static CStr;
    /// Compute units of a GPU.
    const COMPUTE_UNITS: u32;
    /// How an agent reaches a pool of another: `HSA_AMD_MEMORY_POOL_ACCESS_…`.
    const ACCESS: u32;
    /// Atomic operations reach the other side of the link.
    const LINK_ATOMICS: bool;

    /// How many GPUs there are.
    fn gpus() -> u64;
    /// The handle of the first GPU; the others follow.
    const FIRST_GPU: u64;
    /// The pools of an agent.
    fn pools(agent: hsa_agent_t) -> Vec<Pool>;
}

/// A table with the functions of this module; calling one that nobody fills in ends the process with a word.
pub(crate) fn table<S: Simulated>() -> HsaApi {
    let mut api = HsaApi::all_missing(missing::<S>);
    api.hsa_init = init;
    api.hsa_iterate_agents = iterate_agents::<S>;
    api.hsa_agent_get_info = agent_get_info::<S>;
    api.hsa_agent_iterate_isas = iterate_isas;
    api.hsa_isa_get_info_alt = isa_get_info::<S>;
    api.hsa_amd_agent_iterate_memory_pools = iterate_pools::<S>;
    api.hsa_amd_memory_pool_get_info = pool_get_info::<S>;
    api.hsa_amd_agent_memory_pool_get_info = agent_pool_get_info::<S>;
    api.hsa_amd_memory_pool_allocate = pool_allocate;
    api.hsa_amd_memory_pool_free = pool_free;
    api.hsa_amd_agents_allow_access = allow_access;
    api.hsa_amd_profiling_set_profiler_enabled = set_profiler;
    api.hsa_amd_profiling_async_copy_enable = copy_profiler;
    api.hsa_amd_queue_set_priority = set_priority;
    api.hsa_amd_register_system_event_handler = register_handler;
    api.hsa_status_string = status_string::<S>;
    api
}

/// Writes the value of an attribute, of whatever type.
///
/// # Safety
/// `place` has room for a `T`.
pub(crate) unsafe fn give<T>(place: *mut c_void, value: T) -> hsa_status_t {
    // SAFETY: the caller's.
    unsafe { place.cast::<T>().write_unaligned(value) };
    HSA_STATUS_SUCCESS
}

/// Writes a text with its NUL.
///
/// # Safety
/// `place` has room for it.
unsafe fn give_text(place: *mut c_void, text: &CStr) -> hsa_status_t {
    let bytes = text.to_bytes_with_nul();
    // SAFETY: the caller's.
    unsafe {
        place
            .cast::<u8>()
            .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len())
    };
    HSA_STATUS_SUCCESS
}

/// Calls an iteration's callback for each item until one does not succeed.
///
/// # Safety
/// `callback` may be called with `data`.
unsafe fn each<T>(
    items: impl IntoIterator<Item = T>,
    callback: Option<unsafe extern "C" fn(T, *mut c_void) -> hsa_status_t>,
    data: *mut c_void,
) -> hsa_status_t {
    let Some(callback) = callback else {
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    };
    for item in items {
        // SAFETY: the caller's.
        let status = unsafe { callback(item, data) };
        if status != HSA_STATUS_SUCCESS {
            return status;
        }
    }
    HSA_STATUS_SUCCESS
}

unsafe extern "C" fn missing<S: Simulated>() {
    eprintln!(
        "gneiss: {} has no such HSA function",
        S::LIBRARY.to_string_lossy()
    );
    std::process::abort();
}

unsafe extern "C" fn init() -> hsa_status_t {
    HSA_STATUS_SUCCESS
}

fn agents<S: Simulated>() -> impl Iterator<Item = hsa_agent_t> {
    std::iter::once(CPU)
        .chain(S::FIRST_GPU..S::FIRST_GPU + S::gpus())
        .map(|handle| hsa_agent_t { handle })
}

unsafe extern "C" fn iterate_agents<S: Simulated>(
    callback: Option<unsafe extern "C" fn(hsa_agent_t, *mut c_void) -> hsa_status_t>,
    data: *mut c_void,
) -> hsa_status_t {
    // SAFETY: the caller's callback and data.
    unsafe { each(agents::<S>(), callback, data) }
}

unsafe extern "C" fn agent_get_info<S: Simulated>(
    agent: hsa_agent_t,
    attribute: u32,
    value: *mut c_void,
) -> hsa_status_t {
    let kind = if agent.handle == CPU {
        HSA_DEVICE_TYPE_CPU
    } else {
        HSA_DEVICE_TYPE_GPU
    };
    // SAFETY: the caller's buffer is large enough.
    unsafe {
        match attribute {
            HSA_AGENT_INFO_DEVICE => give(value, kind),
            HSA_AGENT_INFO_NAME => give_text(value, S::NAME),
            HSA_AGENT_INFO_WAVEFRONT_SIZE => give(value, 64_u32),
            HSA_AGENT_INFO_WORKGROUP_MAX_SIZE => give(value, 1024_u32),
            HSA_AGENT_INFO_WORKGROUP_MAX_DIM => give(value, [1024_u16; 3]),
            HSA_AGENT_INFO_GRID_MAX_DIM => give(value, [u32::MAX; 3]),
            HSA_AGENT_INFO_PROFILE => give(value, HSA_PROFILE_BASE),
            HSA_AGENT_INFO_EXTENSIONS => give(value, [0_u8; 128]),
            HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT => give(value, S::COMPUTE_UNITS),
            HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU => give(value, 32_u32),
            HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU => give(value, 4_u32),
            _ => HSA_STATUS_ERROR_INVALID_ARGUMENT,
        }
    }
}

unsafe extern "C" fn iterate_isas(
    _: hsa_agent_t,
    callback: Option<unsafe extern "C" fn(hsa_isa_t, *mut c_void) -> hsa_status_t>,
    data: *mut c_void,
) -> hsa_status_t {
    // SAFETY: the caller's callback and data.
    unsafe { each([hsa_isa_t { handle: 1 }], callback, data) }
}

unsafe extern "C" fn isa_get_info<S: Simulated>(
    _: hsa_isa_t,
    attribute: u32,
    value: *mut c_void,
) -> hsa_status_t {
    // SAFETY: the caller's buffer is large enough.
    unsafe {
        match attribute {
            HSA_ISA_INFO_NAME_LENGTH => give(value, S::ISA.to_bytes_with_nul().len() as u32),
            HSA_ISA_INFO_NAME => give_text(value, S::ISA),
            _ => HSA_STATUS_ERROR_INVALID_ARGUMENT,
        }
    }
}

unsafe extern "C" fn iterate_pools<S: Simulated>(
    agent: hsa_agent_t,
    callback: Option<unsafe extern "C" fn(hsa_amd_memory_pool_t, *mut c_void) -> hsa_status_t>,
    data: *mut c_void,
) -> hsa_status_t {
    let handles = S::pools(agent)
        .into_iter()
        .map(|pool| hsa_amd_memory_pool_t {
            handle: pool.handle,
        });
    // SAFETY: the caller's callback and data.
    unsafe { each(handles, callback, data) }
}

unsafe extern "C" fn pool_get_info<S: Simulated>(
    pool: hsa_amd_memory_pool_t,
    attribute: u32,
    value: *mut c_void,
) -> hsa_status_t {
    let found = agents::<S>()
        .flat_map(S::pools)
        .find(|candidate| candidate.handle == pool.handle);
    let Some(pool) = found else {
        return HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
    };
    // SAFETY: the caller's buffer is large enough.
    unsafe {
        match attribute {
            HSA_AMD_MEMORY_POOL_INFO_SEGMENT => give(value, pool.segment),
            HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS => give(value, pool.flags),
            HSA_AMD_MEMORY_POOL_INFO_SIZE => give(value, pool.size),
            HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE => give(value, 4096_usize),
            _ => HSA_STATUS_ERROR_INVALID_ARGUMENT,
        }
    }
}

unsafe extern "C" fn agent_pool_get_info<S: Simulated>(
    _: hsa_agent_t,
    _: hsa_amd_memory_pool_t,
    attribute: u32,
    value: *mut c_void,
) -> hsa_status_t {
    // SAFETY: the caller's buffer is large enough.
    unsafe {
        match attribute {
            HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS => give(value, S::ACCESS),
            HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO => {
                // One `hsa_amd_memory_pool_link_info_t`, whose atomics flags are bytes 16 and 17; nobody reads its distances.
                let mut link = [0_u8; 28];
                link[16..18].fill(u8::from(S::LINK_ATOMICS));
                give(value, link)
            }
            _ => HSA_STATUS_ERROR_INVALID_ARGUMENT,
        }
    }
}

/// Bytes before an allocation, the first of which hold its size.
const FRONT: usize = 4096;

/// Gives host memory, aligned to a page.
pub(crate) unsafe extern "C" fn pool_allocate(
    _: hsa_amd_memory_pool_t,
    size: usize,
    _: u32,
    place: *mut *mut c_void,
) -> hsa_status_t {
    let layout = size
        .checked_add(FRONT)
        .and_then(|size| Layout::from_size_align(size, FRONT).ok());
    let Some(layout) = layout else {
        return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    };
    // SAFETY: the layout is not empty; the result has a valid place.
    unsafe {
        let memory = std::alloc::alloc(layout);
        if memory.is_null() {
            return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
        }
        memory.cast::<usize>().write(layout.size());
        place.write(memory.add(FRONT).cast());
    }
    HSA_STATUS_SUCCESS
}

/// Frees what [`pool_allocate`] gave.
pub(crate) unsafe extern "C" fn pool_free(address: *mut c_void) -> hsa_status_t {
    // SAFETY: from `pool_allocate`, which keeps the layout's size in front.
    unsafe {
        let memory = address.cast::<u8>().sub(FRONT);
        let size = memory.cast::<usize>().read();
        std::alloc::dealloc(memory, Layout::from_size_align_unchecked(size, FRONT));
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

unsafe extern "C" fn set_profiler(_: *mut hsa_queue_t, _: i32) -> hsa_status_t {
    HSA_STATUS_SUCCESS
}

unsafe extern "C" fn copy_profiler(_: bool) -> hsa_status_t {
    HSA_STATUS_SUCCESS
}

unsafe extern "C" fn set_priority(_: *mut hsa_queue_t, _: u32) -> hsa_status_t {
    HSA_STATUS_SUCCESS
}

/// No fault ever comes this way.
unsafe extern "C" fn register_handler(
    _: hsa_amd_system_event_callback_t,
    _: *mut c_void,
) -> hsa_status_t {
    HSA_STATUS_SUCCESS
}

unsafe extern "C" fn status_string<S: Simulated>(
    _: hsa_status_t,
    place: *mut *const c_char,
) -> hsa_status_t {
    // SAFETY: the result has a valid place.
    unsafe { place.write(S::LIBRARY.as_ptr()) };
    HSA_STATUS_SUCCESS
}
