//! Kernel nodes.

use std::ffi::c_void;

use gneiss_hip_abi_macros::hip_api;

use super::{
    exec,
    operation::{KernelNode, Operation},
    structure_api::{add, give},
    types::*,
};
use crate::{
    error::*,
    fail,
    version::{Major, presented},
};

const ATTRIBUTE_ACCESS_POLICY: u32 = 1;
const ATTRIBUTE_COOPERATIVE: u32 = 2;
const ATTRIBUTE_PRIORITY: u32 = 8;

fn kernel(operation: Operation) -> HipResult<KernelNode> {
    match operation {
        Operation::Kernel(kernel) => Ok(kernel),
        other => fail!(
            hipErrorInvalidValue,
            "the node is no kernel node but {}",
            other.word()
        ),
    }
}

/// The operation of new parameters, with the attributes of the old ones.
///
/// # Safety
/// As [`KernelNode::from_params`].
unsafe fn changed(old: Operation, params: *const hipKernelNodeParams) -> HipResult<Operation> {
    let old = kernel(old)?;
    // SAFETY: as the caller promises.
    let new = unsafe { KernelNode::from_params(params)? };
    Ok(Operation::Kernel(KernelNode {
        cooperative: old.cooperative,
        priority: old.priority,
        access_policy: old.access_policy,
        ..new
    }))
}

/// Adds a kernel node. The arguments are copied.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphAddKernelNode(
    pGraphNode: *mut hipGraphNode_t,
    graph: hipGraph_t,
    pDependencies: *const hipGraphNode_t,
    numDependencies: usize,
    pNodeParams: *const hipKernelNodeParams,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe {
        add(pGraphNode, graph, pDependencies, numDependencies, || {
            KernelNode::from_params(pNodeParams).map(Operation::Kernel)
        })
    }
}

/// Gives a kernel node's parameters; the pointers are valid until the node changes.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphKernelNodeGetParams(
    node: hipGraphNode_t,
    pNodeParams: *mut hipKernelNodeParams,
) -> hipError_t {
    let params = kernel(super::node(node)?.operation())?.params();
    // SAFETY: as the caller promises.
    unsafe { give(pNodeParams, params) }
}

/// Changes a kernel node's parameters.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphKernelNodeSetParams(
    node: hipGraphNode_t,
    pNodeParams: *const hipKernelNodeParams,
) -> hipError_t {
    let node = super::node(node)?;
    // SAFETY: as the caller promises.
    node.set_operation(unsafe { changed(node.operation(), pNodeParams)? });
    Ok(())
}

/// Changes a kernel node's parameters in an executable graph.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphExecKernelNodeSetParams(
    hGraphExec: hipGraphExec_t,
    node: hipGraphNode_t,
    pNodeParams: *const hipKernelNodeParams,
) -> hipError_t {
    let (exec, node) = (exec::find(hGraphExec)?, super::node(node)?);
    // SAFETY: as the caller promises.
    let operation = unsafe { changed(exec.get(node.id)?, pNodeParams)? };
    exec.set(node.id, operation)
}

/// Reads an attribute of a kernel node.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphKernelNodeGetAttribute(
    hNode: hipGraphNode_t,
    attr: u32,
    value: *mut c_void,
) -> hipError_t {
    if value.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the attribute");
    }
    let kernel = kernel(super::node(hNode)?.operation())?;
    // SAFETY: not null; the caller promises a place for the attribute's union.
    unsafe {
        match attr {
            ATTRIBUTE_ACCESS_POLICY => value
                .cast::<[u64; 4]>()
                .write_unaligned(kernel.access_policy),
            ATTRIBUTE_COOPERATIVE => value.cast::<i32>().write(kernel.cooperative),
            ATTRIBUTE_PRIORITY => value.cast::<i32>().write(kernel.priority),
            _ => {
                return fail!(
                    hipErrorInvalidValue,
                    "kernel node attribute {attr} does not exist"
                );
            }
        }
    }
    Ok(())
}

/// Checks a window of access policy: address, property of hits with their ratio above it, property of misses, number of bytes. Devices here have
/// none (`hipDeviceAttributeAccessPolicyMaxWindowSize` is 0), so that it has no bytes.
fn access_policy(window: [u64; 4]) -> HipResult<[u64; 4]> {
    const PERSISTING: u32 = 2;
    let ratio = f32::from_bits((window[1] >> 32) as u32);
    if !(0.0..=1.0).contains(&ratio) || window[2] as u32 == PERSISTING || window[3] != 0 {
        return fail!(
            hipErrorInvalidValue,
            "a window of access policy of {} bytes, hit ratio {ratio}, miss property {}: the device has none, the ratio must be from 0 to 1, \
             and misses cannot persist",
            window[3],
            window[2] as u32
        );
    }
    Ok(window)
}

/// Sets an attribute of a kernel node.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphKernelNodeSetAttribute(
    hNode: hipGraphNode_t,
    attr: u32,
    value: *const c_void,
) -> hipError_t {
    if value.is_null() {
        return fail!(hipErrorInvalidValue, "no attribute value");
    }
    let node = super::node(hNode)?;
    let mut kernel = kernel(node.operation())?;
    // SAFETY: not null; the caller promises the attribute's union.
    unsafe {
        match attr {
            ATTRIBUTE_ACCESS_POLICY => {
                kernel.access_policy = access_policy(value.cast::<[u64; 4]>().read_unaligned())?;
            }
            ATTRIBUTE_COOPERATIVE => kernel.cooperative = value.cast::<i32>().read(),
            ATTRIBUTE_PRIORITY if presented() >= Major::Six => {
                kernel.priority = value.cast::<i32>().read();
            }
            _ => {
                return fail!(
                    hipErrorInvalidValue,
                    "kernel node attribute {attr} does not exist"
                );
            }
        }
    }
    node.set_operation(Operation::Kernel(kernel));
    Ok(())
}

/// Copies the attributes of a kernel node to another one.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphKernelNodeCopyAttributes(
    hSrc: hipGraphNode_t,
    hDst: hipGraphNode_t,
) -> hipError_t {
    let (from, node) = (kernel(super::node(hSrc)?.operation())?, super::node(hDst)?);
    let to = kernel(node.operation())?;
    node.set_operation(Operation::Kernel(KernelNode {
        cooperative: from.cooperative,
        priority: from.priority,
        access_policy: from.access_policy,
        ..to
    }));
    Ok(())
}
