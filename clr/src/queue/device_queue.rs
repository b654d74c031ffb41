//! Device queues: kernels enqueue kernels.
//!
//! A device queue is a piece of memory that device code writes requests to. A kernel that may do so is launched with
//! [`HostQueue::enqueue_parent`]; it finds the queue's address in its hidden argument `hidden_default_queue`, or where the program passes it.
//! When the kernel has ended, its requests become commands of the device queue's own host queue (out of order, as OpenCL has it); the
//! children may enqueue more. The event of the parent ends when all of them have.
//!
//! The memory, all little-endian:
//!
//! | at | type | what |
//! | --- | --- | --- |
//! | 0 | u32 | requests begun: device code takes a slot by an atomic addition of 1; the slot is its own if it is below the capacity |
//! | 4 | u32 | capacity |
//! | 8 | u64 × 7 | reserved |
//! | 64 + 256 × slot | request | |
//!
//! A request: u32 1 when it is complete (stored last, with release order at system scope), u32 bytes of arguments, u64 kernel object (address
//! of the kernel's descriptor), 3 × u32 grid, 3 × u32 work-group, u32 dynamic LDS, u32 reserved, 192 bytes of arguments laid out as the kernel's
//! metadata say.
//!
//! What the request says is checked as for launches by the host; a bad one fails the parent's event.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering, fence},
    },
};

use parking_lot::Mutex;

use super::{Arguments, HostQueue, Launch, QueueOptions};
use crate::{
    Device, Error, Event, HostFlags, Kernel, Memory, Result, Status, command::Operation,
    trace::format::CommandKind,
};

/// Bytes before the first request.
const HEADER: usize = 64;
/// Bytes of a request.
const REQUEST: usize = 256;
/// Bytes of its arguments.
const ARGUMENTS: usize = 192;
/// Generations of children of one parent: more are taken for an endless recursion.
const DEPTH: usize = 4096;

/// A queue that device code enqueues to. See the module text of `clr/src/queue/device_queue.rs` for its memory.
#[derive(Debug)]
pub struct DeviceQueue {
    memory: Arc<Memory>,
    capacity: u32,
    queue: Arc<HostQueue>,
    kernels: Mutex<HashMap<u64, Arc<Kernel>>>,
    /// Children that have not been seen to have ended. A parent waits for all of them: which are its own is not in the memory.
    outstanding: Mutex<Vec<Event>>,
}

impl DeviceQueue {
    /// Makes a device queue with room for that many requests of one generation.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for 0 or more than 65536; [`Error::OutOfMemory`].
    pub fn new(device: &Arc<Device>, capacity: u32) -> Result<Arc<Self>> {
        if !(1..=65_536).contains(&capacity) {
            return Err(Error::InvalidValue(format!(
                "a device queue for {capacity} requests: 1 to 65536"
            )));
        }
        let runtime = device
            .runtime()
            .ok_or(Error::Gone("the runtime has ended"))?;
        let memory = runtime.allocate_host(
            device,
            HEADER + REQUEST * capacity as usize,
            HostFlags::COHERENT,
        )?;
        let queue = HostQueue::new(
            device,
            QueueOptions {
                out_of_order: true,
                non_blocking: true,
                ..QueueOptions::default()
            },
        )?;
        queue.set_name("device queue");
        let this = Arc::new(Self {
            memory,
            capacity,
            queue,
            kernels: Mutex::new(HashMap::new()),
            outstanding: Mutex::new(Vec::new()),
        });
        // SAFETY: the allocation is that large, and nobody else knows it.
        unsafe {
            std::ptr::write_bytes(this.base(), 0, this.memory.size());
            this.base().add(4).cast::<u32>().write(capacity);
        }
        Ok(this)
    }

    fn base(&self) -> *mut u8 {
        self.memory.host_address().unwrap_or_default() as *mut u8
    }

    /// The address that device code writes to.
    pub fn address(&self) -> u64 {
        self.memory.device_address()
    }

    /// Its device.
    pub fn device(&self) -> &Arc<Device> {
        self.queue.device()
    }

    /// Lets device code enqueue a kernel, by its object.
    pub fn allow(&self, kernel: &Arc<Kernel>) {
        self.kernels.lock().insert(kernel.object(), kernel.clone());
    }

    /// Enqueues the requests in the memory, and empties it; gives all children that have not ended.
    fn take_requests(&self) -> Result<Vec<Event>> {
        let mut outstanding = self.outstanding.lock();
        outstanding.retain(|event| !event.status().is_terminal());
        fence(Ordering::SeqCst);
        // SAFETY: in the allocation, aligned; device code changes it by atomics.
        let begun = unsafe { AtomicU32::from_ptr(self.base().cast()) };
        let count = begun.load(Ordering::Acquire).min(self.capacity);
        let mut result = Ok(());
        for slot in 0..count {
            let place = HEADER + REQUEST * slot as usize;
            // SAFETY: below the capacity.
            let request = unsafe { self.base().add(place) };
            // SAFETY: in the allocation, aligned.
            let complete = unsafe { AtomicU32::from_ptr(request.cast()) };
            // Acquire: pairs with the device's release.
            if complete.swap(0, Ordering::AcqRel) == 0 {
                result = Err(Error::InvalidValue(format!(
                    "request {slot} of a device queue is not complete though the kernel has ended"
                )));
                continue;
            }
            // SAFETY: the request's bytes are in the allocation, and its writer has ended.
            let bytes = unsafe { std::slice::from_raw_parts(request, REQUEST) };
            match self.launch(bytes) {
                Ok(event) => outstanding.push(event),
                Err(error) => result = Err(error),
            }
        }
        begun.store(0, Ordering::Release);
        result.map(|()| outstanding.clone())
    }

    fn launch(&self, bytes: &[u8]) -> Result<Event> {
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]));
        let object = u64::from(word(8)) | u64::from(word(12)) << 32;
        let kernel = self.kernels.lock().get(&object).cloned().ok_or_else(|| {
            Error::InvalidValue(format!(
                "device code enqueues a kernel at {object:#x}, which is not allowed or no kernel"
            ))
        })?;
        let size = word(4) as usize;
        if size > ARGUMENTS {
            return Err(Error::InvalidValue(format!(
                "a request with {size} bytes of arguments: at most {ARGUMENTS}"
            )));
        }
        let launch = Launch {
            kernel: &kernel,
            grid: [word(16), word(20), word(24)],
            block: [word(28), word(32), word(36)],
            dynamic_shared: word(40),
            arguments: Arguments::Packed(&bytes[48..48 + size]),
            cooperative: false,
            any_order: false,
        };
        // SAFETY: what the kernel does with memory is the program's.
        unsafe {
            self.queue
                .enqueue_kernel_with(&launch, [0; 3], self.address(), None, &[])
        }
    }

    /// Runs all that a parent, and then its children, have asked for.
    fn serve(&self) -> Result<()> {
        for _ in 0..DEPTH {
            let events = self.take_requests()?;
            if events.is_empty() {
                return Ok(());
            }
            for event in events {
                event.wait()?;
            }
        }
        Err(Error::InvalidValue(format!(
            "kernels that enqueue kernels did not end after {DEPTH} generations"
        )))
    }
}

impl Drop for DeviceQueue {
    fn drop(&mut self) {
        if let Some(runtime) = self.device().runtime()
            && let Err(error) = runtime.free(self.memory.device_address() as usize)
        {
            tracing::error!("{error}");
        }
    }
}

impl HostQueue {
    /// Enqueues a kernel that may enqueue kernels to `device_queue`. The event ends when the kernel and all that it has led to have ended; it
    /// fails if one of them does.
    ///
    /// # Errors
    /// As [`enqueue_kernel`](Self::enqueue_kernel); [`Error::InvalidValue`] if the device queue belongs to another device.
    ///
    /// # Safety
    /// As [`enqueue_kernel`](Self::enqueue_kernel), for the children, too.
    pub unsafe fn enqueue_parent(
        &self,
        launch: &Launch<'_>,
        device_queue: &Arc<DeviceQueue>,
        wait_list: &[Event],
    ) -> Result<Event> {
        if !Arc::ptr_eq(device_queue.device(), self.device()) {
            return Err(Error::InvalidValue(
                "the device queue belongs to another device".into(),
            ));
        }
        // SAFETY: the caller's.
        let parent = unsafe {
            self.enqueue_kernel_with(launch, [0; 3], device_queue.address(), None, wait_list)
        }?;
        let done = Event::user();
        let end = done.clone();
        let device_queue = device_queue.clone();
        self.core.enqueue(
            CommandKind::DeviceEnqueue,
            Operation::Host {
                function: Some(Box::new(move |status| {
                    let result = if status.is_error() {
                        Err(Error::CommandFailed(status))
                    } else {
                        device_queue.serve()
                    };
                    end.set_user_status(match result {
                        Ok(()) => Status::COMPLETE,
                        Err(Error::CommandFailed(status)) => status,
                        Err(Error::Fault(_)) => Status::DEVICE_FAULT,
                        Err(error) => {
                            tracing::error!("device queue: {error}");
                            Status::INVALID_OPERATION
                        }
                    });
                })),
                run_on_error: true,
            },
            std::slice::from_ref(&parent),
        )?;
        // The children's end is what the user waits for; a failure of theirs fails this command, too.
        self.core
            .enqueue(CommandKind::Marker, Operation::Marker, &[done])
    }
}
