//! What a run with loads and stores does before its loop: computes the addresses from two numbers each, checks that they are what
//! [`linear`](super::linear) takes them for, and finds the memory. Nothing has been written when a check fails: the run is then done
//! the other way.
//!
//! Registers: `rax` the vector file; `rcx`, `rdx`, `r8` to `r11` and all vector registers are free.

use iced_x86::{Code, Instruction, MemoryOperand, Register};

use crate::{
    interp::wave::Wave,
    memory::cache::layout,
};

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
        let pointers = start + 8 * lines as u32;
        let ramps_at = pointers + 8 * accesses as u32;
        Self {
            lines: start,
            pointers,
            ramps: ramps_at,
            end: (ramps_at + 64 * ramps as u32).next_multiple_of(16),
        }
    }

    /// A value in lane 0.
    pub fn first(&self, line: Line) -> MemoryOperand {
        on_stack(self.lines + 8 * line.number)
    }

    /// The difference from a lane to the next.
    fn difference(&self, line: Line) -> MemoryOperand {
        on_stack(self.lines + 8 * line.number + 4)
    }

    /// Host address of lane 0's dword of a load or store.
    pub fn pointer(&self, access: usize) -> MemoryOperand {
        on_stack(self.pointers + 8 * access as u32)
    }

    /// The lanes of a group, of the value with this number among those that are wanted as lanes.
    pub fn ramp(&self, number: usize) -> MemoryOperand {
        on_stack(self.ramps + 64 * number as u32)
    }

    /// What such a value goes up by from a group to the next, in each lane.
    pub fn rise(&self, number: usize) -> MemoryOperand {
        on_stack(self.ramps + 64 * number as u32 + 32)
    }
}

fn on_stack(offset: u32) -> MemoryOperand {
    MemoryOperand::with_base_displ(Register::RSP, i64::from(offset))
}

fn in_register(offset: u32, group: u32) -> MemoryOperand {
    MemoryOperand::with_base_displ(FILE, i64::from(offset + 32 * group))
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
}

const MOVE: Code = Code::Mov_r32_rm32;
const ADD: Code = Code::Add_r32_rm32;

impl Entry<'_> {
    /// Emits all of it. `ramps` are the values that are wanted as lanes.
    pub fn emit(&mut self, ramps: &[(Id, Line)]) {
        for (&id, &line) in &self.linear.lines {
            self.input(id, line);
        }
        let plan = self.plan;
        let mut access = 0;
        for (number, step) in plan.steps.iter().enumerate() {
            if self.linear.steps[number] {
                self.step(step);
            } else if step.form.is_memory() {
                self.access(step, number, access);
                access += 1;
            }
        }
        for (number, &(_, line)) in ramps.iter().enumerate() {
            if !line.uniform {
                self.ramp(line, number);
            }
        }
    }

    fn line(&self, id: Id) -> Line {
        self.linear.lines[&id]
    }

    fn first(&self, id: Id) -> MemoryOperand {
        self.frame.first(self.line(id))
    }

    fn difference(&self, id: Id) -> MemoryOperand {
        self.frame.difference(self.line(id))
    }

    fn store(&mut self, at: MemoryOperand, register: Register) {
        self.asm.mr(Code::Mov_rm32_r32, at, register);
    }

    fn store_constant(&mut self, at: MemoryOperand, value: u32) {
        self.asm
            .push(Instruction::with2(Code::Mov_rm32_imm32, at, value));
    }

    /// Goes the other way if the last comparison says so.
    fn check(&mut self, failed: Code) {
        self.asm.jump(failed, self.miss);
    }

    /// A value that the run begins with.
    fn input(&mut self, id: Id, line: Line) {
        let (first, difference) = (self.frame.first(line), self.frame.difference(line));
        match self.plan.values[id].origin {
            Origin::Constant(value) => {
                self.store_constant(first, value);
                self.store_constant(difference, 0);
            }
            Origin::Scalar(offset) => {
                self.asm.rm(MOVE, Register::EDX, in_scalars(offset));
                self.store(first, Register::EDX);
                self.store_constant(difference, 0);
            }
            Origin::File(offset) => {
                self.asm.rm(MOVE, Register::EDX, in_register(offset, 0));
                self.store(first, Register::EDX);
                if line.uniform {
                    self.store_constant(difference, 0);
                    self.asm.v2(
                        Code::VEX_Vpbroadcastd_ymm_xmmm32,
                        0,
                        Rm::Memory(first),
                    );
                } else {
                    self.asm
                        .push(Instruction::with2(MOVE, Register::ECX, MemoryOperand::with_base_displ(FILE, i64::from(offset) + 4)));
                    self.asm.rr(Code::Sub_r32_rm32, Register::ECX, Register::EDX);
                    self.store(difference, Register::ECX);
                    self.lanes_of(line);
                }
                self.compare_register(offset, line.uniform);
            }
            Origin::Mask(_) | Origin::Computed => {}
        }
    }

    /// The first eight lanes of a value in `ymm0`, and what they go up by in `ymm1`.
    fn lanes_of(&mut self, line: Line) {
        let (first, difference) = (self.frame.first(line), self.frame.difference(line));
        let numbers = Rm::Memory(self.asm.constants8([0, 1, 2, 3, 4, 5, 6, 7]));
        let broadcast = Code::VEX_Vpbroadcastd_ymm_xmmm32;
        self.asm.v2(broadcast, 1, Rm::Memory(difference));
        self.asm.v2(broadcast, 0, Rm::Memory(first));
        self.asm.v3(Code::VEX_Vpmulld_ymm_ymm_ymmm256, 2, 1, numbers);
        self.asm
            .v3(Code::VEX_Vpaddd_ymm_ymm_ymmm256, 0, 0, Rm::Register(2));
        self.asm.v2i(Code::VEX_Vpslld_ymm_ymm_imm8, 1, 1, 3);
    }

    /// Checks that a register holds the lanes that begin in `ymm0` and go up by `ymm1`.
    fn compare_register(&mut self, offset: u32, uniform: bool) {
        const XOR: Code = Code::VEX_Vpxor_ymm_ymm_ymmm256;
        for group in 0..self.lanes / 8 {
            let there = Rm::Memory(in_register(offset, group));
            if group == 0 {
                self.asm.v3(XOR, 3, 0, there);
                continue;
            }
            if !uniform {
                self.asm
                    .v3(Code::VEX_Vpaddd_ymm_ymm_ymmm256, 0, 0, Rm::Register(1));
            }
            self.asm.v3(XOR, 2, 0, there);
            self.asm
                .v3(Code::VEX_Vpor_ymm_ymm_ymmm256, 3, 3, Rm::Register(2));
        }
        self.asm
            .rr(Code::VEX_Vptest_ymm_ymmm256, ymm(3), ymm(3));
        self.check(Code::Jne_rel32_64);
    }

    /// The value in the last lane, in `r9`; checks that the lanes go up to it without wrapping around. Overwrites `r8`.
    fn last(&mut self, id: Id) {
        let (first, difference) = (self.first(id), self.difference(id));
        self.asm.rm(MOVE, Register::R9D, first);
        if self.line(id).uniform {
            return;
        }
        self.asm.rm(MOVE, Register::R8D, difference);
        self.asm.push(Instruction::with3(
            Code::Imul_r64_rm64_imm32,
            Register::R8,
            Register::R8,
            self.lanes.cast_signed() - 1,
        ));
        self.asm.rr(Code::Add_r64_rm64, Register::R9, Register::R8);
        self.asm.rr(Code::Mov_r64_rm64, Register::R8, Register::R9);
        self.asm.ri(Code::Shr_rm64_imm8, Register::R8, 32);
        self.check(Code::Jne_rel32_64);
    }

    /// Does something with both numbers: the operation applies to each.
    fn both(&mut self, result: Id, mut emit: impl FnMut(&mut Self, fn(&Self, Id) -> MemoryOperand)) {
        for number in [Self::first, Self::difference] {
            emit(self, number);
            let to = number(self, result);
            self.store(to, Register::EDX);
        }
    }

    fn set(&mut self, id: Id, first: Register, difference: u32) {
        let to = (self.first(id), self.difference(id));
        self.store(to.0, first);
        self.store_constant(to.1, difference);
    }

    fn constant(&self, id: Id) -> u32 {
        match self.plan.values[id].origin {
            Origin::Constant(value) => value,
            _ => 0,
        }
    }

    /// A step of the addresses.
    fn step(&mut self, step: &Step) {
        let s = &step.sources;
        let Some(&d) = step.results.first() else {
            return;
        };
        match step.form {
            Form::Move => self.both(d, |e, n| e.asm.rm(MOVE, Register::EDX, n(e, s[0]))),
            Form::Add | Form::Add3 => self.both(d, |e, n| {
                e.asm.rm(MOVE, Register::EDX, n(e, s[0]));
                for &id in &s[1..] {
                    e.asm.rm(ADD, Register::EDX, n(e, id));
                }
            }),
            Form::Subtract | Form::SubtractReversed => {
                let (a, b) = if step.form == Form::Subtract {
                    (s[0], s[1])
                } else {
                    (s[1], s[0])
                };
                self.both(d, |e, n| {
                    e.asm.rm(MOVE, Register::EDX, n(e, a));
                    e.asm.rm(Code::Sub_r32_rm32, Register::EDX, n(e, b));
                });
            }
            Form::ShiftLeft => {
                let by = self.constant(s[0]) & 31;
                self.both(d, |e, n| {
                    e.asm.rm(MOVE, Register::EDX, n(e, s[1]));
                    e.asm.ri(Code::Shl_rm32_imm8, Register::EDX, by);
                });
            }
            Form::ShiftLeftAdd => {
                let by = self.constant(s[1]) & 31;
                self.both(d, |e, n| {
                    e.asm.rm(MOVE, Register::EDX, n(e, s[0]));
                    e.asm.ri(Code::Shl_rm32_imm8, Register::EDX, by);
                    e.asm.rm(ADD, Register::EDX, n(e, s[2]));
                });
            }
            Form::AddShiftLeft => {
                let by = self.constant(s[2]) & 31;
                self.both(d, |e, n| {
                    e.asm.rm(MOVE, Register::EDX, n(e, s[0]));
                    e.asm.rm(ADD, Register::EDX, n(e, s[1]));
                    e.asm.ri(Code::Shl_rm32_imm8, Register::EDX, by);
                });
            }
            Form::Multiply => {
                let (factor, value) = if self.line(s[0]).uniform {
                    (s[0], s[1])
                } else {
                    (s[1], s[0])
                };
                self.both(d, |e, n| {
                    e.asm.rm(MOVE, Register::EDX, n(e, value));
                    let factor = e.first(factor);
                    e.asm.rm(Code::Imul_r32_rm32, Register::EDX, factor);
                });
            }
            Form::Or => self.or(d, s[0], 0, s[1]),
            Form::ShiftLeftOr => self.or(d, s[0], self.constant(s[1]) & 31, s[2]),
            Form::And => self.and(step, d),
            Form::ShiftRightSigned => {
                self.last(s[1]);
                let first = self.first(s[1]);
                self.asm.rm(MOVE, Register::EDX, first);
                self.asm.rr(Code::Xor_r32_rm32, Register::R9D, Register::EDX);
                self.check(Code::Js_rel32_64);
                self.asm.ri(Code::Sar_rm32_imm8, Register::EDX, 31);
                self.set(d, Register::EDX, 0);
            }
            Form::ShiftLeft64 => self.shift_64(step, d),
            Form::AddCarryOut => self.add_carry_out(step, d),
            Form::AddCarry => self.add_carry(step, d),
            _ => debug_assert!(false, "{:?} is not linear", step.form),
        }
    }

    /// `d` = (`a` << `by`) | `b`, where one of both is uniform and has no bits in common with the other's lanes.
    fn or(&mut self, d: Id, a: Id, by: u32, b: Id) {
        if self.line(a).uniform && self.line(b).uniform {
            let (first_a, first_b) = (self.first(a), self.first(b));
            self.asm.rm(MOVE, Register::EDX, first_a);
            self.asm.ri(Code::Shl_rm32_imm8, Register::EDX, by);
            self.asm.rm(Code::Or_r32_rm32, Register::EDX, first_b);
            self.set(d, Register::EDX, 0);
            return;
        }
        // The lanes' bits are all below the highest one of the last lane.
        let varying = if self.line(a).uniform { b } else { a };
        self.last(varying);
        self.asm.ri(Code::Or_rm32_imm8, Register::R9D, 1);
        self.asm.rr(Code::Bsr_r32_rm32, Register::ECX, Register::R9D);
        self.asm.push(Instruction::with2(
            Code::Mov_r32_imm32,
            Register::R8D,
            2u32,
        ));
        self.asm
            .push(Instruction::with2(Code::Shl_rm64_CL, Register::R8, Register::CL));
        self.asm.ri(Code::Sub_rm64_imm8, Register::R8, 1);
        if varying == a {
            self.asm.ri(Code::Shl_rm64_imm8, Register::R8, by);
            // Bits that the shift loses would make the lanes wrap around.
            self.asm.rr(Code::Mov_r64_rm64, Register::R10, Register::R8);
            self.asm.ri(Code::Shr_rm64_imm8, Register::R10, 32);
            self.check(Code::Jne_rel32_64);
            let first = self.first(b);
            self.asm.rm(MOVE, Register::EDX, first);
        } else {
            let first = self.first(a);
            self.asm.rm(MOVE, Register::EDX, first);
            self.asm.ri(Code::Shl_rm32_imm8, Register::EDX, by);
        }
        self.asm.rr(Code::Test_rm32_r32, Register::EDX, Register::R8D);
        self.check(Code::Jne_rel32_64);
        self.both(d, |e, n| {
            e.asm.rm(MOVE, Register::EDX, n(e, a));
            e.asm.ri(Code::Shl_rm32_imm8, Register::EDX, by);
            e.asm.rm(ADD, Register::EDX, n(e, b));
        });
    }

    /// Low bits of a value that has no others.
    fn and(&mut self, step: &Step, d: Id) {
        let s = &step.sources;
        let is_constant = matches!(self.plan.values[s[0]].origin, Origin::Constant(_));
        let (mask, value) = if is_constant {
            (self.constant(s[0]), s[1])
        } else {
            (self.constant(s[1]), s[0])
        };
        if self.line(value).uniform {
            let first = self.first(value);
            self.asm.rm(MOVE, Register::EDX, first);
            self.asm.ri(Code::And_rm32_imm32, Register::EDX, mask);
            self.set(d, Register::EDX, 0);
            return;
        }
        self.last(value);
        self.asm.ri(Code::Cmp_rm32_imm32, Register::R9D, mask);
        self.check(Code::Ja_rel32_64);
        self.both(d, |e, n| e.asm.rm(MOVE, Register::EDX, n(e, value)));
    }

    fn shift_64(&mut self, step: &Step, d: Id) {
        let (by, low, high) = (
            self.constant(step.sources[0]) & 63,
            step.sources[1],
            step.sources[2],
        );
        self.last(low);
        let (first_low, first_high) = (self.first(low), self.first(high));
        self.asm.rm(MOVE, Register::EDX, first_low);
        self.asm.ri(Code::Shr_rm32_imm8, Register::EDX, 32 - by);
        self.asm.ri(Code::Shr_rm32_imm8, Register::R9D, 32 - by);
        // All lanes carry the same bits over.
        self.asm.rr(Code::Cmp_r32_rm32, Register::R9D, Register::EDX);
        self.check(Code::Jne_rel32_64);
        self.asm.rm(MOVE, Register::ECX, first_high);
        self.asm.ri(Code::Shl_rm32_imm8, Register::ECX, by);
        self.asm.rr(Code::Or_r32_rm32, Register::ECX, Register::EDX);
        self.both(d, |e, n| {
            e.asm.rm(MOVE, Register::EDX, n(e, low));
            e.asm.ri(Code::Shl_rm32_imm8, Register::EDX, by);
        });
        self.set(step.results[1], Register::ECX, 0);
    }

    fn add_carry_out(&mut self, step: &Step, d: Id) {
        let s = &step.sources;
        self.last(s[0]);
        self.asm.rr(Code::Mov_r64_rm64, Register::R10, Register::R9);
        self.last(s[1]);
        self.asm.rr(Code::Add_r64_rm64, Register::R10, Register::R9);
        self.asm.ri(Code::Shr_rm64_imm8, Register::R10, 32);
        let (a, b) = (self.first(s[0]), self.first(s[1]));
        self.asm.rm(MOVE, Register::ECX, a);
        self.asm.rm(MOVE, Register::R9D, b);
        self.asm.rr(Code::Add_r64_rm64, Register::RCX, Register::R9);
        self.asm.ri(Code::Shr_rm64_imm8, Register::RCX, 32);
        // The first and the last lane carry alike, so all do.
        self.asm.rr(Code::Cmp_r32_rm32, Register::ECX, Register::R10D);
        self.check(Code::Jne_rel32_64);
        self.both(d, |e, n| {
            e.asm.rm(MOVE, Register::EDX, n(e, s[0]));
            e.asm.rm(ADD, Register::EDX, n(e, s[1]));
        });
        self.set_mask(step);
    }

    fn add_carry(&mut self, step: &Step, d: Id) {
        let s = &step.sources;
        let Some(carry) = step.mask else { return };
        let (a, b, carry) = (self.first(s[0]), self.first(s[1]), self.first(carry));
        self.asm.rm(MOVE, Register::ECX, carry);
        self.asm.ri(Code::And_rm32_imm8, Register::ECX, 1);
        for summand in [a, b] {
            self.asm.rm(MOVE, Register::EDX, summand);
            self.asm.rr(Code::Add_r64_rm64, Register::RCX, Register::RDX);
        }
        self.set(d, Register::ECX, 0);
        self.asm.ri(Code::Shr_rm64_imm8, Register::RCX, 32);
        self.set_mask(step);
    }

    /// The mask of a carry in `ecx`: ones or zeros.
    fn set_mask(&mut self, step: &Step) {
        if let Some(mask) = step.mask_result {
            self.asm
                .push(Instruction::with1(Code::Neg_rm32, Register::ECX));
            self.set(mask, Register::ECX, 0);
        }
    }

    /// The host address of a load or store of consecutive dwords; `number` is its step, and its operation from the run's first on.
    fn access(&mut self, step: &Step, number: usize, access: usize) {
        let (Some(&low), Some(at)) = (step.sources.first(), step.access) else {
            return;
        };
        self.last(low);
        let (first, difference) = (self.first(low), self.difference(low));
        self.asm
            .push(Instruction::with2(Code::Cmp_rm32_imm8, difference, 4));
        self.check(Code::Jne_rel32_64);
        self.asm.rm(MOVE, Register::EDX, first);
        if let Some(&high) = step.sources.get(1) {
            let high = self.first(high);
            self.asm.rm(MOVE, Register::ECX, high);
            self.asm.ri(Code::Shl_rm64_imm8, Register::RCX, 32);
            self.asm.rr(Code::Or_r64_rm64, Register::RDX, Register::RCX);
        }
        if let Some(base) = at.base {
            self.asm
                .rm(Code::Add_r64_rm64, Register::RDX, in_scalars(4 * base));
        }
        if at.offset != 0 {
            self.asm.push(Instruction::with2(
                Code::Add_rm64_imm32,
                Register::RDX,
                at.offset,
            ));
        }
        // The instruction's line of the map cache.
        let context = in_wave(std::mem::offset_of!(Wave, context));
        self.asm.rr(Code::Mov_r64_rm64, Register::RCX, OP);
        self.asm
            .ri(Code::Shr_rm64_imm8, Register::RCX, layout::SITE.trailing_zeros());
        self.asm.ri(Code::Add_rm32_imm32, Register::ECX, number as u32);
        self.asm
            .ri(Code::And_rm32_imm32, Register::ECX, layout::LINES as u32 - 1);
        self.asm
            .ri(Code::Shl_rm32_imm8, Register::ECX, layout::LINE.trailing_zeros());
        self.asm.rm(Code::Add_r64_rm64, Register::RCX, context);
        let line = |offset: usize| {
            MemoryOperand::with_base_displ(Register::RCX, (layout::FIRST + offset) as i64)
        };
        let length = if step.form == Form::Store {
            layout::WRITABLE
        } else {
            layout::READABLE
        };
        self.asm.rr(Code::Mov_r64_rm64, Register::R8, Register::RDX);
        self.asm
            .rm(Code::Sub_r64_rm64, Register::R8, line(layout::BASE));
        self.asm.rm(Code::Mov_r64_rm64, Register::R9, line(length));
        self.asm
            .ri(Code::Sub_rm64_imm32, Register::R9, 4 * self.lanes);
        self.check(Code::Jb_rel32_64);
        self.asm.rr(Code::Cmp_r64_rm64, Register::R8, Register::R9);
        self.check(Code::Ja_rel32_64);
        self.asm
            .rm(Code::Add_r64_rm64, Register::RDX, line(layout::DELTA));
        let to = self.frame.pointer(access);
        self.asm.mr(Code::Mov_rm64_r64, to, Register::RDX);
    }

    /// The lanes of a value, for the loop.
    fn ramp(&mut self, line: Line, number: usize) {
        self.lanes_of(line);
        let (ramp, rise) = (self.frame.ramp(number), self.frame.rise(number));
        for (at, register) in [(ramp, 0), (rise, 1)] {
            self.asm
                .mr(Code::VEX_Vmovups_ymmm256_ymm, at, ymm(register));
        }
    }
}
