//! What every C entry point does around its body: log, record, catch panics, give the status.

use std::panic::{AssertUnwindSafe, catch_unwind};

use gneiss_clr::{log, trace};

use crate::{
    constants::{CL_OUT_OF_HOST_MEMORY, CL_SUCCESS},
    error::{Code, Result},
    types::Out,
};

/// One entry point.
#[derive(Debug)]
pub struct Site {
    /// Name of the C function.
    pub name: &'static str,
    /// Source file.
    pub file: &'static str,
    /// Line.
    pub line: u32,
    /// Its name in a recording.
    pub trace: trace::NameId,
}

/// Runs the body of an entry point that gives a status.
pub fn status(site: &'static Site, body: impl FnOnce() -> Result) -> Code {
    around(site, body).err().unwrap_or(CL_SUCCESS)
}

/// Runs the body of an entry point that gives a new object, and its status by address.
pub fn create<T>(
    site: &'static Site,
    status: Out<Code>,
    body: impl FnOnce() -> Result<*mut T>,
) -> *mut T {
    match around(site, body) {
        Ok(object) => {
            status.set(CL_SUCCESS);
            object
        }
        Err(code) => {
            status.set(code);
            std::ptr::null_mut()
        }
    }
}

fn around<T>(site: &'static Site, body: impl FnOnce() -> Result<T>) -> Result<T> {
    let logged = log::api_enabled();
    if logged {
        log::call_begin(site.name, site.file, site.line, "");
    }
    let recorded = trace::on().then(|| trace::call_begin(&site.trace, site.name));
    let result = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        crate::fail!(
            // The only code that every function may give and that blames nothing of the caller's.
            CL_OUT_OF_HOST_MEMORY,
            "{}: internal error (a panic was caught)",
            site.name
        )
    });
    let code = result.as_ref().err().copied().unwrap_or(CL_SUCCESS);
    if let Some(call) = recorded {
        trace::call_end(call, code as u32);
    }
    if logged {
        log::call_end(site.name, site.file, site.line, &code);
    }
    result
}

/// Entry points of the C ABI. `fn name(arguments) { body }` gives a status; `create fn name(arguments) -> handle { body }` gives a handle and
/// has the place for the status as its last argument.
#[macro_export]
#[doc(hidden)]
macro_rules! cl_api {
    () => {};
    ($(#[$meta:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block $($rest:tt)*) => {
        $(#[$meta])*
        ///
        /// # Safety
        ///
        /// Pointers must be null or valid as the OpenCL specification of this function says.
        #[allow(clippy::too_many_arguments, reason = "the signature is OpenCL's")]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> $crate::types::cl_int {
            static SITE: $crate::entry::Site = $crate::entry::Site {
                name: stringify!($name), file: file!(), line: line!(), trace: gneiss_clr::trace::NameId::new(),
            };
            $crate::entry::status(&SITE, || -> $crate::error::Result { $body })
        }
        $crate::cl_api! { $($rest)* }
    };
    ($(#[$meta:meta])* create fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty $body:block $($rest:tt)*) => {
        $(#[$meta])*
        ///
        /// # Safety
        ///
        /// Pointers must be null or valid as the OpenCL specification of this function says.
        #[allow(clippy::too_many_arguments, reason = "the signature is OpenCL's")]
        pub unsafe extern "C" fn $name(
            $($argument: $type,)* errcode_ret: $crate::types::Out<$crate::types::cl_int>
        ) -> $result {
            static SITE: $crate::entry::Site = $crate::entry::Site {
                name: stringify!($name), file: file!(), line: line!(), trace: gneiss_clr::trace::NameId::new(),
            };
            $crate::entry::create(&SITE, errcode_ret, || -> $crate::error::Result<$result> { $body })
        }
        $crate::cl_api! { $($rest)* }
    };
}
