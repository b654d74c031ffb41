//! What can go wrong, without the codes of any API on top.

use gneiss_hsa_api::hsa_status_t;
use parking_lot::Mutex;

use crate::hostcall::assertion_failed;

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call failed at once. What fails later, when the command runs, is the command's [`Status`](crate::Status).
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// No HSA library could be loaded.
    #[error("no HSA runtime library: {0}")]
    NoRuntime(String),
    /// A function of the HSA library failed.
    #[error("{call} failed: {status}")]
    Hsa {
        /// The function.
        call: &'static str,
        /// What it returned.
        status: hsa_status_t,
    },
    /// A memory pool cannot give that much.
    #[error("out of {what} memory: {size} bytes asked for")]
    OutOfMemory {
        /// Which memory.
        what: &'static str,
        /// Bytes.
        size: usize,
    },
    /// An argument makes no sense; the text says which and why.
    #[error("{0}")]
    InvalidValue(String),
    /// The address is not the base of an allocation of this runtime.
    #[error("address {0:#x} is not the start of an allocation")]
    UnknownAddress(usize),
    /// The range is registered already.
    #[error("host memory at {0:#x} is registered already")]
    AlreadyRegistered(usize),
    /// The bytes are no code object that can be loaded; the text says why.
    #[error("invalid code object: {0}")]
    InvalidCodeObject(String),
    /// The code object is for another target.
    #[error("code object for {code_object} does not run on {device}")]
    IncompatibleCodeObject {
        /// Target of the code object.
        code_object: String,
        /// The device's ISA.
        device: String,
    },
    /// The kernel needs more of something than the device has (LDS, scratch, work-items in a group, co-resident groups).
    #[error("kernel {kernel}: {what} {asked} is more than the {limit} that the device has")]
    LaunchLimit {
        /// Kernel name.
        kernel: String,
        /// Which limit.
        what: LaunchLimit,
        /// Asked for.
        asked: u64,
        /// There is.
        limit: u64,
    },
    /// This runtime does not do that.
    #[error("not supported: {0}")]
    Unsupported(String),
    /// The device has faulted; it takes no more commands until it is reset.
    #[error("{0}")]
    Fault(DeviceFault),
    /// A command that was waited for ended with this negative status.
    #[error("command failed with status {}", .0.0)]
    CommandFailed(crate::Status),
    /// The process has forked since the runtime started, or the queue is terminated.
    #[error("{0}")]
    Gone(&'static str),
}

/// What a launch asked too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchLimit {
    /// Bytes of LDS of a group.
    GroupSegment,
    /// Work-items of a group, by the device.
    WorkgroupSize,
    /// Work-items of a group, by the kernel's launch bounds.
    LaunchBounds,
    /// Groups of a cooperative launch that fit at once.
    CooperativeGroups,
    /// Work-items of a grid dimension.
    GridSize,
}

impl std::fmt::Display for LaunchLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::GroupSegment => "LDS size",
            Self::WorkgroupSize => "work-group size",
            Self::LaunchBounds => "work-group size (launch bounds)",
            Self::CooperativeGroups => "number of co-resident work-groups",
            Self::GridSize => "grid size",
        })
    }
}

/// How a device stopped. Sticky: it stays until [`Device::reset`](crate::Device::reset).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{report}")]
pub struct DeviceFault {
    /// The HSA status of the queue's error callback.
    pub status: hsa_status_t,
    /// What it means.
    pub kind: FaultKind,
    /// Text for a person: what, where, which kernel. One fact a line.
    pub report: String,
}

impl DeviceFault {
    /// Prints the report on stderr, once however often the fault is met. Aborts where `GNEISS_FAULT=abort` asks for AMD's older behaviour, or
    /// an assertion of device code has failed.
    pub fn print_once(&self) {
        static PRINTED: Mutex<Option<String>> = Mutex::new(None);
        let mut printed = PRINTED.lock();
        if printed.as_deref() == Some(self.report.as_str()) {
            return;
        }
        eprintln!("{}", self.report.trim_end());
        *printed = Some(self.report.clone());
        let abort = gneiss_settings::text("GNEISS_FAULT").is_some_and(|value| value == "abort");
        if abort || assertion_failed() {
            std::process::abort();
        }
    }
}

/// Kinds of device fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Access to an address that is not mapped, or not with that right.
    IllegalAddress,
    /// LDS or scratch access out of its aperture.
    Aperture,
    /// Illegal or unsupported instruction.
    IllegalInstruction,
    /// A trap: a device assert or abort.
    Trap,
    /// LDS, scratch or registers do not suffice.
    OutOfResources,
    /// Packet, dimensions or code object are invalid.
    InvalidPacket,
    /// A kernel ran longer than `GNEISS_KERNEL_TIMEOUT` allows.
    Timeout,
    /// Anything else.
    Other,
}
