//! Every HIP sample, under `gneiss run`: for one target, optimised, in the quick run; for every target, optimisation level,
//! compiler and runtime in the long one (`GNEISS_VERIFY=1`).

use gneiss_tests::{
    Compile, HIP_SAMPLES, QUICK_TARGET, Run, clang_19, compile, sample_passes, source_path, verify,
};

fn sample(name: &str, target: &str, level: &str) -> Run {
    Run::new(compile(&Compile::hip(
        &source_path(&format!("samples/hip/{name}.hip")),
        target,
        level,
    )))
}

/// Whether the compilers make a sample for a target at a level: unoptimised device libraries choose between image instructions at run
/// time, and gfx90a lacks some of those that they choose from.
fn compiles(name: &str, target: &str, level: &str) -> bool {
    (name, target, level) != ("texture_rotate", "gfx90a", "-O0")
}

#[test]
fn every_file_in_the_folder_is_listed() {
    let mut names: Vec<_> = std::fs::read_dir(source_path("samples/hip"))
        .expect("the samples can be listed")
        .filter_map(|entry| {
            entry
                .ok()?
                .file_name()
                .to_str()?
                .strip_suffix(".hip")
                .map(str::to_owned)
        })
        .collect();
    names.sort();
    let mut listed = HIP_SAMPLES;
    listed.sort_unstable();
    assert_eq!(names, listed);
}

#[test]
fn every_sample_runs() {
    for name in HIP_SAMPLES {
        sample_passes(name, &sample(name, QUICK_TARGET, "-O3"));
    }
}

#[test]
fn every_sample_runs_on_waves_of_32() {
    for name in HIP_SAMPLES {
        sample_passes(name, &sample(name, "gfx1030", "-O3"));
    }
}

#[test]
fn hello_prints_a_line_for_every_thread() {
    let outcome = sample("hello", QUICK_TARGET, "-O3").run();
    outcome.expect_success();
    for block in 0..2 {
        for thread in 0..4 {
            let line = format!("Hello from the GPU: block {block} of 2, thread {thread} of 4\n");
            assert_eq!(
                outcome.stdout.matches(&line).count(),
                1,
                "{}",
                outcome.describe()
            );
        }
    }
}

#[test]
fn unoptimised_code_runs() {
    for name in ["vector_add", "hello"] {
        sample_passes(name, &sample(name, QUICK_TARGET, "-O0"));
    }
}

#[test]
fn the_other_hip_runtime_runs_over_our_hsa_runtime() {
    sample_passes(
        "vector_add",
        &sample("vector_add", QUICK_TARGET, "-O3").hip_amd(),
    );
}

#[test]
fn every_sample_for_every_target_level_and_runtime() {
    if !verify() {
        eprintln!("LEFT OUT: the full matrix of the HIP samples (GNEISS_VERIFY=1 runs it)");
        return;
    }
    for name in HIP_SAMPLES {
        for target in [QUICK_TARGET, "gfx1030"] {
            for level in ["-O0", "-O2", "-O3"] {
                if !compiles(name, target, level) {
                    continue;
                }
                eprintln!("{name} {target} {level}");
                sample_passes(name, &sample(name, target, level));
                sample_passes(name, &sample(name, target, level).hip_amd());
            }
        }
    }
}

#[test]
fn every_sample_built_by_clang_19() {
    if !verify() || !clang_19() {
        eprintln!("LEFT OUT: the HIP samples built by clang 19 (GNEISS_VERIFY=1 runs them)");
        return;
    }
    for name in HIP_SAMPLES {
        for target in [QUICK_TARGET, "gfx1030"] {
            let source = source_path(&format!("samples/hip/{name}.hip"));
            for level in ["-O0", "-O3"] {
                if !compiles(name, target, level) {
                    continue;
                }
                eprintln!("{name} {target} {level} clang 19");
                sample_passes(
                    name,
                    &Run::new(compile(&Compile::clang_19(&source, target, level))),
                );
            }
        }
    }
}
