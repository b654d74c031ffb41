//! A trace as a Perfetto file, for ui.perfetto.dev.
//!
//! One track for each stream, hardware queue and copy engine, one for each host thread with its API calls and waits, and a counter for the
//! depth of each stream. Arrows lead from a command to those that wait for it, and from the host's call to its command.
//!
//! The file is a protocol buffer, `perfetto.protos.Trace`; [`Message`] writes the few kinds of field that are needed. Field numbers are those
//! of Perfetto's `trace_packet.proto`, `track_descriptor.proto` and `track_event.proto`.

use crate::demangle::demangle;
use gneiss_clr::trace::format::{CommandKind, EngineKind};
use gneiss_clr::trace::{Command, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// A protocol buffer message under construction.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn raw(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(&mut self, field: u32, value: u64) -> &mut Self {
        self.raw(u64::from(field) << 3);
        self.raw(value);
        self
    }

    fn fixed64(&mut self, field: u32, value: u64) -> &mut Self {
        self.raw(u64::from(field) << 3 | 1);
        self.0.extend(value.to_le_bytes());
        self
    }

    fn bytes(&mut self, field: u32, value: &[u8]) -> &mut Self {
        self.raw(u64::from(field) << 3 | 2);
        self.raw(value.len() as u64);
        self.0.extend(value);
        self
    }

    fn text(&mut self, field: u32, value: &str) -> &mut Self {
        self.bytes(field, value.as_bytes())
    }

    fn message(&mut self, field: u32, value: &Message) -> &mut Self {
        self.bytes(field, &value.0)
    }
}

const SLICE_BEGIN: u64 = 1;
const SLICE_END: u64 = 2;
const INSTANT: u64 = 3;
const COUNTER: u64 = 4;

/// Kinds of track, as the high part of their numbers.
mod track {
    pub(super) const PROCESS: u64 = 1;
    pub(super) const STREAM: u64 = 2 << 40;
    pub(super) const HARDWARE: u64 = 3 << 40;
    pub(super) const COPY: u64 = 4 << 40;
    pub(super) const THREAD: u64 = 5 << 40;
    pub(super) const DEPTH: u64 = 6 << 40;
}

struct Writer {
    out: Message,
    /// Events by time; those of one time in the order in which they were added.
    events: Vec<(u64, u8, Message)>,
}

impl Writer {
    fn descriptor(&mut self, descriptor: &Message) {
        let mut packet = Message::default();
        packet.message(60, descriptor).number(10, 1);
        self.out.message(1, &packet);
    }

    fn named_track(&mut self, uuid: u64, name: &str) {
        let mut descriptor = Message::default();
        descriptor
            .number(1, uuid)
            .text(2, name)
            .number(5, track::PROCESS);
        self.descriptor(&descriptor);
    }

    fn event(&mut self, time: u64, track: u64, kind: u64, fill: impl FnOnce(&mut Message)) {
        let mut event = Message::default();
        event.number(9, kind).number(11, track);
        fill(&mut event);
        // At one moment slices end before others begin.
        let rank = if kind == SLICE_END { 0 } else { 1 };
        self.events.push((time, rank, event));
    }

    fn slice(&mut self, track: u64, begin: u64, end: u64, fill: impl FnOnce(&mut Message)) {
        self.event(begin, track, SLICE_BEGIN, fill);
        self.event(end.max(begin.saturating_add(1)), track, SLICE_END, |_| {});
    }
}

fn annotation(event: &mut Message, name: &str, value: &str) {
    let mut note = Message::default();
    note.text(10, name).text(6, value);
    event.message(4, &note);
}

fn annotation_number(event: &mut Message, name: &str, value: u64) {
    let mut note = Message::default();
    note.text(10, name).number(3, value);
    event.message(4, &note);
}

/// When a command was at work: its own times, or from its submission to where its end was seen.
pub fn span(command: &Command) -> Option<(u64, u64)> {
    if matches!(command.kind, CommandKind::Marker | CommandKind::Barrier) {
        // A barrier packet begins to wait early; a marker is the moment at which the wait is over.
        let end = if command.end != 0 {
            command.end
        } else {
            command.done
        };
        return (end != 0).then_some((end, end));
    }
    if command.end != 0 {
        return Some((command.start, command.end.max(command.start)));
    }
    let begin = if command.submitted != 0 {
        command.submitted
    } else {
        command.queued
    };
    (command.done != 0).then_some((begin, command.done.max(begin)))
}

/// The arrow from one command to another has a number that both ends know.
fn flow(from: u64, to: u64) -> u64 {
    from.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ to.rotate_left(17)
}

/// The file's bytes.
pub fn encode(trace: &Trace) -> Vec<u8> {
    let mut writer = Writer {
        out: Message::default(),
        events: Vec::new(),
    };
    tracks(trace, &mut writer);
    // Arrows go between commands that are drawn.
    let drawn: BTreeSet<u64> = trace
        .commands
        .iter()
        .filter(|command| span(command).is_some())
        .map(|command| command.id)
        .collect();
    // For each command, those that wait for it.
    let mut followers: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for command in trace.commands.iter().filter(|one| drawn.contains(&one.id)) {
        for dependency in command.wait_list.iter().filter(|id| drawn.contains(id)) {
            followers.entry(*dependency).or_default().push(command.id);
        }
    }
    let mut depth_changes: BTreeMap<u32, Vec<(u64, i64)>> = BTreeMap::new();
    for command in &trace.commands {
        let changes = depth_changes.entry(command.queue).or_default();
        changes.push((command.queued, 1));
        if command.done != 0 {
            changes.push((command.done, -1));
        }
        command_slices(trace, command, &followers, &drawn, &mut writer);
    }
    for (queue, mut changes) in depth_changes {
        changes.sort_unstable();
        let mut depth = 0;
        for (time, change) in changes {
            depth += change;
            writer.event(time, track::DEPTH + u64::from(queue), COUNTER, |event| {
                event.number(30, depth.max(0) as u64);
            });
        }
    }
    for call in &trace.calls {
        let end = if call.end == 0 { trace.end } else { call.end };
        writer.slice(
            track::THREAD + u64::from(call.thread),
            call.begin,
            end,
            |event| {
                event.text(23, trace.name(call.name)).text(22, "api");
                annotation_number(event, "status", call.status.into());
            },
        );
    }
    let called = |command: &&Command| command.call != 0 && drawn.contains(&command.id);
    for command in trace.commands.iter().filter(called) {
        // The foot of the arrow from the call to its command.
        writer.event(
            command.queued,
            track::THREAD + u64::from(command.thread),
            INSTANT,
            |event| {
                event
                    .text(23, "enqueue")
                    .text(22, "api")
                    .fixed64(47, flow(command.call, command.id));
            },
        );
    }
    for batch in &trace.batches {
        writer.event(
            batch.time,
            track::STREAM + u64::from(batch.queue),
            INSTANT,
            |event| {
                event
                    .text(23, &format!("flush: {}", batch.reason.name()))
                    .text(22, "batch");
                annotation_number(event, "commands", batch.commands.into());
            },
        );
    }
    writer.events.sort_by_key(|(time, rank, _)| (*time, *rank));
    for (index, (time, _, event)) in std::mem::take(&mut writer.events).iter().enumerate() {
        let mut packet = Message::default();
        packet.number(8, *time).message(11, event).number(10, 1);
        if index == 0 {
            // Nothing before this packet is needed to read on.
            packet.number(13, 1);
        }
        writer.out.message(1, &packet);
    }
    writer.out.0
}

fn tracks(trace: &Trace, writer: &mut Writer) {
    let name = trace.arguments.first().map_or("program", String::as_str);
    let mut process = Message::default();
    process.number(1, trace.process.into()).text(6, name);
    let mut descriptor = Message::default();
    descriptor.number(1, track::PROCESS).message(3, &process);
    writer.descriptor(&descriptor);
    for thread in trace.threads.values() {
        let mut body = Message::default();
        body.number(1, trace.process.into())
            .number(2, thread.tid.into())
            .text(5, &format!("host thread {}", thread.index));
        let mut descriptor = Message::default();
        descriptor
            .number(1, track::THREAD + u64::from(thread.index))
            .message(4, &body)
            .number(5, track::PROCESS);
        writer.descriptor(&descriptor);
    }
    for queue in trace.queues.values() {
        writer.named_track(track::STREAM + u64::from(queue.id), &queue.name);
        let mut descriptor = Message::default();
        descriptor
            .number(1, track::DEPTH + u64::from(queue.id))
            .text(2, &format!("{}: commands not ended", queue.name))
            .number(5, track::PROCESS)
            .message(8, &Message::default());
        writer.descriptor(&descriptor);
    }
    for queue in trace.hw_queues.values() {
        let kind = if queue.cooperative {
            " (cooperative)"
        } else {
            ""
        };
        writer.named_track(
            track::HARDWARE + u64::from(queue.id),
            &format!("GPU {} hardware queue {}{kind}", queue.device, queue.id),
        );
    }
    let copying: BTreeSet<u64> = trace
        .commands
        .iter()
        .filter(|command| command.engine == EngineKind::Copy)
        .map(|command| copy_track(trace, command))
        .collect();
    for engine in copying {
        let (device, direction) = (engine >> 8 & 0xffff_ffff, engine & 0xff);
        let direction = match direction {
            1 => "to the device",
            2 => "to the host",
            _ => "between devices",
        };
        writer.named_track(
            engine,
            &format!("GPU {} copy engine {direction}", device & 0xffff),
        );
    }
}

fn copy_track(trace: &Trace, command: &Command) -> u64 {
    let device = trace
        .queues
        .get(&command.queue)
        .map_or(0, |queue| queue.device);
    let direction = match command.kind {
        CommandKind::WriteBuffer | CommandKind::UnmapBuffer => 1,
        CommandKind::ReadBuffer | CommandKind::MapBuffer => 2,
        _ => 3,
    };
    track::COPY | u64::from(device) << 8 | direction
}

fn command_slices(
    trace: &Trace,
    command: &Command,
    followers: &BTreeMap<u64, Vec<u64>>,
    drawn: &BTreeSet<u64>,
    writer: &mut Writer,
) {
    let Some((begin, end)) = span(command) else {
        return;
    };
    let title = &demangle(trace.title(command));
    let arrows = |event: &mut Message| {
        if command.call != 0 {
            event.fixed64(48, flow(command.call, command.id));
        }
        for dependency in command.wait_list.iter().filter(|id| drawn.contains(id)) {
            event.fixed64(48, flow(*dependency, command.id));
        }
        for follower in followers.get(&command.id).into_iter().flatten() {
            event.fixed64(47, flow(command.id, *follower));
        }
    };
    writer.slice(
        track::STREAM + u64::from(command.queue),
        begin,
        end,
        |event| {
            event.text(23, title).text(22, command.kind.name());
            annotation_number(event, "command", command.id);
            annotation_number(event, "bytes or work-items", command.size);
            annotation_number(
                event,
                "waited in the queue (ns)",
                begin.saturating_sub(command.queued),
            );
            if command.kind == CommandKind::Kernel {
                annotation(event, "grid", &format!("{:?}", command.grid));
                annotation(event, "work-group", &format!("{:?}", command.block));
            }
            if let Some(status) = command.status.filter(|status| *status < 0) {
                annotation(event, "failed", &status.to_string());
            }
            arrows(event);
        },
    );
    let engine = match command.engine {
        EngineKind::Compute | EngineKind::Cooperative if command.hw_queue != 0 => {
            track::HARDWARE + u64::from(command.hw_queue)
        }
        EngineKind::Copy => copy_track(trace, command),
        _ => return,
    };
    writer.slice(engine, begin, end, |event| {
        event.text(23, title).text(22, command.kind.name());
        annotation_number(event, "packet", command.packet);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fields of a message: number and value (numbers and fixed) or bytes.
    fn fields(mut bytes: &[u8]) -> Vec<(u32, Result<u64, Vec<u8>>)> {
        let varint = |bytes: &mut &[u8]| {
            let mut value = 0_u64;
            for shift in (0..).step_by(7) {
                let byte = bytes[0];
                *bytes = &bytes[1..];
                value |= u64::from(byte & 0x7f) << shift;
                if byte & 0x80 == 0 {
                    return value;
                }
            }
            value
        };
        let mut found = Vec::new();
        while !bytes.is_empty() {
            let key = varint(&mut bytes);
            let value = match key & 7 {
                0 => Ok(varint(&mut bytes)),
                1 => {
                    let value = u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes"));
                    bytes = &bytes[8..];
                    Ok(value)
                }
                2 => {
                    let length = varint(&mut bytes) as usize;
                    let value = bytes[..length].to_vec();
                    bytes = &bytes[length..];
                    Err(value)
                }
                other => panic!("wire type {other}"),
            };
            found.push(((key >> 3) as u32, value));
        }
        found
    }

    #[test]
    fn numbers_and_texts_are_encoded_as_protocol_buffers_have_it() {
        let mut inner = Message::default();
        inner.number(1, 300).fixed64(47, 5);
        let mut outer = Message::default();
        outer.message(2, &inner).text(3, "x");
        assert_eq!(
            outer.0,
            [
                0x12, 13, 0x08, 0xac, 0x02, 0xf9, 0x02, 5, 0, 0, 0, 0, 0, 0, 0, 0x1a, 1, b'x'
            ]
        );
        let found = fields(&outer.0);
        assert_eq!(found[1], (3, Err(b"x".to_vec())));
        assert_eq!(
            fields(found[0].1.as_ref().expect_err("bytes")),
            [(1, Ok(300)), (47, Ok(5))]
        );
    }
}
