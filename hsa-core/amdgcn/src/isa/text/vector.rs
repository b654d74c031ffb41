//! Text of the vector ALU encodings.

use super::super::inst::{Dpp, Format, Inst, Operand, OperandSlot, Sdwa, SdwaSel};
use super::super::op::Op;
use super::super::table::{Encoding, Flags, Level};
use super::{Printer, is};

fn sdwa_sel(sel: SdwaSel) -> &'static str {
    match sel {
        SdwaSel::Byte(0) => "BYTE_0",
        SdwaSel::Byte(1) => "BYTE_1",
        SdwaSel::Byte(2) => "BYTE_2",
        SdwaSel::Byte(_) => "BYTE_3",
        SdwaSel::Word(0) => "WORD_0",
        SdwaSel::Word(_) => "WORD_1",
        SdwaSel::Dword => "DWORD",
    }
}

/// `v_mad_mix` and `v_fma_mix`: VOP3P with the modifiers of VOP3.
fn is_mix(op: Op) -> bool {
    is(
        op,
        &[
            Op::v_mad_mix_f32,
            Op::v_mad_mixlo_f16,
            Op::v_mad_mixhi_f16,
            Op::v_fma_mix_f32,
            Op::v_fma_mixlo_f16,
            Op::v_fma_mixhi_f16,
        ],
    )
}

impl Printer<'_> {
    fn short_encoding(&self) -> Encoding {
        match self.inst.format {
            Format::Vop1 => Encoding::Vop1,
            Format::Vop2 => Encoding::Vop2,
            _ => Encoding::Vopc,
        }
    }

    pub(super) fn vector_short(&mut self) {
        let inst = self.inst;
        let encoding = self.short_encoding();
        let no_suffix = self.has_flag(encoding, Flags::NO_SUFFIX)
            || self.row(encoding).is_some_and(|row| row.dst.is_none());
        self.mnemonic(match (inst.sdwa, inst.dpp) {
            (Some(_), _) => "_sdwa",
            // LLVM gives compares of GFX11 and later no suffix.
            (_, Some(_)) if inst.format == Format::Vopc && self.level() >= Level::Gfx11 => "",
            (_, Some(_)) => "_dpp",
            _ if no_suffix => "",
            _ => "_e32",
        });
        // v_cmpx of GFX10 and later has no destination in its text.
        if !self.is_exec_compare() {
            self.slot(inst.dst);
            self.half(inst.dst, 3);
        }
        self.slot(inst.dst2);
        let flags = self.row(encoding).map_or(Flags::empty(), |row| row.flags);
        self.modified(inst.src[0], 0);
        if flags.contains(Flags::K_SECOND) {
            self.constant();
        }
        self.modified(inst.src[1], 1);
        if flags.contains(Flags::K_LAST) {
            self.constant();
        }
        self.slot(inst.src[2]);
        self.slot(inst.src[3]);
        if let Some(sdwa) = &inst.sdwa {
            self.sdwa(sdwa);
        }
        if let Some(dpp) = &inst.dpp {
            self.dpp(dpp);
        }
    }

    /// The half of a 16-bit register in a 32-bit encoding of GFX11 and later. LLVM 19 names low halves of `v_mov_b16` alone, and takes no
    /// others for an instruction.
    fn half(&mut self, slot: OperandSlot, bit: usize) {
        let short = matches!(self.inst.format, Format::Vop1 | Format::Vop2 | Format::Vopc);
        let register = matches!(slot.operand, Operand::Vgpr(_)) && slot.ty.bits(32) == 16;
        if self.level() < Level::Gfx11 || !short || !register {
            return;
        }
        if self.inst.alu.op_sel >> bit & 1 != 0 {
            self.push(".h");
        } else if self.inst.op == Op::v_mov_b16 {
            self.push(".l");
        }
    }

    fn is_exec_compare(&self) -> bool {
        !self.level().is_gfx9() && self.inst.op.name().starts_with("v_cmpx_")
    }

    /// The K of `v_madmk` and the like.
    pub(super) fn constant(&mut self) {
        let value = self.inst.imm32.unwrap_or(0);
        self.operand_text(&format!("{value:#x}"));
    }

    /// A source with its modifiers.
    fn modified(&mut self, slot: OperandSlot, index: usize) {
        if slot.operand == Operand::None {
            return;
        }
        self.separate();
        self.modified_value(slot, index);
    }

    fn modified_value(&mut self, slot: OperandSlot, index: usize) {
        let inst = self.inst;
        let neg = inst.alu.neg & (1 << index) != 0;
        let abs = inst.alu.abs & (1 << index) != 0;
        let sext = index < 2 && inst.sdwa.is_some_and(|sdwa| sdwa.sext[index]);
        let constant = matches!(
            slot.operand,
            Operand::Int(_) | Operand::Float(_) | Operand::Literal(_)
        );
        let call = neg && !abs && constant;
        if sext {
            self.push("sext(");
        }
        if neg {
            self.push(if call { "neg(" } else { "-" });
        }
        if abs {
            self.push("|");
        }
        self.value(slot);
        self.half(slot, index);
        if abs {
            self.push("|");
        }
        if call || sext {
            self.push(")");
        }
    }

    fn clamp_and_omod(&mut self) {
        let alu = self.inst.alu;
        self.flag(alu.clamp, "clamp");
        match alu.omod {
            1 => self.push(" mul:2"),
            2 => self.push(" mul:4"),
            3 => self.push(" div:2"),
            _ => {}
        }
    }

    fn sdwa(&mut self, sdwa: &Sdwa) {
        let inst = self.inst;
        self.clamp_and_omod();
        if inst.format != Format::Vopc {
            let unused = match sdwa.dst_unused {
                0 => "UNUSED_PAD",
                1 => "UNUSED_SEXT",
                _ => "UNUSED_PRESERVE",
            };
            self.write(format_args!(
                " dst_sel:{} dst_unused:{unused}",
                sdwa_sel(sdwa.dst_sel)
            ));
        }
        self.write(format_args!(" src0_sel:{}", sdwa_sel(sdwa.src0_sel)));
        if inst.src[1].operand != Operand::None {
            self.write(format_args!(" src1_sel:{}", sdwa_sel(sdwa.src1_sel)));
        }
    }

    fn dpp(&mut self, dpp: &Dpp) {
        if dpp.is_dpp8 {
            self.push(" dpp8:[");
            for lane in 0..8 {
                let separator = if lane == 0 { "" } else { "," };
                self.write(format_args!("{separator}{}", (dpp.ctrl >> (3 * lane)) & 7));
            }
            self.push("]");
            self.flag(dpp.fetch_inactive, "fi:1");
            return;
        }
        let ctrl = dpp.ctrl;
        let count = ctrl & 15;
        self.push(" ");
        match ctrl {
            0..=0xff => {
                let [a, b, c, d] = [0, 2, 4, 6].map(|low| (ctrl >> low) & 3);
                self.write(format_args!("quad_perm:[{a},{b},{c},{d}]"));
            }
            0x101..=0x10f => self.write(format_args!("row_shl:{count}")),
            0x111..=0x11f => self.write(format_args!("row_shr:{count}")),
            0x121..=0x12f => self.write(format_args!("row_ror:{count}")),
            0x130 => self.push("wave_shl:1"),
            0x134 => self.push("wave_rol:1"),
            0x138 => self.push("wave_shr:1"),
            0x13c => self.push("wave_ror:1"),
            0x140 => self.push("row_mirror"),
            0x141 => self.push("row_half_mirror"),
            0x142 => self.push("row_bcast:15"),
            0x143 => self.push("row_bcast:31"),
            0x150..=0x15f if self.level().is_gfx9() => {
                self.write(format_args!("row_newbcast:{count}"))
            }
            0x150..=0x15f => self.write(format_args!("row_share:{count}")),
            _ => self.write(format_args!("row_xmask:{count}")),
        }
        self.write(format_args!(
            " row_mask:{:#x} bank_mask:{:#x}",
            dpp.row_mask, dpp.bank_mask
        ));
        self.flag(dpp.bound_ctrl, "bound_ctrl:1");
        self.flag(dpp.fetch_inactive, "fi:1");
    }

    pub(super) fn vop3(&mut self) {
        let inst = self.inst;
        let own = self.row(Encoding::Vop3);
        let short = [Encoding::Vop1, Encoding::Vop2, Encoding::Vopc]
            .into_iter()
            .find_map(|encoding| self.row(encoding));
        let suffix = match (own, short) {
            (Some(row), _) => row.flags.contains(Flags::E64),
            (None, Some(row)) => row.dst.is_some(),
            (None, None) => false,
        };
        let flags = own.or(short).map_or(Flags::empty(), |row| row.flags);
        let dpp_suffix = match inst.dpp {
            Some(_) if own.is_some() => "_e64_dpp",
            Some(_) => "_e64_dpp",
            None if suffix => "_e64",
            None => "",
        };
        self.mnemonic(dpp_suffix);
        if flags.contains(Flags::INTERP) {
            self.vop3_interpolation();
            return;
        }
        if !self.is_exec_compare() {
            self.slot(inst.dst);
        }
        self.slot(inst.dst2);
        self.modified(inst.src[0], 0);
        self.modified(inst.src[1], 1);
        self.modified(inst.src[2], 2);
        if let (Op::v_permlane16_swap_b32 | Op::v_permlane32_swap_b32, true) =
            (inst.op, own.is_none())
        {
            self.flag(inst.alu.op_sel & 2 != 0, "bound_ctrl:1");
            self.flag(inst.alu.op_sel & 1 != 0, "fi:1");
            return;
        }
        if let (Op::v_bitop3_b16 | Op::v_bitop3_b32, Some(table @ 1..)) = (inst.op, inst.imm32) {
            self.push(" bitop3:");
            if table < 10 {
                self.write(format_args!("{table}"));
            } else {
                self.write(format_args!("{table:#x}"));
            }
        }
        let select = inst.alu.op_sel;
        let byte = match inst.op {
            Op::v_cvt_sr_fp8_f32 | Op::v_cvt_sr_bf8_f32 => Some(select >> 2 & 3),
            Op::v_cvt_f32_fp8 | Op::v_cvt_f32_bf8 => Some(select >> 1 & 1 | (select & 1) << 1),
            _ => None,
        };
        if let (Some(byte), true) = (byte, self.level() >= Level::Gfx12) {
            if byte != 0 {
                self.write(format_args!(" byte_sel:{byte}"));
            }
        } else if self.level() >= Level::Gfx12
            && is(inst.op, &[Op::v_cvt_pk_f32_fp8, Op::v_cvt_pk_f32_bf8])
        {
            self.bit_list("op_sel", &[select & 1, select >> 3 & 1], 0);
        } else if own
            .or(short)
            .is_some_and(|row| row.selects_halves(self.level()))
        {
            let sources = inst
                .src
                .iter()
                .take_while(|slot| slot.operand != Operand::None)
                .count();
            let control = flags.contains(Flags::OP_SEL_CONTROL);
            // The accumulator, and a third source that is not there, have a bit too.
            let sources = match inst.op {
                Op::v_fmac_f16
                | Op::v_cvt_sr_fp8_f32
                | Op::v_cvt_sr_bf8_f32
                | Op::v_cvt_scalef32_pk_fp4_f16
                | Op::v_cvt_scalef32_pk_fp4_bf16 => 3,
                _ => sources,
            };
            let mut list: Vec<u8> = (0..sources)
                .map(|index| (inst.alu.op_sel >> index) & 1)
                .collect();
            // Packed sources have no halves to choose.
            if is(inst.op, &[Op::v_dot2_f16_f16, Op::v_dot2_bf16_bf16]) {
                list[..2].fill(0);
            }
            if control {
                list.truncate(2);
            } else if !self.is_exec_compare() {
                list.push(inst.alu.op_sel >> 3 & 1);
            }
            self.bit_list("op_sel", &list, 0);
        }
        self.clamp_and_omod();
        if let Some(dpp) = &inst.dpp {
            self.dpp(dpp);
        }
    }

    /// ` name:[a,b,…]`, left out if all bits have the default.
    fn bit_list(&mut self, name: &str, list: &[u8], default: u8) {
        if list.iter().all(|bit| *bit == default) {
            return;
        }
        let list: Vec<String> = list.iter().map(u8::to_string).collect();
        self.write(format_args!(" {name}:[{}]", list.join(",")));
    }

    pub(super) fn vop3p(&mut self) {
        let inst = self.inst;
        let flags = self
            .row(Encoding::Vop3p)
            .or(self.row(Encoding::Vop3px2))
            .map_or(Flags::empty(), |row| row.flags);
        self.mnemonic("");
        self.slot(inst.dst);
        if flags.contains(Flags::MAI) {
            self.mai(inst, flags);
            return;
        }
        let mix = is_mix(inst.op);
        let sources = inst
            .src
            .iter()
            .take_while(|slot| slot.operand != Operand::None)
            .count();
        for index in 0..sources {
            if mix {
                self.modified(inst.src[index], index);
            } else {
                self.slot(inst.src[index]);
            }
        }
        let list = |mask: u8| {
            (0..sources)
                .map(|index| (mask >> index) & 1)
                .collect::<Vec<u8>>()
        };
        let alu = inst.alu;
        if inst.op.name().starts_with("v_swmmac") && alu.op_sel != 0 {
            self.write(format_args!(" index_key:{}", alu.op_sel));
        }
        // Of the wave matrix operations those with 16-bit results alone have halves.
        let halves = !flags.contains(Flags::WMMA)
            || is(
                inst.op,
                &[Op::v_wmma_f16_16x16x16_f16, Op::v_wmma_bf16_16x16x16_bf16],
            ) && self.level().is_gfx11();
        // LLVM 22 gives the fields of bytes and nibbles no halves.
        let dot = |bits: &str| inst.op.name().starts_with(bits);
        let halves =
            halves && !(self.level() == Level::Gfx950 && (dot("v_dot4_") || dot("v_dot8_")));
        if halves {
            self.bit_list("op_sel", &list(alu.op_sel), 0);
            self.bit_list("op_sel_hi", &list(alu.op_sel_hi), u8::from(!mix));
        }
        if !mix {
            self.bit_list("neg_lo", &list(alu.neg), 0);
            self.bit_list("neg_hi", &list(alu.abs), 0);
        }
        self.flag(alu.clamp, "clamp");
    }

    fn mai(&mut self, inst: &Inst, flags: Flags) {
        for slot in inst.src {
            self.slot(slot);
        }
        let alu = inst.alu;
        if let Some(scales) = &inst.vopd {
            self.slot(scales.src[0]);
            self.slot(scales.src[1]);
            let list = |mask: u8| [0, 1, 2].map(|index| mask >> index & 1);
            self.bit_list("op_sel", &list(scales.alu.op_sel), 0);
            self.bit_list("op_sel_hi", &list(scales.alu.op_sel_hi), 1);
        }
        if alu.cbsz != 0 {
            self.write(format_args!(" cbsz:{}", alu.cbsz));
        }
        if alu.abid != 0 {
            self.write(format_args!(" abid:{}", alu.abid));
        }
        if alu.blgp == 0 || flags.contains(Flags::SMFMAC) {
            return;
        }
        let double = inst.op.name().starts_with("v_mfma_f64");
        if double && self.level().is_gfx940_up() {
            let list = [0, 1, 2].map(|index| (alu.blgp >> index) & 1);
            self.bit_list("neg", &list, 0);
        } else {
            self.write(format_args!(" blgp:{}", alu.blgp));
        }
    }

    /// ` attr3.x` of an attribute operand.
    fn attribute(&mut self) {
        let attribute = self.inst.simm16 as u16;
        let channel = ["x", "y", "z", "w"][usize::from(attribute & 3)];
        self.operand_text(&format!("attr{}.{channel}", attribute >> 2));
    }

    /// The parameter of `v_interp_mov`.
    fn parameter(&mut self) {
        let text = match self.inst.imm32 {
            Some(0) => "p10".to_string(),
            Some(1) => "p20".to_string(),
            Some(2) => "p0".to_string(),
            Some(other) => format!("invalid_param_{other}"),
            None => return,
        };
        self.operand_text(&text);
    }

    pub(super) fn interpolation(&mut self) {
        let inst = self.inst;
        if self.level() >= Level::Gfx11 {
            return self.interpolation_gfx11();
        }
        self.mnemonic("_e32");
        self.slot(inst.dst);
        self.parameter();
        self.slot(inst.src[0]);
        self.attribute();
    }

    /// VINTERP and LDSDIR: a wait count at the end.
    fn interpolation_gfx11(&mut self) {
        let inst = self.inst;
        self.mnemonic("");
        self.slot(inst.dst);
        if let Some(wait) = inst.imm32 {
            if is(inst.op, &[Op::lds_param_load, Op::ds_param_load]) {
                self.attribute();
            }
            if self.level() >= Level::Gfx12 {
                let source = inst.alu.op_sel & 1;
                self.write(format_args!(" wait_va_vdst:{wait} wait_vm_vsrc:{source}"));
            } else {
                self.write(format_args!(" wait_vdst:{wait}"));
            }
            return;
        }
        for (index, slot) in inst.src.into_iter().enumerate().take(3) {
            self.modified(slot, index);
        }
        self.flag(inst.alu.clamp, "clamp");
        let list: Vec<u8> = (0..4).map(|bit| inst.alu.op_sel >> bit & 1).collect();
        self.bit_list("op_sel", &list, 0);
        self.write(format_args!(" wait_exp:{}", inst.simm16));
    }

    fn vop3_interpolation(&mut self) {
        let inst = self.inst;
        self.slot(inst.dst);
        self.parameter();
        self.modified(inst.src[0], 0);
        self.attribute();
        self.modified(inst.src[1], 1);
        self.flag(inst.alu.op_sel & 1 != 0, "high");
        self.clamp_and_omod();
    }

    /// Two operations, each with a prefix of its own; VCC is not named.
    pub(super) fn vopd(&mut self) {
        let first = self.inst;
        self.dual(first);
        if let Some(second) = &first.vopd {
            self.push(" :: ");
            self.operands = 0;
            self.dual(second);
        }
    }

    fn dual(&mut self, inst: &Inst) {
        let name = inst.op.name();
        self.write(format_args!(
            "v_dual_{}",
            name.strip_prefix("v_").unwrap_or(name)
        ));
        let constant = inst.imm32.map(|value| format!("{value:#x}"));
        self.slot(inst.dst);
        self.slot(inst.src[0]);
        if let (Some(value), Op::v_fmamk_f32) = (&constant, inst.op) {
            self.operand_text(value);
        }
        self.slot(inst.src[1]);
        if let (Some(value), Op::v_fmaak_f32) = (&constant, inst.op) {
            self.operand_text(value);
        }
    }
}
