//! Taking a changed graph over into an executable graph.

use gneiss_hip_abi_macros::hip_api;

use super::{
    exec::{self, UPDATE_SUCCESS},
    types::*,
};
use crate::{error::*, fail};

/// Takes over the operations of a graph of the same shape.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphExecUpdate(
    hGraphExec: hipGraphExec_t,
    hGraph: hipGraph_t,
    hErrorNode_out: *mut hipGraphNode_t,
    updateResult_out: *mut u32,
) -> hipError_t {
    if hErrorNode_out.is_null() || updateResult_out.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the result");
    }
    let (exec, graph) = (exec::find(hGraphExec)?, super::find(hGraph)?);
    let (node, result) = match exec.update(&graph) {
        Ok(()) => (None, UPDATE_SUCCESS),
        Err(difference) => (difference.node, difference.result),
    };
    let node = node.and_then(|id| graph.nodes().into_iter().find(|node| node.id == id));
    // SAFETY: not null; the caller promises valid places.
    unsafe {
        hErrorNode_out.write(node.map_or(std::ptr::null_mut(), |node| node.handle()));
        updateResult_out.write(result);
    }
    if result == UPDATE_SUCCESS {
        Ok(())
    } else {
        fail!(
            hipErrorGraphExecUpdateFailure,
            "the graph differs from the executable graph: hipGraphExecUpdate result {result}"
        )
    }
}
