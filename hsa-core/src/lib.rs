//! The HSA runtime over the software GPU: what `libhsa-runtime64.so.1` holds.
//!
//! From the outside in:
//! * `export`: the C entry points; `entry` wraps them (no panic leaves, errors are logged).
//! * `runtime`: init and shutdown by reference count; `agent`, `isa`, `pool`, `card`, `config`, `scan`: what there is.
//! * `memory`: allocations and pinned ranges, and which GPUs map them.
//! * `signal`, `wait`, `watch`, `events`: signals, and everybody who waits for them.
//! * `queue`, `processor`, `fault`: AQL queues, the packet processor, what happens when a queue fails.
//! * `copy`: asynchronous copies.
//! * `loader`: code objects, executables, symbols.
//!
//! Kernels run in `gneiss-amdgcn`; this crate knows no instruction. Clients in Rust take [`api_table`] and call the same functions
//! as a C program does. Nothing here knows HIP or OpenCL.

mod agent;
mod card;
mod config;
mod copy;
mod entry;
mod events;
mod export;
mod extension;
mod fault;
mod isa;
mod loader;
mod log;
mod memory;
mod pool;
mod processor;
mod queue;
mod runtime;
mod scan;
mod signal;
mod status;
mod sys;
mod wait;
mod watch;

pub use runtime::{LiveObjects, live_objects};

use export::*;
use gneiss_hsa_api::HsaApi;

macro_rules! build_table {
    (
        required { $(fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $ret:ty)?;)* }
        optional { $(fn $oname:ident($($oarg:ident: $otype:ty),* $(,)?) $(-> $oret:ty)?;)* }
    ) => {
        /// The functions of this runtime, for users that link the crate instead of loading the library.
        pub fn api_table() -> HsaApi {
            HsaApi { $($name: $name,)* $($oname: Some($oname),)* }
        }
    };
}

gneiss_hsa_api::for_each_hsa_function!(build_table);
