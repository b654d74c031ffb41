//! Barriers of a work-group: the one of all its waves, and GFX12's named ones, whose arrival (signal) and wait are apart.
//!
//! A barrier counts signals; when there are as many as members, its phase ends. A wave that waits goes on once a phase has ended since the
//! last one that it saw, whoever signalled. A wave that ends is a member no longer. `s_barrier` of older families is a signal and a wait.
//!
//! All waves of a group are on one thread, so plain numbers do. The group owns the barriers; its waves point to them.

use super::{
    lane,
    run::Exit,
    wave::{Wave, slot},
};
use crate::ir::Op;

/// The barrier of the group, and named barriers 1 to 31 at their numbers.
const BARRIERS: usize = 32;

/// Which barrier a wave waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// That of all waves.
    Group,
    /// The named one that the wave has joined.
    Named,
}

#[derive(Clone, Copy, Debug, Default)]
struct Barrier {
    members: u32,
    signals: u32,
    phase: u32,
}

impl Barrier {
    /// Counts a signal; says whether it is the first of the phase.
    fn signal(&mut self) -> bool {
        let first = self.signals == 0;
        self.signals += 1;
        self.check();
        first
    }

    fn check(&mut self) {
        if self.members != 0 && self.signals >= self.members {
            self.signals = 0;
            self.phase = self.phase.wrapping_add(1);
        }
    }

    fn leave(&mut self) {
        self.members = self.members.saturating_sub(1);
        self.check();
    }
}

/// The barriers of a group.
#[derive(Debug, Default)]
pub struct Barriers([Barrier; BARRIERS]);

/// What a wave knows of the barriers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Membership {
    /// The named barrier that it has joined; 0: none.
    joined: usize,
    /// The phases, of the group's barrier and of the named one, that ended before the wave waited last or joined.
    seen: [u32; 2],
}

impl Barriers {
    /// Barriers of a group that begins with so many waves.
    pub fn start(&mut self, waves: u32) {
        *self = Self::default();
        self.0[0].members = waves;
    }

    fn of(&mut self, membership: &Membership, kind: Kind) -> &mut Barrier {
        match kind {
            Kind::Group => &mut self.0[0],
            Kind::Named => &mut self.0[membership.joined],
        }
    }

    /// Whether a wave's wait is over; if so it is over once.
    pub fn pass(&mut self, membership: &mut Membership, kind: Kind) -> bool {
        if kind == Kind::Named && membership.joined == 0 {
            return true;
        }
        let phase = self.of(membership, kind).phase;
        let seen = &mut membership.seen[kind as usize];
        let passed = *seen != phase;
        *seen = phase;
        passed
    }

    /// A wave ends.
    pub fn end(&mut self, membership: &Membership) {
        self.0[0].leave();
        if membership.joined != 0 {
            self.0[membership.joined].leave();
        }
    }
}

/// The barrier that an operand names: −1 is the group's, M0 and positive numbers are named ones. None where there is nothing to do: barrier 0
/// is none, and those below −1 belong to trap handlers.
fn number(operand: i32) -> Option<usize> {
    match operand {
        -1 => Some(0),
        1.. => Some(operand as usize % BARRIERS).filter(|&number| number != 0),
        _ => None,
    }
}

/// The barriers of the running wave.
///
/// # Safety
/// The wave runs in a group, or alone in a test, and then there are none.
unsafe fn barriers<'a>(w: &Wave) -> Option<&'a mut Barriers> {
    // SAFETY: by the caller; one wave of a group runs at a time.
    unsafe { w.barriers.as_mut() }
}

/// The number in `s[0]`. M0 (`aux[0]`) holds it in its low five bits.
unsafe fn operand(w: &Wave, op: *const Op) -> Option<usize> {
    // SAFETY: by the caller: the lowering made the reference.
    let value = unsafe { lane::scalar(w, (*op).s[0]) };
    // SAFETY: as above.
    let in_m0 = unsafe { (*op).aux[0] } != 0;
    number(if in_m0 { value & 31 } else { value }.cast_signed())
}

/// `s_barrier`.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn whole(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: as the handlers that it is made of.
    unsafe {
        if let Some(barriers) = barriers(w) {
            barriers.0[0].signal();
        }
        wait_for(w, op, Kind::Group)
    }
}

/// `s_barrier_wait`: `imm` is 1 for the group's barrier, 0 for the named one that was joined.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn wait(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: by the caller.
    unsafe {
        let kind = if (*op).imm == 1 {
            Kind::Group
        } else {
            Kind::Named
        };
        wait_for(w, op, kind)
    }
}

#[inline(always)]
unsafe fn wait_for(w: &mut Wave, op: *const Op, kind: Kind) -> *const Op {
    // SAFETY: a barrier is followed by an operation of its segment.
    unsafe {
        let passes = barriers(w).is_some_and(|barriers| barriers.pass(&mut w.membership, kind));
        if passes {
            op.add(1)
        } else {
            w.stop(op.add(1), Exit::Barrier(kind))
        }
    }
}

/// `s_barrier_signal`, and with `aux[1]` `s_barrier_signal_isfirst`, which says in SCC whether it was the first of the phase.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn signal(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: by the caller; followed by an operation of its segment.
    unsafe {
        let mut first = false;
        if let (Some(barriers), Some(number)) = (barriers(w), operand(w, op)) {
            first = barriers.0[number].signal();
        }
        if (*op).aux[1] != 0 {
            w.sgpr[slot::SCC] = u32::from(first);
        }
        op.add(1)
    }
}

/// `s_barrier_init`: M0 22:16 is the number of members.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn init(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: by the caller; followed by an operation of its segment.
    unsafe {
        if let (Some(barriers), Some(number @ 1..)) = (barriers(w), operand(w, op)) {
            let barrier = &mut barriers.0[number];
            barrier.members = w.sgpr[w.m0] >> 16 & 0x7f;
            barrier.signals = 0;
        }
        op.add(1)
    }
}

/// `s_barrier_join`.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn join(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: by the caller; followed by an operation of its segment.
    unsafe {
        if let Some(barriers) = barriers(w) {
            let joined = operand(w, op).unwrap_or(0);
            w.membership.joined = joined;
            w.membership.seen[Kind::Named as usize] = barriers.0[joined].phase;
        }
        op.add(1)
    }
}

/// `s_barrier_leave`: SCC says whether the wave was a member of a named barrier.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn leave(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: by the caller; followed by an operation of its segment.
    unsafe {
        let joined = std::mem::take(&mut w.membership.joined);
        if let (Some(barriers), 1..) = (barriers(w), joined) {
            barriers.0[joined].leave();
        }
        w.sgpr[slot::SCC] = u32::from(joined != 0);
        op.add(1)
    }
}

/// `s_get_barrier_state`: bit 0 says that the barrier exists, bits 10:4 are its members, bits 22:16 the signals of this phase.
///
/// # Safety
/// A [handler](crate::interp::run::Handler).
pub unsafe fn get_state(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: by the caller; followed by an operation of its segment.
    unsafe {
        let mut state = 0;
        if let (Some(barriers), Some(number)) = (barriers(w), operand(w, op)) {
            let barrier = &barriers.0[number];
            state = (barrier.signals & 0x7f) << 16
                | (barrier.members & 0x7f) << 4
                | u32::from(barrier.members != 0);
        }
        w.sgpr[(*op).d as usize] = state;
        op.add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_ends_with_the_signals_of_all_members() {
        let mut barriers = Barriers::default();
        barriers.start(3);
        let mut waves = [Membership::default(); 3];
        let signal = |barriers: &mut Barriers| barriers.0[0].signal();
        signal(&mut barriers);
        signal(&mut barriers);
        assert!(!barriers.pass(&mut waves[0], Kind::Group));
        signal(&mut barriers);
        assert!(barriers.pass(&mut waves[0], Kind::Group));
        assert!(!barriers.pass(&mut waves[0], Kind::Group), "once");
        // A wave that waits late has missed nothing; one that ends is not waited for.
        assert!(barriers.pass(&mut waves[1], Kind::Group));
        signal(&mut barriers);
        signal(&mut barriers);
        assert!(!barriers.pass(&mut waves[0], Kind::Group));
        barriers.end(&waves[2]);
        assert!(barriers.pass(&mut waves[0], Kind::Group));
    }

    #[test]
    fn numbers_that_name_nothing() {
        assert_eq!(number(-1), Some(0));
        assert_eq!(number(-2), None);
        assert_eq!(number(0), None);
        assert_eq!(number(5), Some(5));
        let mut barriers = Barriers::default();
        assert!(barriers.pass(&mut Membership::default(), Kind::Named));
    }
}
