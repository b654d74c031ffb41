//! Memory and LDS handlers.
