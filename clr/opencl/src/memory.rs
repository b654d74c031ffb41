//! Memory objects: buffers, sub-buffers, images and pipes over memory of the runtime below.
//!
//! A context of one device has its buffers in that device's memory; one of several devices in pinned host memory, which all of them can use.
//! `CL_MEM_USE_HOST_PTR` pins the caller's memory and uses it where it is.

use std::{ffi::c_void, sync::Arc};

use gneiss_clr::{CopyRect, Mapping};
use parking_lot::Mutex;

use crate::{
    cl_api,
    constants::*,
    context::{Context, UserData},
    defer,
    device_info::{BASE_ALIGN, max_allocation},
    error::Result,
    fail,
    handle::{Handle, Object as _, get, object},
    image::Image,
    info::Query,
    storage::{Storage, storage_for},
    types::*,
};

/// What is mapped for the host.
#[derive(Debug)]
pub struct Mapped {
    /// Where the host found it.
    pub pointer: usize,
    /// What its end does.
    pub end: MapEnd,
}

/// What the end of a map does.
#[derive(Debug)]
pub enum MapEnd {
    /// It ends the map below.
    Memory(Mapping),
    /// It carries an image back from the program's memory, if that was written.
    Copy(Option<CopyRect>),
}

/// A memory object.
#[derive(Debug)]
pub struct Mem {
    handle: Handle<Mem>,
    /// Its context.
    pub context: Arc<Context>,
    /// `CL_MEM_OBJECT_…`.
    pub kind: cl_uint,
    /// Flags, those of the parent included.
    pub flags: cl_bitfield,
    /// Bytes.
    pub size: usize,
    host_ptr: usize,
    parent: Option<Arc<Mem>>,
    /// First byte in the parent.
    origin: usize,
    /// There until the object ends.
    storage: Option<Arc<Storage>>,
    properties: Option<Vec<cl_property>>,
    /// If it is an image.
    pub image: Option<Image>,
    /// Bytes of a packet and packets, if it is a pipe.
    pub pipe: Option<[cl_uint; 2]>,
    ends: Mutex<Vec<(MemEnd, UserData)>>,
    /// What is mapped.
    pub maps: Mutex<Vec<Mapped>>,
}

object!(Mem, CL_INVALID_MEM_OBJECT);

/// What a memory object is made from.
#[derive(Debug)]
pub struct Parts {
    /// Its context.
    pub context: Arc<Context>,
    /// `CL_MEM_OBJECT_…`.
    pub kind: cl_uint,
    /// Flags.
    pub flags: cl_bitfield,
    /// Bytes.
    pub size: usize,
    /// The caller's memory.
    pub host_ptr: usize,
    /// What it is a part of, and where.
    pub parent: Option<(Arc<Mem>, usize)>,
    /// Its bytes.
    pub storage: Arc<Storage>,
    /// The property list, with its zero.
    pub properties: Option<Vec<cl_property>>,
    /// If it is an image.
    pub image: Option<Image>,
    /// If it is a pipe.
    pub pipe: Option<[cl_uint; 2]>,
}

impl Mem {
    /// Makes an object and its handle.
    ///
    /// # Errors
    /// `CL_OUT_OF_HOST_MEMORY`.
    pub fn create(parts: Parts) -> Result<Arc<Mem>> {
        let (parent, origin) = match parts.parent {
            Some((parent, origin)) => (Some(parent), origin),
            None => (None, 0),
        };
        Mem::table()
            .insert(|handle| Mem {
                handle,
                context: parts.context,
                kind: parts.kind,
                flags: parts.flags,
                size: parts.size,
                host_ptr: parts.host_ptr,
                parent,
                origin,
                storage: Some(parts.storage),
                properties: parts.properties,
                image: parts.image,
                pipe: parts.pipe,
                ends: Mutex::default(),
                maps: Mutex::default(),
            })
            .ok_or(CL_OUT_OF_HOST_MEMORY)
    }

    /// Its bytes.
    ///
    /// # Errors
    /// `CL_INVALID_MEM_OBJECT`: never, as long as there are references.
    pub fn storage(&self) -> Result<&Arc<Storage>> {
        self.storage.as_ref().ok_or(CL_INVALID_MEM_OBJECT)
    }

    /// First byte in the memory below.
    ///
    /// # Errors
    /// As [`storage`](Self::storage).
    pub fn offset(&self) -> Result<usize> {
        Ok(self.storage()?.offset + self.origin)
    }

    /// Device address of the first byte.
    ///
    /// # Errors
    /// As [`storage`](Self::storage).
    pub fn address(&self) -> Result<u64> {
        let storage = self.storage()?;
        Ok(storage.memory.device_address() + (storage.offset + self.origin) as u64)
    }

    /// Whether the bytes of both are the same ones.
    pub fn shares_with(&self, other: &Mem) -> bool {
        match (&self.storage, &other.storage) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            _ => false,
        }
    }

    /// The handle of what it is a part of; null: nothing.
    pub fn parent(&self) -> cl_mem {
        let parent = self.parent.as_ref();
        parent.map_or(std::ptr::null_mut(), |parent| parent.handle.raw())
    }

    /// Whether it is a buffer.
    pub fn is_buffer(&self) -> bool {
        self.kind == CL_MEM_OBJECT_BUFFER
    }

    /// The caller's pointer to the first byte, for `CL_MEM_USE_HOST_PTR`.
    pub fn host_ptr(&self) -> usize {
        self.host_ptr
    }
}

impl Drop for Mem {
    fn drop(&mut self) {
        let storage = self.storage.take();
        let maps = std::mem::take(self.maps.get_mut());
        let ends = std::mem::take(self.ends.get_mut());
        let handle = self.handle.raw().expose_provenance();
        let parent = self.parent.take();
        let image = self.image.take();
        // Parts share the storage of what they are parts of, which ends after them.
        if let Some(storage) = storage.as_ref().filter(|_| parent.is_none()) {
            storage.let_go();
        }
        defer::when_idle(&self.context.devices, move || {
            for (end, data) in ends.into_iter().rev() {
                if let Some(end) = end {
                    // SAFETY: the program has given the function for this; the handle is only a number by now.
                    unsafe { end(std::ptr::with_exposed_provenance_mut(handle), data.get()) };
                }
            }
            drop((maps, image, storage, parent));
        });
    }
}

const ACCESS: cl_bitfield = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
const HOST_ACCESS: cl_bitfield =
    CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
const HOST_POINTER: cl_bitfield =
    CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;

/// Checks flags of a new object, and that there is a host pointer where they want one.
///
/// # Errors
/// `CL_INVALID_VALUE`, `CL_INVALID_HOST_PTR`.
pub fn check_flags(flags: cl_bitfield, host_ptr: *const c_void) -> Result<cl_bitfield> {
    let uses = flags & CL_MEM_USE_HOST_PTR != 0;
    let several = (flags & ACCESS).count_ones() > 1
        || (flags & HOST_ACCESS).count_ones() > 1
        || (uses && flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR) != 0);
    if several || flags & !(ACCESS | HOST_ACCESS | HOST_POINTER | CL_MEM_KERNEL_READ_AND_WRITE) != 0
    {
        return fail!(CL_INVALID_VALUE, "memory flags {flags:#x}");
    }
    let wants = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR) != 0;
    if wants == host_ptr.is_null() {
        return fail!(
            CL_INVALID_HOST_PTR,
            "memory flags {flags:#x} with the host pointer {host_ptr:p}"
        );
    }
    Ok(if flags & ACCESS == 0 {
        flags | CL_MEM_READ_WRITE
    } else {
        flags
    })
}

fn create_buffer(
    context: cl_context,
    properties: Option<Vec<cl_property>>,
    flags: cl_bitfield,
    size: usize,
    host_ptr: *mut c_void,
) -> Result<cl_mem> {
    let context = get(context)?;
    if properties.as_ref().is_some_and(|list| list.len() > 1) {
        return fail!(
            CL_INVALID_PROPERTY,
            "a buffer cannot have property {properties:?}"
        );
    }
    let most = context
        .devices
        .iter()
        .map(|device| max_allocation(device))
        .max();
    if size == 0 || size > most.unwrap_or(0) {
        return fail!(CL_INVALID_BUFFER_SIZE, "a buffer of {size} bytes");
    }
    let flags = check_flags(flags, host_ptr)?;
    let storage = storage_for(&context, flags, size, host_ptr)?;
    let kept = flags & CL_MEM_USE_HOST_PTR != 0;
    let buffer = Mem::create(Parts {
        context,
        kind: CL_MEM_OBJECT_BUFFER,
        flags,
        size,
        host_ptr: if kept {
            host_ptr.expose_provenance()
        } else {
            0
        },
        parent: None,
        storage: Arc::new(storage),
        properties,
        image: None,
        pipe: None,
    })?;
    Ok(buffer.handle.raw())
}

/// The flags of a part of a buffer: its own, and what it has of its parent.
///
/// # Errors
/// `CL_INVALID_VALUE`.
pub fn sub_flags(parent: cl_bitfield, flags: cl_bitfield) -> Result<cl_bitfield> {
    let refused = || {
        fail!(
            CL_INVALID_VALUE,
            "flags {flags:#x} of a part of a buffer with {parent:#x}"
        )
    };
    if flags & HOST_POINTER != 0 || flags & !(ACCESS | HOST_ACCESS) != 0 {
        return refused();
    }
    if (flags & ACCESS).count_ones() > 1 || (flags & HOST_ACCESS).count_ones() > 1 {
        return refused();
    }
    let (own, its) = (flags & ACCESS, parent & ACCESS);
    let wider = match its {
        CL_MEM_READ_ONLY => own & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY) != 0,
        CL_MEM_WRITE_ONLY => own & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY) != 0,
        _ => false,
    };
    let (own_host, its_host) = (flags & HOST_ACCESS, parent & HOST_ACCESS);
    let wider_host = match its_host {
        CL_MEM_HOST_READ_ONLY => own_host & CL_MEM_HOST_WRITE_ONLY != 0,
        CL_MEM_HOST_WRITE_ONLY => own_host & CL_MEM_HOST_READ_ONLY != 0,
        CL_MEM_HOST_NO_ACCESS => own_host & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY) != 0,
        _ => false,
    };
    if wider || wider_host {
        return refused();
    }
    let access = if own == 0 { its } else { own };
    let host = if own_host == 0 { its_host } else { own_host };
    Ok(access | host | parent & HOST_POINTER)
}

/// Whether the memory is shared virtual memory.
fn is_svm(mem: &Mem) -> bool {
    mem.storage.as_ref().is_some_and(|storage| storage.is_svm())
}

cl_api! {
    /// Makes a buffer.
    create fn clCreateBuffer(context: cl_context, flags: cl_bitfield, size: usize, host_ptr: *mut c_void) -> cl_mem {
        create_buffer(context, None, flags, size, host_ptr)
    }

    /// Makes a buffer with a list of properties, of which there are none.
    create fn clCreateBufferWithProperties(
        context: cl_context, properties: In<cl_property>, flags: cl_bitfield, size: usize, host_ptr: *mut c_void,
    ) -> cl_mem {
        let list = (!properties.is_null()).then(|| {
            let mut list: Vec<_> = properties.pairs().into_iter().flat_map(|(name, value)| [name, value]).collect();
            list.push(0);
            list
        });
        create_buffer(context, list, flags, size, host_ptr)
    }

    /// Makes a buffer of a part of another one.
    create fn clCreateSubBuffer(
        buffer: cl_mem, flags: cl_bitfield, buffer_create_type: cl_uint, buffer_create_info: In<cl_buffer_region>,
    ) -> cl_mem {
        let parent = get(buffer)?;
        if !parent.is_buffer() || parent.parent.is_some() {
            return fail!(CL_INVALID_MEM_OBJECT, "only a buffer that is no sub-buffer has sub-buffers");
        }
        let flags = sub_flags(parent.flags, flags)?;
        if buffer_create_type != CL_BUFFER_CREATE_TYPE_REGION {
            return fail!(CL_INVALID_VALUE, "sub-buffers of type {buffer_create_type:#x}");
        }
        let Some(region) = buffer_create_info.get() else {
            return fail!(CL_INVALID_VALUE, "no region");
        };
        if region.origin > parent.size || region.size > parent.size - region.origin {
            return fail!(CL_INVALID_VALUE, "{region:?} is not in a buffer of {} bytes", parent.size);
        }
        if region.size == 0 {
            return fail!(CL_INVALID_BUFFER_SIZE, "a sub-buffer without bytes");
        }
        if !region.origin.is_multiple_of(BASE_ALIGN) {
            return fail!(CL_MISALIGNED_SUB_BUFFER_OFFSET, "origin {} is no multiple of {BASE_ALIGN}", region.origin);
        }
        let host_ptr = if parent.host_ptr == 0 { 0 } else { parent.host_ptr + region.origin };
        let sub_buffer = Mem::create(Parts {
            context: Arc::clone(&parent.context),
            kind: CL_MEM_OBJECT_BUFFER,
            flags,
            size: region.size,
            host_ptr,
            storage: Arc::clone(parent.storage()?),
            parent: Some((parent, region.origin)),
            properties: None,
            image: None,
            pipe: None,
        })?;
        Ok(sub_buffer.handle.raw())
    }

    /// One more reference.
    fn clRetainMemObject(memobj: cl_mem) {
        Mem::table().retain(memobj)
    }

    /// One reference less.
    fn clReleaseMemObject(memobj: cl_mem) {
        Mem::table().release(memobj).map(drop)
    }

    /// Says what a memory object is.
    fn clGetMemObjectInfo(
        memobj: cl_mem, param_name: cl_name, param_value_size: usize, param_value: *mut c_void,
        param_value_size_ret: Out<usize>,
    ) {
        let mem = get(memobj)?;
        let query = Query { size: param_value_size, value: param_value, needed: param_value_size_ret };
        match param_name {
            CL_MEM_TYPE => query.value(mem.kind),
            CL_MEM_FLAGS => query.value(mem.flags),
            CL_MEM_SIZE => query.value(mem.size),
            CL_MEM_HOST_PTR => query.value(mem.host_ptr),
            CL_MEM_MAP_COUNT => query.value(mem.maps.lock().len() as cl_uint),
            CL_MEM_REFERENCE_COUNT => query.value(Mem::table().references(memobj)),
            CL_MEM_CONTEXT => query.value(mem.context.handle().raw()),
            CL_MEM_ASSOCIATED_MEMOBJECT => {
                query.value(mem.parent())
            }
            // Of parts of buffers only.
            CL_MEM_OFFSET => query.value(if mem.is_buffer() { mem.origin } else { 0 }),
            CL_MEM_USES_SVM_POINTER => query.truth(is_svm(&mem)),
            CL_MEM_PROPERTIES => query.list(mem.properties.as_deref().unwrap_or_default()),
            name => query.unknown(name),
        }
    }

    /// Asks to be told of a memory object's end.
    fn clSetMemObjectDestructorCallback(memobj: cl_mem, pfn_notify: MemEnd, user_data: *mut c_void) {
        let mem = get(memobj)?;
        if pfn_notify.is_none() {
            return fail!(CL_INVALID_VALUE, "no function");
        }
        mem.ends.lock().push((pfn_notify, UserData(user_data)));
        Ok(())
    }
}
