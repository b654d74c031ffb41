//! Copies, fills and maps, as the user asks for them.

use std::sync::Arc;

use gneiss_hsa_api::hsa_agent_t;

use super::{CopyRect, FillRect, HostQueue, Rect};
use crate::{
    Error, Event, HostFlags, Memory, MemoryKind, Result,
    command::{CopyCommand, Operation, Pattern},
    trace::format::CommandKind,
};

/// Largest copy that the host does itself if nothing is in flight before it.
const SMALL_COPY: usize = 256 * 1024;

impl CopyCommand {
    /// Not worth the way through an engine.
    pub(crate) fn is_small(&self) -> bool {
        self.size <= SMALL_COPY
    }
}

/// One end of a copy.
pub(super) struct End {
    address: u64,
    /// None: pageable.
    agent: Option<hsa_agent_t>,
    host_accessible: bool,
}

/// What the host does with mapped memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapAccess {
    /// It reads.
    Read,
    /// It writes parts, and finds the rest as it was.
    ReadWrite,
    /// It writes all, and does not care for what was there.
    WriteAll,
}

/// Memory that is mapped for the host. It must be unmapped with [`HostQueue::enqueue_unmap`] before it is freed.
#[derive(Debug)]
pub struct Mapping {
    pointer: usize,
    device_address: u64,
    size: usize,
    /// Host memory that stands for the device's, where the host cannot access that.
    copy: Option<Arc<Memory>>,
    writes: bool,
}

impl Mapping {
    /// Where the host finds the bytes, once the map command has ended.
    pub fn pointer(&self) -> usize {
        self.pointer
    }

    /// Bytes.
    pub fn size(&self) -> usize {
        self.size
    }
}

impl HostQueue {
    /// Enqueues a copy. Addresses are device addresses, or host addresses of pinned or of pageable memory; which is found out by the
    /// memory map. The ranges must not overlap.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if a range goes over the end of its allocation; the device's fault.
    ///
    /// # Safety
    /// Both ranges must stay valid until the command has ended.
    pub unsafe fn enqueue_copy(
        &self,
        dst: u64,
        src: u64,
        size: usize,
        wait_list: &[Event],
    ) -> Result<Event> {
        // SAFETY: the caller's.
        unsafe { self.enqueue_copy_as(None, dst, src, size, wait_list) }
    }

    /// A copy under another name; none: read, write or copy, as the ends are.
    ///
    /// # Safety
    /// As for [`enqueue_copy`](Self::enqueue_copy).
    pub(super) unsafe fn enqueue_copy_as(
        &self,
        kind: Option<CommandKind>,
        dst: u64,
        src: u64,
        size: usize,
        wait_list: &[Event],
    ) -> Result<Event> {
        let dst = self.classify(dst, size)?;
        let src = self.classify(src, size)?;
        let agents = match (dst.agent, src.agent) {
            // Engines do not copy from host to host.
            (Some(dst), Some(src)) if size > 0 && !self.are_both_host(dst, src) => Some((dst, src)),
            _ => None,
        };
        let kind = kind.unwrap_or_else(|| self.copy_kind(&dst, &src));
        let serialize = self.device().shared().config.serialize_copy;
        if serialize & 1 != 0 {
            self.finish()?;
        }
        let event = self.core.enqueue(
            kind,
            Operation::Copy(CopyCommand {
                dst: dst.address,
                src: src.address,
                size,
                agents,
                host_accessible: dst.host_accessible && src.host_accessible,
            }),
            wait_list,
        )?;
        if serialize & 2 != 0 {
            event.wait()?;
        }
        Ok(event)
    }

    /// For simulations: a copy of any kind.
    ///
    /// # Safety
    /// As for [`enqueue_copy`](Self::enqueue_copy).
    pub(crate) unsafe fn enqueue_copy_kind(
        &self,
        kind: CommandKind,
        dst: u64,
        src: u64,
        size: usize,
        wait_list: &[Event],
    ) -> Result<Event> {
        // SAFETY: the caller's.
        unsafe { self.enqueue_copy_as(Some(kind), dst, src, size, wait_list) }
    }

    fn copy_kind(&self, dst: &End, src: &End) -> CommandKind {
        let host = self.device().shared().host.agent;
        let is_host = |end: &End| end.agent.is_none_or(|agent| agent == host);
        match (is_host(dst), is_host(src)) {
            (true, false) => CommandKind::ReadBuffer,
            (false, true) => CommandKind::WriteBuffer,
            _ => CommandKind::CopyBuffer,
        }
    }

    fn are_both_host(&self, a: hsa_agent_t, b: hsa_agent_t) -> bool {
        let host = self.device().shared().host.agent;
        a == host && b == host
    }

    /// What an address is, and whether the range lies in one allocation. The result's address is the device's.
    pub(super) fn classify(&self, address: u64, size: usize) -> Result<End> {
        let shared = self.device().shared();
        let Some((memory, offset)) = shared.map.find(address as usize) else {
            return Ok(End {
                address,
                agent: None,
                host_accessible: true,
            });
        };
        if size > memory.size() - offset {
            return Err(Error::InvalidValue(format!(
                "{size} bytes at {address:#x} go over the end of an allocation of {} bytes",
                memory.size()
            )));
        }
        let agent = match memory.kind() {
            MemoryKind::Device | MemoryKind::Ipc | MemoryKind::Mapped => memory.device().agent(),
            MemoryKind::Host
            | MemoryKind::Managed
            | MemoryKind::Registered
            | MemoryKind::Signal => shared.host.agent,
        };
        Ok(End {
            address: memory.device_address() + offset as u64,
            agent: Some(agent),
            host_accessible: memory.host_address().is_some(),
        })
    }

    /// Enqueues a 2D or 3D copy.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if a pitch is smaller than a row or a slice, or a rectangle goes over the end of its allocation; the device's fault.
    ///
    /// # Safety
    /// As for [`enqueue_copy`](Self::enqueue_copy).
    pub unsafe fn enqueue_copy_rect(&self, copy: &CopyRect, wait_list: &[Event]) -> Result<Event> {
        let dst_size = rect_size(&copy.dst, copy.extent)?;
        let src_size = rect_size(&copy.src, copy.extent)?;
        let [width, rows, slices] = copy.extent;
        let total = width.saturating_mul(rows).saturating_mul(slices);
        if dst_size == total && src_size == total {
            // Dense: a linear copy.
            // SAFETY: the caller's.
            return unsafe {
                self.enqueue_copy(copy.dst.address, copy.src.address, total, wait_list)
            };
        }
        self.classify(copy.dst.address, dst_size)?;
        self.classify(copy.src.address, src_size)?;
        let serialize = self.device().shared().config.serialize_copy;
        if serialize & 1 != 0 {
            self.finish()?;
        }
        let event =
            self.core
                .enqueue(CommandKind::CopyRect, Operation::CopyRect(*copy), wait_list)?;
        if serialize & 2 != 0 {
            event.wait()?;
        }
        Ok(event)
    }

    /// Enqueues a fill of `size` bytes with a pattern of 1 to 16 bytes; the size must be a multiple of the pattern's.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for such a pattern or size, or a range that goes over the end of its allocation; the device's fault.
    ///
    /// # Safety
    /// The range must stay valid until the command has ended.
    pub unsafe fn enqueue_fill(
        &self,
        dst: u64,
        pattern: &[u8],
        size: usize,
        wait_list: &[Event],
    ) -> Result<Event> {
        // SAFETY: the caller's.
        unsafe { self.enqueue_fill_as(CommandKind::FillBuffer, dst, pattern, size, wait_list) }
    }

    /// # Safety
    /// As for [`enqueue_fill`](Self::enqueue_fill).
    pub(super) unsafe fn enqueue_fill_as(
        &self,
        kind: CommandKind,
        dst: u64,
        pattern: &[u8],
        size: usize,
        wait_list: &[Event],
    ) -> Result<Event> {
        let pattern = check_pattern(pattern, size)?;
        self.classify(dst, size)?;
        self.core
            .enqueue(kind, Operation::Fill { dst, pattern, size }, wait_list)
    }

    /// Enqueues a 2D or 3D fill.
    ///
    /// # Errors
    /// As [`enqueue_fill`](Self::enqueue_fill), and for pitches as [`enqueue_copy_rect`](Self::enqueue_copy_rect).
    ///
    /// # Safety
    /// As for [`enqueue_fill`](Self::enqueue_fill).
    pub unsafe fn enqueue_fill_rect(
        &self,
        fill: &FillRect,
        pattern: &[u8],
        wait_list: &[Event],
    ) -> Result<Event> {
        let pattern = check_pattern(pattern, fill.extent[0])?;
        let size = rect_size(&fill.dst, fill.extent)?;
        self.classify(fill.dst.address, size)?;
        self.core.enqueue(
            CommandKind::FillRect,
            Operation::FillRect {
                fill: *fill,
                pattern,
            },
            wait_list,
        )
    }

    /// Enqueues a map: when it has ended, the host finds a part of an allocation at [`Mapping::pointer`]. Where the host cannot access the
    /// memory, a pinned copy stands for it.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if the part is empty or not in the allocation; [`Error::OutOfMemory`]; the device's fault.
    ///
    /// # Safety
    /// The memory must stay allocated until it is unmapped.
    pub unsafe fn enqueue_map(
        &self,
        memory: &Arc<Memory>,
        offset: usize,
        size: usize,
        access: MapAccess,
        wait_list: &[Event],
    ) -> Result<(Event, Mapping)> {
        if size == 0 || offset > memory.size() || size > memory.size() - offset {
            return Err(Error::InvalidValue(format!(
                "{size} bytes at offset {offset} are not in an allocation of {} bytes",
                memory.size()
            )));
        }
        let device_address = memory.device_address() + offset as u64;
        let writes = access != MapAccess::Read;
        if let Some(host) = memory.host_address() {
            let event = self
                .core
                .enqueue(CommandKind::MapBuffer, Operation::Marker, wait_list)?;
            let mapping = Mapping {
                pointer: host + offset,
                device_address,
                size,
                copy: None,
                writes,
            };
            return Ok((event, mapping));
        }
        let runtime = self
            .device()
            .runtime()
            .ok_or(Error::Gone("the runtime has ended"))?;
        let copy = runtime.allocate_host(self.device(), size, HostFlags::COHERENT)?;
        let event = if access == MapAccess::WriteAll {
            self.core
                .enqueue(CommandKind::MapBuffer, Operation::Marker, wait_list)
        } else {
            // SAFETY: the copy lives until the unmap has ended, the memory is the caller's.
            unsafe {
                self.enqueue_copy_as(
                    Some(CommandKind::MapBuffer),
                    copy.device_address(),
                    device_address,
                    size,
                    wait_list,
                )
            }
        };
        let event = match event {
            Ok(event) => event,
            Err(error) => {
                runtime.free(copy.device_address() as usize)?;
                return Err(error);
            }
        };
        let mapping = Mapping {
            pointer: copy.host_address().unwrap_or_default(),
            device_address,
            size,
            copy: Some(copy),
            writes,
        };
        Ok((event, mapping))
    }

    /// Enqueues an unmap: what the host has written is in the allocation when it has ended.
    ///
    /// # Errors
    /// The device's fault.
    ///
    /// # Safety
    /// As for [`enqueue_map`](Self::enqueue_map); the host may not use the pointer any more.
    pub unsafe fn enqueue_unmap(&self, mapping: Mapping, wait_list: &[Event]) -> Result<Event> {
        let Some(copy) = mapping.copy else {
            return self
                .core
                .enqueue(CommandKind::UnmapBuffer, Operation::Marker, wait_list);
        };
        let event = if mapping.writes {
            // SAFETY: the copy is freed when the command has ended; the memory is the caller's.
            unsafe {
                self.enqueue_copy_as(
                    Some(CommandKind::UnmapBuffer),
                    mapping.device_address,
                    copy.device_address(),
                    mapping.size,
                    wait_list,
                )
            }?
        } else {
            self.core
                .enqueue(CommandKind::UnmapBuffer, Operation::Marker, wait_list)?
        };
        let runtime = self.device().runtime();
        event.on_complete(move |_| {
            if let Some(Err(error)) =
                runtime.map(|runtime| runtime.free(copy.device_address() as usize))
            {
                tracing::error!("{error}");
            }
        });
        Ok(event)
    }
}

fn check_pattern(pattern: &[u8], size: usize) -> Result<Pattern> {
    Pattern::new(pattern)
        .filter(|pattern| size.is_multiple_of(pattern.len()))
        .ok_or_else(|| {
            Error::InvalidValue(format!(
                "{size} bytes cannot be filled with a pattern of {} bytes",
                pattern.len()
            ))
        })
}

/// Bytes from the first to the last byte of a rectangle.
fn rect_size(rect: &Rect, [width, rows, slices]: [usize; 3]) -> Result<usize> {
    if width == 0 || rows == 0 || slices == 0 {
        return Ok(0);
    }
    let overlap = (rows > 1 && rect.row_pitch < width)
        || (slices > 1
            && rect.slice_pitch
                < rect
                    .row_pitch
                    .saturating_mul(rows - 1)
                    .saturating_add(width));
    if overlap {
        return Err(Error::InvalidValue(format!(
            "rows or slices of a rectangle overlap: {width} bytes x {rows} x {slices} with pitches {} and {}",
            rect.row_pitch, rect.slice_pitch
        )));
    }
    (slices - 1)
        .checked_mul(rect.slice_pitch)
        .and_then(|size| size.checked_add((rows - 1).checked_mul(rect.row_pitch)?))
        .and_then(|size| size.checked_add(width))
        .ok_or_else(|| Error::InvalidValue("a rectangle is larger than the address space".into()))
}
