//! Loads and stores of GFX12 that are more than one element for each lane: blocks of up to 32 registers, and matrices that are transposed
//! on their way.

use super::{
    lanes::{Addresses, try_each_lane},
    space::{Global, Space, check_scratch, site},
    vector::{finish, gather_scratch, scatter_scratch},
};
use crate::{
    interp::{run::Exit, wave::Wave},
    ir::Op,
};

/// Registers of a block.
pub const BLOCK: u32 = 32;

/// `*_load_block` and `*_store_block`: register n and the dword n of the lane's block, for each bit n of M0. `SCRATCH`: the block is in
/// scratch rather than in global memory. `STORE`: from `s[1]`; otherwise into `d`.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn block<const STORE: bool, const SCRATCH: bool>(
    w: &mut Wave,
    op: *const Op,
) -> *const Op {
    // SAFETY: registers were checked by the lowering; memory is resolved before it is touched.
    unsafe {
        if w.exec() == 0 {
            return op.add(1);
        }
        let at = Addresses::of(w, op);
        let chosen = w.sgpr[w.m0];
        let first = if STORE {
            (*op).s[1].offset() as usize
        } else {
            (*op).d as usize
        };
        let stride = w.stride();
        let result = try_each_lane(w, |w, lane| {
            let mut rest = chosen;
            while rest != 0 {
                let number = rest.trailing_zeros();
                rest &= rest - 1;
                let address = at.lane(lane).wrapping_add(4 * u64::from(number));
                let register: *mut u32 = w.base[0]
                    .add(first + number as usize * stride + 4 * lane)
                    .cast();
                if SCRATCH {
                    let offset = address as u32;
                    check_scratch(w, offset, 4, STORE, lane)?;
                    if STORE {
                        scatter_scratch(w, lane, offset, &(*register).to_le_bytes());
                    } else {
                        gather_scratch(w, lane, offset, register.cast(), 4);
                    }
                } else {
                    let memory: *mut u32 = Global::resolve::<STORE>(w, site(op), address, 4)
                        .map_err(|fault| Global::exit(fault, lane))?
                        .cast();
                    if STORE {
                        memory.write_unaligned(*register);
                    } else {
                        *register = memory.read_unaligned();
                    }
                }
            }
            Ok(())
        });
        finish(w, op, result)
    }
}

/// Rows and columns of a matrix that is transposed.
const SIDE: usize = 16;

/// `global_load_tr`: a matrix of 16 × 16 elements, of which lane n reads consecutive ones of row n mod 16, from column
/// (n ÷ 16) × (elements of a lane) on; the lane gets the elements of column n mod 16, from row (n ÷ 16) × (elements of a lane) on. That is the
/// layout of the operands of wave matrix operations. Lanes that are not active read nothing; what they would have read is 0.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn transposed<const ELEMENT: usize>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: registers were checked by the lowering; memory is resolved before it is touched.
    unsafe {
        if w.exec() == 0 {
            return op.add(1);
        }
        let at = Addresses::of(w, op);
        let elements = SIDE * SIDE / w.lanes();
        let mut matrix = [[[0u8; ELEMENT]; SIDE]; SIDE];
        let place = |lane: usize, element: usize| (lane % SIDE, lane / SIDE * elements + element);
        let mut result = try_each_lane(w, |w, lane| {
            let bytes = (elements * ELEMENT) as u64;
            let memory = Global::resolve::<false>(w, site(op), at.lane(lane), bytes)
                .map_err(|fault| Global::exit(fault, lane))?;
            for element in 0..elements {
                let (row, column) = place(lane, element);
                matrix[row][column] = memory
                    .add(element * ELEMENT)
                    .cast::<[u8; ELEMENT]>()
                    .read_unaligned();
            }
            Ok::<(), Exit>(())
        });
        if result.is_ok() {
            let stride = w.stride();
            result = try_each_lane(w, |w, lane| {
                for element in 0..elements {
                    let (column, row) = place(lane, element);
                    let byte = element * ELEMENT;
                    let register =
                        w.base[0].add((*op).d as usize + byte / 4 * stride + 4 * lane + byte % 4);
                    register
                        .cast::<[u8; ELEMENT]>()
                        .write_unaligned(matrix[row][column]);
                }
                Ok(())
            });
        }
        finish(w, op, result)
    }
}
