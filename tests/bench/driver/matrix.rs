//! Matrix instructions and volatile memory, on one card of each family that has matrix instructions.

use gneiss_tests::{Compile, Run, clang_19, compile, source_path};

use crate::{peer::Peer, table::Row};

/// One target for each form of matrix instructions that clang 19 knows.
const TARGETS: [&str; 4] = ["gfx90a", "gfx942", "gfx1100", "gfx1201"];

/// The rows of all targets; none without clang 19. A target that fails gives one row that says so.
pub fn measure() -> Vec<Row> {
    if !clang_19() {
        return Vec::new();
    }
    let peer = Peer::Gneiss.name();
    TARGETS
        .iter()
        .flat_map(|target| {
            eprintln!("matrix on {peer} for {target}");
            // Some of the targets have no device libraries in Debian; the kernels need none.
            let source = source_path("tests/bench/matrix.hip");
            let program = Compile::clang_19(&source, target, "-O3").args(["-nogpulib"]);
            let outcome = Run::new(compile(&program)).gpus(target).run();
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
