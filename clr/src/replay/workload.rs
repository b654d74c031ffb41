//! What is to be replayed, packed: a recording of ten million commands takes a few hundred megabytes.
//!
//! Commands that have stream, kind, name and doer in common share a [`CommandShape`]; what a command waits for lies behind what the one
//! before it waits for; what a thread does is a row of bytes ([`Actions`]).

use std::collections::HashMap;

use crate::trace::format::CommandKind;

/// A stream of a workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkloadQueue {
    /// Name.
    pub name: String,
    /// Device.
    pub device: usize,
    /// 0 low, 1 normal, 2 high.
    pub priority: u8,
    /// It does not synchronise with the null stream.
    pub non_blocking: bool,
    /// Its commands wait only for their wait lists.
    pub out_of_order: bool,
}

/// What does a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Doer {
    /// A hardware queue.
    Kernel,
    /// A copy engine.
    Copy,
    /// The host, when everything before has ended.
    Host,
    /// Nobody: a marker.
    Marker,
}

/// What many commands have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CommandShape {
    /// Stream.
    pub queue: u32,
    /// What it is.
    pub kind: CommandKind,
    /// Who does it.
    pub doer: Doer,
    /// Number of its name in [`Workload::names`].
    pub name: u32,
}

/// A command of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkloadCommand {
    /// How long it takes, in nanoseconds.
    pub duration: u64,
    /// Its shape, as [`Workload::shape_number`] has it.
    pub shape: u32,
    /// End of its part of the dependencies.
    waits_end: u32,
}

/// Something that a command waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependency {
    /// A command, by its place.
    Command(u32),
    /// A user event, by its number.
    User(u32),
}

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It is busy for some nanoseconds.
    Compute(u64),
    /// It enqueues a command, which costs it some nanoseconds.
    Enqueue(u32, u64),
    /// It waits for a command.
    Wait(u32),
    /// It waits for a stream.
    WaitQueue(u32),
    /// It waits for all streams.
    WaitAll,
    /// It sets a user event.
    Set(u32),
}

/// Actions one behind the other. Each is a number of variable length whose low three bits are its kind; commands are told by their distance
/// from the command named before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Actions {
    bytes: Vec<u8>,
    last: u32,
}

const COMPUTE: u64 = 0;
const ENQUEUE: u64 = 1;
const WAIT: u64 = 2;
const WAIT_QUEUE: u64 = 3;
const WAIT_ALL: u64 = 4;
const SET: u64 = 5;

impl Actions {
    /// Adds one. A time counts up to 2⁶¹ nanoseconds.
    pub fn push(&mut self, action: Action) {
        match action {
            Action::Compute(time) => self.put(time.min(u64::MAX >> 3) << 3 | COMPUTE),
            Action::Enqueue(command, cost) => {
                self.command(command, ENQUEUE);
                self.put(cost);
            }
            Action::Wait(command) => self.command(command, WAIT),
            Action::WaitQueue(queue) => self.put(u64::from(queue) << 3 | WAIT_QUEUE),
            Action::WaitAll => self.put(WAIT_ALL),
            Action::Set(event) => self.put(u64::from(event) << 3 | SET),
        }
    }

    fn command(&mut self, command: u32, kind: u64) {
        let distance = i64::from(command) - i64::from(self.last);
        self.last = command;
        // The sign goes to the low bit, so that small distances are small numbers.
        let distance = (distance << 1 ^ distance >> 63) as u64;
        self.put(distance << 3 | kind);
    }

    fn put(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// All, in order.
    pub fn iter(&self) -> ActionIter<'_> {
        ActionIter {
            bytes: self.bytes.iter(),
            last: 0,
        }
    }
}

/// See [`Actions::iter`].
#[derive(Clone, Debug)]
pub struct ActionIter<'a> {
    bytes: std::slice::Iter<'a, u8>,
    last: u32,
}

impl ActionIter<'_> {
    /// What is left, in bytes: less with each action.
    pub(super) fn left(&self) -> usize {
        self.bytes.len()
    }

    fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.next()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        Some(value)
    }

    fn command(&mut self, distance: u64) -> u32 {
        let distance = (distance >> 1) as i64 ^ -((distance & 1) as i64);
        self.last = (i64::from(self.last) + distance) as u32;
        self.last
    }
}

impl Iterator for ActionIter<'_> {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        let number = self.number()?;
        let value = number >> 3;
        Some(match number & 7 {
            COMPUTE => Action::Compute(value),
            ENQUEUE => Action::Enqueue(self.command(value), self.number()?),
            WAIT => Action::Wait(self.command(value)),
            WAIT_QUEUE => Action::WaitQueue(value as u32),
            WAIT_ALL => Action::WaitAll,
            _ => Action::Set(value as u32),
        })
    }
}

/// A thread of a workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkloadThread {
    /// Name.
    pub name: String,
    /// What it does, one after the other, from time 0.
    pub actions: Actions,
}

/// What is to be replayed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workload {
    /// Devices.
    pub devices: usize,
    /// Streams.
    pub queues: Vec<WorkloadQueue>,
    /// Names.
    pub names: Vec<String>,
    /// User events.
    pub user_events: u32,
    /// Threads.
    pub threads: Vec<WorkloadThread>,
    /// What the input lacks, one line each.
    pub problems: Vec<String>,
    pub(super) commands: Vec<WorkloadCommand>,
    pub(super) dependencies: Vec<Dependency>,
    pub(super) shapes: Vec<CommandShape>,
    pub(super) numbers: HashMap<CommandShape, u32>,
}

impl Workload {
    /// The commands. Those of one stream are enqueued in the order of this list.
    pub fn commands(&self) -> &[WorkloadCommand] {
        &self.commands
    }

    /// The shape of a command of this workload.
    pub fn shape(&self, command: &WorkloadCommand) -> &CommandShape {
        &self.shapes[command.shape as usize]
    }

    /// What the command at a place waits for.
    pub fn waits(&self, place: u32) -> &[Dependency] {
        let place = place as usize;
        let begin = place
            .checked_sub(1)
            .map_or(0, |before| self.commands[before].waits_end);
        &self.dependencies[begin as usize..self.commands[place].waits_end as usize]
    }

    /// The number of a shape.
    pub fn shape_number(&mut self, shape: CommandShape) -> u32 {
        *self.numbers.entry(shape).or_insert_with(|| {
            self.shapes.push(shape);
            self.shapes.len() as u32 - 1
        })
    }

    /// Adds a command; gives its place.
    pub fn push(
        &mut self,
        shape: u32,
        duration: u64,
        waits: impl IntoIterator<Item = Dependency>,
    ) -> u32 {
        self.dependencies.extend(waits);
        self.commands.push(WorkloadCommand {
            duration,
            shape,
            waits_end: self.dependencies.len() as u32,
        });
        self.commands.len() as u32 - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_actions_come_back_as_they_were() {
        let all = [
            Action::Compute(0),
            Action::Compute(u64::MAX >> 3),
            Action::Enqueue(0, 0),
            Action::Enqueue(u32::MAX, u64::MAX),
            Action::Wait(u32::MAX - 1),
            Action::Enqueue(7, 127),
            Action::Wait(7),
            Action::WaitQueue(u32::MAX),
            Action::WaitAll,
            Action::Set(128),
        ];
        let mut actions = Actions::default();
        for action in all {
            actions.push(action);
        }
        assert_eq!(actions.iter().collect::<Vec<_>>(), all);
        let mut row = Actions::default();
        for command in 0..100 {
            row.push(Action::Enqueue(command, 100));
        }
        assert!(row.bytes.len() <= 200, "two bytes for the plain case");
    }

    #[test]
    fn wait_lists_lie_one_behind_the_other() {
        let mut workload = Workload::default();
        let shape = workload.shape_number(CommandShape {
            queue: 0,
            kind: CommandKind::Marker,
            doer: Doer::Marker,
            name: 0,
        });
        let list = [Dependency::Command(0), Dependency::User(3)];
        workload.push(shape, 1, []);
        workload.push(shape, 2, list);
        workload.push(shape, 3, []);
        assert_eq!(workload.waits(0), []);
        assert_eq!(workload.waits(1), list);
        assert_eq!(workload.waits(2), []);
    }
}
