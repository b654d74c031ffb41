//! Shared virtual memory: host memory that all devices use at the same addresses, coherently and with atomics.

use std::{
    ffi::c_void,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use gneiss_clr::{HostFlags, MemoryKind};

use crate::{
    cl_api,
    constants::*,
    context::{Context, UserData},
    defer,
    device_info::{BASE_ALIGN, max_allocation},
    entry,
    error::{Result, code},
    event::{give, give_after, wait_list},
    fail,
    handle::{Object as _, get},
    queue::{Queue, host},
    runtime, transfer,
    types::*,
};

const FLAGS: cl_bitfield = CL_MEM_READ_WRITE
    | CL_MEM_WRITE_ONLY
    | CL_MEM_READ_ONLY
    | CL_MEM_SVM_FINE_GRAIN_BUFFER
    | CL_MEM_SVM_ATOMICS;

fn allocate(
    context: &Context,
    flags: cl_bitfield,
    size: usize,
    alignment: cl_uint,
) -> Result<*mut c_void> {
    let access = flags & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY);
    let atomics = flags & CL_MEM_SVM_ATOMICS != 0 && flags & CL_MEM_SVM_FINE_GRAIN_BUFFER == 0;
    if flags & !FLAGS != 0 || access.count_ones() > 1 || atomics {
        return fail!(
            CL_INVALID_VALUE,
            "flags {flags:#x} of shared virtual memory"
        );
    }
    let alignment = alignment as usize;
    if alignment != 0 && (!alignment.is_power_of_two() || alignment > BASE_ALIGN) {
        return fail!(
            CL_INVALID_VALUE,
            "shared virtual memory aligned to {alignment}"
        );
    }
    let device = &context.devices[0].clr;
    if size == 0 || size > max_allocation(&context.devices[0]) {
        return fail!(CL_INVALID_VALUE, "{size} bytes of shared virtual memory");
    }
    let flags = HostFlags::COHERENT | HostFlags::MAPPED | HostFlags::PORTABLE;
    // Whole pages: aligned for every type.
    let memory = runtime::started()?
        .clr
        .allocate_host(device, size, flags)
        .map_err(code)?;
    Ok(std::ptr::with_exposed_provenance_mut(
        memory.device_address() as usize,
    ))
}

/// Frees an allocation when no command can use it any more.
fn free(context: &Context, pointer: *mut c_void) -> Result {
    let address = pointer.expose_provenance();
    let clr = &runtime::started()?.clr;
    match clr.find_memory(address) {
        Some((memory, 0)) if memory.kind() == MemoryKind::Host => {}
        _ => {
            return fail!(
                CL_INVALID_VALUE,
                "{pointer:p} is not the start of shared virtual memory"
            );
        }
    }
    defer::when_idle(&context.devices, move || {
        if let Err(error) = clr.free(address) {
            code(error);
        }
    });
    Ok(())
}

/// Allocates shared virtual memory; null if that cannot be.
///
/// # Safety
///
/// Pointers must be null or valid as the OpenCL specification of this function says.
pub unsafe extern "C" fn clSVMAlloc(
    context: cl_context,
    flags: cl_bitfield,
    size: usize,
    alignment: cl_uint,
) -> *mut c_void {
    static SITE: entry::Site = entry::Site {
        name: "clSVMAlloc",
        file: file!(),
        line: line!(),
        trace: gneiss_clr::trace::NameId::new(),
    };
    let nowhere = Out::null();
    entry::create(&SITE, nowhere, || {
        allocate(&*get(context)?, flags, size, alignment)
    })
}

/// Frees shared virtual memory.
///
/// # Safety
///
/// Pointers must be null or valid as the OpenCL specification of this function says.
pub unsafe extern "C" fn clSVMFree(context: cl_context, svm_pointer: *mut c_void) {
    static SITE: entry::Site = entry::Site {
        name: "clSVMFree",
        file: file!(),
        line: line!(),
        trace: gneiss_clr::trace::NameId::new(),
    };
    entry::status(&SITE, || {
        let context = get(context)?;
        if svm_pointer.is_null() {
            return Ok(());
        }
        free(&context, svm_pointer)
    });
}

/// Checks that a range can be used by the host and the device.
fn range(pointer: *const c_void, size: usize) -> Result<u64> {
    let address = pointer.expose_provenance();
    if pointer.is_null() {
        return fail!(CL_INVALID_VALUE, "the pointer is null");
    }
    let found = runtime::started()?.clr.find_memory(address);
    if found.is_some_and(|(memory, offset)| size > memory.size() - offset) {
        return fail!(
            CL_INVALID_VALUE,
            "{size} bytes at {pointer:p} go over the end of an allocation"
        );
    }
    Ok(address as u64)
}

/// A command that frees: the program's function does, or we do.
fn enqueue_free(
    queue: &Arc<Queue>,
    pointers: Vec<usize>,
    function: SvmFree,
    data: *mut c_void,
    waits: &[gneiss_clr::Event],
) -> Result<gneiss_clr::Event> {
    let data = UserData(data);
    let owner = Arc::clone(queue);
    let work = move |_| {
        if let Some(function) = function {
            let mut list: Vec<*mut c_void> = pointers
                .iter()
                .map(|pointer| std::ptr::with_exposed_provenance_mut(*pointer))
                .collect();
            let handle = owner.handle().raw();
            // SAFETY: the program has given the function for this.
            unsafe { function(handle, list.len() as cl_uint, list.as_mut_ptr(), data.get()) };
            return;
        }
        let freed = catch_unwind(AssertUnwindSafe(|| {
            for pointer in &pointers {
                if let Ok(runtime) = runtime::started()
                    && let Err(error) = runtime.clr.free(*pointer)
                {
                    code(error);
                }
            }
        }));
        drop(freed);
    };
    queue
        .clr
        .enqueue_host_function(Box::new(work), true, waits)
        .map_err(code)
}

cl_api! {
    /// Enqueues the freeing of shared virtual memory.
    fn clEnqueueSVMFree(
        command_queue: cl_command_queue, num_svm_pointers: cl_uint, svm_pointers: In<usize>, pfn_free_func: SvmFree,
        user_data: *mut c_void, num_events_in_wait_list: cl_uint, event_wait_list: In<cl_event>, event: Out<cl_event>,
    ) {
        let queue = host(command_queue)?;
        let waits = wait_list(&queue.context, num_events_in_wait_list, event_wait_list)?;
        if (num_svm_pointers == 0) != svm_pointers.is_null() {
            return fail!(CL_INVALID_VALUE, "{num_svm_pointers} pointers at {:?}", svm_pointers.pointer());
        }
        let pointers = svm_pointers.list(num_svm_pointers as usize);
        let done = enqueue_free(&queue, pointers, pfn_free_func, user_data, &waits)?;
        give(event, &queue, CL_COMMAND_SVM_FREE, done)
    }

    /// Enqueues a copy.
    fn clEnqueueSVMMemcpy(
        command_queue: cl_command_queue, blocking_copy: cl_bool, dst_ptr: *mut c_void, src_ptr: *const c_void, size: usize,
        num_events_in_wait_list: cl_uint, event_wait_list: In<cl_event>, event: Out<cl_event>,
    ) {
        let queue = host(command_queue)?;
        let waits = wait_list(&queue.context, num_events_in_wait_list, event_wait_list)?;
        let (dst, src) = (range(dst_ptr, size)?, range(src_ptr, size)?);
        if dst.abs_diff(src) < size as u64 {
            return fail!(CL_MEM_COPY_OVERLAP, "source and destination overlap");
        }
        let done = if size == 0 {
            queue.clr.enqueue_marker(&waits)
        } else {
            // SAFETY: both live until the command has ended, by the contract of the call.
            unsafe { queue.clr.enqueue_svm_copy(dst, src, size, &waits) }
        };
        give_after(blocking_copy != 0, event, &queue, CL_COMMAND_SVM_MEMCPY, done.map_err(code)?)
    }

    /// Enqueues a fill.
    fn clEnqueueSVMMemFill(
        command_queue: cl_command_queue, svm_ptr: *mut c_void, pattern: In<u8>, pattern_size: usize, size: usize,
        num_events_in_wait_list: cl_uint, event_wait_list: In<cl_event>, event: Out<cl_event>,
    ) {
        let queue = host(command_queue)?;
        let waits = wait_list(&queue.context, num_events_in_wait_list, event_wait_list)?;
        let bytes = transfer::pattern(pattern, pattern_size)?;
        let address = range(svm_ptr, size)?;
        if !size.is_multiple_of(pattern_size) || !address.is_multiple_of(pattern_size as u64) {
            return fail!(CL_INVALID_VALUE, "{size} bytes at {svm_ptr:p} for a pattern of {pattern_size}");
        }
        let done = transfer::fill(&queue, address, &bytes, size, &waits)?;
        give(event, &queue, CL_COMMAND_SVM_MEMFILL, done)
    }

    /// Enqueues a map, which takes its place in the order.
    fn clEnqueueSVMMap(
        command_queue: cl_command_queue, blocking_map: cl_bool, flags: cl_bitfield, svm_ptr: *mut c_void, size: usize,
        num_events_in_wait_list: cl_uint, event_wait_list: In<cl_event>, event: Out<cl_event>,
    ) {
        let queue = host(command_queue)?;
        let waits = wait_list(&queue.context, num_events_in_wait_list, event_wait_list)?;
        transfer::check_map_flags(flags)?;
        if size == 0 {
            return fail!(CL_INVALID_VALUE, "a map without bytes");
        }
        let address = range(svm_ptr, size)?;
        let done = queue.clr.enqueue_svm_map(address, &waits).map_err(code)?;
        give_after(blocking_map != 0, event, &queue, CL_COMMAND_SVM_MAP, done)
    }

    /// Enqueues the end of a map.
    fn clEnqueueSVMUnmap(
        command_queue: cl_command_queue, svm_ptr: *mut c_void, num_events_in_wait_list: cl_uint, event_wait_list: In<cl_event>,
        event: Out<cl_event>,
    ) {
        let queue = host(command_queue)?;
        let waits = wait_list(&queue.context, num_events_in_wait_list, event_wait_list)?;
        let address = range(svm_ptr, 0)?;
        let done = queue.clr.enqueue_svm_unmap(address, &waits).map_err(code)?;
        give(event, &queue, CL_COMMAND_SVM_UNMAP, done)
    }

    /// Enqueues a move to the queue's device or the host.
    fn clEnqueueSVMMigrateMem(
        command_queue: cl_command_queue, num_svm_pointers: cl_uint, svm_pointers: In<usize>, sizes: In<usize>,
        flags: cl_bitfield, num_events_in_wait_list: cl_uint, event_wait_list: In<cl_event>, event: Out<cl_event>,
    ) {
        let queue = host(command_queue)?;
        let waits = wait_list(&queue.context, num_events_in_wait_list, event_wait_list)?;
        if num_svm_pointers == 0 || svm_pointers.is_null() {
            return fail!(CL_INVALID_VALUE, "no pointers");
        }
        let target = transfer::migrate_target(flags)?;
        let sizes = sizes.list(num_svm_pointers as usize);
        let mut addresses = Vec::new();
        for (index, pointer) in svm_pointers.list(num_svm_pointers as usize).into_iter().enumerate() {
            let size = sizes.get(index).copied().unwrap_or(0);
            addresses.push(range(std::ptr::with_exposed_provenance(pointer), size)?);
        }
        let done = queue.clr.enqueue_svm_prefetch(&addresses, target, &waits).map_err(code)?;
        give(event, &queue, CL_COMMAND_SVM_MIGRATE_MEM, done)
    }
}
