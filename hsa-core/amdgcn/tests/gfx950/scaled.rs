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

/// A float of few bits: bits of its exponent and of its fraction.
#[derive(Clone, Copy)]
struct Small {
    name: &'static str,
    exponent: u32,
    fraction: u32,
}

impl Small {
    /// The value of a code, by the OCP specifications of 8-bit floats and of microscaling formats; None: infinite or NaN.
    fn value(self, code: u32) -> Option<f32> {
        let Small {
            exponent, fraction, ..
        } = self;
        let magnitude = code & ((1 << (exponent + fraction)) - 1);
        let special = match self.name {
            "fp8" => magnitude == 0x7f,
            "bf8" => magnitude >> fraction == 0x1f,
            _ => false,
        };
        let steps = (magnitude & ((1 << fraction) - 1)) as f32;
        let one = (1 << fraction) as f32;
        let bias = (1 << (exponent - 1)) - 1;
        let value = match (magnitude >> fraction) as i32 {
            0 => steps / one * ((1 - bias) as f32).exp2(),
            power => (one + steps) / one * ((power - bias) as f32).exp2(),
        };
        let negative = code >> (exponent + fraction) & 1 != 0;
        (!special).then_some(if negative { -value } else { value })
    }
}

const fn small(name: &'static str, exponent: u32, fraction: u32) -> Small {
    Small {
        name,
        exponent,
        fraction,
    }
}

#[test]
fn every_value_of_eight_bits_goes_to_wider_floats_and_back() {
    for format in [small("fp8", 4, 3), small("bf8", 5, 2)] {
        let x = format.name;
        // The scale, 1/4, keeps all values within f16.
        let code_of = |lane: usize, byte: usize| (lane + 64 * byte) as u32;
        let packed: Lanes = std::array::from_fn(|lane| {
            (0..4).fold(0, |all, at| all | code_of(lane, at) << (8 * at))
        });
        let code = format!(
            "v_mov_b32 v76, -1
             v_mov_b32 v80, 0
             v_mov_b32 v81, 0
             v_mov_b32 v82, 0
             v_cvt_scalef32_f32_{x} v64, v10, v11
             v_cvt_scalef32_f32_{x} v65, v10, v11 op_sel:[1,0,0]
             v_cvt_scalef32_f32_{x} v66, v10, v11 op_sel:[0,1,0]
             v_cvt_scalef32_f32_{x} v67, v10, v11 op_sel:[1,1,0]
             v_cvt_scalef32_pk_f32_{x} v[68:69], v10, v11
             v_cvt_scalef32_pk_f32_{x} v[70:71], v10, v11 op_sel:[1,0,0]
             v_cvt_scalef32_pk_f16_{x} v72, v10, v11
             v_cvt_scalef32_pk_f16_{x} v73, v10, v11 op_sel:[1,0,0]
             v_cvt_scalef32_pk_bf16_{x} v74, v10, v11
             v_cvt_scalef32_pk_bf16_{x} v75, v10, v11 op_sel:[1,0,0]
             v_cvt_scalef32_f16_{x} v76, v10, v11 op_sel:[0,1,1]
             v_cvt_scalef32_pk_{x}_f32 v77, v64, v65, v11
             v_cvt_scalef32_pk_{x}_f32 v77, v66, v67, v11 op_sel:[0,0,0,1]
             v_cvt_scalef32_pk_{x}_f16 v78, v72, v11
             v_cvt_scalef32_pk_{x}_f16 v78, v73, v11 op_sel:[0,0,1]
             v_cvt_scalef32_pk_{x}_bf16 v79, v74, v11
             v_cvt_scalef32_pk_{x}_bf16 v79, v75, v11 op_sel:[0,0,1]
             v_cvt_scalef32_sr_{x}_f32 v80, v64, 0, v11
             v_cvt_scalef32_sr_{x}_f32 v80, v67, 0, v11 op_sel:[0,0,1,1]
             v_cvt_scalef32_sr_{x}_f16 v81, v72, 0, v11
             v_cvt_scalef32_sr_{x}_f16 v81, v73, 0, v11 op_sel:[1,0,1,1]
             v_cvt_scalef32_sr_{x}_bf16 v82, v74, 0, v11
             v_cvt_scalef32_sr_{x}_bf16 v82, v75, 0, v11 op_sel:[1,0,1,1]"
        );
        let Some(out) = run(0, &code, &[packed, [0.25f32.to_bits(); 64]], 19) else {
            return;
        };
        for lane in 0..64 {
            for byte in 0..4 {
                let Some(value) = format.value(code_of(lane, byte)) else {
                    continue;
                };
                let value = value / 4.0;
                let place = format!("{x} lane {lane} byte {byte}");
                assert_eq!(out[byte][lane], value.to_bits(), "{place}");
                assert_eq!(out[4 + byte][lane], value.to_bits(), "{place}, a pair");
                let half = |first: usize| out[first + byte / 2][lane] >> (16 * (byte % 2)) & 0xffff;
                assert_eq!(half(8), f16(value), "{place}, f16");
                assert_eq!(half(10), bf16(value), "{place}, bf16");
                if byte == 2 {
                    assert_eq!(out[12][lane], f16(value) << 16 | 0xffff, "{place}, one f16");
                }
                for back in 13..16 {
                    let got = field(&out[back..], lane, 8 * byte, 8);
                    assert_eq!(got, code_of(lane, byte), "{place}, back in v{}", 64 + back);
                }
                for back in (16..19).filter(|_| byte == 0 || byte == 3) {
                    let got = field(&out[back..], lane, 8 * byte, 8);
                    assert_eq!(got, code_of(lane, byte), "{place}, back in v{}", 64 + back);
                }
            }
        }
    }
}

#[test]
fn every_value_of_four_bits_goes_to_wider_floats_and_back() {
    let format = small("fp4", 2, 1);
    let code_of = |lane: usize, index: usize| ((lane + 5 * index) % 16) as u32;
    let packed: Lanes =
        std::array::from_fn(|lane| (0..8).fold(0, |all, at| all | code_of(lane, at) << (4 * at)));
    let mut code = String::new();
    for byte in 0..4 {
        let (low, high) = (byte & 1, byte >> 1);
        let (pair, f16, bf16) = (64 + 2 * byte, 72 + byte, 76 + byte);
        let next = pair + 1;
        let (from, to) = (
            format!("op_sel:[{low},{high},0]"),
            format!("op_sel:[0,0,{low},{high}]"),
        );
        code += &format!(
            "v_cvt_scalef32_pk_f32_fp4 v[{pair}:{next}], v10, v11 {from}
             v_cvt_scalef32_pk_f16_fp4 v{f16}, v10, v11 {from}
             v_cvt_scalef32_pk_bf16_fp4 v{bf16}, v10, v11 {from}
             v_cvt_scalef32_pk_fp4_f32 v80, v{pair}, v{next}, v11 {to}
             v_cvt_scalef32_pk_fp4_f16 v81, v{f16}, v11 {to}
             v_cvt_scalef32_pk_fp4_bf16 v82, v{bf16}, v11 {to}
             v_cvt_scalef32_sr_pk_fp4_f32 v83, v[{pair}:{next}], 0, v11 {to}
             v_cvt_scalef32_sr_pk_fp4_f16 v84, v{f16}, 0, v11 {to}
             v_cvt_scalef32_sr_pk_fp4_bf16 v85, v{bf16}, 0, v11 {to}\n"
        );
    }
    let Some(out) = run(0, &code, &[packed, [8.0f32.to_bits(); 64]], 22) else {
        return;
    };
    for lane in 0..64 {
        for index in 0..8 {
            let value = format.value(code_of(lane, index)).expect("finite") * 8.0;
            let place = format!("lane {lane} index {index}");
            assert_eq!(out[index][lane], value.to_bits(), "{place}");
            let half = |first: usize| out[first + index / 2][lane] >> (16 * (index % 2)) & 0xffff;
            assert_eq!(half(8), f16(value), "{place}, f16");
            assert_eq!(half(12), bf16(value), "{place}, bf16");
        }
        for (back, register) in out.iter().enumerate().skip(16) {
            assert_eq!(register[lane], packed[lane], "lane {lane}, v{}", 64 + back);
        }
    }
}

#[test]
fn lists_of_thirty_two_are_converted() {
    for format in [small("fp6", 2, 3), small("bf6", 3, 2)] {
        list_of_thirty_two_is_converted(format);
    }
}

fn list_of_thirty_two_is_converted(format: Small) {
    let value = |code: u32| format.value(code).expect("finite");
    let with_name = |code: &str| code.replace("fp6", format.name);
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
    let halves = with_name(
        "v_cvt_scalef32_pk32_f16_fp6 v[64:79], v[10:15], v16
                  v_cvt_scalef32_pk32_bf16_fp6 v[80:95], v[10:15], v16",
    );
    let Some(out) = run(0, &halves, &packed, 32) else {
        return;
    };
    for lane in 0..64 {
        for index in 0..32 {
            let want = 4.0 * value(code_of(lane, index));
            let at = 16 * index;
            assert_eq!(
                field(&out, lane, at, 16),
                f16(want),
                "f16 {} lane {lane} {index}",
                format.name
            );
            assert_eq!(
                field(&out, lane, 512 + at, 16),
                bf16(want),
                "bf16 {} lane {lane} {index}",
                format.name
            );
        }
    }
    // There and back: every value, by way of f32, f16 and bf16, rounded to nearest or with random bits that change nothing.
    let way = with_name(
        "v_cvt_scalef32_pk32_f32_fp6 v[32:63], v[10:15], v16
               v_cvt_scalef32_2xpk16_fp6_f32 v[64:69], v[32:47], v[48:63], v16
               v_mov_b32 v17, -1
               v_cvt_scalef32_sr_pk32_fp6_f32 v[70:75], v[32:63], v17, v16
               v_cvt_scalef32_pk32_f16_fp6 v[32:47], v[10:15], v16
               v_cvt_scalef32_pk32_fp6_f16 v[76:81], v[32:47], v16
               v_cvt_scalef32_sr_pk32_fp6_f16 v[82:87], v[32:47], v17, v16
               v_cvt_scalef32_pk32_bf16_fp6 v[32:47], v[10:15], v16
               v_cvt_scalef32_pk32_fp6_bf16 v[88:93], v[32:47], v16
               v_cvt_scalef32_sr_pk32_fp6_bf16 v[94:99], v[32:47], v17, v16",
    );
    let Some(out) = run(0, &way, &packed, 36) else {
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
                    "{} list {list} lane {lane} index {index}",
                    format.name
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
