//! Minimum, maximum and median.

use super::{half::Half, input, input_f64, input_half};
use crate::interp::vector::Env;

macro_rules! min_max {
    ($min:ident, $max:ident, $min3:ident, $max3:ident, $med3:ident, $ty:ty, $int:ty, $input:ident, $quiet_bit:expr, |$v:ident| $bits:expr, |$w:ident| $from:expr,
     |$l:ident, $r:ident| $less:expr, |$n:ident| $nan:expr) => {
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
                |$n| $nan,
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
                |$n| $nan,
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
            let is_nan = |$n: $ty| $nan;
            let less = |$l: $ty, $r: $ty| -> bool { $less };
            if is_nan(a) || is_nan(b) || is_nan(c) {
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
     |$l:ident, $r:ident| $less:expr, |$n:ident| $nan:expr, $which:ident) => {{
        let bits = |$v: $ty| -> $int { $bits };
        let from = |$w: $int| -> $ty { $from };
        let less = |$l: $ty, $r: $ty| -> bool { $less };
        let is_nan = |$n: $ty| -> bool { $nan };
        let (a, b) = ($input($e, $a), $input($e, $b));
        let a_first = select_extreme!(@less $which, less, a, b);
        let b_first = select_extreme!(@less $which, less, b, a);
        // Equal values differ in the sign of zero at most.
        let equal = from(select_extreme!(@sign $which, bits(a), bits(b)));
        let number = if a_first { a } else if b_first { b } else { equal };
        let (a_nan, b_nan) = (is_nan(a), is_nan(b));
        let picked = if a_nan { b } else if b_nan { a } else { number };
        let ieee = $e.ieee();
        let a_signalling = ieee && a_nan && bits(a) & $quiet_bit == 0;
        let b_signalling = ieee && b_nan && bits(b) & $quiet_bit == 0;
        if a_signalling {
            from(bits(a) | $quiet_bit)
        } else if b_signalling {
            from(bits(b) | $quiet_bit)
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
    |l, r| l < r,
    |n| n.is_nan()
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
    |l, r| l < r,
    |n| n.is_nan()
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
    |l, r| ordered(l) < ordered(r),
    |n| n.is_nan()
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

macro_rules! propagating {
    ($minimum:ident, $maximum:ident, $min:ident, $max:ident, $ty:ty, |$x:ident| $nan:expr, |$y:ident| $quiet:expr) => {
        /// The smaller; −0 is smaller than +0; the first NaN, quiet, if there is one.
        #[inline(always)]
        pub fn $minimum(e: Env, a: $ty, b: $ty) -> $ty {
            let nan = |$x: $ty| $nan;
            let quiet = |$y: $ty| $quiet;
            if nan(a) {
                quiet(a)
            } else if nan(b) {
                quiet(b)
            } else {
                $min(e, a, b)
            }
        }
        /// The larger, by the same rules.
        #[inline(always)]
        pub fn $maximum(e: Env, a: $ty, b: $ty) -> $ty {
            let nan = |$x: $ty| $nan;
            let quiet = |$y: $ty| $quiet;
            if nan(a) {
                quiet(a)
            } else if nan(b) {
                quiet(b)
            } else {
                $max(e, a, b)
            }
        }
    };
}

macro_rules! numbers {
    ($min_num:ident, $max_num:ident, $med3_num:ident, $min:ident, $max:ident, $med3:ident, $ty:ty, |$x:ident| $nan:expr, |$y:ident| $quiet:expr) => {
        /// The smaller; −0 is smaller than +0; of a NaN of any kind and a number the number, whatever MODE says.
        #[inline(always)]
        pub fn $min_num(e: Env, a: $ty, b: $ty) -> $ty {
            let nan = |$x: $ty| $nan;
            let quiet = |$y: $ty| $quiet;
            let number = $min(e.without_ieee(), a, b);
            if nan(a) && nan(b) { quiet(a) } else { number }
        }
        /// The larger, by the same rules.
        #[inline(always)]
        pub fn $max_num(e: Env, a: $ty, b: $ty) -> $ty {
            let nan = |$x: $ty| $nan;
            let quiet = |$y: $ty| $quiet;
            let number = $max(e.without_ieee(), a, b);
            if nan(a) && nan(b) { quiet(a) } else { number }
        }
        /// Median; with a NaN source the smallest number.
        #[inline(always)]
        pub fn $med3_num(e: Env, a: $ty, b: $ty, c: $ty) -> $ty {
            let nan = |$x: $ty| $nan;
            if nan(a) || nan(b) || nan(c) {
                $min_num(e, $min_num(e, a, b), c)
            } else {
                $med3(e, a, b, c)
            }
        }
    };
}

numbers!(
    min_num_f32,
    max_num_f32,
    med3_num_f32,
    min_f32,
    max_f32,
    med3_f32,
    f32,
    |x| x.is_nan(),
    |x| f32::from_bits(x.to_bits() | 0x0040_0000)
);
numbers!(
    min_num_f64,
    max_num_f64,
    med3_num_f64,
    min_f64,
    max_f64,
    med3_f64,
    f64,
    |x| x.is_nan(),
    |x| f64::from_bits(x.to_bits() | 1 << 51)
);
numbers!(
    min_num_f16,
    max_num_f16,
    med3_num_f16,
    min_f16,
    max_f16,
    med3_f16,
    Half,
    |x| x.is_nan(),
    |x| x.quiet()
);

propagating!(
    minimum_f32,
    maximum_f32,
    min_f32,
    max_f32,
    f32,
    |x| x.is_nan(),
    |x| f32::from_bits(x.to_bits() | 0x0040_0000)
);
propagating!(
    minimum_f64,
    maximum_f64,
    min_f64,
    max_f64,
    f64,
    |x| x.is_nan(),
    |x| f64::from_bits(x.to_bits() | 1 << 51)
);
propagating!(
    minimum_f16,
    maximum_f16,
    min_f16,
    max_f16,
    Half,
    |x| x.is_nan(),
    |x| x.quiet()
);
