//! Which instructions run: the join of the instruction tables with the lowering, for `gneiss coverage` and the page in the documentation.
//!
//! Nothing is listed by hand but the reasons and the bounds: an operation is supported if the lowering takes it. For a whole target a plain
//! instruction is made of each row of its tables; for a program its own instructions are asked, with their modifiers.

use std::collections::BTreeMap;

use crate::{
    interp::level::Level as SimdLevel,
    isa::{
        inst::{AluModifiers, Format, Inst, MemModifiers, Operand, OperandSlot, Type},
        op::Op as M,
        table::{self, Encoding, Flags, Level, Row},
    },
    target::Target,
};

use super::{
    lower::{self, LowerContext},
    program::LowerConfig,
};

/// How an instruction runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// To the bit.
    Exact,
    /// Within a bound, which the text says.
    Approximate(&'static str),
    /// Not at all, for the reason that the text says.
    Unsupported(&'static str),
    /// Not at all; the text is what the lowering says.
    Unexplained(String),
}

impl Status {
    /// Whether it runs.
    pub fn runs(&self) -> bool {
        matches!(self, Self::Exact | Self::Approximate(_))
    }
}

/// Why an operation cannot mean anything here.
fn reason(op: M) -> Option<&'static str> {
    let name = op.name();
    let begins = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
    Some(match op {
        M::exp | M::export => "exports to a graphics pipeline; a dispatch has none",
        M::s_endpgm_ordered_ps_done => "a message to a graphics pipeline; a dispatch has none",
        M::ds_ordered_count
        | M::ds_add_gs_reg_rtn
        | M::ds_sub_gs_reg_rtn
        | M::global_atomic_ordered_add_b64 => {
            "counters of a graphics pipeline; a dispatch has none"
        }
        M::image_gather4h => "where its row of four texels begins is documented nowhere",
        M::s_rfe_b64 | M::s_rfe_restore_b64 | M::s_endpgm_saved => "inside of trap handlers",
        M::v_mfma_ld_scale_b32 => {
            "the scales of a matrix operation, which is decoded with it; alone it means nothing"
        }
        _ if begins(&["v_interp_", "lds_param_load", "ds_param_load"]) => {
            "parameters that a graphics pipeline puts into LDS; a dispatch has none"
        }
        _ if begins(&["image_bvh"]) => "ray tracing",
        _ => return None,
    })
}

/// How far a result may be from a card's.
fn bound(op: M) -> Option<&'static str> {
    let name = op.name();
    let begins = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
    if begins(&[
        "v_rcp_", "v_rsq_", "v_sqrt_", "v_exp_", "v_log_", "v_sin_", "v_cos_", "v_s_",
    ]) {
        return Some("1 ulp: the nearest value here, within the documented error on a card");
    }
    if begins(&[
        "v_mfma_f",
        "v_smfmac_f",
        "v_wmma_f",
        "v_wmma_bf",
        "v_swmmac_f",
        "v_swmmac_bf",
    ]) {
        return Some("order of the sums: K half-ulps of the largest partial sum");
    }
    if begins(&[
        "v_dot2_f",
        "v_dot2_bf",
        "v_dot2c_f",
        "v_dot2acc_f",
        "v_dot4_f",
    ]) {
        return Some("order of the sums: 2 half-ulps of the largest partial sum");
    }
    if begins(&["v_cvt_sr_", "v_cvt_scalef32_sr_"]) {
        return Some("which of the two neighbours the random bits choose");
    }
    match op {
        M::s_memtime | M::s_memrealtime | M::s_sendmsg_rtn_b32 | M::s_sendmsg_rtn_b64 => {
            Some("the host's clock")
        }
        _ => None,
    }
}

/// The widest configuration of a target.
fn config(target: Target, wave64: bool) -> LowerConfig {
    LowerConfig {
        target,
        wave64,
        vgprs: 256,
        agprs: if target.features().agprs { 256 } else { 0 },
        exceptions: false,
    }
}

/// How one decoded instruction runs in waves of 64 or 32 lanes.
pub fn status(inst: &Inst, target: Target, wave64: bool) -> Status {
    let mut context = LowerContext::new(config(target, wave64), SimdLevel::Portable);
    let halves = [Some(inst), inst.vopd.as_deref()];
    match lower::lower(inst, &mut context) {
        Ok(()) => halves
            .into_iter()
            .flatten()
            .find_map(|half| bound(half.op))
            .map_or(Status::Exact, Status::Approximate),
        Err(refused) => match reason(inst.op) {
            Some(reason) => Status::Unsupported(reason),
            None => Status::Unexplained(refused.to_string()),
        },
    }
}

/// Every operation of a target's tables, once whatever its encodings, and how it runs. None for targets without tables.
pub fn of_target(target: Target) -> Option<BTreeMap<M, Status>> {
    let level = Level::of(target)?;
    let wave64 = !target.features().wave32;
    let mut operations = BTreeMap::new();
    for (encoding, row, _) in table::rows_of(level) {
        let status = status(&plain(encoding, row), target, wave64);
        operations
            .entry(row.op)
            .and_modify(|known: &mut Status| {
                if status < *known {
                    known.clone_from(&status);
                }
            })
            .or_insert(status);
    }
    Some(operations)
}

/// Registers of the operands of a plain instruction: apart from each other, and aligned for any tuple.
const STEP: u16 = 32;

fn format(encoding: Encoding, row: &Row) -> Format {
    match encoding {
        Encoding::Sop1 => Format::Sop1,
        Encoding::Sop2 => Format::Sop2,
        Encoding::Sopc => Format::Sopc,
        Encoding::Sopk => Format::Sopk,
        Encoding::Sopp => Format::Sopp,
        Encoding::Smem => Format::Smem,
        Encoding::Vop1 => Format::Vop1,
        Encoding::Vop2 => Format::Vop2,
        Encoding::Vopc => Format::Vopc,
        Encoding::Vop3 if row.dst2.is_some() => Format::Vop3b,
        Encoding::Vop3 => Format::Vop3,
        Encoding::Vop3p | Encoding::Vop3px2 => Format::Vop3p,
        Encoding::Vintrp | Encoding::Vinterp | Encoding::Ldsdir => Format::Vintrp,
        Encoding::Ds => Format::Ds,
        Encoding::Flat => Format::Flat,
        Encoding::Global => Format::Global,
        Encoding::Scratch => Format::Scratch,
        Encoding::Mubuf => Format::Mubuf,
        Encoding::Mtbuf => Format::Mtbuf,
        Encoding::Mimg | Encoding::Vimage | Encoding::Vsample => Format::Mimg,
        Encoding::Exp => Format::Exp,
    }
}

/// An instruction of a row with registers for operands and no modifiers.
fn plain(encoding: Encoding, row: &Row) -> Inst {
    let slot = |operand, ty| OperandSlot { operand, ty };
    let scalar = |number: u16, ty| slot(Operand::Scalar(number as u8), ty);
    let vector = |number: u16, ty| slot(Operand::Vgpr(number), ty);
    let format = format(encoding, row);
    let mut inst = Inst {
        op: row.op,
        format,
        len: 8,
        dst: OperandSlot::NONE,
        dst2: OperandSlot::NONE,
        src: [OperandSlot::NONE; 4],
        simm16: 0,
        imm32: row
            .flags
            .intersects(Flags::IMM32 | Flags::K_SECOND | Flags::K_LAST)
            .then_some(0),
        alu: AluModifiers::default(),
        mem: MemModifiers::default(),
        dpp: None,
        sdwa: None,
        vopd: None,
        nsa: None,
    };
    let is_scalar = matches!(
        format,
        Format::Sop1 | Format::Sop2 | Format::Sopc | Format::Sopk | Format::Sopp | Format::Smem
    );
    if let Some(ty) = row.dst {
        inst.dst = if ty == Type::Mask {
            scalar(106, ty)
        } else if is_scalar || row.flags.contains(Flags::SDST) {
            scalar(0, ty)
        } else {
            vector(0, ty)
        };
    }
    if let Some(ty) = row.dst2 {
        inst.dst2 = scalar(106, ty);
    }
    for (number, ty) in (1..).zip(row.src) {
        let Some(ty) = ty else { continue };
        let index = usize::from(number) - 1;
        inst.src[index] = if ty == Type::Mask {
            scalar(106, ty)
        } else if is_scalar {
            scalar(16 * number, ty)
        } else {
            vector(STEP * number, ty)
        };
    }
    match row.op {
        // MODE, whole.
        _ if row.flags.contains(Flags::HWREG) => inst.simm16 = (1 | 31u16 << 11).cast_signed(),
        _ if row.flags.contains(Flags::MSG) => inst.simm16 = 131,
        M::s_sendmsg | M::s_sendmsghalt => inst.simm16 = 1,
        M::v_readlane_b32 | M::v_writelane_b32 => {
            inst.src[1] = scalar(16, Type::U(32));
            if row.op == M::v_writelane_b32 {
                inst.src[0] = scalar(17, Type::B(32));
            }
        }
        M::v_permlane16_b32 | M::v_permlanex16_b32 => {
            inst.src[1] = scalar(16, Type::U(32));
            inst.src[2] = scalar(17, Type::U(32));
        }
        _ if row.op.name().starts_with("v_s_") => {
            inst.src[0] = scalar(16, row.dst.unwrap_or(Type::F(32)))
        }
        M::v_accvgpr_read_b32 => inst.src[0].operand = Operand::Agpr(0),
        M::v_accvgpr_write_b32 => inst.dst.operand = Operand::Agpr(0),
        _ => {}
    }
    if encoding == Encoding::Vop3px2 {
        let mut scales = inst.clone();
        scales.op = M::v_mfma_ld_scale_b32;
        scales.dst = OperandSlot::NONE;
        scales.src = [OperandSlot::NONE; 4];
        for (index, slot) in scales.src.iter_mut().take(2).enumerate() {
            *slot = vector(4 * STEP + index as u16, Type::U(32));
        }
        inst.vopd = Some(Box::new(scales));
    }
    memory_operands(&mut inst, row);
    inst
}

/// The operands of memory instructions that rows do not name.
fn memory_operands(inst: &mut Inst, row: &Row) {
    let scalar = |number: u8, bits| OperandSlot {
        operand: Operand::Scalar(number),
        ty: Type::B(bits),
    };
    let vector = |number: u16| OperandSlot {
        operand: Operand::Vgpr(number),
        ty: Type::B(32),
    };
    inst.mem.gds = row.flags.contains(Flags::GDS_ONLY);
    inst.mem.lds = row.flags.contains(Flags::LDS);
    if row.flags.contains(Flags::ATOMIC) || inst.mem.lds {
        inst.dst = OperandSlot::NONE;
    }
    match inst.format {
        Format::Mubuf | Format::Mtbuf if row.src[0].is_some() => {
            inst.mem.offen = true;
            inst.mem.format = 1;
            inst.src[2] = scalar(32, 128);
            inst.src[3] = OperandSlot {
                operand: Operand::Int(0),
                ty: Type::B(32),
            };
        }
        Format::Mimg => {
            let two = matches!(row.op, M::image_atomic_cmpswap | M::image_atomic_fcmpswap);
            inst.mem.dmask = if two { 3 } else { 1 };
            inst.mem.dim = 1;
            inst.src[0] = vector(STEP);
            if row.flags.intersects(Flags::STORE | Flags::ATOMIC) {
                inst.src[1] = vector(2 * STEP);
            } else {
                inst.dst = vector(0);
            }
            inst.src[2] = scalar(32, 256);
            if row.flags.contains(Flags::SAMPLER) {
                inst.src[3] = scalar(64, 128);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{isa::table::Level, target::KNOWN};

    fn of(name: &str) -> BTreeMap<M, Status> {
        of_target(name.parse().expect("a known target")).expect("tables")
    }

    #[test]
    fn statuses_come_from_the_lowering() {
        let gfx90a = of("gfx90a");
        assert_eq!(gfx90a[&M::v_add_f32], Status::Exact);
        assert_eq!(gfx90a[&M::global_atomic_add_f64], Status::Exact);
        assert_eq!(gfx90a[&M::tbuffer_store_format_d16_xyz], Status::Exact);
        assert!(matches!(gfx90a[&M::v_exp_f32], Status::Approximate(_)));
        assert!(matches!(
            gfx90a[&M::v_mfma_f32_16x16x16f16],
            Status::Approximate(_)
        ));
        assert_eq!(gfx90a[&M::v_mfma_i32_16x16x16i8], Status::Exact);
        assert_eq!(
            gfx90a[&M::s_rfe_b64],
            Status::Unsupported("inside of trap handlers")
        );
        assert!(!gfx90a.contains_key(&M::v_cvt_pk_fp8_f32));
        assert_eq!(of("gfx942")[&M::v_cvt_pk_fp8_f32], Status::Exact);
    }

    #[test]
    fn nothing_is_refused_without_a_reason() {
        for name in TARGETS {
            let unexplained: Vec<_> = of(name)
                .into_iter()
                .filter(|(_, status)| matches!(status, Status::Unexplained(_)))
                .collect();
            assert_eq!(unexplained, [], "{name}");
        }
    }

    /// The first target of each instruction set.
    const TARGETS: [&str; 14] = [
        "gfx900", "gfx904", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1010", "gfx1011",
        "gfx1013", "gfx1030", "gfx1100", "gfx1150", "gfx1200",
    ];

    /// The other targets with the instruction set of `name`.
    fn others(name: &str) -> String {
        let level = |target: Target| Level::of(target);
        let first: Target = name.parse().expect("a target");
        let others: Vec<String> = KNOWN
            .iter()
            .map(|&(target, _)| target)
            .filter(|&target| target != first && level(target) == level(first))
            .map(|target| target.to_string())
            .collect();
        others.join(", ")
    }

    #[test]
    fn every_instruction_set_has_a_row() {
        let rows = TARGETS.map(|name| Level::of(name.parse().expect("a target")));
        assert_eq!(rows, Level::ALL.map(Some));
    }

    /// The page of the documentation.
    fn page() -> String {
        use std::fmt::Write;
        let mut page = "# Instructions\n\nWhich operations of each target the engine executes. This page is made from the instruction tables and \
the lowering (`GNEISS_BLESS=1 cargo test -p gneiss-amdgcn`); `gneiss coverage FILE` says the same of a program.\n\n\
A row and a name in a list stand for all targets of an instruction set.\n\n\
| target | the same set | operations | exact | approximate | unsupported | unexplained |\n\
| --- | --- | ---: | ---: | ---: | ---: | ---: |\n"
            .to_owned();
        let mut remarks: BTreeMap<(u8, String), BTreeMap<&str, Vec<&str>>> = BTreeMap::new();
        for name in TARGETS {
            let mut counts = [0; 4];
            for (op, status) in of(name) {
                let (kind, remark) = match status {
                    Status::Exact => (0, None),
                    Status::Approximate(bound) => (1, Some(bound.to_owned())),
                    Status::Unsupported(reason) => (2, Some(reason.to_owned())),
                    Status::Unexplained(_) => (3, Some("not yet".to_owned())),
                };
                counts[kind] += 1;
                if let Some(remark) = remark {
                    let targets = remarks.entry((kind as u8, remark)).or_default();
                    targets.entry(op.name()).or_default().push(name);
                }
            }
            let all: usize = counts.iter().sum();
            let [exact, approximate, unsupported, unexplained] = counts;
            let _ = writeln!(
                page,
                "| {name} | {} | {all} | {exact} | {approximate} | {unsupported} | {unexplained} |",
                others(name)
            );
        }
        let titles = ["", "Approximate", "Unsupported", "Unexplained"];
        let mut last = 0;
        for ((kind, remark), operations) in remarks {
            if kind != last {
                let _ = writeln!(page, "\n## {}", titles[usize::from(kind)]);
                last = kind;
            }
            let _ = writeln!(page, "\n{remark}:");
            for (op, targets) in operations {
                let _ = writeln!(page, "`{op}` ({})  ", targets.join(", "));
            }
        }
        page
    }

    #[test]
    fn the_page_of_the_documentation_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/instructions.md");
        let page = page();
        if std::env::var_os("GNEISS_BLESS").is_some() {
            std::fs::create_dir_all(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs"))
                .expect("a folder");
            std::fs::write(path, &page).expect("a writable page");
        }
        let stored = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            stored == page,
            "docs/instructions.md is old: run with GNEISS_BLESS=1"
        );
    }
}
