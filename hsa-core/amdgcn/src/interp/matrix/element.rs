//! The elements of A and B: values of whole lines of lanes.

use super::{
    super::{
        float::{self, Half},
        small_float::{self, decode},
        vector::{GROUP, lanes},
    },
    Element,
};

/// Element `index` of the lanes of a register, and what is done to the register's dwords before.
#[derive(Clone, Copy)]
pub(super) struct Line {
    /// The register, of which `lanes` lanes are read.
    pub(super) words: *const u32,
    /// The next one, where elements of six bits may end.
    pub(super) next: *const u32,
    /// Lanes, a multiple of sixteen.
    pub(super) lanes: usize,
    /// Number of the lowest bit of the element in the register.
    pub(super) shift: u32,
    /// Bits that are flipped.
    pub(super) flip: u32,
}

/// What the elements of A and B become before they are multiplied: f32, i32.
pub(super) trait Widen: Copy {
    /// Writes the values of a line's elements.
    ///
    /// # Safety
    /// The line's lanes are readable; `to` has room for as many values.
    unsafe fn widen(element: Element, flush: bool, line: Line, to: *mut Self);
}

/// Writes an expression of each dword of a line, sixteen lanes at a time. The dwords are read here and not before the choice between
/// formats: values that are alive across a branch would be scalars.
macro_rules! each {
    ($line:ident, $to:ident, |$word:ident| $value:expr) => {{
        let mut lane = 0;
        while lane < $line.lanes {
            // SAFETY: by the caller the lanes are readable and writable.
            unsafe {
                let words = $line.words.add(lane).cast::<[u32; GROUP]>().read_unaligned();
                let values = lanes!(lane => {
                    let $word = (words[lane] ^ $line.flip) >> $line.shift;
                    $value
                });
                $to.add(lane).cast::<[Self; GROUP]>().write_unaligned(values);
            }
            lane += GROUP;
        }
    }};
}

/// The same of elements of six bits, which may be in two registers.
macro_rules! each_six {
    ($line:ident, $to:ident, |$word:ident| $value:expr) => {{
        for lane in 0..$line.lanes {
            // SAFETY: by the caller the lanes are readable and writable; an element that ends in the next register begins in bit 28 or 30.
            unsafe {
                let high = if $line.shift > 26 { $line.next.add(lane).read() } else { 0 };
                let both = u64::from(high) << 32 | u64::from($line.words.add(lane).read());
                let $word = (both >> $line.shift) as u32;
                $to.add(lane).write($value);
            }
        }
    }};
}

impl Widen for f32 {
    #[inline(always)]
    unsafe fn widen(element: Element, flush: bool, line: Line, to: *mut f32) {
        match element {
            Element::F16 if flush => each!(line, to, |word| Half(word as u16).flush().widen()),
            Element::F16 => each!(line, to, |word| Half(word as u16).widen()),
            Element::Bf16 if flush => {
                each!(line, to, |word| float::flush(f32::from_bits(word << 16)));
            }
            Element::Bf16 => each!(line, to, |word| f32::from_bits(word << 16)),
            Element::Fp8Fnuz => each!(line, to, |word| decode(small_float::FP8_FNUZ, word as u8)),
            Element::Bf8Fnuz => each!(line, to, |word| decode(small_float::BF8_FNUZ, word as u8)),
            Element::Fp8 => each!(line, to, |word| decode(small_float::FP8_OCP, word as u8)),
            Element::Bf8 => each!(line, to, |word| decode(small_float::BF8_OCP, word as u8)),
            Element::Fp6 => each_six!(line, to, |word| decode(small_float::FP6, word as u8)),
            Element::Bf6 => each_six!(line, to, |word| decode(small_float::BF6, word as u8)),
            Element::Fp4 => each!(line, to, |word| decode(small_float::FP4, word as u8)),
            Element::Xf32 => each!(line, to, |word| small_float::to_xf32(f32::from_bits(word))),
            _ => each!(line, to, |word| f32::from_bits(word)),
        }
    }
}

impl Widen for i32 {
    #[inline(always)]
    unsafe fn widen(element: Element, _flush: bool, line: Line, to: *mut i32) {
        match element {
            Element::I8 => each!(line, to, |word| i32::from(word as i8)),
            Element::U8 => each!(line, to, |word| (word & 255).cast_signed()),
            Element::I4 => each!(line, to, |word| (word << 28).cast_signed() >> 28),
            _ => each!(line, to, |word| (word & 15).cast_signed()),
        }
    }
}
