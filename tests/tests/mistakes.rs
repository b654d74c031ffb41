//! Calls that are mistakes, case by case of `programs/mistakes.hip`: what AMD's runtime lets pass does so here, and the log names it.

use gneiss_tests::{case_run, presenting};

gneiss_tests::cases! { "mistakes":
    any_call_frees_any_memory,
    any_address_frees_its_allocation,
    flags_of_host_memory_that_do_not_exist,
    memory_registered_twice,
    registrations_that_overlap,
    registered_memory_that_is_gone,
    registered_memory_of_hip,
    places_that_are_not_there,
    devices_that_are_not_there,
    ranges_of_no_size,
}

#[test]
fn the_log_names_mistakes_that_are_let_pass() {
    for (case, mistakes) in [
        (
            "any_call_frees_any_memory",
            &[
                "is Device memory, not host memory: it is freed all the same",
                "is Managed memory, not host memory",
            ][..],
        ),
        (
            "any_address_frees_its_allocation",
            &[
                "is 16 bytes into an allocation of 8388608 bytes: all of it is freed",
                "is 4 bytes into an allocation",
            ],
        ),
        (
            "flags_of_host_memory_that_do_not_exist",
            &["host allocation flags 0xffff are not all known"],
        ),
        (
            "memory_registered_twice",
            &["some are registered already: hipHostUnregister did not end that"],
        ),
        (
            "registered_memory_of_hip",
            &[
                "is in memory that HIP allocated: there is nothing to register",
                "was allocated by HIP, not registered: it stays until it is freed",
            ],
        ),
        ("devices_that_are_not_there", &["there is no device 7"]),
    ] {
        let outcome = case_run("mistakes", case).env("AMD_LOG_LEVEL", "1").run();
        outcome.expect_success();
        for mistake in mistakes {
            assert!(
                outcome
                    .stderr
                    .lines()
                    .any(|line| line.starts_with(":1:") && line.contains(mistake)),
                "{case}: no {mistake:?} in {}",
                outcome.stderr
            );
        }
    }
}

#[test]
fn codes_are_those_of_the_version_that_the_program_links() {
    for (version, empty, rows) in [
        ('5', "hipErrorInvalidKernelFile", "hipErrorInvalidValue"),
        ('6', "hipErrorInvalidValue", "hipErrorInvalidValue"),
        ('7', "hipErrorInvalidImage", "hipErrorContextIsDestroyed"),
    ] {
        let outcome = presenting(version, "mistakes", "codes_of_the_version").run();
        outcome.expect_success();
        assert_eq!(
            outcome.stdout,
            format!(
                "a module of no bytes: {empty}\na directory as a module: hipErrorInvalidValue\nno file as a module: hipErrorFileNotFound\nrows on a stream that is gone: {rows}\nbytes on a stream that is gone: hipErrorContextIsDestroyed\n"
            ),
            "version {version}"
        );
    }
}
