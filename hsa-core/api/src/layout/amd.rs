//! Structures of AMD's extensions: memory, events, profiling.

use std::{ffi::c_void, mem::offset_of};

use crate::{constant::*, handle::*};

/// Pointers that flush the host data path; null where no flush is needed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hsa_amd_hdp_flush_t {
    /// Memory flush.
    pub HDP_MEM_FLUSH_CNTL: *mut u32,
    /// Register flush.
    pub HDP_REG_FLUSH_CNTL: *mut u32,
}

/// Start and end of a dispatch, in ticks of the system clock.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct hsa_amd_profiling_dispatch_time_t {
    /// Start.
    pub start: u64,
    /// End.
    pub end: u64,
}

/// Start and end of an asynchronous copy, in ticks of the system clock.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct hsa_amd_profiling_async_copy_time_t {
    /// Start.
    pub start: u64,
    /// End.
    pub end: u64,
}

/// Memory with rows and slices.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hsa_pitched_ptr_t {
    /// First byte.
    pub base: *mut c_void,
    /// Bytes from row to row.
    pub pitch: usize,
    /// Bytes from slice to slice.
    pub slice: usize,
}
const _: () = assert!(size_of::<hsa_pitched_ptr_t>() == 24);

/// A link between an agent and a memory pool.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct hsa_amd_memory_pool_link_info_t {
    /// Nanoseconds.
    pub min_latency: u32,
    /// Nanoseconds.
    pub max_latency: u32,
    /// MB/s.
    pub min_bandwidth: u32,
    /// MB/s.
    pub max_bandwidth: u32,
    /// 32-bit atomics work over the link.
    pub atomic_support_32bit: bool,
    /// 64-bit atomics work over the link.
    pub atomic_support_64bit: bool,
    /// The link is cache coherent.
    pub coherent_support: bool,
    /// `HSA_AMD_LINK_INFO_TYPE_*`.
    pub link_type: hsa_amd_link_info_type_t,
    /// NUMA distance.
    pub numa_distance: u32,
}
const _: () = {
    assert!(size_of::<hsa_amd_memory_pool_link_info_t>() == 28);
    assert!(offset_of!(hsa_amd_memory_pool_link_info_t, link_type) == 20);
};

/// What is known of a pointer. The caller sets `size`; the library writes no more than that.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hsa_amd_pointer_info_t {
    /// Bytes of this structure that the caller has.
    pub size: u32,
    /// `HSA_EXT_POINTER_TYPE_*`.
    pub r#type: hsa_amd_pointer_type_t,
    /// First byte, for agents.
    pub agentBaseAddress: *mut c_void,
    /// First byte, for the host.
    pub hostBaseAddress: *mut c_void,
    /// Bytes.
    pub sizeInBytes: usize,
    /// What `hsa_amd_pointer_info_set_userdata` stored.
    pub userData: *mut c_void,
    /// Owner.
    pub agentOwner: hsa_agent_t,
    /// `HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_*`.
    pub global_flags: u32,
}
const _: () = {
    assert!(size_of::<hsa_amd_pointer_info_t>() == 56);
    assert!(offset_of!(hsa_amd_pointer_info_t, agentBaseAddress) == 8);
    assert!(offset_of!(hsa_amd_pointer_info_t, agentOwner) == 40);
    assert!(offset_of!(hsa_amd_pointer_info_t, global_flags) == 48);
};

/// A handle to memory of another process.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct hsa_amd_ipc_memory_t {
    /// Opaque.
    pub handle: [u32; 8],
}

/// A handle to a signal of another process.
pub type hsa_amd_ipc_signal_t = hsa_amd_ipc_memory_t;

/// A memory fault of a GPU.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct hsa_amd_gpu_memory_fault_info_t {
    /// The GPU.
    pub agent: hsa_agent_t,
    /// The address.
    pub virtual_address: u64,
    /// `HSA_AMD_MEMORY_FAULT_*`, or-ed.
    pub fault_reason_mask: u32,
}

/// A system event. Only the memory fault has contents that we fill.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct hsa_amd_event_t {
    /// `HSA_AMD_GPU_*_EVENT`.
    pub event_type: hsa_amd_event_type_t,
    /// Contents of a memory fault.
    pub memory_fault: hsa_amd_gpu_memory_fault_info_t,
}
const _: () =
    assert!(size_of::<hsa_amd_event_t>() == 32 && offset_of!(hsa_amd_event_t, memory_fault) == 8);

/// An attribute of shared virtual memory and its value.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct hsa_amd_svm_attribute_pair_t {
    /// `HSA_AMD_SVM_ATTRIB_*`.
    pub attribute: u64,
    /// Value.
    pub value: u64,
}

/// Access of an agent to a mapping of the virtual memory interface.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct hsa_amd_memory_access_desc_t {
    /// `HSA_ACCESS_PERMISSION_*` or 0.
    pub permissions: hsa_access_permission_t,
    /// The agent.
    pub agent_handle: hsa_agent_t,
}
