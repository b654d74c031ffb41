//! OpenCL programs over the loader of the system: C programs with many cases each, run by `gneiss run`.

use gneiss_tests::{Compile, Outcome, QUICK_TARGET, Run, compile, source_path};

fn run(program: &str, case: &str) -> Run {
    let program = compile(&Compile::c_over_opencl(&source_path(&format!(
        "tests/programs/{program}.c"
    ))));
    Run::new(program).gpus(QUICK_TARGET).args([case])
}

/// Runs a case in both dispatch modes; it must pass and say the same in both.
fn passes(program: &str, case: &str) -> Outcome {
    let [worker, direct] = run(program, case).in_both_modes().map(|run| {
        let outcome = run.run();
        outcome.expect_success();
        outcome
    });
    assert_eq!(worker.stdout, direct.stdout, "{}", direct.describe());
    direct
}

macro_rules! cases {
    ($program:literal: $($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                passes($program, stringify!($name));
            }
        )*
    };
}

cases! {
    "opencl":
    platform_and_device_say_what_they_are,
    vector_add,
    offsets_and_partial_groups,
    kernels_know_in_how_many_dimensions_they_run,
    local_memory_arguments,
    launch_errors,
    handles_of_another_kind_and_ended_ones_are_refused,
    transfers_of_every_shape,
    sub_buffers_share_the_bytes_of_their_parent,
    a_kernel_that_wants_one_id_runs_in_groups_of_three_dimensions,
    memory_of_a_released_buffer_is_the_programs_again,
    big_buffers_come_back_as_they_were,
    destructor_callbacks_run_in_reverse_order,
    build_errors_are_in_the_log,
    compile_link_and_binaries,
    kernels_and_arguments_are_described,
    programs_say_how_much_memory_their_variables_take,
    native_kernels,
    shared_virtual_memory,
    shared_virtual_memory_of_every_kind,
    extension_functions_are_found_by_name,
    sub_groups_are_waves,
    pipes_carry_packets_from_kernel_to_kernel,
    what_is_not_there_says_so,
}

cases! {
    "opencl_limits":
    a_kernel_reads_a_bit_too_much,
    shared_virtual_memory_has_an_end,
    features_that_are_listed_are_macros,
}

cases! {
    "opencl_events":
    a_user_event_holds_back_what_waits_for_it,
    a_failed_user_event_fails_what_waits_for_it,
    an_unset_user_event_does_not_stall_an_out_of_order_queue,
    a_barrier_orders_an_out_of_order_queue,
    a_wait_across_queues_ends,
    callbacks_that_set_user_events_chain,
    callbacks_see_each_status_once_and_the_end_is_visible,
    profiling_times_go_up,
    wait_lists_are_checked,
    a_released_queue_runs_what_it_has,
}

cases! {
    "opencl_device_queues":
    device_says_what_its_queues_can,
    queues_on_the_device_are_checked_and_described,
    blocks_run_after_the_kernel_that_enqueues_them,
    every_work_item_may_enqueue,
    a_range_has_offsets_and_three_dimensions,
    events_order_kernels_and_markers,
    a_wait_list_in_a_loop_names_every_event,
    a_child_may_open_the_gate_of_another,
    a_failed_user_event_ends_what_waits_for_it,
    blocks_have_local_memory,
    children_enqueue_children,
    nested_blocks_see_what_is_around_them,
    a_full_queue_says_so_and_is_empty_afterwards,
    without_a_default_queue_nothing_is_enqueued,
    queues_may_be_arguments,
    times_of_children_can_be_had,
    sizes_for_blocks_can_be_asked_for,
    sub_groups_of_blocks_can_be_asked_for,
    an_out_of_order_queue_runs_parents_beside_each_other,
}

#[test]
fn children_print_before_the_parent_ends() {
    let outcome = passes("opencl_device_queues", "children_print");
    assert_eq!(
        outcome.stdout,
        "parent\nchild 3\nafter\n",
        "{}",
        outcome.describe()
    );
}

cases! {
    "opencl_images":
    formats_that_every_device_must_have_are_listed,
    kernels_read_and_write_texels,
    repeated_images_begin_anew_at_every_whole_number,
    samplers_of_the_host_filter,
    images_of_every_kind_hold_what_was_written,
    fills_copies_and_maps,
    an_image_of_the_programs_memory_comes_back_in_a_map,
    depth_images_are_read_as_one_number,
    an_image_is_another_view_of_an_image_or_a_part_of_a_buffer,
    descriptions_that_make_no_image_are_refused,
}

#[test]
fn images_on_other_targets() {
    for case in [
        "kernels_read_and_write_texels",
        "images_of_every_kind_hold_what_was_written",
    ] {
        for target in ["gfx906", "gfx1030"] {
            run("opencl_images", case)
                .gpus(target)
                .run()
                .expect_success();
        }
    }
}

#[test]
fn accesses_behind_the_end_of_a_buffer_are_found_when_asked_for() {
    let outcome = run("opencl_limits", "a_kernel_reads_a_bit_too_much")
        .env("GNEISS_OPENCL_EXACT", "1")
        .run();
    assert!(
        !outcome.status.success() && outcome.stderr.contains("memory fault: read of address"),
        "{}",
        outcome.describe()
    );
}

#[test]
fn a_code_object_is_a_binary() {
    let code_object = compile(&Compile::opencl_code_object(
        &source_path("tests/programs/opencl_binary.cl"),
        QUICK_TARGET,
    ));
    for run in run("opencl", "a_code_object_is_a_binary")
        .env("CODE_OBJECT", code_object)
        .in_both_modes()
    {
        run.run().expect_success();
    }
}

#[test]
fn several_devices_in_one_context() {
    for run in run("opencl", "several_devices_in_one_context")
        .gpus("gfx90a:2")
        .in_both_modes()
    {
        run.run().expect_success();
    }
}

#[test]
fn what_was_not_released_is_reported_when_asked_for() {
    let leaks = |program: &str, case: &str| {
        let outcome = run(program, case).env("GNEISS_OPENCL_LEAKS", "1").run();
        outcome.expect_success();
        outcome.stderr
    };
    let text = leaks("opencl_events", "wait_lists_are_checked");
    assert!(
        text.contains("gneiss: OpenCL: not released: 2 contexts, 1 command queue, 2 events"),
        "{text}"
    );
}

#[test]
fn printf_of_kernels_stands_before_what_the_program_prints_next() {
    let outcome = passes("opencl", "printf_of_kernels");
    assert_eq!(
        outcome.stdout,
        "-5 7  2.50|ab  |x 100%\n1,-2,3,4 0x10,0xff 1.5,2.0,-0.5\n1099511627776 ff: done\nafter\n",
        "{}",
        outcome.describe()
    );
}

#[test]
fn included_files_are_part_of_what_is_compiled() {
    let outcome = passes("opencl", "included_files_are_part_of_what_is_compiled");
    assert_eq!(outcome.stdout, "3\n", "{}", outcome.describe());
}

#[test]
fn printf_keeps_the_arguments_that_clang_does_not_understand() {
    let outcome = passes("opencl", "printf_keeps_every_argument");
    assert_eq!(
        outcome.stdout,
        "1.25 0X1.4P+1 7 0.10000000000000001 INF\nINF|7|0X1P+0|-1.250000\n%F %f 1.000000\n\
         1.250000,-INF 0X1.000P+0,0X1.000P-1\n",
        "{}",
        outcome.describe()
    );
}

#[test]
fn programs_compile_through_libamd_comgr() {
    let built = |program: &str, case: &str, target: &str| {
        let outcome = run(program, case)
            .gpus(target)
            .env("GNEISS_HIPRTC_COMPILER", "comgr")
            .env("GNEISS_HIPRTC_CACHE", "0")
            .run();
        outcome.expect_success();
        outcome.stdout
    };
    for case in [
        "vector_add",
        "build_errors_are_in_the_log",
        "compile_link_and_binaries",
        "kernels_and_arguments_are_described",
    ] {
        for target in [QUICK_TARGET, "gfx1030"] {
            built("opencl", case, target);
        }
    }
    for case in [
        "a_wait_list_in_a_loop_names_every_event",
        "sub_groups_of_blocks_can_be_asked_for",
    ] {
        built("opencl_device_queues", case, QUICK_TARGET);
    }
    built(
        "opencl_images",
        "kernels_read_and_write_texels",
        QUICK_TARGET,
    );
    let printed = built("opencl_device_queues", "children_print", QUICK_TARGET);
    assert_eq!(printed, "parent\nchild 3\nafter\n");
}

/// Once a process has built some programs, the compiler is given the device libraries in parts.
#[test]
fn parts_of_the_device_libraries_give_the_same_code_as_the_whole() {
    for (compiler, target) in [
        ("clang", QUICK_TARGET),
        ("clang", "gfx1030"),
        ("comgr", QUICK_TARGET),
    ] {
        let built = |cache: &std::ffi::OsStr| {
            let outcome = run("opencl_builds", "code_objects_of_every_kind")
                .gpus(target)
                .env("GNEISS_HIPRTC_COMPILER", compiler)
                .env("GNEISS_HIPRTC_CACHE", cache)
                .run();
            outcome.expect_success();
            outcome.stdout
        };
        // Parts are kept in the cache, and where there is none, there are none.
        let whole = built("0".as_ref());
        let folder = tempfile::tempdir().expect("a temporary folder");
        let kept = || {
            let entries = std::fs::read_dir(folder.path()).expect("the cache's folder");
            entries
                .filter_map(|entry| Some(entry.ok()?.path().join("words").exists()))
                .filter(|there| *there)
                .count()
        };
        assert_eq!(built(folder.path().as_ref()), whole, "{compiler} {target}");
        assert_eq!(kept(), 1, "{compiler} {target}");
        // The results are taken away: the next process finds the parts, and builds with them from the first program on.
        for entry in std::fs::read_dir(folder.path()).expect("the cache's folder") {
            let path = entry.expect("an entry").path();
            if path.is_file() {
                std::fs::remove_file(path).expect("a file of ours");
            }
        }
        assert_eq!(built(folder.path().as_ref()), whole, "{compiler} {target}");
        assert_eq!(kept(), 1, "{compiler} {target}");
    }
}

#[test]
fn the_kernels_run_on_waves_of_32_too() {
    for case in [
        "vector_add",
        "local_memory_arguments",
        "compile_link_and_binaries",
    ] {
        run("opencl", case).gpus("gfx1030").run().expect_success();
    }
    for case in [
        "every_work_item_may_enqueue",
        "blocks_have_local_memory",
        "sub_groups_of_blocks_can_be_asked_for",
    ] {
        run("opencl_device_queues", case)
            .gpus("gfx1030")
            .run()
            .expect_success();
    }
}

#[test]
fn clinfo_finds_no_fault() {
    let outcome = Run::new("/usr/bin/clinfo").gpus(QUICK_TARGET).run();
    outcome.expect_success();
    for text in [
        "Number of platforms                               1",
        "Platform Name                                   Gneiss",
        "OpenCL 3.0 Gneiss",
        "gfx90a:sramecc+:xnack-",
    ] {
        assert!(outcome.stdout.contains(text), "{}", outcome.describe());
    }
    assert!(!outcome.stdout.contains("error"), "{}", outcome.describe());
}
