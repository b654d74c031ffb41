//! The lock-free parts: a command's status, sleeping for an event's progress, handing a queue to whoever drains it.
//!
//! They take their atomics from [`sync`], so that `clr/models` can compile the same files with loom's and try all interleavings.

pub(crate) mod attention;
pub(crate) mod status;
pub(crate) mod wakeup;

/// The primitives of these files.
pub(crate) mod sync {
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering, fence};
}
