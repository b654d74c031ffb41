//! The simulated device's HSA functions.

use std::{
    collections::VecDeque,
    ffi::{CStr, c_void},
};

use gneiss_hsa_api::*;

use super::{
    CPU_POOL, DEVICE_BASE, DEVICE_SIZE, GPU, GPU_POOL, Happening, SimCopy, SimQueue, SimSignal,
    Slot, now, signal_of, sim,
};
use crate::simulated::{self, CPU, Pool, Simulated, give};

/// Address of a copy's end that stands for a command of the workload.
pub(in crate::replay) fn address_of(device: usize, command: u32) -> u64 {
    DEVICE_BASE + device as u64 * DEVICE_SIZE + 8 * u64::from(command)
}

/// The mark of host work: an address below all devices.
pub(in crate::replay) fn host_work(command: u64) -> u64 {
    command * 8
}

struct Replayed;

impl Simulated for Replayed {
    const LIBRARY: &'static CStr = c"the simulated device";
    const NAME: &'static CStr = c"sim";
    const ISA: &'static CStr = c"amdgcn-amd-amdhsa--gfx90a";
    const COMPUTE_UNITS: u32 = 1;
    const ACCESS: u32 = HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
    const LINK_ATOMICS: bool = false;
    const FIRST_GPU: u64 = GPU;

    fn gpus() -> u64 {
        sim(|sim| sim.devices) as u64
    }

    fn pools(agent: hsa_agent_t) -> Vec<Pool> {
        let (handle, flags) = if agent.handle == CPU {
            let flags = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED
                | HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT;
            (CPU_POOL, flags)
        } else {
            // The number of a device's pool also says which device.
            let handle = GPU_POOL + agent.handle - GPU;
            (handle, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED)
        };
        vec![Pool {
            handle,
            segment: HSA_AMD_SEGMENT_GLOBAL,
            flags,
            size: 2 * DEVICE_SIZE as usize,
        }]
    }
}

/// The library's functions; those that a replay does not need end the process with a word.
pub(in crate::replay) fn table() -> HsaApi {
    let mut api = simulated::table::<Replayed>();
    api.hsa_system_get_info = system_get_info;
    api.hsa_amd_memory_pool_allocate = pool_allocate;
    api.hsa_amd_memory_pool_free = pool_free;
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
    api.hsa_amd_profiling_get_dispatch_time = dispatch_time;
    api.hsa_amd_profiling_get_async_copy_time = copy_time;
    api
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
    flags: u32,
    place: *mut *mut c_void,
) -> hsa_status_t {
    if pool.handle != CPU_POOL {
        // One allocation of each device, which nobody touches.
        let device = pool.handle - GPU_POOL;
        // SAFETY: the result has a valid place.
        unsafe { place.write((DEVICE_BASE + device * DEVICE_SIZE) as *mut c_void) };
        return HSA_STATUS_SUCCESS;
    }
    // SAFETY: the caller's result.
    unsafe { simulated::pool_allocate(pool, size, flags, place) }
}

unsafe extern "C" fn pool_free(address: *mut c_void) -> hsa_status_t {
    if address as u64 >= DEVICE_BASE {
        return HSA_STATUS_SUCCESS;
    }
    // SAFETY: from `pool_allocate`.
    unsafe { simulated::pool_free(address) }
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
