//! Ranges that programs put around their own phases. They are recorded as calls of their thread, and no command belongs to them.

use super::{WRITER, kind, name, on, put};

/// A range begins on this thread. Gives its number; 0 if nothing is recorded.
pub fn range_begin(text: &str) -> u64 {
    if !on() {
        return 0;
    }
    let name = name(text);
    WRITER
        .try_with(|writer| {
            let range = writer.new_id();
            writer.put(kind::CALL_BEGIN, name, [range], &[]);
            range
        })
        .unwrap_or(0)
}

/// The range of that number has ended, on any thread. 0 is none.
pub fn range_end(range: u64) {
    if range != 0 && on() {
        put(kind::CALL_END, 0, [range]);
    }
}
