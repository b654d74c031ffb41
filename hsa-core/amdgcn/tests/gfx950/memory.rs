//! LDS and buffers.

use crate::{lanes::*, support::*};

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
