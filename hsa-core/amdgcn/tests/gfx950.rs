//! Operations that GFX950 has and the older CDNA targets do not, in assembly: values, parts of registers, EXEC.

mod support;

use support::*;

const TARGET: &str = "gfx950";

type Lanes = [u32; 64];

/// Registers before and after: the inputs are loaded into v10 and up, `count` registers from v64 on are given back. v0 is the lane.
fn run(lds: u32, code: &str, inputs: &[Lanes], count: usize) -> Option<Vec<Lanes>> {
    let mut memory: Vec<u8> = inputs
        .iter()
        .flatten()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    memory.resize((inputs.len() + count) * 256, 0xcd);
    let mut text = String::new();
    let address = |at: usize| {
        format!(
            "s_movk_i32 s20, {}\nv_lshl_add_u32 v1, v0, 2, s20\n",
            at * 256
        )
    };
    for register in 0..inputs.len() {
        text += &address(register);
        text += &format!("global_load_dword v{}, v1, s[2:3]\n", 10 + register);
    }
    text +=
        &format!("s_waitcnt vmcnt(0)\n{code}\ns_waitcnt vmcnt(0) lgkmcnt(0)\ns_mov_b64 exec, -1\n");
    for register in 0..count {
        text += &address(inputs.len() + register);
        text += &format!("global_store_dword v1, v{}, s[2:3]\n", 64 + register);
    }
    let directives =
        format!(".amdhsa_group_segment_fixed_size {lds}\n.amdhsa_float_denorm_mode_32 3");
    let result = run_bytes(TARGET, &directives, &text, 64, &memory)?;
    let words: Vec<u32> = result
        .chunks_exact(4)
        .map(|bytes| u32::from_le_bytes(bytes.try_into().expect("four bytes")))
        .collect();
    Some(
        words
            .chunks_exact(64)
            .skip(inputs.len())
            .map(|lanes| lanes.try_into().expect("64 lanes"))
            .collect(),
    )
}

/// Different numbers in every lane, with many boundary values.
fn random(seed: u32) -> Lanes {
    const BOUNDARIES: [u32; 12] = [
        0,
        0x8000_0000,
        u32::MAX,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0001,
        1,
        0x7fff_ffff,
        0x0080_0000,
        0x7c00_fc00,
        0x0001_8001,
        0x3c00_bc00,
    ];
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    std::array::from_fn(|lane| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if lane % 5 == 0 {
            BOUNDARIES[(lane / 5 + seed as usize) % 12]
        } else {
            state ^ state >> 15
        }
    })
}

/// Floats of moderate size.
fn floats(seed: u32) -> Lanes {
    random(seed).map(|bits| (((bits >> 9) as f32 / 1000.0) - 4000.0).to_bits())
}

fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

/// An f32 as bf16, to nearest even, for what is no NaN.
fn bf16(x: f32) -> u32 {
    u32::from(half::bf16::from_f32(x).to_bits())
}

fn f16(x: f32) -> u32 {
    u32::from(half::f16::from_f32(x).to_bits())
}

const SOME: u64 = 0x0f0f_3c5a_8001_7ff3;

fn some(lane: usize) -> bool {
    SOME >> lane & 1 != 0
}

/// Sets v64 to v64 + `count` − 1 to their own number, then EXEC to [`SOME`].
fn partial(count: usize) -> String {
    let mut text = String::new();
    for register in 64..64 + count {
        text += &format!("v_mov_b32 v{register}, {register}\n");
    }
    text + &format!(
        "s_mov_b32 exec_lo, {:#x}\ns_mov_b32 exec_hi, {:#x}\n",
        SOME as u32,
        SOME >> 32
    )
}

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

/// Bits `at..at + count` of the registers of a lane.
fn field(registers: &[Lanes], lane: usize, at: usize, count: usize) -> u32 {
    (0..count).fold(0, |value, bit| {
        let word = registers[(at + bit) / 32][lane];
        value | (word >> ((at + bit) % 32) & 1) << bit
    })
}

#[test]
fn lds_is_read_transposed() {
    for (bits, dwords) in [(16, 2), (8, 2), (4, 2), (6, 3)] {
        let data: Vec<Lanes> = (0..dwords as u32).map(|n| random(20 + n)).collect();
        // Lanes lie sixteen bytes apart, in another order; and past 64 KiB.
        let (name, write) = match bits {
            6 => (
                "ds_read_b96_tr_b6 v[64:66]".to_owned(),
                "ds_write_b96 v2, v[10:12]",
            ),
            _ => (
                format!("ds_read_b64_tr_b{bits} v[64:65]"),
                "ds_write_b64 v2, v[10:11]",
            ),
        };
        let code = format!(
            "v_xor_b32 v2, 5, v0
             v_lshlrev_b32 v2, 4, v2
             v_add_u32 v2, 0x18000, v2
             {write} offset:256
             s_waitcnt lgkmcnt(0)
             {name}, v2 offset:256"
        );
        let Some(out) = run(0x19000, &code, &data, dwords) else {
            return;
        };
        // Sixteen lanes hold rows of sixteen elements; each lane gets a column.
        let elements = 32 * dwords / bits;
        for lane in 0..64 {
            for row in 0..elements {
                let flat = row * 16 + lane % 16;
                let from = lane / 16 * 16 + flat / elements;
                let want = field(&data, from, flat % elements * bits, bits);
                assert_eq!(
                    field(&out, lane, row * bits, bits),
                    want,
                    "b{bits} lane {lane} row {row}"
                );
            }
        }
    }
}

#[test]
fn wide_loads_go_to_lds() {
    let data: Vec<Lanes> = (0..4).map(|n| random(30 + n)).collect();
    // Lane n reads four dwords at 16·n of the buffer's first kilobyte.
    let flat: Vec<u32> = data.iter().flatten().copied().collect();
    for (dwords, load) in [
        (4, "global_load_lds_dwordx4 v2, s[2:3] offset:0"),
        (3, "global_load_lds_dwordx3 v2, s[2:3] offset:0"),
        (4, "buffer_load_dwordx4 v2, s[8:11], 0 offen lds"),
        (3, "buffer_load_dwordx3 v2, s[8:11], 0 offen lds"),
    ] {
        let mut code = format!(
            "s_mov_b32 s8, s2
             s_mov_b32 s9, s3
             s_movk_i32 s10, 1024
             s_mov_b32 s11, 0x27000
             v_lshlrev_b32 v2, 4, v0
             s_mov_b32 m0, 0x20000
             {load}
             s_waitcnt vmcnt(0)
             v_mul_u32_u24 v3, {}, v0
             v_add_u32 v3, 0x20000, v3\n",
            4 * dwords
        );
        for dword in 0..dwords {
            code += &format!("ds_read_b32 v{}, v3 offset:{}\n", 64 + dword, 4 * dword);
        }
        let Some(out) = run(0x28000, &code, &data, dwords) else {
            return;
        };
        for lane in 0..64 {
            for dword in 0..dwords {
                assert_eq!(
                    out[dword][lane],
                    flat[4 * lane + dword],
                    "{load}: lane {lane}"
                );
            }
        }
    }
}

#[test]
fn more_lds_than_there_is_is_refused() {
    let gpu = gpu(TARGET);
    for (lds, fits) in [(163_840, true), (163_844, false)] {
        let directives = format!(".amdhsa_group_segment_fixed_size {lds}");
        let source = kernel(TARGET, &directives, "s_nop 0");
        // The assembler has the limit too.
        if !fits {
            let source = kernel(TARGET, "", "s_nop 0");
            let Some(elf) = assemble(TARGET, &source) else {
                return;
            };
            let module = Module::load(&gpu, &elf);
            let fault = module.run("k", [64, 1, 1], [64, 1, 1], &[], lds);
            assert!(fault.is_err_and(|fault| fault.to_string().contains("163840")));
            continue;
        }
        let Some(elf) = assemble(TARGET, &source) else {
            return;
        };
        let module = Module::load(&gpu, &elf);
        assert!(module.run("k", [64, 1, 1], [64, 1, 1], &[], 0).is_ok());
    }
}

#[test]
fn buffer_atomics_add_pairs_of_bf16() {
    let values: Lanes = std::array::from_fn(|lane| bf16(lane as f32) | bf16(1.0) << 16);
    let code = "s_mov_b32 s8, s2
                s_mov_b32 s9, s3
                s_movk_i32 s10, 1024
                s_mov_b32 s11, 0x27000
                v_lshlrev_b32 v2, 2, v0
                v_mov_b32 v64, v11
                buffer_atomic_pk_add_bf16 v64, v2, s[8:11], 0 offen sc0
                s_waitcnt vmcnt(0)
                buffer_load_dword v65, v2, s[8:11], 0 offen";
    let more: Lanes = std::array::from_fn(|lane| bf16(2.0) | bf16(lane as f32) << 16);
    let Some(out) = run(0, code, &[values, more], 2) else {
        return;
    };
    for lane in 0..64 {
        let x = lane as f32;
        assert_eq!(out[0][lane], values[lane], "lane {lane}");
        assert_eq!(
            out[1][lane],
            bf16(x + 2.0) | bf16(1.0 + x) << 16,
            "lane {lane}"
        );
    }
}

#[test]
fn conversions_with_a_scale_read_and_write_parts_of_registers() {
    // 1, 2 and −1.5 in FP8 (E4M3) are 0x38, 0x40 and 0xbc; in FP4 1 is 2, 2 is 4, −1.5 is 0xb.
    let constant = |bits: u32| [bits; 64];
    let inputs = [
        constant(2.0f32.to_bits()),
        constant((-3.0f32).to_bits()),
        constant(2.0f32.to_bits()),
        constant(0xbc40_3840),
        constant(0x24b2),
        constant(f16(2.0) | f16(-3.0) << 16),
        constant(bf16(2.0) | bf16(-3.0) << 16),
    ];
    let mut code = String::new();
    for register in 64..84 {
        code += &format!("v_mov_b32 v{register}, -1\n");
    }
    code += "v_cvt_scalef32_pk_fp8_f32 v64, v10, v11, v12
             v_cvt_scalef32_pk_fp8_f32 v65, v10, v11, v12 op_sel:[0,0,0,1]
             v_cvt_scalef32_pk_fp4_f32 v66, v10, v11, v12 op_sel:[0,0,1,1]
             v_cvt_scalef32_pk_fp8_f16 v67, v15, v12
             v_cvt_scalef32_pk_fp8_bf16 v68, v16, v12 op_sel:[0,0,1]
             v_cvt_scalef32_pk_fp4_f16 v69, v15, v12 op_sel:[0,0,1,0]
             v_cvt_scalef32_f32_fp8 v70, v13, v12 op_sel:[1,0,0]
             v_cvt_scalef32_f32_fp8 v71, v13, v12 op_sel:[1,1,0]
             v_cvt_scalef32_f16_fp8 v72, v13, v12 op_sel:[0,0,1]
             v_cvt_scalef32_pk_f16_fp8 v73, v13, v12 op_sel:[1,0,0]
             v_cvt_scalef32_pk_bf16_fp4 v74, v14, v12 op_sel:[1,0,0]
             v_cvt_scalef32_pk_f32_fp8 v[76:77], v13, v12 op_sel:[1,0,0]
             v_cvt_scalef32_pk_f32_fp4 v[78:79], v14, v12
             v_cvt_scalef32_sr_fp8_f32 v80, v10, 0, v12 op_sel:[0,0,1,1]
             v_cvt_scalef32_sr_fp8_f16 v81, v15, 0, v12 op_sel:[1,0,0,0]
             v_cvt_scalef32_pk_bf8_f32 v82, |v11|, -v10, v12
             v_cvt_scalef32_sr_pk_fp4_f32 v83, v[10:11], 0, v12 op_sel:[0,0,1,0]\n";
    let Some(out) = run(0, &code, &inputs, 20) else {
        return;
    };
    let want: [u32; 20] = [
        // Divided by the scale of 2: 1 and −1.5.
        0xffff_bc38,
        0xbc38_ffff,
        0xb2ff_ffff,
        0xffff_bc38,
        0xbc38_ffff,
        0xffff_b2ff,
        // Multiplied by it: bytes 1 and 3 of 2, 1, 2, −1.5.
        2.0f32.to_bits(),
        (-3.0f32).to_bits(),
        f16(4.0) << 16 | 0xffff,
        f16(4.0) | f16(-3.0) << 16,
        bf16(4.0) | bf16(2.0) << 16,
        u32::MAX,
        4.0f32.to_bits(),
        (-3.0f32).to_bits(),
        2.0f32.to_bits(),
        (-3.0f32).to_bits(),
        0x38ff_ffff,
        0xffff_ffbc,
        // BF8 (E5M2): 1.5 is 0x3e, −1 is 0xbc.
        0xffff_bc3e,
        0xffff_b2ff,
    ];
    for ((number, register), want) in (64..).zip(&out).zip(want) {
        assert_eq!(*register, [want; 64], "v{number}");
    }
}

#[test]
fn lists_of_thirty_two_are_converted() {
    // The values of FP6 (E2M3) 0 to 31 in eighths up to 2, then coarser.
    let value = |code: u32| {
        let (exponent, fraction) = (code >> 3 & 3, (code & 7) as f32);
        let magnitude = match exponent {
            0 => fraction / 8.0,
            _ => (8.0 + fraction) / 8.0 * ((exponent - 1) as f32).exp2(),
        };
        if code & 32 != 0 {
            -magnitude
        } else {
            magnitude
        }
    };
    let code_of = |lane: usize, index: usize| ((lane + 3 * index) % 64) as u32;
    // 32 codes of six bits in six registers, and the scale, 4.
    let mut packed: Vec<Lanes> = (0..6)
        .map(|register| {
            std::array::from_fn(|lane| {
                (0..32).fold(0, |word, bit| {
                    let at = 32 * register + bit;
                    word | (code_of(lane, at / 6) >> (at % 6) & 1) << bit
                })
            })
        })
        .collect();
    packed.push([4.0f32.to_bits(); 64]);
    let halves = "v_cvt_scalef32_pk32_f16_fp6 v[64:79], v[10:15], v16
                  v_cvt_scalef32_pk32_bf16_fp6 v[80:95], v[10:15], v16";
    let Some(out) = run(0, halves, &packed, 32) else {
        return;
    };
    for lane in 0..64 {
        for index in 0..32 {
            let want = 4.0 * value(code_of(lane, index));
            let at = 16 * index;
            assert_eq!(
                field(&out, lane, at, 16),
                f16(want),
                "f16 lane {lane} {index}"
            );
            assert_eq!(
                field(&out, lane, 512 + at, 16),
                bf16(want),
                "bf16 lane {lane} {index}"
            );
        }
    }
    // There and back: every value, by way of f32, f16 and bf16, rounded to nearest or with random bits that change nothing.
    let way = "v_cvt_scalef32_pk32_f32_fp6 v[32:63], v[10:15], v16
               v_cvt_scalef32_2xpk16_fp6_f32 v[64:69], v[32:47], v[48:63], v16
               v_mov_b32 v17, -1
               v_cvt_scalef32_sr_pk32_fp6_f32 v[70:75], v[32:63], v17, v16
               v_cvt_scalef32_pk32_f16_fp6 v[32:47], v[10:15], v16
               v_cvt_scalef32_pk32_fp6_f16 v[76:81], v[32:47], v16
               v_cvt_scalef32_sr_pk32_fp6_f16 v[82:87], v[32:47], v17, v16
               v_cvt_scalef32_pk32_bf16_fp6 v[32:47], v[10:15], v16
               v_cvt_scalef32_pk32_fp6_bf16 v[88:93], v[32:47], v16
               v_cvt_scalef32_sr_pk32_fp6_bf16 v[94:99], v[32:47], v17, v16";
    let Some(out) = run(0, way, &packed, 36) else {
        return;
    };
    for lane in 0..64 {
        for (list, first) in [0, 6, 12, 18, 24, 30].into_iter().enumerate() {
            for index in 0..32 {
                // Two lists of sixteen are taken in turns.
                let from = match list {
                    0 => index / 2 + 16 * (index % 2),
                    _ => index,
                };
                let got = field(&out[first..first + 6], lane, 6 * index, 6);
                assert_eq!(
                    got,
                    code_of(lane, from),
                    "list {list} lane {lane} index {index}"
                );
            }
        }
    }
}

#[test]
fn each_value_of_a_list_has_random_bits_of_its_own() {
    // 1.5 of FP4's steps 1 and 2 is a value; 1.25 lies halfway between 1 and 1.5.
    let seed = random(40);
    let inputs = [
        [1.25f32.to_bits(); 64],
        [1.25f32.to_bits(); 64],
        seed,
        [1.0f32.to_bits(); 64],
    ];
    let code = "v_mov_b32 v64, 0
                v_cvt_scalef32_sr_pk_fp4_f32 v64, v[10:11], v12, v13";
    let Some(out) = run(0, code, &inputs, 1) else {
        return;
    };
    for lane in 0..64 {
        // 1 is code 2, 1.5 is code 3: up if the highest random bit is set.
        let next = seed[lane] << 1 ^ if seed[lane] >> 31 != 0 { 197 } else { 0 };
        let want = (2 + (seed[lane] >> 31)) | (2 + (next >> 31)) << 4;
        assert_eq!(out[0][lane], want, "lane {lane}");
    }
}
