//! Texture references: variables of a program (`texture<…>`) or of a module that kernels read through.
//!
//! The host's copy of the variable has the settings; binding makes a texture object from them, stores its handle in the host's copy,
//! and copies that to the device's variable. So kernels see settings and bindings as of the last call that binds.
//!
//! A reference of a module has no host copy of its own: `hipModuleGetTexRef` makes one, which lives as long as the module.

use std::{
    collections::HashMap,
    ffi::{CStr, c_char, c_void},
    sync::LazyLock,
};

use gneiss_clr::Program;
use gneiss_hip_abi_macros::hip_api;
use parking_lot::Mutex;

use crate::{
    copy::{self, Host},
    copy_rect::NULL_STREAM,
    enums::*,
    error::*,
    fail, mipmapped_array, module, registration, runtime,
    texture::{self, ALIGNMENT, device_with_images},
    texture_format::ElementFormat,
    texture_types::*,
    types::*,
};

/// A module's texture reference: where the module's variable is, and the host's copy.
#[derive(Debug)]
struct ModuleReference {
    program: usize,
    variable: u64,
    host: Box<textureReference>,
}

/// By the address of the host's copy.
static MODULE_REFERENCES: LazyLock<Mutex<HashMap<usize, ModuleReference>>> =
    LazyLock::new(Mutex::default);

// SAFETY: the pointer in the record is a handle that is never followed.
unsafe impl Send for ModuleReference {}

/// Forgets the references of a module that is being unloaded, and what they are bound to.
pub(crate) fn forget(program: &Program) {
    let address = std::ptr::from_ref(program).addr();
    let bound: Vec<_> = MODULE_REFERENCES
        .lock()
        .extract_if(|_, reference| reference.program == address)
        .map(|(_, reference)| reference.host.textureObject.addr())
        .collect();
    for object in bound {
        // Whoever destroyed it already had the right to.
        let _ = texture::destroy(std::ptr::without_provenance_mut(object));
    }
}

/// A reference that the program passed.
///
/// # Safety
/// `reference` is null or valid.
pub(crate) unsafe fn given<'a>(
    reference: *const textureReference,
) -> HipResult<&'a mut textureReference> {
    if reference.is_null() {
        return fail!(hipErrorInvalidValue, "no texture reference");
    }
    device_with_images()?;
    // SAFETY: not null; the caller promises a valid record, and HIP writes to it though its pointers are const.
    Ok(unsafe { &mut *reference.cast_mut() })
}

/// Where the device's copy of a reference is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Owner {
    /// A variable that the program registered.
    Program,
    /// A variable of a module.
    Module,
}

fn device_copy(reference: &textureReference, owner: Owner) -> HipResult<*mut c_void> {
    let address = std::ptr::from_ref(reference);
    let variable = match owner {
        Owner::Program => {
            let (variable, size) = registration::variable(address.cast(), runtime::current()?)?;
            if size != size_of::<textureReference>() {
                return fail!(
                    hipErrorInvalidValue,
                    "a variable of {size} bytes is no texture reference"
                );
            }
            variable
        }
        Owner::Module => match MODULE_REFERENCES.lock().get(&address.addr()) {
            Some(reference) => reference.variable,
            None => {
                return fail!(
                    hipErrorNotFound,
                    "{address:p} is not a texture reference of a module"
                );
            }
        },
    };
    Ok(std::ptr::with_exposed_provenance_mut(variable as usize))
}

fn settings(reference: &textureReference) -> hipTextureDesc {
    hipTextureDesc {
        addressMode: reference.addressMode,
        filterMode: reference.filterMode,
        readMode: reference.readMode,
        sRGB: reference.sRGB,
        borderColor: [0.0; 4],
        normalizedCoords: reference.normalized,
        maxAnisotropy: reference.maxAnisotropy,
        mipmapFilterMode: reference.mipmapFilterMode,
        mipmapLevelBias: reference.mipmapLevelBias,
        minMipmapLevelClamp: reference.minMipmapLevelClamp,
        maxMipmapLevelClamp: reference.maxMipmapLevelClamp,
    }
}

/// Binds a reference; what it was bound to is unbound, also if this fails.
fn bind(
    reference: &mut textureReference,
    owner: Owner,
    resource: &hipResourceDesc,
    view: Option<&hipResourceViewDesc>,
) -> HipResult {
    let variable = device_copy(reference, owner)?;
    let old = std::mem::replace(&mut reference.textureObject, std::ptr::null_mut());
    texture::destroy(old)?;
    reference.textureObject = texture::create(resource, &settings(reference), view)?;
    copy::copy(
        variable,
        std::ptr::from_ref(reference).cast(),
        size_of::<textureReference>(),
        hipMemcpyHostToDevice,
        NULL_STREAM,
        Host::Waits,
    )
}

/// The aligned address below an address, and how far below it is; the latter is told to the program, which must add it to its indexes.
///
/// # Safety
/// `offset` is null or a valid place.
unsafe fn align(address: *mut c_void, offset: *mut usize) -> HipResult<(*mut c_void, usize)> {
    let below = address.addr() % ALIGNMENT;
    if below != 0 && offset.is_null() {
        return fail!(
            hipErrorInvalidValue,
            "{address:p} is not aligned to {ALIGNMENT} bytes, and there is no place for the offset"
        );
    }
    if !offset.is_null() {
        // SAFETY: not null; the caller promises a valid place.
        unsafe { offset.write(below) };
    }
    Ok((address.wrapping_byte_sub(below), below))
}

/// Binds linear memory; as much of `size` as its allocation has, because the default size is "all".
///
/// # Safety
/// `offset` is null or a valid place.
pub(crate) unsafe fn bind_linear(
    reference: &mut textureReference,
    owner: Owner,
    offset: *mut usize,
    address: *mut c_void,
    format: ElementFormat,
    size: usize,
) -> HipResult {
    // SAFETY: the caller's place.
    let (aligned, below) = unsafe { align(address, offset)? };
    let found = runtime::get()?.clr.find_memory(aligned.addr());
    let room = found.map_or(0, |(memory, offset)| memory.size() - offset);
    let resource = hipResourceDesc {
        resType: hipResourceTypeLinear,
        res: hipResourceUnion {
            linear: hipResourceLinear {
                devPtr: aligned,
                desc: format.desc(),
                sizeInBytes: size.saturating_add(below).min(room),
            },
        },
    };
    bind(reference, owner, &resource, None)
}

pub(crate) fn bind_rows(
    reference: &mut textureReference,
    owner: Owner,
    address: *mut c_void,
    format: ElementFormat,
    extent: [usize; 2],
    pitch: usize,
) -> HipResult {
    let resource = hipResourceDesc {
        resType: hipResourceTypePitch2D,
        res: hipResourceUnion {
            pitch2D: hipResourcePitch2D {
                devPtr: address,
                desc: format.desc(),
                width: extent[0],
                height: extent[1],
                pitchInBytes: pitch,
            },
        },
    };
    bind(reference, owner, &resource, None)
}

pub(crate) fn bind_array(
    reference: &mut textureReference,
    owner: Owner,
    array: hipArray_t,
    format: ElementFormat,
) -> HipResult {
    let resource = hipResourceDesc {
        resType: hipResourceTypeArray,
        res: hipResourceUnion {
            array: hipResourceArray { array },
        },
    };
    let view = hipResourceViewDesc {
        format: format.view(),
        ..hipResourceViewDesc::default()
    };
    bind(reference, owner, &resource, Some(&view))
}

pub(crate) fn bind_mipmapped(
    reference: &mut textureReference,
    owner: Owner,
    array: hipMipmappedArray_t,
    format: Option<ElementFormat>,
) -> HipResult {
    let Ok((own, levels)) = mipmapped_array::format(array) else {
        return fail!(
            hipErrorInvalidValue,
            "{array:p} is not a live mipmapped array"
        );
    };
    let resource = hipResourceDesc {
        resType: hipResourceTypeMipmappedArray,
        res: hipResourceUnion {
            mipmap: hipResourceMipmap { mipmap: array },
        },
    };
    let view = hipResourceViewDesc {
        format: format.unwrap_or(own).view(),
        lastMipmapLevel: levels - 1,
        ..hipResourceViewDesc::default()
    };
    bind(reference, owner, &resource, Some(&view))
}

/// Binds linear memory to a reference.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipBindTexture(
    offset: *mut usize,
    tex: *const textureReference,
    devPtr: *const c_void,
    desc: *const hipChannelFormatDesc,
    size: usize,
) -> hipError_t {
    // SAFETY: null or valid, as the caller promises.
    let reference = unsafe { given(tex)? };
    if devPtr.is_null() || desc.is_null() {
        return fail!(hipErrorInvalidValue, "a null pointer");
    }
    // SAFETY: not null; the caller promises valid records and a valid place.
    unsafe {
        let format = ElementFormat::of_desc(&*desc)?;
        bind_linear(
            reference,
            Owner::Program,
            offset,
            devPtr.cast_mut(),
            format,
            size,
        )
    }
}

/// Binds rows of memory to a reference.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipBindTexture2D(
    offset: *mut usize,
    tex: *const textureReference,
    devPtr: *const c_void,
    desc: *const hipChannelFormatDesc,
    width: usize,
    height: usize,
    pitch: usize,
) -> hipError_t {
    // SAFETY: null or valid, as the caller promises.
    let reference = unsafe { given(tex)? };
    if devPtr.is_null() || desc.is_null() || pitch == 0 {
        return fail!(hipErrorInvalidValue, "a null pointer or no pitch");
    }
    // SAFETY: not null; the caller promises valid records and a valid place.
    let (format, (address, below)) = unsafe {
        (
            ElementFormat::of_desc(&*desc)?,
            align(devPtr.cast_mut(), offset)?,
        )
    };
    let width = width + below / format.size();
    bind_rows(
        reference,
        Owner::Program,
        address,
        format,
        [width, height],
        pitch,
    )
}

/// Binds an array to a reference.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipBindTextureToArray(
    tex: *const textureReference,
    array: hipArray_t,
    desc: *const hipChannelFormatDesc,
) -> hipError_t {
    // SAFETY: null or valid, as the caller promises.
    let reference = unsafe { given(tex)? };
    if array.is_null() || desc.is_null() {
        return fail!(hipErrorInvalidValue, "a null pointer");
    }
    // SAFETY: not null; the caller promises a valid record.
    let format = ElementFormat::of_desc(unsafe { &*desc })?;
    bind_array(reference, Owner::Program, array, format)
}

/// Binds all levels of a mipmapped array to a reference.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipBindTextureToMipmappedArray(
    tex: *const textureReference,
    mipmappedArray: hipMipmappedArray_t,
    desc: *const hipChannelFormatDesc,
) -> hipError_t {
    // SAFETY: null or valid, as the caller promises.
    let reference = unsafe { given(tex)? };
    if mipmappedArray.is_null() || desc.is_null() {
        return fail!(hipErrorInvalidValue, "a null pointer");
    }
    // SAFETY: not null; the caller promises a valid record.
    let format = ElementFormat::of_desc(unsafe { &*desc })?;
    bind_mipmapped(reference, Owner::Program, mipmappedArray, Some(format))
}

/// Unbinds a reference.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipUnbindTexture(tex: *const textureReference) -> hipError_t {
    // SAFETY: null or valid, as the caller promises.
    let reference = unsafe { given(tex)? };
    let old = std::mem::replace(&mut reference.textureObject, std::ptr::null_mut());
    texture::destroy(old)
}

/// Tells by how many bytes a reference's memory is misaligned: 0, for a binding starts at an aligned address.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetTextureAlignmentOffset(
    offset: *mut usize,
    texref: *const textureReference,
) -> hipError_t {
    // SAFETY: null or valid, as the caller promises.
    unsafe { given(texref)? };
    if offset.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the offset");
    }
    // SAFETY: not null; the caller promises a valid place.
    unsafe { offset.write(0) };
    Ok(())
}

/// Gives the reference of a symbol: the symbol itself.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetTextureReference(
    texref: *mut *const textureReference,
    symbol: *const c_void,
) -> hipError_t {
    if texref.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the reference");
    }
    device_with_images()?;
    let (_, size) = registration::variable(symbol, runtime::current()?)?;
    if size != size_of::<textureReference>() {
        return fail!(
            hipErrorInvalidValue,
            "a variable of {size} bytes is no texture reference"
        );
    }
    // SAFETY: not null; the caller promises a valid place.
    unsafe { texref.write(symbol.cast()) };
    Ok(())
}

/// Gives a module's texture reference. It reads floats of one channel until it is told otherwise.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleGetTexRef(
    texRef: *mut *mut textureReference,
    hmod: hipModule_t,
    name: *const c_char,
) -> hipError_t {
    if texRef.is_null() || name.is_null() {
        return fail!(hipErrorInvalidValue, "a null pointer");
    }
    // SAFETY: not null; the caller promises a terminated string.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    if name.is_empty() {
        return fail!(hipErrorInvalidValue, "an empty name");
    }
    let program = module::program(hmod)?;
    device_with_images()?;
    let global = program
        .global(&name)
        .filter(|global| global.size == size_of::<textureReference>());
    let Some(global) = global else {
        return fail!(
            hipErrorNotFound,
            "the module has no texture reference {name}"
        );
    };
    let mut references = MODULE_REFERENCES.lock();
    let known = references
        .values()
        .find(|reference| reference.variable == global.address)
        .map(|reference| std::ptr::from_ref(&*reference.host).cast_mut());
    let found = known.unwrap_or_else(|| {
        let mut host = Box::new(textureReference {
            normalized: 0,
            readMode: hipReadModeNormalizedFloat,
            filterMode: hipFilterModePoint,
            addressMode: [hipAddressModeClamp; 3],
            channelDesc: hipChannelFormatDesc {
                x: 8,
                y: 0,
                z: 0,
                w: 0,
                f: hipChannelFormatKindSigned,
            },
            sRGB: 0,
            maxAnisotropy: 0,
            mipmapFilterMode: hipFilterModePoint,
            mipmapLevelBias: 0.0,
            minMipmapLevelClamp: 0.0,
            maxMipmapLevelClamp: 0.0,
            textureObject: std::ptr::null_mut(),
            numChannels: 1,
            format: HIP_AD_FORMAT_FLOAT,
        });
        let address = std::ptr::from_mut(&mut *host);
        references.insert(
            address.addr(),
            ModuleReference {
                program: std::sync::Arc::as_ptr(&program).addr(),
                variable: global.address,
                host,
            },
        );
        address
    });
    // SAFETY: not null; the caller promises a valid place.
    unsafe { texRef.write(found) };
    Ok(())
}
