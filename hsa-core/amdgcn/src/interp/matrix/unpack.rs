//! A and B, out of the registers.

use super::{
    super::{vector::GROUP, wave::Wave},
    Element, MatrixPlan,
    element::Widen,
};

/// Most elements of A or B in all blocks: 32 rows of 64 k values, 16 of 128.
pub(super) const ELEMENTS: usize = 2048;

/// A, by (block, stored k, row), with the k of each when it is sparse, and B, by (block, k, column). Only what the plan needs is written.
#[repr(C, align(64))]
pub(super) struct Operands<T> {
    pub(super) a: [T; ELEMENTS],
    pub(super) b: [T; ELEMENTS],
    pub(super) k: [u8; ELEMENTS],
}

/// Sixteen lanes of a register.
#[inline(always)]
unsafe fn group(w: &Wave, base: u32, register: usize, lane: usize) -> [u32; GROUP] {
    // SAFETY: by the caller the register is in the file and the lanes are in it.
    unsafe {
        w.base[0]
            .add(base as usize + w.chunks * 64 * register + 4 * lane)
            .cast::<[u32; GROUP]>()
            .read_unaligned()
    }
}

/// The dwords that hold element `index` of sixteen lanes, and its number in them; elements of six bits are lowest.
#[inline(always)]
unsafe fn words(
    w: &Wave,
    element: Element,
    base: u32,
    index: usize,
    lane: usize,
) -> ([u32; GROUP], usize) {
    let bits = element.bits();
    // SAFETY: by the caller the lanes' elements are in the file.
    unsafe {
        if bits != 6 {
            let in_word = 32 / bits;
            return (group(w, base, index / in_word, lane), index % in_word);
        }
        let (word, shift) = (6 * index / 32, 6 * index % 32);
        let mut low = group(w, base, word, lane);
        let high = if shift > 26 {
            group(w, base, word + 1, lane)
        } else {
            [0; GROUP]
        };
        for (low, high) in low.iter_mut().zip(high) {
            *low = ((u64::from(high) << 32 | u64::from(*low)) >> shift) as u32;
        }
        (low, 0)
    }
}

/// Reads A and B.
///
/// # Safety
/// The plan's registers are in the wave's file; `to` is writable.
#[inline(always)]
pub(super) unsafe fn unpack<T: Widen, const SIZE: usize>(
    w: &Wave,
    plan: &MatrixPlan,
    to: *mut Operands<T>,
) {
    // SAFETY: by the caller; rows, blocks and k values stay below the plan's, whose product is `ELEMENTS` at most.
    unsafe {
        side::<T, SIZE, false>(
            w,
            plan,
            (&raw mut (*to).a).cast(),
            (&raw mut (*to).k).cast(),
        );
        side::<T, SIZE, true>(w, plan, (&raw mut (*to).b).cast(), std::ptr::null_mut());
    }
}

/// Reads A, and its `k` when it is sparse, or B.
#[inline(always)]
unsafe fn side<T: Widen, const SIZE: usize, const B: bool>(
    w: &Wave,
    plan: &MatrixPlan,
    to: *mut T,
    k: *mut u8,
) {
    let which = usize::from(B);
    let (element, depth) = if B {
        (plan.b, plan.depth)
    } else {
        (plan.a, plan.stored_depth())
    };
    let per_lane = plan.per_lane(depth);
    let piece = SIZE.min(GROUP);
    // SAFETY: by the caller.
    unsafe {
        for lane in (0..plan.read_lanes()).step_by(GROUP) {
            let from = if B { plan.b_lane(lane) } else { lane };
            let indices = match plan.sparse {
                Some(sparse) if !B => {
                    Some(group(w, sparse.index, 0, lane).map(|word| word >> sparse.shift))
                }
                _ => None,
            };
            for index in 0..per_lane {
                let (mut words, in_word) = words(w, element, plan.ab[which], index, from);
                if plan.flip[which] != 0 {
                    for word in &mut words {
                        *word ^= plan.flip[which];
                    }
                }
                let values = T::widen(element, plan.flush, &words, in_word);
                for part in (0..GROUP).step_by(piece) {
                    let (block, row, first) = plan.first(lane + part, per_lane);
                    let at = (block * depth + plan.k_of(plan.split[which], first, per_lane, index))
                        * SIZE
                        + row;
                    std::ptr::copy_nonoverlapping(values.as_ptr().add(part), to.add(at), piece);
                    if let Some(indices) = &indices {
                        for (row, indices) in indices[part..part + piece].iter().enumerate() {
                            let of_four = indices >> (2 * index) & 3;
                            k.add(at + row)
                                .write((4 * ((first + index) / 2) + of_four as usize) as u8);
                        }
                    }
                }
            }
        }
    }
}
