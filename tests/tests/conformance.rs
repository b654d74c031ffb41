//! The conformance list: well formed always, and true where the built examples are at hand (`GNEISS_CONFORMANCE`).

use std::{collections::BTreeSet, fs, path::PathBuf, time::Duration};

use gneiss_tests::{Run, source_path};

/// One row: an example, and its result for each target and HIP library.
struct Example {
    name: String,
    results: Vec<(Column, String)>,
}

/// A column: `gfx90a` is over our HIP library, `gfx90a amd` over AMD's.
#[derive(Clone)]
struct Column {
    target: String,
    amd: bool,
}

impl Column {
    fn of_heading(heading: &str) -> Self {
        let target = heading.strip_suffix(" amd");
        Self {
            target: target.unwrap_or(heading).to_owned(),
            amd: target.is_some(),
        }
    }

    fn title(&self) -> String {
        let library = if self.amd { "AMD's" } else { "our" };
        format!("{} over {library} HIP library", self.target)
    }
}

/// The text of a list.
fn list(name: &str) -> String {
    let path = source_path(&format!("tests/conformance/{name}.tsv"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn examples() -> Vec<Example> {
    let text = list("rocm-examples");
    let mut lines = text.lines();
    let targets: Vec<_> = lines
        .next()
        .expect("a heading")
        .split('\t')
        .skip(1)
        .map(Column::of_heading)
        .collect();
    lines
        .map(|line| {
            let mut fields = line.split('\t').map(str::to_owned);
            let name = fields.next().expect("a name");
            let results: Vec<_> = targets.iter().cloned().zip(fields).collect();
            assert_eq!(results.len(), targets.len(), "{line}");
            Example { name, results }
        })
        .collect()
}

#[test]
fn every_example_has_a_result() {
    let examples = examples();
    let names: BTreeSet<_> = examples.iter().map(|example| &example.name).collect();
    assert_eq!(names.len(), examples.len(), "a name stands twice");
    assert_eq!(names.len(), 29, "HIP-Basic has 29 examples");
    for example in &examples {
        for (column, result) in &example.results {
            let known =
                matches!(result.as_str(), "pass" | "fail") || result.starts_with("left out: ");
            assert!(known, "{} for {}: {result}", example.name, column.title());
        }
    }
}

#[test]
fn every_case_that_does_not_pass_has_a_reason() {
    reasons("hip-tests-5.2.3", 400);
    reasons("hip-tests-87c8a041", 1400);
}

/// Checks a list of cases, with one result or several in a row, which must have at least so many rows.
fn reasons(name: &str, least: usize) {
    let text = list(name);
    let mut names = BTreeSet::new();
    let columns = text.lines().next().unwrap_or_default().split('\t').count();
    for line in text.lines().skip(1) {
        let fields: Vec<_> = line.split('\t').collect();
        assert_eq!(fields.len(), columns, "{line}");
        let [folder, case, ref results @ ..] = fields[..] else {
            panic!("a folder, a case and results: {line}");
        };
        assert!(names.insert((folder, case)), "{case} stands twice");
        assert!(!results.is_empty(), "{line}");
        for result in results {
            let reason = result.split_once(": ").map(|(_, reason)| reason);
            assert!(
                *result == "pass" || reason.is_some_and(|reason| !reason.is_empty()),
                "{line}"
            );
        }
    }
    assert!(names.len() > least, "only {} cases", names.len());
}

#[test]
fn the_results_are_as_listed() {
    let Some(built) = std::env::var_os("GNEISS_CONFORMANCE").map(PathBuf::from) else {
        eprintln!(
            "LEFT OUT: the examples themselves (GNEISS_CONFORMANCE names a folder with them, built)"
        );
        return;
    };
    let mut differences = Vec::new();
    for example in examples() {
        for (column, listed) in example
            .results
            .iter()
            .filter(|(_, result)| !result.starts_with("left out: "))
        {
            let target = &column.target;
            let folder = built.join(target);
            let program = folder.join(&example.name);
            if !program.exists() {
                differences.push(format!("{} is not there", program.display()));
                continue;
            }
            let mut run = Run::new(program)
                .gpus(&format!("{target}:2"))
                .in_folder(folder)
                .limit(Duration::from_secs(300));
            if column.amd {
                run = run.hip_amd();
            }
            let outcome = run.run();
            let got = if outcome.status.success() && !outcome.hung {
                "pass"
            } else {
                "fail"
            };
            if got != listed {
                differences.push(format!(
                    "{} for {} is listed as {listed}\n{}",
                    example.name,
                    column.title(),
                    outcome.describe()
                ));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn every_test_of_rocrtst_has_a_result() {
    let text = list("rocrtst");
    let mut names = BTreeSet::new();
    let mut failed = Vec::new();
    for line in text.lines().skip(1) {
        let fields: Vec<_> = line.split('\t').collect();
        assert_eq!(fields.len(), 3, "{line}");
        assert!(names.insert(fields[0]), "{} stands twice", fields[0]);
        for result in &fields[1..] {
            match *result {
                "pass" => {}
                "fail" => failed.push(fields[0]),
                other => assert!(other.starts_with("left out: "), "{line}"),
            }
        }
    }
    assert_eq!(names.len(), 52, "rocrtst has 59 tests, 7 of which measure");
    assert!(failed.is_empty(), "listed as failing: {failed:?}");
}

#[test]
fn every_difference_to_amds_library_is_argued() {
    let text = list("amd-clr-5.2.3");
    let mut names = BTreeSet::new();
    for line in text.lines().skip(1) {
        let fields: Vec<_> = line.split('\t').collect();
        let [folder, case, amd, ours, why] = fields[..] else {
            panic!("five fields: {line}");
        };
        assert!(names.insert((folder, case)), "{case} stands twice");
        assert!(amd != ours && !why.is_empty(), "{line}");
    }
    assert!(!names.is_empty());
}

#[test]
fn every_opencl_test_of_the_list_has_a_result() {
    let text = list("opencl-cts");
    let mut names = BTreeSet::new();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [suite, name, result] = fields[..] else {
            panic!("{line}: not three fields");
        };
        assert!(names.insert((suite, name)), "{line}: it stands twice");
        let known = matches!(result, "pass" | "fail") || result.starts_with("left out: ");
        assert!(known, "{line}: no result");
    }
    assert!(!names.is_empty());
}

#[test]
fn twenty_programs_of_the_primitive_libraries_pass_for_each_target() {
    let text = list("rocprim-rocrand");
    let mut names = BTreeSet::new();
    let targets = text
        .lines()
        .next()
        .map_or(0, |line| line.split('\t').count())
        - 3;
    let mut passed = vec![0; targets];
    let mut seconds = 0;
    for line in text.lines().skip(1) {
        let fields: Vec<_> = line.split('\t').collect();
        let [library, program, tests, results @ ..] = &fields[..] else {
            panic!("fields of the program, then of the targets: {line}");
        };
        assert!(names.insert((*library, *program)), "{program} stands twice");
        assert!(tests.parse::<u32>().is_ok_and(|count| count > 0), "{line}");
        assert_eq!(results.len(), passed.len(), "{line}");
        for (result, passed) in results.iter().zip(&mut passed) {
            let time = result
                .strip_prefix("pass ")
                .and_then(|rest| rest.strip_suffix(" s"));
            match time.map(str::parse::<u32>) {
                Some(Ok(time)) => {
                    *passed += 1;
                    seconds += time;
                }
                _ => assert!(
                    ["left out: ", "fail: "]
                        .iter()
                        .any(|word| result.starts_with(word)),
                    "{line}"
                ),
            }
        }
    }
    assert!(
        passed.iter().all(|&count| count >= 20),
        "passed: {passed:?}"
    );
    assert!(seconds < 3600, "{seconds} s in all");
}

#[test]
fn every_row_of_every_list_has_the_fields_of_its_head() {
    let folder = gneiss_tests::source_path("tests/conformance");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "tsv") {
            continue;
        }
        count += 1;
        let text = std::fs::read_to_string(&path).expect("a list");
        let fields = |line: &str| line.split('\t').count();
        let head = text.lines().next().map(fields);
        for line in text.lines() {
            assert_eq!(Some(fields(line)), head, "{}: {line}", path.display());
            assert!(
                !line.split('\t').any(str::is_empty),
                "{}: {line}",
                path.display()
            );
        }
    }
    assert!(count >= 9, "{count} lists");
}
