//! Scalar floating point that depends on MODE: f16 (GFX11.5, GFX12), and minimum and maximum of f32.

#![expect(
    clippy::double_comparisons,
    clippy::neg_cmp_op_on_partial_ord,
    reason = "with a NaN these are different compares, each an operation of its own"
)]

use crate::{
    interp::{
        float::{
            Half, Nan, half_fma, half1, half2, max_f16, max_f32, max_num_f16, max_num_f32,
            maximum_f16, maximum_f32, min_f16, min_f32, min_num_f16, min_num_f32, minimum_f16,
            minimum_f32, narrow, narrow_to_zero,
        },
        lane,
        round::round_even_f32,
        run::{Handler, set_mxcsr},
        scalar::conjure,
        vector::Env,
        wave::{Wave, slot},
    },
    ir::Op,
    isa::{inst::Inst, op::Op as M},
};

use super::super::{LowerContext, Unsupported};

/// What comes out of an operation.
pub(super) trait Outcome {
    fn put(self, w: &mut Wave, d: usize);
}

impl Outcome for u32 {
    fn put(self, w: &mut Wave, d: usize) {
        w.sgpr[d] = self;
    }
}

impl Outcome for f32 {
    fn put(self, w: &mut Wave, d: usize) {
        w.sgpr[d] = self.to_bits();
    }
}

impl Outcome for Half {
    fn put(self, w: &mut Wave, d: usize) {
        w.sgpr[d] = u32::from(self.0);
    }
}

impl Outcome for bool {
    fn put(self, w: &mut Wave, _: usize) {
        w.sgpr[slot::SCC] = u32::from(self);
    }
}

/// Runs a closure that captures nothing on the dwords of up to three scalars, in MODE's f16 environment.
unsafe fn run<F: Fn(Env, u32, u32, u32) -> R + Copy, R: Outcome>(
    w: &mut Wave,
    op: *const Op,
) -> *const Op {
    // SAFETY: operands by the lowering; the closure has no captures; the run loop's own MXCSR comes back.
    unsafe {
        let f = conjure::<F>();
        let sources = [0, 1, 2].map(|n| lane::scalar(w, (*op).s[n]));
        set_mxcsr(w.mxcsr_f64);
        let result = f(Env { mode: w.mode }, sources[0], sources[1], sources[2]);
        set_mxcsr(w.mxcsr);
        result.put(w, (*op).d as usize);
        op.add(1)
    }
}

pub(super) fn of<F: Fn(Env, u32, u32, u32) -> R + Copy, R: Outcome>(_f: F) -> Handler {
    run::<F, R>
}

/// An operation on two halves.
macro_rules! halves {
    (|$e:ident, $a:ident, $b:ident| $body:expr) => {
        of(|$e: Env, a: u32, b: u32, _| {
            let ($a, $b) = (Half(a as u16), Half(b as u16));
            $body
        })
    };
}

/// A compare of two halves.
macro_rules! compare {
    (|$a:ident, $b:ident| $body:expr) => {
        of(|_: Env, a: u32, b: u32, _| {
            let ($a, $b) = (Half(a as u16).widen(), Half(b as u16).widen());
            $body
        })
    };
}

macro_rules! floats {
    ($f:ident) => {
        of(|e: Env, a: u32, b: u32, _| $f(e, f32::from_bits(a), f32::from_bits(b)))
    };
}

fn handler(op: M) -> Option<Handler> {
    Some(match op {
        M::s_add_f16 => halves!(|e, a, b| half2(e, a, b, |x, y| x + y)),
        M::s_sub_f16 => halves!(|e, a, b| half2(e, a, b, |x, y| x - y)),
        M::s_mul_f16 => halves!(|e, a, b| half2(e, a, b, |x, y| x * y)),
        M::s_fmac_f16 => of(|e: Env, a: u32, b: u32, c: u32| {
            half_fma(e, Half(a as u16), Half(b as u16), Half(c as u16))
        }),
        M::s_min_f16 => halves!(|e, a, b| min_f16(e, a, b)),
        M::s_max_f16 => halves!(|e, a, b| max_f16(e, a, b)),
        M::s_min_num_f16 => halves!(|e, a, b| min_num_f16(e, a, b)),
        M::s_max_num_f16 => halves!(|e, a, b| max_num_f16(e, a, b)),
        M::s_minimum_f16 => halves!(|e, a, b| minimum_f16(e, a, b)),
        M::s_maximum_f16 => halves!(|e, a, b| maximum_f16(e, a, b)),
        M::s_ceil_f16 => halves!(|e, a, _b| half1(e, a, f32::ceil)),
        M::s_floor_f16 => halves!(|e, a, _b| half1(e, a, f32::floor)),
        M::s_trunc_f16 => halves!(|e, a, _b| half1(e, a, f32::trunc)),
        M::s_rndne_f16 => halves!(|e, a, _b| half1(e, a, round_even_f32)),
        M::s_cvt_f16_f32 => of(|e: Env, a: u32, _, _| narrow(e, f32::from_bits(a))),
        M::s_cvt_f32_f16 => of(|_: Env, a: u32, _, _| Half(a as u16).quieted().widen()),
        M::s_cvt_hi_f32_f16 => of(|_: Env, a: u32, _, _| Half((a >> 16) as u16).quieted().widen()),
        M::s_cvt_pk_rtz_f16_f32 => of(|_: Env, a: u32, b: u32, _| {
            let half = |x: u32| u32::from(narrow_to_zero(f32::from_bits(x)));
            half(a) | half(b) << 16
        }),
        M::s_min_f32 => floats!(min_f32),
        M::s_min_num_f32 => floats!(min_num_f32),
        M::s_max_f32 => floats!(max_f32),
        M::s_max_num_f32 => floats!(max_num_f32),
        M::s_minimum_f32 => floats!(minimum_f32),
        M::s_maximum_f32 => floats!(maximum_f32),
        M::s_cmp_lt_f16 => compare!(|a, b| a < b),
        M::s_cmp_eq_f16 => compare!(|a, b| a == b),
        M::s_cmp_le_f16 => compare!(|a, b| a <= b),
        M::s_cmp_gt_f16 => compare!(|a, b| a > b),
        M::s_cmp_lg_f16 => compare!(|a, b| a < b || a > b),
        M::s_cmp_ge_f16 => compare!(|a, b| a >= b),
        M::s_cmp_o_f16 => compare!(|a, b| !a.is_nan() && !b.is_nan()),
        M::s_cmp_u_f16 => compare!(|a, b| a.is_nan() || b.is_nan()),
        M::s_cmp_nge_f16 => compare!(|a, b| !(a >= b)),
        M::s_cmp_nlg_f16 => compare!(|a, b| !(a < b || a > b)),
        M::s_cmp_ngt_f16 => compare!(|a, b| !(a > b)),
        M::s_cmp_nle_f16 => compare!(|a, b| !(a <= b)),
        M::s_cmp_neq_f16 => compare!(|a, b| a != b),
        M::s_cmp_nlt_f16 => compare!(|a, b| !(a < b)),
        _ => return None,
    })
}

/// Lowers the operation if it is one of these.
pub(super) fn lower(inst: &Inst, cx: &mut LowerContext) -> Result<bool, Unsupported> {
    let Some(run) = handler(inst.op) else {
        return Ok(false);
    };
    let mut op = Op::new(run);
    let zero = cx.constant(&[0]);
    op.s = [zero; 4];
    for (index, source) in inst.src.into_iter().enumerate().take(2) {
        if source.operand != crate::isa::inst::Operand::None {
            op.s[index] = cx.scalar_src(source, 1)?;
        }
    }
    if inst.op == M::s_fmac_f16 {
        op.s[2] = cx.scalar_src(inst.dst, 1)?;
    }
    if inst.dst.operand != crate::isa::inst::Operand::None {
        op.d = cx.scalar_dst(inst.dst.operand, 1)?;
    }
    cx.push(op);
    Ok(true)
}
