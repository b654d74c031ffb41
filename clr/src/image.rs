//! Images and samplers: what kernels read to address texels, made by the HSA library from a description.
//!
//! An image is a view of memory that somebody else owns: linear, with rows of a given pitch. The library's handle is the address of the
//! descriptor; [`ImageView::descriptor`] and [`SamplerView::descriptor`] copy it out, because texture objects hold descriptors by
//! value. The views keep the library's objects alive and destroy them when dropped.

use std::sync::Arc;

use gneiss_hsa_api::*;

use crate::{Device, Error, Result};

/// Dwords of an image's descriptor, with what the device library looks for after it (channel type, order, width).
pub const IMAGE_DWORDS: usize = 12;
/// Dwords of a sampler's descriptor, with the padding that texture objects have.
pub const SAMPLER_DWORDS: usize = 8;

/// Dimensionality of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageGeometry {
    /// One dimension.
    D1,
    /// Two dimensions.
    D2,
    /// Three dimensions.
    D3,
    /// Layers of one dimension.
    D1Array,
    /// Layers of two dimensions.
    D2Array,
    /// Layers of two dimensions that are the faces of cubes, six for each. No library but ours has them.
    Cube,
    /// One dimension, addressed by index with typed buffer instructions.
    Buffer,
}

/// Type of a texel's components, in memory and as kernels see them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelType {
    /// 8 bits, -1 to 1.
    Snorm8,
    /// 16 bits, -1 to 1.
    Snorm16,
    /// 8 bits, 0 to 1.
    Unorm8,
    /// 16 bits, 0 to 1.
    Unorm16,
    /// 8 bits.
    Signed8,
    /// 16 bits.
    Signed16,
    /// 32 bits.
    Signed32,
    /// 8 bits.
    Unsigned8,
    /// 16 bits.
    Unsigned16,
    /// 32 bits.
    Unsigned32,
    /// 5, 6 and 5 bits of three components, 0 to 1.
    UnormShort565,
    /// 5 bits of three components, 0 to 1.
    UnormShort555,
    /// 10 bits of three components, 0 to 1.
    UnormInt101010,
    /// A 16-bit float.
    Half,
    /// A 32-bit float.
    Float,
}

/// Components of a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelOrder {
    /// One.
    R,
    /// One, seen as alpha.
    A,
    /// Two.
    Rg,
    /// Two, the second seen as alpha.
    Ra,
    /// Three, packed into 16 or 32 bits.
    Rgb,
    /// Four.
    Rgba,
    /// Four, blue first.
    Bgra,
    /// Four, alpha first.
    Argb,
    /// One, seen in all components.
    Intensity,
    /// One, seen in three components.
    Luminance,
    /// Four of 8 bits, of which the first three have the sRGB curve.
    Srgba,
    /// One, which kernels read as a single number.
    Depth,
}

/// Levels of an image, each with half of the extent of the one before. No library but ours has images with more than one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageLevels {
    /// In memory.
    pub count: u32,
    /// The one that is level 0 for kernels.
    pub first: u32,
    /// The last one that kernels see.
    pub last: u32,
}

impl ImageLevels {
    /// A plain image.
    pub const ONE: Self = Self {
        count: 1,
        first: 0,
        last: 0,
    };

    /// All of some levels.
    pub fn all(count: u32) -> Self {
        Self {
            count,
            first: 0,
            last: count.saturating_sub(1),
        }
    }
}

/// What an image is and where its texels lie.
#[derive(Clone, Copy, Debug)]
pub struct ImageDescription {
    /// Dimensionality.
    pub geometry: ImageGeometry,
    /// Texels in a row.
    pub width: usize,
    /// Rows; 0 or 1 where the geometry has none.
    pub height: usize,
    /// Slices or layers; 0 or 1 where the geometry has none.
    pub depth: usize,
    /// Component type.
    pub channel_type: ChannelType,
    /// Components.
    pub channel_order: ChannelOrder,
    /// Bytes from one row to the next, a multiple of 256; not used for buffers, cubes and images with levels, whose pitch the library chooses.
    /// Slices follow each other without gaps.
    pub row_pitch: usize,
    /// Levels.
    pub levels: ImageLevels,
}

impl ImageDescription {
    /// What the HSA library calls this.
    fn hsa(&self) -> hsa_ext_image_descriptor_t {
        let (height, depth, layers) = match self.geometry {
            ImageGeometry::D1 | ImageGeometry::Buffer => (0, 0, 0),
            ImageGeometry::D2 => (self.height, 0, 0),
            ImageGeometry::D3 => (self.height, self.depth, 0),
            ImageGeometry::D1Array => (0, 0, self.depth),
            ImageGeometry::D2Array | ImageGeometry::Cube => (self.height, 0, self.depth),
        };
        hsa_ext_image_descriptor_t {
            geometry: hsa_geometry(self.geometry, self.channel_order),
            width: self.width,
            height,
            depth,
            array_size: layers,
            format: hsa_ext_image_format_t {
                channel_type: channel_type(self.channel_type),
                channel_order: channel_order(self.channel_order),
            },
        }
    }
}

/// Where a level of an image lies in the image's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageLevel {
    /// Bytes from the beginning.
    pub offset: usize,
    /// Bytes of the level.
    pub size: usize,
    /// Bytes from one row to the next. Slices follow each other without gaps.
    pub row_pitch: usize,
}

impl ImageLevel {
    /// Whether a device's library has images with levels and faces.
    pub fn supported(device: &Device) -> bool {
        device.properties().images && device.hsa().api.gneiss_hsa_image_create.is_some()
    }

    /// Asks a device's library about a level of an image.
    pub fn of(device: &Device, description: &ImageDescription, level: u32) -> Result<Self> {
        let Some(layout) = device.hsa().api.gneiss_hsa_image_get_level_layout else {
            return Err(Error::Unsupported(
                "an image with levels, by this HSA library".into(),
            ));
        };
        let descriptor = description.hsa();
        let mut place = gneiss_hsa_image_level_layout_t::default();
        // SAFETY: the description and the place for the result are valid; the library checks the rest.
        let status =
            unsafe { layout(device.agent(), &raw const descriptor, level, &raw mut place) };
        status
            .ok()
            .map_err(|status| refused("gneiss_hsa_image_get_level_layout", status, description))?;
        Ok(Self {
            offset: place.offset,
            size: place.size,
            row_pitch: place.row_pitch,
        })
    }
}

/// What kernels may do with images of a format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImageAccess {
    /// Read them.
    pub read: bool,
    /// Write them.
    pub write: bool,
    /// Both in one kernel.
    pub read_write: bool,
}

impl ImageAccess {
    /// Asks a device about a format.
    pub fn of(
        device: &Device,
        geometry: ImageGeometry,
        channel_type: ChannelType,
        channel_order: ChannelOrder,
    ) -> Self {
        let flat = matches!(geometry, ImageGeometry::D2 | ImageGeometry::D2Array);
        if !device.properties().images || (channel_order == ChannelOrder::Depth && !flat) {
            return Self::default();
        }
        let format = hsa_ext_image_format_t {
            channel_type: self::channel_type(channel_type),
            channel_order: self::channel_order(channel_order),
        };
        let mut mask = 0;
        // SAFETY: the format and the place for the result are valid.
        let status = unsafe {
            (device.hsa().api.hsa_ext_image_get_capability)(
                device.agent(),
                hsa_geometry(geometry, channel_order),
                &raw const format,
                &raw mut mask,
            )
        };
        if status.ok().is_err() {
            return Self::default();
        }
        Self {
            read: mask & HSA_EXT_IMAGE_CAPABILITY_READ_ONLY != 0,
            write: mask & HSA_EXT_IMAGE_CAPABILITY_WRITE_ONLY != 0,
            read_write: mask & HSA_EXT_IMAGE_CAPABILITY_READ_WRITE != 0,
        }
    }
}

fn hsa_geometry(geometry: ImageGeometry, order: ChannelOrder) -> hsa_ext_image_geometry_t {
    match geometry {
        ImageGeometry::D2 if order == ChannelOrder::Depth => HSA_EXT_IMAGE_GEOMETRY_2DDEPTH,
        ImageGeometry::D2Array if order == ChannelOrder::Depth => HSA_EXT_IMAGE_GEOMETRY_2DADEPTH,
        ImageGeometry::D1 => HSA_EXT_IMAGE_GEOMETRY_1D,
        ImageGeometry::Buffer => HSA_EXT_IMAGE_GEOMETRY_1DB,
        ImageGeometry::D2 => HSA_EXT_IMAGE_GEOMETRY_2D,
        ImageGeometry::D3 => HSA_EXT_IMAGE_GEOMETRY_3D,
        ImageGeometry::D1Array => HSA_EXT_IMAGE_GEOMETRY_1DA,
        ImageGeometry::D2Array | ImageGeometry::Cube => HSA_EXT_IMAGE_GEOMETRY_2DA,
    }
}

/// An image of a device.
#[derive(Debug)]
pub struct ImageView {
    device: Arc<Device>,
    handle: hsa_ext_image_t,
    descriptor: [u32; IMAGE_DWORDS],
}

fn refused(call: &'static str, status: hsa_status_t, what: &dyn std::fmt::Debug) -> Error {
    let reason = match status {
        HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED => "format",
        HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED => "size",
        HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED => "pitch",
        HSA_STATUS_ERROR_INVALID_ARGUMENT | HSA_STATUS_ERROR_INVALID_ALLOCATION => "address",
        HSA_STATUS_ERROR_OUT_OF_RESOURCES => {
            return Error::OutOfMemory {
                what: "host",
                size: 0,
            };
        }
        status => return Error::Hsa { call, status },
    };
    Error::InvalidValue(format!(
        "the device has no image of this {reason}: {what:?}"
    ))
}

impl ImageView {
    /// Makes an image over device memory at `data`, which must be aligned to 256 bytes and stay allocated while kernels use the image.
    pub fn new(device: &Arc<Device>, description: &ImageDescription, data: u64) -> Result<Self> {
        let descriptor = description.hsa();
        let mut handle = hsa_ext_image_t::default();
        let cube = description.geometry == ImageGeometry::Cube;
        if cube || description.levels.count != 1 {
            let Some(create) = device.hsa().api.gneiss_hsa_image_create else {
                return Err(Error::Unsupported(
                    "an image with levels or of faces, by this HSA library".into(),
                ));
            };
            let levels = gneiss_hsa_image_levels_t {
                levels: description.levels.count,
                first_level: description.levels.first,
                last_level: description.levels.last,
                cube: u32::from(cube),
            };
            // SAFETY: the descriptions and the place for the result are valid; the library checks the rest.
            let status = unsafe {
                create(
                    device.agent(),
                    &raw const descriptor,
                    &raw const levels,
                    data as *const std::ffi::c_void,
                    HSA_ACCESS_PERMISSION_RW,
                    &raw mut handle,
                )
            };
            status
                .ok()
                .map_err(|status| refused("gneiss_hsa_image_create", status, description))?;
        } else {
            let row_pitch = match description.geometry {
                ImageGeometry::Buffer => 0,
                _ => description.row_pitch,
            };
            // SAFETY: as above.
            let status = unsafe {
                (device.hsa().api.hsa_ext_image_create_with_layout)(
                    device.agent(),
                    &raw const descriptor,
                    data as *const std::ffi::c_void,
                    HSA_ACCESS_PERMISSION_RW,
                    HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR,
                    row_pitch,
                    0,
                    &raw mut handle,
                )
            };
            status.ok().map_err(|status| {
                refused("hsa_ext_image_create_with_layout", status, description)
            })?;
        }
        // SAFETY: the handle of an image is the address of its descriptor, of this many dwords (HIP and OpenCL rely on it).
        let words = unsafe {
            std::ptr::with_exposed_provenance::<[u32; IMAGE_DWORDS]>(handle.handle as usize)
                .read_unaligned()
        };
        Ok(Self {
            device: Arc::clone(device),
            handle,
            descriptor: words,
        })
    }

    /// What kernels read.
    pub fn descriptor(&self) -> &[u32; IMAGE_DWORDS] {
        &self.descriptor
    }
}

impl Drop for ImageView {
    fn drop(&mut self) {
        // SAFETY: made in `new`, destroyed once.
        let status = unsafe {
            (self.device.hsa().api.hsa_ext_image_destroy)(self.device.agent(), self.handle)
        };
        if let Err(status) = status.ok() {
            tracing::error!("hsa_ext_image_destroy failed: {status}");
        }
    }
}

/// What happens to coordinates out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressingMode {
    /// Repeat.
    Repeat,
    /// Repeat, every other time mirrored.
    MirroredRepeat,
    /// The nearest texel.
    ClampToEdge,
    /// Zero.
    ClampToBorder,
}

/// How the levels of an image are chosen by the level of detail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamplerLevels {
    /// Interpolate between levels.
    pub linear: bool,
    /// What is added to the level of detail.
    pub bias: f32,
    /// Least level of detail.
    pub least: f32,
    /// Greatest level of detail.
    pub greatest: f32,
}

/// How images are sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamplerDescription {
    /// Coordinates are 0 to 1 rather than in texels.
    pub normalised: bool,
    /// Interpolate between texels.
    pub linear: bool,
    /// By dimension.
    pub addressing: [AddressingMode; 3],
    /// Of images with levels. No library but ours has them.
    pub levels: Option<SamplerLevels>,
}

/// A sampler of a device.
#[derive(Debug)]
pub struct SamplerView {
    device: Arc<Device>,
    handle: hsa_ext_sampler_t,
    descriptor: [u32; SAMPLER_DWORDS],
}

impl SamplerView {
    /// Makes a sampler. Libraries before ROCm 7 know one addressing mode for all dimensions; others are refused there.
    pub fn new(device: &Arc<Device>, description: &SamplerDescription) -> Result<Self> {
        let coordinate_mode = if description.normalised {
            HSA_EXT_SAMPLER_COORDINATE_MODE_NORMALIZED
        } else {
            HSA_EXT_SAMPLER_COORDINATE_MODE_UNNORMALIZED
        };
        let filter_mode = filter(description.linear);
        let address_modes = description.addressing.map(|mode| match mode {
            AddressingMode::Repeat => HSA_EXT_SAMPLER_ADDRESSING_MODE_REPEAT,
            AddressingMode::MirroredRepeat => HSA_EXT_SAMPLER_ADDRESSING_MODE_MIRRORED_REPEAT,
            AddressingMode::ClampToEdge => HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE,
            AddressingMode::ClampToBorder => HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_BORDER,
        });
        let api = &device.hsa().api;
        let mut handle = hsa_ext_sampler_t::default();
        let status = if let Some(levels) = description.levels {
            let Some(create) = api.gneiss_hsa_sampler_create else {
                return Err(Error::Unsupported(
                    "a sampler of images with levels, by this HSA library".into(),
                ));
            };
            let descriptor = hsa_ext_sampler_descriptor_v2_t {
                coordinate_mode,
                filter_mode,
                address_modes,
            };
            let levels = gneiss_hsa_sampler_levels_t {
                filter_mode: filter(levels.linear),
                bias: levels.bias,
                least: levels.least,
                greatest: levels.greatest,
            };
            // SAFETY: the descriptions and the place for the result are valid.
            unsafe {
                create(
                    device.agent(),
                    &raw const descriptor,
                    &raw const levels,
                    &raw mut handle,
                )
            }
        } else if address_modes == [address_modes[0]; 3] {
            let descriptor = hsa_ext_sampler_descriptor_t {
                coordinate_mode,
                filter_mode,
                address_mode: address_modes[0],
            };
            // SAFETY: the description and the place for the result are valid.
            unsafe {
                (api.hsa_ext_sampler_create)(device.agent(), &raw const descriptor, &raw mut handle)
            }
        } else {
            let Some(create) = api.hsa_ext_sampler_create_v2 else {
                return Err(Error::Unsupported(
                    "a sampler with different addressing modes, by this HSA library".into(),
                ));
            };
            let descriptor = hsa_ext_sampler_descriptor_v2_t {
                coordinate_mode,
                filter_mode,
                address_modes,
            };
            // SAFETY: as above.
            unsafe { create(device.agent(), &raw const descriptor, &raw mut handle) }
        };
        status
            .ok()
            .map_err(|status| refused("hsa_ext_sampler_create", status, description))?;
        // SAFETY: the handle of a sampler is the address of its descriptor and of the padding that texture objects have.
        let words = unsafe {
            std::ptr::with_exposed_provenance::<[u32; SAMPLER_DWORDS]>(handle.handle as usize)
                .read_unaligned()
        };
        Ok(Self {
            device: Arc::clone(device),
            handle,
            descriptor: words,
        })
    }

    /// What kernels read.
    pub fn descriptor(&self) -> &[u32; SAMPLER_DWORDS] {
        &self.descriptor
    }
}

impl Drop for SamplerView {
    fn drop(&mut self) {
        // SAFETY: made in `new`, destroyed once.
        let status = unsafe {
            (self.device.hsa().api.hsa_ext_sampler_destroy)(self.device.agent(), self.handle)
        };
        if let Err(status) = status.ok() {
            tracing::error!("hsa_ext_sampler_destroy failed: {status}");
        }
    }
}

fn filter(linear: bool) -> hsa_ext_sampler_filter_mode32_t {
    if linear {
        HSA_EXT_SAMPLER_FILTER_MODE_LINEAR
    } else {
        HSA_EXT_SAMPLER_FILTER_MODE_NEAREST
    }
}

fn channel_type(channel_type: ChannelType) -> u32 {
    match channel_type {
        ChannelType::Snorm8 => HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT8,
        ChannelType::Snorm16 => HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT16,
        ChannelType::Unorm8 => HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8,
        ChannelType::Unorm16 => HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT16,
        ChannelType::Signed8 => HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT8,
        ChannelType::Signed16 => HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT16,
        ChannelType::Signed32 => HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT32,
        ChannelType::Unsigned8 => HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8,
        ChannelType::Unsigned16 => HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT16,
        ChannelType::Unsigned32 => HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT32,
        ChannelType::UnormShort565 => HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_565,
        ChannelType::UnormShort555 => HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_555,
        ChannelType::UnormInt101010 => HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_101010,
        ChannelType::Half => HSA_EXT_IMAGE_CHANNEL_TYPE_HALF_FLOAT,
        ChannelType::Float => HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT,
    }
}

fn channel_order(order: ChannelOrder) -> u32 {
    match order {
        ChannelOrder::R => HSA_EXT_IMAGE_CHANNEL_ORDER_R,
        ChannelOrder::A => HSA_EXT_IMAGE_CHANNEL_ORDER_A,
        ChannelOrder::Ra => HSA_EXT_IMAGE_CHANNEL_ORDER_RA,
        ChannelOrder::Rgb => HSA_EXT_IMAGE_CHANNEL_ORDER_RGB,
        ChannelOrder::Bgra => HSA_EXT_IMAGE_CHANNEL_ORDER_BGRA,
        ChannelOrder::Argb => HSA_EXT_IMAGE_CHANNEL_ORDER_ARGB,
        ChannelOrder::Intensity => HSA_EXT_IMAGE_CHANNEL_ORDER_INTENSITY,
        ChannelOrder::Luminance => HSA_EXT_IMAGE_CHANNEL_ORDER_LUMINANCE,
        ChannelOrder::Rg => HSA_EXT_IMAGE_CHANNEL_ORDER_RG,
        ChannelOrder::Rgba => HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA,
        ChannelOrder::Srgba => HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA,
        ChannelOrder::Depth => HSA_EXT_IMAGE_CHANNEL_ORDER_DEPTH,
    }
}
