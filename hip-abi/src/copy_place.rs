//! Which stream a copy runs in.
//!
//! As with AMD's runtime (CLR, `ihipMemcpyCommand`, and `ihipMemcpyDtoDCommand` for rows) a copy whose memory is another device's than its
//! stream runs in the null stream of that device, so that it waits for what the streams of the device that owns the memory are doing to it. AMD's
//! copies rows of pageable memory in the stream that was given, where they may overtake that; here they are no exception.

use gneiss_clr::Event;

use crate::{
    copy::Side,
    error::*,
    runtime::{self, hip_error},
    stream::{Resolved, null_stream_of, resolve},
    types::*,
};

/// The stream that a copy was given to, and the one that it runs in.
#[derive(Debug)]
pub(crate) struct Place {
    given: Resolved,
    /// The null stream of the device that owns the memory, if that is another one.
    owner: Option<Resolved>,
}

impl Place {
    /// Where a copy runs: in the given stream, if the memory is its own device's, the host's alone, or of two devices.
    ///
    /// # Errors
    /// As for [`resolve`]; those of a marker in the given stream.
    pub(crate) fn of(stream: hipStream_t, destination: &Side, source: &Side) -> HipResult<Place> {
        let given = resolve(stream)?;
        let owner = match (destination.device(), source.device()) {
            (Some(one), Some(other)) if one != other => None,
            (one, other) => one.or(other),
        };
        let owner = match owner.filter(|&owner| owner != given.stream.device) {
            Some(owner) => {
                let before = given.stream.queue.enqueue_marker(&given.wait);
                let mut resolved = null_stream_of(runtime::device(owner as i32)?)?;
                resolved.wait.push(before.map_err(hip_error)?);
                Some(resolved)
            }
            None => None,
        };
        Ok(Place { given, owner })
    }

    /// The stream that the copy runs in, with what it has to wait for.
    pub(crate) fn runs_in(&self) -> &Resolved {
        self.owner.as_ref().unwrap_or(&self.given)
    }

    /// Lets what comes later in the given stream wait for the copy, if that runs in another one.
    ///
    /// # Errors
    /// Those of a marker in the given stream.
    pub(crate) fn go_on_after(&self, copy: &Event) -> HipResult {
        if self.owner.is_some() {
            let queue = &self.given.stream.queue;
            queue
                .enqueue_marker(std::slice::from_ref(copy))
                .map_err(hip_error)?;
        }
        Ok(())
    }
}
