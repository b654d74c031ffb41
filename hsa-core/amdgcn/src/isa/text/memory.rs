//! Text of the memory encodings.

use super::super::inst::{Format, Operand, Type};
use super::super::op::Op;
use super::super::table::{Encoding, Flags, Level};
use super::{Printer, is};

const DATA_FORMATS: [&str; 16] = [
    "INVALID",
    "8",
    "16",
    "8_8",
    "32",
    "16_16",
    "10_11_11",
    "11_11_10",
    "10_10_10_2",
    "2_10_10_10",
    "8_8_8_8",
    "32_32",
    "16_16_16_16",
    "32_32_32",
    "32_32_32_32",
    "RESERVED_15",
];

const NUMBER_FORMATS: [&str; 8] = [
    "UNORM",
    "SNORM",
    "USCALED",
    "SSCALED",
    "UINT",
    "SINT",
    "RESERVED_6",
    "FLOAT",
];

/// Unified formats of GFX10: the data format and how many of the number formats it has, in the order of
/// [`UNIFIED_NUMBERS`].
const UNIFIED_GFX10: &[(&str, &[&str])] = &[
    ("8", SIX),
    ("16", SEVEN),
    ("8_8", SIX),
    ("32", WHOLE),
    ("16_16", SEVEN),
    ("10_11_11", SEVEN),
    ("11_11_10", SEVEN),
    ("10_10_10_2", SIX),
    ("2_10_10_10", SIX),
    ("8_8_8_8", SIX),
    ("32_32", WHOLE),
    ("16_16_16_16", SEVEN),
    ("32_32_32", WHOLE),
    ("32_32_32_32", WHOLE),
];

/// Unified formats of GFX11 and later.
const UNIFIED_GFX11: &[(&str, &[&str])] = &[
    ("8", SIX),
    ("16", SEVEN),
    ("8_8", SIX),
    ("32", WHOLE),
    ("16_16", SEVEN),
    ("10_11_11", &["FLOAT"]),
    ("11_11_10", &["FLOAT"]),
    ("10_10_10_2", &["UNORM", "SNORM", "UINT", "SINT"]),
    ("2_10_10_10", SIX),
    ("8_8_8_8", SIX),
    ("32_32", WHOLE),
    ("16_16_16_16", SEVEN),
    ("32_32_32", WHOLE),
    ("32_32_32_32", WHOLE),
];

/// Number formats of the unified formats.
const SIX: &[&str] = &["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT"];
const SEVEN: &[&str] = &[
    "UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "FLOAT",
];
const WHOLE: &[&str] = &["UINT", "SINT", "FLOAT"];

/// Name of a unified format; format 0 is invalid.
fn unified_name(formats: &[(&str, &[&str])], format: u8) -> Option<String> {
    let mut left = usize::from(format).checked_sub(1)?;
    for (data, numbers) in formats {
        if let Some(number) = numbers.get(left) {
            return Some(format!("BUF_FMT_{data}_{number}"));
        }
        left -= numbers.len();
    }
    None
}

impl Printer<'_> {
    /// Coherence bits.
    pub(super) fn coherence(&mut self) {
        let mem = self.inst.mem;
        if self.level() >= Level::Gfx12 {
            return self.cache_policy(mem.cpol);
        }
        if self.level().is_gfx940_up() && self.inst.format != Format::Smem {
            self.flag(mem.glc, "sc0");
            self.flag(mem.slc, "nt");
            self.flag(mem.scc, "sc1");
            return;
        }
        self.flag(mem.glc, "glc");
        self.flag(mem.slc, "slc");
        self.flag(mem.dlc, "dlc");
        self.flag(mem.scc, "scc");
    }

    /// Temporal hint and scope of GFX12.
    fn cache_policy(&mut self, policy: u8) {
        let (hint, scope) = (policy & 7, policy >> 3 & 3);
        let name = self.inst.op.name();
        let store = name.contains("_store");
        if hint != 0 && name.contains("_atomic") {
            let returns = if hint & 1 != 0 { "_RETURN" } else { "" };
            let kind = match hint {
                4.. if scope >= 2 && hint & 2 != 0 => "CASCADE_NT".to_string(),
                4.. if scope >= 2 => "CASCADE_RT".to_string(),
                4.. => format!("{hint:#x}"),
                2.. => format!("NT{returns}"),
                _ => "RETURN".to_string(),
            };
            self.write(format_args!(" th:TH_ATOMIC_{kind}"));
        } else if hint != 0 {
            let kind = match hint {
                1 => "NT",
                2 => "HT",
                3 if scope == 3 => "BYPASS",
                3 if store => "RT_WB",
                3 => "LU",
                4 => "NT_RT",
                5 => "RT_NT",
                6 => "NT_HT",
                _ if store => "NT_WB",
                _ => "",
            };
            if kind.is_empty() {
                self.write(format_args!(" th:{hint:#x}"));
            } else {
                let access = if store { "STORE" } else { "LOAD" };
                self.write(format_args!(" th:TH_{access}_{kind}"));
            }
        }
        if scope != 0 {
            let scope = ["", "SE", "DEV", "SYS"][usize::from(scope)];
            self.write(format_args!(" scope:SCOPE_{scope}"));
        }
    }

    /// Prefetches of GFX12: base, offset, scalar offset, length.
    fn prefetch(&mut self) {
        let inst = self.inst;
        self.slot(inst.src[0]);
        let offset = inst.mem.offset;
        let sign = if offset < 0 { "-" } else { "" };
        self.operand_text(&format!("{sign}{:#x}", offset.unsigned_abs()));
        if inst.src[3].operand == Operand::None {
            self.operand_text("null");
        } else {
            self.slot(inst.src[3]);
        }
        self.operand_text(&inst.simm16.to_string());
    }

    pub(super) fn smem(&mut self) {
        let inst = self.inst;
        self.mnemonic("");
        let flags = self
            .row(Encoding::Smem)
            .map_or(Flags::empty(), |row| row.flags);
        let prefetch = inst.op.name().contains("prefetch");
        if prefetch && self.level() >= Level::Gfx12 {
            return self.prefetch();
        }
        if flags.contains(Flags::IMM_SDATA) {
            self.immediate(inst.simm16 as u16);
        }
        // Stores and atomics print their data in the place of the destination.
        if inst.src[1].operand == Operand::None {
            self.slot(inst.dst);
        } else {
            self.slot(inst.src[1]);
        }
        if inst.src[0].operand == Operand::None {
            return;
        }
        self.slot(inst.src[0]);
        let offset = inst.mem.offset;
        let sign = if offset < 0 { "-" } else { "" };
        let magnitude = offset.unsigned_abs();
        let null_alone = self.level().is_gfx10() || self.level().is_gfx11();
        if inst.src[3].operand == Operand::None && offset == 0 && null_alone {
            // GFX10 and GFX11 have the offset register always; its null is what LLVM prints alone.
            self.operand_text("null");
        } else if inst.src[3].operand == Operand::None {
            self.operand_text(&format!("{sign}{magnitude:#x}"));
        } else {
            self.slot(inst.src[3]);
            if offset != 0 || inst.mem.has_offset {
                self.write(format_args!(" offset:{sign}{magnitude:#x}"));
            }
        }
        if !is(
            inst.op,
            &[
                Op::s_dcache_discard,
                Op::s_dcache_discard_x2,
                Op::s_atc_probe,
                Op::s_atc_probe_buffer,
            ],
        ) {
            self.coherence();
        }
    }

    pub(super) fn ds(&mut self) {
        let inst = self.inst;
        let mem = inst.mem;
        let flags = self
            .row(Encoding::Ds)
            .map_or(Flags::empty(), |row| row.flags);
        self.mnemonic("");
        self.slot(inst.dst);
        for slot in inst.src {
            self.slot(slot);
        }
        if flags.contains(Flags::TWO_OFFSETS) {
            if mem.offset != 0 {
                self.write(format_args!(" offset0:{}", mem.offset));
            }
            if mem.offset1 != 0 {
                self.write(format_args!(" offset1:{}", mem.offset1));
            }
        } else if flags.contains(Flags::SWIZZLE) {
            self.swizzle(mem.offset as u32);
        } else if mem.offset != 0 {
            self.write(format_args!(" offset:{}", mem.offset));
        }
        self.flag(mem.gds, "gds");
    }

    /// The pattern of `ds_swizzle_b32`.
    fn swizzle(&mut self, pattern: u32) {
        if pattern == 0 {
            return;
        }
        self.push(" offset:");
        if pattern & 0xff00 == 0x8000 {
            let [a, b, c, d] = [0, 2, 4, 6].map(|low| (pattern >> low) & 3);
            self.write(format_args!("swizzle(QUAD_PERM,{a},{b},{c},{d})"));
            return;
        }
        if pattern & 0x8000 != 0 {
            self.write(format_args!("{pattern}"));
            return;
        }
        let (and, or, xor) = (pattern & 31, (pattern >> 5) & 31, (pattern >> 10) & 31);
        if and == 31 && or == 0 && xor.is_power_of_two() {
            self.write(format_args!("swizzle(SWAP,{xor})"));
        } else if and == 31 && or == 0 && xor > 0 && (xor + 1).is_power_of_two() {
            self.write(format_args!("swizzle(REVERSE,{})", xor + 1));
        } else {
            let group = 32 - and;
            if group > 1 && group.is_power_of_two() && or < group && xor == 0 {
                self.write(format_args!("swizzle(BROADCAST,{group},{or})"));
                return;
            }
            self.push("swizzle(BITMASK_PERM,\"");
            for position in (0..5).rev() {
                let bit = 1 << position;
                // What the bit becomes if it is 0, and if it is 1.
                let zero = ((or ^ xor) & bit) != 0;
                let one = (((and & bit) | or) ^ xor) & bit != 0;
                self.push(match (zero, one) {
                    (false, false) => "0",
                    (true, true) => "1",
                    (false, true) => "p",
                    (true, false) => "i",
                });
            }
            self.push("\")");
        }
    }

    pub(super) fn flat(&mut self) {
        let inst = self.inst;
        let mem = inst.mem;
        let encoding = match inst.format {
            Format::Flat => Encoding::Flat,
            Format::Global => Encoding::Global,
            _ => Encoding::Scratch,
        };
        self.mnemonic("");
        self.slot(inst.dst);
        let flags = self.row(encoding).map_or(Flags::empty(), |row| row.flags);
        let has_address = flags.contains(Flags::NO_ADDR)
            || self.row(encoding).is_some_and(|row| row.src[0].is_some());
        if has_address && !flags.contains(Flags::NO_ADDR) {
            self.slot_or_off(inst.src[0]);
        }
        self.slot(inst.src[1]);
        if has_address && inst.format != Format::Flat {
            self.slot_or_off(inst.src[2]);
        }
        if mem.offset != 0 && has_address {
            self.write(format_args!(" offset:{}", mem.offset));
        }
        self.coherence();
        self.flag(mem.lds && !flags.contains(Flags::LDS), "lds");
    }

    pub(super) fn buffer(&mut self) {
        let inst = self.inst;
        let mem = inst.mem;
        let typed = inst.format == Format::Mtbuf;
        let encoding = if typed {
            Encoding::Mtbuf
        } else {
            Encoding::Mubuf
        };
        self.mnemonic("");
        let row = self.row(encoding);
        let has_address = row.is_some_and(|row| row.src[0].is_some());
        let is_lds_op = row.is_some_and(|row| row.flags.contains(Flags::LDS));
        if inst.src[1].operand == Operand::None {
            self.slot(inst.dst);
        } else {
            let mut data = inst.src[1];
            if mem.tfe {
                data.ty = Type::B(data.ty.bits(64) as u16 + 32);
            }
            self.slot(data);
        }
        if has_address {
            if is(inst.op, &[Op::buffer_store_lds_dword]) {
                self.slot(inst.src[0]);
            } else {
                self.slot_or_off(inst.src[0]);
            }
            self.slot(inst.src[2]);
            self.slot(inst.src[3]);
        }
        if typed {
            self.buffer_format(mem.format);
        }
        self.flag(mem.idxen, "idxen");
        self.flag(mem.offen, "offen");
        if mem.offset != 0 {
            self.write(format_args!(" offset:{}", mem.offset));
        }
        let store_from_lds = inst.op == Op::buffer_store_lds_dword;
        self.flag(store_from_lds, "lds");
        if has_address || self.level().is_gfx940_up() {
            self.coherence();
        }
        self.flag(mem.tfe, "tfe");
        self.flag(mem.lds && !is_lds_op && !store_from_lds, "lds");
    }

    /// Data and number format of typed buffers.
    fn buffer_format(&mut self, format: u8) {
        if self.level().is_gfx9() {
            let data = usize::from(format & 15);
            let number = usize::from(format >> 4 & 7);
            if (data, number) == (1, 0) {
                return;
            }
            self.push(" format:[");
            if data != 1 {
                let separator = if number == 0 { "" } else { "," };
                self.write(format_args!(
                    "BUF_DATA_FORMAT_{}{separator}",
                    DATA_FORMATS[data]
                ));
            }
            if number != 0 {
                self.write(format_args!("BUF_NUM_FORMAT_{}", NUMBER_FORMATS[number]));
            }
            self.push("]");
            return;
        }
        self.unified_format(format);
    }

    fn unified_format(&mut self, format: u8) {
        let formats = if self.level().is_gfx10() {
            UNIFIED_GFX10
        } else {
            UNIFIED_GFX11
        };
        match (format, unified_name(formats, format)) {
            (0, _) => self.push(" format:[BUF_FMT_INVALID]"),
            (1, _) => {}
            (_, Some(name)) => self.write(format_args!(" format:[{name}]")),
            (_, None) => self.write(format_args!(" format:{format}")),
        }
    }
}
