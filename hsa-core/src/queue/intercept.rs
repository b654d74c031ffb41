//! Queues whose packets tools see, and may change, before they run.
//!
//! The program gets a queue of its own, which has no packet processor. Whoever rings its doorbell takes the packets from its ring and
//! passes them through the handlers, the one registered last first; what the first handler writes goes to a second queue, which runs
//! it. One thread at a time does so; a thread that finds another at work leaves its packets to that one. Packets for which the second
//! queue has no room wait in a list, and the engine comes back for them.

use std::{
    cell::RefCell,
    collections::VecDeque,
    ffi::c_void,
    sync::{Arc, atomic::Ordering},
};

use gneiss_amdgcn::engine::Task;
use gneiss_hsa_api::*;
use parking_lot::Mutex;

use super::{Queue, Request, publish, take_down};
use crate::{
    entry::{HsaResult, require},
    protocol::turn::Turn,
    runtime::Runtime,
    watch,
};

/// 64 bytes of a packet.
pub(crate) type Packet = [u8; 64];

/// What a handler calls to pass packets on.
pub(crate) type Writer = unsafe extern "C" fn(packets: *const c_void, count: u64);

/// A tool's handler of packets.
pub(crate) type Handler = unsafe extern "C" fn(
    packets: *const c_void,
    count: u64,
    user_packet_index: u64,
    data: *mut c_void,
    writer: Writer,
);

/// Format of a vendor packet that is no packet but a request to be told where the next one goes.
const MARKER_FORMAT: u8 = 0xfe;

/// What a marker packet wants to be called.
type MarkerHandler =
    unsafe extern "C" fn(packet: *const Packet, queue: *mut hsa_queue_t, packet_id: u64);

#[derive(Default)]
struct Waiting {
    packets: VecDeque<Packet>,
    /// Makes the engine come back while packets wait.
    poller: Option<watch::Poller>,
}

/// What tools do with the packets of a queue.
pub(crate) struct Intercept {
    target: Arc<Queue>,
    handlers: Mutex<Vec<(Handler, usize)>>,
    waiting: Mutex<Waiting>,
    /// Whose turn it is to pass packets through the handlers.
    turn: Turn,
}

/// The step of the chain that a handler's writer goes on with.
#[derive(Clone, Copy)]
struct Step {
    intercept: *const Intercept,
    /// Handlers that are still to see the packets.
    left: usize,
    index: u64,
}

thread_local! {
    static STEP: RefCell<Option<Step>> = const { RefCell::new(None) };
}

/// `hsa_amd_queue_intercept_create`.
pub(crate) fn create(
    runtime: &Arc<Runtime>,
    agent: hsa_agent_t,
    request: &Request,
) -> HsaResult<*mut hsa_queue_t> {
    // A cooperative queue is shared: its packets are nobody's own.
    require(request.kind != HSA_QUEUE_TYPE_COOPERATIVE)?;
    let target = super::create(runtime, agent, request)?;
    // SAFETY: a queue that was just made.
    let target = unsafe { super::find(target) }?;
    let gpu = target.agent.gpu().ok_or(HSA_STATUS_ERROR_INVALID_AGENT)?;
    let queue = match Queue::new(runtime, gpu, request) {
        Ok(queue) => queue,
        Err(status) => {
            take_down(runtime, target)?;
            return Err(status);
        }
    };
    target
        .facade
        .store(queue.public() as usize, Ordering::Relaxed);
    let intercept = Intercept {
        target,
        handlers: Mutex::default(),
        waiting: Mutex::default(),
        turn: Turn::new(),
    };
    if queue.intercept.set(intercept).is_err() {
        return Err(HSA_STATUS_ERROR);
    }
    let pointer = queue.public();
    publish(queue);
    Ok(pointer)
}

impl Intercept {
    /// The queue that runs the packets.
    pub(crate) fn target(&self) -> &Arc<Queue> {
        &self.target
    }

    /// Adds a handler, which sees packets before those that are there.
    pub(crate) fn register(&self, handler: Handler, data: *mut c_void) {
        self.handlers.lock().push((handler, data as usize));
    }

    /// Destroys the queue that runs the packets.
    pub(super) fn close(&self, runtime: &Runtime) -> HsaResult {
        *self.waiting.lock() = Waiting::default();
        take_down(runtime, Arc::clone(&self.target))
    }

    /// Takes what is in the ring of `queue` and passes it on.
    pub(crate) fn run(&self, queue: &Arc<Queue>) {
        self.turn.request(|| {
            while queue.active.load(Ordering::SeqCst) {
                let index = queue.read_index().load(Ordering::Relaxed);
                let packets = queue.take_valid();
                if packets.is_empty() {
                    break;
                }
                let left = self.handlers.lock().len();
                self.pass(&packets, left, index);
            }
            self.flush(queue);
        });
    }

    /// Gives packets to the handler before `left`, or to the target.
    fn pass(&self, packets: &[Packet], left: usize, index: u64) {
        let Some(next) = left.checked_sub(1) else {
            self.submit(packets);
            return;
        };
        let Some((handler, data)) = self.handlers.lock().get(next).copied() else {
            return;
        };
        let step = Step {
            intercept: self,
            left: next,
            index,
        };
        let before = STEP.with(|current| current.borrow_mut().replace(step));
        // SAFETY: a tool registered this function with this data; the packets live for the call.
        unsafe {
            handler(
                packets.as_ptr().cast(),
                packets.len() as u64,
                index,
                data as *mut c_void,
                write,
            );
        }
        STEP.with(|current| *current.borrow_mut() = before);
    }

    /// Queues packets for the target. Markers are told where the next packet goes.
    fn submit(&self, packets: &[Packet]) {
        for packet in packets {
            let kind = u32::from(packet[0]);
            if kind == HSA_PACKET_TYPE_VENDOR_SPECIFIC && packet[2] == MARKER_FORMAT {
                let mut address = [0; 8];
                address.copy_from_slice(&packet[8..16]);
                let address = usize::from_le_bytes(address);
                if address != 0 {
                    let next = {
                        let waiting = self.waiting.lock();
                        self.target.write_index().load(Ordering::Relaxed)
                            + waiting.packets.len() as u64
                    };
                    // SAFETY: a tool made this packet and says that this is its function.
                    unsafe {
                        let function: MarkerHandler = std::mem::transmute(address);
                        function(packet, self.target.public(), next);
                    }
                }
                continue;
            }
            self.waiting.lock().packets.push_back(*packet);
        }
    }

    /// Moves waiting packets to the target's ring as far as there is room.
    fn flush(&self, queue: &Arc<Queue>) {
        let mut waiting = self.waiting.lock();
        let mut written = false;
        while let Some(packet) = waiting.packets.front() {
            if !self.target.append(packet) {
                break;
            }
            waiting.packets.pop_front();
            written = true;
        }
        let old = if waiting.packets.is_empty() {
            waiting.poller.take()
        } else {
            if waiting.poller.is_none() {
                let task: Arc<dyn Task> = queue.clone();
                waiting.poller = Some(watch::poll(task));
            }
            None
        };
        drop(waiting);
        drop(old);
        if written {
            self.target.wake();
        }
    }
}

/// What handlers call to pass packets on: to the next handler of the chain that this thread is in.
unsafe extern "C" fn write(packets: *const c_void, count: u64) {
    let Some(step) = STEP.with(|current| *current.borrow()) else {
        tracing::error!("a packet writer was called outside of its handler");
        return;
    };
    if packets.is_null() || count == 0 {
        return;
    }
    // SAFETY: the handler passes `count` packets of 64 bytes; the interception outlives the call of the handler, which this is in.
    unsafe {
        let packets: Vec<Packet> = (0..count as usize)
            .map(|at| packets.cast::<Packet>().add(at).read_unaligned())
            .collect();
        (*step.intercept).pass(&packets, step.left, step.index);
    }
}
