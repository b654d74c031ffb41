//! Scalar operations.

use super::*;

#[test]
fn scalar_operations_set_scc() {
    let two = |op, ty, a: u64, b: u64| {
        let code = vec![inst(
            op,
            Format::Sop2,
            s(0, ty),
            &[s(2, ty), s(4, if ty == U64 { ty } else { B32 })],
        )];
        let wave = execute(code, config(GFX90A, true), Level::Portable, MODE, |w| {
            w.set_pair(2, a);
            w.set_pair(4, b);
        });
        (wave.pair(0), wave.sgpr[slot::SCC])
    };
    assert_eq!(two(M::s_add_u32, B32, 0xffff_ffff, 1), (0, 1));
    assert_eq!(two(M::s_add_i32, B32, 0x7fff_ffff, 1), (0x8000_0000, 1));
    assert_eq!(two(M::s_sub_u32, B32, 0, 1), (0xffff_ffff, 1));
    assert_eq!(two(M::s_and_b32, B32, 0xf0, 0x0f), (0, 0));
    assert_eq!(two(M::s_lshl_b64, Type::B(64), 1, 40), (1 << 40, 1));
    assert_eq!(two(M::s_ashr_i32, B32, 0x8000_0000, 31), (0xffff_ffff, 1));
    assert_eq!(two(M::s_bfe_u32, B32, 0xabcd_1234, 0x0008_0008), (0x12, 1));
    assert_eq!(two(M::s_bfe_i32, B32, 0x80, 0x0001_0007), (0xffff_ffff, 1));
    assert_eq!(two(M::s_bfm_b32, B32, 4, 8), (0xf00, 0));
    assert_eq!(
        two(M::s_mul_hi_u32, B32, 0xffff_ffff, 0xffff_ffff),
        (0xffff_fffe, 0)
    );
    assert_eq!(two(M::s_min_i32, B32, 0xffff_ffff, 1), (0xffff_ffff, 1));
    assert_eq!(two(M::s_max_u32, B32, 3, 7), (7, 0));
    assert_eq!(two(M::s_lshl1_add_u32, B32, 0x8000_0000, 1), (1, 1));
    assert_eq!(
        two(M::s_pack_lh_b32_b16, B32, 0x1111_2222, 0x3333_4444),
        (0x3333_2222, 0)
    );
    let one = |op, a: u64| {
        let wave = execute(
            vec![inst(op, Format::Sop1, s(0, B32), &[s(2, B32)])],
            config(GFX90A, true),
            Level::Portable,
            MODE,
            |w| {
                w.set_pair(2, a);
            },
        );
        (wave.sgpr[0], wave.sgpr[slot::SCC])
    };
    assert_eq!(one(M::s_ff1_i32_b32, 0), (u32::MAX, 0));
    assert_eq!(one(M::s_ff1_i32_b64, 1 << 40), (40, 0));
    assert_eq!(one(M::s_flbit_i32_b32, 1), (31, 0));
    assert_eq!(one(M::s_flbit_i32, 0xffff_fff0), (28, 0));
    assert_eq!(one(M::s_bcnt1_i32_b64, u64::MAX), (64, 1));
    assert_eq!(one(M::s_sext_i32_i8, 0x80), (0xffff_ff80, 0));
    assert_eq!(one(M::s_abs_i32, 0x8000_0000), (0x8000_0000, 1));
    assert_eq!(one(M::s_not_b32, u64::from(u32::MAX)), (0, 0));
}

#[test]
fn saveexec_and_specials() {
    let code = vec![
        inst(
            M::s_and_saveexec_b64,
            Format::Sop1,
            s(0, Type::B(64)),
            &[s(2, Type::B(64))],
        ),
        inst(
            M::s_mov_b32,
            Format::Sop1,
            s(6, B32),
            &[OperandSlot {
                operand: Operand::Source(252),
                ty: B32,
            }],
        ),
        inst(
            M::s_mov_b32,
            Format::Sop1,
            s(7, B32),
            &[OperandSlot {
                operand: Operand::Source(253),
                ty: B32,
            }],
        ),
    ];
    let wave = execute(code, config(GFX90A, true), Level::Portable, MODE, |w| {
        w.set_exec(0xff);
        w.set_pair(2, 0x1f0);
    });
    assert_eq!(
        (wave.pair(0), wave.exec(), wave.sgpr[slot::SCC]),
        (0xff, 0xf0, 1)
    );
    assert_eq!((wave.sgpr[6], wave.sgpr[7]), (0, 1));
    // Writes to null vanish on GFX10; reads give 0.
    let code = vec![
        inst(
            M::s_mov_b32,
            Format::Sop1,
            s(125, B32),
            &[OperandSlot {
                operand: Operand::Int(5),
                ty: B32,
            }],
        ),
        inst(M::s_mov_b32, Format::Sop1, s(0, B32), &[s(125, B32)]),
    ];
    let wave = execute(code, config(GFX1030, false), Level::Portable, MODE, |w| {
        w.sgpr[0] = 77
    });
    assert_eq!(wave.sgpr[0], 0);
}

#[test]
fn mode_register_is_read_and_set() {
    let mut set = inst(M::s_setreg_imm32_b32, Format::Sopk, OperandSlot::NONE, &[]);
    // hwreg(MODE, 4, 2)
    set.simm16 = 1 | 4 << 6 | 1 << 11;
    set.imm32 = Some(0);
    let mut get = inst(M::s_getreg_b32, Format::Sopk, s(0, B32), &[]);
    get.simm16 = 1 | (31u16 << 11).cast_signed();
    let add = inst(
        M::v_add_f32,
        Format::Vop2,
        v(0, F32),
        &[v(1, F32), v(1, F32)],
    );
    for level in levels() {
        let mut wave = execute(
            vec![
                add.clone(),
                set.clone(),
                get.clone(),
                Inst {
                    dst: v(2, F32),
                    ..add.clone()
                },
            ],
            config(GFX90A, true),
            level,
            MODE,
            |w| {
                w.vgpr_lanes(1).fill(5);
            },
        );
        assert_eq!(wave.sgpr[0], MODE & !0x30);
        assert_eq!((wave.vgpr_lanes(0)[0], wave.vgpr_lanes(2)[0]), (10, 0));
    }
}
