//! Hidden kernel arguments: what the compiler asks the runtime for. Offsets and sizes come from the code object's metadata, never from a
//! table of ours, so that code objects v3 to v6 are one case. The meanings are those of LLVM's AMDGPUUsage, "Code Object V5 Metadata".

use gneiss_fatbin::{ArgumentMetadata, ValueKind};

use crate::queue::EnqueuesTo;

/// What hidden arguments are made from.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HiddenValues {
    /// Dimensions of the grid.
    pub(crate) dimensions: u8,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u16; 3],
    /// Global offset of the grid (OpenCL).
    pub(crate) offset: [u64; 3],
    /// Where the kernel may enqueue kernels to.
    pub(crate) enqueues_to: EnqueuesTo,
    pub(crate) dynamic_lds: u32,
    pub(crate) hostcall: u64,
    pub(crate) printf: u64,
    pub(crate) multigrid: u64,
    pub(crate) heap: u64,
    pub(crate) queue: u64,
    pub(crate) private_base_hi: u32,
    pub(crate) shared_base_hi: u32,
}

/// Writes the hidden arguments into a kernarg block whose hidden part is zero. An argument that does not lie in the block is not written:
/// the metadata lie, and the kernel reads zeros or what its launch gives.
pub(crate) fn write(block: &mut [u8], arguments: &[ArgumentMetadata], values: &HiddenValues) {
    let groups =
        |dimension: usize| values.grid[dimension] / u32::from(values.block[dimension]).max(1);
    let remainder =
        |dimension: usize| values.grid[dimension] % u32::from(values.block[dimension]).max(1);
    for argument in arguments {
        let value: u64 = match argument.value_kind {
            ValueKind::HiddenBlockCountX => groups(0).into(),
            ValueKind::HiddenBlockCountY => groups(1).into(),
            ValueKind::HiddenBlockCountZ => groups(2).into(),
            ValueKind::HiddenGroupSizeX => values.block[0].into(),
            ValueKind::HiddenGroupSizeY => values.block[1].into(),
            ValueKind::HiddenGroupSizeZ => values.block[2].into(),
            ValueKind::HiddenRemainderX => remainder(0).into(),
            ValueKind::HiddenRemainderY => remainder(1).into(),
            ValueKind::HiddenRemainderZ => remainder(2).into(),
            ValueKind::HiddenGridDims => values.dimensions.into(),
            ValueKind::HiddenHostcallBuffer => values.hostcall,
            ValueKind::HiddenPrintfBuffer => values.printf,
            ValueKind::HiddenMultigridSyncArg => values.multigrid,
            ValueKind::HiddenHeapV1 => values.heap,
            ValueKind::HiddenDynamicLdsSize => values.dynamic_lds.into(),
            ValueKind::HiddenPrivateBase => values.private_base_hi.into(),
            ValueKind::HiddenSharedBase => values.shared_base_hi.into(),
            ValueKind::HiddenQueuePtr => values.queue,
            ValueKind::HiddenGlobalOffsetX => values.offset[0],
            ValueKind::HiddenGlobalOffsetY => values.offset[1],
            ValueKind::HiddenGlobalOffsetZ => values.offset[2],
            ValueKind::HiddenDefaultQueue => values.enqueues_to.queue,
            ValueKind::HiddenCompletionAction => values.enqueues_to.wrap,
            _ => continue,
        };
        let start = argument.offset as usize;
        let size = (argument.size as usize).min(8);
        if let Some(place) = start
            .checked_add(size)
            .and_then(|end| block.get_mut(start..end))
        {
            place.copy_from_slice(&value.to_le_bytes()[..size]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_sizes_and_remainders_follow_the_grid() {
        let values = HiddenValues {
            dimensions: 2,
            grid: [1000, 4, 1],
            block: [256, 3, 1],
            dynamic_lds: 0x1234,
            shared_base_hi: 0x1_0000,
            queue: 0x7f00_dead_beef,
            ..Default::default()
        };
        let arguments = [
            ArgumentMetadata::new(ValueKind::HiddenBlockCountX, 0, 4),
            ArgumentMetadata::new(ValueKind::HiddenBlockCountY, 4, 4),
            ArgumentMetadata::new(ValueKind::HiddenGroupSizeX, 12, 2),
            ArgumentMetadata::new(ValueKind::HiddenRemainderX, 18, 2),
            ArgumentMetadata::new(ValueKind::HiddenRemainderY, 20, 2),
            ArgumentMetadata::new(ValueKind::HiddenGridDims, 64, 2),
            ArgumentMetadata::new(ValueKind::HiddenDynamicLdsSize, 68, 4),
            ArgumentMetadata::new(ValueKind::HiddenSharedBase, 72, 4),
            ArgumentMetadata::new(ValueKind::HiddenQueuePtr, 80, 8),
        ];
        let mut block = [0_u8; 88];
        write(&mut block, &arguments, &values);
        let u16_at = |at: usize| u16::from_le_bytes([block[at], block[at + 1]]);
        let u32_at = |at: usize| u32::from_le_bytes(block[at..at + 4].try_into().expect("4 bytes"));
        assert_eq!((u32_at(0), u32_at(4)), (3, 1));
        assert_eq!(u16_at(12), 256);
        assert_eq!((u16_at(18), u16_at(20)), (1000 - 3 * 256, 1));
        assert_eq!(u16_at(64), 2);
        assert_eq!((u32_at(68), u32_at(72)), (0x1234, 0x1_0000));
        assert_eq!(
            u64::from_le_bytes(block[80..88].try_into().expect("8 bytes")),
            0x7f00_dead_beef
        );
    }

    /// The usual blocks of code objects v4 (56 bytes) and v5, v6 (256 bytes): the offsets are LLVM's, and only the metadata say them.
    #[test]
    fn the_usual_blocks_of_v4_and_of_v5_and_v6_are_filled() {
        let values = HiddenValues {
            dimensions: 3,
            grid: [300, 2, 1],
            block: [128, 1, 1],
            offset: [7, 8, 9],
            enqueues_to: EnqueuesTo {
                queue: 0x5000,
                wrap: 0x6000,
            },
            hostcall: 0x1000,
            multigrid: 0x2000,
            heap: 0x3000,
            queue: 0x4000,
            dynamic_lds: 64,
            private_base_hi: 2,
            shared_base_hi: 1,
            printf: 0,
        };
        let u64_at = |block: &[u8], at: usize| {
            u64::from_le_bytes(block[at..at + 8].try_into().expect("8 bytes"))
        };
        let v4 = [
            ArgumentMetadata::new(ValueKind::HiddenGlobalOffsetX, 0, 8),
            ArgumentMetadata::new(ValueKind::HiddenGlobalOffsetY, 8, 8),
            ArgumentMetadata::new(ValueKind::HiddenGlobalOffsetZ, 16, 8),
            ArgumentMetadata::new(ValueKind::HiddenHostcallBuffer, 24, 8),
            ArgumentMetadata::new(ValueKind::HiddenDefaultQueue, 32, 8),
            ArgumentMetadata::new(ValueKind::HiddenCompletionAction, 40, 8),
            ArgumentMetadata::new(ValueKind::HiddenMultigridSyncArg, 48, 8),
        ];
        let mut block = [0_u8; 56];
        write(&mut block, &v4, &values);
        let words: Vec<u64> = (0..7).map(|word| u64_at(&block, 8 * word)).collect();
        assert_eq!(words, [7, 8, 9, 0x1000, 0x5000, 0x6000, 0x2000]);
        let v5 = [
            ArgumentMetadata::new(ValueKind::HiddenBlockCountX, 0, 4),
            ArgumentMetadata::new(ValueKind::HiddenGroupSizeX, 12, 2),
            ArgumentMetadata::new(ValueKind::HiddenRemainderX, 18, 2),
            ArgumentMetadata::new(ValueKind::HiddenGlobalOffsetX, 40, 8),
            ArgumentMetadata::new(ValueKind::HiddenGridDims, 64, 2),
            ArgumentMetadata::new(ValueKind::HiddenHostcallBuffer, 80, 8),
            ArgumentMetadata::new(ValueKind::HiddenMultigridSyncArg, 88, 8),
            ArgumentMetadata::new(ValueKind::HiddenHeapV1, 96, 8),
            ArgumentMetadata::new(ValueKind::HiddenDefaultQueue, 104, 8),
            ArgumentMetadata::new(ValueKind::HiddenDynamicLdsSize, 120, 4),
            ArgumentMetadata::new(ValueKind::HiddenPrivateBase, 192, 4),
            ArgumentMetadata::new(ValueKind::HiddenSharedBase, 196, 4),
            ArgumentMetadata::new(ValueKind::HiddenQueuePtr, 200, 8),
        ];
        let mut block = [0_u8; 256];
        write(&mut block, &v5, &values);
        assert_eq!(block[..4], 2_u32.to_le_bytes());
        assert_eq!((block[12], block[18], block[64]), (128, 44, 3));
        assert_eq!(
            [40, 80, 88, 96, 104, 192, 200].map(|at| u64_at(&block, at)),
            [7, 0x1000, 0x2000, 0x3000, 0x5000, 2 | 1 << 32, 0x4000]
        );
        assert_eq!(block[120], 64);
    }

    #[test]
    fn an_argument_outside_of_the_block_is_not_written() {
        let mut block = [0_u8; 8];
        let arguments = [
            ArgumentMetadata::new(ValueKind::HiddenGridDims, 7, 2),
            ArgumentMetadata::new(ValueKind::HiddenQueuePtr, u32::MAX, 8),
        ];
        write(
            &mut block,
            &arguments,
            &HiddenValues {
                queue: u64::MAX,
                ..Default::default()
            },
        );
        assert_eq!(block, [0; 8]);
    }
}
