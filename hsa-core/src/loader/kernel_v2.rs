//! Kernels of code object v2: the symbol is that of an `amd_kernel_code_t`, which stands before the code and holds what a kernel
//! descriptor does since v3. Source: `amd_hsa_kernel_code.h`.

use gneiss_fatbin::kernel_descriptor::KernelDescriptor;
use gneiss_hsa_api::*;

use crate::entry::HsaResult;

/// Bytes and alignment of the structure.
pub(super) const SIZE: u64 = 256;

/// Properties that have the same places in a kernel descriptor: user SGPRs (bits 0 to 6) and waves of 32 (bit 10).
const SAME: u32 = 0x47f;
/// The kernel wants the numbers of work-groups in SGPRs, which nothing since GFX6 does.
const GROUP_COUNTS: u32 = 7 << 7;
/// The stack grows while the kernel runs, here and in a kernel descriptor.
const DYNAMIC_STACK: u32 = 1 << 20;
const DESCRIPTOR_DYNAMIC_STACK: u16 = 1 << 11;

/// The machine that the code is for: AMD GPUs.
const MACHINE_KIND: u16 = 1;

/// The descriptor that says what the structure says.
pub(super) fn descriptor(code: &[u8; SIZE as usize]) -> HsaResult<KernelDescriptor> {
    let u16_at = |at: usize| u16::from_le_bytes([code[at], code[at + 1]]);
    let u32_at = |at: usize| u32::from(u16_at(at)) | u32::from(u16_at(at + 2)) << 16;
    let u64_at = |at: usize| u64::from(u32_at(at)) | u64::from(u32_at(at + 4)) << 32;
    let properties = u32_at(56);
    if u32_at(0) != 1 || u16_at(8) != MACHINE_KIND || properties & GROUP_COUNTS != 0 {
        tracing::error!(
            version = u32_at(0),
            machine = u16_at(8),
            properties,
            "a kernel of code object v2 of another kind than AMD's compilers made"
        );
        return Err(HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
    }
    let mut kept = (properties & SAME) as u16;
    if properties & DYNAMIC_STACK != 0 {
        kept |= DESCRIPTOR_DYNAMIC_STACK;
    }
    Ok(KernelDescriptor {
        group_segment_fixed_size: u32_at(64),
        private_segment_fixed_size: u32_at(60),
        kernarg_size: u32::try_from(u64_at(72))
            .map_err(|_| HSA_STATUS_ERROR_INVALID_CODE_OBJECT)?,
        kernel_code_entry_byte_offset: u64_at(16).cast_signed(),
        compute_pgm_rsrc3: 0,
        compute_pgm_rsrc1: u32_at(48),
        compute_pgm_rsrc2: u32_at(52),
        kernel_code_properties: kept,
        kernarg_preload: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_find_their_places() {
        let mut code = [0; SIZE as usize];
        let mut put =
            |at: usize, value: u32| code[at..at + 4].copy_from_slice(&value.to_le_bytes());
        put(0, 1);
        put(8, 1);
        put(16, 256);
        put(48, 0xac00_0041);
        put(52, 0x90);
        put(56, DYNAMIC_STACK | 1 << 19 | 0x9);
        put(60, 32);
        put(64, 4096);
        put(72, 28);
        let found = descriptor(&code).expect("valid");
        assert_eq!(found.kernel_code_entry_byte_offset, 256);
        assert_eq!(
            (found.compute_pgm_rsrc1, found.compute_pgm_rsrc2),
            (0xac00_0041, 0x90)
        );
        assert_eq!(found.kernel_code_properties, DESCRIPTOR_DYNAMIC_STACK | 0x9);
        assert_eq!(
            (
                found.private_segment_fixed_size,
                found.group_segment_fixed_size,
                found.kernarg_size
            ),
            (32, 4096, 28)
        );
        code[0] = 2;
        assert!(descriptor(&code).is_err(), "another version");
    }
}
