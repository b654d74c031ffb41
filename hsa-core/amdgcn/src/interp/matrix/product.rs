//! D = A·B + C for all types but f64.
//!
//! A row of sums is `WIDE` vectors; `ROWS` rows are summed up at a time, so that independent additions hide each other's latency. Each sum
//! takes its products in the order of k all the same.

use std::{marker::PhantomData, mem::MaybeUninit, ops::Range};

use crate::ir::Ref;

use super::{
    super::{vector::Products, wave::Wave},
    Layout, MatrixPlan, Sum,
    sum::Accumulator,
    unpack::{Operands, SCALED, unpack},
};

/// Rows of a block: its number, that of A's block, and the first row.
#[derive(Clone, Copy)]
struct Rows {
    block: usize,
    a_block: usize,
    row: usize,
}

/// The operation.
///
/// # Safety
/// The plan's registers are in the wave's file, and the host has the features of `V`. `SIZE` is the plan's.
#[inline(always)]
pub(super) unsafe fn multiply<
    T: Accumulator,
    V: Products<T>,
    const SIZE: usize,
    const WIDE: usize,
    const ROWS: usize,
>(
    w: &mut Wave,
    plan: &MatrixPlan,
) {
    let mut operands = MaybeUninit::<Operands<T>>::uninit();
    // SAFETY: the registers are in the file; the sums read what `unpack` has written.
    unsafe {
        unpack::<T, SIZE>(w, plan, operands.as_mut_ptr());
        let product = Product::<T, V, SIZE, WIDE, ROWS> {
            plan,
            operands: operands.as_ptr(),
            vectors: PhantomData,
        };
        if plan.is_plain() {
            product.blocks::<true>(w);
        } else {
            product.blocks::<false>(w);
        }
    }
}

/// A product whose operands have been read.
struct Product<'a, T, V, const SIZE: usize, const WIDE: usize, const ROWS: usize> {
    plan: &'a MatrixPlan,
    operands: *const Operands<T>,
    vectors: PhantomData<V>,
}

impl<T: Accumulator, V: Products<T>, const SIZE: usize, const WIDE: usize, const ROWS: usize>
    Product<'_, T, V, SIZE, WIDE, ROWS>
{
    /// Sums all blocks up; `PLAIN` as [`MatrixPlan::is_plain`] says.
    #[inline(always)]
    unsafe fn blocks<const PLAIN: bool>(&self, w: &mut Wave) {
        const { assert!(WIDE * V::LANES == SIZE && SIZE.is_multiple_of(ROWS)) };
        let plan = self.plan;
        let mut copy = MaybeUninit::uninit();
        // SAFETY: by the caller of `multiply`.
        unsafe {
            let c = addend(w, plan, &mut copy);
            let group = (1usize << plan.cbsz) - 1;
            for block in 0..plan.blocks {
                let a_block = if plan.cbsz == 0 {
                    block
                } else {
                    (block & !group) | plan.abid as usize & group
                };
                for row in (0..SIZE).step_by(ROWS) {
                    let rows = Rows {
                        block,
                        a_block,
                        row,
                    };
                    let mut sums = [[T::default(); SIZE]; ROWS];
                    for (n, sums) in sums.iter_mut().enumerate() {
                        *sums = row_of_c::<T, SIZE, PLAIN>(w, plan, c, block, row + n);
                    }
                    if PLAIN {
                        sums = self.sum_up::<false>(rows, 0..plan.depth, sums);
                    } else {
                        self.add_products(rows, &mut sums);
                    }
                    for (n, sums) in sums.iter().enumerate() {
                        let (offset, half) = plan.place::<PLAIN>(w, block, row + n);
                        let to = w.base[0]
                            .add(plan.d as usize + offset)
                            .cast::<[u32; SIZE]>();
                        if PLAIN {
                            to.write_unaligned(T::to_words(plan, sums));
                        } else {
                            let mut words = to.read_unaligned();
                            T::put(plan, sums, &mut words, half);
                            to.write_unaligned(words);
                        }
                    }
                }
            }
        }
    }

    /// Adds the products of all k values to the sums of some rows, however that is to be done.
    #[inline(always)]
    unsafe fn add_products(&self, rows: Rows, sums: &mut [[T; SIZE]; ROWS]) {
        let all = 0..self.plan.stored_depth();
        // SAFETY: by the caller.
        unsafe {
            if self.plan.scales.is_some() {
                self.add_scaled(rows, sums);
            } else if self.plan.clamp {
                let products = self.products(rows, all, [[T::default(); SIZE]; ROWS]);
                for (sum, products) in sums
                    .iter_mut()
                    .flatten()
                    .zip(products.into_iter().flatten())
                {
                    *sum = sum.add_block(products, Some(0));
                }
            } else {
                *sums = self.products(rows, all, *sums);
            }
        }
    }

    /// Adds to sums the products of each block of k values, scaled.
    #[inline(always)]
    unsafe fn add_scaled(&self, rows: Rows, sums: &mut [[T; SIZE]; ROWS]) {
        // SAFETY: by the caller `unpack` has written the exponents.
        unsafe {
            for from in (0..self.plan.depth).step_by(SCALED) {
                let exponent = |which: usize, row: usize| {
                    let exponents = (&raw const (*self.operands).exponents[which]).cast::<u32>();
                    *exponents.add(from / SCALED * SIZE + row)
                };
                let none = [[T::default(); SIZE]; ROWS];
                let products = self.products(rows, from..from + SCALED, none);
                for (n, (sums, products)) in sums.iter_mut().zip(products).enumerate() {
                    let of_row = exponent(0, rows.row + n);
                    for (column, (sum, products)) in sums.iter_mut().zip(products).enumerate() {
                        let of_column = exponent(1, column);
                        let valid = of_row != 255 && of_column != 255;
                        let exponent = (of_row + of_column).cast_signed() - 254;
                        *sum = sum.add_block(products, valid.then_some(exponent));
                    }
                }
            }
        }
    }

    /// `sums` and the products of the stored k values `range`.
    #[inline(always)]
    unsafe fn products(
        &self,
        rows: Rows,
        range: Range<usize>,
        sums: [[T; SIZE]; ROWS],
    ) -> [[T; SIZE]; ROWS] {
        // SAFETY: by the caller.
        unsafe {
            if self.plan.sparse.is_some() {
                self.sum_up::<true>(rows, range, sums)
            } else {
                self.sum_up::<false>(rows, range, sums)
            }
        }
    }

    /// See [`products`](Self::products).
    #[inline(always)]
    unsafe fn sum_up<const SPARSE: bool>(
        &self,
        rows: Rows,
        range: Range<usize>,
        sums: [[T; SIZE]; ROWS],
    ) -> [[T; SIZE]; ROWS] {
        // SAFETY: `WIDE` vectors are a row, and any bits are a value. By the caller `unpack` has written the operands of the plan's blocks,
        // rows and k values; indices of a sparse A are below the depth.
        unsafe {
            let mut tile = sums.as_ptr().cast::<[[V; WIDE]; ROWS]>().read_unaligned();
            let first = rows.a_block * self.plan.stored_depth() * SIZE + rows.row;
            let a = (&raw const (*self.operands).a).cast::<T>().add(first);
            let k_of = (&raw const (*self.operands).k).cast::<u8>().add(first);
            let b = (&raw const (*self.operands).b)
                .cast::<T>()
                .add(rows.block * self.plan.depth * SIZE);
            for k in range {
                for (row, sums) in tile.iter_mut().enumerate() {
                    let at = k * SIZE + row;
                    let value = V::splat(*a.add(at));
                    let of_b = if SPARSE {
                        usize::from(*k_of.add(at))
                    } else {
                        k
                    };
                    for (part, sum) in sums.iter_mut().enumerate() {
                        let line = V::load(b.add(of_b * SIZE + part * V::LANES));
                        *sum = sum.add_product(value, line);
                    }
                }
            }
            tile.as_ptr().cast::<[[T; SIZE]; ROWS]>().read_unaligned()
        }
    }
}

impl MatrixPlan {
    /// Whether C and D are whole dwords as they are, and the products are of a dense A without scales and without saturation.
    fn is_plain(&self) -> bool {
        matches!(self.sum, Sum::F32 | Sum::I32)
            && self.c_signs == [false; 2]
            && self.scales.is_none()
            && self.sparse.is_none()
            && !self.clamp
    }

    /// Byte offset of a row of C or D from the first register, and the half of its dwords.
    #[inline(always)]
    fn place<const PLAIN: bool>(&self, w: &Wave, block: usize, row: usize) -> (usize, usize) {
        let (place, lane) = self.row_place(block, row);
        if PLAIN {
            return (w.chunks * 64 * place + 4 * lane, 0);
        }
        let packed = matches!(self.sum, Sum::F16 | Sum::Bf16);
        let (register, half) = match self.layout {
            Layout::Wmma12 if packed => (place / 2, place % 2),
            _ => (place, usize::from(self.high)),
        };
        (w.chunks * 64 * register + 4 * lane, half)
    }
}

/// C.
#[derive(Clone, Copy)]
enum Addend {
    /// The same dword everywhere.
    Constant(u32),
    /// In registers from here on.
    Registers(*const u8),
}

/// Where C is read from while D is being written: registers that D overlaps in part are copied first.
#[inline(always)]
unsafe fn addend(w: &Wave, plan: &MatrixPlan, copy: &mut MaybeUninit<[u8; 32 * 256]>) -> Addend {
    // SAFETY: by the caller the registers are in the file; D has 32 of 256 bytes at most.
    unsafe {
        let at = w.base[plan.c.selector() as usize].add(plan.c.offset() as usize);
        if plan.c.selector() != Ref::FILE {
            return Addend::Constant(at.cast::<u32>().read_unaligned());
        }
        let bytes = w.chunks * 64 * plan.sum_registers();
        let apart = plan.c.offset().abs_diff(plan.d) as usize;
        if apart == 0 || apart >= bytes {
            return Addend::Registers(at);
        }
        std::ptr::copy_nonoverlapping(at, copy.as_mut_ptr().cast(), bytes);
        Addend::Registers(copy.as_ptr().cast())
    }
}

/// A row of C.
#[inline(always)]
unsafe fn row_of_c<T: Accumulator, const SIZE: usize, const PLAIN: bool>(
    w: &Wave,
    plan: &MatrixPlan,
    c: Addend,
    block: usize,
    row: usize,
) -> [T; SIZE] {
    match c {
        Addend::Constant(word) => T::from_words(plan, &[word; SIZE], 0),
        Addend::Registers(base) => {
            let (offset, half) = plan.place::<PLAIN>(w, block, row);
            // SAFETY: by the caller; any dword is a sum.
            unsafe {
                let at = base.add(offset);
                if PLAIN {
                    at.cast::<[T; SIZE]>().read_unaligned()
                } else {
                    T::from_words(plan, &at.cast::<[u32; SIZE]>().read_unaligned(), half)
                }
            }
        }
    }
}
