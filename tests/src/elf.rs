//! What a shared library says about itself: its needs, its exported symbols and their versions.

use std::{collections::BTreeMap, fs, path::Path};

use object::{
    Endianness, elf,
    read::elf::{Dyn, FileHeader, Sym},
};

type Header = elf::FileHeader64<Endianness>;

/// The dynamic part of a shared library.
#[derive(Debug)]
pub struct SharedLibrary {
    /// `DT_NEEDED`, in order.
    pub needed: Vec<String>,
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
            needed: Vec::new(),
            exports: BTreeMap::new(),
        };
        if let Some((entries, _)) = sections.dynamic(endian, data)? {
            for entry in entries
                .iter()
                .filter(|entry| entry.d_tag(endian) == elf::DT_NEEDED)
            {
                let name = entry.string(endian, symbols.strings())?;
                library
                    .needed
                    .push(String::from_utf8_lossy(name).into_owned());
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
