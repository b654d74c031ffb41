//! What the HSA runtime calls: one worker pool for all queues and GPUs, dispatches, faults.
//!
//! The pool runs *tasks*. A hardware queue's packet processor is a task; so is the group loop of a dispatch. A task runs until
//! it has nothing to do (`Poll::Idle`: someone will wake it), or until its slice is over (`Poll::Again`). Host threads that wait for
//! the device call [`Engine::help`] and run tasks themselves until what they wait for has come.

use std::sync::Arc;

use gneiss_fatbin::kernel_descriptor::KernelDescriptor;

use crate::{memory::GuestMap, target::Target};

/// What a task says at the end of its slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Poll {
    /// Nothing to do until the next [`Engine::wake`].
    Idle,
    /// More to do: put it at the end of the run queue.
    Again,
}

/// A unit of work of the pool. `poll` is never called by two threads at once for one handle (a wake during a poll makes it run
/// once more); a dispatch that may use many workers is woken once for each.
pub trait Task: Send + Sync {
    /// Runs one slice.
    fn poll(self: Arc<Self>, engine: &Arc<Engine>) -> Poll;
}

/// Everything that a kernel dispatch needs, from the AQL packet, the kernel descriptor and the queue.
#[derive(Clone, Debug)]
pub struct DispatchInfo {
    /// The GPU it runs on.
    pub gpu: Arc<Gpu>,
    /// Address of the kernel descriptor (the packet's kernel object).
    pub kernel_object: u64,
    /// The descriptor, already read.
    pub descriptor: KernelDescriptor,
    /// Grid in work-items.
    pub grid: [u32; 3],
    /// Work-group in work-items.
    pub workgroup: [u16; 3],
    /// Bytes of LDS of a group, static and dynamic.
    pub group_segment: u32,
    /// Bytes of scratch of a work-item.
    pub private_segment: u32,
    /// Guest address of the kernel arguments.
    pub kernarg: u64,
    /// Guest address of the dispatch packet (a copy that stays until completion).
    pub dispatch_ptr: u64,
    /// Guest address of the `amd_queue_t`.
    pub queue_ptr: u64,
    /// Dispatch id (packet index).
    pub dispatch_id: u64,
}

/// One software GPU, as the engine sees it.
#[derive(Debug)]
pub struct Gpu {
    /// Its target.
    pub target: Target,
    /// Its memory map.
    pub map: GuestMap,
    /// Compute units, for hardware ids and occupancy.
    pub compute_units: u32,
}

/// How a dispatch ended.
pub type Outcome = Result<(), Box<Fault>>;

/// Who hears of a dispatch. Called on a worker (or helping) thread with no engine lock held; must be short and must not block.
pub trait DispatchClient: Send + Sync {
    /// All groups have ended, or a fault has stopped the dispatch. `token` is the one given at start.
    fn finished(&self, token: u64, outcome: Outcome);
    /// A wave executed `s_sendmsg MSG_INTERRUPT` with this value in m0: signals written by device code are to be looked at.
    fn interrupt(&self, event_id: u32);
}

/// A code object that the loader has put into memory.
#[derive(Clone, Debug)]
pub struct LoadedCode {
    /// Guest address of its first byte.
    pub base: u64,
    /// Bytes.
    pub len: u64,
    /// Functions for fault reports: address, size, name.
    pub symbols: Vec<(u64, u64, String)>,
    /// The ELF image, for source lines.
    pub elf: Arc<[u8]>,
}

/// Why a dispatch stopped. The report that a person reads is its `Display`.
#[derive(Clone, Debug)]
pub struct Fault {
    /// What happened.
    pub kind: FaultKind,
    /// Kernel name, if the loader said it.
    pub kernel: String,
    /// Program counter.
    pub pc: u64,
    /// Work-group that faulted.
    pub workgroup: [u32; 3],
    /// Wave in the group.
    pub wave: u32,
    /// First lane that faulted, if it was a lane.
    pub lane: Option<u32>,
    /// Text of the instruction, source line, nearest allocation and the like, one fact a line.
    pub notes: Vec<String>,
}

/// The kinds of stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The bytes at the PC are no instruction of this target.
    IllegalInstruction,
    /// A known instruction that this engine does not execute.
    Unsupported,
    /// No mapping at the address, or not with that right.
    Memory {
        /// Address.
        address: u64,
        /// It was a write.
        write: bool,
    },
    /// LDS or scratch access out of its aperture.
    Aperture {
        /// Address.
        address: u64,
    },
    /// `s_trap` with this id (2: abort).
    Trap(u8),
    /// `GNEISS_KERNEL_TIMEOUT` has passed.
    Timeout,
    /// The queue or device was destroyed.
    Cancelled,
    /// A bug of ours; the text says which.
    Internal,
}

/// The engine: worker pool and everything that all GPUs share. One per process.
#[derive(Debug)]
pub struct Engine {}

impl Engine {
    /// The process's engine. Threads start at the first [`wake`](Self::wake).
    pub fn global() -> &'static Arc<Engine> {
        todo!()
    }

    /// Makes a task ready. Cheap; no allocation; wakes a sleeping worker if there is one.
    pub fn wake(self: &Arc<Self>, _task: &Arc<dyn Task>) {
        todo!()
    }

    /// Runs ready tasks on the calling thread while `done` says false; returns when `done` says true or there is no ready task.
    /// Signals are blocked and MXCSR is saved around it. The caller then spins or sleeps as it likes.
    pub fn help(self: &Arc<Self>, _done: &mut dyn FnMut() -> bool) {
        todo!()
    }

    /// Starts a dispatch. Its groups run on the pool in order; `client.finished(token, …)` is called once.
    pub fn dispatch(
        self: &Arc<Self>,
        _info: DispatchInfo,
        _client: &Arc<dyn DispatchClient>,
        _token: u64,
    ) {
        todo!()
    }

    /// Asks running dispatches with this token and client to stop; `finished` still comes, with [`FaultKind::Cancelled`].
    pub fn cancel(&self, _client: &Arc<dyn DispatchClient>, _token: u64) {
        todo!()
    }

    /// Tells of loaded code: for names, source lines and the decode cache.
    pub fn code_loaded(&self, _code: LoadedCode) {
        todo!()
    }

    /// Forgets code; its decode cache entries go.
    pub fn code_unloaded(&self, _base: u64) {
        todo!()
    }
}
