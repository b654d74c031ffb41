//! Compiling at run time, case by case of `programs/rtc.hip`: through libamd_comgr and through clang, with and without the cache.

use std::{fs, path::Path};

use gneiss_tests::{Outcome, Prefix, case_run, elf::SharedLibrary};

fn run(case: &str, compiler: &str, cache: &Path) -> Outcome {
    case_run("rtc", case)
        .env("GNEISS_HIPRTC_COMPILER", compiler)
        .env("GNEISS_HIPRTC_CACHE", cache)
        .run()
}

/// Runs a case with each compiler, and again with what the first run left in the cache.
fn passes(case: &str) {
    for compiler in ["comgr", "clang"] {
        let folder = tempfile::tempdir().expect("a folder");
        let first = run(case, compiler, folder.path());
        first.expect_success();
        let files = fs::read_dir(folder.path()).expect("the cache").count();
        let second = run(case, compiler, folder.path());
        second.expect_success();
        assert_eq!(first.stdout, second.stdout, "{compiler}");
        let again = fs::read_dir(folder.path()).expect("the cache").count();
        assert_eq!(files, again, "{compiler}: the second run compiled again");
    }
}

#[test]
fn source_compiles_and_runs() {
    passes("compiles_and_runs");
}

#[test]
fn headers_and_options_reach_the_compiler() {
    passes("headers_and_options");
}

#[test]
fn name_expressions_have_symbols_also_from_the_cache() {
    passes("name_expressions");
}

#[test]
fn bitcode_links() {
    passes("bitcode_links");
}

#[test]
fn the_runtime_links() {
    passes("the_runtime_links");
}

#[test]
fn kernels_allocate_when_clang_compiles_them() {
    // The header in Debian's libhiprtc-builtins 5.2 was made without a version of HIP: its malloc is a trap, with AMD's library as well.
    run("kernels_allocate", "clang", Path::new("0")).expect_success();
}

#[test]
fn failures_have_a_log() {
    for compiler in ["comgr", "clang"] {
        run("failures_have_a_log", compiler, Path::new("0")).expect_success();
    }
}

#[test]
fn without_a_compiler_the_log_says_what_to_install() {
    let empty = tempfile::tempdir().expect("a folder");
    let outcome = case_run("rtc", "prints_the_log")
        .env("GNEISS_HIPRTC_COMPILER", "none")
        .env("GNEISS_HIPRTC_CACHE", "0")
        .env("ROCM_PATH", empty.path())
        .run();
    outcome.expect_success();
    for word in [
        "no compiler",
        "libamd-comgr2",
        "clang-15",
        "rocm-device-libs",
    ] {
        assert!(outcome.stdout.contains(word), "{}", outcome.stdout);
    }
}

#[test]
fn libhiprtc_exports_its_functions_without_versions() {
    let prefix = Prefix::find();
    for name in [
        "libhiprtc.so",
        "libhiprtc.so.5",
        "libhiprtc.so.6",
        "libhiprtc.so.7",
    ] {
        let library = SharedLibrary::read(&prefix.lib().join(name));
        assert_eq!(library.exports.len(), 18, "{name}: {:?}", library.exports);
        assert!(
            library
                .exports
                .iter()
                .all(|(symbol, node)| symbol.starts_with("hiprtc") && node.is_empty()),
            "{name}: {:?}",
            library.exports
        );
    }
}
