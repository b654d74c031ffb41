//! The code of a run with loads and stores.
//!
//! Before the loop the addresses are computed and looked at, see `entry`; if they are not what the code is made for, the run
//! is done another way. The loop loads and computes; what the run stores goes to memory behind it, since a store comes after the loads
//! of all lanes.

use iced_x86::{Code, Instruction, MemoryOperand, Register};

use crate::jit::{
    PATIENCE,
    assemble::{Rm, ymm},
    entry::{Entry, Frame, rises},
    form::Form,
    linear::{Line, Linear, MemoryRun},
    registers::{self, FILE, Made, OFFSET, Registers, SCRATCH},
    values::{Id, Step},
};

use super::{Exits, FRAME, RunCode};

/// What a run with loads and stores has computed before its loop.
pub(super) struct Before<'a> {
    pub(super) linear: &'a Linear,
    pub(super) frame: Frame,
    /// Values that are done and wanted as lanes.
    lanes: Vec<(Id, Line)>,
}

impl Before<'_> {
    /// Tells where the values are that are wanted as lanes.
    pub(super) fn say_what_is_made(&self, regs: &mut Registers<'_>) {
        for (number, &(id, line)) in self.lanes.iter().enumerate() {
            let made = if line.is_uniform() {
                Made::Uniform(self.frame.first(line))
            } else {
                Made::Lanes(self.frame.ramp(number))
            };
            regs.made(id, made);
        }
    }

    /// A group's lanes of a load; a store has nothing to do in the loop.
    pub(super) fn load(&self, regs: &mut Registers<'_>, step: &Step, access: usize) {
        if let [result] = step.results[..] {
            let pointer = self.frame.pointer(access);
            regs.asm.rm(Code::Mov_r64_rm64, SCRATCH, pointer);
            let register = regs.free();
            let lanes = Rm::Memory(registers::indexed(SCRATCH, OFFSET, 0));
            regs.asm.v2(Code::VEX_Vmovups_ymm_ymmm256, register, lanes);
            regs.assign(result, register);
        }
    }
}

impl<'a> RunCode<'a> {
    /// The code of a run with loads and stores; `other` is what does its first operations another way.
    pub(super) fn emit_memory(&mut self, memory: &'a MemoryRun, other: u64) -> Option<()> {
        let lanes: Vec<_> = memory.linear.wanted_as_lanes(self.plan).collect();
        let accesses = self.plan.accesses().count();
        let frame = Frame::new(FRAME, memory.linear.lines.len(), accesses, lanes.len());
        let exits = Exits {
            done: self.asm.label(),
            resume: self.asm.label(),
        };
        let (leave, miss, not_now) = (self.asm.label(), self.asm.label(), self.asm.label());
        let misses = (&raw const self.run.patience).addr() as u64;
        let patience = MemoryOperand::with_base(SCRATCH);
        self.before = Some(Before {
            linear: &memory.linear,
            frame,
            lanes,
        });
        self.enter();
        self.load_address(SCRATCH, misses);
        self.asm
            .push(Instruction::with2(Code::Cmp_rm32_imm8, patience, 0));
        self.asm.jump(Code::Jle_rel32_64, not_now);
        self.check_denormals(not_now);
        self.check_exec(not_now);
        self.first_group();
        if let Some(before) = &self.before {
            let lanes = if self.wave64 { 64 } else { 32 };
            Entry::new(
                &mut *self.asm,
                self.plan,
                &memory.linear,
                frame,
                miss,
                lanes,
            )
            .emit(&before.lanes);
        }
        // Written only if it changes: the threads that run the kernel share it, and would take its line from each other.
        let unchanged = self.asm.label();
        self.load_address(SCRATCH, misses);
        self.asm
            .push(Instruction::with2(Code::Cmp_rm32_imm8, patience, PATIENCE));
        self.asm.jump(Code::Je_rel32_64, unchanged);
        self.asm
            .push(Instruction::with2(Code::Mov_rm32_imm32, patience, PATIENCE));
        self.asm.place(unchanged);
        let fits = if self.has_loop() {
            self.first_group();
            self.groups(exits, false)
        } else {
            Some(())
        };
        self.asm.place(exits.done);
        self.write_scalars();
        self.store();
        self.go_on();
        self.asm.place(leave);
        self.leave();

        self.asm.place(exits.resume);
        self.complete_address(&memory.unread);
        self.give_back();
        self.asm.jump(Code::Jmp_rel32_64, leave);

        self.asm.place(miss);
        self.load_address(SCRATCH, misses);
        self.asm
            .push(Instruction::with2(Code::Sub_rm32_imm8, patience, 1));
        self.asm.place(not_now);
        self.unwind();
        self.load_address(Register::RAX, other);
        self.asm
            .push(Instruction::with1(Code::Jmp_rm64, Register::RAX));
        fits
    }

    /// Whether anything is left for a loop over the groups.
    fn has_loop(&self) -> bool {
        let done = |number: usize| {
            self.before
                .as_ref()
                .is_some_and(|before| before.linear.steps[number])
        };
        let left = self.plan.steps.iter().enumerate();
        let mut left = left.filter(|&(number, step)| !done(number) && step.form != Form::Store);
        left.next().is_some() || !self.plan.stores.is_empty() || !self.plan.masks.is_empty()
    }

    /// Before the interpreter does the rest and the store: the address of the groups that are done, which nobody has written so far.
    fn complete_address(&mut self, unread: &[(u32, Id)]) {
        let Some(before) = &self.before else { return };
        let address = self.plan.store().map_or(&[][..], |step| &step.sources);
        for &(offset, id) in unread.iter().filter(|(_, id)| address.contains(id)) {
            let Some(&line) = before.linear.lines.get(&id) else {
                continue;
            };
            let difference = before.linear.difference(line);
            let lanes = Rm::Memory(self.asm.constants8(rises(difference)));
            let rise = Rm::Memory(self.asm.constant(difference.wrapping_mul(8)));
            let first = Rm::Memory(before.frame.first(line));
            let (top, done) = (self.asm.label(), self.asm.label());
            self.asm.v2(Code::VEX_Vpbroadcastd_ymm_xmmm32, 0, first);
            self.asm.v3(Code::VEX_Vpaddd_ymm_ymm_ymmm256, 0, 0, lanes);
            self.asm
                .rr(Code::Xor_r32_rm32, Register::EDX, Register::EDX);
            self.asm.place(top);
            self.asm.rr(Code::Cmp_r64_rm64, SCRATCH, OFFSET);
            self.asm.jump(Code::Jae_rel32_64, done);
            let to = registers::indexed(FILE, SCRATCH, i64::from(offset));
            self.asm.mr(Code::VEX_Vmovups_ymmm256_ymm, to, ymm(0));
            self.asm.v3(Code::VEX_Vpaddd_ymm_ymm_ymmm256, 0, 0, rise);
            self.asm.ri(Code::Add_rm64_imm8, SCRATCH, 32);
            self.asm.jump(Code::Jmp_rel32_64, top);
            self.asm.place(done);
        }
    }

    /// What the run stores to memory at its end: the lanes of a register that holds its value by now.
    fn store(&mut self) {
        let Some(before) = &self.before else { return };
        let Some(register) = self.plan.stored() else {
            return;
        };
        // The store is the last of the accesses.
        let pointer = before.frame.pointer(self.plan.accesses().count() - 1);
        self.asm.rm(Code::Mov_r64_rm64, SCRATCH, pointer);
        for group in 0..if self.wave64 { 8 } else { 4 } {
            let from = MemoryOperand::with_base_displ(FILE, i64::from(register + 32 * group));
            let to = MemoryOperand::with_base_displ(SCRATCH, i64::from(32 * group));
            let data = (group % 4) as u8;
            self.asm
                .v2(Code::VEX_Vmovups_ymm_ymmm256, data, Rm::Memory(from));
            self.asm.mr(Code::VEX_Vmovups_ymmm256_ymm, to, ymm(data));
        }
    }

    /// Brings what goes up from group to group to the next one.
    pub(super) fn rise(&mut self) {
        let Some(before) = &self.before else { return };
        for (number, (_, line)) in before.lanes.iter().enumerate() {
            if line.is_uniform() {
                continue;
            }
            let ramp = before.frame.ramp(number);
            let rise = before.linear.difference(*line).wrapping_mul(8);
            let rise = Rm::Memory(self.asm.constant(rise));
            self.asm
                .v2(Code::VEX_Vmovups_ymm_ymmm256, 0, Rm::Memory(ramp));
            self.asm.v3(Code::VEX_Vpaddd_ymm_ymm_ymmm256, 0, 0, rise);
            self.asm.mr(Code::VEX_Vmovups_ymmm256_ymm, ramp, ymm(0));
        }
    }
}
