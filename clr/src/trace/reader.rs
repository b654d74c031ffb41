//! Reading a trace file.
//!
//! What the file's lengths and offsets say is checked; what cannot be read is left out and told in [`Trace::problems`]. A file of a newer
//! version is read as far as its kinds of record are known. Only a file that is no trace at all is an error.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use super::format::{
    self, BlockReason, CHUNK_HEADER, CHUNK_MAGIC, CommandKind, EngineKind, FlushReason, at, kind,
};
use super::{
    ApiCall, BatchInfo, BlockInfo, Command, DeviceInfo, HwQueueInfo, QueueInfo, ThreadInfo, Trace,
    Wait,
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

/// From ticks and HSA nanoseconds to nanoseconds from the start.
#[derive(Clone, Copy, Debug)]
struct Clock {
    ticks: u64,
    nanoseconds: u64,
    per_tick: f64,
}

impl Clock {
    fn of_ticks(&self, ticks: u64) -> u64 {
        // The first record may be a little older than the pair of clocks.
        let delta = ticks.wrapping_sub(self.ticks) as i64;
        ((delta as f64 * self.per_tick) as i64).max(0) as u64 + 1
    }

    fn of_hsa(&self, nanoseconds: u64) -> u64 {
        if nanoseconds == 0 {
            0
        } else {
            nanoseconds.saturating_sub(self.nanoseconds) + 1
        }
    }
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
    pub fn from_reader(mut file: impl Read + Seek) -> Result<Self, TraceError> {
        let mut header = vec![0; format::HEADER_SIZE];
        let got = read_up_to(&mut file, &mut header)?;
        if got < 8 || header[..8] != format::MAGIC {
            return Err(TraceError::NoTrace);
        }
        let mut trace = Self::default();
        if got < header.len() {
            trace
                .problems
                .push(format!("the file is cut within its header, at byte {got}"));
        }
        let half = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| header[at + byte]));
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| header[at + byte]));
        trace.version = half(at::VERSION);
        if trace.version > format::VERSION {
            trace.problems.push(format!(
                "the file has version {}, newer than {}: kinds of record that are not known are left out",
                trace.version,
                format::VERSION
            ));
        }
        let header_size = u64::from(half(at::HEADER_SIZE));
        let chunk_size = half(at::CHUNK_SIZE) as usize;
        if !(CHUNK_HEADER + 16..=1 << 28).contains(&chunk_size) || !chunk_size.is_multiple_of(8) {
            return Err(TraceError::BadHeader(format!(
                "chunks of {chunk_size} bytes"
            )));
        }
        trace.process = half(at::PROCESS);
        trace.wall = word(at::WALL);
        trace.ended = word(at::FLAGS) & format::FLAG_ENDED != 0;
        trace.timed = word(at::FLAGS) & format::FLAG_TIMES != 0;
        let length = (half(at::COMMAND_LINE) as usize).min(header.len() - at::COMMAND_LINE - 4);
        let line = &header[at::COMMAND_LINE + 4..][..length];
        trace.arguments = line
            .split(|byte| *byte == 0)
            .filter(|part| !part.is_empty())
            .map(|part| String::from_utf8_lossy(part).into_owned())
            .collect();
        let lost = word(at::LOST);
        if lost > 0 {
            trace.problems.push(format!(
                "{lost} records or more are missing: the file could not grow"
            ));
        }
        let clock = clock(word);
        let chunks = word(at::CHUNKS);
        let mut parser = Parser::new(trace, clock);
        let mut chunk = vec![0; chunk_size];
        let mut position = header_size;
        for index in 0..chunks {
            file.seek(SeekFrom::Start(position))?;
            let got = read_up_to(&mut file, &mut chunk)?;
            if got < chunk_size {
                parser.trace.problems.push(format!(
                    "the file is cut: chunk {index} of {chunks} has {got} of {chunk_size} bytes, the rest is missing"
                ));
            }
            if got == 0 {
                break;
            }
            parser.chunk(index, &chunk[..got]);
            position += chunk_size as u64;
        }
        Ok(parser.finish())
    }
}

/// The clock that the header's pairs give.
fn clock(word: impl Fn(usize) -> u64) -> Clock {
    let (ticks, nanoseconds) = (word(at::FIRST_PAIR), word(at::FIRST_PAIR + 8));
    let mut per_tick = 1e9 / (word(at::TICKS).max(1) as f64);
    let newest = word(at::PAIR);
    if (1..=2).contains(&newest) {
        let place = at::PAIRS + (newest as usize - 1) * 16;
        let (later_ticks, later) = (word(place), word(place + 8));
        // Only a pair that is some way off is better than the first measure.
        if later > nanoseconds + 2_000_000 && later_ticks > ticks {
            per_tick = (later - nanoseconds) as f64 / (later_ticks - ticks) as f64;
        }
    }
    Clock {
        ticks,
        nanoseconds,
        per_tick,
    }
}

fn read_up_to(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut got = 0;
    while got < buffer.len() {
        match file.read(&mut buffer[got..]) {
            Ok(0) => break,
            Ok(count) => got += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
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

struct Parser {
    trace: Trace,
    clock: Clock,
    later: Later,
    unknown: HashMap<u16, u64>,
}

impl Parser {
    fn new(trace: Trace, clock: Clock) -> Self {
        Self {
            trace,
            clock,
            later: Later::default(),
            unknown: HashMap::new(),
        }
    }

    fn chunk(&mut self, index: u64, bytes: &[u8]) {
        let half = |at: usize| -> Option<u32> {
            let bytes = bytes.get(at..at + 4)?;
            Some(u32::from_le_bytes(bytes.try_into().ok()?))
        };
        let (Some(magic), Some(thread), Some(used), Some(tid)) =
            (half(0), half(4), half(8), half(12))
        else {
            return;
        };
        if magic != CHUNK_MAGIC {
            self.trace.problems.push(format!(
                "chunk {index} does not begin as a chunk does; it is left out"
            ));
            return;
        }
        self.trace
            .threads
            .insert(thread, ThreadInfo { index: thread, tid });
        let mut used = used as usize;
        if used > bytes.len() {
            if used > format::CHUNK_SIZE {
                self.trace.problems.push(format!(
                    "chunk {index} says that it has {used} bytes; only what it has is read"
                ));
            }
            used = bytes.len();
        }
        let words: Vec<u64> = bytes[..used]
            .get(CHUNK_HEADER..)
            .unwrap_or_default()
            .chunks_exact(8)
            .map(|part| u64::from_le_bytes(std::array::from_fn(|byte| part[byte])))
            .collect();
        let mut rest = words.as_slice();
        while let Some(first) = rest.first() {
            let count = (first >> 16 & 0xffff) as usize;
            if count < 2 || count > rest.len() {
                let at = CHUNK_HEADER + 8 * (words.len() - rest.len());
                self.trace.problems.push(format!(
                    "chunk {index}: a record at byte {at} claims {count} words; the rest of the chunk is left out"
                ));
                return;
            }
            let (record, behind) = rest.split_at(count);
            rest = behind;
            self.record(thread, record);
        }
    }

    fn record(&mut self, thread: u32, record: &[u64]) {
        let kind = (record[0] & 0xffff) as u16;
        let a = (record[0] >> 32) as u32;
        let time = self.clock.of_ticks(record[1]);
        self.trace.end = self.trace.end.max(time);
        let words = &record[2..];
        let word = |at: usize| words.get(at).copied().unwrap_or(0);
        match kind {
            kind::NAME => {
                let bytes: Vec<u8> = words
                    .iter()
                    .skip(1)
                    .flat_map(|word| word.to_le_bytes())
                    .collect();
                let length = (word(0) as usize).min(bytes.len());
                let text = String::from_utf8_lossy(&bytes[..length]).into_owned();
                self.trace.names.insert(a, text);
            }
            kind::DEVICE => self.later.device_names.push((a, word(0) as u32)),
            kind::QUEUE => {
                let flags = word(0) >> 16;
                self.trace.queues.insert(
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
                self.trace.hw_queues.insert(
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
                    self.trace.blocks.push(BlockInfo {
                        command: word(0),
                        time,
                        reason,
                        on: word(1),
                    });
                }
            }
            kind::BATCH => {
                if let Some(reason) = FlushReason::from_number(a as u8) {
                    self.trace.batches.push(BatchInfo {
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
            kind::CALL_BEGIN => self.trace.calls.push(ApiCall {
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
                    self.trace.waits.push(Wait {
                        thread,
                        command,
                        begin,
                        end: time,
                    });
                }
            }
            kind::USER_EVENT => self.trace.user_events.push((word(0), time, a as i32)),
            kind::QUEUE_END | kind::FLUSH => {}
            other => *self.unknown.entry(other).or_default() += 1,
        }
    }

    fn enqueue(&mut self, thread: u32, queue: u32, time: u64, words: &[u64]) {
        let word = |at: usize| words.get(at).copied().unwrap_or(0);
        let Some(kind) = CommandKind::from_number(word(1) as u8) else {
            self.trace.problems.push(format!(
                "a command of kind {}, which is not known, is left out",
                word(1) as u8
            ));
            return;
        };
        let waits = (word(1) >> 8 & 0xff_ffff) as usize;
        let list = words.get(7..).unwrap_or_default();
        self.trace.commands.push(Command {
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

    fn finish(mut self) -> Trace {
        let trace = &mut self.trace;
        trace
            .commands
            .sort_by_key(|command| (command.queued, command.id));
        trace.index = trace
            .commands
            .iter()
            .enumerate()
            .map(|(index, command)| (command.id, index as u32))
            .collect();
        let mut strangers = 0_u64;
        for (id, [time, a, packet, signal]) in std::mem::take(&mut self.later.submitted) {
            let Some(index) = trace.index.get(&id) else {
                strangers += 1;
                continue;
            };
            let command = &mut trace.commands[*index as usize];
            command.submitted = time;
            command.engine = EngineKind::from_number(a as u8).unwrap_or(EngineKind::Host);
            command.hw_queue = (a >> 8) as u32;
            command.packet = packet;
            command.signal = signal;
        }
        let clock = self.clock;
        for (id, [time, status, start, end]) in std::mem::take(&mut self.later.done) {
            let Some(index) = trace.index.get(&id) else {
                strangers += 1;
                continue;
            };
            let command = &mut trace.commands[*index as usize];
            command.done = time;
            command.status = Some(status as u32 as i32);
            command.timed = start != 0 && end != 0;
            command.start = clock.of_hsa(start);
            command.end = clock.of_hsa(end);
        }
        if strangers > 0 {
            trace.problems.push(format!(
                "{strangers} records are about commands whose enqueuing is not in the file"
            ));
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
        let mut unknown: Vec<_> = self.unknown.iter().collect();
        unknown.sort();
        for (kind, count) in unknown {
            trace.problems.push(format!(
                "{count} records of kind {kind}, which is not known, are left out"
            ));
        }
        if !trace.ended {
            let open = trace
                .commands
                .iter()
                .filter(|command| command.status.is_none())
                .count();
            trace.problems.push(format!(
                "the process did not end in order: the file has what was recorded up to then ({open} commands had not ended)"
            ));
        }
        trace.end = trace
            .commands
            .iter()
            .map(|command| command.end.max(command.done))
            .fold(trace.end, u64::max);
        self.trace
    }
}
