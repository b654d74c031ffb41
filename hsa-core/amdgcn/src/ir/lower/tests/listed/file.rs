//! Reading the instruction files.

use super::super::slot;

/// Where scratch lies behind the vector registers: its dwords have lanes, as those have.
pub(super) const SCRATCH: usize = 128;

/// A value of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    /// These bits.
    Bits(u128),
    /// These bits or a neighbour's.
    Near(u128),
    /// Any quiet NaN.
    Nan,
    /// Zero of either sign.
    Zero,
    /// Anything.
    Open,
    /// What was there before.
    Before,
}

/// A name with its values.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) name: String,
    /// The results of lanes that are not active too.
    pub(super) everywhere: bool,
    pub(super) values: Vec<Value>,
    /// Bits of lanes; none where it is left open.
    pub(super) mask: Option<Vec<Option<bool>>>,
}

/// The instructions of a case in all their spellings, and what they do.
#[derive(Clone, Debug, Default)]
pub(super) struct Case {
    pub(super) place: String,
    pub(super) spellings: Vec<(Vec<String>, Vec<String>)>,
    pub(super) waves: bool,
    pub(super) before: Vec<Line>,
    pub(super) after: Vec<Line>,
}

fn value(text: &str) -> Value {
    match text {
        "nan" => Value::Nan,
        "zero" => Value::Zero,
        "?" => Value::Open,
        "-" => Value::Before,
        _ => {
            let digits = text.strip_prefix('~').unwrap_or(text);
            let bits =
                u128::from_str_radix(digits, 16).unwrap_or_else(|_| panic!("a value: {text}"));
            if digits.len() < text.len() {
                Value::Near(bits)
            } else {
                Value::Bits(bits)
            }
        }
    }
}

fn line(name: &str, values: &str) -> Line {
    let mask = values.strip_prefix('%').map(|bits| {
        bits.chars()
            .map(|bit| (bit != '?').then_some(bit == '1'))
            .collect()
    });
    Line {
        name: name.trim_end_matches('!').to_owned(),
        everywhere: name.ends_with('!'),
        values: match mask {
            Some(_) => Vec::new(),
            None => values.split_whitespace().map(value).collect(),
        },
        mask,
    }
}

/// The targets behind an instruction, if it names some.
fn with_targets(text: &str, all: &[String]) -> (String, Vec<String>) {
    match text.split_once("  [") {
        Some((instruction, targets)) => (
            instruction.trim().to_owned(),
            targets
                .trim_end()
                .trim_end_matches(']')
                .split_whitespace()
                .map(str::to_owned)
                .collect(),
        ),
        None => (text.trim().to_owned(), all.to_vec()),
    }
}

pub(super) fn parse(file: &str, text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let (mut targets, mut waves, mut before) = (Vec::new(), false, Vec::<Line>::new());
    let mut open = false;
    for (number, text) in (1..).zip(text.lines()) {
        let text = text.split('#').next().unwrap_or_default();
        if text.trim().is_empty() {
            continue;
        }
        if let Some(result) = text.strip_prefix("  ") {
            let (name, values) = result.trim().split_once(' ').expect("a name and values");
            let case = cases.last_mut().expect("an instruction before its results");
            case.after.push(line(name, values.trim()));
            open = false;
        } else if let Some(list) = text.strip_prefix("targets ") {
            let words: Vec<_> = list.split_whitespace().map(str::to_owned).collect();
            waves = words.iter().any(|word| word == "waves");
            targets = words.into_iter().filter(|word| word != "waves").collect();
            before.clear();
            open = false;
        } else if let Some((name, values)) = text.split_once(" = ") {
            before.retain(|line| line.name != name.trim());
            before.push(line(name.trim(), values.trim()));
            open = false;
        } else if let Some(next) = text.strip_prefix("+ ") {
            let case = cases.last_mut().expect("an instruction before it");
            let (code, _) = case.spellings.last_mut().expect("an instruction before it");
            code.push(next.trim().to_owned());
        } else {
            if !open {
                cases.push(Case {
                    place: format!("{file}:{number}"),
                    waves,
                    before: before.clone(),
                    ..Case::default()
                });
            }
            open = true;
            let (instruction, only) = with_targets(text, &targets);
            let case = cases.last_mut().expect("just made");
            case.spellings.push((vec![instruction], only));
        }
    }
    cases
}

/// Where a name leads.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// This many vector registers (VGPRs, then AGPRs), or dwords of every lane's scratch.
    Vector(usize, usize),
    /// This many scalar slots; zero: a lane mask.
    Scalar(usize, usize),
    Mode,
    Memory,
    Lds,
}

pub(super) fn place(name: &str, vgprs: usize) -> Place {
    let range = |text: &str| -> (usize, usize) {
        match text.strip_prefix('[') {
            Some(range) => {
                let (first, last) = range
                    .trim_end_matches(']')
                    .split_once(':')
                    .expect("a range");
                let first: usize = first.parse().expect("a number");
                (first, last.parse::<usize>().expect("a number") + 1 - first)
            }
            None => (text.parse().unwrap_or_else(|_| panic!("a name: {text}")), 1),
        }
    };
    match name {
        "vcc" => Place::Scalar(slot::VCC, 0),
        "exec" => Place::Scalar(slot::EXEC, 0),
        "vcc_lo" => Place::Scalar(slot::VCC, 1),
        "vcc_hi" => Place::Scalar(slot::VCC + 1, 1),
        "exec_lo" => Place::Scalar(slot::EXEC, 1),
        "exec_hi" => Place::Scalar(slot::EXEC + 1, 1),
        "m0" => Place::Scalar(124, 1),
        "scc" => Place::Scalar(slot::SCC, 1),
        "mode" => Place::Mode,
        "memory" => Place::Memory,
        "lds" => Place::Lds,
        _ if name.starts_with("scratch") => {
            let (first, count) = range(&name["scratch".len()..]);
            Place::Vector(SCRATCH + first, count)
        }
        _ => match name.split_at(1) {
            ("v", rest) => {
                let (first, count) = range(rest);
                Place::Vector(first, count)
            }
            ("a", rest) => {
                let (first, count) = range(rest);
                Place::Vector(vgprs + first, count)
            }
            ("s", rest) => {
                let (first, count) = range(rest);
                Place::Scalar(first, count)
            }
            _ => panic!("a name: {name}"),
        },
    }
}

impl Case {
    /// Names its own EXEC.
    fn has_exec(&self) -> bool {
        self.before.iter().any(|line| line.name == "exec")
    }

    /// Waves to run, and the EXEC of each where the case leaves it open.
    pub(super) fn runs(&self) -> Vec<(usize, Option<u64>)> {
        if self.waves {
            let columns = |lines: &[Line]| {
                let scalars = lines
                    .iter()
                    .filter(|line| !matches!(place(&line.name, 64), Place::Memory | Place::Lds));
                scalars.map(|line| line.values.len()).max().unwrap_or(1)
            };
            let count = columns(&self.before).max(columns(&self.after));
            (0..count).map(|wave| (wave, None)).collect()
        } else if self.has_exec() {
            vec![(0, None)]
        } else {
            let masks = [u64::MAX, 0xf00f_3c5a_8001_a5fe, 0];
            masks.map(|mask| (0, Some(mask))).to_vec()
        }
    }
}
