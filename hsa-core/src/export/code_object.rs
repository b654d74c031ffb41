//! The deprecated interface to code objects, which readers and `hsa_executable_load_agent_code_object` have replaced.

use std::ffi::{c_char, c_void};

use gneiss_hsa_api::*;

use super::executable::text;
use crate::{
    entry::{entry, require, write_out},
    runtime,
};

pub unsafe extern "C" fn hsa_code_object_deserialize(
    serialized_code_object: *mut c_void,
    serialized_code_object_size: usize,
    _options: *const c_char,
    code_object: *mut hsa_code_object_t,
) -> hsa_status_t {
    entry!(hsa_code_object_deserialize, {
        let runtime = runtime::get()?;
        require(
            !serialized_code_object.is_null()
                && serialized_code_object_size != 0
                && !code_object.is_null(),
        )?;
        // SAFETY: the caller's memory of that size.
        let bytes = unsafe {
            std::slice::from_raw_parts(
                serialized_code_object.cast_const().cast::<u8>(),
                serialized_code_object_size,
            )
        };
        let held = runtime.loader.hold(bytes)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(code_object, held) }
    })
}

pub unsafe extern "C" fn hsa_code_object_destroy(code_object: hsa_code_object_t) -> hsa_status_t {
    entry!(hsa_code_object_destroy, {
        runtime::get()?.loader.let_go(code_object)
    })
}

pub unsafe extern "C" fn hsa_code_object_get_info(
    code_object: hsa_code_object_t,
    attribute: hsa_code_object_info_t,
    value: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_code_object_get_info, {
        let held = runtime::get()?.loader.held(code_object)?;
        require(!value.is_null())?;
        // SAFETY: the caller's buffer has the size of the attribute.
        unsafe { held.info(attribute, value) }
    })
}

pub unsafe extern "C" fn hsa_code_object_get_symbol(
    code_object: hsa_code_object_t,
    symbol_name: *const c_char,
    symbol: *mut hsa_code_symbol_t,
) -> hsa_status_t {
    entry!(hsa_code_object_get_symbol, {
        let held = runtime::get()?.loader.held(code_object)?;
        // SAFETY: the caller's name and out-parameter.
        unsafe { write_out(symbol, held.symbol(&text(symbol_name)?)?) }
    })
}

/// Code objects have no modules: the module's name is ignored, as in ROCr.
pub unsafe extern "C" fn hsa_code_object_get_symbol_from_name(
    code_object: hsa_code_object_t,
    _module_name: *const c_char,
    symbol_name: *const c_char,
    symbol: *mut hsa_code_symbol_t,
) -> hsa_status_t {
    entry!(hsa_code_object_get_symbol_from_name, {
        let held = runtime::get()?.loader.held(code_object)?;
        // SAFETY: the caller's name and out-parameter.
        unsafe { write_out(symbol, held.symbol(&text(symbol_name)?)?) }
    })
}

pub unsafe extern "C" fn hsa_code_object_iterate_symbols(
    code_object: hsa_code_object_t,
    callback: Option<
        unsafe extern "C" fn(
            code_object: hsa_code_object_t,
            symbol: hsa_code_symbol_t,
            data: *mut c_void,
        ) -> hsa_status_t,
    >,
    data: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_code_object_iterate_symbols, {
        let held = runtime::get()?.loader.held(code_object)?;
        let callback = callback.ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        for symbol in &held.symbols {
            let handle = symbol.handle;
            // SAFETY: the user's callback with the user's data.
            unsafe { callback(code_object, hsa_code_symbol_t { handle }, data) }.ok()?;
        }
        Ok(())
    })
}

pub unsafe extern "C" fn hsa_code_object_serialize(
    code_object: hsa_code_object_t,
    alloc_callback: Option<
        unsafe extern "C" fn(
            size: usize,
            data: hsa_callback_data_t,
            address: *mut *mut c_void,
        ) -> hsa_status_t,
    >,
    callback_data: hsa_callback_data_t,
    _options: *const c_char,
    serialized_code_object: *mut *mut c_void,
    serialized_code_object_size: *mut usize,
) -> hsa_status_t {
    entry!(hsa_code_object_serialize, {
        let held = runtime::get()?.loader.held(code_object)?;
        require(!serialized_code_object.is_null() && !serialized_code_object_size.is_null())?;
        let allocate = alloc_callback.ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        let size = held.bytes.len();
        let mut memory = std::ptr::null_mut();
        // SAFETY: the user's callback with the user's data, and out-parameters of the caller; the memory that the callback gives has the
        // size that it was asked for.
        unsafe {
            allocate(size, callback_data, &mut memory).ok()?;
            if memory.is_null() {
                return Err(HSA_STATUS_ERROR_OUT_OF_RESOURCES);
            }
            std::ptr::copy_nonoverlapping(held.bytes.as_ptr(), memory.cast::<u8>(), size);
            write_out(serialized_code_object, memory)?;
            write_out(serialized_code_object_size, size)
        }
    })
}

/// The attributes have the numbers of those of executables' symbols. A code object is in no memory: it has no agents and addresses.
pub unsafe extern "C" fn hsa_code_symbol_get_info(
    code_symbol: hsa_code_symbol_t,
    attribute: hsa_code_symbol_info_t,
    value: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_code_symbol_get_info, {
        let symbol = runtime::get()?.loader.code_symbol(code_symbol)?;
        require(attribute <= HSA_CODE_SYMBOL_INFO_KERNEL_CALL_CONVENTION)?;
        // SAFETY: the caller's buffer has the size of the attribute.
        unsafe { symbol.info(attribute, value) }
    })
}

pub unsafe extern "C" fn hsa_executable_load_code_object(
    executable: hsa_executable_t,
    agent: hsa_agent_t,
    code_object: hsa_code_object_t,
    _options: *const c_char,
) -> hsa_status_t {
    entry!(hsa_executable_load_code_object, {
        let runtime = runtime::get()?;
        let executable = runtime.loader.executable(executable)?;
        let held = runtime.loader.held(code_object)?;
        runtime
            .loader
            .load_held(&runtime, &executable, agent, &held)
    })
}
