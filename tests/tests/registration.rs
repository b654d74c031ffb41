//! Fat binaries meet devices: which target is taken, and what a program is told whose target is missing.

use gneiss_tests::{Compile, Run, cases_source, compile};

fn program(targets: &[&str]) -> Run {
    Run::new(compile(&Compile::hip_for_targets(
        &cases_source("registration"),
        targets,
        "-O3",
    )))
}

#[test]
fn the_target_of_the_program_is_taken_by_itself() {
    program(&["gfx1030"])
        .args(["runs", "gfx1030"])
        .run()
        .expect_success();
    program(&["gfx90a"])
        .args(["runs", "gfx90a"])
        .run()
        .expect_success();
    program(&["gfx1030"])
        .args(["runs", "gfx1030"])
        .library_path()
        .run()
        .expect_success();
}

#[test]
fn a_program_for_two_targets_runs_on_either() {
    for target in ["gfx90a", "gfx1030"] {
        program(&["gfx90a", "gfx1030"])
            .args(["runs", target])
            .gpus(target)
            .run()
            .expect_success();
    }
}

#[test]
fn target_features_are_matched() {
    let with = |target: &str| program(&[target]).gpus("gfx90a");
    with("gfx90a:xnack-")
        .args(["runs", "gfx90a"])
        .run()
        .expect_success();
    with("gfx90a:xnack+")
        .args(["target_is_missing"])
        .run()
        .expect_success();
}

#[test]
fn error_correction_is_matched() {
    let with = |target: &str, gpu: &str| program(&[target]).gpus(gpu);
    for (target, gpu) in [
        ("gfx90a:sramecc+", "gfx90a"),
        ("gfx90a:sramecc+:xnack-", "gfx90a:sramecc+"),
        ("gfx90a:sramecc-", "gfx90a:sramecc-"),
        ("gfx90a", "gfx90a:sramecc-"),
        ("gfx908:sramecc-", "gfx908:sramecc-"),
    ] {
        let processor = target.split(':').next().expect("a word");
        with(target, gpu)
            .args(["runs", processor])
            .run()
            .expect_success();
    }
    for (target, gpu) in [
        ("gfx90a:sramecc-", "gfx90a"),
        ("gfx90a:sramecc+", "gfx90a:sramecc-"),
    ] {
        with(target, gpu)
            .args(["target_is_missing"])
            .run()
            .expect_success();
    }
    // Where nobody says which GPU there is, it is one that the program is for.
    program(&["gfx90a:sramecc-"])
        .args(["runs", "gfx90a:sramecc-"])
        .run()
        .expect_success();
}

#[test]
fn a_program_without_code_for_the_device_starts_and_is_told_at_the_launch() {
    let outcome = program(&["gfx1030"])
        .args(["target_is_missing"])
        .gpus("gfx90a")
        .env("AMD_LOG_LEVEL", "1")
        .run();
    outcome
        .expect_success()
        .expect_stderr(&["gfx90a", "gfx1030", "--offload-arch=gfx90a"]);
}

#[test]
fn the_gpu_that_the_message_names_runs_the_program() {
    for target in ["gfx90a:sramecc-", "gfx90a:xnack+", "gfx908:sramecc-:xnack+"] {
        let outcome = program(&[target])
            .args(["target_is_missing"])
            .gpus("gfx90a")
            .run();
        outcome
            .expect_success()
            .expect_stderr(&[&format!("or run with GNEISS_GPUS={target}\n")]);
        program(&[target])
            .args(["runs", &target[..6]])
            .gpus(target)
            .run()
            .expect_success();
    }
}

#[test]
fn each_device_has_its_own_variables() {
    let outcome = program(&["gfx90a", "gfx1030"])
        .args(["every_device"])
        .gpus("gfx90a,gfx1030,gfx90a")
        .run();
    outcome.expect_success();
    let devices: Vec<_> = outcome
        .stdout
        .lines()
        .map(|line| line.split(':').next().unwrap_or_default())
        .collect();
    assert_eq!(devices, ["gfx90a", "gfx1030", "gfx90a"]);
}
