//! Enumerations of images and of the finalizer (`hsa_ext_image.h`, `hsa_ext_finalize.h`).
#![expect(missing_docs, reason = "names and meanings are those of AMD's headers")]

pub type hsa_ext_image_geometry_t = u32;
pub const HSA_EXT_IMAGE_GEOMETRY_1D: hsa_ext_image_geometry_t = 0;
pub const HSA_EXT_IMAGE_GEOMETRY_2D: hsa_ext_image_geometry_t = 1;
pub const HSA_EXT_IMAGE_GEOMETRY_3D: hsa_ext_image_geometry_t = 2;
pub const HSA_EXT_IMAGE_GEOMETRY_1DA: hsa_ext_image_geometry_t = 3;
pub const HSA_EXT_IMAGE_GEOMETRY_2DA: hsa_ext_image_geometry_t = 4;
pub const HSA_EXT_IMAGE_GEOMETRY_1DB: hsa_ext_image_geometry_t = 5;
pub const HSA_EXT_IMAGE_GEOMETRY_2DDEPTH: hsa_ext_image_geometry_t = 6;
pub const HSA_EXT_IMAGE_GEOMETRY_2DADEPTH: hsa_ext_image_geometry_t = 7;

pub type hsa_ext_image_channel_type_t = u32;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT8: hsa_ext_image_channel_type_t = 0;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT16: hsa_ext_image_channel_type_t = 1;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8: hsa_ext_image_channel_type_t = 2;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT16: hsa_ext_image_channel_type_t = 3;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT24: hsa_ext_image_channel_type_t = 4;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_555: hsa_ext_image_channel_type_t = 5;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_565: hsa_ext_image_channel_type_t = 6;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_101010: hsa_ext_image_channel_type_t = 7;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT8: hsa_ext_image_channel_type_t = 8;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT16: hsa_ext_image_channel_type_t = 9;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT32: hsa_ext_image_channel_type_t = 10;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8: hsa_ext_image_channel_type_t = 11;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT16: hsa_ext_image_channel_type_t = 12;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT32: hsa_ext_image_channel_type_t = 13;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_HALF_FLOAT: hsa_ext_image_channel_type_t = 14;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT: hsa_ext_image_channel_type_t = 15;

pub type hsa_ext_image_channel_order_t = u32;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_A: hsa_ext_image_channel_order_t = 0;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_R: hsa_ext_image_channel_order_t = 1;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_RX: hsa_ext_image_channel_order_t = 2;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_RG: hsa_ext_image_channel_order_t = 3;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_RGX: hsa_ext_image_channel_order_t = 4;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_RA: hsa_ext_image_channel_order_t = 5;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_RGB: hsa_ext_image_channel_order_t = 6;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_RGBX: hsa_ext_image_channel_order_t = 7;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA: hsa_ext_image_channel_order_t = 8;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_BGRA: hsa_ext_image_channel_order_t = 9;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_ARGB: hsa_ext_image_channel_order_t = 10;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_ABGR: hsa_ext_image_channel_order_t = 11;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_SRGB: hsa_ext_image_channel_order_t = 12;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBX: hsa_ext_image_channel_order_t = 13;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA: hsa_ext_image_channel_order_t = 14;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_SBGRA: hsa_ext_image_channel_order_t = 15;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_INTENSITY: hsa_ext_image_channel_order_t = 16;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_LUMINANCE: hsa_ext_image_channel_order_t = 17;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_DEPTH: hsa_ext_image_channel_order_t = 18;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_DEPTH_STENCIL: hsa_ext_image_channel_order_t = 19;

pub type hsa_ext_image_capability_t = u32;
pub const HSA_EXT_IMAGE_CAPABILITY_NOT_SUPPORTED: hsa_ext_image_capability_t = 0x0;
pub const HSA_EXT_IMAGE_CAPABILITY_READ_ONLY: hsa_ext_image_capability_t = 0x1;
pub const HSA_EXT_IMAGE_CAPABILITY_WRITE_ONLY: hsa_ext_image_capability_t = 0x2;
pub const HSA_EXT_IMAGE_CAPABILITY_READ_WRITE: hsa_ext_image_capability_t = 0x4;
pub const HSA_EXT_IMAGE_CAPABILITY_READ_MODIFY_WRITE: hsa_ext_image_capability_t = 0x8;
pub const HSA_EXT_IMAGE_CAPABILITY_ACCESS_INVARIANT_DATA_LAYOUT: hsa_ext_image_capability_t = 0x10;

pub type hsa_ext_image_data_layout_t = u32;
pub const HSA_EXT_IMAGE_DATA_LAYOUT_OPAQUE: hsa_ext_image_data_layout_t = 0x0;
pub const HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR: hsa_ext_image_data_layout_t = 0x1;

pub type hsa_ext_sampler_addressing_mode_t = u32;
pub const HSA_EXT_SAMPLER_ADDRESSING_MODE_UNDEFINED: hsa_ext_sampler_addressing_mode_t = 0;
pub const HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE: hsa_ext_sampler_addressing_mode_t = 1;
pub const HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_BORDER: hsa_ext_sampler_addressing_mode_t = 2;
pub const HSA_EXT_SAMPLER_ADDRESSING_MODE_REPEAT: hsa_ext_sampler_addressing_mode_t = 3;
pub const HSA_EXT_SAMPLER_ADDRESSING_MODE_MIRRORED_REPEAT: hsa_ext_sampler_addressing_mode_t = 4;

pub type hsa_ext_sampler_coordinate_mode_t = u32;
pub const HSA_EXT_SAMPLER_COORDINATE_MODE_UNNORMALIZED: hsa_ext_sampler_coordinate_mode_t = 0;
pub const HSA_EXT_SAMPLER_COORDINATE_MODE_NORMALIZED: hsa_ext_sampler_coordinate_mode_t = 1;

pub type hsa_ext_sampler_filter_mode_t = u32;
pub const HSA_EXT_SAMPLER_FILTER_MODE_NEAREST: hsa_ext_sampler_filter_mode_t = 0;
pub const HSA_EXT_SAMPLER_FILTER_MODE_LINEAR: hsa_ext_sampler_filter_mode_t = 1;

pub type hsa_ext_program_info_t = u32;
pub const HSA_EXT_PROGRAM_INFO_MACHINE_MODEL: hsa_ext_program_info_t = 0;
pub const HSA_EXT_PROGRAM_INFO_PROFILE: hsa_ext_program_info_t = 1;
pub const HSA_EXT_PROGRAM_INFO_DEFAULT_FLOAT_ROUNDING_MODE: hsa_ext_program_info_t = 2;

pub type hsa_ext_finalizer_call_convention_t = i32;
pub const HSA_EXT_FINALIZER_CALL_CONVENTION_AUTO: hsa_ext_finalizer_call_convention_t = -1;
