//! Conversions between small floats with a common scale and f32, f16 or bf16 (`v_cvt_scalef32_*` of GFX950).
//!
//! The scale is a power of two: the exponent field of an f32, 255 of which means NaN. What becomes small is divided by it, what was small is
//! multiplied. Each value is rounded once, to nearest even or with random bits; the random bits of the next value of a lane are those of
//! the last after one step of `v_prng_b32`. What does not fit becomes what [`small_float`](super::small_float) says: NaN or infinity,
//! the greatest value where MODE says so (FP16_OVFL), and always the greatest value in formats without them.

use crate::ir::{Op, Ref};

use super::{
    float::{Half, narrow, power},
    lane::source_dword,
    memory::lanes::each_lane,
    small_float::{Format8, decode, encode, encode_random, to_bf16},
    vector::Env,
    wave::Wave,
};

/// Type of an element of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// f32.
    F32,
    /// f16.
    F16,
    /// bf16.
    Bf16,
    /// Eight, six or four bits.
    Small(Format8),
}

impl Element {
    /// Bits of it.
    pub const fn bits(self) -> u32 {
        match self {
            Element::F32 => 32,
            Element::F16 | Element::Bf16 => 16,
            Element::Small(format) => format.width,
        }
    }
}

/// The side record of a conversion.
#[derive(Clone, Copy, Debug)]
pub struct Scaled {
    /// Type of what is converted.
    pub from: Element,
    /// Type of the results; one of the two is small.
    pub to: Element,
    /// Values of a lane, at most 32.
    pub count: usize,
    /// Where the values are, from bit `first` of the first source on; from two sources they come in turns.
    pub sources: [Option<Ref>; 2],
    /// See `sources`.
    pub first: u32,
    /// Absolute values are taken, by source; f32, f16 and bf16 only.
    pub absolute: [bool; 2],
    /// Values are negated, by source.
    pub negative: [bool; 2],
    /// Random bits for the rounding.
    pub random: Option<Ref>,
    /// The f32 whose exponent is the scale.
    pub scale: Ref,
    /// Byte offset of the destination in the vector file.
    pub d: u32,
    /// First bit of the results in the destination. Where they do not fill its dwords, its other bits stay.
    pub at: u32,
}

/// One step of `v_prng_b32`: a linear feedback shift register.
pub const fn next_random(x: u32) -> u32 {
    x << 1 ^ if x >> 31 != 0 { 197 } else { 0 }
}

/// A value of f32's range at most: rounding an f32 denormal does not matter to formats with a greater least value.
fn to_f32(x: f64) -> f32 {
    let narrowed = x as f32;
    if narrowed.is_infinite() && x.is_finite() {
        f32::MAX.copysign(narrowed)
    } else {
        narrowed
    }
}

/// The value of an element.
fn value(from: Element, bits: u32) -> f32 {
    match from {
        Element::F32 => f32::from_bits(bits),
        Element::F16 => Half(bits as u16).widen(),
        Element::Bf16 => f32::from_bits(bits << 16),
        Element::Small(format) => decode(format, bits as u8),
    }
}

/// Converts one element. `exponent` is the scale's, with f32's bias; `mode` is MODE.
pub fn convert(
    from: Element,
    to: Element,
    bits: u32,
    exponent: u32,
    random: Option<u32>,
    mode: Env,
) -> u32 {
    let x = value(from, bits);
    let scale = exponent as i32 - 127;
    let invalid = exponent == 255 || x.is_nan();
    match to {
        Element::Small(format) => {
            let scaled = if invalid {
                f32::NAN.copysign(x)
            } else {
                to_f32(f64::from(x) * power(-scale))
            };
            let saturate = mode.saturates_small_floats();
            u32::from(match random {
                Some(random) => encode_random(format, scaled, random, saturate),
                None => encode(format, scaled, saturate),
            })
        }
        _ if invalid && to == Element::F32 => 0x7fc0_0000,
        _ if invalid && to == Element::F16 => 0x7e00,
        _ if invalid => 0x7fc0,
        _ => {
            let scaled = (f64::from(x) * power(scale)) as f32;
            // To nearest even, denormals kept, whatever MODE says.
            match to {
                Element::F16 => u32::from(narrow(Env { mode: 0xf0 }, scaled).0),
                Element::Bf16 => u32::from(to_bf16(scaled)),
                _ => scaled.to_bits(),
            }
        }
    }
}

/// `count` bits from bit `first` of a lane's source.
unsafe fn field(w: &Wave, source: Ref, lane: usize, first: usize, count: usize) -> u32 {
    // SAFETY: by the caller: the source has these bits.
    unsafe {
        let low = u64::from(source_dword(w, source, lane, first / 32));
        let crosses = first % 32 + count > 32;
        let high = if crosses {
            u64::from(source_dword(w, source, lane, first / 32 + 1))
        } else {
            0
        };
        ((low | high << 32) >> (first % 32) & ((1 << count) - 1)) as u32
    }
}

/// The handler; `Op::imm` is the address of a [`Scaled`].
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn convert_scaled(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: the record lives as long as the program; its registers were checked by the lowering.
    unsafe {
        let plan = &*((*op).imm as usize as *const Scaled);
        let mode = Env { mode: w.mode };
        let saved = super::run::get_mxcsr();
        super::run::set_mxcsr(super::matrix::PLAIN_MXCSR);
        let (from_bits, to_bits) = (plan.from.bits() as usize, plan.to.bits() as usize);
        let total = plan.count * to_bits;
        let turns = if plan.sources[1].is_some() { 2 } else { 1 };
        each_lane(w.exec(), |lane| {
            let exponent = source_dword(w, plan.scale, lane, 0) >> 23 & 255;
            let mut random = plan.random.map(|from| source_dword(w, from, lane, 0));
            let mut out = [0u32; 32];
            for index in 0..plan.count {
                let turn = index % turns;
                let source = plan.sources[turn].unwrap_or(plan.scale);
                let first = plan.first as usize + index / turns * from_bits;
                let mut bits = field(w, source, lane, first, from_bits);
                let sign = 1 << (from_bits - 1);
                if plan.absolute[turn] {
                    bits &= !sign;
                }
                if plan.negative[turn] {
                    bits ^= sign;
                }
                let result = convert(plan.from, plan.to, bits, exponent, random, mode);
                random = random.map(next_random);
                let at = plan.at as usize + index * to_bits;
                out[at / 32] |= result << (at % 32);
                if at % 32 + to_bits > 32 {
                    out[at / 32 + 1] |= result >> (32 - at % 32);
                }
            }
            let kept = if total < 32 {
                !(((1u32 << total) - 1) << plan.at)
            } else {
                0
            };
            for (dword, bits) in out.into_iter().enumerate().take(total.div_ceil(32)) {
                let to: *mut u32 = w.base[0]
                    .add(plan.d as usize + dword * w.stride() + 4 * lane)
                    .cast();
                *to = *to & kept | bits;
            }
        });
        super::run::set_mxcsr(saved);
        op.add(1)
    }
}

#[cfg(test)]
#[path = "scaled/tests.rs"]
mod tests;
