//! The instruction tables: one row per operation and encoding, shared by all families that have it.
//!
//! A row reads
//!
//! ```text
//! v_addc_co_u32 U32/MASK = U32 U32 MASK [FLAGS] @ GFX9 0x1c, GFX10_11|GFX12 0x28;
//! ^ operation   ^ dst/dst2 ^ sources    ^ see Flags  ^ levels and opcode number
//! ```
//!
//! and says where its operands go in [`super::inst::Inst`]: the operand slots of a row are the slots of `Inst`. An operand
//! type that is absent means that the operation does not have the operand. Encodings whose operands depend on instruction
//! fields (memory instructions) give the widths here, and the decoder fills the slots.
//!
//! * Scalar and vector ALU: sources in text order. A `MASK` source of VOP2 is VCC, in VOP3 it is the field of that source;
//!   a fourth source is VCC in both.
//! * SMEM: source 0 is the base (64 bits) or the resource (128 bits), source 1 the data of stores and atomics.
//! * DS, FLAT, buffers: source 0 is the address, source 1 the data, source 2 the second data (DS).
//! * The destination of `ATOMIC` rows is what is returned when the instruction asks for it.
//!
//! To add a family: add its [`Level`], its bit and the sets that contain it, give its opcode numbers in the rows (new rows
//! for new operations), and teach the decoder where the fields of its encodings lie. Coverage and the disassembler follow.

mod image;
mod memory;
mod scalar;
mod vector;
mod vector3;

use std::collections::HashMap;
use std::sync::OnceLock;

use super::inst::Type;
use super::op::Op;
use crate::target::Target;

/// What decides which rows exist: one for each group of targets with the same instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// GFX900, 902, 909, 90c.
    Gfx900,
    /// GFX904: `v_fma_mix`.
    Gfx904,
    /// GFX906: dot products.
    Gfx906,
    /// GFX908: matrix operations, accumulation VGPRs.
    Gfx908,
    /// GFX90A: unified VGPRs, packed f32, f64 atomics.
    Gfx90a,
    /// GFX940, 941, 942: architected flat scratch, FP8.
    Gfx940,
    /// GFX950: FP8 of the Open Compute Project, FP6 and FP4 with scales, deeper matrix operations, transposing loads.
    Gfx950,
    /// GFX1010.
    Gfx1010,
    /// GFX1011, 1012: dot products.
    Gfx1011,
    /// GFX1013: ray intersection, loads of samples.
    Gfx1013,
    /// GFX1030 to 1036.
    Gfx10_3,
    /// GFX1100 to 1103.
    Gfx11,
    /// GFX1150 to 1153: scalar floating point.
    Gfx11_5,
    /// GFX1200, 1201.
    Gfx12,
}

impl Level {
    /// All levels, oldest first.
    pub const ALL: [Level; 14] = [
        Level::Gfx900,
        Level::Gfx904,
        Level::Gfx906,
        Level::Gfx908,
        Level::Gfx90a,
        Level::Gfx940,
        Level::Gfx950,
        Level::Gfx1010,
        Level::Gfx1011,
        Level::Gfx1013,
        Level::Gfx10_3,
        Level::Gfx11,
        Level::Gfx11_5,
        Level::Gfx12,
    ];

    /// The level of a target, or `None` if its instruction set is not in the tables.
    pub fn of(target: Target) -> Option<Level> {
        Some(match (target.major, target.minor, target.stepping) {
            (9, 0, 0 | 2 | 9 | 0xc) => Level::Gfx900,
            (9, 0, 4) => Level::Gfx904,
            (9, 0, 6) => Level::Gfx906,
            (9, 0, 8) => Level::Gfx908,
            (9, 0, 0xa) => Level::Gfx90a,
            (9, 4, 0..=2) => Level::Gfx940,
            (9, 5, 0) => Level::Gfx950,
            (10, 1, 0) => Level::Gfx1010,
            (10, 1, 1 | 2) => Level::Gfx1011,
            (10, 1, 3) => Level::Gfx1013,
            (10, 3, _) => Level::Gfx10_3,
            (11, 0, _) => Level::Gfx11,
            (11, 5, _) => Level::Gfx11_5,
            (12, 0, _) => Level::Gfx12,
            _ => return None,
        })
    }

    /// GFX900 to GFX950: the encodings of GFX9.
    pub fn is_gfx9(self) -> bool {
        self <= Level::Gfx950
    }

    /// GFX1010 to GFX1013.
    pub fn is_gfx10_1(self) -> bool {
        matches!(self, Level::Gfx1010 | Level::Gfx1011 | Level::Gfx1013)
    }

    /// GFX10.1 or GFX10.3.
    pub fn is_gfx10(self) -> bool {
        self.is_gfx10_1() || self == Level::Gfx10_3
    }

    /// GFX11 or GFX11.5.
    pub fn is_gfx11(self) -> bool {
        matches!(self, Level::Gfx11 | Level::Gfx11_5)
    }

    /// Whether memory instructions can name accumulation VGPRs (`acc` bit).
    pub fn has_unified_vgprs(self) -> bool {
        matches!(self, Level::Gfx90a | Level::Gfx940 | Level::Gfx950)
    }

    /// GFX940 and later CDNA.
    pub fn is_gfx940_up(self) -> bool {
        matches!(self, Level::Gfx940 | Level::Gfx950)
    }
}

bitflags::bitflags! {
    /// What is particular to a row.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Flags: u32 {
        /// The destination of this vector operation is an SGPR.
        const SDST = 1 << 0;
        /// There is no VOP3 form.
        const NO_E64 = 1 << 1;
        /// The assembler text of the 32-bit form has no `_e32`.
        const NO_SUFFIX = 1 << 2;
        /// VOP3 only, but the assembler text has `_e64`.
        const E64 = 1 << 3;
        /// All sources take `neg` and `abs`, whatever their type. Without it, floating point sources do.
        const MODS = 1 << 4;
        /// `op_sel` is meaningful in the VOP3 form.
        const OP_SEL = 1 << 5;
        /// `op_sel` holds two control bits, not halves (`v_permlane16`: fetch inactive, bound control).
        const OP_SEL_CONTROL = 1 << 6;
        /// The 32-bit constant is the second operand after the destination (`v_madmk`).
        const K_SECOND = 1 << 7;
        /// The 32-bit constant is the last operand (`v_madak`).
        const K_LAST = 1 << 8;
        /// Parameter interpolation in the VOP3 encoding.
        const INTERP = 1 << 9;
        /// The immediate is a branch distance in dwords.
        const BRANCH = 1 << 10;
        /// The immediate names a hardware register.
        const HWREG = 1 << 11;
        /// A 32-bit immediate follows (`s_setreg_imm32_b32`).
        const IMM32 = 1 << 12;
        /// The immediate is unsigned.
        const UIMM = 1 << 13;
        /// SOPP without an operand.
        const NO_IMM = 1 << 14;
        /// The second source field is an immediate (`s_set_gpr_idx_on`).
        const IMM_SRC1 = 1 << 15;
        /// The source field is a message (`s_sendmsg_rtn`).
        const MSG = 1 << 16;
        /// The data field of SMEM is an immediate.
        const IMM_SDATA = 1 << 17;
        /// Reads, modifies and writes memory; returns the old value only if the instruction asks for it.
        const ATOMIC = 1 << 18;
        /// Writes memory (images).
        const STORE = 1 << 19;
        /// Two 8-bit offsets rather than one of 16 bits.
        const TWO_OFFSETS = 1 << 20;
        /// The offset is a swizzle pattern.
        const SWIZZLE = 1 << 21;
        /// Exists with the GDS bit only.
        const GDS_ONLY = 1 << 22;
        /// Loads to LDS.
        const LDS = 1 << 23;
        /// No vector address (`addtid`).
        const NO_ADDR = 1 << 24;
        /// Matrix operation in VOP3P-MAI.
        const MAI = 1 << 25;
        /// Sparse matrix operation: source 2 is the index, the destination accumulates.
        const SMFMAC = 1 << 26;
        /// Wave matrix operation of GFX11 and later.
        const WMMA = 1 << 27;
        /// Image operation with a sampler.
        const SAMPLER = 1 << 28;
        /// Four components whatever the component mask.
        const GATHER4 = 1 << 29;
        /// Ray intersection.
        const BVH = 1 << 30;
        /// As `MODS`, but for source 1: the random bits of stochastic rounding.
        const MODS_BUT_1 = 1 << 31;
    }
}

/// The table that a row stands in. Finer than [`super::inst::Format`] where a format has several opcode spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "names of encodings")]
pub enum Encoding {
    Sop1,
    Sop2,
    Sopc,
    Sopk,
    Sopp,
    Smem,
    Vop1,
    Vop2,
    Vopc,
    Vop3,
    Vop3p,
    /// Scaled matrix operations of GFX950: two VOP3P words, of which the first holds the scales.
    Vop3px2,
    Vintrp,
    Vinterp,
    Ldsdir,
    Ds,
    Flat,
    Global,
    Scratch,
    Mubuf,
    Mtbuf,
    Mimg,
    /// GFX12 images without a sampler.
    Vimage,
    /// GFX12 images with a sampler.
    Vsample,
    Exp,
}

/// A row of a table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The operation.
    pub op: Op,
    /// Type of the destination.
    pub dst: Option<Type>,
    /// Type of the second destination.
    pub dst2: Option<Type>,
    /// Types of the sources, by slot.
    pub src: [Option<Type>; 4],
    /// Particulars.
    pub flags: Flags,
    /// Set of levels (bit n is level n) and opcode number there.
    pub codes: &'static [(u16, u16)],
}

impl Row {
    /// Whether `op_sel` chooses halves of registers in the VOP3 form: where the row says so, and from GFX11 on wherever an operand has 16 bits.
    pub fn selects_halves(&self, level: Level) -> bool {
        let sixteen = |ty: &Option<Type>| ty.is_some_and(|ty| ty.bits(64) == 16);
        self.flags.contains(Flags::OP_SEL)
            || level >= Level::Gfx11
                && !self.flags.contains(Flags::SDST)
                && (sixteen(&self.dst) || self.src.iter().any(sixteen))
    }
}

const fn sources(list: &[Option<Type>]) -> [Option<Type>; 4] {
    let mut all = [None; 4];
    let mut index = 0;
    while index < list.len() {
        all[index] = list[index];
        index += 1;
    }
    all
}

macro_rules! flag_set {
    () => { Flags::empty() };
    ($($flag:ident)+) => { Flags::empty()$(.union(Flags::$flag))+ };
}

macro_rules! first_or_none {
    () => {
        None
    };
    ($ty:ident) => {
        $ty
    };
}

macro_rules! rows {
    (
        $(#[$doc:meta])*
        $table:ident
        $($op:ident $($dst:ident $(/ $dst2:ident)?)? = $($src:ident)* $([$($flag:ident)+])? @ $($($set:ident)|+ $code:literal),+;)*
    ) => {
        $(#[$doc])*
        pub(super) static $table: &[Row] = &[
            $(Row {
                op: Op::$op,
                dst: first_or_none!($($dst)?),
                dst2: first_or_none!($($($dst2)?)?),
                src: sources(&[$($src),*]),
                flags: flag_set!($($($flag)+)?),
                codes: &[$(($($set)|+, $code)),+],
            },)*
        ];
    };
}
use {first_or_none, flag_set, rows};

/// Type names of the rows.
const NONE: Option<Type> = None;
const MASK: Option<Type> = Some(Type::Mask);
const B16: Option<Type> = Some(Type::B(16));
const B32: Option<Type> = Some(Type::B(32));
const B64: Option<Type> = Some(Type::B(64));
const B96: Option<Type> = Some(Type::B(96));
const B128: Option<Type> = Some(Type::B(128));
const B256: Option<Type> = Some(Type::B(256));
const B320: Option<Type> = Some(Type::B(320));
const B512: Option<Type> = Some(Type::B(512));
const B192: Option<Type> = Some(Type::B(192));
const B1024: Option<Type> = Some(Type::B(1024));
const I16: Option<Type> = Some(Type::I(16));
const I32: Option<Type> = Some(Type::I(32));
const I64: Option<Type> = Some(Type::I(64));
const U16: Option<Type> = Some(Type::U(16));
const U32: Option<Type> = Some(Type::U(32));
const U64: Option<Type> = Some(Type::U(64));
const F16: Option<Type> = Some(Type::F(16));
const F32: Option<Type> = Some(Type::F(32));
const F64: Option<Type> = Some(Type::F(64));
/// Packed: two 16-bit values.
const P32: Option<Type> = Some(Type::Packed(32));
/// Packed: two 32-bit values.
const P64: Option<Type> = Some(Type::Packed(64));

/// Sets of levels.
const GFX900: u16 = 1 << Level::Gfx900 as u16;
const GFX904: u16 = 1 << Level::Gfx904 as u16;
const GFX906: u16 = 1 << Level::Gfx906 as u16;
const GFX908: u16 = 1 << Level::Gfx908 as u16;
const GFX90A: u16 = 1 << Level::Gfx90a as u16;
const GFX942: u16 = 1 << Level::Gfx940 as u16;
const GFX950: u16 = 1 << Level::Gfx950 as u16;
/// GFX940 and later CDNA.
const GFX940: u16 = GFX942 | GFX950;
const GFX1011: u16 = 1 << Level::Gfx1011 as u16;
const GFX1013: u16 = 1 << Level::Gfx1013 as u16;
const GFX10_1: u16 = 1 << Level::Gfx1010 as u16 | GFX1011 | GFX1013;
const GFX10_3: u16 = 1 << Level::Gfx10_3 as u16;
/// GFX10 with dot products.
const GFX10_DOT: u16 = GFX1011 | GFX10_3;
/// GFX10 with ray intersection.
const GFX10_RAY: u16 = GFX1013 | GFX10_3;
const GFX11: u16 = 1 << Level::Gfx11 as u16;
const GFX11_5: u16 = 1 << Level::Gfx11_5 as u16;
const GFX12: u16 = 1 << Level::Gfx12 as u16;
/// Before the unified VGPRs of GFX90A.
const GFX9_OLD: u16 = GFX900 | GFX904 | GFX906 | GFX908;
/// GFX90A keeps image loads, stores, atomics and the plain sample.
const GFX9_IMAGE: u16 = GFX9_OLD | GFX90A;
const CDNA2_UP: u16 = GFX90A | GFX940;
const GFX908_UP: u16 = GFX908 | CDNA2_UP;
const GFX906_UP: u16 = GFX906 | GFX908_UP;
const GFX904_UP: u16 = GFX904 | GFX906_UP;
const GFX9: u16 = GFX900 | GFX904_UP;
const GFX9_TO_942: u16 = GFX9 & !GFX950;
const GFX10: u16 = GFX10_1 | GFX10_3;
const GFX11_ALL: u16 = GFX11 | GFX11_5;
const GFX11_UP: u16 = GFX11_ALL | GFX12;
const GFX10_11: u16 = GFX10 | GFX11_ALL;
const GFX10_UP: u16 = GFX10 | GFX11_UP;
const GFX9_10: u16 = GFX9 | GFX10;
const GFX9_11: u16 = GFX9_10 | GFX11_ALL;
const ALL: u16 = GFX9 | GFX10_UP;

/// Every table with its encoding. GFX12 has its own buffer tables under the encodings of the older ones.
pub(super) static TABLES: &[(Encoding, &[Row])] = &[
    (Encoding::Sop2, scalar::SOP2),
    (Encoding::Sopk, scalar::SOPK),
    (Encoding::Sop1, scalar::SOP1),
    (Encoding::Sopc, scalar::SOPC),
    (Encoding::Sopp, scalar::SOPP),
    (Encoding::Smem, scalar::SMEM),
    (Encoding::Vop2, vector::VOP2),
    (Encoding::Vop1, vector::VOP1),
    (Encoding::Vopc, vector::VOPC),
    (Encoding::Vop3, vector3::VOP3),
    (Encoding::Vop3p, vector3::VOP3P),
    (Encoding::Vop3px2, vector3::VOP3PX2),
    (Encoding::Vintrp, vector3::VINTRP),
    (Encoding::Vinterp, vector3::VINTERP),
    (Encoding::Ds, memory::DS),
    (Encoding::Flat, memory::FLAT),
    (Encoding::Global, memory::GLOBAL),
    (Encoding::Scratch, memory::SCRATCH),
    (Encoding::Mubuf, memory::MUBUF),
    (Encoding::Mtbuf, memory::MTBUF),
    (Encoding::Mubuf, memory::VMUBUF),
    (Encoding::Mtbuf, memory::VMTBUF),
    (Encoding::Ldsdir, memory::LDSDIR),
    (Encoding::Exp, memory::EXP),
    (Encoding::Mimg, image::MIMG),
    (Encoding::Vimage, image::VIMAGE),
    (Encoding::Vsample, image::VSAMPLE),
];

/// Number of [`Encoding`]s.
const ENCODINGS: usize = Encoding::Exp as usize + 1;

/// The rows of one level, ready for lookup.
#[derive(Debug)]
pub struct Tables {
    by_code: [Vec<Option<&'static Row>>; ENCODINGS],
    by_op: HashMap<(Encoding, Op), &'static Row>,
}

impl Tables {
    /// The tables of a level; built at first use.
    pub fn of(level: Level) -> &'static Tables {
        static ALL_TABLES: [OnceLock<Tables>; Level::ALL.len()] =
            [const { OnceLock::new() }; Level::ALL.len()];
        ALL_TABLES[level as usize].get_or_init(|| Tables::build(level))
    }

    fn build(level: Level) -> Tables {
        let mut tables = Tables {
            by_code: std::array::from_fn(|_| Vec::new()),
            by_op: HashMap::new(),
        };
        for (encoding, row, code) in rows_of(level) {
            let codes = &mut tables.by_code[encoding as usize];
            if codes.len() <= code as usize {
                codes.resize(code as usize + 1, None);
            }
            codes[code as usize] = Some(row);
            tables.by_op.insert((encoding, row.op), row);
        }
        tables
    }

    /// The row of an opcode number.
    pub fn row(&self, encoding: Encoding, code: u32) -> Option<&'static Row> {
        self.by_code[encoding as usize]
            .get(code as usize)
            .copied()
            .flatten()
    }

    /// The row of an operation in an encoding.
    pub fn row_of_op(&self, encoding: Encoding, op: Op) -> Option<&'static Row> {
        self.by_op.get(&(encoding, op)).copied()
    }
}

/// Every row of a level with its opcode number.
pub(crate) fn rows_of(level: Level) -> impl Iterator<Item = (Encoding, &'static Row, u16)> {
    let bit = 1u16 << level as u16;
    TABLES.iter().flat_map(move |(encoding, rows)| {
        rows.iter().flat_map(move |row| {
            row.codes
                .iter()
                .filter(move |(set, _)| set & bit != 0)
                .map(move |(_, code)| (*encoding, row, *code))
        })
    })
}
