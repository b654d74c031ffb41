//! Reading, writing, copying and filling buffers, mapping and moving memory objects.

use std::{ffi::c_void, sync::Arc};

use gneiss_clr::{CopyRect, MapAccess, MigrateTarget, Rect};

use crate::{
    cl_api,
    constants::*,
    error::{Result, code},
    event::{give, give_after, wait_list},
    fail,
    handle::get,
    memory::{MapEnd, Mapped, Mem},
    queue::{Queue, host},
    types::*,
};

/// A buffer that a queue may use.
fn buffer(queue: &Arc<Queue>, handle: cl_mem) -> Result<Arc<Mem>> {
    let mem = mem(queue, handle)?;
    if !mem.is_buffer() {
        return fail!(CL_INVALID_MEM_OBJECT, "the memory object is no buffer");
    }
    Ok(mem)
}

/// A memory object that a queue may use.
///
/// # Errors
/// `CL_INVALID_MEM_OBJECT`; `CL_INVALID_CONTEXT` if it belongs to another context.
pub fn mem(queue: &Arc<Queue>, handle: cl_mem) -> Result<Arc<Mem>> {
    let mem = get(handle)?;
    if !Arc::ptr_eq(&mem.context, &queue.context) {
        return fail!(
            CL_INVALID_CONTEXT,
            "memory object and queue belong to different contexts"
        );
    }
    Ok(mem)
}

/// Refuses what the flags of a memory object do not let the host do.
///
/// # Errors
/// `CL_INVALID_OPERATION`.
pub fn host_may(mem: &Mem, read: bool, write: bool) -> Result {
    let refused = mem.flags & CL_MEM_HOST_NO_ACCESS != 0
        || (read && mem.flags & CL_MEM_HOST_WRITE_ONLY != 0)
        || (write && mem.flags & CL_MEM_HOST_READ_ONLY != 0);
    if refused {
        return fail!(
            CL_INVALID_OPERATION,
            "flags {:#x} of the memory object forbid this to the host",
            mem.flags
        );
    }
    Ok(())
}

/// Refuses bytes that are not in a buffer.
///
/// # Errors
/// `CL_INVALID_VALUE`.
pub fn check_range(mem: &Mem, offset: usize, size: usize) -> Result {
    if offset > mem.size || size > mem.size - offset {
        return fail!(
            CL_INVALID_VALUE,
            "{size} bytes at {offset} are not in a buffer of {}",
            mem.size
        );
    }
    Ok(())
}

/// An origin or a region.
///
/// # Errors
/// `CL_INVALID_VALUE` if there is none.
pub fn three(list: In<usize>) -> Result<[usize; 3]> {
    match <[usize; 3]>::try_from(list.list(3)) {
        Ok(three) => Ok(three),
        Err(_) => fail!(CL_INVALID_VALUE, "no origin or region"),
    }
}

/// A rectangle in memory, with the pitches that 0 stands for.
#[derive(Clone, Copy, Debug)]
struct Box3 {
    origin: [usize; 3],
    row: usize,
    slice: usize,
}

impl Box3 {
    /// Reads origin and pitches.
    fn new(origin: In<usize>, region: [usize; 3], row: usize, slice: usize) -> Result<Self> {
        let origin = three(origin)?;
        let row_pitch = if row == 0 { region[0] } else { row };
        let least = region[1].saturating_mul(row_pitch);
        let slice_pitch = if slice == 0 { least } else { slice };
        if row_pitch < region[0]
            || slice_pitch < least
            || (slice != 0 && !slice_pitch.is_multiple_of(row_pitch))
        {
            return fail!(
                CL_INVALID_VALUE,
                "pitches {row} and {slice} for a region of {region:?}"
            );
        }
        Ok(Self {
            origin,
            row: row_pitch,
            slice: slice_pitch,
        })
    }

    /// First byte.
    fn start(&self) -> Option<usize> {
        self.origin[2]
            .checked_mul(self.slice)?
            .checked_add(self.origin[1].checked_mul(self.row)?)?
            .checked_add(self.origin[0])
    }

    /// Byte after the last one.
    fn end(&self, region: [usize; 3]) -> Option<usize> {
        self.start()?
            .checked_add((region[2] - 1).checked_mul(self.slice)?)?
            .checked_add((region[1] - 1).checked_mul(self.row)?)?
            .checked_add(region[0])
    }

    /// The rectangle at an address; `size`: what there is, if that is known.
    fn at(&self, address: u64, region: [usize; 3], size: Option<usize>) -> Result<Rect> {
        let (Some(start), Some(end)) = (self.start(), self.end(region)) else {
            return Err(CL_INVALID_VALUE);
        };
        if size.is_some_and(|size| end > size) {
            return fail!(
                CL_INVALID_VALUE,
                "the rectangle {self:?} of {region:?} goes over the end of the buffer"
            );
        }
        Ok(Rect {
            address: address + start as u64,
            row_pitch: self.row,
            slice_pitch: self.slice,
        })
    }
}

fn region(region: In<usize>) -> Result<[usize; 3]> {
    let region = three(region)?;
    if region.contains(&0) {
        return fail!(CL_INVALID_VALUE, "a region of {region:?}");
    }
    Ok(region)
}

/// Origin and pitches of a rectangle as calls have them: row, then slice.
type Place = (In<usize>, usize, usize);

/// The rectangles in a buffer and in the program's memory that a call names, and their extent.
fn of_buffer_and_host(
    mem: &Mem,
    (buffer_origin, buffer_row, buffer_slice): Place,
    host: *const c_void,
    (host_origin, host_row, host_slice): Place,
    extent: In<usize>,
) -> Result<(Rect, Rect, [usize; 3])> {
    if host.is_null() {
        return fail!(CL_INVALID_VALUE, "the host pointer is null");
    }
    let extent = region(extent)?;
    let of_buffer = Box3::new(buffer_origin, extent, buffer_row, buffer_slice)?;
    let of_host = Box3::new(host_origin, extent, host_row, host_slice)?;
    Ok((
        of_buffer.at(mem.address()?, extent, Some(mem.size))?,
        of_host.at(host.expose_provenance() as u64, extent, None)?,
        extent,
    ))
}

/// Whether two rectangles of the same buffer share bytes (the specification's rule, by intervals first).
fn overlap(a: &Box3, b: &Box3, region: [usize; 3]) -> bool {
    let (Some(a_start), Some(b_start)) = (a.start(), b.start()) else {
        return true;
    };
    let (Some(a_end), Some(b_end)) = (a.end(region), b.end(region)) else {
        return true;
    };
    if a_end <= b_start || b_end <= a_start {
        return false;
    }
    if a.row != b.row || a.slice != b.slice {
        return true;
    }
    // The same grid: the rectangles overlap if they do in all directions, also where a row goes on in the next one.
    let (rows, slice_rows) = (a.row, a.slice / a.row);
    let place = |start: usize| [start % rows, start / rows % slice_rows, start / a.slice];
    let (a, b) = (place(a_start), place(b_start));
    (0..3).all(|axis| {
        let (low, high) = (a[axis].min(b[axis]), a[axis].max(b[axis]));
        high - low < region[axis]
            || low + [rows, slice_rows, usize::MAX][axis] - high < region[axis]
    })
}

/// A linear copy between device and host addresses.
fn copy(
    queue: &Queue,
    dst: u64,
    src: u64,
    size: usize,
    waits: &[gneiss_clr::Event],
) -> Result<gneiss_clr::Event> {
    if size == 0 {
        return queue.clr.enqueue_marker(waits).map_err(code);
    }
    // SAFETY: buffers live until the queue's commands have ended, and so does the caller's memory, by the contract of the call.
    unsafe { queue.clr.enqueue_copy(dst, src, size, waits) }.map_err(code)
}

/// A copy of a rectangle.
///
/// # Errors
/// The code of what the queue refuses.
pub fn copy_rect(
    queue: &Queue,
    copy: &CopyRect,
    waits: &[gneiss_clr::Event],
) -> Result<gneiss_clr::Event> {
    // SAFETY: memory objects live until the queue's commands have ended, and so does the program's memory, by the contract of the call.
    unsafe { queue.clr.enqueue_copy_rect(copy, waits) }.map_err(code)
}

/// Reads the pattern of a fill.
///
/// # Errors
/// `CL_INVALID_VALUE` if there is none, or its size is no power of two up to 128.
pub fn pattern(pattern: In<u8>, size: usize) -> Result<Vec<u8>> {
    if pattern.is_null() || !size.is_power_of_two() || size > 128 {
        return fail!(
            CL_INVALID_VALUE,
            "a pattern of {size} bytes at {:?}",
            pattern.pointer()
        );
    }
    Ok(pattern.list(size))
}

/// Where flags of a migration lead.
///
/// # Errors
/// `CL_INVALID_VALUE` for unknown flags.
pub fn migrate_target(flags: cl_bitfield) -> Result<MigrateTarget> {
    if flags & !(CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED) != 0 {
        return fail!(CL_INVALID_VALUE, "migration flags {flags:#x}");
    }
    Ok(if flags & CL_MIGRATE_MEM_OBJECT_HOST != 0 {
        MigrateTarget::Host
    } else {
        MigrateTarget::Device
    })
}

/// Fills memory with a pattern of any size.
///
/// # Errors
/// The code of what the queue refuses.
pub fn fill(
    queue: &Queue,
    address: u64,
    pattern: &[u8],
    size: usize,
    waits: &[gneiss_clr::Event],
) -> Result<gneiss_clr::Event> {
    if size == 0 {
        return queue.clr.enqueue_marker(waits).map_err(code);
    }
    if pattern.len() <= 16 {
        // SAFETY: the memory lives until the queue's commands have ended.
        return unsafe { queue.clr.enqueue_fill(address, pattern, size, waits) }.map_err(code);
    }
    // The runtime below has patterns of up to 16 bytes: longer ones are written out.
    let bytes = pattern.repeat(size / pattern.len());
    let event = copy(
        queue,
        address,
        bytes.as_ptr().expose_provenance() as u64,
        size,
        waits,
    )?;
    event.on_complete(move |_| drop(bytes));
    Ok(event)
}

/// Checks the flags of a map; gives whether the host writes.
///
/// # Errors
/// `CL_INVALID_VALUE`.
pub fn check_map_flags(flags: cl_bitfield) -> Result<bool> {
    map_access(flags).map(|access| access != MapAccess::Read)
}

fn map_access(flags: cl_bitfield) -> Result<MapAccess> {
    let known = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
    let invalidate = flags & CL_MAP_WRITE_INVALIDATE_REGION != 0;
    if flags & !known != 0 || (invalidate && flags & (CL_MAP_READ | CL_MAP_WRITE) != 0) {
        return fail!(CL_INVALID_VALUE, "map flags {flags:#x}");
    }
    Ok(if invalidate {
        MapAccess::WriteAll
    } else if flags & CL_MAP_WRITE != 0 {
        MapAccess::ReadWrite
    } else {
        MapAccess::Read
    })
}

/// Maps a part of a memory object; gives the command and where the bytes will be.
///
/// # Errors
/// `CL_INVALID_VALUE`, `CL_INVALID_OPERATION`, and what the queue refuses.
pub fn map(
    queue: &Queue,
    mem: &Mem,
    flags: cl_bitfield,
    offset: usize,
    size: usize,
    waits: &[gneiss_clr::Event],
) -> Result<(gneiss_clr::Event, usize)> {
    let access = map_access(flags)?;
    host_may(mem, flags & CL_MAP_READ != 0, access != MapAccess::Read)?;
    let memory = &mem.storage()?.memory;
    let offset = mem.offset()? + offset;
    // SAFETY: the memory lives until the queue's commands have ended.
    let (event, mapping) = unsafe { queue.clr.enqueue_map(memory, offset, size, access, waits) }
        .map_err(|error| {
            code(error);
            CL_MAP_FAILURE
        })?;
    let pointer = mapping.pointer();
    mem.maps.lock().push(Mapped {
        pointer,
        end: MapEnd::Memory(mapping),
    });
    Ok((event, pointer))
}

cl_api! {
    /// Reads a part of a buffer.
    fn clEnqueueReadBuffer(
        command_queue: cl_command_queue, buffer_: cl_mem, blocking_read: cl_bool, offset: usize, size: usize, ptr: *mut c_void,
        num_events_in_wait_list: cl_uint, event_wait_list: In<cl_event>, event: Out<cl_event>,
    ) {
        let queue = host(command_queue)?;
        let mem = buffer(&queue, buffer_)?;
        let waits = wait_list(&queue.context, num_events_in_wait_list, event_wait_list)?;
        if ptr.is_null() {
            return fail!(CL_INVALID_VALUE, "the host pointer is null");
        }
        check_range(&mem, offset, size)?;
        host_may(&mem, true, false)?;
        let to = ptr.expose_provenance() as u64;
        let done = copy(&queue, to, mem.address()? + offset as u64, size, &waits)?;
        give_after(blocking_read != 0, event, &queue, CL_COMMAND_READ_BUFFER, done)
    }

    /// Writes a part of a buffer.
    fn clEnqueueWriteBuffer(
        command_queue: cl_command_queue, buffer_: cl_mem, blocking_write: cl_bool, offset: usize, size: usize,
        ptr: *const c_void, num_events_in_wait_list: cl_uint, event_wait_list: In<cl_event>, event: Out<cl_event>,
    ) {
        let queue = host(command_queue)?;
        let mem = buffer(&queue, buffer_)?;
        let waits = wait_list(&queue.context, num_events_in_wait_list, event_wait_list)?;
        if ptr.is_null() {
            return fail!(CL_INVALID_VALUE, "the host pointer is null");
        }
        check_range(&mem, offset, size)?;
        host_may(&mem, false, true)?;
        let from = ptr.expose_provenance() as u64;
        let done = copy(&queue, mem.address()? + offset as u64, from, size, &waits)?;
        give_after(blocking_write != 0, event, &queue, CL_COMMAND_WRITE_BUFFER, done)
    }

    /// Reads a rectangle of a buffer.
    fn clEnqueueReadBufferRect(
        command_queue: cl_command_queue, buffer_: cl_mem, blocking_read: cl_bool, buffer_origin: In<usize>, host_origin: In<usize>,
        region_: In<usize>, buffer_row_pitch: usize, buffer_slice_pitch: usize, host_row_pitch: usize, host_slice_pitch: usize,
        ptr: *mut c_void, num_events_in_wait_list: cl_uint, event_wait_list: In<cl_event>, event: Out<cl_event>,
    ) {
        let queue = host(command_queue)?;
        let mem = buffer(&queue, buffer_)?;
        let waits = wait_list(&queue.context, num_events_in_wait_list, event_wait_list)?;
        let (buffer, host, extent) = of_buffer_and_host(
            &mem,
            (buffer_origin, buffer_row_pitch, buffer_slice_pitch),
            ptr,
            (host_origin, host_row_pitch, host_slice_pitch),
            region_,
        )?;
        host_may(&mem, true, false)?;
        let done = copy_rect(&queue, &CopyRect { dst: host, src: buffer, extent }, &waits)?;
        give_after(blocking_read != 0, event, &queue, CL_COMMAND_READ_BUFFER_RECT, done)
    }

    /// Writes a rectangle of a buffer.
    fn clEnqueueWriteBufferRect(
        command_queue: cl_command_queue, buffer_: cl_mem, blocking_write: cl_bool, buffer_origin: In<usize>, host_origin: In<usize>,
        region_: In<usize>, buffer_row_pitch: usize, buffer_slice_pitch: usize, host_row_pitch: usize, host_slice_pitch: usize,
        ptr: *const c_void, num_events_in_wait_list: cl_uint, event_wait_list: In<cl_event>, event: Out<cl_event>,
    ) {
        let queue = host(command_queue)?;
        let mem = buffer(&queue, buffer_)?;
        let waits = wait_list(&queue.context, num_events_in_wait_list, event_wait_list)?;
        let (buffer, host, extent) = of_buffer_and_host(
            &mem,
            (buffer_origin, buffer_row_pitch, buffer_slice_pitch),
            ptr,
            (host_origin, host_row_pitch, host_slice_pitch),
            region_,
        )?;
        host_may(&mem, false, true)?;
        let done = copy_rect(&queue, &CopyRect { dst: buffer, src: host, extent }, &waits)?;
        give_after(blocking_write != 0, event, &queue, CL_COMMAND_WRITE_BUFFER_RECT, done)
    }

    /// Copies from buffer to buffer.
    fn clEnqueueCopyBuffer(
        command_queue: cl_command_queue, src_buffer: cl_mem, dst_buffer: cl_mem, src_offset: usize, dst_offset: usize,
        size: usize, num_events_in_wait_list: cl_uint, event_wait_list: In<cl_event>, event: Out<cl_event>,
    ) {
        let queue = host(command_queue)?;
        let src = buffer(&queue, src_buffer)?;
        let dst = buffer(&queue, dst_buffer)?;
        let waits = wait_list(&queue.context, num_events_in_wait_list, event_wait_list)?;
        check_range(&src, src_offset, size)?;
        check_range(&dst, dst_offset, size)?;
        let (from, to) = (src.address()? + src_offset as u64, dst.address()? + dst_offset as u64);
        if src.shares_with(&dst) && from.abs_diff(to) < size as u64 {
            return fail!(CL_MEM_COPY_OVERLAP, "source and destination overlap");
        }
        let done = copy(&queue, to, from, size, &waits)?;
        give(event, &queue, CL_COMMAND_COPY_BUFFER, done)
    }

    /// Copies a rectangle from buffer to buffer.
    fn clEnqueueCopyBufferRect(
        command_queue: cl_command_queue, src_buffer: cl_mem, dst_buffer: cl_mem, src_origin: In<usize>, dst_origin: In<usize>,
        region_: In<usize>, src_row_pitch: usize, src_slice_pitch: usize, dst_row_pitch: usize, dst_slice_pitch: usize,
        num_events_in_wait_list: cl_uint, event_wait_list: In<cl_event>, event: Out<cl_event>,
    ) {
        let queue = host(command_queue)?;
        let src = buffer(&queue, src_buffer)?;
        let dst = buffer(&queue, dst_buffer)?;
        let waits = wait_list(&queue.context, num_events_in_wait_list, event_wait_list)?;
        let extent = region(region_)?;
        let from = Box3::new(src_origin, extent, src_row_pitch, src_slice_pitch)?;
        let to = Box3::new(dst_origin, extent, dst_row_pitch, dst_slice_pitch)?;
        let src_rect = from.at(src.address()?, extent, Some(src.size))?;
        let dst_rect = to.at(dst.address()?, extent, Some(dst.size))?;
        if Arc::ptr_eq(&src, &dst) {
            if from.row != to.row || from.slice != to.slice {
                return fail!(CL_INVALID_VALUE, "a copy within a buffer has one pair of pitches");
            }
            if overlap(&from, &to, extent) {
                return fail!(CL_MEM_COPY_OVERLAP, "source and destination overlap");
            }
        }
        let done = copy_rect(&queue, &CopyRect { dst: dst_rect, src: src_rect, extent }, &waits)?;
        give(event, &queue, CL_COMMAND_COPY_BUFFER_RECT, done)
    }

    /// Fills a part of a buffer.
    fn clEnqueueFillBuffer(
        command_queue: cl_command_queue, buffer_: cl_mem, pattern: In<u8>, pattern_size: usize, offset: usize, size: usize,
        num_events_in_wait_list: cl_uint, event_wait_list: In<cl_event>, event: Out<cl_event>,
    ) {
        let queue = host(command_queue)?;
        let mem = buffer(&queue, buffer_)?;
        let waits = wait_list(&queue.context, num_events_in_wait_list, event_wait_list)?;
        check_range(&mem, offset, size)?;
        let bytes = self::pattern(pattern, pattern_size)?;
        if !offset.is_multiple_of(pattern_size) || !size.is_multiple_of(pattern_size) {
            return fail!(CL_INVALID_VALUE, "{size} bytes at {offset} are no multiples of a pattern of {pattern_size}");
        }
        let done = fill(&queue, mem.address()? + offset as u64, &bytes, size, &waits)?;
        give(event, &queue, CL_COMMAND_FILL_BUFFER, done)
    }

    /// Moves memory objects to the queue's device or the host.
    fn clEnqueueMigrateMemObjects(
        command_queue: cl_command_queue, num_mem_objects: cl_uint, mem_objects: In<cl_mem>, flags: cl_bitfield,
        num_events_in_wait_list: cl_uint, event_wait_list: In<cl_event>, event: Out<cl_event>,
    ) {
        let queue = host(command_queue)?;
        let waits = wait_list(&queue.context, num_events_in_wait_list, event_wait_list)?;
        if num_mem_objects == 0 || mem_objects.is_null() {
            return fail!(CL_INVALID_VALUE, "no memory objects");
        }
        let target = migrate_target(flags)?;
        let mut addresses = Vec::new();
        for handle in mem_objects.list(num_mem_objects as usize) {
            addresses.push(mem(&queue, handle)?.address()?);
        }
        let done = queue.clr.enqueue_migrate(&addresses, target, &waits).map_err(code)?;
        give(event, &queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, done)
    }

    /// Maps a part of a buffer.
    create fn clEnqueueMapBuffer(
        command_queue: cl_command_queue, buffer_: cl_mem, blocking_map: cl_bool, map_flags: cl_bitfield, offset: usize,
        size: usize, num_events_in_wait_list: cl_uint, event_wait_list: In<cl_event>, event: Out<cl_event>,
    ) -> *mut c_void {
        let queue = host(command_queue)?;
        let mem = buffer(&queue, buffer_)?;
        let waits = wait_list(&queue.context, num_events_in_wait_list, event_wait_list)?;
        check_range(&mem, offset, size)?;
        if size == 0 {
            return fail!(CL_INVALID_VALUE, "a map without bytes");
        }
        let (done, pointer) = map(&queue, &mem, map_flags, offset, size, &waits)?;
        give_after(blocking_map != 0, event, &queue, CL_COMMAND_MAP_BUFFER, done)?;
        Ok(std::ptr::with_exposed_provenance_mut(pointer))
    }

    /// Ends a map.
    fn clEnqueueUnmapMemObject(
        command_queue: cl_command_queue, memobj: cl_mem, mapped_ptr: *mut c_void, num_events_in_wait_list: cl_uint,
        event_wait_list: In<cl_event>, event: Out<cl_event>,
    ) {
        let queue = host(command_queue)?;
        let mem = mem(&queue, memobj)?;
        let waits = wait_list(&queue.context, num_events_in_wait_list, event_wait_list)?;
        let mapped = {
            let mut maps = mem.maps.lock();
            let Some(index) = maps.iter().rposition(|map| map.pointer == mapped_ptr.addr()) else {
                return fail!(CL_INVALID_VALUE, "{mapped_ptr:p} is not where the memory object is mapped");
            };
            maps.remove(index)
        };
        let done = match mapped.end {
            MapEnd::Copy(Some(back)) => copy_rect(&queue, &back, &waits)?,
            MapEnd::Copy(None) => queue.clr.enqueue_marker(&waits).map_err(code)?,
            // SAFETY: the memory lives until the queue's commands have ended; the caller does not use the pointer any more.
            MapEnd::Memory(mapping) => unsafe { queue.clr.enqueue_unmap(mapping, &waits) }.map_err(code)?,
        };
        give(event, &queue, CL_COMMAND_UNMAP_MEM_OBJECT, done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(origin: [usize; 3]) -> Box3 {
        Box3 {
            origin,
            row: 16,
            slice: 64,
        }
    }

    #[test]
    fn rectangles_of_one_buffer_overlap_as_the_specification_says() {
        let region = [4, 2, 2];
        assert!(overlap(&at([0, 0, 0]), &at([3, 1, 1]), region));
        assert!(!overlap(&at([0, 0, 0]), &at([4, 0, 0]), region));
        assert!(!overlap(&at([0, 0, 0]), &at([0, 2, 0]), region));
        assert!(!overlap(&at([0, 0, 0]), &at([0, 0, 2]), region));
        // The end of a row and the start of the next one.
        assert!(overlap(&at([14, 0, 0]), &at([0, 1, 0]), region));
    }

    #[test]
    fn map_flags_that_contradict_each_other_are_refused() {
        assert_eq!(map_access(CL_MAP_READ), Ok(MapAccess::Read));
        assert_eq!(
            map_access(CL_MAP_READ | CL_MAP_WRITE),
            Ok(MapAccess::ReadWrite)
        );
        assert_eq!(
            map_access(CL_MAP_WRITE_INVALIDATE_REGION),
            Ok(MapAccess::WriteAll)
        );
        assert_eq!(
            map_access(CL_MAP_WRITE_INVALIDATE_REGION | CL_MAP_READ),
            Err(CL_INVALID_VALUE)
        );
        assert_eq!(map_access(1 << 9), Err(CL_INVALID_VALUE));
    }
}
