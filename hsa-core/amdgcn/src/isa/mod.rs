//! Instruction tables, decoder and disassembler.

pub mod inst;
pub mod op;
