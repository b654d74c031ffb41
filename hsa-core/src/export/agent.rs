//! Agents, caches, instruction set architectures, wavefronts.

use std::{
    ffi::{CStr, c_char, c_void},
    sync::atomic::Ordering,
};

use gneiss_hsa_api::*;

use crate::{
    agent::AgentId,
    entry::{HsaResult, entry, require, write_out, write_value},
    extension, image,
    isa::{self, Isa},
    objects,
    runtime::{self, Runtime},
};

pub unsafe extern "C" fn hsa_iterate_agents(
    callback: Option<unsafe extern "C" fn(agent: hsa_agent_t, data: *mut c_void) -> hsa_status_t>,
    data: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_iterate_agents, {
        let runtime = runtime::get()?;
        let callback = callback.ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        for id in runtime.agents.ids() {
            // SAFETY: the user's callback with the user's data.
            unsafe { callback(id.handle(), data) }.ok()?;
        }
        Ok(())
    })
}

pub unsafe extern "C" fn hsa_agent_get_info(
    agent: hsa_agent_t,
    attribute: hsa_agent_info_t,
    value: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_agent_get_info, {
        let runtime = runtime::get()?;
        let id = runtime.agents.id(agent)?;
        // SAFETY: the caller's buffer has the size of the attribute.
        unsafe { runtime.agents.info(id, attribute, value) }
    })
}

pub unsafe extern "C" fn hsa_agent_get_exception_policies(
    agent: hsa_agent_t,
    profile: hsa_profile_t,
    mask: *mut u16,
) -> hsa_status_t {
    entry!(hsa_agent_get_exception_policies, {
        runtime::get()?.agents.id(agent)?;
        require(profile <= HSA_PROFILE_FULL)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(mask, 0) }
    })
}

pub unsafe extern "C" fn hsa_agent_iterate_caches(
    agent: hsa_agent_t,
    callback: Option<unsafe extern "C" fn(cache: hsa_cache_t, data: *mut c_void) -> hsa_status_t>,
    data: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_agent_iterate_caches, {
        let runtime = runtime::get()?;
        let callback = callback.ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        for cache in runtime.agents.caches(runtime.agents.id(agent)?) {
            // SAFETY: the user's callback with the user's data.
            unsafe { callback(cache, data) }.ok()?;
        }
        Ok(())
    })
}

pub unsafe extern "C" fn hsa_cache_get_info(
    cache: hsa_cache_t,
    attribute: hsa_cache_info_t,
    value: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_cache_get_info, {
        require(!value.is_null())?;
        // SAFETY: the caller's buffer has the size of the attribute.
        unsafe { runtime::get()?.agents.cache_info(cache, attribute, value) }
    })
}

/// Highest minor version of an extension that an agent has: the CPU has none, and images need image instructions.
fn agent_minor_version(
    runtime: &Runtime,
    id: AgentId,
    extension: u32,
    major: u16,
) -> HsaResult<Option<u16>> {
    let minor = extension::minor_version(extension, major)?;
    Ok(minor.filter(|_| {
        id.gpu().is_some_and(|gpu| {
            extension != HSA_EXTENSION_IMAGES || image::supported(&runtime.agents.gpus[gpu])
        })
    }))
}

pub unsafe extern "C" fn hsa_agent_extension_supported(
    extension: u16,
    agent: hsa_agent_t,
    version_major: u16,
    version_minor: u16,
    result: *mut bool,
) -> hsa_status_t {
    entry!(hsa_agent_extension_supported, {
        let runtime = runtime::get()?;
        let id = runtime.agents.id(agent)?;
        let minor = agent_minor_version(&runtime, id, extension.into(), version_major)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(result, minor.is_some_and(|minor| version_minor <= minor)) }
    })
}

pub unsafe extern "C" fn hsa_agent_major_extension_supported(
    extension: u16,
    agent: hsa_agent_t,
    version_major: u16,
    version_minor: *mut u16,
    result: *mut bool,
) -> hsa_status_t {
    entry!(hsa_agent_major_extension_supported, {
        let runtime = runtime::get()?;
        let id = runtime.agents.id(agent)?;
        require(!version_minor.is_null() && !result.is_null())?;
        let minor = agent_minor_version(&runtime, id, extension.into(), version_major)?;
        // SAFETY: out-parameters of the caller.
        unsafe {
            if let Some(minor) = minor {
                write_out(version_minor, minor)?;
            }
            write_out(result, minor.is_some())
        }
    })
}

/// Gives the agent's own ISA, then the generic one of its processor, unless a library is there that takes one only.
pub unsafe extern "C" fn hsa_agent_iterate_isas(
    agent: hsa_agent_t,
    callback: Option<unsafe extern "C" fn(isa: hsa_isa_t, data: *mut c_void) -> hsa_status_t>,
    data: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_agent_iterate_isas, {
        let runtime = runtime::get()?;
        let callback = callback.ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        let Some(gpu) = runtime.agents.id(agent)?.gpu() else {
            // A CPU has none.
            return Ok(());
        };
        let listed = if objects::take_one_isa() {
            1
        } else {
            usize::MAX
        };
        let mut isas = runtime.agents.gpus[gpu].isas().take(listed);
        // SAFETY: the user's callback with the user's data.
        isas.try_for_each(|isa| unsafe { callback(isa.handle(), data) }.ok())
    })
}

pub unsafe extern "C" fn hsa_isa_from_name(
    name: *const c_char,
    isa: *mut hsa_isa_t,
) -> hsa_status_t {
    entry!(hsa_isa_from_name, {
        runtime::get()?;
        require(!name.is_null())?;
        // SAFETY: a C string of the caller.
        let name = unsafe { CStr::from_ptr(name) }
            .to_str()
            .map_err(|_| HSA_STATUS_ERROR_INVALID_ISA_NAME)?;
        let found = Isa::from_name(name).ok_or(HSA_STATUS_ERROR_INVALID_ISA_NAME)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(isa, found.handle()) }
    })
}

pub unsafe extern "C" fn hsa_isa_get_info(
    isa: hsa_isa_t,
    attribute: hsa_isa_info_t,
    index: u32,
    value: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_isa_get_info, {
        runtime::get()?;
        let isa = Isa::from_handle(isa)?;
        if index != 0
            && matches!(
                attribute,
                HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONT_SIZE
                    | HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONTS_PER_COMPUTE_UNIT
            )
        {
            return Err(HSA_STATUS_ERROR_INVALID_INDEX);
        }
        // SAFETY: the caller's buffer has the size of the attribute.
        unsafe { isa.info(attribute, value) }
    })
}

pub unsafe extern "C" fn hsa_isa_get_info_alt(
    isa: hsa_isa_t,
    attribute: hsa_isa_info_t,
    value: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_isa_get_info_alt, {
        runtime::get()?;
        // SAFETY: the caller's buffer has the size of the attribute.
        unsafe { Isa::from_handle(isa)?.info(attribute, value) }
    })
}

pub unsafe extern "C" fn hsa_isa_get_exception_policies(
    isa: hsa_isa_t,
    profile: hsa_profile_t,
    mask: *mut u16,
) -> hsa_status_t {
    entry!(hsa_isa_get_exception_policies, {
        runtime::get()?;
        Isa::from_handle(isa)?;
        require(profile <= HSA_PROFILE_FULL)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(mask, 0) }
    })
}

pub unsafe extern "C" fn hsa_isa_get_round_method(
    isa: hsa_isa_t,
    fp_type: hsa_fp_type_t,
    flush_mode: hsa_flush_mode_t,
    round_method: *mut hsa_round_method_t,
) -> hsa_status_t {
    entry!(hsa_isa_get_round_method, {
        runtime::get()?;
        Isa::from_handle(isa)?;
        require(matches!(
            fp_type,
            HSA_FP_TYPE_16 | HSA_FP_TYPE_32 | HSA_FP_TYPE_64
        ))?;
        require(matches!(
            flush_mode,
            HSA_FLUSH_MODE_FTZ | HSA_FLUSH_MODE_NON_FTZ
        ))?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(round_method, HSA_ROUND_METHOD_SINGLE) }
    })
}

pub unsafe extern "C" fn hsa_isa_iterate_wavefronts(
    isa: hsa_isa_t,
    callback: Option<
        unsafe extern "C" fn(wavefront: hsa_wavefront_t, data: *mut c_void) -> hsa_status_t,
    >,
    data: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_isa_iterate_wavefronts, {
        runtime::get()?;
        let wavefront = Isa::from_handle(isa)?.wavefront();
        let callback = callback.ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        // SAFETY: the user's callback with the user's data.
        unsafe { callback(wavefront, data) }.ok()
    })
}

pub unsafe extern "C" fn hsa_wavefront_get_info(
    wavefront: hsa_wavefront_t,
    attribute: hsa_wavefront_info_t,
    value: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_wavefront_get_info, {
        runtime::get()?;
        let size = isa::wavefront_size(wavefront)?;
        require(attribute == HSA_WAVEFRONT_INFO_SIZE)?;
        // SAFETY: the caller's buffer has the size of the attribute.
        unsafe { write_value(value, size) }
    })
}

pub unsafe extern "C" fn hsa_isa_compatible(
    code_object_isa: hsa_isa_t,
    agent_isa: hsa_isa_t,
    result: *mut bool,
) -> hsa_status_t {
    entry!(hsa_isa_compatible, {
        runtime::get()?;
        let compatible = Isa::from_handle(code_object_isa)?.runs_on(Isa::from_handle(agent_isa)?);
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(result, compatible) }
    })
}

/// How much scratch may stay allocated between dispatches: the value is kept and answered. Scratch is made for each wave and goes
/// with it, so every limit holds.
pub unsafe extern "C" fn hsa_amd_agent_set_async_scratch_limit(
    agent: hsa_agent_t,
    threshold: usize,
) -> hsa_status_t {
    entry!(hsa_amd_agent_set_async_scratch_limit, {
        let runtime = runtime::get()?;
        let (_, gpu) = runtime.agents.gpu(agent)?;
        require(threshold as u64 <= gpu.memory)?;
        gpu.scratch_limit.store(threshold as u64, Ordering::Relaxed);
        Ok(())
    })
}

pub unsafe extern "C" fn hsa_amd_coherency_get_type(
    agent: hsa_agent_t,
    kind: *mut hsa_amd_coherency_type_t,
) -> hsa_status_t {
    entry!(hsa_amd_coherency_get_type, {
        let runtime = runtime::get()?;
        let (_, gpu) = runtime.agents.gpu(agent)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(kind, gpu.coherency.load(Ordering::Relaxed)) }
    })
}

/// Memory is coherent. Asking for less is granted, for coherent memory is all that a program of the other kind needs.
pub unsafe extern "C" fn hsa_amd_coherency_set_type(
    agent: hsa_agent_t,
    kind: hsa_amd_coherency_type_t,
) -> hsa_status_t {
    entry!(hsa_amd_coherency_set_type, {
        let runtime = runtime::get()?;
        let (_, gpu) = runtime.agents.gpu(agent)?;
        require(kind <= HSA_AMD_COHERENCY_TYPE_NONCOHERENT)?;
        gpu.coherency.store(kind, Ordering::Relaxed);
        Ok(())
    })
}
