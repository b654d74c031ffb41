//! HIP's side of the log: reasons of failures, and calls with their arguments. The log itself is [`gneiss_clr::log`].

use std::{ffi::c_void, fmt::Write as _};

pub use gneiss_clr::log::{Level, api_enabled, enabled, line};

use crate::types::{dim3, hipExtent, hipIpcEventHandle_t, hipIpcMemHandle_t, hipPitchedPtr};

/// Logs the reason of a failure at level 1: `log_error!("size {size} is past the allocation's end")`.
#[macro_export]
#[doc(hidden)]
macro_rules! log_error {
    ($($argument:tt)*) => {
        $crate::log::line($crate::log::Level::Error, file!(), line!(), format_args!($($argument)*))
    };
}

/// Gives an error and says why at level 1: `return fail!(hipErrorInvalidValue, "null pointer")`.
#[macro_export]
#[doc(hidden)]
macro_rules! fail {
    ($error:expr, $($argument:tt)*) => {{
        $crate::log::line($crate::log::Level::Error, file!(), line!(), format_args!($($argument)*));
        Err($error)
    }};
}

/// Logs the start of an API call.
pub(crate) fn api_enter(site: &crate::entry::Site, arguments: &Arguments) {
    gneiss_clr::log::call_begin(site.name, site.file, site.line, &arguments.text);
}

/// Logs the end of an API call.
pub(crate) fn api_leave(site: &crate::entry::Site, status: crate::error::hipError_t) {
    gneiss_clr::log::call_end(site.name, site.file, site.line, &status.name());
}

/// The text of a call's arguments.
#[derive(Debug, Default)]
pub struct Arguments {
    text: String,
}

impl Arguments {
    /// Adds one argument.
    pub fn push(&mut self, argument: &dyn Argument) {
        if !self.text.is_empty() {
            self.text.push_str(", ");
        }
        argument.write(&mut self.text);
    }
}

/// How an argument of a C function looks in the log. Pointers are shown, never followed.
pub trait Argument {
    /// Appends the text.
    fn write(&self, text: &mut String);
}

macro_rules! plain_arguments {
    ($($type:ty),*) => { $(impl Argument for $type {
        fn write(&self, text: &mut String) {
            let _ = write!(text, "{self}");
        }
    })* };
}
plain_arguments!(u8, u16, u32, u64, i32, i64, usize, f32);

fn write_address(address: usize, text: &mut String) {
    if address == 0 {
        text.push_str("<null>");
    } else {
        let _ = write!(text, "{address:#x}");
    }
}

impl<T> Argument for *const T {
    fn write(&self, text: &mut String) {
        write_address(self.addr(), text);
    }
}

impl<T> Argument for *mut T {
    fn write(&self, text: &mut String) {
        write_address(self.addr(), text);
    }
}

impl Argument for Option<unsafe extern "C" fn(*mut c_void)> {
    fn write(&self, text: &mut String) {
        write_address(self.map_or(0, |function| function as usize), text);
    }
}

impl Argument for crate::types::hipStreamCallback_t {
    fn write(&self, text: &mut String) {
        write_address(self.map_or(0, |function| function as usize), text);
    }
}

impl Argument for dim3 {
    fn write(&self, text: &mut String) {
        let _ = write!(text, "{{{},{},{}}}", self.x, self.y, self.z);
    }
}

impl Argument for crate::types::hipMemLocation {
    fn write(&self, text: &mut String) {
        let _ = write!(text, "{{{},{}}}", self.r#type, self.id);
    }
}

impl Argument for hipExtent {
    fn write(&self, text: &mut String) {
        let _ = write!(text, "{{{},{},{}}}", self.width, self.height, self.depth);
    }
}

impl Argument for hipPitchedPtr {
    fn write(&self, text: &mut String) {
        let _ = write!(
            text,
            "{{{:p},{},{},{}}}",
            self.ptr, self.pitch, self.xsize, self.ysize
        );
    }
}

impl Argument for hipIpcMemHandle_t {
    fn write(&self, text: &mut String) {
        text.push_str("ipc handle");
    }
}

impl Argument for hipIpcEventHandle_t {
    fn write(&self, text: &mut String) {
        text.push_str("ipc handle");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_look_like_amds() {
        let mut arguments = Arguments::default();
        arguments.push(&(0x1234 as *mut u8));
        arguments.push(&std::ptr::null::<u8>());
        arguments.push(&64_usize);
        arguments.push(&dim3 { x: 1, y: 2, z: 3 });
        assert_eq!(arguments.text, "0x1234, <null>, 64, {1,2,3}");
    }
}
