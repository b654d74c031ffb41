//! Extensions: names, versions, the bitmap of what is there, and the tables of functions.
//!
//! The loader and image extensions are complete. The HSAIL finalizer, performance counters and PC sampling are not supported: their
//! bits are clear, and their functions answer with an error.

use std::ffi::{CStr, c_void};

use gneiss_hsa_api::*;

use crate::{
    entry::{HsaResult, require},
    export::loader_extension as loader,
    interface,
};

/// Extensions that are there: id, name, highest minor version of major version 1.
const SUPPORTED: &[(u32, u16)] = &[
    (HSA_EXTENSION_IMAGES, 0),
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

/// A bit for each extension that is there: bit `id` of 1024. An agent without images lacks that one.
pub(crate) fn bitmap(images: bool) -> [u8; 128] {
    let mut bits = [0; 128];
    for (id, _) in SUPPORTED {
        if *id != HSA_EXTENSION_IMAGES || images {
            bits[*id as usize / 8] |= 1 << (id % 8);
        }
    }
    bits
}

/// How many functions the table of an extension's minor version has.
pub(crate) fn functions(extension: u32, minor: u16) -> Option<usize> {
    match (extension, minor) {
        (HSA_EXTENSION_IMAGES, 0) => Some(10),
        (HSA_EXTENSION_AMD_LOADER, 0) => Some(3),
        (HSA_EXTENSION_AMD_LOADER, 1) => Some(5),
        (HSA_EXTENSION_AMD_LOADER, 2) => Some(6),
        (HSA_EXTENSION_AMD_LOADER, 3) => Some(7),
        _ => None,
    }
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
    if major != 1 {
        return Err(HSA_STATUS_ERROR);
    }
    match extension {
        // SAFETY: the caller vouches for `length` bytes.
        HSA_EXTENSION_AMD_LOADER => unsafe { fill(&loader_functions(), length, table) },
        // SAFETY: as above.
        HSA_EXTENSION_IMAGES => unsafe { fill(&image_functions(), length, table) },
        _ => return Err(HSA_STATUS_ERROR),
    }
    Ok(())
}

/// Copies a table, or its first bytes.
///
/// # Safety
/// `table` is valid for `length` bytes.
unsafe fn fill<T>(functions: &T, length: usize, table: *mut c_void) {
    let length = length.min(size_of::<T>());
    // SAFETY: the caller vouches for `length` bytes; the source has at least as many.
    unsafe {
        std::ptr::copy_nonoverlapping((&raw const *functions).cast::<u8>(), table.cast(), length)
    };
}

fn image_functions() -> hsa_ext_images_1_pfn_t {
    hsa_ext_images_1_pfn_t {
        hsa_ext_image_get_capability: Some(interface::hsa_ext_image_get_capability),
        hsa_ext_image_data_get_info: Some(interface::hsa_ext_image_data_get_info),
        hsa_ext_image_create: Some(interface::hsa_ext_image_create),
        hsa_ext_image_destroy: Some(interface::hsa_ext_image_destroy),
        hsa_ext_image_copy: Some(interface::hsa_ext_image_copy),
        hsa_ext_image_import: Some(interface::hsa_ext_image_import),
        hsa_ext_image_export: Some(interface::hsa_ext_image_export),
        hsa_ext_image_clear: Some(interface::hsa_ext_image_clear),
        hsa_ext_sampler_create: Some(interface::hsa_ext_sampler_create),
        hsa_ext_sampler_destroy: Some(interface::hsa_ext_sampler_destroy),
        hsa_ext_image_get_capability_with_layout: Some(
            interface::hsa_ext_image_get_capability_with_layout,
        ),
        hsa_ext_image_data_get_info_with_layout: Some(
            interface::hsa_ext_image_data_get_info_with_layout,
        ),
        hsa_ext_image_create_with_layout: Some(interface::hsa_ext_image_create_with_layout),
        hsa_ext_sampler_create_v2: Some(interface::hsa_ext_sampler_create_v2),
    }
}

fn loader_functions() -> hsa_ven_amd_loader_1_03_pfn_t {
    hsa_ven_amd_loader_1_03_pfn_t {
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
    }
}
