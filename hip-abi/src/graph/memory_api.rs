//! Copy and fill nodes.

use std::ffi::c_void;

use gneiss_hip_abi_macros::hip_api;

use super::{
    exec,
    operation::{CopyForm, CopyNode, FillNode, Operation, copy_3d},
    structure_api::{add, give},
    types::*,
};
use crate::{
    copy_driver,
    copy_rect::{self, pitch_as_value},
    enums::*,
    error::*,
    fail, registration, runtime,
    types::*,
};

/// A linear copy.
fn linear(
    dst: *mut c_void,
    src: *const c_void,
    count: usize,
    kind: hipMemcpyKind,
) -> HipResult<Operation> {
    if dst.is_null() || src.is_null() || count == 0 {
        return fail!(
            hipErrorInvalidValue,
            "a copy node of {count} bytes from {src:p} to {dst:p}"
        );
    }
    let copy = CopyNode {
        dst: dst.expose_provenance(),
        src: src.expose_provenance(),
        size: count,
        kind,
        form: CopyForm::Linear,
    };
    copy.check_strictly()?;
    Ok(Operation::Copy(copy))
}

/// A copy to or from a variable of the current device.
pub(crate) fn symbol(
    to: bool,
    symbol: *const c_void,
    other: *const c_void,
    count: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> HipResult<Operation> {
    if other.is_null() || count == 0 {
        return fail!(
            hipErrorInvalidValue,
            "a copy node of {count} bytes with memory {other:p}"
        );
    }
    if symbol.is_null() {
        return fail!(hipErrorInvalidSymbol, "no variable");
    }
    let allowed = if to {
        matches!(
            kind,
            hipMemcpyHostToDevice | hipMemcpyDeviceToDevice | hipMemcpyDefault
        )
    } else {
        matches!(
            kind,
            hipMemcpyDeviceToHost | hipMemcpyDeviceToDevice | hipMemcpyDefault
        )
    };
    if !allowed {
        return fail!(
            hipErrorInvalidMemcpyDirection,
            "copy kind {kind} does not fit a device variable"
        );
    }
    let (address, length) = registration::variable(symbol, runtime::current()?)?;
    if offset.checked_add(count).is_none_or(|end| end > length) {
        return fail!(
            hipErrorInvalidValue,
            "{count} bytes at offset {offset} go past the variable's {length}"
        );
    }
    let (variable, other) = (address as usize + offset, other.expose_provenance());
    let symbol = symbol.expose_provenance();
    let copy = if to {
        CopyNode {
            dst: variable,
            src: other,
            size: count,
            kind,
            form: CopyForm::ToSymbol(symbol, offset),
        }
    } else {
        CopyNode {
            dst: other,
            src: variable,
            size: count,
            kind,
            form: CopyForm::FromSymbol(symbol, offset),
        }
    };
    copy.check_strictly()?;
    Ok(Operation::Copy(copy))
}

/// A fill.
///
/// # Safety
/// `params` must be null or a valid record.
pub(crate) unsafe fn fill(params: *const hipMemsetParams) -> HipResult<Operation> {
    if params.is_null() {
        return fail!(hipErrorInvalidValue, "no parameters of the fill node");
    }
    // SAFETY: not null; as the caller promises.
    let params = unsafe { params.read() };
    Ok(Operation::Fill(FillNode {
        params,
        slices: (params.height, 1),
    }))
}

fn is_copy(operation: &Operation) -> HipResult {
    match operation {
        Operation::Copy(_) | Operation::CopyRect(_) => Ok(()),
        other => fail!(
            hipErrorInvalidValue,
            "the node is no copy node but {}",
            other.word()
        ),
    }
}

fn is_fill(operation: &Operation) -> HipResult<FillNode> {
    match operation {
        Operation::Fill(fill) => Ok(*fill),
        other => fail!(
            hipErrorInvalidValue,
            "the node is no fill node but {}",
            other.word()
        ),
    }
}

/// Changes a node.
pub(crate) fn set(node: hipGraphNode_t, operation: Operation) -> HipResult {
    let node = super::node(node)?;
    if !node.operation().same_sort(&operation) {
        return fail!(
            hipErrorInvalidValue,
            "the node is no {} but {}",
            operation.word(),
            node.operation().word()
        );
    }
    operation.check()?;
    node.set_operation(operation);
    Ok(())
}

/// Changes a node of an executable graph.
pub(crate) fn set_exec(
    exec: hipGraphExec_t,
    node: hipGraphNode_t,
    operation: Operation,
) -> HipResult {
    let (exec, node) = (exec::find(exec)?, super::node(node)?);
    operation.check()?;
    exec.set(node.id, operation)
}

/// Adds a copy node of up to three dimensions.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphAddMemcpyNode(
    pGraphNode: *mut hipGraphNode_t,
    graph: hipGraph_t,
    pDependencies: *const hipGraphNode_t,
    numDependencies: usize,
    pCopyParams: *const hipMemcpy3DParms,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe {
        add(pGraphNode, graph, pDependencies, numDependencies, || {
            copy_3d(pCopyParams)
        })
    }
}

/// Gives a copy node's parameters; a linear copy as one row.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphMemcpyNodeGetParams(
    node: hipGraphNode_t,
    pNodeParams: *mut hipMemcpy3DParms,
) -> hipError_t {
    let params = match super::node(node)?.operation() {
        Operation::CopyRect(copy) => copy.params,
        Operation::Copy(copy) => {
            let plane = |address| {
                copy_rect::Plane::new(std::ptr::with_exposed_provenance_mut(address), copy.size, 1)
            };
            super::operation::CopyRectNode::from_planes(
                plane(copy.dst),
                plane(copy.src),
                [copy.size, 1, 1],
                copy.kind,
            )
            .params
        }
        other => {
            is_copy(&other)?;
            return Err(hipErrorInvalidValue);
        }
    };
    // SAFETY: as the caller promises.
    unsafe { give(pNodeParams, params) }
}

/// Changes a copy node.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphMemcpyNodeSetParams(
    node: hipGraphNode_t,
    pNodeParams: *const hipMemcpy3DParms,
) -> hipError_t {
    // SAFETY: as the caller promises.
    set(node, unsafe { copy_3d(pNodeParams)? })
}

/// Changes a copy node in an executable graph.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphExecMemcpyNodeSetParams(
    hGraphExec: hipGraphExec_t,
    node: hipGraphNode_t,
    pNodeParams: *mut hipMemcpy3DParms,
) -> hipError_t {
    // SAFETY: as the caller promises.
    set_exec(hGraphExec, node, unsafe { copy_3d(pNodeParams)? }).map_err(pitch_as_value)
}

/// Adds a linear copy node.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphAddMemcpyNode1D(
    pGraphNode: *mut hipGraphNode_t,
    graph: hipGraph_t,
    pDependencies: *const hipGraphNode_t,
    numDependencies: usize,
    dst: *mut c_void,
    src: *const c_void,
    count: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe {
        add(pGraphNode, graph, pDependencies, numDependencies, || {
            linear(dst, src, count, kind)
        })
    }
}

/// Makes a copy node linear, or changes it.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphMemcpyNodeSetParams1D(
    node: hipGraphNode_t,
    dst: *mut c_void,
    src: *const c_void,
    count: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    set(node, linear(dst, src, count, kind)?)
}

/// Changes a linear copy node in an executable graph.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphExecMemcpyNodeSetParams1D(
    hGraphExec: hipGraphExec_t,
    node: hipGraphNode_t,
    dst: *mut c_void,
    src: *const c_void,
    count: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    set_exec(hGraphExec, node, linear(dst, src, count, kind)?)
}

/// Adds a copy node from a variable.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphAddMemcpyNodeFromSymbol(
    pGraphNode: *mut hipGraphNode_t,
    graph: hipGraph_t,
    pDependencies: *const hipGraphNode_t,
    numDependencies: usize,
    dst: *mut c_void,
    symbol: *const c_void,
    count: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe {
        add(pGraphNode, graph, pDependencies, numDependencies, || {
            self::symbol(false, symbol, dst, count, offset, kind)
        })
    }
}

/// Changes a copy node to one from a variable.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphMemcpyNodeSetParamsFromSymbol(
    node: hipGraphNode_t,
    dst: *mut c_void,
    symbol: *const c_void,
    count: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    set(node, self::symbol(false, symbol, dst, count, offset, kind)?)
}

/// Changes a copy node in an executable graph to one from a variable.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphExecMemcpyNodeSetParamsFromSymbol(
    hGraphExec: hipGraphExec_t,
    node: hipGraphNode_t,
    dst: *mut c_void,
    symbol: *const c_void,
    count: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    set_exec(
        hGraphExec,
        node,
        self::symbol(false, symbol, dst, count, offset, kind)?,
    )
}

/// Adds a copy node to a variable.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphAddMemcpyNodeToSymbol(
    pGraphNode: *mut hipGraphNode_t,
    graph: hipGraph_t,
    pDependencies: *const hipGraphNode_t,
    numDependencies: usize,
    symbol: *const c_void,
    src: *const c_void,
    count: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe {
        add(pGraphNode, graph, pDependencies, numDependencies, || {
            self::symbol(true, symbol, src, count, offset, kind)
        })
    }
}

/// Changes a copy node to one to a variable.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphMemcpyNodeSetParamsToSymbol(
    node: hipGraphNode_t,
    symbol: *const c_void,
    src: *const c_void,
    count: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    set(node, self::symbol(true, symbol, src, count, offset, kind)?)
}

/// Changes a copy node in an executable graph to one to a variable.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphExecMemcpyNodeSetParamsToSymbol(
    hGraphExec: hipGraphExec_t,
    node: hipGraphNode_t,
    symbol: *const c_void,
    src: *const c_void,
    count: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    set_exec(
        hGraphExec,
        node,
        self::symbol(true, symbol, src, count, offset, kind)?,
    )
}

/// Adds a fill node.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphAddMemsetNode(
    pGraphNode: *mut hipGraphNode_t,
    graph: hipGraph_t,
    pDependencies: *const hipGraphNode_t,
    numDependencies: usize,
    pMemsetParams: *const hipMemsetParams,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe {
        add(pGraphNode, graph, pDependencies, numDependencies, || {
            fill(pMemsetParams)
        })
    }
}

/// Gives a fill node's parameters.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphMemsetNodeGetParams(
    node: hipGraphNode_t,
    pNodeParams: *mut hipMemsetParams,
) -> hipError_t {
    let params = is_fill(&super::node(node)?.operation())?.params;
    // SAFETY: as the caller promises.
    unsafe { give(pNodeParams, params) }
}

/// Changes a fill node.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphMemsetNodeSetParams(
    node: hipGraphNode_t,
    pNodeParams: *const hipMemsetParams,
) -> hipError_t {
    // SAFETY: as the caller promises.
    set(node, unsafe { fill(pNodeParams)? })
}

/// Changes a fill node in an executable graph.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphExecMemsetNodeSetParams(
    hGraphExec: hipGraphExec_t,
    node: hipGraphNode_t,
    pNodeParams: *const hipMemsetParams,
) -> hipError_t {
    // SAFETY: as the caller promises.
    set_exec(hGraphExec, node, unsafe { fill(pNodeParams)? })
}

/// A fill from the driver API's record.
///
/// # Safety
/// `params` must be null or a valid record.
unsafe fn driver_fill(params: *const HIP_MEMSET_NODE_PARAMS) -> HipResult<Operation> {
    if params.is_null() {
        return fail!(hipErrorInvalidValue, "no parameters of the fill node");
    }
    // SAFETY: not null; as the caller promises.
    let params = unsafe { params.read() };
    let same = hipMemsetParams {
        dst: params.dst,
        elementSize: params.elementSize,
        height: params.height,
        pitch: params.pitch,
        value: params.value,
        width: params.width,
    };
    // SAFETY: a valid record.
    unsafe { fill(&raw const same) }
}

/// Adds a copy node of the driver API.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDrvGraphAddMemcpyNode(
    phGraphNode: *mut hipGraphNode_t,
    hGraph: hipGraph_t,
    dependencies: *const hipGraphNode_t,
    numDependencies: usize,
    copyParams: *const HIP_MEMCPY3D,
    ctx: hipCtx_t,
) -> hipError_t {
    let _ = ctx;
    // SAFETY: as the caller promises.
    unsafe {
        add(phGraphNode, hGraph, dependencies, numDependencies, || {
            copy_driver::driver_operation(copyParams)
        })
    }
    .map_err(pitch_as_value)
}

/// Gives a copy node's parameters as the driver API's record.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDrvGraphMemcpyNodeGetParams(
    hNode: hipGraphNode_t,
    nodeParams: *mut HIP_MEMCPY3D,
) -> hipError_t {
    let Operation::CopyRect(copy) = super::node(hNode)?.operation() else {
        return fail!(
            hipErrorInvalidValue,
            "the node is no copy node of three dimensions"
        );
    };
    // SAFETY: as the caller promises.
    unsafe { give(nodeParams, copy_driver::driver_record(&copy)) }
}

/// Changes a copy node as the driver API's record says.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDrvGraphMemcpyNodeSetParams(
    hNode: hipGraphNode_t,
    nodeParams: *const HIP_MEMCPY3D,
) -> hipError_t {
    // SAFETY: as the caller promises.
    set(hNode, unsafe { copy_driver::driver_operation(nodeParams)? })
}

/// Changes a copy node in an executable graph as the driver API's record says.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDrvGraphExecMemcpyNodeSetParams(
    hGraphExec: hipGraphExec_t,
    hNode: hipGraphNode_t,
    copyParams: *const HIP_MEMCPY3D,
    ctx: hipCtx_t,
) -> hipError_t {
    let _ = ctx;
    // SAFETY: as the caller promises.
    set_exec(hGraphExec, hNode, unsafe {
        copy_driver::driver_operation(copyParams)?
    })
}

/// Adds a fill node of the driver API.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDrvGraphAddMemsetNode(
    phGraphNode: *mut hipGraphNode_t,
    hGraph: hipGraph_t,
    dependencies: *const hipGraphNode_t,
    numDependencies: usize,
    memsetParams: *const HIP_MEMSET_NODE_PARAMS,
    ctx: hipCtx_t,
) -> hipError_t {
    let _ = ctx;
    // SAFETY: as the caller promises.
    unsafe {
        add(phGraphNode, hGraph, dependencies, numDependencies, || {
            driver_fill(memsetParams)
        })
    }
}

/// Changes a fill node in an executable graph as the driver API's record says.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDrvGraphExecMemsetNodeSetParams(
    hGraphExec: hipGraphExec_t,
    hNode: hipGraphNode_t,
    memsetParams: *const HIP_MEMSET_NODE_PARAMS,
    ctx: hipCtx_t,
) -> hipError_t {
    let _ = ctx;
    // SAFETY: as the caller promises.
    set_exec(hGraphExec, hNode, unsafe { driver_fill(memsetParams)? })
}
