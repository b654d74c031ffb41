//! Enumerations of the core specification (`hsa.h`).
#![expect(missing_docs, reason = "names and meanings are those of AMD's headers")]

pub type hsa_access_permission_t = u32;
pub const HSA_ACCESS_PERMISSION_RO: hsa_access_permission_t = 1;
pub const HSA_ACCESS_PERMISSION_WO: hsa_access_permission_t = 2;
pub const HSA_ACCESS_PERMISSION_RW: hsa_access_permission_t = 3;

pub type hsa_endianness_t = u32;
pub const HSA_ENDIANNESS_LITTLE: hsa_endianness_t = 0;
pub const HSA_ENDIANNESS_BIG: hsa_endianness_t = 1;

pub type hsa_machine_model_t = u32;
pub const HSA_MACHINE_MODEL_SMALL: hsa_machine_model_t = 0;
pub const HSA_MACHINE_MODEL_LARGE: hsa_machine_model_t = 1;

pub type hsa_profile_t = u32;
pub const HSA_PROFILE_BASE: hsa_profile_t = 0;
pub const HSA_PROFILE_FULL: hsa_profile_t = 1;

pub type hsa_system_info_t = u32;
pub const HSA_SYSTEM_INFO_VERSION_MAJOR: hsa_system_info_t = 0;
pub const HSA_SYSTEM_INFO_VERSION_MINOR: hsa_system_info_t = 1;
pub const HSA_SYSTEM_INFO_TIMESTAMP: hsa_system_info_t = 2;
pub const HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY: hsa_system_info_t = 3;
pub const HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT: hsa_system_info_t = 4;
pub const HSA_SYSTEM_INFO_ENDIANNESS: hsa_system_info_t = 5;
pub const HSA_SYSTEM_INFO_MACHINE_MODEL: hsa_system_info_t = 6;
pub const HSA_SYSTEM_INFO_EXTENSIONS: hsa_system_info_t = 7;
pub const HSA_AMD_SYSTEM_INFO_BUILD_VERSION: hsa_system_info_t = 0x200;
pub const HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED: hsa_system_info_t = 0x201;
pub const HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT: hsa_system_info_t = 0x202;
pub const HSA_AMD_SYSTEM_INFO_MWAITX_ENABLED: hsa_system_info_t = 0x203;
pub const HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED: hsa_system_info_t = 0x204;
pub const HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED: hsa_system_info_t = 0x205;
pub const HSA_AMD_SYSTEM_INFO_XNACK_ENABLED: hsa_system_info_t = 0x206;
pub const HSA_AMD_SYSTEM_INFO_EXT_VERSION_MAJOR: hsa_system_info_t = 0x207;
pub const HSA_AMD_SYSTEM_INFO_EXT_VERSION_MINOR: hsa_system_info_t = 0x208;

pub type hsa_extension_t = u32;
pub const HSA_EXTENSION_FINALIZER: hsa_extension_t = 0;
pub const HSA_EXTENSION_IMAGES: hsa_extension_t = 1;
pub const HSA_EXTENSION_PERFORMANCE_COUNTERS: hsa_extension_t = 2;
pub const HSA_EXTENSION_PROFILING_EVENTS: hsa_extension_t = 3;
pub const HSA_EXTENSION_AMD_PROFILER: hsa_extension_t = 0x200;
pub const HSA_EXTENSION_AMD_LOADER: hsa_extension_t = 0x201;
pub const HSA_EXTENSION_AMD_AQLPROFILE: hsa_extension_t = 0x202;
pub const HSA_EXTENSION_AMD_PC_SAMPLING: hsa_extension_t = 0x203;

pub type hsa_agent_feature_t = u32;
pub const HSA_AGENT_FEATURE_KERNEL_DISPATCH: hsa_agent_feature_t = 1;
pub const HSA_AGENT_FEATURE_AGENT_DISPATCH: hsa_agent_feature_t = 2;

pub type hsa_device_type_t = u32;
pub const HSA_DEVICE_TYPE_CPU: hsa_device_type_t = 0;
pub const HSA_DEVICE_TYPE_GPU: hsa_device_type_t = 1;
pub const HSA_DEVICE_TYPE_DSP: hsa_device_type_t = 2;

pub type hsa_default_float_rounding_mode_t = u32;
pub const HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT: hsa_default_float_rounding_mode_t = 0;
pub const HSA_DEFAULT_FLOAT_ROUNDING_MODE_ZERO: hsa_default_float_rounding_mode_t = 1;
pub const HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR: hsa_default_float_rounding_mode_t = 2;

pub type hsa_agent_info_t = u32;
pub const HSA_AGENT_INFO_NAME: hsa_agent_info_t = 0;
pub const HSA_AGENT_INFO_VENDOR_NAME: hsa_agent_info_t = 1;
pub const HSA_AGENT_INFO_FEATURE: hsa_agent_info_t = 2;
pub const HSA_AGENT_INFO_MACHINE_MODEL: hsa_agent_info_t = 3;
pub const HSA_AGENT_INFO_PROFILE: hsa_agent_info_t = 4;
pub const HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE: hsa_agent_info_t = 5;
pub const HSA_AGENT_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES: hsa_agent_info_t = 23;
pub const HSA_AGENT_INFO_FAST_F16_OPERATION: hsa_agent_info_t = 24;
pub const HSA_AGENT_INFO_WAVEFRONT_SIZE: hsa_agent_info_t = 6;
pub const HSA_AGENT_INFO_WORKGROUP_MAX_DIM: hsa_agent_info_t = 7;
pub const HSA_AGENT_INFO_WORKGROUP_MAX_SIZE: hsa_agent_info_t = 8;
pub const HSA_AGENT_INFO_GRID_MAX_DIM: hsa_agent_info_t = 9;
pub const HSA_AGENT_INFO_GRID_MAX_SIZE: hsa_agent_info_t = 10;
pub const HSA_AGENT_INFO_FBARRIER_MAX_SIZE: hsa_agent_info_t = 11;
pub const HSA_AGENT_INFO_QUEUES_MAX: hsa_agent_info_t = 12;
pub const HSA_AGENT_INFO_QUEUE_MIN_SIZE: hsa_agent_info_t = 13;
pub const HSA_AGENT_INFO_QUEUE_MAX_SIZE: hsa_agent_info_t = 14;
pub const HSA_AGENT_INFO_QUEUE_TYPE: hsa_agent_info_t = 15;
pub const HSA_AGENT_INFO_NODE: hsa_agent_info_t = 16;
pub const HSA_AGENT_INFO_DEVICE: hsa_agent_info_t = 17;
pub const HSA_AGENT_INFO_CACHE_SIZE: hsa_agent_info_t = 18;
pub const HSA_AGENT_INFO_ISA: hsa_agent_info_t = 19;
pub const HSA_AGENT_INFO_EXTENSIONS: hsa_agent_info_t = 20;
pub const HSA_AGENT_INFO_VERSION_MAJOR: hsa_agent_info_t = 21;
pub const HSA_AGENT_INFO_VERSION_MINOR: hsa_agent_info_t = 22;

pub type hsa_exception_policy_t = u32;
pub const HSA_EXCEPTION_POLICY_BREAK: hsa_exception_policy_t = 1;
pub const HSA_EXCEPTION_POLICY_DETECT: hsa_exception_policy_t = 2;

pub type hsa_cache_info_t = u32;
pub const HSA_CACHE_INFO_NAME_LENGTH: hsa_cache_info_t = 0;
pub const HSA_CACHE_INFO_NAME: hsa_cache_info_t = 1;
pub const HSA_CACHE_INFO_LEVEL: hsa_cache_info_t = 2;
pub const HSA_CACHE_INFO_SIZE: hsa_cache_info_t = 3;

pub type hsa_signal_condition_t = u32;
pub const HSA_SIGNAL_CONDITION_EQ: hsa_signal_condition_t = 0;
pub const HSA_SIGNAL_CONDITION_NE: hsa_signal_condition_t = 1;
pub const HSA_SIGNAL_CONDITION_LT: hsa_signal_condition_t = 2;
pub const HSA_SIGNAL_CONDITION_GTE: hsa_signal_condition_t = 3;

pub type hsa_wait_state_t = u32;
pub const HSA_WAIT_STATE_BLOCKED: hsa_wait_state_t = 0;
pub const HSA_WAIT_STATE_ACTIVE: hsa_wait_state_t = 1;

pub type hsa_queue_type_t = u32;
pub const HSA_QUEUE_TYPE_MULTI: hsa_queue_type_t = 0;
pub const HSA_QUEUE_TYPE_SINGLE: hsa_queue_type_t = 1;
pub const HSA_QUEUE_TYPE_COOPERATIVE: hsa_queue_type_t = 2;

pub type hsa_queue_feature_t = u32;
pub const HSA_QUEUE_FEATURE_KERNEL_DISPATCH: hsa_queue_feature_t = 1;
pub const HSA_QUEUE_FEATURE_AGENT_DISPATCH: hsa_queue_feature_t = 2;

pub type hsa_packet_type_t = u32;
pub const HSA_PACKET_TYPE_VENDOR_SPECIFIC: hsa_packet_type_t = 0;
pub const HSA_PACKET_TYPE_INVALID: hsa_packet_type_t = 1;
pub const HSA_PACKET_TYPE_KERNEL_DISPATCH: hsa_packet_type_t = 2;
pub const HSA_PACKET_TYPE_BARRIER_AND: hsa_packet_type_t = 3;
pub const HSA_PACKET_TYPE_AGENT_DISPATCH: hsa_packet_type_t = 4;
pub const HSA_PACKET_TYPE_BARRIER_OR: hsa_packet_type_t = 5;

pub type hsa_fence_scope_t = u32;
pub const HSA_FENCE_SCOPE_NONE: hsa_fence_scope_t = 0;
pub const HSA_FENCE_SCOPE_AGENT: hsa_fence_scope_t = 1;
pub const HSA_FENCE_SCOPE_SYSTEM: hsa_fence_scope_t = 2;

pub type hsa_packet_header_t = u32;
pub const HSA_PACKET_HEADER_TYPE: hsa_packet_header_t = 0;
pub const HSA_PACKET_HEADER_BARRIER: hsa_packet_header_t = 8;
pub const HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE: hsa_packet_header_t = 9;
pub const HSA_PACKET_HEADER_ACQUIRE_FENCE_SCOPE: hsa_packet_header_t = 9;
pub const HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE: hsa_packet_header_t = 11;
pub const HSA_PACKET_HEADER_RELEASE_FENCE_SCOPE: hsa_packet_header_t = 11;

pub type hsa_packet_header_width_t = u32;
pub const HSA_PACKET_HEADER_WIDTH_TYPE: hsa_packet_header_width_t = 8;
pub const HSA_PACKET_HEADER_WIDTH_BARRIER: hsa_packet_header_width_t = 1;
pub const HSA_PACKET_HEADER_WIDTH_SCACQUIRE_FENCE_SCOPE: hsa_packet_header_width_t = 2;
pub const HSA_PACKET_HEADER_WIDTH_ACQUIRE_FENCE_SCOPE: hsa_packet_header_width_t = 2;
pub const HSA_PACKET_HEADER_WIDTH_SCRELEASE_FENCE_SCOPE: hsa_packet_header_width_t = 2;
pub const HSA_PACKET_HEADER_WIDTH_RELEASE_FENCE_SCOPE: hsa_packet_header_width_t = 2;

pub type hsa_kernel_dispatch_packet_setup_t = u32;
pub const HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS: hsa_kernel_dispatch_packet_setup_t = 0;

pub type hsa_kernel_dispatch_packet_setup_width_t = u32;
pub const HSA_KERNEL_DISPATCH_PACKET_SETUP_WIDTH_DIMENSIONS:
    hsa_kernel_dispatch_packet_setup_width_t = 2;

pub type hsa_region_segment_t = u32;
pub const HSA_REGION_SEGMENT_GLOBAL: hsa_region_segment_t = 0;
pub const HSA_REGION_SEGMENT_READONLY: hsa_region_segment_t = 1;
pub const HSA_REGION_SEGMENT_PRIVATE: hsa_region_segment_t = 2;
pub const HSA_REGION_SEGMENT_GROUP: hsa_region_segment_t = 3;
pub const HSA_REGION_SEGMENT_KERNARG: hsa_region_segment_t = 4;

pub type hsa_region_global_flag_t = u32;
pub const HSA_REGION_GLOBAL_FLAG_KERNARG: hsa_region_global_flag_t = 1;
pub const HSA_REGION_GLOBAL_FLAG_FINE_GRAINED: hsa_region_global_flag_t = 2;
pub const HSA_REGION_GLOBAL_FLAG_COARSE_GRAINED: hsa_region_global_flag_t = 4;

pub type hsa_region_info_t = u32;
pub const HSA_REGION_INFO_SEGMENT: hsa_region_info_t = 0;
pub const HSA_REGION_INFO_GLOBAL_FLAGS: hsa_region_info_t = 1;
pub const HSA_REGION_INFO_SIZE: hsa_region_info_t = 2;
pub const HSA_REGION_INFO_ALLOC_MAX_SIZE: hsa_region_info_t = 4;
pub const HSA_REGION_INFO_ALLOC_MAX_PRIVATE_WORKGROUP_SIZE: hsa_region_info_t = 8;
pub const HSA_REGION_INFO_RUNTIME_ALLOC_ALLOWED: hsa_region_info_t = 5;
pub const HSA_REGION_INFO_RUNTIME_ALLOC_GRANULE: hsa_region_info_t = 6;
pub const HSA_REGION_INFO_RUNTIME_ALLOC_ALIGNMENT: hsa_region_info_t = 7;

pub type hsa_isa_info_t = u32;
pub const HSA_ISA_INFO_NAME_LENGTH: hsa_isa_info_t = 0;
pub const HSA_ISA_INFO_NAME: hsa_isa_info_t = 1;
pub const HSA_ISA_INFO_CALL_CONVENTION_COUNT: hsa_isa_info_t = 2;
pub const HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONT_SIZE: hsa_isa_info_t = 3;
pub const HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONTS_PER_COMPUTE_UNIT: hsa_isa_info_t = 4;
pub const HSA_ISA_INFO_MACHINE_MODELS: hsa_isa_info_t = 5;
pub const HSA_ISA_INFO_PROFILES: hsa_isa_info_t = 6;
pub const HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES: hsa_isa_info_t = 7;
pub const HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES: hsa_isa_info_t = 8;
pub const HSA_ISA_INFO_FAST_F16_OPERATION: hsa_isa_info_t = 9;
pub const HSA_ISA_INFO_WORKGROUP_MAX_DIM: hsa_isa_info_t = 12;
pub const HSA_ISA_INFO_WORKGROUP_MAX_SIZE: hsa_isa_info_t = 13;
pub const HSA_ISA_INFO_GRID_MAX_DIM: hsa_isa_info_t = 14;
pub const HSA_ISA_INFO_GRID_MAX_SIZE: hsa_isa_info_t = 16;
pub const HSA_ISA_INFO_FBARRIER_MAX_SIZE: hsa_isa_info_t = 17;

pub type hsa_fp_type_t = u32;
pub const HSA_FP_TYPE_16: hsa_fp_type_t = 1;
pub const HSA_FP_TYPE_32: hsa_fp_type_t = 2;
pub const HSA_FP_TYPE_64: hsa_fp_type_t = 4;

pub type hsa_flush_mode_t = u32;
pub const HSA_FLUSH_MODE_FTZ: hsa_flush_mode_t = 1;
pub const HSA_FLUSH_MODE_NON_FTZ: hsa_flush_mode_t = 2;

pub type hsa_round_method_t = u32;
pub const HSA_ROUND_METHOD_SINGLE: hsa_round_method_t = 1;
pub const HSA_ROUND_METHOD_DOUBLE: hsa_round_method_t = 2;

pub type hsa_wavefront_info_t = u32;
pub const HSA_WAVEFRONT_INFO_SIZE: hsa_wavefront_info_t = 0;

pub type hsa_executable_state_t = u32;
pub const HSA_EXECUTABLE_STATE_UNFROZEN: hsa_executable_state_t = 0;
pub const HSA_EXECUTABLE_STATE_FROZEN: hsa_executable_state_t = 1;

pub type hsa_executable_info_t = u32;
pub const HSA_EXECUTABLE_INFO_PROFILE: hsa_executable_info_t = 1;
pub const HSA_EXECUTABLE_INFO_STATE: hsa_executable_info_t = 2;
pub const HSA_EXECUTABLE_INFO_DEFAULT_FLOAT_ROUNDING_MODE: hsa_executable_info_t = 3;

pub type hsa_symbol_kind_t = u32;
pub const HSA_SYMBOL_KIND_VARIABLE: hsa_symbol_kind_t = 0;
pub const HSA_SYMBOL_KIND_KERNEL: hsa_symbol_kind_t = 1;
pub const HSA_SYMBOL_KIND_INDIRECT_FUNCTION: hsa_symbol_kind_t = 2;

pub type hsa_symbol_linkage_t = u32;
pub const HSA_SYMBOL_LINKAGE_MODULE: hsa_symbol_linkage_t = 0;
pub const HSA_SYMBOL_LINKAGE_PROGRAM: hsa_symbol_linkage_t = 1;

pub type hsa_variable_allocation_t = u32;
pub const HSA_VARIABLE_ALLOCATION_AGENT: hsa_variable_allocation_t = 0;
pub const HSA_VARIABLE_ALLOCATION_PROGRAM: hsa_variable_allocation_t = 1;

pub type hsa_variable_segment_t = u32;
pub const HSA_VARIABLE_SEGMENT_GLOBAL: hsa_variable_segment_t = 0;
pub const HSA_VARIABLE_SEGMENT_READONLY: hsa_variable_segment_t = 1;

pub type hsa_executable_symbol_info_t = u32;
pub const HSA_EXECUTABLE_SYMBOL_INFO_TYPE: hsa_executable_symbol_info_t = 0;
pub const HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH: hsa_executable_symbol_info_t = 1;
pub const HSA_EXECUTABLE_SYMBOL_INFO_NAME: hsa_executable_symbol_info_t = 2;
pub const HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH: hsa_executable_symbol_info_t = 3;
pub const HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME: hsa_executable_symbol_info_t = 4;
pub const HSA_EXECUTABLE_SYMBOL_INFO_AGENT: hsa_executable_symbol_info_t = 20;
pub const HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS: hsa_executable_symbol_info_t = 21;
pub const HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE: hsa_executable_symbol_info_t = 5;
pub const HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION: hsa_executable_symbol_info_t = 17;
pub const HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION: hsa_executable_symbol_info_t = 6;
pub const HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT: hsa_executable_symbol_info_t = 7;
pub const HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALIGNMENT: hsa_executable_symbol_info_t = 8;
pub const HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE: hsa_executable_symbol_info_t = 9;
pub const HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST: hsa_executable_symbol_info_t = 10;
pub const HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT: hsa_executable_symbol_info_t = 22;
pub const HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE: hsa_executable_symbol_info_t = 11;
pub const HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT:
    hsa_executable_symbol_info_t = 12;
pub const HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE: hsa_executable_symbol_info_t = 13;
pub const HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE: hsa_executable_symbol_info_t = 14;
pub const HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK: hsa_executable_symbol_info_t = 15;
pub const HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_CALL_CONVENTION: hsa_executable_symbol_info_t = 18;
pub const HSA_EXECUTABLE_SYMBOL_INFO_INDIRECT_FUNCTION_OBJECT: hsa_executable_symbol_info_t = 23;
pub const HSA_EXECUTABLE_SYMBOL_INFO_INDIRECT_FUNCTION_CALL_CONVENTION:
    hsa_executable_symbol_info_t = 16;

pub type hsa_code_object_type_t = u32;
pub const HSA_CODE_OBJECT_TYPE_PROGRAM: hsa_code_object_type_t = 0;

pub type hsa_code_object_info_t = u32;
pub const HSA_CODE_OBJECT_INFO_VERSION: hsa_code_object_info_t = 0;
pub const HSA_CODE_OBJECT_INFO_TYPE: hsa_code_object_info_t = 1;
pub const HSA_CODE_OBJECT_INFO_ISA: hsa_code_object_info_t = 2;
pub const HSA_CODE_OBJECT_INFO_MACHINE_MODEL: hsa_code_object_info_t = 3;
pub const HSA_CODE_OBJECT_INFO_PROFILE: hsa_code_object_info_t = 4;
pub const HSA_CODE_OBJECT_INFO_DEFAULT_FLOAT_ROUNDING_MODE: hsa_code_object_info_t = 5;

pub type hsa_code_symbol_info_t = u32;
pub const HSA_CODE_SYMBOL_INFO_TYPE: hsa_code_symbol_info_t = 0;
pub const HSA_CODE_SYMBOL_INFO_NAME_LENGTH: hsa_code_symbol_info_t = 1;
pub const HSA_CODE_SYMBOL_INFO_NAME: hsa_code_symbol_info_t = 2;
pub const HSA_CODE_SYMBOL_INFO_MODULE_NAME_LENGTH: hsa_code_symbol_info_t = 3;
pub const HSA_CODE_SYMBOL_INFO_MODULE_NAME: hsa_code_symbol_info_t = 4;
pub const HSA_CODE_SYMBOL_INFO_LINKAGE: hsa_code_symbol_info_t = 5;
pub const HSA_CODE_SYMBOL_INFO_IS_DEFINITION: hsa_code_symbol_info_t = 17;
pub const HSA_CODE_SYMBOL_INFO_VARIABLE_ALLOCATION: hsa_code_symbol_info_t = 6;
pub const HSA_CODE_SYMBOL_INFO_VARIABLE_SEGMENT: hsa_code_symbol_info_t = 7;
pub const HSA_CODE_SYMBOL_INFO_VARIABLE_ALIGNMENT: hsa_code_symbol_info_t = 8;
pub const HSA_CODE_SYMBOL_INFO_VARIABLE_SIZE: hsa_code_symbol_info_t = 9;
pub const HSA_CODE_SYMBOL_INFO_VARIABLE_IS_CONST: hsa_code_symbol_info_t = 10;
pub const HSA_CODE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE: hsa_code_symbol_info_t = 11;
pub const HSA_CODE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT: hsa_code_symbol_info_t = 12;
pub const HSA_CODE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE: hsa_code_symbol_info_t = 13;
pub const HSA_CODE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE: hsa_code_symbol_info_t = 14;
pub const HSA_CODE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK: hsa_code_symbol_info_t = 15;
pub const HSA_CODE_SYMBOL_INFO_KERNEL_CALL_CONVENTION: hsa_code_symbol_info_t = 18;
pub const HSA_CODE_SYMBOL_INFO_INDIRECT_FUNCTION_CALL_CONVENTION: hsa_code_symbol_info_t = 16;
