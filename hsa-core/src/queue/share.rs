//! What a queue may use: compute units and priority. The priority decides whose packets and work-groups get the next free thread
//! of the host. The compute units are kept and answered: the software GPU has no hardware to set aside.

use std::sync::atomic::Ordering;

use gneiss_amdgcn::engine::Priority;
use gneiss_hsa_api::*;

use super::Queue;
use crate::{
    agent::Agents,
    config,
    entry::{HsaResult, require},
};

impl Queue {
    /// Sets the priority, for what begins from now on.
    pub(crate) fn set_priority(&self, priority: u32) -> HsaResult {
        require(priority <= HSA_AMD_QUEUE_PRIORITY_HIGH)?;
        self.priority.store(priority, Ordering::Relaxed);
        Ok(())
    }

    /// The priority, as the engine names it.
    pub(crate) fn engine_priority(&self) -> Priority {
        match self.priority.load(Ordering::Relaxed) {
            HSA_AMD_QUEUE_PRIORITY_LOW => Priority::Low,
            HSA_AMD_QUEUE_PRIORITY_HIGH => Priority::High,
            _ => Priority::Normal,
        }
    }

    /// The compute units that the queue may use, as bits.
    pub(crate) fn cu_mask(&self) -> Vec<u32> {
        self.cu_mask.lock().clone()
    }

    /// Sets the compute units; none given means all. A mask that asks for more than there are, or than `HSA_CU_MASK` allows, is cut, and
    /// the status says so.
    pub(crate) fn set_cu_mask(&self, agents: &Agents, mask: Option<Vec<u32>>) -> HsaResult {
        let gpu = self.agent.gpu().ok_or(HSA_STATUS_ERROR_INVALID_QUEUE)?;
        let full = full_mask(agents, gpu);
        let Some(wanted) = mask else {
            *self.cu_mask.lock() = full;
            return Ok(());
        };
        let paired = agents.gpus[gpu].spec.card.version[0] >= 10;
        // Work-group processors are pairs of compute units.
        require(
            !paired
                || wanted
                    .iter()
                    .all(|word| (word >> 1) & 0x5555_5555 == word & 0x5555_5555),
        )?;
        let cut: Vec<u32> = full
            .iter()
            .enumerate()
            .map(|(at, word)| word & wanted.get(at).unwrap_or(&0))
            .collect();
        // A mask without a bit is taken, as AMD's library takes it.
        let by_variable = config::cu_mask(gpu).is_some()
            && cut.iter().zip(&wanted).any(|(left, asked)| left != asked);
        *self.cu_mask.lock() = cut;
        if by_variable {
            return Err(HSA_STATUS_CU_MASK_REDUCED);
        }
        Ok(())
    }
}

/// All compute units of a GPU, cut to `HSA_CU_MASK`.
pub(super) fn full_mask(agents: &Agents, gpu: usize) -> Vec<u32> {
    let units = agents.gpus[gpu].spec.card.compute_units;
    let allowed = config::cu_mask(gpu);
    (0..units.div_ceil(32))
        .map(|word| {
            if units - word * 32 >= 32 {
                u32::MAX
            } else {
                (1 << (units - word * 32)) - 1
            }
        })
        .enumerate()
        .map(|(at, word): (usize, u32)| match &allowed {
            None => word,
            Some(mask) => word & mask.get(at).unwrap_or(&0),
        })
        .collect()
}
