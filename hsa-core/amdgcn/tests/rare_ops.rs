//! Operations of single families or rare shapes, in assembly: 8-bit floats, pairs, 16-bit halves, fork and join, moves by M0.

mod support;

use support::*;

/// Runs code that leaves one dword for each lane in v9, and gives those.
fn lanes(target: &str, items: u32, code: &str) -> Option<Vec<u32>> {
    let code = format!(
        "s_mov_b64 s[40:41], s[2:3]\n{code}\nv_lshlrev_b32 v8, 2, v0\nglobal_store_dword v8, v9, s[40:41]"
    );
    run_dwords(target, &code, items, &vec![0; items as usize])
}

/// The dword of one lane.
fn one(target: &str, code: &str) -> Option<u32> {
    lanes(target, 1, code).map(|lanes| lanes[0])
}

fn check(target: &str, code: &str, want: u32) {
    if let Some(got) = one(target, code) {
        assert_eq!(got, want, "{target}: {code}: got {got:#x}");
    }
}

#[test]
fn conversions_to_8_bit_floats_write_the_part_that_op_sel_names() {
    // 1.0 is 0x40 in FP8 of GFX942, −2.0 is 0xc8; in BF8 0x40 and 0xc4.
    let inputs = "v_mov_b32 v1, 1.0\nv_mov_b32 v2, -2.0\nv_mov_b32 v9, 0x11223344\n";
    for (op, want) in [
        ("v_cvt_pk_fp8_f32 v9, v1, v2", 0x1122_c840),
        ("v_cvt_pk_fp8_f32 v9, v1, v2 op_sel:[0,0,1]", 0xc840_3344),
        ("v_cvt_pk_bf8_f32 v9, |v2|, -v2", 0x1122_4444),
        ("v_cvt_sr_fp8_f32 v9, v2, v1", 0x1122_33c8),
        ("v_cvt_sr_fp8_f32 v9, v2, v1 op_sel:[0,0,1,0]", 0x1122_c844),
        ("v_cvt_sr_fp8_f32 v9, v2, v1 op_sel:[0,0,0,1]", 0x11c8_3344),
        ("v_cvt_sr_bf8_f32 v9, v2, v1 op_sel:[0,0,1,1]", 0xc422_3344),
    ] {
        check("gfx942", &format!("{inputs}{op}"), want);
    }
    // Between 1.0 and 1.125: the random bits decide.
    let between = "v_mov_b32 v1, 0x3f880000\nv_mov_b32 v9, 0\n";
    for (random, want) in [("0x7fffffff", 0x40), ("0x80000000", 0x41)] {
        let code = format!("{between}v_mov_b32 v2, {random}\nv_cvt_sr_fp8_f32 v9, v1, v2");
        check("gfx942", &code, want);
    }
    // Too large: NaN, or the largest value with FP16_OVFL (bit 23 of MODE).
    let large = "v_mov_b32 v1, 0x47000000\nv_mov_b32 v9, 0\n";
    check(
        "gfx942",
        &format!("{large}v_cvt_pk_fp8_f32 v9, v1, -v1"),
        0x8080,
    );
    let code = format!(
        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1\n{large}v_cvt_pk_fp8_f32 v9, v1, -v1"
    );
    check("gfx942", &code, 0xff7f);
}

#[test]
fn conversions_from_8_bit_floats_take_the_byte_that_sdwa_names() {
    let input = "v_mov_b32 v1, 0x80c44840\n";
    for (op, want) in [
        ("v_cvt_f32_fp8 v9, v1", 1.0f32.to_bits()),
        (
            "v_cvt_f32_fp8_sdwa v9, v1 src0_sel:BYTE_1",
            2.0f32.to_bits(),
        ),
        (
            "v_cvt_f32_bf8_sdwa v9, v1 src0_sel:BYTE_2",
            (-2.0f32).to_bits(),
        ),
        ("v_cvt_f32_bf8_sdwa v9, v1 src0_sel:BYTE_3", 0x7fc0_0000),
        (
            "v_cvt_pk_f32_fp8 v[4:5], v1\nv_mov_b32 v9, v5",
            2.0f32.to_bits(),
        ),
        (
            "v_cvt_pk_f32_bf8_sdwa v[4:5], v1 src0_sel:WORD_1\nv_mov_b32 v9, v4",
            (-2.0f32).to_bits(),
        ),
    ] {
        check("gfx942", &format!("{input}{op}"), want);
    }
}

#[test]
fn pairs_read_before_either_writes() {
    let inputs = "v_mov_b32 v4, 3\nv_mov_b32 v5, 5\n";
    for (op, want) in [
        // Each reads what the other writes.
        (
            "v_dual_mov_b32 v4, v5 :: v_dual_mov_b32 v5, v4\nv_lshl_or_b32 v9, v4, 8, v5",
            0x503,
        ),
        (
            "v_dual_mov_b32 v5, v4 :: v_dual_mov_b32 v4, v5\nv_lshl_or_b32 v9, v4, 8, v5",
            0x503,
        ),
        (
            "v_dual_mov_b32 v4, 7 :: v_dual_add_nc_u32 v5, v4, v5\nv_lshl_or_b32 v9, v4, 8, v5",
            0x708,
        ),
        (
            "v_mov_b32 v7, 6\nv_dual_add_f32 v4, 1.0, v4 :: v_dual_lshlrev_b32 v5, v4, v7\nv_mov_b32 v9, v5",
            0x30,
        ),
        (
            "s_mov_b32 vcc_lo, 0\nv_dual_cndmask_b32 v4, v5, v4 :: v_dual_and_b32 v5, 4, v5\nv_lshl_or_b32 v9, v4, 8, v5",
            0x504,
        ),
        (
            "v_mov_b32 v6, 0x40003c00\nv_mov_b32 v7, 0x42003c00\nv_mov_b32 v4, 0.5\nv_dual_dot2acc_f32_f16 v4, v6, v7 :: v_dual_mov_b32 v5, v4\nv_mov_b32 v9, v4",
            7.5f32.to_bits(),
        ),
    ] {
        check("gfx1100", &format!("{inputs}{op}"), want);
    }
}

#[test]
fn the_32_bit_encodings_of_gfx11_name_halves() {
    // v1 = {2.0, 1.0}, v2 = {0.5, 4.0} (high, low).
    let inputs = "v_mov_b32 v1, 0x40003c00\nv_mov_b32 v2, 0x38004400\nv_mov_b32 v9, 0x11223344\n";
    for (words, want) in [
        // v_add_f16 v9.l, v1.h, v2.h; v9.h, v1.l, v2.h.
        (".long 0x64130581", 0x1122_4100),
        (".long 0x65130501", 0x3e00_3344),
        // v_cvt_f16_f32 v9.h, v3 with 3.0.
        ("v_mov_b32 v3, 0x40400000\n.long 0x7f121503", 0x4200_3344),
        // v_mov_b16 v9.l, v2.h.
        (".long 0x7e123982", 0x1122_3800),
        // v_fmac_f16 v9.h, v1.h, v2.l on 0x1122: 2 · 4 + a little.
        (".long 0x6d120581", 0x4800_3344),
    ] {
        check("gfx1100", &format!("{inputs}{words}"), want);
    }
}

#[test]
fn fork_and_join_run_both_parts() {
    let code = "s_mov_b32 s30, 0
        v_mov_b32 v9, 0
        v_cmp_gt_u32 vcc, 3, v0
        s_cbranch_i_fork vcc, pass
        v_add_u32 v9, 10, v9
        s_branch both
        pass:
        v_add_u32 v9, 1, v9
        both:
        s_cbranch_join s30
        s_mov_b64 exec, 0xff";
    if let Some(result) = lanes("gfx906", 8, code) {
        assert_eq!(result, [1, 1, 1, 10, 10, 10, 10, 10]);
    }
    // The larger part waits, whichever it is; the target comes from a register.
    let code = "s_mov_b32 s30, 0
        v_mov_b32 v9, 0
        s_getpc_b64 s[20:21]
        here:
        s_add_u32 s20, s20, pass-here
        s_addc_u32 s21, s21, 0
        v_cmp_gt_u32 vcc, 6, v0
        s_cbranch_g_fork vcc, s[20:21]
        v_add_u32 v9, 10, v9
        s_branch both
        pass:
        v_add_u32 v9, 1, v9
        both:
        s_cbranch_join s30
        s_mov_b64 exec, 0xff";
    if let Some(result) = lanes("gfx906", 8, code) {
        assert_eq!(result, [1, 1, 1, 1, 1, 1, 10, 10]);
    }
}

#[test]
fn sums_of_absolute_differences_slide_over_the_window() {
    let code = "v_mov_b32 v2, 0x04030201
        v_mov_b32 v3, 0x08070605
        v_mov_b32 v4, 0x00010203
        v_mov_b32 v12, 100
        v_mov_b32 v13, 200
        v_mov_b32 v14, 300
        v_mov_b32 v15, -1
        v_mqsad_u32_u8 v[16:19], v[2:3], v4, v[12:15]
        v_lshlrev_b32 v17, 8, v17
        v_lshlrev_b32 v18, 20, v18
        v_or3_b32 v9, v16, v17, v18";
    // The reference bytes are 3, 2, 1, and 0, which is left out. From byte 0: |1−3| + |2−2| + |3−1| = 4, from byte 1: 1 + 1 + 3, 2: 0 + 2 + 4.
    let want = (100 + 4) | (200 + 5) << 8 | (300 + 6) << 20;
    check("gfx906", code, want);
    check(
        "gfx906",
        &code.replace("v_or3_b32 v9, v16, v17, v18", "v_mov_b32 v9, v19"),
        8,
    );
}

#[test]
fn m0_moves_both_registers() {
    let code = "v_mov_b32 v6, 60
        v_mov_b32 v7, 70
        s_mov_b32 m0, 0x20001
        v_swaprel_b32 v4, v6
        v_mov_b32 v9, v6";
    // Source v6 + 1, destination v4 + 2.
    check("gfx1030", code, 70);
    let code = "v_mov_b32 v7, 70
        s_mov_b32 m0, 0x30001
        v_movrelsd_2_b32 v6, v6";
    check("gfx1030", code, 70);
    let code = "s_mov_b32 s21, 77
        s_mov_b32 m0, 0x20001
        s_movrelsd_2_b32 s24, s20
        v_mov_b32 v9, s26";
    check("gfx1030", code, 77);
}

#[test]
fn subvector_loops_run_the_halves_one_after_the_other() {
    let code = "s_mov_b32 s21, 0
        v_mov_b32 v9, 0
        s_subvector_loop_begin s20, behind
        body:
        s_add_u32 s21, s21, 1
        v_add_nc_u32 v9, s21, v9
        s_subvector_loop_end s20, body
        behind:
        v_lshl_or_b32 v9, s21, 8, v9";
    let code = format!(
        "s_mov_b64 s[40:41], s[2:3]\n{code}\nv_lshlrev_b32 v8, 2, v0\nglobal_store_dword v8, v9, s[40:41]"
    );
    let directives = ".amdhsa_wavefront_size32 0";
    let Some(bytes) = run_bytes("gfx1030", directives, &code, 64, &[0; 256]) else {
        return;
    };
    for (lane, word) in bytes.chunks_exact(4).enumerate() {
        let want = 0x200 + if lane < 32 { 1 } else { 2 };
        assert_eq!(word, &u32::to_le_bytes(want)[..], "lane {lane}");
    }
}

#[test]
fn lds_operands_come_from_lds() {
    let code = "s_mov_b32 m0, -1
        v_mov_b32 v1, 64
        v_mov_b32 v2, 7
        v_mov_b32 v3, 30
        ds_write2_b32 v1, v2, v3 offset1:5
        ds_add_src2_u32 v1 offset:5
        ds_read_b32 v9, v1
        s_waitcnt lgkmcnt(0)";
    check("gfx906", code, 37);
    check(
        "gfx906",
        &code.replace("ds_add_src2_u32", "ds_write_src2_b32"),
        30,
    );
    check(
        "gfx906",
        &code.replace("ds_add_src2_u32", "ds_max_src2_i32"),
        30,
    );
}

#[test]
fn packed_dot_products_and_conversions_of_gfx11() {
    let inputs = "v_mov_b32 v1, 0x40003c00\nv_mov_b32 v2, 0x42003800\nv_mov_b32 v3, 0xc000bc00\nv_mov_b32 v9, 0x11223344\n";
    for (op, want) in [
        // 1 · 0.5 + 2 · 3 − 1 = 5.5, or − 2.
        ("v_dot2_f16_f16 v9, v1, v2, v3", 0x1122_4580),
        (
            "v_dot2_f16_f16 v9, v1, v2, v3 op_sel:[0,0,1,1]",
            0x4480_3344,
        ),
        (
            "v_mov_b32 v1, 0x477fff00\nv_cvt_pk_i16_f32 v9, v1, -2.0",
            0xfffe_7fff,
        ),
        (
            "v_mov_b32 v1, 0x477fff00\nv_cvt_pk_u16_f32 v9, v1, -2.0",
            0xffff,
        ),
    ] {
        check("gfx1100", &format!("{inputs}{op}"), want);
    }
}

#[test]
fn scalar_halves_and_barriers_of_gfx12() {
    for (code, want) in [
        // 1.5 + 2.0; fused −1 · 2 + 3; to the even half.
        (
            "s_mov_b32 s20, 0x3e00\ns_add_f16 s21, s20, 2.0\nv_mov_b32 v9, s21",
            0x4300,
        ),
        (
            "s_mov_b32 s20, 0xbc00\ns_movk_i32 s21, 0x4200\ns_fmac_f16 s21, s20, 2.0\nv_mov_b32 v9, s21",
            0x3c00,
        ),
        (
            "s_mov_b32 s20, 0x3f801000\ns_cvt_f16_f32 s21, s20\nv_mov_b32 v9, s21",
            0x3c00,
        ),
        (
            "s_mov_b32 s20, 0x40003c00\ns_cvt_hi_f32_f16 s21, s20\nv_mov_b32 v9, s21",
            0x4000_0000,
        ),
        // A NaN goes through minimum, not through min_num.
        (
            "s_mov_b32 s20, 0x7fc00001\ns_minimum_f32 s21, 1.0, s20\nv_mov_b32 v9, s21",
            0x7fc0_0001,
        ),
        (
            "s_mov_b32 s20, 0x7fc00001\ns_min_num_f32 s21, 1.0, s20\nv_mov_b32 v9, s21",
            0x3f80_0000,
        ),
        (
            "s_mov_b32 s20, 0x7e00\ns_cmp_nlt_f16 s20, 1.0\ns_cselect_b32 s21, 5, 6\nv_mov_b32 v9, s21",
            5,
        ),
        (
            "v_mov_b32 v1, 0x7fc00001\nv_maximum3_f32 v9, 1.0, 2.0, v1",
            0x7fc0_0001,
        ),
        ("v_minimummaximum_f32 v9, 1.0, 2.0, 4.0", 0x4080_0000),
        ("v_mov_b32 v9, 7\ns_barrier_signal -1\ns_barrier_wait -1", 7),
        ("v_s_rcp_f32 s21, 4.0\nv_mov_b32 v9, s21", 0x3e80_0000),
        // FP8 of GFX12 has another bias: 1.0 is 0x38.
        (
            "v_mov_b32 v9, 0\nv_mov_b32 v1, 1.0\nv_cvt_pk_fp8_f32 v9, v1, -v1",
            0xb838,
        ),
        (
            "v_mov_b32 v1, 0x38000000\nv_cvt_f32_fp8 v9, v1 byte_sel:3",
            0x3f80_0000,
        ),
        (
            "v_mov_b32 v1, 0x38383838\nv_dot4_f32_fp8_fp8 v9, v1, v1, 1.0",
            0x40a0_0000,
        ),
    ] {
        check("gfx1200", code, want);
    }
}

#[test]
fn scalar_loads_of_gfx12_extend_bytes_and_halves() {
    let code = "s_load_u8 s20, s[40:41], 0x1
        s_load_i8 s21, s[40:41], 0x1
        s_load_u16 s22, s[40:41], 0x2
        s_load_i16 s23, s[40:41], 0x2
        s_wait_kmcnt 0x0
        v_mov_b32 v1, 0
        v_mov_b32 v4, s20
        v_mov_b32 v5, s21
        v_mov_b32 v6, s22
        v_mov_b32 v7, s23
        global_store_b128 v1, v[4:7], s[40:41] offset:16";
    let code = format!("s_mov_b64 s[40:41], s[2:3]\n{code}");
    let memory = [0x8765_f234, 0, 0, 0, 0, 0, 0, 0];
    if let Some(result) = run_dwords("gfx1200", &code, 1, &memory) {
        assert_eq!(result[4..], [0xf2, 0xffff_fff2, 0x8765, 0xffff_8765]);
    }
}

#[test]
fn halves_are_chosen_in_the_64_bit_encodings_of_gfx11() {
    // v1 = {2.0, 1.0}, v2 = {0.5, 4.0} (high, low); the other half of the destination stays.
    let inputs = "v_mov_b32 v1, 0x40003c00\nv_mov_b32 v2, 0x38004400\nv_mov_b32 v9, 0x11223344\n";
    for (op, want) in [
        // v_max_f16_e64 v9.l, v1.h, v2.l: 4.0. v9.h, v1.h, v2.h: 2.0.
        (".long 0xd5390809, 0x00020501", 0x1122_4400),
        (".long 0xd5395809, 0x00020501", 0x4000_3344),
        // v_rcp_f16_e64 v9.h, v2.h: 2.0.
        (".long 0xd5d44809, 0x00000102", 0x4000_3344),
        // v_maxmin_f16 v9.l, v1.l, v1.h, v2.h: min(max(1, 2), 0.5).
        (".long 0xd6603009, 0x040a0301", 0x1122_3800),
        // v_cmp_lt_f16_e64 s20, v1.l, v1.h, v_cvt_f32_f16_e64 v9, v1.h.
        (".long 0xd4011014, 0x00020301\nv_mov_b32 v9, s20", 1),
        (".long 0xd58b0809, 0x00000101", 2.0f32.to_bits()),
        // v_swap_b16 v1.h, v2.l.
        (".long 0x7f02cd02\nv_mov_b32 v9, v1", 0x4400_3c00),
        (".long 0x7f02cd02\nv_mov_b32 v9, v2", 0x3800_4000),
        // v_cmp_class_f16_e32 vcc_lo, v1.h, v4.h: whether 2.0 is a positive normal number.
        (
            "v_mov_b32 v4, 0x01000000\n.long 0x7cfb0981\nv_mov_b32 v9, vcc_lo",
            1,
        ),
    ] {
        check("gfx1100", &format!("{inputs}{op}"), want);
    }
}

#[test]
fn every_pair_gives_what_its_halves_give() {
    // Halves that can be the first and those that can be the second, with the registers that they read; all but the moves have a VGPR.
    let first = [
        "fmac_f32",
        "mul_f32",
        "add_f32",
        "sub_f32",
        "subrev_f32",
        "mul_dx9_zero_f32",
        "mov_b32",
        "cndmask_b32",
        "MAX",
        "MIN",
        "fmaak_f32",
        "fmamk_f32",
    ];
    let second = ["add_nc_u32", "lshlrev_b32", "and_b32"];
    let operands = |op: &str, dst: u32, a: u32, b: u32, dual: bool| {
        let name = |op: &str| {
            if dual {
                format!("v_dual_{op}")
            } else {
                format!("v_{op}")
            }
        };
        match op {
            "mov_b32" => format!("{} v{dst}, v{a}", name(op)),
            "cndmask_b32" if !dual => format!("v_cndmask_b32 v{dst}, v{a}, v{b}, vcc_lo"),
            "fmaak_f32" => format!("{} v{dst}, v{a}, v{b}, 0x40a00000", name(op)),
            "fmamk_f32" => format!("{} v{dst}, v{a}, 0x40a00000, v{b}", name(op)),
            _ => format!("{} v{dst}, v{a}, v{b}", name(op)),
        }
    };
    for target in ["gfx1100", "gfx1200"] {
        let (max, min) = match target {
            "gfx1100" => ("max_f32", "min_f32"),
            _ => ("max_num_f32", "min_num_f32"),
        };
        let real = |op: &'static str| match op {
            "MAX" => max,
            "MIN" => min,
            other => other,
        };
        let mut code = String::from("s_mov_b32 vcc_lo, 0x5a5a5a5a\nv_lshlrev_b32 v8, 3, v0\n");
        let mut pairs = 0;
        for x in first {
            for y in first.into_iter().chain(second) {
                // One literal for both: then it has to be the same, which it is.
                let (x, y) = (real(x), real(y));
                for dual in [true, false] {
                    // 1.5 n, 3.0 − n, n, 7; both read v13, and one writes it where it is alone.
                    code +=
                        "v_cvt_f32_u32 v10, v0\nv_mul_f32 v11, 1.5, v10\nv_sub_f32 v12, 3.0, v10
                        v_mov_b32 v13, v0\nv_mov_b32 v14, 0x40e00000\nv_mov_b32 v15, 0x3f000000\n";
                    code += &if dual {
                        format!(
                            "{} :: {}\n",
                            operands(x, 14, 11, 12, true),
                            operands(y, 15, 10, 13, true)
                        )
                    } else {
                        format!(
                            "{}\n{}\n",
                            operands(x, 14, 11, 12, false),
                            operands(y, 15, 10, 13, false)
                        )
                    };
                    code += "global_store_b64 v8, v[14:15], s[2:3]\nv_add_nc_u32 v8, 0x100, v8\n";
                }
                pairs += 1;
            }
        }
        let Some(dwords) = run_dwords(target, &code, 32, &vec![0; pairs * 128]) else {
            return;
        };
        assert_eq!(pairs, 12 * 15);
        for (number, both) in dwords.chunks(128).enumerate() {
            assert_eq!(both[..64], both[64..], "{target}: pair {number}");
            assert!(both[..64].iter().any(|dword| *dword != 0));
        }
    }
    // v_dual_dot2acc_f32_bf16 v9, v6, v7 :: v_dual_mov_b32 v4, v5, which LLVM 19 does not know: 1.0 · 1.0 + 2.0 · 3.0 + 0.5.
    let code = "v_mov_b32 v6, 0x40003f80\nv_mov_b32 v7, 0x40403f80\nv_mov_b32 v9, 0.5\n.long 0xcb500f06, 0x09040105";
    check("gfx1100", code, 7.5f32.to_bits());
}

#[test]
fn permutes_of_gfx12_read_inactive_lanes_if_they_say_so() {
    // Each lane reads the next; odd lanes are off.
    let setup = "v_and_b32 v0, 31, v0\nv_add_nc_u32 v1, 100, v0\nv_lshlrev_b32 v2, 2, v0\nv_mov_b32 v9, 7\ns_mov_b32 exec_lo, 0x55555555\n";
    for (op, found) in [
        ("ds_bpermute_b32 v9, v2, v1 offset:4", false),
        // ds_bpermute_fi_b32 v9, v2, v1 offset:4, which LLVM 19 does not know.
        (".long 0xdb340004, 0x09000102", true),
    ] {
        let Some(got) = lanes(
            "gfx1200",
            32,
            &format!("{setup}{op}\ns_mov_b32 exec_lo, -1"),
        ) else {
            return;
        };
        for (lane, got) in got.into_iter().enumerate() {
            let want = match (lane % 2, found) {
                (1, _) => 7,
                (_, true) => 101 + lane as u32,
                (_, false) => 0,
            };
            assert_eq!(got, want, "{op} lane {lane}");
        }
    }
}

#[test]
fn waves_of_gfx10_ask_for_their_number_in_the_group() {
    let code = "s_get_waveid_in_workgroup s4\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v9, s4";
    for target in ["gfx1010", "gfx1013"] {
        if let Some(got) = lanes(target, 100, code) {
            let want: Vec<u32> = (0..100).map(|lane| lane / 32).collect();
            assert_eq!(got, want, "{target}");
        }
    }
}
