//! Texture objects by the driver API's descriptions of them.

use gneiss_hip_abi_macros::hip_api;

use crate::{
    enums::*,
    error::*,
    fail,
    texture::{self, device_with_images},
    texture_format::ElementFormat,
    texture_types::*,
};

fn resource_of_driver(driver: &HIP_RESOURCE_DESC) -> HipResult<hipResourceDesc> {
    let res = match driver.resType {
        hipResourceTypeArray => hipResourceUnion {
            // SAFETY: the type says that this is the union's member.
            array: unsafe { driver.res.array },
        },
        hipResourceTypeMipmappedArray => hipResourceUnion {
            // SAFETY: the type says that this is the union's member.
            mipmap: unsafe { driver.res.mipmap },
        },
        hipResourceTypeLinear => {
            // SAFETY: the type says that this is the union's member.
            let from = unsafe { driver.res.linear };
            hipResourceUnion {
                linear: hipResourceLinear {
                    devPtr: from.devPtr,
                    desc: ElementFormat::of_driver(from.format, from.numChannels)?.desc(),
                    sizeInBytes: from.sizeInBytes,
                },
            }
        }
        hipResourceTypePitch2D => {
            // SAFETY: the type says that this is the union's member.
            let from = unsafe { driver.res.pitch2D };
            hipResourceUnion {
                pitch2D: hipResourcePitch2D {
                    devPtr: from.devPtr,
                    desc: ElementFormat::of_driver(from.format, from.numChannels)?.desc(),
                    width: from.width,
                    height: from.height,
                    pitchInBytes: from.pitchInBytes,
                },
            }
        }
        other => return fail!(hipErrorInvalidValue, "resource type {other} does not exist"),
    };
    Ok(hipResourceDesc {
        resType: driver.resType,
        res,
    })
}

fn resource_to_driver(resource: &hipResourceDesc) -> HipResult<HIP_RESOURCE_DESC> {
    let mut res = HIP_RESOURCE_UNION { reserved: [0; 32] };
    match resource.resType {
        // SAFETY: the type says that this is the union's member.
        hipResourceTypeArray => res.array = unsafe { resource.res.array },
        // SAFETY: the type says that this is the union's member.
        hipResourceTypeMipmappedArray => res.mipmap = unsafe { resource.res.mipmap },
        hipResourceTypeLinear => {
            // SAFETY: the type says that this is the union's member.
            let from = unsafe { resource.res.linear };
            let format = ElementFormat::of_desc(&from.desc)?;
            res.linear = HIP_RESOURCE_LINEAR {
                devPtr: from.devPtr,
                format: format.channel,
                numChannels: format.channels,
                sizeInBytes: from.sizeInBytes,
            };
        }
        _ => {
            // SAFETY: the type says that this is the union's member.
            let from = unsafe { resource.res.pitch2D };
            let format = ElementFormat::of_desc(&from.desc)?;
            res.pitch2D = HIP_RESOURCE_PITCH2D {
                devPtr: from.devPtr,
                format: format.channel,
                numChannels: format.channels,
                width: from.width,
                height: from.height,
                pitchInBytes: from.pitchInBytes,
            };
        }
    }
    Ok(HIP_RESOURCE_DESC {
        resType: resource.resType,
        res,
        flags: 0,
    })
}

fn texture_of_driver(driver: &HIP_TEXTURE_DESC) -> hipTextureDesc {
    hipTextureDesc {
        addressMode: driver.addressMode,
        filterMode: driver.filterMode,
        readMode: if driver.flags & HIP_TRSF_READ_AS_INTEGER != 0 {
            hipReadModeElementType
        } else {
            hipReadModeNormalizedFloat
        },
        sRGB: i32::from(driver.flags & HIP_TRSF_SRGB != 0),
        borderColor: driver.borderColor,
        normalizedCoords: i32::from(driver.flags & HIP_TRSF_NORMALIZED_COORDINATES != 0),
        maxAnisotropy: driver.maxAnisotropy,
        mipmapFilterMode: driver.mipmapFilterMode,
        mipmapLevelBias: driver.mipmapLevelBias,
        minMipmapLevelClamp: driver.minMipmapLevelClamp,
        maxMipmapLevelClamp: driver.maxMipmapLevelClamp,
    }
}

fn texture_to_driver(texture: &hipTextureDesc) -> HIP_TEXTURE_DESC {
    let mut flags = 0;
    if texture.readMode == hipReadModeElementType {
        flags |= HIP_TRSF_READ_AS_INTEGER;
    }
    if texture.normalizedCoords != 0 {
        flags |= HIP_TRSF_NORMALIZED_COORDINATES;
    }
    if texture.sRGB != 0 {
        flags |= HIP_TRSF_SRGB;
    }
    HIP_TEXTURE_DESC {
        addressMode: texture.addressMode,
        filterMode: texture.filterMode,
        flags,
        maxAnisotropy: texture.maxAnisotropy,
        mipmapFilterMode: texture.mipmapFilterMode,
        mipmapLevelBias: texture.mipmapLevelBias,
        minMipmapLevelClamp: texture.minMipmapLevelClamp,
        maxMipmapLevelClamp: texture.maxMipmapLevelClamp,
        borderColor: texture.borderColor,
        reserved: [0; 12],
    }
}

fn view_of_driver(driver: &HIP_RESOURCE_VIEW_DESC) -> hipResourceViewDesc {
    hipResourceViewDesc {
        format: driver.format,
        width: driver.width,
        height: driver.height,
        depth: driver.depth,
        firstMipmapLevel: driver.firstMipmapLevel,
        lastMipmapLevel: driver.lastMipmapLevel,
        firstLayer: driver.firstLayer,
        lastLayer: driver.lastLayer,
    }
}

fn view_to_driver(view: &hipResourceViewDesc) -> HIP_RESOURCE_VIEW_DESC {
    HIP_RESOURCE_VIEW_DESC {
        format: view.format,
        width: view.width,
        height: view.height,
        depth: view.depth,
        firstMipmapLevel: view.firstMipmapLevel,
        lastMipmapLevel: view.lastMipmapLevel,
        firstLayer: view.firstLayer,
        lastLayer: view.lastLayer,
        reserved: [0; 16],
    }
}

/// Creates a texture object (driver API).
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipTexObjectCreate(
    pTexObject: *mut hipTextureObject_t,
    pResDesc: *const HIP_RESOURCE_DESC,
    pTexDesc: *const HIP_TEXTURE_DESC,
    pResViewDesc: *const HIP_RESOURCE_VIEW_DESC,
) -> hipError_t {
    if pTexObject.is_null() || pResDesc.is_null() || pTexDesc.is_null() {
        return fail!(hipErrorInvalidValue, "a null pointer");
    }
    device_with_images()?;
    // SAFETY: not null, or checked; the caller promises valid records and a valid place.
    unsafe {
        let resource = resource_of_driver(&*pResDesc)?;
        let view = pResViewDesc.as_ref().map(view_of_driver);
        let object = texture::create(&resource, &texture_of_driver(&*pTexDesc), view.as_ref())?;
        pTexObject.write(object);
    }
    Ok(())
}

/// Destroys a texture object (driver API); null is none.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipTexObjectDestroy(texObject: hipTextureObject_t) -> hipError_t {
    texture::destroy(texObject)
}

/// Tells a texture object's resource (driver API).
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipTexObjectGetResourceDesc(
    pResDesc: *mut HIP_RESOURCE_DESC,
    texObject: hipTextureObject_t,
) -> hipError_t {
    if pResDesc.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the description");
    }
    let value = texture::query(texObject, |resource, _, _| resource_to_driver(resource))??;
    // SAFETY: not null; the caller promises a valid place.
    unsafe { pResDesc.write(value) };
    Ok(())
}

/// Tells a texture object's view of its resource (driver API).
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipTexObjectGetResourceViewDesc(
    pResViewDesc: *mut HIP_RESOURCE_VIEW_DESC,
    texObject: hipTextureObject_t,
) -> hipError_t {
    if pResViewDesc.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the description");
    }
    let value = texture::query(texObject, |_, _, view| view_to_driver(view))?;
    // SAFETY: not null; the caller promises a valid place.
    unsafe { pResViewDesc.write(value) };
    Ok(())
}

/// Tells how a texture object is read (driver API).
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipTexObjectGetTextureDesc(
    pTexDesc: *mut HIP_TEXTURE_DESC,
    texObject: hipTextureObject_t,
) -> hipError_t {
    if pTexDesc.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the description");
    }
    let value = texture::query(texObject, |_, texture, _| texture_to_driver(texture))?;
    // SAFETY: not null; the caller promises a valid place.
    unsafe { pTexDesc.write(value) };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_stand_for_read_mode_coordinates_and_srgb() {
        let driver = HIP_TEXTURE_DESC {
            flags: HIP_TRSF_NORMALIZED_COORDINATES | HIP_TRSF_SRGB,
            addressMode: [1, 2, 3],
            ..HIP_TEXTURE_DESC::default()
        };
        let texture = texture_of_driver(&driver);
        assert_eq!(texture.readMode, hipReadModeNormalizedFloat);
        assert_eq!((texture.normalizedCoords, texture.sRGB), (1, 1));
        let back = texture_to_driver(&texture);
        assert_eq!((back.flags, back.addressMode), (driver.flags, [1, 2, 3]));
    }

    #[test]
    fn resources_survive_both_ways() {
        let driver = HIP_RESOURCE_DESC {
            resType: hipResourceTypePitch2D,
            res: HIP_RESOURCE_UNION {
                pitch2D: HIP_RESOURCE_PITCH2D {
                    devPtr: std::ptr::without_provenance_mut(0x1000),
                    format: HIP_AD_FORMAT_HALF,
                    numChannels: 2,
                    width: 5,
                    height: 6,
                    pitchInBytes: 256,
                },
            },
            flags: 0,
        };
        let back = resource_to_driver(&resource_of_driver(&driver).expect("known"));
        // SAFETY: the member that the type names.
        let rows = unsafe { back.expect("known").res.pitch2D };
        assert_eq!(rows.devPtr.addr(), 0x1000);
        assert_eq!((rows.format, rows.numChannels), (HIP_AD_FORMAT_HALF, 2));
        assert_eq!((rows.width, rows.height, rows.pitchInBytes), (5, 6, 256));
        let unknown = HIP_RESOURCE_DESC {
            resType: 9,
            ..driver
        };
        assert_eq!(
            resource_of_driver(&unknown).err(),
            Some(hipErrorInvalidValue)
        );
    }
}
