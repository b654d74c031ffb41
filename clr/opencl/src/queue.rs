//! Command queues: on the host, over a host queue of the runtime below, in order or not; and on the device.

use std::{ffi::c_void, sync::Arc};

use gneiss_clr::{DeviceQueue, HostQueue, QueueOptions};
use parking_lot::Mutex;

use crate::{
    cl_api,
    constants::*,
    context::Context,
    defer,
    device::Device,
    device_info, device_queue,
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
    /// The same, for use; of a queue on the device: where its kernels run.
    pub clr: Arc<HostQueue>,
    /// The memory of a queue on the device, which takes no commands of the host.
    on_device: Option<DeviceQueue>,
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
        size: Option<cl_uint>,
        list: Option<Vec<cl_property>>,
    ) -> Result<cl_command_queue> {
        let context = get(context)?;
        let device = get(device)?;
        let queues = context.on_device(&device)?;
        if properties & !(ON_HOST | ON_DEVICE) != 0 {
            return fail!(CL_INVALID_VALUE, "queue properties {properties:#x}");
        }
        let needed = |bit, other| properties & bit == 0 || properties & other != 0;
        if !needed(CL_QUEUE_ON_DEVICE_DEFAULT, CL_QUEUE_ON_DEVICE)
            || !needed(CL_QUEUE_ON_DEVICE, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
        {
            return fail!(
                CL_INVALID_VALUE,
                "queue properties {properties:#x}: a default queue must be on the device, and such a queue out of order"
            );
        }
        let is_default = properties & CL_QUEUE_ON_DEVICE_DEFAULT != 0;
        if is_default && let Some(default) = queues.default_queue() {
            let handle = default.handle.raw();
            Queue::table().retain(handle)?;
            return Ok(handle);
        }
        let on_device = if properties & CL_QUEUE_ON_DEVICE != 0 {
            let size = size.unwrap_or(device_queue::PREFERRED_SIZE);
            Some(queues.queue(&device, size)?)
        } else {
            None
        };
        let options = QueueOptions {
            profiling: properties & CL_QUEUE_PROFILING_ENABLE != 0,
            out_of_order: properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE != 0,
            non_blocking: true,
            ..QueueOptions::default()
        };
        let clr = if on_device.is_some() {
            Arc::clone(queues.shared(&device)?.children())
        } else {
            HostQueue::new(&device.clr, options).map_err(code)?
        };
        let queue = Queue::table().insert(|handle| Queue {
            handle,
            context,
            device,
            host: Mutex::new(Some(Arc::clone(&clr))),
            clr,
            on_device,
            properties,
            list,
        });
        let queue = queue.ok_or(CL_OUT_OF_HOST_MEMORY)?;
        if is_default {
            queue.context.on_device(&queue.device)?.set_default(&queue);
        }
        Ok(queue.handle.raw())
    }

    /// Whether commands have times.
    pub fn profiles(&self) -> bool {
        self.properties & CL_QUEUE_PROFILING_ENABLE != 0
    }

    /// The queue on the device that it is.
    pub fn on_device(&self) -> Option<&DeviceQueue> {
        self.on_device.as_ref()
    }
}

/// The queue of the host with that handle.
///
/// # Errors
/// `CL_INVALID_COMMAND_QUEUE`, also for a queue on a device.
pub fn host(handle: cl_command_queue) -> Result<Arc<Queue>> {
    let queue = get(handle)?;
    if queue.on_device.is_some() {
        return fail!(
            CL_INVALID_COMMAND_QUEUE,
            "a queue on a device takes no commands of the host"
        );
    }
    Ok(queue)
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
        Queue::create(context, device, properties, None, None)
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
        let mut sizes = list.chunks(2).filter(|pair| pair[0] == u64::from(CL_QUEUE_SIZE));
        let size = sizes.next().map(|pair| cl_uint::try_from(pair[1]).unwrap_or(cl_uint::MAX));
        if size.is_some() && bits & CL_QUEUE_ON_DEVICE == 0 {
            return fail!(CL_INVALID_VALUE, "only queues on the device have a size");
        }
        Queue::create(context, device, bits, size, Some(list))
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
                let default = queue.context.on_device(&queue.device)?.default_queue();
                query.value(default.map_or(std::ptr::null_mut(), |queue| queue.handle.raw()))
            }
            CL_QUEUE_SIZE => match &queue.on_device {
                Some(on_device) => query.value(on_device.size()),
                None => fail!(CL_INVALID_COMMAND_QUEUE, "only queues on the device have a size"),
            },
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
        host(command_queue)?.clr.flush();
        Ok(())
    }

    /// Waits for everything.
    fn clFinish(command_queue: cl_command_queue) {
        match host(command_queue)?.clr.finish() {
            // That commands have failed is said by their events.
            Ok(()) | Err(gneiss_clr::Error::CommandFailed(_)) => Ok(()),
            Err(error) => Err(code(error)),
        }
    }

    /// Changes the queue that kernels enqueue to by default; those that are enqueued keep the one before.
    fn clSetDefaultDeviceCommandQueue(
        context: cl_context, device: cl_device_id, command_queue: cl_command_queue,
    ) {
        let context = get(context)?;
        let device = get(device)?;
        let queues = context.on_device(&device)?;
        let queue = get(command_queue)?;
        if queue.on_device.is_none()
            || !Arc::ptr_eq(&queue.context, &context)
            || !Arc::ptr_eq(&queue.device, &device)
        {
            return fail!(CL_INVALID_COMMAND_QUEUE, "no queue on the device, of the context");
        }
        queues.set_default(&queue);
        Ok(())
    }
}
