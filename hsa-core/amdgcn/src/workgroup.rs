//! Work-groups: the waves of one group on one thread, switched at barriers, sleeps and slice ends.
//!
//! A wave runs until it must wait, so that its registers stay in the L1 cache. A slice of a group ends when all its waves have
//! ended, when all of them wait, or when the budget is spent; the group can then go on on any other thread. Groups are reused, with
//! their registers, LDS and scratch, by the thread that runs them: no allocation after warm-up.
//!
//! LDS and scratch begin with whatever an earlier group of this process left there, as on hardware.

use std::{borrow::Cow, cell::RefCell, collections::VecDeque, fmt, ops::Range};

use crate::{
    dispatch::Job,
    engine::Engine,
    fault::{
        Fault,
        state::{GroupState, WaveState},
    },
    interp::{
        barrier::{Barriers, Kind, Membership},
        level::Level,
        memory::other,
        run::{self, Exit},
        wave::{Beginning, Wave, slot},
    },
    launch::{Extent, GroupShape, WorkitemIds},
    memory::MapCache,
    wave_sync::Request,
};

/// Back edges that a wave may take before the next wave of its group has its turn.
const WAVE_BUDGET: i64 = 2_000;

/// Back edges that a group may take in one slice: short enough that a memory map's writers need not wait long.
const GROUP_BUDGET: i64 = 8_000;

/// Groups that a worker keeps for reuse.
const KEEP: usize = 64;

/// What ended a slice.
#[derive(Debug)]
pub(crate) enum GroupExit {
    /// All waves have ended.
    Done,
    /// Waves are left.
    Yield {
        /// Some wave got on; otherwise all of them wait for something outside the group.
        progress: bool,
    },
    /// A wave cannot go on.
    Fault(Box<Fault>),
}

/// Where a wave of a group stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ready,
    AtBarrier(Kind),
    /// At `ds_gws_barrier` of this resource, since this phase of it.
    AtGridBarrier {
        resource: usize,
        phase: u32,
    },
    /// At `ds_gws_sema_p` of this resource.
    AtSemaphore(usize),
    Ended,
}

/// Does what a wave asks of a resource of global wave sync, and says where the wave stands after it.
fn sync(job: &Job, resource: usize, request: Request) -> State {
    let semaphore = &job.info.gpu.semaphores.of(resource);
    match request {
        Request::Init(value) => semaphore.init(value),
        Request::Add(count) => semaphore.add(count),
        Request::ReleaseAll => semaphore.release_all(),
        Request::Take => {
            if !semaphore.take() {
                return State::AtSemaphore(resource);
            }
        }
        Request::Barrier(waves) => {
            if let Some(phase) = job.grid_barriers[resource].arrive(waves) {
                return State::AtGridBarrier { resource, phase };
            }
        }
    }
    State::Ready
}

/// Bytes with 64-byte alignment, reused.
#[derive(Debug, Default)]
struct Buffer {
    lines: Vec<Line>,
}

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line([u8; 64]);

impl Buffer {
    fn reserve(&mut self, bytes: usize) {
        let lines = bytes.div_ceil(64);
        if self.lines.len() < lines {
            self.lines.resize(lines, Line([0; 64]));
        }
    }

    fn as_mut_ptr(&mut self) -> *mut u8 {
        self.lines.as_mut_ptr().cast()
    }
}

/// A work-group that has begun.
pub(crate) struct Group {
    number: u64,
    id: [u32; 3],
    extent: Extent,
    /// Where its waves say that they run.
    compute_unit: u32,
    waves: Vec<Wave>,
    states: Vec<State>,
    /// Waves in use; the vectors may hold more.
    count: usize,
    live: usize,
    barriers: Barriers,
    lds: Buffer,
    scratch: Buffer,
    ids: WorkitemIds,
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group")
            .field("id", &self.id)
            .field("live", &self.live)
            .finish_non_exhaustive()
    }
}

impl Group {
    fn empty() -> Box<Self> {
        Box::new(Self {
            number: 0,
            id: [0; 3],
            extent: [0; 3],
            compute_unit: 0,
            waves: Vec::new(),
            states: Vec::new(),
            count: 0,
            live: 0,
            barriers: Barriers::default(),
            lds: Buffer::default(),
            scratch: Buffer::default(),
            ids: WorkitemIds::default(),
        })
    }

    /// Prepares the group with a number.
    fn start(&mut self, job: &Job, beginning: &Beginning, number: u64) {
        let id = job.plan.group_id(number);
        self.settle(job, job.plan.extent(&job.info, id));
        self.number = number;
        self.compute_unit = (number % u64::from(job.info.gpu.compute_units.max(1))) as u32;
        self.begin(job, beginning, id);
    }

    /// As [`start`](Self::start), for the next number of the same job.
    fn follow(&mut self, job: &Job, beginning: &Beginning) {
        let id = job.plan.id_after(self.id);
        let extent = job.plan.extent(&job.info, id);
        if extent != self.extent {
            self.settle(job, extent);
        }
        self.number += 1;
        self.compute_unit += 1;
        if self.compute_unit >= job.info.gpu.compute_units {
            self.compute_unit = 0;
        }
        self.begin(job, beginning, id);
    }

    /// Makes room for groups of a job that have this extent, and prepares what is the same in all of them.
    fn settle(&mut self, job: &Job, extent: Extent) {
        let plan = &job.plan;
        self.extent = extent;
        let lanes = plan.wave_size();
        self.count = extent.iter().product::<u32>().div_ceil(lanes) as usize;
        if self.waves.len() < self.count {
            self.waves.resize_with(self.count, Wave::new);
            self.states.resize(self.count, State::Ended);
        }
        self.lds.reserve(plan.lds_size as usize);
        let lane_bytes = plan.scratch_size as usize;
        let wave_bytes = (lane_bytes * lanes as usize).next_multiple_of(64);
        self.scratch.reserve(wave_bytes * self.count);
        let (lds, scratch) = (self.lds.as_mut_ptr(), self.scratch.as_mut_ptr());
        let barriers = &raw mut self.barriers;
        plan.fill_workitem_ids(&mut self.ids, extent);
        for (n, wave) in self.waves[..self.count].iter_mut().enumerate() {
            plan.bind_wave(wave);
            wave.wave_in_group = n as u32;
            wave.hardware_id.simd = n as u32 % 4;
            wave.hardware_id.slot = n as u32 / 4;
            wave.barriers = barriers;
            wave.lds = lds;
            wave.lds_size = plan.lds_size;
            // SAFETY: the buffer holds `count` areas of `wave_bytes`.
            wave.scratch = unsafe { scratch.add(n * wave_bytes) };
            wave.scratch_size = plan.scratch_size;
        }
    }

    /// Brings everything that a group changes to where the group with this id begins.
    fn begin(&mut self, job: &Job, beginning: &Beginning, id: [u32; 3]) {
        if Level::current() == Level::Portable {
            self.begin_at_any_level(job, beginning, id);
        } else {
            // SAFETY: the level says that the host has AVX2.
            unsafe { self.begin_avx2(job, beginning, id) }
        }
    }

    /// As [`begin`](Self::begin): registers are copied as whole vectors.
    #[target_feature(enable = "avx2")]
    fn begin_avx2(&mut self, job: &Job, beginning: &Beginning, id: [u32; 3]) {
        self.begin_at_any_level(job, beginning, id);
    }

    #[inline(always)]
    fn begin_at_any_level(&mut self, job: &Job, beginning: &Beginning, id: [u32; 3]) {
        let plan = &job.plan;
        let shape = GroupShape {
            id,
            items: self.extent.iter().product(),
            waves: self.count as u32,
        };
        self.id = id;
        self.live = self.count;
        self.barriers.start(shape.waves);
        self.states[..self.count].fill(State::Ready);
        let lanes = plan.wave_size();
        for (n, wave) in self.waves[..self.count].iter_mut().enumerate() {
            plan.begin_wave(wave, beginning, &shape, n as u32 * lanes, &self.ids);
            wave.workgroup = id;
            wave.hardware_id.compute_unit = self.compute_unit;
            wave.membership = Membership::default();
        }
    }

    /// What the waves hold that have not ended.
    pub(crate) fn state(&mut self, job: &Job) -> GroupState {
        let program = job.plan.program.as_ref();
        let vgprs = program.map_or(0, |program| program.config().vgprs as usize);
        let waves = self.waves[..self.count]
            .iter_mut()
            .zip(&self.states)
            .filter(|(_, state)| **state != State::Ended)
            .map(|(wave, state)| {
                let mut registers: Vec<u32> = (0..wave.vgpr_count as usize)
                    .flat_map(|register| wave.vgpr_lanes(register).to_vec())
                    .collect();
                let agprs = registers.split_off((vgprs * wave.lanes()).min(registers.len()));
                let bytes = wave.scratch_size as usize * wave.lanes();
                // SAFETY: the wave's part of the group's scratch, which no wave writes to now; `start` has reserved it.
                let scratch = unsafe { std::slice::from_raw_parts(wave.scratch, bytes) };
                let place = wave.hardware_id;
                WaveState {
                    wave: wave.wave_in_group,
                    at_barrier: *state != State::Ready,
                    lanes: wave.lanes() as u32,
                    pc: wave.pc(),
                    exec: wave.exec(),
                    vcc: wave.vcc(),
                    scc: wave.sgpr[slot::SCC] != 0,
                    m0: wave.sgpr[wave.m0],
                    mode: wave.mode,
                    status: wave.status,
                    trap_status: wave.trap_status,
                    flat_scratch: wave.flat_scratch,
                    place: [place.compute_unit, place.simd, place.slot],
                    sgprs: wave.sgpr[..slot::VCC].to_vec(),
                    ttmps: wave.sgpr[slot::TTMP0..slot::TTMP0 + 16].to_vec(),
                    vgprs: registers,
                    agprs,
                    scratch: scratch.to_vec(),
                }
            })
            .collect();
        let lds = job.plan.lds_size as usize;
        // SAFETY: `start` has reserved that much, and no wave writes to it now.
        let lds = unsafe { std::slice::from_raw_parts(self.lds.as_mut_ptr(), lds) }.to_vec();
        GroupState {
            workgroup: self.id,
            lds,
            waves,
        }
    }

    /// The waves will never go on.
    pub(crate) fn abandon(&mut self, job: &Job) {
        for state in &mut self.states[..self.count] {
            if let State::AtSemaphore(resource) = *state {
                job.info.gpu.semaphores.of(resource).forget();
            }
            *state = State::Ended;
        }
    }

    /// The fault of a group whose waves all wait at barriers that only they could complete.
    fn deadlock(&self, job: &Job, engine: &Engine) -> Option<Box<Fault>> {
        let mut first = None;
        for (wave, state) in self.waves.iter().zip(&self.states[..self.count]) {
            match state {
                State::Ended => {}
                State::AtBarrier(_) => first = first.or(Some(wave)),
                _ => return None,
            }
        }
        let exit = Exit::Other(other::DEADLOCK);
        first.map(|wave| crate::fault::report::of_wave(job, engine, wave, exit))
    }

    /// Runs the waves until the slice is over. While groups end before that, the next of `following` begins in their place, if
    /// they are the next ones after this group. Counts the groups that end.
    pub(crate) fn run_slice(
        &mut self,
        job: &Job,
        engine: &Engine,
        cache: &mut MapCache,
        beginning: &Beginning,
        following: &mut Range<u64>,
        ended: &mut u64,
    ) -> GroupExit {
        let slice = cache.begin(&job.info.gpu.map);
        let context: *mut () = (&raw mut *slice.cache).cast();
        let mut budget = GROUP_BUDGET;
        let mut environment = run::Environment::enter();
        loop {
            let exit = self.run_waves(job, engine, context, &mut budget, &mut environment);
            if !matches!(exit, GroupExit::Done) {
                return exit;
            }
            *ended += 1;
            if budget <= 0 || following.is_empty() || following.start != self.number + 1 {
                return exit;
            }
            following.start += 1;
            self.follow(job, beginning);
        }
    }

    /// Runs the waves of the group until it ends or the slice is over. `budget` is what is left of it.
    #[inline(always)]
    fn run_waves(
        &mut self,
        job: &Job,
        engine: &Engine,
        context: *mut (),
        budget: &mut i64,
        environment: &mut run::Environment,
    ) -> GroupExit {
        loop {
            let mut progress = false;
            for n in 0..self.count {
                match self.states[n] {
                    State::Ready => {}
                    State::AtBarrier(kind)
                        if self.barriers.pass(&mut self.waves[n].membership, kind) =>
                    {
                        self.states[n] = State::Ready;
                    }
                    State::AtGridBarrier { resource, phase }
                        if job.grid_barriers[resource].has_passed(phase) =>
                    {
                        self.states[n] = State::Ready;
                    }
                    State::AtSemaphore(resource)
                        if job.info.gpu.semaphores.of(resource).resume() =>
                    {
                        self.states[n] = State::Ready;
                    }
                    _ => continue,
                }
                let wave = &mut self.waves[n];
                wave.context = context;
                loop {
                    // SAFETY: the wave has begun in a slot that is bound to the plan's program, which the job keeps alive; it has not ended.
                    // Context, LDS and scratch are what the memory handlers expect, valid for this slice.
                    unsafe { run::advance(wave, WAVE_BUDGET, environment) };
                    #[cfg(feature = "counters")]
                    job.count(std::mem::take(&mut wave.instructions));
                    *budget -= WAVE_BUDGET - wave.budget.max(0);
                    match wave.exit {
                        Exit::Barrier(kind) => {
                            self.states[n] = State::AtBarrier(kind);
                            progress = true;
                        }
                        Exit::EndProgram => {
                            self.states[n] = State::Ended;
                            self.live -= 1;
                            self.barriers.end(&wave.membership);
                            progress = true;
                        }
                        Exit::BudgetSpent => {
                            progress = true;
                            if let Some(program) = &job.plan.program {
                                program.make_native();
                            }
                        }
                        Exit::Sleep(_) => {}
                        Exit::Interrupt(event_id) => {
                            job.interrupt(event_id);
                            continue;
                        }
                        Exit::WaveSync { resource, request } => {
                            progress = true;
                            match sync(job, usize::from(resource), request) {
                                State::Ready => continue,
                                waits => self.states[n] = waits,
                            }
                        }
                        // The debugger's trap: without one it does nothing.
                        Exit::Trap(3) => continue,
                        other => {
                            return GroupExit::Fault(crate::fault::report::of_wave(
                                job, engine, wave, other,
                            ));
                        }
                    }
                    break;
                }
            }
            if self.live == 0 {
                return GroupExit::Done;
            }
            if !progress {
                if let Some(fault) = self.deadlock(job, engine) {
                    return GroupExit::Fault(fault);
                }
                return GroupExit::Yield { progress: false };
            }
            if *budget <= 0 {
                return GroupExit::Yield { progress: true };
            }
        }
    }
}

/// What a thread that runs groups keeps between them.
#[derive(Debug, Default)]
pub(crate) struct Worker {
    pub(crate) cache: MapCache,
    #[expect(
        clippy::vec_box,
        reason = "groups move between lists and threads; as boxes they move as pointers"
    )]
    free: Vec<Box<Group>>,
    lists: Vec<VecDeque<Box<Group>>>,
}

thread_local! {
    static WORKER: RefCell<Worker> = RefCell::default();
}

impl Worker {
    /// Calls something with the calling thread's worker.
    pub(crate) fn with<R>(call: impl FnOnce(&mut Worker) -> R) -> R {
        WORKER.with_borrow_mut(call)
    }

    /// A prepared group.
    pub(crate) fn start_group(
        &mut self,
        job: &Job,
        beginning: &Beginning,
        number: u64,
    ) -> Box<Group> {
        let mut group = self.free.pop().unwrap_or_else(Group::empty);
        group.start(job, beginning, number);
        group
    }

    /// What the waves of a job begin with: what they would all do alike is done, if it pays.
    pub(crate) fn beginning<'a>(&mut self, job: &'a Job) -> Cow<'a, Beginning> {
        /// Groups from which on it pays.
        const MANY: u64 = 8;
        let mut beginning = Cow::Borrowed(&job.plan.beginning);
        if let Some(end) = job.plan.common_end
            && job.plan.groups_total >= MANY
            && !cfg!(feature = "counters")
        {
            let mut group = self.start_group(job, &beginning, 0);
            let slice = self.cache.begin(&job.info.gpu.map);
            let wave = &mut group.waves[0];
            wave.context = (&raw mut *slice.cache).cast();
            // SAFETY: the wave has begun in a slot that is bound to the plan's program, which the job keeps alive. Context, LDS and
            // scratch are what the memory handlers expect, valid for this slice.
            if unsafe { run::advance_to(wave, end.op) } {
                let beginning = beginning.to_mut();
                beginning.scalars.take(&wave.sgpr);
                beginning.entry = end;
            }
            drop(slice);
            self.give_back(group);
        }
        beginning
    }

    /// Keeps an ended group for reuse.
    pub(crate) fn give_back(&mut self, group: Box<Group>) {
        if self.free.len() < KEEP {
            self.free.push(group);
        }
    }

    /// An empty list.
    pub(crate) fn take_list(&mut self) -> VecDeque<Box<Group>> {
        self.lists.pop().unwrap_or_default()
    }

    /// Keeps an empty list for reuse.
    pub(crate) fn give_list(&mut self, list: VecDeque<Box<Group>>) {
        debug_assert!(list.is_empty());
        self.lists.push(list);
    }
}
