//! Memory encodings of GFX12: buffers, images, FLAT, GLOBAL and SCRATCH.

use super::super::inst::{Format, Inst, Type};
use super::super::op::Op;
use super::super::table::{Encoding, Flags};
use super::memory::{FlatFields, image_resource};
use super::{Reader, Result, bit, bits, sign_extend};

/// Registers of the five address fields of a ray intersection: node pointer, extent of the ray, origin, direction, and its inverse or what the
/// newer operations take for it.
pub(in crate::isa) fn ray_registers(op: Op, a16: bool) -> [u16; 5] {
    match op {
        Op::image_bvh_dual_intersect_ray => [2, 2, 3, 3, 2],
        Op::image_bvh8_intersect_ray => [2, 2, 3, 3, 1],
        _ => {
            let node = 1 + u16::from(op == Op::image_bvh64_intersect_ray);
            [node, 1, 3, 3, if a16 { 0 } else { 3 }]
        }
    }
}

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

    /// Images of GFX12, with a sampler (VSAMPLE) or without (VIMAGE).
    pub(super) fn vimage(&mut self, word: u32) -> Result<Inst> {
        let sampling = bits(word, 26, 6) == 0b111001;
        let encoding = if sampling {
            Encoding::Vsample
        } else {
            Encoding::Vimage
        };
        let row = self.row(encoding, bits(word, 14, 8), word)?;
        let op = row.op;
        let (middle, high) = (self.dword()?, self.dword()?);
        let mut inst = self.inst(row, Format::Mimg);
        let mem = &mut inst.mem;
        mem.dmask = bits(word, 22, 4) as u8;
        mem.dim = bits(word, 0, 3) as u8;
        mem.r128 = bit(word, 4);
        mem.d16 = bit(word, 5);
        mem.a16 = bit(word, 6);
        mem.cpol = Self::cache_policy(middle, 18);
        mem.glc = row.flags.contains(Flags::ATOMIC) && mem.cpol & 1 != 0;
        if sampling {
            mem.tfe = bit(word, 3);
            mem.unorm = bit(word, 13);
            mem.lwe = bit(middle, 8);
        } else {
            mem.tfe = bit(middle, 23);
        }
        self.image_data(&mut inst, row, bits(middle, 0, 8), false)?;
        let mut registers = high.to_le_bytes().to_vec();
        if !sampling {
            registers.push(bits(middle, 24, 8) as u8);
        }
        if row.flags.contains(Flags::BVH) {
            self.ray_fields(op, &registers, inst.mem.a16)?;
        } else {
            let count = Self::image_address_dwords(row, inst.mem.dim, inst.mem.a16);
            // The last field is the first of consecutive registers, when more are needed.
            let fields = registers.len();
            if count > fields {
                let (last, dwords) = (registers[fields - 1], count + 1 - fields);
                self.vgpr(op, u32::from(last), Type::B(32 * dwords as u16))?;
                registers.extend((1..dwords).map(|next| last + next as u8));
            }
            registers.truncate(count);
        }
        inst.src[0] = self.vgpr_slot(op, u32::from(registers[0]), Type::B(32))?;
        if registers.len() > 1 {
            inst.nsa = Some(registers.into_boxed_slice());
        }
        inst.src[2] = self.scalar_slot(op, bits(middle, 9, 9), image_resource(row))?;
        if row.flags.contains(Flags::SAMPLER) {
            inst.src[3] = self.scalar_slot(op, bits(middle, 23, 9), Type::B(128))?;
        }
        Ok(inst)
    }

    /// Checks the address fields of a ray intersection, each of which is the first of several registers, and counts them.
    pub(super) fn ray_fields(&self, op: Op, registers: &[u8], a16: bool) -> Result<usize> {
        let widths = ray_registers(op, a16);
        for (register, dwords) in registers.iter().zip(widths) {
            self.vgpr(op, u32::from(*register), Type::B(32 * dwords))?;
        }
        Ok(widths.into_iter().filter(|dwords| *dwords != 0).count())
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
