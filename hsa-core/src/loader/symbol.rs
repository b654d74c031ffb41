//! Symbols of executables and their attributes.

use std::ffi::c_void;

use gneiss_fatbin::kernel_descriptor::KernelDescriptor;
use gneiss_hsa_api::*;

use crate::{
    agent::AgentId,
    entry::{HsaResult, require, write_value},
};

/// `kernel_code_properties`: the kernel may need more scratch than it states.
const USES_DYNAMIC_STACK: u16 = 1 << 11;
/// Alignment of the kernel argument segment that every kernel can rely on.
const KERNARG_ALIGNMENT: u32 = 16;

/// What a code object says of a symbol.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) weak: bool,
    pub(crate) read_only: bool,
    /// For a kernel, its descriptor.
    pub(crate) kernel: Option<KernelDescriptor>,
}

/// A symbol of an executable.
#[derive(Debug)]
pub(crate) struct Symbol {
    pub(crate) handle: u64,
    pub(crate) agent: AgentId,
    pub(crate) name: String,
    pub(crate) address: u64,
    definition: Definition,
}

impl Symbol {
    /// A symbol that was loaded for an agent.
    pub(crate) fn new(handle: u64, agent: AgentId, definition: Definition) -> Self {
        Self {
            handle,
            agent,
            name: definition.name.clone(),
            address: definition.address,
            definition,
        }
    }

    /// The handle.
    pub(crate) fn public(&self) -> hsa_executable_symbol_t {
        hsa_executable_symbol_t {
            handle: self.handle,
        }
    }

    /// `hsa_executable_symbol_get_info`.
    ///
    /// # Safety
    /// `value` is null or has room for the attribute.
    pub(crate) unsafe fn info(
        &self,
        attribute: hsa_executable_symbol_info_t,
        value: *mut c_void,
    ) -> HsaResult {
        require(!value.is_null())?;
        let definition = &self.definition;
        let kernel = || definition.kernel.ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        let variable = || match definition.kernel {
            None => Ok(()),
            Some(_) => Err(HSA_STATUS_ERROR_INVALID_ARGUMENT),
        };
        // SAFETY: the caller's promise.
        unsafe {
            match attribute {
                HSA_EXECUTABLE_SYMBOL_INFO_TYPE => write_value(
                    value,
                    if definition.kernel.is_some() {
                        HSA_SYMBOL_KIND_KERNEL
                    } else {
                        HSA_SYMBOL_KIND_VARIABLE
                    },
                ),
                HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH => {
                    write_value(value, self.name.len() as u32)
                }
                HSA_EXECUTABLE_SYMBOL_INFO_NAME => {
                    std::ptr::copy_nonoverlapping(
                        self.name.as_ptr(),
                        value.cast(),
                        self.name.len(),
                    );
                    Ok(())
                }
                HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH => write_value(value, 0u32),
                HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME => Ok(()),
                HSA_EXECUTABLE_SYMBOL_INFO_AGENT => write_value(value, self.agent.handle()),
                HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS => {
                    variable()?;
                    write_value(value, self.address)
                }
                HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE => write_value(
                    value,
                    if definition.weak {
                        HSA_SYMBOL_LINKAGE_MODULE
                    } else {
                        HSA_SYMBOL_LINKAGE_PROGRAM
                    },
                ),
                HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION => write_value(value, true),
                HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION => {
                    variable()?;
                    write_value(value, HSA_VARIABLE_ALLOCATION_AGENT)
                }
                HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT => {
                    variable()?;
                    write_value(value, HSA_VARIABLE_SEGMENT_GLOBAL)
                }
                HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALIGNMENT => {
                    variable()?;
                    // The file does not say; the address is aligned to what its lowest set bit says, within a page.
                    write_value(value, 1u32 << self.address.trailing_zeros().min(12))
                }
                HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE => {
                    variable()?;
                    write_value(value, definition.size as u32)
                }
                HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST => {
                    variable()?;
                    write_value(value, definition.read_only)
                }
                HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT => {
                    kernel()?;
                    write_value(value, self.address)
                }
                HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE => {
                    write_value(value, kernel()?.kernarg_size)
                }
                HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT => {
                    kernel()?;
                    write_value(value, KERNARG_ALIGNMENT)
                }
                HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE => {
                    write_value(value, kernel()?.group_segment_fixed_size)
                }
                HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE => {
                    write_value(value, kernel()?.private_segment_fixed_size)
                }
                HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK => write_value(
                    value,
                    kernel()?.kernel_code_properties & USES_DYNAMIC_STACK != 0,
                ),
                HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_CALL_CONVENTION => {
                    kernel()?;
                    write_value(value, 0u32)
                }
                _ => Err(HSA_STATUS_ERROR_INVALID_ARGUMENT),
            }
        }
    }
}
