//! Memory that HSA was not told of, for GPUs whose page faults are recoverable (XNACK): what `malloc`, `mmap` and the compiler gave the
//! program, its stacks and its variables.
//!
//! An access that a GPU's map does not allow is looked up in `/proc/self/maps`, while the wave waits; if the program itself may make it, the
//! mapping of the system that holds it enters the GPU's map, as shared virtual memory does. It leaves the map when something else is put
//! at its addresses ([`super::map`]). Address space of this runtime is left out ([`Reserved`]): what a program was
//! not given, or has freed, remains a fault.
//!
//! Memory that the program unmaps while it is in a map and kernels use it ends the process with SIGSEGV, as it would without a GPU.

use std::ops::Range;
use std::{collections::BTreeMap, fs};

use gneiss_amdgcn::memory::{GuestMap, Mapping, Rights};
use parking_lot::Mutex;

use super::{next_number, svm};
use crate::segv;

/// Address ranges of this runtime: starts and ends. They do not overlap.
#[derive(Debug, Default)]
pub(crate) struct Reserved(Mutex<BTreeMap<u64, u64>>);

/// Those of the process.
pub(crate) static RESERVED: Reserved = Reserved(Mutex::new(BTreeMap::new()));

impl Reserved {
    /// Adds a range that has just been mapped.
    pub(crate) fn add(&self, base: u64, bytes: usize) {
        self.0.lock().insert(base, base + bytes as u64);
    }

    /// Removes the range that starts at an address, before it is unmapped: from then on the addresses may be anybody's.
    pub(crate) fn remove(&self, base: u64) {
        self.0.lock().remove(&base);
    }

    /// The part of a range that holds an address and none of ours; `None` if the address is ours.
    fn free_around(&self, address: u64, within: Range<u64>) -> Option<Range<u64>> {
        let ranges = self.0.lock();
        let before = ranges.range(..=address).next_back();
        let start = before.map_or(within.start, |(_, &end)| end.max(within.start));
        let after = ranges.range(address..).next();
        let end = after.map_or(within.end, |(&base, _)| base.min(within.end));
        (start <= address && address < end).then_some(start..end)
    }
}

/// The mapping that holds an address, in the format of `/proc/self/maps`, and what the program may do there.
fn find(maps: &str, address: u64) -> Option<(Range<u64>, Rights)> {
    let hex = |text| u64::from_str_radix(text, 16).ok();
    for line in maps.lines() {
        let mut fields = line.split_ascii_whitespace();
        let (start, end) = fields.next()?.split_once('-')?;
        let range = hex(start)?..hex(end)?;
        if !range.contains(&address) {
            continue;
        }
        let modes = fields.next()?;
        // What the kernel itself provides is no memory: [vvar], [vdso], [vsyscall].
        if fields.nth(3).is_some_and(|name| name.starts_with("[v")) {
            return None;
        }
        let mut rights = Rights::empty();
        rights.set(Rights::READ, modes.starts_with('r'));
        rights.set(Rights::WRITE, modes.starts_with("rw"));
        return rights.contains(Rights::READ).then_some((range, rights));
    }
    None
}

/// Makes an access possible that a GPU's map does not allow, if the program may make it. Whether the map is to be asked again. `loses` is what
/// fine-grained memory lacks on this GPU.
pub(crate) fn serve(map: &GuestMap, loses: Rights, address: u64, write: bool) -> bool {
    let Ok(maps) = fs::read_to_string("/proc/self/maps") else {
        return false;
    };
    let needed = if write { Rights::WRITE } else { Rights::READ };
    let Some((range, rights)) = find(&maps, address).filter(|(_, has)| has.contains(needed)) else {
        return false;
    };
    let Some(range) = RESERVED.free_around(address, range) else {
        return false;
    };
    let around = map.neighbourhood(address);
    let mut start = range.start;
    if let Some(before) = around.before {
        let end = before.base + before.len;
        if address < end {
            // It is there. If it was mapped from here, the program may have been given more rights since.
            return before.allocation & svm::NUMBER != 0 && map.grant(before.base, rights | loses);
        }
        start = start.max(end);
    }
    let end = around
        .after
        .map_or(range.end, |next| next.base.min(range.end));
    // The range is the program's: it may go while a kernel runs.
    segv::install();
    let mapping = Mapping {
        base: start,
        len: end - start,
        host: start as *mut u8,
        rights: rights | loses,
        allocation: next_number() | svm::NUMBER,
    };
    // SAFETY: the system says that the memory is there. A program that unmaps it while a kernel uses it is told by SIGSEGV.
    match unsafe { map.insert(mapping) } {
        Ok(()) => true,
        // Another wave came first.
        Err(other) => other != mapping,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
00400000-00452000 r-xp 00000000 08:02 173521      /usr/bin/dbus-daemon
00e03000-00e24000 rw-p 00000000 00:00 0           [heap]
35b1800000-35b1820000 ---p 00000000 00:00 0
7fff0000-7fff1000 r--p 00000000 00:00 0           [vvar]
";

    #[test]
    fn a_line_says_what_the_program_may_do() {
        let both = Rights::READ | Rights::WRITE;
        assert_eq!(
            find(MAPS, 0x400000),
            Some((0x400000..0x452000, Rights::READ))
        );
        assert_eq!(find(MAPS, 0xe23fff), Some((0xe03000..0xe24000, both)));
        for nothing in [0, 0xe24000, 0x35b1800000, 0x7fff0000, u64::MAX] {
            assert_eq!(find(MAPS, nothing), None, "{nothing:#x}");
        }
    }

    #[test]
    fn ranges_of_ours_are_left_out() {
        let ours = Reserved::default();
        ours.add(0x2000, 0x1000);
        ours.add(0x5000, 0x1000);
        assert_eq!(ours.free_around(0x3000, 0..0x9000), Some(0x3000..0x5000));
        assert_eq!(
            ours.free_around(0x1fff, 0x1000..0x9000),
            Some(0x1000..0x2000)
        );
        assert_eq!(ours.free_around(0x2800, 0..0x9000), None);
        assert_eq!(ours.free_around(0x5000, 0..0x9000), None);
        ours.remove(0x5000);
        assert_eq!(ours.free_around(0x5000, 0..0x9000), Some(0x3000..0x9000));
    }
}
