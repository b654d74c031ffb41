//! The math functions of HIP's device library stay within the errors that HIP documents, and the page with what was measured is
//! true. A few thousand points for each function in the quick run, a million in the long one (`GNEISS_VERIFY=1`), which writes the
//! page with `GNEISS_BLESS=1`.

use std::{fmt::Write, time::Duration};

use gneiss_tests::{Compile, Run, cases_source, clang_22, compile, source_path, verify};

/// By hipcc.
const OF_HIPCC: [&str; 2] = ["gfx90a", "gfx1030"];
/// By clang 22.
const OF_CLANG_22: [&str; 4] = ["gfx942", "gfx1100", "gfx1151", "gfx1200"];

/// A function.
struct Row {
    name: String,
    /// What HIP documents; none for functions without a counterpart in C++, and for halves.
    bound: Option<f64>,
    /// For each target.
    errors: Vec<Errors>,
}

/// What was measured of a function, in units in the last place.
struct Errors {
    /// Where the absolute error is largest: what HIP's documentation measures.
    at_largest_absolute: f64,
    largest: f64,
}

/// Runs the program with a device of each target, so that the references, which take the longest, are computed once for all.
fn measure(program: &Compile, targets: &[&str], points: u32) -> Vec<Row> {
    let outcome = Run::new(compile(program))
        .args([points.to_string()])
        .gpus(&targets.join(","))
        .limit(Duration::from_secs(3600))
        .run();
    outcome.expect_success();
    let row = |line: &str| {
        let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("a number: {line}"));
        let fields: Vec<_> = line.split('\t').collect();
        let [name, bound, measured @ ..] = &fields[..] else {
            panic!("a name and a bound: {line}");
        };
        let errors: Vec<Errors> = measured
            .chunks(2)
            .map(|pair| Errors {
                at_largest_absolute: number(pair[0]),
                largest: number(pair[1]),
            })
            .collect();
        assert_eq!(errors.len(), targets.len(), "{line}");
        Row {
            name: (*name).to_owned(),
            bound: (*bound != "none").then(|| number(bound)),
            errors,
        }
    };
    outcome.stdout.lines().map(row).collect()
}

/// Headers of clang 22 make it of approximate sine, cosine and reciprocal: near a pole there is no bound. hipcc's is the exact tangent.
fn without_bound(target: &str, name: &str) -> bool {
    OF_CLANG_22.contains(&target) && name == "__tanf"
}

/// A bound for what HIP documents none of, on the error where the absolute error is largest: inverse error functions, normal
/// distributions and Bessel functions, as these device libraries have them. Halves are rounded from single precision.
fn own_bound(name: &str) -> f64 {
    if name.starts_with('h') { 1.0 } else { 4.0 }
}

#[test]
fn math_functions_stay_within_their_documented_errors() {
    let points = if verify() { 1 << 20 } else { 2048 };
    let source = cases_source("math_accuracy");
    let hipcc = Compile::hip_for_targets(&source, &OF_HIPCC, "-O1").args(["-std=c++17"]);
    let mut rows = measure(&hipcc, &OF_HIPCC, points);
    let mut targets = OF_HIPCC.to_vec();
    if clang_22() {
        let clang = Compile::clang_22(&source, &OF_CLANG_22, "-O1");
        for (row, more) in rows.iter_mut().zip(measure(&clang, &OF_CLANG_22, points)) {
            assert_eq!(row.name, more.name);
            row.errors.extend(more.errors);
        }
        targets.extend(OF_CLANG_22);
    }
    assert!(rows.len() > 120, "only {} functions", rows.len());
    let mut over = Vec::new();
    for row in &rows {
        // HIP's figures are differences to a rounded reference; against the truth that is half a unit more.
        let bound = row.bound.map_or(own_bound(&row.name), |bound| bound + 0.5);
        for (target, errors) in targets.iter().zip(&row.errors) {
            let error = errors.at_largest_absolute;
            if error.is_nan() || error > bound && !without_bound(target, &row.name) {
                over.push(format!(
                    "{target}: {}: {error} of {:?}",
                    row.name, row.bound
                ));
            }
        }
    }
    assert!(over.is_empty(), "{}", over.join("\n"));
    if verify() && clang_22() && std::env::var_os("GNEISS_BLESS").is_some() {
        std::fs::write(
            source_path("docs/math-accuracy.md"),
            page(&targets, &rows, points),
        )
        .expect("a writable page");
    }
}

fn page(targets: &[&str], rows: &[Row], points: u32) -> String {
    let mut page = format!(
        "# Accuracy of the math functions\n\nThe device library's functions, compiled for gfx90a and gfx1030 by hipcc and for gfx942, gfx1100, gfx1151 and gfx1200 by clang 22, at \
{points} points of the ranges for which [HIP documents \
errors](https://rocm.docs.amd.com/projects/HIP/en/latest/reference/math_api.html), against glibc's long double on x87 (whose own error \
is below 1/500 of a unit of a double). All numbers are units in the last place: the error where the absolute error is largest, and behind \
the stroke the largest error. HIP's figure is the difference to the rounded reference where the absolute error is largest; against the \
truth, as here, that may be half a unit more. clang 22 makes `__tanf` of approximate sine, cosine and reciprocal, without a bound near \
a pole. `tests/tests/math_accuracy.rs` \
measures, fails above the bounds, and writes this page (`GNEISS_VERIFY=1 GNEISS_BLESS=1`).\n\n| function | documented |"
    );
    for target in targets {
        let _ = write!(page, " {target} |");
    }
    page += "\n| --- | ---: |";
    page += &" ---: |".repeat(targets.len());
    page.push('\n');
    for row in rows {
        let bound = row
            .bound
            .map_or("none".to_owned(), |bound| bound.to_string());
        let _ = write!(page, "| `{}` | {bound} |", row.name);
        for errors in &row.errors {
            let _ = write!(
                page,
                " {:.3} / {:.3} |",
                errors.at_largest_absolute, errors.largest
            );
        }
        page.push('\n');
    }
    page
}
