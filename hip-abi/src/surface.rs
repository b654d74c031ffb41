//! Surface objects: images over arrays that kernels read and write by element. A handle is the address of the image's descriptor.

use std::{collections::HashMap, sync::LazyLock};

use gneiss_clr::ImageView;
use gneiss_hip_abi_macros::hip_api;
use parking_lot::Mutex;

use crate::{
    array::shape,
    enums::*,
    error::*,
    fail,
    runtime::hip_error,
    texture::{ObjectMemory, array_image, device_with_images},
    texture_types::*,
};

#[derive(Debug)]
struct Surface {
    memory: ObjectMemory,
    _image: ImageView,
}

static SURFACES: LazyLock<Mutex<HashMap<usize, Surface>>> = LazyLock::new(Mutex::default);

/// # Safety
/// The pointers are null or valid.
unsafe fn create(object: *mut hipSurfaceObject_t, resource: *const hipResourceDesc) -> HipResult {
    let device = device_with_images()?;
    if object.is_null() || resource.is_null() {
        return fail!(hipErrorInvalidValue, "a null pointer");
    }
    // SAFETY: not null; the caller promises a valid record.
    let resource = unsafe { &*resource };
    if resource.resType != hipResourceTypeArray {
        return fail!(
            hipErrorInvalidValue,
            "resource type {} is no array",
            resource.resType
        );
    }
    // SAFETY: the type says that this is the union's member.
    let array = unsafe { resource.res.array.array };
    let Ok(shape) = shape(array) else {
        return fail!(hipErrorInvalidValue, "{array:p} is not a live array");
    };
    if shape.flags != hipArrayDefault && shape.flags & hipArraySurfaceLoadStore == 0 {
        return fail!(
            hipErrorInvalidValue,
            "the array was made with flags {:#x}, without hipArraySurfaceLoadStore",
            shape.flags
        );
    }
    let (description, data) = array_image(array, None, false, false)?;
    let image = ImageView::new(&device.clr, &description, data).map_err(hip_error)?;
    let memory = ObjectMemory::new(device, &image, None)?;
    let handle = memory.handle();
    SURFACES.lock().insert(
        handle.addr(),
        Surface {
            memory,
            _image: image,
        },
    );
    // SAFETY: not null; the caller promises a valid place.
    unsafe { object.write(handle) };
    Ok(())
}

fn destroy(object: hipSurfaceObject_t) -> HipResult {
    if object.is_null() {
        return Ok(());
    }
    let Some(surface) = SURFACES.lock().remove(&object.addr()) else {
        return fail!(hipErrorInvalidValue, "{object:p} is not a surface object");
    };
    surface.memory.free()
}

/// Creates a surface object.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipCreateSurfaceObject(
    pSurfObject: *mut hipSurfaceObject_t,
    pResDesc: *const hipResourceDesc,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { create(pSurfObject, pResDesc) }
}

/// Destroys a surface object; null is none.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDestroySurfaceObject(surfaceObject: hipSurfaceObject_t) -> hipError_t {
    destroy(surfaceObject)
}

/// [`hipCreateSurfaceObject`] by the name that C++ programs of HIP 5 link to.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _Z22hipCreateSurfaceObjectPP13__hip_surfacePK15hipResourceDesc(
    pSurfObject: *mut hipSurfaceObject_t,
    pResDesc: *const hipResourceDesc,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { create(pSurfObject, pResDesc) }
}

/// [`hipDestroySurfaceObject`] by the name that C++ programs of HIP 5 link to.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _Z23hipDestroySurfaceObjectP13__hip_surface(
    surfaceObject: hipSurfaceObject_t,
) -> hipError_t {
    destroy(surfaceObject)
}
