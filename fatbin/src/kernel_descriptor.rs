//! The 64-byte kernel descriptor (`<kernel>.kd`) of code objects v3 and later. Source: LLVM AMDGPUUsage, "Kernel Descriptor".

/// Size and alignment of a descriptor in bytes.
pub const SIZE: usize = 64;

/// A kernel descriptor as it stands in the code object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct KernelDescriptor {
    /// Static LDS in bytes.
    pub group_segment_fixed_size: u32,
    /// Static scratch of a work-item in bytes.
    pub private_segment_fixed_size: u32,
    /// Kernel argument segment in bytes; 0 when not stated.
    pub kernarg_size: u32,
    /// Offset from the descriptor's address to the entry point.
    pub kernel_code_entry_byte_offset: i64,
    /// `compute_pgm_rsrc3`.
    pub compute_pgm_rsrc3: u32,
    /// `compute_pgm_rsrc1`.
    pub compute_pgm_rsrc1: u32,
    /// `compute_pgm_rsrc2`.
    pub compute_pgm_rsrc2: u32,
    /// `kernel_code_properties`.
    pub kernel_code_properties: u16,
    /// `kernarg_preload`: length in dwords in bits 6:0, offset in dwords in bits 15:7.
    pub kernarg_preload: u16,
}

impl KernelDescriptor {
    /// Reads a descriptor from its 64 bytes, little-endian.
    pub fn parse(bytes: &[u8; SIZE]) -> Self {
        let u16_at = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let u32_at = |at: usize| u32::from(u16_at(at)) | u32::from(u16_at(at + 2)) << 16;
        let u64_at = |at: usize| u64::from(u32_at(at)) | u64::from(u32_at(at + 4)) << 32;
        Self {
            group_segment_fixed_size: u32_at(0),
            private_segment_fixed_size: u32_at(4),
            kernarg_size: u32_at(8),
            kernel_code_entry_byte_offset: u64_at(16).cast_signed(),
            compute_pgm_rsrc3: u32_at(44),
            compute_pgm_rsrc1: u32_at(48),
            compute_pgm_rsrc2: u32_at(52),
            kernel_code_properties: u16_at(56),
            kernarg_preload: u16_at(58),
        }
    }
}
