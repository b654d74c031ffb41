//! What the end-to-end tests and the bench share: the prefix under test, compilers with a cache, and program runs.
//!
//! The tests take the prefix that `make` lays out (`target/rocm`, or the folder that `GNEISS_PREFIX` names) as a user has it: they
//! compile programs with the real hipcc against AMD's headers, run them, and look at exit codes and output. Nothing here
//! links the crates under test. What a test needs and does not find (the prefix, a compiler) fails the test with one line that
//! says what to do about it.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    process::{Command, Stdio},
};

mod compile;
pub mod device_code;
mod device_libraries;
pub mod elf;
mod prefix;
mod run;

pub use compile::{Compile, clang_19, clang_22, compile};
pub use prefix::{Prefix, cases_source, source_path, workspace_root};
pub use run::{Outcome, Run, gneiss, gneiss_succeeds};

/// Whether the long run is asked for: every target, optimisation level and runtime instead of one of each.
pub fn verify() -> bool {
    std::env::var_os("GNEISS_VERIFY").is_some_and(|value| value == "1")
}

/// The target that the quick tests compile for.
pub const QUICK_TARGET: &str = "gfx90a";

/// The HIP samples, `samples/hip/<name>.hip`.
pub const HIP_SAMPLES: [&str; 8] = [
    "hello",
    "vector_add",
    "matrix_multiply",
    "reduction",
    "histogram",
    "nbody",
    "stream_pipeline",
    "texture_rotate",
];

/// Runs a HIP sample and looks for its verdict.
///
/// # Panics
///
/// When it exits with anything but 0, or does not end with the verdict.
pub fn sample_passes(name: &str, run: &Run) {
    let outcome = run.run();
    outcome.expect_success();
    assert!(
        outcome.stdout.ends_with(&format!("{name}: PASSED\n")),
        "{}",
        outcome.describe()
    );
}

/// Compiles `programs/<program>.hip` for the quick target and runs one case of it; the case must pass.
///
/// # Panics
///
/// When the program does not compile, or the case exits with anything but 0.
pub fn passes(program: &str, case: &str) {
    case_run(program, case).run().expect_success();
}

/// As [`passes`], in both dispatch modes.
///
/// # Panics
///
/// As [`passes`].
pub fn passes_in_both_modes(program: &str, case: &str) {
    for run in case_run(program, case).in_both_modes() {
        run.run().expect_success();
    }
}

/// As [`passes_in_both_modes`], on a machine with two devices.
///
/// # Panics
///
/// As [`passes`].
pub fn passes_on_two_devices(program: &str, case: &str) {
    for run in case_run(program, case).gpus("gfx90a:2").in_both_modes() {
        run.run().expect_success();
    }
}

/// A run of one case of `programs/<program>.hip`, compiled for the quick target at `-O3`.
pub fn case_run(program: &str, case: &str) -> Run {
    let executable = compile(&Compile::hip(&cases_source(program), QUICK_TARGET, "-O3"));
    Run::new(executable).args([case])
}

/// A run of a case whose program asks for another version's library: the name in its table of needed libraries is another one.
///
/// # Panics
///
/// When the program does not compile, or its copy cannot be written.
pub fn presenting(version: char, program: &str, case: &str) -> Run {
    const NAME: &[u8] = b"libamdhip64.so.";
    let executable = compile(&Compile::hip(&cases_source(program), QUICK_TARGET, "-O3"));
    let mut bytes = fs::read(&executable).expect("the program");
    let places: Vec<usize> = bytes
        .windows(NAME.len())
        .enumerate()
        .filter(|(_, window)| *window == NAME)
        .map(|(place, _)| place + NAME.len())
        .collect();
    assert!(!places.is_empty(), "the program needs the library");
    for place in places {
        bytes[place] = version as u8;
    }
    let copy = executable.with_file_name(format!("{program}-{case}-of-version-{version}"));
    // Another process writes it: a file that this one has open for writing may be so in a child that another test's thread starts meanwhile,
    // and would not be run.
    let mut writer = Command::new("tee")
        .arg(&copy)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("tee starts");
    let mut pipe = writer.stdin.take().expect("a pipe");
    pipe.write_all(&bytes).expect("tee reads");
    drop(pipe);
    assert!(writer.wait().expect("tee ends").success());
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).expect("permissions");
    Run::new(copy).args([case])
}

/// Makes one test of each named case of a program in `programs/`; the case must pass, with `in both modes` in each dispatch mode, and with
/// `on two devices` so, too, on a machine with two.
#[macro_export]
macro_rules! cases {
    ($program:literal on two devices: $($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                $crate::passes_on_two_devices($program, stringify!($name));
            }
        )*
    };
    ($program:literal in both modes: $($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                $crate::passes_in_both_modes($program, stringify!($name));
            }
        )*
    };
    ($program:literal: $($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                $crate::passes($program, stringify!($name));
            }
        )*
    };
}
