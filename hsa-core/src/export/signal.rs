//! Signals: life, waits, handlers, groups.

use std::{
    ffi::c_void,
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
};

use gneiss_hsa_api::*;
use parking_lot::Mutex;

use crate::{
    entry::{HsaResult, entry, require, write_out},
    events, runtime, signal,
    wait::{self, Wanted},
};

pub unsafe extern "C" fn hsa_signal_create(
    initial_value: hsa_signal_value_t,
    num_consumers: u32,
    consumers: *const hsa_agent_t,
    signal: *mut hsa_signal_t,
) -> hsa_status_t {
    entry!(hsa_signal_create, {
        // SAFETY: the caller's arguments.
        unsafe { create(initial_value, num_consumers, consumers, 0, signal) }
    })
}

pub unsafe extern "C" fn hsa_amd_signal_create(
    initial_value: hsa_signal_value_t,
    num_consumers: u32,
    consumers: *const hsa_agent_t,
    attributes: u64,
    signal: *mut hsa_signal_t,
) -> hsa_status_t {
    entry!(hsa_amd_signal_create, {
        // SAFETY: the caller's arguments.
        unsafe { create(initial_value, num_consumers, consumers, attributes, signal) }
    })
}

/// Makes a signal. Its waiters can be woken by device code unless only GPUs consume it.
unsafe fn create(
    value: i64,
    count: u32,
    consumers: *const hsa_agent_t,
    attributes: u64,
    result: *mut hsa_signal_t,
) -> HsaResult {
    let runtime = runtime::get()?;
    require(!result.is_null() && (count == 0 || !consumers.is_null()))?;
    let mut agents = Vec::new();
    for at in 0..count as usize {
        // SAFETY: the caller's list has `count` handles.
        let id = runtime
            .agents
            .id(unsafe { consumers.add(at).read_unaligned() })?;
        require(!agents.contains(&id))?;
        agents.push(id);
    }
    let gpu_only = attributes & u64::from(HSA_AMD_SIGNAL_AMD_GPU_ONLY) != 0
        || (!agents.is_empty() && agents.iter().all(|agent| agent.gpu().is_some()));
    let made = if attributes & u64::from(HSA_AMD_SIGNAL_IPC) != 0 {
        signal::ipc::create(value)?
    } else {
        signal::create(value, !gpu_only)?
    };
    // SAFETY: an out-parameter of the caller.
    unsafe { write_out(result, made) }
}

pub unsafe extern "C" fn hsa_signal_destroy(signal: hsa_signal_t) -> hsa_status_t {
    entry!(hsa_signal_destroy, {
        runtime::get()?;
        require(signal.handle != 0)?;
        signal::destroy(signal)
    })
}

/// Address of the value of a signal that nobody sleeps on.
pub unsafe extern "C" fn hsa_amd_signal_value_pointer(
    signal: hsa_signal_t,
    value_ptr: *mut *mut hsa_signal_value_t,
) -> hsa_status_t {
    entry!(hsa_amd_signal_value_pointer, {
        runtime::get()?;
        let cell = signal::user(signal)?;
        // A store to the memory wakes nobody.
        require(cell.polled())?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(value_ptr, cell.value_address()) }
    })
}

pub unsafe extern "C" fn hsa_signal_wait_scacquire(
    signal: hsa_signal_t,
    condition: hsa_signal_condition_t,
    compare_value: hsa_signal_value_t,
    timeout_hint: u64,
    _wait_state_hint: hsa_wait_state_t,
) -> hsa_signal_value_t {
    wait::wait(signal, condition, compare_value, timeout_hint)
}

pub unsafe extern "C" fn hsa_signal_wait_relaxed(
    signal: hsa_signal_t,
    condition: hsa_signal_condition_t,
    compare_value: hsa_signal_value_t,
    timeout_hint: u64,
    _wait_state_hint: hsa_wait_state_t,
) -> hsa_signal_value_t {
    wait::wait(signal, condition, compare_value, timeout_hint)
}

pub unsafe extern "C" fn hsa_signal_wait_acquire(
    signal: hsa_signal_t,
    condition: hsa_signal_condition_t,
    compare_value: hsa_signal_value_t,
    timeout_hint: u64,
    _wait_state_hint: hsa_wait_state_t,
) -> hsa_signal_value_t {
    wait::wait(signal, condition, compare_value, timeout_hint)
}

/// The signals and conditions of a wait for several.
unsafe fn wanted(
    count: u32,
    signals: *const hsa_signal_t,
    conditions: *const hsa_signal_condition_t,
    values: *const hsa_signal_value_t,
) -> Option<Vec<Wanted>> {
    if count == 0 || signals.is_null() || conditions.is_null() || values.is_null() {
        return None;
    }
    // SAFETY: the caller's lists have `count` elements.
    let wanted = (0..count as usize).map(|at| unsafe {
        Wanted {
            signal: *signals.add(at),
            condition: *conditions.add(at),
            compare: *values.add(at),
        }
    });
    Some(wanted.collect())
}

pub unsafe extern "C" fn hsa_amd_signal_wait_any(
    signal_count: u32,
    signals: *mut hsa_signal_t,
    conds: *mut hsa_signal_condition_t,
    values: *mut hsa_signal_value_t,
    timeout_hint: u64,
    _wait_hint: hsa_wait_state_t,
    satisfying_value: *mut hsa_signal_value_t,
) -> u32 {
    // SAFETY: the caller's lists.
    let Some(wanted) = (unsafe { wanted(signal_count, signals, conds, values) }) else {
        return u32::MAX;
    };
    let Some((index, values)) = wait::wait_many(&wanted, false, timeout_hint) else {
        return u32::MAX;
    };
    if !satisfying_value.is_null() {
        // SAFETY: an out-parameter of the caller.
        unsafe { satisfying_value.write_unaligned(values[index]) };
    }
    index as u32
}

pub unsafe extern "C" fn hsa_amd_signal_wait_all(
    signal_count: u32,
    signals: *mut hsa_signal_t,
    conds: *mut hsa_signal_condition_t,
    values: *mut hsa_signal_value_t,
    timeout_hint: u64,
    _wait_hint: hsa_wait_state_t,
    satisfying_values: *mut hsa_signal_value_t,
) -> u32 {
    // SAFETY: the caller's lists.
    let Some(wanted) = (unsafe { wanted(signal_count, signals, conds, values) }) else {
        return u32::MAX;
    };
    let Some((_, values)) = wait::wait_many(&wanted, true, timeout_hint) else {
        return u32::MAX;
    };
    if !satisfying_values.is_null() {
        // SAFETY: the caller's list has `signal_count` elements.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), satisfying_values, values.len()) };
    }
    0
}

pub unsafe extern "C" fn hsa_amd_signal_async_handler(
    signal: hsa_signal_t,
    cond: hsa_signal_condition_t,
    value: hsa_signal_value_t,
    handler: hsa_amd_signal_handler,
    arg: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_amd_signal_async_handler, {
        runtime::get()?;
        let handler = handler.ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        events::register(signal, cond, value, handler, arg)
    })
}

pub unsafe extern "C" fn hsa_amd_async_function(
    callback: Option<unsafe extern "C" fn(arg: *mut c_void)>,
    arg: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_amd_async_function, {
        runtime::get()?;
        let callback = callback.ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        let argument = arg as usize;
        // SAFETY: the user's function with the user's argument.
        events::defer(move || unsafe { callback(argument as *mut c_void) })
    })
}

/// Groups by handle.
static GROUPS: LazyLock<Mutex<std::collections::HashMap<u64, Vec<hsa_signal_t>>>> =
    LazyLock::new(Mutex::default);
static NEXT_GROUP: AtomicU64 = AtomicU64::new(0x4747_0000_0000_0001);

pub unsafe extern "C" fn hsa_signal_group_create(
    num_signals: u32,
    signals: *const hsa_signal_t,
    num_consumers: u32,
    consumers: *const hsa_agent_t,
    signal_group: *mut hsa_signal_group_t,
) -> hsa_status_t {
    entry!(hsa_signal_group_create, {
        let runtime = runtime::get()?;
        require(num_signals != 0 && !signals.is_null() && !signal_group.is_null())?;
        require(num_consumers == 0 || !consumers.is_null())?;
        // SAFETY: the caller's list has `num_consumers` handles.
        unsafe { runtime.agents.gpu_set(consumers, num_consumers as usize) }?;
        let mut list = Vec::new();
        for at in 0..num_signals as usize {
            // SAFETY: the caller's list has `num_signals` handles.
            let member = unsafe { signals.add(at).read_unaligned() };
            signal::user(member)?;
            list.push(member);
        }
        let handle = NEXT_GROUP.fetch_add(1, Ordering::Relaxed);
        GROUPS.lock().insert(handle, list);
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(signal_group, hsa_signal_group_t { handle }) }
    })
}

pub unsafe extern "C" fn hsa_signal_group_destroy(
    signal_group: hsa_signal_group_t,
) -> hsa_status_t {
    entry!(hsa_signal_group_destroy, {
        runtime::get()?;
        GROUPS
            .lock()
            .remove(&signal_group.handle)
            .map(drop)
            .ok_or(HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP)
    })
}

unsafe fn group_wait(
    group: hsa_signal_group_t,
    conditions: *const hsa_signal_condition_t,
    values: *const hsa_signal_value_t,
    signal: *mut hsa_signal_t,
    value: *mut hsa_signal_value_t,
) -> HsaResult {
    runtime::get()?;
    let list = GROUPS
        .lock()
        .get(&group.handle)
        .cloned()
        .ok_or(HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP)?;
    require(!conditions.is_null() && !values.is_null() && !signal.is_null() && !value.is_null())?;
    // SAFETY: the caller's lists have an element for each signal of the group.
    let wanted = unsafe { wanted(list.len() as u32, list.as_ptr(), conditions, values) };
    let wanted = wanted.ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
    let (index, seen) = wait::wait_many(&wanted, false, u64::MAX).ok_or(HSA_STATUS_ERROR)?;
    // SAFETY: out-parameters of the caller.
    unsafe {
        write_out(signal, list[index])?;
        write_out(value, seen[index])
    }
}

pub unsafe extern "C" fn hsa_signal_group_wait_any_scacquire(
    signal_group: hsa_signal_group_t,
    conditions: *const hsa_signal_condition_t,
    compare_values: *const hsa_signal_value_t,
    _wait_state_hint: hsa_wait_state_t,
    signal: *mut hsa_signal_t,
    value: *mut hsa_signal_value_t,
) -> hsa_status_t {
    entry!(hsa_signal_group_wait_any_scacquire, {
        // SAFETY: the caller's arguments.
        unsafe { group_wait(signal_group, conditions, compare_values, signal, value) }
    })
}

pub unsafe extern "C" fn hsa_signal_group_wait_any_relaxed(
    signal_group: hsa_signal_group_t,
    conditions: *const hsa_signal_condition_t,
    compare_values: *const hsa_signal_value_t,
    _wait_state_hint: hsa_wait_state_t,
    signal: *mut hsa_signal_t,
    value: *mut hsa_signal_value_t,
) -> hsa_status_t {
    entry!(hsa_signal_group_wait_any_relaxed, {
        // SAFETY: the caller's arguments.
        unsafe { group_wait(signal_group, conditions, compare_values, signal, value) }
    })
}
