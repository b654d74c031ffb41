//! Buffers of texels, which typed buffer instructions read and write by index.

use super::{descriptor::DescriptorError, format::TexelFormat};
use crate::target::Family;

/// A buffer of texels, which typed buffer instructions read and write by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TexelBuffer {
    /// Guest address of texel 0.
    pub base: u64,
    /// Texels.
    pub count: u32,
    /// Format.
    pub format: TexelFormat,
    /// Source of each component of the result, see [`select`](super::descriptor::select).
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
            Family::Gfx11 | Family::Gfx12 => {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::{Number, descriptor::select};

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
        for family in [Family::Gfx11, Family::Gfx12] {
            assert_eq!(
                buffer.encode(family),
                Ok([0x3456_7810, 0x0004_7f12, 1000, selects | 29 << 12])
            );
        }
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
}
