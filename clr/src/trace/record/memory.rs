//! Recording a replay: into memory, in virtual time, for all threads of the replayed program on one thread.

use std::{cell::RefCell, sync::atomic::Ordering};

use super::{ON, WRITER, Writer};
use crate::trace::format::{self, CHUNK_HEADER, CHUNK_MAGIC, CHUNK_SIZE, HEADER_SIZE, at};

/// The words of a chunk.
pub(crate) type Chunk = Box<[u64; CHUNK_SIZE / 8]>;

/// The recording of a replay.
struct Memory {
    chunks: Vec<Chunk>,
    /// For each thread of the workload, its chunk and what of it is used.
    places: Vec<(*mut u8, usize)>,
}

thread_local! {
    static MEMORY: RefCell<Memory> = const { RefCell::new(Memory { chunks: Vec::new(), places: Vec::new() }) };
}

/// A new chunk for the writer.
pub(super) fn next_chunk(writer: &Writer) -> bool {
    MEMORY
        .try_with(|memory| {
            let mut chunk = Box::new([0_u64; CHUNK_SIZE / 8]);
            let thread = writer.thread();
            chunk[0] = u64::from(CHUNK_MAGIC) | u64::from(thread) << 32;
            chunk[1] = CHUNK_HEADER as u64 | u64::from(thread) << 32;
            writer.chunk.set(chunk.as_mut_ptr().cast());
            writer.used.set(CHUNK_HEADER);
            memory.borrow_mut().chunks.push(chunk);
        })
        .is_ok()
}

/// This thread records a replay, until [`end_memory`].
pub(crate) fn begin_memory(threads: usize) {
    let _ = WRITER.try_with(|writer| {
        writer.memory.set(true);
        writer.chunk.set(std::ptr::null_mut());
        writer.used.set(CHUNK_SIZE);
        writer.thread.set(1);
        writer.count.set(0);
        writer.call.set(0);
    });
    let _ = MEMORY.try_with(|memory| {
        let mut memory = memory.borrow_mut();
        memory.chunks.clear();
        memory.places = vec![(std::ptr::null_mut(), CHUNK_SIZE); threads];
    });
    ON.fetch_add(1, Ordering::Release);
}

/// What follows is done by another thread of the replayed program.
pub(crate) fn switch_thread(index: usize) {
    let _ = WRITER.try_with(|writer| {
        let _ = MEMORY.try_with(|memory| {
            let mut memory = memory.borrow_mut();
            let now = (writer.thread.get() - 1) as usize;
            if let Some(place) = memory.places.get_mut(now) {
                *place = (writer.chunk.get(), writer.used.get());
            }
            if let Some((chunk, used)) = memory.places.get(index) {
                writer.chunk.set(*chunk);
                writer.used.set(*used);
                writer.thread.set(index as u32 + 1);
            }
        });
    });
}

/// Ends the recording of a replay; gives the trace file's bytes.
pub(crate) fn end_memory() -> Vec<u8> {
    ON.fetch_sub(1, Ordering::Release);
    let _ = WRITER.try_with(|writer| {
        writer.memory.set(false);
        writer.chunk.set(std::ptr::null_mut());
        writer.used.set(CHUNK_SIZE);
        writer.thread.set(0);
    });
    let chunks = MEMORY
        .try_with(|memory| std::mem::take(&mut memory.borrow_mut().chunks))
        .unwrap_or_default();
    image(&chunks)
}

/// A trace file of these chunks, whose times are in nanoseconds.
pub(crate) fn image(chunks: &[Chunk]) -> Vec<u8> {
    let mut image = vec![0_u8; HEADER_SIZE];
    let mut put = |offset: usize, bytes: &[u8]| {
        image[offset..offset + bytes.len()].copy_from_slice(bytes);
    };
    put(0, &format::MAGIC);
    put(at::VERSION, &format::VERSION.to_le_bytes());
    put(at::HEADER_SIZE, &(HEADER_SIZE as u32).to_le_bytes());
    put(at::CHUNK_SIZE, &(CHUNK_SIZE as u32).to_le_bytes());
    put(at::TICKS, &1_000_000_000_u64.to_le_bytes());
    put(
        at::FLAGS,
        &(format::FLAG_ENDED | format::FLAG_TIMES).to_le_bytes(),
    );
    put(at::CHUNKS, &(chunks.len() as u64).to_le_bytes());
    // The HSA clock of a replay is one ahead of the virtual time.
    put(at::FIRST_PAIR + 8, &1_u64.to_le_bytes());
    for chunk in chunks {
        image.extend(chunk.iter().flat_map(|word| word.to_le_bytes()));
    }
    image
}
