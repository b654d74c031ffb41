//! Events: what `hipEventRecord` marks in a stream, and the time between two of them.
//!
//! Recording puts a marker into the stream; the event then stands for that marker, and outlives the stream. Waiting and
//! querying look at the marker that the event stood for at the call.

use std::sync::{
    Arc,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};

use gneiss_clr::{Event as Command, Status};
use gneiss_hip_abi_macros::hip_api;
use parking_lot::Mutex;

use crate::{
    capture::{self, Recorded},
    enums::*,
    error::*,
    fail,
    handle::{Kind, Table},
    log, pool,
    runtime::{self, hip_error, status_error},
    shared_event::SharedEvent,
    stream::{self, Resolved, resolve},
    types::*,
    version,
};

/// An event.
#[derive(Debug)]
pub struct Event {
    /// `hipEvent…` flags.
    pub flags: u32,
    /// Ordinal of the device that was current at creation.
    pub device: usize,
    command: Mutex<Option<Command>>,
    /// What [`pool::order`] gave right before the last recording; 0: not known.
    order: AtomicU64,
    /// Handle of the stream that it was last recorded in; 0 when no call named one.
    stream: AtomicUsize,
    /// Set if the last recording was in a capture.
    recorded: Mutex<Option<Recorded>>,
    /// The page that other processes see, for `hipEventInterprocess`.
    shared: Option<Arc<SharedEvent>>,
}

/// All events.
pub static EVENTS: Table<Event> = Table::new(Kind::Event);

impl Event {
    /// The marker of the last recording.
    pub fn command(&self) -> Option<Command> {
        self.command.lock().clone()
    }

    /// The marker of the last recording, and what [`pool::order`] gave right before it.
    pub(crate) fn ordered_command(&self) -> Option<(Command, u64)> {
        let command = self.command.lock();
        let order = self.order.load(Ordering::Relaxed);
        Some((command.clone()?, order))
    }

    /// Makes the event stand for a command.
    pub fn set_command(&self, command: Command) {
        self.set_command_of(command, 0, std::ptr::null_mut());
    }

    fn set_command_of(&self, command: Command, order: u64, stream: hipStream_t) {
        self.stream.store(stream.addr(), Ordering::Relaxed);
        *self.recorded.lock() = None;
        let mut place = self.command.lock();
        self.order.store(order, Ordering::Relaxed);
        *place = Some(command);
    }

    /// Warns in the log of a wait for a stream that the program has destroyed. The wait works here: the event stands for the work, which
    /// runs to its end. Other runtimes may refuse it, or do worse.
    pub(crate) fn warn_if_stream_is_gone(&self, call: &str) {
        let stream = self.stream.load(Ordering::Relaxed);
        if stream > HIP_STREAM_PER_THREAD
            && log::enabled(log::Level::Warning)
            && stream::STREAMS.get(stream).is_none()
        {
            log::line(
                log::Level::Warning,
                file!(),
                line!(),
                format_args!(
                    "{call}: stream {stream:#x}, in which the event was last recorded, is destroyed: this works here, elsewhere it may not"
                ),
            );
        }
    }

    /// What other processes see of it.
    pub fn shared(&self) -> Option<&Arc<SharedEvent>> {
        self.shared.as_ref()
    }

    /// What the last recording stands for in a capture.
    pub fn recorded(&self) -> Option<Recorded> {
        self.recorded.lock().clone()
    }

    /// Makes the event stand for nodes of a capture.
    pub fn set_recorded(&self, recorded: Recorded) {
        *self.recorded.lock() = Some(recorded);
    }
}

/// The event of a handle.
///
/// # Errors
/// `hipErrorInvalidHandle` for a null, stale or foreign handle.
pub fn find(handle: hipEvent_t) -> HipResult<Arc<Event>> {
    match EVENTS.get(handle.addr()) {
        Some(event) => Ok(event),
        None => fail!(
            hipErrorInvalidHandle,
            "{:#x} is not a live event",
            handle.addr()
        ),
    }
}

fn check_flags(flags: u32) -> HipResult {
    let releases = hipEventReleaseToDevice | hipEventReleaseToSystem | hipEventDisableSystemFence;
    if flags & !(hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess | releases)
        != 0
    {
        return fail!(
            hipErrorInvalidValue,
            "event flags {flags:#x} are not all known"
        );
    }
    if (flags & releases).count_ones() > 1 {
        return fail!(
            hipErrorInvalidValue,
            "event flags {flags:#x} ask for more than one release scope"
        );
    }
    if flags & hipEventInterprocess != 0 && flags & hipEventDisableTiming == 0 {
        return fail!(
            hipErrorInvalidValue,
            "hipEventInterprocess needs hipEventDisableTiming"
        );
    }
    Ok(())
}

fn create(out: *mut hipEvent_t, flags: u32) -> HipResult {
    if out.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the event");
    }
    check_flags(flags)?;
    let event = Event {
        flags,
        device: runtime::current()?.ordinal,
        command: Mutex::new(None),
        order: AtomicU64::new(0),
        stream: AtomicUsize::new(0),
        recorded: Mutex::new(None),
        shared: if flags & hipEventInterprocess != 0 {
            Some(SharedEvent::new()?)
        } else {
            None
        },
    };
    let handle = insert(event)?;
    // SAFETY: not null; the caller promises a valid place.
    unsafe { out.write(handle) };
    Ok(())
}

fn insert(event: Event) -> HipResult<hipEvent_t> {
    match EVENTS.insert(Arc::new(event)) {
        Some(handle) => Ok(std::ptr::without_provenance_mut(handle)),
        None => fail!(hipErrorOutOfMemory, "too many events"),
    }
}

/// An event of another process.
///
/// # Errors
/// `hipErrorOutOfMemory`.
pub(crate) fn open(shared: Arc<SharedEvent>) -> HipResult<hipEvent_t> {
    insert(Event {
        flags: hipEventInterprocess | hipEventDisableTiming,
        device: runtime::current()?.ordinal,
        command: Mutex::new(None),
        order: AtomicU64::new(0),
        stream: AtomicUsize::new(0),
        recorded: Mutex::new(None),
        shared: Some(shared),
    })
}

/// Records an event in a stream.
pub(crate) fn record(handle: hipEvent_t, stream: hipStream_t, external: bool) -> HipResult {
    let event = find(handle)?;
    if capture::is_active() && capture::record(&*stream::find(stream)?, &event, handle, external)? {
        return Ok(());
    }
    let named = stream;
    let Resolved { stream, wait } = resolve(named)?;
    if stream.device != event.device {
        return fail!(
            hipErrorInvalidHandle,
            "the event is of device {}, the stream of device {}",
            event.device,
            stream.device
        );
    }
    let order = pool::order();
    let command = match event.shared() {
        Some(shared) => shared.record(&stream.queue, &wait)?,
        None => stream.queue.enqueue_marker(&wait).map_err(hip_error)?,
    };
    event.set_command_of(command, order, named);
    Ok(())
}

/// Creates an event.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventCreate(event: *mut hipEvent_t) -> hipError_t {
    create(event, hipEventDefault)
}

/// Creates an event with flags.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventCreateWithFlags(event: *mut hipEvent_t, flags: u32) -> hipError_t {
    create(event, flags)
}

/// Ends an event. Work that waits for it still does.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventDestroy(event: hipEvent_t) -> hipError_t {
    match EVENTS.remove(event.addr()) {
        Some(_) => Ok(()),
        None => {
            let error = if event.is_null() || version::presented() == version::Major::Five {
                hipErrorInvalidHandle
            } else {
                hipErrorContextIsDestroyed
            };
            fail!(error, "{:#x} is not a live event", event.addr())
        }
    }
}

/// Records an event in a stream.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventRecord(event: hipEvent_t, stream: hipStream_t) -> hipError_t {
    record(event, stream, false)
}

/// Records an event in a stream; flags must be 0 (1 would be an external event of a capture).
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventRecordWithFlags(
    event: hipEvent_t,
    stream: hipStream_t,
    flags: u32,
) -> hipError_t {
    if flags > 1 {
        return fail!(
            hipErrorInvalidValue,
            "flags {flags:#x} of hipEventRecordWithFlags: must be 0 or 1"
        );
    }
    record(event, stream, flags == 1)
}

/// Waits for the last recording; success if there is none.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventSynchronize(event: hipEvent_t) -> hipError_t {
    let event = find(event)?;
    capture::refuse_event(&event, "a wait")?;
    if let Some(shared) = event.shared() {
        return shared.wait();
    }
    let Some(command) = event.command() else {
        return Ok(());
    };
    event.warn_if_stream_is_gone("hipEventSynchronize");
    let result = command.wait().map_err(hip_error);
    pool::trim_all();
    result
}

/// Whether the last recording has been reached: success (also if there is none) or `hipErrorNotReady`.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventQuery(event: hipEvent_t) -> hipError_t {
    let event = find(event)?;
    capture::refuse_event(&event, "a query")?;
    if let Some(shared) = event.shared() {
        return if shared.is_reached() {
            Ok(())
        } else {
            Err(hipErrorNotReady)
        };
    }
    let Some(command) = event.command() else {
        return Ok(());
    };
    match command.query() {
        Status::COMPLETE => Ok(()),
        status if status.is_error() => Err(status_error(status)),
        _ => Err(hipErrorNotReady),
    }
}

/// Milliseconds from the end of one recording to the end of another.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventElapsedTime(
    ms: *mut f32,
    start: hipEvent_t,
    stop: hipEvent_t,
) -> hipError_t {
    if ms.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the time");
    }
    let (start, stop) = (find(start)?, find(stop)?);
    if start.device != stop.device {
        return fail!(
            hipErrorInvalidHandle,
            "the events are of devices {} and {}",
            start.device,
            stop.device
        );
    }
    if (start.flags | stop.flags) & hipEventDisableTiming != 0 {
        return fail!(hipErrorInvalidHandle, "an event has hipEventDisableTiming");
    }
    let (Some(start), Some(stop)) = (start.command(), stop.command()) else {
        return fail!(hipErrorInvalidHandle, "an event was never recorded");
    };
    for command in [&start, &stop] {
        match command.query() {
            Status::COMPLETE => {}
            status if status.is_error() => return Err(status_error(status)),
            _ => return Err(hipErrorNotReady),
        }
    }
    let elapsed = if start.same(&stop) {
        0.0
    } else {
        milliseconds(start.profiling().end, stop.profiling().end)
    };
    // SAFETY: not null; the caller promises a valid place.
    unsafe { ms.write(elapsed) };
    Ok(())
}

/// From nanoseconds to milliseconds, negative if `stop` was before `start`.
fn milliseconds(start: u64, stop: u64) -> f32 {
    (stop.wrapping_sub(start).cast_signed() as f64 / 1e6) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags() {
        assert_eq!(
            check_flags(hipEventBlockingSync | hipEventDisableTiming),
            Ok(())
        );
        assert_eq!(
            check_flags(hipEventReleaseToDevice | hipEventReleaseToSystem),
            Err(hipErrorInvalidValue)
        );
        assert_eq!(check_flags(hipEventInterprocess), Err(hipErrorInvalidValue));
        assert_eq!(check_flags(0x100), Err(hipErrorInvalidValue));
    }

    #[test]
    fn times_may_be_negative() {
        assert_eq!(milliseconds(1_000_000, 3_500_000), 2.5);
        assert_eq!(milliseconds(3_500_000, 1_000_000), -2.5);
    }

    #[test]
    fn a_null_or_invented_event_is_refused() {
        assert_eq!(
            find(std::ptr::null_mut()).err(),
            Some(hipErrorInvalidHandle)
        );
        assert_eq!(
            find(std::ptr::without_provenance_mut(0x200_0001_0000_0000)).err(),
            Some(hipErrorInvalidHandle)
        );
    }
}
