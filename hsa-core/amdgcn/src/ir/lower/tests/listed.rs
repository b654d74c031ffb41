//! The instruction files of `tests/instructions/`: assembly with the registers and memory before and after it, run on every execution
//! back end.
//!
//! A file is read line by line; text behind `#` is a comment.
//!
//! * `targets gfx906 gfx90a …` begins a block: nothing set so far holds any more. `waves` behind it makes columns waves instead of lanes.
//! * `NAME = VALUES` sets what the instructions of the block begin with: `v1`, `v[2:3]`, `a0`, `s4`, `s[4:5]`, `vcc`, `exec`, `m0`, `scc`, `mode`
//!   (hexadecimal), `memory` and `lds` (dwords), `scratch0`, `scratch[0:3]` (dwords of each lane's). The columns of a vector register or of
//!   scratch are the values of lanes 0, 1, …, over and over. A scalar has one value, or bits of lanes (`%0110`, lane 0 first), or, where
//!   columns are waves, one value for each wave.
//! * An instruction, and `+ INSTRUCTION` for one that follows it. `[gfx906 gfx90a]` behind it: these targets only. Several one below the
//!   other are runs of their own that all have the results that follow.
//! * `  NAME VALUES`, indented: the results. `nan` is any quiet NaN, `zero` either zero; `~` before a value allows its neighbours; `-` is what
//!   was there before; `?` is left open, where the ISA's documents say nothing that all agree on.
//!
//! What is not named must not change, and lanes that are not active must keep what they had, but for registers with a `!` behind the name;
//! results that are bits of lanes are zero there. Without an `exec` each block of lanes runs with all lanes, some and none.

mod file;
mod run;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    process::{Command, Output},
    sync::atomic::{AtomicUsize, Ordering},
};

use object::{Object, ObjectSection, ObjectSymbol};

use crate::{
    interp::testing::{back_ends, program},
    ir::coverage::{Status, of_target},
    isa::{
        decode::Decoder,
        inst::Inst,
        op::Op as M,
        table::{self, Encoding},
    },
    target::Target,
};

use file::{Case, parse};
use run::Setting;

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/instructions"))
}

fn cases() -> Vec<Case> {
    let mut files: Vec<_> = std::fs::read_dir(folder())
        .expect("the folder of instruction files")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    files.sort();
    files
        .iter()
        .flat_map(|path| {
            let name = path
                .file_name()
                .expect("a file")
                .to_string_lossy()
                .into_owned();
            parse(
                &name,
                &std::fs::read_to_string(path).expect("a readable file"),
            )
        })
        .collect()
}

fn wave_size(target: Target) -> u32 {
    if target.major == 9 { 64 } else { 32 }
}

/// Runs the assembler of a target over a text: what it says, and the object file if it made one. None without the
/// assembler.
fn run_assembler(name: &str, source: &str) -> Option<(Output, Vec<u8>)> {
    // Tests of one target may assemble at the same time.
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let call = CALLS.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("gneiss-listed-{}-{call}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (input, output) = (folder.join("a.s"), folder.join("a.o"));
    std::fs::write(&input, source).expect("a writable folder");
    let result = Command::new(assembler(name))
        .args(["-triple=amdgcn-amd-amdhsa", "-filetype=obj"])
        .arg(format!("-mcpu={name}"))
        .arg(&input)
        .arg("-o")
        .arg(&output)
        .output();
    let object = std::fs::read(&output).unwrap_or_default();
    std::fs::remove_dir_all(&folder).expect("our folder");
    Some((result.ok()?, object))
}

/// Which pieces of code the assembler of a target takes. None without the assembler.
fn taken(name: &str, pieces: &[&[String]]) -> Option<Vec<bool>> {
    let lines = pieces.iter().copied().flatten();
    let source: String = lines.map(|line| format!("{line}\n")).collect();
    let (result, _) = run_assembler(name, &source)?;
    let errors = String::from_utf8_lossy(&result.stderr);
    let refused: BTreeSet<usize> = errors
        .lines()
        .filter(|line| line.contains(": error: "))
        .filter_map(|line| line.split(':').nth(1)?.parse().ok())
        .collect();
    let mut line = 1;
    Some(
        pieces
            .iter()
            .map(|piece| {
                let first = line;
                line += piece.len();
                refused.range(first..line).next().is_none()
            })
            .collect(),
    )
}

/// Assembles pieces of code for one target: the bytes of each. None without the assembler.
fn assemble(name: &str, pieces: &[&[String]]) -> Option<Vec<Vec<u8>>> {
    let mut source = String::new();
    for (number, piece) in pieces.iter().enumerate() {
        source += &format!("piece{number}:\n");
        for instruction in *piece {
            source += &format!("{instruction}\n");
        }
    }
    source += &format!("piece{}:\ns_nop 0\n", pieces.len());
    let (result, data) = run_assembler(name, &source)?;
    assert!(
        result.status.success(),
        "{name}: {}",
        String::from_utf8_lossy(&result.stderr)
    );
    let object = object::File::parse(&*data).expect("an ELF file");
    let code = object
        .section_by_name(".text")
        .expect("code")
        .data()
        .expect("bytes");
    let mut starts = vec![0; pieces.len() + 1];
    for symbol in object.symbols() {
        let number = symbol
            .name()
            .ok()
            .and_then(|name| name.strip_prefix("piece")?.parse().ok());
        if let Some(number) = number {
            let number: usize = number;
            starts[number] = symbol.address() as usize;
        }
    }
    Some(
        starts
            .windows(2)
            .map(|ends| code[ends[0]..ends[1]].to_vec())
            .collect(),
    )
}

fn decode(decoder: &Decoder, mut bytes: &[u8]) -> Vec<Inst> {
    let mut listing = Vec::new();
    while !bytes.is_empty() {
        let inst = decoder
            .decode(bytes)
            .unwrap_or_else(|error| panic!("{bytes:x?}: {error:?}"));
        bytes = &bytes[inst.len as usize..];
        listing.push(inst);
    }
    listing
}

const TARGETS: [&str; 13] = [
    "gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1010", "gfx1011", "gfx1013",
    "gfx1030", "gfx1100", "gfx1151", "gfx1200",
];

/// The targets whose cases hold for another one as well, as far as its assembler takes them: all of the first, and of the others those of
/// operations that none before has.
fn relatives(name: &str) -> &'static [&'static str] {
    match name {
        "gfx900" => &["gfx906"],
        "gfx1010" | "gfx1011" | "gfx1013" => &["gfx1030", "gfx906"],
        "gfx1151" => &["gfx1100", "gfx1200"],
        _ => &[],
    }
}

/// The assembler that the files are for; the older one does not know gfx950.
fn assembler(name: &str) -> &'static str {
    match name {
        "gfx950" => "llvm-mc-22",
        _ => "llvm-mc-19",
    }
}

/// A case by its number, the text of one spelling of it, and the instructions of that.
type Listing = (usize, String, Vec<Inst>);

/// The spellings of all cases that are listed for a target, with the numbers of the cases.
fn spellings<'a>(cases: &'a [Case], listed_for: &str) -> Vec<(usize, &'a [String])> {
    cases
        .iter()
        .enumerate()
        .flat_map(|(number, case)| {
            let spellings = case
                .spellings
                .iter()
                .filter(|(_, targets)| targets.iter().any(|target| target == listed_for));
            spellings.map(move |(code, _)| (number, code.as_slice()))
        })
        .collect()
}

/// What a target makes of spellings. None without the assembler.
fn listings(name: &str, chosen: &[(usize, &[String])]) -> Option<Vec<Listing>> {
    let pieces: Vec<_> = chosen.iter().map(|(_, code)| *code).collect();
    let target: Target = name.parse().expect("a known target");
    let decoder = Decoder::new(target, wave_size(target)).expect("tables");
    let bytes = assemble(name, &pieces)?;
    let listings = chosen
        .iter()
        .zip(bytes)
        .map(|((number, code), bytes)| (*number, code.join("; "), decode(&decoder, &bytes)));
    Some(listings.collect())
}

fn operations(listings: &[Listing]) -> BTreeSet<M> {
    let instructions = listings.iter().flat_map(|(_, _, listing)| listing);
    instructions.map(|inst| inst.op).collect()
}

/// Every case of a target with its code. None without the assembler.
fn of(name: &str, cases: &[Case]) -> Option<Vec<Listing>> {
    let mut all = listings(name, &spellings(cases, name))?;
    for (number, relative) in relatives(name).iter().enumerate() {
        let seen = operations(&all);
        let mut chosen = spellings(cases, relative);
        // Words of one target may be nothing to another one, whatever its assembler says.
        chosen.retain(|(_, code)| !code.iter().any(|line| line.starts_with(".long ")));
        let pieces: Vec<_> = chosen.iter().map(|(_, code)| *code).collect();
        let mut taken = taken(name, &pieces)?.into_iter();
        chosen.retain(|_| taken.next().unwrap_or(false));
        let mut more = listings(name, &chosen)?;
        if number > 0 {
            more.retain(|(_, _, listing)| listing.iter().any(|inst| !seen.contains(&inst.op)));
        }
        all.extend(more);
    }
    Some(all)
}

fn results_are_as_listed(name: &str) {
    let cases = cases();
    let Some(listings) = of(name, &cases) else {
        eprintln!(
            "LEFT OUT: {} instruction cases: {} is not installed",
            cases.len(),
            assembler(name)
        );
        return;
    };
    let setting = Setting::new(name);
    let runs = of_target(setting.target).expect("tables");
    let mut wrong = Vec::new();
    let mut count = 0;
    for (number, text, listing) in listings {
        let case = &cases[number];
        for (level, native) in back_ends() {
            let program = program(listing.clone(), setting.config, level);
            if native {
                program.make_native();
            }
            for (wave, exec) in case.runs() {
                count += 1;
                let before = setting.before(case, wave, exec);
                let faults = match setting.run(&program, &before) {
                    Ok(after) => setting.compare(case, wave, &before, &after),
                    // To be looked at as soon as it runs.
                    Err(_)
                        if !listing
                            .iter()
                            .all(|inst| runs.get(&inst.op).is_some_and(Status::runs)) =>
                    {
                        continue;
                    }
                    Err(exit) => vec![exit],
                };
                if let Some(first) = faults.first() {
                    let code = if native { "native" } else { "interpreted" };
                    wrong.push(format!(
                        "{}: {text} ({name}, {level:?} {code}, wave {wave}, exec {exec:x?}): {} wrong: {}",
                        case.place,
                        faults.len(),
                        if std::env::var_os("LISTED_ALL").is_some() { faults.join(" | ") } else { first.clone() }
                    ));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {count} runs:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(count > 1000, "only {count} runs for {}", setting.target);
}

macro_rules! targets {
    ($($test:ident $name:literal),+ $(,)?) => {
        $(#[test]
        fn $test() {
            results_are_as_listed($name);
        })+
    };
}

targets! {
    gfx900_has_the_listed_results "gfx900",
    gfx906_has_the_listed_results "gfx906",
    gfx908_has_the_listed_results "gfx908",
    gfx90a_has_the_listed_results "gfx90a",
    gfx942_has_the_listed_results "gfx942",
    gfx950_has_the_listed_results "gfx950",
    gfx1010_has_the_listed_results "gfx1010",
    gfx1011_has_the_listed_results "gfx1011",
    gfx1013_has_the_listed_results "gfx1013",
    gfx1030_has_the_listed_results "gfx1030",
    gfx1100_has_the_listed_results "gfx1100",
    gfx1151_has_the_listed_results "gfx1151",
    gfx1200_has_the_listed_results "gfx1200",
}

/// Where an operation of a target is looked at that is in no file.
fn elsewhere(op: M, target: Target) -> Option<&'static str> {
    let name = op.name();
    let older = || of_target("gfx942".parse().ok()?);
    if target.is_gfx950() && older().is_some_and(|older| !older.contains_key(&op)) {
        return Some("what gfx950 adds: tests/gfx950");
    }
    let begins = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
    Some(match name {
        "s_endpgm" | "s_barrier" => "the wave ends or waits: tests of the engine",
        "s_sleep" | "s_sleep_var" | "s_trap" | "s_sethalt" => "tests/stops.rs",
        "s_sendmsg" | "s_sendmsghalt" | "s_sendmsg_rtn_b32" | "s_sendmsg_rtn_b64" => {
            "tests/stops.rs"
        }
        "s_cbranch_g_fork" | "s_cbranch_i_fork" | "s_cbranch_join" => "tests/rare_ops.rs",
        "s_subvector_loop_begin" | "s_subvector_loop_end" => "tests/rare_ops.rs",
        "ds_gws_barrier" => "barriers of the grid: tests of the HIP library",
        _ if begins(&["ds_gws_"]) => "tests/wave_sync.rs",
        _ if begins(&["v_mfma_", "v_smfmac_", "v_wmma_", "v_swmmac_", "v_accvgpr_"]) => {
            "tests/matrix_ops"
        }
        "s_code_end" | "v_illegal" => "never meant to run",
        "v_mov_b16" | "v_swap_b16" | "ds_bpermute_fi_b32" | "s_get_waveid_in_workgroup" => {
            "tests/rare_ops.rs"
        }
        "global_load_block"
        | "global_store_block"
        | "scratch_load_block"
        | "scratch_store_block"
        | "global_load_tr_b64"
        | "global_load_tr_b128" => "tests/gfx12_ops.rs",
        "s_alloc_vgpr" => "newer than the assembler that the files are for",
        "s_waitcnt" => "gfx12 has it for nothing but old code",
        _ if begins(&["s_barrier_", "s_get_barrier", "s_wakeup_barrier"]) => {
            "barriers: tests of the engine"
        }
        _ => return None,
    })
}

#[test]
fn every_operation_that_runs_is_in_a_file() {
    let cases = cases();
    let mut absent = Vec::new();
    for name in TARGETS {
        let Some(listings) = of(name, &cases) else {
            eprintln!("LEFT OUT: {name}: {} is not installed", assembler(name));
            continue;
        };
        let seen = operations(&listings);
        let target: Target = name.parse().expect("a known target");
        let runs: BTreeMap<_, _> = of_target(target).expect("tables");
        let level = table::Level::of(target).expect("tables");
        let missing: BTreeSet<_> = table::rows_of(level)
            .filter(|(encoding, _, _)| match encoding {
                // tests/image_ops
                Encoding::Mimg | Encoding::Vimage | Encoding::Vsample => false,
                // Graphics: nothing of it runs.
                Encoding::Vintrp | Encoding::Exp => false,
                // tests/gfx950
                Encoding::Vop3px2 => false,
                _ => true,
            })
            .map(|(_, row, _)| row.op)
            .filter(|op| runs[op].runs() && !seen.contains(op) && elsewhere(*op, target).is_none())
            .map(M::name)
            .collect();
        if !missing.is_empty() {
            absent.push(format!("{name}: {missing:?}"));
        }
    }
    assert!(absent.is_empty(), "in no file:\n{}", absent.join("\n"));
}
