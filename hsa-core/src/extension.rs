//! Extensions: names, versions, the bitmap of what is there, and the tables of functions.
//!
//! The loader extension is complete. Images, the HSAIL finalizer, performance counters and PC sampling are not supported: their bits
//! are clear, and their functions answer with an error.

use std::ffi::{CStr, c_void};

use gneiss_hsa_api::*;

use crate::{
    entry::{HsaResult, require},
    export::loader_extension as loader,
};

/// Extensions that are there: id, name, highest minor version of major version 1.
const SUPPORTED: &[(u32, u16)] = &[
    (HSA_EXTENSION_AMD_PROFILER, 0),
    (HSA_EXTENSION_AMD_LOADER, 3),
];

/// Name of an extension, whether it is there or not.
pub(crate) fn name(extension: u32) -> Option<&'static CStr> {
    Some(match extension {
        HSA_EXTENSION_FINALIZER => c"HSA_EXTENSION_FINALIZER",
        HSA_EXTENSION_IMAGES => c"HSA_EXTENSION_IMAGES",
        HSA_EXTENSION_PERFORMANCE_COUNTERS => c"HSA_EXTENSION_PERFORMANCE_COUNTERS",
        HSA_EXTENSION_PROFILING_EVENTS => c"HSA_EXTENSION_PROFILING_EVENTS",
        HSA_EXTENSION_AMD_PROFILER => c"HSA_EXTENSION_AMD_PROFILER",
        HSA_EXTENSION_AMD_LOADER => c"HSA_EXTENSION_AMD_LOADER",
        HSA_EXTENSION_AMD_AQLPROFILE => c"HSA_EXTENSION_AMD_AQLPROFILE",
        HSA_EXTENSION_AMD_PC_SAMPLING => c"HSA_EXTENSION_AMD_PC_SAMPLING",
        _ => return None,
    })
}

/// Highest minor version of an extension in major version `major`, if it is there.
pub(crate) fn minor_version(extension: u32, major: u16) -> HsaResult<Option<u16>> {
    require(name(extension).is_some())?;
    Ok(SUPPORTED
        .iter()
        .find(|(id, _)| *id == extension && major == 1)
        .map(|(_, minor)| *minor))
}

/// A bit for each extension that is there: bit `id` of 1024.
pub(crate) fn bitmap() -> [u8; 128] {
    let mut bits = [0; 128];
    for (id, _) in SUPPORTED {
        bits[*id as usize / 8] |= 1 << (id % 8);
    }
    bits
}

/// Fills at most `length` bytes of a table.
///
/// # Safety
/// `table` is null or valid for `length` bytes.
pub(crate) unsafe fn table(
    extension: u32,
    major: u16,
    length: usize,
    table: *mut c_void,
) -> HsaResult {
    require(length != 0 && !table.is_null())?;
    if extension != HSA_EXTENSION_AMD_LOADER || major != 1 {
        return Err(HSA_STATUS_ERROR);
    }
    let functions = hsa_ven_amd_loader_1_03_pfn_t {
        hsa_ven_amd_loader_query_host_address: Some(loader::query_host_address),
        hsa_ven_amd_loader_query_segment_descriptors: Some(loader::query_segment_descriptors),
        hsa_ven_amd_loader_query_executable: Some(loader::query_executable),
        hsa_ven_amd_loader_executable_iterate_loaded_code_objects: Some(
            loader::executable_iterate_loaded_code_objects,
        ),
        hsa_ven_amd_loader_loaded_code_object_get_info: Some(loader::loaded_code_object_get_info),
        hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size: Some(
            loader::code_object_reader_create_from_file_with_offset_size,
        ),
        hsa_ven_amd_loader_iterate_executables: Some(loader::iterate_executables),
    };
    let length = length.min(size_of_val(&functions));
    // SAFETY: the caller vouches for `length` bytes; the source has at least as many.
    unsafe {
        std::ptr::copy_nonoverlapping((&raw const functions).cast::<u8>(), table.cast(), length)
    };
    Ok(())
}
