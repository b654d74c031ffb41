//! The C samples over HSA: compiled by the system's C compiler against AMD's headers, linked with the prefix, run over it.

use gneiss_tests::{Compile, Prefix, QUICK_TARGET, Run, compile, source_path};

fn sample(name: &str) -> Run {
    let source = source_path(&format!("samples/hsa/{name}.c"));
    Run::new(compile(&Compile::c_over_hsa(&source, &Prefix::find())))
}

/// Samples that need no code object.
macro_rules! without_kernels {
    ($($name:ident),* $(,)?) => {
        $(#[test] fn $name() { sample(stringify!($name)).gpus(QUICK_TARGET).run().expect_success(); })*
    };
}

/// Samples that load the samples' code object.
macro_rules! with_kernels {
    ($($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                for target in [QUICK_TARGET, "gfx1030"] {
                    let code_object = compile(&Compile::code_object(&source_path("samples/hsa/kernels.hip"), target));
                    sample(stringify!($name)).gpus(target).args([code_object]).run().expect_success();
                }
            }
        )*
    };
}

without_kernels! { lifecycle, topology, memory_pools, signals, async_copy, ipc }
with_kernels! { dispatch, barriers, scratch, code_loading }
