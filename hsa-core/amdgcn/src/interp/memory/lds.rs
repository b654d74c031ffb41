//! LDS operations of other shapes: two addresses, add-TID addressing, cross-lane operations, append and consume.

use super::{
    atomic::{Rmw, Word},
    lanes::{Addresses, each_lane, try_each_lane},
    space::{Lds, Space},
    vector::finish,
};
use crate::{
    interp::{run::Exit, wave::Wave},
    ir::Op,
};

/// The byte offsets of the two-address forms: `imm` in the low half, and in the high half.
#[inline(always)]
fn offsets(imm: u64) -> [u64; 2] {
    [imm & 0xffff_ffff, imm >> 32]
}

/// The lanes' addresses without the immediate.
#[inline(always)]
unsafe fn plain(w: &Wave, op: *const Op) -> Addresses {
    // SAFETY: by the caller.
    unsafe {
        Addresses {
            base: 0,
            ..Addresses::of(w, op)
        }
    }
}

/// `ds_read2*`: two words into consecutive registers.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
#[inline(always)]
pub unsafe fn read2<W: Word>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: registers were checked by the lowering; LDS is resolved before it is read.
    unsafe {
        if w.exec() == 0 {
            return op.add(1);
        }
        let at = plain(w, op);
        {
            let result = read2_at::<W>(w, op, at);
            finish(w, op, result)
        }
    }
}

#[inline(always)]
unsafe fn read2_at<W: Word>(w: &mut Wave, op: *const Op, at: Addresses) -> Result<(), Exit> {
    // SAFETY: as for `read2`.
    unsafe {
        let stride = w.chunks * 16;
        let size = size_of::<W>() as u64;
        let dst: *mut u32 = w.base[0].add((*op).d as usize).cast();
        let offsets = offsets((*op).imm);
        let mut rest = w.exec();
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let address = at.lane(lane);
            let mut values = [W::default(); 2];
            for (value, offset) in values.iter_mut().zip(offsets) {
                let src = Lds::resolve::<false>(w, 0, address + offset, size)
                    .map_err(|f| Lds::exit(f, lane))?;
                *value = src.cast::<W>().read_unaligned();
            }
            values[0].write(dst.add(lane), stride);
            values[1].write(dst.add(lane + W::DWORDS * stride), stride);
        }
        Ok(())
    }
}

/// `ds_write2*`: two words from `s[1]` and `s[2]`.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
#[inline(always)]
pub unsafe fn write2<W: Word>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: registers were checked by the lowering; LDS is resolved before it is written.
    unsafe {
        if w.exec() == 0 {
            return op.add(1);
        }
        let at = plain(w, op);
        {
            let result = write2_at::<W>(w, op, at);
            finish(w, op, result)
        }
    }
}

#[inline(always)]
unsafe fn write2_at<W: Word>(w: &mut Wave, op: *const Op, at: Addresses) -> Result<(), Exit> {
    // SAFETY: as for `write2`.
    unsafe {
        let stride = w.chunks * 16;
        let size = size_of::<W>() as u64;
        let offsets = offsets((*op).imm);
        let data = [1, 2].map(|s| {
            w.base[0]
                .add((*op).s[s].offset() as usize)
                .cast::<u32>()
                .cast_const()
        });
        let mut rest = w.exec();
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let address = at.lane(lane);
            for (data, offset) in data.into_iter().zip(offsets) {
                let dst = Lds::resolve::<true>(w, 0, address + offset, size)
                    .map_err(|f| Lds::exit(f, lane))?;
                dst.cast::<W>()
                    .write_unaligned(W::read(data.add(lane), stride));
            }
        }
        Ok(())
    }
}

/// `ds_wrxchg2*`: two exchanges.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
#[inline(always)]
pub unsafe fn exchange2<W: Word>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: registers were checked by the lowering; LDS is resolved before it is touched.
    unsafe {
        if w.exec() == 0 {
            return op.add(1);
        }
        let at = plain(w, op);
        {
            let result = exchange2_at::<W>(w, op, at);
            finish(w, op, result)
        }
    }
}

#[inline(always)]
unsafe fn exchange2_at<W: Word>(w: &mut Wave, op: *const Op, at: Addresses) -> Result<(), Exit> {
    // SAFETY: as for `exchange2`.
    unsafe {
        let stride = w.chunks * 16;
        let size = size_of::<W>() as u64;
        let offsets = offsets((*op).imm);
        let data = [1, 2].map(|s| {
            w.base[0]
                .add((*op).s[s].offset() as usize)
                .cast::<u32>()
                .cast_const()
        });
        let dst: *mut u32 = w.base[0].add((*op).d as usize).cast();
        let mut rest = w.exec();
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let address = at.lane(lane);
            let new = data.map(|data| W::read(data.add(lane), stride));
            for n in 0..2 {
                let word = Lds::resolve::<true>(w, 0, address + offsets[n], size)
                    .map_err(|f| Lds::exit(f, lane))?;
                let old = word.cast::<W>().read_unaligned();
                word.cast::<W>().write_unaligned(new[n]);
                old.write(dst.add(lane + n * W::DWORDS * stride), stride);
            }
        }
        Ok(())
    }
}

/// `ds_read_b64_tr_*`, `ds_read_b96_tr_b6`: each lane reads `DWORDS` dwords of elements of `BITS` bits, and the elements of sixteen lanes are
/// transposed. They are rows of sixteen, each in as many consecutive lanes as hold it; lane n gets the n-th element of every row.
///
/// The ISA asks for a full EXEC. Lanes that it leaves out are not read, their elements are 0, and are not written.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn read_transposed<const BITS: usize, const DWORDS: usize>(
    w: &mut Wave,
    op: *const Op,
) -> *const Op {
    // SAFETY: registers were checked by the lowering; LDS is resolved before it is read.
    unsafe {
        if w.exec() == 0 {
            return op.add(1);
        }
        let at = Addresses::of(w, op);
        let mut loaded = [0u128; 64];
        let read = try_each_lane(w, |w, lane| {
            let from = Lds::resolve::<false>(w, 0, at.lane(lane), 4 * DWORDS as u64)
                .map_err(|fault| Lds::exit(fault, lane))?;
            let to: *mut u8 = (&raw mut loaded[lane]).cast();
            std::ptr::copy_nonoverlapping(from, to, 4 * DWORDS);
            Ok(())
        });
        if let Err(exit) = read {
            return w.stop(op, exit);
        }
        let stride = w.chunks * 16;
        let dst: *mut u32 = w.base[0].add((*op).d as usize).cast();
        // Elements of a lane, which is the number of rows too.
        let elements = 32 * DWORDS / BITS;
        let lanes_of_row = 16 / elements;
        each_lane(w.exec(), |lane| {
            let (first, column) = (lane & !15, lane & 15);
            let mut out = 0u128;
            for row in 0..elements {
                let from = loaded[first + row * lanes_of_row + column / elements];
                let element = from >> (column % elements * BITS) & ((1 << BITS) - 1);
                out |= element << (row * BITS);
            }
            for dword in 0..DWORDS {
                *dst.add(dword * stride + lane) = (out >> (32 * dword)) as u32;
            }
        });
        op.add(1)
    }
}

/// `ds_bpermute_b32`: each lane reads the data of the lane that its address names (in bytes). Inactive source lanes give 0.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
#[inline(always)]
pub unsafe fn bpermute(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: registers were checked by the lowering.
    unsafe {
        let exec = w.exec();
        let lanes = w.chunks * 16;
        let address: *const u32 = w.base[0].add((*op).s[0].offset() as usize).cast();
        let data: *const u32 = w.base[0].add((*op).s[1].offset() as usize).cast();
        let dst: *mut u32 = w.base[0].add((*op).d as usize).cast();
        let offset = (*op).imm as u32;
        let readable = if (*op).aux[1] != 0 { u64::MAX } else { exec };
        let mut result = [0u32; 64];
        for (lane, value) in result[..lanes].iter_mut().enumerate() {
            let from = (*address.add(lane)).wrapping_add(offset) as usize / 4 % lanes;
            *value = if readable >> from & 1 != 0 {
                *data.add(from)
            } else {
                0
            };
        }
        write_active(exec, &result, dst);
        op.add(1)
    }
}

/// `ds_permute_b32`: each lane sends its data to the lane that its address names; the highest sender wins, lanes without get 0.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn permute(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: registers were checked by the lowering.
    unsafe {
        let exec = w.exec();
        let lanes = w.chunks * 16;
        let address: *const u32 = w.base[0].add((*op).s[0].offset() as usize).cast();
        let data: *const u32 = w.base[0].add((*op).s[1].offset() as usize).cast();
        let dst: *mut u32 = w.base[0].add((*op).d as usize).cast();
        let offset = (*op).imm as u32;
        let mut result = [0u32; 64];
        each_lane(exec, |lane| {
            let to = (*address.add(lane)).wrapping_add(offset) as usize / 4 % lanes;
            result[to] = *data.add(lane);
        });
        write_active(exec, &result, dst);
        op.add(1)
    }
}

/// `ds_swizzle_b32`, by the 16-bit offset in `imm`. Inactive source lanes give 0.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn swizzle(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: registers were checked by the lowering.
    unsafe {
        let exec = w.exec();
        let lanes = w.chunks * 16;
        let data: *const u32 = w.base[0].add((*op).s[0].offset() as usize).cast();
        let dst: *mut u32 = w.base[0].add((*op).d as usize).cast();
        let pattern = (*op).imm as usize;
        let mut result = [0u32; 64];
        for (lane, value) in result[..lanes].iter_mut().enumerate() {
            let from = swizzle_source(pattern, lane);
            *value = if exec >> from & 1 != 0 {
                *data.add(from)
            } else {
                0
            };
        }
        write_active(exec, &result, dst);
        op.add(1)
    }
}

/// Source lane of a swizzle.
fn swizzle_source(pattern: usize, lane: usize) -> usize {
    if pattern >= 0xe000 {
        // FFT: not a plain permutation of 32 lanes by masks; the lowering refuses it.
        lane
    } else if pattern >= 0xc000 {
        // Rotate in groups of 32: bit 10 the direction (1: to lower lanes' numbers), bits 9:5 the count, bits 4:0 the mask of bits kept.
        let count = pattern >> 5 & 31;
        let keep = pattern & 31;
        let within = lane & 31;
        let rotated = if pattern >> 10 & 1 != 0 {
            within.wrapping_sub(count)
        } else {
            within + count
        } & 31;
        lane & !31 | within & keep | rotated & !keep & 31
    } else if pattern & 0x8000 != 0 {
        // Quad permutation: two bits for each lane of four.
        lane & !3 | pattern >> (2 * (lane & 3)) & 3
    } else {
        let (and, or, xor) = (pattern & 31, pattern >> 5 & 31, pattern >> 10 & 31);
        lane & !31 | ((lane & and) | or) ^ xor
    }
}

/// Writes results into active lanes.
unsafe fn write_active(exec: u64, result: &[u32; 64], dst: *mut u32) {
    // SAFETY: by the callers.
    each_lane(exec, |lane| unsafe { *dst.add(lane) = result[lane] });
}

/// `ds_append` and `ds_consume`: the number of active lanes is added to (subtracted from) the dword at `imm` + the low
/// half of m0, where compilers put the address (the ISA's documents say the high half, which is for the global data share); every active lane gets the
/// old value.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
#[inline(always)]
pub unsafe fn count<R: Rmw<Word = u32>>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: registers were checked by the lowering; LDS is resolved before it is touched.
    unsafe {
        let exec = w.exec();
        if exec == 0 {
            return op.add(1);
        }
        let address = (*op).imm + u64::from(w.sgpr[w.m0] & 0xffff);
        match Lds::resolve::<true>(w, 0, address, 4) {
            Ok(word) => {
                let word: *mut u32 = word.cast();
                let old = word.read_unaligned();
                word.write_unaligned(R::apply(old, exec.count_ones(), 0));
                let dst: *mut u32 = w.base[0].add((*op).d as usize).cast();
                each_lane(exec, |lane| *dst.add(lane) = old);
                op.add(1)
            }
            Err(fault) => w.stop(op, Lds::exit(fault, exec.trailing_zeros() as usize)),
        }
    }
}

/// `ds_*_src2_*`: the word at a lane's address becomes a function of itself and a second word of LDS, whose distance in dwords is the offset
/// field, or, if that is negative, the high bits of the address.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn with_memory_operand<R: Rmw>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: registers were checked by the lowering; LDS is resolved before it is touched.
    unsafe {
        let size = size_of::<R::Word>() as u64;
        let address: *const u32 = w.base[0].add((*op).s[0].offset() as usize).cast();
        let offset = (*op).imm as u16;
        let mut rest = w.exec();
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let first = *address.add(lane);
            let distance = if offset >> 15 != 0 {
                first.cast_signed() >> 17
            } else {
                // 15 bits, sign-extended.
                i32::from((offset << 1).cast_signed() >> 1)
            };
            let second = first.wrapping_add_signed(distance.wrapping_mul(4));
            let word = |at: u32| Lds::resolve::<true>(w, 0, u64::from(at), size);
            let (first, second) = match (word(first), word(second)) {
                (Ok(first), Ok(second)) => (first, second),
                (Err(fault), _) | (_, Err(fault)) => return w.stop(op, Lds::exit(fault, lane)),
            };
            let first: *mut R::Word = first.cast();
            let operand = second.cast::<R::Word>().read_unaligned();
            first.write_unaligned(R::apply(first.read_unaligned(), operand, operand));
        }
        op.add(1)
    }
}

/// `ds_condxchg32_rtn_b64`: two dwords at an address aligned to eight bytes; each half of the data whose top bit is set replaces its dword,
/// without that bit. Gives both old dwords.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn conditional_exchange(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: registers were checked by the lowering; LDS is resolved before it is touched.
    unsafe {
        let stride = w.chunks * 16;
        let at = Addresses::of(w, op);
        let data: *const u32 = w.base[0].add((*op).s[1].offset() as usize).cast();
        let dst: *mut u32 = w.base[0].add((*op).d as usize).cast();
        let mut rest = w.exec();
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let address = at.lane(lane) & 0xfff8;
            let host: *mut u32 = match Lds::resolve::<true>(w, 0, address, 8) {
                Ok(host) => host.cast(),
                Err(fault) => return w.stop(op, Lds::exit(fault, lane)),
            };
            for half in 0..2 {
                let value = *data.add(lane + half * stride);
                let old = host.add(half).read_unaligned();
                if value >> 31 != 0 {
                    host.add(half).write_unaligned(value & 0x7fff_ffff);
                }
                *dst.add(lane + half * stride) = old;
            }
        }
        op.add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::swizzle_source;

    #[test]
    fn swizzle_patterns_follow_the_isa_manual() {
        // Quad permutation 0,1,2,3 -> 3,2,1,0.
        let reverse = 0x8000 | 3 | 2 << 2 | 1 << 4;
        assert_eq!(
            (0..8)
                .map(|lane| swizzle_source(reverse, lane))
                .collect::<Vec<_>>(),
            [3, 2, 1, 0, 7, 6, 5, 4]
        );
        // SWAPX1: and 31, or 0, xor 1.
        assert_eq!(
            (0..4)
                .map(|lane| swizzle_source(0x041f, lane))
                .collect::<Vec<_>>(),
            [1, 0, 3, 2]
        );
        // BROADCAST(32, 15): and 0, or 15.
        assert_eq!(swizzle_source(15 << 5, 3), 15);
        assert_eq!(swizzle_source(15 << 5, 40), 47);
    }
}
