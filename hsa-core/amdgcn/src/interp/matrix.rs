//! MFMA: D = A·B + C on blocks of matrices spread over the wave. EXEC is ignored.
//!
//! Layout (AMD's matrix instruction calculator; the tests hold it): with M rows and columns in a block, lane l holds for A row
//! l mod M, for B column l mod M; l / M numbers the block, or, when there is one block, the group of k values of which the lane
//! holds `per_lane` in its registers. D and C have column l mod M; their rows come in groups of four registers (f64: of one).
//!
//! f32 results are accumulated with fused multiply-adds in the order of k, from C, rounded to nearest whatever MODE says.

use crate::ir::{Op, Ref};

use super::{
    float::Half,
    run::{get_mxcsr, set_mxcsr},
    vector::{Body, Portable, Simd},
    wave::Wave,
};

/// Element type of A and B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// f32.
    F32,
    /// f16.
    F16,
    /// bf16.
    Bf16,
    /// i8, accumulated in i32.
    I8,
    /// f64.
    F64,
}

/// The side record of a matrix operation.
#[derive(Clone, Copy, Debug)]
pub struct MatrixPlan {
    /// Element type.
    pub element: Element,
    /// Rows and columns of a block: 4, 16, 32.
    pub size: usize,
    /// Depth.
    pub depth: usize,
    /// Blocks.
    pub blocks: usize,
    /// Elements of A and of B in a lane.
    pub per_lane: usize,
    /// A, B: byte offsets in the vector file.
    pub ab: [u32; 2],
    /// C: in the vector file, or a constant.
    pub c: Ref,
    /// D: byte offset in the vector file.
    pub d: u32,
    /// A's blocks are broadcast in groups of 2^`cbsz`, block `abid` of each.
    pub cbsz: u32,
    /// See `cbsz`.
    pub abid: u32,
    /// Lane pattern of B; for f64 negation of A, B, C.
    pub blgp: u32,
    /// f16 and bf16 denormals are flushed, in and out (GFX90A).
    pub flush: bool,
}

/// The handler; `Op::imm` is the address of a [`MatrixPlan`].
#[derive(Debug)]
pub struct Matrix;

/// MXCSR: nearest, denormals kept, exceptions masked.
const PLAIN_MXCSR: u32 = 0x1f80;

impl Body for Matrix {
    #[inline(always)]
    unsafe fn run<L: Simd>(w: &mut Wave, op: *const Op) -> *const Op {
        // SAFETY: the record lives as long as the program; its registers are inside the file; only wave64 has matrix operations.
        unsafe {
            let plan = &*((*op).imm as usize as *const MatrixPlan);
            let saved = get_mxcsr();
            set_mxcsr(PLAIN_MXCSR);
            match plan.element {
                Element::F64 => double(w, plan),
                Element::I8 => multiply::<i32>(w, plan),
                _ => multiply::<f32>(w, plan),
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
    fn element(plan: &MatrixPlan, word: u32, index: usize) -> Self;
    fn from_bits(bits: u32) -> Self;
    fn bits(self, plan: &MatrixPlan) -> u32;
    fn add_product(self, a: Self, b: Self) -> Self;
}

impl Accumulator for f32 {
    #[inline(always)]
    fn element(plan: &MatrixPlan, word: u32, index: usize) -> f32 {
        let half = (word >> (16 * (index & 1))) as u16;
        match plan.element {
            Element::F16 => (if plan.flush {
                Half(half).flush()
            } else {
                Half(half)
            })
            .widen(),
            Element::Bf16 => {
                let value = f32::from_bits(u32::from(half) << 16);
                if plan.flush {
                    super::float::flush(value)
                } else {
                    value
                }
            }
            _ => f32::from_bits(word),
        }
    }
    #[inline(always)]
    fn from_bits(bits: u32) -> f32 {
        f32::from_bits(bits)
    }
    #[inline(always)]
    fn bits(self, plan: &MatrixPlan) -> u32 {
        let value = if plan.flush {
            super::float::flush(self)
        } else {
            self
        };
        if value.is_nan() {
            0x7fc0_0000
        } else {
            value.to_bits()
        }
    }
    #[inline(always)]
    fn add_product(self, a: f32, b: f32) -> f32 {
        a.mul_add(b, self)
    }
}

impl Accumulator for i32 {
    #[inline(always)]
    fn element(_plan: &MatrixPlan, word: u32, index: usize) -> i32 {
        i32::from((word >> (8 * (index & 3))) as i8)
    }
    #[inline(always)]
    fn from_bits(bits: u32) -> i32 {
        bits.cast_signed()
    }
    #[inline(always)]
    fn bits(self, _plan: &MatrixPlan) -> u32 {
        self.cast_unsigned()
    }
    #[inline(always)]
    fn add_product(self, a: i32, b: i32) -> i32 {
        self.wrapping_add(a.wrapping_mul(b))
    }
}

/// Lane that B is read from.
#[inline(always)]
fn b_lane(blgp: u32, lane: usize) -> usize {
    match blgp {
        0 => lane,
        1 => lane & 31,
        2 => 32 | (lane & 31),
        3 => (lane + 16) & 63,
        n => 16 * (n as usize - 4) + (lane & 15),
    }
}

/// Register and lane of element (row, column) of block `block` of D.
#[inline(always)]
fn place(plan: &MatrixPlan, block: usize, row: usize, column: usize) -> (usize, usize) {
    match plan.size {
        32 => (
            16 * block + 4 * (row / 8) + row % 4,
            32 * (row / 4 % 2) + column,
        ),
        16 => (4 * block + row % 4, 16 * (row / 4) + column),
        _ => (row, 4 * block + column),
    }
}

#[inline(always)]
unsafe fn multiply<T: Accumulator>(w: &mut Wave, plan: &MatrixPlan) {
    let (size, depth, blocks, per_lane) = (plan.size, plan.depth, plan.blocks, plan.per_lane);
    let elements_per_word = match plan.element {
        Element::I8 => 4,
        Element::F16 | Element::Bf16 => 2,
        _ => 1,
    };
    // A by (block, k, row), B by (block, k, column): at most 64 lanes of 8 elements.
    let mut a = [T::default(); 512];
    let mut b = [T::default(); 512];
    // SAFETY: the registers were checked by the lowering.
    unsafe {
        for lane in 0..64 {
            let part = lane / size;
            let (block, first) = if blocks == 1 {
                (0, part * per_lane)
            } else {
                (part, 0)
            };
            for index in 0..per_lane {
                let word = index / elements_per_word;
                let at = (block * depth + first + index) * size + lane % size;
                let read = |base: u32, lane: usize| {
                    *w.base[0]
                        .add(base as usize + 256 * word + 4 * lane)
                        .cast::<u32>()
                };
                a[at] = T::element(plan, read(plan.ab[0], lane), index);
                b[at] = T::element(plan, read(plan.ab[1], b_lane(plan.blgp, lane)), index);
            }
        }
        let constant = plan.c.selector() != Ref::FILE;
        let mut out = [[0u32; 64]; 32];
        for block in 0..blocks {
            let group = (1usize << plan.cbsz) - 1;
            let a_block = if plan.cbsz == 0 {
                block
            } else {
                (block & !group) | plan.abid as usize & group
            };
            for row in 0..size {
                let mut sums = [T::default(); 32];
                for (column, sum) in sums.iter_mut().enumerate().take(size) {
                    let (register, lane) = place(plan, block, row, column);
                    let at = plan.c.offset() as usize
                        + if constant {
                            0
                        } else {
                            256 * register + 4 * lane
                        };
                    *sum = T::from_bits(*w.base[plan.c.selector() as usize].add(at).cast::<u32>());
                }
                for k in 0..depth {
                    let x = a[(a_block * depth + k) * size + row];
                    let line = &b[(block * depth + k) * size..][..size];
                    for (sum, &y) in sums.iter_mut().zip(line) {
                        *sum = sum.add_product(x, y);
                    }
                }
                for (column, sum) in sums.iter().enumerate().take(size) {
                    let (register, lane) = place(plan, block, row, column);
                    out[register][lane] = sum.bits(plan);
                }
            }
        }
        let registers = size * size * blocks / 64;
        for (register, line) in out.iter().enumerate().take(registers) {
            *w.base[0]
                .add(plan.d as usize + 256 * register)
                .cast::<[u32; 64]>() = *line;
        }
    }
}

/// 16×16×4 f64: row r of D is in register r / 4 of lanes 16·(r mod 4) and up.
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
            f64::from_bits(
                u64::from(*pool.cast::<u32>()) | u64::from(*pool.add(step).cast::<u32>()) << 32,
            )
        };
        let mut out = [[0f64; 64]; 4];
        for row in 0..16 {
            for column in 0..16 {
                let (register, lane) = (row / 4, 16 * (row % 4) + column);
                let mut sum = if plan.c.selector() == Ref::FILE {
                    read(plan.c.offset(), register, lane, negative(2))
                } else {
                    constant
                };
                for k in 0..4 {
                    let x = read(plan.ab[0], 0, 16 * k + row, negative(0));
                    let y = read(plan.ab[1], 0, 16 * k + column, negative(1));
                    sum = x.mul_add(y, sum);
                }
                out[register][lane] = sum;
            }
        }
        for (register, line) in out.iter().enumerate() {
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
