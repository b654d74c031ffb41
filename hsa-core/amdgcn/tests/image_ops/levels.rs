//! Mipmapped images: which level an instruction reads and writes.

use gneiss_amdgcn::image::{Image, MipFilter, Sampler};

use crate::setup::*;

/// 4 × 2 floats with levels of 2 × 1 and 1 × 1.
fn chain() -> Image {
    Image {
        last_level: 2,
        ..plane(float())
    }
}

/// Its rows, of 256 bytes: 100 times the level, ten times the row, and the column.
fn contents() -> Vec<u32> {
    [(0, 0), (0, 1), (1, 0), (2, 0)]
        .into_iter()
        .flat_map(|(level, y)| (0..64).map(move |x| ((100 * level + 10 * y + x) as f32).to_bits()))
        .collect()
}

#[test]
fn loads_and_stores_name_their_level() {
    let f = f32::to_bits;
    for target in TARGETS {
        let rest = format!("dmask:0x1 {}", dimension(target, "2D"));
        let mut code = String::new();
        for level in 0..4 {
            code += &set(ADDRESS, &[0, 0, level]);
            code += &keeping(target, "image_load_mip", 3, 1, &rest);
        }
        // Level 1 ends after two texels.
        code += &set(ADDRESS, &[2, 0, 1]);
        code += &keeping(target, "image_load_mip", 3, 1, &rest);
        for (x, level) in [(1, 1), (0, 2), (0, 3), (2, 1)] {
            code += &set(ADDRESS, &[x, 0, level]);
            code += &set(DATA, &[f(5.0 + level as f32)]);
            code += &instruction(target, "image_store_mip", 3, 1, &rest);
        }
        for level in [1, 3] {
            code += &set(ADDRESS, &[level]);
            let rest = format!("dmask:0xf {}", dimension(target, "2D"));
            code += &keeping(target, "image_get_resinfo", 1, 4, &rest);
        }
        let Some(ran) = run(target, &chain(), &sampler(), &contents(), 1, 7, &code) else {
            return;
        };
        let loaded: Vec<f32> = ran.kept[..5].iter().map(|k| f32::from_bits(k[0])).collect();
        assert_eq!(loaded, [0.0, 100.0, 200.0, 0.0, 0.0], "{target}");
        assert_eq!(ran.kept[5][..4], [2, 1, 1, 3], "{target}");
        assert_eq!(ran.kept[6][..4], [0, 0, 0, 3], "{target}");
        let texel = |row: usize, x: usize| {
            let at = 256 * row + 4 * x;
            let bytes = ran.texels[at..at + 4].try_into().expect("four bytes");
            f32::from_bits(u32::from_le_bytes(bytes))
        };
        assert_eq!([texel(2, 0), texel(2, 1), texel(2, 2)], [100.0, 6.0, 102.0]);
        assert_eq!([texel(3, 0), texel(3, 1)], [7.0, 201.0]);
    }
}

#[test]
fn a_view_of_later_levels_begins_at_level_0() {
    for target in TARGETS {
        let view = Image {
            first_level: 1,
            ..chain()
        };
        let rest = format!("dmask:0x1 {}", dimension(target, "2D"));
        let mut code = set(ADDRESS, &[1, 0]);
        code += &keeping(target, "image_load", 2, 1, &rest);
        for level in [1, 2] {
            code += &set(ADDRESS, &[0, 0, level]);
            code += &keeping(target, "image_load_mip", 3, 1, &rest);
        }
        let Some(ran) = run(target, &view, &sampler(), &contents(), 1, 3, &code) else {
            return;
        };
        let loaded: Vec<f32> = ran.kept.iter().map(|k| f32::from_bits(k[0])).collect();
        assert_eq!(loaded, [101.0, 200.0, 0.0], "{target}");
    }
}

#[test]
fn samples_mix_levels_by_the_level_of_detail() {
    let f = f32::to_bits;
    for target in TARGETS {
        let known = operations(target, "image_sample");
        if !known.iter().any(|op| op.name() == "image_sample_l") {
            assert_eq!(target, "gfx90a");
            continue;
        }
        let sampler = Sampler {
            mip_filter: MipFilter::Linear,
            lod: [0.0, 1.75],
            linear: false,
            ..sampler()
        };
        let rest = format!("dmask:0x1 {}", dimension(target, "2D"));
        let mut code = String::new();
        for lod in [0.0, 0.25, 1.5, 5.0] {
            code += &set(ADDRESS, &[f(0.0), f(0.0), f(lod)]);
            code += &keeping(target, "image_sample_l", 3, 1, &rest);
        }
        // Two texels of level 0 from one sample to the next along x.
        code += &set(ADDRESS, &[f(0.5), f(0.0), f(0.0), f(0.0), f(0.9), f(0.0)]);
        code += &keeping(target, "image_sample_d", 6, 1, &rest);
        // The first level without a look at the derivatives.
        code += &set(ADDRESS, &[f(0.9), f(0.9)]);
        code += &keeping(target, "image_sample_lz", 2, 1, &rest);
        let Some(ran) = run(target, &chain(), &sampler, &contents(), 1, 6, &code) else {
            return;
        };
        let sampled: Vec<f32> = ran.kept.iter().map(|k| f32::from_bits(k[0])).collect();
        assert_eq!(sampled, [0.0, 25.0, 150.0, 175.0, 101.0, 13.0], "{target}");
    }
}
