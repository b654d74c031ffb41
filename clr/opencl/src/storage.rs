//! Where the bytes of memory objects are: in memory of a device, in pinned host memory, or in the caller's.

use std::{
    collections::HashMap,
    ffi::c_void,
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicUsize, Ordering},
    },
};

use gneiss_clr::{HostFlags, HostQueue, MemoryKind, QueueOptions};
use parking_lot::Mutex;

use crate::{
    constants::*,
    context::Context,
    error::{Result, code},
    fail, runtime,
    types::*,
};

/// Memory of the caller's that is pinned.
#[derive(Debug)]
struct Registered {
    memory: Arc<gneiss_clr::Memory>,
    address: usize,
    /// Memory objects that are alive and use it; changes under the lock of [`REGISTERED`]. Without one the caller may have let go of the memory:
    /// it is [hidden](gneiss_clr::Runtime::hide_registered) then, and stays pinned for the commands in flight alone.
    users: AtomicUsize,
    /// A smaller range at the same address, without users: unpinned after this one, for the library unpins the largest range of an address.
    _smaller: Option<Arc<Registered>>,
}

/// What is pinned, by address: two buffers may use the same memory.
static REGISTERED: Mutex<Option<HashMap<usize, Weak<Registered>>>> = Mutex::new(None);

impl Registered {
    /// One more memory object uses it. With the lock held.
    fn used(self: &Arc<Self>, clr: &gneiss_clr::Runtime) {
        if self.users.fetch_add(1, Ordering::Relaxed) == 0 {
            clr.show_registered(&self.memory);
        }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut registered = REGISTERED.lock();
        if let Some(list) = registered.as_mut()
            && (list.get(&self.address)).is_some_and(|known| known.strong_count() == 0)
        {
            list.remove(&self.address);
        }
        let result = runtime::started().map(|runtime| runtime.clr.unregister(&self.memory));
        drop(registered);
        if let Ok(Err(error)) = result {
            code(error);
        }
    }
}

/// Who owns the bytes.
#[derive(Debug)]
enum Owner {
    /// This object.
    Own,
    /// The caller, and it is pinned for us.
    Pinned(Arc<Registered>),
    /// The caller: shared virtual memory, or a part of what is pinned already.
    Foreign,
}

/// The bytes of a memory object, shared with its sub-buffers.
#[derive(Debug)]
pub struct Storage {
    /// Memory of the runtime below.
    pub memory: Arc<gneiss_clr::Memory>,
    /// First byte in it.
    pub offset: usize,
    owner: Owner,
}

impl Drop for Storage {
    fn drop(&mut self) {
        if let Owner::Own = self.owner {
            let address = self.memory.device_address() as usize;
            if let Ok(runtime) = runtime::started()
                && let Err(error) = runtime.clr.free(address)
            {
                code(error);
            }
        }
    }
}

/// Bytes that an object of the given size takes: whole pages, as AMD's runtime allocates, so that programs which touch a bit too much run as
/// they do there. With `GNEISS_OPENCL_EXACT=1` no more than it has.
fn room(size: usize) -> usize {
    const PAGE: usize = 4096;
    static EXACT: OnceLock<bool> = OnceLock::new();
    let exact = EXACT.get_or_init(|| gneiss_settings::switch("GNEISS_OPENCL_EXACT") == Some(true));
    if *exact {
        size
    } else {
        size.checked_next_multiple_of(PAGE).unwrap_or(size)
    }
}

impl Storage {
    fn pinned(context: &Context, address: usize, size: usize) -> Result<Self> {
        let clr = &runtime::started()?.clr;
        // Before the lock, as what ends with its last reference takes it.
        let mut held: Vec<Arc<Registered>> = Vec::new();
        let mut registered = REGISTERED.lock();
        let list = registered.get_or_insert_default();
        held.extend(list.values().filter_map(Weak::upgrade));
        let known = held.iter().find(|known| known.address == address);
        if let Some(known) = known.filter(|known| known.memory.size() >= size) {
            known.used(clr);
            return Ok(Self {
                memory: Arc::clone(&known.memory),
                offset: 0,
                owner: Owner::Pinned(Arc::clone(known)),
            });
        }
        if let Some((memory, offset)) = clr.find_memory(address) {
            let there = memory.size() - offset;
            if size <= there {
                let owner = held
                    .iter()
                    .find(|known| Arc::ptr_eq(&known.memory, &memory))
                    .map_or(Owner::Foreign, |known| {
                        known.used(clr);
                        Owner::Pinned(Arc::clone(known))
                    });
                return Ok(Self {
                    memory,
                    offset,
                    owner,
                });
            }
            if memory.kind() != MemoryKind::Registered {
                return fail!(
                    CL_INVALID_BUFFER_SIZE,
                    "a buffer of {size} bytes over shared virtual memory that has {there} there"
                );
            }
        }
        let device = &context.devices[0].clr;
        let flags = HostFlags::COHERENT | HostFlags::MAPPED | HostFlags::PORTABLE;
        // SAFETY: the caller of OpenCL promises that the memory lives as long as the buffer.
        let memory = unsafe { clr.register_host(device, address, size, flags) };
        let memory = memory.map_err(|error| {
            code(error);
            CL_MEM_OBJECT_ALLOCATION_FAILURE
        })?;
        let known = Arc::new(Registered {
            memory: Arc::clone(&memory),
            address,
            users: AtomicUsize::new(1),
            _smaller: known.cloned(),
        });
        list.insert(address, Arc::downgrade(&known));
        Ok(Self {
            memory,
            offset: 0,
            owner: Owner::Pinned(known),
        })
    }

    /// New bytes for a context; `host`: pinned host memory in any case.
    pub fn new(context: &Context, size: usize, host: bool) -> Result<Self> {
        let clr = &runtime::started()?.clr;
        let size = room(size);
        let device = &context.devices[0].clr;
        let memory = if host || context.devices.len() > 1 {
            let flags = HostFlags::COHERENT | HostFlags::MAPPED | HostFlags::PORTABLE;
            clr.allocate_host(device, size, flags)
        } else {
            clr.allocate_device(device, size, false)
        };
        let memory = memory.map_err(|error| {
            code(error);
            CL_MEM_OBJECT_ALLOCATION_FAILURE
        })?;
        Ok(Self {
            memory,
            offset: 0,
            owner: Owner::Own,
        })
    }

    /// The object has no handle any more; commands in flight may still use the bytes.
    pub fn let_go(&self) {
        if let Owner::Pinned(known) = &self.owner {
            let _registered = REGISTERED.lock();
            if known.users.fetch_sub(1, Ordering::Relaxed) == 1
                && let Ok(runtime) = runtime::started()
            {
                runtime.clr.hide_registered(&known.memory);
            }
        }
    }

    /// Whether it is shared virtual memory, which the caller has.
    pub fn is_svm(&self) -> bool {
        matches!(self.owner, Owner::Foreign) && self.memory.kind() == MemoryKind::Host
    }
}

/// Storage of `size` bytes for an object with flags.
///
/// # Errors
/// `CL_MEM_OBJECT_ALLOCATION_FAILURE`.
pub fn storage_for(
    context: &Context,
    flags: cl_bitfield,
    size: usize,
    host_ptr: *const c_void,
) -> Result<Storage> {
    if flags & CL_MEM_USE_HOST_PTR != 0 {
        return Storage::pinned(context, host_ptr.addr(), size);
    }
    let storage = Storage::new(context, size, flags & CL_MEM_ALLOC_HOST_PTR != 0)?;
    if flags & CL_MEM_COPY_HOST_PTR != 0 {
        write(context, &storage, host_ptr, size)?;
    }
    Ok(storage)
}

/// Fills new memory from the caller's.
fn write(context: &Context, storage: &Storage, from: *const c_void, size: usize) -> Result {
    if let Some(host) = storage.memory.host_address() {
        // SAFETY: the caller's memory has that many bytes, by the contract of the call; the other is new and as large.
        unsafe {
            std::ptr::copy_nonoverlapping(
                from.cast::<u8>(),
                std::ptr::with_exposed_provenance_mut::<u8>(host + storage.offset),
                size,
            );
        }
        return Ok(());
    }
    let to = storage.memory.device_address() + storage.offset as u64;
    // SAFETY: as above; the command ends before this function.
    now(&context.devices[0].clr, |queue| unsafe {
        queue.enqueue_copy(to, from.expose_provenance() as u64, size, &[])
    })
}

/// Runs a command in a queue of its own and waits for its end.
pub fn now(
    device: &Arc<gneiss_clr::Device>,
    enqueue: impl FnOnce(&HostQueue) -> gneiss_clr::Result<gneiss_clr::Event>,
) -> Result {
    let options = QueueOptions {
        awaited: true,
        ..QueueOptions::default()
    };
    let queue = HostQueue::new(device, options).map_err(code)?;
    enqueue(&queue).and_then(|event| event.wait()).map_err(code)
}
