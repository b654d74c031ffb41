//! Device queues: kernels enqueue kernels (OpenCL 2.0, section 5.15 "Device queues" and OpenCL C's "Enqueuing kernels").
//!
//! Device code is the device libraries': `enqueue_kernel` and its like take a slot of a queue in memory, write arguments, a packet and
//! what to wait for, and count the child at its parent ([`layout`] has the memory). A kernel of the host that may do so is
//! launched with [`HostQueue::enqueue_parent`]; it finds the default queue and what stands for itself in its hidden arguments
//! `hidden_default_queue` and `hidden_completion_action`.
//!
//! What AMD's runtime has a kernel do, the host does: whenever a parent or a child has ended, [`schedule`] looks at the slots and enqueues
//! what may start to a host queue of its own, which is out of order. So children start after the kernel that enqueues them has
//! ended, whatever their flags say. The event of a parent ends when all its children, and theirs, have ended.
//!
//! All queues of a [`DeviceQueues`] share their events, for device code frees events through the default queue. Where there is no
//! default queue, kernels find one that has room for events only: `enqueue_kernel` gives `CLK_ENQUEUE_FAILURE`.
//!
//! Errors: a kernel that cannot be launched as its packet says, and a fault of a child, fail the parent's event.

mod layout;
mod schedule;

use std::sync::{
    Arc, Weak,
    atomic::{AtomicUsize, Ordering},
};

use parking_lot::Mutex;

use super::{HostQueue, Launch, NdRange, QueueOptions, host_queue::kernel_command};
use crate::{
    Device, Error, Event, Result, Status,
    command::{ArgumentBlock, Operation},
    trace::format::CommandKind,
};

pub(crate) use layout::RuntimeHandle;
use layout::{Events, MASK_BITS, Slots, Wrap};
use schedule::{Ended, Scheduler, Start};

/// Where a kernel enqueues kernels to: what its hidden arguments say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EnqueuesTo {
    /// Address of the default queue.
    pub(crate) queue: u64,
    /// Address of what stands for the kernel: `AmdAqlWrap`.
    pub(crate) wrap: u64,
}

/// The device queues of a context on one device, with what they share: see the module text of `clr/src/queue/device_queue/mod.rs`.
#[derive(Debug)]
pub struct DeviceQueues {
    this: Weak<Self>,
    device: Arc<Device>,
    events: Arc<Events>,
    /// Where the children run.
    children: Arc<HostQueue>,
    scheduler: Mutex<Scheduler>,
    ended: Mutex<Vec<Ended>>,
    /// Calls of [`kick`](Self::kick) that no pass has followed yet. Who makes it 1 does the passes.
    kicks: AtomicUsize,
}

/// A queue that device code enqueues to. Its memory lives until no kernel that may use it runs.
#[derive(Debug)]
pub struct DeviceQueue {
    all: Arc<DeviceQueues>,
    slots: Arc<Slots>,
}

/// A kernel that may enqueue kernels, enqueued.
#[derive(Clone, Debug)]
pub struct Parent {
    /// Ends with the kernel itself.
    pub kernel: Event,
    /// Ends when all children have ended, too.
    pub family: Event,
}

impl DeviceQueues {
    /// Events that device code can have at a time.
    pub const EVENTS: u32 = layout::EVENTS;

    /// Makes what device queues share; there are no queues yet.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn new(device: &Arc<Device>) -> Result<Arc<Self>> {
        let events = Arc::new(Events::new(device)?);
        let children = HostQueue::new(
            device,
            QueueOptions {
                out_of_order: true,
                non_blocking: true,
                profiling: true,
                ..QueueOptions::default()
            },
        )?;
        children.set_name("device queue");
        let scheduler = Mutex::new(Scheduler::new(device, &events));
        Ok(Arc::new_cyclic(|this| Self {
            this: this.clone(),
            device: device.clone(),
            events,
            children,
            scheduler,
            ended: Mutex::default(),
            kicks: AtomicUsize::new(0),
        }))
    }

    /// The queue of the host's side that the children run in.
    pub fn children(&self) -> &Arc<HostQueue> {
        &self.children
    }

    /// Their device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Makes a queue with room for so many bytes of commands, each of [`DeviceQueue::COMMAND`] bytes, rounded up to 32 commands. A command
    /// takes its place until it and its children have ended.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for 0 or more than [`DeviceQueue::LARGEST`] bytes; [`Error::OutOfMemory`].
    pub fn queue(self: &Arc<Self>, bytes: u32) -> Result<DeviceQueue> {
        if !(1..=DeviceQueue::LARGEST).contains(&bytes) {
            return Err(Error::InvalidValue(format!(
                "a device queue of {bytes} bytes: 1 to {}",
                DeviceQueue::LARGEST
            )));
        }
        let count = bytes.div_ceil(DeviceQueue::COMMAND);
        let count = count.next_multiple_of(MASK_BITS);
        let slots = Arc::new(Slots::new(&self.device, count, &self.events)?);
        self.scheduler.lock().add_queue(&slots);
        Ok(DeviceQueue {
            all: self.clone(),
            slots,
        })
    }

    fn kernel_ended(&self, wrap: u64, event: &Event, status: Status) {
        let times = event.profiling();
        self.ended.lock().push(Ended {
            wrap,
            status,
            times: [times.start, times.end],
        });
        self.kick();
    }

    /// Has the scheduler look again: now, or, if another thread is at it, when that has looked.
    fn kick(&self) {
        // Acquire and release: the pass sees what was before the kick, and each pass what was before the last.
        if self.kicks.fetch_add(1, Ordering::AcqRel) != 0 {
            return;
        }
        let mut seen = 1;
        loop {
            self.pass();
            seen = self.kicks.fetch_sub(seen, Ordering::AcqRel) - seen;
            if seen == 0 {
                return;
            }
        }
    }

    fn pass(&self) {
        let ended = std::mem::take(&mut *self.ended.lock());
        let work = self.scheduler.lock().pass(ended);
        for start in &work.starts {
            self.start(start);
        }
        for (event, status) in work.finished {
            event.set_user_status(status);
        }
    }

    fn start(&self, start: &Start) {
        let wrap = start.wrap;
        let enqueued = if start.is_empty() {
            self.children.enqueue_marker(&[])
        } else {
            // SAFETY: the arguments are packed; what the kernel does with memory is the program's.
            let command = start
                .launch()
                .and_then(|launch| unsafe { kernel_command(&self.device, &launch, Vec::new()) });
            command.and_then(|(mut command, _)| {
                command.offset = Some(Box::new(start.offset));
                command.dimensions = start.dimensions();
                command.enqueues_to = EnqueuesTo {
                    queue: start.default_queue,
                    wrap,
                };
                // All of them: device code has filled in the hidden ones, and a block's kernel may use what its metadata do not name.
                command.arguments = ArgumentBlock::new(start.arguments.clone()).0;
                self.children.enqueue_command(command, &[])
            })
        };
        match (enqueued, self.this.upgrade()) {
            (Ok(event), Some(this)) => {
                let times = event.clone();
                event.on_complete(move |status| this.kernel_ended(wrap, &times, status));
            }
            (Ok(_), None) => {}
            (Err(error), _) => {
                tracing::error!("device queue: {error}");
                let status = match error {
                    Error::Fault(_) => Status::DEVICE_FAULT,
                    Error::OutOfMemory { .. } => Status::OUT_OF_RESOURCES,
                    _ => Status::INVALID_OPERATION,
                };
                self.ended.lock().push(Ended {
                    wrap,
                    status,
                    times: [0; 2],
                });
                self.kick();
            }
        }
    }
}

impl DeviceQueue {
    /// Bytes of a command (`AmdAqlWrap`).
    pub const COMMAND: u32 = size_of::<Wrap>() as u32;
    /// The largest queue in bytes.
    pub const LARGEST: u32 = 1 << 20;

    /// What device code knows it by: a `queue_t`.
    pub fn address(&self) -> u64 {
        self.slots.address()
    }

    /// Its commands' bytes.
    pub fn size(&self) -> u32 {
        self.slots.count() * Self::COMMAND
    }
}

impl Drop for DeviceQueue {
    fn drop(&mut self) {
        self.slots.release();
        // Frees the memory, unless a kernel runs that may use it: then its end does.
        self.all.kick();
    }
}

impl HostQueue {
    /// Enqueues a kernel that may enqueue kernels, by default to `default`. The second event ends when the kernel and all that it has led
    /// to have ended, and fails if one of them does; later commands of a queue in order wait for it.
    ///
    /// # Errors
    /// As [`enqueue_kernel`](Self::enqueue_kernel); [`Error::InvalidValue`] if the device queues belong to another device.
    ///
    /// # Safety
    /// As [`enqueue_kernel`](Self::enqueue_kernel), for the children, too.
    pub unsafe fn enqueue_parent(
        &self,
        launch: &Launch<'_>,
        range: NdRange,
        queues: &Arc<DeviceQueues>,
        default: Option<&DeviceQueue>,
        wait_list: &[Event],
    ) -> Result<Parent> {
        if !Arc::ptr_eq(queues.device(), self.device())
            || default.is_some_and(|default| !Arc::ptr_eq(&default.all, queues))
        {
            return Err(Error::InvalidValue(
                "the device queue belongs to another device or context".into(),
            ));
        }
        let queue = default.map_or(queues.events.address(), DeviceQueue::address);
        let done = Event::user();
        let program = launch.kernel.program();
        let wrap = (queues.scheduler.lock()).add_root(program, queue, done.clone())?;
        let to = EnqueuesTo { queue, wrap };
        // SAFETY: the caller's.
        let enqueued = unsafe { self.enqueue_kernel_with(launch, range, to, None, wait_list) };
        let kernel = match enqueued {
            Ok(kernel) => kernel,
            Err(error) => {
                queues.scheduler.lock().remove_root(wrap);
                return Err(error);
            }
        };
        let (times, queues) = (kernel.clone(), queues.clone());
        kernel.on_complete(move |status| queues.kernel_ended(wrap, &times, status));
        let family = self.core.enqueue(
            CommandKind::DeviceEnqueue,
            Operation::Marker,
            &[kernel.clone(), done],
        )?;
        Ok(Parent { kernel, family })
    }
}
