//! MFMA of f64.

use crate::{case::run_with_wave, support::*};

/// Loads register pairs from memory in doubles by lane, runs the code, and gives the doubles of v[64:65] and on.
fn doubles(code: &str, inputs: &[Vec<f64>], outputs: usize) -> Option<Vec<Vec<f64>>> {
    let words: Vec<u32> = inputs
        .iter()
        .flat_map(|values| {
            let low = values.iter().map(|value| value.to_bits() as u32);
            let high = values.iter().map(|value| (value.to_bits() >> 32) as u32);
            low.chain(high).collect::<Vec<u32>>()
        })
        .chain(vec![0; 128 * outputs])
        .collect();
    let mut text = String::new();
    for at in 0..2 * inputs.len() {
        text += &load_lanes(32 + at, 256 * at);
    }
    text += &format!("s_waitcnt vmcnt(0)\n{code}\ns_nop 15\ns_nop 15\n");
    for at in 0..2 * outputs {
        text += &store_lanes(64 + at, 256 * (2 * inputs.len() + at));
    }
    let result = run_with_wave("gfx90a", 64, &text, &words)?;
    let first = 128 * inputs.len();
    Some(
        (0..outputs)
            .map(|output| {
                (0..64)
                    .map(|lane| {
                        let at = first + 128 * output + lane;
                        f64::from_bits(u64::from(result[at]) | u64::from(result[at + 64]) << 32)
                    })
                    .collect()
            })
            .collect(),
    )
}

#[test]
fn f64_blocks_of_four_with_negation() {
    // A[i][k] of block b in lane 16k + 4b + i, B[k][j] in lane 16k + 4b + j, D[i][j] in lane 16i + 4b + j.
    let a = |b: usize, i: usize, k: usize| (i + 10 * k + 100 * b) as f64;
    let b = |b: usize, k: usize, j: usize| 0.5 + (j * 3 + k + b) as f64;
    let c = |b: usize, i: usize, j: usize| (1000 * i + j) as f64 - b as f64;
    let spread = |f: &dyn Fn(usize, usize, usize) -> f64| -> Vec<f64> {
        (0..64)
            .map(|lane| f(lane / 4 % 4, lane / 16, lane % 4))
            .collect()
    };
    let inputs = [
        spread(&|block, k, i| a(block, i, k)),
        spread(&|block, k, j| b(block, k, j)),
        spread(&|block, i, j| c(block, i, j)),
    ];
    for (negation, signs) in [("", [1.0, 1.0, 1.0]), (" blgp:5", [-1.0, 1.0, -1.0])] {
        let code = format!("v_mfma_f64_4x4x4f64 v[64:65], v[32:33], v[34:35], v[36:37]{negation}");
        let Some(result) = doubles(&code, &inputs, 1) else {
            return;
        };
        for (lane, &got) in result[0].iter().enumerate() {
            let (i, block, j) = (lane / 16, lane / 4 % 4, lane % 4);
            let want = (0..4).fold(signs[2] * c(block, i, j), |sum, k| {
                sum + signs[0] * a(block, i, k) * signs[1] * b(block, k, j)
            });
            assert_eq!(got, want, "lane {lane}{negation}");
        }
    }
}

#[test]
fn f64_matrices_take_constants_and_give_one_nan() {
    let mut a = vec![0.0; 64];
    a[5] = f64::INFINITY;
    let code = "v_mfma_f64_16x16x4f64 v[64:71], v[32:33], v[34:35], 2.0";
    let Some(result) = doubles(code, &[a, vec![0.0; 64]], 4) else {
        return;
    };
    // Row 5 is ∞ · 0.
    for lane in 0..64 {
        for (register, values) in result.iter().enumerate() {
            let row = 4 * register + lane / 16;
            if row == 5 {
                assert_eq!(values[lane].to_bits(), 0x7ff8_0000_0000_0000);
            } else {
                assert_eq!(values[lane], 2.0);
            }
        }
    }
}
