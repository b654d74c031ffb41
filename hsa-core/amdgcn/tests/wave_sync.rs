//! Semaphores of global wave sync: waves of many groups that wait for each other.

mod support;

use support::*;

const TARGETS: [&str; 5] = ["gfx906", "gfx90a", "gfx942", "gfx1030", "gfx1100"];

/// The buffer's address in s[4:5], 0 in v2; s2 is the number of the group.
const BEGIN: &str = "s_load_dwordx2 s[4:5], s[0:1], 0x0
    s_mov_b32 m0, 0
    v_mov_b32 v2, 0
    s_waitcnt lgkmcnt(0)\n";

fn module(target: &str, code: &str) -> Option<Module> {
    let elf = assemble(target, &kernel(target, "", &format!("{BEGIN}{code}")))?;
    Some(Module::load(&gpu(target), &elf))
}

/// Runs groups of `items` work-items over a buffer, and gives its dwords.
fn run(module: &Module, groups: u32, items: u16, buffer: &Buffer) -> Vec<u32> {
    let args = Args::new().buffer(buffer);
    module
        .run(
            "k",
            [groups * u32::from(items), 1, 1],
            [items, 1, 1],
            args.bytes(),
            0,
        )
        .expect("every wave goes on");
    buffer.read()
}

#[test]
fn a_semaphore_that_another_dispatch_has_set_lets_one_wave_in_at_a_time() {
    let init = "v_mov_b32 v4, 1\nds_gws_init v4 offset:3 gds";
    // The sleep lets other groups run between the load and the store.
    let add = "ds_gws_sema_p offset:3 gds
        s_waitcnt 0
        global_load_dword v6, v2, s[4:5]
        s_waitcnt 0
        v_add3_u32 v6, v6, 1, v2
        s_sleep 1
        global_store_dword v2, v6, s[4:5]
        s_waitcnt 0
        ds_gws_sema_v offset:3 gds
        s_waitcnt 0";
    for target in TARGETS {
        let Some(init) = module(target, init) else {
            return;
        };
        let code = kernel(target, "", &format!("{BEGIN}{add}"));
        let add = Module::load(&init.gpu, &assemble(target, &code).expect("the tools"));
        let buffer = Buffer::from(&init.gpu, &[0u32]);
        run(&init, 1, 1, &buffer);
        assert_eq!(run(&add, 100, 1, &buffer), [100], "{target}");
        assert_eq!(run(&add, 7, 1, &buffer), [107], "{target}");
    }
}

#[test]
fn waves_wait_for_what_the_last_group_adds_at_once() {
    // All but the last group wait, and find what it has written before.
    let code = "s_cmp_eq_u32 s2, 39
        s_cbranch_scc1 last
        ds_gws_sema_p offset:1 gds
        s_waitcnt 0
        global_load_dword v6, v2, s[4:5]
        s_waitcnt 0
        global_atomic_add v2, v6, s[4:5] offset:4
        s_endpgm
        last:
        v_mov_b32 v6, 5
        global_store_dword v2, v6, s[4:5]
        s_waitcnt 0
        v_mov_b32 v4, 39
        ds_gws_sema_br v4 offset:1 gds
        s_waitcnt 0";
    for target in TARGETS {
        let Some(module) = module(target, code) else {
            return;
        };
        let buffer = Buffer::from(&module.gpu, &[0u32, 0]);
        assert_eq!(run(&module, 40, 1, &buffer), [5, 5 * 39], "{target}");
    }
}

#[test]
fn all_waves_that_wait_are_released() {
    let code = "v_mov_b32 v6, 1
        s_cmp_eq_u32 s2, 19
        s_cbranch_scc1 last
        ds_gws_sema_p offset:2 gds
        s_waitcnt 0
        global_atomic_add v2, v6, s[4:5]
        s_endpgm
        last:
        ds_gws_sema_release_all offset:2 gds
        s_sleep 1
        global_load_dword v7, v2, s[4:5]
        s_waitcnt 0
        v_readfirstlane_b32 s6, v7
        s_cmp_lt_u32 s6, 19
        s_cbranch_scc1 last";
    for target in TARGETS {
        let Some(module) = module(target, code) else {
            return;
        };
        let buffer = Buffer::from(&module.gpu, &[0u32]);
        assert_eq!(run(&module, 20, 1, &buffer), [19], "{target}");
    }
}

#[test]
fn waves_of_one_group_wait_for_each_other() {
    // The first wave adds for the other one; without an active lane it adds nothing.
    let code = "v_mov_b32 v6, 1
        v_readfirstlane_b32 s6, v0
        s_and_b32 s6, s6, 0x3ff
        s_cmp_eq_u32 s6, 0
        s_cbranch_scc0 second
        s_mov_b64 s[8:9], exec
        s_mov_b64 exec, 0
        ds_gws_sema_v offset:9 gds
        s_mov_b64 exec, s[8:9]
        s_sleep 5
        global_store_dword v2, v6, s[4:5]
        s_waitcnt 0
        ds_gws_sema_v offset:9 gds
        s_endpgm
        second:
        ds_gws_sema_p offset:9 gds
        s_waitcnt 0
        global_load_dword v7, v2, s[4:5]
        s_waitcnt 0
        global_store_dword v2, v7, s[4:5] offset:4";
    for target in TARGETS {
        let Some(module) = module(target, code) else {
            return;
        };
        let two_waves = if target.starts_with("gfx9") { 128 } else { 64 };
        let buffer = Buffer::from(&module.gpu, &[0u32, 0]);
        assert_eq!(run(&module, 1, two_waves, &buffer), [1, 1], "{target}");
    }
}
