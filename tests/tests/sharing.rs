//! What processes share, and virtual memory, case by case of `programs/sharing.hip`.

use gneiss_tests::{case_run, cases};

cases! { "sharing":
    event_of_another_process,
    mapped_memory,
    pool_of_another_process,
}

#[test]
fn memory_of_another_process() {
    case_run("sharing", "memory_of_another_process")
        .gpus("gfx90a:2")
        .run()
        .expect_success();
}
