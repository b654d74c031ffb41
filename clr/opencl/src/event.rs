//! Events: commands and user events, as the caller sees them.

use std::{
    ffi::c_void,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use gneiss_clr::Status;

use crate::{
    callback, cl_api,
    constants::*,
    context::{Context, UserData},
    error::{Result, code},
    fail,
    handle::{Handle, Object as _, get, object},
    info::Query,
    queue::Queue,
    types::*,
};

/// An event.
#[derive(Debug)]
pub struct Event {
    handle: Handle<Event>,
    context: Arc<Context>,
    /// None: a user event.
    queue: Option<Arc<Queue>>,
    clr: gneiss_clr::Event,
    /// The kernel itself, of a command that ends with its children.
    kernel: Option<gneiss_clr::Event>,
    /// `CL_COMMAND_…`.
    command: cl_uint,
    /// A user event's status was set.
    set: AtomicBool,
}

object!(Event, CL_INVALID_EVENT);

impl Event {
    /// The event below.
    pub fn clr(&self) -> &gneiss_clr::Event {
        &self.clr
    }

    fn status(&self) -> cl_int {
        // A command is never seen as made and not queued.
        self.clr.query().0.min(CL_QUEUED)
    }
}

/// Checks a wait list.
///
/// # Errors
/// `CL_INVALID_EVENT_WAIT_LIST`; `CL_INVALID_CONTEXT` for an event of another context.
pub fn wait_list(
    context: &Arc<Context>,
    count: cl_uint,
    list: In<cl_event>,
) -> Result<Vec<gneiss_clr::Event>> {
    if (count == 0) != list.is_null() {
        return fail!(
            CL_INVALID_EVENT_WAIT_LIST,
            "a wait list of {count} events at {:?}",
            list.pointer()
        );
    }
    let mut events = Vec::new();
    for event in list.list(count as usize) {
        let event = get(event).map_err(|_| CL_INVALID_EVENT_WAIT_LIST)?;
        if !Arc::ptr_eq(&event.context, context) {
            return fail!(
                CL_INVALID_CONTEXT,
                "an event of another context in a wait list"
            );
        }
        events.push(event.clr.clone());
    }
    Ok(events)
}

/// Gives the caller an event for a command, if it wants one.
///
/// # Errors
/// `CL_OUT_OF_HOST_MEMORY`.
pub fn give(
    place: Out<cl_event>,
    queue: &Arc<Queue>,
    command: cl_uint,
    event: gneiss_clr::Event,
) -> Result {
    give_with(place, queue, command, event, None)
}

/// As [`give`]; `kernel` is the end of the kernel itself, where `event` is that of its children, too.
///
/// # Errors
/// `CL_OUT_OF_HOST_MEMORY`.
pub fn give_with(
    place: Out<cl_event>,
    queue: &Arc<Queue>,
    command: cl_uint,
    event: gneiss_clr::Event,
    kernel: Option<gneiss_clr::Event>,
) -> Result {
    if place.is_null() {
        return Ok(());
    }
    let event = Event::table().insert(|handle| Event {
        handle,
        context: Arc::clone(&queue.context),
        queue: Some(Arc::clone(queue)),
        clr: event,
        kernel,
        command,
        set: AtomicBool::new(false),
    });
    place.set(event.ok_or(CL_OUT_OF_HOST_MEMORY)?.handle.raw());
    Ok(())
}

/// Waits for a command of a blocking call, then gives its event.
///
/// # Errors
/// The command's failure.
pub fn give_after(
    blocking: bool,
    place: Out<cl_event>,
    queue: &Arc<Queue>,
    command: cl_uint,
    event: gneiss_clr::Event,
) -> Result {
    give(place, queue, command, event.clone())?;
    if blocking {
        event.wait().map_err(code)?;
    }
    Ok(())
}

cl_api! {
    /// Waits for events.
    fn clWaitForEvents(num_events: cl_uint, event_list: In<cl_event>) {
        if num_events == 0 || event_list.is_null() {
            return fail!(CL_INVALID_VALUE, "no events to wait for");
        }
        let events: Result<Vec<_>> = event_list.list(num_events as usize).into_iter().map(get).collect();
        let events = events?;
        if events.iter().any(|event| !Arc::ptr_eq(&event.context, &events[0].context)) {
            return Err(CL_INVALID_CONTEXT);
        }
        let mut result = Ok(());
        for event in events {
            if let Err(error) = event.clr.wait() {
                code(error);
                result = Err(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
            }
        }
        result
    }

    /// Says what an event is.
    fn clGetEventInfo(
        event: cl_event, param_name: cl_name, param_value_size: usize, param_value: *mut c_void,
        param_value_size_ret: Out<usize>,
    ) {
        let found = get(event)?;
        let query = Query { size: param_value_size, value: param_value, needed: param_value_size_ret };
        match param_name {
            CL_EVENT_COMMAND_QUEUE => {
                let queue = found.queue.as_ref().map(|queue| queue.handle().raw());
                query.value(queue.unwrap_or(std::ptr::null_mut()))
            }
            CL_EVENT_CONTEXT => query.value(found.context.handle().raw()),
            CL_EVENT_COMMAND_TYPE => query.value(found.command),
            CL_EVENT_COMMAND_EXECUTION_STATUS => query.value(found.status()),
            CL_EVENT_REFERENCE_COUNT => query.value(Event::table().references(event)),
            name => query.unknown(name),
        }
    }

    /// Makes a user event.
    create fn clCreateUserEvent(context: cl_context) -> cl_event {
        let context = get(context)?;
        let event = Event::table().insert(|handle| Event {
            handle,
            context,
            queue: None,
            clr: gneiss_clr::Event::user(),
            kernel: None,
            command: CL_COMMAND_USER,
            set: AtomicBool::new(false),
        });
        Ok(event.ok_or(CL_OUT_OF_HOST_MEMORY)?.handle.raw())
    }

    /// Ends a user event.
    fn clSetUserEventStatus(event: cl_event, execution_status: cl_int) {
        let event = get(event)?;
        if event.command != CL_COMMAND_USER {
            return fail!(CL_INVALID_EVENT, "only a user event's status can be set");
        }
        if execution_status > CL_COMPLETE {
            return fail!(CL_INVALID_VALUE, "a user event ends with CL_COMPLETE or an error, not {execution_status}");
        }
        if event.set.swap(true, Ordering::AcqRel) {
            return fail!(CL_INVALID_OPERATION, "the user event's status was set before");
        }
        event.clr.set_user_status(Status(execution_status));
        Ok(())
    }

    /// One more reference.
    fn clRetainEvent(event: cl_event) {
        Event::table().retain(event)
    }

    /// One reference less.
    fn clReleaseEvent(event: cl_event) {
        Event::table().release(event).map(drop)
    }

    /// Asks to be told of a status.
    fn clSetEventCallback(
        event: cl_event, command_exec_callback_type: cl_int, pfn_notify: EventNotify, user_data: *mut c_void,
    ) {
        let event = get(event)?;
        let Some(notify) = pfn_notify else {
            return fail!(CL_INVALID_VALUE, "no function");
        };
        if !matches!(command_exec_callback_type, CL_SUBMITTED | CL_RUNNING | CL_COMPLETE) {
            return fail!(CL_INVALID_VALUE, "no callback for status {command_exec_callback_type}");
        }
        callback::register(&event, command_exec_callback_type, notify, UserData(user_data))
    }

    /// Says when a command was queued, submitted, started and ended.
    fn clGetEventProfilingInfo(
        event: cl_event, param_name: cl_name, param_value_size: usize, param_value: *mut c_void,
        param_value_size_ret: Out<usize>,
    ) {
        let event = get(event)?;
        let query = Query { size: param_value_size, value: param_value, needed: param_value_size_ret };
        let profiled = event.queue.as_ref().is_some_and(|queue| queue.profiles());
        if !profiled || event.status() != CL_COMPLETE {
            return fail!(
                CL_PROFILING_INFO_NOT_AVAILABLE,
                "times exist of completed commands in queues with CL_QUEUE_PROFILING_ENABLE"
            );
        }
        let all = event.clr.profiling();
        let times = event.kernel.as_ref().map_or(all, gneiss_clr::Event::profiling);
        // What no clock of a device has seen happened at the time of what is known.
        let end = times.end.max(times.start).max(times.submitted).max(times.queued);
        let start = if times.start == 0 { end } else { times.start };
        let submitted = if times.submitted == 0 { start } else { times.submitted };
        match param_name {
            CL_PROFILING_COMMAND_QUEUED => query.value(times.queued.min(submitted)),
            CL_PROFILING_COMMAND_SUBMIT => query.value(submitted),
            CL_PROFILING_COMMAND_START => query.value(start),
            CL_PROFILING_COMMAND_END => query.value(end),
            CL_PROFILING_COMMAND_COMPLETE => query.value(end.max(all.end)),
            name => query.unknown(name),
        }
    }
}
