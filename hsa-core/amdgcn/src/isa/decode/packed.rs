//! VOP3P: packed operations and matrix operations.

use super::super::inst::{Format, Inst, Type};
use super::super::op::Op;
use super::super::table::{Encoding, Flags, Level, Row};
use super::{DecodeError, Reader, Result, bit, bits, slot};

/// Which halves of the sources make the low and the high result: `op_sel` and `op_sel_hi`.
fn halves(word: u32, high: u32) -> [u8; 2] {
    let [low, top] = [
        bits(word, 11, 3),
        bits(high, 27, 2) | bits(word, 14, 1) << 2,
    ];
    [low as u8, top as u8]
}

impl Reader<'_> {
    pub(super) fn vop3p(&mut self, word: u32) -> Result<Inst> {
        let row = self.row(Encoding::Vop3p, bits(word, 16, 7), word)?;
        let high = self.dword()?;
        if row.op == Op::v_mfma_ld_scale_b32
            && let Some(inst) = self.scaled_matrix(row, word, high)?
        {
            return Ok(inst);
        }
        let mut inst = self.inst(row, Format::Vop3p);
        let codes = [bits(high, 0, 9), bits(high, 9, 9), bits(high, 18, 9)];
        if row.flags.contains(Flags::MAI) {
            self.mai(&mut inst, row, word, high, codes)?;
            return Ok(inst);
        }
        let wide = self.wide_row(row);
        let row = &wide;
        if let Some(ty) = row.dst {
            inst.dst = self.vgpr_slot(row.op, bits(word, 0, 8), ty)?;
        }
        self.vop3_sources(&mut inst, row, codes)?;
        let present = (0..3)
            .filter(|&index| row.src[index].is_some())
            .fold(0u8, |mask, index| mask | 1 << index);
        let signs = if row.op == Op::v_mfma_ld_scale_b32 {
            0
        } else {
            present
        };
        inst.alu.neg = bits(high, 29, 3) as u8 & signs;
        inst.alu.abs = bits(word, 8, 3) as u8 & signs;
        let [low_halves, high_halves] = halves(word, high);
        inst.alu.op_sel = low_halves & present;
        inst.alu.op_sel_hi = high_halves & present;
        inst.alu.clamp = bit(word, 15);
        Ok(inst)
    }

    /// The matrix operation whose scales the words `word` and `high` load, if one follows that takes them.
    fn scaled_matrix(&mut self, scales: &Row, word: u32, high: u32) -> Result<Option<Inst>> {
        let vectors = bits(high, 0, 9) >= 256 && bits(high, 9, 9) >= 256;
        let rest = self.bytes.get(usize::from(self.len)..);
        let Some(&first) = rest.and_then(<[u8]>::first_chunk).filter(|_| vectors) else {
            return Ok(None);
        };
        let first = u32::from_le_bytes(first);
        // The lowest bit of the broadcast field says that scales were loaded.
        let takes_scales = bits(first, 23, 9) == 0b1_1010_0111 && bits(first, 11, 4) == 1;
        let tables = self.decoder.tables;
        let row = match tables.row(Encoding::Vop3px2, bits(first, 16, 7)) {
            Some(row) if takes_scales => row,
            _ => return Ok(None),
        };
        self.len += 4;
        let second = self.dword()?;
        let mut load = self.inst(scales, Format::Vop3p);
        self.vop3_sources(&mut load, scales, [bits(high, 0, 9), bits(high, 9, 9), 0])?;
        [load.alu.op_sel, load.alu.op_sel_hi] = halves(word, high);
        load.len = 8;
        let mut inst = self.inst(row, Format::Vop3p);
        let codes = [bits(second, 0, 9), bits(second, 9, 9), bits(second, 18, 9)];
        self.mai(&mut inst, row, first, second, codes)?;
        inst.alu.abid = 0;
        inst.vopd = Some(Box::new(load));
        Ok(Some(inst))
    }

    /// The row with the registers of a wave32: the tables have those of a wave64, where each lane holds half as much. GFX11 keeps whole rows
    /// of A and B in both.
    fn wide_row(&self, row: &Row) -> Row {
        let mut wide = *row;
        if !row.flags.contains(Flags::WMMA) || self.decoder.wave_size != 32 {
            return wide;
        }
        let double = |ty: Option<Type>| ty.map(|ty| Type::B(2 * ty.bits(32) as u16));
        let sparse = row.op.name().starts_with("v_swmmac");
        wide.dst = double(row.dst);
        if !sparse {
            wide.src[2] = double(row.src[2]);
        }
        if self.level() >= Level::Gfx12 {
            // Eight nibbles fit one register.
            if row.op != Op::v_wmma_i32_16x16x16_iu4 && row.op != Op::v_swmmac_i32_16x16x32_iu4 {
                wide.src[0] = double(row.src[0]);
            }
            if row.op != Op::v_wmma_i32_16x16x16_iu4 {
                wide.src[1] = double(row.src[1]);
            }
        }
        wide
    }

    /// Matrix operations and moves of accumulation VGPRs.
    fn mai(
        &mut self,
        inst: &mut Inst,
        row: &Row,
        word: u32,
        high: u32,
        codes: [u32; 3],
    ) -> Result<()> {
        let op = row.op;
        // GFX908 keeps the accumulators in accumulation VGPRs always; later a bit says where they are.
        let acc_cd = bit(word, 15) || self.level() == Level::Gfx908;
        let acc = [bit(high, 27), bit(high, 28), acc_cd];
        let vdst = bits(word, 0, 8);
        let dst_ty = row.dst.unwrap_or(Type::B(32));
        match op {
            Op::v_accvgpr_read_b32 => {
                inst.dst = self.vgpr_slot(op, vdst, dst_ty)?;
                inst.src[0] = slot(self.accumulation(op, codes[0], dst_ty)?, dst_ty);
                return Ok(());
            }
            Op::v_accvgpr_write_b32 => {
                inst.dst = slot(self.vgpr_or_agpr(op, vdst, dst_ty, true)?, dst_ty);
                inst.src[0] = self.source_slot_without_literal(op, codes[0], dst_ty)?;
                return Ok(());
            }
            _ => {}
        }
        inst.dst = slot(self.vgpr_or_agpr(op, vdst, dst_ty, acc_cd)?, dst_ty);
        inst.alu.cbsz = bits(word, 8, 3) as u8;
        inst.alu.abid = bits(word, 11, 4) as u8;
        if !row.flags.contains(Flags::SMFMAC) {
            inst.alu.blgp = bits(high, 29, 3) as u8;
        }
        let formatted = matches!(
            op,
            Op::v_mfma_f32_16x16x128_f8f6f4
                | Op::v_mfma_f32_32x32x64_f8f6f4
                | Op::v_mfma_scale_f32_16x16x128_f8f6f4
                | Op::v_mfma_scale_f32_32x32x64_f8f6f4
        );
        let mut types = row.src;
        if formatted {
            let scaled = row.op.name().starts_with("v_mfma_scale");
            if inst.alu.abid != u8::from(scaled) {
                return Err(DecodeError::Invalid {
                    op,
                    what: "scales that no instruction loads",
                });
            }
            // The formats decide how many registers hold 32 elements.
            for (ty, format) in types.iter_mut().zip([inst.alu.cbsz, inst.alu.blgp]) {
                *ty = Some(match format {
                    0 | 1 => Type::B(256),
                    2 | 3 => Type::B(192),
                    4 => Type::B(128),
                    _ => {
                        return Err(DecodeError::Invalid {
                            op,
                            what: "reserved format",
                        });
                    }
                });
            }
        }
        for (index, code) in codes.into_iter().enumerate() {
            let Some(ty) = types[index] else { continue };
            let is_index = index == 2 && row.flags.contains(Flags::SMFMAC);
            inst.src[index] = if code >= 256 {
                slot(
                    self.vgpr_or_agpr(op, code - 256, ty, acc[index] && !is_index)?,
                    ty,
                )
            } else if index == 2 && !is_index && code >= 128 {
                self.source_slot_without_literal(op, code, ty)?
            } else {
                return Err(DecodeError::ReservedOperand { op, code });
            };
        }
        Ok(())
    }
}
