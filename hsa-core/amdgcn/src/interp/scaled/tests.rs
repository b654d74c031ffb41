//! Every value of every format against plain arithmetic in f64, and rounding against a search for the nearest value.

use super::*;
use crate::{
    interp::small_float::{BF6, BF8_OCP, FP4, FP6, FP8_OCP},
    testing::Random,
};

/// A format in numbers: exponent bits, mantissa bits, bias, and what the formats' definition says of the greatest codes.
struct Description {
    format: Format8,
    exponent: u32,
    mantissa: u32,
    bias: i32,
    /// The greatest finite code.
    greatest: u32,
    /// Has infinity after it, has NaN.
    specials: [bool; 2],
}

const FORMATS: [Description; 5] = [
    Description {
        format: FP8_OCP,
        exponent: 4,
        mantissa: 3,
        bias: 7,
        greatest: 0x7e,
        specials: [false, true],
    },
    Description {
        format: BF8_OCP,
        exponent: 5,
        mantissa: 2,
        bias: 15,
        greatest: 0x7b,
        specials: [true, true],
    },
    Description {
        format: FP6,
        exponent: 2,
        mantissa: 3,
        bias: 1,
        greatest: 0x1f,
        specials: [false, false],
    },
    Description {
        format: BF6,
        exponent: 3,
        mantissa: 2,
        bias: 3,
        greatest: 0x1f,
        specials: [false, false],
    },
    Description {
        format: FP4,
        exponent: 2,
        mantissa: 1,
        bias: 1,
        greatest: 7,
        specials: [false, false],
    },
];

const PLAIN: Env = Env { mode: 0xf0 };
/// MODE.FP16_OVFL.
const SATURATING: Env = Env {
    mode: 0xf0 | 1 << 23,
};

impl Description {
    fn sign(&self) -> u32 {
        1 << (self.exponent + self.mantissa)
    }

    /// The value of a finite code.
    fn value(&self, code: u32) -> f64 {
        let magnitude = code & (self.sign() - 1);
        let (exponent, fraction) = (
            magnitude >> self.mantissa,
            magnitude & ((1 << self.mantissa) - 1),
        );
        let unit = f64::from(1 - self.bias - self.mantissa as i32).exp2();
        let value = match exponent {
            0 => f64::from(fraction) * unit,
            _ => f64::from(fraction + (1 << self.mantissa)) * unit * f64::from(exponent - 1).exp2(),
        };
        if code & self.sign() != 0 {
            -value
        } else {
            value
        }
    }

    /// The code nearest to a value, the even one of two; `None` if it is beyond the greatest by half a step and more.
    fn nearest(&self, x: f64) -> Option<u32> {
        let sign = if x.is_sign_negative() { self.sign() } else { 0 };
        let x = x.abs();
        let greatest = self.value(self.greatest);
        let step = greatest - self.value(self.greatest - 1);
        let odd = self.greatest & 1 != 0;
        if x > greatest + step / 2.0 || x == greatest + step / 2.0 && odd {
            return None;
        }
        let best = (0..=self.greatest).min_by(|&a, &b| {
            let (of_a, of_b) = ((self.value(a) - x).abs(), (self.value(b) - x).abs());
            of_a.total_cmp(&of_b).then((a & 1).cmp(&(b & 1)))
        });
        best.map(|code| code | sign)
    }

    /// What a value that is too large becomes.
    fn overflow(&self, sign: u32, saturate: bool) -> u32 {
        match self.specials {
            [_, false] => sign | self.greatest,
            _ if saturate => sign | self.greatest,
            [true, _] => sign | (self.greatest + 1),
            _ => sign | 0x7f,
        }
    }
}

fn inputs() -> Vec<f32> {
    let mut all = vec![
        0.0,
        -0.0,
        1.0,
        -1.0,
        f32::MAX,
        f32::MIN,
        f32::MIN_POSITIVE,
        f32::from_bits(1),
        448.0,
        464.0,
        465.0,
        -57344.0,
        61440.0,
        7.5,
        7.75,
        -6.0,
        5.0,
        0.25,
        0.75,
        3.0e-8,
    ];
    let mut random = Random::new(1);
    for _ in 0..400 {
        let bits = random.dword();
        // Around the formats' range.
        let exponent = 100 + (bits >> 8) % 50;
        all.push(f32::from_bits(
            bits & 0x8000_0000 | exponent << 23 | bits >> 5 & 0x007f_ffff,
        ));
    }
    all
}

#[test]
fn what_becomes_small_is_divided_by_the_scale_and_rounded_once() {
    for description in &FORMATS {
        let to = Element::Small(description.format);
        for exponent in [127, 120, 131, 1, 254, 0] {
            for x in inputs() {
                let scaled = f64::from(x) / f64::from(exponent as i32 - 127).exp2();
                let sign = if x.is_sign_negative() {
                    description.sign()
                } else {
                    0
                };
                for (mode, saturate) in [(PLAIN, false), (SATURATING, true)] {
                    let want = description
                        .nearest(scaled)
                        .unwrap_or_else(|| description.overflow(sign, saturate));
                    let got = convert(Element::F32, to, x.to_bits(), exponent, None, mode);
                    assert_eq!(
                        got, want,
                        "{x:e} by 2^{exponent} to {:?}",
                        description.format
                    );
                }
            }
        }
    }
}

#[test]
fn halves_are_converted_like_their_values() {
    for description in &FORMATS {
        let to = Element::Small(description.format);
        for code in (0u16..=u16::MAX).step_by(37) {
            let of_f16 = half::f16::from_bits(code);
            let of_bf16 = half::bf16::from_bits(code);
            for (from, value, is_nan) in [
                (Element::F16, of_f16.to_f64(), of_f16.is_nan()),
                (Element::Bf16, of_bf16.to_f64(), of_bf16.is_nan()),
            ] {
                if is_nan || value.is_infinite() {
                    continue;
                }
                let sign = if value.is_sign_negative() {
                    description.sign()
                } else {
                    0
                };
                let want = description
                    .nearest(value / 4.0)
                    .unwrap_or_else(|| description.overflow(sign, false));
                let got = convert(from, to, code.into(), 129, None, PLAIN);
                assert_eq!(got, want, "{value:e} to {:?}", description.format);
            }
        }
    }
}

#[test]
fn what_was_small_is_multiplied_by_the_scale() {
    for description in &FORMATS {
        let from = Element::Small(description.format);
        for magnitude in 0..=description.greatest {
            for code in [magnitude, magnitude | description.sign()] {
                for exponent in [127, 1, 0, 100, 160, 254, 112, 142] {
                    let exact = description.value(code) * f64::from(exponent as i32 - 127).exp2();
                    let of = |to| convert(from, to, code, exponent, None, PLAIN);
                    let what = format!("{:?} {code:#x} by 2^{exponent}", description.format);
                    assert_eq!(of(Element::F32), (exact as f32).to_bits(), "{what} f32");
                    let f16 = half::f16::from_f64(exact).to_bits();
                    assert_eq!(of(Element::F16), u32::from(f16), "{what} f16");
                    let bf16 = half::bf16::from_f64(exact).to_bits();
                    assert_eq!(of(Element::Bf16), u32::from(bf16), "{what} bf16");
                }
            }
        }
    }
}

#[test]
fn nan_and_infinity_and_the_scale_that_is_nan() {
    let to = |format, x: f32, exponent| {
        convert(
            Element::F32,
            Element::Small(format),
            x.to_bits(),
            exponent,
            None,
            PLAIN,
        )
    };
    assert_eq!(to(FP8_OCP, f32::NAN, 127), 0x7f);
    assert_eq!(to(BF8_OCP, f32::NAN, 127), 0x7f);
    assert_eq!(to(FP8_OCP, 1.0, 255), 0x7f);
    assert_eq!(to(FP8_OCP, f32::INFINITY, 127) & 0x7f, 0x7f);
    assert_eq!(to(BF8_OCP, f32::NEG_INFINITY, 127), 0xfc);
    // Formats without either: the greatest magnitude, with the sign.
    assert_eq!(to(FP6, f32::NAN, 127), 0x1f);
    assert_eq!(to(BF6, f32::NEG_INFINITY, 127), 0x3f);
    assert_eq!(to(FP4, f32::INFINITY, 127), 7);
    assert_eq!(to(FP4, -1.0, 255), 0xf);
    let from = |format, code, exponent| {
        convert(
            Element::Small(format),
            Element::F32,
            code,
            exponent,
            None,
            PLAIN,
        )
    };
    assert!(f32::from_bits(from(FP8_OCP, 0x7f, 127)).is_nan());
    assert!(f32::from_bits(from(BF8_OCP, 0x7d, 127)).is_nan());
    assert_eq!(from(BF8_OCP, 0xfc, 127), f32::NEG_INFINITY.to_bits());
    for format in [FP6, BF6, FP4] {
        assert!(f32::from_bits(from(format, 2, 255)).is_nan());
    }
    // Too large for the result.
    assert_eq!(
        convert(Element::Small(FP4), Element::F16, 2, 254, None, PLAIN),
        0x7c00
    );
}

#[test]
fn random_bits_choose_between_the_neighbours() {
    for description in &FORMATS {
        let to = Element::Small(description.format);
        for code in 1..description.greatest {
            let (low, high) = (description.value(code), description.value(code + 1));
            let middle = ((low + high) / 2.0) as f32;
            let of =
                |x: f32, random| convert(Element::F32, to, x.to_bits(), 127, Some(random), PLAIN);
            let what = format!("{:?} after {code:#x}", description.format);
            assert_eq!(of(middle, 0), code, "{what}");
            assert_eq!(of(middle, 0x7fff_ffff), code, "{what}");
            assert_eq!(of(middle, 0x8000_0000), code + 1, "{what}");
            assert_eq!(of(middle, u32::MAX), code + 1, "{what}");
            // What is a value already stays.
            assert_eq!(of(low as f32, u32::MAX), code, "{what}");
            // A quarter of the way up: a quarter of the random numbers.
            let quarter = (low + (high - low) / 4.0) as f32;
            assert_eq!(of(quarter, 0xbfff_ffff), code, "{what}");
            assert_eq!(of(quarter, 0xc000_0000), code + 1, "{what}");
        }
    }
}

#[test]
fn the_random_sequence_is_a_shift_register() {
    assert_eq!(next_random(1), 2);
    assert_eq!(next_random(0x8000_0000), 197);
    assert_eq!(next_random(0xffff_ffff), 0xffff_fffe ^ 197);
    assert_eq!(next_random(0), 0);
}
