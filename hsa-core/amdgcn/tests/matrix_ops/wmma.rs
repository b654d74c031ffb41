//! WMMA of GFX11 and GFX12.

use crate::{
    case::{Case, Layout, MFMA, run_with_wave},
    kinds::*,
    support::*,
};

#[test]
fn wmma_of_gfx11_in_both_wave_sizes() {
    for lanes in [32, 64] {
        let case = |text, kind: Kind| Case {
            target: "gfx1100",
            text,
            a: kind,
            b: kind,
            size: 16,
            depth: 16,
            layout: Layout::Wmma11 { lanes },
            ..MFMA
        };
        case("v_wmma_f32_16x16x16_f16 D, A, B, D", F16).check();
        case("v_wmma_f32_16x16x16_bf16 D, A, B, D", BF16).check();
        case("v_wmma_i32_16x16x16_iu8 D, A, B, D neg_lo:[1,1,0]", I8).check();
        case("v_wmma_i32_16x16x16_iu4 D, A, B, D neg_lo:[1,1,0]", I4).check();
    }
}

#[test]
fn wmma_of_gfx12_in_both_wave_sizes() {
    for lanes in [32, 64] {
        let case = |text, a: Kind, b: Kind, depth, sparse| Case {
            target: "gfx1200",
            text,
            a,
            b,
            size: 16,
            depth,
            layout: Layout::Wmma12 { lanes },
            sparse,
            ..MFMA
        };
        let dense = |text, a, b, depth| case(text, a, b, depth, None).check();
        dense("v_wmma_f32_16x16x16_f16 D, A, B, D", F16, F16, 16);
        dense("v_wmma_f32_16x16x16_bf16 D, A, B, D", BF16, BF16, 16);
        dense(
            "v_wmma_i32_16x16x16_iu8 D, A, B, D neg_lo:[1,1,0]",
            I8,
            I8,
            16,
        );
        dense(
            "v_wmma_i32_16x16x16_iu4 D, A, B, D neg_lo:[1,1,0]",
            I4,
            I4,
            16,
        );
        dense(
            "v_wmma_i32_16x16x32_iu4 D, A, B, D neg_lo:[1,1,0]",
            I4,
            I4,
            32,
        );
        dense(
            "v_wmma_f32_16x16x16_fp8_bf8 D, A, B, D",
            FP8_OCP,
            BF8_OCP,
            16,
        );
        let sparse = |text, a, b, depth, shift| case(text, a, b, depth, Some(shift)).check();
        sparse("v_swmmac_f32_16x16x32_f16 D, A, B, I", F16, F16, 32, 0);
        let key = if lanes == 32 { 16 } else { 8 };
        sparse(
            "v_swmmac_f32_16x16x32_bf16 D, A, B, I index_key:1",
            BF16,
            BF16,
            32,
            key,
        );
        sparse(
            "v_swmmac_i32_16x16x32_iu8 D, A, B, I neg_lo:[1,1,0]",
            I8,
            I8,
            32,
            0,
        );
    }
}

#[test]
fn wmma_results_of_16_bits_keep_the_other_half() {
    // All of A is 1, all of B is 2: every sum is 32, with C = 1 in the half that is used.
    let one_two = |word: u32, half: u32| -> Vec<u32> {
        let mut memory = vec![word; 8 * 32];
        memory.extend(vec![half; 8 * 32]);
        memory.extend(vec![0x1234_5678; 8 * 32]);
        memory
    };
    for (op, a, b, c, want) in [
        ("f16", 0x3c00_3c00, 0x4000_4000, 0x3c00u32, 0x5020u32),
        ("bf16", 0x3f80_3f80, 0x4000_4000, 0x3f80, 0x4204),
    ] {
        for (select, shift) in [("", 0), (" op_sel:[0,0,1]", 16)] {
            let mut memory = one_two(a, b);
            let kept = 0x1234_5678 & !(0xffff << shift);
            for word in &mut memory[16 * 32..] {
                *word = kept | c << shift;
            }
            let mut code = String::new();
            for at in 0..24 {
                code += &load_lanes(32 + at, at * 128);
            }
            code += &format!(
                "s_waitcnt vmcnt(0)
                v_wmma_{op}_16x16x16_{op} v[48:55], v[32:39], v[40:47], v[48:55]{select}
                v_lshlrev_b32 v2, 2, v0
                global_store_b32 v2, v51, s[2:3]"
            );
            let Some(result) = run_with_wave("gfx1100", 32, &code, &memory) else {
                return;
            };
            assert_eq!(result[..32], [kept | want << shift; 32], "{op}{select}");
        }
    }
}
