//! The launch configuration of `<<<…>>>`: pushed at the call, popped in the kernel's stub, on a stack of the thread.

use std::cell::RefCell;

use gneiss_hip_abi_macros::hip_api;

use crate::{error::*, fail, types::*};

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
