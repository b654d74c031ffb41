//! The elements of A and B: values of whole lines of lanes.

use super::{
    super::{
        float::{self, Half},
        small_float,
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

static FP8_FNUZ: [f32; 256] = small_float::table(small_float::FP8_FNUZ);
static BF8_FNUZ: [f32; 256] = small_float::table(small_float::BF8_FNUZ);
static FP8_OCP: [f32; 256] = small_float::table(small_float::FP8_OCP);
static BF8_OCP: [f32; 256] = small_float::table(small_float::BF8_OCP);
static FP6: [f32; 256] = small_float::table(small_float::FP6);
static BF6: [f32; 256] = small_float::table(small_float::BF6);
static FP4: [f32; 256] = small_float::table(small_float::FP4);

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

/// The value that a table gives for the lowest `bits` bits.
#[inline(always)]
fn look_up(table: &[f32; 256], bits: u32, word: u32) -> f32 {
    table[(word & ((1 << bits) - 1) & 255) as usize]
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
            Element::Fp8Fnuz => each!(line, to, |word| look_up(&FP8_FNUZ, 8, word)),
            Element::Bf8Fnuz => each!(line, to, |word| look_up(&BF8_FNUZ, 8, word)),
            Element::Fp8 => each!(line, to, |word| look_up(&FP8_OCP, 8, word)),
            Element::Bf8 => each!(line, to, |word| look_up(&BF8_OCP, 8, word)),
            Element::Fp6 => each_six!(line, to, |word| look_up(&FP6, 6, word)),
            Element::Bf6 => each_six!(line, to, |word| look_up(&BF6, 6, word)),
            Element::Fp4 => each!(line, to, |word| look_up(&FP4, 4, word)),
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
