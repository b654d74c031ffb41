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
    ir::program::LowerConfig,
    isa::{
        coverage,
        decode::Decoder,
        inst::{Format, Inst},
        op::Op as M,
        table,
    },
    target::Target,
};

use super::{GFX90A, GFX1030};

/// The fixture's instructions.
fn instructions(target: Target) -> Vec<Inst> {
    let (text, wave_size) = if target.major == 9 {
        (include_str!("../../../isa/tests/fixture/gfx90a.txt"), 64)
    } else {
        (include_str!("../../../isa/tests/fixture/gfx1030.txt"), 32)
    };
    let decoder = Decoder::new(target, wave_size).expect("a known target");
    text.lines()
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
        agprs: if target.major == 9 { 256 } else { 0 },
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

/// Operations of the ALUs that are refused in every encoding.
fn refused(target: Target) -> BTreeMap<M, String> {
    let mut lowered = BTreeSet::new();
    let mut reasons = BTreeMap::new();
    for inst in instructions(target).into_iter().filter(is_alu) {
        let op = inst.op;
        let program = program(vec![inst], all_registers(target), Level::Portable);
        match program.why(program.entry().0) {
            Some(why) => drop(reasons.insert(op, why)),
            None => drop(lowered.insert(op)),
        }
    }
    // A random field may be what is refused, rather than the operation.
    reasons.retain(|op, why| !lowered.contains(op) && why.ends_with(" is not supported"));
    reasons
}

fn names(refused: &BTreeMap<M, String>) -> Vec<&'static str> {
    refused.keys().map(|op| op.name()).collect()
}

#[test]
fn every_alu_operation_of_gfx90a_is_lowered_but_these() {
    let refused = refused(GFX90A);
    let (done, all) = coverage::count(table::Level::Gfx90a, |op| !refused.contains_key(&op));
    println!("gfx90a: {done} of {all} operations not refused; {refused:#?}");
    assert_eq!(names(&refused), GFX90A_REFUSED);
}

#[test]
fn every_alu_operation_of_gfx1030_is_lowered_but_these() {
    let refused = refused(GFX1030);
    let (done, all) = coverage::count(table::Level::Gfx10_3, |op| !refused.contains_key(&op));
    println!("gfx1030: {done} of {all} operations not refused; {refused:#?}");
    assert_eq!(names(&refused), GFX1030_REFUSED);
}

const GFX90A_REFUSED: &[&str] = &[
    "s_cbranch_g_fork",
    "s_cbranch_i_fork",
    "s_cbranch_join",
    "s_endpgm_ordered_ps_done",
    "s_endpgm_saved",
    "s_rfe_b64",
    "s_rfe_restore_b64",
    "s_set_gpr_idx_idx",
    "s_set_gpr_idx_mode",
    "s_setkill",
    "s_setvskip",
    "v_mqsad_u32_u8",
    "v_screen_partition_4se_b32",
    "v_mfma_f64_4x4x4f64",
];
const GFX1030_REFUSED: &[&str] = &[
    "s_code_end",
    "s_endpgm_ordered_ps_done",
    "s_endpgm_saved",
    "s_movrelsd_2_b32",
    "s_rfe_b64",
    "s_setkill",
    "s_subvector_loop_begin",
    "s_subvector_loop_end",
    "v_illegal",
    "v_interp_mov_f32",
    "v_interp_p1_f32",
    "v_interp_p1ll_f16",
    "v_interp_p1lv_f16",
    "v_interp_p2_f16",
    "v_interp_p2_f32",
    "v_movrelsd_2_b32",
    "v_mqsad_u32_u8",
    "v_swaprel_b32",
];

/// Random numbers with many boundary values among them.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
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
        let value = (self.0 >> 16) as u32;
        if self.0 & 3 == 0 {
            BOUNDARIES[value as usize & 15]
        } else {
            value
        }
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
    if program.why(program.entry().0).is_some() {
        return None;
    }
    let mut wave = Box::new(Wave::new());
    wave.reset(&program, mode);
    let mut random = Random(0x1234_5678_9abc_def1);
    for slot in 0..slot::EXEC {
        wave.sgpr[slot] = random.next();
    }
    wave.set_exec(exec);
    for register in 0..wave.vgpr_count as usize {
        wave.vgpr_lanes(register).fill_with(|| random.next());
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
