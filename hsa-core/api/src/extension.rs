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

/// The image extension's functions, version 1; the first ten are those of version 1.00, the first 13 those of releases before ROCm 7.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct hsa_ext_images_1_pfn_t {
    /// What may be done with a format.
    pub hsa_ext_image_get_capability: Option<
        unsafe extern "C" fn(
            agent: hsa_agent_t,
            geometry: hsa_ext_image_geometry_t,
            image_format: *const hsa_ext_image_format_t,
            capability_mask: *mut u32,
        ) -> hsa_status_t,
    >,
    /// Size and alignment of an image's data.
    pub hsa_ext_image_data_get_info: Option<
        unsafe extern "C" fn(
            agent: hsa_agent_t,
            image_descriptor: *const hsa_ext_image_descriptor_t,
            access_permission: hsa_access_permission_t,
            image_data_info: *mut hsa_ext_image_data_info_t,
        ) -> hsa_status_t,
    >,
    /// Makes an image over memory.
    pub hsa_ext_image_create: Option<
        unsafe extern "C" fn(
            agent: hsa_agent_t,
            image_descriptor: *const hsa_ext_image_descriptor_t,
            image_data: *const c_void,
            access_permission: hsa_access_permission_t,
            image: *mut hsa_ext_image_t,
        ) -> hsa_status_t,
    >,
    /// Forgets an image.
    pub hsa_ext_image_destroy:
        Option<unsafe extern "C" fn(agent: hsa_agent_t, image: hsa_ext_image_t) -> hsa_status_t>,
    /// Copies between images.
    pub hsa_ext_image_copy: Option<
        unsafe extern "C" fn(
            agent: hsa_agent_t,
            src_image: hsa_ext_image_t,
            src_offset: *const hsa_dim3_t,
            dst_image: hsa_ext_image_t,
            dst_offset: *const hsa_dim3_t,
            range: *const hsa_dim3_t,
        ) -> hsa_status_t,
    >,
    /// Copies from memory to an image.
    pub hsa_ext_image_import: Option<
        unsafe extern "C" fn(
            agent: hsa_agent_t,
            src_memory: *const c_void,
            src_row_pitch: usize,
            src_slice_pitch: usize,
            dst_image: hsa_ext_image_t,
            image_region: *const hsa_ext_image_region_t,
        ) -> hsa_status_t,
    >,
    /// Copies from an image to memory.
    pub hsa_ext_image_export: Option<
        unsafe extern "C" fn(
            agent: hsa_agent_t,
            src_image: hsa_ext_image_t,
            dst_memory: *mut c_void,
            dst_row_pitch: usize,
            dst_slice_pitch: usize,
            image_region: *const hsa_ext_image_region_t,
        ) -> hsa_status_t,
    >,
    /// Fills a region with one colour.
    pub hsa_ext_image_clear: Option<
        unsafe extern "C" fn(
            agent: hsa_agent_t,
            image: hsa_ext_image_t,
            data: *const c_void,
            image_region: *const hsa_ext_image_region_t,
        ) -> hsa_status_t,
    >,
    /// Makes a sampler.
    pub hsa_ext_sampler_create: Option<
        unsafe extern "C" fn(
            agent: hsa_agent_t,
            sampler_descriptor: *const hsa_ext_sampler_descriptor_t,
            sampler: *mut hsa_ext_sampler_t,
        ) -> hsa_status_t,
    >,
    /// Forgets a sampler.
    pub hsa_ext_sampler_destroy: Option<
        unsafe extern "C" fn(agent: hsa_agent_t, sampler: hsa_ext_sampler_t) -> hsa_status_t,
    >,
    /// What may be done with a format in a layout of the program's.
    pub hsa_ext_image_get_capability_with_layout: Option<
        unsafe extern "C" fn(
            agent: hsa_agent_t,
            geometry: hsa_ext_image_geometry_t,
            image_format: *const hsa_ext_image_format_t,
            image_data_layout: hsa_ext_image_data_layout_t,
            capability_mask: *mut u32,
        ) -> hsa_status_t,
    >,
    /// Size and alignment of an image's data in a layout of the program's.
    pub hsa_ext_image_data_get_info_with_layout: Option<
        unsafe extern "C" fn(
            agent: hsa_agent_t,
            image_descriptor: *const hsa_ext_image_descriptor_t,
            access_permission: hsa_access_permission_t,
            image_data_layout: hsa_ext_image_data_layout_t,
            image_data_row_pitch: usize,
            image_data_slice_pitch: usize,
            image_data_info: *mut hsa_ext_image_data_info_t,
        ) -> hsa_status_t,
    >,
    /// Makes an image over memory in a layout of the program's.
    pub hsa_ext_image_create_with_layout: Option<
        unsafe extern "C" fn(
            agent: hsa_agent_t,
            image_descriptor: *const hsa_ext_image_descriptor_t,
            image_data: *const c_void,
            access_permission: hsa_access_permission_t,
            image_data_layout: hsa_ext_image_data_layout_t,
            image_data_row_pitch: usize,
            image_data_slice_pitch: usize,
            image: *mut hsa_ext_image_t,
        ) -> hsa_status_t,
    >,
    /// Makes a sampler with an addressing mode for each dimension.
    pub hsa_ext_sampler_create_v2: Option<
        unsafe extern "C" fn(
            agent: hsa_agent_t,
            sampler_descriptor: *const hsa_ext_sampler_descriptor_v2_t,
            sampler: *mut hsa_ext_sampler_t,
        ) -> hsa_status_t,
    >,
}

const _: () = assert!(size_of::<hsa_ext_images_1_pfn_t>() == 112);
