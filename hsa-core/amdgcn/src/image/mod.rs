//! Images: resource and sampler descriptors, texel formats, addressing and filtering.
//!
//! Everything here is plain arithmetic over descriptor dwords; memory is read and written through a [`TexelMemory`] that the
//! caller gives, so that the interpreter's bounds checks and faults apply. Callers: the MIMG handlers of the interpreter, typed
//! buffer instructions (formats only), and the HSA runtime, which makes descriptors for `hsa_ext_image_create`.
//!
//! Linear (untiled) images only: the runtime above never makes others, and a descriptor with another swizzle mode is refused.
//! Levels of mipmapped images follow each other ([`levels`]). Filter weights have eight fraction bits, as the texture units of the hardware have.

pub mod buffer;
pub mod descriptor;
pub mod format;
pub mod levels;
pub mod lod;
pub mod sample;
pub mod sampler;
pub mod texel;

pub use buffer::TexelBuffer;
pub use descriptor::{DescriptorError, Image, ImageKind};
pub use format::{Number, TexelFormat};
pub use sampler::{Clamp, Compare, MipFilter, Sampler};

/// Memory as the image unit sees it.
pub trait TexelMemory {
    /// What an access that fails gives.
    type Error;

    /// Reads `out.len()` bytes at a guest address.
    fn read(&mut self, address: u64, out: &mut [u8]) -> Result<(), Self::Error>;
}
