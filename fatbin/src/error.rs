//! What can be wrong with a bundle, an ELF file or a code object: one variant per cause, with the place where it was found.
//!
//! Offsets count from the start of the bytes that the failing function was given. No function of this crate panics on
//! any input; whatever cannot be read ends here.

use std::fmt;

/// The first bytes of something that was not what was expected, printed as text where they are text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Found {
    bytes: [u8; 8],
    len: u8,
}

impl Found {
    /// Takes up to eight bytes from the start of `bytes`.
    pub fn new(bytes: &[u8]) -> Self {
        let len = bytes.len().min(8);
        let mut found = Self {
            bytes: [0; 8],
            len: len as u8,
        };
        found.bytes[..len].copy_from_slice(&bytes[..len]);
        found
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.bytes();
        if bytes.is_empty() {
            return f.write_str("nothing");
        }
        if bytes.iter().all(|b| b.is_ascii_graphic() || *b == b' ') {
            return write!(f, "\"{}\"", String::from_utf8_lossy(bytes));
        }
        f.write_str("bytes")?;
        bytes.iter().try_for_each(|b| write!(f, " {b:02x}"))
    }
}

impl fmt::Debug for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why bytes could not be read as a bundle, an ELF file or a code object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A structure reaches past the end of the bytes.
    #[error("{what} at offset {offset:#x} needs {needed} bytes, but only {available} are there")]
    Truncated {
        /// What was being read.
        what: &'static str,
        /// Where it starts.
        offset: u64,
        /// How long it says it is.
        needed: u64,
        /// How many bytes are left there.
        available: u64,
    },
    /// Neither of the two bundle magics.
    #[error("no offload bundle at offset {offset:#x}: found {found}")]
    NotABundle {
        /// Where a bundle was expected.
        offset: u64,
        /// What stands there.
        found: Found,
    },
    /// A `CCOB` header version that is not 1, 2 or 3.
    #[error(
        "compressed bundle at offset {offset:#x} has header version {version}; 1, 2 and 3 are known"
    )]
    BundleVersion {
        /// Start of the header.
        offset: u64,
        /// The version found.
        version: u16,
    },
    /// A `CCOB` compression method that is neither zlib (0) nor zstd (1).
    #[error(
        "compressed bundle at offset {offset:#x} uses compression method {method}; 0 (zlib) and 1 (zstd) are known"
    )]
    CompressionMethod {
        /// Start of the header.
        offset: u64,
        /// The method found.
        method: u16,
    },
    /// A `CCOB` total size that is smaller than its own header.
    #[error(
        "compressed bundle at offset {offset:#x} says it is {total} bytes long in total, less than its header"
    )]
    BundleSize {
        /// Start of the header.
        offset: u64,
        /// The total size found.
        total: u64,
    },
    /// A compressed bundle says it unpacks to more than allowed.
    #[error(
        "compressed bundle at offset {offset:#x} unpacks to {size} bytes, more than the limit of {limit}"
    )]
    TooLarge {
        /// Start of the header.
        offset: u64,
        /// The size the header states.
        size: u64,
        /// The limit in force.
        limit: u64,
    },
    /// The packed data does not unpack.
    #[error("{method} data of the compressed bundle at offset {offset:#x} is damaged: {reason}")]
    Decompress {
        /// Start of the packed data.
        offset: u64,
        /// `zlib` or `zstd`.
        method: &'static str,
        /// What the decompressor said.
        reason: String,
    },
    /// The unpacked size is not the one in the header.
    #[error(
        "compressed bundle at offset {offset:#x} should unpack to {expected} bytes, but gave {found}"
    )]
    UnpackedSize {
        /// Start of the header.
        offset: u64,
        /// The size in the header.
        expected: u64,
        /// The size found; when the data gave more than expected, the first size above it.
        found: u64,
    },
    /// The hash in the header is not the hash of the unpacked data.
    #[error(
        "compressed bundle at offset {offset:#x} has hash {expected:016x}, but its unpacked data has {found:016x}"
    )]
    Hash {
        /// Start of the header.
        offset: u64,
        /// The hash in the header.
        expected: u64,
        /// The hash of the data.
        found: u64,
    },
    /// An entry's data reaches past the end of the bundle's bytes.
    #[error(
        "bundle entry {index} \"{id}\" lies at {offset:#x}, {size} bytes long; the bundle holds {available} bytes"
    )]
    EntryRange {
        /// Position in the entry table.
        index: usize,
        /// The entry's ID.
        id: String,
        /// Offset from the start of the bundle.
        offset: u64,
        /// Size in bytes.
        size: u64,
        /// Bytes of the bundle that exist.
        available: u64,
    },
    /// Two entries share bytes, or an entry covers the entry table.
    #[error("bundle entry \"{id}\" at {offset:#x}, {size} bytes long, overlaps {other}")]
    EntryOverlap {
        /// The later entry's ID.
        id: String,
        /// Its offset from the start of the bundle.
        offset: u64,
        /// Its size in bytes.
        size: u64,
        /// What it overlaps.
        other: String,
    },
    /// An entry ID that is not UTF-8.
    #[error("the ID of bundle entry {index} at offset {offset:#x} is not text")]
    EntryIdText {
        /// Position in the entry table.
        index: usize,
        /// Where the ID starts.
        offset: u64,
    },
    /// Bytes between or after bundles that are neither padding nor a bundle.
    #[error("unknown data after the bundle, at offset {offset:#x}: found {found}")]
    AfterBundle {
        /// Where the data starts.
        offset: u64,
        /// What stands there.
        found: Found,
    },
    /// A target ID that does not follow `processor[:sramecc(+|-)][:xnack(+|-)]`.
    #[error("\"{text}\" is no target ID: {reason}")]
    TargetId {
        /// The text.
        text: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// An entry ID that does not follow `kind-triple-target`.
    #[error("\"{text}\" is no bundle entry ID: {reason}")]
    EntryId {
        /// The text.
        text: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Not an ELF file.
    #[error("not an ELF file: found {found} at offset 0")]
    NotElf {
        /// What stands there.
        found: Found,
    },
    /// An ELF header field with a value that this reader does not take.
    #[error("ELF {field} is {found}; {expected} is expected")]
    ElfHeader {
        /// The field.
        field: &'static str,
        /// The value found.
        found: u64,
        /// What was expected.
        expected: &'static str,
    },
    /// `e_flags` names a machine that is not in the table.
    #[error("ELF e_flags {flags:#x} name AMDGPU machine {machine:#x}, which is unknown")]
    UnknownMachine {
        /// `e_flags`.
        flags: u32,
        /// The machine field.
        machine: u32,
    },
    /// A part of an ELF file whose sizes contradict each other.
    #[error("{what} at offset {offset:#x} is malformed: {reason}")]
    Malformed {
        /// Which part.
        what: &'static str,
        /// Where it starts.
        offset: u64,
        /// What is wrong.
        reason: &'static str,
    },
    /// Two loadable segments share addresses.
    #[error("loadable segments {first} and {second} overlap at address {address:#x}")]
    SegmentOverlap {
        /// Program header index of the lower one.
        first: usize,
        /// Program header index of the upper one.
        second: usize,
        /// The first shared address.
        address: u64,
    },
    /// The code object has no metadata note.
    #[error("the code object has no AMDGPU metadata note")]
    NoMetadata,
    /// A metadata note that is not valid MessagePack, or nests too deeply.
    #[error("metadata note, byte {offset:#x}: {reason}")]
    MessagePack {
        /// Offset inside the note's description.
        offset: u64,
        /// What is wrong.
        reason: &'static str,
    },
    /// A code object v2 metadata note that is not the YAML that LLVM writes.
    #[error("code object v2 metadata, line {line}: {reason}")]
    Yaml {
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        reason: &'static str,
    },
    /// A metadata field that is missing or has the wrong type.
    #[error("metadata {path}: {reason}")]
    Metadata {
        /// The field, as `amdhsa.kernels[2].args[0].size`.
        path: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// A kernel of the metadata has no kernel descriptor of 64 bytes in the code object.
    #[error("kernel \"{kernel}\": {reason}")]
    KernelDescriptor {
        /// The kernel's descriptor symbol.
        kernel: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// A fat binary wrapper without the HIP magic.
    #[error("no HIP fat binary wrapper: magic is {found:#010x}, expected 0x48495046 (\"HIPF\")")]
    WrapperMagic {
        /// The magic found.
        found: u32,
    },
    /// A file with neither bundle nor code object in it.
    #[error(
        "no offload bundle and no code object in it: found {found} at offset 0, and no .hip_fatbin section"
    )]
    NothingInside {
        /// What the file starts with.
        found: Found,
    },
    /// A file could not be opened or mapped.
    #[error("{path}: {reason}")]
    File {
        /// The path as given.
        path: String,
        /// What the system said.
        reason: String,
    },
}
