//! Values that go up evenly from lane to lane.
//!
//! An address is mostly a scalar and a multiple of the lane's number. Two numbers stand for such a value in all lanes: that of lane 0, and
//! the difference to the next lane. A run with loads and stores computes its addresses so, once instead of for each group of lanes, and then
//! knows without a look at the lanes that they are consecutive. What must hold for that (the registers that it begins with go up
//! evenly, nothing wraps around on the way) is checked before the run does anything, see [`entry`](super::entry).
//!
//! Found here: which values and operations of a run the addresses need. A load or store whose address cannot be computed so ends the run.

use std::{collections::BTreeMap, ops::Range};

use crate::ir::program::PoolLine;

use super::{
    form::Form,
    region::{self, Code, Kind, Region},
    values::{Id, Origin, Plan},
};

/// A value of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number among the values of the run that are computed so.
    pub number: u32,
    /// The difference is known to be 0.
    pub uniform: bool,
}

/// What a run computes with two numbers for all lanes.
#[derive(Debug, Default)]
pub struct Linear {
    /// The values.
    pub lines: BTreeMap<Id, Line>,
    /// For each step, whether it computes nothing else.
    pub steps: Vec<bool>,
}

/// A run with loads and stores.
#[derive(Debug)]
pub struct MemoryRun {
    /// Its operations.
    pub region: Region,
    /// The addresses.
    pub linear: Linear,
}

/// The runs of a segment that access memory.
pub fn find(code: &Code<'_>, pool: &[PoolLine]) -> Vec<MemoryRun> {
    let mut runs = Vec::new();
    let mut pending = vec![0..code.ops.len()];
    while let Some(among) = pending.pop() {
        for region in region::find(code, among, Kind::Memory) {
            match read(code, region, pool) {
                Ok(found) => runs.extend(found),
                Err(parts) => pending.extend(parts),
            }
        }
    }
    runs
}

/// A region as a run, if it accesses memory, or the parts to look at instead.
fn read(
    code: &Code<'_>,
    region: Region,
    pool: &[PoolLine],
) -> Result<Option<MemoryRun>, [Range<usize>; 2]> {
    let forms = &code.forms[region.start..region.end];
    if !forms.iter().any(|form| form.is_memory()) {
        return Ok(None);
    }
    let stride = code.config.stride();
    let Some(plan) = Plan::new(code.ops, code.forms, &region, pool, stride) else {
        return Ok(None);
    };
    match Linear::of(&plan) {
        Ok(linear) => Ok(Some(MemoryRun { region, linear })),
        Err(step) => {
            let at = region.start + step;
            Err([region.start..at, at + 1..region.end])
        }
    }
}

impl Linear {
    /// The addresses of a plan's loads and stores; or the first of these steps whose address is not linear.
    fn of(plan: &Plan) -> Result<Self, usize> {
        let mut finder = Finder::new(plan);
        for (number, step) in plan.steps.iter().enumerate() {
            if step.form.is_memory() {
                let halves = step.sources.iter().zip([false, true]);
                for (&id, uniform) in halves {
                    finder.want(id, uniform).ok_or(number)?;
                }
            }
        }
        Ok(finder.found)
    }

    /// The values that steps outside of the addresses read as lanes, or that are to be stored as such.
    pub fn wanted_as_lanes<'a>(&'a self, plan: &'a Plan) -> impl Iterator<Item = (Id, Line)> + 'a {
        let end = plan.steps.len();
        let as_lanes =
            move |&at: &usize| at == end || !self.steps[at] && !plan.steps[at].form.is_memory();
        self.lines
            .iter()
            .filter(move |&(&id, _)| {
                let value = &plan.values[id];
                value.origin == Origin::Computed && value.uses.iter().any(as_lanes)
            })
            .map(|(&id, &line)| (id, line))
    }
}

/// A search for linear values.
struct Finder<'a> {
    plan: &'a Plan,
    /// The step that computes a value.
    by: Vec<Option<usize>>,
    found: Linear,
}

impl<'a> Finder<'a> {
    fn new(plan: &'a Plan) -> Self {
        let mut by = vec![None; plan.values.len()];
        for (number, step) in plan.steps.iter().enumerate() {
            for &id in step.results.iter().chain(&step.mask_result) {
                by[id] = Some(number);
            }
        }
        Self {
            plan,
            by,
            found: Linear {
                lines: BTreeMap::new(),
                steps: vec![false; plan.steps.len()],
            },
        }
    }

    fn is_uniform(&self, id: Id) -> bool {
        self.found.lines.get(&id).is_some_and(|line| line.uniform)
    }

    fn note(&mut self, id: Id, uniform: bool) {
        let number = self.found.lines.len() as u32;
        let line = self.found.lines.entry(id).or_insert(Line {
            number,
            uniform: false,
        });
        line.uniform |= uniform;
    }

    /// Makes a value linear, and uniform if that is wanted.
    fn want(&mut self, id: Id, uniform: bool) -> Option<()> {
        if let Some(line) = self.found.lines.get(&id)
            && (line.uniform || !uniform)
        {
            return Some(());
        }
        match self.plan.values[id].origin {
            Origin::Constant(_) | Origin::Scalar(_) => self.note(id, true),
            Origin::File(_) => self.note(id, uniform),
            Origin::Mask(_) => return None,
            Origin::Computed => {
                let number = self.by[id]?;
                self.want_step(number, uniform)?;
                self.found.steps[number] = true;
                if uniform && !self.is_uniform(id) {
                    return None;
                }
            }
        }
        Some(())
    }

    fn constant(&self, id: Id) -> Option<u32> {
        match self.plan.values[id].origin {
            Origin::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// Makes the results of a step linear. [`entry`](super::entry) computes what is admitted here.
    fn want_step(&mut self, number: usize, uniform: bool) -> Option<()> {
        let plan = self.plan;
        let step = &plan.steps[number];
        let s = &step.sources;
        let all_uniform = |finder: &Self, ids: &[Id]| ids.iter().all(|&id| finder.is_uniform(id));
        let result = *step.results.first()?;
        match step.form {
            Form::Move | Form::Add | Form::Subtract | Form::SubtractReversed | Form::Add3 => {
                for &id in s {
                    self.want(id, uniform)?;
                }
                self.note(result, all_uniform(self, s));
            }
            Form::ShiftLeft => {
                self.constant(s[0])?;
                self.want(s[1], uniform)?;
                self.note(result, self.is_uniform(s[1]));
            }
            Form::ShiftLeftAdd | Form::AddShiftLeft => {
                let (amount, parts) = if step.form == Form::ShiftLeftAdd {
                    (s[1], [s[0], s[2]])
                } else {
                    (s[2], [s[0], s[1]])
                };
                self.constant(amount)?;
                for id in parts {
                    self.want(id, uniform)?;
                }
                self.note(result, all_uniform(self, &parts));
            }
            Form::Multiply | Form::Or | Form::ShiftLeftOr => {
                let other = if step.form == Form::ShiftLeftOr {
                    self.constant(s[1])?;
                    s[2]
                } else {
                    s[1]
                };
                let parts = [s[0], other];
                for id in parts {
                    self.want(id, uniform)?;
                }
                if !parts.iter().any(|&id| self.is_uniform(id)) {
                    return None;
                }
                self.note(result, all_uniform(self, &parts));
            }
            Form::And => {
                let (mask, value) = if self.constant(s[0]).is_some() {
                    (self.constant(s[0])?, s[1])
                } else {
                    (self.constant(s[1])?, s[0])
                };
                // Low bits: values that fit pass unchanged.
                if !mask.wrapping_add(1).is_power_of_two() {
                    return None;
                }
                self.want(value, uniform)?;
                self.note(result, self.is_uniform(value));
            }
            Form::ShiftRightSigned => {
                // The sign, which all lanes share.
                if self.constant(s[0])? & 31 != 31 {
                    return None;
                }
                self.want(s[1], false)?;
                self.note(result, true);
            }
            Form::ShiftLeft64 => {
                if !(1..32).contains(&(self.constant(s[0])? & 63)) {
                    return None;
                }
                self.want(s[1], uniform)?;
                self.want(s[2], true)?;
                self.note(result, self.is_uniform(s[1]));
                self.note(step.results[1], true);
            }
            Form::AddCarryOut => {
                for &id in s {
                    self.want(id, uniform)?;
                }
                self.note(result, all_uniform(self, s));
                self.note(step.mask_result?, true);
            }
            Form::AddCarry => {
                for &id in s {
                    self.want(id, true)?;
                }
                self.want(step.mask?, true)?;
                self.note(result, true);
                self.note(step.mask_result?, true);
            }
            _ => return None,
        }
        Some(())
    }
}
