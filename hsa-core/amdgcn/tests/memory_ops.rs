//! Kernels in assembly that use memory instructions only: addresses, widths, masks, scratch, LDS, atomics, faults.

mod support;

use gneiss_amdgcn::{engine::FaultKind, memory::Rights};
use support::*;

const BOTH: [&str; 2] = ["gfx90a", "gfx1030"];

#[test]
fn bytes_go_where_work_item_ids_say() {
    for target in BOTH {
        let code = "global_store_byte v0, v0, s[2:3] offset:2";
        let Some(bytes) = run_bytes(target, "", code, 64, &[0xee; 80]) else {
            return;
        };
        let mut expected = vec![0xee; 80];
        for i in 0..64 {
            expected[i + 2] = i as u8;
        }
        assert_eq!(bytes, expected, "{target}");
    }
}

#[test]
fn a_partial_wave_stores_only_its_lanes() {
    for target in BOTH {
        let code = "global_store_byte v0, v0, s[2:3]";
        let Some(bytes) = run_bytes(target, "", code, 37, &[0xee; 64]) else {
            return;
        };
        assert_eq!(bytes[..37], (0..37).collect::<Vec<u8>>(), "{target}");
        assert!(bytes[37..].iter().all(|&b| b == 0xee), "{target}");
    }
}

#[test]
fn loads_extend_bytes_and_halves() {
    // Lane n loads byte n with each kind and stores the whole dword at 64 + 4 * what it loaded as an unsigned byte.
    let initial: Vec<u8> = (0..64u8).map(|i| i ^ 0x3f).chain([0; 1024]).collect();
    for target in BOTH {
        let code = "
            global_load_ubyte v1, v0, s[2:3]
            s_waitcnt vmcnt(0)
            global_store_byte v1, v0, s[2:3] offset:64";
        let Some(bytes) = run_bytes(target, "", code, 64, &initial) else {
            return;
        };
        // A permutation applied twice: byte at 64 + p(n) is n.
        for n in 0..64 {
            assert_eq!(bytes[64 + (n ^ 0x3f)], n as u8, "{target}");
        }
    }
}

#[test]
fn lds_atomics_count_and_bytes_come_back() {
    for target in BOTH {
        let code = "
            ds_write_b8 v0, v0
            s_waitcnt lgkmcnt(0)
            s_barrier
            ds_read_u8 v1, v0
            s_waitcnt lgkmcnt(0)
            global_store_byte v0, v1, s[2:3]
            ds_append v2 offset:256
            s_waitcnt lgkmcnt(0)
            global_store_byte v0, v2, s[2:3] offset:256";
        let directives = ".amdhsa_group_segment_fixed_size 512";
        let Some(bytes) = run_bytes(target, directives, code, 256, &[0; 512]) else {
            return;
        };
        assert_eq!(bytes[..256], (0..=255).collect::<Vec<u8>>(), "{target}");
    }
}

#[test]
fn global_atomics_sum_over_all_waves() {
    for target in BOTH {
        let code = "
            s_waitcnt lgkmcnt(0)
            global_load_ubyte v1, v0, s[2:3] offset:512
            s_waitcnt vmcnt(0)
            global_load_dword v2, v1, s[2:3] offset:8
            s_waitcnt vmcnt(0)
            global_atomic_add v1, v0, s[2:3]
            global_atomic_umax v1, v0, s[2:3] offset:4
            global_atomic_add v3, v1, v2, s[2:3] offset:12 glc
            s_waitcnt vmcnt(0)
            global_store_byte v3, v2, s[2:3] offset:64";
        let mut initial = vec![0u8; 1024];
        initial[8..12].copy_from_slice(&1u32.to_le_bytes());
        let Some(bytes) = run_bytes(target, "", code, 256, &initial) else {
            return;
        };
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!(word(0), 255 * 256 / 2, "{target}");
        assert_eq!(word(4), 255, "{target}");
        assert_eq!(word(12), 256, "{target}");
        assert!(
            bytes[64..64 + 256].iter().all(|&b| b == 1),
            "{target}: each old value came once"
        );
    }
}

#[test]
fn memory_that_loses_float_atomics_does_all_others() {
    // A store goes through each line of the map's cache, too, so that a line has the memory before an atomic comes to it.
    let stores = "global_store_dword v1, v1, s[2:3] offset:64\n".repeat(128);
    let code = format!(
        "
        s_load_dwordx2 s[2:3], s[0:1], 0x0
        s_waitcnt lgkmcnt(0)
        v_mov_b32 v1, 0
        v_mov_b32 v2, 1.0
        v_mov_b32 v3, 1.0
        v_mov_b32 v4, 0
        v_mov_b32 v5, 1.0
        {stores}
        global_atomic_add_f32 v3, v1, v2, s[2:3] glc
        global_atomic_add_f64 v1, v[4:5], s[2:3] offset:8
        global_atomic_max_f64 v1, v[4:5], s[2:3] offset:16
        global_atomic_pk_add_f16 v1, v2, s[2:3] offset:24
        global_atomic_add v1, v2, s[2:3] offset:28
        global_atomic_swap v1, v2, s[2:3] offset:32
        s_waitcnt vmcnt(0)
        global_store_dword v1, v3, s[2:3] offset:36"
    );
    let Some(elf) = assemble("gfx90a", &kernel("gfx90a", "", &code)) else {
        return;
    };
    let gpu = gpu("gfx90a");
    let module = Module::load(&gpu, &elf);
    let one = 1f32.to_bits();
    for (lossy, [sum, wide, half, old]) in [
        (false, [2f32.to_bits(), one, one, one]),
        (true, [one, 0, 0, 0]),
    ] {
        let mut initial = [0u32; 32];
        initial[0] = one;
        let buffer = Buffer::from(&gpu, &initial);
        let mut rights = Rights::READ | Rights::WRITE;
        rights.set(Rights::LOSES_FLOAT_ATOMICS, lossy);
        gpu.map.set_rights(buffer.address(), rights).unwrap();
        let args = Args::new().buffer(&buffer);
        module
            .run("k", [1, 1, 1], [1, 1, 1], args.bytes(), 0)
            .unwrap_or_else(|f| panic!("{f}"));
        let words: Vec<u32> = buffer.read();
        let expected = [sum, 0, 0, wide, 0, wide, half, one, one, old];
        assert_eq!(words[..10], expected, "lossy: {lossy}");
    }
}

#[test]
fn an_access_past_the_end_is_a_fault_that_names_the_allocation() {
    for target in BOTH {
        let code = "
            s_load_dwordx2 s[2:3], s[0:1], 0x0
            s_waitcnt lgkmcnt(0)
            global_store_byte v0, v0, s[2:3]";
        let Some(elf) = assemble(target, &kernel(target, "", code)) else {
            return;
        };
        let gpu = gpu(target);
        let module = Module::load(&gpu, &elf);
        let buffer = Buffer::new(&gpu, 40);
        let args = Args::new().buffer(&buffer);
        let fault = module
            .run("k", [64, 1, 1], [64, 1, 1], args.bytes(), 0)
            .unwrap_err();
        let address = buffer.address() + 40;
        assert_eq!(
            fault.kind,
            FaultKind::Memory {
                address,
                write: true
            }
        );
        let wave_size = if target == "gfx90a" { 64 } else { 32 };
        assert_eq!(fault.wave * wave_size + fault.lane.unwrap(), 40);
        assert_eq!(fault.kernel, "k");
        assert!(
            fault
                .to_string()
                .contains("0 bytes past the end of allocation"),
            "{fault}"
        );
        // Use after free; the storage itself stays, so that nothing else gets its address.
        gpu.map.remove(buffer.address()).unwrap();
        let fault = module
            .run("k", [64, 1, 1], [64, 1, 1], args.bytes(), 0)
            .unwrap_err();
        assert!(fault.to_string().contains("freed"), "{fault}");
    }
}

#[test]
fn an_access_past_the_groups_lds_is_a_fault() {
    let code = "ds_write_b8 v0, v0 offset:32";
    let Some(elf) = assemble(
        "gfx90a",
        &kernel("gfx90a", ".amdhsa_group_segment_fixed_size 64", code),
    ) else {
        return;
    };
    let module = Module::load(&gpu("gfx90a"), &elf);
    let fault = module.run("k", [64, 1, 1], [64, 1, 1], &[], 0).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Aperture { address: 64 });
    assert_eq!(fault.lane, Some(32));
}

#[test]
fn nonsense_dispatches_are_refused() {
    let Some(elf) = assemble("gfx90a", &kernel("gfx90a", "", "")) else {
        return;
    };
    let module = Module::load(&gpu("gfx90a"), &elf);
    for (grid, group, lds) in [
        ([0, 1, 1], [1, 1, 1], 0),
        ([1, 1, 1], [0, 1, 1], 0),
        ([2048, 1, 1], [2048, 1, 1], 0),
        ([64, 64, 1], [64, 64, 1], 0),
        ([1, 1, 1], [1, 1, 1], 65 * 1024),
    ] {
        let fault = module.run("k", grid, group, &[], lds).unwrap_err();
        assert_eq!(
            fault.kind,
            FaultKind::InvalidDispatch,
            "{grid:?} {group:?} {lds}"
        );
    }
    module
        .run("k", [1024, 3, 2], [1024, 1, 1], &[], 64 * 1024)
        .unwrap();
}

#[test]
fn group_ids_cover_a_grid_with_partial_groups() {
    // The last group has six work-items; each group writes its work-item ids to the same place.
    for target in BOTH {
        let code = "
            s_load_dwordx2 s[2:3], s[0:1], 0x0
            s_waitcnt lgkmcnt(0)
            global_store_byte v0, v0, s[2:3]";
        let Some(elf) = assemble(target, &kernel(target, "", code)) else {
            return;
        };
        let gpu = gpu(target);
        let module = Module::load(&gpu, &elf);
        let buffer = Buffer::from(&gpu, &[0xffu8; 64]);
        module
            .run(
                "k",
                [70, 1, 1],
                [32, 1, 1],
                Args::new().buffer(&buffer).bytes(),
                0,
            )
            .unwrap();
        let bytes: Vec<u8> = buffer.read();
        assert_eq!(bytes[..32], (0..32).collect::<Vec<u8>>());
        assert!(bytes[32..].iter().all(|&b| b == 0xff));
    }
}

#[test]
fn a_group_begins_as_if_it_were_the_first() {
    // Each group stores MODE, VCC, SCC and EXEC as it finds them, 16 bytes at 16 times its id, then changes them all.
    for target in BOTH {
        let code = "
            s_load_dwordx2 s[2:3], s[0:1], 0x0
            s_load_dword s7, s[0:1], 0x8
            s_waitcnt lgkmcnt(0)
            s_cselect_b32 s9, 1, 0
            s_getreg_b32 s8, hwreg(HW_REG_MODE)
            s_lshl_b32 s6, s4, 4
            v_mov_b32 v1, s6
            v_mov_b32 v2, s8
            v_mov_b32 v3, vcc_lo
            v_mov_b32 v4, s9
            v_mov_b32 v5, exec_lo
            global_store_dwordx4 v1, v[2:5], s[2:3]
            s_mov_b32 vcc_lo, s7
            s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 0x55
            s_cmp_eq_u32 s7, s7
            s_mov_b32 s4, -1
            s_mov_b32 exec_lo, 5";
        let source = kernel(
            target,
            ".amdhsa_user_sgpr_count 4\n.amdhsa_system_sgpr_workgroup_id_x 1",
            code,
        );
        let Some(elf) = assemble(target, &source) else {
            return;
        };
        let gpu = gpu(target);
        let module = Module::load(&gpu, &elf);
        let groups = 300;
        let buffer = Buffer::new(&gpu, 16 * groups as usize);
        let args = Args::new().buffer(&buffer).u32(77);
        module
            .run("k", [32 * groups, 1, 1], [32, 1, 1], args.bytes(), 0)
            .unwrap_or_else(|f| panic!("{target}: {f}"));
        let found: Vec<[u32; 4]> = buffer.read();
        let [mode, ..] = found[0];
        assert_ne!(mode & 0xff, 0x55, "{target}");
        assert_eq!(found, vec![[mode, 0, 0, u32::MAX]; 300], "{target}");
    }
}
