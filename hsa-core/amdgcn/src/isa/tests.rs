//! Tests of the whole: decoder and disassembler against LLVM's, and against random bytes.

use super::table::Level;

/// Whether a text is LLVM 19's. That one leaves out `op_sel` of 16-bit operations of GFX10 and later that it does not know to have it.
fn is_llvm_text(ours: &str, expected: &str, level: Level) -> bool {
    ours == expected
        || level >= Level::Gfx1010
            && !expected.contains("op_sel")
            && without(ours, " op_sel:[") == expected
}

/// A text without the list that begins with these words.
fn without(text: &str, list: &str) -> String {
    match text.split_once(list) {
        Some((before, rest)) => {
            let after = rest.split_once(']').map_or("", |(_, after)| after);
            format!("{before}{after}")
        }
        None => text.to_owned(),
    }
}

mod fixture;
mod llvm;
mod llvm22;
mod objdump;
mod random;
