//! The hostcall service: what device code asks the host to do while it runs (printf, device malloc, calls of host functions).
//!
//! Each hardware queue whose kernels want it has a buffer in fine-grained memory, with the layout that AMD's device libraries use
//! (`__ockl_hostcall_internal`). A wave takes a packet from the free stack, fills its header and the slots of its active lanes, pushes it on the
//! ready stack, adds 1 to the doorbell signal and waits until the packet's ready flag is cleared. One thread of ours, started with the
//! first buffer, sleeps on the doorbell and serves whole ready stacks. As a kernel cannot end before its waves have their answers, all its
//! output has been written when a synchronising call returns.
//!
//! Everything in a buffer was written by device code and is not trusted: indices are masked, chains are cut when they are too long, lengths are
//! checked. The exception is service 1, which by its nature calls the address that it is given.

mod buffered;
mod message;
mod printf;

pub use buffered::PRINTF_BUFFER_SIZE;
pub(crate) use buffered::{Buffer as PrintfBuffer, Formats as PrintfFormats};
pub(crate) use printf::assertion_failed;

use std::{
    collections::HashMap,
    mem::offset_of,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
};

use gneiss_hsa_api::*;
use parking_lot::Mutex;

use crate::{Device, Error, Result, hsa::Hsa, worker::with_signals_blocked};
use message::Messages;

/// The start of a buffer. Device code uses the fields up to `index_mask`; the rest is ours.
#[repr(C)]
struct BufferHeader {
    headers: u64,
    payloads: u64,
    doorbell: hsa_signal_t,
    /// Tagged index of the first free packet.
    free_stack: u64,
    /// Tagged index of the first packet that waits for the host.
    ready_stack: u64,
    /// Packets - 1; a power of two of packets. Bits above are the tag.
    index_mask: u64,
}

const _: () = {
    assert!(offset_of!(BufferHeader, doorbell) == 16);
    assert!(offset_of!(BufferHeader, free_stack) == 24);
    assert!(offset_of!(BufferHeader, ready_stack) == 32);
    assert!(offset_of!(BufferHeader, index_mask) == 40);
};

/// A packet's header.
#[repr(C)]
struct PacketHeader {
    /// Tagged index of the next packet of the same stack.
    next: u64,
    /// Lanes whose slots are filled.
    active_mask: u64,
    service: u32,
    /// Bit 0: waits for the host.
    control: u32,
}

const _: () = assert!(size_of::<PacketHeader>() == 24);

/// A packet's payload: 8 words for each of 64 lanes.
type Payload = [[u64; 8]; 64];

const SERVICE_FUNCTION_CALL: u32 = 1;
const SERVICE_PRINTF: u32 = 2;
const SERVICE_DEVICE_MEMORY: u32 = 3;

const READY: u32 = 1;
/// Device malloc asks for slabs of this size and needs them aligned to it.
const SLAB: usize = 2 << 20;
const PAGE: usize = 4096;

/// A buffer that is being served.
#[derive(Debug)]
struct Buffer {
    address: *mut BufferHeader,
    packets: u64,
    device: Arc<Device>,
}

// SAFETY: what the address points to is shared with the device by design; the host's accesses are atomic, or to packets that it owns.
unsafe impl Send for Buffer {}

#[derive(Debug, Default)]
struct Served {
    buffers: Vec<Buffer>,
    messages: Messages,
    /// Device memory handed out: the address given, the allocation's own, and its size.
    blocks: HashMap<u64, (u64, usize)>,
    doorbell: Option<hsa_signal_t>,
}

/// The service of a runtime.
#[derive(Debug)]
pub(crate) struct Service {
    hsa: &'static Hsa,
    served: Arc<Mutex<Served>>,
}

impl Service {
    pub(crate) fn new(hsa: &'static Hsa) -> Self {
        Self {
            hsa,
            served: Arc::default(),
        }
    }

    /// Makes and registers a buffer for one hardware queue of a device; it lives as long as the process. Starts the thread if it is the first.
    pub(crate) fn new_buffer(&self, device: &Arc<Device>) -> Result<u64> {
        let properties = device.properties();
        if !properties.link_atomics {
            return Err(Error::Unsupported(
                "printf and other calls to the host: the device's link has no atomics".into(),
            ));
        }
        let mut served = self.served.lock();
        let doorbell = match served.doorbell {
            Some(doorbell) => doorbell,
            None => {
                let doorbell = self.hsa.signal_create(1)?;
                self.start(doorbell)?;
                served.doorbell = Some(doorbell);
                doorbell
            }
        };
        // A packet for each wave that can be resident, so that no wave waits for another's packet.
        let waves = u64::from(properties.compute_units) * u64::from(properties.waves_per_cu);
        let packets = waves.clamp(64, 1 << 16).next_power_of_two();
        let headers = size_of::<BufferHeader>().next_multiple_of(64);
        let payloads =
            (headers + size_of::<PacketHeader>() * packets as usize).next_multiple_of(64);
        let size = payloads + size_of::<Payload>() * packets as usize;
        let shared = device.shared();
        let memory = self
            .hsa
            .pool_allocate(shared.host.fine_pool, size, "hostcall")?;
        if let Err(error) = self.hsa.allow_access(&shared.gpu_agents, memory) {
            // SAFETY: just allocated, unknown to anybody.
            let _ = unsafe { self.hsa.pool_free(memory) };
            return Err(error);
        }
        let base = memory as u64;
        let address = memory.cast::<BufferHeader>();
        // SAFETY: the allocation has the size computed above, and nobody else knows it yet.
        unsafe {
            let first = (base + headers as u64) as *mut PacketHeader;
            // The free stack runs from the last packet down to packet 0, whose tagged index has a tag so that it is not 0 (the end).
            for index in 0..packets {
                first.add(index as usize).write(PacketHeader {
                    next: match index {
                        0 => 0,
                        1 => packets,
                        index => index - 1,
                    },
                    active_mask: 0,
                    service: 0,
                    control: 0,
                });
            }
            address.write(BufferHeader {
                headers: base + headers as u64,
                payloads: base + payloads as u64,
                doorbell,
                free_stack: packets - 1,
                ready_stack: 0,
                index_mask: packets - 1,
            });
        }
        served.buffers.push(Buffer {
            address,
            packets,
            device: device.clone(),
        });
        Ok(base)
    }

    fn start(&self, doorbell: hsa_signal_t) -> Result<()> {
        let hsa = self.hsa;
        let served = Arc::downgrade(&self.served);
        let spawned = with_signals_blocked(|| {
            std::thread::Builder::new()
                .name("gneiss-hostcall".into())
                .spawn(move || {
                    let mut seen = 1;
                    loop {
                        // SAFETY: the doorbell is never destroyed.
                        seen = unsafe {
                            (hsa.api.hsa_signal_wait_scacquire)(
                                doorbell,
                                HSA_SIGNAL_CONDITION_NE,
                                seen,
                                u64::MAX,
                                HSA_WAIT_STATE_BLOCKED,
                            )
                        };
                        let Some(served) = served.upgrade() else {
                            return;
                        };
                        served.lock().serve_all();
                    }
                })
        });
        match spawned {
            Ok(_) => Ok(()),
            Err(error) => {
                // SAFETY: nobody else knows the signal.
                unsafe { hsa.signal_destroy(doorbell) };
                Err(Error::Unsupported(format!(
                    "hostcall: cannot start a thread: {error}"
                )))
            }
        }
    }
}

impl Served {
    fn serve_all(&mut self) {
        for index in 0..self.buffers.len() {
            self.serve(index);
        }
    }

    /// Serves all packets that are on a buffer's ready stack.
    fn serve(&mut self, index: usize) {
        let Buffer {
            address,
            packets,
            ref device,
        } = self.buffers[index];
        let device = device.clone();
        // SAFETY: buffers are never freed; the field is only accessed atomically after initialisation. Acquire: pairs with the device's
        // release when it pushes a packet.
        let mut next = unsafe {
            AtomicU64::from_ptr(&raw mut (*address).ready_stack).swap(0, Ordering::Acquire)
        };
        // SAFETY: constant after initialisation; a device that overwrites them overwrites them with addresses that we do not use: both are
        // computed again here.
        let base = address as u64;
        let headers = base + (size_of::<BufferHeader>().next_multiple_of(64)) as u64;
        let payloads = (headers as usize + size_of::<PacketHeader>() * packets as usize)
            .next_multiple_of(64) as u64;
        let mut count = 0;
        while next != 0 && count < packets {
            count += 1;
            let packet = next & (packets - 1);
            let header = (headers + packet * size_of::<PacketHeader>() as u64) as *mut PacketHeader;
            let payload = (payloads + packet * size_of::<Payload>() as u64) as *mut Payload;
            // SAFETY: in the buffer; the packet is the host's until its ready flag is cleared below.
            let (service, mut lanes) = unsafe {
                next = (*header).next;
                ((*header).service, (*header).active_mask)
            };
            while lanes != 0 {
                let lane = lanes.trailing_zeros() as usize;
                lanes &= lanes - 1;
                // SAFETY: as above.
                let slot = unsafe { &mut (*payload)[lane] };
                self.request(service, slot, &device);
            }
            // SAFETY: as above. Release: the wave sees the answers once it sees the flag.
            unsafe {
                AtomicU32::from_ptr(&raw mut (*header).control)
                    .fetch_and(!READY, Ordering::Release);
            }
        }
    }

    /// One lane's request; the answer goes where the request was.
    fn request(&mut self, service: u32, slot: &mut [u64; 8], device: &Device) {
        match service {
            SERVICE_FUNCTION_CALL => {
                let mut answer = [0_u64; 2];
                if slot[0] == 0 {
                    tracing::error!("hostcall: call of a null function");
                } else {
                    // SAFETY: device code vouches for the address: a function `void f(uint64_t out[2], const uint64_t in[7])`.
                    unsafe {
                        let function: unsafe extern "C" fn(*mut u64, *const u64) =
                            std::mem::transmute(slot[0] as usize);
                        function(answer.as_mut_ptr(), slot[1..].as_ptr());
                    }
                }
                slot[..2].copy_from_slice(&answer);
            }
            SERVICE_PRINTF => match self.messages.receive(slot) {
                Ok(None) => {}
                Ok(Some(message)) => {
                    slot[0] = printf::print(&message) as i64 as u64;
                    self.messages.recycle(message);
                }
                Err(reason) => {
                    tracing::error!("hostcall: printf: {reason}");
                    slot[0] = u64::MAX;
                }
            },
            SERVICE_DEVICE_MEMORY => slot[0] = self.device_memory(slot[0], slot[1], device),
            service => {
                tracing::error!("hostcall: no service has number {service}");
                slot[0] = 0;
                slot[1] = 0;
            }
        }
    }

    /// Frees `address`, or allocates `size` bytes if that is 0; gives the new address, or 0.
    fn device_memory(&mut self, address: u64, size: u64, device: &Device) -> u64 {
        let hsa = device.hsa();
        if address != 0 {
            match self.blocks.remove(&address) {
                // SAFETY: allocated below, freed once; device code says that it is done with it.
                Some((block, size)) => match unsafe { hsa.pool_free(block as *mut _) } {
                    Ok(()) => device.unreserve(size),
                    Err(error) => tracing::error!("hostcall: {error}"),
                },
                None => tracing::error!("hostcall: device free of unknown address {address:#x}"),
            }
            return 0;
        }
        let Ok(size) = usize::try_from(size) else {
            return 0;
        };
        if size == 0 {
            return 0;
        }
        let align = if size == SLAB { SLAB } else { PAGE };
        let Some(total) = size.checked_add(if align > PAGE { align } else { 0 }) else {
            return 0;
        };
        let allocated = device.reserve(total).and_then(|()| {
            hsa.pool_allocate(device.pool(), total, "device heap")
                .inspect_err(|_| device.unreserve(total))
        });
        match allocated {
            Ok(block) => {
                let given = (block as usize).next_multiple_of(align) as u64;
                if device.properties().large_bar {
                    // SAFETY: inside of the allocation. The device's allocator expects fresh memory to be zero.
                    unsafe { std::ptr::write_bytes(given as *mut u8, 0, size) };
                }
                self.blocks.insert(given, (block as u64, total));
                given
            }
            Err(error) => {
                tracing::warn!("hostcall: device malloc: {error}");
                0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock;

    /// What device code does, for one packet with the given lanes.
    unsafe fn call(buffer: u64, service: u32, lanes: &[(usize, [u64; 8])]) -> Vec<[u64; 2]> {
        // SAFETY: the buffer is of `new_buffer`; the test is its only user.
        unsafe {
            let buffer = buffer as *mut BufferHeader;
            let mask = (*buffer).index_mask;
            let top = (*buffer).free_stack;
            let header = ((*buffer).headers as *mut PacketHeader).add((top & mask) as usize);
            let payload = ((*buffer).payloads as *mut Payload).add((top & mask) as usize);
            (*buffer).free_stack = (*header).next;
            (*header).service = service;
            (*header).active_mask = 0;
            for (lane, slot) in lanes {
                (*header).active_mask |= 1 << lane;
                (*payload)[*lane] = *slot;
            }
            (*header).control = READY;
            (*header).next = 0;
            // A new tag, as a real pop gives.
            let pushed = top.wrapping_add(mask + 1);
            AtomicU64::from_ptr(&raw mut (*buffer).ready_stack).store(pushed, Ordering::Release);
            mock::add((*buffer).doorbell, 1);
            while AtomicU32::from_ptr(&raw mut (*header).control).load(Ordering::Acquire) & READY
                != 0
            {
                std::thread::yield_now();
            }
            (*header).next = (*buffer).free_stack;
            (*buffer).free_stack = pushed;
            lanes
                .iter()
                .map(|(lane, _)| [(*payload)[*lane][0], (*payload)[*lane][1]])
                .collect()
        }
    }

    unsafe extern "C" fn sum(output: *mut u64, input: *const u64) {
        // SAFETY: the service passes 2 and 7 words.
        unsafe {
            output.write(std::slice::from_raw_parts(input, 7).iter().sum());
            output.add(1).write(input.read());
        }
    }

    #[test]
    fn the_service_calls_functions_and_manages_device_memory() {
        let runtime = mock::runtime(crate::Config::default());
        let device = &runtime.devices()[0];
        let buffer = device
            .shared()
            .hostcall
            .new_buffer(device)
            .expect("a buffer");
        let function = sum as *const () as usize as u64;
        // SAFETY: the only user of the buffer.
        unsafe {
            for round in 0..300_u64 {
                let answers = call(
                    buffer,
                    SERVICE_FUNCTION_CALL,
                    &[
                        (0, [function, round, 2, 3, 4, 5, 6, 7]),
                        (63, [function, 10, 0, 0, 0, 0, 0, 0]),
                    ],
                );
                assert_eq!(answers, [[round + 27, round], [10, 10]]);
            }
            let answers = call(
                buffer,
                SERVICE_DEVICE_MEMORY,
                &[
                    (1, [0, 6144, 0, 0, 0, 0, 0, 0]),
                    (2, [0, SLAB as u64, 0, 0, 0, 0, 0, 0]),
                ],
            );
            let (small, slab) = (answers[0][0], answers[1][0]);
            assert!(small != 0 && small % PAGE as u64 == 0);
            assert!(slab != 0 && slab % SLAB as u64 == 0);
            let freed = call(
                buffer,
                SERVICE_DEVICE_MEMORY,
                &[
                    (1, [small, 0, 0, 0, 0, 0, 0, 0]),
                    (2, [slab, 0, 0, 0, 0, 0, 0, 0]),
                ],
            );
            assert_eq!(freed.len(), 2);
            let unknown = call(buffer, 77, &[(5, [1; 8])]);
            assert_eq!(unknown, [[0, 0]]);
        }
    }
}
