//! What a device is, read from its HSA agent.

use gneiss_hsa_api::*;

use crate::{Error, Result, hsa::Hsa};

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
    /// UUID text (`GPU-…`).
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
    /// How large they can be; all 0 without images.
    pub image_limits: ImageLimits,
    /// SVM (managed memory by the library) is supported.
    pub svm: bool,
    /// Kernels reach memory that the library was not told of.
    pub pageable: bool,
    /// XNACK is on.
    pub xnack: bool,
    /// The device and the host share memory (APU).
    pub apu: bool,
    /// Frequency of the device's clock in Hz (`wall_clock64`).
    pub timestamp_frequency: u64,
    /// Driver's number of the node.
    pub node: u32,
}

/// Largest images of a device, in texels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImageLimits {
    /// Width in one dimension.
    pub d1: u32,
    /// Width of a buffer.
    pub buffer: u32,
    /// Width and height in two dimensions.
    pub d2: [u32; 2],
    /// Width, height and depth in three dimensions.
    pub d3: [u32; 3],
    /// Width of layers of one dimension.
    pub d1_array: u32,
    /// Width and height of layers of two dimensions.
    pub d2_array: [u32; 2],
    /// Layers.
    pub layers: u32,
}

impl ImageLimits {
    fn read(hsa: &Hsa, agent: hsa_agent_t) -> Result<Self> {
        Ok(Self {
            d1: hsa.agent_info(agent, HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS)?,
            buffer: hsa.agent_info(agent, HSA_EXT_AGENT_INFO_IMAGE_1DB_MAX_ELEMENTS)?,
            d2: hsa.agent_info(agent, HSA_EXT_AGENT_INFO_IMAGE_2D_MAX_ELEMENTS)?,
            d3: hsa.agent_info(agent, HSA_EXT_AGENT_INFO_IMAGE_3D_MAX_ELEMENTS)?,
            d1_array: hsa.agent_info(agent, HSA_EXT_AGENT_INFO_IMAGE_1DA_MAX_ELEMENTS)?,
            d2_array: hsa.agent_info(agent, HSA_EXT_AGENT_INFO_IMAGE_2DA_MAX_ELEMENTS)?,
            layers: hsa.agent_info(agent, HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS)?,
        })
    }
}

impl DeviceProperties {
    pub(crate) fn read(hsa: &Hsa, agent: hsa_agent_t) -> Result<Self> {
        let number = |attribute| hsa.agent_info::<u32>(agent, attribute);
        // What older libraries do not know has a default.
        let optional = |attribute| hsa.agent_info::<u32>(agent, attribute).unwrap_or(0);
        let flag = |attribute| {
            hsa.agent_info::<u8>(agent, attribute)
                .is_ok_and(|value| value != 0)
        };
        let isa = hsa
            .isa_names(agent)?
            .into_iter()
            .next()
            .ok_or_else(|| Error::Unsupported("an agent without an ISA".into()))?;
        let gfx_name = hsa.agent_text(agent, HSA_AGENT_INFO_NAME)?;
        let bdf = optional(HSA_AMD_AGENT_INFO_BDFID);
        let waves_per_cu = number(HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU)?;
        let compute_units = number(HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT)?;
        let workgroup_max_dim =
            hsa.agent_info::<[u16; 3]>(agent, HSA_AGENT_INFO_WORKGROUP_MAX_DIM)?;
        let extensions: [u8; 128] = hsa.agent_info(agent, HSA_AGENT_INFO_EXTENSIONS)?;
        // AMD's library sets the extension's bit for every GPU; one without image instructions has no handles.
        let images =
            extensions[HSA_EXTENSION_IMAGES as usize / 8] & 1 << (HSA_EXTENSION_IMAGES % 8) != 0
                && optional(HSA_EXT_AGENT_INFO_MAX_IMAGE_RORW_HANDLES) != 0;
        Ok(Self {
            product_name: hsa
                .agent_text(agent, HSA_AMD_AGENT_INFO_PRODUCT_NAME)
                .unwrap_or_default(),
            gfx_version: gfx_version(&gfx_name),
            gfx_name,
            xnack: isa.contains(":xnack+"),
            isa,
            uuid: hsa
                .agent_text(agent, HSA_AMD_AGENT_INFO_UUID)
                .unwrap_or_default(),
            chip_id: optional(HSA_AMD_AGENT_INFO_CHIP_ID),
            pci_domain: optional(HSA_AMD_AGENT_INFO_DOMAIN),
            pci_bus: bdf >> 8 & 0xff,
            pci_device: bdf >> 3 & 0x1f,
            pci_function: bdf & 7,
            asic_revision: optional(HSA_AMD_AGENT_INFO_ASIC_REVISION),
            compute_units,
            cooperative_compute_units: match optional(
                HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT,
            ) {
                0 => compute_units,
                count => count,
            },
            simds_per_cu: number(HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU)?,
            waves_per_cu,
            wavefront_size: number(HSA_AGENT_INFO_WAVEFRONT_SIZE)?,
            shader_engines: optional(HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES),
            shader_arrays_per_engine: optional(HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE),
            workgroup_max_size: number(HSA_AGENT_INFO_WORKGROUP_MAX_SIZE)?,
            workgroup_max_dim: workgroup_max_dim.map(u32::from),
            grid_max_dim: hsa.agent_info(agent, HSA_AGENT_INFO_GRID_MAX_DIM)?,
            max_clock_mhz: optional(HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY),
            memory_clock_mhz: optional(HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY),
            memory_width_bits: optional(HSA_AMD_AGENT_INFO_MEMORY_WIDTH),
            cache_sizes: hsa
                .agent_info(agent, HSA_AGENT_INFO_CACHE_SIZE)
                .unwrap_or_default(),
            cacheline_size: optional(HSA_AMD_AGENT_INFO_CACHELINE_SIZE),
            cooperative_queues: flag(HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES),
            images,
            image_limits: if images {
                ImageLimits::read(hsa, agent)?
            } else {
                ImageLimits::default()
            },
            svm: hsa
                .system_info::<u8>(HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED)
                .is_ok_and(|value| value != 0),
            pageable: hsa
                .system_info::<u8>(HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT)
                .is_ok_and(|value| value != 0),
            apu: number(HSA_AGENT_INFO_PROFILE)? == HSA_PROFILE_FULL
                // HSA_AMD_MEMORY_PROPERTY_AGENT_IS_APU.
                || hsa
                    .agent_info::<[u8; 8]>(agent, HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES)
                    .is_ok_and(|properties| properties[0] & 1 != 0),
            timestamp_frequency: hsa
                .agent_info(agent, HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY)
                .unwrap_or(100_000_000),
            node: optional(HSA_AMD_AGENT_INFO_DRIVER_NODE_ID),
            ..Self::default()
        })
    }
}

/// Major, minor and stepping of a processor's name: the last two digits are hexadecimal, what is before them is decimal.
fn gfx_version(name: &str) -> (u32, u32, u32) {
    let digits = name.strip_prefix("gfx").unwrap_or_default();
    let Some((major, rest)) = digits
        .len()
        .checked_sub(2)
        .and_then(|split| digits.split_at_checked(split))
    else {
        return (0, 0, 0);
    };
    let hex = |range: std::ops::Range<usize>| {
        rest.get(range)
            .and_then(|digit| u32::from_str_radix(digit, 16).ok())
            .unwrap_or(0)
    };
    (major.parse().unwrap_or(0), hex(0..1), hex(1..2))
}

#[cfg(test)]
mod tests {
    use super::gfx_version;

    #[test]
    fn processor_names_have_a_decimal_major_and_hexadecimal_rest() {
        assert_eq!(gfx_version("gfx90a"), (9, 0, 10));
        assert_eq!(gfx_version("gfx1030"), (10, 3, 0));
        assert_eq!(gfx_version("gfx942"), (9, 4, 2));
        assert_eq!(gfx_version("gfx1100"), (11, 0, 0));
        assert_eq!(gfx_version("x"), (0, 0, 0));
        assert_eq!(gfx_version("gfx"), (0, 0, 0));
    }
}
