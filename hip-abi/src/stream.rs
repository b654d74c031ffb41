//! Streams: handles, the null stream's rules, per-thread streams.
//!
//! The null stream and blocking streams of a device order each other on the device, never by blocking the host: work on the null
//! stream waits for the last command of each active blocking stream, work on a blocking stream waits for the null stream's last
//! command. Streams with `hipStreamNonBlocking` take no part.

use std::{
    cell::RefCell,
    sync::{Arc, atomic::Ordering},
};

use gneiss_clr::{Event, HostQueue, Priority, QueueOptions, Status};
use gneiss_hip_abi_macros::hip_api;

use crate::{
    capture, entry,
    enums::*,
    error::*,
    fail,
    handle::{Kind, Table},
    pool,
    runtime::{self, Device, hip_error},
    types::*,
    version::{self, Major},
};

/// A stream.
#[derive(Debug)]
pub struct Stream {
    /// The queue that runs its commands.
    pub queue: Arc<HostQueue>,
    /// Ordinal of its device.
    pub device: usize,
    /// `hipStreamDefault` or `hipStreamNonBlocking`.
    pub flags: u32,
    /// -1 high, 0 normal, 1 low.
    pub priority: i32,
    /// It is the device's null stream.
    pub null: bool,
}

/// All streams that programs have made.
pub static STREAMS: Table<Stream> = Table::new(Kind::Stream);

/// A stream, with what its next command has to wait for besides the stream itself.
#[derive(Debug)]
pub struct Resolved {
    /// The stream.
    pub stream: Arc<Stream>,
    /// Events of other queues, by the null stream's rules.
    pub wait: Vec<Event>,
}

impl Stream {
    fn new(
        device: &Device,
        flags: u32,
        priority: i32,
        cu_mask: &[u32],
        null: bool,
    ) -> HipResult<Stream> {
        let options = QueueOptions {
            priority: match priority {
                ..=-1 => Priority::High,
                0 => Priority::Normal,
                1.. => Priority::Low,
            },
            non_blocking: flags & hipStreamNonBlocking != 0,
            cu_mask: cu_mask.to_vec(),
            ..QueueOptions::default()
        };
        let queue = HostQueue::new(&device.clr, options).map_err(hip_error)?;
        if null {
            queue.set_name("null stream");
        }
        Ok(Stream {
            queue,
            device: device.ordinal,
            flags,
            priority: priority.clamp(-1, 1),
            null,
        })
    }

    /// The null stream of a device.
    pub(crate) fn null(device: &Device) -> HipResult<Stream> {
        Stream::new(device, hipStreamDefault, 0, &[], true)
    }

    /// Whether it synchronises with the null stream.
    pub fn is_blocking(&self) -> bool {
        !self.null && self.flags & hipStreamNonBlocking == 0
    }

    /// The device it belongs to.
    pub fn device(&self) -> HipResult<&'static Device> {
        runtime::device(self.device as i32)
    }

    /// What a command enqueued now has to wait for in other queues.
    fn implicit_wait(&self) -> HipResult<Vec<Event>> {
        if self.flags & hipStreamNonBlocking != 0 {
            return Ok(Vec::new());
        }
        let device = self.device()?;
        if self.null {
            if device.blocking_streams.load(Ordering::Acquire) == 0 {
                return Ok(Vec::new());
            }
            let own = self.queue.id();
            let active = device.clr.active_queues();
            let blocking = active
                .iter()
                .filter(|queue| !queue.options().non_blocking && queue.id() != own);
            return Ok(blocking.filter_map(|queue| queue.last_command()).collect());
        }
        Ok(device
            .existing_null_stream()
            .and_then(|null| null.queue.last_command())
            .into_iter()
            .collect())
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.is_blocking()
            && let Some(device) =
                runtime::started().and_then(|runtime| runtime.devices.get(self.device))
        {
            device.blocking_streams.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// The stream of a handle, without ordering: null, the pseudo-handles, or a stream that the program made.
///
/// # Errors
/// `hipErrorContextIsDestroyed` for a stale or foreign handle, as AMD's runtime has it for most calls.
pub fn find(handle: hipStream_t) -> HipResult<Arc<Stream>> {
    match handle.addr() {
        0 | HIP_STREAM_LEGACY => Ok(Arc::clone(runtime::current()?.null_stream()?)),
        HIP_STREAM_PER_THREAD => per_thread(),
        value => match STREAMS.get(value) {
            Some(stream) => Ok(stream),
            None => fail!(
                hipErrorContextIsDestroyed,
                "{value:#x} is not a live stream"
            ),
        },
    }
}

/// The stream of a handle and what its next command has to wait for.
pub fn resolve(handle: hipStream_t) -> HipResult<Resolved> {
    let stream = find(handle)?;
    capture::refuse(&stream, "this call can't be captured, and is made")?;
    let wait = stream.implicit_wait()?;
    Ok(Resolved { stream, wait })
}

/// The null stream of a device, with what its next command has to wait for.
pub(crate) fn null_stream_of(device: &Device) -> HipResult<Resolved> {
    let stream = Arc::clone(device.null_stream()?);
    let wait = stream.implicit_wait()?;
    Ok(Resolved { stream, wait })
}

/// As [`resolve`], with another error for a bad handle.
pub fn resolve_or(handle: hipStream_t, error: hipError_t) -> HipResult<Resolved> {
    resolve(handle).map_err(|found| {
        if found == hipErrorContextIsDestroyed {
            error
        } else {
            found
        }
    })
}

thread_local! {
    static PER_THREAD: RefCell<Vec<Option<Arc<Stream>>>> = const { RefCell::new(Vec::new()) };
}

/// The calling thread's own stream of the current device; made at its first use.
fn per_thread() -> HipResult<Arc<Stream>> {
    let device = runtime::current()?;
    let found = PER_THREAD.try_with(|streams| {
        let mut streams = streams.borrow_mut();
        if streams.len() <= device.ordinal {
            streams.resize(device.ordinal + 1, None);
        }
        let place = &mut streams[device.ordinal];
        if place.is_none() {
            let stream = make(device, hipStreamDefault, 0, &[])?;
            stream.queue.set_name("per-thread stream");
            *place = Some(Arc::new(stream));
        }
        place.clone().ok_or(hipErrorUnknown)
    });
    // Inside the thread's own destructors there is no per-thread stream any more: the null stream keeps the order.
    found.unwrap_or_else(|_| Ok(Arc::clone(device.null_stream()?)))
}

/// Forgets the calling thread's own streams of a device (`hipDeviceReset`).
fn forget_per_thread(ordinal: usize) {
    let _ = PER_THREAD.try_with(|streams| {
        if let Some(place) = streams.borrow_mut().get_mut(ordinal) {
            *place = None;
        }
    });
}

fn make(device: &Device, flags: u32, priority: i32, cu_mask: &[u32]) -> HipResult<Stream> {
    let stream = Stream::new(device, flags, priority, cu_mask, false)?;
    if stream.is_blocking() {
        device.blocking_streams.fetch_add(1, Ordering::AcqRel);
    }
    Ok(stream)
}

/// Makes a stream on the current device and gives its handle.
fn create(out: *mut hipStream_t, flags: u32, priority: i32, cu_mask: &[u32]) -> HipResult {
    if out.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the stream");
    }
    if flags & !hipStreamNonBlocking != 0 {
        return fail!(
            hipErrorInvalidValue,
            "stream flags {flags:#x}: only hipStreamNonBlocking (1) exists"
        );
    }
    // A mask of no unit means all, as AMD's runtime has it.
    let cu_mask = if cu_mask.iter().all(|word| *word == 0) {
        &[]
    } else {
        cu_mask
    };
    let stream = Arc::new(make(runtime::current()?, flags, priority, cu_mask)?);
    stream
        .queue
        .set_name(&format!("stream {}", stream.queue.id()));
    let Some(handle) = STREAMS.insert(stream) else {
        return fail!(hipErrorOutOfMemory, "too many streams");
    };
    // SAFETY: not null; the caller promises a valid place.
    unsafe { out.write(std::ptr::without_provenance_mut(handle)) };
    Ok(())
}

/// Waits for a stream, and for what its next work would wait for: the blocking streams for the null stream, the null stream for those.
pub fn synchronize(resolved: &Resolved) -> HipResult {
    let Resolved { stream, wait } = resolved;
    // A blocking stream's next work would come after the null stream's: so does its wait.
    if !wait.is_empty() {
        stream.queue.enqueue_marker(wait).map_err(hip_error)?;
    }
    let result = stream.queue.finish().map_err(hip_error);
    pool::trim_all();
    result
}

/// Ends all streams of a device but the null stream.
pub fn destroy_all(ordinal: usize) {
    for (handle, stream) in STREAMS.live() {
        if stream.device == ordinal {
            STREAMS.remove(handle);
        }
    }
    forget_per_thread(ordinal);
}

/// Creates a stream.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamCreate(stream: *mut hipStream_t) -> hipError_t {
    create(stream, hipStreamDefault, 0, &[])
}

/// Creates a stream with flags.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamCreateWithFlags(
    stream: *mut hipStream_t,
    flags: u32,
) -> hipError_t {
    create(stream, flags, 0, &[])
}

/// Creates a stream with flags and a priority, which is clamped to -1 (high) … 1 (low).
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamCreateWithPriority(
    stream: *mut hipStream_t,
    flags: u32,
    priority: i32,
) -> hipError_t {
    create(stream, flags, priority, &[])
}

/// Creates a stream whose kernels may use the compute units of a mask, 32 to a word.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipExtStreamCreateWithCUMask(
    stream: *mut hipStream_t,
    cuMaskSize: u32,
    cuMask: *const u32,
) -> hipError_t {
    if stream.is_null() {
        return fail!(hipErrorInvalidHandle, "no place for the stream");
    }
    if cuMaskSize == 0 || cuMask.is_null() {
        return fail!(hipErrorInvalidValue, "an empty compute unit mask");
    }
    // SAFETY: not null; the caller promises `cuMaskSize` words.
    let mask = unsafe { std::slice::from_raw_parts(cuMask, cuMaskSize as usize) };
    create(stream, hipStreamDefault, 0, mask)
}

/// Reads a stream's compute unit mask; all units for a stream without one.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipExtStreamGetCUMask(
    stream: hipStream_t,
    cuMaskSize: u32,
    cuMask: *mut u32,
) -> hipError_t {
    if cuMaskSize == 0 || cuMask.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the compute unit mask");
    }
    let found = find(stream)?;
    let units = found.device()?.clr.properties().compute_units as usize;
    let mut mask = found.queue.options().cu_mask.clone();
    if mask.is_empty() {
        mask = (0..units.div_ceil(32))
            .map(|word| (u64::MAX >> (64 - (units - word * 32).min(32))) as u32)
            .collect();
    }
    if (cuMaskSize as usize) < mask.len() {
        return fail!(
            hipErrorInvalidValue,
            "{cuMaskSize} words are too few for a mask of {}",
            mask.len()
        );
    }
    // SAFETY: not null; the caller promises `cuMaskSize` words.
    let words = unsafe { std::slice::from_raw_parts_mut(cuMask, cuMaskSize as usize) };
    words.fill(0);
    words[..mask.len()].copy_from_slice(&mask);
    Ok(())
}

/// Gives the range of stream priorities: 1 (least) to -1 (greatest).
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetStreamPriorityRange(
    leastPriority: *mut i32,
    greatestPriority: *mut i32,
) -> hipError_t {
    for (place, value) in [(leastPriority, 1), (greatestPriority, -1)] {
        if !place.is_null() {
            // SAFETY: not null; the caller promises a valid place.
            unsafe { place.write(value) };
        }
    }
    Ok(())
}

/// Waits for a stream's work and ends it.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamDestroy(stream: hipStream_t) -> hipError_t {
    match stream.addr() {
        0 | HIP_STREAM_LEGACY => {
            return fail!(hipErrorInvalidHandle, "the null stream can't be destroyed");
        }
        HIP_STREAM_PER_THREAD => {
            return fail!(
                hipErrorInvalidHandle,
                "the per-thread stream can't be destroyed"
            );
        }
        value => match STREAMS.remove(value) {
            // Work that is still enqueued runs to its end, and the null stream's rules hold for it until then.
            Some(stream) => {
                capture::stream_ends(&stream);
                if let Some(last) = stream.queue.last_command() {
                    stream.queue.flush();
                    last.on_complete(move |_| drop(stream));
                }
            }
            None => {
                return fail!(
                    hipErrorContextIsDestroyed,
                    "{value:#x} is not a live stream"
                );
            }
        },
    }
    Ok(())
}

/// Whether a stream's work has ended: success or `hipErrorNotReady`.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamQuery(stream: hipStream_t) -> hipError_t {
    query(stream)
}

/// Asking for or waiting for a stream is unsafe while others capture; for the null stream the rules of capture say so themselves.
fn check_capture(handle: hipStream_t) -> HipResult {
    if handle.is_null() {
        return Ok(());
    }
    capture::refuse(&*find(handle)?, "a query or wait of the stream")?;
    capture::refuse_unsafe("a query or wait of a stream")
}

pub(crate) fn query(handle: hipStream_t) -> HipResult {
    check_capture(handle)?;
    let Resolved { stream, wait } = resolve(handle)?;
    // The null stream stands for the blocking streams; those do not stand for it.
    let others = !stream.null || wait.iter().all(|event| event.query().is_terminal());
    if !(stream.queue.query() && others) {
        return Err(hipErrorNotReady);
    }
    match stream.device()?.clr.fault() {
        Some(fault) => Err(hip_error(gneiss_clr::Error::Fault(fault))),
        None => Ok(()),
    }
}

/// Waits for a stream's work.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamSynchronize(stream: hipStream_t) -> hipError_t {
    check_capture(stream)?;
    synchronize(&resolve(stream)?)
}

/// Makes later work of a stream wait for an event.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamWaitEvent(
    stream: hipStream_t,
    event: hipEvent_t,
    flags: u32,
) -> hipError_t {
    wait_event(stream, event, flags)
}

/// The wait becomes a node of its own in a capture.
const EXTERNAL: u32 = 1;

pub(crate) fn wait_event(stream: hipStream_t, handle: hipEvent_t, flags: u32) -> HipResult {
    let event = handle;
    let Some(event) = crate::event::EVENTS.get(event.addr()) else {
        return fail!(
            hipErrorInvalidHandle,
            "{:#x} is not a live event",
            event.addr()
        );
    };
    let external = flags == EXTERNAL && version::presented() >= Major::Seven;
    if flags != 0 && !external {
        return fail!(
            hipErrorInvalidValue,
            "flags {flags:#x} of hipStreamWaitEvent: must be 0"
        );
    }
    if capture::is_active() {
        let found = find(stream).map_err(|_| hipErrorInvalidHandle)?;
        if capture::wait(&found, &event, handle, external)? {
            return Ok(());
        }
    }
    let Resolved { stream, mut wait } = resolve_or(stream, hipErrorInvalidHandle)?;
    if let Some(shared) = event.shared() {
        return shared.wait_in(&stream.queue, &wait);
    }
    let Some((command, order)) = event.ordered_command() else {
        return Ok(());
    };
    event.warn_if_stream_is_gone("hipStreamWaitEvent");
    let (queue, own) = (command.queue().map(|queue| queue.id()), stream.queue.id());
    if queue == Some(own) {
        return Ok(());
    }
    if command.status() != Status::COMPLETE {
        wait.push(command);
        stream.queue.enqueue_marker(&wait).map_err(hip_error)?;
    }
    if let Some(queue) = queue {
        pool::follow(queue, order, own);
    }
    Ok(())
}

/// Reads a stream's flags.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamGetFlags(stream: hipStream_t, flags: *mut u32) -> hipError_t {
    get_flags(stream, flags)
}

pub(crate) fn get_flags(stream: hipStream_t, flags: *mut u32) -> HipResult {
    if flags.is_null() || stream.is_null() {
        return fail!(
            hipErrorInvalidValue,
            "hipStreamGetFlags needs a stream and a place for the flags"
        );
    }
    let value = find(stream)?.flags;
    // SAFETY: not null; the caller promises a valid place.
    unsafe { flags.write(value) };
    Ok(())
}

/// Reads a stream's priority.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamGetPriority(
    stream: hipStream_t,
    priority: *mut i32,
) -> hipError_t {
    get_priority(stream, priority)
}

pub(crate) fn get_priority(stream: hipStream_t, priority: *mut i32) -> HipResult {
    if priority.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the priority");
    }
    let value = find(stream)?.priority;
    // SAFETY: not null; the caller promises a valid place.
    unsafe { priority.write(value) };
    Ok(())
}

/// Gives the device of a stream; the current one for the null stream.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamGetDevice(
    stream: hipStream_t,
    device: *mut hipDevice_t,
) -> hipError_t {
    if device.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the device");
    }
    let value = find(stream)?.device as i32;
    // SAFETY: not null; the caller promises a valid place.
    unsafe { device.write(value) };
    Ok(())
}

/// Gives a number that is unique to a stream.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamGetId(stream: hipStream_t, streamId: *mut u64) -> hipError_t {
    if streamId.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the number");
    }
    let value = find(stream)?.queue.id();
    // SAFETY: not null; the caller promises a valid place.
    unsafe { streamId.write(value) };
    Ok(())
}

/// Gives the device of a stream, or -1.
///
/// # Safety
/// None: the handle is checked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetStreamDeviceId(stream: hipStream_t) -> i32 {
    entry::run("hipGetStreamDeviceId", -1, || {
        find(stream).map_or(-1, |stream| stream.device as i32)
    })
}
