//! End-to-end tests of the built prefix with real hipcc output.
