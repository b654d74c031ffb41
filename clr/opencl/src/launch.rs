//! Enqueuing kernels, functions of the program, markers and barriers.

use std::{cell::RefCell, ffi::c_void, sync::Arc};

use gneiss_clr::{Arguments, Launch, NdRange};

use crate::{
    cl_api,
    constants::*,
    context::UserData,
    device_info,
    error::{Result, code},
    event::{give, give_with, wait_list},
    fail,
    handle::get,
    kernel::{Kernel, OnDevice},
    queue::{Queue, host},
    types::*,
};

thread_local! {
    /// Room for the arguments of a launch.
    static BLOCK: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Sizes in up to three dimensions; 1 in the others.
fn sizes(dimensions: usize, list: In<usize>) -> Option<[usize; 3]> {
    let mut sizes = [1; 3];
    if list.is_null() {
        return None;
    }
    for (size, given) in sizes.iter_mut().zip(list.list(dimensions)) {
        *size = given;
    }
    Some(sizes)
}

/// A work-group for a grid where the program gives none: as many work-items of a row as divide it, then of the other dimensions.
fn choose_group(grid: [u32; 3], most: usize) -> [u32; 3] {
    let mut left = most as u32;
    grid.map(|size| {
        let best = (1..=size.min(left))
            .rev()
            .find(|group| size.is_multiple_of(*group));
        let best = best.unwrap_or(1);
        left /= best;
        best
    })
}

/// The work-group of a launch.
fn group(
    kernel: &Kernel,
    on: &OnDevice,
    grid: [u32; 3],
    local: Option<[usize; 3]>,
) -> Result<[u32; 3]> {
    let required = on.clr.metadata().reqd_workgroup_size;
    let most = Kernel::max_group(on);
    let Some(local) = local else {
        return Ok(required.unwrap_or_else(|| choose_group(grid, most)));
    };
    if let Some(required) = required
        && required.map(|size| size as usize) != local
    {
        return fail!(
            CL_INVALID_WORK_GROUP_SIZE,
            "kernel {} wants groups of {required:?}, not {local:?}",
            kernel.name
        );
    }
    let limits = device_info::max_work_item_sizes(&on.device);
    for (size, limit) in local.iter().zip(limits) {
        if *size > limit {
            return fail!(
                CL_INVALID_WORK_ITEM_SIZE,
                "a work-group of {local:?}: at most {limits:?}"
            );
        }
    }
    let size = local
        .iter()
        .fold(1_usize, |product, size| product.saturating_mul(*size));
    if size == 0 || size > most {
        return fail!(
            CL_INVALID_WORK_GROUP_SIZE,
            "a work-group of {local:?}: kernel {} has at most {most} work-items",
            kernel.name
        );
    }
    let group = local.map(|size| size as u32);
    if on.uniform
        && grid
            .iter()
            .zip(group)
            .any(|(grid, group)| !grid.is_multiple_of(group))
    {
        return fail!(
            CL_INVALID_WORK_GROUP_SIZE,
            "{grid:?} is no multiple of {group:?}, and the program is compiled for groups of one size"
        );
    }
    Ok(group)
}

/// Enqueues a kernel; gives the command's event, and the kernel's own where children are a part of the command.
fn enqueue(
    queue: &Queue,
    kernel: &Kernel,
    dimensions: cl_uint,
    offset: In<usize>,
    global: In<usize>,
    local: In<usize>,
    waits: &[gneiss_clr::Event],
) -> Result<(gneiss_clr::Event, Option<gneiss_clr::Event>)> {
    if !Arc::ptr_eq(&kernel.program.context, &queue.context) {
        return fail!(
            CL_INVALID_CONTEXT,
            "kernel and queue belong to different contexts"
        );
    }
    let Some(on) = kernel.on(&queue.device) else {
        return fail!(
            CL_INVALID_PROGRAM_EXECUTABLE,
            "kernel {} is not built for the queue's device",
            kernel.name
        );
    };
    if !(1..=3).contains(&dimensions) {
        return fail!(CL_INVALID_WORK_DIMENSION, "{dimensions} dimensions");
    }
    let dimensions = dimensions as usize;
    let offset = sizes(dimensions, offset).map_or([0; 3], |mut offset| {
        offset[dimensions..].fill(0);
        offset
    });
    let global = sizes(dimensions, global).unwrap_or([0; 3]);
    let local = sizes(dimensions, local);
    BLOCK.with_borrow_mut(|block| {
        let dynamic_shared = kernel.pack(on, block)?;
        if global.contains(&0) {
            // Nothing runs, but the command takes its place in the order.
            let marker = queue.clr.enqueue_marker(waits).map_err(code)?;
            return Ok((marker, None));
        }
        let mut grid = [0_u32; 3];
        for axis in 0..3 {
            match u32::try_from(global[axis]) {
                Ok(size) => grid[axis] = size,
                Err(_) => return fail!(CL_INVALID_GLOBAL_WORK_SIZE, "a grid of {global:?}"),
            }
            if offset[axis].checked_add(global[axis]).is_none() {
                return fail!(
                    CL_INVALID_GLOBAL_OFFSET,
                    "a grid of {global:?} from {offset:?} on"
                );
            }
        }
        let launch = Launch {
            kernel: &on.clr,
            grid,
            block: group(kernel, on, grid, local)?,
            dynamic_shared,
            arguments: Arguments::Packed(block),
            cooperative: false,
            any_order: false,
        };
        let range = NdRange {
            offset: offset.map(|offset| offset as u64),
            dimensions: dimensions as u8,
        };
        if on.clr.enqueues() {
            let queues = queue.context.on_device(&queue.device)?;
            let shared = queues.shared(&queue.device)?;
            let default = queues.default_queue();
            let default = default.as_ref().and_then(|queue| queue.on_device());
            // SAFETY: the arguments are packed; what the kernel and its children do with memory is the program's.
            let parent =
                unsafe { (queue.clr).enqueue_parent(&launch, range, &shared, default, waits) };
            let parent = parent.map_err(code)?;
            return Ok((parent.family, Some(parent.kernel)));
        }
        // SAFETY: the arguments are packed; what the kernel does with memory is the program's.
        let event = unsafe { queue.clr.enqueue_kernel_at(&launch, range, waits) };
        Ok((event.map_err(code)?, None))
    })
}

/// A native kernel's arguments: a copy of the program's bytes, in which memory objects are replaced by addresses.
fn native_arguments(
    args: *mut c_void,
    size: usize,
    mems: &[cl_mem],
    places: &[usize],
) -> Result<Vec<u64>> {
    let bytes: In<u8> = In::new(args.cast_const().cast());
    let mut copy = vec![0_u64; size.div_ceil(8)];
    let target = copy.as_mut_ptr().cast::<u8>();
    for (index, byte) in bytes.list(size).into_iter().enumerate() {
        // SAFETY: the copy is at least that long.
        unsafe { target.add(index).write(byte) };
    }
    for (handle, place) in mems.iter().zip(places) {
        let mem = get(*handle)?;
        let Some(host) = mem.storage()?.memory.host_address() else {
            return fail!(
                CL_INVALID_OPERATION,
                "native kernels: the host cannot access the device's memory"
            );
        };
        let offset = place.wrapping_sub(args.addr());
        if offset > size.saturating_sub(size_of::<usize>()) {
            return fail!(
                CL_INVALID_VALUE,
                "a place of a memory object outside of the arguments"
            );
        }
        let address = host + mem.offset()?;
        // SAFETY: the place is in the copy.
        unsafe { target.add(offset).cast::<usize>().write_unaligned(address) };
    }
    Ok(copy)
}

cl_api! {
    /// Enqueues a kernel.
    fn clEnqueueNDRangeKernel(
        command_queue: cl_command_queue, kernel: cl_kernel, work_dim: cl_uint, global_work_offset: In<usize>,
        global_work_size: In<usize>, local_work_size: In<usize>, num_events_in_wait_list: cl_uint, event_wait_list: In<cl_event>,
        event: Out<cl_event>,
    ) {
        let queue = host(command_queue)?;
        let kernel = get(kernel)?;
        let waits = wait_list(&queue.context, num_events_in_wait_list, event_wait_list)?;
        let (done, own) = enqueue(&queue, &kernel, work_dim, global_work_offset, global_work_size, local_work_size, &waits)?;
        give_with(event, &queue, CL_COMMAND_NDRANGE_KERNEL, done, own)
    }

    /// Enqueues a kernel of one work-item.
    fn clEnqueueTask(
        command_queue: cl_command_queue, kernel: cl_kernel, num_events_in_wait_list: cl_uint, event_wait_list: In<cl_event>,
        event: Out<cl_event>,
    ) {
        let queue = host(command_queue)?;
        let kernel = get(kernel)?;
        let waits = wait_list(&queue.context, num_events_in_wait_list, event_wait_list)?;
        let one = [1_usize];
        let one = In::new(one.as_ptr());
        let (done, own) = enqueue(&queue, &kernel, 1, In::new(std::ptr::null()), one, one, &waits)?;
        give_with(event, &queue, CL_COMMAND_TASK, done, own)
    }

    /// Enqueues a function of the program.
    fn clEnqueueNativeKernel(
        command_queue: cl_command_queue, user_func: NativeFunction, args: *mut c_void, cb_args: usize, num_mem_objects: cl_uint,
        mem_list: In<cl_mem>, args_mem_loc: In<usize>, num_events_in_wait_list: cl_uint, event_wait_list: In<cl_event>,
        event: Out<cl_event>,
    ) {
        let queue = host(command_queue)?;
        let waits = wait_list(&queue.context, num_events_in_wait_list, event_wait_list)?;
        let Some(function) = user_func else {
            return fail!(CL_INVALID_VALUE, "no function");
        };
        let nothing = args.is_null() && (cb_args > 0 || num_mem_objects > 0);
        let lists = (num_mem_objects == 0) != mem_list.is_null() || (num_mem_objects == 0) != args_mem_loc.is_null();
        if nothing || (!args.is_null() && cb_args == 0) || lists {
            return fail!(CL_INVALID_VALUE, "{cb_args} bytes of arguments at {args:p} with {num_mem_objects} memory objects");
        }
        let mems = mem_list.list(num_mem_objects as usize);
        let places = args_mem_loc.list(num_mem_objects as usize);
        let mut copy = native_arguments(args, cb_args, &mems, &places)?;
        let none = UserData(args);
        let done = queue.clr.enqueue_native(
            move || {
                let arguments = if copy.is_empty() { none.get() } else { copy.as_mut_ptr().cast() };
                // SAFETY: the program has given the function for this.
                unsafe { function(arguments) };
            },
            &waits,
        );
        give(event, &queue, CL_COMMAND_NATIVE_KERNEL, done.map_err(code)?)
    }

    /// Enqueues a marker.
    fn clEnqueueMarkerWithWaitList(
        command_queue: cl_command_queue, num_events_in_wait_list: cl_uint, event_wait_list: In<cl_event>, event: Out<cl_event>,
    ) {
        let queue = host(command_queue)?;
        let waits = wait_list(&queue.context, num_events_in_wait_list, event_wait_list)?;
        let done = queue.clr.enqueue_marker(&waits).map_err(code)?;
        give(event, &queue, CL_COMMAND_MARKER, done)
    }

    /// Enqueues a barrier.
    fn clEnqueueBarrierWithWaitList(
        command_queue: cl_command_queue, num_events_in_wait_list: cl_uint, event_wait_list: In<cl_event>, event: Out<cl_event>,
    ) {
        let queue = host(command_queue)?;
        let waits = wait_list(&queue.context, num_events_in_wait_list, event_wait_list)?;
        let done = queue.clr.enqueue_barrier(&waits).map_err(code)?;
        give(event, &queue, CL_COMMAND_BARRIER, done)
    }

    /// Enqueues a marker for all that is before it (OpenCL 1.0).
    fn clEnqueueMarker(command_queue: cl_command_queue, event: Out<cl_event>) {
        let queue = host(command_queue)?;
        if event.is_null() {
            return fail!(CL_INVALID_VALUE, "no place for the event");
        }
        let done = queue.clr.enqueue_marker(&[]).map_err(code)?;
        give(event, &queue, CL_COMMAND_MARKER, done)
    }

    /// Enqueues a wait (OpenCL 1.0): later commands wait for the events.
    fn clEnqueueWaitForEvents(command_queue: cl_command_queue, num_events: cl_uint, event_list: In<cl_event>) {
        let queue = host(command_queue)?;
        if num_events == 0 || event_list.is_null() {
            return fail!(CL_INVALID_VALUE, "no events");
        }
        let waits = wait_list(&queue.context, num_events, event_list).map_err(|code| match code {
            CL_INVALID_EVENT_WAIT_LIST => CL_INVALID_EVENT,
            code => code,
        })?;
        queue.clr.enqueue_barrier(&waits).map(drop).map_err(code)
    }

    /// Enqueues a barrier for all that is before it (OpenCL 1.0).
    fn clEnqueueBarrier(command_queue: cl_command_queue) {
        host(command_queue)?.clr.enqueue_barrier(&[]).map(drop).map_err(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_divide_the_grid() {
        assert_eq!(choose_group([1024, 1, 1], 256), [256, 1, 1]);
        assert_eq!(choose_group([100, 7, 1], 256), [100, 1, 1]);
        assert_eq!(choose_group([8, 8, 8], 256), [8, 8, 4]);
        assert_eq!(choose_group([257, 1, 1], 256), [1, 1, 1]);
        assert_eq!(choose_group([1, 1, 6], 256), [1, 1, 6]);
    }
}
