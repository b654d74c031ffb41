//! The slot of a packet, between producers and the packet processor.
//!
//! A producer writes the body, then the header with release; the processor reads the header with acquire, copies the body, makes the
//! header invalid, and then advances the read index with release; a producer that finds by the read index, with acquire, that there is
//! room writes the next packet there. So a body is never read before it is whole, nor written before it was read.

use crate::sync::{AtomicU16, AtomicU64, Ordering};

/// Type of a packet that is not there.
const INVALID: u16 = 1;

/// The header of a packet that is there.
pub(crate) fn valid(header: &AtomicU16) -> Option<u16> {
    // Pairs with the producer's release store.
    let header = header.load(Ordering::Acquire);
    (header & 0xff != INVALID).then_some(header)
}

/// Gives a slot back, after its body was copied.
pub(crate) fn give_back(header: &AtomicU16, read_index: &AtomicU64, index: u64) {
    header.store(INVALID, Ordering::Release);
    // Pairs with the producer's acquire load when it looks for room.
    read_index.store(index + 1, Ordering::Release);
}

/// Whether a producer has room for packet `index`.
pub(crate) fn room(read_index: &AtomicU64, index: u64, size: u64) -> bool {
    index - read_index.load(Ordering::Acquire) < size
}

/// Publishes a packet whose body was written.
pub(crate) fn publish(header: &AtomicU16, value: u16) {
    header.store(value, Ordering::Release);
}
