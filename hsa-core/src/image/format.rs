//! Image formats: channel order and type to the texel format of the hardware, the component selectors, and what kernels may do.
//!
//! The combinations, and what may be done with each, are those that AMD's runtime reports for its GFX9 and GFX10 cards.

use gneiss_amdgcn::image::{Number, TexelFormat};
use gneiss_hsa_api::*;

/// A format that images can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// Bits in memory.
    pub(crate) texel: TexelFormat,
    /// Where each component of a result comes from.
    pub(crate) select: [u8; 4],
    /// `HSA_EXT_IMAGE_CAPABILITY_*`.
    pub(crate) capability: u32,
}

const READ: u32 = HSA_EXT_IMAGE_CAPABILITY_READ_ONLY;
const READ_OR_WRITE: u32 = READ | HSA_EXT_IMAGE_CAPABILITY_WRITE_ONLY;
const ALL: u32 = READ_OR_WRITE | HSA_EXT_IMAGE_CAPABILITY_READ_WRITE;

/// Bits of a component and how they are read, for types that have one size for all components.
fn plain(channel_type: u32) -> Option<(u8, Number)> {
    Some(match channel_type {
        HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT8 => (8, Number::Snorm),
        HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT16 => (16, Number::Snorm),
        HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8 => (8, Number::Unorm),
        HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT16 => (16, Number::Unorm),
        HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT8 => (8, Number::Sint),
        HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT16 => (16, Number::Sint),
        HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT32 => (32, Number::Sint),
        HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8 => (8, Number::Uint),
        HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT16 => (16, Number::Uint),
        HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT32 => (32, Number::Uint),
        HSA_EXT_IMAGE_CHANNEL_TYPE_HALF_FLOAT => (16, Number::Float),
        HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT => (32, Number::Float),
        _ => return None,
    })
}

impl Format {
    /// The format of an image, if the hardware has it for this geometry.
    pub(crate) fn of(
        format: &hsa_ext_image_format_t,
        geometry: hsa_ext_image_geometry_t,
    ) -> Option<Self> {
        let (order, channel_type) = (format.channel_order, format.channel_type);
        let depth = order == HSA_EXT_IMAGE_CHANNEL_ORDER_DEPTH;
        let buffer = geometry == HSA_EXT_IMAGE_GEOMETRY_1DB;
        match geometry {
            HSA_EXT_IMAGE_GEOMETRY_2DDEPTH | HSA_EXT_IMAGE_GEOMETRY_2DADEPTH if !depth => {
                return None;
            }
            _ => {}
        }
        let found = match order {
            HSA_EXT_IMAGE_CHANNEL_ORDER_RGB => Self::packed(channel_type)?,
            HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA => {
                (channel_type == HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8 && !buffer).then_some(())?;
                Self {
                    texel: TexelFormat {
                        bits: [8; 4],
                        number: Number::Srgb,
                    },
                    select: [4, 5, 6, 7],
                    capability: READ,
                }
            }
            _ => Self::with_plain_components(order, channel_type)?,
        };
        // Buffers have no formats of fewer than 16 bits for three components.
        let packed16 = found.texel.size() == 2 && found.texel.components() > 2;
        (!(buffer && packed16)).then_some(found)
    }

    /// Three components in 16 or 32 bits; blue is in the lowest.
    fn packed(channel_type: u32) -> Option<Self> {
        let bits = match channel_type {
            HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_555 => [5, 5, 5, 1],
            HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_565 => [5, 6, 5, 0],
            HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_101010 => [10, 10, 10, 2],
            _ => return None,
        };
        Some(Self {
            texel: TexelFormat {
                bits,
                number: Number::Unorm,
            },
            select: [6, 5, 4, 1],
            capability: ALL,
        })
    }

    fn with_plain_components(order: u32, channel_type: u32) -> Option<Self> {
        let (width, number) = plain(channel_type)?;
        let (components, select) = match order {
            HSA_EXT_IMAGE_CHANNEL_ORDER_A => (1, [0, 0, 0, 4]),
            HSA_EXT_IMAGE_CHANNEL_ORDER_R => (1, [4, 0, 0, 1]),
            HSA_EXT_IMAGE_CHANNEL_ORDER_RG => (2, [4, 5, 0, 1]),
            HSA_EXT_IMAGE_CHANNEL_ORDER_RA => (2, [4, 0, 0, 5]),
            HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA => (4, [4, 5, 6, 7]),
            HSA_EXT_IMAGE_CHANNEL_ORDER_BGRA => (4, [6, 5, 4, 7]),
            HSA_EXT_IMAGE_CHANNEL_ORDER_ARGB => (4, [5, 6, 7, 4]),
            HSA_EXT_IMAGE_CHANNEL_ORDER_INTENSITY => (1, [4, 4, 4, 4]),
            HSA_EXT_IMAGE_CHANNEL_ORDER_LUMINANCE => (1, [4, 4, 4, 1]),
            HSA_EXT_IMAGE_CHANNEL_ORDER_DEPTH => (1, [4, 0, 0, 0]),
            _ => return None,
        };
        let exists = match order {
            HSA_EXT_IMAGE_CHANNEL_ORDER_BGRA | HSA_EXT_IMAGE_CHANNEL_ORDER_ARGB => width == 8,
            HSA_EXT_IMAGE_CHANNEL_ORDER_INTENSITY | HSA_EXT_IMAGE_CHANNEL_ORDER_LUMINANCE => {
                !number.is_integer()
            }
            HSA_EXT_IMAGE_CHANNEL_ORDER_DEPTH => {
                matches!((width, number), (16, Number::Unorm) | (32, Number::Float))
            }
            _ => true,
        };
        exists.then_some(())?;
        let mut bits = [0; 4];
        bits[..components].fill(width);
        Some(Self {
            texel: TexelFormat { bits, number },
            select,
            capability: if order == HSA_EXT_IMAGE_CHANNEL_ORDER_DEPTH {
                READ_OR_WRITE
            } else {
                ALL
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(order: u32, channel_type: u32, geometry: u32) -> Option<Format> {
        let format = hsa_ext_image_format_t {
            channel_type,
            channel_order: order,
        };
        Format::of(&format, geometry)
    }

    #[test]
    fn formats_that_the_hardware_lacks_do_not_exist() {
        use HSA_EXT_IMAGE_GEOMETRY_2D as D2;
        let unorm8 = HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8;
        let float = HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT;
        assert!(of(HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA, float, D2).is_some());
        assert!(of(HSA_EXT_IMAGE_CHANNEL_ORDER_RGB, float, D2).is_none());
        assert!(of(HSA_EXT_IMAGE_CHANNEL_ORDER_BGRA, float, D2).is_none());
        assert!(of(99, float, D2).is_none());
        assert!(of(HSA_EXT_IMAGE_CHANNEL_ORDER_R, 99, D2).is_none());
        let srgb = HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA;
        assert_eq!(of(srgb, unorm8, D2).map(|f| f.capability), Some(READ));
        assert!(of(srgb, unorm8, HSA_EXT_IMAGE_GEOMETRY_1DB).is_none());
        let depth = HSA_EXT_IMAGE_GEOMETRY_2DDEPTH;
        assert!(of(HSA_EXT_IMAGE_CHANNEL_ORDER_R, float, depth).is_none());
        assert!(of(HSA_EXT_IMAGE_CHANNEL_ORDER_DEPTH, float, depth).is_some());
        let packed = HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_565;
        let rgb = HSA_EXT_IMAGE_CHANNEL_ORDER_RGB;
        assert!(of(rgb, packed, D2).is_some());
        assert!(of(rgb, packed, HSA_EXT_IMAGE_GEOMETRY_1DB).is_none());
    }
}
