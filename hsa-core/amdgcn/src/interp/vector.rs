//! The shapes of vector handlers.
