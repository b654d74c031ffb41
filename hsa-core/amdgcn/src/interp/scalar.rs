//! The shapes of scalar handlers: closures on one or two 32- or 64-bit values, with or without SCC.

use std::marker::PhantomData;

use crate::ir::{Op, Ref};

use super::{
    run::Handler,
    wave::{Wave, slot},
};

/// A scalar value: one or two dwords.
pub trait Word: Copy + 'static {
    /// Dwords.
    const DWORDS: u32;
    /// Reads it.
    ///
    /// # Safety
    /// `at` points to that many dwords `step` dwords apart.
    unsafe fn read(at: *const u32, step: usize) -> Self;
    /// Writes it to a slot.
    fn write(self, w: &mut Wave, index: usize);
}

macro_rules! words {
    ($($narrow:ty, $wide:ty;)*) => { $(
        impl Word for $narrow {
            const DWORDS: u32 = 1;
            #[inline(always)]
            unsafe fn read(at: *const u32, _step: usize) -> Self {
                // SAFETY: by the caller.
                unsafe { *at as $narrow }
            }
            #[inline(always)]
            fn write(self, w: &mut Wave, index: usize) {
                w.sgpr[index] = self as u32;
            }
        }
        impl Word for $wide {
            const DWORDS: u32 = 2;
            #[inline(always)]
            unsafe fn read(at: *const u32, step: usize) -> Self {
                // SAFETY: by the caller.
                unsafe { (u64::from(*at) | u64::from(*at.add(step)) << 32) as $wide }
            }
            #[inline(always)]
            fn write(self, w: &mut Wave, index: usize) {
                w.set_pair(index, self as u64);
            }
        }
    )* };
}

words! {
    u32, u64;
    i32, i64;
}

impl Word for f32 {
    const DWORDS: u32 = 1;
    #[inline(always)]
    unsafe fn read(at: *const u32, _step: usize) -> Self {
        // SAFETY: by the caller.
        unsafe { f32::from_bits(*at) }
    }
    #[inline(always)]
    fn write(self, w: &mut Wave, index: usize) {
        w.sgpr[index] = self.to_bits();
    }
}

#[inline(always)]
unsafe fn read<T: Word>(w: &Wave, reference: Ref) -> T {
    // SAFETY: the lowering made the reference: a scalar slot or pool lines (sixteen dwords apart).
    unsafe {
        let at = w
            .base
            .get_unchecked(reference.selector() as usize)
            .add(reference.offset() as usize)
            .cast();
        T::read(
            at,
            if reference.selector() == Ref::POOL {
                16
            } else {
                1
            },
        )
    }
}

/// What an operation does with its result.
pub trait Outcome: 'static {
    /// Dwords of the destination; 0 if there is none.
    const DWORDS: u32;
    /// Writes destination and SCC.
    fn put(self, w: &mut Wave, index: usize);
}

/// A result that leaves SCC alone.
#[derive(Clone, Copy, Debug)]
pub struct Plain<T>(pub T);
/// A result and SCC.
#[derive(Clone, Copy, Debug)]
pub struct WithScc<T>(pub T, pub bool);
/// SCC alone.
#[derive(Clone, Copy, Debug)]
pub struct Scc(pub bool);

impl<T: Word> Outcome for Plain<T> {
    const DWORDS: u32 = T::DWORDS;
    #[inline(always)]
    fn put(self, w: &mut Wave, index: usize) {
        self.0.write(w, index);
    }
}

impl<T: Word> Outcome for WithScc<T> {
    const DWORDS: u32 = T::DWORDS;
    #[inline(always)]
    fn put(self, w: &mut Wave, index: usize) {
        self.0.write(w, index);
        w.sgpr[slot::SCC] = u32::from(self.1);
    }
}

impl Outcome for Scc {
    const DWORDS: u32 = 0;
    #[inline(always)]
    fn put(self, w: &mut Wave, _index: usize) {
        w.sgpr[slot::SCC] = u32::from(self.0);
    }
}

#[inline(always)]
pub(crate) fn conjure<F: Copy>() -> F {
    const { assert!(size_of::<F>() == 0, "scalar closures capture nothing") };
    // SAFETY: a zero-sized Copy type that exists has exactly one value and no bytes.
    unsafe { std::ptr::NonNull::<F>::dangling().read() }
}

/// A lowered scalar operation: handler and operand widths in dwords.
#[derive(Clone, Copy, Debug)]
pub struct ScalarOp {
    /// Handler.
    pub run: Handler,
    /// Dwords of the destination.
    pub d: u32,
    /// Dwords of the sources; 0: none.
    pub s: [u32; 3],
    /// The destination is also the last source (`s_addk_i32`, `s_cmov_b32`, `s_bitset1_b32`).
    pub reads_d: bool,
}

struct S1<F, A, R>(PhantomData<(F, A, R)>);
struct S2<F, A, B, R>(PhantomData<(F, A, B, R)>);
struct S3<F, A, B, C, R>(PhantomData<(F, A, B, C, R)>);

impl<F: Fn(bool, A) -> R + Copy + 'static, A: Word, R: Outcome> S1<F, A, R> {
    unsafe fn run(w: &mut Wave, op: *const Op) -> *const Op {
        // SAFETY: operands by the lowering.
        unsafe {
            let result = conjure::<F>()(w.sgpr[slot::SCC] != 0, read(w, (*op).s[0]));
            result.put(w, (*op).d as usize);
            op.add(1)
        }
    }
}

impl<F: Fn(bool, A, B) -> R + Copy + 'static, A: Word, B: Word, R: Outcome> S2<F, A, B, R> {
    unsafe fn run(w: &mut Wave, op: *const Op) -> *const Op {
        // SAFETY: operands by the lowering.
        unsafe {
            let result = conjure::<F>()(
                w.sgpr[slot::SCC] != 0,
                read(w, (*op).s[0]),
                read(w, (*op).s[1]),
            );
            result.put(w, (*op).d as usize);
            op.add(1)
        }
    }
}

impl<F: Fn(bool, A, B, C) -> R + Copy + 'static, A: Word, B: Word, C: Word, R: Outcome>
    S3<F, A, B, C, R>
{
    unsafe fn run(w: &mut Wave, op: *const Op) -> *const Op {
        // SAFETY: operands by the lowering.
        unsafe {
            let result = conjure::<F>()(
                w.sgpr[slot::SCC] != 0,
                read(w, (*op).s[0]),
                read(w, (*op).s[1]),
                read(w, (*op).s[2]),
            );
            result.put(w, (*op).d as usize);
            op.add(1)
        }
    }
}

/// One source; the closure gets SCC first.
pub fn s1<F: Fn(bool, A) -> R + Copy + 'static, A: Word, R: Outcome>(_f: F) -> ScalarOp {
    ScalarOp {
        run: S1::<F, A, R>::run,
        d: R::DWORDS,
        s: [A::DWORDS, 0, 0],
        reads_d: false,
    }
}

/// Two sources; the closure gets SCC first.
pub fn s2<F: Fn(bool, A, B) -> R + Copy + 'static, A: Word, B: Word, R: Outcome>(
    _f: F,
) -> ScalarOp {
    ScalarOp {
        run: S2::<F, A, B, R>::run,
        d: R::DWORDS,
        s: [A::DWORDS, B::DWORDS, 0],
        reads_d: false,
    }
}

/// Three sources; the closure gets SCC first.
pub fn s3<F: Fn(bool, A, B, C) -> R + Copy + 'static, A: Word, B: Word, C: Word, R: Outcome>(
    _f: F,
) -> ScalarOp {
    ScalarOp {
        run: S3::<F, A, B, C, R>::run,
        d: R::DWORDS,
        s: [A::DWORDS, B::DWORDS, C::DWORDS],
        reads_d: false,
    }
}

/// One source, and the old destination as the last argument.
pub fn s1d<F: Fn(bool, A, B) -> R + Copy + 'static, A: Word, B: Word, R: Outcome>(
    f: F,
) -> ScalarOp {
    ScalarOp {
        reads_d: true,
        ..s2(f)
    }
}

/// Two sources, and the old destination as the last argument.
pub fn s2d<F: Fn(bool, A, B, C) -> R + Copy + 'static, A: Word, B: Word, C: Word, R: Outcome>(
    f: F,
) -> ScalarOp {
    ScalarOp {
        reads_d: true,
        ..s3(f)
    }
}

/// `s_*_saveexec`: destination gets EXEC, EXEC gets the closure of (source, EXEC), SCC whether that is not 0. `s_*_wrexec` (`aux[0]`
/// = 1) writes the new EXEC to the destination as well.
struct SaveExec<F>(PhantomData<F>);

impl<F: Fn(u64, u64) -> u64 + Copy + 'static> SaveExec<F> {
    unsafe fn run<const WIDE: bool>(w: &mut Wave, op: *const Op) -> *const Op {
        // SAFETY: operands by the lowering.
        unsafe {
            let source: u64 = if WIDE {
                read::<u64>(w, (*op).s[0])
            } else {
                u64::from(read::<u32>(w, (*op).s[0]))
            };
            let old = if WIDE {
                w.pair(slot::EXEC)
            } else {
                u64::from(w.sgpr[slot::EXEC])
            };
            let mut new = conjure::<F>()(source, old);
            if !WIDE {
                new &= 0xffff_ffff;
            }
            let saved = if (*op).aux[0] == 0 { old } else { new };
            let d = (*op).d as usize;
            if WIDE {
                w.set_pair(d, saved);
                w.set_pair(slot::EXEC, new);
            } else {
                w.sgpr[d] = saved as u32;
                w.sgpr[slot::EXEC] = new as u32;
            }
            w.sgpr[slot::SCC] = u32::from(new != 0);
            op.add(1)
        }
    }
}

/// Handler of a `saveexec` operation, 64-bit or 32-bit.
pub fn save_exec<F: Fn(u64, u64) -> u64 + Copy + 'static>(_f: F, wide: bool) -> Handler {
    if wide {
        SaveExec::<F>::run::<true>
    } else {
        SaveExec::<F>::run::<false>
    }
}
