//! Making graphs, and their nodes and edges.

use gneiss_hip_abi_macros::hip_api;

use super::{
    Node, find, node, node_list,
    operation::Operation,
    types::{hipGraph_t, hipGraphNode_t},
};
use crate::{error::*, fail};
use std::sync::Arc;

/// Writes a handle to a caller's place.
///
/// # Safety
/// `place` must be a valid place; null is refused.
pub(crate) unsafe fn give<T>(place: *mut T, value: T) -> HipResult {
    if place.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the result");
    }
    // SAFETY: not null; as the caller promises.
    unsafe { place.write(value) };
    Ok(())
}

/// Adds a node of an operation that was checked.
///
/// # Safety
/// `out` must be null or a valid place, `dependencies` hold `count` handles.
pub(crate) unsafe fn add(
    out: *mut hipGraphNode_t,
    graph: hipGraph_t,
    dependencies: *const hipGraphNode_t,
    count: usize,
    operation: impl FnOnce() -> HipResult<Operation>,
) -> HipResult {
    if out.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the node");
    }
    let graph = find(graph)?;
    // SAFETY: as the caller promises.
    let before = unsafe { node_list(dependencies, count)? };
    let operation = operation()?;
    operation.check()?;
    let node = graph.add(operation, &before)?;
    // SAFETY: not null; as the caller promises.
    unsafe { give(out, node.handle()) }
}

/// Gives handles in the way of HIP's lists: without an array their number, else as many as the array holds, the rest null.
///
/// # Safety
/// `array` must be null or hold `*count` places, `count` be null or valid.
unsafe fn give_list(
    nodes: &[Arc<Node>],
    array: *mut hipGraphNode_t,
    count: *mut usize,
) -> HipResult {
    if count.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the number of nodes");
    }
    // SAFETY: not null; as the caller promises.
    unsafe {
        if array.is_null() {
            count.write(nodes.len());
            return Ok(());
        }
        let room = count.read();
        if room == 0 {
            return fail!(hipErrorInvalidValue, "an array of no nodes");
        }
        for index in 0..room {
            let handle = nodes
                .get(index)
                .map_or(std::ptr::null_mut(), |node| node.handle());
            array.add(index).write(handle);
        }
        count.write(room.min(nodes.len()));
    }
    Ok(())
}

/// Creates an empty graph.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphCreate(pGraph: *mut hipGraph_t, flags: u32) -> hipError_t {
    if pGraph.is_null() || flags != 0 {
        return fail!(
            hipErrorInvalidValue,
            "no place for the graph, or flags {flags:#x} that are not 0"
        );
    }
    let handle = super::Graph::new(false, None).handle()?;
    // SAFETY: not null; the caller promises a valid place.
    unsafe { give(pGraph, handle) }
}

/// Ends a graph and its nodes. Executable graphs made from it live on.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t {
    let graph = find(graph)?;
    if graph.child {
        return fail!(
            hipErrorInvalidValue,
            "the graph belongs to a child graph node, which ends it"
        );
    }
    graph.destroy();
    Ok(())
}

/// Copies a graph with its nodes and edges.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphClone(
    pGraphClone: *mut hipGraph_t,
    originalGraph: hipGraph_t,
) -> hipError_t {
    if pGraphClone.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the graph");
    }
    let handle = find(originalGraph)?.copy(false)?.handle()?;
    // SAFETY: not null; the caller promises a valid place.
    unsafe { give(pGraphClone, handle) }
}

/// Finds the copy of a node in a clone.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphNodeFindInClone(
    pNode: *mut hipGraphNode_t,
    originalNode: hipGraphNode_t,
    clonedGraph: hipGraph_t,
) -> hipError_t {
    if pNode.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the node");
    }
    let (original, clone) = (node(originalNode)?, find(clonedGraph)?);
    let cloned_from = original.graph.upgrade().map(|graph| graph.id);
    if clone.original.is_none() || clone.original != cloned_from {
        return fail!(
            hipErrorInvalidValue,
            "the graph is not a clone of the node's graph"
        );
    }
    let nodes = clone.nodes();
    let Some(copy) = nodes.iter().find(|copy| copy.original == Some(original.id)) else {
        return fail!(hipErrorInvalidValue, "the clone has no copy of the node");
    };
    // SAFETY: not null; the caller promises a valid place.
    unsafe { give(pNode, copy.handle()) }
}

/// Gives a graph's nodes, or their number.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphGetNodes(
    graph: hipGraph_t,
    nodes: *mut hipGraphNode_t,
    numNodes: *mut usize,
) -> hipError_t {
    let list = find(graph)?.nodes();
    // SAFETY: as the caller promises.
    unsafe { give_list(&list, nodes, numNodes) }
}

/// Gives a graph's nodes without dependencies, or their number.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphGetRootNodes(
    graph: hipGraph_t,
    pRootNodes: *mut hipGraphNode_t,
    pNumRootNodes: *mut usize,
) -> hipError_t {
    let list = find(graph)?.roots();
    // SAFETY: as the caller promises.
    unsafe { give_list(&list, pRootNodes, pNumRootNodes) }
}

/// Gives a graph's edges, or their number.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphGetEdges(
    graph: hipGraph_t,
    from: *mut hipGraphNode_t,
    to: *mut hipGraphNode_t,
    numEdges: *mut usize,
) -> hipError_t {
    let graph = find(graph)?;
    if numEdges.is_null() || from.is_null() != to.is_null() {
        return fail!(
            hipErrorInvalidValue,
            "no place for the number of edges, or only one end of them is asked for"
        );
    }
    let edges = graph.edges();
    if from.is_null() {
        // SAFETY: not null; the caller promises a valid place.
        unsafe { numEdges.write(edges.len()) };
        return Ok(());
    }
    let (starts, ends): (Vec<_>, Vec<_>) = edges.into_iter().unzip();
    // SAFETY: as the caller promises; the first list leaves the room in place for the second.
    unsafe {
        let room = numEdges.read();
        give_list(&starts, from, numEdges)?;
        numEdges.write(room);
        give_list(&ends, to, numEdges)
    }
}

/// Gives the nodes before or after a node.
///
/// # Safety
/// As [`give_list`].
unsafe fn neighbours(
    handle: hipGraphNode_t,
    after: bool,
    array: *mut hipGraphNode_t,
    count: *mut usize,
) -> HipResult {
    let node = node(handle)?;
    let list = node
        .graph
        .upgrade()
        .and_then(|graph| graph.neighbours(&node, after))
        .ok_or(hipErrorInvalidValue)?;
    // SAFETY: as the caller promises.
    unsafe { give_list(&list, array, count) }
}

/// Gives the nodes that a node waits for, or their number.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphNodeGetDependencies(
    node: hipGraphNode_t,
    pDependencies: *mut hipGraphNode_t,
    pNumDependencies: *mut usize,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { neighbours(node, false, pDependencies, pNumDependencies) }
}

/// Gives the nodes that wait for a node, or their number.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphNodeGetDependentNodes(
    node: hipGraphNode_t,
    pDependentNodes: *mut hipGraphNode_t,
    pNumDependentNodes: *mut usize,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { neighbours(node, true, pDependentNodes, pNumDependentNodes) }
}

/// Gives the type of a node, in the numbers of the presented version.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphNodeGetType(node: hipGraphNode_t, pType: *mut u32) -> hipError_t {
    let number = super::node(node)?
        .operation()
        .type_number(crate::version::presented());
    // SAFETY: as the caller promises.
    unsafe { give(pType, number) }
}

/// Takes a node out of its graph, with its edges.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphDestroyNode(node: hipGraphNode_t) -> hipError_t {
    let node = super::node(node)?;
    let Some(graph) = node.graph.upgrade() else {
        return Err(hipErrorInvalidValue);
    };
    graph.remove(&node);
    Ok(())
}

/// The ends of edges.
///
/// # Safety
/// The arrays must hold `count` handles.
unsafe fn ends(
    from: *const hipGraphNode_t,
    to: *const hipGraphNode_t,
    count: usize,
) -> HipResult<Vec<(Arc<Node>, Arc<Node>)>> {
    // SAFETY: as the caller promises.
    let (from, to) = unsafe { (node_list(from, count)?, node_list(to, count)?) };
    Ok(from.into_iter().zip(to).collect())
}

/// Adds edges.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphAddDependencies(
    graph: hipGraph_t,
    from: *const hipGraphNode_t,
    to: *const hipGraphNode_t,
    numDependencies: usize,
) -> hipError_t {
    let graph = find(graph)?;
    // SAFETY: as the caller promises.
    for (from, to) in unsafe { ends(from, to, numDependencies)? } {
        graph.connect(&from, &to)?;
    }
    Ok(())
}

/// Takes edges away.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphRemoveDependencies(
    graph: hipGraph_t,
    from: *const hipGraphNode_t,
    to: *const hipGraphNode_t,
    numDependencies: usize,
) -> hipError_t {
    let graph = find(graph)?;
    // SAFETY: as the caller promises.
    for (from, to) in unsafe { ends(from, to, numDependencies)? } {
        graph.disconnect(&from, &to)?;
    }
    Ok(())
}
