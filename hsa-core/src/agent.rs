//! Agents: the CPU's NUMA nodes and the software GPUs, and their attributes.

mod gpu;

use std::{
    ffi::c_void,
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64},
    },
};

use gneiss_amdgcn::{
    engine::{Gpu, Semaphores},
    memory::{GuestMap, Rights},
    target::Target,
};
use gneiss_hsa_api::*;

use crate::{
    card::Feature,
    config::{self, GpuSpec},
    entry::{HsaResult, require, write_text, write_value},
    memory::pageable,
    numa::{self, Node},
};

/// An agent: 0 is the CPU's first NUMA node, GPUs follow, then its other nodes. So a GPU's number does not depend on the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AgentId(usize);

const TAG: u64 = 0x4741_0000;
const CACHE_TAG: u64 = 0x4743_0000;

/// Number of the CPU's second node; GPUs are below.
const OTHER_NODES: usize = 128;
const _: () = assert!(gneiss_settings::gpus::MOST < OTHER_NODES);

impl AgentId {
    /// The CPU's first node.
    pub(crate) const CPU: AgentId = AgentId(0);

    /// A node of the CPU, by its position among the nodes.
    pub(crate) fn of_node(node: usize) -> AgentId {
        AgentId(if node == 0 { 0 } else { OTHER_NODES + node - 1 })
    }

    /// The agent of a GPU.
    pub(crate) fn of_gpu(gpu: usize) -> AgentId {
        AgentId(gpu + 1)
    }

    /// The agent of a number, which need not exist.
    pub(crate) fn from_index(index: usize) -> AgentId {
        AgentId(index)
    }

    /// The number, for handles.
    pub(crate) fn index(self) -> usize {
        self.0
    }

    /// The GPU's index, if it is one.
    pub(crate) fn gpu(self) -> Option<usize> {
        (1..OTHER_NODES).contains(&self.0).then(|| self.0 - 1)
    }

    /// The position among the CPU's nodes, if it is one.
    pub(crate) fn node(self) -> Option<usize> {
        match self.0 {
            0 => Some(0),
            other => other.checked_sub(OTHER_NODES).map(|node| node + 1),
        }
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

/// What all nodes of the CPU have in common.
#[derive(Debug)]
pub(crate) struct Cpu {
    name: String,
    clock: u32,
    /// Bytes of the first data cache of a core; 0 if the system does not say.
    cache: u32,
}

/// All agents.
#[derive(Debug)]
pub(crate) struct Agents {
    cpu: Cpu,
    /// The CPU's NUMA nodes; one at least.
    pub(crate) nodes: Vec<Node>,
    /// The GPUs.
    pub(crate) gpus: Vec<GpuAgent>,
    /// Bytes of system memory.
    pub(crate) system_memory: u64,
}

impl Cpu {
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
            clock: max.or_else(now).unwrap_or(0),
            cache: cache
                .and_then(|bytes| u32::try_from(bytes).ok())
                .unwrap_or(0),
        }
    }
}

impl Agents {
    /// Makes the agents that the environment asks for, on the NUMA nodes that a folder like [`numa::SYSFS`] describes.
    ///
    /// # Errors
    /// What is wrong with the environment, one line for each variable.
    pub(crate) fn discover(nodes: &Path) -> Result<Self, Vec<String>> {
        gneiss_settings::check()
            .map_err(|refused| refused.iter().map(ToString::to_string).collect::<Vec<_>>())?;
        let system_memory = config::machine_memory();
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
        let mut gpus = Vec::new();
        for spec in config::gpus().map_err(|error| vec![error])? {
            let [major, minor, stepping] = spec.card.version;
            let memory = config::device_memory(spec.card, system_memory);
            let gpu = GpuAgent {
                spec,
                engine: Arc::new(Gpu {
                    target: Target {
                        major,
                        minor,
                        stepping,
                    },
                    map: GuestMap::default(),
                    compute_units: spec.card.compute_units,
                    semaphores: Semaphores::default(),
                }),
                memory,
                used: AtomicU64::new(0),
                scratch_limit: AtomicU64::new(memory),
                coherency: AtomicU32::new(HSA_AMD_COHERENCY_TYPE_COHERENT),
            };
            if spec.xnack == Feature::On {
                let loses = gpu.rights(true) & Rights::LOSES_FLOAT_ATOMICS;
                let serve = move |map: &GuestMap, address, write| {
                    pageable::serve(map, loses, address, write)
                };
                gpu.engine.map.serve_faults(Box::new(serve));
            }
            gpus.push(gpu);
        }
        Ok(Self {
            cpu: Cpu::discover(),
            nodes: numa::nodes(nodes, cores, system_memory),
            gpus,
            system_memory,
        })
    }

    /// All agents, the CPU's nodes first.
    pub(crate) fn ids(&self) -> impl Iterator<Item = AgentId> + use<> {
        let gpus = (0..self.gpus.len()).map(AgentId::of_gpu);
        self.node_ids().chain(gpus)
    }

    /// The CPU's nodes.
    pub(crate) fn node_ids(&self) -> impl Iterator<Item = AgentId> + use<> {
        (0..self.nodes.len()).map(AgentId::of_node)
    }

    /// Whether there is such an agent.
    pub(crate) fn exists(&self, id: AgentId) -> bool {
        id.gpu().is_some_and(|gpu| gpu < self.gpus.len())
            || id.node().is_some_and(|node| node < self.nodes.len())
    }

    /// Number of the agent in the driver's topology: the nodes of the CPU, then the GPUs.
    pub(crate) fn topology_node(&self, id: AgentId) -> u32 {
        let position = id.gpu().map_or_else(
            || id.node().unwrap_or_default(),
            |gpu| self.nodes.len() + gpu,
        );
        position as u32
    }

    /// Distance between two agents in the driver's topology, by the convention of ACPI: 10 to itself. GPUs hang on the CPU's first node
    /// (20), and are linked by XGMI among themselves (15).
    pub(crate) fn distance(&self, one: AgentId, other: AgentId) -> u32 {
        /// From a GPU to the node that it hangs on.
        const PCIE: u32 = 20;
        const XGMI: u32 = 15;
        let between = |a: usize, b: usize| {
            let distances = self.nodes.get(a).map(|node| &node.distances);
            distances.and_then(|distances| distances.get(b)).copied()
        };
        match (one.node(), other.node()) {
            _ if one == other => numa::LOCAL,
            (Some(a), Some(b)) => between(a, b).unwrap_or(PCIE),
            (Some(node), None) | (None, Some(node)) => {
                PCIE + between(0, node).unwrap_or(PCIE) - numa::LOCAL
            }
            (None, None) => XGMI,
        }
    }

    /// The agent of a handle.
    pub(crate) fn id(&self, agent: hsa_agent_t) -> HsaResult<AgentId> {
        agent
            .handle
            .checked_sub(TAG + 1)
            .map(|index| AgentId(index as usize))
            .filter(|&id| self.exists(id))
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
                None => self.cpu_info(id, attribute, value),
                Some(gpu) => self.gpus[gpu].info(self.topology_node(id), attribute, value),
            }
        }
    }

    unsafe fn cpu_info(
        &self,
        id: AgentId,
        attribute: hsa_agent_info_t,
        value: *mut c_void,
    ) -> HsaResult {
        let cpu = &self.cpu;
        let node = id
            .node()
            .and_then(|node| self.nodes.get(node))
            .ok_or(HSA_STATUS_ERROR_INVALID_AGENT)?;
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
                | HSA_AMD_AGENT_INFO_CHIP_ID
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
                HSA_AGENT_INFO_NODE | HSA_AMD_AGENT_INFO_DRIVER_NODE_ID => {
                    write_value(value, self.topology_node(id))
                }
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
                HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT => write_value(value, node.cores),
                HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY => write_value(value, cpu.clock),
                HSA_AMD_AGENT_INFO_PRODUCT_NAME => write_text(value, &cpu.name, 64),
                HSA_AMD_AGENT_INFO_HDP_FLUSH => write_value(value, [0usize; 2]),
                HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES
                | HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS => write_value(value, false),
                HSA_AMD_AGENT_INFO_UUID => write_text(value, "CPU-XX", 21),
                HSA_AMD_AGENT_INFO_MEMORY_AVAIL => write_value(value, node.memory),
                HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY => write_value(value, 1_000_000_000u64),
                HSA_AMD_AGENT_INFO_NEAREST_CPU => write_value(value, id.handle()),
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
        let gpu = id.gpu().and_then(|gpu| self.gpus.get(gpu));
        let gpu = gpu
            .filter(|_| self.caches(id).contains(&cache))
            .ok_or(HSA_STATUS_ERROR_INVALID_CACHE)?;
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

#[cfg(test)]
mod tests;
