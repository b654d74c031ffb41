//! Extension tables, as `hsa_system_get_major_extension_table` fills them. A caller may ask for a shorter table than ours.

use std::ffi::c_void;

use crate::{constant::*, handle::*, layout::*, status::*};

/// A callback for the code objects of an executable.
pub type LoadedCodeObjectCallback = Option<
    unsafe extern "C" fn(
        executable: hsa_executable_t,
        code_object: hsa_loaded_code_object_t,
        data: *mut c_void,
    ) -> hsa_status_t,
>;

/// A callback for executables.
pub type ExecutableCallback =
    Option<unsafe extern "C" fn(executable: hsa_executable_t, data: *mut c_void) -> hsa_status_t>;

/// The loader extension's functions, version 1.03.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct hsa_ven_amd_loader_1_03_pfn_t {
    /// Host address of the bytes that were loaded to a device address.
    pub hsa_ven_amd_loader_query_host_address: Option<
        unsafe extern "C" fn(
            device_address: *const c_void,
            host_address: *mut *const c_void,
        ) -> hsa_status_t,
    >,
    /// All loaded segments.
    pub hsa_ven_amd_loader_query_segment_descriptors: Option<
        unsafe extern "C" fn(
            descriptors: *mut hsa_ven_amd_loader_segment_descriptor_t,
            count: *mut usize,
        ) -> hsa_status_t,
    >,
    /// The executable that holds a device address.
    pub hsa_ven_amd_loader_query_executable: Option<
        unsafe extern "C" fn(
            device_address: *const c_void,
            executable: *mut hsa_executable_t,
        ) -> hsa_status_t,
    >,
    /// Calls back for each code object of an executable.
    pub hsa_ven_amd_loader_executable_iterate_loaded_code_objects: Option<
        unsafe extern "C" fn(
            executable: hsa_executable_t,
            callback: LoadedCodeObjectCallback,
            data: *mut c_void,
        ) -> hsa_status_t,
    >,
    /// An attribute of a code object.
    pub hsa_ven_amd_loader_loaded_code_object_get_info: Option<
        unsafe extern "C" fn(
            code_object: hsa_loaded_code_object_t,
            attribute: hsa_ven_amd_loader_loaded_code_object_info_t,
            value: *mut c_void,
        ) -> hsa_status_t,
    >,
    /// A reader for a part of a file.
    pub hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size: Option<
        unsafe extern "C" fn(
            file: i32,
            offset: usize,
            size: usize,
            reader: *mut hsa_code_object_reader_t,
        ) -> hsa_status_t,
    >,
    /// Calls back for each executable.
    pub hsa_ven_amd_loader_iterate_executables: Option<
        unsafe extern "C" fn(callback: ExecutableCallback, data: *mut c_void) -> hsa_status_t,
    >,
}

const _: () = assert!(size_of::<hsa_ven_amd_loader_1_03_pfn_t>() == 56);
