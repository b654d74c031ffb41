//! A workload from a trace: what was recorded, with the times that kernels, copies and the threads' own work took.
//!
//! Between two calls a thread is busy for as long as it was. A call that enqueued costs what it took, less the waits in it. Commands that
//! had not ended, or whose times are not known, take no time, and the workload says so.

use std::collections::HashMap;

use super::{Action, Dependency, Doer, Workload, WorkloadCommand, WorkloadQueue, WorkloadThread};
use crate::trace::{
    Command, Trace,
    format::{CommandKind, EngineKind},
};

/// What a thread did at a moment.
#[derive(Clone, Copy, Debug)]
enum Step {
    Enqueue(u32, u64),
    Wait(u32),
}

/// Turns a trace into a workload.
pub fn from_trace(trace: &Trace) -> Workload {
    let mut workload = Workload {
        devices: trace
            .queues
            .values()
            .map(|queue| queue.device as usize + 1)
            .max()
            .unwrap_or(1)
            .max(trace.devices.len()),
        problems: trace.problems.clone(),
        ..Workload::default()
    };
    let mut queue_places = HashMap::new();
    for queue in trace.queues.values() {
        queue_places.insert(queue.id, workload.queues.len() as u32);
        workload.queues.push(WorkloadQueue {
            name: queue.name.clone(),
            device: queue.device as usize,
            priority: queue.priority,
            non_blocking: queue.non_blocking,
            out_of_order: queue.out_of_order,
        });
    }
    let users: HashMap<u64, u32> = trace
        .user_events
        .iter()
        .enumerate()
        .map(|(place, (id, _, _))| (*id, place as u32))
        .collect();
    workload.user_events = users.len() as u32;
    let places: HashMap<u64, u32> = trace
        .commands
        .iter()
        .enumerate()
        .map(|(place, command)| (command.id, place as u32))
        .collect();
    commands(trace, &places, &queue_places, &users, &mut workload);
    threads(trace, &places, &users, &mut workload);
    workload
}

fn commands(
    trace: &Trace,
    places: &HashMap<u64, u32>,
    queue_places: &HashMap<u32, u32>,
    users: &HashMap<u64, u32>,
    workload: &mut Workload,
) {
    let mut names: HashMap<(u32, CommandKind), u32> = HashMap::new();
    let mut untimed = 0_u64;
    for (place, command) in trace.commands.iter().enumerate() {
        let name = *names
            .entry((command.name, command.kind))
            .or_insert_with(|| {
                workload.names.push(trace.title(command).to_owned());
                workload.names.len() as u32 - 1
            });
        let first = workload.dependencies.len() as u32;
        for id in &command.wait_list {
            if let Some(other) = places.get(id).filter(|other| (**other as usize) < place) {
                workload.dependencies.push(Dependency::Command(*other));
            } else if let Some(user) = users.get(id) {
                workload.dependencies.push(Dependency::User(*user));
            }
        }
        let doer = doer(command);
        let duration = if doer == Doer::Marker {
            0
        } else {
            if command.end == 0 {
                untimed += 1;
            }
            command.end.saturating_sub(command.start)
        };
        workload.commands.push(WorkloadCommand {
            queue: queue_places.get(&command.queue).copied().unwrap_or(0),
            kind: command.kind,
            doer,
            name,
            duration,
            waits: first..workload.dependencies.len() as u32,
        });
    }
    if untimed > 0 {
        workload.problems.push(format!(
            "{untimed} commands have no times in the trace; they take no time in the replay"
        ));
    }
}

fn doer(command: &Command) -> Doer {
    match command.kind {
        CommandKind::Kernel => Doer::Kernel,
        CommandKind::Marker
        | CommandKind::Barrier
        | CommandKind::Migrate
        | CommandKind::SvmMap
        | CommandKind::SvmUnmap
        | CommandKind::SvmPrefetch => Doer::Marker,
        _ if command.engine == EngineKind::Copy => Doer::Copy,
        _ => Doer::Host,
    }
}

fn threads(
    trace: &Trace,
    places: &HashMap<u64, u32>,
    users: &HashMap<u64, u32>,
    workload: &mut Workload,
) {
    // Steps of each thread: begin, end, and what.
    let mut steps: HashMap<u32, Vec<(u64, u64, Step)>> = HashMap::new();
    let calls: HashMap<u64, (u64, u64)> = trace
        .calls
        .iter()
        .map(|call| (call.id, (call.begin, call.end.max(call.begin))))
        .collect();
    let waits_of: HashMap<u32, Vec<(u64, u64)>> = {
        let mut all: HashMap<u32, Vec<(u64, u64)>> = HashMap::new();
        for wait in &trace.waits {
            let end = if wait.end == 0 { trace.end } else { wait.end };
            all.entry(wait.thread).or_default().push((wait.begin, end));
        }
        all
    };
    for (place, command) in trace.commands.iter().enumerate() {
        let mut cost = 0;
        let mut end = command.queued;
        if let Some((begin, call_end)) = calls.get(&command.call) {
            let waited: u64 = waits_of
                .get(&command.thread)
                .map(|waits| {
                    let first = waits.partition_point(|(start, _)| start < begin);
                    waits[first..]
                        .iter()
                        .take_while(|(start, _)| start < call_end)
                        .map(|(start, end)| end.saturating_sub(*start))
                        .sum()
                })
                .unwrap_or(0);
            cost = call_end.saturating_sub(*begin).saturating_sub(waited);
            end = command.queued;
        }
        steps.entry(command.thread).or_default().push((
            command.queued,
            end,
            Step::Enqueue(place as u32, cost),
        ));
    }
    for wait in &trace.waits {
        if let Some(place) = places.get(&wait.command) {
            let end = if wait.end == 0 { trace.end } else { wait.end };
            steps
                .entry(wait.thread)
                .or_default()
                .push((wait.begin, end, Step::Wait(*place)));
        }
    }
    // The replay begins with the first call that enqueues something.
    let base = trace
        .commands
        .first()
        .map(|command| {
            calls
                .get(&command.call)
                .map_or(command.queued, |(begin, _)| *begin)
        })
        .unwrap_or(0);
    let mut numbers: Vec<u32> = steps.keys().copied().collect();
    numbers.sort_unstable();
    for number in numbers {
        let Some(mut list) = steps.remove(&number) else {
            continue;
        };
        list.sort_by_key(|(begin, _, _)| *begin);
        let mut actions = Vec::with_capacity(2 * list.len());
        let mut now = base;
        for (begin, end, step) in list {
            // What passed since the last step, less what that step itself is charged with.
            let gap = begin.saturating_sub(now);
            if gap > 0 {
                actions.push(Action::Compute(gap));
            }
            now = now.max(begin);
            match step {
                Step::Enqueue(command, cost) => {
                    actions.push(Action::Enqueue(command, cost));
                    now = now.saturating_add(cost);
                }
                Step::Wait(command) => {
                    actions.push(Action::Wait(command));
                    now = now.max(end);
                }
            }
        }
        workload.threads.push(WorkloadThread {
            name: format!("thread {number}"),
            actions,
        });
    }
    // Who set a user event is not in the file: a thread of its own does, at the recorded times.
    if !users.is_empty() {
        let mut actions = Vec::new();
        let mut now = base;
        let mut sets: Vec<(u64, u32)> = trace
            .user_events
            .iter()
            .filter_map(|(id, time, _)| Some((*time, *users.get(id)?)))
            .collect();
        sets.sort_unstable();
        for (time, user) in sets {
            actions.push(Action::Compute(time.saturating_sub(now)));
            now = time;
            actions.push(Action::Set(user));
        }
        workload.threads.push(WorkloadThread {
            name: "user events".into(),
            actions,
        });
    }
}
