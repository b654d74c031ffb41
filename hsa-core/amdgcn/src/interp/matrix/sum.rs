//! C and D: what sums are made from and become, a row at a time.

use super::{
    super::{
        float::{self, Half},
        small_float,
        vector::Env,
    },
    MatrixPlan, Sum,
    element::Widen,
};

/// MODE with the meaning of [`super::PLAIN_MXCSR`], for conversions to f16.
const PLAIN: Env = Env { mode: 0xf0 };

/// Type of the sums.
pub(super) trait Accumulator: Widen + Default {
    /// Sums from the dwords of C; `half` of 16-bit ones.
    fn from_words<const N: usize>(plan: &MatrixPlan, words: &[u32; N], half: usize) -> [Self; N];
    /// Dwords of D that are a sum each.
    fn to_words<const N: usize>(plan: &MatrixPlan, sums: &[Self; N]) -> [u32; N];
    /// Puts sums into the dwords of D; the other half of 16-bit ones stays.
    fn put<const N: usize>(plan: &MatrixPlan, sums: &[Self; N], words: &mut [u32; N], half: usize);
    /// This and a whole sum of products: floats with the sum times 2^`exponent` (`None` is NaN), integers saturate.
    fn add_block(self, block: Self, exponent: Option<i32>) -> Self;
}

/// An array with an expression for each column.
macro_rules! columns {
    ($column:ident => $value:expr) => {{
        let mut out = [Default::default(); N];
        for $column in 0..N {
            out[$column] = $value;
        }
        out
    }};
}

/// Sums with denormals as the operation leaves them.
#[inline(always)]
fn flushed<const N: usize>(plan: &MatrixPlan, sums: &[f32; N]) -> [f32; N] {
    if plan.flush {
        columns!(n => float::flush(sums[n]))
    } else {
        *sums
    }
}

impl Accumulator for f32 {
    #[inline(always)]
    fn from_words<const N: usize>(plan: &MatrixPlan, words: &[u32; N], half: usize) -> [f32; N] {
        let mut sums: [f32; N] = match plan.sum {
            Sum::F16 => columns!(n => Half((words[n] >> (16 * half)) as u16).widen()),
            Sum::Bf16 => columns!(n => f32::from_bits(words[n] >> (16 * half) << 16)),
            _ => columns!(n => f32::from_bits(words[n])),
        };
        if plan.c_signs[0] {
            sums = columns!(n => sums[n].abs());
        }
        if plan.c_signs[1] {
            sums = columns!(n => -sums[n]);
        }
        sums
    }

    #[inline(always)]
    fn to_words<const N: usize>(plan: &MatrixPlan, sums: &[f32; N]) -> [u32; N] {
        let sums = flushed(plan, sums);
        columns!(n => if sums[n].is_nan() { 0x7fc0_0000 } else { sums[n].to_bits() })
    }

    #[inline(always)]
    fn put<const N: usize>(plan: &MatrixPlan, sums: &[f32; N], words: &mut [u32; N], half: usize) {
        let sums = &flushed(plan, sums);
        let narrow: [u32; N] = match plan.sum {
            Sum::F16 => columns!(n => u32::from(if sums[n].is_nan() {
                float::HALF_NAN.0
            } else {
                float::narrow(PLAIN, sums[n]).0
            })),
            Sum::Bf16 => columns!(n => u32::from(if sums[n].is_nan() {
                0x7fc0
            } else {
                small_float::to_bf16(sums[n])
            })),
            _ => {
                *words = Self::to_words(plan, sums);
                return;
            }
        };
        *words = columns!(n => words[n] & !(0xffff << (16 * half)) | narrow[n] << (16 * half));
    }

    #[inline(always)]
    fn add_block(self, block: f32, exponent: Option<i32>) -> f32 {
        let Some(exponent) = exponent else {
            return f32::NAN;
        };
        // The exponents of two scales are within f64's.
        let scale = f64::from_bits(((exponent + 1023) as u64) << 52);
        f64::from(block).mul_add(scale, f64::from(self)) as f32
    }
}

impl Accumulator for i32 {
    #[inline(always)]
    fn from_words<const N: usize>(_plan: &MatrixPlan, words: &[u32; N], _half: usize) -> [i32; N] {
        columns!(n => words[n].cast_signed())
    }

    #[inline(always)]
    fn to_words<const N: usize>(_plan: &MatrixPlan, sums: &[i32; N]) -> [u32; N] {
        columns!(n => sums[n].cast_unsigned())
    }

    #[inline(always)]
    fn put<const N: usize>(plan: &MatrixPlan, sums: &[i32; N], words: &mut [u32; N], _half: usize) {
        *words = Self::to_words(plan, sums);
    }

    #[inline(always)]
    fn add_block(self, block: i32, _exponent: Option<i32>) -> i32 {
        self.saturating_add(block)
    }
}
