//! What happens when memory that the program lent to the GPU goes.

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
