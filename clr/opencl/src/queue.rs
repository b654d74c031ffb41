//! Command queues: on the host, over a host queue of the runtime below, in order or not; and on the device.

use std::{ffi::c_void, sync::Arc};

use gneiss_clr::{HostQueue, QueueOptions};
use parking_lot::Mutex;

use crate::{
    cl_api,
    constants::*,
    context::Context,
    defer,
    device::Device,
    device_info,
    error::{Result, code},
    fail,
    handle::{Handle, Object as _, get, object},
    info::Query,
    types::*,
};

/// A command queue.
#[derive(Debug)]
pub struct Queue {
    handle: Handle<Queue>,
    /// Its context.
    pub context: Arc<Context>,
    /// Its device.
    pub device: Arc<Device>,
    /// The queue below; taken out when the queue ends.
    host: Mutex<Option<Arc<HostQueue>>>,
    /// The same, for use.
    pub clr: Arc<HostQueue>,
    properties: cl_bitfield,
    /// The property list as it was given, with its zero; `None` if the queue was made without one.
    list: Option<Vec<cl_property>>,
}

object!(Queue, CL_INVALID_COMMAND_QUEUE);

const ON_HOST: cl_bitfield = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
const ON_DEVICE: cl_bitfield = CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;

impl Queue {
    fn create(
        context: cl_context,
        device: cl_device_id,
        properties: cl_bitfield,
        list: Option<Vec<cl_property>>,
    ) -> Result<cl_command_queue> {
        let context = get(context)?;
        let device = get(device)?;
        if !context.has(&device) {
            return fail!(CL_INVALID_DEVICE, "the device is not one of the context's");
        }
        if properties & !(ON_HOST | ON_DEVICE) != 0 {
            return fail!(CL_INVALID_VALUE, "queue properties {properties:#x}");
        }
        if properties & ON_DEVICE != 0 {
            return fail!(
                CL_INVALID_QUEUE_PROPERTIES,
                "queues on the device are not supported: CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES is 0"
            );
        }
        let options = QueueOptions {
            profiling: properties & CL_QUEUE_PROFILING_ENABLE != 0,
            out_of_order: properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE != 0,
            non_blocking: true,
            ..QueueOptions::default()
        };
        let clr = HostQueue::new(&device.clr, options).map_err(code)?;
        let queue = Queue::table().insert(|handle| Queue {
            handle,
            context,
            device,
            host: Mutex::new(Some(Arc::clone(&clr))),
            clr,
            properties,
            list,
        });
        Ok(queue.ok_or(CL_OUT_OF_HOST_MEMORY)?.handle.raw())
    }

    /// Whether commands have times.
    pub fn profiles(&self) -> bool {
        self.properties & CL_QUEUE_PROFILING_ENABLE != 0
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        if let Some(host) = self.host.get_mut().take() {
            host.flush();
            defer::keep_until_idle(host);
        }
    }
}

cl_api! {
    /// Makes a queue.
    create fn clCreateCommandQueue(context: cl_context, device: cl_device_id, properties: cl_bitfield) -> cl_command_queue {
        if properties & !ON_HOST != 0 {
            get(context)?;
            get(device)?;
            return fail!(CL_INVALID_VALUE, "queue properties {properties:#x}");
        }
        Queue::create(context, device, properties, None)
    }

    /// Makes a queue with a list of properties.
    create fn clCreateCommandQueueWithProperties(
        context: cl_context, device: cl_device_id, properties: In<cl_property>,
    ) -> cl_command_queue {
        get(context)?;
        get(device)?;
        let mut bits = 0;
        let mut list = Vec::new();
        for (name, value) in properties.pairs() {
            match name as cl_uint {
                CL_QUEUE_PROPERTIES => bits = value,
                CL_QUEUE_SIZE => {}
                _ => return fail!(CL_INVALID_VALUE, "a queue cannot have property {name:#x} = {value:#x}"),
            }
            list.extend([name, value]);
        }
        if !properties.is_null() {
            list.push(0);
        }
        let sized = list.chunks(2).any(|pair| pair[0] == u64::from(CL_QUEUE_SIZE));
        if sized && bits & CL_QUEUE_ON_DEVICE == 0 {
            return fail!(CL_INVALID_VALUE, "only queues on the device have a size");
        }
        Queue::create(context, device, bits, Some(list))
    }

    /// One more reference.
    fn clRetainCommandQueue(command_queue: cl_command_queue) {
        Queue::table().retain(command_queue)
    }

    /// One reference less, and a flush.
    fn clReleaseCommandQueue(command_queue: cl_command_queue) {
        if let Some(queue) = Queue::table().release(command_queue)? {
            queue.clr.flush();
        }
        Ok(())
    }

    /// Says what a queue is.
    fn clGetCommandQueueInfo(
        command_queue: cl_command_queue, param_name: cl_name, param_value_size: usize, param_value: *mut c_void,
        param_value_size_ret: Out<usize>,
    ) {
        let queue = get(command_queue)?;
        let query = Query { size: param_value_size, value: param_value, needed: param_value_size_ret };
        match param_name {
            CL_QUEUE_CONTEXT => query.value(queue.context.handle().raw()),
            CL_QUEUE_DEVICE => query.value(device_info::handle(&queue.device)),
            CL_QUEUE_REFERENCE_COUNT => query.value(Queue::table().references(command_queue)),
            CL_QUEUE_PROPERTIES => query.value(queue.properties),
            CL_QUEUE_PROPERTIES_ARRAY => query.list(queue.list.as_deref().unwrap_or_default()),
            CL_QUEUE_DEVICE_DEFAULT => {
                let default = queue.device.default_queue(&queue.context);
                query.value(default.map_or(std::ptr::null_mut(), |queue| queue.handle.raw()))
            }
            CL_QUEUE_SIZE => fail!(CL_INVALID_COMMAND_QUEUE, "only queues on the device have a size"),
            name => query.unknown(name),
        }
    }

    /// Refuses to change a queue: OpenCL 1.0 had it, later versions have not.
    fn clSetCommandQueueProperty(
        command_queue: cl_command_queue, _properties: cl_bitfield, _enable: cl_bool, _old_properties: Out<cl_bitfield>,
    ) {
        get(command_queue)?;
        fail!(CL_INVALID_OPERATION, "clSetCommandQueueProperty: a queue's properties cannot be changed")
    }

    /// Gives everything to the device.
    fn clFlush(command_queue: cl_command_queue) {
        get(command_queue)?.clr.flush();
        Ok(())
    }

    /// Waits for everything.
    fn clFinish(command_queue: cl_command_queue) {
        match get(command_queue)?.clr.finish() {
            // That commands have failed is said by their events.
            Ok(()) | Err(gneiss_clr::Error::CommandFailed(_)) => Ok(()),
            Err(error) => Err(code(error)),
        }
    }

    /// Refuses a default queue on the device: there are no queues on devices.
    fn clSetDefaultDeviceCommandQueue(
        context: cl_context, device: cl_device_id, command_queue: cl_command_queue,
    ) {
        let context = get(context)?;
        let device = get(device)?;
        if !context.has(&device) {
            return Err(CL_INVALID_DEVICE);
        }
        get(command_queue)?;
        fail!(CL_INVALID_OPERATION, "clSetDefaultDeviceCommandQueue: no queues on devices")
    }
}
