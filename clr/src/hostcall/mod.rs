//! The hostcall service: what device code asks the host to do (printf, device malloc, calls).

use std::sync::Arc;

use crate::{Device, Error, Result, hsa::Hsa};

/// The process's service.
#[derive(Debug)]
pub(crate) struct Service {
    #[expect(dead_code)]
    hsa: &'static Hsa,
}

impl Service {
    pub(crate) fn new(hsa: &'static Hsa) -> Self {
        Self { hsa }
    }

    /// A buffer for one hardware queue.
    pub(crate) fn new_buffer(&self, _device: &Arc<Device>) -> Result<u64> {
        Err(Error::Unsupported("hostcall".into()))
    }
}
