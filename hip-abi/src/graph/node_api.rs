//! The other nodes: empty, host, child graph, event, memory, batches of value operations.

use std::{ffi::c_void, sync::Arc};

use gneiss_hip_abi_macros::hip_api;

use super::{
    allocation::{self, Allocation, Counters},
    exec,
    memory_api::{set, set_exec},
    operation::{EventNode, HostNode, Operation, ValueOperation},
    structure_api::{add, give},
    types::*,
};
use crate::{error::*, fail, runtime, stream_operation, types::*};

fn wrong<T>(operation: &Operation, wanted: &str) -> HipResult<T> {
    fail!(
        hipErrorInvalidValue,
        "the node is no {wanted} node but {}",
        operation.word()
    )
}

/// Adds a node that does nothing.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphAddEmptyNode(
    pGraphNode: *mut hipGraphNode_t,
    graph: hipGraph_t,
    pDependencies: *const hipGraphNode_t,
    numDependencies: usize,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe {
        add(pGraphNode, graph, pDependencies, numDependencies, || {
            Ok(Operation::Empty)
        })
    }
}

/// A host function.
///
/// # Safety
/// `params` must be null or a valid record.
pub(crate) unsafe fn host(params: *const hipHostNodeParams) -> HipResult<Operation> {
    if params.is_null() {
        return fail!(hipErrorInvalidValue, "no parameters of the host node");
    }
    // SAFETY: not null; as the caller promises.
    let params = unsafe { params.read() };
    let Some(function) = params.r#fn else {
        return fail!(hipErrorInvalidValue, "the host node has no function");
    };
    Ok(Operation::Host(HostNode {
        function,
        data: params.userData.expose_provenance(),
    }))
}

/// Adds a host node.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphAddHostNode(
    pGraphNode: *mut hipGraphNode_t,
    graph: hipGraph_t,
    pDependencies: *const hipGraphNode_t,
    numDependencies: usize,
    pNodeParams: *const hipHostNodeParams,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe {
        add(pGraphNode, graph, pDependencies, numDependencies, || {
            host(pNodeParams)
        })
    }
}

/// Gives a host node's parameters.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphHostNodeGetParams(
    node: hipGraphNode_t,
    pNodeParams: *mut hipHostNodeParams,
) -> hipError_t {
    let operation = super::node(node)?.operation();
    let Operation::Host(host) = operation else {
        return wrong(&operation, "host");
    };
    let params = hipHostNodeParams {
        r#fn: Some(host.function),
        userData: std::ptr::with_exposed_provenance_mut(host.data),
    };
    // SAFETY: as the caller promises.
    unsafe { give(pNodeParams, params) }
}

/// Changes a host node.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphHostNodeSetParams(
    node: hipGraphNode_t,
    pNodeParams: *const hipHostNodeParams,
) -> hipError_t {
    // SAFETY: as the caller promises.
    set(node, unsafe { host(pNodeParams)? })
}

/// Changes a host node in an executable graph.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphExecHostNodeSetParams(
    hGraphExec: hipGraphExec_t,
    node: hipGraphNode_t,
    pNodeParams: *const hipHostNodeParams,
) -> hipError_t {
    // SAFETY: as the caller promises.
    set_exec(hGraphExec, node, unsafe { host(pNodeParams)? })
}

/// Adds a node that runs a copy of another graph.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphAddChildGraphNode(
    pGraphNode: *mut hipGraphNode_t,
    graph: hipGraph_t,
    pDependencies: *const hipGraphNode_t,
    numDependencies: usize,
    childGraph: hipGraph_t,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe {
        add(pGraphNode, graph, pDependencies, numDependencies, || {
            Ok(Operation::Graph(super::find(childGraph)?.copy(true)?))
        })
    }
}

/// Gives the graph that a child graph node runs.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphChildGraphNodeGetGraph(
    node: hipGraphNode_t,
    pGraph: *mut hipGraph_t,
) -> hipError_t {
    let operation = super::node(node)?.operation();
    let Operation::Graph(graph) = operation else {
        return wrong(&operation, "child graph");
    };
    let handle = graph.handle()?;
    // SAFETY: as the caller promises.
    unsafe { give(pGraph, handle) }
}

/// Changes what a child graph node of an executable graph runs; the shape must stay.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphExecChildGraphNodeSetParams(
    hGraphExec: hipGraphExec_t,
    node: hipGraphNode_t,
    childGraph: hipGraph_t,
) -> hipError_t {
    set_exec(hGraphExec, node, Operation::Graph(super::find(childGraph)?))
}

/// Adds a node that records an event.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphAddEventRecordNode(
    pGraphNode: *mut hipGraphNode_t,
    graph: hipGraph_t,
    pDependencies: *const hipGraphNode_t,
    numDependencies: usize,
    event: hipEvent_t,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe {
        add(pGraphNode, graph, pDependencies, numDependencies, || {
            EventNode::new(event).map(Operation::Record)
        })
    }
}

/// Gives the event that a node records.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphEventRecordNodeGetEvent(
    node: hipGraphNode_t,
    event_out: *mut hipEvent_t,
) -> hipError_t {
    let operation = super::node(node)?.operation();
    let Operation::Record(event) = operation else {
        return wrong(&operation, "event record");
    };
    // SAFETY: as the caller promises.
    unsafe { give(event_out, std::ptr::without_provenance_mut(event.handle)) }
}

/// Changes the event that a node records.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphEventRecordNodeSetEvent(
    node: hipGraphNode_t,
    event: hipEvent_t,
) -> hipError_t {
    set(node, Operation::Record(EventNode::new(event)?))
}

/// Changes the event that a node of an executable graph records.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphExecEventRecordNodeSetEvent(
    hGraphExec: hipGraphExec_t,
    hNode: hipGraphNode_t,
    event: hipEvent_t,
) -> hipError_t {
    set_exec(hGraphExec, hNode, Operation::Record(EventNode::new(event)?))
}

/// Adds a node that waits for an event.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphAddEventWaitNode(
    pGraphNode: *mut hipGraphNode_t,
    graph: hipGraph_t,
    pDependencies: *const hipGraphNode_t,
    numDependencies: usize,
    event: hipEvent_t,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe {
        add(pGraphNode, graph, pDependencies, numDependencies, || {
            EventNode::new(event).map(Operation::Wait)
        })
    }
}

/// Gives the event that a node waits for.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphEventWaitNodeGetEvent(
    node: hipGraphNode_t,
    event_out: *mut hipEvent_t,
) -> hipError_t {
    let operation = super::node(node)?.operation();
    let Operation::Wait(event) = operation else {
        return wrong(&operation, "event wait");
    };
    // SAFETY: as the caller promises.
    unsafe { give(event_out, std::ptr::without_provenance_mut(event.handle)) }
}

/// Changes the event that a node waits for.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphEventWaitNodeSetEvent(
    node: hipGraphNode_t,
    event: hipEvent_t,
) -> hipError_t {
    set(node, Operation::Wait(EventNode::new(event)?))
}

/// Changes the event that a node of an executable graph waits for.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphExecEventWaitNodeSetEvent(
    hGraphExec: hipGraphExec_t,
    hNode: hipGraphNode_t,
    event: hipEvent_t,
) -> hipError_t {
    set_exec(hGraphExec, hNode, Operation::Wait(EventNode::new(event)?))
}

/// Adds a node that allocates memory, and gives the address.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphAddMemAllocNode(
    pGraphNode: *mut hipGraphNode_t,
    graph: hipGraph_t,
    pDependencies: *const hipGraphNode_t,
    numDependencies: usize,
    pNodeParams: *mut hipMemAllocNodeParams,
) -> hipError_t {
    if pNodeParams.is_null() {
        return fail!(hipErrorInvalidValue, "no parameters of the allocation node");
    }
    // SAFETY: not null; the caller promises a valid record and places.
    unsafe {
        let params = pNodeParams.read();
        add(pGraphNode, graph, pDependencies, numDependencies, || {
            let allocation = Allocation::new(params)?;
            (*pNodeParams).dptr = allocation.params().dptr;
            Ok(Operation::Allocate(allocation))
        })
    }
}

/// Gives an allocation node's parameters.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphMemAllocNodeGetParams(
    node: hipGraphNode_t,
    pNodeParams: *mut hipMemAllocNodeParams,
) -> hipError_t {
    let operation = super::node(node)?.operation();
    let Operation::Allocate(allocation) = operation else {
        return wrong(&operation, "allocation");
    };
    // SAFETY: as the caller promises.
    unsafe { give(pNodeParams, allocation.params()) }
}

/// A free node's operation.
fn free(address: *mut c_void) -> HipResult<Operation> {
    if allocation::find(address.addr()).is_none() {
        return fail!(
            hipErrorInvalidValue,
            "{address:p} is not memory that a graph allocates"
        );
    }
    Ok(Operation::Free(address.addr()))
}

/// Adds a node that frees memory which a graph allocated.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphAddMemFreeNode(
    pGraphNode: *mut hipGraphNode_t,
    graph: hipGraph_t,
    pDependencies: *const hipGraphNode_t,
    numDependencies: usize,
    dev_ptr: *mut c_void,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe {
        add(pGraphNode, graph, pDependencies, numDependencies, || {
            free(dev_ptr)
        })
    }
}

/// Adds a node that frees memory which a graph allocated.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDrvGraphAddMemFreeNode(
    phGraphNode: *mut hipGraphNode_t,
    hGraph: hipGraph_t,
    dependencies: *const hipGraphNode_t,
    numDependencies: usize,
    dptr: hipDeviceptr_t,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe {
        add(phGraphNode, hGraph, dependencies, numDependencies, || {
            free(dptr)
        })
    }
}

/// Gives the address that a free node frees.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphMemFreeNodeGetParams(
    node: hipGraphNode_t,
    dev_ptr: *mut c_void,
) -> hipError_t {
    let operation = super::node(node)?.operation();
    let Operation::Free(address) = operation else {
        return wrong(&operation, "free");
    };
    // SAFETY: as the caller promises: a place for a pointer.
    unsafe {
        give(
            dev_ptr.cast::<*mut c_void>(),
            std::ptr::with_exposed_provenance_mut(address),
        )
    }
}

/// Gives the bytes that graphs use or reserve on a device, now or at most.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetGraphMemAttribute(
    device: i32,
    attr: u32,
    value: *mut c_void,
) -> hipError_t {
    let ordinal = runtime::device(device)?.ordinal;
    let (counter, _) = Counters::of(ordinal, attr)?;
    let bytes = counter.load(std::sync::atomic::Ordering::Relaxed);
    // SAFETY: as the caller promises: a place for 64 bits.
    unsafe { give(value.cast::<u64>(), bytes) }
}

/// Resets a high mark to 0.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceSetGraphMemAttribute(
    device: i32,
    attr: u32,
    value: *mut c_void,
) -> hipError_t {
    let ordinal = runtime::device(device)?.ordinal;
    let (counter, high) = Counters::of(ordinal, attr)?;
    // SAFETY: the caller promises a 64-bit value, unless it is null.
    let wanted = unsafe { value.cast::<u64>().as_ref() };
    if !high || wanted != Some(&0) {
        return fail!(
            hipErrorInvalidValue,
            "only the high marks can be set, and only to 0"
        );
    }
    counter.store(0, std::sync::atomic::Ordering::Relaxed);
    Ok(())
}

/// Gives memory back that graphs keep without need: there is none, since memory goes with its last graph.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGraphMemTrim(device: i32) -> hipError_t {
    runtime::device(device).map(drop)
}

/// A batch node's operation.
///
/// # Safety
/// `params` must be null or a valid record.
pub(crate) unsafe fn batch(params: *const hipBatchMemOpNodeParams) -> HipResult<Operation> {
    if params.is_null() {
        return fail!(hipErrorInvalidValue, "no parameters of the batch node");
    }
    // SAFETY: not null; as the caller promises.
    let values = unsafe {
        let params = params.read();
        stream_operation::batch(params.paramArray, params.count, params.flags)?
    };
    Ok(Operation::Values(values))
}

/// Adds a node that runs a batch of operations on values in memory.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphAddBatchMemOpNode(
    phGraphNode: *mut hipGraphNode_t,
    hGraph: hipGraph_t,
    dependencies: *const hipGraphNode_t,
    numDependencies: usize,
    nodeParams: *const hipBatchMemOpNodeParams,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe {
        add(phGraphNode, hGraph, dependencies, numDependencies, || {
            batch(nodeParams)
        })
    }
}

/// Gives a batch node's operations: as many as the record's array has room for.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphBatchMemOpNodeGetParams(
    hNode: hipGraphNode_t,
    nodeParams_out: *mut hipBatchMemOpNodeParams,
) -> hipError_t {
    let operation = super::node(hNode)?.operation();
    let Operation::Values(values) = operation else {
        return wrong(&operation, "batch");
    };
    if nodeParams_out.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the parameters");
    }
    let records: Arc<[hipStreamBatchMemOpParams]> =
        values.iter().map(ValueOperation::record).collect();
    // SAFETY: not null; the caller promises a valid record, whose array, if there is one, has room for `count`.
    unsafe {
        let params = &mut *nodeParams_out;
        if !params.paramArray.is_null() {
            for (index, record) in records.iter().take(params.count as usize).enumerate() {
                params.paramArray.add(index).write(*record);
            }
        }
        params.ctx = std::ptr::null_mut();
        params.count = records.len() as u32;
        params.flags = 0;
    }
    Ok(())
}

/// Changes a batch node.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphBatchMemOpNodeSetParams(
    hNode: hipGraphNode_t,
    nodeParams: *mut hipBatchMemOpNodeParams,
) -> hipError_t {
    // SAFETY: as the caller promises.
    set(hNode, unsafe { batch(nodeParams)? })
}

/// Changes a batch node in an executable graph.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphExecBatchMemOpNodeSetParams(
    hGraphExec: hipGraphExec_t,
    hNode: hipGraphNode_t,
    nodeParams: *const hipBatchMemOpNodeParams,
) -> hipError_t {
    // SAFETY: as the caller promises.
    set_exec(hGraphExec, hNode, unsafe { batch(nodeParams)? })
}

/// Whether launches of an executable graph run a node.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphNodeGetEnabled(
    hGraphExec: hipGraphExec_t,
    hNode: hipGraphNode_t,
    isEnabled: *mut u32,
) -> hipError_t {
    if isEnabled.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the answer");
    }
    let enabled = exec::find(hGraphExec)?.enabled(super::node(hNode)?.id, None)?;
    // SAFETY: not null; the caller promises a valid place.
    unsafe { give(isEnabled, u32::from(enabled)) }
}

/// Leaves a kernel, copy or fill node out of an executable graph's launches, or takes it in again.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphNodeSetEnabled(
    hGraphExec: hipGraphExec_t,
    hNode: hipGraphNode_t,
    isEnabled: u32,
) -> hipError_t {
    exec::find(hGraphExec)?
        .enabled(super::node(hNode)?.id, Some(isEnabled != 0))
        .map(drop)
}
