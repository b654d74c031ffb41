//! Kernels of a program.

use std::sync::Arc;

use crate::{Device, Program};

/// What the runtime must know of a kernel, from the code object's metadata.
#[derive(Clone, Debug, Default)]
pub struct KernelMetadata {
    /// Source name, as in the metadata's `.name` (mangled).
    pub name: String,
    /// Symbol of the kernel descriptor (`.symbol`, ends with `.kd`).
    pub symbol: String,
    /// All arguments, hidden ones too, by offset.
    pub arguments: Vec<Argument>,
    /// Bytes of the kernarg segment.
    pub kernarg_size: u32,
    /// Alignment of the kernarg segment.
    pub kernarg_align: u32,
    /// Static LDS in bytes.
    pub group_segment_size: u32,
    /// Scratch of a work-item in bytes.
    pub private_segment_size: u32,
    /// The kernel may need more scratch than that (recursion, calls through pointers).
    pub uses_dynamic_stack: bool,
    /// Largest work-group (launch bounds).
    pub max_flat_workgroup_size: u32,
    /// Lanes of a wave: 32 or 64.
    pub wavefront_size: u32,
    /// Vector registers.
    pub vgpr_count: u32,
    /// Accumulation registers, where they are a file of their own.
    pub agpr_count: u32,
    /// Scalar registers.
    pub sgpr_count: u32,
    /// Vector registers spilled.
    pub vgpr_spill_count: u32,
    /// Scalar registers spilled.
    pub sgpr_spill_count: u32,
    /// Work-group sizes must divide the grid.
    pub uniform_workgroup_size: bool,
    /// Required work-group size, if any.
    pub required_workgroup_size: Option<[u32; 3]>,
}

/// One argument in the kernarg segment.
#[derive(Clone, Debug)]
pub struct Argument {
    /// Name, if the compiler kept it.
    pub name: Option<String>,
    /// Offset in the kernarg segment.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
    /// What it is.
    pub kind: ArgumentKind,
}

/// Kinds of argument (`.value_kind`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "the names are those of the metadata's value kinds"
)]
pub enum ArgumentKind {
    ByValue,
    GlobalBuffer,
    DynamicSharedPointer,
    Sampler,
    Image,
    Pipe,
    Queue,
    HiddenGlobalOffsetX,
    HiddenGlobalOffsetY,
    HiddenGlobalOffsetZ,
    HiddenNone,
    HiddenPrintfBuffer,
    HiddenHostcallBuffer,
    HiddenDefaultQueue,
    HiddenCompletionAction,
    HiddenMultigridSyncArg,
    HiddenHeapV1,
    HiddenBlockCountX,
    HiddenBlockCountY,
    HiddenBlockCountZ,
    HiddenGroupSizeX,
    HiddenGroupSizeY,
    HiddenGroupSizeZ,
    HiddenRemainderX,
    HiddenRemainderY,
    HiddenRemainderZ,
    HiddenGridDims,
    HiddenPrivateBase,
    HiddenSharedBase,
    HiddenQueuePtr,
    HiddenDynamicLdsSize,
    HiddenOther,
}

/// A kernel, loaded on one device.
#[derive(Debug)]
pub struct Kernel {
    #[expect(dead_code)]
    metadata: KernelMetadata,
}

impl Kernel {
    /// Its metadata.
    pub fn metadata(&self) -> &KernelMetadata {
        todo!()
    }

    /// The arguments that the user gives, in the order of the source.
    pub fn explicit_arguments(&self) -> &[Argument] {
        todo!()
    }

    /// Address of the kernel descriptor (the packet's kernel object).
    pub fn object(&self) -> u64 {
        todo!()
    }

    /// The program that it belongs to.
    pub fn program(&self) -> Option<Arc<Program>> {
        todo!()
    }

    /// The device it is loaded on.
    pub fn device(&self) -> &Arc<Device> {
        todo!()
    }
}
