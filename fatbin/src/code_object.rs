//! AMDGPU code objects, versions 2 to 6: the ELF files with kernels that bundles hold.
//!
//! [`CodeObject::parse`] checks what a loader relies on: class, machine, OS ABI, ABI version, the target in `e_flags`,
//! segments inside the file and apart from each other. Symbols, relocations, descriptors and metadata are read when asked
//! for. Source: LLVM, AMDGPUUsage, "ELF Code Object".

use crate::elf::{self, Elf, Relocation, Section, Segment, Symbol, SymbolKind};
use crate::error::{Error, Result};
use crate::kernel_descriptor::{self, KernelDescriptor};
use crate::metadata::Metadata;
use crate::metadata_v2;
use crate::target_id::{Feature, Fit, Processor, TargetId};

/// `e_machine` of AMDGPU.
pub const EM_AMDGPU: u16 = 224;
/// `EI_OSABI` of code for the HSA runtime.
pub const ELFOSABI_AMDGPU_HSA: u8 = 64;
/// Owner `AMDGPU`: MessagePack metadata of code objects v3 and later.
pub const NT_AMDGPU_METADATA: u32 = 32;
/// Owner `AMD`: the processor of a code object v2.
pub const NT_AMD_HSA_ISA_VERSION: u32 = 3;
/// Owner `AMD`: YAML metadata of a code object v2.
pub const NT_AMD_HSA_METADATA: u32 = 10;

/// Most bytes of address space that the segments of a code object may span.
pub const SPAN_LIMIT: u64 = 1 << 40;

/// A code object whose ELF header and segments were checked.
#[derive(Clone, Debug)]
pub struct CodeObject<'a> {
    elf: Elf<'a>,
    version: u8,
    target: TargetId,
    generic_version: u8,
}

impl<'a> CodeObject<'a> {
    /// Parses a code object: a shared object, or a relocatable file as the compiler writes before linking.
    ///
    /// # Errors
    /// Those of [`Elf::parse`]; [`Error::ElfHeader`] for another machine, OS ABI, ABI version or type;
    /// [`Error::UnknownMachine`]; [`Error::Truncated`], [`Error::Malformed`] and [`Error::SegmentOverlap`] for segments.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let elf = Elf::parse(bytes)?;
        let header = |field, found: u64, expected| {
            Err(Error::ElfHeader {
                field,
                found,
                expected,
            })
        };
        if elf.machine != EM_AMDGPU {
            return header("machine (e_machine)", elf.machine.into(), "224 (AMDGPU)");
        }
        if elf.os_abi != ELFOSABI_AMDGPU_HSA {
            return header("OS ABI (EI_OSABI)", elf.os_abi.into(), "64 (HSA)");
        }
        if elf.abi_version > 4 {
            return header(
                "ABI version (EI_ABIVERSION)",
                elf.abi_version.into(),
                "0 to 4 (code object v2 to v6)",
            );
        }
        if elf.kind != elf::ET_DYN && elf.kind != elf::ET_REL {
            return header("type (e_type)", elf.kind.into(), "3 (shared object)");
        }
        check_segments(&elf)?;
        let version = elf.abi_version + 2;
        let target = target(&elf, version)?;
        let generic_version = if version >= 6 {
            (elf.flags >> 24) as u8
        } else {
            0
        };
        Ok(Self {
            elf,
            version,
            target,
            generic_version,
        })
    }

    /// The ELF file.
    pub fn elf(&self) -> &Elf<'a> {
        &self.elf
    }

    /// The code object version, 2 to 6.
    pub fn version(&self) -> u8 {
        self.version
    }

    /// What the code was made for.
    pub fn target(&self) -> &TargetId {
        &self.target
    }

    /// The version of the generic processor, from 1; 0 for code that is not generic.
    pub fn generic_version(&self) -> u8 {
        self.generic_version
    }

    /// Whether the code must still be linked before it can be loaded.
    pub fn is_relocatable(&self) -> bool {
        self.elf.kind == elf::ET_REL
    }

    /// How the code fits `device`, or `None`. Generic code must carry a generic version of at least 1.
    pub fn fit(&self, device: &TargetId) -> Option<Fit> {
        self.target
            .fit(device)
            .filter(|fit| *fit != Fit::Generic || self.generic_version >= 1)
    }

    /// The loadable segments, checked to lie in the file and not to overlap in memory.
    pub fn load_segments(&self) -> impl Iterator<Item = &Segment> {
        self.elf
            .segments
            .iter()
            .filter(|segment| segment.kind == elf::PT_LOAD)
    }

    /// First address and address after the last byte of the loadable segments; `None` when there are none.
    pub fn address_span(&self) -> Option<(u64, u64)> {
        let start = self.load_segments().map(|s| s.address).min()?;
        // Ends were checked against overflow.
        let end = self
            .load_segments()
            .map(|s| s.address + s.memory_size)
            .max()?;
        Some((start, end))
    }

    /// The symbols that a loader sees: the dynamic ones, in a relocatable file all. The first is empty, so that
    /// relocations can index them.
    ///
    /// # Errors
    /// As [`Elf::symbols`].
    pub fn symbols(&self) -> Result<Vec<Symbol<'a>>> {
        self.elf.symbols(if self.is_relocatable() {
            elf::SHT_SYMTAB
        } else {
            elf::SHT_DYNSYM
        })
    }

    /// All symbols, local ones too, as far as the file was not stripped.
    ///
    /// # Errors
    /// As [`Elf::symbols`].
    pub fn all_symbols(&self) -> Result<Vec<Symbol<'a>>> {
        let symbols = self.elf.symbols(elf::SHT_SYMTAB)?;
        if symbols.is_empty() {
            self.symbols()
        } else {
            Ok(symbols)
        }
    }

    /// The relocations that a loader applies: those of allocated sections, with indices into [`Self::symbols`]. Empty for
    /// a relocatable file, whose relocations belong to the linker.
    ///
    /// # Errors
    /// As [`Elf::relocations`]; [`Error::Malformed`] when one names a symbol that does not exist.
    pub fn relocations(&self) -> Result<Vec<Relocation>> {
        if self.is_relocatable() {
            return Ok(Vec::new());
        }
        let symbols = self
            .elf
            .sections
            .iter()
            .find(|s| s.kind == elf::SHT_DYNSYM)
            .map_or(0, |s| s.size / 24);
        let loaded =
            |s: &&Section<'_>| matches!(s.kind, elf::SHT_RELA | elf::SHT_REL) && s.flags & 2 != 0;
        let mut all = Vec::new();
        for section in self.elf.sections.iter().filter(loaded) {
            let relocations = self.elf.relocations(section)?;
            if relocations
                .iter()
                .any(|r| r.symbol != 0 && u64::from(r.symbol) >= symbols)
            {
                let reason = "an entry names a symbol that does not exist";
                return Err(Error::Malformed {
                    what: "relocation table",
                    offset: section.offset,
                    reason,
                });
            }
            all.extend(relocations);
        }
        Ok(all)
    }

    /// The kernel descriptor symbols (`<kernel>.kd`) of code objects v3 and later, or the kernel symbols of v2.
    ///
    /// # Errors
    /// As [`Elf::symbols`].
    pub fn kernel_symbols(&self) -> Result<Vec<Symbol<'a>>> {
        let mut symbols = self.symbols()?;
        symbols.retain(|symbol| symbol.is_defined() && self.is_kernel(symbol));
        Ok(symbols)
    }

    /// Whether a symbol names a kernel of this code object.
    pub fn is_kernel(&self, symbol: &Symbol<'_>) -> bool {
        if self.version == 2 {
            symbol.kind == SymbolKind::HsaKernel
        } else {
            symbol.kind == SymbolKind::Object && symbol.name.ends_with(".kd")
        }
    }

    /// The kernel descriptor that a symbol of [`Self::kernel_symbols`] names.
    ///
    /// # Errors
    /// [`Error::KernelDescriptor`] when the symbol's 64 bytes are not in the file, or for code object v2, whose kernels
    /// have an `amd_kernel_code_t` instead.
    pub fn kernel_descriptor(&self, symbol: &Symbol<'_>) -> Result<KernelDescriptor> {
        let error = |reason| Error::KernelDescriptor {
            kernel: symbol.name.to_owned(),
            reason,
        };
        if self.version == 2 {
            return Err(error("code object v2 has no kernel descriptors"));
        }
        if symbol.size != kernel_descriptor::SIZE as u64 {
            return Err(error("its descriptor is not 64 bytes long"));
        }
        let bytes = if self.is_relocatable() {
            let section = self.elf.sections.get(usize::from(symbol.section));
            section
                .and_then(|s| self.elf.section_data(s).ok())
                .and_then(|data| {
                    let start = usize::try_from(symbol.value).ok()?;
                    data.get(start..start.checked_add(kernel_descriptor::SIZE)?)
                })
        } else {
            self.elf.at_address(symbol.value, symbol.size)
        };
        let bytes = bytes
            .and_then(|bytes| bytes.first_chunk())
            .ok_or_else(|| error("its descriptor lies outside the loadable segments"))?;
        Ok(KernelDescriptor::parse(bytes))
    }

    /// The metadata note: kernels with their arguments, printf formats.
    ///
    /// # Errors
    /// [`Error::NoMetadata`] without a note, [`Error::MessagePack`], [`Error::Yaml`] or [`Error::Metadata`] for a damaged one.
    pub fn metadata(&self) -> Result<Metadata> {
        let notes = self.elf.notes()?;
        let find = |owner: &[u8], kind| {
            notes
                .iter()
                .find(|note| note.owner == owner && note.kind == kind)
        };
        if let Some(note) = find(b"AMDGPU", NT_AMDGPU_METADATA) {
            return Metadata::parse(note.description);
        }
        match find(b"AMD", NT_AMD_HSA_METADATA) {
            Some(note) => metadata_v2::parse(note.description),
            None => Err(Error::NoMetadata),
        }
    }
}

fn check_segments(elf: &Elf<'_>) -> Result<()> {
    let mut ranges = Vec::new();
    for (index, segment) in elf
        .segments
        .iter()
        .enumerate()
        .filter(|(_, s)| s.kind == elf::PT_LOAD)
    {
        elf.segment_data(segment)?;
        let malformed = |reason| Error::Malformed {
            what: "loadable segment",
            offset: segment.offset,
            reason,
        };
        if segment.memory_size < segment.file_size {
            return Err(malformed("it is larger in the file than in memory"));
        }
        let end = segment
            .address
            .checked_add(segment.memory_size)
            .ok_or_else(|| malformed("its end overflows the address space"))?;
        if segment.memory_size > 0 {
            ranges.push((segment.address, end, index));
        }
    }
    ranges.sort_unstable();
    for pair in ranges.windows(2) {
        if pair[1].0 < pair[0].1 {
            return Err(Error::SegmentOverlap {
                first: pair[0].2,
                second: pair[1].2,
                address: pair[1].0,
            });
        }
    }
    match (ranges.first(), ranges.last()) {
        (Some(first), Some(last)) if last.1 - first.0 > SPAN_LIMIT => Err(Error::Malformed {
            what: "loadable segments",
            offset: 0,
            reason: "they span more than a terabyte",
        }),
        _ => Ok(()),
    }
}

/// The target from `e_flags`, for code object v2 from the ISA note.
fn target(elf: &Elf<'_>, version: u8) -> Result<TargetId> {
    let flags = elf.flags;
    let machine = flags & 0xff;
    let processor = match Processor::by_machine(machine) {
        Some(processor) => processor,
        None if version == 2 => {
            isa_note_processor(elf)?.ok_or(Error::UnknownMachine { flags, machine })?
        }
        None => return Err(Error::UnknownMachine { flags, machine }),
    };
    // v2 and v3 have one bit per feature, on or off; later versions two, which also say "any".
    let feature = |exists: bool, bit: u32, field_shift: u32| match (exists, version) {
        (false, _) => Feature::Any,
        (true, ..=3) => [Feature::Off, Feature::On][usize::from(flags & bit != 0)],
        (true, _) => match flags >> field_shift & 3 {
            2 => Feature::Off,
            3 => Feature::On,
            _ => Feature::Any,
        },
    };
    let (xnack, sramecc) = (
        feature(processor.xnack, 0x100, 8),
        feature(processor.sramecc, 0x200, 10),
    );
    Ok(TargetId {
        processor: processor.name.to_owned(),
        sramecc,
        xnack,
    })
}

fn isa_note_processor(elf: &Elf<'_>) -> Result<Option<&'static Processor>> {
    const WHAT: &str = "ISA note";
    let notes = elf.notes()?;
    let Some(note) = notes
        .iter()
        .find(|note| note.owner == b"AMD" && note.kind == NT_AMD_HSA_ISA_VERSION)
    else {
        return Ok(None);
    };
    let bytes = crate::bytes::Bytes::new(note.description);
    let (major, minor, stepping) = (
        bytes.u32(WHAT, 4)?,
        bytes.u32(WHAT, 8)?,
        bytes.u32(WHAT, 12)?,
    );
    Ok(Processor::by_name(&format!(
        "gfx{major}{minor}{stepping:x}"
    )))
}
