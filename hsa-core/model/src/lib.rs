//! Nothing but tests: `tests/protocols.rs` runs the files of `hsa-core/src/protocol` under loom. A crate of its own, because they are
//! compiled a second time with loom's atomics.
