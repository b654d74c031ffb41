//! The callbacks of ROCm 3 to 5.3: two functions for each call, one for commands.
//!
//! A call's *activity* function makes the data of a call (it is called with nothing, and gives a `hip_api_data_t`), and is told when the
//! call has ended; the *API* function sees the data at both ends. AMD's library calls the second only where there is the first; here it
//! gets data of the runtime's own otherwise. A call finds what was registered when it began, and the functions run with nothing locked.

use std::{
    ffi::c_void,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use gneiss_hip_abi_macros::hip_api;
use parking_lot::{Mutex, RwLock};

use super::{
    ActivityRecord, DOMAIN_CALLS, Function, OLD_CALLS, OLD_COMMANDS, RawArguments, calls,
    calls::Call, set_active,
};
use crate::{
    error::{HipResult, hipError_t, hipErrorInvalidValue},
    fail,
};

/// `activity_rtapi_callback_t`.
type ApiFunction = unsafe extern "C" fn(domain: u32, id: u32, data: *mut u8, argument: *mut c_void);
/// `activity_sync_callback_t`.
type ActivityFunction = unsafe extern "C" fn(
    id: u32,
    record: *mut c_void,
    data: *mut c_void,
    argument: *mut c_void,
) -> *mut u8;
/// `activity_id_callback_t`.
type IdFunction = unsafe extern "C" fn(id: u64);
/// `activity_async_callback_t`.
type EndFunction =
    unsafe extern "C" fn(operation: u32, record: *mut ActivityRecord, argument: *mut c_void);

/// A function of a tool, with what it wants back.
#[derive(Debug)]
struct Registered<F> {
    function: F,
    argument: usize,
}

impl<F: Copy> Clone for Registered<F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: Copy> Copy for Registered<F> {}

#[derive(Clone, Copy, Debug, Default)]
struct Callbacks {
    api: Option<Registered<ApiFunction>>,
    activity: Option<Registered<ActivityFunction>>,
}

/// By the calls' numbers.
fn table() -> &'static RwLock<Vec<Callbacks>> {
    static TABLE: OnceLock<RwLock<Vec<Callbacks>>> = OnceLock::new();
    TABLE.get_or_init(|| RwLock::new(vec![Callbacks::default(); calls::last() as usize + 1]))
}

/// Changes what is registered for a call.
fn change(id: u32, change: impl FnOnce(&mut Callbacks)) -> HipResult {
    let mut table = table().write();
    if id == 0 || id as usize >= table.len() {
        return fail!(hipErrorInvalidValue, "no call has the number {id}");
    }
    change(&mut table[id as usize]);
    let any = table
        .iter()
        .any(|callbacks| callbacks.api.is_some() || callbacks.activity.is_some());
    set_active(OLD_CALLS, any);
    Ok(())
}

fn registered<F>(function: Option<F>, argument: *mut c_void) -> Option<Registered<F>> {
    function.map(|function| Registered {
        function,
        argument: argument.expose_provenance(),
    })
}

/// Data of the runtime's own, for tools that give none: `hip_api_data_t`.
type OwnData = [u64; 256];

/// A call that tools have been told of.
pub(super) struct Entered {
    callbacks: Callbacks,
    data: *mut u8,
    _own: Option<Box<OwnData>>,
}

/// Offset of the phase in `hip_api_data_t`, after the correlation's number.
const PHASE: usize = 8;
/// Offset of the arguments.
pub(super) const ARGUMENTS: usize = 16;
/// The call has ended.
const EXIT: u32 = 1;

/// Tells tools that a call begins.
///
/// # Safety
/// The arguments must live.
pub(super) unsafe fn enter(call: &Call, arguments: &RawArguments) -> Option<Entered> {
    static OWN_CORRELATION: AtomicU64 = AtomicU64::new(1);
    let callbacks = *table().read().get(call.id as usize)?;
    let mut own = None;
    let data = if let Some(activity) = callbacks.activity {
        let null = std::ptr::null_mut();
        // SAFETY: the tool registered a function of this type.
        unsafe { (activity.function)(call.id, null, null, null) }
    } else {
        callbacks.api?;
        let own: &mut Box<OwnData> = own.insert(Box::new([0; 256]));
        own[0] = OWN_CORRELATION.fetch_add(1, Ordering::Relaxed);
        own.as_mut_ptr().cast()
    };
    if data.is_null() {
        return None;
    }
    // SAFETY: the tool's data, or ours, has the layout of `hip_api_data_t`.
    unsafe {
        arguments.write(call, data.add(ARGUMENTS));
        if let Some(api) = callbacks.api {
            let argument = std::ptr::with_exposed_provenance_mut(api.argument);
            (api.function)(DOMAIN_CALLS, call.id, data, argument);
        }
        data.add(PHASE).cast::<u32>().write(EXIT);
    }
    Some(Entered {
        callbacks,
        data,
        _own: own,
    })
}

impl Entered {
    /// Tells them that it has ended.
    pub(super) fn leave(self, call: &Call) {
        let null = std::ptr::null_mut();
        if let Some(api) = self.callbacks.api {
            let argument = std::ptr::with_exposed_provenance_mut(api.argument);
            // SAFETY: as in `enter`.
            unsafe { (api.function)(DOMAIN_CALLS, call.id, self.data, argument) };
        }
        if let Some(activity) = self.callbacks.activity {
            let argument = std::ptr::with_exposed_provenance_mut(activity.argument);
            // SAFETY: as in `enter`.
            unsafe { (activity.function)(call.id, std::ptr::null_mut(), null, argument) };
        }
    }
}

/// The functions for commands.
#[derive(Clone, Copy, Debug)]
struct CommandCallbacks {
    id: Option<IdFunction>,
    end: Option<Registered<EndFunction>>,
    enabled: [bool; 3],
}

static COMMANDS: Mutex<CommandCallbacks> = Mutex::new(CommandCallbacks {
    id: None,
    end: None,
    enabled: [false; 3],
});

/// A command of that operation begins: its number, if somebody wants to hear of its end.
pub(super) fn begin(operation: u32) -> Option<u64> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let commands = *COMMANDS.lock();
    if !commands.enabled[operation as usize] {
        return None;
    }
    commands.end?;
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    if let Some(function) = commands.id {
        // SAFETY: the tool registered a function of this type.
        unsafe { function(number) };
    }
    Some(number)
}

/// It has ended.
pub(super) fn end(operation: u32, record: &mut ActivityRecord) {
    let end = COMMANDS.lock().end;
    if let Some(end) = end {
        let argument = std::ptr::with_exposed_provenance_mut(end.argument);
        // SAFETY: the tool registered a function of this type.
        unsafe { (end.function)(operation, record, argument) };
    }
}

/// Registers a function that is called before and after a call.
///
/// # Safety
/// `fun` must be null or an `activity_rtapi_callback_t`.
#[hip_api(no_init, no_record)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipRegisterApiCallback(
    id: u32,
    fun: *mut c_void,
    arg: *mut c_void,
) -> hipError_t {
    // SAFETY: as the caller promises.
    let function = unsafe { std::mem::transmute::<Function, Option<ApiFunction>>(fun) };
    change(id, |callbacks| callbacks.api = registered(function, arg))
}

/// Takes it back.
#[hip_api(no_init, no_record)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipRemoveApiCallback(id: u32) -> hipError_t {
    change(id, |callbacks| callbacks.api = None)
}

/// Registers a function that makes the data of a call and hears of its end.
///
/// # Safety
/// `fun` must be null or an `activity_sync_callback_t`.
#[hip_api(no_init, no_record)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipRegisterActivityCallback(
    id: u32,
    fun: *mut c_void,
    arg: *mut c_void,
) -> hipError_t {
    // SAFETY: as the caller promises.
    let function = unsafe { std::mem::transmute::<Function, Option<ActivityFunction>>(fun) };
    change(id, |callbacks| {
        callbacks.activity = registered(function, arg);
    })
}

/// Takes it back.
#[hip_api(no_init, no_record)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipRemoveActivityCallback(id: u32) -> hipError_t {
    change(id, |callbacks| callbacks.activity = None)
}

/// Registers the functions for commands: one is told a command's number by the thread that enqueues it, the other gets its record.
///
/// # Safety
/// They must be null or an `activity_id_callback_t` and an `activity_async_callback_t`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipInitActivityCallback(
    id_callback: *mut c_void,
    op_callback: *mut c_void,
    arg: *mut c_void,
) {
    let mut commands = COMMANDS.lock();
    // SAFETY: as the caller promises.
    unsafe {
        commands.id = std::mem::transmute::<Function, Option<IdFunction>>(id_callback);
        let end = std::mem::transmute::<Function, Option<EndFunction>>(op_callback);
        commands.end = registered(end, arg);
    }
    let wanted = commands.end.is_some() && commands.enabled.contains(&true);
    set_active(OLD_COMMANDS, wanted);
}

/// Switches records of kernels (0), copies and fills (1) or markers (2). False for another number.
///
/// # Safety
/// None.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEnableActivityCallback(op: u32, enable: bool) -> bool {
    let mut commands = COMMANDS.lock();
    let Some(place) = commands.enabled.get_mut(op as usize) else {
        return false;
    };
    *place = enable;
    let wanted = commands.end.is_some() && commands.enabled.contains(&true);
    set_active(OLD_COMMANDS, wanted);
    true
}
