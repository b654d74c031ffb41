//! The disassembler: [`Inst`] to the text that `llvm-objdump` 19 prints for it, for GFX950 that of 22.
//!
//! The text is that of the instruction alone: no address, no encoding, no comment. Branch targets are printed as LLVM prints
//! them, as the distance in dwords. [`disassemble_section`] walks over a code section; what does not decode becomes a
//! `.long`, as in `llvm-objdump`.

mod control;
mod image;
mod memory;
mod vector;

use std::fmt::Write;

use super::decode::{DecodeError, Decoder, scalar};
use super::inst::{Format, Inst, Operand, OperandSlot, Type};
use super::op::Op;
use super::table::{Encoding, Flags, Level, Row, Tables};

/// One line of a disassembled section.
#[derive(Clone, Debug)]
pub struct Line {
    /// Address of the instruction.
    pub address: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// What the bytes are.
    pub inst: Result<Inst, DecodeError>,
    /// Its text; `.long 0x…` for what does not decode.
    pub text: String,
}

/// Disassembles a code section that begins at `address`. Words that do not decode become one line each.
pub fn disassemble_section(decoder: &Decoder, code: &[u8], address: u64) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let rest = &code[at..];
        let inst = decoder.decode(rest);
        let len = inst
            .as_ref()
            .map_or(4, |inst| usize::from(inst.len))
            .min(rest.len());
        let text = match &inst {
            Ok(inst) => disassemble(decoder, inst),
            Err(_) => undecoded(&rest[..len]),
        };
        lines.push(Line {
            address: address + at as u64,
            bytes: rest[..len].to_vec(),
            inst,
            text,
        });
        at += len;
    }
    lines
}

fn undecoded(bytes: &[u8]) -> String {
    if let Ok(word) = bytes.try_into() {
        return format!(".long {:#010x}", u32::from_le_bytes(word));
    }
    let list: Vec<String> = bytes.iter().map(|byte| format!("{byte:#04x}")).collect();
    format!(".byte {}", list.join(", "))
}

/// The text of one instruction.
pub fn disassemble(decoder: &Decoder, inst: &Inst) -> String {
    let mut printer = Printer {
        decoder,
        tables: Tables::of(decoder.level()),
        inst,
        text: String::new(),
        operands: 0,
    };
    printer.print();
    printer.text
}

/// Writes one instruction.
struct Printer<'a> {
    decoder: &'a Decoder,
    tables: &'static Tables,
    inst: &'a Inst,
    text: String,
    /// Operands printed so far: decides between space and comma.
    operands: usize,
}

/// Names of the inline float constants from operand code 240 on; the last depends on the width.
const INLINE_FLOATS: [&str; 8] = ["0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0"];

/// Bits of the inline float constants as f32, from operand code 240 on.
const INLINE_F32: [u32; 9] = [
    0x3f00_0000,
    0xbf00_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x4000_0000,
    0xc000_0000,
    0x4080_0000,
    0xc080_0000,
    0x3e22_f983,
];

/// The same as f16.
const INLINE_F16: [u16; 9] = [
    0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118,
];

/// The same as f64.
const INLINE_F64: [u64; 9] = [
    0x3fe0_0000_0000_0000,
    0xbfe0_0000_0000_0000,
    0x3ff0_0000_0000_0000,
    0xbff0_0000_0000_0000,
    0x4000_0000_0000_0000,
    0xc000_0000_0000_0000,
    0x4010_0000_0000_0000,
    0xc010_0000_0000_0000,
    0x3fc4_5f30_6dc9_c882,
];

fn inline_float(index: usize, bits: u32) -> &'static str {
    match INLINE_FLOATS.get(index) {
        Some(name) => name,
        None if bits == 64 => "0.15915494309189532",
        None => "0.15915494",
    }
}

impl Printer<'_> {
    fn level(&self) -> Level {
        self.decoder.level()
    }

    fn print(&mut self) {
        let inst = self.inst;
        match inst.format {
            Format::Sop1 | Format::Sop2 | Format::Sopc | Format::Sopk | Format::Sopp => {
                self.scalar_alu()
            }
            Format::Vop1 | Format::Vop2 | Format::Vopc => self.vector_short(),
            Format::Vop3 | Format::Vop3b => self.vop3(),
            Format::Vop3p => self.vop3p(),
            Format::Vintrp => self.interpolation(),
            Format::Smem => self.smem(),
            Format::Ds => self.ds(),
            Format::Flat | Format::Global | Format::Scratch => self.flat(),
            Format::Mubuf | Format::Mtbuf => self.buffer(),
            Format::Mimg => self.image(),
            Format::Exp => self.export(),
            Format::Vopd => self.vopd(),
        }
    }

    /// The row that the instruction was decoded with, in a given encoding.
    fn row(&self, encoding: Encoding) -> Option<&'static Row> {
        self.tables.row_of_op(encoding, self.inst.op)
    }

    fn has_flag(&self, encoding: Encoding, flag: Flags) -> bool {
        self.row(encoding)
            .is_some_and(|row| row.flags.contains(flag))
    }

    /// An immediate of 16 bits as LLVM prints it: small values in decimal.
    fn immediate(&mut self, value: u16) {
        self.operand_text(&if value <= 64 {
            value.to_string()
        } else {
            format!("{value:#x}")
        });
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn write(&mut self, arguments: std::fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = self.text.write_fmt(arguments);
    }

    /// Begins the next operand.
    fn separate(&mut self) {
        self.push(if self.operands == 0 { " " } else { ", " });
        self.operands += 1;
    }

    /// An operand of ready text.
    fn operand_text(&mut self, text: &str) {
        self.separate();
        self.push(text);
    }

    fn mnemonic(&mut self, suffix: &str) {
        self.push(self.inst.op.name());
        self.push(suffix);
    }

    /// An operand, if there is one.
    fn slot(&mut self, slot: OperandSlot) {
        if slot.operand != Operand::None {
            self.separate();
            self.value(slot);
        }
    }

    /// A vector register tuple, or `off`.
    fn slot_or_off(&mut self, slot: OperandSlot) {
        if slot.operand == Operand::None {
            self.operand_text("off");
        } else {
            self.slot(slot);
        }
    }

    /// A flag after the operands.
    fn flag(&mut self, set: bool, name: &str) {
        if set {
            self.push(" ");
            self.push(name);
        }
    }

    /// The text of an operand.
    fn value(&mut self, slot: OperandSlot) {
        let dwords = slot.ty.dwords(self.decoder.wave_size());
        match slot.operand {
            Operand::None => {}
            Operand::Scalar(code) => self.scalar_register(code, dwords),
            Operand::Vgpr(number) => self.tuple("v", u32::from(number), dwords),
            Operand::Agpr(number) => self.tuple("a", u32::from(number), dwords),
            Operand::Int(value) => self.write(format_args!("{value}")),
            Operand::Float(code) => self.inline_constant(usize::from(code) - 240, slot.ty),
            Operand::Literal(value) => self.literal(value, slot.ty),
            Operand::Source(code) => self.push(source_name(code, dwords)),
        }
    }

    fn inline_constant(&mut self, index: usize, ty: Type) {
        match ty {
            // Scalar compares of 16 bits show the bits.
            Type::F(16) if self.inst.format == Format::Sopc => {
                self.write(format_args!("{:#x}", INLINE_F16[index]))
            }
            Type::B(16) if self.inst.op == Op::v_cvt_f32_bf16 => self.push(inline_float(index, 32)),
            // Integer operands of 16 bits take the bits of the constant.
            Type::I(16) | Type::U(16) | Type::B(16) => {
                self.write(format_args!("{:#x}", INLINE_F16[index]))
            }
            Type::Packed(_) => self.push(inline_float(index, 32)),
            _ => self.push(inline_float(index, ty.bits(self.decoder.wave_size()))),
        }
    }

    /// A literal. LLVM 19 prints the value, so that a literal that equals an inline constant looks like it; LLVM 22 marks it.
    fn literal(&mut self, value: u32, ty: Type) {
        let from = self.text.len();
        self.plain_literal(value, ty);
        let marked = self.level() == Level::Gfx950 && (ty, value) != (Type::F(64), 0);
        if marked && !self.text[from..].starts_with("0x") {
            self.text.truncate(from);
            self.write(format_args!("lit({value:#x})"));
        }
    }

    fn plain_literal(&mut self, value: u32, ty: Type) {
        let signed = value as i32;
        match ty {
            Type::F(64) => {
                let wide = u64::from(value) << 32;
                if let Some(index) = INLINE_F64.iter().position(|bits| *bits == wide) {
                    self.push(inline_float(index, 64));
                } else if wide == 0 {
                    self.push("0");
                } else {
                    self.write(format_args!("{value:#x}"));
                }
            }
            // All 32 bits count for operations with one scalar source.
            Type::F(16) if self.inst.format == Format::Sop1 => {
                self.literal_16(value, Type::Packed(32))
            }
            Type::I(16) | Type::U(16) | Type::B(16) | Type::F(16) | Type::Packed(32) => {
                self.literal_16(value, ty)
            }
            _ if (-16..=64).contains(&signed) && (signed >= 0 || ty.bits(64) <= 32) => {
                self.write(format_args!("{signed}"));
            }
            _ => {
                let float = INLINE_F32.iter().position(|bits| *bits == value);
                match float {
                    Some(index) if ty.bits(self.decoder.wave_size()) <= 32 => {
                        self.push(inline_float(index, 32))
                    }
                    _ => self.write(format_args!("{value:#x}")),
                }
            }
        }
    }

    fn literal_16(&mut self, value: u32, ty: Type) {
        if let Type::Packed(_) = ty {
            let signed = value as i32;
            if (-16..=64).contains(&signed) {
                self.write(format_args!("{signed}"));
            } else if let Some(index) = INLINE_F32.iter().position(|bits| *bits == value) {
                self.push(inline_float(index, 32));
            } else {
                self.write(format_args!("{value:#x}"));
            }
            return;
        }
        let half = value as u16;
        // Floats are looked at as 16 bits, integers as the 32 that stand in the instruction.
        let (signed, float) = if ty == Type::F(16) {
            (
                i32::from(half as i16),
                INLINE_F16.iter().position(|bits| *bits == half),
            )
        } else {
            (
                value as i32,
                INLINE_F32.iter().position(|bits| *bits == value),
            )
        };
        match float {
            _ if (-16..=64).contains(&signed) => self.write(format_args!("{signed}")),
            Some(index) => self.push(inline_float(index, 16)),
            None => self.write(format_args!("{half:#x}")),
        }
    }

    fn tuple(&mut self, prefix: &str, first: u32, dwords: u32) {
        if dwords == 1 {
            self.write(format_args!("{prefix}{first}"));
        } else {
            self.write(format_args!("{prefix}[{first}:{}]", first + dwords - 1));
        }
    }

    fn scalar_register(&mut self, code: u8, dwords: u32) {
        let gfx9 = self.level().is_gfx9();
        let pair =
            |name: &'static str, low: &'static str, high: &'static str| match (dwords, code % 2) {
                (1, 0) => low,
                (1, _) => high,
                _ => name,
            };
        let name = match code {
            102 | 103 if gfx9 => pair("flat_scratch", "flat_scratch_lo", "flat_scratch_hi"),
            104 | 105 if gfx9 => pair("xnack_mask", "xnack_mask_lo", "xnack_mask_hi"),
            106 | 107 => pair("vcc", "vcc_lo", "vcc_hi"),
            126 | 127 => pair("exec", "exec_lo", "exec_hi"),
            124 => "m0",
            scalar::NULL => "null",
            108.. => return self.tuple("ttmp", u32::from(code) - 108, dwords),
            _ => return self.tuple("s", u32::from(code), dwords),
        };
        self.push(name);
    }
}

/// Names of the special sources. Values that LLVM knows under two names are printed under the one that its printer takes.
fn source_name(code: u8, _dwords: u32) -> &'static str {
    match code {
        235 => "src_shared_base",
        236 => "src_shared_limit",
        237 => "src_private_base",
        238 => "src_private_limit",
        239 => "src_pops_exiting_wave_id",
        251 => "src_vccz",
        252 => "src_execz",
        253 => "src_scc",
        _ => "src_lds_direct",
    }
}

/// Whether two operations are the same one.
fn is(op: Op, list: &[Op]) -> bool {
    list.contains(&op)
}
