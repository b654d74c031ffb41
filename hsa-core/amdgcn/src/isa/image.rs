//! What the address registers of an image operation hold, by its name: `image_sample_c_d_cl_o` has an offset, a value to compare with,
//! derivatives, coordinates and a lower limit of the level, in this order.
//!
//! The decoder counts the registers by it, and the lowering says the handlers what they hold. Order: "Image Opcodes with a Sampler" of the
//! ISA documents, the same from GFX9 to GFX12.

use super::op::Op;

/// What comes after the coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelOperand {
    /// Number of the level (`_mip`).
    Mip,
    /// Level of detail (`_l`).
    Lod,
    /// The least level of detail (`_cl`).
    Clamp,
}

/// The parts of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageAddress {
    /// Offset in texels, six bits for each dimension.
    pub offset: bool,
    /// What is added to the level of detail.
    pub bias: bool,
    /// What depths are compared with.
    pub compare: bool,
    /// Derivatives of the coordinates along x and y of the screen.
    pub gradients: bool,
    /// The derivatives have 16 bits, whatever the coordinates have (`_g16`).
    pub half_gradients: bool,
    /// The coordinates are there; `image_get_resinfo` has a level only.
    pub coordinates: bool,
    /// What follows the coordinates.
    pub level: Option<LevelOperand>,
    /// The level of detail is 0 (`_lz`).
    pub level_zero: bool,
    /// Coordinates are floats.
    pub sampled: bool,
}

impl ImageAddress {
    /// The parts of the address of an image operation other than ray intersection.
    pub fn of(op: Op) -> Self {
        let has = |part: &str| op.name().split('_').any(|found| found == part);
        let sampled = ["image_sample", "image_gather4", "image_get_lod"]
            .iter()
            .any(|start| op.name().starts_with(start));
        let info = has("resinfo");
        Self {
            offset: sampled && has("o"),
            bias: sampled && has("b"),
            compare: sampled && has("c"),
            gradients: sampled && (has("d") || has("cd")),
            half_gradients: has("g16"),
            coordinates: !info,
            level: match () {
                () if info || has("mip") => Some(LevelOperand::Mip),
                () if sampled && has("l") => Some(LevelOperand::Lod),
                () if sampled && has("cl") => Some(LevelOperand::Clamp),
                () => None,
            },
            level_zero: sampled && has("lz"),
            sampled,
        }
    }

    /// Registers of the derivatives of `dimensions` coordinates. Packed ones fill whole registers for each of the two directions.
    pub fn gradient_registers(&self, dimensions: usize, packed: bool) -> usize {
        match (self.gradients, packed) {
            (false, _) => 0,
            (true, false) => 2 * dimensions,
            (true, true) => 2 * dimensions.div_ceil(2),
        }
    }

    /// Registers of the coordinates and what follows them.
    pub fn coordinate_registers(&self, coordinates: usize, packed: bool) -> usize {
        let values =
            if self.coordinates { coordinates } else { 0 } + usize::from(self.level.is_some());
        if packed { values.div_ceil(2) } else { values }
    }

    /// Registers before the derivatives, each of which has one whatever the size of addresses.
    pub fn leading_registers(&self) -> usize {
        usize::from(self.offset) + usize::from(self.bias) + usize::from(self.compare)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_the_registers_hold() {
        let all = ImageAddress::of(Op::image_sample_c_d_cl_o_g16);
        assert_eq!(all.leading_registers(), 2);
        assert_eq!(all.level, Some(LevelOperand::Clamp));
        assert_eq!(all.gradient_registers(3, true), 4);
        assert_eq!(all.gradient_registers(1, true), 2);
        assert_eq!(all.gradient_registers(3, false), 6);
        assert_eq!(all.coordinate_registers(2, true), 2);
        let load = ImageAddress::of(Op::image_load_mip_pck);
        assert_eq!(load.level, Some(LevelOperand::Mip));
        assert_eq!(load.coordinate_registers(3, false), 4);
        let info = ImageAddress::of(Op::image_get_resinfo);
        assert_eq!(info.coordinate_registers(3, false), 1);
        assert!(ImageAddress::of(Op::image_gather4_lz_o).level_zero);
        assert!(!ImageAddress::of(Op::image_load).sampled);
    }
}
