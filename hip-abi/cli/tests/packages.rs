//! pkg-config and CMake files of the prefix: a C program builds with them and runs over the library.

use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAM: &str = "#include <gneiss/hip.h>\n#include <stdio.h>\n\
int main(void) {\n    int version = 0;\n    if (hipRuntimeGetVersion(&version) != hipSuccess) return 1;\n    \
printf(\"%d\\n\", version / 10000000);\n    return 0;\n}\n";

fn prefix() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let prefix = std::env::var_os("GNEISS_PREFIX")
        .map_or_else(|| workspace.join("target/rocm"), PathBuf::from);
    assert!(
        prefix.join("lib/pkgconfig").exists(),
        "{} is not built: run `make` first",
        prefix.display()
    );
    std::fs::canonicalize(prefix).expect("the prefix exists")
}

/// Runs a command in a directory; its output must be good.
#[track_caller]
fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{command:?}\n{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

/// What the program of a C file prints that `pkg-config` has the flags of.
fn with_pkg_config(package: &str) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("program.c"), PROGRAM).expect("the program is written");
    let flags = run(Command::new("pkg-config")
        .args(["--cflags", "--libs", package])
        .env("PKG_CONFIG_PATH", prefix().join("lib/pkgconfig")));
    run(Command::new("cc")
        .current_dir(&directory)
        .args(["-std=c99", "-Wall", "-Werror", "program.c", "-o", "program"])
        .args(flags.split_whitespace()));
    run(&mut Command::new(directory.path().join("program")))
}

/// The same of CMake, which is given a definition.
fn with_cmake(definition: &str) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let lists = "cmake_minimum_required(VERSION 3.16)\nproject(program C)\nfind_package(gneiss 0.1 REQUIRED)\n\
                 add_executable(program program.c)\ntarget_link_libraries(program PRIVATE gneiss::amdhip64)\n";
    std::fs::write(directory.path().join("program.c"), PROGRAM).expect("the program is written");
    std::fs::write(directory.path().join("CMakeLists.txt"), lists).expect("the lists are written");
    let build = directory.path().join("build");
    let define = format!("-DCMAKE_PREFIX_PATH={}", prefix().display());
    run(Command::new("cmake")
        .arg("-S")
        .arg(directory.path())
        .arg("-B")
        .arg(&build)
        .args([&define, definition]));
    run(Command::new("cmake").arg("--build").arg(&build));
    run(&mut Command::new(build.join("program")))
}

#[test]
fn a_c_program_builds_with_pkg_config() {
    assert_eq!(with_pkg_config("gneiss-hip"), "5\n");
}

#[test]
fn a_c_program_builds_with_cmake() {
    assert_eq!(with_cmake("-DCMAKE_BUILD_TYPE=Release"), "5\n");
}

#[test]
fn programs_of_later_versions_are_linked_for_theirs() {
    for version in ["6", "7"] {
        let printed = format!("{version}\n");
        assert_eq!(with_pkg_config(&format!("gneiss-hip-{version}")), printed);
        let definition = format!("-DGNEISS_HIP_VERSION={version}");
        assert_eq!(with_cmake(&definition), printed);
    }
}
