//! Images, samplers, and the finalizer.

use super::hsa_dim3_t;
use crate::constant::*;

/// A layout that a driver gave for an image.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hsa_amd_image_descriptor_t {
    /// Version.
    pub version: u32,
    /// Vendor and device.
    pub deviceID: u32,
    /// Device data.
    pub data: [u32; 1],
}

/// The format of an image's elements.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct hsa_ext_image_format_t {
    /// `HSA_EXT_IMAGE_CHANNEL_TYPE_*`.
    pub channel_type: hsa_ext_image_channel_type32_t,
    /// `HSA_EXT_IMAGE_CHANNEL_ORDER_*`.
    pub channel_order: hsa_ext_image_channel_order32_t,
}

/// An image's shape.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct hsa_ext_image_descriptor_t {
    /// `HSA_EXT_IMAGE_GEOMETRY_*`.
    pub geometry: hsa_ext_image_geometry_t,
    /// Elements.
    pub width: usize,
    /// Elements.
    pub height: usize,
    /// Elements.
    pub depth: usize,
    /// Layers.
    pub array_size: usize,
    /// Format.
    pub format: hsa_ext_image_format_t,
}

/// What an image's data needs.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct hsa_ext_image_data_info_t {
    /// Bytes.
    pub size: usize,
    /// Bytes.
    pub alignment: usize,
}

/// A part of an image.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct hsa_ext_image_region_t {
    /// First element.
    pub offset: hsa_dim3_t,
    /// Elements.
    pub range: hsa_dim3_t,
}

/// A sampler.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct hsa_ext_sampler_descriptor_t {
    /// `HSA_EXT_SAMPLER_COORDINATE_MODE_*`.
    pub coordinate_mode: hsa_ext_sampler_coordinate_mode32_t,
    /// `HSA_EXT_SAMPLER_FILTER_MODE_*`.
    pub filter_mode: hsa_ext_sampler_filter_mode32_t,
    /// `HSA_EXT_SAMPLER_ADDRESSING_MODE_*`.
    pub address_mode: hsa_ext_sampler_addressing_mode32_t,
}

/// A sampler with an addressing mode for each dimension.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct hsa_ext_sampler_descriptor_v2_t {
    /// `HSA_EXT_SAMPLER_COORDINATE_MODE_*`.
    pub coordinate_mode: hsa_ext_sampler_coordinate_mode32_t,
    /// `HSA_EXT_SAMPLER_FILTER_MODE_*`.
    pub filter_mode: hsa_ext_sampler_filter_mode32_t,
    /// `HSA_EXT_SAMPLER_ADDRESSING_MODE_*`.
    pub address_modes: [hsa_ext_sampler_addressing_mode32_t; 3],
}

/// Our own addition to an image's shape: its levels, those of them that kernels see, and whether its layers are faces.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct gneiss_hsa_image_levels_t {
    /// Levels in memory, 1 at least. Each has half of the extent of the one before.
    pub levels: u32,
    /// The level that is level 0 for kernels.
    pub first_level: u32,
    /// The last level that kernels see.
    pub last_level: u32,
    /// Not 0: layers of two dimensions are faces of cubes, six for each.
    pub cube: u32,
}

/// Our own addition: where a level of an image lies in its memory. Its slices or layers follow each other without gaps.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct gneiss_hsa_image_level_layout_t {
    /// Bytes from the beginning of the image.
    pub offset: usize,
    /// Bytes of the level.
    pub size: usize,
    /// Bytes from one row to the next.
    pub row_pitch: usize,
}

/// Our own addition to a sampler: how the levels of an image are chosen.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct gneiss_hsa_sampler_levels_t {
    /// `HSA_EXT_SAMPLER_FILTER_MODE_*` between levels.
    pub filter_mode: hsa_ext_sampler_filter_mode32_t,
    /// What is added to the level of detail.
    pub bias: f32,
    /// Least level of detail.
    pub least: f32,
    /// Greatest level of detail.
    pub greatest: f32,
}

/// Directives of the HSAIL finalizer.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[expect(
    missing_docs,
    reason = "the finalizer is not supported; the fields only give the layout"
)]
pub struct hsa_ext_control_directives_t {
    pub control_directives_mask: u64,
    pub break_exceptions_mask: u16,
    pub detect_exceptions_mask: u16,
    pub max_dynamic_group_size: u32,
    pub max_flat_grid_size: u64,
    pub max_flat_workgroup_size: u32,
    pub reserved1: u32,
    pub required_grid_size: [u64; 3],
    pub required_workgroup_size: hsa_dim3_t,
    pub required_dim: u8,
    pub reserved2: [u8; 75],
}
const _: () = assert!(size_of::<hsa_ext_control_directives_t>() == 144);
