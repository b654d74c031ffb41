//! What each vector operation computes in a lane: a closure next to its name.
//!
//! `k` closures are plain, `h` ones are hot, `e` ones get MODE, `a` ones are float arithmetic with explicit NaN results, `m` ones get a
//! lane-mask bit, `y` ones also give one, `c` ones are compares.

mod compare;
mod convert;
mod float;
mod integer;
mod sixteen;

use crate::{
    interp::vector::{Env, VectorOp},
    isa::op::Op as M,
};

pub use compare::compare;
pub use convert::small_floats;
pub use integer::saturating;

/// Operations that are neither compares nor packed.
pub fn meaning(op: M) -> Option<VectorOp> {
    integer::integer(op)
        .or_else(|| float::float32(op))
        .or_else(|| convert::convert(op))
        .or_else(|| float::float64(op))
        .or_else(|| sixteen::sixteen(op))
}

/// An operation of three sources: `second` of the third and what `first` makes of the first two.
fn then<T>(
    first: impl Fn(Env, T, T) -> T + Copy,
    second: impl Fn(Env, T, T) -> T + Copy,
) -> impl Fn(Env, T, T, T) -> T + Copy {
    move |e, a, b, c| second(e, first(e, a, b), c)
}
