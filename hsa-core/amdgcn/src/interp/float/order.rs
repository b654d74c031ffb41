//! Minimum, maximum and median.

use super::{half::Half, input, input_f64, input_half, nan::Nan};
use crate::interp::vector::Env;

macro_rules! min_max {
    ($min:ident, $max:ident, $min3:ident, $max3:ident, $med3:ident, $ty:ty, $int:ty, $input:ident, $quiet_bit:expr, |$v:ident| $bits:expr, |$w:ident| $from:expr,
     |$l:ident, $r:ident| $less:expr) => {
        /// The smaller; −0 is smaller than +0; of a NaN and a number the number; in IEEE mode a signalling NaN gives itself, quiet.
        #[inline(always)]
        pub fn $min(e: Env, a: $ty, b: $ty) -> $ty {
            select_extreme!(
                e,
                a,
                b,
                $ty,
                $int,
                $input,
                $quiet_bit,
                |$v| $bits,
                |$w| $from,
                |$l, $r| $less,
                min
            )
        }
        /// The larger, by the same rules.
        #[inline(always)]
        pub fn $max(e: Env, a: $ty, b: $ty) -> $ty {
            select_extreme!(
                e,
                a,
                b,
                $ty,
                $int,
                $input,
                $quiet_bit,
                |$v| $bits,
                |$w| $from,
                |$l, $r| $less,
                max
            )
        }
        /// Smallest of three.
        #[inline(always)]
        pub fn $min3(e: Env, a: $ty, b: $ty, c: $ty) -> $ty {
            $min(e, $min(e, a, b), c)
        }
        /// Largest of three.
        #[inline(always)]
        pub fn $max3(e: Env, a: $ty, b: $ty, c: $ty) -> $ty {
            $max(e, $max(e, a, b), c)
        }
        /// Median; with a NaN source the smallest. Of zeros, which are equal here, the first two that are not the first largest decide.
        #[inline(always)]
        pub fn $med3(e: Env, a: $ty, b: $ty, c: $ty) -> $ty {
            let less = |$l: $ty, $r: $ty| -> bool { $less };
            if a.nan() || b.nan() || c.nan() {
                return $min3(e, a, b, c);
            }
            let (a, b, c) = ($input(e, a), $input(e, b), $input(e, c));
            let largest = $max3(e, a, b, c);
            if !less(a, largest) {
                $max(e, b, c)
            } else if !less(b, largest) {
                $max(e, a, c)
            } else {
                $max(e, a, b)
            }
        }
    };
}

macro_rules! select_extreme {
    ($e:ident, $a:ident, $b:ident, $ty:ty, $int:ty, $input:ident, $quiet_bit:expr, |$v:ident| $bits:expr, |$w:ident| $from:expr,
     |$l:ident, $r:ident| $less:expr, $which:ident) => {{
        let bits = |$v: $ty| -> $int { $bits };
        let from = |$w: $int| -> $ty { $from };
        let less = |$l: $ty, $r: $ty| -> bool { $less };
        let (a, b) = ($input($e, $a), $input($e, $b));
        let a_first = select_extreme!(@less $which, less, a, b);
        let b_first = select_extreme!(@less $which, less, b, a);
        // Equal values differ in the sign of zero at most.
        let equal = from(select_extreme!(@sign $which, bits(a), bits(b)));
        let number = if a_first { a } else if b_first { b } else { equal };
        let (a_nan, b_nan) = (a.nan(), b.nan());
        let picked = if a_nan { b } else if b_nan { a } else { number };
        let ieee = $e.ieee();
        let a_signalling = ieee && a_nan && bits(a) & $quiet_bit == 0;
        let b_signalling = ieee && b_nan && bits(b) & $quiet_bit == 0;
        if a_signalling {
            a.quiet()
        } else if b_signalling {
            b.quiet()
        } else {
            picked
        }
    }};
    (@less min, $less:ident, $a:ident, $b:ident) => { $less($a, $b) };
    (@less max, $less:ident, $a:ident, $b:ident) => { $less($b, $a) };
    (@sign min, $a:expr, $b:expr) => { $a | $b };
    (@sign max, $a:expr, $b:expr) => { $a & $b };
}

min_max!(
    min_f32,
    max_f32,
    min3_f32,
    max3_f32,
    med3_f32,
    f32,
    u32,
    input,
    0x0040_0000,
    |v| v.to_bits(),
    |w| f32::from_bits(w),
    |l, r| l < r
);
min_max!(
    min_f64,
    max_f64,
    min3_f64,
    max3_f64,
    med3_f64,
    f64,
    u64,
    input_f64,
    1u64 << 51,
    |v| v.to_bits(),
    |w| f64::from_bits(w),
    |l, r| l < r
);
min_max!(
    min_f16,
    max_f16,
    min3_f16,
    max3_f16,
    med3_f16,
    Half,
    u16,
    input_half,
    0x200,
    |v| v.0,
    |w| Half(w),
    |l, r| ordered(l) < ordered(r)
);

/// Integer that orders f16 numbers: zeros are equal.
#[inline(always)]
pub fn ordered(x: Half) -> i32 {
    let magnitude = i32::from(x.0 & 0x7fff);
    if x.0 & 0x8000 == 0 {
        magnitude
    } else {
        -magnitude
    }
}

/// The first NaN, quiet, or what `of_numbers` makes of two numbers.
#[inline(always)]
fn propagating<T: Nan>(e: Env, a: T, b: T, of_numbers: impl Fn(Env, T, T) -> T) -> T {
    if a.nan() {
        a.quiet()
    } else if b.nan() {
        b.quiet()
    } else {
        of_numbers(e, a, b)
    }
}

/// What `extreme` makes of numbers, whatever MODE says of NaNs; of two NaNs the first one, quiet.
#[inline(always)]
fn number<T: Nan>(e: Env, a: T, b: T, extreme: impl Fn(Env, T, T) -> T) -> T {
    let number = extreme(e.without_ieee(), a, b);
    if a.nan() && b.nan() {
        a.quiet()
    } else {
        number
    }
}

macro_rules! without_ieee {
    ($ty:ty, $min:ident, $max:ident, $med3:ident, $minimum:ident, $maximum:ident, $min_num:ident, $max_num:ident, $med3_num:ident) => {
        /// The smaller; −0 is smaller than +0; the first NaN, quiet, if there is one.
        #[inline(always)]
        pub fn $minimum(e: Env, a: $ty, b: $ty) -> $ty {
            propagating(e, a, b, $min)
        }
        /// The larger, by the same rules.
        #[inline(always)]
        pub fn $maximum(e: Env, a: $ty, b: $ty) -> $ty {
            propagating(e, a, b, $max)
        }
        /// The smaller; −0 is smaller than +0; of a NaN of any kind and a number the number, whatever MODE says.
        #[inline(always)]
        pub fn $min_num(e: Env, a: $ty, b: $ty) -> $ty {
            number(e, a, b, $min)
        }
        /// The larger, by the same rules.
        #[inline(always)]
        pub fn $max_num(e: Env, a: $ty, b: $ty) -> $ty {
            number(e, a, b, $max)
        }
        /// Median; with a NaN source the smallest number.
        #[inline(always)]
        pub fn $med3_num(e: Env, a: $ty, b: $ty, c: $ty) -> $ty {
            if a.nan() || b.nan() || c.nan() {
                $min_num(e, $min_num(e, a, b), c)
            } else {
                $med3(e, a, b, c)
            }
        }
    };
}

without_ieee!(
    f32,
    min_f32,
    max_f32,
    med3_f32,
    minimum_f32,
    maximum_f32,
    min_num_f32,
    max_num_f32,
    med3_num_f32
);
without_ieee!(
    f64,
    min_f64,
    max_f64,
    med3_f64,
    minimum_f64,
    maximum_f64,
    min_num_f64,
    max_num_f64,
    med3_num_f64
);
without_ieee!(
    Half,
    min_f16,
    max_f16,
    med3_f16,
    minimum_f16,
    maximum_f16,
    min_num_f16,
    max_num_f16,
    med3_num_f16
);
