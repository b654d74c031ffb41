//! Integers, conversions, carries, compares.

use super::*;

#[test]
fn integer_operations_at_the_boundaries() {
    check2(
        M::v_add_u32,
        B32,
        MODE,
        &[(0xffff_ffff, 1, 0), (0x7fff_ffff, 1, 0x8000_0000)],
    );
    check2(M::v_subrev_u32, B32, MODE, &[(1, 0, 0xffff_ffff)]);
    check2(
        M::v_lshlrev_b32,
        B32,
        MODE,
        &[(33, 1, 2), (31, 3, 0x8000_0000)],
    );
    check2(
        M::v_ashrrev_i32,
        B32,
        MODE,
        &[(31, 0x8000_0000, 0xffff_ffff), (0, 5, 5)],
    );
    check2(
        M::v_mul_hi_u32,
        B32,
        MODE,
        &[(0xffff_ffff, 0xffff_ffff, 0xffff_fffe)],
    );
    check2(
        M::v_mul_hi_i32,
        B32,
        MODE,
        &[
            (0xffff_ffff, 2, 0xffff_ffff),
            (0x8000_0000, 0x8000_0000, 0x4000_0000),
        ],
    );
    check2(
        M::v_mul_i32_i24,
        B32,
        MODE,
        &[(0x00ff_ffff, 2, 0xffff_fffe)],
    );
    check2(
        M::v_mul_u32_u24,
        B32,
        MODE,
        &[(0xffff_ffff, 0xff00_0002, 0x01ff_fffe)],
    );
    check2(
        M::v_min_i32,
        B32,
        MODE,
        &[(0x8000_0000, 0x7fff_ffff, 0x8000_0000)],
    );
    check2(M::v_bcnt_u32_b32, B32, MODE, &[(0xffff_ffff, 10, 42)]);
    let three = |op, rows: &[Vec<u64>]| lanes(op, &[B32; 3], B32, MODE, rows);
    assert_eq!(
        three(
            M::v_bfe_u32,
            &[
                vec![0xabcd_1234, 8, 8],
                vec![0xffff_ffff, 0, 0],
                vec![0xf000_0000, 28, 31]
            ]
        ),
        [0x12, 0, 0xf]
    );
    assert_eq!(
        three(M::v_bfe_i32, &[vec![0x7f, 0, 7], vec![0x8000_0000, 31, 1]]),
        [0xffff_ffff, 0xffff_ffff]
    );
    assert_eq!(
        three(M::v_bfi_b32, &[vec![0xffff_0000, 0x1234_5678, 0x9abc_def0]]),
        [0x1234_def0]
    );
    assert_eq!(
        three(M::v_alignbit_b32, &[vec![0x12, 0x34, 4], vec![1, 2, 32]]),
        [0x2000_0003, 2]
    );
    assert_eq!(
        three(M::v_alignbyte_b32, &[vec![0x1122_3344, 0x5566_7788, 1]]),
        [0x4455_6677]
    );
    assert_eq!(
        three(
            M::v_perm_b32,
            &[vec![0x8122_3344, 0x5566_7788, 0x0b00_0c07]]
        ),
        [0xff88_0081]
    );
    assert_eq!(
        three(M::v_sad_u8, &[vec![0x0a00_ff01, 0x0005_0003, 100]]),
        [100 + 10 + 5 + 255 + 2]
    );
    assert_eq!(three(M::v_lshl_add_u32, &[vec![3, 4, 5]]), [53]);
    assert_eq!(three(M::v_mad_u32_u24, &[vec![0x0100_0003, 4, 5]]), [17]);
    let one = |op, value| lanes(op, &[B32], B32, MODE, &[vec![value]])[0];
    assert_eq!(one(M::v_ffbh_u32, 0), 0xffff_ffff);
    assert_eq!(one(M::v_ffbh_u32, 1), 31);
    assert_eq!(one(M::v_ffbl_b32, 0x8000_0000), 31);
    assert_eq!(one(M::v_ffbh_i32, 0xffff_ffff), 0xffff_ffff);
    assert_eq!(one(M::v_ffbh_i32, 0xc000_0000), 2);
    assert_eq!(one(M::v_bfrev_b32, 1), 0x8000_0000);
}

#[test]
fn conversions_saturate_and_round() {
    let to = |op, ty, value: u64| lanes(op, &[ty], B32, MODE, &[vec![value]])[0];
    assert_eq!(to(M::v_cvt_i32_f32, F32, f(-1.9)), 0xffff_ffff);
    assert_eq!(to(M::v_cvt_i32_f32, F32, f(3e9)), 0x7fff_ffff);
    assert_eq!(to(M::v_cvt_i32_f32, F32, NAN), 0);
    assert_eq!(to(M::v_cvt_u32_f32, F32, f(-1.0)), 0);
    assert_eq!(to(M::v_cvt_u32_f32, F32, f(5e9)), 0xffff_ffff);
    assert_eq!(to(M::v_cvt_u32_f32, F32, f(4_000_000_000.0)), 4_000_000_000);
    assert_eq!(to(M::v_cvt_f32_u32, B32, 0xffff_ffff), f(4_294_967_296.0));
    assert_eq!(to(M::v_cvt_f32_i32, B32, 0x8000_0000), f(-2_147_483_648.0));
    assert_eq!(to(M::v_cvt_f32_u32, B32, 0x0100_0003), f(16_777_220.0));
    assert_eq!(to(M::v_cvt_f32_ubyte2, B32, 0x00fe_0000), f(254.0));
    assert_eq!(to(M::v_cvt_f16_f32, F32, f(65519.0)), 0x7bff);
    assert_eq!(to(M::v_cvt_f16_f32, F32, f(65520.0)), 0x7c00);
    assert_eq!(to(M::v_cvt_f16_f32, F32, f(5.960_464_5e-8)), 1);
    assert_eq!(to(M::v_cvt_f16_f32, F32, f(2.980_232_2e-8)), 0);
    assert_eq!(to(M::v_cvt_f16_f32, F32, f(-1.0)), 0xbc00);
    assert_eq!(to(M::v_cvt_f16_f32, F32, SNAN), 0x7e00);
    assert_eq!(to(M::v_cvt_f32_f16, F16, 0x0001), f(5.960_464_5e-8));
    assert_eq!(to(M::v_cvt_f32_f16, F16, 0xfc00), NEG | INF);
    assert_eq!(to(M::v_cvt_f32_f16, F16, 0x7c01), 0x7fc0_2000);
    assert_eq!(to(M::v_cvt_f32_f64, F64, 1e300f64.to_bits()), INF);
    assert_eq!(to(M::v_cvt_i32_f64, F64, (-2.5f64).to_bits()), 0xffff_fffe);
    assert_eq!(to(M::v_cvt_rpi_i32_f32, F32, f(2.5)), 3);
    assert_eq!(to(M::v_cvt_off_f32_i4, B32, 8), f(-0.5));
    assert_eq!(to(M::v_frexp_exp_i32_f32, F32, 1), 0xffff_ff6c);
    assert_eq!(to(M::v_frexp_mant_f32, F32, f(-6.0)), f(-0.75));
    let pack = |a: f32, b: f32| {
        lanes(
            M::v_cvt_pkrtz_f16_f32,
            &[F32; 2],
            B32,
            MODE,
            &[vec![f(a), f(b)]],
        )[0]
    };
    assert_eq!(pack(65519.9, -1e9), 0xfbff_7bff);
    assert_eq!(pack(5.9e-8, 1.999_99), 0x3fff_0000);
    assert_eq!(pack(6.2e-5, f32::INFINITY), 0x7c00_0410);
}

#[test]
fn carries_chain_through_lane_masks() {
    for (target, wave64) in [(GFX90A, true), (GFX1030, false)] {
        let vcc = s(slot::VCC as u8, Type::Mask);
        let (low, high) = if wave64 {
            (M::v_add_co_u32, M::v_addc_co_u32)
        } else {
            (M::v_add_co_u32, M::v_add_co_ci_u32)
        };
        let mut first = inst(low, Format::Vop3b, v(0, B32), &[v(2, B32), v(4, B32)]);
        first.dst2 = vcc;
        let mut second = inst(high, Format::Vop3b, v(1, B32), &[v(3, B32), v(5, B32), vcc]);
        second.dst2 = vcc;
        for level in levels() {
            let mut wave = execute(
                vec![first.clone(), second.clone()],
                config(target, wave64),
                level,
                MODE,
                |w| {
                    for lane in 0..w.lanes() {
                        w.vgpr_lanes(2)[lane] = 0xffff_fff0;
                        w.vgpr_lanes(4)[lane] = lane as u32;
                        w.vgpr_lanes(3)[lane] = if lane == 20 { 0xffff_ffff } else { 1 };
                        w.vgpr_lanes(5)[lane] = 0;
                    }
                    w.set_exec(w.full_mask & !1);
                    w.set_pair(slot::VCC, u64::MAX);
                },
            );
            assert_eq!(wave.vgpr_lanes(1)[15], 1);
            assert_eq!(wave.vgpr_lanes(1)[16], 2);
            assert_eq!(wave.vgpr_lanes(1)[20], 0);
            assert_eq!(wave.vcc(), 1 << 20);
            // Wave32 leaves vcc_hi alone.
            assert_eq!(wave.sgpr[slot::VCC + 1], if wave64 { 0 } else { u32::MAX });
        }
    }
}

#[test]
fn additions_of_64_bits_may_share_registers() {
    let vcc = s(slot::VCC as u8, Type::Mask);
    let vcc_lo = s(slot::VCC as u8, B32);
    // Destination and sources of the low half, then of the high half.
    let plain = [
        v(0, B32),
        v(2, B32),
        v(4, B32),
        v(1, B32),
        v(3, B32),
        v(5, B32),
    ];
    let in_place = [
        v(2, B32),
        v(2, B32),
        v(4, B32),
        v(3, B32),
        v(3, B32),
        v(5, B32),
    ];
    let reads_low = [
        v(3, B32),
        v(2, B32),
        v(4, B32),
        v(1, B32),
        v(3, B32),
        v(5, B32),
    ];
    let crossed = [
        v(0, B32),
        v(2, B32),
        v(4, B32),
        v(2, B32),
        v(4, B32),
        v(5, B32),
    ];
    let reads_mask = [
        v(0, B32),
        v(2, B32),
        v(4, B32),
        v(1, B32),
        vcc_lo,
        v(5, B32),
    ];
    for [low, a, b, high, c, d] in [plain, in_place, reads_low, crossed, reads_mask] {
        let mut first = inst(M::v_add_co_u32, Format::Vop3b, low, &[a, b]);
        first.dst2 = vcc;
        let mut second = inst(M::v_addc_co_u32, Format::Vop3b, high, &[c, d, vcc]);
        second.dst2 = vcc;
        // Apart, with an instruction in between, they are two operations.
        let apart = vec![
            first.clone(),
            inst(M::s_mov_b32, Format::Sop1, s(20, B32), &[s(21, B32)]),
            second.clone(),
        ];
        for level in levels() {
            let [together, apart] =
                [vec![first.clone(), second.clone()], apart.clone()].map(|listing| {
                    let mut wave = execute(listing, config(GFX90A, true), level, MODE, |w| {
                        for register in 0..6 {
                            for (lane, value) in w.vgpr_lanes(register).iter_mut().enumerate() {
                                let random = (lane as u32 + 1)
                                    .wrapping_mul(0x9e37_79b9)
                                    .rotate_left(5 * register as u32 + 3);
                                *value = if random & 0x30 == 0 { u32::MAX } else { random };
                            }
                        }
                        w.set_exec(0x0fff_ff7f_ffff_fff1);
                        w.set_pair(slot::VCC, 0x1234_5678_9abc_def0);
                    });
                    let registers: Vec<u32> = (0..6)
                        .flat_map(|register| wave.vgpr_lanes(register).to_vec())
                        .collect();
                    (registers, wave.vcc())
                });
            assert_eq!(together, apart);
            assert_ne!(together.1, 0);
        }
    }
}

#[test]
fn compares_write_active_lanes_only() {
    let vcc = s(slot::VCC as u8, Type::Mask);
    for (op, expect) in [
        (M::v_cmp_lt_f32, 0b0001u64),
        (M::v_cmp_le_f32, 0b0011),
        (M::v_cmp_gt_f32, 0b0100),
        (M::v_cmp_ge_f32, 0b0110),
        (M::v_cmp_eq_f32, 0b0010),
        (M::v_cmp_lg_f32, 0b0101),
        (M::v_cmp_neq_f32, 0b1101),
        (M::v_cmp_nlt_f32, 0b1110),
        (M::v_cmp_nge_f32, 0b1001),
        (M::v_cmp_o_f32, 0b0111),
        (M::v_cmp_u_f32, 0b1000),
        (M::v_cmp_lt_u32, 0b0001),
        (M::v_cmp_ge_u32, 0b1110),
        (M::v_cmp_ne_u32, 0b1101),
        (M::v_cmp_le_i32, 0b0011),
        (M::v_cmp_gt_i32, 0b1100),
        (M::v_cmp_f_f32, 0),
        (M::v_cmp_t_u32, 0b1111),
    ] {
        for level in levels() {
            let code = vec![inst(op, Format::Vopc, vcc, &[v(0, F32), v(1, F32)])];
            let wave = execute(code, config(GFX90A, true), level, MODE, |w| {
                w.vgpr_lanes(0)[..5].copy_from_slice(&[
                    f(1.0) as u32,
                    f(2.0) as u32,
                    f(3.0) as u32,
                    NAN as u32,
                    0,
                ]);
                w.vgpr_lanes(1)[..5].copy_from_slice(&[
                    f(2.0) as u32,
                    f(2.0) as u32,
                    f(2.0) as u32,
                    f(2.0) as u32,
                    0,
                ]);
                w.set_exec(15);
            });
            assert_eq!(wave.vcc(), expect, "{}", op.name());
        }
    }
    // GFX9 v_cmpx writes its destination and EXEC; GFX10's writes EXEC alone.
    let code = vec![inst(
        M::v_cmpx_lt_u32,
        Format::Vopc,
        vcc,
        &[v(0, B32), v(1, B32)],
    )];
    let setup = |w: &mut Wave| {
        w.vgpr_lanes(0).fill(1);
        w.vgpr_lanes(1).fill(1);
        w.vgpr_lanes(1)[7] = 2;
    };
    let wave = execute(code, config(GFX90A, true), Level::Portable, MODE, setup);
    assert_eq!((wave.vcc(), wave.exec()), (1 << 7, 1 << 7));
    let exec = s(slot::EXEC as u8, Type::Mask);
    let code = vec![inst(
        M::v_cmpx_lt_u32,
        Format::Vopc,
        exec,
        &[v(0, B32), v(1, B32)],
    )];
    let wave = execute(code, config(GFX1030, false), Level::Portable, MODE, setup);
    assert_eq!((wave.vcc(), wave.exec()), (0, 1 << 7));
    let class = vec![inst(
        M::v_cmp_class_f32,
        Format::Vopc,
        vcc,
        &[v(0, F32), v(1, B32)],
    )];
    let wave = execute(
        class,
        config(GFX90A, true),
        Level::detect().min(Level::Avx2),
        MODE,
        |w| {
            let values = [
                SNAN,
                NAN,
                NEG | INF,
                f(-1.0),
                NEG | 1,
                NEG,
                0,
                1,
                f(1.0),
                INF,
            ];
            for (lane, value) in values.into_iter().enumerate() {
                w.vgpr_lanes(0)[lane] = value as u32;
                w.vgpr_lanes(1)[lane] = 1 << lane;
            }
            w.set_exec(0x3ff);
        },
    );
    assert_eq!(wave.vcc(), 0x3ff);
}
