//! OpenCL C that enqueues kernels: blocks, events, wait lists, queues on the device.

use gneiss_tests::{Compile, Outcome, QUICK_TARGET, Run, compile, source_path};

fn run(case: &str) -> Run {
    let source = source_path("tests/programs/opencl_device_queues.c");
    let program = compile(&Compile::c_over_opencl(&source));
    Run::new(program).gpus(QUICK_TARGET).args([case])
}

fn passes(case: &str) -> Outcome {
    let outcome = run(case).run();
    outcome.expect_success();
    outcome
}

macro_rules! cases {
    ($($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                passes(stringify!($name));
            }
        )*
    };
}

cases! {
    device_says_what_its_queues_can,
    queues_on_the_device_are_checked_and_described,
    blocks_run_after_the_kernel_that_enqueues_them,
    every_work_item_may_enqueue,
    a_range_has_offsets_and_three_dimensions,
    events_order_kernels_and_markers,
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
    an_out_of_order_queue_runs_parents_beside_each_other,
}

#[test]
fn children_print_before_the_parent_ends() {
    let outcome = passes("children_print");
    assert_eq!(
        outcome.stdout,
        "parent\nchild 3\nafter\n",
        "{}",
        outcome.describe()
    );
}

#[test]
fn waves_of_32_enqueue_too() {
    for case in ["every_work_item_may_enqueue", "blocks_have_local_memory"] {
        run(case).gpus("gfx1030").run().expect_success();
    }
}
