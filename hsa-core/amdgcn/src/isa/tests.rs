//! Tests of the whole: decoder and disassembler against LLVM's, and against random bytes.

use super::table::Level;

/// Whether a text is LLVM 19's. That one leaves out `op_sel` of 16-bit operations of GFX10 and later that it does not know to have it.
fn is_llvm_text(ours: &str, expected: &str, level: Level) -> bool {
    if ours == expected {
        return true;
    }
    let (Some((before, rest)), true) = (ours.split_once(" op_sel:["), level >= Level::Gfx10_1)
    else {
        return false;
    };
    let after = rest.split_once(']').map_or("", |(_, after)| after);
    !expected.contains("op_sel") && format!("{before}{after}") == expected
}

mod fixture;
mod objdump;
mod random;
mod random22;
