//! Random straight-line kernels: instructions of the engine's own instruction files, in random order on random registers.
//!
//! A kernel loads `REGISTERS` vector registers of each work-item, does what was drawn to them, and stores them. What an instruction gives
//! is not known here; all runs must give the same.

use std::{collections::BTreeMap, fmt::Write, fs, path::Path, process::Command};

use fastrand::Rng;
use gneiss_tests::{Compile, Prefix, Run, compile, source_path, verify, workspace_root};

/// Vector registers that are loaded and stored, from v2 on.
const REGISTERS: u32 = 24;

/// Scalar registers that take part, from s20 on.
const SCALARS: u32 = 24;

/// Instructions of a kernel.
const LENGTH: usize = 120;

/// Files whose instructions touch nothing but registers.
const FILES: [&str; 23] = [
    "compare_f16",
    "compare_f32",
    "compare_f64",
    "compare_i16",
    "compare_i32",
    "compare_i64",
    "dpp",
    "float_16",
    "float_32",
    "float_64",
    "float_8",
    "integer_16",
    "integer_32",
    "integer_64",
    "lanes",
    "modifiers",
    "packed_16",
    "packed_32",
    "scalar_32",
    "scalar_64",
    "scalar_compare",
    "scalar_float",
    "sdwa",
];

/// What would end the straight line, change which lanes run, or needs M0.
const LEFT_OUT: [&str; 18] = [
    "exec",
    "v_cmpx",
    "m0",
    "saveexec",
    "wrexec",
    "s_setreg",
    "s_getreg",
    "branch",
    "s_getpc",
    "s_setpc",
    "s_swappc",
    "s_call",
    "s_mov_fed",
    "movrel",
    "s_barrier",
    "s_bitreplicate",
    "v_interp",
    "v_readfirstlane",
];

/// The instructions of the files for a target, as they stand there.
fn instructions(target: &str) -> Vec<String> {
    let mut found = Vec::new();
    // GFX11.5 has all of GFX11.
    let meant = |name: &str| name == target || (target, name) == ("gfx1151", "gfx1100");
    for file in FILES {
        let path = source_path(&format!("hsa-core/amdgcn/tests/instructions/{file}.txt"));
        let text = fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
        let mut in_block = false;
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default();
            if let Some(targets) = line.strip_prefix("targets ") {
                in_block = targets.split_whitespace().any(meant);
            } else if in_block && line.starts_with(['v', 's', '+']) && !line.contains(" = ") {
                let (instruction, only) = line
                    .trim_start_matches("+ ")
                    .split_once("  [")
                    .unwrap_or((line, ""));
                let wanted =
                    only.is_empty() || only.trim_end_matches(']').split_whitespace().any(meant);
                if wanted && !LEFT_OUT.iter().any(|part| instruction.contains(part)) {
                    found.push(instruction.trim_start_matches("+ ").trim().to_owned());
                }
            }
        }
    }
    assert!(found.len() > 300, "{target}: {} instructions", found.len());
    found
}

/// An instruction on other registers: each register by one of the same kind and width, the same one wherever it stands.
fn on_random_registers(instruction: &str, random: &mut Rng) -> String {
    let mut renamed = BTreeMap::new();
    let mut to = String::new();
    let mut rest = instruction;
    // The mnemonic stays.
    let operands = rest.find(' ').unwrap_or(rest.len());
    to += &rest[..operands];
    rest = &rest[operands..];
    while let Some(first) = rest.chars().next() {
        let (token, number) = register(rest);
        if token.is_empty() {
            // A word is passed over as a whole: "quad_perm" has no register in it.
            let word = rest
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(rest.len());
            let length = if word == 0 { first.len_utf8() } else { word };
            to += &rest[..length];
            rest = &rest[length..];
            continue;
        }
        let new = renamed.entry(token).or_insert_with(|| {
            let (start, count) = if first == 'v' {
                (2, REGISTERS)
            } else {
                (20, SCALARS)
            };
            let step = if number > 1 {
                number.next_power_of_two().min(4)
            } else {
                1
            };
            let at = start + random.u32(..(count - number) / step + 1) * step;
            if token.contains('[') {
                format!("{first}[{at}:{}]", at + number - 1)
            } else {
                format!("{first}{at}")
            }
        });
        to += new;
        rest = &rest[token.len()..];
    }
    to
}

/// The vector or scalar register that a text begins with, and its dwords.
fn register(text: &str) -> (&str, u32) {
    const NONE: (&str, u32) = ("", 0);
    let Some(rest) = text.strip_prefix(['v', 's']) else {
        return NONE;
    };
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    if let Some(range) = rest.strip_prefix('[') {
        let parsed = range.split_once(']').and_then(|(range, _)| {
            let (first, last) = range.split_once(':')?;
            Some((
                range.len(),
                last.parse::<u32>().ok()? - first.parse::<u32>().ok()? + 1,
            ))
        });
        return parsed.map_or(NONE, |(length, dwords)| (&text[..length + 3], dwords));
    }
    match digits(rest) {
        0 => NONE,
        // Halves of registers (v1.l) are no other registers.
        count => (&text[..=count], 1),
    }
}

/// The code of a kernel that does some instructions.
fn kernel(target: &str, number: usize, listing: &[String], random: &mut Rng) -> String {
    let wave64 = target.starts_with("gfx9");
    let (group, wait_scalar, wait_vector) = if target.starts_with("gfx12") {
        ("ttmp9", "s_wait_kmcnt 0", "s_wait_loadcnt 0")
    } else {
        ("s2", "s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(0)")
    };
    let mut code = format!("k{number}:\n");
    let mut line = |text: &str| writeln!(code, "  {text}").expect("a string takes all");
    line("s_load_dwordx2 s[4:5], s[0:1], 0x0");
    line(&format!("s_lshl_b32 s6, {group}, 8"));
    line("v_and_b32 v0, 0x3ff, v0");
    line("v_or_b32 v0, s6, v0");
    line(&format!("v_mul_u32_u24 v0, {}, v0", 4 * REGISTERS));
    line(wait_scalar);
    for register in 0..REGISTERS {
        line(&format!(
            "global_load_dword v{}, v0, s[4:5] offset:{}",
            register + 2,
            4 * register
        ));
    }
    line(wait_vector);
    for scalar in 0..SCALARS {
        line(&format!(
            "s_mov_b32 s{}, {:#x}",
            scalar + 20,
            random.u32(..)
        ));
    }
    // Roundings, denormals; IEEE and clamping as compilers have them.
    line(&format!(
        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), {}",
        random.u32(..256)
    ));
    if random.u32(..3) == 0 {
        let mask = random.u64(..);
        if wave64 {
            line(&format!(
                "s_mov_b32 exec_lo, {:#x}\n  s_mov_b32 exec_hi, {:#x}",
                mask as u32,
                mask >> 32
            ));
        } else {
            line(&format!("s_mov_b32 exec_lo, {:#x}", mask as u32));
        }
    }
    for instruction in listing {
        line(instruction);
    }
    line(if wave64 {
        "s_mov_b64 exec, -1"
    } else {
        "s_mov_b32 exec_lo, -1"
    });
    // The scalar registers are seen through the vector registers that they are put into.
    for scalar in 0..SCALARS / 2 {
        line(&format!(
            "v_xor_b32 v{}, s{}, v{}",
            scalar + 2,
            scalar + 20,
            scalar + 2
        ));
    }
    for register in 0..REGISTERS {
        line(&format!(
            "global_store_dword v0, v{}, s[4:5] offset:{}",
            register + 2,
            4 * register
        ));
    }
    line("s_endpgm");
    code
}

/// What the assembler and the loader need besides the code.
fn descriptors(target: &str, kernels: usize) -> String {
    let wave64 = target.starts_with("gfx9");
    let mut text = String::from(".rodata\n");
    for number in 0..kernels {
        write!(text, ".p2align 6\n.amdhsa_kernel k{number}\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_next_free_vgpr 64\n.amdhsa_next_free_sgpr 60\n")
            .expect("a string takes all");
        match target {
            "gfx90a" | "gfx942" => text += ".amdhsa_accum_offset 64\n",
            _ if !wave64 => text += ".amdhsa_wavefront_size32 1\n",
            _ => {}
        }
        text += ".end_amdhsa_kernel\n";
    }
    write!(text, ".amdgpu_metadata\n---\namdhsa.version: [1, 1]\namdhsa.target: amdgcn-amd-amdhsa--{target}\namdhsa.kernels:\n").expect("a string takes all");
    for number in 0..kernels {
        write!(
            text,
            "  - .name: k{number}\n    .symbol: k{number}.kd\n    .kernarg_segment_size: 8\n    .kernarg_segment_align: 8\n    \
             .group_segment_fixed_size: 0\n    .private_segment_fixed_size: 0\n    .wavefront_size: {}\n    .sgpr_count: 60\n    \
             .vgpr_count: 64\n    .max_flat_workgroup_size: 256\n    .args:\n      - {{ .size: 8, .offset: 0, .value_kind: \
             global_buffer, .address_space: global }}\n",
            if wave64 { 64 } else { 32 }
        )
        .expect("a string takes all");
    }
    text + "...\n.end_amdgpu_metadata\n"
}

/// Assembles and links; the numbers of the lines that the assembler refuses, if any.
fn build(target: &str, source: &str, folder: &Path, object: &Path) -> Result<(), Vec<usize>> {
    let (input, relocatable) = (folder.join("kernels.s"), folder.join("kernels.o"));
    fs::write(&input, source).expect("a temporary file can be written");
    let assembled = Command::new("llvm-mc-19")
        .args([
            "-triple=amdgcn-amd-amdhsa",
            "-filetype=obj",
            &format!("-mcpu={target}"),
        ])
        .args([&input, Path::new("-o"), &relocatable])
        .output()
        .expect("llvm-mc-19 runs: apt install llvm-19");
    if !assembled.status.success() {
        let errors = String::from_utf8_lossy(&assembled.stderr);
        let refused: Vec<usize> = errors
            .lines()
            .filter(|line| line.contains(": error: "))
            .filter_map(|line| line.split(':').nth(1)?.parse().ok())
            .collect();
        assert!(!refused.is_empty(), "{errors}");
        return Err(refused);
    }
    let linked = Command::new("ld.lld-19")
        .args([Path::new("-shared"), &relocatable, Path::new("-o"), object])
        .output()
        .expect("ld.lld-19 runs: apt install lld-19");
    assert!(
        linked.status.success(),
        "{}",
        String::from_utf8_lossy(&linked.stderr)
    );
    Ok(())
}

/// A code object of random kernels.
fn code_object(target: &str, kernels: usize, seed: u64, folder: &Path, object: &Path) {
    let mut random = Rng::with_seed(seed);
    let all = instructions(target);
    let mut source = format!(".amdgcn_target \"amdgcn-amd-amdhsa--{target}\"\n.text\n");
    for number in 0..kernels {
        let listing: Vec<String> = (0..LENGTH)
            .map(|_| on_random_registers(&all[random.usize(..all.len())], &mut random))
            .collect();
        write!(
            source,
            ".globl k{number}\n.p2align 8\n.type k{number},@function\n{}",
            kernel(target, number, &listing, &mut random)
        )
        .expect("a string takes all");
    }
    source += &descriptors(target, kernels);
    // Some instructions may not have the same register twice, or not that one: what is refused is left out.
    let mut lines: Vec<&str> = source.lines().collect();
    let whole = lines.len();
    for _ in 0..4 {
        match build(target, &(lines.join("\n") + "\n"), folder, object) {
            Ok(()) => {
                let left_out = whole - lines.iter().filter(|line| !line.is_empty()).count();
                assert!(
                    left_out * 10 < kernels * LENGTH,
                    "{target}: {left_out} instructions are refused"
                );
                return;
            }
            Err(refused) => refused.into_iter().for_each(|line| lines[line - 1] = ""),
        }
    }
    panic!("{target}: the assembler refuses more with each turn");
}

#[test]
fn random_kernels_give_the_same_bits_on_every_back_end_and_thread_count() {
    let program = compile(&Compile::c_over_hip(
        &source_path("tests/programs/random_kernels.c"),
        &Prefix::find(),
    ));
    let (kernels, seeds) = if verify() { (40, 5) } else { (12, 1) };
    for target in [
        "gfx906", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1151", "gfx1200",
    ] {
        for seed in 0..seeds {
            let folder = tempfile::tempdir_in(workspace_root().join("target"))
                .expect("a temporary folder can be made");
            let object = folder.path().join("kernels.hsaco");
            code_object(target, kernels, seed, folder.path(), &object);
            let digests = |simd: &str, native: &str, threads: &str| {
                let outcome = Run::new(&program)
                    .args([object.as_os_str()])
                    .args([kernels.to_string(), REGISTERS.to_string()])
                    .gpus(target)
                    .env("GNEISS_SIMD", simd)
                    .env("GNEISS_JIT", native)
                    .env("GNEISS_THREADS", threads)
                    .run();
                outcome.expect_success();
                outcome.stdout
            };
            let expected = digests("portable", "0", "1");
            assert_eq!(expected.lines().count(), kernels, "{expected}");
            for (simd, native, threads) in [
                ("portable", "1", "4"),
                ("avx2", "0", "2"),
                ("avx2", "1", "1"),
                ("avx2", "1", "4"),
            ] {
                let given = digests(simd, native, threads);
                let differing: Vec<_> = given
                    .lines()
                    .zip(expected.lines())
                    .filter(|(a, b)| a != b)
                    .collect();
                assert!(
                    differing.is_empty(),
                    "{target}, seed {seed}, GNEISS_SIMD={simd} GNEISS_JIT={native} GNEISS_THREADS={threads}: {differing:?}"
                );
            }
        }
    }
}
