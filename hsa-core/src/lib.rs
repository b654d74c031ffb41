//! The HSA runtime over the software GPU: what `libhsa-runtime64.so.1` holds.
//!
//! From the outside in:
//! * `interface`: the exported names and the tables for tools (`tools`); `export`: what they do; `entry` wraps it (no panic leaves,
//!   errors are logged).
//! * `runtime`: init and shutdown by reference count; `agent`, `numa`, `isa`, `pool`, `card`, `config`, `scan`: what there is.
//! * `memory`: allocations, pinned ranges, virtual memory, and which GPUs map them; `ipc`, `segv`: sharing with other processes.
//! * `signal`, `wait`, `watch`, `events`: signals, and everybody who waits for them.
//! * `queue`, `processor`, `pm4`, `fault`, `core_dump`: AQL queues, the packet processor, what happens when a queue fails.
//! * `protocol`, `sync`: what is lock-free in the above, apart, for the model checker.
//! * `copy`: asynchronous copies; `image`: images and samplers.
//! * `loader`: code objects, executables, symbols.
//!
//! Kernels run in `gneiss-amdgcn`; this crate knows no instruction. Clients in Rust take [`api_table`] and call the same functions
//! as a C program does. Nothing here knows HIP or OpenCL.

mod agent;
mod card;
mod config;
mod copy;
mod core_dump;
mod entry;
mod events;
mod export;
mod extension;
mod fault;
mod image;
mod interface;
mod ipc;
mod isa;
mod loader;
mod log;
mod memory;
mod numa;
mod objects;
mod pm4;
mod pool;
mod processor;
mod protocol;
mod queue;
mod runtime;
mod scan;
mod segv;
mod signal;
mod status;
mod sync;
mod sys;
mod tools;
mod wait;
mod watch;

pub use runtime::{LiveObjects, live_objects};

use gneiss_hsa_api::HsaApi;
use interface::*;

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
