//! Code object readers, executables, symbols.

use std::ffi::{CStr, c_char, c_void};

use gneiss_hsa_api::*;

use crate::{
    agent::AgentId,
    entry::{HsaResult, entry, require, unsupported, write_out, write_value},
    runtime,
};

/// A name that a caller passes.
///
/// # Safety
/// `name` is null or a C string.
pub(super) unsafe fn text(name: *const c_char) -> HsaResult<String> {
    require(!name.is_null())?;
    // SAFETY: a C string of the caller.
    Ok(unsafe { CStr::from_ptr(name) }
        .to_string_lossy()
        .into_owned())
}

pub unsafe extern "C" fn hsa_code_object_reader_create_from_file(
    file: hsa_file_t,
    code_object_reader: *mut hsa_code_object_reader_t,
) -> hsa_status_t {
    entry!(hsa_code_object_reader_create_from_file, {
        let runtime = runtime::get()?;
        require(!code_object_reader.is_null())?;
        let reader = runtime.loader.read_file(file, 0, None)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(code_object_reader, reader) }
    })
}

pub unsafe extern "C" fn hsa_code_object_reader_create_from_memory(
    code_object: *const c_void,
    size: usize,
    code_object_reader: *mut hsa_code_object_reader_t,
) -> hsa_status_t {
    entry!(hsa_code_object_reader_create_from_memory, {
        let runtime = runtime::get()?;
        require(!code_object_reader.is_null())?;
        let reader = runtime.loader.read_memory(code_object as usize, size)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(code_object_reader, reader) }
    })
}

pub unsafe extern "C" fn hsa_code_object_reader_destroy(
    code_object_reader: hsa_code_object_reader_t,
) -> hsa_status_t {
    entry!(hsa_code_object_reader_destroy, {
        runtime::get()?.loader.destroy_reader(code_object_reader)
    })
}

pub unsafe extern "C" fn hsa_executable_create(
    profile: hsa_profile_t,
    executable_state: hsa_executable_state_t,
    _options: *const c_char,
    executable: *mut hsa_executable_t,
) -> hsa_status_t {
    entry!(hsa_executable_create, {
        let runtime = runtime::get()?;
        require(!executable.is_null() && executable_state <= HSA_EXECUTABLE_STATE_FROZEN)?;
        let frozen = executable_state == HSA_EXECUTABLE_STATE_FROZEN;
        let made =
            runtime
                .loader
                .create(profile, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, frozen)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(executable, made) }
    })
}

pub unsafe extern "C" fn hsa_executable_create_alt(
    profile: hsa_profile_t,
    default_float_rounding_mode: hsa_default_float_rounding_mode_t,
    _options: *const c_char,
    executable: *mut hsa_executable_t,
) -> hsa_status_t {
    entry!(hsa_executable_create_alt, {
        let runtime = runtime::get()?;
        require(!executable.is_null())?;
        let made = runtime
            .loader
            .create(profile, default_float_rounding_mode, false)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(executable, made) }
    })
}

pub unsafe extern "C" fn hsa_executable_destroy(executable: hsa_executable_t) -> hsa_status_t {
    entry!(hsa_executable_destroy, {
        let runtime = runtime::get()?;
        runtime.loader.destroy(&runtime, executable)
    })
}

/// Program code objects are of HSAIL.
pub unsafe extern "C" fn hsa_executable_load_program_code_object(
    _executable: hsa_executable_t,
    _code_object_reader: hsa_code_object_reader_t,
    _options: *const c_char,
    _loaded_code_object: *mut hsa_loaded_code_object_t,
) -> hsa_status_t {
    unsupported(
        "hsa_executable_load_program_code_object",
        HSA_STATUS_ERROR_INVALID_CODE_OBJECT,
    )
}

pub unsafe extern "C" fn hsa_executable_load_agent_code_object(
    executable: hsa_executable_t,
    agent: hsa_agent_t,
    code_object_reader: hsa_code_object_reader_t,
    _options: *const c_char,
    loaded_code_object: *mut hsa_loaded_code_object_t,
) -> hsa_status_t {
    entry!(hsa_executable_load_agent_code_object, {
        let runtime = runtime::get()?;
        let executable = runtime.loader.executable(executable)?;
        let reader = runtime.loader.reader(code_object_reader)?;
        let loaded = runtime
            .loader
            .load(&runtime, &executable, agent, &reader.source)?;
        if !loaded_code_object.is_null() {
            // SAFETY: an out-parameter of the caller.
            unsafe { write_out(loaded_code_object, loaded)? };
        }
        Ok(())
    })
}

pub unsafe extern "C" fn hsa_executable_freeze(
    executable: hsa_executable_t,
    _options: *const c_char,
) -> hsa_status_t {
    entry!(hsa_executable_freeze, {
        runtime::get()?.loader.executable(executable)?.freeze()
    })
}

pub unsafe extern "C" fn hsa_executable_get_info(
    executable: hsa_executable_t,
    attribute: hsa_executable_info_t,
    value: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_executable_get_info, {
        let executable = runtime::get()?.loader.executable(executable)?;
        // SAFETY: the caller's buffer has the size of the attribute.
        unsafe {
            match attribute {
                HSA_EXECUTABLE_INFO_PROFILE => write_value(value, executable.profile),
                HSA_EXECUTABLE_INFO_STATE => {
                    write_value(value, u32::from(executable.contents.lock().frozen))
                }
                HSA_EXECUTABLE_INFO_DEFAULT_FLOAT_ROUNDING_MODE => {
                    write_value(value, executable.rounding)
                }
                _ => Err(HSA_STATUS_ERROR_INVALID_ARGUMENT),
            }
        }
    })
}

pub unsafe extern "C" fn hsa_executable_global_variable_define(
    executable: hsa_executable_t,
    variable_name: *const c_char,
    address: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_executable_global_variable_define, {
        let executable = runtime::get()?.loader.executable(executable)?;
        // SAFETY: the caller's name.
        executable.define(None, unsafe { text(variable_name) }?, address as u64)
    })
}

pub unsafe extern "C" fn hsa_executable_agent_global_variable_define(
    executable: hsa_executable_t,
    agent: hsa_agent_t,
    variable_name: *const c_char,
    address: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_executable_agent_global_variable_define, {
        let runtime = runtime::get()?;
        let executable = runtime.loader.executable(executable)?;
        let id = runtime.agents.id(agent)?;
        // SAFETY: the caller's name.
        executable.define(Some(id), unsafe { text(variable_name) }?, address as u64)
    })
}

pub unsafe extern "C" fn hsa_executable_readonly_variable_define(
    executable: hsa_executable_t,
    agent: hsa_agent_t,
    variable_name: *const c_char,
    address: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_executable_readonly_variable_define, {
        let runtime = runtime::get()?;
        let executable = runtime.loader.executable(executable)?;
        let id = runtime.agents.id(agent)?;
        // SAFETY: the caller's name.
        executable.define(Some(id), unsafe { text(variable_name) }?, address as u64)
    })
}

/// Everything was checked when it was loaded: a loaded executable is valid.
pub unsafe extern "C" fn hsa_executable_validate(
    executable: hsa_executable_t,
    result: *mut u32,
) -> hsa_status_t {
    entry!(hsa_executable_validate, {
        runtime::get()?.loader.executable(executable)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(result, 0) }
    })
}

pub unsafe extern "C" fn hsa_executable_validate_alt(
    executable: hsa_executable_t,
    _options: *const c_char,
    result: *mut u32,
) -> hsa_status_t {
    entry!(hsa_executable_validate_alt, {
        runtime::get()?.loader.executable(executable)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(result, 0) }
    })
}

/// Finds a symbol.
fn find(
    executable: hsa_executable_t,
    name: &str,
    agent: Option<hsa_agent_t>,
    symbol: *mut hsa_executable_symbol_t,
) -> HsaResult {
    let runtime = runtime::get()?;
    let executable = runtime.loader.executable(executable)?;
    require(!symbol.is_null())?;
    let agent: Option<AgentId> = agent.map(|agent| runtime.agents.id(agent)).transpose()?;
    let found = executable.find(name, agent)?;
    // SAFETY: an out-parameter of the caller.
    unsafe { write_out(symbol, found.public()) }
}

pub unsafe extern "C" fn hsa_executable_get_symbol(
    executable: hsa_executable_t,
    module_name: *const c_char,
    symbol_name: *const c_char,
    agent: hsa_agent_t,
    _call_convention: i32,
    symbol: *mut hsa_executable_symbol_t,
) -> hsa_status_t {
    entry!(hsa_executable_get_symbol, {
        // SAFETY: the caller's names.
        let (module, name) = unsafe {
            (
                if module_name.is_null() {
                    String::new()
                } else {
                    text(module_name)?
                },
                text(symbol_name)?,
            )
        };
        if !module.is_empty() {
            // Modules are of HSAIL: no symbol is in one.
            return Err(HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
        }
        find(
            executable,
            &name,
            (agent.handle != 0).then_some(agent),
            symbol,
        )
    })
}

pub unsafe extern "C" fn hsa_executable_get_symbol_by_name(
    executable: hsa_executable_t,
    symbol_name: *const c_char,
    agent: *const hsa_agent_t,
    symbol: *mut hsa_executable_symbol_t,
) -> hsa_status_t {
    entry!(hsa_executable_get_symbol_by_name, {
        // SAFETY: the caller's name and agent.
        let (name, agent) = unsafe { (text(symbol_name)?, agent.as_ref().copied()) };
        find(executable, &name, agent, symbol)
    })
}

pub unsafe extern "C" fn hsa_executable_symbol_get_info(
    executable_symbol: hsa_executable_symbol_t,
    attribute: hsa_executable_symbol_info_t,
    value: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_executable_symbol_get_info, {
        let symbol = runtime::get()?.loader.symbol(executable_symbol)?;
        // SAFETY: the caller's buffer has the size of the attribute.
        unsafe { symbol.info(attribute, value) }
    })
}

pub unsafe extern "C" fn hsa_executable_iterate_symbols(
    executable: hsa_executable_t,
    callback: Option<
        unsafe extern "C" fn(
            exec: hsa_executable_t,
            symbol: hsa_executable_symbol_t,
            data: *mut c_void,
        ) -> hsa_status_t,
    >,
    data: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_executable_iterate_symbols, {
        let symbols = runtime::get()?.loader.executable(executable)?.symbols(None);
        let callback = callback.ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        for symbol in symbols {
            // SAFETY: the user's callback with the user's data.
            unsafe { callback(executable, symbol.public(), data) }.ok()?;
        }
        Ok(())
    })
}

pub unsafe extern "C" fn hsa_executable_iterate_agent_symbols(
    executable: hsa_executable_t,
    agent: hsa_agent_t,
    callback: Option<
        unsafe extern "C" fn(
            exec: hsa_executable_t,
            agent: hsa_agent_t,
            symbol: hsa_executable_symbol_t,
            data: *mut c_void,
        ) -> hsa_status_t,
    >,
    data: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_executable_iterate_agent_symbols, {
        let runtime = runtime::get()?;
        let id = runtime.agents.id(agent)?;
        let symbols = runtime.loader.executable(executable)?.symbols(Some(id));
        let callback = callback.ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        for symbol in symbols {
            // SAFETY: the user's callback with the user's data.
            unsafe { callback(executable, agent, symbol.public(), data) }.ok()?;
        }
        Ok(())
    })
}

/// There are no program symbols: every code object is an agent's.
pub unsafe extern "C" fn hsa_executable_iterate_program_symbols(
    executable: hsa_executable_t,
    callback: Option<
        unsafe extern "C" fn(
            exec: hsa_executable_t,
            symbol: hsa_executable_symbol_t,
            data: *mut c_void,
        ) -> hsa_status_t,
    >,
    _data: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_executable_iterate_program_symbols, {
        runtime::get()?.loader.executable(executable)?;
        require(callback.is_some())
    })
}
