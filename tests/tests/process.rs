//! What processes do around the runtime: fork, exec, exits of every kind, threads, signals.

use gneiss_tests::{
    Compile, QUICK_TARGET, Run, case_run, cases, cases_source, compile, source_path,
};

cases! { "process" in both modes:
    fork_before_the_first_call,
    fork_of_a_started_runtime,
    fork_and_exec,
    short_threads,
    signals_of_the_program,
    idle_costs_nothing,
    host_floating_point_mode,
}

#[test]
fn exit_with_work_pending_keeps_the_exit_code() {
    for run in case_run("process", "exit_with_work_pending").in_both_modes() {
        run.run().expect_code(33);
    }
}

#[test]
fn quick_exit_keeps_the_exit_code() {
    for run in case_run("process", "quick_exit").in_both_modes() {
        run.run().expect_code(34);
    }
}

/// A case ends 200 times in each dispatch mode, each time with the code that its main returns and this output.
fn ends_with_the_code_of_main(case: &str, stdout: &str) {
    for run in case_run("process", case).in_both_modes() {
        for round in 0..200 {
            let code = [0, 35][round % 2];
            let outcome = run.clone().env("CASE_CODE", code.to_string()).run();
            outcome.expect_code(code);
            assert_eq!(outcome.stdout, stdout, "{}", outcome.describe());
        }
    }
}

#[test]
fn short_processes_end_with_the_code_of_main_every_time() {
    ends_with_the_code_of_main("copies", "");
}

#[test]
fn static_destructors_may_use_the_runtime_every_time() {
    ends_with_the_code_of_main("static_destructor", "the destructor ran\n");
}

#[test]
fn threads_in_a_call_at_exit_do_not_change_the_code_of_main() {
    ends_with_the_code_of_main("thread_in_a_call_at_exit", "");
}

#[test]
fn temporary_files_may_lie_in_shared_memory() {
    for case in ["copies", "computes", "fork_and_exec"] {
        for run in case_run("process", case)
            .env("TMPDIR", "/dev/shm")
            .in_both_modes()
        {
            run.run().expect_success();
        }
    }
}

#[test]
fn the_library_path_alone_is_enough() {
    let program = compile(&Compile::hip(
        &source_path("samples/hip/vector_add.hip"),
        QUICK_TARGET,
        "-O3",
    ));
    Run::new(program).library_path().run().expect_success();
    let program = compile(&Compile::hip(&cases_source("process"), QUICK_TARGET, "-O3"));
    Run::new(program)
        .args(["fork_and_exec"])
        .library_path()
        .run()
        .expect_success();
}
