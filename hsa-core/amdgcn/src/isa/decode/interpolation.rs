//! Parameter interpolation: VINTRP, its VOP3 forms, VINTERP and LDSDIR.

use super::super::inst::{Format, Inst, Type};
use super::super::op::Op;
use super::super::table::{Encoding, Level, Row};
use super::{Reader, Result, bit, bits};

impl Reader<'_> {
    pub(super) fn vintrp(&mut self, word: u32) -> Result<Inst> {
        let row = self.row(Encoding::Vintrp, bits(word, 16, 2), word)?;
        let mut inst = self.inst(row, Format::Vintrp);
        inst.dst = self.vgpr_slot(row.op, bits(word, 18, 8), Type::F(32))?;
        inst.simm16 = bits(word, 8, 8) as i16;
        if row.op == Op::v_interp_mov_f32 {
            inst.imm32 = Some(bits(word, 0, 8));
        } else {
            inst.src[0] = self.vgpr_slot(row.op, bits(word, 0, 8), Type::F(32))?;
        }
        Ok(inst)
    }

    /// VOP3 forms of the interpolation operations: source 0 names the attribute.
    pub(super) fn vop3_interpolation(
        &mut self,
        mut inst: Inst,
        row: &Row,
        word: u32,
        high: u32,
    ) -> Result<Inst> {
        let op = row.op;
        if let Some(ty) = row.dst {
            inst.dst = self.vgpr_slot(op, bits(word, 0, 8), ty)?;
        }
        inst.simm16 = (bits(high, 0, 6) << 2 | bits(high, 6, 2)) as i16;
        // Bit 8 of the first source selects the high half of the attribute (f16 forms).
        inst.alu.op_sel = bits(high, 8, 1) as u8;
        let codes = [bits(high, 9, 9), bits(high, 18, 9)];
        if op == Op::v_interp_mov_f32 {
            inst.imm32 = Some(codes[0]);
        }
        for (index, code) in codes.into_iter().enumerate() {
            if let Some(ty) = row.src[index] {
                inst.src[index] = self.source_slot_without_literal(op, code, ty)?;
            }
        }
        inst.alu.neg = (bits(high, 29, 3) >> 1) as u8;
        inst.alu.abs = (bits(word, 8, 3) >> 1) as u8;
        inst.alu.clamp = bit(word, 15);
        inst.alu.omod = bits(high, 27, 2) as u8;
        Ok(inst)
    }

    pub(super) fn vinterp(&mut self, word: u32) -> Result<Inst> {
        let row = self.row(Encoding::Vinterp, bits(word, 16, 7), word)?;
        let high = self.dword()?;
        let mut inst = self.inst(row, Format::Vintrp);
        if let Some(ty) = row.dst {
            inst.dst = self.vgpr_slot(row.op, bits(word, 0, 8), ty)?;
        }
        // VGPRs, whatever the ninth bit of each field says.
        for (index, low) in [0, 9, 18].into_iter().enumerate() {
            if let Some(ty) = row.src[index] {
                inst.src[index] = self.vgpr_slot(row.op, bits(high, low, 8), ty)?;
            }
        }
        inst.simm16 = bits(word, 8, 3) as i16;
        inst.alu.op_sel = bits(word, 11, 4) as u8;
        inst.alu.clamp = bit(word, 15);
        inst.alu.neg = bits(high, 29, 3) as u8;
        Ok(inst)
    }

    pub(super) fn ldsdir(&mut self, word: u32) -> Result<Inst> {
        let row = self.row(Encoding::Ldsdir, bits(word, 20, 2), word)?;
        let mut inst = self.inst(row, Format::Vintrp);
        inst.dst = self.vgpr_slot(row.op, bits(word, 0, 8), Type::B(32))?;
        inst.simm16 = bits(word, 8, 8) as i16;
        inst.imm32 = Some(bits(word, 16, 4));
        if self.level() >= Level::Gfx12 {
            inst.alu.op_sel = bits(word, 23, 1) as u8;
        }
        Ok(inst)
    }
}
