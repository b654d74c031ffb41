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
    let name = "tests::threads::idle_queues_cost_no_thread_and_launching_reuses_events_and_signals";
    in_child(name, || {
        for config in all_modes(&Config::default()) {
            idle_and_busy_queues(config);
        }
    });
}

fn idle_and_busy_queues(config: Config) {
    const QUEUES: usize = 1000;
    const USED: usize = 200;
    let threads = || {
        std::fs::read_dir("/proc/self/task")
            .expect("proc is mounted")
            .count()
    };
    let signals = || mock::LIVE_SIGNALS.load(Ordering::SeqCst);
    let mode = format!(
        "direct dispatch {}, CPU wait {}",
        config.direct_dispatch, config.cpu_wait
    );
    // A worker more or less comes and goes; each hardware queue of the mock has a thread of its own, and a signal as its doorbell.
    let some = config.max_hw_queues + 16;
    let f = fixture_with(config);
    let kernel = f.kernel(&DOUBLE_AND_ADD);
    let value = f.value(0);
    let use_once = |queue: &Arc<HostQueue>| {
        let event = launch(queue, &kernel, &[address(&value), 0], &[]);
        queue.finish().expect("no error");
        Arc::as_ptr(&event.0)
    };
    use_once(&f.queue());
    let before = (threads(), signals());
    let queues: Vec<_> = (0..QUEUES).map(|_| f.queue()).collect();
    assert!(
        threads() <= before.0 + some,
        "{mode}: {} threads",
        threads()
    );
    assert!(
        signals() <= before.1 + some,
        "{mode}: {} signals",
        signals()
    );

    // Whoever drained a launch may hold its event for a moment longer than the launch takes.
    let events: std::collections::HashSet<_> = (0..QUEUES).map(|_| use_once(&queues[0])).collect();
    assert!(
        events.len() <= 20,
        "{mode}: events are used again: {}",
        events.len()
    );
    assert!(
        signals() <= before.1 + some,
        "{mode}: {} signals for launches one after the other",
        signals()
    );

    // Many queues have been used, and are idle again.
    for queue in &queues[..USED] {
        use_once(queue);
    }
    assert!(
        threads() <= before.0 + some,
        "{mode}: {} threads",
        threads()
    );
    assert!(
        signals() <= before.1 + some + USED,
        "{mode}: {} signals",
        signals()
    );
}
