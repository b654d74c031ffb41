//! `GNEISS_HSA`: another HSA library than the one that lies beside libamdhip64. `make verify` runs all tests over our own, named in this way.

use std::fs;

use gneiss_tests::{Prefix, case_run};

#[test]
fn the_library_that_is_named_is_the_one_that_is_loaded() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let other = folder.path().join("other-hsa-runtime.so");
    let own = Prefix::find().lib().join("libhsa-runtime64.so.1");
    fs::copy(own, &other).expect("a copy");
    let outcome = case_run("process", "hsa_library")
        .env("GNEISS_HSA", &other)
        .run();
    outcome.expect_success();
    let other = fs::canonicalize(&other).expect("a path");
    assert_eq!(outcome.stdout, format!("{}\n", other.display()));
}

#[test]
fn a_library_that_is_not_there_is_an_error_that_names_it() {
    let outcome = case_run("process", "computes")
        .env("GNEISS_HSA", "/nowhere/libhsa-runtime64.so.1")
        .run();
    assert!(!outcome.hung && !outcome.status.success());
    outcome.expect_stderr(&["/nowhere/libhsa-runtime64.so.1"]);
}
