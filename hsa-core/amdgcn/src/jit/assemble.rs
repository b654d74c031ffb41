//! Encoding of native instructions, jumps and constants.

use std::collections::HashMap;

use iced_x86::{Code, Encoder, Instruction, MemoryOperand, Register};

/// A vector register by its number.
pub fn ymm(number: u8) -> Register {
    Register::YMM0 + u32::from(number)
}

/// Bytes of a constant: eight equal dwords.
const CONSTANT: u64 = 32;

/// A place in the code that jumps go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(usize);

/// A register or memory operand.
#[derive(Clone, Copy, Debug)]
pub enum Rm {
    /// Vector register.
    Register(u8),
    /// Memory.
    Memory(MemoryOperand),
}

/// Machine code on its way, at the address where it will run: constants first, code behind them.
pub struct Assembler {
    encoder: Encoder,
    /// Address of the first byte of code.
    start: u64,
    /// Bytes of code so far.
    length: usize,
    labels: Vec<Option<usize>>,
    /// Ends of 32-bit displacements and the labels that they lead to.
    jumps: Vec<(usize, Label)>,
    constants: HashMap<[u32; 8], u64>,
    constants_at: u64,
    failed: bool,
}

impl Assembler {
    /// Code at `address`, behind room for `constants` constants.
    pub fn new(address: u64, constants: usize) -> Self {
        Self {
            encoder: Encoder::new(64),
            start: address + constants as u64 * CONSTANT,
            length: 0,
            labels: Vec::new(),
            jumps: Vec::new(),
            constants: HashMap::new(),
            constants_at: address,
            failed: false,
        }
    }

    /// Bytes that `constants` constants take.
    pub const fn constant_bytes(constants: usize) -> usize {
        constants * CONSTANT as usize
    }

    /// Address of the next instruction.
    pub fn here(&self) -> u64 {
        self.start + self.length as u64
    }

    /// Appends an instruction.
    pub fn push(&mut self, instruction: Result<Instruction, iced_x86::IcedError>) {
        let encoded = instruction.and_then(|instruction| {
            let at = self.here();
            self.encoder.encode(&instruction, at)
        });
        match encoded {
            Ok(length) => self.length += length,
            Err(error) => {
                debug_assert!(false, "{error}");
                self.failed = true;
            }
        }
    }

    /// A label without a place.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Puts a label here.
    pub fn place(&mut self, label: Label) {
        self.labels[label.0] = Some(self.length);
    }

    /// A jump with a 32-bit displacement.
    pub fn jump(&mut self, code: Code, label: Label) {
        let here = self.here();
        self.push(Instruction::with_branch(code, here));
        self.jumps.push((self.length, label));
    }

    /// An instruction without operands.
    pub fn plain(&mut self, code: Code) {
        self.push(Ok(Instruction::with(code)));
    }

    /// Two registers.
    pub fn rr(&mut self, code: Code, a: Register, b: Register) {
        self.push(Instruction::with2(code, a, b));
    }

    /// Register and memory.
    pub fn rm(&mut self, code: Code, a: Register, b: MemoryOperand) {
        self.push(Instruction::with2(code, a, b));
    }

    /// Memory and register.
    pub fn mr(&mut self, code: Code, a: MemoryOperand, b: Register) {
        self.push(Instruction::with2(code, a, b));
    }

    /// Register and immediate.
    pub fn ri(&mut self, code: Code, a: Register, b: u32) {
        self.push(Instruction::with2(code, a, b));
    }

    /// `d` from `a`: a vector instruction of two operands.
    pub fn v2(&mut self, code: Code, d: u8, a: Rm) {
        self.push(match a {
            Rm::Register(a) => Instruction::with2(code, ymm(d), ymm(a)),
            Rm::Memory(a) => Instruction::with2(code, ymm(d), a),
        });
    }

    /// `d` from `a` and `b`.
    pub fn v3(&mut self, code: Code, d: u8, a: u8, b: Rm) {
        self.push(match b {
            Rm::Register(b) => Instruction::with3(code, ymm(d), ymm(a), ymm(b)),
            Rm::Memory(b) => Instruction::with3(code, ymm(d), ymm(a), b),
        });
    }

    /// `d` from `a` and an immediate.
    pub fn v2i(&mut self, code: Code, d: u8, a: u8, immediate: u32) {
        self.push(Instruction::with3(code, ymm(d), ymm(a), immediate));
    }

    /// `d` from `a`, register or memory, and an immediate.
    pub fn v2mi(&mut self, code: Code, d: u8, a: Rm, immediate: u32) {
        self.push(match a {
            Rm::Register(a) => Instruction::with3(code, ymm(d), ymm(a), immediate),
            Rm::Memory(a) => Instruction::with3(code, ymm(d), a, immediate),
        });
    }

    /// `d` from `a`, `b` and an immediate.
    pub fn v3i(&mut self, code: Code, d: u8, a: u8, b: Rm, immediate: u32) {
        self.push(match b {
            Rm::Register(b) => Instruction::with4(code, ymm(d), ymm(a), ymm(b), immediate),
            Rm::Memory(b) => Instruction::with4(code, ymm(d), ymm(a), b, immediate),
        });
    }

    /// `d` from `a`, `b` and `c`.
    pub fn v4(&mut self, code: Code, d: u8, a: u8, b: Rm, c: u8) {
        self.push(match b {
            Rm::Register(b) => Instruction::with4(code, ymm(d), ymm(a), ymm(b), ymm(c)),
            Rm::Memory(b) => Instruction::with4(code, ymm(d), ymm(a), b, ymm(c)),
        });
    }

    /// Eight equal dwords in memory.
    pub fn constant(&mut self, value: u32) -> MemoryOperand {
        self.constants8([value; 8])
    }

    /// Eight dwords in memory.
    pub fn constants8(&mut self, values: [u32; 8]) -> MemoryOperand {
        let next = self.constants_at + self.constants.len() as u64 * CONSTANT;
        let at = *self.constants.entry(values).or_insert(next);
        if at + CONSTANT > self.start {
            self.failed = true;
        }
        MemoryOperand::new(
            Register::RIP,
            Register::None,
            1,
            at.cast_signed(),
            8,
            false,
            Register::None,
        )
    }

    /// Writes constants and code into the pages. `None` if they do not fit or something could not be encoded.
    pub fn finish(mut self, pages: &mut [u8]) -> Option<()> {
        let mut code = self.encoder.take_buffer();
        for (end, label) in self.jumps {
            let target = self.labels[label.0]?;
            let distance = i32::try_from(target as i64 - end as i64).ok()?;
            code[end - 4..end].copy_from_slice(&distance.to_le_bytes());
        }
        let offset = (self.start - self.constants_at) as usize;
        pages
            .get_mut(offset..offset + code.len())?
            .copy_from_slice(&code);
        for (values, at) in self.constants {
            let offset = (at - self.constants_at) as usize;
            for (lane, value) in values.into_iter().enumerate() {
                let at = offset + 4 * lane;
                pages
                    .get_mut(at..at + 4)?
                    .copy_from_slice(&value.to_le_bytes());
            }
        }
        (!self.failed).then_some(())
    }
}
