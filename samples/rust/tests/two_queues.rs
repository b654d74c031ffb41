//! The Rust sample: clr as a library, no HIP and no C. Cargo builds it with the rest of the workspace, so that the software GPU is not
//! compiled once more for it.

use std::path::Path;

use gneiss_tests::{Compile, QUICK_TARGET, Run, compile, source_path};

#[test]
fn two_queues() {
    for target in [QUICK_TARGET, "gfx1030"] {
        let code_object = compile(&Compile::code_object(
            &source_path("samples/c/kernels.hip"),
            target,
        ));
        let outcome = Run::new(Path::new(env!("CARGO_BIN_EXE_gneiss-samples")))
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
