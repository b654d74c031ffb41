//! What a trace file says, as structures.

use std::collections::{BTreeMap, HashMap};

use super::format::{BlockReason, CommandKind, EngineKind, FlushReason};

/// A device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Number.
    pub index: u32,
    /// Target, as gfx90a.
    pub name: String,
}

/// A queue (stream).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueInfo {
    /// Number.
    pub id: u32,
    /// Its name, or `queue N`.
    pub name: String,
    /// Device.
    pub device: u32,
    /// 0 low, 1 normal, 2 high.
    pub priority: u8,
    /// It does not synchronise with the null stream.
    pub non_blocking: bool,
    /// Its commands wait only for their wait lists.
    pub out_of_order: bool,
}

/// A hardware queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HwQueueInfo {
    /// Number.
    pub id: u32,
    /// Device.
    pub device: u32,
    /// 0 low, 1 normal, 2 high.
    pub priority: u8,
    /// For cooperative launches.
    pub cooperative: bool,
    /// Packets of the ring.
    pub packets: u32,
}

/// A host thread that recorded something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadInfo {
    /// Number in the file.
    pub index: u32,
    /// The system's number.
    pub tid: u32,
}

/// A command. Times are nanoseconds from the start of the recording; 0: not reached, or not known.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// Number.
    pub id: u64,
    /// Queue.
    pub queue: u32,
    /// What it is.
    pub kind: CommandKind,
    /// Kernel name; empty for other kinds.
    pub name: u32,
    /// Bytes, or work-items.
    pub size: u64,
    /// Grid in work-items.
    pub grid: [u32; 3],
    /// Work-group.
    pub block: [u16; 3],
    /// The API call that enqueued it; 0: none.
    pub call: u64,
    /// Numbers of the commands and user events that it waits for.
    pub wait_list: Vec<u64>,
    /// Thread that enqueued it.
    pub thread: u32,
    /// Enqueued.
    pub queued: u64,
    /// Given to an engine.
    pub submitted: u64,
    /// Started, by the device's clock, or the host's for what the host does.
    pub start: u64,
    /// Ended.
    pub end: u64,
    /// Seen by the host to have ended.
    pub done: u64,
    /// Terminal status; `None`: it had not ended.
    pub status: Option<i32>,
    /// Who did it.
    pub engine: EngineKind,
    /// Hardware queue; 0: none.
    pub hw_queue: u32,
    /// Packet index in it.
    pub packet: u64,
    /// Completion signal; 0: none of its own.
    pub signal: u64,
    /// The device has told its times.
    pub timed: bool,
}

/// A call of an API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiCall {
    /// Number.
    pub id: u64,
    /// Number of its name.
    pub name: u32,
    /// Thread.
    pub thread: u32,
    /// Begun.
    pub begin: u64,
    /// Ended; 0: it had not.
    pub end: u64,
    /// Its status.
    pub status: u32,
}

/// A thread's wait for a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Thread.
    pub thread: u32,
    /// The command.
    pub command: u64,
    /// Begun.
    pub begin: u64,
    /// Ended; 0: it had not.
    pub end: u64,
}

/// A batch that was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchInfo {
    /// Queue.
    pub queue: u32,
    /// When.
    pub time: u64,
    /// Why.
    pub reason: FlushReason,
    /// Commands.
    pub commands: u32,
    /// Completion signal.
    pub signal: u64,
    /// Hardware queue.
    pub hw_queue: u32,
}

/// A command that could not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockInfo {
    /// The command.
    pub command: u64,
    /// When.
    pub time: u64,
    /// Why.
    pub reason: BlockReason,
    /// What it waits for: a command, an address, or 0.
    pub on: u64,
}

/// All that a file says.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Version of the file.
    pub version: u32,
    /// The process.
    pub process: u32,
    /// Its command line.
    pub arguments: Vec<String>,
    /// Wall clock at the start, nanoseconds since 1970.
    pub wall: u64,
    /// The process ended in order.
    pub ended: bool,
    /// Commands have times of their own.
    pub timed: bool,
    /// What could not be read, one line each.
    pub problems: Vec<String>,
    /// Names by number.
    pub names: HashMap<u32, String>,
    /// Devices by number.
    pub devices: BTreeMap<u32, DeviceInfo>,
    /// Queues by number.
    pub queues: BTreeMap<u32, QueueInfo>,
    /// Hardware queues by number.
    pub hw_queues: BTreeMap<u32, HwQueueInfo>,
    /// Threads by number.
    pub threads: BTreeMap<u32, ThreadInfo>,
    /// Commands in the order in which they were enqueued.
    pub commands: Vec<Command>,
    /// API calls in the order of their begin.
    pub calls: Vec<ApiCall>,
    /// Waits in the order of their begin.
    pub waits: Vec<Wait>,
    /// Batches in the order of their end.
    pub batches: Vec<BatchInfo>,
    /// Blocked commands, in the order in which that was found.
    pub blocks: Vec<BlockInfo>,
    /// User events: number, time of the end, status.
    pub user_events: Vec<(u64, u64, i32)>,
    /// The last time in the file.
    pub end: u64,
    pub(super) index: HashMap<u64, u32>,
}

impl Trace {
    /// The command with that number.
    pub fn command(&self, id: u64) -> Option<&Command> {
        self.commands.get(*self.index.get(&id)? as usize)
    }

    /// A name by its number; empty if it is not known.
    pub fn name(&self, id: u32) -> &str {
        self.names.get(&id).map_or("", String::as_str)
    }

    /// What a person calls a command: the kernel's name, or its kind.
    pub fn title<'a>(&'a self, command: &Command) -> &'a str {
        match self.name(command.name) {
            "" => command.kind.name(),
            name => name,
        }
    }
}
