//! Sampler descriptors (4 dwords): "Image Sampler Definition" of the Vega, RDNA 2 and RDNA 3 ISA documents; GFX12 has wider limits of the
//! level.

use super::descriptor::field;
use crate::target::Family;

/// What happens to a coordinate out of range: the `clamp_x/y/z` field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clamp {
    /// Repeat.
    Wrap,
    /// Repeat, every other time mirrored.
    Mirror,
    /// Nearest texel of the edge.
    LastTexel,
    /// Mirror once, then the edge.
    MirrorOnce,
    /// Border colour.
    Border,
}

/// How the value of the instruction is compared with a depth: the `depth_compare_func` field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Compare {
    Never,
    Less,
    Equal,
    LessEqual,
    Greater,
    NotEqual,
    GreaterEqual,
    Always,
}

impl Compare {
    const ALL: [Self; 8] = [
        Self::Never,
        Self::Less,
        Self::Equal,
        Self::LessEqual,
        Self::Greater,
        Self::NotEqual,
        Self::GreaterEqual,
        Self::Always,
    ];

    /// Whether `reference` compares so with `depth`; with a NaN only what does not look passes.
    pub fn holds(self, reference: f32, depth: f32) -> bool {
        match self {
            Self::Never => false,
            Self::Less => reference < depth,
            Self::Equal => reference == depth,
            Self::LessEqual => reference <= depth,
            Self::Greater => reference > depth,
            Self::NotEqual => reference != depth,
            Self::GreaterEqual => reference >= depth,
            Self::Always => true,
        }
    }
}

/// How the levels of a mipmapped image are combined: the `mip_filter` field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MipFilter {
    /// The first level alone.
    None,
    /// The nearest level.
    Point,
    /// Between the two levels around the level of detail.
    Linear,
}

/// A sampler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampler {
    /// Addressing of each coordinate.
    pub clamp: [Clamp; 3],
    /// How depths are compared.
    pub compare: Compare,
    /// Coordinates are in texels rather than in 0..1.
    pub unnormalised: bool,
    /// Bilinear filtering in the image plane where the image is magnified.
    pub linear: bool,
    /// Bilinear filtering where the level of detail is above 0.
    pub linear_minified: bool,
    /// Linear filtering between slices of a 3D image.
    pub linear_z: bool,
    /// Filtering between levels.
    pub mip_filter: MipFilter,
    /// Least and greatest level of detail.
    pub lod: [f32; 2],
    /// What is added to the level of detail.
    pub lod_bias: f32,
    /// Border colour: 0 transparent black, 1 opaque black, 2 opaque white.
    pub border: u8,
}

impl Default for Sampler {
    /// Point sampling of normalised coordinates that repeat, at any level.
    fn default() -> Self {
        Self {
            clamp: [Clamp::Wrap; 3],
            compare: Compare::Never,
            unnormalised: false,
            linear: false,
            linear_minified: false,
            linear_z: false,
            mip_filter: MipFilter::None,
            lod: [0.0, LARGEST_LOD],
            lod_bias: 0.0,
            border: 0,
        }
    }
}

/// The greatest level of detail that fields of 12 bits with eight of them behind the point can hold.
pub const LARGEST_LOD: f32 = 4095.0 / 256.0;

/// Bits of each limit of the level of detail.
fn lod_bits(family: Family) -> u32 {
    if family == Family::Gfx12 { 13 } else { 12 }
}

impl Sampler {
    /// Decodes the four dwords of a sampler descriptor.
    pub fn decode(words: [u32; 4], family: Family) -> Self {
        let clamp = |low| match field(words[0], low, 3) {
            0 => Clamp::Wrap,
            1 => Clamp::Mirror,
            3 | 5 | 7 => Clamp::MirrorOnce,
            4 | 6 => Clamp::Border,
            _ => Clamp::LastTexel,
        };
        // The anisotropic filters (2, 3) take one probe.
        let linear = field(words[2], 20, 2) & 1 != 0;
        // 0: as the filter of x and y; 1: point; 2: linear.
        let linear_z = match field(words[2], 24, 2) {
            0 => linear,
            filter => filter == 2,
        };
        let bits = lod_bits(family);
        let bias = (field(words[2], 0, 14) << 18).cast_signed() >> 18;
        Self {
            clamp: [clamp(0), clamp(3), clamp(6)],
            compare: Compare::ALL[field(words[0], 12, 3) as usize],
            unnormalised: field(words[0], 15, 1) != 0,
            linear,
            linear_minified: field(words[2], 22, 2) & 1 != 0,
            linear_z,
            mip_filter: match field(words[2], 26, 2) {
                0 => MipFilter::None,
                2 => MipFilter::Linear,
                _ => MipFilter::Point,
            },
            lod: [0, bits].map(|low| field(words[1], low, bits) as f32 / 256.0),
            lod_bias: bias as f32 / 256.0,
            border: field(words[3], 30, 2) as u8,
        }
    }

    /// Encodes the descriptor. Limits and bias of the level are rounded to 1/256 and saturate.
    pub fn encode(&self, family: Family) -> [u32; 4] {
        let clamp = |clamp| match clamp {
            Clamp::Wrap => 0,
            Clamp::Mirror => 1,
            Clamp::LastTexel => 2,
            Clamp::MirrorOnce => 3,
            Clamp::Border => 6,
        };
        let bits = lod_bits(family);
        let lod = self
            .lod
            .map(|lod| ((lod * 256.0) as u32).min((1 << bits) - 1));
        let bias = ((self.lod_bias * 256.0) as i32).clamp(-0x2000, 0x1fff);
        [
            clamp(self.clamp[0])
                | clamp(self.clamp[1]) << 3
                | clamp(self.clamp[2]) << 6
                | (self.compare as u32) << 12
                | u32::from(self.unnormalised) << 15,
            lod[0] | lod[1] << bits,
            bias.cast_unsigned() & 0x3fff
                | u32::from(self.linear) << 20
                | u32::from(self.linear_minified) << 22
                | if self.linear_z { 2 } else { 1 } << 24
                | (self.mip_filter as u32) << 26,
            u32::from(self.border) << 30,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samplers_survive_encoding() {
        let sampler = Sampler {
            clamp: [Clamp::Wrap, Clamp::Border, Clamp::LastTexel],
            compare: Compare::Greater,
            unnormalised: true,
            linear: true,
            linear_minified: false,
            linear_z: false,
            mip_filter: MipFilter::Linear,
            lod: [0.5, 12.25],
            lod_bias: -1.5,
            border: 2,
        };
        for family in [Family::Gfx9, Family::Gfx10_3, Family::Gfx11, Family::Gfx12] {
            let words = sampler.encode(family);
            assert_eq!(Sampler::decode(words, family), sampler, "{family:?}");
        }
    }

    #[test]
    fn comparisons_have_the_reference_on_the_left() {
        let holding = |reference: f32, depth: f32| Compare::ALL.map(|c| c.holds(reference, depth));
        let [no, yes] = [false, true];
        assert_eq!(holding(0.25, 0.5), [no, yes, no, yes, no, yes, no, yes]);
        assert_eq!(holding(0.5, 0.5), [no, no, yes, yes, no, no, yes, yes]);
        assert_eq!(holding(0.75, 0.5), [no, no, no, no, yes, yes, yes, yes]);
    }
}
