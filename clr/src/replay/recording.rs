//! A workload from a trace file: what was recorded, with the times that kernels, copies and the threads' own work took.
//!
//! The file is read once, the records of all threads in the order of their times, and nothing is kept of a record but what the workload
//! needs of it. Between two calls a thread is busy for as long as it was. A call that enqueued costs what it took, less the waits in it.
//! Commands that had not ended, or whose times are not known, take no time, and the workload says so.

mod ids;

use std::{
    collections::{BTreeMap, HashMap},
    fs::File,
    io::{Read, Seek},
    path::Path,
};

use ids::Ids;

use super::{
    Action, Actions, CommandShape, Dependency, Doer, Span, Workload, WorkloadQueue, WorkloadThread,
    coverage::coverage,
};
use crate::trace::{
    TraceError,
    file::{Clock, Gaps, Ordered, TraceFile},
    format::{CommandKind, EngineKind, kind},
};

/// What was recorded, to compare a replay with. Times in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// From the first enqueuing to the last end.
    pub makespan: u64,
    /// With some kernel, copy or host operation at work.
    pub busy: u64,
    /// With more than one.
    pub overlap: u64,
    /// In which threads waited for commands, summed.
    pub host_wait: u64,
}

/// Turns a trace file into a workload.
///
/// # Errors
/// [`TraceError`]; what could not be read of a trace is in [`Workload::problems`].
pub fn load(path: &Path) -> Result<(Workload, Recorded), TraceError> {
    load_from(File::open(path)?)
}

pub(super) fn load_from(file: impl Read + Seek) -> Result<(Workload, Recorded), TraceError> {
    let mut file = TraceFile::open(file)?;
    let mut loader = Loader::new(file.clock, file.length()?);
    let mut records = Ordered::new(file)?;
    while let Some((thread, record)) = records.next()? {
        loader.record(thread, record);
    }
    let mut trace = records.file.trace;
    let mut gaps = std::mem::take(&mut loader.gaps);
    gaps.strangers = loader.early.values().map(|list| list.len() as u64).sum();
    gaps.tell(loader.live.len(), &mut trace);
    Ok(loader.finish(trace.problems))
}

/// A command that has not ended yet.
#[derive(Clone, Copy)]
struct Live {
    queued: u64,
    submitted: u64,
}

/// A thread of the program.
#[derive(Default)]
struct Thread {
    actions: Actions,
    /// Up to here its time is told.
    now: u64,
    /// Calls that it is in.
    depth: u32,
    /// Begin of the outermost of them.
    begin: u64,
    /// What it did in that call, to be told at its end, when its cost is known.
    held: Vec<Action>,
    /// Nanoseconds in which it waited in that call.
    waited: u64,
    /// Waits that have not ended: for what, since when.
    waits: Vec<(u64, u64)>,
}

impl Thread {
    /// It was busy until a moment.
    fn busy_until(&mut self, time: u64) {
        if time > self.now {
            self.actions.push(Action::Compute(time - self.now));
            self.now = time;
        }
    }

    fn act(&mut self, action: Action, time: u64) {
        if self.depth > 0 {
            self.held.push(action);
        } else {
            self.busy_until(time);
            self.actions.push(action);
        }
    }

    fn end_call(&mut self, time: u64) {
        self.depth = self.depth.saturating_sub(1);
        if self.depth > 0 || self.held.is_empty() {
            return;
        }
        self.busy_until(self.begin);
        let begin = self.now.max(self.begin);
        let mut cost = time.saturating_sub(begin).saturating_sub(self.waited);
        for action in self.held.drain(..) {
            match action {
                // The first command bears what the call cost.
                Action::Enqueue(command, _) => {
                    let cost = std::mem::take(&mut cost);
                    self.actions.push(Action::Enqueue(command, cost));
                }
                other => self.actions.push(other),
            }
        }
        if cost > 0 {
            self.actions.push(Action::Compute(cost));
        }
        self.now = self.now.max(time);
    }
}

struct Loader {
    workload: Workload,
    clock: Clock,
    gaps: Gaps,
    names: HashMap<u32, String>,
    /// Places of streams by their numbers, and the numbers of their names.
    streams: HashMap<u32, u32>,
    stream_names: Vec<(u32, u32)>,
    /// Place in the workload's names for each recorded name and kind.
    titles: HashMap<(u32, CommandKind), u32>,
    title_list: Vec<(u32, CommandKind)>,
    /// Places of commands by their numbers.
    ids: Ids,
    live: HashMap<u64, Live>,
    /// Records that came before the enqueuing of their command.
    early: HashMap<u64, Vec<Vec<u64>>>,
    users: HashMap<u64, u32>,
    /// When user events were set.
    sets: Vec<(u64, u32)>,
    threads: BTreeMap<u32, Thread>,
    /// Begin of the first call that enqueued something.
    base: Option<u64>,
    spans: Vec<Span>,
    first: u64,
    last: u64,
    host_wait: u64,
    untimed: u64,
}

impl Loader {
    fn new(clock: Clock, length: u64) -> Self {
        Self {
            workload: Workload {
                devices: 1,
                ..Workload::default()
            },
            clock,
            gaps: Gaps::default(),
            names: HashMap::new(),
            streams: HashMap::new(),
            stream_names: Vec::new(),
            titles: HashMap::new(),
            title_list: Vec::new(),
            // No record that tells of a new number is shorter.
            ids: Ids::new(length / 16),
            live: HashMap::new(),
            early: HashMap::new(),
            users: HashMap::new(),
            sets: Vec::new(),
            threads: BTreeMap::new(),
            base: None,
            spans: Vec::new(),
            first: 0,
            last: 0,
            host_wait: 0,
            untimed: 0,
        }
    }

    fn record(&mut self, thread: u32, record: &[u64]) {
        let kind = (record[0] & 0xffff) as u16;
        let a = (record[0] >> 32) as u32;
        let time = self.clock.of_ticks(record[1]);
        let words = &record[2..];
        let word = |at: usize| words.get(at).copied().unwrap_or(0);
        match kind {
            kind::NAME => {
                let text = crate::trace::file::text(words);
                self.names.insert(a, text);
            }
            kind::DEVICE => {
                self.workload.devices = self.workload.devices.max((a as usize).min(63) + 1);
            }
            kind::QUEUE => self.queue(a, word(0)),
            kind::QUEUE_NAME => self.stream_names.push((a, word(0) as u32)),
            kind::ENQUEUE => self.enqueue(thread, a, time, words),
            kind::SUBMIT => self.submit(word(0), a, time, record),
            kind::DONE => self.done(word(0), time, (word(1), word(2)), record),
            kind::CALL_BEGIN => {
                let thread = self.threads.entry(thread).or_default();
                if thread.depth == 0 {
                    thread.begin = time;
                    thread.waited = 0;
                }
                thread.depth += 1;
            }
            kind::CALL_END => self.threads.entry(thread).or_default().end_call(time),
            kind::WAIT_BEGIN => {
                let place = self.ids.get(word(0));
                let thread = self.threads.entry(thread).or_default();
                thread.waits.push((word(0), time));
                if let Some(place) = place {
                    thread.now = thread.now.max(self.base.unwrap_or(0));
                    thread.act(Action::Wait(place), time);
                }
            }
            kind::WAIT_END => {
                let known = self.ids.get(word(0)).is_some();
                let thread = self.threads.entry(thread).or_default();
                let open = thread.waits.iter().rposition(|(what, _)| *what == word(0));
                if let Some((_, begin)) = open.map(|at| thread.waits.remove(at)) {
                    let waited = time.saturating_sub(begin);
                    self.host_wait = self.host_wait.saturating_add(waited);
                    match (known, thread.depth) {
                        (false, _) => {}
                        (true, 0) => thread.now = thread.now.max(time),
                        // A wait within a wait counts once.
                        (true, _) if thread.waits.is_empty() => thread.waited += waited,
                        (true, _) => {}
                    }
                }
            }
            kind::USER_EVENT => {
                let user = self.user(word(0));
                self.sets.push((time, user));
            }
            kind::HW_QUEUE | kind::BLOCKED | kind::BATCH | kind::QUEUE_END | kind::FLUSH => {}
            other => *self.gaps.unknown.entry(other).or_default() += 1,
        }
    }

    fn queue(&mut self, number: u32, word: u64) {
        let place = self.stream(number);
        let flags = word >> 16;
        let queue = &mut self.workload.queues[place as usize];
        queue.device = (word & 0xff).min(63) as usize;
        queue.priority = (word >> 8) as u8;
        queue.non_blocking = flags & 1 != 0;
        queue.out_of_order = flags & 2 != 0;
        self.workload.devices = self.workload.devices.max(queue.device + 1);
    }

    /// The place of a stream.
    fn stream(&mut self, number: u32) -> u32 {
        let queues = &mut self.workload.queues;
        *self.streams.entry(number).or_insert_with(|| {
            queues.push(WorkloadQueue {
                name: format!("queue {number}"),
                priority: 1,
                ..WorkloadQueue::default()
            });
            queues.len() as u32 - 1
        })
    }

    /// The number of what is waited for and is no command.
    fn user(&mut self, id: u64) -> u32 {
        let next = self.users.len() as u32;
        *self.users.entry(id).or_insert(next)
    }

    fn enqueue(&mut self, thread: u32, queue: u32, time: u64, words: &[u64]) {
        let word = |at: usize| words.get(at).copied().unwrap_or(0);
        let Some(kind) = CommandKind::from_number(word(1) as u8) else {
            let kind = word(1) as u8;
            *self.gaps.unknown_commands.entry(kind).or_default() += 1;
            return;
        };
        let id = word(0);
        let key = ((word(1) >> 32) as u32, kind);
        let titles = &mut self.title_list;
        let name = *self.titles.entry(key).or_insert_with(|| {
            titles.push(key);
            titles.len() as u32 - 1
        });
        let queue = self.stream(queue);
        let doer = doer(kind);
        let shape = self.workload.shape_number(CommandShape {
            queue,
            kind,
            doer,
            name,
        });
        let count = (word(1) >> 8 & 0xff_ffff) as usize;
        for id in words.get(7..).unwrap_or_default().iter().take(count) {
            let dependency = match self.ids.get(*id) {
                Some(place) => Dependency::Command(place),
                None => Dependency::User(self.user(*id)),
            };
            self.workload.dependencies.push(dependency);
        }
        let place = self.workload.push(shape, 0, []);
        if place == 0 {
            self.first = time;
        }
        if doer != Doer::Marker {
            // Until its end tells its times.
            self.untimed += 1;
        }
        self.ids.insert(id, place);
        let live = Live {
            queued: time,
            submitted: 0,
        };
        self.live.insert(id, live);
        let thread = self.threads.entry(thread).or_default();
        let begin = if thread.depth > 0 { thread.begin } else { time };
        thread.now = thread.now.max(*self.base.get_or_insert(begin));
        thread.act(Action::Enqueue(place, 0), time);
        if !self.early.is_empty() {
            for record in self.early.remove(&id).into_iter().flatten() {
                self.record(0, &record);
            }
        }
    }

    /// Keeps a record for a command that is not known yet.
    fn keep(&mut self, id: u64, record: &[u64]) {
        self.early.entry(id).or_default().push(record.to_vec());
    }

    fn submit(&mut self, id: u64, a: u32, time: u64, record: &[u64]) {
        let Some(place) = self.ids.get(id) else {
            return self.keep(id, record);
        };
        // Whoever ends a command may tell of it before the thread that submitted it tells of that.
        if let Some(live) = self.live.get_mut(&id) {
            live.submitted = time;
        }
        if EngineKind::from_number(a as u8) == Some(EngineKind::Copy) {
            let number = self.workload.commands[place as usize].shape;
            let shape = self.workload.shapes[number as usize];
            if shape.doer == Doer::Host {
                let doer = Doer::Copy;
                let number = self.workload.shape_number(CommandShape { doer, ..shape });
                self.workload.commands[place as usize].shape = number;
            }
        }
    }

    fn done(&mut self, id: u64, time: u64, (start, end): (u64, u64), record: &[u64]) {
        let Some(place) = self.ids.get(id) else {
            return self.keep(id, record);
        };
        // Only a damaged file tells of a second end.
        let Some(live) = self.live.remove(&id) else {
            return;
        };
        let command = &mut self.workload.commands[place as usize];
        let shape = self.workload.shapes[command.shape as usize];
        let timed = start != 0 && end != 0;
        let (start, end) = (self.clock.of_hsa(start), self.clock.of_hsa(end));
        let span = match (shape.doer, timed) {
            (Doer::Marker, _) => {
                let end = if end == 0 { time } else { end };
                Span { start: end, end }
            }
            (_, true) => Span { start, end },
            (_, false) if live.submitted != 0 => Span {
                start: live.submitted,
                end: time,
            },
            (_, false) => Span {
                start: live.queued,
                end: time,
            },
        };
        if shape.doer != Doer::Marker && timed {
            command.duration = end.saturating_sub(start);
            self.untimed -= 1;
        }
        // Times of a damaged file may contradict each other.
        let start = span.start.max(live.queued);
        let end = span.end.max(start);
        self.last = self.last.max(end);
        if end > start {
            self.spans.push(Span { start, end });
        }
    }

    fn finish(mut self, problems: Vec<String>) -> (Workload, Recorded) {
        let covered = coverage(&std::mem::take(&mut self.spans));
        let recorded = Recorded {
            makespan: self.last.saturating_sub(self.first),
            busy: covered.busy,
            overlap: covered.overlap,
            host_wait: self.host_wait,
        };
        let mut workload = self.workload;
        workload.problems = problems;
        if self.untimed > 0 {
            workload.problems.push(format!(
                "{} commands have no times in the trace; they take no time in the replay",
                self.untimed
            ));
        }
        for (queue, name) in &self.stream_names {
            if let (Some(place), Some(name)) = (self.streams.get(queue), self.names.get(name)) {
                workload.queues[*place as usize].name.clone_from(name);
            }
        }
        for (name, kind) in &self.title_list {
            let name = self.names.get(name).filter(|name| !name.is_empty());
            let title = name.map_or(kind.name(), String::as_str);
            workload.names.push(title.to_owned());
        }
        let base = self.base.unwrap_or(0);
        for (number, mut thread) in self.threads {
            // A call that has not returned costs nothing.
            if thread.depth > 0 {
                thread.depth = 1;
                thread.end_call(0);
            }
            if !thread.actions.is_empty() {
                workload.threads.push(WorkloadThread {
                    name: format!("thread {number}"),
                    actions: thread.actions,
                });
            }
        }
        // Who set a user event is not in the file: a thread of its own does, at the recorded times. What was set before the recording, or is
        // not told of, is set at once.
        workload.user_events = self.users.len() as u32;
        if workload.user_events > 0 {
            let mut set = vec![false; self.users.len()];
            for (_, user) in &self.sets {
                set[*user as usize] = true;
            }
            for (user, set) in set.iter().enumerate() {
                if !set {
                    self.sets.push((base, user as u32));
                }
            }
            self.sets.sort_unstable();
            let mut actions = Actions::default();
            let mut now = base;
            for (time, user) in self.sets {
                actions.push(Action::Compute(time.saturating_sub(now)));
                now = now.max(time);
                actions.push(Action::Set(user));
            }
            workload.threads.push(WorkloadThread {
                name: "user events".into(),
                actions,
            });
        }
        (workload, recorded)
    }
}

/// Who does a command, before it is known whether a copy engine gets it.
fn doer(kind: CommandKind) -> Doer {
    match kind {
        CommandKind::Kernel => Doer::Kernel,
        CommandKind::Marker
        | CommandKind::Barrier
        | CommandKind::Migrate
        | CommandKind::SvmMap
        | CommandKind::SvmUnmap
        | CommandKind::SvmPrefetch => Doer::Marker,
        _ => Doer::Host,
    }
}

#[cfg(test)]
mod tests;
