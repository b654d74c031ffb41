//! The table of variables.

use crate::{Refused, gpus, parse};
use std::borrow::Cow;
use std::ffi::OsStr;

/// What a variable accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accept {
    /// A list of GPUs.
    Gpus,
    /// The memory of a GPU.
    Memory,
    /// A number of threads.
    Threads,
    /// One of some words.
    Words(&'static [&'static str]),
    /// 0 or 1.
    Switch,
    /// A time.
    Time,
    /// A time and what follows.
    Hang,
    /// A HIP version.
    HipVersion,
    /// The version of a target.
    GfxVersion,
    /// A filter for messages.
    Filter,
    /// A number.
    Number,
    /// Devices by index or UUID.
    Devices,
    /// Compute units as hexadecimal digits.
    UnitBits,
    /// Compute units by GPU.
    UnitsOfGpus,
    /// A path, or whatever else takes any bytes.
    Path,
}

/// A variable.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// What it accepts.
    pub accept: Accept,
    /// What it means.
    pub meaning: &'static str,
}

impl Accept {
    /// Why a text is not accepted.
    fn fault(self, text: &str) -> Option<String> {
        let (accepted, what): (bool, Cow<'static, str>) = match self {
            Self::Path => return None,
            Self::Gpus => return gpus::parse(text).err(),
            Self::Memory => (
                parse::memory(text).is_some(),
                "a size like 16G or 512M, of at least 2M".into(),
            ),
            Self::Threads => (
                parse::threads(text).is_some(),
                format!("a number from 1 to {}", parse::MOST_THREADS).into(),
            ),
            Self::Words(words) => (words.contains(&text), words.join(", ").into()),
            Self::Switch => (parse::switch(text).is_some(), "0 or 1".into()),
            Self::Time => (
                parse::time(text).is_some(),
                "a time like 60, 10s, 500ms or 2m".into(),
            ),
            Self::Hang => (
                parse::hang(text).is_some(),
                "a time like 10s, 500ms or 2m, then nothing or ,continue or ,fail or ,abort".into(),
            ),
            Self::GfxVersion => (
                parse::gfx_version(text).is_some(),
                "major, minor and stepping of a target, like 10.3.0".into(),
            ),
            Self::HipVersion => (
                parse::hip_version(text).is_some(),
                "5, 6 or 7, or a version that begins so".into(),
            ),
            Self::Filter => (
                parse::is_filter(text),
                "off, error, warn, info, debug, trace, or module=level, separated by commas".into(),
            ),
            Self::Number => (parse::number(text).is_some(), "a number".into()),
            Self::Devices => (
                parse::is_device_list(text),
                "a list of indexes and UUIDs (GPU-...)".into(),
            ),
            Self::UnitBits => (
                parse::unit_bits(text).is_some(),
                "hexadecimal digits, not all 0".into(),
            ),
            Self::UnitsOfGpus => (
                parse::units_of_gpus(text).is_some(),
                "compute units by GPU, like 0:0-15,32;1:0x0-0xf".into(),
            ),
        };
        (!accepted).then(|| format!("not accepted; accepted is {what}"))
    }
}

impl Variable {
    /// Why a value of this variable is not accepted; `None` if it is. An empty one is as none.
    pub fn refuse(&self, value: &OsStr) -> Option<Refused> {
        let reason = match value.to_str().map(str::trim) {
            Some("") => None,
            Some(text) => self.accept.fault(text),
            None if self.accept == Accept::Path => None,
            None => Some("not accepted; it is no UTF-8 text".to_owned()),
        }?;
        Some(Refused {
            name: self.name,
            value: value.to_string_lossy().into_owned(),
            reason,
        })
    }
}

/// Our own variables.
pub const OURS: &[Variable] = &[
    Variable {
        name: "GNEISS_GPUS",
        accept: Accept::Gpus,
        meaning: "which GPUs there are: gfx90a, gfx942:8, gfx1100,gfx906; unset: what the program's code is for, else gfx90a",
    },
    Variable {
        name: "GNEISS_HSA",
        accept: Accept::Path,
        meaning: "the HSA library under our HIP library; unset: the one beside it",
    },
    Variable {
        name: "GNEISS_THREADS",
        accept: Accept::Threads,
        meaning: "worker threads; unset: the processors that the process may use",
    },
    Variable {
        name: "GNEISS_SIMD",
        accept: Accept::Words(&["portable", "avx2", "avx512"]),
        meaning: "highest SIMD level of the host to use: portable, avx2, avx512; results do not depend on it",
    },
    Variable {
        name: "GNEISS_JIT",
        accept: Accept::Switch,
        meaning: "0: interpret every instruction; unset: straight runs of vector arithmetic become native code; results do not depend on it",
    },
    Variable {
        name: "GNEISS_MEM",
        accept: Accept::Memory,
        meaning: "memory of each GPU, as 16G; unset: the smaller of the card's and half of the machine's",
    },
    Variable {
        name: "GNEISS_HIP_VERSION",
        accept: Accept::HipVersion,
        meaning: "the HIP version to present where no soname tells: 5, 6, 7",
    },
    Variable {
        name: "GNEISS_FAULT",
        accept: Accept::Words(&["abort", "error"]),
        meaning: "abort: end the process at a GPU fault, as older runtimes do; error (unset): an error from the next call that waits",
    },
    Variable {
        name: "GNEISS_FINE_ATOMICS",
        accept: Accept::Words(&["card", "done"]),
        meaning: "card (unset): gfx90a's float atomics on fine-grained memory change nothing and return 0, as on the card, with a warning; done: they work",
    },
    Variable {
        name: "GNEISS_KERNEL_TIMEOUT",
        accept: Accept::Time,
        meaning: "time (60, 500ms, 2m) after which a kernel is stopped; unset or 0: never",
    },
    Variable {
        name: "GNEISS_HANG_TIMEOUT",
        accept: Accept::Hang,
        meaning: "time (10s, 500ms) without the end of any command after which waiting threads lead to a report of what each stream waits for; \
         then ,continue (unset), ,fail: waiting calls return an error, or ,abort",
    },
    Variable {
        name: "GNEISS_LIVE",
        accept: Accept::Switch,
        meaning: "1: SIGUSR1 prints the live state of every stream on stderr",
    },
    Variable {
        name: "GNEISS_LOG",
        accept: Accept::Filter,
        meaning: "a filter for our own messages on stderr, as debug or gneiss_hsa_core=trace",
    },
    Variable {
        name: "GNEISS_TRACE",
        accept: Accept::Path,
        meaning: "a file to record commands, packets and signals into (%p: the process); an older file is not overwritten",
    },
    Variable {
        name: "GNEISS_TRACE_TIMES",
        accept: Accept::Switch,
        meaning: "0: do not ask the device for the times of every command while recording",
    },
    Variable {
        name: "GNEISS_HIPRTC_CACHE",
        accept: Accept::Path,
        meaning: "the folder that keeps what hiprtc and OpenCL compiled, 0: none; unset: gneiss/hiprtc in XDG_CACHE_HOME or ~/.cache",
    },
    Variable {
        name: "GNEISS_OPENCL_LEAKS",
        accept: Accept::Switch,
        meaning: "1: at the end of an OpenCL program, say what it has not released",
    },
    Variable {
        name: "GNEISS_OPENCL_EXACT",
        accept: Accept::Switch,
        meaning: "1: kernels may not touch the bytes between the end of an OpenCL memory object and the end of its page, which AMD's runtime lets them",
    },
    Variable {
        name: "GNEISS_HIPRTC_COMPILER",
        accept: Accept::Words(&["comgr", "clang", "none"]),
        meaning: "what hiprtc and OpenCL compile with: comgr, clang, none; unset: hiprtc takes comgr if it is there, else clang; OpenCL the other way round",
    },
];

/// AMD's variables with AMD's meanings.
pub const AMDS: &[Variable] = &[
    Variable {
        name: "HIP_VISIBLE_DEVICES",
        accept: Accept::Devices,
        meaning: "devices that HIP shows, by index or UUID; CUDA_VISIBLE_DEVICES where it is unset",
    },
    Variable {
        name: "CUDA_VISIBLE_DEVICES",
        accept: Accept::Devices,
        meaning: "as HIP_VISIBLE_DEVICES",
    },
    Variable {
        name: "GPU_DEVICE_ORDINAL",
        accept: Accept::Devices,
        meaning: "devices that OpenCL shows, by index or UUID",
    },
    Variable {
        name: "ROCR_VISIBLE_DEVICES",
        accept: Accept::Devices,
        meaning: "GPUs that HSA shows, by index or UUID",
    },
    Variable {
        name: "HSA_OVERRIDE_GFX_VERSION",
        accept: Accept::GfxVersion,
        meaning: "the target that every GPU counts as: 10.3.0 is gfx1030; HSA_OVERRIDE_GFX_VERSION_1 is for the first GPU alone, and so on",
    },
    Variable {
        name: "HSA_XNACK",
        accept: Accept::Switch,
        meaning: "1 or 0: XNACK on or off for the GPUs that have it, unless GNEISS_GPUS says; with it kernels reach all memory that the program has",
    },
    Variable {
        name: "HSA_CU_MASK",
        accept: Accept::UnitsOfGpus,
        meaning: "compute units that HSA queues may ask for, by GPU: 0:0-15,32;1:0x0-0xf",
    },
    Variable {
        name: "HSA_ENABLE_INTERRUPT",
        accept: Accept::Switch,
        meaning: "0: threads that wait for HSA signals look again and again instead of being woken",
    },
    Variable {
        name: "HSA_FORCE_FINE_GRAIN_PCIE",
        accept: Accept::Switch,
        meaning: "1: every GPU has a fine-grained memory pool",
    },
    Variable {
        name: "HSA_COREDUMP_PATTERN",
        accept: Accept::Path,
        meaning: "file for the registers, LDS and scratch of the waves of a kernel that faults (%p: the process); unset: none",
    },
    Variable {
        name: "HSA_DISABLE_COREDUMP_ON_EXCEPTION",
        accept: Accept::Switch,
        meaning: "1: no such file, whatever the pattern says",
    },
    Variable {
        name: "HSA_TOOLS_LIB",
        accept: Accept::Path,
        meaning: "HSA tools to load",
    },
    Variable {
        name: "AMD_LOG_LEVEL",
        accept: Accept::Number,
        meaning: "messages of the HIP and OpenCL runtimes: 0 none, 1 errors, 2 warnings, 3 calls, 4 debugging",
    },
    Variable {
        name: "AMD_LOG_MASK",
        accept: Accept::Number,
        meaning: "which parts of the HIP and OpenCL runtimes write messages, as bits",
    },
    Variable {
        name: "AMD_LOG_LEVEL_FILE",
        accept: Accept::Path,
        meaning: "file for these messages; unset: stderr",
    },
    Variable {
        name: "AMD_DIRECT_DISPATCH",
        accept: Accept::Number,
        meaning: "1: the calling thread submits to the queue; 0: a worker of the stream does",
    },
    Variable {
        name: "AMD_SERIALIZE_KERNEL",
        accept: Accept::Number,
        meaning: "1: wait before each kernel, 2: after it, 3: both",
    },
    Variable {
        name: "AMD_SERIALIZE_COPY",
        accept: Accept::Number,
        meaning: "1: wait before each copy, 2: after it, 3: both",
    },
    Variable {
        name: "HIPRTC_COMPILE_OPTIONS_APPEND",
        accept: Accept::Path,
        meaning: "options that hiprtc adds to every compilation",
    },
    Variable {
        name: "HIP_LAUNCH_BLOCKING",
        accept: Accept::Number,
        meaning: "1: wait after each kernel",
    },
    Variable {
        name: "HIP_HIDDEN_FREE_MEM",
        accept: Accept::Number,
        meaning: "MiB of device memory that hipMemGetInfo does not count as free; 0",
    },
    Variable {
        name: "GPU_MAX_HW_QUEUES",
        accept: Accept::Number,
        meaning: "most hardware queues per priority; 4",
    },
    Variable {
        name: "ROC_GLOBAL_CU_MASK",
        accept: Accept::UnitBits,
        meaning: "compute units that any stream may use, as hexadecimal digits; unset: all",
    },
    Variable {
        name: "ROC_ENABLE_LARGE_BAR",
        accept: Accept::Number,
        meaning: "0: do as if the host could not access device memory; copies are staged or pinned",
    },
    Variable {
        name: "HSA_TOOLS_REPORT_LOAD_FAILURE",
        accept: Accept::Switch,
        meaning: "1: tools that cannot be loaded are reported",
    },
    Variable {
        name: "HSA_ENABLE_VM_FAULT_MESSAGE",
        accept: Accept::Switch,
        meaning: "0: no report of a bad access on stderr",
    },
    Variable {
        name: "HSA_ENABLE_QUEUE_FAULT_MESSAGE",
        accept: Accept::Switch,
        meaning: "0: no report of another fault on stderr",
    },
    Variable {
        name: "ROC_AQL_QUEUE_SIZE",
        accept: Accept::Number,
        meaning: "packets of a hardware queue, a power of two; 4096",
    },
    Variable {
        name: "ROC_CPU_WAIT_FOR_SIGNAL",
        accept: Accept::Number,
        meaning: "1: the host waits for work of other queues; unset: barrier packets do",
    },
    Variable {
        name: "GPU_FORCE_QUEUE_PROFILING",
        accept: Accept::Number,
        meaning: "1: every command gets times of its own",
    },
    Variable {
        name: "DEBUG_CLR_MAX_BATCH_SIZE",
        accept: Accept::Number,
        meaning: "most commands in a batch; 1000",
    },
    Variable {
        name: "ROCM_PATH",
        accept: Accept::Path,
        meaning: "where hiprtc looks for a compiler first; /opt/rocm comes next",
    },
    Variable {
        name: "HIP_PATH",
        accept: Accept::Path,
        meaning: "where hiprtc looks for HIP's headers first",
    },
    Variable {
        name: "HIP_CLANG_PATH",
        accept: Accept::Path,
        meaning: "the folder of the clang that hiprtc asks first",
    },
    Variable {
        name: "HIP_DEVICE_LIB_PATH",
        accept: Accept::Path,
        meaning: "the folder of the device libraries for hiprtc; DEVICE_LIB_PATH where it is unset",
    },
    Variable {
        name: "DEVICE_LIB_PATH",
        accept: Accept::Path,
        meaning: "as HIP_DEVICE_LIB_PATH",
    },
];
