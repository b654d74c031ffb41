//! Prints what launches cost: asynchronous empty launches, launch and synchronise, event records, memory of idle queues.

use std::{sync::Arc, time::Instant};

use gneiss_clr::{Arguments, Config, HostQueue, Launch, Program, QueueOptions, Runtime};

fn resident_kib() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split_whitespace()
        .nth(1)
        .and_then(|pages| pages.parse::<u64>().ok())
        .unwrap_or(0)
        * 4
}

fn cpu_seconds() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: a valid place for the result.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn report(what: &str, count: u32, run: impl FnOnce()) {
    let (start, cpu) = (Instant::now(), cpu_seconds());
    run();
    let (elapsed, cpu) = (start.elapsed().as_secs_f64(), cpu_seconds() - cpu);
    let each = 1e6 / f64::from(count);
    println!(
        "{what:<40} {:8.3} us each, {:8.3} us of processor time",
        elapsed * each,
        cpu * each
    );
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let image = std::env::args()
        .nth(1)
        .ok_or("usage: launch_cost CODE_OBJECT (with a kernel `empty` without arguments)")?;
    let runtime = Runtime::new(gneiss_hsa_core::api_table(), Config::from_env())?;
    let device = runtime.devices().first().ok_or("no GPU")?;
    let program = Program::load(device, &std::fs::read(image)?, &[])?;
    let kernel = program.kernel("empty").ok_or("no kernel `empty`")?;
    let queue = HostQueue::new(device, QueueOptions::default())?;
    let launch = Launch {
        kernel,
        grid: [64, 1, 1],
        block: [64, 1, 1],
        dynamic_shared: 0,
        arguments: Arguments::Packed(&[]),
        cooperative: false,
        any_order: false,
    };
    // SAFETY: the kernel takes nothing and does nothing.
    let enqueue = |queue: &Arc<HostQueue>| unsafe { queue.enqueue_kernel(&launch, &[]) };
    for _ in 0..1000 {
        enqueue(&queue)?;
    }
    queue.finish()?;
    for _ in 0..3 {
        report("asynchronous launch", 100_000, || {
            for _ in 0..100_000 {
                let _ = enqueue(&queue);
            }
            let _ = queue.finish();
        });
        report("launch and synchronise", 20_000, || {
            for _ in 0..20_000 {
                let _ = enqueue(&queue);
                let _ = queue.finish();
            }
        });
        report("marker behind a launch", 20_000, || {
            for _ in 0..20_000 {
                let _ = enqueue(&queue);
                let _ = queue.enqueue_marker(&[]);
            }
            let _ = queue.finish();
        });
    }
    let before = resident_kib();
    let queues = (0..1000)
        .map(|_| HostQueue::new(device, QueueOptions::default()))
        .collect::<Result<Vec<_>, _>>()?;
    println!("1,000 idle queues: {} KiB", resident_kib() - before);
    for queue in &queues {
        enqueue(queue)?;
    }
    for queue in &queues {
        queue.finish()?;
    }
    println!("after a launch on each: {} KiB", resident_kib() - before);
    Ok(())
}
