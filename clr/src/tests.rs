//! Tests of the command model over the mock: order, batches, dependencies, failures, callbacks, faults.

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

#[test]
fn commands_of_a_queue_run_in_order() {
    in_all_modes(|f| {
        let queue = f.queue();
        let kernel = mock::kernel(&f.device, double_and_add, 2);
        let value = AtomicU64::new(1);
        for bit in [1, 0, 1, 1, 0, 1] {
            launch(&queue, &kernel, &[address(&value), bit], &[]);
        }
        queue.finish().expect("no error");
        assert_eq!(value.load(Ordering::SeqCst), 0b1101101);
        assert!(queue.query());
        assert!(queue.last_command().is_none());
        assert!(f.device.active_queues().is_empty());
    });
}

#[test]
fn many_commands_go_through_small_pools() {
    let f = fixture_with(Config {
        aql_queue_size: 64,
        max_batch_size: 7,
        ..Config::default()
    });
    let kernel = mock::kernel(&f.device, double_and_add, 2);
    let queues = [
        f.queue(),
        f.queue(),
        f.queue(),
        f.queue(),
        f.queue(),
        f.queue(),
    ];
    let values: Vec<AtomicU64> = (0..6).map(|_| AtomicU64::new(0)).collect();
    for round in 0..1000_u64 {
        for (queue, value) in queues.iter().zip(&values) {
            launch(queue, &kernel, &[address(value), round & 1], &[]);
        }
    }
    let mut expected = 0_u64;
    for round in 0..1000 {
        expected = expected.wrapping_mul(2).wrapping_add(round & 1);
    }
    for (queue, value) in queues.iter().zip(&values) {
        queue.finish().expect("no error");
        assert_eq!(value.load(Ordering::SeqCst), expected);
    }
}

#[test]
fn status_goes_down_once_and_ends_complete() {
    let f = fixture();
    let queue = f.queue();
    let gate = AtomicU64::new(0);
    let kernel = mock::kernel(&f.device, wait_for_flag, 1);
    let event = launch(&queue, &kernel, &[address(&gate)], &[]);
    assert!(event.query() > Status::COMPLETE);
    assert!(!queue.query());
    assert_eq!(f.device.active_queues().len(), 1);
    gate.store(1, Ordering::SeqCst);
    event.wait().expect("no error");
    assert_eq!(event.status(), Status::COMPLETE);
    assert!(!event.0.advance(Status::RUNNING));
    assert!(!event.0.advance(Status::DEVICE_FAULT));
    assert_eq!(event.status(), Status::COMPLETE);
}

#[test]
fn events_order_work_across_queues() {
    in_all_modes(|f| {
        let (a, b) = (f.queue(), f.queue());
        let gate = AtomicU64::new(0);
        let value = AtomicU64::new(1);
        let wait = mock::kernel(&f.device, wait_for_flag, 1);
        let add = mock::kernel(&f.device, double_and_add, 2);
        launch(&a, &wait, &[address(&gate)], &[]);
        launch(&a, &add, &[address(&value), 0], &[]);
        let recorded = a.enqueue_marker(&[]).expect("a marker");
        b.enqueue_marker(std::slice::from_ref(&recorded))
            .expect("a marker");
        let second = launch(&b, &add, &[address(&value), 1], &[]);
        assert!(!second.query().is_terminal());
        gate.store(1, Ordering::SeqCst);
        b.finish().expect("no error");
        assert_eq!(value.load(Ordering::SeqCst), 0b101);
        recorded.wait().expect("no error");
    });
}

#[test]
fn a_user_event_holds_its_dependents_and_nobody_else() {
    in_all_modes(|f| {
        let (a, b) = (f.queue(), f.queue());
        let value = AtomicU64::new(1);
        let add = mock::kernel(&f.device, double_and_add, 2);
        let user = Event::user();
        let held = launch(&a, &add, &[address(&value), 1], std::slice::from_ref(&user));
        let free = launch(&b, &add, &[address(&value), 0], &[]);
        free.wait().expect("no error");
        assert!(!held.query().is_terminal());
        assert!(user.set_user_status(Status::COMPLETE));
        assert!(
            !user.set_user_status(Status::COMPLETE),
            "a user event ends once"
        );
        held.wait().expect("no error");
        assert_eq!(value.load(Ordering::SeqCst), 0b101);
    });
}

#[test]
fn a_failed_dependency_fails_its_dependents_and_not_the_queue() {
    in_all_modes(|f| {
        let (a, b) = (f.queue(), f.queue());
        let value = AtomicU64::new(1);
        let add = mock::kernel(&f.device, double_and_add, 2);
        let user = Event::user();
        let first = launch(&a, &add, &[address(&value), 1], std::slice::from_ref(&user));
        let second = launch(
            &b,
            &add,
            &[address(&value), 1],
            std::slice::from_ref(&first),
        );
        let later = launch(&a, &add, &[address(&value), 0], &[]);
        assert!(user.set_user_status(Status(-7)));
        assert!(matches!(
            first.wait(),
            Err(Error::CommandFailed(Status::DEPENDENCY_FAILED))
        ));
        assert!(matches!(
            second.wait(),
            Err(Error::CommandFailed(Status::DEPENDENCY_FAILED))
        ));
        later
            .wait()
            .expect("a command without that dependency runs");
        assert_eq!(value.load(Ordering::SeqCst), 2, "neither dependent ran");
        assert!(matches!(a.finish(), Err(Error::CommandFailed(_))));
        a.finish().expect("an error is told once");
    });
}

#[test]
fn callbacks_run_once_in_order_before_the_end_is_visible() {
    let f = fixture();
    let queue = f.queue();
    let gate = AtomicU64::new(0);
    let kernel = mock::kernel(&f.device, wait_for_flag, 1);
    let event = launch(&queue, &kernel, &[address(&gate)], &[]);
    let seen = Arc::new(Mutex::new(Vec::new()));
    for index in 0..4 {
        let (seen, event_seen) = (seen.clone(), event.clone());
        event.on_complete(move |status| {
            seen.lock()
                .push((index, status, event_seen.status().is_terminal()));
        });
    }
    gate.store(1, Ordering::SeqCst);
    event.wait().expect("no error");
    let expected: Vec<_> = (0..4)
        .map(|index| (index, Status::COMPLETE, false))
        .collect();
    assert_eq!(*seen.lock(), expected);
    // After the end: at once, here.
    let late = Arc::new(AtomicBool::new(false));
    let flag = late.clone();
    event.on_complete(move |_| flag.store(true, Ordering::SeqCst));
    assert!(late.load(Ordering::SeqCst));
}

#[test]
fn callbacks_run_without_any_waiter() {
    let f = fixture();
    let queue = f.queue();
    let gate = AtomicU64::new(0);
    let kernel = mock::kernel(&f.device, wait_for_flag, 1);
    let event = launch(&queue, &kernel, &[address(&gate)], &[]);
    let (sender, receiver) = mpsc::channel();
    event.on_complete(move |status| sender.send(status).expect("the test waits"));
    gate.store(1, Ordering::SeqCst);
    assert_eq!(
        receiver.recv_timeout(Duration::from_secs(20)),
        Ok(Status::COMPLETE)
    );
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

#[test]
fn a_host_function_that_blocks_stops_its_own_queue_only() {
    in_all_modes(|f| {
        let gates: Vec<Gate> = (0..12).map(|_| Gate::default()).collect();
        let queues: Vec<_> = gates.iter().map(|_| f.queue()).collect();
        for (queue, gate) in queues.iter().zip(&gates) {
            queue
                .enqueue_host_function(gate.function(), false, &[])
                .expect("a function");
        }
        gates[11].open();
        queues[11].finish().expect("no error");
        assert!(!queues[0].query());
        for gate in &gates {
            gate.open();
        }
        for queue in &queues {
            queue.finish().expect("no error");
        }
    });
}

#[test]
fn later_work_waits_for_the_host_function_and_the_function_for_earlier_work() {
    in_all_modes(|f| {
        let queue = f.queue();
        let add = mock::kernel(&f.device, double_and_add, 2);
        let value = Arc::new(AtomicU64::new(1));
        let seen = Arc::new(AtomicU64::new(0));
        launch(&queue, &add, &[address(&value), 0], &[]);
        let (there, note) = (value.clone(), seen.clone());
        queue
            .enqueue_host_function(
                Box::new(move |status| {
                    assert_eq!(status, Status::COMPLETE);
                    note.store(there.load(Ordering::SeqCst), Ordering::SeqCst);
                    thread::sleep(Duration::from_millis(5));
                    there.store(8, Ordering::SeqCst);
                }),
                false,
                &[],
            )
            .expect("a function");
        launch(&queue, &add, &[address(&value), 1], &[]);
        queue.finish().expect("no error");
        assert_eq!(seen.load(Ordering::SeqCst), 2);
        assert_eq!(value.load(Ordering::SeqCst), 17);
    });
}

#[test]
fn host_functions_with_cross_queue_events_do_not_deadlock() {
    in_all_modes(|f| {
        let (a, b) = (f.queue(), f.queue());
        for _ in 0..50 {
            let order = Arc::new(Mutex::new(Vec::new()));
            let note = |number: u32| -> Box<dyn FnOnce(Status) + Send> {
                let order = order.clone();
                Box::new(move |_| order.lock().push(number))
            };
            a.enqueue_host_function(note(123), false, &[])
                .expect("a function");
            let event = a.enqueue_marker(&[]).expect("a marker");
            b.enqueue_marker(&[event]).expect("a marker");
            b.enqueue_host_function(note(456), false, &[])
                .expect("a function");
            a.finish().expect("no error");
            b.finish().expect("no error");
            assert_eq!(*order.lock(), [123, 456]);
        }
    });
}

#[test]
fn a_released_queue_finishes_its_work() {
    in_all_modes(|f| {
        let queue = f.queue();
        let gate = Gate::default();
        let value = AtomicU64::new(1);
        let add = mock::kernel(&f.device, double_and_add, 2);
        queue
            .enqueue_host_function(gate.function(), false, &[])
            .expect("a function");
        let event = launch(&queue, &add, &[address(&value), 1], &[]);
        drop(queue);
        assert!(event.queue().is_none());
        gate.open();
        f.device.synchronize().expect("no error");
        assert_eq!(value.load(Ordering::SeqCst), 3);
        event.wait().expect("the event outlives its queue");
        let other = f.queue();
        other.enqueue_marker(&[event]).expect("a marker");
        other.finish().expect("no error");
    });
}

#[test]
fn a_terminated_queue_refuses_commands() {
    let f = fixture();
    let queue = f.queue();
    queue.enqueue_marker(&[]).expect("a marker");
    queue.terminate().expect("no error");
    assert!(matches!(queue.enqueue_marker(&[]), Err(Error::Gone(_))));
}

#[test]
fn copies_of_all_kinds_keep_the_order_of_the_queue() {
    in_all_modes(|f| {
        let queue = f.queue();
        const SIZE: usize = 1 << 20;
        let pinned = f
            .runtime
            .allocate_host(&f.device, SIZE, HostFlags::COHERENT)
            .expect("memory")
            .device_address();
        let (a, b) = (f.device_memory(SIZE), f.device_memory(SIZE));
        let source: Vec<u8> = (0..SIZE).map(|index| (index % 251) as u8).collect();
        let mut target = vec![0_u8; SIZE];
        let gate = AtomicU64::new(0);
        let wait = mock::kernel(&f.device, wait_for_flag, 1);
        // SAFETY: everything lives until the queue has finished.
        unsafe {
            launch(&queue, &wait, &[address(&gate)], &[]);
            queue
                .enqueue_fill(pinned, &[0xaa], SIZE, &[])
                .expect("a fill");
            queue
                .enqueue_copy(pinned, source.as_ptr() as u64, SIZE, &[])
                .expect("pageable to pinned");
            queue
                .enqueue_copy(a, pinned, SIZE, &[])
                .expect("pinned to device");
            queue
                .enqueue_copy(b, a, SIZE, &[])
                .expect("device to device");
            queue
                .enqueue_fill(a, &[1, 2, 3, 4], 16, &[])
                .expect("a fill");
            queue.enqueue_copy(b + 8, a, 8, &[]).expect("a small copy");
            let last = queue
                .enqueue_copy(target.as_mut_ptr() as u64, b, SIZE, &[])
                .expect("device to pageable");
            assert!(!last.query().is_terminal());
            gate.store(1, Ordering::SeqCst);
            last.wait().expect("no error");
        }
        assert_eq!(target[..8], source[..8]);
        assert_eq!(target[8..16], [1, 2, 3, 4, 1, 2, 3, 4]);
        assert_eq!(target[16..], source[16..]);
    });
}

#[test]
fn a_pinned_copy_behind_a_kernel_does_not_block_the_caller() {
    let f = fixture_with(Config {
        direct_dispatch: true,
        ..Config::default()
    });
    let queue = f.queue();
    let pinned = f
        .runtime
        .allocate_host(&f.device, 64, HostFlags::COHERENT)
        .expect("memory");
    let device = f.device_memory(64);
    let gate = AtomicU64::new(0);
    let wait = mock::kernel(&f.device, wait_for_flag, 1);
    launch(&queue, &wait, &[address(&gate)], &[]);
    // SAFETY: both live until the end.
    let copy =
        unsafe { queue.enqueue_copy(pinned.device_address(), device, 64, &[]) }.expect("a copy");
    assert!(!copy.query().is_terminal());
    gate.store(1, Ordering::SeqCst);
    copy.wait().expect("no error");
}

#[test]
fn copies_over_the_end_of_an_allocation_are_refused() {
    let f = fixture();
    let queue = f.queue();
    let memory = f.device_memory(100);
    let mut host = [0_u8; 200];
    // SAFETY: refused, or of size 0.
    unsafe {
        let result = queue.enqueue_copy(memory + 1, host.as_mut_ptr() as u64, 100, &[]);
        assert!(matches!(result, Err(Error::InvalidValue(_))));
        let result = queue.enqueue_copy(host.as_mut_ptr() as u64, memory, usize::MAX, &[]);
        assert!(matches!(result, Err(Error::InvalidValue(_))));
        queue
            .enqueue_copy(memory, host.as_ptr() as u64, 0, &[])
            .expect("nothing to do");
        let result = queue.enqueue_fill(memory, &[1, 2, 3], 100, &[]);
        assert!(matches!(result, Err(Error::InvalidValue(_))));
    }
    queue.finish().expect("no error");
}

#[test]
fn rectangles_touch_what_they_should_and_nothing_else() {
    let f = fixture();
    let queue = f.queue();
    // 4 x 4 x 4 integers, value 16z + 4y + x; copied: column x = 3, y and z from 0 to 2.
    let source: Vec<u32> = (0..64).collect();
    let mut target = vec![133_u32; 64];
    let device = f.device_memory(8 * 4 * 4 * 4);
    let column = 12;
    let host = Rect {
        address: source.as_ptr() as u64,
        row_pitch: 16,
        slice_pitch: 64,
    };
    let pitched = Rect {
        address: device,
        row_pitch: 32,
        slice_pitch: 128,
    };
    // SAFETY: all live until the queue has finished.
    unsafe {
        queue
            .enqueue_copy_rect(
                &CopyRect {
                    dst: pitched,
                    src: host,
                    extent: [16, 4, 4],
                },
                &[],
            )
            .expect("a copy");
        let dst = Rect {
            address: target.as_mut_ptr() as u64 + column,
            ..host
        };
        let src = Rect {
            address: device + column,
            ..pitched
        };
        queue
            .enqueue_copy_rect(
                &CopyRect {
                    dst,
                    src,
                    extent: [4, 3, 3],
                },
                &[],
            )
            .expect("a copy");
        queue.finish().expect("no error");
    }
    for (index, value) in target.iter().enumerate() {
        let (x, y, z) = (index % 4, index / 4 % 4, index / 16);
        let copied = x == 3 && y < 3 && z < 3;
        assert_eq!(
            *value,
            if copied { index as u32 } else { 133 },
            "at {x} {y} {z}"
        );
    }
    let mut bytes = vec![0_u8; 100];
    let fill = FillRect {
        dst: Rect {
            address: bytes.as_mut_ptr() as u64 + 11,
            row_pitch: 10,
            slice_pitch: 0,
        },
        extent: [4, 3, 1],
    };
    // SAFETY: as above.
    unsafe { queue.enqueue_fill_rect(&fill, &[7], &[]) }.expect("a fill");
    queue.finish().expect("no error");
    for (index, byte) in bytes.iter().enumerate() {
        let inside = (1..4).contains(&(index / 10)) && (1..5).contains(&(index % 10));
        assert_eq!(*byte, if inside { 7 } else { 0 }, "at {index}");
    }
    let overlapping = FillRect {
        dst: Rect {
            address: 0x1000,
            row_pitch: 2,
            slice_pitch: 0,
        },
        extent: [4, 3, 1],
    };
    // SAFETY: refused.
    let result = unsafe { queue.enqueue_fill_rect(&overlapping, &[7], &[]) };
    assert!(matches!(result, Err(Error::InvalidValue(_))));
}

#[test]
fn a_ring_of_value_writes_and_waits_finishes() {
    in_all_modes(|f| {
        const QUEUES: usize = 6;
        let signals: Vec<u64> = (0..QUEUES)
            .map(|_| {
                f.runtime
                    .allocate_signal(&f.device)
                    .expect("a signal")
                    .device_address()
            })
            .collect();
        let queues: Vec<_> = (0..QUEUES).map(|_| f.queue()).collect();
        for round in 1..=20_u64 {
            for (index, queue) in queues.iter().enumerate() {
                // SAFETY: the signals live until the end.
                unsafe {
                    queue
                        .enqueue_write_value(signals[index], ValueWidth::Bits64, round, &[])
                        .expect("a write");
                    for other in &signals {
                        queue
                            .enqueue_wait_value(
                                *other,
                                ValueWidth::Bits64,
                                round,
                                u64::MAX,
                                ValueCondition::GreaterOrEqual,
                                &[],
                            )
                            .expect("a wait");
                    }
                }
            }
        }
        for queue in &queues {
            queue.finish().expect("no error");
        }
        for signal in signals {
            // SAFETY: alive.
            assert_eq!(unsafe { (signal as *const u64).read() }, 20);
            f.runtime.free(signal as usize).expect("signal memory");
        }
    });
}

#[test]
fn markers_have_times_that_never_go_back() {
    let f = fixture();
    let queue = f.queue();
    let value = AtomicU64::new(0);
    let add = mock::kernel(&f.device, double_and_add, 2);
    for _ in 0..100 {
        let start = queue.enqueue_marker(&[]).expect("a marker");
        launch(&queue, &add, &[address(&value), 0], &[]);
        let stop = queue.enqueue_marker(&[]).expect("a marker");
        queue.finish().expect("no error");
        let (start, stop) = (start.profiling(), stop.profiling());
        assert!(start.queued > 0 && start.queued <= start.end);
        assert!(start.end <= stop.end, "{start:?} {stop:?}");
    }
}

#[test]
fn a_fault_fails_everything_outstanding_and_hangs_nobody() {
    in_all_modes(|f| {
        let (a, b) = (f.queue(), f.queue());
        // Kernels may still look at them when the test has ended.
        let never: &'static AtomicU64 = Box::leak(Box::default());
        let value = AtomicU64::new(0);
        let add = mock::kernel(&f.device, double_and_add, 2);
        let wait = mock::kernel(&f.device, wait_for_flag, 1);
        let fault = mock::kernel_object(&f.device, mock::FAULT, 0);
        let outstanding = launch(&b, &wait, &[address(never)], &[]);
        let bad = launch(&a, &fault, &[], &[]);
        // The fault may have come by now, which these calls may say at once.
        let bytes: Vec<u8> = [address(&value), 1]
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        let behind = Launch {
            kernel: &add,
            grid: [1, 1, 1],
            block: [1, 1, 1],
            dynamic_shared: 0,
            arguments: Arguments::Packed(&bytes),
            cooperative: false,
            any_order: false,
        };
        // SAFETY: the value lives until the end.
        let behind = unsafe { a.enqueue_kernel(&behind, &[]) };
        let Err(Error::Fault(report)) = bad.wait() else {
            panic!("the fault was not told")
        };
        assert_eq!(report.kind, FaultKind::IllegalAddress);
        if let Ok(behind) = behind {
            assert!(matches!(behind.wait(), Err(Error::Fault(_))));
        }
        assert!(matches!(outstanding.wait(), Err(Error::Fault(_))));
        assert!(matches!(a.finish(), Err(Error::Fault(_))));
        assert!(matches!(f.device.synchronize(), Err(Error::Fault(_))));
        assert!(matches!(b.enqueue_marker(&[]), Err(Error::Fault(_))));
        let told = Arc::new(AtomicU32::new(0));
        let note = told.clone();
        a.enqueue_host_function(
            Box::new(move |status| note.store(status.0 as u32, Ordering::SeqCst)),
            true,
            &[],
        )
        .expect("stream callbacks hear of the error")
        .wait()
        .expect_err("it has the device's error");
        assert_eq!(told.load(Ordering::SeqCst) as i32, Status::DEVICE_FAULT.0);
        // A reset device works again.
        f.device.reset();
        let _ = (a.finish(), b.finish());
        launch(&a, &add, &[address(&value), 1], &[])
            .wait()
            .expect("no error");
        assert_eq!(value.load(Ordering::SeqCst), 1);
        never.store(1, Ordering::SeqCst);
    });
}

#[test]
fn launches_that_cannot_be_are_refused() {
    let f = fixture();
    let queue = f.queue();
    let kernel = mock::kernel(&f.device, double_and_add, 2);
    let good = Launch {
        kernel: &kernel,
        grid: [64, 1, 1],
        block: [64, 1, 1],
        dynamic_shared: 0,
        arguments: Arguments::Packed(&[0; 16]),
        cooperative: false,
        any_order: false,
    };
    // SAFETY: none of these is enqueued.
    let refuse =
        |launch: Launch<'_>| unsafe { queue.enqueue_kernel(&launch, &[]) }.expect_err("refused");
    assert!(matches!(
        refuse(Launch {
            grid: [0, 1, 1],
            ..good
        }),
        Error::InvalidValue(_)
    ));
    assert!(matches!(
        refuse(Launch {
            block: [0, 1, 1],
            ..good
        }),
        Error::InvalidValue(_)
    ));
    assert!(matches!(
        refuse(Launch {
            block: [64, 64, 1],
            ..good
        }),
        Error::LaunchLimit { .. }
    ));
    assert!(matches!(
        refuse(Launch {
            block: [u32::MAX; 3],
            ..good
        }),
        Error::LaunchLimit { .. }
    ));
    assert!(matches!(
        refuse(Launch {
            dynamic_shared: u32::MAX,
            ..good
        }),
        Error::LaunchLimit { .. }
    ));
    let short = Launch {
        arguments: Arguments::Packed(&[0; 15]),
        ..good
    };
    assert!(matches!(refuse(short), Error::InvalidValue(_)));
    let null = Launch {
        arguments: Arguments::Pointers(&[std::ptr::null(); 2]),
        ..good
    };
    assert!(matches!(refuse(null), Error::InvalidValue(_)));
    let few = Launch {
        arguments: Arguments::Pointers(&[]),
        ..good
    };
    assert!(matches!(refuse(few), Error::InvalidValue(_)));
}

#[test]
fn threads_with_queues_of_their_own_do_not_disturb_each_other() {
    in_all_modes(|f| {
        let kernel = mock::kernel(&f.device, double_and_add, 2);
        let errors = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    let queue = f.queue();
                    for _ in 0..50 {
                        let value = AtomicU64::new(1);
                        for bit in [1, 0, 1] {
                            launch(&queue, &kernel, &[address(&value), bit], &[]);
                        }
                        if queue.finish().is_err() || value.load(Ordering::SeqCst) != 0b1101 {
                            errors.fetch_add(1, Ordering::SeqCst);
                        }
                    }
                });
            }
        });
        assert_eq!(errors.load(Ordering::SeqCst), 0);
    });
}

#[test]
fn one_queue_takes_commands_from_many_threads() {
    in_all_modes(|f| {
        let queue = f.queue();
        let counter = AtomicU64::new(0);
        unsafe extern "C" fn count(arguments: *const u8) {
            // SAFETY: the test passes a pointer to an AtomicU64. Not atomic on purpose: the queue's order protects it.
            unsafe {
                let place = arguments.cast::<u64>().read() as *mut u64;
                place.write_volatile(place.read_volatile() + 1);
            }
        }
        let kernel = mock::kernel(&f.device, count, 1);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for index in 0..100 {
                        let event = launch(&queue, &kernel, &[address(&counter)], &[]);
                        if index % 10 == 0 {
                            event.wait().expect("no error");
                        }
                    }
                });
            }
        });
        queue.finish().expect("no error");
        assert_eq!(counter.load(Ordering::SeqCst), 400);
    });
}

#[test]
fn idle_queues_cost_no_thread_and_launching_reuses_events_and_signals() {
    let f = fixture();
    let queues: Vec<_> = (0..1000).map(|_| f.queue()).collect();
    let kernel = mock::kernel(&f.device, double_and_add, 2);
    let value = AtomicU64::new(0);
    let queue = &queues[0];
    for _ in 0..10 {
        launch(queue, &kernel, &[address(&value), 0], &[]);
        queue.finish().expect("no error");
    }
    let first = Arc::as_ptr(&launch(queue, &kernel, &[address(&value), 0], &[]).0);
    queue.finish().expect("no error");
    let second = Arc::as_ptr(&launch(queue, &kernel, &[address(&value), 0], &[]).0);
    queue.finish().expect("no error");
    assert_eq!(first, second, "the event is used again");
}

#[test]
fn memory_is_found_by_interior_addresses_and_forgotten_when_freed() {
    let f = fixture();
    let memory = f
        .runtime
        .allocate_device(&f.device, 1000, false)
        .expect("memory");
    let base = memory.device_address() as usize;
    let (found, offset) = f.runtime.find_memory(base + 999).expect("inside");
    assert_eq!((found.id(), offset), (memory.id(), 999));
    assert!(f.runtime.find_memory(base + 1000).is_none());
    let (free, total) = f.device.memory_info();
    assert_eq!(total - free, 4096);
    assert!(matches!(
        f.runtime.free(base + 1),
        Err(Error::UnknownAddress(_))
    ));
    f.runtime.free(base).expect("the base");
    assert!(matches!(
        f.runtime.free(base),
        Err(Error::UnknownAddress(_))
    ));
    assert_eq!(f.device.memory_info(), (total, total));
    assert!(matches!(
        f.runtime.allocate_device(&f.device, usize::MAX, false),
        Err(Error::OutOfMemory { .. })
    ));
    assert!(matches!(
        f.runtime.allocate_device(&f.device, 16, true),
        Err(Error::Unsupported(_))
    ));
    let mut host = vec![0_u8; 100];
    let address = host.as_mut_ptr() as usize;
    // SAFETY: unregistered below.
    unsafe {
        f.runtime
            .register_host(&f.device, address, 100, HostFlags::MAPPED)
            .expect("a range");
        let again = f
            .runtime
            .register_host(&f.device, address + 50, 100, HostFlags::MAPPED);
        assert!(matches!(again, Err(Error::AlreadyRegistered(_))));
    }
    assert!(matches!(
        f.runtime.free(address),
        Err(Error::UnknownAddress(_))
    ));
    f.runtime.unregister_host(address).expect("registered");
    assert!(f.runtime.find_memory(address).is_none());
}
