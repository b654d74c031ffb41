//! A small client of the HSA functions, as a C program would be. `GNEISS_HSA` names another library to test.

#![allow(dead_code, reason = "each test uses a part")]

pub mod kernels;

use std::{
    ffi::c_void,
    sync::{Mutex, MutexGuard},
};

use gneiss_hsa_api::*;

/// The runtime is one per process: tests take turns.
static TURN: Mutex<()> = Mutex::new(());

/// An initialised runtime.
pub struct Client {
    pub api: HsaApi,
    pub cpu: hsa_agent_t,
    pub gpus: Vec<hsa_agent_t>,
    _turn: MutexGuard<'static, ()>,
}

unsafe extern "C" fn collect_agent(agent: hsa_agent_t, data: *mut c_void) -> hsa_status_t {
    // SAFETY: `data` is the vector that `Client::new` passes.
    unsafe { (*data.cast::<Vec<hsa_agent_t>>()).push(agent) };
    HSA_STATUS_SUCCESS
}

unsafe extern "C" fn collect_pool(pool: hsa_amd_memory_pool_t, data: *mut c_void) -> hsa_status_t {
    // SAFETY: `data` is the vector that `Client::pool` passes.
    unsafe { (*data.cast::<Vec<hsa_amd_memory_pool_t>>()).push(pool) };
    HSA_STATUS_SUCCESS
}

impl Client {
    /// Starts the runtime with these GPUs.
    pub fn new(gpus: &str) -> Self {
        let turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        // SAFETY: tests of this binary take turns, and nothing else reads the environment meanwhile.
        unsafe { std::env::set_var("GNEISS_GPUS", gpus) };
        let api = match std::env::var_os("GNEISS_HSA") {
            // SAFETY: whoever sets it names an HSA library.
            Some(path) => unsafe { HsaApi::load(path) }.expect("an HSA library"),
            None => gneiss_hsa_core::api_table(),
        };
        let mut agents: Vec<hsa_agent_t> = Vec::new();
        // SAFETY: the callback and its data fit.
        unsafe {
            assert_eq!((api.hsa_init)(), HSA_STATUS_SUCCESS);
            assert_eq!(
                (api.hsa_iterate_agents)(Some(collect_agent), (&raw mut agents).cast()),
                HSA_STATUS_SUCCESS
            );
        }
        let cpu = agents[0];
        agents.retain(|&agent| {
            let mut device = HSA_DEVICE_TYPE_CPU;
            // SAFETY: the attribute has the type of the value.
            let status = unsafe {
                (api.hsa_agent_get_info)(agent, HSA_AGENT_INFO_DEVICE, (&raw mut device).cast())
            };
            status.ok().expect("a device type");
            device == HSA_DEVICE_TYPE_GPU
        });
        Self {
            api,
            cpu,
            gpus: agents,
            _turn: turn,
        }
    }

    /// The pool of an agent with these flags; 0 is the group segment.
    pub fn pool(&self, agent: hsa_agent_t, flags: u32) -> hsa_amd_memory_pool_t {
        let mut pools: Vec<hsa_amd_memory_pool_t> = Vec::new();
        // SAFETY: the callback, its data and the buffers fit.
        unsafe {
            (self.api.hsa_amd_agent_iterate_memory_pools)(
                agent,
                Some(collect_pool),
                (&raw mut pools).cast(),
            )
            .ok()
            .expect("pools");
            pools
                .into_iter()
                .find(|&pool| {
                    let mut found = 0u32;
                    (self.api.hsa_amd_memory_pool_get_info)(
                        pool,
                        HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS,
                        (&raw mut found).cast(),
                    )
                    .ok()
                    .expect("flags");
                    found == flags
                })
                .expect("a pool with these flags")
        }
    }

    /// Allocates from a pool and gives all GPUs access.
    pub fn allocate(&self, pool: hsa_amd_memory_pool_t, size: usize) -> *mut u8 {
        let mut pointer = std::ptr::null_mut();
        // SAFETY: the out-parameter and the list fit.
        unsafe {
            (self.api.hsa_amd_memory_pool_allocate)(pool, size, 0, &mut pointer)
                .ok()
                .expect("memory");
            (self.api.hsa_amd_agents_allow_access)(
                self.gpus.len() as u32,
                self.gpus.as_ptr(),
                std::ptr::null(),
                pointer,
            )
            .ok()
            .expect("access");
        }
        pointer.cast()
    }

    /// Frees it.
    pub fn free(&self, pointer: *mut u8) {
        // SAFETY: tests free what they allocated.
        unsafe { (self.api.hsa_amd_memory_pool_free)(pointer.cast()) }
            .ok()
            .expect("free");
    }

    /// Makes a signal.
    pub fn signal(&self, value: i64) -> hsa_signal_t {
        let mut signal = hsa_signal_t::default();
        // SAFETY: the out-parameter fits.
        unsafe { (self.api.hsa_signal_create)(value, 0, std::ptr::null(), &mut signal) }
            .ok()
            .expect("signal");
        signal
    }

    /// Its value.
    pub fn value(&self, signal: hsa_signal_t) -> i64 {
        // SAFETY: a live signal.
        unsafe { (self.api.hsa_signal_load_scacquire)(signal) }
    }

    /// Waits until it is below 1, for at most 30 seconds.
    pub fn wait(&self, signal: hsa_signal_t) {
        // SAFETY: a live signal.
        let value = unsafe {
            (self.api.hsa_signal_wait_scacquire)(
                signal,
                HSA_SIGNAL_CONDITION_LT,
                1,
                30_000_000_000,
                HSA_WAIT_STATE_BLOCKED,
            )
        };
        assert!(value < 1, "the signal still has the value {value}");
    }

    /// Destroys it.
    pub fn destroy(&self, signal: hsa_signal_t) {
        // SAFETY: tests destroy what they made.
        unsafe { (self.api.hsa_signal_destroy)(signal) }
            .ok()
            .expect("destroy");
    }

    /// Makes a queue.
    pub fn queue(
        &self,
        size: u32,
        callback: hsa_queue_callback_t,
        data: *mut c_void,
    ) -> *mut hsa_queue_t {
        let mut queue = std::ptr::null_mut();
        // SAFETY: the out-parameter fits.
        unsafe {
            (self.api.hsa_queue_create)(
                self.gpus[0],
                size,
                HSA_QUEUE_TYPE_MULTI,
                callback,
                data,
                u32::MAX,
                u32::MAX,
                &mut queue,
            )
        }
        .ok()
        .expect("queue");
        queue
    }

    /// Writes a packet and rings the doorbell, as producers do: body first, then the header, then the doorbell.
    pub fn submit<P>(&self, queue: *mut hsa_queue_t, packet: P) -> u64 {
        assert_eq!(size_of::<P>(), 64);
        // SAFETY: the slot is the producer's from the time that its index is reserved and there is room.
        unsafe {
            let index = (self.api.hsa_queue_add_write_index_scacq_screl)(queue, 1);
            while index - (self.api.hsa_queue_load_read_index_scacquire)(queue)
                >= u64::from((*queue).size)
            {
                std::thread::yield_now();
            }
            let slot = (*queue)
                .base_address
                .cast::<[u32; 16]>()
                .add((index % u64::from((*queue).size)) as usize);
            let words: [u32; 16] = std::mem::transmute_copy(&packet);
            for (at, word) in words.into_iter().enumerate().skip(1) {
                (&raw mut (*slot)[at]).write_volatile(word);
            }
            let header = std::sync::atomic::AtomicU32::from_ptr(slot.cast());
            header.store(words[0], std::sync::atomic::Ordering::Release);
            (self.api.hsa_signal_store_screlease)((*queue).doorbell_signal, index.cast_signed());
            index
        }
    }

    /// A barrier packet.
    pub fn barrier(
        kind: u32,
        ordered: bool,
        dependencies: &[hsa_signal_t],
        completion: hsa_signal_t,
    ) -> hsa_barrier_and_packet_t {
        let mut dep_signal = [hsa_signal_t::default(); 5];
        dep_signal[..dependencies.len()].copy_from_slice(dependencies);
        hsa_barrier_and_packet_t {
            header: kind as u16
                | u16::from(ordered) << HSA_PACKET_HEADER_BARRIER
                | 2 << 9
                | 2 << 11,
            reserved0: 0,
            reserved1: 0,
            dep_signal,
            reserved2: 0,
            completion_signal: completion,
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // SAFETY: pairs with the init in `new`.
        let status = unsafe { (self.api.hsa_shut_down)() };
        if !std::thread::panicking() {
            assert_eq!(status, HSA_STATUS_SUCCESS);
        }
    }
}
