//! Enumerations of AMD's extensions (`hsa_ext_amd.h`).
#![expect(missing_docs, reason = "names and meanings are those of AMD's headers")]

use super::core::*;

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
pub const HSA_AMD_SVM_ATTRIB_GPU_EXEC: hsa_amd_svm_attribute_t = 7;
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
