//! `gneiss run`: sets the environment so that a program's HIP and HSA libraries are ours, and becomes that program.

use crate::USED_WRONGLY;
use crate::arguments::{Hip, Run};
use crate::environment;
use crate::prefix::Prefix;
use crate::terminal::Terminal;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

/// The exit code for a program that is there and cannot be started.
const CANNOT_START: u8 = 126;

/// Runs the program; returns only when it cannot be started.
pub fn run(options: &Run, terminal: &Terminal) -> ExitCode {
    let mut command = match command(options, terminal) {
        Ok(command) => command,
        Err(code) => return code,
    };
    let error = command.exec();
    cannot_start(options, &error, terminal)
}

/// The exit code for a program that cannot be started.
pub fn cannot_start(options: &Run, error: &std::io::Error, terminal: &Terminal) -> ExitCode {
    let program = options.program.first().cloned().unwrap_or_default();
    let why = why_not(&program, error);
    terminal.error(&format!("{}: {why}", program.to_string_lossy()));
    ExitCode::from(if error.kind() == std::io::ErrorKind::NotFound {
        127
    } else {
        CANNOT_START
    })
}

/// Why a program could not be started, in more words than the system has.
fn why_not(name: &OsStr, error: &std::io::Error) -> String {
    let Some(file) = find_program(name) else {
        return not_in_path(name);
    };
    let Ok(metadata) = std::fs::metadata(&file) else {
        return error.to_string();
    };
    if metadata.is_dir() {
        return "it is a directory".to_owned();
    }
    match error.raw_os_error() {
        Some(libc::EACCES) if metadata.is_file() && !is_executable(&file) => {
            format!("{error}: it is not executable (chmod +x)")
        }
        // The file is there: what is not is what should read it.
        Some(libc::ENOENT) => {
            format!("{error}: the file is there, but not the interpreter that it names")
        }
        _ => error.to_string(),
    }
}

/// The fault of a name that [`find_program`] does not find.
pub fn not_in_path(name: &OsStr) -> String {
    if Path::new(name).is_file() {
        format!(
            "it is not in PATH; the file here is ./{}",
            name.to_string_lossy()
        )
    } else {
        "there is no such program in PATH".to_owned()
    }
}

/// ELF's number of x86-64.
pub const EM_X86_64: u16 = 62;

/// The fault of a program for another processor.
pub fn other_machine(machine: u16) -> String {
    format!("it is for ELF machine {machine}, not for x86-64 ({EM_X86_64})")
}

/// The ELF machine of a file; `None` if it is no ELF file or cannot be read.
fn machine_of(file: &Path) -> Option<u16> {
    use std::io::Read;
    let regular = std::fs::metadata(file).is_ok_and(|metadata| metadata.is_file());
    let mut head = [0_u8; 20];
    regular
        .then(|| std::fs::File::open(file).ok()?.read_exact(&mut head).ok())
        .flatten()?;
    head.starts_with(b"\x7fELF")
        .then(|| u16::from_le_bytes([head[18], head[19]]))
}

/// The program with its environment, ready to be started; else the exit code.
pub fn command(options: &Run, terminal: &Terminal) -> Result<Command, ExitCode> {
    let wrong = |text: &str| {
        terminal.error(text);
        Err(ExitCode::from(USED_WRONGLY))
    };
    let Some((program, arguments)) = options.program.split_first() else {
        return wrong("no program is given");
    };
    let prefix = match Prefix::of_this_command() {
        Ok(prefix) => prefix,
        Err(error) => return wrong(&format!("this command cannot find itself: {error}")),
    };
    if let Some(missing) = prefix.missing() {
        return wrong(&missing);
    }
    if let Err(fault) = environment::check_gpus(options.gpus.as_deref()) {
        return wrong(&fault);
    }
    let (refused, warnings) = environment::problems(options.gpus.as_deref());
    warnings.iter().for_each(|warning| terminal.warn(warning));
    if !refused.is_empty() {
        refused.iter().for_each(|fault| terminal.error(fault));
        return Err(ExitCode::from(USED_WRONGLY));
    }
    if options.hip == Hip::Amd && std::env::var_os("GNEISS_HSA").is_some() {
        terminal.warn("GNEISS_HSA has no effect with --hip amd");
    }
    // exec would hand it to a shell, which reads it as a script.
    let machine = find_program(program).and_then(|file| machine_of(&file));
    if let Some(machine) = machine.filter(|machine| *machine != EM_X86_64) {
        terminal.error(&format!(
            "{}: {}",
            program.to_string_lossy(),
            other_machine(machine)
        ));
        return Err(ExitCode::from(CANNOT_START));
    }
    let mut command = Command::new(program);
    command.args(arguments);
    if gneiss_settings::switch("GNEISS_LIVE") == Some(true) {
        ignore_live_signal(&mut command);
    }
    for (name, value) in variables(options, &prefix, |name| std::env::var_os(name)) {
        terminal.note(&format!("{name}={}", value.to_string_lossy()));
        command.env(name, value);
    }
    Ok(command)
}

/// With `GNEISS_LIVE`, SIGUSR1 asks for the live state, but until the library has its handler it would end the program: it starts with the
/// signal ignored, which exec keeps and the library overrules.
fn ignore_live_signal(command: &mut Command) {
    let ignore = || {
        // SAFETY: needed between fork and exec or right before exec; signal is async-signal-safe and takes no memory of ours.
        let old = unsafe { libc::signal(libc::SIGUSR1, libc::SIG_IGN) };
        if old == libc::SIG_ERR {
            return Err(std::io::Error::last_os_error());
        }
        Ok(())
    };
    // SAFETY: the closure only calls an async-signal-safe function and allocates nothing.
    unsafe { command.pre_exec(ignore) };
}

/// The variables to set. What the caller had in path variables stays, behind ours.
pub fn variables(
    options: &Run,
    prefix: &Prefix,
    old: impl Fn(&str) -> Option<OsString>,
) -> Vec<(&'static str, OsString)> {
    let directory = if options.hip == Hip::Amd {
        prefix.hsa_only()
    } else {
        prefix.lib()
    };
    let mut set = vec![(
        "LD_LIBRARY_PATH",
        joined(directory.as_os_str(), old("LD_LIBRARY_PATH")),
    )];
    if options.hip == Hip::Gneiss {
        // An OpenCL loader shows the libraries of one directory.
        set.push(("OCL_ICD_VENDORS", prefix.opencl_vendors().into()));
    }
    let mut preloaded = Vec::new();
    if options.preload {
        if options.hip == Hip::Gneiss {
            preloaded.push(prefix.hip_library());
        }
        preloaded.push(prefix.hsa_library());
    }
    if options
        .program
        .first()
        .and_then(|name| find_program(name))
        .is_some_and(|file| looks_for_driver(&file))
    {
        preloaded.push(prefix.driver_check());
    }
    if !preloaded.is_empty() {
        let list = preloaded
            .iter()
            .rev()
            .fold(old("LD_PRELOAD").unwrap_or_default(), |rest, library| {
                joined(library.as_os_str(), Some(rest))
            });
        set.push(("LD_PRELOAD", list));
    }
    if let Some(spec) = &options.gpus {
        set.push(("GNEISS_GPUS", spec.into()));
    }
    set
}

/// Most bytes of a program that is searched for names: far more than any tool that looks for the driver has.
const SEARCHED: u64 = 16 << 20;

/// Whether a program uses HSA and looks for AMD's kernel driver itself, as rocminfo does: it would find none and give up.
pub fn looks_for_driver(file: &Path) -> bool {
    let small = std::fs::metadata(file)
        .is_ok_and(|metadata| metadata.is_file() && metadata.len() <= SEARCHED);
    let Some(bytes) = small.then(|| std::fs::read(file).ok()).flatten() else {
        return false;
    };
    let holds = |text: &str| {
        bytes
            .windows(text.len())
            .any(|window| window == text.as_bytes())
    };
    bytes.starts_with(b"\x7fELF")
        && holds("libhsa-runtime64.so")
        && (holds("/dev/kfd") || holds("/sys/module/amdgpu"))
}

fn joined(first: &OsStr, rest: Option<OsString>) -> OsString {
    let mut all = first.to_owned();
    if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
        all.push(":");
        all.push(rest);
    }
    all
}

/// The file that would run: the name itself when it has a slash, else the first executable file of that name in `PATH`.
pub fn find_program(name: &OsStr) -> Option<std::path::PathBuf> {
    if name.as_encoded_bytes().contains(&b'/') {
        return Some(name.into());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|directory| directory.join(name))
        .find(|file| is_executable(file))
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_looks_for_the_driver_is_known_by_its_strings() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("program");
        for (contents, expected) in [
            (&b"\x7fELF libhsa-runtime64.so.1 /dev/kfd"[..], true),
            (
                b"\x7fELF libhsa-runtime64.so.1 /sys/module/amdgpu/initstate",
                true,
            ),
            (b"\x7fELF libhsa-runtime64.so.1", false),
            (b"\x7fELF libamdhip64.so.5 /dev/kfd", false),
            (b"#!/bin/sh libhsa-runtime64.so.1 /dev/kfd", false),
        ] {
            std::fs::write(&file, contents).expect("written");
            assert_eq!(looks_for_driver(&file), expected, "{contents:?}");
        }
        assert!(!looks_for_driver(&folder.path().join("missing")));
    }

    #[test]
    fn old_paths_stay_behind_ours() {
        let Ok(prefix) = Prefix::of_this_command() else {
            panic!("no prefix")
        };
        let options = |hip| Run {
            gpus: Some("gfx906".into()),
            hip,
            preload: true,
            program: vec!["x".into()],
        };
        let old = |name: &str| (name == "LD_LIBRARY_PATH").then(|| "/old".into());
        let text = |path: std::path::PathBuf| path.display().to_string();
        let (lib, hip, hsa) = (
            text(prefix.lib()),
            text(prefix.hip_library()),
            text(prefix.hsa_library()),
        );
        let ours = variables(&options(Hip::Gneiss), &prefix, old);
        let vendors = text(prefix.opencl_vendors());
        let expected: [(_, OsString); 4] = [
            ("LD_LIBRARY_PATH", format!("{lib}:/old").into()),
            ("OCL_ICD_VENDORS", vendors.into()),
            ("LD_PRELOAD", format!("{hip}:{hsa}").into()),
            ("GNEISS_GPUS", "gfx906".into()),
        ];
        assert_eq!(ours, expected);
        let amd = variables(&options(Hip::Amd), &prefix, old);
        assert_eq!(
            amd[0].1,
            OsString::from(format!("{}:/old", text(prefix.hsa_only())))
        );
        assert_eq!(amd[1].1, OsString::from(hsa));
    }
}
