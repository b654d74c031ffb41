//! What was said of the pages of managed memory.
//!
//! Advice and prefetches are for pages: those that a range touches. A query tells what all pages of its range have in common.

use std::{collections::BTreeMap, ops::Range};

use crate::enums::hipInvalidDeviceId;

const PAGE: usize = 4096;

/// What was said of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// It is mostly read.
    pub read_mostly: bool,
    /// Where it should be: a device, or the host.
    pub preferred: i32,
    /// Devices that will use it.
    pub accessed_by: Vec<i32>,
    /// Where it was last moved to.
    pub last_prefetch: i32,
    /// It is coarse-grained.
    pub coarse: bool,
}

impl Default for Advice {
    fn default() -> Self {
        Advice {
            read_mostly: false,
            preferred: hipInvalidDeviceId,
            accessed_by: Vec::new(),
            last_prefetch: hipInvalidDeviceId,
            coarse: false,
        }
    }
}

impl Advice {
    /// What both have.
    fn common(self, other: &Advice) -> Advice {
        let place = |one, other| {
            if one == other {
                one
            } else {
                hipInvalidDeviceId
            }
        };
        Advice {
            read_mostly: self.read_mostly && other.read_mostly,
            preferred: place(self.preferred, other.preferred),
            accessed_by: self
                .accessed_by
                .into_iter()
                .filter(|device| other.accessed_by.contains(device))
                .collect(),
            last_prefetch: place(self.last_prefetch, other.last_prefetch),
            coarse: self.coarse && other.coarse,
        }
    }
}

/// The pages of an allocation. An entry is for the pages from its own to the next entry's; before the first one nothing was said.
#[derive(Debug, Default)]
pub struct Pages(BTreeMap<usize, Advice>);

/// The pages that bytes touch.
fn pages(bytes: Range<usize>) -> Range<usize> {
    bytes.start / PAGE..bytes.end.div_ceil(PAGE)
}

impl Pages {
    /// What was said of a page.
    fn at(&self, page: usize) -> Advice {
        let before = self.0.range(..=page).next_back();
        before.map(|(_, advice)| advice.clone()).unwrap_or_default()
    }

    /// Changes what is said of the pages that bytes touch.
    pub fn change(&mut self, bytes: Range<usize>, change: impl Fn(&mut Advice)) {
        let pages = pages(bytes);
        for edge in [pages.start, pages.end] {
            let advice = self.at(edge);
            self.0.entry(edge).or_insert(advice);
        }
        self.0
            .range_mut(pages)
            .for_each(|(_, advice)| change(advice));
    }

    /// What all pages that bytes touch have in common.
    pub fn common(&self, bytes: Range<usize>) -> Advice {
        let pages = pages(bytes);
        let first = self.at(pages.start);
        self.0
            .range(pages.start..pages.end)
            .fold(first, |common, (_, advice)| common.common(advice))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_tells_what_all_pages_have() {
        let mut all = Pages::default();
        assert_eq!(all.common(0..3 * PAGE), Advice::default());
        // Parts of the first and of the second page: both of them.
        all.change(PAGE / 2..PAGE + 1, |advice| {
            advice.preferred = 1;
            advice.read_mostly = true;
            advice.accessed_by.push(0);
        });
        let both = all.common(0..2 * PAGE);
        assert_eq!((both.preferred, both.read_mostly), (1, true));
        assert_eq!(all.common(0..2 * PAGE + 1), Advice::default());
        assert_eq!(all.common(2 * PAGE..3 * PAGE), Advice::default());
        // Another device joins one of the pages.
        all.change(PAGE..3 * PAGE, |advice| advice.accessed_by.push(1));
        assert_eq!(all.common(0..2 * PAGE).accessed_by, [0]);
        assert_eq!(all.common(PAGE..2 * PAGE).accessed_by, [0, 1]);
        assert_eq!(all.common(PAGE..3 * PAGE).accessed_by, [1]);
        assert_eq!(all.common(PAGE..3 * PAGE).preferred, hipInvalidDeviceId);
    }
}
