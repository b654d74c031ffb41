//! The coverage listing: every operation that the tables of a level have, by encoding.
//!
//! The engine joins it with what its lowering takes, so that a report can say which operations of a target run.

use super::op::Op;
use super::table::{Encoding, Level, rows_of};

/// One line of the listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Entry {
    /// Table of the operation. VOP1, VOP2 and VOPC stand for their VOP3 forms too.
    pub encoding: Encoding,
    /// Opcode number within the encoding.
    pub code: u16,
    /// The operation.
    pub op: Op,
}

/// All operations of a level, by encoding and opcode number.
pub fn operations(level: Level) -> Vec<Entry> {
    let mut entries: Vec<Entry> = rows_of(level)
        .map(|(encoding, row, code)| Entry {
            encoding,
            code,
            op: row.op,
        })
        .collect();
    entries.sort();
    entries.dedup();
    entries
}

/// How many operations of a level a predicate takes, and how many there are, each counted once whatever its encodings.
pub fn count(level: Level, mut implemented: impl FnMut(Op) -> bool) -> (usize, usize) {
    let mut ops: Vec<Op> = rows_of(level).map(|(_, row, _)| row.op).collect();
    ops.sort();
    ops.dedup();
    (ops.iter().filter(|op| implemented(**op)).count(), ops.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listings_hold_the_opcode_numbers_of_each_family() {
        let code = |level, encoding, op| {
            let entries = operations(level);
            entries
                .iter()
                .find(|entry| entry.encoding == encoding && entry.op == op)
                .map(|entry| entry.code)
        };
        assert_eq!(code(Level::Gfx90a, Encoding::Vop2, Op::v_add_f32), Some(1));
        assert_eq!(code(Level::Gfx10_3, Encoding::Vop2, Op::v_add_f32), Some(3));
        assert_eq!(
            code(Level::Gfx900, Encoding::Vop3p, Op::v_mfma_f32_32x32x1f32),
            None
        );
        assert_eq!(
            code(Level::Gfx908, Encoding::Vop3p, Op::v_mfma_f32_32x32x1f32),
            Some(0x40)
        );
        assert_eq!(code(Level::Gfx12, Encoding::Sopp, Op::s_barrier), None);
    }

    #[test]
    fn opcode_numbers_are_unique_within_an_encoding() {
        for level in Level::ALL {
            let entries = operations(level);
            assert!(entries.len() > 900, "{level:?}: {}", entries.len());
            for pair in entries.windows(2) {
                let same = pair[0].encoding == pair[1].encoding && pair[0].code == pair[1].code;
                assert!(!same, "{level:?}: {pair:?}");
            }
        }
    }

    #[test]
    fn counting_asks_for_each_operation_once() {
        let mut asked = Vec::new();
        let (implemented, all) = count(Level::Gfx90a, |op| {
            asked.push(op);
            op.name().starts_with("v_")
        });
        assert_eq!(asked.len(), all);
        assert!(implemented > 400 && implemented < all);
    }
}
