//! Asynchronous copies.

use std::ffi::c_void;

use gneiss_hsa_api::*;

use crate::{
    copy::{self, Signals},
    entry::{HsaResult, entry, require, write_out},
    runtime,
};

/// What both forms of a plain copy have.
struct Request {
    destination: *mut c_void,
    source: *const c_void,
    agents: [hsa_agent_t; 2],
    size: usize,
    dependencies: (u32, *const hsa_signal_t),
    completion: hsa_signal_t,
}

unsafe fn linear(request: &Request) -> HsaResult {
    let runtime = runtime::get()?;
    require(!request.destination.is_null() && !request.source.is_null())?;
    for agent in request.agents {
        runtime.agents.id(agent)?;
    }
    let (count, dependencies) = request.dependencies;
    // SAFETY: the caller's list has `count` handles.
    let signals = unsafe { Signals::check(count, dependencies, request.completion) }?;
    if request.size == 0 {
        // Nothing to do, and by the rules of this function the signal stays as it is.
        return Ok(());
    }
    copy::linear(
        &runtime,
        request.destination,
        request.source,
        request.size,
        signals,
    )
}

pub unsafe extern "C" fn hsa_amd_memory_async_copy(
    dst: *mut c_void,
    dst_agent: hsa_agent_t,
    src: *const c_void,
    src_agent: hsa_agent_t,
    size: usize,
    num_dep_signals: u32,
    dep_signals: *const hsa_signal_t,
    completion_signal: hsa_signal_t,
) -> hsa_status_t {
    entry!(hsa_amd_memory_async_copy, {
        let request = Request {
            destination: dst,
            source: src,
            agents: [dst_agent, src_agent],
            size,
            dependencies: (num_dep_signals, dep_signals),
            completion: completion_signal,
        };
        // SAFETY: the caller's arguments.
        unsafe { linear(&request) }
    })
}

/// The engine is a hint: a copy runs where there is room.
pub unsafe extern "C" fn hsa_amd_memory_async_copy_on_engine(
    dst: *mut c_void,
    dst_agent: hsa_agent_t,
    src: *const c_void,
    src_agent: hsa_agent_t,
    size: usize,
    num_dep_signals: u32,
    dep_signals: *const hsa_signal_t,
    completion_signal: hsa_signal_t,
    engine_id: hsa_amd_sdma_engine_id_t,
    _force_copy_on_sdma: bool,
) -> hsa_status_t {
    entry!(hsa_amd_memory_async_copy_on_engine, {
        require(engine_id.is_power_of_two() && engine_id <= 0x8000)?;
        let request = Request {
            destination: dst,
            source: src,
            agents: [dst_agent, src_agent],
            size,
            dependencies: (num_dep_signals, dep_signals),
            completion: completion_signal,
        };
        // SAFETY: the caller's arguments.
        unsafe { linear(&request) }
    })
}

/// Engines that are free: all of them, for none is ever taken.
fn free_engines(dst_agent: hsa_agent_t, src_agent: hsa_agent_t) -> HsaResult<u32> {
    let runtime = runtime::get()?;
    let gpu = [dst_agent, src_agent]
        .into_iter()
        .find_map(|agent| runtime.agents.gpu(agent).ok());
    let (_, gpu) = gpu.ok_or(HSA_STATUS_ERROR_INVALID_AGENT)?;
    runtime.agents.id(dst_agent)?;
    runtime.agents.id(src_agent)?;
    Ok((1 << (gpu.spec.card.sdma[0] + gpu.spec.card.sdma[1])) - 1)
}

pub unsafe extern "C" fn hsa_amd_memory_copy_engine_status(
    dst_agent: hsa_agent_t,
    src_agent: hsa_agent_t,
    engine_ids_mask: *mut u32,
) -> hsa_status_t {
    entry!(hsa_amd_memory_copy_engine_status, {
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(engine_ids_mask, free_engines(dst_agent, src_agent)?) }
    })
}

pub unsafe extern "C" fn hsa_amd_memory_get_preferred_copy_engine(
    dst_agent: hsa_agent_t,
    src_agent: hsa_agent_t,
    recommended_ids_mask: *mut u32,
) -> hsa_status_t {
    entry!(hsa_amd_memory_get_preferred_copy_engine, {
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(recommended_ids_mask, free_engines(dst_agent, src_agent)?) }
    })
}

pub unsafe extern "C" fn hsa_amd_memory_async_copy_rect(
    dst: *const hsa_pitched_ptr_t,
    dst_offset: *const hsa_dim3_t,
    src: *const hsa_pitched_ptr_t,
    src_offset: *const hsa_dim3_t,
    range: *const hsa_dim3_t,
    copy_agent: hsa_agent_t,
    dir: hsa_amd_copy_direction_t,
    num_dep_signals: u32,
    dep_signals: *const hsa_signal_t,
    completion_signal: hsa_signal_t,
) -> hsa_status_t {
    entry!(hsa_amd_memory_async_copy_rect, {
        let runtime = runtime::get()?;
        require(
            !dst.is_null()
                && !dst_offset.is_null()
                && !src.is_null()
                && !src_offset.is_null()
                && !range.is_null(),
        )?;
        require(dir <= hsaDeviceToDevice)?;
        runtime.agents.gpu(copy_agent)?;
        // SAFETY: the caller's structures.
        let (dst, dst_offset, src, src_offset, range) =
            unsafe { (&*dst, &*dst_offset, &*src, &*src_offset, &*range) };
        require(!dst.base.is_null() && !src.base.is_null())?;
        // SDMA engines copy dwords.
        let aligned = |pointer: &hsa_pitched_ptr_t, offset: &hsa_dim3_t| {
            (pointer.base as usize).is_multiple_of(4)
                && pointer.pitch.is_multiple_of(4)
                && pointer.slice.is_multiple_of(4)
                && offset.x.is_multiple_of(4)
        };
        require(aligned(dst, dst_offset) && aligned(src, src_offset) && range.x.is_multiple_of(4))?;
        // SAFETY: the caller's list has `num_dep_signals` handles.
        let signals = unsafe { Signals::check(num_dep_signals, dep_signals, completion_signal) }?;
        if range.x == 0 || range.y == 0 || range.z == 0 {
            return Ok(());
        }
        copy::rectangle(
            &runtime,
            (dst, dst_offset),
            (src, src_offset),
            range,
            signals,
        )
    })
}
