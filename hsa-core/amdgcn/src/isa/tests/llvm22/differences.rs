//! What the comparison with LLVM 22 takes for equal, and where the two differ on purpose and why.

use super::super::without;

/// An encoding that LLVM reads as an instruction.
pub(super) struct Case<'a> {
    pub(super) format: &'static str,
    pub(super) words: &'a [u32],
    /// LLVM's text.
    pub(super) llvm: &'a str,
    /// Our text, or why it is no instruction.
    pub(super) ours: &'a str,
}

/// What is to be said of a case.
pub(super) enum Verdict {
    Equal,
    /// LLVM's text is that of no instruction, or we print it otherwise on purpose.
    LeftOut,
    Different,
}

impl Case<'_> {
    fn judge(&self, equal: bool, listed: fn(&Self) -> bool) -> Verdict {
        if equal {
            Verdict::Equal
        } else if differs_everywhere(self) || listed(self) {
            Verdict::LeftOut
        } else {
            Verdict::Different
        }
    }

    fn operands(&self) -> &str {
        self.llvm
            .split_once(' ')
            .map_or("", |(_, operands)| operands)
    }

    fn begins(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.llvm.starts_with(word))
    }
}

/// GFX950, whose text of ours is that of LLVM 22.
pub(super) fn of_gfx950(case: &Case<'_>) -> Verdict {
    case.judge(case.ours == case.llvm, differs_on_gfx950)
}

/// GFX9 before GFX950, whose text of ours is that of LLVM 19.
pub(super) fn of_gfx9(case: &Case<'_>) -> Verdict {
    let equal = case.ours == case.llvm || same_fields(case.llvm, case.ours);
    case.judge(equal, |case| {
        differs_on_gfx950(case) || is_dot_product_without_halves(case)
    })
}

/// GFX10 and later, whose text of ours is that of LLVM 19.
pub(super) fn of_gfx10_and_later(case: &Case<'_>) -> Verdict {
    let equal = case.ours == case.llvm || same_fields(&normalised(case.llvm), case.ours);
    case.judge(equal, differs_from_gfx10_on)
}

/// Differences on every target.
fn differs_everywhere(case: &Case<'_>) -> bool {
    let operands = case.operands();
    let second = case.words[1];
    // LLVM's own remark that an operand is none.
    case.llvm.contains("/*")
        // Registers of later families, and read-only ones as destinations.
        || operands.contains("src_flat_scratch")
        || case.begins(&["v_cmp", "v_readfirstlane", "v_readlane", "v_s_"]) && operands.starts_with("src_")
        // Reserved values of the rest of an SDWA destination.
        || case.format.starts_with("vop") && second >> 11 & 3 == 3 && case.llvm.contains("_sdwa ")
        // A constant, or the lanes of DPP8, that LLVM takes for the code of an inline constant.
        || case.begins(&["v_madmk", "v_madak", "v_fmamk", "v_fmaak", "s_fmamk", "s_fmaak"]) && second < 256
        || case.format == "vopd" && ["_fmaak_", "_fmamk_"].iter().any(|name| case.llvm.contains(name)) && case.words[2] < 256
        || operands.contains("dpp8:[") && second >> 8 < 256
        // Messages with bits that mean nothing set, and swizzles, which we print as numbers.
        || case.begins(&["s_sendmsg"])
        || operands.contains("swizzle(ROTATE") || operands.contains("swizzle(FFT")
}

fn differs_on_gfx950(case: &Case<'_>) -> bool {
    let &Case { format, llvm, .. } = case;
    let operands = case.operands();
    let past_the_file = operands.split('[').skip(1).any(|tuple| {
        let last = tuple
            .split(']')
            .next()
            .and_then(|range| range.split(':').nth(1));
        last.and_then(|last| last.parse().ok())
            .is_some_and(|last: u32| last > 255)
    });
    // Registers after the last one.
    past_the_file
        || operands.contains("s[100:10") || operands.contains(":103]") && format == "smem"
        // Reserved formats of matrices.
        || llvm.contains("_f8f6f4 ") && ["blgp:5", "blgp:6", "blgp:7"].iter().any(|field| operands.contains(field))
        // A field that has no register.
        || operands.contains("null")
        // Vector registers as lane masks.
        || case.begins(&["v_addc", "v_subb", "v_cndmask", "v_div_scale", "v_mad_"]) && llvm.contains("_e64")
        // Offsets of FLAT have twelve bits.
        || llvm.starts_with("flat_") && operands.contains("offset:")
        // Half selections of operations without halves, modifiers of packed sources, and SDWA and DPP forms that do not exist.
        || case.begins(&["v_alignb", "v_pk_fmac_f16", "v_permlane", "v_nop", "v_clrexcp", "v_accvgpr_mov"])
        // GFX9 has no literals in 64-bit encodings.
        || ["vop3", "vop3p", "mubuf", "mtbuf"].contains(&format) && operands.contains("0xbf800000")
        // Constants where matrix operations have registers.
        || case.begins(&["v_mfma", "v_smfmac"]) && operands.contains("src_")
}

fn differs_from_gfx10_on(case: &Case<'_>) -> bool {
    let &Case {
        format, llvm, ours, ..
    } = case;
    let normal = normalised(llvm);
    let plain = without(ours, " op_sel:[");
    // Of GFX12's images some read as vector operations of GFX9 there.
    format.starts_with("vimage") && llvm.starts_with("v_")
        // LLVM 22 looks at the 16 bits that these use.
        || case.begins(&["v_cvt_pk_f32_bf8_e32", "v_cvt_pk_f32_fp8_e32"]) && case.operands().contains(", 0x")
        // LLVM 19 loses the destination of these.
        || case.begins(&["ds_add_gs_reg_rtn", "ds_sub_gs_reg_rtn"])
        // With bits of `op_sel` set that the operation has no operand for, LLVM leaves out the others.
        || plain == normal
        || plain != ours && plain == normal.replace(".h", "")
        || is_dot_product_without_halves(case)
}

/// LLVM 22 leaves out the halves of dot products of bytes and of parts of them.
fn is_dot_product_without_halves(case: &Case<'_>) -> bool {
    case.begins(&["v_dot"]) && without(case.ours, " op_sel_hi:[") == case.llvm
}

/// Whether LLVM 22's normalised text has the operation and, field by field, the operands of ours.
fn same_fields(llvm: &str, ours: &str) -> bool {
    let parts = |text: &str| -> Vec<String> {
        let (op, operands) = text.split_once(' ').unwrap_or((text, ""));
        let operands = operands.split(", ").map(str::to_owned);
        std::iter::once(op.to_owned()).chain(operands).collect()
    };
    let (llvm, ours) = (parts(llvm), parts(ours));
    llvm.len() == ours.len()
        && llvm
            .iter()
            .zip(&ours)
            .all(|(llvm_s, ours_s)| llvm_s == ours_s || same_number(&llvm[0], llvm_s, ours_s))
}

/// Whether two operands that are written differently are one number: LLVM 22 marks literals that equal inline constants, prints the bits
/// of those of 16-bit scalar operations, and writes versions in decimal.
fn same_number(op: &str, llvm: &str, ours: &str) -> bool {
    let marked = llvm
        .strip_prefix("lit(")
        .and_then(|rest| rest.strip_suffix(')'));
    match (marked, op) {
        (Some(bits), _) => number(bits).is_some_and(|bits| is_constant(ours, op, bits)),
        (None, "s_version") => version(llvm).is_some() && version(llvm) == number(ours),
        _ if op.starts_with("s_") && op.ends_with("_f16") => {
            number(llvm).is_some_and(|bits| is_constant(ours, op, bits))
        }
        _ => false,
    }
}

/// The number of a version with the names of its flags: `(65|UC_VERSION_W64_BIT)|UC_VERSION_MDP_BIT`.
fn version(text: &str) -> Option<u32> {
    text.split('|').try_fold(0, |all, part| {
        Some(
            all | match part.trim_matches(['(', ')']) {
                "UC_VERSION_W64_BIT" => 0x2000,
                "UC_VERSION_W32_BIT" => 0x4000,
                "UC_VERSION_MDP_BIT" => 0x8000,
                "UC_VERSION_GFX10" => 4,
                "UC_VERSION_GFX11" => 6,
                "UC_VERSION_GFX12" => 9,
                digits => number(digits)?,
            },
        )
    })
}

/// The low 32 bits of a whole number.
fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse::<i64>().ok().map(|number| number as u32),
    }
}

/// Whether the text of a constant, a whole number or a float of the operation's width, has these bits.
fn is_constant(text: &str, op: &str, bits: u32) -> bool {
    let float = text.parse::<f32>().ok().filter(|_| text.contains('.'));
    let float = float.map(|value| match op {
        _ if op.contains("f16") => u32::from(half::f16::from_f32(value).to_bits()),
        _ => value.to_bits(),
    });
    number(text) == Some(bits) || float == Some(bits)
}

/// LLVM 22's text in the words of LLVM 19, whose text ours is: low halves of registers without their name, hardware registers of GFX12 without
/// `WAVE`, without the fields of GFX12.5 and without the halves of shifts across two registers.
fn normalised(text: &str) -> String {
    // With `op_sel` the halves are said twice.
    let high = if text.contains(" op_sel:") {
        ".h"
    } else {
        ".l"
    };
    let text = match text.split(' ').next() {
        // LLVM 19 did not know that these choose the half of the third operand.
        Some("v_alignbit_b32" | "v_alignbyte_b32") => without(text, " op_sel:["),
        _ => text.to_owned(),
    };
    // LLVM 19 did not know the name of register 26.
    text.replace("HW_REG_WAVE_SCHED_MODE", "26")
        .replace("HW_REG_WAVE_", "HW_REG_")
        .replace("TH_STORE_WB", "TH_STORE_RT_WB")
        .replace(" nv", "")
        .replace(" scale_offset", "")
        .replace(".l", "")
        .replace(high, "")
}
