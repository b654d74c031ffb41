//! The functions of the loader extension's table. They are not exported by name, as in ROCr.

use std::ffi::c_void;

use gneiss_hsa_api::*;

use crate::{
    agent::AgentId,
    entry::{entry, require, write_out, write_value},
    loader::object::LoadedObject,
    runtime,
};

fn storage_kind(object: &LoadedObject) -> u32 {
    match object.storage {
        (_, true) => HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_FILE,
        (_, false) => HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY,
    }
}

/// Loaded code is in memory that host and devices share: the address is the same.
pub(crate) unsafe extern "C" fn query_host_address(
    device_address: *const c_void,
    host_address: *mut *const c_void,
) -> hsa_status_t {
    entry!(hsa_ven_amd_loader_query_host_address, {
        let runtime = runtime::get()?;
        require(!device_address.is_null() && !host_address.is_null())?;
        require(runtime.loader.object_at(device_address as u64).is_some())?;
        // SAFETY: an out-parameter of the caller.
        unsafe { write_out(host_address, device_address) }
    })
}

pub(crate) unsafe extern "C" fn query_segment_descriptors(
    descriptors: *mut hsa_ven_amd_loader_segment_descriptor_t,
    count: *mut usize,
) -> hsa_status_t {
    entry!(hsa_ven_amd_loader_query_segment_descriptors, {
        let runtime = runtime::get()?;
        require(!count.is_null())?;
        let objects = runtime.loader.all_objects();
        // SAFETY: the caller's counter.
        let room = unsafe { count.read_unaligned() };
        if descriptors.is_null() {
            require(room == 0)?;
            // SAFETY: an out-parameter of the caller.
            return unsafe { write_out(count, objects.len()) };
        }
        if room != objects.len() {
            return Err(HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
        }
        for (at, object) in objects.iter().enumerate() {
            let descriptor = hsa_ven_amd_loader_segment_descriptor_t {
                agent: object.agent.handle(),
                executable: hsa_executable_t {
                    handle: object.executable,
                },
                code_object_storage_type: storage_kind(object),
                code_object_storage_base: object.storage.0 as *const c_void,
                code_object_storage_size: object.elf.len(),
                code_object_storage_offset: 0,
                segment_base: object.base as *const c_void,
                segment_size: object.size as usize,
            };
            // SAFETY: the caller's list has `room` elements.
            unsafe { descriptors.add(at).write_unaligned(descriptor) };
        }
        Ok(())
    })
}

pub(crate) unsafe extern "C" fn query_executable(
    device_address: *const c_void,
    executable: *mut hsa_executable_t,
) -> hsa_status_t {
    entry!(hsa_ven_amd_loader_query_executable, {
        let runtime = runtime::get()?;
        require(!device_address.is_null() && !executable.is_null())?;
        let object = runtime
            .loader
            .object_at(device_address as u64)
            .ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        // SAFETY: an out-parameter of the caller.
        unsafe {
            write_out(
                executable,
                hsa_executable_t {
                    handle: object.executable,
                },
            )
        }
    })
}

pub(crate) unsafe extern "C" fn executable_iterate_loaded_code_objects(
    executable: hsa_executable_t,
    callback: LoadedCodeObjectCallback,
    data: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_ven_amd_loader_executable_iterate_loaded_code_objects, {
        let found = runtime::get()?.loader.executable(executable)?;
        let callback = callback.ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        let objects = found.contents.lock().objects.clone();
        for object in objects {
            // SAFETY: the user's callback with the user's data.
            unsafe {
                callback(
                    executable,
                    hsa_loaded_code_object_t {
                        handle: object.handle,
                    },
                    data,
                )
            }
            .ok()?;
        }
        Ok(())
    })
}

pub(crate) unsafe extern "C" fn loaded_code_object_get_info(
    code_object: hsa_loaded_code_object_t,
    attribute: hsa_ven_amd_loader_loaded_code_object_info_t,
    value: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_ven_amd_loader_loaded_code_object_get_info, {
        let object = runtime::get()?.loader.object(code_object)?;
        require(!value.is_null())?;
        // SAFETY: the caller's buffer has the size of the attribute.
        unsafe {
            match attribute {
                HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_EXECUTABLE => write_value(
                    value,
                    hsa_executable_t {
                        handle: object.executable,
                    },
                ),
                HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_KIND => {
                    write_value(value, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_AGENT)
                }
                HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT => {
                    write_value(value, AgentId::handle(object.agent))
                }
                HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_TYPE => {
                    write_value(value, storage_kind(&object))
                }
                HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_BASE => {
                    write_value(value, object.storage.0 as u64)
                }
                HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_SIZE => {
                    write_value(value, object.elf.len() as u64)
                }
                // The descriptor that the reader was made from may be closed.
                HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_FILE => {
                    Err(HSA_STATUS_ERROR_INVALID_ARGUMENT)
                }
                HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA => {
                    write_value(value, object.delta.cast_signed())
                }
                HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE => {
                    write_value(value, object.base)
                }
                HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE => {
                    write_value(value, object.size)
                }
                HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH => {
                    write_value(value, object.uri.len() as u32)
                }
                HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI => {
                    std::ptr::copy_nonoverlapping(
                        object.uri.as_ptr(),
                        value.cast(),
                        object.uri.len(),
                    );
                    Ok(())
                }
                _ => Err(HSA_STATUS_ERROR_INVALID_ARGUMENT),
            }
        }
    })
}

pub(crate) unsafe extern "C" fn code_object_reader_create_from_file_with_offset_size(
    file: i32,
    offset: usize,
    size: usize,
    reader: *mut hsa_code_object_reader_t,
) -> hsa_status_t {
    entry!(
        hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size,
        {
            let runtime = runtime::get()?;
            require(!reader.is_null() && size != 0)?;
            let made = runtime
                .loader
                .read_file(file, offset as u64, Some(size as u64))?;
            // SAFETY: an out-parameter of the caller.
            unsafe { write_out(reader, made) }
        }
    )
}

pub(crate) unsafe extern "C" fn iterate_executables(
    callback: ExecutableCallback,
    data: *mut c_void,
) -> hsa_status_t {
    entry!(hsa_ven_amd_loader_iterate_executables, {
        let runtime = runtime::get()?;
        let callback = callback.ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        for executable in runtime.loader.all_executables() {
            // SAFETY: the user's callback with the user's data.
            unsafe {
                callback(
                    hsa_executable_t {
                        handle: executable.handle,
                    },
                    data,
                )
            }
            .ok()?;
        }
        Ok(())
    })
}
