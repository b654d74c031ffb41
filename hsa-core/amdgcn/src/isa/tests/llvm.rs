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

    /// What the disassembler says of the first instruction of each place of so many dwords, of those places that it comes to: some encodings end
    /// it with a fault, the place of which counts. `None` where a longer instruction reaches into the place, or the fault is its first.
    fn until_fault(&self, words: &[u32], place: usize) -> Vec<Option<String>> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
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
            // Its own report of a fault takes longer than the rest.
            .env("LLVM_DISABLE_SYMBOLIZATION", "1")
            .output()
            .expect("llvm-objdump-22 runs");
        let size = 4 * place;
        let printed = String::from_utf8_lossy(&output.stdout);
        // The line that the fault cuts off is none.
        let whole = printed.rfind('\n').map_or("", |end| &printed[..end]);
        let mut texts = vec![None; words.len() / place];
        let mut end = 0;
        for (address, text) in instructions(whole) {
            let address = address as usize;
            end = address + 4;
            if address.is_multiple_of(size) {
                texts[address / size] = Some(text);
            }
        }
        if !output.status.success() {
            texts.truncate(end / size + 1);
        }
        texts
    }

    /// What the disassembler says of the first instruction of each place of so many dwords.
    pub(super) fn disassemble(&self, words: &[u32], place: usize) -> Vec<Option<String>> {
        let count = words.len() / place;
        let mut texts = Vec::with_capacity(count);
        while texts.len() < count {
            let rest = &words[place * texts.len()..];
            // In parts, since the tool takes all of its text into memory.
            texts.extend(self.until_fault(&rest[..rest.len().min(place * 25_000)], place));
        }
        texts
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
