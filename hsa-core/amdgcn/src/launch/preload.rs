//! Kernel arguments that the hardware loads into SGPRs before the first instruction (GFX90A and later CDNA).
//!
//! Source: LLVM AMDGPUUsage, "Preloaded Kernel Arguments".

use gneiss_fatbin::kernel_descriptor::KernelDescriptor;

use crate::{
    engine::DispatchInfo,
    fault::{Fault, FaultKind},
    target::Features,
};

/// Kernel arguments that a wave finds in its user SGPRs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Preload {
    /// First dword of the argument segment.
    offset: u16,
    /// How many dwords.
    length: u16,
}

impl Preload {
    /// What a descriptor asks for; nothing on targets that cannot.
    pub(super) fn of(descriptor: &KernelDescriptor, features: &Features) -> Self {
        let field = if features.kernarg_preload {
            descriptor.kernarg_preload
        } else {
            0
        };
        Self {
            offset: field >> 7,
            length: field & 0x7f,
        }
    }

    /// Bytes before the first instruction: code for devices that do not preload, which loads the arguments or traps.
    pub(super) fn skipped(self) -> u64 {
        if self.length == 0 { 0 } else { 256 }
    }

    /// Reads them.
    pub(super) fn read(self, info: &DispatchInfo) -> Result<Vec<u32>, Box<Fault>> {
        if self.length == 0 {
            return Ok(Vec::new());
        }
        let first = info.kernarg.wrapping_add(4 * u64::from(self.offset));
        let size = 4 * u64::from(self.length);
        let mapping = info
            .gpu
            .map
            .find(first)
            .filter(|mapping| mapping.len - (first - mapping.base) >= size);
        let Some(mapping) = mapping else {
            return Err(Fault::of_dispatch(
                FaultKind::InvalidDispatch,
                format!(
                    "{size} bytes of kernel arguments at {first:#x} are to be preloaded, and are not in one allocation"
                ),
            ));
        };
        let place = mapping.host.wrapping_add((first - mapping.base) as usize);
        Ok((0..usize::from(self.length))
            .map(|index| {
                // SAFETY: the range lies in the mapping, whose owner keeps it while the dispatch runs.
                unsafe { place.cast::<u32>().add(index).read_unaligned() }
            })
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use gneiss_fatbin::kernel_descriptor::SIZE;

    use super::{KernelDescriptor, Preload};
    use crate::target::KNOWN;

    #[test]
    fn arguments_are_preloaded_where_the_target_can_and_the_descriptor_asks() {
        let mut bytes = [0; SIZE];
        // 5 dwords from the third on.
        bytes[58..60].copy_from_slice(&(2_u16 << 7 | 5).to_le_bytes());
        let descriptor = KernelDescriptor::parse(&bytes);
        for (target, _) in KNOWN {
            let features = target.features();
            let preload = Preload::of(&descriptor, &features);
            if features.kernarg_preload {
                let expected = Preload {
                    offset: 2,
                    length: 5,
                };
                assert_eq!((preload, preload.skipped()), (expected, 256), "{target}");
            } else {
                assert_eq!((preload.length, preload.skipped()), (0, 0), "{target}");
            }
        }
    }
}
