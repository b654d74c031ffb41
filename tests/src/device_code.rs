//! The code objects inside programs and libraries, found without the crates under test.

use object::{Object, ObjectSection};

/// What every bundle of code objects begins with.
const MAGIC: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";

/// A code object in a file.
#[derive(Debug)]
pub struct CodeObject<'a> {
    /// The processor that it is for: `gfx90a`.
    pub target: String,
    /// Its bytes.
    pub data: &'a [u8],
}

/// The code objects for AMD's GPUs in the bundles of a program or library; empty ones are left out.
///
/// # Panics
///
/// When the file is no ELF file, or a bundle's table points past the end of its section.
pub fn code_objects(file: &[u8]) -> Vec<CodeObject<'_>> {
    let elf = object::File::parse(file).expect("an ELF file");
    let Some(section) = elf.section_by_name(".hip_fatbin") else {
        return Vec::new();
    };
    let mut rest = section.data().expect("a section with data");
    let mut objects = Vec::new();
    while let Some(start) = find(rest) {
        read_bundle(&rest[start..], &mut objects);
        rest = &rest[start + MAGIC.len()..];
    }
    objects
}

/// Where the next bundle begins.
fn find(bytes: &[u8]) -> Option<usize> {
    bytes
        .windows(MAGIC.len())
        .position(|window| window == MAGIC)
}

/// Reads a bundle's table: the number of entries, and of each its offset, its size, the length of its name and that.
fn read_bundle<'a>(bundle: &'a [u8], objects: &mut Vec<CodeObject<'a>>) {
    let word = |at: usize| {
        let bytes = bundle[at..at + 8].try_into().expect("eight bytes");
        u64::from_le_bytes(bytes) as usize
    };
    let mut at = MAGIC.len() + 8;
    for _ in 0..word(MAGIC.len()) {
        let (offset, size, length) = (word(at), word(at + 8), word(at + 16));
        at += 24;
        let name = String::from_utf8_lossy(&bundle[at..at + length]);
        at += length;
        let Some((kind, id)) = name.split_once("amdgcn-amd-amdhsa-") else {
            continue;
        };
        if kind.starts_with("hip") && size > 0 {
            let target = id.trim_start_matches('-').split(':').next();
            objects.push(CodeObject {
                target: target.unwrap_or_default().to_owned(),
                data: &bundle[offset..offset + size],
            });
        }
    }
}
