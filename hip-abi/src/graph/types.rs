//! C types of the graph functions; layouts asserted against measured headers.

use std::{ffi::c_void, mem::size_of};

use crate::types::{
    dim3, hipCtx_t, hipHostFn_t, hipMemAccessDesc, hipMemPoolProps, hipStream_t, opaque,
};

opaque! {
    /// A graph.
    ihipGraph as hipGraph_t;
    /// A node of a graph.
    hipGraphNode as hipGraphNode_t;
    /// An executable graph.
    hipGraphExec as hipGraphExec_t;
    /// An object that graphs keep.
    hipUserObject as hipUserObject_t;
}

/// A kernel node.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipKernelNodeParams {
    /// Block in threads.
    pub blockDim: dim3,
    /// `HIP_LAUNCH_PARAM_…` list, or null.
    pub extra: *mut *mut c_void,
    /// Host address of the kernel, or a `hipFunction_t`.
    pub func: *mut c_void,
    /// Grid in blocks.
    pub gridDim: dim3,
    /// Addresses of the arguments, or null.
    pub kernelParams: *mut *mut c_void,
    /// Bytes of dynamic LDS.
    pub sharedMemBytes: u32,
}

/// A fill node.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipMemsetParams {
    /// Destination.
    pub dst: *mut c_void,
    /// Bytes of an element: 1, 2 or 4.
    pub elementSize: u32,
    /// Rows.
    pub height: usize,
    /// Bytes from row to row; not used for one row.
    pub pitch: usize,
    /// Value of an element.
    pub value: u32,
    /// Elements of a row.
    pub width: usize,
}

/// A fill node of the driver API (HIP 6).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HIP_MEMSET_NODE_PARAMS {
    /// Destination.
    pub dst: *mut c_void,
    /// Bytes from row to row; not used for one row.
    pub pitch: usize,
    /// Value of an element.
    pub value: u32,
    /// Bytes of an element: 1, 2 or 4.
    pub elementSize: u32,
    /// Elements of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

/// A host node.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipHostNodeParams {
    /// Function.
    pub r#fn: hipHostFn_t,
    /// Its argument.
    pub userData: *mut c_void,
}

/// An allocation node.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipMemAllocNodeParams {
    /// Where the memory lives.
    pub poolProps: hipMemPoolProps,
    /// Who else may access it.
    pub accessDescs: *const hipMemAccessDesc,
    /// How many.
    pub accessDescCount: usize,
    /// Bytes.
    pub bytesize: usize,
    /// The address, which HIP writes.
    pub dptr: *mut c_void,
}

/// How to instantiate a graph, and what became of it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipGraphInstantiateParams {
    /// The node that failed.
    pub errNode_out: hipGraphNode_t,
    /// `hipGraphInstantiateFlag…`.
    pub flags: u64,
    /// `hipGraphInstantiate…` result.
    pub result_out: u32,
    /// Stream of an upload.
    pub uploadStream: hipStream_t,
}

/// Parameters of a node of any type: the type, then the type's own record at offset 16.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipGraphNodeParams {
    /// `hipGraphNodeType` of the presented version.
    pub r#type: u32,
    /// Must be 0.
    pub reserved0: [i32; 3],
    /// The record.
    pub record: [i64; 29],
    /// Must be 0.
    pub reserved2: i64,
}

/// One operation of a batch on memory values; the union's largest member.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipStreamBatchMemOpParams {
    /// `hipStreamBatchMemOpType`.
    pub operation: u32,
    /// Padding.
    pub pad: u32,
    /// Address.
    pub address: *mut c_void,
    /// Value.
    pub value: u64,
    /// Condition of a wait.
    pub flags: u32,
    /// Padding.
    pub pad2: u32,
    /// Not used.
    pub alias: *mut c_void,
    /// Padding.
    pub pad3: u64,
}

/// A batch node.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hipBatchMemOpNodeParams {
    /// Context.
    pub ctx: hipCtx_t,
    /// Operations.
    pub count: u32,
    /// The operations.
    pub paramArray: *mut hipStreamBatchMemOpParams,
    /// Must be 0.
    pub flags: u32,
}

const _: () = {
    assert!(size_of::<hipKernelNodeParams>() == 64);
    assert!(size_of::<hipMemsetParams>() == 48);
    assert!(size_of::<HIP_MEMSET_NODE_PARAMS>() == 40);
    assert!(size_of::<hipHostNodeParams>() == 16);
    assert!(size_of::<hipMemAllocNodeParams>() == 120);
    assert!(size_of::<hipGraphInstantiateParams>() == 32);
    assert!(size_of::<hipGraphNodeParams>() == 256);
    assert!(size_of::<hipStreamBatchMemOpParams>() == 48);
};
