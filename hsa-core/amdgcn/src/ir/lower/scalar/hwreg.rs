//! Hardware registers: `s_getreg_b32`, `s_setreg_b32`, `s_setreg_imm32_b32`. Registers that the engine does not have are refused by number.

use crate::{
    interp::{
        exceptions::flag,
        lane,
        run::get_mxcsr,
        wave::{Wave, mode, slot},
    },
    ir::Op,
    isa::{inst::Inst, op::Op as M},
    target::Family,
};

use super::{
    super::{LowerContext, Unsupported, control},
    register,
};

/// Lowers an access to a hardware register.
pub(super) fn lower(inst: &Inst, cx: &mut LowerContext) -> Result<(), Unsupported> {
    let write = inst.op != M::s_getreg_b32;
    let id = register_of(inst, cx, write)?;
    let mut op = Op::new(if write { set_register } else { get_register });
    if !write {
        op.d = cx.scalar_dst(inst.dst.operand, 1)?;
    } else if let (Some(value), M::s_setreg_imm32_b32) = (inst.imm32, inst.op) {
        op.s[0] = cx.constant(&[value]);
    } else {
        op.s[0] = cx.scalar_src(register(inst), 1)?;
    }
    op.imm = u64::from(inst.simm16.cast_unsigned());
    op.aux[0] = id;
    op.aux[1] = u32::from(cx.config.target.major >= 12);
    cx.push(op);
    Ok(())
}

/// The enables of exceptions in MODE. On GFX12 they are there too, but programs see them in TRAP_CTRL.
const EXCP_EN: u32 = flag::ALL << mode::EXCP_EN_SHIFT;

/// Hardware registers by number (LLVM `SIDefines`); the last ones are names of ours for registers whose number means another one elsewhere.
mod number {
    pub const MODE: u32 = 1;
    pub const STATUS: u32 = 2;
    pub const TRAPSTS: u32 = 3;
    pub const HW_ID: u32 = 4;
    pub const GPR_ALLOC: u32 = 5;
    pub const LDS_ALLOC: u32 = 6;
    pub const IB_STS: u32 = 7;
    pub const SH_MEM_BASES: u32 = 15;
    pub const FLAT_SCR_LO: u32 = 20;
    pub const FLAT_SCR_HI: u32 = 21;
    pub const HW_ID1: u32 = 23;
    pub const HW_ID2: u32 = 24;
    pub const SHADER_CYCLES: u32 = 29;
    /// GFX12: the high half of the cycle counter.
    pub const SHADER_CYCLES_HI: u32 = 30;
    /// GFX12: EXCP_FLAG_USER, EXCP_FLAG_PRIV and TRAP_CTRL; 18, 17 and 19 there.
    pub const EXCP_FLAG_USER: u32 = 65;
    pub const EXCP_FLAG_PRIV: u32 = 66;
    pub const TRAP_CTRL: u32 = 67;
    /// GFX940: number of the compute die; 20 there.
    pub const XCC_ID: u32 = 64;
}

/// The register of an access, by the number that it has in [`number`]. Refuses registers that the engine does not have.
fn register_of(inst: &Inst, cx: &LowerContext, write: bool) -> Result<u32, Unsupported> {
    let number = u32::from(inst.simm16.cast_unsigned()) & 63;
    let id = match (number, cx.config.target.family()) {
        (20, Family::Gfx940) => number::XCC_ID,
        (17, Family::Gfx12) => number::EXCP_FLAG_PRIV,
        (18, Family::Gfx12) => number::EXCP_FLAG_USER,
        (19, Family::Gfx12) => number::TRAP_CTRL,
        // GFX12 has other registers under the old numbers of all but MODE, STATUS, the ids and the cycle counter.
        (3..=22, Family::Gfx12) => u32::MAX,
        _ => number,
    };
    let gfx11_up = cx.config.target.major >= 11;
    let known = match id {
        number::MODE
        | number::STATUS
        | number::TRAPSTS
        | number::EXCP_FLAG_USER
        | number::TRAP_CTRL => true,
        number::FLAT_SCR_LO | number::FLAT_SCR_HI => !gfx11_up,
        number::HW_ID
        | number::GPR_ALLOC
        | number::LDS_ALLOC
        | number::IB_STS
        | number::SH_MEM_BASES
        | number::HW_ID1
        | number::HW_ID2
        | number::SHADER_CYCLES
        | number::EXCP_FLAG_PRIV
        | number::XCC_ID => !write,
        number::SHADER_CYCLES_HI => !write && cx.config.target.major >= 12,
        _ => false,
    };
    if known {
        Ok(id)
    } else {
        Err(Unsupported(format!(
            "{}: hardware register {number}",
            inst.op.name()
        )))
    }
}

/// Splits the immediate of `s_getreg`/`s_setreg`: offset, mask of the field's width.
fn field(imm: u64) -> (u32, u32) {
    let imm = imm as u32;
    let width = (imm >> 11 & 31) + 1;
    (
        imm >> 6 & 31,
        if width == 32 {
            u32::MAX
        } else {
            (1 << width) - 1
        },
    )
}

fn hardware_register(w: &Wave, id: u32) -> u32 {
    match id {
        number::MODE => w.mode,
        number::STATUS => {
            (w.status & !0x601)
                | w.sgpr[slot::SCC] & 1
                | u32::from(w.exec() == 0) << 9
                | u32::from(w.vcc() == 0) << 10
        }
        number::TRAPSTS => w.trap_status,
        number::EXCP_FLAG_USER => w.trap_status & flag::ALL,
        number::TRAP_CTRL => w.mode >> mode::EXCP_EN_SHIFT & flag::ALL,
        // GFX9: wave 3:0, SIMD 5:4, CU 11:8, SH 12, SE 14:13, VM 23:20, queue 26:24.
        number::HW_ID => {
            let id = w.hardware_id;
            (id.slot & 15)
                | (id.simd & 3) << 4
                | (id.compute_unit & 15) << 8
                | (id.compute_unit >> 4 & 7) << 12
                | (id.vmid & 15) << 20
                | (id.queue & 7) << 24
        }
        // GFX10: wave 4:0, SIMD 9:8, WGP 13:10, SE 18:16.
        number::HW_ID1 => {
            let id = w.hardware_id;
            (id.slot & 31)
                | (id.simd & 3) << 8
                | (id.compute_unit & 15) << 10
                | (id.compute_unit >> 4 & 7) << 16
        }
        number::HW_ID2 => (w.hardware_id.queue & 15) | (w.hardware_id.vmid & 15) << 24,
        number::GPR_ALLOC => (w.vgpr_count / 4).saturating_sub(1) << 8,
        number::LDS_ALLOC => (w.lds_size / 512) << 12,
        // Apertures: private base in bits 15:0, shared base in bits 31:16 of their addresses' top 16 bits.
        number::SH_MEM_BASES => {
            w.sgpr[slot::PRIVATE_BASE + 1] >> 16 | (w.sgpr[slot::SHARED_BASE + 1] & 0xffff_0000)
        }
        number::FLAT_SCR_LO => w.flat_scratch as u32,
        number::FLAT_SCR_HI => (w.flat_scratch >> 32) as u32,
        number::SHADER_CYCLES => (cycles() & 0xf_ffff) as u32,
        number::SHADER_CYCLES_HI => (cycles() >> 32) as u32,
        _ => 0,
    }
}

/// The host's time stamp counter, standing in for the shader clock.
pub fn cycles() -> u64 {
    // SAFETY: rdtsc has no preconditions.
    unsafe { core::arch::x86_64::_rdtsc() }
}

unsafe fn get_register(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: operands by the lowering.
    unsafe {
        let (offset, mask) = field((*op).imm);
        let id = (*op).aux[0];
        let mut value = hardware_register(w, id);
        if id == number::MODE && (*op).aux[1] != 0 {
            value &= !EXCP_EN;
        }
        w.sgpr[(*op).d as usize] = value >> offset & mask;
        op.add(1)
    }
}

unsafe fn set_register(w: &mut Wave, op: *const Op) -> *const Op {
    // SAFETY: operands by the lowering.
    unsafe {
        let (offset, mask) = field((*op).imm);
        let id = (*op).aux[0];
        let value = lane::scalar(w, (*op).s[0]);
        let merge = |old: u32| old & !(mask << offset) | (value & mask) << offset;
        match id {
            number::MODE => {
                let kept = if (*op).aux[1] != 0 { EXCP_EN } else { 0 };
                let mode = merge(w.mode) & !kept | w.mode & kept;
                control::change_mode(w, mode);
                debug_assert!(get_mxcsr() & 0x6000 == w.mxcsr & 0x6000);
                debug_assert!(w.mode & mode::GPR_IDX_EN == mode & mode::GPR_IDX_EN);
            }
            number::STATUS => {
                w.status = merge(hardware_register(w, id));
                w.sgpr[slot::SCC] = w.status & 1;
            }
            number::TRAPSTS => w.trap_status = merge(w.trap_status),
            number::EXCP_FLAG_USER => w.trap_status = merge(w.trap_status) & flag::ALL,
            number::TRAP_CTRL => {
                let enables = merge(w.mode >> mode::EXCP_EN_SHIFT & flag::ALL) & flag::ALL;
                w.mode = w.mode & !EXCP_EN | enables << mode::EXCP_EN_SHIFT;
            }
            number::FLAT_SCR_LO => {
                w.flat_scratch =
                    (w.flat_scratch & !0xffff_ffff) | u64::from(merge(w.flat_scratch as u32))
            }
            number::FLAT_SCR_HI => {
                let high = merge((w.flat_scratch >> 32) as u32);
                w.flat_scratch = (w.flat_scratch & 0xffff_ffff) | u64::from(high) << 32;
            }
            _ => {}
        }
        op.add(1)
    }
}
