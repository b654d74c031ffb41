//! What only a GPU has, in both dispatch modes: compute unit masks, cooperative launches, times of the device.

use super::*;

fn over_the_software_gpu_in_all_modes(config: Config, test: impl Fn(Fixture)) {
    for config in all_modes(&config) {
        if let Some(fixture) = over_the_software_gpu(config) {
            test(fixture);
        }
    }
}

#[test]
fn a_stream_with_a_compute_unit_mask_shares_its_hardware_queue_with_nobody() {
    let config = Config {
        max_hw_queues: 1,
        ..Config::default()
    };
    over_the_software_gpu_in_all_modes(config, |f| {
        let (gate, value) = (f.value(0), f.value(1));
        let (wait, add) = (f.kernel(&WAIT_FOR_FLAG), f.kernel(&DOUBLE_AND_ADD));
        let plain = f.queue();
        launch(&plain, &wait, &[address(&gate)], &[]);
        let options = || QueueOptions {
            cu_mask: vec![0b11],
            ..QueueOptions::default()
        };
        for _ in 0..2 {
            let masked = HostQueue::new(&f.device, options()).expect("a queue");
            launch(&masked, &add, &[address(&value), 1], &[])
                .wait()
                .expect("not behind the gated kernel");
        }
        assert!(!plain.query());
        gate.store(1, Ordering::SeqCst);
        plain.finish().expect("no error");
        assert_eq!(value.load(Ordering::SeqCst), 7);
    });
}

#[test]
fn cooperative_launches_of_a_device_go_one_after_the_other() {
    over_the_software_gpu_in_all_modes(Config::default(), |f| {
        let (runs, gate, value) = (f.value(0), f.value(0), f.value(1));
        let program = f.program.as_ref().expect("the kernels");
        let wait = program.kernel("say_and_wait").expect("the kernel").clone();
        let add = f.kernel(&DOUBLE_AND_ADD);
        let (a, b, c) = (f.queue(), f.queue(), f.queue());
        let cooperative = |queue: &HostQueue, kernel: &Arc<Kernel>, arguments: &[u64]| {
            let bytes = packed(arguments);
            let launch = Launch {
                cooperative: true,
                ..one_group(kernel, &bytes)
            };
            // SAFETY: the kernels use what lives until the end.
            unsafe { queue.enqueue_kernel(&launch, &[]) }.expect("a launch")
        };
        cooperative(&a, &wait, &[address(&runs), address(&gate)]);
        // Streams have no order among them: with a worker each, the second could be the first at the device.
        while runs.load(Ordering::SeqCst) == 0 {
            thread::yield_now();
        }
        let second = cooperative(&b, &add, &[address(&value), 1]);
        // A plain launch of a third stream passes both.
        let other = f.value(1);
        launch(&c, &add, &[address(&other), 0], &[])
            .wait()
            .expect("no error");
        assert!(!second.query().is_terminal());
        assert_eq!(value.load(Ordering::SeqCst), 1);
        gate.store(1, Ordering::SeqCst);
        second.wait().expect("no error");
        // What is behind a cooperative launch in its stream waits for it.
        launch(&b, &add, &[address(&value), 0], &[])
            .wait()
            .expect("no error");
        assert_eq!(value.load(Ordering::SeqCst), 0b110);
        a.finish().expect("no error");
    });
}

#[test]
fn a_profiling_queue_has_the_times_of_each_kernel() {
    over_the_software_gpu_in_all_modes(Config::default(), |f| {
        let options = QueueOptions {
            profiling: true,
            ..QueueOptions::default()
        };
        let queue = HostQueue::new(&f.device, options).expect("a queue");
        let (value, add) = (f.value(1), f.kernel(&DOUBLE_AND_ADD));
        let events: Vec<Event> = (0..20)
            .map(|_| launch(&queue, &add, &[address(&value), 0], &[]))
            .collect();
        queue.finish().expect("no error");
        let mut before = 0;
        for event in events {
            event.wait().expect("no error");
            let times = event.profiling();
            assert!(
                times.queued > 0 && times.queued <= times.submitted,
                "{times:?}"
            );
            assert!(
                times.submitted <= times.start && times.start <= times.end,
                "{times:?}"
            );
            assert!(before <= times.start, "kernels of a queue do not overlap");
            before = times.end;
        }
    });
}
