//! Times of dispatches and copies. The GPU's clock is the system's, so a tick is a nanosecond on both.

use std::sync::atomic::Ordering;

use gneiss_hsa_api::*;

use crate::{
    entry::{entry, unsupported, write_out},
    queue, runtime, signal,
};

pub unsafe extern "C" fn hsa_amd_profiling_set_profiler_enabled(
    queue: *mut hsa_queue_t,
    enable: i32,
) -> hsa_status_t {
    entry!(hsa_amd_profiling_set_profiler_enabled, {
        runtime::get()?;
        // SAFETY: the caller's queue.
        unsafe { queue::find(queue) }?.set_profiling(enable != 0);
        Ok(())
    })
}

pub unsafe extern "C" fn hsa_amd_profiling_async_copy_enable(enable: bool) -> hsa_status_t {
    entry!(hsa_amd_profiling_async_copy_enable, {
        runtime::get()?
            .profile_copies
            .store(enable, Ordering::Relaxed);
        Ok(())
    })
}

pub unsafe extern "C" fn hsa_amd_profiling_get_dispatch_time(
    agent: hsa_agent_t,
    signal: hsa_signal_t,
    time: *mut hsa_amd_profiling_dispatch_time_t,
) -> hsa_status_t {
    entry!(hsa_amd_profiling_get_dispatch_time, {
        runtime::get()?.agents.gpu(agent)?;
        let cell = signal::user(signal)?;
        let times = hsa_amd_profiling_dispatch_time_t {
            start: cell.start_ts.load(Ordering::Relaxed),
            end: cell.end_ts.load(Ordering::Relaxed),
        };
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(time, times) }
    })
}

pub unsafe extern "C" fn hsa_amd_profiling_get_async_copy_time(
    signal: hsa_signal_t,
    time: *mut hsa_amd_profiling_async_copy_time_t,
) -> hsa_status_t {
    entry!(hsa_amd_profiling_get_async_copy_time, {
        runtime::get()?;
        let cell = signal::user(signal)?;
        let times = hsa_amd_profiling_async_copy_time_t {
            start: cell.start_ts.load(Ordering::Relaxed),
            end: cell.end_ts.load(Ordering::Relaxed),
        };
        if times.start == 0 {
            // Nothing wrote times: copy profiling was off.
            return Err(HSA_STATUS_ERROR);
        }
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(time, times) }
    })
}

pub unsafe extern "C" fn hsa_amd_profiling_convert_tick_to_system_domain(
    agent: hsa_agent_t,
    agent_tick: u64,
    system_tick: *mut u64,
) -> hsa_status_t {
    entry!(hsa_amd_profiling_convert_tick_to_system_domain, {
        runtime::get()?.agents.gpu(agent)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(system_tick, agent_tick) }
    })
}

/// Streaming performance monitors are hardware.
pub unsafe extern "C" fn hsa_amd_spm_acquire(_preferred_agent: hsa_agent_t) -> hsa_status_t {
    unsupported("hsa_amd_spm_acquire", HSA_STATUS_ERROR)
}

pub unsafe extern "C" fn hsa_amd_spm_release(_preferred_agent: hsa_agent_t) -> hsa_status_t {
    unsupported("hsa_amd_spm_release", HSA_STATUS_ERROR)
}

pub unsafe extern "C" fn hsa_amd_spm_set_dest_buffer(
    _preferred_agent: hsa_agent_t,
    _size_in_bytes: usize,
    _timeout: *mut u32,
    _size_copied: *mut u32,
    _dest: *mut std::ffi::c_void,
    _is_data_loss: *mut bool,
) -> hsa_status_t {
    unsupported("hsa_amd_spm_set_dest_buffer", HSA_STATUS_ERROR)
}
