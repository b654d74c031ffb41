//! Buffer instructions that convert formats, and memory instructions of rare shapes, in assembly.

mod support;

use support::*;

/// `dst_sel` of x, y, z, w as they are.
const IDENTITY: u32 = 4 | 5 << 3 | 6 << 6 | 7 << 9;

/// Code that makes a raw buffer resource in s[4:7] of the kernel's buffer.
fn resource(records: u32, word3: u32) -> String {
    format!(
        "s_mov_b32 s4, s2
        s_and_b32 s5, s3, 0xffff
        s_movk_i32 s6, {records}
        s_mov_b32 s7, {word3:#x}
        v_lshlrev_b32 v1, 2, v0
        v_lshlrev_b32 v2, 4, v0
"
    )
}

/// Word 3 of a resource with a format, for a family.
fn word3(target: &str, gfx9: (u32, u32), gfx10: u32, gfx11: u32) -> u32 {
    match target {
        // Out-of-bounds check 3: by bytes.
        "gfx1030" => gfx10 << 12 | 3 << 28,
        "gfx1100" => gfx11 << 12 | 3 << 28,
        _ => gfx9.0 << 15 | gfx9.1 << 12,
    }
}

const TARGETS: [&str; 4] = ["gfx90a", "gfx906", "gfx1030", "gfx1100"];

fn f(x: f32) -> u32 {
    x.to_bits()
}

#[test]
fn loads_convert_by_the_format_of_the_resource() {
    for target in TARGETS {
        let unorm8 = word3(target, (10, 0), 56, 42);
        let code = resource(512, unorm8 | IDENTITY)
            + "buffer_load_format_xyzw v[4:7], v1, s[4:7], 0 offen
            s_waitcnt vmcnt(0)
            global_store_dwordx4 v2, v[4:7], s[2:3] offset:16";
        let mut memory = vec![0u32; 4 + 16];
        memory[..4].copy_from_slice(&[0xff00_3380, 0, u32::MAX, 0x0001_0203]);
        let Some(result) = run_dwords(target, &code, 4, &memory) else {
            return;
        };
        let unorm = |x: u32| f(x as f32 / 255.0);
        for lane in 0..4 {
            let bytes = memory[lane]
                .to_le_bytes()
                .map(|byte| unorm(u32::from(byte)));
            assert_eq!(result[4 + 4 * lane..][..4], bytes, "{target} lane {lane}");
        }
    }
}

#[test]
fn loads_choose_components_and_fill_missing_ones() {
    for target in TARGETS {
        // 16_16 sint; w, 1, x, 0.
        let sint16 = word3(target, (5, 5), 28, 28);
        let select = 7 | 1 << 3 | 4 << 6;
        let code = resource(512, sint16 | select)
            + "buffer_load_format_xyzw v[4:7], v1, s[4:7], 0 offen
            s_waitcnt vmcnt(0)
            global_store_dwordx4 v2, v[4:7], s[2:3] offset:16";
        let mut memory = vec![0u32; 4 + 16];
        memory[1] = 0x7fff_8000;
        let Some(result) = run_dwords(target, &code, 4, &memory) else {
            return;
        };
        assert_eq!(result[8..12], [1, 1, 0xffff_8000, 0], "{target}");
    }
}

#[test]
fn elements_out_of_range_load_zero_and_store_nothing() {
    for target in TARGETS {
        // 32 float, eight bytes long: lanes 2 and 3 are out of range.
        let float = word3(target, (4, 7), 22, 22);
        let code = resource(8, float | IDENTITY)
            + "v_mov_b32 v4, 0x1234
            buffer_load_format_x v4, v1, s[4:7], 0 offen
            s_waitcnt vmcnt(0)
            global_store_dword v1, v4, s[2:3] offset:16
            v_mov_b32 v5, 2.0
            buffer_store_format_x v5, v1, s[4:7], 0 offen";
        let memory = [f(1.5), f(-3.0), f(7.0), f(8.0), 9, 9, 9, 9];
        let Some(result) = run_dwords(target, &code, 4, &memory) else {
            return;
        };
        let want = [f(2.0), f(2.0), f(7.0), f(8.0), f(1.5), f(-3.0), 0, 0];
        assert_eq!(result, want, "{target}");
    }
}

#[test]
fn an_invalid_format_loads_zero_and_stores_nothing() {
    let code = resource(512, IDENTITY)
        + "v_mov_b32 v4, 0x1234
        buffer_store_format_x v4, v1, s[4:7], 0 offen
        buffer_load_format_x v4, v1, s[4:7], 0 offen
        s_waitcnt vmcnt(0)
        global_store_dword v1, v4, s[2:3] offset:4";
    if let Some(result) = run_dwords("gfx90a", &code, 1, &[77, 5]) {
        assert_eq!(result, [77, 0]);
    }
}

#[test]
fn stores_convert_saturate_and_write_their_components_alone() {
    for target in TARGETS {
        let unorm8 = word3(target, (10, 0), 56, 42);
        let code = resource(512, unorm8 | IDENTITY)
            + "v_mov_b32 v4, 0x40490fdb // 3.14
            v_mov_b32 v5, 0.5
            v_mov_b32 v6, -1.0
            v_mov_b32 v7, 0x7fc00000
            buffer_store_format_xyzw v[4:7], v1, s[4:7], 0 offen
            buffer_store_format_xy v[4:5], v1, s[4:7], 0 offen offset:4";
        let Some(result) = run_dwords(target, &code, 1, &[u32::MAX; 2]) else {
            return;
        };
        // 0.5 · 255 = 127.5, to even.
        assert_eq!(result, [0x0000_80ff, 0xffff_80ff], "{target}");
    }
}

#[test]
fn halves_are_packed_and_others_stay() {
    for target in TARGETS {
        let float = word3(target, (14, 7), 77, 63);
        let (load, store, high) = if target == "gfx1100" {
            (
                "buffer_load_d16_format_xyz",
                "buffer_store_d16_format_xyz",
                "buffer_load_d16_hi_format_x",
            )
        } else {
            (
                "buffer_load_format_d16_xyz",
                "buffer_store_format_d16_xyz",
                "buffer_load_format_d16_hi_x",
            )
        };
        let code = resource(512, float | IDENTITY)
            + &format!(
                "v_mov_b32 v4, 0x77777777
                v_mov_b32 v5, 0x77777777
                v_mov_b32 v6, 0x77777777
                {load} v[4:5], v1, s[4:7], 0 offen
                {high} v6, v1, s[4:7], 0 offen offset:4
                s_waitcnt vmcnt(0)
                global_store_dwordx3 v1, v[4:6], s[2:3] offset:16
                {store} v[4:5], v1, s[4:7], 0 offen offset:32"
            );
        let mut memory = vec![0u32; 12];
        // 1 + 2^-11 is half-way between two f16: to even.
        memory[..4].copy_from_slice(&[f(1.0 + 2f32.powi(-11)), f(-2.5), f(65520.0), f(4.0)]);
        let Some(result) = run_dwords(target, &code, 1, &memory) else {
            return;
        };
        assert_eq!(
            result[4..7],
            [0xc100_3c00, 0x7777_7c00, 0xc100_7777],
            "{target}"
        );
        // Three components of the four are written.
        assert_eq!(
            result[8..12],
            [f(1.0), f(-2.5), f(f32::INFINITY), 0],
            "{target}"
        );
    }
}

#[test]
fn typed_instructions_bring_their_format() {
    for target in TARGETS {
        let (wide, narrow) = match target {
            "gfx1030" | "gfx1100" => ("[BUF_FMT_32_32_SINT]", "[BUF_FMT_10_10_10_2_UINT]"),
            _ => (
                "[BUF_DATA_FORMAT_32_32,BUF_NUM_FORMAT_SINT]",
                "[BUF_DATA_FORMAT_2_10_10_10,BUF_NUM_FORMAT_UINT]",
            ),
        };
        // The resource's own format and choice of components do not matter.
        let code = resource(512, word3(target, (1, 0), 1, 1))
            + &format!(
                "tbuffer_load_format_xyzw v[4:7], v1, s[4:7], 0 format:{wide} offen
                s_waitcnt vmcnt(0)
                global_store_dwordx4 v1, v[4:7], s[2:3] offset:16
                v_mov_b32 v8, 5
                v_mov_b32 v9, 6
                v_mov_b32 v10, 0x7ff
                v_mov_b32 v11, 2
                tbuffer_store_format_xyzw v[8:11], v1, s[4:7], 0 format:{narrow} offen offset:32"
            );
        let mut memory = vec![0u32; 9];
        memory[..2].copy_from_slice(&[0x8000_0001, 42]);
        let Some(result) = run_dwords(target, &code, 1, &memory) else {
            return;
        };
        assert_eq!(result[4..8], [0x8000_0001, 42, 0, 1], "{target}");
        let want = if narrow.contains("2_10_10_10,") {
            5 | 6 << 10 | 0x3ff << 20 | 2 << 30
        } else {
            // LLVM's names give the widths from the most significant bits down: x has the two lowest bits of 10_10_10_2.
            3 | 6 << 2 | 0x3ff << 12 | 2 << 22
        };
        assert_eq!(result[8], want, "{target}");
    }
}

#[test]
fn scalar_atomics_return_the_old_value() {
    let code = "s_mov_b32 s8, 5
        s_atomic_add s8, s[2:3], 0x0 glc
        s_mov_b32 s10, 100
        s_mov_b32 s11, 12
        s_atomic_cmpswap s[10:11], s[2:3], 0x4 glc
        s_mov_b64 s[12:13], -1
        s_atomic_and_x2 s[12:13], s[2:3], 0x8
        s_waitcnt lgkmcnt(0)
        s_mov_b32 s16, s2
        s_and_b32 s17, s3, 0xffff
        s_mov_b32 s18, 20
        s_mov_b32 s19, 0
        s_mov_b32 s14, 3
        s_buffer_atomic_umax s14, s[16:19], 0x10 glc
        s_mov_b32 s15, 9
        s_buffer_atomic_add s15, s[16:19], 0x14 glc
        s_waitcnt lgkmcnt(0)
        v_mov_b32 v1, 0
        v_mov_b32 v2, s8
        v_mov_b32 v3, s10
        v_mov_b32 v4, s14
        v_mov_b32 v5, s15
        global_store_dwordx4 v1, v[2:5], s[2:3] offset:32";
    let memory = [7, 12, 1, 2, 2, 8, 0, 0, 0, 0, 0, 0];
    if let Some(result) = run_dwords("gfx906", code, 1, &memory) {
        // Past the end of the buffer of 20 bytes: nothing happens, and 0 comes back.
        assert_eq!(result, [12, 100, 1, 2, 3, 8, 0, 0, 7, 12, 2, 0]);
    }
}

#[test]
fn loads_go_to_lds_by_lane() {
    for (target, load) in [
        ("gfx942", "global_load_lds_dword v1, s[2:3] offset:4"),
        ("gfx942", "global_load_lds_ubyte v1, s[2:3] offset:4"),
        ("gfx906", "global_load_dword v1, s[2:3] offset:4 lds"),
    ] {
        let code = format!(
            "v_lshlrev_b32 v1, 2, v0
            s_mov_b32 m0, 64
            v_cmp_ne_u32 vcc, 2, v0
            s_mov_b64 exec, vcc
            {load}
            s_waitcnt vmcnt(0)
            s_mov_b64 exec, -1
            v_add_u32 v3, 68, v1
            s_mov_b32 m0, -1
            ds_read_b32 v2, v3
            s_waitcnt lgkmcnt(0)
            v_cmp_gt_u32 vcc, 4, v0
            s_mov_b64 exec, vcc
            global_store_dword v1, v2, s[2:3] offset:32"
        );
        // LDS holds whatever was there in the lane that was off: clear it first.
        let clear = "v_lshlrev_b32 v1, 2, v0\nv_mov_b32 v2, 0\ns_mov_b32 m0, -1\nds_write_b32 v1, v2 offset:68\ns_waitcnt lgkmcnt(0)\n";
        let mut memory = vec![0u32; 64 + 8];
        for (at, word) in memory.iter_mut().enumerate().take(8) {
            *word = 0x100 + at as u32;
        }
        let Some(result) = run_dwords(target, &(clear.to_owned() + &code), 64, &memory) else {
            return;
        };
        let mask = if load.contains("ubyte") {
            0xff
        } else {
            u32::MAX
        };
        let want = [0x101 & mask, 0x102 & mask, 0, 0x104 & mask];
        assert_eq!(result[8..12], want, "{load}");
    }
}

#[test]
fn lanes_address_lds_by_their_number() {
    let code = "v_lshlrev_b32 v1, 2, v0
        v_add_u32 v2, 10, v0
        s_mov_b32 m0, 16
        ds_write_addtid_b32 v2 offset:8
        s_waitcnt lgkmcnt(0)
        v_xor_b32 v3, 3, v0
        v_lshlrev_b32 v3, 2, v3
        ds_read_b32 v4, v3 offset:24
        ds_read_addtid_b32 v5 offset:8
        s_waitcnt lgkmcnt(0)
        global_store_dword v1, v4, s[2:3]
        global_store_dword v1, v5, s[2:3] offset:16";
    if let Some(result) = run_dwords("gfx90a", code, 4, &[0; 8]) {
        assert_eq!(result, [13, 12, 11, 10, 10, 11, 12, 13]);
    }
}

#[test]
fn conditional_exchange_looks_at_the_top_bits() {
    let code = "v_mov_b32 v1, 8
        v_mov_b32 v2, 7
        v_mov_b32 v3, 9
        ds_write2_b32 v1, v2, v3 offset1:1
        v_mov_b32 v2, 0x80000005
        v_mov_b32 v3, 0x7fffffff
        ds_condxchg32_rtn_b64 v[4:5], v1, v[2:3]
        ds_read2_b32 v[6:7], v1 offset1:1
        s_waitcnt lgkmcnt(0)
        v_mov_b32 v1, 0
        global_store_dwordx4 v1, v[4:7], s[2:3]";
    if let Some(result) = run_dwords("gfx90a", code, 1, &[0; 4]) {
        assert_eq!(result, [7, 9, 5, 9]);
    }
}
