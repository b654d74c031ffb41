//! Contexts: some devices whose objects may be used together.

use std::{
    ffi::{CString, c_void},
    sync::Arc,
};

use parking_lot::Mutex;

use crate::{
    cl_api,
    constants::*,
    device::{self, Device},
    device_info,
    device_queue::OnDevice,
    error::Result,
    fail,
    handle::{Handle, Object as _, get, object},
    info::Query,
    platform,
    types::*,
};

/// A pointer of the caller's that is only given back to it.
#[derive(Clone, Copy, Debug)]
pub struct UserData(pub *mut c_void);

// SAFETY: the pointer is never followed here.
unsafe impl Send for UserData {}
// SAFETY: as above.
unsafe impl Sync for UserData {}

impl UserData {
    /// The pointer.
    pub fn get(self) -> *mut c_void {
        self.0
    }
}

/// A context.
#[derive(Debug)]
pub struct Context {
    handle: Handle<Context>,
    /// Its devices, each once; at least one.
    pub devices: Vec<Arc<Device>>,
    /// What it has of queues on each device.
    on_device: Vec<OnDevice>,
    /// The property list as it was given, with its zero; empty if there was none.
    properties: Vec<cl_pointer_property>,
    notify: ContextNotify,
    user_data: UserData,
    ends: Mutex<Vec<(ContextEnd, UserData)>>,
}

object!(Context, CL_INVALID_CONTEXT);

impl Context {
    fn create(
        properties: In<cl_pointer_property>,
        devices: Vec<Arc<Device>>,
        notify: ContextNotify,
        user_data: *mut c_void,
    ) -> Result<cl_context> {
        let properties = check_properties(properties)?;
        if notify.is_none() && !user_data.is_null() {
            return fail!(CL_INVALID_VALUE, "user data without a function");
        }
        let mut unique: Vec<Arc<Device>> = Vec::new();
        for device in devices {
            if !unique.iter().any(|other| Arc::ptr_eq(other, &device)) {
                unique.push(device);
            }
        }
        let context = Context::table().insert(|handle| Context {
            handle,
            on_device: unique.iter().map(|_| OnDevice::default()).collect(),
            devices: unique,
            properties,
            notify,
            user_data: UserData(user_data),
            ends: Mutex::default(),
        });
        Ok(context.ok_or(CL_OUT_OF_HOST_MEMORY)?.handle.raw())
    }

    /// Whether a device is one of the context's.
    pub fn has(&self, device: &Arc<Device>) -> bool {
        self.devices.iter().any(|own| Arc::ptr_eq(own, device))
    }

    /// What it has of queues on one of its devices.
    ///
    /// # Errors
    /// `CL_INVALID_DEVICE`.
    pub fn on_device(&self, device: &Arc<Device>) -> Result<&OnDevice> {
        let index = self.devices.iter().position(|own| Arc::ptr_eq(own, device));
        match index.and_then(|index| self.on_device.get(index)) {
            Some(on_device) => Ok(on_device),
            None => fail!(CL_INVALID_DEVICE, "the device is not one of the context's"),
        }
    }

    /// The context's device of that address; all where there is no list.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE` for a list without a length or the other way round; `CL_INVALID_DEVICE` for one that is not the context's.
    pub fn select(&self, count: cl_uint, list: In<cl_device_id>) -> Result<Vec<Arc<Device>>> {
        if (count == 0) != list.is_null() {
            return fail!(
                CL_INVALID_VALUE,
                "{count} devices, but the list is at {:?}",
                list.pointer()
            );
        }
        if count == 0 {
            return Ok(self.devices.clone());
        }
        list.list(count as usize)
            .into_iter()
            .map(|device| {
                get(device).and_then(|device| {
                    if self.has(&device) {
                        Ok(device)
                    } else {
                        Err(CL_INVALID_DEVICE)
                    }
                })
            })
            .collect()
    }

    /// Tells the program's function of an error.
    pub fn tell(&self, text: &str) {
        if let (Some(notify), Ok(text)) = (self.notify, CString::new(text)) {
            // SAFETY: the program has given the function for this.
            unsafe { notify(text.as_ptr(), std::ptr::null(), 0, self.user_data.get()) };
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // Last registered, first called; the handle is only a number by now.
        while let Some((end, data)) = self.ends.get_mut().pop() {
            if let Some(end) = end {
                // SAFETY: the program has given the function for this.
                unsafe { end(self.handle.raw(), data.get()) };
            }
        }
    }
}

fn check_properties(list: In<cl_pointer_property>) -> Result<Vec<cl_pointer_property>> {
    if list.is_null() {
        return Ok(Vec::new());
    }
    let mut flat = Vec::new();
    for (name, value) in list.pairs() {
        if flat
            .chunks(2)
            .any(|pair: &[cl_pointer_property]| pair[0] == name)
        {
            return fail!(CL_INVALID_PROPERTY, "property {name:#x} is given twice");
        }
        match name as cl_uint {
            CL_CONTEXT_PLATFORM => {
                let platform: cl_platform_id =
                    std::ptr::with_exposed_provenance_mut(value as usize);
                if platform.is_null() {
                    return Err(CL_INVALID_PLATFORM);
                }
                platform::check(platform)?;
            }
            CL_CONTEXT_INTEROP_USER_SYNC if value == 0 || value == 1 => {}
            _ => {
                return fail!(
                    CL_INVALID_PROPERTY,
                    "a context cannot have property {name:#x} = {value:#x}"
                );
            }
        }
        flat.extend([name, value]);
    }
    flat.push(0);
    Ok(flat)
}

cl_api! {
    /// Makes a context of devices.
    create fn clCreateContext(
        properties: In<cl_pointer_property>, num_devices: cl_uint, devices: In<cl_device_id>, pfn_notify: ContextNotify,
        user_data: *mut c_void,
    ) -> cl_context {
        if devices.is_null() || num_devices == 0 {
            return fail!(CL_INVALID_VALUE, "a context needs devices");
        }
        let devices: Result<_> = devices.list(num_devices as usize).into_iter().map(get).collect();
        Context::create(properties, devices?, pfn_notify, user_data)
    }

    /// Makes a context of all devices of some types.
    create fn clCreateContextFromType(
        properties: In<cl_pointer_property>, device_type: cl_bitfield, pfn_notify: ContextNotify, user_data: *mut c_void,
    ) -> cl_context {
        check_properties(properties)?;
        Context::create(properties, device::of_type(device_type)?, pfn_notify, user_data)
    }

    /// One more reference.
    fn clRetainContext(context: cl_context) {
        Context::table().retain(context)
    }

    /// One reference less.
    fn clReleaseContext(context: cl_context) {
        Context::table().release(context).map(drop)
    }

    /// Says what a context is.
    fn clGetContextInfo(
        context: cl_context, param_name: cl_name, param_value_size: usize, param_value: *mut c_void,
        param_value_size_ret: Out<usize>,
    ) {
        let found = get(context)?;
        let query = Query { size: param_value_size, value: param_value, needed: param_value_size_ret };
        match param_name {
            CL_CONTEXT_REFERENCE_COUNT => query.value(Context::table().references(context)),
            CL_CONTEXT_NUM_DEVICES => query.value(found.devices.len() as cl_uint),
            CL_CONTEXT_DEVICES => {
                let handles: Vec<_> = found.devices.iter().map(|device| device_info::handle(device)).collect();
                query.list(&handles)
            }
            CL_CONTEXT_PROPERTIES => query.list(&found.properties),
            name => query.unknown(name),
        }
    }

    /// Asks to be told of a context's end.
    fn clSetContextDestructorCallback(context: cl_context, pfn_notify: ContextEnd, user_data: *mut c_void) {
        let context = get(context)?;
        if pfn_notify.is_none() {
            return Err(CL_INVALID_VALUE);
        }
        context.ends.lock().push((pfn_notify, UserData(user_data)));
        Ok(())
    }
}
