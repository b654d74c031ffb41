//! The values of a run: what its operations read and write, each written once.

use std::collections::HashMap;

use crate::{
    interp::{memory::flag, vector::TEMP_DST},
    ir::{Op, Ref, program::PoolLine},
};

use super::{
    form::Form,
    region::{Code, Region},
};

/// Index of a value.
pub type Id = usize;

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// An operation of the run.
    Computed,
    /// The vector file, at this offset, as it was before the run.
    File(u32),
    /// The lane mask in this slot, as it was before the run.
    Mask(u32),
    /// A constant.
    Constant(u32),
    /// The scalar file, at this byte offset.
    Scalar(u32),
}

/// A value: a dword in each lane, or a lane mask.
#[derive(Clone, Debug)]
pub struct Value {
    /// Where it comes from.
    pub origin: Origin,
    /// The steps that read it, in order; the number of steps stands for the end of the run.
    pub uses: Vec<usize>,
}

/// The address of a load or store: what is added to the lanes' part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Scalar slot of the first half of a 64-bit base.
    pub base: Option<u32>,
    /// Bytes.
    pub offset: i32,
    /// Offset in the vector file of the register that a store stores.
    pub data: Option<u32>,
}

/// An operation of the run.
#[derive(Clone, Debug)]
pub struct Step {
    /// What it computes.
    pub form: Form,
    /// Its sources, a value for each dword; of a load or store the lanes' part of the address.
    pub sources: Vec<Id>,
    /// The lane mask that it reads.
    pub mask: Option<Id>,
    /// Its results, a value for each dword. A scalar that is loaded is one in which all lanes are the same.
    pub results: Vec<Id>,
    /// The lane mask that it writes.
    pub mask_result: Option<Id>,
    /// `Op::aux`.
    pub aux: [u32; 3],
    /// Of a load or store; of a scalar load the offset alone, the rest is among the sources.
    pub access: Option<Access>,
    /// The result may be a NaN that nothing else in the run shows.
    pub check: bool,
}

/// Operations of a run as steps on values.
#[derive(Debug, Default)]
pub struct Plan {
    /// All values.
    pub values: Vec<Value>,
    /// The steps.
    pub steps: Vec<Step>,
    /// What goes to the vector file at the end, by offset.
    pub stores: Vec<(u32, Id)>,
    /// What the region's lane masks are at the end, in its order.
    pub masks: Vec<Id>,
    /// What the scalars that the region loads are at the end, in its order.
    pub scalars: Vec<Id>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    File(u32),
    Temp(u32),
    Mask(u32),
    /// Byte offset in the scalar file.
    Scalar(u32),
}

/// A run being read.
struct Builder<'a> {
    plan: Plan,
    current: HashMap<Place, Id>,
    inputs: HashMap<Origin, Id>,
    pool: &'a [PoolLine],
    stride: u32,
}

impl Builder<'_> {
    fn value(&mut self, origin: Origin) -> Id {
        if let Some(&id) = self.inputs.get(&origin) {
            return id;
        }
        self.plan.values.push(Value {
            origin,
            uses: Vec::new(),
        });
        let id = self.plan.values.len() - 1;
        if origin != Origin::Computed {
            self.inputs.insert(origin, id);
        }
        id
    }

    fn read(&mut self, place: Place) -> Option<Id> {
        if let Some(&id) = self.current.get(&place) {
            return Some(id);
        }
        let origin = match place {
            Place::File(offset) => Origin::File(offset),
            Place::Mask(slot) => Origin::Mask(slot),
            Place::Scalar(offset) => Origin::Scalar(offset),
            // Temporaries live within an instruction.
            Place::Temp(_) => return None,
        };
        let id = self.value(origin);
        self.current.insert(place, id);
        Some(id)
    }

    /// Dword `dword` of a source.
    fn source(&mut self, source: Ref, dword: u32) -> Option<Id> {
        let offset = source.offset();
        match source.selector() {
            Ref::FILE => self.read(Place::File(offset + dword * self.stride)),
            Ref::TEMP => self.read(Place::Temp(
                offset + dword * size_of::<crate::interp::wave::Lanes>() as u32,
            )),
            Ref::POOL => {
                let line = self.pool.get((offset / 64 + dword) as usize)?;
                Some(self.value(Origin::Constant(line.0[0])))
            }
            _ => self.read(Place::Scalar(offset + 4 * dword)),
        }
    }

    fn write(&mut self, place: Place) -> Id {
        let id = self.value(Origin::Computed);
        self.current.insert(place, id);
        id
    }

    fn step(&mut self, op: &Op, form: Form) -> Option<()> {
        let number = self.plan.steps.len();
        let mut sources = Vec::new();
        for index in 0..form.arity() {
            for dword in 0..form.source_dwords(index) {
                sources.push(self.source(op.s[index], dword)?);
            }
        }
        let mask = if form.reads_mask() {
            Some(self.read(Place::Mask(op.s[3].0))?)
        } else {
            None
        };
        let data = if form == Form::Store {
            Some(self.source(op.s[1], 0)?)
        } else {
            None
        };
        let access = if form.is_memory() {
            let flags = op.aux[0];
            sources.push(self.source(op.s[0], 0)?);
            if flags & flag::WIDE != 0 {
                sources.push(self.source(op.s[0], 1)?);
            }
            Some(Access {
                base: (flags & flag::SADDR != 0).then_some(op.aux[1]),
                offset: i32::try_from(op.imm.cast_signed()).ok()?,
                data: data.map(|_| op.s[1].offset()),
            })
        } else if form == Form::LoadScalar {
            let offset = (op.aux[0] & flag::SADDR != 0).then_some(op.aux[1]);
            for slot in [op.d2, op.d2 + 1].into_iter().chain(offset) {
                sources.push(self.read(Place::Scalar(4 * slot))?);
            }
            Some(Access {
                base: None,
                offset: i32::try_from(op.imm.cast_signed()).ok()?,
                data: None,
            })
        } else {
            None
        };
        for &id in sources.iter().chain(&mask).chain(&data) {
            let uses = &mut self.plan.values[id].uses;
            if uses.last() != Some(&number) {
                uses.push(number);
            }
        }
        let mut results: Vec<_> = (0..form.result_dwords())
            .map(|dword| {
                self.write(if op.d & TEMP_DST != 0 {
                    Place::Temp(
                        (op.d & !TEMP_DST) + dword * size_of::<crate::interp::wave::Lanes>() as u32,
                    )
                } else {
                    Place::File(op.d + dword * self.stride)
                })
            })
            .collect();
        if form == Form::LoadScalar {
            results.push(self.write(Place::Scalar(4 * op.d)));
        }
        let mask_result = if form.is_compare() {
            Some(self.write(Place::Mask(op.d)))
        } else if form.carries_out() {
            Some(self.write(Place::Mask(op.d2)))
        } else {
            None
        };
        self.plan.steps.push(Step {
            form,
            sources,
            mask,
            results,
            mask_result,
            aux: op.aux,
            access,
            check: false,
        });
        Some(())
    }
}

impl Plan {
    /// Reads the operations of a region. `None` if a temporary is read that the region does not write.
    pub fn new(code: &Code<'_>, region: &Region) -> Option<Self> {
        let mut builder = Builder {
            plan: Plan::default(),
            current: HashMap::new(),
            inputs: HashMap::new(),
            pool: code.pool,
            stride: code.config.stride(),
        };
        for index in region.start..region.end {
            builder.step(&code.ops[index], code.forms[index])?;
        }
        let Builder {
            mut plan, current, ..
        } = builder;
        let end = plan.steps.len();
        for (place, id) in &current {
            if let Place::File(offset) = place
                && plan.values[*id].origin == Origin::Computed
            {
                plan.stores.push((*offset, *id));
            }
        }
        plan.stores.sort_unstable();
        plan.masks = region
            .masks
            .iter()
            .map(|slot| current[&Place::Mask(*slot)])
            .collect();
        plan.scalars = region
            .loaded
            .iter()
            .map(|slot| current[&Place::Scalar(4 * slot)])
            .collect();
        for id in plan.stores.iter().map(|(_, id)| id).chain(&plan.masks) {
            let uses = &mut plan.values[*id].uses;
            if uses.last() != Some(&end) {
                uses.push(end);
            }
        }
        plan.find_checks();
        Some(plan)
    }

    /// Leaves out what goes to registers of the file that nobody reads: all but what a store of the run stores. Gives the rest.
    pub fn keep_stored(&mut self) -> Vec<(u32, Id)> {
        let data = self.stored();
        let stores = std::mem::take(&mut self.stores);
        let (kept, left): (Vec<_>, Vec<_>) = stores
            .into_iter()
            .partition(|&(offset, _)| Some(offset) == data);
        let end = self.steps.len();
        for &(_, id) in &left {
            let wanted = kept.iter().any(|&(_, kept)| kept == id) || self.masks.contains(&id);
            let uses = &mut self.values[id].uses;
            if !wanted && uses.last() == Some(&end) {
                uses.pop();
            }
        }
        self.stores = kept;
        left
    }

    /// The constant that a value is.
    pub fn constant(&self, id: Id) -> Option<u32> {
        match self.values[id].origin {
            Origin::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// The store at the end, if there is one.
    pub fn store(&self) -> Option<&Step> {
        self.steps.last().filter(|step| step.form == Form::Store)
    }

    /// The offset of the register that the store stores.
    pub fn stored(&self) -> Option<u32> {
        self.store()?.access?.data
    }

    /// Loads and stores.
    pub fn accesses(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|step| step.form.is_memory())
    }

    /// Whether a lane mask from before the run is read.
    pub fn reads_masks(&self) -> bool {
        self.values
            .iter()
            .any(|value| matches!(value.origin, Origin::Mask(_)))
    }

    /// A NaN that flows into other arithmetic makes that a NaN: only ends of such chains are checked.
    fn find_checks(&mut self) {
        let end = self.steps.len();
        for number in 0..end {
            if !self.steps[number].form.may_give_nan() {
                continue;
            }
            let result = self.steps[number].results[0];
            let shown = self.values[result]
                .uses
                .iter()
                .any(|&at| at < end && self.steps[at].form.may_give_nan());
            self.steps[number].check = !shown;
        }
    }
}
