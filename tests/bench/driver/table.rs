//! Measured rows: parsed from the peers, printed as a table of ratios, written as JSON.

use std::{fs, thread};

use serde_json::{Value, json};

/// One measurement of one peer.
#[derive(Debug, Clone)]
pub struct Row {
    peer: &'static str,
    kernel: String,
    size: String,
    metric: String,
    median: f64,
    min: f64,
    max: f64,
    n: u64,
    check: String,
}

impl Row {
    /// From a line of a peer: kernel, size, metric, median, least, most, repeats and check, between tabs.
    ///
    /// # Panics
    ///
    /// When the line is not one.
    pub fn parse(peer: &'static str, line: &str) -> Self {
        let fields: Vec<_> = line.split('\t').collect();
        let &[kernel, size, metric, median, min, max, n, check] = fields.as_slice() else {
            panic!("not a row of the bench: {line}");
        };
        let number = |text: &str| {
            text.parse()
                .unwrap_or_else(|error| panic!("{text} in {line}: {error}"))
        };
        Self {
            peer,
            kernel: kernel.to_owned(),
            size: size.to_owned(),
            metric: metric.to_owned(),
            median: number(median),
            min: number(min),
            max: number(max),
            n: n.parse()
                .unwrap_or_else(|error| panic!("{n} in {line}: {error}")),
            check: check.to_owned(),
        }
    }

    /// From values that the driver measured itself.
    pub fn from_values(
        peer: &'static str,
        kernel: &str,
        size: &str,
        metric: &str,
        values: impl Iterator<Item = f64>,
    ) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        Self {
            peer,
            kernel: kernel.to_owned(),
            size: size.to_owned(),
            metric: metric.to_owned(),
            median: values[values.len() / 2],
            min: values[0],
            max: values[values.len() - 1],
            n: values.len() as u64,
            check: "-".to_owned(),
        }
    }

    /// For a peer that did not get to its end.
    pub fn failed(peer: &'static str, kernel: &str) -> Self {
        Self {
            peer,
            kernel: kernel.to_owned(),
            size: "-".to_owned(),
            metric: "-".to_owned(),
            median: f64::NAN,
            min: f64::NAN,
            max: f64::NAN,
            n: 0,
            check: "failed".to_owned(),
        }
    }

    /// Whether it is a processor time of a kernel whose result was right.
    pub fn has_processor_time(&self) -> bool {
        self.metric == "cpu_ms" && is_kernel(self) && !self.is_wrong()
    }

    /// The processor time of one of `count` wave instructions, if this is the row of the kernel and size that has it.
    pub fn per_instruction(&self, kernel: &str, size: &str, count: u64) -> Option<Self> {
        let fits = self.kernel == kernel && self.size == size && self.has_processor_time();
        (fits && count > 0).then(|| {
            let each = |ms: f64| ms * 1e6 / count as f64;
            Self {
                metric: "ns_per_wave_instr".to_owned(),
                median: each(self.median),
                min: each(self.min),
                max: each(self.max),
                ..self.clone()
            }
        })
    }

    /// Whether the result was wrong or never came.
    pub fn is_wrong(&self) -> bool {
        !matches!(self.check.as_str(), "ok" | "-")
    }

    /// Peer, kernel and verdict.
    pub fn title(&self) -> String {
        format!(
            "{} {} {} ({})",
            self.peer, self.kernel, self.size, self.check
        )
    }
}

/// The rows as JSON, with the machine that they were measured on.
pub fn json(rows: &[Row]) -> String {
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "peer": row.peer, "kernel": row.kernel, "size": row.size, "metric": row.metric,
                "median": row.median, "min": row.min, "max": row.max, "n": row.n, "check": row.check,
            })
        })
        .collect();
    format!("{:#}\n", json!({ "machine": machine(), "rows": rows }))
}

/// Prints processor times and ratios of every kernel, then launches, copies and processes.
pub fn print(rows: &[Row]) {
    println!("\nProcessor time in ms, least of the repeats; ratios of this run\n");
    println!(
        "{:<15}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>14}{:>15}{:>15}{:>15}",
        "kernel",
        "size",
        "native",
        "pocl",
        "gneiss-cl",
        "gneiss",
        "amd-clr",
        "gneiss/pocl",
        "gneiss-cl/pocl",
        "gneiss/native",
        "ns/wave instr."
    );
    let (mut to_pocl, mut opencl_to_pocl) = (Vec::new(), Vec::new());
    for (kernel, size) in timed_kernels(rows) {
        let of_metric = |peer: &str, metric: &str| {
            let found = rows.iter().find(|row| {
                row.peer == peer
                    && row.kernel == kernel
                    && row.size == size
                    && row.metric == metric
                    && !row.is_wrong()
            });
            found.map(|row| row.min)
        };
        let least = |peer: &str| of_metric(peer, "cpu_ms");
        let (native, pocl, opencl, gneiss, amd_clr) = (
            least("native"),
            least("pocl"),
            least("gneiss-cl"),
            least("gneiss"),
            least("amd-clr"),
        );
        let ratio = |peer: Option<f64>| Some(gneiss? / peer?);
        let opencl_ratio = opencl.zip(pocl).map(|(ours, theirs)| ours / theirs);
        to_pocl.extend(ratio(pocl));
        opencl_to_pocl.extend(opencl_ratio);
        println!(
            "{kernel:<15}{size:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>14}{:>15}{:>15}{:>15}",
            figure(native),
            figure(pocl),
            figure(opencl),
            figure(gneiss),
            figure(amd_clr),
            figure(ratio(pocl)),
            figure(opencl_ratio),
            figure(ratio(native)),
            figure(of_metric("gneiss", "ns_per_wave_instr"))
        );
    }
    let mean = |ratios: &[f64]| {
        let logarithms: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
        (!ratios.is_empty()).then(|| (logarithms / ratios.len() as f64).exp())
    };
    println!(
        "{:<15}{:>74}{:>15}",
        "geometric mean",
        figure(mean(&to_pocl)),
        figure(mean(&opencl_to_pocl))
    );
    println!(
        "\nLaunches, events, copies, calls, processes, matrix instructions: least of the repeats\n"
    );
    println!(
        "{:<45}{:>11}{:>14}{:>10}{:>10}{:>10}{:>10}{:>16}",
        "what", "size", "unit", "pocl", "gneiss-cl", "gneiss", "amd-clr", "gneiss/amd-clr"
    );
    for (what, size, metric) in other_rows(rows) {
        let least = |peer: &str| {
            let row = rows.iter().find(|row| {
                (row.peer, &*row.kernel, &*row.size, &*row.metric) == (peer, what, size, metric)
            });
            row.map(|row| row.min)
        };
        let (gneiss, amd_clr) = (least("gneiss"), least("amd-clr"));
        let ratio = gneiss.zip(amd_clr).map(|(ours, theirs)| ours / theirs);
        println!(
            "{what:<45}{size:>11}{metric:>14}{:>10}{:>10}{:>10}{:>10}{:>16}",
            figure(least("pocl")),
            figure(least("gneiss-cl")),
            figure(gneiss),
            figure(amd_clr),
            figure(ratio),
        );
    }
}

/// Every row that is of no kernel, by what it is of, in the order of the rows.
fn other_rows(rows: &[Row]) -> Vec<(&str, &str, &str)> {
    let mut all: Vec<(&str, &str, &str)> = Vec::new();
    for row in rows.iter().filter(|row| !is_kernel(row) && row.n > 0) {
        if !all.contains(&(&row.kernel, &row.size, &row.metric)) {
            all.push((&row.kernel, &row.size, &row.metric));
        }
    }
    all
}

/// Every kernel and size that has processor times, in the order of the rows.
fn timed_kernels(rows: &[Row]) -> Vec<(&str, &str)> {
    let mut all: Vec<(&str, &str)> = Vec::new();
    for row in rows
        .iter()
        .filter(|row| is_kernel(row) && row.metric == "cpu_ms")
    {
        if !all.contains(&(&row.kernel, &row.size)) {
            all.push((&row.kernel, &row.size));
        }
    }
    all
}

/// Whether the row is of a kernel that peers have, and not of a launch, a copy, a call, a process or a matrix instruction.
fn is_kernel(row: &Row) -> bool {
    [
        "launch",
        "event",
        "copy",
        "call",
        "device_name",
        "idle",
        "matrix",
        "volatile",
    ]
    .iter()
    .all(|prefix| !row.kernel.starts_with(prefix))
}

/// Three significant digits.
fn figure(value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(value) if value >= 100.0 => format!("{value:.0}"),
        Some(value) if value >= 10.0 => format!("{value:.1}"),
        Some(value) if value >= 1.0 => format!("{value:.2}"),
        Some(value) => format!("{value:.3}"),
    }
}

fn machine() -> Value {
    let information = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = information.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split_once(':'))
            .map_or("", |(_, value)| value.trim())
            .to_owned()
    };
    let flags = field("flags");
    let vectors: Vec<_> = flags
        .split_whitespace()
        .filter(|flag| flag.starts_with("avx") || *flag == "fma")
        .collect();
    json!({
        "processor": field("model name"),
        "vectors": vectors,
        "threads": thread::available_parallelism().map_or(0, usize::from),
    })
}
