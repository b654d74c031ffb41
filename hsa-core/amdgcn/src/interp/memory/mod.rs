//! Memory and LDS handlers.

/// What an [`Exit::Other`](super::run::Exit::Other) of a memory handler means.
pub fn reason(_code: u32) -> &'static str {
    "a memory operation could not be done"
}
