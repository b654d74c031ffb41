//! What the loader has put into memory: names for reports, and the generation that decoded code is checked against.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use parking_lot::RwLock;

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

/// All loaded code.
#[derive(Debug, Default)]
pub(crate) struct CodeRegistry {
    loaded: RwLock<Vec<Arc<LoadedCode>>>,
    /// Grows with every change; decoded code of an older generation is not used.
    generation: AtomicU64,
}

impl CodeRegistry {
    pub(crate) fn add(&self, code: LoadedCode) {
        let mut loaded = self.loaded.write();
        loaded.retain(|other| other.base != code.base);
        loaded.push(Arc::new(code));
        self.generation.fetch_add(1, Ordering::Release);
    }

    pub(crate) fn remove(&self, base: u64) {
        self.loaded.write().retain(|code| code.base != base);
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// Number of the present state.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// The code object that holds an address.
    pub(crate) fn find(&self, address: u64) -> Option<Arc<LoadedCode>> {
        self.loaded.read().iter().find(|code| address.wrapping_sub(code.base) < code.len).cloned()
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
