//! Devices.

use std::sync::Arc;

use gneiss_hsa_api::{hsa_agent_t, hsa_amd_memory_pool_t};

use crate::{DeviceFault, HostQueue, Runtime};

/// What a device is, as its HSA agent says. Sizes in bytes, clocks in MHz.
#[derive(Clone, Debug, Default)]
pub struct DeviceProperties {
    /// Marketing name.
    pub product_name: String,
    /// Processor (`gfx90a`).
    pub gfx_name: String,
    /// Full ISA name (`amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-`).
    pub isa: String,
    /// gfx version: major, minor, stepping (9, 0, 10).
    pub gfx_version: (u32, u32, u32),
    /// UUID text (`GPU-…`); its 16 bytes are what HIP shows.
    pub uuid: String,
    /// PCI device id.
    pub chip_id: u32,
    /// PCI domain.
    pub pci_domain: u32,
    /// PCI bus.
    pub pci_bus: u32,
    /// PCI device.
    pub pci_device: u32,
    /// PCI function.
    pub pci_function: u32,
    /// Revision of the chip.
    pub asic_revision: u32,
    /// Compute units, as the agent counts them.
    pub compute_units: u32,
    /// Compute units that cooperative launches may use.
    pub cooperative_compute_units: u32,
    /// SIMDs of a compute unit.
    pub simds_per_cu: u32,
    /// Waves that a compute unit holds.
    pub waves_per_cu: u32,
    /// Lanes of a wave.
    pub wavefront_size: u32,
    /// Shader engines.
    pub shader_engines: u32,
    /// Shader arrays of a shader engine.
    pub shader_arrays_per_engine: u32,
    /// Largest work-group.
    pub workgroup_max_size: u32,
    /// Largest work-group by dimension.
    pub workgroup_max_dim: [u32; 3],
    /// Largest grid in work-items by dimension.
    pub grid_max_dim: [u32; 3],
    /// Largest engine clock.
    pub max_clock_mhz: u32,
    /// Largest memory clock.
    pub memory_clock_mhz: u32,
    /// Width of the memory bus in bits.
    pub memory_width_bits: u32,
    /// Cache sizes, L1 to L4.
    pub cache_sizes: [u32; 4],
    /// Cache line.
    pub cacheline_size: u32,
    /// Size of the device's memory.
    pub global_memory_size: usize,
    /// Largest single allocation.
    pub max_allocation: usize,
    /// Granule of allocations.
    pub allocation_granule: usize,
    /// LDS of a work-group.
    pub lds_size: usize,
    /// The host can access the device's memory through the device address.
    pub large_bar: bool,
    /// The device has a fine-grained pool of its own.
    pub fine_grained_pool: bool,
    /// Cooperative queues exist.
    pub cooperative_queues: bool,
    /// The link has atomics (needed for hostcall).
    pub link_atomics: bool,
    /// Images are supported.
    pub images: bool,
    /// SVM (managed memory by the library) is supported.
    pub svm: bool,
    /// XNACK is on.
    pub xnack: bool,
    /// The device and the host share memory (APU).
    pub apu: bool,
    /// Frequency of the device's clock in Hz (`wall_clock64`).
    pub timestamp_frequency: u64,
    /// Driver's number of the node.
    pub node: u32,
}

/// A GPU.
#[derive(Debug)]
pub struct Device {}

impl Device {
    /// Its place in [`Runtime::devices`].
    pub fn index(&self) -> usize {
        todo!()
    }

    /// The runtime.
    pub fn runtime(&self) -> Arc<Runtime> {
        todo!()
    }

    /// The HSA agent.
    pub fn agent(&self) -> hsa_agent_t {
        todo!()
    }

    /// The coarse-grained pool.
    pub fn pool(&self) -> hsa_amd_memory_pool_t {
        todo!()
    }

    /// What it is.
    pub fn properties(&self) -> &DeviceProperties {
        todo!()
    }

    /// Free and total bytes, by this runtime's own book-keeping.
    pub fn memory_info(&self) -> (usize, usize) {
        todo!()
    }

    /// All queues that have commands that have not ended, as far as is known without looking at the device; in no order. Costs are
    /// in the number of active queues, not of queues.
    pub fn active_queues(&self) -> Vec<Arc<HostQueue>> {
        todo!()
    }

    /// Waits until all queues of this device have ended what was enqueued before the call.
    pub fn synchronize(&self) -> crate::Result<()> {
        todo!()
    }

    /// Whether kernels of this device can access memory of `peer`.
    pub fn can_access_peer(&self, _peer: &Device) -> bool {
        todo!()
    }

    /// Lets this device's kernels access all memory of `peer`, now and later (or stops that).
    pub fn set_peer_access(&self, _peer: &Arc<Device>, _enable: bool) -> crate::Result<()> {
        todo!()
    }

    /// The sticky fault, if the device has faulted.
    pub fn fault(&self) -> Option<DeviceFault> {
        todo!()
    }

    /// Clears the fault and drops the hardware queues, so that new commands run. Outstanding commands have failed already.
    pub fn reset(&self) {
        todo!()
    }
}
