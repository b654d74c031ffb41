//! MFMA of GFX908 to GFX942.

use crate::{
    case::{Case, MFMA},
    kinds::*,
};

#[test]
fn mfma_of_gfx908_and_gfx90a() {
    let case = |text, kind: Kind, size, depth, blocks| Case {
        text,
        a: kind,
        b: kind,
        size,
        depth,
        blocks,
        ..MFMA
    };
    case("v_mfma_f32_32x32x1f32 D, A, B, D", F32, 32, 1, 2).check();
    case("v_mfma_f32_16x16x1f32 D, A, B, D", F32, 16, 1, 4).check();
    case("v_mfma_f32_4x4x1f32 D, A, B, D", F32, 4, 1, 16).check();
    case("v_mfma_f32_32x32x4f16 D, A, B, D", F16, 32, 4, 2).check();
    case("v_mfma_f32_16x16x16f16 D, A, B, D", F16, 16, 16, 1).check();
    case("v_mfma_f32_4x4x4f16 D, A, B, D", F16, 4, 4, 16).check();
    case("v_mfma_f32_32x32x4bf16 D, A, B, D", BF16, 32, 4, 1).check();
    case("v_mfma_f32_16x16x4bf16_1k D, A, B, D", BF16, 16, 4, 4).check();
    case("v_mfma_i32_32x32x8i8 D, A, B, D", I8, 32, 8, 1).check();
    case("v_mfma_i32_16x16x4i8 D, A, B, D", I8, 16, 4, 4).check();
}

#[test]
fn mfma_of_gfx942_in_small_floats_and_xf32() {
    let case = |text, a, b, size, depth| Case::dense("gfx942", text, [a, b], size, depth);
    case("v_mfma_f32_16x16x8_xf32 D, A, B, D", F32, F32, 16, 8).check();
    case("v_mfma_f32_32x32x4_xf32 D, A, B, D", F32, F32, 32, 4).check();
    case("v_mfma_f32_16x16x32_fp8_fp8 D, A, B, D", FP8, FP8, 16, 32).check();
    case("v_mfma_f32_16x16x32_bf8_fp8 D, A, B, D", BF8, FP8, 16, 32).check();
    case("v_mfma_f32_32x32x16_fp8_bf8 D, A, B, D", FP8, BF8, 32, 16).check();
    case("v_mfma_f32_32x32x16_bf8_bf8 D, A, B, D", BF8, BF8, 32, 16).check();
    case("v_mfma_i32_16x16x32_i8 D, A, B, D", I8, I8, 16, 32).check();
    case("v_mfma_i32_32x32x16_i8 D, A, B, D", I8, I8, 32, 16).check();
}

#[test]
#[rustfmt::skip]
fn smfmac_multiplies_the_values_that_the_indices_name() {
    for (text, a, b, size, depth, shift) in [
        ("v_smfmac_f32_16x16x32_f16 D, A, B, I", F16, F16, 16, 32, 0),
        ("v_smfmac_f32_16x16x32_bf16 D, A, B, I abid:2", BF16, BF16, 16, 32, 16),
        ("v_smfmac_f32_32x32x16_f16 D, A, B, I abid:3", F16, F16, 32, 16, 24),
        ("v_smfmac_i32_16x16x64_i8 D, A, B, I abid:1", I8, I8, 16, 64, 16),
        ("v_smfmac_i32_32x32x32_i8 D, A, B, I cbsz:1 abid:1", I8, I8, 32, 32, 0),
        ("v_smfmac_f32_16x16x64_fp8_bf8 D, A, B, I", FP8, BF8, 16, 64, 0),
        ("v_smfmac_f32_32x32x32_bf8_fp8 D, A, B, I abid:1", BF8, FP8, 32, 32, 16),
    ] {
        Case {
            sparse: Some(shift),
            ..Case::dense("gfx942", text, [a, b], size, depth)
        }
        .check();
    }
}
