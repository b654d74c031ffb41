//! Who may depend on whom: the rooms of the design, checked against cargo's own view of the workspace.

use std::{collections::BTreeSet, process::Command};

use gneiss_tests::workspace_root;
use serde_json::Value;

/// Every edge between crates of the workspace that the design allows.
const ALLOWED: [(&str, &[&str]); 18] = [
    ("gneiss-fatbin", &[]),
    ("gneiss-settings", &["gneiss-fatbin"]),
    ("gneiss-hsa-api", &[]),
    ("gneiss-amdgcn", &["gneiss-fatbin", "gneiss-settings"]),
    (
        "gneiss-hsa-core",
        &[
            "gneiss-fatbin",
            "gneiss-settings",
            "gneiss-amdgcn",
            "gneiss-hsa-api",
        ],
    ),
    (
        "gneiss-clr",
        &["gneiss-fatbin", "gneiss-settings", "gneiss-hsa-api"],
    ),
    ("gneiss-clr-models", &[]),
    // OpenCL stands beside HIP on the command queues; both compile through hiprtc's compilers.
    (
        "gneiss-opencl",
        &[
            "gneiss-fatbin",
            "gneiss-settings",
            "gneiss-clr",
            "gneiss-hiprtc",
        ],
    ),
    (
        "gneiss-hip-abi",
        &[
            "gneiss-fatbin",
            "gneiss-settings",
            "gneiss-hsa-api",
            "gneiss-clr",
            "gneiss-hip-abi-macros",
            "gneiss-hiprtc",
        ],
    ),
    ("gneiss-hip-abi-macros", &[]),
    ("gneiss-hiprtc", &["gneiss-fatbin", "gneiss-settings"]),
    (
        "gneiss",
        &[
            "gneiss-fatbin",
            "gneiss-settings",
            "gneiss-amdgcn",
            "gneiss-hsa-api",
            "gneiss-clr",
        ],
    ),
    ("gneiss-driver-check", &[]),
    ("gneiss-roctx", &[]),
    ("gneiss-hsa-model", &[]),
    ("gneiss-samples", &["gneiss-clr", "gneiss-hsa-core"]),
    ("gneiss-headers", &[]),
    ("gneiss-tests", &[]),
];

#[test]
fn no_edge_that_the_design_does_not_allow() {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
            "--offline",
        ])
        .current_dir(workspace_root())
        .output()
        .expect("cargo runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value =
        serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let names: BTreeSet<_> = packages
        .iter()
        .filter_map(|package| package["name"].as_str())
        .collect();

    for package in packages {
        let name = package["name"].as_str().expect("a name");
        let (_, allowed) = ALLOWED
            .iter()
            .find(|(known, _)| *known == name)
            .unwrap_or_else(|| {
                panic!("{name} is a new crate: say in this test what it may depend on")
            });
        let shipped = package["dependencies"]
            .as_array()
            .expect("dependencies")
            .iter()
            // A development dependency reaches no user: tests may look at other rooms.
            .filter(|dependency| dependency["kind"].as_str() != Some("dev"))
            .filter_map(|dependency| dependency["name"].as_str())
            .filter(|dependency| names.contains(dependency));
        for dependency in shipped {
            assert!(
                allowed.contains(&dependency),
                "{name} must not depend on {dependency}"
            );
        }
    }
}
