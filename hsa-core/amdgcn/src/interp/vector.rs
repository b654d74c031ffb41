//! The shapes of vector handlers.
//!
//! A [`Kernel`] says what one lane computes. A [`Body`] wraps it into a handler: for each group of sixteen lanes load the
//! sources, call the kernel in every lane, store under EXEC. Bodies are generic over a [`Simd`] level and are instantiated inside
//! functions with that level's target features, so that the lane loops become vector code. Sixteen lanes are two AVX2 registers or
//! one AVX-512 register.
//!
//! Sources are vector registers, temporaries, pool constants (one 64-byte line that is read again for every group) or scalar
//! registers (splatted into such a line first). Lanes are independent, so a destination may be any of the sources.
//!
//! NaN results of arithmetic are made explicit, so that they do not depend on how the host's compiler orders operands: a group
//! in which a result is NaN is computed again lane by lane in [`nan_result`].

use std::marker::PhantomData;

use crate::ir::{Op, Ref};

use super::{
    run::{Handler, set_mxcsr},
    wave::{Lanes, Wave, mode, slot},
};

/// Lanes of a group.
pub const GROUP: usize = 16;

/// An array with an expression for each lane of a group. A loop rather than `array::from_fn`: a closure that is not inlined would be
/// compiled without the level's features.
macro_rules! lanes {
    ($lane:ident => $value:expr) => {{
        let mut out = std::mem::MaybeUninit::<[_; GROUP]>::uninit();
        for $lane in 0..GROUP {
            fill(&mut out, $lane, $value);
        }
        // SAFETY: every lane was written.
        #[allow(unused_unsafe, reason = "also used inside of unsafe blocks")]
        unsafe {
            out.assume_init()
        }
    }};
}

/// Writes a lane of a group that is being filled; `lane` is below [`GROUP`].
#[inline(always)]
fn fill<T>(group: &mut std::mem::MaybeUninit<[T; GROUP]>, lane: usize, value: T) {
    debug_assert!(lane < GROUP);
    // SAFETY: inside the array: the callers' loops end at its length.
    unsafe { group.as_mut_ptr().cast::<T>().add(lane).write(value) };
}

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
pub trait Arithmetic: Value {
    /// Is a NaN.
    fn nan(self) -> bool;
    /// The NaN, quiet.
    fn quiet(self) -> Self;
    /// The NaN of an invalid operation.
    const DEFAULT_NAN: Self;
    /// Whether any of the group is NaN.
    ///
    /// # Safety
    /// The host has the level's features.
    unsafe fn any_nan<L: Simd>(values: &[Self; GROUP]) -> bool;
}

impl Arithmetic for f32 {
    #[inline(always)]
    fn nan(self) -> bool {
        self.is_nan()
    }
    #[inline(always)]
    fn quiet(self) -> Self {
        f32::from_bits(self.to_bits() | 0x0040_0000)
    }
    const DEFAULT_NAN: Self = f32::from_bits(0x7fc0_0000);
    #[inline(always)]
    unsafe fn any_nan<L: Simd>(values: &[Self; GROUP]) -> bool {
        // SAFETY: by the caller.
        unsafe { L::any_nan_f32(values) }
    }
}

impl Arithmetic for f64 {
    #[inline(always)]
    fn nan(self) -> bool {
        self.is_nan()
    }
    #[inline(always)]
    fn quiet(self) -> Self {
        f64::from_bits(self.to_bits() | 1 << 51)
    }
    const DEFAULT_NAN: Self = f64::from_bits(0x7ff8_0000_0000_0000);
    #[inline(always)]
    unsafe fn any_nan<L: Simd>(values: &[Self; GROUP]) -> bool {
        // SAFETY: by the caller.
        unsafe { L::any_nan_f64(values) }
    }
}

/// The few things that differ between levels beyond what the compiler makes of a lane loop.
pub trait Simd: 'static {
    /// Bit n is the top bit of lane n.
    ///
    /// # Safety
    /// The host has the level's features.
    unsafe fn movemask(lanes: &[u32; GROUP]) -> u32;
    /// Whether any lane is NaN.
    ///
    /// # Safety
    /// The host has the level's features.
    unsafe fn any_nan_f32(lanes: &[f32; GROUP]) -> bool;
    /// Whether any lane is NaN.
    ///
    /// # Safety
    /// The host has the level's features.
    unsafe fn any_nan_f64(lanes: &[f64; GROUP]) -> bool;
}

/// Baseline.
#[derive(Debug)]
pub struct Portable;
/// AVX2, FMA, F16C, BMI.
#[derive(Debug)]
pub struct Avx2;
/// AVX-512 F, BW, DQ, VL.
#[derive(Debug)]
pub struct Avx512;

impl Simd for Portable {
    #[inline(always)]
    unsafe fn movemask(lanes: &[u32; GROUP]) -> u32 {
        let mut mask = 0;
        for (lane, value) in lanes.iter().enumerate() {
            mask |= (value >> 31) << lane;
        }
        mask
    }
    #[inline(always)]
    unsafe fn any_nan_f32(lanes: &[f32; GROUP]) -> bool {
        lanes.iter().fold(false, |any, value| any | value.is_nan())
    }
    #[inline(always)]
    unsafe fn any_nan_f64(lanes: &[f64; GROUP]) -> bool {
        lanes.iter().fold(false, |any, value| any | value.is_nan())
    }
}

/// `vmovmskps`, as itself: the compiler makes a longer sequence of packs from the intrinsic of two compare results.
#[inline]
#[target_feature(enable = "avx2")]
fn sign_bits(lanes: core::arch::x86_64::__m256) -> u32 {
    let bits: u32;
    // SAFETY: reads one register and writes another.
    unsafe {
        core::arch::asm!("vmovmskps {bits:e}, {lanes}", lanes = in(ymm_reg) lanes, bits = lateout(reg) bits,
            options(pure, nomem, nostack, preserves_flags));
    }
    bits
}

impl Simd for Avx2 {
    #[inline(always)]
    unsafe fn movemask(lanes: &[u32; GROUP]) -> u32 {
        use core::arch::x86_64::_mm256_loadu_ps;
        // SAFETY: AVX by the caller; both halves are inside the array.
        unsafe {
            let low = sign_bits(_mm256_loadu_ps(lanes.as_ptr().cast()));
            let high = sign_bits(_mm256_loadu_ps(lanes.as_ptr().add(8).cast()));
            low | (high << 8)
        }
    }
    #[inline(always)]
    unsafe fn any_nan_f32(lanes: &[f32; GROUP]) -> bool {
        use core::arch::x86_64::{
            _CMP_UNORD_Q, _mm256_cmp_ps, _mm256_loadu_ps, _mm256_movemask_ps,
        };
        // SAFETY: AVX by the caller; both halves are inside the array.
        unsafe {
            let low = _mm256_loadu_ps(lanes.as_ptr());
            let high = _mm256_loadu_ps(lanes.as_ptr().add(8));
            _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_UNORD_Q>(low, high)) != 0
        }
    }
    #[inline(always)]
    unsafe fn any_nan_f64(lanes: &[f64; GROUP]) -> bool {
        use core::arch::x86_64::{
            _CMP_UNORD_Q, _mm256_cmp_pd, _mm256_loadu_pd, _mm256_movemask_pd, _mm256_or_pd,
        };
        // SAFETY: AVX by the caller; all quarters are inside the array.
        unsafe {
            let at = |index: usize| _mm256_loadu_pd(lanes.as_ptr().add(4 * index));
            let low = _mm256_cmp_pd::<_CMP_UNORD_Q>(at(0), at(1));
            let high = _mm256_cmp_pd::<_CMP_UNORD_Q>(at(2), at(3));
            _mm256_movemask_pd(_mm256_or_pd(low, high)) != 0
        }
    }
}

impl Simd for Avx512 {
    #[inline(always)]
    unsafe fn movemask(lanes: &[u32; GROUP]) -> u32 {
        use core::arch::x86_64::{_mm512_loadu_si512, _mm512_movepi32_mask};
        // SAFETY: AVX-512 DQ by the caller; the array is 64 bytes.
        unsafe {
            u32::from(_mm512_movepi32_mask(_mm512_loadu_si512(
                lanes.as_ptr().cast(),
            )))
        }
    }
    #[inline(always)]
    unsafe fn any_nan_f32(lanes: &[f32; GROUP]) -> bool {
        use core::arch::x86_64::{_CMP_UNORD_Q, _mm512_cmp_ps_mask, _mm512_loadu_ps};
        // SAFETY: AVX-512 F by the caller; the array is 64 bytes.
        unsafe {
            let all = _mm512_loadu_ps(lanes.as_ptr());
            _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(all, all) != 0
        }
    }
    #[inline(always)]
    unsafe fn any_nan_f64(lanes: &[f64; GROUP]) -> bool {
        use core::arch::x86_64::{_CMP_UNORD_Q, _mm512_cmp_pd_mask, _mm512_loadu_pd};
        // SAFETY: AVX-512 F by the caller; the array is 128 bytes.
        unsafe {
            _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(
                _mm512_loadu_pd(lanes.as_ptr()),
                _mm512_loadu_pd(lanes.as_ptr().add(8)),
            ) != 0
        }
    }
}

/// Something that runs as a handler: at a SIMD level, or lane by lane.
pub trait Body: 'static {
    /// The handler.
    ///
    /// # Safety
    /// As for all handlers; and the host has the level's features.
    unsafe fn run<L: Simd>(w: &mut Wave, op: *const Op) -> *const Op;

    /// The handler, one lane after the other: small, for the portable level and for rare operations.
    ///
    /// # Safety
    /// As for all handlers.
    unsafe fn run_lanes(w: &mut Wave, op: *const Op) -> *const Op;
}

unsafe fn portable<B: Body>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: by the caller; no features needed.
    unsafe { B::run_lanes(w, op) }
}

#[cfg(not(debug_assertions))]
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn avx2<B: Body>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: by the caller.
    unsafe { B::run::<Avx2>(w, op) }
}

/// Instantiations of a body: lane by lane for the portable level, AVX2 for the others. Builds with debug assertions have the
/// portable ones alone: the others are what takes long to compile.
pub fn hot<B: Body>() -> [Handler; 3] {
    #[cfg(not(debug_assertions))]
    {
        [portable::<B>, avx2::<B>, avx2::<B>]
    }
    #[cfg(debug_assertions)]
    {
        rare::<B>()
    }
}

/// A body that runs lane by lane at every level: rare operations.
pub fn rare<B: Body>() -> [Handler; 3] {
    [portable::<B>; 3]
}

/// A resolved source.
#[derive(Clone, Copy)]
struct Source {
    at: *const u8,
    /// Bytes to the next group of lanes; 0 for a splat.
    step: usize,
    /// Bytes to the second dword.
    next: usize,
}

/// First temporary that splats of scalar sources use, one for each source.
const SPLAT: usize = super::wave::TEMPS - 4;

#[inline(always)]
unsafe fn source<V: Value>(w: &mut Wave, reference: Ref, number: usize) -> Source {
    let selector = reference.selector() as usize;
    let offset = reference.offset() as usize;
    // SAFETY: the lowering made the reference: it is inside its base, second dword included.
    unsafe {
        if selector == Ref::SCALAR as usize {
            let scalar: *const u32 = w.sgpr.as_ptr().byte_add(offset);
            let line: *mut [u32; GROUP] = w.temps[SPLAT + number].0.as_mut_ptr().cast();
            *line = [*scalar; GROUP];
            if V::DWORDS == 2 {
                *line.add(1) = [*scalar.add(1); GROUP];
            }
            return Source {
                at: line.cast(),
                step: 0,
                next: 64,
            };
        }
        let base = *w.base.get_unchecked(selector);
        let (step, next) = match selector {
            0 => (64, w.chunks * 64),
            1 => (0, 64),
            _ => (64, size_of::<Lanes>()),
        };
        Source {
            at: base.add(offset),
            step,
            next,
        }
    }
}

impl Source {
    #[inline(always)]
    unsafe fn lane<V: Value>(self, lane: usize) -> V {
        // SAFETY: by the construction of the source.
        unsafe {
            let at = self.at.add(lane / GROUP * self.step + lane % GROUP * 4);
            V::from_dwords(
                *at.cast(),
                if V::DWORDS == 1 {
                    0
                } else {
                    *at.add(self.next).cast()
                },
            )
        }
    }

    #[inline(always)]
    unsafe fn group<V: Value>(self, group: usize) -> [V; GROUP] {
        // SAFETY: by the construction of the source.
        unsafe {
            let at = self.at.add(group * self.step);
            let low: [u32; GROUP] = *at.cast();
            if V::DWORDS == 1 {
                lanes!(lane => V::from_dwords(low[lane], 0))
            } else {
                let high: [u32; GROUP] = *at.add(self.next).cast();
                lanes!(lane => V::from_dwords(low[lane], high[lane]))
            }
        }
    }
}

/// A vector destination.
#[derive(Clone, Copy)]
struct Target {
    at: *mut u8,
    next: usize,
}

/// `Op::d` refers to a temporary instead of a register when this bit is set.
pub const TEMP_DST: u32 = 1 << 31;

#[inline(always)]
unsafe fn target(w: &mut Wave, d: u32) -> Target {
    // SAFETY: the lowering made the offset.
    unsafe {
        if d & TEMP_DST == 0 {
            Target {
                at: w.base[0].add(d as usize),
                next: w.chunks * 64,
            }
        } else {
            Target {
                at: w.base[2].add((d & !TEMP_DST) as usize),
                next: size_of::<Lanes>(),
            }
        }
    }
}

impl Target {
    /// Stores one lane.
    #[inline(always)]
    unsafe fn put_lane<V: Value>(self, lane: usize, value: V) {
        let (low, high) = value.to_dwords();
        // SAFETY: inside the file or the temporaries.
        unsafe {
            let at = self.at.add(4 * lane);
            *at.cast() = low;
            if V::DWORDS == 2 {
                *at.add(self.next).cast() = high;
            }
        }
    }

    /// Stores a group under EXEC.
    #[inline(always)]
    unsafe fn put<V: Value>(self, w: &Wave, full: bool, group: usize, values: &[V; GROUP]) {
        let low: [u32; GROUP] = lanes!(lane => values[lane].to_dwords().0);
        // SAFETY: inside the file or the temporaries.
        unsafe {
            let at = self.at.add(group * 64);
            put_line(w, full, group, at, &low);
            if V::DWORDS == 2 {
                let high: [u32; GROUP] = lanes!(lane => values[lane].to_dwords().1);
                put_line(w, full, group, at.add(self.next), &high);
            }
        }
    }
}

#[inline(always)]
unsafe fn put_line(w: &Wave, full: bool, group: usize, at: *mut u8, line: &[u32; GROUP]) {
    // SAFETY: by the caller.
    unsafe {
        let at: *mut [u32; GROUP] = at.cast();
        if full {
            *at = *line;
        } else {
            let mask: [u32; GROUP] = *w.mask_lanes.0.as_ptr().add(group * GROUP).cast();
            let old = *at;
            *at = lanes!(lane => (line[lane] & mask[lane]) | (old[lane] & !mask[lane]));
        }
    }
}

/// Applies a function to all lanes of `s[0]`, into `d`, whatever EXEC is.
///
/// # Safety
/// The operation is of the wave's program.
#[inline(always)]
pub unsafe fn change_all<V: Value>(w: &mut Wave, op: &Op, change: impl Fn(V) -> V) {
    // SAFETY: by the caller.
    unsafe {
        let from = source::<V>(w, op.s[0], 0);
        let to = target(w, op.d);
        for group in 0..w.chunks {
            let values = from.group::<V>(group);
            to.put(w, true, group, &lanes!(lane => change(values[lane])));
        }
    }
}

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
struct Sources<K: Kernel> {
    a: Source,
    b: Source,
    c: Source,
    bits: u64,
    env: Env,
    kernel: PhantomData<K>,
}

impl<K: Kernel> Sources<K> {
    #[inline(always)]
    unsafe fn new(w: &mut Wave, op: &Op) -> Self {
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
    unsafe fn load(&self, group: usize) -> Group<K> {
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
    unsafe fn compute_lane(&self, lane: usize) -> (K::R, K::A, K::B, K::C) {
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
    unsafe fn compute(&self, group: usize) -> [K::R; GROUP] {
        // SAFETY: as above.
        let (a, b, c, m) = unsafe { self.load(group) };
        lanes!(lane => K::call(self.env, a[lane], b[lane], c[lane], m[lane]))
    }
}

/// Loads MODE's f64/f16 floating-point environment, if the operands are of that kind and it differs from f32's. Says whether it
/// did. (No closure around the lanes: it would be compiled without the level's features.)
#[inline(always)]
unsafe fn enter_environment(w: &Wave, f64: bool) -> bool {
    let switch = f64 && w.mxcsr != w.mxcsr_f64;
    if switch {
        // SAFETY: the caller leaves the environment.
        unsafe { set_mxcsr(w.mxcsr_f64) };
    }
    switch
}

/// Undoes [`enter_environment`].
#[inline(always)]
unsafe fn leave_environment(w: &Wave, switched: bool) {
    if switched {
        // SAFETY: the value that the run loop has set.
        unsafe { set_mxcsr(w.mxcsr) };
    }
}

const fn any_f64<A: Value, B: Value, C: Value, R: Value>() -> bool {
    A::F64 || B::F64 || C::F64 || R::F64
}

#[inline(always)]
fn is_full(w: &mut Wave) -> bool {
    let exec = w.exec();
    if exec == w.full_mask {
        return true;
    }
    w.refresh_mask();
    false
}

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

/// `v_mbcnt_lo_u32_b32`, `v_mbcnt_hi_u32_b32`: bits of the first source below this lane, plus the second source.
#[derive(Debug)]
pub struct MaskedBitCount<const HIGH: bool>;

impl<const HIGH: bool> Body for MaskedBitCount<HIGH> {
    #[inline(always)]
    unsafe fn run<L: Simd>(w: &mut Wave, op: *const Op) -> *const Op {
        // SAFETY: by the caller.
        unsafe {
            let full = is_full(w);
            let (a, b) = (
                source::<u32>(w, (*op).s[0], 0),
                source::<u32>(w, (*op).s[1], 1),
            );
            let target = target(w, (*op).d);
            for group in 0..w.chunks {
                let (x, y) = (a.group::<u32>(group), b.group::<u32>(group));
                let result: [u32; GROUP] = lanes!(lane => {
                    let index = (group * GROUP + lane) as u32;
                    let below = (1u64 << index) - 1;
                    let below = if HIGH {
                        (below >> 32) as u32
                    } else {
                        below as u32
                    };
                    (x[lane] & below).count_ones().wrapping_add(y[lane])
                });
                target.put(w, full, group, &result);
            }
            op.add(1)
        }
    }

    unsafe fn run_lanes(w: &mut Wave, op: *const Op) -> *const Op {
        // SAFETY: no features are needed for this instantiation.
        unsafe { Self::run::<Portable>(w, op) }
    }
}

/// Descriptor of [`MaskedBitCount`].
pub fn masked_bit_count<const HIGH: bool>() -> VectorOp {
    VectorOp {
        run: hot::<MaskedBitCount<HIGH>>(),
        ..k2(|a: u32, b: u32| a.wrapping_add(b))
    }
}

/// `v_lshlrev_b64`, in halves, so that the lanes of the two registers need not be interleaved. Every address has one.
#[derive(Debug)]
pub struct ShiftLeft64;

impl Body for ShiftLeft64 {
    #[inline(always)]
    unsafe fn run<L: Simd>(w: &mut Wave, op: *const Op) -> *const Op {
        // Vector shifts by 32 and more give 0, which the combination below relies on.
        let left = |value: u32, by: u32| if by < 32 { value << by } else { 0 };
        let right = |value: u32, by: u32| if by < 32 { value >> by } else { 0 };
        // SAFETY: by the caller.
        unsafe {
            let full = is_full(w);
            let (a, b) = (
                source::<u32>(w, (*op).s[0], 0),
                source::<u64>(w, (*op).s[1], 1),
            );
            let target = target(w, (*op).d);
            for group in 0..w.chunks {
                let amount = a.group::<u32>(group);
                let at = b.at.add(group * b.step);
                let (low, high): ([u32; GROUP], [u32; GROUP]) =
                    (*at.cast(), *at.add(b.next).cast());
                let new_low = lanes!(lane => left(low[lane], amount[lane] & 63));
                let new_high = lanes!(lane => {
                    let by = amount[lane] & 63;
                    // The low half's bits that move across: from below when the amount is small, from above when it is 32 or more.
                    left(high[lane], by)
                        | right(low[lane], 32u32.wrapping_sub(by))
                        | left(low[lane], by.wrapping_sub(32))
                });
                let at = target.at.add(group * 64);
                put_line(w, full, group, at, &new_low);
                put_line(w, full, group, at.add(target.next), &new_high);
            }
            op.add(1)
        }
    }

    unsafe fn run_lanes(w: &mut Wave, op: *const Op) -> *const Op {
        // SAFETY: no features are needed for this instantiation.
        unsafe { Self::run::<Portable>(w, op) }
    }
}

/// Descriptor of [`ShiftLeft64`].
pub fn shift_left_64() -> VectorOp {
    VectorOp {
        run: hot::<ShiftLeft64>(),
        ..k2(|a: u32, b: u64| b << (a & 63))
    }
}

/// `v_add_co_u32` and the `v_addc_co_u32` right after it in one, for both through one lane mask: the carry need not leave the vector
/// registers in between. The operation after `op` is the second one, whole, for jumps to it; this handler goes on behind it.
///
/// The second operation reads neither the first one's result nor the mask except as its carry.
#[derive(Debug)]
pub struct AddPair;

impl Body for AddPair {
    #[inline(always)]
    unsafe fn run<L: Simd>(w: &mut Wave, op: *const Op) -> *const Op {
        // SAFETY: by the caller; the lowering has put the second operation behind the first.
        unsafe {
            let full = is_full(w);
            let (first, second) = (&*op, &*op.add(1));
            let (a, b) = (
                source::<u32>(w, first.s[0], 0),
                source::<u32>(w, first.s[1], 1),
            );
            let (c, d) = (
                source::<u32>(w, second.s[0], 2),
                source::<u32>(w, second.s[1], 3),
            );
            let (low, high) = (target(w, first.d), target(w, second.d));
            let mut mask = 0;
            for group in 0..w.chunks {
                let (a, b) = (a.group::<u32>(group), b.group::<u32>(group));
                let (c, d) = (c.group::<u32>(group), d.group::<u32>(group));
                let sum = lanes!(lane => a[lane].wrapping_add(b[lane]));
                let part = lanes!(lane => c[lane].wrapping_add(d[lane]));
                let total = lanes!(lane => part[lane].wrapping_add(u32::from(sum[lane] < a[lane])));
                let carry = lanes!(lane => {
                    0u32.wrapping_sub(u32::from(
                        (part[lane] < c[lane]) | (total[lane] < part[lane]),
                    ))
                });
                mask |= u64::from(L::movemask(&carry)) << (group * GROUP);
                low.put(w, full, group, &sum);
                high.put(w, full, group, &total);
            }
            let mask = mask & w.exec();
            w.set_mask(second.d2 as usize, mask);
            op.add(2)
        }
    }

    unsafe fn run_lanes(w: &mut Wave, op: *const Op) -> *const Op {
        // SAFETY: no features are needed for this instantiation.
        unsafe { Self::run::<Portable>(w, op) }
    }
}
