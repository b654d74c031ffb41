//! A worker's cache of the guest map.
//!
//! Each memory instruction has a line of its own (by its place in the code), because an instruction nearly always stays
//! in one allocation. A line answers with one subtraction and one comparison. A miss searches the snapshot.

use super::{GuestMap, Mapping, Rights, Snapshot, epoch::Slice};

/// Lines of a cache; a power of two.
const LINES: usize = 64;

/// An access that the map does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryFault {
    /// Guest address of the first byte that may not be accessed.
    pub address: u64,
    /// Bytes of the access that failed.
    pub size: u64,
    /// A store or an atomic.
    pub write: bool,
}

/// A float atomic that its memory has lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostAtomic {
    /// Address of the instruction.
    pub pc: u64,
    /// Guest address that it was for.
    pub address: u64,
}

/// One remembered mapping.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Line {
    base: u64,
    /// Bytes that may be read from `base` on; 0 if none.
    readable: u64,
    /// Bytes that may be written from `base` on; 0 if none.
    writable: u64,
    /// Host address minus guest address.
    delta: u64,
}

/// Where native code finds the lines: a site is the address of an operation over [`SITE`](layout::SITE).
pub(crate) mod layout {
    use super::{Line, MapCache};
    use crate::ir::Op;

    /// Bytes of a site.
    pub(crate) const SITE: usize = size_of::<Op>();
    /// Lines of a cache.
    pub(crate) const LINES: usize = super::LINES;
    /// Bytes of a line.
    pub(crate) const LINE: usize = size_of::<Line>();
    /// Offset of the first line in a cache.
    pub(crate) const FIRST: usize = std::mem::offset_of!(MapCache, lines);
    /// Offset of the first guest address in a line.
    pub(crate) const BASE: usize = std::mem::offset_of!(Line, base);
    /// Offset of the number of bytes that may be read.
    pub(crate) const READABLE: usize = std::mem::offset_of!(Line, readable);
    /// Offset of the number of bytes that may be written.
    pub(crate) const WRITABLE: usize = std::mem::offset_of!(Line, writable);
    /// Offset of the host address minus the guest address.
    pub(crate) const DELTA: usize = std::mem::offset_of!(Line, delta);

    // Native code shifts and masks.
    const _: () = assert!(LINES as u32 == u64::BITS, "`lossy` has a bit for each");
    const _: () =
        assert!(SITE.is_power_of_two() && LINES.is_power_of_two() && LINE.is_power_of_two());
}

const EMPTY: Line = Line {
    base: 0,
    readable: 0,
    writable: 0,
    delta: 0,
};

impl Line {
    fn new(mapping: &Mapping) -> Self {
        let len_with = |right| {
            if mapping.rights.contains(right) {
                mapping.len
            } else {
                0
            }
        };
        Self {
            base: mapping.base,
            readable: len_with(Rights::READ),
            writable: len_with(Rights::WRITE),
            delta: (mapping.host.expose_provenance() as u64).wrapping_sub(mapping.base),
        }
    }

    #[inline(always)]
    fn resolve<const WRITE: bool>(&self, address: u64, size: u64) -> Option<*mut u8> {
        let len = if WRITE { self.writable } else { self.readable };
        let offset = address.wrapping_sub(self.base);
        (offset < len && size <= len - offset).then(|| {
            std::ptr::with_exposed_provenance_mut(address.wrapping_add(self.delta) as usize)
        })
    }
}

/// A thread's view of one guest map. Between [`begin`](Self::begin) and the end of that slice the addresses that it gives may be
/// dereferenced; outside it holds no snapshot, and what it answers from its lines may be stale.
#[derive(Debug)]
pub struct MapCache {
    lines: [Line; LINES],
    /// One bit for each line that is not empty: its memory loses float atomics.
    lossy: u64,
    /// The first float atomic that was lost since somebody asked.
    lost: Option<LostAtomic>,
    /// Generation that the lines were filled from.
    generation: u64,
    /// The snapshot of this slice; null outside.
    snapshot: *const Snapshot,
    /// The map of this slice; null outside.
    map: *const GuestMap,
}

impl Default for MapCache {
    fn default() -> Self {
        Self {
            lines: [EMPTY; LINES],
            lossy: 0,
            lost: None,
            generation: 0,
            snapshot: std::ptr::null(),
            map: std::ptr::null(),
        }
    }
}

impl MapCache {
    /// Begins a slice on a map. The lines survive if the map has not changed since they were filled.
    pub fn begin<'a>(&'a mut self, map: &'a GuestMap) -> MapSlice<'a> {
        let slice = Slice::enter();
        // The generation is read first: if a writer comes in between, the lines are dropped once too often, never too seldom.
        let generation = map.generation();
        self.snapshot = map.current();
        self.map = map;
        if self.generation != generation {
            self.lines = [EMPTY; LINES];
            self.generation = generation;
        }
        MapSlice {
            cache: self,
            _slice: slice,
        }
    }

    /// Host address of `size` bytes at a guest address, for reading. `site` numbers the instruction.
    #[inline(always)]
    pub fn read(&mut self, site: usize, address: u64, size: u64) -> Result<*const u8, MemoryFault> {
        match self.lines[site % LINES].resolve::<false>(address, size) {
            Some(host) => Ok(host),
            None => self
                .miss(site, address, size, false)
                .map(<*mut u8>::cast_const),
        }
    }

    /// As [`read`](Self::read) or [`write`](Self::write), if the line knows the mapping: without a search and without a fault.
    #[inline(always)]
    pub fn known<const WRITE: bool>(
        &self,
        site: usize,
        address: u64,
        size: u64,
    ) -> Option<*mut u8> {
        self.lines[site % LINES].resolve::<WRITE>(address, size)
    }

    /// Host address of `size` bytes at a guest address, for writing and atomics.
    #[inline(always)]
    pub fn write(&mut self, site: usize, address: u64, size: u64) -> Result<*mut u8, MemoryFault> {
        match self.lines[site % LINES].resolve::<true>(address, size) {
            Some(host) => Ok(host),
            None => self.miss(site, address, size, true),
        }
    }

    /// Whether float atomics are lost in the memory that [`write`](Self::write) has just found for this instruction.
    #[inline(always)]
    pub fn loses_float_atomics(&self, site: usize) -> bool {
        self.lossy >> (site % LINES) & 1 != 0
    }

    /// Notes that a float atomic was lost.
    #[cold]
    pub fn note_lost(&mut self, lost: LostAtomic) {
        self.lost.get_or_insert(lost);
    }

    /// The first float atomic that was lost since the last call.
    #[inline]
    pub fn take_lost(&mut self) -> Option<LostAtomic> {
        self.lost.is_some().then(|| self.lost.take()).flatten()
    }

    #[cold]
    #[inline(never)]
    fn miss(
        &mut self,
        site: usize,
        address: u64,
        size: u64,
        write: bool,
    ) -> Result<*mut u8, MemoryFault> {
        let result = self.look_up(site, address, size, write);
        let Err(fault) = result else { return result };
        if self.refresh() {
            let again = self.look_up(site, address, size, write);
            if again.is_ok() {
                return again;
            }
        }
        if self.serve(fault.address, write) && self.refresh() {
            return self.look_up(site, address, size, write);
        }
        result
    }

    /// Asks the map's server to make an access possible.
    fn serve(&self, address: u64, write: bool) -> bool {
        // SAFETY: `map` is null or the map that the running slice borrows.
        unsafe { self.map.as_ref() }.is_some_and(|map| map.serve(address, write))
    }

    /// Takes the map's newest snapshot, if there is a newer one: memory may have been allocated since the slice began, and the wave may
    /// have been told of it within the slice (device malloc).
    fn refresh(&mut self) -> bool {
        // SAFETY: `map` is null or the map that the running slice borrows.
        let Some(map) = (unsafe { self.map.as_ref() }) else {
            return false;
        };
        let generation = map.generation();
        if generation == self.generation {
            return false;
        }
        self.snapshot = map.current();
        self.lines = [EMPTY; LINES];
        self.generation = generation;
        true
    }

    fn look_up(
        &mut self,
        site: usize,
        address: u64,
        size: u64,
        write: bool,
    ) -> Result<*mut u8, MemoryFault> {
        let fault = |address| MemoryFault {
            address,
            size,
            write,
        };
        // SAFETY: `snapshot` is null or the snapshot loaded inside the running slice, which keeps it alive.
        let snapshot = unsafe { self.snapshot.as_ref() }.ok_or(fault(address))?;
        let mapping = snapshot.find(address).ok_or(fault(address))?;
        let line = Line::new(mapping);
        let found = if write {
            line.resolve::<true>(address, size)
        } else {
            line.resolve::<false>(address, size)
        };
        if found.is_some() {
            self.lines[site % LINES] = line;
            let lossy = mapping.rights.contains(Rights::LOSES_FLOAT_ATOMICS);
            self.lossy &= !(1 << (site % LINES));
            self.lossy |= u64::from(lossy) << (site % LINES);
        }
        // With the right missing the first byte is at fault, else the first byte past the end.
        let allowed = mapping
            .rights
            .contains(if write { Rights::WRITE } else { Rights::READ });
        found.ok_or(fault(if allowed {
            mapping.base + mapping.len
        } else {
            address
        }))
    }
}

/// A slice in which a [`MapCache`] may be used.
#[derive(Debug)]
pub struct MapSlice<'a> {
    /// The cache.
    pub cache: &'a mut MapCache,
    _slice: Slice,
}

impl Drop for MapSlice<'_> {
    fn drop(&mut self) {
        self.cache.snapshot = std::ptr::null();
        self.cache.map = std::ptr::null();
        // Lines stay for the next slice, which checks the generation.
    }
}
