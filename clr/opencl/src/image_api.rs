//! The functions of images.

use std::{ffi::c_void, sync::Arc};

use gneiss_clr::{CopyRect, FillRect, ImageAccess, Rect};

use crate::{
    cl_api,
    constants::*,
    error::{Result, code},
    event::{give, give_after, wait_list},
    fail,
    handle::get,
    image::{Image, create, fits_flags, geometry},
    image_format::Format,
    info::Query,
    memory::{MapEnd, Mapped, Mem},
    queue::{Queue, host},
    transfer::{check_map_flags, check_range, copy_rect, host_may, mem, three},
    types::*,
};

/// An image that a queue may use.
fn image_mem(queue: &Arc<Queue>, handle: cl_mem) -> Result<Arc<Mem>> {
    let mem = mem(queue, handle)?;
    if !queue.device.images() {
        return fail!(CL_INVALID_OPERATION, "the queue's device has no images");
    }
    image_of(&mem)?;
    Ok(mem)
}

fn image_of(mem: &Mem) -> Result<&Image> {
    match &mem.image {
        Some(image) => Ok(image),
        None => fail!(CL_INVALID_MEM_OBJECT, "the memory object is no image"),
    }
}

/// A region of the program's memory.
fn host_rect(
    image: &Image,
    pointer: *const c_void,
    region: [usize; 3],
    row: usize,
    slice: usize,
) -> Result<Rect> {
    if pointer.is_null() {
        return fail!(CL_INVALID_VALUE, "the host pointer is null");
    }
    let least = region[0] * image.format.size();
    let row_pitch = if row == 0 { least } else { row };
    // Layers of one dimension follow each other by the slice pitch.
    let rows = if image.is_1d_array() { 1 } else { region[1] };
    let slice_pitch = if slice == 0 { row_pitch * rows } else { slice };
    if row_pitch < least || slice_pitch < row_pitch * rows || (slice != 0 && !image.has_slices()) {
        return fail!(
            CL_INVALID_VALUE,
            "pitches {row} and {slice} for a region of {region:?}"
        );
    }
    Ok(Rect {
        address: pointer.expose_provenance() as u64,
        row_pitch: if image.is_1d_array() {
            slice_pitch
        } else {
            row_pitch
        },
        slice_pitch: if image.is_1d_array() {
            slice_pitch * region[1]
        } else {
            slice_pitch
        },
    })
}

/// A buffer's bytes as the rows of a region.
fn buffer_rect(buffer: &Mem, offset: usize, bytes: [usize; 3]) -> Result<Rect> {
    let size = bytes
        .iter()
        .fold(1_usize, |size, part| size.saturating_mul(*part));
    check_range(buffer, offset, size)?;
    Ok(Rect {
        address: buffer.address()? + offset as u64,
        row_pitch: bytes[0],
        slice_pitch: bytes[0] * bytes[1],
    })
}

fn overlap(a: [usize; 3], b: [usize; 3], region: [usize; 3]) -> bool {
    (0..3).all(|axis| a[axis].abs_diff(b[axis]) < region[axis])
}

/// A description of the older functions.
fn described(
    image_type: cl_uint,
    [width, height, depth]: [usize; 3],
    row_pitch: usize,
    slice_pitch: usize,
) -> cl_image_desc {
    cl_image_desc {
        image_type,
        image_width: width,
        image_height: height,
        image_depth: depth,
        image_array_size: 0,
        image_row_pitch: row_pitch,
        image_slice_pitch: slice_pitch,
        num_mip_levels: 0,
        num_samples: 0,
        mem_object: std::ptr::null_mut(),
    }
}

/// Maps a region; gives the command and where the texels will be.
fn map(
    queue: &Queue,
    mem: &Mem,
    flags: cl_bitfield,
    origin: [usize; 3],
    region: [usize; 3],
    waits: &[gneiss_clr::Event],
) -> Result<(gneiss_clr::Event, usize)> {
    let image = image_of(mem)?;
    let writes = check_map_flags(flags)?;
    host_may(mem, flags & CL_MAP_READ != 0, writes)?;
    let rect = image.rect(mem.address()?, origin);
    if mem.host_ptr() != 0 {
        let [row, slice] = image.shown;
        let [y, z] = if image.is_1d_array() {
            [slice, slice * image.extent[1]]
        } else {
            [row, slice.max(row * image.extent[1])]
        };
        let start =
            mem.host_ptr() + origin[0] * image.format.size() + origin[1] * y + origin[2] * z;
        let host = Rect {
            address: start as u64,
            row_pitch: y,
            slice_pitch: z,
        };
        let back = CopyRect {
            dst: rect,
            src: host,
            extent: image.bytes_of(region),
        };
        let event = if flags & CL_MAP_WRITE_INVALIDATE_REGION != 0 {
            queue.clr.enqueue_marker(waits).map_err(code)?
        } else {
            let there = CopyRect {
                dst: host,
                src: rect,
                ..back
            };
            copy_rect(queue, &there, waits)?
        };
        mem.maps.lock().push(Mapped {
            pointer: start,
            end: MapEnd::Copy(writes.then_some(back)),
        });
        return Ok((event, start));
    }
    let offset = (rect.address - mem.address()?) as usize;
    let last = image.bytes_of(region);
    let size = (region[2] - 1) * image.pitches[1] + (region[1] - 1) * image.pitches[0] + last[0];
    crate::transfer::map(queue, mem, flags, offset, size, waits)
}

cl_api! {
    /// Makes an image.
    create fn clCreateImage(
        context: cl_context, flags: cl_bitfield, image_format: In<cl_image_format>, image_desc: In<cl_image_desc>, host_ptr: *mut c_void,
    ) -> cl_mem {
        create(get(context)?, flags, image_format, image_desc, host_ptr, None)
    }

    /// Makes an image with a list of properties, of which there are none.
    create fn clCreateImageWithProperties(
        context: cl_context, properties: In<cl_property>, flags: cl_bitfield, image_format: In<cl_image_format>,
        image_desc: In<cl_image_desc>, host_ptr: *mut c_void,
    ) -> cl_mem {
        let context = get(context)?;
        if let Some((name, _)) = properties.pairs().first() {
            return fail!(CL_INVALID_PROPERTY, "an image cannot have property {name:#x}");
        }
        let list = (!properties.is_null()).then(|| vec![0]);
        create(context, flags, image_format, image_desc, host_ptr, list)
    }

    /// Makes an image of two dimensions.
    create fn clCreateImage2D(
        context: cl_context, flags: cl_bitfield, image_format: In<cl_image_format>, image_width: usize, image_height: usize,
        image_row_pitch: usize, host_ptr: *mut c_void,
    ) -> cl_mem {
        if image_width == 0 || image_height == 0 {
            return Err(CL_INVALID_IMAGE_SIZE);
        }
        let desc = described(CL_MEM_OBJECT_IMAGE2D, [image_width, image_height, 1], image_row_pitch, 0);
        create(get(context)?, flags, image_format, In::new(&raw const desc), host_ptr, None)
    }

    /// Makes an image of three dimensions.
    create fn clCreateImage3D(
        context: cl_context, flags: cl_bitfield, image_format: In<cl_image_format>, image_width: usize, image_height: usize,
        image_depth: usize, image_row_pitch: usize, image_slice_pitch: usize, host_ptr: *mut c_void,
    ) -> cl_mem {
        if image_width == 0 || image_height == 0 || image_depth <= 1 {
            return Err(CL_INVALID_IMAGE_SIZE);
        }
        let desc = described(CL_MEM_OBJECT_IMAGE3D, [image_width, image_height, image_depth], image_row_pitch, image_slice_pitch);
        create(get(context)?, flags, image_format, In::new(&raw const desc), host_ptr, None)
    }

    /// Lists the formats of images.
    fn clGetSupportedImageFormats(
        context: cl_context, flags: cl_bitfield, image_type: cl_uint, num_entries: cl_uint, image_formats: Out<cl_image_format>,
        num_image_formats: Out<cl_uint>,
    ) {
        let context = get(context)?;
        let Some(geometry) = geometry(image_type) else {
            return fail!(CL_INVALID_VALUE, "images of type {image_type:#x}");
        };
        if num_entries == 0 && !image_formats.is_null() {
            return fail!(CL_INVALID_VALUE, "no place for formats");
        }
        let access = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
        if (flags & access).count_ones() > 1 {
            return fail!(CL_INVALID_VALUE, "memory flags {flags:#x}");
        }
        let fits = |format: &Format| {
            context.devices.iter().filter(|device| device.images()).any(|device| {
                fits_flags(ImageAccess::of(&device.clr, geometry, format.kind, format.order), flags)
            })
        };
        let formats: Vec<_> = Format::all().filter(fits).map(|format| format.cl).collect();
        for (index, format) in formats.iter().take(num_entries as usize).enumerate() {
            image_formats.put(index, *format);
        }
        num_image_formats.set(formats.len() as cl_uint);
        Ok(())
    }

    /// Says what an image is.
    fn clGetImageInfo(
        image: cl_mem, param_name: cl_name, param_value_size: usize, param_value: *mut c_void, param_value_size_ret: Out<usize>,
    ) {
        let mem = get(image)?;
        let image = image_of(&mem)?;
        let query = Query { size: param_value_size, value: param_value, needed: param_value_size_ret };
        let kind = mem.kind;
        let height = matches!(kind, CL_MEM_OBJECT_IMAGE2D | CL_MEM_OBJECT_IMAGE2D_ARRAY | CL_MEM_OBJECT_IMAGE3D);
        let layers = match kind {
            CL_MEM_OBJECT_IMAGE1D_ARRAY => image.extent[1],
            CL_MEM_OBJECT_IMAGE2D_ARRAY => image.extent[2],
            _ => 0,
        };
        match param_name {
            CL_IMAGE_FORMAT => query.value(image.format.cl),
            CL_IMAGE_ELEMENT_SIZE => query.value(image.format.size()),
            CL_IMAGE_ROW_PITCH => query.value(image.stated[0]),
            CL_IMAGE_SLICE_PITCH => query.value(image.stated[1]),
            CL_IMAGE_WIDTH => query.value(image.extent[0]),
            CL_IMAGE_HEIGHT => query.value(if height { image.extent[1] } else { 0 }),
            CL_IMAGE_DEPTH => query.value(if kind == CL_MEM_OBJECT_IMAGE3D { image.extent[2] } else { 0 }),
            CL_IMAGE_ARRAY_SIZE => query.value(layers),
            CL_IMAGE_BUFFER => query.value(mem.parent()),
            CL_IMAGE_NUM_MIP_LEVELS | CL_IMAGE_NUM_SAMPLES => query.value(0 as cl_uint),
            name => query.unknown(name),
        }
    }

    /// Reads a region of an image.
    fn clEnqueueReadImage(
        command_queue: cl_command_queue, image_: cl_mem, blocking_read: cl_bool, origin: In<usize>, region: In<usize>,
        row_pitch: usize, slice_pitch: usize, ptr: *mut c_void, num_events_in_wait_list: cl_uint, event_wait_list: In<cl_event>,
        event: Out<cl_event>,
    ) {
        let queue = host(command_queue)?;
        let mem = image_mem(&queue, image_)?;
        let image = image_of(&mem)?;
        let waits = wait_list(&queue.context, num_events_in_wait_list, event_wait_list)?;
        let (origin, region) = (three(origin)?, three(region)?);
        image.check_region(origin, region)?;
        let dst = host_rect(image, ptr, region, row_pitch, slice_pitch)?;
        host_may(&mem, true, false)?;
        let src = image.rect(mem.address()?, origin);
        let done = copy_rect(&queue, &CopyRect { dst, src, extent: image.bytes_of(region) }, &waits)?;
        give_after(blocking_read != 0, event, &queue, CL_COMMAND_READ_IMAGE, done)
    }

    /// Writes a region of an image.
    fn clEnqueueWriteImage(
        command_queue: cl_command_queue, image_: cl_mem, blocking_write: cl_bool, origin: In<usize>, region: In<usize>,
        input_row_pitch: usize, input_slice_pitch: usize, ptr: *const c_void, num_events_in_wait_list: cl_uint,
        event_wait_list: In<cl_event>, event: Out<cl_event>,
    ) {
        let queue = host(command_queue)?;
        let mem = image_mem(&queue, image_)?;
        let image = image_of(&mem)?;
        let waits = wait_list(&queue.context, num_events_in_wait_list, event_wait_list)?;
        let (origin, region) = (three(origin)?, three(region)?);
        image.check_region(origin, region)?;
        let src = host_rect(image, ptr, region, input_row_pitch, input_slice_pitch)?;
        host_may(&mem, false, true)?;
        let dst = image.rect(mem.address()?, origin);
        let done = copy_rect(&queue, &CopyRect { dst, src, extent: image.bytes_of(region) }, &waits)?;
        give_after(blocking_write != 0, event, &queue, CL_COMMAND_WRITE_IMAGE, done)
    }

    /// Copies a region from image to image.
    fn clEnqueueCopyImage(
        command_queue: cl_command_queue, src_image: cl_mem, dst_image: cl_mem, src_origin: In<usize>, dst_origin: In<usize>,
        region: In<usize>, num_events_in_wait_list: cl_uint, event_wait_list: In<cl_event>, event: Out<cl_event>,
    ) {
        let queue = host(command_queue)?;
        let (src, dst) = (image_mem(&queue, src_image)?, image_mem(&queue, dst_image)?);
        let (from, to) = (image_of(&src)?, image_of(&dst)?);
        let waits = wait_list(&queue.context, num_events_in_wait_list, event_wait_list)?;
        if from.format.cl != to.format.cl {
            return fail!(CL_IMAGE_FORMAT_MISMATCH, "{:?} and {:?}", from.format.cl, to.format.cl);
        }
        let (src_origin, dst_origin, region) = (three(src_origin)?, three(dst_origin)?, three(region)?);
        from.check_region(src_origin, region)?;
        to.check_region(dst_origin, region)?;
        if Arc::ptr_eq(&src, &dst) && overlap(src_origin, dst_origin, region) {
            return fail!(CL_MEM_COPY_OVERLAP, "source and destination overlap");
        }
        let (src_rect, dst_rect) = (from.rect(src.address()?, src_origin), to.rect(dst.address()?, dst_origin));
        let copy = CopyRect { dst: dst_rect, src: src_rect, extent: from.bytes_of(region) };
        let done = copy_rect(&queue, &copy, &waits)?;
        give(event, &queue, CL_COMMAND_COPY_IMAGE, done)
    }

    /// Copies a region of an image to a buffer.
    fn clEnqueueCopyImageToBuffer(
        command_queue: cl_command_queue, src_image: cl_mem, dst_buffer: cl_mem, src_origin: In<usize>, region: In<usize>,
        dst_offset: usize, num_events_in_wait_list: cl_uint, event_wait_list: In<cl_event>, event: Out<cl_event>,
    ) {
        let queue = host(command_queue)?;
        let (src, dst) = (image_mem(&queue, src_image)?, mem(&queue, dst_buffer)?);
        let image = image_of(&src)?;
        if !dst.is_buffer() {
            return fail!(CL_INVALID_MEM_OBJECT, "the destination is no buffer");
        }
        let waits = wait_list(&queue.context, num_events_in_wait_list, event_wait_list)?;
        let (origin, region) = (three(src_origin)?, three(region)?);
        image.check_region(origin, region)?;
        let bytes = image.bytes_of(region);
        let to = buffer_rect(&dst, dst_offset, bytes)?;
        let copy = CopyRect { dst: to, src: image.rect(src.address()?, origin), extent: bytes };
        let done = copy_rect(&queue, &copy, &waits)?;
        give(event, &queue, CL_COMMAND_COPY_IMAGE_TO_BUFFER, done)
    }

    /// Copies a buffer to a region of an image.
    fn clEnqueueCopyBufferToImage(
        command_queue: cl_command_queue, src_buffer: cl_mem, dst_image: cl_mem, src_offset: usize, dst_origin: In<usize>,
        region: In<usize>, num_events_in_wait_list: cl_uint, event_wait_list: In<cl_event>, event: Out<cl_event>,
    ) {
        let queue = host(command_queue)?;
        let (src, dst) = (mem(&queue, src_buffer)?, image_mem(&queue, dst_image)?);
        let image = image_of(&dst)?;
        if !src.is_buffer() {
            return fail!(CL_INVALID_MEM_OBJECT, "the source is no buffer");
        }
        let waits = wait_list(&queue.context, num_events_in_wait_list, event_wait_list)?;
        let (origin, region) = (three(dst_origin)?, three(region)?);
        image.check_region(origin, region)?;
        let bytes = image.bytes_of(region);
        let from = buffer_rect(&src, src_offset, bytes)?;
        let copy = CopyRect { dst: image.rect(dst.address()?, origin), src: from, extent: bytes };
        let done = copy_rect(&queue, &copy, &waits)?;
        give(event, &queue, CL_COMMAND_COPY_BUFFER_TO_IMAGE, done)
    }

    /// Fills a region of an image with a colour.
    fn clEnqueueFillImage(
        command_queue: cl_command_queue, image_: cl_mem, fill_color: In<[u32; 4]>, origin: In<usize>, region: In<usize>,
        num_events_in_wait_list: cl_uint, event_wait_list: In<cl_event>, event: Out<cl_event>,
    ) {
        let queue = host(command_queue)?;
        let mem = image_mem(&queue, image_)?;
        let image = image_of(&mem)?;
        let waits = wait_list(&queue.context, num_events_in_wait_list, event_wait_list)?;
        let Some(colour) = fill_color.get() else {
            return fail!(CL_INVALID_VALUE, "no colour");
        };
        let (origin, region) = (three(origin)?, three(region)?);
        image.check_region(origin, region)?;
        let fill = FillRect { dst: image.rect(mem.address()?, origin), extent: image.bytes_of(region) };
        // SAFETY: the image lives until the queue's commands have ended.
        let done = unsafe { queue.clr.enqueue_fill_rect(&fill, &image.format.texel(colour), &waits) }.map_err(code)?;
        give(event, &queue, CL_COMMAND_FILL_IMAGE, done)
    }

    /// Maps a region of an image.
    create fn clEnqueueMapImage(
        command_queue: cl_command_queue, image_: cl_mem, blocking_map: cl_bool, map_flags: cl_bitfield, origin: In<usize>,
        region: In<usize>, image_row_pitch: Out<usize>, image_slice_pitch: Out<usize>, num_events_in_wait_list: cl_uint,
        event_wait_list: In<cl_event>, event: Out<cl_event>,
    ) -> *mut c_void {
        let queue = host(command_queue)?;
        let mem = image_mem(&queue, image_)?;
        let image = image_of(&mem)?;
        let waits = wait_list(&queue.context, num_events_in_wait_list, event_wait_list)?;
        let (origin, region) = (three(origin)?, three(region)?);
        image.check_region(origin, region)?;
        if image_row_pitch.is_null() || (image.has_slices() && image_slice_pitch.is_null()) {
            return fail!(CL_INVALID_VALUE, "no place for a pitch");
        }
        let (done, pointer) = map(&queue, &mem, map_flags, origin, region, &waits)?;
        image_row_pitch.set(image.shown[0]);
        image_slice_pitch.set(image.shown[1]);
        give_after(blocking_map != 0, event, &queue, CL_COMMAND_MAP_IMAGE, done)?;
        Ok(std::ptr::with_exposed_provenance_mut(pointer))
    }
}
