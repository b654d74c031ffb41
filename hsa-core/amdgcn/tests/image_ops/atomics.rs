//! Atomics on texels.

use gneiss_amdgcn::image::{Image, Number};

use crate::setup::*;

/// What an atomic leaves behind, of 32 or 64 bits.
fn atomic_result(op: &str, old: u64, value: u64, wide: bool) -> u64 {
    let name = op.trim_start_matches("image_atomic_");
    let signed = |v: u64| {
        if wide {
            v.cast_signed()
        } else {
            i64::from((v as u32).cast_signed())
        }
    };
    let result = match name {
        "swap" => value,
        // Compared with the old value.
        "cmpswap" | "fcmpswap" => value,
        "add" | "add_uint" => old.wrapping_add(value),
        "sub" | "sub_uint" => old.wrapping_sub(value),
        "smin" | "min_int" => signed(old).min(signed(value)).cast_unsigned(),
        "smax" | "max_int" => signed(old).max(signed(value)).cast_unsigned(),
        "umin" | "min_uint" => old.min(value),
        "umax" | "max_uint" => old.max(value),
        "and" => old & value,
        "or" => old | value,
        "xor" => old ^ value,
        "inc" | "inc_uint" => old + 1,
        "dec" | "dec_uint" => old - 1,
        other => panic!("{other}"),
    };
    if wide { result } else { result & 0xffff_ffff }
}

#[test]
fn atomics_change_texels_of_32_and_64_bits() {
    for target in TARGETS {
        let all = operations(target, "image_atomic_");
        let float = |op: &str| op.contains("_flt") || op.contains("_pk_") || op.contains("_f");
        for wide in [false, true] {
            let (image, value, old) = if wide {
                let image = Image {
                    pitch: 32,
                    ..plane(format(&[32, 32], Number::Uint))
                };
                (image, 0x9000_0000_0000_0077u64, 0x1000_0000_0000_0033u64)
            } else {
                (plane(format(&[32], Number::Uint)), 0x9000_0077, 0x1000_0033)
            };
            let mut code = String::new();
            let mut expected = Vec::new();
            let integers: Vec<_> = all.iter().filter(|op| !float(op.name())).collect();
            for op in &integers {
                let two = op.name().contains("cmpswap");
                let one = if wide { 2 } else { 1 };
                let count = if two { 2 * one } else { one };
                let words = |v: u64| {
                    if wide {
                        vec![v as u32, (v >> 32) as u32]
                    } else {
                        vec![v as u32]
                    }
                };
                let mut data = words(value);
                data.extend(words(old));
                let before = words(old);
                // The texel is set anew for each.
                code += &set(ADDRESS, &[2, 1]);
                code += &set(DATA, &before);
                let dim = dimension(target, "2D");
                let all = format!("dmask:{:#x} {dim}", if wide { 3 } else { 1 });
                code += &instruction(target, "image_store", 2, one, &all);
                code += &set(DATA, &data);
                let mask = (1u32 << count) - 1;
                let returned = if target.starts_with("gfx12") {
                    "th:TH_ATOMIC_RETURN"
                } else {
                    "glc"
                };
                let rest = format!("dmask:{mask:#x} {dim} {returned}");
                code += &keeping(target, op.name(), 2, count, &rest);
                code += &keeping(target, "image_load", 2, one, &all);
                expected.push((
                    op.name(),
                    words(atomic_result(op.name(), old, value, wide)),
                    before,
                ));
            }
            let kept = 2 * integers.len();
            let contents = vec![0u32; 128];
            let Some(ran) = run(target, &image, &sampler(), &contents, 1, kept, &code) else {
                return;
            };
            for (kept, (name, after, before)) in ran.kept.chunks(2).zip(&expected) {
                let len = before.len();
                assert_eq!(kept[0][..len], before[..], "{target} {name} returns");
                assert_eq!(kept[1][..len], after[..], "{target} {name} leaves");
            }
            assert!(integers.len() >= 13, "{target}");
        }
    }
}

#[test]
fn float_atomics_of_gfx10_and_gfx12() {
    let f = f32::to_bits;
    let cases = [
        ("gfx1030", "image_atomic_fmin", vec![f(2.0)], f(3.0), f(2.0)),
        ("gfx1030", "image_atomic_fmax", vec![f(2.0)], f(3.0), f(3.0)),
        (
            "gfx1030",
            "image_atomic_fcmpswap",
            vec![f(2.0), 0],
            f(-0.0),
            f(2.0),
        ),
        (
            "gfx1200",
            "image_atomic_add_flt",
            vec![f(2.0)],
            f(3.0),
            f(5.0),
        ),
        (
            "gfx1200",
            "image_atomic_min_flt",
            vec![f(f32::NAN)],
            f(3.0),
            f(3.0),
        ),
        (
            "gfx1200",
            "image_atomic_max_flt",
            vec![f(0.0)],
            f(-0.0),
            f(0.0),
        ),
        // 0.5 + 1.0 and 0.25 + 2.0.
        (
            "gfx1200",
            "image_atomic_pk_add_f16",
            vec![0x3800_3400],
            0x3c00_4000,
            0x3e00_4080,
        ),
        (
            "gfx1200",
            "image_atomic_pk_add_bf16",
            vec![0x3f00_3e80],
            0x3f80_4000,
            0x3fc0_4010,
        ),
    ];
    for (target, op, data, old, new) in cases {
        let mut code = set(ADDRESS, &[2, 1]);
        code += &set(DATA, &data);
        let count = data.len() as u32;
        let rest = format!("dmask:{:#x} {}", (1 << count) - 1, dimension(target, "2D"));
        code += &instruction(target, op, 2, count, &rest);
        let contents = texels(|x, y| if (x, y) == (2, 1) { old } else { 0 });
        let image = plane(float());
        let Some(ran) = run(target, &image, &sampler(), &contents, 1, 1, &code) else {
            return;
        };
        let at = 256 + 8;
        let left = u32::from_le_bytes(ran.texels[at..at + 4].try_into().expect("four"));
        assert_eq!(left, new, "{target} {op}: {left:#x}");
    }
}
