//! Operations whose lanes know their number, or that gain from another arrangement of their work.

use crate::ir::Op;

use super::{
    super::wave::Wave,
    Body, GROUP, Simd, VectorOp, hot, k2,
    kernel::is_full,
    operand::{put_line, source, target},
};

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
}

/// Descriptor of [`MaskedBitCount`].
pub fn masked_bit_count<const HIGH: bool>() -> VectorOp {
    VectorOp {
        run: hot::<MaskedBitCount<HIGH>>(),
        ..k2(|a: u32, b: u32| a.wrapping_add(b))
    }
}

/// `v_bitop3_b16`, `v_bitop3_b32`: each bit of the result is bit 4·a + 2·b + c of the table in `Op::aux[1]`.
#[derive(Debug)]
pub struct TruthTable;

impl Body for TruthTable {
    #[inline(always)]
    unsafe fn run<L: Simd>(w: &mut Wave, op: *const Op) -> *const Op {
        // SAFETY: by the caller.
        unsafe {
            let full = is_full(w);
            let table = (*op).aux[1];
            // Each bit of the table for all bits of a register.
            let all: [u32; 8] = std::array::from_fn(|index| 0u32.wrapping_sub(table >> index & 1));
            let (a, b, c) = (
                source::<u32>(w, (*op).s[0], 0),
                source::<u32>(w, (*op).s[1], 1),
                source::<u32>(w, (*op).s[2], 2),
            );
            let target = target(w, (*op).d);
            for group in 0..w.chunks {
                let (a, b) = (a.group::<u32>(group), b.group::<u32>(group));
                let c = c.group::<u32>(group);
                let result: [u32; GROUP] = lanes!(lane => {
                    let pick = |zero: u32, one: u32, by: u32| (zero & !by) | (one & by);
                    let of_c = |index: usize| pick(all[index], all[index + 1], c[lane]);
                    let of_b = |index: usize| pick(of_c(index), of_c(index + 2), b[lane]);
                    pick(of_b(0), of_b(4), a[lane])
                });
                target.put(w, full, group, &result);
            }
            op.add(1)
        }
    }
}

/// `of`, whose sources and result have its types, as a [`TruthTable`].
pub fn truth_table(of: VectorOp) -> VectorOp {
    VectorOp {
        run: hot::<TruthTable>(),
        ..of
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
}
