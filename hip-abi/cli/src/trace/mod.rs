//! `gneiss trace`: runs a program while the runtime records, and writes what was recorded in other forms.

mod forward;
mod json;
mod perfetto;

use crate::arguments::{Hip, Run, Trace as Options};
use crate::terminal::Terminal;
use crate::{USED_WRONGLY, run};
use gneiss_clr::trace::Trace;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitCode;

pub use perfetto::span;

/// Runs the program and gives its exit code (128 and the signal's number if a signal ended it).
pub fn trace(options: &Options, terminal: &Terminal) -> ExitCode {
    let wrong = |text: &str| {
        terminal.error(text);
        ExitCode::from(USED_WRONGLY)
    };
    if options.hip == Hip::Amd {
        return wrong(
            "--hip amd: the recorder is in Gneiss' own HIP library; AMD's records nothing. `gneiss run --hip amd` runs the program",
        );
    }
    let file = match std::path::absolute(&options.output) {
        Ok(file) => file,
        Err(error) => return wrong(&format!("{}: {error}", options.output.display())),
    };
    if options
        .json
        .iter()
        .chain(&options.perfetto)
        .any(|other| std::path::absolute(other).is_ok_and(|other| other == file))
    {
        return wrong("the trace and what is written from it need files of their own");
    }
    // Only a trace is replaced; a file that may be something else is not.
    if file.exists() {
        match Trace::read(&file) {
            Ok(_) => {
                if let Err(error) = std::fs::remove_file(&file) {
                    return wrong(&format!("{}: {error}", file.display()));
                }
            }
            Err(_) => {
                return wrong(&format!(
                    "{} exists and is no trace; it is left alone",
                    file.display()
                ));
            }
        }
    }
    // The runtime makes the file, but only this command can say at once that it cannot.
    if let Err(error) = File::create_new(&file).and_then(|_| std::fs::remove_file(&file)) {
        return wrong(&format!("{}: {error}", file.display()));
    }
    let as_run = Run {
        gpus: options.gpus.clone(),
        hip: options.hip,
        preload: options.preload,
        program: options.program.clone(),
    };
    let mut command = match run::command(&as_run, terminal) {
        Ok(command) => command,
        Err(code) => return code,
    };
    command.env("GNEISS_TRACE", &file);
    if options.no_times {
        command.env("GNEISS_TRACE_TIMES", "0");
    }
    let status = match forward::run(&mut command) {
        Ok(status) => status,
        Err(error) => return run::cannot_start(&as_run, &error, terminal),
    };
    let code = match (status.code(), status.signal()) {
        (Some(code), _) => code as u8,
        (None, Some(signal)) => {
            terminal.warn(&format!("the program was ended by signal {signal}"));
            128 + signal as u8
        }
        (None, None) => 1,
    };
    if !file.exists() {
        terminal.error(
            "nothing was recorded: the program did not use the HIP runtime, or the file could not be made",
        );
        return ExitCode::from(if code == 0 { 1 } else { code });
    }
    match export(&file, options, terminal) {
        Ok(()) => ExitCode::from(code),
        Err(error) => {
            terminal.error(&error);
            ExitCode::from(if code == 0 { 1 } else { code })
        }
    }
}

fn export(file: &Path, options: &Options, terminal: &Terminal) -> Result<(), String> {
    if options.json.is_none() && options.perfetto.is_none() {
        return Ok(());
    }
    let trace = Trace::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    for problem in &trace.problems {
        terminal.warn(problem);
    }
    if let Some(path) = &options.json {
        write_file(path, |out| json::write(&trace, out))?;
    }
    if let Some(path) = &options.perfetto {
        write_file(path, |out| out.write_all(&perfetto::encode(&trace)))?;
    }
    Ok(())
}

/// Writes a file through a buffer.
pub fn write_file(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<(), String> {
    let result = File::create(path).and_then(|file| {
        let mut out = BufWriter::new(file);
        write(&mut out)?;
        out.flush()
    });
    result.map_err(|error| format!("{}: {error}", path.display()))
}
