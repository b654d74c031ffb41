//! Ends that must wait for the device: memory and code that commands in flight may still use.
//!
//! Commands carry addresses, not references, so that enqueuing costs nothing for it. What ends while queues of its devices are active waits
//! for markers of theirs instead; with nothing active it ends at once.

use std::sync::Arc;

use gneiss_clr::{Event, HostQueue};

use crate::device::Device;

/// Runs its function when it is dropped, by the last of those who share it.
struct AtDrop<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> Drop for AtDrop<F> {
    fn drop(&mut self) {
        if let Some(function) = self.0.take() {
            function();
        }
    }
}

/// The event whose end means that all that a queue has now has ended; none: it has.
pub fn end_of(queue: &HostQueue) -> Option<Event> {
    let last = queue.last_command()?;
    if queue.options().out_of_order {
        queue.enqueue_marker(&[]).ok()
    } else {
        Some(last)
    }
}

/// Runs a function when all that is enqueued now on the devices has ended: at once, or on a worker.
pub fn when_idle(devices: &[Arc<Device>], function: impl FnOnce() + Send + Sync + 'static) {
    let shared = Arc::new(AtDrop(Some(function)));
    for device in devices {
        for queue in device.clr.active_queues() {
            if let Some(event) = end_of(&queue) {
                let shared = Arc::clone(&shared);
                event.on_complete(move |_| drop(shared));
            }
        }
    }
}

/// Keeps a queue until its commands have ended, so that [`when_idle`] sees it.
pub fn keep_until_idle(queue: Arc<HostQueue>) {
    if let Some(event) = end_of(&queue) {
        event.on_complete(move |_| drop(queue));
    }
}
