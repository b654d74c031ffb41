//! Vector ALU encodings: VOP1, VOP2, VOPC with literal, SDWA and DPP, VOP3, VOP3P, interpolation, VOPD.

use super::super::inst::{Dpp, Format, Inst, Operand, OperandSlot, Sdwa, SdwaSel, Type};
use super::super::op::Op;
use super::super::table::{Encoding, Flags, Level, Row};
use super::{
    DPP8, DPP8_FETCH_INACTIVE, DPP16, DecodeError, LITERAL, Reader, Result, SDWA, bit, bits,
    scalar, slot,
};

/// Whether a source of this row takes `neg` and `abs`.
fn takes_modifiers(row: &Row, index: usize) -> bool {
    let float = matches!(row.src[index], Some(Type::F(_)));
    let all =
        row.flags.contains(Flags::MODS) || row.flags.contains(Flags::MODS_BUT_1) && index != 1;
    float || all && !matches!(row.src[index], None | Some(Type::Mask))
}

/// The sources that take `neg` and `abs`, as a mask.
fn modifier_mask(row: &Row) -> u8 {
    (0..3)
        .filter(|&index| takes_modifiers(row, index))
        .fold(0, |mask, index| mask | 1 << index)
}

fn sdwa_sel(op: Op, code: u32) -> Result<SdwaSel> {
    Ok(match code {
        0..=3 => SdwaSel::Byte(code as u8),
        4 | 5 => SdwaSel::Word(code as u8 - 4),
        6 => SdwaSel::Dword,
        _ => {
            return Err(DecodeError::Invalid {
                op,
                what: "reserved SDWA selector",
            });
        }
    })
}

fn dpp8_controls(control: u32, fetch_inactive: bool) -> Dpp {
    Dpp {
        ctrl: bits(control, 8, 24),
        is_dpp8: true,
        bound_ctrl: false,
        fetch_inactive,
        bank_mask: 0xf,
        row_mask: 0xf,
    }
}

/// 16-bit registers in the 32-bit encodings of GFX11 and later: the top bit of the number says high half. It becomes a bit of `op_sel`, as
/// the 64-bit encodings have it; the accumulator of `v_fmac_f16` is the destination's half.
fn take_halves(inst: &mut Inst) {
    let half = |slot: &mut OperandSlot| {
        if let (Operand::Vgpr(number @ 128..), 16) = (slot.operand, slot.ty.bits(32)) {
            slot.operand = Operand::Vgpr(number - 128);
            return true;
        }
        false
    };
    for index in 0..2 {
        inst.alu.op_sel |= u8::from(half(&mut inst.src[index])) << index;
    }
    if half(&mut inst.dst) {
        inst.alu.op_sel |= 8;
        if inst.op == Op::v_fmac_f16 {
            inst.alu.op_sel |= 4;
        }
    }
}

impl Reader<'_> {
    /// VOP1, VOP2 or VOPC.
    pub(super) fn vector_short(&mut self, word: u32) -> Result<Inst> {
        let (encoding, format, code) = match bits(word, 25, 6) {
            0x3f => (Encoding::Vop1, Format::Vop1, bits(word, 9, 8)),
            0x3e => (Encoding::Vopc, Format::Vopc, bits(word, 17, 8)),
            code => (Encoding::Vop2, Format::Vop2, code),
        };
        let row = self.row(encoding, code, word)?;
        let mut inst = self.inst(row, format);
        let src0 = bits(word, 0, 9);
        let vsrc1 = bits(word, 9, 8);
        let vdst = bits(word, 17, 8);
        let uses_sources = row.src[0].is_some();
        match src0 {
            SDWA if uses_sources && self.level() < Level::Gfx11 => {
                self.sdwa(&mut inst, row, vsrc1)?
            }
            DPP16 if uses_sources => self.dpp16(&mut inst, row, vsrc1)?,
            DPP8 | DPP8_FETCH_INACTIVE if uses_sources && !self.level().is_gfx9() => {
                self.check_dpp(row)?;
                let control = self.dword()?;
                self.dpp_sources(&mut inst, row, bits(control, 0, 8), vsrc1)?;
                inst.dpp = Some(dpp8_controls(control, src0 == DPP8_FETCH_INACTIVE));
            }
            _ => {
                if let Some(ty) = row.src[0] {
                    inst.src[0] = if row.op == Op::v_accvgpr_mov_b32 {
                        slot(self.accumulation(row.op, src0, ty)?, ty)
                    } else {
                        self.source_slot(row.op, src0, ty)?
                    };
                }
                if let Some(ty) = row.src[1] {
                    inst.src[1] = self.vgpr_slot(row.op, vsrc1, ty)?;
                }
            }
        }
        if row.flags.intersects(Flags::K_SECOND | Flags::K_LAST) {
            inst.imm32 = Some(self.literal()?);
        }
        self.short_destination(&mut inst, row, vdst)?;
        if matches!(
            row.op,
            Op::v_permlane16_swap_b32 | Op::v_permlane32_swap_b32
        ) {
            self.check_vector_source(&inst)?;
        }
        if self.level() >= Level::Gfx11 {
            take_halves(&mut inst);
        }
        Ok(inst)
    }

    /// Destinations and implicit operands of the 32-bit forms.
    fn short_destination(&mut self, inst: &mut Inst, row: &Row, vdst: u32) -> Result<()> {
        match row.dst {
            Some(Type::Mask) if inst.dst == OperandSlot::NONE => {
                let register = if self.compares_to_exec(row.op) {
                    scalar::EXEC
                } else {
                    scalar::VCC
                };
                inst.dst = slot(Operand::Scalar(register), Type::Mask);
            }
            Some(Type::Mask) | None => {}
            Some(ty) if row.flags.contains(Flags::SDST) => {
                inst.dst = self.scalar_slot(row.op, vdst, ty)?
            }
            Some(ty) => {
                let acc = row.op == Op::v_accvgpr_mov_b32;
                inst.dst = slot(self.vgpr_or_agpr(row.op, vdst, ty, acc)?, ty);
            }
        }
        if row.dst2.is_some() {
            inst.dst2 = Self::vcc();
        }
        if row.src[2] == Some(Type::Mask) {
            inst.src[2] = Self::vcc();
        }
        Ok(())
    }

    /// `v_cmpx` of GFX10 and later writes EXEC alone.
    fn compares_to_exec(&self, op: Op) -> bool {
        !self.level().is_gfx9() && op.name().starts_with("v_cmpx_")
    }

    pub(super) fn accumulation(&self, op: Op, code: u32, ty: Type) -> Result<Operand> {
        if code < 256 {
            return Err(DecodeError::Invalid {
                op,
                what: "the source is no accumulation VGPR",
            });
        }
        self.vgpr_or_agpr(op, code - 256, ty, true)
    }

    /// A source of an SDWA instruction: a VGPR, or with the scalar bit an SGPR or constant.
    fn sdwa_source(&mut self, op: Op, code: u32, is_scalar: bool, ty: Type) -> Result<OperandSlot> {
        if !is_scalar {
            return self.vgpr_slot(op, code, ty);
        }
        if matches!(code, SDWA | DPP16 | 254 | LITERAL) {
            return Err(DecodeError::ReservedOperand { op, code });
        }
        self.source_slot(op, code, ty)
    }

    fn sdwa(&mut self, inst: &mut Inst, row: &Row, vsrc1: u32) -> Result<()> {
        let op = row.op;
        let without = Flags::K_SECOND | Flags::K_LAST | Flags::SDST | Flags::NO_E64;
        if row.flags.intersects(without) {
            return Err(DecodeError::Invalid {
                op,
                what: "no SDWA form",
            });
        }
        let word = self.dword()?;
        let mut sdwa = Sdwa {
            dst_sel: SdwaSel::Dword,
            dst_unused: 0,
            src0_sel: sdwa_sel(op, bits(word, 16, 3))?,
            src1_sel: SdwaSel::Dword,
            sext: [false; 2],
        };
        if let Some(ty) = row.src[0] {
            inst.src[0] = self.sdwa_source(op, bits(word, 0, 8), bit(word, 23), ty)?;
            if takes_modifiers(row, 0) {
                inst.alu.neg |= u8::from(bit(word, 20));
                inst.alu.abs |= u8::from(bit(word, 21));
            } else {
                sdwa.sext[0] = bit(word, 19);
            }
        }
        if let Some(ty) = row.src[1] {
            sdwa.src1_sel = sdwa_sel(op, bits(word, 24, 3))?;
            inst.src[1] = self.sdwa_source(op, vsrc1, bit(word, 31), ty)?;
            if takes_modifiers(row, 1) {
                inst.alu.neg |= u8::from(bit(word, 28)) << 1;
                inst.alu.abs |= u8::from(bit(word, 29)) << 1;
            } else {
                sdwa.sext[1] = bit(word, 27);
            }
        }
        if inst.format == Format::Vopc {
            // The destination fields of the other two encodings hold the register here.
            if !self.compares_to_exec(op) {
                let register = if bit(word, 15) {
                    bits(word, 8, 7)
                } else {
                    u32::from(scalar::VCC)
                };
                inst.dst = self.scalar_slot(op, register, Type::Mask)?;
            }
        } else {
            sdwa.dst_sel = sdwa_sel(op, bits(word, 8, 3))?;
            sdwa.dst_unused = bits(word, 11, 2) as u8;
            if sdwa.dst_unused == 3 {
                return Err(DecodeError::Invalid {
                    op,
                    what: "reserved dst_unused",
                });
            }
            inst.alu.clamp = bit(word, 13);
            inst.alu.omod = bits(word, 14, 2) as u8;
        }
        inst.sdwa = Some(sdwa);
        Ok(())
    }

    /// Refuses operations without a DPP form.
    fn check_dpp(&self, row: &Row) -> Result<()> {
        let scalar_or_constant = Flags::K_SECOND | Flags::K_LAST | Flags::SDST;
        let moves = matches!(
            row.op,
            Op::v_accvgpr_mov_b32
                | Op::v_swap_b16
                | Op::v_swap_b32
                | Op::v_swaprel_b32
                | Op::v_permlane16_swap_b32
                | Op::v_permlane32_swap_b32
        );
        if row.flags.intersects(scalar_or_constant) || moves {
            return Err(DecodeError::Invalid {
                op: row.op,
                what: "no DPP form",
            });
        }
        Ok(())
    }

    fn dpp_sources(&mut self, inst: &mut Inst, row: &Row, vsrc0: u32, vsrc1: u32) -> Result<()> {
        if let Some(ty) = row.src[0] {
            inst.src[0] = self.vgpr_slot(row.op, vsrc0, ty)?;
        }
        if let Some(ty) = row.src[1] {
            inst.src[1] = self.vgpr_slot(row.op, vsrc1, ty)?;
        }
        Ok(())
    }

    fn dpp16(&mut self, inst: &mut Inst, row: &Row, vsrc1: u32) -> Result<()> {
        self.check_dpp(row)?;
        let word = self.dword()?;
        self.dpp_sources(inst, row, bits(word, 0, 8), vsrc1)?;
        let mask = modifier_mask(row);
        inst.alu.neg = (u8::from(bit(word, 20)) | u8::from(bit(word, 22)) << 1) & mask;
        inst.alu.abs = (u8::from(bit(word, 21)) | u8::from(bit(word, 23)) << 1) & mask;
        inst.dpp = Some(self.dpp16_controls(row.op, word)?);
        Ok(())
    }

    fn dpp16_controls(&self, op: Op, word: u32) -> Result<Dpp> {
        let ctrl = bits(word, 8, 9);
        let gfx9 = self.level().is_gfx9();
        let exists = match ctrl {
            0..=0xff | 0x101..=0x10f | 0x111..=0x11f | 0x121..=0x12f | 0x140 | 0x141 => true,
            0x130 | 0x134 | 0x138 | 0x13c | 0x142 | 0x143 => gfx9,
            0x150..=0x15f => !gfx9 || self.level().has_unified_vgprs(),
            0x160..=0x16f => !gfx9,
            _ => false,
        };
        if !exists {
            return Err(DecodeError::Invalid {
                op,
                what: "reserved DPP control",
            });
        }
        Ok(Dpp {
            ctrl,
            is_dpp8: false,
            bound_ctrl: bit(word, 19),
            fetch_inactive: bit(word, 18) && !gfx9,
            bank_mask: bits(word, 24, 4) as u8,
            row_mask: bits(word, 28, 4) as u8,
        })
    }

    /// The row of a VOP3 opcode number: its own, or that of the 32-bit form.
    fn vop3_row(&self, code: u32, word: u32) -> Result<&'static Row> {
        let tables = self.decoder.tables;
        if let Some(row) = tables.row(Encoding::Vop3, code) {
            return Ok(row);
        }
        let vop1 = if self.level().is_gfx9() { 0x140 } else { 0x180 };
        let (encoding, short) = match code {
            0..0x100 => (Encoding::Vopc, code),
            _ if code < vop1 => (Encoding::Vop2, code - 0x100),
            _ => (Encoding::Vop1, code - vop1),
        };
        match tables.row(encoding, short) {
            Some(row) if !row.flags.contains(Flags::NO_E64) => Ok(row),
            _ => Err(DecodeError::UnknownOpcode {
                encoding: Encoding::Vop3,
                code,
                word,
                level: self.level(),
            }),
        }
    }

    pub(super) fn vop3(&mut self, word: u32) -> Result<Inst> {
        let row = self.vop3_row(bits(word, 16, 10), word)?;
        let high = self.dword()?;
        let op = row.op;
        let has_sdst = row.dst2.is_some();
        let mut inst = self.inst(
            row,
            if has_sdst {
                Format::Vop3b
            } else {
                Format::Vop3
            },
        );
        if row.flags.contains(Flags::INTERP) {
            return self.vop3_interpolation(inst, row, word, high);
        }
        let vdst = bits(word, 0, 8);
        match row.dst {
            Some(Type::Mask) if self.compares_to_exec(op) => {
                inst.dst = slot(Operand::Scalar(scalar::EXEC), Type::Mask);
            }
            Some(ty) if ty == Type::Mask || row.flags.contains(Flags::SDST) => {
                inst.dst = self.scalar_destination(op, vdst, ty)?;
            }
            Some(ty) => inst.dst = self.vgpr_slot(op, vdst, ty)?,
            None => {}
        }
        if has_sdst {
            inst.dst2 = self.scalar_slot(op, bits(word, 8, 7), Type::Mask)?;
        }
        self.vop3_sources(
            &mut inst,
            row,
            [bits(high, 0, 9), bits(high, 9, 9), bits(high, 18, 9)],
        )?;
        if matches!(op, Op::v_bitop3_b16 | Op::v_bitop3_b32) {
            // The fields of omod, abs and neg together are the truth table.
            inst.imm32 = Some(bits(high, 27, 2) << 6 | bits(word, 8, 3) << 3 | bits(high, 29, 3));
            if op == Op::v_bitop3_b16 {
                inst.alu.op_sel = bits(word, 11, 4) as u8;
            }
            return Ok(inst);
        }
        if matches!(op, Op::v_permlane16_swap_b32 | Op::v_permlane32_swap_b32) {
            inst.alu.op_sel = bits(word, 11, 2) as u8;
            self.check_vector_source(&inst)?;
            return Ok(inst);
        }
        let mask = modifier_mask(row);
        inst.alu.neg = bits(high, 29, 3) as u8 & mask;
        inst.alu.clamp = bit(word, 15);
        inst.alu.omod = bits(high, 27, 2) as u8;
        if !has_sdst {
            inst.alu.abs = bits(word, 8, 3) as u8 & mask;
            let from_bytes = self.level() >= Level::Gfx12
                && matches!(
                    op,
                    Op::v_cvt_f32_fp8
                        | Op::v_cvt_f32_bf8
                        | Op::v_cvt_pk_f32_fp8
                        | Op::v_cvt_pk_f32_bf8
                );
            if row.selects_halves(self.level()) || from_bytes {
                inst.alu.op_sel = bits(word, 11, 4) as u8;
            }
        }
        Ok(inst)
    }

    /// A scalar register in the 8-bit destination field.
    fn scalar_destination(&self, op: Op, code: u32, ty: Type) -> Result<OperandSlot> {
        if code >= 128 {
            return Err(DecodeError::ReservedOperand { op, code });
        }
        self.scalar_slot(op, code, ty)
    }

    pub(super) fn vop3_sources(
        &mut self,
        inst: &mut Inst,
        row: &Row,
        codes: [u32; 3],
    ) -> Result<()> {
        let op = row.op;
        for (index, code) in codes.into_iter().enumerate() {
            let Some(ty) = row.src[index] else { continue };
            if code == LITERAL && self.level().is_gfx9() || ty == Type::Mask && code >= 128 {
                return Err(DecodeError::ReservedOperand { op, code });
            }
            let dpp = matches!(code, DPP16 | DPP8 | DPP8_FETCH_INACTIVE);
            if dpp && index == 0 && self.level() >= Level::Gfx11 {
                let control = self.dword()?;
                inst.src[0] = self.vgpr_slot(op, bits(control, 0, 8), ty)?;
                inst.dpp = Some(if code == DPP16 {
                    self.dpp16_controls(op, control)?
                } else {
                    dpp8_controls(control, code == DPP8_FETCH_INACTIVE)
                });
                continue;
            }
            inst.src[index] = self.source_slot(op, code, ty)?;
        }
        if row.src[3] == Some(Type::Mask) {
            inst.src[3] = Self::vcc();
        }
        Ok(())
    }

    /// Refuses a scalar or a constant where lanes are exchanged.
    fn check_vector_source(&self, inst: &Inst) -> Result<()> {
        if matches!(inst.src[0].operand, Operand::Vgpr(_)) {
            return Ok(());
        }
        Err(DecodeError::Invalid {
            op: inst.op,
            what: "the source is no VGPR",
        })
    }

    pub(super) fn source_slot_without_literal(
        &mut self,
        op: Op,
        code: u32,
        ty: Type,
    ) -> Result<OperandSlot> {
        if code == LITERAL {
            return Err(DecodeError::ReservedOperand { op, code });
        }
        self.source_slot(op, code, ty)
    }
}
