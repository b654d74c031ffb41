//! Tests of the whole: decoder and disassembler against LLVM's, and against random bytes.

mod fixture;
mod objdump;
mod random;
mod random22;
