//! Mipmapped arrays: arrays whose levels have half of the extent of the one before, in one piece of device memory.
//!
//! Where a level lies is what the HSA library says ([`gneiss_clr::ImageLevel`]), because image instructions of kernels find it there. A level is a
//! plain array ([`crate::array`]) that has no memory of its own: it is copied to and from, sampled and written as any other, and is gone when
//! it is freed or when the mipmapped array is. Textures over all of the levels are in [`crate::texture`].
//!
//! AMD's runtime has mipmapped arrays on Windows only. Over its HSA library, which has none either, making one gives `hipErrorNotSupported`.

use std::{collections::HashMap, sync::LazyLock};

use gneiss_clr::{ImageDescription, ImageLevel, ImageLevels};
use gneiss_hip_abi_macros::hip_api;
use parking_lot::Mutex;

use crate::{
    array::{self, Shape, Wanted, desc_of, known_format_of},
    enums::*,
    error::*,
    fail, memory,
    runtime::{self, hip_error},
    texture::{check_view, shape_image},
    texture_format::ElementFormat,
    texture_types::*,
    types::*,
};

/// What is known of a mipmapped array.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// Level 0.
    shape: Shape,
    levels: u32,
    driver: bool,
}

static ARRAYS: LazyLock<Mutex<HashMap<usize, Known>>> = LazyLock::new(Mutex::default);

fn known(array: hipMipmappedArray_t) -> HipResult<Known> {
    match ARRAYS.lock().get(&array.addr()) {
        Some(known) => Ok(*known),
        None => fail!(
            hipErrorInvalidHandle,
            "{array:p} is not a live mipmapped array"
        ),
    }
}

/// Format and number of levels of a mipmapped array.
pub(crate) fn format(array: hipMipmappedArray_t) -> HipResult<(ElementFormat, u32)> {
    let Known { shape, levels, .. } = known(array)?;
    Ok((
        ElementFormat::of_driver(shape.format, shape.channels)?,
        levels,
    ))
}

/// The image that a texture reads of a mipmapped array: with those levels that a view has, or all.
pub(crate) fn image(
    array: hipMipmappedArray_t,
    texture: &hipTextureDesc,
    view: Option<&hipResourceViewDesc>,
    normalised: bool,
) -> HipResult<(ImageDescription, u64)> {
    let Ok(Known { shape, levels, .. }) = known(array) else {
        return fail!(
            hipErrorInvalidValue,
            "{array:p} is not a live mipmapped array"
        );
    };
    if levels > 1 && texture.normalizedCoords == 0 {
        return fail!(
            hipErrorInvalidValue,
            "an array with levels is read with normalised coordinates"
        );
    }
    let format = view.map(|view| check_view(view, shape.depth)).transpose()?;
    let mut description = shape_image(&shape, format, normalised, texture.sRGB == 1)?;
    description.levels = match view {
        None => ImageLevels::all(levels),
        Some(view) => ImageLevels {
            count: levels,
            first: view.firstMipmapLevel,
            last: view.lastMipmapLevel,
        },
    };
    let ImageLevels { first, last, .. } = description.levels;
    if first > last || last >= levels {
        return fail!(
            hipErrorInvalidValue,
            "a view of levels {first} to {last} of {levels}"
        );
    }
    Ok((description, shape.data as u64))
}

/// The shape of a level, at its place in the memory of the array.
fn level_shape(base: &Shape, place: &ImageLevel, level: u32) -> Shape {
    let part = |extent: usize| {
        if extent == 0 {
            0
        } else {
            (extent >> level).max(1)
        }
    };
    let layered = base.flags & (hipArrayLayered | hipArrayCubemap) != 0;
    Shape {
        data: base.data + place.offset,
        width: part(base.width),
        height: part(base.height),
        depth: if layered {
            base.depth
        } else {
            part(base.depth)
        },
        pitch: place.row_pitch,
        ..*base
    }
}

/// Where a level of an array of a shape lies in its memory.
fn place(shape: &Shape, level: u32) -> HipResult<ImageLevel> {
    let device = runtime::current()?;
    let description = shape_image(shape, None, false, false)?;
    ImageLevel::of(&device.clr, &description, level).map_err(hip_error)
}

fn create(out: *mut hipMipmappedArray_t, wanted: &Wanted, levels: u32) -> HipResult {
    if out.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the array");
    }
    let element = array::check(wanted)?;
    let [width, height, depth] = wanted.extent;
    let layered = wanted.flags & (hipArrayLayered | hipArrayCubemap) != 0;
    let longest = width.max(height).max(if layered { 1 } else { depth });
    if levels == 0 || levels > longest.ilog2() + 1 {
        return fail!(
            hipErrorInvalidValue,
            "{levels} levels of an array of {width} by {height} by {depth} elements; possible are 1 to {}",
            longest.ilog2() + 1
        );
    }
    let mut shape = Shape {
        data: 0,
        width,
        height,
        depth,
        element,
        pitch: 0,
        format: wanted.format,
        channels: wanted.channels,
        desc: desc_of(wanted.format, wanted.channels),
        flags: wanted.flags,
        owner: 0,
    };
    let last = place(&shape, levels - 1)?;
    let mut data = std::ptr::null_mut();
    memory::allocate(&raw mut data, last.offset + last.size, false)?;
    shape.data = data.expose_provenance();
    let record = Box::into_raw(Box::new(hipMipmappedArray {
        data,
        desc: shape.desc,
        r#type: shape.flags,
        width: width as u32,
        height: height as u32,
        depth: depth as u32,
        min_mipmap_level: 0,
        max_mipmap_level: levels - 1,
        flags: shape.flags,
        format: shape.format,
        num_channels: shape.channels,
    }));
    let known = Known {
        shape,
        levels,
        driver: wanted.driver,
    };
    ARRAYS.lock().insert(record.addr(), known);
    // SAFETY: not null; the caller promises a valid place.
    unsafe { out.write(record) };
    Ok(())
}

fn destroy(array: hipMipmappedArray_t) -> HipResult {
    if array.is_null() {
        return fail!(hipErrorInvalidValue, "null mipmapped array");
    }
    let Some(known) = ARRAYS.lock().remove(&array.addr()) else {
        return fail!(
            array::error_of_destroyed(),
            "{array:p} is not a live mipmapped array"
        );
    };
    array::forget_levels(array.addr());
    // SAFETY: the map held it, so it came from `Box::into_raw` in `create` and was not freed.
    drop(unsafe { Box::from_raw(array) });
    let runtime = runtime::get()?;
    let _ = runtime::current()?.clr.synchronize();
    runtime.clr.free(known.shape.data).map_err(hip_error)?;
    Ok(())
}

fn level(out: *mut hipArray_t, array: hipMipmappedArray_t, level: u32) -> HipResult {
    if out.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the level");
    }
    let known = known(array)?;
    if level >= known.levels {
        return fail!(
            hipErrorInvalidValue,
            "level {level} of {} does not exist",
            known.levels
        );
    }
    let place = place(&known.shape, level)?;
    let shape = Shape {
        owner: array.addr(),
        ..level_shape(&known.shape, &place, level)
    };
    // SAFETY: not null; the caller promises a valid place.
    unsafe { out.write(array::register(shape, known.driver)) };
    Ok(())
}

/// Creates a mipmapped array.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMallocMipmappedArray(
    mipmappedArray: *mut hipMipmappedArray_t,
    desc: *const hipChannelFormatDesc,
    extent: hipExtent,
    numLevels: u32,
    flags: u32,
) -> hipError_t {
    if desc.is_null() {
        return fail!(hipErrorInvalidValue, "no channel description");
    }
    // SAFETY: not null; the caller promises a valid record.
    let (format, channels) = known_format_of(unsafe { &*desc })?;
    let wanted = Wanted {
        extent: [extent.width, extent.height, extent.depth],
        format,
        channels,
        flags,
        driver: false,
    };
    create(mipmappedArray, &wanted, numLevels)
}

/// Creates a mipmapped array (driver API).
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMipmappedArrayCreate(
    pHandle: *mut hipMipmappedArray_t,
    pMipmappedArrayDesc: *mut HIP_ARRAY3D_DESCRIPTOR,
    numMipmapLevels: u32,
) -> hipError_t {
    if pMipmappedArrayDesc.is_null() {
        return fail!(hipErrorInvalidValue, "no description");
    }
    // SAFETY: not null; the caller promises a valid record.
    let d = unsafe { pMipmappedArrayDesc.read() };
    let wanted = Wanted {
        extent: [d.Width, d.Height, d.Depth],
        format: d.Format,
        channels: d.NumChannels,
        flags: d.Flags,
        driver: true,
    };
    create(pHandle, &wanted, numMipmapLevels)
}

/// Frees a mipmapped array and its levels.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipFreeMipmappedArray(mipmappedArray: hipMipmappedArray_t) -> hipError_t {
    destroy(mipmappedArray)
}

/// Frees a mipmapped array and its levels (driver API).
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMipmappedArrayDestroy(
    hMipmappedArray: hipMipmappedArray_t,
) -> hipError_t {
    destroy(hMipmappedArray)
}

/// Gives a level of a mipmapped array, as an array.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetMipmappedArrayLevel(
    levelArray: *mut hipArray_t,
    mipmappedArray: hipMipmappedArray_t,
    level: u32,
) -> hipError_t {
    self::level(levelArray, mipmappedArray, level)
}

/// Gives a level of a mipmapped array, as an array (driver API).
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMipmappedArrayGetLevel(
    pLevelArray: *mut hipArray_t,
    hMipMappedArray: hipMipmappedArray_t,
    level: u32,
) -> hipError_t {
    self::level(pLevelArray, hMipMappedArray, level)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_of_volumes_get_thinner_and_those_of_layers_do_not() {
        let base = Shape {
            data: 0x1000,
            width: 9,
            height: 4,
            depth: 6,
            element: 4,
            pitch: 256,
            format: HIP_AD_FORMAT_FLOAT,
            channels: 1,
            desc: desc_of(HIP_AD_FORMAT_FLOAT, 1),
            flags: 0,
            owner: 0,
        };
        let place = ImageLevel {
            offset: 0x600,
            size: 0x100,
            row_pitch: 512,
        };
        let extent = |flags, level| {
            let shape = level_shape(&Shape { flags, ..base }, &place, level);
            assert_eq!((shape.data, shape.pitch), (0x1600, 512));
            (shape.width, shape.height, shape.depth)
        };
        assert_eq!(extent(0, 1), (4, 2, 3));
        assert_eq!(extent(0, 3), (1, 1, 1));
        assert_eq!(extent(hipArrayLayered, 1), (4, 2, 6));
        assert_eq!(extent(hipArrayCubemap, 3), (1, 1, 6));
        let line = Shape {
            height: 0,
            depth: 0,
            ..base
        };
        let line = level_shape(&line, &place, 2);
        assert_eq!((line.width, line.height, line.depth), (2, 0, 0));
    }

    #[test]
    fn foreign_mipmapped_arrays_are_refused() {
        let foreign = std::ptr::without_provenance_mut(0x1234);
        assert_eq!(format(foreign).err(), Some(hipErrorInvalidHandle));
        let mut out = std::ptr::null_mut();
        assert_eq!(
            level(&raw mut out, foreign, 0).err(),
            Some(hipErrorInvalidHandle)
        );
        assert_eq!(
            destroy(std::ptr::null_mut()).err(),
            Some(hipErrorInvalidValue)
        );
    }
}
