//! Two queues and an event between them, with the command-queue runtime as a Rust library and without any C.
//!
//! usage: `gneiss-samples CODE_OBJECT`, where the code object is `samples/c/kernels.hip`, built for the GPU:
//! `hipcc --offload-arch=gfx90a -O3 --genco --no-gpu-bundle-output -o kernels.co samples/c/kernels.hip`

use std::{
    ffi::c_void,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use gneiss_clr::{
    Arguments, Config, Event, HostQueue, Kernel, Launch, Memory, Program, QueueOptions, Result,
    Runtime, Status,
};

const LENGTH: u32 = 10_000;
const BLOCK: u32 = 256;

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("usage: gneiss-samples CODE_OBJECT");
        return ExitCode::from(2);
    };
    let image = match std::fs::read(&path) {
        Ok(image) => image,
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            return ExitCode::FAILURE;
        }
    };
    match run(&image) {
        Ok(true) => {
            println!("two_queues: PASSED");
            ExitCode::SUCCESS
        }
        Ok(false) => {
            eprintln!("two_queues: FAILED, the device's result is wrong");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("two_queues: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Scales two arrays on two queues, adds them on the second behind the first, and compares.
fn run(image: &[u8]) -> Result<bool> {
    // The software GPU is linked in; `Runtime::load` would open a shared HSA library instead.
    let runtime = Runtime::new(gneiss_hsa_core::api_table(), Config::from_env())?;
    let device = runtime
        .devices()
        .first()
        .ok_or(gneiss_clr::Error::NoRuntime("there is no GPU".to_owned()))?;
    println!("device 0: {}", device.properties().gfx_name);
    let program = Program::load(device, image, &[])?;
    let bytes = LENGTH as usize * size_of::<u32>();
    let a = runtime.allocate_device(device, bytes, false)?;
    let b = runtime.allocate_device(device, bytes, false)?;
    let sums = runtime.allocate_device(device, bytes, false)?;

    let input: Vec<u32> = (0..LENGTH).collect();
    let mut output = vec![0_u32; LENGTH as usize];
    let first = HostQueue::new(device, QueueOptions::default())?;
    let second = HostQueue::new(
        device,
        QueueOptions {
            profiling: true,
            ..QueueOptions::default()
        },
    )?;

    copy_in(&first, &a, &input)?;
    let a_scaled = scale(&first, &program, &a, 3, 1, &[])?;
    copy_in(&second, &b, &input)?;
    scale(&second, &program, &b, 5, 2, &[])?;
    // The sum needs both: its own queue's order covers `b`, the event covers `a`.
    let summed = add(
        &second,
        &program,
        [&a, &b, &sums],
        std::slice::from_ref(&a_scaled),
    )?;
    let called = Arc::new(AtomicBool::new(false));
    summed.on_complete({
        let called = Arc::clone(&called);
        move |status| called.store(status == Status::COMPLETE, Ordering::Release)
    });
    // SAFETY: the device memory lives until the frees below, `output` until the wait that follows; neither is touched before.
    let read = unsafe {
        second.enqueue_copy(
            output.as_mut_ptr() as u64,
            sums.device_address(),
            bytes,
            &[],
        )
    }?;
    read.wait()?;
    // The sum waited for this on the device; the host hears of it from its own queue.
    a_scaled.wait()?;

    let times = summed.profiling();
    let correct = output
        .iter()
        .zip(0..LENGTH)
        .all(|(sum, index)| *sum == (index * 3 + 1) + (index * 5 + 2));
    for memory in [a, b, sums] {
        runtime.free(memory.device_address() as usize)?;
    }
    let called = called.load(Ordering::Acquire);
    if !correct || !called || times.start > times.end {
        eprintln!("sums are right: {correct}, callback was called: {called}, times: {times:?}");
        return Ok(false);
    }
    Ok(a_scaled.status() == Status::COMPLETE)
}

fn kernel<'a>(program: &'a Program, name: &str) -> Result<&'a Arc<Kernel>> {
    program
        .kernel(name)
        .ok_or_else(|| gneiss_clr::Error::InvalidCodeObject(format!("it has no kernel {name}")))
}

/// Enqueues a copy to the device and waits for it, so that `values` need not outlive the call.
fn copy_in(queue: &HostQueue, memory: &Memory, values: &[u32]) -> Result<()> {
    // SAFETY: `values` is borrowed until the wait has ended, and the device memory is as long.
    let copy = unsafe {
        queue.enqueue_copy(
            memory.device_address(),
            values.as_ptr() as u64,
            size_of_val(values),
            &[],
        )
    }?;
    copy.wait()
}

/// `values[i] = values[i] * factor + addend`.
fn scale(
    queue: &HostQueue,
    program: &Program,
    values: &Memory,
    factor: u32,
    addend: u32,
    wait_list: &[Event],
) -> Result<Event> {
    let address = values.device_address();
    let arguments = [
        pointer(&address),
        pointer(&factor),
        pointer(&addend),
        pointer(&LENGTH),
    ];
    launch(
        queue,
        kernel(program, "scale_and_add")?,
        &arguments,
        wait_list,
    )
}

/// `sums[i] = a[i] + b[i]`, for the memories a, b and sums.
fn add(
    queue: &HostQueue,
    program: &Program,
    memories: [&Memory; 3],
    wait_list: &[Event],
) -> Result<Event> {
    let [a, b, sums] = memories.map(Memory::device_address);
    launch(
        queue,
        kernel(program, "add")?,
        &[pointer(&a), pointer(&b), pointer(&sums), pointer(&LENGTH)],
        wait_list,
    )
}

fn launch(
    queue: &HostQueue,
    kernel: &Arc<Kernel>,
    arguments: &[*const c_void],
    wait_list: &[Event],
) -> Result<Event> {
    let launch = Launch {
        kernel,
        grid: [LENGTH.div_ceil(BLOCK) * BLOCK, 1, 1],
        block: [BLOCK, 1, 1],
        dynamic_shared: 0,
        arguments: Arguments::Pointers(arguments),
        cooperative: false,
        any_order: false,
    };
    // SAFETY: each pointer is to a live value of the size of the kernel's argument, in the order of the kernel's source, and the
    // kernel touches only the arrays that it is given, LENGTH words each.
    unsafe { queue.enqueue_kernel(&launch, wait_list) }
}

/// Where an argument lies.
fn pointer<T>(value: &T) -> *const c_void {
    std::ptr::from_ref(value).cast()
}
