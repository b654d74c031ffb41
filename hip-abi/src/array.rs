//! HIP arrays, kept as rows of device memory in the hardware's linear image layout. Copies go to and from them as to any rows; textures
//! ([`crate::texture`]) and surfaces ([`crate::surface`]) are images over them.
//!
//! A handle is the address of a [`hipArray`] record, because HIP 5 programs may read its fields. The record belongs to HIP; what
//! calls rely on is kept apart from it, so that a program that writes to it harms nobody else.

use std::{collections::HashMap, sync::LazyLock};

use gneiss_hip_abi_macros::hip_api;
use parking_lot::Mutex;

use crate::{
    copy_rect::{PITCH_ALIGNMENT, Plane},
    enums::*,
    error::*,
    fail, memory,
    runtime::{self, hip_error},
    types::*,
    version::{Major, presented},
};

/// What is known of an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub data: usize,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub element: usize,
    pub pitch: usize,
    pub format: hipArray_Format,
    pub channels: u32,
    pub desc: hipChannelFormatDesc,
    pub flags: u32,
    /// The mipmapped array that this is a level of, and that has the memory; 0 for other arrays.
    pub owner: usize,
}

static ARRAYS: LazyLock<Mutex<HashMap<usize, Shape>>> = LazyLock::new(Mutex::default);

pub(crate) fn shape(array: hipArray_t) -> HipResult<Shape> {
    match ARRAYS.lock().get(&array.addr()) {
        Some(shape) => Ok(*shape),
        None => fail!(hipErrorInvalidHandle, "{array:p} is not a live array"),
    }
}

/// The memory of an array.
pub fn plane(array: hipArray_t) -> HipResult<Plane> {
    let shape = shape(array)?;
    Ok(Plane::new(
        std::ptr::with_exposed_provenance_mut(shape.data),
        shape.pitch,
        shape.height.max(1),
    ))
}

/// Bytes of an array's element.
pub fn element_size(array: hipArray_t) -> HipResult<usize> {
    Ok(shape(array)?.element)
}

/// Bytes of a channel.
pub(crate) fn format_size(format: hipArray_Format) -> Option<usize> {
    Some(match format {
        HIP_AD_FORMAT_UNSIGNED_INT8 | HIP_AD_FORMAT_SIGNED_INT8 => 1,
        HIP_AD_FORMAT_UNSIGNED_INT16 | HIP_AD_FORMAT_SIGNED_INT16 | HIP_AD_FORMAT_HALF => 2,
        HIP_AD_FORMAT_UNSIGNED_INT32 | HIP_AD_FORMAT_SIGNED_INT32 | HIP_AD_FORMAT_FLOAT => 4,
        _ => return None,
    })
}

/// Format and number of channels of a description: 1, 2 or 4 channels of equal size.
fn format_of(desc: &hipChannelFormatDesc) -> Option<(hipArray_Format, u32)> {
    let bits = [desc.x, desc.y, desc.z, desc.w];
    let channels = bits.iter().take_while(|bits| **bits != 0).count();
    if !matches!(channels, 1 | 2 | 4)
        || bits[..channels].iter().any(|b| *b != desc.x)
        || bits[channels..].iter().any(|b| *b != 0)
    {
        return None;
    }
    let format = match (desc.f, desc.x) {
        (hipChannelFormatKindSigned, 8) => HIP_AD_FORMAT_SIGNED_INT8,
        (hipChannelFormatKindSigned, 16) => HIP_AD_FORMAT_SIGNED_INT16,
        (hipChannelFormatKindSigned, 32) => HIP_AD_FORMAT_SIGNED_INT32,
        (hipChannelFormatKindUnsigned, 8) => HIP_AD_FORMAT_UNSIGNED_INT8,
        (hipChannelFormatKindUnsigned, 16) => HIP_AD_FORMAT_UNSIGNED_INT16,
        (hipChannelFormatKindUnsigned, 32) => HIP_AD_FORMAT_UNSIGNED_INT32,
        (hipChannelFormatKindFloat, 16) => HIP_AD_FORMAT_HALF,
        (hipChannelFormatKindFloat, 32) => HIP_AD_FORMAT_FLOAT,
        _ => return None,
    };
    Some((format, channels as u32))
}

/// As [`format_of`].
///
/// # Errors
/// `hipErrorInvalidValue` for channels that no format has.
pub(crate) fn known_format_of(desc: &hipChannelFormatDesc) -> HipResult<(hipArray_Format, u32)> {
    match format_of(desc) {
        Some(format) => Ok(format),
        None => fail!(
            hipErrorInvalidValue,
            "channels of {}, {}, {}, {} bits of kind {} are not supported",
            desc.x,
            desc.y,
            desc.z,
            desc.w,
            desc.f
        ),
    }
}

/// The description of a format.
pub(crate) fn desc_of(format: hipArray_Format, channels: u32) -> hipChannelFormatDesc {
    let bits = format_size(format).unwrap_or(0) as i32 * 8;
    let at = |index| if channels > index { bits } else { 0 };
    let f = match format {
        HIP_AD_FORMAT_HALF | HIP_AD_FORMAT_FLOAT => hipChannelFormatKindFloat,
        HIP_AD_FORMAT_SIGNED_INT8 | HIP_AD_FORMAT_SIGNED_INT16 | HIP_AD_FORMAT_SIGNED_INT32 => {
            hipChannelFormatKindSigned
        }
        _ => hipChannelFormatKindUnsigned,
    };
    hipChannelFormatDesc {
        x: at(0),
        y: at(1),
        z: at(2),
        w: at(3),
        f,
    }
}

/// What a program asks for.
pub(crate) struct Wanted {
    pub extent: [usize; 3],
    pub format: hipArray_Format,
    pub channels: u32,
    pub flags: u32,
    /// By the driver API.
    pub driver: bool,
}

/// Checks an array's extent against the images of the current device.
fn check_limits(wanted: &Wanted) -> HipResult {
    let properties = runtime::current()?.clr.properties();
    if !properties.images {
        return fail!(
            hipErrorNotSupported,
            "{} has no images: arrays are not supported there",
            properties.gfx_name
        );
    }
    let [width, height, depth] = wanted.extent;
    let limits = &properties.image_limits;
    let (plane, slices) = if wanted.flags & (hipArrayLayered | hipArrayCubemap) == 0 && depth != 0 {
        ([limits.d3[0], limits.d3[1]], limits.d3[2])
    } else {
        (limits.d2, limits.layers)
    };
    if width > plane[0] as usize || height > plane[1] as usize || depth > slices as usize {
        return fail!(
            hipErrorInvalidValue,
            "an array of {width} by {height} by {depth} elements; possible are {} by {} by {slices}",
            plane[0],
            plane[1]
        );
    }
    Ok(())
}

/// Checks what a program asks for; gives the bytes of an element.
pub(crate) fn check(wanted: &Wanted) -> HipResult<usize> {
    let [width, height, depth] = wanted.extent;
    let Some(channel) = format_size(wanted.format).filter(|_| matches!(wanted.channels, 1 | 2 | 4))
    else {
        return fail!(
            hipErrorInvalidValue,
            "format {:#x} with {} channels does not exist",
            wanted.format,
            wanted.channels
        );
    };
    // Rows without columns of slices are layers of one dimension.
    let layered = wanted.flags & hipArrayLayered != 0;
    if width == 0 || (height == 0 && depth != 0 && !layered) || (layered && depth == 0) {
        return fail!(
            hipErrorInvalidValue,
            "an array of {width} by {height} by {depth} elements"
        );
    }
    if wanted.flags
        & !(hipArrayLayered | hipArraySurfaceLoadStore | hipArrayCubemap | hipArrayTextureGather)
        != 0
    {
        return fail!(
            hipErrorInvalidValue,
            "array flags {:#x} are not all known",
            wanted.flags
        );
    }
    let cube = wanted.flags & hipArrayCubemap != 0;
    let faces = if layered { depth % 6 == 0 } else { depth == 6 };
    if cube && (width != height || !faces) {
        return fail!(
            hipErrorInvalidValue,
            "a cube map has six faces (or six for each layer) whose width is their height, not {width} by {height} by {depth}"
        );
    }
    if wanted.flags & hipArrayTextureGather != 0 && (height == 0 || depth != 0) {
        return fail!(
            hipErrorInvalidValue,
            "gather arrays have two dimensions, not {width} by {height} by {depth}"
        );
    }
    check_limits(wanted)?;
    Ok(channel * wanted.channels as usize)
}

fn create(out: *mut hipArray_t, wanted: &Wanted) -> HipResult {
    if out.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the array");
    }
    let element = check(wanted)?;
    let [width, height, depth] = wanted.extent;
    let pitch = width
        .checked_mul(element)
        .and_then(|row| row.checked_next_multiple_of(PITCH_ALIGNMENT));
    let size = pitch.and_then(|pitch| pitch.checked_mul(height.max(1))?.checked_mul(depth.max(1)));
    let (Some(pitch), Some(size)) = (pitch, size) else {
        return fail!(
            hipErrorOutOfMemory,
            "an array of {width} by {height} by {depth} elements is too big"
        );
    };
    let mut data = std::ptr::null_mut();
    memory::allocate(&raw mut data, size, false)?;
    let shape = Shape {
        data: data.addr(),
        width,
        height,
        depth,
        element,
        pitch,
        format: wanted.format,
        channels: wanted.channels,
        desc: desc_of(wanted.format, wanted.channels),
        flags: wanted.flags,
        owner: 0,
    };
    // SAFETY: not null; the caller promises a valid place.
    unsafe { out.write(register(shape, wanted.driver)) };
    Ok(())
}

/// Makes the handle of an array.
pub(crate) fn register(shape: Shape, driver: bool) -> hipArray_t {
    let record = Box::into_raw(Box::new(hipArray {
        data: std::ptr::with_exposed_provenance_mut(shape.data),
        desc: shape.desc,
        r#type: shape.flags,
        width: shape.width as u32,
        height: shape.height as u32,
        depth: shape.depth as u32,
        Format: shape.format,
        NumChannels: shape.channels,
        isDrv: driver,
        textureType: 0,
    }));
    ARRAYS.lock().insert(record.expose_provenance(), shape);
    record
}

/// Forgets the arrays that are levels of a mipmapped one.
pub(crate) fn forget_levels(owner: usize) {
    let levels: Vec<_> = ARRAYS
        .lock()
        .extract_if(|_, shape| shape.owner == owner)
        .collect();
    for (address, _) in levels {
        let record = std::ptr::with_exposed_provenance_mut::<hipArray>(address);
        // SAFETY: the map held it, so it came from `Box::into_raw` in `register` and was not freed.
        drop(unsafe { Box::from_raw(record) });
    }
}

/// What freeing an array gives that is not there.
pub(crate) fn error_of_destroyed() -> hipError_t {
    // AMD's runtime has a list of live arrays, and this error, from 5.6 on at the latest.
    match presented() {
        Major::Five => hipErrorInvalidValue,
        Major::Six | Major::Seven => hipErrorContextIsDestroyed,
    }
}

fn destroy(array: hipArray_t) -> HipResult {
    let Some(shape) = ARRAYS.lock().remove(&array.addr()) else {
        return fail!(error_of_destroyed(), "{array:p} is not a live array");
    };
    // SAFETY: the map held it, so it came from `Box::into_raw` in `register` and was not freed.
    drop(unsafe { Box::from_raw(array) });
    if shape.owner != 0 {
        return Ok(());
    }
    let runtime = runtime::get()?;
    let _ = runtime::current()?.clr.synchronize();
    runtime.clr.free(shape.data).map_err(hip_error)?;
    Ok(())
}

/// # Safety
/// A description that is not null must be valid.
unsafe fn create_from_desc(
    out: *mut hipArray_t,
    desc: *const hipChannelFormatDesc,
    extent: [usize; 3],
    flags: u32,
) -> HipResult {
    if desc.is_null() {
        return fail!(hipErrorInvalidValue, "no channel description");
    }
    // SAFETY: not null; the caller promises a valid record.
    let desc = unsafe { desc.read() };
    let (format, channels) = known_format_of(&desc)?;
    create(
        out,
        &Wanted {
            extent,
            format,
            channels,
            flags,
            driver: false,
        },
    )
}

/// Creates an array of one or two dimensions.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMallocArray(
    array: *mut hipArray_t,
    desc: *const hipChannelFormatDesc,
    width: usize,
    height: usize,
    flags: u32,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { create_from_desc(array, desc, [width, height, 0], flags) }
}

/// Creates an array of up to three dimensions.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMalloc3DArray(
    array: *mut hipArray_t,
    desc: *const hipChannelFormatDesc,
    extent: hipExtent,
    flags: u32,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe {
        create_from_desc(
            array,
            desc,
            [extent.width, extent.height, extent.depth],
            flags,
        )
    }
}

/// Creates an array of one or two dimensions (driver API).
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipArrayCreate(
    pHandle: *mut hipArray_t,
    pAllocateArray: *const HIP_ARRAY_DESCRIPTOR,
) -> hipError_t {
    if pAllocateArray.is_null() {
        return fail!(hipErrorInvalidValue, "no description");
    }
    // SAFETY: not null; the caller promises a valid record.
    let d = unsafe { pAllocateArray.read() };
    create(
        pHandle,
        &Wanted {
            extent: [d.Width, d.Height, 0],
            format: d.Format,
            channels: d.NumChannels,
            flags: 0,
            driver: true,
        },
    )
}

/// Creates an array of up to three dimensions (driver API).
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipArray3DCreate(
    array: *mut hipArray_t,
    pAllocateArray: *const HIP_ARRAY3D_DESCRIPTOR,
) -> hipError_t {
    if pAllocateArray.is_null() {
        return fail!(hipErrorInvalidValue, "no description");
    }
    // SAFETY: not null; the caller promises a valid record.
    let d = unsafe { pAllocateArray.read() };
    create(
        array,
        &Wanted {
            extent: [d.Width, d.Height, d.Depth],
            format: d.Format,
            channels: d.NumChannels,
            flags: d.Flags,
            driver: true,
        },
    )
}

/// Frees an array.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipFreeArray(array: hipArray_t) -> hipError_t {
    if array.is_null() {
        return fail!(hipErrorInvalidValue, "null array");
    }
    destroy(array)
}

/// Frees an array (driver API).
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipArrayDestroy(array: hipArray_t) -> hipError_t {
    if array.is_null() {
        return fail!(hipErrorInvalidValue, "null array");
    }
    destroy(array)
}

/// Tells an array's format, size and flags; null places are passed over.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipArrayGetInfo(
    desc: *mut hipChannelFormatDesc,
    extent: *mut hipExtent,
    flags: *mut u32,
    array: hipArray_t,
) -> hipError_t {
    let shape = shape(array)?;
    // SAFETY: each is null or a valid place.
    unsafe {
        if !desc.is_null() {
            desc.write(shape.desc);
        }
        if !extent.is_null() {
            extent.write(hipExtent {
                width: shape.width,
                height: shape.height,
                depth: shape.depth,
            });
        }
        if !flags.is_null() {
            flags.write(shape.flags);
        }
    }
    Ok(())
}

/// Tells an array's shape (driver API).
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipArrayGetDescriptor(
    pArrayDescriptor: *mut HIP_ARRAY_DESCRIPTOR,
    array: hipArray_t,
) -> hipError_t {
    if pArrayDescriptor.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the description");
    }
    let shape = shape(array)?;
    let value = HIP_ARRAY_DESCRIPTOR {
        Width: shape.width,
        Height: shape.height,
        Format: shape.format,
        NumChannels: shape.channels,
    };
    // SAFETY: not null; the caller promises a valid place.
    unsafe { pArrayDescriptor.write(value) };
    Ok(())
}

/// Tells an array's shape in three dimensions (driver API).
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipArray3DGetDescriptor(
    pArrayDescriptor: *mut HIP_ARRAY3D_DESCRIPTOR,
    array: hipArray_t,
) -> hipError_t {
    if pArrayDescriptor.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the description");
    }
    let shape = shape(array)?;
    let value = HIP_ARRAY3D_DESCRIPTOR {
        Width: shape.width,
        Height: shape.height,
        Depth: shape.depth,
        Format: shape.format,
        NumChannels: shape.channels,
        Flags: shape.flags,
    };
    // SAFETY: not null; the caller promises a valid place.
    unsafe { pArrayDescriptor.write(value) };
    Ok(())
}

/// Tells an array's channel format.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetChannelDesc(
    desc: *mut hipChannelFormatDesc,
    array: hipArray_t,
) -> hipError_t {
    if desc.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the description");
    }
    let value = shape(array)?.desc;
    // SAFETY: not null; the caller promises a valid place.
    unsafe { desc.write(value) };
    Ok(())
}

/// Makes a channel description.
///
/// # Safety
/// None.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipCreateChannelDesc(
    x: i32,
    y: i32,
    z: i32,
    w: i32,
    f: hipChannelFormatKind,
) -> hipChannelFormatDesc {
    hipChannelFormatDesc { x, y, z, w, f }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_and_descriptions_agree() {
        for format in [
            HIP_AD_FORMAT_FLOAT,
            HIP_AD_FORMAT_HALF,
            HIP_AD_FORMAT_SIGNED_INT8,
            HIP_AD_FORMAT_UNSIGNED_INT16,
        ] {
            for channels in [1, 2, 4] {
                assert_eq!(
                    format_of(&desc_of(format, channels)),
                    Some((format, channels))
                );
            }
        }
        assert_eq!(
            format_of(&hipChannelFormatDesc {
                x: 32,
                y: 32,
                z: 32,
                w: 0,
                f: hipChannelFormatKindFloat
            }),
            None
        );
        assert_eq!(
            format_of(&hipChannelFormatDesc {
                x: 32,
                y: 16,
                z: 0,
                w: 0,
                f: hipChannelFormatKindFloat
            }),
            None
        );
    }

    #[test]
    fn foreign_arrays_are_refused() {
        assert_eq!(
            element_size(std::ptr::without_provenance_mut(0x1234)).err(),
            Some(hipErrorInvalidHandle)
        );
    }
}
