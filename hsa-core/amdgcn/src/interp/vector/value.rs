//! The values that lanes read and write, and what a kernel may know besides its operands.

use super::{
    super::{float::Nan, wave::mode},
    GROUP, Simd,
};

/// What a kernel may know besides its operands.
#[derive(Clone, Copy, Debug)]
pub struct Env {
    /// MODE.
    pub mode: u32,
}

impl Env {
    /// IEEE mode.
    #[inline(always)]
    pub fn ieee(self) -> bool {
        self.mode & mode::IEEE != 0
    }

    /// The same without IEEE mode.
    #[inline(always)]
    pub fn without_ieee(self) -> Self {
        Self {
            mode: self.mode & !mode::IEEE,
        }
    }

    /// DX10 clamp: NaN becomes 0.
    #[inline(always)]
    pub fn dx10_clamp(self) -> bool {
        self.mode & mode::DX10_CLAMP != 0
    }

    /// Rounding of f64 and f16 as MODE has it: 0 nearest even, 1 up, 2 down, 3 to zero.
    #[inline(always)]
    pub fn round_f16(self) -> u32 {
        self.mode >> 2 & 3
    }

    /// Rounding of f32.
    #[inline(always)]
    pub fn round_f32(self) -> u32 {
        self.mode & 3
    }

    /// Input denormals of f32 are flushed.
    #[inline(always)]
    pub fn daz_f32(self) -> bool {
        self.mode & 0x10 == 0
    }

    /// Output denormals of f32 are flushed.
    #[inline(always)]
    pub fn ftz_f32(self) -> bool {
        self.mode & 0x20 == 0
    }

    /// Input denormals of f64 and f16 are flushed.
    #[inline(always)]
    pub fn daz_f16(self) -> bool {
        self.mode & 0x40 == 0
    }

    /// Output denormals of f64 and f16 are flushed.
    #[inline(always)]
    pub fn ftz_f16(self) -> bool {
        self.mode & 0x80 == 0
    }

    /// Conversions to 8-bit floats give the largest value where a finite one does not fit.
    #[inline(always)]
    pub fn saturates_small_floats(self) -> bool {
        self.mode & mode::FP16_OVFL != 0
    }
}

/// A value that a lane reads or writes: one or two dwords.
pub trait Value: Copy + Default + 'static {
    /// Dwords.
    const DWORDS: u32;
    /// Arithmetic on it follows MODE's f64/f16 rounding and denormals.
    const F64: bool = false;
    /// Only the low half of the register is meant.
    const BITS16: bool = false;
    /// From one or two dwords.
    fn from_dwords(low: u32, high: u32) -> Self;
    /// To one or two dwords.
    fn to_dwords(self) -> (u32, u32);
}

macro_rules! value {
    ($($ty:ty, $dwords:literal, $f64:literal, $half:literal, |$lo:ident, $hi:ident| $from:expr, |$v:ident| $to:expr;)*) => { $(
        impl Value for $ty {
            const DWORDS: u32 = $dwords;
            const F64: bool = $f64;
            const BITS16: bool = $half;
            #[inline(always)]
            fn from_dwords($lo: u32, $hi: u32) -> Self {
                $from
            }
            #[inline(always)]
            fn to_dwords(self) -> (u32, u32) {
                let $v = self;
                $to
            }
        }
    )* };
}

value! {
    u32, 1, false, false, |lo, _hi| lo, |v| (v, 0);
    i32, 1, false, false, |lo, _hi| lo.cast_signed(), |v| (v.cast_unsigned(), 0);
    f32, 1, false, false, |lo, _hi| f32::from_bits(lo), |v| (v.to_bits(), 0);
    u16, 1, false, true, |lo, _hi| lo as u16, |v| (u32::from(v), 0);
    i16, 1, false, true, |lo, _hi| lo as i16, |v| (u32::from(v.cast_unsigned()), 0);
    u64, 2, false, false, |lo, hi| u64::from(lo) | u64::from(hi) << 32, |v| (v as u32, (v >> 32) as u32);
    i64, 2, false, false, |lo, hi| (u64::from(lo) | u64::from(hi) << 32).cast_signed(), |v| (v as u32, (v >> 32) as u32);
    f64, 2, true, false, |lo, hi| f64::from_bits(u64::from(lo) | u64::from(hi) << 32), |v| (v.to_bits() as u32, (v.to_bits() >> 32) as u32);
}

/// Floats whose arithmetic results get explicit NaNs.
pub trait Arithmetic: Value + Nan {
    /// The NaN of an invalid operation.
    const DEFAULT_NAN: Self;
    /// Whether any of the group is NaN.
    ///
    /// # Safety
    /// The host has the level's features.
    unsafe fn any_nan<L: Simd>(values: &[Self; GROUP]) -> bool;
}

impl Arithmetic for f32 {
    const DEFAULT_NAN: Self = f32::from_bits(0x7fc0_0000);
    #[inline(always)]
    unsafe fn any_nan<L: Simd>(values: &[Self; GROUP]) -> bool {
        // SAFETY: by the caller.
        unsafe { L::any_nan_f32(values) }
    }
}

impl Arithmetic for f64 {
    const DEFAULT_NAN: Self = f64::from_bits(0x7ff8_0000_0000_0000);
    #[inline(always)]
    unsafe fn any_nan<L: Simd>(values: &[Self; GROUP]) -> bool {
        // SAFETY: by the caller.
        unsafe { L::any_nan_f64(values) }
    }
}
