//! Vector ALU: operands, modifiers, DPP and SDWA around the meanings in [`meaning`]; moves between lanes and
//! scalars; VOPD.

mod across;
mod dpp;
mod pair;

use crate::{
    interp::{
        exceptions::Check,
        lane,
        prepare::{
            ChangeSign, Part, Prepare, Prepared, RESULT_TEMP, ResultPlan, SOURCE_TEMP, Scale,
            ShufflePlan, SourcePlan, temp, temp_dst,
        },
        run::Handler,
        vector::{AddPair, Shape, VectorOp, hot},
        wave::slot,
    },
    ir::{Op, Ref},
    isa::{
        inst::{Format, Inst, Operand, OperandSlot, Sdwa, SdwaSel, Type},
        op::Op as M,
    },
    jit::form::{self, Form},
};

use super::{LowerContext, Unsupported, exceptions, matrix, meaning, packed, scaled};

/// Lowers a VOP1, VOP2, VOPC, VOP3, VOP3P or VOPD instruction.
pub fn lower_vector(inst: &Inst, cx: &mut LowerContext) -> Result<(), Unsupported> {
    if let Some(second) = &inst.vopd
        && inst.format == Format::Vopd
    {
        return pair::lower_pair(inst, second, cx);
    }
    if let Some(mode) = cx.gpr_index {
        return lower_indexed(inst, mode, cx);
    }
    if across::across_lanes(inst, cx)? {
        return Ok(());
    }
    if matrix::lower_matrix(inst, cx)? {
        return Ok(());
    }
    if scaled::lower_scaled(inst, cx)? {
        return Ok(());
    }
    if (inst.format == Format::Vop3p && !is_accumulation_move(inst)) || packed::is_packed(inst.op) {
        return packed::lower_packed(inst, cx);
    }
    lower_plain(inst, cx)
}

/// Moves between the two halves of the vector file: VOP3P by encoding, plain moves by meaning.
fn is_accumulation_move(inst: &Inst) -> bool {
    use crate::isa::op::Op as M;
    matches!(
        inst.op,
        M::v_accvgpr_read_b32 | M::v_accvgpr_write_b32 | M::v_accvgpr_mov_b32
    )
}

/// A move while VGPR indexing is on.
fn lower_indexed(inst: &Inst, mode: u32, cx: &mut LowerContext) -> Result<(), Unsupported> {
    if inst.op != M::v_mov_b32 || inst.dpp.is_some() || inst.sdwa.is_some() || mode & 6 != 0 {
        return Err(Unsupported::form(inst, "with VGPR indexing on"));
    }
    let mut op = Op::new(lane::move_relative);
    op.s[0] = cx.source(inst.src[0], 1)?;
    op.d = cx.vgpr(inst.dst.operand)?;
    op.aux[0] = (mode & 1) | (mode >> 3 & 1) << 1;
    op.aux[1] = 0xff;
    cx.push(op);
    Ok(())
}

/// Sources in the order in which the meaning wants them.
pub fn ordered_sources(inst: &Inst) -> [OperandSlot; 3] {
    let [a, b, c, _] = inst.src;
    let k = |ty| OperandSlot {
        operand: Operand::Literal(inst.imm32.unwrap_or(0)),
        ty,
    };
    match inst.op {
        M::v_fmamk_f32 | M::v_madmk_f32 => [a, k(Type::F(32)), b],
        M::v_fmamk_f16 | M::v_madmk_f16 => [a, k(Type::F(16)), b],
        M::v_fmaak_f32 | M::v_madak_f32 => [a, b, k(Type::F(32))],
        M::v_fmaak_f16 | M::v_madak_f16 => [a, b, k(Type::F(16))],
        M::v_fmac_f32
        | M::v_fmac_f16
        | M::v_fmac_f64
        | M::v_mac_f32
        | M::v_mac_f16
        | M::v_mac_legacy_f32
        | M::v_fmac_legacy_f32
        | M::v_fmac_dx9_zero_f32
        | M::v_cvt_pkaccum_u8_f32 => [a, b, inst.dst],
        _ => [a, b, c],
    }
}

/// Which source of the instruction is source `index` of the operation.
fn origin(kind: &VectorOp, index: usize) -> usize {
    if kind.swap && index < 2 {
        1 - index
    } else {
        index
    }
}

fn lower_plain(inst: &Inst, cx: &mut LowerContext) -> Result<(), Unsupported> {
    let is_float = matches!(inst.dst.ty, Type::F(_));
    let clamp_integer = inst.alu.clamp && !is_float && inst.dst.ty != Type::Mask;
    let op = if clamp_integer {
        match meaning::saturating(inst.op) {
            Some(op) => op,
            // Conversions to integers saturate anyway; what chooses one of its sources has nothing to saturate.
            None if ["v_cvt_", "v_min", "v_max", "v_med"]
                .iter()
                .any(|words| inst.op.name().starts_with(words)) =>
            {
                meaning::meaning(inst.op).ok_or_else(|| Unsupported::op(inst))?
            }
            None => return Err(Unsupported::form(inst, "the clamp bit")),
        }
    } else {
        meaning::meaning(inst.op)
            .or_else(|| meaning::compare(inst.op))
            .or_else(|| meaning::small_floats(inst.op, cx.config.target.has_ocp_floats()))
            .ok_or_else(|| Unsupported::op(inst))?
    };
    let bf16_pair = inst.op == M::v_cvt_pk_bf16_f32;
    if bf16_pair && (inst.alu.clamp || inst.alu.omod != 0) {
        return Err(Unsupported::form(inst, "an output modifier of bf16"));
    }
    let of_constant = matches!(inst.src[0].operand, Operand::Float(_));
    if inst.op == M::v_cvt_f32_bf16 && of_constant {
        return Err(Unsupported::form(inst, "a constant as bf16"));
    }
    let packed_pair = matches!(inst.op, M::v_dot2_f16_f16 | M::v_dot2_bf16_bf16);
    if packed_pair && (inst.alu.neg | inst.alu.abs) & 3 != 0 {
        return Err(Unsupported::form(inst, "modifiers of a packed source"));
    }
    let sources = ordered_sources(inst);
    let mut job = Job::new(cx, inst, op);
    for index in 0..op.arity {
        job.source(cx, index, sources[origin(&op, index)])?;
    }
    if op.bit {
        job.op.s[3] = mask_source(inst, cx)?;
    }
    job.op.aux[0] = u32::from(op.invert);
    if let (M::v_bitop3_b16 | M::v_bitop3_b32, Some(table)) = (inst.op, inst.imm32) {
        job.op.aux[1] = table;
    }
    job.result(cx, inst)?;
    let mark = cx.ops.len();
    job.push(cx, inst)?;
    let is_plain =
        cx.ops.len() == mark + 1 && inst.sdwa.is_none() && inst.dpp.is_none() && !inst.alu.clamp;
    if is_plain && inst.op == M::v_add_co_u32 {
        cx.low_add = Some(mark);
    } else if is_plain && matches!(inst.op, M::v_addc_co_u32 | M::v_add_co_ci_u32) {
        pair_additions(cx, mark);
    }
    Ok(())
}

/// Makes one operation of a 64-bit addition, if the operation at `second`, the high half, follows its low half. The counters build counts
/// instructions by operations, and does not.
fn pair_additions(cx: &mut LowerContext, second: usize) {
    if cfg!(feature = "counters") || second == 0 || cx.low_add != Some(second - 1) {
        return;
    }
    let (low, high) = (cx.ops[second - 1], cx.ops[second]);
    let one_mask = low.d2 == high.d2 && high.s[3].0 == low.d2;
    let mask_slots = [Ref::scalar(low.d2), Ref::scalar(low.d2 + 1)];
    let apart = high.s[..2]
        .iter()
        .all(|source| *source != Ref::new(Ref::FILE, low.d) && !mask_slots.contains(source));
    if one_mask && apart {
        cx.ops[second - 1].run = cx.pick(hot::<AddPair>());
    }
}

/// The lane mask that an operation reads: slot index in a `Ref`.
fn mask_source(inst: &Inst, cx: &LowerContext) -> Result<Ref, Unsupported> {
    let mask = inst
        .src
        .iter()
        .find(|source| source.ty == Type::Mask)
        .copied()
        .unwrap_or(OperandSlot::NONE);
    match mask.operand {
        Operand::Scalar(code) if cx.config.null() == Some(code) => Ok(Ref(slot::ZERO as u32)),
        Operand::Scalar(code) if code < 127 || !cx.config.wave64 => Ok(Ref(u32::from(code))),
        _ => Err(Unsupported::form(
            inst,
            "a lane mask that is no scalar register",
        )),
    }
}

/// An operation on its way: plain, or with preparations.
#[derive(Debug)]
pub struct Job {
    /// The plain operation.
    pub op: Op,
    /// What it is.
    pub kind: VectorOp,
    /// Source preparations.
    pub sources: Vec<SourcePlan>,
    /// Lane shuffle.
    pub shuffle: Option<ShufflePlan>,
    /// Result.
    pub result: Option<ResultPlan>,
    /// What native code may be made of.
    pub form: Form,
    /// What it may raise, where anybody sees it.
    pub check: Option<Check>,
}

/// A plan that changes nothing.
pub fn plain_source(from: Ref, dwords: u32, index: usize) -> SourcePlan {
    SourcePlan {
        from,
        dwords,
        to: SOURCE_TEMP[index],
        shuffle: false,
        part: Part::Whole,
        and: [u32::MAX; 2],
        xor: [0; 2],
    }
}

/// Sets the bits for abs and neg of a type.
pub fn sign_modifiers(plan: &mut SourcePlan, ty: Type, absolute: bool, negative: bool) {
    let (dword, bit) = match ty {
        Type::F(16) | Type::B(16) | Type::I(16) | Type::U(16) => (0, 1 << 15),
        Type::F(64) | Type::B(64) => (1, 1 << 31),
        _ => (0, 1 << 31),
    };
    if absolute {
        plan.and[dword] &= !bit;
    }
    if negative {
        plan.xor[dword] ^= bit;
    }
}

impl Job {
    /// Starts.
    pub fn new(cx: &LowerContext, inst: &Inst, kind: VectorOp) -> Self {
        let shuffle = inst
            .dpp
            .as_ref()
            .and_then(|dpp| dpp::shuffle(dpp, cx.config.lanes()));
        Self {
            op: Op::new(cx.pick(kind.run)),
            kind,
            sources: Vec::new(),
            shuffle,
            result: None,
            check: cx.exceptions.then(|| exceptions::check(inst.op)).flatten(),
            // The clamp bit makes another operation of it.
            form: if inst.alu.clamp {
                Form::None
            } else {
                form::of(inst.op).with_sources_swapped(kind.swap)
            },
        }
    }

    /// Adds source `index` with the instruction's modifiers.
    fn source(
        &mut self,
        cx: &mut LowerContext,
        index: usize,
        source: OperandSlot,
    ) -> Result<(), Unsupported> {
        let dwords = self.kind.s[index];
        let from = cx.source(source, dwords)?;
        self.op.s[index] = from;
        Ok(())
    }

    /// Adds a prepared source.
    pub fn prepare(&mut self, index: usize, plan: SourcePlan) {
        self.op.s[index] = temp(plan.to);
        self.sources.push(plan);
    }

    /// Destinations.
    fn result(&mut self, cx: &mut LowerContext, inst: &Inst) -> Result<(), Unsupported> {
        match self.kind.shape {
            Shape::Map => self.op.d = cx.vgpr_range(inst.dst.operand, self.kind.d)?,
            Shape::Carry => {
                self.op.d = cx.vgpr_range(inst.dst.operand, self.kind.d)?;
                self.op.d2 = cx.scalar_dst(inst.dst2.operand, mask_dwords(cx))?;
            }
            Shape::Compare => {
                self.op.d = cx.scalar_dst(inst.dst.operand, mask_dwords(cx))?;
                let exec = slot::EXEC as u32;
                self.op.d2 = u32::from(inst.op.name().starts_with("v_cmpx_") && self.op.d != exec);
            }
        }
        Ok(())
    }

    /// Adds the instruction's modifiers and pushes the operation.
    fn push(mut self, cx: &mut LowerContext, inst: &Inst) -> Result<(), Unsupported> {
        let sources = ordered_sources(inst);
        for index in 0..self.kind.arity {
            let from = origin(&self.kind, index);
            let mut plan = plain_source(self.op.s[index], self.kind.s[index], index);
            plan.shuffle = from == 0 && self.shuffle.is_some();
            if let Some(sdwa) = &inst.sdwa {
                plan.part = sdwa_part(sdwa, from);
            }
            if self.kind.half[index] && inst.sdwa.is_none() && inst.alu.op_sel >> from & 1 != 0 {
                plan.part = Part::Bits {
                    shift: 16,
                    width: 16,
                    signed: false,
                };
            }
            if let Some(byte) = source_byte(inst) {
                plan.part = Part::Bits {
                    shift: 8 * byte,
                    width: 8,
                    signed: false,
                };
            }
            let bit = 1 << from;
            sign_modifiers(
                &mut plan,
                sources[from].ty,
                inst.alu.abs & bit != 0,
                inst.alu.neg & bit != 0,
            );
            let plain = !plan.shuffle
                && plan.part == Part::Whole
                && plan.and == [u32::MAX; 2]
                && plan.xor == [0; 2];
            if !plain {
                self.prepare(index, plan);
            }
        }
        if self.kind.shape != Shape::Compare {
            self.result = result_plan(cx, inst, &self.kind, self.op.d);
        }
        self.finish(cx)
    }

    /// Puts a guard around the operation, if it may raise an exception that anybody sees.
    fn guard(&mut self, cx: &mut LowerContext) {
        if let Some(check) = self.check {
            self.op = exceptions::guarded(cx, self.op, &self.kind, check);
            self.form = Form::None;
        }
    }

    /// Pushes the operation, through [`Prepare`] if anything is to be prepared.
    pub fn finish(mut self, cx: &mut LowerContext) -> Result<(), Unsupported> {
        if self.result.is_some() {
            self.op.d = temp_dst(RESULT_TEMP);
        }
        let plain = self.op;
        self.guard(cx);
        if self.sources.is_empty() && self.shuffle.is_none() && self.result.is_none() {
            cx.push_form(self.op, self.form);
            return Ok(());
        }
        if self.shuffle.is_none()
            && self.result.is_none()
            && self.sources.iter().all(|plan| plan.part == Part::Whole)
        {
            for plan in &self.sources {
                let mut op = Op::new(cx.pick(hot::<ChangeSign>()));
                op.s[0] = plan.from;
                op.d = temp_dst(plan.to);
                let last = plan.dwords as usize - 1;
                op.aux = [plan.and[last], plan.xor[last], plan.dwords];
                let form = if plan.dwords == 1 {
                    Form::ChangeSign
                } else {
                    Form::None
                };
                cx.push_form(op, form);
            }
            cx.push_form(self.op, self.form);
            return Ok(());
        }
        if let Some(shuffle) = &mut self.shuffle {
            shuffle.writes_exec = self.kind.shape == Shape::Compare
                && (plain.d2 != 0 || plain.d == slot::EXEC as u32);
        }
        let handlers: [Handler; 3] = hot::<Prepare>();
        let mut outer = Op::new(cx.pick(handlers));
        outer.imm = cx.side(Prepared {
            inner: self.op,
            sources: self.sources,
            shuffle: self.shuffle,
            result: self.result,
        });
        cx.push(outer);
        Ok(())
    }
}

/// Dwords of a lane mask.
pub fn mask_dwords(cx: &LowerContext) -> u32 {
    if cx.config.wave64 { 2 } else { 1 }
}

/// Operations of GFX9 whose 16-bit results keep the other half of the register (LLVM: `zeroesHigh16BitsOfDest`).
fn keeps_high_half(op: M) -> bool {
    matches!(
        op,
        M::v_mad_f16
            | M::v_mac_f16
            | M::v_madak_f16
            | M::v_madmk_f16
            | M::v_fma_f16
            | M::v_fmac_f16
            | M::v_div_fixup_f16
            | M::v_mad_u16
            | M::v_mad_i16
            | M::v_cvt_pk_fp8_f32
            | M::v_cvt_pk_bf8_f32
            | M::v_cvt_sr_f16_f32
            | M::v_cvt_sr_bf16_f32
            | M::v_ashr_pk_i8_i32
            | M::v_ashr_pk_u8_i32
            | M::v_bitop3_b16
    )
}

/// The byte that a conversion from an 8-bit float takes, where `op_sel` says it (its two bits are the byte's, exchanged).
fn source_byte(inst: &Inst) -> Option<u32> {
    let from_byte = matches!(inst.op, M::v_cvt_f32_fp8 | M::v_cvt_f32_bf8);
    let bits = u32::from(inst.alu.op_sel & 3);
    (from_byte && bits != 0).then_some(bits >> 1 | (bits & 1) << 1)
}

/// A result plan that writes everything.
pub fn whole_result(dwords: u32, d: u32) -> ResultPlan {
    ResultPlan {
        scale: Scale::None,
        omod: 0,
        clamp: false,
        narrow: false,
        dwords,
        shift: 0,
        mask: u32::MAX,
        extend: 0,
        clear: 0,
        d,
    }
}

fn result_plan(cx: &LowerContext, inst: &Inst, kind: &VectorOp, d: u32) -> Option<ResultPlan> {
    let mut plan = whole_result(kind.d, d);
    let mut needed = false;
    let scale = match inst.dst.ty {
        Type::F(16) => Scale::F16,
        Type::F(32) => Scale::F32,
        Type::F(64) => Scale::F64,
        _ if inst.op == M::v_cvt_pk_f16_f32 => Scale::PackedF16,
        _ => Scale::None,
    };
    if scale != Scale::None && (inst.alu.omod != 0 || inst.alu.clamp) {
        plan.scale = scale;
        plan.omod = inst.alu.omod;
        plan.clamp = inst.alu.clamp;
        needed = true;
    }
    if matches!(inst.op, M::v_cvt_sr_fp8_f32 | M::v_cvt_sr_bf8_f32) {
        // One byte of the destination, by the two high bits of op_sel.
        plan.shift = 8 * u32::from(inst.alu.op_sel >> 2 & 3);
        plan.mask = 0xff << plan.shift;
        needed = true;
    } else if let Some(sdwa) = &inst.sdwa {
        if sdwa.dst_sel != SdwaSel::Dword {
            let (shift, width) = field(sdwa.dst_sel);
            plan.shift = shift;
            plan.mask = ((1u64 << width) - 1) as u32 * (1 << shift);
            let above = u32::MAX.checked_shl(shift + width).unwrap_or(0);
            let rest = !plan.mask;
            match sdwa.dst_unused {
                1 => (plan.extend, plan.clear) = (above, rest & !above),
                2 => {}
                _ => plan.clear = rest,
            }
            needed = true;
        }
    } else if kind.half_result {
        let high = inst.alu.op_sel & 8 != 0;
        if high || cx.config.target.major >= 10 || keeps_high_half(inst.op) {
            plan.shift = if high { 16 } else { 0 };
            plan.mask = if high { 0xffff_0000 } else { 0xffff };
            needed = true;
        }
    }
    needed.then_some(plan)
}

fn field(sel: SdwaSel) -> (u32, u32) {
    match sel {
        SdwaSel::Byte(n) => (8 * u32::from(n), 8),
        SdwaSel::Word(n) => (16 * u32::from(n), 16),
        SdwaSel::Dword => (0, 32),
    }
}

fn sdwa_part(sdwa: &Sdwa, index: usize) -> Part {
    let (sel, signed) = match index {
        0 => (sdwa.src0_sel, sdwa.sext[0]),
        1 => (sdwa.src1_sel, sdwa.sext[1]),
        _ => (SdwaSel::Dword, false),
    };
    match field(sel) {
        (_, 32) => Part::Whole,
        (shift, width) => Part::Bits {
            shift,
            width,
            signed,
        },
    }
}
