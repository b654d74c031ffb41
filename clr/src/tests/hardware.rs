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

#[test]
fn a_profiling_queue_has_the_times_of_every_kind_of_command() {
    in_all_modes(|f| {
        const LARGE: usize = 1 << 20;
        let options = QueueOptions {
            profiling: true,
            ..QueueOptions::default()
        };
        let queue = HostQueue::new(&f.device, options).expect("a queue");
        let (value, add) = (f.value(1), f.kernel(&DOUBLE_AND_ADD));
        let memory = [f.device_memory(LARGE), f.device_memory(LARGE)];
        let pageable = vec![5_u8; LARGE];
        let rect = |address| Rect {
            address,
            row_pitch: 128,
            slice_pitch: 0,
        };
        let in_function = Arc::new(AtomicU64::new(0));
        let (runtime, device) = (f.runtime.clone(), f.device.clone());
        let now = move || {
            let _ = &runtime;
            device.hsa().timestamp()
        };
        let note = in_function.clone();
        let function = Box::new(move |_| note.store(now(), Ordering::SeqCst));
        let mut events = Vec::new();
        let mut add_event = |name: &'static str, event: crate::Result<Event>| {
            events.push((name, event.expect("it is enqueued")));
        };
        // SAFETY: everything lives until the queue has finished.
        unsafe {
            add_event("fill", queue.enqueue_fill(memory[0], &[7], LARGE, &[]));
            add_event(
                "small copy",
                queue.enqueue_copy(memory[1], memory[0], 64, &[]),
            );
            add_event(
                "large copy",
                queue.enqueue_copy(memory[1], memory[0], LARGE, &[]),
            );
            let source = pageable.as_ptr() as u64;
            add_event(
                "pageable copy",
                queue.enqueue_copy(memory[0], source, LARGE, &[]),
            );
            let (dst, src) = (rect(memory[0]), rect(memory[1]));
            let extent = [32, 16, 1];
            let copy = CopyRect { dst, src, extent };
            add_event("copied rectangle", queue.enqueue_copy_rect(&copy, &[]));
            let fill = FillRect { dst, extent };
            add_event(
                "filled rectangle",
                queue.enqueue_fill_rect(&fill, &[9], &[]),
            );
        }
        add_event(
            "kernel",
            Ok(launch(&queue, &add, &[address(&value), 0], &[])),
        );
        add_event(
            "host function",
            queue.enqueue_host_function(function, false, &[]),
        );
        add_event("native function", queue.enqueue_native(|| {}, &[]));
        add_event("marker", queue.enqueue_marker(&[]));
        queue.finish().expect("no error");
        let (mut queued, mut end) = (0, 0);
        for (name, event) in events {
            event.wait().expect("no error");
            let times = event.profiling();
            assert!(
                queued <= times.queued && 0 < times.queued,
                "{name}: {times:?} after {queued}"
            );
            assert!(
                times.queued <= times.submitted
                    && times.submitted <= times.start
                    && times.start <= times.end,
                "{name}: {times:?}"
            );
            // A marker stands for the end of what is before it.
            assert!(
                end <= if name == "marker" {
                    times.end
                } else {
                    times.start
                },
                "{name}: {times:?} begins before {end}"
            );
            if name == "host function" {
                let inside = in_function.load(Ordering::SeqCst);
                assert!(
                    (times.start..=times.end).contains(&inside),
                    "{name}: {times:?} is not around {inside}"
                );
            }
            (queued, end) = (times.queued, times.end);
        }
    });
}
