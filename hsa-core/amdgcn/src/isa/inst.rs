//! The decoded instruction: what the decoder gives to the disassembler, the coverage report and the lowering.
//!
//! One shape for every encoding and family. Decoding happens once per kernel, so the shape favours the reader of it, not
//! size. Fields that the hardware ignores are not represented.

use super::op::Op;

/// The encoding that an instruction was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Scalar ALU, one source.
    Sop1,
    /// Scalar ALU, two sources.
    Sop2,
    /// Scalar compare.
    Sopc,
    /// Scalar ALU with a 16-bit immediate.
    Sopk,
    /// Program control.
    Sopp,
    /// Scalar memory.
    Smem,
    /// Vector ALU, one source (32-bit form, also with DPP or SDWA).
    Vop1,
    /// Vector ALU, two sources (32-bit form, also with DPP or SDWA).
    Vop2,
    /// Vector compare (32-bit form, also with SDWA).
    Vopc,
    /// Vector ALU, 64-bit form: up to three sources, neg, abs, clamp, omod, op_sel. Also the 64-bit form of VOP1, VOP2, VOPC.
    Vop3,
    /// VOP3 with a scalar destination in place of abs (carry-out, `v_div_scale`).
    Vop3b,
    /// Packed math, and MFMA (VOP3P-MAI).
    Vop3p,
    /// Two VOP instructions in one (GFX11 and later).
    Vopd,
    /// Parameter interpolation.
    Vintrp,
    /// LDS and GWS.
    Ds,
    /// FLAT with generic addresses.
    Flat,
    /// FLAT, global segment.
    Global,
    /// FLAT, scratch segment.
    Scratch,
    /// Untyped buffer.
    Mubuf,
    /// Typed buffer.
    Mtbuf,
    /// Image.
    Mimg,
    /// Export.
    Exp,
}

/// One operand, as it stands in the instruction. Its type, and so its width, is in the [`OperandSlot`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operand {
    /// The instruction has no such operand.
    None,
    /// Any register of the scalar file by its operand code 0..=127: SGPRs, flat_scratch, xnack_mask, vcc, ttmp, m0, null,
    /// exec. The wave keeps them in one array under this index.
    Scalar(u8),
    /// First VGPR of the operand.
    Vgpr(u16),
    /// First accumulation VGPR of the operand (GFX908 and later CDNA).
    Agpr(u16),
    /// Inline integer constant, −16..=64.
    Int(i32),
    /// Inline float constant by its operand code, 240..=248 (0.5, −0.5, 1, −1, 2, −2, 4, −4, 1/(2π)); the bits depend on the
    /// type of the operand.
    Float(u8),
    /// 32-bit literal that follows the instruction.
    Literal(u32),
    /// `src_shared_base`, `src_shared_limit`, `src_private_base`, `src_private_limit`, `src_pops_exiting_wave_id`,
    /// `src_vccz`, `src_execz`, `src_scc`, `src_lds_direct`: by operand code 235..=239, 251..=254.
    Source(u8),
}

/// The type in which an operand is read or written; decides inline float bits, and how a literal is widened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Untyped bits of this many bits (16, 32, 64, 96, 128, 256, 512, 1024 …).
    B(u16),
    /// Signed integer.
    I(u16),
    /// Unsigned integer.
    U(u16),
    /// IEEE float of 16, 32 or 64 bits.
    F(u16),
    /// Two packed 16-bit values (f16 or integers), or packed f32 for width 64.
    Packed(u16),
    /// A lane mask: 64 or 32 bits by the wave size.
    Mask,
}

/// DPP controls (GFX8 to GFX10 `row_*` DPP16, and DPP8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dpp {
    /// `dpp_ctrl`, 9 bits; for DPP8 the eight 3-bit selectors.
    pub ctrl: u32,
    /// DPP8 rather than DPP16.
    pub is_dpp8: bool,
    /// Lanes read out of range give 0 (`bound_ctrl:0` in text of GFX9) rather than being disabled.
    pub bound_ctrl: bool,
    /// Fetch from inactive lanes (GFX10, `fi:1`).
    pub fetch_inactive: bool,
    /// Four bits: which banks of four lanes in a row are written.
    pub bank_mask: u8,
    /// Four bits: which rows of 16 lanes are written.
    pub row_mask: u8,
}

/// SDWA selector: which part of the dword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SdwaSel {
    /// Byte 0 to 3.
    Byte(u8),
    /// Word 0 or 1.
    Word(u8),
    /// The whole dword.
    Dword,
}

/// SDWA controls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sdwa {
    /// Part of the destination that is written.
    pub dst_sel: SdwaSel,
    /// What happens to the rest of the destination: 0 zero (UNUSED_PAD), 1 sign-extend (UNUSED_SEXT), 2 preserve.
    pub dst_unused: u8,
    /// Part of source 0.
    pub src0_sel: SdwaSel,
    /// Part of source 1.
    pub src1_sel: SdwaSel,
    /// Sign-extend source 0, 1.
    pub sext: [bool; 2],
}

/// ALU modifiers; bit n of a mask is source n.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct AluModifiers {
    /// Negate source n (VOP3, SDWA, DPP); for VOP3P the low halves (`neg_lo`).
    pub neg: u8,
    /// Absolute value of source n; for VOP3P the high halves' negation (`neg_hi`), except `v_mad_mix`/`v_fma_mix`, where it is abs.
    pub abs: u8,
    /// VOP3P and 16-bit VOP3: take the high half of source n for the low result; bit 3: write the high half.
    pub op_sel: u8,
    /// VOP3P: take the high half of source n for the high result.
    pub op_sel_hi: u8,
    /// Output modifier: 0 none, 1 ×2, 2 ×4, 3 ÷2.
    pub omod: u8,
    /// Clamp the result.
    pub clamp: bool,
    /// MFMA broadcast size; the format of A of `*_f8f6f4`.
    pub cbsz: u8,
    /// MFMA broadcast block.
    pub abid: u8,
    /// MFMA B-matrix lane group pattern (negation for f64; the format of B of `*_f8f6f4`).
    pub blgp: u8,
}

/// Controls of memory instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct MemModifiers {
    /// Immediate byte offset, sign-extended where the encoding is signed. DS: `offset0` or the 16-bit offset.
    pub offset: i32,
    /// SMEM with an offset register: the immediate offset is part of the encoding, even if it is 0.
    pub has_offset: bool,
    /// DS two-address forms: `offset1`.
    pub offset1: u8,
    /// Globally coherent; for atomics: return the old value. (`sc0` on GFX940.)
    pub glc: bool,
    /// System-level coherent. (`nt` on GFX940.)
    pub slc: bool,
    /// Device-level coherent (GFX10). (`sc1` on GFX90A's `scc`, GFX940.)
    pub dlc: bool,
    /// GFX90A `scc` bit, GFX940 `sc1`.
    pub scc: bool,
    /// Buffer: offset from VGPR.
    pub offen: bool,
    /// Buffer: index from VGPR.
    pub idxen: bool,
    /// Write to LDS rather than VGPRs.
    pub lds: bool,
    /// Texture fail enable.
    pub tfe: bool,
    /// DS: GDS rather than LDS.
    pub gds: bool,
    /// Typed buffers: data and number format (GFX9: dfmt in bits 3:0, nfmt in bits 6:4; GFX10+: unified format).
    pub format: u8,
    /// Image: component mask.
    pub dmask: u8,
    /// Image: unnormalised coordinates.
    pub unorm: bool,
    /// Image: array (GFX9 `da`).
    pub da: bool,
    /// Image: 16-bit addresses.
    pub a16: bool,
    /// Image and typed buffers: 16-bit data.
    pub d16: bool,
    /// Image: LOD warning enable.
    pub lwe: bool,
    /// Image: dimension (GFX10+).
    pub dim: u8,
    /// Image: residency (GFX9/10 `r128`).
    pub r128: bool,
    /// GFX12: temporal hint in bits 2:0, scope in bits 4:3.
    pub cpol: u8,
}

/// An operand together with its type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OperandSlot {
    /// What and where.
    pub operand: Operand,
    /// How it is read or written.
    pub ty: Type,
}

impl OperandSlot {
    /// No operand.
    pub const NONE: OperandSlot = OperandSlot {
        operand: Operand::None,
        ty: Type::B(32),
    };
}

/// One decoded instruction.
///
/// Where each operand of the assembler text goes:
/// * `dst`: vdst or sdst. Stores and non-returning atomics have none. VOPC: the SGPR (or VCC, or EXEC for GFX10 `v_cmpx`).
/// * `dst2`: the second destination: carry-out of VOP2 (VCC) and VOP3B.
/// * `src`: sources in text order, implicit VCC included (carry-in, `v_cndmask`, `v_div_fmas`); `v_mac`/`v_fmac` do not list
///   the destination again. Memory: `src[0]` the address VGPR (offset/index VGPR for buffers), `src[1]` the data VGPR, `src[2]` the
///   second data (DS) or the scalar base / resource (`saddr`, `sbase` is `src[0]` for SMEM, SRD for buffers and images),
///   `src[3]` the scalar offset (`soffset`, of SMEM too) or the sampler. Images: `src[1]` the data VGPRs of stores and atomics.
///   An absent `saddr` or address VGPR is [`Operand::None`].
/// * SOPK: the register of compares, `s_setreg_b32`, `s_cbranch_i_fork` and `s_waitcnt_*cnt` is `src[0]`; `s_addk`, `s_mulk`
///   and `s_cmovk` have it as `dst` only.
/// * `s_set_gpr_idx_on`: the mode bits are in `simm16`. `s_sendmsg_rtn_*`: the message is in `simm16`.
/// * VINTRP and VOP3 interpolation: `simm16` is attribute << 2 | channel; `v_interp_mov`'s parameter is in `imm32`.
/// * Export: `simm16` is target | enable mask << 8; `mem.unorm` is unused; `src` the four VGPRs; `imm32` has the bits compr (0),
///   done (1), vm (2), row enable (3).
/// * GFX12 memory: `mem.format` of FLAT, DS and SMEM unused; temporal hint and scope are in [`MemModifiers::cpol`].
/// * GFX11 exchanges the operand codes of m0 and null. Here m0 is `Scalar(124)` and null `Scalar(125)` in every family.
/// * Halves of VOPD pairs have format [`Format::Vopd`] and the plain operation (`v_add_f32` for `v_dual_add_f32`).
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// Which operation.
    pub op: Op,
    /// Which encoding.
    pub format: Format,
    /// Length in bytes: 4, 8, 12, … with its literal, DPP or SDWA dword.
    pub len: u8,
    /// Destination.
    pub dst: OperandSlot,
    /// Second destination.
    pub dst2: OperandSlot,
    /// Sources.
    pub src: [OperandSlot; 4],
    /// 16-bit immediate of SOPK and SOPP; the K of `v_madmk`/`v_madak`/`v_fmamk`/`v_fmaak`, and of `s_setreg_imm32` in `imm32`.
    pub simm16: i16,
    /// 32-bit immediate operand, where the operation has one; the truth table of `v_bitop3_*`.
    pub imm32: Option<u32>,
    /// ALU modifiers.
    pub alu: AluModifiers,
    /// Memory controls.
    pub mem: MemModifiers,
    /// DPP controls, if it is a DPP form.
    pub dpp: Option<Dpp>,
    /// SDWA controls, if it is an SDWA form.
    pub sdwa: Option<Sdwa>,
    /// Second half of a VOPD pair; the `v_mfma_ld_scale_b32` of a `v_mfma_scale_*`, whose sources are the scales of A and B.
    pub vopd: Option<Box<Inst>>,
    /// Images of GFX10 and later: the address VGPRs, if they are not consecutive (NSA); `src[0]` is the first of them.
    pub nsa: Option<Box<[u8]>>,
}

impl Type {
    /// Size in bits; a lane mask has one bit for each lane of the wave.
    pub const fn bits(self, wave_size: u32) -> u32 {
        match self {
            Type::B(bits) | Type::I(bits) | Type::U(bits) | Type::F(bits) | Type::Packed(bits) => {
                bits as u32
            }
            Type::Mask => wave_size,
        }
    }

    /// Number of registers, at least one.
    pub const fn dwords(self, wave_size: u32) -> u32 {
        self.bits(wave_size).div_ceil(32)
    }
}
