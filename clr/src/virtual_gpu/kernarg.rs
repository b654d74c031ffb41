//! Memory for kernel arguments: chunks from a pool that all queues of a device share, filled from the front.
//!
//! A queue fills its chunk; when the next arguments do not fit, the chunk is put aside until the last command that uses it has ended, and
//! the queue takes another one. A queue that has become idle starts its chunk again from the front. The pool is bounded; a queue that has a
//! chunk in flight waits for itself when the pool is empty, a queue without one always gets one, so that everybody makes progress.

use std::{collections::VecDeque, ffi::c_void, sync::Arc};

use parking_lot::Mutex;

use crate::{Device, Result, hsa::Hsa};

/// Bytes of a chunk.
const CHUNK: usize = 64 * 1024;
/// Chunks that a device makes before queues have to wait for themselves (16 MiB).
const LIMIT: usize = 256;

/// A piece of kernarg memory.
#[derive(Debug)]
pub(crate) struct Chunk {
    hsa: &'static Hsa,
    address: *mut u8,
    size: usize,
}

// SAFETY: the memory belongs to the chunk; only its holder writes to it.
unsafe impl Send for Chunk {}

impl Drop for Chunk {
    fn drop(&mut self) {
        // SAFETY: from the pool, and the commands that used it have ended.
        if let Err(error) = unsafe { self.hsa.pool_free(self.address.cast::<c_void>()) } {
            tracing::error!("{error}");
        }
    }
}

#[derive(Debug, Default)]
struct Free {
    chunks: Vec<Chunk>,
    made: usize,
}

/// The chunks of a device.
#[derive(Debug, Default)]
pub(crate) struct KernargPool {
    free: Mutex<Free>,
}

impl KernargPool {
    fn take(&self, device: &Device, must: bool) -> Result<Option<Chunk>> {
        let mut free = self.free.lock();
        if let Some(chunk) = free.chunks.pop() {
            return Ok(Some(chunk));
        }
        if free.made >= LIMIT && !must {
            return Ok(None);
        }
        let chunk = allocate(device, CHUNK)?;
        free.made += 1;
        Ok(Some(chunk))
    }

    fn give(&self, chunk: Chunk) {
        if chunk.size != CHUNK {
            return;
        }
        let mut free = self.free.lock();
        if free.made > LIMIT {
            free.made -= 1;
            drop(free);
            drop(chunk);
        } else {
            free.chunks.push(chunk);
        }
    }
}

fn allocate(device: &Device, size: usize) -> Result<Chunk> {
    let hsa = device.hsa();
    let shared = device.shared();
    let address = hsa.pool_allocate(shared.host.kernarg_pool, size, "kernarg")?;
    let chunk = Chunk {
        hsa,
        address: address.cast(),
        size,
    };
    hsa.allow_access(&shared.gpu_agents, address)?;
    Ok(chunk)
}

/// A queue's kernarg memory.
#[derive(Debug, Default)]
pub(crate) struct Kernarg {
    current: Option<Chunk>,
    used: usize,
    /// Number of the last command that uses the current chunk.
    last: u64,
    /// Full chunks with the number of the last command that uses them.
    full: VecDeque<(u64, Chunk)>,
}

impl Kernarg {
    /// Room for `size` bytes; `None`: wait until earlier commands have ended. `command` is the number of the command that will use it,
    /// from 1 and going up; several allocations may be for one.
    pub(crate) fn allocate(
        &mut self,
        device: &Arc<Device>,
        size: usize,
        align: usize,
        command: u64,
    ) -> Result<Option<*mut u8>> {
        let align = align.clamp(64, 4096).next_power_of_two();
        if size > CHUNK {
            let chunk = allocate(device, size)?;
            let address = chunk.address;
            self.full.push_back((command, chunk));
            return Ok(Some(address));
        }
        let mut start = self.used.next_multiple_of(align);
        if self.current.is_none() || start + size > CHUNK {
            let none_in_flight = self.full.is_empty() && self.current.is_none();
            let Some(chunk) = device.kernargs().take(device, none_in_flight)? else {
                return Ok(None);
            };
            if let Some(full) = self.current.replace(chunk) {
                self.full.push_back((self.last, full));
            }
            start = 0;
        }
        self.used = start + size;
        self.last = command;
        let chunk = self.current.as_ref().map(|chunk| chunk.address);
        // SAFETY: `start + size` is at most the chunk's size.
        Ok(chunk.map(|address| unsafe { address.add(start) }))
    }

    /// Commands up to this number have ended.
    pub(crate) fn retire(&mut self, device: &Device, command: u64, all: bool) {
        while self.full.front().is_some_and(|(last, _)| *last <= command) {
            if let Some((_, chunk)) = self.full.pop_front() {
                device.kernargs().give(chunk);
            }
        }
        if all {
            self.used = 0;
        }
    }

    /// Gives everything back; all commands have ended.
    pub(crate) fn release(&mut self, device: &Device) {
        for (_, chunk) in self.full.drain(..) {
            device.kernargs().give(chunk);
        }
        if let Some(chunk) = self.current.take() {
            device.kernargs().give(chunk);
        }
        self.used = 0;
    }

    /// Leaves the memory to a device that has faulted and may still read it.
    pub(crate) fn abandon(&mut self) {
        for (_, chunk) in self.full.drain(..) {
            std::mem::forget(chunk);
        }
        if let Some(chunk) = self.current.take() {
            std::mem::forget(chunk);
        }
        self.used = 0;
    }
}
