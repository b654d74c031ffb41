//! What a new queue's memory holds: the `amd_queue_t` and a ring of invalid packets.

use std::sync::atomic::Ordering;

use gneiss_amdgcn::launch;
use gneiss_hsa_api::*;

use super::{CONTROL_BYTES, Queue, Request};
use crate::agent::Agents;

impl Queue {
    /// Fills the memory of a queue that nobody else knows yet.
    pub(super) fn write_structure(&self, agents: &Agents, gpu: usize, request: &Request, id: u64) {
        let card = agents.gpus[gpu].spec.card;
        let structure = amd_queue_t {
            hsa_queue: hsa_queue_t {
                r#type: if request.kind == HSA_QUEUE_TYPE_COOPERATIVE {
                    request.kind
                } else {
                    HSA_QUEUE_TYPE_MULTI
                },
                features: HSA_QUEUE_FEATURE_KERNEL_DISPATCH,
                base_address: self.ring.as_ptr().cast(),
                doorbell_signal: self.doorbell,
                size: self.size,
                reserved1: 0,
                id,
            },
            reserved1: [0; 4],
            write_dispatch_id: 0,
            group_segment_aperture_base_hi: launch::SHARED_APERTURE_HI,
            private_segment_aperture_base_hi: launch::PRIVATE_APERTURE_HI,
            max_cu_id: card.compute_units - 1,
            max_wave_id: card.waves - 1,
            max_legacy_doorbell_dispatch_id_plus_1: 0,
            legacy_doorbell_lock: 0,
            reserved2: [0; 9],
            read_dispatch_id: 0,
            read_dispatch_id_field_base_byte_offset: std::mem::offset_of!(
                amd_queue_t,
                read_dispatch_id
            ) as u32,
            compute_tmpring_size: 0,
            scratch_resource_descriptor: [0; 4],
            scratch_backing_memory_location: 0,
            scratch_backing_memory_byte_size: 0,
            scratch_wave64_lane_byte_size: 0,
            queue_properties: AMD_QUEUE_PROPERTIES_IS_PTR64,
            reserved3: [0; 2],
            queue_inactive_signal: self.inactive_signal,
            reserved4: [0; 14],
        };
        // SAFETY: the control block is larger than the structure and page aligned, and nobody else knows it yet.
        unsafe {
            std::ptr::write_bytes(self.control.as_ptr(), 0, CONTROL_BYTES);
            self.control.cast::<amd_queue_t>().write(structure);
        }
        self.doorbell_word().store(u64::MAX, Ordering::Relaxed);
        for index in 0..u64::from(self.size) {
            self.header(index)
                .store(HSA_PACKET_TYPE_INVALID as u16, Ordering::Relaxed);
        }
    }
}
