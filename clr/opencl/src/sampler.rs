//! Samplers. None yet.

use std::sync::Arc;

use crate::{
    constants::CL_INVALID_SAMPLER,
    device::Device,
    error::{Code, Result},
    handle::{Handle, Object, Table},
};

/// A sampler.
#[derive(Debug)]
pub struct Sampler {
    handle: Handle<Sampler>,
}

static TABLE: Table<Sampler> = Table::new();

impl Object for Sampler {
    const INVALID: Code = CL_INVALID_SAMPLER;
    fn table() -> &'static Table<Self> {
        &TABLE
    }
    fn handle(&self) -> &Handle<Self> {
        &self.handle
    }
}

impl Sampler {
    /// Address of what kernels read.
    pub fn descriptor(&self, _device: &Arc<Device>) -> Result<u64> {
        Err(CL_INVALID_SAMPLER)
    }
}
