//! Branches, calls, refusals.

use super::*;

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
