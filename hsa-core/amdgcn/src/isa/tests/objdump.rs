//! Disassembly of code objects against `llvm-objdump`.

use std::path::{Path, PathBuf};

use object::{Object, ObjectSection};

use super::llvm::objdump19;
use crate::isa::decode::Decoder;
use crate::isa::table::Level;
use crate::isa::text::disassemble_section;
use crate::target::Target;

/// The corpus: `$GNEISS_FACTS`, or the folder beside the repository.
fn corpus() -> Option<PathBuf> {
    let facts = match std::env::var_os("GNEISS_FACTS") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR"))
            .ancestors()
            .find_map(|folder| {
                let beside = folder.join("shared/facts");
                beside.is_dir().then_some(beside)
            })?,
    };
    let corpus = facts.join("isa/corpus");
    corpus.is_dir().then_some(corpus)
}

fn compare(cpu: &str, target: Target, wave_size: u32) {
    let Some(corpus) = corpus() else {
        eprintln!("left out: no corpus of code objects");
        return;
    };
    let decoder = Decoder::new(target, wave_size).expect("the target has tables");
    let (mut compared, mut differences) = (0, Vec::new());
    let mut files: Vec<PathBuf> = std::fs::read_dir(corpus.join(cpu))
        .expect("the corpus has the target")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "hsaco")
        })
        .collect();
    files.sort();
    for file in files {
        let Some(expected) = objdump19(&file, cpu) else {
            eprintln!("left out: llvm-objdump-19 is not installed");
            return;
        };
        let data = std::fs::read(&file).expect("a readable code object");
        let object = object::File::parse(&*data).expect("an ELF file");
        let mut expected = expected.into_iter().peekable();
        let mut sections: Vec<_> = object
            .sections()
            .filter(|section| section.kind() == object::SectionKind::Text)
            .collect();
        sections.sort_by_key(|section| section.address());
        for section in sections {
            let code = section.data().expect("a section with data");
            for line in disassemble_section(&decoder, code, section.address()) {
                // Bytes between functions that llvm-objdump leaves out.
                if expected
                    .peek()
                    .is_none_or(|(address, _)| *address > line.address)
                {
                    continue;
                }
                let Some((address, text)) = expected.next() else {
                    continue;
                };
                // 16-bit halves of registers in the 32-bit encodings of GFX11, which LLVM 19 does not know.
                if text.starts_with(".long") && line.inst.is_ok() && decoder.level() >= Level::Gfx11
                {
                    let end = line.address + line.bytes.len() as u64;
                    while expected.peek().is_some_and(|(at, _)| *at < end) {
                        expected.next();
                    }
                    continue;
                }
                // LLVM 19 prints too few registers of GFX12's images.
                if decoder.level() == Level::Gfx12 && text.starts_with("image_") {
                    while expected.peek().is_some_and(|(at, _)| *at <= line.address) {
                        expected.next();
                    }
                    continue;
                }
                compared += 1;
                let same = super::is_llvm_text(line.text.trim_end(), &text, decoder.level());
                if address != line.address || !same {
                    let name = file
                        .file_name()
                        .unwrap_or_default()
                        .to_string_lossy()
                        .into_owned();
                    differences.push(format!(
                        "{name} {address:#x}: {text}\n  ours: {:#x}: {}",
                        line.address, line.text
                    ));
                    while expected
                        .peek()
                        .is_some_and(|(address, _)| *address <= line.address)
                    {
                        expected.next();
                    }
                }
            }
        }
        assert!(
            expected.next().is_none(),
            "{}: lines that we did not come to",
            file.display()
        );
    }
    println!("{cpu}: {compared} instructions compared");
    assert!(
        compared > 1000,
        "{cpu}: only {compared} instructions compared"
    );
    assert!(
        differences.is_empty(),
        "{} of {compared} differ:\n{}",
        differences.len(),
        differences
            .into_iter()
            .take(40)
            .collect::<Vec<_>>()
            .join("\n")
    );
}

#[test]
fn gfx90a_corpus_disassembles_like_llvm() {
    compare(
        "gfx90a",
        Target {
            major: 9,
            minor: 0,
            stepping: 0xa,
        },
        64,
    );
}

#[test]
fn gfx1030_corpus_disassembles_like_llvm() {
    compare(
        "gfx1030",
        Target {
            major: 10,
            minor: 3,
            stepping: 0,
        },
        32,
    );
}

#[test]
fn gfx906_corpus_disassembles_like_llvm() {
    compare(
        "gfx906",
        Target {
            major: 9,
            minor: 0,
            stepping: 6,
        },
        64,
    );
}

#[test]
fn gfx942_corpus_disassembles_like_llvm() {
    compare(
        "gfx942",
        Target {
            major: 9,
            minor: 4,
            stepping: 2,
        },
        64,
    );
}

#[test]
fn gfx1100_corpus_disassembles_like_llvm() {
    compare(
        "gfx1100",
        Target {
            major: 11,
            minor: 0,
            stepping: 0,
        },
        32,
    );
}

#[test]
fn gfx1200_corpus_disassembles_like_llvm() {
    compare(
        "gfx1200",
        Target {
            major: 12,
            minor: 0,
            stepping: 0,
        },
        32,
    );
}
