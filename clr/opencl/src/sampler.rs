//! Samplers.

use std::{ffi::c_void, sync::Arc};

use gneiss_clr::{AddressingMode, SamplerDescription, SamplerView};

use crate::{
    cl_api,
    constants::*,
    context::Context,
    descriptor::Descriptor,
    device::Device,
    error::{Result, code},
    fail,
    handle::{Handle, Object as _, get, object},
    info::Query,
    types::*,
};

/// A sampler.
#[derive(Debug)]
pub struct Sampler {
    handle: Handle<Sampler>,
    context: Arc<Context>,
    normalised: bool,
    addressing: cl_uint,
    filter: cl_uint,
    properties: Option<Vec<cl_property>>,
    views: Vec<(Arc<Device>, Descriptor, SamplerView)>,
}

object!(Sampler, CL_INVALID_SAMPLER);

impl Sampler {
    fn create(
        context: cl_context,
        normalised: bool,
        addressing: cl_uint,
        filter: cl_uint,
        properties: Option<Vec<cl_property>>,
    ) -> Result<cl_sampler> {
        let context = get(context)?;
        let mode = match addressing {
            // What lies outside is never asked for: any mode does.
            CL_ADDRESS_NONE | CL_ADDRESS_CLAMP_TO_EDGE => AddressingMode::ClampToEdge,
            CL_ADDRESS_CLAMP => AddressingMode::ClampToBorder,
            CL_ADDRESS_REPEAT => AddressingMode::Repeat,
            CL_ADDRESS_MIRRORED_REPEAT => AddressingMode::MirroredRepeat,
            _ => return fail!(CL_INVALID_VALUE, "addressing mode {addressing:#x}"),
        };
        if !matches!(filter, CL_FILTER_NEAREST | CL_FILTER_LINEAR) {
            return fail!(CL_INVALID_VALUE, "filter mode {filter:#x}");
        }
        if !context.devices.iter().any(|device| device.images()) {
            return fail!(CL_INVALID_OPERATION, "no device of the context has images");
        }
        let description = SamplerDescription {
            normalised,
            linear: filter == CL_FILTER_LINEAR,
            addressing: [mode; 3],
            levels: None,
        };
        let mut views = Vec::new();
        for device in context.devices.iter().filter(|device| device.images()) {
            let view = SamplerView::new(&device.clr, &description).map_err(code)?;
            let descriptor = Descriptor::new(device, view.descriptor())?;
            views.push((Arc::clone(device), descriptor, view));
        }
        let sampler = Sampler::table().insert(|handle| Sampler {
            handle,
            context,
            normalised,
            addressing,
            filter,
            properties,
            views,
        });
        Ok(sampler.ok_or(CL_OUT_OF_HOST_MEMORY)?.handle.raw())
    }

    /// Address of what kernels read.
    ///
    /// # Errors
    /// `CL_INVALID_SAMPLER` on a device of another context.
    pub fn descriptor(&self, device: &Arc<Device>) -> Result<u64> {
        let found = self
            .views
            .iter()
            .find(|(own, _, _)| Arc::ptr_eq(own, device));
        found
            .map(|(_, descriptor, _)| descriptor.address())
            .ok_or(CL_INVALID_SAMPLER)
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        let views = std::mem::take(&mut self.views);
        crate::defer::when_idle(&self.context.devices, move || drop(views));
    }
}

cl_api! {
    /// Makes a sampler.
    create fn clCreateSampler(
        context: cl_context, normalized_coords: cl_bool, addressing_mode: cl_uint, filter_mode: cl_uint,
    ) -> cl_sampler {
        Sampler::create(context, normalized_coords != 0, addressing_mode, filter_mode, None)
    }

    /// Makes a sampler with a list of properties.
    create fn clCreateSamplerWithProperties(context: cl_context, sampler_properties: In<cl_property>) -> cl_sampler {
        get(context)?;
        let (mut normalised, mut addressing, mut filter) = (true, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST);
        let mut list: Vec<cl_property> = Vec::new();
        for (name, value) in sampler_properties.pairs() {
            if list.chunks(2).any(|pair| pair[0] == name) {
                return fail!(CL_INVALID_VALUE, "property {name:#x} is given twice");
            }
            match name as cl_uint {
                CL_SAMPLER_NORMALIZED_COORDS => normalised = value != 0,
                CL_SAMPLER_ADDRESSING_MODE => addressing = value as cl_uint,
                CL_SAMPLER_FILTER_MODE => filter = value as cl_uint,
                _ => return fail!(CL_INVALID_VALUE, "a sampler cannot have property {name:#x}"),
            }
            list.extend([name, value]);
        }
        let list = (!sampler_properties.is_null()).then(|| {
            list.push(0);
            list
        });
        Sampler::create(context, normalised, addressing, filter, list)
    }

    /// One more reference.
    fn clRetainSampler(sampler: cl_sampler) {
        Sampler::table().retain(sampler)
    }

    /// One reference less.
    fn clReleaseSampler(sampler: cl_sampler) {
        Sampler::table().release(sampler).map(drop)
    }

    /// Says what a sampler is.
    fn clGetSamplerInfo(
        sampler: cl_sampler, param_name: cl_name, param_value_size: usize, param_value: *mut c_void,
        param_value_size_ret: Out<usize>,
    ) {
        let found = get(sampler)?;
        let query = Query { size: param_value_size, value: param_value, needed: param_value_size_ret };
        match param_name {
            CL_SAMPLER_REFERENCE_COUNT => query.value(Sampler::table().references(sampler)),
            CL_SAMPLER_CONTEXT => query.value(found.context.handle().raw()),
            CL_SAMPLER_NORMALIZED_COORDS => query.truth(found.normalised),
            CL_SAMPLER_ADDRESSING_MODE => query.value(found.addressing),
            CL_SAMPLER_FILTER_MODE => query.value(found.filter),
            CL_SAMPLER_PROPERTIES => query.list(found.properties.as_deref().unwrap_or_default()),
            name => query.unknown(name),
        }
    }
}
