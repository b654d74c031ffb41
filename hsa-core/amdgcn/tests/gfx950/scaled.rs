//! Conversions with a scale.

use crate::lanes::*;

#[test]
fn conversions_with_a_scale_read_and_write_parts_of_registers() {
    // 1, 2 and −1.5 in FP8 (E4M3) are 0x38, 0x40 and 0xbc; in FP4 1 is 2, 2 is 4, −1.5 is 0xb.
    let constant = |bits: u32| [bits; 64];
    let inputs = [
        constant(2.0f32.to_bits()),
        constant((-3.0f32).to_bits()),
        constant(2.0f32.to_bits()),
        constant(0xbc40_3840),
        constant(0x24b2),
        constant(f16(2.0) | f16(-3.0) << 16),
        constant(bf16(2.0) | bf16(-3.0) << 16),
    ];
    let mut code = String::new();
    for register in 64..84 {
        code += &format!("v_mov_b32 v{register}, -1\n");
    }
    code += "v_cvt_scalef32_pk_fp8_f32 v64, v10, v11, v12
             v_cvt_scalef32_pk_fp8_f32 v65, v10, v11, v12 op_sel:[0,0,0,1]
             v_cvt_scalef32_pk_fp4_f32 v66, v10, v11, v12 op_sel:[0,0,1,1]
             v_cvt_scalef32_pk_fp8_f16 v67, v15, v12
             v_cvt_scalef32_pk_fp8_bf16 v68, v16, v12 op_sel:[0,0,1]
             v_cvt_scalef32_pk_fp4_f16 v69, v15, v12 op_sel:[0,0,1,0]
             v_cvt_scalef32_f32_fp8 v70, v13, v12 op_sel:[1,0,0]
             v_cvt_scalef32_f32_fp8 v71, v13, v12 op_sel:[1,1,0]
             v_cvt_scalef32_f16_fp8 v72, v13, v12 op_sel:[0,0,1]
             v_cvt_scalef32_pk_f16_fp8 v73, v13, v12 op_sel:[1,0,0]
             v_cvt_scalef32_pk_bf16_fp4 v74, v14, v12 op_sel:[1,0,0]
             v_cvt_scalef32_pk_f32_fp8 v[76:77], v13, v12 op_sel:[1,0,0]
             v_cvt_scalef32_pk_f32_fp4 v[78:79], v14, v12
             v_cvt_scalef32_sr_fp8_f32 v80, v10, 0, v12 op_sel:[0,0,1,1]
             v_cvt_scalef32_sr_fp8_f16 v81, v15, 0, v12 op_sel:[1,0,0,0]
             v_cvt_scalef32_pk_bf8_f32 v82, |v11|, -v10, v12
             v_cvt_scalef32_sr_pk_fp4_f32 v83, v[10:11], 0, v12 op_sel:[0,0,1,0]\n";
    let Some(out) = run(0, &code, &inputs, 20) else {
        return;
    };
    let want: [u32; 20] = [
        // Divided by the scale of 2: 1 and −1.5.
        0xffff_bc38,
        0xbc38_ffff,
        0xb2ff_ffff,
        0xffff_bc38,
        0xbc38_ffff,
        0xffff_b2ff,
        // Multiplied by it: bytes 1 and 3 of 2, 1, 2, −1.5.
        2.0f32.to_bits(),
        (-3.0f32).to_bits(),
        f16(4.0) << 16 | 0xffff,
        f16(4.0) | f16(-3.0) << 16,
        bf16(4.0) | bf16(2.0) << 16,
        u32::MAX,
        4.0f32.to_bits(),
        (-3.0f32).to_bits(),
        2.0f32.to_bits(),
        (-3.0f32).to_bits(),
        0x38ff_ffff,
        0xffff_ffbc,
        // BF8 (E5M2): 1.5 is 0x3e, −1 is 0xbc.
        0xffff_bc3e,
        0xffff_b2ff,
    ];
    for ((number, register), want) in (64..).zip(&out).zip(want) {
        assert_eq!(*register, [want; 64], "v{number}");
    }
}

#[test]
fn lists_of_thirty_two_are_converted() {
    // The values of FP6 (E2M3) 0 to 31 in eighths up to 2, then coarser.
    let value = |code: u32| {
        let (exponent, fraction) = (code >> 3 & 3, (code & 7) as f32);
        let magnitude = match exponent {
            0 => fraction / 8.0,
            _ => (8.0 + fraction) / 8.0 * ((exponent - 1) as f32).exp2(),
        };
        if code & 32 != 0 {
            -magnitude
        } else {
            magnitude
        }
    };
    let code_of = |lane: usize, index: usize| ((lane + 3 * index) % 64) as u32;
    // 32 codes of six bits in six registers, and the scale, 4.
    let mut packed: Vec<Lanes> = (0..6)
        .map(|register| {
            std::array::from_fn(|lane| {
                (0..32).fold(0, |word, bit| {
                    let at = 32 * register + bit;
                    word | (code_of(lane, at / 6) >> (at % 6) & 1) << bit
                })
            })
        })
        .collect();
    packed.push([4.0f32.to_bits(); 64]);
    let halves = "v_cvt_scalef32_pk32_f16_fp6 v[64:79], v[10:15], v16
                  v_cvt_scalef32_pk32_bf16_fp6 v[80:95], v[10:15], v16";
    let Some(out) = run(0, halves, &packed, 32) else {
        return;
    };
    for lane in 0..64 {
        for index in 0..32 {
            let want = 4.0 * value(code_of(lane, index));
            let at = 16 * index;
            assert_eq!(
                field(&out, lane, at, 16),
                f16(want),
                "f16 lane {lane} {index}"
            );
            assert_eq!(
                field(&out, lane, 512 + at, 16),
                bf16(want),
                "bf16 lane {lane} {index}"
            );
        }
    }
    // There and back: every value, by way of f32, f16 and bf16, rounded to nearest or with random bits that change nothing.
    let way = "v_cvt_scalef32_pk32_f32_fp6 v[32:63], v[10:15], v16
               v_cvt_scalef32_2xpk16_fp6_f32 v[64:69], v[32:47], v[48:63], v16
               v_mov_b32 v17, -1
               v_cvt_scalef32_sr_pk32_fp6_f32 v[70:75], v[32:63], v17, v16
               v_cvt_scalef32_pk32_f16_fp6 v[32:47], v[10:15], v16
               v_cvt_scalef32_pk32_fp6_f16 v[76:81], v[32:47], v16
               v_cvt_scalef32_sr_pk32_fp6_f16 v[82:87], v[32:47], v17, v16
               v_cvt_scalef32_pk32_bf16_fp6 v[32:47], v[10:15], v16
               v_cvt_scalef32_pk32_fp6_bf16 v[88:93], v[32:47], v16
               v_cvt_scalef32_sr_pk32_fp6_bf16 v[94:99], v[32:47], v17, v16";
    let Some(out) = run(0, way, &packed, 36) else {
        return;
    };
    for lane in 0..64 {
        for (list, first) in [0, 6, 12, 18, 24, 30].into_iter().enumerate() {
            for index in 0..32 {
                // Two lists of sixteen are taken in turns.
                let from = match list {
                    0 => index / 2 + 16 * (index % 2),
                    _ => index,
                };
                let got = field(&out[first..first + 6], lane, 6 * index, 6);
                assert_eq!(
                    got,
                    code_of(lane, from),
                    "list {list} lane {lane} index {index}"
                );
            }
        }
    }
}

#[test]
fn each_value_of_a_list_has_random_bits_of_its_own() {
    // 1.5 of FP4's steps 1 and 2 is a value; 1.25 lies halfway between 1 and 1.5.
    let seed = random(40);
    let inputs = [
        [1.25f32.to_bits(); 64],
        [1.25f32.to_bits(); 64],
        seed,
        [1.0f32.to_bits(); 64],
    ];
    let code = "v_mov_b32 v64, 0
                v_cvt_scalef32_sr_pk_fp4_f32 v64, v[10:11], v12, v13";
    let Some(out) = run(0, code, &inputs, 1) else {
        return;
    };
    for lane in 0..64 {
        // 1 is code 2, 1.5 is code 3: up if the highest random bit is set.
        let next = seed[lane] << 1 ^ if seed[lane] >> 31 != 0 { 197 } else { 0 };
        let want = (2 + (seed[lane] >> 31)) | (2 + (next >> 31)) << 4;
        assert_eq!(out[0][lane], want, "lane {lane}");
    }
}
