//! The C samples: compiled by the system's C compiler, linked with the prefix, run over it.

use gneiss_tests::{Compile, Prefix, QUICK_TARGET, Run, compile, source_path};

fn sample(name: &str) -> Run {
    let source = source_path(&format!("samples/c/{name}.c"));
    Run::new(compile(&Compile::c_over_hip(&source, &Prefix::find())))
}

#[test]
fn device_info() {
    let outcome = sample("device_info").gpus("gfx90a").run();
    outcome.expect_success();
    assert!(
        outcome.stdout.contains("waves of 64") && outcome.stdout.ends_with("device_info: PASSED\n"),
        "{}",
        outcome.describe()
    );
}

#[test]
fn streams_events() {
    for target in [QUICK_TARGET, "gfx1030"] {
        let module = compile(&Compile::module(
            &source_path("samples/c/kernels.hip"),
            target,
        ));
        sample("streams_events")
            .gpus(target)
            .args([module])
            .run()
            .expect_success();
    }
}
