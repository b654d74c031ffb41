//! Compares and classes.

#![expect(
    clippy::double_comparisons,
    reason = "less or greater is not the same as unequal when a NaN is compared"
)]

use crate::{
    interp::{
        float::{Half, class_f16, class_f32, class_f64, input_half, ordered},
        vector::{Env, VectorOp, c2, ce2},
    },
    isa::op::Op as M,
};

macro_rules! compares {
    ($op:expr; $($int:ty: $f:ident $lt:ident $eq:ident $le:ident $gt:ident $ne:ident $ge:ident $t:ident,
        $xf:ident $xlt:ident $xeq:ident $xle:ident $xgt:ident $xne:ident $xge:ident $xt:ident;)*) => {
        match $op {
            $(
                M::$f | M::$xf => Some(never()),
                M::$lt | M::$xlt => Some(c2(|a: $int, b: $int| a < b)),
                M::$eq | M::$xeq => Some(c2(|a: $int, b: $int| a == b)),
                M::$le | M::$xle => Some(c2(|a: $int, b: $int| a < b).swapped().inverted()),
                M::$gt | M::$xgt => Some(c2(|a: $int, b: $int| a < b).swapped()),
                M::$ne | M::$xne => Some(c2(|a: $int, b: $int| a == b).inverted()),
                M::$ge | M::$xge => Some(c2(|a: $int, b: $int| a < b).inverted()),
                M::$t | M::$xt => Some(never().inverted()),
            )*
            _ => None,
        }
    };
}

/// A compare that is never true; its sources do not matter.
fn never() -> VectorOp {
    VectorOp {
        arity: 0,
        ..c2(|_: u32, _: u32| false)
    }
}

macro_rules! float_compares {
    ($op:expr; $($less:expr, $less_equal:expr, $equal:expr, $unordered:expr => $f:ident $lt:ident $eq:ident $le:ident $gt:ident $lg:ident $ge:ident
        $o:ident $u:ident $nge:ident $nlg:ident
        $ngt:ident $nle:ident $neq:ident $nlt:ident $tru:ident $t:ident, $xf:ident $xlt:ident $xeq:ident $xle:ident $xgt:ident $xlg:ident $xge:ident
        $xo:ident $xu:ident $xnge:ident $xnlg:ident $xngt:ident $xnle:ident $xneq:ident $xnlt:ident $xtru:ident $xt:ident;)*) => {
        match $op {
            $(
                M::$f | M::$xf => Some(never()),
                M::$lt | M::$xlt => Some($less),
                M::$eq | M::$xeq => Some($equal.0),
                M::$le | M::$xle => Some($less_equal),
                M::$gt | M::$xgt => Some($less.swapped()),
                M::$lg | M::$xlg => Some($equal.1),
                M::$ge | M::$xge => Some($less_equal.swapped()),
                M::$o | M::$xo => Some($unordered.inverted()),
                M::$u | M::$xu => Some($unordered),
                M::$nge | M::$xnge => Some($less_equal.swapped().inverted()),
                M::$nlg | M::$xnlg => Some($equal.1.inverted()),
                M::$ngt | M::$xngt => Some($less.swapped().inverted()),
                M::$nle | M::$xnle => Some($less_equal.inverted()),
                M::$neq | M::$xneq => Some($equal.0.inverted()),
                M::$nlt | M::$xnlt => Some($less.inverted()),
                M::$tru | M::$xtru | M::$t | M::$xt => Some(never().inverted()),
            )*
            _ => None,
        }
    };
}

fn less_f32() -> VectorOp {
    c2(|a: f32, b: f32| a < b)
}

fn less_equal_f32() -> VectorOp {
    c2(|a: f32, b: f32| a <= b)
}

/// Equal; and less or greater.
fn equal_f32() -> (VectorOp, VectorOp) {
    (
        c2(|a: f32, b: f32| a == b),
        c2(|a: f32, b: f32| a < b || a > b),
    )
}

fn unordered_f32() -> VectorOp {
    c2(|a: f32, b: f32| a.is_nan() || b.is_nan())
}

fn less_f64() -> VectorOp {
    c2(|a: f64, b: f64| a < b)
}

fn less_equal_f64() -> VectorOp {
    c2(|a: f64, b: f64| a <= b)
}

fn equal_f64() -> (VectorOp, VectorOp) {
    (
        c2(|a: f64, b: f64| a == b),
        c2(|a: f64, b: f64| a < b || a > b),
    )
}

fn unordered_f64() -> VectorOp {
    c2(|a: f64, b: f64| a.is_nan() || b.is_nan())
}

fn less_f16() -> VectorOp {
    ce2(|e, a: Half, b: Half| half_order(e, a) < half_order(e, b))
}

fn less_equal_f16() -> VectorOp {
    ce2(|e, a: Half, b: Half| half_order(e, a) <= half_order(e, b))
}

fn equal_f16() -> (VectorOp, VectorOp) {
    let differ = ce2(|e, a: Half, b: Half| {
        let (a, b) = (half_order(e, a), half_order(e, b));
        a < b || a > b
    });
    (
        ce2(|e, a: Half, b: Half| half_order(e, a) == half_order(e, b)),
        differ,
    )
}

fn unordered_f16() -> VectorOp {
    c2(|a: Half, b: Half| a.is_nan() || b.is_nan())
}

/// An f16 as an f32 of the same order, for compares: NaN stays NaN.
fn half_order(e: Env, x: Half) -> f32 {
    if x.is_nan() {
        f32::NAN
    } else {
        ordered(input_half(e, x)) as f32
    }
}

/// Compares.
pub fn compare(op: M) -> Option<VectorOp> {
    let class = match op {
        M::v_cmp_class_f32 | M::v_cmpx_class_f32 => {
            Some(c2(|a: u32, b: u32| class_f32(a) & b != 0))
        }
        M::v_cmp_class_f64 | M::v_cmpx_class_f64 => {
            Some(c2(|a: u64, b: u32| class_f64(a) & b != 0))
        }
        M::v_cmp_class_f16 | M::v_cmpx_class_f16 => {
            Some(c2(|a: u16, b: u16| class_f16(a) & u32::from(b) != 0))
        }
        _ => None,
    };
    class
        .or_else(|| compares! { op;
            i16: v_cmp_f_i16 v_cmp_lt_i16 v_cmp_eq_i16 v_cmp_le_i16 v_cmp_gt_i16 v_cmp_ne_i16 v_cmp_ge_i16 v_cmp_t_i16,
                v_cmpx_f_i16 v_cmpx_lt_i16 v_cmpx_eq_i16 v_cmpx_le_i16 v_cmpx_gt_i16 v_cmpx_ne_i16 v_cmpx_ge_i16 v_cmpx_t_i16;
            i32: v_cmp_f_i32 v_cmp_lt_i32 v_cmp_eq_i32 v_cmp_le_i32 v_cmp_gt_i32 v_cmp_ne_i32 v_cmp_ge_i32 v_cmp_t_i32,
                v_cmpx_f_i32 v_cmpx_lt_i32 v_cmpx_eq_i32 v_cmpx_le_i32 v_cmpx_gt_i32 v_cmpx_ne_i32 v_cmpx_ge_i32 v_cmpx_t_i32;
            i64: v_cmp_f_i64 v_cmp_lt_i64 v_cmp_eq_i64 v_cmp_le_i64 v_cmp_gt_i64 v_cmp_ne_i64 v_cmp_ge_i64 v_cmp_t_i64,
                v_cmpx_f_i64 v_cmpx_lt_i64 v_cmpx_eq_i64 v_cmpx_le_i64 v_cmpx_gt_i64 v_cmpx_ne_i64 v_cmpx_ge_i64 v_cmpx_t_i64;
            u16: v_cmp_f_u16 v_cmp_lt_u16 v_cmp_eq_u16 v_cmp_le_u16 v_cmp_gt_u16 v_cmp_ne_u16 v_cmp_ge_u16 v_cmp_t_u16,
                v_cmpx_f_u16 v_cmpx_lt_u16 v_cmpx_eq_u16 v_cmpx_le_u16 v_cmpx_gt_u16 v_cmpx_ne_u16 v_cmpx_ge_u16 v_cmpx_t_u16;
            u32: v_cmp_f_u32 v_cmp_lt_u32 v_cmp_eq_u32 v_cmp_le_u32 v_cmp_gt_u32 v_cmp_ne_u32 v_cmp_ge_u32 v_cmp_t_u32,
                v_cmpx_f_u32 v_cmpx_lt_u32 v_cmpx_eq_u32 v_cmpx_le_u32 v_cmpx_gt_u32 v_cmpx_ne_u32 v_cmpx_ge_u32 v_cmpx_t_u32;
            u64: v_cmp_f_u64 v_cmp_lt_u64 v_cmp_eq_u64 v_cmp_le_u64 v_cmp_gt_u64 v_cmp_ne_u64 v_cmp_ge_u64 v_cmp_t_u64,
                v_cmpx_f_u64 v_cmpx_lt_u64 v_cmpx_eq_u64 v_cmpx_le_u64 v_cmpx_gt_u64 v_cmpx_ne_u64 v_cmpx_ge_u64 v_cmpx_t_u64;
        })
        .or_else(|| float_compares! { op;
            less_f16(), less_equal_f16(), equal_f16(), unordered_f16() => v_cmp_f_f16 v_cmp_lt_f16 v_cmp_eq_f16 v_cmp_le_f16 v_cmp_gt_f16 v_cmp_lg_f16 v_cmp_ge_f16 v_cmp_o_f16 v_cmp_u_f16 v_cmp_nge_f16 v_cmp_nlg_f16 v_cmp_ngt_f16 v_cmp_nle_f16 v_cmp_neq_f16 v_cmp_nlt_f16 v_cmp_tru_f16 v_cmp_t_f16,
                v_cmpx_f_f16 v_cmpx_lt_f16 v_cmpx_eq_f16 v_cmpx_le_f16 v_cmpx_gt_f16 v_cmpx_lg_f16 v_cmpx_ge_f16 v_cmpx_o_f16 v_cmpx_u_f16 v_cmpx_nge_f16 v_cmpx_nlg_f16 v_cmpx_ngt_f16 v_cmpx_nle_f16 v_cmpx_neq_f16 v_cmpx_nlt_f16 v_cmpx_tru_f16 v_cmpx_t_f16;
            less_f32(), less_equal_f32(), equal_f32(), unordered_f32() => v_cmp_f_f32 v_cmp_lt_f32 v_cmp_eq_f32 v_cmp_le_f32 v_cmp_gt_f32 v_cmp_lg_f32 v_cmp_ge_f32 v_cmp_o_f32 v_cmp_u_f32 v_cmp_nge_f32 v_cmp_nlg_f32 v_cmp_ngt_f32 v_cmp_nle_f32 v_cmp_neq_f32 v_cmp_nlt_f32 v_cmp_tru_f32 v_cmp_t_f32,
                v_cmpx_f_f32 v_cmpx_lt_f32 v_cmpx_eq_f32 v_cmpx_le_f32 v_cmpx_gt_f32 v_cmpx_lg_f32 v_cmpx_ge_f32 v_cmpx_o_f32 v_cmpx_u_f32 v_cmpx_nge_f32 v_cmpx_nlg_f32 v_cmpx_ngt_f32 v_cmpx_nle_f32 v_cmpx_neq_f32 v_cmpx_nlt_f32 v_cmpx_tru_f32 v_cmpx_t_f32;
            less_f64(), less_equal_f64(), equal_f64(), unordered_f64() => v_cmp_f_f64 v_cmp_lt_f64 v_cmp_eq_f64 v_cmp_le_f64 v_cmp_gt_f64 v_cmp_lg_f64 v_cmp_ge_f64 v_cmp_o_f64 v_cmp_u_f64 v_cmp_nge_f64 v_cmp_nlg_f64 v_cmp_ngt_f64 v_cmp_nle_f64 v_cmp_neq_f64 v_cmp_nlt_f64 v_cmp_tru_f64 v_cmp_t_f64,
                v_cmpx_f_f64 v_cmpx_lt_f64 v_cmpx_eq_f64 v_cmpx_le_f64 v_cmpx_gt_f64 v_cmpx_lg_f64 v_cmpx_ge_f64 v_cmpx_o_f64 v_cmpx_u_f64 v_cmpx_nge_f64 v_cmpx_nlg_f64 v_cmpx_ngt_f64 v_cmpx_nle_f64 v_cmpx_neq_f64 v_cmpx_nlt_f64 v_cmpx_tru_f64 v_cmpx_t_f64;
        })
}
