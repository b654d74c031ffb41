//! What hipcc's start-up code registers: fat binaries, kernels, variables.
//!
//! Registration runs in static constructors, before `main`, and stores pointers only: nothing is read, no device is touched. A fat
//! binary is read at the first use of one of its kernels or variables on a device. A program without code for the device starts
//! all the same; the first use gives `hipErrorNoBinaryForGpu`.
//!
//! Who may touch what: the maps are read at launches and written at registration only; a fat binary's programs are guarded by its
//! own lock, which is held while one is loaded, so that two threads load it once.

use std::{
    collections::HashMap,
    ffi::{CStr, c_char, c_void},
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    time::Duration,
};

use gneiss_clr::{Kernel, Program};
use parking_lot::{Mutex, RwLock};

use crate::{
    code, entry,
    error::*,
    fail,
    handle::{Kind, Table},
    log_error,
    runtime::{self, Device, hip_error},
    texture_types::{hipSurfaceObject_t, textureReference},
    variable,
};

/// What the compiler emits around a fat binary.
#[repr(C)]
#[derive(Debug)]
pub struct FatBinaryWrapper {
    magic: u32,
    version: u32,
    binary: *const u8,
    unused: *mut c_void,
}

const WRAPPER_MAGIC: u32 = 0x4849_5046;
const WRAPPER_VERSION: u32 = 1;

/// A registered fat binary.
#[derive(Debug)]
pub struct FatBinary {
    /// Address of the bundle.
    image: usize,
    /// Program or failure, by device ordinal.
    programs: Mutex<Vec<Option<HipResult<Arc<Program>>>>>,
    managed: Mutex<Vec<Arc<ManagedVariable>>>,
}

/// A registered kernel.
#[derive(Debug)]
pub struct Function {
    binary: Arc<FatBinary>,
    /// Address of the device name in the program.
    name: usize,
    /// By device ordinal.
    kernels: Mutex<Vec<Option<Known>>>,
}

/// A kernel, and the number of [`GENERATION`] that it was found under.
type Known = (u64, Arc<Kernel>);

/// A registered `__device__` or `__constant__` variable.
#[derive(Debug)]
pub struct Variable {
    binary: Arc<FatBinary>,
    name: usize,
    size: usize,
}

/// A registered `__managed__` variable.
#[derive(Debug)]
struct ManagedVariable {
    name: usize,
    /// The program's pointer to the memory.
    pointer: usize,
    initial: usize,
    size: usize,
    /// Address of the managed memory, once it is allocated.
    memory: Mutex<usize>,
}

#[derive(Debug, Default)]
struct Registry {
    functions: HashMap<usize, Arc<Function>>,
    variables: HashMap<usize, Arc<Variable>>,
}

static BINARIES: Table<FatBinary> = Table::new(Kind::FatBinary);
static REGISTRY: LazyLock<RwLock<Registry>> = LazyLock::new(RwLock::default);
/// Grows when loaded programs are forgotten; kernels found under an older number are looked up again.
static GENERATION: AtomicU64 = AtomicU64::new(0);

fn text(address: usize) -> String {
    // SAFETY: the compiler passes terminated constants of the program, which stay until the binary is unregistered.
    unsafe { CStr::from_ptr(std::ptr::with_exposed_provenance(address)) }
        .to_string_lossy()
        .into_owned()
}

impl FatBinary {
    /// The program of a device; read and loaded at the first call.
    pub fn program(&self, device: &Device) -> HipResult<Arc<Program>> {
        let mut programs = self.programs.lock();
        if programs.len() <= device.ordinal {
            programs.resize(device.ordinal + 1, None);
        }
        if let Some(program) = &programs[device.ordinal] {
            return program.clone();
        }
        let program = self.load(device);
        // What may be there later (memory) is tried again.
        if program.as_ref().err() != Some(&hipErrorOutOfMemory) {
            programs[device.ordinal] = Some(program.clone());
        }
        program
    }

    fn load(&self, device: &Device) -> HipResult<Arc<Program>> {
        // SAFETY: the bundle is part of the loaded program until it is unregistered.
        let bytes = unsafe { code::bytes_at(std::ptr::with_exposed_provenance(self.image))? };
        let image = code::select(bytes, &device.clr.properties().isa)?;
        let program = Program::load(&device.clr, &image, &[]).map_err(hip_error)?;
        variable::add(&program);
        let managed = self.managed.lock().clone();
        for variable in managed {
            variable.tell(&program, device)?;
        }
        Ok(program)
    }

    fn forget(&self) {
        for program in std::mem::take(&mut *self.programs.lock())
            .into_iter()
            .flatten()
            .flatten()
        {
            variable::remove(&program);
        }
    }
}

impl Function {
    /// Its device name; a constant of the program.
    pub fn name(&self) -> *const c_char {
        std::ptr::with_exposed_provenance(self.name)
    }

    /// The kernel on a device.
    pub fn kernel(&self, device: &Device) -> HipResult<Arc<Kernel>> {
        let generation = GENERATION.load(Ordering::Acquire);
        if let Some(Some((found, kernel))) = self.kernels.lock().get(device.ordinal)
            && *found == generation
        {
            return Ok(Arc::clone(kernel));
        }
        let program = self.binary.program(device)?;
        let name = text(self.name);
        let Some(kernel) = program.kernel(&name) else {
            return fail!(
                hipErrorInvalidDeviceFunction,
                "the device code for {} has no kernel {name}",
                device.clr.properties().isa
            );
        };
        let mut kernels = self.kernels.lock();
        if kernels.len() <= device.ordinal {
            kernels.resize(device.ordinal + 1, None);
        }
        kernels[device.ordinal] = Some((generation, Arc::clone(kernel)));
        Ok(Arc::clone(kernel))
    }
}

impl ManagedVariable {
    /// Allocates the memory with its initial value and points the program's pointer at it.
    fn allocate(&self) -> HipResult<usize> {
        let mut memory = self.memory.lock();
        if *memory == 0 {
            let device = runtime::device(0)?;
            let allocation = runtime::get()?
                .clr
                .allocate_managed(&device.clr, self.size)
                .map_err(hip_error)?;
            let Some(address) = allocation.host_address() else {
                return fail!(
                    hipErrorNotSupported,
                    "managed memory without a host address"
                );
            };
            // SAFETY: the compiler gives `size` bytes of initial value and a pointer variable; the new memory holds `size` bytes.
            unsafe {
                let target: *mut u8 = std::ptr::with_exposed_provenance_mut(address);
                target.copy_from_nonoverlapping(
                    std::ptr::with_exposed_provenance(self.initial),
                    self.size,
                );
                std::ptr::with_exposed_provenance_mut::<*mut u8>(self.pointer).write(target);
            }
            *memory = address;
        }
        Ok(*memory)
    }

    /// Writes the memory's address into the device's pointer variable.
    fn tell(&self, program: &Program, device: &Device) -> HipResult {
        let address = self.allocate()?;
        let name = text(self.name);
        let Some(global) = program.global(&name) else {
            return Ok(());
        };
        let value = (address as u64).to_le_bytes();
        let queue = device.transfer_queue()?;
        // SAFETY: the variable is in the loaded program and the value lives until the wait below is over.
        let command = unsafe {
            queue.enqueue_copy(
                global.address,
                value.as_ptr().expose_provenance() as u64,
                value.len(),
                &[],
            )
        };
        command.map_err(hip_error)?.wait().map_err(hip_error)
    }
}

/// Forgets the loaded programs of all binaries (`hipDeviceReset`): variables start with their initial values again.
pub fn forget_programs() {
    for (_, binary) in BINARIES.live() {
        binary.forget();
    }
    GENERATION.fetch_add(1, Ordering::AcqRel);
}

/// Number of the present set of loaded programs and registered kernels; what was looked up under an older one is stale.
pub fn generation() -> u64 {
    GENERATION.load(Ordering::Acquire)
}

/// The registered kernel of a host address (the stub's address).
pub fn function(address: *const c_void) -> HipResult<Arc<Function>> {
    match REGISTRY.read().functions.get(&address.addr()) {
        Some(function) => Ok(Arc::clone(function)),
        None => fail!(
            hipErrorInvalidDeviceFunction,
            "{address:p} is not a kernel that the program registered"
        ),
    }
}

/// The kernel of a host address on a device.
pub fn kernel(address: *const c_void, device: &Device) -> HipResult<Arc<Kernel>> {
    function(address)?.kernel(device)
}

/// Address and size of a registered variable on a device.
pub fn variable(address: *const c_void, device: &Device) -> HipResult<(u64, usize)> {
    let found = REGISTRY.read().variables.get(&address.addr()).cloned();
    let Some(variable) = found else {
        return fail!(
            hipErrorInvalidSymbol,
            "{address:p} is not a device variable that the program registered"
        );
    };
    let program = variable.binary.program(device)?;
    let name = text(variable.name);
    match program.global(&name) {
        Some(global) => Ok((
            global.address,
            if variable.size != 0 {
                variable.size
            } else {
                global.size
            },
        )),
        None => fail!(
            hipErrorInvalidSymbol,
            "the device code for {} has no variable {name}",
            device.clr.properties().isa
        ),
    }
}

/// Registers a program's fat binary; gives a handle for the calls below, or null.
///
/// # Safety
/// `data` must be null or point at the compiler's wrapper, which stays until the binary is unregistered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hipRegisterFatBinary(data: *const c_void) -> *mut *mut c_void {
    entry::run("__hipRegisterFatBinary", std::ptr::null_mut(), || {
        if data.is_null() {
            return std::ptr::null_mut();
        }
        // SAFETY: not null; the compiler passes its wrapper.
        let wrapper = unsafe { &*data.cast::<FatBinaryWrapper>() };
        if wrapper.magic != WRAPPER_MAGIC
            || wrapper.version != WRAPPER_VERSION
            || wrapper.binary.is_null()
        {
            log_error!(
                "a fat binary with magic {:#x} and version {}: expected \"HIPF\" and 1",
                wrapper.magic,
                wrapper.version
            );
            return std::ptr::null_mut();
        }
        let binary = FatBinary {
            image: wrapper.binary.expose_provenance(),
            programs: Mutex::new(Vec::new()),
            managed: Mutex::new(Vec::new()),
        };
        BINARIES
            .insert(Arc::new(binary))
            .map_or(std::ptr::null_mut(), std::ptr::without_provenance_mut)
    })
}

/// Ends a fat binary: its kernels and variables are unknown afterwards.
///
/// # Safety
/// The handle is checked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hipUnregisterFatBinary(modules: *mut *mut c_void) {
    entry::run("__hipUnregisterFatBinary", (), || {
        let Some(binary) = BINARIES.remove(modules.addr()) else {
            return;
        };
        {
            let mut registry = REGISTRY.write();
            registry
                .functions
                .retain(|_, function| !Arc::ptr_eq(&function.binary, &binary));
            registry
                .variables
                .retain(|_, variable| !Arc::ptr_eq(&variable.binary, &binary));
        }
        GENERATION.fetch_add(1, Ordering::AcqRel);
        // Work may still run its kernels; at the program's end this also lets its output come out.
        if binary.programs.lock().iter().any(Option::is_some) && drain() {
            binary.forget();
        }
    });
}

/// How long a program that ends, or a library that is unloaded, waits for its kernels.
const DRAIN_LIMIT: Duration = Duration::from_secs(10);

/// Waits until no device has work, but not for ever: an endless kernel must not keep a program from ending. Says whether all work
/// has ended; code that may still run must stay.
fn drain() -> bool {
    let Some(runtime) = runtime::started() else {
        return true;
    };
    let (done, wait) = mpsc::channel();
    let waiter = std::thread::Builder::new()
        .name("gneiss-drain".into())
        .spawn(move || {
            for device in &runtime.devices {
                // A program may end without a synchronising call: this one shows it the report of a fault.
                let _ = device.clr.synchronize().map_err(hip_error);
            }
            let _ = done.send(());
        });
    let ended = waiter.is_ok() && wait.recv_timeout(DRAIN_LIMIT).is_ok();
    if !ended {
        log_error!(
            "kernels are still running {} s after the program's end: not waiting for them",
            DRAIN_LIMIT.as_secs()
        );
    }
    ended
}

/// Registers a kernel: the host stub's address stands for it.
///
/// # Safety
/// `deviceName` must be a terminated constant of the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hipRegisterFunction(
    modules: *mut *mut c_void,
    hostFunction: *const c_void,
    deviceFunction: *mut c_char,
    deviceName: *const c_char,
    threadLimit: u32,
    tid: *mut c_void,
    bid: *mut c_void,
    blockDim: *mut c_void,
    gridDim: *mut c_void,
    wSize: *mut i32,
) {
    let _ = (
        deviceFunction,
        threadLimit,
        tid,
        bid,
        blockDim,
        gridDim,
        wSize,
    );
    entry::run("__hipRegisterFunction", (), || {
        let Some(binary) = BINARIES.get(modules.addr()) else {
            return;
        };
        if deviceName.is_null() {
            return;
        }
        let function = Function {
            binary,
            name: deviceName.expose_provenance(),
            kernels: Mutex::new(Vec::new()),
        };
        REGISTRY
            .write()
            .functions
            .entry(hostFunction.addr())
            .or_insert_with(|| Arc::new(function));
    });
}

/// Registers a variable: the host shadow's address stands for it.
fn register_variable(
    modules: *mut *mut c_void,
    shadow: *mut c_void,
    name: *const c_char,
    size: usize,
) {
    let Some(binary) = BINARIES.get(modules.addr()).filter(|_| !name.is_null()) else {
        return;
    };
    let variable = Variable {
        binary,
        name: name.expose_provenance(),
        size,
    };
    REGISTRY
        .write()
        .variables
        .entry(shadow.addr())
        .or_insert_with(|| Arc::new(variable));
}

/// Registers a `__device__` or `__constant__` variable: the host shadow's address stands for it.
///
/// # Safety
/// `deviceName` must be a terminated constant of the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hipRegisterVar(
    modules: *mut *mut c_void,
    var: *mut c_void,
    hostVar: *mut c_char,
    deviceVar: *const c_char,
    ext: i32,
    size: usize,
    constant: i32,
    global: i32,
) {
    let _ = (hostVar, ext, constant, global);
    entry::run("__hipRegisterVar", (), || {
        register_variable(modules, var, deviceVar, size);
    });
}

/// Registers a `__managed__` variable: its memory is allocated when the runtime starts, at the latest by the first kernel.
///
/// # Safety
/// `pointer` must be the program's pointer variable, `init_value` its `size` initial bytes, `name` a terminated constant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hipRegisterManagedVar(
    hipModule: *mut c_void,
    pointer: *mut *mut c_void,
    init_value: *mut c_void,
    name: *const c_char,
    size: usize,
    align: u32,
) {
    let _ = align;
    entry::run("__hipRegisterManagedVar", (), || {
        let Some(binary) = BINARIES.get(hipModule.addr()) else {
            return;
        };
        if pointer.is_null() || init_value.is_null() || name.is_null() || size == 0 {
            return;
        }
        let variable = Arc::new(ManagedVariable {
            name: name.expose_provenance(),
            pointer: pointer.expose_provenance(),
            initial: init_value.expose_provenance(),
            size,
            memory: Mutex::new(0),
        });
        binary.managed.lock().push(Arc::clone(&variable));
        // The host may read the variable before it calls HIP, so the memory has to be there now. Without a device there is none:
        // the pointer stays null, and the program still starts.
        if runtime::start().is_ok()
            && let Err(error) = variable.allocate()
        {
            log_error!("managed variable {}: {}", text(variable.name), error.name());
        }
    });
}

/// Registers a texture reference: a variable whose host copy is the program's `texture` object.
///
/// # Safety
/// `deviceVar` must be a terminated constant of the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hipRegisterTexture(
    modules: *mut *mut c_void,
    var: *mut c_void,
    hostVar: *mut c_char,
    deviceVar: *mut c_char,
    r#type: i32,
    norm: i32,
    ext: i32,
) {
    let _ = (hostVar, r#type, norm, ext);
    entry::run("__hipRegisterTexture", (), || {
        register_variable(modules, var, deviceVar, size_of::<textureReference>());
    });
}

/// Registers a surface reference: a variable that holds the handle of a surface object. HIP has no function that binds one; the program may
/// write a handle into it as into any variable (`hipMemcpyToSymbol`).
///
/// # Safety
/// `deviceVar` must be a terminated constant of the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hipRegisterSurface(
    modules: *mut *mut c_void,
    var: *mut c_void,
    hostVar: *mut c_char,
    deviceVar: *mut c_char,
    r#type: i32,
    ext: i32,
) {
    let _ = (hostVar, r#type, ext);
    entry::run("__hipRegisterSurface", (), || {
        register_variable(modules, var, deviceVar, size_of::<hipSurfaceObject_t>());
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registration_reads_nothing_and_unregistration_forgets() {
        static NAME: &CStr = c"_Z6kernelv";
        // The bundle's address is not readable: registration must not look at it.
        let wrapper = FatBinaryWrapper {
            magic: WRAPPER_MAGIC,
            version: WRAPPER_VERSION,
            binary: std::ptr::without_provenance(0x10),
            unused: std::ptr::null_mut(),
        };
        let stub = (&raw const wrapper).cast::<c_void>();
        // SAFETY: the wrapper and the name are valid; no device is needed.
        unsafe {
            let handle = __hipRegisterFatBinary((&raw const wrapper).cast());
            assert!(!handle.is_null());
            let null = std::ptr::null_mut::<c_void>();
            __hipRegisterFunction(
                handle,
                stub,
                null.cast(),
                NAME.as_ptr(),
                u32::MAX,
                null,
                null,
                null,
                null,
                null.cast(),
            );
            assert!(function(stub).is_ok());
            __hipUnregisterFatBinary(handle);
            assert_eq!(function(stub).err(), Some(hipErrorInvalidDeviceFunction));
            __hipUnregisterFatBinary(handle);
        }
    }

    #[test]
    fn a_wrong_wrapper_is_refused() {
        let wrapper = FatBinaryWrapper {
            magic: 1,
            version: 1,
            binary: std::ptr::null(),
            unused: std::ptr::null_mut(),
        };
        // SAFETY: the wrapper is readable.
        unsafe {
            assert!(__hipRegisterFatBinary((&raw const wrapper).cast()).is_null());
            assert!(__hipRegisterFatBinary(std::ptr::null()).is_null());
        }
    }
}
