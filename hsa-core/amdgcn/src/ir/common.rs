//! What all waves of a dispatch do alike at their beginning.
//!
//! Kernels begin with loads of their arguments and of the packet, and with arithmetic on them. As long as instructions see nothing
//! that differs from wave to wave (the group's id, EXEC, lanes) and memory that nobody changes while the dispatch runs, their results are
//! the same in all waves: the argument segment is constant, and so is the packet (HSA Runtime specification, "Kernarg segment" and "AQL
//! packets"). One wave does them, and the others begin with what it found.

use super::{lower, program::CodeSource};
use crate::{
    interp::wave::slot,
    isa::{
        inst::{Format, Inst, Operand, OperandSlot},
        op::Op as M,
    },
};

/// Instructions looked at.
const LOOK_AHEAD: usize = 48;

/// What a kernel's waves find in their SGPRs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchRegisters {
    /// User SGPRs, from s0 on: the same in all waves.
    pub user: u32,
    /// SGPRs behind them that differ from wave to wave.
    pub system: u32,
    /// SGPRs that a wave has.
    pub allocated: u32,
    /// First SGPR of each pointer to memory that does not change: the packet, the arguments.
    pub pointers: [Option<u32>; 2],
}

/// A set of scalar slots below [`slot::SCC`].
#[derive(Clone, Copy)]
struct Slots(u128);

impl Slots {
    fn range(first: u32, count: u32) -> Self {
        let ones = if count >= 128 {
            u128::MAX
        } else {
            (1 << count) - 1
        };
        Self(ones.checked_shl(first).unwrap_or(0))
    }

    fn contains(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }

    fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// The address of the first instruction that need not have the same effect in all waves, if there is a load before it.
pub fn end(
    code: &dyn CodeSource,
    entry: u64,
    registers: &LaunchRegisters,
    wave_size: u32,
) -> Option<u64> {
    let mut known = Slots::range(0, registers.user);
    let writable = registers.user + registers.system..registers.allocated.min(slot::VCC as u32);
    let writable = Slots(
        Slots::range(0, registers.user).0
            | Slots::range(writable.start, writable.len() as u32).0
            | Slots::range(slot::VCC as u32, 2).0,
    );
    let mut pointers = registers.pointers;
    let (mut pc, mut loads) = (entry, 0);
    for _ in 0..LOOK_AHEAD {
        let Ok(inst) = code.fetch(pc) else { break };
        if lower::flow(&inst, pc) != lower::Flow::Next {
            break;
        }
        if !is_wait(&inst) {
            let slots = |operand: &OperandSlot, code: u8| {
                Slots::range(u32::from(code), operand.ty.dwords(wave_size))
            };
            let is_known = |operand: &OperandSlot| match operand.operand {
                Operand::None | Operand::Int(_) | Operand::Float(_) | Operand::Literal(_) => true,
                Operand::Scalar(code) => known.contains(slots(operand, code)),
                _ => false,
            };
            let constant = |operand: &OperandSlot| matches!(operand.operand, Operand::Scalar(code) if pointers.contains(&Some(u32::from(code))));
            let Operand::Scalar(destination) = inst.dst.operand else {
                break;
            };
            let results = slots(&inst.dst, destination);
            let same = inst.src.iter().all(is_known)
                && (is_arithmetic(&inst) || is_load(&inst) && constant(&inst.src[0]));
            if !same || !writable.contains(results) {
                break;
            }
            loads += usize::from(inst.format == Format::Smem);
            known.0 |= results.0;
            for pointer in &mut pointers {
                if pointer.is_some_and(|first| results.meets(Slots::range(first, 2))) {
                    *pointer = None;
                }
            }
        }
        pc = pc.wrapping_add(u64::from(inst.len));
    }
    (loads > 0).then_some(pc)
}

/// Without an effect here.
fn is_wait(inst: &Inst) -> bool {
    matches!(
        inst.op,
        M::s_nop | M::s_waitcnt | M::s_wait_kmcnt | M::s_wait_alu | M::s_clause | M::s_delay_alu
    )
}

/// Loads from memory that is not written, of whole dwords.
fn is_load(inst: &Inst) -> bool {
    let plain = matches!(
        inst.op,
        M::s_load_dword
            | M::s_load_dwordx2
            | M::s_load_dwordx4
            | M::s_load_dwordx8
            | M::s_load_dwordx16
            | M::s_load_b32
            | M::s_load_b64
            | M::s_load_b96
            | M::s_load_b128
            | M::s_load_b256
            | M::s_load_b512
    );
    plain && !inst.mem.glc
}

/// Arithmetic whose results, SCC among them, depend on nothing but the sources.
fn is_arithmetic(inst: &Inst) -> bool {
    matches!(
        inst.op,
        M::s_mov_b32
            | M::s_mov_b64
            | M::s_movk_i32
            | M::s_and_b32
            | M::s_and_b64
            | M::s_or_b32
            | M::s_or_b64
            | M::s_xor_b32
            | M::s_xor_b64
            | M::s_not_b32
            | M::s_not_b64
            | M::s_lshl_b32
            | M::s_lshl_b64
            | M::s_lshr_b32
            | M::s_lshr_b64
            | M::s_ashr_i32
            | M::s_ashr_i64
            | M::s_bfe_u32
            | M::s_bfe_i32
            | M::s_add_i32
            | M::s_add_u32
            | M::s_add_co_i32
            | M::s_add_co_u32
            | M::s_addc_u32
            | M::s_add_co_ci_u32
            | M::s_sub_i32
            | M::s_sub_u32
            | M::s_sub_co_i32
            | M::s_sub_co_u32
            | M::s_mul_i32
            | M::s_mul_hi_u32
            | M::s_mul_hi_i32
            | M::s_min_i32
            | M::s_min_u32
            | M::s_max_i32
            | M::s_max_u32
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        interp::testing::{BASE, Listing, inst, s, sopp, v},
        isa::inst::Type,
    };

    const B32: Type = Type::B(32);
    const B64: Type = Type::B(64);

    /// s[0:1] the packet, s[2:3] the arguments, s4 and s5 the group's id.
    const REGISTERS: LaunchRegisters = LaunchRegisters {
        user: 4,
        system: 2,
        allocated: 32,
        pointers: [Some(0), Some(2)],
    };

    fn load(to: u8, pointer: u8) -> Inst {
        inst(
            M::s_load_dword,
            Format::Smem,
            s(to, B32),
            &[s(pointer, B64)],
        )
    }

    fn add(to: u8, a: u8, b: u8) -> Inst {
        inst(
            M::s_add_u32,
            Format::Sop2,
            s(to, B32),
            &[s(a, B32), s(b, B32)],
        )
    }

    /// How many instructions of a listing all waves do alike.
    fn count(listing: &[Inst]) -> Option<u64> {
        let mut listing = listing.to_vec();
        listing.push(sopp(M::s_endpgm, 0));
        end(&Listing(listing), BASE, &REGISTERS, 64).map(|pc| (pc - BASE) / 4)
    }

    #[test]
    fn loads_of_arguments_and_arithmetic_on_them_are_common() {
        let listing = [
            load(8, 0),
            load(9, 2),
            sopp(M::s_waitcnt, 0),
            add(10, 8, 9),
            // The group's id.
            add(11, 10, 4),
            load(12, 2),
        ];
        assert_eq!(count(&listing), Some(4));
    }

    #[test]
    fn what_differs_from_wave_to_wave_ends_it() {
        let exec = slot::EXEC as u8;
        let vector = inst(M::v_mov_b32, Format::Vop1, v(0, B32), &[s(8, B32)]);
        let unknown = add(9, 8, 20);
        let system_overwritten = load(5, 2);
        let lanes = inst(M::s_mov_b64, Format::Sop1, s(exec, B64), &[s(2, B64)]);
        for last in [vector, unknown, system_overwritten, lanes] {
            assert_eq!(count(&[load(8, 2), last.clone()]), Some(1), "{:?}", last.op);
        }
    }

    #[test]
    fn only_memory_that_does_not_change_is_read() {
        // Through a pointer that was loaded, or one that was overwritten.
        let wide = inst(M::s_load_dwordx2, Format::Smem, s(8, B64), &[s(2, B64)]);
        assert_eq!(count(&[wide, load(10, 8)]), Some(1));
        assert_eq!(count(&[load(2, 2), load(8, 2)]), Some(1));
        let mut coherent = load(8, 2);
        coherent.mem.glc = true;
        assert_eq!(count(&[coherent]), None);
    }

    #[test]
    fn a_kernel_without_loads_has_nothing_to_save() {
        assert_eq!(count(&[add(8, 0, 1)]), None);
    }
}
