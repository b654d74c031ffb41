//! Queues, signals and packets: what producers, the packet processor and device code share.

use std::{ffi::c_void, mem::offset_of};

use super::hsa_signal_value_t;
use crate::{constant::*, handle::*};

/// The part of a queue that the core specification makes public.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hsa_queue_t {
    /// `HSA_QUEUE_TYPE_*`.
    pub r#type: hsa_queue_type32_t,
    /// `HSA_QUEUE_FEATURE_*`, or-ed.
    pub features: u32,
    /// The ring of packets.
    pub base_address: *mut c_void,
    /// The doorbell.
    pub doorbell_signal: hsa_signal_t,
    /// Packets that the ring holds; a power of two.
    pub size: u32,
    /// 0.
    pub reserved1: u32,
    /// Unique in the process.
    pub id: u64,
}
const _: () = {
    assert!(size_of::<hsa_queue_t>() == 40);
    assert!(offset_of!(hsa_queue_t, base_address) == 8);
    assert!(offset_of!(hsa_queue_t, doorbell_signal) == 16);
    assert!(offset_of!(hsa_queue_t, size) == 24);
    assert!(offset_of!(hsa_queue_t, id) == 32);
};

/// A queue as AMD's hardware, device code and CLR see it (`amd_hsa_queue.h`).
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub struct amd_queue_t {
    /// The public part.
    pub hsa_queue: hsa_queue_t,
    /// 0.
    pub reserved1: [u32; 4],
    /// Index of the next packet that a producer will reserve; atomic.
    pub write_dispatch_id: u64,
    /// High half of the flat address of LDS.
    pub group_segment_aperture_base_hi: u32,
    /// High half of the flat address of scratch.
    pub private_segment_aperture_base_hi: u32,
    /// Highest compute unit.
    pub max_cu_id: u32,
    /// Highest wave of a compute unit.
    pub max_wave_id: u32,
    /// Of older hardware's doorbells; atomic.
    pub max_legacy_doorbell_dispatch_id_plus_1: u64,
    /// Of older hardware's doorbells; atomic.
    pub legacy_doorbell_lock: u32,
    /// 0.
    pub reserved2: [u32; 9],
    /// Index of the next packet that the packet processor will take; atomic.
    pub read_dispatch_id: u64,
    /// Offset of `read_dispatch_id` from the start of this structure.
    pub read_dispatch_id_field_base_byte_offset: u32,
    /// `COMPUTE_TMPRING_SIZE`.
    pub compute_tmpring_size: u32,
    /// Buffer resource of scratch.
    pub scratch_resource_descriptor: [u32; 4],
    /// Address of scratch memory.
    pub scratch_backing_memory_location: u64,
    /// Bytes of scratch memory.
    pub scratch_backing_memory_byte_size: u64,
    /// Scratch bytes of a lane of a 64-lane wave.
    pub scratch_wave64_lane_byte_size: u32,
    /// `AMD_QUEUE_PROPERTIES_*`, or-ed.
    pub queue_properties: u32,
    /// 0.
    pub reserved3: [u32; 2],
    /// Signal of the queue's errors.
    pub queue_inactive_signal: hsa_signal_t,
    /// 0.
    pub reserved4: [u32; 14],
}
const _: () = {
    assert!(size_of::<amd_queue_t>() == 256 && align_of::<amd_queue_t>() == 64);
    assert!(offset_of!(amd_queue_t, write_dispatch_id) == 56);
    assert!(offset_of!(amd_queue_t, group_segment_aperture_base_hi) == 64);
    assert!(offset_of!(amd_queue_t, private_segment_aperture_base_hi) == 68);
    assert!(offset_of!(amd_queue_t, max_legacy_doorbell_dispatch_id_plus_1) == 80);
    assert!(offset_of!(amd_queue_t, read_dispatch_id) == 128);
    assert!(offset_of!(amd_queue_t, read_dispatch_id_field_base_byte_offset) == 136);
    assert!(offset_of!(amd_queue_t, scratch_resource_descriptor) == 144);
    assert!(offset_of!(amd_queue_t, scratch_backing_memory_location) == 160);
    assert!(offset_of!(amd_queue_t, scratch_wave64_lane_byte_size) == 176);
    assert!(offset_of!(amd_queue_t, queue_properties) == 180);
    assert!(offset_of!(amd_queue_t, queue_inactive_signal) == 192);
};

/// A signal as device code sees it (`amd_hsa_signal.h`).
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub struct amd_signal_t {
    /// `AMD_SIGNAL_KIND_*`.
    pub kind: i64,
    /// The value, or the address of the doorbell cell; atomic.
    pub value: i64,
    /// Where device code writes `event_id` to wake waiters; 0: nobody sleeps on this signal.
    pub event_mailbox_ptr: u64,
    /// What device code writes there and sends with `MSG_INTERRUPT`.
    pub event_id: u32,
    /// 0.
    pub reserved1: u32,
    /// Start of the packet that completed this signal, in ticks.
    pub start_ts: u64,
    /// End of the packet that completed this signal, in ticks.
    pub end_ts: u64,
    /// The queue, for a doorbell.
    pub queue_ptr: *mut amd_queue_t,
    /// 0.
    pub reserved3: [u32; 2],
}

impl amd_signal_t {
    /// A signal of the user kind with this value, on which nobody sleeps.
    pub const fn user(value: i64) -> Self {
        Self {
            kind: AMD_SIGNAL_KIND_USER,
            value,
            event_mailbox_ptr: 0,
            event_id: 0,
            reserved1: 0,
            start_ts: 0,
            end_ts: 0,
            queue_ptr: std::ptr::null_mut(),
            reserved3: [0; 2],
        }
    }
}

const _: () = {
    assert!(size_of::<amd_signal_t>() == 64 && align_of::<amd_signal_t>() == 64);
    assert!(offset_of!(amd_signal_t, value) == 8);
    assert!(offset_of!(amd_signal_t, event_mailbox_ptr) == 16);
    assert!(offset_of!(amd_signal_t, event_id) == 24);
    assert!(offset_of!(amd_signal_t, start_ts) == 32);
    assert!(offset_of!(amd_signal_t, end_ts) == 40);
    assert!(offset_of!(amd_signal_t, queue_ptr) == 48);
};

/// A kernel dispatch packet.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub struct hsa_kernel_dispatch_packet_t {
    /// Type, barrier bit and fences.
    pub header: u16,
    /// Dimensions in bits 1:0.
    pub setup: u16,
    /// Work-group in work-items.
    pub workgroup_size_x: u16,
    /// Work-group in work-items.
    pub workgroup_size_y: u16,
    /// Work-group in work-items.
    pub workgroup_size_z: u16,
    /// 0.
    pub reserved0: u16,
    /// Grid in work-items.
    pub grid_size_x: u32,
    /// Grid in work-items.
    pub grid_size_y: u32,
    /// Grid in work-items.
    pub grid_size_z: u32,
    /// Scratch bytes of a work-item.
    pub private_segment_size: u32,
    /// LDS bytes of a work-group.
    pub group_segment_size: u32,
    /// Address of the kernel descriptor.
    pub kernel_object: u64,
    /// Address of the arguments.
    pub kernarg_address: *mut c_void,
    /// 0.
    pub reserved2: u64,
    /// Decremented at the end, if not 0.
    pub completion_signal: hsa_signal_t,
}
const _: () = {
    assert!(size_of::<hsa_kernel_dispatch_packet_t>() == 64);
    assert!(offset_of!(hsa_kernel_dispatch_packet_t, grid_size_x) == 12);
    assert!(offset_of!(hsa_kernel_dispatch_packet_t, private_segment_size) == 24);
    assert!(offset_of!(hsa_kernel_dispatch_packet_t, kernel_object) == 32);
    assert!(offset_of!(hsa_kernel_dispatch_packet_t, kernarg_address) == 40);
    assert!(offset_of!(hsa_kernel_dispatch_packet_t, completion_signal) == 56);
};

/// An agent dispatch packet.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub struct hsa_agent_dispatch_packet_t {
    /// Type, barrier bit and fences.
    pub header: u16,
    /// The function to perform.
    pub r#type: u16,
    /// 0.
    pub reserved0: u32,
    /// Where results go.
    pub return_address: *mut c_void,
    /// Arguments.
    pub arg: [u64; 4],
    /// 0.
    pub reserved2: u64,
    /// Decremented at the end, if not 0.
    pub completion_signal: hsa_signal_t,
}
const _: () = assert!(size_of::<hsa_agent_dispatch_packet_t>() == 64);

/// A barrier-AND packet: waits until all signals are 0.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub struct hsa_barrier_and_packet_t {
    /// Type, barrier bit and fences.
    pub header: u16,
    /// 0.
    pub reserved0: u16,
    /// 0.
    pub reserved1: u32,
    /// Signals to wait for; 0: none.
    pub dep_signal: [hsa_signal_t; 5],
    /// 0.
    pub reserved2: u64,
    /// Decremented at the end, if not 0.
    pub completion_signal: hsa_signal_t,
}
const _: () = {
    assert!(size_of::<hsa_barrier_and_packet_t>() == 64);
    assert!(offset_of!(hsa_barrier_and_packet_t, dep_signal) == 8);
    assert!(offset_of!(hsa_barrier_and_packet_t, completion_signal) == 56);
};

/// A barrier-OR packet: waits until one signal is 0. The layout is that of barrier-AND.
pub type hsa_barrier_or_packet_t = hsa_barrier_and_packet_t;

/// The first four bytes of AMD's vendor packets.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct hsa_amd_vendor_packet_header_t {
    /// Type, barrier bit and fences.
    pub header: u16,
    /// `HSA_AMD_PACKET_TYPE_*`.
    pub AmdFormat: u8,
    /// 0.
    pub reserved: u8,
}

/// AMD's barrier-value packet: waits until `(signal & mask) cond value`.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub struct hsa_amd_barrier_value_packet_t {
    /// Header.
    pub header: hsa_amd_vendor_packet_header_t,
    /// 0.
    pub reserved0: u32,
    /// The signal to look at.
    pub signal: hsa_signal_t,
    /// What it is compared with.
    pub value: hsa_signal_value_t,
    /// And-ed to the signal's value first.
    pub mask: hsa_signal_value_t,
    /// `HSA_SIGNAL_CONDITION_*`.
    pub cond: hsa_signal_condition32_t,
    /// 0.
    pub reserved1: u32,
    /// 0.
    pub reserved2: u64,
    /// 0.
    pub reserved3: u64,
    /// Decremented at the end, if not 0.
    pub completion_signal: hsa_signal_t,
}
const _: () = {
    assert!(size_of::<hsa_amd_barrier_value_packet_t>() == 64);
    assert!(offset_of!(hsa_amd_barrier_value_packet_t, signal) == 8);
    assert!(offset_of!(hsa_amd_barrier_value_packet_t, value) == 16);
    assert!(offset_of!(hsa_amd_barrier_value_packet_t, mask) == 24);
    assert!(offset_of!(hsa_amd_barrier_value_packet_t, cond) == 32);
    assert!(offset_of!(hsa_amd_barrier_value_packet_t, completion_signal) == 56);
};
