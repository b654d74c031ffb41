//! Traps, halts and messages: what stops a wave, and what it goes on after.

mod support;

use gneiss_amdgcn::fault::FaultKind;

use support::*;

const TARGETS: [&str; 6] = [
    "gfx906", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200",
];

/// Runs code in one wave; a marker is stored after it. Gives the fault, if there is one; none without the assembler.
fn run(target: &str, code: &str) -> Option<Result<u32, (FaultKind, String)>> {
    let wait = if target.starts_with("gfx12") {
        "s_wait_kmcnt 0x0"
    } else {
        "s_waitcnt lgkmcnt(0)"
    };
    let code = format!(
        "s_load_dwordx2 s[2:3], s[0:1], 0x0\n{wait}\n{code}\n\
         v_mov_b32 v1, 0\nv_mov_b32 v2, 7\nglobal_store_dword v1, v2, s[2:3]"
    );
    let elf = assemble(target, &kernel(target, "", &code))?;
    let gpu = gpu(target);
    let module = Module::load(&gpu, &elf);
    let buffer = Buffer::new(&gpu, 4);
    let args = Args::new().buffer(&buffer);
    let outcome = module.run("k", [1, 1, 1], [1, 1, 1], args.bytes(), 0);
    Some(match outcome {
        Ok(()) => Ok(buffer.read::<u32>()[0]),
        Err(fault) => {
            assert_eq!(
                buffer.read::<u32>(),
                [0],
                "{target}: {fault}: nothing after it runs"
            );
            Err((fault.kind, fault.to_string()))
        }
    })
}

#[test]
fn waves_go_on_after_what_is_for_debuggers_and_the_host() {
    for target in TARGETS {
        for code in [
            // The debuggers' trap, and the mode in which each instruction is one.
            "s_trap 3",
            "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 11, 1), 1\ns_nop 0",
            "s_sethalt 0",
            "s_sleep 1",
            "s_mov_b32 m0, 3\ns_sendmsg sendmsg(MSG_INTERRUPT)",
        ] {
            if let Some(outcome) = run(target, code) {
                assert_eq!(outcome, Ok(7), "{target}: {code}");
            }
        }
    }
    if let Some(outcome) = run("gfx1200", "s_mov_b32 s8, 1\ns_sleep_var s8") {
        assert_eq!(outcome, Ok(7), "s_sleep_var");
    }
}

#[test]
fn what_a_wave_cannot_go_on_after_is_a_fault_that_names_it() {
    for target in TARGETS {
        for (code, kind, name) in [
            ("s_trap 1", FaultKind::Trap(1), "s_trap 1"),
            ("s_trap 2", FaultKind::Trap(2), "s_trap 2"),
            ("s_sethalt 1", FaultKind::Unsupported, "s_sethalt"),
            // Of graphics.
            (
                "s_mov_b32 m0, 5\ns_sendmsg 0x9",
                FaultKind::Unsupported,
                "s_sendmsg 0x9 with m0 0x5",
            ),
            (
                "s_mov_b32 m0, 5\ns_sendmsghalt 0x9",
                FaultKind::Unsupported,
                "s_sendmsg",
            ),
        ] {
            let Some(outcome) = run(target, code) else {
                continue;
            };
            let (got, text) = outcome.expect_err(code);
            assert_eq!(got, kind, "{target}: {code}: {text}");
            assert!(text.contains(name), "{target}: {code}: {text}");
        }
    }
}

#[test]
fn messages_that_answer_tell_the_time_and_nothing_else() {
    for target in ["gfx1100", "gfx1200"] {
        let wait = if target == "gfx1200" {
            "s_wait_kmcnt 0x0"
        } else {
            "s_waitcnt lgkmcnt(0)"
        };
        // Two readings of 64 bits and the lower half of another, which do not go backwards.
        let code = format!(
            "s_sendmsg_rtn_b64 s[8:9], sendmsg(MSG_RTN_GET_REALTIME)\n\
             s_sendmsg_rtn_b64 s[10:11], sendmsg(MSG_RTN_GET_REALTIME)\n\
             s_sendmsg_rtn_b32 s12, sendmsg(MSG_RTN_GET_REALTIME)\n{wait}\n\
             v_mov_b32 v1, 0\nv_mov_b32 v2, s8\nv_mov_b32 v3, s9\nv_mov_b32 v4, s10\nv_mov_b32 v5, s11\nv_mov_b32 v6, s12\n\
             global_store_dwordx4 v1, v[2:5], s[2:3]\nglobal_store_dword v1, v6, s[2:3] offset:16"
        );
        let Some(stored) = run_dwords(target, &code, 1, &[0; 5]) else {
            continue;
        };
        let [low, high, next_low, next_high, half] = stored[..] else {
            panic!("{stored:?}")
        };
        let time = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let (first, second) = (time(low, high), time(next_low, next_high));
        assert!(first != 0 && second >= first, "{target}: {first} {second}");
        assert!(
            half.wrapping_sub(next_low) < 1 << 31,
            "{target}: {half} after {next_low}"
        );
        let doorbell = "s_sendmsg_rtn_b32 s8, sendmsg(MSG_RTN_GET_DOORBELL)";
        let (kind, text) = run(target, doorbell)
            .expect("it assembles")
            .expect_err(doorbell);
        assert_eq!(kind, FaultKind::Unsupported, "{target}: {text}");
        assert!(text.contains("GET_REALTIME"), "{target}: {text}");
    }
}
