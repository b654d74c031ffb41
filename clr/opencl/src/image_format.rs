//! Image formats: which there are, how large a texel is, and how a colour becomes one.

use gneiss_clr::{ChannelOrder, ChannelType};

use crate::{constants::*, types::cl_image_format};

const ORDERS: [(u32, ChannelOrder, usize); 12] = [
    (CL_R, ChannelOrder::R, 1),
    (CL_A, ChannelOrder::A, 1),
    (CL_RG, ChannelOrder::Rg, 2),
    (CL_RA, ChannelOrder::Ra, 2),
    (CL_RGB, ChannelOrder::Rgb, 3),
    (CL_RGBA, ChannelOrder::Rgba, 4),
    (CL_BGRA, ChannelOrder::Bgra, 4),
    (CL_ARGB, ChannelOrder::Argb, 4),
    (CL_INTENSITY, ChannelOrder::Intensity, 1),
    (CL_LUMINANCE, ChannelOrder::Luminance, 1),
    (CL_sRGBA, ChannelOrder::Srgba, 4),
    (CL_DEPTH, ChannelOrder::Depth, 1),
];

const TYPES: [(u32, ChannelType, usize); 15] = [
    (CL_SNORM_INT8, ChannelType::Snorm8, 1),
    (CL_SNORM_INT16, ChannelType::Snorm16, 2),
    (CL_UNORM_INT8, ChannelType::Unorm8, 1),
    (CL_UNORM_INT16, ChannelType::Unorm16, 2),
    (CL_UNORM_SHORT_565, ChannelType::UnormShort565, 0),
    (CL_UNORM_SHORT_555, ChannelType::UnormShort555, 0),
    (CL_UNORM_INT_101010, ChannelType::UnormInt101010, 0),
    (CL_SIGNED_INT8, ChannelType::Signed8, 1),
    (CL_SIGNED_INT16, ChannelType::Signed16, 2),
    (CL_SIGNED_INT32, ChannelType::Signed32, 4),
    (CL_UNSIGNED_INT8, ChannelType::Unsigned8, 1),
    (CL_UNSIGNED_INT16, ChannelType::Unsigned16, 2),
    (CL_UNSIGNED_INT32, ChannelType::Unsigned32, 4),
    (CL_HALF_FLOAT, ChannelType::Half, 2),
    (CL_FLOAT, ChannelType::Float, 4),
];

/// A format of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Components.
    pub order: ChannelOrder,
    /// Their type.
    pub kind: ChannelType,
    components: usize,
    width: usize,
    /// As the program gave it.
    pub cl: cl_image_format,
}

impl Format {
    /// The format with OpenCL's numbers; `None` if they make no format.
    pub fn new(format: cl_image_format) -> Option<Self> {
        let (_, order, components) = ORDERS
            .into_iter()
            .find(|(number, _, _)| *number == format.image_channel_order)?;
        let (_, kind, width) = TYPES
            .into_iter()
            .find(|(number, _, _)| *number == format.image_channel_data_type)?;
        let packed = width == 0;
        if packed != (order == ChannelOrder::Rgb) {
            return None;
        }
        let depth = matches!(kind, ChannelType::Unorm16 | ChannelType::Float);
        if order == ChannelOrder::Depth && !depth {
            return None;
        }
        Some(Self {
            order,
            kind,
            components,
            width,
            cl: format,
        })
    }

    /// All formats that the numbers can make.
    pub fn all() -> impl Iterator<Item = Self> {
        ORDERS.into_iter().flat_map(|(order, _, _)| {
            TYPES.into_iter().filter_map(move |(kind, _, _)| {
                Self::new(cl_image_format {
                    image_channel_order: order,
                    image_channel_data_type: kind,
                })
            })
        })
    }

    /// Bytes of a texel.
    pub fn size(&self) -> usize {
        match self.kind {
            ChannelType::UnormShort565 | ChannelType::UnormShort555 => 2,
            ChannelType::UnormInt101010 => 4,
            _ => self.components * self.width,
        }
    }

    /// Whether colours are integers.
    fn is_integer(&self) -> bool {
        matches!(
            self.kind,
            ChannelType::Signed8
                | ChannelType::Signed16
                | ChannelType::Signed32
                | ChannelType::Unsigned8
                | ChannelType::Unsigned16
                | ChannelType::Unsigned32
        )
    }

    /// A texel of a colour: four components of 32 bits, floats or integers as the type wants.
    pub fn texel(&self, colour: [u32; 4]) -> Vec<u8> {
        let [r, g, b, a] = colour;
        let parts: Vec<u32> = match self.order {
            ChannelOrder::R
            | ChannelOrder::Intensity
            | ChannelOrder::Luminance
            | ChannelOrder::Depth => vec![r],
            ChannelOrder::A => vec![a],
            ChannelOrder::Rg => vec![r, g],
            ChannelOrder::Ra => vec![r, a],
            ChannelOrder::Rgb => vec![r, g, b],
            ChannelOrder::Rgba => vec![r, g, b, a],
            ChannelOrder::Bgra => vec![b, g, r, a],
            ChannelOrder::Argb => vec![a, r, g, b],
            ChannelOrder::Srgba => {
                let curved = [r, g, b].map(|part| srgb(f32::from_bits(part)).to_bits());
                curved.into_iter().chain([a]).collect()
            }
        };
        if self.width == 0 {
            return self.packed(&parts);
        }
        parts
            .into_iter()
            .flat_map(|part| self.component(part))
            .collect()
    }

    fn packed(&self, parts: &[u32]) -> Vec<u8> {
        let bits: [u32; 3] = match self.kind {
            ChannelType::UnormShort565 => [5, 6, 5],
            ChannelType::UnormShort555 => [5; 3],
            _ => [10; 3],
        };
        let word = parts.iter().zip(bits).fold(0_u32, |word, (part, bits)| {
            let most = (1_u32 << bits) - 1;
            word << bits | unorm(f32::from_bits(*part), most)
        });
        word.to_le_bytes()[..self.size()].to_vec()
    }

    fn component(&self, part: u32) -> Vec<u8> {
        let value = f32::from_bits(part);
        let word = match self.kind {
            ChannelType::Snorm8 => snorm(value, 127),
            ChannelType::Snorm16 => snorm(value, 32767),
            ChannelType::Unorm8 => unorm(value, 255),
            ChannelType::Unorm16 => unorm(value, 65535),
            ChannelType::Signed8 => (part as i32).clamp(-128, 127) as u32,
            ChannelType::Signed16 => (part as i32).clamp(-32768, 32767) as u32,
            ChannelType::Unsigned8 => part.min(255),
            ChannelType::Unsigned16 => part.min(65535),
            ChannelType::Half => half(value).into(),
            _ => part,
        };
        debug_assert!(self.is_integer() || self.width > 0);
        word.to_le_bytes()[..self.width].to_vec()
    }
}

fn unorm(value: f32, most: u32) -> u32 {
    // A NaN is 0, as casts have it.
    (f64::from(value).clamp(0.0, 1.0) * f64::from(most)).round_ties_even() as u32
}

fn snorm(value: f32, most: i32) -> u32 {
    (f64::from(value).clamp(-1.0, 1.0) * f64::from(most)).round_ties_even() as i32 as u32
}

fn srgb(value: f32) -> f32 {
    let value = value.clamp(0.0, 1.0);
    if value < 0.003_130_8 {
        12.92 * value
    } else {
        1.055 * value.powf(1.0 / 2.4) - 0.055
    }
}

/// Rounds to the nearest half, ties to even.
fn half(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let magnitude = bits & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        return sign | 0x7e00;
    }
    // From here on it rounds to infinity.
    if magnitude >= 0x477f_f000 {
        return sign | 0x7c00;
    }
    if magnitude < 0x3880_0000 {
        // Subnormal: a multiple of 2^-24.
        let scaled = f64::from(f32::from_bits(magnitude)) * 16_777_216.0;
        return sign | scaled.round_ties_even() as u16;
    }
    let rebased = magnitude - (112 << 23);
    let rounded = rebased + 0xfff + (rebased >> 13 & 1);
    sign | (rounded >> 13) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texel(order: u32, kind: u32, colour: [u32; 4]) -> Vec<u8> {
        let format = cl_image_format {
            image_channel_order: order,
            image_channel_data_type: kind,
        };
        Format::new(format).expect("a format").texel(colour)
    }

    #[test]
    fn colours_become_texels() {
        let floats = [1.0_f32, 0.5, 0.0, -1.0].map(f32::to_bits);
        assert_eq!(texel(CL_RGBA, CL_UNORM_INT8, floats), [255, 128, 0, 0]);
        assert_eq!(texel(CL_BGRA, CL_UNORM_INT8, floats), [0, 128, 255, 0]);
        assert_eq!(texel(CL_RGBA, CL_SNORM_INT8, floats), [127, 64, 0, 0x81]);
        assert_eq!(texel(CL_RG, CL_HALF_FLOAT, floats), [0, 0x3c, 0, 0x38]);
        assert_eq!(texel(CL_RGB, CL_UNORM_SHORT_565, floats), [0, 0xfc]);
        assert_eq!(texel(CL_DEPTH, CL_UNORM_INT16, floats), [255, 255]);
        let numbers = [300, 7, (-200_i32) as u32, 1];
        assert_eq!(texel(CL_RG, CL_UNSIGNED_INT8, numbers), [255, 7]);
        assert_eq!(texel(CL_RGBA, CL_SIGNED_INT8, numbers), [127, 7, 0x80, 1]);
        assert_eq!(texel(CL_A, CL_UNSIGNED_INT32, numbers), [1, 0, 0, 0]);
    }

    #[test]
    fn halves_are_rounded_to_even() {
        for (value, bits) in [
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (65519.0, 0x7bff),
            (65520.0, 0x7c00),
            (5.960_464_5e-8, 1),
            (2.980_232_2e-8, 0),
            (1.000_488_3, 0x3c00),
            (1.001_464_8, 0x3c02),
        ] {
            assert_eq!(half(value), bits, "{value}");
        }
        assert_eq!(half(f32::NAN) & 0x7c00, 0x7c00);
    }

    #[test]
    fn depth_is_a_float_or_a_part_of_65535() {
        let types = Format::all().filter(|format| format.order == ChannelOrder::Depth);
        let types: Vec<_> = types.map(|format| format.kind).collect();
        assert_eq!(types, [ChannelType::Unorm16, ChannelType::Float]);
    }

    #[test]
    fn packed_types_have_three_components_and_others_have_not() {
        assert_eq!(
            Format::all()
                .filter(|format| format.order == ChannelOrder::Rgb)
                .count(),
            3
        );
        assert!(Format::all().all(|format| matches!(format.size(), 1 | 2 | 4 | 8 | 16)));
    }
}
