//! Samples, gathers, and the level of detail.

use gneiss_amdgcn::isa::image::{ImageAddress, LevelOperand};

use crate::setup::*;

/// Packs halves, or gives dwords.
fn packed(values: &[f32], half: bool) -> Vec<u32> {
    let half_of = |value: f32| u32::from(half::f16::from_f32(value).to_bits());
    if half {
        values
            .chunks(2)
            .map(|pair| half_of(pair[0]) | half_of(*pair.get(1).unwrap_or(&0.0)) << 16)
            .collect()
    } else {
        values.iter().map(|value| value.to_bits()).collect()
    }
}

/// The address registers of a sample at x = 13/32, y = 1/2, one texel to the right if the operation has an offset, of depth 11.5, with
/// derivatives of a whole image along x, LOD 1 and a lower limit of 0.5.
fn sample_address(parts: &ImageAddress, half: bool, half_gradients: bool) -> Vec<u32> {
    let mut address = Vec::new();
    if parts.offset {
        address.push(1);
    }
    if parts.bias {
        address.extend(packed(&[3.0], half));
    }
    if parts.compare {
        address.push(11.5f32.to_bits());
    }
    if parts.gradients {
        for direction in [[1.0, 0.0], [0.0, 0.0]] {
            address.extend(packed(&direction, half_gradients));
        }
    }
    let mut coordinates = vec![13.0 / 32.0, 0.5];
    match parts.level {
        Some(LevelOperand::Lod) => coordinates.push(1.0),
        Some(LevelOperand::Clamp) => coordinates.push(0.5),
        _ => {}
    }
    address.extend(packed(&coordinates, half));
    address
}

/// Whether such a sample minifies: with a level above 0. Alone in its quad, a lane has no derivatives but those that it brings.
fn minifies(parts: &ImageAddress) -> bool {
    parts.level.is_some() || parts.gradients
}

/// x of such a sample. 4 · 13/32 − 1/2 = 1 1/8, 2 · 1/2 − 1/2 = 1/2.
fn sample_value(parts: &ImageAddress) -> f32 {
    let first = if parts.offset { 2.0 } else { 1.0 };
    let less = |depth: f32| if 11.5 < depth { 1.0 } else { 0.0 };
    let texel = |depth| if parts.compare { less(depth) } else { depth };
    if minifies(parts) {
        // The texel that holds (1 5/8, 1).
        return texel(first + 10.0);
    }
    let row = |y: f32| 0.875 * texel(first + 10.0 * y) + 0.125 * texel(first + 1.0 + 10.0 * y);
    0.5 * row(0.0) + 0.5 * row(1.0)
}

#[test]
fn every_sample_has_its_operands_where_its_name_says() {
    for target in TARGETS {
        let operations = operations(target, "image_sample");
        for half in [false, true] {
            // GFX9 packs derivatives with coordinates.
            let packs = half && ["gfx900", "gfx90a"].contains(&target);
            let mut code = String::new();
            let mut expected = Vec::new();
            for op in &operations {
                let parts = ImageAddress::of(*op);
                let address = sample_address(&parts, half, packs || parts.half_gradients);
                let rest = format!(
                    "dmask:0x3 {}{}",
                    dimension(target, "2D"),
                    if half { " a16" } else { "" }
                );
                code += &set(ADDRESS, &address);
                code += &set(DATA, &[7; 5]);
                code += &keeping(target, op.name(), address.len() as u32, 2, &rest);
                expected.push((op.name(), sample_value(&parts)));
            }
            let Some(ran) = run_on_ramp(target, 1, operations.len(), &code) else {
                return;
            };
            for (kept, (name, value)) in ran.kept.iter().zip(&expected) {
                // y of a format with one component is 0; the registers after it stay.
                let want = [value.to_bits(), 0, 7, 7, 7];
                assert_eq!(*kept, want, "{target} {name} a16: {half}");
            }
            assert_eq!(ran.kept.len(), expected.len());
        }
    }
}

#[test]
fn every_gather_gives_the_footprint_of_a_filter() {
    for target in TARGETS {
        let operations = operations(target, "image_gather4");
        if operations.is_empty() {
            assert_eq!(target, "gfx90a");
            continue;
        }
        let mut code = String::new();
        for op in &operations {
            let address = sample_address(&ImageAddress::of(*op), false, false);
            let rest = format!("dmask:0x1 {}", dimension(target, "2D"));
            code += &set(ADDRESS, &address);
            code += &keeping(target, op.name(), address.len() as u32, 4, &rest);
        }
        let Some(ran) = run_on_ramp(target, 1, operations.len(), &code) else {
            return;
        };
        for (kept, op) in ran.kept.iter().zip(&operations) {
            let parts = ImageAddress::of(*op);
            let first = if parts.offset { 2.0 } else { 1.0 };
            let texels = [first + 10.0, first + 11.0, first + 1.0, first];
            let want = texels.map(|depth: f32| match parts.compare {
                true => f32::from(u8::from(11.5 < depth)).to_bits(),
                false => depth.to_bits(),
            });
            assert_eq!(kept[..4], want, "{target} {}", op.name());
        }
    }
}

#[test]
fn derivatives_come_from_the_lanes_of_a_quad() {
    for target in TARGETS {
        if operations(target, "image_get_lod").is_empty() {
            assert_eq!(target, "gfx90a");
            continue;
        }
        // Lane n is at (n mod 2 · 1/2, n / 2 · 2): two texels to the right, four down. The second quad has one lane.
        let code = format!(
            "v_and_b32 v10, 1, v0\nv_cvt_f32_u32 v10, v10\nv_mul_f32 v10, 0.5, v10
            v_and_b32 v11, 2, v0\nv_cvt_f32_u32 v11, v11\nv_mov_b32 v{DATA}, 7\n{}\n{}
            v_mov_b32 v{DATA}, 7\n{}\n{}",
            instruction(
                target,
                "image_get_lod",
                2,
                2,
                &format!("dmask:0x3 {}", dimension(target, "2D"))
            ),
            keep(5),
            instruction(
                target,
                "image_sample",
                2,
                1,
                &format!("dmask:0x1 {}", dimension(target, "2D"))
            ),
            keep(5),
        );
        let Some(ran) = run_on_ramp(target, 5, 2, &code) else {
            return;
        };
        for lane in 0..4 {
            // The longer one: log2 4. There is level 0 only.
            assert_eq!(
                ran.kept[lane][..2],
                [0, 2.0f32.to_bits()],
                "{target} {lane}"
            );
        }
        assert_eq!(ran.kept[4][1], f32::NEG_INFINITY.to_bits(), "{target}");
        let sampled: Vec<f32> = ran.kept[5..].iter().map(|k| f32::from_bits(k[0])).collect();
        // The first quad takes the nearest texels; the lane alone filters, half of a texel over the edge.
        assert_eq!(sampled, [0.0, 2.0, 10.0, 12.0, 0.0], "{target}");
    }
}
