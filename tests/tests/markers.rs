//! rocTX markers and ranges of programs, in recordings and without one.

use std::{ffi::OsStr, fs};

use gneiss_tests::{
    Compile, Prefix, Run, compile, elf::SharedLibrary, gneiss_succeeds, source_path,
};
use serde_json::Value;

fn program() -> std::path::PathBuf {
    compile(
        &Compile::c_over_hip(&source_path("tests/programs/ranges.c"), &Prefix::find())
            .libraries(["-lroctx64"]),
    )
}

#[test]
fn ranges_nest_also_when_nothing_is_recorded() {
    Run::new(program()).run().expect_success();
}

#[test]
fn ranges_stand_among_the_calls_of_a_recording() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = folder.path().join("ranges.jsonl");
    gneiss_succeeds::<&OsStr>(&[
        "trace".as_ref(),
        "-o".as_ref(),
        folder.path().join("ranges.gnt").as_ref(),
        "--json".as_ref(),
        lines.as_ref(),
        "--".as_ref(),
        program().as_ref(),
    ]);
    let calls: Vec<Value> = fs::read_to_string(&lines)
        .expect("the file")
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a line is an object"))
        .filter(|object| object["type"] == "call")
        .collect();
    let span = |name: &str| {
        let found: Vec<&Value> = calls.iter().filter(|call| call["name"] == name).collect();
        assert_eq!(found.len(), 1, "{name}: {found:?}");
        let time = |which: &str| found[0][which].as_u64().expect("a time");
        (time("begin_ns"), time("end_ns"))
    };
    let inside = |inner: (u64, u64), outer: (u64, u64)| outer.0 <= inner.0 && inner.1 <= outer.1;
    assert!(inside(span("hipMalloc"), span("before the first call")));
    assert!(inside(span("inner"), span("outer")));
    assert!(inside(span("across"), span("outer")));
    assert!(inside(span("hipMemset"), span("inner")));
    assert!(inside(span("here"), span("inner")));
    assert!(inside(span("hipFree"), span("outer")));
}

#[test]
fn the_library_has_amds_name_and_version() {
    let library = SharedLibrary::read(&Prefix::find().lib().join("libroctx64.so.4"));
    assert_eq!(library.exports.len(), 7, "{:?}", library.exports);
    for name in ["roctxMarkA", "roctxRangePushA", "roctxRangePop"] {
        assert_eq!(library.exports[name], "ROCTX_4.1");
    }
}
