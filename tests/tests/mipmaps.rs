//! Mipmapped arrays and cube maps, case by case of `programs/mipmaps.hip`: by hipcc at both optimisation levels for RDNA 2, Vega 20 and CDNA 2, and
//! by clang 22 for RDNA 3 and RDNA 4. AMD's library has neither of them on Linux, so that it is no peer here.

use std::path::PathBuf;

use gneiss_tests::{Compile, Run, cases_source, clang_22, compile};

const TARGETS: [&str; 3] = ["gfx1030", "gfx906", "gfx90a"];

/// Targets of unoptimised code; hipcc makes none with textures for gfx90a.
const UNOPTIMISED_TARGETS: [&str; 2] = ["gfx1030", "gfx906"];

const TARGETS_OF_CLANG_22: [&str; 2] = ["gfx1100", "gfx1200"];

/// The programs, each with the devices that it is for.
fn programs() -> Vec<(PathBuf, &'static [&'static str])> {
    let source = cases_source("mipmaps");
    let mut programs: Vec<(PathBuf, &'static [&'static str])> = vec![
        (
            compile(&Compile::hip_for_targets(&source, &TARGETS, "-O2")),
            &TARGETS,
        ),
        (
            compile(&Compile::hip_for_targets(
                &source,
                &UNOPTIMISED_TARGETS,
                "-O0",
            )),
            &UNOPTIMISED_TARGETS,
        ),
    ];
    if clang_22() {
        programs.push((
            compile(&Compile::clang_22(&source, &TARGETS_OF_CLANG_22, "-O2")),
            &TARGETS_OF_CLANG_22,
        ));
    }
    programs
}

fn passes(name: &str) {
    for (program, targets) in programs() {
        for target in targets {
            eprintln!("{name} {target} {}", program.display());
            Run::new(&program)
                .args([name])
                .gpus(target)
                .run()
                .expect_success();
        }
    }
}

macro_rules! cases {
    ($($name:ident),* $(,)?) => { $(
        #[test]
        fn $name() {
            passes(stringify!($name));
        }
    )* };
}

cases! {
    levels_are_arrays,
    the_driver_interface_makes_mipmapped_arrays,
    every_level_is_sampled,
    levels_are_mixed_by_the_level_of_detail,
    gradients_choose_the_level,
    limits_and_bias_move_the_level,
    a_view_begins_at_its_first_level,
    surfaces_write_levels,
    references_are_bound_to_mipmapped_arrays,
    bad_mipmapped_arrays_are_refused,
    directions_choose_the_face_and_its_element,
    faces_are_filtered_to_their_edges,
    cube_maps_have_levels,
    surfaces_write_faces,
    bad_cubes_are_refused,
}

#[test]
fn references_of_a_module_are_bound_to_mipmapped_arrays() {
    let program = compile(&Compile::hip_for_targets(
        &cases_source("mipmaps"),
        &TARGETS,
        "-O2",
    ));
    for target in UNOPTIMISED_TARGETS {
        let module = compile(&Compile::module(&cases_source("mipmap_module"), target));
        Run::new(&program)
            .args(["references_of_a_module_are_bound_to_mipmapped_arrays"])
            .args([module])
            .gpus(target)
            .run()
            .expect_success();
    }
}
