//! Memory encodings of GFX12: buffers, FLAT, GLOBAL and SCRATCH. Images do not decode.

use super::super::inst::{Format, Inst, Type};
use super::super::table::{Encoding, Flags};
use super::memory::FlatFields;
use super::{Reader, Result, bit, bits, sign_extend};

impl Reader<'_> {
    /// Buffers of GFX12, typed or not.
    pub(super) fn vbuffer(&mut self, word: u32) -> Result<Inst> {
        let code = bits(word, 14, 8);
        let typed = code >= 0x80;
        let (encoding, format) = if typed {
            (Encoding::Mtbuf, Format::Mtbuf)
        } else {
            (Encoding::Mubuf, Format::Mubuf)
        };
        let row = self.row(encoding, code, word)?;
        let op = row.op;
        let (middle, high) = (self.dword()?, self.dword()?);
        let mut inst = self.inst(row, format);
        inst.mem.cpol = Self::cache_policy(middle, 18);
        if row.src[0].is_none() {
            return Ok(inst);
        }
        inst.mem.tfe = bit(word, 22);
        inst.mem.lds = row.flags.contains(Flags::LDS);
        inst.mem.offen = bit(middle, 30);
        inst.mem.idxen = bit(middle, 31);
        inst.mem.offset = sign_extend(bits(high, 8, 24), 24);
        if typed {
            inst.mem.format = bits(middle, 23, 7) as u8;
        }
        let atomic = row.flags.contains(Flags::ATOMIC);
        inst.mem.glc = atomic && inst.mem.cpol & 1 != 0;
        let vdata = bits(middle, 0, 8);
        let widened = |ty: Type| {
            let more = if inst.mem.tfe { 32 } else { 0 };
            Type::B(ty.bits(64) as u16 + more)
        };
        if let (Some(ty), true) = (row.dst.map(widened), !atomic || inst.mem.glc) {
            inst.dst = self.vgpr_slot(op, vdata, ty)?;
        }
        if let Some(ty) = row.src[1] {
            inst.src[1] = self.vgpr_slot(op, vdata, ty)?;
        }
        if inst.mem.offen || inst.mem.idxen {
            let both = inst.mem.offen && inst.mem.idxen;
            let ty = if both { Type::B(64) } else { Type::B(32) };
            inst.src[0] = self.vgpr_slot(op, bits(high, 0, 8), ty)?;
        }
        inst.src[2] = self.scalar_slot(op, bits(middle, 9, 7), Type::B(128))?;
        inst.src[3] = self.scalar_slot(op, bits(word, 0, 7), Type::B(32))?;
        Ok(inst)
    }

    pub(super) fn vimage(&mut self, word: u32) -> Result<Inst> {
        self.unknown_encoding(word)
    }

    /// FLAT, GLOBAL and SCRATCH of GFX12.
    pub(super) fn flat12(&mut self, word: u32) -> Result<Inst> {
        let (encoding, format) = match bits(word, 24, 2) {
            0 => (Encoding::Flat, Format::Flat),
            1 => (Encoding::Scratch, Format::Scratch),
            2 => (Encoding::Global, Format::Global),
            _ => return self.unknown_encoding(word),
        };
        let row = self.row(encoding, bits(word, 14, 8), word)?;
        let (middle, high) = (self.dword()?, self.dword()?);
        let mut inst = self.inst(row, format);
        inst.mem.cpol = Self::cache_policy(middle, 18);
        inst.mem.glc = row.flags.contains(Flags::ATOMIC) && inst.mem.cpol & 1 != 0;
        inst.mem.lds = row.flags.contains(Flags::LDS);
        inst.mem.offset = sign_extend(bits(high, 8, 24), 24);
        // The tables have the registers of a wave64, which holds half as much in a lane.
        let mut wide = *row;
        if row.op.name().starts_with("global_load_tr_") && self.decoder.wave_size == 32 {
            wide.dst = row.dst.map(|ty| Type::B(2 * ty.bits(32) as u16));
        }
        let row = &wide;
        let fields = FlatFields {
            acc: false,
            saddr: bits(word, 0, 7),
            vector_address: bit(middle, 17),
        };
        // The registers in the places where the older encodings have them.
        let registers = bits(high, 0, 8) | bits(middle, 23, 8) << 8 | bits(middle, 0, 8) << 24;
        self.flat_operands(&mut inst, row, encoding, registers, &fields)?;
        Ok(inst)
    }
}
