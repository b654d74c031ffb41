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

mod control;
mod division;
mod exceptions;
mod fixture;
mod float;
mod integer;
mod lane;
mod listed;
mod modifier;
mod scalar;

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
