//! Replay: the runtime's own queues over a simulated device, in virtual time.
//!
//! A [`Workload`] says what the threads of a program do: enqueue, wait, compute. It comes from a trace or from a [`scenario`]. [`run`] plays
//! it through the same host queues, batches, wait lists and packets as a program's, over an HSA library (`device`) whose kernels and
//! copies take the stated times. There is one thread and no clock but the virtual one, so the same input gives the same schedule every time.
//!
//! [`Policy`] changes the rules: dispatch mode, who waits, batches and flushes, hardware queues, copy engines, GPUs, what a launch costs.

mod coverage;
mod device;
mod driver;
mod recording;
pub mod scenario;
mod workload;

pub(crate) use device::now;
pub use driver::{Outcome, Span, run};
pub use recording::{Recorded, load};
pub use workload::{
    Action, ActionIter, Actions, CommandShape, Dependency, Doer, Workload, WorkloadCommand,
    WorkloadQueue, WorkloadThread,
};

/// What ends batches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlushRule {
    /// What follows, and [`Policy::batch`].
    #[default]
    Batch,
    /// Every kernel is a batch of its own.
    Each,
    /// As `Batch`, and at a marker the worker waits until all before it has ended, as CLR's worker did.
    Wait,
}

impl FlushRule {
    /// The rule of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "batch" => Some(Self::Batch),
            "each" => Some(Self::Each),
            "wait" => Some(Self::Wait),
            _ => None,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Batch => "batch",
            Self::Each => "each",
            Self::Wait => "wait",
        }
    }
}

/// Most shared hardware queues of a priority in a replay.
pub const MOST_HW_QUEUES: usize = 1024;
/// Most copy engines of a device in a replay.
pub const MOST_COPY_ENGINES: usize = 1024;
/// Most GPUs in a replay.
pub const MOST_GPUS: usize = 64;
/// Most of what else a policy counts: commands in a batch, kernels at once.
pub const MOST_OTHERS: usize = 1 << 20;

/// The rules of a replay. Its numbers are at least 1 and at most what the constants of this module say; [`run`] takes the nearest.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Shared hardware queues of each priority.
    pub hw_queues: usize,
    /// The enqueuing thread submits.
    pub direct_dispatch: bool,
    /// The host waits for work of other queues.
    pub cpu_wait: bool,
    /// Commands in a batch.
    pub batch: usize,
    /// What ends a batch.
    pub flush: FlushRule,
    /// Copy engines of each device.
    pub copy_engines: usize,
    /// GPUs; streams of the workload's device 0 are spread over them in turn. `None`: as the workload says.
    pub gpus: Option<usize>,
    /// What an enqueuing call costs its thread, in nanoseconds. `None`: as the workload says.
    pub launch_cost: Option<u64>,
    /// Kernels of different hardware queues that a device runs at once. `None`: any number.
    pub concurrent_kernels: Option<usize>,
    /// Nanoseconds until a worker looks at a queue that it was told of.
    pub worker_latency: u64,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            hw_queues: 4,
            direct_dispatch: false,
            cpu_wait: false,
            batch: 1000,
            flush: FlushRule::Batch,
            copy_engines: 2,
            gpus: None,
            launch_cost: None,
            concurrent_kernels: None,
            worker_latency: 0,
        }
    }
}

#[cfg(test)]
mod tests;
