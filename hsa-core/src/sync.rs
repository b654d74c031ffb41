//! The atomics of the protocols ([`crate::protocol`]); under the model checker they are loom's.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// Stands between two sequentially consistent operations on different words whose order matters to another thread. Their total order is
/// what the protocols rest on, so nothing is left to do here; loom knows that order only from fences, and has one in this place.
#[inline(always)]
pub(crate) fn order() {}
