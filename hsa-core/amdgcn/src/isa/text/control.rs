//! Text of the scalar ALU and program control encodings.

use super::super::inst::Format;
use super::super::op::Op;
use super::super::table::{Encoding, Flags, Level};
use super::Printer;

/// Name of a hardware register (`hwreg`), by number.
fn hardware_register(level: Level, id: u16) -> Option<&'static str> {
    if level >= Level::Gfx12 {
        return hardware_register_gfx12(id);
    }
    Some(match id {
        1 => "HW_REG_MODE",
        2 => "HW_REG_STATUS",
        3 => "HW_REG_TRAPSTS",
        4 if level.is_gfx9() => "HW_REG_HW_ID",
        5 => "HW_REG_GPR_ALLOC",
        6 => "HW_REG_LDS_ALLOC",
        7 => "HW_REG_IB_STS",
        15 => "HW_REG_SH_MEM_BASES",
        16 if level < Level::Gfx11 => "HW_REG_TBA_LO",
        17 if level < Level::Gfx11 => "HW_REG_TBA_HI",
        18 if level < Level::Gfx11 => "HW_REG_TMA_LO",
        19 if level < Level::Gfx11 => "HW_REG_TMA_HI",
        20 if level.is_gfx940_up() => "HW_REG_XCC_ID",
        20 if !level.is_gfx9() => "HW_REG_FLAT_SCR_LO",
        21 if level.is_gfx940_up() => "HW_REG_SQ_PERF_SNAPSHOT_DATA",
        21 if !level.is_gfx9() => "HW_REG_FLAT_SCR_HI",
        22 if level.is_gfx940_up() => "HW_REG_SQ_PERF_SNAPSHOT_DATA1",
        22 if level.is_gfx10_1() => "HW_REG_XNACK_MASK",
        18 if level.is_gfx11() => "HW_REG_PERF_SNAPSHOT_PC_LO",
        19 if level.is_gfx11() => "HW_REG_PERF_SNAPSHOT_PC_HI",
        27 if level.is_gfx11() => "HW_REG_PERF_SNAPSHOT_DATA",
        23 if level.is_gfx940_up() => "HW_REG_SQ_PERF_SNAPSHOT_PC_LO",
        23 if !level.is_gfx9() => "HW_REG_HW_ID1",
        24 if level.is_gfx940_up() => "HW_REG_SQ_PERF_SNAPSHOT_PC_HI",
        24 if !level.is_gfx9() => "HW_REG_HW_ID2",
        25 if level.is_gfx10() => "HW_REG_POPS_PACKER",
        29 if matches!(level, Level::Gfx10_3 | Level::Gfx11 | Level::Gfx11_5) => {
            "HW_REG_SHADER_CYCLES"
        }
        _ => return None,
    })
}

/// The same for GFX12, which numbers them anew.
fn hardware_register_gfx12(id: u16) -> Option<&'static str> {
    Some(match id {
        1 => "HW_REG_MODE",
        2 => "HW_REG_STATUS",
        4 => "HW_REG_STATE_PRIV",
        5 => "HW_REG_GPR_ALLOC",
        6 => "HW_REG_LDS_ALLOC",
        7 => "HW_REG_IB_STS",
        10 => "HW_REG_PERF_SNAPSHOT_DATA",
        11 => "HW_REG_PERF_SNAPSHOT_PC_LO",
        12 => "HW_REG_PERF_SNAPSHOT_PC_HI",
        15 => "HW_REG_PERF_SNAPSHOT_DATA1",
        16 => "HW_REG_PERF_SNAPSHOT_DATA2",
        17 => "HW_REG_EXCP_FLAG_PRIV",
        18 => "HW_REG_EXCP_FLAG_USER",
        19 => "HW_REG_TRAP_CTRL",
        20 => "HW_REG_SCRATCH_BASE_LO",
        21 => "HW_REG_SCRATCH_BASE_HI",
        23 => "HW_REG_HW_ID1",
        24 => "HW_REG_HW_ID2",
        29 => "HW_REG_SHADER_CYCLES_LO",
        30 => "HW_REG_SHADER_CYCLES_HI",
        31 => "HW_REG_DVGPR_ALLOC_LO",
        32 => "HW_REG_DVGPR_ALLOC_HI",
        _ => return None,
    })
}

impl Printer<'_> {
    pub(super) fn scalar_alu(&mut self) {
        let inst = self.inst;
        self.mnemonic("");
        match inst.format {
            Format::Sopk => self.sopk(),
            Format::Sopp => self.sopp(),
            _ => self.sop(),
        }
    }

    fn sop(&mut self) {
        let inst = self.inst;
        let encoding = match inst.format {
            Format::Sop1 => Encoding::Sop1,
            Format::Sop2 => Encoding::Sop2,
            _ => Encoding::Sopc,
        };
        let flags = self.row(encoding).map_or(Flags::empty(), |row| row.flags);
        self.slot(inst.dst);
        self.slot(inst.src[0]);
        if flags.contains(Flags::K_SECOND) {
            self.constant();
        }
        self.slot(inst.src[1]);
        if flags.contains(Flags::K_LAST) {
            self.constant();
        }
        if flags.contains(Flags::IMM_SRC1) {
            self.gpr_index_mode(inst.simm16 as u16);
        }
        if flags.contains(Flags::MSG) {
            self.message_with_result(inst.simm16 as u16);
        }
    }

    /// Which operands `s_set_gpr_idx_*` indexes.
    fn gpr_index_mode(&mut self, mode: u16) {
        if mode & !15 != 0 {
            self.operand_text(&format!("{mode:#x}"));
            return;
        }
        let names = ["SRC0", "SRC1", "SRC2", "DST"];
        let set: Vec<&str> = (0..4)
            .filter(|bit| mode >> bit & 1 != 0)
            .map(|bit| names[bit])
            .collect();
        self.operand_text(&format!("gpr_idx({})", set.join(",")));
    }

    fn sopk(&mut self) {
        let inst = self.inst;
        let flags = self
            .row(Encoding::Sopk)
            .map_or(Flags::empty(), |row| row.flags);
        let imm = inst.simm16 as u16;
        if inst.op == Op::s_setreg_b32 || inst.op == Op::s_setreg_imm32_b32 {
            self.hardware_register(imm);
            self.slot(inst.src[0]);
            if let Some(value) = inst.imm32 {
                self.separate();
                self.plain_literal(value, super::Type::B(32));
            }
            return;
        }
        self.slot(inst.dst);
        self.slot(inst.src[0]);
        if flags.contains(Flags::HWREG) {
            self.hardware_register(imm);
        } else if flags.contains(Flags::BRANCH) {
            self.operand_text(&imm.to_string());
        } else if inst.op == Op::s_version {
            self.immediate(imm);
        } else {
            self.operand_text(&format!("{imm:#x}"));
        }
    }

    fn hardware_register(&mut self, imm: u16) {
        let (id, offset, width) = (imm & 63, imm >> 6 & 31, (imm >> 11) + 1);
        self.separate();
        match hardware_register(self.level(), id) {
            Some(name) => self.write(format_args!("hwreg({name}")),
            None => self.write(format_args!("hwreg({id}")),
        }
        if offset != 0 || width != 32 {
            self.write(format_args!(", {offset}, {width}"));
        }
        self.push(")");
    }

    fn sopp(&mut self) {
        let inst = self.inst;
        let imm = inst.simm16 as u16;
        if self.has_flag(Encoding::Sopp, Flags::NO_IMM) {
            return;
        }
        match inst.op {
            Op::s_endpgm if imm == 0 => {}
            Op::s_waitcnt => self.waitcnt(imm),
            Op::s_sendmsg | Op::s_sendmsghalt => self.message(imm),
            Op::s_set_gpr_idx_mode => self.gpr_index_mode(imm),
            Op::s_clause
            | Op::s_inst_prefetch
            | Op::s_set_inst_prefetch_distance
            | Op::s_ttracedata_imm
            | Op::s_round_mode => {
                self.operand_text(&format!("{imm:#x}"));
            }
            Op::s_waitcnt_depctr | Op::s_wait_alu => self.depctr(imm),
            Op::s_singleuse_vdst
            | Op::s_wait_loadcnt
            | Op::s_wait_storecnt
            | Op::s_wait_samplecnt
            | Op::s_wait_bvhcnt
            | Op::s_wait_expcnt
            | Op::s_wait_dscnt
            | Op::s_wait_kmcnt
            | Op::s_wait_loadcnt_dscnt
            | Op::s_wait_storecnt_dscnt => self.operand_text(&format!("{imm:#x}")),
            Op::s_delay_alu => self.delay(imm),
            Op::s_wait_event => self.operand_text(&format!("{imm:#x}")),
            Op::s_endpgm => self.operand_text(&imm.to_string()),
            _ if self.has_flag(Encoding::Sopp, Flags::BRANCH) => {
                self.operand_text(&imm.to_string())
            }
            _ => self.immediate(imm),
        }
    }

    /// What the next operations depend on: three fields, those that are 0 left out.
    fn delay(&mut self, imm: u16) {
        const DEPENDENCIES: [&str; 12] = [
            "NO_DEP",
            "VALU_DEP_1",
            "VALU_DEP_2",
            "VALU_DEP_3",
            "VALU_DEP_4",
            "TRANS32_DEP_1",
            "TRANS32_DEP_2",
            "TRANS32_DEP_3",
            "FMA_ACCUM_CYCLE_1",
            "SALU_CYCLE_1",
            "SALU_CYCLE_2",
            "SALU_CYCLE_3",
        ];
        const SKIPS: [&str; 6] = ["SAME", "NEXT", "SKIP_1", "SKIP_2", "SKIP_3", "SKIP_4"];
        let name = |names: &[&'static str], value: u16, bad: &'static str| {
            names.get(usize::from(value)).copied().unwrap_or(bad)
        };
        let mut parts = Vec::new();
        let (first, skip, second) = (imm & 15, imm >> 4 & 7, imm >> 7 & 15);
        let bad = "/* invalid instid value */";
        if first != 0 {
            parts.push(format!("instid0({})", name(&DEPENDENCIES, first, bad)));
        }
        if skip != 0 {
            let bad = "/* invalid instskip value */";
            parts.push(format!("instskip({})", name(&SKIPS, skip, bad)));
        }
        if second != 0 {
            parts.push(format!("instid1({})", name(&DEPENDENCIES, second, bad)));
        }
        self.operand_text(&if parts.is_empty() {
            "0".to_string()
        } else {
            parts.join(" | ")
        });
    }

    fn waitcnt(&mut self, imm: u16) {
        let level = self.level();
        let (vm, vm_max, exp, lgkm, lgkm_max) = if level >= Level::Gfx11 {
            (imm >> 10 & 63, 63, imm & 7, imm >> 4 & 63, 63)
        } else {
            let lgkm_max = if level.is_gfx9() { 15 } else { 63 };
            (
                imm & 15 | imm >> 10 & 0x30,
                63,
                imm >> 4 & 7,
                imm >> 8 & lgkm_max,
                lgkm_max,
            )
        };
        let all = vm == vm_max && exp == 7 && lgkm == lgkm_max;
        self.push(" ");
        let mut parts = Vec::new();
        if vm != vm_max || all {
            parts.push(format!("vmcnt({vm})"));
        }
        if exp != 7 || all {
            parts.push(format!("expcnt({exp})"));
        }
        if lgkm != lgkm_max || all {
            parts.push(format!("lgkmcnt({lgkm})"));
        }
        self.push(&parts.join(" "));
    }

    fn message(&mut self, imm: u16) {
        let level = self.level();
        let gfx11 = level >= Level::Gfx11;
        let id = if gfx11 { imm & 0xff } else { imm & 0xf };
        let (op, stream) = if gfx11 {
            (0, 0)
        } else {
            (imm >> 4 & 7, imm >> 8 & 3)
        };
        let name = match id {
            1 => "MSG_INTERRUPT",
            2 if gfx11 => "MSG_HS_TESSFACTOR",
            2 => "MSG_GS",
            3 if gfx11 => "MSG_DEALLOC_VGPRS",
            3 => "MSG_GS_DONE",
            4 => "MSG_SAVEWAVE",
            5 if !gfx11 => "MSG_STALL_WAVE_GEN",
            6 if !gfx11 => "MSG_HALT_WAVES",
            7 if !gfx11 => "MSG_ORDERED_PS_DONE",
            8 if !gfx11 && level.is_gfx9() => "MSG_EARLY_PRIM_DEALLOC",
            9 => "MSG_GS_ALLOC_REQ",
            10 if !gfx11 => "MSG_GET_DOORBELL",
            11 if level.is_gfx10() => "MSG_GET_DDID",
            15 if !gfx11 => "MSG_SYSMSG",
            _ => "",
        };
        // Text by numbers if the fields hold the whole value.
        let numbers = if gfx11 {
            if imm == id {
                format!("sendmsg({id}, 0, 0)")
            } else {
                imm.to_string()
            }
        } else if imm & !0x37f == 0 {
            format!("sendmsg({id}, {op}, {stream})")
        } else {
            imm.to_string()
        };
        if name.is_empty() || imm.to_string() == numbers {
            self.operand_text(&numbers);
            return;
        }
        let gs = ["GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"];
        let sys = [
            "",
            "SYSMSG_OP_ECC_ERR_INTERRUPT",
            "SYSMSG_OP_REG_RD",
            "SYSMSG_OP_HOST_TRAP_ACK",
            "SYSMSG_OP_TTRACE_PC",
        ];
        let text = match (name, op) {
            ("MSG_GS", 1..=3) => format!("{name}, {}, {stream}", gs[usize::from(op)]),
            ("MSG_GS_DONE", 0) if stream == 0 => format!("{name}, GS_OP_NOP"),
            ("MSG_GS_DONE", 1..=3) => format!("{name}, {}, {stream}", gs[usize::from(op)]),
            ("MSG_SYSMSG", 1..=4) if stream == 0 => format!("{name}, {}", sys[usize::from(op)]),
            ("MSG_GS" | "MSG_GS_DONE" | "MSG_SYSMSG", _) => return self.operand_text(&numbers),
            (_, 0) if stream == 0 => name.to_string(),
            _ => return self.operand_text(&numbers),
        };
        self.operand_text(&format!("sendmsg({text})"));
    }

    fn message_with_result(&mut self, imm: u16) {
        let name = match imm {
            128 => "MSG_RTN_GET_DOORBELL",
            129 => "MSG_RTN_GET_DDID",
            130 => "MSG_RTN_GET_TMA",
            131 => "MSG_RTN_GET_REALTIME",
            132 => "MSG_RTN_SAVE_WAVE",
            133 => "MSG_RTN_GET_TBA",
            134 => "MSG_RTN_GET_TBA_TO_PC",
            135 => "MSG_RTN_GET_SE_AID_ID",
            _ => return self.operand_text(&format!("sendmsg({imm}, 0, 0)")),
        };
        self.operand_text(&format!("sendmsg({name})"));
    }

    /// Dependency counters: those that are not at their most permissive value.
    fn depctr(&mut self, imm: u16) {
        // Name, lowest bit, number of bits. GFX10.1 does not have the first.
        const FIELDS: [(&str, u16, u16); 7] = [
            ("hold_cnt", 7, 1),
            ("sa_sdst", 0, 1),
            ("va_vdst", 12, 4),
            ("va_sdst", 9, 3),
            ("va_ssrc", 8, 1),
            ("va_vcc", 1, 1),
            ("vm_vsrc", 2, 3),
        ];
        let fields = &FIELDS[usize::from(self.level().is_gfx10_1())..];
        let named = fields
            .iter()
            .fold(0u16, |all, (_, low, count)| all | ((1 << count) - 1) << low);
        if imm & !named != 0 {
            self.operand_text(&format!("{imm:#x}"));
            return;
        }
        for &(name, low, count) in fields {
            let most = (1 << count) - 1;
            let value = imm >> low & most;
            if value != most || imm == named {
                self.write(format_args!(" depctr_{name}({value})"));
            }
        }
    }
}
