//! Launches, their arguments and limits, and the calls around them, case by case of `programs/launch.hip`.

use std::path::Path;

use gneiss_tests::{
    Compile, QUICK_TARGET, case_run, clang_19, clang_22, compile, presenting, source_path,
};

gneiss_tests::cases! { "launch":
    shared_memory_below_a_negative_base,
    record_arguments,
    arguments_in_three_ways,
    launch_errors,
    the_largest_grid,
    kernel_attributes,
    cooperative_launches_fit_on_the_device,
    events_around_a_launch,
    reset_gives_initial_values,
    reset_after_a_fault,
    variables_by_address,
    pool_memory,
}

#[test]
fn launches_are_refused_in_the_words_of_the_version_that_the_program_links() {
    let value = "hipErrorInvalidValue";
    let configuration = "hipErrorInvalidConfiguration";
    let too_large = "hipErrorCooperativeLaunchTooLarge";
    let no_kernel = "hipErrorInvalidDeviceFunction";
    let destroyed = "hipErrorContextIsDestroyed";
    for (version, results) in [
        (
            '5',
            [
                configuration,
                "hipErrorOutOfMemory",
                "hipErrorLaunchFailure",
                value,
                "hipErrorInvalidSymbol",
                value,
                "hipSuccess",
                "65536",
            ],
        ),
        (
            '6',
            [
                value, value, value, destroyed, no_kernel, no_kernel, value, "4096",
            ],
        ),
        (
            '7',
            [
                configuration,
                value,
                value,
                destroyed,
                no_kernel,
                no_kernel,
                value,
                "4096",
            ],
        ),
    ] {
        let [block, lds, both, stream, symbol, attributes, set, dynamic] = results;
        let outcome = presenting(version, "launch", "refusals").run();
        outcome.expect_success();
        let expected = format!(
            "no blocks: {value}\nno threads: {value}\na big block: {block}\nmuch LDS: {lds}\n\
             past the bounds with much LDS: {both}\ntogether: a big block: {configuration}\n\
             together: much LDS: {too_large}\ntogether: a stream that is gone: {stream}\n\
             together: no kernel: {symbol}\nan event that is gone: {value}\n\
             attributes of no kernel: {attributes}\ntoo much to set: {set}\n\
             a preference too much: {set}\ndynamic LDS: {dynamic}\n"
        );
        assert_eq!(outcome.stdout, expected, "version {version}");
    }
}

#[test]
fn ten_thousand_modules_leave_nothing_behind() {
    let module = compile(&Compile::module(
        &source_path("samples/c/kernels.hip"),
        QUICK_TARGET,
    ));
    case_run("launch", "ten_thousand_modules")
        .args([module])
        .run()
        .expect_success();
}

/// Runs a module of two targets on a GPU of each. The program itself has no kernel for the second one, and launches none of its own.
fn runs_on_both(module: &Path) {
    for target in ["gfx90a", "gfx1030"] {
        case_run("launch", "module_of_two_targets")
            .args([module])
            .gpus(target)
            .run()
            .expect_success();
    }
}

#[test]
fn compressed_modules_load_like_plain_ones() {
    if !clang_19() {
        return;
    }
    let source = source_path("samples/c/kernels.hip");
    let bundle = ["--cuda-device-only", "--gpu-bundle-output"];
    for compression in ["--no-offload-compress", "--offload-compress"] {
        let module = compile(
            &Compile::clang_19_module(&source, &["gfx1030", "gfx90a"])
                .args(bundle)
                .args([compression]),
        );
        let magic = std::fs::read(&module).expect("the module can be read");
        assert_eq!(
            magic.starts_with(b"CCOB"),
            compression == "--offload-compress"
        );
        runs_on_both(&module);
    }
    if !clang_22() {
        return;
    }
    // The newer header.
    let module = compile(
        &Compile::clang_22(&source, &["gfx1030", "gfx90a"], "-O3")
            .args(bundle)
            .args(["--offload-compress"]),
    );
    let magic = std::fs::read(&module).expect("the module can be read");
    assert!(magic.starts_with(b"CCOB\x03\0"), "{:?}", &magic[..8]);
    runs_on_both(&module);
}
