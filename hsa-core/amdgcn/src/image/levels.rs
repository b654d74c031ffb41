//! Levels of mipmapped images: where they lie in memory, and sampling across them.
//!
//! The layout, here and nowhere else: level after level from level 0 on, each as an image of its own, with rows of the linear mode's pitch
//! ([`linear_pitch`]) and slices without gaps. Each level has half of the width, height and depth of the one before, rounded down and at least 1;
//! layers and faces stay. So a level is a plain image at an offset ([`Image::in_memory`]), which is how the runtime fills it and makes arrays and
//! surfaces of it. Descriptors that programs get are made by the same crate, so that the choice is nobody else's.
//!
//! What instructions call level 0 is the descriptor's first level. The level of detail counts from there, and ends at the last one.

use super::{
    TexelMemory,
    descriptor::{Image, ImageKind, linear_pitch},
    sample::{self, Request},
    sampler::{MipFilter, Sampler},
};

impl Image {
    /// How many levels instructions see.
    pub fn levels(&self) -> u32 {
        u32::from(self.last_level - self.first_level) + 1
    }

    /// A level of those that instructions see, as an image of its own. There must be that many.
    pub fn level(&self, level: u32) -> Self {
        self.in_memory(u32::from(self.first_level) + level)
    }

    /// A level of those in memory, as an image of its own.
    pub fn in_memory(&self, level: u32) -> Self {
        let mut image = Self {
            first_level: 0,
            last_level: 0,
            ..*self
        };
        for _ in 0..level {
            image.base += image.bytes();
            image.width = half(image.width);
            image.height = half(image.height);
            if image.kind == ImageKind::D3 {
                image.depth = half(image.depth);
            }
            image.pitch = linear_pitch(image.width, image.format.size());
        }
        image
    }

    /// Bytes of the level at the base.
    pub fn bytes(&self) -> u64 {
        let rows = match self.kind {
            ImageKind::D1 | ImageKind::D1Array => 1,
            _ => u64::from(self.height),
        };
        u64::from(self.pitch) * self.format.size() as u64 * rows * u64::from(self.depth)
    }
}

fn half(extent: u32) -> u32 {
    (extent / 2).max(1)
}

/// Which levels a sample reads: the second with a weight.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Chosen {
    first: u32,
    second_weight: f32,
}

/// The level of detail as the image has it: not below its first level, and not above its last one. A NaN is the first.
pub fn within(image: &Image, lod: f32) -> f32 {
    lod.max(0.0).min((image.levels() - 1) as f32)
}

/// The levels of a level of detail, which has eight fraction bits.
fn choose(image: &Image, filter: MipFilter, lod: f32) -> Chosen {
    let fixed = (within(image, lod) * 256.0).round_ties_even() as u32;
    let (first, weight) = match filter {
        MipFilter::None => (0, 0),
        MipFilter::Point => ((fixed + 128) >> 8, 0),
        MipFilter::Linear => (fixed >> 8, fixed & 255),
    };
    Chosen {
        first,
        second_weight: weight as f32 / 256.0,
    }
}

/// The level that an operation of one level reads at a level of detail.
pub fn nearest(image: &Image, sampler: &Sampler, lod: f32) -> u32 {
    let filter = match sampler.mip_filter {
        MipFilter::Linear => MipFilter::Point,
        other => other,
    };
    choose(image, filter, lod).first
}

/// `image_sample` of an image with levels: each of them filtered, and then together. Integer formats are read at the nearest level.
pub fn sample<M: TexelMemory>(
    image: &Image,
    sampler: &Sampler,
    memory: &mut M,
    request: &Request,
    lod: f32,
) -> Result<[u32; 4], M::Error> {
    if image.format.number.is_integer() {
        let level = image.level(nearest(image, sampler, lod));
        return sample::sample(&level, sampler, memory, request);
    }
    let Chosen {
        first,
        second_weight: weight,
    } = choose(image, sampler.mip_filter, lod);
    let texel = sample::sample(&image.level(first), sampler, memory, request)?;
    if weight == 0.0 {
        return Ok(texel);
    }
    let second = sample::sample(&image.level(first + 1), sampler, memory, request)?;
    Ok(std::array::from_fn(|component| {
        let [first, second] = [texel, second].map(|texel| f32::from_bits(texel[component]));
        (first * (1.0 - weight) + second * weight).to_bits()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::{
        Clamp,
        texel::{self, tests},
    };

    /// 5 × 4 floats with levels of 2 × 2, 1 × 1 and 1 × 1. Rows have 64 texels. Texels are 100 times the level, ten times the row, and the column.
    fn chain() -> (Image, impl TexelMemory<Error = u64>) {
        let (image, _) = tests::image();
        let image = Image {
            width: 5,
            height: 4,
            pitch: 64,
            last_level: 3,
            ..image
        };
        let mut values = Vec::new();
        for (level, rows) in [4, 2, 1, 1].into_iter().enumerate() {
            for row in 0..rows {
                values.extend((0..64).map(|column| (100 * level + 10 * row + column) as f32));
            }
        }
        (image, tests::floats(&values))
    }

    fn sampler(mip_filter: MipFilter) -> Sampler {
        Sampler {
            clamp: [Clamp::LastTexel; 3],
            mip_filter,
            ..Sampler::default()
        }
    }

    fn x(result: Result<[u32; 4], u64>) -> f32 {
        f32::from_bits(result.expect("in memory")[0])
    }

    #[test]
    fn levels_follow_each_other_and_halve_their_extents() {
        let (image, mut memory) = chain();
        let extents: Vec<_> = (0..4)
            .map(|level| image.level(level))
            .map(|level| (level.width, level.height, level.depth, level.base / 256))
            .collect();
        assert_eq!(
            extents,
            [(5, 4, 1, 0), (2, 2, 1, 4), (1, 1, 1, 6), (1, 1, 1, 7)]
        );
        assert_eq!(
            x(texel::load(&image.level(1), &mut memory, [1, 1, 0])),
            111.0
        );
        assert_eq!(
            texel::load(&image.level(1), &mut memory, [2, 1, 0]),
            Ok([0; 4])
        );
        let volume = Image {
            kind: ImageKind::D3,
            depth: 6,
            ..image
        };
        assert_eq!(volume.level(1).depth, 3);
        assert_eq!(volume.level(1).base, 256 * 4 * 6);
        let layers = Image {
            kind: ImageKind::D2Array,
            depth: 6,
            ..image
        };
        assert_eq!(layers.level(2).depth, 6);
        assert_eq!(layers.level(2).base, 256 * (4 + 2) * 6);
    }

    #[test]
    fn the_first_level_of_a_view_is_level_0() {
        let (image, mut memory) = chain();
        let view = Image {
            first_level: 1,
            last_level: 2,
            ..image
        };
        assert_eq!(view.levels(), 2);
        assert_eq!(view.level(0), image.level(1));
        let sampler = sampler(MipFilter::Point);
        let mut at = |lod| {
            let request = Request::at([0.75, 0.75, 0.0]);
            x(sample(&view, &sampler, &mut memory, &request, lod))
        };
        assert_eq!(
            [at(-1.0), at(0.0), at(1.0), at(9.0)],
            [111.0, 111.0, 200.0, 200.0]
        );
    }

    #[test]
    fn the_mip_filter_chooses_or_mixes_levels() {
        let (image, mut memory) = chain();
        let mut at = |filter, lod| {
            let request = Request::at([0.0; 3]);
            x(sample(&image, &sampler(filter), &mut memory, &request, lod))
        };
        assert_eq!(at(MipFilter::None, 2.0), 0.0);
        assert_eq!(
            [0.49, 0.5, 1.49, 2.75, f32::INFINITY, f32::NAN].map(|lod| at(MipFilter::Point, lod)),
            [0.0, 100.0, 100.0, 300.0, 300.0, 0.0]
        );
        assert_eq!(
            [0.0, 0.25, 1.5, 2.75, 3.0, 7.0].map(|lod| at(MipFilter::Linear, lod)),
            [0.0, 25.0, 150.0, 275.0, 300.0, 300.0]
        );
    }

    #[test]
    fn integers_are_not_mixed() {
        let (mut image, mut memory) = chain();
        image.format.number = crate::image::Number::Uint;
        let request = Request::at([0.0; 3]);
        let sampler = sampler(MipFilter::Linear);
        let texel = sample(&image, &sampler, &mut memory, &request, 1.4).expect("in memory");
        assert_eq!(texel[0], 100.0f32.to_bits());
        assert_eq!(nearest(&image, &sampler, 1.6), 2);
    }
}
