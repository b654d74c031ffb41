//! What GFX12 (and GFX11.5) has and its elders lack, in assembly: split and named barriers, dynamic registers, scalar floating point, blocks of
//! registers, transposed loads, work-group ids in trap registers.

mod support;

use gneiss_amdgcn::engine::FaultKind;
use support::*;

/// Runs code that leaves a dword in s21, and gives it.
fn scalar(target: &str, code: &str) -> Option<u32> {
    let code = format!(
        "s_mov_b64 s[40:41], s[2:3]\n{code}\nv_mov_b32 v8, 0\nv_mov_b32 v9, s21\nglobal_store_dword v8, v9, s[40:41]"
    );
    run_dwords(target, &code, 1, &[0]).map(|dwords| dwords[0])
}

/// The wave's number in its group, in s20.
const WAVE: &str =
    "v_and_b32 v1, 0x3ff, v0\nv_lshrrev_b32 v1, 5, v1\nv_readfirstlane_b32 s20, v1\n";

#[test]
fn a_signal_counts_before_its_wave_waits() {
    // Wave 1 signals, and waits only after it has seen what wave 0 writes after the barrier.
    let code = format!(
        "{WAVE}v_mov_b32 v2, 0\nv_mov_b32 v3, 1\ns_barrier_signal -1
        s_cmp_eq_u32 s20, 0
        s_cbranch_scc1 first
        again:
        global_load_b32 v4, v2, s[2:3] scope:SCOPE_DEV
        s_wait_loadcnt 0x0
        v_readfirstlane_b32 s21, v4
        s_cmp_eq_u32 s21, 0
        s_cbranch_scc1 again
        s_barrier_wait 0xffff
        global_store_b32 v2, v3, s[2:3] offset:4
        s_branch both
        first:
        s_barrier_wait 0xffff
        global_store_b32 v2, v3, s[2:3] scope:SCOPE_DEV
        both:"
    );
    for target in ["gfx1200", "gfx1201"] {
        let Some(dwords) = run_dwords(target, &code, 64, &[0, 0]) else {
            return;
        };
        assert_eq!(dwords, [1, 1], "{target}");
    }
}

#[test]
fn one_wave_signals_first_and_the_state_counts() {
    // Each of three waves: whether it was first. Then the state: three members.
    let code = format!(
        "{WAVE}s_barrier_signal_isfirst -1
        s_cselect_b32 s21, 1, 0
        s_barrier_wait 0xffff
        s_get_barrier_state s22, -1
        s_and_b32 s22, s22, 0xffff
        s_barrier_signal -1
        s_barrier_wait 0xffff
        v_lshlrev_b32 v2, 3, v1
        v_mov_b32 v3, s21
        v_mov_b32 v4, s22
        global_store_b64 v2, v[3:4], s[2:3]"
    );
    let Some(dwords) = run_dwords("gfx1200", &code, 96, &[0; 6]) else {
        return;
    };
    let first: u32 = dwords.iter().step_by(2).sum();
    assert_eq!(first, 1, "{dwords:?}");
    assert_eq!([dwords[1], dwords[3], dwords[5]], [3 << 4 | 1; 3]);
    // One wave of two has signalled.
    let code = "v_mov_b32 v2, 0\ns_mov_b32 m0, 0x20005\ns_barrier_init m0\ns_barrier_signal 5
        s_get_barrier_state s22, m0
        v_mov_b32 v3, s22
        global_store_b32 v2, v3, s[2:3]";
    let dwords = run_dwords("gfx1200", code, 1, &[0]).expect("the tools are there");
    assert_eq!(dwords, [1 << 16 | 2 << 4 | 1]);
}

#[test]
fn named_barriers_bring_their_members_together() {
    // Of three waves 1 and 2 share barrier 3; wave 0 does not. Wave 1 reads after it what wave 2 wrote before it.
    let code = format!(
        "{WAVE}v_mov_b32 v2, 0\nv_mov_b32 v3, 7
        s_mov_b32 m0, 0x20003
        s_cmp_eq_u32 s20, 0
        s_cbranch_scc0 members
        s_barrier_init m0
        s_barrier_signal -1
        s_barrier_wait 0xffff
        s_endpgm
        members:
        s_barrier_signal -1
        s_barrier_wait 0xffff
        s_barrier_join m0
        s_cmp_eq_u32 s20, 2
        s_cbranch_scc0 reader
        s_sleep 1
        global_store_b32 v2, v3, s[2:3] scope:SCOPE_DEV
        s_barrier_signal m0
        s_barrier_wait 0x1
        s_barrier_leave
        s_cselect_b32 s21, 1, 0
        v_mov_b32 v4, s21
        global_store_b32 v2, v4, s[2:3] offset:8
        s_barrier_leave
        s_cselect_b32 s21, 1, 0
        v_mov_b32 v4, s21
        global_store_b32 v2, v4, s[2:3] offset:12
        s_endpgm
        reader:
        s_barrier_signal 3
        s_barrier_wait 0x1
        global_load_b32 v4, v2, s[2:3] scope:SCOPE_DEV
        s_wait_loadcnt 0x0
        global_store_b32 v2, v4, s[2:3] offset:4"
    );
    let Some(dwords) = run_dwords("gfx1200", &code, 96, &[0, 0, 0, 9]) else {
        return;
    };
    assert_eq!(dwords, [7, 7, 1, 0]);
}

#[test]
fn a_barrier_that_nobody_completes_is_a_fault() {
    let code = "s_mov_b32 m0, 0x20003\ns_barrier_init m0\ns_barrier_join m0\ns_barrier_signal m0\ns_barrier_wait 0x1";
    let Some(elf) = assemble("gfx1200", &kernel("gfx1200", "", code)) else {
        return;
    };
    let module = Module::load(&gpu("gfx1200"), &elf);
    let fault = module.run("k", [1, 1, 1], [1, 1, 1], &[], 0).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Unsupported);
    assert!(fault.to_string().contains("barriers"), "{fault}");
}

#[test]
fn a_wave_grows_and_shrinks() {
    // s_alloc_vgpr 64, 256 and 264, which LLVM 19 does not know, of a wave with 128.
    for (words, granted) in [
        (".long 0xbe8053c0", 1),
        (".long 0xbe8053ff, 0x100", 1),
        (".long 0xbe8053ff, 0x108", 0),
    ] {
        let Some(got) = scalar("gfx1200", &format!("{words}\ns_cselect_b32 s21, 1, 0")) else {
            return;
        };
        assert_eq!(got, granted, "{words}");
    }
    // The last of 256 registers, and those of before, hold what is put into them.
    let code = "v_mov_b32 v100, 40
        .long 0xbe8053ff, 0x100
        v_mov_b32 v255, 2
        v_add_nc_u32 v255, v255, v100
        v_readfirstlane_b32 s21, v255
        .long 0xbe8053c0";
    assert_eq!(scalar("gfx1200", code), Some(42));
}

#[test]
fn a_register_that_a_wave_does_not_have_is_a_fault() {
    let Some(elf) = assemble("gfx1200", &kernel("gfx1200", "", "v_mov_b32 v255, 2")) else {
        return;
    };
    let module = Module::load(&gpu("gfx1200"), &elf);
    let fault = module.run("k", [1, 1, 1], [1, 1, 1], &[], 0).unwrap_err();
    assert!(fault.to_string().contains("v255"), "{fault}");
}

#[test]
fn scalar_transcendentals_have_vector_modifiers() {
    let f = f32::to_bits;
    for (input, op, want) in [
        (f(4.0), "v_s_rcp_f32 s21, s20", f(0.25)),
        (f(4.0), "v_s_rcp_f32 s21, -s20", f(-0.25)),
        (f(-4.0), "v_s_sqrt_f32 s21, |s20|", f(2.0)),
        (f(4.0), "v_s_rsq_f32 s21, s20", f(0.5)),
        (f(3.0), "v_s_exp_f32 s21, s20", f(8.0)),
        (f(4.0), "v_s_log_f32 s21, s20 clamp", f(1.0)),
        (f(-1.0), "v_s_sqrt_f32 s21, s20", 0x7fc0_0000),
        (0, "v_s_log_f32 s21, s20", f(f32::NEG_INFINITY)),
        // Halves: 4.0, −4.0, 3.0; the high half of the result is 0.
        (0xffff_4400, "v_s_rcp_f16 s21, s20", 0x3400),
        (0xc400, "v_s_sqrt_f16 s21, -s20", 0x4000),
        (0x4400, "v_s_rsq_f16 s21, s20", 0x3800),
        (0x4200, "v_s_exp_f16 s21, s20", 0x4800),
        (0x4400, "v_s_log_f16 s21, s20", 0x4000),
    ] {
        let Some(got) = scalar("gfx1200", &format!("s_mov_b32 s20, {input:#x}\n{op}")) else {
            return;
        };
        assert_eq!(got, want, "{op} of {input:#x}: {got:#x}");
    }
}

#[test]
fn scalar_floats_of_gfx11_5_and_gfx12() {
    let f = f32::to_bits;
    // Operands in s19 and s20.
    let cases = [
        (f(1.5), f(2.25), "s_add_f32 s21, s19, s20", f(3.75)),
        (f(1.5), f(2.25), "s_sub_f32 s21, s19, s20", f(-0.75)),
        (f(1.5), f(2.25), "s_mul_f32 s21, s19, s20", f(3.375)),
        (
            f(1.5),
            f(2.0),
            "s_mov_b32 s21, 1.0\ns_fmac_f32 s21, s19, s20",
            f(4.0),
        ),
        (
            f(1.5),
            f(2.0),
            "s_fmamk_f32 s21, s19, 0x40800000, s20",
            f(8.0),
        ),
        (
            f(1.5),
            f(2.0),
            "s_fmaak_f32 s21, s19, s20, 0x40800000",
            f(7.0),
        ),
        (f(2.5), 0, "s_rndne_f32 s21, s19", f(2.0)),
        (f(-2.5), 0, "s_floor_f32 s21, s19", f(-3.0)),
        (f(-2.5), 0, "s_ceil_f32 s21, s19", f(-2.0)),
        (f(-2.5), 0, "s_trunc_f32 s21, s19", f(-2.0)),
        (7, 0, "s_cvt_f32_i32 s21, s19", f(7.0)),
        (
            f(-7.9),
            0,
            "s_cvt_i32_f32 s21, s19",
            (-7i32).cast_unsigned(),
        ),
        (f(-7.9), 0, "s_cvt_u32_f32 s21, s19", 0),
        (f(1.5), 0, "s_cvt_f16_f32 s21, s19", 0x3e00),
        (0x3e00_4000, 0, "s_cvt_hi_f32_f16 s21, s19", f(1.5)),
        (0x3e00, 0x4000, "s_add_f16 s21, s19, s20", 0x4300),
        (
            f(1.0),
            f(2.0),
            "s_cvt_pk_rtz_f16_f32 s21, s19, s20",
            0x4000_3c00,
        ),
        (
            f(1.0),
            f(f32::NAN),
            "s_cmp_lt_f32 s19, s20\ns_cselect_b32 s21, 1, 0",
            0,
        ),
        (
            f(1.0),
            f(f32::NAN),
            "s_cmp_nge_f32 s19, s20\ns_cselect_b32 s21, 1, 0",
            1,
        ),
        (
            0x3c00,
            0x4000,
            "s_cmp_lt_f16 s19, s20\ns_cselect_b32 s21, 1, 0",
            1,
        ),
    ];
    for target in ["gfx1150", "gfx1200"] {
        // The names of minimum and maximum changed.
        let (min, max) = if target == "gfx1150" {
            ("s_min_f16 s21, s19, s20", "s_max_f16 s21, s19, s20")
        } else {
            ("s_min_num_f16 s21, s19, s20", "s_max_num_f16 s21, s19, s20")
        };
        // 1.5 and −2.0; 1.5 and NaN.
        let own = [
            (0x3e00, 0xc000, min, 0xc000),
            (0x3e00, 0xc000, max, 0x3e00),
            (0x3e00, 0x7e00, min, 0x3e00),
            (0x7e00, 0x3e00, max, 0x3e00),
        ];
        for (a, b, op, want) in cases.iter().chain(&own) {
            let code = format!("s_mov_b32 s19, {a:#x}\ns_mov_b32 s20, {b:#x}\n{op}");
            let Some(got) = scalar(target, &code) else {
                return;
            };
            assert_eq!(got, *want, "{target} {op}: {got:#x}");
        }
    }
}

#[test]
fn blocks_move_the_registers_that_m0_names() {
    // Registers 0, 2 and 31 of a block of one dword for each bit of M0, in global memory and in scratch.
    let fill: String = (0..32)
        .map(|n| {
            format!(
                "v_mov_b32 v{}, {}\nv_mov_b32 v{}, 0xee\n",
                32 + n,
                100 + n,
                64 + n
            )
        })
        .collect();
    let keep = "global_store_b32 v1, v64, s[2:3] offset:128
        global_store_b32 v1, v65, s[2:3] offset:132
        global_store_b32 v1, v66, s[2:3] offset:136
        global_store_b32 v1, v95, s[2:3] offset:140";
    let global = format!(
        "{fill}v_mov_b32 v1, 0\ns_mov_b32 m0, 0x80000005
        global_store_block v1, v[32:63], s[2:3]
        global_load_block v[64:95], v1, s[2:3]\n{keep}"
    );
    let scratch = format!(
        "{fill}v_mov_b32 v1, 0\ns_mov_b32 m0, 0x80000005
        scratch_store_block off, v[32:63], off offset:4
        scratch_load_block v[64:95], off, off offset:4\n{keep}"
    );
    for (code, in_memory) in [(global, true), (scratch, false)] {
        let directives = ".amdhsa_private_segment_fixed_size 256\n.amdhsa_enable_private_segment 1";
        let Some(bytes) = run_bytes("gfx1200", directives, &code, 1, &[0; 144]) else {
            return;
        };
        let dword =
            |at: usize| u32::from_le_bytes(bytes[4 * at..4 * at + 4].try_into().expect("four"));
        for at in 0..32 {
            let want = if in_memory && [0, 2, 31].contains(&at) {
                100 + at as u32
            } else {
                0
            };
            assert_eq!(dword(at), want, "dword {at}");
        }
        assert_eq!([32, 33, 34, 35].map(dword), [100, 0xee, 102, 131]);
    }
}

#[test]
fn transposed_loads_exchange_rows_and_columns() {
    // Element (r, c) is 16 r + c; lane n reads row n mod 16 from column 8 (n / 16) on.
    let address = |element: u32| {
        format!(
            "v_and_b32 v0, 31, v0\nv_and_b32 v1, 15, v0\nv_lshrrev_b32 v2, 4, v0
            v_mul_u32_u24 v1, {}, v1\nv_mul_u32_u24 v2, {}, v2\nv_add_nc_u32 v1, v1, v2\n",
            16 * element,
            8 * element
        )
    };
    let code = format!(
        "{}global_load_tr_b128 v[10:13], v1, s[2:3]\nv_lshlrev_b32 v3, 4, v0\nglobal_store_b128 v3, v[10:13], s[2:3] offset:512",
        address(2)
    );
    let matrix: Vec<u8> = (0..256u16)
        .flat_map(u16::to_le_bytes)
        .chain([0; 512])
        .collect();
    let Some(bytes) = run_bytes("gfx1200", "", &code, 32, &matrix) else {
        return;
    };
    for lane in 0..32 {
        for element in 0..8 {
            let at = 512 + 16 * lane + 2 * element;
            let got = u16::from_le_bytes([bytes[at], bytes[at + 1]]);
            let (row, column) = (8 * (lane / 16) + element, lane % 16);
            assert_eq!(
                usize::from(got),
                16 * row + column,
                "lane {lane} element {element}"
            );
        }
    }
    let code = format!(
        "{}global_load_tr_b64 v[10:11], v1, s[2:3]\nv_lshlrev_b32 v3, 3, v0\nglobal_store_b64 v3, v[10:11], s[2:3] offset:256",
        address(1)
    );
    let matrix: Vec<u8> = (0..=255u8).chain([0; 256]).collect();
    let bytes = run_bytes("gfx1200", "", &code, 32, &matrix).expect("the tools are there");
    for lane in 0..32 {
        for element in 0..8 {
            let (row, column) = (8 * (lane / 16) + element, lane % 16);
            let got = bytes[256 + 8 * lane + element];
            assert_eq!(
                usize::from(got),
                16 * row + column,
                "lane {lane} element {element}"
            );
        }
    }
}

#[test]
fn work_group_ids_are_in_trap_registers() {
    let code = "s_load_b64 s[2:3], s[0:1], 0x0
        s_wait_kmcnt 0x0
        s_and_b32 s20, ttmp7, 0xffff
        s_lshr_b32 s21, ttmp7, 16
        s_mul_i32 s22, s21, 2
        s_add_co_u32 s22, s22, s20
        s_mul_i32 s22, s22, 3
        s_add_co_u32 s22, s22, ttmp9
        v_mov_b32 v1, s22
        v_lshlrev_b32 v2, 2, v1
        v_add_nc_u32 v1, 50, v1
        global_store_b32 v2, v1, s[2:3]";
    let directives = ".amdhsa_system_sgpr_workgroup_id_x 1\n.amdhsa_system_sgpr_workgroup_id_y 1\n.amdhsa_system_sgpr_workgroup_id_z 1";
    let Some(elf) = assemble("gfx1200", &kernel("gfx1200", directives, code)) else {
        return;
    };
    let gpu = gpu("gfx1200");
    let module = Module::load(&gpu, &elf);
    let out = Buffer::from(&gpu, &[0u32; 12]);
    module
        .run(
            "k",
            [3, 2, 2],
            [1, 1, 1],
            Args::new().buffer(&out).bytes(),
            0,
        )
        .unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(out.read::<u32>(), (50..62).collect::<Vec<_>>());
}
