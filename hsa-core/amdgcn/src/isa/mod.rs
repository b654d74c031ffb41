//! Instruction tables, decoder and disassembler.
//!
//! * [`op`]: the operations of all families by LLVM's names.
//! * [`table`]: which family has which operation, under which opcode number, with which operands.
//! * [`decode`]: bytes to [`inst::Inst`].
//! * [`text`]: [`inst::Inst`] to the text of `llvm-objdump` 19.
//! * [`coverage`]: what the tables hold.
//!
//! GFX9 (GFX900 to GFX942), GFX10 and GFX11 decode whole; of GFX12 everything but images, which give
//! [`decode::DecodeError::UnknownEncoding`]. To add a family, see [`table`].

pub mod coverage;
pub mod decode;
pub mod inst;
pub mod op;
pub mod table;
pub mod text;

#[cfg(test)]
mod tests;
