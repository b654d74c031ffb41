//! The wave IR and the lowering to it: the one place where an instruction's meaning is written.
//!
//! * [`Op`]: one operation, 64 bytes: a handler and its operands. One operation per plain instruction; what has no effect on values
//!   (waits, hints, cache control) has none.
//! * [`Ref`]: an operand reference: a selector of a base (vector file, constant pool, temporaries, scalar file) and a byte offset.
//! * [`program`]: segments of operations, the map from PC to operation, lazy lowering of what indirect jumps reach.
//! * [`lower`]: instruction → operations.
//! * [`common`]: the beginning that all waves of a dispatch have in common.
//! * [`coverage`]: which instructions run, and how exactly.

pub mod common;
pub mod coverage;
pub mod lower;
pub mod program;

use crate::interp::run::Handler;

/// An operand reference: bits 31:30 select a base, bits 29:0 are a byte offset from it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(transparent)]
pub struct Ref(pub u32);

impl Ref {
    /// Selector of the vector file.
    pub const FILE: u32 = 0;
    /// Selector of the segment's constant pool: entries of 64 bytes (sixteen equal dwords), one per dword of the constant.
    pub const POOL: u32 = 1;
    /// Selector of the wave's temporary vectors.
    pub const TEMP: u32 = 2;
    /// Selector of the scalar file.
    pub const SCALAR: u32 = 3;

    /// A reference.
    pub const fn new(selector: u32, offset: u32) -> Self {
        assert!(offset < 1 << 30, "operand offset out of range");
        Self(selector << 30 | offset)
    }

    /// Scalar slot `index` (see [`slot`](crate::interp::wave::slot)).
    pub const fn scalar(index: u32) -> Self {
        Self::new(Self::SCALAR, index * 4)
    }

    /// The selector.
    #[inline]
    pub const fn selector(self) -> u32 {
        self.0 >> 30
    }

    /// The byte offset.
    #[inline]
    pub const fn offset(self) -> u32 {
        self.0 & 0x3fff_ffff
    }
}

/// One operation of the wave IR.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Op {
    /// The handler.
    pub run: Handler,
    /// Destination: byte offset in the vector file for vector results, slot index for scalar results.
    pub d: u32,
    /// Second destination, slot index (carry-out) unless the handler says otherwise.
    pub d2: u32,
    /// Sources.
    pub s: [Ref; 4],
    /// Address of the instruction.
    pub pc: u64,
    /// What the handler says: immediate, relative branch target in operations, pointer to a side record of the segment.
    pub imm: u64,
    /// What the handler says.
    pub aux: [u32; 3],
    /// Length of the instruction in bytes.
    pub len: u32,
}

const _: () = assert!(size_of::<Op>() == 64);

impl std::fmt::Debug for Op {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Op")
            .field("d", &self.d)
            .field("s", &self.s)
            .field("imm", &self.imm)
            .field("pc", &self.pc)
            .finish_non_exhaustive()
    }
}

impl Op {
    /// An operation of a handler; everything else is zero. [`LowerContext::push`](lower::LowerContext::push) sets `pc` and `len`.
    pub fn new(run: Handler) -> Self {
        Self {
            run,
            d: 0,
            d2: 0,
            s: [Ref(0); 4],
            pc: 0,
            imm: 0,
            aux: [0; 3],
            len: 0,
        }
    }
}
