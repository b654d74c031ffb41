//! Between lanes and scalars; matrices.

use super::*;

#[test]
fn lanes_and_scalars_exchange() {
    let literal = |value| OperandSlot {
        operand: Operand::Literal(value),
        ty: B32,
    };
    let int = |value| OperandSlot {
        operand: Operand::Int(value),
        ty: B32,
    };
    let code = vec![
        inst(
            M::v_readfirstlane_b32,
            Format::Vop1,
            s(0, B32),
            &[v(1, B32)],
        ),
        inst(
            M::v_readlane_b32,
            Format::Vop3,
            s(1, B32),
            &[v(1, B32), int(63)],
        ),
        inst(
            M::v_writelane_b32,
            Format::Vop3,
            v(2, B32),
            &[s(0, B32), int(5)],
        ),
        inst(
            M::v_mbcnt_lo_u32_b32,
            Format::Vop3,
            v(3, B32),
            &[int(-1), int(0)],
        ),
        inst(
            M::v_mbcnt_hi_u32_b32,
            Format::Vop3,
            v(3, B32),
            &[int(-1), v(3, B32)],
        ),
        inst(
            M::v_add_u32,
            Format::Vop2,
            v(4, B32),
            &[literal(100), v(3, B32)],
        ),
    ];
    for level in levels() {
        let mut wave = execute(code.clone(), config(GFX90A, true), level, MODE, |w| {
            for lane in 0..64 {
                w.vgpr_lanes(1)[lane] = 7 * lane as u32;
            }
            w.vgpr_lanes(2).fill(9);
            w.set_exec(u64::MAX << 3);
        });
        assert_eq!(wave.sgpr[..2], [21, 441]);
        assert_eq!(wave.vgpr_lanes(2)[4..7], [9, 21, 9]);
        assert_eq!(
            (
                wave.vgpr_lanes(3)[3],
                wave.vgpr_lanes(3)[40],
                wave.vgpr_lanes(4)[63]
            ),
            (3, 40, 163)
        );
    }
    let mut permute = inst(
        M::v_permlanex16_b32,
        Format::Vop3,
        v(0, B32),
        &[v(1, B32), int(-1), int(-1)],
    );
    permute.alu.op_sel = 1;
    let mut wave = execute(
        vec![permute],
        config(GFX1030, false),
        Level::Portable,
        MODE,
        |w| {
            for lane in 0..32 {
                w.vgpr_lanes(1)[lane] = lane as u32;
            }
        },
    );
    assert_eq!((wave.vgpr_lanes(0)[0], wave.vgpr_lanes(0)[16]), (31, 15));
}

#[test]
fn vgpr_indexing_moves_the_operand_of_a_move() {
    let mut on = inst(
        M::s_set_gpr_idx_on,
        Format::Sopc,
        OperandSlot::NONE,
        &[s(0, B32)],
    );
    let mov = inst(M::v_mov_b32, Format::Vop1, v(1, B32), &[v(2, B32)]);
    for (mode, expect) in [(1, (105, 4)), (8, (101, 102))] {
        on.simm16 = mode;
        let code = vec![on.clone(), mov.clone(), sopp(M::s_set_gpr_idx_off, 0)];
        let mut wave = execute(code, config(GFX90A, true), Level::Portable, MODE, |w| {
            w.sgpr[0] = 3;
            for register in 0..8 {
                w.vgpr_lanes(register).fill(100 + register as u32);
            }
        });
        let moved = (
            wave.vgpr_lanes(1)[0],
            if mode == 1 { 4 } else { wave.vgpr_lanes(4)[0] },
        );
        assert_eq!(moved, expect);
    }
}

#[test]
fn matrices_multiply() {
    let level = Level::detect().min(Level::Avx2);
    // D[i][j] = Σ A[i][k]·B[k][j] + C[i][j] with small integers, exact in f32.
    let (a, b, c) = (
        |i: usize, k: usize| (i + 3 * k) as f32,
        |k: usize, j: usize| (2 * j) as f32 - k as f32,
        |i: usize, j: usize| (i * j % 7) as f32,
    );
    let wide = Type::B(512);
    let acc = |n| OperandSlot {
        operand: Operand::Agpr(n),
        ty: wide,
    };
    let code = vec![inst(
        M::v_mfma_f32_32x32x2f32,
        Format::Vop3p,
        acc(0),
        &[v(0, B32), v(1, B32), acc(0)],
    )];
    let mut wave = execute(code, config(GFX90A, true), level, MODE, |w| {
        w.set_exec(1);
        for lane in 0..64 {
            w.vgpr_lanes(0)[lane] = a(lane % 32, lane / 32).to_bits();
            w.vgpr_lanes(1)[lane] = b(lane / 32, lane % 32).to_bits();
            for register in 0..16 {
                let row = 8 * (register / 4) + 4 * (lane / 32) + register % 4;
                w.vgpr_lanes(64 + register)[lane] = c(row, lane % 32).to_bits();
            }
        }
    });
    for lane in 0..64 {
        for register in 0..16 {
            let (row, column) = (
                8 * (register / 4) + 4 * (lane / 32) + register % 4,
                lane % 32,
            );
            let want = c(row, column) + a(row, 0) * b(0, column) + a(row, 1) * b(1, column);
            assert_eq!(
                f32::from_bits(wave.vgpr_lanes(64 + register)[lane]),
                want,
                "row {row} column {column}"
            );
        }
    }
    let zero = OperandSlot {
        operand: Operand::Int(0),
        ty: wide,
    };
    let code = vec![inst(
        M::v_mfma_i32_16x16x16i8,
        Format::Vop3p,
        v(8, Type::B(128)),
        &[v(0, B32), v(1, B32), zero],
    )];
    let mut wave = execute(code, config(GFX90A, true), level, MODE, |w| {
        for lane in 0..64u32 {
            // A[i][k] = i − k, B[k][j] = j + k, k = 4·(lane/16) + byte.
            let byte = |f: &dyn Fn(i32) -> i32| {
                (0..4).fold(0u32, |word, n| {
                    word | u32::from((f(4 * (lane as i32 / 16) + n) as i8).cast_unsigned())
                        << (8 * n)
                })
            };
            w.vgpr_lanes(0)[lane as usize] = byte(&|k| lane as i32 % 16 - k);
            w.vgpr_lanes(1)[lane as usize] = byte(&|k| lane as i32 % 16 + k);
        }
    });
    for lane in 0..64 {
        for register in 0..4 {
            let (i, j) = ((4 * (lane / 16) + register) as i32, (lane % 16) as i32);
            let want: i32 = (0..16).map(|k| (i - k) * (j + k)).sum();
            assert_eq!(wave.vgpr_lanes(8 + register)[lane].cast_signed(), want);
        }
    }
}
