//! Loads and stores of texels, and what resources say of themselves.

use gneiss_amdgcn::image::{Image, Number};

use crate::setup::*;

#[test]
fn loads_and_stores_convert_unless_they_are_packed() {
    let bytes = format(&[8, 8], Number::Snorm);
    for target in TARGETS {
        let image = Image {
            pitch: 128,
            ..plane(bytes)
        };
        // Texel (1, 0) is −1, 64/127; (2, 0) is 0.
        let contents = texels(|x, y| if (x, y) == (0, 0) { 0x4081_0000 } else { 0 });
        let has_mip = |op: &str| op.contains("mip");
        let mut code = String::new();
        let loads: Vec<_> = operations(target, "image_load");
        assert_eq!(loads.len(), 6, "{target}");
        for level in [0, 1] {
            for op in &loads {
                code += &set(ADDRESS, &[1, 0, level]);
                code += &set(DATA, &[7; 5]);
                let rest = format!("dmask:0x3 {}", dimension(target, "2D"));
                let address = 2 + u32::from(has_mip(op.name()));
                code += &keeping(target, op.name(), address, 2, &rest);
            }
        }
        for (at, op) in operations(target, "image_store").iter().enumerate() {
            code += &set(ADDRESS, &[at as u32, 1, 0]);
            code += &set(DATA, &[0xbf80_0000, 0x3f80_0000]);
            let rest = format!("dmask:0x3 {}", dimension(target, "2D"));
            let address = 2 + u32::from(has_mip(op.name()));
            code += &instruction(target, op.name(), address, 2, &rest);
        }
        let count = 2 * loads.len();
        let Some(ran) = run(target, &image, &sampler(), &contents, 1, count, &code) else {
            return;
        };
        for (kept, (level, op)) in ran.kept.iter().zip(
            [0, 1]
                .into_iter()
                .flat_map(|level| loads.iter().map(move |op| (level, op.name()))),
        ) {
            let want = match (level, op) {
                (1, op) if has_mip(op) => [0, 0],
                (_, "image_load_pck" | "image_load_mip_pck") => [0x4081, 0],
                (_, "image_load_pck_sgn" | "image_load_mip_pck_sgn") => [0x4081, 0],
                _ => [(-1.0f32).to_bits(), (64.0f32 / 127.0).to_bits()],
            };
            assert_eq!(kept[..2], want, "{target} {op} of level {level}");
            assert_eq!(kept[2..], [7; 3], "{target} {op} of level {level}");
        }
        // In the order of names: image_store, image_store_mip, …_mip_pck, …_pck.
        let row = &ran.texels[256..264];
        let names: Vec<_> = operations(target, "image_store")
            .iter()
            .map(|op| op.name())
            .collect();
        for (at, name) in names.iter().enumerate() {
            let want: [u8; 2] = if name.ends_with("pck") {
                // The low half of the first register.
                [0, 0]
            } else {
                [0x81, 0x7f]
            };
            assert_eq!(row[2 * at..2 * at + 2], want, "{target} {name}");
        }
        assert_eq!(names.len(), 4, "{target}");
    }
}

#[test]
fn packed_loads_extend_by_the_sign_and_fill_dwords() {
    for target in TARGETS {
        let image = Image {
            pitch: 128,
            ..plane(format(&[16], Number::Unorm))
        };
        let contents = texels(|_, _| 0xfffe_7fff);
        let rest = format!("dmask:0x1 {}", dimension(target, "2D"));
        let mut code = String::new();
        for op in ["image_load_pck", "image_load_pck_sgn"] {
            for x in [0, 1] {
                code += &set(ADDRESS, &[x, 0]);
                code += &keeping(target, op, 2, 1, &rest);
            }
        }
        let Some(ran) = run(target, &image, &sampler(), &contents, 1, 4, &code) else {
            return;
        };
        let first: Vec<u32> = ran.kept.iter().map(|kept| kept[0]).collect();
        assert_eq!(first, [0x7fff, 0xfffe, 0x7fff, 0xffff_fffe], "{target}");
    }
}

#[test]
fn halves_of_registers_hold_16_bit_data_and_the_status_follows() {
    for target in TARGETS {
        // LLVM gives GFX90A no status and GFX9 no 16-bit addresses of loads without a sampler.
        let status = target != "gfx90a";
        let rest = format!(
            "dmask:0x7 {}{} d16",
            dimension(target, "2D"),
            if status { " tfe" } else { "" }
        );
        let image = plane(format(&[8, 8, 8, 8], Number::Uint));
        let contents = texels(|x, y| 0x0403_0201 + 0x0101_0101 * (x + 4 * y));
        let mut code = set(ADDRESS, &[1, 1]);
        code += &set(DATA, &[0xaaaa_aaaa; 5]);
        code += &keeping(target, "image_load", 2, if status { 3 } else { 2 }, &rest);
        // Stores of halves: x, y and z of texel (0, 0).
        code += &set(ADDRESS, &[0, 0]);
        code += &set(DATA, &[0x0022_0011, 0x0033]);
        let rest = format!("dmask:0x7 {} d16", dimension(target, "2D"));
        code += &instruction(target, "image_store", 2, 2, &rest);
        let Some(ran) = run(target, &image, &sampler(), &contents, 1, 1, &code) else {
            return;
        };
        let mut want = [
            0x0007_0006,
            0xaaaa_0008,
            0xaaaa_aaaa,
            0xaaaa_aaaa,
            0xaaaa_aaaa,
        ];
        if status {
            want[2] = 0;
        }
        assert_eq!(ran.kept[0], want, "{target}");
        assert_eq!(ran.texels[..4], [0x11, 0x22, 0x33, 0], "{target}");
    }
}

#[test]
fn sixteen_bit_coordinates_are_packed() {
    for target in ["gfx1010", "gfx1030", "gfx1100", "gfx1200"] {
        let rest = format!("dmask:0x1 {} a16", dimension(target, "2D"));
        let mut code = set(ADDRESS, &[3 | 1 << 16]);
        code += &keeping(target, "image_load", 1, 1, &rest);
        // Two coordinates and the level: level 1 does not exist.
        code += &set(ADDRESS, &[3 | 1 << 16, 0xffff_0001]);
        code += &keeping(target, "image_load_mip", 2, 1, &rest);
        let Some(ran) = run_on_ramp(target, 1, 2, &code) else {
            return;
        };
        assert_eq!(ran.kept[0][0], 13.0f32.to_bits(), "{target}");
        assert_eq!(ran.kept[1][0], 0, "{target}");
    }
}

#[test]
fn sizes_samples_and_short_resources() {
    for target in TARGETS {
        let mut code = set(ADDRESS, &[0]);
        let rest = format!("dmask:0xf {}", dimension(target, "2D"));
        code += &keeping(target, "image_get_resinfo", 1, 4, &rest);
        code += &set(ADDRESS, &[1]);
        code += &keeping(target, "image_get_resinfo", 1, 4, &rest);
        let Some(ran) = run_on_ramp(target, 1, 2, &code) else {
            return;
        };
        assert_eq!(ran.kept[0][..4], [4, 2, 1, 1], "{target}");
        assert_eq!(ran.kept[1][..4], [0, 0, 0, 1], "{target}");
    }
    for target in ["gfx1030", "gfx1100", "gfx1200"] {
        // One sample: samples after it are 0.
        let image = Image {
            multisampled: true,
            ..plane(float())
        };
        let mut code = String::new();
        for sample in [0, 1] {
            code += &set(ADDRESS, &[3, 1, sample]);
            let rest = dimension(target, "2D_MSAA");
            let mask = if target == "gfx1030" { 0xf } else { 1 };
            code += &keeping(
                target,
                "image_msaa_load",
                3,
                4,
                &format!("dmask:{mask:#x} {rest}"),
            );
            code += &keeping(target, "image_load", 3, 1, &format!("dmask:0x1 {rest}"));
        }
        let Some(ran) = run(target, &image, &sampler(), &ramp(), 1, 4, &code) else {
            return;
        };
        let f = f32::to_bits;
        assert_eq!(ran.kept[0][..4], [f(13.0), 0, 0, 0], "{target}");
        assert_eq!(ran.kept[1][0], f(13.0), "{target}");
        assert_eq!(ran.kept[2][..4], [0; 4], "{target}");
        assert_eq!(ran.kept[3][0], 0, "{target}");
    }
    for target in ["gfx1030", "gfx1100", "gfx1200"] {
        // The dwords after the first four say nothing: a wrong pitch there.
        let mut code = "s_mov_b32 s12, 0\n".to_owned();
        code += &set(ADDRESS, &[3, 1]);
        let rest = format!("dmask:0x1 {} r128", dimension(target, "2D"));
        code += &keeping(target, "image_load", 2, 1, &rest);
        let Some(ran) = run_on_ramp(target, 1, 1, &code) else {
            return;
        };
        assert_eq!(ran.kept[0][0], 13.0f32.to_bits(), "{target}");
    }
}
