//! Streams, events and callbacks, case by case of `programs/streams.hip`, `events.hip` and `callbacks.hip`.

use gneiss_tests::{case_run, presenting};

gneiss_tests::cases! { "streams":
    null_stream_order,
    a_query_asks_one_stream,
    synchronize_one_stream,
    wait_event_orders_streams,
    destroy_a_busy_stream,
    pinned_copies_do_not_block,
    bad_arguments,
    stale_handles,
    priorities_and_flags,
    an_urgent_kernel_waits_for_another,
    stream_per_thread,
    many_threads,
    many_idle_streams,
    kernel_waits_for_the_host,
    kernel_waits_for_another_stream,
    write_and_wait_values,
    many_launches,
    pool_memory_from_many_threads,
    pool_memory_across_streams,
    pool_memory_follows_events,
    pool_memory_goes_back,
    small_blocks_of_a_pool,
}

gneiss_tests::cases! { "events":
    wait_takes_the_event_at_the_call,
    chain_over_streams,
    event_never_recorded,
    elapsed_time,
    elapsed_time_covers_the_work,
    event_of_the_legacy_handle,
    event_outlives_its_stream,
    destroy_a_pending_event,
    event_flags,
}

gneiss_tests::cases! { "callbacks":
    callbacks_run_in_order,
    callbacks_from_two_threads,
    callbacks_from_two_threads_in_turn,
    callbacks_across_streams,
    host_functions_across_streams,
}

/// Cases that are for other tests, under conditions of their own.
const FOR_OTHERS: [&str; 2] = ["urgent_streams_go_first", "rules_of_the_version"];

#[test]
fn streams_of_high_priority_go_first() {
    for direct_dispatch in ["0", "1"] {
        case_run("streams", "urgent_streams_go_first")
            .env("AMD_DIRECT_DISPATCH", direct_dispatch)
            .env("GNEISS_THREADS", "1")
            .run()
            .expect_success();
    }
}

#[test]
fn what_differs_between_versions_follows_the_one_that_the_program_links() {
    for (version, external, behind, unknown, array) in [
        (
            '5',
            "hipErrorInvalidValue",
            "hipSuccess",
            "hipErrorInvalidValue, 99",
            "hipErrorInvalidValue",
        ),
        (
            '6',
            "hipErrorInvalidValue",
            "hipSuccess",
            "hipErrorInvalidValue, 99",
            "hipErrorContextIsDestroyed",
        ),
        (
            '7',
            "hipSuccess",
            "hipErrorContextIsDestroyed",
            "hipSuccess, 0",
            "hipErrorContextIsDestroyed",
        ),
    ] {
        let outcome = presenting(version, "streams", "rules_of_the_version").run();
        outcome.expect_success();
        assert_eq!(
            outcome.stdout,
            format!(
                "external wait: {external}\na failure behind a success: {behind}\nasked again: hipSuccess\ntype of the stack's memory: {unknown}\ntype of the heap's memory: {unknown}\nan array freed twice: {array}\n"
            ),
            "version {version}"
        );
    }
}

#[test]
fn the_host_waits_for_a_copy_to_a_peer_with_hip_5_only() {
    for (version, waits) in [('5', "yes"), ('6', "no"), ('7', "no")] {
        for run in presenting(version, "sharing", "copy_to_a_peer")
            .gpus("gfx90a:2")
            .in_both_modes()
        {
            let outcome = run.run();
            outcome.expect_success();
            assert_eq!(
                outcome.stdout,
                format!("the host waits: {waits}\n"),
                "version {version}"
            );
        }
    }
}

#[test]
fn the_log_warns_of_a_wait_for_an_event_whose_stream_is_destroyed() {
    let warnings = |case: &str| -> Vec<String> {
        case_run("events", case)
            .in_both_modes()
            .map(|run| {
                let outcome = run.env("AMD_LOG_LEVEL", "2").run();
                outcome.expect_success();
                outcome.stderr
            })
            .into()
    };
    for log in warnings("event_outlives_its_stream") {
        for call in ["hipStreamWaitEvent", "hipEventSynchronize"] {
            let warned = |line: &&str| {
                line.starts_with(":2:")
                    && line.contains(&format!("] {call}: stream 0x"))
                    && line.ends_with("is destroyed: this works here, elsewhere it may not")
            };
            // Once with the work still to come, once with all of it ended.
            assert_eq!(log.lines().filter(warned).count(), 2, "{call}: {log}");
        }
    }
    for case in ["chain_over_streams", "event_of_the_legacy_handle"] {
        for log in warnings(case) {
            assert!(!log.contains("is destroyed"), "{case}: {log}");
        }
    }
}

#[test]
fn every_case_passes_when_the_caller_submits_and_when_the_host_waits() {
    for (program, least) in [("streams", 20), ("events", 9), ("callbacks", 5)] {
        // Without a case the program lists them.
        let listed = case_run(program, "no_such_case").run();
        listed.expect_code(2);
        let cases: Vec<&str> = listed
            .stderr
            .lines()
            .filter_map(|line| line.strip_prefix("  "))
            .filter(|case| !FOR_OTHERS.contains(case))
            .collect();
        assert!(cases.len() >= least, "{}", listed.describe());
        for case in cases {
            for variable in ["AMD_DIRECT_DISPATCH", "ROC_CPU_WAIT_FOR_SIGNAL"] {
                case_run(program, case)
                    .env(variable, "1")
                    .run()
                    .expect_success();
            }
        }
    }
}
