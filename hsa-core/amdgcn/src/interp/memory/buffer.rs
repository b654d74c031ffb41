//! Buffer resources and their addressing.
//!
//! A resource is four dwords in SGPRs: a 48-bit base, a stride, a number of records, and flags (GFX9 and GFX10 ISA manuals, "Buffer
//! Resource Descriptor"). Reads out of range give 0, writes out of range are dropped. A resource whose base is at or above
//! [`SCRATCH_RESOURCE_BASE`] is the wave's own scratch: its scalar offset counts bytes of the whole wave (the stack pointer of GFX9 and
//! GFX10 code), its other offsets bytes of a lane.

use std::sync::atomic::{Ordering, fence};

use super::{
    atomic::{Flat, Return, Rmw, Word, apply_at},
    element::{Load, Store},
    flag,
    lanes::{Addresses, each_lane},
    space::Global,
    vector::{finish, load_from, load_scratch, store_scratch, store_to},
};
use crate::{interp::wave::Wave, ir::Op, launch::SCRATCH_RESOURCE_BASE};

/// A buffer resource, read from its SGPRs.
#[derive(Clone, Copy, Debug)]
pub struct Resource {
    base: u64,
    stride: u64,
    records: u64,
    swizzle: bool,
    /// Lanes of a swizzled row.
    index_stride: u64,
    element_size: u64,
    add_tid: bool,
    /// GFX10's choice of range check; GFX9: `None`.
    out_of_bounds: Option<u32>,
    /// Word 3.
    pub word3: u32,
}

impl Resource {
    /// Reads a resource.
    ///
    /// # Safety
    /// `d2` of the operation is the first of four slots.
    #[inline(always)]
    pub unsafe fn of(w: &Wave, op: *const Op) -> Self {
        // SAFETY: by the caller.
        unsafe {
            let at = (*op).d2 as usize;
            let gfx10 = (*op).aux[0] & flag::GFX10 != 0;
            let (word1, word3) = (w.sgpr[at + 1], w.sgpr[at + 3]);
            let add_tid = word3 >> 23 & 1 != 0;
            // On GFX9 the data format bits extend the stride when the thread id is added.
            let stride_hi = if add_tid && !gfx10 {
                u64::from(word3 >> 15 & 0xf) << 14
            } else {
                0
            };
            Self {
                base: w.pair(at) & 0xffff_ffff_ffff,
                stride: u64::from(word1 >> 16 & 0x3fff) | stride_hi,
                records: u64::from(w.sgpr[at + 2]),
                swizzle: word1 >> 31 != 0,
                index_stride: 8 << (word3 >> 21 & 3),
                element_size: 4,
                add_tid,
                out_of_bounds: gfx10.then_some(word3 >> 28 & 3),
                word3,
            }
        }
    }

    /// Whether it is the wave's scratch.
    #[inline(always)]
    pub fn is_scratch(&self) -> bool {
        self.base >= SCRATCH_RESOURCE_BASE
    }

    /// Offset from base plus scalar offset of an element, or none if it is out of range.
    #[inline(always)]
    fn offset(&self, index: u64, offset: u64, scalar: u64, bytes: u64) -> Option<u64> {
        let past = |end: u64, limit: u64| end > limit;
        let structured = match self.out_of_bounds {
            None => self.stride != 0,
            Some(0) => {
                let in_record = self.stride == 0 || !past(offset + bytes, self.stride);
                return (index < self.records && in_record).then(|| self.linear(index, offset));
            }
            Some(1) => true,
            Some(2) => return (self.records != 0).then(|| self.linear(index, offset)),
            Some(_) if self.swizzle && self.stride != 0 => {
                let fits = index < self.records / self.stride && !past(offset + bytes, self.stride);
                return fits.then(|| self.linear(index, offset));
            }
            Some(_) => false,
        };
        if structured {
            return (index < self.records).then(|| self.linear(index, offset));
        }
        let linear = self.linear(index, offset);
        (!past(linear + scalar + bytes, self.records)).then_some(linear)
    }

    #[inline(always)]
    fn linear(&self, index: u64, offset: u64) -> u64 {
        if !self.swizzle {
            return index * self.stride + offset;
        }
        let (row, within) = (index / self.index_stride, index % self.index_stride);
        let (element, byte) = (offset / self.element_size, offset % self.element_size);
        (row * self.stride + element * self.element_size) * self.index_stride
            + within * self.element_size
            + byte
    }
}

/// The scalar offset of a buffer operation.
#[inline(always)]
unsafe fn scalar_offset(w: &Wave, op: *const Op) -> u64 {
    // SAFETY: slots were checked by the lowering.
    unsafe {
        u64::from(if (*op).aux[0] & flag::SADDR != 0 {
            w.sgpr[(*op).aux[1] as usize]
        } else {
            (*op).aux[2]
        })
    }
}

/// Offsets of the lanes in the wave's scratch.
#[inline(always)]
pub(super) unsafe fn scratch_addresses(w: &Wave, op: *const Op, resource: &Resource) -> Addresses {
    // SAFETY: registers were checked by the lowering.
    unsafe {
        let whole_wave = (resource.base - SCRATCH_RESOURCE_BASE).wrapping_add(scalar_offset(w, op));
        let lanes = (w.chunks * 16) as u64;
        let flags = (*op).aux[0];
        let mut lo: *const u32 = w.base[0].add((*op).s[0].offset() as usize).cast();
        if flags & flag::IDXEN != 0 {
            lo = lo.add(w.chunks * 16);
        }
        Addresses {
            base: (*op).imm.wrapping_add(whole_wave / lanes),
            lo: if flags & flag::OFFEN != 0 {
                lo
            } else {
                std::ptr::null()
            },
            hi: std::ptr::null(),
            first: w.exec().trailing_zeros() as usize,
        }
    }
}

/// Addresses of the lanes in memory, and which of the active lanes are in range.
pub(super) struct Table {
    /// Low halves.
    pub(super) lo: [u32; 64],
    /// High halves.
    pub(super) hi: [u32; 64],
    /// Active lanes in range.
    pub(super) in_range: u64,
}

/// Fills the table.
#[inline(never)]
pub(super) unsafe fn addresses(
    w: &Wave,
    op: *const Op,
    resource: &Resource,
    bytes: usize,
    table: &mut Table,
) {
    // SAFETY: registers were checked by the lowering.
    unsafe {
        let flags = (*op).aux[0];
        let scalar = scalar_offset(w, op);
        let base = resource.base.wrapping_add(scalar);
        let first: *const u32 = w.base[0].add((*op).s[0].offset() as usize).cast();
        let second = first.add(w.chunks * 16);
        let (with_index, with_offset) = (flags & flag::IDXEN != 0, flags & flag::OFFEN != 0);
        table.in_range = 0;
        each_lane(w.exec(), |lane| {
            let mut index = if with_index {
                u64::from(*first.add(lane))
            } else {
                0
            };
            if resource.add_tid {
                index += lane as u64;
            }
            let offset = match (with_offset, with_index) {
                (false, _) => 0,
                (true, false) => u64::from(*first.add(lane)),
                (true, true) => u64::from(*second.add(lane)),
            };
            let offset = offset + (*op).imm;
            if let Some(offset) = resource.offset(index, offset, scalar, bytes as u64) {
                let address = base.wrapping_add(offset);
                table.lo[lane] = address as u32;
                table.hi[lane] = (address >> 32) as u32;
                table.in_range |= 1 << lane;
            }
        });
    }
}

impl Table {
    pub(super) const fn new() -> Self {
        Self {
            lo: [0; 64],
            hi: [0; 64],
            in_range: 0,
        }
    }

    fn lanes(&self) -> Addresses {
        Addresses {
            base: 0,
            lo: self.lo.as_ptr(),
            hi: self.hi.as_ptr(),
            first: self.in_range.trailing_zeros() as usize & 63,
        }
    }
}

/// Runs something with EXEC narrowed to some lanes.
#[inline(always)]
fn narrowed<R>(w: &mut Wave, lanes: u64, run: impl FnOnce(&mut Wave) -> R) -> R {
    let exec = w.exec();
    w.set_exec(lanes);
    let result = run(w);
    w.set_exec(exec);
    result
}

/// A buffer load.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
#[inline(always)]
pub unsafe fn load<E: Load>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: registers were checked by the lowering.
    unsafe {
        if w.exec() == 0 {
            return op.add(1);
        }
        let resource = Resource::of(w, op);
        if resource.is_scratch() {
            let at = scratch_addresses(w, op, &resource);
            return {
                let result = load_scratch::<E>(w, op, at);
                finish(w, op, result)
            };
        }
        if (*op).aux[0] & flag::GLC != 0 {
            fence(Ordering::SeqCst);
        }
        let mut table = Table::new();
        addresses(w, op, &resource, E::BYTES, &mut table);
        let dst: *mut u32 = w.base[0].add((*op).d as usize).cast();
        let stride = w.chunks * 16;
        // The addresses are in the table, so the destination may be written first even if it held them.
        let zeros = [0u8; 16];
        each_lane(w.exec() & !table.in_range, |lane| {
            E::lane(zeros.as_ptr(), dst.add(lane), stride)
        });
        let result = if table.in_range == 0 {
            Ok(())
        } else {
            narrowed(w, table.in_range, |w| {
                load_from::<E, Global>(w, op, table.lanes())
            })
        };
        finish(w, op, result)
    }
}

/// A buffer store.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
#[inline(always)]
pub unsafe fn store<E: Store>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: registers were checked by the lowering.
    unsafe {
        if w.exec() == 0 {
            return op.add(1);
        }
        let resource = Resource::of(w, op);
        if resource.is_scratch() {
            let at = scratch_addresses(w, op, &resource);
            return {
                let result = store_scratch::<E>(w, op, at);
                finish(w, op, result)
            };
        }
        let mut table = Table::new();
        addresses(w, op, &resource, E::BYTES, &mut table);
        let result = if table.in_range == 0 {
            Ok(())
        } else {
            narrowed(w, table.in_range, |w| {
                store_to::<E, Global>(w, op, table.lanes())
            })
        };
        finish(w, op, result)
    }
}

/// A buffer atomic.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
#[inline(always)]
pub unsafe fn atomic<R: Rmw, V: Return>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: registers were checked by the lowering.
    unsafe {
        if w.exec() == 0 {
            return op.add(1);
        }
        let resource = Resource::of(w, op);
        if resource.is_scratch() {
            let at = scratch_addresses(w, op, &resource);
            let base = u64::from(crate::launch::PRIVATE_APERTURE_HI) << 32;
            let at = Addresses {
                base: base.wrapping_add(at.base),
                ..at
            };
            return {
                let result = apply_at::<R, Flat, V>(w, op, at);
                finish(w, op, result)
            };
        }
        let mut table = Table::new();
        addresses(w, op, &resource, size_of::<R::Word>(), &mut table);
        if V::RETURNS {
            let dst: *mut u32 = w.base[0].add((*op).d as usize).cast();
            let stride = w.chunks * 16;
            each_lane(w.exec() & !table.in_range, |lane| {
                R::Word::default().write(dst.add(lane), stride)
            });
        }
        let result = narrowed(w, table.in_range, |w| {
            apply_at::<R, Global, V>(w, op, table.lanes())
        });
        finish(w, op, result)
    }
}
