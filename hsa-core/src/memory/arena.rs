//! Host memory behind allocations: small blocks out of chunks, large ones with a mapping of their own.
//!
//! Every block begins on a page (the pools' granule), and between two blocks lies at least one page that no GPU maps, so that an
//! access that runs past an allocation finds nothing. Cost does not depend on how many blocks live: a small block is popped from
//! the free list of its size class, or carved from a chunk. Chunks are kept for ever; large blocks go back to the system.

use std::{io, ptr::NonNull};

use parking_lot::Mutex;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

use super::pageable::RESERVED;

/// Granule of every pool.
pub(crate) const PAGE: usize = 4096;
/// Blocks of at least this size are aligned to it and backed by huge pages.
const HUGE: usize = 2 << 20;
/// Bytes of a chunk.
const CHUNK: usize = 2 << 20;
/// Classes are 1, 2, 4 … 64 pages.
const CLASSES: usize = 7;

/// A block of memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    /// First byte.
    pub(crate) base: NonNull<u8>,
    /// Start and bytes of the mapping, for a large block.
    mapping: Option<(NonNull<u8>, usize)>,
    class: usize,
}

// SAFETY: a block is an address; whoever has it decides what is done with the memory.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

#[derive(Default)]
struct Class {
    free: Vec<Block>,
    /// Rest of the chunk that is being carved: start and bytes.
    rest: Option<(NonNull<u8>, usize)>,
}

// SAFETY: the pointers are to memory that the arena owns.
unsafe impl Send for Class {}

/// A source of blocks.
pub(crate) struct Arena {
    classes: [Mutex<Class>; CLASSES],
    /// Whether a forked child gets none of it (memory of a device).
    device: bool,
}

impl std::fmt::Debug for Arena {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Arena")
            .field("device", &self.device)
            .finish_non_exhaustive()
    }
}

/// Maps fresh zeroed memory.
fn map(bytes: usize, flags: MapFlags) -> io::Result<NonNull<u8>> {
    // SAFETY: a new private mapping at an address of the system's choice disturbs nothing.
    let base = unsafe {
        mmap_anonymous(
            std::ptr::null_mut(),
            bytes,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE | flags,
        )
    }?;
    ours(base.cast(), bytes)
}

/// Notes that a new mapping is ours.
fn ours(base: *mut u8, bytes: usize) -> io::Result<NonNull<u8>> {
    RESERVED.add(base as u64, bytes);
    NonNull::new(base).ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))
}

/// Readable and writable memory that stays for the life of the process and costs nothing until it is touched.
pub(crate) fn reserve(bytes: usize) -> io::Result<NonNull<u8>> {
    map(bytes, MapFlags::NORESERVE)
}

/// Address space that holds no memory: for addresses that only a GPU translates.
pub(crate) fn reserve_addresses(bytes: usize) -> io::Result<NonNull<u8>> {
    // SAFETY: as in `map`.
    let base = unsafe {
        mmap_anonymous(
            std::ptr::null_mut(),
            bytes,
            ProtFlags::empty(),
            MapFlags::PRIVATE | MapFlags::NORESERVE,
        )
    }?;
    ours(base.cast(), bytes)
}

/// Gives address space back.
///
/// # Safety
/// `base` and `bytes` are a whole mapping of [`reserve_addresses`], and nobody uses it any more.
pub(crate) unsafe fn unreserve(base: NonNull<u8>, bytes: usize) {
    RESERVED.remove(base.as_ptr() as u64);
    // SAFETY: the caller owns the mapping.
    if let Err(error) = unsafe { munmap(base.as_ptr().cast(), bytes) } {
        tracing::warn!(%error, "munmap failed");
    }
}

impl Arena {
    /// A source of host memory, or of memory that stands for a device's.
    pub(crate) fn new(device: bool) -> Self {
        Self {
            classes: Default::default(),
            device,
        }
    }

    /// A block of at least `bytes` (not 0).
    pub(crate) fn allocate(&self, bytes: usize) -> io::Result<Block> {
        let pages = bytes.div_ceil(PAGE);
        let class = pages.next_power_of_two().trailing_zeros() as usize;
        if class >= CLASSES {
            return self.allocate_large(pages.checked_mul(PAGE).ok_or(io::ErrorKind::OutOfMemory)?);
        }
        let mut lists = self.classes[class].lock();
        if let Some(block) = lists.free.pop() {
            return Ok(block);
        }
        let stride = (PAGE << class) + PAGE;
        let (base, left) = match lists.rest {
            Some((base, left)) if left >= stride => (base, left),
            _ => {
                let base = map(CHUNK, MapFlags::NORESERVE)?;
                self.advise(base, CHUNK, false);
                (base, CHUNK)
            }
        };
        // SAFETY: `stride <= left`, so the result is inside the chunk or at its end.
        lists.rest = Some((unsafe { base.add(stride) }, left - stride));
        Ok(Block {
            base,
            mapping: None,
            class,
        })
    }

    fn allocate_large(&self, bytes: usize) -> io::Result<Block> {
        let huge = bytes >= HUGE;
        let slack = if huge { HUGE } else { 0 };
        let length = bytes
            .checked_add(slack + PAGE)
            .ok_or(io::ErrorKind::OutOfMemory)?;
        let start = map(length, MapFlags::NORESERVE)?;
        let skip = if huge {
            start.as_ptr().align_offset(HUGE)
        } else {
            0
        };
        // SAFETY: `skip < HUGE = slack`, so the block and its guard page are inside the mapping.
        let base = unsafe { start.add(skip) };
        self.advise(base, bytes, huge);
        Ok(Block {
            base,
            mapping: Some((start, length)),
            class: CLASSES,
        })
    }

    fn advise(&self, base: NonNull<u8>, bytes: usize, huge: bool) {
        let mut advice = Vec::new();
        if huge {
            advice.push(Advice::LinuxHugepage);
        }
        if self.device {
            advice.push(Advice::LinuxDontFork);
        }
        for advice in advice {
            // SAFETY: the range is a mapping of ours; neither advice changes what it holds in this process.
            if let Err(error) = unsafe { madvise(base.as_ptr().cast(), bytes, advice) } {
                // Kernels without transparent huge pages refuse; the memory works all the same.
                tracing::debug!(%error, "madvise refused");
            }
        }
    }

    /// A block of memory that was mapped elsewhere and that `free` unmaps.
    ///
    /// # Safety
    /// `start` and `length` are a whole mapping that nobody else unmaps.
    pub(crate) unsafe fn adopt(start: NonNull<u8>, length: usize) -> Block {
        Block {
            base: start,
            mapping: Some((start, length)),
            class: CLASSES,
        }
    }

    /// Takes a block back.
    ///
    /// # Safety
    /// The block is of this arena, was not freed before, and nobody uses its memory any more.
    pub(crate) unsafe fn free(&self, block: Block) {
        match block.mapping {
            // SAFETY: the block has the whole mapping to itself, and the caller says that it is unused.
            Some((start, length)) => unsafe { unreserve(start, length) },
            None => self.classes[block.class].lock().free.push(block),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_apart_and_come_again() {
        let arena = Arena::new(true);
        let blocks: Vec<_> = (0..600)
            .map(|_| arena.allocate(5000).expect("memory"))
            .collect();
        let mut bases: Vec<_> = blocks
            .iter()
            .map(|block| block.base.as_ptr() as usize)
            .collect();
        bases.sort_unstable();
        assert!(bases.iter().all(|base| base.is_multiple_of(PAGE)));
        assert!(bases.windows(2).all(|pair| pair[1] - pair[0] >= 3 * PAGE));
        let last = *blocks.last().expect("some");
        // SAFETY: nobody uses it.
        unsafe { arena.free(last) };
        assert_eq!(arena.allocate(8192).expect("memory").base, last.base);
    }

    #[test]
    fn large_blocks_are_aligned_and_usable_to_the_end() {
        let arena = Arena::new(false);
        let bytes = (5 << 20) + 1;
        let block = arena.allocate(bytes).expect("memory");
        assert_eq!(block.base.as_ptr() as usize % HUGE, 0);
        // SAFETY: the last byte is in the block.
        unsafe { block.base.add(bytes - 1).write(1) };
        // SAFETY: nobody uses it.
        unsafe { arena.free(block) };
        assert!(arena.allocate(usize::MAX - 10).is_err());
    }
}
