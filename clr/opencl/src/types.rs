//! C types of the OpenCL headers, and wrappers for what a C caller passes by address.
//!
//! The wrappers ([`In`], [`Out`], [`Text`]) have the layout of the pointers that the headers have in their place. That each is null or good for
//! what the specification says of the argument is the contract of every `cl…` function ("Safety"): so they are only made by C callers, and
//! following them is safe from there on.

use std::ffi::{CStr, c_char, c_void};

use crate::{
    context::Context, device::Device, event::Event, handle::Slot, kernel::Kernel, memory::Mem,
    platform::Platform, program::Program, queue::Queue, sampler::Sampler,
};

/// `cl_int`.
pub type cl_int = i32;
/// `cl_uint`.
pub type cl_uint = u32;
/// `cl_ulong`.
pub type cl_ulong = u64;
/// `cl_bool`.
pub type cl_bool = cl_uint;
/// `cl_bitfield`: flags.
pub type cl_bitfield = cl_ulong;
/// Names of parameters of queries.
pub type cl_name = cl_uint;
/// Element of a property list.
pub type cl_property = cl_ulong;
/// Element of a property list that may be a pointer.
pub type cl_pointer_property = isize;

/// `cl_platform_id`.
pub type cl_platform_id = *mut Slot<Platform>;
/// `cl_device_id`.
pub type cl_device_id = *mut Slot<Device>;
/// `cl_context`.
pub type cl_context = *mut Slot<Context>;
/// `cl_command_queue`.
pub type cl_command_queue = *mut Slot<Queue>;
/// `cl_mem`.
pub type cl_mem = *mut Slot<Mem>;
/// `cl_sampler`.
pub type cl_sampler = *mut Slot<Sampler>;
/// `cl_program`.
pub type cl_program = *mut Slot<Program>;
/// `cl_kernel`.
pub type cl_kernel = *mut Slot<Kernel>;
/// `cl_event`.
pub type cl_event = *mut Slot<Event>;

/// `cl_version` of a name: a version of packed bits and a text.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct cl_name_version {
    /// 10 bits major, 10 bits minor, 12 bits patch.
    pub version: cl_uint,
    /// The name, ended by a zero.
    pub name: [u8; 64],
}

impl cl_name_version {
    /// A name of at most 63 bytes with a version.
    pub fn new(name: &str, version: cl_uint) -> Self {
        let mut text = [0; 64];
        let len = name.len().min(63);
        text[..len].copy_from_slice(&name.as_bytes()[..len]);
        Self {
            version,
            name: text,
        }
    }
}

/// `CL_MAKE_VERSION`.
pub const fn version(major: u32, minor: u32, patch: u32) -> cl_uint {
    major << 22 | minor << 12 | patch
}

/// `cl_buffer_region`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cl_buffer_region {
    /// First byte.
    pub origin: usize,
    /// Bytes.
    pub size: usize,
}

/// `cl_image_format`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct cl_image_format {
    /// `CL_RGBA` and so on.
    pub image_channel_order: cl_uint,
    /// `CL_UNORM_INT8` and so on.
    pub image_channel_data_type: cl_uint,
}

/// `cl_image_desc`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cl_image_desc {
    /// `CL_MEM_OBJECT_IMAGE2D` and so on.
    pub image_type: cl_uint,
    /// Texels.
    pub image_width: usize,
    /// Rows.
    pub image_height: usize,
    /// Slices.
    pub image_depth: usize,
    /// Layers.
    pub image_array_size: usize,
    /// Bytes from row to row of the host's memory.
    pub image_row_pitch: usize,
    /// Bytes from slice to slice of the host's memory.
    pub image_slice_pitch: usize,
    /// Must be 0.
    pub num_mip_levels: cl_uint,
    /// Must be 0.
    pub num_samples: cl_uint,
    /// Memory that the image is made from.
    pub mem_object: cl_mem,
}

/// A function that is told of errors in a context.
pub type ContextNotify =
    Option<unsafe extern "C" fn(*const c_char, *const c_void, usize, *mut c_void)>;
/// A function that is told that something of a program has ended.
pub type ProgramNotify = Option<unsafe extern "C" fn(cl_program, *mut c_void)>;
/// A function that is told of the end of a context.
pub type ContextEnd = Option<unsafe extern "C" fn(cl_context, *mut c_void)>;
/// A function that is told of the end of a memory object.
pub type MemEnd = Option<unsafe extern "C" fn(cl_mem, *mut c_void)>;
/// A function that is told of a status of an event.
pub type EventNotify = Option<unsafe extern "C" fn(cl_event, cl_int, *mut c_void)>;
/// A function of the program's that a queue calls.
pub type NativeFunction = Option<unsafe extern "C" fn(*mut c_void)>;
/// A function that frees shared virtual memory.
pub type SvmFree =
    Option<unsafe extern "C" fn(cl_command_queue, cl_uint, *mut *mut c_void, *mut c_void)>;

/// A pointer to input: null, or good for reading as many elements as the call says.
#[repr(transparent)]
#[derive(Debug)]
pub struct In<T>(*const T);

impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for In<T> {}

impl<T: Copy> In<T> {
    /// A pointer that a C caller has passed in another type.
    pub(crate) fn new(pointer: *const T) -> Self {
        Self(pointer)
    }

    /// The pointer itself.
    pub fn pointer(self) -> *const T {
        self.0
    }

    /// Whether it is null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The only element.
    pub fn get(self) -> Option<T> {
        // SAFETY: the type's contract.
        (!self.0.is_null()).then(|| unsafe { self.0.read_unaligned() })
    }

    /// All elements; none where it is null.
    pub fn list(self, count: usize) -> Vec<T> {
        if self.0.is_null() {
            return Vec::new();
        }
        (0..count)
            // SAFETY: the type's contract.
            .map(|index| unsafe { self.0.add(index).read_unaligned() })
            .collect()
    }

    /// Name and value pairs up to a zero, without it.
    pub fn pairs(self) -> Vec<(T, T)>
    where
        T: PartialEq + Default,
    {
        let mut pairs = Vec::new();
        if self.0.is_null() {
            return pairs;
        }
        let mut at = self.0;
        loop {
            // SAFETY: the type's contract: a list of pairs that ends with a zero in the place of a name.
            let (name, value) = unsafe {
                let name = at.read_unaligned();
                if name == T::default() {
                    return pairs;
                }
                (name, at.add(1).read_unaligned())
            };
            pairs.push((name, value));
            // SAFETY: as above.
            at = unsafe { at.add(2) };
        }
    }
}

/// A pointer to a place for results: null, or good for writing as many elements as the call says.
#[repr(transparent)]
#[derive(Debug)]
pub struct Out<T>(*mut T);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Out<T> {}

impl<T> Out<T> {
    /// No place.
    pub(crate) const fn null() -> Self {
        Self(std::ptr::null_mut())
    }

    /// Whether it is null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Writes the only element, if there is a place.
    pub fn set(self, value: T) {
        self.put(0, value);
    }

    /// Writes an element, if there is a place.
    pub fn put(self, index: usize, value: T) {
        if !self.0.is_null() {
            // SAFETY: the type's contract.
            unsafe { self.0.add(index).write_unaligned(value) };
        }
    }
}

impl Out<u8> {
    /// Writes bytes, if there is a place.
    pub fn copy(self, bytes: &[u8]) {
        if !self.0.is_null() {
            // SAFETY: the type's contract.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.0, bytes.len()) };
        }
    }
}

/// A string that ends with a zero, or null.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Text(*const c_char);

impl Text {
    /// The bytes, without the zero.
    pub fn bytes(self) -> Option<&'static [u8]> {
        // SAFETY: the type's contract; the caller's string lives as long as the call, in which this is used.
        (!self.0.is_null()).then(|| unsafe { CStr::from_ptr(self.0) }.to_bytes())
    }

    /// The first bytes; 0: all up to the zero.
    pub fn first(self, length: usize) -> Option<&'static [u8]> {
        if length == 0 {
            return self.bytes();
        }
        // SAFETY: the type's contract, where the call gives a length.
        (!self.0.is_null()).then(|| unsafe { std::slice::from_raw_parts(self.0.cast(), length) })
    }

    /// The text; what is not UTF-8 is replaced.
    pub fn get(self) -> Option<String> {
        Some(String::from_utf8_lossy(self.bytes()?).into_owned())
    }
}
