//! The Rust sample: clr as a library, no HIP and no C.

use std::{path::PathBuf, process::Command};

use gneiss_tests::{Compile, QUICK_TARGET, Run, compile, source_path, workspace_root};

/// Builds the sample as a user of the crates would, in the profile of this test, and gives its path.
fn sample() -> PathBuf {
    let profile = if cfg!(debug_assertions) {
        "dev"
    } else {
        "release"
    };
    let output = Command::new(env!("CARGO"))
        .args(["build", "--locked", "--offline", "--profile", profile])
        .args(["--package", "gneiss-samples", "--message-format", "json"])
        .current_dir(workspace_root())
        .output()
        .expect("cargo runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| {
            serde_json::from_str::<serde_json::Value>(line).ok()?["executable"]
                .as_str()
                .map(PathBuf::from)
        })
        .next_back()
        .expect("the sample has an executable")
}

#[test]
fn two_queues() {
    let program = sample();
    for target in [QUICK_TARGET, "gfx1030"] {
        let code_object = compile(&Compile::code_object(
            &source_path("samples/c/kernels.hip"),
            target,
        ));
        let outcome = Run::new(&program)
            .without_runtime()
            .gpus(target)
            .args([code_object])
            .run();
        outcome.expect_success();
        assert_eq!(
            outcome.stdout,
            format!("device 0: {target}\ntwo_queues: PASSED\n")
        );
    }
}
