//! Arithmetic of more than 32 bits: carries, pairs of registers, high halves of products.

use iced_x86::Code;

use super::{
    ADD, AND, AND_NOT, EQUAL, MAX, MULTIPLY, OR, SHIFT_LEFT_BY, SHIFT_RIGHT_BY,
    SHIFT_RIGHT_SIGNED_BY, SUBTRACT, Selector, XOR,
};
use crate::jit::{
    assemble::Rm,
    form::Form,
    values::{Id, Step},
};

impl Selector<'_, '_> {
    pub(super) fn multiply_high(&mut self, a: Id, b: Id) -> u8 {
        let (a, b) = (self.regs.register(a), self.regs.register(b));
        let (d, t, u) = (self.regs.free(), self.regs.free(), self.regs.free());
        let asm = &mut *self.regs.asm;
        asm.v2i(Code::VEX_Vpsrlq_ymm_ymm_imm8, t, a, 32);
        asm.v2i(Code::VEX_Vpsrlq_ymm_ymm_imm8, u, b, 32);
        asm.v3(Code::VEX_Vpmuludq_ymm_ymm_ymmm256, t, t, Rm::Register(u));
        asm.v3(Code::VEX_Vpmuludq_ymm_ymm_ymmm256, d, a, Rm::Register(b));
        asm.v2i(Code::VEX_Vpsrlq_ymm_ymm_imm8, d, d, 32);
        asm.v3i(
            Code::VEX_Vpblendd_ymm_ymm_ymmm256_imm8,
            d,
            d,
            Rm::Register(t),
            0b1010_1010,
        );
        d
    }

    pub(super) fn add_carry_out(&mut self, step: &Step) -> u8 {
        let s = &step.sources;
        let first = self.regs.register(s[0]);
        let d = self.binary(ADD, s[0], s[1]);
        let mask = step.mask_result.unwrap_or(0);
        if self.regs.is_used_later(mask) {
            // No carry if the sum is at least as large as a summand.
            let t = self.regs.free();
            self.regs.asm.v3(MAX, t, d, Rm::Register(first));
            self.regs.asm.v3(EQUAL, t, t, Rm::Register(d));
            self.put_mask(step, t, true, false);
        }
        d
    }

    pub(super) fn add_carry(&mut self, step: &Step) -> u8 {
        let s = &step.sources;
        let (mask, inverted) = self.whole_mask(step.mask.unwrap_or(0));
        let d = self.commute(ADD, s[0], s[1]);
        if inverted {
            self.regs.asm.v3(ADD, d, d, Rm::Register(mask));
            self.fold_constant(ADD, d, 1);
        } else {
            self.regs.asm.v3(SUBTRACT, d, d, Rm::Register(mask));
        }
        if self.regs.is_used_later(step.mask_result.unwrap_or(0)) {
            let a = self.regs.register(s[0]);
            self.put_carry(step, a, s[1], d);
        }
        d
    }

    /// The mask of a step that has made `sum` of `a`, `b` and perhaps a carry.
    fn put_carry(&mut self, step: &Step, a: u8, b: Id, sum: u8) {
        // The carry out of the top bit: (a & b) | ((a | b) & !sum).
        let b = self.regs.operand(b);
        let (t, u) = (self.regs.free(), self.regs.free());
        self.regs.asm.v3(OR, t, a, b);
        self.regs.asm.v3(AND_NOT, t, sum, Rm::Register(t));
        self.regs.asm.v3(AND, u, a, b);
        self.regs.asm.v3(OR, t, t, Rm::Register(u));
        self.put_mask(step, t, false, true);
    }

    pub(super) fn multiply_add_64(&mut self, step: &Step) {
        let s = &step.sources;
        let product_low = self.commute(MULTIPLY, s[0], s[1]);
        let product_high = self.multiply_high(s[0], s[1]);
        let (low, high) = (self.regs.free(), self.regs.free());
        let addend = self.regs.operand(s[2]);
        self.regs.asm.v3(ADD, low, product_low, addend);
        // No carry if the sum is at least as large as a summand: then 1 is too much.
        let t = self.regs.free();
        self.regs.asm.v3(MAX, t, low, Rm::Register(product_low));
        self.regs.asm.v3(EQUAL, t, t, Rm::Register(low));
        let addend = self.regs.operand(s[3]);
        self.regs.asm.v3(ADD, high, product_high, addend);
        self.regs.asm.v3(ADD, high, high, Rm::Register(t));
        self.fold_constant(ADD, high, 1);
        if self.regs.is_used_later(step.mask_result.unwrap_or(0)) {
            self.put_carry(step, product_high, s[3], high);
        }
        self.regs.assign(step.results[0], low);
        self.regs.assign(step.results[1], high);
    }

    pub(super) fn shift_64(&mut self, step: &Step) {
        let s = &step.sources;
        let by = self.regs.constant_of(s[0]).unwrap_or(0) & 63;
        let left = step.form == Form::ShiftLeft64;
        let signed = step.form == Form::ShiftRightSigned64;
        // `toward` is the half that bits move to.
        let (from, toward) = if left { (s[1], s[2]) } else { (s[2], s[1]) };
        let (out, back) = if left {
            (SHIFT_LEFT_BY, SHIFT_RIGHT_BY)
        } else {
            (SHIFT_RIGHT_BY, SHIFT_LEFT_BY)
        };
        // What the half that bits leave is filled up with.
        let shift_in = if signed { SHIFT_RIGHT_SIGNED_BY } else { out };
        let from = self.regs.register(from);
        let toward = self.regs.register(toward);
        let (near, far) = (self.regs.free(), self.regs.free());
        let asm = &mut *self.regs.asm;
        if by >= 32 {
            asm.v2i(shift_in, far, from, by - 32);
            if signed {
                asm.v2i(shift_in, near, from, 31);
            } else {
                asm.v3(XOR, near, near, Rm::Register(near));
            }
        } else if by == 0 {
            asm.v2(Code::VEX_Vmovaps_ymm_ymmm256, near, Rm::Register(from));
            asm.v2(Code::VEX_Vmovaps_ymm_ymmm256, far, Rm::Register(toward));
        } else {
            asm.v2i(back, near, from, 32 - by);
            asm.v2i(out, far, toward, by);
            asm.v3(OR, far, far, Rm::Register(near));
            asm.v2i(shift_in, near, from, by);
        }
        let (low, high) = if left { (near, far) } else { (far, near) };
        self.regs.assign(step.results[0], low);
        self.regs.assign(step.results[1], high);
    }
}
