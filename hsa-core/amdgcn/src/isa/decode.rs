//! The decoder: bytes to [`Inst`], driven by the rows of [`super::table`].
//!
//! A [`Decoder`] belongs to one target and wave size. It reads only the bytes of the instruction at hand, never panics, and
//! gives an error that names what it found for anything that the tables do not have or that names a register that does not
//! exist. Bits that the hardware ignores are ignored. Who calls it: the code cache of the engine, the disassembler, tools.

mod dual;
mod interpolation;
mod memory;
mod memory12;
mod packed;
mod vector;

pub(super) use memory12::ray_registers;
use thiserror::Error;

use super::inst::{AluModifiers, Format, Inst, MemModifiers, Operand, OperandSlot, Type};
use super::op::Op;
use super::table::{Encoding, Flags, Level, Row, Tables};
use crate::target::Target;

/// Operand code of a literal constant.
pub(super) const LITERAL: u32 = 255;
/// Operand code of an SDWA dword (GFX9 and GFX10).
pub(super) const SDWA: u32 = 249;
/// Operand code of a DPP16 dword.
pub(super) const DPP16: u32 = 250;
/// Operand code of a DPP8 dword.
pub(super) const DPP8: u32 = 233;
/// Operand code of a DPP8 dword that fetches inactive lanes.
pub(super) const DPP8_FETCH_INACTIVE: u32 = 234;

/// Registers of the scalar file by operand code, as [`Operand::Scalar`] holds them.
pub(super) mod scalar {
    /// `vcc_lo`.
    pub const VCC: u8 = 106;
    /// `null` (GFX10 and later).
    pub const NULL: u8 = 125;
    /// `exec_lo`.
    pub const EXEC: u8 = 126;
}

/// Why bytes are not an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// The slice ends within the instruction.
    #[error("instruction needs {needed} bytes, {available} are left")]
    Truncated {
        /// Bytes that the instruction has at least.
        needed: usize,
        /// Bytes that there are.
        available: usize,
    },
    /// The leading bits select no encoding of this family.
    #[error("{word:#010x} begins no encoding of {level:?}")]
    UnknownEncoding {
        /// First dword.
        word: u32,
        /// Tables in use.
        level: Level,
    },
    /// The encoding has no operation of this number.
    #[error("{encoding:?} has no opcode {code:#x} on {level:?} ({word:#010x})")]
    UnknownOpcode {
        /// Table that was searched.
        encoding: Encoding,
        /// Opcode number.
        code: u32,
        /// First dword.
        word: u32,
        /// Tables in use.
        level: Level,
    },
    /// An operand field holds a code without meaning.
    #[error("{op}: operand code {code} is reserved")]
    ReservedOperand {
        /// Operation.
        op: Op,
        /// Operand code.
        code: u32,
    },
    /// An operand reaches beyond the last register.
    #[error("{op}: operand at code {code} of {dwords} registers reaches beyond the register file")]
    OutOfRange {
        /// Operation.
        op: Op,
        /// Operand code or VGPR number.
        code: u32,
        /// Number of registers.
        dwords: u32,
    },
    /// A combination of fields that the operation does not have.
    #[error("{op}: {what}")]
    Invalid {
        /// Operation.
        op: Op,
        /// What is wrong.
        what: &'static str,
    },
}

/// The target has no tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("no instruction tables for gfx{}{}{:x}", .0.major, .0.minor, .0.stepping)]
pub struct UnsupportedTarget(pub Target);

/// Decodes the instructions of one target and wave size.
#[derive(Clone, Copy, Debug)]
pub struct Decoder {
    level: Level,
    wave_size: u32,
    tables: &'static Tables,
}

/// Decodes the first instruction of `bytes`; [`Decoder`] is the way for many.
///
/// # Errors
/// What [`Decoder::decode`] gives.
pub fn decode(level: Level, wave_size: u32, bytes: &[u8]) -> Result<Inst, DecodeError> {
    Decoder::with_level(level, wave_size).decode(bytes)
}

impl Decoder {
    /// A decoder for a target. `wave_size` is 64, or 32 on GFX10 and later; anything but 32 means 64, and so does GFX9.
    ///
    /// # Errors
    /// The target is in no table.
    pub fn new(target: Target, wave_size: u32) -> Result<Decoder, UnsupportedTarget> {
        let level = Level::of(target).ok_or(UnsupportedTarget(target))?;
        Ok(Decoder::with_level(level, wave_size))
    }

    /// A decoder for a level.
    pub fn with_level(level: Level, wave_size: u32) -> Decoder {
        let wave_size = if wave_size == 32 && !level.is_gfx9() {
            32
        } else {
            64
        };
        Decoder {
            level,
            wave_size,
            tables: Tables::of(level),
        }
    }

    /// The level whose tables are used.
    pub fn level(&self) -> Level {
        self.level
    }

    /// 32 or 64 lanes.
    pub fn wave_size(&self) -> u32 {
        self.wave_size
    }

    /// Decodes the first instruction of `bytes`.
    ///
    /// # Errors
    /// The bytes are not an instruction of the target, or end within it.
    pub fn decode(&self, bytes: &[u8]) -> Result<Inst, DecodeError> {
        let mut reader = Reader {
            decoder: self,
            bytes,
            len: 0,
            literal: None,
        };
        let word = reader.dword()?;
        let mut inst = reader.instruction(word)?;
        inst.len = reader.len;
        Ok(inst)
    }
}

/// Reads one instruction.
struct Reader<'a> {
    decoder: &'a Decoder,
    bytes: &'a [u8],
    /// Bytes read so far.
    len: u8,
    /// The literal that follows, once an operand has asked for it.
    literal: Option<u32>,
}

type Result<T, E = DecodeError> = std::result::Result<T, E>;

/// Bits `low..low + count` of a word.
pub(super) const fn bits(word: u32, low: u32, count: u32) -> u32 {
    (word >> low) & ((1 << count) - 1)
}

/// One bit of a word.
pub(super) const fn bit(word: u32, low: u32) -> bool {
    (word >> low) & 1 != 0
}

/// The low `count` bits of a value, sign-extended.
pub(super) const fn sign_extend(value: u32, count: u32) -> i32 {
    ((value << (32 - count)) as i32) >> (32 - count)
}

pub(super) fn slot(operand: Operand, ty: Type) -> OperandSlot {
    OperandSlot { operand, ty }
}

impl Reader<'_> {
    fn level(&self) -> Level {
        self.decoder.level
    }

    /// The next dword.
    fn dword(&mut self) -> Result<u32> {
        let start = usize::from(self.len);
        let truncated = DecodeError::Truncated {
            needed: start + 4,
            available: self.bytes.len(),
        };
        let chunk = self.bytes.get(start..start + 4).ok_or(truncated)?;
        self.len += 4;
        Ok(u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]))
    }

    /// The literal constant, read once however many operands name it.
    fn literal(&mut self) -> Result<u32> {
        if let Some(value) = self.literal {
            return Ok(value);
        }
        let value = self.dword()?;
        self.literal = Some(value);
        Ok(value)
    }

    fn row(&self, encoding: Encoding, code: u32, word: u32) -> Result<&'static Row> {
        let level = self.level();
        self.decoder
            .tables
            .row(encoding, code)
            .ok_or(DecodeError::UnknownOpcode {
                encoding,
                code,
                word,
                level,
            })
    }

    fn unknown_encoding<T>(&self, word: u32) -> Result<T> {
        Err(DecodeError::UnknownEncoding {
            word,
            level: self.level(),
        })
    }

    fn instruction(&mut self, word: u32) -> Result<Inst> {
        if !bit(word, 31) {
            return self.vector_short(word);
        }
        if bits(word, 30, 2) == 0b10 {
            return self.scalar_alu(word);
        }
        let level = self.level();
        match bits(word, 26, 6) {
            0b110000 if level.is_gfx9() => self.smem(word),
            0b110100 if level.is_gfx9() => {
                if bits(word, 23, 3) == 0b111 {
                    self.vop3p(word)
                } else {
                    self.vop3(word)
                }
            }
            0b110101 if level.is_gfx9() => self.vintrp(word),
            0b110001 if level.is_gfx9() => self.export(word),
            0b110010 if level.is_gfx10() => self.vintrp(word),
            0b110010 if !level.is_gfx9() => self.vopd(word),
            0b110011 if !level.is_gfx9() => {
                if level >= Level::Gfx11 && bits(word, 24, 2) == 0b01 {
                    self.vinterp(word)
                } else if level >= Level::Gfx11 && bits(word, 24, 2) == 0b10 {
                    self.ldsdir(word)
                } else {
                    self.vop3p(word)
                }
            }
            0b110101 => self.vop3(word),
            0b110110 => self.ds(word),
            0b110001 if level == Level::Gfx12 => self.vbuffer(word),
            0b110100 | 0b111001 if level == Level::Gfx12 => self.vimage(word),
            0b111011 if level == Level::Gfx12 => self.flat12(word),
            0b111101 if !level.is_gfx9() => self.smem(word),
            0b111110 if !level.is_gfx9() => self.export(word),
            0b110111 if level != Level::Gfx12 => self.flat(word),
            0b111000 if level != Level::Gfx12 => self.mubuf(word),
            0b111010 if level != Level::Gfx12 => self.mtbuf(word),
            0b111100 if level != Level::Gfx12 => self.mimg(word),
            _ => self.unknown_encoding(word),
        }
    }

    /// An instruction of a row without operands yet.
    fn inst(&self, row: &Row, format: Format) -> Inst {
        self.inst_of(row.op, format)
    }

    /// An instruction of an operation without operands yet.
    fn inst_of(&self, op: Op, format: Format) -> Inst {
        Inst {
            op,
            format,
            len: 0,
            dst: OperandSlot::NONE,
            dst2: OperandSlot::NONE,
            src: [OperandSlot::NONE; 4],
            simm16: 0,
            imm32: None,
            alu: AluModifiers::default(),
            mem: MemModifiers::default(),
            dpp: None,
            sdwa: None,
            vopd: None,
            nsa: None,
        }
    }

    // Operands.

    /// Number of SGPRs.
    fn sgprs(&self) -> u32 {
        if self.level().is_gfx9() { 102 } else { 106 }
    }

    /// A scalar register by its 7-bit code. Tuples of SGPRs and trap registers are aligned: the low bits of their code are
    /// ignored.
    fn scalar(&self, op: Op, code: u32, ty: Type) -> Result<Operand> {
        let dwords = ty.dwords(self.decoder.wave_size);
        let mut code = code & 127;
        // m0 and null change places in GFX11.
        if self.level() >= Level::Gfx11 && matches!(code, 124 | 125) {
            code ^= 1;
        }
        let sgprs = self.sgprs();
        if code < sgprs || matches!(code, 108..124) {
            code &= match dwords {
                1 => !0,
                2 => !1,
                _ => !3,
            };
            let end = if code < sgprs { sgprs } else { 124 };
            if code + dwords > end {
                return Err(DecodeError::OutOfRange { op, code, dwords });
            }
            return Ok(Operand::Scalar(code as u8));
        }
        let exists = match code {
            // flat_scratch and xnack_mask of GFX9, vcc, exec.
            102..=107 | 126 | 127 => dwords == 1 || dwords == 2 && code.is_multiple_of(2),
            124 => dwords == 1,
            // Null has any width.
            125 => !self.level().is_gfx9(),
            _ => false,
        };
        if !exists {
            return Err(DecodeError::ReservedOperand { op, code });
        }
        Ok(Operand::Scalar(code as u8))
    }

    /// A VGPR tuple.
    fn vgpr(&self, op: Op, number: u32, ty: Type) -> Result<Operand> {
        let dwords = ty.dwords(self.decoder.wave_size);
        if number + dwords > 256 {
            return Err(DecodeError::OutOfRange {
                op,
                code: number,
                dwords,
            });
        }
        Ok(Operand::Vgpr(number as u16))
    }

    /// A VGPR tuple, or an accumulation VGPR tuple.
    fn vgpr_or_agpr(&self, op: Op, number: u32, ty: Type, acc: bool) -> Result<Operand> {
        Ok(match self.vgpr(op, number, ty)? {
            Operand::Vgpr(number) if acc => Operand::Agpr(number),
            operand => operand,
        })
    }

    /// A source by its 8-bit (scalar) or 9-bit code, literals included.
    fn source(&mut self, op: Op, code: u32, ty: Type) -> Result<Operand> {
        Ok(match code {
            0..128 => self.scalar(op, code, ty)?,
            128..=192 => Operand::Int(code as i32 - 128),
            193..=208 => Operand::Int(192 - code as i32),
            235..=239 => Operand::Source(code as u8),
            240..=248 => Operand::Float(code as u8),
            251..=254 => Operand::Source(code as u8),
            LITERAL => Operand::Literal(self.literal()?),
            256..512 => self.vgpr(op, code - 256, ty)?,
            _ => return Err(DecodeError::ReservedOperand { op, code }),
        })
    }

    fn source_slot(&mut self, op: Op, code: u32, ty: Type) -> Result<OperandSlot> {
        Ok(slot(self.source(op, code, ty)?, ty))
    }

    fn scalar_slot(&self, op: Op, code: u32, ty: Type) -> Result<OperandSlot> {
        Ok(slot(self.scalar(op, code, ty)?, ty))
    }

    fn vgpr_slot(&self, op: Op, number: u32, ty: Type) -> Result<OperandSlot> {
        Ok(slot(self.vgpr(op, number, ty)?, ty))
    }

    /// VCC as an implicit operand.
    fn vcc() -> OperandSlot {
        slot(Operand::Scalar(scalar::VCC), Type::Mask)
    }

    // Scalar ALU.

    fn scalar_alu(&mut self, word: u32) -> Result<Inst> {
        match bits(word, 23, 9) {
            0b1_0111_1101 => self.sop1(word),
            0b1_0111_1110 => self.sopc(word),
            0b1_0111_1111 => self.sopp(word),
            _ if bits(word, 28, 4) == 0b1011 => self.sopk(word),
            _ => self.sop2(word),
        }
    }

    fn sop1(&mut self, word: u32) -> Result<Inst> {
        let row = self.row(Encoding::Sop1, bits(word, 8, 8), word)?;
        let mut inst = self.inst(row, Format::Sop1);
        if let Some(ty) = row.dst {
            inst.dst = self.scalar_slot(row.op, bits(word, 16, 7), ty)?;
        }
        if row.flags.contains(Flags::MSG) {
            inst.simm16 = bits(word, 0, 8) as i16;
        }
        if let Some(ty) = row.src[0] {
            inst.src[0] = self.source_slot(row.op, bits(word, 0, 8), ty)?;
        }
        Ok(inst)
    }

    fn sop2(&mut self, word: u32) -> Result<Inst> {
        let row = self.row(Encoding::Sop2, bits(word, 23, 7), word)?;
        let mut inst = self.inst(row, Format::Sop2);
        if let Some(ty) = row.dst {
            inst.dst = self.scalar_slot(row.op, bits(word, 16, 7), ty)?;
        }
        for (index, low) in [0, 8].into_iter().enumerate() {
            if let Some(ty) = row.src[index] {
                inst.src[index] = self.source_slot(row.op, bits(word, low, 8), ty)?;
            }
        }
        if row.flags.intersects(Flags::K_SECOND | Flags::K_LAST) {
            inst.imm32 = Some(self.literal()?);
        }
        Ok(inst)
    }

    fn sopc(&mut self, word: u32) -> Result<Inst> {
        let row = self.row(Encoding::Sopc, bits(word, 16, 7), word)?;
        let mut inst = self.inst(row, Format::Sopc);
        for (index, low) in [0, 8].into_iter().enumerate() {
            if let Some(ty) = row.src[index] {
                inst.src[index] = self.source_slot(row.op, bits(word, low, 8), ty)?;
            }
        }
        if row.flags.contains(Flags::IMM_SRC1) {
            inst.simm16 = bits(word, 8, 8) as i16;
        }
        Ok(inst)
    }

    fn sopk(&mut self, word: u32) -> Result<Inst> {
        let row = self.row(Encoding::Sopk, bits(word, 23, 5), word)?;
        let mut inst = self.inst(row, Format::Sopk);
        let register = bits(word, 16, 7);
        if let Some(ty) = row.dst {
            inst.dst = self.scalar_slot(row.op, register, ty)?;
        }
        if let Some(ty) = row.src[0] {
            inst.src[0] = self.scalar_slot(row.op, register, ty)?;
        }
        inst.simm16 = word as u16 as i16;
        if row.flags.contains(Flags::IMM32) {
            inst.imm32 = Some(self.literal()?);
        }
        Ok(inst)
    }

    fn sopp(&mut self, word: u32) -> Result<Inst> {
        let row = self.row(Encoding::Sopp, bits(word, 16, 7), word)?;
        let mut inst = self.inst(row, Format::Sopp);
        if !row.flags.contains(Flags::NO_IMM) {
            inst.simm16 = word as u16 as i16;
        }
        Ok(inst)
    }
}
