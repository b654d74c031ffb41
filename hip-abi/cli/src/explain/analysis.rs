//! What a trace means: when commands were at work, what each of them waited for, the critical path.

use crate::demangle::demangle;
use crate::trace::span;
use gneiss_clr::trace::format::{CommandKind, EngineKind, FlushReason};
use gneiss_clr::trace::{Command, Trace};
use std::collections::{BTreeMap, HashMap};

/// Why a command began when it did, and not before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It was enqueued only then; nothing held it.
    Enqueued,
    /// The thread that enqueued it had waited for this command.
    HostWaited(usize),
    /// This command of its own stream came first.
    Stream(usize),
    /// This command was in its wait list.
    WaitList(usize),
    /// This command of another stream had the shared hardware queue.
    Shared(usize),
}

impl Cause {
    /// The command that ended just before.
    pub fn command(self) -> Option<usize> {
        match self {
            Self::Enqueued => None,
            Self::HostWaited(index)
            | Self::Stream(index)
            | Self::WaitList(index)
            | Self::Shared(index) => Some(index),
        }
    }
}

/// A command's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Begin of the work.
    pub begin: u64,
    /// End.
    pub end: u64,
}

/// See the module text. Commands are known by their places in [`Trace::commands`].
#[derive(Debug, Default)]
pub struct Analysis {
    /// When each command was at work; `None`: it did not get there.
    pub spans: Vec<Option<Span>>,
    /// Why it began then.
    pub causes: Vec<Cause>,
    /// From the first command to the one that ended last.
    pub critical: Vec<usize>,
    /// From the first enqueuing to the last end.
    pub first: u64,
    /// The last end.
    pub last: u64,
    /// Nanoseconds with any kernel, copy or host operation at work; with more than one.
    pub busy: u64,
    /// See above.
    pub overlap: u64,
    /// Nanoseconds that threads waited.
    pub host_wait: u64,
    /// Batches by stream and reason: how many, and commands in them.
    pub flushes: BTreeMap<(u32, FlushReason), (u64, u64)>,
    /// Pairs of streams that a shared hardware queue serialised: nanoseconds.
    pub shared: BTreeMap<(u32, u32), u64>,
    /// Commands on the null stream that waited for other streams, and commands that waited for the null stream: nanoseconds in all.
    pub null_stops: (u64, u64, u64),
    /// Copies that the host did itself, with the time that the caller was kept by the call.
    pub host_copies: Vec<(usize, u64)>,
    /// Waits across streams.
    pub cross_waits: u64,
}

impl Analysis {
    /// Looks at a trace.
    pub fn new(trace: &Trace) -> Self {
        let spans: Vec<Option<Span>> = trace
            .commands
            .iter()
            .map(|command| {
                // Times of a damaged file may contradict each other.
                span(command).map(|(begin, end)| Span {
                    begin: begin.max(command.queued),
                    end: end.max(begin).max(command.queued),
                })
            })
            .collect();
        let mut this = Self {
            first: trace.commands.first().map_or(0, |command| command.queued),
            last: spans
                .iter()
                .flatten()
                .map(|span| span.end)
                .max()
                .unwrap_or(0),
            spans,
            ..Self::default()
        };
        this.find_causes(trace);
        this.find_critical_path();
        this.measure(trace);
        this
    }

    /// How long a command waited between its enqueuing and its begin.
    pub fn waited(&self, trace: &Trace, index: usize) -> u64 {
        self.spans[index].map_or(0, |span| {
            span.begin.saturating_sub(trace.commands[index].queued)
        })
    }

    fn find_causes(&mut self, trace: &Trace) {
        let places: HashMap<u64, usize> = trace
            .commands
            .iter()
            .enumerate()
            .map(|(place, command)| (command.id, place))
            .collect();
        // Host waits by thread, in the order of their ends.
        let mut waits: HashMap<u32, Vec<(u64, usize)>> = HashMap::new();
        for wait in trace.waits.iter().filter(|wait| wait.end != 0) {
            if let Some(place) = places.get(&wait.command) {
                waits
                    .entry(wait.thread)
                    .or_default()
                    .push((wait.end, *place));
            }
        }
        for list in waits.values_mut() {
            list.sort_unstable();
        }
        let mut last_of_stream: HashMap<u32, usize> = HashMap::new();
        let mut barrier_of_stream: HashMap<u32, usize> = HashMap::new();
        let mut latest_of_stream: HashMap<u32, usize> = HashMap::new();
        // Commands of each hardware queue by packet: for the one before in the ring.
        let mut rings: HashMap<u32, Vec<(u64, usize)>> = HashMap::new();
        for (place, command) in trace.commands.iter().enumerate() {
            if command.engine == EngineKind::Compute && command.hw_queue != 0 {
                rings
                    .entry(command.hw_queue)
                    .or_default()
                    .push((command.packet, place));
            }
        }
        for ring in rings.values_mut() {
            ring.sort_unstable();
        }
        for (place, command) in trace.commands.iter().enumerate() {
            let begin = self.spans[place].map_or(u64::MAX, |span| span.begin);
            let mut best = (command.queued, Cause::Enqueued);
            let mut consider = |other: usize, cause: Cause| {
                if let Some(span) = self.spans[other]
                    && span.end <= begin.saturating_add(1)
                    && span.end > best.0
                {
                    best = (span.end, cause);
                }
            };
            let unordered = trace
                .queues
                .get(&command.queue)
                .is_some_and(|queue| queue.out_of_order);
            let before = if !unordered {
                last_of_stream.get(&command.queue)
            } else if matches!(command.kind, CommandKind::Marker | CommandKind::Barrier) {
                latest_of_stream.get(&command.queue)
            } else {
                barrier_of_stream.get(&command.queue)
            };
            if let Some(previous) = before {
                consider(*previous, Cause::Stream(*previous));
            }
            for id in &command.wait_list {
                if let Some(other) = places.get(id) {
                    consider(*other, Cause::WaitList(*other));
                    if trace.commands[*other].queue != command.queue {
                        self.cross_waits += 1;
                    }
                }
            }
            if let Some(ring) = rings.get(&command.hw_queue)
                && command.engine == EngineKind::Compute
            {
                let at = ring.partition_point(|(packet, _)| *packet < command.packet);
                if let Some((_, other)) = at.checked_sub(1).and_then(|at| ring.get(at))
                    && trace.commands[*other].queue != command.queue
                {
                    consider(*other, Cause::Shared(*other));
                }
            }
            let mut cause = best.1;
            if cause == Cause::Enqueued
                && let Some(list) = waits.get(&command.thread)
            {
                let at = list.partition_point(|(end, _)| *end <= command.queued);
                if let Some((_, other)) = at.checked_sub(1).map(|at| list[at]) {
                    cause = Cause::HostWaited(other);
                }
            }
            self.causes.push(cause);
            last_of_stream.insert(command.queue, place);
            if command.kind == CommandKind::Barrier {
                barrier_of_stream.insert(command.queue, place);
            }
            let latest = latest_of_stream.entry(command.queue).or_insert(place);
            let end = |place: usize| self.spans[place].map_or(0, |span| span.end);
            if end(place) >= end(*latest) {
                *latest = place;
            }
        }
    }

    fn find_critical_path(&mut self) {
        let last = self
            .spans
            .iter()
            .enumerate()
            .filter_map(|(place, span)| Some((span.as_ref()?.end, std::cmp::Reverse(place))))
            .max();
        let mut at = last.map(|(_, std::cmp::Reverse(place))| place);
        while let Some(place) = at {
            self.critical.push(place);
            at = self.causes[place].command().filter(|other| {
                // Each step goes back in time, or at least in the order of enqueuing.
                let ended = self.spans[*other].map_or(u64::MAX, |span| span.end);
                let began = self.spans[place].map_or(0, |span| span.begin);
                ended <= began.saturating_add(1)
                    && *other != place
                    && self.critical.len() < 1 << 20
                    && !(self.spans[*other] == self.spans[place] && *other > place)
            });
        }
        self.critical.reverse();
    }

    fn measure(&mut self, trace: &Trace) {
        let mut edges = Vec::new();
        for span in self
            .spans
            .iter()
            .flatten()
            .filter(|span| span.end > span.begin)
        {
            edges.push((span.begin, 1));
            edges.push((span.end, -1));
        }
        edges.sort_unstable();
        let (mut depth, mut since) = (0, 0);
        for (time, change) in edges {
            if depth > 0 {
                self.busy += time - since;
            }
            if depth > 1 {
                self.overlap += time - since;
            }
            depth += change;
            since = time;
        }
        self.host_wait = trace
            .waits
            .iter()
            .filter(|wait| wait.end != 0)
            .map(|wait| wait.end.saturating_sub(wait.begin))
            .fold(0, u64::saturating_add);
        for batch in &trace.batches {
            let entry = self.flushes.entry((batch.queue, batch.reason)).or_default();
            entry.0 += 1;
            entry.1 += u64::from(batch.commands);
        }
        let calls: HashMap<u64, (u64, u64)> = trace
            .calls
            .iter()
            .filter(|call| call.end != 0)
            .map(|call| (call.id, (call.begin, call.end)))
            .collect();
        for place in 0..trace.commands.len() {
            let command = &trace.commands[place];
            if let Cause::Shared(other) = self.causes[place] {
                let waited = self.lost_to(trace, place, other);
                *self
                    .shared
                    .entry((trace.commands[other].queue, command.queue))
                    .or_default() += waited;
            }
            if let Cause::WaitList(other) = self.causes[place] {
                let is_null = |queue: u32| {
                    trace
                        .queues
                        .get(&queue)
                        .is_some_and(|queue| queue.name == "null stream")
                };
                let waited = self.lost_to(trace, place, other);
                if is_null(command.queue) && !is_null(trace.commands[other].queue) {
                    self.null_stops.0 += 1;
                    self.null_stops.2 += waited;
                } else if is_null(trace.commands[other].queue) && !is_null(command.queue) {
                    self.null_stops.1 += 1;
                    self.null_stops.2 += waited;
                }
            }
            if is_copy(command.kind) && command.engine == EngineKind::Host && command.size > 0 {
                let kept = calls
                    .get(&command.call)
                    .map_or(0, |(begin, end)| end.saturating_sub(*begin));
                self.host_copies.push((place, kept));
            }
        }
    }

    /// How long a command stood ready behind another one.
    fn lost_to(&self, trace: &Trace, place: usize, other: usize) -> u64 {
        let queued = trace.commands[place].queued;
        let ended = self.spans[other].map_or(0, |span| span.end);
        ended.saturating_sub(queued)
    }
}

/// Whether a command moves bytes between places.
pub fn is_copy(kind: CommandKind) -> bool {
    matches!(
        kind,
        CommandKind::WriteBuffer
            | CommandKind::ReadBuffer
            | CommandKind::CopyBuffer
            | CommandKind::CopyRect
            | CommandKind::SvmCopy
            | CommandKind::MapBuffer
            | CommandKind::UnmapBuffer
    )
}

/// A command as a person calls it: name and stream.
pub fn title(trace: &Trace, command: &Command) -> String {
    let stream = trace
        .queues
        .get(&command.queue)
        .map_or_else(String::new, |queue| format!(" on {}", queue.name));
    format!("{}{stream}", demangle(trace.title(command)))
}
