//! Schedules that follow from the rules, to the nanosecond.

use super::{FlushRule, Outcome, Policy, run, scenario};
use crate::trace::format::FlushReason;

fn play(text: &str, change: impl FnOnce(&mut Policy)) -> Outcome {
    let (workload, mut policy) = scenario::parse(text).expect("a scenario");
    change(&mut policy);
    run(&workload, &policy, true).expect("it plays")
}

/// Start and end of a command by its name, in microseconds.
fn span(outcome: &Outcome, text: &str, name: &str) -> (f64, f64) {
    let (workload, _) = scenario::parse(text).expect("a scenario");
    let number = workload
        .names
        .iter()
        .position(|other| other == name)
        .expect("the name") as u32;
    let place = workload
        .commands
        .iter()
        .position(|command| workload.shape(command).name == number)
        .expect("the command");
    let span = outcome.spans[place];
    (span.start as f64 / 1e3, span.end as f64 / 1e3)
}

const TWO_STREAMS: &str = "
set launch-cost=1us
stream A
stream B
kernel A a1 100us
kernel A a2 50us
record done A
kernel B b1 30us
wait B done
kernel B b2 10us
sync-all
";

#[test]
fn a_stream_is_in_order_and_streams_overlap_until_they_wait() {
    for direct in [false, true] {
        for cpu in [false, true] {
            let outcome = play(TWO_STREAMS, |policy| {
                policy.direct_dispatch = direct;
                policy.cpu_wait = cpu;
            });
            assert_eq!(span(&outcome, TWO_STREAMS, "a1"), (0.0, 100.0));
            assert_eq!(span(&outcome, TWO_STREAMS, "a2"), (100.0, 150.0));
            assert_eq!(span(&outcome, TWO_STREAMS, "b1"), (3.0, 33.0));
            assert_eq!(span(&outcome, TWO_STREAMS, "b2"), (150.0, 160.0));
            assert_eq!(outcome.makespan, 160_000);
            assert_eq!(outcome.overlap, 30_000);
            assert_eq!(outcome.idle(), 0);
        }
    }
}

#[test]
fn the_same_input_gives_the_same_schedule() {
    let first = play(TWO_STREAMS, |_| {});
    let second = play(TWO_STREAMS, |_| {});
    assert_eq!(first.spans, second.spans);
    let times = |outcome: &Outcome| -> Vec<_> {
        let trace = outcome.trace.as_ref().expect("a trace");
        trace
            .commands
            .iter()
            .map(|command| (command.id, command.queued, command.submitted, command.done))
            .collect()
    };
    assert_eq!(times(&first), times(&second));
}

#[test]
fn flush_rules_decide_who_waits_at_a_marker_and_how_long_batches_are() {
    let text = "
set launch-cost=1us worker-latency=5us
stream A
kernel A a 20us
marker A
kernel A b 20us
kernel A c 20us
sync A
";
    let batch = play(text, |_| {});
    let each = play(text, |policy| policy.flush = FlushRule::Each);
    let wait = play(text, |policy| policy.flush = FlushRule::Wait);
    assert_eq!(span(&batch, text, "b").0, span(&batch, text, "a").1);
    // The worker hears of a's end, and only then submits b.
    assert_eq!(span(&wait, text, "b").0, span(&wait, text, "a").1 + 5.0);
    let batches = |outcome: &Outcome| {
        outcome
            .trace
            .as_ref()
            .map_or(0, |trace| trace.batches.len())
    };
    assert_eq!(batches(&each), 3);
    assert!(batches(&batch) < 3, "b and c are one batch");
    assert_eq!(span(&each, text, "c").1, span(&batch, text, "c").1);
}

#[test]
fn one_hardware_queue_serialises_streams() {
    let text = "
set launch-cost=0ns
stream A
stream B
kernel A a 100us
kernel B b 100us
sync-all
";
    assert_eq!(play(text, |_| {}).makespan, 100_000);
    assert_eq!(play(text, |policy| policy.hw_queues = 1).makespan, 200_000);
    assert_eq!(
        play(text, |policy| policy.concurrent_kernels = Some(1)).makespan,
        200_000
    );
    let two_gpus = play(text, |policy| {
        policy.gpus = Some(2);
        policy.concurrent_kernels = Some(1);
    });
    assert_eq!(two_gpus.makespan, 100_000);
}

#[test]
fn copies_overlap_kernels_and_share_engines() {
    let text = "
set launch-cost=1us
stream A
stream B
copy-to A a-in 40us
kernel A a 100us
copy-to B b-in 40us
kernel B b 100us
sync-all
";
    let two = play(text, |policy| policy.copy_engines = 2);
    assert_eq!(two.makespan, 142_000);
    let one = play(text, |policy| policy.copy_engines = 1);
    assert_eq!(span(&one, text, "b-in"), (40.0, 80.0));
    assert_eq!(one.makespan, 180_000);
}

#[test]
fn the_null_stream_stops_blocking_streams_only() {
    let text = "
set launch-cost=0ns
stream null
stream A
stream N nonblocking
kernel A a 100us
kernel null n 10us
kernel A after-null 10us
kernel N free 20us
sync-all
";
    let outcome = play(text, |_| {});
    assert_eq!(span(&outcome, text, "n"), (100.0, 110.0));
    assert_eq!(span(&outcome, text, "after-null"), (110.0, 120.0));
    assert_eq!(span(&outcome, text, "free"), (0.0, 20.0));
}

#[test]
fn host_functions_stop_their_stream_and_no_other() {
    let text = "
set launch-cost=0ns
stream A
stream B
kernel A a 10us
host-function A callback 50us
kernel A a2 10us
kernel B b 20us
sync-all
";
    let outcome = play(text, |_| {});
    assert_eq!(span(&outcome, text, "callback"), (10.0, 60.0));
    assert_eq!(span(&outcome, text, "a2"), (60.0, 70.0));
    assert_eq!(span(&outcome, text, "b"), (0.0, 20.0));
}

#[test]
fn an_out_of_order_stream_passes_what_waits_for_a_user_event() {
    let text = "
set launch-cost=0ns
stream A out-of-order
user-event go
kernel A held 10us after go
kernel A free 10us
host 100us
set-event go
sync-all
";
    let outcome = play(text, |_| {});
    assert_eq!(span(&outcome, text, "free"), (0.0, 10.0));
    assert_eq!(span(&outcome, text, "held"), (100.0, 110.0));
}

#[test]
fn batches_are_flushed_for_reasons_that_the_trace_names() {
    let text = "
set launch-cost=0ns batch=3 worker-latency=1us
stream A
stream B
kernel A a1 1us
kernel A a2 1us
kernel A a3 1us
kernel A a4 1us
record done A
kernel B b 1us after done
sync-all
";
    let outcome = play(text, |_| {});
    let trace = outcome.trace.expect("a trace");
    let reasons: Vec<_> = trace
        .batches
        .iter()
        .map(|batch| (batch.reason, batch.commands))
        .collect();
    assert!(reasons.contains(&(FlushReason::Size, 3)), "{reasons:?}");
    assert!(reasons.contains(&(FlushReason::Marker, 1)), "{reasons:?}");
    assert!(reasons.contains(&(FlushReason::RanDry, 1)), "{reasons:?}");
}

#[test]
fn bad_scenarios_are_refused_with_line_and_reason() {
    for (text, line, reason) in [
        ("kernel A k 1us", 1, "stream \"A\" is not known"),
        (
            "stream A\nkernel A k -1us",
            2,
            "\"-1us\" is a negative time",
        ),
        ("stream A\nkernel A k 5", 2, "\"5\" is no time"),
        (
            "stream A\nstream B\nkernel A x 1us after y\nkernel B y 1us after x",
            3,
            "cycle: y waits for x waits for y",
        ),
        (
            "stream A\nkernel A x 1us after y\nkernel A y 1us",
            2,
            "\"y\" is enqueued only at line 3",
        ),
        ("stream A\nstream A", 2, "is there already"),
        ("stream A\nfly A", 2, "\"fly\" is no statement"),
        ("set speed=3", 1, "\"speed\" cannot be set"),
        ("# nothing", 1, "there is no stream"),
    ] {
        let error = scenario::parse(text).expect_err(text);
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(error.reason.contains(reason), "{text}: {error}");
    }
}

#[test]
fn a_replay_that_cannot_end_says_so() {
    let text = "
stream A
user-event never
kernel A k 1us after never
sync A
";
    let (workload, policy) = scenario::parse(text).expect("a scenario");
    let error = run(&workload, &policy, false)
        .expect_err("stuck")
        .to_string();
    assert!(error.contains("stuck"), "{error}");
    assert!(
        error.contains("a user event that nobody has set"),
        "{error}"
    );
}

#[test]
fn many_commands_play_in_bounded_memory() {
    let mut text = String::from("set launch-cost=100ns\n");
    for stream in 0..8 {
        text += &format!("stream s{stream}\n");
    }
    for index in 0..50_000 {
        text += &format!("kernel s{} k 1us\n", index % 8);
    }
    text += "sync-all\n";
    let (workload, policy) = scenario::parse(&text).expect("a scenario");
    let outcome = run(&workload, &policy, false).expect("it plays");
    assert_eq!(outcome.work, 50_000_000);
    assert!(outcome.makespan >= 12_500_000);
}

/// The scenarios that the documentation shows: each says itself when its commands are at work.
#[test]
fn the_scenarios_to_learn_from_give_the_schedules_that_they_state() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/queue-model");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the folder") {
        let path = entry.expect("an entry").path();
        if path
            .extension()
            .is_none_or(|extension| extension != "scenario")
        {
            continue;
        }
        count += 1;
        let name = path.display();
        let text = std::fs::read_to_string(&path).expect("a scenario");
        let expected: Vec<(&str, u64, u64)> = text
            .lines()
            .filter_map(|line| line.strip_prefix("# expect "))
            .map(|line| {
                let words: Vec<&str> = line.split_whitespace().collect();
                let time = |word| scenario::parse_time(word).expect("a time");
                (words[0], time(words[1]), time(words[2]))
            })
            .collect();
        assert!(expected.len() >= 2, "{name} states its schedule");
        for direct in [false, true] {
            let outcome = play(&text, |policy| policy.direct_dispatch = direct);
            for (command, start, end) in &expected {
                let (found_start, found_end) = span(&outcome, &text, command);
                assert_eq!(
                    (found_start, found_end),
                    (*start as f64 / 1e3, *end as f64 / 1e3),
                    "{name}: {command}, direct dispatch: {direct}"
                );
            }
        }
    }
    assert!(count >= 10);
}
