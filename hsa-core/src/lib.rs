//! The HSA runtime over the software GPU.
