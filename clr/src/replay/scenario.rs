//! Scenarios, read.
//!
#![doc = include_str!("../../../docs/scenario-statements.md")]

use std::collections::HashMap;

use super::{
    Action, Actions, CommandShape, Dependency, Doer, FlushRule, MOST_COPY_ENGINES, MOST_GPUS,
    MOST_HW_QUEUES, MOST_OTHERS, Policy, Workload, WorkloadQueue, WorkloadThread,
};
use crate::trace::format::CommandKind;

/// Why a scenario is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct ScenarioError {
    /// The line, from 1.
    pub line: usize,
    /// The reason.
    pub reason: String,
}

/// What a thread costs to enqueue, where a scenario does not say: 5 microseconds.
const LAUNCH_COST: u64 = 5_000;

/// A name in a scenario.
#[derive(Clone, Copy, Debug)]
enum Named {
    Command(u32),
    User(u32),
}

struct Reader {
    workload: Workload,
    policy: Policy,
    streams: HashMap<String, u32>,
    names: HashMap<String, Named>,
    /// Lines on which names are given, for forward references.
    given: HashMap<String, usize>,
    /// For each name that is given by a command, the names that it waits for.
    edges: HashMap<String, Vec<String>>,
    name_numbers: HashMap<String, u32>,
    /// Last command of each stream.
    last: HashMap<u32, u32>,
    /// The next command of a stream waits for these, too (`wait`).
    thread: usize,
    line: usize,
}

/// Reads a scenario: what to play, and the rules that it sets.
///
/// # Errors
/// [`ScenarioError`] for the first line that makes no sense.
pub fn parse(text: &str) -> Result<(Workload, Policy), ScenarioError> {
    let mut reader = Reader {
        workload: Workload {
            devices: 1,
            threads: vec![WorkloadThread {
                name: "main".into(),
                actions: Actions::default(),
            }],
            ..Workload::default()
        },
        policy: Policy::default(),
        streams: HashMap::new(),
        names: HashMap::new(),
        given: HashMap::new(),
        edges: HashMap::new(),
        name_numbers: HashMap::new(),
        last: HashMap::new(),
        thread: 0,
        line: 0,
    };
    let lines: Vec<Vec<&str>> = text
        .lines()
        .map(|line| {
            let line = line.split('#').next().unwrap_or_default();
            line.split_whitespace().collect()
        })
        .collect();
    reader.look_ahead(&lines);
    for (index, words) in lines.iter().enumerate() {
        reader.line = index + 1;
        if !words.is_empty() {
            reader.statement(words)?;
        }
    }
    if reader.workload.queues.is_empty() {
        reader.line = lines.len().max(1);
        return Err(reader.error("there is no stream"));
    }
    Ok((reader.workload, reader.policy))
}

/// A time: `12us`, `1.5ms`.
pub fn parse_time(text: &str) -> Result<u64, String> {
    let (number, unit) = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)]
        .into_iter()
        .find_map(|(suffix, unit)| Some((text.strip_suffix(suffix)?, unit)))
        .ok_or_else(|| match text.parse::<f64>() {
            Ok(0.0) => String::new(),
            _ => format!("\"{text}\" is no time: a number with ns, us, ms or s"),
        })
        .or_else(|error| {
            if error.is_empty() {
                Ok(("0", 1.0))
            } else {
                Err(error)
            }
        })?;
    let value: f64 = number
        .parse()
        .ok()
        .filter(|value: &f64| !value.is_nan())
        .ok_or_else(|| format!("\"{text}\" is no time: a number with ns, us, ms or s"))?;
    if value < 0.0 {
        return Err(format!("\"{text}\" is a negative time"));
    }
    let nanoseconds = value * unit;
    if !nanoseconds.is_finite() || nanoseconds > 1e15 {
        return Err(format!("\"{text}\" is too long a time"));
    }
    Ok(nanoseconds.round() as u64)
}

impl Reader {
    fn error(&self, reason: impl Into<String>) -> ScenarioError {
        ScenarioError {
            line: self.line,
            reason: reason.into(),
        }
    }

    /// Notes which names are given where, and what they wait for.
    fn look_ahead(&mut self, lines: &[Vec<&str>]) {
        for (index, words) in lines.iter().enumerate() {
            let name = match words.first().copied() {
                Some("record") => words.get(1),
                Some(word) if kind_of(word).is_some_and(|(_, _, named)| named) => words.get(2),
                _ => None,
            };
            let Some(name) = name else { continue };
            self.given.entry((*name).to_owned()).or_insert(index + 1);
            if let Some(at) = words.iter().position(|word| *word == "after") {
                let list = words[at + 1..]
                    .iter()
                    .flat_map(|word| word.split(','))
                    .filter(|word| !word.is_empty())
                    .map(str::to_owned);
                self.edges
                    .entry((*name).to_owned())
                    .or_default()
                    .extend(list);
            }
        }
    }

    fn statement(&mut self, words: &[&str]) -> Result<(), ScenarioError> {
        let want = |count: usize, form: &str| {
            if words.len() == count {
                Ok(())
            } else {
                Err(self.error(format!("expected: {form}")))
            }
        };
        match words[0] {
            "set" => self.set(&words[1..]),
            "stream" => self.stream(&words[1..]),
            "thread" => {
                want(2, "thread NAME")?;
                self.thread = match self
                    .workload
                    .threads
                    .iter()
                    .position(|thread| thread.name == words[1])
                {
                    Some(place) => place,
                    None => {
                        self.workload.threads.push(WorkloadThread {
                            name: words[1].to_owned(),
                            actions: Actions::default(),
                        });
                        self.workload.threads.len() - 1
                    }
                };
                Ok(())
            }
            "host" => {
                want(2, "host TIME")?;
                let time = self.time(words[1])?;
                self.act(Action::Compute(time));
                Ok(())
            }
            "sync" => {
                want(2, "sync STREAM")?;
                let stream = self.stream_number(words[1])?;
                self.act(Action::WaitQueue(stream));
                Ok(())
            }
            "sync-all" => {
                want(1, "sync-all")?;
                self.act(Action::WaitAll);
                Ok(())
            }
            "sync-event" => {
                want(2, "sync-event NAME")?;
                match self.named(words[1])? {
                    Named::Command(command) => self.act(Action::Wait(command)),
                    Named::User(_) => {
                        return Err(self.error("a thread cannot wait for a user event"));
                    }
                }
                Ok(())
            }
            "user-event" => {
                want(2, "user-event NAME")?;
                let number = self.workload.user_events;
                self.workload.user_events += 1;
                self.names.insert(words[1].to_owned(), Named::User(number));
                Ok(())
            }
            "set-event" => {
                want(2, "set-event NAME")?;
                match self.named(words[1])? {
                    Named::User(event) => self.act(Action::Set(event)),
                    Named::Command(_) => {
                        return Err(self.error(format!("\"{}\" is no user event", words[1])));
                    }
                }
                Ok(())
            }
            "record" => {
                if words.len() < 3 {
                    return Err(self.error("expected: record NAME STREAM"));
                }
                let stream = self.stream_number(words[2])?;
                let waits = self.after(&words[3..])?;
                self.command(
                    stream,
                    CommandKind::Marker,
                    Doer::Marker,
                    words[1],
                    0,
                    waits,
                );
                Ok(())
            }
            "wait" => {
                want(3, "wait STREAM NAME")?;
                let stream = self.stream_number(words[1])?;
                let waits = self.list(words[2])?;
                self.command(stream, CommandKind::Marker, Doer::Marker, "", 0, waits);
                Ok(())
            }
            word => match kind_of(word) {
                Some((kind, doer, named)) => self.work(words, kind, doer, named),
                None => Err(self.error(format!("\"{word}\" is no statement"))),
            },
        }
    }

    fn work(
        &mut self,
        words: &[&str],
        kind: CommandKind,
        doer: Doer,
        named: bool,
    ) -> Result<(), ScenarioError> {
        let form = if named {
            "STREAM NAME TIME [after NAME,NAME]"
        } else {
            "STREAM [after NAME,NAME]"
        };
        let needed = if named { 4 } else { 2 };
        if words.len() < needed {
            return Err(self.error(format!("expected: {} {form}", words[0])));
        }
        let stream = self.stream_number(words[1])?;
        let (name, time) = if named {
            (words[2], self.time(words[3])?)
        } else {
            ("", 0)
        };
        let waits = self.after(&words[needed..])?;
        self.command(stream, kind, doer, name, time, waits);
        Ok(())
    }

    fn after(&self, words: &[&str]) -> Result<Vec<Dependency>, ScenarioError> {
        match words {
            [] => Ok(Vec::new()),
            ["after"] => Err(self.error("expected a name behind \"after\"")),
            ["after", lists @ ..] => {
                let mut waits = Vec::new();
                for list in lists {
                    waits.extend(self.list(list)?);
                }
                Ok(waits)
            }
            [word, ..] => Err(self.error(format!("\"{word}\" is not expected here"))),
        }
    }

    fn list(&self, text: &str) -> Result<Vec<Dependency>, ScenarioError> {
        text.split(',')
            .filter(|name| !name.is_empty())
            .map(|name| {
                Ok(match self.named(name)? {
                    Named::Command(command) => Dependency::Command(command),
                    Named::User(event) => Dependency::User(event),
                })
            })
            .collect()
    }

    fn named(&self, name: &str) -> Result<Named, ScenarioError> {
        if let Some(found) = self.names.get(name) {
            return Ok(*found);
        }
        if let Some(cycle) = self.cycle(name) {
            return Err(self.error(format!("cycle: {}", cycle.join(" waits for "))));
        }
        Err(self.error(match self.given.get(name) {
            Some(line) => format!("\"{name}\" is enqueued only at line {line}, after this"),
            None => format!("\"{name}\" is not known"),
        }))
    }

    /// A cycle of waits through a name.
    fn cycle(&self, name: &str) -> Option<Vec<String>> {
        let mut path = vec![name.to_owned()];
        let mut stack = vec![self.edges.get(name)?.iter()];
        while let Some(edges) = stack.last_mut() {
            match edges.next() {
                Some(next) if next == name => {
                    path.push(next.clone());
                    return Some(path);
                }
                Some(next) if !path.contains(next) => {
                    if let Some(more) = self.edges.get(next) {
                        path.push(next.clone());
                        stack.push(more.iter());
                    }
                }
                Some(_) => {}
                None => {
                    stack.pop();
                    path.pop();
                }
            }
        }
        None
    }

    fn time(&self, text: &str) -> Result<u64, ScenarioError> {
        parse_time(text).map_err(|reason| self.error(reason))
    }

    fn stream_number(&self, name: &str) -> Result<u32, ScenarioError> {
        self.streams
            .get(name)
            .copied()
            .ok_or_else(|| self.error(format!("stream \"{name}\" is not known")))
    }

    fn act(&mut self, action: Action) {
        self.workload.threads[self.thread].actions.push(action);
    }

    fn stream(&mut self, words: &[&str]) -> Result<(), ScenarioError> {
        let Some((name, options)) = words.split_first() else {
            return Err(self.error("expected: stream NAME"));
        };
        if self.streams.contains_key(*name) {
            return Err(self.error(format!("stream \"{name}\" is there already")));
        }
        let mut queue = WorkloadQueue {
            name: if *name == "null" {
                "null stream".to_owned()
            } else {
                format!("stream {name}")
            },
            priority: 1,
            ..WorkloadQueue::default()
        };
        let mut options = options.iter();
        while let Some(option) = options.next() {
            match *option {
                "nonblocking" => queue.non_blocking = true,
                "out-of-order" => queue.out_of_order = true,
                "high" => queue.priority = 2,
                "low" => queue.priority = 0,
                "gpu" => {
                    let number = options.next().and_then(|text| text.parse().ok());
                    queue.device = number.filter(|number| *number < 64).ok_or_else(|| {
                        self.error("expected a number from 0 to 63 behind \"gpu\"")
                    })?;
                }
                other => return Err(self.error(format!("\"{other}\" is no option of a stream"))),
            }
        }
        self.workload.devices = self.workload.devices.max(queue.device + 1);
        self.streams
            .insert((*name).to_owned(), self.workload.queues.len() as u32);
        self.workload.queues.push(queue);
        Ok(())
    }

    fn set(&mut self, words: &[&str]) -> Result<(), ScenarioError> {
        for word in words {
            let Some((name, value)) = word.split_once('=') else {
                return Err(self.error(format!("\"{word}\": expected NAME=VALUE")));
            };
            let number = |most: usize| -> Result<usize, ScenarioError> {
                let number = value.parse().ok();
                number
                    .filter(|number| (1..=most).contains(number))
                    .ok_or_else(|| {
                        self.error(format!(
                            "{name}={value}: expected a number from 1 to {most}"
                        ))
                    })
            };
            match name {
                "hw-queues" => self.policy.hw_queues = number(MOST_HW_QUEUES)?,
                "batch" => self.policy.batch = number(MOST_OTHERS)?,
                "copy-engines" => self.policy.copy_engines = number(MOST_COPY_ENGINES)?,
                "gpus" => self.policy.gpus = Some(number(MOST_GPUS)?),
                "concurrent-kernels" => {
                    self.policy.concurrent_kernels = Some(number(MOST_OTHERS)?);
                }
                "launch-cost" => self.policy.launch_cost = Some(self.time(value)?),
                "worker-latency" => self.policy.worker_latency = self.time(value)?,
                "dispatch" => {
                    self.policy.direct_dispatch = match value {
                        "worker" => false,
                        "direct" => true,
                        _ => return Err(self.error("dispatch is worker or direct")),
                    };
                }
                "flush" => {
                    self.policy.flush = FlushRule::from_name(value)
                        .ok_or_else(|| self.error("flush is batch, each or wait"))?;
                }
                "wait" => {
                    self.policy.cpu_wait = match value {
                        "barrier" => false,
                        "cpu" => true,
                        _ => return Err(self.error("wait is barrier or cpu")),
                    };
                }
                _ => return Err(self.error(format!("\"{name}\" cannot be set"))),
            }
        }
        Ok(())
    }

    fn command(
        &mut self,
        stream: u32,
        kind: CommandKind,
        doer: Doer,
        name: &str,
        duration: u64,
        mut waits: Vec<Dependency>,
    ) {
        self.null_stream_rules(stream, &mut waits);
        let title = if name.is_empty() { kind.name() } else { name };
        let names = &mut self.workload.names;
        let number = *self
            .name_numbers
            .entry(title.to_owned())
            .or_insert_with(|| {
                names.push(title.to_owned());
                names.len() as u32 - 1
            });
        let shape = self.workload.shape_number(CommandShape {
            queue: stream,
            kind,
            doer,
            name: number,
        });
        let index = self.workload.push(shape, duration, waits);
        self.last.insert(stream, index);
        if !name.is_empty() {
            self.names.insert(name.to_owned(), Named::Command(index));
        }
        self.act(Action::Enqueue(index, LAUNCH_COST));
    }

    /// HIP's rules: work on the null stream waits for all blocking streams of its device, and they for it.
    fn null_stream_rules(&self, stream: u32, waits: &mut Vec<Dependency>) {
        let Some(null) = self.streams.get("null").copied() else {
            return;
        };
        let queue = &self.workload.queues[stream as usize];
        if stream == null {
            let mut others: Vec<u32> = self
                .last
                .iter()
                .filter(|(other, _)| {
                    let other = &self.workload.queues[**other as usize];
                    !other.non_blocking && other.device == queue.device
                })
                .filter(|(other, _)| **other != null)
                .map(|(_, command)| *command)
                .collect();
            others.sort_unstable();
            waits.extend(others.into_iter().map(Dependency::Command));
        } else if !queue.non_blocking
            && queue.device == self.workload.queues[null as usize].device
            && let Some(last) = self.last.get(&null)
        {
            waits.push(Dependency::Command(*last));
        }
    }
}

/// The kind of a statement that enqueues, who does it, and whether it has a name and a time.
fn kind_of(word: &str) -> Option<(CommandKind, Doer, bool)> {
    Some(match word {
        "kernel" => (CommandKind::Kernel, Doer::Kernel, true),
        "copy-to" => (CommandKind::WriteBuffer, Doer::Copy, true),
        "copy-from" => (CommandKind::ReadBuffer, Doer::Copy, true),
        "copy-within" => (CommandKind::CopyBuffer, Doer::Copy, true),
        "copy-pageable" => (CommandKind::ReadBuffer, Doer::Host, true),
        "fill" => (CommandKind::FillBuffer, Doer::Host, true),
        "host-function" => (CommandKind::HostFunction, Doer::Host, true),
        "marker" => (CommandKind::Marker, Doer::Marker, false),
        "barrier" => (CommandKind::Barrier, Doer::Marker, false),
        _ => return None,
    })
}
