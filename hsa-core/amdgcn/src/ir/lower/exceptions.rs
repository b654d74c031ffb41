//! Floating-point exceptions: which programs can see them, and which instruction raises what.
//!
//! As with [VSKIP](super::vskip), hardly any program asks. One that does has a descriptor that enables an exception, an instruction that writes
//! the enables or that reads, writes or clears the flags. Its float instructions of the vector ALU are done with
//! [guards](crate::interp::exceptions); it gets no native code. Matrix and dot products, conversions from and to 8-bit floats and bf16, and
//! the scalar ALU's float instructions raise nothing.

use crate::{
    interp::{
        exceptions::{Check, Format, Guarded, Kind, Rounding, guard},
        vector::VectorOp,
    },
    ir::Op,
    isa::{inst::Inst, op::Op as M},
    target::Target,
};

use super::LowerContext;

/// Whether the instruction enables exceptions, or has to do with the flags.
pub fn asks(inst: &Inst, target: Target) -> bool {
    let write = match inst.op {
        M::v_clrexcp => return true,
        M::s_setreg_b32 | M::s_setreg_imm32_b32 => true,
        M::s_getreg_b32 => false,
        _ => return false,
    };
    // The register in bits 5:0, the first bit of the field in 10:6, its width less one in 15:11.
    let field = u32::from(inst.simm16.cast_unsigned());
    let (register, first, last) = (
        field & 63,
        field >> 6 & 31,
        (field >> 6 & 31) + (field >> 11),
    );
    match (register, target.major >= 12) {
        // MODE.EXCP_EN
        (1, false) => write && first <= 18 && last >= 12,
        // TRAPSTS.EXCP; EXCP_FLAG_USER
        (3, false) | (18, true) => first <= 6,
        // TRAP_CTRL
        (19, true) => write && first <= 6,
        _ => false,
    }
}

/// What an instruction may raise; none for those that raise nothing.
pub fn check(op: M) -> Option<Check> {
    let name = op.name().strip_prefix("v_")?;
    let (name, pair) = match name.strip_prefix("pk_") {
        Some(rest) => (rest, true),
        None => (name, false),
    };
    if name.starts_with("cmp_class") || name.starts_with("cmpx_class") {
        return None;
    }
    if let Some(rest) = name.strip_prefix("cvt_") {
        return conversion(rest).filter(|_| !pair);
    }
    let (base, format) = if let Some(base) = name.strip_suffix("_i32_f32") {
        (base, Format::F32)
    } else if let Some(base) = name.strip_suffix("_i32_f64") {
        (base, Format::F64)
    } else if let Some(base) = name.strip_suffix("_i16_f16") {
        (base, Format::F16)
    } else {
        let (base, format) = name.rsplit_once('_')?;
        (base, format_of(format)?)
    };
    let kind = match base {
        "add" => Kind::Add,
        "sub" | "subrev" => Kind::Sub,
        "mul" => Kind::Mul,
        "mul_legacy" | "mul_dx9_zero" => Kind::MulLegacy,
        "fma" | "fmac" | "fmamk" | "fmaak" | "fma_mix" | "div_fmas" => Kind::Fma,
        "fma_mixlo" | "fma_mixhi" => return of(Kind::Fma, Format::F32),
        "fma_legacy" | "fma_dx9_zero" | "fmac_legacy" | "fmac_dx9_zero" | "mad_legacy"
        | "mac_legacy" => Kind::FmaLegacy,
        "mad" | "mac" | "madmk" | "madak" | "mad_mix" => match format {
            Format::F32 => Kind::Mad,
            Format::F16 | Format::F64 => Kind::Fma,
        },
        "mad_mixlo" | "mad_mixhi" => return of(Kind::Mad, Format::F32),
        "rcp" => Kind::Rcp,
        "rcp_iflag" => Kind::RcpInteger,
        "rsq" => Kind::Rsq,
        "sqrt" => Kind::Sqrt,
        "log" | "log_legacy" => Kind::Log,
        "exp" | "exp_legacy" => Kind::Exp,
        "sin" | "cos" => Kind::Trig,
        "ldexp" => Kind::Ldexp,
        "div_fixup" | "div_fixup_legacy" => Kind::DivFixup,
        "floor" | "ceil" | "trunc" | "rndne" | "fract" | "frexp_mant" | "frexp_exp"
        | "div_scale" => Kind::Quiet,
        _ if ["min", "max", "med3", "cmp_", "cmpx_"]
            .iter()
            .any(|word| base.starts_with(word)) =>
        {
            Kind::Quiet
        }
        _ => return None,
    };
    Some(Check {
        kind,
        format,
        packed: pair && format == Format::F16,
    })
}

fn of(kind: Kind, format: Format) -> Option<Check> {
    Some(Check {
        kind,
        format,
        packed: false,
    })
}

fn format_of(name: &str) -> Option<Format> {
    Some(match name {
        "f16" => Format::F16,
        "f32" => Format::F32,
        "f64" => Format::F64,
        _ => return None,
    })
}

/// What a conversion may raise, by its name after `v_cvt_`.
fn conversion(name: &str) -> Option<Check> {
    if matches!(name, "pkrtz_f16_f32" | "pk_rtz_f16_f32") {
        return of(Kind::NarrowPairToZero, Format::F32);
    }
    let (to, from) = name.rsplit_once('_')?;
    let (rounding, to) = match to {
        "rpi_i32" | "nearest_i32" => (Rounding::Nearest, "i32"),
        "flr_i32" | "floor_i32" => (Rounding::Down, "i32"),
        other => (Rounding::Zero, other),
    };
    let kind = match (to, format_of(to), format_of(from)) {
        ("i32", _, Some(from)) => (Kind::ToInteger(32, true, rounding), from),
        ("u32", _, Some(from)) => (Kind::ToInteger(32, false, rounding), from),
        ("i16", _, Some(from)) => (Kind::ToInteger(16, true, rounding), from),
        ("u16", _, Some(from)) => (Kind::ToInteger(16, false, rounding), from),
        ("f16", _, Some(Format::F32)) => (Kind::Narrow, Format::F32),
        ("f32", _, Some(Format::F64)) => (Kind::Narrow, Format::F64),
        (_, Some(_), Some(from)) => (Kind::Quiet, from),
        (_, Some(to @ (Format::F16 | Format::F32)), None) => match from {
            "i16" | "i32" => (Kind::FromInteger(true), to),
            "u16" | "u32" => (Kind::FromInteger(false), to),
            _ => return None,
        },
        _ => return None,
    };
    of(kind.0, kind.1)
}

/// The operation with a guard around it.
pub fn guarded(cx: &mut LowerContext, op: Op, kind: &VectorOp, check: Check) -> Op {
    cx.guards = true;
    let mut outer = Op::new(guard);
    outer.imm = cx.side(Guarded {
        inner: op,
        check,
        arity: kind.arity,
        dwords: kind.s,
    });
    outer
}
