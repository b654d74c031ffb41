//! Types of textures and surfaces. Layouts are those of AMD's headers; they are the same in HIP 5, 6 and 7.

use std::ffi::c_void;

use crate::{enums::*, types::*};

/// A texture object: the address of the image and sampler descriptors that kernels read.
pub type hipTextureObject_t = *mut c_void;

/// A surface object: the address of the image descriptor that kernels read.
pub type hipSurfaceObject_t = *mut c_void;

/// A mipmapped array. Its fields are public in AMD's headers; `num_channels` came in HIP 6, in what was padding.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipMipmappedArray {
    /// Device address of the first element of level 0.
    pub data: *mut c_void,
    /// Channel format.
    pub desc: hipChannelFormatDesc,
    /// Flags given at creation.
    pub r#type: u32,
    /// Elements of a row of level 0.
    pub width: u32,
    /// Rows of level 0, or 0.
    pub height: u32,
    /// Slices of level 0, or 0.
    pub depth: u32,
    /// First level: 0.
    pub min_mipmap_level: u32,
    /// Last level.
    pub max_mipmap_level: u32,
    /// Flags given at creation.
    pub flags: u32,
    /// Element format.
    pub format: hipArray_Format,
    /// Channels of an element.
    pub num_channels: u32,
}

/// A handle of a mipmapped array: the address of a [`hipMipmappedArray`] that HIP owns.
pub type hipMipmappedArray_t = *mut hipMipmappedArray;

/// A resource that is a HIP array.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipResourceArray {
    /// The array.
    pub array: hipArray_t,
}

/// A resource that is a mipmapped array.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipResourceMipmap {
    /// The array.
    pub mipmap: hipMipmappedArray_t,
}

/// A resource that is linear memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipResourceLinear {
    /// First element, 256-byte aligned.
    pub devPtr: *mut c_void,
    /// Channels of an element.
    pub desc: hipChannelFormatDesc,
    /// Bytes.
    pub sizeInBytes: usize,
}

/// A resource that is rows of memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipResourcePitch2D {
    /// First element, 256-byte aligned.
    pub devPtr: *mut c_void,
    /// Channels of an element.
    pub desc: hipChannelFormatDesc,
    /// Elements of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Bytes from one row to the next, a multiple of 256.
    pub pitchInBytes: usize,
}

/// What a resource is.
#[repr(C)]
#[derive(Clone, Copy)]
pub union hipResourceUnion {
    /// `hipResourceTypeArray`.
    pub array: hipResourceArray,
    /// `hipResourceTypeMipmappedArray`.
    pub mipmap: hipResourceMipmap,
    /// `hipResourceTypeLinear`.
    pub linear: hipResourceLinear,
    /// `hipResourceTypePitch2D`.
    pub pitch2D: hipResourcePitch2D,
}

/// What a texture or surface reads.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hipResourceDesc {
    /// Which member of `res` is meant.
    pub resType: hipResourceType,
    /// The resource.
    pub res: hipResourceUnion,
}

/// How a texture is read.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct hipTextureDesc {
    /// `hipAddressMode…` of each dimension.
    pub addressMode: [hipTextureAddressMode; 3],
    /// `hipFilterMode…`.
    pub filterMode: hipTextureFilterMode,
    /// `hipReadMode…`.
    pub readMode: hipTextureReadMode,
    /// Decode the sRGB curve.
    pub sRGB: i32,
    /// Border colour; AMD's hardware path has transparent black only.
    pub borderColor: [f32; 4],
    /// Coordinates are 0 to 1.
    pub normalizedCoords: i32,
    /// Must be 0.
    pub maxAnisotropy: u32,
    /// Filter between mipmap levels.
    pub mipmapFilterMode: hipTextureFilterMode,
    /// What is added to the level of detail of mipmapped arrays; must be 0 for others.
    pub mipmapLevelBias: f32,
    /// Least mipmap level.
    pub minMipmapLevelClamp: f32,
    /// Greatest mipmap level. If both are 0, there are no limits.
    pub maxMipmapLevelClamp: f32,
}

/// How a texture sees an array: with another format.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct hipResourceViewDesc {
    /// `hipResViewFormat…`.
    pub format: hipResourceViewFormat,
    /// Elements of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Slices.
    pub depth: usize,
    /// First mipmap level.
    pub firstMipmapLevel: u32,
    /// Last mipmap level.
    pub lastMipmapLevel: u32,
    /// First layer.
    pub firstLayer: u32,
    /// Last layer.
    pub lastLayer: u32,
}

/// A texture reference: a variable of the program that its kernels read through. `texture<…>` derives from it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct textureReference {
    /// Coordinates are 0 to 1.
    pub normalized: i32,
    /// `hipReadMode…`.
    pub readMode: hipTextureReadMode,
    /// `hipFilterMode…`.
    pub filterMode: hipTextureFilterMode,
    /// `hipAddressMode…` of each dimension.
    pub addressMode: [hipTextureAddressMode; 3],
    /// Channels of an element.
    pub channelDesc: hipChannelFormatDesc,
    /// Decode the sRGB curve.
    pub sRGB: i32,
    /// Must be 0.
    pub maxAnisotropy: u32,
    /// Filter between mipmap levels.
    pub mipmapFilterMode: hipTextureFilterMode,
    /// What is added to the level of detail of mipmapped arrays; must be 0 for others.
    pub mipmapLevelBias: f32,
    /// Least mipmap level.
    pub minMipmapLevelClamp: f32,
    /// Greatest mipmap level. If both are 0, there are no limits.
    pub maxMipmapLevelClamp: f32,
    /// What it is bound to, or null.
    pub textureObject: hipTextureObject_t,
    /// Channels of an element (driver API).
    pub numChannels: i32,
    /// Format of a channel (driver API).
    pub format: hipArray_Format,
}

/// A driver API resource that is linear memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HIP_RESOURCE_LINEAR {
    /// First element.
    pub devPtr: hipDeviceptr_t,
    /// Format of a channel.
    pub format: hipArray_Format,
    /// Channels of an element.
    pub numChannels: u32,
    /// Bytes.
    pub sizeInBytes: usize,
}

/// A driver API resource that is rows of memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HIP_RESOURCE_PITCH2D {
    /// First element.
    pub devPtr: hipDeviceptr_t,
    /// Format of a channel.
    pub format: hipArray_Format,
    /// Channels of an element.
    pub numChannels: u32,
    /// Elements of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Bytes from one row to the next.
    pub pitchInBytes: usize,
}

/// What a driver API resource is.
#[repr(C)]
#[derive(Clone, Copy)]
pub union HIP_RESOURCE_UNION {
    /// `HIP_RESOURCE_TYPE_ARRAY`.
    pub array: hipResourceArray,
    /// `HIP_RESOURCE_TYPE_MIPMAPPED_ARRAY`.
    pub mipmap: hipResourceMipmap,
    /// `HIP_RESOURCE_TYPE_LINEAR`.
    pub linear: HIP_RESOURCE_LINEAR,
    /// `HIP_RESOURCE_TYPE_PITCH2D`.
    pub pitch2D: HIP_RESOURCE_PITCH2D,
    /// Room.
    pub reserved: [i32; 32],
}

/// What a texture reads (driver API); the types have the numbers of `hipResourceType…`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct HIP_RESOURCE_DESC {
    /// Which member of `res` is meant.
    pub resType: hipResourceType,
    /// The resource.
    pub res: HIP_RESOURCE_UNION,
    /// Must be 0.
    pub flags: u32,
}

/// How a texture is read (driver API).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct HIP_TEXTURE_DESC {
    /// Address modes, with the numbers of `hipAddressMode…`.
    pub addressMode: [hipTextureAddressMode; 3],
    /// Filter, with the numbers of `hipFilterMode…`.
    pub filterMode: hipTextureFilterMode,
    /// `HIP_TRSF_…`.
    pub flags: u32,
    /// Must be 0.
    pub maxAnisotropy: u32,
    /// Filter between mipmap levels.
    pub mipmapFilterMode: hipTextureFilterMode,
    /// What is added to the level of detail of mipmapped arrays; must be 0 for others.
    pub mipmapLevelBias: f32,
    /// Least mipmap level.
    pub minMipmapLevelClamp: f32,
    /// Greatest mipmap level. If both are 0, there are no limits.
    pub maxMipmapLevelClamp: f32,
    /// Border colour.
    pub borderColor: [f32; 4],
    /// Room.
    pub reserved: [i32; 12],
}

/// How a texture sees an array (driver API).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct HIP_RESOURCE_VIEW_DESC {
    /// Format, with the numbers of `hipResViewFormat…`.
    pub format: hipResourceViewFormat,
    /// Elements of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Slices.
    pub depth: usize,
    /// First mipmap level.
    pub firstMipmapLevel: u32,
    /// Last mipmap level.
    pub lastMipmapLevel: u32,
    /// First layer.
    pub firstLayer: u32,
    /// Last layer.
    pub lastLayer: u32,
    /// Room.
    pub reserved: [u32; 16],
}

macro_rules! show {
    ($($name:ident),*) => { $(
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).field("resType", &self.resType).finish_non_exhaustive()
            }
        }
    )* };
}

show!(hipResourceDesc, HIP_RESOURCE_DESC);

impl std::fmt::Debug for hipResourceUnion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("hipResourceUnion").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for HIP_RESOURCE_UNION {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HIP_RESOURCE_UNION").finish_non_exhaustive()
    }
}

const _: () = {
    use std::mem::offset_of;
    assert!(size_of::<hipResourceDesc>() == 64);
    assert!(size_of::<hipMipmappedArray>() == 64);
    assert!(size_of::<hipTextureDesc>() == 64);
    assert!(size_of::<hipResourceViewDesc>() == 48);
    assert!(size_of::<textureReference>() == 88);
    assert!(offset_of!(textureReference, textureObject) == 72);
    assert!(size_of::<HIP_RESOURCE_DESC>() == 144);
    assert!(size_of::<HIP_TEXTURE_DESC>() == 104);
    assert!(size_of::<HIP_RESOURCE_VIEW_DESC>() == 112);
};
