//! The command-queue runtime: commands, host queues, virtual GPUs.
//!
//! The shape is that of AMD's CLR. A [`Runtime`] stands on the functions of an HSA library ([`HsaApi`](gneiss_hsa_api::HsaApi)) and owns
//! one [`Device`] for each GPU agent. Programs make a [`HostQueue`] for a device and enqueue *commands*: kernels, copies, fills, markers,
//! host functions, value operations. Every command is an [`Event`]: it has a status that only goes down, callbacks, and profiling times.
//!
//! The life of a command:
//!
//! 1. *queued*: it is at the end of its queue's FIFO. Whoever holds the queue's drain token takes it from the head: a thread of the
//!    worker pool, a thread that synchronises (waiters help), or the enqueuing thread itself (direct dispatch).
//! 2. *submitted*: its wait list is resolved and it has become packets of a hardware queue, a copy of the HSA library, or an operation
//!    that the drainer does itself once the queue's earlier work has ended (host-resolved: small fills, copies from pageable memory).
//!    Consecutive packets form a batch; the last packet of a batch carries the completion signal.
//! 3. *complete* (or a negative error): the batch's signal has been seen to be done and the batch has been walked, in order.
//!
//! Nobody holds a lock while waiting for the device, for another queue or for a callback. An idle queue has no thread and no hardware queue
//! of its own.
//!
//! The crate knows no HIP and no OpenCL; `gneiss-hip-abi` maps [`Error`], [`Status`] and [`DeviceFault`] to HIP's codes.

pub mod activity;
mod command;
pub mod config;
mod device;
mod error;
mod event;
mod futex;
mod hostcall;
mod hsa;
mod image;
mod kernel;
mod lockfree;
pub mod log;
mod memory;
mod program;
mod properties;
mod queue;
pub mod replay;
mod runtime;
mod signal;
mod simulated;
pub mod trace;
mod virtual_gpu;
mod watch;
mod worker;

// The tests over the software GPU share code with those that use this crate from outside.
#[cfg(test)]
extern crate self as gneiss_clr;

#[cfg(test)]
mod mock;
#[cfg(test)]
mod tests;

pub use config::Config;
pub use device::Device;
pub use error::{DeviceFault, Error, FaultKind, LaunchLimit, Result};
pub use event::{Event, ProfilingTimes, Status};
pub use hostcall::PRINTF_BUFFER_SIZE;
pub use image::{
    AddressingMode, ChannelOrder, ChannelType, IMAGE_DWORDS, ImageAccess, ImageDescription,
    ImageGeometry, ImageLevel, ImageLevels, ImageView, SAMPLER_DWORDS, SamplerDescription,
    SamplerLevels, SamplerView,
};
pub use kernel::Kernel;
pub use memory::{HostFlags, Memory, MemoryKind};
pub use program::{GlobalVariable, Program};
pub use properties::{DeviceProperties, ImageLimits};
pub use queue::{
    Arguments, CopyRect, DeviceQueue, DeviceQueues, FillRect, HostFunction, HostQueue, Launch,
    MapAccess, Mapping, MigrateTarget, MultiGrid, NdRange, Parent, PreparedKernels, Priority,
    QueueOptions, ReadyFunction, Rect, ValueCondition, ValueWidth,
};
pub use runtime::Runtime;
pub use watch::HangAction;
