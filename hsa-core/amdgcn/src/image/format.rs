//! Texel formats: how the bytes of one texel become up to four components, and back.
//!
//! Numbers of GFX9 (data format and number format apart) and of GFX10 (one number for both) as the assembler prints them for typed
//! buffers; image-only data formats (5_6_5 and the like) from the GFX9 image resource descriptor. Names give the components from the
//! most significant bits down, so `10_11_11` has an 11-bit x in its lowest bits.

use half::f16;

/// How the bits of a component are read as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Number {
    /// Unsigned, 0 to 1.
    Unorm,
    /// Signed, −1 to 1.
    Snorm,
    /// Unsigned integer as a float.
    Uscaled,
    /// Signed integer as a float.
    Sscaled,
    /// Unsigned integer.
    Uint,
    /// Signed integer.
    Sint,
    /// Float of 10, 11, 16 or 32 bits.
    Float,
    /// Unorm with the sRGB curve on x, y, z.
    Srgb,
}

impl Number {
    /// Whether a register holds an integer rather than a float.
    pub fn is_integer(self) -> bool {
        matches!(self, Self::Uint | Self::Sint)
    }

    /// From the number-format field of GFX9 buffer and image descriptors.
    pub fn from_gfx9(number: u32) -> Option<Self> {
        Some(match number {
            0 => Self::Unorm,
            1 => Self::Snorm,
            2 => Self::Uscaled,
            3 => Self::Sscaled,
            4 => Self::Uint,
            5 => Self::Sint,
            7 => Self::Float,
            9 => Self::Srgb,
            _ => return None,
        })
    }

    /// Field value of GFX9 image descriptors.
    pub fn to_gfx9(self) -> u32 {
        match self {
            Self::Unorm => 0,
            Self::Snorm => 1,
            Self::Uscaled => 2,
            Self::Sscaled => 3,
            Self::Uint => 4,
            Self::Sint => 5,
            Self::Float => 7,
            Self::Srgb => 9,
        }
    }
}

/// A texel format: bits of each component from the lowest bit up (x, y, z, w), zero where there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TexelFormat {
    /// Component widths in bits.
    pub bits: [u8; 4],
    /// How they are read.
    pub number: Number,
}

/// GFX9 data formats 0..=19 by number: component widths from the lowest bits up.
const GFX9_DATA: [[u8; 4]; 20] = [
    [0, 0, 0, 0],
    [8, 0, 0, 0],
    [16, 0, 0, 0],
    [8, 8, 0, 0],
    [32, 0, 0, 0],
    [16, 16, 0, 0],
    [11, 11, 10, 0],
    [10, 11, 11, 0],
    [2, 10, 10, 10],
    [10, 10, 10, 2],
    [8, 8, 8, 8],
    [32, 32, 0, 0],
    [16, 16, 16, 16],
    [32, 32, 32, 0],
    [32, 32, 32, 32],
    [0, 0, 0, 0],
    [5, 6, 5, 0],
    [5, 5, 5, 1],
    [1, 5, 5, 5],
    [4, 4, 4, 4],
];

/// GFX10 unified formats: the first number of a run, the GFX9 data format, and the number formats of the run in order.
const GFX10_RUNS: [(u32, usize, &[Number]); 14] = {
    use Number::{Float, Sint, Snorm, Sscaled, Uint, Unorm, Uscaled};
    const SMALL: &[Number] = &[Unorm, Snorm, Uscaled, Sscaled, Uint, Sint];
    const WITH_FLOAT: &[Number] = &[Unorm, Snorm, Uscaled, Sscaled, Uint, Sint, Float];
    const WIDE: &[Number] = &[Uint, Sint, Float];
    [
        (1, 1, SMALL),
        (7, 2, WITH_FLOAT),
        (14, 3, SMALL),
        (20, 4, WIDE),
        (23, 5, WITH_FLOAT),
        (30, 6, WITH_FLOAT),
        (37, 7, WITH_FLOAT),
        (44, 8, SMALL),
        (50, 9, SMALL),
        (56, 10, SMALL),
        (62, 11, WIDE),
        (65, 12, WITH_FLOAT),
        (72, 13, WIDE),
        (75, 14, WIDE),
    ]
};

/// The same for GFX11 and later.
const GFX11_RUNS: [(u32, usize, &[Number]); 14] = {
    use Number::{Float, Sint, Snorm, Sscaled, Uint, Unorm, Uscaled};
    const SMALL: &[Number] = &[Unorm, Snorm, Uscaled, Sscaled, Uint, Sint];
    const WITH_FLOAT: &[Number] = &[Unorm, Snorm, Uscaled, Sscaled, Uint, Sint, Float];
    const WIDE: &[Number] = &[Uint, Sint, Float];
    [
        (1, 1, SMALL),
        (7, 2, WITH_FLOAT),
        (14, 3, SMALL),
        (20, 4, WIDE),
        (23, 5, WITH_FLOAT),
        (30, 6, &[Float]),
        (31, 7, &[Float]),
        (32, 8, &[Unorm, Snorm, Uint, Sint]),
        (36, 9, SMALL),
        (42, 10, SMALL),
        (48, 11, WIDE),
        (51, 12, WITH_FLOAT),
        (58, 13, WIDE),
        (61, 14, WIDE),
    ]
};

/// The format of a number in a list of runs.
fn from_runs(runs: &[(u32, usize, &[Number])], format: u32) -> Option<TexelFormat> {
    runs.iter().find_map(|&(first, data, numbers)| {
        let at = format.checked_sub(first)?;
        Some(TexelFormat {
            bits: GFX9_DATA[data],
            number: *numbers.get(at as usize)?,
        })
    })
}

/// GFX10 image formats beyond the typed-buffer ones: number, GFX9 data format, number format.
const GFX10_IMAGE: [(u32, usize, Number); 5] = [
    (130, 10, Number::Srgb),
    (133, 16, Number::Unorm),
    (134, 17, Number::Unorm),
    (135, 18, Number::Unorm),
    (136, 19, Number::Unorm),
];

/// The same of GFX11 and later.
const GFX11_IMAGE: [(u32, usize, Number); 5] = [
    (66, 10, Number::Srgb),
    (68, 16, Number::Unorm),
    (69, 17, Number::Unorm),
    (70, 18, Number::Unorm),
    (71, 19, Number::Unorm),
];

/// The format of a number in a list of single ones.
fn from_rows(rows: &[(u32, usize, Number)], format: u32) -> Option<TexelFormat> {
    let (_, data, number) = rows.iter().find(|row| row.0 == format)?;
    Some(TexelFormat {
        bits: GFX9_DATA[*data],
        number: *number,
    })
}

impl TexelFormat {
    /// From the data and number format of a GFX9 buffer or image descriptor; `None` for formats that do not exist.
    pub fn from_gfx9(data: u32, number: u32) -> Option<Self> {
        let bits = *GFX9_DATA.get(data as usize)?;
        (bits[0] != 0).then_some(())?;
        Some(Self {
            bits,
            number: Number::from_gfx9(number)?,
        })
    }

    /// From the unified format number of GFX10.
    pub fn from_gfx10(format: u32) -> Option<Self> {
        from_runs(&GFX10_RUNS, format).or_else(|| from_rows(&GFX10_IMAGE, format))
    }

    /// From the unified format number of GFX11 and later; numbers above 63 do not fit the field of buffers.
    pub fn from_gfx11(format: u32) -> Option<Self> {
        from_runs(&GFX11_RUNS, format).or_else(|| from_rows(&GFX11_IMAGE, format))
    }

    /// Data and number format fields of GFX9 image descriptors.
    pub fn to_gfx9(self) -> Option<(u32, u32)> {
        let data = GFX9_DATA.iter().position(|bits| *bits == self.bits)?;
        Some((u32::try_from(data).ok()?, self.number.to_gfx9()))
    }

    /// Unified format number of GFX10.
    pub fn to_gfx10(self) -> Option<u32> {
        (1..=136).find(|format| Self::from_gfx10(*format) == Some(self))
    }

    /// Unified format number of GFX11 and later.
    pub fn to_gfx11(self) -> Option<u32> {
        (1..=71).find(|format| Self::from_gfx11(*format) == Some(self))
    }

    /// Bytes of one texel.
    pub fn size(self) -> usize {
        self.bits
            .iter()
            .map(|bits| usize::from(*bits))
            .sum::<usize>()
            / 8
    }

    /// Components that the format has.
    pub fn components(self) -> usize {
        self.bits.iter().filter(|bits| **bits != 0).count()
    }

    /// The register value of 1: what a missing w reads as.
    pub fn one(self) -> u32 {
        if self.number.is_integer() {
            1
        } else {
            1.0f32.to_bits()
        }
    }

    /// Decodes a texel of [`size`](Self::size) bytes into four registers; missing x, y, z are 0 and a missing w is 1.
    pub fn decode(self, bytes: &[u8]) -> [u32; 4] {
        // The formats of most images.
        if self.bits == [8; 4] {
            return std::array::from_fn(|component| {
                let value = bytes[component];
                match self.number {
                    Number::Unorm => UNORM_8[usize::from(value)].to_bits(),
                    number => decode_component(value.into(), 8, number, component == 3),
                }
            });
        }
        if self.is_registers() {
            let mut out = [0, 0, 0, self.one()];
            let words = bytes.as_chunks::<4>().0;
            for ((register, bits), word) in out.iter_mut().zip(self.bits).zip(words) {
                if bits != 0 {
                    *register = u32::from_le_bytes(*word);
                }
            }
            return out;
        }
        let mut raw = [0u8; 16];
        raw[..self.size()].copy_from_slice(&bytes[..self.size()]);
        let all = u128::from_le_bytes(raw);
        let mut out = [0, 0, 0, self.one()];
        let mut at = 0;
        for (component, bits) in self.bits.into_iter().enumerate() {
            if bits != 0 {
                let value = (all >> at) as u32 & mask(bits);
                out[component] = decode_component(value, bits, self.number, component == 3);
                at += u32::from(bits);
            }
        }
        out
    }

    /// Whether components are registers as they are.
    fn is_registers(self) -> bool {
        matches!(self.number, Number::Uint | Number::Sint | Number::Float)
            && matches!(
                self.bits,
                [32, 0, 0, 0] | [32, 32, 0, 0] | [32, 32, 32, 0] | [32, 32, 32, 32]
            )
    }

    /// Encodes four registers into the first [`size`](Self::size) bytes of the result.
    pub fn encode(self, registers: [u32; 4]) -> [u8; 16] {
        if self.bits == [8; 4] {
            let mut bytes = [0; 16];
            for (component, byte) in bytes[..4].iter_mut().enumerate() {
                *byte =
                    encode_component(registers[component], 8, self.number, component == 3) as u8;
            }
            return bytes;
        }
        if self.is_registers() {
            let mut bytes = [0; 16];
            for (bytes, register) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(registers) {
                *bytes = register.to_le_bytes();
            }
            return bytes;
        }
        let mut all = 0u128;
        let mut at = 0;
        for (component, bits) in self.bits.into_iter().enumerate() {
            if bits != 0 {
                let value =
                    encode_component(registers[component], bits, self.number, component == 3)
                        & mask(bits);
                all |= u128::from(value) << at;
                at += u32::from(bits);
            }
        }
        all.to_le_bytes()
    }
}

/// The values of unsigned numbers of eight bits from 0 to 1.
static UNORM_8: [f32; 256] = {
    let mut values = [0.0; 256];
    let mut value = 0;
    while value < 256 {
        values[value] = (value as f64 / 255.0) as f32;
        value += 1;
    }
    values
};

/// The nearest integer, the even one of two, of a number below 2^50: what is added leaves no bits behind the point.
#[inline]
pub(super) fn nearest(number: f64) -> i64 {
    const SHIFT: f64 = 1.5 * (1_u64 << 52) as f64;
    (number + SHIFT).to_bits().cast_signed() - SHIFT.to_bits().cast_signed()
}

#[inline]
fn mask(bits: u8) -> u32 {
    u32::MAX >> (32 - u32::from(bits))
}

#[inline]
fn sign_extend(value: u32, bits: u8) -> i32 {
    let shift = 32 - u32::from(bits);
    (value << shift).cast_signed() >> shift
}

#[inline]
fn decode_component(value: u32, bits: u8, number: Number, alpha: bool) -> u32 {
    let unorm = |value: u32| (f64::from(value) / f64::from(mask(bits))) as f32;
    match number {
        Number::Uint => value,
        Number::Sint => sign_extend(value, bits).cast_unsigned(),
        Number::Uscaled => (value as f32).to_bits(),
        Number::Sscaled => (sign_extend(value, bits) as f32).to_bits(),
        Number::Unorm => unorm(value).to_bits(),
        Number::Srgb if alpha => unorm(value).to_bits(),
        Number::Srgb => srgb_to_linear(unorm(value)).to_bits(),
        Number::Snorm => {
            let scaled = f64::from(sign_extend(value, bits)) / f64::from(mask(bits - 1));
            (scaled.max(-1.0) as f32).to_bits()
        }
        Number::Float => match bits {
            32 => value,
            16 => f16::from_bits(value as u16).to_f32().to_bits(),
            // 10 and 11-bit floats: no sign, five exponent bits; moved to where f16 has them.
            11 => f16::from_bits((value << 4) as u16).to_f32().to_bits(),
            _ => f16::from_bits((value << 5) as u16).to_f32().to_bits(),
        },
    }
}

#[inline]
fn encode_component(register: u32, bits: u8, number: Number, alpha: bool) -> u32 {
    let float = f64::from(f32::from_bits(register));
    let float = if float.is_nan() { 0.0 } else { float };
    let unorm = |value: f64| nearest(value.clamp(0.0, 1.0) * f64::from(mask(bits))) as u32;
    match number {
        Number::Uint => register.min(mask(bits)),
        Number::Sint => {
            let limit = (mask(bits) >> 1).cast_signed();
            register
                .cast_signed()
                .clamp(-limit - 1, limit)
                .cast_unsigned()
        }
        Number::Uscaled => (float as u32).min(mask(bits)),
        Number::Sscaled => {
            let limit = (mask(bits) >> 1).cast_signed();
            (float as i32).clamp(-limit - 1, limit).cast_unsigned()
        }
        Number::Unorm => unorm(float),
        Number::Srgb if alpha => unorm(float),
        Number::Srgb => unorm(f64::from(linear_to_srgb(float as f32))),
        Number::Snorm => {
            let limit = f64::from(mask(bits - 1));
            (nearest(float.clamp(-1.0, 1.0) * limit) as i32).cast_unsigned()
        }
        Number::Float => match bits {
            32 => register,
            16 => u32::from(f16::from_f32(f32::from_bits(register)).to_bits()),
            _ => {
                // Negative values become zero: these formats have no sign. Rounded toward zero.
                let value = f16::from_f64(float.max(0.0));
                let half = if value.to_f64() > float && value.to_bits() > 0 {
                    value.to_bits() - 1
                } else {
                    value.to_bits()
                };
                u32::from(half) >> if bits == 11 { 4 } else { 5 }
            }
        },
    }
}

/// IEC 61966-2-1 decoding.
fn srgb_to_linear(value: f32) -> f32 {
    if value <= 0.04045 {
        value / 12.92
    } else {
        ((value + 0.055) / 1.055).powf(2.4)
    }
}

/// IEC 61966-2-1 encoding.
fn linear_to_srgb(value: f32) -> f32 {
    if value <= 0.003_130_8 {
        value * 12.92
    } else {
        1.055 * value.powf(1.0 / 2.4) - 0.055
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gfx10_numbers_are_those_of_the_assembler() {
        let named = [
            (1, [8, 0, 0, 0], Number::Unorm),
            (13, [16, 0, 0, 0], Number::Float),
            (22, [32, 0, 0, 0], Number::Float),
            (36, [11, 11, 10, 0], Number::Float),
            (50, [10, 10, 10, 2], Number::Unorm),
            (56, [8, 8, 8, 8], Number::Unorm),
            (64, [32, 32, 0, 0], Number::Float),
            (71, [16, 16, 16, 16], Number::Float),
            (77, [32, 32, 32, 32], Number::Float),
        ];
        for (format, bits, number) in named {
            assert_eq!(
                TexelFormat::from_gfx10(format),
                Some(TexelFormat { bits, number }),
                "format {format}"
            );
        }
        for (format, bits, number) in [
            (30, [11, 11, 10, 0], Number::Float),
            (34, [2, 10, 10, 10], Number::Uint),
            (41, [10, 10, 10, 2], Number::Sint),
            (42, [8, 8, 8, 8], Number::Unorm),
            (63, [32, 32, 32, 32], Number::Float),
        ] {
            assert_eq!(
                TexelFormat::from_gfx11(format),
                Some(TexelFormat { bits, number })
            );
        }
        assert_eq!(TexelFormat::from_gfx11(64), None);
        assert_eq!(TexelFormat::from_gfx10(0), None);
        assert_eq!(TexelFormat::from_gfx10(78), None);
    }

    #[test]
    fn eight_bits_have_the_values_of_the_division_and_numbers_round_to_even() {
        for value in 0..=255_u8 {
            let expected = decode_component(value.into(), 8, Number::Unorm, false);
            assert_eq!(UNORM_8[usize::from(value)].to_bits(), expected);
        }
        for number in [0.5, 1.5, 2.5, 0.499_999_99, 255.5, 2.56e11 + 0.5, 3.0] {
            for number in [number, -number] {
                assert_eq!(nearest(number), number.round_ties_even() as i64);
            }
        }
    }

    #[test]
    fn decode_normalises_and_extends() {
        let unorm8 = TexelFormat {
            bits: [8, 8, 8, 8],
            number: Number::Unorm,
        };
        assert_eq!(
            unorm8.decode(&[0, 255, 51, 128]).map(f32::from_bits),
            [0.0, 1.0, 0.2, 128.0 / 255.0]
        );
        let snorm8 = TexelFormat {
            bits: [8, 0, 0, 0],
            number: Number::Snorm,
        };
        assert_eq!(
            snorm8.decode(&[0x80]).map(f32::from_bits),
            [-1.0, 0.0, 0.0, 1.0]
        );
        let sint16 = TexelFormat {
            bits: [16, 16, 0, 0],
            number: Number::Sint,
        };
        assert_eq!(
            sint16.decode(&[0xff, 0xff, 0x34, 0x12]),
            [u32::MAX, 0x1234, 0, 1]
        );
        let half = TexelFormat {
            bits: [16, 0, 0, 0],
            number: Number::Float,
        };
        assert_eq!(
            half.decode(&[0x00, 0x3c]).map(f32::from_bits),
            [1.0, 0.0, 0.0, 1.0]
        );
    }

    #[test]
    fn encode_is_the_inverse_of_decode_for_every_format() {
        for format in 1..=77 {
            let format = TexelFormat::from_gfx10(format).expect("all numbers from 1 to 77 exist");
            // Every byte below 0x78 keeps 16-bit and smaller floats finite and signed-normalised values off their second −1.
            let bytes: Vec<u8> = (0..format.size())
                .map(|at| 0x11 * (at as u8 % 7 + 1))
                .collect();
            let back = format.encode(format.decode(&bytes));
            assert_eq!(&back[..format.size()], &bytes[..], "{format:?}");
        }
    }

    #[test]
    fn stores_saturate() {
        let uint8 = TexelFormat {
            bits: [8, 0, 0, 0],
            number: Number::Uint,
        };
        assert_eq!(uint8.encode([300, 0, 0, 0])[0], 255);
        let sint8 = TexelFormat {
            bits: [8, 0, 0, 0],
            number: Number::Sint,
        };
        assert_eq!(sint8.encode([(-300i32).cast_unsigned(), 0, 0, 0])[0], 0x80);
        let unorm8 = TexelFormat {
            bits: [8, 0, 0, 0],
            number: Number::Unorm,
        };
        assert_eq!(unorm8.encode([2.0f32.to_bits(), 0, 0, 0])[0], 255);
        assert_eq!(unorm8.encode([f32::NAN.to_bits(), 0, 0, 0])[0], 0);
    }
}
