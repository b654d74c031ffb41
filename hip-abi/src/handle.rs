//! Handles: what a C caller holds for a stream, an event, a module, a function, a memory pool.
//!
//! A handle is not an address. It packs a kind, a generation and an index, so that a stale, foreign or invented value is
//! recognised and answered with an error, and nothing that a caller passes is ever followed. Layout of the 64 bits:
//!
//! ```text
//! 63..60 zero | 59..56 kind (1..15) | 55..32 generation (1..2²⁴-1) | 31..0 index
//! ```
//!
//! So a handle is never null, never one of HIP's pseudo-handles (1 and 2) and never a user-space address.
//!
//! A lookup locks one slot for the time of an `Arc` clone; there is no lock that two handles share. Creation and destruction
//! take the free list's lock. Slots live in segments of doubling size that are never freed or moved.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU32, Ordering},
};

use parking_lot::Mutex;

const FIRST_SEGMENT_LOG2: u32 = 6;
const SEGMENTS: usize = 20;
const GENERATION_MAX: u32 = (1 << 24) - 1;

/// What a handle stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// `hipStream_t`.
    Stream = 1,
    /// `hipEvent_t`.
    Event = 2,
    /// `hipModule_t`.
    Module = 3,
    /// `hipFunction_t`.
    Function = 4,
    /// `hipMemPool_t`.
    MemoryPool = 5,
    /// `hipCtx_t`.
    Context = 6,
    /// A registered fat binary.
    FatBinary = 7,
    /// `hipGraph_t`.
    Graph = 8,
    /// `hipGraphNode_t`.
    GraphNode = 9,
    /// `hipGraphExec_t`.
    GraphExec = 10,
    /// `hipUserObject_t`.
    UserObject = 11,
    /// `hipMemGenericAllocationHandle_t`.
    VirtualMemory = 12,
    /// `hipLibrary_t`.
    Library = 13,
    /// `hipKernel_t`.
    Kernel = 14,
    /// `hipExternalMemory_t`.
    ExternalMemory = 15,
}

#[derive(Debug)]
struct Slot<T> {
    value: Mutex<Option<(u32, Arc<T>)>>,
    /// Generation of the next value; written with the slot's lock held.
    generation: AtomicU32,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Slot {
            value: Mutex::new(None),
            generation: AtomicU32::new(1),
        }
    }
}

/// All handles of one kind.
#[derive(Debug)]
pub struct Table<T> {
    kind: Kind,
    segments: [OnceLock<Box<[Slot<T>]>>; SEGMENTS],
    free: Mutex<FreeList>,
}

#[derive(Debug)]
struct FreeList {
    reusable: Vec<u32>,
    /// First index that was never used.
    fresh: u32,
}

/// Segment and place in it of an index.
fn locate(index: u32) -> (usize, usize) {
    let shifted = u64::from(index) + (1 << FIRST_SEGMENT_LOG2);
    let log2 = 63 - shifted.leading_zeros();
    (
        (log2 - FIRST_SEGMENT_LOG2) as usize,
        (shifted - (1 << log2)) as usize,
    )
}

impl<T> Table<T> {
    /// An empty table.
    pub const fn new(kind: Kind) -> Self {
        Table {
            kind,
            segments: [const { OnceLock::new() }; SEGMENTS],
            free: Mutex::new(FreeList {
                reusable: Vec::new(),
                fresh: 0,
            }),
        }
    }

    fn slot(&self, index: u32) -> Option<&Slot<T>> {
        let (segment, place) = locate(index);
        self.segments.get(segment)?.get()?.get(place)
    }

    /// Puts a value in and gives its handle; `None` when there are about 67 million live ones.
    pub fn insert(&self, value: Arc<T>) -> Option<usize> {
        let index = {
            let mut free = self.free.lock();
            match free.reusable.pop() {
                Some(index) => index,
                None => {
                    let index = free.fresh;
                    let (segment, _) = locate(index);
                    self.segments.get(segment)?.get_or_init(|| {
                        (0..1_usize << (FIRST_SEGMENT_LOG2 as usize + segment))
                            .map(|_| Slot::default())
                            .collect()
                    });
                    free.fresh += 1;
                    index
                }
            }
        };
        let slot = self.slot(index)?;
        let mut place = slot.value.lock();
        let generation = slot.generation.load(Ordering::Relaxed);
        *place = Some((generation, value));
        Some((self.kind as usize) << 56 | (generation as usize) << 32 | index as usize)
    }

    /// Generation and slot of a handle, if it has this table's shape.
    fn decode(&self, handle: usize) -> Option<(u32, u32, &Slot<T>)> {
        if handle >> 56 != self.kind as usize {
            return None;
        }
        let generation = (handle >> 32) as u32 & GENERATION_MAX;
        let index = handle as u32;
        Some((generation, index, self.slot(index)?))
    }

    /// The live value of a handle.
    pub fn get(&self, handle: usize) -> Option<Arc<T>> {
        let (generation, _, slot) = self.decode(handle)?;
        match &*slot.value.lock() {
            Some((current, value)) if *current == generation => Some(Arc::clone(value)),
            _ => None,
        }
    }

    /// Ends a handle and gives the value that it held.
    pub fn remove(&self, handle: usize) -> Option<Arc<T>> {
        let (generation, index, slot) = self.decode(handle)?;
        let value = {
            let mut place = slot.value.lock();
            match &*place {
                Some((current, _)) if *current == generation => {}
                _ => return None,
            }
            slot.generation.store(
                if generation == GENERATION_MAX {
                    1
                } else {
                    generation + 1
                },
                Ordering::Relaxed,
            );
            place.take().map(|(_, value)| value)
        };
        self.free.lock().reusable.push(index);
        value
    }

    /// All live values, with their handles.
    pub fn live(&self) -> Vec<(usize, Arc<T>)> {
        let fresh = self.free.lock().fresh;
        (0..fresh)
            .filter_map(|index| {
                let place = self.slot(index)?.value.lock();
                let (generation, value) = place.as_ref()?;
                Some((
                    (self.kind as usize) << 56 | (*generation as usize) << 32 | index as usize,
                    Arc::clone(value),
                ))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_foreign_and_invented_handles_are_refused() {
        let events: Table<u32> = Table::new(Kind::Event);
        let streams: Table<u32> = Table::new(Kind::Stream);
        let first = events.insert(Arc::new(7)).unwrap();
        assert_eq!(events.get(first).as_deref(), Some(&7));
        assert_eq!(streams.get(first), None);
        for invented in [
            0,
            1,
            2,
            usize::MAX,
            first + 1,
            first | 1 << 60,
            0x7fff_1234_5678,
        ] {
            assert_eq!(events.get(invented), None, "{invented:#x}");
        }
        assert_eq!(events.remove(first).as_deref(), Some(&7));
        assert_eq!(events.remove(first), None);
        let second = events.insert(Arc::new(8)).unwrap();
        assert_ne!(first, second);
        assert_eq!(events.get(first), None);
        assert_eq!(events.get(second).as_deref(), Some(&8));
    }

    #[test]
    fn grows_over_segments() {
        let table: Table<usize> = Table::new(Kind::Module);
        let handles: Vec<usize> = (0..1000)
            .map(|value| table.insert(Arc::new(value)).unwrap())
            .collect();
        for (value, &handle) in handles.iter().enumerate() {
            assert_eq!(table.get(handle).as_deref(), Some(&value));
        }
        assert_eq!(table.live().len(), 1000);
        for &handle in &handles[..500] {
            table.remove(handle);
        }
        let live = table.live();
        assert_eq!(live.len(), 500);
        assert!(
            live.iter()
                .all(|&(handle, _)| handles[500..].contains(&handle))
        );
    }

    #[test]
    fn indices_map_to_segments() {
        assert_eq!(locate(0), (0, 0));
        assert_eq!(locate(63), (0, 63));
        assert_eq!(locate(64), (1, 0));
        assert_eq!(locate(191), (1, 127));
        assert_eq!(locate(192), (2, 0));
    }
}
