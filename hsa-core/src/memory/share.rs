//! Memory that several processes share: anonymous memory is moved to a memfd in place when it is first exported, and a memfd of
//! another process is mapped.
//!
//! Moving keeps every address, so neither the program nor a GPU's map notices. Threads that store to the range meanwhile wait
//! (see [`crate::segv`]); loads go on.

use std::{
    io,
    os::fd::{AsRawFd, BorrowedFd, OwnedFd},
    ptr::NonNull,
};

use rustix::{
    fs::{MemfdFlags, ftruncate, memfd_create},
    mm::{MapFlags, MprotectFlags, ProtFlags, mmap, mmap_anonymous, mprotect},
};

use super::arena::PAGE;
use crate::segv;

/// Begin of the name of every memfd of this runtime.
pub(crate) const NAME: &str = "gneiss-";

/// A fresh memfd of `bytes` zero bytes.
pub(crate) fn file(name: &str, bytes: u64) -> io::Result<OwnedFd> {
    let file = memfd_create(format!("{NAME}{name}"), MemfdFlags::CLOEXEC)?;
    ftruncate(&file, bytes)?;
    Ok(file)
}

/// Name and bytes of a memfd of this runtime, in any process; `None` for any other file.
pub(crate) fn identify(file: BorrowedFd<'_>) -> Option<(String, u64)> {
    let link = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()?;
    let name = link
        .to_str()?
        .strip_prefix("/memfd:")?
        .strip_suffix(" (deleted)")?;
    let name = name.strip_prefix(NAME)?.to_owned();
    let bytes = rustix::fs::fstat(file).ok()?.st_size.try_into().ok()?;
    Some((name, bytes))
}

const READ_WRITE: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);

/// Maps a part of a memfd over `at`, or anywhere.
///
/// # Safety
/// `at` is a range of this many bytes whose contents nobody needs.
unsafe fn map(file: BorrowedFd<'_>, offset: u64, bytes: usize, at: NonNull<u8>) -> io::Result<()> {
    // SAFETY: the caller owns the range.
    unsafe {
        mmap(
            at.as_ptr().cast(),
            bytes,
            READ_WRITE,
            MapFlags::SHARED | MapFlags::FIXED,
            file,
            offset,
        )
    }?;
    Ok(())
}

/// Maps a part of a memfd over a range.
///
/// # Safety
/// The range is of this many bytes, whole pages, and nobody needs what is in it.
pub(crate) unsafe fn map_over(
    file: BorrowedFd<'_>,
    offset: u64,
    bytes: usize,
    at: NonNull<u8>,
) -> io::Result<()> {
    // SAFETY: the caller's promise.
    unsafe { map(file, offset, bytes, at) }
}

/// Puts fresh zeroed memory of this process alone over a range: what others still share is theirs.
///
/// # Safety
/// As [`map_over`].
pub(crate) unsafe fn unshare(at: NonNull<u8>, bytes: usize, access: bool) -> io::Result<()> {
    let rights = if access {
        READ_WRITE
    } else {
        ProtFlags::empty()
    };
    // SAFETY: the caller owns the range.
    unsafe {
        mmap_anonymous(
            at.as_ptr().cast(),
            bytes,
            rights,
            MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE,
        )
    }?;
    Ok(())
}

/// Moves a range of private memory to a memfd, in place.
///
/// # Safety
/// The range is whole pages of a private mapping of ours.
pub(crate) unsafe fn move_to_file(
    at: NonNull<u8>,
    bytes: usize,
    name: &str,
) -> io::Result<OwnedFd> {
    let file = file(name, bytes as u64)?;
    let base = at.as_ptr() as u64;
    segv::while_moving(base, bytes as u64, || {
        // SAFETY: the range is ours; stores to it wait from here on, until it is writable again.
        unsafe { mprotect(at.as_ptr().cast(), bytes, MprotectFlags::READ) }?;
        let result = copy(at, bytes, &file).and_then(|()| {
            // SAFETY: the file holds what the range held.
            unsafe { map(std::os::fd::AsFd::as_fd(&file), 0, bytes, at) }
        });
        if result.is_err() {
            // SAFETY: as above.
            unsafe {
                mprotect(
                    at.as_ptr().cast(),
                    bytes,
                    MprotectFlags::READ | MprotectFlags::WRITE,
                )
            }?;
        }
        result
    })?;
    Ok(file)
}

/// Writes the pages that are not zero; the others are holes.
fn copy(at: NonNull<u8>, bytes: usize, file: &OwnedFd) -> io::Result<()> {
    let mut offset = 0;
    while offset < bytes {
        // SAFETY: inside the range, which is readable and does not change now.
        let page = unsafe {
            std::slice::from_raw_parts(at.as_ptr().add(offset), PAGE.min(bytes - offset))
        };
        if page.iter().any(|&byte| byte != 0) {
            let mut done = 0;
            while done < page.len() {
                done += rustix::io::pwrite(file, &page[done..], (offset + done) as u64)?;
            }
        }
        offset += page.len();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::arena;
    use std::{
        os::fd::AsFd,
        sync::{
            Arc,
            atomic::{AtomicBool, AtomicU64, Ordering},
        },
    };

    #[test]
    fn stores_of_other_threads_survive_the_move() {
        const BYTES: usize = 64 * PAGE;
        let base = arena::reserve(BYTES).expect("memory");
        // SAFETY: the first words of each page, which everybody accesses as atomics.
        let counter =
            |page: usize| unsafe { AtomicU64::from_ptr(base.as_ptr().add(page * PAGE).cast()) };
        let address = base.as_ptr() as usize;
        let stop = Arc::new(AtomicBool::new(false));
        let threads: Vec<_> = (0..2u64)
            .map(|_| {
                let stop = Arc::clone(&stop);
                std::thread::spawn(move || {
                    let mut rounds = 0u64;
                    while !stop.load(Ordering::Relaxed) || rounds < 1000 {
                        for page in 0..BYTES / PAGE {
                            // SAFETY: as above; the memory lives as long as the process.
                            unsafe { AtomicU64::from_ptr((address + page * PAGE) as *mut u64) }
                                .fetch_add(1, Ordering::Relaxed);
                        }
                        rounds += 1;
                    }
                    rounds
                })
            })
            .collect();
        while counter(BYTES / PAGE - 1).load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        // SAFETY: a private mapping of this test.
        let file = unsafe { move_to_file(base, BYTES, "test") }.expect("moved");
        stop.store(true, Ordering::Relaxed);
        let rounds: u64 = threads
            .into_iter()
            .map(|thread| thread.join().expect("no panic"))
            .sum();
        for page in 0..BYTES / PAGE {
            assert_eq!(counter(page).load(Ordering::Relaxed), rounds, "page {page}");
        }
        assert_eq!(
            identify(file.as_fd()),
            Some(("test".to_owned(), BYTES as u64))
        );
        let other = arena::reserve(BYTES).expect("memory");
        // SAFETY: memory of this test that nobody uses yet; then a word of it.
        unsafe {
            map_over(file.as_fd(), 0, BYTES, other).expect("mapped");
            assert_eq!(other.cast::<u64>().read(), rounds);
            other.cast::<u64>().write(7);
        }
        assert_eq!(counter(0).load(Ordering::Relaxed), 7);
    }

    #[test]
    fn other_files_are_not_ours() {
        let file = std::fs::File::open("/dev/null").expect("a file");
        assert_eq!(identify(file.as_fd()), None);
    }
}
