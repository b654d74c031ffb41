//! Offload bundles: the table of code objects that `hipcc` puts into a program's `.hip_fatbin` section.
//!
//! A plain bundle is `__CLANG_OFFLOAD_BUNDLE__`, a u64 count, and per entry u64 offset (from the bundle's start), u64
//! size, u64 ID length and the ID. A compressed bundle (`CCOB`) holds a plain one. A section may hold several bundles,
//! padded with zeros. Source: LLVM, "Clang Offload Bundler".
//!
//! A [`Bundle`] has checked ranges: every entry lies inside the bytes, none overlaps another or the table. The length of
//! a bundle follows from its header, so it can be parsed in place, from a slice that ends where the mapping ends.

use crate::bytes::Bytes;
use crate::compressed::{self, Header};
use crate::entry_id::EntryId;
use crate::error::{Error, Found, Result};
use crate::target_id::{Fit, TargetId};
use std::borrow::Cow;
use std::ops::Range;

/// The first bytes of a plain bundle.
pub const MAGIC: &[u8; 24] = b"__CLANG_OFFLOAD_BUNDLE__";

/// How much of a compressed bundle [`Bundle::entry_ids`] unpacks to read the table.
const TABLE_START: u64 = 64 << 10;

/// A parsed bundle.
#[derive(Clone, Debug)]
pub struct Bundle<'a> {
    data: Cow<'a, [u8]>,
    entries: Vec<Slot>,
    len: u64,
    compression: Option<Header>,
}

#[derive(Clone, Debug)]
struct Slot {
    id: EntryId,
    range: Range<usize>,
}

/// One entry of a bundle.
#[derive(Clone, Copy, Debug)]
pub struct BundleEntry<'b> {
    /// What the entry is for.
    pub id: &'b EntryId,
    /// Offset from the start of the (unpacked) bundle in bytes.
    pub offset: u64,
    /// The entry's bytes, for amdgcn an ELF code object.
    pub data: &'b [u8],
}

impl<'a> Bundle<'a> {
    /// Whether `bytes` start like a bundle, plain or compressed.
    pub fn starts_at(bytes: &[u8]) -> bool {
        bytes.starts_with(MAGIC) || bytes.starts_with(compressed::MAGIC)
    }

    /// Parses the bundle at the start of `bytes`; what follows it is ignored. A compressed bundle is unpacked, up to
    /// [`compressed::DEFAULT_LIMIT`].
    ///
    /// # Errors
    /// [`Error::NotABundle`], or what is wrong with the header, an entry or the packed data.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        Self::parse_with_limit(bytes, compressed::DEFAULT_LIMIT)
    }

    /// As [`Self::parse`], unpacking to at most `limit` bytes.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_with_limit(bytes: &'a [u8], limit: u64) -> Result<Self> {
        if bytes.starts_with(compressed::MAGIC) {
            let (header, data, len) = compressed::unpack(bytes, limit)?;
            let (entries, _) = parse_plain(&data)?;
            return Ok(Self {
                data: Cow::Owned(data),
                entries,
                len,
                compression: Some(header),
            });
        }
        let (entries, end) = parse_plain(bytes)?;
        // `end` is at most `bytes.len()`: the table and every entry were found inside.
        Ok(Self {
            data: Cow::Borrowed(&bytes[..end]),
            entries,
            len: end as u64,
            compression: None,
        })
    }

    /// Parses all bundles of a section: one after the other, with zeros between and after them. Gives each with its
    /// offset in `bytes`.
    ///
    /// # Errors
    /// As [`Self::parse`], with offsets inside each bundle; [`Error::AfterBundle`] for anything else between bundles.
    pub fn parse_all(bytes: &'a [u8]) -> Result<Vec<(u64, Self)>> {
        let mut bundles = Vec::new();
        let mut at = 0;
        loop {
            let rest = &bytes[at..];
            if !bundles.is_empty() && !Self::starts_at(rest) {
                return Err(Error::AfterBundle {
                    offset: at as u64,
                    found: Found::new(rest),
                });
            }
            let bundle = Self::parse(rest)?;
            // A bundle is at least its magic long, and was found inside `rest`.
            let end = at + bundle.len as usize;
            bundles.push((at as u64, bundle));
            match bytes[end..].iter().position(|b| *b != 0) {
                Some(padding) => at = end + padding,
                None => return Ok(bundles),
            }
        }
    }

    /// Reads only the entry IDs of the bundle at the start of `bytes`, without unpacking its code and without checking
    /// where the code lies.
    ///
    /// # Errors
    /// [`Error::NotABundle`], or what is wrong with the header or an ID.
    pub fn entry_ids(bytes: &[u8]) -> Result<Vec<EntryId>> {
        let start;
        let table = if bytes.starts_with(compressed::MAGIC) {
            start = compressed::unpack_start(bytes, TABLE_START)?;
            &start
        } else {
            bytes
        };
        let mut ids = Vec::new();
        read_table(table, |id, _, _| {
            ids.push(id);
            Ok(())
        })?;
        Ok(ids)
    }

    /// As [`Self::entry_ids`], for all bundles of a section. Only a compressed bundle with header version 1 is unpacked,
    /// since nothing else says where it ends.
    ///
    /// # Errors
    /// As [`Self::entry_ids`] and [`Self::parse_all`].
    pub fn entry_ids_of_all(bytes: &[u8]) -> Result<Vec<Vec<EntryId>>> {
        let mut all = Vec::new();
        let mut at = bytes.iter().position(|b| *b != 0);
        while let Some(start) = at {
            let rest = &bytes[start..];
            if !all.is_empty() && !Self::starts_at(rest) {
                return Err(Error::AfterBundle {
                    offset: start as u64,
                    found: Found::new(rest),
                });
            }
            let total = if rest.starts_with(compressed::MAGIC) {
                Header::parse(rest)?.total_size
            } else {
                None
            };
            let len = match total {
                Some(total) => {
                    all.push(Self::entry_ids(rest)?);
                    usize::try_from(total).unwrap_or(usize::MAX)
                }
                None => {
                    let bundle = Bundle::parse(rest)?;
                    all.push(bundle.entries.iter().map(|slot| slot.id.clone()).collect());
                    // The bundle was found inside `rest`.
                    bundle.len as usize
                }
            };
            // A stated total may lie beyond the end: then nothing follows.
            let after = rest.get(len..).unwrap_or_default();
            at = after
                .iter()
                .position(|b| *b != 0)
                .map(|padding| start + len + padding);
        }
        Ok(all)
    }

    /// The entries in the bundle's order.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = BundleEntry<'_>> {
        self.entries.iter().map(|slot| self.entry(slot))
    }

    /// The entry of the given position.
    pub fn get(&self, index: usize) -> Option<BundleEntry<'_>> {
        self.entries.get(index).map(|slot| self.entry(slot))
    }

    fn entry<'b>(&'b self, slot: &'b Slot) -> BundleEntry<'b> {
        BundleEntry {
            id: &slot.id,
            offset: slot.range.start as u64,
            data: &self.data[slot.range.clone()],
        }
    }

    /// Bytes that the bundle takes up where it was parsed; for a compressed bundle, packed.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the bundle has no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The header of a compressed bundle.
    pub fn compression(&self) -> Option<&Header> {
        self.compression.as_ref()
    }

    /// The entry that `device` should run: the first that fits its processor, in the bundle's order as in the HIP
    /// runtime; else the first made for a generic processor that covers it. Empty entries are passed over.
    pub fn select(&self, device: &TargetId) -> Option<BundleEntry<'_>> {
        let code = |wanted: fn(Fit) -> bool| {
            self.entries().find(|entry| {
                let fit = entry.id.target().and_then(|target| target.fit(device));
                entry.id.is_hip_amdgcn() && !entry.data.is_empty() && fit.is_some_and(wanted)
            })
        };
        code(|fit| fit != Fit::Generic).or_else(|| code(|fit| fit == Fit::Generic))
    }
}

/// Walks the entry table at the start of `bytes`: ID, offset and size of each entry. Gives where the table ends.
fn read_table(bytes: &[u8], mut entry: impl FnMut(EntryId, u64, u64) -> Result<()>) -> Result<u64> {
    const WHAT: &str = "bundle entry table";
    if !bytes.starts_with(MAGIC) {
        return Err(Error::NotABundle {
            offset: 0,
            found: Found::new(bytes),
        });
    }
    let bytes = Bytes::new(bytes);
    let mut at = MAGIC.len() as u64;
    let count = bytes.u64(WHAT, at)?;
    at += 8;
    // A lying count ends at the first entry that does not fit the bytes.
    for index in 0..count {
        let (offset, size, id_len) = (
            bytes.u64(WHAT, at)?,
            bytes.u64(WHAT, at + 8)?,
            bytes.u64(WHAT, at + 16)?,
        );
        let id = bytes.slice("bundle entry ID", at + 24, id_len)?;
        let id = std::str::from_utf8(id).map_err(|_| Error::EntryIdText {
            index: index as usize,
            offset: at + 24,
        })?;
        entry(id.parse()?, offset, size)?;
        at += 24 + id_len;
    }
    Ok(at)
}

/// Entries of the plain bundle at the start of `bytes`, and where the bundle ends.
fn parse_plain(bytes: &[u8]) -> Result<(Vec<Slot>, usize)> {
    let available = bytes.len() as u64;
    let mut entries = Vec::new();
    let table_end = read_table(bytes, |id, offset, size| {
        match offset.checked_add(size) {
            Some(end) if end <= available => {
                entries.push(Slot {
                    id,
                    range: offset as usize..end as usize,
                });
                Ok(())
            }
            // An empty entry may point anywhere.
            _ if size == 0 => {
                entries.push(Slot { id, range: 0..0 });
                Ok(())
            }
            _ => Err(Error::EntryRange {
                index: entries.len(),
                id: id.to_string(),
                offset,
                size,
                available,
            }),
        }
    })? as usize;
    let mut order: Vec<&Slot> = entries
        .iter()
        .filter(|slot| !slot.range.is_empty())
        .collect();
    order.sort_by_key(|slot| slot.range.start);
    let (mut end, mut before) = (table_end, None::<&Slot>);
    for slot in order {
        if slot.range.start < end {
            let other = before.map_or_else(
                || "the entry table".to_owned(),
                |slot| format!("entry \"{}\"", slot.id),
            );
            let (offset, size) = (slot.range.start as u64, slot.range.len() as u64);
            return Err(Error::EntryOverlap {
                id: slot.id.to_string(),
                offset,
                size,
                other,
            });
        }
        (end, before) = (slot.range.end, Some(slot));
    }
    Ok((entries, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plain bundle with the given entries, each aligned to 64 bytes.
    fn build(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut offset: usize = 32 + entries.iter().map(|(id, _)| 24 + id.len()).sum::<usize>();
        let mut out = MAGIC.to_vec();
        out.extend((entries.len() as u64).to_le_bytes());
        let mut payload = Vec::new();
        for (id, data) in entries {
            let padding = offset.next_multiple_of(64) - offset;
            payload.extend(vec![0; padding]);
            offset += padding;
            out.extend((offset as u64).to_le_bytes());
            out.extend((data.len() as u64).to_le_bytes());
            out.extend((id.len() as u64).to_le_bytes());
            out.extend(id.bytes());
            payload.extend(*data);
            offset += data.len();
        }
        out.extend(payload);
        out
    }

    const HOST: &str = "host-x86_64-unknown-linux--";
    const GFX90A: &str = "hipv4-amdgcn-amd-amdhsa--gfx90a";
    const XNACK: &str = "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-";
    const GENERIC: &str = "hipv4-amdgcn-amd-amdhsa--gfx10-3-generic";

    #[test]
    fn entries_come_in_order_with_their_data() {
        let bytes = build(&[(HOST, b""), (GFX90A, b"one"), (GENERIC, b"three")]);
        let bundle = Bundle::parse(&bytes).unwrap_or_else(|e| panic!("{e}"));
        let entries: Vec<_> = bundle.entries().map(|e| (e.id.as_str(), e.data)).collect();
        assert_eq!(
            entries,
            [(HOST, &b""[..]), (GFX90A, b"one"), (GENERIC, b"three")]
        );
        assert_eq!(bundle.len(), bytes.len() as u64);
        assert!(
            Bundle::entry_ids(&bytes).is_ok_and(|ids| ids.len() == 3 && ids[2].as_str() == GENERIC)
        );
    }

    #[test]
    fn bytes_after_the_bundle_do_not_matter() {
        let mut bytes = build(&[(GFX90A, b"one")]);
        let len = bytes.len();
        bytes.extend([0xff; 1000]);
        assert!(Bundle::parse(&bytes).is_ok_and(|bundle| bundle.len() == len as u64));
    }

    #[test]
    fn selection_takes_the_first_that_fits_and_generic_last() {
        let bytes = build(&[
            (HOST, b""),
            (GENERIC, b"generic"),
            (XNACK, b"xnack"),
            (GFX90A, b"any"),
        ]);
        let bundle = Bundle::parse(&bytes).unwrap_or_else(|e| panic!("{e}"));
        let select = |id: &str| {
            id.parse()
                .ok()
                .and_then(|id| bundle.select(&id))
                .map(|e| e.data)
        };
        assert_eq!(select("gfx90a:sramecc+:xnack-"), Some(&b"xnack"[..]));
        assert_eq!(select("gfx90a:sramecc+:xnack+"), Some(&b"any"[..]));
        assert_eq!(select("gfx1031"), Some(&b"generic"[..]));
        assert_eq!(select("gfx906:sramecc+:xnack-"), None);
    }

    #[test]
    fn several_bundles_in_one_section() {
        let mut bytes = build(&[(GFX90A, b"one")]);
        bytes.resize(4096, 0);
        bytes.extend(build(&[(XNACK, b"two")]));
        bytes.resize(8192 + 5, 0);
        let all = Bundle::parse_all(&bytes).unwrap_or_else(|e| panic!("{e}"));
        let data: Vec<_> = all
            .iter()
            .map(|(at, b)| (*at, b.get(0).map(|e| e.data)))
            .collect();
        assert_eq!(data, [(0, Some(&b"one"[..])), (4096, Some(b"two"))]);
        bytes.push(7);
        assert!(matches!(
            Bundle::parse_all(&bytes),
            Err(Error::AfterBundle { offset: 8197, .. })
        ));
    }

    #[test]
    fn lying_tables_are_refused() {
        let good = build(&[(GFX90A, b"one"), (XNACK, b"two")]);
        let with = |at: usize, value: u64| {
            let mut bytes = good.clone();
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
            Bundle::parse(&bytes).map(|_| ()).map_err(|e| e.to_string())
        };
        let second = 32 + 24 + GFX90A.len();
        assert_eq!(with(24, 2), Ok(()));
        assert!(with(24, u64::MAX).is_err());
        assert!(with(24, 1 << 32).is_err());
        assert!(with(32, u64::MAX).is_err_and(|e| e.contains("bundle entry 0")));
        assert!(with(40, 1 << 40).is_err_and(|e| e.contains("1099511627776 bytes long")));
        assert!(with(32, 8).is_err_and(|e| e.contains("overlaps the entry table")));
        let first_offset = u64::from_le_bytes(good[32..40].try_into().unwrap_or_default());
        assert!(with(second, first_offset).is_err_and(|e| e.contains("overlaps entry")));
        assert!(with(48, u64::MAX).is_err_and(|e| e.contains("bundle entry ID at offset 0x38")));
        assert!(
            Bundle::parse(b"\x7fELF")
                .is_err_and(|e| e.to_string().contains("found bytes 7f 45 4c 46"))
        );
    }

    #[test]
    fn every_truncation_is_an_error() {
        let good = build(&[(HOST, b""), (GFX90A, b"one")]);
        for len in 0..good.len() {
            assert!(
                Bundle::parse(&good[..len]).is_err(),
                "{len} bytes were taken"
            );
        }
    }
}
