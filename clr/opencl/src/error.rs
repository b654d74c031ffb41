//! Error codes, and the command-queue runtime's errors as OpenCL has them.

use gneiss_clr::{Error, FaultKind, LaunchLimit, Status, log};

use crate::{constants::*, types::cl_int};

/// A status code of OpenCL; negative for errors.
pub type Code = cl_int;

/// Result of this crate.
pub type Result<T = (), E = Code> = std::result::Result<T, E>;

/// Gives an error and says why in the log (`AMD_LOG_LEVEL=1`): `return fail!(CL_INVALID_VALUE, "size is 0")`.
#[macro_export]
#[doc(hidden)]
macro_rules! fail {
    ($error:expr, $($argument:tt)*) => {{
        gneiss_clr::log::line(gneiss_clr::log::Level::Error, file!(), line!(), format_args!($($argument)*));
        Err($error)
    }};
}

/// The code for a call that the runtime below refuses. The reason goes to the log; a device fault's report to stderr, once.
pub fn code(error: Error) -> Code {
    match &error {
        Error::Fault(fault) => fault.print_once(),
        other => log::line(log::Level::Error, file!(), line!(), format_args!("{other}")),
    }
    match error {
        Error::NoRuntime(_) => CL_DEVICE_NOT_AVAILABLE,
        Error::Hsa { .. } | Error::Gone(_) => CL_OUT_OF_RESOURCES,
        Error::OutOfMemory { .. } => CL_MEM_OBJECT_ALLOCATION_FAILURE,
        Error::InvalidValue(_) | Error::UnknownAddress(_) | Error::AlreadyRegistered(_) => {
            CL_INVALID_VALUE
        }
        Error::InvalidCodeObject(_) | Error::IncompatibleCodeObject { .. } => CL_INVALID_BINARY,
        Error::LaunchLimit { what, .. } => match what {
            LaunchLimit::WorkgroupSize | LaunchLimit::LaunchBounds => CL_INVALID_WORK_GROUP_SIZE,
            LaunchLimit::GridSize => CL_INVALID_GLOBAL_WORK_SIZE,
            LaunchLimit::GroupSegment | LaunchLimit::CooperativeGroups => CL_OUT_OF_RESOURCES,
        },
        Error::Unsupported(_) => CL_INVALID_OPERATION,
        Error::Fault(fault) => fault_code(fault.kind),
        Error::CommandFailed(status) => waited(status),
    }
}

/// The code of a call that waited for a command which ended with a negative status.
fn waited(status: Status) -> Code {
    if status == Status::DEVICE_FAULT {
        CL_OUT_OF_RESOURCES
    } else {
        CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
    }
}

fn fault_code(kind: FaultKind) -> Code {
    match kind {
        FaultKind::InvalidPacket => CL_INVALID_KERNEL_ARGS,
        FaultKind::IllegalAddress
        | FaultKind::Aperture
        | FaultKind::IllegalInstruction
        | FaultKind::Trap
        | FaultKind::Other
        | FaultKind::OutOfResources
        | FaultKind::Timeout => CL_OUT_OF_RESOURCES,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_codes_of_the_specification() {
        let limit = |what| Error::LaunchLimit {
            kernel: "k".into(),
            what,
            asked: 2,
            limit: 1,
        };
        assert_eq!(
            code(limit(LaunchLimit::LaunchBounds)),
            CL_INVALID_WORK_GROUP_SIZE
        );
        assert_eq!(code(limit(LaunchLimit::GroupSegment)), CL_OUT_OF_RESOURCES);
        assert_eq!(
            code(Error::CommandFailed(Status::DEPENDENCY_FAILED)),
            CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
        );
        assert_eq!(
            code(Error::OutOfMemory {
                what: "device",
                size: 1
            }),
            CL_MEM_OBJECT_ALLOCATION_FAILURE
        );
    }
}
