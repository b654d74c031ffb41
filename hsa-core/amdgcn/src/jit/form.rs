//! Which vector operations have native code.

use crate::isa::op::Op as M;

/// How an f32 or integer compare compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Less.
    Lt,
    /// Equal.
    Eq,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Less or greater: ordered and unequal.
    Lg,
    /// Greater or equal.
    Ge,
    /// Ordered.
    O,
    /// Unordered.
    U,
    /// Not greater or equal.
    Nge,
    /// Not less or greater.
    Nlg,
    /// Not greater.
    Ngt,
    /// Not less or equal.
    Nle,
    /// Unequal or unordered.
    Neq,
    /// Not less.
    Nlt,
}

impl Relation {
    /// The relation of b to a, where this is that of a to b.
    fn mirrored(self) -> Self {
        match self {
            Self::Lt => Self::Gt,
            Self::Gt => Self::Lt,
            Self::Le => Self::Ge,
            Self::Ge => Self::Le,
            Self::Nlt => Self::Ngt,
            Self::Ngt => Self::Nlt,
            Self::Nle => Self::Nge,
            Self::Nge => Self::Nle,
            same => same,
        }
    }
}

/// What an operation of the wave IR computes in a lane, for native code. Sources are `Op::s` in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// No native code.
    None,
    /// s0.
    Move,
    /// (s0 & `aux[0]`) ^ `aux[1]`: a source's sign, into a temporary.
    ChangeSign,
    /// !s0.
    Not,
    /// s0 & s1.
    And,
    /// s0 | s1.
    Or,
    /// s0 ^ s1.
    Xor,
    /// !(s0 ^ s1).
    Xnor,
    /// (s0 & s1) | s2.
    AndOr,
    /// s0 | s1 | s2.
    Or3,
    /// s0 ^ s1 ^ s2.
    Xor3,
    /// (s0 & s1) | (!s0 & s2).
    BitSelect,
    /// s1 << s0.
    ShiftLeft,
    /// s1 >> s0.
    ShiftRight,
    /// s1 >> s0, signed.
    ShiftRightSigned,
    /// The 64 bits of s1 << s0; s0 is a constant.
    ShiftLeft64,
    /// The 64 bits of s1 >> s0; s0 is a constant.
    ShiftRight64,
    /// 64-bit arithmetic shift to the right, by a constant.
    ShiftRightSigned64,
    /// (s0 << s1) + s2.
    ShiftLeftAdd,
    /// (s0 + s1) << s2.
    AddShiftLeft,
    /// (s0 << s1) | s2.
    ShiftLeftOr,
    /// (s0 ^ s1) + s2.
    XorAdd,
    /// s2 bits of s0 from bit s1 on.
    Extract,
    /// The same, signed; s1 and s2 are constants.
    ExtractSigned,
    /// The low half of {s0, s1} >> s2; s2 is a constant.
    AlignBit,
    /// s0 + s1.
    Add,
    /// s0 − s1.
    Subtract,
    /// s1 − s0.
    SubtractReversed,
    /// s0 + s1 + s2.
    Add3,
    /// s0 + s1 and the carry.
    AddCarryOut,
    /// s0 + s1 + carry, and the carry.
    AddCarry,
    /// s0 × s1, low half.
    Multiply,
    /// s0 × s1, high half, unsigned.
    MultiplyHigh,
    /// The 64 bits of s0 × s1 + s2, unsigned, and the carry.
    MultiplyAdd64,
    /// s0 × s1 of 24 bits, unsigned.
    Multiply24,
    /// s0 × s1 of 24 bits, signed.
    Multiply24Signed,
    /// s0 × s1 + s2 with factors of 24 bits, unsigned.
    MultiplyAdd24,
    /// s0 × s1 + s2 with factors of 24 bits, signed.
    MultiplyAdd24Signed,
    /// The smaller, signed.
    MinSigned,
    /// The larger, signed.
    MaxSigned,
    /// The smaller, unsigned.
    Min,
    /// The larger, unsigned.
    Max,
    /// s1 where the mask is set, else s0.
    Select,
    /// A mask of signed integers.
    CompareSigned(Relation),
    /// A mask of unsigned integers.
    Compare(Relation),
    /// A mask of f32.
    CompareF32(Relation),
    /// s0 + s1.
    AddF32,
    /// s0 − s1.
    SubtractF32,
    /// s1 − s0.
    SubtractReversedF32,
    /// s0 × s1.
    MultiplyF32,
    /// s0 × s1 + s2, rounded once.
    FusedF32,
    /// The smaller.
    MinF32,
    /// The larger.
    MaxF32,
    /// To an integer value: `vroundps` with this immediate.
    RoundF32(u8),
    /// Signed integer to f32.
    FromSigned,
    /// f32 to signed integer, towards zero, saturating; a NaN gives 0.
    ToSigned,
    /// Byte n of an integer to f32.
    FromByte(u8),
    /// The dword of global memory at the lane's address. Only in [runs](super::linear) whose addresses are linear, as are the next two.
    Load,
    /// A dword to global memory at the lane's address.
    Store,
    /// The dword at a scalar address, to the scalar slot `Op::d`.
    LoadScalar,
}

/// How many dword sources an operation has, and what else it reads and writes.
impl Form {
    /// The form of the operation whose first two sources are exchanged, if they are.
    pub fn with_sources_swapped(self, swapped: bool) -> Self {
        if !swapped {
            return self;
        }
        match self {
            Self::Compare(relation) => Self::Compare(relation.mirrored()),
            Self::CompareSigned(relation) => Self::CompareSigned(relation.mirrored()),
            Self::CompareF32(relation) => Self::CompareF32(relation.mirrored()),
            _ => Self::None,
        }
    }

    /// Number of sources.
    pub fn arity(self) -> usize {
        match self {
            // Their addresses are not in the places of operands.
            Self::None | Self::Load | Self::Store | Self::LoadScalar => 0,
            Self::Move
            | Self::ChangeSign
            | Self::Not
            | Self::RoundF32(_)
            | Self::FromSigned
            | Self::ToSigned
            | Self::FromByte(_) => 1,
            Self::AndOr
            | Self::Or3
            | Self::Xor3
            | Self::BitSelect
            | Self::ShiftLeftAdd
            | Self::AddShiftLeft
            | Self::ShiftLeftOr
            | Self::XorAdd
            | Self::Extract
            | Self::ExtractSigned
            | Self::AlignBit
            | Self::Add3
            | Self::MultiplyAdd24
            | Self::MultiplyAdd24Signed
            | Self::MultiplyAdd64
            | Self::FusedF32 => 3,
            _ => 2,
        }
    }

    /// Dwords of source `index`.
    pub fn source_dwords(self, index: usize) -> u32 {
        match (self, index) {
            (form, 1) if form.is_shift_64() => 2,
            (Self::MultiplyAdd64, 2) => 2,
            _ => 1,
        }
    }

    /// Dwords of the vector result; 0 for compares.
    pub fn result_dwords(self) -> u32 {
        match self {
            Self::None | Self::Store | Self::LoadScalar => 0,
            Self::MultiplyAdd64 => 2,
            form if form.is_shift_64() => 2,
            form if form.is_compare() => 0,
            _ => 1,
        }
    }

    /// Shifts pairs of registers by a constant.
    pub fn is_shift_64(self) -> bool {
        matches!(
            self,
            Self::ShiftLeft64 | Self::ShiftRight64 | Self::ShiftRightSigned64
        )
    }

    /// Accesses memory in each lane.
    pub fn is_memory(self) -> bool {
        matches!(self, Self::Load | Self::Store)
    }

    /// Stands only in runs with loads and stores.
    pub fn wants_memory_run(self) -> bool {
        self.is_memory() || self == Self::LoadScalar
    }

    /// Writes a vector register.
    pub fn has_vector_result(self) -> bool {
        !self.is_compare() && !matches!(self, Self::Store | Self::LoadScalar)
    }

    /// Gives a lane mask and nothing else, in the slot `Op::d`.
    pub fn is_compare(self) -> bool {
        matches!(
            self,
            Self::Compare(_) | Self::CompareSigned(_) | Self::CompareF32(_)
        )
    }

    /// Gives a lane mask besides its result, in the slot `Op::d2`.
    pub fn carries_out(self) -> bool {
        matches!(
            self,
            Self::AddCarryOut | Self::AddCarry | Self::MultiplyAdd64
        )
    }

    /// Reads the lane mask in the slot `Op::s[3]`.
    pub fn reads_mask(self) -> bool {
        matches!(self, Self::AddCarry | Self::Select)
    }

    /// Sources that must be constants.
    pub fn constant_sources(self) -> &'static [usize] {
        match self {
            form if form.is_shift_64() => &[0],
            Self::ExtractSigned => &[1, 2],
            Self::AlignBit => &[2],
            _ => &[],
        }
    }

    /// Float arithmetic: a NaN result takes the bits that the interpreter gives it.
    pub fn may_give_nan(self) -> bool {
        matches!(
            self,
            Self::AddF32
                | Self::SubtractF32
                | Self::SubtractReversedF32
                | Self::MultiplyF32
                | Self::FusedF32
                | Self::RoundF32(_)
        )
    }

    /// Is right only while MODE keeps f32 denormals: compares integers of floats, or rounds what is not arithmetic.
    pub fn needs_denormals(self) -> bool {
        matches!(self, Self::MinF32 | Self::MaxF32 | Self::RoundF32(_))
    }
}

/// The form of an instruction without modifiers.
pub fn of(op: M) -> Form {
    match op {
        M::v_mov_b32 | M::v_accvgpr_read_b32 | M::v_accvgpr_write_b32 | M::v_accvgpr_mov_b32 => {
            Form::Move
        }
        M::v_not_b32 => Form::Not,
        M::v_and_b32 => Form::And,
        M::v_or_b32 => Form::Or,
        M::v_xor_b32 => Form::Xor,
        M::v_xnor_b32 => Form::Xnor,
        M::v_and_or_b32 => Form::AndOr,
        M::v_or3_b32 => Form::Or3,
        M::v_xor3_b32 => Form::Xor3,
        M::v_bfi_b32 => Form::BitSelect,
        M::v_lshlrev_b32 => Form::ShiftLeft,
        M::v_lshrrev_b32 => Form::ShiftRight,
        M::v_ashrrev_i32 => Form::ShiftRightSigned,
        M::v_lshlrev_b64 => Form::ShiftLeft64,
        M::v_lshrrev_b64 => Form::ShiftRight64,
        M::v_ashrrev_i64 => Form::ShiftRightSigned64,
        M::v_lshl_add_u32 => Form::ShiftLeftAdd,
        M::v_add_lshl_u32 => Form::AddShiftLeft,
        M::v_lshl_or_b32 => Form::ShiftLeftOr,
        M::v_xad_u32 => Form::XorAdd,
        M::v_bfe_u32 => Form::Extract,
        M::v_bfe_i32 => Form::ExtractSigned,
        M::v_alignbit_b32 => Form::AlignBit,
        M::v_add_u32 | M::v_add_nc_u32 | M::v_add_i32 | M::v_add_nc_i32 => Form::Add,
        M::v_sub_u32 | M::v_sub_nc_u32 | M::v_sub_i32 | M::v_sub_nc_i32 => Form::Subtract,
        M::v_subrev_u32 | M::v_subrev_nc_u32 => Form::SubtractReversed,
        M::v_add3_u32 => Form::Add3,
        M::v_add_co_u32 => Form::AddCarryOut,
        M::v_addc_co_u32 | M::v_add_co_ci_u32 => Form::AddCarry,
        M::v_mul_lo_u32 | M::v_mul_lo_i32 => Form::Multiply,
        M::v_mul_hi_u32 => Form::MultiplyHigh,
        M::v_mad_u64_u32 | M::v_mad_co_u64_u32 => Form::MultiplyAdd64,
        M::v_mul_u32_u24 => Form::Multiply24,
        M::v_mul_i32_i24 => Form::Multiply24Signed,
        M::v_mad_u32_u24 => Form::MultiplyAdd24,
        M::v_mad_i32_i24 => Form::MultiplyAdd24Signed,
        M::v_min_i32 => Form::MinSigned,
        M::v_max_i32 => Form::MaxSigned,
        M::v_min_u32 => Form::Min,
        M::v_max_u32 => Form::Max,
        M::v_cndmask_b32 => Form::Select,
        M::v_add_f32 | M::v_pk_add_f32 => Form::AddF32,
        M::v_sub_f32 => Form::SubtractF32,
        M::v_subrev_f32 => Form::SubtractReversedF32,
        M::v_mul_f32 | M::v_pk_mul_f32 => Form::MultiplyF32,
        M::v_fma_f32 | M::v_fmac_f32 | M::v_fmamk_f32 | M::v_fmaak_f32 | M::v_pk_fma_f32 => {
            Form::FusedF32
        }
        M::v_pk_mov_b32 => Form::Move,
        M::v_min_f32 | M::v_min_num_f32 => Form::MinF32,
        M::v_max_f32 | M::v_max_num_f32 => Form::MaxF32,
        // The immediates of `vroundps`: the direction, with bit 3 set: no inexact exception.
        M::v_rndne_f32 => Form::RoundF32(8),
        M::v_floor_f32 => Form::RoundF32(9),
        M::v_ceil_f32 => Form::RoundF32(10),
        M::v_trunc_f32 => Form::RoundF32(11),
        M::v_cvt_f32_i32 => Form::FromSigned,
        M::v_cvt_i32_f32 => Form::ToSigned,
        M::v_cvt_f32_ubyte0 => Form::FromByte(0),
        M::v_cvt_f32_ubyte1 => Form::FromByte(1),
        M::v_cvt_f32_ubyte2 => Form::FromByte(2),
        M::v_cvt_f32_ubyte3 => Form::FromByte(3),
        _ => compare(op),
    }
}

fn compare(op: M) -> Form {
    use Relation as R;
    match op {
        M::v_cmp_lt_i32 => Form::CompareSigned(R::Lt),
        M::v_cmp_eq_i32 => Form::CompareSigned(R::Eq),
        M::v_cmp_le_i32 => Form::CompareSigned(R::Le),
        M::v_cmp_gt_i32 => Form::CompareSigned(R::Gt),
        M::v_cmp_ne_i32 => Form::CompareSigned(R::Lg),
        M::v_cmp_ge_i32 => Form::CompareSigned(R::Ge),
        M::v_cmp_lt_u32 => Form::Compare(R::Lt),
        M::v_cmp_eq_u32 => Form::Compare(R::Eq),
        M::v_cmp_le_u32 => Form::Compare(R::Le),
        M::v_cmp_gt_u32 => Form::Compare(R::Gt),
        M::v_cmp_ne_u32 => Form::Compare(R::Lg),
        M::v_cmp_ge_u32 => Form::Compare(R::Ge),
        M::v_cmp_lt_f32 => Form::CompareF32(R::Lt),
        M::v_cmp_eq_f32 => Form::CompareF32(R::Eq),
        M::v_cmp_le_f32 => Form::CompareF32(R::Le),
        M::v_cmp_gt_f32 => Form::CompareF32(R::Gt),
        M::v_cmp_lg_f32 => Form::CompareF32(R::Lg),
        M::v_cmp_ge_f32 => Form::CompareF32(R::Ge),
        M::v_cmp_o_f32 => Form::CompareF32(R::O),
        M::v_cmp_u_f32 => Form::CompareF32(R::U),
        M::v_cmp_nge_f32 => Form::CompareF32(R::Nge),
        M::v_cmp_nlg_f32 => Form::CompareF32(R::Nlg),
        M::v_cmp_ngt_f32 => Form::CompareF32(R::Ngt),
        M::v_cmp_nle_f32 => Form::CompareF32(R::Nle),
        M::v_cmp_neq_f32 => Form::CompareF32(R::Neq),
        M::v_cmp_nlt_f32 => Form::CompareF32(R::Nlt),
        _ => Form::None,
    }
}
