//! The rest of the command model: out-of-order queues, all kinds of command, unshared hardware queues, memory that the host cannot access,
//! hang reports.

use std::sync::atomic::AtomicI64;

use super::*;
use crate::{HangAction, MigrateTarget, Priority, watch};

fn out_of_order(f: &Fixture) -> Arc<HostQueue> {
    HostQueue::new(
        &f.device,
        QueueOptions {
            out_of_order: true,
            ..QueueOptions::default()
        },
    )
    .expect("a queue")
}

#[test]
fn an_unset_user_event_holds_its_own_command_of_an_out_of_order_queue_only() {
    in_all_modes(|f| {
        let queue = out_of_order(&f);
        let value = f.value(1);
        let add = f.kernel(&DOUBLE_AND_ADD);
        let user = Event::user();
        let held = launch(
            &queue,
            &add,
            &[address(&value), 1],
            std::slice::from_ref(&user),
        );
        let free = launch(&queue, &add, &[address(&value), 0], &[]);
        queue.flush();
        free.wait().expect("no error");
        assert_eq!(value.load(Ordering::SeqCst), 0b10);
        assert!(!held.query().is_terminal());
        assert!(!queue.query());
        assert!(user.set_user_status(Status::COMPLETE));
        queue.finish().expect("no error");
        assert_eq!(value.load(Ordering::SeqCst), 0b101);
        assert!(queue.query());
        assert!(f.device.active_queues().is_empty());
    });
}

#[test]
fn who_asks_for_an_end_that_the_device_has_told_is_told_so_while_another_thread_is_at_the_queue() {
    in_all_modes(|f| {
        let queue = f.queue();
        let ask: [&dyn Fn(&Event) -> bool; 2] =
            [&|event| event.query() == Status::COMPLETE, &|_| {
                queue.query()
            }];
        for ended in ask {
            let gate = f.value(0);
            let event = launch(&queue, &f.kernel(&WAIT_FOR_FLAG), &[address(&gate)], &[]);
            let signal = loop {
                if let Some(signal) = event.0.signal() {
                    break signal;
                }
                thread::yield_now();
            };
            thread::scope(|scope| {
                let (sender, occupied) = mpsc::channel();
                let (queue, its) = (&queue, signal.clone());
                scope.spawn(move || {
                    queue.core().occupied(|| {
                        sender.send(()).expect("the test waits");
                        while !its.is_done() {
                            thread::yield_now();
                        }
                        thread::sleep(Duration::from_millis(5));
                    });
                });
                occupied.recv().expect("the thread runs");
                assert!(!ended(&event));
                gate.store(1, Ordering::SeqCst);
                while !signal.is_done() {
                    thread::yield_now();
                }
                assert!(ended(&event));
            });
        }
    });
}

#[test]
fn a_queue_whose_commands_are_awaited_wakes_no_worker() {
    in_all_modes(|f| {
        let options = QueueOptions {
            awaited: true,
            ..QueueOptions::default()
        };
        let queue = HostQueue::new(&f.device, options).expect("a queue");
        let value = f.value(1);
        for add in [0, 1, 1] {
            launch(
                &queue,
                &f.kernel(&DOUBLE_AND_ADD),
                &[address(&value), add],
                &[],
            )
            .wait()
            .expect("no error");
        }
        assert_eq!(value.load(Ordering::SeqCst), 0b1011);
        drop(queue);
        assert_eq!(f.runtime.workers(), 0);
    });
}

#[test]
fn markers_and_barriers_of_an_out_of_order_queue_wait_for_all_before_them() {
    in_all_modes(|f| {
        let queue = out_of_order(&f);
        let value = f.value(1);
        let add = f.kernel(&DOUBLE_AND_ADD);
        let user = Event::user();
        launch(
            &queue,
            &add,
            &[address(&value), 1],
            std::slice::from_ref(&user),
        );
        let marker = queue.enqueue_marker(&[]).expect("a marker");
        let passes = launch(&queue, &add, &[address(&value), 0], &[]);
        passes.wait().expect("a marker stops nobody");
        assert!(!marker.query().is_terminal());
        let barrier = queue.enqueue_barrier(&[]).expect("a barrier");
        let behind = launch(&queue, &add, &[address(&value), 0], &[]);
        assert!(!behind.query().is_terminal());
        assert!(user.set_user_status(Status::COMPLETE));
        behind.wait().expect("no error");
        assert!(barrier.status().is_terminal());
        marker.wait().expect("no error");
        // passed, held, behind: 1 -> 2 -> 5 -> 10
        assert_eq!(value.load(Ordering::SeqCst), 10);
    });
}

#[test]
fn dependencies_within_an_out_of_order_queue_are_kept() {
    in_all_modes(|f| {
        let queue = out_of_order(&f);
        let value = f.value(1);
        let add = f.kernel(&DOUBLE_AND_ADD);
        let user = Event::user();
        let first = launch(
            &queue,
            &add,
            &[address(&value), 1],
            std::slice::from_ref(&user),
        );
        let second = launch(
            &queue,
            &add,
            &[address(&value), 0],
            std::slice::from_ref(&first),
        );
        let third = launch(&queue, &add, &[address(&value), 1], &[second, first]);
        assert!(user.set_user_status(Status(-3)));
        assert!(matches!(
            third.wait(),
            Err(Error::CommandFailed(Status::DEPENDENCY_FAILED))
        ));
        assert_eq!(
            value.load(Ordering::SeqCst),
            1,
            "a failure goes through the chain"
        );
    });
}

#[test]
fn callbacks_that_set_user_events_do_not_stall_a_queue() {
    in_all_modes(|f| {
        for queue in [f.queue(), out_of_order(&f)] {
            let order = Arc::new(Mutex::new(Vec::new()));
            let source = [7_u8; 64];
            let mut target = [0_u8; 64];
            let mut last = None;
            for number in 1..=2 {
                let marker = queue.enqueue_marker(&[]).expect("a marker");
                let user = Event::user();
                let (note, set) = (order.clone(), user.clone());
                marker.on_complete(move |_| {
                    note.lock().push(number);
                    set.set_user_status(Status::COMPLETE);
                });
                last = Some(queue.enqueue_barrier(&[user]).expect("a barrier"));
            }
            // SAFETY: both arrays live until the queue has finished.
            unsafe {
                queue.enqueue_copy(
                    target.as_mut_ptr() as u64,
                    source.as_ptr() as u64,
                    64,
                    &[last.expect("two rounds")],
                )
            }
            .expect("a read");
            queue.finish().expect("no error");
            assert_eq!(*order.lock(), [1, 2]);
            assert_eq!(target, source);
        }
    });
}

#[test]
fn a_read_of_one_queue_waits_for_a_write_of_another() {
    in_all_modes(|f| {
        let (a, b) = (f.queue(), f.queue());
        let memory = f.device_memory(4096);
        let source = [0x5a_u8; 4096];
        let mut target = [0_u8; 4096];
        // SAFETY: everything lives until the queues have finished.
        let read = unsafe {
            let written = a
                .enqueue_copy(memory, source.as_ptr() as u64, 4096, &[])
                .expect("a write");
            b.enqueue_copy(target.as_mut_ptr() as u64, memory, 4096, &[written])
                .expect("a read")
        };
        read.wait().expect("no error");
        assert_eq!(target, source);
        a.finish().expect("no error");
    });
}

#[test]
fn a_stream_behind_a_waiting_one_is_not_held_on_a_shared_hardware_queue() {
    for direct_dispatch in [false, true] {
        let f = fixture_with(Config {
            direct_dispatch,
            max_hw_queues: 2,
            ..Config::default()
        });
        let gate = f.value(0);
        let value = f.value(1);
        let wait = f.kernel(&WAIT_FOR_FLAG);
        let add = f.kernel(&DOUBLE_AND_ADD);
        let (gated, waiting, busy) = (f.queue(), f.queue(), f.queue());
        launch(&gated, &wait, &[address(&gate)], &[]);
        launch(&waiting, &add, &[address(&value), 0], &[])
            .wait()
            .expect("no error");
        let recorded = gated.enqueue_marker(&[]).expect("a marker");
        let after = launch(&waiting, &add, &[address(&value), 1], &[recorded]);
        after.0.core().expect("a queue").hand_over();
        // With two hardware queues, a third and a fourth stream share one with those two.
        let other = f.queue();
        let flag = f.value(1);
        let finished: Vec<Event> = [&busy, &other, &busy, &other]
            .iter()
            .map(|queue| launch(queue, &add, &[address(&flag), 0], &[]))
            .collect();
        // One of them may share with the gated kernel itself, which no runtime can help; the one beside the waiting stream goes on.
        while !finished.iter().any(|event| event.query().is_terminal()) {
            thread::yield_now();
        }
        assert!(!after.query().is_terminal());
        gate.store(1, Ordering::SeqCst);
        for queue in [&gated, &waiting, &busy, &other] {
            queue.finish().expect("no error");
        }
        assert_eq!(value.load(Ordering::SeqCst), 0b101);
    }
}

#[test]
fn every_priority_has_hardware_queues_of_its_own() {
    let config = Config {
        max_hw_queues: 1,
        ..Config::default()
    };
    in_all_modes_with(config, |f| {
        let gate = f.value(0);
        let value = f.value(1);
        let wait = f.kernel(&WAIT_FOR_FLAG);
        let add = f.kernel(&DOUBLE_AND_ADD);
        let queue = |priority| {
            HostQueue::new(
                &f.device,
                QueueOptions {
                    priority,
                    ..QueueOptions::default()
                },
            )
            .expect("a queue")
        };
        let low = queue(Priority::Low);
        launch(&low, &wait, &[address(&gate)], &[]);
        for priority in [Priority::Normal, Priority::High] {
            launch(&queue(priority), &add, &[address(&value), 0], &[])
                .wait()
                .expect("not behind the gated kernel");
        }
        gate.store(1, Ordering::SeqCst);
        low.finish().expect("no error");
        assert_eq!(value.load(Ordering::SeqCst), 4);
    });
}

#[test]
fn the_other_commands_take_their_place_in_the_order() {
    in_all_modes(|f| {
        let queue = f.queue();
        let add = f.kernel(&DOUBLE_AND_ADD);
        let value = Arc::new(f.value(1));
        let memory = f
            .runtime
            .allocate_host(&f.device, 64, HostFlags::COHERENT)
            .expect("memory");
        let base = memory.device_address();
        launch(&queue, &add, &[address(&value), 0], &[]);
        let native = value.clone();
        queue
            .enqueue_native(
                move || native.store(native.load(Ordering::SeqCst) + 10, Ordering::SeqCst),
                &[],
            )
            .expect("a native function");
        queue
            .enqueue_migrate(&[base], MigrateTarget::Device, &[])
            .expect("a migration");
        assert!(matches!(
            queue.enqueue_migrate(&[8], MigrateTarget::Host, &[]),
            Err(Error::InvalidValue(_))
        ));
        let open = Arc::new(AtomicBool::new(false));
        let ready = open.clone();
        let acquired = queue
            .enqueue_acquire_external(Box::new(move || ready.load(Ordering::SeqCst)), &[])
            .expect("an acquire");
        launch(&queue, &add, &[address(&value), 1], &[]);
        let released = Arc::new(AtomicU64::new(0));
        let (note, there) = (released.clone(), value.clone());
        queue
            .enqueue_release_external(
                move |status| {
                    assert_eq!(status, Status::COMPLETE);
                    note.store(there.load(Ordering::SeqCst), Ordering::SeqCst);
                },
                &[],
            )
            .expect("a release");
        // SAFETY: the allocation lives until the queue has freed it, which is the last command.
        unsafe {
            queue.enqueue_svm_fill(base, &[3], 32, &[]).expect("a fill");
            queue
                .enqueue_svm_copy(base + 32, base, 32, &[])
                .expect("a copy");
        }
        let mapped = queue.enqueue_svm_map(base, &[]).expect("a map");
        assert!(!acquired.query().is_terminal());
        assert!(!mapped.query().is_terminal());
        open.store(true, Ordering::SeqCst);
        mapped.wait().expect("no error");
        assert_eq!(released.load(Ordering::SeqCst), 25);
        // SAFETY: mapped, 64 bytes.
        let bytes = unsafe { (base as *const [u8; 64]).read() };
        assert_eq!(bytes, [3; 64]);
        queue.enqueue_svm_unmap(base, &[]).expect("an unmap");
        queue
            .enqueue_svm_prefetch(&[base], MigrateTarget::Host, &[])
            .expect("a prefetch");
        queue.enqueue_svm_free(&[base], &[]).expect("a free");
        queue.finish().expect("no error");
        assert!(f.runtime.find_memory(base as usize).is_none());
    });
}

#[test]
fn a_full_ring_blocks_a_direct_caller_without_a_lock() {
    let config = Config {
        direct_dispatch: true,
        aql_queue_size: 64,
        max_hw_queues: 1,
        ..Config::default()
    };
    over_both(config, |f| {
        let queue = f.queue();
        let gate = f.value(0);
        let value = f.value(0);
        let count = AtomicI64::new(0);
        let wait = f.kernel(&WAIT_FOR_FLAG);
        let add = f.kernel(&DOUBLE_AND_ADD);
        launch(&queue, &wait, &[address(&gate)], &[]);
        thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..1000 {
                    launch(&queue, &add, &[address(&value), 1], &[]);
                    count.fetch_add(1, Ordering::SeqCst);
                }
            });
            // The caller is at its work or blocked; neither keeps this thread from the queue.
            while count.load(Ordering::SeqCst) < 50 {
                thread::yield_now();
            }
            assert!(!queue.query());
            assert!(queue.last_command().is_some());
            gate.store(1, Ordering::SeqCst);
        });
        queue.finish().expect("no error");
        assert_eq!(value.load(Ordering::SeqCst), u64::MAX);
    });
}

#[test]
fn a_worker_mode_enqueuer_is_not_blocked_behind_a_kernel_that_waits_for_it() {
    let config = Config {
        aql_queue_size: 64,
        ..Config::default()
    };
    over_both(config, |f| {
        let queue = f.queue();
        let gate = f.value(0);
        let value = f.value(0);
        let wait = f.kernel(&WAIT_FOR_FLAG);
        let add = f.kernel(&DOUBLE_AND_ADD);
        launch(&queue, &wait, &[address(&gate)], &[]);
        for _ in 0..20_000 {
            launch(&queue, &add, &[address(&value), 1], &[]);
        }
        gate.store(1, Ordering::SeqCst);
        queue.finish().expect("no error");
        assert_eq!(value.load(Ordering::SeqCst), u64::MAX);
    });
}

#[test]
fn the_state_of_a_stuck_queue_names_what_it_waits_for() {
    let f = fixture();
    let (a, b) = (f.queue(), f.queue());
    a.set_name("first stream");
    let gate = Gate::default();
    let function = a
        .enqueue_host_function(gate.function(), false, &[])
        .expect("a function");
    let user = Event::user();
    let waits = b
        .enqueue_marker(&[function, user.clone()])
        .expect("a marker");
    let mut text = String::new();
    let began = std::time::Instant::now();
    let blocked = "next: marker, waits for an event that is not submitted";
    while !text.contains("the program's own code runs") || !text.contains(blocked) {
        assert!(began.elapsed() < Duration::from_secs(20), "{text}");
        text.clear();
        watch::state(&f.runtime, &mut text);
    }
    assert!(text.contains("first stream (queue"), "{text}");
    assert!(text.contains("a user event that nobody has set"), "{text}");
    assert!(text.contains("unmet: a command of first stream"), "{text}");
    gate.open();
    user.set_user_status(Status::COMPLETE);
    waits.wait().expect("no error");
}

#[test]
fn a_declared_hang_fails_waiters_even_behind_code_that_does_not_return() {
    let f = fixture_with(Config {
        hang_timeout: Some(Duration::from_millis(300)),
        hang_action: HangAction::Fail,
        ..Config::default()
    });
    let (a, b) = (f.queue(), f.queue());
    let gate = Gate::default();
    let function = a
        .enqueue_host_function(gate.function(), false, &[])
        .expect("a function");
    let behind = b.enqueue_marker(&[function]).expect("a marker");
    for event in [behind, a.enqueue_marker(&[]).expect("a marker")] {
        let Err(Error::Fault(fault)) = event.wait() else {
            panic!("a hang is a fault")
        };
        assert_eq!(fault.kind, FaultKind::Timeout);
        assert!(
            fault
                .report
                .starts_with("GNEISS_HANG_TIMEOUT: no command has ended for 0.3 s"),
            "{fault}"
        );
    }
    gate.open();
}

#[test]
fn a_million_commands_behind_a_gate_need_less_than_300_megabytes() {
    let name = "tests::model::a_million_commands_behind_a_gate_need_less_than_300_megabytes";
    in_child(name, || {
        let resident = || {
            let text = std::fs::read_to_string("/proc/self/statm").expect("proc is mounted");
            let pages: usize = text
                .split(' ')
                .nth(1)
                .and_then(|pages| pages.parse().ok())
                .expect("a number");
            pages * 4096
        };
        let f = fixture();
        let queue = f.queue();
        let kernel = mock::kernel(&f.device, ignore, 3);
        let user = Event::user();
        queue
            .enqueue_marker(std::slice::from_ref(&user))
            .expect("a marker");
        let before = resident();
        for _ in 0..1_000_000 {
            launch(&queue, &kernel, &[1, 2, 3], &[]);
        }
        let used = resident() - before;
        assert!(used < 300 << 20, "{} MiB", used >> 20);
        user.set_user_status(Status(-1));
        let _ = queue.finish();
    });
}

unsafe extern "C" fn ignore(_: *const u8) {}
