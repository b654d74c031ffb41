//! Libraries and tools that nobody here wrote, unmodified, from the distribution: each is run when it is installed, and named when not.

use std::{path::Path, process::Command};

use gneiss_tests::{Compile, Outcome, Prefix, QUICK_TARGET, Run, compile, source_path};

const LIBRARIES: &str = "/usr/lib/x86_64-linux-gnu";

/// Whether a file of a package is there; says aloud what is left out when it is not.
fn installed(file: &str, what: &str, package: &str) -> bool {
    let found = Path::new(file).exists();
    if !found {
        eprintln!("LEFT OUT: {what} (apt install {package})");
    }
    found
}

/// A client program over a library's runtime package; `None` if that is missing.
fn client(program: &str, library: &str, package: &str) -> Option<Run> {
    let file = format!("{LIBRARIES}/{library}");
    if !installed(&file, program, package) {
        return None;
    }
    let source = source_path(&format!("tests/clients/{program}.cpp"));
    let mut prefix = std::ffi::OsString::from("-L");
    prefix.push(Prefix::find().lib());
    let libraries = [
        prefix,
        format!("-l:{library}").into(),
        "-l:libamdhip64.so.5".into(),
    ];
    Some(Run::new(compile(
        &Compile::cpp(&source).args(["-O2"]).libraries(libraries),
    )))
}

fn rocrand(generator: &str) {
    if let Some(run) = client("rocrand", "librocrand.so.1", "librocrand1") {
        run.args([generator]).run().expect_success();
    }
}

#[test]
fn rocrand_xorwow() {
    rocrand("xorwow");
}

#[test]
fn rocrand_mrg32k3a() {
    rocrand("mrg32k3a");
}

#[test]
fn rocrand_mtgp32() {
    rocrand("mtgp32");
}

#[test]
fn rocrand_philox() {
    rocrand("philox4_32_10");
}

#[test]
fn rocrand_sobol() {
    rocrand("sobol32");
}

#[test]
fn rocsparse_multiplies_as_the_host_does() {
    if let Some(run) = client("rocsparse", "librocsparse.so.0", "librocsparse0") {
        run.run().expect_success();
    }
}

/// The words that OpenMPI's compiler wrapper adds.
fn mpi_words(part: &str) -> Vec<String> {
    let output = Command::new("mpicc")
        .arg(format!("--showme:{part}"))
        .output();
    let output = output.expect("mpicc runs").stdout;
    String::from_utf8_lossy(&output)
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

#[test]
fn two_ranks_copy_between_their_devices() {
    if !installed("/usr/bin/mpirun", "two_ranks", "openmpi-bin")
        || !installed("/usr/bin/mpicc", "two_ranks", "libopenmpi-dev")
    {
        return;
    }
    let program = compile(
        &Compile::hip(
            &source_path("tests/clients/two_ranks.hip"),
            QUICK_TARGET,
            "-O3",
        )
        .args(mpi_words("compile"))
        .libraries(mpi_words("link")),
    );
    let outcome: Outcome = Run::new("/usr/bin/mpirun")
        .args([
            "--allow-run-as-root",
            "--oversubscribe",
            "-n",
            "2",
            "--mca",
            "btl",
            "self,vader",
        ])
        .args([program])
        .gpus("gfx90a:2")
        .run();
    outcome.expect_success();
    assert_eq!(outcome.stdout.trim(), "PASSED", "{}", outcome.describe());
}
