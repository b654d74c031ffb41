//! The platform: there is one, and asking about it starts nothing.

use std::{
    ffi::c_void,
    sync::{Arc, LazyLock},
};

use crate::{
    cl_api,
    constants::*,
    error::Result,
    extension, fail,
    handle::{Handle, Object as _, Slot, get, object},
    info::Query,
    types::*,
};

/// The version of the specification that the platform and its devices speak.
pub const VERSION: &str = concat!("OpenCL 3.0 Gneiss ", env!("CARGO_PKG_VERSION"));

/// The platform.
#[derive(Debug)]
pub struct Platform {
    handle: Handle<Platform>,
}

object!(Platform, CL_INVALID_PLATFORM);

/// The platform's handle.
pub fn handle() -> cl_platform_id {
    static PLATFORM: LazyLock<Option<Arc<Platform>>> =
        LazyLock::new(|| Platform::table().insert(|handle| Platform { handle }));
    PLATFORM
        .as_ref()
        .map_or(std::ptr::null_mut(), |platform| platform.handle.raw())
}

/// Checks a platform; null is the only one there is.
///
/// # Errors
/// `CL_INVALID_PLATFORM`.
pub fn check(platform: *mut Slot<Platform>) -> Result {
    let only = handle();
    if platform.is_null() {
        return Ok(());
    }
    get(platform).and_then(|found| {
        if found.handle.raw() == only {
            Ok(())
        } else {
            Err(CL_INVALID_PLATFORM)
        }
    })
}

fn list(
    num_entries: cl_uint,
    platforms: Out<cl_platform_id>,
    num_platforms: Out<cl_uint>,
) -> Result {
    if (num_entries == 0 && !platforms.is_null())
        || (platforms.is_null() && num_platforms.is_null())
    {
        return fail!(
            CL_INVALID_VALUE,
            "no place for platforms and none for their number"
        );
    }
    platforms.set(handle());
    num_platforms.set(1);
    Ok(())
}

cl_api! {
    /// Lists the platforms.
    fn clGetPlatformIDs(num_entries: cl_uint, platforms: Out<cl_platform_id>, num_platforms: Out<cl_uint>) {
        list(num_entries, platforms, num_platforms)
    }

    /// Lists the platforms, for the ICD loader.
    #[unsafe(no_mangle)]
    fn clIcdGetPlatformIDsKHR(num_entries: cl_uint, platforms: Out<cl_platform_id>, num_platforms: Out<cl_uint>) {
        list(num_entries, platforms, num_platforms)
    }

    /// Says what the platform is.
    fn clGetPlatformInfo(
        platform: cl_platform_id, param_name: cl_name, param_value_size: usize, param_value: *mut c_void,
        param_value_size_ret: Out<usize>,
    ) {
        check(platform)?;
        let query = Query { size: param_value_size, value: param_value, needed: param_value_size_ret };
        match param_name {
            CL_PLATFORM_PROFILE => query.text("FULL_PROFILE"),
            CL_PLATFORM_VERSION => query.text(VERSION),
            CL_PLATFORM_NUMERIC_VERSION => query.value(version(3, 0, 0)),
            CL_PLATFORM_NAME => query.text("Gneiss"),
            CL_PLATFORM_VENDOR => query.text("Gneiss"),
            CL_PLATFORM_EXTENSIONS => query.text(&extension::names(&extension::PLATFORM)),
            CL_PLATFORM_EXTENSIONS_WITH_VERSION => query.list(&extension::versions(&extension::PLATFORM)),
            // Nanoseconds of the clock that clGetHostTimer gives.
            CL_PLATFORM_HOST_TIMER_RESOLUTION => query.value(1 as cl_ulong),
            CL_PLATFORM_ICD_SUFFIX_KHR => query.text("GNEISS"),
            name => query.unknown(name),
        }
    }

    /// Gives back what the compiler holds: it holds nothing between builds.
    fn clUnloadPlatformCompiler(platform: cl_platform_id) {
        if platform.is_null() {
            return Err(CL_INVALID_PLATFORM);
        }
        check(platform)
    }

    /// As `clUnloadPlatformCompiler`.
    fn clUnloadCompiler() {
        Ok(())
    }
}
