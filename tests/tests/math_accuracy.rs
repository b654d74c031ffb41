//! The math functions of HIP's device library stay within the errors that HIP documents, and the page with what was measured is
//! true. A few thousand points for each function in the quick run, a million in the long one (`GNEISS_VERIFY=1`), which writes the
//! page with `GNEISS_BLESS=1`. Three families: gfx90a and gfx1030 by hipcc, gfx1100 by clang 22.

use std::{fmt::Write, time::Duration};

use gneiss_tests::{Compile, Run, cases_source, clang_22, compile, source_path, verify};

/// One target of each family.
const TARGETS: [&str; 3] = ["gfx90a", "gfx1030", "gfx1100"];

/// What was measured of one function, in units in the last place.
struct Row {
    name: String,
    /// What HIP documents; none for functions without a counterpart in C++, and for halves.
    bound: Option<f64>,
    /// Where the absolute error is largest: what HIP's documentation measures.
    at_largest_absolute: f64,
    largest: f64,
}

/// None where the compiler of the target is not here.
fn measure(target: &str, points: u32) -> Option<Vec<Row>> {
    let source = cases_source("math_accuracy");
    // hipcc reaches gfx1030.
    let how = if target == "gfx1100" {
        if !clang_22() {
            return None;
        }
        Compile::clang_22(&source, &[target], "-O1")
    } else {
        Compile::hip(&source, target, "-O1").args(["-std=c++17"])
    };
    let outcome = Run::new(compile(&how))
        .args([points.to_string()])
        .gpus(target)
        .limit(Duration::from_secs(3600))
        .run();
    outcome.expect_success();
    let row = |line: &str| {
        let fields: Vec<_> = line.split('\t').collect();
        let [name, bound, at_largest_absolute, largest] = fields[..] else {
            panic!("four fields: {line}");
        };
        let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("a number: {line}"));
        Row {
            name: name.to_owned(),
            bound: (bound != "none").then(|| number(bound)),
            at_largest_absolute: number(at_largest_absolute),
            largest: number(largest),
        }
    };
    Some(outcome.stdout.lines().map(row).collect())
}

/// Headers of clang 22 make it of approximate sine, cosine and reciprocal: near a pole there is no bound. hipcc's is the exact tangent.
fn without_bound(target: &str, name: &str) -> bool {
    target == "gfx1100" && name == "__tanf"
}

/// A bound for what HIP documents none of, on the error where the absolute error is largest: inverse error functions, normal
/// distributions and Bessel functions, as these device libraries have them. Halves are rounded from single precision.
fn own_bound(name: &str) -> f64 {
    if name.starts_with('h') { 1.0 } else { 4.0 }
}

#[test]
fn math_functions_stay_within_their_documented_errors() {
    let points = if verify() { 1 << 20 } else { 2048 };
    let measured: Vec<(&str, Vec<Row>)> = TARGETS
        .into_iter()
        .filter_map(|target| Some((target, measure(target, points)?)))
        .collect();
    for (target, rows) in &measured {
        assert!(rows.len() > 120, "{target}: only {} functions", rows.len());
        let over: Vec<String> = rows
            .iter()
            .filter(|row| {
                // HIP's figures are differences to a rounded reference; against the truth that is half a unit more.
                let bound = row.bound.map_or(own_bound(&row.name), |bound| bound + 0.5);
                row.at_largest_absolute.is_nan()
                    || (row.at_largest_absolute > bound && !without_bound(target, &row.name))
            })
            .map(|row| {
                format!(
                    "{}: {} of {:?}",
                    row.name, row.at_largest_absolute, row.bound
                )
            })
            .collect();
        assert!(over.is_empty(), "{target}:\n{}", over.join("\n"));
    }
    if verify() && measured.len() == TARGETS.len() && std::env::var_os("GNEISS_BLESS").is_some() {
        std::fs::write(
            source_path("docs/math-accuracy.md"),
            page(&measured, points),
        )
        .expect("a writable page");
    }
}

fn page(measured: &[(&str, Vec<Row>)], points: u32) -> String {
    let mut page = format!(
        "# Accuracy of the math functions\n\nThe device library's functions, compiled for gfx90a and gfx1030 by hipcc and for gfx1100 by clang 22, at {points} points of the ranges for which [HIP documents \
errors](https://rocm.docs.amd.com/projects/HIP/en/latest/reference/math_api.html), against glibc's long double on x87 (whose own error \
is below 1/500 of a unit of a double). All numbers are units in the last place: the error where the absolute error is largest, and behind \
the stroke the largest error. HIP's figure is the difference to the rounded reference where the absolute error is largest; against the \
truth, as here, that may be half a unit more. clang 22 makes `__tanf` of approximate sine, cosine and reciprocal, without a bound near \
a pole. `tests/tests/math_accuracy.rs` \
measures, fails above the bounds, and writes this page (`GNEISS_VERIFY=1 GNEISS_BLESS=1`).\n\n| function | documented |"
    );
    for (target, _) in measured {
        let _ = write!(page, " {target} |");
    }
    page += "\n| --- | ---: |";
    page += &" ---: |".repeat(measured.len());
    page.push('\n');
    for (number, row) in measured[0].1.iter().enumerate() {
        let bound = row
            .bound
            .map_or("none".to_owned(), |bound| bound.to_string());
        let _ = write!(page, "| `{}` | {bound} |", row.name);
        for (_, rows) in measured {
            let row = &rows[number];
            let _ = write!(
                page,
                " {:.3} / {:.3} |",
                row.at_largest_absolute, row.largest
            );
        }
        page.push('\n');
    }
    page
}
