//! Matrix operations of all families, in assembly, against matrices multiplied here. Elements are small integers, so that sums are exact in
//! any order. Where an element lies is AMD's matrix instruction calculator's formula, written here from the element to the register.

mod support;

use support::*;

/// An element type: its bits and how an integer is written in it.
#[derive(Clone, Copy)]
struct Kind {
    bits: usize,
    encode: fn(i32) -> u32,
}

fn f16(x: i32) -> u32 {
    u32::from(half::f16::from_f32(x as f32).to_bits())
}

fn bf16(x: i32) -> u32 {
    (x as f32).to_bits() >> 16
}

/// An 8-bit float with the exponent bias and mantissa bits of FP8 or BF8; `x` is 0 or ±1 to ±3.
fn float8(x: i32, bias: u32, mantissa: u32) -> u32 {
    if x == 0 {
        return 0;
    }
    let exponent = x.unsigned_abs().ilog2();
    let fraction = (x.unsigned_abs() << (mantissa - exponent)) & ((1 << mantissa) - 1);
    u32::from(x < 0) << 7 | (bias + exponent) << mantissa | fraction
}

const F32: Kind = Kind {
    bits: 32,
    encode: |x| (x as f32).to_bits(),
};
const F16: Kind = Kind {
    bits: 16,
    encode: f16,
};
const BF16: Kind = Kind {
    bits: 16,
    encode: bf16,
};
const I8: Kind = Kind {
    bits: 8,
    encode: |x| x.cast_unsigned() & 0xff,
};
const I4: Kind = Kind {
    bits: 4,
    encode: |x| x.cast_unsigned() & 0xf,
};
const FP8: Kind = Kind {
    bits: 8,
    encode: |x| float8(x, 8, 3),
};
const BF8: Kind = Kind {
    bits: 8,
    encode: |x| float8(x, 16, 2),
};

/// The kinds of the Open Compute Project.
const FP8_OCP: Kind = Kind {
    bits: 8,
    encode: |x| float8(x, 7, 3),
};
const BF8_OCP: Kind = Kind {
    bits: 8,
    encode: |x| float8(x, 15, 2),
};
const FP6: Kind = Kind {
    bits: 6,
    encode: |x| narrow_sign(float8(x, 1, 3), 6),
};
const BF6: Kind = Kind {
    bits: 6,
    encode: |x| narrow_sign(float8(x, 3, 2), 6),
};
/// All integers to ±2 are values of it.
const FP4: Kind = Kind {
    bits: 4,
    encode: |x| narrow_sign(float8(x, 1, 1), 4),
};

/// The sign of an 8-bit float as the highest of `bits` bits.
fn narrow_sign(x: u32, bits: u32) -> u32 {
    x & 0x7f | x >> 7 << (bits - 1)
}

#[derive(Clone, Copy, PartialEq)]
enum Layout {
    Mfma,
    Wmma11 { lanes: usize },
    Wmma12 { lanes: usize },
}

struct Case {
    target: &'static str,
    /// The instruction; `D`, `A`, `B`, `I` stand for the registers.
    text: &'static str,
    a: Kind,
    b: Kind,
    /// Integer sums.
    integer: bool,
    size: usize,
    depth: usize,
    blocks: usize,
    layout: Layout,
    /// Two of four k values of A are stored; the shift of the set of indices in the register.
    sparse: Option<usize>,
    /// A, B: the second half of a lane's elements is half the depth further on.
    split: [bool; 2],
    /// A, B: the byte of the registers `S` and `T` that holds the scales.
    scales: Option<[u32; 2]>,
}

const MFMA: Case = Case {
    target: "gfx90a",
    text: "",
    a: F32,
    b: F32,
    integer: false,
    size: 16,
    depth: 4,
    blocks: 1,
    layout: Layout::Mfma,
    sparse: None,
    split: [false; 2],
    scales: None,
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

    fn check(&self) {
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
                        let bits = Kind {
                            bits: 32,
                            encode: |x| x.cast_unsigned(),
                        };
                        let lane = block * self.size + row;
                        put(in_a + in_b + 1 + which, (lane, 0), bits, word.cast_signed());
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
                            let index = Kind {
                                bits: 2,
                                encode: |x| x.cast_unsigned(),
                            };
                            put(
                                in_a + in_b,
                                (lane, shift / 2 + number),
                                index,
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
                    let kind = if self.integer {
                        Kind {
                            bits: 32,
                            encode: |x| x.cast_unsigned(),
                        }
                    } else {
                        F32
                    };
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
            .replace('D', &group(64, sums))
            .replace('A', &group(32, in_a))
            .replace('B', &group(48, in_b))
            .replace('I', "v30")
            .replace('S', "v28")
            .replace('T', "v29");
        let mut code = String::new();
        let places = (32..32 + in_a)
            .chain(48..48 + in_b)
            .chain([30, 28, 29])
            .chain(64..64 + sums);
        for (at, register) in places.enumerate() {
            code += &format!(
                "s_movk_i32 s20, {}\nv_lshl_add_u32 v2, v0, 2, s20\nglobal_load_dword v{register}, v2, s[2:3]\n",
                at * 4 * lanes
            );
        }
        let wait = if self.target.starts_with("gfx12") {
            "s_wait_loadcnt 0x0"
        } else {
            "s_waitcnt vmcnt(0)"
        };
        code += &format!("{wait}\n{text}\ns_nop 15\ns_nop 15\n");
        for register in 0..sums {
            let at = (after + register) * 4 * lanes;
            code += &format!(
                "s_movk_i32 s20, {at}\nv_lshl_add_u32 v2, v0, 2, s20\nglobal_store_dword v2, v{}, s[2:3]\n",
                64 + register
            );
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
                    let want = if self.integer {
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
fn run_with_wave(target: &str, lanes: usize, code: &str, memory: &[u32]) -> Option<Vec<u32>> {
    let bytes: Vec<u8> = memory.iter().flat_map(|word| word.to_le_bytes()).collect();
    let directives = match (target.starts_with("gfx9"), lanes) {
        (false, 64) => ".amdhsa_wavefront_size32 0",
        _ => "",
    };
    let result = run_bytes(target, directives, code, lanes as u32, &bytes)?;
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
    Some(result.chunks_exact(4).map(word).collect())
}

#[test]
fn mfma_of_gfx908_and_gfx90a() {
    let case = |text, kind: Kind, size, depth, blocks| Case {
        text,
        a: kind,
        b: kind,
        integer: kind.bits == 8,
        size,
        depth,
        blocks,
        ..MFMA
    };
    case("v_mfma_f32_32x32x1f32 D, A, B, D", F32, 32, 1, 2).check();
    case("v_mfma_f32_16x16x1f32 D, A, B, D", F32, 16, 1, 4).check();
    case("v_mfma_f32_4x4x1f32 D, A, B, D", F32, 4, 1, 16).check();
    case("v_mfma_f32_32x32x4f16 D, A, B, D", F16, 32, 4, 2).check();
    case("v_mfma_f32_16x16x16f16 D, A, B, D", F16, 16, 16, 1).check();
    case("v_mfma_f32_4x4x4f16 D, A, B, D", F16, 4, 4, 16).check();
    case("v_mfma_f32_32x32x4bf16 D, A, B, D", BF16, 32, 4, 1).check();
    case("v_mfma_f32_16x16x4bf16_1k D, A, B, D", BF16, 16, 4, 4).check();
    case("v_mfma_i32_32x32x8i8 D, A, B, D", I8, 32, 8, 1).check();
    case("v_mfma_i32_16x16x4i8 D, A, B, D", I8, 16, 4, 4).check();
}

#[test]
fn mfma_of_gfx942_in_small_floats_and_xf32() {
    let case = |text, a: Kind, b: Kind, size, depth| Case {
        target: "gfx942",
        text,
        a,
        b,
        integer: a.bits == 8 && (a.encode)(1) == 1,
        size,
        depth,
        ..MFMA
    };
    case("v_mfma_f32_16x16x8_xf32 D, A, B, D", F32, F32, 16, 8).check();
    case("v_mfma_f32_32x32x4_xf32 D, A, B, D", F32, F32, 32, 4).check();
    case("v_mfma_f32_16x16x32_fp8_fp8 D, A, B, D", FP8, FP8, 16, 32).check();
    case("v_mfma_f32_16x16x32_bf8_fp8 D, A, B, D", BF8, FP8, 16, 32).check();
    case("v_mfma_f32_32x32x16_fp8_bf8 D, A, B, D", FP8, BF8, 32, 16).check();
    case("v_mfma_f32_32x32x16_bf8_bf8 D, A, B, D", BF8, BF8, 32, 16).check();
    case("v_mfma_i32_16x16x32_i8 D, A, B, D", I8, I8, 16, 32).check();
    case("v_mfma_i32_32x32x16_i8 D, A, B, D", I8, I8, 32, 16).check();
}

#[test]
fn deep_mfma_of_gfx950() {
    let case = |text, a: Kind, b: Kind, size, depth| Case {
        target: "gfx950",
        text,
        a,
        b,
        integer: a.bits == 8 && (a.encode)(1) == 1,
        size,
        depth,
        ..MFMA
    };
    case("v_mfma_f32_16x16x32_f16 D, A, B, D", F16, F16, 16, 32).check();
    case("v_mfma_f32_32x32x16_f16 D, A, B, D", F16, F16, 32, 16).check();
    case("v_mfma_f32_16x16x32_bf16 D, A, B, D", BF16, BF16, 16, 32).check();
    case("v_mfma_f32_32x32x16_bf16 D, A, B, D", BF16, BF16, 32, 16).check();
    case("v_mfma_i32_16x16x64_i8 D, A, B, D", I8, I8, 16, 64).check();
    case("v_mfma_i32_32x32x32_i8 D, A, B, D", I8, I8, 32, 32).check();
    // The older ones, with 8-bit floats of the other kind.
    let (fp8, bf8) = (FP8_OCP, BF8_OCP);
    case("v_mfma_f32_16x16x32_fp8_bf8 D, A, B, D", fp8, bf8, 16, 32).check();
    case("v_mfma_f32_32x32x16_bf8_fp8 D, A, B, D", bf8, fp8, 32, 16).check();
    case("v_mfma_f32_32x32x2_f32 D, A, B, D", F32, F32, 32, 2).check();
}

/// The formats by the number that an instruction names them with.
const FORMATS: [Kind; 5] = [FP8_OCP, BF8_OCP, FP6, BF6, FP4];

#[test]
fn mfma_of_gfx950_in_every_pair_of_formats() {
    for (size, depth, name) in [(16, 128, "16x16x128"), (32, 64, "32x32x64")] {
        for (x, a) in FORMATS.into_iter().enumerate() {
            for (y, b) in FORMATS.into_iter().enumerate() {
                let text = format!("v_mfma_f32_{name}_f8f6f4 D, A, B, D cbsz:{x} blgp:{y}");
                Case {
                    target: "gfx950",
                    text: text.leak(),
                    a,
                    b,
                    size,
                    depth,
                    split: [a.bits == 8, b.bits == 8],
                    ..MFMA
                }
                .check();
            }
        }
    }
}

#[test]
fn scales_of_gfx950_count_for_their_blocks_of_rows_and_columns() {
    for (size, depth, name) in [(16, 128, "16x16x128"), (32, 64, "32x32x64")] {
        for (x, y, bytes) in [
            (0, 0, [0, 0]),
            (4, 4, [1, 2]),
            (2, 1, [3, 0]),
            (0, 4, [2, 3]),
        ] {
            let (a, b) = (FORMATS[x], FORMATS[y]);
            let [p, q] = bytes;
            let text = format!(
                "v_mfma_scale_f32_{name}_f8f6f4 D, A, B, D, S, T op_sel:[{},{},0] op_sel_hi:[{},{},0] cbsz:{x} blgp:{y}",
                p & 1,
                q & 1,
                p >> 1,
                q >> 1
            );
            Case {
                target: "gfx950",
                text: text.leak(),
                a,
                b,
                size,
                depth,
                split: [a.bits == 8, b.bits == 8],
                scales: Some(bytes),
                ..MFMA
            }
            .check();
        }
    }
}

#[test]
fn deep_smfmac_of_gfx950() {
    let case = |text, a: Kind, b: Kind, size, depth, shift| Case {
        target: "gfx950",
        text,
        a,
        b,
        integer: a.bits == 8 && (a.encode)(1) == 1,
        size,
        depth,
        sparse: Some(shift),
        split: [false, true],
        ..MFMA
    };
    let (fp8, bf8) = (FP8_OCP, BF8_OCP);
    case("v_smfmac_f32_16x16x64_f16 D, A, B, I", F16, F16, 16, 64, 0).check();
    case(
        "v_smfmac_f32_32x32x32_f16 D, A, B, I abid:1",
        F16,
        F16,
        32,
        32,
        16,
    )
    .check();
    case(
        "v_smfmac_f32_16x16x64_bf16 D, A, B, I abid:1",
        BF16,
        BF16,
        16,
        64,
        16,
    )
    .check();
    case(
        "v_smfmac_f32_32x32x32_bf16 D, A, B, I",
        BF16,
        BF16,
        32,
        32,
        0,
    )
    .check();
    case("v_smfmac_i32_16x16x128_i8 D, A, B, I", I8, I8, 16, 128, 0).check();
    case("v_smfmac_i32_32x32x64_i8 D, A, B, I", I8, I8, 32, 64, 0).check();
    case(
        "v_smfmac_f32_16x16x128_bf8_bf8 D, A, B, I",
        bf8,
        bf8,
        16,
        128,
        0,
    )
    .check();
    case(
        "v_smfmac_f32_16x16x128_bf8_fp8 D, A, B, I",
        bf8,
        fp8,
        16,
        128,
        0,
    )
    .check();
    case(
        "v_smfmac_f32_16x16x128_fp8_bf8 D, A, B, I",
        fp8,
        bf8,
        16,
        128,
        0,
    )
    .check();
    case(
        "v_smfmac_f32_16x16x128_fp8_fp8 D, A, B, I",
        fp8,
        fp8,
        16,
        128,
        0,
    )
    .check();
    case(
        "v_smfmac_f32_32x32x64_bf8_bf8 D, A, B, I",
        bf8,
        bf8,
        32,
        64,
        0,
    )
    .check();
    case(
        "v_smfmac_f32_32x32x64_bf8_fp8 D, A, B, I",
        bf8,
        fp8,
        32,
        64,
        0,
    )
    .check();
    case(
        "v_smfmac_f32_32x32x64_fp8_bf8 D, A, B, I",
        fp8,
        bf8,
        32,
        64,
        0,
    )
    .check();
    case(
        "v_smfmac_f32_32x32x64_fp8_fp8 D, A, B, I",
        fp8,
        fp8,
        32,
        64,
        0,
    )
    .check();
}

#[test]
fn smfmac_multiplies_the_values_that_the_indices_name() {
    let case = |text, a: Kind, b: Kind, size, depth, shift| Case {
        target: "gfx942",
        text,
        a,
        b,
        integer: a.bits == 8 && (a.encode)(1) == 1,
        size,
        depth,
        sparse: Some(shift),
        ..MFMA
    };
    case("v_smfmac_f32_16x16x32_f16 D, A, B, I", F16, F16, 16, 32, 0).check();
    case(
        "v_smfmac_f32_16x16x32_bf16 D, A, B, I abid:2",
        BF16,
        BF16,
        16,
        32,
        16,
    )
    .check();
    case(
        "v_smfmac_f32_32x32x16_f16 D, A, B, I abid:3",
        F16,
        F16,
        32,
        16,
        24,
    )
    .check();
    case(
        "v_smfmac_i32_16x16x64_i8 D, A, B, I abid:1",
        I8,
        I8,
        16,
        64,
        16,
    )
    .check();
    case(
        "v_smfmac_i32_32x32x32_i8 D, A, B, I cbsz:1 abid:1",
        I8,
        I8,
        32,
        32,
        0,
    )
    .check();
    case(
        "v_smfmac_f32_16x16x64_fp8_bf8 D, A, B, I",
        FP8,
        BF8,
        16,
        64,
        0,
    )
    .check();
    case(
        "v_smfmac_f32_32x32x32_bf8_fp8 D, A, B, I abid:1",
        BF8,
        FP8,
        32,
        32,
        16,
    )
    .check();
}

#[test]
fn wmma_of_gfx11_in_both_wave_sizes() {
    for lanes in [32, 64] {
        let case = |text, kind: Kind| Case {
            target: "gfx1100",
            text,
            a: kind,
            b: kind,
            integer: kind.bits < 16,
            size: 16,
            depth: 16,
            layout: Layout::Wmma11 { lanes },
            ..MFMA
        };
        case("v_wmma_f32_16x16x16_f16 D, A, B, D", F16).check();
        case("v_wmma_f32_16x16x16_bf16 D, A, B, D", BF16).check();
        case("v_wmma_i32_16x16x16_iu8 D, A, B, D neg_lo:[1,1,0]", I8).check();
        case("v_wmma_i32_16x16x16_iu4 D, A, B, D neg_lo:[1,1,0]", I4).check();
    }
}

#[test]
fn wmma_of_gfx12_in_both_wave_sizes() {
    for lanes in [32, 64] {
        let case = |text, a: Kind, b: Kind, depth, sparse| Case {
            target: "gfx1200",
            text,
            a,
            b,
            integer: (a.encode)(1) == 1,
            size: 16,
            depth,
            layout: Layout::Wmma12 { lanes },
            sparse,
            ..MFMA
        };
        let dense = |text, a, b, depth| case(text, a, b, depth, None).check();
        dense("v_wmma_f32_16x16x16_f16 D, A, B, D", F16, F16, 16);
        dense("v_wmma_f32_16x16x16_bf16 D, A, B, D", BF16, BF16, 16);
        dense(
            "v_wmma_i32_16x16x16_iu8 D, A, B, D neg_lo:[1,1,0]",
            I8,
            I8,
            16,
        );
        dense(
            "v_wmma_i32_16x16x16_iu4 D, A, B, D neg_lo:[1,1,0]",
            I4,
            I4,
            16,
        );
        dense(
            "v_wmma_i32_16x16x32_iu4 D, A, B, D neg_lo:[1,1,0]",
            I4,
            I4,
            32,
        );
        dense(
            "v_wmma_f32_16x16x16_fp8_bf8 D, A, B, D",
            FP8_OCP,
            BF8_OCP,
            16,
        );
        let sparse = |text, a, b, depth, shift| case(text, a, b, depth, Some(shift)).check();
        sparse("v_swmmac_f32_16x16x32_f16 D, A, B, I", F16, F16, 32, 0);
        let key = if lanes == 32 { 16 } else { 8 };
        sparse(
            "v_swmmac_f32_16x16x32_bf16 D, A, B, I index_key:1",
            BF16,
            BF16,
            32,
            key,
        );
        sparse(
            "v_swmmac_i32_16x16x32_iu8 D, A, B, I neg_lo:[1,1,0]",
            I8,
            I8,
            32,
            0,
        );
    }
}

/// Loads register pairs from memory in doubles by lane, runs the code, and gives the doubles of v[64:65] and on.
fn doubles(code: &str, inputs: &[Vec<f64>], outputs: usize) -> Option<Vec<Vec<f64>>> {
    let words: Vec<u32> = inputs
        .iter()
        .flat_map(|values| {
            let low = values.iter().map(|value| value.to_bits() as u32);
            let high = values.iter().map(|value| (value.to_bits() >> 32) as u32);
            low.chain(high).collect::<Vec<u32>>()
        })
        .chain(vec![0; 128 * outputs])
        .collect();
    let mut text = String::new();
    for at in 0..2 * inputs.len() {
        text += &format!(
            "s_movk_i32 s20, {}\nv_lshl_add_u32 v2, v0, 2, s20\nglobal_load_dword v{}, v2, s[2:3]\n",
            256 * at,
            32 + at
        );
    }
    text += &format!("s_waitcnt vmcnt(0)\n{code}\ns_nop 15\ns_nop 15\n");
    for at in 0..2 * outputs {
        text += &format!(
            "s_movk_i32 s20, {}\nv_lshl_add_u32 v2, v0, 2, s20\nglobal_store_dword v2, v{}, s[2:3]\n",
            256 * (2 * inputs.len() + at),
            64 + at
        );
    }
    let result = run_with_wave("gfx90a", 64, &text, &words)?;
    let first = 128 * inputs.len();
    Some(
        (0..outputs)
            .map(|output| {
                (0..64)
                    .map(|lane| {
                        let at = first + 128 * output + lane;
                        f64::from_bits(u64::from(result[at]) | u64::from(result[at + 64]) << 32)
                    })
                    .collect()
            })
            .collect(),
    )
}

#[test]
fn f64_blocks_of_four_with_negation() {
    // A[i][k] of block b in lane 16k + 4b + i, B[k][j] in lane 16k + 4b + j, D[i][j] in lane 16i + 4b + j.
    let a = |b: usize, i: usize, k: usize| (i + 10 * k + 100 * b) as f64;
    let b = |b: usize, k: usize, j: usize| 0.5 + (j * 3 + k + b) as f64;
    let c = |b: usize, i: usize, j: usize| (1000 * i + j) as f64 - b as f64;
    let spread = |f: &dyn Fn(usize, usize, usize) -> f64| -> Vec<f64> {
        (0..64)
            .map(|lane| f(lane / 4 % 4, lane / 16, lane % 4))
            .collect()
    };
    let inputs = [
        spread(&|block, k, i| a(block, i, k)),
        spread(&|block, k, j| b(block, k, j)),
        spread(&|block, i, j| c(block, i, j)),
    ];
    for (negation, signs) in [("", [1.0, 1.0, 1.0]), (" blgp:5", [-1.0, 1.0, -1.0])] {
        let code = format!("v_mfma_f64_4x4x4f64 v[64:65], v[32:33], v[34:35], v[36:37]{negation}");
        let Some(result) = doubles(&code, &inputs, 1) else {
            return;
        };
        for (lane, &got) in result[0].iter().enumerate() {
            let (i, block, j) = (lane / 16, lane / 4 % 4, lane % 4);
            let want = (0..4).fold(signs[2] * c(block, i, j), |sum, k| {
                sum + signs[0] * a(block, i, k) * signs[1] * b(block, k, j)
            });
            assert_eq!(got, want, "lane {lane}{negation}");
        }
    }
}

#[test]
fn f64_matrices_take_constants_and_give_one_nan() {
    let mut a = vec![0.0; 64];
    a[5] = f64::INFINITY;
    let code = "v_mfma_f64_16x16x4f64 v[64:71], v[32:33], v[34:35], 2.0";
    let Some(result) = doubles(code, &[a, vec![0.0; 64]], 4) else {
        return;
    };
    // Row 5 is ∞ · 0.
    for lane in 0..64 {
        for (register, values) in result.iter().enumerate() {
            let row = 4 * register + lane / 16;
            if row == 5 {
                assert_eq!(values[lane].to_bits(), 0x7ff8_0000_0000_0000);
            } else {
                assert_eq!(values[lane], 2.0);
            }
        }
    }
}

#[test]
fn wmma_results_of_16_bits_keep_the_other_half() {
    // All of A is 1, all of B is 2: every sum is 32, with C = 1 in the half that is used.
    let one_two = |word: u32, half: u32| -> Vec<u32> {
        let mut memory = vec![word; 8 * 32];
        memory.extend(vec![half; 8 * 32]);
        memory.extend(vec![0x1234_5678; 8 * 32]);
        memory
    };
    for (op, a, b, c, want) in [
        ("f16", 0x3c00_3c00, 0x4000_4000, 0x3c00u32, 0x5020u32),
        ("bf16", 0x3f80_3f80, 0x4000_4000, 0x3f80, 0x4204),
    ] {
        for (select, shift) in [("", 0), (" op_sel:[0,0,1]", 16)] {
            let mut memory = one_two(a, b);
            let kept = 0x1234_5678 & !(0xffff << shift);
            for word in &mut memory[16 * 32..] {
                *word = kept | c << shift;
            }
            let mut code = String::new();
            for at in 0..24 {
                code += &format!(
                    "s_movk_i32 s20, {}\nv_lshl_add_u32 v2, v0, 2, s20\nglobal_load_b32 v{}, v2, s[2:3]\n",
                    at * 128,
                    32 + at
                );
            }
            code += &format!(
                "s_waitcnt vmcnt(0)
                v_wmma_{op}_16x16x16_{op} v[48:55], v[32:39], v[40:47], v[48:55]{select}
                v_lshlrev_b32 v2, 2, v0
                global_store_b32 v2, v51, s[2:3]"
            );
            let Some(result) = run_with_wave("gfx1100", 32, &code, &memory) else {
                return;
            };
            assert_eq!(result[..32], [kept | want << shift; 32], "{op}{select}");
        }
    }
}
