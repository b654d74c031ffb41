//! The HSA C ABI: types, constants, packet layouts and the table of functions.
