//! Host registers for the values of a run, for eight lanes.
//!
//! Values get a register when they are computed or first read, and lose it to the value that is needed earlier. What came from memory is
//! read there again; what was computed is kept on the stack.

use iced_x86::{Code, MemoryOperand, Register};

use crate::interp::wave::Wave;

use super::{
    assemble::{Assembler, Rm, ymm},
    values::{Id, Origin, Plan},
};

/// Wave.
pub const WAVE: Register = Register::RDI;
/// First operation of the run.
pub const OP: Register = Register::RSI;
/// Start of the vector file.
pub const FILE: Register = Register::RAX;
/// Byte offset of the group of eight lanes in a register of the file.
pub const OFFSET: Register = Register::RCX;
/// Number of the group.
pub const GROUP: Register = Register::R8;
/// Free for everybody.
pub const SCRATCH: Register = Register::RDX;

/// Places on the stack.
pub const SPILLS: u32 = 64;

/// Host registers and what is in them.
pub struct Registers<'a> {
    /// The code.
    pub asm: &'a mut Assembler,
    plan: &'a Plan,
    held: [Option<Id>; 16],
    home: Vec<Option<u8>>,
    spill: Vec<Option<u32>>,
    spills: u32,
    pinned: u16,
    /// Registers that hold no value and stay taken.
    reserved: u16,
    /// The step that is being emitted.
    now: usize,
    /// Values that the run has computed for all groups before its loop, and where they are.
    made: Vec<Option<Made>>,
    /// Too many values at once.
    pub failed: bool,
}

/// Where a value is that was computed before the loop.
#[derive(Clone, Copy, Debug)]
pub enum Made {
    /// A dword for all lanes.
    Uniform(MemoryOperand),
    /// The group's lanes.
    Lanes(MemoryOperand),
}

/// Address of a member of the wave.
pub fn in_wave(offset: usize) -> MemoryOperand {
    MemoryOperand::with_base_displ(WAVE, offset as i64)
}

/// Address of the scalar file plus bytes.
pub fn in_scalars(bytes: u32) -> MemoryOperand {
    in_wave(std::mem::offset_of!(Wave, sgpr) + bytes as usize)
}

/// The byte of a lane mask that belongs to the group.
pub fn mask_byte(slot: u32) -> MemoryOperand {
    indexed(
        WAVE,
        GROUP,
        (std::mem::offset_of!(Wave, sgpr) + 4 * slot as usize) as i64,
    )
}

/// The group's lanes at an offset of the vector file.
pub fn in_file(offset: u32) -> MemoryOperand {
    indexed(FILE, OFFSET, i64::from(offset))
}

/// The group's lanes of the wave's widened EXEC.
pub fn exec_lanes() -> MemoryOperand {
    indexed(WAVE, OFFSET, std::mem::offset_of!(Wave, mask_lanes) as i64)
}

/// Address of a register plus another.
pub fn indexed(base: Register, index: Register, displacement: i64) -> MemoryOperand {
    MemoryOperand::with_base_index_scale_displ_size(base, index, 1, displacement, 1)
}

fn on_stack(place: u32) -> MemoryOperand {
    MemoryOperand::with_base_displ(Register::RSP, i64::from(32 * place))
}

impl<'a> Registers<'a> {
    /// All registers free.
    pub fn new(asm: &'a mut Assembler, plan: &'a Plan) -> Self {
        Self {
            asm,
            plan,
            held: [None; 16],
            home: vec![None; plan.values.len()],
            spill: vec![None; plan.values.len()],
            spills: 0,
            pinned: 0,
            reserved: 0,
            now: 0,
            made: vec![None; plan.values.len()],
            failed: false,
        }
    }

    /// Says where a value is that was computed before the loop.
    pub fn made(&mut self, id: Id, made: Made) {
        self.made[id] = Some(made);
    }

    /// Begins a step that reads these values.
    pub fn begin(&mut self, step: usize, reads: impl IntoIterator<Item = Id>) {
        self.now = step;
        self.pinned = self.reserved;
        for id in reads {
            if let Some(home) = self.home[id] {
                self.pinned |= 1 << home;
            }
        }
    }

    /// A register for the rest of the run.
    pub fn reserve(&mut self) -> u8 {
        let register = self.free();
        self.reserved |= 1 << register;
        register
    }

    fn next_use(&self, id: Id) -> Option<usize> {
        self.plan.values[id]
            .uses
            .iter()
            .copied()
            .find(|&at| at > self.now)
    }

    /// Whether a step after this one reads the value.
    pub fn is_used_later(&self, id: Id) -> bool {
        self.next_use(id).is_some()
    }

    /// Ends a step: values that nobody reads any more lose their registers.
    pub fn end(&mut self) {
        self.pinned = self.reserved;
        for register in 0..16 {
            if let Some(id) = self.held[register]
                && !self.is_used_later(id)
            {
                self.held[register] = None;
                self.home[id] = None;
            }
        }
    }

    /// A register for the rest of the step.
    pub fn free(&mut self) -> u8 {
        let found = (0..16u8).find(|&register| {
            self.held[usize::from(register)].is_none() && self.pinned >> register & 1 == 0
        });
        let register = found.unwrap_or_else(|| {
            let victim = (0..16u8)
                .filter(|&register| self.pinned >> register & 1 == 0)
                .max_by_key(|&register| {
                    self.held[usize::from(register)]
                        .map_or(usize::MAX, |id| self.next_use(id).unwrap_or(usize::MAX))
                });
            let Some(victim) = victim else {
                self.failed = true;
                return 0;
            };
            self.evict(victim);
            victim
        });
        self.pinned |= 1 << register;
        register
    }

    fn evict(&mut self, register: u8) {
        let Some(id) = self.held[usize::from(register)].take() else {
            return;
        };
        self.home[id] = None;
        let computed = matches!(
            self.plan.values[id].origin,
            Origin::Computed | Origin::Mask(_)
        ) && self.made[id].is_none();
        if computed && self.is_used_later(id) && self.spill[id].is_none() {
            if self.spills == SPILLS {
                self.failed = true;
                return;
            }
            self.asm.mr(
                Code::VEX_Vmovups_ymmm256_ymm,
                on_stack(self.spills),
                ymm(register),
            );
            self.spill[id] = Some(self.spills);
            self.spills += 1;
        }
    }

    /// Makes `register` the home of a result.
    pub fn assign(&mut self, id: Id, register: u8) {
        self.held[usize::from(register)] = Some(id);
        self.home[id] = Some(register);
        self.pinned |= 1 << register;
    }

    /// Loads a value into a register without keeping it there.
    pub fn load(&mut self, register: u8, id: Id) {
        if let Some(home) = self.home[id] {
            if home != register {
                self.asm
                    .v2(Code::VEX_Vmovaps_ymm_ymmm256, register, Rm::Register(home));
            }
            return;
        }
        if let Some(place) = self.spill[id] {
            self.asm.v2(
                Code::VEX_Vmovups_ymm_ymmm256,
                register,
                Rm::Memory(on_stack(place)),
            );
            return;
        }
        match self.made[id] {
            Some(Made::Uniform(at)) => {
                let broadcast = Code::VEX_Vbroadcastss_ymm_m32;
                self.asm.v2(broadcast, register, Rm::Memory(at));
                return;
            }
            Some(Made::Lanes(at)) => {
                self.asm
                    .v2(Code::VEX_Vmovups_ymm_ymmm256, register, Rm::Memory(at));
                return;
            }
            None => {}
        }
        match self.plan.values[id].origin {
            Origin::Computed => self.failed = true,
            Origin::File(offset) => self.asm.v2(
                Code::VEX_Vmovups_ymm_ymmm256,
                register,
                Rm::Memory(in_file(offset)),
            ),
            Origin::Constant(0) => {
                let zero = Rm::Register(register);
                self.asm
                    .v3(Code::VEX_Vpxor_ymm_ymm_ymmm256, register, register, zero);
            }
            Origin::Constant(value) => {
                let constant = self.asm.constant(value);
                self.asm.v2(
                    Code::VEX_Vmovups_ymm_ymmm256,
                    register,
                    Rm::Memory(constant),
                );
            }
            Origin::Scalar(offset) => self.asm.v2(
                Code::VEX_Vbroadcastss_ymm_m32,
                register,
                Rm::Memory(in_scalars(offset)),
            ),
            Origin::Mask(slot) => {
                // Bit n of the byte, in lane n.
                self.asm
                    .rm(Code::Movzx_r32_rm8, Register::EDX, mask_byte(slot));
                let low = Register::XMM0 + u32::from(register);
                self.asm.rr(Code::VEX_Vmovd_xmm_rm32, low, Register::EDX);
                self.asm
                    .rr(Code::VEX_Vpbroadcastd_ymm_xmmm32, ymm(register), low);
                let bits = Rm::Memory(self.asm.constants8([1, 2, 4, 8, 16, 32, 64, 128]));
                self.asm
                    .v3(Code::VEX_Vpand_ymm_ymm_ymmm256, register, register, bits);
                self.asm
                    .v3(Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256, register, register, bits);
            }
        }
    }

    /// The value in a register, for the rest of the step.
    pub fn register(&mut self, id: Id) -> u8 {
        if let Some(home) = self.home[id] {
            self.pinned |= 1 << home;
            return home;
        }
        let register = self.free();
        self.load(register, id);
        self.assign(id, register);
        register
    }

    /// Whether the value is in a register.
    pub fn is_held(&self, id: Id) -> bool {
        self.home[id].is_some()
    }

    /// The value where it is, if an instruction can read it there and it is not wanted again.
    pub fn operand(&mut self, id: Id) -> Rm {
        if self.home[id].is_none() {
            let wanted = self.is_used_later(id);
            match (self.spill[id], self.plan.values[id].origin) {
                (Some(place), _) if !wanted => return Rm::Memory(on_stack(place)),
                (None, Origin::File(offset)) if !wanted => return Rm::Memory(in_file(offset)),
                (None, Origin::Constant(value)) => {
                    return Rm::Memory(self.asm.constant(value));
                }
                _ => {}
            }
        }
        Rm::Register(self.register(id))
    }

    /// A register that holds the value and may be overwritten: the value's own if this step is its last reader, else a copy.
    pub fn consume(&mut self, id: Id) -> u8 {
        if let Some(home) = self.home[id]
            && !self.is_used_later(id)
        {
            self.pinned |= 1 << home;
            self.held[usize::from(home)] = None;
            self.home[id] = None;
            return home;
        }
        let register = self.free();
        self.load(register, id);
        register
    }

    /// The constant that a value is.
    pub fn constant_of(&self, id: Id) -> Option<u32> {
        self.plan.constant(id)
    }
}
