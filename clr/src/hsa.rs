//! The HSA functions that this crate calls, with Rust arguments and results. Nothing above this module passes raw HSA structures
//! around, save for packets.
//!
//! A table lives as long as the process: the library is never unloaded and its threads may call back at any time, so [`Hsa`] is
//! leaked on purpose.

use std::ffi::{CStr, CString, c_char, c_void};

use gneiss_hsa_api::*;

use crate::{Error, Result};

/// A table of HSA functions.
#[derive(Debug)]
pub(crate) struct Hsa {
    pub(crate) api: HsaApi,
}

/// Gives an error that names the call.
fn check(call: &'static str, status: hsa_status_t) -> Result<()> {
    status.ok().map_err(|status| Error::Hsa { call, status })
}

/// Collects the values that an HSA iteration calls back with.
unsafe extern "C" fn collect<T: Copy>(item: T, data: *mut c_void) -> hsa_status_t {
    // SAFETY: `data` is the vector that the caller of the iteration passed, borrowed for its whole length.
    unsafe { (*data.cast::<Vec<T>>()).push(item) };
    HSA_STATUS_SUCCESS
}

impl Hsa {
    /// Keeps a table for the rest of the process and initialises the library.
    pub(crate) fn start(api: HsaApi) -> Result<&'static Self> {
        let hsa: &'static Self = Box::leak(Box::new(Self { api }));
        // SAFETY: no preconditions.
        check("hsa_init", unsafe { (hsa.api.hsa_init)() })?;
        Ok(hsa)
    }

    pub(crate) fn agents(&self) -> Result<Vec<hsa_agent_t>> {
        let mut agents: Vec<hsa_agent_t> = Vec::new();
        // SAFETY: the callback gets the vector, which outlives the call.
        let status = unsafe {
            (self.api.hsa_iterate_agents)(Some(collect::<hsa_agent_t>), (&raw mut agents).cast())
        };
        check("hsa_iterate_agents", status)?;
        Ok(agents)
    }

    /// An attribute of plain type. The buffer is zeroed and of at least 128 bytes, so that an answer that is wider than expected harms
    /// nobody and a narrower one reads as zero-extended.
    pub(crate) fn agent_info<T: Copy>(&self, agent: hsa_agent_t, attribute: u32) -> Result<T> {
        let mut buffer = [0_u64; 32];
        const { assert!(size_of::<T>() <= 256 && align_of::<T>() <= 8) };
        // SAFETY: no attribute is wider than the buffer.
        let status =
            unsafe { (self.api.hsa_agent_get_info)(agent, attribute, buffer.as_mut_ptr().cast()) };
        check("hsa_agent_get_info", status)?;
        // SAFETY: the buffer is initialised, large and aligned enough; `T` is a plain integer or an array of them by use in this crate.
        Ok(unsafe { buffer.as_ptr().cast::<T>().read() })
    }

    pub(crate) fn agent_text(&self, agent: hsa_agent_t, attribute: u32) -> Result<String> {
        let bytes: [u8; 128] = self.agent_info(agent, attribute)?;
        Ok(text(&bytes))
    }

    /// The full names of an agent's ISAs.
    pub(crate) fn isa_names(&self, agent: hsa_agent_t) -> Result<Vec<String>> {
        let mut isas: Vec<hsa_isa_t> = Vec::new();
        // SAFETY: the callback gets the vector, which outlives the call.
        let status = unsafe {
            (self.api.hsa_agent_iterate_isas)(
                agent,
                Some(collect::<hsa_isa_t>),
                (&raw mut isas).cast(),
            )
        };
        check("hsa_agent_iterate_isas", status)?;
        isas.into_iter()
            .map(|isa| {
                let mut length = 0_u32;
                // SAFETY: the attribute is a u32.
                let status = unsafe {
                    (self.api.hsa_isa_get_info_alt)(
                        isa,
                        HSA_ISA_INFO_NAME_LENGTH,
                        (&raw mut length).cast(),
                    )
                };
                check("hsa_isa_get_info_alt", status)?;
                let mut name = vec![0_u8; length as usize + 1];
                // SAFETY: the buffer holds the stated length.
                let status = unsafe {
                    (self.api.hsa_isa_get_info_alt)(
                        isa,
                        HSA_ISA_INFO_NAME,
                        name.as_mut_ptr().cast(),
                    )
                };
                check("hsa_isa_get_info_alt", status)?;
                Ok(text(&name))
            })
            .collect()
    }

    pub(crate) fn pools(&self, agent: hsa_agent_t) -> Result<Vec<hsa_amd_memory_pool_t>> {
        let mut pools: Vec<hsa_amd_memory_pool_t> = Vec::new();
        // SAFETY: the callback gets the vector, which outlives the call.
        let status = unsafe {
            (self.api.hsa_amd_agent_iterate_memory_pools)(
                agent,
                Some(collect::<hsa_amd_memory_pool_t>),
                (&raw mut pools).cast(),
            )
        };
        check("hsa_amd_agent_iterate_memory_pools", status)?;
        Ok(pools)
    }

    pub(crate) fn pool_info<T: Copy>(
        &self,
        pool: hsa_amd_memory_pool_t,
        attribute: u32,
    ) -> Result<T> {
        let mut buffer = [0_u64; 8];
        const { assert!(size_of::<T>() <= 64 && align_of::<T>() <= 8) };
        // SAFETY: no pool attribute is wider than the buffer.
        let status = unsafe {
            (self.api.hsa_amd_memory_pool_get_info)(pool, attribute, buffer.as_mut_ptr().cast())
        };
        check("hsa_amd_memory_pool_get_info", status)?;
        // SAFETY: initialised, large and aligned enough, plain integers.
        Ok(unsafe { buffer.as_ptr().cast::<T>().read() })
    }

    /// An attribute of a pool as an agent sees it.
    pub(crate) fn agent_pool_info<T: Copy>(
        &self,
        agent: hsa_agent_t,
        pool: hsa_amd_memory_pool_t,
        attribute: u32,
    ) -> Result<T> {
        let mut buffer = [0_u64; 64];
        const { assert!(size_of::<T>() <= 512 && align_of::<T>() <= 8) };
        // SAFETY: the widest attribute is the link array: 28 bytes for each hop, and there are few hops.
        let status = unsafe {
            (self.api.hsa_amd_agent_memory_pool_get_info)(
                agent,
                pool,
                attribute,
                buffer.as_mut_ptr().cast(),
            )
        };
        check("hsa_amd_agent_memory_pool_get_info", status)?;
        // SAFETY: initialised, large and aligned enough, plain integers.
        Ok(unsafe { buffer.as_ptr().cast::<T>().read() })
    }

    pub(crate) fn system_info<T: Copy>(&self, attribute: u32) -> Result<T> {
        let mut buffer = [0_u64; 16];
        const { assert!(size_of::<T>() <= 128 && align_of::<T>() <= 8) };
        // SAFETY: no system attribute is wider than the buffer (the extension bitmap has 128 bytes).
        let status =
            unsafe { (self.api.hsa_system_get_info)(attribute, buffer.as_mut_ptr().cast()) };
        check("hsa_system_get_info", status)?;
        // SAFETY: initialised, large and aligned enough, plain integers.
        Ok(unsafe { buffer.as_ptr().cast::<T>().read() })
    }

    pub(crate) fn pool_allocate(
        &self,
        pool: hsa_amd_memory_pool_t,
        size: usize,
        what: &'static str,
    ) -> Result<*mut c_void> {
        let mut address = std::ptr::null_mut();
        // SAFETY: `address` is a valid place for the result.
        let status =
            unsafe { (self.api.hsa_amd_memory_pool_allocate)(pool, size, 0, &raw mut address) };
        match status {
            HSA_STATUS_SUCCESS => Ok(address),
            HSA_STATUS_ERROR_OUT_OF_RESOURCES | HSA_STATUS_ERROR_INVALID_ALLOCATION => {
                Err(Error::OutOfMemory { what, size })
            }
            status => Err(Error::Hsa {
                call: "hsa_amd_memory_pool_allocate",
                status,
            }),
        }
    }

    /// # Safety
    /// `address` must come from [`pool_allocate`](Self::pool_allocate), and nothing may use the memory any more.
    pub(crate) unsafe fn pool_free(&self, address: *mut c_void) -> Result<()> {
        // SAFETY: the caller's.
        check("hsa_amd_memory_pool_free", unsafe {
            (self.api.hsa_amd_memory_pool_free)(address)
        })
    }

    /// Replaces the list of agents that may access an allocation.
    pub(crate) fn allow_access(
        &self,
        agents: &[hsa_agent_t],
        address: *const c_void,
    ) -> Result<()> {
        if agents.is_empty() {
            return Ok(());
        }
        // SAFETY: the list is valid for the call; flags must be null.
        check("hsa_amd_agents_allow_access", unsafe {
            (self.api.hsa_amd_agents_allow_access)(
                agents.len() as u32,
                agents.as_ptr(),
                std::ptr::null(),
                address,
            )
        })
    }

    /// Pins host memory for all GPUs; gives the device address.
    ///
    /// # Safety
    /// The range must stay mapped until it is unlocked.
    pub(crate) unsafe fn lock(&self, address: usize, size: usize) -> Result<*mut c_void> {
        let mut device = std::ptr::null_mut();
        // SAFETY: the caller's; no agents means all.
        check("hsa_amd_memory_lock", unsafe {
            (self.api.hsa_amd_memory_lock)(
                address as *mut c_void,
                size,
                std::ptr::null_mut(),
                0,
                &raw mut device,
            )
        })?;
        Ok(device)
    }

    pub(crate) fn unlock(&self, address: usize) -> Result<()> {
        // SAFETY: an address that is not locked gives an error.
        check("hsa_amd_memory_unlock", unsafe {
            (self.api.hsa_amd_memory_unlock)(address as *mut c_void)
        })
    }

    pub(crate) fn signal_create(&self, value: i64) -> Result<hsa_signal_t> {
        let mut signal = hsa_signal_t::default();
        // SAFETY: no consumers means all; `signal` is a valid place for the result.
        check("hsa_signal_create", unsafe {
            (self.api.hsa_signal_create)(value, 0, std::ptr::null(), &raw mut signal)
        })?;
        Ok(signal)
    }

    /// # Safety
    /// Nothing may use the signal any more.
    pub(crate) unsafe fn signal_destroy(&self, signal: hsa_signal_t) {
        // SAFETY: the caller's.
        if let Err(error) = check("hsa_signal_destroy", unsafe {
            (self.api.hsa_signal_destroy)(signal)
        }) {
            tracing::error!("{error}");
        }
    }

    /// # Safety
    /// The signal must be alive (for this and the following).
    pub(crate) unsafe fn signal_load(&self, signal: hsa_signal_t) -> i64 {
        // SAFETY: the caller's.
        unsafe { (self.api.hsa_signal_load_scacquire)(signal) }
    }

    /// # Safety
    /// As [`signal_load`](Self::signal_load).
    pub(crate) unsafe fn signal_store(&self, signal: hsa_signal_t, value: i64) {
        // SAFETY: the caller's.
        unsafe { (self.api.hsa_signal_store_screlease)(signal, value) }
    }

    /// Sets the value without waking anybody.
    ///
    /// # Safety
    /// As [`signal_load`](Self::signal_load).
    pub(crate) unsafe fn signal_reset(&self, signal: hsa_signal_t, value: i64) {
        // SAFETY: the caller's.
        unsafe { (self.api.hsa_signal_silent_store_relaxed)(signal, value) }
    }

    /// Waits until the value is below `limit`; gives the value last seen. The library may run device work on this thread meanwhile.
    ///
    /// # Safety
    /// As [`signal_load`](Self::signal_load).
    pub(crate) unsafe fn signal_wait_below(
        &self,
        signal: hsa_signal_t,
        limit: i64,
        timeout_ns: u64,
    ) -> i64 {
        // SAFETY: the caller's.
        unsafe {
            (self.api.hsa_signal_wait_scacquire)(
                signal,
                HSA_SIGNAL_CONDITION_LT,
                limit,
                timeout_ns,
                HSA_WAIT_STATE_BLOCKED,
            )
        }
    }

    /// # Safety
    /// Both ranges must be valid for the agents until the completion signal has been decremented; all signals must be alive until then.
    #[expect(clippy::too_many_arguments, reason = "the HSA function's arguments")]
    pub(crate) unsafe fn async_copy(
        &self,
        dst: u64,
        dst_agent: hsa_agent_t,
        src: u64,
        src_agent: hsa_agent_t,
        size: usize,
        dependencies: &[hsa_signal_t],
        completion: hsa_signal_t,
    ) -> Result<()> {
        let list = if dependencies.is_empty() {
            std::ptr::null()
        } else {
            dependencies.as_ptr()
        };
        // SAFETY: the caller's; count and list agree.
        check("hsa_amd_memory_async_copy", unsafe {
            (self.api.hsa_amd_memory_async_copy)(
                dst as *mut c_void,
                dst_agent,
                src as *const c_void,
                src_agent,
                size,
                dependencies.len() as u32,
                list,
                completion,
            )
        })
    }

    /// Copies between any memory, in the calling thread.
    ///
    /// # Safety
    /// Both ranges must be valid for the size, and the host's or memory of the library's.
    pub(crate) unsafe fn copy_now(&self, dst: u64, src: *const c_void, size: usize) -> Result<()> {
        // SAFETY: the caller's.
        check("hsa_memory_copy", unsafe {
            (self.api.hsa_memory_copy)(dst as *mut c_void, src, size)
        })
    }

    /// Nanoseconds of the system clock.
    pub(crate) fn timestamp(&self) -> u64 {
        self.system_info(HSA_SYSTEM_INFO_TIMESTAMP).unwrap_or(0)
    }

    /// The text of a status.
    pub(crate) fn status_text(&self, status: hsa_status_t) -> String {
        let mut text: *const c_char = std::ptr::null();
        // SAFETY: `text` is a valid place for the result, which is a constant string of the library.
        unsafe {
            if (self.api.hsa_status_string)(status, &raw mut text) == HSA_STATUS_SUCCESS
                && !text.is_null()
            {
                return CStr::from_ptr(text).to_string_lossy().into_owned();
            }
        }
        format!("{status}")
    }

    /// The library's report of a queue's last fault, if it has that extension.
    ///
    /// # Safety
    /// The queue must be alive.
    pub(crate) unsafe fn fault_report(&self, queue: *const hsa_queue_t) -> Option<String> {
        let last_fault = self.api.gneiss_hsa_last_fault?;
        // SAFETY: the caller's; the text is valid until the queue is destroyed.
        unsafe {
            let report = last_fault(queue);
            (!report.is_null()).then(|| CStr::from_ptr(report).to_string_lossy().into_owned())
        }
    }

    /// Loads one code object into a new executable and freezes it. The bytes are kept by the caller.
    pub(crate) fn load_executable(
        &self,
        agent: hsa_agent_t,
        image: &[u8],
        externals: &[(&str, u64)],
    ) -> Result<hsa_executable_t> {
        let mut executable = hsa_executable_t::default();
        // SAFETY: `executable` is a valid place for the result; options may be null.
        check("hsa_executable_create_alt", unsafe {
            (self.api.hsa_executable_create_alt)(
                HSA_PROFILE_FULL,
                HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
                std::ptr::null(),
                &raw mut executable,
            )
        })?;
        let load = || -> Result<()> {
            for (name, address) in externals {
                let name = CString::new(*name)
                    .map_err(|_| Error::InvalidValue("symbol name holds a NUL".into()))?;
                // SAFETY: the executable is alive and not frozen.
                check("hsa_executable_agent_global_variable_define", unsafe {
                    (self.api.hsa_executable_agent_global_variable_define)(
                        executable,
                        agent,
                        name.as_ptr(),
                        *address as *mut c_void,
                    )
                })?;
            }
            let mut reader = hsa_code_object_reader_t::default();
            // SAFETY: the bytes outlive the reader, which is destroyed below.
            check("hsa_code_object_reader_create_from_memory", unsafe {
                (self.api.hsa_code_object_reader_create_from_memory)(
                    image.as_ptr().cast(),
                    image.len(),
                    &raw mut reader,
                )
            })?;
            // SAFETY: executable, agent and reader are alive; the optional result may be null.
            let loaded = check("hsa_executable_load_agent_code_object", unsafe {
                (self.api.hsa_executable_load_agent_code_object)(
                    executable,
                    agent,
                    reader,
                    std::ptr::null(),
                    std::ptr::null_mut(),
                )
            });
            // SAFETY: alive, and not used again.
            let _ = unsafe { (self.api.hsa_code_object_reader_destroy)(reader) };
            loaded?;
            // SAFETY: alive.
            check("hsa_executable_freeze", unsafe {
                (self.api.hsa_executable_freeze)(executable, std::ptr::null())
            })
        };
        match load() {
            Ok(()) => Ok(executable),
            Err(error) => {
                self.executable_destroy(executable);
                Err(error)
            }
        }
    }

    /// Destroys an executable of [`load_executable`](Self::load_executable).
    pub(crate) fn executable_destroy(&self, executable: hsa_executable_t) {
        // SAFETY: the caller drops its only handle.
        if let Err(error) = check("hsa_executable_destroy", unsafe {
            (self.api.hsa_executable_destroy)(executable)
        }) {
            tracing::error!("{error}");
        }
    }

    pub(crate) fn executable_symbol(
        &self,
        executable: hsa_executable_t,
        agent: hsa_agent_t,
        name: &str,
    ) -> Result<hsa_executable_symbol_t> {
        let name = CString::new(name)
            .map_err(|_| Error::InvalidValue("symbol name holds a NUL".into()))?;
        let mut symbol = hsa_executable_symbol_t::default();
        // SAFETY: all alive for the call.
        check("hsa_executable_get_symbol_by_name", unsafe {
            (self.api.hsa_executable_get_symbol_by_name)(
                executable,
                name.as_ptr(),
                &raw const agent,
                &raw mut symbol,
            )
        })?;
        Ok(symbol)
    }

    /// A numeric attribute of a symbol; narrower answers are zero-extended.
    pub(crate) fn symbol_info(
        &self,
        symbol: hsa_executable_symbol_t,
        attribute: u32,
    ) -> Result<u64> {
        let mut value = 0_u64;
        // SAFETY: the numeric attributes have at most 8 bytes.
        check("hsa_executable_symbol_get_info", unsafe {
            (self.api.hsa_executable_symbol_get_info)(symbol, attribute, (&raw mut value).cast())
        })?;
        Ok(value)
    }
}

/// Bytes up to the first NUL.
fn text(bytes: &[u8]) -> String {
    let end = bytes
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
