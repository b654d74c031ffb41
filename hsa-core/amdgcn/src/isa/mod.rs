//! Instruction tables, decoder and disassembler.
//!
//! * [`op`]: the operations of all families by LLVM's names.
//! * [`table`]: which family has which operation, under which opcode number, with which operands.
//! * [`decode`]: bytes to [`inst::Inst`].
//! * [`text`]: [`inst::Inst`] to the text of `llvm-objdump` 19.
//! * [`coverage`]: what the tables hold.
//!
//! * [`image`]: what the address registers of image operations hold.
//!
//! GFX9 (GFX900 to GFX942), GFX10, GFX11 and GFX12 decode whole. To add a family, see [`table`].

pub mod coverage;
pub mod decode;
pub mod image;
pub mod inst;
pub mod op;
pub mod table;
pub mod text;

#[cfg(test)]
mod tests;
