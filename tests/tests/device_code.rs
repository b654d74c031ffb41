//! What device code may count on, case by case of `programs/device_code.hip`.

use gneiss_tests::{Compile, Run, cases, cases_source, compile};

cases! { "device_code":
    live_blocks_never_overlap,
    jumps_leave_nested_loops,
}

#[test]
fn ballots_are_as_wide_as_the_wave() {
    for (target, width) in [("gfx90a", "64"), ("gfx1030", "32")] {
        let program = Compile::hip(&cases_source("device_code"), target, "-O3");
        Run::new(compile(&program))
            .args(["ballots_are_as_wide_as_the_wave", width])
            .gpus(target)
            .run()
            .expect_success();
    }
}
