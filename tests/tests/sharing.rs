//! What processes share, peers, and virtual memory, case by case of `programs/sharing.hip`.

use gneiss_tests::{case_run, cases};

cases! { "sharing":
    event_of_another_process,
    event_opened_again_and_again,
    external_memory,
    mapped_memory,
    pool_of_another_process,
}

/// Runs a case on a machine with two devices.
fn passes_on_two_devices(case: &str) {
    case_run("sharing", case)
        .gpus("gfx90a:2")
        .run()
        .expect_success();
}

#[test]
fn memory_of_another_process() {
    passes_on_two_devices("memory_of_another_process");
}

#[test]
fn pool_for_another_device() {
    passes_on_two_devices("pool_for_another_device");
}

#[test]
fn cooperative_launch_on_two_devices() {
    passes_on_two_devices("cooperative_launch_on_two_devices");
}

#[test]
fn peer_access_is_enabled_once() {
    passes_on_two_devices("peer_access_is_enabled_once");
}
