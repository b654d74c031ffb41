//! Lowering of memory instructions.

use crate::isa::inst::Inst;

use super::{LowerContext, Unsupported};

/// Lowers an SMEM, DS, FLAT, GLOBAL, SCRATCH, MUBUF, MTBUF or MIMG instruction.
pub fn lower_memory(inst: &Inst, _cx: &mut LowerContext) -> Result<(), Unsupported> {
    Err(Unsupported::op(inst))
}
