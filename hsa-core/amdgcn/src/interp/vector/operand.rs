//! Sources and destinations of vector operations.

use crate::ir::{Op, Ref};

use super::{
    super::wave::{Lanes, TEMPS, Wave},
    GROUP, Value,
};

/// A resolved source.
#[derive(Clone, Copy)]
pub(super) struct Source {
    pub(super) at: *const u8,
    /// Bytes to the next group of lanes; 0 for a splat.
    pub(super) step: usize,
    /// Bytes to the second dword.
    pub(super) next: usize,
}

/// First temporary that splats of scalar sources use, one for each source.
const SPLAT: usize = TEMPS - 4;

#[inline(always)]
pub(super) unsafe fn source<V: Value>(w: &mut Wave, reference: Ref, number: usize) -> Source {
    let selector = reference.selector() as usize;
    let offset = reference.offset() as usize;
    // SAFETY: the lowering made the reference: it is inside its base, second dword included.
    unsafe {
        if selector == Ref::SCALAR as usize {
            let scalar: *const u32 = w.sgpr.as_ptr().byte_add(offset);
            let line: *mut [u32; GROUP] = w.temps[SPLAT + number].0.as_mut_ptr().cast();
            *line = [*scalar; GROUP];
            if V::DWORDS == 2 {
                *line.add(1) = [*scalar.add(1); GROUP];
            }
            return Source {
                at: line.cast(),
                step: 0,
                next: 64,
            };
        }
        let base = *w.base.get_unchecked(selector);
        let (step, next) = match selector {
            0 => (64, w.chunks * 64),
            1 => (0, 64),
            _ => (64, size_of::<Lanes>()),
        };
        Source {
            at: base.add(offset),
            step,
            next,
        }
    }
}

/// The bits of one lane of a source of one or two dwords.
///
/// # Safety
/// The reference was made by the lowering for a source of the wave's program, `number` is below 4, and the lane is one of the wave's.
pub(in crate::interp) unsafe fn source_bits(
    w: &mut Wave,
    reference: Ref,
    number: usize,
    dwords: u32,
    lane: usize,
) -> u64 {
    // SAFETY: by the caller.
    unsafe {
        if dwords == 2 {
            source::<u64>(w, reference, number).lane(lane)
        } else {
            u64::from(source::<u32>(w, reference, number).lane::<u32>(lane))
        }
    }
}

impl Source {
    #[inline(always)]
    pub(super) unsafe fn lane<V: Value>(self, lane: usize) -> V {
        // SAFETY: by the construction of the source.
        unsafe {
            let at = self.at.add(lane / GROUP * self.step + lane % GROUP * 4);
            V::from_dwords(
                *at.cast(),
                if V::DWORDS == 1 {
                    0
                } else {
                    *at.add(self.next).cast()
                },
            )
        }
    }

    #[inline(always)]
    pub(super) unsafe fn group<V: Value>(self, group: usize) -> [V; GROUP] {
        // SAFETY: by the construction of the source.
        unsafe {
            let at = self.at.add(group * self.step);
            let low: [u32; GROUP] = *at.cast();
            if V::DWORDS == 1 {
                lanes!(lane => V::from_dwords(low[lane], 0))
            } else {
                let high: [u32; GROUP] = *at.add(self.next).cast();
                lanes!(lane => V::from_dwords(low[lane], high[lane]))
            }
        }
    }
}

/// A vector destination.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub(super) at: *mut u8,
    pub(super) next: usize,
}

/// `Op::d` refers to a temporary instead of a register when this bit is set.
pub const TEMP_DST: u32 = 1 << 31;

#[inline(always)]
pub(super) unsafe fn target(w: &mut Wave, d: u32) -> Target {
    // SAFETY: the lowering made the offset.
    unsafe {
        if d & TEMP_DST == 0 {
            Target {
                at: w.base[0].add(d as usize),
                next: w.chunks * 64,
            }
        } else {
            Target {
                at: w.base[2].add((d & !TEMP_DST) as usize),
                next: size_of::<Lanes>(),
            }
        }
    }
}

impl Target {
    /// Stores one lane.
    #[inline(always)]
    pub(super) unsafe fn put_lane<V: Value>(self, lane: usize, value: V) {
        let (low, high) = value.to_dwords();
        // SAFETY: inside the file or the temporaries.
        unsafe {
            let at = self.at.add(4 * lane);
            *at.cast() = low;
            if V::DWORDS == 2 {
                *at.add(self.next).cast() = high;
            }
        }
    }

    /// Stores a group under EXEC.
    #[inline(always)]
    pub(super) unsafe fn put<V: Value>(
        self,
        w: &Wave,
        full: bool,
        group: usize,
        values: &[V; GROUP],
    ) {
        let low: [u32; GROUP] = lanes!(lane => values[lane].to_dwords().0);
        // SAFETY: inside the file or the temporaries.
        unsafe {
            let at = self.at.add(group * 64);
            put_line(w, full, group, at, &low);
            if V::DWORDS == 2 {
                let high: [u32; GROUP] = lanes!(lane => values[lane].to_dwords().1);
                put_line(w, full, group, at.add(self.next), &high);
            }
        }
    }
}

#[inline(always)]
pub(super) unsafe fn put_line(
    w: &Wave,
    full: bool,
    group: usize,
    at: *mut u8,
    line: &[u32; GROUP],
) {
    // SAFETY: by the caller.
    unsafe {
        let at: *mut [u32; GROUP] = at.cast();
        if full {
            *at = *line;
        } else {
            let mask: [u32; GROUP] = *w.mask_lanes.0.as_ptr().add(group * GROUP).cast();
            let old = *at;
            *at = lanes!(lane => (line[lane] & mask[lane]) | (old[lane] & !mask[lane]));
        }
    }
}

/// Applies a function to all lanes of `s[0]`, into `d`, whatever EXEC is.
///
/// # Safety
/// The operation is of the wave's program.
#[inline(always)]
pub unsafe fn change_all<V: Value>(w: &mut Wave, op: &Op, change: impl Fn(V) -> V) {
    // SAFETY: by the caller.
    unsafe {
        let from = source::<V>(w, op.s[0], 0);
        let to = target(w, op.d);
        for group in 0..w.chunks {
            let values = from.group::<V>(group);
            to.put(w, true, group, &lanes!(lane => change(values[lane])));
        }
    }
}
