//! The enumerations of the HSA headers as plain integers: an unknown value that a program passes is an error, never undefined
//! behaviour. Names, values and meanings are those of `hsa.h`, `hsa_ext_amd.h`, `hsa_ext_image.h` and `hsa_ext_finalize.h`; a few
//! values are of later releases than the headers of ROCm 5.2.
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

pub type hsa_amd_packet_type_t = u32;
pub const HSA_AMD_PACKET_TYPE_BARRIER_VALUE: hsa_amd_packet_type_t = 2;
pub const HSA_AMD_PACKET_TYPE_PM4_IB: hsa_amd_packet_type_t = 1;

pub type hsa_amd_agent_info_t = hsa_agent_info_t;
pub const HSA_AMD_AGENT_INFO_CHIP_ID: hsa_amd_agent_info_t = 0xA000;
pub const HSA_AMD_AGENT_INFO_CACHELINE_SIZE: hsa_amd_agent_info_t = 0xA001;
pub const HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT: hsa_amd_agent_info_t = 0xA002;
pub const HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY: hsa_amd_agent_info_t = 0xA003;
pub const HSA_AMD_AGENT_INFO_DRIVER_NODE_ID: hsa_amd_agent_info_t = 0xA004;
pub const HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS: hsa_amd_agent_info_t = 0xA005;
pub const HSA_AMD_AGENT_INFO_BDFID: hsa_amd_agent_info_t = 0xA006;
pub const HSA_AMD_AGENT_INFO_MEMORY_WIDTH: hsa_amd_agent_info_t = 0xA007;
pub const HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY: hsa_amd_agent_info_t = 0xA008;
pub const HSA_AMD_AGENT_INFO_PRODUCT_NAME: hsa_amd_agent_info_t = 0xA009;
pub const HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU: hsa_amd_agent_info_t = 0xA00A;
pub const HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU: hsa_amd_agent_info_t = 0xA00B;
pub const HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES: hsa_amd_agent_info_t = 0xA00C;
pub const HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE: hsa_amd_agent_info_t = 0xA00D;
pub const HSA_AMD_AGENT_INFO_HDP_FLUSH: hsa_amd_agent_info_t = 0xA00E;
pub const HSA_AMD_AGENT_INFO_DOMAIN: hsa_amd_agent_info_t = 0xA00F;
pub const HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES: hsa_amd_agent_info_t = 0xA010;
pub const HSA_AMD_AGENT_INFO_UUID: hsa_amd_agent_info_t = 0xA011;
pub const HSA_AMD_AGENT_INFO_ASIC_REVISION: hsa_amd_agent_info_t = 0xA012;
pub const HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS: hsa_amd_agent_info_t = 0xA013;
pub const HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT: hsa_amd_agent_info_t = 0xA014;
pub const HSA_AMD_AGENT_INFO_MEMORY_AVAIL: hsa_amd_agent_info_t = 0xA015;
pub const HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY: hsa_amd_agent_info_t = 0xA016;
pub const HSA_AMD_AGENT_INFO_ASIC_FAMILY_ID: hsa_amd_agent_info_t = 0xA107;
pub const HSA_AMD_AGENT_INFO_UCODE_VERSION: hsa_amd_agent_info_t = 0xA108;
pub const HSA_AMD_AGENT_INFO_SDMA_UCODE_VERSION: hsa_amd_agent_info_t = 0xA109;
pub const HSA_AMD_AGENT_INFO_NUM_SDMA_ENG: hsa_amd_agent_info_t = 0xA10A;
pub const HSA_AMD_AGENT_INFO_NUM_SDMA_XGMI_ENG: hsa_amd_agent_info_t = 0xA10B;
pub const HSA_AMD_AGENT_INFO_IOMMU_SUPPORT: hsa_amd_agent_info_t = 0xA110;
pub const HSA_AMD_AGENT_INFO_NUM_XCC: hsa_amd_agent_info_t = 0xA111;
pub const HSA_AMD_AGENT_INFO_DRIVER_UID: hsa_amd_agent_info_t = 0xA112;
pub const HSA_AMD_AGENT_INFO_NEAREST_CPU: hsa_amd_agent_info_t = 0xA113;
pub const HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES: hsa_amd_agent_info_t = 0xA114;
pub const HSA_AMD_AGENT_INFO_AQL_EXTENSIONS: hsa_amd_agent_info_t = 0xA115;
pub const HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX: hsa_amd_agent_info_t = 0xA116;
pub const HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT: hsa_amd_agent_info_t = 0xA117;
pub const HSA_AMD_AGENT_INFO_CLOCK_COUNTERS: hsa_amd_agent_info_t = 0xA118;

pub type hsa_amd_region_info_t = hsa_region_info_t;
pub const HSA_AMD_REGION_INFO_HOST_ACCESSIBLE: hsa_amd_region_info_t = 0xA000;
pub const HSA_AMD_REGION_INFO_BASE: hsa_amd_region_info_t = 0xA001;
pub const HSA_AMD_REGION_INFO_BUS_WIDTH: hsa_amd_region_info_t = 0xA002;
pub const HSA_AMD_REGION_INFO_MAX_CLOCK_FREQUENCY: hsa_amd_region_info_t = 0xA003;

pub type hsa_amd_coherency_type_t = u32;
pub const HSA_AMD_COHERENCY_TYPE_COHERENT: hsa_amd_coherency_type_t = 0;
pub const HSA_AMD_COHERENCY_TYPE_NONCOHERENT: hsa_amd_coherency_type_t = 1;

pub type hsa_amd_signal_attribute_t = u32;
pub const HSA_AMD_SIGNAL_AMD_GPU_ONLY: hsa_amd_signal_attribute_t = 1;
pub const HSA_AMD_SIGNAL_IPC: hsa_amd_signal_attribute_t = 2;

pub type hsa_amd_segment_t = u32;
pub const HSA_AMD_SEGMENT_GLOBAL: hsa_amd_segment_t = 0;
pub const HSA_AMD_SEGMENT_READONLY: hsa_amd_segment_t = 1;
pub const HSA_AMD_SEGMENT_PRIVATE: hsa_amd_segment_t = 2;
pub const HSA_AMD_SEGMENT_GROUP: hsa_amd_segment_t = 3;

pub type hsa_amd_memory_pool_global_flag_t = u32;
pub const HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT: hsa_amd_memory_pool_global_flag_t = 1;
pub const HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED: hsa_amd_memory_pool_global_flag_t = 2;
pub const HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED: hsa_amd_memory_pool_global_flag_t = 4;
pub const HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_EXTENDED_SCOPE_FINE_GRAINED:
    hsa_amd_memory_pool_global_flag_t = 8;

pub type hsa_amd_memory_pool_info_t = u32;
pub const HSA_AMD_MEMORY_POOL_INFO_SEGMENT: hsa_amd_memory_pool_info_t = 0;
pub const HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS: hsa_amd_memory_pool_info_t = 1;
pub const HSA_AMD_MEMORY_POOL_INFO_SIZE: hsa_amd_memory_pool_info_t = 2;
pub const HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED: hsa_amd_memory_pool_info_t = 5;
pub const HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE: hsa_amd_memory_pool_info_t = 6;
pub const HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT: hsa_amd_memory_pool_info_t = 7;
pub const HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL: hsa_amd_memory_pool_info_t = 15;
pub const HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE: hsa_amd_memory_pool_info_t = 16;
pub const HSA_AMD_MEMORY_POOL_INFO_LOCATION: hsa_amd_memory_pool_info_t = 17;
pub const HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE: hsa_amd_memory_pool_info_t = 18;

pub type hsa_amd_copy_direction_t = u32;
pub const hsaHostToHost: hsa_amd_copy_direction_t = 0;
pub const hsaHostToDevice: hsa_amd_copy_direction_t = 1;
pub const hsaDeviceToHost: hsa_amd_copy_direction_t = 2;
pub const hsaDeviceToDevice: hsa_amd_copy_direction_t = 3;

pub type hsa_amd_memory_pool_access_t = u32;
pub const HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED: hsa_amd_memory_pool_access_t = 0;
pub const HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT: hsa_amd_memory_pool_access_t = 1;
pub const HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT: hsa_amd_memory_pool_access_t = 2;

pub type hsa_amd_link_info_type_t = u32;
pub const HSA_AMD_LINK_INFO_TYPE_HYPERTRANSPORT: hsa_amd_link_info_type_t = 0;
pub const HSA_AMD_LINK_INFO_TYPE_QPI: hsa_amd_link_info_type_t = 1;
pub const HSA_AMD_LINK_INFO_TYPE_PCIE: hsa_amd_link_info_type_t = 2;
pub const HSA_AMD_LINK_INFO_TYPE_INFINBAND: hsa_amd_link_info_type_t = 3;
pub const HSA_AMD_LINK_INFO_TYPE_XGMI: hsa_amd_link_info_type_t = 4;

pub type hsa_amd_agent_memory_pool_info_t = u32;
pub const HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS: hsa_amd_agent_memory_pool_info_t = 0;
pub const HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS: hsa_amd_agent_memory_pool_info_t = 1;
pub const HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO: hsa_amd_agent_memory_pool_info_t = 2;

pub type hsa_amd_pointer_type_t = u32;
pub const HSA_EXT_POINTER_TYPE_UNKNOWN: hsa_amd_pointer_type_t = 0;
pub const HSA_EXT_POINTER_TYPE_HSA: hsa_amd_pointer_type_t = 1;
pub const HSA_EXT_POINTER_TYPE_LOCKED: hsa_amd_pointer_type_t = 2;
pub const HSA_EXT_POINTER_TYPE_GRAPHICS: hsa_amd_pointer_type_t = 3;
pub const HSA_EXT_POINTER_TYPE_IPC: hsa_amd_pointer_type_t = 4;
pub const HSA_EXT_POINTER_TYPE_RESERVED_ADDR: hsa_amd_pointer_type_t = 5;
pub const HSA_EXT_POINTER_TYPE_HSA_VMEM: hsa_amd_pointer_type_t = 6;

pub type hsa_amd_event_type_t = u32;
pub const HSA_AMD_GPU_MEMORY_FAULT_EVENT: hsa_amd_event_type_t = 0;
pub const HSA_AMD_GPU_HW_EXCEPTION_EVENT: hsa_amd_event_type_t = 1;
pub const HSA_AMD_GPU_MEMORY_ERROR_EVENT: hsa_amd_event_type_t = 2;

pub type hsa_amd_memory_fault_reason_t = u32;
pub const HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT: hsa_amd_memory_fault_reason_t = 1 << 0;
pub const HSA_AMD_MEMORY_FAULT_READ_ONLY: hsa_amd_memory_fault_reason_t = 1 << 1;
pub const HSA_AMD_MEMORY_FAULT_NX: hsa_amd_memory_fault_reason_t = 1 << 2;
pub const HSA_AMD_MEMORY_FAULT_HOST_ONLY: hsa_amd_memory_fault_reason_t = 1 << 3;
pub const HSA_AMD_MEMORY_FAULT_DRAMECC: hsa_amd_memory_fault_reason_t = 1 << 4;
pub const HSA_AMD_MEMORY_FAULT_IMPRECISE: hsa_amd_memory_fault_reason_t = 1 << 5;
pub const HSA_AMD_MEMORY_FAULT_SRAMECC: hsa_amd_memory_fault_reason_t = 1 << 6;
pub const HSA_AMD_MEMORY_FAULT_HANG: hsa_amd_memory_fault_reason_t = 1 << 31;

pub type hsa_amd_queue_priority_t = u32;
pub const HSA_AMD_QUEUE_PRIORITY_LOW: hsa_amd_queue_priority_t = 0;
pub const HSA_AMD_QUEUE_PRIORITY_NORMAL: hsa_amd_queue_priority_t = 1;
pub const HSA_AMD_QUEUE_PRIORITY_HIGH: hsa_amd_queue_priority_t = 2;

pub type hsa_amd_svm_model_t = u32;
pub const HSA_AMD_SVM_GLOBAL_FLAG_FINE_GRAINED: hsa_amd_svm_model_t = 0;
pub const HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED: hsa_amd_svm_model_t = 1;
pub const HSA_AMD_SVM_GLOBAL_FLAG_INDETERMINATE: hsa_amd_svm_model_t = 2;

pub type hsa_amd_svm_attribute_t = u32;
pub const HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG: hsa_amd_svm_attribute_t = 0;
pub const HSA_AMD_SVM_ATTRIB_READ_ONLY: hsa_amd_svm_attribute_t = 1;
pub const HSA_AMD_SVM_ATTRIB_HIVE_LOCAL: hsa_amd_svm_attribute_t = 2;
pub const HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY: hsa_amd_svm_attribute_t = 3;
pub const HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION: hsa_amd_svm_attribute_t = 4;
pub const HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION: hsa_amd_svm_attribute_t = 5;
pub const HSA_AMD_SVM_ATTRIB_READ_MOSTLY: hsa_amd_svm_attribute_t = 6;
pub const HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE: hsa_amd_svm_attribute_t = 0x200;
pub const HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE: hsa_amd_svm_attribute_t = 0x201;
pub const HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS: hsa_amd_svm_attribute_t = 0x202;
pub const HSA_AMD_SVM_ATTRIB_ACCESS_QUERY: hsa_amd_svm_attribute_t = 0x203;

pub const HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS: hsa_agent_info_t = 0x3000;
pub const HSA_EXT_AGENT_INFO_IMAGE_1DA_MAX_ELEMENTS: hsa_agent_info_t = 0x3001;
pub const HSA_EXT_AGENT_INFO_IMAGE_1DB_MAX_ELEMENTS: hsa_agent_info_t = 0x3002;
pub const HSA_EXT_AGENT_INFO_IMAGE_2D_MAX_ELEMENTS: hsa_agent_info_t = 0x3003;
pub const HSA_EXT_AGENT_INFO_IMAGE_2DA_MAX_ELEMENTS: hsa_agent_info_t = 0x3004;
pub const HSA_EXT_AGENT_INFO_IMAGE_2DDEPTH_MAX_ELEMENTS: hsa_agent_info_t = 0x3005;
pub const HSA_EXT_AGENT_INFO_IMAGE_2DADEPTH_MAX_ELEMENTS: hsa_agent_info_t = 0x3006;
pub const HSA_EXT_AGENT_INFO_IMAGE_3D_MAX_ELEMENTS: hsa_agent_info_t = 0x3007;
pub const HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS: hsa_agent_info_t = 0x3008;
pub const HSA_EXT_AGENT_INFO_MAX_IMAGE_RD_HANDLES: hsa_agent_info_t = 0x3009;
pub const HSA_EXT_AGENT_INFO_MAX_IMAGE_RORW_HANDLES: hsa_agent_info_t = 0x300A;
pub const HSA_EXT_AGENT_INFO_MAX_SAMPLER_HANDLERS: hsa_agent_info_t = 0x300B;
pub const HSA_EXT_AGENT_INFO_IMAGE_LINEAR_ROW_PITCH_ALIGNMENT: hsa_agent_info_t = 0x300C;

pub type hsa_ext_image_geometry_t = u32;
pub const HSA_EXT_IMAGE_GEOMETRY_1D: hsa_ext_image_geometry_t = 0;
pub const HSA_EXT_IMAGE_GEOMETRY_2D: hsa_ext_image_geometry_t = 1;
pub const HSA_EXT_IMAGE_GEOMETRY_3D: hsa_ext_image_geometry_t = 2;
pub const HSA_EXT_IMAGE_GEOMETRY_1DA: hsa_ext_image_geometry_t = 3;
pub const HSA_EXT_IMAGE_GEOMETRY_2DA: hsa_ext_image_geometry_t = 4;
pub const HSA_EXT_IMAGE_GEOMETRY_1DB: hsa_ext_image_geometry_t = 5;
pub const HSA_EXT_IMAGE_GEOMETRY_2DDEPTH: hsa_ext_image_geometry_t = 6;
pub const HSA_EXT_IMAGE_GEOMETRY_2DADEPTH: hsa_ext_image_geometry_t = 7;

pub type hsa_ext_image_channel_type_t = u32;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT8: hsa_ext_image_channel_type_t = 0;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT16: hsa_ext_image_channel_type_t = 1;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8: hsa_ext_image_channel_type_t = 2;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT16: hsa_ext_image_channel_type_t = 3;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT24: hsa_ext_image_channel_type_t = 4;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_555: hsa_ext_image_channel_type_t = 5;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_565: hsa_ext_image_channel_type_t = 6;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_101010: hsa_ext_image_channel_type_t = 7;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT8: hsa_ext_image_channel_type_t = 8;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT16: hsa_ext_image_channel_type_t = 9;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT32: hsa_ext_image_channel_type_t = 10;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8: hsa_ext_image_channel_type_t = 11;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT16: hsa_ext_image_channel_type_t = 12;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT32: hsa_ext_image_channel_type_t = 13;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_HALF_FLOAT: hsa_ext_image_channel_type_t = 14;
pub const HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT: hsa_ext_image_channel_type_t = 15;

pub type hsa_ext_image_channel_order_t = u32;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_A: hsa_ext_image_channel_order_t = 0;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_R: hsa_ext_image_channel_order_t = 1;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_RX: hsa_ext_image_channel_order_t = 2;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_RG: hsa_ext_image_channel_order_t = 3;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_RGX: hsa_ext_image_channel_order_t = 4;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_RA: hsa_ext_image_channel_order_t = 5;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_RGB: hsa_ext_image_channel_order_t = 6;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_RGBX: hsa_ext_image_channel_order_t = 7;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA: hsa_ext_image_channel_order_t = 8;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_BGRA: hsa_ext_image_channel_order_t = 9;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_ARGB: hsa_ext_image_channel_order_t = 10;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_ABGR: hsa_ext_image_channel_order_t = 11;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_SRGB: hsa_ext_image_channel_order_t = 12;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBX: hsa_ext_image_channel_order_t = 13;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA: hsa_ext_image_channel_order_t = 14;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_SBGRA: hsa_ext_image_channel_order_t = 15;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_INTENSITY: hsa_ext_image_channel_order_t = 16;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_LUMINANCE: hsa_ext_image_channel_order_t = 17;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_DEPTH: hsa_ext_image_channel_order_t = 18;
pub const HSA_EXT_IMAGE_CHANNEL_ORDER_DEPTH_STENCIL: hsa_ext_image_channel_order_t = 19;

pub type hsa_ext_image_capability_t = u32;
pub const HSA_EXT_IMAGE_CAPABILITY_NOT_SUPPORTED: hsa_ext_image_capability_t = 0x0;
pub const HSA_EXT_IMAGE_CAPABILITY_READ_ONLY: hsa_ext_image_capability_t = 0x1;
pub const HSA_EXT_IMAGE_CAPABILITY_WRITE_ONLY: hsa_ext_image_capability_t = 0x2;
pub const HSA_EXT_IMAGE_CAPABILITY_READ_WRITE: hsa_ext_image_capability_t = 0x4;
pub const HSA_EXT_IMAGE_CAPABILITY_READ_MODIFY_WRITE: hsa_ext_image_capability_t = 0x8;
pub const HSA_EXT_IMAGE_CAPABILITY_ACCESS_INVARIANT_DATA_LAYOUT: hsa_ext_image_capability_t = 0x10;

pub type hsa_ext_image_data_layout_t = u32;
pub const HSA_EXT_IMAGE_DATA_LAYOUT_OPAQUE: hsa_ext_image_data_layout_t = 0x0;
pub const HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR: hsa_ext_image_data_layout_t = 0x1;

pub type hsa_ext_sampler_addressing_mode_t = u32;
pub const HSA_EXT_SAMPLER_ADDRESSING_MODE_UNDEFINED: hsa_ext_sampler_addressing_mode_t = 0;
pub const HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE: hsa_ext_sampler_addressing_mode_t = 1;
pub const HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_BORDER: hsa_ext_sampler_addressing_mode_t = 2;
pub const HSA_EXT_SAMPLER_ADDRESSING_MODE_REPEAT: hsa_ext_sampler_addressing_mode_t = 3;
pub const HSA_EXT_SAMPLER_ADDRESSING_MODE_MIRRORED_REPEAT: hsa_ext_sampler_addressing_mode_t = 4;

pub type hsa_ext_sampler_coordinate_mode_t = u32;
pub const HSA_EXT_SAMPLER_COORDINATE_MODE_UNNORMALIZED: hsa_ext_sampler_coordinate_mode_t = 0;
pub const HSA_EXT_SAMPLER_COORDINATE_MODE_NORMALIZED: hsa_ext_sampler_coordinate_mode_t = 1;

pub type hsa_ext_sampler_filter_mode_t = u32;
pub const HSA_EXT_SAMPLER_FILTER_MODE_NEAREST: hsa_ext_sampler_filter_mode_t = 0;
pub const HSA_EXT_SAMPLER_FILTER_MODE_LINEAR: hsa_ext_sampler_filter_mode_t = 1;

pub type hsa_ext_program_info_t = u32;
pub const HSA_EXT_PROGRAM_INFO_MACHINE_MODEL: hsa_ext_program_info_t = 0;
pub const HSA_EXT_PROGRAM_INFO_PROFILE: hsa_ext_program_info_t = 1;
pub const HSA_EXT_PROGRAM_INFO_DEFAULT_FLOAT_ROUNDING_MODE: hsa_ext_program_info_t = 2;

pub type hsa_ext_finalizer_call_convention_t = i32;
pub const HSA_EXT_FINALIZER_CALL_CONVENTION_AUTO: hsa_ext_finalizer_call_convention_t = -1;

pub type hsa_queue_type32_t = u32;
pub type hsa_signal_condition32_t = u32;
pub type hsa_ext_image_channel_type32_t = u32;
pub type hsa_ext_image_channel_order32_t = u32;
pub type hsa_ext_sampler_addressing_mode32_t = u32;
pub type hsa_ext_sampler_coordinate_mode32_t = u32;
pub type hsa_ext_sampler_filter_mode32_t = u32;

pub type hsa_amd_sdma_engine_id_t = u32;
pub type hsa_queue_info_attribute_t = u32;
pub const HSA_AMD_QUEUE_INFO_AGENT: hsa_queue_info_attribute_t = 0;
pub const HSA_AMD_QUEUE_INFO_DOORBELL_ID: hsa_queue_info_attribute_t = 1;
pub type hsa_amd_memory_type_t = u32;
pub const MEMORY_TYPE_NONE: hsa_amd_memory_type_t = 0;
pub const MEMORY_TYPE_PINNED: hsa_amd_memory_type_t = 1;
pub type hsa_ven_amd_pcs_method_kind_t = u32;
pub type hsa_ven_amd_pcs_units_t = u32;
pub type hsa_ven_amd_loader_code_object_storage_type_t = u32;
pub const HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_NONE:
    hsa_ven_amd_loader_code_object_storage_type_t = 0;
pub const HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_FILE:
    hsa_ven_amd_loader_code_object_storage_type_t = 1;
pub const HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY:
    hsa_ven_amd_loader_code_object_storage_type_t = 2;
pub type hsa_ven_amd_loader_loaded_code_object_kind_t = u32;
pub const HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_PROGRAM:
    hsa_ven_amd_loader_loaded_code_object_kind_t = 1;
pub const HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_AGENT:
    hsa_ven_amd_loader_loaded_code_object_kind_t = 2;
pub type hsa_ven_amd_loader_loaded_code_object_info_t = u32;
pub const HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_EXECUTABLE:
    hsa_ven_amd_loader_loaded_code_object_info_t = 1;
pub const HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_KIND:
    hsa_ven_amd_loader_loaded_code_object_info_t = 2;
pub const HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT:
    hsa_ven_amd_loader_loaded_code_object_info_t = 3;
pub const HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_TYPE:
    hsa_ven_amd_loader_loaded_code_object_info_t = 4;
pub const HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_BASE:
    hsa_ven_amd_loader_loaded_code_object_info_t = 5;
pub const HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_SIZE:
    hsa_ven_amd_loader_loaded_code_object_info_t = 6;
pub const HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_FILE:
    hsa_ven_amd_loader_loaded_code_object_info_t = 7;
pub const HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA:
    hsa_ven_amd_loader_loaded_code_object_info_t = 8;
pub const HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE:
    hsa_ven_amd_loader_loaded_code_object_info_t = 9;
pub const HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE:
    hsa_ven_amd_loader_loaded_code_object_info_t = 10;
pub const HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH:
    hsa_ven_amd_loader_loaded_code_object_info_t = 11;
pub const HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI:
    hsa_ven_amd_loader_loaded_code_object_info_t = 12;

/// `amd_signal_t.kind`: a signal of a user.
pub const AMD_SIGNAL_KIND_USER: i64 = 1;
/// `amd_signal_t.kind`: destroyed or never made.
pub const AMD_SIGNAL_KIND_INVALID: i64 = 0;
/// `amd_signal_t.kind`: the doorbell of a queue; `value` holds the address of the doorbell cell.
pub const AMD_SIGNAL_KIND_DOORBELL: i64 = -1;
/// `amd_signal_t.kind`: a doorbell of older hardware.
pub const AMD_SIGNAL_KIND_LEGACY_DOORBELL: i64 = -2;
/// `amd_queue_t.queue_properties`: a trap handler is installed.
pub const AMD_QUEUE_PROPERTIES_ENABLE_TRAP_HANDLER: u32 = 1;
/// `amd_queue_t.queue_properties`: addresses have 64 bits.
pub const AMD_QUEUE_PROPERTIES_IS_PTR64: u32 = 1 << 1;
/// `amd_queue_t.queue_properties`: start and end times are written to completion signals.
pub const AMD_QUEUE_PROPERTIES_ENABLE_PROFILING: u32 = 1 << 3;
