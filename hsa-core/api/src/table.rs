//! The functions of the HSA library, in one list, and [`HsaApi`], the table of their addresses.
//!
//! The list ([`for_each_hsa_function!`](crate::for_each_hsa_function)) is the only place where the signatures stand. `required` are the
//! functions of ROCm 5.2, which every library that we load has; `optional` came later or are our own, so a caller asks for them.

use std::{
    ffi::{OsString, c_char, c_void},
    mem::MaybeUninit,
    path::Path,
};

use crate::{constant::*, handle::*, layout::*, status::*};

/// Calls a macro with the list of all functions: `required { fn name(args) -> ret; … } optional { … }`.
///
/// The types are named as in this crate: `use gneiss_hsa_api::*` and `std::ffi::{c_char, c_void}` where the macro is used.
#[macro_export]
macro_rules! for_each_hsa_function {
    ($callback:ident) => {
        $callback! {
            required {
            fn hsa_agent_extension_supported(extension: u16, agent: hsa_agent_t, version_major: u16, version_minor: u16, result: *mut bool) -> hsa_status_t;
            fn hsa_agent_get_exception_policies(agent: hsa_agent_t, profile: hsa_profile_t, mask: *mut u16) -> hsa_status_t;
            fn hsa_agent_get_info(agent: hsa_agent_t, attribute: hsa_agent_info_t, value: *mut c_void) -> hsa_status_t;
            fn hsa_agent_iterate_caches(agent: hsa_agent_t, callback: Option<unsafe extern "C" fn(cache: hsa_cache_t, data: *mut c_void) -> hsa_status_t>, data: *mut c_void) -> hsa_status_t;
            fn hsa_agent_iterate_isas(agent: hsa_agent_t, callback: Option<unsafe extern "C" fn(isa: hsa_isa_t, data: *mut c_void) -> hsa_status_t>, data: *mut c_void) -> hsa_status_t;
            fn hsa_agent_iterate_regions(agent: hsa_agent_t, callback: Option<unsafe extern "C" fn(region: hsa_region_t, data: *mut c_void) -> hsa_status_t>, data: *mut c_void) -> hsa_status_t;
            fn hsa_agent_major_extension_supported(extension: u16, agent: hsa_agent_t, version_major: u16, version_minor: *mut u16, result: *mut bool) -> hsa_status_t;
            fn hsa_amd_agent_iterate_memory_pools(agent: hsa_agent_t, callback: Option<unsafe extern "C" fn(memory_pool: hsa_amd_memory_pool_t, data: *mut c_void) -> hsa_status_t>, data: *mut c_void) -> hsa_status_t;
            fn hsa_amd_agent_memory_pool_get_info(agent: hsa_agent_t, memory_pool: hsa_amd_memory_pool_t, attribute: hsa_amd_agent_memory_pool_info_t, value: *mut c_void) -> hsa_status_t;
            fn hsa_amd_agents_allow_access(num_agents: u32, agents: *const hsa_agent_t, flags: *const u32, ptr: *const c_void) -> hsa_status_t;
            fn hsa_amd_async_function(callback: Option<unsafe extern "C" fn(arg: *mut c_void)>, arg: *mut c_void) -> hsa_status_t;
            fn hsa_amd_coherency_get_type(agent: hsa_agent_t, kind: *mut hsa_amd_coherency_type_t) -> hsa_status_t;
            fn hsa_amd_coherency_set_type(agent: hsa_agent_t, kind: hsa_amd_coherency_type_t) -> hsa_status_t;
            fn hsa_amd_deregister_deallocation_callback(ptr: *mut c_void, callback: hsa_amd_deallocation_callback_t) -> hsa_status_t;
            fn hsa_amd_image_create(agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_t, image_layout: *const hsa_amd_image_descriptor_t, image_data: *const c_void, access_permission: hsa_access_permission_t, image: *mut hsa_ext_image_t) -> hsa_status_t;
            fn hsa_amd_image_get_info_max_dim(agent: hsa_agent_t, attribute: hsa_agent_info_t, value: *mut c_void) -> hsa_status_t;
            fn hsa_amd_interop_map_buffer(num_agents: u32, agents: *mut hsa_agent_t, interop_handle: i32, flags: u32, size: *mut usize, ptr: *mut *mut c_void, metadata_size: *mut usize, metadata: *mut *const c_void) -> hsa_status_t;
            fn hsa_amd_interop_unmap_buffer(ptr: *mut c_void) -> hsa_status_t;
            fn hsa_amd_ipc_memory_attach(handle: *const hsa_amd_ipc_memory_t, len: usize, num_agents: u32, mapping_agents: *const hsa_agent_t, mapped_ptr: *mut *mut c_void) -> hsa_status_t;
            fn hsa_amd_ipc_memory_create(ptr: *mut c_void, len: usize, handle: *mut hsa_amd_ipc_memory_t) -> hsa_status_t;
            fn hsa_amd_ipc_memory_detach(mapped_ptr: *mut c_void) -> hsa_status_t;
            fn hsa_amd_ipc_signal_attach(handle: *const hsa_amd_ipc_signal_t, signal: *mut hsa_signal_t) -> hsa_status_t;
            fn hsa_amd_ipc_signal_create(signal: hsa_signal_t, handle: *mut hsa_amd_ipc_signal_t) -> hsa_status_t;
            fn hsa_amd_memory_async_copy(dst: *mut c_void, dst_agent: hsa_agent_t, src: *const c_void, src_agent: hsa_agent_t, size: usize, num_dep_signals: u32, dep_signals: *const hsa_signal_t, completion_signal: hsa_signal_t) -> hsa_status_t;
            fn hsa_amd_memory_async_copy_rect(dst: *const hsa_pitched_ptr_t, dst_offset: *const hsa_dim3_t, src: *const hsa_pitched_ptr_t, src_offset: *const hsa_dim3_t, range: *const hsa_dim3_t, copy_agent: hsa_agent_t, dir: hsa_amd_copy_direction_t, num_dep_signals: u32, dep_signals: *const hsa_signal_t, completion_signal: hsa_signal_t) -> hsa_status_t;
            fn hsa_amd_memory_fill(ptr: *mut c_void, value: u32, count: usize) -> hsa_status_t;
            fn hsa_amd_memory_lock(host_ptr: *mut c_void, size: usize, agents: *mut hsa_agent_t, num_agent: i32, agent_ptr: *mut *mut c_void) -> hsa_status_t;
            fn hsa_amd_memory_lock_to_pool(host_ptr: *mut c_void, size: usize, agents: *mut hsa_agent_t, num_agent: i32, pool: hsa_amd_memory_pool_t, flags: u32, agent_ptr: *mut *mut c_void) -> hsa_status_t;
            fn hsa_amd_memory_migrate(ptr: *const c_void, memory_pool: hsa_amd_memory_pool_t, flags: u32) -> hsa_status_t;
            fn hsa_amd_memory_pool_allocate(memory_pool: hsa_amd_memory_pool_t, size: usize, flags: u32, ptr: *mut *mut c_void) -> hsa_status_t;
            fn hsa_amd_memory_pool_can_migrate(src_memory_pool: hsa_amd_memory_pool_t, dst_memory_pool: hsa_amd_memory_pool_t, result: *mut bool) -> hsa_status_t;
            fn hsa_amd_memory_pool_free(ptr: *mut c_void) -> hsa_status_t;
            fn hsa_amd_memory_pool_get_info(memory_pool: hsa_amd_memory_pool_t, attribute: hsa_amd_memory_pool_info_t, value: *mut c_void) -> hsa_status_t;
            fn hsa_amd_memory_unlock(host_ptr: *mut c_void) -> hsa_status_t;
            fn hsa_amd_pointer_info(ptr: *const c_void, info: *mut hsa_amd_pointer_info_t, alloc: Option<unsafe extern "C" fn(a0: usize) -> *mut c_void>, num_agents_accessible: *mut u32, accessible: *mut *mut hsa_agent_t) -> hsa_status_t;
            fn hsa_amd_pointer_info_set_userdata(ptr: *const c_void, userdata: *mut c_void) -> hsa_status_t;
            fn hsa_amd_profiling_async_copy_enable(enable: bool) -> hsa_status_t;
            fn hsa_amd_profiling_convert_tick_to_system_domain(agent: hsa_agent_t, agent_tick: u64, system_tick: *mut u64) -> hsa_status_t;
            fn hsa_amd_profiling_get_async_copy_time(signal: hsa_signal_t, time: *mut hsa_amd_profiling_async_copy_time_t) -> hsa_status_t;
            fn hsa_amd_profiling_get_dispatch_time(agent: hsa_agent_t, signal: hsa_signal_t, time: *mut hsa_amd_profiling_dispatch_time_t) -> hsa_status_t;
            fn hsa_amd_profiling_set_profiler_enabled(queue: *mut hsa_queue_t, enable: i32) -> hsa_status_t;
            fn hsa_amd_queue_cu_get_mask(queue: *const hsa_queue_t, num_cu_mask_count: u32, cu_mask: *mut u32) -> hsa_status_t;
            fn hsa_amd_queue_cu_set_mask(queue: *const hsa_queue_t, num_cu_mask_count: u32, cu_mask: *const u32) -> hsa_status_t;
            fn hsa_amd_queue_set_priority(queue: *mut hsa_queue_t, priority: hsa_amd_queue_priority_t) -> hsa_status_t;
            fn hsa_amd_register_deallocation_callback(ptr: *mut c_void, callback: hsa_amd_deallocation_callback_t, user_data: *mut c_void) -> hsa_status_t;
            fn hsa_amd_register_system_event_handler(callback: hsa_amd_system_event_callback_t, data: *mut c_void) -> hsa_status_t;
            fn hsa_amd_signal_async_handler(signal: hsa_signal_t, cond: hsa_signal_condition_t, value: hsa_signal_value_t, handler: hsa_amd_signal_handler, arg: *mut c_void) -> hsa_status_t;
            fn hsa_amd_signal_create(initial_value: hsa_signal_value_t, num_consumers: u32, consumers: *const hsa_agent_t, attributes: u64, signal: *mut hsa_signal_t) -> hsa_status_t;
            fn hsa_amd_signal_value_pointer(signal: hsa_signal_t, value_ptr: *mut *mut hsa_signal_value_t) -> hsa_status_t;
            fn hsa_amd_signal_wait_any(signal_count: u32, signals: *mut hsa_signal_t, conds: *mut hsa_signal_condition_t, values: *mut hsa_signal_value_t, timeout_hint: u64, wait_hint: hsa_wait_state_t, satisfying_value: *mut hsa_signal_value_t) -> u32;
            fn hsa_amd_svm_attributes_get(ptr: *mut c_void, size: usize, attribute_list: *mut hsa_amd_svm_attribute_pair_t, attribute_count: usize) -> hsa_status_t;
            fn hsa_amd_svm_attributes_set(ptr: *mut c_void, size: usize, attribute_list: *mut hsa_amd_svm_attribute_pair_t, attribute_count: usize) -> hsa_status_t;
            fn hsa_amd_svm_prefetch_async(ptr: *mut c_void, size: usize, agent: hsa_agent_t, num_dep_signals: u32, dep_signals: *const hsa_signal_t, completion_signal: hsa_signal_t) -> hsa_status_t;
            fn hsa_cache_get_info(cache: hsa_cache_t, attribute: hsa_cache_info_t, value: *mut c_void) -> hsa_status_t;
            fn hsa_code_object_deserialize(serialized_code_object: *mut c_void, serialized_code_object_size: usize, options: *const c_char, code_object: *mut hsa_code_object_t) -> hsa_status_t;
            fn hsa_code_object_destroy(code_object: hsa_code_object_t) -> hsa_status_t;
            fn hsa_code_object_get_info(code_object: hsa_code_object_t, attribute: hsa_code_object_info_t, value: *mut c_void) -> hsa_status_t;
            fn hsa_code_object_get_symbol(code_object: hsa_code_object_t, symbol_name: *const c_char, symbol: *mut hsa_code_symbol_t) -> hsa_status_t;
            fn hsa_code_object_get_symbol_from_name(code_object: hsa_code_object_t, module_name: *const c_char, symbol_name: *const c_char, symbol: *mut hsa_code_symbol_t) -> hsa_status_t;
            fn hsa_code_object_iterate_symbols(code_object: hsa_code_object_t, callback: Option<unsafe extern "C" fn(code_object: hsa_code_object_t, symbol: hsa_code_symbol_t, data: *mut c_void) -> hsa_status_t>, data: *mut c_void) -> hsa_status_t;
            fn hsa_code_object_reader_create_from_file(file: hsa_file_t, code_object_reader: *mut hsa_code_object_reader_t) -> hsa_status_t;
            fn hsa_code_object_reader_create_from_memory(code_object: *const c_void, size: usize, code_object_reader: *mut hsa_code_object_reader_t) -> hsa_status_t;
            fn hsa_code_object_reader_destroy(code_object_reader: hsa_code_object_reader_t) -> hsa_status_t;
            fn hsa_code_object_serialize(code_object: hsa_code_object_t, alloc_callback: Option<unsafe extern "C" fn(size: usize, data: hsa_callback_data_t, address: *mut *mut c_void) -> hsa_status_t>, callback_data: hsa_callback_data_t, options: *const c_char, serialized_code_object: *mut *mut c_void, serialized_code_object_size: *mut usize) -> hsa_status_t;
            fn hsa_code_symbol_get_info(code_symbol: hsa_code_symbol_t, attribute: hsa_code_symbol_info_t, value: *mut c_void) -> hsa_status_t;
            fn hsa_executable_agent_global_variable_define(executable: hsa_executable_t, agent: hsa_agent_t, variable_name: *const c_char, address: *mut c_void) -> hsa_status_t;
            fn hsa_executable_create(profile: hsa_profile_t, executable_state: hsa_executable_state_t, options: *const c_char, executable: *mut hsa_executable_t) -> hsa_status_t;
            fn hsa_executable_create_alt(profile: hsa_profile_t, default_float_rounding_mode: hsa_default_float_rounding_mode_t, options: *const c_char, executable: *mut hsa_executable_t) -> hsa_status_t;
            fn hsa_executable_destroy(executable: hsa_executable_t) -> hsa_status_t;
            fn hsa_executable_freeze(executable: hsa_executable_t, options: *const c_char) -> hsa_status_t;
            fn hsa_executable_get_info(executable: hsa_executable_t, attribute: hsa_executable_info_t, value: *mut c_void) -> hsa_status_t;
            fn hsa_executable_get_symbol(executable: hsa_executable_t, module_name: *const c_char, symbol_name: *const c_char, agent: hsa_agent_t, call_convention: i32, symbol: *mut hsa_executable_symbol_t) -> hsa_status_t;
            fn hsa_executable_get_symbol_by_name(executable: hsa_executable_t, symbol_name: *const c_char, agent: *const hsa_agent_t, symbol: *mut hsa_executable_symbol_t) -> hsa_status_t;
            fn hsa_executable_global_variable_define(executable: hsa_executable_t, variable_name: *const c_char, address: *mut c_void) -> hsa_status_t;
            fn hsa_executable_iterate_agent_symbols(executable: hsa_executable_t, agent: hsa_agent_t, callback: Option<unsafe extern "C" fn(exec: hsa_executable_t, agent: hsa_agent_t, symbol: hsa_executable_symbol_t, data: *mut c_void) -> hsa_status_t>, data: *mut c_void) -> hsa_status_t;
            fn hsa_executable_iterate_program_symbols(executable: hsa_executable_t, callback: Option<unsafe extern "C" fn(exec: hsa_executable_t, symbol: hsa_executable_symbol_t, data: *mut c_void) -> hsa_status_t>, data: *mut c_void) -> hsa_status_t;
            fn hsa_executable_iterate_symbols(executable: hsa_executable_t, callback: Option<unsafe extern "C" fn(exec: hsa_executable_t, symbol: hsa_executable_symbol_t, data: *mut c_void) -> hsa_status_t>, data: *mut c_void) -> hsa_status_t;
            fn hsa_executable_load_agent_code_object(executable: hsa_executable_t, agent: hsa_agent_t, code_object_reader: hsa_code_object_reader_t, options: *const c_char, loaded_code_object: *mut hsa_loaded_code_object_t) -> hsa_status_t;
            fn hsa_executable_load_code_object(executable: hsa_executable_t, agent: hsa_agent_t, code_object: hsa_code_object_t, options: *const c_char) -> hsa_status_t;
            fn hsa_executable_load_program_code_object(executable: hsa_executable_t, code_object_reader: hsa_code_object_reader_t, options: *const c_char, loaded_code_object: *mut hsa_loaded_code_object_t) -> hsa_status_t;
            fn hsa_executable_readonly_variable_define(executable: hsa_executable_t, agent: hsa_agent_t, variable_name: *const c_char, address: *mut c_void) -> hsa_status_t;
            fn hsa_executable_symbol_get_info(executable_symbol: hsa_executable_symbol_t, attribute: hsa_executable_symbol_info_t, value: *mut c_void) -> hsa_status_t;
            fn hsa_executable_validate(executable: hsa_executable_t, result: *mut u32) -> hsa_status_t;
            fn hsa_executable_validate_alt(executable: hsa_executable_t, options: *const c_char, result: *mut u32) -> hsa_status_t;
            fn hsa_ext_image_clear(agent: hsa_agent_t, image: hsa_ext_image_t, data: *const c_void, image_region: *const hsa_ext_image_region_t) -> hsa_status_t;
            fn hsa_ext_image_copy(agent: hsa_agent_t, src_image: hsa_ext_image_t, src_offset: *const hsa_dim3_t, dst_image: hsa_ext_image_t, dst_offset: *const hsa_dim3_t, range: *const hsa_dim3_t) -> hsa_status_t;
            fn hsa_ext_image_create(agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_t, image_data: *const c_void, access_permission: hsa_access_permission_t, image: *mut hsa_ext_image_t) -> hsa_status_t;
            fn hsa_ext_image_create_with_layout(agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_t, image_data: *const c_void, access_permission: hsa_access_permission_t, image_data_layout: hsa_ext_image_data_layout_t, image_data_row_pitch: usize, image_data_slice_pitch: usize, image: *mut hsa_ext_image_t) -> hsa_status_t;
            fn hsa_ext_image_data_get_info(agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_t, access_permission: hsa_access_permission_t, image_data_info: *mut hsa_ext_image_data_info_t) -> hsa_status_t;
            fn hsa_ext_image_data_get_info_with_layout(agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_t, access_permission: hsa_access_permission_t, image_data_layout: hsa_ext_image_data_layout_t, image_data_row_pitch: usize, image_data_slice_pitch: usize, image_data_info: *mut hsa_ext_image_data_info_t) -> hsa_status_t;
            fn hsa_ext_image_destroy(agent: hsa_agent_t, image: hsa_ext_image_t) -> hsa_status_t;
            fn hsa_ext_image_export(agent: hsa_agent_t, src_image: hsa_ext_image_t, dst_memory: *mut c_void, dst_row_pitch: usize, dst_slice_pitch: usize, image_region: *const hsa_ext_image_region_t) -> hsa_status_t;
            fn hsa_ext_image_get_capability(agent: hsa_agent_t, geometry: hsa_ext_image_geometry_t, image_format: *const hsa_ext_image_format_t, capability_mask: *mut u32) -> hsa_status_t;
            fn hsa_ext_image_get_capability_with_layout(agent: hsa_agent_t, geometry: hsa_ext_image_geometry_t, image_format: *const hsa_ext_image_format_t, image_data_layout: hsa_ext_image_data_layout_t, capability_mask: *mut u32) -> hsa_status_t;
            fn hsa_ext_image_import(agent: hsa_agent_t, src_memory: *const c_void, src_row_pitch: usize, src_slice_pitch: usize, dst_image: hsa_ext_image_t, image_region: *const hsa_ext_image_region_t) -> hsa_status_t;
            fn hsa_ext_program_add_module(program: hsa_ext_program_t, module: hsa_ext_module_t) -> hsa_status_t;
            fn hsa_ext_program_create(machine_model: hsa_machine_model_t, profile: hsa_profile_t, default_float_rounding_mode: hsa_default_float_rounding_mode_t, options: *const c_char, program: *mut hsa_ext_program_t) -> hsa_status_t;
            fn hsa_ext_program_destroy(program: hsa_ext_program_t) -> hsa_status_t;
            fn hsa_ext_program_finalize(program: hsa_ext_program_t, isa: hsa_isa_t, call_convention: i32, control_directives: hsa_ext_control_directives_t, options: *const c_char, code_object_type: hsa_code_object_type_t, code_object: *mut hsa_code_object_t) -> hsa_status_t;
            fn hsa_ext_program_get_info(program: hsa_ext_program_t, attribute: hsa_ext_program_info_t, value: *mut c_void) -> hsa_status_t;
            fn hsa_ext_program_iterate_modules(program: hsa_ext_program_t, callback: Option<unsafe extern "C" fn(program: hsa_ext_program_t, module: hsa_ext_module_t, data: *mut c_void) -> hsa_status_t>, data: *mut c_void) -> hsa_status_t;
            fn hsa_ext_sampler_create(agent: hsa_agent_t, sampler_descriptor: *const hsa_ext_sampler_descriptor_t, sampler: *mut hsa_ext_sampler_t) -> hsa_status_t;
            fn hsa_ext_sampler_destroy(agent: hsa_agent_t, sampler: hsa_ext_sampler_t) -> hsa_status_t;
            fn hsa_extension_get_name(extension: u16, name: *mut *const c_char) -> hsa_status_t;
            fn hsa_init() -> hsa_status_t;
            fn hsa_isa_compatible(code_object_isa: hsa_isa_t, agent_isa: hsa_isa_t, result: *mut bool) -> hsa_status_t;
            fn hsa_isa_from_name(name: *const c_char, isa: *mut hsa_isa_t) -> hsa_status_t;
            fn hsa_isa_get_exception_policies(isa: hsa_isa_t, profile: hsa_profile_t, mask: *mut u16) -> hsa_status_t;
            fn hsa_isa_get_info(isa: hsa_isa_t, attribute: hsa_isa_info_t, index: u32, value: *mut c_void) -> hsa_status_t;
            fn hsa_isa_get_info_alt(isa: hsa_isa_t, attribute: hsa_isa_info_t, value: *mut c_void) -> hsa_status_t;
            fn hsa_isa_get_round_method(isa: hsa_isa_t, fp_type: hsa_fp_type_t, flush_mode: hsa_flush_mode_t, round_method: *mut hsa_round_method_t) -> hsa_status_t;
            fn hsa_isa_iterate_wavefronts(isa: hsa_isa_t, callback: Option<unsafe extern "C" fn(wavefront: hsa_wavefront_t, data: *mut c_void) -> hsa_status_t>, data: *mut c_void) -> hsa_status_t;
            fn hsa_iterate_agents(callback: Option<unsafe extern "C" fn(agent: hsa_agent_t, data: *mut c_void) -> hsa_status_t>, data: *mut c_void) -> hsa_status_t;
            fn hsa_memory_allocate(region: hsa_region_t, size: usize, ptr: *mut *mut c_void) -> hsa_status_t;
            fn hsa_memory_assign_agent(ptr: *mut c_void, agent: hsa_agent_t, access: hsa_access_permission_t) -> hsa_status_t;
            fn hsa_memory_copy(dst: *mut c_void, src: *const c_void, size: usize) -> hsa_status_t;
            fn hsa_memory_deregister(ptr: *mut c_void, size: usize) -> hsa_status_t;
            fn hsa_memory_free(ptr: *mut c_void) -> hsa_status_t;
            fn hsa_memory_register(ptr: *mut c_void, size: usize) -> hsa_status_t;
            fn hsa_queue_add_write_index_acq_rel(queue: *const hsa_queue_t, value: u64) -> u64;
            fn hsa_queue_add_write_index_acquire(queue: *const hsa_queue_t, value: u64) -> u64;
            fn hsa_queue_add_write_index_relaxed(queue: *const hsa_queue_t, value: u64) -> u64;
            fn hsa_queue_add_write_index_release(queue: *const hsa_queue_t, value: u64) -> u64;
            fn hsa_queue_add_write_index_scacq_screl(queue: *const hsa_queue_t, value: u64) -> u64;
            fn hsa_queue_add_write_index_scacquire(queue: *const hsa_queue_t, value: u64) -> u64;
            fn hsa_queue_add_write_index_screlease(queue: *const hsa_queue_t, value: u64) -> u64;
            fn hsa_queue_cas_write_index_acq_rel(queue: *const hsa_queue_t, expected: u64, value: u64) -> u64;
            fn hsa_queue_cas_write_index_acquire(queue: *const hsa_queue_t, expected: u64, value: u64) -> u64;
            fn hsa_queue_cas_write_index_relaxed(queue: *const hsa_queue_t, expected: u64, value: u64) -> u64;
            fn hsa_queue_cas_write_index_release(queue: *const hsa_queue_t, expected: u64, value: u64) -> u64;
            fn hsa_queue_cas_write_index_scacq_screl(queue: *const hsa_queue_t, expected: u64, value: u64) -> u64;
            fn hsa_queue_cas_write_index_scacquire(queue: *const hsa_queue_t, expected: u64, value: u64) -> u64;
            fn hsa_queue_cas_write_index_screlease(queue: *const hsa_queue_t, expected: u64, value: u64) -> u64;
            fn hsa_queue_create(agent: hsa_agent_t, size: u32, kind: hsa_queue_type32_t, callback: Option<unsafe extern "C" fn(status: hsa_status_t, source: *mut hsa_queue_t, data: *mut c_void)>, data: *mut c_void, private_segment_size: u32, group_segment_size: u32, queue: *mut *mut hsa_queue_t) -> hsa_status_t;
            fn hsa_queue_destroy(queue: *mut hsa_queue_t) -> hsa_status_t;
            fn hsa_queue_inactivate(queue: *mut hsa_queue_t) -> hsa_status_t;
            fn hsa_queue_load_read_index_acquire(queue: *const hsa_queue_t) -> u64;
            fn hsa_queue_load_read_index_relaxed(queue: *const hsa_queue_t) -> u64;
            fn hsa_queue_load_read_index_scacquire(queue: *const hsa_queue_t) -> u64;
            fn hsa_queue_load_write_index_acquire(queue: *const hsa_queue_t) -> u64;
            fn hsa_queue_load_write_index_relaxed(queue: *const hsa_queue_t) -> u64;
            fn hsa_queue_load_write_index_scacquire(queue: *const hsa_queue_t) -> u64;
            fn hsa_queue_store_read_index_relaxed(queue: *const hsa_queue_t, value: u64);
            fn hsa_queue_store_read_index_release(queue: *const hsa_queue_t, value: u64);
            fn hsa_queue_store_read_index_screlease(queue: *const hsa_queue_t, value: u64);
            fn hsa_queue_store_write_index_relaxed(queue: *const hsa_queue_t, value: u64);
            fn hsa_queue_store_write_index_release(queue: *const hsa_queue_t, value: u64);
            fn hsa_queue_store_write_index_screlease(queue: *const hsa_queue_t, value: u64);
            fn hsa_region_get_info(region: hsa_region_t, attribute: hsa_region_info_t, value: *mut c_void) -> hsa_status_t;
            fn hsa_shut_down() -> hsa_status_t;
            fn hsa_signal_add_acq_rel(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_add_acquire(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_add_relaxed(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_add_release(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_add_scacq_screl(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_add_scacquire(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_add_screlease(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_and_acq_rel(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_and_acquire(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_and_relaxed(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_and_release(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_and_scacq_screl(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_and_scacquire(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_and_screlease(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_cas_acq_rel(signal: hsa_signal_t, expected: hsa_signal_value_t, value: hsa_signal_value_t) -> hsa_signal_value_t;
            fn hsa_signal_cas_acquire(signal: hsa_signal_t, expected: hsa_signal_value_t, value: hsa_signal_value_t) -> hsa_signal_value_t;
            fn hsa_signal_cas_relaxed(signal: hsa_signal_t, expected: hsa_signal_value_t, value: hsa_signal_value_t) -> hsa_signal_value_t;
            fn hsa_signal_cas_release(signal: hsa_signal_t, expected: hsa_signal_value_t, value: hsa_signal_value_t) -> hsa_signal_value_t;
            fn hsa_signal_cas_scacq_screl(signal: hsa_signal_t, expected: hsa_signal_value_t, value: hsa_signal_value_t) -> hsa_signal_value_t;
            fn hsa_signal_cas_scacquire(signal: hsa_signal_t, expected: hsa_signal_value_t, value: hsa_signal_value_t) -> hsa_signal_value_t;
            fn hsa_signal_cas_screlease(signal: hsa_signal_t, expected: hsa_signal_value_t, value: hsa_signal_value_t) -> hsa_signal_value_t;
            fn hsa_signal_create(initial_value: hsa_signal_value_t, num_consumers: u32, consumers: *const hsa_agent_t, signal: *mut hsa_signal_t) -> hsa_status_t;
            fn hsa_signal_destroy(signal: hsa_signal_t) -> hsa_status_t;
            fn hsa_signal_exchange_acq_rel(signal: hsa_signal_t, value: hsa_signal_value_t) -> hsa_signal_value_t;
            fn hsa_signal_exchange_acquire(signal: hsa_signal_t, value: hsa_signal_value_t) -> hsa_signal_value_t;
            fn hsa_signal_exchange_relaxed(signal: hsa_signal_t, value: hsa_signal_value_t) -> hsa_signal_value_t;
            fn hsa_signal_exchange_release(signal: hsa_signal_t, value: hsa_signal_value_t) -> hsa_signal_value_t;
            fn hsa_signal_exchange_scacq_screl(signal: hsa_signal_t, value: hsa_signal_value_t) -> hsa_signal_value_t;
            fn hsa_signal_exchange_scacquire(signal: hsa_signal_t, value: hsa_signal_value_t) -> hsa_signal_value_t;
            fn hsa_signal_exchange_screlease(signal: hsa_signal_t, value: hsa_signal_value_t) -> hsa_signal_value_t;
            fn hsa_signal_group_create(num_signals: u32, signals: *const hsa_signal_t, num_consumers: u32, consumers: *const hsa_agent_t, signal_group: *mut hsa_signal_group_t) -> hsa_status_t;
            fn hsa_signal_group_destroy(signal_group: hsa_signal_group_t) -> hsa_status_t;
            fn hsa_signal_group_wait_any_relaxed(signal_group: hsa_signal_group_t, conditions: *const hsa_signal_condition_t, compare_values: *const hsa_signal_value_t, wait_state_hint: hsa_wait_state_t, signal: *mut hsa_signal_t, value: *mut hsa_signal_value_t) -> hsa_status_t;
            fn hsa_signal_group_wait_any_scacquire(signal_group: hsa_signal_group_t, conditions: *const hsa_signal_condition_t, compare_values: *const hsa_signal_value_t, wait_state_hint: hsa_wait_state_t, signal: *mut hsa_signal_t, value: *mut hsa_signal_value_t) -> hsa_status_t;
            fn hsa_signal_load_acquire(signal: hsa_signal_t) -> hsa_signal_value_t;
            fn hsa_signal_load_relaxed(signal: hsa_signal_t) -> hsa_signal_value_t;
            fn hsa_signal_load_scacquire(signal: hsa_signal_t) -> hsa_signal_value_t;
            fn hsa_signal_or_acq_rel(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_or_acquire(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_or_relaxed(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_or_release(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_or_scacq_screl(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_or_scacquire(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_or_screlease(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_silent_store_relaxed(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_silent_store_screlease(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_store_relaxed(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_store_release(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_store_screlease(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_subtract_acq_rel(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_subtract_acquire(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_subtract_relaxed(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_subtract_release(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_subtract_scacq_screl(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_subtract_scacquire(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_subtract_screlease(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_wait_acquire(signal: hsa_signal_t, condition: hsa_signal_condition_t, compare_value: hsa_signal_value_t, timeout_hint: u64, wait_state_hint: hsa_wait_state_t) -> hsa_signal_value_t;
            fn hsa_signal_wait_relaxed(signal: hsa_signal_t, condition: hsa_signal_condition_t, compare_value: hsa_signal_value_t, timeout_hint: u64, wait_state_hint: hsa_wait_state_t) -> hsa_signal_value_t;
            fn hsa_signal_wait_scacquire(signal: hsa_signal_t, condition: hsa_signal_condition_t, compare_value: hsa_signal_value_t, timeout_hint: u64, wait_state_hint: hsa_wait_state_t) -> hsa_signal_value_t;
            fn hsa_signal_xor_acq_rel(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_xor_acquire(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_xor_relaxed(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_xor_release(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_xor_scacq_screl(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_xor_scacquire(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_signal_xor_screlease(signal: hsa_signal_t, value: hsa_signal_value_t);
            fn hsa_soft_queue_create(region: hsa_region_t, size: u32, kind: hsa_queue_type32_t, features: u32, doorbell_signal: hsa_signal_t, queue: *mut *mut hsa_queue_t) -> hsa_status_t;
            fn hsa_status_string(status: hsa_status_t, status_string: *mut *const c_char) -> hsa_status_t;
            fn hsa_system_extension_supported(extension: u16, version_major: u16, version_minor: u16, result: *mut bool) -> hsa_status_t;
            fn hsa_system_get_extension_table(extension: u16, version_major: u16, version_minor: u16, table: *mut c_void) -> hsa_status_t;
            fn hsa_system_get_info(attribute: hsa_system_info_t, value: *mut c_void) -> hsa_status_t;
            fn hsa_system_get_major_extension_table(extension: u16, version_major: u16, table_length: usize, table: *mut c_void) -> hsa_status_t;
            fn hsa_system_major_extension_supported(extension: u16, version_major: u16, version_minor: *mut u16, result: *mut bool) -> hsa_status_t;
            fn hsa_wavefront_get_info(wavefront: hsa_wavefront_t, attribute: hsa_wavefront_info_t, value: *mut c_void) -> hsa_status_t;
            }
            optional {
            fn gneiss_hsa_image_create(agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_t, levels: *const gneiss_hsa_image_levels_t, image_data: *const c_void, access_permission: hsa_access_permission_t, image: *mut hsa_ext_image_t) -> hsa_status_t;
            fn gneiss_hsa_image_get_level_layout(agent: hsa_agent_t, image_descriptor: *const hsa_ext_image_descriptor_t, level: u32, layout: *mut gneiss_hsa_image_level_layout_t) -> hsa_status_t;
            fn gneiss_hsa_last_fault(queue: *const hsa_queue_t) -> *const c_char;
            fn gneiss_hsa_sampler_create(agent: hsa_agent_t, sampler_descriptor: *const hsa_ext_sampler_descriptor_v2_t, levels: *const gneiss_hsa_sampler_levels_t, sampler: *mut hsa_ext_sampler_t) -> hsa_status_t;
            fn hsa_amd_agent_set_async_scratch_limit(agent: hsa_agent_t, threshold: usize) -> hsa_status_t;
            fn hsa_amd_enable_logging(flags: *mut u8, file: *mut c_void) -> hsa_status_t;
            fn hsa_amd_memory_async_copy_on_engine(dst: *mut c_void, dst_agent: hsa_agent_t, src: *const c_void, src_agent: hsa_agent_t, size: usize, num_dep_signals: u32, dep_signals: *const hsa_signal_t, completion_signal: hsa_signal_t, engine_id: hsa_amd_sdma_engine_id_t, force_copy_on_sdma: bool) -> hsa_status_t;
            fn hsa_amd_memory_copy_engine_status(dst_agent: hsa_agent_t, src_agent: hsa_agent_t, engine_ids_mask: *mut u32) -> hsa_status_t;
            fn hsa_amd_memory_get_preferred_copy_engine(dst_agent: hsa_agent_t, src_agent: hsa_agent_t, recommended_ids_mask: *mut u32) -> hsa_status_t;
            fn hsa_amd_portable_close_dmabuf(dmabuf: i32) -> hsa_status_t;
            fn hsa_amd_portable_export_dmabuf(ptr: *const c_void, size: usize, dmabuf: *mut i32, offset: *mut u64) -> hsa_status_t;
            fn hsa_amd_portable_export_dmabuf_v2(ptr: *const c_void, size: usize, dmabuf: *mut i32, offset: *mut u64, flags: u64) -> hsa_status_t;
            fn hsa_amd_queue_get_info(queue: *mut hsa_queue_t, attribute: hsa_queue_info_attribute_t, value: *mut c_void) -> hsa_status_t;
            fn hsa_amd_signal_wait_all(signal_count: u32, signals: *mut hsa_signal_t, conds: *mut hsa_signal_condition_t, values: *mut hsa_signal_value_t, timeout_hint: u64, wait_hint: hsa_wait_state_t, satisfying_values: *mut hsa_signal_value_t) -> u32;
            fn hsa_amd_spm_acquire(preferred_agent: hsa_agent_t) -> hsa_status_t;
            fn hsa_amd_spm_release(preferred_agent: hsa_agent_t) -> hsa_status_t;
            fn hsa_amd_spm_set_dest_buffer(preferred_agent: hsa_agent_t, size_in_bytes: usize, timeout: *mut u32, size_copied: *mut u32, dest: *mut c_void, is_data_loss: *mut bool) -> hsa_status_t;
            fn hsa_amd_vmem_address_free(va: *mut c_void, size: usize) -> hsa_status_t;
            fn hsa_amd_vmem_address_reserve(va: *mut *mut c_void, size: usize, address: u64, flags: u64) -> hsa_status_t;
            fn hsa_amd_vmem_address_reserve_align(va: *mut *mut c_void, size: usize, address: u64, alignment: u64, flags: u64) -> hsa_status_t;
            fn hsa_amd_vmem_export_shareable_handle(dmabuf_fd: *mut i32, handle: hsa_amd_vmem_alloc_handle_t, flags: u64) -> hsa_status_t;
            fn hsa_amd_vmem_get_access(va: *mut c_void, perms: *mut hsa_access_permission_t, agent_handle: hsa_agent_t) -> hsa_status_t;
            fn hsa_amd_vmem_get_alloc_properties_from_handle(memory_handle: hsa_amd_vmem_alloc_handle_t, pool: *mut hsa_amd_memory_pool_t, kind: *mut hsa_amd_memory_type_t) -> hsa_status_t;
            fn hsa_amd_vmem_handle_create(pool: hsa_amd_memory_pool_t, size: usize, memory_type: hsa_amd_memory_type_t, flags: u64, memory_handle: *mut hsa_amd_vmem_alloc_handle_t) -> hsa_status_t;
            fn hsa_amd_vmem_handle_release(memory_handle: hsa_amd_vmem_alloc_handle_t) -> hsa_status_t;
            fn hsa_amd_vmem_import_shareable_handle(dmabuf_fd: i32, handle: *mut hsa_amd_vmem_alloc_handle_t) -> hsa_status_t;
            fn hsa_amd_vmem_map(va: *mut c_void, size: usize, in_offset: usize, memory_handle: hsa_amd_vmem_alloc_handle_t, flags: u64) -> hsa_status_t;
            fn hsa_amd_vmem_retain_alloc_handle(memory_handle: *mut hsa_amd_vmem_alloc_handle_t, addr: *mut c_void) -> hsa_status_t;
            fn hsa_amd_vmem_set_access(va: *mut c_void, size: usize, desc: *const hsa_amd_memory_access_desc_t, desc_cnt: usize) -> hsa_status_t;
            fn hsa_amd_vmem_unmap(va: *mut c_void, size: usize) -> hsa_status_t;
            fn hsa_ext_sampler_create_v2(agent: hsa_agent_t, sampler_descriptor: *const hsa_ext_sampler_descriptor_v2_t, sampler: *mut hsa_ext_sampler_t) -> hsa_status_t;
            fn hsa_ven_amd_pcs_create(agent: hsa_agent_t, method: hsa_ven_amd_pcs_method_kind_t, units: hsa_ven_amd_pcs_units_t, interval: usize, latency: usize, buffer_size: usize, data_ready_callback: hsa_ven_amd_pcs_data_ready_callback_t, client_callback_data: *mut c_void, pc_sampling: *mut hsa_ven_amd_pcs_t) -> hsa_status_t;
            fn hsa_ven_amd_pcs_create_from_id(pcs_id: u32, agent: hsa_agent_t, method: hsa_ven_amd_pcs_method_kind_t, units: hsa_ven_amd_pcs_units_t, interval: usize, latency: usize, buffer_size: usize, data_ready_callback: hsa_ven_amd_pcs_data_ready_callback_t, client_callback_data: *mut c_void, pc_sampling: *mut hsa_ven_amd_pcs_t) -> hsa_status_t;
            fn hsa_ven_amd_pcs_destroy(pc_sampling: hsa_ven_amd_pcs_t) -> hsa_status_t;
            fn hsa_ven_amd_pcs_flush(pc_sampling: hsa_ven_amd_pcs_t) -> hsa_status_t;
            fn hsa_ven_amd_pcs_iterate_configuration(agent: hsa_agent_t, configuration_callback: hsa_ven_amd_pcs_iterate_configuration_callback_t, callback_data: *mut c_void) -> hsa_status_t;
            fn hsa_ven_amd_pcs_start(pc_sampling: hsa_ven_amd_pcs_t) -> hsa_status_t;
            fn hsa_ven_amd_pcs_stop(pc_sampling: hsa_ven_amd_pcs_t) -> hsa_status_t;
            }
        }
    };
}

/// Why a library could not be used as an HSA runtime.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The dynamic linker refused the library.
    #[error("cannot load {}: {source}", path.display())]
    Open {
        /// The name or path that was tried.
        path: OsString,
        /// What the dynamic linker said.
        source: libloading::Error,
    },
    /// A function of ROCm 5.2 is not there.
    #[error("{} has no function {symbol}", path.display())]
    Missing {
        /// The library.
        path: OsString,
        /// The function.
        symbol: &'static str,
    },
}

macro_rules! define_table {
    (
        required { $(fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $ret:ty)?;)* }
        optional { $(fn $oname:ident($($oarg:ident: $otype:ty),* $(,)?) $(-> $oret:ty)?;)* }
    ) => {
        /// The addresses of an HSA library's functions. The fields have the functions' names; what they do is in AMD's headers.
        #[derive(Clone, Copy, Debug)]
        pub struct HsaApi {
            $(
                #[doc = concat!("`", stringify!($name), "`.")]
                pub $name: unsafe extern "C" fn($($arg: $type),*) $(-> $ret)?,
            )*
            $(
                #[doc = concat!("`", stringify!($oname), "`, if the library has it.")]
                pub $oname: Option<unsafe extern "C" fn($($oarg: $otype),*) $(-> $oret)?>,
            )*
        }

        impl HsaApi {
            /// The names of the functions that every library must have.
            pub const REQUIRED: &[&str] = &[$(stringify!($name)),*];
            /// The names of the functions that a library may lack.
            pub const OPTIONAL: &[&str] = &[$(stringify!($oname)),*];

            /// Finds all functions in an open library.
            fn resolve(library: &libloading::Library, path: &Path) -> Result<Self, LoadError> {
                Ok(Self {
                    $(
                        // SAFETY: the symbol is a function of the HSA ABI, whose signature this list states.
                        $name: *unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) }
                            .map_err(|_| LoadError::Missing { path: path.into(), symbol: stringify!($name) })?,
                    )*
                    $(
                        // SAFETY: as above.
                        $oname: unsafe { library.get(concat!(stringify!($oname), "\0").as_bytes()) }.ok().map(|symbol| *symbol),
                    )*
                })
            }
        }
    };
}

for_each_hsa_function!(define_table);

impl HsaApi {
    /// Loads an HSA library by path or by name (then the dynamic linker searches) and finds its functions.
    ///
    /// The library stays loaded for the rest of the process: its threads may run for as long.
    ///
    /// # Safety
    /// The file must be an HSA runtime library: its initialisers run, and its functions are called with the signatures of this list.
    pub unsafe fn load(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        let path = path.as_ref();
        // SAFETY: the caller vouches for the library's initialisers.
        let library =
            unsafe { libloading::Library::new(path) }.map_err(|source| LoadError::Open {
                path: path.into(),
                source,
            })?;
        let table = Self::resolve(&library, path)?;
        std::mem::forget(library);
        Ok(table)
    }

    /// A table for a library of one's own: every function is `missing`, which must not return, and our own extensions are not there. The
    /// caller puts in what it has.
    pub fn all_missing(missing: unsafe extern "C" fn()) -> Self {
        let words = size_of::<Self>() / size_of::<usize>();
        let mut table = MaybeUninit::<Self>::uninit();
        // SAFETY: the table holds nothing but (optional) function pointers, one word each.
        let mut table = unsafe {
            let place = table.as_mut_ptr().cast::<usize>();
            for index in 0..words {
                place.add(index).write(missing as *const () as usize);
            }
            table.assume_init()
        };
        table.gneiss_hsa_image_create = None;
        table.gneiss_hsa_image_get_level_layout = None;
        table.gneiss_hsa_last_fault = None;
        table.gneiss_hsa_sampler_create = None;
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_without_hsa_functions_is_refused_by_name() {
        // SAFETY: the C library is loaded already.
        let error = unsafe { HsaApi::load("libc.so.6") }.expect_err("libc is no HSA runtime");
        assert!(
            matches!(&error, LoadError::Missing { symbol, .. } if HsaApi::REQUIRED.contains(symbol)),
            "{error}"
        );
    }

    #[test]
    fn every_required_name_is_in_amd_s_library() {
        let path = Path::new("/usr/lib/x86_64-linux-gnu/libhsa-runtime64.so.1");
        if !path.exists() {
            eprintln!("AMD's library is not installed: nothing to compare with");
            return;
        }
        // SAFETY: it is AMD's HSA runtime; loading it starts nothing.
        let table = unsafe { HsaApi::load(path) }.expect("all functions of ROCm 5.2");
        assert!(
            table.gneiss_hsa_last_fault.is_none(),
            "AMD's library has none of our extensions"
        );
    }

    #[test]
    fn a_missing_library_is_named() {
        // SAFETY: nothing is loaded.
        let error = unsafe { HsaApi::load("/nonexistent/libhsa-runtime64.so.1") }
            .expect_err("no such file");
        assert!(
            error
                .to_string()
                .contains("/nonexistent/libhsa-runtime64.so.1")
        );
    }

    #[test]
    fn names_are_unique_and_sorted() {
        for names in [HsaApi::REQUIRED, HsaApi::OPTIONAL] {
            assert!(names.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }
}
