//! C types of the HIP headers, as public `repr(C)` types whose layout is asserted against measured headers (5.2, 6.3, 7.1).
//!
//! Opaque handles are pointers to empty types; see [`crate::handle`] for what they really hold.

use std::{
    ffi::{c_char, c_void},
    mem::size_of,
};

use crate::{
    enums::{
        hipArray_Format, hipChannelFormatKind, hipMemAccessFlags, hipMemAllocationHandleType,
        hipMemAllocationType, hipMemLocationType, hipMemcpyKind,
    },
    error::hipError_t,
};

macro_rules! opaque {
    ($($(#[$doc:meta])* $tag:ident as $handle:ident;)*) => { $(
        #[doc = concat!("Never dereferenced: see [`", stringify!($handle), "`].")]
        #[repr(C)]
        #[derive(Debug)]
        pub struct $tag {
            _opaque: [u8; 0],
        }
        $(#[$doc])*
        pub type $handle = *mut $tag;
    )* };
}

pub(crate) use opaque;

opaque! {
    /// A stream; null is the null stream, 1 is `hipStreamLegacy`, 2 is `hipStreamPerThread`.
    ihipStream_t as hipStream_t;
    /// An event.
    ihipEvent_t as hipEvent_t;
    /// A loaded module.
    ihipModule_t as hipModule_t;
    /// A kernel of a module.
    ihipModuleSymbol_t as hipFunction_t;
    /// A context of the driver API.
    ihipCtx_t as hipCtx_t;
    /// A stream-ordered memory pool.
    ihipMemPoolHandle_t as hipMemPool_t;
}

/// Pseudo-handle of the null stream (HIP 6.3 and later).
pub const HIP_STREAM_LEGACY: usize = 1;
/// Pseudo-handle of the calling thread's own stream.
pub const HIP_STREAM_PER_THREAD: usize = 2;

/// A device ordinal.
pub type hipDevice_t = i32;
/// A device address.
pub type hipDeviceptr_t = *mut c_void;
/// A function that a stream calls on the host (`hipStreamAddCallback`).
pub type hipStreamCallback_t =
    Option<unsafe extern "C" fn(stream: hipStream_t, status: hipError_t, user_data: *mut c_void)>;
/// A function that a stream calls on the host (`hipLaunchHostFunc`).
pub type hipHostFn_t = Option<unsafe extern "C" fn(user_data: *mut c_void)>;

/// Three sizes, in blocks or threads.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct dim3 {
    /// X.
    pub x: u32,
    /// Y.
    pub y: u32,
    /// Z.
    pub z: u32,
}

impl From<[u32; 3]> for dim3 {
    fn from([x, y, z]: [u32; 3]) -> Self {
        dim3 { x, y, z }
    }
}

impl From<dim3> for [u32; 3] {
    fn from(sizes: dim3) -> Self {
        [sizes.x, sizes.y, sizes.z]
    }
}

/// Feature bits of a device.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct hipDeviceArch_t {
    /// Bit 0 `hasGlobalInt32Atomics` to bit 16 `hasDynamicParallelism`, in the order of the header's bit fields.
    pub bits: u32,
}

/// A device's unique identity.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct hipUUID {
    /// 16 bytes.
    pub bytes: [c_char; 16],
}

/// What HIP knows of a pointer.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipPointerAttribute_t {
    /// `hipMemoryType` of the presented version.
    pub r#type: u32,
    /// Device ordinal.
    pub device: i32,
    /// Device address, or null.
    pub devicePointer: *mut c_void,
    /// Host address, or null.
    pub hostPointer: *mut c_void,
    /// 1 for managed memory.
    pub isManaged: i32,
    /// Flags given at allocation.
    pub allocationFlags: u32,
}

/// What a kernel needs.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct hipFuncAttributes {
    /// Major × 10 + minor of the target.
    pub binaryVersion: i32,
    /// Always 0.
    pub cacheModeCA: i32,
    /// Bytes of constant memory.
    pub constSizeBytes: usize,
    /// Bytes of scratch of a thread.
    pub localSizeBytes: usize,
    /// Bytes of dynamic LDS that a launch may ask for.
    pub maxDynamicSharedSizeBytes: i32,
    /// Threads of a block at most.
    pub maxThreadsPerBlock: i32,
    /// Vector registers.
    pub numRegs: i32,
    /// Always 0.
    pub preferredShmemCarveout: i32,
    /// Same as `binaryVersion`.
    pub ptxVersion: i32,
    /// Bytes of static LDS.
    pub sharedSizeBytes: usize,
}

/// One launch of a multi-device launch.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipLaunchParams {
    /// Host address of the kernel.
    pub func: *mut c_void,
    /// Grid in blocks.
    pub gridDim: dim3,
    /// Block in threads.
    pub blockDim: dim3,
    /// Addresses of the arguments.
    pub args: *mut *mut c_void,
    /// Bytes of dynamic LDS.
    pub sharedMem: usize,
    /// Stream.
    pub stream: hipStream_t,
}

/// One launch of `hipModuleLaunchCooperativeKernelMultiDevice`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipFunctionLaunchParams {
    /// Kernel.
    pub function: hipFunction_t,
    /// Grid in blocks.
    pub gridDimX: u32,
    /// Grid in blocks.
    pub gridDimY: u32,
    /// Grid in blocks.
    pub gridDimZ: u32,
    /// Block in threads.
    pub blockDimX: u32,
    /// Block in threads.
    pub blockDimY: u32,
    /// Block in threads.
    pub blockDimZ: u32,
    /// Bytes of dynamic LDS.
    pub sharedMemBytes: u32,
    /// Stream.
    pub hStream: hipStream_t,
    /// Addresses of the arguments.
    pub kernelParams: *mut *mut c_void,
}

/// One attribute of an extended launch (HIP 7).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipLaunchAttribute {
    /// `hipLaunchAttributeID`.
    pub id: u32,
    /// Padding.
    pub pad: [u8; 4],
    /// A union of 64 bytes; for `hipLaunchAttributeCooperative` an `int` in the first four.
    pub val: [u64; 8],
}

/// An extended launch of the runtime API (HIP 7).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipLaunchConfig_t {
    /// Grid in blocks.
    pub gridDim: dim3,
    /// Block in threads.
    pub blockDim: dim3,
    /// Bytes of dynamic LDS.
    pub dynamicSmemBytes: usize,
    /// Stream.
    pub stream: hipStream_t,
    /// Attributes.
    pub attrs: *mut hipLaunchAttribute,
    /// How many.
    pub numAttrs: u32,
}

/// An extended launch of the driver API (HIP 7).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HIP_LAUNCH_CONFIG {
    /// Grid in blocks.
    pub gridDimX: u32,
    /// Grid in blocks.
    pub gridDimY: u32,
    /// Grid in blocks.
    pub gridDimZ: u32,
    /// Block in threads.
    pub blockDimX: u32,
    /// Block in threads.
    pub blockDimY: u32,
    /// Block in threads.
    pub blockDimZ: u32,
    /// Bytes of dynamic LDS.
    pub sharedMemBytes: u32,
    /// Stream.
    pub hStream: hipStream_t,
    /// Attributes.
    pub attrs: *mut hipLaunchAttribute,
    /// How many.
    pub numAttrs: u32,
}

/// Bits of a channel, by component, and their kind.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct hipChannelFormatDesc {
    /// Bits of x.
    pub x: i32,
    /// Bits of y.
    pub y: i32,
    /// Bits of z.
    pub z: i32,
    /// Bits of w.
    pub w: i32,
    /// Kind of all.
    pub f: hipChannelFormatKind,
}

/// A HIP array. Its fields are public in HIP 5; later headers keep them hidden.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipArray {
    /// Device address of the first element.
    pub data: *mut c_void,
    /// Channel format.
    pub desc: hipChannelFormatDesc,
    /// Flags given at creation.
    pub r#type: u32,
    /// Elements of a row.
    pub width: u32,
    /// Rows, or 0.
    pub height: u32,
    /// Slices, or 0.
    pub depth: u32,
    /// Element format.
    pub Format: hipArray_Format,
    /// Channels of an element.
    pub NumChannels: u32,
    /// Made by the driver API.
    pub isDrv: bool,
    /// Texture type.
    pub textureType: u32,
}

/// A handle of an array: the address of a [`hipArray`] that HIP owns.
pub type hipArray_t = *mut hipArray;

/// A pitched allocation.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipPitchedPtr {
    /// First byte.
    pub ptr: *mut c_void,
    /// Bytes from a row to the next.
    pub pitch: usize,
    /// Row width in elements.
    pub xsize: usize,
    /// Rows.
    pub ysize: usize,
}

/// A size of three dimensions: width in bytes for linear memory, in elements for arrays.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct hipExtent {
    /// Width.
    pub width: usize,
    /// Height in rows.
    pub height: usize,
    /// Depth in slices.
    pub depth: usize,
}

/// A position in three dimensions.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct hipPos {
    /// X: bytes for linear memory, elements for arrays.
    pub x: usize,
    /// Y in rows.
    pub y: usize,
    /// Z in slices.
    pub z: usize,
}

/// A copy of three dimensions (`hipMemcpy3D`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipMemcpy3DParms {
    /// Source array, or null.
    pub srcArray: hipArray_t,
    /// Source position.
    pub srcPos: hipPos,
    /// Source memory, if there is no source array.
    pub srcPtr: hipPitchedPtr,
    /// Destination array, or null.
    pub dstArray: hipArray_t,
    /// Destination position.
    pub dstPos: hipPos,
    /// Destination memory, if there is no destination array.
    pub dstPtr: hipPitchedPtr,
    /// Size.
    pub extent: hipExtent,
    /// Direction.
    pub kind: hipMemcpyKind,
}

/// A copy of two dimensions of the driver API (`hipMemcpyParam2D`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hip_Memcpy2D {
    /// Source column in bytes.
    pub srcXInBytes: usize,
    /// Source row.
    pub srcY: usize,
    /// `hipMemoryType` of the presented version.
    pub srcMemoryType: u32,
    /// Source if host memory.
    pub srcHost: *const c_void,
    /// Source if device memory.
    pub srcDevice: hipDeviceptr_t,
    /// Source if an array.
    pub srcArray: hipArray_t,
    /// Bytes of a source row, with padding.
    pub srcPitch: usize,
    /// Destination column in bytes.
    pub dstXInBytes: usize,
    /// Destination row.
    pub dstY: usize,
    /// `hipMemoryType` of the presented version.
    pub dstMemoryType: u32,
    /// Destination if host memory.
    pub dstHost: *mut c_void,
    /// Destination if device memory.
    pub dstDevice: hipDeviceptr_t,
    /// Destination if an array.
    pub dstArray: hipArray_t,
    /// Bytes of a destination row, with padding.
    pub dstPitch: usize,
    /// Bytes of a row to copy.
    pub WidthInBytes: usize,
    /// Rows to copy.
    pub Height: usize,
}

macro_rules! memcpy_3d {
    ($(#[$doc:meta])* $name:ident, $number:ty) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            /// Source column in bytes.
            pub srcXInBytes: $number,
            /// Source row.
            pub srcY: $number,
            /// Source slice.
            pub srcZ: $number,
            /// Source level of detail (0).
            pub srcLOD: $number,
            /// `hipMemoryType` of the presented version.
            pub srcMemoryType: u32,
            /// Source if host memory.
            pub srcHost: *const c_void,
            /// Source if device memory.
            pub srcDevice: hipDeviceptr_t,
            /// Source if an array.
            pub srcArray: hipArray_t,
            /// Bytes of a source row, with padding.
            pub srcPitch: $number,
            /// Rows of a source slice.
            pub srcHeight: $number,
            /// Destination column in bytes.
            pub dstXInBytes: $number,
            /// Destination row.
            pub dstY: $number,
            /// Destination slice.
            pub dstZ: $number,
            /// Destination level of detail (0).
            pub dstLOD: $number,
            /// `hipMemoryType` of the presented version.
            pub dstMemoryType: u32,
            /// Destination if host memory.
            pub dstHost: *mut c_void,
            /// Destination if device memory.
            pub dstDevice: hipDeviceptr_t,
            /// Destination if an array.
            pub dstArray: hipArray_t,
            /// Bytes of a destination row, with padding.
            pub dstPitch: $number,
            /// Rows of a destination slice.
            pub dstHeight: $number,
            /// Bytes of a row to copy.
            pub WidthInBytes: $number,
            /// Rows to copy.
            pub Height: $number,
            /// Slices to copy.
            pub Depth: $number,
        }
    };
}

memcpy_3d! {
    /// A copy of three dimensions of the driver API, as HIP 5 lays it out.
    HIP_MEMCPY3D_R0000, u32
}
memcpy_3d! {
    /// A copy of three dimensions of the driver API, as HIP 6 and 7 lay it out.
    HIP_MEMCPY3D, usize
}

/// A driver API array's shape, one or two dimensions.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HIP_ARRAY_DESCRIPTOR {
    /// Elements of a row.
    pub Width: usize,
    /// Rows, or 0.
    pub Height: usize,
    /// Format of a channel.
    pub Format: hipArray_Format,
    /// Channels of an element.
    pub NumChannels: u32,
}

/// A driver API array's shape, up to three dimensions.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HIP_ARRAY3D_DESCRIPTOR {
    /// Elements of a row.
    pub Width: usize,
    /// Rows, or 0.
    pub Height: usize,
    /// Slices, or 0.
    pub Depth: usize,
    /// Format of a channel.
    pub Format: hipArray_Format,
    /// Channels of an element.
    pub NumChannels: u32,
    /// `hipArray…` flags.
    pub Flags: u32,
}

/// A memory handle that another process can open.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipIpcMemHandle_t {
    /// Bytes without meaning to the caller.
    pub reserved: [c_char; 64],
}

/// An event handle that another process can open.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipIpcEventHandle_t {
    /// Bytes without meaning to the caller.
    pub reserved: [c_char; 64],
}

/// A place of memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct hipMemLocation {
    /// What `id` means.
    pub r#type: hipMemLocationType,
    /// Device ordinal.
    pub id: i32,
}

/// Who may access a pool.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct hipMemAccessDesc {
    /// Where.
    pub location: hipMemLocation,
    /// Rights.
    pub flags: hipMemAccessFlags,
}

/// Shape of a memory pool.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipMemPoolProps {
    /// Must be pinned.
    pub allocType: hipMemAllocationType,
    /// Handles that allocations can be exported as.
    pub handleTypes: hipMemAllocationHandleType,
    /// Where allocations live.
    pub location: hipMemLocation,
    /// Unused on Linux.
    pub win32SecurityAttributes: *mut c_void,
    /// Bytes of the pool at most (HIP 6 and later; reserved before), 0 for no bound.
    pub maxSize: usize,
    /// Must be 0.
    pub reserved: [u8; 56],
}

const _: () = {
    assert!(size_of::<dim3>() == 12);
    assert!(size_of::<hipDeviceArch_t>() == 4);
    assert!(size_of::<hipUUID>() == 16);
    assert!(size_of::<hipPointerAttribute_t>() == 32);
    assert!(size_of::<hipFuncAttributes>() == 56);
    assert!(size_of::<hipLaunchParams>() == 56);
    assert!(size_of::<hipLaunchAttribute>() == 72);
    assert!(size_of::<hipLaunchConfig_t>() == 56);
    assert!(size_of::<HIP_LAUNCH_CONFIG>() == 56);
    assert!(size_of::<hipChannelFormatDesc>() == 20);
    assert!(size_of::<hipArray>() == 64);
    assert!(size_of::<hipPitchedPtr>() == 32);
    assert!(size_of::<hipExtent>() == 24);
    assert!(size_of::<hipPos>() == 24);
    assert!(size_of::<hipMemcpy3DParms>() == 160);
    assert!(size_of::<hip_Memcpy2D>() == 128);
    assert!(size_of::<HIP_MEMCPY3D_R0000>() == 128);
    assert!(size_of::<HIP_MEMCPY3D>() == 184);
    assert!(size_of::<HIP_ARRAY_DESCRIPTOR>() == 24);
    assert!(size_of::<HIP_ARRAY3D_DESCRIPTOR>() == 40);
    assert!(size_of::<hipIpcMemHandle_t>() == 64);
    assert!(size_of::<hipIpcEventHandle_t>() == 64);
    assert!(size_of::<hipMemLocation>() == 8);
    assert!(size_of::<hipMemAccessDesc>() == 12);
    assert!(size_of::<hipMemPoolProps>() == 88);
};
