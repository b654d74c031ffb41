//! The functions of stream capture: begin, end, ask, change.

use std::{ffi::c_void, sync::Arc};

use gneiss_hip_abi_macros::hip_api;

use crate::{
    capture::{self, begin, capture_of, end_in},
    enums::*,
    error::*,
    fail,
    graph::{
        self, Graph, Node,
        types::{hipGraph_t, hipGraphNode_t},
    },
    per_thread, stream,
    types::*,
};

/// # Safety
/// `graph` must be null or a valid place.
unsafe fn end_capture(stream: hipStream_t, graph: *mut hipGraph_t) -> HipResult {
    if graph.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the graph");
    }
    // SAFETY: not null; as the caller promises.
    unsafe {
        graph.write(std::ptr::null_mut());
        graph.write(end_in(stream)?);
    }
    Ok(())
}

/// Begins to capture what a stream is asked to do.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamBeginCapture(
    stream: hipStream_t,
    mode: hipStreamCaptureMode,
) -> hipError_t {
    begin(stream, mode, None)
}

/// Begins to capture, with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamBeginCapture_spt(
    stream: hipStream_t,
    mode: hipStreamCaptureMode,
) -> hipError_t {
    begin(per_thread::own(stream), mode, None)
}

/// The nodes of an array of handles, all of one graph.
///
/// # Safety
/// `handles` must be null or hold `count` handles.
unsafe fn nodes_of(
    graph: &Graph,
    handles: *const hipGraphNode_t,
    count: usize,
) -> HipResult<Vec<Arc<Node>>> {
    // SAFETY: as the caller promises.
    let nodes = unsafe { graph::node_list(handles, count)? };
    if nodes
        .iter()
        .any(|node| graph.neighbours(node, true).is_none())
    {
        return fail!(
            hipErrorInvalidValue,
            "a dependency is a node of another graph"
        );
    }
    Ok(nodes)
}

/// Begins to capture into a graph, after nodes of it.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamBeginCaptureToGraph(
    stream: hipStream_t,
    graph: hipGraph_t,
    dependencies: *const hipGraphNode_t,
    dependencyData: *const c_void,
    numDependencies: usize,
    mode: hipStreamCaptureMode,
) -> hipError_t {
    if !dependencyData.is_null() {
        return fail!(hipErrorInvalidValue, "edge data are not supported");
    }
    let graph = graph::find(graph)?;
    // SAFETY: as the caller promises.
    let nodes = unsafe { nodes_of(&graph, dependencies, numDependencies)? };
    begin(stream, mode, Some((graph, nodes)))
}

/// Ends a capture and gives its graph.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamEndCapture(
    stream: hipStream_t,
    pGraph: *mut hipGraph_t,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { end_capture(stream, pGraph) }
}

/// Ends a capture, with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamEndCapture_spt(
    stream: hipStream_t,
    pGraph: *mut hipGraph_t,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { end_capture(per_thread::own(stream), pGraph) }
}

/// What there is to know of a stream's capture.
#[derive(Clone, Copy, Debug)]
struct Places {
    status: *mut hipStreamCaptureStatus,
    id: *mut u64,
    graph: *mut hipGraph_t,
    dependencies: *mut *const hipGraphNode_t,
    count: *mut usize,
}

/// # Safety
/// Each place must be null or valid.
unsafe fn info(handle: hipStream_t, places: Places) -> HipResult {
    if places.status.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the status");
    }
    let stream = stream::find(handle)?;
    let capture = capture_of(&stream);
    if capture.is_none() && stream.null && capture::is_any_blocking() {
        return fail!(
            hipErrorStreamCaptureImplicit,
            "the null stream is asked while a stream that synchronises with it captures"
        );
    }
    let status = match &capture {
        None => hipStreamCaptureStatusNone,
        Some(capture) if capture.is_invalidated() => hipStreamCaptureStatusInvalidated,
        Some(_) => hipStreamCaptureStatusActive,
    };
    // SAFETY: not null, or checked below; as the caller promises.
    unsafe { places.status.write(status) };
    let Some(capture) = capture.filter(|_| status == hipStreamCaptureStatusActive) else {
        return Ok(());
    };
    let graph = capture.graph.handle()?;
    // SAFETY: as above. The array of handles lives until the stream's part changes it at the next call of this function.
    unsafe {
        if !places.id.is_null() {
            places.id.write(capture.id);
        }
        if !places.graph.is_null() {
            places.graph.write(graph);
        }
        capture.with_part(stream.queue.id(), |part| {
            part.handles = part.dependencies.iter().map(|node| node.handle()).collect();
            if !places.dependencies.is_null() {
                places.dependencies.write(part.handles.as_ptr());
            }
            if !places.count.is_null() {
                places.count.write(part.handles.len());
            }
        });
    }
    Ok(())
}

fn status_only(status: *mut hipStreamCaptureStatus, id: *mut u64) -> Places {
    Places {
        status,
        id,
        graph: std::ptr::null_mut(),
        dependencies: std::ptr::null_mut(),
        count: std::ptr::null_mut(),
    }
}

/// Whether a stream captures.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamIsCapturing(
    stream: hipStream_t,
    pCaptureStatus: *mut hipStreamCaptureStatus,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { info(stream, status_only(pCaptureStatus, std::ptr::null_mut())) }
}

/// Whether a stream captures, with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamIsCapturing_spt(
    stream: hipStream_t,
    pCaptureStatus: *mut hipStreamCaptureStatus,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe {
        info(
            per_thread::own(stream),
            status_only(pCaptureStatus, std::ptr::null_mut()),
        )
    }
}

/// Tells about a stream's capture.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamGetCaptureInfo(
    stream: hipStream_t,
    pCaptureStatus: *mut hipStreamCaptureStatus,
    pId: *mut u64,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { info(stream, status_only(pCaptureStatus, pId)) }
}

/// Tells about a stream's capture, with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamGetCaptureInfo_spt(
    stream: hipStream_t,
    pCaptureStatus: *mut hipStreamCaptureStatus,
    pId: *mut u64,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { info(per_thread::own(stream), status_only(pCaptureStatus, pId)) }
}

/// Tells about a stream's capture, its graph and the nodes that the next one comes after.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamGetCaptureInfo_v2(
    stream: hipStream_t,
    captureStatus_out: *mut hipStreamCaptureStatus,
    id_out: *mut u64,
    graph_out: *mut hipGraph_t,
    dependencies_out: *mut *const hipGraphNode_t,
    numDependencies_out: *mut usize,
) -> hipError_t {
    let places = Places {
        status: captureStatus_out,
        id: id_out,
        graph: graph_out,
        dependencies: dependencies_out,
        count: numDependencies_out,
    };
    // SAFETY: as the caller promises.
    unsafe { info(stream, places) }
}

/// As `hipStreamGetCaptureInfo_v2`, with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamGetCaptureInfo_v2_spt(
    stream: hipStream_t,
    captureStatus_out: *mut hipStreamCaptureStatus,
    id_out: *mut u64,
    graph_out: *mut hipGraph_t,
    dependencies_out: *mut *const hipGraphNode_t,
    numDependencies_out: *mut usize,
) -> hipError_t {
    let places = Places {
        status: captureStatus_out,
        id: id_out,
        graph: graph_out,
        dependencies: dependencies_out,
        count: numDependencies_out,
    };
    // SAFETY: as the caller promises.
    unsafe { info(per_thread::own(stream), places) }
}

/// Changes the nodes that a capturing stream's next node comes after: adds to them (flags 0), or replaces them (1).
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamUpdateCaptureDependencies(
    stream: hipStream_t,
    dependencies: *mut hipGraphNode_t,
    numDependencies: usize,
    flags: u32,
) -> hipError_t {
    const ADD: u32 = 0;
    const SET: u32 = 1;
    let found = stream::find(stream)?;
    let Some(capture) = capture_of(&found) else {
        return fail!(hipErrorIllegalState, "the stream does not capture");
    };
    if capture.is_invalidated() {
        return fail!(hipErrorStreamCaptureInvalidated, "the capture has failed");
    }
    if flags != ADD && flags != SET {
        return fail!(
            hipErrorInvalidValue,
            "flags {flags:#x}: must be hipStreamAddCaptureDependencies (0) or hipStreamSetCaptureDependencies (1)"
        );
    }
    // SAFETY: as the caller promises.
    let nodes = unsafe { nodes_of(&capture.graph, dependencies, numDependencies)? };
    capture.with_part(found.queue.id(), |part| {
        if flags == SET {
            part.dependencies.clear();
        }
        for node in nodes {
            if !part.dependencies.iter().any(|known| known.id == node.id) {
                part.dependencies.push(node);
            }
        }
    });
    Ok(())
}

/// Exchanges the calling thread's capture mode.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipThreadExchangeStreamCaptureMode(
    mode: *mut hipStreamCaptureMode,
) -> hipError_t {
    if mode.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the mode");
    }
    // SAFETY: not null; the caller promises a valid place.
    let wanted = unsafe { mode.read() };
    if wanted > hipStreamCaptureModeRelaxed {
        return fail!(hipErrorInvalidValue, "capture mode {wanted} does not exist");
    }
    // SAFETY: as above.
    unsafe { mode.write(capture::exchange_mode(wanted)) };
    Ok(())
}
