//! Lowering of image instructions: loads, stores, sampling, gathers, atomics, resource information.
//!
//! The handlers read descriptors at run time and do one lane after the other: an image operation costs far more than its
//! dispatch. What the engine does not do (ray intersection, rows of four texels) is refused by name.

use crate::{
    image::ImageKind,
    interp::memory::{
        atomic as rmw,
        image::{
            self, Access, ImageOp, TexelAtomic,
            address::{Address, Coordinates},
            texel_atomic,
        },
    },
    ir::Op,
    isa::{
        image::ImageAddress,
        inst::{Inst, Operand},
        op::Op as M,
    },
    target::Family,
};

use super::{LowerContext, Unsupported};

/// Lowers an image instruction.
pub fn lower_image(inst: &Inst, cx: &mut LowerContext) -> Result<(), Unsupported> {
    let family = cx.config.target.family();
    if family == Family::Gfx940 {
        return Err(Unsupported::form(inst, "the target has no images"));
    }
    let access = access(inst)?;
    let components = match access {
        Access::Gather { .. } => 4,
        // GFX10 has a register for each bit of the mask.
        Access::LoadSamples if !matches!(family, Family::Gfx10 | Family::Gfx10_3) => 4,
        _ => inst.mem.dmask.count_ones().max(1),
    };
    let atomic = matches!(access, Access::Atomic { .. });
    let packed = matches!(access, Access::LoadPacked { .. } | Access::StorePacked);
    let half = inst.mem.d16 && !atomic && !packed;
    let returns = !matches!(inst.dst.operand, Operand::None);
    let status = returns && (inst.mem.tfe || inst.mem.lwe);
    let registers = if half {
        components.div_ceil(2)
    } else {
        components
    } + u32::from(status);
    let scalar = |operand: Operand, count: u32| match operand {
        Operand::Scalar(code) if u32::from(code) + count <= 128 => Ok(usize::from(code)),
        other => Err(Unsupported::form(
            inst,
            &format!("{other:?} as a descriptor"),
        )),
    };
    let data = match (inst.dst.operand, inst.src[1].operand) {
        (Operand::None, Operand::None) => None,
        (Operand::None, data) | (data, _) => Some(cx.vgpr_range(data, registers)?),
    };
    let record = ImageOp {
        access,
        components,
        family,
        address: address(inst, cx)?,
        resource: scalar(inst.src[2].operand, if inst.mem.r128 { 4 } else { 8 })?,
        short_resource: inst.mem.r128,
        sampler: match inst.src[3].operand {
            Operand::None => None,
            sampler => Some(scalar(sampler, 4)?),
        },
        dmask: inst.mem.dmask,
        half,
        status,
        unnormalised: inst.mem.unorm,
        returns,
        data,
    };
    let mut op = Op::new(image::run);
    op.imm = cx.side(record);
    cx.push(op);
    Ok(())
}

/// What the address registers hold, and which they are.
fn address(inst: &Inst, cx: &LowerContext) -> Result<Address, Unsupported> {
    let family = cx.config.target.family();
    let parts = ImageAddress::of(inst.op);
    let Operand::Vgpr(first) = inst.src[0].operand else {
        return Err(Unsupported::form(inst, "no address register"));
    };
    // The number of address registers follows from the resource on GFX9, so the handler checks it against the file.
    let registers = match &inst.nsa {
        Some(registers) => registers.iter().map(|&register| register.into()).collect(),
        None => (u32::from(first)
            ..cx.config
                .vgprs
                .min(u32::from(first) + image::ADDRESS_REGISTERS))
            .collect(),
    };
    // From GFX10 on the derivatives have 16 bits in operations that say so; before, with the coordinates.
    let with_coordinates = matches!(family, Family::Gfx9 | Family::Gfx90a);
    Ok(Address {
        parts,
        coordinates: coordinates(inst, family),
        half: inst.mem.a16,
        half_gradients: parts.half_gradients || inst.mem.a16 && with_coordinates,
        registers,
    })
}

/// Which coordinates.
fn coordinates(inst: &Inst, family: Family) -> Coordinates {
    if matches!(family, Family::Gfx9 | Family::Gfx90a) {
        return Coordinates::OfResource { array: inst.mem.da };
    }
    let kind = match inst.mem.dim & 7 {
        0 => ImageKind::D1,
        1 | 6 => ImageKind::D2,
        2 => ImageKind::D3,
        3 => ImageKind::Cube,
        4 => ImageKind::D1Array,
        _ => ImageKind::D2Array,
    };
    Coordinates::Of {
        kind,
        multisampled: matches!(inst.mem.dim, 6 | 7),
    }
}

fn access(inst: &Inst) -> Result<Access, Unsupported> {
    use M::*;
    Ok(match inst.op {
        image_load | image_load_mip => Access::Load,
        image_load_pck | image_load_mip_pck => Access::LoadPacked { signed: false },
        image_load_pck_sgn | image_load_mip_pck_sgn => Access::LoadPacked { signed: true },
        image_msaa_load => Access::LoadSamples,
        image_store | image_store_mip => Access::Store,
        image_store_pck | image_store_mip_pck => Access::StorePacked,
        image_get_resinfo => Access::ResourceInfo,
        image_get_lod => Access::LevelOfDetail,
        image_gather4h => return Err(Unsupported::op(inst)),
        op if op.name().starts_with("image_sample") => Access::Sample,
        op if op.name().starts_with("image_gather4") => Access::Gather {
            component: gather_component(inst)?,
        },
        op if op.name().starts_with("image_atomic_") => atomic(inst)?,
        _ => return Err(Unsupported::op(inst)),
    })
}

/// The component of a gather. A mask without one is read as x.
fn gather_component(inst: &Inst) -> Result<usize, Unsupported> {
    match inst.mem.dmask {
        0 | 1 => Ok(0),
        2 => Ok(1),
        4 => Ok(2),
        8 => Ok(3),
        other => Err(Unsupported::form(
            inst,
            &format!("dmask {other:#x} of a gather"),
        )),
    }
}

/// The handlers of an atomic for texels of 32 and of 64 bits, and whether its data is two values.
fn atomic(inst: &Inst) -> Result<Access, Unsupported> {
    use M::*;
    type Handler = TexelAtomic;
    macro_rules! both {
        ($narrow:ident, $wide:ident) => {
            (
                texel_atomic::<rmw::$narrow> as Handler,
                Some(texel_atomic::<rmw::$wide> as Handler),
            )
        };
    }
    let narrow_only = |handler: Handler| (handler, None);
    let (narrow, wide) = match inst.op {
        image_atomic_swap => both!(Swap32, Swap64),
        image_atomic_cmpswap => both!(CmpSwap32, CmpSwap64),
        image_atomic_fcmpswap => both!(FCmpSwap32, FCmpSwap64),
        image_atomic_add | image_atomic_add_uint => both!(Add32, Add64),
        image_atomic_sub | image_atomic_sub_uint => both!(Sub32, Sub64),
        image_atomic_smin | image_atomic_min_int => both!(SMin32, SMin64),
        image_atomic_umin | image_atomic_min_uint => both!(UMin32, UMin64),
        image_atomic_smax | image_atomic_max_int => both!(SMax32, SMax64),
        image_atomic_umax | image_atomic_max_uint => both!(UMax32, UMax64),
        image_atomic_and => both!(And32, And64),
        image_atomic_or => both!(Or32, Or64),
        image_atomic_xor => both!(Xor32, Xor64),
        image_atomic_inc | image_atomic_inc_uint => both!(Inc32, Inc64),
        image_atomic_dec | image_atomic_dec_uint => both!(Dec32, Dec64),
        image_atomic_fmin => both!(FMin32, FMin64),
        image_atomic_fmax => both!(FMax32, FMax64),
        image_atomic_min_flt => narrow_only(texel_atomic::<rmw::FMin32>),
        image_atomic_max_flt => narrow_only(texel_atomic::<rmw::FMax32>),
        image_atomic_add_flt => narrow_only(texel_atomic::<rmw::FAdd32>),
        image_atomic_pk_add_f16 => narrow_only(texel_atomic::<rmw::PkAddF16>),
        image_atomic_pk_add_bf16 => narrow_only(texel_atomic::<rmw::PkAddBf16>),
        _ => return Err(Unsupported::op(inst)),
    };
    // The mask says how many registers the data has.
    let two = matches!(inst.op, image_atomic_cmpswap | image_atomic_fcmpswap);
    let registers = inst.mem.dmask.count_ones() as usize;
    match (registers, two, wide) {
        (0 | 1, false, _) | (2, true, _) => Ok(Access::Atomic {
            run: narrow,
            bytes: 4,
        }),
        (2, false, Some(run)) | (4, true, Some(run)) => Ok(Access::Atomic { run, bytes: 8 }),
        _ => Err(Unsupported::form(
            inst,
            &format!("dmask {:#x} of an atomic", inst.mem.dmask),
        )),
    }
}
