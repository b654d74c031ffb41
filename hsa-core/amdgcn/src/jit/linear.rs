//! Values that go up evenly from lane to lane.
//!
//! An address is mostly a scalar and a multiple of the lane's number. Two numbers stand for such a value in all lanes: that of lane 0, and
//! the difference to the next lane. A run with loads and stores computes its addresses so, once instead of for each group of lanes, and then
//! knows without a look at the lanes that they are consecutive.
//!
//! Accesses of consecutive dwords have a difference of four bytes. From that follows what the run's addresses begin with: one register
//! whose lanes go up by the difference that makes four bytes of it, and others that hold the same in all lanes. All differences are so
//! known when the code is made. That the registers are like that, and that nothing wraps around on the way, is checked before the run does
//! anything, in `entry`.
//!
//! Found here: which values and operations of a run the addresses need. A load or store whose address cannot be computed so ends the run.

use std::{collections::BTreeMap, ops::Range};

use super::{
    form::Form,
    liveness,
    region::{self, Code, Kind, Region},
    values::{Id, Origin, Plan},
};

/// A value of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number among the values of the run that are computed so.
    pub number: u32,
    /// The difference from a lane to the next, in those of the register that varies.
    multiple: u32,
}

impl Line {
    /// All lanes are the same.
    pub fn is_uniform(&self) -> bool {
        self.multiple == 0
    }
}

/// Bytes from a lane's dword to the next one's.
const STEP: u32 = 4;

/// What a run computes with two numbers for all lanes.
#[derive(Debug, Default)]
pub struct Linear {
    /// The values.
    pub lines: BTreeMap<Id, Line>,
    /// The difference from a lane to the next in the register that varies.
    unit: u32,
    /// For each step, whether it computes nothing else.
    pub steps: Vec<bool>,
}

/// A run with loads and stores.
#[derive(Debug)]
pub struct MemoryRun {
    /// Its operations.
    pub region: Region,
    /// Their values.
    pub plan: Plan,
    /// Results that the plan does not write back, by their offset in the file: the program ends behind the run.
    pub unread: Vec<(u32, Id)>,
    /// The addresses.
    pub linear: Linear,
}

/// The runs of a segment that access memory.
pub fn find(code: &Code<'_>) -> Vec<MemoryRun> {
    let mut runs = Vec::new();
    let all = 0..code.ops.len();
    let mut pending = vec![all];
    while let Some(among) = pending.pop() {
        for region in region::find(code, among, Kind::Memory) {
            match read(code, region) {
                Ok(found) => runs.extend(found),
                Err(parts) => pending.extend(parts),
            }
        }
    }
    runs
}

/// A region as a run, if it accesses memory, or the parts to look at instead.
fn read(code: &Code<'_>, region: Region) -> Result<Option<MemoryRun>, [Range<usize>; 2]> {
    let forms = &code.forms[region.start..region.end];
    if !forms.iter().any(|form| form.is_memory()) {
        return Ok(None);
    }
    let Some(mut plan) = Plan::new(code, &region) else {
        return Ok(None);
    };
    match Linear::of(&plan) {
        Ok(linear) => {
            let unread = if liveness::is_end(code.decoded, code.behind(&region)) {
                plan.keep_stored()
            } else {
                Vec::new()
            };
            Ok(Some(MemoryRun {
                region,
                plan,
                unread,
                linear,
            }))
        }
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
                finder.want_address(&step.sources).ok_or(number)?;
            } else if step.form == Form::LoadScalar {
                finder.want(step.results[0], true).ok_or(number)?;
            }
        }
        Ok(finder.found)
    }

    /// The difference from a lane to the next.
    pub fn difference(&self, line: Line) -> u32 {
        line.multiple.wrapping_mul(self.unit)
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
    /// The register that varies.
    varying: Option<Id>,
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
            varying: None,
            found: Linear {
                lines: BTreeMap::new(),
                unit: 0,
                steps: vec![false; plan.steps.len()],
            },
        }
    }

    /// Makes an address linear: the low half, and the high half if it has one.
    fn want_address(&mut self, halves: &[Id]) -> Option<()> {
        let (&low, high) = halves.split_first()?;
        self.want(low, false)?;
        for &id in high {
            self.want(id, true)?;
        }
        let multiple = self.multiple(low);
        if self.found.unit == 0 {
            if multiple == 0 || !STEP.is_multiple_of(multiple) {
                return None;
            }
            self.found.unit = STEP / multiple;
        }
        (multiple.wrapping_mul(self.found.unit) == STEP).then_some(())
    }

    fn multiple(&self, id: Id) -> u32 {
        self.found.lines.get(&id).map_or(0, |line| line.multiple)
    }

    fn is_uniform(&self, id: Id) -> bool {
        self.multiple(id) == 0
    }

    fn note(&mut self, id: Id, multiple: u32) {
        let number = self.found.lines.len() as u32;
        self.found
            .lines
            .entry(id)
            .or_insert(Line { number, multiple });
    }

    /// Makes a value linear, and uniform if that is wanted.
    fn want(&mut self, id: Id, uniform: bool) -> Option<()> {
        if !self.found.lines.contains_key(&id) {
            match self.plan.values[id].origin {
                Origin::Constant(_) | Origin::Scalar(_) => self.note(id, 0),
                Origin::File(_) => {
                    let varies = !uniform && *self.varying.get_or_insert(id) == id;
                    self.note(id, u32::from(varies));
                }
                Origin::Mask(_) => return None,
                Origin::Computed => {
                    let number = self.by[id]?;
                    self.want_step(number, uniform)?;
                    self.found.steps[number] = true;
                }
            }
        }
        (!uniform || self.is_uniform(id)).then_some(())
    }

    fn constant(&self, id: Id) -> Option<u32> {
        self.plan.constant(id)
    }

    /// Makes the results of a step linear. `entry` computes what is admitted here.
    fn want_step(&mut self, number: usize, uniform: bool) -> Option<()> {
        let plan = self.plan;
        let step = &plan.steps[number];
        let s = &step.sources;
        let result = *step.results.first()?;
        let multiple = match step.form {
            Form::Move | Form::Add | Form::Add3 => self.want_sum(s, uniform)?,
            Form::Subtract | Form::SubtractReversed => {
                self.want_sum(s, uniform)?;
                let (a, b) = (self.multiple(s[0]), self.multiple(s[1]));
                if step.form == Form::Subtract {
                    a.wrapping_sub(b)
                } else {
                    b.wrapping_sub(a)
                }
            }
            Form::ShiftLeft => {
                let by = self.constant(s[0])? & 31;
                self.want(s[1], uniform)?;
                self.multiple(s[1]) << by
            }
            Form::ShiftLeftAdd | Form::ShiftLeftOr => {
                let by = self.constant(s[1])? & 31;
                self.want_sum(&[s[0], s[2]], uniform)?;
                if step.form == Form::ShiftLeftOr {
                    self.one_uniform(s[0], s[2])?;
                }
                (self.multiple(s[0]) << by).wrapping_add(self.multiple(s[2]))
            }
            Form::AddShiftLeft => {
                let by = self.constant(s[2])? & 31;
                self.want_sum(&s[..2], uniform)? << by
            }
            Form::Multiply => {
                let (factor, value) = match (self.constant(s[0]), self.constant(s[1])) {
                    (Some(factor), _) => (factor, s[1]),
                    (None, factor) => (factor.unwrap_or(0), s[0]),
                };
                let sum = self.want_sum(s, uniform)?;
                // A factor from a register is not known when the code is made.
                if sum != 0 && factor == 0 {
                    return None;
                }
                self.multiple(value).wrapping_mul(factor)
            }
            Form::Or => {
                let sum = self.want_sum(s, uniform)?;
                self.one_uniform(s[0], s[1])?;
                sum
            }
            Form::And => {
                // Low bits: values that have no others pass unchanged.
                let sum = self.want_sum(s, uniform)?;
                let mask = self.constant(s[0]).or(self.constant(s[1]));
                let passes = mask.is_some_and(|mask| mask.wrapping_add(1).is_power_of_two());
                if sum != 0 && !passes {
                    return None;
                }
                sum
            }
            Form::ShiftRightSigned => {
                // The sign, which all lanes share.
                if self.constant(s[0])? & 31 != 31 {
                    return None;
                }
                self.want(s[1], false)?;
                0
            }
            Form::ShiftLeft64 => {
                let by = self.constant(s[0])? & 63;
                if !(1..32).contains(&by) {
                    return None;
                }
                self.want(s[1], uniform)?;
                self.want(s[2], true)?;
                self.note(step.results[1], 0);
                self.multiple(s[1]) << by
            }
            Form::ShiftRightSigned64 => {
                // An element's number in the high half, above a half that is the same everywhere.
                let by = self.constant(s[0])? & 63;
                if !(1..32).contains(&by) {
                    return None;
                }
                self.want(s[1], true)?;
                self.want(s[2], uniform)?;
                self.note(step.results[1], 0);
                self.multiple(s[2]) << (32 - by)
            }
            Form::AddCarryOut => {
                self.note(step.mask_result?, 0);
                self.want_sum(s, uniform)?
            }
            Form::AddCarry => {
                self.want_sum(s, true)?;
                self.want(step.mask?, true)?;
                self.note(step.mask_result?, 0);
                0
            }
            Form::LoadScalar => self.want_sum(s, true)?,
            _ => return None,
        };
        self.note(result, multiple);
        Some(())
    }

    /// Makes these linear; gives the multiple of their sum.
    fn want_sum(&mut self, ids: &[Id], uniform: bool) -> Option<u32> {
        let mut sum = 0u32;
        for &id in ids {
            self.want(id, uniform)?;
            sum = sum.wrapping_add(self.multiple(id));
        }
        Some(sum)
    }

    fn one_uniform(&self, a: Id, b: Id) -> Option<()> {
        (self.is_uniform(a) || self.is_uniform(b)).then_some(())
    }
}
