//! The bench: the same kernels on every peer in one run, one table of ratios, and `target/bench.json`.
//!
//! Peers are this runtime (`gneiss`), AMD's libamdhip64 over our HSA runtime (`amd-clr`), this runtime's OpenCL (`gneiss-cl`), PoCL
//! (`pocl`) and plain C++ on one thread (`native`). They run kernel by kernel, so that what else the machine does disturbs all of them alike; ratios are of the least
//! processor time of at least five repeats, and only of results that were checked. Matrix instructions have no peer: their rows are times
//! of one instruction, for each of several targets.
//!
//! usage: `bench [--peers PEER,...] [KERNEL...]`

mod matrix;
mod peer;
mod process;
mod table;

use std::{fs, process::ExitCode};

use gneiss_tests::workspace_root;
use peer::{Peer, Programs};
use table::Row;

/// The turns of the suite, in its order.
const KERNELS: [&str; 17] = [
    "launch",
    "event",
    "copy",
    "vecadd",
    "saxpy",
    "sgemm_naive",
    "sgemm_tiled",
    "dgemm_tiled",
    "nbody",
    "reduce",
    "histogram",
    "bitonic",
    "black_scholes",
    "mandelbrot",
    "stencil",
    "transpose",
    "matrix",
];

fn main() -> ExitCode {
    let (peers, kernels) = match arguments() {
        Ok(wanted) => wanted,
        Err(message) => {
            eprintln!("{message}\nusage: bench [--peers PEER,...] [KERNEL...]");
            return ExitCode::from(2);
        }
    };
    let programs = Programs::build(&peers);
    let mut rows = Vec::new();
    for kernel in &kernels {
        if kernel == "matrix" {
            rows.extend(matrix::measure());
            continue;
        }
        for &peer in &peers {
            eprintln!("{kernel} on {}", peer.name());
            let mut measured = programs.measure(peer, kernel);
            if peer == Peer::Gneiss {
                programs.add_instruction_times(kernel, &mut measured);
            }
            rows.extend(measured);
        }
    }
    for &peer in peers.iter().filter(|peer| peer.is_hip()) {
        eprintln!("processes and idling on {}", peer.name());
        rows.extend(programs.processes(peer));
    }
    table::print(&rows);
    let path = workspace_root().join("target/bench.json");
    match fs::write(&path, table::json(&rows)) {
        Ok(()) => println!("\nwritten to {}", path.display()),
        Err(error) => {
            eprintln!("cannot write {}: {error}", path.display());
            return ExitCode::FAILURE;
        }
    }
    let wrong: Vec<_> = rows
        .iter()
        .filter(|row| row.is_wrong())
        .map(Row::title)
        .collect();
    if wrong.is_empty() {
        ExitCode::SUCCESS
    } else {
        eprintln!("wrong or missing results: {}", wrong.join(", "));
        ExitCode::FAILURE
    }
}

/// The peers and the kernels that the command line asks for.
fn arguments() -> Result<(Vec<Peer>, Vec<String>), String> {
    let mut peers = Peer::ALL.to_vec();
    let mut kernels = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--peers" {
            let list = arguments.next().ok_or("--peers needs a list")?;
            peers = list
                .split(',')
                .map(Peer::from_name)
                .collect::<Result<_, _>>()?;
        } else if KERNELS.contains(&argument.as_str()) {
            kernels.push(argument);
        } else {
            return Err(format!(
                "there is no kernel {argument}; there are {}",
                KERNELS.join(", ")
            ));
        }
    }
    if kernels.is_empty() {
        kernels = KERNELS.map(str::to_owned).to_vec();
    }
    Ok((peers, kernels))
}
