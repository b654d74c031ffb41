//! A trace as JSON Lines: one object a line, `type` says what it is. `hip-abi/cli/schema/trace.schema.json` is its schema.

use std::io::{self, Write};

use serde_json::{Value, json};

use gneiss_clr::trace::Trace;

/// Writes a trace. The first line is the header; times are nanoseconds from the start of the recording.
///
/// # Errors
/// Those of the writer.
pub fn write(trace: &Trace, out: &mut impl Write) -> io::Result<()> {
    let mut line = |value: Value| writeln!(out, "{value}");
    line(json!({
        "type": "trace",
        "version": trace.version,
        "process": trace.process,
        "arguments": trace.arguments,
        "wall_ns": trace.wall,
        "ended": trace.ended,
        "timed": trace.timed,
        "end_ns": trace.end,
        "problems": trace.problems,
    }))?;
    for device in trace.devices.values() {
        line(json!({"type": "device", "id": device.index, "name": device.name}))?;
    }
    for queue in trace.queues.values() {
        line(json!({
            "type": "queue",
            "id": queue.id,
            "name": queue.name,
            "device": queue.device,
            "priority": priority(queue.priority),
            "non_blocking": queue.non_blocking,
            "out_of_order": queue.out_of_order,
        }))?;
    }
    for queue in trace.hw_queues.values() {
        line(json!({
            "type": "hw_queue",
            "id": queue.id,
            "device": queue.device,
            "priority": priority(queue.priority),
            "cooperative": queue.cooperative,
            "packets": queue.packets,
        }))?;
    }
    for thread in trace.threads.values() {
        line(json!({"type": "thread", "id": thread.index, "tid": thread.tid}))?;
    }
    for call in &trace.calls {
        line(json!({
            "type": "call",
            "id": call.id,
            "name": trace.name(call.name),
            "thread": call.thread,
            "begin_ns": call.begin,
            "end_ns": known(call.end),
            "status": call.status,
        }))?;
    }
    for command in &trace.commands {
        line(json!({
            "type": "command",
            "id": command.id,
            "queue": command.queue,
            "kind": command.kind.name(),
            "name": trace.title(command),
            "size": command.size,
            "grid": command.grid,
            "block": command.block,
            "call": known(command.call),
            "thread": command.thread,
            "wait_list": command.wait_list,
            "queued_ns": command.queued,
            "submitted_ns": known(command.submitted),
            "start_ns": known(command.start),
            "end_ns": known(command.end),
            "done_ns": known(command.done),
            "status": command.status,
            "engine": command.engine.name(),
            "hw_queue": known(command.hw_queue.into()),
            "packet": command.packet,
            "signal": known(command.signal),
        }))?;
    }
    for (event, time, status) in &trace.user_events {
        line(json!({"type": "user_event", "id": event, "time_ns": time, "status": status}))?;
    }
    for batch in &trace.batches {
        line(json!({
            "type": "batch",
            "queue": batch.queue,
            "time_ns": batch.time,
            "reason": batch.reason.name(),
            "commands": batch.commands,
            "signal": batch.signal,
            "hw_queue": known(batch.hw_queue.into()),
        }))?;
    }
    for block in &trace.blocks {
        line(json!({
            "type": "blocked",
            "command": block.command,
            "time_ns": block.time,
            "reason": block.reason.name(),
            "on": known(block.on),
        }))?;
    }
    for wait in &trace.waits {
        line(json!({
            "type": "wait",
            "thread": wait.thread,
            "command": wait.command,
            "begin_ns": wait.begin,
            "end_ns": known(wait.end),
        }))?;
    }
    Ok(())
}

/// 0 stands for what is not known.
fn known(value: u64) -> Option<u64> {
    (value != 0).then_some(value)
}

fn priority(value: u8) -> &'static str {
    match value {
        0 => "low",
        2 => "high",
        _ => "normal",
    }
}
