//! Graphs, case by case of `programs/graph.hip`.

use std::collections::HashSet;

use gneiss_tests::{Compile, QUICK_TARGET, Run, case_run, cases, cases_source, compile};

cases! { "graph":
    captured_work_runs_at_launches_only,
    capture_errors,
    a_failed_capture_leaves_nothing_behind,
    other_threads_mind_a_capture_by_their_mode,
    forks_and_joins_are_captured,
    host_functions_are_captured,
    kernel_nodes_copy_their_parameters,
    every_sort_of_node,
    edges_and_clones,
    executable_graphs_change,
    nodes_can_be_left_out,
    graph_memory,
    user_objects_live_as_long_as_their_graphs,
    copies_between_kernels_keep_their_order,
    many_nodes_give_what_eager_work_gives,
    a_circle_is_refused_at_instantiation,
    an_executable_copy_keeps_its_direction,
}

#[test]
fn drawings_show_nodes_and_edges() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("graph.dot");
    case_run("graph", "drawing")
        .args([&path])
        .run()
        .expect_success();
    let text = std::fs::read_to_string(&path).expect("the drawing");
    assert!(text.starts_with("digraph dot {"), "{text}");
    assert!(
        text.contains("MEMSET") && text.contains("grid 1 1 1"),
        "{text}"
    );
    assert_eq!(text.matches("->").count(), 1, "{text}");
}

#[test]
fn two_hundred_processes_give_the_bits_of_eager_work() {
    let mut hashes = HashSet::new();
    for process in 0..200 {
        let outcome = case_run("graph_bits", "eager_and_graph").run();
        outcome.expect_success();
        assert_eq!(outcome.stdout.lines().count(), 3, "{}", outcome.stdout);
        for line in outcome.stdout.lines() {
            let (eager, graph) = line.split_once(' ').expect("two hashes");
            assert_eq!(eager, graph, "process {process}");
        }
        hashes.insert(outcome.stdout);
        assert_eq!(hashes.len(), 1, "process {process}: {hashes:?}");
    }
}

#[test]
fn the_address_sanitizer_finds_nothing_to_say_about_parameters_of_the_program() {
    // What the program leaves to its end is not looked at: it says nothing about whose pointers are kept or freed.
    let program = compile(
        &Compile::hip(&cases_source("graph"), QUICK_TARGET, "-O1")
            .args(["-fsanitize=address", "-Wno-option-ignored"]),
    );
    for case in [
        "kernel_nodes_copy_their_parameters",
        "every_sort_of_node",
        "executable_graphs_change",
        "edges_and_clones",
        "graph_memory",
    ] {
        for direct in ["0", "1"] {
            Run::new(&program)
                .args([case])
                .env("ASAN_OPTIONS", "detect_leaks=0")
                .env("AMD_DIRECT_DISPATCH", direct)
                .run()
                .expect_success();
        }
    }
}
