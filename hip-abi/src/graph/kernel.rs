//! Kernel nodes: the launch, with its arguments copied.

use std::sync::Arc;

use gneiss_clr::Kernel;

use super::types::hipKernelNodeParams;
use crate::{
    error::*,
    fail,
    launch::{self, Api, Request},
    module, registration,
    runtime::{self, Device},
    types::dim3,
};

/// Copied arguments of a kernel, with the pointers that a program gets when it asks for them.
#[derive(Debug)]
pub struct Arguments {
    /// The explicit arguments as the kernarg segment has them.
    pub bytes: Box<[u8]>,
    pointers: Box<[*mut std::ffi::c_void]>,
}

// SAFETY: the pointers point into the bytes, which never move.
unsafe impl Send for Arguments {}
// SAFETY: as above; nothing here writes.
unsafe impl Sync for Arguments {}

/// A kernel node.
#[derive(Clone, Debug)]
pub struct KernelNode {
    /// As the program gave it: the host address, or a `hipFunction_t`.
    pub function: usize,
    /// The kernel.
    pub kernel: Arc<Kernel>,
    /// Grid in blocks.
    pub grid: dim3,
    /// Block in threads.
    pub block: dim3,
    /// Bytes of dynamic LDS.
    pub shared: u32,
    /// Arguments.
    pub arguments: Arc<Arguments>,
    /// Cooperative attribute, as the program gave it: unless 0, all groups are resident at once.
    pub cooperative: i32,
    /// Priority attribute; kept for the program.
    pub priority: i32,
    /// Access policy attribute; kept for the program.
    pub access_policy: [u64; 4],
    /// The grid is in work-items.
    pub extended: bool,
}

impl Arguments {
    /// Copies arguments.
    ///
    /// # Errors
    /// `hipErrorInvalidValue` for missing arguments.
    ///
    /// # Safety
    /// Each pointer must be readable for the size of its argument.
    pub(crate) unsafe fn new(kernel: &Kernel, request: &Request) -> HipResult<Arc<Self>> {
        let explicit = kernel.explicit_arguments();
        let end = explicit
            .iter()
            .map(|argument| argument.offset as usize + argument.size as usize)
            .max()
            .unwrap_or(0);
        let mut bytes = vec![0_u8; end].into_boxed_slice();
        if !request.extra.is_null() {
            // SAFETY: as the caller promises.
            let packed = unsafe { launch::packed(request.extra)? };
            let Some(packed) = packed.get(..end) else {
                return fail!(hipErrorInvalidValue, "{}", kernel.too_short(packed.len()));
            };
            bytes.copy_from_slice(packed);
        } else if !explicit.is_empty() {
            // SAFETY: the launch check has refused null; the caller promises one pointer for each argument.
            let pointers = unsafe { std::slice::from_raw_parts(request.params, explicit.len()) };
            for (index, (argument, pointer)) in explicit.iter().zip(pointers).enumerate() {
                if pointer.is_null() {
                    return fail!(
                        hipErrorInvalidValue,
                        "{} of kernel {} is a null pointer",
                        kernel.argument_name(index),
                        kernel.name()
                    );
                }
                let place = &mut bytes[argument.offset as usize..][..argument.size as usize];
                // SAFETY: as the caller promises; the place has the argument's size.
                unsafe {
                    std::ptr::copy_nonoverlapping(
                        pointer.cast::<u8>(),
                        place.as_mut_ptr(),
                        place.len(),
                    );
                }
            }
        }
        let start = bytes.as_mut_ptr();
        let pointers = explicit
            .iter()
            .map(|argument| start.wrapping_add(argument.offset as usize).cast())
            .collect();
        Ok(Arc::new(Arguments { bytes, pointers }))
    }

    /// Pointers to the arguments, as `kernelParams` has them; null without arguments.
    pub fn params(&self) -> *mut *mut std::ffi::c_void {
        if self.pointers.is_empty() {
            std::ptr::null_mut()
        } else {
            self.pointers.as_ptr().cast_mut()
        }
    }
}

impl KernelNode {
    /// A node that launches as a request says.
    ///
    /// # Errors
    /// As a launch.
    ///
    /// # Safety
    /// As for a launch.
    pub(crate) unsafe fn new(
        function: usize,
        kernel: Arc<Kernel>,
        device: &Device,
        request: &Request,
    ) -> HipResult<Self> {
        launch::check(&kernel, device, request)?;
        // SAFETY: as the caller promises.
        let arguments = unsafe { Arguments::new(&kernel, request)? };
        Ok(KernelNode {
            function,
            kernel,
            grid: request.grid.into(),
            block: request.block.into(),
            shared: request.shared as u32,
            arguments,
            cooperative: i32::from(request.cooperative),
            priority: 0,
            access_policy: [0; 4],
            extended: request.api == Api::Extended,
        })
    }

    /// A node from its C record, for the current device.
    ///
    /// # Errors
    /// `hipErrorInvalidValue`, `hipErrorInvalidDeviceFunction`, and as a launch.
    ///
    /// # Safety
    /// `params` must be null or a valid record whose arguments are readable.
    pub(crate) unsafe fn from_params(params: *const hipKernelNodeParams) -> HipResult<Self> {
        if params.is_null() {
            return fail!(hipErrorInvalidValue, "no parameters of the kernel node");
        }
        // SAFETY: not null; as the caller promises.
        let params = unsafe { params.read() };
        if params.func.is_null() {
            return fail!(hipErrorInvalidValue, "the kernel node has no function");
        }
        let device = runtime::current()?;
        let kernel = match module::FUNCTIONS.get(params.func.addr()) {
            Some(_) => module::function(params.func.cast())?,
            None => registration::kernel(params.func, device)?,
        };
        let request = Request {
            extra: params.extra,
            ..Request::new(
                params.gridDim,
                params.blockDim,
                params.sharedMemBytes as usize,
                params.kernelParams,
            )
        };
        // SAFETY: as the caller promises.
        unsafe { Self::new(params.func.expose_provenance(), kernel, device, &request) }
    }

    /// The C record.
    pub fn params(&self) -> hipKernelNodeParams {
        hipKernelNodeParams {
            blockDim: self.block,
            extra: std::ptr::null_mut(),
            func: std::ptr::with_exposed_provenance_mut(self.function),
            gridDim: self.grid,
            kernelParams: self.arguments.params(),
            sharedMemBytes: self.shared,
        }
    }

    /// Grid and block in work-items.
    pub fn sizes(&self) -> ([u32; 3], [u32; 3]) {
        let (grid, block): ([u32; 3], [u32; 3]) = (self.grid.into(), self.block.into());
        // Checked when the node was made: the products fit.
        let items = |axis: usize| {
            if self.extended {
                grid[axis]
            } else {
                grid[axis].saturating_mul(block[axis])
            }
        };
        let grid: [u32; 3] = std::array::from_fn(items);
        (
            grid,
            std::array::from_fn(|axis| block[axis].min(grid[axis])),
        )
    }
}
