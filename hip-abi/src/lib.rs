//! HIP's C ABI over the command-queue runtime.
//!
//! Every function that AMD's `libamdhip64` exports (HIP 5.2 to 7.2) has an entry here, under AMD's symbol version; [`api`] is the
//! list of them and says which work. The library built from this crate serves programs of HIP 5, 6 and 7 ([`version`]).
//!
//! How a call goes: `#[hip_api]` wraps the entry ([`entry`]): it starts the runtime ([`runtime`]), logs ([`log`]), catches panics and
//! keeps the thread's last error. The body checks its arguments, turns handles into objects ([`handle`]) and enqueues commands of
//! `gneiss_clr`. Nothing is scheduled here, and no pointer of a caller is followed before it is checked as far as it can be.
//!
//! Device code comes in through [`registration`] (what hipcc's start-up code registers) and [`module`] (what programs load themselves).

#![expect(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    reason = "types, arguments and constants have the names of the HIP headers, as the C headers made from this crate need them"
)]

pub mod advice;
pub mod api;
pub mod array;
pub mod array_copy;
pub mod batch_copy;
pub mod capture;
pub mod capture_api;
pub mod code;
pub mod configuration;
pub mod context;
pub mod copy;
pub mod copy_driver;
mod copy_place;
pub mod copy_rect;
pub mod device;
pub mod device_facts;
pub mod entry;
pub mod enums;
pub mod error;
pub mod event;
pub mod external_memory;
pub mod fill_rect;
pub mod function;
pub mod graph;
pub mod handle;
pub mod host_range;
pub mod host_registration;
pub mod ipc;
pub mod last_error;
pub mod launch;
pub(crate) mod launch_check;
pub mod launch_entry;
pub mod launch_extended;
pub mod launch_several;
pub mod library;
pub mod link;
pub mod log;
pub mod managed;
pub mod memory;
pub mod mipmapped_array;
pub mod misc;
pub mod module;
pub mod occupancy;
pub mod peer;
pub mod per_thread;
pub mod pointer;
pub mod pool;
pub mod pool_api;
pub mod profiling;
pub mod properties;
pub mod registration;
pub mod runtime;
pub mod shared_event;
pub mod stream;
pub mod stream_operation;
pub mod surface;
pub mod symbol;
pub mod texture;
pub mod texture_format;
pub mod texture_object_driver;
pub mod texture_reference;
pub mod texture_reference_driver;
pub mod texture_types;
pub mod types;
pub mod unsupported;
pub mod variable;
pub mod version;
pub mod virtual_memory;
pub mod virtual_memory_share;
