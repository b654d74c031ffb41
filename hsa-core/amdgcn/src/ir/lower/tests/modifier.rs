//! Operand modifiers, DPP, SDWA, packed operations.

use super::*;

#[test]
fn modifiers_apply_to_sources_and_result() {
    let mut add = inst(
        M::v_add_f32,
        Format::Vop3,
        v(0, F32),
        &[v(1, F32), v(2, F32)],
    );
    add.alu.neg = 1;
    add.alu.abs = 2;
    add.alu.clamp = true;
    for level in levels() {
        let mut wave = execute(vec![add.clone()], config(GFX90A, true), level, MODE, |w| {
            w.vgpr_lanes(0).fill(7);
            w.vgpr_lanes(1)[..3].copy_from_slice(&[f(1.0) as u32, f(2.0) as u32, f(0.25) as u32]);
            w.vgpr_lanes(2)[..3].copy_from_slice(&[f(-3.0) as u32, f(1.0) as u32, f(-0.5) as u32]);
            w.set_exec(7);
        });
        assert_eq!(
            wave.vgpr_lanes(0)[..4],
            [f(1.0) as u32, 0, f(0.25) as u32, 7]
        );
    }
    let mut mul = inst(
        M::v_mul_f32,
        Format::Vop3,
        v(0, F32),
        &[v(1, F32), s(4, F32)],
    );
    mul.alu.omod = 2;
    for (mode, expect) in [(MODE & !0x30, 24.0f32), (MODE, 6.0)] {
        let mut wave = execute(
            vec![mul.clone()],
            config(GFX90A, true),
            Level::Portable,
            mode,
            |w| {
                w.vgpr_lanes(1).fill(2f32.to_bits());
                w.sgpr[4] = 3f32.to_bits();
            },
        );
        assert_eq!(wave.vgpr_lanes(0)[63], expect.to_bits());
    }
    let mut saturating = inst(
        M::v_sub_u32,
        Format::Vop3,
        v(0, Type::U(32)),
        &[v(1, B32), v(2, B32)],
    );
    saturating.alu.clamp = true;
    let mut wave = execute(
        vec![saturating],
        config(GFX90A, true),
        Level::Portable,
        MODE,
        |w| {
            w.vgpr_lanes(1).fill(1);
            w.vgpr_lanes(2).fill(2);
        },
    );
    assert_eq!(wave.vgpr_lanes(0)[0], 0);
}

#[test]
fn sixteen_bit_results_keep_the_other_half_by_family() {
    let add = inst(
        M::v_add_f16,
        Format::Vop3,
        v(0, F16),
        &[v(1, F16), v(2, F16)],
    );
    let mut high = add.clone();
    high.alu.op_sel = 0b1001;
    let setup = |w: &mut Wave| {
        w.vgpr_lanes(0).fill(0xaaaa_bbbb);
        w.vgpr_lanes(1).fill(0x4000_3c00);
        w.vgpr_lanes(2).fill(0x3c00);
    };
    let level = Level::detect().min(Level::Avx2);
    assert_eq!(
        execute(vec![add.clone()], config(GFX90A, true), level, MODE, setup).vgpr_lanes(0)[5],
        0x4000
    );
    assert_eq!(
        execute(vec![add], config(GFX1030, false), level, MODE, setup).vgpr_lanes(0)[5],
        0xaaaa_4000
    );
    assert_eq!(
        execute(vec![high], config(GFX90A, true), level, MODE, setup).vgpr_lanes(0)[5],
        0x4200_bbbb
    );
}

fn dpp(ctrl: u32, bound_ctrl: bool, row_mask: u8) -> Dpp {
    Dpp {
        ctrl,
        is_dpp8: false,
        bound_ctrl,
        fetch_inactive: false,
        bank_mask: 15,
        row_mask,
    }
}

fn moved(controls: Dpp, target: crate::target::Target, exec: u64) -> Vec<u32> {
    let mut mov = inst(M::v_mov_b32, Format::Vop1, v(0, B32), &[v(1, B32)]);
    mov.dpp = Some(controls);
    let mut results = levels().into_iter().map(|level| {
        execute(
            vec![mov.clone()],
            config(target, target.major == 9),
            level,
            MODE,
            |w| {
                for lane in 0..w.lanes() {
                    w.vgpr_lanes(0)[lane] = 1000;
                    w.vgpr_lanes(1)[lane] = lane as u32;
                }
                w.set_exec(exec);
            },
        )
        .vgpr_lanes(0)
        .to_vec()
    });
    let first = results.next().unwrap_or_default();
    assert!(results.all(|other| other == first));
    first
}

#[test]
fn dpp_moves_lanes() {
    let all = u64::MAX;
    let shr = moved(dpp(0x111, false, 15), GFX90A, all);
    assert_eq!(
        (shr[0], shr[1], shr[15], shr[16], shr[17]),
        (1000, 0, 14, 1000, 16)
    );
    assert_eq!(moved(dpp(0x111, true, 15), GFX90A, all)[16], 0);
    assert_eq!(moved(dpp(0x101, false, 15), GFX90A, all)[..2], [1, 2]);
    assert_eq!(moved(dpp(0x121, false, 15), GFX90A, all)[..2], [15, 0]);
    assert_eq!(
        moved(dpp(0b00_01_10_11, false, 15), GFX90A, all)[..5],
        [3, 2, 1, 0, 7]
    );
    let bcast = moved(dpp(0x142, false, 0xa), GFX90A, all);
    assert_eq!(
        (bcast[15], bcast[16], bcast[32], bcast[48]),
        (1000, 15, 1000, 47)
    );
    let bcast = moved(dpp(0x143, false, 0xc), GFX90A, all);
    assert_eq!((bcast[31], bcast[32], bcast[63]), (1000, 31, 31));
    assert_eq!(moved(dpp(0x140, false, 15), GFX90A, all)[..2], [15, 14]);
    assert_eq!(moved(dpp(0x141, false, 15), GFX90A, all)[..2], [7, 6]);
    assert_eq!(moved(dpp(0x138, false, 15), GFX90A, all)[32], 31);
    // A source lane that EXEC disables counts as missing.
    let partial = moved(dpp(0x111, false, 15), GFX90A, !2);
    assert_eq!((partial[1], partial[2], partial[3]), (1000, 1000, 2));
    assert_eq!(moved(dpp(0x153, false, 15), GFX1030, 0xffff_ffff)[17], 19);
    assert_eq!(
        moved(dpp(0x161, false, 15), GFX1030, 0xffff_ffff)[..2],
        [1, 0]
    );
    let eight = Dpp {
        is_dpp8: true,
        ctrl: 0o01234567,
        ..dpp(0, false, 15)
    };
    assert_eq!(
        moved(eight, GFX1030, 0xffff_ffff)[8..16],
        [15, 14, 13, 12, 11, 10, 9, 8]
    );
}

#[test]
fn sdwa_selects_parts() {
    let mut add = inst(
        M::v_add_u32,
        Format::Vop2,
        v(0, B32),
        &[v(1, B32), v(2, B32)],
    );
    add.sdwa = Some(Sdwa {
        dst_sel: SdwaSel::Byte(1),
        dst_unused: 2,
        src0_sel: SdwaSel::Byte(3),
        src1_sel: SdwaSel::Word(1),
        sext: [true, false],
    });
    let mut run = |dst_sel, dst_unused| {
        add.sdwa = add.sdwa.map(|sdwa| Sdwa {
            dst_sel,
            dst_unused,
            ..sdwa
        });
        execute(
            vec![add.clone()],
            config(GFX90A, true),
            Level::detect().min(Level::Avx2),
            MODE,
            |w| {
                w.vgpr_lanes(0).fill(0x1122_3344);
                w.vgpr_lanes(1).fill(0xfe00_0000);
                w.vgpr_lanes(2).fill(0x00f3_ffff);
            },
        )
        .vgpr_lanes(0)[9]
    };
    assert_eq!(run(SdwaSel::Byte(1), 2), 0x1122_f144);
    assert_eq!(run(SdwaSel::Byte(1), 0), 0x0000_f100);
    assert_eq!(run(SdwaSel::Byte(1), 1), 0xffff_f100);
    assert_eq!(run(SdwaSel::Dword, 0), 0xf1);
    assert_eq!(run(SdwaSel::Word(1), 2), 0x00f1_3344);
}

#[test]
fn packed_operations_select_halves() {
    let p = Type::Packed(32);
    let mut add = inst(M::v_pk_add_u16, Format::Vop3p, v(0, p), &[v(1, p), v(2, p)]);
    add.alu.op_sel_hi = 0b11;
    let run = |inst: &Inst| {
        execute(
            vec![inst.clone()],
            config(GFX90A, true),
            Level::detect().min(Level::Avx2),
            MODE,
            |w| {
                w.vgpr_lanes(1).fill(0xffff_0001);
                w.vgpr_lanes(2).fill(0x0003_0002);
            },
        )
        .vgpr_lanes(0)[1]
    };
    assert_eq!(run(&add), 0x0002_0003);
    add.alu.op_sel = 0b01;
    add.alu.op_sel_hi = 0b10;
    assert_eq!(run(&add), 0x0004_0001);
    let mut fma = inst(
        M::v_pk_fma_f16,
        Format::Vop3p,
        v(0, p),
        &[v(1, p), v(2, p), v(3, p)],
    );
    fma.alu.op_sel_hi = 0b111;
    fma.alu.neg = 1;
    let got = execute(
        vec![fma],
        config(GFX90A, true),
        Level::detect().min(Level::Avx2),
        MODE,
        |w| {
            w.vgpr_lanes(1).fill(0x4000_4000);
            w.vgpr_lanes(2).fill(0x4200_4200);
            w.vgpr_lanes(3).fill(0x3c00_3c00);
        },
    )
    .vgpr_lanes(0)[3];
    assert_eq!(got, 0x4700_c500);
    let mut mix = inst(
        M::v_fma_mixhi_f16,
        Format::Vop3p,
        v(0, F16),
        &[v(1, F32), v(2, F32), v(3, F32)],
    );
    mix.alu.op_sel_hi = 0b001;
    mix.alu.op_sel = 0b001;
    let got = execute(
        vec![mix],
        config(GFX90A, true),
        Level::detect().min(Level::Avx2),
        MODE,
        |w| {
            w.vgpr_lanes(0).fill(0x1234_5678);
            w.vgpr_lanes(1).fill(0x4000_ffff);
            w.vgpr_lanes(2).fill(3f32.to_bits());
            w.vgpr_lanes(3).fill(1f32.to_bits());
        },
    )
    .vgpr_lanes(0)[3];
    assert_eq!(got, 0x4700_5678);
    // Each half reads what the other writes.
    let pair = Type::Packed(64);
    let mut swap = inst(
        M::v_pk_mul_f32,
        Format::Vop3p,
        v(0, pair),
        &[v(0, pair), v(2, pair)],
    );
    swap.alu.op_sel = 0b01;
    swap.alu.op_sel_hi = 0b10;
    let mut wave = execute(
        vec![swap],
        config(GFX90A, true),
        Level::detect().min(Level::Avx2),
        MODE,
        |w| {
            for (register, value) in [(0, 2f32), (1, 3.0), (2, 10.0), (3, 100.0)] {
                w.vgpr_lanes(register).fill(value.to_bits());
            }
        },
    );
    assert_eq!(
        (wave.vgpr_lanes(0)[0], wave.vgpr_lanes(1)[0]),
        (30f32.to_bits(), 200f32.to_bits())
    );
}
