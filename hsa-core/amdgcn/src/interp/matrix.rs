//! Matrix operations: D = A·B + C on blocks of matrices spread over the wave. EXEC is ignored.
//!
//! Layouts, as AMD's matrix instruction calculator gives them (the tests hold them):
//! * MFMA and SMFMAC (CDNA), with M rows and columns in a block: lane l holds for A row l mod M, for B column l mod M; l / M numbers
//!   the block, or, when there is one block, the group of k values of which the lane holds some in its registers. D and C have column
//!   l mod M; their rows come in groups of four registers (f64: of one).
//! * WMMA of GFX11: lane l below 16 holds row (column) l of A (B), with all sixteen k; the other lanes hold copies. D and C have column
//!   l mod 16; consecutive rows are in consecutive groups of sixteen lanes, then in the next register.
//! * WMMA of GFX12: l / 16 numbers the group of k values, and of rows of D and C.
//!
//! * The operations of GFX950 with 16 bytes and more of A in a lane are laid out as the older MFMA; where a lane holds two reads of 16 bytes
//!   of 8-bit elements (`*_f8f6f4`), or B of a sparse product does, the second half is k values further on by half the depth.
//!
//! A sparse A holds two of every four k values; an index register says which.
//!
//! Scales of GFX950 are powers of two (exponents of eight bits, 255 is NaN), one for every 32 k values of a row of A and of a column of B; lane
//! (k / 32)·size + row holds it. The products of a block of 32 are summed up, scaled, and added to the sum.
//!
//! f32 results are accumulated with fused multiply-adds in the order of k, from C, rounded to nearest whatever MODE says; 16-bit results
//! are rounded once, at the end. AMD documents no order: the error of another order is at most K times half a unit in the last place of
//! the largest intermediate sum. Skipped k values of a sparse A do not take part, whatever B holds there.

use crate::ir::{Op, Ref};

use super::{
    run::{get_mxcsr, set_mxcsr},
    vector::{Body, Portable, Simd},
    wave::Wave,
};

mod double;
mod element;
mod product;
mod sum;
mod unpack;

use self::{double::double, product::multiply};

/// Element type of A or B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// f32.
    F32,
    /// f32 of which ten mantissa bits count.
    Xf32,
    /// f16.
    F16,
    /// bf16.
    Bf16,
    /// FP8 of GFX940.
    Fp8Fnuz,
    /// BF8 of GFX940.
    Bf8Fnuz,
    /// FP8 of GFX950 and GFX12.
    Fp8,
    /// BF8 of GFX950 and GFX12.
    Bf8,
    /// FP6 of GFX950.
    Fp6,
    /// BF6 of GFX950.
    Bf6,
    /// FP4 of GFX950.
    Fp4,
    /// i8, accumulated in i32.
    I8,
    /// u8, accumulated in i32.
    U8,
    /// i4, accumulated in i32.
    I4,
    /// u4, accumulated in i32.
    U4,
    /// f64.
    F64,
}

impl Element {
    /// Bits of an element.
    pub const fn bits(self) -> usize {
        match self {
            Element::I4 | Element::U4 | Element::Fp4 => 4,
            Element::Fp6 | Element::Bf6 => 6,
            Element::Fp8Fnuz
            | Element::Bf8Fnuz
            | Element::Fp8
            | Element::Bf8
            | Element::I8
            | Element::U8 => 8,
            Element::F16 | Element::Bf16 => 16,
            Element::F32 | Element::Xf32 => 32,
            Element::F64 => 64,
        }
    }
}

/// Type of C and D.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sum {
    /// f32.
    F32,
    /// f16.
    F16,
    /// bf16.
    Bf16,
    /// i32.
    I32,
    /// f64.
    F64,
}

/// Which lane holds what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// CDNA, wave64.
    Mfma,
    /// GFX11.
    Wmma11,
    /// GFX12.
    Wmma12,
}

/// Where the indices of a sparse A are.
#[derive(Clone, Copy, Debug)]
pub struct Sparse {
    /// Byte offset of the index register in the vector file.
    pub index: u32,
    /// First bit of the lane's indices in it.
    pub shift: u32,
}

/// Where the scales of A and B are, and which byte of the registers holds them.
#[derive(Clone, Copy, Debug)]
pub struct Scales {
    /// Byte offsets of the registers in the vector file.
    pub registers: [u32; 2],
    /// First bits of the exponents.
    pub shifts: [u32; 2],
}

/// The side record of a matrix operation.
#[derive(Clone, Copy, Debug)]
pub struct MatrixPlan {
    /// Element type of A.
    pub a: Element,
    /// Element type of B.
    pub b: Element,
    /// Type of C and D.
    pub sum: Sum,
    /// Where the elements are.
    pub layout: Layout,
    /// 32 or 64.
    pub lanes: usize,
    /// Rows and columns of a block: 4, 16, 32.
    pub size: usize,
    /// Depth.
    pub depth: usize,
    /// Blocks.
    pub blocks: usize,
    /// A, B: byte offsets in the vector file.
    pub ab: [u32; 2],
    /// C: in the vector file, or a constant.
    pub c: Ref,
    /// D: byte offset in the vector file.
    pub d: u32,
    /// A is sparse.
    pub sparse: Option<Sparse>,
    /// A, B: the second half of a lane's elements is half the depth further on.
    pub split: [bool; 2],
    /// Blocks of A and B have scales.
    pub scales: Option<Scales>,
    /// A's blocks are broadcast in groups of 2^`cbsz`, block `abid` of each.
    pub cbsz: u32,
    /// See `cbsz`.
    pub abid: u32,
    /// Lane pattern of B; for f64 negation of A, B, C.
    pub blgp: u32,
    /// Bits that are flipped in the dwords of A and of B: negation of even and odd elements.
    pub flip: [u32; 2],
    /// C's absolute value is taken, C is negated.
    pub c_signs: [bool; 2],
    /// f16 and bf16 denormals are flushed, in and out (GFX90A).
    pub flush: bool,
    /// 16-bit results of GFX11 go to the high halves, and C comes from there.
    pub high: bool,
    /// Sums of integers saturate.
    pub clamp: bool,
}

impl MatrixPlan {
    /// Values of k that A's registers hold.
    pub const fn stored_depth(&self) -> usize {
        if self.sparse.is_some() {
            self.depth / 2
        } else {
            self.depth
        }
    }

    /// Elements of A (`stored` of k) or B in a lane.
    pub const fn per_lane(&self, stored: usize) -> usize {
        match self.layout {
            Layout::Wmma11 => stored,
            _ => stored * self.size * self.blocks / self.lanes,
        }
    }

    /// Registers of C and D.
    pub const fn sum_registers(&self) -> usize {
        let elements = self.size * self.size * self.blocks / self.lanes;
        match (self.sum, self.layout) {
            (Sum::F64, _) => elements * 2,
            (Sum::F16 | Sum::Bf16, Layout::Wmma12) => elements / 2,
            _ => elements,
        }
    }

    /// Lanes that A and B are read from: those above hold copies.
    const fn read_lanes(&self) -> usize {
        match self.layout {
            Layout::Wmma11 => 16,
            _ => self.lanes,
        }
    }

    /// Block, row (column) and first k of the elements of a lane that holds `per_lane` of them. `SIZE` is the plan's.
    #[inline(always)]
    fn first<const SIZE: usize>(&self, lane: usize, per_lane: usize) -> (usize, usize, usize) {
        let (part, row) = (lane / SIZE, lane % SIZE);
        match self.layout {
            Layout::Mfma if self.blocks > 1 => (part, row, 0),
            _ => (0, row, part * per_lane),
        }
    }

    /// k of element `index` of a lane whose first k would be `first` if its `per_lane` elements were consecutive.
    #[inline(always)]
    fn k_of(&self, split: bool, first: usize, per_lane: usize, index: usize) -> usize {
        if split {
            let half = per_lane / 2;
            if index < half {
                first / 2 + index
            } else {
                first / 2 + index - half + self.depth / 2
            }
        } else {
            first + index
        }
    }

    /// Register and first lane of a row of a block of D; the columns are in consecutive lanes. For packed results the number of a half.
    #[inline(always)]
    fn row_place(&self, block: usize, row: usize) -> (usize, usize) {
        let groups = self.lanes / 16;
        match (self.layout, self.size) {
            (Layout::Mfma, 32) => (16 * block + 4 * (row / 8) + row % 4, 32 * (row / 4 % 2)),
            (Layout::Mfma, 16) => (4 * block + row % 4, 16 * (row / 4)),
            (Layout::Mfma, _) => (row, 4 * block),
            (Layout::Wmma11, _) => (row / groups, 16 * (row % groups)),
            (Layout::Wmma12, _) => {
                let rows = 16 / groups;
                (row % rows, 16 * (row / rows))
            }
        }
    }

    /// Lane that B is read from.
    #[inline(always)]
    fn b_lane(&self, lane: usize) -> usize {
        match self.blgp {
            0 => lane,
            1 => lane & 31,
            2 => 32 | (lane & 31),
            3 => (lane + 16) & 63,
            n => 16 * (n as usize - 4) + (lane & 15),
        }
    }
}

/// The handler; `Op::imm` is the address of a [`MatrixPlan`].
#[derive(Debug)]
pub struct Matrix;

/// MXCSR: nearest, denormals kept, exceptions masked.
pub(super) const PLAIN_MXCSR: u32 = 0x1f80;

impl Body for Matrix {
    #[inline(always)]
    unsafe fn run<L: Simd>(w: &mut Wave, op: *const Op) -> *const Op {
        // SAFETY: the record lives as long as the program; its registers are inside the file; the lowering has checked the wave size.
        unsafe {
            let plan = &*((*op).imm as usize as *const MatrixPlan);
            let saved = get_mxcsr();
            set_mxcsr(PLAIN_MXCSR);
            match (plan.sum, plan.size) {
                (Sum::F64, _) => double(w, plan),
                (Sum::I32, 32) => multiply::<i32, L::Integers, 32, 4, 2>(w, plan),
                (Sum::I32, 16) => multiply::<i32, L::Integers, 16, 2, 4>(w, plan),
                (Sum::I32, _) => multiply::<i32, [i32; 4], 4, 1, 4>(w, plan),
                (_, 32) => multiply::<f32, L::Floats, 32, 4, 2>(w, plan),
                (_, 16) => multiply::<f32, L::Floats, 16, 2, 4>(w, plan),
                _ => multiply::<f32, [f32; 4], 4, 1, 4>(w, plan),
            }
            set_mxcsr(saved);
            op.add(1)
        }
    }

    unsafe fn run_lanes(w: &mut Wave, op: *const Op) -> *const Op {
        // SAFETY: no features are needed for this instantiation.
        unsafe { Self::run::<Portable>(w, op) }
    }
}
