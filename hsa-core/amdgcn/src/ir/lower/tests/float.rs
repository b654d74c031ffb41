//! Floating point: arithmetic, MODE, minimum and maximum, halves, transcendental functions.

use super::*;
use crate::testing::Random;

#[test]
fn f32_arithmetic_at_the_boundaries() {
    check2(
        M::v_add_f32,
        F32,
        MODE,
        &[
            (f(1.5), f(2.25), f(3.75)),
            (f(-0.0), f(0.0), 0),
            (f(-0.0), f(-0.0), NEG),
            (1, 1, 2),
            (INF, f(1.0), INF),
            (INF, NEG | INF, NAN),
            (SNAN, f(1.0), 0x7fc0_0001),
            (f(1.0), 0xffc1_2345, 0xffc1_2345),
            (0x7fc0_0007, 0x7fc0_0009, 0x7fc0_0007),
            (f(f32::MAX), f(f32::MAX), INF),
            (f(16_777_216.0), f(1.0), f(16_777_216.0)),
        ],
    );
    check2(
        M::v_mul_f32,
        F32,
        MODE,
        &[
            (f(3.0), f(-2.0), f(-6.0)),
            (INF, 0, NAN),
            (f(f32::MIN_POSITIVE), f(0.5), 0x0040_0000),
        ],
    );
    check2(M::v_subrev_f32, F32, MODE, &[(f(1.0), f(5.0), f(4.0))]);
}

#[test]
fn mode_flushes_f32_denormals_and_rounds() {
    let flushing = MODE & !0x30;
    check2(
        M::v_add_f32,
        F32,
        flushing,
        &[(1, 1, 0), (NEG | 1, NEG, NEG)],
    );
    check2(
        M::v_mul_f32,
        F32,
        flushing,
        &[(f(f32::MIN_POSITIVE), f(0.5), 0)],
    );
    check2(M::v_max_f32, F32, flushing, &[(0x0000_1234, NEG, 0)]);
    // Toward zero, up, down.
    check2(
        M::v_add_f32,
        F32,
        MODE | 3,
        &[(f(16_777_216.0), f(1.5), f(16_777_216.0))],
    );
    check2(
        M::v_add_f32,
        F32,
        MODE | 1,
        &[(f(16_777_216.0), f(0.5), f(16_777_218.0))],
    );
    check2(
        M::v_add_f32,
        F32,
        MODE | 2,
        &[(f(-16_777_216.0), f(-0.5), f(-16_777_218.0))],
    );
    // f64 keeps its own rounding and denormals while f32 flushes.
    check2(
        M::v_add_f64,
        F64,
        flushing | 3,
        &[
            (1, 1, 2),
            (
                1.0f64.to_bits(),
                0x3c90_0000_0000_0001,
                0x3ff0_0000_0000_0000,
            ),
        ],
    );
    check2(
        M::v_add_f64,
        F64,
        flushing | 3,
        &[(
            1.0f64.to_bits(),
            0x3ca0_0000_0000_0001,
            0x3ff0_0000_0000_0001,
        )],
    );
}

#[test]
fn min_and_max_follow_ieee_mode() {
    check2(
        M::v_min_f32,
        F32,
        MODE,
        &[
            (f(1.0), f(2.0), f(1.0)),
            (f(0.0), f(-0.0), NEG),
            (NAN, f(2.0), f(2.0)),
            (f(2.0), NAN, f(2.0)),
            (SNAN, f(2.0), 0x7fc0_0001),
            (f(2.0), SNAN, 0x7fc0_0001),
        ],
    );
    check2(M::v_min_f32, F32, MODE & !0x200, &[(SNAN, f(2.0), f(2.0))]);
    check2(
        M::v_max_f32,
        F32,
        MODE,
        &[
            (f(-0.0), f(0.0), 0),
            (NAN, NAN, NAN),
            (NEG | INF, f(-3.0), f(-3.0)),
        ],
    );
    check2(
        M::v_max_f64,
        F64,
        MODE,
        &[(1.0f64.to_bits(), 2.0f64.to_bits(), 2.0f64.to_bits())],
    );
    let rows = vec![
        vec![f(3.0), f(1.0), f(2.0)],
        vec![f(1.0), NAN, f(-5.0)],
        vec![f(-1.0), f(-2.0), f(-3.0)],
    ];
    assert_eq!(
        lanes(M::v_med3_f32, &[F32; 3], F32, MODE, &rows),
        [f(2.0), f(-5.0), f(-2.0)]
    );
}

/// The nearest f16, of two the even one. `f16::from_f64` alone rounds to f32 before where the host has instructions for f16.
fn nearest_f16(x: f64) -> half::f16 {
    let near = half::f16::from_f64(x);
    if near.is_nan() {
        return near;
    }
    // Halfway between the greatest one and what would follow it.
    if x.abs() >= 65520.0 {
        return half::f16::INFINITY.copysign(near);
    }
    let magnitude = near.to_bits() & 0x7fff;
    [0, 1, 2]
        .map(|next| half::f16::from_bits((magnitude + next).saturating_sub(1)))
        .into_iter()
        .filter(|half| half.is_finite())
        .min_by(|a, b| {
            let distance = |half: &half::f16| (half.to_f64() - x.abs()).abs();
            let odd = |half: &half::f16| half.to_bits() & 1;
            distance(a)
                .total_cmp(&distance(b))
                .then(odd(a).cmp(&odd(b)))
        })
        .map_or(near, |half| half.copysign(near))
}

/// Triples of f16 values against an f64 computation.
#[test]
fn f16_operations_round_once() {
    let mut rows = Vec::new();
    let mut random = Random::new(1);
    for _ in 0..20_000 {
        let bits = random.next();
        rows.push(vec![bits >> 48, bits >> 32 & 0xffff, bits >> 16 & 0xffff]);
    }
    let half = |x: u64| half::f16::from_bits(x as u16).to_f64();
    for chunk in rows.chunks(64) {
        let got = lanes(M::v_fma_f16, &[F16; 3], F16, MODE, chunk);
        let sums = lanes(M::v_add_f16, &[F16; 2], F16, MODE, chunk);
        for ((row, got), sum) in chunk.iter().zip(got).zip(sums) {
            let expect = nearest_f16(half(row[0]).mul_add(half(row[1]), half(row[2])));
            if !expect.is_nan() {
                assert_eq!(got & 0xffff, u64::from(expect.to_bits()), "fma {row:x?}");
            }
            let expect = nearest_f16(half(row[0]) + half(row[1]));
            if !expect.is_nan() {
                assert_eq!(sum, u64::from(expect.to_bits()), "add {row:x?}");
            }
        }
    }
    check2(
        M::v_add_f16,
        F16,
        MODE,
        &[
            (0x7c00, 0xfc00, 0x7e00),
            (0x7c01, 0, 0x7e01),
            (0x3c00, 0x0001, 0x3c00),
        ],
    );
    check2(
        M::v_add_f16,
        F16,
        MODE | 4,
        &[(0x3c00, 0x0001, 0x3c01), (0x7bff, 0x3c00, 0x7c00)],
    );
    check2(M::v_add_f16, F16, MODE | 0xc, &[(0x7bff, 0x7bff, 0x7bff)]);
    check2(
        M::v_add_f16,
        F16,
        MODE & !0xc0,
        &[(0x0001, 0x0001, 0), (0x8001, 0, 0)],
    );
}

fn ulps(a: f32, b: f64) -> f64 {
    let exponent = (b.abs().max(f64::from(f32::MIN_POSITIVE)).to_bits() >> 52) as i32 - 1023;
    let ulp = f64::from_bits(((1023 + i64::from(exponent - 23)) as u64) << 52);
    (f64::from(a) - b).abs() / ulp
}

#[test]
fn transcendental_functions_stay_within_their_error() {
    /// Operation, exact function, range, ulps.
    type Case = (M, fn(f64) -> f64, f32, f32, f64);
    let cases: [Case; 7] = [
        (M::v_rcp_f32, |x| 1.0 / x, 1e-30, 1e30, 1.0),
        (M::v_rsq_f32, |x| 1.0 / x.sqrt(), 1e-37, 1e38, 1.0),
        (M::v_sqrt_f32, f64::sqrt, 1e-37, 1e38, 1.0),
        (M::v_exp_f32, f64::exp2, -125.0, 127.9, 1.0),
        (M::v_log_f32, f64::log2, 1e-37, 1e38, 1.0),
        (
            M::v_sin_f32,
            |x| (x * std::f64::consts::TAU).sin(),
            -1.0,
            1.0,
            8.0,
        ),
        (
            M::v_cos_f32,
            |x| (x * std::f64::consts::TAU).cos(),
            -1.0,
            1.0,
            8.0,
        ),
    ];
    for (op, exact, from, to, bound) in cases {
        let mut values = Vec::new();
        for n in 0..1280u32 {
            let t = f64::from(n) / 1279.0;
            let value = if from > 0.0 {
                (f64::from(from).ln() * (1.0 - t) + f64::from(to).ln() * t).exp()
            } else {
                f64::from(from) * (1.0 - t) + f64::from(to) * t
            };
            values.push(value as f32);
        }
        for chunk in values.chunks(64) {
            let rows: Vec<_> = chunk.iter().map(|x| vec![f(*x)]).collect();
            for (x, got) in chunk.iter().zip(lanes(op, &[F32], F32, MODE, &rows)) {
                let got = f32::from_bits(got as u32);
                let want = exact(f64::from(*x));
                if want.abs() > 1e-3 {
                    assert!(
                        ulps(got, want) <= bound,
                        "{} {x}: {got} for {want}",
                        op.name()
                    );
                }
            }
        }
    }
    let one = |op, value| lanes(op, &[F32], F32, MODE, &[vec![value]])[0];
    assert_eq!(one(M::v_rcp_f32, 0), INF);
    assert_eq!(one(M::v_rcp_f32, NEG), NEG | INF);
    assert_eq!(one(M::v_rcp_f32, 0x007f_ffff), INF);
    assert_eq!(one(M::v_rcp_f32, f(f32::MAX)), 0);
    assert_eq!(one(M::v_rsq_f32, 0), INF);
    assert_eq!(one(M::v_rsq_f32, INF), 0);
    assert_eq!(one(M::v_rsq_f32, f(-1.0)), NAN);
    assert_eq!(one(M::v_rsq_f32, f(4.0)), f(0.5));
    assert_eq!(one(M::v_sqrt_f32, NEG), NEG);
    assert_eq!(one(M::v_exp_f32, f(3.0)), f(8.0));
    assert_eq!(one(M::v_exp_f32, NEG | INF), 0);
    assert_eq!(one(M::v_exp_f32, INF), INF);
    assert_eq!(one(M::v_exp_f32, f(-127.0)), 0);
    assert_eq!(one(M::v_log_f32, f(8.0)), f(3.0));
    assert_eq!(one(M::v_log_f32, 0), NEG | INF);
    assert_eq!(one(M::v_log_f32, f(1.0)), 0);
    assert_eq!(one(M::v_log_f32, f(-1.0)), NAN);
    assert_eq!(one(M::v_sin_f32, f(0.25)), f(1.0));
    assert_eq!(one(M::v_sin_f32, f(300.0)), 0);
    assert_eq!(one(M::v_cos_f32, f(0.5)), f(-1.0));
    assert_eq!(one(M::v_fract_f32, f(-1e-30)), 0x3f7f_ffff);
    assert_eq!(one(M::v_rndne_f32, f(2.5)), f(2.0));
}
