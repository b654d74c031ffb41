//! The enumerations of the HSA headers as plain integers: an unknown value that a program passes is an error, never undefined
//! behaviour. Names, values and meanings are those of `hsa.h`, `hsa_ext_amd.h`, `hsa_ext_image.h` and `hsa_ext_finalize.h`; a few
//! values are of later releases than the headers of ROCm 5.2.
#![expect(missing_docs, reason = "names and meanings are those of AMD's headers")]

mod amd;
mod core;
mod image;

pub use self::{amd::*, core::*, image::*};

pub type hsa_queue_type32_t = u32;
pub type hsa_signal_condition32_t = u32;
pub type hsa_ext_image_channel_type32_t = u32;
pub type hsa_ext_image_channel_order32_t = u32;
pub type hsa_ext_sampler_addressing_mode32_t = u32;
pub type hsa_ext_sampler_coordinate_mode32_t = u32;
pub type hsa_ext_sampler_filter_mode32_t = u32;

pub type hsa_amd_sdma_engine_id_t = u32;
pub type hsa_queue_info_attribute_t = u32;
pub const HSA_AMD_QUEUE_INFO_AGENT: hsa_queue_info_attribute_t = 0;
pub const HSA_AMD_QUEUE_INFO_DOORBELL_ID: hsa_queue_info_attribute_t = 1;
pub type hsa_amd_memory_type_t = u32;
pub const MEMORY_TYPE_NONE: hsa_amd_memory_type_t = 0;
pub const MEMORY_TYPE_PINNED: hsa_amd_memory_type_t = 1;
pub type hsa_ven_amd_pcs_method_kind_t = u32;
pub type hsa_ven_amd_pcs_units_t = u32;
pub type hsa_ven_amd_loader_code_object_storage_type_t = u32;
pub const HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_NONE:
    hsa_ven_amd_loader_code_object_storage_type_t = 0;
pub const HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_FILE:
    hsa_ven_amd_loader_code_object_storage_type_t = 1;
pub const HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY:
    hsa_ven_amd_loader_code_object_storage_type_t = 2;
pub type hsa_ven_amd_loader_loaded_code_object_kind_t = u32;
pub const HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_PROGRAM:
    hsa_ven_amd_loader_loaded_code_object_kind_t = 1;
pub const HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_AGENT:
    hsa_ven_amd_loader_loaded_code_object_kind_t = 2;
pub type hsa_ven_amd_loader_loaded_code_object_info_t = u32;
pub const HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_EXECUTABLE:
    hsa_ven_amd_loader_loaded_code_object_info_t = 1;
pub const HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_KIND:
    hsa_ven_amd_loader_loaded_code_object_info_t = 2;
pub const HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT:
    hsa_ven_amd_loader_loaded_code_object_info_t = 3;
pub const HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_TYPE:
    hsa_ven_amd_loader_loaded_code_object_info_t = 4;
pub const HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_BASE:
    hsa_ven_amd_loader_loaded_code_object_info_t = 5;
pub const HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_SIZE:
    hsa_ven_amd_loader_loaded_code_object_info_t = 6;
pub const HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_FILE:
    hsa_ven_amd_loader_loaded_code_object_info_t = 7;
pub const HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA:
    hsa_ven_amd_loader_loaded_code_object_info_t = 8;
pub const HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE:
    hsa_ven_amd_loader_loaded_code_object_info_t = 9;
pub const HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE:
    hsa_ven_amd_loader_loaded_code_object_info_t = 10;
pub const HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH:
    hsa_ven_amd_loader_loaded_code_object_info_t = 11;
pub const HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI:
    hsa_ven_amd_loader_loaded_code_object_info_t = 12;

/// `amd_signal_t.kind`: a signal of a user.
pub const AMD_SIGNAL_KIND_USER: i64 = 1;
/// `amd_signal_t.kind`: destroyed or never made.
pub const AMD_SIGNAL_KIND_INVALID: i64 = 0;
/// `amd_signal_t.kind`: the doorbell of a queue; `value` holds the address of the doorbell cell.
pub const AMD_SIGNAL_KIND_DOORBELL: i64 = -1;
/// `amd_signal_t.kind`: a doorbell of older hardware.
pub const AMD_SIGNAL_KIND_LEGACY_DOORBELL: i64 = -2;
/// `amd_queue_t.queue_properties`: a trap handler is installed.
pub const AMD_QUEUE_PROPERTIES_ENABLE_TRAP_HANDLER: u32 = 1;
/// `amd_queue_t.queue_properties`: addresses have 64 bits.
pub const AMD_QUEUE_PROPERTIES_IS_PTR64: u32 = 1 << 1;
/// `amd_queue_t.queue_properties`: start and end times are written to completion signals.
pub const AMD_QUEUE_PROPERTIES_ENABLE_PROFILING: u32 = 1 << 3;
