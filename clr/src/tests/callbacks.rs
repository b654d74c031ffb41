//! Callbacks and host functions.

use super::*;

#[test]
fn callbacks_run_once_in_order_before_the_end_is_visible() {
    in_all_modes(|f| {
        let queue = f.queue();
        let gate = f.value(0);
        let kernel = f.kernel(&WAIT_FOR_FLAG);
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
    });
}

#[test]
fn callbacks_run_without_any_waiter() {
    in_all_modes(|f| {
        let queue = f.queue();
        let gate = f.value(0);
        let kernel = f.kernel(&WAIT_FOR_FLAG);
        let event = launch(&queue, &kernel, &[address(&gate)], &[]);
        let (sender, receiver) = mpsc::channel();
        event.on_complete(move |status| sender.send(status).expect("the test waits"));
        gate.store(1, Ordering::SeqCst);
        assert_eq!(
            receiver.recv_timeout(Duration::from_secs(20)),
            Ok(Status::COMPLETE)
        );
    });
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
        let add = f.kernel(&DOUBLE_AND_ADD);
        let value = Arc::new(f.value(1));
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
fn a_callback_may_end_the_event_that_the_next_command_waits_for() {
    in_all_modes(|f| {
        let queue = f.queue();
        let value = f.value(1);
        let add = f.kernel(&DOUBLE_AND_ADD);
        for _ in 0..20 {
            let gate = Event::user();
            let opens = gate.clone();
            let first = launch(&queue, &add, &[address(&value), 1], &[]);
            first.on_complete(move |status| {
                opens.set_user_status(status);
            });
            queue
                .enqueue_marker(std::slice::from_ref(&gate))
                .expect("a marker")
                .wait()
                .expect("the callback has run");
        }
        queue.finish().expect("no error");
    });
}
