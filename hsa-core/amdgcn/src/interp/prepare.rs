//! Rare operand mixes: operands are prepared into temporaries, the plain handler runs on those, and its result is finished.
//!
//! Covers DPP and SDWA, neg and abs, op_sel, sign extension, packed half selection, clamp, output modifiers, and partial
//! destination writes. DPP's disabled lanes are taken out of EXEC while the plain handler runs.

use crate::ir::{Op, Ref};

use super::{
    float::{Half, narrow},
    run::Handler,
    vector::{Body, Env, Simd, TEMP_DST, change_all},
    wave::{Lanes, Wave, slot},
};

/// Which temporary holds source n (two of them for 64-bit values), and which the result.
pub const SOURCE_TEMP: [u32; 3] = [0, 2, 4];
/// First temporary of the result.
pub const RESULT_TEMP: u32 = 6;

/// Reference to a temporary.
pub fn temp(index: u32) -> Ref {
    Ref::new(Ref::TEMP, index * size_of::<Lanes>() as u32)
}

/// `Op::d` of a temporary.
pub fn temp_dst(index: u32) -> u32 {
    TEMP_DST | (index * size_of::<Lanes>() as u32)
}

/// How a source is made.
#[derive(Clone, Copy, Debug)]
pub struct SourcePlan {
    /// Where it comes from.
    pub from: Ref,
    /// Dwords.
    pub dwords: u32,
    /// First temporary.
    pub to: u32,
    /// Goes through the lane shuffle.
    pub shuffle: bool,
    /// Which part.
    pub part: Part,
    /// Kept bits, low and high dword: abs.
    pub and: [u32; 2],
    /// Flipped bits: neg.
    pub xor: [u32; 2],
}

/// Which part of a dword a source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// These many bits from this bit on, sign-extended or not.
    Bits {
        /// First bit.
        shift: u32,
        /// Number of bits.
        width: u32,
        /// Sign-extended.
        signed: bool,
    },
    /// Packed: low result half from the high half, high result half from the high half.
    Halves {
        /// The low half comes from the source's high half.
        low_from_high: bool,
        /// The high half comes from the source's high half.
        high_from_high: bool,
    },
    /// An f16 half, widened to f32.
    Widen {
        /// The high half.
        high: bool,
    },
}

/// A lane shuffle (DPP).
#[derive(Clone, Debug)]
pub struct ShufflePlan {
    /// Source lane of each lane.
    pub from: [u8; 64],
    /// Lanes whose source lane exists.
    pub in_range: u64,
    /// Lanes that may be written (row and bank masks).
    pub write: u64,
    /// Lanes without a source read 0 instead of not being written.
    pub zero: bool,
    /// Lanes that EXEC disables can be read.
    pub fetch_inactive: bool,
    /// The operation writes EXEC itself (`v_cmpx`).
    pub writes_exec: bool,
}

/// How a float result is clamped or scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Integer, or nothing to do.
    None,
    /// f32.
    F32,
    /// f64.
    F64,
    /// f16 in the low half.
    F16,
    /// Two f16.
    PackedF16,
    /// Two f32 in two registers.
    PackedF32,
}

/// What happens to the result.
#[derive(Clone, Copy, Debug)]
pub struct ResultPlan {
    /// Type for omod and clamp.
    pub scale: Scale,
    /// 0 none, 1 ×2, 2 ×4, 3 ÷2.
    pub omod: u8,
    /// Clamp to 0..=1.
    pub clamp: bool,
    /// Round the f32 result to f16 first (`v_fma_mixlo_f16`).
    pub narrow: bool,
    /// Dwords.
    pub dwords: u32,
    /// Shift of the result into the destination dword, and the bits of the destination that it replaces.
    pub shift: u32,
    /// Bits of the destination that are written. The result's bits outside are dropped.
    pub mask: u32,
    /// Bits of the destination above the written ones are filled with the result's sign (SDWA `UNUSED_SEXT`).
    pub extend: u32,
    /// Bits of the destination that become 0.
    pub clear: u32,
    /// Destination: byte offset in the vector file.
    pub d: u32,
}

/// The side record of a prepared operation.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The plain operation, on temporaries.
    pub inner: Op,
    /// Sources to prepare.
    pub sources: Vec<SourcePlan>,
    /// Lane shuffle.
    pub shuffle: Option<ShufflePlan>,
    /// How the result gets from [`RESULT_TEMP`] to the destination; `None` if the plain operation writes it itself.
    pub result: Option<ResultPlan>,
}

// SAFETY: the operation's pointers are into the program's own segments.
unsafe impl Send for Prepared {}
// SAFETY: as above.
unsafe impl Sync for Prepared {}

/// The handler; `Op::imm` is the address of a [`Prepared`].
#[derive(Debug)]
pub struct Prepare;

impl Body for Prepare {
    #[inline(always)]
    unsafe fn run<L: Simd>(w: &mut Wave, op: *const Op) -> *const Op {
        // SAFETY: the record lives as long as the program; references were made by the lowering.
        unsafe {
            let plan = &*((*op).imm as usize as *const Prepared);
            let raw_exec = w.pair(slot::EXEC);
            let mut exec = w.exec();
            let mut source_lanes = w.full_mask;
            if let Some(shuffle) = &plan.shuffle {
                source_lanes = shuffle.in_range;
                if !shuffle.fetch_inactive {
                    source_lanes &= gather_mask(exec, &shuffle.from, w.lanes());
                }
                exec &= shuffle.write;
                if !shuffle.zero {
                    exec &= source_lanes;
                }
                w.set_exec(exec);
            }
            for source in &plan.sources {
                prepare_source(w, source, plan.shuffle.as_ref(), source_lanes);
            }
            let inner: Handler = plan.inner.run;
            inner(w, &raw const plan.inner);
            if let Some(result) = &plan.result {
                finish(w, result);
            }
            match &plan.shuffle {
                Some(shuffle) if !shuffle.writes_exec => w.set_pair(slot::EXEC, raw_exec),
                _ => {}
            }
            op.add(1)
        }
    }
}

/// A source with its sign changed (neg, abs), into temporaries: `d` gets (`s[0]` & `aux[0]`) ^ `aux[1]`, in the last of its `aux[2]`
/// dwords; the first of two is copied. All lanes are written, whatever EXEC is.
#[derive(Debug)]
pub struct ChangeSign;

impl Body for ChangeSign {
    #[inline(always)]
    unsafe fn run<L: Simd>(w: &mut Wave, op: *const Op) -> *const Op {
        // SAFETY: references were made by the lowering.
        unsafe {
            let [and, xor, dwords] = (*op).aux;
            if dwords == 1 {
                change_all::<u32>(w, &*op, |value| (value & and) ^ xor);
            } else {
                let (and, xor) = (u64::from(and) << 32 | 0xffff_ffff, u64::from(xor) << 32);
                change_all::<u64>(w, &*op, |value| (value & and) ^ xor);
            }
            op.add(1)
        }
    }
}

/// Bit n of the result is bit `from[n]` of `mask`.
fn gather_mask(mask: u64, from: &[u8; 64], lanes: usize) -> u64 {
    if mask == u64::MAX {
        return mask;
    }
    let mut out = 0;
    for (lane, from) in from.iter().enumerate().take(lanes) {
        out |= (mask >> (from & 63) & 1) << lane;
    }
    out
}

#[inline(always)]
unsafe fn prepare_source(
    w: &mut Wave,
    plan: &SourcePlan,
    shuffle: Option<&ShufflePlan>,
    valid: u64,
) {
    let lanes = w.lanes();
    for dword in 0..plan.dwords as usize {
        // SAFETY: the reference covers `dwords` dwords.
        let mut value = unsafe { fetch(w, plan.from, dword) };
        if plan.shuffle
            && let Some(shuffle) = shuffle
        {
            let source = value;
            for lane in 0..lanes {
                let live = 0u32.wrapping_sub((valid >> lane & 1) as u32);
                value.0[lane] = source.0[usize::from(shuffle.from[lane] & 63)] & live;
            }
        }
        match plan.part {
            Part::Whole => {}
            Part::Bits {
                shift,
                width,
                signed,
            } => {
                let up = 32 - shift - width;
                let down = 32 - width;
                for lane in &mut value.0 {
                    let high = *lane << up;
                    *lane = if signed {
                        (high.cast_signed() >> down).cast_unsigned()
                    } else {
                        high >> down
                    };
                }
            }
            Part::Halves {
                low_from_high,
                high_from_high,
            } => {
                let low = if low_from_high { 16 } else { 0 };
                let high = if high_from_high { 16 } else { 0 };
                for lane in &mut value.0 {
                    *lane = (*lane >> low & 0xffff) | (*lane >> high) << 16;
                }
            }
            Part::Widen { high } => {
                let shift = if high { 16 } else { 0 };
                for lane in &mut value.0 {
                    *lane = widen_exactly((*lane >> shift) as u16);
                }
            }
        }
        let (and, xor) = (plan.and[dword], plan.xor[dword]);
        for lane in &mut value.0 {
            *lane = (*lane & and) ^ xor;
        }
        w.temps[plan.to as usize + dword] = value;
    }
}

/// f16 → f32 that does not depend on MXCSR: denormals are kept (`v_mad_mix` reads f16 denormals).
#[inline(always)]
fn widen_exactly(half: u16) -> u32 {
    let magnitude = u32::from(half & 0x7fff);
    let sign = u32::from(half & 0x8000) << 16;
    let denormal = (magnitude as f32 * f32::from_bits(0x3380_0000)).to_bits();
    let normal = if magnitude >= 0x7c00 {
        (magnitude << 13) | 0x7f80_0000
    } else {
        (magnitude << 13) + 0x3800_0000
    };
    sign | if magnitude < 0x400 { denormal } else { normal }
}

/// All lanes of one dword of a source.
unsafe fn fetch(w: &Wave, from: Ref, dword: usize) -> Lanes {
    let offset = from.offset() as usize;
    let mut out = Lanes([0; 64]);
    // SAFETY: the lowering made the reference.
    unsafe {
        match from.selector() {
            Ref::SCALAR => out.0 = [*w.sgpr.as_ptr().byte_add(offset).add(dword); 64],
            Ref::POOL => out.0 = [*w.base[1].add(offset + 64 * dword).cast::<u32>(); 64],
            selector => {
                let next = if selector == Ref::FILE {
                    w.stride()
                } else {
                    size_of::<Lanes>()
                };
                let at: *const u32 = w.base[selector as usize].add(offset + dword * next).cast();
                std::ptr::copy_nonoverlapping(at, out.0.as_mut_ptr(), w.lanes());
            }
        }
    }
    out
}

#[inline(always)]
pub(crate) fn scale_f32(e: Env, x: f32, omod: u8, clamp: bool) -> f32 {
    let mut x = x;
    // Ignored when result denormals are kept (ISA: output modifiers and denormals).
    if omod != 0 && e.ftz_f32() {
        x *= [1.0, 2.0, 4.0, 0.5][usize::from(omod & 3)];
        if x == 0.0 {
            x = 0.0;
        }
    }
    if clamp {
        x = if x.is_nan() {
            if e.dx10_clamp() { 0.0 } else { x }
        } else if x > 0.0 {
            x.min(1.0)
        } else {
            0.0
        };
    }
    x
}

#[inline(always)]
fn scale_f64(e: Env, x: f64, omod: u8, clamp: bool) -> f64 {
    let mut x = x;
    if omod != 0 && e.ftz_f16() {
        x *= [1.0, 2.0, 4.0, 0.5][usize::from(omod & 3)];
        if x == 0.0 {
            x = 0.0;
        }
    }
    if clamp {
        x = if x.is_nan() {
            if e.dx10_clamp() { 0.0 } else { x }
        } else if x > 0.0 {
            x.min(1.0)
        } else {
            0.0
        };
    }
    x
}

#[inline(always)]
pub(crate) fn scale_f16(e: Env, bits: u32, omod: u8, clamp: bool) -> u32 {
    let mut x = Half(bits as u16);
    if omod != 0 && e.ftz_f16() {
        x = narrow(
            e,
            f32::from_bits(widen_exactly(x.0)) * [1.0, 2.0, 4.0, 0.5][usize::from(omod & 3)],
        );
        if x.0 & 0x7fff == 0 {
            x = Half(0);
        }
    }
    if clamp {
        x = if x.is_nan() {
            if e.dx10_clamp() { Half(0) } else { x }
        } else if x.0 & 0x8000 != 0 {
            Half(0)
        } else {
            Half(x.0.min(0x3c00))
        };
    }
    u32::from(x.0)
}

/// Brings the result from its temporary to the destination.
#[inline(always)]
unsafe fn finish(w: &mut Wave, plan: &ResultPlan) {
    w.refresh_mask();
    let e = Env { mode: w.mode };
    let result = RESULT_TEMP as usize;
    let (omod, clamp) = (plan.omod, plan.clamp);
    if plan.narrow {
        for lane in 0..64 {
            let value = f32::from_bits(w.temps[result].0[lane]);
            let value = if clamp {
                scale_f32(e, value, 0, true)
            } else {
                value
            };
            w.temps[result].0[lane] = u32::from(narrow(e, value).0);
        }
    } else if omod != 0 || clamp {
        for lane in 0..64 {
            let low = w.temps[result].0[lane];
            let high = w.temps[result + 1].0[lane];
            match plan.scale {
                Scale::None => {}
                Scale::F32 => {
                    w.temps[result].0[lane] =
                        scale_f32(e, f32::from_bits(low), omod, clamp).to_bits()
                }
                Scale::F64 => {
                    let value = scale_f64(
                        e,
                        f64::from_bits(u64::from(low) | u64::from(high) << 32),
                        omod,
                        clamp,
                    )
                    .to_bits();
                    w.temps[result].0[lane] = value as u32;
                    w.temps[result + 1].0[lane] = (value >> 32) as u32;
                }
                Scale::F16 => w.temps[result].0[lane] = scale_f16(e, low, omod, clamp),
                Scale::PackedF16 => {
                    w.temps[result].0[lane] = scale_f16(e, low & 0xffff, omod, clamp)
                        | scale_f16(e, low >> 16, omod, clamp) << 16;
                }
                Scale::PackedF32 => {
                    w.temps[result].0[lane] =
                        scale_f32(e, f32::from_bits(low), omod, clamp).to_bits();
                    w.temps[result + 1].0[lane] =
                        scale_f32(e, f32::from_bits(high), omod, clamp).to_bits();
                }
            }
        }
    }
    let lanes = w.lanes();
    let (mask, shift, extend) = (plan.mask, plan.shift, plan.extend);
    let all = mask | extend | plan.clear;
    for dword in 0..plan.dwords as usize {
        // SAFETY: the destination registers are inside the file.
        unsafe {
            let at: *mut u32 = w.base[0].add(plan.d as usize + dword * w.stride()).cast();
            for lane in 0..lanes {
                let value = w.temps[result + dword].0[lane] << shift;
                // The written field's top bit, spread over the bits that are to be extended.
                let sign = 0u32.wrapping_sub(u32::from(value & mask & !(mask >> 1) != 0)) & extend;
                let live = w.mask_lanes.0[lane];
                let write = all & live;
                let old = *at.add(lane);
                *at.add(lane) = (((value & mask) | sign) & write) | (old & !write);
            }
        }
    }
}
