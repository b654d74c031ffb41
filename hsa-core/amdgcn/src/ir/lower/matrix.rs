//! MFMA: matrix operations of CDNA.

use crate::isa::inst::Inst;

use super::{LowerContext, Unsupported};

/// Lowers a matrix operation. Says whether it was one.
pub fn lower_matrix(_inst: &Inst, _cx: &mut LowerContext) -> Result<bool, Unsupported> {
    Ok(false)
}
