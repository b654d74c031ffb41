//! Reading a trace file.
//!
//! What the file's lengths and offsets say is checked; what cannot be read is left out and told in [`Trace::problems`]. A file of a newer
//! version is read as far as its kinds of record are known. Only a file that is no trace at all is an error.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, Read, Seek},
    path::Path,
};

use super::file::{self, Chunk, Gaps, TraceFile};
use super::format::{BlockReason, CommandKind, EngineKind, FlushReason, kind};
use super::{
    ApiCall, BatchInfo, BlockInfo, Command, DeviceInfo, HwQueueInfo, QueueInfo, Trace, Wait,
};

/// Why a file could not be read at all.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The system said no.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It does not begin as a trace does.
    #[error("not a trace file: it does not begin with GNEISSTR")]
    NoTrace,
    /// The header contradicts itself.
    #[error("damaged header: {0}")]
    BadHeader(String),
}

impl Trace {
    /// Reads a file.
    ///
    /// # Errors
    /// [`TraceError`]; all else is in [`problems`](Self::problems).
    pub fn read(path: &Path) -> Result<Self, TraceError> {
        Self::from_reader(File::open(path)?)
    }

    /// Reads from anything that can be read and sought in.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn from_reader(file: impl Read + Seek) -> Result<Self, TraceError> {
        let mut parser = Parser {
            file: TraceFile::open(file)?,
            later: Later::default(),
            gaps: Gaps::default(),
        };
        let mut words = Vec::new();
        for index in 0..parser.file.chunks() {
            match parser.file.chunk(index, &mut words)? {
                Chunk::End => break,
                Chunk::Bad => {}
                Chunk::Of(thread) => {
                    let mut at = 0;
                    while let Some(count) = parser.file.record(index, &words, at) {
                        parser.record(thread, &words[at..at + count]);
                        at += count;
                    }
                }
            }
        }
        Ok(parser.finish())
    }
}

/// What is told of a command before or after its enqueuing, as threads write in chunks of their own.
#[derive(Default)]
struct Later {
    submitted: Vec<(u64, [u64; 4])>,
    done: Vec<(u64, [u64; 4])>,
    queue_names: Vec<(u32, u32)>,
    device_names: Vec<(u32, u32)>,
    call_ends: HashMap<u64, (u64, u32)>,
    open_waits: HashMap<u32, Vec<(u64, u64)>>,
}

struct Parser<R> {
    file: TraceFile<R>,
    later: Later,
    gaps: Gaps,
}

impl<R: Read + Seek> Parser<R> {
    fn record(&mut self, thread: u32, record: &[u64]) {
        let kind = (record[0] & 0xffff) as u16;
        let a = (record[0] >> 32) as u32;
        let time = self.file.clock.of_ticks(record[1]);
        self.file.trace.end = self.file.trace.end.max(time);
        let words = &record[2..];
        let word = |at: usize| words.get(at).copied().unwrap_or(0);
        match kind {
            kind::NAME => {
                let text = file::text(words);
                self.file.trace.names.insert(a, text);
            }
            kind::DEVICE => self.later.device_names.push((a, word(0) as u32)),
            kind::QUEUE => {
                let flags = word(0) >> 16;
                self.file.trace.queues.insert(
                    a,
                    QueueInfo {
                        id: a,
                        name: format!("queue {a}"),
                        device: (word(0) & 0xff) as u32,
                        priority: (word(0) >> 8) as u8,
                        non_blocking: flags & 1 != 0,
                        out_of_order: flags & 2 != 0,
                    },
                );
            }
            kind::QUEUE_NAME => self.later.queue_names.push((a, word(0) as u32)),
            kind::HW_QUEUE => {
                self.file.trace.hw_queues.insert(
                    a,
                    HwQueueInfo {
                        id: a,
                        device: (word(0) & 0xff) as u32,
                        priority: (word(0) >> 8) as u8,
                        cooperative: word(0) >> 16 & 1 != 0,
                        packets: (word(0) >> 32) as u32,
                    },
                );
            }
            kind::ENQUEUE => self.enqueue(thread, a, time, words),
            kind::SUBMIT => self
                .later
                .submitted
                .push((word(0), [time, a.into(), word(1), word(2)])),
            kind::BLOCKED => {
                if let Some(reason) = BlockReason::from_number(a as u8) {
                    self.file.trace.blocks.push(BlockInfo {
                        command: word(0),
                        time,
                        reason,
                        on: word(1),
                    });
                }
            }
            kind::BATCH => {
                if let Some(reason) = FlushReason::from_number(a as u8) {
                    self.file.trace.batches.push(BatchInfo {
                        queue: word(0) as u32,
                        time,
                        reason,
                        commands: a >> 8,
                        signal: word(1),
                        hw_queue: word(2) as u32,
                    });
                }
            }
            kind::DONE => self
                .later
                .done
                .push((word(0), [time, a.into(), word(1), word(2)])),
            kind::CALL_BEGIN => self.file.trace.calls.push(ApiCall {
                id: word(0),
                name: a,
                thread,
                begin: time,
                end: 0,
                status: 0,
            }),
            kind::CALL_END => {
                self.later.call_ends.insert(word(0), (time, a));
            }
            kind::WAIT_BEGIN => self
                .later
                .open_waits
                .entry(thread)
                .or_default()
                .push((word(0), time)),
            kind::WAIT_END => {
                let open = self.later.open_waits.entry(thread).or_default();
                if let Some(at) = open.iter().rposition(|(command, _)| *command == word(0)) {
                    let (command, begin) = open.remove(at);
                    self.file.trace.waits.push(Wait {
                        thread,
                        command,
                        begin,
                        end: time,
                    });
                }
            }
            kind::USER_EVENT => self.file.trace.user_events.push((word(0), time, a as i32)),
            kind::QUEUE_END | kind::FLUSH => {}
            other => *self.gaps.unknown.entry(other).or_default() += 1,
        }
    }

    fn enqueue(&mut self, thread: u32, queue: u32, time: u64, words: &[u64]) {
        let word = |at: usize| words.get(at).copied().unwrap_or(0);
        let Some(kind) = CommandKind::from_number(word(1) as u8) else {
            let kind = word(1) as u8;
            *self.gaps.unknown_commands.entry(kind).or_default() += 1;
            return;
        };
        let waits = (word(1) >> 8 & 0xff_ffff) as usize;
        let list = words.get(7..).unwrap_or_default();
        self.file.trace.commands.push(Command {
            id: word(0),
            queue,
            kind,
            name: (word(1) >> 32) as u32,
            size: word(2),
            grid: [word(4) as u32, (word(4) >> 32) as u32, word(5) as u32],
            block: [
                (word(5) >> 32) as u16,
                (word(5) >> 48) as u16,
                word(6) as u16,
            ],
            call: word(3),
            wait_list: list.iter().take(waits).copied().collect(),
            thread,
            queued: time,
            submitted: 0,
            start: 0,
            end: 0,
            done: 0,
            status: None,
            engine: EngineKind::Host,
            hw_queue: 0,
            packet: 0,
            signal: 0,
            timed: false,
        });
    }

    /// Puts together what was read.
    fn finish(mut self) -> Trace {
        let trace = &mut self.file.trace;
        trace
            .commands
            .sort_by_key(|command| (command.queued, command.id));
        trace.index = trace
            .commands
            .iter()
            .enumerate()
            .map(|(index, command)| (command.id, index as u32))
            .collect();
        let strangers = &mut self.gaps.strangers;
        for (id, [time, a, packet, signal]) in std::mem::take(&mut self.later.submitted) {
            let Some(index) = trace.index.get(&id) else {
                *strangers += 1;
                continue;
            };
            let command = &mut trace.commands[*index as usize];
            command.submitted = time;
            command.engine = EngineKind::from_number(a as u8).unwrap_or(EngineKind::Host);
            command.hw_queue = (a >> 8) as u32;
            command.packet = packet;
            command.signal = signal;
        }
        let clock = self.file.clock;
        for (id, [time, status, start, end]) in std::mem::take(&mut self.later.done) {
            let Some(index) = trace.index.get(&id) else {
                *strangers += 1;
                continue;
            };
            let command = &mut trace.commands[*index as usize];
            command.done = time;
            command.status = Some(status as u32 as i32);
            command.timed = start != 0 && end != 0;
            command.start = clock.of_hsa(start);
            command.end = clock.of_hsa(end);
            if command.timed && command.submitted > command.start {
                // The packet was there before its record.
                command.submitted = command.start.max(command.queued);
            }
        }
        for (device, name) in &self.later.device_names {
            let name = trace.names.get(name).cloned().unwrap_or_default();
            trace.devices.insert(
                *device,
                DeviceInfo {
                    index: *device,
                    name,
                },
            );
        }
        for (queue, name) in &self.later.queue_names {
            if let (Some(queue), Some(name)) = (trace.queues.get_mut(queue), trace.names.get(name))
            {
                queue.name.clone_from(name);
            }
        }
        for command in &trace.commands {
            trace
                .queues
                .entry(command.queue)
                .or_insert_with(|| QueueInfo {
                    id: command.queue,
                    name: format!("queue {}", command.queue),
                    priority: 1,
                    ..QueueInfo::default()
                });
        }
        trace.calls.sort_by_key(|call| (call.begin, call.id));
        for call in &mut trace.calls {
            if let Some((end, status)) = self.later.call_ends.get(&call.id) {
                call.end = *end;
                call.status = *status;
            }
        }
        for (thread, open) in &self.later.open_waits {
            trace.waits.extend(open.iter().map(|(command, begin)| Wait {
                thread: *thread,
                command: *command,
                begin: *begin,
                end: 0,
            }));
        }
        trace
            .waits
            .sort_by_key(|wait| (wait.begin, wait.thread, wait.command));
        trace.batches.sort_by_key(|batch| (batch.time, batch.queue));
        trace
            .blocks
            .sort_by_key(|block| (block.time, block.command));
        let open = trace
            .commands
            .iter()
            .filter(|command| command.status.is_none())
            .count();
        trace.end = trace
            .commands
            .iter()
            .map(|command| command.end.max(command.done))
            .fold(trace.end, u64::max);
        self.gaps.tell(open, trace);
        self.file.trace
    }
}
