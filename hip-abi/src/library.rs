//! Libraries and kernels of HIP 7: modules that are not tied to a device until a kernel of theirs is used.
//!
//! A library keeps its image and loads it as a module of the calling thread's device at the first use there. A kernel is a name in a
//! library; its handle can be launched wherever a function's can.

use std::{
    collections::BTreeMap,
    ffi::{CStr, CString, OsStr, c_char, c_void},
    os::unix::ffi::OsStrExt as _,
    sync::Arc,
};

use gneiss_clr::{Kernel as Loaded, Program};
use gneiss_fatbin::fat_binary::MappedFile;
use gneiss_hip_abi_macros::hip_api;
use parking_lot::Mutex;

use crate::{
    code,
    error::*,
    fail, function,
    handle::{Kind, Table},
    module, runtime,
    runtime::hip_error,
    types::{hipFunction_t, opaque},
    variable,
};

opaque! {
    /// A library.
    ihipLibrary_t as hipLibrary_t;
    /// A kernel of a library.
    ihipKernel_t as hipKernel_t;
}

/// A library.
#[derive(Debug)]
struct Library {
    image: Box<[u8]>,
    /// By device.
    programs: Mutex<BTreeMap<usize, Arc<Program>>>,
    kernels: Mutex<BTreeMap<String, usize>>,
}

/// A kernel of a library.
#[derive(Debug)]
struct Kernel {
    library: Arc<Library>,
    library_handle: usize,
    name: CString,
    /// Function handles, by device.
    functions: Mutex<BTreeMap<usize, usize>>,
}

static LIBRARIES: Table<Library> = Table::new(Kind::Library);
static KERNELS: Table<Kernel> = Table::new(Kind::Kernel);

impl Library {
    fn program(&self) -> HipResult<Arc<Program>> {
        let device = runtime::current()?;
        let mut programs = self.programs.lock();
        if let Some(program) = programs.get(&device.ordinal) {
            return Ok(Arc::clone(program));
        }
        let image = code::select(&self.image, &device.clr.properties().isa)?;
        let program = Program::load(&device.clr, &image, &[]).map_err(hip_error)?;
        variable::add(&program);
        programs.insert(device.ordinal, Arc::clone(&program));
        Ok(program)
    }
}

impl Kernel {
    fn loaded(&self) -> HipResult<Arc<Loaded>> {
        let name = self.name.to_str().unwrap_or_default();
        let program = self.library.program()?;
        match program.kernel(name) {
            Some(kernel) => Ok(Arc::clone(kernel)),
            None => fail!(hipErrorNotFound, "the library has no kernel {name}"),
        }
    }

    /// A function handle for the current device.
    fn function(&self) -> HipResult<usize> {
        let device = runtime::current()?.ordinal;
        if let Some(handle) = self.functions.lock().get(&device) {
            return Ok(*handle);
        }
        let handle = module::handle_for(self.loaded()?)?;
        self.functions.lock().insert(device, handle);
        Ok(handle)
    }
}

fn library(handle: hipLibrary_t) -> HipResult<Arc<Library>> {
    match LIBRARIES.get(handle.addr()) {
        Some(library) => Ok(library),
        None => fail!(
            hipErrorInvalidHandle,
            "{:#x} is not a loaded library",
            handle.addr()
        ),
    }
}

fn kernel(handle: hipKernel_t) -> HipResult<Arc<Kernel>> {
    match KERNELS.get(handle.addr()) {
        Some(kernel) => Ok(kernel),
        None => fail!(
            hipErrorInvalidHandle,
            "{:#x} is not a kernel of a loaded library",
            handle.addr()
        ),
    }
}

fn load(out: *mut hipLibrary_t, image: &[u8]) -> HipResult {
    if out.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the library");
    }
    let library = Library {
        image: image.into(),
        programs: Mutex::new(BTreeMap::new()),
        kernels: Mutex::new(BTreeMap::new()),
    };
    // What is no code object, or none for this device, is said now.
    library.program()?;
    let Some(handle) = LIBRARIES.insert(Arc::new(library)) else {
        return fail!(hipErrorOutOfMemory, "too many libraries");
    };
    // SAFETY: not null; the caller promises a valid place.
    unsafe { out.write(std::ptr::without_provenance_mut(handle)) };
    Ok(())
}

/// The handle of a kernel; made at the first call.
fn kernel_handle(handle: hipLibrary_t, library: &Arc<Library>, name: &CStr) -> HipResult<usize> {
    let text = name.to_string_lossy().into_owned();
    if let Some(kernel) = library.kernels.lock().get(&text) {
        return Ok(*kernel);
    }
    let kernel = Kernel {
        library: Arc::clone(library),
        library_handle: handle.addr(),
        name: name.to_owned(),
        functions: Mutex::new(BTreeMap::new()),
    };
    kernel.loaded()?;
    let Some(made) = KERNELS.insert(Arc::new(kernel)) else {
        return fail!(hipErrorOutOfMemory, "too many kernels");
    };
    library.kernels.lock().insert(text, made);
    Ok(made)
}

/// Loads a library from memory. Options mean nothing here.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipLibraryLoadData(
    library: *mut hipLibrary_t,
    code: *const c_void,
    jitOptions: *mut u32,
    jitOptionsValues: *mut *mut c_void,
    numJitOptions: u32,
    libraryOptions: *mut u32,
    libraryOptionValues: *mut *mut c_void,
    numLibraryOptions: u32,
) -> hipError_t {
    let _ = (jitOptions, jitOptionsValues, numJitOptions);
    let _ = (libraryOptions, libraryOptionValues, numLibraryOptions);
    if code.is_null() {
        return fail!(hipErrorInvalidValue, "no image");
    }
    // SAFETY: the caller promises an image that stays during the call.
    let bytes = unsafe { code::bytes_at(code.cast())? };
    let device = runtime::current()?;
    // The image has no length: what the device runs of it is what is kept.
    let selected = code::select(bytes, &device.clr.properties().isa)?;
    load(library, &selected)
}

/// Loads a library from a file.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipLibraryLoadFromFile(
    library: *mut hipLibrary_t,
    fileName: *const c_char,
    jitOptions: *mut u32,
    jitOptionsValues: *mut *mut c_void,
    numJitOptions: u32,
    libraryOptions: *mut u32,
    libraryOptionValues: *mut *mut c_void,
    numLibraryOptions: u32,
) -> hipError_t {
    let _ = (jitOptions, jitOptionsValues, numJitOptions);
    let _ = (libraryOptions, libraryOptionValues, numLibraryOptions);
    if fileName.is_null() {
        return fail!(hipErrorInvalidValue, "no file name");
    }
    // SAFETY: not null; the caller promises a terminated string.
    let path = OsStr::from_bytes(unsafe { CStr::from_ptr(fileName) }.to_bytes());
    match MappedFile::open(path.as_ref()) {
        Ok(file) => load(library, file.bytes()),
        Err(error) => fail!(hipErrorFileNotFound, "{}: {error}", path.display()),
    }
}

/// Unloads a library; its kernels end.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipLibraryUnload(library: hipLibrary_t) -> hipError_t {
    let Some(removed) = LIBRARIES.remove(library.addr()) else {
        return fail!(
            hipErrorInvalidHandle,
            "{:#x} is not a loaded library",
            library.addr()
        );
    };
    runtime::get()?.synchronize();
    for handle in removed.kernels.lock().values() {
        if let Some(kernel) = KERNELS.remove(*handle) {
            for function in kernel.functions.lock().values() {
                module::FUNCTIONS.remove(*function);
            }
        }
    }
    for program in removed.programs.lock().values() {
        variable::remove(program);
    }
    Ok(())
}

/// Gives a kernel of a library by name.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipLibraryGetKernel(
    pKernel: *mut hipKernel_t,
    library: hipLibrary_t,
    name: *const c_char,
) -> hipError_t {
    if pKernel.is_null() || name.is_null() {
        return fail!(hipErrorInvalidValue, "a null pointer");
    }
    let found = self::library(library)?;
    // SAFETY: not null; the caller promises a terminated string and a valid place.
    unsafe {
        let handle = kernel_handle(library, &found, CStr::from_ptr(name))?;
        pKernel.write(std::ptr::without_provenance_mut(handle));
    }
    Ok(())
}

/// Gives the number of a library's kernels.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipLibraryGetKernelCount(
    count: *mut u32,
    library: hipLibrary_t,
) -> hipError_t {
    if count.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the number");
    }
    let kernels = self::library(library)?.program()?.kernels().len();
    // SAFETY: not null; the caller promises a valid place.
    unsafe { count.write(kernels as u32) };
    Ok(())
}

/// Gives a library's kernels, as many as there is room for.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipLibraryEnumerateKernels(
    kernels: *mut hipKernel_t,
    numKernels: u32,
    library: hipLibrary_t,
) -> hipError_t {
    if kernels.is_null() || numKernels == 0 {
        return fail!(hipErrorInvalidValue, "no room for kernels");
    }
    let found = self::library(library)?;
    let program = found.program()?;
    for (index, one) in program
        .kernels()
        .iter()
        .take(numKernels as usize)
        .enumerate()
    {
        let name = CString::new(one.name()).unwrap_or_default();
        let handle = kernel_handle(library, &found, &name)?;
        // SAFETY: not null; the caller promises `numKernels` places.
        unsafe {
            kernels
                .add(index)
                .write(std::ptr::without_provenance_mut(handle))
        };
    }
    Ok(())
}

/// Gives the function of a kernel on the current device.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipKernelGetFunction(
    pFunc: *mut hipFunction_t,
    kernel: hipKernel_t,
) -> hipError_t {
    if pFunc.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the function");
    }
    let handle = self::kernel(kernel)?.function()?;
    // SAFETY: not null; the caller promises a valid place.
    unsafe { pFunc.write(std::ptr::without_provenance_mut(handle)) };
    Ok(())
}

/// Gives the library of a kernel.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipKernelGetLibrary(
    library: *mut hipLibrary_t,
    kernel: hipKernel_t,
) -> hipError_t {
    if library.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the library");
    }
    let handle = self::kernel(kernel)?.library_handle;
    // SAFETY: not null; the caller promises a valid place.
    unsafe { library.write(std::ptr::without_provenance_mut(handle)) };
    Ok(())
}

/// Gives the name of a kernel; the text lives as long as its library.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipKernelGetName(
    name: *mut *const c_char,
    kernel: hipKernel_t,
) -> hipError_t {
    if name.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the name");
    }
    let kernel = self::kernel(kernel)?;
    // SAFETY: not null; the caller promises a valid place.
    unsafe { name.write(kernel.name.as_ptr()) };
    Ok(())
}

/// Gives where an argument of a kernel lies, and its size.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipKernelGetParamInfo(
    kernel: hipKernel_t,
    paramIndex: usize,
    paramOffset: *mut usize,
    paramSize: *mut usize,
) -> hipError_t {
    if paramOffset.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the offset");
    }
    let loaded = self::kernel(kernel)?.loaded()?;
    let Some(argument) = loaded.explicit_arguments().get(paramIndex) else {
        return fail!(
            hipErrorInvalidValue,
            "kernel {} has no argument {paramIndex}",
            loaded.name()
        );
    };
    // SAFETY: not null, or checked; the caller promises valid places.
    unsafe {
        paramOffset.write(argument.offset as usize);
        if !paramSize.is_null() {
            paramSize.write(argument.size as usize);
        }
    }
    Ok(())
}

/// Gives an attribute of a kernel on a device.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipKernelGetAttribute(
    pi: *mut i32,
    attrib: u32,
    kernel: hipKernel_t,
    dev: i32,
) -> hipError_t {
    runtime::device(dev)?;
    let function = self::kernel(kernel)?.function()?;
    // SAFETY: as the caller promises.
    unsafe { function::get_attribute(pi, attrib, std::ptr::without_provenance_mut(function)) }
}

/// Sets an attribute of a kernel on a device: those that exist are limits that the device's allow already.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipKernelSetAttribute(
    attrib: u32,
    value: i32,
    kernel: hipKernel_t,
    dev: i32,
) -> hipError_t {
    const MAX_DYNAMIC_LDS: u32 = 8;
    const CARVEOUT: u32 = 9;
    let device = runtime::device(dev)?;
    let loaded = self::kernel(kernel)?.loaded()?;
    let room = device.clr.properties().lds_size as i64
        - i64::from(loaded.metadata().group_segment_fixed_size);
    let valid = match attrib {
        MAX_DYNAMIC_LDS => value >= 0 && i64::from(value) <= room,
        CARVEOUT => (-1..=100).contains(&value),
        _ => false,
    };
    if !valid {
        return fail!(
            hipErrorInvalidValue,
            "attribute {attrib} of a kernel can't be set to {value}"
        );
    }
    Ok(())
}
