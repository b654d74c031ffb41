//! Products of f64 matrices.

use crate::ir::Ref;

use super::{super::wave::Wave, MatrixPlan};

/// f64: element (row, k) of block b of A is in lane (k·blocks + b)·size + row; row r of D is in register pair r / 4, in the lanes from
/// 16·(r mod 4) + b·size on.
#[inline(always)]
pub(super) unsafe fn double(w: &mut Wave, plan: &MatrixPlan) {
    // SAFETY: the registers were checked by the lowering.
    unsafe {
        let base = w.base[0];
        let read = |at: u32, register: usize, lane: usize, negative: bool| {
            let low: u32 = *base.add(at as usize + 512 * register + 4 * lane).cast();
            let high: u32 = *base
                .add(at as usize + 512 * register + 256 + 4 * lane)
                .cast();
            f64::from_bits((u64::from(low) | u64::from(high) << 32) ^ u64::from(negative) << 63)
        };
        let negative = |source: u32| plan.blgp >> source & 1 != 0;
        let constant = {
            let pool = w.base[plan.c.selector() as usize].add(plan.c.offset() as usize);
            let step = if plan.c.selector() == Ref::POOL {
                64
            } else {
                4
            };
            let bits =
                u64::from(*pool.cast::<u32>()) | u64::from(*pool.add(step).cast::<u32>()) << 32;
            f64::from_bits(bits ^ u64::from(negative(2)) << 63)
        };
        let mut out = [[0f64; 64]; 4];
        let size = plan.size;
        for block in 0..plan.blocks {
            for row in 0..size {
                for column in 0..size {
                    let (register, lane) = (row / 4, 16 * (row % 4) + block * size + column);
                    let mut sum = if plan.c.selector() == Ref::FILE {
                        read(plan.c.offset(), register, lane, negative(2))
                    } else {
                        constant
                    };
                    for k in 0..plan.depth {
                        let first = (k * plan.blocks + block) * size;
                        let x = read(plan.ab[0], 0, first + row, negative(0));
                        let y = read(plan.ab[1], 0, first + column, negative(1));
                        sum = x.mul_add(y, sum);
                    }
                    out[register][lane] = sum;
                }
            }
        }
        for (register, line) in out.iter().enumerate().take(plan.sum_registers() / 2) {
            for (lane, value) in line.iter().enumerate() {
                let bits = if value.is_nan() {
                    0x7ff8_0000_0000_0000
                } else {
                    value.to_bits()
                };
                let at = base.add(plan.d as usize + 512 * register + 4 * lane);
                *at.cast::<u32>() = bits as u32;
                *at.add(256).cast::<u32>() = (bits >> 32) as u32;
            }
        }
    }
}
