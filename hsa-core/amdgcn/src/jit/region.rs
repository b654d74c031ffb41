//! Cuts a segment into runs: consecutive instructions all of whose operations have native code, without a jump target behind the first.

use std::ops::Range;

use crate::{
    interp::{memory::flag, vector::TEMP_DST, wave::slot},
    ir::{
        Op, Ref,
        program::{LowerConfig, PoolLine},
    },
};

use super::{
    form::Form,
    liveness::{self, Decoded},
};

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
    /// Scalar slots of the lane masks that it writes and that somebody may read behind it.
    pub masks: Vec<u32>,
    /// Scalar slots that it loads.
    pub loaded: Vec<u32>,
    /// Right only while MODE keeps f32 denormals.
    pub needs_denormals: bool,
}

impl Region {
    /// Without operations, before the one at `start`.
    fn new(start: usize) -> Self {
        Self {
            start,
            end: start,
            masks: Vec::new(),
            loaded: Vec::new(),
            needs_denormals: false,
        }
    }

    /// Takes operations in, all or none: none if they are too many, or see scalar registers in a way that native code has no place for.
    fn take_in(&mut self, ops: &[Op], forms: &[Form], end: usize, mask_slots: u32) -> bool {
        let (masks, loaded) = (self.masks.len(), self.loaded.len());
        let fits = end - self.start <= MAX_OPS
            && (self.end..end).all(|at| self.admit(&ops[at], forms[at], mask_slots));
        if fits {
            self.needs_denormals |= forms[self.end..end].iter().any(|f| f.needs_denormals());
            self.end = end;
        } else {
            self.masks.truncate(masks);
            self.loaded.truncate(loaded);
        }
        fits
    }

    /// Notes the mask or scalar that an operation writes, unless it sees the scalar file in the wrong way.
    fn admit(&mut self, op: &Op, form: Form, mask_slots: u32) -> bool {
        // A mask or scalar of the run is not in the scalar file before its end; EXEC is another one while the interpreter does a part.
        let exec = slot::EXEC as u32;
        let is_exec = |slot: u32, slots: u32| slot < exec + 2 && exec < slot + slots;
        let is_written = |masks: &[u32], slot: u32, slots: u32| {
            masks
                .iter()
                .any(|&mask| mask < slot + slots && slot < mask + mask_slots)
        };
        for index in 0..form.arity() {
            let source = op.s[index];
            if source.selector() == Ref::SCALAR {
                let (slot, slots) = (source.offset() / 4, form.source_dwords(index));
                if is_written(&self.masks, slot, slots) || is_exec(slot, slots) {
                    return false;
                }
            }
        }
        let is_loaded = |loaded: &[u32], slot: u32, slots: u32| {
            loaded
                .iter()
                .any(|&one| (slot..slot + slots).contains(&one))
        };
        // Addresses are computed from the file.
        let is_address = |slot: u32, slots: u32| {
            !is_written(&self.masks, slot, slots)
                && !is_loaded(&self.loaded, slot, slots)
                && !is_exec(slot, slots)
        };
        let has_scalar = op.aux[0] & flag::SADDR != 0;
        if form.is_memory() && has_scalar && !is_address(op.aux[1], 2) {
            return false;
        }
        if form == Form::LoadScalar {
            let general = op.d < slot::VCC as u32;
            if !general
                || is_written(&self.masks, op.d, 1)
                || !is_address(op.d2, 2)
                || has_scalar && !is_address(op.aux[1], 1)
            {
                return false;
            }
            if !self.loaded.contains(&op.d) {
                self.loaded.push(op.d);
            }
        }
        let read = form.reads_mask().then_some(op.s[3].0);
        let written = if form.is_compare() {
            Some(op.d)
        } else {
            form.carries_out().then_some(op.d2)
        };
        for mask in [read, written].into_iter().flatten() {
            let overlaps = !self.masks.contains(&mask) && is_written(&self.masks, mask, mask_slots)
                || is_loaded(&self.loaded, mask, mask_slots);
            if overlaps || is_exec(mask, mask_slots) {
                return false;
            }
        }
        match written {
            Some(mask) if !self.masks.contains(&mask) => {
                self.masks.push(mask);
                self.masks.len() <= MAX_MASKS
            }
            _ => true,
        }
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
    let in_file = !form.has_vector_result()
        || op.d & TEMP_DST != 0
        || op.d < config.registers() * config.stride();
    constants_are && in_file
}

/// Which runs are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Vector operations.
    Vector,
    /// Vector operations and loads, and one store at the end.
    Memory,
}

/// A segment.
#[derive(Clone, Copy, Debug)]
pub struct Code<'a> {
    /// The operations.
    pub ops: &'a [Op],
    /// What each computes.
    pub forms: &'a [Form],
    /// Targets of jumps, ascending.
    pub leaders: &'a [usize],
    /// The instructions.
    pub decoded: &'a Decoded,
    /// The constants.
    pub pool: &'a [PoolLine],
    /// What they were lowered for.
    pub config: &'a LowerConfig,
}

impl Code<'_> {
    /// Address of the instruction behind a region.
    pub fn behind(&self, region: &Region) -> u64 {
        let last = &self.ops[region.end - 1];
        last.pc.wrapping_add(u64::from(last.len))
    }
}

/// The runs among these operations.
pub fn find(code: &Code<'_>, among: Range<usize>, kind: Kind) -> Vec<Region> {
    let Code {
        ops, forms, config, ..
    } = *code;
    let is_leader = |at: usize| code.leaders.binary_search(&at).is_ok();
    let mask_slots = if config.wave64 { 2 } else { 1 };
    let mut regions = Vec::new();
    let mut open: Option<Region> = None;
    let mut at = among.start;
    while at < among.end {
        // An instruction's operations share temporaries: all of them or none.
        let mut end = at + 1;
        while end < among.end && ops[end].pc == ops[at].pc && !is_leader(end) {
            end += 1;
        }
        let native = (at..end).all(|index| {
            let is_wanted = kind == Kind::Memory || !forms[index].wants_memory_run();
            is_wanted && is_native(&ops[index], forms[index], config)
        });
        if is_leader(at) || !native {
            regions.extend(open.take());
        }
        if native
            && !open
                .as_mut()
                .is_some_and(|region| region.take_in(ops, forms, end, mask_slots))
        {
            regions.extend(open.take());
            let mut region = Region::new(at);
            open = region
                .take_in(ops, forms, end, mask_slots)
                .then_some(region);
        }
        if forms[end - 1] == Form::Store {
            // What comes behind a store may read what it has stored.
            regions.extend(open.take());
        }
        at = end;
    }
    regions.extend(open);
    let lanes = config.lanes() as u32;
    for region in &mut regions {
        let next = code.behind(region);
        let is_dead = |slot: u32| liveness::is_dead(code.decoded, next, slot, lanes);
        region.masks.retain(|&slot| !is_dead(slot));
    }
    regions
}
