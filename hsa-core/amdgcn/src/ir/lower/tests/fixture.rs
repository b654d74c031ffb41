//! Every operation of GFX90A and GFX1030, in random encodings: which are lowered, and whether the SIMD levels agree on what they
//! do.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    interp::{
        level::Level,
        run::{Exit, run},
        testing::{MODE, levels, program},
        wave::{Wave, slot},
    },
    ir::{
        coverage::{Status, of_target},
        program::LowerConfig,
    },
    isa::{
        decode::Decoder,
        inst::{Format, Inst},
        op::Op as M,
    },
    target::Target,
    testing::Random,
};

use super::{GFX90A, GFX1030};

/// The fixture's lines.
fn lines(target: Target) -> &'static str {
    match (target.major, target.minor, target.stepping) {
        (9, 0, 6) => include_str!("../../../isa/tests/fixture/gfx906.txt"),
        (9, 0, 8) => include_str!("../../../isa/tests/fixture/gfx908.txt"),
        (9, 0, 10) => include_str!("../../../isa/tests/fixture/gfx90a.txt"),
        (9, 0, _) => include_str!("../../../isa/tests/fixture/gfx900.txt"),
        (9, 5, _) => include_str!("../../../isa/tests/fixture/gfx950.txt"),
        (9, ..) => include_str!("../../../isa/tests/fixture/gfx942.txt"),
        (10, ..) => include_str!("../../../isa/tests/fixture/gfx1030.txt"),
        (12, ..) => include_str!("../../../isa/tests/fixture/gfx1200.txt"),
        _ => include_str!("../../../isa/tests/fixture/gfx1100.txt"),
    }
}

/// The fixture's instructions.
fn instructions(target: Target) -> Vec<Inst> {
    let wave_size = if target.major == 9 { 64 } else { 32 };
    let decoder = Decoder::new(target, wave_size).expect("a known target");
    lines(target)
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .filter_map(|(dwords, _)| {
            let bytes: Vec<u8> = dwords
                .split_whitespace()
                .flat_map(|dword| {
                    u32::from_str_radix(dword, 16)
                        .expect("hexadecimal")
                        .to_le_bytes()
                })
                .collect();
            decoder.decode(&bytes).ok()
        })
        .collect()
}

fn all_registers(target: Target) -> LowerConfig {
    LowerConfig {
        target,
        wave64: target.major == 9,
        vgprs: 256,
        agprs: if target.features().agprs { 256 } else { 0 },
        exceptions: false,
    }
}

fn is_alu(inst: &Inst) -> bool {
    !matches!(
        inst.format,
        Format::Smem
            | Format::Ds
            | Format::Flat
            | Format::Global
            | Format::Scratch
            | Format::Mubuf
            | Format::Mtbuf
            | Format::Mimg
            | Format::Exp
            | Format::Vintrp
    )
}

/// Operations that are refused in every encoding.
fn refused(target: Target) -> BTreeMap<M, String> {
    let mut lowered = BTreeSet::new();
    let mut reasons = BTreeMap::new();
    for inst in instructions(target) {
        let op = inst.op;
        let program = program(vec![inst], all_registers(target), Level::Portable);
        match program.why(program.entry().op) {
            Some(why) => drop(reasons.insert(op, why)),
            None => drop(lowered.insert(op)),
        }
    }
    // A random field may be what is refused, rather than the operation.
    reasons.retain(|op, _| !lowered.contains(op));
    reasons
}

fn target(name: &str) -> Target {
    name.parse().expect("a known target")
}

/// Random encodings may hold combinations that the hardware does not have, so that all lines of an operation can be refused.
const ODD_FIELDS: [&str; 7] = [
    "a message other than GET_REALTIME",
    "hardware register",
    "a broadcast over more blocks",
    "special source 254",
    "where a vector register is expected",
    "as a scalar offset",
    "a constant source",
];

#[test]
fn what_random_encodings_are_refused_for_is_known() {
    for name in [
        "gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100",
    ] {
        let target = target(name);
        let known = of_target(target).expect("tables");
        let odd: BTreeMap<M, String> = refused(target)
            .into_iter()
            .filter(|(op, why)| {
                // Images have tests of their own; the coverage has the reasons of operations that are refused whole.
                !op.name().starts_with("image_")
                    && !matches!(known[op], Status::Unsupported(_))
                    && !why.ends_with("GDS")
                    && !why.ends_with("other than GET_REALTIME")
                    && !ODD_FIELDS.iter().any(|field| why.contains(field))
            })
            .collect();
        assert_eq!(odd, BTreeMap::new(), "{name}");
    }
}

/// Operations that compilers were seen to emit: LLVM's name, and the targets of the code objects that hold it.
const USED: &str = include_str!("../../../isa/tests/fixture/used.txt");

#[test]
fn every_operation_that_programs_were_seen_to_use_is_lowered() {
    for (name, count) in [
        ("gfx906", 444),
        ("gfx90a", 488),
        ("gfx942", 492),
        ("gfx1030", 530),
        ("gfx1100", 556),
    ] {
        let target = target(name);
        let number = name.trim_start_matches("gfx");
        let used: BTreeSet<&str> = USED
            .lines()
            .filter_map(|line| line.split_once('\t'))
            .filter(|(_, targets)| targets.split(' ').any(|of| of == number))
            .map(|(op, _)| op)
            .collect();
        assert_eq!(used.len(), count, "{name}");
        let mut lowered = BTreeSet::new();
        for inst in instructions(target) {
            let mut names = vec![inst.op.name().to_owned()];
            if let Some(second) = &inst.vopd {
                let dual = |op: M| op.name().replacen("v_", "v_dual_", 1);
                names = vec![dual(inst.op), dual(second.op)];
            }
            let program = program(vec![inst], all_registers(target), Level::Portable);
            let why = program.why(program.entry().op);
            if why.is_none_or(|why| ODD_FIELDS.iter().any(|field| why.contains(field))) {
                lowered.extend(names);
            }
        }
        // Images have tests of their own, and LLVM prints the illegal instruction as data.
        let missing: Vec<&str> = used
            .into_iter()
            .filter(|op| !lowered.contains(*op) && !op.starts_with("image_") && *op != "v_illegal")
            .collect();
        assert_eq!(missing, Vec::<&str>::new(), "{name}");
    }
}

/// A random number, often a boundary value.
fn boundary_or_any(random: &mut Random) -> u32 {
    const BOUNDARIES: [u32; 16] = [
        0,
        1,
        u32::MAX,
        0x8000_0000,
        0x7fff_ffff,
        0x7fc0_0000,
        0x7f80_0001,
        0x7f80_0000,
        0xff80_0000,
        0x0000_0001,
        0x007f_ffff,
        0x0080_0000,
        0x3f80_0000,
        0x7ff0_0000,
        0x3c00_3c00,
        0x7c00_fc01,
    ];
    let bits = random.next();
    let value = (bits >> 32) as u32;
    if bits >> 16 & 3 == 0 {
        BOUNDARIES[value as usize & 15]
    } else {
        value
    }
}

/// What a wave holds after the instruction.
fn outcome(
    inst: &Inst,
    target: Target,
    level: Level,
    mode: u32,
    exec: u64,
) -> Option<(Exit, Vec<u32>, Vec<u32>)> {
    let program = program(vec![inst.clone()], all_registers(target), level);
    if program.why(program.entry().op).is_some() {
        return None;
    }
    let mut wave = Box::new(Wave::new());
    wave.reset(&program, mode);
    let mut random = Random::new(1);
    for slot in 0..slot::EXEC {
        wave.sgpr[slot] = boundary_or_any(&mut random);
    }
    wave.set_exec(exec);
    for register in 0..wave.vgpr_count as usize {
        wave.vgpr_lanes(register)
            .fill_with(|| boundary_or_any(&mut random));
    }
    // SAFETY: reset for a program that is alive, without memory operations.
    let exit = unsafe { run(&mut wave, 10) };
    let registers = (0..wave.vgpr_count as usize)
        .flat_map(|register| wave.vgpr_lanes(register).to_vec())
        .collect();
    Some((exit, wave.sgpr[..slot::VCCZ].to_vec(), registers))
}

fn levels_agree(target: Target) {
    let skipped = |op: M| {
        // Control transfers go to random addresses; the clock differs from run to run.
        matches!(op, M::s_getreg_b32 | M::s_swappc_b64 | M::s_setpc_b64)
    };
    let mut compared = 0;
    for inst in instructions(target)
        .iter()
        .filter(|inst| is_alu(inst) && inst.format != Format::Sopp && !skipped(inst.op))
    {
        for (mode, exec) in [(MODE, u64::MAX), (MODE & !0x30, 0x0f0f_3c5a_8001_7ff3)] {
            let mut results = levels()
                .into_iter()
                .map(|level| outcome(inst, target, level, mode, exec));
            let first = results.next().flatten();
            for other in results {
                assert!(first == other, "{inst:?} under MODE {mode:#x}");
                compared += 1;
            }
        }
    }
    // On a host with one level there is nothing to compare.
    assert!(compared > 1000 || levels().len() == 1);
}

#[test]
fn simd_levels_agree_on_gfx90a() {
    levels_agree(GFX90A);
}

#[test]
fn simd_levels_agree_on_gfx1030() {
    levels_agree(GFX1030);
}

#[test]
fn simd_levels_agree_on_gfx942() {
    levels_agree(target("gfx942"));
}

#[test]
fn simd_levels_agree_on_gfx950() {
    levels_agree(target("gfx950"));
}

#[test]
fn simd_levels_agree_on_gfx1100() {
    levels_agree(target("gfx1100"));
}

#[test]
fn simd_levels_agree_on_gfx1200() {
    levels_agree(target("gfx1200"));
}
