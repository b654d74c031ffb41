//! Memory for the descriptors of images and samplers, which kernels get the addresses of.

use gneiss_clr::HostFlags;
use parking_lot::Mutex;

use crate::{
    device::Device,
    error::{Result, code},
    runtime,
};

/// Bytes of a place: the larger of the two kinds, rounded up.
const PLACE: usize = 64;
/// Bytes that are allocated at once.
const PAGE: usize = 4096;

/// Places that are free.
static FREE: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// A descriptor in memory that all devices can read.
#[derive(Debug)]
pub struct Descriptor(u64);

impl Descriptor {
    /// Writes a descriptor to a place of its own.
    ///
    /// # Errors
    /// `CL_MEM_OBJECT_ALLOCATION_FAILURE`.
    pub fn new(device: &Device, words: &[u32]) -> Result<Self> {
        debug_assert!(size_of_val(words) <= PLACE);
        let mut free = FREE.lock();
        let address = match free.pop() {
            Some(address) => address,
            None => {
                let flags = HostFlags::COHERENT | HostFlags::MAPPED | HostFlags::PORTABLE;
                let clr = &runtime::started()?.clr;
                // Never given back: it is used again for the next descriptors.
                let memory = clr.allocate_host(&device.clr, PAGE, flags).map_err(code)?;
                let base = memory.device_address();
                free.extend((1..PAGE / PLACE).map(|place| base + (place * PLACE) as u64));
                base
            }
        };
        drop(free);
        let place = std::ptr::with_exposed_provenance_mut::<u32>(address as usize);
        for (index, word) in words.iter().enumerate() {
            // SAFETY: the place has room for it, and is this object's own; host memory has one address for all.
            unsafe { place.add(index).write(*word) };
        }
        Ok(Self(address))
    }

    /// What kernels get.
    pub fn address(&self) -> u64 {
        self.0
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        FREE.lock().push(self.0);
    }
}
