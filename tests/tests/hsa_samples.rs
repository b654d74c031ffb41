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

#[test]
fn every_sample_stands_in_the_readme_and_has_a_page() {
    let read = |path: &str| std::fs::read_to_string(source_path(path)).expect("readable");
    let readme = read("README.md");
    let mut pages = String::new();
    for page in std::fs::read_dir(source_path("docs/hsa")).expect("pages") {
        pages += &std::fs::read_to_string(page.expect("an entry").path()).expect("readable");
    }
    for file in std::fs::read_dir(source_path("samples/hsa")).expect("samples") {
        let name = file
            .expect("an entry")
            .file_name()
            .into_string()
            .expect("UTF-8");
        if name.ends_with(".c") {
            let path = format!("samples/hsa/{name}");
            assert!(readme.contains(&path), "{path} is not in the README");
            assert!(pages.contains(&path), "{path} has no page in docs/hsa");
        }
    }
}
