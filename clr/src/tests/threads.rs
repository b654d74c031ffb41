//! Many threads, many queues, nothing left over.

use super::*;

#[test]
fn threads_with_queues_of_their_own_do_not_disturb_each_other() {
    in_all_modes(|f| {
        let kernel = f.kernel(&DOUBLE_AND_ADD);
        let errors = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    let queue = f.queue();
                    for _ in 0..50 {
                        let value = f.value(1);
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
        let counter = f.value(0);
        unsafe extern "C" fn count(arguments: *const u8) {
            // SAFETY: the test passes a pointer to an AtomicU64. Not atomic on purpose: the queue's order protects it.
            unsafe {
                let place = arguments.cast::<u64>().read() as *mut u64;
                place.write_volatile(place.read_volatile() + 1);
            }
        }
        const COUNT: Code = Code {
            function: count,
            name: "count",
            arguments: 1,
        };
        let kernel = f.kernel(&COUNT);
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
    let kernel = f.kernel(&DOUBLE_AND_ADD);
    let value = f.value(0);
    let queue = &queues[0];
    for _ in 0..10 {
        launch(queue, &kernel, &[address(&value), 0], &[]);
        queue.finish().expect("no error");
    }
    // Whoever drained a launch may hold its event for a moment longer than the launch takes.
    let events: std::collections::HashSet<_> = (0..100)
        .map(|_| {
            let event = Arc::as_ptr(&launch(queue, &kernel, &[address(&value), 0], &[]).0);
            queue.finish().expect("no error");
            event
        })
        .collect();
    assert!(
        events.len() <= 20,
        "events are used again: {}",
        events.len()
    );
}
