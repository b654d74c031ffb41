//! The addresses of a wave's lanes, and the pattern in them.
//!
//! Most memory instructions access consecutive elements or one and the same address in all lanes. Both are found with one pass over the
//! address registers, in vector code, and then served with whole vectors. Lanes that EXEC turns off are left out.

use std::sync::LazyLock;

use super::flag;
use crate::{
    interp::{level::Level, run::Exit, wave::Wave},
    ir::Op,
};

/// The pattern in the addresses of the active lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Lane n accesses the first active lane's address plus (n − first) × step.
    Consecutive,
    /// All lanes access one address.
    Uniform,
    /// Low halves lie between these two (both the lowest byte of a lane); high halves are equal.
    Near {
        /// Least low half.
        min: u32,
        /// Greatest low half.
        max: u32,
    },
    /// Anything.
    Far,
}

/// Addresses: a uniform base, and 32 or 64 bits of each lane.
#[derive(Clone, Copy, Debug)]
pub struct Addresses {
    /// Uniform part: immediate and scalar base.
    pub base: u64,
    /// Low halves; null: none.
    pub lo: *const u32,
    /// High halves; null: zero.
    pub hi: *const u32,
    /// First active lane.
    pub first: usize,
}

impl Addresses {
    /// Reads what the operation says about its address. At least one lane is active.
    ///
    /// # Safety
    /// `op` is a memory operation of the wave's program, with operands as [`flag`] describes.
    #[inline(always)]
    pub unsafe fn of(w: &Wave, op: *const Op) -> Self {
        // SAFETY: the lowering checked the registers against the wave's file.
        unsafe {
            let flags = (*op).aux[0];
            let mut base = (*op).imm;
            if flags & flag::SADDR != 0 {
                let at = (*op).aux[1] as usize;
                base = base.wrapping_add(if flags & flag::SADDR_WIDE != 0 {
                    w.pair(at)
                } else {
                    u64::from(*w.sgpr.get_unchecked(at))
                });
            }
            let lo: *const u32 = w.base[0].add((*op).s[0].offset() as usize).cast();
            let null = std::ptr::null();
            Self {
                base,
                lo: if flags & flag::VADDR != 0 { lo } else { null },
                hi: if flags & flag::WIDE != 0 {
                    lo.add(w.chunks * 16)
                } else {
                    null
                },
                first: w.exec().trailing_zeros() as usize,
            }
        }
    }

    /// Address of a lane.
    ///
    /// # Safety
    /// `lane` is below the wave size.
    #[inline(always)]
    pub unsafe fn lane(&self, lane: usize) -> u64 {
        // SAFETY: by the caller.
        unsafe {
            let lo = if self.lo.is_null() {
                0
            } else {
                u64::from(*self.lo.add(lane))
            };
            let hi = if self.hi.is_null() {
                0
            } else {
                u64::from(*self.hi.add(lane))
            };
            self.base.wrapping_add(hi << 32 | lo)
        }
    }

    /// Address of the first active lane.
    ///
    /// # Safety
    /// Some lane is active.
    #[inline(always)]
    pub unsafe fn of_first(&self) -> u64 {
        // SAFETY: by the caller.
        unsafe { self.lane(self.first) }
    }

    /// The pattern in the active lanes' addresses, for elements `step` bytes apart.
    ///
    /// # Safety
    /// Some lane is active.
    #[inline(always)]
    pub unsafe fn pattern(&self, w: &mut Wave, step: u32) -> Pattern {
        if self.lo.is_null() {
            return Pattern::Uniform;
        }
        // SAFETY: by the caller; the function is one that the host can run.
        unsafe { PATTERN(self, w, step) }
    }
}

/// The pattern search at the level in use. It is the part of a memory operation that gains most from wide vectors, so it alone is compiled
/// for each level, and once for all operations.
static PATTERN: LazyLock<unsafe fn(&Addresses, &mut Wave, u32) -> Pattern> =
    LazyLock::new(|| match Level::current() {
        Level::Portable => find_pattern,
        Level::Avx2 | Level::Avx512 => find_pattern_avx2,
    });

/// # Safety
/// The host has AVX2; as [`find_pattern`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn find_pattern_avx2(at: &Addresses, w: &mut Wave, step: u32) -> Pattern {
    // SAFETY: by the caller.
    unsafe { find_pattern(at, w, step) }
}

/// # Safety
/// Some lane is active and there is a vector address.
#[inline(always)]
unsafe fn find_pattern(at: &Addresses, w: &mut Wave, step: u32) -> Pattern {
    // SAFETY: by the caller.
    unsafe {
        let full = w.exec() == w.full_mask;
        if !full {
            w.refresh_mask();
        }
        let first = at.first;
        let lo0 = *at.lo.add(first);
        let start = lo0.wrapping_sub((first as u32).wrapping_mul(step));
        let (mut uneven, mut unequal, mut high) = ([0u32; 16], [0u32; 16], [0u32; 16]);
        let hi0 = if at.hi.is_null() {
            0
        } else {
            *at.hi.add(first)
        };
        for chunk in 0..w.chunks {
            let lo = at.lo.add(chunk * 16);
            let mask = &w.mask_lanes.0[chunk * 16..chunk * 16 + 16];
            for i in 0..16 {
                let lane = (chunk * 16 + i) as u32;
                let value = *lo.add(i);
                let mask = if full { u32::MAX } else { mask[i] };
                uneven[i] |= (value ^ start.wrapping_add(lane.wrapping_mul(step))) & mask;
                unequal[i] |= (value ^ lo0) & mask;
            }
            if !at.hi.is_null() {
                let hi = at.hi.add(chunk * 16);
                for i in 0..16 {
                    high[i] |= (*hi.add(i) ^ hi0) & if full { u32::MAX } else { mask[i] };
                }
            }
        }
        let any = |bits: &[u32; 16]| bits.iter().fold(0, |all, &b| all | b) != 0;
        if any(&high) {
            return Pattern::Far;
        }
        if !any(&uneven) {
            // The low half must not wrap around between the first and the last lane, if there is a base to add to it.
            let last = 63 - w.exec().leading_zeros() as usize;
            if lo0.checked_add((last - first) as u32 * step).is_some() {
                return Pattern::Consecutive;
            }
        }
        if !any(&unequal) {
            return Pattern::Uniform;
        }
        let (mut min, mut max) = ([lo0; 16], [lo0; 16]);
        for chunk in 0..w.chunks {
            let lo = at.lo.add(chunk * 16);
            let mask = &w.mask_lanes.0[chunk * 16..chunk * 16 + 16];
            for i in 0..16 {
                let value = *lo.add(i);
                let mask = if full { u32::MAX } else { mask[i] };
                min[i] = min[i].min(value & mask | lo0 & !mask);
                max[i] = max[i].max(value & mask | lo0 & !mask);
            }
        }
        Pattern::Near {
            min: min.iter().copied().fold(u32::MAX, u32::min),
            max: max.iter().copied().fold(0, u32::max),
        }
    }
}

/// Calls something for each set bit.
#[inline(always)]
pub fn each_lane(mut exec: u64, mut call: impl FnMut(usize)) {
    while exec != 0 {
        call(exec.trailing_zeros() as usize);
        exec &= exec - 1;
    }
}

/// Calls something for each active lane, until it fails.
#[inline(always)]
pub fn try_each_lane(
    w: &mut Wave,
    mut call: impl FnMut(&mut Wave, usize) -> Result<(), Exit>,
) -> Result<(), Exit> {
    let mut rest = w.exec();
    while rest != 0 {
        call(w, rest.trailing_zeros() as usize)?;
        rest &= rest - 1;
    }
    Ok(())
}
