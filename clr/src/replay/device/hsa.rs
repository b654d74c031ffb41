//! The simulated device's HSA functions.

use std::{collections::VecDeque, ffi::c_void};

use gneiss_hsa_api::*;

use super::{
    CPU, CPU_POOL, DEVICE_BASE, DEVICE_SIZE, GPU, GPU_POOL, Happening, SimCopy, SimQueue,
    SimSignal, Slot, now, signal_of, sim,
};

/// Address of a copy's end that stands for a command of the workload.
pub(in crate::replay) fn address_of(device: usize, command: u32) -> u64 {
    DEVICE_BASE + device as u64 * DEVICE_SIZE + 8 * u64::from(command)
}

/// The mark of host work: an address below all devices.
pub(in crate::replay) fn host_work(command: u64) -> u64 {
    command * 8
}

/// The library's functions; those that a replay does not need end the process with a word.
pub(in crate::replay) fn table() -> HsaApi {
    unsafe extern "C" fn missing() {
        eprintln!("gneiss: the simulated device has no such HSA function");
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
    api.hsa_signal_create = signal_create;
    api.hsa_signal_destroy = signal_destroy;
    api.hsa_signal_load_scacquire = signal_load;
    api.hsa_signal_store_screlease = signal_store;
    api.hsa_signal_silent_store_relaxed = signal_store;
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
    api.hsa_amd_register_system_event_handler = register_handler;
    api
}

unsafe extern "C" fn init() -> hsa_status_t {
    HSA_STATUS_SUCCESS
}

type AgentCallback = Option<unsafe extern "C" fn(hsa_agent_t, *mut c_void) -> hsa_status_t>;

unsafe extern "C" fn iterate_agents(callback: AgentCallback, data: *mut c_void) -> hsa_status_t {
    let Some(callback) = callback else {
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    };
    let devices = sim(|sim| sim.devices) as u64;
    for handle in std::iter::once(CPU).chain((0..devices).map(|index| GPU + index)) {
        // SAFETY: the caller's callback and data.
        let status = unsafe { callback(hsa_agent_t { handle }, data) };
        if status != HSA_STATUS_SUCCESS {
            return status;
        }
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
    let kind = if agent.handle == CPU {
        HSA_DEVICE_TYPE_CPU
    } else {
        HSA_DEVICE_TYPE_GPU
    };
    // SAFETY: the caller's buffer is large enough.
    unsafe {
        match attribute {
            HSA_AGENT_INFO_DEVICE => give(value, kind),
            HSA_AGENT_INFO_NAME => give(value, *b"sim\0"),
            HSA_AGENT_INFO_WAVEFRONT_SIZE => give(value, 64_u32),
            HSA_AGENT_INFO_WORKGROUP_MAX_SIZE => give(value, 1024_u32),
            HSA_AGENT_INFO_WORKGROUP_MAX_DIM => give(value, [1024_u16; 3]),
            HSA_AGENT_INFO_GRID_MAX_DIM => give(value, [u32::MAX; 3]),
            HSA_AGENT_INFO_PROFILE => give(value, HSA_PROFILE_BASE),
            HSA_AGENT_INFO_EXTENSIONS => give(value, [0_u8; 128]),
            HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT => give(value, 1_u32),
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
    match callback {
        // SAFETY: the caller's callback and data.
        Some(callback) => unsafe { callback(hsa_isa_t { handle: 1 }, data) },
        None => HSA_STATUS_ERROR_INVALID_ARGUMENT,
    }
}

unsafe extern "C" fn isa_get_info(
    _: hsa_isa_t,
    attribute: u32,
    value: *mut c_void,
) -> hsa_status_t {
    const NAME: &[u8; 26] = b"amdgcn-amd-amdhsa--gfx90a\0";
    // SAFETY: the caller's buffer is large enough.
    unsafe {
        match attribute {
            HSA_ISA_INFO_NAME_LENGTH => give(value, 26_u32),
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
    // The number of a device's pool also says which device.
    let handle = if agent.handle == CPU {
        CPU_POOL
    } else {
        GPU_POOL + (agent.handle - GPU) * 2
    };
    match callback {
        // SAFETY: the caller's callback and data.
        Some(callback) => unsafe { callback(hsa_amd_memory_pool_t { handle }, data) },
        None => HSA_STATUS_ERROR_INVALID_ARGUMENT,
    }
}

unsafe extern "C" fn pool_get_info(
    pool: hsa_amd_memory_pool_t,
    attribute: u32,
    value: *mut c_void,
) -> hsa_status_t {
    // SAFETY: the caller's buffer is large enough.
    unsafe {
        match attribute {
            HSA_AMD_MEMORY_POOL_INFO_SEGMENT => give(value, HSA_AMD_SEGMENT_GLOBAL),
            HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS => give(
                value,
                if pool.handle == CPU_POOL {
                    HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED
                        | HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT
                } else {
                    HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED
                },
            ),
            HSA_AMD_MEMORY_POOL_INFO_SIZE => give(value, 2 * DEVICE_SIZE as usize),
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
                give(value, HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED)
            }
            HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO => give(value, [0_u8; 28]),
            _ => HSA_STATUS_ERROR_INVALID_ARGUMENT,
        }
    }
}

unsafe extern "C" fn system_get_info(attribute: u32, value: *mut c_void) -> hsa_status_t {
    match attribute {
        // Time 0 means "not known" to the queues.
        // SAFETY: the caller's buffer is large enough.
        HSA_SYSTEM_INFO_TIMESTAMP => unsafe { give(value, now() + 1) },
        _ => HSA_STATUS_ERROR_INVALID_ARGUMENT,
    }
}

unsafe extern "C" fn pool_allocate(
    pool: hsa_amd_memory_pool_t,
    size: usize,
    _: u32,
    place: *mut *mut c_void,
) -> hsa_status_t {
    if pool.handle != CPU_POOL {
        // One allocation of each device, which nobody touches.
        let device = (pool.handle - GPU_POOL) / 2;
        // SAFETY: the result has a valid place.
        unsafe { place.write((DEVICE_BASE + device * DEVICE_SIZE) as *mut c_void) };
        return HSA_STATUS_SUCCESS;
    }
    let Ok(layout) = std::alloc::Layout::from_size_align(size + 4096, 4096) else {
        return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    };
    // SAFETY: the layout is not empty; the size is kept in front, for freeing; the result has a valid place.
    unsafe {
        let memory = std::alloc::alloc(layout);
        if memory.is_null() {
            return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
        }
        memory.cast::<usize>().write(size);
        place.write(memory.add(4096).cast());
    }
    HSA_STATUS_SUCCESS
}

unsafe extern "C" fn pool_free(address: *mut c_void) -> hsa_status_t {
    if address as u64 >= DEVICE_BASE && (address as u64) < DEVICE_BASE + 64 * DEVICE_SIZE {
        return HSA_STATUS_SUCCESS;
    }
    // SAFETY: from `pool_allocate`.
    unsafe {
        let memory = address.cast::<u8>().sub(4096);
        let size = memory.cast::<usize>().read();
        if let Ok(layout) = std::alloc::Layout::from_size_align(size + 4096, 4096) {
            std::alloc::dealloc(memory, layout);
        }
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

unsafe extern "C" fn signal_create(
    value: i64,
    _: u32,
    _: *const hsa_agent_t,
    place: *mut hsa_signal_t,
) -> hsa_status_t {
    let signal = Box::new(SimSignal {
        amd: amd_signal_t::user(value),
        waiters: Vec::new(),
    });
    // SAFETY: the result has a valid place.
    unsafe {
        place.write(hsa_signal_t {
            handle: Box::into_raw(signal) as u64,
        });
    }
    HSA_STATUS_SUCCESS
}

unsafe extern "C" fn signal_destroy(signal: hsa_signal_t) -> hsa_status_t {
    // SAFETY: from `signal_create`.
    drop(unsafe { Box::from_raw(signal.handle as *mut SimSignal) });
    HSA_STATUS_SUCCESS
}

unsafe extern "C" fn signal_load(signal: hsa_signal_t) -> i64 {
    signal_of(signal).amd.value
}

/// A doorbell is the signal whose `event_id` names a queue.
unsafe extern "C" fn signal_store(signal: hsa_signal_t, value: i64) {
    let place = signal_of(signal);
    if place.amd.event_id != 0 {
        let index = place.amd.event_id as usize - 1;
        sim(|sim| {
            sim.queues[index].rung = value as u64 + 1;
            sim.at(sim.now, Happening::Pump(index));
        });
        return;
    }
    place.amd.value = value;
}

unsafe extern "C" fn dispatch_time(
    _: hsa_agent_t,
    signal: hsa_signal_t,
    time: *mut hsa_amd_profiling_dispatch_time_t,
) -> hsa_status_t {
    let amd = &signal_of(signal).amd;
    // SAFETY: the result has a valid place.
    unsafe {
        time.write(hsa_amd_profiling_dispatch_time_t {
            start: amd.start_ts + 1,
            end: amd.end_ts + 1,
        });
    }
    HSA_STATUS_SUCCESS
}

unsafe extern "C" fn copy_time(
    signal: hsa_signal_t,
    time: *mut hsa_amd_profiling_async_copy_time_t,
) -> hsa_status_t {
    let amd = &signal_of(signal).amd;
    // SAFETY: the result has a valid place.
    unsafe {
        time.write(hsa_amd_profiling_async_copy_time_t {
            start: amd.start_ts + 1,
            end: amd.end_ts + 1,
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
    let dependencies = if count == 0 {
        Vec::new()
    } else {
        // SAFETY: the caller's list.
        unsafe { std::slice::from_raw_parts(dependencies, count as usize) }.to_vec()
    };
    let ends = [dst as u64, src as u64];
    let on_device = ends.iter().find(|end| **end >= DEVICE_BASE);
    sim(|sim| {
        let (device, command, host) = match on_device {
            Some(end) => {
                let offset = end - DEVICE_BASE;
                let (device, place) = (offset / DEVICE_SIZE, offset % DEVICE_SIZE);
                ((device as usize).min(sim.devices - 1), place / 8, false)
            }
            // The host is busy with a command: its number is the address, the time is the size.
            None => (0, ends[0] / 8, true),
        };
        let duration = if host {
            size as u64
        } else {
            sim.duration(command)
        };
        let copy = SimCopy {
            device,
            duration,
            host,
            dependencies,
            completion,
            start: 0,
            command,
        };
        let index = match sim.free_copies.pop() {
            Some(index) => {
                sim.copies[index] = copy;
                index
            }
            None => {
                sim.copies.push(copy);
                sim.copies.len() - 1
            }
        };
        sim.try_copy(index);
    });
    HSA_STATUS_SUCCESS
}

unsafe extern "C" fn queue_create(
    agent: hsa_agent_t,
    size: u32,
    kind: u32,
    _: Option<unsafe extern "C" fn(hsa_status_t, *mut hsa_queue_t, *mut c_void)>,
    _: *mut c_void,
    _: u32,
    _: u32,
    place: *mut *mut hsa_queue_t,
) -> hsa_status_t {
    let mut doorbell = hsa_signal_t::default();
    // SAFETY: the result has a valid place; a zeroed amd_queue_t is valid.
    unsafe {
        let _ = signal_create(0, 0, std::ptr::null(), &raw mut doorbell);
        let mut queue = Box::new(SimQueue {
            amd: std::mem::zeroed(),
            ring: vec![Slot([HSA_PACKET_TYPE_INVALID; 16]); size as usize],
            device: (agent.handle - GPU) as usize,
            read: 0,
            write: 0,
            rung: 0,
            running: VecDeque::new(),
        });
        queue.amd.hsa_queue = hsa_queue_t {
            r#type: kind,
            features: 1,
            base_address: queue.ring.as_mut_ptr().cast(),
            doorbell_signal: doorbell,
            size,
            reserved1: 0,
            id: 0,
        };
        place.write((&raw mut *queue).cast());
        sim(|sim| {
            sim.queues.push(queue);
            signal_of(doorbell).amd.event_id = sim.queues.len() as u32;
        });
    }
    HSA_STATUS_SUCCESS
}

/// Queues live as long as the simulation.
unsafe extern "C" fn queue_destroy(_: *mut hsa_queue_t) -> hsa_status_t {
    HSA_STATUS_SUCCESS
}

unsafe extern "C" fn queue_read_index(queue: *const hsa_queue_t) -> u64 {
    // SAFETY: from `queue_create`.
    unsafe { (*queue.cast::<SimQueue>()).read }
}

unsafe extern "C" fn queue_add_write_index(queue: *const hsa_queue_t, value: u64) -> u64 {
    // SAFETY: from `queue_create`; one thread.
    unsafe {
        let queue = queue.cast_mut().cast::<SimQueue>();
        let write = (*queue).write;
        (*queue).write += value;
        write
    }
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

unsafe extern "C" fn register_handler(
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
    unsafe { place.write(c"a status of the simulated device".as_ptr()) };
    HSA_STATUS_SUCCESS
}
