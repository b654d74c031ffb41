//! Recording what the runtime does, and reading it back.
//!
//! `format` describes the binary file. `record` writes it: each thread fills chunks of a memory-mapped file, so that a process that is
//! killed at any moment leaves everything recorded up to then. [`reader`] turns the file into a [`Trace`], and says what it could not read.
//! The `gneiss` command writes traces in other forms.
//!
//! Recording costs one load of a static where it is off.

pub(crate) mod file;
pub mod format;
mod model;
pub mod reader;
pub(crate) mod record;

pub use model::{
    ApiCall, BatchInfo, BlockInfo, Command, DeviceInfo, HwQueueInfo, QueueInfo, ThreadInfo, Trace,
    Wait,
};
pub use reader::TraceError;
pub use record::{call_begin, call_end, on, range_begin, range_end};

use std::sync::atomic::{AtomicU32, Ordering};

/// A name's number in the file, given at its first use. One for each kernel and each API function.
#[derive(Debug, Default)]
pub struct NameId(AtomicU32);

impl NameId {
    /// Not used yet.
    pub const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// The number; writes the name to the file at the first call.
    pub(crate) fn get(&self, name: &str) -> u32 {
        // Acquire: pairs with the release below, so that the name's record comes before its first use.
        match self.0.load(Ordering::Acquire) {
            0 => {
                let id = record::name(name);
                match self
                    .0
                    .compare_exchange(0, id, Ordering::AcqRel, Ordering::Acquire)
                {
                    Ok(_) => id,
                    Err(other) => other,
                }
            }
            id => id,
        }
    }
}
