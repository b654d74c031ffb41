//! Instruction → operations.
//!
//! [`lower`] is called once per instruction, in address order. It pushes the operations that do what the instruction means, or
//! says that it is [`Unsupported`]; then the program puts an operation there that stops the wave when it is reached. An
//! instruction that has no effect on values pushes nothing.
//!
//! The meaning of an ALU instruction is a closure next to its name in `scalar` or `vector`; the handlers around the
//! closures are in [`interp::vector`](crate::interp::vector) and [`interp::scalar`](crate::interp::scalar).

pub mod control;
pub mod exceptions;
pub mod image;
pub mod interpolation;
pub mod matrix;
pub mod meaning;
pub mod memory;
pub mod packed;
pub mod scalar;
pub mod scaled;
pub mod vector;
pub mod vskip;

#[cfg(test)]
mod tests;

use std::{any::Any, collections::HashMap, fmt};

use crate::{
    interp::{interpolation as lds_direct, level::Level, run::Handler, wave::slot},
    isa::inst::{Format, Inst, Operand, OperandSlot, Type},
    jit::form::Form,
};

use super::{
    Op, Ref,
    program::{LowerConfig, PoolLine, intern},
};

/// An instruction that the lowering refuses, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported(pub String);

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Unsupported {
    /// An operation that is not lowered.
    pub fn op(inst: &Inst) -> Self {
        Self(format!("{} is not supported", inst.op.name()))
    }

    /// A form of an operation that is not lowered.
    pub fn form(inst: &Inst, what: &str) -> Self {
        Self(format!("{}: {what}", inst.op.name()))
    }
}

/// Where control goes after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// To the next instruction.
    Next,
    /// To the next instruction or to the target.
    Branch(u64),
    /// To the target.
    Jump(u64),
    /// Nowhere that is known here.
    Stop,
}

/// Where control goes after `inst`, which stands at `pc`.
pub fn flow(inst: &Inst, pc: u64) -> Flow {
    control::flow(inst, pc)
}

/// Lowers one instruction; the context knows its address.
pub fn lower(inst: &Inst, cx: &mut LowerContext) -> Result<(), Unsupported> {
    match inst.format {
        Format::Sopp => control::lower_sopp(inst, cx),
        Format::Sop1 | Format::Sop2 | Format::Sopc | Format::Sopk => scalar::lower_scalar(inst, cx),
        Format::Vop1
        | Format::Vop2
        | Format::Vopc
        | Format::Vop3
        | Format::Vop3b
        | Format::Vop3p
        | Format::Vopd => vector::lower_vector(inst, cx),
        Format::Smem
        | Format::Ds
        | Format::Flat
        | Format::Global
        | Format::Scratch
        | Format::Mubuf
        | Format::Mtbuf
        | Format::Mimg => memory::lower_memory(inst, cx),
        Format::Vintrp => interpolation::lower_interpolation(inst, cx),
        Format::Exp => Err(Unsupported::op(inst)),
    }
}

/// State of the lowering of one segment.
pub struct LowerContext {
    /// What is lowered for.
    pub config: LowerConfig,
    /// SIMD level of the handlers.
    pub level: Level,
    pub(super) ops: Vec<Op>,
    /// What native code may be made of, for each operation.
    pub(super) forms: Vec<Form>,
    pub(super) pool: Vec<PoolLine>,
    pub(super) side: Vec<Box<dyn Any + Send + Sync>>,
    pub(super) fixups: Vec<(usize, u64)>,
    /// Operands that VGPR indexing moves, while it is on (GFX9).
    pub(super) gpr_index: Option<u32>,
    constants: HashMap<Vec<u32>, Ref>,
    /// Float operations note what they raise.
    pub(super) exceptions: bool,
    /// The instruction has such operations.
    pub(super) guards: bool,
    /// The last plain `v_add_co_u32`, for the operation that adds the high halves.
    pub(super) low_add: Option<usize>,
    pc: u64,
    len: u32,
}

impl fmt::Debug for LowerContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LowerContext")
            .field("config", &self.config)
            .field("pc", &self.pc)
            .finish_non_exhaustive()
    }
}

impl LowerContext {
    /// An empty segment.
    pub fn new(config: LowerConfig, level: Level) -> Self {
        Self {
            config,
            level,
            ops: Vec::new(),
            forms: Vec::new(),
            pool: Vec::new(),
            side: Vec::new(),
            fixups: Vec::new(),
            gpr_index: None,
            constants: HashMap::new(),
            exceptions: config.exceptions,
            guards: false,
            low_add: None,
            pc: 0,
            len: 0,
        }
    }

    /// Starts the instruction at `pc`, of `len` bytes.
    pub(super) fn begin(&mut self, pc: u64, len: u32) {
        self.pc = pc;
        self.len = len;
        self.guards = false;
    }

    /// Takes back the operations pushed since `mark`.
    pub(super) fn rewind(&mut self, mark: usize) {
        self.ops.truncate(mark);
        self.forms.truncate(mark);
        self.fixups.retain(|(op, _)| *op < mark);
    }

    /// Address of the instruction.
    pub fn pc(&self) -> u64 {
        self.pc
    }

    /// Address of the instruction after it.
    pub fn next_pc(&self) -> u64 {
        self.pc.wrapping_add(u64::from(self.len))
    }

    /// Appends an operation of the current instruction.
    pub fn push(&mut self, op: Op) {
        self.push_form(op, Form::None);
    }

    /// As [`push`](Self::push), for an operation that may become native code.
    pub fn push_form(&mut self, mut op: Op, form: Form) {
        op.pc = self.pc;
        op.len = self.len;
        self.ops.push(op);
        self.forms.push(form);
    }

    /// Appends an operation that may go to `target`: its `imm` becomes the distance in operations.
    pub fn branch(&mut self, op: Op, target: u64) {
        self.fixups.push((self.ops.len(), target));
        self.push(op);
    }

    /// Keeps a record alive as long as the program, and gives its address for `Op::imm`.
    pub fn side<T: Any + Send + Sync>(&mut self, record: T) -> u64 {
        let boxed = Box::new(record);
        let address = (&raw const *boxed).addr() as u64;
        self.side.push(boxed);
        address
    }

    /// Reference to a constant of one or more dwords in the pool.
    pub fn constant(&mut self, dwords: &[u32]) -> Ref {
        intern(&mut self.pool, &mut self.constants, dwords)
    }

    /// Byte offset in the vector file of a VGPR or AGPR operand of `count` registers.
    pub fn vgpr_range(&self, operand: Operand, count: u32) -> Result<u32, Unsupported> {
        let (first, base, limit) = match operand {
            Operand::Vgpr(first) => (u32::from(first), 0, self.config.vgprs),
            Operand::Agpr(first) => (u32::from(first), self.config.vgprs, self.config.agprs),
            other => {
                return Err(Unsupported(format!(
                    "{other:?} where a vector register is expected"
                )));
            }
        };
        if first + count > limit {
            return Err(Unsupported(format!(
                "vector register {} is past the {limit} that the kernel has",
                first + count - 1
            )));
        }
        Ok((base + first) * self.config.stride())
    }

    /// Byte offset in the vector file of a VGPR or AGPR operand of one register.
    pub fn vgpr(&self, operand: Operand) -> Result<u32, Unsupported> {
        self.vgpr_range(operand, 1)
    }

    /// Slot of a scalar destination of `count` dwords; `null` gives the sink.
    pub fn scalar_dst(&self, operand: Operand, count: u32) -> Result<u32, Unsupported> {
        match operand {
            Operand::Scalar(code) if self.config.null() == Some(code) => Ok(slot::SINK as u32),
            Operand::Scalar(code) if u32::from(code) + count <= 128 => Ok(u32::from(code)),
            other => Err(Unsupported(format!(
                "{other:?} as a scalar destination of {count} dwords"
            ))),
        }
    }

    /// Reference to a source that is a scalar register or a constant, of `count` dwords. Constants take the operand's type.
    pub fn scalar_src(&mut self, source: OperandSlot, count: u32) -> Result<Ref, Unsupported> {
        match source.operand {
            Operand::Scalar(code) if self.config.null() == Some(code) => {
                Ok(Ref::scalar(slot::ZERO as u32))
            }
            Operand::Scalar(code) if u32::from(code) + count <= 128 => {
                Ok(Ref::scalar(u32::from(code)))
            }
            Operand::Int(_) | Operand::Float(_) | Operand::Literal(_) => {
                let dwords = constant_dwords(source);
                let mut dwords = dwords.to_vec();
                dwords.resize(count.max(1) as usize, 0);
                Ok(self.constant(&dwords))
            }
            Operand::Source(code) => self.special(code),
            other => Err(Unsupported(format!(
                "{other:?} as a scalar source of {count} dwords"
            ))),
        }
    }

    /// Reference to any ALU source of `count` dwords.
    pub fn source(&mut self, source: OperandSlot, count: u32) -> Result<Ref, Unsupported> {
        match source.operand {
            Operand::Vgpr(_) | Operand::Agpr(_) => {
                Ok(Ref::new(Ref::FILE, self.vgpr_range(source.operand, count)?))
            }
            _ => self.scalar_src(source, count),
        }
    }

    /// Reference to a special source by its operand code; `src_vccz`, `src_execz` and `src_lds_direct` are brought up to date by an
    /// operation before.
    fn special(&mut self, code: u8) -> Result<Ref, Unsupported> {
        let index = match code {
            235 => slot::SHARED_BASE,
            236 => slot::SHARED_LIMIT,
            237 => slot::PRIVATE_BASE,
            238 => slot::PRIVATE_LIMIT,
            239 => slot::POPS,
            251 | 252 => {
                self.push(Op::new(control::zero_flags));
                if code == 251 { slot::VCCZ } else { slot::EXECZ }
            }
            253 => slot::SCC,
            254 => {
                self.push(Op::new(lds_direct::read_lds_direct));
                slot::LDS_DIRECT
            }
            _ => return Err(Unsupported(format!("special source {code}"))),
        };
        Ok(Ref::scalar(index as u32))
    }

    /// A handler for the level in use, from its three instantiations.
    pub fn pick(&self, handlers: [Handler; 3]) -> Handler {
        handlers[self.level as usize]
    }
}

/// The dwords of a constant operand, low first; a 16-bit constant stands in the low half (packed types: see the VOP3P lowering).
///
/// # Panics
/// If the operand is no constant.
pub fn constant_dwords(source: OperandSlot) -> [u32; 2] {
    let bits = match source.ty {
        Type::B(bits) | Type::I(bits) | Type::U(bits) | Type::F(bits) | Type::Packed(bits) => bits,
        Type::Mask => 64,
    };
    match source.operand {
        Operand::Int(value) => [value.cast_unsigned(), if value < 0 { u32::MAX } else { 0 }],
        Operand::Literal(value) => match (source.ty, bits) {
            // A literal is the high half of an f64.
            (Type::F(64), _) => [0, value],
            (Type::I(64), _) => [value, (value.cast_signed() >> 31).cast_unsigned()],
            _ => [value, 0],
        },
        Operand::Float(code) => {
            let value = float_constant(code);
            match (source.ty, bits) {
                (Type::F(16), _) | (_, 16) => [u32::from(half_constant(code)), 0],
                (Type::F(64), _) | (Type::B(64), _) | (Type::I(64) | Type::U(64), _) => {
                    let wide = if code == 248 {
                        0x3fc4_5f30_6dc9_c882
                    } else {
                        f64::from(value).to_bits()
                    };
                    [(wide & 0xffff_ffff) as u32, (wide >> 32) as u32]
                }
                (Type::Packed(32), _) => [u32::from(half_constant(code)), 0],
                _ => [value.to_bits(), 0],
            }
        }
        other => panic!("{other:?} is no constant"),
    }
}

/// f32 value of an inline float constant.
fn float_constant(code: u8) -> f32 {
    match code {
        240 => 0.5,
        241 => -0.5,
        242 => 1.0,
        243 => -1.0,
        244 => 2.0,
        245 => -2.0,
        246 => 4.0,
        247 => -4.0,
        _ => f32::from_bits(0x3e22_f983),
    }
}

/// f16 bits of an inline float constant.
fn half_constant(code: u8) -> u16 {
    match code {
        240 => 0x3800,
        241 => 0xb800,
        242 => 0x3c00,
        243 => 0xbc00,
        244 => 0x4000,
        245 => 0xc000,
        246 => 0x4400,
        247 => 0xc400,
        _ => 0x3118,
    }
}

/// Whether the instruction is one of these.
#[macro_export]
#[doc(hidden)]
macro_rules! is_op {
    ($inst:expr, $($name:ident)|+) => { matches!($inst.op, $($crate::isa::op::Op::$name)|+) };
}
