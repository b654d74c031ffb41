//! The ids of work-items, as waves find them in their first VGPRs.

use crate::interp::wave::Wave;

use super::Extent;

/// How a kernel wants its ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IdLayout {
    /// Lanes of a wave.
    pub(super) wave_size: u32,
    /// The ids of all dimensions share a register, ten bits each.
    pub(super) packed: bool,
    /// In how many dimensions, from x on.
    pub(super) dimensions: usize,
}

/// The ids of the work-items of a group. A thread's groups keep their table: successive groups mostly have the same extent.
#[derive(Debug, Default)]
pub(crate) struct WorkitemIds {
    /// What the table was made for.
    key: Option<(Extent, IdLayout)>,
    /// Registers.
    rows: usize,
    /// For each wave its registers, one after the other.
    dwords: Vec<u32>,
}

impl WorkitemIds {
    /// Makes the ids of a group of this extent, unless the table holds them.
    pub(super) fn fill(&mut self, extent: Extent, layout: IdLayout) {
        let key = Some((extent, layout));
        if self.key == key {
            return;
        }
        let IdLayout {
            wave_size,
            packed,
            dimensions,
        } = layout;
        let rows = if packed { 1 } else { dimensions };
        // Fields of ids that the kernel does not want are 0: it may take the register as it is for the id in x.
        let field = |id: u32, dimension: usize| {
            let bits = if dimension < dimensions { 0x3ff } else { 0 };
            (id & bits) << (10 * dimension)
        };
        let lanes = wave_size as usize;
        let waves = (extent.iter().product::<u32>() as usize).div_ceil(lanes);
        self.key = key;
        self.rows = rows;
        self.dwords.resize(waves * lanes * rows, 0);
        let [nx, ny, _] = extent;
        let (mut x, mut y, mut z) = (0, 0, 0);
        for wave in self.dwords.chunks_exact_mut(lanes * rows) {
            for lane in 0..lanes {
                if packed {
                    // Lanes past the end of the group are inactive; their bits must only not spill into each other.
                    wave[lane] = x | field(y, 1) | field(z, 2);
                } else {
                    for (row, id) in [x, y, z].into_iter().enumerate().take(rows) {
                        wave[row * lanes + lane] = id;
                    }
                }
                x += 1;
                if x == nx {
                    (x, y) = (0, y + 1);
                    if y == ny {
                        (y, z) = (0, z + 1);
                    }
                }
            }
        }
    }

    /// Puts the ids into the registers of the wave whose first work-item has the number `first` in the group.
    #[inline(always)]
    pub(super) fn copy_to(&self, wave: &mut Wave, first: u32) {
        let lanes = wave.lanes();
        let rows = self.rows.min(wave.vgpr_count as usize);
        let start = first as usize * self.rows;
        for row in 0..rows {
            let from = &self.dwords[start + row * lanes..][..lanes];
            // In pieces of a known size, which are copied inline.
            let to = wave.vgpr_lanes(row).chunks_exact_mut(16);
            for (to, from) in to.zip(from.chunks_exact(16)) {
                to.copy_from_slice(from);
            }
        }
    }
}
