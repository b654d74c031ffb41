//! The driver of a replay: plays the workload's threads, the runtime's workers and the device, happening by happening.

mod enqueue;

use std::{collections::HashMap, io::Cursor, sync::Arc};

use super::{
    Action, ActionIter, Dependency, FlushRule, MOST_COPY_ENGINES, MOST_GPUS, MOST_HW_QUEUES,
    Policy, Workload,
    coverage::coverage,
    device::{self, Happening, Waiter, sim},
};
use crate::{
    Config, Error, Event, HostFlags, HostQueue, Kernel, Priority, QueueOptions, Result, Runtime,
    Status,
    queue::{Outcome as Drained, QueueCore, Role},
    signal::HwSignal,
    trace::{self, NameId, Trace},
};

/// When a command was at work, in virtual nanoseconds. Both 0 for commands that take no time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Start.
    pub start: u64,
    /// End.
    pub end: u64,
}

/// What came of a replay.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// From time 0 to the end of the last thread and command.
    pub makespan: u64,
    /// Nanoseconds in which some kernel, copy or host operation was at work.
    pub busy: u64,
    /// Nanoseconds in which more than one was.
    pub overlap: u64,
    /// Sum of all their times.
    pub work: u64,
    /// Nanoseconds in which threads waited for commands, summed.
    pub host_wait: u64,
    /// For each command of the workload, when it was at work.
    pub spans: Vec<Span>,
    /// Hardware queues that were made.
    pub hw_queues: usize,
    /// The schedule as a trace, if it was asked for.
    pub trace: Option<Trace>,
}

impl Outcome {
    /// Nanoseconds in which nothing was at work.
    pub fn idle(&self) -> u64 {
        self.makespan.saturating_sub(self.busy)
    }
}

struct Thread<'a> {
    actions: ActionIter<'a>,
    /// What it waits for, and since when.
    waits: Vec<Event>,
    since: u64,
    call: Option<(u64, u64)>,
    ended: bool,
}

struct Driver<'a> {
    workload: &'a Workload,
    policy: &'a Policy,
    runtime: Arc<Runtime>,
    queues: Vec<Arc<HostQueue>>,
    /// Place of a queue by the address of its core, for what the pool gives.
    places: HashMap<usize, usize>,
    devices: Vec<usize>,
    kernels: HashMap<(usize, u32), Arc<Kernel>>,
    host_memory: u64,
    /// Events that something still refers to, and how often.
    events: HashMap<u32, Event>,
    references: Vec<u8>,
    users: Vec<Event>,
    threads: Vec<Thread<'a>>,
    host_wait: u64,
    call_names: HashMap<&'static str, NameId>,
    record: bool,
    polls: u64,
}

/// A command that is referred to this often keeps its event to the end.
const MANY: u8 = u8::MAX;

/// Looks at a queue that cannot go on and does not say when, in a row without any other happening.
const MAX_POLLS: u64 = 100_000;

/// Plays a workload under a policy. `record`: also give the schedule as a trace (needs some hundred bytes for each command).
///
/// # Errors
/// [`Error::InvalidValue`] for a workload that contradicts itself, or whose threads wait for each other for ever; the text says for what.
pub fn run(workload: &Workload, policy: &Policy, record: bool) -> Result<Outcome> {
    check(workload)?;
    let devices = policy.gpus.unwrap_or(workload.devices).clamp(1, MOST_GPUS);
    let entered = device::enter(
        workload,
        devices,
        policy.copy_engines.clamp(1, MOST_COPY_ENGINES),
        policy.concurrent_kernels.unwrap_or(usize::MAX).max(1),
    );
    if record {
        trace::record::begin_memory(workload.threads.len() + 1);
    }
    let result = play(workload, policy, record, devices);
    let image = record.then(trace::record::end_memory);
    let mut outcome = result?;
    if let Some(image) = image {
        let mut trace = Trace::from_reader(Cursor::new(image))
            .map_err(|error| Error::InvalidValue(error.to_string()))?;
        trace.arguments = vec!["replay".into()];
        trace.problems.extend(workload.problems.iter().cloned());
        outcome.trace = Some(trace);
    }
    drop(entered);
    Ok(outcome)
}

fn check(workload: &Workload) -> Result<()> {
    let bad = |text: String| Err(Error::InvalidValue(text));
    for shape in &workload.shapes {
        if shape.queue as usize >= workload.queues.len() {
            return bad(format!(
                "commands are for stream {}, which is not there",
                shape.queue
            ));
        }
    }
    for index in 0..workload.commands.len() as u32 {
        for wait in workload.waits(index) {
            let known = match wait {
                Dependency::Command(other) => (*other as usize) < workload.commands.len(),
                Dependency::User(event) => *event < workload.user_events,
            };
            if !known {
                return bad(format!(
                    "command {index} waits for something that is not there"
                ));
            }
        }
    }
    Ok(())
}

fn play(workload: &Workload, policy: &Policy, record: bool, devices: usize) -> Result<Outcome> {
    let config = Config {
        direct_dispatch: policy.direct_dispatch,
        cpu_wait: policy.cpu_wait,
        max_hw_queues: policy.hw_queues.clamp(1, MOST_HW_QUEUES),
        max_batch_size: match policy.flush {
            FlushRule::Each => 1,
            _ => policy.batch.max(1),
        },
        large_bar: false,
        manual: true,
        ..Config::default()
    };
    let runtime = Runtime::new(device::table(), config)?;
    let mut driver = Driver::new(workload, policy, runtime, record, devices)?;
    let played = driver.play();
    let outcome = played.map(|()| driver.outcome());
    // The queues end before the device does.
    for queue in &driver.queues {
        let _ = queue.query();
    }
    drop(driver);
    outcome
}

impl<'a> Driver<'a> {
    fn new(
        workload: &'a Workload,
        policy: &'a Policy,
        runtime: Arc<Runtime>,
        record: bool,
        devices: usize,
    ) -> Result<Self> {
        let mut queues = Vec::new();
        let mut of_device = Vec::new();
        for (index, queue) in workload.queues.iter().enumerate() {
            let place = if policy.gpus.is_some() {
                index % devices
            } else {
                queue.device.min(devices - 1)
            };
            let made = HostQueue::new(
                &runtime.devices()[place],
                QueueOptions {
                    priority: match queue.priority {
                        0 => Priority::Low,
                        2 => Priority::High,
                        _ => Priority::Normal,
                    },
                    non_blocking: queue.non_blocking,
                    out_of_order: queue.out_of_order,
                    ..QueueOptions::default()
                },
            )?;
            made.set_name(&queue.name);
            queues.push(made);
            of_device.push(place);
        }
        for device in runtime.devices() {
            runtime.allocate_device(device, device::DEVICE_SIZE as usize, false)?;
        }
        let host_memory = runtime
            .allocate_host(&runtime.devices()[0], 4096, HostFlags::empty())?
            .device_address();
        let mut references = vec![0_u8; workload.commands.len()];
        for dependency in &workload.dependencies {
            if let Dependency::Command(command) = dependency {
                let count = &mut references[*command as usize];
                *count = count.saturating_add(1);
            }
        }
        let threads = workload.threads.iter();
        for action in threads.flat_map(|thread| thread.actions.iter()) {
            if let Action::Wait(command) = action
                && let Some(count) = references.get_mut(command as usize)
            {
                *count = count.saturating_add(1);
            }
        }
        let places = queues
            .iter()
            .enumerate()
            .map(|(place, queue)| (Arc::as_ptr(queue.core()) as usize, place))
            .collect();
        Ok(Self {
            workload,
            policy,
            runtime,
            queues,
            places,
            devices: of_device,
            kernels: HashMap::new(),
            host_memory,
            events: HashMap::new(),
            references,
            users: (0..workload.user_events).map(|_| Event::user()).collect(),
            threads: workload
                .threads
                .iter()
                .map(|thread| Thread {
                    actions: thread.actions.iter(),
                    waits: Vec::new(),
                    since: 0,
                    call: None,
                    ended: false,
                })
                .collect(),
            host_wait: 0,
            call_names: HashMap::new(),
            record,
            polls: 0,
        })
    }

    fn play(&mut self) -> Result<()> {
        for thread in 0..self.threads.len() {
            sim(|sim| sim.at(0, Happening::Thread(thread)));
        }
        self.play_happenings()?;
        self.drain_rest()?;
        if sim(|sim| sim.now) == u64::MAX {
            return Err(Error::InvalidValue(
                "the replay's clock is at its end: its times add up to more than 584 years".into(),
            ));
        }
        if self.threads.iter().any(|thread| !thread.ended) {
            let mut text =
                String::from("the replay is stuck: a thread waits for what never ends\n");
            crate::watch::state(&self.runtime, &mut text);
            return Err(Error::InvalidValue(text));
        }
        Ok(())
    }

    /// Plays all that is to happen and what follows from it; says whether there was anything.
    fn play_happenings(&mut self) -> Result<bool> {
        let workers = self.threads.len();
        let mut any = false;
        while let Some(what) = sim(|sim| sim.next()) {
            any = true;
            match what {
                Happening::Thread(thread) => {
                    self.switch(thread);
                    self.thread(thread)?;
                }
                Happening::Worker(queue) => {
                    self.switch(workers);
                    self.worker(queue)?;
                }
                _ => self.polls = 0,
            }
            self.settle();
        }
        Ok(any)
    }

    /// Looks once more at all queues, and plays what follows from that.
    fn drain_rest(&mut self) -> Result<()> {
        let workers = self.threads.len();
        loop {
            self.switch(workers);
            for place in 0..self.queues.len() {
                if !self.queues[place].query() {
                    sim(|sim| sim.at(sim.now, Happening::Worker(place)));
                }
            }
            let before = self.unfinished();
            let any = self.play_happenings()?;
            if !any || self.unfinished() == before {
                return Ok(());
            }
        }
    }

    fn unfinished(&self) -> (usize, usize) {
        (
            self.queues.iter().filter(|queue| !queue.query()).count(),
            self.threads
                .iter()
                .map(|thread| thread.actions.left())
                .sum(),
        )
    }

    fn switch(&self, thread: usize) {
        if self.record {
            trace::record::switch_thread(thread);
        }
    }

    /// After each happening: queues that were scheduled or woken get a worker, threads whose wait is over go on.
    fn settle(&mut self) {
        loop {
            let mut any = false;
            for place in sim(|sim| std::mem::take(&mut sim.woken)) {
                any = true;
                self.queues[place].core().end_watch();
                let latency = self.policy.worker_latency;
                sim(|sim| sim.at(sim.now + latency, Happening::Worker(place)));
            }
            while let Some(core) = self.runtime.take_ready() {
                any = true;
                if let Some(place) = self.place(&core) {
                    let latency = self.policy.worker_latency;
                    sim(|sim| sim.at(sim.now + latency, Happening::Worker(place)));
                }
            }
            for thread in 0..self.threads.len() {
                if !self.threads[thread].waits.is_empty() {
                    self.switch(thread);
                    any |= self.look_at_wait(thread);
                }
            }
            if !any {
                return;
            }
        }
    }

    fn place(&self, core: &Arc<QueueCore>) -> Option<usize> {
        self.places.get(&(Arc::as_ptr(core) as usize)).copied()
    }

    /// What a thread of the pool does with a ready queue.
    fn worker(&mut self, place: usize) -> Result<()> {
        let core = self.queues[place].core().clone();
        core.unschedule();
        loop {
            let signal = match core.run(Role::Worker, None) {
                Drained::Idle => match core.signal_to_watch() {
                    Some(signal) => signal,
                    None => return Ok(()),
                },
                Drained::WaitSignal(signal) | Drained::WaitRoom(signal) => signal,
                Drained::Poll => {
                    self.polls += 1;
                    if self.polls > MAX_POLLS {
                        return Err(Error::InvalidValue(format!(
                            "the replay is stuck: {} waits for a value or for room for ever",
                            core.title()
                        )));
                    }
                    sim(|sim| sim.at(sim.now + 1000, Happening::Worker(place)));
                    return Ok(());
                }
                Drained::Busy | Drained::WaitEvent(_) => return Ok(()),
                Drained::NeedWorker | Drained::Reached => continue,
            };
            if !core.begin_watch() {
                return Ok(());
            }
            if watch(&signal, place) {
                return Ok(());
            }
            core.end_watch();
        }
    }

    /// Whether a thread's wait is over (then it goes on).
    fn look_at_wait(&mut self, thread: usize) -> bool {
        while let Some(event) = self.threads[thread].waits.last().cloned() {
            if event.query().is_terminal() {
                if self.record {
                    trace::record::wait_end(0, event.0.trace_id());
                }
                self.threads[thread].waits.pop();
                if let Some(next) = self.threads[thread].waits.last()
                    && self.record
                {
                    trace::record::wait_begin(0, next.0.trace_id());
                }
                continue;
            }
            return false;
        }
        let now = sim(|sim| sim.now);
        self.host_wait += now - self.threads[thread].since;
        self.end_call(thread);
        sim(|sim| sim.at(now, Happening::Thread(thread)));
        true
    }

    fn begin_call(&mut self, thread: usize, name: &'static str) {
        if self.record {
            let id = self.call_names.entry(name).or_default();
            self.threads[thread].call = Some(trace::call_begin(id, name));
        }
    }

    fn end_call(&mut self, thread: usize) {
        if let Some(call) = self.threads[thread].call.take() {
            trace::call_end(call, 0);
        }
    }

    /// A thread goes on until it is busy or waits.
    fn thread(&mut self, thread: usize) -> Result<()> {
        self.end_call(thread);
        loop {
            let Some(action) = self.threads[thread].actions.next() else {
                self.threads[thread].ended = true;
                return Ok(());
            };
            match action {
                Action::Compute(0) => {}
                Action::Compute(time) => {
                    sim(|sim| sim.at(sim.now.saturating_add(time), Happening::Thread(thread)));
                    return Ok(());
                }
                Action::Enqueue(command, cost) => {
                    let cost = self.policy.launch_cost.unwrap_or(cost);
                    if self.record {
                        let what = &self.workload.commands[command as usize];
                        self.begin_call(thread, self.workload.shape(what).kind.name());
                    }
                    self.enqueue(command)?;
                    if cost > 0 {
                        sim(|sim| sim.at(sim.now.saturating_add(cost), Happening::Thread(thread)));
                        return Ok(());
                    }
                    self.end_call(thread);
                }
                Action::Set(user) => {
                    if let Some(event) = self.users.get(user as usize) {
                        event.set_user_status(Status::COMPLETE);
                    }
                }
                Action::Wait(command) => {
                    let event = self.event(command);
                    if self.wait(thread, "wait", event.into_iter().collect()) {
                        return Ok(());
                    }
                }
                Action::WaitQueue(queue) => {
                    let queue = &self.queues[queue as usize];
                    let events = queue.core().unfinished().into_iter().map(Event).collect();
                    if self.wait(thread, "synchronize stream", events) {
                        return Ok(());
                    }
                }
                Action::WaitAll => {
                    let queues = self.queues.iter();
                    let events = queues
                        .flat_map(|queue| queue.core().unfinished())
                        .map(Event)
                        .collect();
                    if self.wait(thread, "synchronize all", events) {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Begins a wait; false if there is nothing to wait for.
    fn wait(&mut self, thread: usize, name: &'static str, events: Vec<Event>) -> bool {
        let Some(last) = events.last().cloned() else {
            return false;
        };
        self.begin_call(thread, name);
        if self.record {
            trace::record::wait_begin(0, last.0.trace_id());
        }
        let now = sim(|sim| sim.now);
        self.threads[thread].since = now;
        self.threads[thread].waits = events;
        // Waiters help: what is ready goes to the device without a worker.
        if let Some(core) = last.0.core() {
            core.run(Role::Helper, Some(&last.0));
        }
        true
    }

    fn outcome(&mut self) -> Outcome {
        let (now, spans) = sim(|sim| (sim.now, std::mem::take(&mut sim.times)));
        let covered = coverage(&spans);
        Outcome {
            makespan: now,
            busy: covered.busy,
            overlap: covered.overlap,
            work: covered.work,
            host_wait: self.host_wait,
            spans,
            hw_queues: sim(|sim| sim.queue_count()),
            trace: None,
        }
    }
}

/// Registers a host queue's wait for a signal; false if that is done.
fn watch(signal: &HwSignal, place: usize) -> bool {
    sim(|sim| sim.wait_for(signal.raw(), Waiter::Queue(place)))
}
