//! Reading texels: by integer coordinates, and through a sampler.

use super::{
    TexelMemory,
    descriptor::{Clamp, Image, ImageKind, Sampler, select},
};

/// Address of a texel; `None` out of range.
pub fn texel_address(image: &Image, at: [i32; 3]) -> Option<u64> {
    let limit = |value: i32, limit: u32| u32::try_from(value).ok().filter(|value| *value < limit);
    let x = limit(at[0], image.width)?;
    let (y, z) = match image.kind {
        ImageKind::D1 => (0, 0),
        ImageKind::D1Array => (0, limit(at[1], image.depth)?),
        ImageKind::D2 => (limit(at[1], image.height)?, 0),
        ImageKind::D3 | ImageKind::Cube | ImageKind::D2Array => {
            (limit(at[1], image.height)?, limit(at[2], image.depth)?)
        }
    };
    let rows = if image.kind == ImageKind::D1Array {
        1
    } else {
        u64::from(image.height)
    };
    let texel = (u64::from(z) * rows + u64::from(y)) * u64::from(image.pitch) + u64::from(x);
    Some(image.base + texel * image.format.size() as u64)
}

/// Applies the component selectors of the descriptor.
fn swizzle(image: &Image, texel: [u32; 4]) -> [u32; 4] {
    image.select.map(|source| match source {
        select::ZERO => 0,
        select::ONE => image.format.one(),
        component => texel[usize::from(component & 3)],
    })
}

/// The bytes of a texel that `image_store` writes: each component of the format comes from the first register whose selector names it,
/// so that a load gives back what was stored. Components that no selector names are 0.
pub fn stored(image: &Image, registers: [u32; 4]) -> [u8; 16] {
    let component = |at: usize| {
        let source = image
            .select
            .iter()
            .position(|&source| usize::from(source) == usize::from(select::X) + at);
        source.map_or(0, |source| registers[source])
    };
    image.format.encode(std::array::from_fn(component))
}

/// Reads the texel at integer coordinates, without selectors; `None` out of range.
pub fn read<M: TexelMemory>(
    image: &Image,
    memory: &mut M,
    at: [i32; 3],
) -> Result<Option<[u32; 4]>, M::Error> {
    let Some(address) = texel_address(image, at) else {
        return Ok(None);
    };
    let mut bytes = [0u8; 16];
    memory.read(address, &mut bytes[..image.format.size()])?;
    Ok(Some(image.format.decode(&bytes)))
}

/// `image_load`: the texel at integer coordinates; all zero out of range.
pub fn load<M: TexelMemory>(
    image: &Image,
    memory: &mut M,
    at: [i32; 3],
) -> Result<[u32; 4], M::Error> {
    Ok(read(image, memory, at)?.map_or([0; 4], |texel| swizzle(image, texel)))
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

/// Resolves a coordinate in texels. Fixed point with eight fraction bits, as the texture unit computes.
fn axis(coordinate: f32, size: u32, clamp: Clamp, linear: bool) -> Axis {
    // NaN becomes 0; infinities saturate. Both ends keep room for the arithmetic below.
    let coordinate = f64::from(coordinate).clamp(-1.0e9, 1.0e9);
    let coordinate = if coordinate.is_nan() { 0.0 } else { coordinate };
    if !linear {
        let at = wrap(coordinate.floor() as i64, size, clamp);
        return Axis {
            texels: [at, at],
            weight: 0.0,
        };
    }
    let fixed = ((coordinate - 0.5) * 256.0).round_ties_even() as i64;
    let first = fixed >> 8;
    Axis {
        texels: [wrap(first, size, clamp), wrap(first + 1, size, clamp)],
        weight: (fixed & 255) as f32 / 256.0,
    }
}

const POINT_ZERO: Axis = Axis {
    texels: [Some(0), Some(0)],
    weight: 0.0,
};

/// The axes of a sample: x, y, z in the order of texel coordinates.
fn axes(image: &Image, sampler: &Sampler, coordinates: [f32; 3], unnormalised: bool) -> [Axis; 3] {
    let linear = sampler.linear && !image.format.number.is_integer();
    let linear_z = sampler.linear_z && !image.format.number.is_integer();
    let sizes = [image.width, image.height, image.depth];
    let mut axes = [POINT_ZERO; 3];
    let dimensions = image.kind.dimensions();
    for (dimension, axis_out) in axes.iter_mut().enumerate().take(dimensions) {
        let size = sizes[dimension];
        let mut coordinate = coordinates[dimension];
        let mut clamp = sampler.clamp[dimension];
        if image.kind == ImageKind::Cube {
            // The shader gives face coordinates in 1..2, and faces are sampled on their own, to their edges.
            coordinate -= 1.0;
            clamp = Clamp::LastTexel;
        }
        if !unnormalised {
            coordinate *= size as f32;
        }
        *axis_out = axis(
            coordinate,
            size,
            clamp,
            if dimension == 2 { linear_z } else { linear },
        );
    }
    if dimensions < image.kind.coordinates() {
        let layer = f64::from(coordinates[dimensions])
            .round_ties_even()
            .clamp(0.0, f64::from(image.depth - 1));
        let layer = Some(if layer.is_nan() { 0 } else { layer as i32 });
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

fn fetch<M: TexelMemory>(
    image: &Image,
    sampler: &Sampler,
    memory: &mut M,
    at: [Option<i32>; 3],
) -> Result<[u32; 4], M::Error> {
    let [Some(x), Some(y), Some(z)] = at else {
        return Ok(border(image, sampler));
    };
    Ok(read(image, memory, [x, y, z])?.unwrap_or_else(|| border(image, sampler)))
}

/// `image_sample` at level 0: filtered and swizzled. Integer formats are read at the nearest texel.
///
/// `unnormalised` is the instruction's or the sampler's wish; the other argument is the sampler's.
pub fn sample<M: TexelMemory>(
    image: &Image,
    sampler: &Sampler,
    memory: &mut M,
    coordinates: [f32; 3],
    unnormalised: bool,
) -> Result<[u32; 4], M::Error> {
    let axes = axes(
        image,
        sampler,
        coordinates,
        unnormalised || sampler.unnormalised,
    );
    if axes.iter().all(|axis| axis.weight == 0.0) {
        let texel = fetch(image, sampler, memory, axes.map(|axis| axis.texels[0]))?;
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
            let texel = fetch(image, sampler, memory, at)?;
            for (sum, component) in sum.iter_mut().zip(texel) {
                *sum += weight * f32::from_bits(component);
            }
        }
    }
    Ok(swizzle(image, sum.map(f32::to_bits)))
}

/// `image_gather4` at level 0: component `component` of the four texels that a bilinear filter would use, in the order
/// (0,1), (1,1), (1,0), (0,0).
pub fn gather4<M: TexelMemory>(
    image: &Image,
    sampler: &Sampler,
    memory: &mut M,
    coordinates: [f32; 3],
    unnormalised: bool,
    component: usize,
) -> Result<[u32; 4], M::Error> {
    let footprint = Sampler {
        linear: true,
        ..*sampler
    };
    let mut float_image = *image;
    float_image.format.number = super::Number::Float;
    let axes = axes(
        &float_image,
        &footprint,
        coordinates,
        unnormalised || sampler.unnormalised,
    );
    let mut out = [0; 4];
    for (out, (x, y)) in out.iter_mut().zip([(0, 1), (1, 1), (1, 0), (0, 0)]) {
        let texel = fetch(
            image,
            sampler,
            memory,
            [axes[0].texels[x], axes[1].texels[y], axes[2].texels[0]],
        )?;
        *out = swizzle(image, texel)[component];
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::{Number, TexelFormat};

    struct Bytes(Vec<u8>);

    impl TexelMemory for Bytes {
        type Error = u64;

        fn read(&mut self, address: u64, out: &mut [u8]) -> Result<(), u64> {
            let at = address as usize;
            out.copy_from_slice(self.0.get(at..at + out.len()).ok_or(address)?);
            Ok(())
        }
    }

    /// 4 × 2 floats: 0 1 2 3 / 10 11 12 13, pitch 5.
    fn image() -> (Image, Bytes) {
        let image = Image {
            base: 0,
            kind: ImageKind::D2,
            width: 4,
            height: 2,
            depth: 1,
            pitch: 5,
            format: TexelFormat {
                bits: [32, 0, 0, 0],
                number: Number::Float,
            },
            select: [4, 0, 0, 1],
        };
        let values = [
            0.0f32,
            1.0,
            2.0,
            3.0,
            f32::NAN,
            10.0,
            11.0,
            12.0,
            13.0,
            f32::NAN,
        ];
        (
            image,
            Bytes(
                values
                    .iter()
                    .flat_map(|value| value.to_le_bytes())
                    .collect(),
            ),
        )
    }

    fn sampler(clamp: Clamp, linear: bool) -> Sampler {
        Sampler {
            clamp: [clamp; 3],
            unnormalised: false,
            linear,
            linear_z: linear,
            border: 0,
        }
    }

    fn x(result: Result<[u32; 4], u64>) -> f32 {
        f32::from_bits(result.expect("in memory")[0])
    }

    #[test]
    fn loads_read_texels_and_give_zero_out_of_range() {
        let (image, mut memory) = image();
        assert_eq!(
            load(&image, &mut memory, [2, 1, 0]),
            Ok([12.0f32.to_bits(), 0, 0, 1.0f32.to_bits()])
        );
        assert_eq!(load(&image, &mut memory, [4, 0, 0]), Ok([0; 4]));
        assert_eq!(load(&image, &mut memory, [-1, 0, 0]), Ok([0; 4]));
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
                [0.49, 0.0, 0.0],
                false
            )),
            1.0
        );
        assert_eq!(
            x(sample(
                &image,
                &sampler,
                &mut memory,
                [0.5, 0.5, 0.0],
                false
            )),
            12.0
        );
        assert_eq!(
            x(sample(&image, &sampler, &mut memory, [3.9, 1.0, 0.0], true)),
            13.0
        );
        assert_eq!(
            x(sample(
                &image,
                &sampler,
                &mut memory,
                [7.0, -3.0, 0.0],
                true
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
                [coordinate, 0.0, 0.0],
                true,
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
    fn bilinear_weights_are_distances_between_texel_centres() {
        let (image, mut memory) = image();
        let sampler = sampler(Clamp::LastTexel, true);
        assert_eq!(
            x(sample(&image, &sampler, &mut memory, [1.5, 0.5, 0.0], true)),
            1.0
        );
        assert_eq!(
            x(sample(
                &image,
                &sampler,
                &mut memory,
                [1.75, 0.5, 0.0],
                true
            )),
            1.25
        );
        assert_eq!(
            x(sample(&image, &sampler, &mut memory, [2.0, 1.0, 0.0], true)),
            6.5
        );
    }

    #[test]
    fn gather_gives_the_footprint_counter_clockwise_from_the_lower_left() {
        let (image, mut memory) = image();
        let sampler = sampler(Clamp::LastTexel, false);
        let texels =
            gather4(&image, &sampler, &mut memory, [2.0, 1.0, 0.0], true, 0).expect("in memory");
        assert_eq!(texels.map(f32::from_bits), [11.0, 12.0, 2.0, 1.0]);
    }

    #[test]
    fn stores_undo_the_component_selectors() {
        let (mut image, _) = image();
        image.format = TexelFormat {
            bits: [8, 8, 8, 8],
            number: Number::Uint,
        };
        // B, G, R, A in memory.
        image.select = [6, 5, 4, 7];
        assert_eq!(stored(&image, [1, 2, 3, 4])[..4], [3, 2, 1, 4]);
        // One alpha.
        image.format.bits = [8, 0, 0, 0];
        image.select = [0, 0, 0, 4];
        assert_eq!(stored(&image, [1, 2, 3, 4])[0], 4);
    }

    #[test]
    fn a_fault_of_the_memory_is_passed_on() {
        let (mut image, mut memory) = image();
        image.base = 4096;
        assert_eq!(load(&image, &mut memory, [1, 0, 0]), Err(4100));
    }
}
