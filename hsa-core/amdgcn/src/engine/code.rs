//! What the loader has put into memory, and the code that was lowered from it.
//!
//! Lowered code is kept per GPU, entry point and register configuration. It goes when the loader says that the code object at that
//! address has come or gone; running dispatches keep theirs until they end.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use parking_lot::RwLock;

use super::Gpu;
use crate::{
    ir::program::{CodeSource, FetchError, LowerConfig, Program},
    isa::{
        decode::{Decoder, UnsupportedTarget},
        inst::Inst,
        op::Op,
        text,
    },
    memory::Rights,
};

/// A code object that the loader has put into memory.
#[derive(Clone, Debug)]
pub struct LoadedCode {
    /// Guest address of its first byte.
    pub base: u64,
    /// Bytes.
    pub len: u64,
    /// Functions for fault reports: address, size, name.
    pub symbols: Vec<(u64, u64, String)>,
    /// The ELF image, for source lines.
    pub elf: Arc<[u8]>,
}

/// A kernel as it was lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    /// Address of the `Gpu`; its weak reference stands beside the program.
    gpu: usize,
    entry: u64,
    wave64: bool,
    vgprs: u32,
    agprs: u32,
    exceptions: bool,
}

/// Lowered code, and the GPU whose memory it came from.
type Lowered = (Weak<Gpu>, Arc<Program>);

/// All loaded and lowered code.
#[derive(Debug, Default)]
pub(crate) struct CodeRegistry {
    loaded: RwLock<Vec<Arc<LoadedCode>>>,
    programs: RwLock<HashMap<Key, Lowered>>,
}

/// Instructions from the memory of a GPU.
#[derive(Debug)]
struct GuestCode {
    gpu: Weak<Gpu>,
    decoder: Decoder,
}

/// VGPRs that an instruction can name.
const MAX_VGPRS: u32 = 256;

/// Bytes of the longest instruction: two dwords and a literal, or an image instruction with three dwords of addresses.
const LONGEST: usize = 20;

impl CodeSource for GuestCode {
    fn fetch(&self, pc: u64) -> Result<Inst, FetchError> {
        let gpu = self.gpu.upgrade().ok_or(FetchError::Unmapped)?;
        let mapping = gpu
            .map
            .find(pc)
            .filter(|m| m.rights.contains(Rights::EXECUTE))
            .ok_or(FetchError::Unmapped)?;
        let offset = pc - mapping.base;
        let len = (mapping.len - offset).min(LONGEST as u64) as usize;
        let mut bytes = [0; LONGEST];
        // SAFETY: the mapping is valid for `len` bytes from `offset`; code is not freed while its kernels are launched, which is the
        // loader's promise (`code_unloaded` comes before the memory goes, and no dispatch of it may run then).
        unsafe {
            std::ptr::copy_nonoverlapping(
                mapping.host.add(offset as usize),
                bytes.as_mut_ptr(),
                len,
            )
        };
        self.decoder
            .decode(&bytes[..len])
            .map_err(|error| FetchError::Illegal(error.to_string()))
    }
}

/// Text of the instruction at an address, for reports.
pub(crate) fn instruction_text(gpu: &Arc<Gpu>, pc: u64, wave64: bool) -> Option<String> {
    let decoder = Decoder::new(gpu.target, if wave64 { 64 } else { 32 }).ok()?;
    let source = GuestCode {
        gpu: Arc::downgrade(gpu),
        decoder,
    };
    let inst = source.fetch(pc).ok()?;
    Some(text::disassemble(&decoder, &inst).trim().to_owned())
}

impl CodeRegistry {
    pub(crate) fn add(&self, code: LoadedCode) {
        self.remove(code.base);
        self.forget(code.base, code.len);
        self.loaded.write().push(Arc::new(code));
    }

    pub(crate) fn remove(&self, base: u64) {
        let mut gone = None;
        self.loaded.write().retain(|code| {
            let stays = code.base != base;
            if !stays {
                gone = Some(code.len);
            }
            stays
        });
        if let Some(len) = gone {
            self.forget(base, len);
        }
    }

    /// Drops what was lowered from a range, and what belongs to GPUs that are gone.
    fn forget(&self, base: u64, len: u64) {
        self.programs
            .write()
            .retain(|key, (gpu, _)| key.entry.wrapping_sub(base) >= len && gpu.strong_count() > 0);
    }

    /// Lowered code of the kernel at an entry point.
    pub(crate) fn program(
        &self,
        gpu: &Arc<Gpu>,
        entry: u64,
        config: LowerConfig,
    ) -> Result<Arc<Program>, UnsupportedTarget> {
        let LowerConfig {
            wave64,
            vgprs,
            agprs,
            exceptions,
            ..
        } = config;
        let key = Key {
            gpu: Arc::as_ptr(gpu).addr(),
            entry,
            wave64,
            vgprs,
            agprs,
            exceptions,
        };
        if let Some((of, program)) = self.programs.read().get(&key)
            && std::ptr::eq(of.as_ptr(), Arc::as_ptr(gpu))
        {
            return Ok(program.clone());
        }
        let decoder = Decoder::new(gpu.target, if wave64 { 64 } else { 32 })?;
        let source = Arc::new(GuestCode {
            gpu: Arc::downgrade(gpu),
            decoder,
        });
        let config = LowerConfig {
            vgprs: self.most_vgprs(&source, entry, &config),
            ..config
        };
        let program = Program::for_kernel(source, entry, config);
        self.programs
            .write()
            .insert(key, (Arc::downgrade(gpu), program.clone()));
        Ok(program)
    }

    /// VGPRs that a wave of the kernel may come to have. One that changes their number (`s_alloc_vgpr` of GFX12, waves of 32 lanes) has room
    /// for all from the start; of others it is what the descriptor says. A function that it calls is not looked at.
    fn most_vgprs(&self, source: &GuestCode, entry: u64, config: &LowerConfig) -> u32 {
        if config.target.major < 12 || config.wave64 {
            return config.vgprs;
        }
        let Some(code) = self.find(entry) else {
            return config.vgprs;
        };
        let end = code
            .symbols
            .iter()
            .filter(|&&(base, size, _)| entry.wrapping_sub(base) < size)
            .map(|&(base, size, _)| base + size)
            .max()
            .unwrap_or(entry);
        let mut pc = entry;
        while pc < end {
            // Behind what is no instruction there may be data.
            let Ok(inst) = source.fetch(pc) else { break };
            if inst.op == Op::s_alloc_vgpr {
                return MAX_VGPRS;
            }
            pc += u64::from(inst.len);
        }
        config.vgprs
    }

    /// The code object that holds an address.
    pub(crate) fn find(&self, address: u64) -> Option<Arc<LoadedCode>> {
        self.loaded
            .read()
            .iter()
            .find(|code| address.wrapping_sub(code.base) < code.len)
            .cloned()
    }
}

impl LoadedCode {
    /// Name of the function that holds an address, and the offset in it.
    pub(crate) fn symbol(&self, address: u64) -> Option<(&str, u64)> {
        // A kernel descriptor is an object symbol of 64 bytes; its name is the kernel's with `.kd`.
        self.symbols
            .iter()
            .filter(|&&(base, size, _)| address.wrapping_sub(base) < size.max(1))
            .max_by_key(|&&(base, ..)| base)
            .map(|(base, _, name)| (name.as_str(), address - base))
    }
}
