//! `gneiss disasm` against LLVM's disassembler, over whole programs and libraries as compilers and distributions ship them.
//!
//! Of every code object in a file each instruction of each kernel and function is compared, address and text; between them is nothing but
//! padding. The text is LLVM 19's, for targets that it does not know LLVM 22's. `GNEISS_DISASM_FILES` names more files, separated by colons.

use std::{collections::BTreeMap, fs, path::Path, process::Command};

use gneiss_tests::{
    Compile, QUICK_TARGET, clang_22, compile, device_code::code_objects, gneiss_succeeds,
    source_path, verify,
};

/// The bench's programs for targets that hipcc does not know; those that other tests and the bench run, so that they are compiled once.
const NEWER: [(&str, &[&str]); 2] = [
    (
        "tests/bench/hip.hip",
        &[
            "gfx950",
            "gfx9-4-generic",
            "gfx9-generic",
            "gfx10-3-generic",
            "gfx11-generic",
            "gfx1151",
            "gfx1200",
            "gfx12-generic",
        ],
    ),
    (
        "tests/bench/matrix.hip",
        &["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"],
    ),
];

/// Instructions of a disassembly by address. Each line of one ends with a comment that begins with the address.
fn instructions(disassembly: &str) -> BTreeMap<u64, &str> {
    disassembly
        .lines()
        .filter_map(|line| {
            let (text, comment) = line.split_once("// ")?;
            let address = u64::from_str_radix(comment.split(':').next()?, 16).ok()?;
            Some((address, text.trim()))
        })
        .collect()
}

/// What LLVM says of a code object; `None` where the disassembler is not installed.
fn llvm(file: &Path, target: &str) -> Option<String> {
    let tool = match target {
        "gfx950" | "gfx9-4-generic" => "llvm-objdump-22",
        _ => "llvm-objdump-19",
    };
    let output = Command::new(tool)
        .args(["-d", "-z", &format!("--mcpu={target}")])
        .arg(file)
        .output();
    let Ok(output) = output else {
        eprintln!("LEFT OUT: {tool} is not installed");
        return None;
    };
    assert!(output.status.success(), "{tool} fails on {target}");
    Some(String::from_utf8(output.stdout).expect("LLVM writes UTF-8"))
}

/// Whether an instruction is what stands between functions.
fn is_padding(text: &str) -> bool {
    // Words of 0 and instructions that do nothing.
    ["s_nop", "s_code_end", "v_illegal"]
        .iter()
        .any(|op| text.starts_with(op))
        || text == "v_cndmask_b32_e32 v0, s0, v0, vcc"
}

/// Compares every code object of a file for targets that have instruction tables; gives the number of instructions.
fn compare(file: &Path) -> usize {
    let data = fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let folder = tempfile::tempdir().expect("a folder");
    let mut all = 0;
    for object in code_objects(&data) {
        // Cards before the GFX9 family.
        if object.target.starts_with("gfx8") || object.target.starts_with("gfx7") {
            continue;
        }
        let path = folder.path().join("code");
        fs::write(&path, object.data).expect("a writable folder");
        let Some(theirs) = llvm(&path, &object.target) else {
            return all;
        };
        let ours = gneiss_succeeds(&["disasm".as_ref(), path.as_os_str()]);
        let (mut ours, theirs) = (instructions(&ours), instructions(&theirs));
        let count = ours.len();
        let mut differences = Vec::new();
        for (address, text) in theirs {
            match ours.remove(&address) {
                Some(own) if own == text => {}
                None if is_padding(text) => {}
                own => differences.push(format!("{address:#x}: {text}\n  ours: {own:?}")),
            }
        }
        differences.extend(ours.iter().map(|own| format!("LLVM has none: {own:x?}")));
        let name = format!("{}, {}", file.display(), object.target);
        println!("{name}: {count} instructions");
        assert!(
            differences.is_empty(),
            "{name}: {} of {count} instructions differ:\n{}",
            differences.len(),
            differences[..differences.len().min(20)].join("\n")
        );
        all += count;
    }
    all
}

#[test]
fn the_bench_reads_like_llvm() {
    let source = source_path("tests/bench/hip.hip");
    let targets: &[&str] = if verify() {
        &["gfx906", QUICK_TARGET, "gfx1030"]
    } else {
        &[QUICK_TARGET]
    };
    for target in targets {
        let program = compile(&Compile::hip(&source, target, "-O3"));
        assert!(compare(&program) > 1000, "{target}");
    }
    if !verify() {
        eprintln!("LEFT OUT: the bench for other targets (GNEISS_VERIFY=1 reads it)");
        return;
    }
    if clang_22() {
        for (source, targets) in NEWER {
            let program = compile(&Compile::clang_22(&source_path(source), targets, "-O3"));
            assert!(compare(&program) > 1000, "{source}");
        }
    }
}

#[test]
fn librocrand_reads_like_llvm() {
    let library = Path::new("/usr/lib/x86_64-linux-gnu/librocrand.so.1");
    if library.exists() {
        assert!(compare(library) > 100_000);
    } else {
        eprintln!("LEFT OUT: the code of librocrand (apt install librocrand1)");
    }
}

#[test]
fn named_files_read_like_llvm() {
    let Some(files) = std::env::var_os("GNEISS_DISASM_FILES") else {
        eprintln!("LEFT OUT: files of others (GNEISS_DISASM_FILES names some)");
        return;
    };
    for file in std::env::split_paths(&files) {
        assert!(compare(&file) > 0, "{}: no code", file.display());
    }
}
