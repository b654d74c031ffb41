//! Telling a profiler of each command: an observer is asked when a command is enqueued and told when it has ended.
//!
//! There is one [`Observer`] for the process, set once, which can be switched on and off ([`observe`]). While it is on, commands have times
//! of their own and kernels that are enqueued together are a command each. The observer hears of a command's end before any thread that
//! waits for it does, with nothing locked. While it is off an enqueue costs one load more.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, Ordering},
};

use crate::{
    Kernel, MemoryKind, Status,
    command::Operation,
    event::State,
    queue::{CopyRect, QueueCore},
};

static ON: AtomicBool = AtomicBool::new(false);
static OBSERVER: OnceLock<&'static dyn Observer> = OnceLock::new();

/// What a command is to a profiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// A kernel.
    Kernel,
    /// A copy or a fill.
    Copy,
    /// A marker.
    Marker,
}

/// Where bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From host memory to a device.
    HostToDevice,
    /// From a device to host memory.
    DeviceToHost,
    /// Between devices, within one, or within host memory.
    Other,
}

/// What a command does.
#[derive(Clone, Debug)]
pub enum Work {
    /// It runs a kernel.
    Kernel(Arc<Kernel>),
    /// It copies.
    Copy {
        /// From where to where.
        direction: Direction,
        /// 2D or 3D, with gaps.
        rect: bool,
        /// How many bytes.
        bytes: u64,
    },
    /// It fills that many bytes.
    Fill(u64),
    /// It does nothing but end after what is before it.
    Marker,
}

impl Work {
    /// Its group.
    pub fn group(&self) -> Group {
        match self {
            Self::Kernel(_) => Group::Kernel,
            Self::Copy { .. } | Self::Fill(_) => Group::Copy,
            Self::Marker => Group::Marker,
        }
    }
}

/// A command that has ended.
#[derive(Debug)]
pub struct Record<'a> {
    /// What [`Observer::begin`] gave.
    pub id: u64,
    /// What it did.
    pub work: &'a Work,
    /// Start, in nanoseconds of the HSA system clock.
    pub start: u64,
    /// End, in the same.
    pub end: u64,
    /// Index of its device.
    pub device: usize,
    /// Number of its queue.
    pub queue: u64,
}

/// Who is told.
pub trait Observer: Sync {
    /// A command is about to be enqueued by this thread. Gives a number for it, or none if its end is of no interest.
    fn begin(&self, group: Group) -> Option<u64>;

    /// A command for which `begin` gave a number has ended without an error. Called on any thread; other commands of the queue end only
    /// after it has returned.
    fn end(&self, record: &Record<'_>);
}

/// Sets the observer, which stays for the life of the process (later ones are ignored), and switches it on or off.
pub fn observe(observer: &'static dyn Observer, on: bool) {
    OBSERVER.get_or_init(|| observer);
    // Release: pairs with the load below, so that who sees it on finds the observer.
    ON.store(on, Ordering::Release);
}

/// Whether commands are observed.
#[inline]
pub(crate) fn on() -> bool {
    ON.load(Ordering::Acquire)
}

/// A command that the observer wants to hear of.
pub(crate) struct Observed {
    id: u64,
    work: Work,
}

impl Observed {
    /// Asks the observer about a command of that queue.
    #[cold]
    pub(crate) fn new(core: &QueueCore, operation: &Operation) -> Option<Self> {
        let work = match operation {
            Operation::Kernel(kernel) => Work::Kernel(kernel.kernel.clone()),
            Operation::Copy(copy) => Work::Copy {
                direction: direction(core, copy.dst, copy.src),
                rect: false,
                bytes: copy.size as u64,
            },
            Operation::CopyRect(CopyRect { dst, src, extent }) => Work::Copy {
                direction: direction(core, dst.address, src.address),
                rect: true,
                bytes: extent.iter().product::<usize>() as u64,
            },
            Operation::Fill { size, .. } => Work::Fill(*size as u64),
            Operation::FillRect { fill, .. } => {
                Work::Fill(fill.extent.iter().product::<usize>() as u64)
            }
            Operation::Marker => Work::Marker,
            _ => return None,
        };
        let id = OBSERVER.get()?.begin(work.group())?;
        Some(Self { id, work })
    }

    /// The callback that tells the observer of the end.
    pub(crate) fn callback(
        self,
        core: &QueueCore,
        state: &Arc<State>,
    ) -> Box<dyn FnOnce(Status) + Send> {
        let (state, device, queue) = (state.clone(), core.device().index(), core.id());
        Box::new(move |status| {
            let (start, end) = state.times();
            // Let go before anybody is told, so that the event can be used again.
            drop(state);
            if let Some(observer) = OBSERVER.get().filter(|_| !status.is_error()) {
                observer.end(&Record {
                    id: self.id,
                    work: &self.work,
                    start,
                    end,
                    device,
                    queue,
                });
            }
        })
    }
}

fn direction(core: &QueueCore, dst: u64, src: u64) -> Direction {
    let map = &core.device().shared().map;
    let is_host = |address: u64| {
        map.find(address as usize).is_none_or(|(memory, _)| {
            !matches!(
                memory.kind(),
                MemoryKind::Device | MemoryKind::Ipc | MemoryKind::Mapped
            )
        })
    };
    match (is_host(dst), is_host(src)) {
        (false, true) => Direction::HostToDevice,
        (true, false) => Direction::DeviceToHost,
        _ => Direction::Other,
    }
}
