//! The callback of ROCm 5.4 and later: one function for calls and commands.
//!
//! It is asked at the start of a call whether a tool wants it, and then puts two functions into the call's data, which are called before
//! and after the call. With no data it is asked whether a command's end is wanted; with a record it is told of it.

use std::{
    ffi::c_void,
    sync::atomic::{AtomicPtr, Ordering},
};

use super::{
    ActivityRecord, CORRELATION, DOMAIN_CALLS, DOMAIN_COMMANDS, Function, RawArguments, TRACER,
    calls::Call, old::ARGUMENTS, set_active,
};
use crate::version::{self, Major};

/// What a tool registers: domain, number, data; 0 means that it wants it.
type Report = unsafe extern "C" fn(domain: u32, operation: u32, data: *mut c_void) -> i32;
/// What it puts into a call's data.
type Phase = unsafe extern "C" fn(id: u32, data: *mut c_void);

static REPORT: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

fn report() -> Option<Report> {
    // SAFETY: null, or the tool's function, which has this type.
    unsafe { std::mem::transmute::<Function, Option<Report>>(REPORT.load(Ordering::Acquire)) }
}

/// `hip_api_trace_data_t`: the call's data, then times of the tool's, then the two functions.
pub(super) struct Data([u64; 256]);

impl Data {
    /// Index of the first function, in words: after `hip_api_data_t` (840 bytes since ROCm 5.4, 1520 in HIP 6) and two times.
    fn functions() -> usize {
        let size = match version::presented() {
            Major::Five => 840,
            Major::Six | Major::Seven => 1520,
        };
        size / 8 + 2
    }

    /// The function for a phase: 0 before, 1 after.
    fn phase(&self, phase: usize) -> Option<Phase> {
        let address = self.0[Self::functions() + phase] as usize;
        let pointer: Function = std::ptr::with_exposed_provenance_mut(address);
        // SAFETY: zero, or a function that the tool put there.
        unsafe { std::mem::transmute::<Function, Option<Phase>>(pointer) }
    }

    fn run(&mut self, phase: usize, call: &Call) {
        if let Some(function) = self.phase(phase) {
            // SAFETY: the tool's function takes this data.
            unsafe { function(call.id, self.0.as_mut_ptr().cast()) };
        }
    }
}

/// Tells the tool that a call begins. None: it does not want it.
///
/// # Safety
/// The arguments must live.
pub(super) unsafe fn enter(call: &Call, arguments: &RawArguments) -> Option<Box<Data>> {
    let report = report()?;
    let mut data = Box::new(Data([0; 256]));
    // SAFETY: the tool's function takes a call's data.
    if unsafe { report(DOMAIN_CALLS, call.id, data.0.as_mut_ptr().cast()) } != 0 {
        return None;
    }
    CORRELATION.set(data.0[0]);
    if data.phase(0).is_some() {
        // SAFETY: the data has room for the arguments of every call.
        unsafe { arguments.write(call, data.0.as_mut_ptr().cast::<u8>().add(ARGUMENTS)) };
        data.run(0, call);
    }
    Some(data)
}

/// Tells it that the call has ended.
pub(super) fn leave(call: &Call, data: &mut Data) {
    data.run(1, call);
    CORRELATION.set(0);
}

/// Whether the tool wants the end of a command of that operation.
pub(super) fn begin(operation: u32) -> bool {
    report().is_some_and(|report| {
        // SAFETY: without data the tool's function is asked.
        unsafe { report(DOMAIN_COMMANDS, operation, std::ptr::null_mut()) == 0 }
    })
}

/// A command has ended.
pub(super) fn end(operation: u32, record: &mut ActivityRecord) {
    if let Some(report) = report() {
        // SAFETY: the tool's function takes a record.
        unsafe { report(DOMAIN_COMMANDS, operation, (&raw mut *record).cast()) };
    }
}

/// Registers the function that is told of calls and commands; null ends it.
///
/// # Safety
/// `function` must be null or `int (*)(activity_domain_t, uint32_t, void *)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipRegisterTracerCallback(function: *mut c_void) {
    REPORT.store(function, Ordering::Release);
    set_active(TRACER, !function.is_null());
}
