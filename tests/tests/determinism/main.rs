//! The same bits at every SIMD level and thread count: on every kernel of the bench, and on random kernels.

mod random;

use std::time::Duration;

use gneiss_tests::{Compile, QUICK_TARGET, Run, compile, source_path};

/// Kernel, size, hash of the result and verdict of every kernel, one a line.
fn digests(simd: &str, threads: &str) -> String {
    let program = compile(&Compile::hip(
        &source_path("tests/bench/hip.hip"),
        QUICK_TARGET,
        "-O3",
    ));
    let outcome = Run::new(program)
        .args(["digest"])
        .env("GNEISS_SIMD", simd)
        .env("GNEISS_THREADS", threads)
        .limit(Duration::from_secs(300))
        .run();
    outcome.expect_success();
    outcome.stdout
}

#[test]
fn simd_levels_and_thread_counts_give_the_same_bits() {
    let expected = digests("portable", "1");
    assert_eq!(expected.lines().count(), 13, "{expected}");
    assert!(
        expected.lines().all(|line| line.ends_with("\tok")),
        "{expected}"
    );
    for (simd, threads) in [
        ("portable", "2"),
        ("avx2", "1"),
        ("avx2", "2"),
        ("avx2", "4"),
    ] {
        assert_eq!(
            digests(simd, threads),
            expected,
            "GNEISS_SIMD={simd} GNEISS_THREADS={threads}"
        );
    }
}
