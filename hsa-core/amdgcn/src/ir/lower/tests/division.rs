//! Division sequences, as compilers emit them.

use super::*;

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
