//! Operations that the host does itself: copies that involve pageable memory, small copies, rectangles, fills, value operations.
//!
//! They run in the drainer's thread when everything before them has ended, so they see and leave memory as the queue's order says. They
//! need no code object. Where the host cannot access the device's memory they say so, and the queue goes through staging memory.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use crate::{
    CopyRect, Device, FillRect, MemoryKind, Rect, ValueCondition, ValueWidth,
    command::{Operation, Pattern},
};

/// What became of it.
pub(super) enum Performed {
    Done,
    /// A value is not there yet.
    NotYet,
    /// The host cannot access an end.
    NeedsStaging,
    Unsupported(&'static str),
}

pub(super) fn perform(operation: &mut Operation, device: &Device) -> Performed {
    // What the device or another thread wrote before this command is visible from here.
    fence(Ordering::SeqCst);
    let done = match operation {
        Operation::Copy(copy) => {
            if !copy.host_accessible {
                return Performed::NeedsStaging;
            }
            let (Some(dst), Some(src)) = (
                host_address(device, copy.dst),
                host_address(device, copy.src),
            ) else {
                return Performed::NeedsStaging;
            };
            // SAFETY: the enqueuer promises that both ranges are valid until the command ends. `copy` allows overlap.
            unsafe { std::ptr::copy(src as *const u8, dst as *mut u8, copy.size) };
            Performed::Done
        }
        Operation::CopyRect(copy) => copy_rect(copy, device),
        Operation::Fill { dst, pattern, size } => match host_address(device, *dst) {
            Some(dst) => {
                // SAFETY: the enqueuer promises that the range is valid until the command ends.
                unsafe { pattern.fill(dst as *mut u8, *size) };
                Performed::Done
            }
            None => Performed::NeedsStaging,
        },
        Operation::FillRect { fill, pattern } => fill_rect(fill, pattern, device),
        Operation::WriteValue {
            address,
            width,
            value,
        } => {
            let signal = device
                .shared()
                .map
                .find(*address as usize)
                .filter(|(memory, _)| memory.kind() == MemoryKind::Signal);
            match (signal, host_address(device, *address)) {
                (Some((memory, _)), _) => {
                    // SAFETY: signal memory lives until it is freed, which the caller may not do while commands use it.
                    unsafe { device.hsa().signal_store(memory.signal, *value as i64) };
                    Performed::Done
                }
                (None, Some(place)) => {
                    write_value(place, *width, *value);
                    Performed::Done
                }
                (None, None) => Performed::NeedsStaging,
            }
        }
        Operation::WaitValue {
            address,
            width,
            value,
            mask,
            condition,
        } => match host_address(device, *address) {
            Some(place) => {
                if holds(read_value(place, *width), *width, *value, *mask, *condition) {
                    Performed::Done
                } else {
                    Performed::NotYet
                }
            }
            None => Performed::NeedsStaging,
        },
        Operation::Acquire(ready) => {
            match std::panic::catch_unwind(std::panic::AssertUnwindSafe(ready)) {
                Ok(true) => Performed::Done,
                Ok(false) => Performed::NotYet,
                Err(_) => Performed::Unsupported("the function of an acquire panicked"),
            }
        }
        Operation::Busy { .. } => Performed::NeedsStaging,
        Operation::Kernel(_)
        | Operation::Kernels { .. }
        | Operation::Marker
        | Operation::Host { .. } => Performed::Unsupported("not an operation of the host"),
    };
    fence(Ordering::SeqCst);
    done
}

/// Where the host finds what an address means: the same, save for registered memory with an address of its own on the device.
fn host_address(device: &Device, address: u64) -> Option<u64> {
    match device.shared().map.find(address as usize) {
        None => Some(address),
        Some((memory, offset)) => memory.host_address().map(|host| {
            debug_assert!(offset < memory.size());
            host as u64 + offset as u64
        }),
    }
}

fn copy_rect(copy: &CopyRect, device: &Device) -> Performed {
    let (Some(dst), Some(src)) = (
        host_address(device, copy.dst.address),
        host_address(device, copy.src.address),
    ) else {
        return Performed::NeedsStaging;
    };
    let [width, rows, slices] = copy.extent;
    for slice in 0..slices {
        for row in 0..rows {
            let to = dst as usize + row_offset(&copy.dst, row, slice);
            let from = src as usize + row_offset(&copy.src, row, slice);
            // SAFETY: the enqueuer promises that both rectangles are valid until the command ends.
            unsafe { std::ptr::copy(from as *const u8, to as *mut u8, width) };
        }
    }
    Performed::Done
}

fn fill_rect(fill: &FillRect, pattern: &Pattern, device: &Device) -> Performed {
    let Some(dst) = host_address(device, fill.dst.address) else {
        return Performed::NeedsStaging;
    };
    let [width, rows, slices] = fill.extent;
    for slice in 0..slices {
        for row in 0..rows {
            let to = dst as usize + row_offset(&fill.dst, row, slice);
            // SAFETY: the enqueuer promises that the rectangle is valid until the command ends.
            unsafe { pattern.fill(to as *mut u8, width) };
        }
    }
    Performed::Done
}

fn row_offset(rect: &Rect, row: usize, slice: usize) -> usize {
    slice * rect.slice_pitch + row * rect.row_pitch
}

fn write_value(place: u64, width: ValueWidth, value: u64) {
    // Others may access it at the same time, therefore atomics. Release: earlier commands' effects come first.
    match width {
        ValueWidth::Bits32 => {
            // SAFETY: the enqueuer promises that the address is valid; alignment was checked at enqueuing.
            unsafe { AtomicU32::from_ptr(place as *mut u32) }
                .store(value as u32, Ordering::Release);
        }
        ValueWidth::Bits64 => {
            // SAFETY: as above.
            unsafe { AtomicU64::from_ptr(place as *mut u64) }.store(value, Ordering::Release);
        }
    }
}

pub(super) fn read_value(place: u64, width: ValueWidth) -> u64 {
    // Acquire: later commands see what the writer did before.
    match width {
        ValueWidth::Bits32 => {
            // SAFETY: as in `write_value`.
            u64::from(unsafe { AtomicU32::from_ptr(place as *mut u32) }.load(Ordering::Acquire))
        }
        ValueWidth::Bits64 => {
            // SAFETY: as in `write_value`.
            unsafe { AtomicU64::from_ptr(place as *mut u64) }.load(Ordering::Acquire)
        }
    }
}

/// Whether memory fulfils the condition.
pub(super) fn holds(
    memory: u64,
    width: ValueWidth,
    value: u64,
    mask: u64,
    condition: ValueCondition,
) -> bool {
    let bits = match width {
        ValueWidth::Bits32 => u64::from(u32::MAX),
        ValueWidth::Bits64 => u64::MAX,
    };
    let (value, mask) = (value & bits, mask & bits);
    match condition {
        ValueCondition::GreaterOrEqual => memory & mask >= value,
        ValueCondition::Equal => memory & mask == value,
        ValueCondition::And => memory & value & mask != 0,
        ValueCondition::Nor => !(memory | value) & mask != 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_apply_the_mask_as_documented() {
        use ValueCondition::*;
        let check = |memory, value, mask, condition| {
            holds(memory, ValueWidth::Bits32, value, mask, condition)
        };
        assert!(check(0x15, 5, 0xf, Equal));
        assert!(!check(0x15, 0x15, 0xf, Equal));
        assert!(check(7, 5, !0, GreaterOrEqual));
        assert!(!check(0x17, 8, 0xf, GreaterOrEqual));
        assert!(check(0b1010, 0b0010, !0, And));
        assert!(!check(0b1010, 0b0010, 0b1000, And));
        assert!(check(0b1010, 0b0100, 0b0001, Nor));
        assert!(!check(0b1010, 0b0100, 0b1110, Nor));
        // 32-bit operations ignore the high half of value and mask.
        assert!(!check(0xffff_ffff, 0, 0xffff_ffff_0000_0000, Nor));
        assert!(holds(1 << 40, ValueWidth::Bits64, 1 << 40, !0, Equal));
    }
}
