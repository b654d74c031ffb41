//! A matrix operation against the product computed here.

use crate::{
    kinds::{F32, Kind, plain},
    support::*,
};

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Layout {
    Mfma,
    Wmma11 { lanes: usize },
    Wmma12 { lanes: usize },
}

pub(crate) struct Case {
    pub(crate) target: &'static str,
    /// The instruction; `D`, `A`, `B`, `I` stand for the registers, and `O` for the result where it is not `D`.
    pub(crate) text: &'static str,
    pub(crate) a: Kind,
    pub(crate) b: Kind,
    pub(crate) size: usize,
    pub(crate) depth: usize,
    pub(crate) blocks: usize,
    pub(crate) layout: Layout,
    /// Two of four k values of A are stored; the shift of the set of indices in the register.
    pub(crate) sparse: Option<usize>,
    /// A, B: the second half of a lane's elements is half the depth further on.
    pub(crate) split: [bool; 2],
    /// A, B: the byte of the registers `S` and `T` that holds the scales.
    pub(crate) scales: Option<[u32; 2]>,
    /// First register of the result.
    pub(crate) result: usize,
}

/// The first register of the addend, and of the result if that is in its place.
pub(crate) const SUMS: usize = 64;

pub(crate) const MFMA: Case = Case {
    target: "gfx90a",
    text: "",
    a: F32,
    b: F32,
    size: 16,
    depth: 4,
    blocks: 1,
    layout: Layout::Mfma,
    sparse: None,
    split: [false; 2],
    scales: None,
    result: SUMS,
};

/// Exponent of the scale of a block of 32 k values of a row of A (`which` 0) or a column of B.
fn exponent(which: usize, row: usize, block: usize) -> i32 {
    ((3 * which + row + 2 * block) % 5) as i32 - 2
}

/// Numbers −2 to 2 that differ along rows and columns.
fn value(seed: usize, row: usize, column: usize) -> i32 {
    ((seed + 7 * row + 3 * column + row * column) % 5) as i32 - 2
}

/// The second number of a pair of k values that a sparse row keeps of each four, and the first.
fn kept(row: usize, group: usize) -> [usize; 2] {
    [[0, 1], [1, 3], [0, 3], [2, 3], [0, 2], [1, 2]][(row + group) % 6]
}

impl Case {
    /// A product of dense matrices in one block.
    pub(crate) fn dense(
        target: &'static str,
        text: &'static str,
        [a, b]: [Kind; 2],
        size: usize,
        depth: usize,
    ) -> Self {
        Self {
            target,
            text,
            a,
            b,
            size,
            depth,
            ..MFMA
        }
    }

    fn lanes(&self) -> usize {
        match self.layout {
            Layout::Mfma => 64,
            Layout::Wmma11 { lanes } | Layout::Wmma12 { lanes } => lanes,
        }
    }

    /// Lane and number in the lane of element (row, k) of a block of A, or (column, k) of B, whose matrix has `depth` values of k.
    fn place(
        &self,
        row: usize,
        k: usize,
        block: usize,
        depth: usize,
        split: bool,
    ) -> (usize, usize) {
        if split {
            let half = self.size * depth / 128;
            let (second, k) = (k / (depth / 2), k % (depth / 2));
            return (k / half * self.size + row, second * half + k % half);
        }
        match self.layout {
            Layout::Wmma11 { .. } => (row, k),
            Layout::Wmma12 { lanes } => {
                let per_lane = depth * 16 / lanes;
                (16 * (k / per_lane) + row, k % per_lane)
            }
            Layout::Mfma => {
                let per_lane = self.size * depth * self.blocks / 64;
                let lane = k / per_lane * (self.size * self.blocks) + block * self.size + row;
                (lane, k % per_lane)
            }
        }
    }

    fn place_of_sum(&self, row: usize, column: usize, block: usize) -> (usize, usize) {
        match (self.layout, self.size) {
            (Layout::Wmma11 { lanes }, _) => {
                let groups = lanes / 16;
                (16 * (row % groups) + column, row / groups)
            }
            (Layout::Wmma12 { lanes }, _) => {
                let rows = 256 / lanes;
                (16 * (row / rows) + column, row % rows)
            }
            (_, 32) => (
                32 * (row / 4 % 2) + column,
                16 * block + 4 * (row / 8) + row % 4,
            ),
            (_, 16) => (16 * (row / 4) + column, 4 * block + row % 4),
            _ => (4 * block + column, row),
        }
    }

    pub(crate) fn check(&self) {
        let lanes = self.lanes();
        let stored = if self.sparse.is_some() {
            self.depth / 2
        } else {
            self.depth
        };
        let registers = |kind: Kind, depth: usize| {
            let per_lane = match self.layout {
                Layout::Wmma11 { .. } => depth,
                Layout::Mfma => self.size * depth * self.blocks / 64,
                Layout::Wmma12 { lanes } => depth * 16 / lanes,
            };
            (per_lane * kind.bits).div_ceil(32)
        };
        let (in_a, in_b) = (registers(self.a, stored), registers(self.b, self.depth));
        let sums = self.size * self.size * self.blocks / lanes;
        let mut memory = vec![0u32; (in_a + in_b + 3 + sums) * lanes];
        let after = in_a + in_b + 3;
        let mut put = |first: usize, (lane, number): (usize, usize), kind: Kind, x: i32| {
            let bit = number * kind.bits;
            let word = &mut memory[(first + bit / 32) * lanes + lane];
            *word |= (kind.encode)(x) << (bit % 32);
            if bit % 32 + kind.bits > 32 {
                memory[(first + bit / 32 + 1) * lanes + lane] |=
                    (kind.encode)(x) >> (32 - bit % 32);
            }
        };
        if let Some(bytes) = self.scales {
            for (which, byte) in bytes.into_iter().enumerate() {
                for block in 0..self.depth / 32 {
                    for row in 0..self.size {
                        // The other bytes hold what makes NaN.
                        let scale = (127 + exponent(which, row, block)).cast_unsigned();
                        let word = !(0xff << (8 * byte)) | scale << (8 * byte);
                        let lane = block * self.size + row;
                        put(
                            in_a + in_b + 1 + which,
                            (lane, 0),
                            plain(32),
                            word.cast_signed(),
                        );
                    }
                }
            }
        }
        let a = |block: usize, row: usize, k: usize| value(block, row, k);
        let b = |block: usize, k: usize, column: usize| value(block + 1, column, k + 2);
        let c = |block: usize, row: usize, column: usize| value(block + 2, column, row) * 10;
        // The other lanes of a WMMA hold copies.
        let copies = match self.layout {
            Layout::Wmma11 { lanes } => lanes / 16,
            Layout::Mfma | Layout::Wmma12 { .. } => 1,
        };
        for block in 0..self.blocks {
            for row in 0..self.size {
                for copy in 0..copies {
                    for k in 0..stored {
                        let (lane, number) = self.place(row, k, block, stored, self.split[0]);
                        let from = match self.sparse {
                            None => k,
                            Some(_) => 4 * (k / 2) + kept(row, k / 2)[k % 2],
                        };
                        put(0, (lane + 16 * copy, number), self.a, a(block, row, from));
                        if let Some(shift) = self.sparse {
                            put(
                                in_a + in_b,
                                (lane, shift / 2 + number),
                                plain(2),
                                kept(row, k / 2)[k % 2] as i32,
                            );
                        }
                    }
                    for k in 0..self.depth {
                        let (lane, number) = self.place(row, k, block, self.depth, self.split[1]);
                        put(in_a, (lane + 16 * copy, number), self.b, b(block, k, row));
                    }
                }
                for column in 0..self.size {
                    let (lane, register) = self.place_of_sum(row, column, block);
                    let kind = if self.a.is_integer() { plain(32) } else { F32 };
                    put(after + register, (lane, 0), kind, c(block, row, column));
                }
            }
        }
        let group = |first: usize, count: usize| match count {
            1 => format!("v{first}"),
            _ => format!("v[{first}:{}]", first + count - 1),
        };
        let text = self
            .text
            .replace('D', &group(SUMS, sums))
            .replace('O', &group(self.result, sums))
            .replace('A', &group(32, in_a))
            .replace('B', &group(48, in_b))
            .replace('I', "v30")
            .replace('S', "v28")
            .replace('T', "v29");
        let mut code = String::new();
        let places = (32..32 + in_a)
            .chain(48..48 + in_b)
            .chain([30, 28, 29])
            .chain(SUMS..SUMS + sums);
        for (at, register) in places.enumerate() {
            code += &load_lanes(register, at * 4 * lanes);
        }
        let wait = if self.target.starts_with("gfx12") {
            "s_wait_loadcnt 0x0"
        } else {
            "s_waitcnt vmcnt(0)"
        };
        code += &format!("{wait}\n{text}\ns_nop 15\ns_nop 15\n");
        for register in 0..sums {
            code += &store_lanes(self.result + register, (after + register) * 4 * lanes);
        }
        let Some(result) = run_with_wave(self.target, lanes, &code, &memory) else {
            return;
        };
        for block in 0..self.blocks {
            for row in 0..self.size {
                for column in 0..self.size {
                    let (lane, register) = self.place_of_sum(row, column, block);
                    let got = result[(after + register) * lanes + lane];
                    if self.scales.is_some() {
                        let want =
                            (0..self.depth).fold(f64::from(c(block, row, column)), |sum, k| {
                                let scale = exponent(0, row, k / 32) + exponent(1, column, k / 32);
                                let product = a(block, row, k) * b(block, k, column);
                                sum + f64::from(product) * f64::from(scale).exp2()
                            });
                        let what = format!("{}: row {row} column {column}", self.text);
                        assert_eq!(f64::from(f32::from_bits(got)), want, "{what}");
                        continue;
                    }
                    let want = (0..self.depth)
                        .filter(|k| self.sparse.is_none() || kept(row, k / 4).contains(&(k % 4)))
                        .fold(c(block, row, column), |sum, k| {
                            sum + a(block, row, k) * b(block, k, column)
                        });
                    let want = if self.a.is_integer() {
                        want.cast_unsigned()
                    } else {
                        (want as f32).to_bits()
                    };
                    assert_eq!(
                        got, want,
                        "{}: block {block} row {row} column {column}",
                        self.text
                    );
                }
            }
        }
    }
}

/// Runs one wave of 32 or 64 lanes.
pub(crate) fn run_with_wave(
    target: &str,
    lanes: usize,
    code: &str,
    memory: &[u32],
) -> Option<Vec<u32>> {
    let directives = match (target.starts_with("gfx9"), lanes) {
        (false, 64) => ".amdhsa_wavefront_size32 0",
        _ => "",
    };
    let result = run_bytes(target, directives, code, lanes as u32, &bytes_of(memory))?;
    Some(dwords_of(&result))
}
