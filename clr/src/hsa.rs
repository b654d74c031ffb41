//! Thin wrappers of the HSA functions.
