//! Memory: allocating, registering, freeing, opening another process's.

use std::{ffi::c_void, sync::Arc};

use gneiss_hsa_api::*;

use super::Runtime;
use crate::{Device, Error, HostFlags, Memory, MemoryKind, Result};

impl Runtime {
    /// Allocates memory of a device: coarse-grained, or fine-grained if asked for.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Unsupported`] if the device has no fine-grained pool; [`Error::InvalidValue`] for size 0.
    pub fn allocate_device(
        &self,
        device: &Arc<Device>,
        size: usize,
        fine_grained: bool,
    ) -> Result<Arc<Memory>> {
        check_size(size)?;
        let pool = if fine_grained {
            device.fine_pool().ok_or_else(|| {
                Error::Unsupported(format!(
                    "{} has no fine-grained memory",
                    device.properties().gfx_name
                ))
            })?
        } else {
            device.pool()
        };
        device.reserve(size)?;
        let hsa = self.shared.hsa;
        let allocated = hsa.pool_allocate(pool, size, "device").and_then(|address| {
            let agents = device.access_list();
            if agents.len() > 1
                && let Err(error) = hsa.allow_access(&agents, address)
            {
                // SAFETY: just allocated, unknown to anybody.
                let _ = unsafe { hsa.pool_free(address) };
                return Err(error);
            }
            Ok(address)
        });
        let address = match allocated {
            Ok(address) => address,
            Err(error) => {
                device.unreserve(size);
                return Err(error);
            }
        };
        let host_address = device.properties().large_bar.then_some(address as usize);
        Ok(self.record(
            MemoryKind::Device,
            device,
            address,
            host_address,
            size,
            HostFlags::empty(),
        ))
    }

    /// Allocates pinned host memory that all devices can access.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::InvalidValue`] for size 0.
    pub fn allocate_host(
        &self,
        device: &Arc<Device>,
        size: usize,
        flags: HostFlags,
    ) -> Result<Arc<Memory>> {
        let address = self.host_memory(size, flags.contains(HostFlags::COHERENT))?;
        Ok(self.record(
            MemoryKind::Host,
            device,
            address,
            Some(address as usize),
            size,
            flags,
        ))
    }

    /// Allocates managed memory: host memory that all devices can access at the same address.
    ///
    /// # Errors
    /// As [`allocate_host`](Self::allocate_host).
    pub fn allocate_managed(&self, device: &Arc<Device>, size: usize) -> Result<Arc<Memory>> {
        let address = self.host_memory(size, true)?;
        let flags = HostFlags::COHERENT | HostFlags::PORTABLE | HostFlags::MAPPED;
        Ok(self.record(
            MemoryKind::Managed,
            device,
            address,
            Some(address as usize),
            size,
            flags,
        ))
    }

    fn host_memory(&self, size: usize, coherent: bool) -> Result<*mut c_void> {
        check_size(size)?;
        let hsa = self.shared.hsa;
        let host = &self.shared.host;
        let pool = if coherent {
            host.fine_pool
        } else {
            host.coarse_pool
        };
        let address = hsa.pool_allocate(pool, size, "host")?;
        if let Err(error) = hsa.allow_access(&self.shared.gpu_agents, address) {
            // SAFETY: just allocated, unknown to anybody.
            let _ = unsafe { hsa.pool_free(address) };
            return Err(error);
        }
        Ok(address)
    }

    /// Allocates signal memory: 8 bytes, zero.
    ///
    /// # Errors
    /// [`Error::Hsa`].
    pub fn allocate_signal(&self, device: &Arc<Device>) -> Result<Arc<Memory>> {
        let hsa = self.shared.hsa;
        let mut signal = hsa_signal_t::default();
        // SAFETY: no consumers means all; the result has a valid place.
        unsafe {
            (hsa.api.hsa_amd_signal_create)(
                0,
                0,
                std::ptr::null(),
                u64::from(HSA_AMD_SIGNAL_AMD_GPU_ONLY),
                &raw mut signal,
            )
        }
        .ok()
        .map_err(|status| Error::Hsa {
            call: "hsa_amd_signal_create",
            status,
        })?;
        let mut value = std::ptr::null_mut();
        // SAFETY: the signal is alive, the result has a valid place.
        let status = unsafe { (hsa.api.hsa_amd_signal_value_pointer)(signal, &raw mut value) };
        if let Err(status) = status.ok() {
            // SAFETY: just created, unknown to anybody.
            unsafe { hsa.signal_destroy(signal) };
            return Err(Error::Hsa {
                call: "hsa_amd_signal_value_pointer",
                status,
            });
        }
        let memory = Arc::new(Memory {
            kind: MemoryKind::Signal,
            device_address: value as u64,
            host_address: Some(value as usize),
            size: 8,
            device: device.clone(),
            host_flags: HostFlags::COHERENT,
            id: self.shared.new_id(),
            signal,
            user_flags: std::sync::atomic::AtomicU32::new(0),
        });
        self.shared.map.insert(&memory);
        Ok(memory)
    }

    /// Pins the user's memory.
    ///
    /// # Errors
    /// [`Error::AlreadyRegistered`] if the range overlaps memory that the runtime knows; [`Error::Hsa`] if it cannot be pinned.
    ///
    /// # Safety
    /// The range must be mapped and stay so until it is unregistered.
    pub unsafe fn register_host(
        &self,
        device: &Arc<Device>,
        address: usize,
        size: usize,
        flags: HostFlags,
    ) -> Result<Arc<Memory>> {
        if !self.shared.map.overlapping(address, size).is_empty() {
            return Err(Error::AlreadyRegistered(address));
        }
        // SAFETY: the caller's.
        unsafe { self.register_host_again(device, address, size, flags) }
    }

    /// As [`register_host`](Self::register_host), for ranges that may overlap with registered ones: each has a device address of its own,
    /// and is to be given to [`unregister`](Self::unregister).
    ///
    /// # Errors
    /// [`Error::Hsa`] if it cannot be pinned.
    ///
    /// # Safety
    /// The range must be mapped and stay so until it is unregistered.
    pub unsafe fn register_host_again(
        &self,
        device: &Arc<Device>,
        address: usize,
        size: usize,
        flags: HostFlags,
    ) -> Result<Arc<Memory>> {
        check_size(size)?;
        // SAFETY: the caller's.
        let device_address = unsafe { self.shared.hsa.lock(address, size) }?;
        Ok(self.record(
            MemoryKind::Registered,
            device,
            device_address,
            Some(address),
            size,
            flags,
        ))
    }

    /// Undoes [`register_host`](Self::register_host); `address` must be the registered base. Does not wait for commands.
    ///
    /// # Errors
    /// [`Error::UnknownAddress`].
    pub fn unregister_host(&self, address: usize) -> Result<()> {
        self.shared
            .map
            .remove(address, |memory| {
                memory.kind == MemoryKind::Registered && memory.host_address == Some(address)
            })
            .ok_or(Error::UnknownAddress(address))?;
        self.shared.hsa.unlock(address)
    }

    /// From now on the addresses of a registered range mean the program's own memory again to new commands, while those in flight may still
    /// use its device address: the program has let go of it, and may have other memory there.
    pub fn hide_registered(&self, memory: &Arc<Memory>) {
        self.shared.map.hide_host(memory);
    }

    /// Undoes [`hide_registered`](Self::hide_registered).
    pub fn show_registered(&self, memory: &Arc<Memory>) {
        self.shared.map.insert(memory);
    }

    /// As [`unregister_host`](Self::unregister_host), of a range that may be hidden.
    ///
    /// # Errors
    /// [`Error::Hsa`].
    pub fn unregister(&self, memory: &Arc<Memory>) -> Result<()> {
        self.shared.map.take_out(memory);
        match memory.host_address {
            Some(address) if memory.kind == MemoryKind::Registered => {
                self.shared.hsa.unlock(address)
            }
            _ => Err(Error::UnknownAddress(memory.device_address as usize)),
        }
    }

    /// Frees an allocation by its base address (host or device) and gives its last description. Does not wait for commands: callers
    /// synchronise first. Registered memory is not accepted.
    ///
    /// # Errors
    /// [`Error::UnknownAddress`].
    pub fn free(&self, address: usize) -> Result<Arc<Memory>> {
        let memory = self
            .shared
            .map
            .remove(address, |memory| {
                !matches!(memory.kind, MemoryKind::Registered | MemoryKind::Mapped)
            })
            .ok_or(Error::UnknownAddress(address))?;
        let hsa = self.shared.hsa;
        match memory.kind {
            MemoryKind::Device | MemoryKind::Host | MemoryKind::Managed => {
                // SAFETY: from a pool, and out of the map: freed once. That nobody uses it is the caller's.
                unsafe { hsa.pool_free(memory.device_address as *mut c_void) }?;
            }
            // SAFETY: out of the map: destroyed once.
            MemoryKind::Signal => unsafe { hsa.signal_destroy(memory.signal) },
            MemoryKind::Ipc => {
                // SAFETY: attached memory, detached once.
                let status = unsafe {
                    (hsa.api.hsa_amd_ipc_memory_detach)(memory.device_address as *mut c_void)
                };
                status.ok().map_err(|status| Error::Hsa {
                    call: "hsa_amd_ipc_memory_detach",
                    status,
                })?;
            }
            MemoryKind::Registered | MemoryKind::Mapped => {}
        }
        if memory.kind == MemoryKind::Device {
            memory.device.unreserve(memory.size);
        }
        Ok(memory)
    }

    /// Opens memory of another process.
    ///
    /// # Errors
    /// [`Error::Hsa`].
    pub fn import_ipc(
        &self,
        device: &Arc<Device>,
        handle: &hsa_amd_ipc_memory_t,
        size: usize,
    ) -> Result<Arc<Memory>> {
        let mut address = std::ptr::null_mut();
        let agents = device.access_list();
        // SAFETY: handle and list are valid for the call, the result has a valid place.
        unsafe {
            (self.shared.hsa.api.hsa_amd_ipc_memory_attach)(
                handle,
                size,
                agents.len() as u32,
                agents.as_ptr(),
                &raw mut address,
            )
        }
        .ok()
        .map_err(|status| Error::Hsa {
            call: "hsa_amd_ipc_memory_attach",
            status,
        })?;
        let host_address = device.properties().large_bar.then_some(address as usize);
        Ok(self.record(
            MemoryKind::Ipc,
            device,
            address,
            host_address,
            size,
            HostFlags::empty(),
        ))
    }

    /// Notes that memory of a device is mapped at an address, so that copies and queries know it.
    pub fn add_mapping(&self, device: &Arc<Device>, address: usize, size: usize) -> Arc<Memory> {
        let host_address = device.properties().large_bar.then_some(address);
        self.record(
            MemoryKind::Mapped,
            device,
            std::ptr::with_exposed_provenance_mut(address),
            host_address,
            size,
            HostFlags::empty(),
        )
    }

    /// Forgets a mapping; gives what was known of it.
    pub fn remove_mapping(&self, address: usize) -> Option<Arc<Memory>> {
        self.shared
            .map
            .remove(address, |memory| memory.kind == MemoryKind::Mapped)
    }

    fn record(
        &self,
        kind: MemoryKind,
        device: &Arc<Device>,
        address: *mut c_void,
        host_address: Option<usize>,
        size: usize,
        host_flags: HostFlags,
    ) -> Arc<Memory> {
        let memory = Arc::new(Memory {
            kind,
            device_address: address as u64,
            host_address,
            size,
            device: device.clone(),
            host_flags,
            id: self.shared.new_id(),
            signal: hsa_signal_t::default(),
            user_flags: std::sync::atomic::AtomicU32::new(0),
        });
        self.shared.map.insert(&memory);
        memory
    }
}

fn check_size(size: usize) -> Result<()> {
    if size == 0 {
        return Err(Error::InvalidValue("size is 0".into()));
    }
    Ok(())
}
