//! How much of the time something is at work.

use super::Span;

/// What spans cover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Coverage {
    /// Nanoseconds in at least one of them.
    pub(super) busy: u64,
    /// Nanoseconds in more than one.
    pub(super) overlap: u64,
    /// The sum of their lengths.
    pub(super) work: u64,
}

/// What spans of any order cover.
pub(super) fn coverage(spans: &[Span]) -> Coverage {
    let long = || spans.iter().filter(|span| span.end > span.start);
    let mut starts: Vec<u64> = long().map(|span| span.start).collect();
    let mut ends: Vec<u64> = long().map(|span| span.end).collect();
    starts.sort_unstable();
    ends.sort_unstable();
    let mut covered = Coverage {
        work: long().map(|span| span.end - span.start).sum(),
        ..Coverage::default()
    };
    let (mut depth, mut since) = (0_u64, 0);
    let mut starts = starts.into_iter().peekable();
    for end in ends {
        // At one moment the order of ends and starts does not matter: no time passes between them.
        while let Some(start) = starts.next_if(|start| *start < end) {
            covered.pass(depth, start - since);
            (depth, since) = (depth + 1, start);
        }
        covered.pass(depth, end - since);
        (depth, since) = (depth - 1, end);
    }
    covered
}

impl Coverage {
    fn pass(&mut self, depth: u64, time: u64) {
        if depth > 0 {
            self.busy += time;
        }
        if depth > 1 {
            self.overlap += time;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_overlaps_and_touching_spans_are_told_apart() {
        let spans = [(10, 20), (30, 50), (40, 60), (40, 45), (60, 70), (5, 5)];
        let covered = coverage(&spans.map(|(start, end)| Span { start, end }));
        assert_eq!(
            covered,
            Coverage {
                busy: 50,
                overlap: 10,
                work: 65
            }
        );
        assert_eq!(coverage(&[]), Coverage::default());
    }
}
