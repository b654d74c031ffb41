//! What device code may count on, case by case of `programs/device_code.hip`.

use gneiss_tests::{Compile, Run, cases, cases_source, compile, sample_passes, source_path};

cases! { "device_code":
    live_blocks_never_overlap,
    memory_of_kernels_counts,
    jumps_leave_nested_loops,
    debugging_stops_nothing,
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

#[test]
fn groups_run_on_one_compute_unit_and_on_two() {
    // The compiler's own choice is a whole work-group processor.
    let programs = ["-mno-cumode", "-mcumode"].map(|mode| {
        let source = source_path("samples/hip/reduction.hip");
        let program = compile(&Compile::hip(&source, "gfx1030", "-O3").args([mode]));
        sample_passes("reduction", &Run::new(&program).gpus("gfx1030"));
        std::fs::read(program).expect("the program")
    });
    assert!(programs[0] != programs[1], "the mode is in the code object");
}

#[test]
fn float_atomics_need_coarse_grained_memory_on_gfx90a() {
    const CASE: &str = "float_atomics_need_coarse_grained_memory";
    const WARNING: &str = "a float atomic on fine-grained memory";
    let run = |target: &str, lossy: &str, variables: &[(&str, &str)]| {
        let program = Compile::hip(&cases_source("device_code"), target, "-O3");
        let mut run = Run::new(compile(&program)).args([CASE, lossy]).gpus(target);
        for &(name, value) in variables {
            run = run.env(name, value);
        }
        let ended = run.run();
        ended.expect_success();
        ended
    };
    let lossy = run("gfx90a", "1", &[]);
    assert_eq!(lossy.stderr.matches(WARNING).count(), 1, "{}", lossy.stderr);
    for part in [
        "hardware_adds",
        "instruction: global_atomic_add_f32",
        "GNEISS_FINE_ATOMICS",
    ] {
        assert!(lossy.stderr.contains(part), "{part}: {}", lossy.stderr);
    }
    for (target, variables) in [
        ("gfx90a", &[("GNEISS_FINE_ATOMICS", "done")][..]),
        ("gfx1030", &[]),
    ] {
        let all = run(target, "0", variables);
        assert!(!all.stderr.contains(WARNING), "{}", all.stderr);
    }
}
