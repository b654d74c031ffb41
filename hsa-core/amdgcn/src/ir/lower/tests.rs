//! Expected bits for the operations, at boundary values, on every SIMD level.

use crate::{
    interp::{
        level::Level,
        run::{Exit, run},
        testing::{
            BASE, GFX90A, GFX1030, MODE, config, execute, inst, levels, program, s, sopp, v,
        },
        wave::{Wave, slot},
    },
    isa::{
        inst::{Dpp, Format, Inst, Operand, OperandSlot, Sdwa, SdwaSel, Type},
        op::Op as M,
    },
};

mod fixture;

const F32: Type = Type::F(32);
const F64: Type = Type::F(64);
const F16: Type = Type::F(16);
const B32: Type = Type::B(32);
const U64: Type = Type::U(64);

/// Runs one operation with each row of sources in its own lane, on all levels; gives the results' dwords.
fn lanes(op: M, tys: &[Type], dst: Type, mode: u32, rows: &[Vec<u64>]) -> Vec<u64> {
    let mut last: Option<Vec<u64>> = None;
    for level in levels() {
        let wide = |ty: Type| matches!(ty, Type::F(64) | Type::U(64) | Type::I(64) | Type::B(64));
        let sources: Vec<_> = tys
            .iter()
            .enumerate()
            .map(|(n, ty)| v(2 + 2 * n as u16, *ty))
            .collect();
        let listing = vec![inst(op, Format::Vop3, v(0, dst), &sources)];
        let mut wave = execute(listing, config(GFX90A, true), level, mode, |w| {
            for (lane, row) in rows.iter().enumerate() {
                for (n, value) in row.iter().enumerate() {
                    w.vgpr_lanes(2 + 2 * n)[lane] = *value as u32;
                    w.vgpr_lanes(3 + 2 * n)[lane] = (*value >> 32) as u32;
                }
            }
        });
        let results: Vec<u64> = (0..rows.len())
            .map(|lane| {
                let low = u64::from(wave.vgpr_lanes(0)[lane]);
                if wide(dst) {
                    low | u64::from(wave.vgpr_lanes(1)[lane]) << 32
                } else {
                    low
                }
            })
            .collect();
        if let Some(last) = &last {
            assert_eq!(*last, results, "{} differs between levels", op.name());
        }
        last = Some(results);
    }
    last.unwrap_or_default()
}

fn f(x: f32) -> u64 {
    u64::from(x.to_bits())
}

fn check2(op: M, ty: Type, mode: u32, cases: &[(u64, u64, u64)]) {
    let rows: Vec<Vec<u64>> = cases.iter().map(|(a, b, _)| vec![*a, *b]).collect();
    for (got, case) in lanes(op, &[ty, ty], ty, mode, &rows).into_iter().zip(cases) {
        assert_eq!(
            got,
            case.2,
            "{} {:#x} {:#x}: got {got:#x}",
            op.name(),
            case.0,
            case.1
        );
    }
}

const NAN: u64 = 0x7fc0_0000;
const SNAN: u64 = 0x7f80_0001;
const INF: u64 = 0x7f80_0000;
const NEG: u64 = 0x8000_0000;

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

/// Every f16 value and pairs of them against an f64 computation, rounded by the `half` crate.
#[test]
fn f16_operations_round_once() {
    let mut rows = Vec::new();
    let mut state = 0x1234_5678u32;
    for _ in 0..20_000 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let other = state.rotate_left(13).wrapping_mul(0x9e37_79b9);
        rows.push(vec![
            u64::from(state >> 16),
            u64::from(other >> 16),
            u64::from(other & 0xffff),
        ]);
    }
    let half = |x: u64| half::f16::from_bits(x as u16).to_f64();
    for chunk in rows.chunks(64) {
        let got = lanes(M::v_fma_f16, &[F16; 3], F16, MODE, chunk);
        let sums = lanes(M::v_add_f16, &[F16; 2], F16, MODE, chunk);
        for ((row, got), sum) in chunk.iter().zip(got).zip(sums) {
            let expect = half::f16::from_f64(half(row[0]).mul_add(half(row[1]), half(row[2])));
            if !expect.is_nan() {
                assert_eq!(got & 0xffff, u64::from(expect.to_bits()), "fma {row:x?}");
            }
            let expect = half::f16::from_f64(half(row[0]) + half(row[1]));
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

/// The division sequence of LLVM for f32 and f64 gives correctly rounded quotients.
#[test]
fn division_sequences_round_correctly() {
    let values: Vec<f32> = vec![
        1.0,
        3.0,
        7.0,
        0.1,
        1e-40,
        3e-39,
        1e38,
        2e38,
        1e-38,
        5e-45,
        1.175_494_4e-38,
        3.4e38,
        123_456.79,
        9.9e-30,
        0.0,
        -2.5,
        f32::INFINITY,
        1e20,
        8.5e37,
        1.7e38,
        4e-20,
        6.3e-44,
    ];
    for &a in &values {
        for chunk in values.chunks(64) {
            let quotients = divide_f32(chunk, a);
            for (&b, got) in chunk.iter().zip(quotients) {
                let want = b / a;
                if want.is_nan() {
                    assert!(f32::from_bits(got).is_nan(), "{b}/{a}");
                } else {
                    assert_eq!(
                        got,
                        want.to_bits(),
                        "{b:e}/{a:e}: {:e} for {want:e}",
                        f32::from_bits(got)
                    );
                }
            }
        }
    }
    let values: Vec<f64> = vec![
        1.0,
        3.0,
        7.0,
        0.1,
        1e-310,
        3e-308,
        1e308,
        1.7e308,
        5e-324,
        2.2e-308,
        123_456.789,
        9.9e-200,
        0.0,
        -2.5,
        f64::INFINITY,
        1e200,
        6e-320,
        4.4e-290,
        8.9e307,
    ];
    for &a in &values {
        for (&b, got) in values.iter().zip(divide_f64(&values, a)) {
            let want = b / a;
            if want.is_nan() {
                assert!(f64::from_bits(got).is_nan(), "{b}/{a}");
            } else {
                assert_eq!(
                    got,
                    want.to_bits(),
                    "{b:e}/{a:e}: {:e} for {want:e}",
                    f64::from_bits(got)
                );
            }
        }
    }
}

fn scale(op: M, ty: Type, d: u16, sources: [u16; 3]) -> Inst {
    let src = sources.map(|n| v(n, ty));
    let mut inst = inst(op, Format::Vop3b, v(d, ty), &src);
    inst.dst2 = s(slot::VCC as u8, Type::Mask);
    inst
}

/// v0 = v2 / v4 as LLVM lowers it: div_scale twice, rcp, refinement, div_fmas, div_fixup.
fn division(ty: Type) -> Vec<Inst> {
    let (scale_op, rcp, fma, mul, fmas, fixup) = match ty {
        F32 => (
            M::v_div_scale_f32,
            M::v_rcp_f32,
            M::v_fma_f32,
            M::v_mul_f32,
            M::v_div_fmas_f32,
            M::v_div_fixup_f32,
        ),
        _ => (
            M::v_div_scale_f64,
            M::v_rcp_f64,
            M::v_fma_f64,
            M::v_mul_f64,
            M::v_div_fmas_f64,
            M::v_div_fixup_f64,
        ),
    };
    let fma = |d: u16, a: u16, b: u16, c: u16, negative: u8| {
        let mut fma = inst(fma, Format::Vop3, v(d, ty), &[v(a, ty), v(b, ty), v(c, ty)]);
        fma.alu.neg = negative;
        fma
    };
    let one = v(30, ty);
    let _ = one;
    // v6 denominator scaled, v8 numerator scaled (sets VCC), v10 reciprocal, v30 = 1.0.
    let mut code = vec![
        scale(scale_op, ty, 6, [4, 4, 2]),
        inst(rcp, Format::Vop3, v(10, ty), &[v(6, ty)]),
        scale(scale_op, ty, 8, [2, 4, 2]),
        fma(12, 6, 10, 30, 1),
        fma(10, 12, 10, 10, 0),
    ];
    if ty == F64 {
        code.extend([fma(12, 6, 10, 30, 1), fma(10, 10, 12, 10, 0)]);
    }
    code.push(inst(mul, Format::Vop3, v(14, ty), &[v(8, ty), v(10, ty)]));
    code.push(fma(16, 6, 14, 8, 1));
    if ty == F32 {
        code.extend([fma(14, 16, 10, 14, 0), fma(16, 6, 14, 8, 1)]);
    }
    let vcc = s(slot::VCC as u8, Type::Mask);
    code.push(inst(
        fmas,
        Format::Vop3,
        v(18, ty),
        &[v(16, ty), v(10, ty), v(14, ty), vcc],
    ));
    code.push(inst(
        fixup,
        Format::Vop3,
        v(0, ty),
        &[v(18, ty), v(4, ty), v(2, ty)],
    ));
    code
}

fn divide_f32(numerators: &[f32], denominator: f32) -> Vec<u32> {
    let level = Level::detect().min(Level::Avx2);
    let mut wave = execute(division(F32), config(GFX90A, true), level, MODE, |w| {
        for (lane, x) in numerators.iter().enumerate() {
            w.vgpr_lanes(2)[lane] = x.to_bits();
        }
        w.vgpr_lanes(4).fill(denominator.to_bits());
        w.vgpr_lanes(30).fill(1f32.to_bits());
    });
    wave.vgpr_lanes(0)[..numerators.len()].to_vec()
}

fn divide_f64(numerators: &[f64], denominator: f64) -> Vec<u64> {
    let level = Level::detect().min(Level::Avx2);
    let mut wave = execute(division(F64), config(GFX90A, true), level, MODE, |w| {
        for (lane, x) in numerators.iter().enumerate() {
            w.vgpr_lanes(2)[lane] = x.to_bits() as u32;
            w.vgpr_lanes(3)[lane] = (x.to_bits() >> 32) as u32;
        }
        w.vgpr_lanes(4).fill(denominator.to_bits() as u32);
        w.vgpr_lanes(5).fill((denominator.to_bits() >> 32) as u32);
        w.vgpr_lanes(30).fill(0);
        w.vgpr_lanes(31).fill(0x3ff0_0000);
    });
    let low = wave.vgpr_lanes(0)[..numerators.len()].to_vec();
    let high = wave.vgpr_lanes(1)[..numerators.len()].to_vec();
    low.iter()
        .zip(high)
        .map(|(low, high)| u64::from(*low) | u64::from(high) << 32)
        .collect()
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

#[test]
fn modifiers_apply_to_sources_and_result() {
    let mut add = inst(
        M::v_add_f32,
        Format::Vop3,
        v(0, F32),
        &[v(1, F32), v(2, F32)],
    );
    add.alu.neg = 1;
    add.alu.abs = 2;
    add.alu.clamp = true;
    for level in levels() {
        let mut wave = execute(vec![add.clone()], config(GFX90A, true), level, MODE, |w| {
            w.vgpr_lanes(0).fill(7);
            w.vgpr_lanes(1)[..3].copy_from_slice(&[f(1.0) as u32, f(2.0) as u32, f(0.25) as u32]);
            w.vgpr_lanes(2)[..3].copy_from_slice(&[f(-3.0) as u32, f(1.0) as u32, f(-0.5) as u32]);
            w.set_exec(7);
        });
        assert_eq!(
            wave.vgpr_lanes(0)[..4],
            [f(1.0) as u32, 0, f(0.25) as u32, 7]
        );
    }
    let mut mul = inst(
        M::v_mul_f32,
        Format::Vop3,
        v(0, F32),
        &[v(1, F32), s(4, F32)],
    );
    mul.alu.omod = 2;
    for (mode, expect) in [(MODE & !0x30, 24.0f32), (MODE, 6.0)] {
        let mut wave = execute(
            vec![mul.clone()],
            config(GFX90A, true),
            Level::Portable,
            mode,
            |w| {
                w.vgpr_lanes(1).fill(2f32.to_bits());
                w.sgpr[4] = 3f32.to_bits();
            },
        );
        assert_eq!(wave.vgpr_lanes(0)[63], expect.to_bits());
    }
    let mut saturating = inst(
        M::v_sub_u32,
        Format::Vop3,
        v(0, Type::U(32)),
        &[v(1, B32), v(2, B32)],
    );
    saturating.alu.clamp = true;
    let mut wave = execute(
        vec![saturating],
        config(GFX90A, true),
        Level::Portable,
        MODE,
        |w| {
            w.vgpr_lanes(1).fill(1);
            w.vgpr_lanes(2).fill(2);
        },
    );
    assert_eq!(wave.vgpr_lanes(0)[0], 0);
}

#[test]
fn sixteen_bit_results_keep_the_other_half_by_family() {
    let add = inst(
        M::v_add_f16,
        Format::Vop3,
        v(0, F16),
        &[v(1, F16), v(2, F16)],
    );
    let mut high = add.clone();
    high.alu.op_sel = 0b1001;
    let setup = |w: &mut Wave| {
        w.vgpr_lanes(0).fill(0xaaaa_bbbb);
        w.vgpr_lanes(1).fill(0x4000_3c00);
        w.vgpr_lanes(2).fill(0x3c00);
    };
    let level = Level::detect().min(Level::Avx2);
    assert_eq!(
        execute(vec![add.clone()], config(GFX90A, true), level, MODE, setup).vgpr_lanes(0)[5],
        0x4000
    );
    assert_eq!(
        execute(vec![add], config(GFX1030, false), level, MODE, setup).vgpr_lanes(0)[5],
        0xaaaa_4000
    );
    assert_eq!(
        execute(vec![high], config(GFX90A, true), level, MODE, setup).vgpr_lanes(0)[5],
        0x4200_bbbb
    );
}

fn dpp(ctrl: u32, bound_ctrl: bool, row_mask: u8) -> Dpp {
    Dpp {
        ctrl,
        is_dpp8: false,
        bound_ctrl,
        fetch_inactive: false,
        bank_mask: 15,
        row_mask,
    }
}

fn moved(controls: Dpp, target: crate::target::Target, exec: u64) -> Vec<u32> {
    let mut mov = inst(M::v_mov_b32, Format::Vop1, v(0, B32), &[v(1, B32)]);
    mov.dpp = Some(controls);
    let mut results = levels().into_iter().map(|level| {
        execute(
            vec![mov.clone()],
            config(target, target.major == 9),
            level,
            MODE,
            |w| {
                for lane in 0..w.lanes() {
                    w.vgpr_lanes(0)[lane] = 1000;
                    w.vgpr_lanes(1)[lane] = lane as u32;
                }
                w.set_exec(exec);
            },
        )
        .vgpr_lanes(0)
        .to_vec()
    });
    let first = results.next().unwrap_or_default();
    assert!(results.all(|other| other == first));
    first
}

#[test]
fn dpp_moves_lanes() {
    let all = u64::MAX;
    let shr = moved(dpp(0x111, false, 15), GFX90A, all);
    assert_eq!(
        (shr[0], shr[1], shr[15], shr[16], shr[17]),
        (1000, 0, 14, 1000, 16)
    );
    assert_eq!(moved(dpp(0x111, true, 15), GFX90A, all)[16], 0);
    assert_eq!(moved(dpp(0x101, false, 15), GFX90A, all)[..2], [1, 2]);
    assert_eq!(moved(dpp(0x121, false, 15), GFX90A, all)[..2], [15, 0]);
    assert_eq!(
        moved(dpp(0b00_01_10_11, false, 15), GFX90A, all)[..5],
        [3, 2, 1, 0, 7]
    );
    let bcast = moved(dpp(0x142, false, 0xa), GFX90A, all);
    assert_eq!(
        (bcast[15], bcast[16], bcast[32], bcast[48]),
        (1000, 15, 1000, 47)
    );
    let bcast = moved(dpp(0x143, false, 0xc), GFX90A, all);
    assert_eq!((bcast[31], bcast[32], bcast[63]), (1000, 31, 31));
    assert_eq!(moved(dpp(0x140, false, 15), GFX90A, all)[..2], [15, 14]);
    assert_eq!(moved(dpp(0x141, false, 15), GFX90A, all)[..2], [7, 6]);
    assert_eq!(moved(dpp(0x138, false, 15), GFX90A, all)[32], 31);
    // A source lane that EXEC disables counts as missing.
    let partial = moved(dpp(0x111, false, 15), GFX90A, !2);
    assert_eq!((partial[1], partial[2], partial[3]), (1000, 1000, 2));
    assert_eq!(moved(dpp(0x153, false, 15), GFX1030, 0xffff_ffff)[17], 19);
    assert_eq!(
        moved(dpp(0x161, false, 15), GFX1030, 0xffff_ffff)[..2],
        [1, 0]
    );
    let eight = Dpp {
        is_dpp8: true,
        ctrl: 0o01234567,
        ..dpp(0, false, 15)
    };
    assert_eq!(
        moved(eight, GFX1030, 0xffff_ffff)[8..16],
        [15, 14, 13, 12, 11, 10, 9, 8]
    );
}

#[test]
fn sdwa_selects_parts() {
    let mut add = inst(
        M::v_add_u32,
        Format::Vop2,
        v(0, B32),
        &[v(1, B32), v(2, B32)],
    );
    add.sdwa = Some(Sdwa {
        dst_sel: SdwaSel::Byte(1),
        dst_unused: 2,
        src0_sel: SdwaSel::Byte(3),
        src1_sel: SdwaSel::Word(1),
        sext: [true, false],
    });
    let mut run = |dst_sel, dst_unused| {
        add.sdwa = add.sdwa.map(|sdwa| Sdwa {
            dst_sel,
            dst_unused,
            ..sdwa
        });
        execute(
            vec![add.clone()],
            config(GFX90A, true),
            Level::detect().min(Level::Avx2),
            MODE,
            |w| {
                w.vgpr_lanes(0).fill(0x1122_3344);
                w.vgpr_lanes(1).fill(0xfe00_0000);
                w.vgpr_lanes(2).fill(0x00f3_ffff);
            },
        )
        .vgpr_lanes(0)[9]
    };
    assert_eq!(run(SdwaSel::Byte(1), 2), 0x1122_f144);
    assert_eq!(run(SdwaSel::Byte(1), 0), 0x0000_f100);
    assert_eq!(run(SdwaSel::Byte(1), 1), 0xffff_f100);
    assert_eq!(run(SdwaSel::Dword, 0), 0xf1);
    assert_eq!(run(SdwaSel::Word(1), 2), 0x00f1_3344);
}

#[test]
fn packed_operations_select_halves() {
    let p = Type::Packed(32);
    let mut add = inst(M::v_pk_add_u16, Format::Vop3p, v(0, p), &[v(1, p), v(2, p)]);
    add.alu.op_sel_hi = 0b11;
    let run = |inst: &Inst| {
        execute(
            vec![inst.clone()],
            config(GFX90A, true),
            Level::detect().min(Level::Avx2),
            MODE,
            |w| {
                w.vgpr_lanes(1).fill(0xffff_0001);
                w.vgpr_lanes(2).fill(0x0003_0002);
            },
        )
        .vgpr_lanes(0)[1]
    };
    assert_eq!(run(&add), 0x0002_0003);
    add.alu.op_sel = 0b01;
    add.alu.op_sel_hi = 0b10;
    assert_eq!(run(&add), 0x0004_0001);
    let mut fma = inst(
        M::v_pk_fma_f16,
        Format::Vop3p,
        v(0, p),
        &[v(1, p), v(2, p), v(3, p)],
    );
    fma.alu.op_sel_hi = 0b111;
    fma.alu.neg = 1;
    let got = execute(
        vec![fma],
        config(GFX90A, true),
        Level::detect().min(Level::Avx2),
        MODE,
        |w| {
            w.vgpr_lanes(1).fill(0x4000_4000);
            w.vgpr_lanes(2).fill(0x4200_4200);
            w.vgpr_lanes(3).fill(0x3c00_3c00);
        },
    )
    .vgpr_lanes(0)[3];
    assert_eq!(got, 0x4700_c500);
    let mut mix = inst(
        M::v_fma_mixhi_f16,
        Format::Vop3p,
        v(0, F16),
        &[v(1, F32), v(2, F32), v(3, F32)],
    );
    mix.alu.op_sel_hi = 0b001;
    mix.alu.op_sel = 0b001;
    let got = execute(
        vec![mix],
        config(GFX90A, true),
        Level::detect().min(Level::Avx2),
        MODE,
        |w| {
            w.vgpr_lanes(0).fill(0x1234_5678);
            w.vgpr_lanes(1).fill(0x4000_ffff);
            w.vgpr_lanes(2).fill(3f32.to_bits());
            w.vgpr_lanes(3).fill(1f32.to_bits());
        },
    )
    .vgpr_lanes(0)[3];
    assert_eq!(got, 0x4700_5678);
    // Each half reads what the other writes.
    let pair = Type::Packed(64);
    let mut swap = inst(
        M::v_pk_mul_f32,
        Format::Vop3p,
        v(0, pair),
        &[v(0, pair), v(2, pair)],
    );
    swap.alu.op_sel = 0b01;
    swap.alu.op_sel_hi = 0b10;
    let mut wave = execute(
        vec![swap],
        config(GFX90A, true),
        Level::detect().min(Level::Avx2),
        MODE,
        |w| {
            for (register, value) in [(0, 2f32), (1, 3.0), (2, 10.0), (3, 100.0)] {
                w.vgpr_lanes(register).fill(value.to_bits());
            }
        },
    );
    assert_eq!(
        (wave.vgpr_lanes(0)[0], wave.vgpr_lanes(1)[0]),
        (30f32.to_bits(), 200f32.to_bits())
    );
}

#[test]
fn lanes_and_scalars_exchange() {
    let literal = |value| OperandSlot {
        operand: Operand::Literal(value),
        ty: B32,
    };
    let int = |value| OperandSlot {
        operand: Operand::Int(value),
        ty: B32,
    };
    let code = vec![
        inst(
            M::v_readfirstlane_b32,
            Format::Vop1,
            s(0, B32),
            &[v(1, B32)],
        ),
        inst(
            M::v_readlane_b32,
            Format::Vop3,
            s(1, B32),
            &[v(1, B32), int(63)],
        ),
        inst(
            M::v_writelane_b32,
            Format::Vop3,
            v(2, B32),
            &[s(0, B32), int(5)],
        ),
        inst(
            M::v_mbcnt_lo_u32_b32,
            Format::Vop3,
            v(3, B32),
            &[int(-1), int(0)],
        ),
        inst(
            M::v_mbcnt_hi_u32_b32,
            Format::Vop3,
            v(3, B32),
            &[int(-1), v(3, B32)],
        ),
        inst(
            M::v_add_u32,
            Format::Vop2,
            v(4, B32),
            &[literal(100), v(3, B32)],
        ),
    ];
    for level in levels() {
        let mut wave = execute(code.clone(), config(GFX90A, true), level, MODE, |w| {
            for lane in 0..64 {
                w.vgpr_lanes(1)[lane] = 7 * lane as u32;
            }
            w.vgpr_lanes(2).fill(9);
            w.set_exec(u64::MAX << 3);
        });
        assert_eq!(wave.sgpr[..2], [21, 441]);
        assert_eq!(wave.vgpr_lanes(2)[4..7], [9, 21, 9]);
        assert_eq!(
            (
                wave.vgpr_lanes(3)[3],
                wave.vgpr_lanes(3)[40],
                wave.vgpr_lanes(4)[63]
            ),
            (3, 40, 163)
        );
    }
    let mut permute = inst(
        M::v_permlanex16_b32,
        Format::Vop3,
        v(0, B32),
        &[v(1, B32), int(-1), int(-1)],
    );
    permute.alu.op_sel = 1;
    let mut wave = execute(
        vec![permute],
        config(GFX1030, false),
        Level::Portable,
        MODE,
        |w| {
            for lane in 0..32 {
                w.vgpr_lanes(1)[lane] = lane as u32;
            }
        },
    );
    assert_eq!((wave.vgpr_lanes(0)[0], wave.vgpr_lanes(0)[16]), (31, 15));
}

#[test]
fn scalar_operations_set_scc() {
    let two = |op, ty, a: u64, b: u64| {
        let code = vec![inst(
            op,
            Format::Sop2,
            s(0, ty),
            &[s(2, ty), s(4, if ty == U64 { ty } else { B32 })],
        )];
        let wave = execute(code, config(GFX90A, true), Level::Portable, MODE, |w| {
            w.set_pair(2, a);
            w.set_pair(4, b);
        });
        (wave.pair(0), wave.sgpr[slot::SCC])
    };
    assert_eq!(two(M::s_add_u32, B32, 0xffff_ffff, 1), (0, 1));
    assert_eq!(two(M::s_add_i32, B32, 0x7fff_ffff, 1), (0x8000_0000, 1));
    assert_eq!(two(M::s_sub_u32, B32, 0, 1), (0xffff_ffff, 1));
    assert_eq!(two(M::s_and_b32, B32, 0xf0, 0x0f), (0, 0));
    assert_eq!(two(M::s_lshl_b64, Type::B(64), 1, 40), (1 << 40, 1));
    assert_eq!(two(M::s_ashr_i32, B32, 0x8000_0000, 31), (0xffff_ffff, 1));
    assert_eq!(two(M::s_bfe_u32, B32, 0xabcd_1234, 0x0008_0008), (0x12, 1));
    assert_eq!(two(M::s_bfe_i32, B32, 0x80, 0x0001_0007), (0xffff_ffff, 1));
    assert_eq!(two(M::s_bfm_b32, B32, 4, 8), (0xf00, 0));
    assert_eq!(
        two(M::s_mul_hi_u32, B32, 0xffff_ffff, 0xffff_ffff),
        (0xffff_fffe, 0)
    );
    assert_eq!(two(M::s_min_i32, B32, 0xffff_ffff, 1), (0xffff_ffff, 1));
    assert_eq!(two(M::s_max_u32, B32, 3, 7), (7, 0));
    assert_eq!(two(M::s_lshl1_add_u32, B32, 0x8000_0000, 1), (1, 1));
    assert_eq!(
        two(M::s_pack_lh_b32_b16, B32, 0x1111_2222, 0x3333_4444),
        (0x3333_2222, 0)
    );
    let one = |op, a: u64| {
        let wave = execute(
            vec![inst(op, Format::Sop1, s(0, B32), &[s(2, B32)])],
            config(GFX90A, true),
            Level::Portable,
            MODE,
            |w| {
                w.set_pair(2, a);
            },
        );
        (wave.sgpr[0], wave.sgpr[slot::SCC])
    };
    assert_eq!(one(M::s_ff1_i32_b32, 0), (u32::MAX, 0));
    assert_eq!(one(M::s_ff1_i32_b64, 1 << 40), (40, 0));
    assert_eq!(one(M::s_flbit_i32_b32, 1), (31, 0));
    assert_eq!(one(M::s_flbit_i32, 0xffff_fff0), (28, 0));
    assert_eq!(one(M::s_bcnt1_i32_b64, u64::MAX), (64, 1));
    assert_eq!(one(M::s_sext_i32_i8, 0x80), (0xffff_ff80, 0));
    assert_eq!(one(M::s_abs_i32, 0x8000_0000), (0x8000_0000, 1));
    assert_eq!(one(M::s_not_b32, u64::from(u32::MAX)), (0, 0));
}

#[test]
fn saveexec_and_specials() {
    let code = vec![
        inst(
            M::s_and_saveexec_b64,
            Format::Sop1,
            s(0, Type::B(64)),
            &[s(2, Type::B(64))],
        ),
        inst(
            M::s_mov_b32,
            Format::Sop1,
            s(6, B32),
            &[OperandSlot {
                operand: Operand::Source(252),
                ty: B32,
            }],
        ),
        inst(
            M::s_mov_b32,
            Format::Sop1,
            s(7, B32),
            &[OperandSlot {
                operand: Operand::Source(253),
                ty: B32,
            }],
        ),
    ];
    let wave = execute(code, config(GFX90A, true), Level::Portable, MODE, |w| {
        w.set_exec(0xff);
        w.set_pair(2, 0x1f0);
    });
    assert_eq!(
        (wave.pair(0), wave.exec(), wave.sgpr[slot::SCC]),
        (0xff, 0xf0, 1)
    );
    assert_eq!((wave.sgpr[6], wave.sgpr[7]), (0, 1));
    // Writes to null vanish on GFX10; reads give 0.
    let code = vec![
        inst(
            M::s_mov_b32,
            Format::Sop1,
            s(125, B32),
            &[OperandSlot {
                operand: Operand::Int(5),
                ty: B32,
            }],
        ),
        inst(M::s_mov_b32, Format::Sop1, s(0, B32), &[s(125, B32)]),
    ];
    let wave = execute(code, config(GFX1030, false), Level::Portable, MODE, |w| {
        w.sgpr[0] = 77
    });
    assert_eq!(wave.sgpr[0], 0);
}

#[test]
fn loops_spend_the_budget_and_resume() {
    let int = |value| OperandSlot {
        operand: Operand::Int(value),
        ty: B32,
    };
    let code = vec![
        inst(M::s_add_u32, Format::Sop2, s(0, B32), &[s(0, B32), int(1)]),
        inst(
            M::s_cmp_lt_u32,
            Format::Sopc,
            OperandSlot::NONE,
            &[s(0, B32), int(50)],
        ),
        sopp(M::s_waitcnt, 0),
        sopp(M::s_cbranch_scc1, -4),
    ];
    let program = program(code, config(GFX90A, true), Level::Portable);
    let mut wave = Wave::new();
    wave.reset(&program, MODE);
    let mut stops = 0;
    loop {
        // SAFETY: reset for a program that is alive.
        match unsafe { run(&mut wave, 10) } {
            Exit::BudgetSpent => stops += 1,
            exit => {
                assert_eq!(exit, Exit::EndProgram);
                break;
            }
        }
        assert_eq!(wave.pc(), BASE);
    }
    assert_eq!((wave.sgpr[0], stops), (50, 4));
}

#[test]
fn calls_go_through_the_program_map() {
    let int = |value| OperandSlot {
        operand: Operand::Int(value),
        ty: B32,
    };
    let wide = Type::B(64);
    // 0: getpc s[2:3] (= base + 4); 1: add 20 (base + 24); 2: swappc; 3: s_mov s1 = s0; 4: endpgm (own); 5: padding; 6: function.
    let code = vec![
        inst(M::s_getpc_b64, Format::Sop1, s(2, wide), &[]),
        inst(M::s_add_u32, Format::Sop2, s(2, B32), &[s(2, B32), int(20)]),
        inst(M::s_swappc_b64, Format::Sop1, s(4, wide), &[s(2, wide)]),
        inst(M::s_mov_b32, Format::Sop1, s(1, B32), &[s(0, B32)]),
        sopp(M::s_endpgm, 0),
        sopp(M::s_nop, 0),
        inst(M::s_movk_i32, Format::Sopk, s(0, B32), &[]),
        inst(
            M::s_setpc_b64,
            Format::Sop1,
            OperandSlot::NONE,
            &[s(4, wide)],
        ),
    ];
    let mut code = code;
    code[6].simm16 = -3;
    let wave = execute(code, config(GFX90A, true), Level::Portable, MODE, |_| {});
    assert_eq!(wave.sgpr[1], 0xffff_fffd);
    assert_eq!(wave.pair(4), BASE + 12);
}

#[test]
fn what_is_not_lowered_stops_only_when_reached() {
    let code = vec![
        sopp(M::s_branch, 1),
        inst(M::v_interp_p1_f32, Format::Vintrp, v(0, F32), &[]),
        inst(M::v_interp_p2_f32, Format::Vintrp, v(0, F32), &[]),
    ];
    let program = program(code, config(GFX90A, true), Level::Portable);
    let mut wave = Wave::new();
    wave.reset(&program, MODE);
    // SAFETY: reset for a program that is alive.
    assert_eq!(unsafe { run(&mut wave, 10) }, Exit::Unsupported);
    assert_eq!(wave.pc(), BASE + 8);
    assert_eq!(
        program.why(wave.next).as_deref(),
        Some("v_interp_p2_f32 is not supported")
    );
    // Registers that the kernel does not have are refused, not read.
    let code = vec![inst(M::v_mov_b32, Format::Vop1, v(64, B32), &[v(0, B32)])];
    let program = crate::interp::testing::program(code, config(GFX90A, true), Level::Portable);
    wave.reset(&program, MODE);
    // SAFETY: as above.
    assert_eq!(unsafe { run(&mut wave, 10) }, Exit::Unsupported);
}

#[test]
fn mode_register_is_read_and_set() {
    let mut set = inst(M::s_setreg_imm32_b32, Format::Sopk, OperandSlot::NONE, &[]);
    // hwreg(MODE, 4, 2)
    set.simm16 = 1 | 4 << 6 | 1 << 11;
    set.imm32 = Some(0);
    let mut get = inst(M::s_getreg_b32, Format::Sopk, s(0, B32), &[]);
    get.simm16 = 1 | (31u16 << 11).cast_signed();
    let add = inst(
        M::v_add_f32,
        Format::Vop2,
        v(0, F32),
        &[v(1, F32), v(1, F32)],
    );
    for level in levels() {
        let mut wave = execute(
            vec![
                add.clone(),
                set.clone(),
                get.clone(),
                Inst {
                    dst: v(2, F32),
                    ..add.clone()
                },
            ],
            config(GFX90A, true),
            level,
            MODE,
            |w| {
                w.vgpr_lanes(1).fill(5);
            },
        );
        assert_eq!(wave.sgpr[0], MODE & !0x30);
        assert_eq!((wave.vgpr_lanes(0)[0], wave.vgpr_lanes(2)[0]), (10, 0));
    }
}

#[test]
fn vgpr_indexing_moves_the_operand_of_a_move() {
    let mut on = inst(
        M::s_set_gpr_idx_on,
        Format::Sopc,
        OperandSlot::NONE,
        &[s(0, B32)],
    );
    let mov = inst(M::v_mov_b32, Format::Vop1, v(1, B32), &[v(2, B32)]);
    for (mode, expect) in [(1, (105, 4)), (8, (101, 102))] {
        on.simm16 = mode;
        let code = vec![on.clone(), mov.clone(), sopp(M::s_set_gpr_idx_off, 0)];
        let mut wave = execute(code, config(GFX90A, true), Level::Portable, MODE, |w| {
            w.sgpr[0] = 3;
            for register in 0..8 {
                w.vgpr_lanes(register).fill(100 + register as u32);
            }
        });
        let moved = (
            wave.vgpr_lanes(1)[0],
            if mode == 1 { 4 } else { wave.vgpr_lanes(4)[0] },
        );
        assert_eq!(moved, expect);
    }
}

#[test]
fn matrices_multiply() {
    let level = Level::detect().min(Level::Avx2);
    // D[i][j] = Σ A[i][k]·B[k][j] + C[i][j] with small integers, exact in f32.
    let (a, b, c) = (
        |i: usize, k: usize| (i + 3 * k) as f32,
        |k: usize, j: usize| (2 * j) as f32 - k as f32,
        |i: usize, j: usize| (i * j % 7) as f32,
    );
    let wide = Type::B(512);
    let acc = |n| OperandSlot {
        operand: Operand::Agpr(n),
        ty: wide,
    };
    let code = vec![inst(
        M::v_mfma_f32_32x32x2f32,
        Format::Vop3p,
        acc(0),
        &[v(0, B32), v(1, B32), acc(0)],
    )];
    let mut wave = execute(code, config(GFX90A, true), level, MODE, |w| {
        w.set_exec(1);
        for lane in 0..64 {
            w.vgpr_lanes(0)[lane] = a(lane % 32, lane / 32).to_bits();
            w.vgpr_lanes(1)[lane] = b(lane / 32, lane % 32).to_bits();
            for register in 0..16 {
                let row = 8 * (register / 4) + 4 * (lane / 32) + register % 4;
                w.vgpr_lanes(64 + register)[lane] = c(row, lane % 32).to_bits();
            }
        }
    });
    for lane in 0..64 {
        for register in 0..16 {
            let (row, column) = (
                8 * (register / 4) + 4 * (lane / 32) + register % 4,
                lane % 32,
            );
            let want = c(row, column) + a(row, 0) * b(0, column) + a(row, 1) * b(1, column);
            assert_eq!(
                f32::from_bits(wave.vgpr_lanes(64 + register)[lane]),
                want,
                "row {row} column {column}"
            );
        }
    }
    let zero = OperandSlot {
        operand: Operand::Int(0),
        ty: wide,
    };
    let code = vec![inst(
        M::v_mfma_i32_16x16x16i8,
        Format::Vop3p,
        v(8, Type::B(128)),
        &[v(0, B32), v(1, B32), zero],
    )];
    let mut wave = execute(code, config(GFX90A, true), level, MODE, |w| {
        for lane in 0..64u32 {
            // A[i][k] = i − k, B[k][j] = j + k, k = 4·(lane/16) + byte.
            let byte = |f: &dyn Fn(i32) -> i32| {
                (0..4).fold(0u32, |word, n| {
                    word | u32::from((f(4 * (lane as i32 / 16) + n) as i8).cast_unsigned())
                        << (8 * n)
                })
            };
            w.vgpr_lanes(0)[lane as usize] = byte(&|k| lane as i32 % 16 - k);
            w.vgpr_lanes(1)[lane as usize] = byte(&|k| lane as i32 % 16 + k);
        }
    });
    for lane in 0..64 {
        for register in 0..4 {
            let (i, j) = ((4 * (lane / 16) + register) as i32, (lane % 16) as i32);
            let want: i32 = (0..16).map(|k| (i - k) * (j + k)).sum();
            assert_eq!(wave.vgpr_lanes(8 + register)[lane].cast_signed(), want);
        }
    }
}
