//! What the tests over the software GPU share: the runtime, kernels built by hipcc, launches.
#![allow(dead_code, reason = "each test program uses a part")]

use std::{
    fs,
    path::PathBuf,
    process::Command,
    sync::{Arc, OnceLock},
};

use gneiss_clr::{
    Arguments, Config, Device, Event, HostQueue, Kernel, Launch, Program, QueueOptions, Runtime,
};

/// The runtime over hsa-core. One for each dispatch mode.
pub fn runtime(direct_dispatch: bool) -> Arc<Runtime> {
    static RUNTIMES: [OnceLock<Arc<Runtime>>; 2] = [OnceLock::new(), OnceLock::new()];
    RUNTIMES[usize::from(direct_dispatch)]
        .get_or_init(|| {
            let config = Config {
                direct_dispatch,
                ..Config::default()
            };
            Runtime::new(gneiss_hsa_core::api_table(), config).expect("the runtime starts")
        })
        .clone()
}

/// The first GPU, in worker mode.
pub fn device() -> Arc<Device> {
    runtime(false).devices().first().expect("a GPU").clone()
}

/// Compiles HIP source for a device; `None`, with a word about it, without hipcc.
pub fn code_object(device: &Device, options: &[&str], source: &str) -> Option<Vec<u8>> {
    // Only a newer compiler makes code objects of version 6.
    let newer = options.contains(&"-mcode-object-version=6");
    let compiler = if newer { "clang++-19" } else { "hipcc" };
    if Command::new(compiler).arg("--version").output().is_err() {
        eprintln!("SKIPPED: {compiler} is not installed");
        return None;
    }
    let mode: &[&str] = if newer {
        &[
            "-x",
            "hip",
            "--cuda-device-only",
            "--rocm-path=/usr",
            // There are no device libraries for this version.
            "-nogpulib",
        ]
    } else {
        &["--genco"]
    };
    let target = &device.properties().gfx_name;
    let text = format!("#include <hip/hip_runtime.h>\n#include <cassert>\n{source}");
    let hash = format!("{target}{options:?}{text}")
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
    // Unit tests have no folder of their own.
    let temporary =
        option_env!("CARGO_TARGET_TMPDIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let directory = temporary.join("clr-kernels");
    fs::create_dir_all(&directory).expect("a directory");
    let output = directory.join(format!("{hash:016x}.co"));
    if !output.exists() {
        // The name is part of what an assertion prints: it is the same in every process.
        let place = directory.join(format!(
            "{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        ));
        fs::create_dir_all(&place).expect("a directory");
        fs::write(place.join("kernel.hip"), text).expect("a file");
        let result = Command::new(compiler)
            .current_dir(&place)
            .args(mode)
            .args(["--no-gpu-bundle-output", "-O2"])
            .args(options)
            .arg(format!("--offload-arch={target}"))
            .args(["kernel.hip", "-o", "kernel.co"])
            .output()
            .expect("hipcc runs");
        assert!(
            result.status.success(),
            "{}",
            String::from_utf8_lossy(&result.stderr)
        );
        fs::rename(place.join("kernel.co"), &output).expect("a file");
        let _ = fs::remove_dir_all(&place);
    }
    Some(fs::read(output).expect("a file"))
}

/// Compiles and loads.
pub fn program(device: &Arc<Device>, source: &str) -> Option<Arc<Program>> {
    let image = code_object(device, &[], source)?;
    Some(Program::load(device, &image, &[]).expect("the code object loads"))
}

pub fn queue(device: &Arc<Device>) -> Arc<HostQueue> {
    HostQueue::new(device, QueueOptions::default()).expect("a queue")
}

/// A launch of `groups` groups of `block` work-items; each argument is 8 bytes.
pub fn launch(
    queue: &HostQueue,
    kernel: &Arc<Kernel>,
    groups: u32,
    block: u32,
    arguments: &[u64],
    wait_list: &[Event],
) -> Event {
    let pointers: Vec<_> = arguments
        .iter()
        .map(|value| std::ptr::from_ref(value).cast())
        .collect();
    let launch = Launch {
        kernel,
        grid: [groups * block, 1, 1],
        block: [block, 1, 1],
        dynamic_shared: 0,
        arguments: Arguments::Pointers(&pointers),
        cooperative: false,
        any_order: false,
    };
    // SAFETY: the kernels of these tests take 8-byte arguments, or use the low bytes of smaller ones.
    unsafe { queue.enqueue_kernel(&launch, wait_list) }.expect("a launch")
}
