//! System attributes and extensions.

use std::ffi::{c_char, c_void};

use gneiss_hsa_api::*;

use crate::{
    entry::{entry, require, write_out, write_value},
    extension, fault, runtime, sys,
};

pub unsafe extern "C" fn hsa_system_get_info(
    attribute: hsa_system_info_t,
    value: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_system_get_info, {
        let runtime = runtime::get()?;
        // SAFETY: the caller's buffer has the size of the attribute.
        unsafe {
            match attribute {
                HSA_SYSTEM_INFO_VERSION_MAJOR | HSA_SYSTEM_INFO_VERSION_MINOR => {
                    write_value(value, 1u16)
                }
                HSA_SYSTEM_INFO_TIMESTAMP => write_value(value, sys::now()),
                HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY => write_value(value, 1_000_000_000u64),
                HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT => write_value(value, u64::MAX),
                HSA_SYSTEM_INFO_ENDIANNESS => write_value(value, HSA_ENDIANNESS_LITTLE),
                HSA_SYSTEM_INFO_MACHINE_MODEL => write_value(value, HSA_MACHINE_MODEL_LARGE),
                HSA_SYSTEM_INFO_EXTENSIONS => write_value(value, extension::bitmap(true)),
                HSA_AMD_SYSTEM_INFO_BUILD_VERSION => write_value(
                    value,
                    concat!("gneiss ", env!("CARGO_PKG_VERSION"), "\0").as_ptr(),
                ),
                HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED
                | HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED => write_value(value, true),
                HSA_AMD_SYSTEM_INFO_MWAITX_ENABLED | HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED => {
                    write_value(value, false)
                }
                HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT
                | HSA_AMD_SYSTEM_INFO_XNACK_ENABLED => write_value(value, runtime.agents.xnack()),
                HSA_AMD_SYSTEM_INFO_EXT_VERSION_MAJOR => write_value(value, 1u16),
                HSA_AMD_SYSTEM_INFO_EXT_VERSION_MINOR => write_value(value, 0u16),
                _ => Err(HSA_STATUS_ERROR_INVALID_ARGUMENT),
            }
        }
    })
}

pub unsafe extern "C" fn hsa_extension_get_name(
    extension: u16,
    name: *mut *const c_char,
) -> hsa_status_t {
    entry!(hsa_extension_get_name, {
        runtime::get()?;
        let text = extension::name(extension.into()).ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(name, text.as_ptr()) }
    })
}

pub unsafe extern "C" fn hsa_system_extension_supported(
    extension: u16,
    version_major: u16,
    version_minor: u16,
    result: *mut bool,
) -> hsa_status_t {
    entry!(hsa_system_extension_supported, {
        runtime::get()?;
        let minor = extension::minor_version(extension.into(), version_major)?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(result, minor.is_some_and(|minor| version_minor <= minor)) }
    })
}

pub unsafe extern "C" fn hsa_system_major_extension_supported(
    extension: u16,
    version_major: u16,
    version_minor: *mut u16,
    result: *mut bool,
) -> hsa_status_t {
    entry!(hsa_system_major_extension_supported, {
        runtime::get()?;
        require(!version_minor.is_null() && !result.is_null())?;
        let minor = extension::minor_version(extension.into(), version_major)?;
        // SAFETY: out-parameters of the caller.
        unsafe {
            if let Some(minor) = minor {
                write_out(version_minor, minor)?;
            }
            write_out(result, minor.is_some())
        }
    })
}

pub unsafe extern "C" fn hsa_system_get_extension_table(
    extension: u16,
    version_major: u16,
    version_minor: u16,
    table: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_system_get_extension_table, {
        runtime::get()?;
        let functions =
            extension::functions(extension.into(), version_minor).ok_or(HSA_STATUS_ERROR)?;
        // SAFETY: the caller's table has the size of this version.
        unsafe {
            extension::table(
                extension.into(),
                version_major,
                functions * size_of::<usize>(),
                table,
            )
        }
    })
}

pub unsafe extern "C" fn hsa_system_get_major_extension_table(
    extension: u16,
    version_major: u16,
    table_length: usize,
    table: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_system_get_major_extension_table, {
        runtime::get()?;
        // SAFETY: the caller's table has `table_length` bytes.
        unsafe { extension::table(extension.into(), version_major, table_length, table) }
    })
}

pub unsafe extern "C" fn hsa_amd_register_system_event_handler(
    callback: hsa_amd_system_event_callback_t,
    data: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_amd_register_system_event_handler, {
        runtime::get()?;
        fault::add_system_handler(callback.ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?, data);
        Ok(())
    })
}

/// Logging to a file: bits of `flags` choose what. Our log goes where `GNEISS_LOG` says, so this is refused.
pub unsafe extern "C" fn hsa_amd_enable_logging(
    _flags: *mut u8,
    _file: *mut c_void,
) -> hsa_status_t {
    crate::entry::unsupported("hsa_amd_enable_logging", HSA_STATUS_ERROR)
}
