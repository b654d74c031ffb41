//! Finding device code: in programs, libraries, object files, static libraries, bundle files and plain code objects, and
//! behind the wrapper that a running program registers.
//!
//! `hipcc` puts the bundles of a program into the section `.hip_fatbin` and, per translation unit, a wrapper into
//! `.hipFatBinSegment` that points at one of them. A static constructor passes the wrapper's address to
//! `__hipRegisterFatBinary`.

use crate::archive;
use crate::bundle::Bundle;
use crate::bytes::Bytes;
use crate::code_object::{CodeObject, EM_AMDGPU};
use crate::elf::Elf;
use crate::entry_id::EntryId;
use crate::error::{Error, Found, Result};
use crate::target_id::{PROCESSORS, Processor, TargetId};
use std::path::Path;

/// The section with the bundles.
pub const SECTION: &str = ".hip_fatbin";
/// The section with the wrappers.
pub const WRAPPER_SECTION: &str = ".hipFatBinSegment";
/// `HIPF`, the wrapper's magic.
pub const WRAPPER_MAGIC: u32 = 0x4849_5046;

/// The wrapper that a program registers: magic, version, the bundle's address and a word that the compiler leaves zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrapper {
    /// The wrapper's version; compilers write 1.
    pub version: u32,
    /// The bundle's address in the process.
    pub binary: u64,
}

impl Wrapper {
    /// Size of a wrapper in bytes.
    pub const SIZE: usize = 24;

    /// Reads a wrapper.
    ///
    /// # Errors
    /// [`Error::Truncated`] or [`Error::WrapperMagic`].
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        const WHAT: &str = "fat binary wrapper";
        let bytes = Bytes::new(bytes);
        match bytes.u32(WHAT, 0)? {
            WRAPPER_MAGIC => Ok(Self {
                version: bytes.u32(WHAT, 4)?,
                binary: bytes.u64(WHAT, 8)?,
            }),
            found => Err(Error::WrapperMagic { found }),
        }
    }
}

/// Device code found in a file.
#[derive(Clone, Debug)]
pub struct Image<'a> {
    /// The archive member that holds it.
    pub member: Option<String>,
    /// The section that holds it; `None` when the file (or member) is the image itself.
    pub section: Option<&'a str>,
    /// Where it starts in the file.
    pub offset: u64,
    /// What it is.
    pub contents: Contents<'a>,
}

/// The two forms of device code.
#[derive(Clone, Debug)]
pub enum Contents<'a> {
    /// A bundle of code objects.
    Bundle(Bundle<'a>),
    /// One code object.
    CodeObject(CodeObject<'a>),
}

/// Finds all device code in a file's bytes.
///
/// # Errors
/// [`Error::NothingInside`] when there is none, or what is wrong with what is there.
pub fn find(file: &[u8]) -> Result<Vec<Image<'_>>> {
    let mut images = Vec::new();
    if archive::starts_at(file) {
        for member in archive::members(file)? {
            let mut found = find_in_member(member.data)?;
            for image in &mut found {
                image.member = Some(member.name.clone());
                image.offset += member.offset;
            }
            images.extend(found);
        }
    } else {
        images = find_in_member(file)?;
    }
    if images.is_empty() {
        Err(Error::NothingInside {
            found: Found::new(file),
        })
    } else {
        Ok(images)
    }
}

fn find_in_member(file: &[u8]) -> Result<Vec<Image<'_>>> {
    if Bundle::starts_at(file) {
        return bundles(file, None, 0);
    }
    if !Elf::starts_at(file) {
        return Ok(Vec::new());
    }
    let elf = Elf::parse(file)?;
    if elf.machine == EM_AMDGPU {
        let contents = Contents::CodeObject(CodeObject::parse(file)?);
        return Ok(vec![Image {
            member: None,
            section: None,
            offset: 0,
            contents,
        }]);
    }
    let mut images = Vec::new();
    for section in elf
        .sections
        .iter()
        .filter(|section| section.name == SECTION)
    {
        let data = elf.section_data(section)?;
        if !data.is_empty() {
            images.extend(bundles(data, Some(SECTION), section.offset)?);
        }
    }
    Ok(images)
}

fn bundles<'a>(bytes: &'a [u8], section: Option<&'a str>, start: u64) -> Result<Vec<Image<'a>>> {
    let image = |(offset, bundle)| Image {
        member: None,
        section,
        offset: start + offset,
        contents: Contents::Bundle(bundle),
    };
    Ok(Bundle::parse_all(bytes)?.into_iter().map(image).collect())
}

/// The entry IDs of every bundle in a program or library, in order, reading only headers; empty when it holds none.
///
/// # Errors
/// What is wrong with the ELF file or a bundle's header.
pub fn entry_ids(file: &[u8]) -> Result<Vec<Vec<EntryId>>> {
    let elf = Elf::parse(file)?;
    let mut all = Vec::new();
    for section in elf
        .sections
        .iter()
        .filter(|section| section.name == SECTION)
    {
        all.extend(Bundle::entry_ids_of_all(elf.section_data(section)?)?);
    }
    Ok(all)
}

/// The GPUs that can run code of every bundle: each target that some bundle names, generic ones as the processors they
/// cover, in order of appearance, as far as a device of that target (features left open as
/// [`TargetId::with_device_defaults`] sets them) finds an entry in each bundle.
pub fn shared_targets(bundles: &[Vec<EntryId>]) -> Vec<TargetId> {
    let targets = |ids: &[EntryId]| -> Vec<TargetId> {
        ids.iter()
            .filter(|id| id.is_hip_amdgcn())
            .filter_map(|id| id.target().cloned())
            .collect()
    };
    let bundles: Vec<_> = bundles.iter().map(|ids| targets(ids)).collect();
    let mut shared = Vec::new();
    for candidate in bundles.iter().flatten().flat_map(concrete) {
        let device = candidate.with_device_defaults();
        let runs =
            |targets: &Vec<TargetId>| targets.iter().any(|target| target.fit(&device).is_some());
        if !shared.contains(&candidate) && bundles.iter().all(runs) {
            shared.push(candidate);
        }
    }
    shared
}

/// The target itself, or for a generic one the processors it covers, with its features.
fn concrete(target: &TargetId) -> Vec<TargetId> {
    if !target.known().is_some_and(Processor::is_generic) {
        return vec![target.clone()];
    }
    let covered = PROCESSORS
        .iter()
        .filter(|processor| processor.generic == Some(target.processor.as_str()));
    covered
        .map(|processor| TargetId {
            processor: processor.name.to_owned(),
            ..target.clone()
        })
        .collect()
}

/// A file mapped for reading.
#[derive(Debug)]
pub struct MappedFile {
    map: Option<memmap2::Mmap>,
}

impl MappedFile {
    /// Maps a file. An empty file gives no bytes.
    ///
    /// # Errors
    /// [`Error::File`] when it is no regular file, or cannot be opened or mapped.
    pub fn open(path: &Path) -> Result<Self> {
        let error = |e: std::io::Error| Error::File {
            path: path.display().to_string(),
            reason: e.to_string(),
        };
        // Looked at before it is opened: to open a pipe would wait for somebody who writes to it.
        let metadata = std::fs::metadata(path).map_err(error)?;
        if metadata.is_dir() {
            return Err(error(std::io::ErrorKind::IsADirectory.into()));
        }
        if !metadata.is_file() {
            return Err(error(std::io::Error::other("it is no regular file")));
        }
        let file = std::fs::File::open(path).map_err(error)?;
        let metadata = file.metadata().map_err(error)?;
        if metadata.len() == 0 {
            return Ok(Self { map: None });
        }
        // SAFETY: needed to read large libraries without copying them. The map is private and read-only; a file that
        // another process cuts short meanwhile ends in SIGBUS, as with every mapped library.
        let map = unsafe { memmap2::Mmap::map(&file) }.map_err(error)?;
        Ok(Self { map: Some(map) })
    }

    /// The file's bytes.
    pub fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrappers() {
        let mut bytes = b"FPIH\x01\0\0\0".to_vec();
        bytes.extend(0x1234_5678_9abc_u64.to_le_bytes());
        bytes.extend([0; 8]);
        assert_eq!(
            Wrapper::parse(&bytes),
            Ok(Wrapper {
                version: 1,
                binary: 0x1234_5678_9abc
            })
        );
        assert!(matches!(
            Wrapper::parse(b"KPIH\x01\0\0\0\0\0\0\0\0\0\0\0"),
            Err(Error::WrapperMagic { found: 0x4849_504b })
        ));
        assert!(matches!(
            Wrapper::parse(&bytes[..10]),
            Err(Error::Truncated { .. })
        ));
    }

    #[test]
    fn files_without_device_code_say_so() {
        let error = |bytes: &[u8]| {
            find(bytes)
                .map(|_| ())
                .map_or_else(|e| e.to_string(), |()| "found".into())
        };
        assert!(error(b"#!/bin/sh\n").contains("no offload bundle"));
        assert!(error(b"").contains("found nothing"));
        assert!(error(b"\x7fELF").contains("ELF header"));
    }

    #[test]
    fn shared_targets_are_those_that_find_code_in_every_bundle() {
        let ids = |targets: &[&str]| -> Vec<EntryId> {
            let text = |t: &&str| {
                format!("hipv4-amdgcn-amd-amdhsa--{t}")
                    .parse()
                    .unwrap_or_else(|e: Error| panic!("{e}"))
            };
            targets.iter().map(text).collect()
        };
        let shared = |bundles: &[Vec<EntryId>]| {
            shared_targets(bundles)
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            shared(&[
                ids(&["gfx1030", "gfx90a", "gfx906"]),
                ids(&["gfx906", "gfx1030"])
            ]),
            ["gfx1030", "gfx906"]
        );
        assert_eq!(
            shared(&[ids(&["gfx90a"]), ids(&["gfx90a:xnack+"])]),
            ["gfx90a:xnack+"]
        );
        assert_eq!(shared(&[ids(&["gfx12-generic"])]), ["gfx1200", "gfx1201"]);
        assert_eq!(
            shared(&[ids(&["gfx12-generic"]), ids(&["gfx1201"])]),
            ["gfx1201"]
        );
        assert!(shared(&[ids(&["gfx90a:xnack-"]), ids(&["gfx90a:xnack+"])]).is_empty());
        assert!(shared_targets(&[]).is_empty());
    }
}
