//! Executable graphs: a snapshot of a graph, put into one order, and launched as few commands.
//!
//! Nodes run in the order of their depth in one queue. Kernels that follow each other become one command whose launches are checked and
//! whose arguments are copied beforehand; those of one depth may overlap, the first of the next depth waits for all of them. Work of
//! other devices goes to queues of their own, tied in by events. A change of a node throws the prepared form away; the next launch makes it anew.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use gneiss_clr::{Event as Command, HostQueue, Launch, PreparedKernels, QueueOptions};
use parking_lot::Mutex;

use super::{
    Graph, NodeId, allocation,
    operation::{KernelNode, Operation, Step},
    types::hipGraphExec_t,
    user_object::Held,
};
use crate::{
    error::*,
    fail,
    handle::{Kind, Table},
    runtime::{self, hip_error},
    stream::Resolved,
};

/// All executable graphs.
pub static EXECS: Table<Exec> = Table::new(Kind::GraphExec);

/// `hipGraphInstantiateFlagAutoFreeOnLaunch`.
pub const AUTO_FREE: u64 = 1;
/// All flags of instantiation.
pub const KNOWN_FLAGS: u64 = 0xf;

/// A node of the snapshot.
#[derive(Clone, Debug)]
struct Item {
    /// The graph's node.
    id: NodeId,
    depth: usize,
    enabled: bool,
    content: Content,
}

#[derive(Clone, Debug)]
enum Content {
    Plain(Operation),
    Child(Vec<Item>),
}

/// Something to enqueue, on the queue of a device.
#[derive(Debug)]
enum Piece {
    Kernels(PreparedKernels),
    Step(Step),
}

#[derive(Debug)]
struct Plan {
    /// With the ordinal of the device whose queue it needs; none: the launch stream's.
    pieces: Vec<(Option<usize>, Piece)>,
    /// A launch returns when its work has ended.
    waits: bool,
}

#[derive(Debug)]
struct State {
    items: Vec<Item>,
    plan: Option<Arc<Plan>>,
    /// The last command of the last launch.
    last: Option<Command>,
    queues: BTreeMap<usize, Arc<HostQueue>>,
}

/// An executable graph.
#[derive(Debug)]
pub struct Exec {
    /// Flags of its instantiation.
    pub flags: u64,
    state: Mutex<State>,
    /// Launches hold it while they enqueue, so that they do not mix.
    turn: Mutex<()>,
    launches: AtomicU64,
    _objects: Vec<Held>,
}

fn snapshot(graph: &Graph) -> Vec<Item> {
    graph
        .by_depth()
        .into_iter()
        .map(|(node, depth)| Item {
            id: node.id,
            depth,
            enabled: node.is_enabled(),
            content: match node.operation() {
                Operation::Graph(child) => Content::Child(snapshot(&child)),
                other => Content::Plain(other),
            },
        })
        .collect()
}

fn find_item(items: &mut [Item], id: NodeId) -> Option<&mut Item> {
    // Two passes: the borrow of a child's search ends before the next one begins.
    if let Some(place) = items.iter().position(|item| item.id == id) {
        return items.get_mut(place);
    }
    items.iter_mut().find_map(|item| match &mut item.content {
        Content::Child(inner) => find_item(inner, id),
        Content::Plain(_) => None,
    })
}

/// Collects kernels that run together.
#[derive(Default)]
struct Builder<'a> {
    pieces: Vec<(Option<usize>, Piece)>,
    run: Vec<(&'a KernelNode, bool)>,
    waits: bool,
}

impl<'a> Builder<'a> {
    fn end_run(&mut self) -> HipResult {
        let Some((first, _)) = self.run.first() else {
            return Ok(());
        };
        let device = first.kernel.device();
        let launches: Vec<Launch<'_>> = self
            .run
            .iter()
            .map(|(node, overlaps)| {
                let (grid, block) = node.sizes();
                Launch {
                    kernel: &node.kernel,
                    grid,
                    block,
                    dynamic_shared: node.shared,
                    arguments: gneiss_clr::Arguments::Packed(&node.arguments.bytes),
                    cooperative: node.cooperative != 0,
                    any_order: *overlaps,
                }
            })
            .collect();
        let prepared = PreparedKernels::new(device, &launches).map_err(hip_error)?;
        self.pieces
            .push((Some(device.index()), Piece::Kernels(prepared)));
        self.run.clear();
        Ok(())
    }

    fn add(&mut self, items: &'a [Item]) -> HipResult {
        let mut depth = None;
        for item in items {
            // The first of a depth waits for everything before it.
            let overlaps = depth == Some(item.depth);
            depth = Some(item.depth);
            match &item.content {
                _ if !item.enabled => {}
                Content::Child(inner) => {
                    self.add(inner)?;
                    // What follows is of the same depth as the child at best; it waits, which is always right.
                    depth = None;
                }
                Content::Plain(Operation::Kernel(node)) => {
                    let same_device = self.run.first().is_none_or(|(first, _)| {
                        Arc::ptr_eq(first.kernel.device(), node.kernel.device())
                    });
                    if !same_device {
                        self.end_run()?;
                    }
                    let overlaps = overlaps && !self.run.is_empty() && node.cooperative == 0;
                    self.run.push((node, overlaps));
                }
                Content::Plain(operation) => {
                    let step = operation.step()?;
                    self.waits |= operation.writes_pageable();
                    if !matches!(step, Step::Nothing) {
                        self.end_run()?;
                        self.pieces.push((None, Piece::Step(step)));
                    }
                }
            }
        }
        Ok(())
    }
}

impl Exec {
    /// Makes an executable graph, and its handle.
    ///
    /// # Errors
    /// Those of the nodes' operations, `hipErrorOutOfMemory`.
    pub fn create(graph: &Graph, flags: u64) -> HipResult<hipGraphExec_t> {
        graph.check_order()?;
        let exec = Exec {
            flags,
            state: Mutex::new(State {
                items: snapshot(graph),
                plan: None,
                last: None,
                queues: BTreeMap::new(),
            }),
            turn: Mutex::new(()),
            launches: AtomicU64::new(0),
            _objects: graph.held(),
        };
        exec.plan()?;
        match EXECS.insert(Arc::new(exec)) {
            Some(handle) => Ok(std::ptr::without_provenance_mut(handle)),
            None => fail!(hipErrorOutOfMemory, "too many executable graphs"),
        }
    }

    fn plan(&self) -> HipResult<Arc<Plan>> {
        let mut state = self.state.lock();
        if let Some(plan) = &state.plan {
            return Ok(Arc::clone(plan));
        }
        let mut builder = Builder::default();
        builder.add(&state.items)?;
        builder.end_run()?;
        let plan = Arc::new(Plan {
            pieces: builder.pieces,
            waits: builder.waits,
        });
        state.plan = Some(Arc::clone(&plan));
        Ok(plan)
    }

    /// The queue for work of another device than the launch stream's.
    fn queue_of(&self, ordinal: usize) -> HipResult<Arc<HostQueue>> {
        let mut state = self.state.lock();
        if let Some(queue) = state.queues.get(&ordinal) {
            return Ok(Arc::clone(queue));
        }
        let device = runtime::device(ordinal as i32)?;
        let options = QueueOptions {
            non_blocking: true,
            ..QueueOptions::default()
        };
        let queue = HostQueue::new(&device.clr, options).map_err(hip_error)?;
        state.queues.insert(ordinal, Arc::clone(&queue));
        Ok(queue)
    }

    /// Checks that no allocation of an earlier launch is left, and frees what the flag says.
    fn check_memory(plan: &Plan, auto_free: bool) -> HipResult {
        for (_, piece) in &plan.pieces {
            if let Piece::Step(Step::Allocate(memory)) = piece
                && memory.is_allocated()
            {
                if !auto_free {
                    return fail!(
                        hipErrorInvalidValue,
                        "memory of an earlier launch ({:#x}) is not freed",
                        memory.address
                    );
                }
                allocation::free(memory.address).transpose()?;
            }
        }
        Ok(())
    }

    /// Launches it in a stream.
    ///
    /// # Errors
    /// Those of the queue; `hipErrorInvalidValue` while memory of an earlier launch is not freed.
    pub fn launch(&self, resolved: &Resolved) -> HipResult {
        let plan = self.plan()?;
        let _turn = self.turn.lock();
        Self::check_memory(&plan, self.flags & AUTO_FREE != 0)?;
        let own = &resolved.stream.queue;
        let mut wait = resolved.wait.clone();
        // Launches of one executable graph follow each other, also in different streams.
        let before = self.state.lock().last.clone();
        if let Some(before) = before
            && !before.query().is_terminal()
            && before.queue().is_none_or(|queue| queue.id() != own.id())
        {
            wait.push(before);
        }
        let (mut current, mut last): (Arc<HostQueue>, Option<Command>) = (Arc::clone(own), None);
        for (device, piece) in &plan.pieces {
            let queue = match device {
                Some(ordinal) if *ordinal != resolved.stream.device => self.queue_of(*ordinal)?,
                _ => Arc::clone(own),
            };
            if queue.id() != current.id() {
                wait.extend(last.clone());
                current = queue;
            }
            let command = match piece {
                Piece::Kernels(kernels) => {
                    // SAFETY: what kernels do with memory is the program's.
                    let command = unsafe { current.enqueue_prepared(kernels, &wait) };
                    Some(command.map_err(hip_error)?)
                }
                Piece::Step(step) => {
                    match step {
                        Step::Allocate(memory) => memory.allocate(),
                        Step::Free(address) => {
                            allocation::free(*address).transpose()?;
                        }
                        _ => {}
                    }
                    step.enqueue(&current, &wait)?
                }
            };
            if command.is_some() {
                wait.clear();
                last = command;
            }
        }
        // The stream goes on when everything has ended, also work elsewhere.
        if current.id() != own.id() || last.is_none() {
            wait.extend(last);
            last = Some(own.enqueue_marker(&wait).map_err(hip_error)?);
        }
        self.state.lock().last = last.clone();
        self.launches.fetch_add(1, Ordering::Relaxed);
        match last.filter(|_| plan.waits) {
            Some(last) => last.wait().map_err(hip_error),
            None => Ok(()),
        }
    }

    /// Changes what a node does.
    ///
    /// # Errors
    /// `hipErrorInvalidValue` for a node that it was not made from, or an operation of another sort.
    pub fn set(&self, id: NodeId, operation: Operation) -> HipResult {
        let mut state = self.state.lock();
        let Some(item) = find_item(&mut state.items, id) else {
            return fail!(
                hipErrorInvalidValue,
                "the executable graph was not made from this node"
            );
        };
        match (&mut item.content, operation) {
            (Content::Child(items), Operation::Graph(graph)) => {
                let new = snapshot(&graph);
                if !same_shape(items, &new) {
                    return fail!(
                        hipErrorInvalidValue,
                        "the child graph has another shape than the one it replaces"
                    );
                }
                replace(items, new);
            }
            (Content::Plain(old), operation) if old.same_sort(&operation) => {
                if !old.same_direction(&operation) {
                    return fail!(hipErrorInvalidValue, "the copy would change its direction");
                }
                *old = operation;
            }
            _ => {
                return fail!(
                    hipErrorInvalidValue,
                    "the node's operation is of another sort"
                );
            }
        }
        state.plan = None;
        Ok(())
    }

    /// What a node does.
    ///
    /// # Errors
    /// `hipErrorInvalidValue` for a node that it was not made from.
    pub fn get(&self, id: NodeId) -> HipResult<Operation> {
        let mut state = self.state.lock();
        match find_item(&mut state.items, id).map(|item| &item.content) {
            Some(Content::Plain(operation)) => Ok(operation.clone()),
            _ => fail!(
                hipErrorInvalidValue,
                "the executable graph was not made from this node"
            ),
        }
    }

    /// Whether launches run a node, and a change of that.
    ///
    /// # Errors
    /// `hipErrorInvalidValue` for a node that it was not made from, or of a sort that cannot be left out.
    pub fn enabled(&self, id: NodeId, change: Option<bool>) -> HipResult<bool> {
        let mut state = self.state.lock();
        let Some(item) = find_item(&mut state.items, id) else {
            return fail!(
                hipErrorInvalidValue,
                "the executable graph was not made from this node"
            );
        };
        if !matches!(
            item.content,
            Content::Plain(
                Operation::Kernel(_)
                    | Operation::Copy(_)
                    | Operation::CopyRect(_)
                    | Operation::Fill(_)
            )
        ) {
            return fail!(
                hipErrorInvalidValue,
                "only kernel, copy and fill nodes can be left out of launches"
            );
        }
        if let Some(enabled) = change {
            item.enabled = enabled;
            state.plan = None;
            return Ok(enabled);
        }
        Ok(item.enabled)
    }

    /// Takes over the operations of a graph of the same shape; else gives the node that differs and why.
    pub(crate) fn update(&self, graph: &Graph) -> Result<(), Difference> {
        let new = snapshot(graph);
        let mut state = self.state.lock();
        compare(&state.items, &new)?;
        replace(&mut state.items, new);
        state.plan = None;
        Ok(())
    }

    /// Makes what the next launch needs.
    ///
    /// # Errors
    /// Those of the nodes' operations.
    pub fn prepare(&self) -> HipResult {
        self.plan().map(drop)
    }

    /// A graph that does the same, for the capture of a launch.
    ///
    /// # Errors
    /// `hipErrorOutOfMemory`.
    pub fn graph(&self) -> HipResult<Arc<Graph>> {
        let items = self.state.lock().items.clone();
        graph_of(&items)
    }

    /// The last command of the last launch.
    pub fn last(&self) -> Option<Command> {
        self.state.lock().last.clone()
    }
}

/// A graph of items: an empty node joins each depth with the next.
fn graph_of(items: &[Item]) -> HipResult<Arc<Graph>> {
    let graph = Graph::new(true, None);
    let (mut level, mut join, mut depth) = (Vec::new(), Vec::new(), 0);
    for item in items.iter().filter(|item| item.enabled) {
        if item.depth != depth {
            depth = item.depth;
            if !level.is_empty() {
                join = vec![graph.add(Operation::Empty, &std::mem::take(&mut level))?];
            }
        }
        let operation = match &item.content {
            Content::Plain(operation) => operation.clone(),
            Content::Child(inner) => Operation::Graph(graph_of(inner)?),
        };
        level.push(graph.add(operation, &join)?);
    }
    Ok(graph)
}

/// Why an executable graph cannot take over a graph's operations: the graph's node, and a `hipGraphExecUpdate…` result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    pub node: Option<NodeId>,
    pub result: u32,
}

pub(crate) const UPDATE_SUCCESS: u32 = 0;
pub(crate) const UPDATE_TOPOLOGY_CHANGED: u32 = 2;
pub(crate) const UPDATE_TYPE_CHANGED: u32 = 3;
pub(crate) const UPDATE_PARAMETERS_CHANGED: u32 = 5;

fn compare(old: &[Item], new: &[Item]) -> Result<(), Difference> {
    if old.len() != new.len() {
        return Err(Difference {
            node: None,
            result: UPDATE_TOPOLOGY_CHANGED,
        });
    }
    for (old, new) in old.iter().zip(new) {
        let differs = |result| {
            Err(Difference {
                node: Some(new.id),
                result,
            })
        };
        match (&old.content, &new.content) {
            (Content::Child(old), Content::Child(new)) => compare(old, new)?,
            (Content::Plain(a), Content::Plain(b)) if a.same_sort(b) => {
                if let (Operation::Allocate(a), Operation::Allocate(b)) = (a, b)
                    && (a.size != b.size || a.device != b.device)
                {
                    return differs(UPDATE_PARAMETERS_CHANGED);
                }
                if !a.same_direction(b) {
                    return differs(UPDATE_PARAMETERS_CHANGED);
                }
            }
            _ => return differs(UPDATE_TYPE_CHANGED),
        }
        if old.depth != new.depth {
            return differs(UPDATE_TOPOLOGY_CHANGED);
        }
    }
    Ok(())
}

fn same_shape(old: &[Item], new: &[Item]) -> bool {
    compare(old, new).is_ok()
}

/// Takes the new operations under the old numbers, by which the program still names the nodes.
fn replace(old: &mut [Item], new: Vec<Item>) {
    for (old, new) in old.iter_mut().zip(new) {
        match (&mut old.content, new.content) {
            (Content::Child(old), Content::Child(new)) => replace(old, new),
            (place, content) => *place = content,
        }
    }
}

/// The executable graph of a handle.
///
/// # Errors
/// `hipErrorInvalidValue`.
pub fn find(handle: hipGraphExec_t) -> HipResult<Arc<Exec>> {
    match EXECS.get(handle.addr()) {
        Some(exec) => Ok(exec),
        None => fail!(
            hipErrorInvalidValue,
            "{:#x} is not a live executable graph",
            handle.addr()
        ),
    }
}
