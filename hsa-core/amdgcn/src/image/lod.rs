//! The level of detail of a sample: from derivatives or given, with bias and limits.
//!
//! It decides which of the sampler's two filters is used and which levels are read, and is what `image_get_lod` tells.

use super::{descriptor::Image, sampler::Sampler};

/// Where a level of detail comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// The instruction has it.
    Given(f32),
    /// Derivatives of the coordinates along x and along y of the screen.
    Derivatives([[f32; 3]; 2]),
}

/// A level of detail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lod {
    /// Before limits.
    pub raw: f32,
    /// Within the limits of sampler and instruction.
    pub limited: f32,
}

impl Lod {
    /// The level of detail of a sample. `bias` is the instruction's and `least` its lower limit.
    pub fn of(
        image: &Image,
        sampler: &Sampler,
        unnormalised: bool,
        source: Source,
        bias: f32,
        least: f32,
    ) -> Self {
        let base = match source {
            Source::Given(lod) => lod,
            Source::Derivatives(derivatives) => {
                let sizes = [image.width, image.height, image.depth];
                let length = |derivative: [f32; 3]| {
                    let sum: f32 = derivative
                        .into_iter()
                        .zip(sizes)
                        .take(image.kind.dimensions())
                        .map(|(value, size)| {
                            let texels = if unnormalised { 1.0 } else { size as f32 };
                            (value * texels).powi(2)
                        })
                        .sum();
                    sum.sqrt()
                };
                derivatives
                    .map(length)
                    .into_iter()
                    .fold(0.0, f32::max)
                    .log2()
            }
        };
        let raw = base + bias + sampler.lod_bias;
        let [low, high] = sampler.lod;
        // The lower limit gives way, and a NaN is the lower limit.
        let limited = raw.max(low).max(least).min(high);
        Self { raw, limited }
    }

    /// Whether several texels of the image fall on one sample, so that the filter for minified images is used.
    pub fn minified(self) -> bool {
        self.limited > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::texel::tests::image;

    fn lod(source: Source, bias: f32, least: f32) -> Lod {
        // 4 × 2 texels.
        let (image, _) = image();
        let sampler = Sampler {
            lod: [-1.0, 3.0],
            ..Sampler::default()
        };
        Lod::of(&image, &sampler, false, source, bias, least)
    }

    #[test]
    fn the_longer_derivative_in_texels_decides() {
        // 0.5 · 4 texels along x, 4 · 2 along y: log2 8.
        let derivatives = Source::Derivatives([[0.5, 0.0, 9.0], [0.0, 4.0, 9.0]]);
        assert_eq!(lod(derivatives, 0.0, -9.0).raw, 3.0);
        let diagonal = Source::Derivatives([[0.75, 2.0, 0.0], [0.0, 0.0, 0.0]]);
        assert_eq!(lod(diagonal, 0.0, -9.0).raw, 5.0f32.log2());
        let none = lod(Source::Derivatives([[0.0; 3]; 2]), 0.0, -9.0);
        assert_eq!(none.raw, f32::NEG_INFINITY);
        assert_eq!(none.limited, -1.0);
        assert!(!none.minified());
    }

    #[test]
    fn bias_counts_and_limits_hold() {
        assert_eq!(lod(Source::Given(1.5), 0.25, -9.0).limited, 1.75);
        assert_eq!(lod(Source::Given(1.5), 4.0, -9.0).limited, 3.0);
        assert_eq!(lod(Source::Given(1.5), 4.0, -9.0).raw, 5.5);
        assert_eq!(lod(Source::Given(1.5), 0.0, 2.0).limited, 2.0);
        assert_eq!(lod(Source::Given(1.5), 0.0, 9.0).limited, 3.0);
        assert_eq!(lod(Source::Given(f32::NAN), 0.0, -9.0).limited, -1.0);
        assert!(lod(Source::Given(1.5), 0.0, -9.0).minified());
    }
}
