//! Graphs, case by case of `programs/graph.hip`.

use gneiss_tests::{case_run, cases};

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
