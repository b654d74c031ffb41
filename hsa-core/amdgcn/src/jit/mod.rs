//! Native code for straight runs of vector operations.
//!
//! The interpreter reads and writes the vector file in every operation. Here the operations of a basic block that need nothing but
//! lanes and masks become one piece of AVX2 code: for eight lanes at a time it loads what the run reads, computes all of the run in
//! registers, and stores what the run has written. The first operation of a run gets that code as its handler and gives the
//! operation behind the run; all operations stay where they are, so that a jump into the middle interprets the rest.
//!
//! * [`form`]: which operations have native code, and what they compute.
//! * `region`: cuts a segment into runs; [`liveness`]: which of their masks nobody reads.
//! * `values`: what a run reads, computes and writes; [`linear`]: which of it are addresses that go up evenly from lane to lane.
//! * `entry`: what a run with loads and stores does before its loop.
//! * `emit`: code of a run; `select`: instructions of an operation; `registers`: where values are; `assemble`: encoding.
//! * `memory`: executable pages.
//! * `resume`: the way back to the interpreter.
//!
//! The results have the interpreter's bits. What native arithmetic does not do by itself (which NaN an operation gives) is left to the
//! interpreter: eight lanes whose run meets a NaN are not stored, and the interpreter does the run for them and all lanes after them.
//!
//! Needs AVX2 and FMA; `GNEISS_JIT=0` turns it off.

mod assemble;
mod emit;
mod entry;
pub mod form;
pub mod linear;
pub mod liveness;
mod memory;
mod region;
mod registers;
mod resume;
mod select;
#[cfg(test)]
mod tests;
mod values;

use std::sync::{OnceLock, atomic::AtomicI32};

use crate::interp::{level::Level, run::Handler};

use form::Form;
pub use memory::CodePages;
pub use region::Code;
use region::Kind;

/// Native code of a segment, alive as long as its operations.
#[derive(Debug)]
pub struct NativeCode {
    _pages: CodePages,
    runs: Box<[Run]>,
    memory_runs: usize,
}

impl NativeCode {
    /// Number of runs.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// Number of runs with loads and stores.
    pub fn memory_runs(&self) -> usize {
        self.memory_runs
    }
}

/// A run, as the way back to the interpreter needs it. Native code holds its address.
#[derive(Debug)]
struct Run {
    /// The handler of the first operation before the run's code took its place.
    first: Handler,
    /// Operations, but for a store at the end.
    length: usize,
    /// Scalar slots of the lane masks that the run writes.
    masks: Vec<u32>,
    /// How often the addresses of a run with loads and stores may still turn out not to be linear, one time after the other, before
    /// nobody looks any more. Written by native code.
    patience: AtomicI32,
}

/// What [`Run::patience`] begins with.
const PATIENCE: i32 = 64;

/// Whether runs are compiled: not with the counters, which see operations one by one.
pub fn is_enabled(level: Level) -> bool {
    static ENABLED: OnceLock<bool> = OnceLock::new();
    level >= Level::Avx2
        && !cfg!(feature = "counters")
        && *ENABLED.get_or_init(|| gneiss_settings::switch("GNEISS_JIT").unwrap_or(true))
}

/// Compiles the runs of a segment; gives the code, and the handlers that are to stand in their first operations. Nothing if there are no
/// runs, or no executable memory.
pub fn compile(segment: &Code<'_>) -> Option<(NativeCode, Vec<(usize, Handler)>)> {
    let Code { ops, forms, .. } = *segment;
    let regions = emit::Runs {
        vector: region::find(segment, 0..ops.len(), Kind::Vector),
        memory: linear::find(segment),
    };
    let runs: Box<[Run]> = regions
        .regions()
        .map(|region| Run {
            first: ops[region.start].run,
            length: region.end - region.start - usize::from(forms[region.end - 1] == Form::Store),
            masks: region.masks.clone(),
            patience: AtomicI32::new(PATIENCE),
        })
        .collect();
    if runs.is_empty() {
        return None;
    }
    let pages = match CodePages::reserve(regions.bound()) {
        Ok(pages) => pages,
        Err(error) => {
            tracing::warn!("no executable memory for native code: {error}");
            return None;
        }
    };
    let (pages, entries) = emit::emit(segment, &regions, &runs, pages)?;
    // A run with loads and stores takes the place of one that begins with it: it comes later.
    let handlers = regions
        .regions()
        .zip(entries)
        .filter_map(|(region, entry)| {
            // SAFETY: the code at `entry` follows the protocol of handlers.
            let handler = unsafe { std::mem::transmute::<*const u8, Handler>(entry?) };
            Some((region.start, handler))
        });
    let handlers = handlers.collect();
    let native = NativeCode {
        _pages: pages,
        runs,
        memory_runs: regions.memory.len(),
    };
    Some((native, handlers))
}
