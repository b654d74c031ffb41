//! What the HSA runtime calls: one worker pool for all queues and GPUs, dispatches, faults.
//!
//! The pool runs *tasks*. A hardware queue's packet processor is a task; so is the group loop of a dispatch. A task runs until
//! it has nothing to do (`Poll::Idle`: someone will wake it), or until its slice is over (`Poll::Again`). Host threads that wait for
//! the device call [`Engine::help`] and run tasks themselves until what they wait for has come.

pub(crate) mod code;
mod pool;
mod run_queue;
mod signals;
mod task;

use std::{
    cell::Cell,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, LazyLock},
};

use gneiss_fatbin::kernel_descriptor::KernelDescriptor;

pub use task::{Poll, Task, TaskState};

pub use crate::fault::{Fault, FaultKind, state};
use code::CodeRegistry;
use pool::Pool;
pub use run_queue::Priority;
pub(crate) use run_queue::{Item, Turn};

pub use crate::wave_sync::Semaphores;

use crate::{
    dispatch::{Dispatch, Dispatches},
    memory::GuestMap,
    target::Target,
};

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
    /// The queue's priority.
    pub priority: Priority,
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
    /// Semaphores of global wave sync.
    pub semaphores: Semaphores,
}

/// How a dispatch ended.
pub type Outcome = Result<(), Box<Fault>>;

/// Who hears of a dispatch. Called on a worker (or helping) thread with no engine lock held; must be short and must not block.
pub trait DispatchClient: Send + Sync {
    /// All groups have ended, or a fault has stopped the dispatch. `token` is the one given at start.
    fn finished(&self, token: u64, outcome: Outcome);
    /// A wave executed `s_sendmsg MSG_INTERRUPT` with this value in m0: signals written by device code are to be looked at.
    fn interrupt(&self, event_id: u32);
    /// A group gave way without having ended: memory that device code writes without telling may be looked at.
    fn slice_ended(&self) {}
    /// Something that the person who runs the program should know; the dispatch goes on.
    fn warn(&self, _text: &str) {}
}

pub use code::LoadedCode;

/// The engine: worker pool and everything that all GPUs share. One per process.
pub struct Engine {
    pool: Arc<Pool>,
    dispatches: Dispatches,
    pub(crate) code: CodeRegistry,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("threads", &self.pool.threads())
            .finish_non_exhaustive()
    }
}

static GLOBAL: LazyLock<Arc<Engine>> = LazyLock::new(|| Arc::new(Engine::new()));

/// How often a thread that helps looks whether it should leave before it looks for pending signals, which is a system call.
const LOOKS_BETWEEN_SIGNALS: u32 = 64;

thread_local! {
    /// The thread is inside [`run`] and will look into the queue when the item is done: no need to wake a worker for what it pushes.
    static LOOKS_AGAIN: Cell<bool> = const { Cell::new(false) };
}

/// What a worker does with an item.
fn run(item: Item) {
    run_until(&GLOBAL, item, &mut || false);
}

/// Runs an item; a helping thread leaves a dispatch at the end of a slice once `done` says true.
fn run_until(engine: &Arc<Engine>, item: Item, done: &mut dyn FnMut() -> bool) {
    match item {
        Item::Task(task) => {
            task.state().start();
            let before = LOOKS_AGAIN.replace(true);
            let poll =
                catch_unwind(AssertUnwindSafe(|| task.clone().poll(engine))).unwrap_or_else(|_| {
                    tracing::error!(
                        "a task of the engine panicked; it stays idle until its next wake"
                    );
                    Poll::Idle
                });
            if task.state().finish(poll) {
                engine.pool.push(Item::Task(task), false, run);
            }
            LOOKS_AGAIN.set(before);
        }
        Item::Dispatch(dispatch) => dispatch.take_part(engine, done),
    }
}

impl Engine {
    fn new() -> Self {
        Self {
            pool: Arc::new(Pool::new()),
            dispatches: Dispatches::default(),
            code: CodeRegistry::default(),
        }
    }

    /// The process's engine. Threads start at the first [`wake`](Self::wake).
    pub fn global() -> &'static Arc<Engine> {
        &GLOBAL
    }

    /// Number of worker threads.
    pub fn threads(&self) -> usize {
        self.pool.threads()
    }

    /// Makes a task ready. Cheap; no allocation; wakes a sleeping worker if there is one and no thread looks for work already.
    pub fn wake(self: &Arc<Self>, task: &Arc<dyn Task>) {
        if task.state().wake() {
            self.push(Item::Task(task.clone()));
        }
    }

    /// Puts an item into the run queue.
    pub(crate) fn push(&self, item: Item) {
        self.pool.push(item, !LOOKS_AGAIN.get(), run);
    }

    /// Whether items wait in the run queue.
    pub(crate) fn has_work(&self) -> bool {
        self.pool.has_work()
    }

    /// Whether items wait that are more urgent than this.
    pub(crate) fn has_work_above(&self, priority: Priority) -> bool {
        self.pool.has_work_above(priority)
    }

    /// Runs ready tasks on the calling thread while `done` says false; returns when `done` says true or there is no ready task.
    /// Signals are blocked while device code runs, and let in between slices; MXCSR is saved around it. The caller then spins or sleeps
    /// as it likes.
    ///
    /// From within a task, a client's callback or `done` itself it does nothing: that thread is running an item already.
    pub fn help(self: &Arc<Self>, done: &mut dyn FnMut() -> bool) {
        if LOOKS_AGAIN.get() {
            return;
        }
        if done() {
            return;
        }
        let mut turn = Turn::default();
        let Some(mut item) = self.pool.pop(&mut turn) else {
            return;
        };
        let mask = signals::block_all();
        let mut looks = 0u32;
        // Between slices, signals of the program come through: a kernel that never ends must not keep it from being interrupted.
        let mut leave = || {
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(LOOKS_BETWEEN_SIGNALS) {
                signals::let_in(&mask);
            }
            done()
        };
        loop {
            // This thread keeps one item; if more wait, someone else may have them.
            if self.pool.has_work() {
                self.pool.wake_one(run);
            }
            run_until(self, item, &mut leave);
            if leave() {
                break;
            }
            match self.pool.pop(&mut turn) {
                Some(next) => item = next,
                None => break,
            }
        }
        // What this thread leaves behind is for the workers.
        if self.pool.has_work() {
            self.pool.wake_one(run);
        }
        signals::restore(&mask);
    }

    /// Starts a dispatch. Its groups run on the pool in order; `client.finished(token, …)` is called once.
    pub fn dispatch(
        self: &Arc<Self>,
        info: DispatchInfo,
        client: &Arc<dyn DispatchClient>,
        token: u64,
    ) {
        self.dispatches.start(self, info, client.clone(), token);
    }

    /// Asks running dispatches with this token and client to stop; `finished` still comes, with [`FaultKind::Cancelled`].
    pub fn cancel(self: &Arc<Self>, client: &Arc<dyn DispatchClient>, token: u64) {
        self.dispatches.cancel(self, client, token);
    }

    /// Tells of loaded code: for names, source lines and the decode cache.
    pub fn code_loaded(&self, code: LoadedCode) {
        self.code.add(code);
    }

    /// Forgets code; its decode cache entries go.
    pub fn code_unloaded(&self, base: u64) {
        self.code.remove(base);
    }

    /// Calls something on a thread that looks into the queue soon: what it makes ready needs no other worker.
    pub(crate) fn looking_again<R>(&self, call: impl FnOnce() -> R) -> R {
        let before = LOOKS_AGAIN.replace(true);
        let result = call();
        LOOKS_AGAIN.set(before);
        result
    }

    /// Takes a finished dispatch back for the next start.
    pub(crate) fn recycle(&self, dispatch: Arc<Dispatch>) {
        self.dispatches.recycle(dispatch);
    }
}

#[cfg(test)]
mod tests;
