//! Instantiating, launching and ending executable graphs.

use std::ffi::c_char;

use gneiss_hip_abi_macros::hip_api;

use super::{
    exec::{self, EXECS, Exec, KNOWN_FLAGS},
    operation::Operation,
    structure_api::give,
    types::*,
};
use crate::{
    capture,
    error::*,
    fail,
    stream::{self, resolve_or},
    types::hipStream_t,
};

/// Makes an executable graph.
///
/// # Safety
/// `out` must be null or a valid place.
unsafe fn instantiate(out: *mut hipGraphExec_t, graph: hipGraph_t, flags: u64) -> HipResult {
    if out.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the executable graph");
    }
    if flags & !KNOWN_FLAGS != 0 || flags.count_ones() > 1 {
        return fail!(
            hipErrorInvalidValue,
            "instantiation flags {flags:#x} are not known, or more than one"
        );
    }
    let handle = Exec::create(&*super::find(graph)?, flags)?;
    // SAFETY: not null; as the caller promises.
    unsafe { give(out, handle) }
}

/// Makes an executable graph from a graph as it is now.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphInstantiate(
    pGraphExec: *mut hipGraphExec_t,
    graph: hipGraph_t,
    pErrorNode: *mut hipGraphNode_t,
    pLogBuffer: *mut c_char,
    bufferSize: usize,
) -> hipError_t {
    // SAFETY: as the caller promises: places are null or valid, the buffer has that many bytes.
    unsafe {
        if !pErrorNode.is_null() {
            pErrorNode.write(std::ptr::null_mut());
        }
        if !pLogBuffer.is_null() && bufferSize > 0 {
            pLogBuffer.write(0);
        }
        instantiate(pGraphExec, graph, 0)
    }
}

/// Makes an executable graph, with flags.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphInstantiateWithFlags(
    pGraphExec: *mut hipGraphExec_t,
    graph: hipGraph_t,
    flags: u64,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe { instantiate(pGraphExec, graph, flags) }
}

/// Makes an executable graph as a record says, and tells in it what became of that.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphInstantiateWithParams(
    pGraphExec: *mut hipGraphExec_t,
    graph: hipGraph_t,
    instantiateParams: *mut hipGraphInstantiateParams,
) -> hipError_t {
    const SUCCESS: u32 = 0;
    const ERROR: u32 = 1;
    if instantiateParams.is_null() {
        return fail!(hipErrorInvalidValue, "no parameters of the instantiation");
    }
    // SAFETY: not null; the caller promises a valid record and place.
    unsafe {
        let flags = (*instantiateParams).flags;
        let made = instantiate(pGraphExec, graph, flags);
        (*instantiateParams).errNode_out = std::ptr::null_mut();
        (*instantiateParams).result_out = if made.is_ok() { SUCCESS } else { ERROR };
        made
    }
}

/// Gives the flags that an executable graph was made with.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphExecGetFlags(
    graphExec: hipGraphExec_t,
    flags: *mut u64,
) -> hipError_t {
    let value = exec::find(graphExec)?.flags;
    // SAFETY: as the caller promises.
    unsafe { give(flags, value) }
}

/// Launches an executable graph, or captures the launch.
pub(crate) fn launch(handle: hipGraphExec_t, stream: hipStream_t) -> HipResult {
    let exec = exec::find(handle)?;
    if let Some(capturing) = capture::of(stream)? {
        return capturing.add(Operation::Graph(exec.graph()?));
    }
    exec.launch(&resolve_or(stream, hipErrorInvalidValue)?)
}

/// Launches an executable graph in a stream.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphLaunch(
    graphExec: hipGraphExec_t,
    stream: hipStream_t,
) -> hipError_t {
    launch(graphExec, stream)
}

/// Launches an executable graph, with the thread's own stream as the default.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphLaunch_spt(
    graphExec: hipGraphExec_t,
    stream: hipStream_t,
) -> hipError_t {
    launch(graphExec, crate::per_thread::own(stream))
}

/// Prepares an executable graph, so that its first launch has nothing left to do for that.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphUpload(
    graphExec: hipGraphExec_t,
    stream: hipStream_t,
) -> hipError_t {
    let exec = exec::find(graphExec)?;
    stream::find(stream).map_err(|_| hipErrorInvalidValue)?;
    exec.prepare()
}

/// Ends an executable graph. Launches of it run to their end.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphExecDestroy(graphExec: hipGraphExec_t) -> hipError_t {
    let Some(exec) = EXECS.remove(graphExec.addr()) else {
        return fail!(
            hipErrorInvalidValue,
            "{:#x} is not a live executable graph",
            graphExec.addr()
        );
    };
    // Its memory and user objects stay until the last launch has ended.
    match exec.last() {
        Some(last) if !last.query().is_terminal() => last.on_complete(move |_| drop(exec)),
        _ => drop(exec),
    }
    Ok(())
}
