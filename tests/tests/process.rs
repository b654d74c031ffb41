//! What processes do around the runtime: fork, exec, exits of every kind, threads, signals.

use gneiss_tests::{
    Compile, QUICK_TARGET, Run, case_run, cases, cases_source, compile, source_path,
};

cases! { "process":
    fork_before_the_first_call,
    fork_of_a_started_runtime,
    fork_and_exec,
    thread_in_a_call_at_exit,
    short_threads,
    signals_of_the_program,
    idle_costs_nothing,
    host_floating_point_mode,
}

#[test]
fn exit_with_work_pending_keeps_the_exit_code() {
    case_run("process", "exit_with_work_pending")
        .run()
        .expect_code(33);
}

#[test]
fn quick_exit_keeps_the_exit_code() {
    case_run("process", "quick_exit").run().expect_code(34);
}

#[test]
fn static_destructors_may_use_the_runtime() {
    let outcome = case_run("process", "static_destructor").run();
    outcome.expect_success();
    assert_eq!(outcome.stdout, "the destructor ran\n");
}

#[test]
fn short_processes_end_cleanly_every_time() {
    for _ in 0..200 {
        case_run("process", "copies").run().expect_success();
    }
}

#[test]
fn destructors_and_threads_that_use_the_runtime_at_the_end_do_so_every_time() {
    for _ in 0..100 {
        let outcome = case_run("process", "static_destructor").run();
        outcome.expect_success();
        assert_eq!(outcome.stdout, "the destructor ran\n");
        case_run("process", "thread_in_a_call_at_exit")
            .run()
            .expect_success();
    }
}

#[test]
fn temporary_files_may_lie_in_shared_memory() {
    case_run("process", "computes")
        .env("TMPDIR", "/dev/shm")
        .run()
        .expect_success();
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
