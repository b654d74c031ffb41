//! OpenCL beside the rest: the samples, recordings of them, and HIP in the same process.

use std::ffi::OsStr;

use gneiss_tests::{
    Compile, QUICK_TARGET, Run, cases_source, compile, gneiss_succeeds, source_path,
};

fn sample(name: &str) -> Run {
    let source = source_path(&format!("samples/opencl/{name}.c"));
    Run::new(compile(&Compile::c_over_opencl(&source))).gpus(QUICK_TARGET)
}

#[test]
fn samples_pass() {
    for name in [
        "vector_add",
        "flush_and_finish",
        "user_event_gate",
        "out_of_order",
        "device_queue",
    ] {
        let outcome = sample(name).run();
        outcome.expect_success();
        assert_eq!(outcome.stdout, format!("{name}: PASSED\n"));
    }
}

#[test]
fn samples_pass_when_the_caller_submits() {
    for name in [
        "flush_and_finish",
        "user_event_gate",
        "out_of_order",
        "device_queue",
    ] {
        sample(name)
            .env("AMD_DIRECT_DISPATCH", "1")
            .run()
            .expect_success();
    }
}

/// Records a sample: the recording as lines of JSON, and what is said of it.
fn recorded(name: &str) -> [String; 2] {
    let source = source_path(&format!("samples/opencl/{name}.c"));
    let program = compile(&Compile::c_over_opencl(&source));
    let folder = tempfile::tempdir().expect("a folder");
    let (trace, lines) = (folder.path().join("a.gnt"), folder.path().join("a.jsonl"));
    gneiss_succeeds(&[
        OsStr::new("trace"),
        OsStr::new("-o"),
        trace.as_os_str(),
        OsStr::new("--json"),
        lines.as_os_str(),
        OsStr::new("--"),
        program.as_os_str(),
    ]);
    let lines = std::fs::read_to_string(lines).expect("the lines are written");
    let words = gneiss_succeeds(&[OsStr::new("explain"), trace.as_os_str()]);
    [lines, words]
}

#[test]
fn a_recording_has_the_calls_and_commands_of_an_opencl_program() {
    let [lines, words] = recorded("flush_and_finish");
    for text in ["\"clFlush\"", "\"clFinish\"", "\"step\""] {
        assert!(lines.contains(text), "no {text} in:\n{lines}");
    }
    assert!(words.contains("6 commands on 1 stream"), "{words}");
}

#[test]
fn a_recording_shows_kernels_that_a_kernel_has_enqueued() {
    let [lines, words] = recorded("device_queue");
    let enqueued = |kernel: &str| {
        let name = format!("\"{kernel}\"");
        (lines.lines())
            .filter(|line| line.contains("\"type\":\"command\"") && line.contains(&name))
            .count()
    };
    assert_eq!(enqueued("sum"), 1, "{lines}");
    assert_eq!(enqueued("__halve_block_invoke_kernel"), 8, "{lines}");
    assert!(lines.contains("\"device-enqueue\""), "{lines}");
    // The children are commands of a stream of their own.
    assert!(
        words.contains("device queue") && words.contains("on 2 streams"),
        "{words}"
    );
}

#[test]
fn hip_and_opencl_in_one_process() {
    let program = Compile::hip(&cases_source("hip_and_opencl"), QUICK_TARGET, "-O3");
    let outcome = Run::new(compile(&program.libraries(["-lOpenCL"])))
        .gpus(QUICK_TARGET)
        .run();
    outcome.expect_success();
    assert_eq!(outcome.stdout, "both: PASSED\n");
}
