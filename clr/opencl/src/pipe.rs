//! Pipes: a ring of packets in device memory that only kernels use.
//!
//! The memory is what the device libraries' functions expect: 64-bit counts of packets read and written, the number of packets that there is
//! room for, and from byte 128 on the packets.

use std::{ffi::c_void, sync::Arc};

use crate::{
    cl_api,
    constants::*,
    error::Result,
    fail,
    handle::{Object as _, get},
    info::Query,
    memory::{Mem, Parts},
    storage::{self, Storage},
    types::*,
};

/// Bytes before the first packet.
const HEAD: usize = 128;
/// Largest packet.
pub const MAX_PACKET_SIZE: cl_uint = 1024;

/// Writes the counts of a new pipe.
fn begin(storage: &Storage, device: &Arc<gneiss_clr::Device>, packets: cl_uint) -> Result {
    let counts: [u64; 3] = [0, 0, packets.into()];
    let (to, from) = (
        storage.memory.device_address(),
        counts.as_ptr().expose_provenance() as u64,
    );
    // SAFETY: the memory is new and larger; the command ends before this function.
    storage::now(device, |queue| unsafe {
        queue.enqueue_copy(to, from, size_of_val(&counts), &[])
    })
}

cl_api! {
    /// Makes a pipe.
    create fn clCreatePipe(
        context: cl_context, flags: cl_bitfield, pipe_packet_size: cl_uint, pipe_max_packets: cl_uint,
        properties: In<cl_pointer_property>,
    ) -> cl_mem {
        let context = get(context)?;
        if flags & !(CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS) != 0 {
            return fail!(CL_INVALID_VALUE, "flags {flags:#x} of a pipe");
        }
        if !properties.is_null() {
            return fail!(CL_INVALID_VALUE, "a pipe cannot have properties");
        }
        if pipe_packet_size == 0 || pipe_packet_size > MAX_PACKET_SIZE || pipe_max_packets == 0 {
            return fail!(CL_INVALID_PIPE_SIZE, "a pipe of {pipe_max_packets} packets of {pipe_packet_size} bytes");
        }
        let size = HEAD + pipe_packet_size as usize * pipe_max_packets as usize;
        let storage = Storage::new(&context, size, false)?;
        begin(&storage, &context.devices[0].clr, pipe_max_packets)?;
        let pipe = Mem::create(Parts {
            context,
            kind: CL_MEM_OBJECT_PIPE,
            flags: CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS,
            size,
            host_ptr: 0,
            parent: None,
            storage: Arc::new(storage),
            properties: None,
            image: None,
            pipe: Some([pipe_packet_size, pipe_max_packets]),
        })?;
        Ok(pipe.handle().raw())
    }

    /// Says what a pipe is.
    fn clGetPipeInfo(
        pipe: cl_mem, param_name: cl_name, param_value_size: usize, param_value: *mut c_void, param_value_size_ret: Out<usize>,
    ) {
        let mem = get(pipe)?;
        let Some([size, packets]) = mem.pipe else {
            return fail!(CL_INVALID_MEM_OBJECT, "the memory object is no pipe");
        };
        let query = Query { size: param_value_size, value: param_value, needed: param_value_size_ret };
        match param_name {
            CL_PIPE_PACKET_SIZE => query.value(size),
            CL_PIPE_MAX_PACKETS => query.value(packets),
            CL_PIPE_PROPERTIES => query.bytes(&[]),
            name => query.unknown(name),
        }
    }
}
