//! Matrix instructions and volatile memory, on one card of each family that has matrix instructions.

use gneiss_tests::{Compile, Run, clang_22, compile, source_path};

use crate::{peer::Peer, table::Row};

/// One target for each form of matrix instructions.
const TARGETS: [&str; 5] = ["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"];

/// The rows of all targets; none without clang 22. A target that fails gives one row that says so.
pub fn measure() -> Vec<Row> {
    if !clang_22() {
        return Vec::new();
    }
    let peer = Peer::Gneiss.name();
    let source = source_path("tests/bench/matrix.hip");
    let program = compile(&Compile::clang_22(&source, &TARGETS, "-O3"));
    TARGETS
        .iter()
        .flat_map(|target| {
            eprintln!("matrix on {peer} for {target}");
            let outcome = Run::new(&program).gpus(target).run();
            if outcome.status.success() {
                let lines = outcome.stdout.lines();
                lines.map(|line| Row::parse(peer, line)).collect()
            } else {
                eprintln!("{}", outcome.describe());
                vec![Row::failed(peer, "matrix")]
            }
        })
        .collect()
}
