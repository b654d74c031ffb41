//! The launch configuration of `<<<…>>>`: pushed at the call, popped in the kernel's stub, on a stack of the thread. And its older form, which
//! sets up one argument after the other.

use std::{cell::RefCell, ffi::c_void};

use gneiss_hip_abi_macros::hip_api;

use crate::{enums::*, error::*, fail, launch, types::*};

/// What `<<<…>>>` says of a launch.
#[derive(Clone, Copy, Debug)]
pub struct CallConfiguration {
    /// Grid in blocks.
    pub grid: dim3,
    /// Block in threads.
    pub block: dim3,
    /// Bytes of dynamic LDS.
    pub shared: usize,
    /// Stream.
    pub stream: hipStream_t,
}

thread_local! {
    static CONFIGURATIONS: RefCell<Vec<CallConfiguration>> = const { RefCell::new(Vec::new()) };
    /// What `hipSetupArgument` has kept for the next launch.
    static LAUNCH_ARGUMENTS: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Puts a configuration on the thread's stack.
pub fn push_configuration(configuration: CallConfiguration) -> HipResult {
    CONFIGURATIONS
        .try_with(|stack| stack.borrow_mut().push(configuration))
        .map_err(|_| hipErrorDeinitialized)
}

/// Takes the newest configuration from the thread's stack.
pub fn pop_configuration() -> HipResult<CallConfiguration> {
    match CONFIGURATIONS.try_with(|stack| stack.borrow_mut().pop()) {
        Ok(Some(configuration)) => Ok(configuration),
        _ => fail!(
            hipErrorMissingConfiguration,
            "no launch configuration was pushed"
        ),
    }
}

/// First half of `<<<…>>>`: keeps the launch's configuration.
#[hip_api(no_init)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hipPushCallConfiguration(
    gridDim: dim3,
    blockDim: dim3,
    sharedMem: usize,
    stream: hipStream_t,
) -> hipError_t {
    push_configuration(CallConfiguration {
        grid: gridDim,
        block: blockDim,
        shared: sharedMem,
        stream,
    })
}

/// Second half of `<<<…>>>`, in the kernel's stub: takes the configuration back.
#[hip_api(no_init)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hipPopCallConfiguration(
    gridDim: *mut dim3,
    blockDim: *mut dim3,
    sharedMem: *mut usize,
    stream: *mut hipStream_t,
) -> hipError_t {
    let configuration = pop_configuration()?;
    // SAFETY: the compiler passes places of the stub.
    unsafe {
        gridDim.write(configuration.grid);
        blockDim.write(configuration.block);
        sharedMem.write(configuration.shared);
        stream.write(configuration.stream);
    }
    Ok(())
}

/// Keeps a launch's configuration (the older form of `<<<…>>>`).
#[hip_api(no_init)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipConfigureCall(
    gridDim: dim3,
    blockDim: dim3,
    sharedMem: usize,
    stream: hipStream_t,
) -> hipError_t {
    launch_arguments(|arguments| arguments.clear())?;
    push_configuration(CallConfiguration {
        grid: gridDim,
        block: blockDim,
        shared: sharedMem,
        stream,
    })
}

fn launch_arguments<T>(function: impl FnOnce(&mut Vec<u8>) -> T) -> HipResult<T> {
    LAUNCH_ARGUMENTS
        .try_with(|arguments| function(&mut arguments.borrow_mut()))
        .map_err(|_| hipErrorDeinitialized)
}

/// Adds an argument to the launch that `hipConfigureCall` began.
#[hip_api(no_init)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipSetupArgument(
    arg: *const c_void,
    size: usize,
    offset: usize,
) -> hipError_t {
    /// Kernel arguments are at most this long.
    const LIMIT: usize = 64 << 10;
    let end = offset.checked_add(size).filter(|end| *end <= LIMIT);
    let (Some(end), false) = (end, arg.is_null()) else {
        return fail!(
            hipErrorInvalidValue,
            "an argument of {size} bytes at offset {offset}"
        );
    };
    // SAFETY: not null; the caller promises `size` bytes.
    let value = unsafe { std::slice::from_raw_parts(arg.cast::<u8>(), size) };
    launch_arguments(|arguments| {
        if arguments.len() < end {
            arguments.resize(end, 0);
        }
        arguments[offset..end].copy_from_slice(value);
    })
}

/// Launches a registered kernel with what `hipConfigureCall` and `hipSetupArgument` kept.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipLaunchByPtr(func: *const c_void) -> hipError_t {
    let launched = pop_configuration()?;
    let mut arguments = launch_arguments(std::mem::take)?;
    let mut size = arguments.len();
    let key = std::ptr::without_provenance_mut::<c_void>;
    let mut extra = [
        key(HIP_LAUNCH_PARAM_BUFFER_POINTER),
        arguments.as_mut_ptr().cast(),
        key(HIP_LAUNCH_PARAM_BUFFER_SIZE),
        (&raw mut size).cast(),
        key(HIP_LAUNCH_PARAM_END),
    ];
    let request = launch::Request {
        extra: extra.as_mut_ptr(),
        ..launch::Request::new(
            launched.grid,
            launched.block,
            launched.shared,
            std::ptr::null_mut(),
        )
    };
    // SAFETY: the list and its buffer live on this stack.
    unsafe { launch::launch_registered(func, launched.stream, &request) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_are_a_stack() {
        let configuration = |x| CallConfiguration {
            grid: dim3 { x, y: 1, z: 1 },
            block: dim3 { x: 64, y: 1, z: 1 },
            shared: 0,
            stream: std::ptr::null_mut(),
        };
        push_configuration(configuration(1)).unwrap();
        push_configuration(configuration(2)).unwrap();
        assert_eq!(pop_configuration().unwrap().grid.x, 2);
        assert_eq!(pop_configuration().unwrap().grid.x, 1);
        assert_eq!(
            pop_configuration().err(),
            Some(hipErrorMissingConfiguration)
        );
    }
}
