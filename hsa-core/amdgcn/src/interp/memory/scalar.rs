//! Scalar loads, stores and atomics, and the clocks.

use super::{
    atomic::{Rmw, Word},
    cache, fault_exit, flag, other,
    space::site,
};
use crate::{
    interp::{run::Exit, wave::Wave},
    ir::Op,
    launch::SCRATCH_RESOURCE_BASE,
};

/// Address of a scalar memory operation: 64-bit base in slot `s[0]` (by index in `d2`), an immediate, and an optional scalar offset.
#[inline(always)]
unsafe fn address(w: &Wave, op: *const Op) -> u64 {
    // SAFETY: slots were checked by the lowering.
    unsafe {
        let mut address = w.pair((*op).d2 as usize).wrapping_add((*op).imm);
        if (*op).aux[0] & flag::SADDR != 0 {
            address = address.wrapping_add(u64::from(w.sgpr[(*op).aux[1] as usize]));
        }
        // The hardware drops the two low bits.
        address & !3
    }
}

/// Loads N dwords into the slots from `d` on.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
#[inline(always)]
pub unsafe fn load<const N: usize>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: slots were checked by the lowering; memory is resolved before it is read.
    unsafe {
        match cache(w).read(site(op), address(w, op), 4 * N as u64) {
            Ok(src) => {
                let dst = w.sgpr.as_mut_ptr().add((*op).d as usize);
                for i in 0..N {
                    *dst.add(i) = src.cast::<u32>().add(i).read_volatile();
                }
                op.add(1)
            }
            Err(fault) => w.stop(op, fault_exit(fault, None)),
        }
    }
}

/// A scalar value of less than a dword in memory.
pub trait Small {
    /// Its bytes.
    const BYTES: u64;
    /// Reads it, extended.
    ///
    /// # Safety
    /// `at` is readable.
    unsafe fn read(at: *const u8) -> u32;
}

macro_rules! small {
    ($($ty:ty: $wide:ty),*) => { $(
        impl Small for $ty {
            const BYTES: u64 = size_of::<$ty>() as u64;
            unsafe fn read(at: *const u8) -> u32 {
                // SAFETY: by the caller.
                <$wide>::from(unsafe { at.cast::<$ty>().read_unaligned() }) as u32
            }
        }
    )* };
}

small!(u8: u32, i8: i32, u16: u32, i16: i32);

/// Loads a byte or half, extended. `BUFFER`: through a resource, past whose end it is 0.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn load_small<T: Small, const BUFFER: bool>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: slots were checked by the lowering; memory is resolved before it is read.
    unsafe {
        let mut offset = (*op).imm;
        if (*op).aux[0] & flag::SADDR != 0 {
            offset = offset.wrapping_add(u64::from(w.sgpr[(*op).aux[1] as usize]));
        }
        let mut base = w.pair((*op).d2 as usize);
        if BUFFER {
            let (start, size, _) = buffer(w, op);
            base = start;
            if offset.checked_add(T::BYTES).is_none_or(|end| end > size) {
                w.sgpr[(*op).d as usize] = 0;
                return op.add(1);
            }
        }
        match cache(w).read(site(op), base.wrapping_add(offset), T::BYTES) {
            Ok(src) => {
                w.sgpr[(*op).d as usize] = T::read(src);
                op.add(1)
            }
            Err(fault) => w.stop(op, fault_exit(fault, None)),
        }
    }
}

/// Stores N dwords from the slots from `d` on.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
#[inline(always)]
pub unsafe fn store<const N: usize>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: slots were checked by the lowering; memory is resolved before it is written.
    unsafe {
        match cache(w).write(site(op), address(w, op), 4 * N as u64) {
            Ok(dst) => {
                for i in 0..N {
                    dst.cast::<u32>()
                        .add(i)
                        .write_volatile(w.sgpr[(*op).d as usize + i]);
                }
                op.add(1)
            }
            Err(fault) => w.stop(op, fault_exit(fault, None)),
        }
    }
}

/// Host address of `bytes` bytes for an `s_scratch_*` operation (Vega ISA, 7.2: base + immediate + 64 × scalar offset, without the two low
/// bits). Where the base is that of the wave's scratch, as FLAT_SCRATCH and the scratch resource name it, this is the wave's own, in the
/// order of memory: dword `i` of lane `l` is dword `i * lanes + l`. Any other address is one of global memory.
#[inline(always)]
unsafe fn scratch_address<const WRITE: bool>(
    w: &Wave,
    op: *const Op,
    bytes: u64,
) -> Result<*mut u8, Exit> {
    // SAFETY: slots were checked by the lowering; the wave runs inside a slice.
    unsafe {
        let mut address = w.pair((*op).d2 as usize).wrapping_add((*op).imm);
        if (*op).aux[0] & flag::SADDR != 0 {
            address = address.wrapping_add(u64::from(w.sgpr[(*op).aux[1] as usize]) * 64);
        }
        let address = address & !3;
        if let Some(offset) = address.checked_sub(SCRATCH_RESOURCE_BASE) {
            let size = u64::from(w.scratch_size) * w.lanes() as u64;
            return if offset.checked_add(bytes).is_some_and(|end| end <= size) {
                Ok(w.scratch.add(offset as usize))
            } else {
                Err(Exit::Aperture {
                    address: offset,
                    write: WRITE,
                    lane: None,
                })
            };
        }
        let host = if WRITE {
            cache(w).write(site(op), address, bytes)
        } else {
            cache(w)
                .read(site(op), address, bytes)
                .map(<*const u8>::cast_mut)
        };
        host.map_err(|fault| fault_exit(fault, None))
    }
}

/// Loads N dwords of scratch into the slots from `d` on.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn scratch_load<const N: usize>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: slots were checked by the lowering; memory is resolved before it is read.
    unsafe {
        match scratch_address::<false>(w, op, 4 * N as u64) {
            Ok(from) => {
                for i in 0..N {
                    w.sgpr[(*op).d as usize + i] = from.cast::<u32>().add(i).read_volatile();
                }
                op.add(1)
            }
            Err(exit) => w.stop(op, exit),
        }
    }
}

/// Stores N dwords from the slots from `d` on into scratch.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn scratch_store<const N: usize>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: slots were checked by the lowering; memory is resolved before it is written.
    unsafe {
        match scratch_address::<true>(w, op, 4 * N as u64) {
            Ok(to) => {
                for i in 0..N {
                    to.cast::<u32>()
                        .add(i)
                        .write_volatile(w.sgpr[(*op).d as usize + i]);
                }
                op.add(1)
            }
            Err(exit) => w.stop(op, exit),
        }
    }
}

/// Base, size in bytes, and the operation's offset in the buffer whose resource is in the four slots from `d2` on. Scalar accesses have no
/// index: the size is records × stride, or records for raw buffers.
#[inline(always)]
unsafe fn buffer(w: &Wave, op: *const Op) -> (u64, u64, u64) {
    // SAFETY: slots were checked by the lowering.
    unsafe {
        let at = (*op).d2 as usize;
        let stride = u64::from(w.sgpr[at + 1] >> 16 & 0x3fff);
        let records = u64::from(w.sgpr[at + 2]);
        let mut offset = (*op).imm;
        if (*op).aux[0] & flag::SADDR != 0 {
            offset = offset.wrapping_add(u64::from(w.sgpr[(*op).aux[1] as usize]));
        }
        (
            w.pair(at) & 0xffff_ffff_ffff,
            records * stride.max(1),
            offset & !3,
        )
    }
}

/// Loads N dwords through a buffer resource: dwords past its end read as 0.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn buffer_load<const N: usize>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: slots were checked by the lowering; memory is resolved before it is read.
    unsafe {
        let (base, size, offset) = buffer(w, op);
        let mut values = [0u32; N];
        for (i, value) in values.iter_mut().enumerate() {
            let offset = offset.wrapping_add(4 * i as u64);
            if offset.checked_add(4).is_none_or(|end| end > size) {
                continue;
            }
            match cache(w).read(site(op), base.wrapping_add(offset) & !3, 4) {
                Ok(src) => *value = src.cast::<u32>().read_volatile(),
                Err(fault) => return w.stop(op, fault_exit(fault, None)),
            }
        }
        let d = (*op).d as usize;
        w.sgpr[d..d + N].copy_from_slice(&values);
        op.add(1)
    }
}

/// Stores N dwords through a buffer resource: dwords past its end are dropped.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn buffer_store<const N: usize>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: slots were checked by the lowering; memory is resolved before it is written.
    unsafe {
        let (base, size, offset) = buffer(w, op);
        for i in 0..N {
            let offset = offset.wrapping_add(4 * i as u64);
            if offset.checked_add(4).is_none_or(|end| end > size) {
                continue;
            }
            match cache(w).write(site(op), base.wrapping_add(offset) & !3, 4) {
                Ok(dst) => dst
                    .cast::<u32>()
                    .write_volatile(w.sgpr[(*op).d as usize + i]),
                Err(fault) => return w.stop(op, fault_exit(fault, None)),
            }
        }
        op.add(1)
    }
}

/// A scalar atomic, on an address or (`BUFFER`) through a resource, past whose end it does nothing and gives 0. The operands are in the
/// slots from `d` on, and so is the old value, if it is asked for (`flag::GLC`).
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn atomic<R: Rmw, const BUFFER: bool>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: slots were checked by the lowering; memory is resolved before it is touched.
    unsafe {
        let bytes = size_of::<R::Word>() as u64;
        let d = (*op).d as usize;
        let registers = w.sgpr.as_mut_ptr().add(d);
        let first = R::Word::read(registers, 1);
        let second = if R::TWO {
            R::Word::read(registers.add(R::Word::DWORDS), 1)
        } else {
            R::Word::default()
        };
        let target = if BUFFER {
            let (base, size, offset) = buffer(w, op);
            let fits = offset.checked_add(bytes).is_some_and(|end| end <= size);
            fits.then(|| base.wrapping_add(offset) & !3)
        } else {
            Some(address(w, op))
        };
        let old = match target {
            None => R::Word::default(),
            Some(at) if at % bytes != 0 => {
                return w.stop(op, Exit::Other(other::MISALIGNED_ATOMIC));
            }
            Some(at) => match cache(w).write(site(op), at, bytes) {
                Ok(host) => R::atomic(host, first, second),
                Err(fault) => return w.stop(op, fault_exit(fault, None)),
            },
        };
        if (*op).aux[0] & flag::GLC != 0 {
            old.write(registers, 1);
        }
        op.add(1)
    }
}

/// Ticks of the constant clock, 100 MHz: the host's monotonic clock in units of 10 ns.
pub fn realtime() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    (now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()) / 10
}

/// `s_memtime`: a cycle counter (of the host).
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn memtime(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: slots were checked by the lowering; every x86-64 processor has the counter.
    unsafe {
        w.set_pair((*op).d as usize, core::arch::x86_64::_rdtsc());
        op.add(1)
    }
}

/// `s_memrealtime`.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn memrealtime(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: slots were checked by the lowering.
    unsafe {
        w.set_pair((*op).d as usize, realtime());
        op.add(1)
    }
}

/// `s_get_waveid_in_workgroup`.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn wave_id(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: slots were checked by the lowering.
    unsafe {
        w.sgpr[(*op).d as usize] = w.wave_in_group;
        op.add(1)
    }
}
