//! Programs: code objects, loaded on a device.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use gneiss_fatbin::{CodeObject, Metadata, TargetId};
use gneiss_hsa_api::*;

use crate::{Device, Error, Kernel, Result, hsa::Hsa, kernel::Printf, queue::RuntimeHandle};

/// A `__device__`, `__constant__` or managed variable of a loaded program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalVariable {
    /// Its symbol.
    pub name: String,
    /// Device address.
    pub address: u64,
    /// Bytes.
    pub size: usize,
}

/// A code object, loaded on one device. Dropping the last reference unloads it; commands of its kernels must have ended by then.
#[derive(Debug)]
pub struct Program {
    device: Arc<Device>,
    executable: hsa_executable_t,
    metadata: Metadata,
    kernels: Vec<Arc<Kernel>>,
    by_name: HashMap<String, usize>,
    globals: HashMap<String, GlobalVariable>,
    /// The library reads it for names and source lines.
    image: Vec<u8>,
}

impl Program {
    /// Loads one code object (an AMDGPU ELF image, not a bundle). `externals` gives addresses to undefined variables by name
    /// (managed and texture variables).
    ///
    /// # Errors
    /// [`Error::InvalidCodeObject`] and [`Error::IncompatibleCodeObject`] for the bytes, [`Error::Hsa`] for what the loader refuses.
    pub fn load(
        device: &Arc<Device>,
        image: &[u8],
        externals: &[(&str, u64)],
    ) -> Result<Arc<Self>> {
        let invalid = |error: gneiss_fatbin::Error| Error::InvalidCodeObject(error.to_string());
        // The library may keep pointing into the bytes: they are held as long as the program.
        let image = image.to_vec();
        let code_object = CodeObject::parse(&image).map_err(invalid)?;
        let isa = &device.properties().isa;
        let target = TargetId::from_isa_name(isa).map_err(invalid)?;
        if code_object.fit(&target).is_none() {
            return Err(Error::IncompatibleCodeObject {
                code_object: code_object.target().to_string(),
                device: isa.clone(),
            });
        }
        let mut metadata = code_object.metadata().map_err(invalid)?;
        let mut variables: Vec<(String, u64)> = Vec::new();
        for symbol in code_object.symbols().map_err(invalid)? {
            if symbol.is_defined()
                && !symbol.is_local()
                && symbol.kind == gneiss_fatbin::elf::SymbolKind::Object
                && !code_object.is_kernel(&symbol)
            {
                variables.push((symbol.name.to_owned(), symbol.size));
            }
        }

        if metadata
            .kernels
            .iter()
            .any(|it| it.device_enqueue_symbol.is_some())
        {
            // LLVM 15 leaves some kernels of blocks local; device code does not find them either, and what it enqueues for them fails.
            let symbols = code_object.symbols().map_err(invalid)?;
            let global: HashSet<_> = symbols
                .iter()
                .filter(|symbol| !symbol.is_local())
                .map(|symbol| symbol.name)
                .collect();
            metadata
                .kernels
                .retain(|kernel| global.contains(kernel.symbol.as_str()));
        }

        let hsa = device.hsa();
        let agent = device.agent();
        let executable = hsa.load_executable(agent, &image, externals).map_err(
            |error| match error {
                Error::Hsa {
                    status: HSA_STATUS_ERROR_INVALID_CODE_OBJECT,
                    ..
                } => Error::InvalidCodeObject("the loader refuses it".into()),
                Error::Hsa {
                    status:
                        HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS | HSA_STATUS_ERROR_INVALID_ISA_NAME,
                    ..
                } => Error::IncompatibleCodeObject {
                    code_object: target.to_string(),
                    device: isa.clone(),
                },
                error => error,
            },
        )?;

        let resolve = || -> Result<(Vec<u64>, HashMap<String, GlobalVariable>)> {
            let objects = metadata
                .kernels
                .iter()
                .map(|kernel| {
                    let symbol = hsa.executable_symbol(executable, agent, &kernel.symbol)?;
                    hsa.symbol_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT)
                })
                .collect::<Result<Vec<u64>>>()?;
            let mut globals = HashMap::new();
            for (name, size) in variables {
                let symbol = hsa.executable_symbol(executable, agent, &name)?;
                let address =
                    hsa.symbol_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS)?;
                let size = usize::try_from(size).unwrap_or(usize::MAX);
                globals.insert(
                    name.clone(),
                    GlobalVariable {
                        name,
                        address,
                        size,
                    },
                );
            }
            write_runtime_handles(hsa, &metadata, &objects, &globals)?;
            Ok((objects, globals))
        };
        let (objects, globals) = match resolve() {
            Ok(resolved) => resolved,
            Err(error) => {
                hsa.executable_destroy(executable);
                return Err(error);
            }
        };
        Ok(Self::assemble(
            device, executable, metadata, objects, globals, image,
        ))
    }

    /// A program of what is loaded: `objects` has the kernels' addresses, in the order of the metadata.
    pub(crate) fn assemble(
        device: &Arc<Device>,
        executable: hsa_executable_t,
        metadata: Metadata,
        objects: Vec<u64>,
        globals: HashMap<String, GlobalVariable>,
        image: Vec<u8>,
    ) -> Arc<Self> {
        let printf = Printf::new(&metadata.printf);
        let enqueues = (metadata.kernels.iter()).any(|it| it.device_enqueue_symbol.is_some());
        Arc::new_cyclic(|program| {
            let kernels: Vec<_> = metadata
                .kernels
                .iter()
                .zip(objects)
                .map(|(kernel, object)| {
                    Arc::new(Kernel::new(
                        kernel.clone(),
                        object,
                        device.clone(),
                        program.clone(),
                        printf.clone(),
                        enqueues,
                    ))
                })
                .collect();
            let by_name = kernels
                .iter()
                .enumerate()
                .map(|(index, kernel)| (kernel.name().to_owned(), index))
                .collect();
            Self {
                device: device.clone(),
                executable,
                metadata,
                kernels,
                by_name,
                globals,
                image,
            }
        })
    }

    /// The kernel with that name (without `.kd`).
    pub fn kernel(&self, name: &str) -> Option<&Arc<Kernel>> {
        self.by_name.get(name).map(|index| &self.kernels[*index])
    }

    /// All kernels.
    pub fn kernels(&self) -> &[Arc<Kernel>] {
        &self.kernels
    }

    /// The variable with that name.
    pub fn global(&self, name: &str) -> Option<&GlobalVariable> {
        self.globals.get(name)
    }

    /// All variables, in no order.
    pub fn globals(&self) -> impl Iterator<Item = &GlobalVariable> {
        self.globals.values()
    }

    /// The metadata of the code object.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The bytes that were loaded.
    pub fn image(&self) -> &[u8] {
        &self.image
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }
}

/// Tells device code where the kernels of blocks are: the variable that the metadata name (`.device_enqueue_symbol`) is what device code
/// gives to `enqueue_kernel` for the block.
fn write_runtime_handles(
    hsa: &Hsa,
    metadata: &Metadata,
    objects: &[u64],
    globals: &HashMap<String, GlobalVariable>,
) -> Result<()> {
    for (kernel, object) in metadata.kernels.iter().zip(objects) {
        let Some(symbol) = &kernel.device_enqueue_symbol else {
            continue;
        };
        let place = globals.get(symbol);
        let Some(place) = place.filter(|place| place.size >= size_of::<RuntimeHandle>()) else {
            return Err(Error::InvalidCodeObject(format!(
                "kernel {}: no variable {symbol} for its handle",
                kernel.name
            )));
        };
        let handle = RuntimeHandle {
            kernel_object: *object,
            private_segment_size: kernel.private_segment_fixed_size,
            group_segment_size: kernel.group_segment_fixed_size,
        };
        // SAFETY: the variable is that large, and loaded; no kernel of the program runs yet.
        unsafe {
            hsa.copy_now(
                place.address,
                (&raw const handle).cast(),
                size_of::<RuntimeHandle>(),
            )
        }?;
    }
    Ok(())
}

impl Drop for Program {
    fn drop(&mut self) {
        if self.executable.handle != 0 {
            self.device.hsa().executable_destroy(self.executable);
        }
    }
}
