//! The runtime: the HSA library, its devices, the memory map, the worker pool.

use std::sync::Arc;

use gneiss_hsa_api::HsaApi;

use crate::{Config, Device, HostFlags, Memory, Result};

/// The process's runtime over one HSA library.
#[derive(Debug)]
pub struct Runtime {}

impl Runtime {
    /// A runtime over a table of HSA functions. Calls `hsa_init` and reads the agents; starts no thread.
    pub fn new(_api: HsaApi, _config: Config) -> Result<Arc<Self>> {
        todo!()
    }

    /// Finds and loads the HSA library: `libhsa-runtime64.so.1` beside the shared object that holds this code; else the one that
    /// `GNEISS_HSA` names (which wins if it is set); else where the dynamic linker finds it.
    pub fn load(_config: Config) -> Result<Arc<Self>> {
        todo!()
    }

    /// The GPUs, in the order of the HSA agents after `HIP_VISIBLE_DEVICES`.
    pub fn devices(&self) -> &[Arc<Device>] {
        todo!()
    }

    /// Allocates coarse-grained memory of a device (fine-grained if asked for and the device has such a pool, else an error).
    pub fn allocate_device(
        &self,
        _device: &Arc<Device>,
        _size: usize,
        _fine_grained: bool,
    ) -> Result<Arc<Memory>> {
        todo!()
    }

    /// Allocates pinned host memory that all devices can access.
    pub fn allocate_host(
        &self,
        _device: &Arc<Device>,
        _size: usize,
        _flags: HostFlags,
    ) -> Result<Arc<Memory>> {
        todo!()
    }

    /// Allocates managed memory.
    pub fn allocate_managed(&self, _device: &Arc<Device>, _size: usize) -> Result<Arc<Memory>> {
        todo!()
    }

    /// Allocates signal memory (8 bytes).
    pub fn allocate_signal(&self, _device: &Arc<Device>) -> Result<Arc<Memory>> {
        todo!()
    }

    /// Pins the user's memory. The range must be mapped and must not overlap a registered one.
    ///
    /// # Safety
    /// The range must stay mapped until it is unregistered.
    pub unsafe fn register_host(
        &self,
        _device: &Arc<Device>,
        _address: usize,
        _size: usize,
        _flags: HostFlags,
    ) -> Result<Arc<Memory>> {
        todo!()
    }

    /// Undoes [`register_host`](Self::register_host); `address` must be the registered base.
    pub fn unregister_host(&self, _address: usize) -> Result<()> {
        todo!()
    }

    /// Frees an allocation by its base address (host or device). Does not wait for commands: callers synchronise first.
    pub fn free(&self, _address: usize) -> Result<Arc<Memory>> {
        todo!()
    }

    /// The allocation that holds the address, host or device address, and the offset in it.
    pub fn find_memory(&self, _address: usize) -> Option<(Arc<Memory>, usize)> {
        todo!()
    }

    /// Nanoseconds of the HSA system clock.
    pub fn timestamp(&self) -> u64 {
        todo!()
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        todo!()
    }

    /// The HSA functions, for what has no wrapper here (IPC, virtual memory).
    pub fn hsa_api(&self) -> &HsaApi {
        todo!()
    }
}
