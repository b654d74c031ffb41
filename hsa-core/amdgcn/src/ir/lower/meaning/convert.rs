//! Conversions.

use crate::{
    interp::{
        float::{Half, Nan, flush, input, input_half, narrow, narrow_to_zero},
        round::round_even_f32,
        small_float::{self, Format8, decode, encode, encode_random, to_16_random, to_bf16},
        vector::{Env, VectorOp, e1, e2, h1, he1, k1, k2, k3},
    },
    isa::op::Op as M,
};

use super::integer::byte;

fn snorm16(x: f32) -> u32 {
    let scaled = round_even_f32(x.clamp(-1.0, 1.0) * 32767.0);
    u32::from((if x.is_nan() { 0 } else { scaled as i32 } as i16).cast_unsigned())
}

fn unorm16(x: f32) -> u32 {
    let scaled = round_even_f32(x.clamp(0.0, 1.0) * 65535.0);
    if x.is_nan() { 0 } else { scaled as u32 }
}

fn sat_i16(x: i32) -> u32 {
    u32::from((x.clamp(-32768, 32767) as i16).cast_unsigned())
}

/// An f32 to 0..=255, to nearest even.
fn to_u8(x: f32) -> u32 {
    round_even_f32(x) as u8 as u32
}

/// High and low half, which convert exactly, so that a fused multiply-add rounds once; of a plain sum the compiler makes one conversion
/// again. The host's own conversion of a vector of u32 subtracts two constants and gives -0 for 0 when rounding is downwards.
#[inline(always)]
fn halves(a: u32) -> [i32; 2] {
    [(a >> 16).cast_signed(), (a & 0xffff).cast_signed()]
}

pub(super) fn convert(op: M) -> Option<VectorOp> {
    Some(match op {
        M::v_cvt_f32_i32 => h1(|a: i32| a as f32),
        M::v_cvt_f32_u32 => h1(|a: u32| {
            let [high, low] = halves(a);
            (high as f32).mul_add(65536.0, low as f32)
        }),
        M::v_cvt_i32_f32 => h1(|a: f32| a as i32),
        M::v_cvt_u32_f32 => h1(|a: f32| a as u32),
        M::v_cvt_f32_ubyte0 => h1(|a: u32| byte(a, 0) as f32),
        M::v_cvt_f32_ubyte1 => h1(|a: u32| byte(a, 1) as f32),
        M::v_cvt_f32_ubyte2 => h1(|a: u32| byte(a, 2) as f32),
        M::v_cvt_f32_ubyte3 => h1(|a: u32| byte(a, 3) as f32),
        M::v_cvt_f16_f32 => he1(narrow),
        M::v_cvt_f32_f16 => h1(|a: Half| a.widen().quieted()),
        M::v_cvt_f64_f32 => he1(|e, a: f32| f64::from(input(e, a))),
        M::v_cvt_f32_f64 => he1(|e, a: f64| {
            if e.ftz_f32() {
                flush(a as f32)
            } else {
                a as f32
            }
        }),
        M::v_cvt_f64_i32 => h1(|a: i32| f64::from(a)),
        M::v_cvt_f64_u32 => h1(|a: u32| {
            let [high, low] = halves(a);
            f64::from(high).mul_add(65536.0, f64::from(low))
        }),
        M::v_cvt_i32_f64 => h1(|a: f64| a as i32),
        M::v_cvt_u32_f64 => k1(|a: f64| a as u32),
        M::v_cvt_rpi_i32_f32 | M::v_cvt_nearest_i32_f32 => {
            k1(|a: f32| (f64::from(a) + 0.5).floor() as i32)
        }
        M::v_cvt_flr_i32_f32 | M::v_cvt_floor_i32_f32 => k1(|a: f32| a.floor() as i32),
        // −0.5 to 0.4375 in steps of 1/16.
        M::v_cvt_off_f32_i4 => k1(|a: u32| ((a << 28).cast_signed() >> 28) as f32 * 0.0625),
        M::v_cvt_f16_u16 => e1(|e, a: u16| narrow(e, f32::from(a))),
        M::v_cvt_f16_i16 => e1(|e, a: i16| narrow(e, f32::from(a))),
        M::v_cvt_u16_f16 => k1(|a: Half| a.widen() as u16),
        M::v_cvt_i16_f16 => k1(|a: Half| a.widen() as i16),
        M::v_cvt_norm_i16_f16 => k1(|a: Half| snorm16(a.widen()) as u16),
        M::v_cvt_norm_u16_f16 => k1(|a: Half| unorm16(a.widen()) as u16),
        M::v_cvt_f32_bf16 => k1(|a: u16| f32::from_bits(u32::from(a) << 16).quieted()),
        M::v_cvt_pk_bf16_f32 => {
            k2(|a: f32, b: f32| u32::from(to_bf16(a)) | u32::from(to_bf16(b)) << 16)
        }
        // To nearest even, whatever MODE says.
        M::v_cvt_pk_f16_f32 => e2(|e, a: f32, b: f32| {
            let e = Env {
                mode: e.mode & !0xf,
            };
            u32::from(narrow(e, a).0) | u32::from(narrow(e, b).0) << 16
        }),
        M::v_cvt_sr_bf16_f32 => k2(|a: f32, b: u32| to_16_random(7, a, b)),
        M::v_cvt_sr_f16_f32 => k2(|a: f32, b: u32| to_16_random(10, a, b)),
        M::v_cvt_i32_i16 => k1(|a: i16| i32::from(a)),
        M::v_cvt_u32_u16 => k1(|a: u16| u32::from(a)),
        M::v_cvt_pkrtz_f16_f32 | M::v_cvt_pk_rtz_f16_f32 => {
            k2(|a: f32, b: f32| u32::from(narrow_to_zero(a)) | u32::from(narrow_to_zero(b)) << 16)
        }
        M::v_cvt_pknorm_i16_f32 | M::v_cvt_pk_norm_i16_f32 => {
            k2(|a: f32, b: f32| snorm16(a) | snorm16(b) << 16)
        }
        M::v_cvt_pknorm_u16_f32 | M::v_cvt_pk_norm_u16_f32 => {
            k2(|a: f32, b: f32| unorm16(a) | unorm16(b) << 16)
        }
        M::v_cvt_pknorm_i16_f16 | M::v_cvt_pk_norm_i16_f16 => {
            k2(|a: Half, b: Half| snorm16(a.widen()) | snorm16(b.widen()) << 16)
        }
        M::v_cvt_pknorm_u16_f16 | M::v_cvt_pk_norm_u16_f16 => {
            k2(|a: Half, b: Half| unorm16(a.widen()) | unorm16(b.widen()) << 16)
        }
        M::v_cvt_pk_i16_f32 => k2(|a: f32, b: f32| {
            let word = |x: f32| u32::from((x as i16).cast_unsigned());
            word(a) | word(b) << 16
        }),
        M::v_cvt_pk_u16_f32 => k2(|a: f32, b: f32| u32::from(a as u16) | u32::from(b as u16) << 16),
        M::v_cvt_pk_u16_u32 => k2(|a: u32, b: u32| a.min(0xffff) | b.min(0xffff) << 16),
        M::v_cvt_pk_i16_i32 => k2(|a: i32, b: i32| sat_i16(a) | sat_i16(b) << 16),
        M::v_cvt_pk_u8_f32 | M::v_cvt_pkaccum_u8_f32 => k3(|a: f32, b: u32, c: u32| {
            let shift = 8 * (b & 3);
            (c & !(0xff << shift)) | to_u8(a) << shift
        }),
        M::v_pack_b32_f16 => e2(|e, a: Half, b: Half| {
            u32::from(input_half(e, a).0) | u32::from(input_half(e, b).0) << 16
        }),
        _ => return None,
    })
}

fn decode_two(format: Format8, x: u16) -> u64 {
    let [low, high] = x.to_le_bytes();
    let bits = |value: f32| u64::from(value.to_bits());
    bits(decode(format, low)) | bits(decode(format, high)) << 32
}

fn encode_two(e: Env, format: Format8, a: f32, b: f32) -> u16 {
    let saturate = e.saturates_small_floats();
    u16::from_le_bytes([encode(format, a, saturate), encode(format, b, saturate)])
}

/// Conversions from and to 8-bit floats, whose formats depend on the family: `ocp` are those of GFX12, else GFX940's.
pub fn small_floats(op: M, ocp: bool) -> Option<VectorOp> {
    macro_rules! both {
        ($fnuz:ident, $ocp:ident, $format:ident => $closure:expr) => {
            if ocp {
                const $format: Format8 = small_float::$ocp;
                $closure
            } else {
                const $format: Format8 = small_float::$fnuz;
                $closure
            }
        };
    }
    Some(match op {
        M::v_cvt_f32_fp8 => {
            both!(FP8_FNUZ, FP8_OCP, F => k1(|a: u32| decode(F, a as u8)))
        }
        M::v_cvt_f32_bf8 => {
            both!(BF8_FNUZ, BF8_OCP, F => k1(|a: u32| decode(F, a as u8)))
        }
        M::v_cvt_pk_f32_fp8 => {
            both!(FP8_FNUZ, FP8_OCP, F => k1(|a: u16| decode_two(F, a)))
        }
        M::v_cvt_pk_f32_bf8 => {
            both!(BF8_FNUZ, BF8_OCP, F => k1(|a: u16| decode_two(F, a)))
        }
        M::v_cvt_pk_fp8_f32 => {
            both!(FP8_FNUZ, FP8_OCP, F => e2(|e, a: f32, b: f32| encode_two(e, F, a, b)))
        }
        M::v_cvt_pk_bf8_f32 => {
            both!(BF8_FNUZ, BF8_OCP, F => e2(|e, a: f32, b: f32| encode_two(e, F, a, b)))
        }
        M::v_cvt_sr_fp8_f32 => both!(FP8_FNUZ, FP8_OCP, F => e2(|e, a: f32, b: u32| {
            u32::from(encode_random(F, a, b, e.saturates_small_floats()))
        })),
        M::v_cvt_sr_bf8_f32 => both!(BF8_FNUZ, BF8_OCP, F => e2(|e, a: f32, b: u32| {
            u32::from(encode_random(F, a, b, e.saturates_small_floats()))
        })),
        _ => return None,
    })
}
