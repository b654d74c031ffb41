//! What a mnemonic of a memory instruction means. All families' names are known: `global_load_dword` and `global_load_b32` are one.

use crate::{
    interp::memory::formatted::{Registers, Request},
    isa::op::Op,
};

/// What a lane loads; the types are in [`element`](crate::interp::memory::element).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    Dwords1,
    Dwords2,
    Dwords3,
    Dwords4,
    U8,
    I8,
    U16,
    I16,
    U8D16,
    U8D16Hi,
    I8D16,
    I8D16Hi,
    B16D16,
    B16D16Hi,
}

impl Load {
    /// Destination registers.
    pub(super) fn dwords(self) -> u32 {
        match self {
            Load::Dwords2 => 2,
            Load::Dwords3 => 3,
            Load::Dwords4 => 4,
            _ => 1,
        }
    }
}

/// What a lane stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Store {
    Dwords1,
    Dwords2,
    Dwords3,
    Dwords4,
    B8,
    B8Hi,
    B16,
    B16Hi,
}

impl Store {
    /// Source registers.
    pub(super) fn dwords(self) -> u32 {
        match self {
            Store::Dwords2 => 2,
            Store::Dwords3 => 3,
            Store::Dwords4 => 4,
            _ => 1,
        }
    }
}

/// The rest of a mnemonic after its segment and one of some words.
fn after<'a>(name: &'a str, words: &[&str]) -> Option<&'a str> {
    let segments = [
        "flat_",
        "global_",
        "scratch_",
        "buffer_",
        "ds_",
        "s_buffer_",
        "s_",
    ];
    let rest = segments
        .iter()
        .find_map(|segment| name.strip_prefix(segment))?;
    words.iter().find_map(|word| rest.strip_prefix(word))
}

/// The element of a plain load.
pub(super) fn load(op: Op) -> Option<Load> {
    // `global_load_lds_dword` is `global_load_dword` but for where the value goes.
    Some(match after(op.name(), &["load_lds_", "load_", "read_"])? {
        "dword" | "b32" => Load::Dwords1,
        "dwordx2" | "b64" => Load::Dwords2,
        "dwordx3" | "b96" => Load::Dwords3,
        "dwordx4" | "b128" => Load::Dwords4,
        "ubyte" | "u8" => Load::U8,
        "sbyte" | "i8" => Load::I8,
        "ushort" | "u16" => Load::U16,
        "sshort" | "i16" => Load::I16,
        "ubyte_d16" | "d16_u8" | "u8_d16" => Load::U8D16,
        "ubyte_d16_hi" | "d16_hi_u8" | "u8_d16_hi" => Load::U8D16Hi,
        "sbyte_d16" | "d16_i8" | "i8_d16" => Load::I8D16,
        "sbyte_d16_hi" | "d16_hi_i8" | "i8_d16_hi" => Load::I8D16Hi,
        "short_d16" | "d16_b16" | "u16_d16" => Load::B16D16,
        "short_d16_hi" | "d16_hi_b16" | "u16_d16_hi" => Load::B16D16Hi,
        _ => return None,
    })
}

/// The element of a plain store.
pub(super) fn store(op: Op) -> Option<Store> {
    Some(match after(op.name(), &["store_", "write_"])? {
        "dword" | "b32" => Store::Dwords1,
        "dwordx2" | "b64" => Store::Dwords2,
        "dwordx3" | "b96" => Store::Dwords3,
        "dwordx4" | "b128" => Store::Dwords4,
        "byte" | "b8" => Store::B8,
        "byte_d16_hi" | "d16_hi_b8" | "b8_d16_hi" => Store::B8Hi,
        "short" | "b16" => Store::B16,
        "short_d16_hi" | "d16_hi_b16" | "b16_d16_hi" => Store::B16Hi,
        _ => return None,
    })
}

/// A buffer access that converts formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Formatted {
    pub(super) request: Request,
    pub(super) store: bool,
}

impl Formatted {
    /// Data registers.
    pub(super) fn dwords(self) -> u32 {
        let components = self.request.components as u32;
        match self.request.registers {
            Registers::Whole => components,
            Registers::Halves => components.div_ceil(2),
            Registers::High => 1,
        }
    }
}

/// One component as it comes: what `buffer_load_format_x` loads.
pub(super) const FORMAT_X: Request = Request {
    components: 1,
    registers: Registers::Whole,
    format: None,
};

/// Reads `buffer_load_format_d16_xyz`, `tbuffer_store_format_x` and their like of all families.
pub(super) fn formatted(op: Op) -> Option<Formatted> {
    let name = op.name();
    let rest = name
        .strip_prefix("tbuffer_")
        .or_else(|| name.strip_prefix("buffer_"))?;
    let (store, rest) = match rest.strip_prefix("store_") {
        Some(rest) => (true, rest),
        None => (false, rest.strip_prefix("load_")?),
    };
    let (form, channels) = rest.rsplit_once('_')?;
    let registers = match form {
        "format" => Registers::Whole,
        "format_d16" | "d16_format" => Registers::Halves,
        "format_d16_hi" | "d16_hi_format" => Registers::High,
        _ => return None,
    };
    let components = match channels {
        "x" | "xy" | "xyz" | "xyzw" => channels.len(),
        _ => return None,
    };
    Some(Formatted {
        request: Request {
            components,
            registers,
            format: None,
        },
        store,
    })
}

/// A read-modify-write operation; the types are in [`atomic`](crate::interp::memory::atomic).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[rustfmt::skip]
pub(super) enum Rmw {
    Swap32, Swap64, CmpSwap32, CmpSwap64, FCmpSwap32, FCmpSwap64, Add32, Add64, Sub32, Sub64, RSub32, RSub64, SubClamp32,
    CondSub32, SMin32, SMin64, UMin32, UMin64, SMax32, SMax64, UMax32, UMax64, And32, And64, Or32, Or64, Xor32, Xor64, Inc32,
    Inc64, Dec32, Dec64, MskOr32, MskOr64, Wrap32, FAdd32, FAdd64, FMin32, FMax32, FMin64, FMax64, PkAddF16, PkAddBf16,
}

impl Rmw {
    /// Registers of an operand.
    pub(super) fn dwords(self) -> u32 {
        use Rmw::*;
        match self {
            Swap64 | CmpSwap64 | FCmpSwap64 | Add64 | Sub64 | RSub64 | SMin64 | UMin64 | SMax64
            | UMax64 | And64 | Or64 | Xor64 | Inc64 | Dec64 | MskOr64 | FAdd64 | FMin64
            | FMax64 => 2,
            _ => 1,
        }
    }

    /// Whether it takes two operands.
    pub(super) fn has_two(self) -> bool {
        use Rmw::*;
        matches!(
            self,
            CmpSwap32 | CmpSwap64 | FCmpSwap32 | FCmpSwap64 | MskOr32 | MskOr64 | Wrap32
        )
    }
}

/// The operation of a FLAT, GLOBAL or buffer atomic.
pub(super) fn atomic(op: Op) -> Option<Rmw> {
    use Rmw::*;
    Some(match after(op.name(), &["atomic_"])? {
        "swap" | "swap_b32" => Swap32,
        "swap_x2" | "swap_b64" => Swap64,
        "cmpswap" | "cmpswap_b32" => CmpSwap32,
        "cmpswap_x2" | "cmpswap_b64" => CmpSwap64,
        "fcmpswap" | "cmpswap_f32" => FCmpSwap32,
        "fcmpswap_x2" => FCmpSwap64,
        "add" | "add_u32" => Add32,
        "add_x2" | "add_u64" => Add64,
        "sub" | "sub_u32" => Sub32,
        "sub_x2" | "sub_u64" => Sub64,
        "csub" | "csub_u32" | "sub_clamp_u32" => SubClamp32,
        "cond_sub_u32" => CondSub32,
        "smin" | "min_i32" => SMin32,
        "smin_x2" | "min_i64" => SMin64,
        "umin" | "min_u32" => UMin32,
        "umin_x2" | "min_u64" => UMin64,
        "smax" | "max_i32" => SMax32,
        "smax_x2" | "max_i64" => SMax64,
        "umax" | "max_u32" => UMax32,
        "umax_x2" | "max_u64" => UMax64,
        "and" | "and_b32" => And32,
        "and_x2" | "and_b64" => And64,
        "or" | "or_b32" => Or32,
        "or_x2" | "or_b64" => Or64,
        "xor" | "xor_b32" => Xor32,
        "xor_x2" | "xor_b64" => Xor64,
        "inc" | "inc_u32" => Inc32,
        "inc_x2" | "inc_u64" => Inc64,
        "dec" | "dec_u32" => Dec32,
        "dec_x2" | "dec_u64" => Dec64,
        "add_f32" => FAdd32,
        "add_f64" => FAdd64,
        "fmin" | "min_f32" | "min_num_f32" => FMin32,
        "fmax" | "max_f32" | "max_num_f32" => FMax32,
        "fmin_x2" | "min_f64" => FMin64,
        "fmax_x2" | "max_f64" => FMax64,
        "pk_add_f16" => PkAddF16,
        "pk_add_bf16" => PkAddBf16,
        _ => return None,
    })
}

/// The operation of a `ds_*_src2_*`, whose operand comes from LDS too.
pub(super) fn lds_with_memory_operand(op: Op) -> Option<Rmw> {
    match op {
        Op::ds_write_src2_b32 => Some(Rmw::Swap32),
        Op::ds_write_src2_b64 => Some(Rmw::Swap64),
        _ if op.name().contains("_src2_") => {
            lds_atomic_name(&op.name().replace("_src2", "")).map(|(rmw, _)| rmw)
        }
        _ => None,
    }
}

/// The operation of an LDS atomic, and whether it returns the old value.
pub(super) fn lds_atomic(op: Op) -> Option<(Rmw, bool)> {
    lds_atomic_name(op.name())
}

fn lds_atomic_name(name: &str) -> Option<(Rmw, bool)> {
    use Rmw::*;
    let name = name.strip_prefix("ds_")?;
    let (name, returns) = match name.split_once("_rtn") {
        Some((verb, ty)) => (format!("{verb}{ty}"), true),
        None => (name.to_owned(), false),
    };
    let rmw = match name.as_str() {
        "wrxchg_b32" | "storexchg_b32" => Swap32,
        "wrxchg_b64" | "storexchg_b64" => Swap64,
        "cmpst_b32" | "cmpstore_b32" => CmpSwap32,
        "cmpst_b64" | "cmpstore_b64" => CmpSwap64,
        "cmpst_f32" | "cmpstore_f32" => FCmpSwap32,
        "cmpst_f64" | "cmpstore_f64" => FCmpSwap64,
        "add_u32" => Add32,
        "add_u64" => Add64,
        "sub_u32" => Sub32,
        "sub_u64" => Sub64,
        "rsub_u32" => RSub32,
        "rsub_u64" => RSub64,
        "sub_clamp_u32" => SubClamp32,
        "cond_sub_u32" => CondSub32,
        "min_i32" => SMin32,
        "min_i64" => SMin64,
        "min_u32" => UMin32,
        "min_u64" => UMin64,
        "max_i32" => SMax32,
        "max_i64" => SMax64,
        "max_u32" => UMax32,
        "max_u64" => UMax64,
        "and_b32" => And32,
        "and_b64" => And64,
        "or_b32" => Or32,
        "or_b64" => Or64,
        "xor_b32" => Xor32,
        "xor_b64" => Xor64,
        "inc_u32" => Inc32,
        "inc_u64" => Inc64,
        "dec_u32" => Dec32,
        "dec_u64" => Dec64,
        "mskor_b32" => MskOr32,
        "mskor_b64" => MskOr64,
        "wrap_b32" => Wrap32,
        "add_f32" => FAdd32,
        "add_f64" => FAdd64,
        "min_f32" | "min_num_f32" => FMin32,
        "max_f32" | "max_num_f32" => FMax32,
        "min_f64" | "min_num_f64" => FMin64,
        "max_f64" | "max_num_f64" => FMax64,
        "pk_add_f16" => PkAddF16,
        "pk_add_bf16" => PkAddBf16,
        _ => return None,
    };
    Some((rmw, returns))
}

/// What an LDS operation with two addresses does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TwoKind {
    Read,
    Write,
    Exchange,
}

/// An LDS operation with two addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Two {
    pub(super) kind: TwoKind,
    /// Registers of one word.
    pub(super) dwords: u32,
    /// The offsets count in 64 words.
    pub(super) stride64: bool,
}

/// Reads `ds_read2st64_b32` and its like.
pub(super) fn two_address(op: Op) -> Option<Two> {
    let (verb, ty) = op.name().strip_prefix("ds_")?.rsplit_once('_')?;
    let (kind, stride64) = match verb {
        "read2" | "load_2addr" => (TwoKind::Read, false),
        "read2st64" | "load_2addr_stride64" => (TwoKind::Read, true),
        "write2" | "store_2addr" => (TwoKind::Write, false),
        "write2st64" | "store_2addr_stride64" => (TwoKind::Write, true),
        "wrxchg2_rtn" | "storexchg_2addr_rtn" => (TwoKind::Exchange, false),
        "wrxchg2st64_rtn" | "storexchg_2addr_stride64_rtn" => (TwoKind::Exchange, true),
        _ => return None,
    };
    let dwords = match ty {
        "b32" => 1,
        "b64" => 2,
        _ => return None,
    };
    Some(Two {
        kind,
        dwords,
        stride64,
    })
}

/// Whether the operation has no effect on values in an engine without caches that completes everything in order.
pub(super) fn has_no_effect(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        buffer_wbinvl1
            | buffer_wbinvl1_vol
            | buffer_wbl2
            | buffer_invl2
            | buffer_inv
            | buffer_gl0_inv
            | buffer_gl1_inv
            | global_inv
            | global_wb
            | global_wbinv
            | s_dcache_inv
            | s_dcache_inv_vol
            | s_dcache_wb
            | s_dcache_wb_vol
            | s_dcache_discard
            | s_dcache_discard_x2
            | s_gl1_inv
            | s_prefetch_data
            | s_prefetch_data_pc_rel
            | s_prefetch_inst
            | s_prefetch_inst_pc_rel
            | s_buffer_prefetch_data
            | ds_nop
            // Prefetches of address translations.
            | s_atc_probe
            | s_atc_probe_buffer
    )
}
