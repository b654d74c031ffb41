//! Contexts of the driver API. A device has one context, its primary one; every context handle of a device stands for it.

use std::{cell::RefCell, sync::atomic::Ordering};

use gneiss_hip_abi_macros::hip_api;

use crate::{
    device,
    enums::*,
    error::*,
    fail,
    handle::Kind,
    log_error, peer,
    runtime::{self, Device},
    types::*,
    version,
};

/// The handle of a device's context: its ordinal under the kind of contexts.
fn handle_of(device: &Device) -> hipCtx_t {
    std::ptr::without_provenance_mut((Kind::Context as usize) << 56 | 1 << 32 | device.ordinal)
}

/// The device of a context.
fn find(context: hipCtx_t) -> HipResult<&'static Device> {
    let value = context.addr();
    if value >> 32 != (Kind::Context as usize) << 24 | 1 {
        return fail!(hipErrorInvalidContext, "{value:#x} is not a context");
    }
    runtime::device(value as i32).map_err(|_| hipErrorInvalidContext)
}

fn give<T>(place: *mut T, value: T) -> HipResult {
    if place.is_null() {
        return fail!(hipErrorInvalidValue, "a null pointer for the result");
    }
    // SAFETY: not null; the C caller promises a valid place.
    unsafe { place.write(value) };
    Ok(())
}

thread_local! {
    /// Devices of the pushed contexts below the current one.
    static STACK: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

fn stack<T>(function: impl FnOnce(&mut Vec<usize>) -> T) -> HipResult<T> {
    STACK
        .try_with(|stack| function(&mut stack.borrow_mut()))
        .map_err(|_| hipErrorDeinitialized)
}

fn push(device: &Device) -> HipResult {
    stack(|stack| stack.push(runtime::current_ordinal()))?;
    runtime::set_current(device.ordinal);
    Ok(())
}

/// Gives a device's context and makes it current.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipCtxCreate(
    ctx: *mut hipCtx_t,
    flags: u32,
    device: hipDevice_t,
) -> hipError_t {
    let device = runtime::device(device)?;
    give(ctx, handle_of(device))?;
    device.flags.store(flags, Ordering::Relaxed);
    push(device)
}

/// Ends a context handle. The device's context itself stays.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipCtxDestroy(ctx: hipCtx_t) -> hipError_t {
    if ctx.is_null() {
        return fail!(hipErrorInvalidValue, "null context");
    }
    let ordinal = find(ctx)?.ordinal;
    if runtime::current_ordinal() == ordinal
        && let Some(below) = stack(Vec::pop)?
    {
        runtime::set_current(below);
    }
    Ok(())
}

/// Takes the current context away and makes the one below current.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipCtxPopCurrent(ctx: *mut hipCtx_t) -> hipError_t {
    let current = runtime::current()?;
    let Some(below) = stack(Vec::pop)? else {
        return fail!(hipErrorInvalidContext, "no context was pushed");
    };
    runtime::set_current(below);
    if ctx.is_null() {
        Ok(())
    } else {
        give(ctx, handle_of(current))
    }
}

/// Makes a context current, above the present one.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipCtxPushCurrent(ctx: hipCtx_t) -> hipError_t {
    push(find(ctx)?)
}

/// Makes a context current in place of the present one.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipCtxSetCurrent(ctx: hipCtx_t) -> hipError_t {
    if ctx.is_null() {
        stack(Vec::pop)?;
        return Ok(());
    }
    runtime::set_current(find(ctx)?.ordinal);
    Ok(())
}

/// Gives the current context.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipCtxGetCurrent(ctx: *mut hipCtx_t) -> hipError_t {
    give(ctx, handle_of(runtime::current()?))
}

/// Gives the current context's device.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipCtxGetDevice(device: *mut hipDevice_t) -> hipError_t {
    give(device, runtime::current()?.ordinal as i32)
}

/// Gives the presented HIP major version.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipCtxGetApiVersion(ctx: hipCtx_t, apiVersion: *mut u32) -> hipError_t {
    find(ctx)?;
    give(apiVersion, version::presented().number())
}

/// Gives the current context's cache preference: none.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipCtxGetCacheConfig(cacheConfig: *mut hipFuncCache_t) -> hipError_t {
    give(cacheConfig, hipFuncCachePreferNone)
}

/// Sets the current context's cache preference, which AMD devices do not have.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipCtxSetCacheConfig(cacheConfig: hipFuncCache_t) -> hipError_t {
    if cacheConfig > hipFuncCachePreferEqual {
        return fail!(
            hipErrorInvalidValue,
            "cache preference {cacheConfig} does not exist"
        );
    }
    Ok(())
}

/// Gives the LDS bank size: four bytes.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipCtxGetSharedMemConfig(pConfig: *mut hipSharedMemConfig) -> hipError_t {
    give(pConfig, hipSharedMemBankSizeFourByte)
}

/// Sets the LDS bank size, which is fixed on AMD devices.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipCtxSetSharedMemConfig(config: hipSharedMemConfig) -> hipError_t {
    if config > hipSharedMemBankSizeEightByte {
        return fail!(hipErrorInvalidValue, "bank size {config} does not exist");
    }
    Ok(())
}

/// Waits for all work of the current context's device.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipCtxSynchronize() -> hipError_t {
    device::synchronize()
}

/// Gives the current context's flags.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipCtxGetFlags(flags: *mut u32) -> hipError_t {
    give(flags, runtime::current()?.flags.load(Ordering::Relaxed))
}

/// Lets the current context's device access another context's memory.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipCtxEnablePeerAccess(peerCtx: hipCtx_t, flags: u32) -> hipError_t {
    peer::enable(find(peerCtx)?.ordinal as i32, flags)
}

/// Ends the current context's access to another's memory.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipCtxDisablePeerAccess(peerCtx: hipCtx_t) -> hipError_t {
    peer::disable(find(peerCtx)?.ordinal as i32)
}

/// Tells a primary context's flags, and that it is active.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDevicePrimaryCtxGetState(
    dev: hipDevice_t,
    flags: *mut u32,
    active: *mut i32,
) -> hipError_t {
    let device = runtime::device(dev)?;
    if !flags.is_null() {
        give(flags, device.flags.load(Ordering::Relaxed))?;
    }
    if !active.is_null() {
        let is_current = runtime::current_ordinal() == device.ordinal;
        give(active, i32::from(is_current))?;
    }
    Ok(())
}

/// Gives up a primary context, which stays as long as the process.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDevicePrimaryCtxRelease(dev: hipDevice_t) -> hipError_t {
    runtime::device(dev)?;
    Ok(())
}

/// Gives a device's primary context.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDevicePrimaryCtxRetain(
    pctx: *mut hipCtx_t,
    dev: hipDevice_t,
) -> hipError_t {
    give(pctx, handle_of(runtime::device(dev)?))
}

/// Resets a primary context. As in AMD's runtime this changes nothing, and the number of a device that is not there is no error.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDevicePrimaryCtxReset(dev: hipDevice_t) -> hipError_t {
    let devices = runtime::get()?.devices.len();
    if usize::try_from(dev).is_ok_and(|ordinal| ordinal < devices) {
        return Ok(());
    }
    log_error!("there is no device {dev}, of which nothing was to be reset");
    Ok(())
}

/// Sets a primary context's flags, which fails as the context is always active.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDevicePrimaryCtxSetFlags(dev: hipDevice_t, flags: u32) -> hipError_t {
    runtime::device(dev)?;
    fail!(
        hipErrorContextAlreadyInUse,
        "the primary context is active: its flags {flags:#x} can't be set"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_contexts_are_refused() {
        for value in [0_usize, 1, 0x1234_5678, 0x100_0001_0000_0000] {
            assert_eq!(
                find(std::ptr::without_provenance_mut(value)).err(),
                Some(hipErrorInvalidContext)
            );
        }
    }
}
