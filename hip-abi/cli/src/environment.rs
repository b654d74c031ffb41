//! `gneiss help`: the subcommands' help, and the list of environment variables.

use crate::USED_WRONGLY;
use crate::arguments::{Cli, Help};
use crate::table::Table;
use clap::CommandFactory;
use std::io::{Result, Write};
use std::process::ExitCode;

/// Our own variables: name and meaning.
const OURS: &[(&str, &str)] = &[
    (
        "GNEISS_GPUS",
        "which GPUs there are: gfx90a, gfx942:8, gfx1100,gfx906; unset: what the program's code is for, else gfx90a",
    ),
    (
        "GNEISS_HSA",
        "the HSA library under our HIP library; unset: the one beside it",
    ),
    (
        "GNEISS_THREADS",
        "worker threads; unset: the processors that the process may use",
    ),
    (
        "GNEISS_SIMD",
        "highest SIMD level of the host to use: portable, avx2, avx512; results do not depend on it",
    ),
    (
        "GNEISS_JIT",
        "0: interpret every instruction; unset: straight runs of vector arithmetic become native code; results do not depend on it",
    ),
    (
        "GNEISS_MEM",
        "memory of each GPU, as 16G; unset: the smaller of the card's and half of the machine's",
    ),
    (
        "GNEISS_HIP_VERSION",
        "the HIP version to present where no soname tells: 5, 6, 7",
    ),
    (
        "GNEISS_FAULT",
        "abort: end the process at a GPU fault, as older runtimes do; unset: an error from the next call that waits",
    ),
    (
        "GNEISS_KERNEL_TIMEOUT",
        "seconds after which a kernel is stopped; unset: never",
    ),
    (
        "GNEISS_HANG_TIMEOUT",
        "time (10s, 500ms) without the end of any command after which waiting threads lead to a report of what each stream waits for; \
         then ,continue (unset), ,fail: waiting calls return an error, or ,abort",
    ),
    (
        "GNEISS_LIVE",
        "1: SIGUSR1 prints the live state of every stream on stderr",
    ),
    (
        "GNEISS_LOG",
        "a filter for our own messages on stderr, as debug or gneiss_hsa_core=trace",
    ),
    (
        "GNEISS_TRACE",
        "a file to record commands, packets and signals into (%p: the process); an older file is not overwritten",
    ),
    (
        "GNEISS_TRACE_TIMES",
        "0: do not ask the device for the times of every command while recording",
    ),
    (
        "GNEISS_HIPRTC_CACHE",
        "the folder that keeps what hiprtc compiled, 0: none; unset: gneiss/hiprtc in XDG_CACHE_HOME or ~/.cache",
    ),
    (
        "GNEISS_HIPRTC_COMPILER",
        "what hiprtc compiles with: comgr, clang, none; unset: comgr if it is there, else clang",
    ),
    (
        "GNEISS_SEED",
        "the seed of everything that is chosen at random",
    ),
];

/// AMD's variables with AMD's meanings.
const AMDS: &[(&str, &str)] = &[
    (
        "HIP_VISIBLE_DEVICES",
        "devices that HIP shows, by index or UUID; CUDA_VISIBLE_DEVICES where it is unset",
    ),
    ("CUDA_VISIBLE_DEVICES", "as HIP_VISIBLE_DEVICES"),
    (
        "ROCR_VISIBLE_DEVICES",
        "GPUs that HSA shows, by index or UUID",
    ),
    (
        "HSA_XNACK",
        "1 or 0: XNACK on or off for the GPUs that have it, unless GNEISS_GPUS says",
    ),
    (
        "HSA_CU_MASK",
        "compute units that HSA queues may ask for, by GPU: 0:0-15,32;1:0x0-0xf",
    ),
    (
        "HSA_ENABLE_INTERRUPT",
        "0: threads that wait for HSA signals look again and again instead of being woken",
    ),
    (
        "HSA_FORCE_FINE_GRAIN_PCIE",
        "1: every GPU has a fine-grained memory pool",
    ),
    (
        "HSA_TOOLS_LIB",
        "HSA tools to load; with HSA_TOOLS_REPORT_LOAD_FAILURE=1 those that cannot be loaded are reported",
    ),
    (
        "AMD_LOG_LEVEL",
        "messages of the HIP runtime: 0 none, 1 errors, 2 warnings, 3 calls, 4 debugging",
    ),
    (
        "AMD_LOG_MASK",
        "which parts of the HIP runtime write messages, as bits",
    ),
    (
        "AMD_LOG_LEVEL_FILE",
        "file for these messages; unset: stderr",
    ),
    (
        "AMD_DIRECT_DISPATCH",
        "1: the calling thread submits to the queue; 0: a worker of the stream does",
    ),
    (
        "AMD_SERIALIZE_KERNEL",
        "1: wait before each kernel, 2: after it, 3: both",
    ),
    (
        "AMD_SERIALIZE_COPY",
        "1: wait before each copy, 2: after it, 3: both",
    ),
    (
        "HIPRTC_COMPILE_OPTIONS_APPEND",
        "options that hiprtc adds to every compilation",
    ),
    ("HIP_LAUNCH_BLOCKING", "1: wait after each kernel"),
    ("GPU_MAX_HW_QUEUES", "most hardware queues per priority; 4"),
    (
        "ROC_GLOBAL_CU_MASK",
        "compute units that any stream may use, as hexadecimal digits; unset: all",
    ),
    (
        "ROC_ENABLE_LARGE_BAR",
        "0: do as if the host could not access device memory; copies are staged or pinned",
    ),
    (
        "HIP_HOST_COHERENT",
        "1: pinned host memory is coherent unless asked otherwise",
    ),
];

/// All variables, ours first.
pub fn names() -> impl Iterator<Item = &'static str> {
    OURS.iter()
        .chain(AMDS)
        .map(|(name, _)| *name)
        .chain(["LD_LIBRARY_PATH", "LD_PRELOAD"])
}

/// Shows help for a topic.
///
/// # Errors
/// When stdout fails.
pub fn help(options: &Help) -> Result<ExitCode> {
    let mut command = Cli::command();
    match options.topic.as_deref() {
        None => command.print_help()?,
        Some("env" | "environment") => {
            let mut out = std::io::stdout().lock();
            let mut table = Table::new(0, &["variable", "meaning"]);
            for (name, meaning) in OURS.iter().chain(AMDS) {
                table.row([(*name).to_owned(), (*meaning).to_owned()]);
            }
            table.write(&mut out)?;
            writeln!(
                out,
                "\n`gneiss run` puts the libraries' directory into LD_LIBRARY_PATH, and with --preload the libraries into LD_PRELOAD."
            )?;
        }
        Some(topic) => match command.find_subcommand_mut(topic) {
            Some(subcommand) => subcommand.print_help()?,
            None => {
                let mut err = std::io::stderr().lock();
                writeln!(
                    err,
                    "gneiss: error: no help about \"{topic}\": there is help about env, run, trace, explain, replay, info, doctor, inspect and disasm"
                )?;
                return Ok(ExitCode::from(USED_WRONGLY));
            }
        },
    }
    Ok(ExitCode::SUCCESS)
}
