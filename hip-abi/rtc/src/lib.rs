//! hiprtc: HIP source to code objects at run time.
//!
//! The library holds no compiler. It finds one ([`compiler`]): AMD's `libamd_comgr` with the header of `libhiprtc-builtins` if both are
//! installed and know the target, else a clang that does, with HIP's headers and the device libraries. Without either, compiling fails,
//! and the program log says what to install. What was compiled is kept on disk ([`cache`]).
//!
//! Both `libhiprtc.so` and `libamdhip64.so` export the functions of this crate ([`api`], [`link_api`]); HIP 5 programs take them from
//! the latter. Programs and link states are numbers, never addresses: a stale or invented one is refused.

#![expect(
    non_camel_case_types,
    non_snake_case,
    reason = "types, arguments and functions have the names of the hiprtc header"
)]

pub mod api;
pub mod cache;
pub mod clang;
pub mod comgr;
pub mod compiler;
pub mod headers;
pub mod link;
pub mod link_api;
pub mod names;
pub mod objects;
pub mod opencl;
pub mod options;
pub mod program;
pub mod result;
pub mod target;

pub use api::*;
pub use link_api::*;
pub use result::*;
