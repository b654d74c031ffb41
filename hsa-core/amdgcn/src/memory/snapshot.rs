//! An immutable, sorted set of mappings, in chunks that successive snapshots share, so that a change copies one chunk and
//! the list of chunks rather than everything.

use std::sync::Arc;

use super::Mapping;

/// Most mappings in a chunk; a fuller one is split.
const CHUNK: usize = if cfg!(test) { 4 } else { 256 };

/// The mappings of one moment, sorted by base. No chunk is empty.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    /// Base of the first mapping of each chunk.
    bases: Vec<u64>,
    chunks: Vec<Arc<[Mapping]>>,
}

impl Snapshot {
    /// Number of mappings.
    pub(super) fn len(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.len()).sum()
    }

    /// Chunk that would hold a base, and the position in it of the first mapping that begins after the base.
    fn position(&self, base: u64) -> (usize, usize) {
        let chunk = self
            .bases
            .partition_point(|&first| first <= base)
            .saturating_sub(1);
        let at = self
            .chunks
            .get(chunk)
            .map_or(0, |mappings| mappings.partition_point(|m| m.base <= base));
        (chunk, at)
    }

    /// All mappings, by base.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Mapping> {
        self.chunks.iter().flat_map(|chunk| chunk.iter())
    }

    /// The mapping that holds an address.
    pub(crate) fn find(&self, address: u64) -> Option<&Mapping> {
        let (chunk, at) = self.position(address);
        let mapping = self.chunks.get(chunk)?.get(at.checked_sub(1)?)?;
        (address - mapping.base < mapping.len).then_some(mapping)
    }

    /// The last mapping that begins at or before an address, and the first after it.
    pub(super) fn around(&self, address: u64) -> (Option<Mapping>, Option<Mapping>) {
        let (chunk, at) = self.position(address);
        let Some(mappings) = self.chunks.get(chunk) else {
            return (None, None);
        };
        // The address may lie before the first mapping of all; otherwise the chunk begins at or before it.
        let before = at.checked_sub(1).map(|at| mappings[at]);
        let after = mappings
            .get(at)
            .or_else(|| self.chunks.get(chunk + 1).map(|next| &next[0]))
            .copied();
        (before, after)
    }

    /// A snapshot with one mapping more; the overlapping mapping if there is one.
    pub(super) fn with(&self, mapping: Mapping) -> Result<Snapshot, Mapping> {
        let (before, after) = self.around(mapping.base);
        if let Some(before) = before.filter(|b| mapping.base - b.base < b.len) {
            return Err(before);
        }
        if let Some(after) = after.filter(|a| a.base - mapping.base < mapping.len) {
            return Err(after);
        }
        let (chunk, at) = self.position(mapping.base);
        let mut next = Snapshot {
            bases: self.bases.clone(),
            chunks: self.chunks.clone(),
        };
        if next.chunks.is_empty() {
            next.chunks.push(Arc::new([mapping]));
            next.bases.push(mapping.base);
            return Ok(next);
        }
        let mut mappings = Vec::with_capacity(next.chunks[chunk].len() + 1);
        mappings.extend_from_slice(&next.chunks[chunk][..at]);
        mappings.push(mapping);
        mappings.extend_from_slice(&next.chunks[chunk][at..]);
        if mappings.len() > CHUNK {
            let upper = mappings.split_off(mappings.len() / 2);
            next.bases.insert(chunk + 1, upper[0].base);
            next.chunks.insert(chunk + 1, upper.into());
        }
        next.bases[chunk] = mappings[0].base;
        next.chunks[chunk] = mappings.into();
        Ok(next)
    }

    /// A snapshot without the mapping that begins at `base`, and that mapping.
    pub(super) fn without(&self, base: u64) -> Option<(Snapshot, Mapping)> {
        let (chunk, at) = self.position(base);
        let at = at.checked_sub(1)?;
        let removed = *self.chunks.get(chunk)?.get(at).filter(|m| m.base == base)?;
        let mut next = Snapshot {
            bases: self.bases.clone(),
            chunks: self.chunks.clone(),
        };
        if next.chunks[chunk].len() == 1 {
            next.chunks.remove(chunk);
            next.bases.remove(chunk);
        } else {
            let mut mappings = next.chunks[chunk].to_vec();
            mappings.remove(at);
            next.bases[chunk] = mappings[0].base;
            next.chunks[chunk] = mappings.into();
        }
        Some((next, removed))
    }
}
