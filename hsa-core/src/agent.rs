//! Agents: one CPU and the software GPUs, and their attributes.

use std::{
    ffi::c_void,
    fs,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
};

use gneiss_amdgcn::{
    engine::Gpu, image::descriptor::LINEAR_ALIGNMENT, memory::GuestMap, target::Target,
};
use gneiss_hsa_api::*;

use crate::{
    card::Feature,
    config::{self, GpuSpec},
    entry::{HsaResult, require, write_text, write_value},
    image,
    isa::Isa,
};

/// An agent's position: 0 is the CPU, GPUs follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AgentId(usize);

const TAG: u64 = 0x4741_0000;
const CACHE_TAG: u64 = 0x4743_0000;

impl AgentId {
    /// The CPU.
    pub(crate) const CPU: AgentId = AgentId(0);

    /// The agent of a GPU.
    pub(crate) fn of_gpu(gpu: usize) -> AgentId {
        AgentId(gpu + 1)
    }

    /// The agent at a position, which need not exist.
    pub(crate) fn from_index(index: usize) -> AgentId {
        AgentId(index)
    }

    /// The position.
    pub(crate) fn index(self) -> usize {
        self.0
    }

    /// The GPU's index, if it is one.
    pub(crate) fn gpu(self) -> Option<usize> {
        self.0.checked_sub(1)
    }

    /// The handle.
    pub(crate) fn handle(self) -> hsa_agent_t {
        hsa_agent_t {
            handle: TAG + self.0 as u64 + 1,
        }
    }
}

/// A software GPU.
#[derive(Debug)]
pub(crate) struct GpuAgent {
    /// Its card and features.
    pub(crate) spec: GpuSpec,
    /// What the engine knows of it.
    pub(crate) engine: Arc<Gpu>,
    /// Bytes of memory.
    pub(crate) memory: u64,
    /// Bytes of memory in use.
    pub(crate) used: AtomicU64,
    /// Bytes of scratch that may stay allocated between dispatches, as a program has set it. None ever does.
    pub(crate) scratch_limit: AtomicU64,
    /// `HSA_AMD_COHERENCY_TYPE_*`, as a program has set it. Memory is coherent whatever it says.
    pub(crate) coherency: AtomicU32,
}

/// The CPU.
#[derive(Debug)]
pub(crate) struct CpuAgent {
    name: String,
    cores: u32,
    clock: u32,
    /// Bytes of the first data cache of a core; 0 if the system does not say.
    cache: u32,
}

/// All agents.
#[derive(Debug)]
pub(crate) struct Agents {
    /// The CPU.
    pub(crate) cpu: CpuAgent,
    /// The GPUs.
    pub(crate) gpus: Vec<GpuAgent>,
    /// Bytes of system memory.
    pub(crate) system_memory: u64,
}

impl CpuAgent {
    fn discover() -> Self {
        let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let field = |name: &str| {
            let line = info.lines().find(|line| line.starts_with(name))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        let max = fs::read_to_string("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq").ok();
        let max = max
            .and_then(|text| text.trim().parse::<u32>().ok())
            .map(|khz| khz / 1000);
        let cache = fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index0/size").ok();
        let cache = cache.and_then(|text| gneiss_settings::parse::size(&text));
        let now = || field("cpu MHz")?.parse::<f64>().ok().map(|mhz| mhz as u32);
        Self {
            name: field("model name").unwrap_or_else(|| "x86-64 CPU".to_owned()),
            cores: std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32),
            clock: max.or_else(now).unwrap_or(0),
            cache: cache
                .and_then(|bytes| u32::try_from(bytes).ok())
                .unwrap_or(0),
        }
    }
}

impl Agents {
    /// Makes the agents that the environment asks for.
    ///
    /// # Errors
    /// What is wrong with the environment, one line for each variable.
    pub(crate) fn discover() -> Result<Self, Vec<String>> {
        gneiss_settings::check()
            .map_err(|refused| refused.iter().map(ToString::to_string).collect::<Vec<_>>())?;
        let system_memory = config::machine_memory();
        let mut gpus = Vec::new();
        for spec in config::gpus().map_err(|error| vec![error])? {
            let [major, minor, stepping] = spec.card.version;
            let memory = config::device_memory(spec.card, system_memory);
            gpus.push(GpuAgent {
                spec,
                engine: Arc::new(Gpu {
                    target: Target {
                        major,
                        minor,
                        stepping,
                    },
                    map: GuestMap::default(),
                    compute_units: spec.card.compute_units,
                }),
                memory,
                used: AtomicU64::new(0),
                scratch_limit: AtomicU64::new(memory),
                coherency: AtomicU32::new(HSA_AMD_COHERENCY_TYPE_COHERENT),
            });
        }
        Ok(Self {
            cpu: CpuAgent::discover(),
            gpus,
            system_memory,
        })
    }

    /// All agents, the CPU first.
    pub(crate) fn ids(&self) -> impl Iterator<Item = AgentId> + use<> {
        (0..=self.gpus.len()).map(AgentId)
    }

    /// The agent of a handle.
    pub(crate) fn id(&self, agent: hsa_agent_t) -> HsaResult<AgentId> {
        agent
            .handle
            .checked_sub(TAG + 1)
            .map(|index| AgentId(index as usize))
            .filter(|id| id.0 <= self.gpus.len())
            .ok_or(HSA_STATUS_ERROR_INVALID_AGENT)
    }

    /// The GPU of a handle.
    pub(crate) fn gpu(&self, agent: hsa_agent_t) -> HsaResult<(usize, &GpuAgent)> {
        let index = self
            .id(agent)?
            .gpu()
            .ok_or(HSA_STATUS_ERROR_INVALID_AGENT)?;
        Ok((index, &self.gpus[index]))
    }

    /// Whether XNACK is on for every GPU that has it, and there is one.
    pub(crate) fn xnack(&self) -> bool {
        let mut with = self
            .gpus
            .iter()
            .map(|gpu| gpu.spec.xnack)
            .filter(|xnack| *xnack != Feature::None)
            .peekable();
        with.peek().is_some() && with.all(|xnack| xnack == Feature::On)
    }

    /// The set of all GPUs.
    pub(crate) fn all_gpus(&self) -> u64 {
        if self.gpus.len() == 64 {
            u64::MAX
        } else {
            (1 << self.gpus.len()) - 1
        }
    }

    /// The set of GPUs in a list of agents; the CPU is in no set, it reaches everything.
    ///
    /// # Safety
    /// `agents` is valid for `count` handles.
    pub(crate) unsafe fn gpu_set(
        &self,
        agents: *const hsa_agent_t,
        count: usize,
    ) -> HsaResult<u64> {
        require(count == 0 || !agents.is_null())?;
        let mut set = 0;
        for at in 0..count {
            // SAFETY: `at < count`.
            let id = self.id(unsafe { agents.add(at).read_unaligned() })?;
            set |= id.gpu().map_or(0, |gpu| 1 << gpu);
        }
        Ok(set)
    }

    /// `hsa_agent_get_info`.
    ///
    /// # Safety
    /// `value` is null or has room for the attribute.
    pub(crate) unsafe fn info(
        &self,
        id: AgentId,
        attribute: hsa_agent_info_t,
        value: *mut c_void,
    ) -> HsaResult {
        require(!value.is_null())?;
        // SAFETY: the caller's promise.
        unsafe {
            match id.gpu() {
                None => self.cpu_info(attribute, value),
                Some(gpu) => self.gpus[gpu].info(id, attribute, value),
            }
        }
    }

    unsafe fn cpu_info(&self, attribute: hsa_agent_info_t, value: *mut c_void) -> HsaResult {
        let cpu = &self.cpu;
        // SAFETY: the caller's promise.
        unsafe {
            match attribute {
                HSA_AGENT_INFO_NAME => write_text(value, &cpu.name, 64),
                HSA_AGENT_INFO_VENDOR_NAME => write_text(value, "CPU", 64),
                HSA_AGENT_INFO_FEATURE => write_value(value, 0u32),
                HSA_AGENT_INFO_MACHINE_MODEL => write_value(value, HSA_MACHINE_MODEL_LARGE),
                HSA_AGENT_INFO_PROFILE => write_value(value, HSA_PROFILE_FULL),
                HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE => {
                    write_value(value, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR)
                }
                HSA_AGENT_INFO_FAST_F16_OPERATION => write_value(value, false),
                HSA_AGENT_INFO_WORKGROUP_MAX_DIM => write_value(value, [0u16; 3]),
                HSA_AGENT_INFO_GRID_MAX_DIM => write_value(value, hsa_dim3_t::default()),
                HSA_AGENT_INFO_WAVEFRONT_SIZE
                | HSA_AGENT_INFO_WORKGROUP_MAX_SIZE
                | HSA_AGENT_INFO_GRID_MAX_SIZE
                | HSA_AGENT_INFO_FBARRIER_MAX_SIZE
                | HSA_AGENT_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES
                | HSA_AGENT_INFO_QUEUES_MAX
                | HSA_AGENT_INFO_QUEUE_MIN_SIZE
                | HSA_AGENT_INFO_QUEUE_MAX_SIZE
                | HSA_AGENT_INFO_NODE
                | HSA_AMD_AGENT_INFO_CHIP_ID
                | HSA_AMD_AGENT_INFO_DRIVER_NODE_ID
                | HSA_AMD_AGENT_INFO_BDFID
                | HSA_AMD_AGENT_INFO_MEMORY_WIDTH
                | HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY
                | HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU
                | HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU
                | HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES
                | HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE
                | HSA_AMD_AGENT_INFO_DOMAIN
                | HSA_AMD_AGENT_INFO_ASIC_REVISION
                | HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT
                | HSA_AMD_AGENT_INFO_ASIC_FAMILY_ID
                | HSA_AMD_AGENT_INFO_UCODE_VERSION
                | HSA_AMD_AGENT_INFO_SDMA_UCODE_VERSION
                | HSA_AMD_AGENT_INFO_NUM_SDMA_ENG
                | HSA_AMD_AGENT_INFO_NUM_SDMA_XGMI_ENG
                | HSA_AMD_AGENT_INFO_IOMMU_SUPPORT
                | HSA_AMD_AGENT_INFO_NUM_XCC
                | HSA_AMD_AGENT_INFO_DRIVER_UID => write_value(value, 0u32),
                HSA_AGENT_INFO_QUEUE_TYPE => write_value(value, HSA_QUEUE_TYPE_MULTI),
                HSA_AGENT_INFO_DEVICE => write_value(value, HSA_DEVICE_TYPE_CPU),
                HSA_AGENT_INFO_CACHE_SIZE => write_value(value, [cpu.cache, 0, 0, 0]),
                // 1 << 0: the driver's topology has no bits for them in a CPU node.
                HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS => write_value(value, 1u32),
                HSA_AGENT_INFO_ISA => write_value(value, hsa_isa_t::default()),
                HSA_AGENT_INFO_EXTENSIONS => write_value(value, [0u8; 128]),
                HSA_AGENT_INFO_VERSION_MAJOR | HSA_AGENT_INFO_VERSION_MINOR => {
                    write_value(value, 1u16)
                }
                HSA_AMD_AGENT_INFO_CACHELINE_SIZE => write_value(value, 64u32),
                HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT => write_value(value, cpu.cores),
                HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY => write_value(value, cpu.clock),
                HSA_AMD_AGENT_INFO_PRODUCT_NAME => write_text(value, &cpu.name, 64),
                HSA_AMD_AGENT_INFO_HDP_FLUSH => write_value(value, [0usize; 2]),
                HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES
                | HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS => write_value(value, false),
                HSA_AMD_AGENT_INFO_UUID => write_text(value, "CPU-XX", 21),
                HSA_AMD_AGENT_INFO_MEMORY_AVAIL => write_value(value, self.system_memory),
                HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY => write_value(value, 1_000_000_000u64),
                HSA_AMD_AGENT_INFO_NEAREST_CPU => write_value(value, AgentId::CPU.handle()),
                HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES | HSA_AMD_AGENT_INFO_AQL_EXTENSIONS => {
                    write_value(value, [0u8; 8])
                }
                HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX | HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT => {
                    write_value(value, 0u64)
                }
                _ => Err(HSA_STATUS_ERROR_INVALID_ARGUMENT),
            }
        }
    }

    /// The data caches of an agent, as handles.
    pub(crate) fn caches(&self, id: AgentId) -> Vec<hsa_cache_t> {
        let Some(gpu) = id.gpu() else {
            return Vec::new();
        };
        let sizes = self.gpus[gpu].spec.card.caches;
        (0..3)
            .filter(|&level| sizes[level] != 0)
            .map(|level| hsa_cache_t {
                handle: CACHE_TAG | (id.0 as u64) << 4 | (level as u64 + 1),
            })
            .collect()
    }

    /// `hsa_cache_get_info`.
    ///
    /// # Safety
    /// `value` is null or has room for the attribute.
    pub(crate) unsafe fn cache_info(
        &self,
        cache: hsa_cache_t,
        attribute: u32,
        value: *mut c_void,
    ) -> HsaResult {
        let bits = cache
            .handle
            .checked_sub(CACHE_TAG)
            .ok_or(HSA_STATUS_ERROR_INVALID_CACHE)?;
        let id = AgentId((bits >> 4) as usize);
        let level = (bits & 15) as usize;
        if id.0 > self.gpus.len() || !self.caches(id).contains(&cache) {
            return Err(HSA_STATUS_ERROR_INVALID_CACHE);
        }
        let gpu = &self.gpus[id.0 - 1];
        let name = format!("{} L{level}", gpu.spec.card.processor);
        // SAFETY: the caller's promise.
        unsafe {
            match attribute {
                HSA_CACHE_INFO_NAME_LENGTH => write_value(value, name.len() as u32),
                HSA_CACHE_INFO_NAME => write_text(value, &name, name.len() + 1),
                HSA_CACHE_INFO_LEVEL => write_value(value, level as u8),
                HSA_CACHE_INFO_SIZE => write_value(value, gpu.spec.card.caches[level - 1]),
                _ => Err(HSA_STATUS_ERROR_INVALID_ARGUMENT),
            }
        }
    }
}

impl GpuAgent {
    /// Its ISA, with every feature stated.
    pub(crate) fn isa(&self) -> Isa {
        Isa {
            card: self.spec.card,
            sramecc: self.spec.sramecc,
            xnack: self.spec.xnack,
        }
    }

    unsafe fn info(
        &self,
        id: AgentId,
        attribute: hsa_agent_info_t,
        value: *mut c_void,
    ) -> HsaResult {
        let card = self.spec.card;
        let node = id.0 as u32;
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
                HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES | HSA_AMD_AGENT_INFO_AQL_EXTENSIONS => {
                    write_value(value, [0u8; 8])
                }
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
