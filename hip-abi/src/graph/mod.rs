//! Graphs: work that is described once and launched often.
//!
//! A [`Graph`] holds nodes in the order of their making and the edges between them; a [`Node`] holds what it does ([`operation`]). An
//! executable graph ([`exec`]) is a snapshot: later changes of the graph do not reach it. Handles of graphs, nodes and executable graphs are
//! checked as all handles are; a node's handle ends with its graph.
//!
//! Lock order: a graph's state, then a node's operation. Neither is held while work is enqueued or foreign code runs.

pub mod allocation;
pub mod dot;
pub mod exec;
pub mod exec_api;
pub mod kernel;
pub mod kernel_api;
pub mod memory_api;
pub mod node_api;
pub mod operation;
pub mod params;
pub mod structure_api;
pub mod types;
pub mod update_api;
pub mod user_object;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;

use crate::{
    error::*,
    fail,
    handle::{Kind, Table},
    log_error,
};

use operation::Operation;
use types::{hipGraph_t, hipGraphNode_t};
use user_object::Held;

/// All graphs.
pub static GRAPHS: Table<Graph> = Table::new(Kind::Graph);
/// The nodes of all graphs.
pub static NODES: Table<Node> = Table::new(Kind::GraphNode);

/// Number of a node, unique in the process; nodes made later have greater ones.
pub type NodeId = u64;

/// A node.
#[derive(Debug)]
pub struct Node {
    /// Its number.
    pub id: NodeId,
    /// Its graph.
    pub graph: Weak<Graph>,
    /// The node that it was cloned from.
    pub original: Option<NodeId>,
    operation: Mutex<Operation>,
    enabled: AtomicBool,
    handle: OnceLock<usize>,
}

impl Node {
    /// What it does.
    pub fn operation(&self) -> Operation {
        self.operation.lock().clone()
    }

    /// Changes what it does.
    pub fn set_operation(&self, operation: Operation) {
        *self.operation.lock() = operation;
    }

    /// Its handle.
    pub fn handle(&self) -> hipGraphNode_t {
        std::ptr::without_provenance_mut(self.handle.get().copied().unwrap_or(0))
    }

    /// Whether a launch runs it.
    pub fn is_enabled(&self) -> bool {
        self.enabled.load(Ordering::Relaxed)
    }
}

/// A node with its edges.
#[derive(Clone, Debug)]
struct Entry {
    node: Arc<Node>,
    before: BTreeSet<NodeId>,
    after: BTreeSet<NodeId>,
}

#[derive(Debug, Default)]
struct State {
    nodes: BTreeMap<NodeId, Entry>,
    objects: Vec<Held>,
}

/// A graph.
#[derive(Debug)]
pub struct Graph {
    /// Number, unique in the process.
    pub id: u64,
    /// The graph that it was cloned from.
    pub original: Option<u64>,
    this: Weak<Graph>,
    /// It belongs to a node of another graph, which ends it.
    pub child: bool,
    state: Mutex<State>,
    handle: OnceLock<usize>,
}

fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Graph {
    /// An empty graph, without a handle.
    pub fn new(child: bool, original: Option<u64>) -> Arc<Graph> {
        Arc::new_cyclic(|this| Graph {
            id: next_id(),
            original,
            this: this.clone(),
            child,
            state: Mutex::new(State::default()),
            handle: OnceLock::new(),
        })
    }

    /// Its handle; made at the first call.
    ///
    /// # Errors
    /// `hipErrorOutOfMemory` when there are too many graphs.
    pub fn handle(&self) -> HipResult<hipGraph_t> {
        let this = self.this.upgrade().ok_or(hipErrorUnknown)?;
        let handle = *self.handle.get_or_init(|| GRAPHS.insert(this).unwrap_or(0));
        if handle == 0 {
            return fail!(hipErrorOutOfMemory, "too many graphs");
        }
        Ok(std::ptr::without_provenance_mut(handle))
    }

    /// Ends the handles of the graph and of its nodes, and lets go of its user objects.
    pub fn destroy(&self) {
        if let Some(handle) = self.handle.get() {
            GRAPHS.remove(*handle);
        }
        let (nodes, objects) = {
            let mut state = self.state.lock();
            (
                std::mem::take(&mut state.nodes),
                std::mem::take(&mut state.objects),
            )
        };
        for entry in nodes.into_values() {
            entry.node.end();
        }
        drop(objects);
    }

    /// Adds a node after others.
    ///
    /// # Errors
    /// `hipErrorInvalidValue` for dependencies of other graphs or twice the same one.
    pub fn add(&self, operation: Operation, before: &[Arc<Node>]) -> HipResult<Arc<Node>> {
        self.add_clone(operation, before, None)
    }

    fn add_clone(
        &self,
        operation: Operation,
        before: &[Arc<Node>],
        original: Option<NodeId>,
    ) -> HipResult<Arc<Node>> {
        let ids: BTreeSet<NodeId> = before.iter().map(|node| node.id).collect();
        if ids.len() != before.len() {
            return fail!(hipErrorInvalidValue, "a dependency is given twice");
        }
        let mut state = self.state.lock();
        if ids.iter().any(|id| !state.nodes.contains_key(id)) {
            return fail!(
                hipErrorInvalidValue,
                "a dependency is a node of another graph"
            );
        }
        let node = Arc::new(Node {
            id: next_id(),
            graph: self.this.clone(),
            original,
            operation: Mutex::new(operation),
            enabled: AtomicBool::new(true),
            handle: OnceLock::new(),
        });
        let Some(handle) = NODES.insert(Arc::clone(&node)) else {
            return fail!(hipErrorOutOfMemory, "too many graph nodes");
        };
        let _ = node.handle.set(handle);
        for id in &ids {
            if let Some(entry) = state.nodes.get_mut(id) {
                entry.after.insert(node.id);
            }
        }
        let entry = Entry {
            node: Arc::clone(&node),
            before: ids,
            after: BTreeSet::new(),
        };
        state.nodes.insert(node.id, entry);
        Ok(node)
    }

    /// Takes a node out, with its edges.
    pub fn remove(&self, node: &Node) {
        let removed = {
            let mut state = self.state.lock();
            let removed = state.nodes.remove(&node.id);
            for entry in state.nodes.values_mut() {
                entry.before.remove(&node.id);
                entry.after.remove(&node.id);
            }
            removed
        };
        if let Some(entry) = removed {
            entry.node.end();
        }
    }

    /// Adds an edge.
    ///
    /// # Errors
    /// `hipErrorInvalidValue` for nodes of other graphs, an edge that is there, or one from a node to itself. An edge may close a circle:
    /// another may open it again before the graph becomes executable.
    pub fn connect(&self, from: &Node, to: &Node) -> HipResult {
        let mut state = self.state.lock();
        if !state.nodes.contains_key(&from.id) || !state.nodes.contains_key(&to.id) {
            return fail!(hipErrorInvalidValue, "the nodes are not of this graph");
        }
        if from.id == to.id {
            return fail!(hipErrorInvalidValue, "an edge from a node to itself");
        }
        let (Some(entry), id) = (state.nodes.get_mut(&from.id), to.id) else {
            return Err(hipErrorInvalidValue);
        };
        if !entry.after.insert(id) {
            return fail!(hipErrorInvalidValue, "the edge is there already");
        }
        if let Some(entry) = state.nodes.get_mut(&to.id) {
            entry.before.insert(from.id);
        }
        Ok(())
    }

    /// Takes an edge away.
    ///
    /// # Errors
    /// `hipErrorInvalidValue` if there is none.
    pub fn disconnect(&self, from: &Node, to: &Node) -> HipResult {
        let mut state = self.state.lock();
        let gone = state
            .nodes
            .get_mut(&from.id)
            .is_some_and(|entry| entry.after.remove(&to.id));
        if !gone {
            return fail!(
                hipErrorInvalidValue,
                "there is no edge between the nodes in this graph"
            );
        }
        if let Some(entry) = state.nodes.get_mut(&to.id) {
            entry.before.remove(&from.id);
        }
        Ok(())
    }

    /// Its nodes, in the order of their making.
    pub fn nodes(&self) -> Vec<Arc<Node>> {
        let state = self.state.lock();
        let nodes = state.nodes.values();
        nodes.map(|entry| Arc::clone(&entry.node)).collect()
    }

    /// Its nodes without an edge to them.
    pub fn roots(&self) -> Vec<Arc<Node>> {
        self.select(|entry| entry.before.is_empty())
    }

    /// Its nodes without an edge from them.
    pub fn leaves(&self) -> Vec<Arc<Node>> {
        self.select(|entry| entry.after.is_empty())
    }

    fn select(&self, wanted: impl Fn(&Entry) -> bool) -> Vec<Arc<Node>> {
        let state = self.state.lock();
        let nodes = state.nodes.values().filter(|entry| wanted(entry));
        nodes.map(|entry| Arc::clone(&entry.node)).collect()
    }

    /// Nodes before or after a node; `None` if the node is not here.
    pub fn neighbours(&self, node: &Node, after: bool) -> Option<Vec<Arc<Node>>> {
        let state = self.state.lock();
        let entry = state.nodes.get(&node.id)?;
        let ids = if after { &entry.after } else { &entry.before };
        Some(
            ids.iter()
                .filter_map(|id| Some(Arc::clone(&state.nodes.get(id)?.node)))
                .collect(),
        )
    }

    /// All edges.
    pub fn edges(&self) -> Vec<(Arc<Node>, Arc<Node>)> {
        let state = self.state.lock();
        let mut edges = Vec::new();
        for entry in state.nodes.values() {
            for id in &entry.after {
                if let Some(to) = state.nodes.get(id) {
                    edges.push((Arc::clone(&entry.node), Arc::clone(&to.node)));
                }
            }
        }
        edges
    }

    /// The nodes by depth: each with the number of edges on the longest way to it, shallow ones first, in the order of their making within
    /// a depth.
    pub fn by_depth(&self) -> Vec<(Arc<Node>, usize)> {
        let state = self.state.lock();
        let mut missing: BTreeMap<NodeId, usize> = state
            .nodes
            .iter()
            .map(|(id, entry)| (*id, entry.before.len()))
            .collect();
        let mut level: Vec<NodeId> = missing
            .iter()
            .filter(|(_, count)| **count == 0)
            .map(|(id, _)| *id)
            .collect();
        let mut sorted = Vec::with_capacity(state.nodes.len());
        let mut depth = 0;
        while !level.is_empty() {
            let mut next = Vec::new();
            for id in level {
                let Some(entry) = state.nodes.get(&id) else {
                    continue;
                };
                sorted.push((Arc::clone(&entry.node), depth));
                for after in &entry.after {
                    if let Some(count) = missing.get_mut(after) {
                        *count -= 1;
                        if *count == 0 {
                            next.push(*after);
                        }
                    }
                }
            }
            next.sort_unstable();
            level = next;
            depth += 1;
        }
        sorted
    }

    /// Fails if edges close a circle, here or in a child graph: then the graph cannot be executed.
    ///
    /// # Errors
    /// `hipErrorInvalidValue`.
    pub fn check_order(&self) -> HipResult {
        let sorted = self.by_depth();
        if sorted.len() != self.nodes().len() {
            return fail!(hipErrorInvalidValue, "edges of the graph close a circle");
        }
        for (node, _) in sorted {
            if let Operation::Graph(child) = node.operation() {
                child.check_order()?;
            }
        }
        Ok(())
    }

    /// A copy, with copies of child graphs; user objects are held by the copy, too.
    ///
    /// # Errors
    /// `hipErrorOutOfMemory`.
    pub fn copy(&self, child: bool) -> HipResult<Arc<Graph>> {
        let entries: Vec<Entry> = self.state.lock().nodes.values().cloned().collect();
        let copy = Graph::new(child, Some(self.id));
        let mut copies: BTreeMap<NodeId, Arc<Node>> = BTreeMap::new();
        for entry in &entries {
            let operation = match entry.node.operation() {
                Operation::Graph(graph) => Operation::Graph(graph.copy(true)?),
                other => other,
            };
            let node = copy.add_clone(operation, &[], Some(entry.node.id))?;
            node.enabled
                .store(entry.node.is_enabled(), Ordering::Relaxed);
            copies.insert(entry.node.id, node);
        }
        for entry in &entries {
            for after in &entry.after {
                if let (Some(from), Some(to)) = (copies.get(&entry.node.id), copies.get(after)) {
                    copy.connect(from, to)?;
                }
            }
        }
        let objects = self.state.lock().objects.clone();
        copy.state.lock().objects = objects;
        Ok(copy)
    }

    /// Holds references of user objects.
    pub fn hold(&self, held: Held) {
        self.state.lock().objects.push(held);
    }

    /// What it holds of user objects.
    pub fn held(&self) -> Vec<Held> {
        self.state.lock().objects.clone()
    }

    /// Lets go of `count` references to a user object.
    pub fn let_go(&self, object: usize, count: u64) {
        let gone = {
            let mut state = self.state.lock();
            let total: u64 = state
                .objects
                .iter()
                .filter(|held| held.is(object))
                .map(Held::count)
                .sum();
            if total < count {
                log_error!(
                    "the graph holds {total} references of the user object, not {count}: none is released"
                );
                return;
            }
            let (mut gone, mut left) = (Vec::new(), count);
            for held in state.objects.iter_mut().filter(|held| held.is(object)) {
                let part = held.split(left);
                left -= part.count();
                gone.push(part);
            }
            state.objects.retain(|held| held.count() > 0);
            gone
        };
        drop(gone);
    }
}

impl State {}

impl Node {
    /// Ends its handle, and those of a child graph.
    fn end(&self) {
        if let Some(handle) = self.handle.get() {
            NODES.remove(*handle);
        }
        if let Operation::Graph(graph) = &*self.operation.lock() {
            graph.destroy();
        }
    }
}

/// The graph of a handle.
///
/// # Errors
/// `hipErrorInvalidValue`.
pub fn find(handle: hipGraph_t) -> HipResult<Arc<Graph>> {
    match GRAPHS.get(handle.addr()) {
        Some(graph) => Ok(graph),
        None => fail!(
            hipErrorInvalidValue,
            "{:#x} is not a live graph",
            handle.addr()
        ),
    }
}

/// The node of a handle.
///
/// # Errors
/// `hipErrorInvalidValue`.
pub fn node(handle: hipGraphNode_t) -> HipResult<Arc<Node>> {
    match NODES.get(handle.addr()) {
        Some(node) => Ok(node),
        None => fail!(
            hipErrorInvalidValue,
            "{:#x} is not a live graph node",
            handle.addr()
        ),
    }
}

/// The nodes of an array of handles.
///
/// # Errors
/// `hipErrorInvalidValue`.
///
/// # Safety
/// `handles` must be null or hold `count` handles.
pub(crate) unsafe fn node_list(
    handles: *const hipGraphNode_t,
    count: usize,
) -> HipResult<Vec<Arc<Node>>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    if handles.is_null() || count > u32::MAX as usize {
        return fail!(hipErrorInvalidValue, "{count} nodes at {handles:p}");
    }
    // SAFETY: not null; as the caller promises.
    unsafe { std::slice::from_raw_parts(handles, count) }
        .iter()
        .map(|handle| node(*handle))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diamond() -> (Arc<Graph>, [Arc<Node>; 4]) {
        let graph = Graph::new(false, None);
        let a = graph.add(Operation::Empty, &[]).unwrap();
        let b = graph
            .add(Operation::Empty, std::slice::from_ref(&a))
            .unwrap();
        let c = graph
            .add(Operation::Empty, std::slice::from_ref(&a))
            .unwrap();
        let d = graph
            .add(Operation::Empty, &[b.clone(), c.clone()])
            .unwrap();
        (graph, [a, b, c, d])
    }

    #[test]
    fn depths_follow_the_longest_way() {
        let (graph, [a, b, c, d]) = diamond();
        graph.connect(&b, &c).unwrap();
        let depths: Vec<_> = graph
            .by_depth()
            .into_iter()
            .map(|(node, depth)| (node.id, depth))
            .collect();
        assert_eq!(depths, [(a.id, 0), (b.id, 1), (c.id, 2), (d.id, 3)]);
    }

    #[test]
    fn a_circle_is_an_error_of_execution() {
        let (graph, [a, _, _, d]) = diamond();
        assert_eq!(graph.check_order(), Ok(()));
        assert_eq!(graph.connect(&d, &a), Ok(()));
        assert_eq!(graph.check_order(), Err(hipErrorInvalidValue));
        let outer = Graph::new(false, None);
        outer.add(Operation::Graph(graph.clone()), &[]).unwrap();
        assert_eq!(outer.check_order(), Err(hipErrorInvalidValue));
        assert_eq!(graph.disconnect(&d, &a), Ok(()));
        assert_eq!(outer.check_order(), Ok(()));
    }

    #[test]
    fn loops_and_doubles_are_refused() {
        let (graph, [a, b, _, d]) = diamond();
        assert_eq!(graph.connect(&a, &a), Err(hipErrorInvalidValue));
        assert_eq!(graph.connect(&a, &b), Err(hipErrorInvalidValue));
        assert_eq!(graph.disconnect(&a, &d), Err(hipErrorInvalidValue));
        assert_eq!(graph.disconnect(&a, &b), Ok(()));
        assert_eq!(graph.roots().len(), 2);
        let twice = graph.add(Operation::Empty, &[a.clone(), a]);
        assert_eq!(twice.err(), Some(hipErrorInvalidValue));
    }

    #[test]
    fn a_copy_has_the_same_shape_and_other_nodes() {
        let (graph, [a, ..]) = diamond();
        let copy = graph.copy(false).unwrap();
        assert_eq!(copy.edges().len(), 4);
        assert_eq!(copy.nodes()[0].original, Some(a.id));
        copy.remove(&copy.nodes()[0]);
        assert_eq!(copy.roots().len(), 2);
        assert_eq!(graph.nodes().len(), 4);
    }

    #[test]
    fn handles_end_with_the_graph() {
        let (graph, [a, ..]) = diamond();
        let handle = graph.handle().unwrap();
        assert!(find(handle).is_ok());
        graph.destroy();
        assert_eq!(find(handle).err(), Some(hipErrorInvalidValue));
        assert_eq!(node(a.handle()).err(), Some(hipErrorInvalidValue));
    }
}
