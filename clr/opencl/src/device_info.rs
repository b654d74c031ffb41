//! What `clGetDeviceInfo` says.

use gneiss_clr::{DeviceQueue, DeviceQueues, ImageLimits};

use crate::{
    compiler, constants::*, device::Device, device_queue, error::Result, extension,
    handle::Object as _, info::Query, pipe, platform, types::*,
};

/// Alignment that every buffer has, in bytes: the largest type of OpenCL C.
pub const BASE_ALIGN: usize = 128;
/// Bytes of all arguments of a kernel, at least those that the specification wants.
pub const MAX_PARAMETER_SIZE: usize = 4096;
/// Bytes that a kernel may print.
pub const PRINTF_BUFFER_SIZE: usize = gneiss_clr::PRINTF_BUFFER_SIZE;
/// Atomics on SVM, and fine-grained buffers: host and device share memory coherently.
pub const SVM: cl_bitfield =
    CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER | CL_DEVICE_SVM_ATOMICS;

const ATOMICS: cl_bitfield = CL_DEVICE_ATOMIC_ORDER_RELAXED
    | CL_DEVICE_ATOMIC_ORDER_ACQ_REL
    | CL_DEVICE_ATOMIC_ORDER_SEQ_CST
    | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP
    | CL_DEVICE_ATOMIC_SCOPE_DEVICE
    | CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES;

/// Largest work-group: what the compiler makes kernels for unless their source says something else.
pub fn max_work_group_size(device: &Device) -> usize {
    256.min(device.clr.properties().workgroup_max_size as usize)
}

/// Largest memory object: what the specification wants at least. Programs take it for what they can have several of.
pub fn max_allocation(device: &Device) -> usize {
    let properties = device.clr.properties();
    properties
        .max_allocation
        .min((properties.global_memory_size / 4).max(1 << 30))
}

/// Largest work-group in each dimension.
pub fn max_work_item_sizes(device: &Device) -> [usize; 3] {
    let properties = device.clr.properties();
    let most = properties.workgroup_max_size;
    properties
        .workgroup_max_dim
        .map(|size| size.min(most) as usize)
}

/// Answers a query.
///
/// # Errors
/// As the query; `CL_INVALID_VALUE` for an unknown name.
pub fn answer(device: &Device, name: cl_name, query: &Query) -> Result {
    let properties = device.clr.properties();
    match name {
        CL_DEVICE_TYPE => query.value(CL_DEVICE_TYPE_GPU),
        CL_DEVICE_VENDOR_ID => query.value(0x1002 as cl_uint),
        CL_DEVICE_MAX_COMPUTE_UNITS => query.value(properties.compute_units),
        CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS => query.value(3 as cl_uint),
        CL_DEVICE_MAX_WORK_ITEM_SIZES => query.list(&max_work_item_sizes(device)),
        CL_DEVICE_MAX_WORK_GROUP_SIZE => query.value(max_work_group_size(device)),
        CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR | CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR => {
            query.value(4 as cl_uint)
        }
        CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT | CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT => {
            query.value(2 as cl_uint)
        }
        CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_INT
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE
        | CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF
        | CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF => query.value(1 as cl_uint),
        CL_DEVICE_MAX_CLOCK_FREQUENCY => query.value(properties.max_clock_mhz),
        CL_DEVICE_ADDRESS_BITS => query.value(64 as cl_uint),
        CL_DEVICE_MAX_MEM_ALLOC_SIZE => query.value(max_allocation(device) as cl_ulong),
        CL_DEVICE_MAX_PARAMETER_SIZE => query.value(MAX_PARAMETER_SIZE),
        CL_DEVICE_MEM_BASE_ADDR_ALIGN => query.value(8 * BASE_ALIGN as cl_uint),
        CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE => query.value(BASE_ALIGN as cl_uint),
        CL_DEVICE_SINGLE_FP_CONFIG => query.value(
            CL_FP_DENORM
                | CL_FP_INF_NAN
                | CL_FP_ROUND_TO_NEAREST
                | CL_FP_ROUND_TO_ZERO
                | CL_FP_ROUND_TO_INF
                | CL_FP_FMA
                | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT,
        ),
        CL_DEVICE_DOUBLE_FP_CONFIG | CL_DEVICE_HALF_FP_CONFIG => query.value(
            CL_FP_DENORM
                | CL_FP_INF_NAN
                | CL_FP_ROUND_TO_NEAREST
                | CL_FP_ROUND_TO_ZERO
                | CL_FP_ROUND_TO_INF
                | CL_FP_FMA,
        ),
        CL_DEVICE_GLOBAL_MEM_CACHE_TYPE => query.value(CL_READ_WRITE_CACHE),
        CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE => query.value(properties.cacheline_size),
        CL_DEVICE_GLOBAL_MEM_CACHE_SIZE => {
            let largest = properties.cache_sizes.iter().max();
            query.value(largest.copied().unwrap_or(0) as cl_ulong)
        }
        CL_DEVICE_GLOBAL_MEM_SIZE => query.value(properties.global_memory_size as cl_ulong),
        CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE => query.value(max_allocation(device) as cl_ulong),
        CL_DEVICE_MAX_CONSTANT_ARGS => query.value(8 as cl_uint),
        CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE => query.value(max_allocation(device).min(1 << 30)),
        CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE => {
            query.value(max_allocation(device).min(1 << 30))
        }
        CL_DEVICE_LOCAL_MEM_TYPE => query.value(CL_LOCAL),
        CL_DEVICE_LOCAL_MEM_SIZE => query.value(properties.lds_size as cl_ulong),
        CL_DEVICE_ERROR_CORRECTION_SUPPORT => query.truth(false),
        CL_DEVICE_HOST_UNIFIED_MEMORY => query.truth(properties.apu),
        CL_DEVICE_PROFILING_TIMER_RESOLUTION => query.value(1_usize),
        CL_DEVICE_ENDIAN_LITTLE | CL_DEVICE_AVAILABLE => query.truth(true),
        CL_DEVICE_COMPILER_AVAILABLE | CL_DEVICE_LINKER_AVAILABLE => {
            query.truth(compiler::available())
        }
        CL_DEVICE_EXECUTION_CAPABILITIES => query.value(CL_EXEC_KERNEL | CL_EXEC_NATIVE_KERNEL),
        CL_DEVICE_QUEUE_ON_HOST_PROPERTIES => {
            query.value(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE)
        }
        CL_DEVICE_PLATFORM => query.value(platform::handle()),
        CL_DEVICE_NAME => query.text(device.target()),
        CL_DEVICE_BOARD_NAME_AMD => query.text(&properties.product_name),
        CL_DEVICE_VENDOR => query.text("Advanced Micro Devices, Inc."),
        CL_DRIVER_VERSION => query.text(concat!(env!("CARGO_PKG_VERSION"), " (Gneiss)")),
        CL_DEVICE_PROFILE => query.text("FULL_PROFILE"),
        CL_DEVICE_VERSION => query.text(platform::VERSION),
        CL_DEVICE_NUMERIC_VERSION => query.value(version(3, 0, 0)),
        CL_DEVICE_OPENCL_C_VERSION => query.text("OpenCL C 1.2 "),
        CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR => query.value(version(1, 2, 0)),
        CL_DEVICE_OPENCL_C_ALL_VERSIONS => {
            let mut all = vec![(1, 0), (1, 1), (1, 2), (3, 0)];
            if device.images() {
                // All of it is there, images with depth and what device code enqueues among it.
                all.insert(3, (2, 0));
            }
            let all = all
                .into_iter()
                .map(|(major, minor)| cl_name_version::new("OpenCL C", version(major, minor, 0)));
            query.list(&all.collect::<Vec<_>>())
        }
        CL_DEVICE_OPENCL_C_FEATURES => {
            query.list(&extension::versions(&extension::features(device.images())))
        }
        CL_DEVICE_EXTENSIONS => {
            query.text(&extension::names(&extension::of_device(device.images())))
        }
        CL_DEVICE_EXTENSIONS_WITH_VERSION => {
            query.list(&extension::versions(&extension::of_device(device.images())))
        }
        CL_DEVICE_IL_VERSION | CL_DEVICE_BUILT_IN_KERNELS => query.text(""),
        CL_DEVICE_ILS_WITH_VERSION | CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION => query.bytes(&[]),
        CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED => query.text(""),
        CL_DEVICE_PRINTF_BUFFER_SIZE => query.value(PRINTF_BUFFER_SIZE),
        CL_DEVICE_PREFERRED_INTEROP_USER_SYNC => query.truth(true),
        CL_DEVICE_PARENT_DEVICE => query.value(std::ptr::null_mut::<()>()),
        CL_DEVICE_PARTITION_MAX_SUB_DEVICES => query.value(0 as cl_uint),
        CL_DEVICE_PARTITION_PROPERTIES | CL_DEVICE_PARTITION_TYPE => {
            query.list(&[0 as cl_pointer_property])
        }
        CL_DEVICE_PARTITION_AFFINITY_DOMAIN => query.value(0 as cl_bitfield),
        CL_DEVICE_REFERENCE_COUNT => query.value(1 as cl_uint),
        CL_DEVICE_SVM_CAPABILITIES => query.value(SVM),
        CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT
        | CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT
        | CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT => query.value(0 as cl_uint),
        CL_DEVICE_MAX_NUM_SUB_GROUPS => {
            let wave = properties.wavefront_size.max(1) as usize;
            query.value(max_work_group_size(device).div_ceil(wave) as cl_uint)
        }
        CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS => query.truth(true),
        CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES => query.value(ATOMICS),
        CL_DEVICE_ATOMIC_FENCE_CAPABILITIES => {
            query.value(ATOMICS | CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM)
        }
        CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT
        | CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT
        | CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT => query.truth(true),
        CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => {
            query.value(properties.wavefront_size as usize)
        }
        CL_DEVICE_PIPE_SUPPORT => query.truth(true),
        CL_DEVICE_MAX_PIPE_ARGS | CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS => {
            query.value(16 as cl_uint)
        }
        CL_DEVICE_PIPE_MAX_PACKET_SIZE => query.value(pipe::MAX_PACKET_SIZE),
        CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES => {
            query.value(CL_DEVICE_QUEUE_SUPPORTED | CL_DEVICE_QUEUE_REPLACEABLE_DEFAULT)
        }
        CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES => {
            query.value(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE)
        }
        CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE => query.value(device_queue::PREFERRED_SIZE),
        CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE => query.value(DeviceQueue::LARGEST),
        CL_DEVICE_MAX_ON_DEVICE_QUEUES => query.value(device_queue::MAX_QUEUES),
        CL_DEVICE_MAX_ON_DEVICE_EVENTS => query.value(DeviceQueues::EVENTS),
        CL_DEVICE_UUID_KHR => query.bytes(&uuid(device)),
        CL_DRIVER_UUID_KHR => query.bytes(b"Gneiss OpenCL 01"),
        CL_DEVICE_LUID_VALID_KHR => query.truth(false),
        CL_DEVICE_LUID_KHR => query.bytes(&[0; 8]),
        CL_DEVICE_NODE_MASK_KHR => query.value(0 as cl_uint),
        CL_DEVICE_PCI_BUS_INFO_KHR => query.list(&[
            properties.pci_domain,
            properties.pci_bus,
            properties.pci_device,
            properties.pci_function,
        ]),
        name => image(device, name, query),
    }
}

/// Limits of images; all 0 where there are none.
fn image(device: &Device, name: cl_name, query: &Query) -> Result {
    let properties = device.clr.properties();
    let limits = if device.images() {
        properties.image_limits
    } else {
        ImageLimits::default()
    };
    let count = |count: cl_uint| query.value(if device.images() { count } else { 0 });
    match name {
        CL_DEVICE_IMAGE_SUPPORT => query.truth(device.images()),
        CL_DEVICE_MAX_READ_IMAGE_ARGS => count(128),
        CL_DEVICE_MAX_WRITE_IMAGE_ARGS => count(64),
        CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS => count(64),
        CL_DEVICE_MAX_SAMPLERS => count(16),
        CL_DEVICE_IMAGE2D_MAX_WIDTH => query.value(limits.d2[0] as usize),
        CL_DEVICE_IMAGE2D_MAX_HEIGHT => query.value(limits.d2[1] as usize),
        CL_DEVICE_IMAGE3D_MAX_WIDTH => query.value(limits.d3[0] as usize),
        CL_DEVICE_IMAGE3D_MAX_HEIGHT => query.value(limits.d3[1] as usize),
        CL_DEVICE_IMAGE3D_MAX_DEPTH => query.value(limits.d3[2] as usize),
        // As many texels of 16 bytes as a buffer may have.
        CL_DEVICE_IMAGE_MAX_BUFFER_SIZE => {
            query.value((limits.buffer as usize).min(max_allocation(device) / 16))
        }
        CL_DEVICE_IMAGE_MAX_ARRAY_SIZE => query.value(limits.layers as usize),
        // In texels: good for those of one byte, too.
        CL_DEVICE_IMAGE_PITCH_ALIGNMENT | CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT => count(256),
        name => query.unknown(name),
    }
}

/// 16 bytes that tell a device: its own identity, else what it is and where.
fn uuid(device: &Device) -> [u8; 16] {
    let properties = device.clr.properties();
    let mut uuid = [0; 16];
    let text = properties.uuid.as_bytes();
    let text = text.strip_prefix(b"GPU-").unwrap_or(text);
    let len = text.len().min(16);
    uuid[..len].copy_from_slice(&text[..len]);
    if len == 0 {
        uuid[..4].copy_from_slice(&properties.chip_id.to_le_bytes());
        uuid[4..8].copy_from_slice(&properties.pci_bus.to_le_bytes());
    }
    uuid
}

/// The handle of a device, for lists of them.
pub fn handle(device: &Device) -> cl_device_id {
    device.handle().raw()
}
