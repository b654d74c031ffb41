//! Image resource descriptors (8 dwords) and sampler descriptors (4 dwords) of GFX9, GFX10 and GFX11.
//!
//! Both ways: the HSA runtime encodes, the image instructions decode. Field positions: "Image Resource Definition" and "Image
//! Sampler Definition" of the Vega, RDNA 2 and RDNA 3 ISA documents. Only linear layouts exist here. GFX9 states the pitch of every image and
//! later families that of images of one layer; their other images have the pitch that the hardware's linear mode gives a width
//! ([`linear_pitch`]). A slice always has as many rows as the image.

use crate::target::Family;

use super::format::TexelFormat;

/// What an image is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageKind {
    /// One dimension.
    D1,
    /// Two dimensions.
    D2,
    /// Three dimensions.
    D3,
    /// Six faces.
    Cube,
    /// Layers of one dimension.
    D1Array,
    /// Layers of two dimensions.
    D2Array,
}

impl ImageKind {
    /// The `type` field, the same in both families.
    fn code(self) -> u32 {
        match self {
            Self::D1 => 8,
            Self::D2 => 9,
            Self::D3 => 10,
            Self::Cube => 11,
            Self::D1Array => 12,
            Self::D2Array => 13,
        }
    }

    /// Coordinates that address a texel, the layer or face included.
    pub fn coordinates(self) -> usize {
        match self {
            Self::D1 => 1,
            Self::D2 | Self::D1Array => 2,
            Self::D3 | Self::Cube | Self::D2Array => 3,
        }
    }

    /// Coordinates that are filtered.
    pub fn dimensions(self) -> usize {
        match self {
            Self::D1 | Self::D1Array => 1,
            Self::D2 | Self::Cube | Self::D2Array => 2,
            Self::D3 => 3,
        }
    }
}

/// Where a component of the result comes from: `dst_sel` values.
pub mod select {
    /// Constant 0.
    pub const ZERO: u8 = 0;
    /// Constant 1.
    pub const ONE: u8 = 1;
    /// Component x; y, z, w follow.
    pub const X: u8 = 4;
}

/// An image resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    /// Guest address of texel 0, 256-byte aligned.
    pub base: u64,
    /// Dimensionality.
    pub kind: ImageKind,
    /// Texels in a row, 1..=16384.
    pub width: u32,
    /// Rows, 1..=16384.
    pub height: u32,
    /// Slices, layers or faces, 1..=8192.
    pub depth: u32,
    /// Texels from one row to the next.
    pub pitch: u32,
    /// Format.
    pub format: TexelFormat,
    /// Source of each component of the result, see [`select`].
    pub select: [u8; 4],
}

/// Bytes that rows of a linear image are a multiple of, and that its first byte is aligned to.
pub const LINEAR_ALIGNMENT: u64 = 256;

/// Texels from one row to the next in the hardware's linear mode: rows of `width` texels of `size` bytes, rounded up to
/// [`LINEAR_ALIGNMENT`].
pub fn linear_pitch(width: u32, size: usize) -> u32 {
    let size = size as u64;
    let row = (u64::from(width) * size).next_multiple_of(LINEAR_ALIGNMENT);
    // At most 2^14 texels and one alignment more: fits.
    (row / size) as u32
}

/// Why a descriptor cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DescriptorError {
    /// The family's descriptors are not known here.
    #[error("image descriptors of {0:?} are not supported")]
    Family(Family),
    /// Format fields.
    #[error("image format {0:#x} is not supported")]
    Format(u32),
    /// The type field.
    #[error("image type {0} is not supported")]
    Kind(u32),
    /// The swizzle mode field: tiled images.
    #[error("image swizzle mode {0} is not supported: only linear images are")]
    Swizzle(u32),
    /// More than one level.
    #[error("mipmapped images are not supported: last level {0}")]
    Levels(u32),
    /// The descriptor cannot say this pitch (in texels).
    #[error("a pitch of {0} texels cannot be described")]
    Pitch(u32),
}

fn field(word: u32, low: u32, width: u32) -> u32 {
    word >> low & (u32::MAX >> (32 - width))
}

impl Image {
    /// Decodes the eight dwords of a resource descriptor.
    pub fn decode(words: [u32; 8], family: Family) -> Result<Self, DescriptorError> {
        let gfx10 = match family {
            Family::Gfx9 | Family::Gfx90a => false,
            Family::Gfx10 | Family::Gfx10_3 | Family::Gfx11 => true,
            other => return Err(DescriptorError::Family(other)),
        };
        let (format, width, height);
        if gfx10 {
            let number = field(words[1], 20, if family == Family::Gfx11 { 8 } else { 9 });
            let found = if family == Family::Gfx11 {
                TexelFormat::from_gfx11(number)
            } else {
                TexelFormat::from_gfx10(number)
            };
            format = found.ok_or(DescriptorError::Format(number))?;
            width = (field(words[1], 30, 2) | field(words[2], 0, 12) << 2) + 1;
            height = field(words[2], 14, 14) + 1;
        } else {
            let (data, number) = (field(words[1], 20, 6), field(words[1], 26, 4));
            format = TexelFormat::from_gfx9(data, number)
                .ok_or(DescriptorError::Format(field(words[1], 20, 10)))?;
            width = field(words[2], 0, 14) + 1;
            height = field(words[2], 14, 14) + 1;
        }
        let swizzle = field(words[3], 20, 5);
        if swizzle != 0 {
            return Err(DescriptorError::Swizzle(swizzle));
        }
        let last_level = field(words[3], 16, 4);
        if last_level != 0 {
            return Err(DescriptorError::Levels(last_level));
        }
        let kind = match field(words[3], 28, 4) {
            8 => ImageKind::D1,
            9 => ImageKind::D2,
            10 => ImageKind::D3,
            11 => ImageKind::Cube,
            12 => ImageKind::D1Array,
            13 => ImageKind::D2Array,
            other => return Err(DescriptorError::Kind(other)),
        };
        let flat = matches!(kind, ImageKind::D1 | ImageKind::D2);
        // GFX10 has no pitch field: the depth field holds it for images of one layer.
        let (depth, pitch) = match (gfx10, flat) {
            (false, _) => (field(words[4], 0, 13) + 1, field(words[4], 13, 16) + 1),
            (true, true) => (1, field(words[4], 0, 14) + 1),
            (true, false) => (
                field(words[4], 0, 13) + 1,
                linear_pitch(width, format.size()),
            ),
        };
        let select = [0, 3, 6, 9].map(|low| field(words[3], low, 3) as u8);
        let base = (u64::from(words[0]) | u64::from(field(words[1], 0, 8)) << 32) << 8;
        Ok(Self {
            base,
            kind,
            width,
            height,
            depth,
            pitch,
            format,
            select,
        })
    }

    /// Encodes the descriptor; the base must be 256-byte aligned and the extents within the limits of their fields. Fails where the
    /// family's descriptor cannot express the image: a format that it lacks, a pitch of its own on GFX10 images with slices.
    pub fn encode(&self, family: Family) -> Result<[u32; 8], DescriptorError> {
        let mut words = [0u32; 8];
        words[0] = (self.base >> 8) as u32;
        words[1] = (self.base >> 40) as u32 & 0xff;
        let flat = matches!(self.kind, ImageKind::D1 | ImageKind::D2);
        match family {
            Family::Gfx9 | Family::Gfx90a => {
                let (data, number) = self.format.to_gfx9().ok_or(DescriptorError::Format(0))?;
                if self.pitch > 1 << 16 {
                    return Err(DescriptorError::Pitch(self.pitch));
                }
                words[1] |= data << 20 | number << 26;
                words[2] = (self.width - 1) | (self.height - 1) << 14;
                words[4] = (self.depth - 1) | (self.pitch - 1) << 13;
            }
            Family::Gfx10 | Family::Gfx10_3 | Family::Gfx11 => {
                let format = if family == Family::Gfx11 {
                    self.format.to_gfx11()
                } else {
                    self.format.to_gfx10()
                }
                .ok_or(DescriptorError::Format(0))?;
                // GFX10: the resource level, which must be 1.
                let level = u32::from(family != Family::Gfx11);
                let width = self.width - 1;
                let fits = if flat {
                    self.pitch <= 1 << 14
                } else {
                    self.pitch == linear_pitch(self.width, self.format.size())
                };
                if !fits {
                    return Err(DescriptorError::Pitch(self.pitch));
                }
                words[1] |= format << 20 | (width & 3) << 30;
                words[2] = width >> 2 | (self.height - 1) << 14 | level << 31;
                words[4] = if flat { self.pitch - 1 } else { self.depth - 1 };
            }
            other => return Err(DescriptorError::Family(other)),
        }
        words[3] = self.kind.code() << 28;
        for (component, select) in self.select.into_iter().enumerate() {
            words[3] |= u32::from(select) << (3 * component);
        }
        Ok(words)
    }
}

/// A buffer of texels, which typed buffer instructions read and write by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TexelBuffer {
    /// Guest address of texel 0.
    pub base: u64,
    /// Texels.
    pub count: u32,
    /// Format.
    pub format: TexelFormat,
    /// Source of each component of the result, see [`select`].
    pub select: [u8; 4],
}

impl TexelBuffer {
    /// Encodes the four dwords of a structured buffer resource ("Buffer Resource Descriptor" of the same documents): an index past the
    /// last texel is out of range.
    pub fn encode(&self, family: Family) -> Result<[u32; 4], DescriptorError> {
        let format = match family {
            Family::Gfx9 | Family::Gfx90a => {
                let (data, number) = self.format.to_gfx9().ok_or(DescriptorError::Format(0))?;
                // Image-only formats do not fit the fields of buffers.
                if data > 15 || number > 7 {
                    return Err(DescriptorError::Format(data | number << 6));
                }
                number << 12 | data << 15
            }
            Family::Gfx10 | Family::Gfx10_3 => {
                let format = self.format.to_gfx10().ok_or(DescriptorError::Format(0))?;
                if format > 127 {
                    return Err(DescriptorError::Format(format));
                }
                // Bit 24: the resource level, which must be 1.
                format << 12 | 1 << 24
            }
            Family::Gfx11 => {
                let format = self.format.to_gfx11().ok_or(DescriptorError::Format(0))?;
                if format > 63 {
                    return Err(DescriptorError::Format(format));
                }
                format << 12
            }
            other => return Err(DescriptorError::Family(other)),
        };
        let mut word3 = format;
        for (component, select) in self.select.into_iter().enumerate() {
            word3 |= u32::from(select) << (3 * component);
        }
        Ok([
            self.base as u32,
            (self.base >> 32) as u32 & 0xffff | (self.format.size() as u32) << 16,
            self.count,
            word3,
        ])
    }
}

/// What happens to a coordinate out of range: the `clamp_x/y/z` field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clamp {
    /// Repeat.
    Wrap,
    /// Repeat, every other time mirrored.
    Mirror,
    /// Nearest texel of the edge.
    LastTexel,
    /// Mirror once, then the edge.
    MirrorOnce,
    /// Border colour.
    Border,
}

/// A sampler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampler {
    /// Addressing of each coordinate.
    pub clamp: [Clamp; 3],
    /// Coordinates are in texels rather than in 0..1.
    pub unnormalised: bool,
    /// Bilinear filtering in the image plane.
    pub linear: bool,
    /// Linear filtering between slices of a 3D image.
    pub linear_z: bool,
    /// Border colour: 0 transparent black, 1 opaque black, 2 opaque white.
    pub border: u8,
}

impl Sampler {
    /// Decodes the four dwords of a sampler descriptor; the fields used are the same in GFX9 to GFX11.
    pub fn decode(words: [u32; 4]) -> Self {
        let clamp = |low| match field(words[0], low, 3) {
            0 => Clamp::Wrap,
            1 => Clamp::Mirror,
            3 | 5 | 7 => Clamp::MirrorOnce,
            4 | 6 => Clamp::Border,
            _ => Clamp::LastTexel,
        };
        let linear_xy = field(words[2], 20, 2) & 1 != 0;
        // 0: as the filter of x and y; 1: point; 2: linear.
        let linear_z = match field(words[2], 24, 2) {
            0 => linear_xy,
            filter => filter == 2,
        };
        Self {
            clamp: [clamp(0), clamp(3), clamp(6)],
            unnormalised: field(words[0], 15, 1) != 0,
            linear: linear_xy,
            linear_z,
            border: field(words[3], 30, 2) as u8,
        }
    }

    /// Encodes the descriptor.
    pub fn encode(&self) -> [u32; 4] {
        let clamp = |clamp| match clamp {
            Clamp::Wrap => 0,
            Clamp::Mirror => 1,
            Clamp::LastTexel => 2,
            Clamp::MirrorOnce => 3,
            Clamp::Border => 6,
        };
        let linear = u32::from(self.linear);
        [
            clamp(self.clamp[0])
                | clamp(self.clamp[1]) << 3
                | clamp(self.clamp[2]) << 6
                | u32::from(self.unnormalised) << 15,
            0xfff << 12,
            linear << 20 | linear << 22 | if self.linear_z { 2 } else { 1 } << 24,
            u32::from(self.border) << 30,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Number;

    fn image() -> Image {
        Image {
            base: 0x7f12_3456_7800,
            kind: ImageKind::D2,
            width: 1025,
            height: 4,
            depth: 1,
            pitch: 1088,
            format: TexelFormat {
                bits: [32, 0, 0, 0],
                number: Number::Float,
            },
            select: [select::X, select::ZERO, select::ZERO, select::ONE],
        }
    }

    #[test]
    fn descriptors_survive_encoding() {
        for family in [Family::Gfx9, Family::Gfx90a, Family::Gfx10_3, Family::Gfx11] {
            let words = image().encode(family).expect("encodable");
            assert_eq!(Image::decode(words, family), Ok(image()), "{family:?}");
        }
        let volume = Image {
            kind: ImageKind::D3,
            depth: 8,
            ..image()
        };
        for family in [Family::Gfx90a, Family::Gfx10_3, Family::Gfx11] {
            let words = volume.encode(family).expect("encodable");
            assert_eq!(Image::decode(words, family), Ok(volume), "{family:?}");
        }
    }

    #[test]
    fn a_pitch_that_gfx10_cannot_say_is_refused() {
        let volume = Image {
            kind: ImageKind::D2Array,
            depth: 8,
            pitch: 2048,
            ..image()
        };
        assert_eq!(
            volume.encode(Family::Gfx10_3),
            Err(DescriptorError::Pitch(2048))
        );
        assert!(volume.encode(Family::Gfx9).is_ok());
        assert_eq!(linear_pitch(1, 1), 256);
        assert_eq!(linear_pitch(16, 16), 16);
        assert_eq!(linear_pitch(17, 16), 32);
    }

    #[test]
    fn texel_buffers_have_the_fields_of_typed_buffer_resources() {
        let buffer = TexelBuffer {
            base: 0x7f12_3456_7810,
            count: 1000,
            format: TexelFormat {
                bits: [16, 16, 0, 0],
                number: Number::Float,
            },
            select: [select::X, select::X + 1, select::ZERO, select::ONE],
        };
        let selects = 4 | 5 << 3 | 1 << 9;
        assert_eq!(
            buffer.encode(Family::Gfx90a),
            Ok([0x3456_7810, 0x0004_7f12, 1000, selects | 7 << 12 | 5 << 15])
        );
        assert_eq!(
            buffer.encode(Family::Gfx10_3),
            Ok([0x3456_7810, 0x0004_7f12, 1000, selects | 29 << 12 | 1 << 24])
        );
        assert_eq!(
            buffer.encode(Family::Gfx11),
            Ok([0x3456_7810, 0x0004_7f12, 1000, selects | 29 << 12])
        );
        let packed = TexelBuffer {
            format: TexelFormat {
                bits: [5, 6, 5, 0],
                number: Number::Unorm,
            },
            ..buffer
        };
        assert!(packed.encode(Family::Gfx90a).is_err());
        assert!(packed.encode(Family::Gfx10_3).is_err());
        assert!(packed.encode(Family::Gfx11).is_err());
    }

    #[test]
    fn tiled_and_mipmapped_descriptors_are_refused() {
        let mut words = image().encode(Family::Gfx9).expect("encodable");
        words[3] |= 9 << 20;
        assert_eq!(
            Image::decode(words, Family::Gfx9),
            Err(DescriptorError::Swizzle(9))
        );
        let mut words = image().encode(Family::Gfx9).expect("encodable");
        words[3] |= 2 << 16;
        assert_eq!(
            Image::decode(words, Family::Gfx9),
            Err(DescriptorError::Levels(2))
        );
        assert_eq!(
            Image::decode([0; 8], Family::Gfx12),
            Err(DescriptorError::Family(Family::Gfx12))
        );
    }

    #[test]
    fn samplers_survive_encoding() {
        let sampler = Sampler {
            clamp: [Clamp::Wrap, Clamp::Border, Clamp::LastTexel],
            unnormalised: true,
            linear: true,
            linear_z: false,
            border: 2,
        };
        assert_eq!(Sampler::decode(sampler.encode()), sampler);
    }
}
