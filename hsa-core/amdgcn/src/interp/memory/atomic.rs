//! Atomic operations.
//!
//! On global memory they are host atomics, so that they are atomic against other workers and against the program's own threads. LDS belongs
//! to one group on one thread, so plain loads and stores do. Lanes go in ascending order.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::{
    cache,
    lanes::Addresses,
    other,
    space::{Aperture, Global, Lds, Space, aperture, check_scratch, scratch_byte, site},
    vector::finish,
};
use crate::{
    interp::{float::Nan, run::Exit, wave::Wave},
    ir::Op,
    memory::LostAtomic,
};

/// A memory word that atomics work on.
pub trait Word: Copy + Default + PartialEq {
    /// Registers.
    const DWORDS: usize;

    /// Reads a lane's registers.
    ///
    /// # Safety
    /// The registers are readable.
    unsafe fn read(lane: *const u32, stride: usize) -> Self;

    /// Writes a lane's registers.
    ///
    /// # Safety
    /// The registers are writable.
    unsafe fn write(self, lane: *mut u32, stride: usize);

    /// Replaces the word by a function of it, atomically, and gives the old value.
    ///
    /// # Safety
    /// The word is aligned and valid.
    unsafe fn update(at: *mut u8, change: impl Fn(Self) -> Self) -> Self;
}

impl Word for u32 {
    const DWORDS: usize = 1;

    #[inline(always)]
    unsafe fn read(lane: *const u32, _: usize) -> Self {
        // SAFETY: by the caller.
        unsafe { *lane }
    }

    #[inline(always)]
    unsafe fn write(self, lane: *mut u32, _: usize) {
        // SAFETY: by the caller.
        unsafe { *lane = self }
    }

    #[inline(always)]
    unsafe fn update(at: *mut u8, change: impl Fn(Self) -> Self) -> Self {
        // SAFETY: by the caller. SeqCst: device atomics of any order may pair with it, and on x86 it costs the same.
        let word = unsafe { AtomicU32::from_ptr(at.cast()) };
        let mut old = word.load(Ordering::Relaxed);
        loop {
            match word.compare_exchange_weak(old, change(old), Ordering::SeqCst, Ordering::Relaxed)
            {
                Ok(_) => return old,
                Err(now) => old = now,
            }
        }
    }
}

impl Word for u64 {
    const DWORDS: usize = 2;

    #[inline(always)]
    unsafe fn read(lane: *const u32, stride: usize) -> Self {
        // SAFETY: by the caller.
        unsafe { u64::from(*lane) | u64::from(*lane.add(stride)) << 32 }
    }

    #[inline(always)]
    unsafe fn write(self, lane: *mut u32, stride: usize) {
        // SAFETY: by the caller.
        unsafe {
            *lane = self as u32;
            *lane.add(stride) = (self >> 32) as u32;
        }
    }

    #[inline(always)]
    unsafe fn update(at: *mut u8, change: impl Fn(Self) -> Self) -> Self {
        // SAFETY: by the caller. SeqCst: as for u32.
        let word = unsafe { AtomicU64::from_ptr(at.cast()) };
        let mut old = word.load(Ordering::Relaxed);
        loop {
            match word.compare_exchange_weak(old, change(old), Ordering::SeqCst, Ordering::Relaxed)
            {
                Ok(_) => return old,
                Err(now) => old = now,
            }
        }
    }
}

/// A read-modify-write operation.
pub trait Rmw {
    /// Memory word.
    type Word: Word;
    /// Whether it takes a second operand.
    const TWO: bool = false;
    /// Whether it is float arithmetic, which some memory loses
    /// ([`LOSES_FLOAT_ATOMICS`](crate::memory::Rights::LOSES_FLOAT_ATOMICS)).
    const FLOAT: bool = false;

    /// The new value, from the old one and the operands.
    fn apply(old: Self::Word, a: Self::Word, b: Self::Word) -> Self::Word;

    /// Does it atomically and gives the old value.
    ///
    /// # Safety
    /// The word is aligned and valid.
    #[inline(always)]
    unsafe fn atomic(at: *mut u8, a: Self::Word, b: Self::Word) -> Self::Word {
        // SAFETY: by the caller.
        unsafe { Self::Word::update(at, |old| Self::apply(old, a, b)) }
    }
}

macro_rules! rmw {
    ($($(#[$doc:meta])* $name:ident($old:ident: $word:ty, $a:ident, $b:ident $(, two = $two:literal)? $(, float = $float:literal)?)
        $([$atomic:ident . $method:ident])? => $new:expr;)*) => { $(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name;

        impl Rmw for $name {
            type Word = $word;
            $(const TWO: bool = $two;)?
            $(const FLOAT: bool = $float;)?

            #[inline(always)]
            fn apply($old: $word, $a: $word, $b: $word) -> $word {
                let _ = $b;
                $new
            }

            $(
                #[inline(always)]
                unsafe fn atomic(at: *mut u8, a: $word, _: $word) -> $word {
                    // SAFETY: by the caller. SeqCst: see `Word::update`.
                    unsafe { $atomic::from_ptr(at.cast()).$method(a, Ordering::SeqCst) }
                }
            )?
        }
    )* };
}

rmw! {
    /// Exchange.
    Swap32(old: u32, a, b) [AtomicU32.swap] => { let _ = old; a };
    /// Exchange.
    Swap64(old: u64, a, b) [AtomicU64.swap] => { let _ = old; a };
    /// Stores a if the old value is b.
    CmpSwap32(old: u32, a, b, two = true) => if old == b { a } else { old };
    /// Stores a if the old value is b.
    CmpSwap64(old: u64, a, b, two = true) => if old == b { a } else { old };
    /// Stores a if the old value equals b as a float.
    FCmpSwap32(old: u32, a, b, two = true) => if f32::from_bits(old) == f32::from_bits(b) { a } else { old };
    /// Stores a if the old value equals b as a float.
    FCmpSwap64(old: u64, a, b, two = true) => if f64::from_bits(old) == f64::from_bits(b) { a } else { old };
    /// Sum.
    Add32(old: u32, a, b) [AtomicU32.fetch_add] => old.wrapping_add(a);
    /// Sum.
    Add64(old: u64, a, b) [AtomicU64.fetch_add] => old.wrapping_add(a);
    /// Difference.
    Sub32(old: u32, a, b) [AtomicU32.fetch_sub] => old.wrapping_sub(a);
    /// Difference.
    Sub64(old: u64, a, b) [AtomicU64.fetch_sub] => old.wrapping_sub(a);
    /// Reversed difference.
    RSub32(old: u32, a, b) => a.wrapping_sub(old);
    /// Reversed difference.
    RSub64(old: u64, a, b) => a.wrapping_sub(old);
    /// Difference, but 0 rather than below it.
    SubClamp32(old: u32, a, b) => old.saturating_sub(a);
    /// Difference if it is not below 0, else the old value.
    CondSub32(old: u32, a, b) => if old >= a { old - a } else { old };
    /// Signed minimum.
    SMin32(old: u32, a, b) => old.cast_signed().min(a.cast_signed()).cast_unsigned();
    /// Signed minimum.
    SMin64(old: u64, a, b) => old.cast_signed().min(a.cast_signed()).cast_unsigned();
    /// Unsigned minimum.
    UMin32(old: u32, a, b) [AtomicU32.fetch_min] => old.min(a);
    /// Unsigned minimum.
    UMin64(old: u64, a, b) [AtomicU64.fetch_min] => old.min(a);
    /// Signed maximum.
    SMax32(old: u32, a, b) => old.cast_signed().max(a.cast_signed()).cast_unsigned();
    /// Signed maximum.
    SMax64(old: u64, a, b) => old.cast_signed().max(a.cast_signed()).cast_unsigned();
    /// Unsigned maximum.
    UMax32(old: u32, a, b) [AtomicU32.fetch_max] => old.max(a);
    /// Unsigned maximum.
    UMax64(old: u64, a, b) [AtomicU64.fetch_max] => old.max(a);
    /// Bitwise and.
    And32(old: u32, a, b) [AtomicU32.fetch_and] => old & a;
    /// Bitwise and.
    And64(old: u64, a, b) [AtomicU64.fetch_and] => old & a;
    /// Bitwise or.
    Or32(old: u32, a, b) [AtomicU32.fetch_or] => old | a;
    /// Bitwise or.
    Or64(old: u64, a, b) [AtomicU64.fetch_or] => old | a;
    /// Bitwise exclusive or.
    Xor32(old: u32, a, b) [AtomicU32.fetch_xor] => old ^ a;
    /// Bitwise exclusive or.
    Xor64(old: u64, a, b) [AtomicU64.fetch_xor] => old ^ a;
    /// Increment, back to 0 at a.
    Inc32(old: u32, a, b) => if old >= a { 0 } else { old + 1 };
    /// Increment, back to 0 at a.
    Inc64(old: u64, a, b) => if old >= a { 0 } else { old + 1 };
    /// Decrement, to a from 0 and from above a.
    Dec32(old: u32, a, b) => if old == 0 || old > a { a } else { old - 1 };
    /// Decrement, to a from 0 and from above a.
    Dec64(old: u64, a, b) => if old == 0 || old > a { a } else { old - 1 };
    /// Clears the bits of a and sets those of b.
    MskOr32(old: u32, a, b, two = true) => old & !a | b;
    /// Clears the bits of a and sets those of b.
    MskOr64(old: u64, a, b, two = true) => old & !a | b;
    /// Difference with a, or sum with b if it would be below 0.
    Wrap32(old: u32, a, b, two = true) => if old >= a { old - a } else { old.wrapping_add(b) };
    /// Float sum.
    FAdd32(old: u32, a, b, float = true) => (f32::from_bits(old) + f32::from_bits(a)).to_bits();
    /// Float sum.
    FAdd64(old: u64, a, b, float = true) => (f64::from_bits(old) + f64::from_bits(a)).to_bits();
    /// Float minimum; a number wins over a NaN.
    FMin32(old: u32, a, b, float = true) => min_f32(f32::from_bits(old), f32::from_bits(a)).to_bits();
    /// Float maximum; a number wins over a NaN.
    FMax32(old: u32, a, b, float = true) => (-min_f32(-f32::from_bits(old), -f32::from_bits(a))).to_bits();
    /// Float minimum; a number wins over a NaN.
    FMin64(old: u64, a, b, float = true) => min_f64(f64::from_bits(old), f64::from_bits(a)).to_bits();
    /// Float maximum; a number wins over a NaN.
    FMax64(old: u64, a, b, float = true) => (-min_f64(-f64::from_bits(old), -f64::from_bits(a))).to_bits();
    /// Sum of two f16 halves.
    PkAddF16(old: u32, a, b, float = true) => per_half(old, a, |x, y| {
        let sum = half::f16::from_bits(x).to_f64() + half::f16::from_bits(y).to_f64();
        half::f16::from_f64(sum).to_bits()
    });
    /// Sum of two bf16 halves.
    PkAddBf16(old: u32, a, b, float = true) => per_half(old, a, |x, y| {
        let sum = half::bf16::from_bits(x).to_f64() + half::bf16::from_bits(y).to_f64();
        half::bf16::from_f64(sum).to_bits()
    });
}

fn per_half(x: u32, y: u32, add: impl Fn(u16, u16) -> u16) -> u32 {
    u32::from(add(x as u16, y as u16)) | u32::from(add((x >> 16) as u16, (y >> 16) as u16)) << 16
}

fn min_f32(x: f32, y: f32) -> f32 {
    match (x.is_nan(), y.is_nan()) {
        (true, true) => y.quiet(),
        (true, _) => y,
        (_, true) => x,
        _ if x == y => {
            if x.is_sign_negative() {
                x
            } else {
                y
            }
        }
        _ => {
            if x < y {
                x
            } else {
                y
            }
        }
    }
}

fn min_f64(x: f64, y: f64) -> f64 {
    match (x.is_nan(), y.is_nan()) {
        (true, true) => y.quiet(),
        (true, _) => y,
        (_, true) => x,
        _ if x == y => {
            if x.is_sign_negative() {
                x
            } else {
                y
            }
        }
        _ => {
            if x < y {
                x
            } else {
                y
            }
        }
    }
}

/// Where an atomic works.
pub trait Place {
    /// Does the operation for one lane.
    ///
    /// # Safety
    /// The wave runs inside a slice.
    unsafe fn apply<R: Rmw>(
        w: &Wave,
        op: *const Op,
        lane: usize,
        address: u64,
        a: R::Word,
        b: R::Word,
    ) -> Result<R::Word, Exit>;
}

impl Place for Global {
    #[inline(always)]
    unsafe fn apply<R: Rmw>(
        w: &Wave,
        op: *const Op,
        lane: usize,
        address: u64,
        a: R::Word,
        b: R::Word,
    ) -> Result<R::Word, Exit> {
        // SAFETY: resolved for writing; alignment is checked.
        unsafe {
            let size = size_of::<R::Word>();
            let at = Global::resolve::<true>(w, site(op), address, size as u64)
                .map_err(|f| Global::exit(f, lane))?;
            if !at.addr().is_multiple_of(size) {
                return Err(Exit::Other(other::MISALIGNED_ATOMIC));
            }
            if R::FLOAT && cache(w).loses_float_atomics(site(op)) {
                let pc = (*op).pc;
                cache(w).note_lost(LostAtomic { pc, address });
                return Ok(R::Word::default());
            }
            Ok(R::atomic(at, a, b))
        }
    }
}

impl Place for Lds {
    #[inline(always)]
    unsafe fn apply<R: Rmw>(
        w: &Wave,
        op: *const Op,
        lane: usize,
        address: u64,
        a: R::Word,
        b: R::Word,
    ) -> Result<R::Word, Exit> {
        // SAFETY: resolved for writing; no other thread has the group's LDS.
        unsafe {
            let size = size_of::<R::Word>() as u64;
            let at =
                Lds::resolve::<true>(w, site(op), address, size).map_err(|f| Lds::exit(f, lane))?;
            let at: *mut R::Word = at.cast();
            let old = at.read_unaligned();
            at.write_unaligned(R::apply(old, a, b));
            Ok(old)
        }
    }
}

/// Generic addresses.
#[derive(Debug)]
pub struct Flat;

impl Place for Flat {
    #[inline(always)]
    unsafe fn apply<R: Rmw>(
        w: &Wave,
        op: *const Op,
        lane: usize,
        address: u64,
        a: R::Word,
        b: R::Word,
    ) -> Result<R::Word, Exit> {
        // SAFETY: as for the spaces.
        unsafe {
            match aperture(address) {
                Aperture::Global => Global::apply::<R>(w, op, lane, address, a, b),
                Aperture::Shared(offset) => Lds::apply::<R>(w, op, lane, u64::from(offset), a, b),
                Aperture::Private(offset) => {
                    check_scratch(w, offset, size_of::<R::Word>() as u32, true, lane)?;
                    if !offset.is_multiple_of(4) {
                        return Err(Exit::Other(other::MISALIGNED_ATOMIC));
                    }
                    let at: *mut u32 = scratch_byte(w, lane, offset).cast();
                    let old = R::Word::read(at, w.chunks * 16);
                    R::apply(old, a, b).write(at, w.chunks * 16);
                    Ok(old)
                }
            }
        }
    }
}

/// Whether the old value goes to the destination.
pub trait Return {
    /// It does.
    const RETURNS: bool;
}

/// The old value goes to the destination.
#[derive(Debug)]
pub struct Old;
impl Return for Old {
    const RETURNS: bool = true;
}

/// There is no destination.
#[derive(Debug)]
pub struct NoReturn;
impl Return for NoReturn {
    const RETURNS: bool = false;
}

/// Does the operation of `op` in all active lanes at the given addresses. Operands: `s[1]` and `s[2]`.
///
/// # Safety
/// Called for an atomic of the running wave.
#[inline(always)]
pub unsafe fn apply_at<R: Rmw, P: Place, V: Return>(
    w: &mut Wave,
    op: *const Op,
    at: Addresses,
) -> Result<(), Exit> {
    // SAFETY: registers were checked by the lowering.
    unsafe {
        let stride = w.chunks * 16;
        let file = w.base[0];
        let a: *const u32 = file.add((*op).s[1].offset() as usize).cast();
        let b: *const u32 = file.add((*op).s[2].offset() as usize).cast();
        let dst: *mut u32 = file.add((*op).d as usize).cast();
        let mut rest = w.exec();
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let first = R::Word::read(a.add(lane), stride);
            let second = if R::TWO {
                R::Word::read(b.add(lane), stride)
            } else {
                R::Word::default()
            };
            let old = P::apply::<R>(w, op, lane, at.lane(lane), first, second)?;
            if V::RETURNS {
                old.write(dst.add(lane), stride);
            }
        }
        Ok(())
    }
}

/// An atomic operation.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
#[inline(always)]
pub unsafe fn atomic<R: Rmw, P: Place, V: Return>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: passed on.
    unsafe {
        if w.exec() == 0 {
            return op.add(1);
        }
        {
            let result = apply_at::<R, P, V>(w, op, Addresses::of(w, op));
            finish(w, op, result)
        }
    }
}
