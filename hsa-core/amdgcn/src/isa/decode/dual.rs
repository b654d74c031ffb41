//! VOPD: pairs of operations of GFX11 and later.

use super::super::inst::{Format, Inst, Type};
use super::super::op::Op;
use super::super::table::Level;
use super::{Reader, Result, bits};

impl Reader<'_> {
    pub(super) fn vopd(&mut self, word: u32) -> Result<Inst> {
        let high = self.dword()?;
        let (dst_x, dst_y) = (bits(high, 24, 8), bits(high, 17, 7) << 1);
        let x = bits(word, 22, 4);
        let y = bits(word, 17, 5);
        let sources = |word: u32| (bits(word, 0, 9), bits(word, 9, 8));
        let mut first = self.dual(word, x, sources(word), dst_x)?;
        // The destinations are of different parity: the lowest bit of the second is not stored.
        let second = self.dual(word, y, sources(high), dst_y | !dst_x & 1)?;
        first.vopd = Some(Box::new(second));
        Ok(first)
    }

    /// One operation of a pair.
    fn dual(&mut self, word: u32, code: u32, (src0, vsrc1): (u32, u32), vdst: u32) -> Result<Inst> {
        let gfx12 = self.level() >= Level::Gfx12;
        let op = match code {
            0 => Op::v_fmac_f32,
            1 => Op::v_fmaak_f32,
            2 => Op::v_fmamk_f32,
            3 => Op::v_mul_f32,
            4 => Op::v_add_f32,
            5 => Op::v_sub_f32,
            6 => Op::v_subrev_f32,
            7 => Op::v_mul_dx9_zero_f32,
            8 => Op::v_mov_b32,
            9 => Op::v_cndmask_b32,
            10 if gfx12 => Op::v_max_num_f32,
            11 if gfx12 => Op::v_min_num_f32,
            10 => Op::v_max_f32,
            11 => Op::v_min_f32,
            12 => Op::v_dot2acc_f32_f16,
            13 => Op::v_dot2acc_f32_bf16,
            16 => Op::v_add_nc_u32,
            17 => Op::v_lshlrev_b32,
            18 => Op::v_and_b32,
            _ => return self.unknown_encoding(word),
        };
        let ty = match op {
            Op::v_mov_b32 | Op::v_cndmask_b32 | Op::v_lshlrev_b32 | Op::v_and_b32 => Type::B(32),
            Op::v_add_nc_u32 => Type::U(32),
            _ => Type::F(32),
        };
        let source_ty = if matches!(op, Op::v_dot2acc_f32_f16 | Op::v_dot2acc_f32_bf16) {
            Type::Packed(32)
        } else {
            ty
        };
        let mut inst = self.inst_of(op, Format::Vopd);
        inst.src[0] = self.source_slot(op, src0, source_ty)?;
        if op != Op::v_mov_b32 {
            inst.src[1] = self.vgpr_slot(op, vsrc1, source_ty)?;
        }
        if op == Op::v_cndmask_b32 {
            inst.src[2] = Self::vcc();
        }
        if matches!(op, Op::v_fmaak_f32 | Op::v_fmamk_f32) {
            inst.imm32 = Some(self.literal()?);
        }
        inst.dst = self.vgpr_slot(op, vdst, ty)?;
        Ok(inst)
    }
}
