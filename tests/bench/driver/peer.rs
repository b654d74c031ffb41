//! The peers: how each is built and run, and what it prints.

use std::{path::PathBuf, time::Duration};

use gneiss_tests::{Compile, QUICK_TARGET, Run, compile, source_path};

use crate::{
    process::{self, Cost},
    table::Row,
};

/// Who runs the kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// This runtime.
    Gneiss,
    /// Plain C++ on one thread.
    Native,
    /// PoCL, from OpenCL C.
    Pocl,
    /// This runtime's OpenCL, from the same program.
    GneissOpenCl,
    /// AMD's libamdhip64 over our HSA runtime.
    AmdClr,
}

impl Peer {
    /// In the order in which they run.
    pub const ALL: [Self; 5] = [
        Self::Native,
        Self::Pocl,
        Self::GneissOpenCl,
        Self::Gneiss,
        Self::AmdClr,
    ];

    /// The name in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gneiss => "gneiss",
            Self::Native => "native",
            Self::Pocl => "pocl",
            Self::GneissOpenCl => "gneiss-cl",
            Self::AmdClr => "amd-clr",
        }
    }

    /// The peer of that name.
    pub fn from_name(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|peer| peer.name() == name)
            .ok_or_else(|| format!("there is no peer {name}"))
    }

    /// Whether it runs the OpenCL program.
    pub fn is_opencl(self) -> bool {
        matches!(self, Self::Pocl | Self::GneissOpenCl)
    }

    /// Whether it runs the HIP program.
    pub fn is_hip(self) -> bool {
        matches!(self, Self::Gneiss | Self::AmdClr)
    }
}

/// The built programs of the peers.
#[derive(Debug)]
pub struct Programs {
    hip: Option<PathBuf>,
    opencl: Option<PathBuf>,
    native: Option<PathBuf>,
}

impl Programs {
    /// Compiles what the peers need.
    pub fn build(peers: &[Peer]) -> Self {
        let source = |name: &str| source_path(&format!("tests/bench/{name}"));
        let native = [
            "-O3",
            "-march=native",
            "-ffast-math",
            "-mprefer-vector-width=512",
        ];
        Self {
            hip: peers
                .iter()
                .any(|peer| peer.is_hip())
                .then(|| compile(&Compile::hip(&source("hip.hip"), QUICK_TARGET, "-O3"))),
            opencl: peers.iter().any(|peer| peer.is_opencl()).then(|| {
                compile(
                    &Compile::cpp(&source("opencl.cpp"))
                        .args(["-O2", "-Wno-ignored-attributes"])
                        .libraries(["-lOpenCL"]),
                )
            }),
            native: peers
                .contains(&Peer::Native)
                .then(|| compile(&Compile::cpp(&source("native.cpp")).args(native))),
        }
    }

    /// Runs one turn of the suite on a peer. A peer that fails gives one row that says so.
    pub fn measure(&self, peer: Peer, kernel: &str) -> Vec<Row> {
        // Plain C++ has nothing to launch, and the OpenCL program has no events of its own.
        match (peer, kernel) {
            (Peer::Native, "launch" | "event" | "copy") => return Vec::new(),
            (peer, "event") if peer.is_opencl() => return Vec::new(),
            _ => {}
        }
        let run = self
            .run(peer)
            .args(["measure", kernel])
            .limit(Duration::from_secs(600));
        let outcome = match peer {
            Peer::Native | Peer::Pocl => run.without_runtime().run(),
            _ => run.run(),
        };
        if !outcome.status.success() {
            eprintln!("{}", outcome.describe());
            return vec![Row::failed(peer.name(), kernel)];
        }
        outcome
            .stdout
            .lines()
            .map(|line| Row::parse(peer.name(), line))
            .collect()
    }

    /// Adds the time of a wave instruction to this runtime's rows of a kernel: the instructions are counted in one more run, over a
    /// build of the HSA library that does so.
    pub fn add_instruction_times(&self, kernel: &str, rows: &mut Vec<Row>) {
        if !rows.iter().any(Row::has_processor_time) {
            return;
        }
        let Some(library) = std::env::var_os("GNEISS_COUNTERS_LIBRARY") else {
            eprintln!("no GNEISS_COUNTERS_LIBRARY: no times of wave instructions");
            return;
        };
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let counts = folder.path().join("counts");
        let outcome = self
            .run(Peer::Gneiss)
            .env("GNEISS_HSA", library)
            .env("GNEISS_COUNTERS", &counts)
            .args(["count", kernel])
            .limit(Duration::from_secs(600))
            .run();
        if !outcome.status.success() {
            eprintln!("{}", outcome.describe());
            rows.push(Row::failed(Peer::Gneiss.name(), kernel));
            return;
        }
        let counts = std::fs::read_to_string(&counts).unwrap_or_default();
        // A line for each dispatch: kernel, groups, wave size, wave instructions. An empty kernel stands before each evaluation.
        let mut totals: Vec<u64> = Vec::new();
        for line in counts.lines() {
            let name = line.split('\t').next().unwrap_or_default();
            let count: u64 = line
                .rsplit('\t')
                .next()
                .and_then(|count| count.parse().ok())
                .unwrap_or_default();
            match totals.last_mut() {
                _ if name.contains("empty_kernel") => totals.push(0),
                Some(total) => *total += count,
                None => {}
            }
        }
        let times: Vec<Row> = outcome
            .stdout
            .lines()
            .zip(totals)
            .filter_map(|(line, total)| {
                let (kernel, size) = line.split_once('\t')?;
                rows.iter()
                    .find_map(|row| row.per_instruction(kernel, size, total))
            })
            .collect();
        rows.extend(times);
    }

    /// What a process costs that prints the device's name, what graphs, calls and idling cost, and what streams add.
    pub fn processes(&self, peer: Peer) -> Vec<Row> {
        let mut rows = Vec::new();
        let costs: Option<Vec<Cost>> = (0..10)
            .map(|_| process::cost(&mut self.start_run(peer).args(["device_name"]).command()))
            .collect();
        match costs {
            Some(costs) => {
                rows.push(Row::from_values(
                    peer.name(),
                    "device_name",
                    "1",
                    "ms",
                    costs.iter().map(|cost| cost.wall_ms),
                ));
                rows.push(Row::from_values(
                    peer.name(),
                    "device_name",
                    "1",
                    "cpu_ms",
                    costs.iter().map(|cost| cost.processor_ms),
                ));
            }
            None => rows.push(Row::failed(peer.name(), "device_name")),
        }
        for (name, arguments) in [
            ("launch_graph", &["graph"][..]),
            ("call", &["calls"]),
            ("queues", &["queues"]),
            ("idle", &["idle"]),
            ("idle_streams", &["idle_streams", "1000"]),
        ] {
            let outcome = self.run(peer).args(arguments).run();
            if outcome.status.success() {
                rows.extend(
                    outcome
                        .stdout
                        .lines()
                        .map(|line| Row::parse(peer.name(), line)),
                );
            } else {
                eprintln!("{}", outcome.describe());
                rows.push(Row::failed(peer.name(), name));
            }
        }
        rows
    }

    /// How a process is started whose start is measured: as a user's shell would, without our command in front where that is possible.
    fn start_run(&self, peer: Peer) -> Run {
        if peer == Peer::Gneiss {
            self.run(peer).library_path()
        } else {
            self.run(peer)
        }
    }

    fn run(&self, peer: Peer) -> Run {
        let program = match peer {
            Peer::Gneiss | Peer::AmdClr => &self.hip,
            Peer::Pocl | Peer::GneissOpenCl => &self.opencl,
            Peer::Native => &self.native,
        };
        let run = Run::new(
            program
                .as_ref()
                .expect("the programs of all peers are built"),
        );
        match peer {
            Peer::AmdClr => run.hip_amd(),
            Peer::Pocl | Peer::GneissOpenCl => run.args([source_path("tests/bench/kernels.cl")]),
            Peer::Gneiss | Peer::Native => run,
        }
    }
}
