//! Extensions and optional features: the lists that queries give, and what the compiler is told of them. Each is listed because it works.

use crate::types::{cl_name_version, cl_uint, version};

/// An extension or feature, with its version.
pub type Named = (&'static str, cl_uint);

const V1: cl_uint = version(1, 0, 0);
const V3: cl_uint = version(3, 0, 0);

/// Extensions that need images.
const IMAGES: [&str; 3] = [
    "cl_khr_3d_image_writes",
    "cl_khr_image2d_from_buffer",
    DEPTH_IMAGES,
];

/// Images whose texels kernels read as one number.
pub const DEPTH_IMAGES: &str = "cl_khr_depth_images";

/// Extensions of the platform; those of the devices are among them, as the specification wants.
pub const PLATFORM: [Named; 18] = [
    ("cl_khr_icd", V1),
    ("cl_khr_extended_versioning", V1),
    ("cl_khr_global_int32_base_atomics", V1),
    ("cl_khr_global_int32_extended_atomics", V1),
    ("cl_khr_local_int32_base_atomics", V1),
    ("cl_khr_local_int32_extended_atomics", V1),
    ("cl_khr_int64_base_atomics", V1),
    ("cl_khr_int64_extended_atomics", V1),
    ("cl_khr_byte_addressable_store", V1),
    ("cl_khr_fp64", V1),
    ("cl_khr_fp16", V1),
    ("cl_khr_subgroups", V1),
    ("cl_khr_device_uuid", V1),
    ("cl_khr_pci_bus_info", V1),
    ("cl_khr_create_command_queue", V1),
    ("cl_khr_3d_image_writes", V1),
    ("cl_khr_image2d_from_buffer", V1),
    (DEPTH_IMAGES, V1),
];

/// Extensions of a device, which may have images.
pub fn of_device(images: bool) -> Vec<Named> {
    PLATFORM
        .into_iter()
        .filter(|(name, _)| *name != "cl_khr_icd" && (images || !IMAGES.contains(name)))
        .collect()
}

/// Optional features of OpenCL C 3.0 of a device, which may have images.
pub fn features(images: bool) -> Vec<Named> {
    let mut features = FEATURES.to_vec();
    if images {
        features.extend([
            ("__opencl_c_images", V3),
            ("__opencl_c_3d_image_writes", V3),
            ("__opencl_c_read_write_images", V3),
        ]);
    }
    features
}

const FEATURES: [Named; 12] = [
    ("__opencl_c_atomic_order_acq_rel", V3),
    ("__opencl_c_atomic_order_seq_cst", V3),
    ("__opencl_c_atomic_scope_device", V3),
    ("__opencl_c_atomic_scope_all_devices", V3),
    ("__opencl_c_device_enqueue", V3),
    ("__opencl_c_fp64", V3),
    ("__opencl_c_generic_address_space", V3),
    ("__opencl_c_int64", V3),
    ("__opencl_c_pipes", V3),
    ("__opencl_c_program_scope_global_variables", V3),
    ("__opencl_c_subgroups", V3),
    ("__opencl_c_work_group_collective_functions", V3),
];

/// What clang has for every AMD GPU and these devices have not.
pub const NOT_THERE: [&str; 6] = [
    "__opencl_c_images",
    "__opencl_c_3d_image_writes",
    "__opencl_c_read_write_images",
    "cl_khr_3d_image_writes",
    "cl_khr_mipmap_image",
    "cl_khr_mipmap_image_writes",
];

/// Names with spaces between them.
pub fn names(list: &[Named]) -> String {
    let names: Vec<_> = list.iter().map(|(name, _)| *name).collect();
    names.join(" ")
}

/// Names with versions, as queries give them.
pub fn versions(list: &[Named]) -> Vec<cl_name_version> {
    list.iter()
        .map(|(name, version)| cl_name_version::new(name, *version))
        .collect()
}
