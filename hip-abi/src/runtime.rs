//! The process's HIP runtime: devices, the calling thread's device, errors of the command-queue runtime as HIP errors.
//!
//! Started by the first call that needs a device, never torn down: calls from static destructors keep working, and at exit
//! the workers are daemons. A child that `fork` made from a process with a started runtime has none of its threads; its calls
//! give `hipErrorNotInitialized`.

use std::{
    cell::Cell,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU8, AtomicU32, AtomicUsize, Ordering},
    },
};

use gneiss_clr::{Config, Error, FaultKind, HostQueue, LaunchLimit, QueueOptions, Status};
use parking_lot::Mutex;

use crate::{error::*, fail, log_error, stream::Stream};

/// One GPU and what HIP keeps for it.
#[derive(Debug)]
pub struct Device {
    /// The device of the command-queue runtime.
    pub clr: Arc<gneiss_clr::Device>,
    /// HIP's number of it.
    pub ordinal: usize,
    /// Live streams that synchronise with the null stream; while it is 0, work on the null stream needs no look at the others.
    pub blocking_streams: AtomicUsize,
    /// `hipDeviceSchedule…` flags.
    pub flags: AtomicU32,
    /// Ordinals of devices whose memory this one may access.
    pub peers: Mutex<Vec<usize>>,
    null_stream: OnceLock<Arc<Stream>>,
    transfer: OnceLock<Arc<HostQueue>>,
}

impl Device {
    fn new(clr: Arc<gneiss_clr::Device>, ordinal: usize) -> Self {
        Device {
            clr,
            ordinal,
            blocking_streams: AtomicUsize::new(0),
            flags: AtomicU32::new(0),
            peers: Mutex::new(Vec::new()),
            null_stream: OnceLock::new(),
            transfer: OnceLock::new(),
        }
    }

    /// The null stream; made at its first use.
    pub fn null_stream(&self) -> HipResult<&Arc<Stream>> {
        if let Some(stream) = self.null_stream.get() {
            return Ok(stream);
        }
        let stream = Arc::new(Stream::null(self)?);
        Ok(self.null_stream.get_or_init(|| stream))
    }

    /// The null stream if it has been used.
    pub fn existing_null_stream(&self) -> Option<&Arc<Stream>> {
        self.null_stream.get()
    }

    /// A queue of HIP's own, for initial values of variables.
    pub fn transfer_queue(&self) -> HipResult<&Arc<HostQueue>> {
        if let Some(queue) = self.transfer.get() {
            return Ok(queue);
        }
        let queue = HostQueue::new(
            &self.clr,
            QueueOptions {
                non_blocking: true,
                ..QueueOptions::default()
            },
        )
        .map_err(hip_error)?;
        queue.set_name("initial values");
        Ok(self.transfer.get_or_init(|| queue))
    }
}

/// The started runtime.
#[derive(Debug)]
pub struct Runtime {
    /// The command-queue runtime.
    pub clr: Arc<gneiss_clr::Runtime>,
    /// All devices, by ordinal; at least one.
    pub devices: Vec<Device>,
}

impl Runtime {
    /// Waits for the work of all devices, before something that it may use ends. Commands that failed are no matter here.
    pub(crate) fn synchronize(&self) {
        for device in &self.devices {
            let _ = device.clr.synchronize();
        }
    }
}

const UNSTARTED: u8 = 0;
const STARTED: u8 = 1;
const FORKED: u8 = 2;

/// Fast answer for [`start`]. Release at the end of the start pairs with the Acquire of its readers; the fork handler's store is
/// in a process that has one thread.
static STATE: AtomicU8 = AtomicU8::new(UNSTARTED);
static RUNTIME: OnceLock<Result<Runtime, hipError_t>> = OnceLock::new();

/// Starts the runtime if it is not.
///
/// # Errors
/// `hipErrorNoDevice` if there is no device or no HSA library, or if a variable of ours has a value that is not accepted; `hipErrorNotInitialized` in a forked child.
#[inline]
pub fn start() -> HipResult {
    if STATE.load(Ordering::Acquire) == STARTED {
        Ok(())
    } else {
        start_slowly()
    }
}

#[cold]
fn start_slowly() -> HipResult {
    if STATE.load(Ordering::Acquire) == FORKED {
        return fail!(
            hipErrorNotInitialized,
            "this process was forked from one that had started HIP; call HIP only after exec, or fork first"
        );
    }
    match RUNTIME.get_or_init(create) {
        Ok(_) => {
            let _ = STATE.compare_exchange(UNSTARTED, STARTED, Ordering::AcqRel, Ordering::Acquire);
            Ok(())
        }
        Err(error) => Err(*error),
    }
}

fn create() -> Result<Runtime, hipError_t> {
    extern "C" fn in_child() {
        STATE.store(FORKED, Ordering::Release);
    }
    if !gneiss_settings::accepted() {
        return fail!(
            hipErrorNoDevice,
            "the environment has values that are not accepted"
        );
    }
    let clr = gneiss_clr::Runtime::load(Config::from_env()).map_err(|error| {
        log_error!("the runtime can't start: {error}");
        // Programs show the number of an error at most, and this one says nothing of a library.
        if let Error::NoRuntime(_) = error {
            eprintln!("gneiss: {error}");
        }
        hipErrorNoDevice
    })?;
    let devices: Vec<Device> = clr
        .devices()
        .iter()
        .enumerate()
        .map(|(ordinal, device)| Device::new(Arc::clone(device), ordinal))
        .collect();
    if devices.is_empty() {
        return fail!(
            hipErrorNoDevice,
            "no GPU (HIP_VISIBLE_DEVICES or GNEISS_GPUS may hide them all)"
        );
    }
    // SAFETY: the handler only stores to an atomic.
    unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    Ok(Runtime { clr, devices })
}

/// The runtime.
///
/// # Errors
/// As [`start`].
pub fn get() -> HipResult<&'static Runtime> {
    start()?;
    match RUNTIME.get() {
        Some(Ok(runtime)) => Ok(runtime),
        Some(Err(error)) => Err(*error),
        None => Err(hipErrorNotInitialized),
    }
}

/// The runtime if it has been started in this process.
pub fn started() -> Option<&'static Runtime> {
    if STATE.load(Ordering::Acquire) == STARTED {
        RUNTIME.get()?.as_ref().ok()
    } else {
        None
    }
}

thread_local! {
    // No destructor: usable in static and thread-local destructors.
    static CURRENT_DEVICE: Cell<usize> = const { Cell::new(0) };
}

/// Ordinal of the calling thread's device.
pub fn current_ordinal() -> usize {
    CURRENT_DEVICE.get()
}

/// Sets the calling thread's device.
pub fn set_current(ordinal: usize) {
    CURRENT_DEVICE.set(ordinal);
}

/// The calling thread's device.
pub fn current() -> HipResult<&'static Device> {
    device(CURRENT_DEVICE.get() as i32)
}

/// A device by ordinal; `hipErrorInvalidDevice` if there is none.
pub fn device(ordinal: i32) -> HipResult<&'static Device> {
    let runtime = get()?;
    match usize::try_from(ordinal)
        .ok()
        .and_then(|index| runtime.devices.get(index))
    {
        Some(device) => Ok(device),
        None => fail!(
            hipErrorInvalidDevice,
            "device {ordinal} does not exist: there are {}",
            runtime.devices.len()
        ),
    }
}

/// HIP's code for an error of the command-queue runtime. The reason goes to the log; a device fault's report goes to stderr, once.
pub fn hip_error(error: Error) -> hipError_t {
    match &error {
        Error::Fault(fault) => fault.print_once(),
        other => log_error!("{other}"),
    }
    match error {
        Error::NoRuntime(_) => hipErrorNoDevice,
        Error::Hsa { .. } => hipErrorRuntimeOther,
        Error::OutOfMemory { .. } => hipErrorOutOfMemory,
        Error::InvalidValue(_) | Error::UnknownAddress(_) => hipErrorInvalidValue,
        Error::AlreadyRegistered(_) => hipErrorHostMemoryAlreadyRegistered,
        Error::InvalidCodeObject(_) => hipErrorInvalidImage,
        Error::IncompatibleCodeObject { .. } => hipErrorNoBinaryForGpu,
        Error::LaunchLimit { what, .. } => match what {
            LaunchLimit::GroupSegment | LaunchLimit::WorkgroupSize | LaunchLimit::GridSize => {
                hipErrorInvalidValue
            }
            LaunchLimit::LaunchBounds => hipErrorLaunchFailure,
            LaunchLimit::CooperativeGroups => hipErrorCooperativeLaunchTooLarge,
        },
        Error::Unsupported(_) => hipErrorNotSupported,
        Error::Fault(fault) => fault_error(fault.kind),
        Error::CommandFailed(status) => status_error(status),
        Error::Gone(_) => hipErrorContextIsDestroyed,
    }
}

/// HIP's code for a command's negative status.
pub fn status_error(status: Status) -> hipError_t {
    if status == Status::DEVICE_FAULT || status == Status::DEPENDENCY_FAILED {
        let faults = started()
            .into_iter()
            .flat_map(|runtime| &runtime.devices)
            .filter_map(|device| device.clr.fault());
        if let Some(fault) = faults.into_iter().next() {
            fault.print_once();
            return fault_error(fault.kind);
        }
        hipErrorLaunchFailure
    } else if status == Status::OUT_OF_RESOURCES {
        hipErrorLaunchOutOfResources
    } else if status == Status::INVALID_OPERATION {
        hipErrorIllegalState
    } else if status.is_error() {
        hipErrorUnknown
    } else {
        hipSuccess
    }
}

fn fault_error(kind: FaultKind) -> hipError_t {
    match kind {
        FaultKind::IllegalAddress | FaultKind::Aperture => hipErrorIllegalAddress,
        FaultKind::IllegalInstruction
        | FaultKind::Trap
        | FaultKind::InvalidPacket
        | FaultKind::Other => hipErrorLaunchFailure,
        FaultKind::OutOfResources => hipErrorLaunchOutOfResources,
        FaultKind::Timeout => hipErrorLaunchTimeOut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_become_hip_errors() {
        assert_eq!(status_error(Status::COMPLETE), hipSuccess);
        assert_eq!(
            status_error(Status::DEPENDENCY_FAILED),
            hipErrorLaunchFailure
        );
        assert_eq!(
            status_error(Status::INVALID_OPERATION),
            hipErrorIllegalState
        );
        assert_eq!(status_error(Status(-77)), hipErrorUnknown);
    }

    #[test]
    fn limits_become_hip_errors() {
        let limit = |what| Error::LaunchLimit {
            kernel: "k".into(),
            what,
            asked: 2,
            limit: 1,
        };
        assert_eq!(
            hip_error(limit(LaunchLimit::LaunchBounds)),
            hipErrorLaunchFailure
        );
        assert_eq!(
            hip_error(limit(LaunchLimit::CooperativeGroups)),
            hipErrorCooperativeLaunchTooLarge
        );
        assert_eq!(
            hip_error(limit(LaunchLimit::GroupSegment)),
            hipErrorInvalidValue
        );
    }
}
