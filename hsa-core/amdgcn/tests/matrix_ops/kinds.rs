//! The element types of matrices.

/// An element type: its bits and how an integer is written in it.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) bits: usize,
    pub(crate) encode: fn(i32) -> u32,
}

impl Kind {
    /// Whether it is one of integers, whose sums are integers of 32 bits.
    pub(crate) fn is_integer(self) -> bool {
        (self.encode)(1) == 1
    }
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

pub(crate) const F32: Kind = Kind {
    bits: 32,
    encode: |x| (x as f32).to_bits(),
};
pub(crate) const F16: Kind = Kind {
    bits: 16,
    encode: f16,
};
pub(crate) const BF16: Kind = Kind {
    bits: 16,
    encode: bf16,
};
pub(crate) const I8: Kind = Kind {
    bits: 8,
    encode: |x| x.cast_unsigned() & 0xff,
};
pub(crate) const I4: Kind = Kind {
    bits: 4,
    encode: |x| x.cast_unsigned() & 0xf,
};
pub(crate) const FP8: Kind = Kind {
    bits: 8,
    encode: |x| float8(x, 8, 3),
};
pub(crate) const BF8: Kind = Kind {
    bits: 8,
    encode: |x| float8(x, 16, 2),
};

/// The kinds of the Open Compute Project.
pub(crate) const FP8_OCP: Kind = Kind {
    bits: 8,
    encode: |x| float8(x, 7, 3),
};
pub(crate) const BF8_OCP: Kind = Kind {
    bits: 8,
    encode: |x| float8(x, 15, 2),
};
pub(crate) const FP6: Kind = Kind {
    bits: 6,
    encode: |x| narrow_sign(float8(x, 1, 3), 6),
};
pub(crate) const BF6: Kind = Kind {
    bits: 6,
    encode: |x| narrow_sign(float8(x, 3, 2), 6),
};
/// All integers to ±2 are values of it.
pub(crate) const FP4: Kind = Kind {
    bits: 4,
    encode: |x| narrow_sign(float8(x, 1, 1), 4),
};

/// The sign of an 8-bit float as the highest of `bits` bits.
fn narrow_sign(x: u32, bits: u32) -> u32 {
    x & 0x7f | x >> 7 << (bits - 1)
}

/// A plain number of so many bits.
pub(crate) const fn plain(bits: usize) -> Kind {
    Kind {
        bits,
        encode: |x| x.cast_unsigned(),
    }
}
