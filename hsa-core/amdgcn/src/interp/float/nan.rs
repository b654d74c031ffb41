//! NaNs of the three float types.

use super::half::Half;

/// A float type with quiet and signalling NaNs.
pub trait Nan: Copy {
    /// Is a NaN.
    fn nan(self) -> bool;

    /// The NaN, quiet.
    fn quiet(self) -> Self;

    /// A NaN becomes quiet, a number stays.
    #[inline(always)]
    fn quieted(self) -> Self {
        if self.nan() { self.quiet() } else { self }
    }
}

impl Nan for Half {
    #[inline(always)]
    fn nan(self) -> bool {
        self.is_nan()
    }

    #[inline(always)]
    fn quiet(self) -> Self {
        Half(self.0 | 0x200)
    }
}

impl Nan for f32 {
    #[inline(always)]
    fn nan(self) -> bool {
        self.is_nan()
    }

    #[inline(always)]
    fn quiet(self) -> Self {
        f32::from_bits(self.to_bits() | 0x0040_0000)
    }
}

impl Nan for f64 {
    #[inline(always)]
    fn nan(self) -> bool {
        self.is_nan()
    }

    #[inline(always)]
    fn quiet(self) -> Self {
        f64::from_bits(self.to_bits() | 1 << 51)
    }
}
