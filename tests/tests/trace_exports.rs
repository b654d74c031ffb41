//! What comes of a recording: the page in a browser, the file for Perfetto, and all of it for every sample.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    fs,
    path::Path,
    process::Command,
};

use gneiss_tests::{
    Compile, HIP_SAMPLES, Prefix, QUICK_TARGET, compile, gneiss_succeeds as succeeds, source_path,
    workspace_root,
};

/// The command lines of the HIP and C samples that need no more than the HIP runtime, by name.
fn samples() -> Vec<(String, Vec<String>)> {
    let mut all = Vec::new();
    for name in HIP_SAMPLES {
        let source = source_path(&format!("samples/hip/{name}.hip"));
        let program = compile(&Compile::hip(&source, QUICK_TARGET, "-O3"));
        all.push((name.to_owned(), vec![program.display().to_string()]));
    }
    let module = compile(&Compile::module(
        &source_path("samples/c/kernels.hip"),
        QUICK_TARGET,
    ));
    for name in ["device_info", "streams_events"] {
        let source = source_path(&format!("samples/c/{name}.c"));
        let program = compile(&Compile::c_over_hip(&source, &Prefix::find()));
        let line = vec![program.display().to_string(), module.display().to_string()];
        all.push((name.to_owned(), line));
    }
    all
}

#[test]
fn every_sample_is_recorded_explained_exported_and_replayed() {
    let folder = tempfile::tempdir().expect("a folder");
    let samples = samples();
    assert!(samples.len() >= 10);
    for (name, line) in samples {
        let path = |ending: &str| folder.path().join(format!("{name}.{ending}"));
        let (trace, json, perfetto) = (path("gnt"), path("jsonl"), path("pftrace"));
        let mut arguments = vec!["trace".to_owned(), "-o".into(), trace.display().to_string()];
        arguments.extend(["--json".into(), json.display().to_string()]);
        arguments.extend(["--perfetto".into(), perfetto.display().to_string()]);
        arguments.push("--".into());
        arguments.extend(line);
        let said = succeeds(&arguments);
        if HIP_SAMPLES.contains(&name.as_str()) {
            assert!(said.ends_with(&format!("{name}: PASSED\n")), "{said}");
        }
        let trace = trace.display().to_string();
        let words = succeeds(&["explain", &trace]);
        let replayed = succeeds(&["replay", &trace]);
        assert!(replayed.contains("makespan"), "{name}: {replayed}");
        let lines = fs::read_to_string(&json).expect("the export");
        let commands = lines.matches("\"type\":\"command\"").count();
        // A program that only asks for the device's properties enqueues nothing.
        assert_eq!(commands > 0, name != "device_info", "{name}: {said}");
        assert_eq!(
            words.contains("Critical path"),
            commands > 0,
            "{name}: {words}"
        );
        check_perfetto(&name, &fs::read(&perfetto).expect("the export"));
    }
}

/// A field of a protocol buffer message.
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Field<'a> {
    #[track_caller]
    fn number(&self) -> u64 {
        match self {
            Self::Number(number) => *number,
            Self::Bytes(_) => panic!("a number was expected"),
        }
    }

    #[track_caller]
    fn bytes(&self) -> &'a [u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Number(_) => panic!("a message was expected"),
        }
    }
}

/// The fields of a message by their numbers, in order.
fn fields(mut bytes: &[u8]) -> BTreeMap<u32, Vec<Field<'_>>> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = bytes[0];
            *bytes = &bytes[1..];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        value
    }
    let mut found: BTreeMap<u32, Vec<Field<'_>>> = BTreeMap::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let field = match key & 7 {
            0 => Field::Number(varint(&mut bytes)),
            1 => {
                let (number, rest) = bytes.split_at(8);
                bytes = rest;
                Field::Number(u64::from_le_bytes(number.try_into().expect("8 bytes")))
            }
            2 => {
                let length = varint(&mut bytes) as usize;
                let (part, rest) = bytes.split_at(length);
                bytes = rest;
                Field::Bytes(part)
            }
            other => panic!("wire type {other} in a Perfetto file"),
        };
        found.entry((key >> 3) as u32).or_default().push(field);
    }
    found
}

/// Whether a file is what ui.perfetto.dev draws: tracks are told before their events, slices nest and end, times do not go back, and both
/// ends of an arrow are there. Field numbers are those of Perfetto's protocol.
fn check_perfetto(name: &str, bytes: &[u8]) {
    const PACKET: u32 = 1;
    const TIMESTAMP: u32 = 8;
    const TRACK_EVENT: u32 = 11;
    const TRACK_DESCRIPTOR: u32 = 60;
    const TYPE: u32 = 9;
    const TRACK: u32 = 11;
    const NAME: u32 = 23;
    const FLOWS: u32 = 47;
    const TERMINATING_FLOWS: u32 = 48;
    let mut tracks = BTreeSet::new();
    let mut open: BTreeMap<u64, usize> = BTreeMap::new();
    let (mut begun, mut ended) = (BTreeSet::new(), BTreeSet::new());
    let mut last = 0;
    let file = fields(bytes);
    assert_eq!(file.keys().collect::<Vec<_>>(), [&PACKET], "{name}");
    for packet in &file[&PACKET] {
        let packet = fields(packet.bytes());
        if let Some(descriptor) = packet.get(&TRACK_DESCRIPTOR) {
            let descriptor = fields(descriptor[0].bytes());
            assert!(
                tracks.insert(descriptor[&1][0].number()),
                "{name}: a track twice"
            );
            if let Some(parent) = descriptor.get(&5) {
                assert!(
                    tracks.contains(&parent[0].number()),
                    "{name}: a track without its parent"
                );
            }
            continue;
        }
        let time = packet[&TIMESTAMP][0].number();
        assert!(time >= last, "{name}: time goes back");
        last = time;
        let event = fields(packet[&TRACK_EVENT][0].bytes());
        let track = event[&TRACK][0].number();
        assert!(
            tracks.contains(&track),
            "{name}: an event on an unknown track"
        );
        match event[&TYPE][0].number() {
            1 => {
                let title = String::from_utf8_lossy(event[&NAME][0].bytes());
                assert!(!title.starts_with("_Z"), "{name}: {title} is mangled");
                *open.entry(track).or_default() += 1;
            }
            2 => {
                let depth = open.get_mut(&track).expect("a slice that has begun");
                *depth = depth.checked_sub(1).expect("a slice that has begun");
            }
            3 => {}
            4 => assert!(event.contains_key(&30), "{name}: a counter without a value"),
            other => panic!("{name}: an event of type {other}"),
        }
        let ends = |field| event.get(&field).into_iter().flatten().map(Field::number);
        begun.extend(ends(FLOWS));
        ended.extend(ends(TERMINATING_FLOWS));
    }
    assert!(
        open.values().all(|depth| *depth == 0),
        "{name}: slices do not end"
    );
    assert_eq!(begun, ended, "{name}: arrows with one end");
}

/// The browser, where there is one.
fn chromium() -> Option<&'static str> {
    let found = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok());
    if found.is_none() {
        eprintln!("LEFT OUT: the page in a browser (apt install chromium)");
    }
    found
}

fn browse(browser: &str, profile: &Path, page: &Path, what: &str) -> String {
    let output = Command::new(browser)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu"])
        .args(["--virtual-time-budget=5000", "--window-size=1400,900", what])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("the browser starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_page_draws_itself_in_a_browser() {
    let Some(browser) = chromium() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let pictures = workspace_root().join("target/test-pages");
    fs::create_dir_all(&pictures).expect("a folder");
    let trace = folder.path().join("trace");
    let sample = compile(&Compile::hip(
        &source_path("samples/hip/stream_pipeline.hip"),
        QUICK_TARGET,
        "-O3",
    ));
    let arguments: [&OsStr; 5] = [
        "trace".as_ref(),
        "-o".as_ref(),
        trace.as_ref(),
        "--".as_ref(),
        sample.as_ref(),
    ];
    succeeds(&arguments);
    // A scenario's page is known to the bar: five calls that enqueue, one that waits; five kernels, each on its stream and on its hardware
    // queue; an arrow for each dependency.
    let scenario = source_path("samples/queue-model/null_stream.scenario");
    for (name, file, drawn) in [
        (
            "null_stream",
            &scenario,
            Some("16 bars and 3 arrows in 9 lanes"),
        ),
        ("stream_pipeline", &trace, None),
    ] {
        let page = folder.path().join(format!("{name}.html"));
        let arguments: [&OsStr; 4] = [
            "explain".as_ref(),
            "--html".as_ref(),
            page.as_ref(),
            file.as_ref(),
        ];
        let words = succeeds(&arguments);
        let profile = folder.path().join("profile");
        let document = browse(browser, &profile, &page, "--dump-dom");
        let label = document
            .split("aria-label=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next())
            .unwrap_or_else(|| panic!("the script has not run: {document}"));
        match drawn {
            Some(drawn) => assert_eq!(label, drawn),
            None => {
                let number = |word: usize| -> usize {
                    let word = label.split(' ').nth(word).expect("a number");
                    word.parse().expect("a number")
                };
                assert!(number(0) > 40 && number(3) > 5, "{label}");
            }
        }
        let shown = document
            .split("<pre id=\"words\">")
            .nth(1)
            .expect("the words");
        let line = words
            .lines()
            .find(|line| line.starts_with("Critical path"))
            .expect("a critical path");
        assert!(shown.contains(line), "{shown}");
        let picture = pictures.join(format!("{name}.png"));
        let screenshot = format!("--screenshot={}", picture.display());
        browse(browser, &profile, &page, &screenshot);
        let png = fs::read(&picture).expect("a picture");
        assert_eq!(&png[1..4], b"PNG");
        // An empty window of this size takes a fifth of that.
        assert!(png.len() > 30_000, "{} bytes: {name} is blank", png.len());
    }
}
