//! `gneiss trace`, `explain` and `replay` over programs that hipcc built.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
};

use gneiss_tests::{
    Compile, Prefix, QUICK_TARGET, cases_source, compile, gneiss, gneiss_succeeds as succeeds,
    source_path,
};
use serde_json::Value;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn sample(name: &str) -> String {
    compile(&Compile::hip(
        &source_path(&format!("samples/hip/{name}.hip")),
        QUICK_TARGET,
        "-O3",
    ))
    .display()
    .to_string()
}

fn watched() -> String {
    compile(&Compile::hip(&cases_source("watched"), QUICK_TARGET, "-O3"))
        .display()
        .to_string()
}

/// Checks a JSON Lines file against the schema's types, and gives the objects by type.
fn check_lines(file: &Path) -> BTreeMap<String, Vec<Value>> {
    let schema: Value = serde_json::from_str(
        &fs::read_to_string(source_path("hip-abi/cli/schema/trace.schema.json"))
            .expect("the schema"),
    )
    .expect("the schema is JSON");
    let kinds: BTreeMap<&str, &Value> = schema["oneOf"]
        .as_array()
        .expect("kinds of line")
        .iter()
        .map(|kind| {
            (
                kind["properties"]["type"]["const"]
                    .as_str()
                    .expect("a name"),
                kind,
            )
        })
        .collect();
    let mut found: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in fs::read_to_string(file).expect("the file").lines() {
        let object: Value = serde_json::from_str(line).expect("a line is an object");
        let kind = object["type"].as_str().expect("a type").to_owned();
        let rules = kinds
            .get(kind.as_str())
            .unwrap_or_else(|| panic!("{kind} is not in the schema"));
        for name in rules["required"].as_array().expect("names") {
            let name = name.as_str().expect("a name");
            assert!(object.get(name).is_some(), "{line}: no {name}");
        }
        for (name, value) in object.as_object().expect("an object") {
            let rule = &rules["properties"][name];
            assert!(!rule.is_null(), "{name} of {kind} is not in the schema");
            let types: Vec<&str> = match &rule["type"] {
                Value::String(one) => vec![one],
                Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
                _ => Vec::new(),
            };
            let fits = match value {
                Value::Null => types.contains(&"null"),
                Value::Bool(_) => types.contains(&"boolean"),
                Value::Number(_) => types.contains(&"integer"),
                Value::String(text) => {
                    types.contains(&"string")
                        || rule["const"] == text.as_str()
                        || rule["enum"]
                            .as_array()
                            .is_some_and(|words| words.iter().any(|word| word == text))
                }
                Value::Array(_) => types.contains(&"array"),
                Value::Object(_) => false,
            };
            assert!(
                fits,
                "{kind}.{name} is {value}, which the schema does not allow"
            );
        }
        found.entry(kind).or_default().push(object);
    }
    found
}

/// The fields of a protocol buffer message: number, and the bytes of those that have some.
fn fields(mut bytes: &[u8]) -> Vec<(u32, Option<&[u8]>)> {
    fn number(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in 0..10 {
            let byte = bytes[0];
            *bytes = &bytes[1..];
            value |= u64::from(byte & 0x7f) << (7 * shift);
            if byte < 0x80 {
                break;
            }
        }
        value
    }
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = number(&mut bytes);
        let mut part = None;
        match key & 7 {
            0 => {
                number(&mut bytes);
            }
            1 => bytes = &bytes[8..],
            2 => {
                let length = number(&mut bytes) as usize;
                part = Some(&bytes[..length]);
                bytes = &bytes[length..];
            }
            other => panic!("wire type {other} in a Perfetto file"),
        }
        found.push(((key >> 3) as u32, part));
    }
    found
}

#[test]
fn a_recorded_sample_is_exported_explained_and_replayed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (trace, json, perfetto, html) = (
        path("t.gnt"),
        path("t.jsonl"),
        path("t.pftrace"),
        path("t.html"),
    );
    let said = succeeds(&[
        "trace",
        "-o",
        &trace,
        "--json",
        &json,
        "--perfetto",
        &perfetto,
        "--",
        &sample("stream_pipeline"),
    ]);
    assert!(said.ends_with("stream_pipeline: PASSED\n"), "{said}");

    let lines = check_lines(Path::new(&json));
    assert_eq!(lines["trace"][0]["ended"], true);
    let commands = &lines["command"];
    let kernels: Vec<&Value> = commands
        .iter()
        .filter(|command| command["kind"] == "kernel")
        .collect();
    assert!(!kernels.is_empty());
    for command in commands {
        assert_eq!(command["status"], 0, "{command}");
        let time = |name: &str| command[name].as_u64().unwrap_or(0);
        assert!(time("queued_ns") <= time("done_ns"), "{command}");
        assert!(time("start_ns") <= time("end_ns"), "{command}");
    }
    for kernel in &kernels {
        assert!(
            kernel["hw_queue"].is_u64() && kernel["call"].is_u64(),
            "{kernel}"
        );
        let call = lines["call"]
            .iter()
            .find(|call| call["id"] == kernel["call"])
            .expect("the kernel's call is in the file");
        assert!(
            call["name"]
                .as_str()
                .is_some_and(|name| name.contains("Launch")),
            "{call}"
        );
    }
    assert!(
        commands.iter().any(|command| command["wait_list"]
            .as_array()
            .is_some_and(|list| !list.is_empty())),
        "events order the streams"
    );
    assert!(
        lines["batch"]
            .iter()
            .all(|batch| batch["commands"].as_u64() >= Some(1))
    );

    let bytes = fs::read(&perfetto).expect("the file");
    let packets = fields(&bytes);
    assert!(
        packets
            .iter()
            .all(|(number, part)| *number == 1 && part.is_some())
    );
    let mut tracks = 0;
    let (mut slices, mut counters, mut flows) = (0, 0, 0);
    for (_, packet) in &packets {
        for (number, part) in fields(packet.expect("a packet")) {
            match number {
                60 => tracks += 1,
                11 => {
                    for (number, _) in fields(part.expect("an event")) {
                        match number {
                            23 => slices += 1,
                            30 => counters += 1,
                            47 => flows += 1,
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
    }
    assert!(tracks > 4 && slices > commands.len() && counters > 0 && flows > 0);

    let words = succeeds(&["explain", "--html", &html, &trace]);
    for part in ["Critical path", "kernel", "stream", "flushed"] {
        assert!(words.contains(part), "{part}: {words}");
    }
    let page = fs::read_to_string(&html).expect("the page");
    assert!(
        page.contains("<canvas") && !page.contains("http"),
        "the page needs nothing else"
    );

    let first = succeeds(&["replay", "--json", &trace]);
    assert_eq!(
        first,
        succeeds(&["replay", "--json", &trace]),
        "the same file gives the same bytes"
    );
    let result: Value = serde_json::from_str(&first).expect("JSON");
    assert_eq!(
        result["commands"].as_array().map(Vec::len),
        Some(commands.len())
    );
    let makespan = |text: &str| {
        let result: Value = serde_json::from_str(text).expect("JSON");
        result["makespan_ns"].as_u64().expect("a number")
    };
    let one = succeeds(&[
        "replay",
        "--json",
        "--hw-queues",
        "1",
        "--concurrent-kernels",
        "1",
        &trace,
    ]);
    assert!(makespan(&one) >= makespan(&first));
}

#[test]
fn a_killed_process_leaves_all_that_was_recorded() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("killed").display().to_string();
    let output = gneiss(&["trace", "-o", &trace, "--", &watched(), "launch_and_kill"]);
    assert_eq!(
        output.status.code(),
        Some(128 + 9),
        "{}",
        text(&output.stderr)
    );
    let json = folder.path().join("killed.jsonl");
    let output = gneiss(&["explain", &trace]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        text(&output.stderr).contains("did not end in order"),
        "{}",
        text(&output.stderr)
    );
    let words = text(&output.stdout);
    assert!(
        words.contains("1001 commands") || words.contains("1002 commands"),
        "{words}"
    );
    assert!(succeeds(&["replay", &trace]).contains("makespan"));
    assert!(!json.exists());
}

#[test]
fn a_process_killed_with_work_in_flight_leaves_all_that_was_recorded() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("killed").display().to_string();
    for mode in ["0", "1"] {
        let itself = [1, 2, 3, 8, 21, 104, 523].map(|count| (count, "by-itself"));
        let another = [1, 40, 300, 2000, 8000].map(|count| (count, "by-another"));
        for (count, killed) in itself.into_iter().chain(another) {
            let output = Command::new(Prefix::find().gneiss())
                .args(["trace", "-o", &trace, "--", &watched()])
                .args(["launch_until_killed", &count.to_string(), killed])
                .env("AMD_DIRECT_DISPATCH", mode)
                .output()
                .expect("the command starts");
            let place = format!("killed at {count} {killed}, direct dispatch {mode}");
            assert_eq!(output.status.code(), Some(128 + 9), "{place}");
            let output = gneiss(&["explain", &trace]);
            let (words, problems) = (text(&output.stdout), text(&output.stderr));
            assert!(output.status.success(), "{place}: {problems}");
            assert!(
                problems.contains("did not end in order"),
                "{place}: {problems}"
            );
            let commands: u64 = words
                .split_once(" commands on ")
                .and_then(|(before, _)| before.split_whitespace().last()?.parse().ok())
                .unwrap_or_else(|| panic!("{place}: {words}"));
            assert!(commands >= count, "{place}: {commands} are recorded");
            let result: Value =
                serde_json::from_str(&succeeds(&["replay", "--json", &trace])).expect("JSON");
            let replayed = result["commands"].as_array().map(Vec::len);
            assert!(
                replayed.is_some_and(|replayed| replayed as u64 >= count),
                "{place}: {replayed:?}"
            );
        }
    }
}

#[test]
fn damaged_cut_and_newer_traces_are_read_as_far_as_they_go() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let trace = path("whole");
    succeeds(&["trace", "-o", &trace, "--", &sample("vector_add")]);
    let whole = fs::read(&trace).expect("the trace");
    let explain = |name: &str, bytes: &[u8]| {
        let file = path(name);
        fs::write(&file, bytes).expect("a file");
        let output = gneiss(&["explain", &file]);
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    let (code, words, problems) = explain("cut", &whole[..4096 + 3000]);
    assert_eq!(code, Some(0), "{problems}");
    assert!(
        problems.contains("the file is cut") && words.contains("commands"),
        "{problems}{words}"
    );

    let mut newer = whole.clone();
    newer[8] = 9;
    let (code, words, problems) = explain("newer", &newer);
    assert_eq!(code, Some(0));
    assert!(
        problems.contains("version 9, newer than 1") && words.contains("Critical path"),
        "{problems}{words}"
    );

    let mut damaged = whole.clone();
    damaged[4096 + 32 + 2..4096 + 32 + 4].fill(0xff);
    let (code, _, problems) = explain("damaged", &damaged);
    assert_eq!(code, Some(0));
    assert!(
        problems.contains("a record at byte 32 claims 65535 words"),
        "{problems}"
    );

    // Noise anywhere in the file never ends the reader.
    for seed in 0..40_usize {
        let mut noisy = whole.clone();
        for step in 0..200_usize {
            let at = 12 + (seed * 7919 + step * 104_729) % 60_000;
            if at >= 24 {
                noisy[at] ^= (seed * 31 + step * 17) as u8;
            }
        }
        let (code, _, problems) = explain("noisy", &noisy);
        assert!(code.is_some(), "the reader died: {problems}");
        assert!(!problems.contains("panicked"), "{problems}");
    }
    let (code, _, problems) = explain("nothing", b"this is no trace");
    assert_eq!(code, Some(1));
    assert!(problems.contains("line 1"), "{problems}");
}

#[test]
fn a_file_that_is_no_trace_is_not_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("letter");
    fs::write(&file, "dear reader").expect("a file");
    let output = gneiss(&["trace", "-o", &file.display().to_string(), "--", "true"]);
    assert_eq!(output.status.code(), Some(125));
    assert_eq!(fs::read_to_string(&file).expect("the file"), "dear reader");
    let output = gneiss(&[
        "trace",
        "-o",
        &folder.path().join("t").display().to_string(),
        "--",
        "/nowhere",
    ]);
    assert_eq!(output.status.code(), Some(127));
}

#[test]
fn what_cannot_be_recorded_to_is_refused_before_the_program_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| folder.path().join(name).display().to_string();
    let (nowhere, trace) = (place("no/such/folder"), place("t"));
    for (arguments, reason) in [
        (vec!["-o", &nowhere], "No such file or directory"),
        (vec!["-o", &trace, "--json", &trace], "files of their own"),
    ] {
        let mut line = vec!["trace"];
        line.extend(arguments);
        line.extend(["--", "sh", "-c", "echo ran"]);
        let output = gneiss(&line);
        assert_eq!(output.status.code(), Some(125));
        assert!(output.stdout.is_empty());
        let told = text(&output.stderr);
        assert!(told.contains(reason), "{told}");
    }
}

#[test]
fn signals_to_the_recording_command_are_the_programs() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = "trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done";
    let mut command = Command::new(Prefix::find().gneiss());
    command
        .args(["trace", "-o"])
        .arg(folder.path().join("t"))
        .args(["--", "sh", "-c", script])
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut recorder = command.spawn().expect("it starts");
    let mut line = String::new();
    let mut output = BufReader::new(recorder.stdout.take().expect("a pipe"));
    output.read_line(&mut line).expect("a line");
    assert_eq!(line, "ready\n");
    // SAFETY: our child, which is not waited for yet.
    unsafe { libc::kill(recorder.id() as i32, libc::SIGTERM) };
    assert_eq!(recorder.wait().expect("it ends").code(), Some(7));
}

#[test]
fn bad_scenarios_name_line_and_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("bad");
    let endless = format!(
        "stream A\n{}sync A\n",
        "kernel A k 1000000s\n".repeat(20_000)
    );
    for (scenario, reason) in [
        (
            "stream A\nkernel B k 1us\n",
            "line 2: stream \"B\" is not known",
        ),
        (
            "stream A\nkernel A k -1us\n",
            "line 2: \"-1us\" is a negative time",
        ),
        (
            "stream A\nkernel A x 1us after y\nkernel A y 1us after x\n",
            "line 2: cycle: y waits for x waits for y",
        ),
        (
            "stream A\nkernel A k NaNus\n",
            "line 2: \"NaNus\" is no time",
        ),
        (
            "set gpus=65\nstream A\n",
            "line 1: gpus=65: expected a number from 1 to 64",
        ),
        (
            "\u{feff}stream A\nfly A\n",
            "line 2: \"fly\" is no statement",
        ),
        ("", "damaged header: the file is empty"),
        ("GNEISS", "damaged header: the file is cut at byte 6"),
        (&endless, "more than 584 years"),
    ] {
        fs::write(&file, scenario).expect("a file");
        for tool in ["replay", "explain"] {
            let output = gneiss(&[tool, &file.display().to_string()]);
            assert_eq!(output.status.code(), Some(1));
            assert!(
                text(&output.stderr).contains(reason),
                "{}",
                text(&output.stderr)
            );
        }
    }
    fs::write(&file, "stream A\nkernel A k 1us\n").expect("a file");
    for (option, value, reason) in [
        (
            "--copy-engines",
            "4294967295",
            "--copy-engines: from 1 to 1024",
        ),
        ("--hw-queues", "0", "--hw-queues: from 1 to 1024"),
        ("--launch-cost", "-1us", "\"-1us\" is a negative time"),
    ] {
        let output = gneiss(&["replay", &file.display().to_string(), option, value]);
        assert_eq!(output.status.code(), Some(125));
        let told = text(&output.stderr);
        assert!(told.contains(reason), "{told}");
    }
}

#[test]
fn device_memory_that_the_host_cannot_access_gives_the_same_results() {
    for name in ["vector_add", "histogram", "stream_pipeline"] {
        let program = sample(name);
        let outcome = gneiss_tests::Run::new(program)
            .env("ROC_ENABLE_LARGE_BAR", "0")
            .run();
        outcome.expect_success();
        assert!(
            outcome.stdout.ends_with(&format!("{name}: PASSED\n")),
            "{}",
            outcome.describe()
        );
    }
}
