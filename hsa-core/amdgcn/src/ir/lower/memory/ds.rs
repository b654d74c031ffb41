//! LDS and the global wave sync.

use crate::{
    interp::{
        memory::{
            atomic::{self, NoReturn, Old},
            bvh_stack, element, flag, lds,
            space::Lds,
            wave_sync, wide,
        },
        run::Handler,
    },
    ir::Op,
    isa::{
        inst::{Inst, Operand},
        op::Op as M,
    },
};

use super::{
    super::{LowerContext, Unsupported, control},
    by_lane, file, is_wide, lds_bpermute,
    names::{self, Load, Rmw, Store},
    read2, vload, vstore, wide_load, wide_store, write2,
};

pub(super) fn ds(inst: &Inst, cx: &mut LowerContext) -> Result<(), Unsupported> {
    use M::*;
    if let Some((run, has_value)) = wave_sync::handler(inst.op) {
        let mut op = Op::new(run);
        op.imm = u64::from(inst.mem.offset.cast_unsigned() & 0xffff);
        if has_value {
            op.s[0] = file(cx, inst.src[0].operand, 1)?;
        }
        cx.push(op);
        return Ok(());
    }
    if inst.mem.gds {
        return Err(Unsupported::form(inst, "GDS"));
    }
    let mut op = Op::new(control::unsupported);
    op.imm = u64::from(inst.mem.offset.cast_unsigned() & 0xffff);
    if inst.src[0].operand != Operand::None {
        op.aux[0] |= flag::VADDR;
        op.s[0] = file(cx, inst.src[0].operand, 1)?;
    }
    if let Some(shape) = bvh_stack::shape(inst.op) {
        if op.imm as u32 & bvh_stack::option::RANGES != 0
            && matches!(
                inst.op,
                ds_bvh_stack_push4_pop1_rtn_b32 | ds_bvh_stack_push8_pop2_rtn_b64
            )
        {
            return Err(Unsupported::form(inst, "ranges of triangles"));
        }
        op.run = shape.run;
        op.s[1] = file(cx, inst.src[1].operand, 1)?;
        op.s[2] = file(cx, inst.src[2].operand, shape.nodes)?;
        op.d = cx.vgpr_range(inst.dst.operand, shape.results)?;
    } else if let Some((run, store)) = by_lane(inst.op) {
        op.run = run;
        if store {
            op.s[1] = file(cx, inst.src[1].operand, 1)?;
        } else {
            op.d = cx.vgpr(inst.dst.operand)?;
        }
    } else if let Some(element) = names::load(inst.op) {
        op.run = with_load!(element, E => vload::<E, Lds>);
        op.run = wide_load::<Lds>(cx, &op, element).unwrap_or(op.run);
        op.d = cx.vgpr_range(inst.dst.operand, element.dwords())?;
    } else if let Some(element) = names::store(inst.op) {
        op.run = with_store!(element, E => vstore::<E, Lds>);
        op.run = wide_store::<Lds>(cx, &op, element).unwrap_or(op.run);
        op.s[1] = file(cx, inst.src[1].operand, element.dwords())?;
    } else if let Some(two) = names::two_address(inst.op) {
        let scale = u64::from(two.dwords) * 4 * if two.stride64 { 64 } else { 1 };
        let offset0 = u64::from(inst.mem.offset.cast_unsigned() & 0xff);
        let offset1 = u64::from(inst.mem.offset1) * scale;
        op.imm = (offset0 * scale) | offset1 << 32;
        let double = two.dwords == 2;
        op.run = match (two.kind, double) {
            (names::TwoKind::Read, false) if is_wide(cx, &op) => wide::read2::<1>,
            (names::TwoKind::Read, true) if is_wide(cx, &op) => wide::read2::<2>,
            (names::TwoKind::Write, false) if is_wide(cx, &op) => wide::write2::<1>,
            (names::TwoKind::Write, true) if is_wide(cx, &op) => wide::write2::<2>,
            (names::TwoKind::Read, false) => read2::<u32>,
            (names::TwoKind::Read, true) => read2::<u64>,
            (names::TwoKind::Write, false) => write2::<u32>,
            (names::TwoKind::Write, true) => write2::<u64>,
            (names::TwoKind::Exchange, false) => lds::exchange2::<u32>,
            (names::TwoKind::Exchange, true) => lds::exchange2::<u64>,
        };
        if two.kind != names::TwoKind::Read {
            op.s[1] = file(cx, inst.src[1].operand, two.dwords)?;
            op.s[2] = file(cx, inst.src[2].operand, two.dwords)?;
        }
        if two.kind != names::TwoKind::Write {
            op.d = cx.vgpr_range(inst.dst.operand, 2 * two.dwords)?;
        }
    } else if let Some(rmw) = names::lds_with_memory_operand(inst.op) {
        op.run = with_rmw!(rmw, R => lds::with_memory_operand::<R> as Handler);
    } else if let Some((rmw, returns)) = names::lds_atomic(inst.op) {
        op.run = with_rmw!(rmw, R => {
            if returns { atomic::atomic::<R, Lds, Old> as Handler } else { atomic::atomic::<R, Lds, NoReturn> }
        });
        let dwords = rmw.dwords();
        op.s[1] = file(cx, inst.src[1].operand, dwords)?;
        if rmw.has_two() {
            op.s[2] = file(cx, inst.src[2].operand, dwords)?;
        }
        // The old compare-and-store forms have the comparand first.
        if inst.op.name().starts_with("ds_cmpst_") {
            op.s.swap(1, 2);
        }
        if returns {
            op.d = cx.vgpr_range(inst.dst.operand, dwords)?;
        }
    } else {
        match inst.op {
            ds_bpermute_b32 | ds_bpermute_fi_b32 | ds_permute_b32 => {
                // Whether inactive lanes are read.
                op.aux[1] = u32::from(inst.op == ds_bpermute_fi_b32);
                op.run = if inst.op == ds_permute_b32 {
                    lds::permute
                } else {
                    lds_bpermute
                };
                op.s[1] = file(cx, inst.src[1].operand, 1)?;
                op.d = cx.vgpr_range(inst.dst.operand, 1)?;
            }
            ds_condxchg32_rtn_b64 => {
                op.run = lds::conditional_exchange;
                op.s[1] = file(cx, inst.src[1].operand, 2)?;
                op.d = cx.vgpr_range(inst.dst.operand, 2)?;
            }
            ds_swizzle_b32 => {
                if op.imm >= 0xe000 {
                    return Err(Unsupported::form(inst, "FFT swizzle"));
                }
                op.run = lds::swizzle;
                op.d = cx.vgpr_range(inst.dst.operand, 1)?;
            }
            ds_read_b64_tr_b16 | ds_read_b64_tr_b8 | ds_read_b64_tr_b4 | ds_read_b96_tr_b6 => {
                let (run, registers): (Handler, u32) = match inst.op {
                    ds_read_b64_tr_b16 => (lds::read_transposed::<16, 2>, 2),
                    ds_read_b64_tr_b8 => (lds::read_transposed::<8, 2>, 2),
                    ds_read_b64_tr_b4 => (lds::read_transposed::<4, 2>, 2),
                    _ => (lds::read_transposed::<6, 3>, 3),
                };
                op.run = run;
                op.d = cx.vgpr_range(inst.dst.operand, registers)?;
            }
            ds_append | ds_consume => {
                op.run = if inst.op == ds_append {
                    lds::count::<atomic::Add32>
                } else {
                    lds::count::<atomic::Sub32>
                };
                op.d = cx.vgpr_range(inst.dst.operand, 1)?;
            }
            _ => return Err(Unsupported::op(inst)),
        }
    }
    cx.push(op);
    Ok(())
}
