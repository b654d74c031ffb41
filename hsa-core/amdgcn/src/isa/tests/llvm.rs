//! LLVM's assembler and disassembler.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// Addresses and texts of a disassembly: each instruction is followed by a comment that begins with its address.
pub(super) fn instructions(disassembly: &str) -> Vec<(u64, String)> {
    disassembly
        .lines()
        .filter_map(|line| {
            let (text, comment) = line.split_once("// ")?;
            let address = comment.split(':').next()?;
            let address = u64::from_str_radix(address, 16).ok()?;
            Some((address, text.trim().to_owned()))
        })
        .collect()
}

/// LLVM 22 for a target, in a folder of its own that goes with it.
pub(super) struct Llvm22 {
    folder: PathBuf,
    target: &'static str,
    wave: &'static str,
}

impl Llvm22 {
    /// None, with a word about it, if LLVM 22 is not installed.
    pub(super) fn new(target: &'static str, wave_size: u32) -> Option<Self> {
        let installed = ["llvm-mc-22", "llvm-objdump-22"]
            .iter()
            .all(|tool| Command::new(tool).arg("--version").output().is_ok());
        if !installed {
            eprintln!(
                "SKIPPED: llvm-mc-22 and llvm-objdump-22 are not installed; the fixtures are checked without them"
            );
            return None;
        }
        let folder =
            std::env::temp_dir().join(format!("gneiss-llvm22-{target}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a writable folder");
        Some(Self {
            folder,
            target,
            wave: match wave_size {
                32 => "+wavefrontsize32,-wavefrontsize64",
                _ => "-wavefrontsize32,+wavefrontsize64",
            },
        })
    }

    fn assembler(&self, source: &str, output: &[&str]) -> Command {
        let input = self.folder.join("input.s");
        std::fs::write(&input, source).expect("a writable folder");
        let mut command = Command::new("llvm-mc-22");
        command
            .args(["-triple=amdgcn-amd-amdhsa"])
            .arg(format!("-mcpu={}", self.target))
            .arg(format!("-mattr={}", self.wave))
            .args(output)
            .arg(input);
        command
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// What the disassembler says of the first instruction of each place; `None` where a longer one reaches into the place. Where the tool
    /// itself ends with a fault, which some encodings make it do, there is nothing.
    fn whole<const N: usize>(&self, places: &[[u32; N]]) -> Option<Vec<Option<String>>> {
        let bytes: Vec<u8> = places
            .iter()
            .flatten()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        let (code, object) = (self.path("code"), self.path("code.o"));
        std::fs::write(&code, bytes).expect("a writable folder");
        let assembled = self
            .assembler(
                &format!(".text\n.incbin \"{code}\"\n"),
                &["-filetype=obj", "-o", &object],
            )
            .status();
        assert!(assembled.is_ok_and(|status| status.success()));
        let output = Command::new("llvm-objdump-22")
            .args(["-d", "-z"])
            .arg(format!("--mcpu={}", self.target))
            .arg(format!("--mattr={}", self.wave))
            .arg(object)
            .output()
            .expect("llvm-objdump-22 runs");
        if !output.status.success() {
            return None;
        }
        let mut texts = vec![None; places.len()];
        for (address, text) in instructions(&String::from_utf8_lossy(&output.stdout)) {
            let address = address as usize;
            if address.is_multiple_of(4 * N) {
                texts[address / (4 * N)] = Some(text);
            }
        }
        Some(texts)
    }

    /// What the disassembler says of the first instruction of each place, without the places that end the tool.
    pub(super) fn disassemble<const N: usize>(&self, places: &[[u32; N]]) -> Vec<Option<String>> {
        match self.whole(places) {
            Some(texts) => texts,
            None if places.len() == 1 => vec![None],
            None => {
                let (low, high) = places.split_at(places.len() / 2);
                let mut texts = self.disassemble(low);
                texts.extend(self.disassemble(high));
                texts
            }
        }
    }

    /// Which of the texts the assembler takes.
    pub(super) fn assembles(&self, texts: &[&str]) -> Vec<bool> {
        let output = self
            .assembler(&(texts.join("\n") + "\n"), &["-filetype=null"])
            .output()
            .expect("the assembler is there");
        let mut taken = vec![true; texts.len()];
        let errors = String::from_utf8_lossy(&output.stderr);
        for line in errors.lines().filter(|line| line.contains(": error: ")) {
            let number = line.split(':').nth(1).and_then(|n| n.parse::<usize>().ok());
            if let Some(taken) = number.and_then(|n| taken.get_mut(n.wrapping_sub(1))) {
                *taken = false;
            }
        }
        taken
    }
}

impl Drop for Llvm22 {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The disassembly of a file by LLVM 19, or `None` if it is not installed.
pub(super) fn objdump19(file: &Path, cpu: &str) -> Option<Vec<(u64, String)>> {
    let output = Command::new("llvm-objdump-19")
        .args(["-d", "-z"])
        .arg(format!("--mcpu={cpu}"))
        .arg(file)
        .output()
        .ok()?;
    assert!(
        output.status.success(),
        "llvm-objdump-19 fails on {}",
        file.display()
    );
    let text = String::from_utf8(output.stdout).expect("llvm-objdump prints UTF-8");
    Some(instructions(&text))
}
