//! Reading texels through a sampler: addressing, filtering, comparison, gathers.

use super::{
    TexelMemory,
    descriptor::{Image, ImageKind},
    format::{Number, nearest},
    sampler::{Clamp, Sampler},
    texel::{read, swizzle},
};

/// What a sample asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// Coordinates, the layer or face last.
    pub position: [f32; 3],
    /// The instruction says that they are in texels.
    pub unnormalised: bool,
    /// What is added to the texel position along each dimension.
    pub offset: [i32; 3],
    /// What x of each texel is compared with: 1 where the sampler's comparison holds, else 0.
    pub compare: Option<f32>,
    /// The sampler's filter for minified images rather than that for magnified ones.
    pub minified: bool,
}

impl Request {
    /// A plain sample.
    pub fn at(position: [f32; 3]) -> Self {
        Self {
            position,
            unnormalised: false,
            offset: [0; 3],
            compare: None,
            minified: false,
        }
    }
}

/// One coordinate resolved: two texel positions (equal for point sampling; `None` is the border) and the weight of the second.
#[derive(Clone, Copy)]
struct Axis {
    texels: [Option<i32>; 2],
    weight: f32,
}

fn wrap(position: i64, size: u32, clamp: Clamp) -> Option<i32> {
    let size = i64::from(size);
    let resolved = match clamp {
        Clamp::Wrap => position.rem_euclid(size),
        Clamp::Mirror => {
            let at = position.rem_euclid(2 * size);
            if at < size { at } else { 2 * size - 1 - at }
        }
        Clamp::MirrorOnce => (if position < 0 {
            -1 - position
        } else {
            position
        })
        .min(size - 1),
        Clamp::LastTexel => position.clamp(0, size - 1),
        Clamp::Border if (0..size).contains(&position) => position,
        Clamp::Border => return None,
    };
    i32::try_from(resolved).ok()
}

/// Resolves a coordinate in texels. Fixed point with eight fraction bits, as the texture unit computes, for point sampling, too: the device
/// libraries divide a whole number of texels by the size of the image, and rely on its rounding for the way back.
fn axis(coordinate: f32, offset: i32, size: u32, clamp: Clamp, linear: bool) -> Axis {
    // NaN becomes 0; infinities saturate. Both ends keep room for the arithmetic below.
    let coordinate = f64::from(coordinate).clamp(-1.0e9, 1.0e9);
    let coordinate = if coordinate.is_nan() { 0.0 } else { coordinate };
    let offset = i64::from(offset);
    let fixed = |coordinate: f64| nearest(coordinate * 256.0);
    if !linear {
        let at = wrap((fixed(coordinate) >> 8) + offset, size, clamp);
        return Axis {
            texels: [at, at],
            weight: 0.0,
        };
    }
    let fixed = fixed(coordinate - 0.5);
    let first = (fixed >> 8) + offset;
    Axis {
        texels: [wrap(first, size, clamp), wrap(first + 1, size, clamp)],
        weight: (fixed & 255) as f32 / 256.0,
    }
}

const POINT_ZERO: Axis = Axis {
    texels: [Some(0), Some(0)],
    weight: 0.0,
};

/// Where a face begins. The ISA documents have coordinates in faces from 1 to 2, which an addition of 1.5 gives; ROCm's device library adds 0.5 and
/// has them from 0 to 1.
fn face_origin(request: &Request) -> f32 {
    let [x, y, _] = request.position;
    if x.max(y) > 1.0 { 1.0 } else { 0.0 }
}

/// The axes of a sample: x, y, z in the order of texel coordinates. `linear` is the filter in the plane and between slices.
fn axes(image: &Image, sampler: &Sampler, request: &Request, linear: [bool; 2]) -> [Axis; 3] {
    let unnormalised = request.unnormalised || sampler.unnormalised;
    let sizes = [image.width, image.height, image.depth];
    let mut axes = [POINT_ZERO; 3];
    let dimensions = image.kind.dimensions();
    let cube = image.kind == ImageKind::Cube;
    let face_origin = if cube { face_origin(request) } else { 0.0 };
    for (dimension, axis_out) in axes.iter_mut().enumerate().take(dimensions) {
        let size = sizes[dimension];
        let mut coordinate = request.position[dimension];
        let mut clamp = sampler.clamp[dimension];
        if cube {
            // Faces are sampled on their own, to their edges.
            coordinate -= face_origin;
            clamp = Clamp::LastTexel;
        }
        if !unnormalised {
            coordinate *= size as f32;
        }
        let linear = linear[usize::from(dimension == 2)];
        *axis_out = axis(coordinate, request.offset[dimension], size, clamp, linear);
    }
    if dimensions < image.kind.coordinates() {
        // Conversion saturates, and makes 0 of a NaN.
        let mut layer = request.position[dimensions].round_ties_even() as u32;
        if cube {
            // Eight times the layer and the face.
            layer = (layer >> 3) * 6 + (layer & 7).min(5);
        }
        let layer = Some(layer.min(image.depth - 1).cast_signed());
        axes[dimensions] = Axis {
            texels: [layer, layer],
            weight: 0.0,
        };
    }
    axes
}

fn border(image: &Image, sampler: &Sampler) -> [u32; 4] {
    let one = image.format.one();
    match sampler.border {
        1 => [0, 0, 0, one],
        2 => [one; 4],
        _ => [0; 4],
    }
}

/// A texel or the border, compared if the request says so: the components before selectors.
fn fetch<M: TexelMemory>(
    image: &Image,
    sampler: &Sampler,
    request: &Request,
    memory: &mut M,
    at: [Option<i32>; 3],
) -> Result<[u32; 4], M::Error> {
    let texel = match at {
        [Some(x), Some(y), Some(z)] => read(image, memory, [x, y, z])?,
        _ => None,
    };
    let mut texel = texel.unwrap_or_else(|| border(image, sampler));
    if let Some(reference) = request.compare {
        // Depths between 0 and 1 are compared with values between 0 and 1.
        let reference = match image.format.number {
            Number::Unorm => reference.clamp(0.0, 1.0),
            _ => reference,
        };
        let holds = sampler.compare.holds(reference, f32::from_bits(texel[0]));
        texel[0] = f32::from(u8::from(holds)).to_bits();
    }
    Ok(texel)
}

/// `image_sample` of an image of one level: filtered and swizzled. Integer formats are read at the nearest texel.
pub fn sample<M: TexelMemory>(
    image: &Image,
    sampler: &Sampler,
    memory: &mut M,
    request: &Request,
) -> Result<[u32; 4], M::Error> {
    let linear = if request.minified {
        sampler.linear_minified
    } else {
        sampler.linear
    };
    let integer = image.format.number.is_integer();
    let linear = [linear, sampler.linear_z].map(|linear| linear && !integer);
    let axes = axes(image, sampler, request, linear);
    if axes.iter().all(|axis| axis.weight == 0.0) {
        let at = axes.map(|axis| axis.texels[0]);
        let texel = fetch(image, sampler, request, memory, at)?;
        return Ok(swizzle(image, texel));
    }
    let mut sum = [0.0f32; 4];
    for corner in 0..8usize {
        let pick = [corner & 1, corner >> 1 & 1, corner >> 2];
        let mut weight = 1.0;
        let mut at = [None; 3];
        for (dimension, axis) in axes.iter().enumerate() {
            weight *= if pick[dimension] == 1 {
                axis.weight
            } else {
                1.0 - axis.weight
            };
            at[dimension] = axis.texels[pick[dimension]];
        }
        if weight != 0.0 {
            let texel = fetch(image, sampler, request, memory, at)?;
            for (sum, component) in sum.iter_mut().zip(texel) {
                *sum += weight * f32::from_bits(component);
            }
        }
    }
    Ok(swizzle(image, sum.map(f32::to_bits)))
}

/// `image_gather4` of an image of one level: component `component` of the four texels that a bilinear filter would use, in the order
/// (0,1), (1,1), (1,0), (0,0).
pub fn gather4<M: TexelMemory>(
    image: &Image,
    sampler: &Sampler,
    memory: &mut M,
    request: &Request,
    component: usize,
) -> Result<[u32; 4], M::Error> {
    let axes = axes(image, sampler, request, [true, false]);
    let mut out = [0; 4];
    for (out, (x, y)) in out.iter_mut().zip([(0, 1), (1, 1), (1, 0), (0, 0)]) {
        let at = [axes[0].texels[x], axes[1].texels[y], axes[2].texels[0]];
        let texel = fetch(image, sampler, request, memory, at)?;
        *out = swizzle(image, texel)[component];
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::{Compare, texel::tests::image};

    fn sampler(clamp: Clamp, linear: bool) -> Sampler {
        Sampler {
            clamp: [clamp; 3],
            linear,
            linear_z: linear,
            ..Sampler::default()
        }
    }

    fn texels(position: [f32; 3]) -> Request {
        Request {
            unnormalised: true,
            ..Request::at(position)
        }
    }

    fn x(result: Result<[u32; 4], u64>) -> f32 {
        f32::from_bits(result.expect("in memory")[0])
    }

    #[test]
    fn point_samples_take_the_texel_that_holds_the_coordinate() {
        let (image, mut memory) = image();
        let sampler = sampler(Clamp::LastTexel, false);
        assert_eq!(
            x(sample(
                &image,
                &sampler,
                &mut memory,
                &Request::at([0.49, 0.0, 0.0])
            )),
            1.0
        );
        assert_eq!(
            x(sample(
                &image,
                &sampler,
                &mut memory,
                &Request::at([0.5, 0.5, 0.0])
            )),
            12.0
        );
        assert_eq!(
            x(sample(
                &image,
                &sampler,
                &mut memory,
                &texels([3.9, 1.0, 0.0])
            )),
            13.0
        );
        assert_eq!(
            x(sample(
                &image,
                &sampler,
                &mut memory,
                &texels([7.0, -3.0, 0.0])
            )),
            3.0
        );
    }

    #[test]
    fn addressing_modes_resolve_coordinates_out_of_range() {
        let (image, mut memory) = image();
        let mut at = |clamp, coordinate: f32| {
            x(sample(
                &image,
                &sampler(clamp, false),
                &mut memory,
                &texels([coordinate, 0.0, 0.0]),
            ))
        };
        assert_eq!([at(Clamp::Wrap, 5.5), at(Clamp::Wrap, -0.5)], [1.0, 3.0]);
        assert_eq!(
            [at(Clamp::Mirror, 4.5), at(Clamp::Mirror, -1.5)],
            [3.0, 1.0]
        );
        assert_eq!(
            [at(Clamp::MirrorOnce, -1.5), at(Clamp::MirrorOnce, 9.0)],
            [1.0, 3.0]
        );
        assert_eq!([at(Clamp::Border, 4.5), at(Clamp::Border, 3.5)], [0.0, 3.0]);
    }

    #[test]
    fn whole_texels_stay_whole_through_a_division_by_the_size() {
        for size in 1..300_u32 {
            for texel in -600_i32..600 {
                let coordinate = texel as f32 * (1.0 / size as f32) * size as f32;
                let axis = axis(coordinate, 0, size, Clamp::Wrap, false);
                assert_eq!(
                    axis.texels[0],
                    Some(texel.rem_euclid(size as i32)),
                    "{texel} of {size}"
                );
            }
        }
    }

    #[test]
    fn bilinear_weights_are_distances_between_texel_centres() {
        let (image, mut memory) = image();
        let sampler = sampler(Clamp::LastTexel, true);
        assert_eq!(
            x(sample(
                &image,
                &sampler,
                &mut memory,
                &texels([1.5, 0.5, 0.0])
            )),
            1.0
        );
        assert_eq!(
            x(sample(
                &image,
                &sampler,
                &mut memory,
                &texels([1.75, 0.5, 0.0])
            )),
            1.25
        );
        assert_eq!(
            x(sample(
                &image,
                &sampler,
                &mut memory,
                &texels([2.0, 1.0, 0.0])
            )),
            6.5
        );
    }

    #[test]
    fn gather_gives_the_footprint_counter_clockwise_from_the_lower_left() {
        let (image, mut memory) = image();
        let sampler = sampler(Clamp::LastTexel, false);
        let texels =
            gather4(&image, &sampler, &mut memory, &texels([2.0, 1.0, 0.0]), 0).expect("in memory");
        assert_eq!(texels.map(f32::from_bits), [11.0, 12.0, 2.0, 1.0]);
    }

    #[test]
    fn offsets_move_the_footprint_before_addressing() {
        let (image, mut memory) = image();
        let mut at = |clamp, linear, position: [f32; 3], offset| {
            let request = Request {
                offset,
                ..texels(position)
            };
            let sampler = sampler(clamp, linear);
            x(sample(&image, &sampler, &mut memory, &request))
        };
        assert_eq!(at(Clamp::Wrap, false, [3.5, 0.5, 0.0], [2, 1, 0]), 11.0);
        assert_eq!(at(Clamp::Wrap, false, [0.5, 0.5, 0.0], [-1, 0, 0]), 3.0);
        assert_eq!(at(Clamp::LastTexel, true, [1.0, 0.5, 0.0], [1, 0, 0]), 1.5);
        assert_eq!(at(Clamp::Border, false, [3.5, 0.5, 0.0], [1, 0, 0]), 0.0);
    }

    #[test]
    fn comparisons_come_before_the_filter() {
        let (image, mut memory) = image();
        let sampler = Sampler {
            compare: Compare::Less,
            ..sampler(Clamp::LastTexel, true)
        };
        let mut at = |position, reference| {
            let request = Request {
                compare: Some(reference),
                ..texels(position)
            };
            x(sample(&image, &sampler, &mut memory, &request))
        };
        // Between 1 and 2, a quarter of the way: 1.5 is less than the second only.
        assert_eq!(at([1.75, 0.5, 0.0], 1.5), 0.25);
        assert_eq!(at([1.75, 0.5, 0.0], 0.5), 1.0);
        assert_eq!(at([1.75, 0.5, 0.0], 2.5), 0.0);
        let request = Request {
            compare: Some(1.5),
            ..texels([2.0, 1.0, 0.0])
        };
        let texels = gather4(&image, &sampler, &mut memory, &request, 0).expect("in memory");
        assert_eq!(texels.map(f32::from_bits), [1.0, 1.0, 1.0, 0.0]);
    }

    #[test]
    fn faces_are_sampled_to_their_edges() {
        // Two layers of six faces of 2 × 2 texels: ten times the slice, and the texel.
        let values: Vec<f32> = (0..12)
            .flat_map(|slice| (0..4).map(move |texel| (10 * slice + texel) as f32))
            .collect();
        let (mut image, _) = image();
        image.kind = ImageKind::Cube;
        (image.width, image.height, image.depth, image.pitch) = (2, 2, 12, 2);
        let mut memory = crate::image::texel::tests::floats(&values);
        let point = sampler(Clamp::Wrap, false);
        let mut at = |sampler: &Sampler, position| {
            x(sample(&image, sampler, &mut memory, &Request::at(position)))
        };
        // Both ranges of coordinates, and both ends of a face.
        for origin in [0.0f32, 1.0] {
            let position = |x: f32, y: f32, face| [origin + x, origin + y, face];
            assert_eq!(at(&point, position(0.25, 0.75, 3.0)), 32.0);
            assert_eq!(at(&point, position(0.75, 0.25, 5.0)), 51.0);
            assert_eq!(at(&point, position(0.75, 1.0, 0.0)), 3.0);
            assert_eq!(at(&point, position(0.0, 0.75, 0.0)), 2.0);
        }
        // Eight more for each layer.
        assert_eq!(at(&point, [0.25, 0.25, 8.0]), 60.0);
        assert_eq!(at(&point, [1.75, 1.75, 13.0]), 113.0);
        let linear = sampler(Clamp::Wrap, true);
        assert_eq!(at(&linear, [1.5, 1.25, 1.0]), 10.5);
        assert_eq!(at(&linear, [0.5, 0.5, 1.0]), 11.5);
        assert_eq!(at(&linear, [0.0, 0.25, 1.0]), 10.0);
    }

    #[test]
    fn minified_images_have_a_filter_of_their_own() {
        let (image, mut memory) = image();
        let sampler = Sampler {
            linear_minified: true,
            ..sampler(Clamp::LastTexel, false)
        };
        let mut at = |minified| {
            let request = Request {
                minified,
                ..texels([1.75, 0.5, 0.0])
            };
            x(sample(&image, &sampler, &mut memory, &request))
        };
        assert_eq!([at(false), at(true)], [1.0, 1.25]);
    }
}
