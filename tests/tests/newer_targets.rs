//! The HIP samples and the bench's kernels built by clang 22, for targets that Debian's hipcc does not know and for generic ones.
//!
//! A program holds code for all of them, so a run also shows that the card's own code comes before the generic one's.

use std::time::Duration;

use gneiss_tests::{
    Compile, HIP_SAMPLES, Run, clang_22, compile, gneiss_succeeds, sample_passes, source_path,
    verify,
};

/// A card for each target that programs are built for: its own code is there, or else a generic target covers it.
const CARDS: [(&str, &str); 8] = [
    ("gfx950", "gfx950"),
    ("gfx942", "gfx9-4-generic"),
    ("gfx906", "gfx9-generic"),
    ("gfx1034", "gfx10-3-generic"),
    ("gfx1103", "gfx11-generic"),
    ("gfx1151", "gfx1151"),
    ("gfx1200", "gfx1200"),
    ("gfx1201", "gfx12-generic"),
];

/// The targets without image instructions, for which nothing with a texture compiles.
const IMAGELESS: [&str; 2] = ["gfx950", "gfx9-4-generic"];

/// What the quick run builds: printf, shuffles and atomics.
const QUICK: [&str; 3] = ["hello", "reduction", "histogram"];

fn cards(sample: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let images = sample == "texture_rotate";
    CARDS
        .into_iter()
        .filter(move |(_, target)| !images || !IMAGELESS.contains(target))
}

fn program(file: &str, name: &str) -> std::path::PathBuf {
    let targets: Vec<&str> = cards(name).map(|(_, target)| target).collect();
    compile(&Compile::clang_22(&source_path(file), &targets, "-O3"))
}

#[test]
fn samples_run_for_newer_and_for_generic_targets() {
    if !clang_22() {
        return;
    }
    let samples: &[&str] = if verify() { &HIP_SAMPLES } else { &QUICK };
    for name in samples {
        let program = program(&format!("samples/hip/{name}.hip"), name);
        for (card, target) in cards(name) {
            eprintln!("{name} for {target} on {card}");
            sample_passes(name, &Run::new(&program).gpus(card));
        }
    }
}

#[test]
fn the_kernels_of_the_bench_give_the_right_results_for_newer_and_for_generic_targets() {
    if !clang_22() {
        return;
    }
    if !verify() {
        eprintln!("LEFT OUT: the bench's kernels for newer targets (GNEISS_VERIFY=1 runs them)");
        return;
    }
    let program = program("tests/bench/hip.hip", "bench");
    for (card, target) in CARDS {
        eprintln!("{target} on {card}");
        let outcome = Run::new(&program)
            .args(["digest"])
            .gpus(card)
            .limit(Duration::from_secs(300))
            .run();
        outcome.expect_success();
        assert_eq!(outcome.stdout.lines().count(), 13, "{}", outcome.stdout);
        assert!(
            outcome.stdout.lines().all(|line| line.ends_with("\tok")),
            "{target} on {card}: {}",
            outcome.stdout
        );
    }
}

#[test]
fn the_command_reads_code_of_every_target() {
    if !clang_22() {
        return;
    }
    let program = program("samples/hip/hello.hip", "hello");
    let program = program.to_str().expect("text");
    let contents = gneiss_succeeds(&["inspect", program]);
    for (card, target) in CARDS {
        let generic = if target.ends_with("-generic") {
            ", generic version 1"
        } else {
            ""
        };
        let line = format!("code object v6 for {target}{generic}");
        assert!(contents.contains(&line), "{line} is not in {contents}");
        let text = gneiss_succeeds(&["disasm", "--target", target, program]);
        assert!(text.contains("s_endpgm"), "{text}");
        // Everything in it is executed, or the exit code is not 0.
        gneiss_succeeds(&["coverage", "--target", card, program]);
    }
}

#[test]
fn the_generic_isa_is_listed_but_not_to_hip_libraries_that_refuse_it() {
    let names = |output: &str| output.matches("amdgcn-amd-amdhsa--").count();
    let all = gneiss_succeeds(&["info", "--gpus", "gfx1151"]);
    assert!(
        all.contains("amdhsa--gfx1151 amdgcn-amd-amdhsa--gfx11-generic"),
        "{all}"
    );
    let one = gneiss_succeeds(&["info", "--gpus", "gfx90a"]);
    assert_eq!(names(&one), 1, "{one}");
    let program = compile(&Compile::hip(
        &source_path("samples/hip/vector_add.hip"),
        "gfx1030",
        "-O3",
    ));
    // AMD's library of HIP 5 ends at a GPU with two ISAs.
    Run::new(program)
        .gpus("gfx1030")
        .hip_amd()
        .run()
        .expect_success();
}
