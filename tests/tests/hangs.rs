//! What the runtime says when a program hangs, or is asked for its state, in both dispatch modes.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{Child, ChildStderr, Stdio},
};

use gneiss_tests::{Run, case_run};

/// What a report of a hang says of a stream whose callback does not return.
const REPORT: [&str; 3] = [
    "no command has ended for 0.5 s while threads wait",
    "the program's own code runs for a host-function",
    "has waited for it for",
];

/// Starts a run with pipes.
fn start(run: &Run) -> (Child, BufReader<ChildStderr>) {
    let mut child = run
        .command()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let errors = BufReader::new(child.stderr.take().expect("a pipe"));
    (child, errors)
}

/// Reads the error stream until it has said `last`.
fn read_until(errors: &mut BufReader<ChildStderr>, last: &str) -> String {
    let mut seen = String::new();
    while !seen.contains(last) {
        let read = errors.read_line(&mut seen).expect("text");
        assert!(read > 0, "the program ended without `{last}`:\n{seen}");
    }
    seen
}

#[test]
fn a_hang_is_reported_and_fails_if_asked_for() {
    for run in case_run("watched", "hang")
        .env("GNEISS_HANG_TIMEOUT", "500ms,fail")
        .in_both_modes()
    {
        run.run().expect_success().expect_stderr(&REPORT);
    }
}

#[test]
fn the_report_says_which_streams_stand_in_one_hardware_queue() {
    for run in case_run("watched", "stand_behind")
        .env("GNEISS_HANG_TIMEOUT", "500ms,fail")
        .env("GPU_MAX_HW_QUEUES", "1")
        .in_both_modes()
    {
        run.run().expect_success().expect_stderr(&[
            "wait_for_number",
            "is shared by stream 1 (queue 1), stream 2 (queue 2)",
        ]);
    }
}

#[test]
fn a_hang_is_reported_and_ends_the_process_if_asked_for() {
    for run in case_run("watched", "hang")
        .env("GNEISS_HANG_TIMEOUT", "500ms,abort")
        .in_both_modes()
    {
        run.run()
            .expect_signal(libc::SIGABRT)
            .expect_stderr(&REPORT);
    }
}

#[test]
fn a_program_goes_on_after_the_report_of_a_hang() {
    for timeout in ["500ms", "500ms,continue"] {
        for run in case_run("watched", "hang_until_input")
            .env("GNEISS_HANG_TIMEOUT", timeout)
            .in_both_modes()
        {
            let (mut child, mut errors) = start(&run);
            let seen = read_until(&mut errors, REPORT[2]);
            for part in REPORT {
                assert!(seen.contains(part), "{part}: {seen}");
            }
            let mut input = child.stdin.take().expect("a pipe");
            input.write_all(b"\n").expect("the program reads");
            let mut said = String::new();
            let mut output = child.stdout.take().expect("a pipe");
            output.read_to_string(&mut said).expect("text");
            assert!(child.wait().expect("the program ends").success(), "{said}");
            assert_eq!(said, "went on\n");
        }
    }
}

#[test]
fn a_signal_prints_the_live_state() {
    for run in case_run("watched", "wait_for_input")
        .env("GNEISS_LIVE", "1")
        .in_both_modes()
    {
        let (mut child, mut errors) = start(&run);
        let seen = read_until(&mut errors, "the program's own code runs");
        assert!(
            seen.contains("gneiss: live state") && seen.contains("active queues"),
            "{seen}"
        );
        let mut input = child.stdin.take().expect("a pipe");
        input.write_all(b"\n").expect("the program reads");
        assert!(child.wait().expect("the program ends").success());
    }
}
