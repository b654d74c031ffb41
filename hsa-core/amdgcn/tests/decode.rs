//! Random encodings of every format against `llvm-objdump`: what LLVM reads as an instruction reads the same here.
//!
//! LLVM also prints what its own assembler refuses (registers of a wrong kind, too few of them, fields of newer targets); such texts are no
//! instructions and are left out. What LLVM rejects may decode here, because the hardware ignores fields that LLVM wants to be zero, as real
//! code has them; those are counted. `GNEISS_DECODE_CASES` is the number of encodings of each format; the long run has 100,000.

use std::{collections::BTreeMap, fmt::Write, fs, path::Path, process::Command};

use gneiss_amdgcn::isa::{decode::Decoder, text::disassemble};

/// Dwords of a place: the longest instruction, and what re-synchronises the disassembler after a wrong one.
const PLACE: usize = 10;
/// Random dwords in a place.
const RANDOM: usize = 5;
/// `s_nop 0`.
const NOP: u32 = 0xbf80_0000;

/// A format: its name and the fixed bits of the first dword.
type Format = (&'static str, &'static str);

const SCALAR_AND_VECTOR: [Format; 10] = [
    ("sop2", "10"),
    ("sopk", "1011"),
    ("sop1", "101111101"),
    ("sopc", "101111110"),
    ("sopp", "101111111"),
    ("vop2", "0"),
    ("vop1", "0111111"),
    ("vopc", "0111110"),
    ("vop3", "110101"),
    ("vop3p", "110011"),
];

const MEMORY: [Format; 3] = [("smem", "111101"), ("ds", "110110"), ("exp", "111110")];

const MEMORY_10_11: [Format; 4] = [
    ("flat", "110111"),
    ("mubuf", "111000"),
    ("mtbuf", "111010"),
    ("mimg", "111100"),
];

const MEMORY_12: [Format; 4] = [
    ("vbuffer", "110001"),
    ("vimage", "110100"),
    ("vsample", "111001"),
    ("vflat", "111011"),
];

/// xorshift64*, so that every run has the same encodings.
struct Random(u64);

impl Random {
    fn dword(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }

    /// Operand fields are often small, and fields that nothing uses are often 0.
    fn field(&mut self) -> u32 {
        match self.dword() % 4 {
            0 => self.dword(),
            1 => self.dword() & self.dword(),
            2 => self.dword() & self.dword() & self.dword(),
            _ => self.dword() & 0x3f3f_3f3f,
        }
    }
}

fn place(random: &mut Random, fixed: &str) -> [u32; PLACE] {
    let mut words = [NOP; PLACE];
    for word in words.iter_mut().take(RANDOM) {
        *word = random.field();
    }
    let high = 32 - fixed.len() as u32;
    let bits = u32::from_str_radix(fixed, 2).expect("binary digits");
    // The opcode lies in the middle of the first dword: any.
    words[0] = random.dword() & ((1 << high) - 1) | bits << high;
    words
}

/// What LLVM's disassembler says of operands that it does not believe, and names of operands that only later targets have.
const LLVM_FLAGS: [&str; 3] = ["/*Invalid", "/* Invalid", "src_flat_scratch_base"];

/// LLVM 22's text in the words of LLVM 19, whose text ours is: low halves of registers without their name, hardware registers of GFX12 without
/// `WAVE`, and without the fields of GFX12.5.
fn normalised(text: &str) -> String {
    // With `op_sel` the halves are said twice.
    let high = if text.contains(" op_sel:") {
        ".h"
    } else {
        ".l"
    };
    text.replace("HW_REG_WAVE_", "HW_REG_")
        .replace("TH_STORE_WB", "TH_STORE_RT_WB")
        .replace(" nv", "")
        .replace(" scale_offset", "")
        .replace(".l", "")
        .replace(high, "")
}

/// A text without one of the lists of halves.
fn without(text: &str, list: &str) -> String {
    match text.split_once(list) {
        Some((before, rest)) => {
            let after = rest.split_once(']').map_or("", |(_, after)| after);
            format!("{before}{after}")
        }
        None => text.to_owned(),
    }
}

/// Operations of which LLVM 22 says what LLVM 19 did not: names of messages and versions, the half of a shift.
const LATER: [&str; 7] = [
    "ds_add_gs_reg_rtn",
    "ds_sub_gs_reg_rtn",
    "s_sendmsg",
    "s_version",
    "v_alignbit_b32",
    "v_alignbyte_b32",
    "v_dot2acc_f32_f16_dpp",
];

fn command(tool: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(tool).args(args).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What the assembler takes, by number of the line.
fn assembles(directory: &Path, target: &str, wave_size: u32, lines: &[String]) -> Vec<bool> {
    let source = directory.join(format!("{target}-{wave_size}-texts.s"));
    fs::write(&source, lines.join("\n") + "\n").expect("a writable folder");
    let output = Command::new("llvm-mc-22")
        .args(["-triple=amdgcn-amd-amdhsa", "-filetype=null"])
        .arg(format!("-mcpu={target}"))
        .arg(attributes(wave_size))
        .arg(&source)
        .output()
        .expect("the assembler is there");
    let errors = String::from_utf8_lossy(&output.stderr);
    let mut taken = vec![true; lines.len()];
    for line in errors.lines().filter(|line| line.contains(": error: ")) {
        let number = line.split(':').nth(1).and_then(|n| n.parse::<usize>().ok());
        if let Some(taken) = number.and_then(|n| taken.get_mut(n.wrapping_sub(1))) {
            *taken = false;
        }
    }
    taken
}

fn attributes(wave_size: u32) -> String {
    match wave_size {
        32 => "-mattr=+wavefrontsize32,-wavefrontsize64".to_owned(),
        _ => "-mattr=-wavefrontsize32,+wavefrontsize64".to_owned(),
    }
}

fn compare(target: &str, wave_size: u32, formats: &[Format]) {
    let version = command("llvm-objdump-22", &["--version"]);
    if version.is_none() || command("llvm-mc-22", &["--version"]).is_none() {
        eprintln!("SKIPPED: LLVM 22 is not installed");
        return;
    }
    let cases: usize = std::env::var("GNEISS_DECODE_CASES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(
            if std::env::var_os("GNEISS_VERIFY").is_some_and(|value| value == "1") {
                100_000
            } else {
                1500
            },
        );
    let decoder = Decoder::new(target.parse().expect("a known target"), wave_size).expect("tables");
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("decode");
    fs::create_dir_all(&directory).expect("a writable folder");
    let mut differences: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (format, fixed) in formats {
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ u64::from(fixed.len() as u32) << 32 | 1);
        let places: Vec<_> = (0..cases).map(|_| place(&mut random, fixed)).collect();
        let mut source = String::new();
        for words in &places {
            let words = words.map(|word| format!("{word:#x}"));
            let _ = writeln!(source, ".long {}", words.join(","));
        }
        let stem = directory.join(format!("{target}-{wave_size}-{format}"));
        let (input, object) = (stem.with_extension("s"), stem.with_extension("o"));
        fs::write(&input, source).expect("a writable folder");
        let path = |path: &Path| path.to_str().expect("UTF-8").to_owned();
        let mcpu = format!("-mcpu={target}");
        command(
            "llvm-mc-22",
            &[
                "-triple=amdgcn-amd-amdhsa",
                &mcpu,
                "-filetype=obj",
                &path(&input),
                "-o",
                &path(&object),
            ],
        );
        let text = command(
            "llvm-objdump-22",
            &[
                "-d",
                "-z",
                &format!("--mcpu={target}"),
                &attributes(wave_size).replace("-mattr", "--mattr"),
                &path(&object),
            ],
        )
        .expect("it was there");
        let mut expected = vec![None; cases];
        for line in text.lines() {
            let Some((text, comment)) = line.split_once("// ") else {
                continue;
            };
            let address = comment.split(':').next().unwrap_or_default();
            let Ok(address) = usize::from_str_radix(address, 16) else {
                continue;
            };
            if address % (4 * PLACE) == 0 {
                expected[address / (4 * PLACE)] = Some(text.trim().to_owned());
            }
        }
        let mut different = Vec::new();
        let (mut equal, mut invalid, mut lenient, mut flagged) = (0, 0, 0, 0);
        for (words, expected) in places.iter().zip(expected) {
            // Where LLVM reads what is before the place as part of a longer instruction, it prints no line of its own.
            let Some(expected) = expected else {
                flagged += 1;
                continue;
            };
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let ours = decoder.decode(&bytes);
            if expected.starts_with(".long") {
                match ours {
                    Err(_) => invalid += 1,
                    Ok(_) => lenient += 1,
                }
                continue;
            }
            // Of GFX12's images some read as vector operations of GFX9 there.
            let foreign = format.starts_with("vimage") && expected.starts_with("v_");
            let later = LATER.iter().any(|start| expected.starts_with(start))
                || expected.contains("HW_REG_WAVE_SCHED_MODE");
            if foreign || later || LLVM_FLAGS.iter().any(|flag| expected.contains(flag)) {
                flagged += 1;
                continue;
            }
            let ours = match ours {
                Ok(inst) => disassemble(&decoder, &inst).trim_end().to_owned(),
                Err(error) => error.to_string(),
            };
            if ours == expected || ours == normalised(&expected) {
                equal += 1;
            } else if without(&ours, " op_sel:[") == normalised(&expected)
                || expected.starts_with("v_dot") && without(&ours, " op_sel_hi:[") == expected
            {
                // With bits of `op_sel` set that the operation has no operand for, LLVM leaves out the others, and LLVM 22 the halves of dot
                // products of bytes.
                flagged += 1;
            } else {
                let words = words[..RANDOM].iter().map(|word| format!("{word:08x}"));
                let words = words.collect::<Vec<_>>().join(" ");
                different.push((words, expected, ours));
            }
        }
        assert!(equal > 0, "{target} {format}: LLVM reads nothing as we do");
        let texts: Vec<String> = different.iter().map(|(_, text, _)| text.clone()).collect();
        let taken = assembles(&directory, target, wave_size, &texts);
        flagged += taken.iter().filter(|taken| !**taken).count();
        for ((words, expected, ours), _) in
            different.iter().zip(&taken).filter(|(_, taken)| **taken)
        {
            let op = expected.split(' ').next().unwrap_or_default();
            differences
                .entry(format!("{format} {op}"))
                .or_default()
                .push(format!("{words}: {expected}\n    ours: {ours}"));
        }
        println!(
            "{target} wave{wave_size} {format}: {equal} equal, {invalid} invalid, {lenient} that LLVM rejects, {flagged} that it doubts"
        );
    }
    let count: usize = differences.values().map(Vec::len).sum();
    let mut report = String::new();
    for (class, lines) in &differences {
        let _ = writeln!(report, "{class}: {}", lines.len());
        for line in lines.iter().take(3) {
            let _ = writeln!(report, "  {line}");
        }
    }
    assert!(
        count == 0,
        "{target} wave{wave_size}: {count} differ\n{report}"
    );
}

fn formats(groups: &[&[Format]]) -> Vec<Format> {
    groups.concat()
}

#[test]
fn gfx1030_encodings_read_like_llvm() {
    let formats = formats(&[
        &SCALAR_AND_VECTOR,
        &MEMORY,
        &MEMORY_10_11,
        &[("vintrp", "110010")],
    ]);
    compare("gfx1030", 32, &formats);
}

#[test]
fn gfx1100_encodings_read_like_llvm() {
    let formats = formats(&[
        &SCALAR_AND_VECTOR,
        &MEMORY,
        &MEMORY_10_11,
        &[("vopd", "110010")],
    ]);
    compare("gfx1100", 32, &formats);
}

#[test]
fn gfx1151_encodings_read_like_llvm() {
    let formats = formats(&[
        &SCALAR_AND_VECTOR,
        &MEMORY,
        &MEMORY_10_11,
        &[("vopd", "110010")],
    ]);
    compare("gfx1151", 32, &formats);
}

#[test]
fn gfx1200_encodings_read_like_llvm() {
    let formats = formats(&[
        &SCALAR_AND_VECTOR,
        &MEMORY,
        &MEMORY_12,
        &[("vopd", "110010")],
    ]);
    compare("gfx1200", 32, &formats);
}
