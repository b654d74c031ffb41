//! The runtime: the HSA library, its devices, the memory map, the worker pool.

mod allocation;

use std::{
    ffi::{CStr, c_void},
    path::PathBuf,
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
};

use gneiss_hsa_api::*;

use crate::{
    Config, Device, Error, Memory, MemoryKind, Result, device::HostAgent, hsa::Hsa,
    memory::MemoryMap, queue::QueueCore, trace, watch, worker::Pool,
};

/// What the devices and queues of a runtime share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) hsa: &'static Hsa,
    pub(crate) config: Config,
    pub(crate) host: HostAgent,
    pub(crate) map: MemoryMap,
    pub(crate) pool: Arc<Pool>,
    /// All GPUs' agents, also those that are not visible devices.
    pub(crate) gpu_agents: Vec<hsa_agent_t>,
    pub(crate) hostcall: crate::hostcall::Service,
    next_id: AtomicU64,
    next_hw_queue: AtomicU32,
}

impl Shared {
    /// A number that was never given before.
    pub(crate) fn new_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// A number for a hardware queue.
    pub(crate) fn new_hw_queue_id(&self) -> u32 {
        self.next_hw_queue.fetch_add(1, Ordering::Relaxed)
    }
}

/// The process's runtime over one HSA library.
#[derive(Debug)]
pub struct Runtime {
    shared: Arc<Shared>,
    devices: Vec<Arc<Device>>,
}

/// Set in the child of a fork: threads and hardware queues did not come along.
static FORKED: AtomicBool = AtomicBool::new(false);

/// Whether this process is the child of one that had started a runtime.
pub(crate) fn forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}

extern "C" fn mark_forked() {
    FORKED.store(true, Ordering::Relaxed);
}

fn watch_forks() {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        // SAFETY: the handler only stores to an atomic.
        unsafe { libc::pthread_atfork(None, None, Some(mark_forked)) };
    });
}

impl Runtime {
    /// A runtime over a table of HSA functions. Calls `hsa_init` and reads the agents; starts no thread.
    ///
    /// # Errors
    /// [`Error::Hsa`] if the library cannot start, [`Error::Gone`] in the child of a process that had started a runtime. No GPU is no error.
    pub fn new(api: HsaApi, config: Config) -> Result<Arc<Self>> {
        if forked() {
            return Err(Error::Gone(
                "the process has forked since the runtime started",
            ));
        }
        let hsa = Hsa::start(api)?;
        watch_forks();
        if let Some(path) = &config.trace {
            trace::record::start(path, config.trace_times, hsa);
        }
        let mut host_agents = Vec::new();
        let mut gpus = Vec::new();
        for agent in hsa.agents()? {
            match hsa.agent_info::<u32>(agent, HSA_AGENT_INFO_DEVICE)? {
                HSA_DEVICE_TYPE_CPU => host_agents.push(agent),
                HSA_DEVICE_TYPE_GPU => gpus.push(agent),
                _ => {}
            }
        }
        let host = HostAgent::read(hsa, &host_agents)?;
        let visible = match &config.visible_devices {
            None => gpus.clone(),
            Some(list) => {
                let uuids: Vec<_> = gpus
                    .iter()
                    .map(|agent| {
                        hsa.agent_text(*agent, HSA_AMD_AGENT_INFO_UUID)
                            .unwrap_or_default()
                    })
                    .collect();
                select_visible(list, &uuids)
                    .into_iter()
                    .map(|index| gpus[index])
                    .collect()
            }
        };
        let shared = Arc::new(Shared {
            hsa,
            host,
            map: MemoryMap::default(),
            pool: Pool::new(config.manual),
            gpu_agents: gpus,
            hostcall: crate::hostcall::Service::new(hsa),
            next_id: AtomicU64::new(1),
            next_hw_queue: AtomicU32::new(1),
            config,
        });
        let mut failure = None;
        let runtime = Arc::new_cyclic(|runtime: &Weak<Self>| {
            let mut devices = Vec::new();
            for agent in visible {
                match Device::new(&shared, runtime.clone(), devices.len(), agent) {
                    Ok(device) => devices.push(device),
                    Err(error) => failure = Some(error),
                }
            }
            Self { shared, devices }
        });
        if let Some(error) = failure {
            return Err(error);
        }
        runtime.watch_faults();
        if let Some(timeout) = runtime.shared.config.hang_timeout {
            watch::start(
                Arc::downgrade(&runtime),
                timeout,
                runtime.shared.config.hang_action,
            );
        }
        if runtime.shared.config.live {
            watch::start_live(Arc::downgrade(&runtime));
        }
        Ok(runtime)
    }

    /// Takes memory faults, which are first told to the handlers of system events; without one the library aborts the process. Also lets
    /// the library know that faults are reported by us, and has it time its copies.
    fn watch_faults(self: &Arc<Self>) {
        let hsa = self.shared.hsa;
        let target = Box::leak(Box::new(Arc::downgrade(self)));
        // SAFETY: the data is leaked: the library may call at any time.
        let status = unsafe {
            (hsa.api.hsa_amd_register_system_event_handler)(
                Some(on_system_event),
                std::ptr::from_mut(target).cast(),
            )
        };
        if status != HSA_STATUS_SUCCESS {
            tracing::warn!("memory faults will abort the process: {status}");
        }
        if let Some(last_fault) = hsa.api.gneiss_hsa_last_fault {
            // SAFETY: null is no queue.
            unsafe { last_fault(std::ptr::null()) };
        }
        // SAFETY: no preconditions.
        let status = unsafe { (hsa.api.hsa_amd_profiling_async_copy_enable)(true) };
        if status != HSA_STATUS_SUCCESS {
            tracing::warn!("copies have no device times: {status}");
        }
    }

    /// Finds and loads the HSA library: the one that `GNEISS_HSA` names, if it is set; else `libhsa-runtime64.so.1` beside the shared
    /// object that holds this code; else where the dynamic linker finds it.
    ///
    /// # Errors
    /// [`Error::NoRuntime`] with all that was tried.
    pub fn load(config: Config) -> Result<Arc<Self>> {
        const NAME: &str = "libhsa-runtime64.so.1";
        let mut candidates: Vec<PathBuf> = Vec::new();
        match std::env::var_os("GNEISS_HSA").filter(|path| !path.is_empty()) {
            Some(path) => candidates.push(path.into()),
            None => {
                if let Some(beside) = own_directory().map(|directory| directory.join(NAME))
                    && beside.exists()
                {
                    candidates.push(beside);
                }
                candidates.push(NAME.into());
            }
        }
        let mut tried = Vec::new();
        for path in candidates {
            // SAFETY: the user or the installation names an HSA runtime library.
            match unsafe { HsaApi::load(&path) } {
                Ok(api) => {
                    tracing::info!("HSA runtime: {}", path.display());
                    return Self::new(api, config);
                }
                Err(error) => tried.push(error.to_string()),
            }
        }
        Err(Error::NoRuntime(tried.join("; ")))
    }

    /// The GPUs, in the order of the HSA agents after `HIP_VISIBLE_DEVICES`.
    pub fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// The allocation that holds the address (a host or a device address), and the offset in it.
    pub fn find_memory(&self, address: usize) -> Option<(Arc<Memory>, usize)> {
        self.shared.map.find(address)
    }

    /// The allocations of which a part lies in a range.
    pub fn memory_in(&self, address: usize, size: usize) -> Vec<Arc<Memory>> {
        self.shared.map.overlapping(address, size)
    }

    /// All allocations of a kind, in the order in which they were made.
    pub fn allocations(&self, kind: MemoryKind) -> Vec<Arc<Memory>> {
        self.shared.map.filter(|memory| memory.kind == kind)
    }

    /// Nanoseconds of the HSA system clock.
    pub fn timestamp(&self) -> u64 {
        self.shared.hsa.timestamp()
    }

    /// For runtimes without threads: the next queue that a worker should look at.
    pub(crate) fn take_ready(&self) -> Option<Arc<QueueCore>> {
        self.shared.pool.take_ready()
    }

    /// Threads of the worker pool.
    #[cfg(test)]
    pub(crate) fn workers(&self) -> usize {
        self.shared.pool.threads()
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.shared.config
    }

    /// The HSA functions, for what has no wrapper here (IPC, virtual memory).
    pub fn hsa_api(&self) -> &HsaApi {
        &self.shared.hsa.api
    }
}

/// A handler of system events: takes memory faults of our devices.
unsafe extern "C" fn on_system_event(
    event: *const hsa_amd_event_t,
    data: *mut c_void,
) -> hsa_status_t {
    // A panic must not unwind into the library.
    std::panic::catch_unwind(|| {
        // SAFETY: the library gives a valid event, and the data that was registered: a leaked reference.
        let (event, runtime) = unsafe { (&*event, (*data.cast::<Weak<Runtime>>()).upgrade()) };
        let Some(runtime) = runtime else {
            return HSA_STATUS_ERROR;
        };
        if event.event_type != HSA_AMD_GPU_MEMORY_FAULT_EVENT {
            return HSA_STATUS_ERROR;
        }
        let fault = &event.memory_fault;
        let Some(device) = runtime
            .devices
            .iter()
            .find(|device| device.agent() == fault.agent)
        else {
            return HSA_STATUS_ERROR;
        };
        // A library with fault reports calls the queue's callback next, which has the report; AMD's does not.
        if runtime.shared.hsa.api.gneiss_hsa_last_fault.is_none() {
            let report = format!(
                "GPU {} ({}): memory fault at address {:#x} (reason mask {:#x})",
                device.index(),
                device.properties().gfx_name,
                fault.virtual_address,
                fault.fault_reason_mask
            );
            device.set_fault(HSA_STATUS_ERROR_MEMORY_FAULT, Some(report));
        }
        HSA_STATUS_SUCCESS
    })
    .unwrap_or(HSA_STATUS_ERROR)
}

/// The directory of the file that this code was loaded from, if it is a shared object of its own (for a program it is the program's, which
/// does no harm: the library is only taken if it is there).
fn own_directory() -> Option<PathBuf> {
    let mut info = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    // SAFETY: the address is one of this object; the result has a valid place.
    let found = unsafe { libc::dladdr(mark_forked as *const c_void, &raw mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: dladdr gives a string that lives as long as the object.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    let path = PathBuf::from(std::ffi::OsString::from(name.to_str().ok()?));
    let path = path.canonicalize().ok()?;
    path.parent().map(PathBuf::from)
}

/// The devices that a list of indices and UUIDs selects: it ends at the first entry that names no device; a device counts once.
fn select_visible(list: &str, uuids: &[String]) -> Vec<usize> {
    let mut selected = Vec::new();
    for entry in list.split(',') {
        let entry = entry.trim();
        let index = match entry.parse::<usize>() {
            Ok(index) => index,
            Err(_) if entry.starts_with("GPU-") => {
                match uuids.iter().position(|uuid| uuid == entry) {
                    Some(index) => index,
                    None => break,
                }
            }
            Err(_) => break,
        };
        if index >= uuids.len() {
            break;
        }
        if !selected.contains(&index) {
            selected.push(index);
        }
    }
    selected
}

#[cfg(test)]
mod tests {
    use super::select_visible;

    #[test]
    fn a_visible_list_ends_at_the_first_bad_entry_and_drops_duplicates() {
        let uuids: Vec<String> = ["GPU-0a", "GPU-0b", "GPU-0c"].map(String::from).to_vec();
        assert_eq!(select_visible("2,0", &uuids), [2, 0]);
        assert_eq!(select_visible("1, 1,GPU-0c", &uuids), [1, 2]);
        assert_eq!(select_visible("0,-1,2", &uuids), [0]);
        assert_eq!(select_visible("3,0", &uuids), [0_usize; 0]);
        assert_eq!(select_visible("GPU-ff", &uuids), [0_usize; 0]);
    }
}
