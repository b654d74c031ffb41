//! Devices: what the agents say of themselves, their pools and book-keeping, the set of active queues, the sticky fault.

use std::sync::{
    Arc, OnceLock, Weak,
    atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering},
};

use gneiss_hsa_api::*;
use parking_lot::Mutex;

use crate::{
    DeviceFault, DeviceProperties, Error, FaultKind, HostQueue, MemoryKind, Result, Runtime,
    hostcall::PrintfBuffer,
    hsa::Hsa,
    queue::{QueueCore, StagingPool},
    runtime::Shared,
    signal::SignalPool,
    virtual_gpu::{HwQueues, KernargPool},
};

/// The CPU agent and its pools.
#[derive(Debug)]
pub(crate) struct HostAgent {
    pub(crate) agent: hsa_agent_t,
    pub(crate) fine_pool: hsa_amd_memory_pool_t,
    pub(crate) coarse_pool: hsa_amd_memory_pool_t,
    pub(crate) kernarg_pool: hsa_amd_memory_pool_t,
}

impl HostAgent {
    /// Reads the pools of the first CPU agent that has a fine-grained one.
    pub(crate) fn read(hsa: &Hsa, agents: &[hsa_agent_t]) -> Result<Self> {
        for agent in agents {
            let (mut fine, mut coarse, mut kernarg) = (None, None, None);
            for pool in hsa.pools(*agent)? {
                let segment = hsa.pool_info::<u32>(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT)?;
                if segment != HSA_AMD_SEGMENT_GLOBAL {
                    continue;
                }
                let flags = hsa.pool_info::<u32>(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS)?;
                if flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT != 0 {
                    kernarg.get_or_insert(pool);
                } else if flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED != 0 {
                    fine.get_or_insert(pool);
                } else if flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED != 0 {
                    coarse.get_or_insert(pool);
                }
            }
            if let Some(fine) = fine.or(kernarg) {
                return Ok(Self {
                    agent: *agent,
                    fine_pool: fine,
                    coarse_pool: coarse.unwrap_or(fine),
                    kernarg_pool: kernarg.unwrap_or(fine),
                });
            }
        }
        Err(Error::Unsupported(
            "the HSA library has no CPU agent with fine-grained memory".into(),
        ))
    }
}

/// A GPU.
#[derive(Debug)]
pub struct Device {
    shared: Arc<Shared>,
    runtime: Weak<Runtime>,
    this: Weak<Device>,
    index: usize,
    agent: hsa_agent_t,
    pool: hsa_amd_memory_pool_t,
    fine_pool: Option<hsa_amd_memory_pool_t>,
    properties: DeviceProperties,
    used: AtomicUsize,
    /// Agents besides this one that may access this device's memory.
    visitors: Mutex<Vec<hsa_agent_t>>,
    hw_queues: HwQueues,
    signals: SignalPool,
    kernargs: KernargPool,
    staging: StagingPool,
    active: Mutex<Vec<Arc<QueueCore>>>,
    faulted: AtomicBool,
    fault: Mutex<Option<DeviceFault>>,
    /// Held while a fault is spread to the queues, and by a reset, which must not come in between. Taken before all other locks.
    spreading: Mutex<()>,
    /// Spare buffers for printf.
    printf_buffers: Mutex<Vec<PrintfBuffer>>,
    stack_size: AtomicU32,
    heap: OnceLock<Result<u64>>,
}

/// Bytes of the control block of device malloc.
const HEAP_CONTROL: usize = 256 * 1024;

impl Device {
    pub(crate) fn new(
        shared: &Arc<Shared>,
        runtime: Weak<Runtime>,
        index: usize,
        agent: hsa_agent_t,
    ) -> Result<Arc<Self>> {
        let hsa = shared.hsa;
        let mut properties = DeviceProperties::read(hsa, agent)?;
        let (mut coarse, mut fine) = (None, None);
        for pool in hsa.pools(agent)? {
            match hsa.pool_info::<u32>(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT)? {
                HSA_AMD_SEGMENT_GLOBAL => {
                    let flags =
                        hsa.pool_info::<u32>(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS)?;
                    if flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED != 0 {
                        coarse.get_or_insert(pool);
                    } else if flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED != 0 {
                        fine.get_or_insert(pool);
                    }
                }
                HSA_AMD_SEGMENT_GROUP => {
                    properties.lds_size = hsa.pool_info(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE)?;
                }
                _ => {}
            }
        }
        let pool = coarse.or(fine).ok_or_else(|| {
            Error::Unsupported(format!("{} has no memory of its own", properties.gfx_name))
        })?;
        properties.global_memory_size = hsa.pool_info(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE)?;
        properties.max_allocation =
            match hsa.pool_info::<usize>(pool, HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE) {
                Ok(0) | Err(_) => properties.global_memory_size,
                Ok(size) => size,
            };
        properties.allocation_granule = hsa
            .pool_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE)
            .unwrap_or(4096);
        properties.fine_grained_pool = fine.is_some();
        let access = hsa
            .agent_pool_info::<u32>(
                shared.host.agent,
                pool,
                HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS,
            )
            .unwrap_or(HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED);
        properties.large_bar = properties.apu
            || (access != HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED && shared.config.large_bar);
        let link = hsa.agent_pool_info::<[u8; 28]>(
            agent,
            shared.host.fine_pool,
            HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO,
        );
        crate::trace::record::device(index, &properties.gfx_name);
        // Bytes 16 and 17 are the two atomics flags.
        properties.link_atomics =
            properties.apu || link.is_ok_and(|link| link[16] != 0 || link[17] != 0);
        Ok(Arc::new_cyclic(|this| Self {
            shared: shared.clone(),
            runtime,
            this: this.clone(),
            index,
            agent,
            pool,
            fine_pool: fine,
            properties,
            used: AtomicUsize::new(0),
            visitors: Mutex::new(Vec::new()),
            hw_queues: HwQueues::default(),
            signals: SignalPool::new(hsa),
            kernargs: KernargPool::default(),
            staging: StagingPool::default(),
            active: Mutex::new(Vec::new()),
            faulted: AtomicBool::new(false),
            fault: Mutex::new(None),
            spreading: Mutex::new(()),
            printf_buffers: Mutex::new(Vec::new()),
            stack_size: AtomicU32::new(1024),
            heap: OnceLock::new(),
        }))
    }

    /// An empty buffer for the printf of one launch.
    pub(crate) fn take_printf_buffer(self: &Arc<Self>) -> Result<PrintfBuffer> {
        let spare = self.printf_buffers.lock().pop();
        let buffer = match spare {
            Some(buffer) => buffer,
            None => PrintfBuffer::new(self)?,
        };
        buffer.clear();
        Ok(buffer)
    }

    /// Keeps a buffer for the next launch.
    pub(crate) fn give_printf_buffer(&self, buffer: PrintfBuffer) {
        self.printf_buffers.lock().push(buffer);
    }

    /// Its place in [`Runtime::devices`].
    pub fn index(&self) -> usize {
        self.index
    }

    /// The runtime, while it lives.
    pub fn runtime(&self) -> Option<Arc<Runtime>> {
        self.runtime.upgrade()
    }

    /// The HSA agent.
    pub fn agent(&self) -> hsa_agent_t {
        self.agent
    }

    /// The coarse-grained pool.
    pub fn pool(&self) -> hsa_amd_memory_pool_t {
        self.pool
    }

    /// What it is.
    pub fn properties(&self) -> &DeviceProperties {
        &self.properties
    }

    pub(crate) fn fine_pool(&self) -> Option<hsa_amd_memory_pool_t> {
        self.fine_pool
    }

    pub(crate) fn hsa(&self) -> &'static Hsa {
        self.shared.hsa
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) fn weak(&self) -> Weak<Device> {
        self.this.clone()
    }

    pub(crate) fn hw_queues(&self) -> &HwQueues {
        &self.hw_queues
    }

    pub(crate) fn signals(&self) -> &SignalPool {
        &self.signals
    }

    pub(crate) fn kernargs(&self) -> &KernargPool {
        &self.kernargs
    }

    pub(crate) fn staging(&self) -> &StagingPool {
        &self.staging
    }

    /// Free and total bytes, by this runtime's own book-keeping.
    pub fn memory_info(&self) -> (usize, usize) {
        let total = self.properties.global_memory_size;
        (
            total.saturating_sub(self.used.load(Ordering::Relaxed)),
            total,
        )
    }

    fn granules(&self, size: usize) -> usize {
        size.checked_next_multiple_of(self.properties.allocation_granule.max(1))
            .unwrap_or(usize::MAX)
    }

    /// Counts an allocation; an error if there is not that much left.
    pub(crate) fn reserve(&self, size: usize) -> Result<()> {
        let bytes = self.granules(size);
        let total = self.properties.global_memory_size;
        self.used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
                used.checked_add(bytes).filter(|sum| *sum <= total)
            })
            .map(drop)
            .map_err(|_| Error::OutOfMemory {
                what: "device",
                size,
            })
    }

    pub(crate) fn unreserve(&self, size: usize) {
        self.used.fetch_sub(self.granules(size), Ordering::Relaxed);
    }

    /// Scratch of a work-item for kernels whose need is not known at compile time (recursion). Default 1024.
    pub fn stack_size(&self) -> u32 {
        self.stack_size.load(Ordering::Relaxed)
    }

    /// Sets [`stack_size`](Self::stack_size) for later launches; at most 16 KiB is used.
    pub fn set_stack_size(&self, bytes: u32) {
        self.stack_size.store(bytes, Ordering::Relaxed);
    }

    /// The control block of device malloc for code objects v5 (`hidden_heap_v1`), made at the first kernel that wants it. All zero is an
    /// empty heap, as in older code objects, which have the block as a zero-initialised variable of their own: slabs come through hostcall.
    pub(crate) fn heap(&self) -> Result<u64> {
        let make = || {
            if !self.properties.large_bar {
                return Err(Error::Unsupported(
                    "device malloc: the host cannot clear the heap of this device".into(),
                ));
            }
            let memory = self
                .hsa()
                .pool_allocate(self.pool, HEAP_CONTROL, "device heap")?;
            // SAFETY: just allocated, accessible to the host, unknown to anybody.
            unsafe { std::ptr::write_bytes(memory.cast::<u8>(), 0, HEAP_CONTROL) };
            Ok(memory as u64)
        };
        self.heap.get_or_init(make).clone()
    }

    /// Agents that may access this device's memory.
    pub(crate) fn access_list(&self) -> Vec<hsa_agent_t> {
        let mut agents = vec![self.agent];
        agents.extend_from_slice(&self.visitors.lock());
        agents
    }

    /// Whether kernels of this device can access memory of `peer`.
    pub fn can_access_peer(&self, peer: &Device) -> bool {
        self.agent != peer.agent
            && self
                .hsa()
                .agent_pool_info::<u32>(
                    self.agent,
                    peer.pool,
                    HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS,
                )
                .is_ok_and(|access| access != HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED)
    }

    /// Lets this device's kernels access all memory of `peer`, now and later (or stops that).
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the devices cannot reach each other; [`Error::Hsa`].
    pub fn set_peer_access(&self, peer: &Arc<Device>, enable: bool) -> Result<()> {
        if enable && !self.can_access_peer(peer) {
            return Err(Error::Unsupported(format!(
                "device {} cannot access memory of device {}",
                self.index, peer.index
            )));
        }
        {
            let mut visitors = peer.visitors.lock();
            visitors.retain(|agent| *agent != self.agent);
            if enable {
                visitors.push(self.agent);
            }
        }
        let agents = peer.access_list();
        let owned = self.shared.map.filter(|memory| {
            memory.kind() == MemoryKind::Device && Arc::ptr_eq(memory.device(), peer)
        });
        for memory in owned {
            self.hsa()
                .allow_access(&agents, memory.device_address() as *const _)?;
        }
        Ok(())
    }

    /// All queues that have commands that have not ended, as far as is known without looking at the device; in no order. Costs are
    /// in the number of active queues, not of queues. Queues whose handle is dropped are not listed, though their work goes on.
    pub fn active_queues(&self) -> Vec<Arc<HostQueue>> {
        // Looked at without the lock: a queue's own lock comes before it.
        let active = self.active.lock().clone();
        active
            .iter()
            .filter(|core| core.last().is_some())
            .filter_map(|core| core.handle())
            .collect()
    }

    /// The queues with commands that have not ended, also those whose handle is dropped.
    pub(crate) fn active_cores(&self) -> Vec<Arc<QueueCore>> {
        self.active.lock().clone()
    }

    /// Waits until all queues of this device have ended what was enqueued before the call.
    ///
    /// # Errors
    /// The device's fault, or the first error of a queue.
    pub fn synchronize(&self) -> Result<()> {
        let cores = self.active.lock().clone();
        let mut result = Ok(());
        for core in cores {
            let finished = core.finish();
            result = result.and(finished);
        }
        match self.fault() {
            Some(fault) => Err(Error::Fault(fault)),
            None => result,
        }
    }

    /// Puts a queue into the active set; the queue remembers its place.
    pub(crate) fn activate(&self, core: &Arc<QueueCore>) {
        let mut active = self.active.lock();
        core.set_active_slot(active.len());
        active.push(core.clone());
    }

    /// Takes a queue out of the active set. The caller has a reference of its own.
    pub(crate) fn deactivate(&self, core: &QueueCore) {
        let mut active = self.active.lock();
        let slot = core.active_slot();
        if active
            .get(slot)
            .is_some_and(|other| std::ptr::eq(Arc::as_ptr(other), core))
        {
            let removed = active.swap_remove(slot);
            if let Some(moved) = active.get(slot) {
                moved.set_active_slot(slot);
            }
            drop(active);
            drop(removed);
        }
    }

    pub(crate) fn is_faulted(&self) -> bool {
        self.faulted.load(Ordering::Acquire)
    }

    /// The sticky fault, if the device has faulted.
    pub fn fault(&self) -> Option<DeviceFault> {
        if !self.is_faulted() {
            return None;
        }
        self.fault.lock().clone()
    }

    /// Records the first fault, and fails all that is outstanding. Called on a thread of the HSA library.
    pub(crate) fn set_fault(&self, status: hsa_status_t, report: Option<String>) {
        let _spreading = self.spreading.lock();
        {
            let mut fault = self.fault.lock();
            if fault.is_some() {
                return;
            }
            let text = self.hsa().status_text(status);
            let report = report.map_or_else(
                || format!("GPU {} ({}): {text}", self.index, self.properties.gfx_name),
                |report| report.trim_end().to_owned(),
            );
            tracing::error!("{report}");
            *fault = Some(DeviceFault {
                status,
                kind: fault_kind(status, &report),
                report,
            });
            // Release: pairs with the acquire in `is_faulted`. From here on no queue gives the device anything.
            self.faulted.store(true, Ordering::Release);
        }
        self.hw_queues.bury();
        let cores = self.active.lock().clone();
        for core in cores {
            core.release_signals();
        }
    }

    /// A hang was declared: all outstanding work fails, and nobody waits for user code that does not return.
    pub(crate) fn fail_hang(&self, timeout: std::time::Duration) {
        let report = format!(
            "GNEISS_HANG_TIMEOUT: no command has ended for {} s while threads wait; all outstanding work fails",
            timeout.as_secs_f64()
        );
        self.set_fault(HSA_STATUS_ERROR_EXCEPTION, Some(report));
        for core in self.active_cores() {
            core.abandon();
        }
    }

    /// Clears the fault, so that new commands run (on new hardware queues). Outstanding commands have failed already.
    pub fn reset(&self) {
        let _spreading = self.spreading.lock();
        let mut fault = self.fault.lock();
        *fault = None;
        self.faulted.store(false, Ordering::Release);
    }
}

fn fault_kind(status: hsa_status_t, report: &str) -> FaultKind {
    match status {
        HSA_STATUS_ERROR_MEMORY_FAULT => FaultKind::IllegalAddress,
        HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION => FaultKind::Aperture,
        HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION | HSA_STATUS_ERROR_INVALID_ISA => {
            FaultKind::IllegalInstruction
        }
        HSA_STATUS_ERROR_EXCEPTION
            if report.contains("GNEISS_KERNEL_TIMEOUT")
                || report.starts_with("GNEISS_HANG_TIMEOUT") =>
        {
            FaultKind::Timeout
        }
        HSA_STATUS_ERROR_EXCEPTION => FaultKind::Trap,
        HSA_STATUS_ERROR_OUT_OF_RESOURCES => FaultKind::OutOfResources,
        HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS
        | HSA_STATUS_ERROR_INVALID_ALLOCATION
        | HSA_STATUS_ERROR_INVALID_CODE_OBJECT
        | HSA_STATUS_ERROR_INVALID_PACKET_FORMAT
        | HSA_STATUS_ERROR_INVALID_ARGUMENT => FaultKind::InvalidPacket,
        _ => FaultKind::Other,
    }
}
