//! What a shared library says about itself: its name, its needs, its exported symbols and their versions.

use std::{collections::BTreeMap, fs, path::Path};

use object::{
    Endianness, elf,
    read::elf::{Dyn, FileHeader, Sym},
};

type Header = elf::FileHeader64<Endianness>;

/// The dynamic part of a shared library.
#[derive(Debug)]
pub struct SharedLibrary {
    /// `DT_SONAME`.
    pub soname: String,
    /// `DT_NEEDED`, in order.
    pub needed: Vec<String>,
    /// Whether relocations change its text (`DT_TEXTREL`, or the flag for it).
    pub text_relocations: bool,
    /// Whether it stays loaded after `dlclose` (the flag `NODELETE`).
    pub no_delete: bool,
    /// Every defined dynamic symbol with its version, which is empty for one that has none. Symbols that only name a version are
    /// left out.
    pub exports: BTreeMap<String, String>,
}

impl SharedLibrary {
    /// Reads a library.
    ///
    /// # Panics
    ///
    /// When the file cannot be read or is no 64-bit ELF library.
    pub fn read(path: &Path) -> Self {
        let data = fs::read(path)
            .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
        Self::parse(&data).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    fn parse(data: &[u8]) -> object::Result<Self> {
        let header = Header::parse(data)?;
        let endian = header.endian()?;
        let sections = header.sections(endian, data)?;
        let symbols = sections.symbols(endian, data, elf::SHT_DYNSYM)?;
        let versions = sections.versions(endian, data)?;

        let mut library = Self {
            soname: String::new(),
            needed: Vec::new(),
            text_relocations: false,
            no_delete: false,
            exports: BTreeMap::new(),
        };
        if let Some((entries, _)) = sections.dynamic(endian, data)? {
            for entry in entries {
                let value = entry.d_val(endian);
                let text = || {
                    entry
                        .string(endian, symbols.strings())
                        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
                };
                match entry.d_tag(endian) {
                    elf::DT_SONAME => library.soname = text()?,
                    elf::DT_NEEDED => library.needed.push(text()?),
                    elf::DT_TEXTREL => library.text_relocations = true,
                    elf::DT_FLAGS => library.text_relocations |= value & elf::DF_TEXTREL.0 != 0,
                    elf::DT_FLAGS_1 => library.no_delete = value & elf::DF_1_NODELETE.0 != 0,
                    _ => {}
                }
            }
        }
        for (index, symbol) in symbols.enumerate() {
            let name =
                String::from_utf8_lossy(symbol.name(endian, symbols.strings())?).into_owned();
            if symbol.is_undefined(endian)
                || symbol.st_shndx(endian) == elf::SHN_ABS
                || name.is_empty()
            {
                continue;
            }
            let version = match &versions {
                Some(versions) => versions
                    .version(versions.version_index(endian, index).index())?
                    .map(|version| version.name()),
                None => None,
            };
            library.exports.insert(
                name,
                String::from_utf8_lossy(version.unwrap_or_default()).into_owned(),
            );
        }
        Ok(library)
    }
}

/// The symbols of a linker's version script, each with its node. Only what these libraries' scripts use is understood: nodes with
/// a `global:` list of plain names and `local: *`.
///
/// # Panics
///
/// When the script cannot be read.
pub fn version_script(path: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    let mut symbols = BTreeMap::new();
    let mut node = String::new();
    let mut rest = text.as_str();
    while let Some(start) = rest.find("/*") {
        // Comments are cut out first, so that names in them do not count.
        let end = rest[start..]
            .find("*/")
            .map_or(rest.len(), |end| start + end + 2);
        read_nodes(&rest[..start], &mut node, &mut symbols);
        rest = &rest[end..];
    }
    read_nodes(rest, &mut node, &mut symbols);
    symbols
}

fn read_nodes(text: &str, node: &mut String, symbols: &mut BTreeMap<String, String>) {
    let spaced = text
        .replace('{', " { ")
        .replace('}', " } ")
        .replace(';', " ; ")
        .replace(':', " : ");
    let words: Vec<_> = spaced.split_whitespace().collect();
    for (index, word) in words.iter().enumerate() {
        match *word {
            "{" if index > 0 => *node = words[index - 1].to_owned(),
            "}" => node.clear(),
            ";" if index > 0 && !node.is_empty() && words[index - 1] != "*" => {
                symbols.insert(words[index - 1].to_owned(), node.clone());
            }
            _ => {}
        }
    }
}
