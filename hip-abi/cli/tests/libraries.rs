//! The built shared libraries: names and version nodes of every symbol, nothing else exported, no relocations in code,
//! one file per library.

use gneiss_fatbin::elf::{Elf, SHT_DYNSYM, Section};
use gneiss_fatbin::fat_binary::MappedFile;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const DT_TEXTREL: u64 = 22;
const DT_SONAME: u64 = 14;
const DT_FLAGS: u64 = 30;
const DT_FLAGS_1: u64 = 0x6fff_fffb;
const DF_TEXTREL: u64 = 4;
const DF_1_NODELETE: u64 = 8;

fn prefix() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let prefix = std::env::var_os("GNEISS_PREFIX")
        .map_or_else(|| workspace.join("target/rocm"), PathBuf::from);
    assert!(
        prefix.join("lib/libamdhip64.so.5").exists(),
        "{} is not built: run `make` first",
        prefix.display()
    );
    prefix
}

/// A library, read once.
struct Library {
    file: MappedFile,
    name: &'static str,
}

impl Library {
    fn open(name: &'static str, file: &str) -> Self {
        let file =
            MappedFile::open(&prefix().join("lib").join(file)).expect("the library is built");
        Self { file, name }
    }

    fn all() -> [Self; 2] {
        [
            Self::open("libamdhip64", "libamdhip64.so.5"),
            Self::open("libhsa-runtime64", "libhsa-runtime64.so.1"),
        ]
    }

    fn elf(&self) -> Elf<'_> {
        Elf::parse(self.file.bytes()).expect("an ELF file")
    }

    /// Name and version node of every symbol that it defines, the nodes' own symbols left out.
    fn symbols(&self) -> BTreeMap<String, String> {
        let elf = self.elf();
        let nodes = defined_nodes(&elf);
        let versions = data(&elf, ".gnu.version").to_vec();
        let symbols = elf.symbols(SHT_DYNSYM).expect("a symbol table");
        let mut found = BTreeMap::new();
        for (index, symbol) in symbols
            .iter()
            .enumerate()
            .filter(|(_, symbol)| symbol.is_defined() && !symbol.name.is_empty())
        {
            let version = u16::from_le_bytes([versions[2 * index], versions[2 * index + 1]]);
            let node = nodes.get(&(version & 0x7fff)).cloned().unwrap_or_default();
            if nodes.values().any(|node| node == symbol.name) {
                continue;
            }
            assert_eq!(version & 0x8000, 0, "{} is no default version", symbol.name);
            assert_eq!(
                found.insert(symbol.name.to_owned(), node),
                None,
                "{} is there twice",
                symbol.name
            );
        }
        found
    }

    /// Names and nodes of the version script that the library was linked with.
    fn script(&self) -> BTreeMap<String, String> {
        let path = prefix().join(format!("lib/gneiss/{}.map", self.name));
        let text = std::fs::read_to_string(&path).expect("the version script is installed");
        let mut node = String::new();
        let mut names = BTreeMap::new();
        for line in text.lines().map(str::trim) {
            if let Some(name) = line.strip_suffix('{') {
                node = name.trim().to_owned();
            } else if let Some(name) = line
                .strip_suffix(';')
                .filter(|name| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
            {
                names.insert(name.to_owned(), node.clone());
            }
        }
        names
    }

    fn dynamic(&self) -> Vec<(u64, u64)> {
        let elf = self.elf();
        let words: Vec<u64> = data(&elf, ".dynamic")
            .chunks_exact(8)
            .map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes")))
            .collect();
        words
            .chunks_exact(2)
            .map(|pair| (pair[0], pair[1]))
            .take_while(|(tag, _)| *tag != 0)
            .collect()
    }
}

fn section<'e>(elf: &'e Elf<'_>, name: &str) -> &'e Section<'e> {
    elf.section(name)
        .unwrap_or_else(|| panic!("no section {name}"))
}

fn data<'a>(elf: &Elf<'a>, name: &str) -> &'a [u8] {
    elf.section_data(section(elf, name))
        .expect("a readable section")
}

fn string(elf: &Elf<'_>, offset: u64) -> String {
    let rest = &data(elf, ".dynstr")[offset as usize..];
    let end = rest
        .iter()
        .position(|b| *b == 0)
        .expect("a string has an end");
    String::from_utf8_lossy(&rest[..end]).into_owned()
}

/// The version nodes of `.gnu.version_d` by their index.
fn defined_nodes(elf: &Elf<'_>) -> BTreeMap<u16, String> {
    let bytes = data(elf, ".gnu.version_d");
    let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let word =
        |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let mut nodes = BTreeMap::new();
    let mut at = 0;
    loop {
        // Flag 1 marks the entry of the file itself.
        if half(at + 2) & 1 == 0 {
            nodes.insert(
                half(at + 4),
                string(elf, word(at + word(at + 12) as usize).into()),
            );
        }
        match word(at + 16) {
            0 => return nodes,
            next => at += next as usize,
        }
    }
}

#[test]
fn every_symbol_stands_under_its_node_and_nothing_else_is_exported() {
    for library in Library::all() {
        let script = library.script();
        for (name, node) in library.symbols() {
            assert_eq!(
                script.get(&name),
                Some(&node),
                "{}: {name}@{node}",
                library.name
            );
        }
    }
}

#[test]
fn what_every_program_needs_is_there() {
    let [hip, hsa] = Library::all();
    let (hip, hsa) = (hip.symbols(), hsa.symbols());
    for name in [
        "hipMalloc",
        "hipFree",
        "hipMemcpy",
        "hipLaunchKernel",
        "__hipRegisterFatBinary",
        "__hipPushCallConfiguration",
    ] {
        assert_eq!(hip.get(name).map(String::as_str), Some("hip_4.2"), "{name}");
    }
    for name in [
        "hsa_init",
        "hsa_shut_down",
        "hsa_iterate_agents",
        "hsa_queue_create",
        "hsa_amd_memory_pool_allocate",
    ] {
        assert_eq!(hsa.get(name).map(String::as_str), Some("ROCR_1"), "{name}");
    }
}

#[test]
fn code_needs_no_relocation_and_libraries_stay_loaded() {
    for library in Library::all() {
        let dynamic = library.dynamic();
        let get = |wanted| {
            dynamic
                .iter()
                .find(|(tag, _)| *tag == wanted)
                .map(|(_, value)| *value)
        };
        assert_eq!(get(DT_TEXTREL), None, "{}", library.name);
        assert_eq!(
            get(DT_FLAGS).unwrap_or(0) & DF_TEXTREL,
            0,
            "{}",
            library.name
        );
        assert_ne!(
            get(DT_FLAGS_1).unwrap_or(0) & DF_1_NODELETE,
            0,
            "{}",
            library.name
        );
        let soname = get(DT_SONAME)
            .map(|offset| string(&library.elf(), offset))
            .unwrap_or_default();
        assert!(soname.starts_with(library.name), "{soname}");
    }
}

#[test]
fn all_sonames_lead_to_one_file() {
    let files = |names: &[&str]| -> BTreeSet<PathBuf> {
        names
            .iter()
            .map(|name| {
                std::fs::canonicalize(prefix().join("lib").join(name))
                    .unwrap_or_else(|e| panic!("{name}: {e}"))
            })
            .collect()
    };
    assert_eq!(
        files(&[
            "libamdhip64.so",
            "libamdhip64.so.5",
            "libamdhip64.so.6",
            "libamdhip64.so.7"
        ])
        .len(),
        1
    );
    let hsa = files(&[
        "libhsa-runtime64.so",
        "libhsa-runtime64.so.1",
        "gneiss/hsa-only/libhsa-runtime64.so.1",
    ]);
    assert_eq!(hsa.len(), 1);
}
