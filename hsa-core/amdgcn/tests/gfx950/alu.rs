//! Values of vector operations, and lanes that change places.

use crate::lanes::*;

#[test]
fn bitop3_follows_its_table() {
    let (a, b, c) = (random(1), random(2), random(3));
    for table in [0u32, 1, 0x40, 0x96, 0xe8, 0xca, 0x80, 0xfe, 0xff, 7] {
        let bit = |x: u32, y: u32, z: u32| table >> (4 * x + 2 * y + z) & 1;
        let code = partial(2)
            + &format!(
                "v_bitop3_b32 v64, v10, v11, v12 bitop3:{table}
                 v_bitop3_b16 v65, v10, v11, v12 bitop3:{table} op_sel:[1,0,1,1]"
            );
        let Some(out) = run(0, &code, &[a, b, c], 2) else {
            return;
        };
        for lane in 0..64 {
            let of = |from: u32, shifts: [u32; 3], width: u32| {
                (0..width).fold(0, |word, n| {
                    let at = |x: u32, shift: u32| x >> (shift + n) & 1;
                    word | bit(
                        at(a[lane], shifts[0]),
                        at(b[lane], shifts[1]),
                        at(c[lane], shifts[2]),
                    ) << (n + from)
                })
            };
            let whole = if some(lane) { of(0, [0; 3], 32) } else { 64 };
            assert_eq!(out[0][lane], whole, "table {table:#x} lane {lane}");
            let half = if some(lane) {
                65 | of(16, [16, 0, 16], 16)
            } else {
                65
            };
            assert_eq!(
                out[1][lane], half,
                "table {table:#x} lane {lane}, high half"
            );
        }
    }
}

#[test]
fn shifts_that_pack_saturate() {
    let (a, b) = (random(4), random(5));
    let shift: Lanes = std::array::from_fn(|lane| lane as u32 * 7);
    let code = partial(2)
        + "v_ashr_pk_i8_i32 v64, v10, v11, v12
           v_ashr_pk_u8_i32 v65, v10, v11, v12 op_sel:[0,0,0,1]";
    let Some(out) = run(0, &code, &[a, b, shift], 2) else {
        return;
    };
    for lane in (0..64).filter(|&lane| some(lane)) {
        let shifted = |x: u32| x.cast_signed() >> (shift[lane] & 31);
        let i8s = |x: u32| u32::from(shifted(x).clamp(-128, 127) as i8 as u8);
        let u8s = |x: u32| shifted(x).clamp(0, 255) as u32;
        assert_eq!(
            out[0][lane],
            i8s(a[lane]) | i8s(b[lane]) << 8,
            "lane {lane}"
        );
        let high = (u8s(a[lane]) | u8s(b[lane]) << 8) << 16;
        assert_eq!(out[1][lane], high | 65, "lane {lane}");
    }
}

#[test]
fn conversions_to_bf16_and_f16() {
    let (a, b, noise) = (floats(6), floats(7), random(8));
    let code = partial(9)
        + "v_cvt_pk_bf16_f32 v64, v10, -v11
           v_cvt_pk_f16_f32 v65, |v10|, v11
           v_cvt_f32_bf16 v66, v10
           v_cvt_sr_bf16_f32 v67, v10, v12
           v_cvt_sr_f16_f32 v68, v10, v12 op_sel:[0,0,1]
           v_prng_b32 v69, v12
           v_cvt_f32_bf16_e64 v70, -v10
           v_cvt_f32_bf16_e64 v71, |v10|
           v_cvt_f32_bf16_sdwa v72, v10 dst_sel:DWORD src0_sel:WORD_1";
    let Some(out) = run(0, &code, &[a, b, noise], 9) else {
        return;
    };
    for lane in (0..64).filter(|&lane| some(lane)) {
        let (x, y) = (f(a[lane]), f(b[lane]));
        assert_eq!(out[0][lane], bf16(x) | bf16(-y) << 16, "lane {lane}");
        assert_eq!(out[1][lane], f16(x.abs()) | f16(y) << 16, "lane {lane}");
        let low = f(a[lane] << 16);
        if !low.is_nan() {
            assert_eq!(out[2][lane], low.to_bits(), "lane {lane}");
            assert_eq!(out[6][lane], (-low).to_bits(), "lane {lane}");
            assert_eq!(out[7][lane], low.abs().to_bits(), "lane {lane}");
        }
        assert_eq!(out[8][lane], a[lane] & 0xffff_0000, "lane {lane}");
        // The random bits are added below the last bit that is kept.
        let sr_bf16 = a[lane].wrapping_add(noise[lane] >> 16) >> 16;
        assert_eq!(out[3][lane], sr_bf16, "lane {lane}");
        let (down, up) = {
            let nearest = half::f16::from_f32(x);
            let step = |by: i16| half::f16::from_bits(nearest.to_bits().wrapping_add_signed(by));
            match nearest.to_f32().abs().total_cmp(&x.abs()) {
                std::cmp::Ordering::Greater => (step(-1), nearest),
                std::cmp::Ordering::Equal => (nearest, nearest),
                std::cmp::Ordering::Less => (nearest, step(1)),
            }
        };
        let fraction = if down == up {
            0.0
        } else {
            (f64::from(x) - down.to_f64()) / (up.to_f64() - down.to_f64())
        };
        let rounds_up = fraction + f64::from(noise[lane] >> 19) / 8192.0 >= 1.0;
        let want = if rounds_up { up } else { down };
        assert_eq!(
            out[4][lane],
            u32::from(want.to_bits()) << 16 | 68,
            "lane {lane} of {x}"
        );
        let feedback = if noise[lane] >> 31 != 0 { 0xc5 } else { 0 };
        assert_eq!(out[5][lane], noise[lane] << 1 ^ feedback, "lane {lane}");
    }
    for (number, register) in (64..).zip(&out) {
        for lane in (0..64).filter(|&lane| !some(lane)) {
            assert_eq!(register[lane], number);
        }
    }
}

#[test]
fn minimum_and_maximum_of_three_give_nan() {
    let (a, b, c) = (random(9), random(10), random(11));
    let code = "v_minimum3_f32 v64, v10, v11, v12
                v_maximum3_f32 v65, v10, -v11, v12
                v_pk_minimum3_f16 v66, v10, v11, v12
                v_pk_maximum3_f16 v67, v10, v11, v12";
    let Some(out) = run(0, code, &[a, b, c], 4) else {
        return;
    };
    let least = |x: f64, y: f64, z: f64| {
        if x.is_nan() || y.is_nan() || z.is_nan() {
            return f64::NAN;
        }
        [x, y, z].into_iter().min_by(f64::total_cmp).expect("three")
    };
    let most = |x: f64, y: f64, z: f64| -least(-x, -y, -z);
    for lane in 0..64 {
        let wide = |bits: u32| f64::from(f(bits));
        let check = |got: f64, want: f64, what: &str| {
            assert!(
                got.is_nan() && want.is_nan() || got.to_bits() == want.to_bits(),
                "{what} lane {lane}: {got:e}, not {want:e}"
            );
        };
        let (x, y, z) = (wide(a[lane]), wide(b[lane]), wide(c[lane]));
        check(wide(out[0][lane]), least(x, y, z), "minimum3");
        check(wide(out[1][lane]), most(x, -y, z), "maximum3");
        for half in [0, 16] {
            let of = |bits: u32| half::f16::from_bits((bits >> half) as u16).to_f64();
            let (x, y, z) = (of(a[lane]), of(b[lane]), of(c[lane]));
            check(of(out[2][lane]), least(x, y, z), "pk_minimum3");
            check(of(out[3][lane]), most(x, y, z), "pk_maximum3");
        }
    }
}

#[test]
fn dot_products_of_bf16() {
    let small = |seed: u32| {
        random(seed).map(|bits| {
            let part = |x: u32| bf16((x % 33) as f32 - 16.0);
            part(bits & 0xffff) | part(bits >> 16) << 16
        })
    };
    let (a, b, c) = (
        small(12),
        small(13),
        floats(14).map(|x| f(x).trunc().to_bits()),
    );
    let code = "v_dot2_f32_bf16 v64, v10, v11, v12
                v_mov_b32 v65, v12
                v_dot2c_f32_bf16 v65, v10, v11
                v_dot2_f32_bf16 v66, v10, v11, v12 neg_lo:[1,0,0]";
    let Some(out) = run(0, code, &[a, b, c], 3) else {
        return;
    };
    for lane in 0..64 {
        let low = |x: u32| f(x << 16);
        let high = |x: u32| f(x & 0xffff_0000);
        let (x, y, z) = (a[lane], b[lane], f(c[lane]));
        let want = low(x) * low(y) + high(x) * high(y) + z;
        assert_eq!(f(out[0][lane]), want, "lane {lane}");
        assert_eq!(f(out[1][lane]), want, "lane {lane}");
        let want = -low(x) * low(y) + high(x) * high(y) + z;
        assert_eq!(f(out[2][lane]), want, "lane {lane}");
    }
}

#[test]
fn rows_change_places() {
    let (a, b) = (random(15), random(16));
    let code = "v_mov_b32 v64, v10
                v_mov_b32 v65, v11
                v_permlane16_swap_b32 v64, v65
                v_mov_b32 v66, v10
                v_mov_b32 v67, v11
                v_permlane32_swap_b32 v66, v67";
    let Some(out) = run(0, code, &[a, b], 4) else {
        return;
    };
    for lane in 0..64 {
        for (distance, first) in [(16, 0), (32, 2)] {
            let odd = lane & distance != 0;
            let high = if odd { b[lane - distance] } else { a[lane] };
            let low = if odd { b[lane] } else { a[lane + distance] };
            assert_eq!(out[first][lane], high, "{distance}: lane {lane}");
            assert_eq!(out[first + 1][lane], low, "{distance}: lane {lane}");
        }
    }
    // Inactive lanes: read with fi, 0 with bound_ctrl, else what was there stays; never written.
    for (flags, fetch, zero) in [
        ("", false, false),
        ("fi:1", true, false),
        ("bound_ctrl:1", false, true),
    ] {
        let code = format!(
            "v_mov_b32 v64, v10
             v_mov_b32 v65, v11
             s_mov_b32 exec_lo, {:#x}
             s_mov_b32 exec_hi, {:#x}
             v_permlane16_swap_b32_e64 v64, v65 {flags}",
            SOME as u32,
            SOME >> 32
        );
        let Some(out) = run(0, &code, &[a, b], 2) else {
            return;
        };
        for lane in 0..64 {
            let partner = lane ^ 16;
            let odd = lane & 16 != 0;
            let taken = |kept: u32, from: u32| match () {
                () if !some(lane) => kept,
                () if fetch || some(partner) => from,
                () if zero => 0,
                () => kept,
            };
            let high = if odd {
                taken(a[lane], b[partner])
            } else {
                a[lane]
            };
            let low = if odd {
                b[lane]
            } else {
                taken(b[lane], a[partner])
            };
            assert_eq!(out[0][lane], high, "{flags} lane {lane}");
            assert_eq!(out[1][lane], low, "{flags} lane {lane}");
        }
    }
}
