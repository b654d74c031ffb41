//! FLAT loads and stores: the aperture of an address says whether it is in global memory, LDS or scratch.

use std::sync::atomic::{Ordering, fence};

use super::{
    element::{Load, Store},
    flag,
    lanes::Addresses,
    space::{Aperture, Global, Lds, Space, aperture, site},
    vector::{
        finish, load_from, load_scratch, load_scratch_lane, store_scratch, store_scratch_lane,
        store_to,
    },
};
use crate::{
    interp::{run::Exit, wave::Wave},
    ir::Op,
    launch::{PRIVATE_APERTURE_HI, SHARED_APERTURE_HI},
};

/// The aperture that all active lanes' flat addresses lie in, if they do; the high dwords of the registers decide.
#[inline(never)]
unsafe fn common_aperture(w: &mut Wave, at: &Addresses) -> Option<Aperture> {
    // SAFETY: by the caller of the handlers.
    unsafe {
        if at.hi.is_null() {
            return Some(aperture(at.of_first()));
        }
        let full = w.exec() == w.full_mask;
        if !full {
            w.refresh_mask();
        }
        let hi0 = *at.hi.add(at.first);
        let (mut unequal, mut special) = ([0u32; 16], [0u32; 16]);
        for chunk in 0..w.chunks {
            let mask = &w.mask_lanes.0[chunk * 16..chunk * 16 + 16];
            for i in 0..16 {
                let hi = *at.hi.add(chunk * 16 + i);
                let mask = if full { u32::MAX } else { mask[i] };
                unequal[i] |= (hi ^ hi0) & mask;
                let in_aperture = (hi == SHARED_APERTURE_HI) | (hi == PRIVATE_APERTURE_HI);
                special[i] |= u32::from(in_aperture) & mask;
            }
        }
        let any = |bits: &[u32; 16]| bits.iter().fold(0, |all, &b| all | b) != 0;
        if any(&unequal) && any(&special) {
            return None;
        }
        Some(aperture(u64::from(hi0) << 32))
    }
}

/// The addresses of lanes that all lie in one aperture of LDS or scratch, as offsets in it.
fn in_aperture(at: &Addresses) -> Addresses {
    // The high half is dropped; the immediate may be negative.
    Addresses {
        base: i64::from(at.base as i32).cast_unsigned(),
        lo: at.lo,
        hi: std::ptr::null(),
        first: at.first,
    }
}

/// A load with generic addresses.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
#[inline(always)]
pub unsafe fn flat_load<E: Load>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: passed on.
    unsafe {
        if w.exec() == 0 {
            return op.add(1);
        }
        if (*op).aux[0] & flag::GLC != 0 {
            fence(Ordering::SeqCst);
        }
        let at = Addresses::of(w, op);
        let result = match common_aperture(w, &at) {
            Some(Aperture::Global) => load_from::<E, Global>(w, op, at),
            Some(Aperture::Shared(_)) => load_from::<E, Lds>(w, op, in_aperture(&at)),
            Some(Aperture::Private(_)) => load_scratch::<E>(w, op, in_aperture(&at)),
            None => flat_load_mixed::<E>(w, op, at),
        };
        finish(w, op, result)
    }
}

unsafe fn flat_load_mixed<E: Load>(w: &mut Wave, op: *const Op, at: Addresses) -> Result<(), Exit> {
    // SAFETY: as in `load_from` and `load_scratch`.
    unsafe {
        let stride = w.chunks * 16;
        let dst: *mut u32 = w.base[0].add((*op).d as usize).cast();
        let mut rest = w.exec();
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let address = at.lane(lane);
            let size = E::BYTES as u64;
            let src = match aperture(address) {
                Aperture::Global => Global::resolve::<false>(w, site(op), address, size)
                    .map_err(|f| Global::exit(f, lane))?,
                Aperture::Shared(offset) => Lds::resolve::<false>(w, 0, u64::from(offset), size)
                    .map_err(|f| Lds::exit(f, lane))?,
                Aperture::Private(offset) => {
                    load_scratch_lane::<E>(w, lane, offset, dst.add(lane))?;
                    continue;
                }
            };
            E::lane(src, dst.add(lane), stride);
        }
        Ok(())
    }
}

/// A store with generic addresses.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
#[inline(always)]
pub unsafe fn flat_store<E: Store>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: passed on.
    unsafe {
        if w.exec() == 0 {
            return op.add(1);
        }
        let at = Addresses::of(w, op);
        let result = match common_aperture(w, &at) {
            Some(Aperture::Global) => store_to::<E, Global>(w, op, at),
            Some(Aperture::Shared(_)) => store_to::<E, Lds>(w, op, in_aperture(&at)),
            Some(Aperture::Private(_)) => store_scratch::<E>(w, op, in_aperture(&at)),
            None => flat_store_mixed::<E>(w, op, at),
        };
        finish(w, op, result)
    }
}

unsafe fn flat_store_mixed<E: Store>(
    w: &mut Wave,
    op: *const Op,
    at: Addresses,
) -> Result<(), Exit> {
    // SAFETY: as in `store_to` and `store_scratch`.
    unsafe {
        let stride = w.chunks * 16;
        let data: *const u32 = w.base[0].add((*op).s[1].offset() as usize).cast();
        let mut rest = w.exec();
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let address = at.lane(lane);
            let size = E::BYTES as u64;
            let dst = match aperture(address) {
                Aperture::Global => Global::resolve::<true>(w, site(op), address, size)
                    .map_err(|f| Global::exit(f, lane))?,
                Aperture::Shared(offset) => Lds::resolve::<true>(w, 0, u64::from(offset), size)
                    .map_err(|f| Lds::exit(f, lane))?,
                Aperture::Private(offset) => {
                    store_scratch_lane::<E>(w, lane, offset, data.add(lane))?;
                    continue;
                }
            };
            E::lane(data.add(lane), stride, dst);
        }
        Ok(())
    }
}
