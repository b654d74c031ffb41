//! Whether the program's own memory can be read or written where a call says.
//!
//! The runtime copies pageable memory itself, so a pointer to nowhere would end the process with a signal inside of the library. These
//! checks give an error instead. They cost a system call, and are only made for memory that HIP does not know: `madvise` with
//! `MADV_POPULATE_*`, which makes the page faults that the copy would make. Where the kernel cannot say (before Linux 5.14, device
//! mappings, and all refusals for a mapping's permissions) the process's memory map decides.
//!
//! A range that another thread unmaps between the check and the copy is not found.

use gneiss_clr::Rect;

use crate::{copy::Side, error::*, fail};

/// What is done with a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It is read.
    Read,
    /// It is written.
    Write,
}

/// Page size: of the smallest pages, which is a lower bound for all others.
const PAGE: usize = 4096;

/// What the kernel says about a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Yes,
    No,
    /// It does not know.
    Unknown,
}

/// Touches the pages of a range on behalf of the copy.
fn populate(start: usize, end: usize, access: Access) -> Answer {
    let advice = match access {
        Access::Read => libc::MADV_POPULATE_READ,
        Access::Write => libc::MADV_POPULATE_WRITE,
    };
    loop {
        // SAFETY: this advice changes no contents, and bad ranges give errors.
        let result = unsafe {
            libc::madvise(
                std::ptr::with_exposed_provenance_mut(start),
                end - start,
                advice,
            )
        };
        if result == 0 {
            return Answer::Yes;
        }
        return match std::io::Error::last_os_error().raw_os_error() {
            Some(libc::EINTR | libc::EAGAIN) => continue,
            Some(libc::ENOMEM | libc::EFAULT) => Answer::No,
            _ => Answer::Unknown,
        };
    }
}

/// Looks a range up in a memory map in the format of `/proc/self/maps`, whose lines are in the order of their addresses.
fn look_up(maps: &str, start: usize, end: usize, access: Access) -> Answer {
    let mut reached = start;
    for line in maps.lines() {
        let mut words = line.split_ascii_whitespace();
        let (Some(range), Some(permissions)) = (words.next(), words.next()) else {
            return Answer::Unknown;
        };
        let bounds = range.split_once('-').and_then(|(first, last)| {
            let parse = |text| usize::from_str_radix(text, 16).ok();
            Some((parse(first)?, parse(last)?))
        });
        let Some((first, last)) = bounds else {
            return Answer::Unknown;
        };
        if last <= reached {
            continue;
        }
        let flag = match access {
            Access::Read => 'r',
            Access::Write => 'w',
        };
        if first > reached || !permissions.contains(flag) {
            return Answer::No;
        }
        reached = last;
        if reached >= end {
            return Answer::Yes;
        }
    }
    Answer::No
}

/// The pages that hold a range: first and end. None: it reaches past the address space.
fn pages(address: usize, size: usize) -> Option<(usize, usize)> {
    let end = address.checked_add(size)?.checked_next_multiple_of(PAGE)?;
    Some((address & !(PAGE - 1), end))
}

/// What the process's memory map says about a range.
fn mapped(start: usize, end: usize, access: Access) -> Answer {
    std::fs::read_to_string("/proc/self/maps")
        .map_or(Answer::Unknown, |maps| look_up(&maps, start, end, access))
}

fn is_accessible(address: usize, size: usize, access: Access) -> bool {
    if size == 0 {
        return true;
    }
    let Some((start, end)) = pages(address, size) else {
        return false;
    };
    let answer = match populate(start, end, access) {
        Answer::Unknown => mapped(start, end, access),
        answer => answer,
    };
    answer != Answer::No
}

fn refusal(what: &str, address: usize, size: usize, access: Access) -> HipResult {
    let verb = match access {
        Access::Read => "read",
        Access::Write => "written",
    };
    fail!(
        hipErrorInvalidValue,
        "the {what} ({size} bytes at {address:#x}) cannot be {verb}: it is no memory of HIP, and not all of it is mapped so in this process"
    )
}

/// Checks a range of the program's own memory.
///
/// # Errors
/// `hipErrorInvalidValue`.
pub fn check(what: &str, address: usize, size: usize, access: Access) -> HipResult {
    if is_accessible(address, size, access) {
        Ok(())
    } else {
        refusal(what, address, size, access)
    }
}

/// Checks that a range can be read and written, without touching its pages: for ranges that may be much larger than what is used of them.
///
/// # Errors
/// `hipErrorInvalidValue`.
pub fn check_mapped(what: &str, address: usize, size: usize) -> HipResult {
    let answer = match pages(address, size) {
        Some((start, end)) => mapped(start, end, Access::Write),
        None => Answer::No,
    };
    if answer == Answer::No {
        return refusal(what, address, size, Access::Write);
    }
    Ok(())
}

/// Checks one side of a copy, unless it is memory of HIP.
///
/// # Errors
/// `hipErrorInvalidValue`.
pub fn check_side(what: &str, side: &Side, size: usize, access: Access) -> HipResult {
    if side.is_pageable() {
        check(what, side.address, size, access)
    } else {
        Ok(())
    }
}

/// Checks the rows of one side of a copy, unless it is memory of HIP; what lies between the rows need not be there.
///
/// # Errors
/// `hipErrorInvalidValue`.
pub fn check_rows(
    what: &str,
    side: &Side,
    rect: &Rect,
    extent: [usize; 3],
    access: Access,
) -> HipResult {
    let [width, rows, slices] = extent;
    if !side.is_pageable() || extent.contains(&0) {
        return Ok(());
    }
    // Gaps that hold no whole page belong to the rows' own pages.
    let dense = |pitch: usize, used: usize| pitch.saturating_sub(used) < PAGE;
    let slice = (rows - 1) * rect.row_pitch + width;
    let (rows_at_once, slices_at_once) = (
        rows == 1 || dense(rect.row_pitch, width),
        slices == 1 || dense(rect.slice_pitch, slice),
    );
    if rows_at_once && slices_at_once {
        let size = (slices - 1) * rect.slice_pitch + slice;
        return check(what, side.address, size, access);
    }
    for z in 0..slices {
        let start = side.address + z * rect.slice_pitch;
        if rows_at_once {
            check(what, start, slice, access)?;
            continue;
        }
        for y in 0..rows {
            check(what, start + y * rect.row_pitch, width, access)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages of the process, unmapped at the end.
    struct Pages(usize, usize);

    impl Pages {
        fn new(count: usize, protection: i32) -> Self {
            // SAFETY: a new mapping at an address of the kernel's choice.
            let address = unsafe {
                libc::mmap(
                    std::ptr::null_mut(),
                    count * PAGE,
                    protection,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                    -1,
                    0,
                )
            };
            assert_ne!(address, libc::MAP_FAILED);
            Pages(address.expose_provenance(), count * PAGE)
        }

        fn protect(&self, page: usize, protection: i32) {
            let start = std::ptr::with_exposed_provenance_mut(self.0 + page * PAGE);
            // SAFETY: a page of our own mapping, which nobody refers to.
            assert_eq!(unsafe { libc::mprotect(start, PAGE, protection) }, 0);
        }

        fn unmap(&self, page: usize) {
            let start = std::ptr::with_exposed_provenance_mut(self.0 + page * PAGE);
            // SAFETY: as above.
            assert_eq!(unsafe { libc::munmap(start, PAGE) }, 0);
        }
    }

    impl Drop for Pages {
        fn drop(&mut self) {
            // SAFETY: our own mapping, which nobody refers to.
            unsafe { libc::munmap(std::ptr::with_exposed_provenance_mut(self.0), self.1) };
        }
    }

    #[test]
    fn ranges_are_accessible_as_their_pages_are() {
        let pages = Pages::new(4, libc::PROT_READ | libc::PROT_WRITE);
        let (start, size) = (pages.0, pages.1);
        assert!(is_accessible(start, size, Access::Write));
        assert!(is_accessible(start + 5, 1, Access::Read));
        pages.protect(2, libc::PROT_READ);
        assert!(is_accessible(start, size, Access::Read));
        assert!(!is_accessible(start, size, Access::Write));
        assert!(is_accessible(start, 2 * PAGE, Access::Write));
        assert!(!is_accessible(start, 2 * PAGE + 1, Access::Write));
        pages.protect(2, libc::PROT_NONE);
        assert!(!is_accessible(start, size, Access::Read));
        pages.unmap(1);
        assert!(!is_accessible(start + PAGE - 1, 2, Access::Read));
        assert!(is_accessible(start + PAGE - 1, 1, Access::Read));
        assert!(!is_accessible(8, 4, Access::Read));
        assert!(!is_accessible(usize::MAX - 2, 8, Access::Read));
        assert!(is_accessible(8, 0, Access::Write));
    }

    #[test]
    fn memory_maps_are_read_from_gap_to_gap() {
        let maps =
            "1000-3000 r--p 0 00:00 0\n3000-4000 rw-p 0 00:00 0 [heap]\n5000-6000 rw-p 0 00:00 0\n";
        assert_eq!(look_up(maps, 0x1000, 0x4000, Access::Read), Answer::Yes);
        assert_eq!(look_up(maps, 0x1000, 0x4000, Access::Write), Answer::No);
        assert_eq!(look_up(maps, 0x3000, 0x4000, Access::Write), Answer::Yes);
        assert_eq!(look_up(maps, 0x3000, 0x6000, Access::Read), Answer::No);
        assert_eq!(look_up(maps, 0x5000, 0x7000, Access::Read), Answer::No);
        assert_eq!(look_up(maps, 0x0, 0x1000, Access::Read), Answer::No);
        assert_eq!(look_up("odd", 0, 1, Access::Read), Answer::Unknown);
    }

    #[test]
    fn rows_may_lie_around_holes() {
        let pages = Pages::new(6, libc::PROT_READ | libc::PROT_WRITE);
        pages.unmap(1);
        pages.unmap(4);
        let side = Side::pageable(pages.0);
        let rect = |row_pitch, slice_pitch| Rect {
            address: pages.0 as u64,
            row_pitch,
            slice_pitch,
        };
        let rows = |rect: &Rect, extent| check_rows("source", &side, rect, extent, Access::Read);
        // Rows in pages 0 and 2, then 0, 2 and 4.
        assert_eq!(rows(&rect(2 * PAGE, 4 * PAGE), [64, 2, 1]), Ok(()));
        assert_eq!(
            rows(&rect(2 * PAGE, 6 * PAGE), [64, 3, 1]),
            Err(hipErrorInvalidValue)
        );
        // Slices in pages 0 and 3, then a third one behind the mapping.
        assert_eq!(rows(&rect(64, 3 * PAGE), [64, 2, 2]), Ok(()));
        assert_eq!(
            rows(&rect(64, 2 * PAGE), [64, 2, 3]),
            Err(hipErrorInvalidValue)
        );
        assert_eq!(rows(&rect(64, 128), [64, 2, 1]), Ok(()));
    }
}
