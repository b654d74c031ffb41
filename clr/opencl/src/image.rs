//! Images. None yet.

use std::sync::Arc;

use gneiss_fatbin::ArgumentMetadata;

use crate::{device::Device, error::Result, memory::Mem, queue::Queue};

/// Whether there are images.
pub const SUPPORTED: bool = false;

/// An image.
#[derive(Debug)]
pub enum Image {}

/// An image that is mapped.
#[derive(Debug)]
pub enum MappedImage {}

impl Image {
    /// Checks an image for an argument.
    pub fn check_argument(&self, _argument: &ArgumentMetadata, _mem: &Mem) -> Result {
        match *self {}
    }

    /// Address of what kernels read.
    pub fn descriptor(&self, _device: &Arc<Device>) -> Result<u64> {
        match *self {}
    }
}

/// Puts back what the host has written.
pub fn put_back(
    _queue: &Queue,
    _mem: &Mem,
    back: MappedImage,
    _waits: &[gneiss_clr::Event],
) -> Result<gneiss_clr::Event> {
    match back {}
}
