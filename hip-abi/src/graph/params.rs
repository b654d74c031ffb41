//! Nodes by the record that holds the parameters of any type (`hipGraphNodeParams`).

use gneiss_hip_abi_macros::hip_api;

use super::{
    allocation::Allocation,
    memory_api::{fill, set, set_exec},
    node_api::{batch, host},
    operation::{EventNode, KernelNode, Operation, copy_3d},
    structure_api::add,
    types::*,
};
use crate::{
    error::*,
    fail,
    types::{hipEvent_t, hipMemcpy3DParms},
    version::{Major, presented},
};

/// Offset of the copy in `hipMemcpyNodeParams`.
const COPY_PARAMS: usize = 16;

/// The operation that a record describes.
///
/// # Safety
/// `params` must be null or a valid record.
unsafe fn operation(params: *mut hipGraphNodeParams) -> HipResult<Operation> {
    if params.is_null() {
        return fail!(hipErrorInvalidValue, "no parameters of the node");
    }
    // SAFETY: not null; as the caller promises. The record of the type starts where `record` does.
    unsafe {
        let number = (*params).r#type;
        let record = (&raw mut (*params).record).cast::<u8>();
        let number = if presented() == Major::Five {
            number.wrapping_sub(1)
        } else {
            number
        };
        match number {
            0 => KernelNode::from_params(record.cast()).map(Operation::Kernel),
            1 => copy_3d(record.add(COPY_PARAMS).cast::<hipMemcpy3DParms>()),
            2 => fill(record.cast()),
            3 => host(record.cast()),
            4 => {
                let child = super::find(record.cast::<hipGraph_t>().read())?;
                Ok(Operation::Graph(child.copy(true)?))
            }
            5 => Ok(Operation::Empty),
            6 => EventNode::new(record.cast::<hipEvent_t>().read()).map(Operation::Wait),
            7 => EventNode::new(record.cast::<hipEvent_t>().read()).map(Operation::Record),
            10 => {
                let place = record.cast::<hipMemAllocNodeParams>();
                let allocation = Allocation::new(place.read())?;
                (*place).dptr = allocation.params().dptr;
                Ok(Operation::Allocate(allocation))
            }
            11 => Ok(Operation::Free(record.cast::<usize>().read())),
            14 => batch(record.cast()),
            8 | 9 => fail!(
                hipErrorNotSupported,
                "external semaphores are not supported"
            ),
            other => fail!(hipErrorInvalidValue, "node type {other} does not exist"),
        }
    }
}

/// Adds a node of any type.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphAddNode(
    pGraphNode: *mut hipGraphNode_t,
    graph: hipGraph_t,
    pDependencies: *const hipGraphNode_t,
    numDependencies: usize,
    nodeParams: *mut hipGraphNodeParams,
) -> hipError_t {
    // SAFETY: as the caller promises.
    unsafe {
        add(pGraphNode, graph, pDependencies, numDependencies, || {
            operation(nodeParams)
        })
    }
}

/// Changes a node of any type.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphNodeSetParams(
    node: hipGraphNode_t,
    nodeParams: *mut hipGraphNodeParams,
) -> hipError_t {
    // SAFETY: as the caller promises.
    set(node, unsafe { operation(nodeParams)? })
}

/// Changes a node of any type in an executable graph.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphExecNodeSetParams(
    graphExec: hipGraphExec_t,
    node: hipGraphNode_t,
    nodeParams: *mut hipGraphNodeParams,
) -> hipError_t {
    // SAFETY: as the caller promises.
    set_exec(graphExec, node, unsafe { operation(nodeParams)? })
}
