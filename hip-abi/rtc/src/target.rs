//! The target of a compilation that names none: that of the calling thread's current HIP device.
//!
//! hiprtc does not need the runtime, so it asks the one that this library is part of, or that the process has loaded, or that lies
//! beside this library.

use std::{
    ffi::{CStr, CString, OsStr, c_char, c_int, c_void},
    os::unix::ffi::OsStrExt as _,
    path::PathBuf,
};

/// Bytes of `hipDeviceProp_tR0600`, and where its `gcnArchName` starts.
const PROPERTIES: usize = 1472;
const ARCH_NAME: usize = 1160;

type GetDevice = unsafe extern "C" fn(*mut c_int) -> u32;
type GetProperties = unsafe extern "C" fn(*mut c_void, c_int) -> u32;

/// Path of the shared library (or program) that holds this code.
pub fn own_path() -> Option<PathBuf> {
    // SAFETY: a zeroed Dl_info is valid; dladdr fills it.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: the address is of this function, the place is valid.
    if unsafe { libc::dladdr(own_path as *const c_void, &raw mut info) } == 0
        || info.dli_fname.is_null()
    {
        return None;
    }
    // SAFETY: the linker's string lives as long as the object, which is this one.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    Some(PathBuf::from(OsStr::from_bytes(name.to_bytes())))
}

/// Opens a library; `loaded`: only if the process has it already.
fn open(name: &OsStr, loaded: bool) -> Option<*mut c_void> {
    let name = CString::new(name.as_bytes()).ok()?;
    let flags = libc::RTLD_NOW | if loaded { libc::RTLD_NOLOAD } else { 0 };
    // SAFETY: the name is terminated. Initialisers of HIP libraries may run in any thread.
    let handle = unsafe { libc::dlopen(name.as_ptr(), flags) };
    (!handle.is_null()).then_some(handle)
}

/// A function or variable of a loaded library.
pub(crate) fn symbol(handle: *mut c_void, name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the handle is one of dlopen, or a pseudo-handle; the name is terminated.
    let address = unsafe { libc::dlsym(handle, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

fn runtime() -> Option<*mut c_void> {
    const NAMES: [&str; 4] = [
        "libamdhip64.so.7",
        "libamdhip64.so.6",
        "libamdhip64.so.5",
        "libamdhip64.so",
    ];
    let own = own_path();
    if let Some(own) = &own
        && own
            .file_name()
            .is_some_and(|name| name.as_bytes().starts_with(b"libamdhip64"))
        && let Some(handle) = open(own.as_os_str(), true)
    {
        return Some(handle);
    }
    if let Some(handle) = NAMES.iter().find_map(|name| open(OsStr::new(name), true)) {
        return Some(handle);
    }
    if symbol(libc::RTLD_DEFAULT, c"hipGetDevice").is_some() {
        return Some(libc::RTLD_DEFAULT);
    }
    let beside = own.and_then(|own| Some(own.parent()?.join("libamdhip64.so")));
    beside
        .and_then(|path| open(path.as_os_str(), false))
        .or_else(|| {
            NAMES
                .iter()
                .rev()
                .find_map(|name| open(OsStr::new(name), false))
        })
}

/// Target ID of the current device: `gfx90a:sramecc+:xnack-`; `None` without a runtime or a device.
pub fn current_device() -> Option<String> {
    let runtime = runtime()?;
    let (device, properties) = (
        symbol(runtime, c"hipGetDevice")?,
        symbol(runtime, c"hipGetDevicePropertiesR0600")?,
    );
    let mut ordinal = 0;
    let mut record = [0_u64; PROPERTIES / 8 + 64];
    // SAFETY: the functions have these types in every HIP library that has the names; the places are large enough.
    unsafe {
        let device = std::mem::transmute::<*mut c_void, GetDevice>(device);
        let properties = std::mem::transmute::<*mut c_void, GetProperties>(properties);
        if device(&raw mut ordinal) != 0 || properties(record.as_mut_ptr().cast(), ordinal) != 0 {
            return None;
        }
    }
    // SAFETY: the name starts inside of the record, which is longer than the runtime writes and ends in zeros.
    let name = unsafe { CStr::from_ptr(record.as_ptr().cast::<c_char>().add(ARCH_NAME)) };
    name.to_str()
        .ok()
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
}
