//! What happens when a queue fails: it stops, and who is to know is told, once, on the thread of events.
//!
//! As in ROCr, a memory fault is first an event of the system: handlers of `hsa_amd_register_system_event_handler` are asked, and if
//! none takes it, the known line goes to stderr and the process aborts. Everything else, and a memory fault that a handler took,
//! goes to the queue's callback; without a callback the process aborts.
//!
//! The report that names kernel, PC, lane and address is printed here, too, unless the client has shown that it fetches reports
//! itself by calling `gneiss_hsa_last_fault`.

use std::{
    env,
    ffi::{CString, c_void},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use gneiss_amdgcn::engine::{Fault, FaultKind};
use gneiss_hsa_api::*;
use parking_lot::Mutex;

use crate::{agent::AgentId, core_dump::Dump, events, log::complain, queue::Queue, signal};

/// Set once a client has asked for a report: it prints reports itself.
static CLIENT_REPORTS: AtomicBool = AtomicBool::new(false);

type SystemHandler = unsafe extern "C" fn(*const hsa_amd_event_t, *mut c_void) -> hsa_status_t;

/// Handlers of system events, and their data.
static HANDLERS: Mutex<Vec<(SystemHandler, usize)>> = Mutex::new(Vec::new());

/// Adds a handler of system events.
pub(crate) fn add_system_handler(handler: SystemHandler, data: *mut c_void) {
    HANDLERS.lock().push((handler, data as usize));
}

/// Forgets the handlers, at shutdown.
pub(crate) fn clear_system_handlers() {
    HANDLERS.lock().clear();
}

/// Notes that the client prints reports.
pub(crate) fn client_reports() {
    CLIENT_REPORTS.store(true, Ordering::Relaxed);
}

/// Whether the client wants bad accesses found to the byte: one that prints reports does. Others may touch whole granules, as the
/// hardware lets them and as programs that were written for it do.
pub(crate) fn exact() -> bool {
    CLIENT_REPORTS.load(Ordering::Relaxed)
}

fn message_wanted(variable: &str) -> bool {
    env::var(variable).map_or(true, |value| value != "0")
}

/// The status that a fault is reported as.
fn status_of(kind: FaultKind) -> hsa_status_t {
    match kind {
        FaultKind::IllegalInstruction | FaultKind::Unsupported => {
            HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION
        }
        FaultKind::Memory { .. } => HSA_STATUS_ERROR_MEMORY_FAULT,
        FaultKind::Aperture { .. } => HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION,
        FaultKind::Trap(_) | FaultKind::Float(_) | FaultKind::Timeout => HSA_STATUS_ERROR_EXCEPTION,
        FaultKind::InvalidDispatch => HSA_STATUS_ERROR_INVALID_ARGUMENT,
        FaultKind::Cancelled | FaultKind::Internal => HSA_STATUS_ERROR,
    }
}

/// The bits that hardware writes to `queue_inactive_signal`.
fn inactive_bits(status: hsa_status_t) -> i64 {
    match status {
        HSA_STATUS_ERROR_OUT_OF_RESOURCES => 1,
        HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS => 2,
        HSA_STATUS_ERROR_INVALID_ALLOCATION => 4,
        HSA_STATUS_ERROR_INVALID_CODE_OBJECT => 8,
        HSA_STATUS_ERROR_INVALID_PACKET_FORMAT => 32,
        HSA_STATUS_ERROR_INVALID_ARGUMENT => 64,
        HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION => 0x2000_0000,
        HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION => 0x4000_0000,
        _ => 0x8000_0000,
    }
}

/// Fails a queue because of a fault of a wave.
pub(crate) fn fail_by_fault(queue: &Arc<Queue>, fault: Fault) {
    let memory = match fault.kind {
        FaultKind::Memory { address, .. } => Some(address),
        _ => None,
    };
    let report = fault.to_string();
    let dump = (!fault.groups.is_empty()).then(|| Dump {
        report: format!("{}\n{report}", queue.gpu.target),
        groups: fault.groups,
        faulted: fault.wave,
    });
    fail_with(queue, status_of(fault.kind), report, memory, dump);
}

/// Fails a queue: it takes no more packets, and the callback is called on the thread of events. Only the first failure counts.
pub(crate) fn fail(queue: &Arc<Queue>, status: hsa_status_t, report: String) {
    fail_with(queue, status, report, None, None);
}

/// As [`fail`], with the address of a memory fault and a core dump.
fn fail_with(
    queue: &Arc<Queue>,
    status: hsa_status_t,
    report: String,
    memory: Option<u64>,
    dump: Option<Dump>,
) {
    queue.active.store(false, Ordering::SeqCst);
    if queue.failed.swap(true, Ordering::SeqCst) {
        return;
    }
    tracing::error!(queue = ?queue.public(), %status, report, "queue failed");
    *queue.report.lock() = CString::new(report.replace('\0', " ")).ok();
    if let Ok(signal) = signal::user(queue.inactive_signal()) {
        signal.update(|value| value.store(inactive_bits(status), Ordering::SeqCst));
    }
    let queue = Arc::clone(queue);
    let deferred = events::defer(move || {
        if !queue.in_table() {
            // Destroyed in the meantime: its memory is gone, and nobody asks any more.
            return;
        }
        if !CLIENT_REPORTS.load(Ordering::Relaxed)
            && message_wanted("HSA_ENABLE_QUEUE_FAULT_MESSAGE")
        {
            complain(&report);
        }
        if let Some(dump) = dump {
            dump.write();
        }
        if let Some(address) = memory {
            offer_to_system(&queue, address);
        }
        call_back(&queue, status);
    });
    if let Err(status) = deferred {
        complain(&format!("a queue failed and nobody can be told ({status})"));
        std::process::abort();
    }
}

/// Asks the handlers of system events; aborts as ROCr does if none takes the fault.
fn offer_to_system(queue: &Queue, address: u64) {
    // ROCr names the page and, without more knowledge, says that it is not there.
    let event = hsa_amd_event_t {
        event_type: HSA_AMD_GPU_MEMORY_FAULT_EVENT,
        memory_fault: hsa_amd_gpu_memory_fault_info_t {
            agent: queue.agent.handle(),
            virtual_address: address & !0xfff,
            fault_reason_mask: HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT,
        },
    };
    let handlers = HANDLERS.lock().clone();
    for (handler, data) in handlers {
        // SAFETY: the user registered this function with this data.
        if unsafe { handler(&event, data as *mut c_void) } == HSA_STATUS_SUCCESS {
            return;
        }
    }
    if message_wanted("HSA_ENABLE_VM_FAULT_MESSAGE") {
        let runtime = queue.runtime.upgrade();
        let node = runtime.map_or(0, |runtime| runtime.agents.topology_node(queue.agent));
        eprintln!(
            "Memory access fault by GPU node-{node} (Agent handle: {:#x}) on address {:#x}. \
             Reason: Page not present or supervisor privilege.",
            queue.agent.handle().handle,
            address & !0xfff,
        );
    }
    std::process::abort();
}

/// Tells the handlers of system events that memory cannot be freed, for a queue uses it.
pub(crate) fn memory_in_use(agent: AgentId, address: u64) {
    tracing::error!(address, "memory of a queue is not the program's to free");
    // The error has the layout of a fault; its first reason is "in use".
    let event = hsa_amd_event_t {
        event_type: HSA_AMD_GPU_MEMORY_ERROR_EVENT,
        memory_fault: hsa_amd_gpu_memory_fault_info_t {
            agent: agent.handle(),
            virtual_address: address,
            fault_reason_mask: 1,
        },
    };
    let handlers = HANDLERS.lock().clone();
    for (handler, data) in handlers {
        // SAFETY: the user registered this function with this data.
        let status = unsafe { handler(&event, data as *mut c_void) };
        tracing::debug!(%status, "a handler of system events was told");
    }
}

fn call_back(queue: &Queue, status: hsa_status_t) {
    match queue.callback {
        // SAFETY: the user gave this function with this data when the queue was made.
        Some(callback) => unsafe { callback(status, queue.known(), queue.data as *mut c_void) },
        None => {
            if message_wanted("HSA_ENABLE_QUEUE_FAULT_MESSAGE") {
                eprintln!(
                    "Queue at {:p} inactivated due to async error:\n\t{}",
                    queue.public(),
                    crate::status::text(status)
                );
            }
            std::process::abort();
        }
    }
}
