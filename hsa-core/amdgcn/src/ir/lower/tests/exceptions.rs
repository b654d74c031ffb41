//! Which programs are lowered with floating-point exceptions.

use super::*;

fn access(op: M, register: u32, first: u32, width: u32) -> Inst {
    let field = register | first << 6 | (width - 1) << 11;
    let value = OperandSlot {
        operand: Operand::Int(0),
        ty: B32,
    };
    Inst {
        simm16: field as i16,
        ..inst(op, Format::Sopk, s(4, B32), &[value])
    }
}

#[test]
fn programs_that_cannot_see_exceptions_are_lowered_without() {
    let add = || {
        inst(
            M::v_add_f32,
            Format::Vop2,
            v(1, F32),
            &[v(2, F32), v(3, F32)],
        )
    };
    let of = |other: Option<Inst>, enabled: bool| {
        let listing = other.into_iter().chain([add()]).collect();
        let mut config = config(GFX90A, true);
        config.exceptions = enabled;
        let program = program(listing, config, Level::Portable);
        (program.sees_exceptions(), program.op_count())
    };
    let (sees, plain) = of(None, false);
    assert!(!sees);
    assert_eq!(of(None, true), (true, plain + 1));
    let clear = inst(M::v_clrexcp, Format::Vop1, OperandSlot::NONE, &[]);
    for (other, expected) in [
        // Rounding, denormals, VGPR indexing; the enables.
        (access(M::s_setreg_b32, 1, 0, 8), false),
        (access(M::s_setreg_b32, 1, 27, 1), false),
        (access(M::s_setreg_b32, 1, 12, 7), true),
        (access(M::s_setreg_b32, 1, 18, 1), true),
        (access(M::s_setreg_b32, 1, 0, 20), true),
        (access(M::s_getreg_b32, 1, 0, 32), false),
        // Flags; what lies behind them.
        (access(M::s_getreg_b32, 3, 0, 32), true),
        (access(M::s_getreg_b32, 3, 7, 2), false),
        (access(M::s_getreg_b32, 2, 0, 32), false),
        (clear, true),
    ] {
        let text = format!("{other:?}");
        let (sees, ops) = of(Some(other), false);
        assert_eq!(sees, expected, "{text}");
        assert_eq!(ops, plain + 1 + usize::from(expected), "{text}");
    }
}
