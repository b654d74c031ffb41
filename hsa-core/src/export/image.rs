//! Images and samplers, and AMD's additions to them.

use std::ffi::c_void;

use gneiss_hsa_api::*;

use crate::{
    entry::{HsaResult, entry, require, write_out},
    image::{
        self, Layout, Pitches,
        format::Format,
        transfer::{self, Direction},
    },
    runtime::{self, Runtime},
};

/// The family of an agent's image descriptors; an agent without images has no format.
fn images_of(runtime: &Runtime, agent: hsa_agent_t) -> HsaResult<usize> {
    let (index, gpu) = runtime.agents.gpu(agent)?;
    if image::supported(gpu) {
        Ok(index)
    } else {
        Err(HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED)
    }
}

/// A layout, checked for an agent.
///
/// # Safety
/// `descriptor` is null or valid.
unsafe fn layout(
    runtime: &Runtime,
    agent: hsa_agent_t,
    descriptor: *const hsa_ext_image_descriptor_t,
    permission: hsa_access_permission_t,
    pitches: Pitches,
) -> HsaResult<(usize, Layout)> {
    let gpu = images_of(runtime, agent)?;
    require(!descriptor.is_null())?;
    require((HSA_ACCESS_PERMISSION_RO..=HSA_ACCESS_PERMISSION_RW).contains(&permission))?;
    // SAFETY: not null; the caller vouches for the rest.
    let descriptor = unsafe { descriptor.read_unaligned() };
    let family = runtime.agents.gpus[gpu].engine.target.family();
    Ok((gpu, Layout::new(&descriptor, pitches, family)?))
}

/// # Safety
/// `format` and `mask` are null or valid.
unsafe fn capability(
    agent: hsa_agent_t,
    geometry: hsa_ext_image_geometry_t,
    format: *const hsa_ext_image_format_t,
    mask: *mut u32,
) -> HsaResult {
    let runtime = runtime::get()?;
    let id = runtime.agents.id(agent)?;
    require(!format.is_null() && !mask.is_null() && image::limits(geometry).is_some())?;
    // SAFETY: not null; the caller vouches for the rest.
    let format = unsafe { format.read_unaligned() };
    let known = id
        .gpu()
        .filter(|&gpu| image::supported(&runtime.agents.gpus[gpu]))
        .and_then(|_| Format::of(&format, geometry));
    let value = known.map_or(HSA_EXT_IMAGE_CAPABILITY_NOT_SUPPORTED, |format| {
        format.capability
    });
    // SAFETY: an out-parameter of the caller.
    unsafe { write_out(mask, value) }
}

/// # Safety
/// The pointers are null or valid.
unsafe fn data_info(
    agent: hsa_agent_t,
    descriptor: *const hsa_ext_image_descriptor_t,
    permission: hsa_access_permission_t,
    pitches: Pitches,
    info: *mut hsa_ext_image_data_info_t,
) -> HsaResult {
    let runtime = runtime::get()?;
    // SAFETY: the caller's pointers.
    unsafe {
        let (_, layout) = layout(&runtime, agent, descriptor, permission, pitches)?;
        write_out(
            info,
            hsa_ext_image_data_info_t {
                size: layout.size() as usize,
                alignment: layout.alignment() as usize,
            },
        )
    }
}

/// # Safety
/// The pointers are null or valid.
unsafe fn create(
    agent: hsa_agent_t,
    descriptor: *const hsa_ext_image_descriptor_t,
    data: *const c_void,
    permission: hsa_access_permission_t,
    pitches: Pitches,
    image: *mut hsa_ext_image_t,
) -> HsaResult {
    let runtime = runtime::get()?;
    require(!data.is_null() && !image.is_null())?;
    // SAFETY: the caller's pointers.
    unsafe {
        let (gpu, layout) = layout(&runtime, agent, descriptor, permission, pitches)?;
        let handle = runtime.images.create(&runtime, gpu, layout, data as u64)?;
        write_out(image, handle)
    }
}

/// Makes an image from metadata of AMD's drivers: version 1, vendor and device, then the eight dwords of the descriptor.
pub unsafe extern "C" fn hsa_amd_image_create(
    agent: hsa_agent_t,
    image_descriptor: *const hsa_ext_image_descriptor_t,
    image_layout: *const hsa_amd_image_descriptor_t,
    image_data: *const c_void,
    access_permission: hsa_access_permission_t,
    image: *mut hsa_ext_image_t,
) -> hsa_status_t {
    entry!(hsa_amd_image_create, {
        let runtime = runtime::get()?;
        require(!image_layout.is_null() && !image_data.is_null() && !image.is_null())?;
        // SAFETY: the caller's pointers.
        unsafe {
            let (gpu, layout) = layout(
                &runtime,
                agent,
                image_descriptor,
                access_permission,
                Pitches::default(),
            )?;
            let known = hsa_amd_image_descriptor_t {
                version: 1,
                deviceID: 0x1002 << 16 | runtime.agents.gpus[gpu].spec.card.chip_id,
                data: [0],
            };
            let given = image_layout.cast::<u32>();
            if given.read_unaligned() != known.version
                || given.add(1).read_unaligned() != known.deviceID
            {
                return Err(HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED);
            }
            let words = std::array::from_fn(|word| given.add(2 + word).read_unaligned());
            let handle = runtime.images.create_from_words(
                &runtime,
                gpu,
                layout,
                image_data as u64,
                words,
            )?;
            write_out(image, handle)
        }
    })
}

pub unsafe extern "C" fn hsa_amd_image_get_info_max_dim(
    agent: hsa_agent_t,
    attribute: hsa_agent_info_t,
    value: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_amd_image_get_info_max_dim, {
        let runtime = runtime::get()?;
        let id = runtime.agents.id(agent)?;
        require(
            (HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS..=HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS)
                .contains(&attribute),
        )?;
        // SAFETY: the caller's buffer has the size of the attribute.
        unsafe { runtime.agents.info(id, attribute, value) }
    })
}

pub unsafe extern "C" fn hsa_ext_image_clear(
    agent: hsa_agent_t,
    image: hsa_ext_image_t,
    data: *const c_void,
    image_region: *const hsa_ext_image_region_t,
) -> hsa_status_t {
    entry!(hsa_ext_image_clear, {
        let runtime = runtime::get()?;
        runtime.agents.id(agent)?;
        require(!data.is_null() && !image_region.is_null())?;
        // SAFETY: not null; four components of 32 bits and a region of the caller.
        unsafe {
            let colour = data.cast::<[u32; 4]>().read_unaligned();
            transfer::clear(&runtime, image, colour, &image_region.read_unaligned())
        }
    })
}

pub unsafe extern "C" fn hsa_ext_image_copy(
    agent: hsa_agent_t,
    src_image: hsa_ext_image_t,
    src_offset: *const hsa_dim3_t,
    dst_image: hsa_ext_image_t,
    dst_offset: *const hsa_dim3_t,
    range: *const hsa_dim3_t,
) -> hsa_status_t {
    entry!(hsa_ext_image_copy, {
        let runtime = runtime::get()?;
        runtime.agents.id(agent)?;
        require(!src_offset.is_null() && !dst_offset.is_null() && !range.is_null())?;
        // SAFETY: not null; the caller's structures.
        let (src_offset, dst_offset, range) = unsafe {
            (
                src_offset.read_unaligned(),
                dst_offset.read_unaligned(),
                range.read_unaligned(),
            )
        };
        transfer::between(
            &runtime,
            (src_image, &src_offset),
            (dst_image, &dst_offset),
            &range,
        )
    })
}

/// The pitches of a program's own layout; only the linear one has any.
fn linear(layout: hsa_ext_image_data_layout_t, row: usize, slice: usize) -> HsaResult<Pitches> {
    require(layout == HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR)?;
    Ok(Pitches { row, slice })
}

pub unsafe extern "C" fn hsa_ext_image_create(
    agent: hsa_agent_t,
    image_descriptor: *const hsa_ext_image_descriptor_t,
    image_data: *const c_void,
    access_permission: hsa_access_permission_t,
    image: *mut hsa_ext_image_t,
) -> hsa_status_t {
    entry!(hsa_ext_image_create, {
        // SAFETY: the caller's pointers.
        unsafe {
            create(
                agent,
                image_descriptor,
                image_data,
                access_permission,
                Pitches::default(),
                image,
            )
        }
    })
}

pub unsafe extern "C" fn hsa_ext_image_create_with_layout(
    agent: hsa_agent_t,
    image_descriptor: *const hsa_ext_image_descriptor_t,
    image_data: *const c_void,
    access_permission: hsa_access_permission_t,
    image_data_layout: hsa_ext_image_data_layout_t,
    image_data_row_pitch: usize,
    image_data_slice_pitch: usize,
    image: *mut hsa_ext_image_t,
) -> hsa_status_t {
    entry!(hsa_ext_image_create_with_layout, {
        let pitches = linear(
            image_data_layout,
            image_data_row_pitch,
            image_data_slice_pitch,
        )?;
        // SAFETY: the caller's pointers.
        unsafe {
            create(
                agent,
                image_descriptor,
                image_data,
                access_permission,
                pitches,
                image,
            )
        }
    })
}

pub unsafe extern "C" fn hsa_ext_image_data_get_info(
    agent: hsa_agent_t,
    image_descriptor: *const hsa_ext_image_descriptor_t,
    access_permission: hsa_access_permission_t,
    image_data_info: *mut hsa_ext_image_data_info_t,
) -> hsa_status_t {
    entry!(hsa_ext_image_data_get_info, {
        // SAFETY: the caller's pointers.
        unsafe {
            data_info(
                agent,
                image_descriptor,
                access_permission,
                Pitches::default(),
                image_data_info,
            )
        }
    })
}

pub unsafe extern "C" fn hsa_ext_image_data_get_info_with_layout(
    agent: hsa_agent_t,
    image_descriptor: *const hsa_ext_image_descriptor_t,
    access_permission: hsa_access_permission_t,
    image_data_layout: hsa_ext_image_data_layout_t,
    image_data_row_pitch: usize,
    image_data_slice_pitch: usize,
    image_data_info: *mut hsa_ext_image_data_info_t,
) -> hsa_status_t {
    entry!(hsa_ext_image_data_get_info_with_layout, {
        let pitches = linear(
            image_data_layout,
            image_data_row_pitch,
            image_data_slice_pitch,
        )?;
        // SAFETY: the caller's pointers.
        unsafe {
            data_info(
                agent,
                image_descriptor,
                access_permission,
                pitches,
                image_data_info,
            )
        }
    })
}

pub unsafe extern "C" fn hsa_ext_image_destroy(
    agent: hsa_agent_t,
    image: hsa_ext_image_t,
) -> hsa_status_t {
    entry!(hsa_ext_image_destroy, {
        let runtime = runtime::get()?;
        runtime.agents.id(agent)?;
        runtime.images.destroy(image)
    })
}

pub unsafe extern "C" fn hsa_ext_image_export(
    agent: hsa_agent_t,
    src_image: hsa_ext_image_t,
    dst_memory: *mut c_void,
    dst_row_pitch: usize,
    dst_slice_pitch: usize,
    image_region: *const hsa_ext_image_region_t,
) -> hsa_status_t {
    entry!(hsa_ext_image_export, {
        let runtime = runtime::get()?;
        runtime.agents.id(agent)?;
        require(!dst_memory.is_null() && !image_region.is_null())?;
        // SAFETY: not null; the caller's region.
        let region = unsafe { image_region.read_unaligned() };
        let pitches = Pitches {
            row: dst_row_pitch,
            slice: dst_slice_pitch,
        };
        transfer::with_memory(
            &runtime,
            src_image,
            dst_memory,
            pitches,
            &region,
            Direction::FromImage,
        )
    })
}

pub unsafe extern "C" fn hsa_ext_image_get_capability(
    agent: hsa_agent_t,
    geometry: hsa_ext_image_geometry_t,
    image_format: *const hsa_ext_image_format_t,
    capability_mask: *mut u32,
) -> hsa_status_t {
    entry!(hsa_ext_image_get_capability, {
        // SAFETY: the caller's pointers.
        unsafe { capability(agent, geometry, image_format, capability_mask) }
    })
}

pub unsafe extern "C" fn hsa_ext_image_get_capability_with_layout(
    agent: hsa_agent_t,
    geometry: hsa_ext_image_geometry_t,
    image_format: *const hsa_ext_image_format_t,
    image_data_layout: hsa_ext_image_data_layout_t,
    capability_mask: *mut u32,
) -> hsa_status_t {
    entry!(hsa_ext_image_get_capability_with_layout, {
        require(image_data_layout == HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR)?;
        // SAFETY: the caller's pointers.
        unsafe { capability(agent, geometry, image_format, capability_mask) }
    })
}

pub unsafe extern "C" fn hsa_ext_image_import(
    agent: hsa_agent_t,
    src_memory: *const c_void,
    src_row_pitch: usize,
    src_slice_pitch: usize,
    dst_image: hsa_ext_image_t,
    image_region: *const hsa_ext_image_region_t,
) -> hsa_status_t {
    entry!(hsa_ext_image_import, {
        let runtime = runtime::get()?;
        runtime.agents.id(agent)?;
        require(!src_memory.is_null() && !image_region.is_null())?;
        // SAFETY: not null; the caller's region.
        let region = unsafe { image_region.read_unaligned() };
        let pitches = Pitches {
            row: src_row_pitch,
            slice: src_slice_pitch,
        };
        transfer::with_memory(
            &runtime,
            dst_image,
            src_memory.cast_mut(),
            pitches,
            &region,
            Direction::ToImage,
        )
    })
}

/// Makes a sampler for an agent that has images.
fn create_sampler(
    agent: hsa_agent_t,
    descriptor: &hsa_ext_sampler_descriptor_v2_t,
    levels: Option<&gneiss_hsa_sampler_levels_t>,
    sampler: *mut hsa_ext_sampler_t,
) -> HsaResult {
    let runtime = runtime::get()?;
    let gpu = images_of(&runtime, agent).map_err(|status| match status {
        HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED => {
            HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED
        }
        other => other,
    })?;
    let handle = runtime
        .images
        .create_sampler(&runtime, gpu, descriptor, levels)?;
    // SAFETY: an out-parameter of the caller, who checked it.
    unsafe { write_out(sampler, handle) }
}

pub unsafe extern "C" fn hsa_ext_sampler_create(
    agent: hsa_agent_t,
    sampler_descriptor: *const hsa_ext_sampler_descriptor_t,
    sampler: *mut hsa_ext_sampler_t,
) -> hsa_status_t {
    entry!(hsa_ext_sampler_create, {
        require(!sampler_descriptor.is_null() && !sampler.is_null())?;
        // SAFETY: not null; the caller's description.
        let descriptor = unsafe { sampler_descriptor.read_unaligned() };
        let descriptor = hsa_ext_sampler_descriptor_v2_t {
            coordinate_mode: descriptor.coordinate_mode,
            filter_mode: descriptor.filter_mode,
            address_modes: [descriptor.address_mode; 3],
        };
        create_sampler(agent, &descriptor, None, sampler)
    })
}

pub unsafe extern "C" fn hsa_ext_sampler_create_v2(
    agent: hsa_agent_t,
    sampler_descriptor: *const hsa_ext_sampler_descriptor_v2_t,
    sampler: *mut hsa_ext_sampler_t,
) -> hsa_status_t {
    entry!(hsa_ext_sampler_create_v2, {
        require(!sampler_descriptor.is_null() && !sampler.is_null())?;
        // SAFETY: not null; the caller's description.
        let descriptor = unsafe { sampler_descriptor.read_unaligned() };
        create_sampler(agent, &descriptor, None, sampler)
    })
}

pub unsafe extern "C" fn hsa_ext_sampler_destroy(
    agent: hsa_agent_t,
    sampler: hsa_ext_sampler_t,
) -> hsa_status_t {
    entry!(hsa_ext_sampler_destroy, {
        let runtime = runtime::get()?;
        runtime.agents.id(agent)?;
        runtime.images.destroy_sampler(sampler)
    })
}

/// Makes an image with levels, or of faces, over memory of the size that [`gneiss_hsa_image_get_level_layout`] gives.
///
/// An extension of this runtime.
pub unsafe extern "C" fn gneiss_hsa_image_create(
    agent: hsa_agent_t,
    image_descriptor: *const hsa_ext_image_descriptor_t,
    levels: *const gneiss_hsa_image_levels_t,
    image_data: *const c_void,
    access_permission: hsa_access_permission_t,
    image: *mut hsa_ext_image_t,
) -> hsa_status_t {
    entry!(gneiss_hsa_image_create, {
        let runtime = runtime::get()?;
        require(!levels.is_null() && !image_data.is_null() && !image.is_null())?;
        // SAFETY: the caller's pointers.
        unsafe {
            let (gpu, layout) = layout(
                &runtime,
                agent,
                image_descriptor,
                access_permission,
                Pitches::default(),
            )?;
            let family = runtime.agents.gpus[gpu].engine.target.family();
            let layout = layout.with_levels(&levels.read_unaligned(), family)?;
            let handle = runtime
                .images
                .create(&runtime, gpu, layout, image_data as u64)?;
            write_out(image, handle)
        }
    })
}

/// Tells where a level of an image lies in its memory.
///
/// An extension of this runtime.
pub unsafe extern "C" fn gneiss_hsa_image_get_level_layout(
    agent: hsa_agent_t,
    image_descriptor: *const hsa_ext_image_descriptor_t,
    level: u32,
    layout: *mut gneiss_hsa_image_level_layout_t,
) -> hsa_status_t {
    entry!(gneiss_hsa_image_get_level_layout, {
        let runtime = runtime::get()?;
        // SAFETY: the caller's pointers.
        unsafe {
            let (_, image) = self::layout(
                &runtime,
                agent,
                image_descriptor,
                HSA_ACCESS_PERMISSION_RW,
                Pitches::default(),
            )?;
            write_out(layout, image.level(level)?)
        }
    })
}

/// Makes a sampler of images with levels.
///
/// An extension of this runtime.
pub unsafe extern "C" fn gneiss_hsa_sampler_create(
    agent: hsa_agent_t,
    sampler_descriptor: *const hsa_ext_sampler_descriptor_v2_t,
    levels: *const gneiss_hsa_sampler_levels_t,
    sampler: *mut hsa_ext_sampler_t,
) -> hsa_status_t {
    entry!(gneiss_hsa_sampler_create, {
        require(!sampler_descriptor.is_null() && !levels.is_null() && !sampler.is_null())?;
        // SAFETY: not null; the caller's descriptions.
        let (descriptor, levels) =
            unsafe { (sampler_descriptor.read_unaligned(), levels.read_unaligned()) };
        create_sampler(agent, &descriptor, Some(&levels), sampler)
    })
}
