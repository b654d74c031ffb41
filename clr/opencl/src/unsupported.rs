//! Functions that only say that they are not supported: with the specification's error, and a line in the log that names them.

use std::ffi::c_void;

use crate::{constants::*, error::Result, handle::get, types::*};

fn refuse<T>(name: &str) -> Result<T> {
    crate::fail!(CL_INVALID_OPERATION, "{name} is not supported")
}

macro_rules! refused {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions that only refuse.
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(refused!(@one $name($($argument: $type),*) $(-> $result)?);)*
    };
    (@one $name:ident($first:ident: $kind:ty $(, $argument:ident: $type:ty)*) -> $result:ty) => {
        crate::cl_api! {
            /// Not supported.
            create fn $name($first: $kind $(, $argument: $type)*) -> $result {
                $(let _ = $argument;)*
                get($first)?;
                refuse(stringify!($name))
            }
        }
    };
    (@one $name:ident($first:ident: $kind:ty $(, $argument:ident: $type:ty)*)) => {
        crate::cl_api! {
            /// Not supported.
            fn $name($first: $kind $(, $argument: $type)*) {
                $(let _ = $argument;)*
                get($first)?;
                refuse(stringify!($name))
            }
        }
    };
}

refused! {
    clCreateImage(context: cl_context, flags: cl_bitfield, format: In<cl_image_format>, desc: In<cl_image_desc>, host: *mut c_void) -> cl_mem;
    clCreateImageWithProperties(context: cl_context, properties: In<cl_property>, flags: cl_bitfield, format: In<cl_image_format>,
        desc: In<cl_image_desc>, host: *mut c_void) -> cl_mem;
    clCreateImage2D(context: cl_context, flags: cl_bitfield, format: In<cl_image_format>, width: usize, height: usize,
        row_pitch: usize, host: *mut c_void) -> cl_mem;
    clCreateImage3D(context: cl_context, flags: cl_bitfield, format: In<cl_image_format>, width: usize, height: usize, depth: usize,
        row_pitch: usize, slice_pitch: usize, host: *mut c_void) -> cl_mem;
    clGetImageInfo(image: cl_mem, name: cl_name, size: usize, value: *mut c_void, needed: Out<usize>);
    clEnqueueReadImage(queue: cl_command_queue, image: cl_mem, blocking: cl_bool, origin: In<usize>, region: In<usize>,
        row_pitch: usize, slice_pitch: usize, ptr: *mut c_void, count: cl_uint, list: In<cl_event>, event: Out<cl_event>);
    clEnqueueWriteImage(queue: cl_command_queue, image: cl_mem, blocking: cl_bool, origin: In<usize>, region: In<usize>,
        row_pitch: usize, slice_pitch: usize, ptr: *const c_void, count: cl_uint, list: In<cl_event>, event: Out<cl_event>);
    clEnqueueCopyImage(queue: cl_command_queue, src: cl_mem, dst: cl_mem, src_origin: In<usize>, dst_origin: In<usize>,
        region: In<usize>, count: cl_uint, list: In<cl_event>, event: Out<cl_event>);
    clEnqueueCopyImageToBuffer(queue: cl_command_queue, src: cl_mem, dst: cl_mem, origin: In<usize>, region: In<usize>,
        offset: usize, count: cl_uint, list: In<cl_event>, event: Out<cl_event>);
    clEnqueueCopyBufferToImage(queue: cl_command_queue, src: cl_mem, dst: cl_mem, offset: usize, origin: In<usize>,
        region: In<usize>, count: cl_uint, list: In<cl_event>, event: Out<cl_event>);
    clEnqueueMapImage(queue: cl_command_queue, image: cl_mem, blocking: cl_bool, flags: cl_bitfield, origin: In<usize>,
        region: In<usize>, row_pitch: Out<usize>, slice_pitch: Out<usize>, count: cl_uint, list: In<cl_event>,
        event: Out<cl_event>) -> *mut c_void;
    clEnqueueFillImage(queue: cl_command_queue, image: cl_mem, colour: *const c_void, origin: In<usize>, region: In<usize>,
        count: cl_uint, list: In<cl_event>, event: Out<cl_event>);
    clCreateSampler(context: cl_context, normalised: cl_bool, addressing: cl_uint, filter: cl_uint) -> cl_sampler;
    clCreateSamplerWithProperties(context: cl_context, properties: In<cl_property>) -> cl_sampler;
    clRetainSampler(sampler: cl_sampler);
    clReleaseSampler(sampler: cl_sampler);
    clGetSamplerInfo(sampler: cl_sampler, name: cl_name, size: usize, value: *mut c_void, needed: Out<usize>);
    clCreatePipe(context: cl_context, flags: cl_bitfield, packet_size: cl_uint, packets: cl_uint,
        properties: In<cl_pointer_property>) -> cl_mem;
    clGetPipeInfo(pipe: cl_mem, name: cl_name, size: usize, value: *mut c_void, needed: Out<usize>);
    clCreateFromGLBuffer(context: cl_context, flags: cl_bitfield, buffer: cl_uint) -> cl_mem;
    clCreateFromGLTexture(context: cl_context, flags: cl_bitfield, target: cl_uint, level: cl_int, texture: cl_uint) -> cl_mem;
    clCreateFromGLTexture2D(context: cl_context, flags: cl_bitfield, target: cl_uint, level: cl_int, texture: cl_uint) -> cl_mem;
    clCreateFromGLTexture3D(context: cl_context, flags: cl_bitfield, target: cl_uint, level: cl_int, texture: cl_uint) -> cl_mem;
    clCreateFromGLRenderbuffer(context: cl_context, flags: cl_bitfield, buffer: cl_uint) -> cl_mem;
    clGetGLObjectInfo(object: cl_mem, kind: Out<cl_uint>, name: Out<cl_uint>);
    clGetGLTextureInfo(object: cl_mem, name: cl_name, size: usize, value: *mut c_void, needed: Out<usize>);
    clEnqueueAcquireGLObjects(queue: cl_command_queue, objects: cl_uint, list: In<cl_mem>, count: cl_uint, waits: In<cl_event>,
        event: Out<cl_event>);
    clEnqueueReleaseGLObjects(queue: cl_command_queue, objects: cl_uint, list: In<cl_mem>, count: cl_uint, waits: In<cl_event>,
        event: Out<cl_event>);
    clCreateEventFromGLsyncKHR(context: cl_context, sync: *mut c_void) -> cl_event;
    clCreateFromEGLImageKHR(context: cl_context, display: *mut c_void, image: *mut c_void, flags: cl_bitfield,
        properties: In<cl_pointer_property>) -> cl_mem;
    clEnqueueAcquireEGLObjectsKHR(queue: cl_command_queue, objects: cl_uint, list: In<cl_mem>, count: cl_uint,
        waits: In<cl_event>, event: Out<cl_event>);
    clEnqueueReleaseEGLObjectsKHR(queue: cl_command_queue, objects: cl_uint, list: In<cl_mem>, count: cl_uint,
        waits: In<cl_event>, event: Out<cl_event>);
    clCreateEventFromEGLSyncKHR(context: cl_context, sync: *mut c_void, display: *mut c_void) -> cl_event;
    clCreateSubDevicesEXT(device: cl_device_id, properties: In<cl_property>, entries: cl_uint, devices: Out<cl_device_id>,
        count: Out<cl_uint>);
    clRetainDeviceEXT(device: cl_device_id);
    clReleaseDeviceEXT(device: cl_device_id);
}

crate::cl_api! {
    /// Says that there is no context of OpenGL that shares.
    fn clGetGLContextInfoKHR(
        properties: In<cl_pointer_property>, name: cl_name, size: usize, value: *mut c_void, needed: Out<usize>,
    ) {
        let _ = (properties, name, size, value, needed);
        refuse("clGetGLContextInfoKHR")
    }

    /// Lists the image formats: there are none.
    fn clGetSupportedImageFormats(
        context: cl_context, flags: cl_bitfield, image_type: cl_uint, num_entries: cl_uint, image_formats: Out<cl_image_format>,
        num_image_formats: Out<cl_uint>,
    ) {
        get(context)?;
        let _ = (flags, image_type);
        if num_entries == 0 && !image_formats.is_null() {
            return Err(CL_INVALID_VALUE);
        }
        num_image_formats.set(0);
        Ok(())
    }
}
