//! Tests of the command model over the mock, in both dispatch modes and both ways to wait.
//!
//! This file has what the tests share.

mod callbacks;
mod device_queue;
mod faults;
mod model;
mod order;
mod prepared;
mod staging;
mod threads;
mod transfer;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use parking_lot::Mutex;

use crate::{
    Arguments, Config, CopyRect, Device, Error, Event, FaultKind, FillRect, HostFlags, HostQueue,
    Kernel, Launch, QueueOptions, Rect, Runtime, Status, ValueCondition, ValueWidth, mock,
};

struct Fixture {
    runtime: Arc<Runtime>,
    device: Arc<Device>,
}

fn fixture_with(config: Config) -> Fixture {
    let runtime = mock::runtime(config);
    let device = runtime.devices()[0].clone();
    Fixture { runtime, device }
}

fn fixture() -> Fixture {
    fixture_with(Config::default())
}

/// Runs a test in both dispatch modes and both wait modes.
fn in_all_modes(test: impl Fn(Fixture)) {
    for direct_dispatch in [false, true] {
        for cpu_wait in [false, true] {
            test(fixture_with(Config {
                direct_dispatch,
                cpu_wait,
                ..Config::default()
            }));
        }
    }
}

impl Fixture {
    fn queue(&self) -> Arc<HostQueue> {
        HostQueue::new(&self.device, QueueOptions::default()).expect("a queue")
    }

    fn device_memory(&self, size: usize) -> u64 {
        self.runtime
            .allocate_device(&self.device, size, false)
            .expect("memory")
            .device_address()
    }
}

fn launch(
    queue: &HostQueue,
    kernel: &Arc<Kernel>,
    arguments: &[u64],
    wait_list: &[Event],
) -> Event {
    let bytes: Vec<u8> = arguments
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let launch = Launch {
        kernel,
        grid: [64, 1, 1],
        block: [64, 1, 1],
        dynamic_shared: 0,
        arguments: Arguments::Packed(&bytes),
        cooperative: false,
        any_order: false,
    };
    // SAFETY: the mock's kernels use what the tests keep alive.
    unsafe { queue.enqueue_kernel(&launch, wait_list) }.expect("a launch")
}

/// `*(arg 0)` becomes `2 * *(arg 0) + arg 1`: the result tells the order of several.
unsafe extern "C" fn double_and_add(arguments: *const u8) {
    // SAFETY: the tests pass a pointer to an AtomicU64 and a number.
    unsafe {
        let arguments = arguments.cast::<u64>();
        let place = &*(arguments.read() as *const AtomicU64);
        let value = place.load(Ordering::SeqCst);
        place.store(
            value.wrapping_mul(2).wrapping_add(arguments.add(1).read()),
            Ordering::SeqCst,
        );
    }
}

/// Waits until `*(arg 0)` is not 0.
unsafe extern "C" fn wait_for_flag(arguments: *const u8) {
    // SAFETY: the tests pass a pointer to an AtomicU64.
    unsafe {
        let place = &*(arguments.cast::<u64>().read() as *const AtomicU64);
        while place.load(Ordering::SeqCst) == 0 {
            thread::sleep(Duration::from_micros(50));
        }
    }
}

fn address(value: &AtomicU64) -> u64 {
    std::ptr::from_ref(value) as u64
}

/// Opens when told; a host function that waits for it.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<bool>, parking_lot::Condvar)>);

impl Gate {
    fn open(&self) {
        *self.0.0.lock() = true;
        self.0.1.notify_all();
    }

    fn function(&self) -> Box<dyn FnOnce(Status) + Send> {
        let gate = self.clone();
        Box::new(move |_| {
            let mut open = gate.0.0.lock();
            while !*open {
                gate.0.1.wait(&mut open);
            }
        })
    }
}
