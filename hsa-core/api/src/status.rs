//! Status codes.

use std::fmt;

/// What a function of the HSA ABI returns. 0 is success, 1 is a break that a callback asked for; all others are errors.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
#[must_use = "an HSA function may have failed"]
pub struct hsa_status_t(pub u32);

impl hsa_status_t {
    /// `Ok` for [`HSA_STATUS_SUCCESS`], else the status as the error.
    pub fn ok(self) -> Result<(), hsa_status_t> {
        if self == HSA_STATUS_SUCCESS {
            Ok(())
        } else {
            Err(self)
        }
    }

    /// The name of the status in the headers, if it has one.
    pub fn name(self) -> Option<&'static str> {
        NAMES
            .iter()
            .find(|(status, _)| *status == self)
            .map(|(_, name)| *name)
    }
}

impl fmt::Debug for hsa_status_t {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "hsa_status_t({:#x})", self.0),
        }
    }
}

impl fmt::Display for hsa_status_t {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl std::error::Error for hsa_status_t {}

/// Defines the constants and the table of their names.
macro_rules! statuses {
    ($($name:ident = $value:literal;)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "` of AMD's headers.")]
            pub const $name: hsa_status_t = hsa_status_t($value);
        )*

        const NAMES: &[(hsa_status_t, &str)] = &[$(($name, stringify!($name))),*];
    };
}

statuses! {
    HSA_STATUS_SUCCESS = 0x0;
    HSA_STATUS_INFO_BREAK = 0x1;
    HSA_STATUS_ERROR = 0x1000;
    HSA_STATUS_ERROR_INVALID_ARGUMENT = 0x1001;
    HSA_STATUS_ERROR_INVALID_QUEUE_CREATION = 0x1002;
    HSA_STATUS_ERROR_INVALID_ALLOCATION = 0x1003;
    HSA_STATUS_ERROR_INVALID_AGENT = 0x1004;
    HSA_STATUS_ERROR_INVALID_REGION = 0x1005;
    HSA_STATUS_ERROR_INVALID_SIGNAL = 0x1006;
    HSA_STATUS_ERROR_INVALID_QUEUE = 0x1007;
    HSA_STATUS_ERROR_OUT_OF_RESOURCES = 0x1008;
    HSA_STATUS_ERROR_INVALID_PACKET_FORMAT = 0x1009;
    HSA_STATUS_ERROR_RESOURCE_FREE = 0x100A;
    HSA_STATUS_ERROR_NOT_INITIALIZED = 0x100B;
    HSA_STATUS_ERROR_REFCOUNT_OVERFLOW = 0x100C;
    HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS = 0x100D;
    HSA_STATUS_ERROR_INVALID_INDEX = 0x100E;
    HSA_STATUS_ERROR_INVALID_ISA = 0x100F;
    HSA_STATUS_ERROR_INVALID_ISA_NAME = 0x1017;
    HSA_STATUS_ERROR_INVALID_CODE_OBJECT = 0x1010;
    HSA_STATUS_ERROR_INVALID_EXECUTABLE = 0x1011;
    HSA_STATUS_ERROR_FROZEN_EXECUTABLE = 0x1012;
    HSA_STATUS_ERROR_INVALID_SYMBOL_NAME = 0x1013;
    HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED = 0x1014;
    HSA_STATUS_ERROR_VARIABLE_UNDEFINED = 0x1015;
    HSA_STATUS_ERROR_EXCEPTION = 0x1016;
    HSA_STATUS_ERROR_INVALID_CODE_SYMBOL = 0x1018;
    HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL = 0x1019;
    HSA_STATUS_ERROR_INVALID_FILE = 0x1020;
    HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER = 0x1021;
    HSA_STATUS_ERROR_INVALID_CACHE = 0x1022;
    HSA_STATUS_ERROR_INVALID_WAVEFRONT = 0x1023;
    HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP = 0x1024;
    HSA_STATUS_ERROR_INVALID_RUNTIME_STATE = 0x1025;
    HSA_STATUS_ERROR_FATAL = 0x1026;
    HSA_STATUS_ERROR_INVALID_MEMORY_POOL = 40;
    HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION = 41;
    HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION = 42;
    HSA_STATUS_ERROR_MEMORY_FAULT = 43;
    HSA_STATUS_CU_MASK_REDUCED = 44;
    HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED = 0x3000;
    HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED = 0x3001;
    HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED = 0x3002;
    HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED = 0x3003;
    HSA_EXT_STATUS_ERROR_INVALID_PROGRAM = 0x2000;
    HSA_EXT_STATUS_ERROR_INVALID_MODULE = 0x2001;
    HSA_EXT_STATUS_ERROR_INCOMPATIBLE_MODULE = 0x2002;
    HSA_EXT_STATUS_ERROR_MODULE_ALREADY_INCLUDED = 0x2003;
    HSA_EXT_STATUS_ERROR_SYMBOL_MISMATCH = 0x2004;
    HSA_EXT_STATUS_ERROR_FINALIZATION_FAILED = 0x2005;
    HSA_EXT_STATUS_ERROR_DIRECTIVE_MISMATCH = 0x2006;
    HSA_STATUS_ERROR_OUT_OF_REGISTERS = 45;
    HSA_STATUS_ERROR_RESOURCE_BUSY = 46;
    HSA_STATUS_ERROR_NOT_SUPPORTED = 47;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values() {
        assert_eq!(HSA_STATUS_ERROR_OUT_OF_RESOURCES.0, 0x1008);
        assert_eq!(
            hsa_status_t(40).name(),
            Some("HSA_STATUS_ERROR_INVALID_MEMORY_POOL")
        );
        assert_eq!(
            format!("{:?}", hsa_status_t(0x7777)),
            "hsa_status_t(0x7777)"
        );
        assert_eq!(
            HSA_STATUS_ERROR_INVALID_AGENT.ok(),
            Err(HSA_STATUS_ERROR_INVALID_AGENT)
        );
    }
}
