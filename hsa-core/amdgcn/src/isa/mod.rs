//! Instruction tables, decoder and disassembler.
//!
//! * [`op`]: the operations of all families by LLVM's names.
//! * [`table`]: which family has which operation, under which opcode number, with which operands.
//! * [`decode`]: bytes to [`inst::Inst`].
//! * [`text`]: [`inst::Inst`] to the text of `llvm-objdump` 19.
//! * [`coverage`]: what the tables hold.
//!
//! GFX9 (GFX900 to GFX942) and GFX10 decode whole. Of GFX11 and GFX12 the encodings that changed least decode (scalar and
//! vector ALU, LDS, and on GFX11 also memory); VOPD, and the FLAT, buffer and image encodings of GFX12, give
//! [`decode::DecodeError::UnknownEncoding`]. To add a family, see [`table`].

pub mod coverage;
pub mod decode;
pub mod inst;
pub mod op;
pub mod table;
pub mod text;

#[cfg(test)]
mod tests;
