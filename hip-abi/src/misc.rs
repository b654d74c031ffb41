//! Entry points by name, and the small exports that belong to no group.

use std::ffi::{CStr, c_char, c_void};

use gneiss_clr::trace;
use gneiss_hip_abi_macros::hip_api;

use crate::{api, enums::*, error::*, fail, runtime, types::*};

const PER_THREAD_DEFAULT_STREAM: u64 = 2;

/// What `libroctx64.so` asks for.
const RANGE: &str = "gneissRange";

/// Begins a range of the program in the recording, and gives its number; without a message it ends the range of that number.
///
/// # Safety
/// `message` must be null or a terminated string.
unsafe extern "C" fn range(message: *const c_char, number: u64) -> u64 {
    crate::entry::run(RANGE, 0, || {
        if message.is_null() {
            trace::range_end(number);
            return 0;
        }
        // A recording begins with the runtime, which is started for nothing else here.
        if runtime::started().is_none()
            && std::env::var_os("GNEISS_TRACE").is_some()
            && runtime::start().is_err()
        {
            return 0;
        }
        // SAFETY: not null; as the caller promises.
        trace::range_begin(&unsafe { CStr::from_ptr(message) }.to_string_lossy())
    })
}

/// Address of an entry point. Programs of HIP 6 and later mean the R0600 forms by the plain names.
fn address(name: &str, hip_version: i32, flags: u64) -> Option<*const c_void> {
    let name = match name {
        "hipGetDeviceProperties" if hip_version >= 600 => "hipGetDevicePropertiesR0600",
        "hipChooseDevice" if hip_version >= 600 => "hipChooseDeviceR0600",
        name => name,
    };
    if name == RANGE {
        return Some(range as *const c_void);
    }
    if flags & PER_THREAD_DEFAULT_STREAM != 0
        && let Some(found) = api::find(&format!("{name}_spt"))
    {
        return Some(found.address());
    }
    api::find(name).map(api::Entry::address)
}

/// # Safety
/// `symbol` must be null or a terminated string, the places null or valid.
unsafe fn get_proc_address(
    symbol: *const c_char,
    pfn: *mut *mut c_void,
    hip_version: i32,
    flags: u64,
    status: *mut u32,
) -> HipResult {
    if symbol.is_null() || pfn.is_null() {
        return fail!(hipErrorInvalidValue, "a null pointer");
    }
    // SAFETY: not null; the caller promises a terminated string.
    let name = unsafe { CStr::from_ptr(symbol) }.to_string_lossy();
    let found = address(&name, hip_version, flags);
    let code = if found.is_some() {
        HIP_GET_PROC_ADDRESS_SUCCESS
    } else {
        HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
    };
    // SAFETY: as the caller promises.
    unsafe {
        if !status.is_null() {
            status.write(code);
        }
        pfn.write(found.map_or(std::ptr::null_mut(), <*const c_void>::cast_mut));
    }
    if found.is_some() {
        Ok(())
    } else {
        fail!(hipErrorInvalidValue, "HIP has no function {name}")
    }
}

/// Gives the address of a HIP function by name.
#[hip_api(no_init)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetProcAddress(
    symbol: *const c_char,
    pfn: *mut *mut c_void,
    hipVersion: i32,
    flags: u64,
    symbolStatus: *mut hipDriverProcAddressQueryResult,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { get_proc_address(symbol, pfn, hipVersion, flags, symbolStatus) }
}

/// Gives the address of a HIP function by name; with the thread's own stream as the default.
#[hip_api(no_init)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetProcAddress_spt(
    symbol: *const c_char,
    pfn: *mut *mut c_void,
    hipVersion: i32,
    flags: u64,
    symbolStatus: *mut hipDriverProcAddressQueryResult,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe {
        get_proc_address(
            symbol,
            pfn,
            hipVersion,
            flags | PER_THREAD_DEFAULT_STREAM,
            symbolStatus,
        )
    }
}

/// Gives the address of a HIP function by name, in the presented version.
#[hip_api(no_init)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDriverEntryPoint(
    symbol: *const c_char,
    funcPtr: *mut *mut c_void,
    flags: u64,
    driverStatus: *mut u32,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe {
        get_proc_address(
            symbol,
            funcPtr,
            crate::version::presented().version_number(),
            flags,
            driverStatus,
        )
    }
}

/// Gives the address of a HIP function by name, with the thread's own stream as the default.
#[hip_api(no_init)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDriverEntryPoint_spt(
    symbol: *const c_char,
    funcPtr: *mut *mut c_void,
    flags: u64,
    driverStatus: *mut u32,
) -> hipError_t {
    let version = crate::version::presented().version_number();
    // SAFETY: as the caller promises.
    unsafe {
        get_proc_address(
            symbol,
            funcPtr,
            version,
            flags | PER_THREAD_DEFAULT_STREAM,
            driverStatus,
        )
    }
}

/// The calling thread's stream priority class is not kept: gives the stream's priority under its attribute's name.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamGetAttribute(
    stream: hipStream_t,
    attr: u32,
    value_out: *mut c_void,
) -> hipError_t {
    const PRIORITY: u32 = 8;
    if value_out.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the attribute");
    }
    if attr != PRIORITY {
        return fail!(
            hipErrorNotSupported,
            "stream attribute {attr} is not supported"
        );
    }
    crate::stream::get_priority(stream, value_out.cast())
}

/// From half to single precision, as the compiler's support library does it.
///
/// # Safety
/// None.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __gnu_h2f_ieee(value: u16) -> f32 {
    half::f16::from_bits(value).to_f32()
}

/// From single to half precision, to the nearest, ties to even.
///
/// # Safety
/// None.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __gnu_f2h_ieee(value: f32) -> u16 {
    half::f16::from_f32(value).to_bits()
}

/// The precompiled header of the run-time compiler: there is none.
///
/// # Safety
/// The places must be null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hipGetPCH(pch: *mut *const c_char, size: *mut u32) {
    // SAFETY: as the caller promises.
    unsafe {
        if !pch.is_null() {
            pch.write(std::ptr::null());
        }
        if !size.is_null() {
            size.write(0);
        }
    }
}

/// What debuggers ask to find out about AMD's build.
///
/// # Safety
/// None. The text is constant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amd_dbgapi_get_build_name() -> *const c_char {
    c"gneiss".as_ptr()
}

/// What debuggers ask to find out about AMD's build.
///
/// # Safety
/// None. The text is constant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amd_dbgapi_get_git_hash() -> *const c_char {
    c"".as_ptr()
}

/// What debuggers ask to find out about AMD's build.
///
/// # Safety
/// None.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amd_dbgapi_get_build_id() -> usize {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_version() {
        let old = address("hipGetDeviceProperties", 502, 0).unwrap();
        let new = address("hipGetDeviceProperties", 60_342_131, 0).unwrap();
        assert_ne!(old, new);
        assert_eq!(Some(new), address("hipGetDevicePropertiesR0600", 0, 0));
        assert_eq!(
            address("hipMemcpy", 600, PER_THREAD_DEFAULT_STREAM),
            address("hipMemcpy_spt", 600, 0)
        );
        assert_eq!(address("hipNoSuchThing", 600, 0), None);
    }

    #[test]
    fn halves() {
        // SAFETY: no preconditions.
        unsafe {
            assert_eq!(__gnu_h2f_ieee(0x3c00), 1.0);
            assert_eq!(__gnu_f2h_ieee(65504.0), 0x7bff);
            assert_eq!(__gnu_f2h_ieee(2049.0), 0x6800);
        }
    }
}
