//! The atomics of the protocols ([`crate::protocol`]); under the model checker they are loom's.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, Ordering};
