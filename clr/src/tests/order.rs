//! Order within and across queues.

use super::*;

#[test]
fn commands_of_a_queue_run_in_order() {
    in_all_modes(|f| {
        let queue = f.queue();
        let kernel = f.kernel(&DOUBLE_AND_ADD);
        let value = f.value(1);
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
    let config = Config {
        aql_queue_size: 64,
        max_batch_size: 7,
        ..Config::default()
    };
    in_all_modes_with(config, |f| {
        let kernel = f.kernel(&DOUBLE_AND_ADD);
        let queues = [
            f.queue(),
            f.queue(),
            f.queue(),
            f.queue(),
            f.queue(),
            f.queue(),
        ];
        let values: Vec<Value> = (0..6).map(|_| f.value(0)).collect();
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
    });
}

#[test]
fn status_goes_down_once_and_ends_complete() {
    in_all_modes(|f| {
        let queue = f.queue();
        let gate = f.value(0);
        let kernel = f.kernel(&WAIT_FOR_FLAG);
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
    });
}

#[test]
fn events_order_work_across_queues() {
    in_all_modes(|f| {
        let (a, b) = (f.queue(), f.queue());
        let gate = f.value(0);
        let value = f.value(1);
        let wait = f.kernel(&WAIT_FOR_FLAG);
        let add = f.kernel(&DOUBLE_AND_ADD);
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
        let value = f.value(1);
        let add = f.kernel(&DOUBLE_AND_ADD);
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
fn a_released_queue_finishes_its_work() {
    in_all_modes(|f| {
        let queue = f.queue();
        let gate = Gate::default();
        let value = f.value(1);
        let add = f.kernel(&DOUBLE_AND_ADD);
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
    in_all_modes(|f| {
        let queue = f.queue();
        queue.enqueue_marker(&[]).expect("a marker");
        queue.terminate().expect("no error");
        assert!(matches!(queue.enqueue_marker(&[]), Err(Error::Gone(_))));
    });
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
    in_all_modes(|f| {
        let queue = f.queue();
        let value = f.value(0);
        let add = f.kernel(&DOUBLE_AND_ADD);
        for _ in 0..100 {
            let start = queue.enqueue_marker(&[]).expect("a marker");
            launch(&queue, &add, &[address(&value), 0], &[]);
            let stop = queue.enqueue_marker(&[]).expect("a marker");
            queue.finish().expect("no error");
            let (start, stop) = (start.profiling(), stop.profiling());
            assert!(start.queued > 0 && start.queued <= start.end);
            assert!(start.end <= stop.end, "{start:?} {stop:?}");
        }
    });
}
