//! Descriptors of vector operations, made from closures: what the lowering picks handlers from.

use super::{
    super::run::Handler,
    Arithmetic, Env, Value,
    kernel::{E1, E2, E3, K1, K2, K3, Kernel, M2, M3},
    shape::{Arith, Carry, Compare, IntoNan, Map},
    simd::{hot, rare},
};

/// A lowered vector operation: handlers and what they expect.
#[derive(Clone, Copy, Debug)]
pub struct VectorOp {
    /// The handler at each level.
    pub run: [Handler; 3],
    /// Number of sources.
    pub arity: usize,
    /// Dwords of each source.
    pub s: [u32; 3],
    /// Each source is a 16-bit value in half of a register.
    pub half: [bool; 3],
    /// Dwords of the vector result.
    pub d: u32,
    /// The result is a 16-bit value.
    pub half_result: bool,
    /// Reads a lane mask from `Op::s[3]`.
    pub bit: bool,
    /// What it writes.
    pub shape: Shape,
    /// The first two sources are exchanged.
    pub swap: bool,
    /// A compare whose result is negated.
    pub invert: bool,
}

impl VectorOp {
    /// With the first two sources exchanged.
    pub fn swapped(self) -> Self {
        Self { swap: true, ..self }
    }

    /// With the result negated.
    pub fn inverted(self) -> Self {
        Self {
            invert: true,
            ..self
        }
    }
}

/// What a vector operation writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A vector.
    Map,
    /// A vector and a lane mask.
    Carry,
    /// A lane mask.
    Compare,
}

fn describe<K: Kernel, V: Value>(run: [Handler; 3], shape: Shape) -> VectorOp {
    VectorOp {
        run,
        arity: K::ARITY,
        s: [K::A::DWORDS, K::B::DWORDS, K::C::DWORDS],
        half: [K::A::BITS16, K::B::BITS16, K::C::BITS16],
        d: V::DWORDS,
        half_result: V::BITS16,
        bit: K::BIT,
        shape,
        swap: false,
        invert: false,
    }
}

fn map<K: Kernel<R: Value>>(hot_op: bool) -> VectorOp {
    describe::<K, K::R>(
        if hot_op {
            hot::<Map<K>>()
        } else {
            rare::<Map<K>>()
        },
        Shape::Map,
    )
}

fn arith<T: Arithmetic, K: Kernel<A = T, R = T>>(hot_op: bool) -> VectorOp
where
    K::B: IntoNan<T>,
    K::C: IntoNan<T>,
{
    describe::<K, T>(
        if hot_op {
            hot::<Arith<K>>()
        } else {
            rare::<Arith<K>>()
        },
        Shape::Map,
    )
}

/// One source.
pub fn k1<F: Fn(A) -> R + Copy + 'static, A: Value, R: Value>(_f: F) -> VectorOp {
    map::<K1<F, A, R>>(false)
}

/// Two sources.
pub fn k2<F: Fn(A, B) -> R + Copy + 'static, A: Value, B: Value, R: Value>(_f: F) -> VectorOp {
    map::<K2<F, A, B, R>>(false)
}

/// Three sources.
pub fn k3<F: Fn(A, B, C) -> R + Copy + 'static, A: Value, B: Value, C: Value, R: Value>(
    _f: F,
) -> VectorOp {
    map::<K3<F, A, B, C, R>>(false)
}

/// One source, hot.
pub fn h1<F: Fn(A) -> R + Copy + 'static, A: Value, R: Value>(_f: F) -> VectorOp {
    map::<K1<F, A, R>>(true)
}

/// Two sources, hot.
pub fn h2<F: Fn(A, B) -> R + Copy + 'static, A: Value, B: Value, R: Value>(_f: F) -> VectorOp {
    map::<K2<F, A, B, R>>(true)
}

/// Three sources, hot.
pub fn h3<F: Fn(A, B, C) -> R + Copy + 'static, A: Value, B: Value, C: Value, R: Value>(
    _f: F,
) -> VectorOp {
    map::<K3<F, A, B, C, R>>(true)
}

/// One source and MODE.
pub fn e1<F: Fn(Env, A) -> R + Copy + 'static, A: Value, R: Value>(_f: F) -> VectorOp {
    map::<E1<F, A, R>>(false)
}

/// Two sources and MODE.
pub fn e2<F: Fn(Env, A, B) -> R + Copy + 'static, A: Value, B: Value, R: Value>(_f: F) -> VectorOp {
    map::<E2<F, A, B, R>>(false)
}

/// Three sources and MODE.
pub fn e3<F: Fn(Env, A, B, C) -> R + Copy + 'static, A: Value, B: Value, C: Value, R: Value>(
    _f: F,
) -> VectorOp {
    map::<E3<F, A, B, C, R>>(false)
}

/// One source and MODE, hot.
pub fn he1<F: Fn(Env, A) -> R + Copy + 'static, A: Value, R: Value>(_f: F) -> VectorOp {
    map::<E1<F, A, R>>(true)
}

/// Two sources and MODE, hot.
pub fn he2<F: Fn(Env, A, B) -> R + Copy + 'static, A: Value, B: Value, R: Value>(
    _f: F,
) -> VectorOp {
    map::<E2<F, A, B, R>>(true)
}

/// Three sources and MODE, hot.
pub fn he3<F: Fn(Env, A, B, C) -> R + Copy + 'static, A: Value, B: Value, C: Value, R: Value>(
    _f: F,
) -> VectorOp {
    map::<E3<F, A, B, C, R>>(true)
}

/// Two sources and a lane mask, hot.
pub fn m2<F: Fn(A, B, bool) -> R + Copy + 'static, A: Value, B: Value, R: Value>(
    _f: F,
) -> VectorOp {
    map::<M2<F, A, B, R>>(true)
}

/// Float arithmetic with three sources and a lane mask.
pub fn am3<F: Fn(T, T, T, bool) -> T + Copy + 'static, T: Arithmetic + IntoNan<T>>(
    _f: F,
) -> VectorOp {
    arith::<T, M3<F, T, T, T, T>>(false)
}

/// Float arithmetic with one source, hot.
pub fn a1<F: Fn(T) -> T + Copy + 'static, T: Arithmetic>(_f: F) -> VectorOp
where
    u32: IntoNan<T>,
{
    arith::<T, K1<F, T, T>>(true)
}

/// Float arithmetic with one source and MODE.
pub fn ae1<F: Fn(Env, T) -> T + Copy + 'static, T: Arithmetic>(_f: F) -> VectorOp
where
    u32: IntoNan<T>,
{
    arith::<T, E1<F, T, T>>(false)
}

/// Float arithmetic with one source and MODE, hot.
pub fn hae1<F: Fn(Env, T) -> T + Copy + 'static, T: Arithmetic>(_f: F) -> VectorOp
where
    u32: IntoNan<T>,
{
    arith::<T, E1<F, T, T>>(true)
}

/// Float arithmetic with two sources, hot.
pub fn a2<F: Fn(T, B) -> T + Copy + 'static, T: Arithmetic, B: Value + IntoNan<T>>(
    _f: F,
) -> VectorOp
where
    u32: IntoNan<T>,
{
    arith::<T, K2<F, T, B, T>>(true)
}

/// Float arithmetic with three sources, hot.
pub fn a3<F: Fn(T, T, T) -> T + Copy + 'static, T: Arithmetic + IntoNan<T>>(_f: F) -> VectorOp {
    arith::<T, K3<F, T, T, T, T>>(true)
}

/// A compare of two sources.
pub fn c2<F: Fn(A, B) -> bool + Copy + 'static, A: Value, B: Value>(_f: F) -> VectorOp {
    describe::<K2<F, A, B, bool>, u32>(hot::<Compare<K2<F, A, B, bool>>>(), Shape::Compare)
}

/// A compare of two sources and MODE.
pub fn ce2<F: Fn(Env, A, B) -> bool + Copy + 'static, A: Value, B: Value>(_f: F) -> VectorOp {
    describe::<E2<F, A, B, bool>, u32>(hot::<Compare<E2<F, A, B, bool>>>(), Shape::Compare)
}

/// Two sources, result and lane mask.
pub fn y2<F: Fn(A, B) -> (R, bool) + Copy + 'static, A: Value, B: Value, R: Value>(
    _f: F,
) -> VectorOp {
    describe::<K2<F, A, B, (R, bool)>, R>(hot::<Carry<K2<F, A, B, (R, bool)>>>(), Shape::Carry)
}

/// Two sources and a lane mask, result and lane mask.
pub fn ym2<F: Fn(A, B, bool) -> (R, bool) + Copy + 'static, A: Value, B: Value, R: Value>(
    _f: F,
) -> VectorOp {
    describe::<M2<F, A, B, (R, bool)>, R>(hot::<Carry<M2<F, A, B, (R, bool)>>>(), Shape::Carry)
}

/// Three sources, result and lane mask.
pub fn y3<F: Fn(A, B, C) -> (R, bool) + Copy + 'static, A: Value, B: Value, C: Value, R: Value>(
    _f: F,
) -> VectorOp {
    describe::<K3<F, A, B, C, (R, bool)>, R>(
        rare::<Carry<K3<F, A, B, C, (R, bool)>>>(),
        Shape::Carry,
    )
}

/// Three sources, result and lane mask, hot.
pub fn hy3<F: Fn(A, B, C) -> (R, bool) + Copy + 'static, A: Value, B: Value, C: Value, R: Value>(
    _f: F,
) -> VectorOp {
    type Of<F, A, B, C, R> = K3<F, A, B, C, (R, bool)>;
    describe::<Of<F, A, B, C, R>, R>(hot::<Carry<Of<F, A, B, C, R>>>(), Shape::Carry)
}
