//! Libraries and tools that nobody here wrote, unmodified, from the distribution: each is run when it is installed, and named when not.

use std::{path::Path, process::Command, time::Duration};

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
    client_over(program, library, package, &[])
}

/// The same over more libraries.
fn client_over(program: &str, library: &str, package: &str, more: &[&str]) -> Option<Run> {
    let file = format!("{LIBRARIES}/{library}");
    if !installed(&file, program, package) {
        return None;
    }
    let source = source_path(&format!("tests/clients/{program}.cpp"));
    let mut prefix = std::ffi::OsString::from("-L");
    prefix.push(Prefix::find().lib());
    let mut libraries = vec![prefix, format!("-l:{library}").into()];
    libraries.extend(more.iter().map(Into::into));
    libraries.push("-l:libamdhip64.so.5".into());
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
fn rocrand_sobol_of_64_bits() {
    rocrand("sobol64");
}

#[test]
fn rocsparse_multiplies_as_the_host_does() {
    if let Some(run) = client("rocsparse", "librocsparse.so.0", "librocsparse0") {
        run.run().expect_success();
    }
}

#[test]
fn hiprand_gives_what_rocrand_gives() {
    if !installed(
        &format!("{LIBRARIES}/librocrand.so.1"),
        "hiprand",
        "librocrand1",
    ) {
        return;
    }
    if let Some(run) = client_over(
        "hiprand",
        "libhiprand.so.1",
        "libhiprand1",
        &["-l:librocrand.so.1"],
    ) {
        run.run().expect_success();
    }
}

/// Runs Triton's kernels on a target, where Python has Triton.
fn triton(target: &str) {
    let found = Command::new("python3")
        .args(["-c", "import triton, numpy"])
        .output();
    if !found.is_ok_and(|output| output.status.success()) {
        eprintln!("LEFT OUT: Triton for {target} (pip install triton numpy)");
        return;
    }
    let outcome = Run::new("python3")
        .args([source_path("tests/clients/triton_kernels.py")])
        .env(
            "TRITON_LIBHIP_PATH",
            Prefix::find().lib().join("libamdhip64.so"),
        )
        .env("GNEISS_HIP_VERSION", "6")
        .gpus(target)
        .limit(Duration::from_secs(600))
        .run();
    outcome.expect_success();
    assert!(
        outcome.stdout.ends_with("PASSED\n"),
        "{}",
        outcome.describe()
    );
}

#[test]
fn triton_on_gfx90a() {
    triton("gfx90a");
}

#[test]
fn triton_on_gfx942() {
    triton("gfx942");
}

#[test]
fn triton_on_gfx950() {
    triton("gfx950");
}

#[test]
fn triton_on_gfx1100() {
    triton("gfx1100");
}

#[test]
fn triton_on_gfx1201() {
    triton("gfx1201");
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
