//! `gneiss explain`: a recording, or the schedule of a scenario, for a person: a drawing of the streams over time, and in words why
//! commands waited, what the critical path is, why batches were flushed, what serialised what, and what to try.

pub mod analysis;
mod drawing;
mod html;
mod words;

use crate::USED_WRONGLY;
use crate::arguments::Explain as Options;
use crate::terminal::Terminal;
use analysis::Analysis;
use gneiss_clr::replay::{self, Policy, Workload, scenario};
use gneiss_clr::trace::{Trace, TraceError};
use std::io::Write;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::process::ExitCode;

/// Runs the subcommand.
pub fn explain(options: &Options, terminal: &Terminal) -> ExitCode {
    let trace = match load(&options.file) {
        Ok(trace) => trace,
        Err(error) => {
            terminal.error(&format!("{}: {error}", options.file.display()));
            return ExitCode::FAILURE;
        }
    };
    for problem in &trace.problems {
        terminal.warn(problem);
    }
    if options
        .width
        .is_some_and(|width| !(20..=1000).contains(&width))
    {
        terminal.error("--width: from 20 to 1000 columns");
        return ExitCode::from(USED_WRONGLY);
    }
    let analysis = Analysis::new(&trace);
    let words = words::write(&trace, &analysis);
    let width = options.width.unwrap_or(100);
    let mut text = drawing::draw(&trace, width);
    text.push('\n');
    text.push_str(&words);
    if let Some(path) = &options.html {
        let page = html::page(&trace, &analysis, &words);
        if let Err(error) = std::fs::write(path, page) {
            terminal.error(&format!("{}: {error}", path.display()));
            return ExitCode::FAILURE;
        }
    }
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            terminal.error(&error.to_string());
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

/// Reads a trace; a file that is none is taken for a scenario, and its schedule is the trace.
pub fn load(path: &Path) -> Result<Trace, String> {
    match Trace::read(path) {
        Ok(trace) => Ok(trace),
        Err(TraceError::NoTrace) => {
            let (workload, policy) = scenario_of(path)?;
            let outcome =
                replay::run(&workload, &policy, true).map_err(|error| error.to_string())?;
            let mut trace = outcome.trace.ok_or("no schedule came of it")?;
            trace.arguments = vec![path.file_name().map_or_else(
                || "scenario".to_owned(),
                |name| name.to_string_lossy().into_owned(),
            )];
            Ok(trace)
        }
        Err(error) => Err(error.to_string()),
    }
}

/// The page of a trace.
pub fn page(trace: &Trace) -> String {
    let analysis = Analysis::new(trace);
    let words = words::write(trace, &analysis);
    html::page(trace, &analysis, &words)
}

/// The name of the program that was recorded, without its folder.
fn program(trace: &Trace) -> &str {
    let path = trace.arguments.first().map_or("program", String::as_str);
    path.rsplit('/').next().unwrap_or(path)
}

/// A number of things: `1 stream`, `2 streams`.
pub fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// Reads a scenario, or says what else the file seems to be.
///
/// # Errors
/// A line for the person who gave the file.
pub fn scenario_of(path: &Path) -> Result<(Workload, Policy), String> {
    let kind = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if kind.is_dir() || kind.file_type().is_char_device() || kind.file_type().is_block_device() {
        return Err("not a file with a trace or a scenario".to_owned());
    }
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let text = std::str::from_utf8(&bytes)
        .map_err(|_| "neither a trace nor the text of a scenario".to_owned())?;
    // The mark that some editors put before UTF-8.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with('{') {
        return Err(
            "this is JSON, as `gneiss trace --json` writes it; what is wanted is the trace itself, the file behind -o".to_owned(),
        );
    }
    scenario::parse(text).map_err(|error| error.to_string())
}

/// A time for a person.
pub fn time(nanoseconds: u64) -> String {
    let value = nanoseconds as f64;
    match nanoseconds {
        0..1_000 => format!("{nanoseconds} ns"),
        1_000..1_000_000 => format!("{:.1} us", value / 1e3),
        1_000_000..1_000_000_000 => format!("{:.2} ms", value / 1e6),
        _ => format!("{:.3} s", value / 1e9),
    }
}

#[cfg(test)]
mod tests;
