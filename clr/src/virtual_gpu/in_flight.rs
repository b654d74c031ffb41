//! What is with the device: commands and their batches.

use std::sync::Arc;

use crate::{
    Error, Event, Kernel, Status, command::KernelCommand, event::State, signal::HwSignal,
    trace::format::CommandKind,
};

/// Where the times of a command come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Times {
    /// None are wanted.
    None,
    /// Start and end of the batch's signal.
    Signal,
    /// The end of the batch's signal: the command has no packet of its own.
    SignalEnd,
    /// Set already, or at the end from the host clock.
    Host,
}

/// A command that is with the device.
#[derive(Debug)]
pub(crate) struct InFlight {
    pub(crate) event: Arc<State>,
    /// Looked at again at the end: a dependency that the device waited for may have failed.
    pub(crate) wait_list: Vec<Event>,
    /// Keeps the kernel until the command has ended.
    kernel: Option<Arc<Kernel>>,
    /// As `kernel`, of a command of several.
    kernels: Option<Arc<[KernelCommand]>>,
    /// The status is known already.
    pub(crate) forced: Option<Status>,
    pub(crate) times: Times,
    pub(crate) kind: CommandKind,
    /// A completion signal of its own within its batch, for its times.
    pub(crate) signal: Option<Arc<HwSignal>>,
}

impl InFlight {
    pub(crate) fn new(
        event: Arc<State>,
        kind: CommandKind,
        wait_list: Vec<Event>,
        kernel: Option<Arc<Kernel>>,
        times: Times,
    ) -> Self {
        Self {
            event,
            wait_list,
            kernel,
            kernels: None,
            forced: None,
            times,
            kind,
            signal: None,
        }
    }

    /// It keeps these kernels.
    pub(crate) fn with_kernels(mut self, kernels: Arc<[KernelCommand]>) -> Self {
        self.kernels = Some(kernels);
        self
    }

    /// The kernel's name; of several, the first one's.
    pub(crate) fn kernel_name(&self) -> Option<&str> {
        let first = || Some(&self.kernels.as_ref()?.first()?.kernel);
        self.kernel
            .as_ref()
            .or_else(first)
            .map(|kernel| kernel.name())
    }
}

/// What completes a batch, and where to ask for its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    /// Packets of the queue's hardware queue.
    Compute,
    /// A copy by the library.
    Copy,
    /// A packet of another hardware queue (cooperative launch).
    Other,
}

/// A closed batch.
#[derive(Debug)]
pub(crate) struct Batch {
    /// Commands in it that have not ended.
    pub(crate) count: usize,
    /// None: nothing to wait for.
    pub(crate) signal: Option<Arc<HwSignal>>,
    pub(crate) engine: Engine,
    /// Signals that packets of the batch wait for: not used again before the device has seen those packets, which is sure only when the
    /// batch has ended.
    pub(super) _dependencies: Vec<Arc<HwSignal>>,
}

/// Why a submission could not be made now. Nothing has been submitted.
#[derive(Debug)]
pub(crate) enum Full {
    /// The ring or a pool is full: wait for the device.
    Later,
    /// It will never work.
    Failed(Error),
}

impl From<Error> for Full {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}
