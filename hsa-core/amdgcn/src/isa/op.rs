//! The operations, named exactly as LLVM's text names them, without the encoding suffix (`_e32`, `_e64`, `_sdwa`, `_dpp`).

/// An operation of any family. The same operation may have two names in two families (`v_add_u32` of GFX9 is `v_add_nc_u32` of
/// GFX10): both are variants here, and the lowering gives them one meaning.
#[allow(non_camel_case_types, reason = "the names are the assembler's")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Program end.
    s_endpgm,
}
