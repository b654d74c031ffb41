//! The driver interface and what stands beside it, case by case of `programs/driver.hip`; and the variables that say how launches wait and which
//! devices there are.

use gneiss_tests::{
    Compile, Prefix, QUICK_TARGET, Run, case_run, cases, cases_source, compile, presenting,
    source_path,
};

cases! { "driver" in both modes:
    functions_by_name,
    launches_described_by_records,
    streams_have_masks_of_compute_units,
    streams_wait_for_values,
    batches_of_values,
    batches_of_copies,
    pools_keep_and_trim,
    records_cost_the_same_beside_idle_streams,
}

cases! { "driver" on two devices:
    boxes_between_devices,
    contexts_are_a_stack_of_each_thread,
    launches_on_several_devices,
}

#[test]
fn libraries_of_kernels() {
    let module = compile(&Compile::module(
        &source_path("samples/c/kernels.hip"),
        QUICK_TARGET,
    ));
    case_run("driver", "libraries_of_kernels")
        .args([module])
        .gpus("gfx90a:2")
        .run()
        .expect_success();
}

#[test]
fn boxes_have_the_layout_of_the_version_that_the_program_links() {
    for version in ['5', '6', '7'] {
        presenting(version, "driver", "boxes_of_the_version")
            .args([version.to_string()])
            .run()
            .expect_success();
    }
}

#[test]
fn the_log_names_a_missing_argument() {
    let names = compile(
        &Compile::hip(&cases_source("driver"), QUICK_TARGET, "-O3")
            .args(["-fno-discard-value-names"]),
    );
    for (run, amount, values) in [
        (case_run("driver", "a_missing_argument"), "", ""),
        // Code that keeps the arguments' names.
        (
            Run::new(names).args(["a_missing_argument"]),
            " (amount)",
            " (values.coerce)",
        ),
    ] {
        run.env("AMD_LOG_LEVEL", "1").run().expect_success().expect_stderr(&[
            &format!("argument 1{amount} of kernel _Z3addPii is a null pointer"),
            "the kernel's arguments are missing",
            &format!(
                "kernel _Z3addPii takes 12 bytes of arguments, 8 were given: argument 1{amount}, from byte 8 to 12, does not fit"
            ),
            &format!(
                "kernel _Z3addPii takes 12 bytes of arguments, 7 were given: argument 0{values}, from byte 0 to 8, does not fit"
            ),
        ]);
    }
}

#[test]
fn the_variable_says_the_version_where_no_soname_does() {
    let program = compile(
        &Compile::cpp(&source_path("tests/programs/opened.cpp"))
            .args(["-O2"])
            .libraries(["-ldl"]),
    );
    for (variable, version) in [("", '5'), ("5", '5'), ("6", '6'), ("7", '7'), ("6.3", '6')] {
        let outcome = Run::new(&program)
            .args([Prefix::find().lib().join("libamdhip64.so")])
            .env("GNEISS_HIP_VERSION", variable)
            .env("AMD_LOG_LEVEL", "2")
            .run();
        outcome.expect_success();
        assert!(
            outcome.stdout.starts_with(version),
            "{variable}: {}",
            outcome.describe()
        );
        assert!(
            !outcome.stderr.contains("GNEISS_HIP_VERSION"),
            "{}",
            outcome.describe()
        );
    }
}

#[test]
fn a_soname_overrules_the_variable_and_the_log_says_so() {
    for (needed, variable) in [('5', "6"), ('6', "7.0.1"), ('7', "5")] {
        let run = presenting(needed, "driver", "the_version")
            .args([needed.to_string()])
            .env("AMD_LOG_LEVEL", "2");
        let outcome = run.clone().env("GNEISS_HIP_VERSION", variable).run();
        let (asked, _) = variable.split_at(1);
        outcome.expect_success().expect_stderr(&[&format!(
            "GNEISS_HIP_VERSION={asked} does not count: the program or one of its libraries needs libamdhip64.so.{needed}, \
             so this is HIP {needed}"
        )]);
        for silent in [
            run.clone().env("GNEISS_HIP_VERSION", needed.to_string()),
            run.env("GNEISS_HIP_VERSION", variable)
                .env("AMD_LOG_LEVEL", "1"),
        ] {
            let outcome = silent.run();
            outcome.expect_success();
            assert!(
                !outcome.stderr.contains("does not count"),
                "{}",
                outcome.describe()
            );
        }
    }
}

#[test]
fn the_log_has_every_call_and_its_result_in_amds_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("log");
    case_run("driver", "pools_keep_and_trim")
        .env("AMD_LOG_LEVEL", "3")
        .env("AMD_LOG_LEVEL_FILE", &file)
        .run()
        .expect_success();
    let log = std::fs::read_to_string(&file).expect("the log");
    // `:3:memory.rs :229 : 0000010956 us: 12320: [tid:0x7f3a3c5179c0] hipFree ( 0x7f3a3c400000 )`
    let said = |what: &str| {
        log.lines().any(|line| {
            line.starts_with(":3:")
                && line.contains(" us: ")
                && line
                    .split_once("] ")
                    .is_some_and(|(head, text)| head.contains("[tid:0x") && text.starts_with(what))
        })
    };
    for what in [
        "hipMemPoolTrimTo ( 0x",
        "hipMemPoolTrimTo: Returned hipSuccess : ",
        "hipMemPoolTrimTo: Returned hipErrorInvalidValue : ",
    ] {
        assert!(said(what), "no {what:?} in {log}");
    }
}

#[test]
fn launches_wait_as_the_variables_say() {
    for (case, variable, value) in [
        (
            "launches_wait_for_their_kernels",
            "HIP_LAUNCH_BLOCKING",
            "1",
        ),
        (
            "launches_wait_for_their_kernels",
            "AMD_SERIALIZE_KERNEL",
            "2",
        ),
        (
            "launches_wait_for_what_is_before",
            "AMD_SERIALIZE_KERNEL",
            "1",
        ),
        (
            "launches_wait_for_what_is_before",
            "AMD_SERIALIZE_KERNEL",
            "3",
        ),
    ] {
        for run in case_run("driver", case)
            .env(variable, value)
            .in_both_modes()
        {
            run.run().expect_success();
        }
    }
}

#[test]
fn devices_are_hidden_put_in_order_and_count_as_others() {
    let run = case_run("driver", "devices").gpus("gfx90a,gfx1030,gfx906");
    for (variables, devices) in [
        (&[][..], "gfx90a gfx1030 gfx906 "),
        (&[("HIP_VISIBLE_DEVICES", "2,0")], "gfx906 gfx90a "),
        (&[("CUDA_VISIBLE_DEVICES", "1")], "gfx1030 "),
        // A list ends at the first that is not there.
        (&[("HIP_VISIBLE_DEVICES", "0,5,1")], "gfx90a "),
        (&[("ROCR_VISIBLE_DEVICES", "1,2")], "gfx1030 gfx906 "),
        (&[("ROCR_VISIBLE_DEVICES", "2,7,1")], "gfx906 "),
        (&[("ROCR_VISIBLE_DEVICES", "")], ""),
        // The first GPU's node is 1.
        (
            &[
                ("HSA_OVERRIDE_GFX_VERSION", "10.3.1"),
                ("HSA_OVERRIDE_GFX_VERSION_1", "9.0.10"),
            ],
            "gfx90a gfx1031 gfx1031 ",
        ),
        // HIP counts what HSA shows.
        (
            &[
                ("ROCR_VISIBLE_DEVICES", "1,2"),
                ("HIP_VISIBLE_DEVICES", "1"),
            ],
            "gfx906 ",
        ),
    ] {
        let mut run = run.clone();
        for (name, value) in variables {
            run = run.env(name, value);
        }
        let outcome = run.run();
        outcome.expect_success();
        assert_eq!(outcome.stdout, devices, "{variables:?}");
    }
}
