//! The elements of A and B, sixteen lanes at a time.

use super::{
    super::{
        float::{self, Half},
        small_float,
        vector::{GROUP, lanes},
    },
    Element,
};

/// What the elements of A and B become before they are multiplied: f32, i32.
pub(super) trait Widen: Copy {
    /// Element `index` of each dword. Of 6-bit elements `index` is 0: they are shifted down before.
    fn widen(element: Element, flush: bool, words: &[u32; GROUP], index: usize) -> [Self; GROUP];
}

static FP8_FNUZ: [f32; 256] = small_float::table(small_float::FP8_FNUZ);
static BF8_FNUZ: [f32; 256] = small_float::table(small_float::BF8_FNUZ);
static FP8_OCP: [f32; 256] = small_float::table(small_float::FP8_OCP);
static BF8_OCP: [f32; 256] = small_float::table(small_float::BF8_OCP);
static FP6: [f32; 256] = small_float::table(small_float::FP6);
static BF6: [f32; 256] = small_float::table(small_float::BF6);
static FP4: [f32; 256] = small_float::table(small_float::FP4);

/// Field `index` of `bits` bits of a dword.
#[inline(always)]
fn field(word: u32, bits: u32, index: usize) -> u32 {
    word >> (bits * (index as u32 % (32 / bits))) & ((1 << bits) - 1)
}

/// The values that a table gives for the fields of `bits` bits.
#[inline(always)]
fn look_up(table: &[f32; 256], bits: u32, words: &[u32; GROUP], index: usize) -> [f32; GROUP] {
    lanes!(lane => table[(field(words[lane], bits, index) & 255) as usize])
}

impl Widen for f32 {
    #[inline(always)]
    fn widen(element: Element, flush: bool, words: &[u32; GROUP], index: usize) -> [f32; GROUP] {
        match element {
            Element::F16 if flush => {
                lanes!(lane => Half(field(words[lane], 16, index) as u16).flush().widen())
            }
            Element::F16 => lanes!(lane => Half(field(words[lane], 16, index) as u16).widen()),
            Element::Bf16 if flush => {
                lanes!(lane => float::flush(f32::from_bits(field(words[lane], 16, index) << 16)))
            }
            Element::Bf16 => lanes!(lane => f32::from_bits(field(words[lane], 16, index) << 16)),
            Element::Fp8Fnuz => look_up(&FP8_FNUZ, 8, words, index),
            Element::Bf8Fnuz => look_up(&BF8_FNUZ, 8, words, index),
            Element::Fp8 => look_up(&FP8_OCP, 8, words, index),
            Element::Bf8 => look_up(&BF8_OCP, 8, words, index),
            Element::Fp6 => look_up(&FP6, 6, words, index),
            Element::Bf6 => look_up(&BF6, 6, words, index),
            Element::Fp4 => look_up(&FP4, 4, words, index),
            Element::Xf32 => lanes!(lane => small_float::to_xf32(f32::from_bits(words[lane]))),
            _ => lanes!(lane => f32::from_bits(words[lane])),
        }
    }
}

impl Widen for i32 {
    #[inline(always)]
    fn widen(element: Element, _flush: bool, words: &[u32; GROUP], index: usize) -> [i32; GROUP] {
        match element {
            Element::I8 => lanes!(lane => i32::from(field(words[lane], 8, index) as i8)),
            Element::U8 => lanes!(lane => field(words[lane], 8, index).cast_signed()),
            Element::I4 => {
                lanes!(lane => (field(words[lane], 4, index) << 28).cast_signed() >> 28)
            }
            _ => lanes!(lane => field(words[lane], 4, index).cast_signed()),
        }
    }
}
