//! Image instructions of every family, in assembly: what each form of a sample, gather, load, store and atomic reads and writes. The
//! expected values are arithmetic on texels whose value says where they are.

mod support;

use gneiss_amdgcn::{
    engine::FaultKind,
    image::{Clamp, Compare, Image, ImageKind, Number, Sampler, TexelFormat},
    ir::coverage,
    isa::image::{ImageAddress, LevelOperand},
    target::Target,
};
use support::*;

/// One target of each family that has images.
const TARGETS: [&str; 7] = [
    "gfx900", "gfx90a", "gfx1010", "gfx1030", "gfx1100", "gfx1150", "gfx1200",
];

/// First register of the address, and of the data.
const ADDRESS: u32 = 10;
const DATA: u32 = 30;

fn target_of(name: &str) -> Target {
    name.parse().expect("a known target")
}

fn format(bits: &[u8], number: Number) -> TexelFormat {
    let mut all = [0; 4];
    all[..bits.len()].copy_from_slice(bits);
    TexelFormat { bits: all, number }
}

/// 4 × 2 texels, rows of 256 bytes.
fn plane(format: TexelFormat) -> Image {
    Image {
        base: 0,
        kind: ImageKind::D2,
        width: 4,
        height: 2,
        depth: 1,
        pitch: 256 / format.size() as u32,
        format,
        select: [4, 5, 6, 7],
        multisampled: false,
    }
}

fn float() -> TexelFormat {
    format(&[32], Number::Float)
}

/// The texels of a plane of dwords.
fn texels(value: impl Fn(u32, u32) -> u32) -> Vec<u32> {
    (0..2)
        .flat_map(|y| (0..64).map(move |x| (x, y)))
        .map(|(x, y)| value(x, y))
        .collect()
}

/// x + 10 y as floats.
fn ramp() -> Vec<u32> {
    texels(|x, y| ((x + 10 * y) as f32).to_bits())
}

/// Linear where magnified, nearest where minified, to the edge; `less` compares.
fn sampler() -> Sampler {
    Sampler {
        clamp: [Clamp::LastTexel; 3],
        compare: Compare::Less,
        linear: true,
        lod: [0.0, 8.0],
        ..Sampler::default()
    }
}

fn registers(first: u32, count: u32) -> String {
    match count {
        1 => format!("v{first}"),
        _ => format!("v[{first}:{}]", first + count - 1),
    }
}

/// An instruction on `address` consecutive registers from [`ADDRESS`] on and `data` ones from [`DATA`] on, as the target writes it.
fn instruction(target: &str, op: &str, address: u32, data: u32, rest: &str) -> String {
    let sampled = [
        "image_sample",
        "image_gather4",
        "image_get_lod",
        "image_msaa",
    ]
    .iter()
    .any(|start| op.starts_with(start));
    let address = if target.starts_with("gfx12") && address > 1 {
        let single = address.min(if sampled && address > 4 { 3 } else { address });
        let mut names: Vec<String> = (0..single).map(|n| registers(ADDRESS + n, 1)).collect();
        if single < address {
            names.push(registers(ADDRESS + single, address - single));
        }
        format!("[{}]", names.join(", "))
    } else {
        registers(ADDRESS, address)
    };
    let sampler = if sampled && op != "image_msaa_load" {
        ", s[16:19]"
    } else {
        ""
    };
    format!(
        "{op} {}, {address}, s[8:15]{sampler} {rest}",
        registers(DATA, data)
    )
}

/// The dimension, as the families write it.
fn dimension(target: &str, name: &str) -> String {
    match (target.starts_with("gfx9"), name.contains("ARRAY")) {
        (false, _) => format!("dim:SQ_RSRC_IMG_{name}"),
        (true, true) => "da".to_owned(),
        (true, false) => String::new(),
    }
}

/// Sets consecutive registers.
fn set(first: u32, values: &[u32]) -> String {
    values
        .iter()
        .zip(first..)
        .map(|(value, register)| format!("v_mov_b32 v{register}, {value:#x}\n"))
        .collect()
}

/// Stores five data registers of each lane and goes on to the next place.
fn keep(lanes: u32) -> String {
    let mut code: String = (0..5)
        .map(|n| {
            format!(
                "global_store_dword v8, v{}, s[2:3] offset:{}\n",
                DATA + n,
                4 * n
            )
        })
        .collect();
    code += &format!("v_add_u32 v8, {}, v8\n", 20 * lanes);
    code
}

/// What ran.
struct Ran {
    /// Five dwords of each [`keep`] and lane.
    kept: Vec<[u32; 5]>,
    texels: Vec<u8>,
}

/// Runs code on an image with as many lanes; `kept` is how often it keeps its data. None without the tools.
fn run(
    target: &str,
    image: &Image,
    sampler: &Sampler,
    contents: &[u32],
    lanes: u32,
    kept: usize,
    code: &str,
) -> Option<Ran> {
    let family = target_of(target).family();
    let loads = "s_load_dwordx2 s[2:3], s[0:1], 0x0
        s_load_dwordx2 s[4:5], s[0:1], 0x8";
    let wait = if target.starts_with("gfx12") {
        "s_wait_kmcnt 0x0"
    } else {
        "s_waitcnt lgkmcnt(0)"
    };
    // GFX10 and later have the additions without carry under another name.
    let code = if target.starts_with("gfx9") {
        code.to_owned()
    } else {
        code.replace("v_add_u32", "v_add_nc_u32")
    };
    let code = format!(
        "{loads}\n{wait}\ns_load_dwordx8 s[8:15], s[4:5], 0x0\ns_load_dwordx4 s[16:19], s[4:5], 0x20\n{wait}
        v_and_b32 v0, 0x3ff, v0\nv_mul_u32_u24 v8, 20, v0\n{code}"
    );
    let elf = assemble(target, &kernel(target, "", &code))?;
    let gpu = gpu(target);
    let module = Module::load(&gpu, &elf);
    let memory = Buffer::from(&gpu, contents);
    let image = Image {
        base: memory.address(),
        ..*image
    };
    let mut words = image.encode(family).expect("encodable").to_vec();
    words.extend(sampler.encode(family));
    let descriptors = Buffer::from(&gpu, &words);
    let out = Buffer::from(&gpu, &vec![[0u32; 5]; kept * lanes as usize]);
    let args = Args::new().buffer(&out).buffer(&descriptors);
    module
        .run("k", [lanes, 1, 1], [lanes as u16, 1, 1], args.bytes(), 0)
        .unwrap_or_else(|fault| panic!("{target}: {fault}"));
    Some(Ran {
        kept: out.read(),
        texels: memory.read(),
    })
}

/// The operations of a target that run and begin with these words.
fn operations(target: &str, words: &str) -> Vec<gneiss_amdgcn::isa::op::Op> {
    let all = coverage::of_target(target_of(target)).expect("tables");
    let found: Vec<_> = all
        .into_iter()
        .filter(|(op, status)| op.name().starts_with(words) && status.runs())
        .map(|(op, _)| op)
        .collect();
    assert!(!found.is_empty() || words != "image_sample", "{target}");
    found
}

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
                code += &instruction(target, op.name(), address.len() as u32, 2, &rest);
                code += "\n";
                code += &keep(1);
                expected.push((op.name(), sample_value(&parts)));
            }
            let count = operations.len();
            let Some(ran) = run(
                target,
                &plane(float()),
                &sampler(),
                &ramp(),
                1,
                count,
                &code,
            ) else {
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
            code += &instruction(target, op.name(), address.len() as u32, 4, &rest);
            code += "\n";
            code += &keep(1);
        }
        let count = operations.len();
        let Some(ran) = run(
            target,
            &plane(float()),
            &sampler(),
            &ramp(),
            1,
            count,
            &code,
        ) else {
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
        let Some(ran) = run(target, &plane(float()), &sampler(), &ramp(), 5, 2, &code) else {
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
                code += &instruction(target, op.name(), address, 2, &rest);
                code += "\n";
                code += &keep(1);
            }
        }
        for (at, op) in operations(target, "image_store").iter().enumerate() {
            code += &set(ADDRESS, &[at as u32, 1, 0]);
            code += &set(DATA, &[0xbf80_0000, 0x3f80_0000]);
            let rest = format!("dmask:0x3 {}", dimension(target, "2D"));
            let address = 2 + u32::from(has_mip(op.name()));
            code += &instruction(target, op.name(), address, 2, &rest);
            code += "\n";
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
                code += &instruction(target, op, 2, 1, &rest);
                code += "\n";
                code += &keep(1);
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
        code += &instruction(target, "image_load", 2, if status { 3 } else { 2 }, &rest);
        code += "\n";
        code += &keep(1);
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
        code += &instruction(target, "image_load", 1, 1, &rest);
        code += "\n";
        code += &keep(1);
        // Two coordinates and the level: level 1 does not exist.
        code += &set(ADDRESS, &[3 | 1 << 16, 0xffff_0001]);
        code += &instruction(target, "image_load_mip", 2, 1, &rest);
        code += "\n";
        code += &keep(1);
        let Some(ran) = run(target, &plane(float()), &sampler(), &ramp(), 1, 2, &code) else {
            return;
        };
        assert_eq!(ran.kept[0][0], 13.0f32.to_bits(), "{target}");
        assert_eq!(ran.kept[1][0], 0, "{target}");
    }
}

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
                code += "\n";
                code += &set(DATA, &data);
                let mask = (1u32 << count) - 1;
                let returned = if target.starts_with("gfx12") {
                    "th:TH_ATOMIC_RETURN"
                } else {
                    "glc"
                };
                let rest = format!("dmask:{mask:#x} {dim} {returned}");
                code += &instruction(target, op.name(), 2, count, &rest);
                code += "\n";
                code += &keep(1);
                code += &instruction(target, "image_load", 2, one, &all);
                code += "\n";
                code += &keep(1);
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

#[test]
fn sizes_samples_and_short_resources() {
    for target in TARGETS {
        let mut code = set(ADDRESS, &[0]);
        let rest = format!("dmask:0xf {}", dimension(target, "2D"));
        code += &instruction(target, "image_get_resinfo", 1, 4, &rest);
        code += "\n";
        code += &keep(1);
        code += &set(ADDRESS, &[1]);
        code += &instruction(target, "image_get_resinfo", 1, 4, &rest);
        code += "\n";
        code += &keep(1);
        let Some(ran) = run(target, &plane(float()), &sampler(), &ramp(), 1, 2, &code) else {
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
            code += &instruction(
                target,
                "image_msaa_load",
                3,
                4,
                &format!("dmask:{mask:#x} {rest}"),
            );
            code += "\n";
            code += &keep(1);
            code += &instruction(target, "image_load", 3, 1, &format!("dmask:0x1 {rest}"));
            code += "\n";
            code += &keep(1);
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
        code += &instruction(target, "image_load", 2, 1, &rest);
        code += "\n";
        code += &keep(1);
        let Some(ran) = run(target, &plane(float()), &sampler(), &ramp(), 1, 1, &code) else {
            return;
        };
        assert_eq!(ran.kept[0][0], 13.0f32.to_bits(), "{target}");
    }
}

#[test]
fn what_images_cannot_do_here_is_a_fault_with_its_name() {
    let gather = |target| {
        let rest = format!("dmask:0x1 {}", dimension(target, "2D"));
        instruction(target, "image_gather4h", 2, 4, &rest)
    };
    let flat = "image_bvh_intersect_ray v[30:33], v[10:20], s[8:11]".to_owned();
    let listed =
        "image_bvh64_intersect_ray v[30:33], [v[10:11], v12, v[13:15], v[16:18], v[19:21]], s[8:11]"
            .to_owned();
    for (target, name, code) in [
        ("gfx900", "image_gather4h", gather("gfx900")),
        ("gfx1200", "image_gather4h", gather("gfx1200")),
        ("gfx1030", "image_bvh_intersect_ray", flat.clone()),
        ("gfx1100", "image_bvh_intersect_ray", flat),
        ("gfx1100", "image_bvh64_intersect_ray", listed.clone()),
        ("gfx1200", "image_bvh64_intersect_ray", listed),
    ] {
        let Some(elf) = assemble(target, &kernel(target, "", &code)) else {
            return;
        };
        let module = Module::load(&gpu(target), &elf);
        let fault = module.run("k", [1, 1, 1], [1, 1, 1], &[], 0).unwrap_err();
        assert!(
            fault.kind == FaultKind::Unsupported,
            "{target} {name}: {fault}"
        );
        assert!(fault.to_string().contains(name), "{target}: {fault}");
    }
}
