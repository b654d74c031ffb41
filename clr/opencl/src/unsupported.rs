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
}
