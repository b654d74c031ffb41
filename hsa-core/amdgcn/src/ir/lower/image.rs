//! Lowering of image instructions (MIMG): loads, stores, sampling, gathers, atomics, resource information.
//!
//! The handlers read descriptors at run time and do one lane after the other: an image operation costs far more than its
//! dispatch. What the engine does not do (16-bit addresses and data, residency codes, depth compare, LOD bias, mip levels) is refused by name.

use crate::{
    image::ImageKind,
    interp::memory::image::{self, Access, Atomic, Coordinates, ImageOp},
    ir::Op,
    isa::{
        inst::{Inst, Operand},
        op::Op as M,
    },
    target::Family,
};

use super::{LowerContext, Unsupported};

/// Lowers an image instruction.
pub fn lower_image(inst: &Inst, cx: &mut LowerContext) -> Result<(), Unsupported> {
    let family = cx.config.target.family();
    if !matches!(
        family,
        Family::Gfx9 | Family::Gfx90a | Family::Gfx10 | Family::Gfx10_3 | Family::Gfx11
    ) {
        return Err(Unsupported::form(
            inst,
            "images of this target are not supported",
        ));
    }
    for (set, what) in [
        (inst.mem.a16, "16-bit addresses (a16) are not supported"),
        (inst.mem.d16, "16-bit data (d16) is not supported"),
        (
            inst.mem.tfe || inst.mem.lwe,
            "residency and LOD warnings (tfe, lwe) are not supported",
        ),
        (
            inst.mem.r128,
            "128-bit image resources (r128) are not supported",
        ),
    ] {
        if set {
            return Err(Unsupported::form(inst, what));
        }
    }
    let access = access(inst)?;
    let components = match access {
        Access::Gather { .. } => 4,
        _ => inst.mem.dmask.count_ones().max(1),
    };
    let scalar = |operand: Operand, count: u32| match operand {
        Operand::Scalar(code) if u32::from(code) + count <= 128 => Ok(usize::from(code)),
        other => Err(Unsupported::form(
            inst,
            &format!("{other:?} as a descriptor"),
        )),
    };
    let data = match (inst.dst.operand, inst.src[1].operand) {
        (Operand::None, Operand::None) => None,
        (Operand::None, data) | (data, _) => Some(cx.vgpr_range(data, components)?),
    };
    let Operand::Vgpr(first) = inst.src[0].operand else {
        return Err(Unsupported::form(inst, "no address register"));
    };
    // The number of address registers follows from the resource on GFX9, so the handler checks it against the file.
    let address = match &inst.nsa {
        Some(registers) => registers
            .iter()
            .map(|register| u32::from(*register))
            .collect(),
        None => (u32::from(first)
            ..cx.config
                .vgprs
                .min(u32::from(first) + image::ADDRESS_REGISTERS))
            .collect(),
    };
    let record = ImageOp {
        access,
        family,
        coordinates: coordinates(inst, family)?,
        resource: scalar(inst.src[2].operand, 8)?,
        sampler: match inst.src[3].operand {
            Operand::None => None,
            sampler => Some(scalar(sampler, 4)?),
        },
        dmask: inst.mem.dmask,
        unnormalised: inst.mem.unorm,
        returns: !matches!(inst.dst.operand, Operand::None),
        address,
        data,
    };
    let mut op = Op::new(image::run);
    op.imm = cx.side(record);
    cx.push(op);
    Ok(())
}

/// What the address registers hold.
fn coordinates(inst: &Inst, family: Family) -> Result<Coordinates, Unsupported> {
    if matches!(family, Family::Gfx9 | Family::Gfx90a) {
        return Ok(Coordinates::OfResource { array: inst.mem.da });
    }
    Ok(Coordinates::Of(match inst.mem.dim {
        0 => ImageKind::D1,
        1 => ImageKind::D2,
        2 => ImageKind::D3,
        3 => ImageKind::Cube,
        4 => ImageKind::D1Array,
        5 => ImageKind::D2Array,
        _ => {
            return Err(Unsupported::form(
                inst,
                "multisampled images are not supported",
            ));
        }
    }))
}

fn access(inst: &Inst) -> Result<Access, Unsupported> {
    use M::*;
    Ok(match inst.op {
        image_load => Access::Load { mip: false },
        image_load_mip => Access::Load { mip: true },
        image_store => Access::Store { mip: false },
        image_store_mip => Access::Store { mip: true },
        image_get_resinfo => Access::ResourceInfo,
        // One level: the level of detail, however it comes, has no effect.
        image_sample | image_sample_lz | image_sample_l | image_sample_cl => {
            Access::Sample { skip: 0 }
        }
        image_sample_b | image_sample_b_cl => Access::Sample { skip: 1 },
        image_sample_d | image_sample_d_cl => Access::SampleWithDerivatives,
        image_gather4 | image_gather4_lz | image_gather4_l | image_gather4_cl => Access::Gather {
            component: gather_component(inst)?,
        },
        image_atomic_swap => Access::Atomic(Atomic::Swap),
        image_atomic_cmpswap => Access::Atomic(Atomic::CompareSwap),
        image_atomic_add => Access::Atomic(Atomic::Add),
        image_atomic_sub => Access::Atomic(Atomic::Sub),
        image_atomic_smin => Access::Atomic(Atomic::SignedMin),
        image_atomic_umin => Access::Atomic(Atomic::UnsignedMin),
        image_atomic_smax => Access::Atomic(Atomic::SignedMax),
        image_atomic_umax => Access::Atomic(Atomic::UnsignedMax),
        image_atomic_and => Access::Atomic(Atomic::And),
        image_atomic_or => Access::Atomic(Atomic::Or),
        image_atomic_xor => Access::Atomic(Atomic::Xor),
        image_atomic_inc => Access::Atomic(Atomic::Increment),
        image_atomic_dec => Access::Atomic(Atomic::Decrement),
        _ => return Err(Unsupported::op(inst)),
    })
}

fn gather_component(inst: &Inst) -> Result<usize, Unsupported> {
    match inst.mem.dmask {
        1 => Ok(0),
        2 => Ok(1),
        4 => Ok(2),
        8 => Ok(3),
        other => Err(Unsupported::form(
            inst,
            &format!("dmask {other:#x} of a gather"),
        )),
    }
}
