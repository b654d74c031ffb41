//! Floating-point exceptions: flags that stay, and the stop when one is enabled.

mod support;

use gneiss_amdgcn::{fault::FaultKind, interp::exceptions::flag};

use support::*;

const TARGETS: [&str; 5] = ["gfx906", "gfx90a", "gfx1030", "gfx1100", "gfx1200"];

/// f32 and f64 round to nearest and keep denormals, whatever the descriptor says.
const MODE: &str = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 0xf0\n";

fn flags(target: &str) -> &'static str {
    if target.starts_with("gfx12") {
        "hwreg(HW_REG_EXCP_FLAG_USER, 0, 7)"
    } else {
        "hwreg(HW_REG_TRAPSTS, 0, 7)"
    }
}

fn enable(target: &str, flags: u32) -> String {
    let register = if target.starts_with("gfx12") {
        "hwreg(HW_REG_TRAP_CTRL, 0, 7)"
    } else {
        "hwreg(HW_REG_MODE, 12, 7)"
    };
    format!("s_setreg_imm32_b32 {register}, {flags:#x}\n")
}

/// The flags, or the fault: its kind, lane and report.
type Flags = Result<u32, (FaultKind, Option<u32>, String)>;

/// Runs code in one wave, and gives the flags after it or the fault; none without the assembler.
fn run_with(target: &str, directives: &str, code: &str) -> Option<Flags> {
    let wait = if target.starts_with("gfx12") {
        "s_wait_kmcnt 0x0"
    } else {
        "s_waitcnt lgkmcnt(0)"
    };
    let code = format!(
        "s_load_dwordx2 s[2:3], s[0:1], 0x0\n{wait}\nv_mov_b32 v0, 0\n{MODE}{code}\n\
         s_getreg_b32 s4, {}\nv_mov_b32 v1, 0\nv_mov_b32 v2, s4\nglobal_store_dword v1, v2, s[2:3]",
        flags(target)
    );
    let elf = assemble(target, &kernel(target, directives, &code))?;
    let gpu = gpu(target);
    let module = Module::load(&gpu, &elf);
    let buffer = Buffer::from(&gpu, &[u32::MAX]);
    let args = Args::new().buffer(&buffer);
    let outcome = module.run("k", [32, 1, 1], [32, 1, 1], args.bytes(), 0);
    Some(match outcome {
        Ok(()) => Ok(buffer.read::<u32>()[0]),
        Err(fault) => {
            assert_eq!(
                buffer.read::<u32>(),
                [u32::MAX],
                "{target}: nothing after it runs"
            );
            Err((fault.kind, fault.lane, fault.to_string()))
        }
    })
}

fn run(target: &str, code: &str) -> Option<Flags> {
    run_with(target, "", code)
}

/// Instructions, and the flags that they raise.
fn cases() -> Vec<(String, u32)> {
    use flag::*;
    let two = |op: &str, a: u32, b: u32| {
        format!("v_mov_b32 v3, {a:#x}\nv_mov_b32 v4, {b:#x}\n{op} v5, v3, v4")
    };
    let one = |op: &str, a: u32| format!("v_mov_b32 v3, {a:#x}\n{op} v5, v3");
    let double = |op: &str, a: u32, b: u32| {
        format!(
            "v_mov_b32 v6, 0\nv_mov_b32 v7, {a:#x}\nv_mov_b32 v8, 0\nv_mov_b32 v9, {b:#x}\n{op} v[10:11], v[6:7], v[8:9]"
        )
    };
    vec![
        (two("v_add_f32", 0x3f80_0000, 0x4000_0000), 0),
        (two("v_add_f32", 0x3f80_0000, 0x3300_0000), INEXACT),
        (two("v_add_f32", 0x7f80_0000, 0xff80_0000), INVALID),
        (two("v_add_f32", 0x7f80_0001, 0x3f80_0000), INVALID),
        (two("v_add_f32", 0x7fc0_0001, 0x3f80_0000), 0),
        (two("v_sub_f32", 0x7f80_0000, 0x7f80_0000), INVALID),
        (two("v_mul_f32", 0, 0x7f80_0000), INVALID),
        (
            two("v_mul_f32", 0x7f00_0000, 0x7f00_0000),
            OVERFLOW | INEXACT,
        ),
        (
            two("v_mul_f32", 0x0080_0001, 0x3f00_0000),
            UNDERFLOW | INEXACT,
        ),
        (two("v_mul_f32", 0x0080_0000, 0x3f00_0000), 0),
        (two("v_add_f32", 1, 0), INPUT_DENORMAL),
        (one("v_rcp_f32", 0), DIVISION_BY_ZERO),
        (one("v_rcp_f32", 0x4000_0000), 0),
        (one("v_rcp_f32", 0x4040_0000), INEXACT),
        (one("v_rcp_iflag_f32", 0), INTEGER_DIVISION_BY_ZERO),
        (one("v_rsq_f32", 0), DIVISION_BY_ZERO),
        (one("v_rsq_f32", 0x4080_0000), 0),
        (one("v_rsq_f32", 0xbf80_0000), INVALID),
        (one("v_sqrt_f32", 0xbf80_0000), INVALID),
        (one("v_sqrt_f32", 0x4080_0000), 0),
        (one("v_sqrt_f32", 0x4000_0000), INEXACT),
        (one("v_log_f32", 0), DIVISION_BY_ZERO),
        (one("v_log_f32", 0xbf80_0000), INVALID),
        (one("v_exp_f32", 0x4380_0000), OVERFLOW | INEXACT),
        (one("v_cvt_i32_f32", 0x4f00_0000), INVALID),
        (one("v_cvt_i32_f32", 0x3fc0_0000), INEXACT),
        (one("v_cvt_u32_f32", 0x4040_0000), 0),
        (one("v_cvt_f16_f32", 0x4780_0000), OVERFLOW | INEXACT),
        (one("v_cvt_f16_f32", 0x3300_0000), UNDERFLOW | INEXACT),
        (one("v_cvt_f16_f32", 0x3380_0000), 0),
        (one("v_cvt_f32_i32", 0x0100_0001), INEXACT),
        (one("v_cvt_f32_i32", 0x0100_0000), 0),
        (two("v_mul_f32", 0x7f80_0001, 0), INVALID),
        (two("v_ldexp_f32", 0x3f80_0000, 200), OVERFLOW | INEXACT),
        (two("v_ldexp_f32", 0x3f80_0000, 20), 0),
        (
            "v_mov_b32 v3, 0x7f800001\nv_cmp_lt_f32 VCC, v3, v3".to_owned(),
            INVALID,
        ),
        (
            "v_mov_b32 v3, 0x7fc00001\nv_cmp_lt_f32 VCC, v3, v3".to_owned(),
            0,
        ),
        (
            "v_mov_b32 v3, 0x7f000000\nv_mov_b32 v4, 0xff800000\nv_fma_f32 v5, v3, v3, v4"
                .to_owned(),
            0,
        ),
        (
            "v_mov_b32 v3, 0x7f800000\nv_mov_b32 v4, 0xff800000\nv_fma_f32 v5, v3, v3, v4"
                .to_owned(),
            INVALID,
        ),
        (double("v_add_f64", 0x7ff0_0000, 0xfff0_0000), INVALID),
        (
            double("v_mul_f64", 0x7fe0_0000, 0x7fe0_0000),
            OVERFLOW | INEXACT,
        ),
        (double("v_mul_f64", 0x3ff0_0000, 0x4000_0000), 0),
        (
            "v_mov_b32 v6, 0\nv_mov_b32 v7, 0\nv_rcp_f64 v[10:11], v[6:7]".to_owned(),
            DIVISION_BY_ZERO,
        ),
        // Prepared sources: a sign.
        ("v_mov_b32 v3, 1.0\nv_sqrt_f32 v5, -v3".to_owned(), INVALID),
        // Two f16: the high one.
        (
            "v_mov_b32 v3, 0x7bff3c00\nv_pk_add_f16 v5, v3, v3".to_owned(),
            OVERFLOW | INEXACT,
        ),
        (
            "v_mov_b32 v3, 0x3c003c00\nv_pk_mul_f16 v5, v3, v3".to_owned(),
            0,
        ),
    ]
}

/// Fills in what differs between wave sizes.
fn of_target(target: &str, code: &str) -> String {
    let vcc = if target.starts_with("gfx9") {
        "vcc"
    } else {
        "vcc_lo"
    };
    code.replace("VCC", vcc)
}

#[test]
fn flags_are_raised_and_enabled_ones_stop_the_wave() {
    for target in TARGETS {
        for (code, raised) in cases() {
            let code = of_target(target, &code);
            let Some(outcome) = run(target, &code) else {
                return;
            };
            assert_eq!(outcome, Ok(raised), "{target}: {code}");
            // What is enabled and not raised does not stop it.
            let others = format!("{}{code}", enable(target, flag::ALL & !raised));
            assert_eq!(run(target, &others), Some(Ok(raised)), "{target}: {code}");
            for bit in (0..7).filter(|bit| raised >> bit & 1 != 0) {
                let code = format!("{}{code}", enable(target, 1 << bit));
                let outcome = run(target, &code).expect("the assembler");
                let (kind, lane, text) = outcome.expect_err("a stop");
                assert_eq!(kind, FaultKind::Float(1 << bit), "{target}: {code}");
                assert_eq!(lane, Some(0), "{target}: {code}");
                assert!(text.contains(flag::NAMES[bit]), "{target}: {text}");
            }
        }
    }
}

#[test]
fn lanes_that_exec_leaves_out_raise_nothing() {
    for target in TARGETS {
        let exec = if target.starts_with("gfx9") {
            "s_mov_b64 exec,"
        } else {
            "s_mov_b32 exec_lo,"
        };
        // Lane 3 alone holds a zero.
        let code = |mask: u32| {
            format!(
                "v_mov_b32 v3, 1.0\n{exec} 8\nv_mov_b32 v3, 0\n{exec} {mask}\nv_rcp_f32 v4, v3\n{exec} 1"
            )
        };
        let Some(outcome) = run(target, &code(7)) else {
            return;
        };
        assert_eq!(outcome, Ok(0), "{target}");
        assert_eq!(
            run(target, &code(15)),
            Some(Ok(flag::DIVISION_BY_ZERO)),
            "{target}"
        );
        let code = format!("{}{}", enable(target, flag::DIVISION_BY_ZERO), code(15));
        let (kind, lane, _) = run(target, &code)
            .expect("the assembler")
            .expect_err("a stop");
        assert_eq!((kind, lane), (FaultKind::Float(4), Some(3)), "{target}");
    }
}

#[test]
fn flags_stay_until_they_are_cleared_or_written() {
    for target in TARGETS {
        let both = "v_rcp_f32 v3, v0\nv_sqrt_f32 v4, -1.0\nv_add_f32 v5, 1.0, 1.0\n";
        let Some(outcome) = run(target, both) else {
            return;
        };
        assert_eq!(
            outcome,
            Ok(flag::DIVISION_BY_ZERO | flag::INVALID),
            "{target}"
        );
        let write = format!("{both}s_setreg_imm32_b32 {}, 0x10", flags(target));
        assert_eq!(run(target, &write), Some(Ok(flag::UNDERFLOW)), "{target}");
        if !["gfx1100", "gfx1200"].contains(&target) {
            assert_eq!(
                run(target, &format!("{both}v_clrexcp")),
                Some(Ok(0)),
                "{target}"
            );
        }
    }
}

#[test]
fn descriptors_enable_exceptions() {
    for target in TARGETS {
        let directive = ".amdhsa_exception_fp_ieee_div_zero 1\n";
        let Some(outcome) = run_with(target, directive, "v_rcp_f32 v3, v0") else {
            return;
        };
        let (kind, lane, text) = outcome.expect_err("a stop");
        assert_eq!((kind, lane), (FaultKind::Float(4), Some(0)), "{target}");
        assert!(
            text.contains("division by zero") && text.contains("v_rcp_f32"),
            "{target}: {text}"
        );
        assert_eq!(
            run_with(target, directive, "v_sqrt_f32 v3, -1.0"),
            Some(Ok(flag::INVALID)),
            "{target}"
        );
    }
}
