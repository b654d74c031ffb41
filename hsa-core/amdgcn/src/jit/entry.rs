//! What a run with loads and stores does before its loop: computes the addresses of lane 0, checks that the others are what
//! `linear` takes them for, and finds the memory. Nothing has been written when a check fails: the run is then done
//! the other way.
//!
//! Registers: `rax` the vector file; `rcx` and `rdx` hold what is being computed, `r8` to `r11` the last values; each value is also on
//! the stack, where the loop finds it. All vector registers are free.

use iced_x86::{Code, Instruction, MemoryOperand, Register};

use crate::{interp::wave::Wave, memory::cache::layout};

use super::{
    assemble::{Assembler, Label, Rm, ymm},
    form::Form,
    linear::{Line, Linear},
    registers::{FILE, OP, in_scalars, in_wave},
    values::{Id, Origin, Plan, Step},
};

/// Where a run keeps things on the stack, from an offset on.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    lines: u32,
    pointers: u32,
    ramps: u32,
    /// Behind the last.
    pub end: u32,
}

impl Frame {
    /// A frame for these numbers of values, of loads and stores, and of values that are wanted as lanes.
    pub fn new(start: u32, lines: usize, accesses: usize, ramps: usize) -> Self {
        let pointers = start + 8 * (lines as u32).div_ceil(2);
        let ramps_at = pointers + 8 * accesses as u32;
        Self {
            lines: start,
            pointers,
            ramps: ramps_at,
            end: (ramps_at + 32 * ramps as u32).next_multiple_of(16),
        }
    }

    /// A value in lane 0.
    pub fn first(&self, line: Line) -> MemoryOperand {
        on_stack(self.lines + 4 * line.number)
    }

    /// Host address of lane 0's dword of a load or store.
    pub fn pointer(&self, access: usize) -> MemoryOperand {
        on_stack(self.pointers + 8 * access as u32)
    }

    /// The lanes of a group, of the value with this number among those that are wanted as lanes.
    pub fn ramp(&self, number: usize) -> MemoryOperand {
        on_stack(self.ramps + 32 * number as u32)
    }
}

fn on_stack(offset: u32) -> MemoryOperand {
    MemoryOperand::with_base_displ(Register::RSP, i64::from(offset))
}

fn in_register(offset: u32, group: u32) -> MemoryOperand {
    MemoryOperand::with_base_displ(FILE, i64::from(offset + 32 * group))
}

/// What eight lanes go up by from the first of them.
pub fn rises(difference: u32) -> [u32; 8] {
    std::array::from_fn(|lane| difference.wrapping_mul(lane as u32))
}

/// The code before a run's loop.
pub struct Entry<'a> {
    /// The code.
    pub asm: &'a mut Assembler,
    /// The run.
    pub plan: &'a Plan,
    /// Its addresses.
    pub linear: &'a Linear,
    /// The stack.
    pub frame: Frame,
    /// Where to go when a check fails.
    pub miss: Label,
    /// Lanes of a wave.
    pub lanes: u32,
    /// Values in [`HELD`], the one that was used last at the end.
    held: Vec<(Id, Register)>,
    /// Registers of the file that have been checked.
    checked: Vec<Id>,
}

/// Registers of the last values.
const HELD: [Register; 4] = [Register::R8D, Register::R9D, Register::R10D, Register::R11D];

const MOVE: Code = Code::Mov_r32_rm32;
const ADD: Code = Code::Add_r32_rm32;
const A: Register = Register::EDX;
const A64: Register = Register::RDX;
const B: Register = Register::ECX;
const B64: Register = Register::RCX;

/// The 64 bits of a register.
fn wide(register: Register) -> Register {
    Register::RAX + (register as u32 - Register::EAX as u32)
}

impl<'a> Entry<'a> {
    /// Nothing emitted.
    pub fn new(
        asm: &'a mut Assembler,
        plan: &'a Plan,
        linear: &'a Linear,
        frame: Frame,
        miss: Label,
        lanes: u32,
    ) -> Self {
        Self {
            asm,
            plan,
            linear,
            frame,
            miss,
            lanes,
            held: Vec::new(),
            checked: Vec::new(),
        }
    }

    /// Emits all of it. `ramps` are the values that are wanted as lanes.
    pub fn emit(&mut self, ramps: &[(Id, Line)]) {
        let plan = self.plan;
        let mut access = 0;
        for (number, step) in plan.steps.iter().enumerate() {
            if self.linear.steps[number] {
                self.step(step, number);
            } else if step.form.is_memory() {
                self.access(step, number, access);
                access += 1;
            }
        }
        for (number, &(_, line)) in ramps.iter().enumerate() {
            if !line.is_uniform() {
                self.lanes_of(line);
                let ramp = self.frame.ramp(number);
                self.asm.mr(Code::VEX_Vmovups_ymmm256_ymm, ramp, ymm(0));
            }
        }
    }

    fn line(&self, id: Id) -> Line {
        self.linear.lines[&id]
    }

    fn is_uniform(&self, id: Id) -> bool {
        self.line(id).is_uniform()
    }

    /// Goes the other way if the last comparison says so.
    fn check(&mut self, failed: Code) {
        self.asm.jump(failed, self.miss);
    }

    /// A register for a value; what was used longest ago goes.
    fn place(&mut self, id: Id) -> Register {
        let free = HELD
            .into_iter()
            .find(|register| self.held.iter().all(|(_, held)| held != register));
        let register = free.unwrap_or_else(|| self.held.remove(0).1);
        self.held.push((id, register));
        register
    }

    /// The value of lane 0, in a register that is not to be changed.
    fn first(&mut self, id: Id) -> Register {
        if let Some(at) = self.held.iter().position(|&(held, _)| held == id) {
            let found = self.held.remove(at);
            self.held.push(found);
            return found.1;
        }
        let line = self.line(id);
        let register = self.place(id);
        match self.plan.values[id].origin {
            Origin::Constant(value) => {
                self.asm
                    .push(Instruction::with2(Code::Mov_r32_imm32, register, value));
            }
            Origin::Scalar(offset) => self.asm.rm(MOVE, register, in_scalars(offset)),
            Origin::File(offset) => {
                self.asm.rm(MOVE, register, in_register(offset, 0));
                if !self.checked.contains(&id) {
                    self.checked.push(id);
                    let first = self.frame.first(line);
                    self.asm.mr(Code::Mov_rm32_r32, first, register);
                    self.check_register(offset, line);
                }
            }
            Origin::Mask(_) | Origin::Computed => {
                self.asm.rm(MOVE, register, self.frame.first(line));
            }
        }
        register
    }

    /// Takes the value of lane 0 from a register.
    fn set(&mut self, id: Id, from: Register) {
        let line = self.line(id);
        let register = self.place(id);
        self.asm.rr(MOVE, register, from);
        let first = self.frame.first(line);
        self.asm.mr(Code::Mov_rm32_r32, first, from);
    }

    /// The first eight lanes of a value that is on the stack, in `ymm0`.
    fn lanes_of(&mut self, line: Line) {
        let first = Rm::Memory(self.frame.first(line));
        self.asm.v2(Code::VEX_Vpbroadcastd_ymm_xmmm32, 0, first);
        if !line.is_uniform() {
            let rises = rises(self.linear.difference(line));
            let rises = Rm::Memory(self.asm.constants8(rises));
            self.asm.v3(Code::VEX_Vpaddd_ymm_ymm_ymmm256, 0, 0, rises);
        }
    }

    /// Checks that a register of the file holds the lanes of a value that is on the stack.
    fn check_register(&mut self, offset: u32, line: Line) {
        const XOR: Code = Code::VEX_Vpxor_ymm_ymm_ymmm256;
        self.lanes_of(line);
        let rise = self.linear.difference(line).wrapping_mul(8);
        for group in 0..self.lanes / 8 {
            let there = Rm::Memory(in_register(offset, group));
            if group == 0 {
                self.asm.v3(XOR, 1, 0, there);
                continue;
            }
            if rise != 0 {
                let rise = Rm::Memory(self.asm.constant(rise));
                self.asm.v3(Code::VEX_Vpaddd_ymm_ymm_ymmm256, 0, 0, rise);
            }
            self.asm.v3(XOR, 2, 0, there);
            self.asm
                .v3(Code::VEX_Vpor_ymm_ymm_ymmm256, 1, 1, Rm::Register(2));
        }
        self.asm.rr(Code::VEX_Vptest_ymm_ymmm256, ymm(1), ymm(1));
        self.check(Code::Jne_rel32_64);
    }

    /// What the last lane is above the first; `None` if the lanes do not go up so that they could end at a greater one.
    fn span(&mut self, id: Id) -> u32 {
        let difference = u64::from(self.linear.difference(self.line(id)));
        let span = difference * u64::from(self.lanes - 1);
        u32::try_from(span).unwrap_or_else(|_| {
            // Goes down, or wraps around for sure.
            self.asm.jump(Code::Jmp_rel32_64, self.miss);
            0
        })
    }

    /// The value of the last lane, in `to`; checks that the lanes go up to it without wrapping around.
    fn last(&mut self, id: Id, to: Register) {
        let span = self.span(id);
        let first = self.first(id);
        self.asm.rr(MOVE, to, first);
        if span != 0 {
            self.asm.ri(Code::Add_rm32_imm32, to, span);
            self.check(Code::Jb_rel32_64);
        }
    }

    fn constant(&self, id: Id) -> u32 {
        self.plan.constant(id).unwrap_or(0)
    }

    /// A copy of a value, shifted.
    fn shifted(&mut self, id: Id, by: u32, to: Register) {
        let first = self.first(id);
        self.asm.rr(MOVE, to, first);
        if by != 0 {
            self.asm.ri(Code::Shl_rm32_imm8, to, by);
        }
    }

    fn combine(&mut self, code: Code, id: Id) {
        let first = self.first(id);
        self.asm.rr(code, A, first);
    }

    /// A step of the addresses, or a scalar load; `number` is its operation from the run's first on.
    fn step(&mut self, step: &Step, number: usize) {
        let s = &step.sources;
        let Some(&d) = step.results.first() else {
            return;
        };
        match step.form {
            Form::Move => self.shifted(s[0], 0, A),
            Form::Add | Form::Add3 => {
                self.shifted(s[0], 0, A);
                for &id in &s[1..] {
                    self.combine(ADD, id);
                }
            }
            Form::Subtract | Form::SubtractReversed => {
                let (a, b) = if step.form == Form::Subtract {
                    (s[0], s[1])
                } else {
                    (s[1], s[0])
                };
                self.shifted(a, 0, A);
                self.combine(Code::Sub_r32_rm32, b);
            }
            Form::ShiftLeft => self.shifted(s[1], self.constant(s[0]) & 31, A),
            Form::ShiftLeftAdd => {
                self.shifted(s[0], self.constant(s[1]) & 31, A);
                self.combine(ADD, s[2]);
            }
            Form::AddShiftLeft => {
                self.shifted(s[0], 0, A);
                self.combine(ADD, s[1]);
                let by = self.constant(s[2]) & 31;
                self.asm.ri(Code::Shl_rm32_imm8, A, by);
            }
            Form::Multiply => {
                self.shifted(s[0], 0, A);
                self.combine(Code::Imul_r32_rm32, s[1]);
            }
            Form::Or => self.or(s[0], 0, s[1]),
            Form::ShiftLeftOr => self.or(s[0], self.constant(s[1]) & 31, s[2]),
            Form::And => self.and(s),
            Form::ShiftRightSigned => {
                self.last(s[1], B);
                self.shifted(s[1], 0, A);
                // All lanes have the first one's sign.
                self.asm.rr(Code::Xor_r32_rm32, B, A);
                self.check(Code::Js_rel32_64);
                self.asm.ri(Code::Sar_rm32_imm8, A, 31);
            }
            Form::ShiftLeft64 => self.shift_left_64(step),
            Form::ShiftRightSigned64 => self.shift_right_64(step),
            Form::AddCarryOut => self.add_carry_out(step),
            Form::AddCarry => self.add_carry(step),
            Form::LoadScalar => self.load_scalar(step, number),
            _ => debug_assert!(false, "{:?} is not linear", step.form),
        }
        self.set(d, A);
    }

    /// (`a` << `by`) | `b`. If one of both varies, it has no bits in common with the other.
    fn or(&mut self, a: Id, by: u32, b: Id) {
        if self.is_uniform(a) && self.is_uniform(b) {
            self.shifted(a, by, A);
            self.combine(Code::Or_r32_rm32, b);
            return;
        }
        // The lanes' bits are all below the highest one of the last lane.
        let (varying, other) = if self.is_uniform(a) { (b, a) } else { (a, b) };
        self.last(varying, B);
        self.asm.ri(Code::Or_rm32_imm8, B, 1);
        self.asm.rr(Code::Bsr_r32_rm32, B, B);
        self.asm
            .push(Instruction::with2(Code::Mov_r32_imm32, A, 2u32));
        self.asm
            .push(Instruction::with2(Code::Shl_rm64_CL, A64, Register::CL));
        self.asm.ri(Code::Sub_rm64_imm8, A64, 1);
        if varying == a && by != 0 {
            self.asm.ri(Code::Shl_rm64_imm8, A64, by);
            // Bits that the shift loses would make the lanes wrap around.
            self.asm.rr(Code::Mov_r64_rm64, B64, A64);
            self.asm.ri(Code::Shr_rm64_imm8, B64, 32);
            self.check(Code::Jne_rel32_64);
        }
        self.shifted(other, if other == a { by } else { 0 }, B);
        self.asm.rr(Code::Test_rm32_r32, B, A);
        self.check(Code::Jne_rel32_64);
        self.shifted(a, by, A);
        self.combine(ADD, b);
    }

    fn and(&mut self, s: &[Id]) {
        if !s.iter().all(|&id| self.is_uniform(id)) {
            // The mask is low bits; a value that has no others passes.
            let (value, mask) = if self.is_uniform(s[0]) {
                (s[1], s[0])
            } else {
                (s[0], s[1])
            };
            let mask = self.constant(mask);
            self.last(value, B);
            self.asm.ri(Code::Cmp_rm32_imm32, B, mask);
            self.check(Code::Ja_rel32_64);
        }
        self.shifted(s[0], 0, A);
        self.combine(Code::And_r32_rm32, s[1]);
    }

    /// Leaves the low half in `A`; the high half is set.
    fn shift_left_64(&mut self, step: &Step) {
        let s = &step.sources;
        let by = self.constant(s[0]) & 63;
        let (low, high) = (s[1], s[2]);
        self.shifted(low, 0, A);
        self.asm.ri(Code::Shr_rm32_imm8, A, 32 - by);
        if !self.is_uniform(low) {
            // All lanes carry the same bits over.
            self.last(low, B);
            self.asm.ri(Code::Shr_rm32_imm8, B, 32 - by);
            self.asm.rr(Code::Cmp_r32_rm32, B, A);
            self.check(Code::Jne_rel32_64);
        }
        self.shifted(high, by, B);
        self.asm.rr(Code::Or_r32_rm32, B, A);
        self.set(step.results[1], B);
        self.shifted(low, by, A);
    }

    /// The same of a shift to the right of a pair whose low half is the same in all lanes.
    fn shift_right_64(&mut self, step: &Step) {
        let s = &step.sources;
        let by = self.constant(s[0]) & 63;
        let (low, high) = (s[1], s[2]);
        self.shifted(high, 0, A);
        self.asm.ri(Code::Sar_rm32_imm8, A, by);
        if !self.is_uniform(high) {
            // What is left of the high half is the same in all lanes.
            self.last(high, B);
            self.asm.ri(Code::Sar_rm32_imm8, B, by);
            self.asm.rr(Code::Cmp_r32_rm32, B, A);
            self.check(Code::Jne_rel32_64);
        }
        self.set(step.results[1], A);
        self.shifted(low, 0, B);
        self.asm.ri(Code::Shr_rm32_imm8, B, by);
        self.shifted(high, 32 - by, A);
        self.asm.rr(Code::Or_r32_rm32, A, B);
    }

    /// Leaves the sum in `A`; the mask is set.
    fn add_carry_out(&mut self, step: &Step) {
        let s = &step.sources;
        let (first_a, first_b) = (self.first(s[0]), self.first(s[1]));
        self.asm.rr(MOVE, A, first_a);
        self.asm.rr(Code::Add_r64_rm64, A64, wide(first_b));
        let (span_a, span_b) = (self.span(s[0]), self.span(s[1]));
        for (register, span) in [(first_a, span_a), (first_b, span_b)] {
            if span != 0 {
                self.asm.rr(MOVE, B, register);
                self.asm.ri(Code::Add_rm32_imm32, B, span);
                self.check(Code::Jb_rel32_64);
            }
        }
        if let Some(span) = span_a.checked_add(span_b).filter(|&span| span != 0) {
            // The first and the last lane carry alike, so all do: the low half does not wrap around between them.
            self.asm.rr(MOVE, B, A);
            self.asm.ri(Code::Add_rm32_imm32, B, span);
            self.check(Code::Jb_rel32_64);
        } else if span_a != 0 {
            self.asm.jump(Code::Jmp_rel32_64, self.miss);
        }
        self.asm.rr(Code::Mov_r64_rm64, B64, A64);
        self.asm.ri(Code::Shr_rm64_imm8, B64, 32);
        self.set_mask(step);
    }

    /// Leaves the sum in `A`; the mask is set.
    fn add_carry(&mut self, step: &Step) {
        let s = &step.sources;
        let Some(carry) = step.mask else { return };
        let carry = self.first(carry);
        self.asm.rr(MOVE, A, carry);
        self.asm.ri(Code::And_rm32_imm8, A, 1);
        for &id in s {
            let first = self.first(id);
            self.asm.rr(Code::Add_r64_rm64, A64, wide(first));
        }
        self.asm.rr(Code::Mov_r64_rm64, B64, A64);
        self.asm.ri(Code::Shr_rm64_imm8, B64, 32);
        self.set_mask(step);
    }

    /// The mask of a carry in `B`: ones or zeros.
    fn set_mask(&mut self, step: &Step) {
        if let Some(mask) = step.mask_result {
            self.asm.push(Instruction::with1(Code::Neg_rm32, B));
            self.set(mask, B);
        }
    }

    /// A dword of memory, into `A`.
    fn load_scalar(&mut self, step: &Step, number: usize) {
        let Some(at) = step.access else { return };
        let [low, high] = [step.sources[0], step.sources[1]].map(|id| self.first(id));
        self.asm.rr(MOVE, A, high);
        self.asm.ri(Code::Shl_rm64_imm8, A64, 32);
        self.asm.rr(Code::Or_r64_rm64, A64, wide(low));
        if let Some(&offset) = step.sources.get(2) {
            let offset = self.first(offset);
            self.asm.rr(Code::Add_r64_rm64, A64, wide(offset));
        }
        if at.offset != 0 {
            self.asm
                .push(Instruction::with2(Code::Add_rm64_imm32, A64, at.offset));
        }
        // The hardware drops the two low bits.
        self.asm
            .push(Instruction::with2(Code::And_rm64_imm8, A64, -4));
        self.find_host(number, layout::READABLE, 4);
        self.asm.rm(MOVE, A, MemoryOperand::with_base(A64));
    }

    /// The host address of a load or store of consecutive dwords; `number` is its step, and its operation from the run's first on.
    fn access(&mut self, step: &Step, number: usize, access: usize) {
        let (Some(&low), Some(at)) = (step.sources.first(), step.access) else {
            return;
        };
        self.last(low, A);
        if let Some(&high) = step.sources.get(1) {
            let high = self.first(high);
            self.asm.rr(MOVE, A, high);
            self.asm.ri(Code::Shl_rm64_imm8, A64, 32);
            let low = self.first(low);
            self.asm.rr(Code::Or_r64_rm64, A64, wide(low));
        } else {
            let low = self.first(low);
            self.asm.rr(MOVE, A, low);
        }
        if let Some(base) = at.base {
            self.asm.rm(Code::Add_r64_rm64, A64, in_scalars(4 * base));
        }
        if at.offset != 0 {
            self.asm
                .push(Instruction::with2(Code::Add_rm64_imm32, A64, at.offset));
        }
        let rights = if step.form == Form::Store {
            layout::WRITABLE
        } else {
            layout::READABLE
        };
        self.find_host(number, rights, 4 * self.lanes);
        let to = self.frame.pointer(access);
        self.asm.mr(Code::Mov_rm64_r64, to, A64);
    }

    /// Makes the guest address in `A64` that of the host, by the map cache's line of an operation. `rights`: the line's number of bytes that
    /// may be accessed so.
    fn find_host(&mut self, number: usize, rights: usize, bytes: u32) {
        let context = in_wave(std::mem::offset_of!(Wave, context));
        self.asm.rr(Code::Mov_r64_rm64, B64, OP);
        self.asm
            .ri(Code::Shr_rm64_imm8, B64, layout::SITE.trailing_zeros());
        self.asm.ri(Code::Add_rm32_imm32, B, number as u32);
        self.asm
            .ri(Code::And_rm32_imm32, B, layout::LINES as u32 - 1);
        self.asm
            .ri(Code::Shl_rm32_imm8, B, layout::LINE.trailing_zeros());
        self.asm.rm(Code::Add_r64_rm64, B64, context);
        let line =
            |offset: usize| MemoryOperand::with_base_displ(B64, (layout::FIRST + offset) as i64);
        let (offset, left) = (Register::R10, Register::R11);
        self.held
            .retain(|&(_, held)| wide(held) != offset && wide(held) != left);
        self.asm.rr(Code::Mov_r64_rm64, offset, A64);
        self.asm.rm(Code::Sub_r64_rm64, offset, line(layout::BASE));
        self.asm.rm(Code::Mov_r64_rm64, left, line(rights));
        self.asm.ri(Code::Sub_rm64_imm32, left, bytes);
        self.check(Code::Jb_rel32_64);
        self.asm.rr(Code::Cmp_r64_rm64, offset, left);
        self.check(Code::Ja_rel32_64);
        self.asm.rm(Code::Add_r64_rm64, A64, line(layout::DELTA));
    }
}
