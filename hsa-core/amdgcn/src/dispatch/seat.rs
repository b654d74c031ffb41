//! A seat: a thread that takes part in a dispatch.

use std::{
    borrow::Cow,
    collections::VecDeque,
    ops::Range,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use crate::{
    engine::Engine,
    fault::{Fault, FaultKind, report, state},
    interp::wave::Beginning,
    workgroup::{Group, GroupExit, Worker},
};

use super::{Dispatch, Job};

/// A seat that runs other groups' work for this long looks whether other items wait.
const SEAT_TIME: Duration = Duration::from_millis(2);

/// Groups that a seat runs in turns if they do not end in one slice.
const FEW_GROUPS: usize = 4;

/// Groups that a seat claims at one time: as many as take about this long, and not more than that.
const BATCH_TIME: Duration = Duration::from_micros(20);
const MAX_BATCH: u64 = 32;

/// Work that is worth waking another thread for.
const SHARE_TIME: Duration = Duration::from_micros(15);

/// See the module's documentation.
pub(super) struct Seat<'a> {
    dispatch: &'a Arc<Dispatch>,
    engine: &'a Arc<Engine>,
    worker: &'a mut Worker,
    job: &'a Job,
    beginning: Cow<'a, Beginning>,
    began: Instant,
    /// Groups that have ended in this seat.
    ended: u64,
    /// Those of them that the dispatch has not been told of.
    untold: u64,
    /// Groups of this seat that have begun and wait for their next turn.
    own: VecDeque<Box<Group>>,
    /// Turns in a row in which no group got on.
    idle_turns: usize,
    /// The last group that had its turn waits for something.
    waited: bool,
    /// Groups that this seat may have begun while all of them are busy. It grows when none of them ends: then they may be waiting,
    /// without saying so, for one that has not begun.
    limit: usize,
    /// Turns since a group ended, or since the limit grew.
    turns: usize,
    /// Short groups are claimed, and their ends told, several at a time; in between nothing is shared with other seats.
    claimed: Range<u64>,
    /// How many are claimed at one time.
    batch: u64,
    batch_began: Instant,
}

impl<'a> Seat<'a> {
    /// A seat of a dispatch that has a program. The caller holds the seat, and gives it up after [`leave`](Self::leave).
    pub(super) fn take(
        dispatch: &'a Arc<Dispatch>,
        engine: &'a Arc<Engine>,
        worker: &'a mut Worker,
    ) -> Self {
        let job = dispatch.job();
        let began = Instant::now();
        Self {
            dispatch,
            engine,
            job,
            beginning: worker.beginning(job),
            began,
            ended: 0,
            untold: 0,
            own: worker.take_list(),
            idle_turns: 0,
            waited: false,
            limit: FEW_GROUPS,
            turns: 0,
            claimed: 0..0,
            batch: 1,
            batch_began: began,
            worker,
        }
    }

    /// Runs groups until there is nothing to run, others should have the thread, or `leave` says true.
    pub(super) fn run(&mut self, leave: &mut dyn FnMut() -> bool) {
        while !self.dispatch.stop.load(Ordering::Acquire) {
            let Some(group) = self.next_group() else {
                break;
            };
            if !self.turn(group) {
                continue;
            }
            if self.dispatch.end_groups(&mut self.untold) {
                break;
            }
            let total = self.job.plan.groups_total;
            if total > 1
                && self.dispatch.seats.load(Ordering::Relaxed) < self.engine.threads() as u32
            {
                self.share();
            }
            if leave() || !self.look_at_the_clock() {
                break;
            }
            if self.idle_turns > self.own.len() && !self.own.is_empty() {
                wait_a_little(self.idle_turns / self.own.len());
            }
        }
    }

    /// After a group that waits, one that others left behind, or a new one: it may be the one that is waited for. Otherwise the next of
    /// the seat's own.
    fn next_group(&mut self) -> Option<Box<Group>> {
        if self.own.is_empty() || self.waited || self.own.len() < self.limit {
            if self.dispatch.parked_count.load(Ordering::Relaxed) != 0
                && let Some(parked) = self.dispatch.with_parked(VecDeque::pop_front)
            {
                return Some(parked);
            }
            if self.claimed.is_empty() {
                self.claimed = self.dispatch.claim(self.batch);
            }
            if let Some(number) = self.claimed.next() {
                let fresh = self.worker.start_group(self.job, &self.beginning, number);
                return Some(fresh);
            }
        }
        self.own.pop_front()
    }

    /// Gives a group its turn. Whether the seat should look around then: not while claimed groups are left, and not after a fault.
    fn turn(&mut self, mut group: Box<Group>) -> bool {
        let untold = self.untold;
        let exit = group.run_slice(
            self.job,
            self.engine,
            &mut self.worker.cache,
            &self.beginning,
            &mut self.claimed,
            &mut self.untold,
        );
        self.ended += self.untold - untold;
        if let Some(lost) = self.worker.cache.take_lost() {
            report::lost_atomic(self.job, self.engine, lost);
        }
        match exit {
            GroupExit::Done => {
                self.worker.give_back(group);
                self.idle_turns = 0;
                self.waited = false;
                self.turns = 0;
                self.claimed.is_empty()
            }
            GroupExit::Yield { progress } => {
                self.job.slice_ended();
                self.batch = 1;
                // They were claimed as short ones; now anybody may run them.
                self.park_claimed();
                self.own.push_back(group);
                self.waited = !progress;
                self.idle_turns = if progress { 0 } else { self.idle_turns + 1 };
                self.turns += 1;
                if self.turns > 2 * self.own.len() {
                    self.turns = 0;
                    self.limit = self.limit.max(self.own.len()).saturating_mul(2);
                }
                true
            }
            GroupExit::Fault(mut fault) => {
                if state::kept() {
                    let mut faulted = group.state(self.job);
                    let wave = fault.wave;
                    for wave in faulted.waves.iter_mut().filter(|other| other.wave == wave) {
                        wave.pc = fault.pc;
                    }
                    fault.groups.push(faulted);
                }
                group.abandon(self.job);
                self.worker.give_back(group);
                self.dispatch.stop(fault);
                false
            }
        }
    }

    fn park_claimed(&mut self) {
        let claimed = std::mem::take(&mut self.claimed);
        if claimed.is_empty() {
            return;
        }
        let (worker, job, beginning) = (&mut *self.worker, self.job, &self.beginning);
        self.dispatch.with_parked(|parked| {
            parked.extend(claimed.map(|number| worker.start_group(job, beginning, number)))
        });
    }

    /// Fits the batch to the time that it takes, and stops a dispatch that takes too long. Whether the seat may go on.
    fn look_at_the_clock(&mut self) -> bool {
        let total = self.job.plan.groups_total;
        if self.own.is_empty() && total <= self.ended + 64 {
            return true;
        }
        let now = Instant::now();
        if self.own.is_empty() {
            let left = total.saturating_sub(self.dispatch.next.load(Ordering::Relaxed));
            let longest = (left / (4 * self.engine.threads().max(1) as u64)).clamp(1, MAX_BATCH);
            let grown = if now - self.batch_began < BATCH_TIME {
                2 * self.batch
            } else {
                self.batch / 2
            };
            self.batch = grown.clamp(1, longest);
        }
        self.batch_began = now;
        if self.job.deadline.is_some_and(|deadline| now >= deadline) {
            let mut fault = Fault::of_dispatch(FaultKind::Timeout, "");
            fault.kernel = report::kernel_name(self.engine, &self.job.info);
            self.dispatch.stop(fault);
            return true;
        }
        let waits_or_long = self.idle_turns > self.own.len() || now - self.began > SEAT_TIME;
        let others_wait = waits_or_long && self.engine.has_work()
            || self.engine.has_work_above(self.job.info.priority);
        !others_wait
    }

    /// Offers a seat to another thread if what is left pays for its wake-up.
    fn share(&mut self) {
        if self.dispatch.queued.load(Ordering::Relaxed) {
            return;
        }
        let total = self.job.plan.groups_total;
        let left = total.saturating_sub(self.dispatch.next.load(Ordering::Relaxed));
        let worth = if left == 0 {
            // Only groups that have begun are left; give half of them away.
            let given = self.own.len() / 2;
            self.dispatch
                .with_parked(|parked| parked.extend(self.own.drain(..given)));
            given > 0
        } else {
            // A group whose first slice is over without an end is long.
            !self.own.is_empty() || {
                let per_group = self.began.elapsed().as_nanos() / u128::from(self.ended.max(1));
                per_group * u128::from(left) > SHARE_TIME.as_nanos()
            }
        };
        if worth {
            self.dispatch.enqueue(self.engine);
        }
    }

    /// Leaves what has begun or was claimed to others.
    pub(super) fn leave(mut self) {
        self.dispatch.end_groups(&mut self.untold);
        if self.dispatch.stop.load(Ordering::Acquire) {
            if !state::kept() {
                for mut group in self.own.drain(..) {
                    group.abandon(self.job);
                    self.worker.give_back(group);
                }
            }
        } else {
            self.park_claimed();
        }
        if !self.own.is_empty() {
            self.dispatch
                .with_parked(|parked| parked.append(&mut self.own));
        }
        self.worker.give_list(self.own);
    }
}

/// Backs off while all groups wait for something outside: the host, another process, another queue.
fn wait_a_little(rounds: usize) {
    match rounds {
        0..16 => std::hint::spin_loop(),
        16..64 => std::thread::yield_now(),
        _ => std::thread::sleep(Duration::from_micros(50)),
    }
}
