//! Asynchronous copies: engine tasks that wait for their dependencies, copy in slices, and complete a signal.
//!
//! A copy runs on whichever thread of the pool is free, or on the thread that waits for it, beside the queues: it never waits
//! for a queue to have room. Copies with no order between them may run in any order, as on several SDMA engines.

use std::{
    ffi::c_void,
    sync::{Arc, atomic::Ordering, atomic::fence},
};

use gneiss_amdgcn::engine::{Engine, Poll, Task, TaskState};
use gneiss_hsa_api::*;
use parking_lot::Mutex;

use crate::{
    entry::{HsaResult, require},
    runtime::Runtime,
    signal::{self, Held},
    sys,
    watch::{self, Watch, Watcher},
};

/// Bytes that one poll copies before other work has its turn.
const SLICE: usize = 4 << 20;

/// Rows of a copy: `rows × slices` pieces of `row` bytes. A plain copy is one row.
#[derive(Clone, Copy)]
struct Shape {
    destination: *mut u8,
    source: *const u8,
    row: usize,
    rows: usize,
    slices: usize,
    destination_pitch: [usize; 2],
    source_pitch: [usize; 2],
}

// SAFETY: the addresses are the user's, who says that they stay valid until the copy is complete.
unsafe impl Send for Shape {}

struct Progress {
    shape: Shape,
    /// Rows that are done, and bytes of the row after them.
    row: usize,
    offset: usize,
    start: u64,
    waiting: Vec<Held>,
    watches: Vec<Watch>,
    poller: Option<watch::Poller>,
    completion: Option<Held>,
}

/// One copy.
struct Copy {
    state: TaskState,
    profile: bool,
    progress: Mutex<Progress>,
}

impl Task for Copy {
    fn state(&self) -> &TaskState {
        &self.state
    }

    fn poll(self: Arc<Self>, _: &Arc<Engine>) -> Poll {
        let mut progress = self.progress.lock();
        let progress = &mut *progress;
        if progress.completion.is_none() || !self.ready(progress) {
            return Poll::Idle;
        }
        if progress.start == 0 {
            progress.start = sys::now();
            // What the dependencies' owners wrote comes before what is read here.
            fence(Ordering::SeqCst);
        }
        let shape = progress.shape;
        let mut budget = SLICE;
        while progress.row < shape.rows * shape.slices {
            let (slice, row) = (progress.row / shape.rows, progress.row % shape.rows);
            let length = (shape.row - progress.offset).min(budget);
            let at = |pitch: [usize; 2]| slice * pitch[1] + row * pitch[0] + progress.offset;
            // SAFETY: the ranges were checked against their allocations when the copy was asked for; `copy` allows overlap.
            unsafe {
                std::ptr::copy(
                    shape.source.add(at(shape.source_pitch)),
                    shape.destination.add(at(shape.destination_pitch)),
                    length,
                );
            }
            progress.offset += length;
            budget -= length;
            if progress.offset == shape.row {
                progress.row += 1;
                progress.offset = 0;
            }
            if budget == 0 && progress.row < shape.rows * shape.slices {
                return Poll::Again;
            }
        }
        fence(Ordering::SeqCst);
        if let Some(signal) = progress.completion.take() {
            if self.profile {
                signal.start_ts.store(progress.start, Ordering::Relaxed);
                signal
                    .end_ts
                    .store(sys::now().max(progress.start + 1), Ordering::Relaxed);
            }
            signal.complete();
        }
        Poll::Idle
    }
}

impl Copy {
    /// Whether all dependencies are met; if not, this task is told when one changes.
    fn ready(self: &Arc<Self>, progress: &mut Progress) -> bool {
        progress.poller = None;
        progress.watches.drain(..).for_each(watch::remove);
        let met = |signal: &mut Held| signal.load(Ordering::SeqCst) != 0;
        progress.waiting.retain_mut(met);
        if progress.waiting.is_empty() {
            return true;
        }
        for signal in &progress.waiting {
            let task: Arc<dyn Task> = self.clone();
            progress
                .watches
                .extend(watch::add(signal.handle(), Watcher::Task(task)));
        }
        if progress.waiting.iter().any(|signal| signal.polled()) {
            let task: Arc<dyn Task> = self.clone();
            progress.poller = Some(watch::poll(task));
        }
        // Waiter's half of the protocol in `signal`: watch, then look.
        progress.waiting.retain_mut(met);
        if progress.waiting.is_empty() {
            progress.poller = None;
            progress.watches.drain(..).for_each(watch::remove);
            return true;
        }
        false
    }
}

/// The signals that a copy waits for and the one that it completes, checked.
pub(crate) struct Signals {
    dependencies: Vec<Held>,
    completion: Held,
}

impl Signals {
    /// Checks them.
    ///
    /// # Safety
    /// `dependencies` is valid for `count` handles.
    pub(crate) unsafe fn check(
        count: u32,
        dependencies: *const hsa_signal_t,
        completion: hsa_signal_t,
    ) -> HsaResult<Self> {
        require((count == 0) == dependencies.is_null())?;
        let mut held = Vec::with_capacity(count as usize);
        for at in 0..count as usize {
            // SAFETY: `at < count`.
            let signal = unsafe { dependencies.add(at).read_unaligned() };
            held.push(signal::user(signal)?.hold());
        }
        Ok(Self {
            dependencies: held,
            completion: signal::user(completion)?.hold(),
        })
    }
}

/// Starts a copy. `shape` was checked.
fn start(runtime: &Runtime, shape: Shape, signals: Signals) {
    let task: Arc<dyn Task> = Arc::new(Copy {
        state: TaskState::default(),
        profile: runtime.profile_copies.load(Ordering::Relaxed),
        progress: Mutex::new(Progress {
            shape,
            row: 0,
            offset: 0,
            start: 0,
            waiting: signals.dependencies,
            watches: Vec::new(),
            poller: None,
            completion: Some(signals.completion),
        }),
    });
    Engine::global().wake(&task);
}

/// Completes the signal once the dependencies are met.
pub(crate) fn nothing(runtime: &Runtime, signals: Signals) {
    let shape = Shape {
        destination: std::ptr::null_mut(),
        source: std::ptr::null(),
        row: 0,
        rows: 0,
        slices: 0,
        destination_pitch: [0; 2],
        source_pitch: [0; 2],
    };
    start(runtime, shape, signals);
}

/// `hsa_amd_memory_async_copy` of `size` bytes (not 0).
pub(crate) fn linear(
    runtime: &Runtime,
    destination: *mut c_void,
    source: *const c_void,
    size: usize,
    signals: Signals,
) -> HsaResult {
    let shape = Shape {
        destination: runtime.memory.host_address(destination as u64, size)?,
        source: runtime.memory.host_address(source as u64, size)?,
        row: size,
        rows: 1,
        slices: 1,
        destination_pitch: [0; 2],
        source_pitch: [0; 2],
    };
    start(runtime, shape, signals);
    Ok(())
}

/// One side of a rectangle copy: where its first byte is, how many bytes it spans, and its pitches.
fn side(
    runtime: &Runtime,
    pointer: &hsa_pitched_ptr_t,
    offset: &hsa_dim3_t,
    range: &hsa_dim3_t,
) -> HsaResult<(*mut u8, [usize; 2])> {
    let first = (offset.z as usize)
        .checked_mul(pointer.slice)
        .and_then(|at| at.checked_add((offset.y as usize).checked_mul(pointer.pitch)?))
        .and_then(|at| at.checked_add(offset.x as usize))
        .ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
    let span = (range.z as usize - 1)
        .checked_mul(pointer.slice)
        .and_then(|at| at.checked_add((range.y as usize - 1).checked_mul(pointer.pitch)?))
        .and_then(|at| at.checked_add(range.x as usize))
        .ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
    let address = (pointer.base as u64)
        .checked_add(first as u64)
        .ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
    Ok((
        runtime.memory.host_address(address, span)?,
        [pointer.pitch, pointer.slice],
    ))
}

/// A rectangle: pitched memory and the offset in it.
pub(crate) type Side<'a> = (&'a hsa_pitched_ptr_t, &'a hsa_dim3_t);

/// `hsa_amd_memory_async_copy_rect` of a range in bytes, rows and slices (none 0).
pub(crate) fn rectangle(
    runtime: &Runtime,
    destination: Side<'_>,
    source: Side<'_>,
    range: &hsa_dim3_t,
    signals: Signals,
) -> HsaResult {
    let (destination, destination_pitch) = side(runtime, destination.0, destination.1, range)?;
    let (source, source_pitch) = side(runtime, source.0, source.1, range)?;
    let shape = Shape {
        destination,
        source: source.cast_const(),
        row: range.x as usize,
        rows: range.y as usize,
        slices: range.z as usize,
        destination_pitch,
        source_pitch,
    };
    start(runtime, shape, signals);
    Ok(())
}
