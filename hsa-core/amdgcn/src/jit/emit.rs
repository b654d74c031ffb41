//! The code of a run.
//!
//! Registers: the wave in `rdi`, the run's first operation in `rsi`, both as the caller has them; the vector file in `rax`; the offset and
//! number of the group of eight lanes in `rcx` and `r8`. Bits of lane masks shift into a register for each mask, a group's eight on
//! top of those before, so that after the last group they stand where they belong.
//!
//! There are two loops over the groups: one for a wave with all lanes active, and one that leaves out groups without active lanes and
//! stores under EXEC.

mod memory;

use iced_x86::{Code, Instruction, MemoryOperand, Register};

use crate::{
    interp::wave::{Wave, mode, slot},
    ir::{Op, program::LowerConfig},
};

use super::{
    Run,
    assemble::{Assembler, Label, Rm, ymm},
    linear::MemoryRun,
    memory::{CodePages, WritablePages},
    region::{Code as Segment, MAX_MASKS, Region},
    registers::{
        FILE, GROUP, OFFSET, OP, Registers, SCRATCH, SPILLS, WAVE, exec_lanes, in_file, in_scalars,
        in_wave, mask_byte,
    },
    resume::{refresh_mask, resume},
    select::{MaskKind, Selector},
    values::Plan,
};

use memory::Before;

/// Registers that collect the bits of lane masks. The last four belong to the caller.
const MASK_BITS: [Register; MAX_MASKS] = [
    Register::R10,
    Register::R11,
    Register::RBX,
    Register::RBP,
    Register::R12,
    Register::R13,
];

/// Mask registers that need no saving.
const FREE_MASK_BITS: usize = 2;

/// Where mask bits are kept for the way back, above the spills.
const SAVED_MASKS: i64 = 32 * SPILLS as i64;

/// Bytes of the stack frame.
const FRAME: u32 = 32 * SPILLS + 64;

/// Runs of a segment: those of vector operations, and those with loads and stores.
#[derive(Debug)]
pub struct Runs {
    /// Of vector operations.
    pub vector: Vec<Region>,
    /// With loads and stores.
    pub memory: Vec<MemoryRun>,
}

impl Runs {
    /// All of them, the first kind first.
    pub fn regions(&self) -> impl Iterator<Item = &Region> {
        self.vector
            .iter()
            .chain(self.memory.iter().map(|run| &run.region))
    }

    fn operations(&self) -> usize {
        self.regions().map(|region| region.end - region.start).sum()
    }

    /// Constants for them: those of the operations and of the code itself.
    fn constants(&self) -> usize {
        8 * self.operations() + 32
    }

    /// Bytes that their code takes at most.
    pub fn bound(&self) -> usize {
        let code = 2400 * self.operations() + 4096 * self.regions().count();
        Assembler::constant_bytes(self.constants()) + code
    }
}

/// Emits the code of all runs; gives the entry of each, `None` for one that has too many values at once. `runs` are in the order of
/// [`Runs::regions`].
pub fn emit(
    segment: &Segment<'_>,
    regions: &Runs,
    runs: &[Run],
    mut pages: WritablePages,
) -> Option<(CodePages, Vec<Option<*const u8>>)> {
    let config = segment.config;
    let mut asm = Assembler::new(pages.address(), regions.constants());
    let mut entries = Vec::with_capacity(runs.len());
    let (vector_runs, memory_runs) = runs.split_at(regions.vector.len());
    for (region, run) in regions.vector.iter().zip(vector_runs) {
        let plan = Plan::new(segment, region)?;
        let entry = asm.here() as usize as *const u8;
        let mut code = RunCode::new(&mut asm, &plan, region, run, config);
        entries.push(code.emit().map(|()| entry));
    }
    for (memory, run) in regions.memory.iter().zip(memory_runs) {
        let entry = asm.here() as usize as *const u8;
        let other = regions
            .vector
            .iter()
            .position(|region| region.start == memory.region.start)
            .and_then(|index| entries[index]);
        let mut code = RunCode::new(&mut asm, &memory.plan, &memory.region, run, config);
        let other = other.map_or(run.first as usize as u64, |entry| entry.addr() as u64);
        entries.push(code.emit_memory(memory, other).map(|()| entry));
    }
    asm.finish(pages.bytes())?;
    Some((pages.finish().ok()?, entries))
}

/// The low 32 bits of a 64-bit register.
fn low_half(register: Register) -> Register {
    Register::EAX + (register as u32 - Register::RAX as u32)
}

/// Moves a mask's bits down by a group.
fn make_room(asm: &mut Assembler, bits: Register, wave64: bool) {
    if wave64 {
        asm.ri(Code::Shr_rm64_imm8, bits, 8);
    } else {
        asm.ri(Code::Shr_rm32_imm8, low_half(bits), 8);
    }
}

/// One run.
struct RunCode<'a> {
    asm: &'a mut Assembler,
    plan: &'a Plan,
    region: &'a Region,
    run: &'a Run,
    wave64: bool,
    /// Addresses and what else is computed before the loop.
    before: Option<Before<'a>>,
}

/// Places that both loops jump to.
#[derive(Clone, Copy)]
struct Exits {
    /// All groups are done.
    done: Label,
    /// The interpreter does the rest from the group on.
    resume: Label,
}

impl<'a> RunCode<'a> {
    fn new(
        asm: &'a mut Assembler,
        plan: &'a Plan,
        region: &'a Region,
        run: &'a Run,
        config: &LowerConfig,
    ) -> Self {
        Self {
            asm,
            plan,
            region,
            run,
            wave64: config.wave64,
            before: None,
        }
    }

    fn emit(&mut self) -> Option<()> {
        let exits = Exits {
            done: self.asm.label(),
            resume: self.asm.label(),
        };
        let leave = self.asm.label();
        let masked = self.asm.label();
        self.enter();
        self.first_group();
        self.check_denormals(exits.resume);
        self.check_exec(masked);
        let full = self.groups(exits, false);

        self.asm.place(exits.done);
        self.write_scalars();
        self.go_on();
        self.asm.place(leave);
        self.leave();

        self.asm.place(masked);
        self.refresh();
        let partial = self.groups(exits, true);
        self.asm.jump(Code::Jmp_rel32_64, exits.done);

        self.asm.place(exits.resume);
        self.give_back();
        self.asm.jump(Code::Jmp_rel32_64, leave);
        full.and(partial)
    }

    /// Goes elsewhere if MODE flushes denormals and the run is not right then.
    fn check_denormals(&mut self, otherwise: Label) {
        if self.region.needs_denormals {
            // Keep inputs and results, both.
            let keep = 3 << mode::DENORM_SHIFT;
            let at = in_wave(std::mem::offset_of!(Wave, mode));
            self.asm.rm(Code::Mov_r32_rm32, Register::EDX, at);
            self.asm.ri(Code::And_rm32_imm32, Register::EDX, keep);
            self.asm.ri(Code::Cmp_rm32_imm32, Register::EDX, keep);
            self.asm.jump(Code::Jne_rel32_64, otherwise);
        }
    }

    /// Goes elsewhere unless all lanes are active. EXEC is in the scratch register then.
    fn check_exec(&mut self, otherwise: Label) {
        let full = in_wave(std::mem::offset_of!(Wave, full_mask));
        let exec = in_scalars(4 * slot::EXEC as u32);
        self.asm.rm(Code::Mov_r64_rm64, SCRATCH, exec);
        if !self.wave64 {
            self.asm.rm(Code::And_r64_rm64, SCRATCH, full);
        }
        self.asm.rm(Code::Cmp_r64_rm64, SCRATCH, full);
        self.asm.jump(Code::Jne_rel32_64, otherwise);
    }

    /// The lane masks and the scalars that were loaded to the scalar file.
    fn write_scalars(&mut self) {
        if let Some(before) = &self.before {
            for (&slot, &id) in self.region.loaded.iter().zip(&self.plan.scalars) {
                let value = before.frame.first(before.linear.lines[&id]);
                self.asm.rm(Code::Mov_r32_rm32, Register::EDX, value);
                let at = in_scalars(4 * slot);
                self.asm.mr(Code::Mov_rm32_r32, at, Register::EDX);
            }
        }
        for (index, &mask) in self.region.masks.iter().enumerate() {
            let at = in_scalars(4 * mask);
            if self.wave64 {
                self.asm.mr(Code::Mov_rm64_r64, at, MASK_BITS[index]);
            } else {
                let low = low_half(MASK_BITS[index]);
                self.asm.mr(Code::Mov_rm32_r32, at, low);
            }
        }
    }

    /// The operation behind the run as the result.
    fn go_on(&mut self) {
        let length = (self.region.end - self.region.start) * size_of::<Op>();
        let behind = MemoryOperand::with_base_displ(OP, length as i64);
        self.asm.rm(Code::Lea_r64_m, Register::RAX, behind);
    }

    /// Registers that collect the bits of the run's lane masks.
    fn mask_bits(&self) -> &'static [Register] {
        &MASK_BITS[..self.region.masks.len()]
    }

    fn saved(&self) -> &'static [Register] {
        let used = self.region.masks.len().max(FREE_MASK_BITS);
        &MASK_BITS[FREE_MASK_BITS..used]
    }

    /// Bytes between the saved registers and the stack pointer: calls need it on a multiple of sixteen.
    fn frame(&self) -> u32 {
        let saved = self.saved().len();
        let used = self
            .before
            .as_ref()
            .map_or(FRAME, |before| before.frame.end);
        used + if saved.is_multiple_of(2) { 8 } else { 0 }
    }

    fn enter(&mut self) {
        for &register in self.saved() {
            self.asm.push(Instruction::with1(Code::Push_r64, register));
        }
        let frame = self.frame();
        self.asm.ri(Code::Sub_rm64_imm32, Register::RSP, frame);
    }

    fn leave(&mut self) {
        self.unwind();
        self.asm.plain(Code::Retnq);
    }

    fn unwind(&mut self) {
        self.asm.plain(Code::VEX_Vzeroupper);
        let frame = self.frame();
        self.asm.ri(Code::Add_rm64_imm32, Register::RSP, frame);
        for &register in self.saved().iter().rev() {
            self.asm.push(Instruction::with1(Code::Pop_r64, register));
        }
    }

    fn on_stack(&self, index: usize) -> MemoryOperand {
        MemoryOperand::with_base_displ(Register::RSP, SAVED_MASKS + 8 * index as i64)
    }

    /// Puts an address into a register.
    fn load_address(&mut self, to: Register, address: u64) {
        self.asm
            .push(Instruction::with2(Code::Mov_r64_imm64, to, address));
    }

    fn call(&mut self, function: u64) {
        self.load_address(Register::RAX, function);
        self.asm
            .push(Instruction::with1(Code::Call_rm64, Register::RAX));
    }

    /// Brings the wave's widened EXEC up to date; EXEC is in the scratch register.
    fn refresh(&mut self) {
        let fresh = self.asm.label();
        let known = in_wave(std::mem::offset_of!(Wave, mask_for));
        self.asm.rm(Code::Cmp_r64_rm64, SCRATCH, known);
        self.asm.jump(Code::Je_rel32_64, fresh);
        self.asm.mr(Code::Mov_rm64_r64, self.on_stack(0), WAVE);
        self.asm.mr(Code::Mov_rm64_r64, self.on_stack(1), OP);
        self.call(refresh_mask as *const () as usize as u64);
        self.asm.rm(Code::Mov_r64_rm64, WAVE, self.on_stack(0));
        self.asm.rm(Code::Mov_r64_rm64, OP, self.on_stack(1));
        self.first_group();
        self.asm.place(fresh);
    }

    /// The vector file, and the first group of its lanes.
    fn first_group(&mut self) {
        let base = in_wave(std::mem::offset_of!(Wave, base));
        self.asm.rm(Code::Mov_r64_rm64, FILE, base);
        for register in [OFFSET, GROUP].map(low_half) {
            self.asm.rr(Code::Xor_r32_rm32, register, register);
        }
    }

    /// Calls the interpreter for what is left.
    fn give_back(&mut self) {
        for (index, bits) in self.mask_bits().iter().enumerate() {
            let at = self.on_stack(index);
            self.asm.mr(Code::Mov_rm64_r64, at, *bits);
        }
        self.asm.plain(Code::VEX_Vzeroupper);
        // Groups are 32 bytes apart.
        self.asm.ri(Code::Shr_rm32_imm8, Register::ECX, 5);
        let masks = self.on_stack(0);
        self.asm.rm(Code::Lea_r64_m, Register::R8, masks);
        let run = (&raw const *self.run).addr() as u64;
        self.load_address(Register::RDX, run);
        self.call(resume as *const () as usize as u64);
    }

    /// The loop over the groups.
    fn groups(&mut self, exits: Exits, masked: bool) -> Option<()> {
        let (top, next) = (self.asm.label(), self.asm.label());
        self.asm.place(top);
        if masked {
            let some = self.asm.label();
            self.asm.rm(
                Code::Movzx_r32_rm8,
                Register::R9D,
                mask_byte(slot::EXEC as u32),
            );
            self.asm
                .rr(Code::Test_rm32_r32, Register::R9D, Register::R9D);
            self.asm.jump(Code::Jne_rel32_64, some);
            for &bits in self.mask_bits() {
                make_room(self.asm, bits, self.wave64);
            }
            self.asm.jump(Code::Jmp_rel32_64, next);
            self.asm.place(some);
        }
        let fits = self.group(exits, masked);
        self.asm.place(next);
        self.rise();
        self.asm.ri(Code::Add_rm64_imm8, OFFSET, 32);
        if masked || self.plan.reads_masks() {
            self.asm.ri(Code::Add_rm32_imm8, low_half(GROUP), 1);
        }
        let bytes = if self.wave64 { 256 } else { 128 };
        self.asm.ri(Code::Cmp_rm32_imm32, Register::ECX, bytes);
        self.asm.jump(Code::Jne_rel32_64, top);
        fits
    }

    /// One group of eight lanes.
    fn group(&mut self, exits: Exits, masked: bool) -> Option<()> {
        let plan = self.plan;
        let end = plan.steps.len();
        let mut kinds = vec![MaskKind::default(); plan.values.len()];
        let mut nan_register = None;
        let mut pending = Vec::new();
        let mut regs = Registers::new(self.asm, plan);
        if let Some(before) = &self.before {
            before.say_what_is_made(&mut regs);
        }
        let mut access = 0;
        for (number, step) in plan.steps.iter().enumerate() {
            if let Some(before) = &self.before {
                if step.form.is_memory() {
                    regs.begin(number, []);
                    before.load(&mut regs, step, access);
                    regs.end();
                    access += 1;
                }
                if step.form.is_memory() || before.linear.steps[number] {
                    continue;
                }
            }
            regs.begin(number, step.sources.iter().chain(&step.mask).copied());
            let mut selector = Selector {
                regs: &mut regs,
                kinds: &mut kinds,
                nan_register: &mut nan_register,
            };
            selector.step(step);
            if step.check {
                let result = step.results[0];
                if plan.values[result].uses.last() == Some(&end) {
                    pending.push(result);
                } else {
                    let register = selector.regs.register(result);
                    selector.collect_nan(register, register);
                }
            }
            regs.end();
        }
        // What is stored below counts as read later until then.
        let last = end - 1;
        for pair in pending.chunks(2) {
            // Two values at once: a compare looks for NaNs on both sides.
            regs.begin(last, pair.iter().copied());
            let (a, b) = (regs.register(pair[0]), regs.register(pair[pair.len() - 1]));
            Selector {
                regs: &mut regs,
                kinds: &mut kinds,
                nan_register: &mut nan_register,
            }
            .collect_nan(a, b);
        }
        if let Some(register) = nan_register {
            regs.asm
                .rr(Code::VEX_Vmovmskps_r32_ymm, Register::EDX, ymm(register));
            let look = if masked { Register::R9D } else { Register::EDX };
            regs.asm.rr(Code::Test_rm32_r32, Register::EDX, look);
            regs.asm.jump(Code::Jne_rel32_64, exits.resume);
        }
        let exec = if masked && !plan.stores.is_empty() {
            regs.begin(last, []);
            let register = regs.reserve();
            regs.asm.v2(
                Code::VEX_Vmovups_ymm_ymmm256,
                register,
                Rm::Memory(exec_lanes()),
            );
            Some(register)
        } else {
            None
        };
        for &(offset, id) in &plan.stores {
            regs.begin(last, [id]);
            let mut value = regs.register(id);
            if let Some(exec) = exec {
                let merged = regs.free();
                regs.asm.v2(
                    Code::VEX_Vmovups_ymm_ymmm256,
                    merged,
                    Rm::Memory(in_file(offset)),
                );
                regs.asm.v4(
                    Code::VEX_Vblendvps_ymm_ymm_ymmm256_ymm,
                    merged,
                    merged,
                    Rm::Register(value),
                    exec,
                );
                value = merged;
            }
            regs.asm
                .mr(Code::VEX_Vmovups_ymmm256_ymm, in_file(offset), ymm(value));
        }
        for (index, &id) in plan.masks.iter().enumerate() {
            regs.begin(last, [id]);
            let register = regs.register(id);
            regs.asm
                .rr(Code::VEX_Vmovmskps_r32_ymm, Register::EDX, ymm(register));
            if kinds[id].inverted {
                regs.asm.ri(Code::Xor_rm32_imm32, Register::EDX, 0xff);
            }
            if masked {
                regs.asm
                    .rr(Code::And_r32_rm32, Register::EDX, Register::R9D);
            }
            let bits = MASK_BITS[index];
            make_room(regs.asm, bits, self.wave64);
            if self.wave64 {
                regs.asm.ri(Code::Shl_rm64_imm8, SCRATCH, 56);
                regs.asm.rr(Code::Or_r64_rm64, bits, SCRATCH);
            } else {
                regs.asm.ri(Code::Shl_rm32_imm8, Register::EDX, 24);
                regs.asm
                    .rr(Code::Or_r32_rm32, low_half(bits), Register::EDX);
            }
        }
        (!regs.failed).then_some(())
    }
}
