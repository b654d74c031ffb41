//! Cuts a segment into runs: consecutive instructions all of whose operations have native code, without a jump target behind the first.

use crate::{
    interp::{vector::TEMP_DST, wave::slot},
    ir::{Op, Ref, program::LowerConfig},
};

use super::form::Form;

/// Lane masks that a run may write: each has a host register for its bits.
pub const MAX_MASKS: usize = 6;

/// Operations of a run, at most: bounds the size of its code.
const MAX_OPS: usize = 192;

/// Operations of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// First operation.
    pub start: usize,
    /// Behind the last operation.
    pub end: usize,
    /// Scalar slots of the lane masks that it writes.
    pub masks: Vec<u32>,
    /// Right only while MODE keeps f32 denormals.
    pub needs_denormals: bool,
}

/// What a run has done to the scalar file so far.
struct Reach {
    masks: Vec<u32>,
    /// Slots of a lane mask.
    width: u32,
}

impl Reach {
    /// Whether the written masks overlap these slots.
    fn overlaps(&self, slot: u32, slots: u32) -> bool {
        self.masks
            .iter()
            .any(|&mask| mask < slot + slots && slot < mask + self.width)
    }

    /// Takes an operation in, unless it sees scalar registers in a way that native code has no place for.
    fn admit(&mut self, op: &Op, form: Form) -> bool {
        let exec = slot::EXEC as u32;
        let is_exec = |slot: u32, slots: u32| slot < exec + 2 && exec < slot + slots;
        for index in 0..form.arity() {
            let source = op.s[index];
            if source.selector() == Ref::SCALAR {
                let (slot, slots) = (source.offset() / 4, form.source_dwords(index));
                // A mask of the run is not in the scalar file before its end; EXEC is another one while the interpreter does a part.
                if self.overlaps(slot, slots) || is_exec(slot, slots) {
                    return false;
                }
            }
        }
        if form.reads_mask() {
            let mask = op.s[3].0;
            if is_exec(mask, self.width)
                || (self.overlaps(mask, self.width) && !self.masks.contains(&mask))
            {
                return false;
            }
        }
        let written = if form.is_compare() {
            Some(op.d)
        } else if form.carries_out() {
            Some(op.d2)
        } else {
            None
        };
        if let Some(mask) = written
            && !self.masks.contains(&mask)
        {
            if self.masks.len() == MAX_MASKS
                || self.overlaps(mask, self.width)
                || is_exec(mask, self.width)
            {
                return false;
            }
            self.masks.push(mask);
        }
        true
    }
}

/// Whether an operation's own operands are ones that native code can have.
fn is_native(op: &Op, form: Form, config: &LowerConfig) -> bool {
    if form == Form::None {
        return false;
    }
    let constants_are = form
        .constant_sources()
        .iter()
        .all(|&index| op.s[index].selector() == Ref::POOL);
    // Native code addresses registers with 32-bit displacements from one base.
    let in_file =
        form.is_compare() || op.d & TEMP_DST != 0 || op.d < config.registers() * config.stride();
    constants_are && in_file
}

/// The runs of a segment.
pub fn find(ops: &[Op], forms: &[Form], leaders: &[usize], config: &LowerConfig) -> Vec<Region> {
    let mut regions = Vec::new();
    let mut open: Option<(Region, Reach)> = None;
    let mut at = 0;
    while at < ops.len() {
        // An instruction's operations share temporaries: all of them or none.
        let pc = ops[at].pc;
        let mut end = at + 1;
        while end < ops.len() && ops[end].pc == pc && leaders.binary_search(&end).is_err() {
            end += 1;
        }
        let native = (at..end).all(|index| is_native(&ops[index], forms[index], config));
        if leaders.binary_search(&at).is_ok() {
            regions.extend(open.take().map(|(region, _)| region));
        }
        for attempt in 0..2 {
            if !native {
                regions.extend(open.take().map(|(region, _)| region));
                break;
            }
            let (region, reach) = open.get_or_insert_with(|| {
                (
                    Region {
                        start: at,
                        end: at,
                        masks: Vec::new(),
                        needs_denormals: false,
                    },
                    Reach {
                        masks: Vec::new(),
                        width: if config.wave64 { 2 } else { 1 },
                    },
                )
            });
            let kept = reach.masks.clone();
            let fits = end - region.start <= MAX_OPS
                && (at..end).all(|index| reach.admit(&ops[index], forms[index]));
            if fits {
                region.end = end;
                region.masks.clone_from(&reach.masks);
                region.needs_denormals |= (at..end).any(|index| forms[index].needs_denormals());
                break;
            }
            reach.masks = kept;
            // Try once more at the beginning of a new run.
            let empty = region.end == region.start;
            let (region, _) = open.take().expect("was just filled");
            if !empty {
                regions.push(region);
            }
            if empty || attempt == 1 {
                break;
            }
        }
        at = end;
    }
    regions.extend(
        open.take()
            .map(|(region, _)| region)
            .filter(|region| region.end > region.start),
    );
    regions
}
