//! The shapes of handlers: a value for each lane, arithmetic with explicit NaNs, a value and a lane mask, a lane mask.

use std::marker::PhantomData;

use crate::ir::Op;

use super::{
    super::wave::{Wave, slot},
    Arithmetic, Body, GROUP, Simd, Value,
    kernel::{Kernel, Sources, any_f64, enter_environment, is_full, leave_environment},
    operand::{Target, target},
};

/// One value per lane into a vector destination.
#[derive(Debug)]
pub struct Map<K>(PhantomData<K>);

impl<K: Kernel<R: Value>> Body for Map<K> {
    #[inline(always)]
    unsafe fn run<L: Simd>(w: &mut Wave, op: *const Op) -> *const Op {
        // SAFETY: by the caller.
        unsafe {
            let full = is_full(w);
            let switched = enter_environment(w, any_f64::<K::A, K::B, K::C, K::R>());
            let sources = Sources::<K>::new(w, &*op);
            let target = target(w, (*op).d);
            for group in 0..w.chunks {
                let result = sources.compute(group);
                target.put(w, full, group, &result);
            }
            leave_environment(w, switched);
            op.add(1)
        }
    }

    unsafe fn run_lanes(w: &mut Wave, op: *const Op) -> *const Op {
        // SAFETY: by the caller.
        unsafe {
            let switched = enter_environment(w, any_f64::<K::A, K::B, K::C, K::R>());
            let sources = Sources::<K>::new(w, &*op);
            let target = target(w, (*op).d);
            each_lane(w.exec(), |lane| {
                target.put_lane(lane, sources.compute_lane(lane).0)
            });
            leave_environment(w, switched);
            op.add(1)
        }
    }
}

/// Float arithmetic: as [`Map`], and a NaN result is the first source that is NaN, quiet, else the default NaN.
#[derive(Debug)]
pub struct Arith<K>(PhantomData<K>);

impl<T: Arithmetic, K: Kernel<A = T, R = T>> Body for Arith<K>
where
    K::B: IntoNan<T>,
    K::C: IntoNan<T>,
{
    #[inline(always)]
    unsafe fn run<L: Simd>(w: &mut Wave, op: *const Op) -> *const Op {
        // SAFETY: by the caller.
        unsafe {
            let full = is_full(w);
            let switched = enter_environment(w, T::F64);
            let sources = Sources::<K>::new(w, &*op);
            let target = target(w, (*op).d);
            for group in 0..w.chunks {
                let result = sources.compute(group);
                if T::any_nan::<L>(&result) {
                    nan_group::<T, K>(w, op, group);
                } else {
                    target.put(w, full, group, &result);
                }
            }
            leave_environment(w, switched);
            op.add(1)
        }
    }

    unsafe fn run_lanes(w: &mut Wave, op: *const Op) -> *const Op {
        // SAFETY: by the caller.
        unsafe {
            let switched = enter_environment(w, T::F64);
            let sources = Sources::<K>::new(w, &*op);
            let target = target(w, (*op).d);
            each_lane(w.exec(), |lane| nan_lane::<T, K>(&sources, lane, target));
            leave_environment(w, switched);
            op.add(1)
        }
    }
}

/// Calls `f` for each lane of a mask.
#[inline(always)]
fn each_lane(mut mask: u64, mut f: impl FnMut(usize)) {
    while mask != 0 {
        f(mask.trailing_zeros() as usize);
        mask &= mask - 1;
    }
}

/// A source as a float of type `T` that may be NaN; integers never are.
pub trait IntoNan<T> {
    /// The float.
    fn into_nan(self) -> Option<T>;
}

impl IntoNan<f32> for f32 {
    fn into_nan(self) -> Option<f32> {
        Some(self)
    }
}

impl IntoNan<f64> for f64 {
    fn into_nan(self) -> Option<f64> {
        Some(self)
    }
}

impl<T> IntoNan<T> for u32 {
    fn into_nan(self) -> Option<T> {
        None
    }
}

impl<T> IntoNan<T> for i32 {
    fn into_nan(self) -> Option<T> {
        None
    }
}

#[cold]
#[inline(never)]
unsafe fn nan_group<T: Arithmetic, K: Kernel<A = T, R = T>>(
    w: &mut Wave,
    op: *const Op,
    group: usize,
) where
    K::B: IntoNan<T>,
    K::C: IntoNan<T>,
{
    // SAFETY: by the caller.
    unsafe {
        let sources = Sources::<K>::new(w, &*op);
        let target = target(w, (*op).d);
        each_lane(w.exec() & 0xffff << (group * GROUP), |lane| {
            nan_lane::<T, K>(&sources, lane, target);
        });
    }
}

#[inline(always)]
unsafe fn nan_lane<T: Arithmetic, K: Kernel<A = T, R = T>>(
    sources: &Sources<K>,
    lane: usize,
    target: Target,
) where
    K::B: IntoNan<T>,
    K::C: IntoNan<T>,
{
    // SAFETY: by the caller.
    unsafe {
        let (result, a, b, c) = sources.compute_lane(lane);
        target.put_lane(
            lane,
            nan_result(result, [Some(a), b.into_nan(), c.into_nan()]),
        );
    }
}

/// The result of an arithmetic operation whose plain result is `result`: a NaN becomes the first NaN source, quiet, or the default
/// NaN.
pub fn nan_result<T: Arithmetic>(result: T, sources: [Option<T>; 3]) -> T {
    if !result.nan() {
        return result;
    }
    match sources.into_iter().flatten().find(|source| source.nan()) {
        Some(source) => source.quiet(),
        None => T::DEFAULT_NAN,
    }
}

/// A value and a lane mask: carry-out, `v_div_scale`. The mask goes to the scalar slot `Op::d2`; bits of inactive lanes are 0.
#[derive(Debug)]
pub struct Carry<K>(PhantomData<K>);

impl<V: Value, K: Kernel<R = (V, bool)>> Body for Carry<K> {
    #[inline(always)]
    unsafe fn run<L: Simd>(w: &mut Wave, op: *const Op) -> *const Op {
        // SAFETY: by the caller.
        unsafe {
            let full = is_full(w);
            let switched = enter_environment(w, any_f64::<K::A, K::B, K::C, V>());
            let sources = Sources::<K>::new(w, &*op);
            let target = target(w, (*op).d);
            let mut mask = 0;
            for group in 0..w.chunks {
                let result = sources.compute(group);
                let bits: [u32; GROUP] =
                    lanes!(lane => 0u32.wrapping_sub(u32::from(result[lane].1)));
                mask |= u64::from(L::movemask(&bits)) << (group * GROUP);
                let values: [V; GROUP] = lanes!(lane => result[lane].0);
                target.put(w, full, group, &values);
            }
            let mask = mask & w.exec();
            w.set_mask((*op).d2 as usize, mask);
            leave_environment(w, switched);
            op.add(1)
        }
    }

    unsafe fn run_lanes(w: &mut Wave, op: *const Op) -> *const Op {
        // SAFETY: by the caller.
        unsafe {
            let switched = enter_environment(w, any_f64::<K::A, K::B, K::C, V>());
            let sources = Sources::<K>::new(w, &*op);
            let target = target(w, (*op).d);
            let mut mask = 0;
            each_lane(w.exec(), |lane| {
                let (value, bit) = sources.compute_lane(lane).0;
                target.put_lane(lane, value);
                mask |= u64::from(bit) << lane;
            });
            w.set_mask((*op).d2 as usize, mask);
            leave_environment(w, switched);
            op.add(1)
        }
    }
}

/// A lane mask into the scalar slot `Op::d`; into EXEC as well if `Op::d2` is not 0. The negation if `Op::aux[0]` is not 0. Bits of
/// inactive lanes are 0.
#[derive(Debug)]
pub struct Compare<K>(PhantomData<K>);

impl<K: Kernel<R = bool>> Body for Compare<K> {
    #[inline(always)]
    unsafe fn run<L: Simd>(w: &mut Wave, op: *const Op) -> *const Op {
        // SAFETY: by the caller.
        unsafe {
            let switched = enter_environment(w, any_f64::<K::A, K::B, K::C, u32>());
            let sources = Sources::<K>::new(w, &*op);
            let mut mask = 0;
            for group in 0..w.chunks {
                let result = sources.compute(group);
                let bits: [u32; GROUP] = lanes!(lane => 0u32.wrapping_sub(u32::from(result[lane])));
                mask |= u64::from(L::movemask(&bits)) << (group * GROUP);
            }
            put_compare(w, &*op, mask);
            leave_environment(w, switched);
            op.add(1)
        }
    }

    unsafe fn run_lanes(w: &mut Wave, op: *const Op) -> *const Op {
        // SAFETY: by the caller.
        unsafe {
            let switched = enter_environment(w, any_f64::<K::A, K::B, K::C, u32>());
            let sources = Sources::<K>::new(w, &*op);
            let mut mask = 0;
            each_lane(w.exec(), |lane| {
                mask |= u64::from(sources.compute_lane(lane).0) << lane
            });
            put_compare(w, &*op, mask);
            leave_environment(w, switched);
            op.add(1)
        }
    }
}

#[inline(always)]
fn put_compare(w: &mut Wave, op: &Op, mask: u64) {
    let mask = (if op.aux[0] == 0 { mask } else { !mask }) & w.exec();
    w.set_mask(op.d as usize, mask);
    if op.d2 != 0 {
        w.set_mask(slot::EXEC, mask);
    }
}
