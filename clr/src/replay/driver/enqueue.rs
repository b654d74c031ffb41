//! Enqueuing: a command of the workload becomes one of the runtime.

use std::sync::{Arc, Weak};

use gneiss_fatbin::{ArgumentMetadata, KernelMetadata, ValueKind};

use super::{Driver, MANY};
use crate::{
    Arguments, Error, Event, Kernel, Launch, Result,
    replay::{
        Dependency, Doer, FlushRule,
        device::{address_of, host_work},
    },
    trace::format::CommandKind,
};

impl Driver<'_> {
    /// The event of a command that was enqueued, if something has been enqueued; drops it with its last use.
    pub(super) fn event(&mut self, command: u32) -> Option<Event> {
        let left = &mut self.references[command as usize];
        if *left < MANY {
            *left = left.saturating_sub(1);
        }
        if *left == 0 {
            self.events.remove(&command)
        } else {
            self.events.get(&command).cloned()
        }
    }

    pub(super) fn enqueue(&mut self, index: u32) -> Result<()> {
        let workload = self.workload;
        let duration = workload.commands[index as usize].duration;
        let command = workload.shape(&workload.commands[index as usize]);
        let mut waits = Vec::new();
        for wait in workload.waits(index) {
            match wait {
                Dependency::User(event) => waits.push(self.users[*event as usize].clone()),
                Dependency::Command(other) => match self.event(*other) {
                    Some(event) => waits.push(event),
                    None => {
                        return Err(Error::InvalidValue(format!(
                            "command {index} waits for command {other}, which is not enqueued before it"
                        )));
                    }
                },
            }
        }
        let queue = self.queues[command.queue as usize].clone();
        let event = match command.doer {
            Doer::Kernel => {
                let kernel = self.kernel(self.devices[command.queue as usize], command.name);
                let argument = u64::from(index).to_le_bytes();
                let launch = Launch {
                    kernel: &kernel,
                    grid: [64, 1, 1],
                    block: [64, 1, 1],
                    dynamic_shared: 0,
                    arguments: Arguments::Packed(&argument),
                    cooperative: false,
                    any_order: false,
                };
                // SAFETY: a simulated kernel reads its number and touches nothing.
                unsafe { queue.enqueue_kernel(&launch, &waits) }
            }
            Doer::Copy => {
                let device = address_of(self.devices[command.queue as usize], index);
                let (dst, src) = match command.kind {
                    CommandKind::ReadBuffer | CommandKind::MapBuffer => (self.host_memory, device),
                    CommandKind::WriteBuffer | CommandKind::UnmapBuffer => {
                        (device, self.host_memory)
                    }
                    _ => (device, device),
                };
                // SAFETY: a simulated copy touches nothing.
                unsafe { queue.enqueue_copy_kind(command.kind, dst, src, 8, &waits) }
            }
            Doer::Host => {
                queue.enqueue_busy(command.kind, host_work(index.into()), duration, &waits)
            }
            // The host does it, and therefore waits for what is before it.
            Doer::Marker if self.policy.flush == FlushRule::Wait => {
                queue.enqueue_busy(command.kind, host_work(index.into()), 0, &waits)
            }
            Doer::Marker => queue.enqueue_nothing(command.kind, &waits),
        }?;
        if self.references[index as usize] > 0 {
            self.events.insert(index, event);
        }
        Ok(())
    }

    fn kernel(&mut self, device: usize, name: u32) -> Arc<Kernel> {
        let runtime = &self.runtime;
        let names = &self.workload.names;
        self.kernels
            .entry((device, name))
            .or_insert_with(|| {
                let text = names.get(name as usize).cloned().unwrap_or_default();
                let metadata = KernelMetadata {
                    name: text,
                    symbol: "simulated.kd".into(),
                    args: vec![ArgumentMetadata::new(ValueKind::ByValue, 0, 8)],
                    kernarg_segment_size: 8,
                    kernarg_segment_align: 8,
                    max_flat_workgroup_size: 1024,
                    ..Default::default()
                };
                let device = runtime.devices()[device].clone();
                Arc::new(Kernel::new(
                    metadata,
                    1,
                    device,
                    Weak::new(),
                    crate::kernel::Printf::None,
                    false,
                ))
            })
            .clone()
    }
}
