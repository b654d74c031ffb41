//! Kernel dispatches: arguments, packets, scratch and LDS sizes, cooperative launches.

use std::sync::Arc;

use gneiss_hsa_api::*;

use super::{
    Full, VirtualGpu,
    hidden::{self, HiddenValues},
    hw_queue::{Header, HwQueue, Packet},
};
use crate::{Device, Error, MultiGrid, QueueOptions, command::KernelCommand, signal::HwSignal};

/// Packets after which the doorbell is rung within a batch.
const DOORBELL_EVERY: usize = 16;
/// `struct mg_info` of the device libraries (cooperative groups), in bytes.
const MULTIGRID_INFO: usize = 56;

/// Waits for dependencies ahead of a dispatch, which does the acquiring itself.
const DEPENDENCY: Header = Header {
    kind: HSA_PACKET_TYPE_BARRIER_AND,
    barrier: true,
    acquire: HSA_FENCE_SCOPE_NONE,
    release: HSA_FENCE_SCOPE_NONE,
};

/// A kernel that was submitted.
#[derive(Debug)]
pub(crate) struct Dispatched {
    /// Its own completion signal, if it has one.
    pub(crate) signal: Option<Arc<HwSignal>>,
    /// It ends its batch.
    pub(crate) close: bool,
    /// It runs on the queue for cooperative launches.
    pub(crate) other: bool,
    pub(crate) hw_queue: u32,
    pub(crate) packet: u64,
}

impl Dispatched {
    /// For kernels whose batch stays open, and of which nothing else is of interest.
    pub(crate) fn open() -> Self {
        Self {
            signal: None,
            close: false,
            other: false,
            hw_queue: 0,
            packet: 0,
        }
    }
}

impl VirtualGpu {
    /// Submits a kernel; `close`: with a completion signal that ends the batch; `timed`: with a completion signal in any case.
    pub(crate) fn kernel(
        &mut self,
        options: &QueueOptions,
        kernel: &KernelCommand,
        dependencies: &[Arc<HwSignal>],
        close: bool,
        timed: bool,
    ) -> Result<Dispatched, Full> {
        let device = self.device.clone();
        let metadata = kernel.kernel.metadata();
        let cooperative = if kernel.cooperative {
            device.hw_queues().cooperative(&device).ok()
        } else {
            None
        };
        // A cooperative launch elsewhere depends on what this queue has in flight.
        let close = close || cooperative.is_some();
        self.hw(options)?;
        let size = (metadata.kernarg_segment_size as usize).max(kernel.arguments.bytes().len());
        let extra = if kernel.cooperative {
            MULTIGRID_INFO
        } else {
            0
        };
        let total = size.next_multiple_of(16) + extra;
        let mut kernarg = 0;
        if size > 0 || extra > 0 {
            let Some(memory) = self.kernarg.allocate(
                &device,
                total,
                metadata.kernarg_segment_align as usize,
                self.submitted + 1,
            )?
            else {
                return Err(Full::Later);
            };
            // SAFETY: the allocation is that large, and no command that is in flight uses it.
            let block = unsafe { std::slice::from_raw_parts_mut(memory, total) };
            let explicit = kernel.arguments.bytes();
            block[..explicit.len()].copy_from_slice(explicit);
            block[explicit.len()..].fill(0);
            kernarg = memory as u64;
            let hw: &HwQueue = match (&cooperative, &self.hw) {
                (Some(queue), _) => queue,
                (None, Some(hw)) => hw,
                (None, None) => return Err(Error::Gone("no hardware queue").into()),
            };
            let mut values = HiddenValues {
                dimensions: kernel.dimensions,
                grid: kernel.grid,
                block: kernel.block,
                offset: kernel.offset.as_deref().copied().unwrap_or_default(),
                enqueues_to: kernel.enqueues_to,
                printf: kernel.printf,
                dynamic_lds: kernel.dynamic_lds,
                queue: hw.address(),
                private_base_hi: hw.private_base_hi,
                shared_base_hi: hw.group_base_hi,
                ..HiddenValues::default()
            };
            if kernel.wants_hostcall {
                let buffer = hw
                    .hostcall
                    .get_or_init(|| device.shared().hostcall.new_buffer(&device));
                values.hostcall = buffer.clone()?;
            }
            if kernel.wants_heap {
                values.heap = device.heap()?;
            }
            if kernel.cooperative {
                let info = size.next_multiple_of(16);
                values.multigrid = kernarg + info as u64;
                write_multigrid(&mut block[info..], kernel);
            }
            hidden::write(
                &mut block[..size],
                kernel.kernel.hidden_arguments(),
                &values,
            );
        }

        let signal = if close || timed {
            Some(self.take_signal()?)
        } else {
            None
        };
        let completion = signal
            .as_ref()
            .map(|signal| signal.raw())
            .unwrap_or_default();
        let header = Header {
            kind: HSA_PACKET_TYPE_KERNEL_DISPATCH,
            barrier: !kernel.any_order,
            acquire: if self.acquire_system {
                HSA_FENCE_SCOPE_SYSTEM
            } else {
                HSA_FENCE_SCOPE_AGENT
            },
            release: if close {
                HSA_FENCE_SCOPE_SYSTEM
            } else {
                HSA_FENCE_SCOPE_AGENT
            },
        };
        let dispatch = Packet::kernel(
            header,
            kernel.dimensions,
            kernel.grid,
            kernel.block,
            private_segment(kernel, &device),
            metadata.group_segment_fixed_size + kernel.dynamic_lds,
            kernel.kernel.object(),
            kernarg,
            completion,
        );
        let foreign = self.last_foreign();
        let hw_queue = match (&cooperative, &self.hw) {
            (Some(queue), _) => queue.id,
            (None, Some(hw)) => hw.id,
            (None, None) => 0,
        };
        let pushed = if let Some(queue) = &cooperative {
            let mut packets = Vec::new();
            let own = self.last_pending().and_then(|batch| batch.signal.clone());
            let all: Vec<_> = dependencies.iter().cloned().chain(own).collect();
            if !all.is_empty() {
                self.dependency_packets(&all, DEPENDENCY, hsa_signal_t::default(), &mut packets);
            }
            packets.push(dispatch);
            queue.push(&packets, true)
        } else {
            let ring = close || self.open % DOORBELL_EVERY == DOORBELL_EVERY - 1;
            match &self.hw {
                Some(hw) if dependencies.is_empty() && !foreign => hw.push(&[dispatch], ring),
                Some(hw) => {
                    let mut packets = Vec::new();
                    self.dependency_packets(
                        dependencies,
                        DEPENDENCY,
                        hsa_signal_t::default(),
                        &mut packets,
                    );
                    packets.push(dispatch);
                    hw.push(&packets, ring)
                }
                None => None,
            }
        };
        let Some(packet) = pushed else {
            if let Some(signal) = signal {
                device.signals().give(&mut self.signals, signal);
            }
            return Err(Full::Later);
        };
        if !dependencies.is_empty() || cooperative.is_some() || foreign {
            self.await_signals(dependencies);
        }
        // The next packet need not look beyond the device again until the host or a copy engine has written something.
        self.acquire_system = close;
        Ok(Dispatched {
            signal,
            close,
            other: cooperative.is_some(),
            hw_queue,
            packet,
        })
    }
}

/// Scratch of a work-item: what the metadata say; more, up to 16 KiB, if the kernel's need is not known.
fn private_segment(kernel: &KernelCommand, device: &Device) -> u32 {
    let metadata = kernel.kernel.metadata();
    let fixed = metadata.private_segment_fixed_size;
    if metadata.uses_dynamic_stack {
        fixed.max(device.stack_size().min(16 * 1024))
    } else {
        fixed
    }
}

/// Fills `struct mg_info { mg_sync* mgs; u32 grid_id; u32 num_grids; u64 prev_sum; u64 all_sum; mg_sync sgs; u32 num_wg; }`.
fn write_multigrid(block: &mut [u8], kernel: &KernelCommand) {
    let items: u64 = kernel.grid.iter().map(|size| u64::from(*size)).product();
    let grid = match kernel.multigrid.as_deref() {
        Some(grid) => *grid,
        None => MultiGrid {
            sync: 0,
            index: 0,
            count: 1,
            before: 0,
            all: items,
        },
    };
    let groups: u32 = kernel
        .grid
        .iter()
        .zip(kernel.block)
        .map(|(grid, block)| grid.div_ceil(u32::from(block).max(1)))
        .product();
    block[..8].copy_from_slice(&grid.sync.to_le_bytes());
    block[8..12].copy_from_slice(&grid.index.to_le_bytes());
    block[12..16].copy_from_slice(&grid.count.to_le_bytes());
    block[16..24].copy_from_slice(&grid.before.to_le_bytes());
    block[24..32].copy_from_slice(&grid.all.to_le_bytes());
    block[40..44].copy_from_slice(&groups.to_le_bytes());
}
