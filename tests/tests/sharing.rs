//! What processes share, peers, and virtual memory, case by case of `programs/sharing.hip`.

use std::process::Command;

use gneiss_tests::{Compile, QUICK_TARGET, Run, cases, cases_source, compile};

cases! { "sharing" in both modes:
    event_of_another_process,
    event_opened_again_and_again,
    external_memory,
    mapped_memory,
    mapped_memory_of_another_process,
    pool_of_another_process,
}

cases! { "sharing" on two devices:
    cooperative_launch_on_two_devices,
    copies_of_another_devices_memory_wait_for_its_streams,
    memory_of_another_process,
    peer_access_is_enabled_once,
    pool_for_another_device,
}

#[test]
fn processes_share_across_pid_namespaces() {
    // Both are process 1 of a namespace: a handle's process number is nobody's, or somebody else's.
    let apart = ["--user", "--map-root-user", "--pid", "--fork"];
    let possible = Command::new("unshare").args(apart).arg("true").status();
    if !possible.is_ok_and(|status| status.success()) {
        eprintln!("left out: unshare (util-linux) cannot make PID namespaces here");
        return;
    }
    let program = compile(&Compile::hip(&cases_source("sharing"), QUICK_TARGET, "-O3"));
    for case in [
        "memory_of_another_process",
        "event_of_another_process",
        "event_opened_again_and_again",
    ] {
        Run::new("unshare")
            .args(apart)
            .args([program.as_os_str(), case.as_ref(), "apart".as_ref()])
            .gpus("gfx90a:2")
            .run()
            .expect_success();
    }
}
