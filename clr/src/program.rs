//! Programs: code objects, loaded on a device.

use std::sync::Arc;

use crate::{Device, Kernel, Result};

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

/// A code object, loaded on one device. Dropping the last reference unloads it.
#[derive(Debug)]
pub struct Program {}

impl Program {
    /// Loads one code object (an AMDGPU ELF image, not a bundle). `externals` gives addresses to undefined variables by name
    /// (managed and texture variables).
    pub fn load(
        _device: &Arc<Device>,
        _image: &[u8],
        _externals: &[(&str, u64)],
    ) -> Result<Arc<Self>> {
        todo!()
    }

    /// The kernel with that name (without `.kd`).
    pub fn kernel(&self, _name: &str) -> Option<Arc<Kernel>> {
        todo!()
    }

    /// All kernels.
    pub fn kernels(&self) -> &[Arc<Kernel>] {
        todo!()
    }

    /// The variable with that name.
    pub fn global(&self, _name: &str) -> Option<GlobalVariable> {
        todo!()
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        todo!()
    }
}
