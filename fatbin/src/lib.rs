//! Offload bundles, fat binaries and AMDGPU code objects: reading and matching.
//!
//! From the outside in: a program's `.hip_fatbin` section holds [`Bundle`]s, a bundle holds entries named by [`EntryId`]s,
//! an entry for a [`TargetId`] holds a [`CodeObject`], an ELF file with kernels whose [`KernelDescriptor`]s say how
//! to launch them and whose [`KernelMetadata`] say what arguments they take.
//!
//! Everything here reads bytes that others wrote: no length, offset or count is trusted, nothing panics, and every
//! [`Error`] says what was found and where. Nothing here loads or runs code; that is the HSA runtime's part.

mod archive;
mod bytes;
mod message_pack;
mod metadata_v2;
mod yaml;

pub mod bundle;
pub mod code_object;
pub mod compressed;
pub mod elf;
pub mod entry_id;
pub mod error;
pub mod fat_binary;
pub mod kernel_descriptor;
pub mod metadata;
pub mod target_id;

pub use bundle::{Bundle, BundleEntry};
pub use code_object::CodeObject;
pub use entry_id::EntryId;
pub use error::{Error, Found, Result};
pub use kernel_descriptor::KernelDescriptor;
pub use metadata::{
    Access, AddressSpace, ArgumentMetadata, KernelKind, KernelMetadata, Metadata, ValueKind,
};
pub use target_id::{Feature, Fit, Processor, TargetId};
