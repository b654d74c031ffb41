//! The header that is checked in: up to date, and good C and C++.

use std::path::Path;
use std::process::Command;

#[test]
fn the_header_is_up_to_date() {
    let kept = std::fs::read_to_string(gneiss_headers::header_path())
        .expect("include/gneiss/hip.h is checked in");
    let made = gneiss_headers::header().expect("the header can be made");
    let differs = kept
        .lines()
        .zip(made.lines())
        .position(|(kept, made)| kept != made);
    assert!(
        kept == made,
        "include/gneiss/hip.h differs from the sources at line {:?}: run `make headers`",
        differs.map(|at| at + 1)
    );
}

#[track_caller]
fn compiles(compiler: &str, language: &str, standard: &str) {
    let output = Command::new(compiler)
        .args([
            "-x",
            language,
            standard,
            "-Wall",
            "-Wextra",
            "-Werror",
            "-fsyntax-only",
        ])
        .arg(gneiss_headers::header_path())
        .output()
        .unwrap_or_else(|error| panic!("{compiler}: {error}"));
    assert!(
        output.status.success(),
        "{compiler} {standard}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn a_c_compiler_takes_it() {
    compiles("cc", "c", "-std=c99");
    compiles("cc", "c", "-std=c11");
}

#[test]
fn a_cpp_compiler_takes_it() {
    compiles("c++", "c++", "-std=c++17");
}

#[test]
fn a_program_with_it_compiles_by_its_installed_name() {
    let directory = tempfile::tempdir().expect("a directory for the program");
    let source = directory.path().join("program.c");
    let text = "#include <gneiss/hip.h>\nint main(void) { int32_t n = 0; return hipGetDeviceCount(&n) == hipSuccess ? n : -1; }\n";
    std::fs::write(&source, text).expect("the program can be written");
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let status = Command::new("cc")
        .arg("-I")
        .arg(include)
        .args(["-std=c99", "-Wall", "-Werror", "-fsyntax-only"])
        .arg(&source)
        .status();
    assert!(status.is_ok_and(|status| status.success()));
}
