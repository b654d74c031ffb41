//! Texture objects: an image over an array or over memory, and a sampler.
//!
//! A handle is the address of memory that kernels read: twelve dwords of the image's descriptor and eight of the sampler's, as the
//! texture functions of HIP's headers expect them. What calls rely on is kept in a table by that address.
//!
//! * Each dimension has its own addressing mode. AMD's runtimes before ROCm 7 use the first dimension's for all.
//! * With coordinates in texels, wrapping and mirroring mean clamping, as HIP says.
//! * The border is transparent black, whatever `borderColor` says: so it is on AMD's cards.
//! * Limits of the level of detail of mipmapped arrays hold, unless both are 0, which a cleared description and every texture reference has:
//!   AMD's runtime on Windows, the only one with mipmapped arrays, never looks at them.
//! * Faces of cube maps are sampled on their own, to their edges, as CUDA does it unless it is told to be seamless.
//! * Refused by name: anisotropy, level bias of arrays without levels, views of some layers only, and linear filtering of arrays with slices on
//!   gfx90a, whose hardware lacks it; mipmapped and cube map arrays over AMD's HSA library, which has none.

use std::{
    collections::HashMap,
    ffi::c_void,
    sync::{Arc, LazyLock},
};

use gneiss_clr::{
    AddressingMode, HostFlags, IMAGE_DWORDS, ImageDescription, ImageGeometry, ImageLevels,
    ImageView, Memory, SAMPLER_DWORDS, SamplerDescription, SamplerLevels, SamplerView,
};
use gneiss_hip_abi_macros::hip_api;
use parking_lot::Mutex;

use crate::{
    array::{Shape, shape},
    enums::*,
    error::*,
    fail, mipmapped_array,
    runtime::{self, Device, hip_error},
    texture_format::{ElementFormat, geometry},
    texture_types::*,
    types::*,
};

/// Alignment of textured memory and of its rows in bytes.
pub(crate) const ALIGNMENT: usize = 256;

/// What kernels read of a texture or surface.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Descriptors {
    image: [u32; IMAGE_DWORDS],
    sampler: [u32; SAMPLER_DWORDS],
}

/// Memory that holds the descriptors of a texture or surface object.
#[derive(Debug)]
pub(crate) struct ObjectMemory {
    memory: Arc<Memory>,
    address: usize,
}

impl ObjectMemory {
    /// Memory for an object of a device, with its descriptors.
    pub(crate) fn new(
        device: &Device,
        image: &ImageView,
        sampler: Option<&SamplerView>,
    ) -> HipResult<Self> {
        let memory = runtime::get()?
            .clr
            .allocate_host(
                &device.clr,
                size_of::<Descriptors>(),
                HostFlags::MAPPED | HostFlags::COHERENT,
            )
            .map_err(hip_error)?;
        let address = memory.device_address() as usize;
        let Some(host) = memory.host_address() else {
            return fail!(hipErrorOutOfMemory, "pinned memory without a host address");
        };
        let descriptors = Descriptors {
            image: *image.descriptor(),
            sampler: sampler.map_or([0; SAMPLER_DWORDS], |sampler| *sampler.descriptor()),
        };
        // SAFETY: new memory of this size, aligned to a page, that nobody else knows of.
        unsafe { std::ptr::with_exposed_provenance_mut::<Descriptors>(host).write(descriptors) };
        Ok(Self { memory, address })
    }

    /// The handle.
    pub(crate) fn handle(&self) -> *mut c_void {
        std::ptr::with_exposed_provenance_mut(self.address)
    }

    /// Frees the memory once the device's work, which may read it, has ended.
    pub(crate) fn free(&self) -> HipResult {
        let runtime = runtime::get()?;
        let _ = self.memory.device().synchronize();
        let base = self.memory.host_address().unwrap_or(self.address);
        runtime.clr.free(base).map_err(hip_error)?;
        Ok(())
    }
}

/// A texture object.
#[derive(Debug)]
struct Texture {
    memory: ObjectMemory,
    resource: hipResourceDesc,
    texture: hipTextureDesc,
    view: hipResourceViewDesc,
    _image: ImageView,
    _sampler: SamplerView,
}

// SAFETY: the pointers in the descriptions are the program's, kept to be given back; nobody follows them.
unsafe impl Send for Texture {}

static TEXTURES: LazyLock<Mutex<HashMap<usize, Texture>>> = LazyLock::new(Mutex::default);

/// The current device, which must have images.
pub(crate) fn device_with_images() -> HipResult<&'static Device> {
    let device = runtime::current()?;
    if !device.clr.properties().images {
        return fail!(
            hipErrorNotSupported,
            "{} has no images: textures and surfaces are not supported there",
            device.clr.properties().gfx_name
        );
    }
    Ok(device)
}

/// The image of an array, with its own or another format of the same size.
pub(crate) fn array_image(
    array: hipArray_t,
    format: Option<ElementFormat>,
    normalised: bool,
    srgb: bool,
) -> HipResult<(ImageDescription, u64)> {
    let Ok(shape) = shape(array) else {
        return fail!(hipErrorInvalidValue, "{array:p} is not a live array");
    };
    let description = shape_image(&shape, format, normalised, srgb)?;
    Ok((description, shape.data as u64))
}

/// The image of the memory of an array, with its own or another format of the same size.
pub(crate) fn shape_image(
    shape: &Shape,
    format: Option<ElementFormat>,
    normalised: bool,
    srgb: bool,
) -> HipResult<ImageDescription> {
    let own = ElementFormat {
        channel: shape.format,
        channels: shape.channels,
    };
    let format = format.unwrap_or(own);
    if format.size() != own.size() {
        return fail!(
            hipErrorInvalidValue,
            "elements of {} bytes cannot be seen as elements of {}",
            own.size(),
            format.size()
        );
    }
    Ok(ImageDescription {
        geometry: geometry(shape),
        width: shape.width,
        height: shape.height,
        depth: shape.depth,
        channel_type: format.channel_type(normalised),
        channel_order: format.channel_order(srgb),
        row_pitch: shape.pitch,
        levels: ImageLevels::ONE,
    })
}

/// Checks that `size` bytes at an address are memory of HIP's, aligned for images.
fn check_memory(address: *mut c_void, size: usize) -> HipResult {
    if address.is_null() || !address.addr().is_multiple_of(ALIGNMENT) {
        return fail!(
            hipErrorInvalidValue,
            "textured memory at {address:p} is not aligned to {ALIGNMENT} bytes"
        );
    }
    let found = runtime::get()?.clr.find_memory(address.addr());
    if found.is_none_or(|(memory, offset)| size > memory.size() - offset) {
        return fail!(
            hipErrorInvalidValue,
            "{size} bytes at {address:p} are not memory of one allocation"
        );
    }
    Ok(())
}

/// The image of linear memory: a buffer that kernels address by index.
fn linear_image(
    linear: &hipResourceLinear,
    limit: u32,
    normalised: bool,
    srgb: bool,
) -> HipResult<(ImageDescription, u64)> {
    let format = ElementFormat::of_desc(&linear.desc)?;
    let width = linear.sizeInBytes / format.size();
    if width == 0 || width >= limit as usize {
        return fail!(
            hipErrorInvalidValue,
            "{} bytes of linear memory hold {width} elements; possible are 1 to {}",
            linear.sizeInBytes,
            limit.saturating_sub(1)
        );
    }
    check_memory(linear.devPtr, linear.sizeInBytes)?;
    let description = ImageDescription {
        geometry: ImageGeometry::Buffer,
        width,
        height: 0,
        depth: 0,
        channel_type: format.channel_type(normalised),
        channel_order: format.channel_order(srgb),
        row_pitch: 0,
        levels: ImageLevels::ONE,
    };
    Ok((description, linear.devPtr.expose_provenance() as u64))
}

/// The image of rows of memory.
fn pitched_image(
    rows: &hipResourcePitch2D,
    limit: [u32; 2],
    normalised: bool,
    srgb: bool,
) -> HipResult<(ImageDescription, u64)> {
    let format = ElementFormat::of_desc(&rows.desc)?;
    let fits = rows.width != 0
        && rows.height != 0
        && rows.width < limit[0] as usize
        && rows.height < limit[1] as usize
        && rows.pitchInBytes.is_multiple_of(ALIGNMENT)
        && rows.pitchInBytes >= rows.width * format.size();
    let size = rows.pitchInBytes.checked_mul(rows.height.max(1) - 1);
    let Some(size) = size
        .and_then(|size| size.checked_add(rows.width * format.size()))
        .filter(|_| fits)
    else {
        return fail!(
            hipErrorInvalidValue,
            "{} by {} elements of {} bytes with a pitch of {} bytes (a multiple of {ALIGNMENT}) cannot be textured",
            rows.width,
            rows.height,
            format.size(),
            rows.pitchInBytes
        );
    };
    check_memory(rows.devPtr, size)?;
    let description = ImageDescription {
        geometry: ImageGeometry::D2,
        width: rows.width,
        height: rows.height,
        depth: 0,
        channel_type: format.channel_type(normalised),
        channel_order: format.channel_order(srgb),
        row_pitch: rows.pitchInBytes,
        levels: ImageLevels::ONE,
    };
    Ok((description, rows.devPtr.expose_provenance() as u64))
}

fn sampler(texture: &hipTextureDesc, resource: hipResourceType) -> HipResult<SamplerDescription> {
    let linear_memory = resource == hipResourceTypeLinear;
    let mipmapped = resource == hipResourceTypeMipmappedArray;
    let normalised = texture.normalizedCoords != 0;
    let linear = match texture.filterMode {
        // Linear memory is read by index.
        _ if linear_memory => false,
        hipFilterModePoint => false,
        hipFilterModeLinear => true,
        other => return fail!(hipErrorInvalidValue, "filter mode {other} does not exist"),
    };
    let mut addressing = [AddressingMode::ClampToEdge; 3];
    if !linear_memory {
        for (place, mode) in addressing.iter_mut().zip(texture.addressMode) {
            *place = match mode {
                hipAddressModeWrap if normalised => AddressingMode::Repeat,
                hipAddressModeMirror if normalised => AddressingMode::MirroredRepeat,
                hipAddressModeWrap | hipAddressModeMirror | hipAddressModeClamp => {
                    AddressingMode::ClampToEdge
                }
                hipAddressModeBorder => AddressingMode::ClampToBorder,
                other => {
                    return fail!(hipErrorInvalidValue, "address mode {other} does not exist");
                }
            };
        }
    }
    Ok(SamplerDescription {
        normalised,
        linear,
        addressing,
        levels: mipmapped.then(|| sampler_levels(texture)).transpose()?,
    })
}

fn sampler_levels(texture: &hipTextureDesc) -> HipResult<SamplerLevels> {
    let linear = match texture.mipmapFilterMode {
        hipFilterModePoint => false,
        hipFilterModeLinear => true,
        other => {
            return fail!(
                hipErrorInvalidValue,
                "mipmap filter mode {other} does not exist"
            );
        }
    };
    let [least, greatest] = [texture.minMipmapLevelClamp, texture.maxMipmapLevelClamp];
    let bias = texture.mipmapLevelBias;
    // Not the other way round: NaN is refused.
    let ordered = least <= greatest;
    if !ordered || !bias.is_finite() {
        return fail!(
            hipErrorInvalidValue,
            "levels of detail from {least} to {greatest} with a bias of {bias}"
        );
    }
    let unlimited = least == 0.0 && greatest == 0.0;
    Ok(SamplerLevels {
        linear,
        bias,
        least,
        greatest: if unlimited { f32::MAX } else { greatest },
    })
}

pub(crate) fn check_view(view: &hipResourceViewDesc, depth: usize) -> HipResult<ElementFormat> {
    let all_layers = view.lastLayer == 0 || view.lastLayer as usize + 1 == depth;
    if view.firstLayer != 0 || !all_layers {
        return fail!(
            hipErrorNotSupported,
            "a view of some of the layers is not supported"
        );
    }
    ElementFormat::of_view(view.format)
}

/// The image of an array or of all levels of one.
fn any_array_image(
    resource: &hipResourceDesc,
    texture: &hipTextureDesc,
    view: Option<&hipResourceViewDesc>,
    normalised: bool,
    device: &Device,
) -> HipResult<(ImageDescription, u64)> {
    let srgb = texture.sRGB == 1;
    let (description, data) = if resource.resType == hipResourceTypeArray {
        // SAFETY: the type says that this is the union's member.
        let array = unsafe { resource.res.array.array };
        let Ok(shape) = shape(array) else {
            return fail!(hipErrorInvalidValue, "{array:p} is not a live array");
        };
        let format = view.map(|view| check_view(view, shape.depth)).transpose()?;
        if let Some(view) = view.filter(|v| v.firstMipmapLevel != 0 || v.lastMipmapLevel != 0) {
            return fail!(
                hipErrorInvalidValue,
                "a view of levels {} to {} of an array without",
                view.firstMipmapLevel,
                view.lastMipmapLevel
            );
        }
        let description = shape_image(&shape, format, normalised, srgb)?;
        (description, shape.data as u64)
    } else {
        // SAFETY: as above.
        let array = unsafe { resource.res.mipmap.mipmap };
        mipmapped_array::image(array, texture, view, normalised)?
    };
    if description.depth > 0
        && texture.filterMode == hipFilterModeLinear
        && device.clr.properties().gfx_name == "gfx90a"
    {
        return fail!(
            hipErrorNotSupported,
            "gfx90a has no linear filter for arrays with slices"
        );
    }
    Ok((description, data))
}

/// Makes a texture object.
pub(crate) fn create(
    resource: &hipResourceDesc,
    texture: &hipTextureDesc,
    view: Option<&hipResourceViewDesc>,
) -> HipResult<hipTextureObject_t> {
    let device = device_with_images()?;
    let limits = device.clr.properties().image_limits;
    let mipmapped = resource.resType == hipResourceTypeMipmappedArray;
    if texture.maxAnisotropy != 0 || (texture.mipmapLevelBias != 0.0 && !mipmapped) {
        return fail!(
            hipErrorNotSupported,
            "anisotropic filtering, and level bias without levels, are not supported"
        );
    }
    if view.is_some() && !mipmapped && resource.resType != hipResourceTypeArray {
        return fail!(hipErrorInvalidValue, "only arrays can have a view");
    }
    let normalised = match texture.readMode {
        hipReadModeElementType => false,
        hipReadModeNormalizedFloat => true,
        other => return fail!(hipErrorInvalidValue, "read mode {other} does not exist"),
    };
    let srgb = texture.sRGB == 1;
    let (description, data) = match resource.resType {
        hipResourceTypeArray | hipResourceTypeMipmappedArray => {
            any_array_image(resource, texture, view, normalised, device)?
        }
        hipResourceTypeLinear => {
            // SAFETY: the type says that this is the union's member.
            let linear = unsafe { resource.res.linear };
            linear_image(&linear, limits.buffer, normalised, srgb)?
        }
        hipResourceTypePitch2D => {
            // SAFETY: as above.
            let rows = unsafe { resource.res.pitch2D };
            pitched_image(&rows, limits.d2, normalised, srgb)?
        }
        other => return fail!(hipErrorInvalidValue, "resource type {other} does not exist"),
    };
    let sampler = sampler(texture, resource.resType)?;
    let image = ImageView::new(&device.clr, &description, data).map_err(hip_error)?;
    let sampler = SamplerView::new(&device.clr, &sampler).map_err(hip_error)?;
    let memory = ObjectMemory::new(device, &image, Some(&sampler))?;
    let handle = memory.handle();
    let object = Texture {
        memory,
        resource: *resource,
        texture: *texture,
        view: view.copied().unwrap_or_default(),
        _image: image,
        _sampler: sampler,
    };
    TEXTURES.lock().insert(handle.addr(), object);
    Ok(handle)
}

/// Destroys a texture object; null is none.
pub(crate) fn destroy(object: hipTextureObject_t) -> HipResult {
    if object.is_null() {
        return Ok(());
    }
    let Some(texture) = TEXTURES.lock().remove(&object.addr()) else {
        return fail!(hipErrorInvalidValue, "{object:p} is not a texture object");
    };
    texture.memory.free()
}

/// Something of a texture object.
pub(crate) fn query<T>(
    object: hipTextureObject_t,
    what: impl FnOnce(&hipResourceDesc, &hipTextureDesc, &hipResourceViewDesc) -> T,
) -> HipResult<T> {
    device_with_images()?;
    match TEXTURES.lock().get(&object.addr()) {
        Some(texture) => Ok(what(&texture.resource, &texture.texture, &texture.view)),
        None => fail!(hipErrorInvalidValue, "{object:p} is not a texture object"),
    }
}

/// Creates a texture object.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipCreateTextureObject(
    pTexObject: *mut hipTextureObject_t,
    pResDesc: *const hipResourceDesc,
    pTexDesc: *const hipTextureDesc,
    pResViewDesc: *const hipResourceViewDesc,
) -> hipError_t {
    device_with_images()?;
    if pTexObject.is_null() || pResDesc.is_null() || pTexDesc.is_null() {
        return fail!(hipErrorInvalidValue, "a null pointer");
    }
    // SAFETY: not null, or checked; the caller promises valid records and a valid place.
    unsafe {
        let object = create(&*pResDesc, &*pTexDesc, pResViewDesc.as_ref())?;
        pTexObject.write(object);
    }
    Ok(())
}

/// Destroys a texture object; null is none.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDestroyTextureObject(textureObject: hipTextureObject_t) -> hipError_t {
    if !textureObject.is_null() {
        device_with_images()?;
    }
    destroy(textureObject)
}

/// Tells a texture object's resource.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetTextureObjectResourceDesc(
    pResDesc: *mut hipResourceDesc,
    textureObject: hipTextureObject_t,
) -> hipError_t {
    if pResDesc.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the description");
    }
    let value = query(textureObject, |resource, _, _| *resource)?;
    // SAFETY: not null; the caller promises a valid place.
    unsafe { pResDesc.write(value) };
    Ok(())
}

/// Tells a texture object's view of its resource; all zero if there is none.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetTextureObjectResourceViewDesc(
    pResViewDesc: *mut hipResourceViewDesc,
    textureObject: hipTextureObject_t,
) -> hipError_t {
    if pResViewDesc.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the description");
    }
    let value = query(textureObject, |_, _, view| *view)?;
    // SAFETY: not null; the caller promises a valid place.
    unsafe { pResViewDesc.write(value) };
    Ok(())
}

/// Tells how a texture object is read.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetTextureObjectTextureDesc(
    pTexDesc: *mut hipTextureDesc,
    textureObject: hipTextureObject_t,
) -> hipError_t {
    if pTexDesc.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the description");
    }
    let value = query(textureObject, |_, texture, _| *texture)?;
    // SAFETY: not null; the caller promises a valid place.
    unsafe { pTexDesc.write(value) };
    Ok(())
}

/// Tells how many elements a linear texture can have.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetTexture1DLinearMaxWidth(
    maxWidthInElements: *mut usize,
    fmtDesc: *const hipChannelFormatDesc,
    device: i32,
) -> hipError_t {
    if maxWidthInElements.is_null() || fmtDesc.is_null() {
        return fail!(hipErrorInvalidValue, "a null pointer");
    }
    let device = runtime::device(device)?;
    // SAFETY: not null; the caller promises a valid record.
    let format = ElementFormat::of_desc(unsafe { &*fmtDesc })?;
    let bytes = crate::device_facts::linear_texture_bytes(device);
    // SAFETY: not null; the caller promises a valid place.
    unsafe { maxWidthInElements.write(bytes as usize / format.size()) };
    Ok(())
}
