//! Memory pools and regions: AMD's view and the core specification's view of the same thing.
//!
//! Each NUMA node of the CPU has a fine-grained, a kernarg and a coarse-grained pool, in this order; a GPU a coarse-grained pool, a fine-grained one of
//! the same memory if its cards are linked by XGMI, and the group segment (LDS), which cannot be allocated from. Memory of all pools is coherent here; the kinds differ in who may touch
//! it by default, and on GFX90A fine-grained memory loses float atomics.

use std::sync::LazyLock;

use gneiss_hsa_api::*;

use crate::{
    agent::{AgentId, Agents},
    config,
    entry::{HsaResult, write_value},
    memory::arena,
};

/// Where sub-allocation is cheapest, in bytes.
const RECOMMENDED_GRANULE: usize = 2 << 20;

/// Kinds of pools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PoolKind {
    /// System memory, fine-grained.
    Fine,
    /// System memory for kernel arguments.
    Kernarg,
    /// System memory, coarse-grained.
    Coarse,
    /// Memory of a GPU, coarse-grained.
    Device,
    /// Memory of a GPU, fine-grained.
    DeviceFine,
    /// LDS.
    Group,
}

const CPU_KINDS: &[PoolKind] = &[PoolKind::Fine, PoolKind::Kernarg, PoolKind::Coarse];
const GPU_KINDS: &[PoolKind] = &[PoolKind::Device, PoolKind::Group];
const XGMI_KINDS: &[PoolKind] = &[PoolKind::Device, PoolKind::DeviceFine, PoolKind::Group];

/// `HSA_FORCE_FINE_GRAIN_PCIE`.
static FINE_EVERYWHERE: LazyLock<bool> =
    LazyLock::new(|| config::flag("HSA_FORCE_FINE_GRAIN_PCIE", false));

/// A pool of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PoolId {
    /// The agent.
    pub(crate) agent: AgentId,
    /// The kind.
    pub(crate) kind: PoolKind,
}

const TAG: u64 = 0x4750_0000;

impl PoolId {
    /// The GPU whose memory it is.
    pub(crate) fn gpu(self) -> Option<usize> {
        self.agent.gpu()
    }

    /// The pool's handle.
    pub(crate) fn handle(self) -> u64 {
        TAG | (self.agent.index() as u64) << 4 | self.kind as u64
    }

    /// The pool of a handle.
    pub(crate) fn from_handle(agents: &Agents, handle: u64) -> Option<PoolId> {
        let agent = AgentId::from_index((handle.checked_sub(TAG)? >> 4) as usize);
        agents.pools(agent).find(|pool| pool.handle() == handle)
    }

    fn segment(self) -> u32 {
        if self.kind == PoolKind::Group {
            HSA_REGION_SEGMENT_GROUP
        } else {
            HSA_REGION_SEGMENT_GLOBAL
        }
    }

    /// `HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_*`.
    pub(crate) fn flags(self) -> u32 {
        match self.kind {
            PoolKind::Fine | PoolKind::DeviceFine => HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED,
            PoolKind::Kernarg => {
                HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT
                    | HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED
            }
            PoolKind::Coarse | PoolKind::Device => HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
            PoolKind::Group => 0,
        }
    }

    /// Whether its memory is fine-grained.
    pub(crate) fn fine(self) -> bool {
        self.flags() & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED != 0
    }

    /// Whether a program can allocate from it.
    pub(crate) fn allocatable(self) -> bool {
        self.kind != PoolKind::Group
    }

    /// Bytes.
    pub(crate) fn size(self, agents: &Agents) -> u64 {
        match (self.kind, self.gpu().and_then(|gpu| agents.gpus.get(gpu))) {
            (PoolKind::Group, Some(gpu)) => gpu.engine.target.lds_size().into(),
            (_, Some(gpu)) => gpu.memory,
            (_, None) => {
                let node = self.agent.node().and_then(|node| agents.nodes.get(node));
                node.map_or(0, |node| node.memory)
            }
        }
    }

    /// Writes an attribute that pools and regions share by number; false if it is none of these.
    unsafe fn common(
        self,
        agents: &Agents,
        attribute: u32,
        value: *mut std::ffi::c_void,
    ) -> HsaResult<bool> {
        let granule = if self.allocatable() { arena::PAGE } else { 0 };
        // SAFETY: the caller's buffer has the size of the attribute.
        unsafe {
            match attribute {
                HSA_AMD_MEMORY_POOL_INFO_SEGMENT => write_value(value, self.segment())?,
                HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS => write_value(value, self.flags())?,
                HSA_AMD_MEMORY_POOL_INFO_SIZE => write_value(value, self.size(agents) as usize)?,
                HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED => {
                    write_value(value, self.allocatable())?
                }
                HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE => write_value(value, granule)?,
                HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT => write_value(value, granule)?,
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// `hsa_amd_memory_pool_get_info`.
    ///
    /// # Safety
    /// `value` is null or has room for the attribute.
    pub(crate) unsafe fn pool_info(
        self,
        agents: &Agents,
        attribute: u32,
        value: *mut std::ffi::c_void,
    ) -> HsaResult {
        // SAFETY: the caller's promise.
        unsafe {
            if self.common(agents, attribute, value)? {
                return Ok(());
            }
            match attribute {
                HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL => {
                    write_value(value, self.gpu().is_none())
                }
                HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE => write_value(
                    value,
                    if self.allocatable() {
                        self.size(agents) as usize
                    } else {
                        0
                    },
                ),
                HSA_AMD_MEMORY_POOL_INFO_LOCATION => {
                    write_value(value, u32::from(self.gpu().is_some()))
                }
                HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE => write_value(
                    value,
                    match self.kind {
                        PoolKind::Group => 0,
                        PoolKind::Device | PoolKind::DeviceFine => RECOMMENDED_GRANULE,
                        _ => arena::PAGE,
                    },
                ),
                _ => Err(HSA_STATUS_ERROR_INVALID_ARGUMENT),
            }
        }
    }

    /// `hsa_region_get_info`.
    ///
    /// # Safety
    /// As [`pool_info`](Self::pool_info).
    pub(crate) unsafe fn region_info(
        self,
        agents: &Agents,
        attribute: u32,
        value: *mut std::ffi::c_void,
    ) -> HsaResult {
        let card = self
            .gpu()
            .and_then(|gpu| agents.gpus.get(gpu))
            .map(|gpu| gpu.spec.card);
        // SAFETY: the caller's promise.
        unsafe {
            match attribute {
                HSA_REGION_INFO_ALLOC_MAX_SIZE => write_value(
                    value,
                    if self.allocatable() {
                        self.size(agents) as usize
                    } else {
                        0
                    },
                ),
                HSA_REGION_INFO_ALLOC_MAX_PRIVATE_WORKGROUP_SIZE => {
                    // The specification asks for it in the private segment only, which no agent lists.
                    Err(HSA_STATUS_ERROR_INVALID_ARGUMENT)
                }
                HSA_AMD_REGION_INFO_HOST_ACCESSIBLE => write_value(value, self.allocatable()),
                HSA_AMD_REGION_INFO_BASE => {
                    write_value(value, std::ptr::null_mut::<std::ffi::c_void>())
                }
                HSA_AMD_REGION_INFO_BUS_WIDTH => {
                    write_value(value, card.map_or(64, |card| card.memory_width))
                }
                HSA_AMD_REGION_INFO_MAX_CLOCK_FREQUENCY => {
                    write_value(value, card.map_or(0, |card| card.memory_clock))
                }
                _ => match self.common(agents, attribute, value)? {
                    true => Ok(()),
                    false => Err(HSA_STATUS_ERROR_INVALID_ARGUMENT),
                },
            }
        }
    }

    /// `hsa_amd_agent_memory_pool_get_info`: what `agent` may do with this pool and how far it is.
    ///
    /// # Safety
    /// As [`pool_info`](Self::pool_info).
    pub(crate) unsafe fn agent_info(
        self,
        agents: &Agents,
        agent: AgentId,
        attribute: u32,
        value: *mut std::ffi::c_void,
    ) -> HsaResult {
        let own = self.agent == agent;
        let link = hsa_amd_memory_pool_link_info_t {
            min_latency: 0,
            max_latency: 0,
            min_bandwidth: 0,
            max_bandwidth: 0,
            atomic_support_32bit: true,
            atomic_support_64bit: true,
            coherent_support: true,
            link_type: match (self.gpu(), agent.gpu()) {
                (Some(_), Some(_)) => HSA_AMD_LINK_INFO_TYPE_XGMI,
                (None, None) => HSA_AMD_LINK_INFO_TYPE_QPI,
                _ => HSA_AMD_LINK_INFO_TYPE_PCIE,
            },
            numa_distance: agents.distance(agent, self.agent),
        };
        // SAFETY: the caller's promise.
        unsafe {
            match attribute {
                HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS => write_value(
                    value,
                    match self.kind {
                        _ if own => HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT,
                        PoolKind::Group => HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED,
                        // The host reaches a GPU's memory too: its address is a host address ("large BAR").
                        _ => HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT,
                    },
                ),
                HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS => write_value(value, u32::from(!own)),
                HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO if own => Ok(()),
                HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO => write_value(value, link),
                _ => Err(HSA_STATUS_ERROR_INVALID_ARGUMENT),
            }
        }
    }
}

impl Agents {
    /// The pools of an agent, in the order in which they are reported.
    pub(crate) fn pools(&self, agent: AgentId) -> impl Iterator<Item = PoolId> + use<> {
        let kinds = match agent.gpu() {
            None if self.exists(agent) => CPU_KINDS,
            None => &[],
            Some(gpu) => match self.gpus.get(gpu) {
                Some(gpu) if gpu.spec.card.sdma[1] != 0 || *FINE_EVERYWHERE => XGMI_KINDS,
                Some(_) => GPU_KINDS,
                None => &[],
            },
        };
        kinds.iter().map(move |&kind| PoolId { agent, kind })
    }

    /// The pool of a handle.
    pub(crate) fn pool(&self, pool: hsa_amd_memory_pool_t) -> HsaResult<PoolId> {
        PoolId::from_handle(self, pool.handle).ok_or(HSA_STATUS_ERROR_INVALID_MEMORY_POOL)
    }

    /// The region of a handle.
    pub(crate) fn region(&self, region: hsa_region_t) -> HsaResult<PoolId> {
        PoolId::from_handle(self, region.handle).ok_or(HSA_STATUS_ERROR_INVALID_REGION)
    }
}
