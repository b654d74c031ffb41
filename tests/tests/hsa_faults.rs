//! What a program over HSA sees when a queue fails, and when memory that it lent to the GPU goes.

use gneiss_tests::{Compile, Outcome, Prefix, QUICK_TARGET, Run, compile, source_path};

fn unmapped(arguments: &[&str]) -> Outcome {
    let program = compile(&Compile::c_over_hsa(
        &source_path("tests/programs/hsa_unmapped.c"),
        &Prefix::find(),
    ));
    Run::new(program).gpus(QUICK_TARGET).args(arguments).run()
}

#[test]
fn a_copy_of_memory_that_was_unmapped_dies_with_the_reason() {
    unmapped(&[])
        .expect_signal(libc::SIGSEGV)
        .expect_stderr(&["gneiss: a kernel or a copy used host memory that is not there any more"]);
}

#[test]
fn a_handler_that_the_program_has_installed_is_called() {
    unmapped(&["own handler"])
        .expect_code(42)
        .expect_stderr(&["gneiss: a kernel or a copy used host memory"]);
}

fn queue_error(case: &str) -> Outcome {
    let program = compile(&Compile::c_over_hsa(
        &source_path("tests/programs/hsa_queue_errors.c"),
        &Prefix::find(),
    ));
    let code_object = compile(&Compile::code_object(
        &source_path("samples/hsa/kernels.hip"),
        QUICK_TARGET,
    ));
    Run::new(program)
        .gpus(QUICK_TARGET)
        .args([case.into(), code_object])
        .run()
}

#[test]
fn a_memory_fault_that_nobody_handles_aborts_in_the_words_of_rocr() {
    let outcome = queue_error("fault");
    outcome.expect_signal(libc::SIGABRT);
    let line = outcome
        .stderr
        .lines()
        .find(|line| line.starts_with("Memory access fault by GPU node-"))
        .unwrap_or_else(|| panic!("{}", outcome.describe()));
    let (agent, rest) = line
        .strip_prefix("Memory access fault by GPU node-")
        .and_then(|rest| rest.split_once(" (Agent handle: 0x"))
        .and_then(|(node, rest)| {
            assert!(node.parse::<u32>().is_ok_and(|node| node > 0), "{line}");
            rest.split_once(") on address ")
        })
        .unwrap_or_else(|| panic!("{line}"));
    assert!(u64::from_str_radix(agent, 16).is_ok(), "{line}");
    assert_eq!(
        rest,
        "0x123456789000. Reason: Page not present or supervisor privilege."
    );
}

#[test]
fn a_memory_fault_that_a_handler_takes_goes_on_to_the_callback() {
    queue_error("handled").expect_code(43);
}

#[test]
fn a_queue_without_a_callback_aborts_in_the_words_of_rocr() {
    queue_error("packet")
        .expect_signal(libc::SIGABRT)
        .expect_stderr(&[
            "inactivated due to async error:",
            "HSA_STATUS_ERROR_INVALID_PACKET_FORMAT",
        ]);
}
