//! Random encodings of every format against `llvm-objdump` 22: what LLVM reads as an instruction reads the same here.
//!
//! What LLVM rejects may decode here, because the hardware ignores fields that LLVM wants to be zero, as real code has them; those are counted.
//! Where we differ on purpose is listed in [`differences`]. `GNEISS_DECODE_CASES` is the number of encodings of each format; the long run
//! (`GNEISS_VERIFY=1`) has 100,000.

mod differences;
mod formats;

use std::{collections::BTreeMap, fmt::Write};

use differences::{Case, Verdict, of_gfx9, of_gfx10_and_later, of_gfx950};
use formats::{COMMON, DUAL, Format, GFX9, INTERPOLATION, MEMORY, MEMORY_OF_GFX12};

use super::llvm::Llvm22;
use crate::isa::{decode::Decoder, text::disassemble};

/// How a target is compared.
struct Comparison {
    target: &'static str,
    wave_size: u32,
    formats: &'static [&'static [Format]],
    judge: fn(&Case<'_>) -> Verdict,
    /// LLVM also prints what its own assembler refuses (registers of a wrong kind, too few of them, fields of newer targets): such texts are no
    /// instructions. Where this is false they are listed one by one.
    must_assemble: bool,
    /// More than so many of a hundred encodings of each format are read alike.
    percent: usize,
}

/// Of the encodings of a format.
#[derive(Default)]
struct Counts {
    equal: usize,
    /// Neither of the two reads them.
    invalid: usize,
    /// LLVM rejects them.
    lenient: usize,
    left_out: usize,
}

fn cases() -> usize {
    let long = std::env::var_os("GNEISS_VERIFY").is_some_and(|value| value == "1");
    std::env::var("GNEISS_DECODE_CASES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(if long { 100_000 } else { 3000 })
}

/// What differs in a format, by operation.
type Differences = BTreeMap<String, Vec<String>>;

impl Comparison {
    fn check(&self) {
        let Some(llvm) = Llvm22::new(self.target, self.wave_size) else {
            return;
        };
        let target = self.target.parse().expect("a known target");
        let decoder = Decoder::new(target, self.wave_size).expect("tables");
        let mut differences = Differences::new();
        for format in self.formats.iter().copied().flatten() {
            self.compare(&llvm, &decoder, format, &mut differences);
        }
        let count: usize = differences.values().map(Vec::len).sum();
        let mut report = String::new();
        for (class, lines) in &differences {
            let _ = writeln!(report, "{class}: {}", lines.len());
            for line in lines.iter().take(3) {
                let _ = writeln!(report, "  {line}");
            }
        }
        assert!(count == 0, "{}: {count} differ\n{report}", self.target);
    }

    fn compare(
        &self,
        llvm: &Llvm22,
        decoder: &Decoder,
        format: &Format,
        differences: &mut Differences,
    ) {
        let places = format.places(cases());
        let mut counts = Counts::default();
        let mut different = Vec::new();
        let texts = llvm.disassemble(&places, format.size());
        for (words, text) in places.chunks(format.size()).zip(texts) {
            // A longer instruction reaches into the place, or LLVM fails on it.
            let Some(text) = text else {
                counts.left_out += 1;
                continue;
            };
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let ours = decoder.decode(&bytes);
            if text.starts_with(".long") {
                match ours {
                    Err(_) => counts.invalid += 1,
                    Ok(_) => counts.lenient += 1,
                }
                continue;
            }
            let ours = match ours {
                Ok(inst) => disassemble(decoder, &inst).trim_end().to_owned(),
                Err(error) => error.to_string(),
            };
            match (self.judge)(&Case {
                format: format.name,
                words,
                llvm: &text,
                ours: &ours,
            }) {
                Verdict::Equal => counts.equal += 1,
                Verdict::LeftOut => counts.left_out += 1,
                Verdict::Different => different.push((words, text, ours)),
            }
        }
        if self.must_assemble {
            let texts: Vec<&str> = different.iter().map(|(_, text, _)| text.as_str()).collect();
            let mut taken = llvm.assembles(&texts).into_iter();
            let before = different.len();
            different.retain(|_| taken.next().unwrap_or(true));
            counts.left_out += before - different.len();
        }
        for (words, text, ours) in different {
            let words = words.iter().map(|word| format!("{word:08x}"));
            let words = words.collect::<Vec<_>>().join(" ");
            let op = text.split(' ').next().unwrap_or_default();
            differences
                .entry(format!("{} {op}", format.name))
                .or_default()
                .push(format!("{words}: {text}\n    ours: {ours}"));
        }
        println!(
            "{} {}: {} equal, {} invalid, {} that LLVM alone rejects, {} left out",
            self.target, format.name, counts.equal, counts.invalid, counts.lenient, counts.left_out
        );
        assert!(
            counts.equal > cases() * self.percent / 100,
            "{} {}: LLVM reads {} as we do",
            self.target,
            format.name,
            counts.equal
        );
    }
}

fn compare_64(target: &'static str) {
    Comparison {
        target,
        wave_size: 64,
        formats: &[GFX9],
        judge: of_gfx9,
        must_assemble: true,
        percent: 1,
    }
    .check();
}

#[test]
fn gfx906_encodings_read_like_llvm() {
    compare_64("gfx906");
}

#[test]
fn gfx908_encodings_read_like_llvm() {
    compare_64("gfx908");
}

#[test]
fn gfx90a_encodings_read_like_llvm() {
    compare_64("gfx90a");
}

#[test]
fn gfx942_encodings_read_like_llvm() {
    compare_64("gfx942");
}

#[test]
fn gfx950_encodings_read_like_llvm() {
    Comparison {
        target: "gfx950",
        wave_size: 64,
        formats: &[GFX9],
        judge: of_gfx950,
        must_assemble: false,
        percent: 1,
    }
    .check();
}

fn compare_32(target: &'static str, formats: &'static [&'static [Format]]) {
    Comparison {
        target,
        wave_size: 32,
        formats,
        judge: of_gfx10_and_later,
        must_assemble: true,
        percent: 0,
    }
    .check();
}

#[test]
fn gfx1010_encodings_read_like_llvm() {
    compare_32("gfx1010", &[COMMON, MEMORY, INTERPOLATION]);
}

#[test]
fn gfx1011_encodings_read_like_llvm() {
    compare_32("gfx1011", &[COMMON, MEMORY, INTERPOLATION]);
}

#[test]
fn gfx1013_encodings_read_like_llvm() {
    compare_32("gfx1013", &[COMMON, MEMORY, INTERPOLATION]);
}

#[test]
fn gfx1030_encodings_read_like_llvm() {
    compare_32("gfx1030", &[COMMON, MEMORY, INTERPOLATION]);
}

#[test]
fn gfx1100_encodings_read_like_llvm() {
    compare_32("gfx1100", &[COMMON, MEMORY, DUAL]);
}

#[test]
fn gfx1151_encodings_read_like_llvm() {
    compare_32("gfx1151", &[COMMON, MEMORY, DUAL]);
}

#[test]
fn gfx1200_encodings_read_like_llvm() {
    compare_32("gfx1200", &[COMMON, MEMORY_OF_GFX12, DUAL]);
}
