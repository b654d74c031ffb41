//! The log of AMD's shape on stderr: `AMD_LOG_LEVEL` (1 error, 2 warning, 3 information, 4 debug), `AMD_LOG_MASK`,
//! `AMD_LOG_LEVEL_FILE`. Both front ends, HIP and OpenCL, write it.
//!
//! A line is `:level:file:line: microseconds us: pid: [tid:…] message`, as tools that read such logs expect; one write per
//! line. Below the wanted level a call costs one load.

use std::{
    fmt,
    fs::File,
    io::{IsTerminal, Write as _},
    sync::OnceLock,
    time::Instant,
};

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

/// Logs the start of an API call.
pub fn call_begin(name: &str, file: &str, line_number: u32, arguments: &str) {
    let (on, off) = if settings().colour {
        ("\x1b[32m", "\x1b[0m")
    } else {
        ("", "")
    };
    line(
        Level::Info,
        file,
        line_number,
        format_args!("{on}{name} ( {arguments} ){off}"),
    );
}

/// Logs the end of an API call.
pub fn call_end(name: &str, file: &str, line_number: u32, status: &dyn fmt::Display) {
    line(
        Level::Info,
        file,
        line_number,
        format_args!("{name}: Returned {status} : "),
    );
}
