//! Bounded little-endian reads. Everything that this crate reads from a file goes through [`Bytes`], which never panics
//! and never reads outside the slice; a read that does not fit says what was being read and where.

use crate::error::{Error, Result};

/// A slice with its reads, and a name for what it holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes<'a> {
    data: &'a [u8],
}

impl<'a> Bytes<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Self {
        Self { data }
    }

    pub(crate) fn all(self) -> &'a [u8] {
        self.data
    }

    pub(crate) fn len(self) -> u64 {
        self.data.len() as u64
    }

    pub(crate) fn slice(self, what: &'static str, offset: u64, size: u64) -> Result<&'a [u8]> {
        let truncated = || Error::Truncated {
            what,
            offset,
            needed: size,
            available: self.len().saturating_sub(offset),
        };
        let end = offset.checked_add(size).ok_or_else(truncated)?;
        if end > self.len() {
            return Err(truncated());
        }
        // Both ends are at most `data.len()`, so they fit usize.
        self.data
            .get(offset as usize..end as usize)
            .ok_or_else(truncated)
    }

    fn array<const N: usize>(self, what: &'static str, offset: u64) -> Result<[u8; N]> {
        let slice = self.slice(what, offset, N as u64)?;
        let mut array = [0; N];
        array.copy_from_slice(slice);
        Ok(array)
    }

    pub(crate) fn u8(self, what: &'static str, offset: u64) -> Result<u8> {
        Ok(self.array::<1>(what, offset)?[0])
    }

    pub(crate) fn u16(self, what: &'static str, offset: u64) -> Result<u16> {
        self.array(what, offset).map(u16::from_le_bytes)
    }

    pub(crate) fn u32(self, what: &'static str, offset: u64) -> Result<u32> {
        self.array(what, offset).map(u32::from_le_bytes)
    }

    pub(crate) fn u64(self, what: &'static str, offset: u64) -> Result<u64> {
        self.array(what, offset).map(u64::from_le_bytes)
    }

    /// The bytes up to the next NUL, without it.
    pub(crate) fn c_str(self, what: &'static str, offset: u64) -> Result<&'a [u8]> {
        let rest = self.slice(what, offset, self.len().saturating_sub(offset))?;
        let end = rest.iter().position(|b| *b == 0).ok_or(Error::Malformed {
            what,
            offset,
            reason: "a string has no end",
        })?;
        Ok(&rest[..end])
    }
}
