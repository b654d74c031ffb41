//! The life of the runtime: made at the first `hsa_init`, released at the last `hsa_shut_down`, one per process.
//!
//! Calls take a counted reference to the runtime, so a shutdown in another thread lets them finish. Locks: the life lock is held only
//! at the first init and at the last shutdown; references in between are counted without it.
//!
//! * A child of `fork` that inherits a started runtime has no threads and no device memory: every call answers
//!   `HSA_STATUS_ERROR_NOT_INITIALIZED`, `hsa_init` too.
//! * Nothing is torn down when the process exits: threads are daemons, and calls from static destructors work.

use std::{
    cell::Cell,
    path::Path,
    sync::{
        Arc, Once,
        atomic::{AtomicBool, AtomicI32, Ordering},
    },
};

use gneiss_amdgcn::memory::{Mapping, Rights};
use gneiss_hsa_api::*;
use parking_lot::{Mutex, ReentrantMutex, RwLock};

use crate::{
    agent::Agents, entry::HsaResult, events, image::Images, loader::Loader, memory, memory::Memory,
    numa, queue, signal, tools::Tools,
};

/// Everything between `hsa_init` and `hsa_shut_down`.
#[derive(Debug)]
pub(crate) struct Runtime {
    pub(crate) agents: Agents,
    pub(crate) memory: Memory,
    pub(crate) loader: Loader,
    pub(crate) images: Images,
    /// Whether copies write their times to completion signals.
    pub(crate) profile_copies: AtomicBool,
    /// Loaded after everything else, and unloaded before.
    tools: Mutex<Tools>,
}

static CURRENT: RwLock<Option<Arc<Runtime>>> = RwLock::new(None);
/// References that `hsa_init` has given out. Changed without the lock below while it stays above 0.
static REFERENCES: AtomicI32 = AtomicI32::new(0);
/// Serialises the first init and the last shutdown.
static LIFE: ReentrantMutex<Cell<Life>> = ReentrantMutex::new(Cell::new(Life::Steady));

/// What the holder of the lock is at. Tools may call init and shutdown while they are loaded.
#[derive(Clone, Copy, Debug)]
enum Life {
    Steady,
    /// The first init runs; its references so far, more than one if a tool has called init.
    Starting(i32),
    /// The last shutdown runs.
    Ending,
}

static FORKED: AtomicBool = AtomicBool::new(false);

/// Whether this process is a forked child of one with a started runtime.
pub(crate) fn forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}

/// The runtime, or `HSA_STATUS_ERROR_NOT_INITIALIZED`.
pub(crate) fn get() -> HsaResult<Arc<Runtime>> {
    if forked() {
        return Err(HSA_STATUS_ERROR_NOT_INITIALIZED);
    }
    CURRENT
        .read()
        .clone()
        .ok_or(HSA_STATUS_ERROR_NOT_INITIALIZED)
}

/// Notices forks from now on.
fn watch_forks() {
    unsafe extern "C" fn child() {
        FORKED.store(true, Ordering::Relaxed);
    }
    static ONCE: Once = Once::new();
    // SAFETY: the handler only stores to an atomic, which is allowed in a child of a process with threads.
    ONCE.call_once(|| unsafe {
        if libc::pthread_atfork(None, None, Some(child)) != 0 {
            tracing::warn!(
                "pthread_atfork failed: a forked child will not notice that it has no GPU"
            );
        }
    });
}

/// Changes the count of references unless it is 0, or would become 0; false then.
fn count(change: i32) -> HsaResult<bool> {
    let changed = REFERENCES.try_update(Ordering::AcqRel, Ordering::Acquire, |count| {
        let next = count.checked_add(change)?;
        (count > 0 && next > 0).then_some(next)
    });
    match changed {
        Ok(_) => Ok(true),
        Err(i32::MAX) if change > 0 => Err(HSA_STATUS_ERROR_REFCOUNT_OVERFLOW),
        Err(_) => Ok(false),
    }
}

/// `hsa_init`.
pub(crate) fn init() -> HsaResult {
    if forked() {
        return Err(HSA_STATUS_ERROR_NOT_INITIALIZED);
    }
    if count(1)? {
        return Ok(());
    }
    let life = LIFE.lock();
    match life.get() {
        Life::Starting(references) => {
            life.set(Life::Starting(references + 1));
            return Ok(());
        }
        Life::Ending => return Err(HSA_STATUS_ERROR_NOT_INITIALIZED),
        Life::Steady => {}
    }
    // Another thread may have been here first.
    if count(1)? {
        return Ok(());
    }
    crate::log::start();
    watch_forks();
    crate::core_dump::prepare();
    let runtime = Arc::new(Runtime::new()?);
    *CURRENT.write() = Some(Arc::clone(&runtime));
    life.set(Life::Starting(1));
    let tools = Tools::load();
    *runtime.tools.lock() = tools;
    if let Life::Starting(references) = life.replace(Life::Steady) {
        REFERENCES.store(references, Ordering::Release);
    }
    Ok(())
}

/// `hsa_shut_down`.
pub(crate) fn shut_down() -> HsaResult {
    if forked() {
        return Err(HSA_STATUS_ERROR_NOT_INITIALIZED);
    }
    if count(-1)? {
        return Ok(());
    }
    let life = LIFE.lock();
    match life.get() {
        // A tool gives back what it took; the last reference is the caller's, who is still in `init`.
        Life::Starting(references) if references > 1 => {
            life.set(Life::Starting(references - 1));
            return Ok(());
        }
        Life::Starting(_) | Life::Ending => return Err(HSA_STATUS_ERROR_NOT_INITIALIZED),
        Life::Steady => {}
    }
    // Others may count up and down meanwhile: the last reference is taken only if it still is the last.
    loop {
        if count(-1)? {
            return Ok(());
        }
        match REFERENCES.compare_exchange(1, 0, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => break,
            Err(0) => return Err(HSA_STATUS_ERROR_NOT_INITIALIZED),
            Err(_) => {}
        }
    }
    life.set(Life::Ending);
    runtime_tools().unload();
    let runtime = CURRENT.write().take();
    // Whoever calls init in another thread waits for the release; the lock is not one that device work takes.
    if let Some(runtime) = runtime {
        runtime.release();
    }
    life.set(Life::Steady);
    Ok(())
}

/// The tools of the runtime, which are its no more.
fn runtime_tools() -> Tools {
    let runtime = CURRENT.read().clone();
    runtime.map_or_else(Tools::default, |runtime| {
        std::mem::take(&mut *runtime.tools.lock())
    })
}

impl Runtime {
    fn new() -> HsaResult<Self> {
        let agents = Agents::discover(Path::new(numa::SYSFS)).map_err(|errors| {
            errors.iter().for_each(|error| crate::log::complain(error));
            HSA_STATUS_ERROR_OUT_OF_RESOURCES
        })?;
        let (base, bytes) = signal::range()?;
        for gpu in &agents.gpus {
            let mapping = Mapping {
                base: base.as_ptr() as u64,
                len: bytes as u64,
                host: base.as_ptr(),
                rights: Rights::READ | Rights::WRITE,
                allocation: memory::next_number(),
            };
            // SAFETY: the signals' range stays mapped for the life of the process.
            unsafe { memory::map(gpu, mapping) }?;
        }
        let memory = Memory::new(agents.system_memory);
        Ok(Self {
            agents,
            memory,
            loader: Loader::default(),
            images: Images::default(),
            profile_copies: AtomicBool::new(false),
            tools: Mutex::default(),
        })
    }

    /// Releases everything: handlers first, so that no user code runs; then queues, code and memory.
    fn release(&self) {
        events::clear();
        crate::fault::clear_system_handlers();
        queue::destroy_all(self);
        self.loader.clear(self);
        self.memory.free_all(&self.agents);
    }
}

/// What is alive, for tests that look for leaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveObjects {
    /// Signals, doorbells of queues included.
    pub signals: usize,
    /// Queues.
    pub queues: usize,
    /// Allocations from pools.
    pub allocations: usize,
    /// Executables.
    pub executables: usize,
}

/// Counts what is alive.
pub fn live_objects() -> LiveObjects {
    let runtime = get().ok();
    LiveObjects {
        signals: signal::live(),
        queues: queue::live(),
        allocations: runtime.as_ref().map_or(0, |runtime| runtime.memory.live()),
        executables: runtime.as_ref().map_or(0, |runtime| runtime.loader.live()),
    }
}
