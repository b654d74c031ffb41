//! Image instructions of every family, in assembly: what each form of a sample, gather, load, store and atomic reads and writes. The
//! expected values are arithmetic on texels whose value says where they are.

#[path = "../support/mod.rs"]
mod support;

mod atomics;
mod levels;
mod samples;
mod setup;
mod texels;

use gneiss_amdgcn::engine::FaultKind;
use setup::*;
use support::*;

#[test]
fn what_images_cannot_do_here_is_a_fault_with_its_name() {
    let gather = |target| {
        let rest = format!("dmask:0x1 {}", dimension(target, "2D"));
        instruction(target, "image_gather4h", 2, 4, &rest)
    };
    let flat = "image_bvh_intersect_ray v[30:33], v[10:20], s[8:11]".to_owned();
    let listed =
        "image_bvh64_intersect_ray v[30:33], [v[10:11], v12, v[13:15], v[16:18], v[19:21]], s[8:11]"
            .to_owned();
    for (target, name, code) in [
        ("gfx900", "image_gather4h", gather("gfx900")),
        ("gfx1200", "image_gather4h", gather("gfx1200")),
        ("gfx1030", "image_bvh_intersect_ray", flat.clone()),
        ("gfx1100", "image_bvh_intersect_ray", flat),
        ("gfx1100", "image_bvh64_intersect_ray", listed.clone()),
        ("gfx1200", "image_bvh64_intersect_ray", listed),
    ] {
        let Some(elf) = assemble(target, &kernel(target, "", &code)) else {
            return;
        };
        let module = Module::load(&gpu(target), &elf);
        let fault = module.run("k", [1, 1, 1], [1, 1, 1], &[], 0).unwrap_err();
        assert!(
            fault.kind == FaultKind::Unsupported,
            "{target} {name}: {fault}"
        );
        assert!(fault.to_string().contains(name), "{target}: {fault}");
    }
}
