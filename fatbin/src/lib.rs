//! Offload bundles, fat binaries and AMDGPU code objects: reading and matching.

pub mod kernel_descriptor;
