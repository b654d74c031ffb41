//! OpenCL beside the rest: the samples, recordings of them, and HIP in the same process.

use std::process::Command;

use gneiss_tests::{
    Compile, Prefix, QUICK_TARGET, Run, cases_source, compile, gneiss_succeeds, source_path,
};
use serde_json::Value;

fn sample(name: &str) -> Run {
    let source = source_path(&format!("samples/opencl/{name}.c"));
    Run::new(compile(&Compile::c_over_opencl(&source))).gpus(QUICK_TARGET)
}

const SAMPLES: [&str; 5] = [
    "vector_add",
    "flush_and_finish",
    "user_event_gate",
    "out_of_order",
    "device_queue",
];

#[test]
fn samples_pass_in_both_dispatch_modes() {
    for name in SAMPLES {
        for run in sample(name).in_both_modes() {
            let outcome = run.run();
            outcome.expect_success();
            assert_eq!(outcome.stdout, format!("{name}: PASSED\n"));
        }
    }
}

/// What a recording says of the commands that a sample must have run: how often each kernel, and how often anything else.
fn commands_of(name: &str) -> (&'static [(&'static str, usize)], usize) {
    match name {
        "vector_add" => (&[("add", 1)], 3),
        "flush_and_finish" => (&[("step", 4)], 2),
        "user_event_gate" => (&[("put", 3)], 2),
        "out_of_order" => (&[("put", 3)], 4),
        "device_queue" => (&[("sum", 1), ("__halve_block_invoke_kernel", 8)], 3),
        other => panic!("{other} is not known here"),
    }
}

#[test]
fn every_sample_is_recorded_explained_and_replayed_in_both_dispatch_modes() {
    for name in SAMPLES {
        for mode in ["0", "1"] {
            let recording = Recording::of(name, mode);
            let commands: Vec<Value> = (recording.lines.lines())
                .map(|line| serde_json::from_str(line).expect("a line is an object"))
                .filter(|line: &Value| line["type"] == "command")
                .collect();
            let kernels: Vec<&Value> = (commands.iter())
                .filter(|command| command["kind"] == "kernel")
                .collect();
            let (wanted, others) = commands_of(name);
            for (kernel, count) in wanted {
                let found = kernels.iter().filter(|line| line["name"] == *kernel);
                assert_eq!(
                    found.count(),
                    *count,
                    "{name}: {kernel}: {}",
                    recording.lines
                );
            }
            let count = wanted.iter().map(|(_, count)| count).sum::<usize>();
            assert_eq!(kernels.len(), count, "{name}: {}", recording.lines);
            // When the host lets go of a device queue whose last child's end is not told yet, a marker stands behind that child.
            let of_program = (commands.iter())
                .filter(|line| name != "device_queue" || line["kind"] != "marker")
                .count();
            assert_eq!(of_program, count + others, "{name}: {}", recording.lines);
            // What waited for a user event that failed has failed; nothing else has.
            let failed = (commands.iter())
                .filter(|line| line["status"].as_i64().is_some_and(|status| status < 0))
                .count();
            assert_eq!(failed, usize::from(name == "user_event_gate"), "{name}");

            let words = &recording.words;
            assert!(
                words.contains(&format!("{} commands on ", commands.len())),
                "{name}: {words}"
            );
            assert!(words.contains("Critical path"), "{name}: {words}");

            let replay = || recording.gneiss(&["replay", "--json"]);
            let first = replay();
            assert_eq!(
                first,
                replay(),
                "{name}: the same file gives the same bytes"
            );
            let result: Value = serde_json::from_str(&first).expect("JSON");
            assert_eq!(
                result["commands"].as_array().map(Vec::len),
                Some(commands.len()),
                "{name}: {first}"
            );
            assert!(result["makespan_ns"].as_u64() > Some(0), "{name}: {first}");
        }
    }
}

/// A recorded sample.
struct Recording {
    folder: tempfile::TempDir,
    /// The recording as lines of JSON.
    lines: String,
    /// What is said of it.
    words: String,
}

impl Recording {
    fn of(name: &str, direct_dispatch: &str) -> Self {
        let source = source_path(&format!("samples/opencl/{name}.c"));
        let program = compile(&Compile::c_over_opencl(&source));
        let folder = tempfile::tempdir().expect("a folder");
        let lines = folder.path().join("a.jsonl");
        let output = Command::new(Prefix::find().gneiss())
            .args(["trace", "-o"])
            .arg(folder.path().join("a.gnt"))
            .arg("--json")
            .arg(&lines)
            .arg("--")
            .arg(&program)
            .env("AMD_DIRECT_DISPATCH", direct_dispatch)
            .output()
            .expect("the command starts");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && said.ends_with(&format!("{name}: PASSED\n")),
            "{}\n{said}{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        let mut recording = Self {
            folder,
            lines: std::fs::read_to_string(lines).expect("the lines are written"),
            words: String::new(),
        };
        recording.words = recording.gneiss(&["explain"]);
        recording
    }

    /// What the command says when it gets the recording as its last argument.
    fn gneiss(&self, arguments: &[&str]) -> String {
        let trace = self.folder.path().join("a.gnt").display().to_string();
        gneiss_succeeds(&[arguments, &[trace.as_str()]].concat())
    }
}

#[test]
fn a_recording_has_the_calls_and_commands_of_an_opencl_program() {
    let Recording { lines, words, .. } = Recording::of("flush_and_finish", "0");
    for text in ["\"clFlush\"", "\"clFinish\"", "\"step\""] {
        assert!(lines.contains(text), "no {text} in:\n{lines}");
    }
    assert!(words.contains("6 commands on 1 stream"), "{words}");
}

#[test]
fn a_recording_shows_kernels_that_a_kernel_has_enqueued() {
    let Recording { lines, words, .. } = Recording::of("device_queue", "0");
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
