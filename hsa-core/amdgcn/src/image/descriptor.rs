//! Image resource descriptors (8 dwords) of GFX9, GFX10, GFX11 and GFX12.
//!
//! Both ways: the HSA runtime encodes, the image instructions decode. Field positions: "Image Resource Definition" of the Vega, RDNA 2, RDNA 3
//! and RDNA 4 ISA documents. Only linear layouts exist here. GFX9 states the pitch of every image and later families that of images of one
//! layer; their other images have the pitch that the hardware's linear mode gives a width ([`linear_pitch`]). A slice always has as many rows
//! as the image. Where the levels of a mipmapped image lie is said in [`super::levels`]. Images with several samples for each texel have no linear
//! layout: those with one are read.

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
    /// A sample number follows the coordinates; there is sample 0 only.
    pub multisampled: bool,
    /// First level that instructions see: their level 0. Base, extent and pitch are those of the level 0 in memory all the same.
    pub first_level: u8,
    /// Last level that instructions see.
    pub last_level: u8,
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
    /// The first level comes after the last one.
    #[error("an image cannot begin at level {0} and end at level {1}")]
    Levels(u32, u32),
    /// More than one sample.
    #[error("images with several samples for each texel are not supported: 2 to the power of {0}")]
    Samples(u32),
    /// A short descriptor of an image with more than one layer.
    #[error("a 128-bit resource describes images of one layer")]
    Short,
    /// The descriptor cannot say this pitch (in texels).
    #[error("a pitch of {0} texels cannot be described")]
    Pitch(u32),
}

pub(super) fn field(word: u32, low: u32, width: u32) -> u32 {
    word >> low & (u32::MAX >> (32 - width))
}

/// Where the families place what they have in common.
struct Fields {
    /// First bit and number of bits of a format number; GFX9 has two numbers.
    format: (u32, u32),
    /// Bits of width and height.
    extent_bits: u32,
    /// Dword, first bit and bits of the number of the first level.
    first_level: (usize, u32, u32),
    /// First bit of the number of the last level, and how many bits it has.
    last_level: (u32, u32),
    /// Bits of the depth field.
    depth_bits: u32,
    /// Bits of the pitch in the place of the depth of images of one layer.
    pitch_bits: u32,
}

impl Fields {
    fn of(family: Family) -> Result<Self, DescriptorError> {
        let fields = |format, extent_bits, last_level, depth_bits, pitch_bits| Self {
            format,
            extent_bits,
            first_level: if family == Family::Gfx12 {
                (1, 25, 5)
            } else {
                (3, 12, 4)
            },
            last_level,
            depth_bits,
            pitch_bits,
        };
        Ok(match family {
            Family::Gfx9 | Family::Gfx90a => fields((0, 0), 14, (16, 4), 13, 0),
            Family::Gfx10 | Family::Gfx10_3 => fields((20, 9), 14, (16, 4), 13, 14),
            Family::Gfx11 => fields((20, 8), 14, (16, 4), 13, 14),
            Family::Gfx12 => fields((17, 8), 16, (15, 5), 14, 16),
            other => return Err(DescriptorError::Family(other)),
        })
    }

    /// Whether the format is one number, the width is in two dwords, and images of one layer have their pitch in the place of the depth.
    fn unified(&self) -> bool {
        self.format.1 != 0
    }
}

/// The format of a number, by family.
fn unified_format(number: u32, family: Family) -> Option<TexelFormat> {
    match family {
        Family::Gfx10 | Family::Gfx10_3 => TexelFormat::from_gfx10(number),
        _ => TexelFormat::from_gfx11(number),
    }
}

impl Image {
    /// Decodes the eight dwords of a resource descriptor.
    pub fn decode(words: [u32; 8], family: Family) -> Result<Self, DescriptorError> {
        let fields = Fields::of(family)?;
        let (format, width, height);
        if fields.unified() {
            let number = field(words[1], fields.format.0, fields.format.1);
            format = unified_format(number, family).ok_or(DescriptorError::Format(number))?;
            let high = fields.extent_bits - 2;
            width = (field(words[1], 30, 2) | field(words[2], 0, high) << 2) + 1;
            height = field(words[2], 14, fields.extent_bits) + 1;
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
        let (kind, multisampled) = match field(words[3], 28, 4) {
            8 => (ImageKind::D1, false),
            9 => (ImageKind::D2, false),
            10 => (ImageKind::D3, false),
            11 => (ImageKind::Cube, false),
            12 => (ImageKind::D1Array, false),
            13 => (ImageKind::D2Array, false),
            14 => (ImageKind::D2, true),
            15 => (ImageKind::D2Array, true),
            other => return Err(DescriptorError::Kind(other)),
        };
        let last_level = field(words[3], fields.last_level.0, fields.last_level.1);
        let (dword, low, bits) = fields.first_level;
        let first_level = field(words[dword], low, bits);
        if multisampled && last_level != 0 {
            // Multisampled images have no levels: the field says how many samples.
            return Err(DescriptorError::Samples(last_level));
        }
        if first_level > last_level {
            return Err(DescriptorError::Levels(first_level, last_level));
        }
        let flat = matches!(kind, ImageKind::D1 | ImageKind::D2);
        let depth_field = field(words[4], 0, fields.depth_bits) + 1;
        let (depth, pitch) = match (fields.unified(), flat) {
            (false, _) => (depth_field, field(words[4], 13, 16) + 1),
            (true, true) => (1, field(words[4], 0, fields.pitch_bits) + 1),
            (true, false) => (depth_field, linear_pitch(width, format.size())),
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
            multisampled,
            first_level: first_level as u8,
            last_level: last_level as u8,
        })
    }

    /// Decodes the four dwords that instructions with `r128` read: images of one layer with the pitch of the linear mode.
    pub fn decode_short(words: [u32; 4], family: Family) -> Result<Self, DescriptorError> {
        let [a, b, c, d] = words;
        let mut image = Self::decode([a, b, c, d, 0, 0, 0, 0], family)?;
        if !matches!(image.kind, ImageKind::D1 | ImageKind::D2) {
            return Err(DescriptorError::Short);
        }
        image.pitch = linear_pitch(image.width, image.format.size());
        Ok(image)
    }

    /// Encodes the descriptor; the base must be 256-byte aligned and the extents within the limits of their fields. Fails where the
    /// family's descriptor cannot express the image: a format that it lacks, a pitch of its own on GFX10 images with slices or on images with
    /// levels.
    pub fn encode(&self, family: Family) -> Result<[u32; 8], DescriptorError> {
        let fields = Fields::of(family)?;
        let mut words = [0u32; 8];
        words[0] = (self.base >> 8) as u32;
        words[1] = (self.base >> 40) as u32 & 0xff;
        let flat = matches!(self.kind, ImageKind::D1 | ImageKind::D2);
        let linear = self.pitch == linear_pitch(self.width, self.format.size());
        let (dword, low, bits) = fields.first_level;
        if self.first_level > self.last_level || u32::from(self.last_level) >= 1 << bits {
            let levels = [self.first_level, self.last_level].map(u32::from);
            return Err(DescriptorError::Levels(levels[0], levels[1]));
        }
        if self.last_level != 0 && !linear {
            return Err(DescriptorError::Pitch(self.pitch));
        }
        if fields.unified() {
            let format = match family {
                Family::Gfx10 | Family::Gfx10_3 => self.format.to_gfx10(),
                _ => self.format.to_gfx11(),
            };
            let format = format.ok_or(DescriptorError::Format(0))?;
            let width = self.width - 1;
            let fits = if flat {
                self.pitch <= 1 << fields.pitch_bits
            } else {
                linear
            };
            if !fits {
                return Err(DescriptorError::Pitch(self.pitch));
            }
            words[1] |= format << fields.format.0 | (width & 3) << 30;
            words[2] = width >> 2 | (self.height - 1) << 14;
            // GFX10: the resource level, which must be 1.
            if matches!(family, Family::Gfx10 | Family::Gfx10_3) {
                words[2] |= 1 << 31;
            }
            words[4] = if flat { self.pitch - 1 } else { self.depth - 1 };
        } else {
            let (data, number) = self.format.to_gfx9().ok_or(DescriptorError::Format(0))?;
            if self.pitch > 1 << 16 {
                return Err(DescriptorError::Pitch(self.pitch));
            }
            words[1] |= data << 20 | number << 26;
            words[2] = (self.width - 1) | (self.height - 1) << 14;
            words[4] = (self.depth - 1) | (self.pitch - 1) << 13;
        }
        let kind = match (self.kind, self.multisampled) {
            (ImageKind::D2, true) => 14,
            (ImageKind::D2Array, true) => 15,
            (kind, _) => kind.code(),
        };
        words[3] = kind << 28 | u32::from(self.last_level) << fields.last_level.0;
        words[dword] |= u32::from(self.first_level) << low;
        for (component, select) in self.select.into_iter().enumerate() {
            words[3] |= u32::from(select) << (3 * component);
        }
        Ok(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Number;

    const FAMILIES: [Family; 5] = [
        Family::Gfx9,
        Family::Gfx90a,
        Family::Gfx10_3,
        Family::Gfx11,
        Family::Gfx12,
    ];

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
            multisampled: false,
            first_level: 0,
            last_level: 0,
        }
    }

    #[test]
    fn descriptors_survive_encoding() {
        for family in FAMILIES {
            let words = image().encode(family).expect("encodable");
            assert_eq!(Image::decode(words, family), Ok(image()), "{family:?}");
        }
        let volume = Image {
            kind: ImageKind::D3,
            depth: 8,
            ..image()
        };
        for family in FAMILIES {
            let words = volume.encode(family).expect("encodable");
            assert_eq!(Image::decode(words, family), Ok(volume), "{family:?}");
        }
    }

    #[test]
    fn levels_survive_encoding() {
        let image = Image {
            first_level: 2,
            last_level: 10,
            ..image()
        };
        for family in FAMILIES {
            let words = image.encode(family).expect("encodable");
            assert_eq!(Image::decode(words, family), Ok(image), "{family:?}");
        }
        // Bits 12 to 15 and 16 to 19 of the third dword before GFX12.
        let mut words = image.encode(Family::Gfx10_3).expect("encodable");
        assert_eq!(words[3] >> 12 & 0xff, 0xa2);
        words[3] ^= 3 << 18;
        assert_eq!(
            Image::decode(words, Family::Gfx10_3).map(|image| image.last_level),
            Ok(6)
        );
        words[3] ^= 6 << 16;
        assert_eq!(
            Image::decode(words, Family::Gfx10_3),
            Err(DescriptorError::Levels(2, 0))
        );
        let wide = Image {
            pitch: 2048,
            ..image
        };
        assert_eq!(wide.encode(Family::Gfx9), Err(DescriptorError::Pitch(2048)));
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
    fn tiled_descriptors_are_refused() {
        let mut words = image().encode(Family::Gfx9).expect("encodable");
        words[3] |= 9 << 20;
        assert_eq!(
            Image::decode(words, Family::Gfx9),
            Err(DescriptorError::Swizzle(9))
        );
        assert_eq!(
            Image::decode([0; 8], Family::Gfx940),
            Err(DescriptorError::Family(Family::Gfx940))
        );
    }

    #[test]
    fn gfx12_has_the_fields_of_its_own_document() {
        let words = image().encode(Family::Gfx12).expect("encodable");
        let format = image().format.to_gfx11().expect("a number");
        // Base in units of 256 bytes; format from bit 17; width − 1 = 1024 in two dwords; height − 1; pitch − 1.
        assert_eq!(words[0], 0x1234_5678);
        assert_eq!(words[1], 0x7f | format << 17);
        assert_eq!(words[2], 1024 >> 2 | 3 << 14);
        assert_eq!(words[3], 4 | 1 << 9 | 9 << 28);
        assert_eq!(words[4], 1087);
        // Last level in the third dword, first level in the first.
        let mut mipmapped = words;
        mipmapped[3] |= 16 << 15;
        mipmapped[1] |= 2 << 25;
        let mipmapped = Image::decode(mipmapped, Family::Gfx12).expect("decodable");
        assert_eq!((mipmapped.first_level, mipmapped.last_level), (2, 16));
        let large = Image {
            width: 65536,
            height: 65536,
            pitch: 65536,
            ..image()
        };
        let words = large.encode(Family::Gfx12).expect("encodable");
        assert_eq!(Image::decode(words, Family::Gfx12), Ok(large));
    }

    #[test]
    fn multisampled_images_have_one_sample() {
        let image = Image {
            multisampled: true,
            ..image()
        };
        for family in FAMILIES {
            let words = image.encode(family).expect("encodable");
            assert_eq!(words[3] >> 28, 14);
            assert_eq!(Image::decode(words, family), Ok(image));
            let mut four = words;
            four[3] |= 2 << 16;
            assert!(matches!(
                Image::decode(four, family),
                Err(DescriptorError::Samples(_))
            ));
        }
    }

    #[test]
    fn short_descriptors_have_the_pitch_of_the_linear_mode() {
        let words = image().encode(Family::Gfx10_3).expect("encodable");
        let short = [words[0], words[1], words[2], words[3]];
        let decoded = Image::decode_short(short, Family::Gfx10_3).expect("decodable");
        assert_eq!(decoded.pitch, linear_pitch(1025, 4));
        assert_eq!(decoded.width, 1025);
    }
}
