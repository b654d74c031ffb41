//! Tools between a program and the HSA runtime: an unmodified sample runs with its queue in a tool's hands.

use gneiss_tests::{Compile, Prefix, QUICK_TARGET, Run, compile, source_path};

fn dispatch() -> Run {
    let prefix = Prefix::find();
    let program = compile(&Compile::c_over_hsa(
        &source_path("samples/hsa/dispatch.c"),
        &prefix,
    ));
    let kernels = compile(&Compile::code_object(
        &source_path("samples/hsa/kernels.hip"),
        QUICK_TARGET,
    ));
    Run::new(program).gpus(QUICK_TARGET).args([kernels])
}

#[test]
fn a_tool_sees_and_rewrites_the_packets_of_a_queue() {
    let tool = compile(
        &Compile::c_over_hsa(&source_path("tests/programs/hsa_tool.c"), &Prefix::find())
            .args(["-shared", "-fPIC"]),
    );
    dispatch()
        .env("HSA_TOOLS_LIB", &tool)
        .run()
        .expect_success()
        .expect_stderr(&["tool: 1 queues, 1 kernels, in order"]);
}

#[test]
fn a_tool_that_cannot_be_loaded_is_reported_and_left_out() {
    dispatch()
        .env("HSA_TOOLS_LIB", "/nonexistent/tool.so")
        .env("HSA_TOOLS_REPORT_LOAD_FAILURE", "1")
        .run()
        .expect_success()
        .expect_stderr(&["/nonexistent/tool.so"]);
}
