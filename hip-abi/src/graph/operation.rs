//! What nodes do, and how that becomes commands of a queue.
//!
//! An [`Operation`] keeps what the program gave, copied: nothing of the caller is read later but the memory that the work itself is about.
//! [`Operation::check`] is what adding and changing a node asks; [`Operation::step`] makes the form that launches enqueue.

use std::{ffi::c_void, sync::Arc};

use gneiss_clr::{
    CopyRect, Event as Command, FillRect, HostQueue, Status, ValueCondition, ValueWidth,
};

use super::{Graph, allocation::Allocation, types::*};

pub use super::kernel::KernelNode;

use crate::{
    copy::{Side, check_kind},
    copy_rect::Plane,
    enums::*,
    error::*,
    event::{self, Event},
    fail,
    host_range::{self, Access},
    runtime::hip_error,
    stream_operation::UserData,
    types::*,
};

/// What a node does.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Nothing.
    Empty,
    /// A kernel.
    Kernel(KernelNode),
    /// A linear copy.
    Copy(CopyNode),
    /// A copy of rows and slices.
    CopyRect(Box<CopyRectNode>),
    /// A fill.
    Fill(FillNode),
    /// A host function.
    Host(HostNode),
    /// Another graph.
    Graph(Arc<Graph>),
    /// Records an event.
    Record(EventNode),
    /// Waits for an event.
    Wait(EventNode),
    /// Allocates memory.
    Allocate(Arc<Allocation>),
    /// Frees memory that a graph allocated.
    Free(usize),
    /// Waits for values in memory, and writes them.
    Values(Arc<[ValueOperation]>),
}

/// Where a linear copy's device side comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyForm {
    /// Both sides by address.
    Linear,
    /// To a variable: its host address and the offset in it.
    ToSymbol(usize, usize),
    /// From a variable.
    FromSymbol(usize, usize),
}

/// A linear copy.
#[derive(Clone, Copy, Debug)]
pub struct CopyNode {
    /// Destination; of a symbol its address on the device.
    pub dst: usize,
    /// Source.
    pub src: usize,
    /// Bytes.
    pub size: usize,
    /// Kind.
    pub kind: hipMemcpyKind,
    /// Form.
    pub form: CopyForm,
}

/// A copy of rows and slices.
#[derive(Clone, Copy, Debug)]
pub struct CopyRectNode {
    /// What the program gave, or what says the same.
    pub params: hipMemcpy3DParms,
    /// Destination.
    pub dst: Plane,
    /// Source.
    pub src: Plane,
    /// Bytes of a row, rows, slices.
    pub extent: [usize; 3],
}

// SAFETY: addresses are values here; they are followed under the promises of the program that gave them.
unsafe impl Send for CopyRectNode {}
// SAFETY: as above.
unsafe impl Sync for CopyRectNode {}

/// A fill.
#[derive(Clone, Copy, Debug)]
pub struct FillNode {
    /// What the program gave.
    pub params: hipMemsetParams,
    /// Rows of a slice in memory, and slices.
    pub slices: (usize, usize),
}

// SAFETY: as for copies.
unsafe impl Send for FillNode {}
// SAFETY: as above.
unsafe impl Sync for FillNode {}

/// A host function.
#[derive(Clone, Copy, Debug)]
pub struct HostNode {
    /// Function.
    pub function: unsafe extern "C" fn(*mut c_void),
    /// Its argument.
    pub data: usize,
}

/// An event.
#[derive(Clone, Debug)]
pub struct EventNode {
    /// Its handle, as the program knows it.
    pub handle: usize,
    /// The event, which lives on when its handle has ended.
    pub event: Arc<Event>,
}

impl EventNode {
    /// The event of a handle.
    ///
    /// # Errors
    /// `hipErrorInvalidValue`.
    pub fn new(handle: hipEvent_t) -> HipResult<Self> {
        Ok(EventNode {
            handle: handle.addr(),
            event: event::find(handle).map_err(|_| hipErrorInvalidValue)?,
        })
    }
}

/// One operation on a value in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueOperation {
    /// Address.
    pub address: u64,
    /// Width.
    pub width: ValueWidth,
    /// Value.
    pub value: u64,
    /// Mask and condition of a wait; a write has none.
    pub wait: Option<(u64, ValueCondition)>,
}

impl CopyNode {
    /// Checks what nodes ask for beyond a copy at once: sides that do not overlap, and a kind that fits them.
    ///
    /// # Errors
    /// `hipErrorInvalidValue`, and as a copy.
    pub fn check_strictly(&self) -> HipResult {
        let (dst, src) = self.sides()?;
        let apart = self.dst.abs_diff(self.src);
        if apart < self.size {
            return fail!(
                hipErrorInvalidValue,
                "source and destination of {} bytes are {apart} bytes apart",
                self.size
            );
        }
        let fits = match (dst.is_pageable(), src.is_pageable()) {
            (false, true) => matches!(self.kind, hipMemcpyHostToDevice | hipMemcpyDefault),
            (true, false) => matches!(self.kind, hipMemcpyDeviceToHost | hipMemcpyDefault),
            _ => true,
        };
        if !fits {
            return fail!(
                hipErrorInvalidValue,
                "copy kind {} does not fit the memory of the node",
                self.kind
            );
        }
        Ok(())
    }

    fn sides(&self) -> HipResult<(Side, Side)> {
        let (dst, src) = (
            std::ptr::with_exposed_provenance(self.dst),
            std::ptr::with_exposed_provenance(self.src),
        );
        let sides = (
            Side::new("destination", dst, self.size)?,
            Side::new("source", src, self.size)?,
        );
        check_kind(self.kind, sides.0.is_pageable() && sides.1.is_pageable())?;
        Ok(sides)
    }
}

impl CopyRectNode {
    /// A copy between planes; the C record says the same where it can.
    pub fn from_planes(dst: Plane, src: Plane, extent: [usize; 3], kind: hipMemcpyKind) -> Self {
        let pitched = |plane: &Plane| hipPitchedPtr {
            ptr: plane.base,
            pitch: plane.pitch,
            xsize: extent[0],
            ysize: plane.rows,
        };
        let pos = |plane: &Plane| hipPos {
            x: plane.x,
            y: plane.y,
            z: plane.z,
        };
        let params = hipMemcpy3DParms {
            srcArray: std::ptr::null_mut(),
            srcPos: pos(&src),
            srcPtr: pitched(&src),
            dstArray: std::ptr::null_mut(),
            dstPos: pos(&dst),
            dstPtr: pitched(&dst),
            extent: hipExtent {
                width: extent[0],
                height: extent[1],
                depth: extent[2],
            },
            kind,
        };
        CopyRectNode {
            params,
            dst,
            src,
            extent,
        }
    }

    fn rect(&self) -> HipResult<CopyRect> {
        check_kind(self.params.kind, false)?;
        let (destination, dst) = self.dst.side("destination", self.extent)?;
        let (source, src) = self.src.side("source", self.extent)?;
        check_kind(
            self.params.kind,
            destination.is_pageable() && source.is_pageable(),
        )?;
        Ok(CopyRect {
            dst,
            src,
            extent: self.extent,
        })
    }
}

impl FillNode {
    /// The bytes of an element.
    pub fn pattern(&self) -> HipResult<([u8; 4], usize)> {
        let size = self.params.elementSize as usize;
        if !matches!(size, 1 | 2 | 4) {
            return fail!(
                hipErrorInvalidValue,
                "elements of {size} bytes: a fill has 1, 2 or 4"
            );
        }
        Ok((self.params.value.to_le_bytes(), size))
    }

    fn rect(&self) -> HipResult<(FillRect, [u8; 4], usize)> {
        let params = &self.params;
        let (pattern, size) = self.pattern()?;
        let Some(width) = params.width.checked_mul(size) else {
            return Err(hipErrorInvalidValue);
        };
        let (rows, slices) = self.slices;
        let extent = [width, params.height, slices];
        if params.dst.is_null() || extent.contains(&0) {
            return fail!(
                hipErrorInvalidValue,
                "a fill of {extent:?} bytes, rows, slices at {:p}",
                params.dst
            );
        }
        let pitch = if params.height == 1 && slices == 1 {
            width
        } else {
            params.pitch
        };
        if pitch < width {
            return fail!(
                hipErrorInvalidValue,
                "rows of {width} bytes at a pitch of {pitch}"
            );
        }
        let (side, dst) = Plane::new(params.dst, pitch, rows).side("destination", extent)?;
        if side.is_pageable() {
            return fail!(
                hipErrorInvalidValue,
                "{:p} is not in memory that HIP knows",
                params.dst
            );
        }
        Ok((FillRect { dst, extent }, pattern, size))
    }
}

/// An operation in the form that launches enqueue. Kernels are not here: launches run them together.
#[derive(Clone, Debug)]
pub enum Step {
    /// Nothing to do.
    Nothing,
    /// See [`CopyNode`].
    Copy(u64, u64, usize),
    /// See [`CopyRectNode`].
    CopyRect(CopyRect),
    /// See [`FillNode`]; pattern and its size.
    Fill(FillRect, [u8; 4], usize),
    /// See [`HostNode`].
    Host(HostNode),
    /// Records an event.
    Record(Arc<Event>),
    /// Waits for an event's last recording at the launch.
    Wait(Arc<Event>),
    /// Marks memory as allocated.
    Allocate(Arc<Allocation>),
    /// Marks memory as freed.
    Free(usize),
    /// See [`ValueOperation`].
    Values(Arc<[ValueOperation]>),
}

impl Operation {
    /// `hipGraphNodeType` in a version's numbers.
    pub fn type_number(&self, major: crate::version::Major) -> u32 {
        let five = major == crate::version::Major::Five;
        // In HIP 5 everything is one higher, and linear copies have a number of their own.
        let number = match self {
            Operation::Kernel(_) => 0,
            Operation::CopyRect(_) => 1,
            Operation::Copy(copy) => match copy.form {
                CopyForm::Linear if five => 8,
                CopyForm::Linear => 1,
                CopyForm::FromSymbol(..) if five => 9,
                CopyForm::ToSymbol(..) if five => 10,
                // The header has numbers for copies of variables, which AMD's library gives to no node.
                CopyForm::FromSymbol(..) | CopyForm::ToSymbol(..) => 1,
            },
            Operation::Fill(_) => 2,
            Operation::Host(_) => 3,
            Operation::Graph(_) => 4,
            Operation::Empty => 5,
            Operation::Wait(_) => 6,
            Operation::Record(_) => 7,
            // Not in HIP 5's header: numbers that it does not use.
            Operation::Allocate(_) if five => 11,
            Operation::Free(_) if five => 12,
            Operation::Allocate(_) => 10,
            Operation::Free(_) => 11,
            Operation::Values(_) => 14,
        };
        number + u32::from(five)
    }

    /// Word for messages and drawings.
    pub fn word(&self) -> &'static str {
        match self {
            Operation::Empty => "EMPTY",
            Operation::Kernel(_) => "KERNEL",
            Operation::Copy(_) | Operation::CopyRect(_) => "MEMCPY",
            Operation::Fill(_) => "MEMSET",
            Operation::Host(_) => "HOST",
            Operation::Graph(_) => "CHILD GRAPH",
            Operation::Record(_) => "EVENT RECORD",
            Operation::Wait(_) => "EVENT WAIT",
            Operation::Allocate(_) => "MEM ALLOC",
            Operation::Free(_) => "MEM FREE",
            Operation::Values(_) => "BATCH MEM OP",
        }
    }

    /// Whether an operation of the same sort can take its place in an executable graph.
    pub fn same_sort(&self, other: &Operation) -> bool {
        let copy = |operation: &Operation| {
            matches!(operation, Operation::Copy(_) | Operation::CopyRect(_))
        };
        std::mem::discriminant(self) == std::mem::discriminant(other) || copy(self) && copy(other)
    }

    /// Whether two copies say the same of where their ends are: an executable graph's copies keep their direction.
    pub fn same_direction(&self, other: &Operation) -> bool {
        match (self, other) {
            (Operation::Copy(old), Operation::Copy(new)) => {
                // Those of symbols are checked where the symbol is looked up.
                old.form != CopyForm::Linear || new.form != CopyForm::Linear || old.kind == new.kind
            }
            (Operation::CopyRect(old), Operation::CopyRect(new)) => {
                old.params.kind == new.params.kind
            }
            _ => true,
        }
    }

    /// Whether it writes memory that HIP does not know: then launches return when that is done, as copies to such memory do.
    pub fn writes_pageable(&self) -> bool {
        match self {
            Operation::Copy(copy) => copy.sides().is_ok_and(|(dst, _)| dst.is_pageable()),
            Operation::CopyRect(copy) => copy
                .dst
                .side("destination", copy.extent)
                .is_ok_and(|(dst, _)| dst.is_pageable()),
            _ => false,
        }
    }

    /// Whether it could be done now.
    ///
    /// # Errors
    /// Those of the call that does the same at once.
    pub fn check(&self) -> HipResult {
        match self {
            Operation::Kernel(_) | Operation::Graph(_) => Ok(()),
            other => other.step().map(drop),
        }
    }

    /// The form to enqueue; kernels and child graphs have none of their own.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn step(&self) -> HipResult<Step> {
        Ok(match self {
            Operation::Empty | Operation::Kernel(_) | Operation::Graph(_) => Step::Nothing,
            Operation::Copy(copy) => {
                if copy.size == 0 {
                    return Ok(Step::Nothing);
                }
                let (dst, src) = copy.sides()?;
                Step::Copy(dst.address as u64, src.address as u64, copy.size)
            }
            Operation::CopyRect(copy) => {
                if copy.extent.contains(&0) {
                    return Ok(Step::Nothing);
                }
                Step::CopyRect(copy.rect()?)
            }
            Operation::Fill(fill) => {
                let (rect, pattern, size) = fill.rect()?;
                Step::Fill(rect, pattern, size)
            }
            Operation::Host(host) => Step::Host(*host),
            Operation::Record(node) => Step::Record(Arc::clone(&node.event)),
            Operation::Wait(node) => Step::Wait(Arc::clone(&node.event)),
            Operation::Allocate(allocation) => Step::Allocate(Arc::clone(allocation)),
            Operation::Free(address) => Step::Free(*address),
            Operation::Values(values) => Step::Values(Arc::clone(values)),
        })
    }
}

impl Step {
    /// Checks the program's own memory, which may have come and gone since the node was made.
    fn check_host_ranges(&self) -> HipResult {
        match self {
            Step::Copy(dst, src, size) => {
                for (what, address, access) in [
                    ("destination", dst, Access::Write),
                    ("source", src, Access::Read),
                ] {
                    let address = std::ptr::with_exposed_provenance(*address as usize);
                    let side = Side::new(what, address, *size)?;
                    host_range::check_side(what, &side, *size, access)?;
                }
                Ok(())
            }
            Step::CopyRect(copy) => {
                for (what, rect, access) in [
                    ("destination", &copy.dst, Access::Write),
                    ("source", &copy.src, Access::Read),
                ] {
                    let address = std::ptr::with_exposed_provenance(rect.address as usize);
                    let side = Side::new(what, address, 0)?;
                    host_range::check_rows(what, &side, rect, copy.extent, access)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Enqueues it; `None` if there was nothing to enqueue, and the wait list is still to be waited for.
    ///
    /// # Errors
    /// Those of the queue.
    pub(crate) fn enqueue(
        &self,
        queue: &HostQueue,
        wait: &[Command],
    ) -> HipResult<Option<Command>> {
        self.check_host_ranges()?;
        // SAFETY: ranges were checked when the node was made, and now; keeping them until the work has ended is the program's duty.
        let command = unsafe {
            match self {
                Step::Nothing | Step::Allocate(_) | Step::Free(_) => return Ok(None),
                Step::Copy(dst, src, size) => queue.enqueue_copy(*dst, *src, *size, wait),
                Step::CopyRect(copy) => queue.enqueue_copy_rect(copy, wait),
                Step::Fill(fill, pattern, size) => {
                    queue.enqueue_fill_rect(fill, &pattern[..*size], wait)
                }
                Step::Host(host) => {
                    let (function, data) = (
                        host.function,
                        UserData(std::ptr::with_exposed_provenance_mut(host.data)),
                    );
                    let call = move |_: Status| {
                        let data = data;
                        function(data.0);
                    };
                    queue.enqueue_host_function(Box::new(call), false, wait)
                }
                Step::Record(event) => {
                    let command = queue.enqueue_marker(wait).map_err(hip_error)?;
                    event.set_command(command.clone());
                    return Ok(Some(command));
                }
                Step::Wait(event) => {
                    let all: Vec<Command> = wait.iter().cloned().chain(event.command()).collect();
                    queue.enqueue_marker(&all)
                }
                Step::Values(values) => {
                    let mut last = None;
                    for (index, value) in values.iter().enumerate() {
                        let wait = if index == 0 { wait } else { &[] };
                        last = Some(value.enqueue(queue, wait)?);
                    }
                    return Ok(last);
                }
            }
        };
        command.map(Some).map_err(hip_error)
    }
}

impl ValueOperation {
    /// The C record.
    pub fn record(&self) -> hipStreamBatchMemOpParams {
        let operation = match (self.width, self.wait) {
            (ValueWidth::Bits32, Some(_)) => hipStreamMemOpWaitValue32,
            (ValueWidth::Bits32, None) => hipStreamMemOpWriteValue32,
            (ValueWidth::Bits64, Some(_)) => hipStreamMemOpWaitValue64,
            (ValueWidth::Bits64, None) => hipStreamMemOpWriteValue64,
        };
        let flags = match self.wait.map(|(_, condition)| condition) {
            None | Some(ValueCondition::GreaterOrEqual) => hipStreamWaitValueGte,
            Some(ValueCondition::Equal) => hipStreamWaitValueEq,
            Some(ValueCondition::And) => hipStreamWaitValueAnd,
            Some(ValueCondition::Nor) => hipStreamWaitValueNor,
        };
        hipStreamBatchMemOpParams {
            operation,
            pad: 0,
            address: std::ptr::with_exposed_provenance_mut(self.address as usize),
            value: self.value,
            flags,
            pad2: 0,
            alias: std::ptr::null_mut(),
            pad3: 0,
        }
    }

    /// Enqueues it.
    ///
    /// # Errors
    /// Those of the queue.
    pub(crate) fn enqueue(&self, queue: &HostQueue, wait: &[Command]) -> HipResult<Command> {
        // SAFETY: the address was checked; keeping the memory until the work has ended is the program's duty.
        unsafe {
            match self.wait {
                Some((mask, condition)) => queue.enqueue_wait_value(
                    self.address,
                    self.width,
                    self.value,
                    mask,
                    condition,
                    wait,
                ),
                None => queue.enqueue_write_value(self.address, self.width, self.value, wait),
            }
        }
        .map_err(hip_error)
    }
}

/// A copy node from `hipMemcpy3DParms`.
///
/// # Errors
/// As `hipMemcpy3D`.
///
/// # Safety
/// `params` must be null or a valid record.
pub(crate) unsafe fn copy_3d(params: *const hipMemcpy3DParms) -> HipResult<Operation> {
    if params.is_null() {
        return fail!(hipErrorInvalidValue, "no parameters of the copy node");
    }
    // SAFETY: not null; as the caller promises.
    let params = unsafe { params.read() };
    let (dst, src, extent) = crate::copy_rect::planes_of(&params)?;
    Ok(Operation::CopyRect(Box::new(CopyRectNode {
        params,
        dst,
        src,
        extent,
    })))
}
