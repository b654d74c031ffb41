//! Code objects of the deprecated interface: a copy of the file that can be asked, written out again, and loaded.

use std::{ffi::c_void, sync::Arc};

use gneiss_fatbin::CodeObject;
use gneiss_hsa_api::*;

use super::{
    Executable, Loader, Source, kernel_v2,
    object::{define, is_offered, malformed},
    symbol::{Definition, Symbol},
};
use crate::{
    agent::AgentId,
    entry::{HsaResult, write_text, write_value},
    isa::Isa,
    runtime::Runtime,
};

/// Length of a version's text, NUL included.
const VERSION_LENGTH: usize = 64;

/// A code object of the program.
#[derive(Debug)]
pub(crate) struct HeldCodeObject {
    /// The file.
    pub(crate) bytes: Box<[u8]>,
    /// Its symbols, in the order of the file.
    pub(crate) symbols: Vec<Arc<Symbol>>,
    version: u8,
    isa: Isa,
}

impl Loader {
    /// `hsa_code_object_deserialize`: copies and checks the file.
    pub(crate) fn hold(&self, bytes: &[u8]) -> HsaResult<hsa_code_object_t> {
        let code = CodeObject::parse(bytes).map_err(malformed)?;
        let isa = Isa::from_name(&code.target().isa_name());
        let definitions = definitions(&code)?;
        let symbols = definitions.into_iter().map(|definition| {
            let handle = self.code_symbols.reserve();
            let symbol = Arc::new(Symbol::new(handle, AgentId::CPU, definition));
            self.code_symbols.put(handle, Arc::clone(&symbol));
            symbol
        });
        let held = HeldCodeObject {
            version: code.version(),
            isa: isa.ok_or(HSA_STATUS_ERROR_INVALID_ISA_NAME)?,
            symbols: symbols.collect(),
            bytes: bytes.into(),
        };
        let handle = self.code_objects.reserve();
        self.code_objects.put(handle, Arc::new(held));
        Ok(hsa_code_object_t { handle })
    }

    /// The code object of a handle.
    pub(crate) fn held(&self, code_object: hsa_code_object_t) -> HsaResult<Arc<HeldCodeObject>> {
        self.code_objects
            .get(code_object.handle)
            .ok_or(HSA_STATUS_ERROR_INVALID_CODE_OBJECT)
    }

    /// Forgets a code object and its symbols. What was loaded from it stays.
    pub(crate) fn let_go(&self, code_object: hsa_code_object_t) -> HsaResult {
        let held = self.code_objects.remove(code_object.handle);
        let held = held.ok_or(HSA_STATUS_ERROR_INVALID_CODE_OBJECT)?;
        for symbol in &held.symbols {
            self.code_symbols.remove(symbol.handle);
        }
        Ok(())
    }

    /// The symbol of a handle.
    pub(crate) fn code_symbol(&self, symbol: hsa_code_symbol_t) -> HsaResult<Arc<Symbol>> {
        self.code_symbols
            .get(symbol.handle)
            .ok_or(HSA_STATUS_ERROR_INVALID_CODE_SYMBOL)
    }

    /// `hsa_executable_load_code_object`.
    pub(crate) fn load_held(
        &self,
        runtime: &Runtime,
        executable: &Executable,
        agent: hsa_agent_t,
        held: &HeldCodeObject,
    ) -> HsaResult {
        // The loader copies the file: the memory need not last.
        let source = Source::Memory {
            address: held.bytes.as_ptr() as usize,
            size: held.bytes.len(),
        };
        self.load(runtime, executable, agent, &source).map(drop)
    }
}

impl HeldCodeObject {
    /// `hsa_code_object_get_info`.
    ///
    /// # Safety
    /// `value` has room for the attribute.
    pub(crate) unsafe fn info(
        &self,
        attribute: hsa_code_object_info_t,
        value: *mut c_void,
    ) -> HsaResult {
        // SAFETY: the caller's promise.
        unsafe {
            match attribute {
                HSA_CODE_OBJECT_INFO_VERSION => {
                    write_text(value, &format!("{}.0", self.version), VERSION_LENGTH)
                }
                HSA_CODE_OBJECT_INFO_TYPE => write_value(value, HSA_CODE_OBJECT_TYPE_PROGRAM),
                HSA_CODE_OBJECT_INFO_ISA => write_value(value, self.isa.handle()),
                HSA_CODE_OBJECT_INFO_MACHINE_MODEL => write_value(value, HSA_MACHINE_MODEL_LARGE),
                HSA_CODE_OBJECT_INFO_PROFILE => write_value(value, HSA_PROFILE_FULL),
                HSA_CODE_OBJECT_INFO_DEFAULT_FLOAT_ROUNDING_MODE => {
                    write_value(value, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR)
                }
                _ => Err(HSA_STATUS_ERROR_INVALID_ARGUMENT),
            }
        }
    }

    /// The symbol of a name.
    pub(crate) fn symbol(&self, name: &str) -> HsaResult<hsa_code_symbol_t> {
        let found = self.symbols.iter().find(|symbol| symbol.name == name);
        found
            .map(|symbol| hsa_code_symbol_t {
                handle: symbol.handle,
            })
            .ok_or(HSA_STATUS_ERROR_INVALID_SYMBOL_NAME)
    }
}

/// The kernels and variables of a file, at the file's addresses.
fn definitions(code: &CodeObject<'_>) -> HsaResult<Vec<Definition>> {
    let symbols = code.symbols().map_err(malformed)?;
    let offered = symbols.iter().filter(|symbol| is_offered(code, symbol));
    let definition = |symbol| {
        let mut definition = define(code, symbol, symbol.value);
        if code.is_kernel(symbol) && code.version() == 2 {
            let bytes = code.elf().at_address(symbol.value, kernel_v2::SIZE);
            let bytes = bytes.and_then(|bytes| bytes.first_chunk());
            let bytes = bytes.ok_or(HSA_STATUS_ERROR_INVALID_CODE_OBJECT)?;
            definition.kernel = Some(kernel_v2::descriptor(bytes)?);
        } else if code.is_kernel(symbol) {
            definition.kernel = Some(code.kernel_descriptor(symbol).map_err(malformed)?);
        }
        Ok(definition)
    };
    offered.map(definition).collect()
}
