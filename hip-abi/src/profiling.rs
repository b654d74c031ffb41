//! What profilers load: callbacks before and after each call, and records of what devices have done.
//!
//! AMD's tracers came with three interfaces, one after the other, and all work here:
//!
//! | interface | since | what it registers |
//! | --- | --- | --- |
//! | [`hipRegisterApiCallback`], [`hipRegisterActivityCallback`] | ROCm 3 to 5.3 | two functions for each call's number ([`old`]) |
//! | [`hipInitActivityCallback`], [`hipEnableActivityCallback`] | ROCm 3 to 5.3 | one function for the ends of commands ([`old`]) |
//! | [`hipRegisterTracerCallback`] | ROCm 5.4 | one function for everything ([`tracer`]) |
//!
//! Calls have the numbers, and their arguments the layout, of `hip_prof_str.h` of the HIP version that the process sees ([`calls`]).
//! Without a tool a call costs one load more, a command another.

pub mod calls;
pub mod old;
pub mod tracer;

use std::{
    cell::Cell,
    ffi::{CString, c_char, c_void},
    sync::atomic::{AtomicU32, Ordering},
};

use gneiss_clr::activity::{self, Direction, Group, Observer, Record, Work};
pub use old::{
    hipEnableActivityCallback, hipInitActivityCallback, hipRegisterActivityCallback,
    hipRegisterApiCallback, hipRemoveActivityCallback, hipRemoveApiCallback,
};
pub use tracer::hipRegisterTracerCallback;

use crate::entry::Site;

/// What is registered: bits of [`OLD_CALLS`], [`OLD_COMMANDS`] and [`TRACER`].
static ACTIVE: AtomicU32 = AtomicU32::new(0);
/// A callback of a call.
const OLD_CALLS: u32 = 1;
/// The callback of commands.
const OLD_COMMANDS: u32 = 2;
/// The callback for everything.
const TRACER: u32 = 4;

/// `ACTIVITY_DOMAIN_HIP_OPS`: records of commands.
const DOMAIN_COMMANDS: u32 = 2;
/// `ACTIVITY_DOMAIN_HIP_API`: calls.
const DOMAIN_CALLS: u32 = 3;

thread_local! {
    /// The number by which a tracer connects this thread's commands with its call.
    static CORRELATION: Cell<u64> = const { Cell::new(0) };
}

/// Whether a tool may want to hear of calls.
#[inline]
pub(crate) fn on() -> bool {
    ACTIVE.load(Ordering::Relaxed) & (OLD_CALLS | TRACER) != 0
}

/// Sets or clears a bit, and has commands observed where somebody wants it.
fn set_active(bit: u32, on: bool) {
    let now = if on {
        ACTIVE.fetch_or(bit, Ordering::AcqRel) | bit
    } else {
        ACTIVE.fetch_and(!bit, Ordering::AcqRel) & !bit
    };
    activity::observe(&Commands, now & (OLD_COMMANDS | TRACER) != 0);
}

/// The bytes of a call's arguments, in order: address and size of each.
#[derive(Debug, Default)]
pub struct RawArguments {
    list: [(usize, usize); RawArguments::MOST],
    len: usize,
}

impl RawArguments {
    /// More arguments than any function has.
    const MOST: usize = 16;

    /// Adds an argument, which must stay where it is as long as this list is used.
    pub fn push<T>(&mut self, argument: &T) {
        if let Some(place) = self.list.get_mut(self.len) {
            *place = (std::ptr::from_ref(argument).addr(), size_of::<T>());
        }
        self.len += 1;
    }

    /// Writes the arguments where the call's row says. Nothing is written if the row does not describe them.
    ///
    /// # Safety
    /// The arguments must still be there, and `union` must have room for those of the row.
    unsafe fn write(&self, call: &calls::Call, union: *mut u8) {
        let Some(list) = self.list.get(..self.len) else {
            return;
        };
        let fits = call.arguments.len() == list.len()
            && list
                .iter()
                .zip(&call.arguments)
                .all(|((_, size), (_, expected))| size == expected);
        if !fits {
            crate::log_error!("{}: a profiler gets no arguments", call.name);
            return;
        }
        for ((address, size), (offset, _)) in list.iter().zip(&call.arguments) {
            // SAFETY: a live argument of that size, and the caller's place.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    std::ptr::with_exposed_provenance::<u8>(*address),
                    union.add(*offset),
                    *size,
                );
            }
        }
    }
}

/// A call that tools have been told of.
pub(crate) struct Entered {
    call: &'static calls::Call,
    old: Option<old::Entered>,
    traced: Option<Box<tracer::Data>>,
}

/// Tells tools that a call begins.
///
/// # Safety
/// The arguments must still be there.
#[cold]
pub(crate) unsafe fn enter(site: &Site, arguments: &RawArguments) -> Option<Entered> {
    let call = calls::of(site.name)?;
    // SAFETY: as the caller promises.
    let (old, traced) = unsafe { (old::enter(call, arguments), tracer::enter(call, arguments)) };
    Some(Entered { call, old, traced })
}

impl Entered {
    /// Tells them that it has ended.
    #[cold]
    pub(crate) fn leave(self) {
        if let Some(mut data) = self.traced {
            tracer::leave(self.call, &mut data);
        }
        if let Some(old) = self.old {
            old.leave(self.call);
        }
    }
}

/// `activity_record_t`: what a tool gets of a command.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct ActivityRecord {
    domain: u32,
    kind: u32,
    operation: u32,
    correlation: u64,
    begin: u64,
    end: u64,
    device: i32,
    queue: u64,
    /// A copy's or fill's size; since ROCm 5.3 also a kernel's name.
    bytes_or_name: u64,
}

/// Numbers of OpenCL's commands, by which AMD's records tell what a command is.
mod command {
    pub(super) const KERNEL: u32 = 0x11f0;
    pub(super) const READ_BUFFER: u32 = 0x11f3;
    pub(super) const WRITE_BUFFER: u32 = 0x11f4;
    pub(super) const COPY_BUFFER: u32 = 0x11f5;
    pub(super) const MARKER: u32 = 0x11fe;
    pub(super) const READ_BUFFER_RECT: u32 = 0x1201;
    pub(super) const WRITE_BUFFER_RECT: u32 = 0x1202;
    pub(super) const COPY_BUFFER_RECT: u32 = 0x1203;
    pub(super) const FILL_BUFFER: u32 = 0x1207;
}

/// A group's number: `HIP_OP_ID_DISPATCH`, `HIP_OP_ID_COPY`, `HIP_OP_ID_BARRIER`.
fn operation(group: Group) -> u32 {
    match group {
        Group::Kernel => 0,
        Group::Copy => 1,
        Group::Marker => 2,
    }
}

/// What tells tools of commands.
struct Commands;

impl Observer for Commands {
    fn begin(&self, group: Group) -> Option<u64> {
        let operation = operation(group);
        tracer::begin(operation)
            .then(|| CORRELATION.get())
            .or_else(|| old::begin(operation))
    }

    fn end(&self, record: &Record<'_>) {
        let kind = match record.work {
            Work::Kernel(_) => command::KERNEL,
            Work::Copy {
                direction, rect, ..
            } => match (direction, rect) {
                (Direction::HostToDevice, false) => command::WRITE_BUFFER,
                (Direction::HostToDevice, true) => command::WRITE_BUFFER_RECT,
                (Direction::DeviceToHost, false) => command::READ_BUFFER,
                (Direction::DeviceToHost, true) => command::READ_BUFFER_RECT,
                (Direction::Other, false) => command::COPY_BUFFER,
                (Direction::Other, true) => command::COPY_BUFFER_RECT,
            },
            Work::Fill(_) => command::FILL_BUFFER,
            Work::Marker => command::MARKER,
        };
        let mut told = ActivityRecord {
            domain: DOMAIN_COMMANDS,
            kind,
            operation: operation(record.work.group()),
            correlation: record.id,
            begin: record.start,
            end: record.end,
            device: record.device as i32,
            queue: record.queue,
            bytes_or_name: match record.work {
                Work::Copy { bytes, .. } | Work::Fill(bytes) => *bytes,
                Work::Kernel(_) | Work::Marker => 0,
            },
        };
        if ACTIVE.load(Ordering::Acquire) & TRACER != 0 {
            let name = match record.work {
                Work::Kernel(kernel) => CString::new(kernel.name()).ok(),
                _ => None,
            };
            if let Some(name) = &name {
                told.bytes_or_name = name.as_ptr().addr() as u64;
            }
            tracer::end(told.operation, &mut told);
        } else {
            old::end(told.operation, &mut told);
        }
    }
}

/// Name of a call by its number in `hip_prof_str.h`; `unknown` for other numbers.
///
/// # Safety
/// None. The text is constant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipApiName(id: u32) -> *const c_char {
    calls::by_id(id).map_or(c"unknown".as_ptr(), |call| call.c_name.as_ptr())
}

/// Name of a command by its kind in an activity record.
///
/// # Safety
/// None. The text is constant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetCmdName(op: u32) -> *const c_char {
    let name = match op {
        0 => c"InternalMarker",
        command::KERNEL => c"KernelExecution",
        command::READ_BUFFER => c"CopyDeviceToHost",
        command::WRITE_BUFFER => c"CopyHostToDevice",
        command::COPY_BUFFER => c"CopyDeviceToDevice",
        command::MARKER => c"Marker",
        command::READ_BUFFER_RECT => c"CopyDeviceToHost2D",
        command::WRITE_BUFFER_RECT => c"CopyHostToDevice2D",
        command::COPY_BUFFER_RECT => c"CopyDeviceToDevice2D",
        command::FILL_BUFFER => c"FillBuffer",
        _ => c"Unknown command kind",
    };
    name.as_ptr()
}

/// The functions of tools have C types that only they know; this is the address of one.
type Function = *mut c_void;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_has_the_layout_of_the_header() {
        assert_eq!(size_of::<ActivityRecord>(), 64);
        assert_eq!(std::mem::offset_of!(ActivityRecord, correlation), 16);
        assert_eq!(std::mem::offset_of!(ActivityRecord, device), 40);
        assert_eq!(std::mem::offset_of!(ActivityRecord, bytes_or_name), 56);
    }

    #[test]
    fn arguments_that_the_table_does_not_describe_are_not_written() {
        let call = calls::of("hipMalloc").expect("in the table");
        let (pointer, size) = (0x1234_usize, 77_usize);
        let mut union = [0_u8; 64];
        let mut arguments = RawArguments::default();
        arguments.push(&pointer);
        // SAFETY: the arguments live, and the place is larger than two words with a value between them.
        unsafe { arguments.write(call, union.as_mut_ptr()) };
        assert_eq!(union, [0; 64]);
        arguments.push(&size);
        // SAFETY: as above.
        unsafe { arguments.write(call, union.as_mut_ptr()) };
        assert_eq!(union[..8], 0x1234_usize.to_ne_bytes());
        assert_eq!(union[16..24], 77_usize.to_ne_bytes());
    }

    #[test]
    fn names_of_calls_and_commands_are_those_of_the_headers() {
        let text = |name: *const c_char| {
            // SAFETY: constant texts.
            unsafe { std::ffi::CStr::from_ptr(name) }
                .to_str()
                .expect("ASCII")
        };
        // SAFETY: no preconditions.
        unsafe {
            assert_eq!(text(hipApiName(1)), "__hipPopCallConfiguration");
            assert_eq!(text(hipApiName(0)), "unknown");
            assert_eq!(text(hipApiName(u32::MAX)), "unknown");
            assert_eq!(text(hipGetCmdName(0x11f0)), "KernelExecution");
            assert_eq!(text(hipGetCmdName(7)), "Unknown command kind");
        }
    }
}
