//! The HSA C ABI: types, constants, packet layouts and the table of functions.
//!
//! Written from AMD's public headers (`hsa.h`, `hsa_ext_amd.h`, `hsa_ext_image.h`, `hsa_ven_amd_loader.h`, `amd_hsa_queue.h`,
//! `amd_hsa_signal.h`), with the additions of later releases. The names are the C names. Layouts are checked when this crate is
//! compiled. The crate holds no behaviour: the runtime in `gneiss-hsa-core` implements these functions, and `gneiss-clr` calls
//! them through [`HsaApi`], over our library or AMD's.
#![expect(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    reason = "the names are those of the C headers"
)]

mod constant;
mod extension;
mod handle;
mod layout;
mod status;
mod table;

pub use constant::*;
pub use extension::*;
pub use handle::*;
pub use layout::*;
pub use status::*;
pub use table::*;
