//! Modules: code objects that a program loads by itself, their kernels and variables.

use std::{
    collections::HashMap,
    ffi::{CStr, CString, c_char, c_void},
    path::Path,
    sync::Arc,
};

use gneiss_clr::{Kernel, Memory, Program};
use gneiss_fatbin::fat_binary::MappedFile;
use gneiss_hip_abi_macros::hip_api;
use parking_lot::Mutex;

use crate::{
    code, entry,
    error::*,
    fail,
    handle::{Kind, Table},
    runtime::{self, Device, hip_error},
    texture_reference,
    types::*,
    variable,
    version::{self, Major},
};

/// A loaded module.
#[derive(Debug)]
pub struct Module {
    program: Arc<Program>,
    /// Handles that were given out, by kernel name.
    functions: Mutex<HashMap<String, usize>>,
    /// Memory of its `__managed__` variables, by name.
    managed: HashMap<String, Arc<Memory>>,
}

/// The compiler keeps a managed variable's initial value under its name with this end, and a pointer under the name itself.
const MANAGED: &str = ".managed";

/// Allocates a program's managed variables and points its pointers at them. A program that registers its variables has done so itself.
fn managed_variables(
    program: &Program,
    device: &Device,
) -> HipResult<HashMap<String, Arc<Memory>>> {
    let mut managed = HashMap::new();
    for initial in program.globals() {
        let Some(pointer) = initial
            .name
            .strip_suffix(MANAGED)
            .and_then(|name| program.global(name))
        else {
            continue;
        };
        let memory = runtime::get()?
            .clr
            .allocate_managed(&device.clr, initial.size)
            .map_err(hip_error)?;
        let address = memory.device_address();
        managed.insert(pointer.name.clone(), memory);
        let value = address.to_le_bytes();
        let queue = device.transfer_queue()?;
        // SAFETY: both variables are in the loaded program, the memory has the variable's size, and the value lives until the wait is over.
        let command = unsafe {
            queue
                .enqueue_copy(address, initial.address, initial.size, &[])
                .map_err(hip_error)?;
            queue.enqueue_copy(
                pointer.address,
                value.as_ptr().expose_provenance() as u64,
                value.len(),
                &[],
            )
        };
        command.map_err(hip_error)?.wait().map_err(hip_error)?;
    }
    Ok(managed)
}

/// A kernel that a program holds a handle of.
#[derive(Debug)]
pub struct Function {
    kernel: Arc<Kernel>,
    name: CString,
}

static MODULES: Table<Module> = Table::new(Kind::Module);
/// Kernels that programs hold handles of.
pub static FUNCTIONS: Table<Function> = Table::new(Kind::Function);

/// The program of a module.
pub(crate) fn program(handle: hipModule_t) -> HipResult<Arc<Program>> {
    Ok(Arc::clone(&find(handle)?.program))
}

fn find(handle: hipModule_t) -> HipResult<Arc<Module>> {
    match MODULES.get(handle.addr()) {
        Some(module) => Ok(module),
        None => fail!(
            hipErrorInvalidHandle,
            "{:#x} is not a loaded module",
            handle.addr()
        ),
    }
}

/// The kernel of a function handle.
pub fn function(handle: hipFunction_t) -> HipResult<Arc<Kernel>> {
    match FUNCTIONS.get(handle.addr()) {
        Some(function) => Ok(Arc::clone(&function.kernel)),
        None => fail!(
            hipErrorInvalidHandle,
            "{:#x} is not a kernel of a loaded module",
            handle.addr()
        ),
    }
}

/// A handle for a kernel; the caller keeps track of it.
pub(crate) fn handle_for(kernel: Arc<Kernel>) -> HipResult<usize> {
    let name = CString::new(kernel.metadata().name.as_str()).unwrap_or_default();
    match FUNCTIONS.insert(Arc::new(Function { kernel, name })) {
        Some(handle) => Ok(handle),
        None => fail!(hipErrorOutOfMemory, "too many functions"),
    }
}

/// Loads an image on the current device.
fn load(out: *mut hipModule_t, bytes: &[u8]) -> HipResult {
    let device = runtime::current()?;
    let image = code::select(bytes, &device.clr.properties().isa)?;
    let program = Program::load(&device.clr, &image, &[]).map_err(hip_error)?;
    let managed = managed_variables(&program, device)?;
    variable::add(&program);
    let module = Module {
        program,
        managed,
        functions: Mutex::new(HashMap::new()),
    };
    let Some(handle) = MODULES.insert(Arc::new(module)) else {
        return fail!(hipErrorOutOfMemory, "too many modules");
    };
    // SAFETY: callers have checked that it is not null; the C caller promises a valid place.
    unsafe { out.write(std::ptr::without_provenance_mut(handle)) };
    Ok(())
}

fn load_file(out: *mut hipModule_t, path: *const c_char) -> HipResult {
    if out.is_null() || path.is_null() {
        return fail!(hipErrorInvalidValue, "a null pointer");
    }
    // SAFETY: not null; the caller promises a terminated string.
    let path = unsafe { CStr::from_ptr(path) }.to_string_lossy();
    if path.is_empty() {
        return fail!(hipErrorInvalidValue, "no file name");
    }
    let size = match std::fs::metadata(path.as_ref()) {
        // AMD's runtime finds devices empty and cannot map directories.
        Ok(metadata) if metadata.is_dir() => {
            return fail!(hipErrorInvalidValue, "{path} is a directory");
        }
        Ok(metadata) if metadata.is_file() => metadata.len(),
        Ok(_) => 0,
        Err(error) => return fail!(hipErrorFileNotFound, "{path}: {error}"),
    };
    if size == 0 {
        let error = match version::presented() {
            Major::Five => hipErrorInvalidKernelFile,
            Major::Six => hipErrorInvalidValue,
            Major::Seven => hipErrorInvalidImage,
        };
        return fail!(error, "{path} is empty, or no file");
    }
    let file = match MappedFile::open(Path::new(path.as_ref())) {
        Ok(file) => file,
        Err(error) => return fail!(hipErrorFileNotFound, "{path}: {error}"),
    };
    load(out, file.bytes())
}

/// # Safety
/// An image that is not null must be a complete bundle or code object.
unsafe fn load_image(out: *mut hipModule_t, image: *const c_void) -> HipResult {
    if out.is_null() || image.is_null() {
        return fail!(hipErrorInvalidValue, "a null pointer");
    }
    // SAFETY: the caller keeps the image during the call.
    load(out, unsafe { code::bytes_at(image.cast())? })
}

/// Loads a module from a file: a bundle or a code object.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLoad(
    module: *mut hipModule_t,
    fname: *const c_char,
) -> hipError_t {
    load_file(module, fname)
}

/// Loads a module from memory: a bundle or a code object.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLoadData(
    module: *mut hipModule_t,
    image: *const c_void,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { load_image(module, image) }
}

/// Loads a module from memory; options of a just-in-time compiler mean nothing to machine code.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLoadDataEx(
    module: *mut hipModule_t,
    image: *const c_void,
    numOptions: u32,
    options: *mut u32,
    optionValues: *mut *mut c_void,
) -> hipError_t {
    let _ = (numOptions, options, optionValues);
    // SAFETY: as the caller promises.
    unsafe { load_image(module, image) }
}

/// Loads a module from a fat binary in memory.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLoadFatBinary(
    module: *mut hipModule_t,
    fatbin: *const c_void,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { load_image(module, fatbin) }
}

/// Unloads a module; its function handles end. Work that still runs its kernels keeps the code.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleUnload(module: hipModule_t) -> hipError_t {
    let Some(removed) = MODULES.remove(module.addr()) else {
        return fail!(
            hipErrorNotFound,
            "{:#x} is not a loaded module",
            module.addr()
        );
    };
    let _ = removed.program.device().synchronize();
    texture_reference::forget(&removed.program);
    variable::remove(&removed.program);
    for memory in removed.managed.values() {
        // The program may have freed it.
        let _ = runtime::get()?.clr.free(memory.device_address() as usize);
    }
    for handle in removed.functions.lock().values() {
        FUNCTIONS.remove(*handle);
    }
    Ok(())
}

/// Finds a kernel of a module by name.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleGetFunction(
    function: *mut hipFunction_t,
    module: hipModule_t,
    kname: *const c_char,
) -> hipError_t {
    if function.is_null() || kname.is_null() {
        return fail!(hipErrorInvalidValue, "a null pointer");
    }
    let module = find(module)?;
    // SAFETY: not null; the caller promises a terminated string.
    let name = unsafe { CStr::from_ptr(kname) }.to_string_lossy();
    if name.is_empty() {
        return fail!(hipErrorInvalidValue, "an empty kernel name");
    }
    let mut functions = module.functions.lock();
    let handle = match functions.get(name.as_ref()) {
        Some(handle) => *handle,
        None => {
            let Some(kernel) = module.program.kernel(&name) else {
                return fail!(hipErrorNotFound, "the module has no kernel {name}");
            };
            let handle = handle_for(Arc::clone(kernel))?;
            functions.insert(name.into_owned(), handle);
            handle
        }
    };
    // SAFETY: not null; the caller promises a valid place.
    unsafe { function.write(std::ptr::without_provenance_mut(handle)) };
    Ok(())
}

/// Counts the kernels of a module.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleGetFunctionCount(
    count: *mut u32,
    r#mod: hipModule_t,
) -> hipError_t {
    if count.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the number");
    }
    let number = find(r#mod)?.program.kernels().len() as u32;
    // SAFETY: not null; the caller promises a valid place.
    unsafe { count.write(number) };
    Ok(())
}

/// Finds a variable of a module by name; null places are passed over.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleGetGlobal(
    dptr: *mut hipDeviceptr_t,
    bytes: *mut usize,
    hmod: hipModule_t,
    name: *const c_char,
) -> hipError_t {
    if name.is_null() || (dptr.is_null() && bytes.is_null()) {
        return fail!(hipErrorInvalidValue, "a null pointer");
    }
    let module = find(hmod)?;
    // SAFETY: not null; the caller promises a terminated string.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    let Some(global) = module.program.global(&name) else {
        return fail!(hipErrorNotFound, "the module has no variable {name}");
    };
    let (address, size) = match module.managed.get(name.as_ref()) {
        Some(memory) => (memory.device_address(), memory.size()),
        None => (global.address, global.size),
    };
    // SAFETY: each is null or a valid place.
    unsafe {
        if !dptr.is_null() {
            dptr.write(std::ptr::with_exposed_provenance_mut(address as usize));
        }
        if !bytes.is_null() {
            bytes.write(size);
        }
    }
    Ok(())
}

/// Gives a kernel's name, or null.
///
/// # Safety
/// The handle is checked. The string lives until the module is unloaded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipKernelNameRef(f: hipFunction_t) -> *const c_char {
    entry::run("hipKernelNameRef", std::ptr::null(), || {
        FUNCTIONS
            .get(f.addr())
            .map_or(std::ptr::null(), |function| function.name.as_ptr())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_and_invented_handles_are_refused() {
        let invented: hipFunction_t = std::ptr::without_provenance_mut(0x400_0001_0000_0000);
        assert_eq!(find(invented.cast()).err(), Some(hipErrorInvalidHandle));
        assert_eq!(function(invented).err(), Some(hipErrorInvalidHandle));
        // SAFETY: the handle is only compared.
        assert!(unsafe { hipKernelNameRef(invented) }.is_null());
    }
}
