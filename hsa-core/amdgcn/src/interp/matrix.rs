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
    float::Half,
    run::{get_mxcsr, set_mxcsr},
    small_float,
    vector::{Body, Env, Portable, Simd},
    wave::Wave,
};

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

/// k values that have a scale in common.
const SCALED: usize = 32;

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
    /// Whether A or B has more than [`ELEMENTS`] elements.
    const fn is_deep(&self) -> bool {
        self.size * self.depth * self.blocks > ELEMENTS
    }

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

    /// Block, row (column) and first k of the elements of a lane that holds `per_lane` of them.
    #[inline(always)]
    fn first(&self, lane: usize, per_lane: usize) -> Option<(usize, usize, usize)> {
        let (part, row) = (lane / self.size, lane % self.size);
        match self.layout {
            Layout::Wmma11 => (part == 0).then_some((0, row, 0)),
            Layout::Mfma if self.blocks > 1 => Some((part, row, 0)),
            Layout::Mfma | Layout::Wmma12 => Some((0, row, part * per_lane)),
        }
    }

    /// k of element `index` of a lane whose first k would be `first` if its `per_lane` elements were consecutive.
    #[inline(always)]
    fn k_of(&self, split: bool, first: usize, per_lane: usize, index: usize) -> usize {
        if split {
            let half = per_lane / 2;
            first / 2 + index % half + index / half * (self.depth / 2)
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

/// MODE with the same meaning, for conversions to f16.
const PLAIN: Env = Env { mode: 0xf0 };

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
                (Sum::I32, 32) if plan.is_deep() => multiply::<i32, 32, DEEP>(w, plan),
                (Sum::I32, 16) if plan.is_deep() => multiply::<i32, 16, DEEP>(w, plan),
                (_, 32) if plan.is_deep() => multiply::<f32, 32, DEEP>(w, plan),
                (_, 16) if plan.is_deep() => multiply::<f32, 16, DEEP>(w, plan),
                (Sum::I32, 32) => multiply::<i32, 32, ELEMENTS>(w, plan),
                (Sum::I32, 16) => multiply::<i32, 16, ELEMENTS>(w, plan),
                (Sum::I32, _) => multiply::<i32, 4, ELEMENTS>(w, plan),
                (_, 32) => multiply::<f32, 32, ELEMENTS>(w, plan),
                (_, 16) => multiply::<f32, 16, ELEMENTS>(w, plan),
                _ => multiply::<f32, 4, ELEMENTS>(w, plan),
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

/// Accumulator type.
trait Accumulator: Copy + Default {
    /// Element `index` of a dword.
    fn element(element: Element, flush: bool, word: u32, index: usize) -> Self;
    fn from_bits(plan: &MatrixPlan, bits: u32, half: usize) -> Self;
    /// Puts the result into a dword.
    fn put(self, plan: &MatrixPlan, word: &mut u32, half: usize);
    fn add_product(self, a: Self, b: Self) -> Self;
    /// This and `block` times 2^`exponent`; `None` is NaN.
    fn add_scaled(self, block: Self, exponent: Option<i32>) -> Self;
}

static FP8_FNUZ: [f32; 256] = small_float::table(small_float::FP8_FNUZ);
static BF8_FNUZ: [f32; 256] = small_float::table(small_float::BF8_FNUZ);
static FP8_OCP: [f32; 256] = small_float::table(small_float::FP8_OCP);
static BF8_OCP: [f32; 256] = small_float::table(small_float::BF8_OCP);
static FP6: [f32; 256] = small_float::table(small_float::FP6);
static BF6: [f32; 256] = small_float::table(small_float::BF6);
static FP4: [f32; 256] = small_float::table(small_float::FP4);

impl Accumulator for f32 {
    #[inline(always)]
    fn element(element: Element, flush: bool, word: u32, index: usize) -> f32 {
        let half = (word >> (16 * (index & 1))) as u16;
        let byte = usize::from((word >> (8 * (index & 3))) as u8);
        match element {
            Element::F16 if flush => Half(half).flush().widen(),
            Element::F16 => Half(half).widen(),
            Element::Bf16 => {
                let value = f32::from_bits(u32::from(half) << 16);
                if flush {
                    super::float::flush(value)
                } else {
                    value
                }
            }
            Element::Fp8Fnuz => FP8_FNUZ[byte],
            Element::Bf8Fnuz => BF8_FNUZ[byte],
            Element::Fp8 => FP8_OCP[byte],
            Element::Bf8 => BF8_OCP[byte],
            Element::Fp6 => FP6[(word & 63) as usize],
            Element::Bf6 => BF6[(word & 63) as usize],
            Element::Fp4 => FP4[(word >> (4 * (index & 7)) & 15) as usize],
            Element::Xf32 => small_float::to_xf32(f32::from_bits(word)),
            _ => f32::from_bits(word),
        }
    }
    #[inline(always)]
    fn from_bits(plan: &MatrixPlan, bits: u32, half: usize) -> f32 {
        let value = match plan.sum {
            Sum::F16 => Half((bits >> (16 * half)) as u16).widen(),
            Sum::Bf16 => f32::from_bits(bits >> (16 * half) << 16),
            _ => f32::from_bits(bits),
        };
        let value = if plan.c_signs[0] { value.abs() } else { value };
        if plan.c_signs[1] { -value } else { value }
    }
    #[inline(always)]
    fn put(self, plan: &MatrixPlan, word: &mut u32, half: usize) {
        let value = if plan.flush {
            super::float::flush(self)
        } else {
            self
        };
        let narrow = match plan.sum {
            Sum::F16 if value.is_nan() => super::float::HALF_NAN.0,
            Sum::F16 => super::float::narrow(PLAIN, value).0,
            Sum::Bf16 if value.is_nan() => 0x7fc0,
            Sum::Bf16 => small_float::to_bf16(value),
            _ => {
                *word = if value.is_nan() {
                    0x7fc0_0000
                } else {
                    value.to_bits()
                };
                return;
            }
        };
        *word = *word & !(0xffff << (16 * half)) | u32::from(narrow) << (16 * half);
    }
    #[inline(always)]
    fn add_product(self, a: f32, b: f32) -> f32 {
        a.mul_add(b, self)
    }
    #[inline(always)]
    fn add_scaled(self, block: f32, exponent: Option<i32>) -> f32 {
        let Some(exponent) = exponent else {
            return f32::NAN;
        };
        // The exponents of two scales are within f64's.
        let scale = f64::from_bits(((exponent + 1023) as u64) << 52);
        f64::from(block).mul_add(scale, f64::from(self)) as f32
    }
}

impl Accumulator for i32 {
    #[inline(always)]
    fn element(element: Element, _flush: bool, word: u32, index: usize) -> i32 {
        let byte = word >> (8 * (index & 3));
        let nibble = word >> (4 * (index & 7)) & 15;
        match element {
            Element::I8 => i32::from(byte as i8),
            Element::U8 => i32::from(byte as u8),
            Element::I4 => (nibble << 28).cast_signed() >> 28,
            _ => nibble.cast_signed(),
        }
    }
    #[inline(always)]
    fn from_bits(_plan: &MatrixPlan, bits: u32, _half: usize) -> i32 {
        bits.cast_signed()
    }
    #[inline(always)]
    fn put(self, _plan: &MatrixPlan, word: &mut u32, _half: usize) {
        *word = self.cast_unsigned();
    }
    #[inline(always)]
    fn add_product(self, a: i32, b: i32) -> i32 {
        self.wrapping_add(a.wrapping_mul(b))
    }
    #[inline(always)]
    fn add_scaled(self, block: i32, _exponent: Option<i32>) -> i32 {
        // Integers have no scales.
        self.wrapping_add(block)
    }
}

/// Most elements of A or B in all blocks: 32 rows of 32 k values, 16 of 64.
const ELEMENTS: usize = 1024;

/// The same of the deep operations of GFX950.
const DEEP: usize = 2048;

/// A, by (block, stored k, row), with the k of each when it is sparse, and B, by (block, k, column).
struct Operands<T, const N: usize> {
    a: [T; N],
    k: [u8; N],
    b: [T; N],
}

/// Reads A and B.
#[inline(always)]
unsafe fn unpack<T: Accumulator, const SIZE: usize, const N: usize>(
    w: &Wave,
    plan: &MatrixPlan,
    to: &mut Operands<T, N>,
) {
    let stride = w.chunks * 64;
    // SAFETY: the registers were checked by the lowering; rows, blocks and k values stay below the plan's, whose product fits.
    unsafe {
        let read = |base: u32, word: usize, lane: usize| {
            *w.base[0]
                .add(base as usize + stride * word + 4 * lane)
                .cast::<u32>()
        };
        // The dword that an element of six bits is in, with the element lowest.
        let six = |base: u32, index: usize, lane: usize| {
            let (word, shift) = (6 * index / 32, 6 * index % 32);
            let low = read(base, word, lane) >> shift;
            if shift > 26 {
                low | read(base, word + 1, lane) << (32 - shift)
            } else {
                low
            }
        };
        let stored = plan.stored_depth();
        let per_lane = plan.per_lane(stored);
        let in_word = 32 / plan.a.bits();
        for lane in 0..plan.lanes {
            let Some((block, row, first)) = plan.first(lane, per_lane) else {
                continue;
            };
            let indices = plan
                .sparse
                .map_or(0, |sparse| read(sparse.index, 0, lane) >> sparse.shift);
            for index in 0..per_lane {
                let word = if plan.a.bits() == 6 {
                    six(plan.ab[0], index, lane)
                } else {
                    read(plan.ab[0], index / in_word, lane) ^ plan.flip[0]
                };
                let k = plan.k_of(plan.split[0], first, per_lane, index);
                let at = (block * stored + k) * SIZE + row;
                to.a[at] = T::element(plan.a, plan.flush, word, index);
                if plan.sparse.is_some() {
                    let of_four = indices >> (2 * index) & 3;
                    to.k[at] = (4 * ((first + index) / 2) + of_four as usize) as u8;
                }
            }
        }
        let per_lane = plan.per_lane(plan.depth);
        let in_word = 32 / plan.b.bits();
        for lane in 0..plan.lanes {
            let Some((block, column, first)) = plan.first(lane, per_lane) else {
                continue;
            };
            let from = plan.b_lane(lane);
            for index in 0..per_lane {
                let word = if plan.b.bits() == 6 {
                    six(plan.ab[1], index, from)
                } else {
                    read(plan.ab[1], index / in_word, from) ^ plan.flip[1]
                };
                let k = plan.k_of(plan.split[1], first, per_lane, index);
                let at = (block * plan.depth + k) * SIZE + column;
                to.b[at] = T::element(plan.b, plan.flush, word, index);
            }
        }
    }
}

#[inline(always)]
unsafe fn multiply<T: Accumulator, const SIZE: usize, const N: usize>(
    w: &mut Wave,
    plan: &MatrixPlan,
) {
    let stride = w.chunks * 64;
    let mut operands = Operands {
        a: [T::default(); N],
        k: [0; N],
        b: [T::default(); N],
    };
    let (stored, depth) = (plan.stored_depth(), plan.depth);
    // SAFETY: the registers were checked by the lowering; `out` has as many registers as D at most.
    unsafe {
        unpack::<T, SIZE, N>(w, plan, &mut operands);
        let Operands { a, k, b } = &operands;
        let constant = plan.c.selector() != Ref::FILE;
        let packed = matches!(plan.sum, Sum::F16 | Sum::Bf16);
        let registers = plan.sum_registers();
        let d = w.base[0].add(plan.d as usize);
        let mut out = [[0u32; 64]; 32];
        if packed {
            // The halves that are not written stay.
            for (register, line) in out.iter_mut().enumerate().take(registers) {
                for (lane, word) in line.iter_mut().enumerate().take(plan.lanes) {
                    *word = *d.add(stride * register + 4 * lane).cast::<u32>();
                }
            }
        }
        let group = (1usize << plan.cbsz) - 1;
        for block in 0..plan.blocks {
            let a_block = if plan.cbsz == 0 {
                block
            } else {
                (block & !group) | plan.abid as usize & group
            };
            for row in 0..SIZE {
                let (place, lane) = plan.row_place(block, row);
                let (register, half) = match plan.layout {
                    Layout::Wmma12 if packed => (place / 2, place % 2),
                    _ => (place, usize::from(plan.high)),
                };
                let mut sums = [T::default(); SIZE];
                let c = w.base[plan.c.selector() as usize].add(plan.c.offset() as usize);
                for (column, sum) in sums.iter_mut().enumerate() {
                    let at = if constant {
                        0
                    } else {
                        stride * register + 4 * (lane + column)
                    };
                    let half = if constant { 0 } else { half };
                    *sum = T::from_bits(plan, *c.add(at).cast::<u32>(), half);
                }
                if let Some(scales) = &plan.scales {
                    for from in (0..depth).step_by(SCALED) {
                        let mut block = [T::default(); SIZE];
                        for k in from..from + SCALED {
                            let line = &b[k * SIZE..][..SIZE];
                            for column in 0..SIZE {
                                block[column] =
                                    block[column].add_product(a[k * SIZE + row], line[column]);
                            }
                        }
                        let exponent = |which: usize, index: usize| {
                            let lane = from / SCALED * SIZE + index;
                            let at = scales.registers[which] as usize + 4 * lane;
                            let word: u32 = *w.base[0].add(at).cast();
                            (word >> scales.shifts[which] & 255) as i32
                        };
                        let of_row = exponent(0, row);
                        for column in 0..SIZE {
                            let of_column = exponent(1, column);
                            let valid = of_row != 255 && of_column != 255;
                            let sum = valid.then_some(of_row + of_column - 254);
                            sums[column] = sums[column].add_scaled(block[column], sum);
                        }
                    }
                } else if plan.clamp {
                    saturating_row(&mut sums, &operands, (a_block, block, row), plan);
                } else {
                    for stored_k in 0..stored {
                        let at = (a_block * stored + stored_k) * SIZE + row;
                        let of_b = if plan.sparse.is_some() {
                            usize::from(k[at])
                        } else {
                            stored_k
                        };
                        let line = &b[(block * depth + of_b) * SIZE..][..SIZE];
                        for column in 0..SIZE {
                            sums[column] = sums[column].add_product(a[at], line[column]);
                        }
                    }
                }
                let line = &mut out[register][lane..][..SIZE];
                for (sum, word) in sums.into_iter().zip(line) {
                    sum.put(plan, word, half);
                }
            }
        }
        for (register, line) in out.iter().enumerate().take(registers) {
            std::ptr::copy_nonoverlapping(
                line.as_ptr().cast::<u8>(),
                d.add(stride * register),
                stride,
            );
        }
    }
}

/// A row of an integer product whose exact sum saturates.
#[inline(always)]
fn saturating_row<T: Accumulator, const N: usize>(
    sums: &mut [T],
    operands: &Operands<T, N>,
    (a_block, block, row): (usize, usize, usize),
    plan: &MatrixPlan,
) {
    let size = sums.len();
    let stored = plan.stored_depth();
    let integer = |value: T| {
        let mut word = 0;
        value.put(plan, &mut word, 0);
        i64::from(word.cast_signed())
    };
    for (column, sum) in sums.iter_mut().enumerate() {
        let total = (0..stored).fold(integer(*sum), |total, stored_k| {
            let at = (a_block * stored + stored_k) * size + row;
            let k = if plan.sparse.is_some() {
                usize::from(operands.k[at])
            } else {
                stored_k
            };
            let of_b = integer(operands.b[(block * plan.depth + k) * size + column]);
            total + integer(operands.a[at]) * of_b
        });
        let clamped = total.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
        *sum = T::from_bits(plan, clamped.cast_unsigned(), 0);
    }
}

/// f64: element (row, k) of block b of A is in lane (k·blocks + b)·size + row; row r of D is in register pair r / 4, in the lanes from
/// 16·(r mod 4) + b·size on.
#[inline(always)]
unsafe fn double(w: &mut Wave, plan: &MatrixPlan) {
    // SAFETY: the registers were checked by the lowering.
    unsafe {
        let base = w.base[0];
        let read = |at: u32, register: usize, lane: usize, negative: bool| {
            let low: u32 = *base.add(at as usize + 512 * register + 4 * lane).cast();
            let high: u32 = *base
                .add(at as usize + 512 * register + 256 + 4 * lane)
                .cast();
            f64::from_bits((u64::from(low) | u64::from(high) << 32) ^ u64::from(negative) << 63)
        };
        let negative = |source: u32| plan.blgp >> source & 1 != 0;
        let constant = {
            let pool = w.base[plan.c.selector() as usize].add(plan.c.offset() as usize);
            let step = if plan.c.selector() == Ref::POOL {
                64
            } else {
                4
            };
            let bits =
                u64::from(*pool.cast::<u32>()) | u64::from(*pool.add(step).cast::<u32>()) << 32;
            f64::from_bits(bits ^ u64::from(negative(2)) << 63)
        };
        let mut out = [[0f64; 64]; 4];
        let size = plan.size;
        for block in 0..plan.blocks {
            for row in 0..size {
                for column in 0..size {
                    let (register, lane) = (row / 4, 16 * (row % 4) + block * size + column);
                    let mut sum = if plan.c.selector() == Ref::FILE {
                        read(plan.c.offset(), register, lane, negative(2))
                    } else {
                        constant
                    };
                    for k in 0..plan.depth {
                        let first = (k * plan.blocks + block) * size;
                        let x = read(plan.ab[0], 0, first + row, negative(0));
                        let y = read(plan.ab[1], 0, first + column, negative(1));
                        sum = x.mul_add(y, sum);
                    }
                    out[register][lane] = sum;
                }
            }
        }
        for (register, line) in out.iter().enumerate().take(plan.sum_registers() / 2) {
            for (lane, value) in line.iter().enumerate() {
                let bits = if value.is_nan() {
                    0x7ff8_0000_0000_0000
                } else {
                    value.to_bits()
                };
                let at = base.add(plan.d as usize + 512 * register + 4 * lane);
                *at.cast::<u32>() = bits as u32;
                *at.add(256).cast::<u32>() = (bits >> 32) as u32;
            }
        }
    }
}
