//! Every operation with several field values against text that `llvm-mc` 19 has printed for it.
//!
//! A line of a fixture holds the dwords of one instruction and its text. The encodings are random, but for those that LLVM
//! prints although the hardware has no such register or combination.

use crate::isa::decode::Decoder;
use crate::isa::table::{Level, rows_of};
use crate::isa::text::disassemble;

fn compare(fixture: &str, level: Level, wave_size: u32) {
    let decoder = Decoder::with_level(level, wave_size);
    let mut seen = std::collections::HashSet::new();
    let mut differences = Vec::new();
    for line in fixture.lines() {
        let (words, expected) = line.split_once('\t').expect("dwords, a tab, text");
        let bytes: Vec<u8> = words
            .split(' ')
            .flat_map(|word| {
                u32::from_str_radix(word, 16)
                    .expect("a hexadecimal dword")
                    .to_le_bytes()
            })
            .collect();
        let text = match decoder.decode(&bytes) {
            Ok(inst) => {
                assert_eq!(
                    usize::from(inst.len),
                    bytes.len(),
                    "length of {words} {expected}"
                );
                seen.insert(inst.op);
                disassemble(&decoder, &inst)
            }
            Err(error) => error.to_string(),
        };
        if !super::is_llvm_text(&text, expected, level) {
            differences.push(format!("{words}: {expected}\n  ours: {text}"));
        }
    }
    assert!(
        differences.is_empty(),
        "{} differ:\n{}",
        differences.len(),
        differences.join("\n")
    );
    let missed: Vec<_> = rows_of(level)
        .map(|(_, row, _)| row.op)
        .filter(|op| !seen.contains(op))
        // LLVM prints the first as data on most targets; the others as it should not.
        .filter(|op| !["v_illegal", "ds_nop"].contains(&op.name()))
        // GFX12's probes are printed with fields that they do not have.
        .filter(|op| {
            level != Level::Gfx12
                || !["s_atc_", "export", "v_s_rcp_f16"]
                    .iter()
                    .any(|words| op.name().starts_with(words))
        })
        .collect();
    assert!(
        missed.is_empty(),
        "operations of {level:?} without a line: {missed:?}"
    );
}

#[test]
fn gfx90a_operations_read_like_llvm() {
    compare(include_str!("fixture/gfx90a.txt"), Level::Gfx90a, 64);
}

#[test]
fn gfx900_operations_read_like_llvm() {
    compare(include_str!("fixture/gfx900.txt"), Level::Gfx900, 64);
}

#[test]
fn gfx906_operations_read_like_llvm() {
    compare(include_str!("fixture/gfx906.txt"), Level::Gfx906, 64);
}

#[test]
fn gfx908_operations_read_like_llvm() {
    compare(include_str!("fixture/gfx908.txt"), Level::Gfx908, 64);
}

#[test]
fn gfx942_operations_read_like_llvm() {
    compare(include_str!("fixture/gfx942.txt"), Level::Gfx940, 64);
}

#[test]
fn gfx950_operations_read_like_llvm() {
    compare(include_str!("fixture/gfx950.txt"), Level::Gfx950, 64);
}

#[test]
fn gfx1010_operations_read_like_llvm() {
    compare(include_str!("fixture/gfx1010.txt"), Level::Gfx1010, 32);
}

#[test]
fn gfx1100_operations_read_like_llvm() {
    compare(include_str!("fixture/gfx1100.txt"), Level::Gfx11, 32);
}

#[test]
fn gfx1030_operations_read_like_llvm() {
    compare(include_str!("fixture/gfx1030.txt"), Level::Gfx10_3, 32);
}

#[test]
fn gfx1200_operations_read_like_llvm() {
    compare(include_str!("fixture/gfx1200.txt"), Level::Gfx12, 32);
}

#[test]
fn gfx1030_wave64_operations_read_like_llvm() {
    let decoder = Decoder::with_level(Level::Gfx10_3, 64);
    let text = |words: &[u32]| {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        disassemble(&decoder, &decoder.decode(&bytes).expect("an instruction"))
    };
    assert_eq!(text(&[0x7c02_02f2]), "v_cmp_lt_f32_e32 vcc, 1.0, v1");
    assert_eq!(text(&[0x0204_0401]), "v_cndmask_b32_e32 v2, s1, v2, vcc");
    assert_eq!(
        text(&[0xd528_0408, 0x0018_4110]),
        "v_add_co_ci_u32_e64 v8, s[4:5], v16, s32, s[6:7]"
    );
}

#[test]
fn gfx11_names_the_halves_of_16_bit_registers() {
    let decoder = Decoder::with_level(Level::Gfx11, 32);
    let text = |words: &[u32]| {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        disassemble(&decoder, &decoder.decode(&bytes).expect("an instruction"))
    };
    assert_eq!(text(&[0x7f08_390b]), "v_mov_b16_e32 v4.h, v11.l");
    assert_eq!(text(&[0x7f0a_1514]), "v_cvt_f16_f32_e32 v5.h, v20");
    // The accumulator has a bit of its own before that of the destination.
    assert_eq!(
        text(&[0xd536_5809, 0x2e3d_1715]),
        "v_fmac_f16_e64 v9, -v21, 11 op_sel:[1,1,0,1] mul:2"
    );
    assert_eq!(
        text(&[0x0460_eefa, 0x0634_0b34]),
        "v_dot2acc_f32_f16_dpp v48, -|v52|, v119 quad_perm:[3,2,0,0] row_mask:0x0 bank_mask:0x6 fi:1"
    );
}
