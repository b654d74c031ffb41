//! Code on registers that hold given numbers in each lane, and what is left in them.

use crate::support::*;

pub(crate) const TARGET: &str = "gfx950";

pub(crate) type Lanes = [u32; 64];

/// Registers before and after: the inputs are loaded into v10 and up, `count` registers from v64 on are given back. v0 is the lane.
pub(crate) fn run(lds: u32, code: &str, inputs: &[Lanes], count: usize) -> Option<Vec<Lanes>> {
    let mut memory = bytes_of(inputs.as_flattened());
    memory.resize((inputs.len() + count) * 256, 0xcd);
    let mut text = String::new();
    for register in 0..inputs.len() {
        text += &load_lanes(10 + register, register * 256);
    }
    text +=
        &format!("s_waitcnt vmcnt(0)\n{code}\ns_waitcnt vmcnt(0) lgkmcnt(0)\ns_mov_b64 exec, -1\n");
    for register in 0..count {
        text += &store_lanes(64 + register, (inputs.len() + register) * 256);
    }
    let directives =
        format!(".amdhsa_group_segment_fixed_size {lds}\n.amdhsa_float_denorm_mode_32 3");
    let result = run_bytes(TARGET, &directives, &text, 64, &memory)?;
    let dwords = dwords_of(&result);
    let (lanes, _) = dwords.as_chunks();
    Some(lanes[inputs.len()..].to_vec())
}

/// Different numbers in every lane, with many boundary values.
pub(crate) fn random(seed: u32) -> Lanes {
    const BOUNDARIES: [u32; 12] = [
        0,
        0x8000_0000,
        u32::MAX,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0001,
        1,
        0x7fff_ffff,
        0x0080_0000,
        0x7c00_fc00,
        0x0001_8001,
        0x3c00_bc00,
    ];
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    std::array::from_fn(|lane| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if lane % 5 == 0 {
            BOUNDARIES[(lane / 5 + seed as usize) % 12]
        } else {
            state ^ state >> 15
        }
    })
}

/// Floats of moderate size.
pub(crate) fn floats(seed: u32) -> Lanes {
    random(seed).map(|bits| (((bits >> 9) as f32 / 1000.0) - 4000.0).to_bits())
}

pub(crate) fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

/// An f32 as bf16, to nearest even, for what is no NaN.
pub(crate) fn bf16(x: f32) -> u32 {
    u32::from(half::bf16::from_f32(x).to_bits())
}

pub(crate) fn f16(x: f32) -> u32 {
    u32::from(half::f16::from_f32(x).to_bits())
}

pub(crate) const SOME: u64 = 0x0f0f_3c5a_8001_7ff3;

pub(crate) fn some(lane: usize) -> bool {
    SOME >> lane & 1 != 0
}

/// Sets v64 to v64 + `count` − 1 to their own number, then EXEC to [`SOME`].
pub(crate) fn partial(count: usize) -> String {
    let mut text = String::new();
    for register in 64..64 + count {
        text += &format!("v_mov_b32 v{register}, {register}\n");
    }
    text + &format!(
        "s_mov_b32 exec_lo, {:#x}\ns_mov_b32 exec_hi, {:#x}\n",
        SOME as u32,
        SOME >> 32
    )
}

/// Bits `at..at + count` of the registers of a lane.
pub(crate) fn field(registers: &[Lanes], lane: usize, at: usize, count: usize) -> u32 {
    (0..count).fold(0, |value, bit| {
        let word = registers[(at + bit) / 32][lane];
        value | (word >> ((at + bit) % 32) & 1) << bit
    })
}
