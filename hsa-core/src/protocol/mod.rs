//! The lock-free protocols of the runtime, apart from what they protect: small state machines of atomics, each with the invariant
//! that makes it right. `hsa-core/model` runs these very files under loom, which tries all interleavings.
//!
//! * [`sleep`]: waiters and whoever changes what they wait for.
//! * [`places`]: dispatches that run, and a processor that waits for one to end.
//! * [`handoff`]: a packet's slot between producer and packet processor.
//! * [`turn`]: one thread at a time does the work, and no request is lost.

pub(crate) mod handoff;
pub(crate) mod places;
pub(crate) mod sleep;
pub(crate) mod turn;
