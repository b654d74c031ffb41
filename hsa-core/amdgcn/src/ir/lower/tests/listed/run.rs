//! Running the cases, and comparing what they leave behind.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    interp::{
        run::{Exit, run},
        testing::MODE,
        wave::{Wave, slot},
    },
    ir::program::{LowerConfig, Program},
    memory::{GuestMap, MapCache, Mapping, Rights},
    target::Target,
};

use super::file::{Case, Place, SCRATCH, Value, place};

/// Where the memory of a case lies.
pub(super) const MEMORY: u64 = 0x1_0000_0000;
/// Dwords of memory, of LDS.
pub(super) const DWORDS: usize = 1024;
/// Dwords of scratch of each lane.
const SCRATCH_DWORDS: usize = 16;
/// VGPRs and AGPRs that are looked at.
pub(super) const VGPRS: usize = 48;
/// SGPRs that are looked at.
pub(super) const SGPRS: usize = 64;

/// Everything that is looked at.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct State {
    /// VGPRs, AGPRs, scratch: dwords of all lanes.
    vectors: Vec<Vec<u32>>,
    scalars: Vec<u32>,
    mode: u32,
    memory: Vec<u32>,
    lds: Vec<u32>,
}

pub(super) struct Setting {
    pub(super) target: Target,
    pub(super) config: LowerConfig,
}

impl Setting {
    pub(super) fn new(name: &str) -> Self {
        let target: Target = name.parse().expect("a known target");
        let agprs = if target.features().agprs { 64 } else { 0 };
        Self {
            target,
            config: LowerConfig {
                target,
                wave64: target.major == 9,
                vgprs: 64,
                agprs,
                exceptions: false,
            },
        }
    }

    fn vectors(&self) -> Vec<usize> {
        let agprs = if self.config.agprs > 0 { VGPRS } else { 0 };
        let scratch = SCRATCH..SCRATCH + SCRATCH_DWORDS;
        (0..VGPRS).chain(64..64 + agprs).chain(scratch).collect()
    }

    /// Rows of a state's vectors that are registers.
    fn registers(&self) -> usize {
        (self.config.vgprs + self.config.agprs) as usize
    }

    /// The lanes with this bit.
    fn mask(&self, bits: &[Option<bool>], bit: Option<bool>) -> u64 {
        (0..self.config.lanes())
            .filter(|lane| bits[lane % bits.len()] == bit)
            .fold(0, |mask, lane| mask | 1 << lane)
    }

    /// The state before, for one wave of the case and an EXEC if the case has none.
    pub(super) fn before(&self, case: &Case, wave: usize, exec: Option<u64>) -> State {
        let lanes = self.config.lanes();
        let mut state = State {
            vectors: (0..(SCRATCH + SCRATCH_DWORDS) as u32)
                .map(|register| {
                    (0..lanes as u32)
                        .map(|lane| 0x5a00_0000 | register << 12 | lane)
                        .collect()
                })
                .collect(),
            scalars: (0..slot::SCC as u32 + 1).map(|n| 0x3300_0000 | n).collect(),
            mode: MODE,
            memory: (0..DWORDS as u32).map(|n| 0x1100_0000 | n).collect(),
            lds: (0..DWORDS as u32).map(|n| 0x2200_0000 | n).collect(),
        };
        state.scalars[slot::SCC] = 0;
        state.scalars[slot::VCC + 1] = 0;
        set_pair(
            &mut state.scalars,
            slot::EXEC,
            exec.unwrap_or(u64::MAX),
            lanes,
        );
        for line in &case.before {
            let bits = |column: usize| match line.values[column % line.values.len()] {
                Value::Bits(bits) => bits,
                other => panic!("{}: {} = {other:?}", case.place, line.name),
            };
            match place(&line.name, 64) {
                Place::Vector(first, count) => {
                    for lane in 0..lanes {
                        for n in 0..count {
                            let column = if case.waves { wave } else { lane };
                            state.vectors[first + n][lane] = (bits(column) >> (32 * n)) as u32;
                        }
                    }
                }
                Place::Scalar(first, count) => {
                    if let Some(mask) = &line.mask {
                        set_pair(
                            &mut state.scalars,
                            first,
                            self.mask(mask, Some(true)),
                            lanes,
                        );
                    } else if count == 0 {
                        set_pair(&mut state.scalars, first, bits(wave) as u64, lanes);
                    } else {
                        for n in 0..count {
                            state.scalars[first + n] = (bits(wave) >> (32 * n)) as u32;
                        }
                    }
                }
                Place::Mode => state.mode = bits(wave) as u32,
                Place::Memory => {
                    (0..line.values.len()).for_each(|n| state.memory[n] = bits(n) as u32)
                }
                Place::Lds => (0..line.values.len()).for_each(|n| state.lds[n] = bits(n) as u32),
            }
        }
        if exec.is_some() {
            set_pair(
                &mut state.scalars,
                slot::EXEC,
                exec.unwrap_or_default(),
                lanes,
            );
        }
        state
    }

    /// Runs the program from a state; gives the state behind it.
    pub(super) fn run(&self, program: &Arc<Program>, before: &State) -> Result<State, String> {
        let mut state = before.clone();
        let map = GuestMap::default();
        // SAFETY: the vector outlives the map and is touched by the wave alone meanwhile.
        unsafe {
            map.insert(Mapping {
                base: MEMORY,
                len: DWORDS as u64 * 4,
                host: state.memory.as_mut_ptr().cast(),
                rights: Rights::READ | Rights::WRITE | Rights::EXECUTE,
                allocation: 1,
            })
        }
        .expect("free");
        let mut cache = MapCache::default();
        let slice = cache.begin(&map);
        let mut wave = Box::new(Wave::new());
        wave.reset(program, state.mode);
        wave.context = (&raw mut *slice.cache).cast();
        wave.lds = state.lds.as_mut_ptr().cast();
        wave.lds_size = DWORDS as u32 * 4;
        for (number, lanes) in state.vectors[..self.registers()].iter().enumerate() {
            wave.vgpr_lanes(number).copy_from_slice(lanes);
        }
        let mut scratch = state.vectors[SCRATCH..].concat();
        wave.scratch = scratch.as_mut_ptr().cast();
        wave.scratch_size = SCRATCH_DWORDS as u32 * 4;
        wave.sgpr[..=slot::SCC].copy_from_slice(&state.scalars);
        // SAFETY: reset for a program that is alive, inside a slice.
        let exit = unsafe { run(&mut wave, 1000) };
        if exit != Exit::EndProgram {
            return Err(format!("{exit:?} {:?}", program.why(wave.next)));
        }
        let (registers, rest) = state.vectors.split_at_mut(SCRATCH);
        for (number, lanes) in registers[..self.registers()].iter_mut().enumerate() {
            lanes.copy_from_slice(wave.vgpr_lanes(number));
        }
        for (dword, lanes) in rest.iter_mut().zip(scratch.chunks(self.config.lanes())) {
            dword.copy_from_slice(lanes);
        }
        state.scalars.copy_from_slice(&wave.sgpr[..=slot::SCC]);
        state.mode = wave.mode;
        drop(slice);
        Ok(state)
    }

    /// What is wrong with the state after a case.
    pub(super) fn compare(
        &self,
        case: &Case,
        wave: usize,
        before: &State,
        after: &State,
    ) -> Vec<String> {
        let lanes = self.config.lanes();
        let exec = pair(&before.scalars, slot::EXEC, lanes);
        let mut wrong = Vec::new();
        let mut named_vectors = BTreeSet::new();
        let mut named_scalars = BTreeSet::new();
        let (mut mode, mut memory, mut lds) =
            (before.mode, before.memory.clone(), before.lds.clone());
        for line in &case.after {
            let name = &line.name;
            match place(name, 64) {
                Place::Vector(first, count) => {
                    named_vectors.extend(first..first + count);
                    for lane in 0..lanes {
                        let old = read(&before.vectors, first, count, lane);
                        let new = read(&after.vectors, first, count, lane);
                        let column = if case.waves { wave } else { lane };
                        let mut want = line.values[column % line.values.len()];
                        if exec >> lane & 1 == 0 && !case.waves && !line.everywhere {
                            want = Value::Before;
                        }
                        if !agrees(want, old, new, count) {
                            wrong.push(format!(
                                "{name} lane {lane}: {new:0w$x}, not {want:x?}",
                                w = 8 * count
                            ));
                        }
                    }
                }
                Place::Scalar(first, count) => {
                    let wide = if count == 0 { lanes / 32 } else { count };
                    if let Some(mask) = &line.mask {
                        let wide = lanes / 32;
                        named_scalars.extend(first..first + wide);
                        let want = self.mask(mask, Some(true)) & exec;
                        let open = self.mask(mask, None) & exec;
                        let new = pair(&after.scalars, first, lanes) & !open;
                        if new != want {
                            wrong.push(format!("{name}: {new:016x}, not {want:016x}"));
                        }
                    } else {
                        named_scalars.extend(first..first + wide);
                        let whole = |state: &State| {
                            (0..wide).fold(0, |all, n| {
                                all | u128::from(state.scalars[first + n]) << (32 * n)
                            })
                        };
                        let want = line.values[wave % line.values.len()];
                        let (old, new) = (whole(before), whole(after));
                        if !agrees(want, old, new, wide) {
                            wrong.push(format!("{name}: {new:0w$x}, not {want:x?}", w = 8 * wide));
                        }
                    }
                }
                Place::Mode => mode = number(line.values[wave % line.values.len()]),
                Place::Memory => set_dwords(&mut memory, &line.values, &after.memory),
                Place::Lds => set_dwords(&mut lds, &line.values, &after.lds),
            }
        }
        for register in self
            .vectors()
            .into_iter()
            .filter(|n| !named_vectors.contains(n))
        {
            if before.vectors[register] != after.vectors[register] {
                wrong.push(format!(
                    "vector register {register} changed to {:08x?}",
                    after.vectors[register]
                ));
            }
        }
        let scalars = (0..SGPRS).chain([
            slot::VCC,
            slot::VCC + 1,
            124,
            slot::EXEC,
            slot::EXEC + 1,
            slot::SCC,
        ]);
        for scalar in scalars.filter(|n| !named_scalars.contains(n)) {
            if before.scalars[scalar] != after.scalars[scalar] {
                wrong.push(format!(
                    "scalar {scalar} changed to {:08x}",
                    after.scalars[scalar]
                ));
            }
        }
        if mode != after.mode {
            wrong.push(format!("mode: {:x}, not {mode:x}", after.mode));
        }
        for (name, want, got) in [("memory", memory, &after.memory), ("lds", lds, &after.lds)] {
            for (n, (want, got)) in want.iter().zip(got).enumerate() {
                if want != got {
                    wrong.push(format!("{name} dword {n}: {got:08x}, not {want:08x}"));
                }
            }
        }
        wrong
    }
}

fn number(value: Value) -> u32 {
    match value {
        Value::Bits(bits) => bits as u32,
        other => panic!("a number: {other:?}"),
    }
}

/// Puts listed dwords over what was there before; those left open are as they came out.
fn set_dwords(to: &mut [u32], values: &[Value], after: &[u32]) {
    for ((to, value), after) in to.iter_mut().zip(values).zip(after) {
        match value {
            Value::Before => {}
            Value::Open => *to = *after,
            other => *to = number(*other),
        }
    }
}

fn pair(scalars: &[u32], index: usize, lanes: usize) -> u64 {
    let high = if lanes == 64 {
        u64::from(scalars[index + 1]) << 32
    } else {
        0
    };
    u64::from(scalars[index]) | high
}

fn set_pair(scalars: &mut [u32], index: usize, value: u64, lanes: usize) {
    scalars[index] = value as u32;
    if lanes == 64 {
        scalars[index + 1] = (value >> 32) as u32;
    } else if index == slot::EXEC {
        scalars[index + 1] = 0;
    }
}

fn read(vectors: &[Vec<u32>], first: usize, count: usize, lane: usize) -> u128 {
    (0..count).fold(0, |all, n| {
        all | u128::from(vectors[first + n][lane]) << (32 * n)
    })
}

fn agrees(want: Value, old: u128, new: u128, dwords: usize) -> bool {
    match want {
        Value::Bits(bits) => bits == new,
        Value::Before => old == new,
        Value::Open => true,
        Value::Zero => new & !(1 << 31 | 1 << 15 | 1 << 63) == 0,
        Value::Near(bits) => bits.abs_diff(new) <= 1,
        Value::Nan if dwords == 2 => new as u64 >> 51 & 0xfff == 0xfff,
        // Of 32 bits, or of 16 with nothing or what was there above.
        Value::Nan => {
            new as u32 >> 22 & 0x1ff == 0x1ff
                || (new as u32 >> 9 & 0x3f == 0x3f && (new >> 16 == 0 || new >> 16 == old >> 16))
        }
    }
}
