//! Operations across lanes, and between lanes and scalars.

#![expect(
    clippy::missing_safety_doc,
    reason = "handlers share one contract, that of `interp::run::Handler`"
)]

use crate::ir::{Op, Ref};

use super::wave::{Lanes, Wave};

/// Value of a scalar operand.
///
/// # Safety
/// The lowering made the reference: it is a scalar slot or a pool line.
#[inline(always)]
pub unsafe fn scalar(w: &Wave, reference: Ref) -> u32 {
    // SAFETY: by the caller.
    unsafe {
        *w.base
            .get_unchecked(reference.selector() as usize)
            .add(reference.offset() as usize)
            .cast::<u32>()
    }
}

/// Lanes of a vector register.
#[inline(always)]
unsafe fn lanes(w: &Wave, offset: u32) -> *mut u32 {
    // SAFETY: the lowering made the offset.
    unsafe { w.base[0].add(offset as usize).cast() }
}

/// `v_readfirstlane_b32`: slot `d` from the first active lane of `s[0]` (lane 0 if there is none).
pub unsafe fn read_first_lane(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: operands by the lowering.
    unsafe {
        let exec = w.exec();
        let lane = if exec == 0 {
            0
        } else {
            exec.trailing_zeros() as usize
        };
        w.sgpr[(*op).d as usize] = *lanes(w, (*op).s[0].offset()).add(lane);
        op.add(1)
    }
}

/// `v_readfirstlane_b32` of a scalar or a constant.
pub unsafe fn read_scalar(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: operands by the lowering.
    unsafe {
        w.sgpr[(*op).d as usize] = scalar(w, (*op).s[0]);
        op.add(1)
    }
}

/// `v_readlane_b32`: slot `d` from lane `s[1]` (modulo the wave size) of `s[0]`, whatever EXEC is.
pub unsafe fn read_lane(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: operands by the lowering; the lane is inside the wave.
    unsafe {
        let lane = scalar(w, (*op).s[1]) as usize & (w.lanes() - 1);
        w.sgpr[(*op).d as usize] = *lanes(w, (*op).s[0].offset()).add(lane);
        op.add(1)
    }
}

/// `v_writelane_b32`: lane `s[1]` (modulo the wave size) of register `d` from `s[0]`, whatever EXEC is.
pub unsafe fn write_lane(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: operands by the lowering; the lane is inside the wave.
    unsafe {
        let lane = scalar(w, (*op).s[1]) as usize & (w.lanes() - 1);
        let value = scalar(w, (*op).s[0]);
        *lanes(w, (*op).d).add(lane) = value;
        op.add(1)
    }
}

/// `v_swap_b32`.
pub unsafe fn swap(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: operands by the lowering.
    unsafe {
        swap_lanes(w, (*op).d, (*op).s[0].offset());
        op.add(1)
    }
}

/// `v_swap_b16`: swaps the half `aux[0]` of the destination with the half `aux[1]` of the source.
pub unsafe fn swap_halves(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: operands by the lowering.
    unsafe {
        let [a_shift, b_shift] = [(*op).aux[0], (*op).aux[1]].map(|half| 16 * half);
        let exec = w.exec();
        let (a, b) = (lanes(w, (*op).d), lanes(w, (*op).s[0].offset()));
        for lane in 0..w.lanes() {
            if exec >> lane & 1 != 0 {
                let (a, b) = (a.add(lane), b.add(lane));
                let (x, y) = (*a >> a_shift & 0xffff, *b >> b_shift & 0xffff);
                *a = *a & !(0xffff << a_shift) | y << a_shift;
                *b = *b & !(0xffff << b_shift) | x << b_shift;
            }
        }
        op.add(1)
    }
}

/// Swaps the active lanes of two registers.
///
/// # Safety
/// The offsets are of registers of the wave.
unsafe fn swap_lanes(w: &Wave, a: u32, b: u32) {
    // SAFETY: by the caller.
    unsafe {
        let exec = w.exec();
        let (a, b) = (lanes(w, a), lanes(w, b));
        for lane in 0..w.lanes() {
            if exec >> lane & 1 != 0 {
                std::ptr::swap(a.add(lane), b.add(lane));
            }
        }
    }
}

/// `v_permlane16_b32` (`aux[0]` = 0), `v_permlanex16_b32` (`aux[0]` = 1): lane i of a row of 16 reads the lane of its own (of the
/// neighbouring) row that nibble i of the 64 bits in `s[1]`, `s[2]` selects. `aux[1]` bit 0: inactive source lanes can be read
/// (`fi`); bit 1: an inactive source gives 0 (`bound_ctrl`) rather than keeping the destination.
pub unsafe fn permute_rows(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: operands by the lowering.
    unsafe {
        let exec = w.exec();
        let select = u64::from(scalar(w, (*op).s[1])) | u64::from(scalar(w, (*op).s[2])) << 32;
        let cross = if (*op).aux[0] != 0 { 16 } else { 0 };
        let flags = (*op).aux[1];
        let source = Lanes(std::array::from_fn(|lane| {
            if lane < w.lanes() {
                *lanes(w, (*op).s[0].offset()).add(lane)
            } else {
                0
            }
        }));
        let target = lanes(w, (*op).d);
        for lane in 0..w.lanes() {
            if exec >> lane & 1 == 0 {
                continue;
            }
            let from = ((lane & !15) ^ cross) | (select >> (4 * (lane & 15)) & 15) as usize;
            if flags & 1 != 0 || exec >> from & 1 != 0 {
                *target.add(lane) = source.0[from];
            } else if flags & 2 != 0 {
                *target.add(lane) = 0;
            }
        }
        op.add(1)
    }
}

/// `v_permlane16_var_b32`, `v_permlanex16_var_b32`: as [`permute_rows`], by the low four bits of each lane's `s[1]`.
pub unsafe fn permute_rows_by_lane(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: operands by the lowering.
    unsafe {
        let exec = w.exec();
        let cross = if (*op).aux[0] != 0 { 16 } else { 0 };
        let flags = (*op).aux[1];
        let (source, select) = (lanes(w, (*op).s[0].offset()), lanes(w, (*op).s[1].offset()));
        let result: [Option<u32>; 64] = std::array::from_fn(|lane| {
            if lane >= w.lanes() || exec >> lane & 1 == 0 {
                return None;
            }
            let from = ((lane & !15) ^ cross) | (*select.add(lane) & 15) as usize;
            if flags & 1 != 0 || exec >> from & 1 != 0 {
                Some(*source.add(from))
            } else {
                (flags & 2 != 0).then_some(0)
            }
        });
        let target = lanes(w, (*op).d);
        for (lane, value) in result.into_iter().enumerate() {
            if let Some(value) = value {
                *target.add(lane) = value;
            }
        }
        op.add(1)
    }
}

/// `v_permlane64_b32`: swaps the halves of a wave64; nothing in wave32.
pub unsafe fn permute_64(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: operands by the lowering.
    unsafe {
        if w.lanes() == 64 {
            let exec = w.exec();
            let source = Lanes(std::array::from_fn(|lane| {
                *lanes(w, (*op).s[0].offset()).add(lane)
            }));
            let target = lanes(w, (*op).d);
            for lane in 0..64 {
                if exec >> lane & 1 != 0 {
                    *target.add(lane) = source.0[lane ^ 32];
                }
            }
        }
        op.add(1)
    }
}

/// `v_permlane16_swap_b32` (`aux[0]` = 16), `v_permlane32_swap_b32` (32): the rows of `d` with this bit in their lane numbers change places
/// with those of `s[0]` without it. `aux[1]` bit 0: inactive lanes can be read (`fi`); bit 1: an inactive lane gives 0 (`bound_ctrl`)
/// rather than keeping what takes its place. Inactive lanes are not written.
pub unsafe fn swap_rows(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: operands by the lowering; the lanes are inside the wave.
    unsafe {
        let exec = w.exec();
        let (distance, flags) = ((*op).aux[0] as usize, (*op).aux[1]);
        let (low, high) = (lanes(w, (*op).s[0].offset()), lanes(w, (*op).d));
        let active = |lane: usize| exec >> lane & 1 != 0;
        let read = |from: *mut u32, lane: usize, kept: u32| {
            if flags & 1 != 0 || active(lane) {
                *from.add(lane)
            } else if flags & 2 != 0 {
                0
            } else {
                kept
            }
        };
        for lane in (0..w.lanes()).filter(|lane| lane & distance == 0) {
            let partner = lane + distance;
            let to_low = read(high, partner, *low.add(lane));
            let to_high = read(low, lane, *high.add(partner));
            if active(lane) {
                *low.add(lane) = to_low;
            }
            if active(partner) {
                *high.add(partner) = to_high;
            }
        }
        op.add(1)
    }
}

/// A dword of a lane of a source: a register, a scalar or a constant.
pub(super) unsafe fn source_dword(w: &Wave, reference: Ref, lane: usize, dword: usize) -> u32 {
    // SAFETY: the lowering made the reference; a source has as many dwords as are asked for.
    unsafe {
        let base = w.base[reference.selector() as usize].add(reference.offset() as usize);
        let at = match reference.selector() {
            Ref::FILE => dword * w.stride() + 4 * lane,
            Ref::POOL => 64 * dword,
            _ => 4 * dword,
        };
        *base.add(at).cast()
    }
}

/// `v_mqsad_u32_u8`: four masked sums of absolute differences over a window that slides through the 64 bits of `s[0]`, each added to a
/// dword of `s[2]`. `sad` is the function on one dword.
pub unsafe fn masked_quad_sad(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: operands by the lowering.
    unsafe {
        let exec = w.exec();
        for lane in 0..w.lanes() {
            if exec >> lane & 1 == 0 {
                continue;
            }
            let low = u64::from(source_dword(w, (*op).s[0], lane, 0));
            let window = low | u64::from(source_dword(w, (*op).s[0], lane, 1)) << 32;
            let reference = source_dword(w, (*op).s[1], lane, 0);
            let sums: [u32; 4] = std::array::from_fn(|n| {
                let from = (window >> (8 * n)) as u32;
                let start = source_dword(w, (*op).s[2], lane, n);
                masked_sad(from, reference, start)
            });
            for (n, sum) in sums.into_iter().enumerate() {
                *lanes(w, (*op).d + (n * w.stride()) as u32).add(lane) = sum;
            }
        }
        op.add(1)
    }
}

/// `c` plus the absolute differences of the bytes of `a` and `b`, those left out where `b` is 0.
pub fn masked_sad(a: u32, b: u32, c: u32) -> u32 {
    (0..4).fold(c, |sum, n| {
        let (a, b) = (a >> (8 * n) & 0xff, b >> (8 * n) & 0xff);
        if b == 0 {
            sum
        } else {
            sum.wrapping_add(a.abs_diff(b))
        }
    })
}

/// `v_swaprel_b32`: swaps two registers, the source moved by M0 9:0 and the destination by M0 25:16.
pub unsafe fn swap_relative(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: operands by the lowering, and the moved registers are checked.
    unsafe {
        let stride = w.stride();
        let m0 = w.sgpr[w.m0] as usize;
        let from = (*op).s[0].offset() as usize / stride + (m0 & 0x3ff);
        let to = (*op).d as usize / stride + (m0 >> 16 & 0x3ff);
        if from.max(to) >= w.vgpr_count as usize {
            return w.stop(
                op,
                super::run::Exit::Aperture {
                    address: m0 as u64,
                    write: false,
                    lane: None,
                },
            );
        }
        swap_lanes(w, (to * stride) as u32, (from * stride) as u32);
        op.add(1)
    }
}

/// `v_movrels_b32` (`aux[0]` bit 0: the source register is moved by M0), `v_movreld_b32` (bit 1: the destination), both for
/// `v_movrelsd_b32`; with bit 2 the destination is moved by M0 25:16, for `v_movrelsd_2_b32`), and GFX9's moves under VGPR indexing.
/// `aux[1]` masks M0. A register past the file stops the wave.
pub unsafe fn move_relative(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: operands by the lowering, and the moved registers are checked.
    unsafe {
        let stride = w.stride();
        let by = (w.sgpr[w.m0] & (*op).aux[1]) as usize;
        let by_to = if (*op).aux[0] & 4 != 0 {
            (w.sgpr[w.m0] >> 16 & 0x3ff) as usize
        } else {
            by
        };
        let limit = w.vgpr_count as usize;
        let moved = |offset: u32, bit: u32| {
            let first = offset as usize / stride;
            let index = if (*op).aux[0] & bit != 0 {
                first.wrapping_add(if bit == 2 { by_to } else { by })
            } else {
                first
            };
            (index < limit).then_some(index * stride)
        };
        let source = (*op).s[0];
        let to = moved((*op).d, 2);
        let from = if source.selector() == Ref::FILE {
            moved(source.offset(), 1)
        } else {
            Some(0)
        };
        let (Some(to), Some(from)) = (to, from) else {
            return w.stop(
                op,
                super::run::Exit::Aperture {
                    address: by as u64,
                    write: false,
                    lane: None,
                },
            );
        };
        let exec = w.exec();
        let value = if source.selector() == Ref::FILE {
            0
        } else {
            scalar(w, source)
        };
        for lane in 0..w.lanes() {
            if exec >> lane & 1 != 0 {
                let value = if source.selector() == Ref::FILE {
                    *lanes(w, from as u32).add(lane)
                } else {
                    value
                };
                *lanes(w, to as u32).add(lane) = value;
            }
        }
        op.add(1)
    }
}
