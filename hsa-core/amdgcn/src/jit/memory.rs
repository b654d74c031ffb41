//! Executable pages: written once, then executable and no longer writable.

use std::io;

use memmap2::{Mmap, MmapMut};

/// Pages that are being written.
#[derive(Debug)]
pub struct WritablePages(MmapMut);

/// Pages of code.
#[derive(Debug)]
pub struct CodePages(#[expect(dead_code, reason = "keeps the mapping")] Mmap);

impl CodePages {
    /// Writable pages for `bytes` of code, at the address where the code will stay.
    pub fn reserve(bytes: usize) -> io::Result<WritablePages> {
        Ok(WritablePages(MmapMut::map_anon(bytes)?))
    }
}

impl WritablePages {
    /// Address of the first byte.
    pub fn address(&self) -> u64 {
        self.0.as_ptr().addr() as u64
    }

    /// The bytes.
    pub fn bytes(&mut self) -> &mut [u8] {
        &mut self.0
    }

    /// Makes the code executable.
    pub fn finish(self) -> io::Result<CodePages> {
        Ok(CodePages(self.0.make_exec()?))
    }
}
