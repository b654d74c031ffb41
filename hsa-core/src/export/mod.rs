//! The C entry points, one file for each group. They check arguments, call the modules beside this one, and return a status; what each
//! function does is in the HSA specification and AMD's headers. Pointers and handles are the caller's: a null pointer is an
//! error, a wild one is not found.

mod agent;
mod code_object;
mod copy;
mod executable;
mod finalizer;
mod image;
mod interop;
mod ipc;
mod lifecycle;
pub(crate) mod loader_extension;
mod memory;
mod pc_sampling;
mod pool;
mod profiling;
mod queue;
mod queue_index;
mod signal;
mod signal_operation;
mod svm;
mod system;
mod tools;
mod virtual_memory;

pub(crate) use agent::*;
pub(crate) use code_object::*;
pub(crate) use copy::*;
pub(crate) use executable::*;
pub(crate) use finalizer::*;
pub(crate) use image::*;
pub(crate) use interop::*;
pub(crate) use ipc::*;
pub(crate) use lifecycle::*;
pub(crate) use memory::*;
pub(crate) use pc_sampling::*;
pub(crate) use pool::*;
pub(crate) use profiling::*;
pub(crate) use queue::*;
pub(crate) use queue_index::*;
pub(crate) use signal::*;
pub(crate) use signal_operation::*;
pub(crate) use svm::*;
pub(crate) use system::*;
pub(crate) use virtual_memory::*;
