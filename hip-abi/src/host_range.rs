//! Whether the program's own memory can be read or written where a call says.
//!
//! The runtime copies pageable memory itself, so a pointer to nowhere would end the process with a signal inside of the library. These
//! checks give an error instead. They are only made for memory that HIP does not know, and cost as little as they can: the stack of
//! the calling thread and the heap of `brk` are there; one or two pages are touched by system calls that give `EFAULT`; for larger ranges
//! the kernel is asked for its mappings (`PROCMAP_QUERY`, since Linux 6.11), else `madvise` makes the page faults that the copy would make
//! (`MADV_POPULATE_…`, since Linux 5.14), and where none of that says anything, `/proc/self/maps` does.
//!
//! A range that another thread unmaps between the check and the copy is not found.

use std::{cell::OnceCell, fs::File, os::fd::AsRawFd, sync::OnceLock};

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

/// Ranges that are there as long as the thread, or the process, runs: no system call is needed.
fn is_stack_or_heap(address: usize, end: usize) -> bool {
    thread_local! {
        /// Start and end of the thread's stack.
        static STACK: OnceCell<(usize, usize)> = const { OnceCell::new() };
    }
    let here = 0_u8;
    let depth = (&raw const here).addr();
    let (low, high) = STACK
        .try_with(|stack| *stack.get_or_init(stack_of_thread))
        .unwrap_or_default();
    // From this frame upwards; a thread that runs on another stack for now is not in there.
    if low <= depth && depth < high && address >= depth && end <= high {
        return true;
    }
    static HEAP: OnceLock<usize> = OnceLock::new();
    let start = *HEAP.get_or_init(|| {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        maps.lines()
            .find(|line| line.ends_with("[heap]"))
            .and_then(|line| usize::from_str_radix(line.split('-').next()?, 16).ok())
            .unwrap_or(usize::MAX)
    });
    // SAFETY: with 0 it only tells the end of the heap, which the C library knows.
    address >= start && end <= unsafe { libc::sbrk(0) }.addr()
}

/// Where the calling thread's stack is; an empty range if that cannot be found out.
fn stack_of_thread() -> (usize, usize) {
    let (mut base, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: the attributes are made by the first call and destroyed once; the results have valid places.
    unsafe {
        let mut attributes = std::mem::zeroed::<libc::pthread_attr_t>();
        if libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) != 0 {
            return (0, 0);
        }
        let found =
            libc::pthread_attr_getstack(&raw const attributes, &raw mut base, &raw mut size) == 0;
        libc::pthread_attr_destroy(&raw mut attributes);
        if found {
            (base.addr(), base.addr() + size)
        } else {
            (0, 0)
        }
    }
}

/// Has the kernel read, or write unchanged, a word of the page that holds an address.
fn touch(address: usize, access: Access) -> Answer {
    let word: *mut u64 = std::ptr::with_exposed_provenance_mut(address & !7);
    // SAFETY: both calls take any address, and give EFAULT for a bad one. The first one reads a signal set and then refuses the
    // operation, which does not exist; the second one ORs 0 to the word atomically, and wakes nobody but by mistake.
    let result = unsafe {
        match access {
            Access::Read => libc::syscall(
                libc::SYS_rt_sigprocmask,
                -1,
                word,
                std::ptr::null_mut::<u64>(),
                8,
            ),
            Access::Write => {
                let or_0 = libc::FUTEX_OP(libc::FUTEX_OP_OR, 0, libc::FUTEX_OP_CMP_LT, 0);
                let own = 0_u32;
                libc::syscall(
                    libc::SYS_futex,
                    &raw const own,
                    libc::FUTEX_WAKE_OP | libc::FUTEX_PRIVATE_FLAG,
                    0,
                    0_usize,
                    word,
                    or_0,
                )
            }
        }
    };
    if result == 0 {
        return Answer::Yes;
    }
    match std::io::Error::last_os_error().raw_os_error() {
        Some(libc::EFAULT) => Answer::No,
        // The operation that does not exist.
        Some(libc::EINVAL) if access == Access::Read => Answer::Yes,
        _ => Answer::Unknown,
    }
}

/// `struct procmap_query` of Linux.
#[repr(C)]
#[derive(Default)]
struct MapQuery {
    size: u64,
    flags: u64,
    address: u64,
    start: u64,
    end: u64,
    vma_flags: u64,
    page_size: u64,
    offset: u64,
    inode: u64,
    device: [u32; 2],
    name_size: u32,
    build_id_size: u32,
    name: u64,
    build_id: u64,
}

const _: () = assert!(size_of::<MapQuery>() == 104);

/// Asks the kernel for the mappings of a range, without touching them.
fn query(start: usize, end: usize, access: Access) -> Answer {
    /// `PROCMAP_QUERY`: `_IOWR('f', 17, struct procmap_query)`.
    const PROCMAP_QUERY: libc::Ioctl = 0xc068_6611;
    let flag = match access {
        Access::Read => 1,
        Access::Write => 2,
    };
    static MAPS: OnceLock<Option<File>> = OnceLock::new();
    let Some(maps) = MAPS.get_or_init(|| File::open("/proc/self/maps").ok()) else {
        return Answer::Unknown;
    };
    let mut reached = start as u64;
    while reached < end as u64 {
        let mut query = MapQuery {
            size: size_of::<MapQuery>() as u64,
            address: reached,
            ..MapQuery::default()
        };
        // SAFETY: the record is as long as it says, and names no buffers.
        let result = unsafe { libc::ioctl(maps.as_raw_fd(), PROCMAP_QUERY, &raw mut query) };
        if result != 0 {
            return match std::io::Error::last_os_error().raw_os_error() {
                Some(libc::ENOENT) => Answer::No,
                _ => Answer::Unknown,
            };
        }
        if query.vma_flags & flag == 0 {
            return Answer::No;
        }
        reached = query.end;
    }
    Answer::Yes
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
    if is_stack_or_heap(address, address + size) {
        return true;
    }
    let asked = if end - start <= 2 * PAGE {
        match touch(address, access) {
            Answer::Yes if end - start > PAGE => touch(address + size - 1, access),
            answer => answer,
        }
    } else {
        query(start, end, access)
    };
    answered(asked, || {
        answered(populate(start, end, access), || mapped(start, end, access))
    }) != Answer::No
}

/// An answer; if it is none, the next one.
fn answered(answer: Answer, next: impl FnOnce() -> Answer) -> Answer {
    match answer {
        Answer::Unknown => next(),
        answer => answer,
    }
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

/// Whether a range can be read and written, without touching its pages: for ranges that may be much larger than what is used of them.
pub fn is_mapped(address: usize, size: usize) -> bool {
    let answer = match pages(address, size) {
        Some((start, end)) => answered(query(start, end, Access::Write), || {
            mapped(start, end, Access::Write)
        }),
        None => Answer::No,
    };
    answer != Answer::No
}

/// Checks that a range [is mapped](is_mapped).
///
/// # Errors
/// `hipErrorInvalidValue`.
pub fn check_mapped(what: &str, address: usize, size: usize) -> HipResult {
    if is_mapped(address, size) {
        Ok(())
    } else {
        refusal(what, address, size, Access::Write)
    }
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
    fn every_way_to_ask_says_the_same() {
        let pages = Pages::new(3, libc::PROT_READ | libc::PROT_WRITE);
        pages.protect(1, libc::PROT_READ);
        pages.unmap(2);
        for (page, read, write) in [
            (0, Answer::Yes, Answer::Yes),
            (1, Answer::Yes, Answer::No),
            (2, Answer::No, Answer::No),
        ] {
            let start = pages.0 + page * PAGE;
            for (access, want) in [(Access::Read, read), (Access::Write, write)] {
                assert_eq!(touch(start + 100, access), want, "page {page}, {access:?}");
                let all = [
                    query(start, start + PAGE, access),
                    populate(start, start + PAGE, access),
                    mapped(start, start + PAGE, access),
                ];
                // Kernels differ in what they can be asked; the last way is there in all.
                assert!(
                    all.iter()
                        .all(|answer| [want, Answer::Unknown].contains(answer)),
                    "page {page}, {access:?}: {all:?}"
                );
                assert_eq!(all[2], want);
            }
        }
        // What is written is not changed.
        let word = std::sync::atomic::AtomicU64::new(0x1234_5678_9abc_def0);
        assert_eq!(touch(word.as_ptr().addr(), Access::Write), Answer::Yes);
        assert_eq!(word.into_inner(), 0x1234_5678_9abc_def0);
    }

    #[test]
    fn the_stack_is_known_without_a_call_and_a_hole_is_not() {
        let local = [0_u8; 64];
        let start = local.as_ptr().addr();
        assert!(is_stack_or_heap(start, start + 64));
        std::thread::spawn(move || {
            let own = [0_u8; 64];
            let here = own.as_ptr().addr();
            assert!(is_stack_or_heap(here, here + 64));
            assert!(!is_stack_or_heap(start, start + 64), "another thread's");
        })
        .join()
        .unwrap();
        assert!(!is_stack_or_heap(16, 32));
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
