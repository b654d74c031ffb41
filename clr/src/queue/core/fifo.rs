//! The commands of a queue that wait for a drainer, and what is kept for the next ones.
//!
//! The commands lie in runs of [`RUN`], so that a million of them need no second place while they grow.

use std::{
    collections::VecDeque,
    sync::{Arc, Weak},
};

use super::QueueCore;
use crate::{Event, Status, command::Command, event::State};

/// Commands in one piece of memory.
const RUN: usize = 256;

/// A queue of commands.
#[derive(Debug, Default)]
pub(super) struct Commands {
    runs: VecDeque<VecDeque<Command>>,
    spare: Option<VecDeque<Command>>,
    len: usize,
}

impl Commands {
    pub(super) fn push_back(&mut self, command: Command) {
        if self.runs.back().is_none_or(|run| run.len() >= RUN) {
            let run = self
                .spare
                .take()
                .unwrap_or_else(|| VecDeque::with_capacity(RUN));
            self.runs.push_back(run);
        }
        if let Some(run) = self.runs.back_mut() {
            run.push_back(command);
            self.len += 1;
        }
    }

    pub(super) fn pop_front(&mut self) -> Option<Command> {
        let run = self.runs.front_mut()?;
        let command = run.pop_front()?;
        self.len -= 1;
        // A run that was filled once is done with; one that was not stays and is filled on.
        if run.is_empty() && self.runs.len() > 1 {
            self.spare = self.runs.pop_front();
        }
        Some(command)
    }

    pub(super) fn front(&self) -> Option<&Command> {
        self.runs.front()?.front()
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// What enqueuers and the drainer share.
#[derive(Debug, Default)]
pub(super) struct Fifo {
    pub(super) commands: Commands,
    /// The last command enqueued, until it is seen to have ended.
    pub(super) last: Option<Arc<State>>,
    /// Out of order: all commands that have not been seen to have ended.
    pub(super) unordered: Vec<Arc<State>>,
    pub(super) active: bool,
    pub(super) terminated: bool,
    pub(super) spare_events: Vec<Arc<State>>,
    pub(super) spare_arguments: Vec<Vec<u8>>,
    pub(super) spare_lists: Vec<Vec<Event>>,
}

impl Fifo {
    /// An event for a new command: a spare one that nobody else holds, or a new one.
    pub(super) fn new_event(&mut self, core: &Weak<QueueCore>) -> Arc<State> {
        while let Some(mut event) = self.spare_events.pop() {
            if let Some(state) = Arc::get_mut(&mut event) {
                state.recycle();
                return event;
            }
        }
        Arc::new(State::new(core.clone(), Status::CREATED))
    }
}
