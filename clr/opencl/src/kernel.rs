//! Kernels and their arguments.
//!
//! Arguments are checked when they are set and kept as the bytes that the kernel will see, save for those that a launch decides: local memory,
//! whose place depends on the others.

use std::{
    ffi::c_void,
    sync::{Arc, Weak, atomic::Ordering},
};

use gneiss_fatbin::{ArgumentMetadata, ValueKind};
use parking_lot::Mutex;

use crate::{
    constants::*,
    device::Device,
    error::Result,
    fail,
    handle::{Handle, Object as _, get, object},
    memory::Mem,
    program::{Loaded, Program},
    queue::Queue,
    runtime,
    sampler::Sampler,
    types::*,
};

/// What an argument was set to.
#[derive(Clone, Debug)]
pub enum Argument {
    /// Bytes, as the kernel sees them.
    Bytes(Vec<u8>),
    /// Memory, which may have ended when the kernel is launched; none: a null pointer.
    Memory(Option<Weak<Mem>>),
    /// An address.
    Address(u64),
    /// Bytes of local memory.
    Local(usize),
    /// A sampler.
    Sampler(Arc<Sampler>),
    /// A queue on a device, which may have ended when the kernel is launched.
    Queue(Weak<Queue>),
}

/// A kernel on one device.
#[derive(Debug)]
pub struct OnDevice {
    /// The device.
    pub device: Arc<Device>,
    /// The kernel below.
    pub clr: Arc<gneiss_clr::Kernel>,
    /// Its code object, held while the kernel is.
    #[expect(dead_code, reason = "held for its end")]
    loaded: Arc<Loaded>,
    /// Work-groups must all be of one size.
    pub uniform: bool,
}

/// A kernel.
#[derive(Debug)]
pub struct Kernel {
    handle: Handle<Kernel>,
    /// Its program.
    pub program: Arc<Program>,
    /// Its name.
    pub name: String,
    /// What it is on each device that the program is built for; at least one.
    pub devices: Vec<OnDevice>,
    /// What the arguments are set to.
    pub arguments: Mutex<Vec<Option<Argument>>>,
}

object!(Kernel, CL_INVALID_KERNEL);

impl Drop for Kernel {
    fn drop(&mut self) {
        self.program.kernels.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Kernel {
    /// Makes a kernel of a program.
    ///
    /// # Errors
    /// `CL_INVALID_PROGRAM_EXECUTABLE`, `CL_INVALID_KERNEL_NAME`, `CL_INVALID_KERNEL_DEFINITION`.
    pub fn create(
        program: &Arc<Program>,
        name: &str,
        arguments: Option<Vec<Option<Argument>>>,
    ) -> Result<Arc<Kernel>> {
        let builds = program.builds.lock().clone();
        let mut devices = Vec::new();
        let mut executable = false;
        for (device, build) in program.devices.iter().zip(&builds) {
            let Some(loaded) = &build.loaded else {
                continue;
            };
            executable = true;
            let mut kernels = loaded.kernels().iter();
            // Those of blocks are the device's to enqueue.
            let named =
                |kernel: &&Arc<gneiss_clr::Kernel>| kernel.name() == name && !kernel.is_block();
            let Some(clr) = kernels.find(named) else {
                continue;
            };
            // Of a binary only the metadata say how it was compiled.
            let old = clr
                .metadata()
                .language_version
                .is_none_or(|[major, _]| major < 2);
            devices.push(OnDevice {
                device: Arc::clone(device),
                clr: Arc::clone(clr),
                loaded: Arc::clone(loaded),
                uniform: build.options.uniform
                    || (build.options.standard == 0 && old)
                    || clr.metadata().uniform_work_group_size,
            });
        }
        if !executable {
            return fail!(
                CL_INVALID_PROGRAM_EXECUTABLE,
                "the program is built for no device"
            );
        }
        let Some(first) = devices.first() else {
            return fail!(CL_INVALID_KERNEL_NAME, "the program has no kernel {name}");
        };
        let shape = |kernel: &gneiss_clr::Kernel| {
            let explicit = kernel.explicit_arguments().iter();
            explicit
                .map(|argument| (argument.value_kind, argument.size))
                .collect::<Vec<_>>()
        };
        let expected = shape(&first.clr);
        if devices.iter().any(|device| shape(&device.clr) != expected) {
            return fail!(
                CL_INVALID_KERNEL_DEFINITION,
                "kernel {name} has different arguments on different devices"
            );
        }
        let arguments = arguments.unwrap_or_else(|| vec![None; expected.len()]);
        program.kernels.fetch_add(1, Ordering::AcqRel);
        let kernel = Kernel::table().insert(|handle| Kernel {
            handle,
            program: Arc::clone(program),
            name: name.to_owned(),
            devices,
            arguments: Mutex::new(arguments),
        });
        kernel.ok_or(CL_OUT_OF_HOST_MEMORY)
    }

    /// The kernel on a device.
    pub fn on(&self, device: &Arc<Device>) -> Option<&OnDevice> {
        self.devices
            .iter()
            .find(|own| Arc::ptr_eq(&own.device, device))
    }

    /// The arguments that the program gives.
    pub fn explicit(&self) -> &[ArgumentMetadata] {
        self.devices[0].clr.explicit_arguments()
    }

    /// The argument with an index.
    ///
    /// # Errors
    /// `CL_INVALID_ARG_INDEX`.
    pub fn argument(&self, index: cl_uint) -> Result<&ArgumentMetadata> {
        match self.explicit().get(index as usize) {
            Some(argument) => Ok(argument),
            None => fail!(
                CL_INVALID_ARG_INDEX,
                "kernel {} has {} arguments, none with index {index}",
                self.name,
                self.explicit().len()
            ),
        }
    }

    /// Checks a value for an argument.
    ///
    /// # Errors
    /// `CL_INVALID_ARG_…`, or the code of the kind of object.
    pub fn check(&self, index: cl_uint, size: usize, value: *const c_void) -> Result<Argument> {
        let metadata = self.argument(index)?;
        let wrong_size = |expected: usize| {
            fail!(
                CL_INVALID_ARG_SIZE,
                "argument {index} of kernel {} has {expected} bytes, {size} are given",
                self.name
            )
        };
        let no_value = || {
            fail!(
                CL_INVALID_ARG_VALUE,
                "argument {index} of kernel {}: no value",
                self.name
            )
        };
        let bytes: In<u8> = In::new(value.cast());
        match metadata.value_kind {
            ValueKind::DynamicSharedPointer => {
                if !value.is_null() {
                    return fail!(
                        CL_INVALID_ARG_VALUE,
                        "argument {index} of kernel {} is local memory: it has a size and no value",
                        self.name
                    );
                }
                if size == 0 {
                    return wrong_size(1);
                }
                Ok(Argument::Local(size))
            }
            ValueKind::GlobalBuffer => {
                if size != size_of::<cl_mem>() {
                    return wrong_size(size_of::<cl_mem>());
                }
                let handle: In<cl_mem> = In::new(value.cast());
                let handle = handle.get().unwrap_or(std::ptr::null_mut());
                if handle.is_null() {
                    return Ok(Argument::Memory(None));
                }
                let mem = self.mem(handle)?;
                if mem.image.is_some() || mem.pipe.is_some() {
                    return fail!(CL_INVALID_MEM_OBJECT, "argument {index} must be a buffer");
                }
                Ok(Argument::Memory(Some(Arc::downgrade(&mem))))
            }
            ValueKind::Image => {
                if size != size_of::<cl_mem>() {
                    return wrong_size(size_of::<cl_mem>());
                }
                let handle: In<cl_mem> = In::new(value.cast());
                let mem = self.mem(handle.get().unwrap_or(std::ptr::null_mut()))?;
                let Some(image) = &mem.image else {
                    return fail!(CL_INVALID_MEM_OBJECT, "argument {index} must be an image");
                };
                image.check_argument(metadata, &mem)?;
                Ok(Argument::Memory(Some(Arc::downgrade(&mem))))
            }
            ValueKind::Pipe => {
                if size != size_of::<cl_mem>() {
                    return wrong_size(size_of::<cl_mem>());
                }
                let handle: In<cl_mem> = In::new(value.cast());
                let mem = self.mem(handle.get().unwrap_or(std::ptr::null_mut()))?;
                if mem.pipe.is_none() {
                    return fail!(CL_INVALID_MEM_OBJECT, "argument {index} must be a pipe");
                }
                Ok(Argument::Memory(Some(Arc::downgrade(&mem))))
            }
            ValueKind::Sampler => {
                if size != size_of::<cl_sampler>() {
                    return wrong_size(size_of::<cl_sampler>());
                }
                let handle: In<cl_sampler> = In::new(value.cast());
                let Some(handle) = handle.get() else {
                    return fail!(CL_INVALID_SAMPLER, "argument {index}: no sampler");
                };
                Ok(Argument::Sampler(get(handle)?))
            }
            ValueKind::Queue => {
                if size != size_of::<cl_command_queue>() {
                    return wrong_size(size_of::<cl_command_queue>());
                }
                let handle: In<cl_command_queue> = In::new(value.cast());
                let queue = get(handle.get().unwrap_or(std::ptr::null_mut()));
                match queue {
                    Ok(queue)
                        if queue.on_device().is_some()
                            && Arc::ptr_eq(&queue.context, &self.program.context) =>
                    {
                        Ok(Argument::Queue(Arc::downgrade(&queue)))
                    }
                    _ => fail!(
                        CL_INVALID_DEVICE_QUEUE,
                        "argument {index} must be a queue on a device"
                    ),
                }
            }
            _ => {
                if size != metadata.size as usize {
                    return wrong_size(metadata.size as usize);
                }
                if value.is_null() {
                    return no_value();
                }
                Ok(Argument::Bytes(bytes.list(size)))
            }
        }
    }

    fn mem(&self, handle: cl_mem) -> Result<Arc<Mem>> {
        let mem = get(handle)?;
        if !Arc::ptr_eq(&mem.context, &self.program.context) {
            return fail!(
                CL_INVALID_MEM_OBJECT,
                "a memory object of another context than the kernel's"
            );
        }
        Ok(mem)
    }

    /// Lays the arguments out for a launch on a device; gives the bytes and how much local memory the launch adds.
    ///
    /// # Errors
    /// `CL_INVALID_KERNEL_ARGS` for one that is not set.
    pub fn pack(&self, on: &OnDevice, block: &mut Vec<u8>) -> Result<u32> {
        let arguments = self.arguments.lock();
        let explicit = on.clr.explicit_arguments();
        let fixed = on.clr.metadata().group_segment_fixed_size as usize;
        let mut local = fixed;
        block.clear();
        for (index, (metadata, argument)) in explicit.iter().zip(arguments.iter()).enumerate() {
            let unset = |why: &str| {
                fail!(
                    CL_INVALID_KERNEL_ARGS,
                    "argument {index} of kernel {} {why}",
                    self.name
                )
            };
            let Some(argument) = argument else {
                return unset("is not set");
            };
            let (start, size) = (metadata.offset as usize, metadata.size as usize);
            if block.len() < start + size {
                block.resize(start + size, 0);
            }
            let place = &mut block[start..start + size];
            match argument {
                Argument::Bytes(bytes) => place.copy_from_slice(bytes),
                Argument::Memory(memory) => {
                    let address = match memory {
                        None => 0,
                        Some(weak) => match weak.upgrade() {
                            Some(mem) => match &mem.image {
                                Some(image) => image.descriptor(&on.device)?,
                                None => mem.address()?,
                            },
                            None => return unset("is a memory object that was released"),
                        },
                    };
                    write(place, address);
                }
                Argument::Address(address) => write(place, *address),
                Argument::Sampler(sampler) => write(place, sampler.descriptor(&on.device)?),
                Argument::Queue(weak) => {
                    let queue = weak.upgrade();
                    match queue.as_ref().and_then(|queue| queue.on_device()) {
                        Some(on_device) => write(place, on_device.address()),
                        None => return unset("is a queue that was released"),
                    }
                }
                Argument::Local(bytes) => {
                    let align = metadata.pointee_align.unwrap_or(0).max(16) as usize;
                    local = local.next_multiple_of(align);
                    write(place, local as u64);
                    local = local.saturating_add(*bytes);
                }
            }
        }
        u32::try_from(local - fixed).or_else(|_| {
            fail!(
                CL_OUT_OF_RESOURCES,
                "kernel {}: {local} bytes of local memory",
                self.name
            )
        })
    }

    /// Local memory of a work-group: what the kernel has itself, and its arguments as they are set.
    pub fn local_memory(&self, on: &OnDevice) -> u64 {
        let fixed = u64::from(on.clr.metadata().group_segment_fixed_size);
        let arguments = self.arguments.lock();
        arguments
            .iter()
            .flatten()
            .fold(fixed, |sum, argument| match argument {
                Argument::Local(bytes) => sum + *bytes as u64,
                _ => sum,
            })
    }

    /// Largest work-group on a device.
    pub fn max_group(on: &OnDevice) -> usize {
        let device = crate::device_info::max_work_group_size(&on.device);
        match on.clr.metadata().max_flat_workgroup_size as usize {
            0 => device,
            most => most.min(on.device.clr.properties().workgroup_max_size as usize),
        }
    }
}

fn write(place: &mut [u8], value: u64) {
    let size = place.len().min(8);
    place[..size].copy_from_slice(&value.to_le_bytes()[..size]);
}

/// Whether an address may be given to a kernel as shared virtual memory. Null may.
pub fn is_svm(address: usize) -> bool {
    address == 0
        || runtime::started().is_ok_and(|runtime| runtime.clr.find_memory(address).is_some())
}
