//! Stream capture: what streams are asked to do becomes nodes of a graph instead.
//!
//! A [`Capture`] begins in one stream, its origin; other streams join when they wait for an event that was recorded in a capturing one.
//! Each stream of a capture knows the nodes that its next node comes after. Calls that a capture cannot hold end it: it becomes
//! *invalidated*, and so do the captures of other threads that the call is unsafe for, by the calling thread's mode.
//!
//! While nothing captures, every check here is one load.
//!
//! Lock order: the list of captures, then a capture's state. Streams are found before.

use std::{
    cell::Cell,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    thread::ThreadId,
};

use parking_lot::Mutex;

use crate::{
    enums::*,
    error::*,
    event::Event,
    fail,
    graph::{
        Graph, Node,
        operation::{EventNode, Operation},
        types::{hipGraph_t, hipGraphNode_t},
    },
    stream::{self, Stream},
    types::*,
};

thread_local! {
    static MODE: Cell<hipStreamCaptureMode> = const { Cell::new(hipStreamCaptureModeGlobal) };
}

/// Captures that have begun and not ended: while it is 0, nothing needs a look.
static COUNT: AtomicUsize = AtomicUsize::new(0);
static CAPTURES: Mutex<Vec<Arc<Capture>>> = Mutex::new(Vec::new());

/// A stream's part in a capture.
#[derive(Debug)]
pub(crate) struct Part {
    /// Number of the stream's queue.
    queue: u64,
    blocking: bool,
    pub(crate) dependencies: Vec<Arc<Node>>,
    /// Handles of the dependencies, given out by `hipStreamGetCaptureInfo_v2`.
    pub(crate) handles: Vec<hipGraphNode_t>,
}

// SAFETY: the handles are values, never followed.
unsafe impl Send for Part {}

/// A capture.
#[derive(Debug)]
pub struct Capture {
    /// Number, unique in the process.
    pub(crate) id: u64,
    pub(crate) graph: Arc<Graph>,
    /// The graph is the program's, and stays when the capture fails.
    given: bool,
    mode: hipStreamCaptureMode,
    thread: ThreadId,
    /// Number of the origin's queue.
    origin: u64,
    invalidated: AtomicBool,
    parts: Mutex<Vec<Part>>,
}

/// What an event recorded in a capture stands for.
#[derive(Clone, Debug)]
pub struct Recorded {
    capture: Arc<Capture>,
    nodes: Vec<Arc<Node>>,
}

impl Recorded {
    /// Whether its capture has not ended.
    fn is_live(&self) -> bool {
        CAPTURES
            .lock()
            .iter()
            .any(|capture| Arc::ptr_eq(capture, &self.capture))
    }
}

/// A stream that is capturing.
#[derive(Debug)]
pub struct Capturing {
    capture: Arc<Capture>,
    queue: u64,
}

/// Whether anything captures.
pub fn is_active() -> bool {
    COUNT.load(Ordering::Acquire) != 0
}

/// The capture that a stream takes part in.
pub(crate) fn capture_of(stream: &Stream) -> Option<Arc<Capture>> {
    if !is_active() {
        return None;
    }
    let queue = stream.queue.id();
    let captures = CAPTURES.lock();
    captures
        .iter()
        .find(|capture| capture.parts.lock().iter().any(|part| part.queue == queue))
        .cloned()
}

impl Capture {
    fn invalidate(&self) {
        self.invalidated.store(true, Ordering::Release);
    }

    pub(crate) fn is_invalidated(&self) -> bool {
        self.invalidated.load(Ordering::Acquire)
    }

    pub(crate) fn with_part<T>(&self, queue: u64, body: impl FnOnce(&mut Part) -> T) -> Option<T> {
        self.parts
            .lock()
            .iter_mut()
            .find(|part| part.queue == queue)
            .map(body)
    }
}

impl Capturing {
    /// Adds a node after what the stream did before.
    ///
    /// # Errors
    /// Those of the operation.
    pub fn add(&self, operation: Operation) -> HipResult {
        operation.check()?;
        let before = self.dependencies();
        let node = self.capture.graph.add(operation, &before)?;
        self.capture
            .with_part(self.queue, |part| part.dependencies = vec![node]);
        Ok(())
    }

    fn dependencies(&self) -> Vec<Arc<Node>> {
        self.capture
            .with_part(self.queue, |part| part.dependencies.clone())
            .unwrap_or_default()
    }

    /// Ends the capture's hope, for a call that it cannot hold.
    ///
    /// # Errors
    /// Always `hipErrorStreamCaptureUnsupported`.
    pub fn refuse(&self, what: &str) -> HipResult {
        self.capture.invalidate();
        fail!(hipErrorStreamCaptureUnsupported, "{what} can't be captured")
    }
}

/// The capture of a stream, if it takes part in one: the call then becomes a node. For calls that can be captured.
///
/// # Errors
/// `hipErrorStreamCaptureInvalidated`; `hipErrorStreamCaptureImplicit` for the null stream while a stream that synchronises with it captures.
#[inline]
pub fn of(handle: hipStream_t) -> HipResult<Option<Capturing>> {
    if is_active() { find(handle) } else { Ok(None) }
}

#[cold]
fn find(handle: hipStream_t) -> HipResult<Option<Capturing>> {
    of_stream(&*stream::find(handle)?)
}

/// As [`of`], for a stream that is found already.
pub fn of_stream(stream: &Stream) -> HipResult<Option<Capturing>> {
    if !is_active() {
        return Ok(None);
    }
    let Some(capture) = capture_of(stream) else {
        if stream.null {
            refuse_implicit()?;
        }
        return Ok(None);
    };
    if capture.is_invalidated() {
        return fail!(
            hipErrorStreamCaptureInvalidated,
            "the stream's capture has failed: end it with hipStreamEndCapture"
        );
    }
    Ok(Some(Capturing {
        capture,
        queue: stream.queue.id(),
    }))
}

/// The null stream would depend on streams that capture.
fn refuse_implicit() -> HipResult {
    let captures = CAPTURES.lock();
    let mut refused = false;
    for capture in captures.iter() {
        if capture.parts.lock().iter().any(|part| part.blocking) {
            capture.invalidate();
            refused = true;
        }
    }
    if refused {
        return fail!(
            hipErrorStreamCaptureImplicit,
            "the null stream is used while a stream that synchronises with it captures"
        );
    }
    Ok(())
}

/// For calls that use a stream and can't be captured.
///
/// # Errors
/// `hipErrorStreamCaptureUnsupported` if the stream captures; its capture is invalidated.
#[inline]
pub fn refuse(stream: &Stream, what: &str) -> HipResult {
    if !is_active() {
        return Ok(());
    }
    match capture_of(stream) {
        Some(capture) => {
            capture.invalidate();
            fail!(
                hipErrorStreamCaptureUnsupported,
                "{what} while the stream captures"
            )
        }
        None if stream.null => refuse_implicit(),
        None => Ok(()),
    }
}

/// For calls that synchronise with the whole process (`hipMemcpy` and its kin).
///
/// # Errors
/// `hipErrorStreamCaptureImplicit` while anything captures; all captures are invalidated.
#[inline]
pub fn refuse_synchronous() -> HipResult {
    refuse_all(
        hipErrorStreamCaptureImplicit,
        "a synchronous call while a stream captures",
    )
}

/// For calls that wait for a device.
///
/// # Errors
/// `hipErrorStreamCaptureUnsupported` while anything captures; all captures are invalidated.
#[inline]
pub fn refuse_device_wait() -> HipResult {
    refuse_all(
        hipErrorStreamCaptureUnsupported,
        "a wait for the device while a stream captures",
    )
}

/// Fails while anything captures, and invalidates all captures.
#[inline]
fn refuse_all(error: hipError_t, why: &str) -> HipResult {
    if !is_active() {
        return Ok(());
    }
    for capture in CAPTURES.lock().iter() {
        capture.invalidate();
    }
    fail!(error, "{why}")
}

/// For calls that are unsafe while something captures, by the calling thread's mode: *global* minds every capture that is global too, and
/// the thread's own; *thread local* the thread's own; *relaxed* none. Captures in relaxed mode mind nothing.
///
/// # Errors
/// `hipErrorStreamCaptureUnsupported`; the captures that mind are invalidated.
#[inline]
pub fn refuse_unsafe(what: &str) -> HipResult {
    if is_active() {
        unsafe_call(what)
    } else {
        Ok(())
    }
}

#[cold]
fn unsafe_call(what: &str) -> HipResult {
    let mode = MODE.get();
    if mode == hipStreamCaptureModeRelaxed {
        return Ok(());
    }
    let thread = std::thread::current().id();
    let mut refused = false;
    for capture in CAPTURES.lock().iter() {
        let own = capture.thread == thread && capture.mode != hipStreamCaptureModeRelaxed;
        let global =
            capture.mode == hipStreamCaptureModeGlobal && mode == hipStreamCaptureModeGlobal;
        if own || global {
            capture.invalidate();
            refused = true;
        }
    }
    if refused {
        return fail!(
            hipErrorStreamCaptureUnsupported,
            "{what} while a stream captures (hipThreadExchangeStreamCaptureMode can allow it)"
        );
    }
    Ok(())
}

/// For waits and queries of an event.
///
/// # Errors
/// `hipErrorCapturedEvent` for one that was recorded in a capture; else as [`refuse_unsafe`].
#[inline]
pub fn refuse_event(event: &Event, what: &str) -> HipResult {
    if let Some(recorded) = event.recorded() {
        if recorded.is_live() {
            recorded.capture.invalidate();
        }
        return fail!(
            hipErrorCapturedEvent,
            "{what} of an event that was last recorded in a capturing stream"
        );
    }
    refuse_unsafe(what)
}

/// Records an event in a capturing stream; false: the stream does not capture.
///
/// # Errors
/// As [`of_stream`].
pub fn record(
    stream: &Stream,
    event: &Arc<Event>,
    handle: hipEvent_t,
    external: bool,
) -> HipResult<bool> {
    let Some(capturing) = of_stream(stream)? else {
        return Ok(false);
    };
    if external {
        capturing.add(Operation::Record(EventNode {
            handle: handle.addr(),
            event: Arc::clone(event),
        }))?;
        return Ok(true);
    }
    event.set_recorded(Recorded {
        nodes: capturing.dependencies(),
        capture: capturing.capture,
    });
    Ok(true)
}

/// Makes a stream wait for an event, if either has to do with a capture; false: neither has.
///
/// # Errors
/// `hipErrorStreamCaptureMerge`, `hipErrorStreamCaptureIsolation`, and as [`of_stream`].
pub fn wait(
    stream: &Stream,
    event: &Arc<Event>,
    handle: hipEvent_t,
    external: bool,
) -> HipResult<bool> {
    if !is_active() {
        return Ok(false);
    }
    let own = of_stream(stream)?;
    let recorded = event.recorded().filter(Recorded::is_live);
    match (own, recorded) {
        (None, None) => Ok(false),
        (Some(own), None) => {
            if external {
                own.add(Operation::Wait(EventNode {
                    handle: handle.addr(),
                    event: Arc::clone(event),
                }))?;
                return Ok(true);
            }
            own.capture.invalidate();
            fail!(
                hipErrorStreamCaptureIsolation,
                "a capturing stream waits for an event of work that is not captured"
            )
        }
        (Some(own), Some(recorded)) => {
            if !Arc::ptr_eq(&own.capture, &recorded.capture) {
                own.capture.invalidate();
                recorded.capture.invalidate();
                return fail!(
                    hipErrorStreamCaptureMerge,
                    "a capturing stream waits for an event of another capture"
                );
            }
            own.capture.with_part(own.queue, |part| {
                for node in recorded.nodes {
                    if !part.dependencies.iter().any(|known| known.id == node.id) {
                        part.dependencies.push(node);
                    }
                }
            });
            Ok(true)
        }
        (None, Some(recorded)) => {
            if recorded.capture.is_invalidated() {
                return fail!(
                    hipErrorStreamCaptureInvalidated,
                    "the event's capture has failed"
                );
            }
            if stream.null {
                recorded.capture.invalidate();
                return fail!(
                    hipErrorStreamCaptureImplicit,
                    "the null stream can't take part in a capture"
                );
            }
            recorded.capture.parts.lock().push(Part {
                queue: stream.queue.id(),
                blocking: stream.is_blocking(),
                dependencies: recorded.nodes,
                handles: Vec::new(),
            });
            Ok(true)
        }
    }
}

/// A stream ends: so does its capture's hope.
pub fn stream_ends(stream: &Stream) {
    if let Some(capture) = capture_of(stream) {
        capture.invalidate();
        if capture.origin == stream.queue.id() {
            end(&capture);
            drop_graph(&capture);
        }
    }
}

/// Takes a capture off the list.
fn end(capture: &Arc<Capture>) {
    let mut captures = CAPTURES.lock();
    let before = captures.len();
    captures.retain(|other| !Arc::ptr_eq(other, capture));
    COUNT.fetch_sub(before - captures.len(), Ordering::AcqRel);
}

fn drop_graph(capture: &Capture) {
    if !capture.given {
        capture.graph.destroy();
    }
}

pub(crate) fn begin(
    handle: hipStream_t,
    mode: hipStreamCaptureMode,
    given: Option<(Arc<Graph>, Vec<Arc<Node>>)>,
) -> HipResult {
    if mode > hipStreamCaptureModeRelaxed {
        return fail!(hipErrorInvalidValue, "capture mode {mode} does not exist");
    }
    let stream = stream::find(handle)?;
    if stream.null {
        return fail!(
            hipErrorStreamCaptureUnsupported,
            "the null stream can't capture"
        );
    }
    if capture_of(&stream).is_some() {
        return fail!(hipErrorIllegalState, "the stream captures already");
    }
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let is_given = given.is_some();
    let (graph, dependencies) = given.unwrap_or_else(|| (Graph::new(false, None), Vec::new()));
    let capture = Capture {
        id: NEXT.fetch_add(1, Ordering::Relaxed),
        graph,
        given: is_given,
        mode,
        thread: std::thread::current().id(),
        origin: stream.queue.id(),
        invalidated: AtomicBool::new(false),
        parts: Mutex::new(vec![Part {
            queue: stream.queue.id(),
            blocking: stream.is_blocking(),
            dependencies,
            handles: Vec::new(),
        }]),
    };
    let mut captures = CAPTURES.lock();
    captures.push(Arc::new(capture));
    COUNT.fetch_add(1, Ordering::AcqRel);
    Ok(())
}

pub(crate) fn end_in(handle: hipStream_t) -> HipResult<hipGraph_t> {
    let stream = stream::find(handle)?;
    let Some(capture) = capture_of(&stream) else {
        return fail!(hipErrorIllegalState, "the stream does not capture");
    };
    if capture.origin != stream.queue.id() {
        return fail!(
            hipErrorStreamCaptureUnmatched,
            "the capture began in another stream"
        );
    }
    if capture.mode != hipStreamCaptureModeRelaxed && capture.thread != std::thread::current().id()
    {
        return fail!(
            hipErrorStreamCaptureWrongThread,
            "the capture began in another thread, and not in relaxed mode"
        );
    }
    end(&capture);
    if capture.is_invalidated() {
        drop_graph(&capture);
        return fail!(
            hipErrorStreamCaptureInvalidated,
            "a call since the capture's begin could not be captured"
        );
    }
    // Everything that other streams did must lead to the origin's last nodes.
    let unjoined = {
        let parts = capture.parts.lock();
        let last = parts
            .iter()
            .find(|part| part.queue == capture.origin)
            .map(|part| part.dependencies.as_slice())
            .unwrap_or_default();
        let leaves = capture.graph.leaves();
        parts
            .iter()
            .filter(|part| part.queue != capture.origin)
            .flat_map(|part| &part.dependencies)
            .any(|node| {
                leaves.iter().any(|leaf| leaf.id == node.id)
                    && !last.iter().any(|known| known.id == node.id)
            })
    };
    if unjoined {
        drop_graph(&capture);
        return fail!(
            hipErrorStreamCaptureUnjoined,
            "work of a joined stream does not lead back to the stream that the capture began in"
        );
    }
    capture.graph.handle()
}

/// Whether a stream that synchronises with the null stream captures.
pub(crate) fn is_any_blocking() -> bool {
    is_active()
        && CAPTURES
            .lock()
            .iter()
            .any(|capture| capture.parts.lock().iter().any(|part| part.blocking))
}

/// Sets the calling thread's mode; gives the one before.
pub(crate) fn exchange_mode(mode: hipStreamCaptureMode) -> hipStreamCaptureMode {
    MODE.replace(mode)
}
