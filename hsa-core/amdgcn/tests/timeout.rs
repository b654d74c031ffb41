//! `GNEISS_KERNEL_TIMEOUT` stops a kernel that never ends; cancelling does too. In a process of its own, because the variable is read once.

mod support;

use gneiss_amdgcn::engine::FaultKind;
use support::*;

#[test]
fn a_kernel_that_never_ends_is_stopped() {
    // SAFETY: the only test of this process, and nothing has started a thread yet that reads the environment.
    unsafe { std::env::set_var("GNEISS_KERNEL_TIMEOUT", "300ms") };
    for code in [
        "loop:\ns_branch loop",
        "loop:\ns_sleep 1\ns_branch loop",
        "s_mov_b32 m0, 0\nds_gws_sema_p offset:5 gds",
    ] {
        for target in ["gfx90a", "gfx1030"] {
            let Some(elf) = assemble(target, &kernel(target, "", code)) else {
                return;
            };
            let module = Module::load(&gpu(target), &elf);
            for groups in [1, 50] {
                let fault = module
                    .run("k", [64 * groups, 1, 1], [64, 1, 1], &[], 0)
                    .unwrap_err();
                assert_eq!(fault.kind, FaultKind::Timeout, "{target}");
            }
            // The engine goes on.
            let elf = assemble(target, &kernel(target, "", "")).unwrap();
            Module::load(&module.gpu, &elf)
                .run("k", [640, 1, 1], [64, 1, 1], &[], 0)
                .unwrap();
        }
    }
}
