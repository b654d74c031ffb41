//! OpenCL over the command-queue runtime: an ICD library that the loader (`libOpenCL.so.1`) finds through a `.icd` file.
//!
//! [`dispatch`] is the list of all functions. How a call goes: `cl_api!` ([`entry`]) wraps the body: it records, logs and catches panics. The
//! body turns handles into objects ([`handle`]), checks its arguments in the specification's order and enqueues commands of `gneiss_clr`.
//! Nothing is scheduled here. What a C caller passes by address has types of its own ([`types`]), whose contract is that of the call.
//!
//! Source is compiled by `gneiss_hiprtc`'s compilers ([`compiler`]). What is not there answers with the specification's error and a line in the
//! log ([`unsupported`]).

#![expect(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    reason = "types and functions have the names of the OpenCL headers"
)]

pub mod callback;
pub mod compiler;
pub mod constants;
pub mod context;
pub mod defer;
pub mod descriptor;
pub mod device;
pub mod device_info;
mod device_queue;
pub mod dispatch;
pub mod entry;
pub mod error;
pub mod event;
pub mod extension;
pub mod handle;
pub mod image;
pub mod image_api;
pub mod image_format;
pub mod info;
pub mod kernel;
pub mod kernel_api;
pub mod launch;
pub mod leaks;
pub mod memory;
pub mod options;
pub mod pipe;
pub mod platform;
pub mod program;
pub mod program_api;
pub mod queue;
pub mod runtime;
pub mod sampler;
mod storage;
pub mod svm;
pub mod transfer;
pub mod types;
pub mod unsupported;
