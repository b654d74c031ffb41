//! What GFX950 added: deeper products, small floats in every pair, scales.

use crate::{case::Case, kinds::*};

#[test]
fn deep_mfma_of_gfx950() {
    let case = |text, a, b, size, depth| Case::dense("gfx950", text, [a, b], size, depth);
    case("v_mfma_f32_16x16x32_f16 D, A, B, D", F16, F16, 16, 32).check();
    case("v_mfma_f32_32x32x16_f16 D, A, B, D", F16, F16, 32, 16).check();
    case("v_mfma_f32_16x16x32_bf16 D, A, B, D", BF16, BF16, 16, 32).check();
    case("v_mfma_f32_32x32x16_bf16 D, A, B, D", BF16, BF16, 32, 16).check();
    case("v_mfma_i32_16x16x64_i8 D, A, B, D", I8, I8, 16, 64).check();
    case("v_mfma_i32_32x32x32_i8 D, A, B, D", I8, I8, 32, 32).check();
    // The older ones, with 8-bit floats of the other kind.
    let (fp8, bf8) = (FP8_OCP, BF8_OCP);
    case("v_mfma_f32_16x16x32_fp8_bf8 D, A, B, D", fp8, bf8, 16, 32).check();
    case("v_mfma_f32_32x32x16_bf8_fp8 D, A, B, D", bf8, fp8, 32, 16).check();
    case("v_mfma_f32_32x32x2_f32 D, A, B, D", F32, F32, 32, 2).check();
}

/// The formats by the number that an instruction names them with.
const FORMATS: [Kind; 5] = [FP8_OCP, BF8_OCP, FP6, BF6, FP4];

#[test]
fn mfma_of_gfx950_in_every_pair_of_formats() {
    for (size, depth, name) in [(16, 128, "16x16x128"), (32, 64, "32x32x64")] {
        for (x, a) in FORMATS.into_iter().enumerate() {
            for (y, b) in FORMATS.into_iter().enumerate() {
                let text = format!("v_mfma_f32_{name}_f8f6f4 D, A, B, D cbsz:{x} blgp:{y}");
                Case {
                    split: [a.bits == 8, b.bits == 8],
                    ..Case::dense("gfx950", text.leak(), [a, b], size, depth)
                }
                .check();
            }
        }
    }
}

#[test]
fn scales_of_gfx950_count_for_their_blocks_of_rows_and_columns() {
    for (size, depth, name) in [(16, 128, "16x16x128"), (32, 64, "32x32x64")] {
        for (x, y, bytes) in [
            (0, 0, [0, 0]),
            (4, 4, [1, 2]),
            (2, 1, [3, 0]),
            (0, 4, [2, 3]),
        ] {
            let (a, b) = (FORMATS[x], FORMATS[y]);
            let [p, q] = bytes;
            let text = format!(
                "v_mfma_scale_f32_{name}_f8f6f4 D, A, B, D, S, T op_sel:[{},{},0] op_sel_hi:[{},{},0] cbsz:{x} blgp:{y}",
                p & 1,
                q & 1,
                p >> 1,
                q >> 1
            );
            Case {
                split: [a.bits == 8, b.bits == 8],
                scales: Some(bytes),
                ..Case::dense("gfx950", text.leak(), [a, b], size, depth)
            }
            .check();
        }
    }
}

#[test]
fn results_may_take_the_place_of_the_scales() {
    // The scales are in v28 and v29.
    Case {
        split: [true; 2],
        scales: Some([0, 0]),
        result: 28,
        ..Case::dense(
            "gfx950",
            "v_mfma_scale_f32_16x16x128_f8f6f4 O, A, B, D, S, T op_sel_hi:[0,0,0]",
            [FP8_OCP; 2],
            16,
            128,
        )
    }
    .check();
}

#[test]
#[rustfmt::skip]
fn deep_smfmac_of_gfx950() {
    let (fp8, bf8) = (FP8_OCP, BF8_OCP);
    for (text, a, b, size, depth, shift) in [
        ("v_smfmac_f32_16x16x64_f16 D, A, B, I", F16, F16, 16, 64, 0),
        ("v_smfmac_f32_32x32x32_f16 D, A, B, I abid:1", F16, F16, 32, 32, 16),
        ("v_smfmac_f32_16x16x64_bf16 D, A, B, I abid:1", BF16, BF16, 16, 64, 16),
        ("v_smfmac_f32_32x32x32_bf16 D, A, B, I", BF16, BF16, 32, 32, 0),
        ("v_smfmac_i32_16x16x128_i8 D, A, B, I", I8, I8, 16, 128, 0),
        ("v_smfmac_i32_32x32x64_i8 D, A, B, I", I8, I8, 32, 64, 0),
        ("v_smfmac_f32_16x16x128_bf8_bf8 D, A, B, I", bf8, bf8, 16, 128, 0),
        ("v_smfmac_f32_16x16x128_bf8_fp8 D, A, B, I", bf8, fp8, 16, 128, 0),
        ("v_smfmac_f32_16x16x128_fp8_bf8 D, A, B, I", fp8, bf8, 16, 128, 0),
        ("v_smfmac_f32_16x16x128_fp8_fp8 D, A, B, I", fp8, fp8, 16, 128, 0),
        ("v_smfmac_f32_32x32x64_bf8_bf8 D, A, B, I", bf8, bf8, 32, 64, 0),
        ("v_smfmac_f32_32x32x64_bf8_fp8 D, A, B, I", bf8, fp8, 32, 64, 0),
        ("v_smfmac_f32_32x32x64_fp8_bf8 D, A, B, I", fp8, bf8, 32, 64, 0),
        ("v_smfmac_f32_32x32x64_fp8_fp8 D, A, B, I", fp8, fp8, 32, 64, 0),
    ] {
        Case {
            sparse: Some(shift),
            split: [false, true],
            ..Case::dense("gfx950", text, [a, b], size, depth)
        }
        .check();
    }
}
