//! Loading one code object: checks, memory, relocations, symbols, the GPU's map.
//!
//! The file's headers were checked by `gneiss-fatbin` (nothing lies outside the file, segments do not overlap); here every address that
//! a relocation or symbol names is checked against the loaded range.

use std::{collections::HashMap, ptr::NonNull, sync::Arc};

use gneiss_amdgcn::{
    engine::{Engine, LoadedCode},
    memory::{Mapping, Rights},
};
use gneiss_fatbin::{
    CodeObject, Error, TargetId,
    elf::{PF_W, PF_X, Symbol as ElfSymbol, SymbolKind},
    kernel_descriptor::{self, KernelDescriptor},
};
use gneiss_hsa_api::*;

use super::{
    Contents, Executable, Loader, Source, debugger, kernel_v2,
    symbol::{Definition, Symbol},
};
use crate::{
    agent::{AgentId, GpuAgent},
    entry::HsaResult,
    isa::Isa,
    memory::{self, arena::Block},
    runtime::Runtime,
};

const R_AMDGPU_NONE: u32 = 0;
const R_AMDGPU_ABS32_LO: u32 = 1;
const R_AMDGPU_ABS32_HI: u32 = 2;
const R_AMDGPU_ABS64: u32 = 3;
const R_AMDGPU_ABS32: u32 = 6;
const R_AMDGPU_RELATIVE64: u32 = 13;

/// Weak binding in ELF.
const STB_WEAK: u8 = 2;

/// Most bytes that a code object may span: far more than any real one, far less than would hurt.
const SPAN_LIMIT: u64 = 4 << 30;

/// A code object in memory.
#[derive(Debug)]
pub(crate) struct LoadedObject {
    pub(crate) handle: u64,
    pub(crate) executable: u64,
    pub(crate) agent: AgentId,
    /// Device and host address of the first byte.
    pub(crate) base: u64,
    /// Bytes from the first segment's start to the last one's end.
    pub(crate) size: u64,
    /// What is added to an address of the file.
    pub(crate) delta: u64,
    /// Kernel descriptors by address.
    pub(crate) kernels: HashMap<u64, KernelDescriptor>,
    /// The file.
    pub(crate) elf: Arc<[u8]>,
    /// Where the file is, for debuggers.
    pub(crate) uri: String,
    /// Address of the program's copy of the file, or of ours; and whether it came from a file.
    pub(crate) storage: (usize, bool),
    block: Block,
    /// First addresses of the mappings on the GPU.
    mappings: Vec<u64>,
}

/// The memory of a code object that is being loaded.
struct Image {
    bytes: NonNull<u8>,
    /// First address in the file.
    start: u64,
    size: u64,
}

impl Image {
    /// The memory of `length` bytes at an address of the file.
    fn at(&self, address: u64, length: u64) -> HsaResult<NonNull<u8>> {
        let offset = address.checked_sub(self.start).filter(|&offset| {
            offset
                .checked_add(length)
                .is_some_and(|end| end <= self.size)
        });
        // SAFETY: the offset is inside the image.
        offset
            .map(|offset| unsafe { self.bytes.add(offset as usize) })
            .ok_or(HSA_STATUS_ERROR_INVALID_CODE_OBJECT)
    }

    fn write<const N: usize>(&self, address: u64, bytes: [u8; N]) -> HsaResult {
        let target = self.at(address, N as u64)?;
        // SAFETY: `at` has checked that N bytes are inside the image, which nobody else uses yet.
        unsafe { target.cast::<[u8; N]>().write_unaligned(bytes) };
        Ok(())
    }
}

/// Logs why a code object is not loaded.
fn refuse(error: impl std::fmt::Display, status: hsa_status_t) -> hsa_status_t {
    tracing::error!(%error, %status, "code object not loaded");
    status
}

pub(super) fn malformed(error: Error) -> hsa_status_t {
    refuse(error, HSA_STATUS_ERROR_INVALID_CODE_OBJECT)
}

/// Checks that the code is for the agent.
fn check_target(code: &CodeObject<'_>, gpu: &GpuAgent) -> HsaResult {
    if code.is_relocatable() {
        return Err(refuse(
            "it is relocatable: link it first",
            HSA_STATUS_ERROR_INVALID_CODE_OBJECT,
        ));
    }
    let agent = gpu.isa().name();
    let device = TargetId::from_isa_name(&agent).map_err(malformed)?;
    if code.fit(&device).is_some() {
        return Ok(());
    }
    let name = code.target().isa_name();
    let status = match Isa::from_name(&name) {
        None if code.generic_version() == 0 => HSA_STATUS_ERROR_INVALID_ISA_NAME,
        _ => HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS,
    };
    Err(refuse(
        format!("code for {name} does not run on {agent}"),
        status,
    ))
}

/// The file of a reader, and where it is.
fn file(source: &Source) -> (Arc<[u8]>, String, (usize, bool)) {
    match source {
        Source::File { bytes, uri } => (
            Arc::clone(bytes),
            uri.clone(),
            (bytes.as_ptr() as usize, true),
        ),
        Source::Memory { address, size } => {
            // SAFETY: whoever made the reader keeps the memory valid until the code object is loaded.
            let bytes = unsafe { std::slice::from_raw_parts(*address as *const u8, *size) };
            let uri = format!(
                "memory://{}#offset={address:#x}&size={size:#x}",
                std::process::id()
            );
            (bytes.into(), uri, (*address, false))
        }
    }
}

impl Loader {
    /// `hsa_executable_load_agent_code_object`.
    pub(crate) fn load(
        &self,
        runtime: &Runtime,
        executable: &Executable,
        agent: hsa_agent_t,
        source: &Source,
    ) -> HsaResult<hsa_loaded_code_object_t> {
        let (index, gpu) = runtime.agents.gpu(agent)?;
        let agent = AgentId::of_gpu(index);
        let mut contents = executable.contents.lock();
        if contents.destroyed {
            return Err(HSA_STATUS_ERROR_INVALID_EXECUTABLE);
        }
        if contents.frozen {
            return Err(HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
        }
        let (elf, uri, storage) = file(source);
        let code = CodeObject::parse(&elf).map_err(malformed)?;
        check_target(&code, gpu)?;
        let (first, end) = code
            .address_span()
            .ok_or_else(|| refuse("it has no segments", HSA_STATUS_ERROR_INVALID_CODE_OBJECT))?;
        let start = first & !0xfff;
        let size = end - start;
        if size == 0 || size > SPAN_LIMIT {
            return Err(refuse(
                format!("it spans {size} bytes"),
                HSA_STATUS_ERROR_INVALID_CODE_OBJECT,
            ));
        }
        let block = self
            .arena
            .allocate(size as usize)
            .map_err(|_| HSA_STATUS_ERROR_OUT_OF_RESOURCES)?;
        let image = Image {
            bytes: block.base,
            start,
            size,
        };
        let base = block.base.as_ptr() as u64;
        let result =
            self.fill(&code, &image, agent, &contents)
                .and_then(|(kernels, definitions)| {
                    let mappings = map(gpu, &code, &image)?;
                    Ok((kernels, definitions, mappings))
                });
        let (kernels, definitions, mappings) = match result {
            Ok(parts) => parts,
            Err(status) => {
                // SAFETY: nothing was mapped, and nobody else knows the block.
                unsafe { self.arena.free(block) };
                return Err(status);
            }
        };
        Engine::global().code_loaded(LoadedCode {
            base,
            len: size,
            symbols: functions(&code, base.wrapping_sub(start)),
            elf: Arc::clone(&elf),
        });
        let object = Arc::new(LoadedObject {
            handle: self.objects.reserve(),
            executable: executable.handle,
            agent,
            base,
            size,
            delta: base.wrapping_sub(start),
            kernels,
            elf: Arc::clone(&elf),
            uri,
            storage,
            block,
            mappings,
        });
        for definition in definitions {
            let handle = self.symbols.reserve();
            let symbol = Arc::new(Symbol::new(handle, agent, definition));
            self.symbols.put(handle, Arc::clone(&symbol));
            contents.symbols.push(symbol);
        }
        contents.objects.push(Arc::clone(&object));
        self.objects.put(object.handle, Arc::clone(&object));
        debugger::loaded(object.base, object.delta, &object.uri);
        self.code.write().insert(base, Arc::clone(&object));
        self.generation
            .fetch_add(1, std::sync::atomic::Ordering::AcqRel);
        Ok(hsa_loaded_code_object_t {
            handle: object.handle,
        })
    }

    /// Copies the segments, finds the symbols and applies the relocations.
    fn fill(
        &self,
        code: &CodeObject<'_>,
        image: &Image,
        agent: AgentId,
        contents: &Contents,
    ) -> HsaResult<(HashMap<u64, KernelDescriptor>, Vec<Definition>)> {
        // SAFETY: the block has at least `size` bytes and is ours alone.
        unsafe { std::ptr::write_bytes(image.bytes.as_ptr(), 0, image.size as usize) };
        for segment in code.load_segments() {
            let bytes = code.elf().segment_data(segment).map_err(malformed)?;
            let target = image.at(segment.address, bytes.len() as u64)?;
            // SAFETY: `at` has checked the range.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), target.as_ptr(), bytes.len()) };
        }
        let delta = (image.bytes.as_ptr() as u64).wrapping_sub(image.start);
        let symbols = code.symbols().map_err(malformed)?;
        self.relocate(code, image, agent, contents, &symbols, delta)?;
        let mut kernels = HashMap::new();
        let mut definitions = Vec::new();
        for symbol in symbols.iter().filter(|symbol| is_offered(code, symbol)) {
            let address = symbol.value.wrapping_add(delta);
            image.at(symbol.value, symbol.size)?;
            if contents
                .symbols
                .iter()
                .any(|other| other.agent == agent && other.name == symbol.name)
                || contents
                    .externals
                    .contains_key(&(Some(agent), symbol.name.to_owned()))
            {
                return Err(refuse(
                    format!("{} is already defined", symbol.name),
                    HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED,
                ));
            }
            let mut definition = define(code, symbol, address);
            if code.is_kernel(symbol) && code.version() == 2 {
                let bytes = image.at(symbol.value, kernel_v2::SIZE)?;
                // SAFETY: `at` has checked the bytes; any bytes are a valid array.
                let descriptor =
                    kernel_v2::descriptor(&unsafe { bytes.cast::<[u8; 256]>().read() })?;
                kernels.insert(address, descriptor);
                definition.kernel = Some(descriptor);
            } else if code.is_kernel(symbol) {
                if !address.is_multiple_of(kernel_descriptor::SIZE as u64) {
                    return Err(refuse(
                        format!("kernel descriptor {} is not aligned", symbol.name),
                        HSA_STATUS_ERROR_INVALID_CODE_OBJECT,
                    ));
                }
                let bytes = image.at(symbol.value, kernel_descriptor::SIZE as u64)?;
                // SAFETY: `at` has checked the 64 bytes; any bytes are a valid array.
                let descriptor = KernelDescriptor::parse(&unsafe {
                    bytes.cast::<[u8; kernel_descriptor::SIZE]>().read()
                });
                kernels.insert(address, descriptor);
                definition.kernel = Some(descriptor);
            }
            definitions.push(definition);
        }
        Ok((kernels, definitions))
    }

    fn relocate(
        &self,
        code: &CodeObject<'_>,
        image: &Image,
        agent: AgentId,
        contents: &Contents,
        symbols: &[ElfSymbol<'_>],
        delta: u64,
    ) -> HsaResult {
        for relocation in code.relocations().map_err(malformed)? {
            let value = match symbols.get(relocation.symbol as usize) {
                _ if relocation.symbol == 0 => delta,
                None => {
                    return Err(refuse(
                        "a relocation names no symbol",
                        HSA_STATUS_ERROR_INVALID_CODE_OBJECT,
                    ));
                }
                Some(symbol) if symbol.is_defined() => symbol.value.wrapping_add(delta),
                Some(symbol) => external(contents, agent, symbol)?,
            };
            let value = value.wrapping_add_signed(relocation.addend);
            match relocation.kind {
                R_AMDGPU_NONE => {}
                R_AMDGPU_ABS32_LO => {
                    image.write(relocation.offset, (value as u32).to_le_bytes())?
                }
                R_AMDGPU_ABS32_HI => {
                    image.write(relocation.offset, ((value >> 32) as u32).to_le_bytes())?
                }
                R_AMDGPU_ABS64 => image.write(relocation.offset, value.to_le_bytes())?,
                R_AMDGPU_ABS32 => match u32::try_from(value) {
                    Ok(value) => image.write(relocation.offset, value.to_le_bytes())?,
                    Err(_) => {
                        return Err(refuse(
                            "R_AMDGPU_ABS32 overflows",
                            HSA_STATUS_ERROR_INVALID_CODE_OBJECT,
                        ));
                    }
                },
                R_AMDGPU_RELATIVE64 => {
                    image.write(
                        relocation.offset,
                        delta.wrapping_add_signed(relocation.addend).to_le_bytes(),
                    )?;
                }
                kind => {
                    let reason = format!("relocation type {kind} is not one that a loader applies");
                    return Err(refuse(reason, HSA_STATUS_ERROR_INVALID_CODE_OBJECT));
                }
            }
        }
        Ok(())
    }

    /// Takes a code object out of its GPU and frees its memory.
    pub(super) fn unload(&self, runtime: &Runtime, object: &LoadedObject) {
        self.code.write().remove(&object.base);
        debugger::unloaded(object.base);
        self.objects.remove(object.handle);
        self.generation
            .fetch_add(1, std::sync::atomic::Ordering::AcqRel);
        Engine::global().code_unloaded(object.base);
        if let Some(gpu) = object
            .agent
            .gpu()
            .and_then(|gpu| runtime.agents.gpus.get(gpu))
        {
            for &base in &object.mappings {
                gpu.engine.map.remove(base);
            }
        }
        // SAFETY: no GPU maps it any more, and the executable that owned it is destroyed.
        unsafe { self.arena.free(object.block) };
    }
}

/// The address of a symbol that another object or the program defines.
fn external(contents: &Contents, agent: AgentId, symbol: &ElfSymbol<'_>) -> HsaResult<u64> {
    let name = symbol.name;
    let by_program = [Some(agent), None]
        .into_iter()
        .find_map(|agent| contents.externals.get(&(agent, name.to_owned())));
    let by_object = || {
        let found = contents
            .symbols
            .iter()
            .find(|other| other.agent == agent && other.name == name);
        found.map(|symbol| symbol.address)
    };
    match by_program.copied().or_else(by_object) {
        Some(address) => Ok(address),
        None if symbol.binding == STB_WEAK => Ok(0),
        None => Err(refuse(
            format!("{name} is undefined"),
            HSA_STATUS_ERROR_VARIABLE_UNDEFINED,
        )),
    }
}

/// Whether a symbol is a kernel or a variable that programs may ask for.
pub(super) fn is_offered(code: &CodeObject<'_>, symbol: &ElfSymbol<'_>) -> bool {
    symbol.is_defined()
        && !symbol.is_local()
        && (symbol.kind == SymbolKind::Object || code.is_kernel(symbol))
}

/// What the code object says of such a symbol, apart from a kernel's descriptor.
pub(super) fn define(code: &CodeObject<'_>, symbol: &ElfSymbol<'_>, address: u64) -> Definition {
    Definition {
        name: symbol.name.to_owned(),
        address,
        size: symbol.size,
        weak: symbol.binding == STB_WEAK,
        read_only: !writable(code, symbol),
        kernel: None,
    }
}

fn writable(code: &CodeObject<'_>, symbol: &ElfSymbol<'_>) -> bool {
    code.load_segments().any(|segment| {
        segment.flags & PF_W != 0
            && symbol.value.wrapping_sub(segment.address) < segment.memory_size
    })
}

/// Functions and kernels for fault reports.
fn functions(code: &CodeObject<'_>, delta: u64) -> Vec<(u64, u64, String)> {
    let symbols = code.all_symbols().unwrap_or_default();
    symbols
        .iter()
        .filter(|symbol| symbol.is_defined() && symbol.kind == SymbolKind::Function)
        .map(|symbol| {
            (
                symbol.value.wrapping_add(delta),
                symbol.size,
                symbol.name.to_owned(),
            )
        })
        .collect()
}

/// Maps the segments on the GPU, each with its own rights.
fn map(gpu: &GpuAgent, code: &CodeObject<'_>, image: &Image) -> HsaResult<Vec<u64>> {
    let number = memory::next_number();
    let mut mapped: Vec<u64> = Vec::new();
    for segment in code
        .load_segments()
        .filter(|segment| segment.memory_size != 0)
    {
        let mut rights = Rights::READ;
        rights.set(Rights::WRITE, segment.flags & PF_W != 0);
        rights.set(Rights::EXECUTE, segment.flags & PF_X != 0);
        let host = image.at(segment.address, segment.memory_size)?;
        let base = host.as_ptr() as u64;
        let mapping = Mapping {
            base,
            len: segment.memory_size,
            host: host.as_ptr(),
            rights,
            allocation: number,
        };
        // SAFETY: the image stays in place until `unload`, which removes the mappings first.
        if let Err(status) = unsafe { memory::map(gpu, mapping) } {
            for base in mapped {
                gpu.engine.map.remove(base);
            }
            return Err(status);
        }
        mapped.push(base);
    }
    Ok(mapped)
}
