//! Text of images and exports.

use super::super::decode::ray_registers;
use super::super::inst::{OperandSlot, Type};
use super::super::table::{Encoding, Flags, Level};
use super::{Operand, Printer};

/// Dimensions by the number that the instruction has.
const DIMENSIONS: [&str; 8] = [
    "1D",
    "2D",
    "3D",
    "CUBE",
    "1D_ARRAY",
    "2D_ARRAY",
    "2D_MSAA",
    "2D_MSAA_ARRAY",
];

/// Consecutive registers.
fn range(first: u8, dwords: usize) -> String {
    match dwords {
        1 => format!("v{first}"),
        _ => format!("v[{first}:{}]", usize::from(first) + dwords - 1),
    }
}

impl Printer<'_> {
    /// The flags of the operation, in whichever image encoding it stands.
    fn image_flags(&self) -> Flags {
        [Encoding::Mimg, Encoding::Vimage, Encoding::Vsample]
            .into_iter()
            .find_map(|encoding| self.row(encoding))
            .map_or(Flags::empty(), |row| row.flags)
    }

    /// The address registers that are not consecutive. From the field on that is the last of the encoding, they are.
    fn image_address(&mut self, registers: &[u8], flags: Flags) {
        let mem = self.inst.mem;
        let level = self.level();
        let mut names: Vec<String> = registers.iter().map(|&first| range(first, 1)).collect();
        if flags.contains(Flags::BVH) && level >= Level::Gfx11 {
            let widths = ray_registers(self.inst.op, mem.a16);
            names = registers
                .iter()
                .zip(widths)
                .filter(|(_, dwords)| *dwords != 0)
                .map(|(&first, dwords)| range(first, usize::from(dwords)))
                .collect();
        } else {
            let fields = match level {
                Level::Gfx12 if flags.contains(Flags::SAMPLER) => 4,
                Level::Gfx11 | Level::Gfx11_5 => 5,
                _ => usize::MAX,
            };
            if registers.len() > fields {
                names.truncate(fields - 1);
                names.push(range(registers[fields - 1], registers.len() + 1 - fields));
            }
        }
        self.operand_text(&format!("[{}]", names.join(", ")));
    }

    pub(super) fn image(&mut self) {
        let inst = self.inst;
        let mem = inst.mem;
        let level = self.level();
        let flags = self.image_flags();
        self.mnemonic("");
        let mut data = inst.dst;
        if inst.src[1].operand != Operand::None {
            data = inst.src[1];
            if mem.tfe && flags.contains(Flags::STORE) {
                data.ty = Type::B(data.ty.bits(64) as u16 + 32);
            }
        }
        // What LLVM prints.
        if inst.nsa.is_some() && flags.contains(Flags::SAMPLER) && level < Level::Gfx12 {
            self.push(" ");
        }
        self.slot(data);
        match &inst.nsa {
            Some(registers) => self.image_address(registers, flags),
            None => self.slot(inst.src[0]),
        }
        self.slot(inst.src[2]);
        self.slot(inst.src[3]);
        if flags.contains(Flags::BVH) {
            self.flag(mem.a16, "a16");
            return;
        }
        if mem.dmask != 0 {
            self.write(format_args!(" dmask:{:#x}", mem.dmask));
        }
        if !level.is_gfx9() {
            let dimension = DIMENSIONS[usize::from(mem.dim & 7)];
            self.write(format_args!(" dim:SQ_RSRC_IMG_{dimension}"));
        }
        self.flag(mem.unorm, "unorm");
        self.coherence();
        self.flag(mem.r128, "r128");
        self.flag(mem.a16, "a16");
        self.flag(mem.tfe, "tfe");
        self.flag(mem.lwe, "lwe");
        self.flag(mem.da, "da");
        self.flag(mem.d16, "d16");
    }

    pub(super) fn export(&mut self) {
        let inst = self.inst;
        self.mnemonic("");
        let target = inst.simm16 as u16 & 0x3f;
        let gfx11 = self.level() >= Level::Gfx11;
        let text = match target {
            0..=7 => format!("mrt{target}"),
            8 => "mrtz".to_string(),
            9 if !gfx11 => "null".to_string(),
            12..=15 => format!("pos{}", target - 12),
            16 if !self.level().is_gfx9() => "pos4".to_string(),
            20 if !self.level().is_gfx9() => "prim".to_string(),
            21 | 22 if gfx11 => format!("dual_src_blend{}", target - 21),
            32..=63 if !gfx11 => format!("param{}", target - 32),
            _ => format!("invalid_target_{target}"),
        };
        let control = inst.imm32.unwrap_or(0);
        self.push(" ");
        self.push(&text);
        // With compression the first two registers hold two components each.
        let compressed = control & 1 != 0;
        let enabled = inst.simm16 >> 8;
        for index in 0..4 {
            let register = if compressed {
                inst.src[index / 2]
            } else {
                inst.src[index]
            };
            let on = enabled >> index & 1 != 0;
            self.slot_or_off(if on { register } else { OperandSlot::NONE });
        }
        self.flag(control & 2 != 0, "done");
        self.flag(control & 1 != 0, "compr");
        self.flag(control & 4 != 0, "vm");
        self.flag(control & 8 != 0, "row_en");
    }
}
