//! Instruction tables, decoder and disassembler.

pub mod coverage;
pub mod decode;
pub mod inst;
pub mod op;
pub mod table;
pub mod text;

#[cfg(test)]
mod tests;
