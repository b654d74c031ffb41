//! Instructions of the host whose flags are the answer. They leave MXCSR as they find it.

use super::{super::run::get_mxcsr, Kind};

/// An instruction of the host, with MXCSR loaded for it alone: its result, and its flags as those of TRAPSTS. It stands in one piece of
/// assembly, so that the compiler neither moves it nor does it beforehand.
macro_rules! host {
    ($name:ident, $ty:ty, $from:ty, $instruction:literal $(, $z:ident)?) => {
        pub(super) fn $name(control: u32, x: $ty, y: $from $(, $z: $ty)?) -> ($ty, u32) {
            let old = get_mxcsr();
            let control = control & !0x3f | 0x1f80;
            let (mut result, mut status) = (x, 0u32);
            // SAFETY: MXCSR is what it was at the end; the addresses are of locals.
            unsafe {
                core::arch::asm!("ldmxcsr [{control}]", $instruction, "stmxcsr [{status}]", "ldmxcsr [{old}]",
                    x = inout(xmm_reg) result, y = in(xmm_reg) y, $($z = in(xmm_reg) $z,)?
                    control = in(reg) &raw const control, status = in(reg) &raw mut status, old = in(reg) &raw const old,
                    options(nostack, preserves_flags));
            }
            (result, flags_of(status))
        }
    };
}

host!(add_f32, f32, f32, "addss {x}, {y}");
host!(sub_f32, f32, f32, "subss {x}, {y}");
host!(mul_f32, f32, f32, "mulss {x}, {y}");
host!(div_f32, f32, f32, "divss {x}, {y}");
host!(sqrt_f32, f32, f32, "sqrtss {x}, {y}");
host!(fused_f32, f32, f32, "vfmadd213ss {x}, {y}, {z}", z);
host!(narrow_f32, f32, f64, "cvtsd2ss {x}, {y}");
host!(add_f64, f64, f64, "addsd {x}, {y}");
host!(sub_f64, f64, f64, "subsd {x}, {y}");
host!(mul_f64, f64, f64, "mulsd {x}, {y}");
host!(div_f64, f64, f64, "divsd {x}, {y}");
host!(sqrt_f64, f64, f64, "sqrtsd {x}, {y}");
host!(fused_f64, f64, f64, "vfmadd213sd {x}, {y}, {z}", z);

/// MXCSR's flags as TRAPSTS's, but for denormal inputs, which are looked at apart.
fn flags_of(mxcsr: u32) -> u32 {
    // The order is the same: invalid, denormal, division by zero, overflow, underflow, inexact.
    mxcsr & 0x3d
}

/// Arithmetic of doubles.
pub(super) fn double(kind: Kind, m: u32, fused: bool, a: f64, b: f64, c: f64) -> (f64, u32) {
    match kind {
        Kind::Add => add_f64(m, a, b),
        Kind::Sub => sub_f64(m, a, b),
        Kind::Mul | Kind::MulLegacy => mul_f64(m, a, b),
        Kind::Rcp => div_f64(m, 1.0, a),
        Kind::Sqrt => sqrt_f64(m, 0.0, a),
        _ if fused => fused_f64(m, a, b, c),
        _ => {
            let (product, raised) = mul_f64(m, a, b);
            let (sum, more) = add_f64(m, product, c);
            (sum, raised | more)
        }
    }
}
