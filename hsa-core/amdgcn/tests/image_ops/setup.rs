//! Images, samplers and code for them, and what it leaves behind.

use gneiss_amdgcn::{
    image::{Clamp, Compare, Image, ImageKind, Number, Sampler, TexelFormat},
    ir::coverage,
    target::Target,
};

use crate::support::*;

/// One target of each family that has images.
pub(crate) const TARGETS: [&str; 7] = [
    "gfx900", "gfx90a", "gfx1010", "gfx1030", "gfx1100", "gfx1150", "gfx1200",
];

/// First register of the address, and of the data.
pub(crate) const ADDRESS: u32 = 10;
pub(crate) const DATA: u32 = 30;

pub(crate) fn target_of(name: &str) -> Target {
    name.parse().expect("a known target")
}

pub(crate) fn format(bits: &[u8], number: Number) -> TexelFormat {
    let mut all = [0; 4];
    all[..bits.len()].copy_from_slice(bits);
    TexelFormat { bits: all, number }
}

/// 4 × 2 texels, rows of 256 bytes.
pub(crate) fn plane(format: TexelFormat) -> Image {
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
        first_level: 0,
        last_level: 0,
    }
}

pub(crate) fn float() -> TexelFormat {
    format(&[32], Number::Float)
}

/// The texels of a plane of dwords.
pub(crate) fn texels(value: impl Fn(u32, u32) -> u32) -> Vec<u32> {
    (0..2)
        .flat_map(|y| (0..64).map(move |x| (x, y)))
        .map(|(x, y)| value(x, y))
        .collect()
}

/// x + 10 y as floats.
pub(crate) fn ramp() -> Vec<u32> {
    texels(|x, y| ((x + 10 * y) as f32).to_bits())
}

/// Linear where magnified, nearest where minified, to the edge; `less` compares.
pub(crate) fn sampler() -> Sampler {
    Sampler {
        clamp: [Clamp::LastTexel; 3],
        compare: Compare::Less,
        linear: true,
        lod: [0.0, 8.0],
        ..Sampler::default()
    }
}

pub(crate) fn registers(first: u32, count: u32) -> String {
    match count {
        1 => format!("v{first}"),
        _ => format!("v[{first}:{}]", first + count - 1),
    }
}

/// An instruction on `address` consecutive registers from [`ADDRESS`] on and `data` ones from [`DATA`] on, as the target writes it.
pub(crate) fn instruction(target: &str, op: &str, address: u32, data: u32, rest: &str) -> String {
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
        "{op} {}, {address}, s[8:15]{sampler} {rest}\n",
        registers(DATA, data)
    )
}

/// The dimension, as the families write it.
pub(crate) fn dimension(target: &str, name: &str) -> String {
    match (target.starts_with("gfx9"), name.contains("ARRAY")) {
        (false, _) => format!("dim:SQ_RSRC_IMG_{name}"),
        (true, true) => "da".to_owned(),
        (true, false) => String::new(),
    }
}

/// Sets consecutive registers.
pub(crate) fn set(first: u32, values: &[u32]) -> String {
    values
        .iter()
        .zip(first..)
        .map(|(value, register)| format!("v_mov_b32 v{register}, {value:#x}\n"))
        .collect()
}

/// Stores five data registers of each lane and goes on to the next place.
pub(crate) fn keep(lanes: u32) -> String {
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

/// An [`instruction`] of one lane whose data is kept.
pub(crate) fn keeping(target: &str, op: &str, address: u32, data: u32, rest: &str) -> String {
    instruction(target, op, address, data, rest) + &keep(1)
}

/// What ran.
pub(crate) struct Ran {
    /// Five dwords of each [`keep`] and lane.
    pub(crate) kept: Vec<[u32; 5]>,
    pub(crate) texels: Vec<u8>,
}

/// Runs code on an image with as many lanes; `kept` is how often it keeps its data. None without the tools.
pub(crate) fn run(
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

/// As [`run`], on the plane of [`ramp`] with [`sampler`].
pub(crate) fn run_on_ramp(target: &str, lanes: u32, kept: usize, code: &str) -> Option<Ran> {
    run(
        target,
        &plane(float()),
        &sampler(),
        &ramp(),
        lanes,
        kept,
        code,
    )
}

/// The operations of a target that run and begin with these words.
pub(crate) fn operations(target: &str, words: &str) -> Vec<gneiss_amdgcn::isa::op::Op> {
    let all = coverage::of_target(target_of(target)).expect("tables");
    let found: Vec<_> = all
        .into_iter()
        .filter(|(op, status)| op.name().starts_with(words) && status.runs())
        .map(|(op, _)| op)
        .collect();
    assert!(!found.is_empty() || words != "image_sample", "{target}");
    found
}
