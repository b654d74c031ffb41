//! Native instructions for each form.

mod wide;

use iced_x86::Code;

use super::{
    assemble::Rm,
    form::{Form, Relation},
    registers::Registers,
    values::{Id, Step},
};

/// How a computed lane mask is to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaskKind {
    /// Set bits stand for lanes that are not in the mask.
    pub inverted: bool,
    /// Only the sign bits count.
    pub sign_only: bool,
}

const AND: Code = Code::VEX_Vpand_ymm_ymm_ymmm256;
const OR: Code = Code::VEX_Vpor_ymm_ymm_ymmm256;
const XOR: Code = Code::VEX_Vpxor_ymm_ymm_ymmm256;
const AND_NOT: Code = Code::VEX_Vpandn_ymm_ymm_ymmm256;
const ADD: Code = Code::VEX_Vpaddd_ymm_ymm_ymmm256;
const SUBTRACT: Code = Code::VEX_Vpsubd_ymm_ymm_ymmm256;
const MULTIPLY: Code = Code::VEX_Vpmulld_ymm_ymm_ymmm256;
const EQUAL: Code = Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256;
const GREATER: Code = Code::VEX_Vpcmpgtd_ymm_ymm_ymmm256;
const MAX: Code = Code::VEX_Vpmaxud_ymm_ymm_ymmm256;
const MIN: Code = Code::VEX_Vpminud_ymm_ymm_ymmm256;
const SHIFT_LEFT: Code = Code::VEX_Vpsllvd_ymm_ymm_ymmm256;
const SHIFT_RIGHT: Code = Code::VEX_Vpsrlvd_ymm_ymm_ymmm256;
const SHIFT_RIGHT_SIGNED: Code = Code::VEX_Vpsravd_ymm_ymm_ymmm256;
const SHIFT_LEFT_BY: Code = Code::VEX_Vpslld_ymm_ymm_imm8;
const SHIFT_RIGHT_BY: Code = Code::VEX_Vpsrld_ymm_ymm_imm8;
const SHIFT_RIGHT_SIGNED_BY: Code = Code::VEX_Vpsrad_ymm_ymm_imm8;
const COMPARE: Code = Code::VEX_Vcmpps_ymm_ymm_ymmm256_imm8;
/// `vcmpps`: unordered, quiet.
pub const UNORDERED: u32 = 3;

/// A step's registers.
pub struct Selector<'r, 'a> {
    /// Registers and code.
    pub regs: &'r mut Registers<'a>,
    /// How the masks of the run are to be read.
    pub kinds: &'r mut [MaskKind],
    /// Register that collects the lanes in which a NaN has come up, once there may be one.
    pub nan_register: &'r mut Option<u8>,
}

impl Selector<'_, '_> {
    /// A commutative instruction.
    fn commute(&mut self, code: Code, a: Id, b: Id) -> u8 {
        if self.regs.is_held(a) || !self.regs.is_held(b) {
            self.binary(code, a, b)
        } else {
            self.binary(code, b, a)
        }
    }

    fn binary(&mut self, code: Code, a: Id, b: Id) -> u8 {
        let first = self.regs.register(a);
        let second = self.regs.operand(b);
        let d = self.regs.free();
        self.regs.asm.v3(code, d, first, second);
        d
    }

    /// `d` = `d` op `b`.
    fn fold(&mut self, code: Code, d: u8, b: Id) {
        let second = self.regs.operand(b);
        self.regs.asm.v3(code, d, d, second);
    }

    fn fold_constant(&mut self, code: Code, d: u8, value: u32) {
        let constant = Rm::Memory(self.regs.asm.constant(value));
        self.regs.asm.v3(code, d, d, constant);
    }

    /// `value` shifted by `amount` & 31.
    fn shift(&mut self, by_lane: Code, by_constant: Code, value: Id, amount: Id) -> u8 {
        if let Some(amount) = self.regs.constant_of(amount) {
            let value = self.regs.register(value);
            let d = self.regs.free();
            self.regs.asm.v2i(by_constant, d, value, amount & 31);
            return d;
        }
        let d = self.regs.free();
        let amount = self.regs.register(amount);
        let limit = Rm::Memory(self.regs.asm.constant(31));
        self.regs.asm.v3(AND, d, amount, limit);
        let value = self.regs.register(value);
        self.regs.asm.v3(by_lane, d, value, Rm::Register(d));
        d
    }

    /// `d` shifted by `amount` & 31, in place.
    fn shift_in_place(&mut self, by_lane: Code, by_constant: Code, d: u8, amount: Id) {
        if let Some(amount) = self.regs.constant_of(amount) {
            self.regs.asm.v2i(by_constant, d, d, amount & 31);
            return;
        }
        let masked = self.regs.free();
        let amount = self.regs.register(amount);
        let limit = Rm::Memory(self.regs.asm.constant(31));
        self.regs.asm.v3(AND, masked, amount, limit);
        self.regs.asm.v3(by_lane, d, d, Rm::Register(masked));
    }

    fn zero(&mut self) -> u8 {
        let d = self.regs.free();
        self.regs.asm.v3(XOR, d, d, Rm::Register(d));
        d
    }

    /// The value's low 24 bits, sign-extended or not, in a register of its own.
    fn low_24(&mut self, value: Id, signed: bool) -> u8 {
        let value = self.regs.register(value);
        let d = self.regs.free();
        if signed {
            self.regs.asm.v2i(SHIFT_LEFT_BY, d, value, 8);
            self.regs.asm.v2i(SHIFT_RIGHT_SIGNED_BY, d, d, 8);
        } else {
            let low = Rm::Memory(self.regs.asm.constant(0x00ff_ffff));
            self.regs.asm.v3(AND, d, value, low);
        }
        d
    }

    fn multiply_24(&mut self, a: Id, b: Id, signed: bool) -> u8 {
        let (a, b) = (self.low_24(a, signed), self.low_24(b, signed));
        self.regs.asm.v3(MULTIPLY, a, a, Rm::Register(b));
        a
    }

    /// Notes the lanes in which `a` or `b` is a NaN.
    pub fn collect_nan(&mut self, a: u8, b: u8) {
        match *self.nan_register {
            None => {
                let register = self.regs.reserve();
                self.regs
                    .asm
                    .v3i(COMPARE, register, a, Rm::Register(b), UNORDERED);
                *self.nan_register = Some(register);
            }
            Some(register) => {
                let d = self.regs.free();
                self.regs.asm.v3i(COMPARE, d, a, Rm::Register(b), UNORDERED);
                self.regs.asm.v3(OR, register, register, Rm::Register(d));
            }
        }
    }

    fn fused(&mut self, a: Id, b: Id, c: Id) -> u8 {
        let later = |s: &Self, id: Id| s.regs.is_used_later(id);
        let distinct = a != b && b != c && a != c;
        if distinct && self.regs.is_held(c) && !later(self, c) {
            let d = self.regs.consume(c);
            let first = self.regs.register(a);
            let second = self.regs.operand(b);
            self.regs
                .asm
                .v3(Code::VEX_Vfmadd231ps_ymm_ymm_ymmm256, d, first, second);
            return d;
        }
        for (x, y) in [(a, b), (b, a)] {
            if distinct && self.regs.is_held(x) && !later(self, x) {
                let d = self.regs.consume(x);
                let factor = self.regs.register(y);
                let addend = self.regs.operand(c);
                self.regs
                    .asm
                    .v3(Code::VEX_Vfmadd213ps_ymm_ymm_ymmm256, d, factor, addend);
                return d;
            }
        }
        let d = self.regs.free();
        self.regs.load(d, c);
        let first = self.regs.register(a);
        let second = self.regs.operand(b);
        self.regs
            .asm
            .v3(Code::VEX_Vfmadd231ps_ymm_ymm_ymmm256, d, first, second);
        d
    }

    /// A lane mask as ones and zeros, not inverted or inverted as the second result says.
    fn whole_mask(&mut self, mask: Id) -> (u8, bool) {
        let kind = self.kinds[mask];
        let register = self.regs.register(mask);
        if !kind.sign_only {
            return (register, kind.inverted);
        }
        let d = self.regs.free();
        self.regs.asm.v2i(SHIFT_RIGHT_SIGNED_BY, d, register, 31);
        (d, kind.inverted)
    }

    fn integer_compare(&mut self, relation: Relation, signed: bool, a: Id, b: Id) -> (u8, bool) {
        use Relation as R;
        match (relation, signed) {
            (R::Eq, _) => (self.commute(EQUAL, a, b), false),
            (R::Lg, _) => (self.commute(EQUAL, a, b), true),
            (R::Gt, true) => (self.binary(GREATER, a, b), false),
            (R::Le, true) => (self.binary(GREATER, a, b), true),
            (R::Lt, true) => (self.binary(GREATER, b, a), false),
            (_, true) => (self.binary(GREATER, b, a), true),
            // a ≥ b if the larger of both is a.
            (R::Ge | R::Lt, false) => {
                let first = self.regs.register(a);
                let d = self.binary(MAX, a, b);
                self.regs.asm.v3(EQUAL, d, d, Rm::Register(first));
                (d, relation == R::Lt)
            }
            (_, false) => {
                let first = self.regs.register(a);
                let d = self.binary(MIN, a, b);
                self.regs.asm.v3(EQUAL, d, d, Rm::Register(first));
                (d, relation == R::Gt)
            }
        }
    }

    /// Emits a step.
    pub fn step(&mut self, step: &Step) {
        let s = &step.sources;
        let d = match step.form {
            // Loads and stores are no business of lanes: `emit` has them.
            Form::None | Form::Load | Form::Store | Form::LoadScalar => {
                self.regs.failed = true;
                return;
            }
            Form::Move => self.regs.consume(s[0]),
            Form::ChangeSign => {
                let [and, xor, _] = step.aux;
                let d = self.regs.consume(s[0]);
                if and != u32::MAX {
                    self.fold_constant(AND, d, and);
                }
                if xor != 0 {
                    self.fold_constant(XOR, d, xor);
                }
                d
            }
            Form::Not => {
                let d = self.regs.consume(s[0]);
                self.fold_constant(XOR, d, u32::MAX);
                d
            }
            Form::And => self.commute(AND, s[0], s[1]),
            Form::Or => self.commute(OR, s[0], s[1]),
            Form::Xor => self.commute(XOR, s[0], s[1]),
            Form::Xnor => {
                let d = self.commute(XOR, s[0], s[1]);
                self.fold_constant(XOR, d, u32::MAX);
                d
            }
            Form::AndOr => {
                let d = self.commute(AND, s[0], s[1]);
                self.fold(OR, d, s[2]);
                d
            }
            Form::Or3 => {
                let d = self.commute(OR, s[0], s[1]);
                self.fold(OR, d, s[2]);
                d
            }
            Form::Xor3 => {
                let d = self.commute(XOR, s[0], s[1]);
                self.fold(XOR, d, s[2]);
                d
            }
            Form::BitSelect => {
                let chosen = self.binary(AND, s[0], s[1]);
                let rest = self.binary(AND_NOT, s[0], s[2]);
                self.regs.asm.v3(OR, chosen, chosen, Rm::Register(rest));
                chosen
            }
            Form::ShiftLeft => self.shift(SHIFT_LEFT, SHIFT_LEFT_BY, s[1], s[0]),
            Form::ShiftRight => self.shift(SHIFT_RIGHT, SHIFT_RIGHT_BY, s[1], s[0]),
            Form::ShiftRightSigned => {
                self.shift(SHIFT_RIGHT_SIGNED, SHIFT_RIGHT_SIGNED_BY, s[1], s[0])
            }
            Form::ShiftLeft64 | Form::ShiftRight64 | Form::ShiftRightSigned64 => {
                self.shift_64(step);
                return;
            }
            Form::MultiplyAdd64 => {
                self.multiply_add_64(step);
                return;
            }
            Form::ShiftLeftAdd => {
                let d = self.shift(SHIFT_LEFT, SHIFT_LEFT_BY, s[0], s[1]);
                self.fold(ADD, d, s[2]);
                d
            }
            Form::AddShiftLeft => {
                let d = self.commute(ADD, s[0], s[1]);
                self.shift_in_place(SHIFT_LEFT, SHIFT_LEFT_BY, d, s[2]);
                d
            }
            Form::ShiftLeftOr => {
                let d = self.shift(SHIFT_LEFT, SHIFT_LEFT_BY, s[0], s[1]);
                self.fold(OR, d, s[2]);
                d
            }
            Form::XorAdd => {
                let d = self.commute(XOR, s[0], s[1]);
                self.fold(ADD, d, s[2]);
                d
            }
            Form::Extract => self.extract(s[0], s[1], s[2]),
            Form::ExtractSigned => self.extract_signed(s[0], s[1], s[2]),
            Form::AlignBit => {
                let by = self.regs.constant_of(s[2]).unwrap_or(0) & 31;
                if by == 0 {
                    self.regs.consume(s[1])
                } else {
                    let (high, low) = (self.regs.register(s[0]), self.regs.register(s[1]));
                    let (d, t) = (self.regs.free(), self.regs.free());
                    self.regs.asm.v2i(SHIFT_RIGHT_BY, d, low, by);
                    self.regs.asm.v2i(SHIFT_LEFT_BY, t, high, 32 - by);
                    self.regs.asm.v3(OR, d, d, Rm::Register(t));
                    d
                }
            }
            Form::Add => self.commute(ADD, s[0], s[1]),
            Form::Subtract => self.binary(SUBTRACT, s[0], s[1]),
            Form::SubtractReversed => self.binary(SUBTRACT, s[1], s[0]),
            Form::Add3 => {
                let d = self.commute(ADD, s[0], s[1]);
                self.fold(ADD, d, s[2]);
                d
            }
            Form::AddCarryOut => self.add_carry_out(step),
            Form::AddCarry => self.add_carry(step),
            Form::Multiply => self.commute(MULTIPLY, s[0], s[1]),
            Form::MultiplyHigh => self.multiply_high(s[0], s[1]),
            Form::Multiply24 => self.multiply_24(s[0], s[1], false),
            Form::Multiply24Signed => self.multiply_24(s[0], s[1], true),
            Form::MultiplyAdd24 | Form::MultiplyAdd24Signed => {
                let signed = step.form == Form::MultiplyAdd24Signed;
                let d = self.multiply_24(s[0], s[1], signed);
                self.fold(ADD, d, s[2]);
                d
            }
            Form::MinSigned => self.commute(Code::VEX_Vpminsd_ymm_ymm_ymmm256, s[0], s[1]),
            Form::MaxSigned => self.commute(Code::VEX_Vpmaxsd_ymm_ymm_ymmm256, s[0], s[1]),
            Form::Min => self.commute(MIN, s[0], s[1]),
            Form::Max => self.commute(MAX, s[0], s[1]),
            Form::Select => {
                let mask = step.mask.unwrap_or(0);
                let (no, yes) = if self.kinds[mask].inverted {
                    (s[1], s[0])
                } else {
                    (s[0], s[1])
                };
                let mask = self.regs.register(mask);
                let no = self.regs.register(no);
                let yes = self.regs.operand(yes);
                let d = self.regs.free();
                self.regs
                    .asm
                    .v4(Code::VEX_Vblendvps_ymm_ymm_ymmm256_ymm, d, no, yes, mask);
                d
            }
            Form::Compare(relation) | Form::CompareSigned(relation) => {
                let signed = matches!(step.form, Form::CompareSigned(_));
                let (d, inverted) = self.integer_compare(relation, signed, s[0], s[1]);
                self.put_mask(step, d, inverted, false);
                return;
            }
            Form::CompareF32(relation) => {
                let a = self.regs.register(s[0]);
                let b = self.regs.operand(s[1]);
                let d = self.regs.free();
                self.regs.asm.v3i(COMPARE, d, a, b, predicate(relation));
                self.put_mask(step, d, false, false);
                return;
            }
            Form::AddF32 => self.commute(Code::VEX_Vaddps_ymm_ymm_ymmm256, s[0], s[1]),
            Form::SubtractF32 => self.binary(Code::VEX_Vsubps_ymm_ymm_ymmm256, s[0], s[1]),
            Form::SubtractReversedF32 => self.binary(Code::VEX_Vsubps_ymm_ymm_ymmm256, s[1], s[0]),
            Form::MultiplyF32 => self.commute(Code::VEX_Vmulps_ymm_ymm_ymmm256, s[0], s[1]),
            Form::FusedF32 => self.fused(s[0], s[1], s[2]),
            Form::MinF32 | Form::MaxF32 => {
                let (a, b) = (self.regs.register(s[0]), self.regs.register(s[1]));
                self.collect_nan(a, b);
                // Equal values differ in the sign of zero at most: each order gives one of them.
                let (code, join) = if step.form == Form::MinF32 {
                    (Code::VEX_Vminps_ymm_ymm_ymmm256, OR)
                } else {
                    (Code::VEX_Vmaxps_ymm_ymm_ymmm256, AND)
                };
                let (d, t) = (self.regs.free(), self.regs.free());
                self.regs.asm.v3(code, d, a, Rm::Register(b));
                self.regs.asm.v3(code, t, b, Rm::Register(a));
                self.regs.asm.v3(join, d, d, Rm::Register(t));
                d
            }
            Form::RoundF32(how) => {
                let a = self.regs.operand(s[0]);
                let d = self.regs.free();
                self.regs
                    .asm
                    .v2mi(Code::VEX_Vroundps_ymm_ymmm256_imm8, d, a, u32::from(how));
                d
            }
            Form::FromSigned => {
                let a = self.regs.operand(s[0]);
                let d = self.regs.free();
                self.regs.asm.v2(Code::VEX_Vcvtdq2ps_ymm_ymmm256, d, a);
                d
            }
            Form::ToSigned => self.truncate_to_signed(s[0]),
            Form::FromByte(byte) => {
                let a = self.regs.register(s[0]);
                let d = self.regs.free();
                let low = Rm::Memory(self.regs.asm.constant(0xff));
                match byte {
                    0 => self.regs.asm.v3(AND, d, a, low),
                    3 => self.regs.asm.v2i(SHIFT_RIGHT_BY, d, a, 24),
                    _ => {
                        self.regs.asm.v2i(SHIFT_RIGHT_BY, d, a, 8 * u32::from(byte));
                        self.regs.asm.v3(AND, d, d, low);
                    }
                }
                self.regs
                    .asm
                    .v2(Code::VEX_Vcvtdq2ps_ymm_ymmm256, d, Rm::Register(d));
                d
            }
        };
        self.regs.assign(step.results[0], d);
    }

    fn put_mask(&mut self, step: &Step, register: u8, inverted: bool, sign_only: bool) {
        if let Some(id) = step.mask_result {
            self.kinds[id] = MaskKind {
                inverted,
                sign_only,
            };
            self.regs.assign(id, register);
        }
    }

    fn extract(&mut self, value: Id, offset: Id, width: Id) -> u8 {
        if let Some(width) = self.regs.constant_of(width) {
            let d = self.shift(SHIFT_RIGHT, SHIFT_RIGHT_BY, value, offset);
            self.fold_constant(AND, d, (1 << (width & 31)) - 1);
            return d;
        }
        let field = self.regs.free();
        let one = Rm::Memory(self.regs.asm.constant(1));
        self.regs.asm.v2(Code::VEX_Vmovups_ymm_ymmm256, field, one);
        self.shift_in_place(SHIFT_LEFT, SHIFT_LEFT_BY, field, width);
        self.fold_constant(ADD, field, u32::MAX);
        let d = self.shift(SHIFT_RIGHT, SHIFT_RIGHT_BY, value, offset);
        self.regs.asm.v3(AND, d, d, Rm::Register(field));
        d
    }

    fn extract_signed(&mut self, value: Id, offset: Id, width: Id) -> u8 {
        let offset = self.regs.constant_of(offset).unwrap_or(0) & 31;
        let width = self.regs.constant_of(width).unwrap_or(0) & 31;
        if width == 0 {
            return self.zero();
        }
        let value = self.regs.register(value);
        let d = self.regs.free();
        if offset + width <= 32 {
            self.regs
                .asm
                .v2i(SHIFT_LEFT_BY, d, value, 32 - offset - width);
            self.regs.asm.v2i(SHIFT_RIGHT_SIGNED_BY, d, d, 32 - width);
        } else {
            // The field reaches past the top, where signs come in.
            self.regs.asm.v2i(SHIFT_RIGHT_SIGNED_BY, d, value, offset);
        }
        d
    }

    fn truncate_to_signed(&mut self, value: Id) -> u8 {
        let value = self.regs.register(value);
        let (d, t) = (self.regs.free(), self.regs.free());
        let limit = Rm::Memory(self.regs.asm.constant(2_147_483_648.0f32.to_bits()));
        let asm = &mut *self.regs.asm;
        asm.v2(Code::VEX_Vcvttps2dq_ymm_ymmm256, d, Rm::Register(value));
        // What does not fit has become the least integer: right for what is too small; the largest is its complement.
        asm.v3i(COMPARE, t, value, limit, predicate(Relation::Ge));
        asm.v3(XOR, d, d, Rm::Register(t));
        asm.v3i(
            COMPARE,
            t,
            value,
            Rm::Register(value),
            predicate(Relation::O),
        );
        asm.v3(AND, d, d, Rm::Register(t));
        d
    }
}

/// Predicate of `vcmpps`, without exceptions for quiet NaNs.
fn predicate(relation: Relation) -> u32 {
    match relation {
        Relation::Eq => 0x00,
        Relation::Lt => 0x11,
        Relation::Le => 0x12,
        Relation::U => UNORDERED,
        Relation::Neq => 0x04,
        Relation::Nlt => 0x15,
        Relation::Nle => 0x16,
        Relation::O => 0x07,
        Relation::Nlg => 0x08,
        Relation::Nge => 0x19,
        Relation::Ngt => 0x1a,
        Relation::Lg => 0x0c,
        Relation::Ge => 0x1d,
        Relation::Gt => 0x1e,
    }
}
