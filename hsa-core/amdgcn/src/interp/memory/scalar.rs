//! Scalar loads and stores, and the clocks.

use super::{cache, fault_exit, flag, space::site};
use crate::{interp::wave::Wave, ir::Op};

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

/// Loads N dwords through a buffer resource in the four slots from `d2` on: dwords past its end read as 0.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn buffer_load<const N: usize>(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: slots were checked by the lowering; memory is resolved before it is read.
    unsafe {
        let at = (*op).d2 as usize;
        let base = w.pair(at) & 0xffff_ffff_ffff;
        let stride = u64::from(w.sgpr[at + 1] >> 16 & 0x3fff);
        let records = u64::from(w.sgpr[at + 2]);
        // Scalar buffer accesses have no index: the size in bytes is records × stride, or records for raw buffers.
        let size = if stride == 0 {
            records
        } else {
            records * stride
        };
        let mut offset = (*op).imm;
        if (*op).aux[0] & flag::SADDR != 0 {
            offset = offset.wrapping_add(u64::from(w.sgpr[(*op).aux[1] as usize]));
        }
        let offset = offset & !3;
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
