//! `hipError_t`: values, names and texts, and the mapping from the command-queue runtime's errors.
//!
//! Values never moved between HIP 5.2 and 7.1. Texts did: HIP 5 gives the name for `hipGetErrorString`, HIP 6 and later give words.

use std::ffi::CStr;

use crate::version::Major;

/// The status that HIP functions return.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum hipError_t {
    /// No error.
    hipSuccess = 0,
    /// Invalid argument.
    hipErrorInvalidValue = 1,
    /// Out of memory.
    hipErrorOutOfMemory = 2,
    /// Initialization error.
    hipErrorNotInitialized = 3,
    /// Driver shutting down.
    hipErrorDeinitialized = 4,
    /// Profiler disabled while using external profiling tool.
    hipErrorProfilerDisabled = 5,
    /// Profiler is not initialized.
    hipErrorProfilerNotInitialized = 6,
    /// Profiler already started.
    hipErrorProfilerAlreadyStarted = 7,
    /// Profiler already stopped.
    hipErrorProfilerAlreadyStopped = 8,
    /// Invalid configuration argument.
    hipErrorInvalidConfiguration = 9,
    /// Invalid pitch argument.
    hipErrorInvalidPitchValue = 12,
    /// Invalid device symbol.
    hipErrorInvalidSymbol = 13,
    /// Invalid device pointer.
    hipErrorInvalidDevicePointer = 17,
    /// Invalid copy direction for memcpy.
    hipErrorInvalidMemcpyDirection = 21,
    /// Driver version is insufficient for runtime version.
    hipErrorInsufficientDriver = 35,
    /// __global__ function call is not configured.
    hipErrorMissingConfiguration = 52,
    /// Unspecified launch failure in prior launch.
    hipErrorPriorLaunchFailure = 53,
    /// Invalid device function.
    hipErrorInvalidDeviceFunction = 98,
    /// No ROCm-capable device is detected.
    hipErrorNoDevice = 100,
    /// Invalid device ordinal.
    hipErrorInvalidDevice = 101,
    /// Device kernel image is invalid.
    hipErrorInvalidImage = 200,
    /// Invalid device context.
    hipErrorInvalidContext = 201,
    /// Context is already current context.
    hipErrorContextAlreadyCurrent = 202,
    /// Mapping of buffer object failed.
    hipErrorMapFailed = 205,
    /// Unmapping of buffer object failed.
    hipErrorUnmapFailed = 206,
    /// Array is mapped.
    hipErrorArrayIsMapped = 207,
    /// Resource already mapped.
    hipErrorAlreadyMapped = 208,
    /// No kernel image is available for execution on the device.
    hipErrorNoBinaryForGpu = 209,
    /// Resource already acquired.
    hipErrorAlreadyAcquired = 210,
    /// Resource not mapped.
    hipErrorNotMapped = 211,
    /// Resource not mapped as array.
    hipErrorNotMappedAsArray = 212,
    /// Resource not mapped as pointer.
    hipErrorNotMappedAsPointer = 213,
    /// Uncorrectable ECC error encountered.
    hipErrorECCNotCorrectable = 214,
    /// Limit is not supported on this architecture.
    hipErrorUnsupportedLimit = 215,
    /// Exclusive-thread device already in use by a different thread.
    hipErrorContextAlreadyInUse = 216,
    /// Peer access is not supported between these two devices.
    hipErrorPeerAccessUnsupported = 217,
    /// Invalid kernel file.
    hipErrorInvalidKernelFile = 218,
    /// Invalid OpenGL or DirectX context.
    hipErrorInvalidGraphicsContext = 219,
    /// Device kernel image is invalid.
    hipErrorInvalidSource = 300,
    /// File not found.
    hipErrorFileNotFound = 301,
    /// Shared object symbol not found.
    hipErrorSharedObjectSymbolNotFound = 302,
    /// Shared object initialization failed.
    hipErrorSharedObjectInitFailed = 303,
    /// OS call failed or operation not supported on this OS.
    hipErrorOperatingSystem = 304,
    /// Invalid resource handle.
    hipErrorInvalidHandle = 400,
    /// The operation cannot be performed in the present state.
    hipErrorIllegalState = 401,
    /// Named symbol not found.
    hipErrorNotFound = 500,
    /// Device not ready.
    hipErrorNotReady = 600,
    /// An illegal memory access was encountered.
    hipErrorIllegalAddress = 700,
    /// Too many resources requested for launch.
    hipErrorLaunchOutOfResources = 701,
    /// The launch timed out and was terminated.
    hipErrorLaunchTimeOut = 702,
    /// Peer access is already enabled.
    hipErrorPeerAccessAlreadyEnabled = 704,
    /// Peer access has not been enabled.
    hipErrorPeerAccessNotEnabled = 705,
    /// Cannot set while device is active in this process.
    hipErrorSetOnActiveProcess = 708,
    /// Context is destroyed.
    hipErrorContextIsDestroyed = 709,
    /// Device-side assert triggered.
    hipErrorAssert = 710,
    /// Part or all of the requested memory range is already mapped.
    hipErrorHostMemoryAlreadyRegistered = 712,
    /// Pointer does not correspond to a registered memory region.
    hipErrorHostMemoryNotRegistered = 713,
    /// Unspecified launch failure.
    hipErrorLaunchFailure = 719,
    /// Too many blocks in cooperative launch.
    hipErrorCooperativeLaunchTooLarge = 720,
    /// Operation not supported.
    hipErrorNotSupported = 801,
    /// Operation not permitted when stream is capturing.
    hipErrorStreamCaptureUnsupported = 900,
    /// Operation failed due to a previous error during capture.
    hipErrorStreamCaptureInvalidated = 901,
    /// Operation would result in a merge of separate capture sequences.
    hipErrorStreamCaptureMerge = 902,
    /// Capture was not ended in the same stream as it began.
    hipErrorStreamCaptureUnmatched = 903,
    /// Capturing stream has unjoined work.
    hipErrorStreamCaptureUnjoined = 904,
    /// Dependency created on uncaptured work in another stream.
    hipErrorStreamCaptureIsolation = 905,
    /// Operation would make the legacy stream depend on a capturing blocking stream.
    hipErrorStreamCaptureImplicit = 906,
    /// Operation not permitted on an event last recorded in a capturing stream.
    hipErrorCapturedEvent = 907,
    /// Attempt to terminate a thread-local capture sequence from another thread.
    hipErrorStreamCaptureWrongThread = 908,
    /// The graph update was not performed because it included changes which violated constraints specific to instantiated graph update.
    hipErrorGraphExecUpdateFailure = 910,
    /// Unknown error.
    hipErrorUnknown = 999,
    /// Runtime memory call returned error.
    hipErrorRuntimeMemory = 1052,
    /// Runtime call other than memory returned error.
    hipErrorRuntimeOther = 1053,
    /// Unknown error.
    hipErrorTbd = 1054,
    /// Invalid channel descriptor.
    hipErrorInvalidChannelDescriptor = 911,
    /// Invalid texture.
    hipErrorInvalidTexture = 912,
}

pub(crate) use hipError_t::*;

/// What every entry point's body gives.
pub type HipResult<T = ()> = Result<T, hipError_t>;

struct Entry {
    error: hipError_t,
    name: &'static CStr,
    text: &'static CStr,
    /// First HIP major version that knows it.
    since: u32,
}

const fn entry(error: hipError_t, name: &'static CStr, text: &'static CStr, since: u32) -> Entry {
    Entry {
        error,
        name,
        text,
        since,
    }
}

static ENTRIES: &[Entry] = &[
    entry(hipSuccess, c"hipSuccess", c"no error", 5),
    entry(hipErrorInvalidValue, c"hipErrorInvalidValue", c"invalid argument", 5),
    entry(hipErrorOutOfMemory, c"hipErrorOutOfMemory", c"out of memory", 5),
    entry(hipErrorNotInitialized, c"hipErrorNotInitialized", c"initialization error", 5),
    entry(hipErrorDeinitialized, c"hipErrorDeinitialized", c"driver shutting down", 5),
    entry(hipErrorProfilerDisabled, c"hipErrorProfilerDisabled", c"profiler disabled while using external profiling tool", 5),
    entry(hipErrorProfilerNotInitialized, c"hipErrorProfilerNotInitialized", c"profiler is not initialized", 5),
    entry(hipErrorProfilerAlreadyStarted, c"hipErrorProfilerAlreadyStarted", c"profiler already started", 5),
    entry(hipErrorProfilerAlreadyStopped, c"hipErrorProfilerAlreadyStopped", c"profiler already stopped", 5),
    entry(hipErrorInvalidConfiguration, c"hipErrorInvalidConfiguration", c"invalid configuration argument", 5),
    entry(hipErrorInvalidPitchValue, c"hipErrorInvalidPitchValue", c"invalid pitch argument", 5),
    entry(hipErrorInvalidSymbol, c"hipErrorInvalidSymbol", c"invalid device symbol", 5),
    entry(hipErrorInvalidDevicePointer, c"hipErrorInvalidDevicePointer", c"invalid device pointer", 5),
    entry(hipErrorInvalidMemcpyDirection, c"hipErrorInvalidMemcpyDirection", c"invalid copy direction for memcpy", 5),
    entry(hipErrorInsufficientDriver, c"hipErrorInsufficientDriver", c"driver version is insufficient for runtime version", 5),
    entry(hipErrorMissingConfiguration, c"hipErrorMissingConfiguration", c"__global__ function call is not configured", 5),
    entry(hipErrorPriorLaunchFailure, c"hipErrorPriorLaunchFailure", c"unspecified launch failure in prior launch", 5),
    entry(hipErrorInvalidDeviceFunction, c"hipErrorInvalidDeviceFunction", c"invalid device function", 5),
    entry(hipErrorNoDevice, c"hipErrorNoDevice", c"no ROCm-capable device is detected", 5),
    entry(hipErrorInvalidDevice, c"hipErrorInvalidDevice", c"invalid device ordinal", 5),
    entry(hipErrorInvalidImage, c"hipErrorInvalidImage", c"device kernel image is invalid", 5),
    entry(hipErrorInvalidContext, c"hipErrorInvalidContext", c"invalid device context", 5),
    entry(hipErrorContextAlreadyCurrent, c"hipErrorContextAlreadyCurrent", c"context is already current context", 5),
    entry(hipErrorMapFailed, c"hipErrorMapFailed", c"mapping of buffer object failed", 5),
    entry(hipErrorUnmapFailed, c"hipErrorUnmapFailed", c"unmapping of buffer object failed", 5),
    entry(hipErrorArrayIsMapped, c"hipErrorArrayIsMapped", c"array is mapped", 5),
    entry(hipErrorAlreadyMapped, c"hipErrorAlreadyMapped", c"resource already mapped", 5),
    entry(hipErrorNoBinaryForGpu, c"hipErrorNoBinaryForGpu", c"no kernel image is available for execution on the device", 5),
    entry(hipErrorAlreadyAcquired, c"hipErrorAlreadyAcquired", c"resource already acquired", 5),
    entry(hipErrorNotMapped, c"hipErrorNotMapped", c"resource not mapped", 5),
    entry(hipErrorNotMappedAsArray, c"hipErrorNotMappedAsArray", c"resource not mapped as array", 5),
    entry(hipErrorNotMappedAsPointer, c"hipErrorNotMappedAsPointer", c"resource not mapped as pointer", 5),
    entry(hipErrorECCNotCorrectable, c"hipErrorECCNotCorrectable", c"uncorrectable ECC error encountered", 5),
    entry(hipErrorUnsupportedLimit, c"hipErrorUnsupportedLimit", c"limit is not supported on this architecture", 5),
    entry(hipErrorContextAlreadyInUse, c"hipErrorContextAlreadyInUse", c"exclusive-thread device already in use by a different thread", 5),
    entry(hipErrorPeerAccessUnsupported, c"hipErrorPeerAccessUnsupported", c"peer access is not supported between these two devices", 5),
    entry(hipErrorInvalidKernelFile, c"hipErrorInvalidKernelFile", c"invalid kernel file", 5),
    entry(hipErrorInvalidGraphicsContext, c"hipErrorInvalidGraphicsContext", c"invalid OpenGL or DirectX context", 5),
    entry(hipErrorInvalidSource, c"hipErrorInvalidSource", c"device kernel image is invalid", 5),
    entry(hipErrorFileNotFound, c"hipErrorFileNotFound", c"file not found", 5),
    entry(hipErrorSharedObjectSymbolNotFound, c"hipErrorSharedObjectSymbolNotFound", c"shared object symbol not found", 5),
    entry(hipErrorSharedObjectInitFailed, c"hipErrorSharedObjectInitFailed", c"shared object initialization failed", 5),
    entry(hipErrorOperatingSystem, c"hipErrorOperatingSystem", c"OS call failed or operation not supported on this OS", 5),
    entry(hipErrorInvalidHandle, c"hipErrorInvalidHandle", c"invalid resource handle", 5),
    entry(hipErrorIllegalState, c"hipErrorIllegalState", c"the operation cannot be performed in the present state", 5),
    entry(hipErrorNotFound, c"hipErrorNotFound", c"named symbol not found", 5),
    entry(hipErrorNotReady, c"hipErrorNotReady", c"device not ready", 5),
    entry(hipErrorIllegalAddress, c"hipErrorIllegalAddress", c"an illegal memory access was encountered", 5),
    entry(hipErrorLaunchOutOfResources, c"hipErrorLaunchOutOfResources", c"too many resources requested for launch", 5),
    entry(hipErrorLaunchTimeOut, c"hipErrorLaunchTimeOut", c"the launch timed out and was terminated", 5),
    entry(hipErrorPeerAccessAlreadyEnabled, c"hipErrorPeerAccessAlreadyEnabled", c"peer access is already enabled", 5),
    entry(hipErrorPeerAccessNotEnabled, c"hipErrorPeerAccessNotEnabled", c"peer access has not been enabled", 5),
    entry(hipErrorSetOnActiveProcess, c"hipErrorSetOnActiveProcess", c"cannot set while device is active in this process", 5),
    entry(hipErrorContextIsDestroyed, c"hipErrorContextIsDestroyed", c"context is destroyed", 5),
    entry(hipErrorAssert, c"hipErrorAssert", c"device-side assert triggered", 5),
    entry(hipErrorHostMemoryAlreadyRegistered, c"hipErrorHostMemoryAlreadyRegistered", c"part or all of the requested memory range is already mapped", 5),
    entry(hipErrorHostMemoryNotRegistered, c"hipErrorHostMemoryNotRegistered", c"pointer does not correspond to a registered memory region", 5),
    entry(hipErrorLaunchFailure, c"hipErrorLaunchFailure", c"unspecified launch failure", 5),
    entry(hipErrorCooperativeLaunchTooLarge, c"hipErrorCooperativeLaunchTooLarge", c"too many blocks in cooperative launch", 5),
    entry(hipErrorNotSupported, c"hipErrorNotSupported", c"operation not supported", 5),
    entry(hipErrorStreamCaptureUnsupported, c"hipErrorStreamCaptureUnsupported", c"operation not permitted when stream is capturing", 5),
    entry(hipErrorStreamCaptureInvalidated, c"hipErrorStreamCaptureInvalidated", c"operation failed due to a previous error during capture", 5),
    entry(hipErrorStreamCaptureMerge, c"hipErrorStreamCaptureMerge", c"operation would result in a merge of separate capture sequences", 5),
    entry(hipErrorStreamCaptureUnmatched, c"hipErrorStreamCaptureUnmatched", c"capture was not ended in the same stream as it began", 5),
    entry(hipErrorStreamCaptureUnjoined, c"hipErrorStreamCaptureUnjoined", c"capturing stream has unjoined work", 5),
    entry(hipErrorStreamCaptureIsolation, c"hipErrorStreamCaptureIsolation", c"dependency created on uncaptured work in another stream", 5),
    entry(hipErrorStreamCaptureImplicit, c"hipErrorStreamCaptureImplicit", c"operation would make the legacy stream depend on a capturing blocking stream", 5),
    entry(hipErrorCapturedEvent, c"hipErrorCapturedEvent", c"operation not permitted on an event last recorded in a capturing stream", 5),
    entry(hipErrorStreamCaptureWrongThread, c"hipErrorStreamCaptureWrongThread", c"attempt to terminate a thread-local capture sequence from another thread", 5),
    entry(hipErrorGraphExecUpdateFailure, c"hipErrorGraphExecUpdateFailure", c"the graph update was not performed because it included changes which violated constraints specific to instantiated graph update", 5),
    entry(hipErrorUnknown, c"hipErrorUnknown", c"unknown error", 5),
    entry(hipErrorRuntimeMemory, c"hipErrorRuntimeMemory", c"runtime memory call returned error", 5),
    entry(hipErrorRuntimeOther, c"hipErrorRuntimeOther", c"runtime call other than memory returned error", 5),
    entry(hipErrorTbd, c"hipErrorTbd", c"unknown error", 5),
    entry(hipErrorInvalidChannelDescriptor, c"hipErrorInvalidChannelDescriptor", c"invalid channel descriptor", 6),
    entry(hipErrorInvalidTexture, c"hipErrorInvalidTexture", c"invalid texture", 6),
];

fn find(code: u32, major: Major) -> Option<&'static Entry> {
    ENTRIES
        .iter()
        .find(|entry| entry.error as u32 == code && entry.since <= major.number())
}

/// The name of an error code as HIP `major` spells it; `hipErrorUnknown` for a code it does not know.
pub fn name(code: u32, major: Major) -> &'static CStr {
    find(code, major).map_or(c"hipErrorUnknown", |entry| entry.name)
}

/// The text of an error code as HIP `major` words it.
pub fn text(code: u32, major: Major) -> &'static CStr {
    match (major, find(code, major)) {
        (Major::Five, found) => found.map_or(c"hipErrorUnknown", |entry| entry.name),
        (_, found) => found.map_or(c"unknown error", |entry| entry.text),
    }
}

/// Whether HIP `major` has this error code.
pub fn is_known(code: u32, major: Major) -> bool {
    find(code, major).is_some()
}

impl hipError_t {
    /// The name, for logs.
    pub fn name(self) -> &'static str {
        ENTRIES
            .iter()
            .find(|entry| entry.error == self)
            .and_then(|entry| entry.name.to_str().ok())
            .unwrap_or("hipErrorUnknown")
    }

    /// The error with this value, if it is one.
    pub fn from_code(code: u32) -> Option<hipError_t> {
        ENTRIES
            .iter()
            .find(|entry| entry.error as u32 == code)
            .map(|entry| entry.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_follow_the_presented_version() {
        assert_eq!(text(1, Major::Five), c"hipErrorInvalidValue");
        assert_eq!(text(1, Major::Six), c"invalid argument");
        assert_eq!(
            text(209, Major::Seven),
            c"no kernel image is available for execution on the device"
        );
        assert_eq!(text(12345, Major::Five), c"hipErrorUnknown");
        assert_eq!(text(12345, Major::Six), c"unknown error");
    }

    #[test]
    fn names_are_known_since_their_version() {
        assert_eq!(name(911, Major::Five), c"hipErrorUnknown");
        assert_eq!(name(911, Major::Six), c"hipErrorInvalidChannelDescriptor");
        assert_eq!(name(400, Major::Five), c"hipErrorInvalidHandle");
        assert!(!is_known(10, Major::Six));
    }

    #[test]
    fn codes_are_unique() {
        for entry in ENTRIES {
            assert_eq!(hipError_t::from_code(entry.error as u32), Some(entry.error));
            assert_eq!(entry.name.to_str().unwrap(), format!("{:?}", entry.error));
        }
    }
}
