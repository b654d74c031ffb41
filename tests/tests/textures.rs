//! Textures and surfaces, case by case of `programs/textures.hip`: code of both optimisation levels, on RDNA 2, Vega 20 and CDNA 2, and
//! the same programs over AMD's libamdhip64, which uses the HSA image functions as they were meant to be used.

use gneiss_tests::{Compile, Run, cases_source, compile, verify};

const TARGETS: [&str; 3] = ["gfx1030", "gfx906", "gfx90a"];

/// Targets of unoptimised code: hipcc makes none for gfx90a, because its device library chooses between image instructions at run
/// time then, and gfx90a lacks some of them.
const UNOPTIMISED_TARGETS: [&str; 2] = ["gfx1030", "gfx906"];

fn targets(level: &str) -> &'static [&'static str] {
    if level == "-O0" {
        &UNOPTIMISED_TARGETS
    } else {
        &TARGETS
    }
}

fn case(level: &str, target: &str, name: &str) -> Run {
    let executable = compile(&Compile::hip_for_targets(
        &cases_source("textures"),
        targets(level),
        level,
    ));
    Run::new(executable).args([name]).gpus(target)
}

fn passes(name: &str) {
    for level in ["-O0", "-O2"] {
        for target in targets(level) {
            eprintln!("{name} {target} {level}");
            case(level, target, name).run().expect_success();
        }
    }
}

/// Over AMD's library; on one target in the quick run, because that library takes a second to start.
fn passes_over_amds_library(name: &str) {
    for target in &TARGETS[..if verify() { 3 } else { 1 }] {
        eprintln!("{name} {target} over AMD's library");
        case("-O2", target, name).hip_amd().run().expect_success();
    }
}

/// Cases that both libraries pass.
macro_rules! both {
    ($($name:ident),* $(,)?) => { $(
        #[test]
        fn $name() {
            passes(stringify!($name));
            passes_over_amds_library(stringify!($name));
        }
    )* };
}

/// Cases of what AMD's library of HIP 5.2 does not do.
macro_rules! ours {
    ($($name:ident),* $(,)?) => { $(
        #[test]
        fn $name() {
            passes(stringify!($name));
        }
    )* };
}

both! {
    every_format_reads_back,
    memory_is_fetched_by_index,
    fetches_past_the_end_give_zero,
    references_are_bound_to_memory_and_arrays,
    halves_read_as_floats,
    normalised_reads_give_fractions,
    linear_filters_weigh_by_distance,
    address_modes_bring_coordinates_into_range,
    volumes_and_layers,
    rows_of_memory,
    views_change_the_format,
    srgb_is_decoded,
    gathers_levels_and_gradients,
    surfaces_are_read_and_written,
    surfaces_of_one_and_three_dimensions,
    a_surface_reference_holds_a_handle,
    descriptions_are_given_back,
    attributes_tell_the_limits,
    bad_textures_are_refused,
}

ours! {
    each_dimension_has_its_address_mode,
    layers_of_one_dimension,
    arrays_for_surfaces,
    a_surface_reference_is_no_texture_reference,
    memory_that_is_too_short_is_refused,
}

#[test]
fn references_of_a_module() {
    for target in TARGETS {
        let module = compile(&Compile::module(&cases_source("texture_module"), target));
        let run = case("-O2", target, "references_of_a_module").args([module]);
        run.run().expect_success();
        if target == TARGETS[0] {
            run.hip_amd().run().expect_success();
        }
    }
}

#[test]
fn a_card_without_images_says_so() {
    let executable = compile(&Compile::hip(&cases_source("textures"), "gfx1030", "-O2"));
    let outcome = Run::new(executable)
        .args(["bad_textures_are_refused"])
        .gpus("gfx942")
        .run();
    outcome
        .expect_code(1)
        .expect_stderr(&["hipErrorNotSupported"]);
}
