//! Texts of status codes: the enumerator's name, a colon, and a sentence.

use std::ffi::CStr;

use gneiss_hsa_api::*;

/// The text of a status, or that it is unknown.
pub(crate) fn text(status: hsa_status_t) -> &'static str {
    c_text(status)
        .and_then(|text| text.to_str().ok())
        .unwrap_or("unknown status")
}

macro_rules! texts {
    ($($name:ident: $sentence:literal;)*) => {
        /// The text of a status, for C.
        pub(crate) fn c_text(status: hsa_status_t) -> Option<&'static CStr> {
            let text: &'static str = match status {
                $($name => concat!(stringify!($name), ": ", $sentence, "\0"),)*
                _ => return None,
            };
            CStr::from_bytes_with_nul(text.as_bytes()).ok()
        }
    };
}

texts! {
    HSA_STATUS_SUCCESS: "The function succeeded.";
    HSA_STATUS_INFO_BREAK: "A callback ended the iteration before all elements were visited.";
    HSA_STATUS_ERROR: "An error that has no code of its own.";
    HSA_STATUS_ERROR_INVALID_ARGUMENT: "An argument does not meet what the function asks of it.";
    HSA_STATUS_ERROR_INVALID_QUEUE_CREATION: "The agent cannot make a queue of this kind.";
    HSA_STATUS_ERROR_INVALID_ALLOCATION: "The allocation is not valid, or cannot be made in this memory.";
    HSA_STATUS_ERROR_INVALID_AGENT: "The agent is not valid.";
    HSA_STATUS_ERROR_INVALID_REGION: "The memory region is not valid.";
    HSA_STATUS_ERROR_INVALID_SIGNAL: "The signal is not valid.";
    HSA_STATUS_ERROR_INVALID_QUEUE: "The queue is not valid.";
    HSA_STATUS_ERROR_OUT_OF_RESOURCES: "The runtime could not get the resources that are needed.";
    HSA_STATUS_ERROR_INVALID_PACKET_FORMAT: "An AQL packet is malformed.";
    HSA_STATUS_ERROR_RESOURCE_FREE: "A resource could not be released.";
    HSA_STATUS_ERROR_NOT_INITIALIZED: "The runtime has not been initialized.";
    HSA_STATUS_ERROR_REFCOUNT_OVERFLOW: "The object has as many references as can be counted.";
    HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS: "The arguments do not fit one another.";
    HSA_STATUS_ERROR_INVALID_INDEX: "The index is not valid.";
    HSA_STATUS_ERROR_INVALID_ISA: "The instruction set architecture is not valid.";
    HSA_STATUS_ERROR_INVALID_ISA_NAME: "The name of the instruction set architecture is not valid.";
    HSA_STATUS_ERROR_INVALID_CODE_OBJECT: "The code object is not valid.";
    HSA_STATUS_ERROR_INVALID_EXECUTABLE: "The executable is not valid.";
    HSA_STATUS_ERROR_FROZEN_EXECUTABLE: "The executable is frozen.";
    HSA_STATUS_ERROR_INVALID_SYMBOL_NAME: "There is no symbol of this name.";
    HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED: "The variable is already defined.";
    HSA_STATUS_ERROR_VARIABLE_UNDEFINED: "The variable is not defined.";
    HSA_STATUS_ERROR_EXCEPTION: "An HSAIL operation caused a hardware exception.";
    HSA_STATUS_ERROR_INVALID_CODE_SYMBOL: "The code object symbol is not valid.";
    HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL: "The executable symbol is not valid.";
    HSA_STATUS_ERROR_INVALID_FILE: "The file descriptor is not valid.";
    HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER: "The code object reader is not valid.";
    HSA_STATUS_ERROR_INVALID_CACHE: "The cache is not valid.";
    HSA_STATUS_ERROR_INVALID_WAVEFRONT: "The wavefront is not valid.";
    HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP: "The signal group is not valid.";
    HSA_STATUS_ERROR_INVALID_RUNTIME_STATE: "The runtime is not in the state that the function needs.";
    HSA_STATUS_ERROR_FATAL: "The queue met an error that it cannot go on from.";
    HSA_STATUS_ERROR_INVALID_MEMORY_POOL: "The memory pool is not valid.";
    HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION: "The agent accessed memory beyond the maximum legal address.";
    HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION: "The agent met an instruction that it cannot execute.";
    HSA_STATUS_ERROR_MEMORY_FAULT: "The agent accessed memory that it may not access.";
    HSA_STATUS_CU_MASK_REDUCED: "The mask of compute units was applied only in part.";
    HSA_STATUS_ERROR_OUT_OF_REGISTERS: "The kernel needs more vector registers than there are.";
    HSA_STATUS_ERROR_RESOURCE_BUSY: "The resource is in use.";
    HSA_STATUS_ERROR_NOT_SUPPORTED: "The operation is not supported.";
    HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED: "The image format is not supported.";
    HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED: "The image size is not supported.";
    HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED: "The image pitch is not supported.";
    HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED: "The sampler descriptor is not supported.";
    HSA_EXT_STATUS_ERROR_INVALID_PROGRAM: "The HSAIL program is not valid.";
    HSA_EXT_STATUS_ERROR_INVALID_MODULE: "The HSAIL module is not valid.";
    HSA_EXT_STATUS_ERROR_INCOMPATIBLE_MODULE: "The HSAIL module does not fit the program.";
    HSA_EXT_STATUS_ERROR_MODULE_ALREADY_INCLUDED: "The HSAIL module is part of the program already.";
    HSA_EXT_STATUS_ERROR_SYMBOL_MISMATCH: "Two modules declare a symbol in different ways.";
    HSA_EXT_STATUS_ERROR_FINALIZATION_FAILED: "The finalizer failed.";
    HSA_EXT_STATUS_ERROR_DIRECTIVE_MISMATCH: "Control directives contradict each other.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_status_has_a_text_that_begins_with_its_name() {
        for value in (0..0x30)
            .chain(0x1000..0x1030)
            .chain(0x2000..0x2008)
            .chain(0x3000..0x3008)
        {
            let status = hsa_status_t(value);
            match status.name() {
                Some(name) => assert!(text(status).starts_with(&format!("{name}: ")), "{name}"),
                None => assert!(c_text(status).is_none()),
            }
        }
    }
}
