//! Streams, events and callbacks, case by case of `programs/streams.hip`.

gneiss_tests::cases! { "streams":
    null_stream_order,
    synchronize_one_stream,
    wait_event_orders_streams,
    wait_takes_the_event_at_the_call,
    chain_over_streams,
    callbacks_run_in_order,
    callbacks_from_two_threads,
    callbacks_across_streams,
    event_never_recorded,
    elapsed_time,
    elapsed_time_covers_the_work,
    destroy_a_busy_stream,
    event_outlives_its_stream,
    pinned_copies_do_not_block,
    bad_arguments,
    stale_handles,
    priorities_and_flags,
    stream_per_thread,
    many_threads,
    many_idle_streams,
    kernel_waits_for_the_host,
    kernel_waits_for_another_stream,
    write_and_wait_values,
    many_launches,
    event_of_the_legacy_handle,
    pool_memory_from_many_threads,
    pool_memory_across_streams,
}

/// Cases that are for other tests, under conditions of their own.
const FOR_OTHERS: [&str; 3] = ["hang", "wait_for_input", "launch_and_kill"];

#[test]
fn every_case_passes_when_the_caller_submits_and_when_the_host_waits() {
    // Without a case the program lists them.
    let listed = gneiss_tests::case_run("streams", "no_such_case").run();
    listed.expect_code(2);
    let cases: Vec<&str> = listed
        .stderr
        .lines()
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|case| !FOR_OTHERS.contains(case))
        .collect();
    assert!(cases.len() > 20, "{}", listed.describe());
    for case in cases {
        for variable in ["AMD_DIRECT_DISPATCH", "ROC_CPU_WAIT_FOR_SIGNAL"] {
            gneiss_tests::case_run("streams", case)
                .env(variable, "1")
                .run()
                .expect_success();
        }
    }
}
