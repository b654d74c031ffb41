//! Replay: the runtime's own queues over a simulated device, in virtual time.
//!
//! A [`Workload`] says what the threads of a program do: enqueue, wait, compute. It comes from a trace or from a [`scenario`]. [`run`] plays
//! it through the same host queues, batches, wait lists and packets as a program's, over an HSA library (`device`) whose kernels and
//! copies take the stated times. There is one thread and no clock but the virtual one, so the same input gives the same schedule every time.
//!
//! [`Policy`] changes the rules: dispatch mode, who waits, batch size, hardware queues, copy engines, GPUs, what a launch costs.

mod device;
mod driver;
mod from_trace;
pub mod scenario;

pub(crate) use device::now;
pub use driver::{Outcome, Span, run};
pub use from_trace::from_trace;

use crate::trace::format::CommandKind;

/// The rules of a replay.
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
            copy_engines: 2,
            gpus: None,
            launch_cost: None,
            concurrent_kernels: None,
            worker_latency: 0,
        }
    }
}

/// A stream of a workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkloadQueue {
    /// Name.
    pub name: String,
    /// Device.
    pub device: usize,
    /// 0 low, 1 normal, 2 high.
    pub priority: u8,
    /// It does not synchronise with the null stream.
    pub non_blocking: bool,
    /// Its commands wait only for their wait lists.
    pub out_of_order: bool,
}

/// What does a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doer {
    /// A hardware queue.
    Kernel,
    /// A copy engine.
    Copy,
    /// The host, when everything before has ended.
    Host,
    /// Nobody: a marker.
    Marker,
}

/// A command of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadCommand {
    /// Stream.
    pub queue: u32,
    /// What it is.
    pub kind: CommandKind,
    /// Who does it.
    pub doer: Doer,
    /// Number of its name in [`Workload::names`].
    pub name: u32,
    /// How long it takes, in nanoseconds.
    pub duration: u64,
    /// What it waits for, in [`Workload::dependencies`].
    pub waits: std::ops::Range<u32>,
}

/// Something that a command waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependency {
    /// A command, by its place.
    Command(u32),
    /// A user event, by its number.
    User(u32),
}

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It is busy for some nanoseconds.
    Compute(u64),
    /// It enqueues a command, which costs it some nanoseconds.
    Enqueue(u32, u64),
    /// It waits for a command.
    Wait(u32),
    /// It waits for a stream.
    WaitQueue(u32),
    /// It waits for all streams.
    WaitAll,
    /// It sets a user event.
    Set(u32),
}

/// A thread of a workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkloadThread {
    /// Name.
    pub name: String,
    /// What it does, one after the other, from time 0.
    pub actions: Vec<Action>,
}

/// What is to be replayed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workload {
    /// Devices.
    pub devices: usize,
    /// Streams.
    pub queues: Vec<WorkloadQueue>,
    /// Commands. Those of one stream are enqueued in the order of this list.
    pub commands: Vec<WorkloadCommand>,
    /// Wait lists, one behind the other.
    pub dependencies: Vec<Dependency>,
    /// Names.
    pub names: Vec<String>,
    /// User events.
    pub user_events: u32,
    /// Threads.
    pub threads: Vec<WorkloadThread>,
    /// What the input lacks, one line each.
    pub problems: Vec<String>,
}

#[cfg(test)]
mod tests;
