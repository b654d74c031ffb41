//! Images and samplers: not supported yet. The extension bit is clear, and every function says so.

use std::ffi::c_void;

use gneiss_hsa_api::*;

use crate::entry::unsupported;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_image_create(
    _agent: hsa_agent_t,
    _image_descriptor: *const hsa_ext_image_descriptor_t,
    _image_layout: *const hsa_amd_image_descriptor_t,
    _image_data: *const c_void,
    _access_permission: hsa_access_permission_t,
    _image: *mut hsa_ext_image_t,
) -> hsa_status_t {
    unsupported(
        "hsa_amd_image_create",
        HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED,
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_image_get_info_max_dim(
    _agent: hsa_agent_t,
    _attribute: hsa_agent_info_t,
    _value: *mut c_void,
) -> hsa_status_t {
    unsupported("hsa_amd_image_get_info_max_dim", HSA_STATUS_ERROR)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_ext_image_clear(
    _agent: hsa_agent_t,
    _image: hsa_ext_image_t,
    _data: *const c_void,
    _image_region: *const hsa_ext_image_region_t,
) -> hsa_status_t {
    unsupported("hsa_ext_image_clear", HSA_STATUS_ERROR)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_ext_image_copy(
    _agent: hsa_agent_t,
    _src_image: hsa_ext_image_t,
    _src_offset: *const hsa_dim3_t,
    _dst_image: hsa_ext_image_t,
    _dst_offset: *const hsa_dim3_t,
    _range: *const hsa_dim3_t,
) -> hsa_status_t {
    unsupported("hsa_ext_image_copy", HSA_STATUS_ERROR)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_ext_image_create(
    _agent: hsa_agent_t,
    _image_descriptor: *const hsa_ext_image_descriptor_t,
    _image_data: *const c_void,
    _access_permission: hsa_access_permission_t,
    _image: *mut hsa_ext_image_t,
) -> hsa_status_t {
    unsupported(
        "hsa_ext_image_create",
        HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED,
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_ext_image_create_with_layout(
    _agent: hsa_agent_t,
    _image_descriptor: *const hsa_ext_image_descriptor_t,
    _image_data: *const c_void,
    _access_permission: hsa_access_permission_t,
    _image_data_layout: hsa_ext_image_data_layout_t,
    _image_data_row_pitch: usize,
    _image_data_slice_pitch: usize,
    _image: *mut hsa_ext_image_t,
) -> hsa_status_t {
    unsupported(
        "hsa_ext_image_create_with_layout",
        HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED,
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_ext_image_data_get_info(
    _agent: hsa_agent_t,
    _image_descriptor: *const hsa_ext_image_descriptor_t,
    _access_permission: hsa_access_permission_t,
    _image_data_info: *mut hsa_ext_image_data_info_t,
) -> hsa_status_t {
    unsupported(
        "hsa_ext_image_data_get_info",
        HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED,
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_ext_image_data_get_info_with_layout(
    _agent: hsa_agent_t,
    _image_descriptor: *const hsa_ext_image_descriptor_t,
    _access_permission: hsa_access_permission_t,
    _image_data_layout: hsa_ext_image_data_layout_t,
    _image_data_row_pitch: usize,
    _image_data_slice_pitch: usize,
    _image_data_info: *mut hsa_ext_image_data_info_t,
) -> hsa_status_t {
    unsupported(
        "hsa_ext_image_data_get_info_with_layout",
        HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED,
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_ext_image_destroy(
    _agent: hsa_agent_t,
    _image: hsa_ext_image_t,
) -> hsa_status_t {
    unsupported("hsa_ext_image_destroy", HSA_STATUS_ERROR)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_ext_image_export(
    _agent: hsa_agent_t,
    _src_image: hsa_ext_image_t,
    _dst_memory: *mut c_void,
    _dst_row_pitch: usize,
    _dst_slice_pitch: usize,
    _image_region: *const hsa_ext_image_region_t,
) -> hsa_status_t {
    unsupported("hsa_ext_image_export", HSA_STATUS_ERROR)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_ext_image_get_capability(
    _agent: hsa_agent_t,
    _geometry: hsa_ext_image_geometry_t,
    _image_format: *const hsa_ext_image_format_t,
    _capability_mask: *mut u32,
) -> hsa_status_t {
    unsupported("hsa_ext_image_get_capability", HSA_STATUS_ERROR)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_ext_image_get_capability_with_layout(
    _agent: hsa_agent_t,
    _geometry: hsa_ext_image_geometry_t,
    _image_format: *const hsa_ext_image_format_t,
    _image_data_layout: hsa_ext_image_data_layout_t,
    _capability_mask: *mut u32,
) -> hsa_status_t {
    unsupported("hsa_ext_image_get_capability_with_layout", HSA_STATUS_ERROR)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_ext_image_import(
    _agent: hsa_agent_t,
    _src_memory: *const c_void,
    _src_row_pitch: usize,
    _src_slice_pitch: usize,
    _dst_image: hsa_ext_image_t,
    _image_region: *const hsa_ext_image_region_t,
) -> hsa_status_t {
    unsupported("hsa_ext_image_import", HSA_STATUS_ERROR)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_ext_sampler_create(
    _agent: hsa_agent_t,
    _sampler_descriptor: *const hsa_ext_sampler_descriptor_t,
    _sampler: *mut hsa_ext_sampler_t,
) -> hsa_status_t {
    unsupported(
        "hsa_ext_sampler_create",
        HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED,
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_ext_sampler_create_v2(
    _agent: hsa_agent_t,
    _sampler_descriptor: *const hsa_ext_sampler_descriptor_v2_t,
    _sampler: *mut hsa_ext_sampler_t,
) -> hsa_status_t {
    unsupported(
        "hsa_ext_sampler_create_v2",
        HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED,
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_ext_sampler_destroy(
    _agent: hsa_agent_t,
    _sampler: hsa_ext_sampler_t,
) -> hsa_status_t {
    unsupported("hsa_ext_sampler_destroy", HSA_STATUS_ERROR)
}
