//! Texture references through the driver API: their settings one by one, and what is bound to them.

use gneiss_hip_abi_macros::hip_api;

use crate::{
    array::shape,
    enums::*,
    error::*,
    fail, mipmapped_array, texture,
    texture_format::ElementFormat,
    texture_reference::{Owner, bind_array, bind_linear, bind_mipmapped, bind_rows, given},
    texture_types::*,
    types::*,
};

/// Sets the format of a reference's elements.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipTexRefSetFormat(
    texRef: *mut textureReference,
    fmt: hipArray_Format,
    NumPackedComponents: i32,
) -> hipError_t {
    // SAFETY: null or valid, as the caller promises.
    let reference = unsafe { given(texRef)? };
    let channels = u32::try_from(NumPackedComponents).unwrap_or(0);
    ElementFormat::of_driver(fmt, channels)?;
    reference.format = fmt;
    reference.numChannels = NumPackedComponents;
    Ok(())
}

/// Sets how a reference is read: `HIP_TRSF_…`.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipTexRefSetFlags(
    texRef: *mut textureReference,
    Flags: u32,
) -> hipError_t {
    // SAFETY: null or valid, as the caller promises.
    let reference = unsafe { given(texRef)? };
    reference.readMode = if Flags & HIP_TRSF_READ_AS_INTEGER != 0 {
        hipReadModeElementType
    } else {
        hipReadModeNormalizedFloat
    };
    reference.normalized = i32::from(Flags & HIP_TRSF_NORMALIZED_COORDINATES != 0);
    reference.sRGB = i32::from(Flags & HIP_TRSF_SRGB != 0);
    Ok(())
}

/// Sets the filter.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipTexRefSetFilterMode(
    texRef: *mut textureReference,
    fm: hipTextureFilterMode,
) -> hipError_t {
    // SAFETY: null or valid, as the caller promises.
    unsafe { given(texRef)? }.filterMode = fm;
    Ok(())
}

/// Sets the addressing of a dimension.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipTexRefSetAddressMode(
    texRef: *mut textureReference,
    dim: i32,
    am: hipTextureAddressMode,
) -> hipError_t {
    // SAFETY: null or valid, as the caller promises.
    let reference = unsafe { given(texRef)? };
    let Some(mode) = usize::try_from(dim)
        .ok()
        .and_then(|dim| reference.addressMode.get_mut(dim))
    else {
        return fail!(hipErrorInvalidValue, "dimension {dim} does not exist");
    };
    *mode = am;
    Ok(())
}

/// Sets the greatest anisotropy; other than 0 cannot be bound.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipTexRefSetMaxAnisotropy(
    texRef: *mut textureReference,
    maxAniso: u32,
) -> hipError_t {
    // SAFETY: null or valid, as the caller promises.
    unsafe { given(texRef)? }.maxAnisotropy = maxAniso;
    Ok(())
}

/// Sets the filter between mipmap levels.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipTexRefSetMipmapFilterMode(
    texRef: *mut textureReference,
    fm: hipTextureFilterMode,
) -> hipError_t {
    // SAFETY: null or valid, as the caller promises.
    unsafe { given(texRef)? }.mipmapFilterMode = fm;
    Ok(())
}

/// Sets the level bias; other than 0 can be bound to mipmapped arrays only.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipTexRefSetMipmapLevelBias(
    texRef: *mut textureReference,
    bias: f32,
) -> hipError_t {
    // SAFETY: null or valid, as the caller promises.
    unsafe { given(texRef)? }.mipmapLevelBias = bias;
    Ok(())
}

/// Sets the least and the greatest level.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipTexRefSetMipmapLevelClamp(
    texRef: *mut textureReference,
    minMipMapLevelClamp: f32,
    maxMipMapLevelClamp: f32,
) -> hipError_t {
    // SAFETY: null or valid, as the caller promises.
    let reference = unsafe { given(texRef)? };
    reference.minMipmapLevelClamp = minMipMapLevelClamp;
    reference.maxMipmapLevelClamp = maxMipMapLevelClamp;
    Ok(())
}

/// Binds an array to a module's reference, with the array's format.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipTexRefSetArray(
    tex: *mut textureReference,
    array: hipArray_t,
    flags: u32,
) -> hipError_t {
    // SAFETY: null or valid, as the caller promises.
    let reference = unsafe { given(tex)? };
    if array.is_null() || flags != HIP_TRSA_OVERRIDE_FORMAT {
        return fail!(
            hipErrorInvalidValue,
            "no array, or flags {flags:#x} that are not HIP_TRSA_OVERRIDE_FORMAT"
        );
    }
    let Ok(shape) = shape(array) else {
        return fail!(hipErrorInvalidValue, "{array:p} is not a live array");
    };
    let format = ElementFormat::of_driver(shape.format, shape.channels)?;
    reference.format = format.channel;
    reference.numChannels = format.channels as i32;
    bind_array(reference, Owner::Module, array, format)
}

/// Binds all levels of a mipmapped array to a module's reference, with the array's format.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipTexRefSetMipmappedArray(
    texRef: *mut textureReference,
    mipmappedArray: hipMipmappedArray_t,
    Flags: u32,
) -> hipError_t {
    // SAFETY: null or valid, as the caller promises.
    let reference = unsafe { given(texRef)? };
    if mipmappedArray.is_null() || Flags != HIP_TRSA_OVERRIDE_FORMAT {
        return fail!(
            hipErrorInvalidValue,
            "no array, or flags {Flags:#x} that are not HIP_TRSA_OVERRIDE_FORMAT"
        );
    }
    if let Ok((format, _)) = mipmapped_array::format(mipmappedArray) {
        reference.format = format.channel;
        reference.numChannels = format.channels as i32;
    }
    bind_mipmapped(reference, Owner::Module, mipmappedArray, None)
}

/// Binds linear memory to a module's reference.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipTexRefSetAddress(
    ByteOffset: *mut usize,
    texRef: *mut textureReference,
    dptr: hipDeviceptr_t,
    bytes: usize,
) -> hipError_t {
    // SAFETY: null or valid, as the caller promises.
    let reference = unsafe { given(texRef)? };
    let channels = u32::try_from(reference.numChannels).unwrap_or(0);
    let format = ElementFormat::of_driver(reference.format, channels)?;
    // SAFETY: the caller's place.
    unsafe { bind_linear(reference, Owner::Module, ByteOffset, dptr, format, bytes) }
}

/// Binds rows of memory to a module's reference.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipTexRefSetAddress2D(
    texRef: *mut textureReference,
    desc: *const HIP_ARRAY_DESCRIPTOR,
    dptr: hipDeviceptr_t,
    Pitch: usize,
) -> hipError_t {
    // SAFETY: null or valid, as the caller promises.
    let reference = unsafe { given(texRef)? };
    if desc.is_null() {
        return fail!(hipErrorInvalidValue, "no description");
    }
    // SAFETY: not null; the caller promises a valid record.
    let desc = unsafe { desc.read() };
    let format = ElementFormat::of_driver(desc.Format, desc.NumChannels)?;
    bind_rows(
        reference,
        Owner::Module,
        dptr,
        format,
        [desc.Width, desc.Height],
        Pitch,
    )
}

/// Tells the memory that a reference is bound to.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipTexRefGetAddress(
    dev_ptr: *mut hipDeviceptr_t,
    texRef: *const textureReference,
) -> hipError_t {
    // SAFETY: null or valid, as the caller promises.
    let reference = unsafe { given(texRef)? };
    let resource = texture::query(reference.textureObject, |resource, _, _| *resource)?;
    let address = match resource.resType {
        // SAFETY: the type says that this is the union's member.
        hipResourceTypeLinear => unsafe { resource.res.linear.devPtr },
        // SAFETY: the type says that this is the union's member.
        hipResourceTypePitch2D => unsafe { resource.res.pitch2D.devPtr },
        _ => return fail!(hipErrorInvalidValue, "the reference is bound to an array"),
    };
    if dev_ptr.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the address");
    }
    // SAFETY: not null; the caller promises a valid place.
    unsafe { dev_ptr.write(address) };
    Ok(())
}

/// Tells the array that a reference is bound to.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipTexRefGetArray(
    pArray: *mut hipArray_t,
    texRef: *const textureReference,
) -> hipError_t {
    // SAFETY: null or valid, as the caller promises.
    let reference = unsafe { given(texRef)? };
    let resource = texture::query(reference.textureObject, |resource, _, _| *resource)?;
    if pArray.is_null() || resource.resType != hipResourceTypeArray {
        return fail!(
            hipErrorInvalidValue,
            "no place for the array, or the reference is bound to memory"
        );
    }
    // SAFETY: not null; the caller promises a valid place; the type says which member of the union is meant.
    unsafe { pArray.write(resource.res.array.array) };
    Ok(())
}

/// Tells the mipmapped array that a reference is bound to.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipTexRefGetMipMappedArray(
    pArray: *mut hipMipmappedArray_t,
    texRef: *const textureReference,
) -> hipError_t {
    // SAFETY: null or valid, as the caller promises.
    let reference = unsafe { given(texRef)? };
    let resource = texture::query(reference.textureObject, |resource, _, _| *resource)?;
    if pArray.is_null() || resource.resType != hipResourceTypeMipmappedArray {
        return fail!(
            hipErrorInvalidValue,
            "no place for the array, or the reference is bound to something else"
        );
    }
    // SAFETY: not null; the caller promises a valid place; the type says which member of the union is meant.
    unsafe { pArray.write(resource.res.mipmap.mipmap) };
    Ok(())
}

/// Writes settings of a reference to the caller's places, of which none may be null.
macro_rules! tell {
    ($($place:ident = $value:expr),+) => {{
        $(if $place.is_null() {
            return fail!(hipErrorInvalidValue, "a null pointer");
        })+
        // SAFETY: not null; the caller promises valid places.
        unsafe { $($place.write($value);)+ }
        Ok(())
    }};
}

/// Tells the addressing of a dimension.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipTexRefGetAddressMode(
    pam: *mut hipTextureAddressMode,
    texRef: *const textureReference,
    dim: i32,
) -> hipError_t {
    // SAFETY: null or valid, as the caller promises.
    let reference = unsafe { given(texRef)? };
    let mode = usize::try_from(dim)
        .ok()
        .and_then(|dim| reference.addressMode.get(dim));
    match mode {
        Some(mode) => tell!(pam = *mode),
        None => fail!(hipErrorInvalidValue, "dimension {dim} does not exist"),
    }
}

/// Tells the filter.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipTexRefGetFilterMode(
    pfm: *mut hipTextureFilterMode,
    texRef: *const textureReference,
) -> hipError_t {
    // SAFETY: null or valid, as the caller promises.
    let reference = unsafe { given(texRef)? };
    tell!(pfm = reference.filterMode)
}

/// Tells how a reference is read: `HIP_TRSF_…`.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipTexRefGetFlags(
    pFlags: *mut u32,
    texRef: *const textureReference,
) -> hipError_t {
    // SAFETY: null or valid, as the caller promises.
    let reference = unsafe { given(texRef)? };
    let mut flags = 0;
    if reference.readMode == hipReadModeElementType {
        flags |= HIP_TRSF_READ_AS_INTEGER;
    }
    if reference.normalized == 1 {
        flags |= HIP_TRSF_NORMALIZED_COORDINATES;
    }
    if reference.sRGB == 1 {
        flags |= HIP_TRSF_SRGB;
    }
    tell!(pFlags = flags)
}

/// Tells the format of a reference's elements.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipTexRefGetFormat(
    pFormat: *mut hipArray_Format,
    pNumChannels: *mut i32,
    texRef: *const textureReference,
) -> hipError_t {
    // SAFETY: null or valid, as the caller promises.
    let reference = unsafe { given(texRef)? };
    tell!(
        pFormat = reference.format,
        pNumChannels = reference.numChannels
    )
}

/// Tells the greatest anisotropy.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipTexRefGetMaxAnisotropy(
    pmaxAnsio: *mut i32,
    texRef: *const textureReference,
) -> hipError_t {
    // SAFETY: null or valid, as the caller promises.
    let reference = unsafe { given(texRef)? };
    tell!(pmaxAnsio = reference.maxAnisotropy.cast_signed())
}

/// Tells the filter between mipmap levels.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipTexRefGetMipmapFilterMode(
    pfm: *mut hipTextureFilterMode,
    texRef: *const textureReference,
) -> hipError_t {
    // SAFETY: null or valid, as the caller promises.
    let reference = unsafe { given(texRef)? };
    tell!(pfm = reference.mipmapFilterMode)
}

/// Tells the level bias.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipTexRefGetMipmapLevelBias(
    pbias: *mut f32,
    texRef: *const textureReference,
) -> hipError_t {
    // SAFETY: null or valid, as the caller promises.
    let reference = unsafe { given(texRef)? };
    tell!(pbias = reference.mipmapLevelBias)
}

/// Tells the least and the greatest level.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipTexRefGetMipmapLevelClamp(
    pminMipmapLevelClamp: *mut f32,
    pmaxMipmapLevelClamp: *mut f32,
    texRef: *const textureReference,
) -> hipError_t {
    // SAFETY: null or valid, as the caller promises.
    let reference = unsafe { given(texRef)? };
    tell!(
        pminMipmapLevelClamp = reference.minMipmapLevelClamp,
        pmaxMipmapLevelClamp = reference.maxMipmapLevelClamp
    )
}
