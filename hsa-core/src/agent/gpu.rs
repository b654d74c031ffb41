//! The attributes of a software GPU: those of its card.

use std::{
    ffi::c_void,
    sync::{LazyLock, atomic::Ordering},
};

use gneiss_amdgcn::{image::descriptor::LINEAR_ALIGNMENT, memory::Rights, target::Family};
use gneiss_hsa_api::*;

use super::{AgentId, GpuAgent};
use crate::{
    config,
    entry::{HsaResult, write_text, write_value},
    image,
    isa::Isa,
};

impl GpuAgent {
    /// What its kernels may do with memory that a program has allocated. Fine-grained memory of GFX90A loses float atomics: they change
    /// nothing and give 0 (AMD's tests of atomics on coherent memory, `BuiltIns_fadd` and others, want that).
    pub(crate) fn rights(&self, fine: bool) -> Rights {
        static DONE_ALL_THE_SAME: LazyLock<bool> = LazyLock::new(|| {
            gneiss_settings::text("GNEISS_FINE_ATOMICS").as_deref() == Some("done")
        });
        let mut rights = Rights::READ | Rights::WRITE;
        let loses = fine && self.engine.target.family() == Family::Gfx90a && !*DONE_ALL_THE_SAME;
        rights.set(Rights::LOSES_FLOAT_ATOMICS, loses);
        rights
    }

    /// The ISAs that it lists: its own with every feature stated, then the generic one.
    pub(crate) fn isas(&self) -> impl Iterator<Item = Isa> {
        Isa::of_agent(self.spec.card, self.spec.sramecc, self.spec.xnack)
    }

    /// Its own ISA.
    pub(crate) fn isa(&self) -> Isa {
        self.isas().next().expect("every card has an ISA")
    }

    /// `hsa_agent_get_info`; `node` is its number in the driver's topology.
    ///
    /// # Safety
    /// `value` has room for the attribute.
    pub(super) unsafe fn info(
        &self,
        node: u32,
        attribute: hsa_agent_info_t,
        value: *mut c_void,
    ) -> HsaResult {
        let card = self.spec.card;
        // SAFETY: the caller's promise.
        unsafe {
            match attribute {
                HSA_AGENT_INFO_NAME => write_text(value, card.processor, 64),
                HSA_AGENT_INFO_VENDOR_NAME => write_text(value, "AMD", 64),
                HSA_AGENT_INFO_FEATURE => write_value(value, HSA_AGENT_FEATURE_KERNEL_DISPATCH),
                HSA_AGENT_INFO_MACHINE_MODEL => write_value(value, HSA_MACHINE_MODEL_LARGE),
                HSA_AGENT_INFO_PROFILE => write_value(value, HSA_PROFILE_BASE),
                HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE
                | HSA_AGENT_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES => {
                    write_value(value, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR)
                }
                HSA_AGENT_INFO_FAST_F16_OPERATION => write_value(value, true),
                HSA_AGENT_INFO_WAVEFRONT_SIZE => write_value(value, card.wave),
                HSA_AGENT_INFO_WORKGROUP_MAX_DIM => write_value(value, [1024u16; 3]),
                HSA_AGENT_INFO_WORKGROUP_MAX_SIZE => write_value(value, 1024u32),
                HSA_AGENT_INFO_GRID_MAX_DIM => write_value(
                    value,
                    hsa_dim3_t {
                        x: u32::MAX,
                        y: u32::MAX,
                        z: u32::MAX,
                    },
                ),
                HSA_AGENT_INFO_GRID_MAX_SIZE => write_value(value, u32::MAX),
                HSA_AGENT_INFO_FBARRIER_MAX_SIZE => write_value(value, 32u32),
                HSA_AGENT_INFO_QUEUES_MAX => write_value(value, 128u32),
                HSA_AGENT_INFO_QUEUE_MIN_SIZE => write_value(value, crate::queue::MIN_SIZE),
                HSA_AGENT_INFO_QUEUE_MAX_SIZE => write_value(value, crate::queue::MAX_SIZE),
                HSA_AGENT_INFO_QUEUE_TYPE => write_value(value, HSA_QUEUE_TYPE_MULTI),
                HSA_AGENT_INFO_NODE | HSA_AMD_AGENT_INFO_DRIVER_NODE_ID => write_value(value, node),
                HSA_AGENT_INFO_DEVICE => write_value(value, HSA_DEVICE_TYPE_GPU),
                HSA_AGENT_INFO_CACHE_SIZE => {
                    let [l1, l2, l3] = card.caches.map(|kib| kib << 10);
                    write_value(value, [l1, l2, l3, 0])
                }
                HSA_AGENT_INFO_ISA => write_value(value, self.isa().handle()),
                HSA_AGENT_INFO_EXTENSIONS => write_value(
                    value,
                    crate::extension::bitmap(crate::image::supported(self)),
                ),
                HSA_AGENT_INFO_VERSION_MAJOR | HSA_AGENT_INFO_VERSION_MINOR => {
                    write_value(value, 1u16)
                }
                HSA_AMD_AGENT_INFO_CHIP_ID => write_value(value, card.chip_id),
                HSA_AMD_AGENT_INFO_CACHELINE_SIZE => write_value(value, card.cache_line),
                HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT
                | HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT => {
                    write_value(value, card.compute_units)
                }
                HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY => write_value(value, card.clock),
                HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS => write_value(value, 4u32),
                HSA_AMD_AGENT_INFO_BDFID => write_value(value, (3 + self.spec.ordinal as u32) << 8),
                HSA_AMD_AGENT_INFO_MEMORY_WIDTH => write_value(value, card.memory_width),
                HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY => write_value(value, card.memory_clock),
                HSA_AMD_AGENT_INFO_PRODUCT_NAME => write_text(value, card.product, 64),
                HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU => write_value(value, card.waves),
                HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU => write_value(value, card.simds),
                HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES => write_value(value, card.shader_engines),
                HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE => {
                    write_value(value, card.shader_arrays)
                }
                HSA_AMD_AGENT_INFO_HDP_FLUSH => write_value(value, [0usize; 2]),
                HSA_AMD_AGENT_INFO_ASIC_REVISION => write_value(value, card.revision),
                HSA_AMD_AGENT_INFO_DOMAIN
                | HSA_AMD_AGENT_INFO_UCODE_VERSION
                | HSA_AMD_AGENT_INFO_SDMA_UCODE_VERSION
                | HSA_AMD_AGENT_INFO_IOMMU_SUPPORT => write_value(value, 0u32),
                HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES => write_value(value, true),
                HSA_AMD_AGENT_INFO_UUID => write_text(
                    value,
                    &format!("GPU-{:016x}", config::unique_id(&self.spec)),
                    21,
                ),
                HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS => write_value(value, false),
                HSA_AMD_AGENT_INFO_MEMORY_AVAIL => write_value(
                    value,
                    self.memory
                        .saturating_sub(self.used.load(Ordering::Relaxed)),
                ),
                HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY => write_value(value, 100_000_000u64),
                HSA_AMD_AGENT_INFO_ASIC_FAMILY_ID => write_value(value, card.family),
                HSA_AMD_AGENT_INFO_NUM_SDMA_ENG => write_value(value, card.sdma[0]),
                HSA_AMD_AGENT_INFO_NUM_SDMA_XGMI_ENG => write_value(value, card.sdma[1]),
                HSA_AMD_AGENT_INFO_NUM_XCC => write_value(value, card.xccs),
                HSA_AMD_AGENT_INFO_DRIVER_UID => write_value(value, 0x6e65_0000 | node),
                HSA_AMD_AGENT_INFO_NEAREST_CPU => write_value(value, AgentId::CPU.handle()),
                // Bit 0: HSA_AMD_MEMORY_PROPERTY_AGENT_IS_APU.
                HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES => {
                    write_value(value, [u8::from(card.apu), 0, 0, 0, 0, 0, 0, 0])
                }
                HSA_AMD_AGENT_INFO_AQL_EXTENSIONS => write_value(value, [0u8; 8]),
                HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX => write_value(value, self.memory),
                HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT => {
                    write_value(value, self.scratch_limit.load(Ordering::Relaxed))
                }
                HSA_AMD_AGENT_INFO_CLOCK_COUNTERS => {
                    let now = crate::sys::now();
                    write_value(value, [now, now, now, 1_000_000_000])
                }
                HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS
                    ..=HSA_EXT_AGENT_INFO_IMAGE_LINEAR_ROW_PITCH_ALIGNMENT => {
                    self.image_info(attribute, value)
                }
                _ => Err(HSA_STATUS_ERROR_INVALID_ARGUMENT),
            }
        }
    }

    /// Image limits; all zero where kernels have no image instructions.
    unsafe fn image_info(&self, attribute: hsa_agent_info_t, value: *mut c_void) -> HsaResult {
        let images = u32::from(image::supported(self));
        let limits = |geometry| {
            image::limits(geometry)
                .unwrap_or_default()
                .map(|limit| limit * images)
        };
        let [read, write, samplers] = image::MAX_HANDLES;
        // SAFETY: the caller's promise.
        unsafe {
            match attribute {
                HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS => {
                    write_value(value, limits(HSA_EXT_IMAGE_GEOMETRY_1D)[0])
                }
                HSA_EXT_AGENT_INFO_IMAGE_1DA_MAX_ELEMENTS => {
                    write_value(value, limits(HSA_EXT_IMAGE_GEOMETRY_1DA)[0])
                }
                HSA_EXT_AGENT_INFO_IMAGE_1DB_MAX_ELEMENTS => {
                    write_value(value, limits(HSA_EXT_IMAGE_GEOMETRY_1DB)[0])
                }
                HSA_EXT_AGENT_INFO_IMAGE_2D_MAX_ELEMENTS
                    ..=HSA_EXT_AGENT_INFO_IMAGE_2DADEPTH_MAX_ELEMENTS => {
                    let [width, height, ..] = limits(HSA_EXT_IMAGE_GEOMETRY_2D);
                    write_value(value, [width, height])
                }
                HSA_EXT_AGENT_INFO_IMAGE_3D_MAX_ELEMENTS => {
                    let [width, height, depth, _] = limits(HSA_EXT_IMAGE_GEOMETRY_3D);
                    write_value(value, [width, height, depth])
                }
                HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS => {
                    write_value(value, limits(HSA_EXT_IMAGE_GEOMETRY_2DA)[3])
                }
                HSA_EXT_AGENT_INFO_MAX_IMAGE_RD_HANDLES => write_value(value, read * images),
                HSA_EXT_AGENT_INFO_MAX_IMAGE_RORW_HANDLES => write_value(value, write * images),
                HSA_EXT_AGENT_INFO_MAX_SAMPLER_HANDLERS => write_value(value, samplers * images),
                HSA_EXT_AGENT_INFO_IMAGE_LINEAR_ROW_PITCH_ALIGNMENT => {
                    write_value(value, LINEAR_ALIGNMENT as u32 * images)
                }
                _ => Err(HSA_STATUS_ERROR_INVALID_ARGUMENT),
            }
        }
    }
}
