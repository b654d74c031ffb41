//! Floating-point exceptions: what the lanes of a vector operation raise, the sticky flags, and the stop when one is enabled.
//!
//! Programs that cannot see exceptions know nothing of this; in the others the lowering puts [`guard`] around each float operation and
//! [`stop_if_enabled`] behind its instruction ([`lower::exceptions`](crate::ir::lower::exceptions)). What a lane raises is a function of its
//! sources; lanes that EXEC leaves out raise nothing.
//!
//! Sums, products, fused multiply-adds, quotients, roots and roundings between formats are done again by one instruction of the host, whose
//! flags are the answer (f16 in f64, rounded to zero with what is lost kept apart). The rest goes by the class of the source: logarithms,
//! powers of two, sines and cosines are inexact unless the result is known to be exact. Signalling NaNs are invalid everywhere; compares are
//! quiet otherwise. A denormal source counts if MODE keeps input denormals; one that is flushed is a zero. The output modifiers and the
//! scaling of `v_div_fmas` raise nothing of their own. Without FMA in the host, a fused multiply-add raises what a product and a sum do.

mod host;

use crate::{
    interp::{
        level::Level,
        run::Exit,
        vector::source_bits,
        wave::{Wave, mode},
    },
    ir::Op,
};

/// Exceptions as bits of TRAPSTS; the enables have the same order.
pub mod flag {
    /// No result is right.
    pub const INVALID: u32 = 1 << 0;
    /// A source is denormal.
    pub const INPUT_DENORMAL: u32 = 1 << 1;
    /// A finite number by zero.
    pub const DIVISION_BY_ZERO: u32 = 1 << 2;
    /// The result is too large.
    pub const OVERFLOW: u32 = 1 << 3;
    /// The result is too small.
    pub const UNDERFLOW: u32 = 1 << 4;
    /// The result is rounded.
    pub const INEXACT: u32 = 1 << 5;
    /// An integer by zero.
    pub const INTEGER_DIVISION_BY_ZERO: u32 = 1 << 6;
    /// All.
    pub const ALL: u32 = 0x7f;
    /// Names, by bit.
    pub const NAMES: [&str; 7] = [
        "invalid operation",
        "denormal input",
        "division by zero",
        "overflow",
        "underflow",
        "inexact result",
        "integer division by zero",
    ];
}
use flag::*;
use host::{add_f32, div_f32, double, fused_f32, mul_f32, mul_f64, narrow_f32, sqrt_f32, sub_f32};

/// A float format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// IEEE half.
    F16,
    /// IEEE single.
    F32,
    /// IEEE double.
    F64,
}

/// What an operation does, as far as exceptions go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// a + b
    Add,
    /// a - b, or b - a
    Sub,
    /// a × b
    Mul,
    /// a × b, where zero times anything is zero
    MulLegacy,
    /// a × b + c, rounded once
    Fma,
    /// As [`Kind::Fma`], where zero times anything is zero
    FmaLegacy,
    /// a × b + c, rounded twice, denormals flushed
    Mad,
    /// Minimum, maximum, compare, rounding to an integral value, parts of a float: nothing but NaNs and denormals
    Quiet,
    /// 1 / a
    Rcp,
    /// 1 / a, for integer division
    RcpInteger,
    /// 1 / √a
    Rsq,
    /// √a
    Sqrt,
    /// log2 a
    Log,
    /// 2^a
    Exp,
    /// Sine, cosine
    Trig,
    /// a × 2^b
    Ldexp,
    /// The last step of c / b, whose quotient is a
    DivFixup,
    /// To an integer of that width, signed or not, after `a + .5` rounded down, rounded down or to zero
    ToInteger(u32, bool, Rounding),
    /// To a smaller format: f32 to f16, f64 to f32
    Narrow,
    /// Two f32 to f16, to zero
    NarrowPairToZero,
    /// From an integer of 16 or 32 bits, signed or not; the format is the result's
    FromInteger(bool),
}

/// How a conversion to integers rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To zero.
    Zero,
    /// Down.
    Down,
    /// To nearest, halves up.
    Nearest,
}

/// An operation with what it may raise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Check {
    /// What it does.
    pub kind: Kind,
    /// Format of the sources.
    pub format: Format,
    /// Two f16 in a register.
    pub packed: bool,
}

/// The operation that [`guard`] does.
#[derive(Clone, Debug)]
pub struct Guarded {
    /// The operation itself.
    pub inner: Op,
    /// What it may raise.
    pub check: Check,
    /// Its sources.
    pub arity: usize,
    /// Dwords of each.
    pub dwords: [u32; 3],
}

// SAFETY: the operation's references are into the program's own segments.
unsafe impl Send for Guarded {}
// SAFETY: as above.
unsafe impl Sync for Guarded {}

/// Does an operation, and notes what its active lanes raise; `imm` is the address of a [`Guarded`].
///
/// # Safety
/// As for all handlers.
pub unsafe fn guard(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: the record lives as long as the program; its references were made by the lowering.
    unsafe {
        let guarded = &*((*op).imm as usize as *const Guarded);
        let environment = Lane {
            check: guarded.check,
            f32: w.mxcsr,
            f64: w.mxcsr_f64,
        };
        let enabled = w.mode >> mode::EXCP_EN_SHIFT & ALL;
        let mut lanes = w.exec();
        while lanes != 0 {
            let lane = lanes.trailing_zeros();
            lanes &= lanes - 1;
            let mut bits = [0; 3];
            for (index, bits) in bits.iter_mut().enumerate().take(guarded.arity) {
                *bits = source_bits(
                    w,
                    guarded.inner.s[index],
                    index,
                    guarded.dwords[index],
                    lane as usize,
                );
            }
            let raised = environment.raised(bits);
            if raised & enabled != 0 && w.raised & enabled == 0 {
                w.raised_lane = lane;
            }
            w.raised |= raised;
        }
        w.trap_status |= w.raised;
        (guarded.inner.run)(w, &raw const guarded.inner);
        op.add(1)
    }
}

/// Stops the wave if its last instruction has raised what is enabled.
///
/// # Safety
/// As for all handlers.
pub unsafe fn stop_if_enabled(w: &mut Wave, op: *const Op) -> *const Op {
    let raised = w.raised & w.mode >> mode::EXCP_EN_SHIFT & ALL;
    w.raised = 0;
    if raised != 0 {
        let lane = w.raised_lane as u8;
        let raised = raised as u8;
        return w.stop(op, Exit::Float { raised, lane });
    }
    // SAFETY: followed by an operation of its segment.
    unsafe { op.add(1) }
}

/// Clears the sticky flags: `v_clrexcp`.
///
/// # Safety
/// As for all handlers.
pub unsafe fn clear(w: &mut Wave, op: *const Op) -> *const Op {
    w.trap_status &= !ALL;
    // SAFETY: followed by an operation of its segment.
    unsafe { op.add(1) }
}

const DAZ: u32 = 1 << 6;
const FTZ: u32 = 1 << 15;
const TO_ZERO: u32 = 0x6000;

/// Bits of a float, in a format.
impl Format {
    fn fraction(self) -> u32 {
        match self {
            Format::F16 => 10,
            Format::F32 => 23,
            Format::F64 => 52,
        }
    }

    fn bits(self) -> u32 {
        match self {
            Format::F16 => 16,
            Format::F32 => 32,
            Format::F64 => 64,
        }
    }

    fn magnitude(self, bits: u64) -> u64 {
        bits & ((1 << (self.bits() - 1)) - 1)
    }

    fn infinity(self) -> u64 {
        (1 << (self.bits() - 1)) - (1 << self.fraction())
    }

    fn is_nan(self, bits: u64) -> bool {
        self.magnitude(bits) > self.infinity()
    }

    fn is_signalling(self, bits: u64) -> bool {
        self.is_nan(bits) && bits >> (self.fraction() - 1) & 1 == 0
    }

    fn is_denormal(self, bits: u64) -> bool {
        let magnitude = self.magnitude(bits);
        magnitude != 0 && magnitude >> self.fraction() == 0
    }

    /// The value, which is no NaN.
    fn value(self, bits: u64) -> f64 {
        match self {
            Format::F16 => {
                let magnitude = self.magnitude(bits);
                let value = match magnitude >> 10 {
                    0 => magnitude as f64 * f64::from_bits((1023 - 24) << 52),
                    0x1f => f64::INFINITY,
                    exponent => f64::from_bits((exponent + 1008) << 52 | (magnitude & 0x3ff) << 42),
                };
                if bits >> 15 & 1 != 0 { -value } else { value }
            }
            Format::F32 => {
                // In integers: MODE may flush denormals.
                let magnitude = self.magnitude(bits);
                let value = match magnitude >> 23 {
                    0 => magnitude as f64 * f64::from_bits((1023 - 149) << 52),
                    0xff => f64::INFINITY,
                    exponent => {
                        f64::from_bits((exponent + 896) << 52 | (magnitude & 0x7f_ffff) << 29)
                    }
                };
                if bits >> 31 & 1 != 0 { -value } else { value }
            }
            Format::F64 => f64::from_bits(bits),
        }
    }
}

/// What rounding to f16 raises; `more` is set if the value was rounded to zero already.
fn narrow_f16(control: u32, value: f64, more: bool) -> u32 {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    const LOW: u64 = (1 << 42) - 1;
    let magnitude = value.abs().to_bits();
    let rest = magnitude & LOW;
    let lost = rest != 0 || more;
    let up = match control >> 13 & 3 {
        0 => rest > 1 << 41 || rest == 1 << 41 && (more || magnitude >> 42 & 1 != 0),
        1 => lost && value < 0.0,
        2 => lost && value > 0.0,
        _ => false,
    };
    let rounded = f64::from_bits((magnitude & !LOW) + (u64::from(up) << 42));
    if rounded >= 65536.0 {
        return OVERFLOW | INEXACT;
    }
    let least = f64::from_bits((1023 - 14) << 52);
    let unit = f64::from_bits((1023 + 24) << 52);
    let tiny = rounded < least;
    let scaled = f64::from_bits(magnitude) * unit;
    let inexact = if tiny || f64::from_bits(magnitude) < least {
        more || scaled != scaled.trunc()
    } else {
        lost
    };
    if tiny && (inexact || control & FTZ != 0) {
        UNDERFLOW | INEXACT
    } else if inexact {
        INEXACT
    } else {
        0
    }
}

/// What one lane is looked at with.
#[derive(Clone, Copy, Debug)]
struct Lane {
    check: Check,
    /// MXCSR for f32.
    f32: u32,
    /// MXCSR for f16 and f64.
    f64: u32,
}

impl Lane {
    /// What the lane raises.
    fn raised(&self, bits: [u64; 3]) -> u32 {
        let Check { kind, packed, .. } = self.check;
        if packed {
            let half = |shift: u32| self.one(bits.map(|bits| bits >> shift & 0xffff));
            return half(0) | half(16);
        }
        match kind {
            Kind::NarrowPairToZero => {
                let pair = Lane {
                    check: Check {
                        kind: Kind::Narrow,
                        ..self.check
                    },
                    f64: self.f64 | TO_ZERO,
                    ..*self
                };
                pair.one([bits[0], 0, 0]) | pair.one([bits[1], 0, 0])
            }
            Kind::FromInteger(signed) => self.of_integer(bits[0], signed),
            _ => self.one(bits),
        }
    }

    fn control(&self) -> u32 {
        if self.check.format == Format::F32 {
            self.f32
        } else {
            self.f64
        }
    }

    fn one(&self, bits: [u64; 3]) -> u32 {
        let Check { kind, format, .. } = self.check;
        let mut bits = bits;
        let mask = format.infinity() | (1 << (format.bits() - 1)) | ((1 << format.fraction()) - 1);
        let floats = match kind {
            Kind::Ldexp => 1,
            _ => 3,
        };
        let (mut raised, mut nan) = (0, false);
        for bits in bits.iter_mut().take(floats) {
            *bits &= mask;
            nan |= format.is_nan(*bits);
            if format.is_signalling(*bits) {
                raised |= INVALID;
            }
            if format.is_denormal(*bits) {
                if self.control() & DAZ == 0 {
                    raised |= INPUT_DENORMAL;
                } else {
                    *bits &= 1 << (format.bits() - 1);
                }
            }
        }
        if kind == Kind::RcpInteger {
            return if format.magnitude(bits[0]) == 0 {
                INTEGER_DIVISION_BY_ZERO
            } else {
                0
            };
        }
        if let (true, Kind::ToInteger(..)) = (nan, kind) {
            return raised | INVALID;
        }
        if nan {
            return raised;
        }
        raised | self.computed(bits)
    }

    /// What numbers raise.
    fn computed(&self, bits: [u64; 3]) -> u32 {
        let Check { kind, format, .. } = self.check;
        let zero = |index: usize| format.magnitude(bits[index]) == 0;
        let negative = !zero(0) && bits[0] >> (format.bits() - 1) & 1 != 0;
        let infinite = format.magnitude(bits[0]) == format.infinity();
        let x = format.value(bits[0]);
        match kind {
            Kind::Quiet | Kind::FromInteger(_) | Kind::RcpInteger | Kind::NarrowPairToZero => 0,
            Kind::MulLegacy | Kind::FmaLegacy if zero(0) || zero(1) => 0,
            Kind::Rcp | Kind::Rsq if zero(0) => DIVISION_BY_ZERO,
            Kind::Log if zero(0) => DIVISION_BY_ZERO,
            Kind::Rsq | Kind::Log if negative => INVALID,
            Kind::Trig if infinite => INVALID,
            Kind::Rsq | Kind::Log | Kind::Exp if infinite => 0,
            Kind::Rsq => {
                let fraction = x.to_bits() & ((1 << 52) - 1);
                let even = (x.to_bits() >> 52) % 2 == 1;
                if x.is_normal() && fraction == 0 && even {
                    0
                } else {
                    INEXACT
                }
            }
            Kind::Log => {
                if x.to_bits() & ((1 << 52) - 1) == 0 {
                    0
                } else {
                    INEXACT
                }
            }
            Kind::Trig => {
                if zero(0) {
                    0
                } else {
                    INEXACT
                }
            }
            Kind::Exp => {
                let (most, least) = if format == Format::F16 {
                    (16.0, -14.0)
                } else {
                    (128.0, -126.0)
                };
                let exact = x == x.trunc();
                match () {
                    () if x >= most => OVERFLOW | INEXACT,
                    () if x < least
                        && !(exact
                            && format == Format::F16
                            && x >= -24.0
                            && self.f64 & FTZ == 0) =>
                    {
                        UNDERFLOW | INEXACT
                    }
                    () if exact => 0,
                    () => INEXACT,
                }
            }
            Kind::DivFixup => {
                let (b, c) = (format.value(bits[1]), format.value(bits[2]));
                match () {
                    () if b == 0.0 && c == 0.0 || b.is_infinite() && c.is_infinite() => INVALID,
                    () if b == 0.0 && c.is_finite() => DIVISION_BY_ZERO,
                    () if b.is_infinite() || c.is_infinite() || c == 0.0 => 0,
                    () if x.is_infinite() => OVERFLOW | INEXACT,
                    () if x == 0.0 => UNDERFLOW | INEXACT,
                    () => 0,
                }
            }
            Kind::ToInteger(width, signed, rounding) => {
                let rounded = match rounding {
                    Rounding::Zero => x.trunc(),
                    Rounding::Down => x.floor(),
                    Rounding::Nearest => (x + 0.5).floor(),
                };
                let span = f64::from_bits((1023 + u64::from(width)) << 52);
                let (least, end) = if signed {
                    (-span / 2.0, span / 2.0)
                } else {
                    (0.0, span)
                };
                match () {
                    () if rounded < least || rounded >= end => INVALID,
                    () if rounded != x => INEXACT,
                    () => 0,
                }
            }
            Kind::Narrow if format == Format::F32 => narrow_f16(self.f64, x, false),
            Kind::Narrow => narrow_f32(self.f64 & !FTZ | self.f32 & FTZ, 0.0, x).1,
            _ => self.arithmetic(bits),
        }
    }

    /// What the host can do.
    fn arithmetic(&self, bits: [u64; 3]) -> u32 {
        let [a, b, c] = bits.map(|bits| self.check.format.value(bits));
        let fused = Level::current() != Level::Portable;
        let kind = self.check.kind;
        match self.check.format {
            Format::F32 => {
                let [a, b, c] = bits.map(|bits| f32::from_bits(bits as u32));
                let (m, flushed) = (self.f32, self.f32 | DAZ | FTZ);
                match kind {
                    Kind::Add => add_f32(m, a, b).1,
                    Kind::Sub => sub_f32(m, a, b).1,
                    Kind::Mul | Kind::MulLegacy => mul_f32(m, a, b).1,
                    Kind::Fma | Kind::FmaLegacy if fused => fused_f32(m, a, b, c).1,
                    Kind::Rcp => div_f32(flushed, 1.0, a).1,
                    Kind::Sqrt => sqrt_f32(flushed, 0.0, a).1,
                    Kind::Ldexp => {
                        narrow_f32(m, 0.0, scaled(f64::from(a), bits[1] as u32 as i32)).1
                    }
                    _ => {
                        let m = if kind == Kind::Mad { flushed } else { m };
                        let (product, raised) = mul_f32(m, a, b);
                        raised | add_f32(m, product, c).1
                    }
                }
            }
            Format::F64 => {
                let m = self.f64;
                match kind {
                    Kind::Ldexp => {
                        let n = (bits[1] as u32 as i32).clamp(-2200, 2200);
                        let (mut x, mut left, mut raised) = (a, n, 0);
                        while left != 0 {
                            let step = left.clamp(-1022, 1023);
                            let by = f64::from_bits(((1023 + step) as u64) << 52);
                            let (next, more) = mul_f64(m, x, by);
                            (x, left, raised) = (next, left - step, raised | more);
                        }
                        raised
                    }
                    _ => double(kind, m, fused, a, b, c).1,
                }
            }
            Format::F16 => {
                if kind == Kind::Ldexp {
                    return narrow_f16(
                        self.f64,
                        scaled(a, i32::from(bits[1] as u16 as i16)),
                        false,
                    );
                }
                let (value, raised) =
                    double(kind, self.f64 & !(DAZ | FTZ) | TO_ZERO, fused, a, b, c);
                raised & (INVALID | DIVISION_BY_ZERO)
                    | narrow_f16(self.f64, value, raised & INEXACT != 0)
            }
        }
    }

    /// What the conversion of an integer raises; the format is the result's.
    fn of_integer(&self, bits: u64, signed: bool) -> u32 {
        if self.check.format == Format::F16 {
            let value = if signed {
                f64::from(bits as u16 as i16)
            } else {
                f64::from(bits as u16)
            };
            return narrow_f16(self.f64, value, false);
        }
        let value = if signed {
            f64::from(bits as u32 as i32)
        } else {
            f64::from(bits as u32)
        };
        narrow_f32(self.f32, 0.0, value).1
    }
}

/// A value of f16 or f32 times a power of two, exactly, up to where every result of these formats over- or underflows.
fn scaled(value: f64, by: i32) -> f64 {
    let by = by.clamp(-400, 400);
    value * f64::from_bits(((1023 + by) as u64) << 52)
}
