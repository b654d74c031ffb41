//! Lowering of memory instructions: which handler, which registers, which address.

mod names;

use crate::{
    interp::{
        level::Level,
        memory::{
            atomic::{self, NoReturn, Old},
            block, buffer, element, flag, flat, formatted, lds,
            space::{Global, Space},
            through_lds, vector, wide,
        },
        run::Handler,
    },
    ir::{Op, Ref},
    isa::{
        inst::{Format, Inst, Operand},
        op::Op as M,
    },
    jit::form::Form,
};

use super::{LowerContext, Unsupported};
use names::{Load, Rmw, Store};

/// Lowers an SMEM, DS, FLAT, GLOBAL, SCRATCH, MUBUF, MTBUF or MIMG instruction.
pub fn lower_memory(inst: &Inst, cx: &mut LowerContext) -> Result<(), Unsupported> {
    if names::has_no_effect(inst.op) {
        return Ok(());
    }
    match inst.format {
        Format::Smem => smem::smem(inst, cx),
        Format::Ds => ds::ds(inst, cx),
        Format::Flat | Format::Global | Format::Scratch => flat(inst, cx),
        Format::Mubuf | Format::Mtbuf => mubuf(inst, cx),
        Format::Mimg => super::image::lower_image(inst, cx),
        _ => Err(Unsupported::op(inst)),
    }
}

/// A reference to a vector register range.
fn file(cx: &LowerContext, operand: Operand, count: u32) -> Result<Ref, Unsupported> {
    Ok(Ref::new(Ref::FILE, cx.vgpr_range(operand, count)?))
}

/// Slot of a scalar source that must be a register.
fn slot(cx: &LowerContext, inst: &Inst, operand: Operand, count: u32) -> Result<u32, Unsupported> {
    match operand {
        Operand::Scalar(code)
            if cx.config.null() != Some(code) && u32::from(code) + count <= 128 =>
        {
            Ok(u32::from(code))
        }
        other => Err(Unsupported::form(
            inst,
            &format!("{other:?} as a scalar address"),
        )),
    }
}

/// Adds a 32-bit scalar offset operand to an operation: slot in `aux[1]`, or a constant in `aux[2]`.
fn scalar_offset(
    op: &mut Op,
    cx: &LowerContext,
    inst: &Inst,
    operand: Operand,
) -> Result<(), Unsupported> {
    match operand {
        Operand::None => {}
        Operand::Scalar(code) if cx.config.null() == Some(code) => {}
        Operand::Int(value) => op.aux[2] = value.cast_unsigned(),
        Operand::Literal(value) => op.aux[2] = value,
        Operand::Scalar(_) => {
            op.aux[0] |= flag::SADDR;
            op.aux[1] = slot(cx, inst, operand, 1)?;
        }
        other => {
            return Err(Unsupported::form(
                inst,
                &format!("{other:?} as a scalar offset"),
            ));
        }
    }
    Ok(())
}

/// Does something with the type of an atomic operation as `$ty`.
macro_rules! with_rmw {
    ($rmw:expr, $ty:ident => $body:expr; $($name:ident)*) => {
        match $rmw {
            $(Rmw::$name => { type $ty = atomic::$name; $body })*
        }
    };
    ($rmw:expr, $ty:ident => $body:expr) => {
        with_rmw!($rmw, $ty => $body; Swap32 Swap64 CmpSwap32 CmpSwap64 FCmpSwap32 FCmpSwap64 Add32 Add64 Sub32 Sub64 RSub32
            RSub64 SubClamp32 CondSub32 SMin32 SMin64 UMin32 UMin64 SMax32 SMax64 UMax32 UMax64 And32 And64 Or32 Or64 Xor32
            Xor64 Inc32 Inc64 Dec32 Dec64 MskOr32 MskOr64 Wrap32 FAdd32 FAdd64 FMin32 FMax32 FMin64 FMax64 PkAddF16 PkAddBf16)
    };
}

fn immediate(inst: &Inst) -> u64 {
    i64::from(inst.mem.offset).cast_unsigned()
}

/// The address of a FLAT, GLOBAL or SCRATCH operation.
fn flat_address(op: &mut Op, inst: &Inst, cx: &LowerContext) -> Result<(), Unsupported> {
    op.imm = immediate(inst);
    let scalar_base = match inst.src[2].operand {
        Operand::None => None,
        Operand::Scalar(code) if cx.config.null() == Some(code) => None,
        operand => Some(operand),
    };
    let narrow = inst.format == Format::Scratch;
    if let Some(operand) = scalar_base {
        op.aux[0] |= flag::SADDR | if narrow { 0 } else { flag::SADDR_WIDE };
        op.aux[1] = slot(cx, inst, operand, if narrow { 1 } else { 2 })?;
    }
    if inst.src[0].operand != Operand::None {
        let wide = scalar_base.is_none() && !narrow;
        op.aux[0] |= flag::VADDR | if wide { flag::WIDE } else { 0 };
        op.s[0] = file(cx, inst.src[0].operand, if wide { 2 } else { 1 })?;
    }
    if inst.mem.glc {
        op.aux[0] |= flag::GLC;
    }
    Ok(())
}

/// Does something with the type of a load element as `$ty`.
macro_rules! with_load {
    ($element:expr, $ty:ident => $body:expr) => {
        match $element {
            Load::Dwords1 => {
                type $ty = element::Dwords<1>;
                $body
            }
            Load::Dwords2 => {
                type $ty = element::Dwords<2>;
                $body
            }
            Load::Dwords3 => {
                type $ty = element::Dwords<3>;
                $body
            }
            Load::Dwords4 => {
                type $ty = element::Dwords<4>;
                $body
            }
            Load::U8 => {
                type $ty = element::U8;
                $body
            }
            Load::I8 => {
                type $ty = element::I8;
                $body
            }
            Load::U16 => {
                type $ty = element::U16;
                $body
            }
            Load::I16 => {
                type $ty = element::I16;
                $body
            }
            Load::U8D16 => {
                type $ty = element::U8D16;
                $body
            }
            Load::U8D16Hi => {
                type $ty = element::U8D16Hi;
                $body
            }
            Load::I8D16 => {
                type $ty = element::I8D16;
                $body
            }
            Load::I8D16Hi => {
                type $ty = element::I8D16Hi;
                $body
            }
            Load::B16D16 => {
                type $ty = element::B16D16;
                $body
            }
            Load::B16D16Hi => {
                type $ty = element::B16D16Hi;
                $body
            }
        }
    };
}

/// Does something with the type of a store element as `$ty`.
macro_rules! with_store {
    ($element:expr, $ty:ident => $body:expr) => {
        match $element {
            Store::Dwords1 => {
                type $ty = element::Dwords<1>;
                $body
            }
            Store::Dwords2 => {
                type $ty = element::Dwords<2>;
                $body
            }
            Store::Dwords3 => {
                type $ty = element::Dwords<3>;
                $body
            }
            Store::Dwords4 => {
                type $ty = element::Dwords<4>;
                $body
            }
            Store::B8 => {
                type $ty = element::B8;
                $body
            }
            Store::B8Hi => {
                type $ty = element::B8Hi;
                $body
            }
            Store::B16 => {
                type $ty = element::B16;
                $body
            }
            Store::B16Hi => {
                type $ty = element::B16Hi;
                $body
            }
        }
    };
}

mod ds;
mod smem;

/// Whether the handlers for AVX2 can run the operation.
fn is_wide(cx: &LowerContext, op: &Op) -> bool {
    cx.level != Level::Portable && op.aux[0] & flag::VADDR != 0
}

/// The handler for AVX2 of a load of whole dwords.
fn wide_load<S: Space + 'static>(cx: &LowerContext, op: &Op, element: Load) -> Option<Handler> {
    let run: Handler = match element {
        Load::Dwords1 => wide::load::<1, S>,
        Load::Dwords2 => wide::load::<2, S>,
        Load::Dwords3 => wide::load::<3, S>,
        Load::Dwords4 => wide::load::<4, S>,
        _ => return None,
    };
    is_wide(cx, op).then_some(run)
}

/// The handler for AVX2 of a store of whole dwords.
fn wide_store<S: Space + 'static>(cx: &LowerContext, op: &Op, element: Store) -> Option<Handler> {
    let run: Handler = match element {
        Store::Dwords1 => wide::store::<1, S>,
        Store::Dwords2 => wide::store::<2, S>,
        Store::Dwords3 => wide::store::<3, S>,
        Store::Dwords4 => wide::store::<4, S>,
        _ => return None,
    };
    is_wide(cx, op).then_some(run)
}

/// What native code may be made of a load or store: those of global dwords without order.
fn native_form(cx: &LowerContext, inst: &Inst, op: &Op, dword: bool, form: Form) -> Form {
    let plain = inst.format == Format::Global && !inst.mem.glc;
    if plain && dword && is_wide(cx, op) {
        form
    } else {
        Form::None
    }
}

fn flat(inst: &Inst, cx: &mut LowerContext) -> Result<(), Unsupported> {
    let format = inst.format;
    if inst.mem.lds {
        return to_lds(inst, cx);
    }
    if let Some((run, store)) = by_lane(inst.op) {
        let mut op = Op::new(run);
        flat_address(&mut op, inst, cx)?;
        if store {
            op.s[1] = file(cx, inst.src[1].operand, 1)?;
        } else {
            op.d = cx.vgpr(inst.dst.operand)?;
        }
        cx.push(op);
        return Ok(());
    }
    if let Some((run, dwords, store)) = whole_wave(inst.op, cx) {
        let mut op = Op::new(run);
        flat_address(&mut op, inst, cx)?;
        if store {
            op.s[1] = file(cx, inst.src[1].operand, dwords)?;
        } else {
            op.d = cx.vgpr_range(inst.dst.operand, dwords)?;
        }
        cx.push(op);
        return Ok(());
    }
    if let Some(element) = names::load(inst.op) {
        let mut op = Op::new(with_load!(element, E => match format {
            Format::Global => vload::<E, Global>,
            Format::Scratch => vscratch_load::<E>,
            _ => vflat_load::<E>,
        }));
        flat_address(&mut op, inst, cx)?;
        if format == Format::Global {
            op.run = wide_load::<Global>(cx, &op, element).unwrap_or(op.run);
        }
        op.d = cx.vgpr_range(inst.dst.operand, element.dwords())?;
        let form = native_form(cx, inst, &op, element == Load::Dwords1, Form::Load);
        cx.push_form(op, form);
        return Ok(());
    }
    if let Some(element) = names::store(inst.op) {
        let mut op = Op::new(with_store!(element, E => match format {
            Format::Global => vstore::<E, Global>,
            Format::Scratch => vscratch_store::<E>,
            _ => vflat_store::<E>,
        }));
        flat_address(&mut op, inst, cx)?;
        if format == Format::Global {
            op.run = wide_store::<Global>(cx, &op, element).unwrap_or(op.run);
        }
        op.s[1] = file(cx, inst.src[1].operand, element.dwords())?;
        let form = native_form(cx, inst, &op, element == Store::Dwords1, Form::Store);
        cx.push_form(op, form);
        return Ok(());
    }
    if let Some(rmw) = names::atomic(inst.op) {
        let returns = inst.dst.operand != Operand::None;
        let run: Handler = with_rmw!(rmw, R => match (format, returns) {
            (Format::Global, true) => atomic::atomic::<R, Global, Old>,
            (Format::Global, false) => atomic::atomic::<R, Global, NoReturn>,
            (Format::Flat, true) => atomic::atomic::<R, atomic::Flat, Old>,
            (Format::Flat, false) => atomic::atomic::<R, atomic::Flat, NoReturn>,
            _ => return Err(Unsupported::op(inst)),
        });
        let mut op = Op::new(run);
        flat_address(&mut op, inst, cx)?;
        atomic_data(&mut op, inst, cx, rmw, returns)?;
        cx.push(op);
        return Ok(());
    }
    Err(Unsupported::op(inst))
}

/// `addtid` forms, and whether they store.
fn by_lane(op: M) -> Option<(Handler, bool)> {
    use through_lds::by_lane;
    Some(match op {
        M::global_load_dword_addtid | M::global_load_addtid_b32 => {
            (by_lane::<false, false> as Handler, false)
        }
        M::global_store_dword_addtid | M::global_store_addtid_b32 => (by_lane::<true, false>, true),
        M::ds_read_addtid_b32 | M::ds_load_addtid_b32 => (by_lane::<false, true>, false),
        M::ds_write_addtid_b32 | M::ds_store_addtid_b32 => (by_lane::<true, true>, true),
        _ => return None,
    })
}

/// Blocks and transposed matrices: handler, registers, and whether they store.
fn whole_wave(op: M, cx: &LowerContext) -> Option<(Handler, u32, bool)> {
    use block::{BLOCK, block as run, transposed};
    // A matrix has 256 elements.
    let of_matrix = |bytes: usize| (64 * bytes / cx.config.lanes()) as u32;
    Some(match op {
        M::global_load_block => (run::<false, false> as Handler, BLOCK, false),
        M::global_store_block => (run::<true, false>, BLOCK, true),
        M::scratch_load_block => (run::<false, true>, BLOCK, false),
        M::scratch_store_block => (run::<true, true>, BLOCK, true),
        M::global_load_tr_b64 => (transposed::<1>, of_matrix(1), false),
        M::global_load_tr_b128 => (transposed::<2>, of_matrix(2), false),
        _ => return None,
    })
}

fn to_lds(inst: &Inst, cx: &mut LowerContext) -> Result<(), Unsupported> {
    macro_rules! of_segment {
        ($element:ty) => {
            match inst.format {
                Format::Global => through_lds::global_load::<$element> as Handler,
                Format::Scratch => through_lds::scratch_load::<$element>,
                _ => return Err(Unsupported::form(inst, "lds")),
            }
        };
    }
    let run = match names::load(inst.op) {
        Some(Load::Dwords3) if inst.format == Format::Global => {
            through_lds::global_load::<element::Dwords<3>> as Handler
        }
        Some(Load::Dwords4) if inst.format == Format::Global => {
            through_lds::global_load::<element::Dwords<4>>
        }
        Some(Load::Dwords1) => of_segment!(element::Dwords<1>),
        Some(Load::U8) => of_segment!(element::U8),
        Some(Load::I8) => of_segment!(element::I8),
        Some(Load::U16) => of_segment!(element::U16),
        Some(Load::I16) => of_segment!(element::I16),
        _ => return Err(Unsupported::form(inst, "lds")),
    };
    let mut op = Op::new(run);
    flat_address(&mut op, inst, cx)?;
    if cx.config.target.is_gfx950() {
        op.aux[0] |= flag::WIDE_M0;
    }
    cx.push(op);
    Ok(())
}

/// Registers of an atomic outside LDS: a second operand follows the first.
fn atomic_data(
    op: &mut Op,
    inst: &Inst,
    cx: &LowerContext,
    rmw: Rmw,
    returns: bool,
) -> Result<(), Unsupported> {
    let dwords = rmw.dwords();
    let operands = if rmw.has_two() { 2 } else { 1 };
    op.s[1] = file(cx, inst.src[1].operand, dwords * operands)?;
    if operands == 2 {
        op.s[2] = Ref::new(Ref::FILE, op.s[1].offset() + dwords * cx.config.stride());
    }
    if returns {
        op.d = cx.vgpr_range(inst.dst.operand, dwords)?;
    }
    Ok(())
}

fn mubuf(inst: &Inst, cx: &mut LowerContext) -> Result<(), Unsupported> {
    let mut op = Op::new(super::control::unsupported);
    op.imm = immediate(inst);
    op.d2 = slot(cx, inst, inst.src[2].operand, 4)?;
    scalar_offset(&mut op, cx, inst, inst.src[3].operand)?;
    let mut address_registers = 0;
    for (on, bit) in [
        (inst.mem.offen, flag::OFFEN),
        (inst.mem.idxen, flag::IDXEN),
        (inst.mem.glc, flag::GLC),
    ] {
        if on {
            op.aux[0] |= bit;
            address_registers += u32::from(bit != flag::GLC);
        }
    }
    if cx.config.target.major >= 10 {
        op.aux[0] |= flag::GFX10;
    }
    if cx.config.target.major >= 11 {
        op.aux[0] |= flag::GFX11;
    }
    if address_registers != 0 {
        op.s[0] = file(cx, inst.src[0].operand, address_registers)?;
    }
    let mut loaded = 0;
    if inst.op == M::buffer_load_lds_format_x || inst.op == M::buffer_load_format_x && inst.mem.lds
    {
        names::FORMAT_X.put(&mut op);
        op.run = formatted::load_to_lds;
    } else if let Some(formatted) = names::formatted(inst.op) {
        if inst.mem.lds {
            return Err(Unsupported::form(inst, "lds"));
        }
        let mut request = formatted.request;
        request.format = (inst.format == Format::Mtbuf).then_some(inst.mem.format);
        request.put(&mut op);
        if formatted.store {
            op.run = formatted::store;
            op.s[1] = file(cx, inst.src[1].operand, formatted.dwords())?;
        } else {
            op.run = formatted::load;
            loaded = formatted.dwords();
            op.d = cx.vgpr_range(inst.dst.operand, loaded)?;
        }
    } else if let Some(element) = names::load(inst.op) {
        if inst.mem.lds {
            if cx.config.target.is_gfx950() {
                op.aux[0] |= flag::WIDE_M0;
            }
            op.run = match element {
                Load::Dwords3 if cx.config.target.is_gfx950() => {
                    through_lds::buffer_load::<element::Dwords<3>>
                }
                Load::Dwords4 if cx.config.target.is_gfx950() => {
                    through_lds::buffer_load::<element::Dwords<4>>
                }
                Load::Dwords1 => through_lds::buffer_load::<element::Dwords<1>>,
                Load::U8 => through_lds::buffer_load::<element::U8>,
                Load::I8 => through_lds::buffer_load::<element::I8>,
                Load::U16 => through_lds::buffer_load::<element::U16>,
                Load::I16 => through_lds::buffer_load::<element::I16>,
                _ => return Err(Unsupported::form(inst, "lds")),
            };
        } else {
            op.run = with_load!(element, E => bload::<E>);
            loaded = element.dwords();
            op.d = cx.vgpr_range(inst.dst.operand, loaded)?;
        }
    } else if inst.op == M::buffer_store_lds_dword {
        op.run = through_lds::buffer_store;
    } else if let Some(element) = names::store(inst.op) {
        op.run = with_store!(element, E => bstore::<E>);
        op.s[1] = file(cx, inst.src[1].operand, element.dwords())?;
    } else if let Some(rmw) = names::atomic(inst.op) {
        let returns = inst.dst.operand != Operand::None;
        op.run = with_rmw!(rmw, R => {
            if returns { buffer::atomic::<R, Old> as Handler } else { buffer::atomic::<R, NoReturn> }
        });
        atomic_data(&mut op, inst, cx, rmw, returns)?;
        loaded = if returns { rmw.dwords() } else { 0 };
    } else {
        return Err(Unsupported::op(inst));
    }
    cx.push(op);
    if inst.mem.tfe && loaded != 0 {
        fail_status(inst, cx, loaded)?;
    }
    Ok(())
}

/// The register after the data of an instruction with `tfe`: 0, nothing is paged out.
fn fail_status(inst: &Inst, cx: &mut LowerContext, dwords: u32) -> Result<(), Unsupported> {
    let zeroed = super::meaning::meaning(M::v_mov_b32).ok_or_else(|| Unsupported::op(inst))?;
    let mut status = Op::new(cx.pick(zeroed.run));
    status.s[0] = cx.constant(&[0]);
    status.d = cx.vgpr_range(inst.dst.operand, dwords + 1)? + dwords * cx.config.stride();
    cx.push(status);
    Ok(())
}

use buffer::{load as bload, store as bstore};
use flat::{flat_load as vflat_load, flat_store as vflat_store};
use lds::{bpermute as lds_bpermute, read2, write2};
use vector::{
    load as vload, scratch_load as vscratch_load, scratch_store as vscratch_store, store as vstore,
};
