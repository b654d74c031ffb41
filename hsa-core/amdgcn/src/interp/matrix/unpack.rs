//! A and B, out of the registers.

use std::mem::MaybeUninit;

use super::{
    super::{vector::GROUP, wave::Wave},
    MatrixPlan, Sparse,
    element::{Line, Widen},
};

/// Most elements of A or B in all blocks: 32 rows of 64 k values, 16 of 128.
pub(super) const ELEMENTS: usize = 2048;

/// k values that have a scale in common.
pub(super) const SCALED: usize = 32;

/// A, by (block, stored k, row), with the k of each when it is sparse, and B, by (block, k, column); and the exponents of the scales of A and
/// B, by (k / [`SCALED`], row or column). Only what the plan needs is written.
#[repr(C, align(64))]
pub(super) struct Operands<T> {
    pub(super) a: [T; ELEMENTS],
    pub(super) b: [T; ELEMENTS],
    pub(super) k: [u8; ELEMENTS],
    pub(super) exponents: [[u32; 64]; 2],
}

/// Reads all that D may take the place of, but for C.
///
/// # Safety
/// The plan's registers are in the wave's file; `to` is writable.
#[inline(always)]
pub(super) unsafe fn unpack<T: Widen, const SIZE: usize>(
    w: &Wave,
    plan: &MatrixPlan,
    to: *mut Operands<T>,
) {
    // SAFETY: by the caller.
    unsafe {
        let elements = [(&raw mut (*to).a).cast::<T>(), (&raw mut (*to).b).cast()];
        for (which, to) in elements.into_iter().enumerate() {
            side::<T, SIZE>(w, plan, which, to);
        }
        if let Some(sparse) = plan.sparse {
            places::<SIZE>(w, plan, sparse, (&raw mut (*to).k).cast());
        }
        if let Some(scales) = &plan.scales {
            for (which, register) in scales.registers.into_iter().enumerate() {
                let words = w.base[0].add(register as usize).cast::<[u32; 64]>();
                let mut words = words.read_unaligned();
                for word in &mut words {
                    *word = *word >> scales.shifts[which] & 255;
                }
                (&raw mut (*to).exponents[which]).write(words);
            }
        }
    }
}

/// Reads A (`which` is 0) or B.
#[inline(always)]
unsafe fn side<T: Widen, const SIZE: usize>(w: &Wave, plan: &MatrixPlan, which: usize, to: *mut T) {
    let (element, depth) = [(plan.a, plan.stored_depth()), (plan.b, plan.depth)][which];
    let (per_lane, bits) = (plan.per_lane(depth), element.bits());
    let stride = w.chunks * 64;
    let lanes = plan.read_lanes();
    let piece = const { if SIZE < GROUP { SIZE } else { GROUP } };
    let mut line = MaybeUninit::<[T; 64]>::uninit();
    let line = line.as_mut_ptr().cast::<T>();
    // SAFETY: by the caller; rows, blocks and k values stay below the plan's, whose product is `ELEMENTS` at most.
    unsafe {
        for index in 0..per_lane {
            let bit = index * bits;
            let words = w.base[0].add(plan.ab[which] as usize + stride * (bit / 32));
            let from = Line {
                words: words.cast(),
                next: words.add(stride).cast(),
                lanes,
                shift: (bit % 32) as u32,
                flip: plan.flip[which],
            };
            T::widen(element, plan.flush, from, line);
            for lane in (0..lanes).step_by(piece) {
                let from = line.add(if which == 1 { plan.b_lane(lane) } else { lane });
                let (block, row, first) = plan.first::<SIZE>(lane, per_lane);
                let k = plan.k_of(plan.split[which], first, per_lane, index);
                let to = to.add((block * depth + k) * SIZE + row);
                // Lengths that are known, so that these are moves of vectors.
                if piece == GROUP {
                    to.cast::<[T; GROUP]>()
                        .write_unaligned(from.cast::<[T; GROUP]>().read_unaligned());
                } else {
                    to.cast::<[T; 4]>()
                        .write_unaligned(from.cast::<[T; 4]>().read_unaligned());
                }
            }
        }
    }
}

/// The k of each stored element of a sparse A.
#[inline(always)]
unsafe fn places<const SIZE: usize>(w: &Wave, plan: &MatrixPlan, sparse: Sparse, to: *mut u8) {
    let stored = plan.stored_depth();
    let per_lane = plan.per_lane(stored);
    // SAFETY: by the caller, as in `side`.
    unsafe {
        let indices = w.base[0].add(sparse.index as usize).cast::<u32>();
        for lane in 0..plan.read_lanes() {
            let of_lane = *indices.add(lane) >> sparse.shift;
            let (block, row, first) = plan.first::<SIZE>(lane, per_lane);
            for index in 0..per_lane {
                let of_four = of_lane >> (2 * index) & 3;
                let k = plan.k_of(plan.split[0], first, per_lane, index);
                to.add((block * stored + k) * SIZE + row)
                    .write((4 * ((first + index) / 2) + of_four as usize) as u8);
            }
        }
    }
}
