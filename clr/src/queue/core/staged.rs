//! Copies, fills and value operations where the host cannot access the device's memory: through pinned staging memory and the copy engines,
//! piece by piece.
//!
//! Such a command stays at the head of its queue. Each call of [`QueueCore::staged`] goes as far as it can without waiting, and gives the
//! signal of the piece that is under way. Linear copies of pageable memory larger than [`STAGING`] pin the range instead (in steps of
//! [`PINNED_STEP`]); where that fails they are staged like small ones.

use std::sync::Arc;

use gneiss_hsa_api::hsa_agent_t;
use parking_lot::{Mutex, MutexGuard};

use super::{
    QueueCore, QueueState,
    drain::{Step, note_block},
};
use crate::{
    Device, Error, MemoryKind, Result, Status,
    command::{Command, Operation},
    hsa::Hsa,
    queue::{Outcome, host},
    signal::HwSignal,
    trace::format::BlockReason,
    virtual_gpu::Full,
};

/// Bytes of a staging buffer; larger pageable ranges are pinned.
pub(crate) const STAGING: usize = 1 << 20;
/// Bytes that are pinned at a time.
const PINNED_STEP: usize = 128 << 20;
/// Staging buffers of a device.
const LIMIT: usize = 8;

/// A pinned buffer.
#[derive(Debug)]
struct Buffer {
    hsa: &'static Hsa,
    address: *mut u8,
}

// SAFETY: the memory belongs to the holder.
unsafe impl Send for Buffer {}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: from the pool; whoever drops it has seen its last copy end.
        if let Err(error) = unsafe { self.hsa.pool_free(self.address.cast()) } {
            tracing::error!("{error}");
        }
    }
}

/// The staging buffers of a device: few, made when they are needed.
#[derive(Debug, Default)]
pub(crate) struct StagingPool {
    free: Mutex<(Vec<Buffer>, usize)>,
}

impl StagingPool {
    /// A buffer; none if all are in use.
    fn take(&self, device: &Device) -> Result<Option<Buffer>> {
        let mut free = self.free.lock();
        if let Some(buffer) = free.0.pop() {
            return Ok(Some(buffer));
        }
        if free.1 >= LIMIT {
            return Ok(None);
        }
        let shared = device.shared();
        let hsa = device.hsa();
        let address = hsa.pool_allocate(shared.host.fine_pool, STAGING, "staging")?;
        let buffer = Buffer {
            hsa,
            address: address.cast(),
        };
        hsa.allow_access(&shared.gpu_agents, address)?;
        free.1 += 1;
        Ok(Some(buffer))
    }

    fn give(&self, buffer: Buffer) {
        self.free.lock().0.push(buffer);
    }
}

/// A piece that is under way.
#[derive(Debug)]
struct UnderWay {
    signal: Arc<HwSignal>,
    size: usize,
    /// The host copies from the staging buffer to here when the engine is done.
    to_host: Option<u64>,
    /// The host range that is pinned for it.
    pinned: Option<usize>,
}

/// How far a command has come.
#[derive(Debug)]
pub(crate) struct Staged {
    buffer: Option<Buffer>,
    under_way: Option<UnderWay>,
    row: usize,
    offset: usize,
    /// Bytes of the pattern that the buffer holds.
    filled: usize,
    may_pin: bool,
    start: u64,
}

impl Staged {
    pub(super) fn new(start: u64) -> Self {
        Self {
            buffer: None,
            under_way: None,
            row: 0,
            offset: 0,
            filled: 0,
            may_pin: true,
            start,
        }
    }
}

/// Where an end of a piece is.
#[derive(Clone, Copy)]
enum Place {
    /// The host can access it at this address.
    Host(u64),
    /// Only engines can, on behalf of this agent.
    Device(u64, hsa_agent_t),
}

fn place(device: &Device, address: u64) -> Place {
    match device.shared().map.find(address as usize) {
        None => Place::Host(address),
        Some((memory, offset)) => match memory.host_address() {
            Some(host) => Place::Host(host as u64 + offset as u64),
            None => Place::Device(
                memory.device_address() + offset as u64,
                match memory.kind() {
                    MemoryKind::Device | MemoryKind::Ipc => memory.device().agent(),
                    _ => device.shared().host.agent,
                },
            ),
        },
    }
}

/// Row `index` of a command: destination, source (none: a pattern or value), bytes. None: there are no more rows.
fn row(operation: &Operation, index: usize) -> Option<(u64, Option<u64>, usize)> {
    match operation {
        Operation::Copy(copy) => (index == 0).then_some((copy.dst, Some(copy.src), copy.size)),
        Operation::Fill { dst, size, .. } => (index == 0).then_some((*dst, None, *size)),
        Operation::CopyRect(copy) => {
            let [width, rows, slices] = copy.extent;
            let (slice, row) = (index / rows.max(1), index % rows.max(1));
            (slice < slices && rows > 0).then(|| {
                let at = |rect: &crate::Rect| {
                    rect.address + (slice * rect.slice_pitch + row * rect.row_pitch) as u64
                };
                (at(&copy.dst), Some(at(&copy.src)), width)
            })
        }
        Operation::FillRect { fill, .. } => {
            let [width, rows, slices] = fill.extent;
            let (slice, row) = (index / rows.max(1), index % rows.max(1));
            (slice < slices && rows > 0).then(|| {
                let offset = slice * fill.dst.slice_pitch + row * fill.dst.row_pitch;
                (fill.dst.address + offset as u64, None, width)
            })
        }
        Operation::WriteValue { address, width, .. }
        | Operation::WaitValue { address, width, .. } => {
            (index == 0).then_some((*address, None, width.bytes()))
        }
        _ => None,
    }
}

impl QueueCore {
    /// Goes on with a staged command.
    pub(super) fn staged(
        self: &Arc<Self>,
        state: &mut MutexGuard<'_, QueueState>,
        mut command: Command,
    ) -> Step {
        let Some(mut staged) = command.staged.take() else {
            return self.append(state, command, Some(Status::INVALID_OPERATION));
        };
        let outcome = self.go_on(state, &mut command, &mut staged);
        match outcome {
            Ok(None) => {
                self.end_staged(*staged, &mut command);
                state.vgpu.host_wrote();
                self.append(state, command, None)
            }
            Ok(Some(outcome)) => {
                note_block(&mut command, BlockReason::Staging, 0);
                command.staged = Some(staged);
                Step::Blocked(command, outcome)
            }
            Err(error) => {
                self.end_staged(*staged, &mut command);
                self.fail(state, command, &error)
            }
        }
    }

    fn end_staged(&self, staged: Staged, command: &mut Command) {
        if let Some(UnderWay {
            pinned: Some(address),
            ..
        }) = staged.under_way
        {
            let _ = self.device.hsa().unlock(address);
        }
        if let Some(buffer) = staged.buffer {
            self.device.staging().give(buffer);
        }
        if staged.start != 0 {
            command
                .event
                .set_times(staged.start, self.device.hsa().timestamp());
        }
    }

    /// `Ok(None)`: all is done. `Ok(Some)`: wait for this.
    fn go_on(
        &self,
        state: &mut QueueState,
        command: &mut Command,
        staged: &mut Staged,
    ) -> Result<Option<Outcome>> {
        loop {
            if let Some(piece) = &staged.under_way {
                if !piece.signal.is_done() {
                    return Ok(Some(Outcome::WaitSignal(piece.signal.clone())));
                }
                if self.device.is_faulted() {
                    return Err(self
                        .device
                        .fault()
                        .map_or(Error::Gone("the device has faulted"), Error::Fault));
                }
                if let Some(outcome) = self.piece_ended(command, staged)? {
                    return Ok(Some(outcome));
                }
            }
            if let Operation::Busy { mark, nanoseconds } = &command.operation {
                if staged.offset > 0 {
                    return Ok(None);
                }
                // The simulated device takes the size for the time.
                let agent = self.device.shared().host.agent;
                let end = (*mark, agent);
                match state.vgpu.piece(end, end, *nanoseconds as usize) {
                    Ok(signal) => {
                        staged.under_way = Some(UnderWay {
                            signal,
                            size: 1,
                            to_host: None,
                            pinned: None,
                        });
                        continue;
                    }
                    Err(Full::Later) => return Ok(Some(Outcome::Poll)),
                    Err(Full::Failed(error)) => return Err(error),
                }
            }
            let Some((dst, src, size)) = row(&command.operation, staged.row) else {
                return Ok(None);
            };
            if staged.offset >= size {
                staged.row += 1;
                staged.offset = 0;
                continue;
            }
            let (dst, src) = (
                dst + staged.offset as u64,
                src.map(|src| src + staged.offset as u64),
            );
            match self.begin_piece(state, command, staged, dst, src, size - staged.offset)? {
                None => {}
                Some(outcome) => return Ok(Some(outcome)),
            }
        }
    }

    /// The engine is done with a piece.
    fn piece_ended(&self, command: &Command, staged: &mut Staged) -> Result<Option<Outcome>> {
        let Some(piece) = staged.under_way.take() else {
            return Ok(None);
        };
        if let Some(address) = piece.pinned {
            self.device.hsa().unlock(address)?;
        }
        if let Some(buffer) = &staged.buffer {
            if let Operation::WaitValue {
                width,
                value,
                mask,
                condition,
                ..
            } = &command.operation
            {
                let memory = host::read_value(buffer.address as u64, *width);
                if !host::holds(memory, *width, *value, *mask, *condition) {
                    return Ok(Some(Outcome::Poll));
                }
            }
            if let Some(to) = piece.to_host {
                // SAFETY: the enqueuer promises that the range is valid until the command ends; the buffer is as large.
                unsafe { std::ptr::copy_nonoverlapping(buffer.address, to as *mut u8, piece.size) };
            }
        }
        staged.offset += piece.size;
        Ok(None)
    }

    fn buffer<'a>(&self, staged: &'a mut Staged) -> Result<Option<&'a Buffer>> {
        if staged.buffer.is_none() {
            staged.buffer = self.device.staging().take(&self.device)?;
        }
        Ok(staged.buffer.as_ref())
    }

    /// Starts the next piece, or does it at once.
    fn begin_piece(
        &self,
        state: &mut QueueState,
        command: &Command,
        staged: &mut Staged,
        dst: u64,
        src: Option<u64>,
        size: usize,
    ) -> Result<Option<Outcome>> {
        let host_agent = self.device.shared().host.agent;
        let ends = (
            place(&self.device, dst),
            src.map(|src| place(&self.device, src)),
        );
        let (dst, src, size, to_host, pinned) = match ends {
            (Place::Device(dst, dst_agent), Some(Place::Device(src, src_agent))) => {
                ((dst, dst_agent), (src, src_agent), size, None, None)
            }
            (Place::Host(dst), Some(Place::Host(src))) => {
                // SAFETY: the enqueuer promises that both ranges are valid until the command ends.
                unsafe { std::ptr::copy(src as *const u8, dst as *mut u8, size) };
                staged.offset += size;
                return Ok(None);
            }
            (Place::Device(dst, dst_agent), Some(Place::Host(src))) => {
                if let Some((address, step)) = self.pin(staged, src, size) {
                    let pinned = Some(src as usize);
                    ((dst, dst_agent), (address, host_agent), step, None, pinned)
                } else {
                    let Some(buffer) = self.buffer(staged)? else {
                        return Ok(Some(Outcome::Poll));
                    };
                    let size = size.min(STAGING);
                    // SAFETY: as above; the buffer has room.
                    unsafe {
                        std::ptr::copy_nonoverlapping(src as *const u8, buffer.address, size);
                    }
                    let from = buffer.address as u64;
                    ((dst, dst_agent), (from, host_agent), size, None, None)
                }
            }
            (Place::Host(dst), Some(Place::Device(src, src_agent))) => {
                if let Some((address, step)) = self.pin(staged, dst, size) {
                    let pinned = Some(dst as usize);
                    ((address, host_agent), (src, src_agent), step, None, pinned)
                } else {
                    let Some(buffer) = self.buffer(staged)? else {
                        return Ok(Some(Outcome::Poll));
                    };
                    let to = buffer.address as u64;
                    (
                        (to, host_agent),
                        (src, src_agent),
                        size.min(STAGING),
                        Some(dst),
                        None,
                    )
                }
            }
            (Place::Device(address, agent), None) => {
                let Some(buffer) = self.buffer(staged)? else {
                    return Ok(Some(Outcome::Poll));
                };
                let buffer_address = buffer.address;
                let end = (buffer_address as u64, host_agent);
                match &command.operation {
                    Operation::WaitValue { .. } => (end, (address, agent), size, None, None),
                    Operation::WriteValue { value, .. } => {
                        let bytes = value.to_le_bytes();
                        // SAFETY: the buffer is larger than 8 bytes.
                        unsafe {
                            std::ptr::copy_nonoverlapping(bytes.as_ptr(), buffer_address, size);
                        }
                        ((address, agent), end, size, None, None)
                    }
                    Operation::Fill { pattern, .. } | Operation::FillRect { pattern, .. } => {
                        // Whole patterns, so that each piece begins with the pattern's first byte.
                        let size = size.min(STAGING / pattern.len() * pattern.len());
                        if staged.filled < size {
                            // SAFETY: the buffer has room.
                            unsafe { pattern.fill(buffer_address, size) };
                            staged.filled = size;
                        }
                        ((address, agent), end, size, None, None)
                    }
                    _ => return Err(Error::Unsupported("staging of this command".into())),
                }
            }
            (Place::Host(address), None) => {
                if let Operation::Fill { pattern, .. } | Operation::FillRect { pattern, .. } =
                    &command.operation
                {
                    // SAFETY: the enqueuer promises that the range is valid until the command ends.
                    unsafe { pattern.fill(address as *mut u8, size) };
                }
                staged.offset += size;
                return Ok(None);
            }
        };
        match state.vgpu.piece(dst, src, size) {
            Ok(signal) => {
                staged.under_way = Some(UnderWay {
                    signal,
                    size,
                    to_host,
                    pinned,
                });
                Ok(None)
            }
            Err(full) => {
                if let Some(address) = pinned {
                    let _ = self.device.hsa().unlock(address);
                }
                match full {
                    Full::Later => Ok(Some(Outcome::Poll)),
                    Full::Failed(error) => Err(error),
                }
            }
        }
    }

    /// Pins the start of a large pageable range: its device address, and how much is pinned. Memory that the runtime knows is pinned already.
    fn pin(&self, staged: &mut Staged, address: u64, size: usize) -> Option<(u64, usize)> {
        if size <= STAGING || !staged.may_pin {
            return None;
        }
        if self.device.shared().map.find(address as usize).is_some() {
            staged.may_pin = false;
            return None;
        }
        let step = size.min(PINNED_STEP);
        // SAFETY: the enqueuer promises that the range is valid until the command ends; it is unlocked before.
        match unsafe { self.device.hsa().lock(address as usize, step) } {
            Ok(device) => Some((device as u64, step)),
            Err(error) => {
                tracing::debug!("staged, as the range cannot be pinned: {error}");
                staged.may_pin = false;
                None
            }
        }
    }
}
