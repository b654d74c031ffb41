//! Memory encodings: SMEM, DS, FLAT, buffers, images, and export.

use super::super::image::ImageAddress;
use super::super::inst::{Format, Inst, Operand, OperandSlot, Type};
use super::super::op::Op;
use super::super::table::{Encoding, Flags, Level, Row};
use super::{DecodeError, Reader, Result, bit, bits, scalar, sign_extend, slot};

/// Operand code of an absent scalar address.
const OFF: u32 = 0x7f;

/// Fields of FLAT that the families place differently.
pub(super) struct FlatFields {
    /// Data in accumulation VGPRs.
    pub(super) acc: bool,
    /// Scalar address.
    pub(super) saddr: u32,
    /// Scratch: the bit that says that there is a vector address.
    pub(super) vector_address: bool,
}

/// On GFX9 the resource decides how many coordinates there are. These are the fewest address registers that an operation can have, those
/// that LLVM prints: one for each of offset, bias and compare value, one for gradients, one for coordinates and what follows them.
fn least_address_dwords(op: Op) -> u16 {
    let name = op.name();
    let sampled = name.starts_with("image_sample") || name.starts_with("image_gather4");
    let parts = name
        .split('_')
        .filter(|part| matches!(*part, "o" | "b" | "c" | "d" | "cd"));
    1 + if sampled { parts.count() as u16 } else { 0 }
}

/// The resource of an image operation. With r128 only the first four registers are read, but LLVM prints all.
pub(super) fn image_resource(row: &Row) -> Type {
    if row.flags.contains(Flags::BVH) {
        Type::B(128)
    } else {
        Type::B(256)
    }
}

impl Reader<'_> {
    pub(super) fn smem(&mut self, word: u32) -> Result<Inst> {
        let level = self.level();
        let code = if level == Level::Gfx12 {
            bits(word, 13, 6)
        } else {
            bits(word, 18, 8)
        };
        let row = self.row(Encoding::Smem, code, word)?;
        let op = row.op;
        let high = self.dword()?;
        let mut inst = self.inst(row, Format::Smem);
        if level == Level::Gfx12 {
            // Two bits of the temporal hint.
            inst.mem.cpol = Self::cache_policy(word, 21) & !4;
        } else {
            inst.mem.glc = bit(word, if level.is_gfx11() { 14 } else { 16 });
            inst.mem.dlc = level.is_gfx10() && bit(word, 14) || level.is_gfx11() && bit(word, 13);
        }
        let data = bits(word, 6, 7);
        let returns = inst.mem.glc || !row.flags.contains(Flags::ATOMIC);
        if let (Some(ty), true) = (row.dst, returns) {
            inst.dst = self.scalar_slot(op, data, ty)?;
        }
        if row.flags.contains(Flags::IMM_SDATA) {
            inst.simm16 = data as i16;
        }
        if let Some(ty) = row.src[1] {
            inst.src[1] = self.scalar_slot(op, data, ty)?;
        }
        match row.src[0] {
            Some(base_ty) => {
                inst.src[0] = self.scalar_slot(op, bits(word, 0, 6) << 1, base_ty)?;
            }
            // Relative to the PC.
            None if level == Level::Gfx12 && row.flags.contains(Flags::IMM_SDATA) => {}
            None => return Ok(inst),
        }
        let offset_ty = Type::B(32);
        if level.is_gfx9() {
            let (has_offset, has_register) = (bit(word, 17), bit(word, 14));
            inst.mem.has_offset = has_offset;
            if has_offset {
                inst.mem.offset = sign_extend(bits(high, 0, 21), 21);
            }
            if has_register {
                inst.src[3] = self.scalar_slot(op, bits(high, 25, 7), offset_ty)?;
            } else if !has_offset {
                inst.src[3] = self.scalar_slot(op, bits(high, 0, 7), offset_ty)?;
            }
        } else {
            let count = if level == Level::Gfx12 { 24 } else { 21 };
            inst.mem.has_offset = level == Level::Gfx12;
            inst.mem.offset = sign_extend(bits(high, 0, count), count);
            let register = self.scalar(op, bits(high, 25, 7), offset_ty)?;
            if register != Operand::Scalar(scalar::NULL) {
                inst.src[3] = slot(register, offset_ty);
            }
        }
        Ok(inst)
    }

    pub(super) fn ds(&mut self, word: u32) -> Result<Inst> {
        let level = self.level();
        let (code_low, gds_low) = if level.is_gfx9() { (17, 16) } else { (18, 17) };
        let row = self.row(Encoding::Ds, bits(word, code_low, 8), word)?;
        let op = row.op;
        let high = self.dword()?;
        let mut inst = self.inst(row, Format::Ds);
        let acc = level.has_unified_vgprs() && bit(word, 25);
        // GFX90A and later have no GDS but for the global wave sync.
        let has_gds = !level.has_unified_vgprs() && level != Level::Gfx12
            || row.flags.contains(Flags::GDS_ONLY);
        inst.mem.gds = bit(word, gds_low) && has_gds;
        if row.flags.contains(Flags::GDS_ONLY) && !inst.mem.gds {
            return Err(DecodeError::Invalid {
                op,
                what: "exists for GDS only",
            });
        }
        if row.flags.contains(Flags::TWO_OFFSETS) {
            inst.mem.offset = bits(word, 0, 8) as i32;
            inst.mem.offset1 = bits(word, 8, 8) as u8;
        } else {
            inst.mem.offset = bits(word, 0, 16) as i32;
        }
        if let Some(ty) = row.dst {
            inst.dst = slot(self.vgpr_or_agpr(op, bits(high, 24, 8), ty, acc)?, ty);
        }
        if let Some(ty) = row.src[0] {
            // The value of GWS operations may stand in accumulation VGPRs; addresses may not.
            let value = row.flags.contains(Flags::GDS_ONLY) && row.dst.is_none();
            inst.src[0] = slot(
                self.vgpr_or_agpr(op, bits(high, 0, 8), ty, acc && value)?,
                ty,
            );
        }
        for (index, low) in [(1, 8), (2, 16)] {
            if let Some(ty) = row.src[index] {
                inst.src[index] = slot(self.vgpr_or_agpr(op, bits(high, low, 8), ty, acc)?, ty);
            }
        }
        Ok(inst)
    }

    pub(super) fn flat(&mut self, word: u32) -> Result<Inst> {
        let level = self.level();
        let segment = bits(word, if level.is_gfx11() { 16 } else { 14 }, 2);
        let (encoding, format) = match segment {
            0 => (Encoding::Flat, Format::Flat),
            1 => (Encoding::Scratch, Format::Scratch),
            2 => (Encoding::Global, Format::Global),
            _ => return self.unknown_encoding(word),
        };
        let row = self.row(encoding, bits(word, 18, 7), word)?;
        let high = self.dword()?;
        let mut inst = self.inst(row, format);
        let segmented = encoding != Encoding::Flat;
        inst.mem.offset = match level {
            _ if level.is_gfx10() && segmented => sign_extend(bits(word, 0, 12), 12),
            _ if level.is_gfx10() => bits(word, 0, 11) as i32,
            _ if segmented => sign_extend(bits(word, 0, 13), 13),
            _ => bits(word, 0, 12) as i32,
        };
        if level.is_gfx11() {
            inst.mem.dlc = bit(word, 13);
            inst.mem.glc = bit(word, 14);
            inst.mem.slc = bit(word, 15);
        } else {
            inst.mem.glc = bit(word, 16);
            inst.mem.slc = bit(word, 17);
            inst.mem.dlc = level.is_gfx10() && bit(word, 12);
            inst.mem.scc = level.has_unified_vgprs() && bit(word, 25);
            inst.mem.lds = !level.is_gfx940_up() && bit(word, 13);
        }
        inst.mem.lds |= row.flags.contains(Flags::LDS);
        let vector_address = match level {
            _ if level.is_gfx940_up() => bit(word, 13),
            _ if level.is_gfx11() => bit(high, 23),
            _ => false,
        };
        let acc = level.has_unified_vgprs() && bit(high, 23);
        let fields = FlatFields {
            acc,
            saddr: bits(high, 16, 7),
            vector_address,
        };
        self.flat_operands(&mut inst, row, encoding, high, &fields)?;
        Ok(inst)
    }

    pub(super) fn flat_operands(
        &mut self,
        inst: &mut Inst,
        row: &Row,
        encoding: Encoding,
        high: u32,
        fields: &FlatFields,
    ) -> Result<()> {
        let level = self.level();
        let op = row.op;
        let returns = !row.flags.contains(Flags::ATOMIC) || inst.mem.glc;
        if let (Some(ty), true, false) = (row.dst, returns, inst.mem.lds) {
            inst.dst = slot(
                self.vgpr_or_agpr(op, bits(high, 24, 8), ty, fields.acc)?,
                ty,
            );
        }
        if let Some(ty) = row.src[1] {
            inst.src[1] = slot(self.vgpr_or_agpr(op, bits(high, 8, 8), ty, fields.acc)?, ty);
        }
        let vaddr = bits(high, 0, 8);
        let no_address = row.flags.contains(Flags::NO_ADDR);
        if row.src[0].is_none() && !no_address {
            return Ok(());
        }
        // An absent scalar address: 0x7f, and since GFX10 the null register.
        let null = match level {
            _ if level.is_gfx9() => OFF,
            _ if level.is_gfx10() => 0x7d,
            _ => 0x7c,
        };
        let has_saddr = fields.saddr != OFF && fields.saddr != null;
        match encoding {
            Encoding::Flat => inst.src[0] = self.vgpr_slot(op, vaddr, Type::B(64))?,
            Encoding::Global => {
                if has_saddr {
                    inst.src[2] = self.scalar_slot(op, fields.saddr, Type::B(64))?;
                }
                if !no_address {
                    let ty = if has_saddr { Type::B(32) } else { Type::B(64) };
                    inst.src[0] = self.vgpr_slot(op, vaddr, ty)?;
                }
            }
            _ => {
                if has_saddr {
                    inst.src[2] = self.scalar_slot(op, fields.saddr, Type::B(32))?;
                }
                let has_vaddr = match level {
                    Level::Gfx940
                    | Level::Gfx950
                    | Level::Gfx11
                    | Level::Gfx11_5
                    | Level::Gfx12 => fields.vector_address,
                    Level::Gfx10_3 => fields.saddr == null,
                    _ => !has_saddr,
                };
                if has_vaddr {
                    inst.src[0] = self.vgpr_slot(op, vaddr, Type::B(32))?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn mubuf(&mut self, word: u32) -> Result<Inst> {
        let level = self.level();
        let code = bits(word, 18, if level.is_gfx9() { 7 } else { 8 });
        let row = self.row(Encoding::Mubuf, code, word)?;
        let high = self.dword()?;
        let mut inst = self.inst(row, Format::Mubuf);
        if level.is_gfx11() {
            inst.mem.slc = bit(word, 12);
        } else {
            inst.mem.lds = bit(word, 16);
            inst.mem.slc = if level.is_gfx9() {
                bit(word, 17)
            } else {
                bit(high, 22)
            };
        }
        inst.mem.lds |= row.flags.contains(Flags::LDS);
        self.buffer(&mut inst, row, word, high)?;
        Ok(inst)
    }

    pub(super) fn mtbuf(&mut self, word: u32) -> Result<Inst> {
        let level = self.level();
        let high = self.dword()?;
        let code = if level.is_gfx10() {
            bits(word, 16, 3) | bits(high, 21, 1) << 3
        } else {
            bits(word, 15, 4)
        };
        let row = self.row(Encoding::Mtbuf, code, word)?;
        let mut inst = self.inst(row, Format::Mtbuf);
        inst.mem.format = bits(word, 19, 7) as u8;
        inst.mem.slc = if level.is_gfx11() {
            bit(word, 12)
        } else {
            bit(high, 22)
        };
        self.buffer(&mut inst, row, word, high)?;
        if level.has_unified_vgprs() {
            inst.mem.scc = bit(high, 21);
        }
        Ok(inst)
    }

    /// What untyped and typed buffer instructions share.
    fn buffer(&mut self, inst: &mut Inst, row: &Row, word: u32, high: u32) -> Result<()> {
        let level = self.level();
        let op = row.op;
        let typed = inst.format == Format::Mtbuf;
        let mut acc = false;
        inst.mem.glc = bit(word, 14);
        if level.is_gfx11() {
            inst.mem.dlc = bit(word, 13);
            inst.mem.tfe = bit(high, 21);
            inst.mem.offen = bit(high, 22);
            inst.mem.idxen = bit(high, 23);
        } else {
            inst.mem.offen = bit(word, 12);
            inst.mem.idxen = bit(word, 13);
            inst.mem.dlc = level.is_gfx10() && bit(word, 15);
            if level.has_unified_vgprs() {
                acc = bit(high, 23);
                inst.mem.scc = !typed && bit(word, 15);
            } else {
                inst.mem.tfe = bit(high, 23);
            }
        }
        if row.src[0].is_none() {
            // Cache control: only the coherence bits mean something.
            inst.mem.offen = false;
            inst.mem.idxen = false;
            inst.mem.tfe = false;
            inst.mem.lds = false;
            inst.mem.slc &= !level.is_gfx940_up();
            return Ok(());
        }
        inst.mem.offset = bits(word, 0, 12) as i32;
        let vdata = bits(high, 8, 8);
        let returns = !row.flags.contains(Flags::ATOMIC) || inst.mem.glc;
        let widened = |ty: Type| {
            if inst.mem.tfe {
                Type::B(ty.bits(64) as u16 + 32)
            } else {
                ty
            }
        };
        if let (Some(ty), true, false) = (row.dst.map(widened), returns, inst.mem.lds) {
            inst.dst = slot(self.vgpr_or_agpr(op, vdata, ty, acc)?, ty);
        }
        if let Some(ty) = row.src[1] {
            inst.src[1] = slot(self.vgpr_or_agpr(op, vdata, ty, acc)?, ty);
        }
        if inst.mem.offen || inst.mem.idxen {
            let both = inst.mem.offen && inst.mem.idxen;
            let ty = if both { Type::B(64) } else { Type::B(32) };
            inst.src[0] = self.vgpr_slot(op, bits(high, 0, 8), ty)?;
        }
        inst.src[2] = self.scalar_slot(op, bits(high, 16, 5) << 2, Type::B(128))?;
        let soffset = bits(high, 24, 8);
        if soffset >= 249 && !matches!(soffset, 251..=253) {
            return Err(DecodeError::ReservedOperand { op, code: soffset });
        }
        inst.src[3] = self.source_slot(op, soffset, Type::B(32))?;
        Ok(())
    }

    /// Number of address registers of an image operation of GFX10 and later: offset, bias and compare value first, then
    /// gradients, coordinates, and LOD, clamp or mip level. Coordinates are packed if addresses have 16 bits, gradients in the `g16` forms.
    pub(super) fn image_address_dwords(row: &Row, dim: u8, a16: bool) -> usize {
        if row.flags.contains(Flags::BVH) {
            let wide = row.op == Op::image_bvh64_intersect_ray;
            return 11 + usize::from(wide) - if a16 { 3 } else { 0 };
        }
        let address = ImageAddress::of(row.op);
        // Coordinates and derived ones of 1D, 2D, 3D, cube, 1D array, 2D array, 2D MSAA, 2D MSAA array.
        let (coordinates, dimensions) = [
            (1, 1),
            (2, 2),
            (3, 3),
            (3, 2),
            (2, 1),
            (3, 2),
            (3, 2),
            (4, 2),
        ][usize::from(dim & 7)];
        address.leading_registers()
            + address.gradient_registers(dimensions, address.half_gradients)
            + address.coordinate_registers(coordinates, a16)
    }

    pub(super) fn mimg(&mut self, word: u32) -> Result<Inst> {
        let level = self.level();
        let code = match level {
            _ if level.is_gfx9() => bits(word, 18, 7),
            _ if level.is_gfx10() => bits(word, 18, 7) | bits(word, 0, 1) << 7,
            _ => bits(word, 18, 8),
        };
        let row = self.row(Encoding::Mimg, code, word)?;
        let high = self.dword()?;
        let op = row.op;
        let mut inst = self.inst(row, Format::Mimg);
        self.mimg_controls(&mut inst, word, high);
        let mem = inst.mem;
        let vaddr = bits(high, 0, 8);
        let acc = level.has_unified_vgprs() && bit(word, 16);
        self.image_data(&mut inst, row, bits(high, 8, 8), acc)?;
        let nsa_dwords = match level {
            _ if level.is_gfx10() => bits(word, 1, 2),
            _ if level.is_gfx11() => bits(word, 0, 1),
            _ => 0,
        };
        if nsa_dwords != 0 {
            let mut registers = vec![vaddr as u8];
            for _ in 0..nsa_dwords {
                registers.extend(self.dword()?.to_le_bytes());
            }
            let count = if level.is_gfx11() && row.flags.contains(Flags::BVH) {
                self.ray_fields(op, &registers, mem.a16)?
            } else {
                Self::image_address_dwords(row, mem.dim, mem.a16)
            };
            // GFX11: the fifth field is the first of consecutive registers, when more are needed.
            while level.is_gfx11() && registers.len() >= 5 && registers.len() < count {
                let next = registers[registers.len() - 1].checked_add(1);
                registers.push(next.ok_or(DecodeError::OutOfRange {
                    op,
                    code: u32::from(registers[4]),
                    dwords: count as u32 - 4,
                })?);
            }
            if registers.len() < count {
                return Err(DecodeError::Invalid {
                    op,
                    what: "fewer address registers than the operation takes",
                });
            }
            registers.truncate(count);
            inst.nsa = Some(registers.into_boxed_slice());
        }
        let address = if level.is_gfx9() {
            Type::B(32 * least_address_dwords(op))
        } else if inst.nsa.is_some() {
            Type::B(32)
        } else {
            Type::B(32 * Self::image_address_dwords(row, mem.dim, mem.a16) as u16)
        };
        inst.src[0] = self.vgpr_slot(op, vaddr, address)?;
        inst.src[2] = self.scalar_slot(op, bits(high, 16, 5) << 2, image_resource(row))?;
        if row.flags.contains(Flags::SAMPLER) {
            let low = if level.is_gfx11() { 26 } else { 21 };
            inst.src[3] = self.scalar_slot(op, bits(high, low, 5) << 2, Type::B(128))?;
        }
        Ok(inst)
    }

    /// The data registers of an image instruction whose controls are known: one dword for each component of the mask, half of that for packed
    /// 16-bit data, one more for the fail code.
    pub(super) fn image_data(
        &self,
        inst: &mut Inst,
        row: &Row,
        vdata: u32,
        acc: bool,
    ) -> Result<()> {
        let mem = inst.mem;
        let components = if row.flags.contains(Flags::GATHER4) {
            4
        } else {
            u32::from(mem.dmask).count_ones().max(1)
        };
        let mut dwords = match () {
            () if row.flags.contains(Flags::BVH) => row.dst.map_or(4, |ty| ty.dwords(32)),
            () if mem.d16 => components.div_ceil(2),
            () => components,
        };
        let store = row.flags.contains(Flags::STORE);
        let atomic = row.flags.contains(Flags::ATOMIC);
        if mem.tfe && !store {
            dwords += 1;
        }
        let ty = Type::B(dwords as u16 * 32);
        if store || atomic {
            inst.src[1] = slot(self.vgpr_or_agpr(row.op, vdata, ty, acc)?, ty);
        }
        if !store && (!atomic || mem.glc) {
            inst.dst = slot(self.vgpr_or_agpr(row.op, vdata, ty, acc)?, ty);
        }
        Ok(())
    }

    fn mimg_controls(&self, inst: &mut Inst, word: u32, high: u32) {
        let level = self.level();
        let mem = &mut inst.mem;
        mem.dmask = bits(word, 8, 4) as u8;
        if level.is_gfx11() {
            mem.unorm = bit(word, 7);
            mem.dim = bits(word, 2, 3) as u8;
            mem.slc = bit(word, 12);
            mem.dlc = bit(word, 13);
            mem.glc = bit(word, 14);
            mem.r128 = bit(word, 15);
            mem.a16 = bit(word, 16);
            mem.d16 = bit(word, 17);
            mem.tfe = bit(high, 21);
            mem.lwe = bit(high, 22);
            return;
        }
        mem.unorm = bit(word, 12);
        mem.glc = bit(word, 13);
        // GFX90A has the accumulation VGPR bit in the place of tfe.
        mem.tfe = bit(word, 16) && !level.has_unified_vgprs();
        mem.lwe = bit(word, 17);
        mem.slc = bit(word, 25);
        mem.d16 = bit(high, 31);
        if level.is_gfx9() {
            mem.da = bit(word, 14);
            mem.a16 = bit(word, 15);
        } else {
            mem.dlc = bit(word, 7);
            mem.dim = bits(word, 3, 3) as u8;
            mem.r128 = bit(word, 15);
            mem.a16 = bit(high, 30);
        }
    }

    pub(super) fn export(&mut self, word: u32) -> Result<Inst> {
        let level = self.level();
        let row = self.row(Encoding::Exp, 0, word)?;
        let high = self.dword()?;
        let mut inst = self.inst(row, Format::Exp);
        let enable = bits(word, 0, 4);
        inst.simm16 = (bits(word, 4, 6) | enable << 8) as i16;
        let mut control = bits(word, 11, 1) << 1;
        if level < Level::Gfx11 {
            control |= bits(word, 10, 1) | bits(word, 12, 1) << 2;
        } else {
            control |= bits(word, 13, 1) << 3;
        }
        inst.imm32 = Some(control);
        // With compression the first two registers hold two components each.
        let present = match control & 1 {
            0 => enable,
            _ => u32::from(enable & 3 != 0) | u32::from(enable & 12 != 0) << 1,
        };
        for index in 0..4 {
            if bit(present, index) {
                let operand = self.vgpr(row.op, bits(high, index * 8, 8), Type::B(32))?;
                inst.src[index as usize] = OperandSlot {
                    operand,
                    ty: Type::B(32),
                };
            }
        }
        Ok(inst)
    }

    /// Temporal hint and scope of GFX12, as [`MemModifiers::cpol`](super::super::inst::MemModifiers) holds them; `low` is the lowest bit of
    /// the scope.
    pub(super) fn cache_policy(word: u32, low: u32) -> u8 {
        (bits(word, low + 2, 3) | bits(word, low, 2) << 3) as u8
    }
}
