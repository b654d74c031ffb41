//! The loader: readers, executables, and the code objects in them.
//!
//! Handles are numbers of tables, so a stale handle is an error, never a wild pointer. An executable is filled while it is unfrozen;
//! freezing only forbids further loading: code is in place, and mapped on its GPU, from the moment it is loaded.
//!
//! Locks: one table at a time; an executable's own state is a lock taken with no table locked. Callbacks run without locks.

mod code_object;
mod debugger;
mod kernel_v2;
pub(crate) mod object;
pub(crate) mod symbol;

use std::{
    collections::{BTreeMap, HashMap},
    fs::File,
    io::{Read, Seek, SeekFrom},
    mem::ManuallyDrop,
    os::fd::FromRawFd,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use gneiss_fatbin::kernel_descriptor::KernelDescriptor;
use gneiss_hsa_api::*;
use parking_lot::{Mutex, RwLock};

use crate::{
    agent::AgentId,
    entry::{HsaResult, require},
    memory::arena::Arena,
    runtime::Runtime,
};
use code_object::HeldCodeObject;
use object::LoadedObject;
use symbol::Symbol;

/// Objects by number. Numbers are never used again.
#[derive(Debug)]
pub(crate) struct Table<T> {
    objects: RwLock<HashMap<u64, Arc<T>>>,
    next: AtomicU64,
}

impl<T> Table<T> {
    fn new(tag: u64) -> Self {
        Self {
            objects: RwLock::default(),
            next: AtomicU64::new(tag << 32 | 1),
        }
    }

    fn reserve(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    fn put(&self, handle: u64, object: Arc<T>) {
        self.objects.write().insert(handle, object);
    }

    /// The object of a handle.
    pub(crate) fn get(&self, handle: u64) -> Option<Arc<T>> {
        self.objects.read().get(&handle).cloned()
    }

    fn remove(&self, handle: u64) -> Option<Arc<T>> {
        self.objects.write().remove(&handle)
    }

    fn all(&self) -> Vec<Arc<T>> {
        self.objects.read().values().cloned().collect()
    }
}

/// A source of a code object.
#[derive(Debug)]
pub(crate) enum Source {
    /// Memory of the program, which stays valid until the code object is loaded.
    Memory {
        /// First byte.
        address: usize,
        /// Bytes.
        size: usize,
    },
    /// Contents of a file.
    File {
        /// The bytes.
        bytes: Arc<[u8]>,
        /// Path of the file and offset in it, if known.
        uri: String,
    },
}

/// A code object reader.
#[derive(Debug)]
pub(crate) struct Reader {
    pub(crate) source: Source,
}

/// What an executable holds.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) frozen: bool,
    pub(crate) destroyed: bool,
    pub(crate) objects: Vec<Arc<LoadedObject>>,
    pub(crate) symbols: Vec<Arc<Symbol>>,
    /// Variables that the program defines: for an agent or for all, name, address.
    pub(crate) externals: HashMap<(Option<AgentId>, String), u64>,
}

/// An executable.
#[derive(Debug)]
pub(crate) struct Executable {
    pub(crate) handle: u64,
    pub(crate) profile: hsa_profile_t,
    pub(crate) rounding: hsa_default_float_rounding_mode_t,
    pub(crate) contents: Mutex<Contents>,
}

/// All that is loaded.
#[derive(Debug)]
pub(crate) struct Loader {
    readers: Table<Reader>,
    executables: Table<Executable>,
    symbols: Table<Symbol>,
    objects: Table<LoadedObject>,
    /// Of the deprecated interface, as their symbols.
    code_objects: Table<HeldCodeObject>,
    code_symbols: Table<Symbol>,
    /// Loaded objects by address.
    code: RwLock<BTreeMap<u64, Arc<LoadedObject>>>,
    /// Changes whenever code comes or goes.
    generation: AtomicU64,
    arena: Arena,
}

impl Default for Loader {
    fn default() -> Self {
        Self {
            readers: Table::new(0x4752),
            executables: Table::new(0x4745),
            symbols: Table::new(0x4753),
            objects: Table::new(0x474c),
            code_objects: Table::new(0x474f),
            code_symbols: Table::new(0x4759),
            code: RwLock::default(),
            generation: AtomicU64::new(1),
            arena: Arena::new(true),
        }
    }
}

impl Loader {
    /// Changes whenever code comes or goes.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Number of live executables.
    pub(crate) fn live(&self) -> usize {
        self.executables.objects.read().len()
    }

    /// The descriptor of the kernel whose descriptor is loaded at an address, on this agent.
    pub(crate) fn kernel_descriptor(
        &self,
        agent: AgentId,
        address: u64,
    ) -> Option<KernelDescriptor> {
        let object = self.object_at(address)?;
        (object.agent == agent).then(|| object.kernels.get(&address).copied())?
    }

    /// The loaded object that holds an address.
    pub(crate) fn object_at(&self, address: u64) -> Option<Arc<LoadedObject>> {
        let code = self.code.read();
        let (base, object) = code.range(..=address).next_back()?;
        (address - base < object.size).then(|| Arc::clone(object))
    }

    /// Makes a reader of memory.
    pub(crate) fn read_memory(
        &self,
        address: usize,
        size: usize,
    ) -> HsaResult<hsa_code_object_reader_t> {
        require(address != 0 && size != 0)?;
        Ok(self.add_reader(Source::Memory { address, size }))
    }

    /// Makes a reader of a part of a file; without a size, of the rest of it.
    pub(crate) fn read_file(
        &self,
        fd: i32,
        offset: u64,
        size: Option<u64>,
    ) -> HsaResult<hsa_code_object_reader_t> {
        if fd < 0 {
            return Err(HSA_STATUS_ERROR_INVALID_FILE);
        }
        // SAFETY: the descriptor is the caller's and is not closed: `ManuallyDrop` keeps `File` from it.
        let mut file = ManuallyDrop::new(unsafe { File::from_raw_fd(fd) });
        let mut read = || {
            let length = file.metadata()?.len();
            let rest = length.saturating_sub(offset);
            let size = size.unwrap_or(rest);
            if size == 0 || size > rest {
                return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof));
            }
            let before = file.stream_position()?;
            let mut bytes = Vec::new();
            file.seek(SeekFrom::Start(offset))?;
            (&mut *file).take(size).read_to_end(&mut bytes)?;
            file.seek(SeekFrom::Start(before))?;
            Ok(bytes)
        };
        let bytes = read().map_err(|error| {
            tracing::warn!(%error, "a code object file cannot be read");
            HSA_STATUS_ERROR_INVALID_FILE
        })?;
        let path = std::fs::read_link(format!("/proc/self/fd/{fd}")).unwrap_or_default();
        let uri = format!(
            "file://{}#offset={offset:#x}&size={:#x}",
            path.display(),
            bytes.len()
        );
        Ok(self.add_reader(Source::File {
            bytes: bytes.into(),
            uri,
        }))
    }

    fn add_reader(&self, source: Source) -> hsa_code_object_reader_t {
        let handle = self.readers.reserve();
        self.readers.put(handle, Arc::new(Reader { source }));
        hsa_code_object_reader_t { handle }
    }

    /// The reader of a handle.
    pub(crate) fn reader(&self, reader: hsa_code_object_reader_t) -> HsaResult<Arc<Reader>> {
        self.readers
            .get(reader.handle)
            .ok_or(HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER)
    }

    /// Destroys a reader.
    pub(crate) fn destroy_reader(&self, reader: hsa_code_object_reader_t) -> HsaResult {
        self.readers
            .remove(reader.handle)
            .map(drop)
            .ok_or(HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER)
    }

    /// Makes an executable.
    pub(crate) fn create(
        &self,
        profile: hsa_profile_t,
        rounding: hsa_default_float_rounding_mode_t,
        frozen: bool,
    ) -> HsaResult<hsa_executable_t> {
        require(profile <= HSA_PROFILE_FULL && rounding <= HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR)?;
        let handle = self.executables.reserve();
        let contents = Mutex::new(Contents {
            frozen,
            ..Contents::default()
        });
        self.executables.put(
            handle,
            Arc::new(Executable {
                handle,
                profile,
                rounding,
                contents,
            }),
        );
        Ok(hsa_executable_t { handle })
    }

    /// The executable of a handle.
    pub(crate) fn executable(&self, executable: hsa_executable_t) -> HsaResult<Arc<Executable>> {
        self.executables
            .get(executable.handle)
            .ok_or(HSA_STATUS_ERROR_INVALID_EXECUTABLE)
    }

    /// All executables.
    pub(crate) fn all_executables(&self) -> Vec<Arc<Executable>> {
        let mut all = self.executables.all();
        all.sort_by_key(|executable| executable.handle);
        all
    }

    /// Destroys an executable: its code leaves the GPUs.
    pub(crate) fn destroy(&self, runtime: &Runtime, executable: hsa_executable_t) -> HsaResult {
        let executable = self
            .executables
            .remove(executable.handle)
            .ok_or(HSA_STATUS_ERROR_INVALID_EXECUTABLE)?;
        let (objects, symbols) = {
            let mut contents = executable.contents.lock();
            contents.destroyed = true;
            (
                std::mem::take(&mut contents.objects),
                std::mem::take(&mut contents.symbols),
            )
        };
        for symbol in symbols {
            self.symbols.remove(symbol.handle);
        }
        for object in objects {
            self.unload(runtime, &object);
        }
        Ok(())
    }

    /// The symbol of a handle.
    pub(crate) fn symbol(&self, symbol: hsa_executable_symbol_t) -> HsaResult<Arc<Symbol>> {
        self.symbols
            .get(symbol.handle)
            .ok_or(HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL)
    }

    /// The loaded object of a handle.
    pub(crate) fn object(&self, object: hsa_loaded_code_object_t) -> HsaResult<Arc<LoadedObject>> {
        self.objects
            .get(object.handle)
            .ok_or(HSA_STATUS_ERROR_INVALID_CODE_OBJECT)
    }

    /// All loaded objects.
    pub(crate) fn all_objects(&self) -> Vec<Arc<LoadedObject>> {
        self.code.read().values().cloned().collect()
    }

    /// Destroys everything, at shutdown.
    pub(crate) fn clear(&self, runtime: &Runtime) {
        for executable in self.all_executables() {
            if let Err(status) = self.destroy(
                runtime,
                hsa_executable_t {
                    handle: executable.handle,
                },
            ) {
                tracing::warn!(%status, "an executable was destroyed by somebody else during shutdown");
            }
        }
        self.readers.objects.write().clear();
    }
}

impl Executable {
    /// Defines a variable that code objects refer to but do not define.
    pub(crate) fn define(&self, agent: Option<AgentId>, name: String, address: u64) -> HsaResult {
        let mut contents = self.contents.lock();
        if contents.frozen {
            return Err(HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
        }
        let defined = contents
            .symbols
            .iter()
            .any(|symbol| symbol.name == name && (agent.is_none() || Some(symbol.agent) == agent));
        if defined || contents.externals.contains_key(&(agent, name.clone())) {
            return Err(HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED);
        }
        contents.externals.insert((agent, name), address);
        Ok(())
    }

    /// `hsa_executable_freeze`.
    pub(crate) fn freeze(&self) -> HsaResult {
        let mut contents = self.contents.lock();
        if contents.frozen {
            return Err(HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
        }
        contents.frozen = true;
        Ok(())
    }

    /// The symbol of a name, on an agent or on any.
    pub(crate) fn find(&self, name: &str, agent: Option<AgentId>) -> HsaResult<Arc<Symbol>> {
        let contents = self.contents.lock();
        let found = contents
            .symbols
            .iter()
            .find(|symbol| symbol.name == name && agent.is_none_or(|agent| symbol.agent == agent));
        found.cloned().ok_or(HSA_STATUS_ERROR_INVALID_SYMBOL_NAME)
    }

    /// The symbols of an agent, or of all.
    pub(crate) fn symbols(&self, agent: Option<AgentId>) -> Vec<Arc<Symbol>> {
        let contents = self.contents.lock();
        contents
            .symbols
            .iter()
            .filter(|symbol| agent.is_none_or(|agent| symbol.agent == agent))
            .cloned()
            .collect()
    }
}
