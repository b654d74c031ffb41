//! Structures of the ABI, with their layouts checked. Packets and the queue and signal structures are read and written by device
//! code and by other libraries: fields that more than one side touches at a time are accessed as atomics through raw pointers
//! (see `gneiss-hsa-core`), and are plain integers here so that the C layout is plain to see.

use std::{
    ffi::{c_char, c_void},
    mem::offset_of,
};

use crate::{constant::*, handle::*, status::*};

/// The value of a signal.
pub type hsa_signal_value_t = i64;
/// A file descriptor.
pub type hsa_file_t = i32;
/// A callback for asynchronous changes of a signal; returning true keeps it armed.
pub type hsa_amd_signal_handler =
    Option<unsafe extern "C" fn(value: hsa_signal_value_t, arg: *mut c_void) -> bool>;
/// A callback for system events.
pub type hsa_amd_system_event_callback_t =
    Option<unsafe extern "C" fn(event: *const hsa_amd_event_t, data: *mut c_void) -> hsa_status_t>;
/// A callback before memory is freed.
pub type hsa_amd_deallocation_callback_t =
    Option<unsafe extern "C" fn(ptr: *mut c_void, user_data: *mut c_void)>;
/// A queue's error callback.
pub type hsa_queue_callback_t =
    Option<unsafe extern "C" fn(status: hsa_status_t, source: *mut hsa_queue_t, data: *mut c_void)>;
/// An HSAIL module.
pub type hsa_ext_module_t = *mut c_void;
/// A callback for configurations of PC sampling.
pub type hsa_ven_amd_pcs_iterate_configuration_callback_t =
    Option<unsafe extern "C" fn(configuration: *const c_void, data: *mut c_void) -> hsa_status_t>;
/// A callback that PC samples are ready.
pub type hsa_ven_amd_pcs_data_ready_callback_t = Option<
    unsafe extern "C" fn(
        client_callback_data: *mut c_void,
        data_size: usize,
        lost_sample_count: usize,
        data_copy_callback: *const c_void,
        hsa_callback_data: *mut c_void,
    ),
>;

/// Three unsigned integers.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct hsa_dim3_t {
    /// First dimension.
    pub x: u32,
    /// Second dimension.
    pub y: u32,
    /// Third dimension.
    pub z: u32,
}

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

/// A layout that a driver gave for an image.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hsa_amd_image_descriptor_t {
    /// Version.
    pub version: u32,
    /// Vendor and device.
    pub deviceID: u32,
    /// Device data.
    pub data: [u32; 1],
}

/// The format of an image's elements.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct hsa_ext_image_format_t {
    /// `HSA_EXT_IMAGE_CHANNEL_TYPE_*`.
    pub channel_type: hsa_ext_image_channel_type32_t,
    /// `HSA_EXT_IMAGE_CHANNEL_ORDER_*`.
    pub channel_order: hsa_ext_image_channel_order32_t,
}

/// An image's shape.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct hsa_ext_image_descriptor_t {
    /// `HSA_EXT_IMAGE_GEOMETRY_*`.
    pub geometry: hsa_ext_image_geometry_t,
    /// Elements.
    pub width: usize,
    /// Elements.
    pub height: usize,
    /// Elements.
    pub depth: usize,
    /// Layers.
    pub array_size: usize,
    /// Format.
    pub format: hsa_ext_image_format_t,
}

/// What an image's data needs.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct hsa_ext_image_data_info_t {
    /// Bytes.
    pub size: usize,
    /// Bytes.
    pub alignment: usize,
}

/// A part of an image.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct hsa_ext_image_region_t {
    /// First element.
    pub offset: hsa_dim3_t,
    /// Elements.
    pub range: hsa_dim3_t,
}

/// A sampler.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct hsa_ext_sampler_descriptor_t {
    /// `HSA_EXT_SAMPLER_COORDINATE_MODE_*`.
    pub coordinate_mode: hsa_ext_sampler_coordinate_mode32_t,
    /// `HSA_EXT_SAMPLER_FILTER_MODE_*`.
    pub filter_mode: hsa_ext_sampler_filter_mode32_t,
    /// `HSA_EXT_SAMPLER_ADDRESSING_MODE_*`.
    pub address_mode: hsa_ext_sampler_addressing_mode32_t,
}

/// A sampler with an addressing mode for each dimension.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct hsa_ext_sampler_descriptor_v2_t {
    /// `HSA_EXT_SAMPLER_COORDINATE_MODE_*`.
    pub coordinate_mode: hsa_ext_sampler_coordinate_mode32_t,
    /// `HSA_EXT_SAMPLER_FILTER_MODE_*`.
    pub filter_mode: hsa_ext_sampler_filter_mode32_t,
    /// `HSA_EXT_SAMPLER_ADDRESSING_MODE_*`.
    pub address_modes: [hsa_ext_sampler_addressing_mode32_t; 3],
}

/// Directives of the HSAIL finalizer.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[expect(
    missing_docs,
    reason = "the finalizer is not supported; the fields only give the layout"
)]
pub struct hsa_ext_control_directives_t {
    pub control_directives_mask: u64,
    pub break_exceptions_mask: u16,
    pub detect_exceptions_mask: u16,
    pub max_dynamic_group_size: u32,
    pub max_flat_grid_size: u64,
    pub max_flat_workgroup_size: u32,
    pub reserved1: u32,
    pub required_grid_size: [u64; 3],
    pub required_workgroup_size: hsa_dim3_t,
    pub required_dim: u8,
    pub reserved2: [u8; 75],
}
const _: () = assert!(size_of::<hsa_ext_control_directives_t>() == 144);

/// A loaded segment, as the loader extension describes it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hsa_ven_amd_loader_segment_descriptor_t {
    /// The agent; 0: the program.
    pub agent: hsa_agent_t,
    /// The executable.
    pub executable: hsa_executable_t,
    /// `HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_*`.
    pub code_object_storage_type: hsa_ven_amd_loader_code_object_storage_type_t,
    /// The code object in host memory.
    pub code_object_storage_base: *const c_void,
    /// Its bytes.
    pub code_object_storage_size: usize,
    /// Offset of the segment in it.
    pub code_object_storage_offset: usize,
    /// Device address of the segment.
    pub segment_base: *const c_void,
    /// Bytes of the segment.
    pub segment_size: usize,
}
const _: () = assert!(size_of::<hsa_ven_amd_loader_segment_descriptor_t>() == 64);

/// An address and its text for the debugger's list of loaded code (`link.h`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct link_map {
    /// Difference between the addresses in the file and in memory.
    pub l_addr: u64,
    /// URI of the code object.
    pub l_name: *const c_char,
    /// Not used.
    pub l_ld: *const c_void,
    /// Next.
    pub l_next: *mut link_map,
    /// Previous.
    pub l_prev: *mut link_map,
}
