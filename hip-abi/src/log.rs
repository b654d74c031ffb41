//! The log of AMD's shape on stderr: `AMD_LOG_LEVEL` (1 error, 2 warning, 3 information, 4 debug), `AMD_LOG_MASK`,
//! `AMD_LOG_LEVEL_FILE`.
//!
//! A line is `:level:file:line: microseconds us: pid: [tid:…] message`, as tools that read such logs expect; one write per
//! line. Below the wanted level a call costs one load.

use std::{
    ffi::c_void,
    fmt::{self, Write as _},
    fs::File,
    io::{IsTerminal, Write as _},
    sync::OnceLock,
    time::Instant,
};

use crate::types::{dim3, hipExtent, hipIpcEventHandle_t, hipIpcMemHandle_t, hipPitchedPtr};

/// Levels of `AMD_LOG_LEVEL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Errors and their reasons.
    Error = 1,
    /// Warnings.
    Warning = 2,
    /// Every call of the API.
    Info = 3,
    /// Details.
    Debug = 4,
}

/// Mask bit of API calls in `AMD_LOG_MASK`.
const MASK_API: u64 = 1;

#[derive(Debug)]
struct Settings {
    level: u32,
    mask: u64,
    file: Option<File>,
    colour: bool,
    start: Instant,
}

fn settings() -> &'static Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        let number = |name: &str| {
            gneiss_settings::text(name).and_then(|text| gneiss_settings::parse::number(&text))
        };
        let file = std::env::var_os("AMD_LOG_LEVEL_FILE")
            .filter(|name| !name.is_empty())
            .and_then(|name| File::options().create(true).append(true).open(name).ok());
        Settings {
            level: number("AMD_LOG_LEVEL").map_or(0, |level| level.min(5) as u32),
            mask: number("AMD_LOG_MASK").unwrap_or(0x7fff_ffff),
            colour: file.is_none()
                && std::io::stderr().is_terminal()
                && std::env::var_os("NO_COLOR").is_none(),
            file,
            start: Instant::now(),
        }
    })
}

/// Whether lines of this level are wanted.
#[inline]
pub fn enabled(level: Level) -> bool {
    settings().level >= level as u32
}

/// Whether calls of the API are to be logged.
#[inline]
pub fn api_enabled() -> bool {
    let settings = settings();
    settings.level >= Level::Info as u32 && settings.mask & MASK_API != 0
}

/// Writes one line; `file` may be a path.
pub fn line(level: Level, file: &str, line_number: u32, message: fmt::Arguments<'_>) {
    if !enabled(level) {
        return;
    }
    let settings = settings();
    let name = file.rsplit('/').next().unwrap_or(file);
    let microseconds = settings.start.elapsed().as_micros();
    // SAFETY: both calls have no preconditions.
    let (process, thread) = unsafe { (libc::getpid(), libc::pthread_self()) };
    let text = format!(
        ":{}:{name:<25}:{line_number:<4}: {microseconds:010} us: {process}: [tid:{thread:#x}] {message}\n",
        level as u32
    );
    // A log that can't be written is no reason to fail the program's call.
    let _ = match &settings.file {
        Some(file) => (&*file).write_all(text.as_bytes()),
        None => std::io::stderr().lock().write_all(text.as_bytes()),
    };
}

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
    let (on, off) = if settings().colour {
        ("\x1b[32m", "\x1b[0m")
    } else {
        ("", "")
    };
    line(
        Level::Info,
        site.file,
        site.line,
        format_args!("{on}{} ( {} ){off}", site.name, arguments.text),
    );
}

/// Logs the end of an API call.
pub(crate) fn api_leave(site: &crate::entry::Site, status: crate::error::hipError_t) {
    line(
        Level::Info,
        site.file,
        site.line,
        format_args!("{}: Returned {} : ", site.name, status.name()),
    );
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
