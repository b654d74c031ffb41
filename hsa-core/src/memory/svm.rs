//! Shared virtual memory: attributes of ranges of the program's own memory, and which GPUs reach it at its own address.
//!
//! A GPU with access has mappings of the range in its map, at the host's addresses; memory is coherent and stays where it is, so
//! location, granularity and the other hints are kept and answered, and change nothing. A range that the program unmaps
//! without taking the access back leaves a mapping behind: it goes when anything else is mapped there ([`super::map`]).
//!
//! Attributes are kept by range; ranges never overlap. Lock: one, for each call.

use std::collections::BTreeMap;

use gneiss_amdgcn::memory::{Mapping, Rights};
use gneiss_hsa_api::*;
use parking_lot::Mutex;

use super::{GpuSet, map, members, next_number};
use crate::{
    agent::{AgentId, Agents, GpuAgent},
    entry::{HsaResult, require},
    memory::arena::PAGE,
    segv,
};

/// Marks allocation numbers of shared virtual memory.
pub(super) const NUMBER: u64 = 1 << 63;

/// What a range has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Attributes {
    global_flag: u64,
    read_only: bool,
    hive_local: bool,
    /// Logarithm of pages.
    granularity: u64,
    /// Handles of agents; 0: none.
    preferred: u64,
    prefetch: u64,
    read_mostly: bool,
    gpu_exec: bool,
    /// GPUs that may reach it, and those of them in place.
    access: GpuSet,
    in_place: GpuSet,
}

/// Of ranges for which nothing was set.
const DEFAULT: Attributes = Attributes {
    global_flag: HSA_AMD_SVM_GLOBAL_FLAG_FINE_GRAINED as u64,
    read_only: false,
    hive_local: false,
    // 2 MiB, as in amdkfd.
    granularity: 9,
    preferred: 0,
    prefetch: 0,
    read_mostly: false,
    gpu_exec: true,
    access: 0,
    in_place: 0,
};

#[derive(Default)]
struct Tables {
    /// Start to end and attributes.
    ranges: BTreeMap<u64, (u64, Attributes)>,
    /// For each GPU: start to end and number of its mappings.
    mappings: BTreeMap<usize, BTreeMap<u64, (u64, u64)>>,
}

/// All of a runtime.
#[derive(Default)]
pub(crate) struct Svm {
    tables: Mutex<Tables>,
}

/// An attribute to be set, checked.
enum Change {
    GlobalFlag(u64),
    ReadOnly(bool),
    HiveLocal(bool),
    Granularity(u64),
    Preferred(u64),
    ReadMostly(bool),
    GpuExec(bool),
    Access { gpus: GpuSet, in_place: bool },
    NoAccess(GpuSet),
}

/// The pages that a range touches, as first address and end: a part of a page means all of it, as in ROCr.
fn pages(address: u64, size: u64) -> HsaResult<(u64, u64)> {
    require(address != 0 && size != 0)?;
    let end = address
        .checked_add(size)
        .and_then(|end| end.checked_next_multiple_of(PAGE as u64))
        .ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
    Ok((address & !(PAGE as u64 - 1), end))
}

impl Change {
    fn check(agents: &Agents, attribute: u64, value: u64) -> HsaResult<Self> {
        // The CPU reaches all of it: an access for it changes nothing.
        let gpus = || -> HsaResult<GpuSet> {
            let id = agents.id(hsa_agent_t { handle: value })?;
            Ok(id.gpu().map_or(0, |gpu| 1 << gpu))
        };
        Ok(match attribute as u32 {
            HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG => {
                require(value <= u64::from(HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED))?;
                Change::GlobalFlag(value)
            }
            HSA_AMD_SVM_ATTRIB_READ_ONLY => Change::ReadOnly(value != 0),
            HSA_AMD_SVM_ATTRIB_HIVE_LOCAL => Change::HiveLocal(value != 0),
            HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY => Change::Granularity(value.min(0x3f)),
            HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION => {
                if value != 0 {
                    agents.id(hsa_agent_t { handle: value })?;
                }
                Change::Preferred(value)
            }
            HSA_AMD_SVM_ATTRIB_READ_MOSTLY => Change::ReadMostly(value != 0),
            HSA_AMD_SVM_ATTRIB_GPU_EXEC => Change::GpuExec(value != 0),
            HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE => Change::Access {
                gpus: gpus()?,
                in_place: false,
            },
            HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE => Change::Access {
                gpus: gpus()?,
                in_place: true,
            },
            HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS => Change::NoAccess(gpus()?),
            _ => return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT),
        })
    }

    fn apply(&self, to: &mut Attributes) {
        match *self {
            Change::GlobalFlag(value) => to.global_flag = value,
            Change::ReadOnly(value) => to.read_only = value,
            Change::HiveLocal(value) => to.hive_local = value,
            Change::Granularity(value) => to.granularity = value,
            Change::Preferred(value) => to.preferred = value,
            Change::ReadMostly(value) => to.read_mostly = value,
            Change::GpuExec(value) => to.gpu_exec = value,
            Change::Access { gpus, in_place } => {
                to.access |= gpus;
                if in_place {
                    to.in_place |= gpus;
                } else {
                    to.in_place &= !gpus;
                }
            }
            Change::NoAccess(gpus) => {
                to.access &= !gpus;
                to.in_place &= !gpus;
            }
        }
    }
}

impl Tables {
    /// Cuts the range that holds `at`, so that one begins there.
    fn cut(&mut self, at: u64) {
        if let Some((&start, &(end, attributes))) = self.ranges.range(..at).next_back()
            && end > at
        {
            self.ranges.insert(start, (at, attributes));
            self.ranges.insert(at, (end, attributes));
        }
    }

    /// Changes the attributes of all of a range.
    fn change(&mut self, start: u64, end: u64, change: &dyn Fn(&mut Attributes)) {
        self.cut(start);
        self.cut(end);
        let mut at = start;
        let mut fresh = Vec::new();
        for (&range, (range_end, attributes)) in self.ranges.range_mut(start..end) {
            if range > at {
                fresh.push((at, range));
            }
            change(attributes);
            at = *range_end;
        }
        if at < end {
            fresh.push((at, end));
        }
        for (start, end) in fresh {
            let mut attributes = DEFAULT;
            change(&mut attributes);
            self.ranges.insert(start, (end, attributes));
        }
    }

    /// The attributes of every part of a range.
    fn parts(&self, start: u64, end: u64) -> Vec<Attributes> {
        let mut parts = Vec::new();
        let mut at = start;
        let before = self.ranges.range(..start).next_back();
        let first = before.filter(|(_, (range_end, _))| *range_end > start);
        for (&range, &(range_end, attributes)) in
            first.into_iter().chain(self.ranges.range(start..end))
        {
            if range > at {
                parts.push(DEFAULT);
            }
            parts.push(attributes);
            at = range_end;
        }
        if at < end {
            parts.push(DEFAULT);
        }
        parts
    }

    /// Maps what a GPU lacks of a range.
    fn map(&mut self, index: usize, gpu: &GpuAgent, start: u64, end: u64) -> HsaResult {
        let mappings = self.mappings.entry(index).or_default();
        // Mappings that something else has replaced are no longer there.
        mappings.retain(|&base, &mut (_, number)| {
            gpu.engine
                .map
                .find(base)
                .is_some_and(|mapping| mapping.allocation == number)
        });
        let mut at = start;
        while at < end {
            let inside = mappings.range(..=at).next_back().map(|(_, &(end, _))| end);
            if let Some(past) = inside.filter(|&past| past > at) {
                at = past;
                continue;
            }
            let next = mappings
                .range(at..)
                .next()
                .map_or(end, |(&base, _)| base.min(end));
            let number = next_number() | NUMBER;
            let mapping = Mapping {
                base: at,
                len: next - at,
                host: at as *mut u8,
                rights: Rights::READ | Rights::WRITE,
                allocation: number,
            };
            // SAFETY: the program says that the range is memory of its own for as long as a GPU may use it.
            unsafe { map(gpu, mapping) }?;
            mappings.insert(at, (next, number));
            at = next;
        }
        Ok(())
    }

    /// Takes a range away from a GPU; what its mappings hold beyond it is mapped again.
    fn unmap(&mut self, index: usize, gpu: &GpuAgent, start: u64, end: u64) -> HsaResult {
        let mappings = self.mappings.entry(index).or_default();
        let hit: Vec<_> = mappings
            .range(..end)
            .filter(|(_, (mapping_end, _))| *mapping_end > start)
            .map(|(&base, &value)| (base, value))
            .collect();
        for &(base, (_, number)) in &hit {
            mappings.remove(&base);
            let ours = gpu
                .engine
                .map
                .find(base)
                .is_some_and(|mapping| mapping.allocation == number);
            if ours {
                gpu.engine.map.remove(base);
            }
        }
        for (base, (mapping_end, _)) in hit {
            if base < start {
                self.map(index, gpu, base, start)?;
            }
            if mapping_end > end {
                self.map(index, gpu, end, mapping_end)?;
            }
        }
        Ok(())
    }
}

impl Svm {
    /// `hsa_amd_svm_attributes_set`. Nothing is set if one attribute is wrong.
    pub(crate) fn set(
        &self,
        agents: &Agents,
        address: u64,
        size: u64,
        attributes: &[hsa_amd_svm_attribute_pair_t],
    ) -> HsaResult {
        let (start, end) = pages(address, size)?;
        let changes = attributes
            .iter()
            .map(|pair| Change::check(agents, pair.attribute, pair.value))
            .collect::<HsaResult<Vec<_>>>()?;
        // The range is the program's: it may go while a kernel runs.
        segv::install();
        let mut tables = self.tables.lock();
        for change in &changes {
            let (gpus, give) = match *change {
                Change::Access { gpus, .. } => (gpus, true),
                Change::NoAccess(gpus) => (gpus, false),
                _ => (0, false),
            };
            for index in members(gpus) {
                let gpu = &agents.gpus[index];
                if give {
                    tables.map(index, gpu, start, end)?;
                } else {
                    tables.unmap(index, gpu, start, end)?;
                }
            }
            tables.change(start, end, &|attributes| change.apply(attributes));
        }
        Ok(())
    }

    /// `hsa_amd_svm_attributes_get`.
    pub(crate) fn get(
        &self,
        agents: &Agents,
        address: u64,
        size: u64,
        attributes: &mut [hsa_amd_svm_attribute_pair_t],
    ) -> HsaResult {
        let (start, end) = pages(address, size)?;
        let parts = self.tables.lock().parts(start, end);
        let all = |test: fn(&Attributes) -> bool| u64::from(parts.iter().all(test));
        let same = |value: fn(&Attributes) -> u64| {
            let first = parts.first().map_or(0, value);
            parts
                .iter()
                .all(|part| value(part) == first)
                .then_some(first)
        };
        for pair in attributes {
            match pair.attribute as u32 {
                HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG => {
                    pair.value = same(|part| part.global_flag)
                        .unwrap_or(HSA_AMD_SVM_GLOBAL_FLAG_INDETERMINATE.into());
                }
                HSA_AMD_SVM_ATTRIB_READ_ONLY => pair.value = all(|part| part.read_only),
                HSA_AMD_SVM_ATTRIB_HIVE_LOCAL => pair.value = all(|part| part.hive_local),
                HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY => {
                    pair.value = parts.iter().map(|part| part.granularity).min().unwrap_or(0);
                }
                HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION => {
                    pair.value = same(|part| part.preferred).unwrap_or(0);
                }
                HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION => {
                    pair.value = same(|part| part.prefetch).unwrap_or(0);
                }
                HSA_AMD_SVM_ATTRIB_READ_MOSTLY => pair.value = all(|part| part.read_mostly),
                HSA_AMD_SVM_ATTRIB_GPU_EXEC => pair.value = all(|part| part.gpu_exec),
                HSA_AMD_SVM_ATTRIB_ACCESS_QUERY => {
                    let id = agents.id(hsa_agent_t { handle: pair.value })?;
                    let every = |set: fn(&Attributes) -> GpuSet| {
                        id.gpu()
                            .is_none_or(|gpu| parts.iter().all(|part| set(part) >> gpu & 1 == 1))
                    };
                    pair.attribute = u64::from(if every(|part| part.in_place) {
                        HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE
                    } else if every(|part| part.access) {
                        HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE
                    } else {
                        HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS
                    });
                }
                _ => return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT),
            }
        }
        Ok(())
    }

    /// Notes where a range was last fetched to.
    pub(crate) fn prefetched(&self, address: u64, size: u64, agent: AgentId) -> HsaResult {
        let (start, end) = pages(address, size)?;
        let handle = agent.handle().handle;
        self.tables
            .lock()
            .change(start, end, &|attributes| attributes.prefetch = handle);
        Ok(())
    }

    /// Takes all ranges from the GPUs, at shutdown.
    pub(crate) fn clear(&self, agents: &Agents) {
        let tables = std::mem::take(&mut *self.tables.lock());
        for (index, mappings) in tables.mappings {
            let Some(gpu) = agents.gpus.get(index) else {
                continue;
            };
            for (base, (_, number)) in mappings {
                let found = gpu.engine.map.find(base);
                if found.is_some_and(|mapping| mapping.allocation == number) {
                    gpu.engine.map.remove(base);
                }
            }
        }
    }
}
