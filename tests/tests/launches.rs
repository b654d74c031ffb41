//! Launches, their arguments and limits, and the calls around them, case by case of `programs/launch.hip`.

use gneiss_tests::{Compile, QUICK_TARGET, case_run, clang_19, compile, source_path};

gneiss_tests::cases! { "launch":
    shared_memory_below_a_negative_base,
    record_arguments,
    arguments_in_three_ways,
    launch_errors,
    kernel_attributes,
    events_around_a_launch,
    reset_gives_initial_values,
    reset_after_a_fault,
    variables_by_address,
    pool_memory,
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
        for target in ["gfx90a", "gfx1030"] {
            // The program itself has no kernel for the second target, and launches none of its own.
            case_run("launch", "module_of_two_targets")
                .args([&module])
                .gpus(target)
                .run()
                .expect_success();
        }
    }
}
