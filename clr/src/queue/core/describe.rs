//! What a queue is doing, in words: for the hang report and the live state.

use std::{fmt::Write as _, time::Duration};

use super::QueueCore;
use crate::{
    Event, Status,
    command::{Command, Operation},
    queue::Priority,
    virtual_gpu::InFlight,
};

impl QueueCore {
    /// Writes the queue's state: how many commands, the front one, the next one and what it waits for. Gives the hardware queue that its
    /// packets stand in, if it has commands there and others may have, too.
    pub(crate) fn describe(&self, text: &mut String) -> Option<u32> {
        let priority = match self.options.priority {
            Priority::Low => ", low priority",
            Priority::Normal => "",
            Priority::High => ", high priority",
        };
        let order = if self.options.out_of_order {
            ", out of order"
        } else {
            ""
        };
        let queued = self.fifo.lock().commands.len();
        let _ = write!(text, "  {}{priority}{order}: {queued} queued", self.title());
        let Some(state) = self.state.try_lock_for(Duration::from_millis(100)) else {
            text.push_str(", being drained by another thread\n");
            return None;
        };
        let hw = match state.vgpu.hw_queue_id() {
            0 => String::new(),
            id if state.vgpu.is_unshared() => format!(" on hardware queue {id} (its own)"),
            id => format!(" on hardware queue {id}"),
        };
        let _ = writeln!(text, ", {} in flight{hw}", state.vgpu.inflight.len());
        if let Some((kind, _)) = &state.user_code_of {
            let _ = writeln!(
                text,
                "    now: the program's own code runs for a {}, and everything behind it waits for its return",
                kind.name()
            );
        }
        if let Some(front) = state.vgpu.inflight.front() {
            let _ = writeln!(
                text,
                "    front: {}, {}",
                in_flight_name(front),
                status_name(front.event.status())
            );
        }
        for command in state.held.iter().chain(&state.current) {
            describe_command(text, "next", command, Some(self));
        }
        if state.current.is_none()
            && let Some(command) = self.fifo.lock().commands.front()
        {
            describe_command(text, "next", command, Some(self));
        }
        let (hw, shared) = (state.vgpu.hw_queue_id(), !state.vgpu.is_unshared());
        let stands_there = hw != 0 && shared && !state.vgpu.inflight.is_empty();
        self.let_go(state);
        stands_there.then_some(hw)
    }

    /// The queue's name, or its number.
    pub(crate) fn title(&self) -> String {
        match self.name.get() {
            Some(name) => format!("{name} (queue {})", self.id),
            None => format!("queue {}", self.id),
        }
    }
}

fn in_flight_name(command: &InFlight) -> String {
    match command.kernel_name() {
        Some(name) => format!("kernel {name}"),
        None => command.kind.name().to_owned(),
    }
}

fn status_name(status: Status) -> String {
    match status {
        Status::QUEUED => "queued".into(),
        Status::SUBMITTED => "with the device".into(),
        Status::RUNNING => "running".into(),
        Status::COMPLETE => "complete".into(),
        Status(other) => format!("status {other}"),
    }
}

fn describe_command(text: &mut String, role: &str, command: &Command, of: Option<&QueueCore>) {
    let name = match &command.operation {
        Operation::Kernel(kernel) => format!("kernel {}", kernel.kernel.name()),
        Operation::Kernels { list, next } => format!(
            "{} kernels from {}",
            list.len() - next,
            list.get(*next).map_or("?", |kernel| kernel.kernel.name())
        ),
        Operation::WaitValue { address, value, .. } => {
            format!("wait-value at {address:#x} for {value:#x}")
        }
        _ => command.kind.name().to_owned(),
    };
    let reason = match command.blocked {
        Some(reason) => format!(", waits for {}", reason.name()),
        None => String::new(),
    };
    let _ = writeln!(text, "    {role}: {name}{reason}");
    for event in &command.wait_list {
        describe_dependency(text, event, of);
    }
}

fn describe_dependency(text: &mut String, event: &Event, of: Option<&QueueCore>) {
    if event.status().is_terminal() {
        return;
    }
    let place = match event.0.core() {
        None => "a user event that nobody has set".to_owned(),
        Some(core) if of.is_some_and(|of| std::ptr::eq(of, &raw const *core)) => {
            format!(
                "a command of the same queue, {}",
                status_name(event.status())
            )
        }
        Some(core) => format!(
            "a command of {}, {}",
            core.title(),
            status_name(event.status())
        ),
    };
    let _ = writeln!(text, "      unmet: {place}");
}
