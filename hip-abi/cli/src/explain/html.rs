//! The schedule as one self-contained page: lanes for threads, streams, hardware queues and copy engines, with zoom, hover and arrows.

use super::analysis::{Analysis, is_copy};
use super::program;
use crate::demangle::demangle;
use crate::trace::span;
use gneiss_clr::trace::format::{CommandKind, EngineKind};
use gneiss_clr::trace::{Command, Trace};
use serde_json::{Value, json};

/// The page around the data: markup, style and script, with two marks.
const PAGE: &str = include_str!("page.html");

/// More commands than this are not drawn one by one.
const LIMIT: usize = 50_000;

/// Builds the page.
pub fn page(trace: &Trace, analysis: &Analysis, words: &str) -> String {
    // "</" would end the script element.
    let data = data(trace, analysis, words)
        .to_string()
        .replace("</", "<\\/");
    let title = program(trace);
    PAGE.replace("@TITLE@", &escape(title))
        .replace("@DATA@", &data)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

fn colour(command: &Command) -> &'static str {
    if command.status.is_some_and(|status| status < 0) {
        return "failed";
    }
    match command.kind {
        CommandKind::Kernel => "kernel",
        kind if is_copy(kind) => "copy",
        CommandKind::Marker | CommandKind::Barrier => "marker",
        _ => "host",
    }
}

/// When the call began that enqueued the first command.
fn first_call(trace: &Trace) -> Option<u64> {
    let call = trace.commands.first()?.call;
    let found = trace.calls.iter().find(|other| other.id == call);
    found.map(|call| call.begin)
}

fn data(trace: &Trace, analysis: &Analysis, words: &str) -> Value {
    let mut lanes: Vec<Value> = Vec::new();
    let mut lane_of_thread = std::collections::BTreeMap::new();
    for thread in trace.threads.values() {
        let has_calls = trace.calls.iter().any(|call| call.thread == thread.index);
        if has_calls {
            lane_of_thread.insert(thread.index, lanes.len());
            lanes.push(json!({"name": format!("thread {}", thread.index), "group": "host"}));
        }
    }
    let mut lane_of_stream = std::collections::BTreeMap::new();
    for queue in trace.queues.values() {
        lane_of_stream.insert(queue.id, lanes.len());
        lanes.push(json!({"name": queue.name, "group": "stream"}));
    }
    let mut lane_of_hw = std::collections::BTreeMap::new();
    for queue in trace.hw_queues.values() {
        lane_of_hw.insert(queue.id, lanes.len());
        lanes.push(json!({"name": format!("GPU {} hw queue {}", queue.device, queue.id), "group": "hardware"}));
    }
    let copies = lanes.len();
    let has_copies = trace
        .commands
        .iter()
        .any(|command| command.engine == EngineKind::Copy);
    if has_copies {
        lanes.push(json!({"name": "copy engines", "group": "hardware"}));
    }
    let critical: std::collections::BTreeSet<usize> = analysis.critical.iter().copied().collect();
    let places: std::collections::HashMap<u64, usize> = trace
        .commands
        .iter()
        .enumerate()
        .map(|(place, command)| (command.id, place))
        .collect();
    let mut items = Vec::new();
    for (place, command) in trace.commands.iter().enumerate().take(LIMIT) {
        let Some((begin, end)) = span(command) else {
            continue;
        };
        let engine_lane = match command.engine {
            EngineKind::Compute | EngineKind::Cooperative => {
                lane_of_hw.get(&command.hw_queue).copied()
            }
            EngineKind::Copy if has_copies => Some(copies),
            _ => None,
        };
        let waits: Vec<usize> = command
            .wait_list
            .iter()
            .filter_map(|id| places.get(id).copied())
            .collect();
        items.push(json!({
            "i": place,
            "n": demangle(trace.title(command)),
            "k": command.kind.name(),
            "c": colour(command),
            "l": lane_of_stream.get(&command.queue),
            "e": engine_lane,
            "q": command.queued,
            "s": command.submitted,
            "b": begin,
            "f": end.max(begin),
            "d": command.done,
            "w": waits,
            "p": critical.contains(&place),
            "z": command.size,
        }));
    }
    let calls: Vec<Value> = trace
        .calls
        .iter()
        .take(LIMIT)
        .filter_map(|call| {
            let lane = lane_of_thread.get(&call.thread)?;
            let end = if call.end == 0 { trace.end } else { call.end };
            Some(json!({"n": trace.name(call.name), "l": lane, "b": call.begin, "f": end, "st": call.status}))
        })
        .collect();
    let flushes: Vec<Value> = trace
        .batches
        .iter()
        .take(LIMIT)
        .map(|batch| {
            json!({"l": lane_of_stream.get(&batch.queue), "t": batch.time, "r": batch.reason.name(), "c": batch.commands})
        })
        .collect();
    json!({
        "lanes": lanes,
        "items": items,
        "calls": calls,
        "flushes": flushes,
        // Times count from the first enqueuing, as in the words; the first view begins with the call that did it.
        "zero": analysis.first,
        "begin": first_call(trace).unwrap_or(analysis.first).min(analysis.first),
        "end": analysis.last,
        "left_out": trace.commands.len().saturating_sub(LIMIT),
        "words": words,
        "problems": trace.problems,
    })
}
