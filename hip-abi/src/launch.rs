//! Kernel launches: checks (`launch_check.rs`), then one command of the stream.

use std::{cell::RefCell, ffi::c_void, sync::Arc};

use gneiss_clr::{Arguments, Event, Kernel, Launch, MultiGrid};

use crate::{
    capture::{self, Capturing},
    enums::*,
    error::*,
    event, fail,
    graph::operation::{KernelNode, Operation},
    launch_check, module, registration,
    runtime::{Device, hip_error},
    stream::{self, Resolved, resolve_or},
    types::*,
    version::{self, Major},
};

/// Which family of calls a launch came by: their limits differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// `hipLaunchKernel` and its kin: grids in blocks, up to 2³²-1 work-items in each dimension.
    Runtime,
    /// `hipModuleLaunchKernel` and its kin: grids in blocks, with limits of their own.
    Module,
    /// `hipExtModuleLaunchKernel`: grids in work-items.
    Extended,
    /// One of the launches of `hipLaunchCooperativeKernelMultiDevice` and its kin: as [`Api::Runtime`].
    Several,
}

/// A launch, as the caller gave it.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Family.
    pub api: Api,
    /// Grid in blocks (in work-items for [`Api::Extended`]).
    pub grid: [u32; 3],
    /// Block in work-items.
    pub block: [u32; 3],
    /// Bytes of dynamic LDS.
    pub shared: usize,
    /// Addresses of the arguments, or null.
    pub params: *mut *mut c_void,
    /// `HIP_LAUNCH_PARAM_…` list, or null.
    pub extra: *mut *mut c_void,
    /// All groups resident at once.
    pub cooperative: bool,
    /// Its part of a launch on several devices.
    pub multigrid: Option<MultiGrid>,
    /// It may overlap with earlier work of its stream.
    pub any_order: bool,
    /// Recorded before the kernel.
    pub start_event: hipEvent_t,
    /// Recorded after the kernel.
    pub stop_event: hipEvent_t,
}

impl Request {
    /// A plain launch of the runtime API.
    pub fn new(grid: dim3, block: dim3, shared: usize, params: *mut *mut c_void) -> Self {
        Request {
            api: Api::Runtime,
            grid: grid.into(),
            block: block.into(),
            shared,
            params,
            extra: std::ptr::null_mut(),
            cooperative: false,
            multigrid: None,
            any_order: false,
            start_event: std::ptr::null_mut(),
            stop_event: std::ptr::null_mut(),
        }
    }
}

/// The packed arguments that an `extra` list names: `{1, buffer, 2, &size, 3}`.
///
/// # Safety
/// The list must be readable up to its end mark, and its buffer for its size.
pub(crate) unsafe fn packed<'a>(extra: *mut *mut c_void) -> HipResult<&'a [u8]> {
    let (mut buffer, mut size) = (std::ptr::null::<u8>(), None);
    for index in [0, 2, 4] {
        // SAFETY: the list has not ended yet; each entry but the end mark is followed by its value.
        let key = unsafe { extra.add(index).read() }.addr();
        match key {
            HIP_LAUNCH_PARAM_END => break,
            HIP_LAUNCH_PARAM_BUFFER_POINTER if index < 4 => {
                // SAFETY: as above.
                buffer = unsafe { extra.add(index + 1).read() }.cast_const().cast();
            }
            HIP_LAUNCH_PARAM_BUFFER_SIZE if index < 4 => {
                // SAFETY: as above; the value points at a size_t.
                size = unsafe { extra.add(index + 1).read().cast::<usize>().as_ref() }.copied();
            }
            _ => {
                return fail!(
                    hipErrorInvalidValue,
                    "entry {key:#x} of the launch's extra list is not known"
                );
            }
        }
    }
    match (buffer.is_null(), size) {
        // SAFETY: the caller promises that the buffer is as long as it says.
        (false, Some(size)) => Ok(unsafe { std::slice::from_raw_parts(buffer, size) }),
        _ => fail!(
            hipErrorInvalidValue,
            "the launch's extra list has no buffer or no size"
        ),
    }
}

/// Checks a launch without making it.
///
/// # Errors
/// As a launch.
pub(crate) fn check(kernel: &Kernel, device: &Device, request: &Request) -> HipResult {
    launch_check::check(kernel, device, request).map(drop)
}

/// Launches a kernel in a stream.
///
/// # Safety
/// The arguments must be readable as the kernel's metadata says.
pub(crate) unsafe fn launch(
    kernel: &Arc<Kernel>,
    device: &Device,
    resolved: &Resolved,
    request: &Request,
) -> HipResult<Event> {
    let (grid, block) = launch_check::check(kernel, device, request)?;
    let count = kernel.explicit_arguments().len();
    let arguments = if request.extra.is_null() {
        if count == 0 {
            Arguments::Pointers(&[])
        } else {
            // SAFETY: not null, by the check above; the caller promises one pointer for each argument.
            Arguments::Pointers(unsafe {
                std::slice::from_raw_parts(request.params.cast::<*const c_void>(), count)
            })
        }
    } else {
        // SAFETY: as the caller promises.
        Arguments::Packed(unsafe { packed(request.extra)? })
    };
    let launch = Launch {
        kernel,
        grid,
        block,
        dynamic_shared: request.shared as u32,
        arguments,
        cooperative: request.cooperative,
        any_order: request.any_order,
    };
    let queue = &resolved.stream.queue;
    if !request.start_event.is_null() {
        event::find(request.start_event)?
            .set_command(queue.enqueue_marker(&resolved.wait).map_err(hip_error)?);
    }
    // SAFETY: as the caller promises.
    let command = unsafe {
        match &request.multigrid {
            None => queue.enqueue_kernel(&launch, &resolved.wait),
            Some(grid) => queue.enqueue_kernel_of_several(&launch, *grid, &resolved.wait),
        }
    }
    .map_err(hip_error)?;
    if !request.stop_event.is_null() {
        event::find(request.stop_event)?.set_command(queue.enqueue_marker(&[]).map_err(hip_error)?);
    }
    Ok(command)
}

/// Kernels that this thread launched by host address, so that a launch takes no lock of the registry.
struct Recent {
    address: usize,
    device: usize,
    generation: u64,
    kernel: Arc<Kernel>,
}

thread_local! {
    static RECENT: RefCell<Vec<Recent>> = const { RefCell::new(Vec::new()) };
}

const RECENT_KERNELS: usize = 8;

/// The kernel of a host address on a device, from the thread's own memory if it was launched lately.
fn kernel_of(address: *const c_void, device: &Device) -> HipResult<Arc<Kernel>> {
    let generation = registration::generation();
    let known = RECENT.try_with(|recent| {
        let recent = recent.borrow();
        let found = recent.iter().find(|entry| {
            entry.address == address.addr()
                && entry.device == device.ordinal
                && entry.generation == generation
        });
        found.map(|entry| Arc::clone(&entry.kernel))
    });
    if let Ok(Some(kernel)) = known {
        return Ok(kernel);
    }
    let kernel = registration::kernel(address, device)?;
    let entry = Recent {
        address: address.addr(),
        device: device.ordinal,
        generation,
        kernel: Arc::clone(&kernel),
    };
    let _ = RECENT.try_with(|recent| {
        let mut recent = recent.borrow_mut();
        recent.retain(|entry| entry.generation == generation);
        if recent.len() == RECENT_KERNELS {
            recent.remove(0);
        }
        recent.push(entry);
    });
    Ok(kernel)
}

/// The code for a stream that is not there: launches have their own, but for `hipLaunchCooperativeKernel` from HIP 6 on.
fn no_stream(request: &Request) -> hipError_t {
    let as_other_calls = request.cooperative && request.api == Api::Runtime;
    if as_other_calls && version::presented() >= Major::Six {
        hipErrorContextIsDestroyed
    } else {
        hipErrorInvalidValue
    }
}

/// The capture of a stream.
fn capturing(stream: hipStream_t, request: &Request) -> HipResult<Option<Capturing>> {
    capture::of(stream).map_err(|error| {
        if error == hipErrorContextIsDestroyed {
            no_stream(request)
        } else {
            error
        }
    })
}

/// The registered kernel of a launch. A cooperative launch of HIP 5 calls what is not registered a symbol.
fn registered(
    function: *const c_void,
    device: &Device,
    request: &Request,
) -> HipResult<Arc<Kernel>> {
    kernel_of(function, device).map_err(|error| {
        let symbol = request.cooperative && version::presented() == Major::Five;
        if symbol && error == hipErrorInvalidDeviceFunction {
            hipErrorInvalidSymbol
        } else {
            error
        }
    })
}

/// Makes a launch a node.
///
/// # Safety
/// As for [`launch`].
unsafe fn capture(
    capturing: &Capturing,
    function: usize,
    kernel: Arc<Kernel>,
    device: &Device,
    request: &Request,
) -> HipResult {
    if !request.start_event.is_null() || !request.stop_event.is_null() {
        return capturing.refuse("a launch with events of its own");
    }
    // SAFETY: as the caller promises.
    let node = unsafe { KernelNode::new(function, kernel, device, request)? };
    capturing.add(Operation::Kernel(node))
}

/// Launches a registered kernel.
///
/// # Safety
/// As for [`launch`].
pub(crate) unsafe fn launch_registered(
    function: *const c_void,
    stream: hipStream_t,
    request: &Request,
) -> HipResult {
    if let Some(capturing) = capturing(stream, request)? {
        let device = stream::find(stream)?.device()?;
        let kernel = registered(function, device, request)?;
        let handle = function.expose_provenance();
        // SAFETY: as the caller promises.
        return unsafe { capture(&capturing, handle, kernel, device, request) };
    }
    let resolved = resolve_or(stream, no_stream(request))?;
    let device = resolved.stream.device()?;
    let kernel = registered(function, device, request)?;
    // SAFETY: as the caller promises.
    unsafe { launch(&kernel, device, &resolved, request) }?;
    Ok(())
}

/// Launches a kernel of a module.
///
/// # Safety
/// As for [`launch`].
pub(crate) unsafe fn launch_function(
    function: hipFunction_t,
    stream: hipStream_t,
    request: &Request,
) -> HipResult {
    let kernel = module::function(function)?;
    if let Some(capturing) = capturing(stream, request)? {
        let device = stream::find(stream)?.device()?;
        let handle = function.expose_provenance();
        // SAFETY: as the caller promises.
        return unsafe { capture(&capturing, handle, kernel, device, request) };
    }
    let resolved = resolve_or(stream, no_stream(request))?;
    let device = resolved.stream.device()?;
    if kernel.device().index() != device.ordinal {
        return fail!(
            hipErrorInvalidHandle,
            "the kernel is loaded on device {}, the stream is of {}",
            kernel.device().index(),
            device.ordinal
        );
    }
    // SAFETY: as the caller promises.
    unsafe { launch(&kernel, device, &resolved, request) }?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extra_lists() {
        let mut buffer = [1_u8, 2, 3, 4];
        let mut size = 3_usize;
        let key = |value: usize| std::ptr::without_provenance_mut::<c_void>(value);
        let mut list = [
            key(1),
            (&raw mut buffer).cast(),
            key(2),
            (&raw mut size).cast(),
            key(3),
        ];
        // SAFETY: the list is complete.
        let good = unsafe { packed(list.as_mut_ptr()) };
        assert_eq!(good, Ok([1, 2, 3].as_slice()));
        for mut list in [
            [key(7), key(0), key(3), key(0), key(3)],
            [key(3), key(0), key(3), key(0), key(3)],
        ] {
            // SAFETY: the list ends with its mark.
            let bad = unsafe { packed(list.as_mut_ptr()) };
            assert_eq!(bad, Err(hipErrorInvalidValue));
        }
    }
}
