//! ELF64 little-endian files, both host programs and code objects: headers, sections, segments, symbols, relocations.
//!
//! A small reader of its own, because every range must be checked before use and every error must name its place, also
//! for images that lie unaligned in memory. Source: System V ABI, "Object Files".

use crate::bytes::Bytes;
use crate::error::{Error, Found, Result};

/// `e_type` of a relocatable file.
pub const ET_REL: u16 = 1;
/// `e_type` of a program with fixed addresses.
pub const ET_EXEC: u16 = 2;
/// `e_type` of a shared object or position-independent program.
pub const ET_DYN: u16 = 3;
/// `p_type` of a loadable segment.
pub const PT_LOAD: u32 = 1;
/// `p_type` of a note segment.
pub const PT_NOTE: u32 = 4;
/// Segment is executable.
pub const PF_X: u32 = 1;
/// Segment is writable.
pub const PF_W: u32 = 2;
/// `sh_type` of a symbol table.
pub const SHT_SYMTAB: u32 = 2;
/// `sh_type` of relocations with addends.
pub const SHT_RELA: u32 = 4;
/// `sh_type` of notes.
pub const SHT_NOTE: u32 = 7;
/// `sh_type` of a section without bytes in the file.
pub const SHT_NOBITS: u32 = 8;
/// `sh_type` of relocations without addends.
pub const SHT_REL: u32 = 9;
/// `sh_type` of the dynamic symbol table.
pub const SHT_DYNSYM: u32 = 11;

/// A parsed ELF file.
#[derive(Clone, Debug)]
pub struct Elf<'a> {
    bytes: Bytes<'a>,
    /// `e_type`.
    pub kind: u16,
    /// `e_machine`.
    pub machine: u16,
    /// `EI_OSABI`.
    pub os_abi: u8,
    /// `EI_ABIVERSION`.
    pub abi_version: u8,
    /// `e_flags`.
    pub flags: u32,
    /// Program headers in file order.
    pub segments: Vec<Segment>,
    /// Section headers in file order.
    pub sections: Vec<Section<'a>>,
}

/// A program header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// `p_type`.
    pub kind: u32,
    /// `p_flags`.
    pub flags: u32,
    /// Where its bytes are in the file.
    pub offset: u64,
    /// Its address.
    pub address: u64,
    /// Bytes in the file.
    pub file_size: u64,
    /// Bytes in memory; what the file does not give is zero.
    pub memory_size: u64,
    /// Its alignment.
    pub align: u64,
}

/// A section header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section<'a> {
    /// The name; empty when it cannot be read as text.
    pub name: &'a str,
    /// `sh_type`.
    pub kind: u32,
    /// `sh_flags`.
    pub flags: u64,
    /// Its address, 0 when it is not in memory.
    pub address: u64,
    /// Where its bytes are in the file.
    pub offset: u64,
    /// Size in bytes.
    pub size: u64,
    /// `sh_link`.
    pub link: u32,
    /// `sh_info`.
    pub info: u32,
    /// Size of an entry, for tables.
    pub entry_size: u64,
}

/// What a symbol names: the low four bits of `st_info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SymbolKind {
    /// No type.
    NoType,
    /// A variable; kernel descriptors too.
    Object,
    /// Code.
    Function,
    /// A section.
    Section,
    /// A source file's name.
    File,
    /// A kernel of code object v2 (`STT_AMDGPU_HSA_KERNEL`).
    HsaKernel,
    /// Anything else.
    Other(u8),
}

/// A symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// The name.
    pub name: &'a str,
    /// What it names.
    pub kind: SymbolKind,
    /// `STB_*`: 0 local, 1 global, 2 weak.
    pub binding: u8,
    /// `STV_*`: 0 default, 1 internal, 2 hidden, 3 protected.
    pub visibility: u8,
    /// Section index; 0 undefined, 0xfff1 absolute.
    pub section: u16,
    /// Address, in relocatable files offset in its section.
    pub value: u64,
    /// Size in bytes.
    pub size: u64,
}

impl Symbol<'_> {
    /// Whether the file defines the symbol.
    pub fn is_defined(&self) -> bool {
        self.section != 0
    }

    /// Whether the symbol is local to the file.
    pub fn is_local(&self) -> bool {
        self.binding == 0
    }
}

/// A relocation with its addend; 0 for those that keep it in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// The address to change, in relocatable files the offset in the section.
    pub offset: u64,
    /// The relocation type.
    pub kind: u32,
    /// Index in the symbol table; 0 none.
    pub symbol: u32,
    /// The addend.
    pub addend: i64,
}

/// A note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note<'a> {
    /// The owner, `AMDGPU` or `AMD` for ours, without the NUL.
    pub owner: &'a [u8],
    /// The type, whose meaning is the owner's.
    pub kind: u32,
    /// The description.
    pub description: &'a [u8],
    /// Where the description starts in the file.
    pub offset: u64,
}

impl<'a> Elf<'a> {
    /// Whether `bytes` start with the ELF magic.
    pub fn starts_at(bytes: &[u8]) -> bool {
        bytes.starts_with(b"\x7fELF")
    }

    /// Reads the headers of an ELF64 little-endian file.
    ///
    /// # Errors
    /// [`Error::NotElf`], [`Error::ElfHeader`] for another class, byte order or version, [`Error::Truncated`] and
    /// [`Error::Malformed`] for tables outside the file.
    pub fn parse(data: &'a [u8]) -> Result<Self> {
        const WHAT: &str = "ELF header";
        if !Self::starts_at(data) {
            return Err(Error::NotElf {
                found: Found::new(data),
            });
        }
        let bytes = Bytes::new(data);
        let check = |field, at, want: u8, expected| match bytes.u8(WHAT, at)? {
            found if found == want => Ok(()),
            found => Err(Error::ElfHeader {
                field,
                found: found.into(),
                expected,
            }),
        };
        check("class (EI_CLASS)", 4, 2, "2 (64-bit)")?;
        check("byte order (EI_DATA)", 5, 1, "1 (little-endian)")?;
        check("version (EI_VERSION)", 6, 1, "1")?;
        bytes.slice(WHAT, 0, 64)?;
        let mut elf = Self {
            bytes,
            kind: bytes.u16(WHAT, 16)?,
            machine: bytes.u16(WHAT, 18)?,
            os_abi: bytes.u8(WHAT, 7)?,
            abi_version: bytes.u8(WHAT, 8)?,
            flags: bytes.u32(WHAT, 48)?,
            segments: Vec::new(),
            sections: Vec::new(),
        };
        elf.read_segments(
            bytes.u64(WHAT, 32)?,
            bytes.u16(WHAT, 54)?,
            bytes.u16(WHAT, 56)?,
        )?;
        elf.read_sections(
            bytes.u64(WHAT, 40)?,
            bytes.u16(WHAT, 58)?,
            bytes.u16(WHAT, 60)?,
            bytes.u16(WHAT, 62)?,
        )?;
        Ok(elf)
    }

    fn read_segments(&mut self, table: u64, entry_size: u16, count: u16) -> Result<()> {
        const WHAT: &str = "program header";
        if count == 0 {
            return Ok(());
        }
        if entry_size < 56 {
            return Err(Error::ElfHeader {
                field: "e_phentsize",
                found: entry_size.into(),
                expected: "56",
            });
        }
        let bytes = self.bytes;
        bytes.slice(
            "program header table",
            table,
            u64::from(entry_size) * u64::from(count),
        )?;
        for index in 0..u64::from(count) {
            let at = table + index * u64::from(entry_size);
            self.segments.push(Segment {
                kind: bytes.u32(WHAT, at)?,
                flags: bytes.u32(WHAT, at + 4)?,
                offset: bytes.u64(WHAT, at + 8)?,
                address: bytes.u64(WHAT, at + 16)?,
                file_size: bytes.u64(WHAT, at + 32)?,
                memory_size: bytes.u64(WHAT, at + 40)?,
                align: bytes.u64(WHAT, at + 48)?,
            });
        }
        Ok(())
    }

    fn read_sections(&mut self, table: u64, entry_size: u16, count: u16, names: u16) -> Result<()> {
        const WHAT: &str = "section header";
        if table == 0 {
            return Ok(());
        }
        if entry_size < 64 {
            return Err(Error::ElfHeader {
                field: "e_shentsize",
                found: entry_size.into(),
                expected: "64",
            });
        }
        let bytes = self.bytes;
        let entry_size = u64::from(entry_size);
        // Files with more sections than the header can count keep count and name table in section 0.
        let (count, names) = match (count, names) {
            (0, _) => (bytes.u64(WHAT, table.saturating_add(32))?, u64::from(names)),
            _ => (u64::from(count), u64::from(names)),
        };
        let names = if names == 0xffff {
            bytes.u32(WHAT, table.saturating_add(40))?.into()
        } else {
            names
        };
        let size = count.checked_mul(entry_size).ok_or(Error::Malformed {
            what: WHAT,
            offset: table,
            reason: "the count is too large",
        })?;
        bytes.slice("section header table", table, size)?;
        let mut name_offsets = Vec::new();
        for index in 0..count {
            let at = table + index * entry_size;
            name_offsets.push(bytes.u32(WHAT, at)?);
            self.sections.push(Section {
                name: "",
                kind: bytes.u32(WHAT, at + 4)?,
                flags: bytes.u64(WHAT, at + 8)?,
                address: bytes.u64(WHAT, at + 16)?,
                offset: bytes.u64(WHAT, at + 24)?,
                size: bytes.u64(WHAT, at + 32)?,
                link: bytes.u32(WHAT, at + 40)?,
                info: bytes.u32(WHAT, at + 44)?,
                entry_size: bytes.u64(WHAT, at + 56)?,
            });
        }
        let Some(names) = usize::try_from(names)
            .ok()
            .and_then(|index| self.sections.get(index))
            .copied()
        else {
            return Ok(());
        };
        let names = Bytes::new(self.section_data(&names)?);
        for (section, offset) in self.sections.iter_mut().zip(name_offsets) {
            let name = names
                .c_str("section name", offset.into())
                .unwrap_or_default();
            section.name = std::str::from_utf8(name).unwrap_or_default();
        }
        Ok(())
    }

    /// All bytes of the file.
    pub fn data(&self) -> &'a [u8] {
        self.bytes.all()
    }

    /// The first section of that name.
    pub fn section(&self, name: &str) -> Option<&Section<'a>> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// A section's bytes; none for a section that has none in the file.
    ///
    /// # Errors
    /// [`Error::Truncated`] when they reach past the end of the file.
    pub fn section_data(&self, section: &Section<'_>) -> Result<&'a [u8]> {
        if section.kind == SHT_NOBITS {
            return Ok(&[]);
        }
        self.bytes.slice("section", section.offset, section.size)
    }

    /// A segment's bytes in the file.
    ///
    /// # Errors
    /// [`Error::Truncated`] when they reach past the end of the file.
    pub fn segment_data(&self, segment: &Segment) -> Result<&'a [u8]> {
        self.bytes
            .slice("segment", segment.offset, segment.file_size)
    }

    /// The bytes at an address, when one loadable segment holds them all in the file.
    pub fn at_address(&self, address: u64, size: u64) -> Option<&'a [u8]> {
        let segment = self.segments.iter().find(|segment| {
            segment.kind == PT_LOAD
                && address.checked_sub(segment.address).is_some_and(|at| {
                    at.checked_add(size)
                        .is_some_and(|end| end <= segment.file_size)
                })
        })?;
        self.bytes
            .slice(
                "segment",
                segment.offset.checked_add(address - segment.address)?,
                size,
            )
            .ok()
    }

    /// The symbols of the first table of type `kind` ([`SHT_DYNSYM`] or [`SHT_SYMTAB`]), including the empty first one, so
    /// that relocations can index it. Without such a table there are none.
    ///
    /// # Errors
    /// [`Error::Malformed`] or [`Error::Truncated`] when the table or its names are damaged.
    pub fn symbols(&self, kind: u32) -> Result<Vec<Symbol<'a>>> {
        const WHAT: &str = "symbol table";
        let Some(table) = self.sections.iter().find(|section| section.kind == kind) else {
            return Ok(Vec::new());
        };
        let malformed = |reason| Error::Malformed {
            what: WHAT,
            offset: table.offset,
            reason,
        };
        let data = Bytes::new(self.section_data(table)?);
        if table.entry_size != 24 || !data.len().is_multiple_of(24) {
            return Err(malformed("its size is no multiple of 24-byte symbols"));
        }
        let names = self
            .sections
            .get(table.link as usize)
            .ok_or_else(|| malformed("its name table does not exist"))?;
        let names = Bytes::new(self.section_data(names)?);
        let symbol = |index| {
            let at = index * 24;
            let name = match data.u32(WHAT, at)? {
                0 => &[],
                offset => names.c_str("symbol name", offset.into())?,
            };
            let info = data.u8(WHAT, at + 4)?;
            Ok(Symbol {
                name: std::str::from_utf8(name).map_err(|_| malformed("a name is not UTF-8"))?,
                kind: match info & 15 {
                    0 => SymbolKind::NoType,
                    1 => SymbolKind::Object,
                    2 => SymbolKind::Function,
                    3 => SymbolKind::Section,
                    4 => SymbolKind::File,
                    10 => SymbolKind::HsaKernel,
                    other => SymbolKind::Other(other),
                },
                binding: info >> 4,
                visibility: data.u8(WHAT, at + 5)? & 3,
                section: data.u16(WHAT, at + 6)?,
                value: data.u64(WHAT, at + 8)?,
                size: data.u64(WHAT, at + 16)?,
            })
        };
        (0..data.len() / 24).map(symbol).collect()
    }

    /// The relocations of one section of type [`SHT_RELA`] or [`SHT_REL`].
    ///
    /// # Errors
    /// [`Error::Malformed`] for another section or a damaged table, [`Error::Truncated`].
    pub fn relocations(&self, section: &Section<'_>) -> Result<Vec<Relocation>> {
        const WHAT: &str = "relocation table";
        let size = match section.kind {
            SHT_RELA => 24,
            SHT_REL => 16,
            _ => {
                return Err(Error::Malformed {
                    what: WHAT,
                    offset: section.offset,
                    reason: "the section holds no relocations",
                });
            }
        };
        let data = Bytes::new(self.section_data(section)?);
        if !data.len().is_multiple_of(size) {
            return Err(Error::Malformed {
                what: WHAT,
                offset: section.offset,
                reason: "its size is no multiple of its entries",
            });
        }
        let relocation = |index| {
            let at = index * size;
            let info = data.u64(WHAT, at + 8)?;
            let addend = if size == 24 {
                data.u64(WHAT, at + 16)?.cast_signed()
            } else {
                0
            };
            Ok(Relocation {
                offset: data.u64(WHAT, at)?,
                kind: info as u32,
                symbol: (info >> 32) as u32,
                addend,
            })
        };
        (0..data.len() / size).map(relocation).collect()
    }

    /// All notes: of note segments, or of note sections in a file without segments.
    ///
    /// # Errors
    /// [`Error::Truncated`] when a note reaches past the end.
    pub fn notes(&self) -> Result<Vec<Note<'a>>> {
        let mut notes = Vec::new();
        if self.segments.is_empty() {
            for section in self
                .sections
                .iter()
                .filter(|section| section.kind == SHT_NOTE)
            {
                read_notes(section.offset, self.section_data(section)?, &mut notes)?;
            }
        }
        for segment in self
            .segments
            .iter()
            .filter(|segment| segment.kind == PT_NOTE)
        {
            read_notes(segment.offset, self.segment_data(segment)?, &mut notes)?;
        }
        Ok(notes)
    }
}

/// Reads notes laid out one after the other, each part padded to four bytes.
fn read_notes<'a>(start: u64, data: &'a [u8], notes: &mut Vec<Note<'a>>) -> Result<()> {
    const WHAT: &str = "note";
    let data = Bytes::new(data);
    let mut at = 0;
    while at < data.len() {
        let (owner_size, size) = (
            u64::from(data.u32(WHAT, at)?),
            u64::from(data.u32(WHAT, at + 4)?),
        );
        let kind = data.u32(WHAT, at + 8)?;
        let owner = data.slice("note owner", at + 12, owner_size)?;
        let description_at = at + 12 + owner_size.next_multiple_of(4);
        let description = data.slice("note description", description_at, size)?;
        let owner = owner.strip_suffix(&[0]).unwrap_or(owner);
        notes.push(Note {
            owner,
            kind,
            description,
            offset: start.saturating_add(description_at),
        });
        at = description_at + size.next_multiple_of(4);
    }
    Ok(())
}
