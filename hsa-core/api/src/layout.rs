//! Structures of the ABI, with their layouts checked. Packets and the queue and signal structures are read and written by device
//! code and by other libraries: fields that more than one side touches at a time are accessed as atomics through raw pointers
//! (see `gneiss-hsa-core`), and are plain integers here so that the C layout is plain to see.

mod amd;
mod image;
mod queue;

use std::ffi::{c_char, c_void};

use crate::{constant::*, handle::*, status::*};

pub use amd::*;
pub use image::*;
pub use queue::*;

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
