//! The table of variables against the sources: what is listed is read, and what is read is listed.

use gneiss_settings::{AMDS, OURS};
use std::collections::BTreeSet;
use std::path::Path;

/// What the libraries read, by its quoted name; files of tests are left out.
fn read_by_the_libraries() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders: Vec<_> = [
        "clr/src",
        "clr/opencl/src",
        "hip-abi/src",
        "hip-abi/rtc/src",
        "hsa-core/src",
        "hsa-core/amdgcn/src",
    ]
    .map(|folder| root.join(folder))
    .into();
    let mut words = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                if !path.ends_with("tests") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("a source");
                words.extend(
                    text.split('"')
                        .filter(|word| is_name(word))
                        .map(str::to_owned),
                );
            }
        }
    }
    words
}

fn is_name(word: &str) -> bool {
    word.contains('_')
        && word
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

#[test]
fn every_variable_of_the_list_is_read() {
    let read = read_by_the_libraries();
    for variable in OURS.iter().chain(AMDS) {
        assert!(
            read.contains(variable.name),
            "{} is listed, and nothing reads it",
            variable.name
        );
    }
}

#[test]
fn every_variable_of_ours_that_is_read_is_in_the_list() {
    // Of the tests and of builds with counters.
    let others = ["GNEISS_BLESS", "GNEISS_COUNTERS", "GNEISS_FACTS"];
    for name in read_by_the_libraries() {
        let listed = OURS.iter().any(|variable| variable.name == name);
        assert!(
            !name.starts_with("GNEISS_") || listed || others.contains(&name.as_str()),
            "{name} is read and not listed"
        );
    }
}
