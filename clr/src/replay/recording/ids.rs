//! From a command's number to its place.
//!
//! Numbers are dense within a thread, so that a row for each thread does; a damaged file's numbers may be anything, and go to a map once the
//! rows have more places than the file can have told of.

use std::collections::HashMap;

use crate::trace::record::COUNT_BITS;

/// See the module text.
pub(super) struct Ids {
    /// For each thread the places by number, plus 1; 0: none.
    rows: Vec<Vec<u32>>,
    others: HashMap<u64, u32>,
    /// Places that the rows may still get.
    room: u64,
}

impl Ids {
    /// For a file that tells of no more numbers than `most`.
    pub(super) fn new(most: u64) -> Self {
        Self {
            rows: Vec::new(),
            others: HashMap::new(),
            room: most,
        }
    }

    /// The place of a number.
    pub(super) fn get(&self, id: u64) -> Option<u32> {
        let (thread, count) = split(id);
        let place = self.rows.get(thread).and_then(|row| row.get(count));
        match place {
            Some(place) if *place != 0 => Some(place - 1),
            _ if self.others.is_empty() => None,
            _ => self.others.get(&id).copied(),
        }
    }

    /// Gives a number a place.
    pub(super) fn insert(&mut self, id: u64, place: u32) {
        let (thread, count) = split(id);
        if thread >= self.rows.len() && thread < 1 << 16 {
            self.rows.resize_with(thread + 1, Vec::new);
        }
        if let Some(row) = self.rows.get_mut(thread) {
            let more = (count as u64 + 1).saturating_sub(row.len() as u64);
            if more <= self.room {
                self.room -= more;
                if more > 0 {
                    row.resize(count + 1, 0);
                }
                row[count] = place + 1;
                return;
            }
        }
        self.others.insert(id, place);
    }
}

fn split(id: u64) -> (usize, usize) {
    (
        (id >> COUNT_BITS) as usize,
        (id & ((1 << COUNT_BITS) - 1)) as usize,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_numbers_have_rows_and_wild_ones_a_map() {
        let mut ids = Ids::new(100);
        let of = |thread: u64, count: u64| thread << COUNT_BITS | count;
        for count in 1..40 {
            ids.insert(of(2, count), count as u32);
        }
        for (id, place) in [(of(3, 1 << 30), 7), (of(1 << 20, 1), 8), (u64::MAX, 9)] {
            assert_eq!(ids.get(id), None);
            ids.insert(id, place);
            assert_eq!(ids.get(id), Some(place));
        }
        assert_eq!(ids.get(of(2, 39)), Some(39));
        assert_eq!(ids.get(of(2, 40)), None);
        assert_eq!(ids.get(0), None);
        assert_eq!(ids.others.len(), 3);
    }
}
