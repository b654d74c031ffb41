//! Printing from kernels: formats, order, whole lines, long strings; and device assertions.

use std::collections::HashSet;

use gneiss_tests::{Compile, QUICK_TARGET, Run, case_run, cases, cases_source, compile};

cases! { "printf": returned_length, assertion_holds }

/// The output of a case, which must pass.
fn output(case: &str) -> String {
    let outcome = case_run("printf", case).run();
    outcome.expect_success();
    outcome.stdout
}

#[test]
fn the_device_formats_as_the_host_does() {
    assert_eq!(output("formats_device"), output("formats_host"));
}

#[test]
fn a_pointer_is_the_host_address() {
    let text = output("pointer");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert_eq!(lines[0], lines[1]);
}

#[test]
fn host_and_device_output_interleave() {
    let expected: String = (0..20)
        .map(|turn| format!("host {turn}\ndevice {turn}\n"))
        .collect();
    assert_eq!(output("interleaving"), expected);
}

#[test]
fn launches_print_in_order() {
    let expected: String = (0..50).map(|launch| format!("device {launch}\n")).collect();
    assert_eq!(output("order_of_launches"), expected);
}

#[test]
fn every_thread_prints_one_whole_line() {
    let text = output("many_threads");
    let lines: HashSet<_> = text.lines().map(str::to_owned).collect();
    let expected: HashSet<_> = (0..8)
        .flat_map(|block| {
            (0..96).map(move |thread| format!("line of block {block} thread {thread}: whole"))
        })
        .collect();
    assert_eq!(text.lines().count(), expected.len());
    assert_eq!(lines, expected);
}

#[test]
fn long_strings_arrive_whole() {
    let expected: String = [0_u32, 1, 7, 8, 55, 56, 57, 63, 64, 112, 113, 1000, 5000]
        .into_iter()
        .map(|length| {
            let letters = (0..length).map(|index| {
                char::from_u32(u32::from(b'a') + (index * 7 + length) % 26).expect("a letter")
            });
            format!("[{}]\n", letters.collect::<String>())
        })
        .collect();
    assert_eq!(output("long_strings"), expected);
}

#[test]
fn output_is_not_lost_at_exit() {
    assert_eq!(output("printed_before_exit"), "device 77\n");
}

#[test]
fn a_failed_assertion_says_where_and_aborts() {
    for level in ["-O0", "-O3"] {
        let program = compile(&Compile::hip(&cases_source("printf"), QUICK_TARGET, level));
        let outcome = Run::new(program).args(["assertion_fails"]).run();
        outcome.expect_signal(libc::SIGABRT);
        let said = format!("{}{}", outcome.stdout, outcome.stderr);
        for part in [
            "printf.hip",
            "check_condition",
            "Device-side assertion",
            "the limit of the test",
        ] {
            assert!(
                said.contains(part),
                "{level}: nothing says `{part}`\n{}",
                outcome.describe()
            );
        }
        assert!(
            !outcome.stderr.contains("went on"),
            "{}",
            outcome.describe()
        );
    }
}
