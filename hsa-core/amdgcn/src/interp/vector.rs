//! The shapes of vector handlers.
//!
//! A `Kernel` says what one lane computes. A [`Body`] wraps it into a handler: for each group of sixteen lanes load the
//! sources, call the kernel in every lane, store under EXEC. Bodies are generic over a [`Simd`] level and are instantiated inside
//! functions with that level's target features, so that the lane loops become vector code. Sixteen lanes are two AVX2 registers or
//! one AVX-512 register.
//!
//! Sources are vector registers, temporaries, pool constants (one 64-byte line that is read again for every group) or scalar
//! registers (splatted into such a line first). Lanes are independent, so a destination may be any of the sources.
//!
//! * `value`: what lanes read and write; `operand`: where; `kernel`: what a lane computes.
//! * `simd`: the levels; `products`: vectors for sums of products; `shape`: the bodies of handlers; `special`: those that are like no other.
//! * `describe`: what the lowering picks a handler from.
//!
//! NaN results of arithmetic are made explicit, so that they do not depend on how the host's compiler orders operands: a group
//! in which a result is NaN is computed again lane by lane in [`nan_result`].

/// Lanes of a group.
pub const GROUP: usize = 16;

/// An array with an expression for each lane of a group. A loop rather than `array::from_fn`: a closure that is not inlined would be
/// compiled without the level's features.
macro_rules! lanes {
    ($lane:ident => $value:expr) => {{
        let mut out = std::mem::MaybeUninit::<[_; $crate::interp::vector::GROUP]>::uninit();
        for $lane in 0..$crate::interp::vector::GROUP {
            $crate::interp::vector::fill(&mut out, $lane, $value);
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
pub(in crate::interp) fn fill<T>(
    group: &mut std::mem::MaybeUninit<[T; GROUP]>,
    lane: usize,
    value: T,
) {
    debug_assert!(lane < GROUP);
    // SAFETY: inside the array: the callers' loops end at its length.
    unsafe { group.as_mut_ptr().cast::<T>().add(lane).write(value) };
}

pub(in crate::interp) use lanes;

mod describe;
mod kernel;
mod operand;
mod products;
mod shape;
mod simd;
mod special;
mod value;

pub use describe::*;
pub(in crate::interp) use operand::source_bits;
pub use operand::{TEMP_DST, change_all};
pub use products::Products;
pub use shape::{Arith, Carry, Compare, IntoNan, Map, nan_result};
pub use simd::{Avx2, Avx512, Body, Portable, Simd, hot, rare};
pub use special::{
    AddPair, MaskedBitCount, ShiftLeft64, TruthTable, masked_bit_count, shift_left_64, truth_table,
};
pub use value::{Arithmetic, Env, Value};
