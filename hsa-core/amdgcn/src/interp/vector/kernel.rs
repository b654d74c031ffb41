//! What one lane computes: kernels made of closures, and the sources that they get.

use std::marker::PhantomData;

use crate::ir::Op;

use super::{
    super::{run::set_mxcsr, wave::Wave},
    Env, GROUP, Value,
    operand::{Source, source},
};

/// What one lane computes. Unused operands have the type `u32`.
pub trait Kernel: 'static {
    /// First source.
    type A: Value;
    /// Second source.
    type B: Value;
    /// Third source.
    type C: Value;
    /// Result.
    type R;
    /// Number of sources.
    const ARITY: usize;
    /// Reads a lane mask as well, from `Op::s[3]`.
    const BIT: bool;
    /// The lane.
    fn call(env: Env, a: Self::A, b: Self::B, c: Self::C, bit: bool) -> Self::R;
}

/// Kernels made of closures that capture nothing: the closure's type is all there is.
macro_rules! closure_kernel {
    ($name:ident, ($($arg:ident: $ty:ident),*), $arity:literal, $bit:literal, $call:expr, [$($given:ident)*], ($($fn_arg:ty),*), $a:ty, $b:ty, $c:ty) => {
        /// A kernel of a closure.
        #[derive(Debug)]
        pub struct $name<F, $($ty,)* R>(PhantomData<(F, $($ty,)* R)>);

        impl<F, $($ty: Value,)* R: 'static> Kernel for $name<F, $($ty,)* R>
        where
            F: Fn($($fn_arg),*) -> R + Copy + 'static,
        {
            type A = $a;
            type B = $b;
            type C = $c;
            type R = R;
            const ARITY: usize = $arity;
            const BIT: bool = $bit;
            #[inline(always)]
            fn call(env: Env, a: Self::A, b: Self::B, c: Self::C, bit: bool) -> R {
                let call: fn(F, Env, Self::A, Self::B, Self::C, bool) -> R = $call;
                call(conjure::<F>(), env, a, b, c, bit)
            }
        }
    };
}

/// A value of a closure type that captures nothing.
#[inline(always)]
fn conjure<F: Copy>() -> F {
    const { assert!(size_of::<F>() == 0, "kernel closures capture nothing") };
    // SAFETY: a zero-sized Copy type that exists (the lowering was given one) has exactly one value and no bytes.
    unsafe { std::ptr::NonNull::<F>::dangling().read() }
}

closure_kernel!(K1, (a: A), 1, false, |f, _e, a, _b, _c, _m| f(a), [], (A), A, u32, u32);
closure_kernel!(K2, (a: A, b: B), 2, false, |f, _e, a, b, _c, _m| f(a, b), [], (A, B), A, B, u32);
closure_kernel!(K3, (a: A, b: B, c: C), 3, false, |f, _e, a, b, c, _m| f(a, b, c), [], (A, B, C), A, B, C);
closure_kernel!(E1, (a: A), 1, false, |f, e, a, _b, _c, _m| f(e, a), [], (Env, A), A, u32, u32);
closure_kernel!(E2, (a: A, b: B), 2, false, |f, e, a, b, _c, _m| f(e, a, b), [], (Env, A, B), A, B, u32);
closure_kernel!(E3, (a: A, b: B, c: C), 3, false, |f, e, a, b, c, _m| f(e, a, b, c), [], (Env, A, B, C), A, B, C);
closure_kernel!(M2, (a: A, b: B), 2, true, |f, _e, a, b, _c, m| f(a, b, m), [], (A, B, bool), A, B, u32);
closure_kernel!(M3, (a: A, b: B, c: C), 3, true, |f, _e, a, b, c, m| f(a, b, c, m), [], (A, B, C, bool), A, B, C);

/// The sources of a group of lanes, and the lane mask's bits.
type Group<K> = (
    [<K as Kernel>::A; GROUP],
    [<K as Kernel>::B; GROUP],
    [<K as Kernel>::C; GROUP],
    [bool; GROUP],
);

/// The sources of an operation, resolved.
pub(super) struct Sources<K: Kernel> {
    a: Source,
    b: Source,
    c: Source,
    bits: u64,
    env: Env,
    kernel: PhantomData<K>,
}

impl<K: Kernel> Sources<K> {
    #[inline(always)]
    pub(super) unsafe fn new(w: &mut Wave, op: &Op) -> Self {
        // SAFETY: by the caller: the operation is of this wave's program.
        unsafe {
            let a = source::<K::A>(w, op.s[0], 0);
            let b = if K::ARITY > 1 {
                source::<K::B>(w, op.s[1], 1)
            } else {
                a
            };
            let c = if K::ARITY > 2 {
                source::<K::C>(w, op.s[2], 2)
            } else {
                a
            };
            let bits = if K::BIT {
                w.mask(op.s[3].0 as usize)
            } else {
                0
            };
            Self {
                a,
                b,
                c,
                bits,
                env: Env { mode: w.mode },
                kernel: PhantomData,
            }
        }
    }

    #[inline(always)]
    pub(super) unsafe fn load(&self, group: usize) -> Group<K> {
        // SAFETY: by the construction of the sources.
        unsafe {
            let a = self.a.group::<K::A>(group);
            let b = if K::ARITY > 1 {
                self.b.group::<K::B>(group)
            } else {
                [K::B::default(); GROUP]
            };
            let c = if K::ARITY > 2 {
                self.c.group::<K::C>(group)
            } else {
                [K::C::default(); GROUP]
            };
            let bits = (self.bits >> (group * GROUP)) as u32;
            let m = if K::BIT {
                lanes!(lane => bits >> lane & 1 != 0)
            } else {
                [false; GROUP]
            };
            (a, b, c, m)
        }
    }

    /// Result of a lane.
    #[inline(always)]
    pub(super) unsafe fn compute_lane(&self, lane: usize) -> (K::R, K::A, K::B, K::C) {
        // SAFETY: by the construction of the sources.
        unsafe {
            let a = self.a.lane::<K::A>(lane);
            let b = if K::ARITY > 1 {
                self.b.lane::<K::B>(lane)
            } else {
                K::B::default()
            };
            let c = if K::ARITY > 2 {
                self.c.lane::<K::C>(lane)
            } else {
                K::C::default()
            };
            (
                K::call(self.env, a, b, c, self.bits >> lane & 1 != 0),
                a,
                b,
                c,
            )
        }
    }

    /// Results of a group.
    #[inline(always)]
    pub(super) unsafe fn compute(&self, group: usize) -> [K::R; GROUP] {
        // SAFETY: as above.
        let (a, b, c, m) = unsafe { self.load(group) };
        lanes!(lane => K::call(self.env, a[lane], b[lane], c[lane], m[lane]))
    }
}

/// Loads MODE's f64/f16 floating-point environment, if the operands are of that kind and it differs from f32's. Says whether it
/// did. (No closure around the lanes: it would be compiled without the level's features.)
#[inline(always)]
pub(super) unsafe fn enter_environment(w: &Wave, f64: bool) -> bool {
    let switch = f64 && w.mxcsr != w.mxcsr_f64;
    if switch {
        // SAFETY: the caller leaves the environment.
        unsafe { set_mxcsr(w.mxcsr_f64) };
    }
    switch
}

/// Undoes [`enter_environment`].
#[inline(always)]
pub(super) unsafe fn leave_environment(w: &Wave, switched: bool) {
    if switched {
        // SAFETY: the value that the run loop has set.
        unsafe { set_mxcsr(w.mxcsr) };
    }
}

pub(super) const fn any_f64<A: Value, B: Value, C: Value, R: Value>() -> bool {
    A::F64 || B::F64 || C::F64 || R::F64
}

#[inline(always)]
pub(super) fn is_full(w: &mut Wave) -> bool {
    let exec = w.exec();
    if exec == w.full_mask {
        return true;
    }
    w.refresh_mask();
    false
}
