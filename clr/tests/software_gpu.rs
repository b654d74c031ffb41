//! The command-queue runtime over the software GPU, with kernels that hipcc built.

mod support;

use std::{
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
};

use gneiss_clr::{Error, Event, FaultKind, HostFlags, Program, Status};
use support::{code_object, device, launch, program, queue, runtime};

const ADD: &str = r#"
extern "C" __global__ void add(float* a, const float* b, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] += b[i];
}
extern "C" __global__ void empty() {}
"#;

#[test]
fn vector_add_with_copies_from_pageable_and_pinned_memory() {
    for direct in [false, true] {
        let runtime = runtime(direct);
        let device = &runtime.devices()[0];
        let Some(program) = program(device, ADD) else {
            return;
        };
        let kernel = program.kernel("add").expect("the kernel");
        const COUNT: usize = 10_000;
        const SIZE: usize = COUNT * 4;
        let queue = queue(device);
        let a: Vec<f32> = (0..COUNT).map(|index| index as f32).collect();
        let pinned = runtime
            .allocate_host(device, SIZE, HostFlags::COHERENT)
            .expect("memory");
        let place = pinned.host_address().expect("host memory") as *mut f32;
        for index in 0..COUNT {
            // SAFETY: in the allocation.
            unsafe { place.add(index).write(0.5 * index as f32) };
        }
        let device_a = runtime
            .allocate_device(device, SIZE, false)
            .expect("memory");
        let device_b = runtime
            .allocate_device(device, SIZE, false)
            .expect("memory");
        let mut result = vec![0_f32; COUNT];
        // SAFETY: everything lives until the queue has finished.
        unsafe {
            queue
                .enqueue_copy(device_a.device_address(), a.as_ptr() as u64, SIZE, &[])
                .expect("a copy");
            queue
                .enqueue_copy(
                    device_b.device_address(),
                    pinned.device_address(),
                    SIZE,
                    &[],
                )
                .expect("a copy");
            let arguments = [
                device_a.device_address(),
                device_b.device_address(),
                COUNT as u64,
            ];
            launch(
                &queue,
                kernel,
                COUNT.div_ceil(256) as u32,
                256,
                &arguments,
                &[],
            );
            queue
                .enqueue_copy(
                    result.as_mut_ptr() as u64,
                    device_a.device_address(),
                    SIZE,
                    &[],
                )
                .expect("a copy");
        }
        queue.finish().expect("no error");
        for (index, value) in result.iter().enumerate() {
            assert_eq!(*value, 1.5 * index as f32);
        }
        for memory in [pinned, device_a, device_b] {
            runtime
                .free(memory.device_address() as usize)
                .expect("the base");
        }
    }
}

#[test]
fn many_launches_on_many_queues_keep_their_order() {
    let device = device();
    let source = r#"
extern "C" __global__ void step(unsigned long long* value, unsigned long long bit) {
    *value = *value * 2 + bit;
}"#;
    let Some(program) = program(&device, source) else {
        return;
    };
    let kernel = program.kernel("step").expect("the kernel");
    let runtime = runtime(false);
    let memory = runtime
        .allocate_host(&device, 8 * 16, HostFlags::COHERENT)
        .expect("memory");
    let base = memory.host_address().expect("host memory") as *mut u64;
    let queues: Vec<_> = (0..16).map(|_| queue(&device)).collect();
    // SAFETY: in the allocation.
    unsafe { std::ptr::write_bytes(base, 0, 16) };
    for round in 0..60_u64 {
        for (index, queue) in queues.iter().enumerate() {
            let bit = (round + index as u64) % 3 % 2;
            launch(
                queue,
                kernel,
                1,
                1,
                &[memory.device_address() + 8 * index as u64, bit],
                &[],
            );
        }
    }
    for (index, queue) in queues.iter().enumerate() {
        queue.finish().expect("no error");
        let expected = (0..60).fold(0_u64, |value, round| {
            value * 2 + (round + index as u64) % 3 % 2
        });
        // SAFETY: in the allocation, and the queue has finished.
        let seen = unsafe { base.add(index).read_volatile() };
        assert_eq!(seen, expected, "queue {index}");
    }
    runtime
        .free(memory.device_address() as usize)
        .expect("the base");
}

#[test]
fn a_kernel_may_wait_for_the_host_and_other_queues_go_on() {
    let device = device();
    let source = r#"
extern "C" __global__ void wait(volatile unsigned* flag) { while (*flag == 0) {} }
extern "C" __global__ void set(unsigned* flag, unsigned value) { *flag = value; }"#;
    let Some(program) = program(&device, source) else {
        return;
    };
    let (wait, set) = (
        program.kernel("wait").expect("a kernel"),
        program.kernel("set").expect("a kernel"),
    );
    let runtime = runtime(false);
    let memory = runtime
        .allocate_host(&device, 8, HostFlags::COHERENT)
        .expect("memory");
    let base = memory.host_address().expect("host memory") as *mut u32;
    // SAFETY: in the allocation.
    let (flag, value) = unsafe {
        base.write(0);
        base.add(1).write(0);
        (AtomicU32::from_ptr(base), AtomicU32::from_ptr(base.add(1)))
    };
    let (a, b) = (queue(&device), queue(&device));
    let address = memory.device_address();
    let waiting = launch(&a, wait, 1, 64, &[address], &[]);
    let behind = launch(&a, set, 1, 1, &[address + 4, 2], &[]);
    launch(&b, set, 1, 1, &[address + 4, 1], &[])
        .wait()
        .expect("no error");
    assert_eq!(value.load(Ordering::SeqCst), 1);
    assert!(!waiting.query().is_terminal());
    assert!(!behind.query().is_terminal());
    let recorded = a.enqueue_marker(&[]).expect("a marker");
    let dependent = launch(
        &b,
        set,
        1,
        1,
        &[address + 4, 3],
        std::slice::from_ref(&recorded),
    );
    flag.store(1, Ordering::SeqCst);
    dependent.wait().expect("no error");
    assert_eq!(behind.query(), Status::COMPLETE);
    assert_eq!(value.load(Ordering::SeqCst), 3);
    a.finish().expect("no error");
    let (first, last) = (
        recorded.profiling(),
        b.enqueue_marker(&[]).expect("a marker"),
    );
    last.wait().expect("no error");
    assert!(first.end > 0 && last.profiling().end >= first.end);
    runtime.free(address as usize).expect("the base");
}

#[test]
fn variables_have_addresses_sizes_and_initial_values() {
    let device = device();
    let source = r#"
__device__ int table[64] = {3, 1, 4, 1, 5};
__constant__ double factor = 2.5;
extern "C" __global__ void read(double* out) { out[0] = table[4] * factor; }"#;
    let Some(program) = program(&device, source) else {
        return;
    };
    let table = program.global("table").expect("the variable");
    assert_eq!(
        (
            table.size,
            program.global("factor").expect("the variable").size
        ),
        (256, 8)
    );
    assert!(program.global("nope").is_none() && program.kernel("nope").is_none());
    let queue = queue(&device);
    let (mut values, mut out) = ([0_i32; 64], 0_f64);
    let new = 7_i32;
    // SAFETY: everything lives until the queue has finished.
    unsafe {
        queue
            .enqueue_copy(values.as_mut_ptr() as u64, table.address, 256, &[])
            .expect("a copy");
        queue
            .enqueue_copy(table.address + 16, &raw const new as u64, 4, &[])
            .expect("a copy");
        let memory = runtime(false)
            .allocate_device(&device, 8, false)
            .expect("memory");
        let kernel = program.kernel("read").expect("the kernel");
        launch(&queue, kernel, 1, 1, &[memory.device_address()], &[]);
        queue
            .enqueue_copy(&raw mut out as u64, memory.device_address(), 8, &[])
            .expect("a copy");
        queue.finish().expect("no error");
        runtime(false)
            .free(memory.device_address() as usize)
            .expect("the base");
    }
    assert_eq!(values[..6], [3, 1, 4, 1, 5, 0]);
    assert_eq!(out, 17.5);
}

#[test]
fn hidden_arguments_of_code_objects_v4_to_v6_are_filled_in() {
    let device = device();
    let by_library = r#"
extern "C" __global__ void shape(unsigned* out) {
    if (blockIdx.x == 1 && threadIdx.x == 0) {
        out[0] = blockDim.x; out[1] = gridDim.x; out[2] = blockIdx.x;
        out[3] = blockDim.y; out[4] = gridDim.z;
    }
}"#;
    // Where LLVM's documentation has the block counts and the group sizes.
    let by_offset = r#"
extern "C" __global__ void shape(unsigned* out) {
    if (__builtin_amdgcn_workgroup_id_x() == 1 && __builtin_amdgcn_workitem_id_x() == 0) {
        const unsigned* hidden = (const unsigned*)__builtin_amdgcn_implicitarg_ptr();
        out[0] = __builtin_amdgcn_workgroup_size_x(); out[1] = hidden[0]; out[2] = __builtin_amdgcn_workgroup_id_x();
        out[3] = ((const unsigned short*)hidden)[7]; out[4] = hidden[2];
    }
}"#;
    for (version, source) in [("4", by_library), ("5", by_library), ("6", by_offset)] {
        let option = format!("-mcode-object-version={version}");
        let Some(image) = code_object(&device, &[&option], source) else {
            continue;
        };
        let program = Program::load(&device, &image, &[]).expect("the code object loads");
        let runtime = runtime(false);
        let memory = runtime
            .allocate_host(&device, 20, HostFlags::COHERENT)
            .expect("memory");
        let queue = queue(&device);
        launch(
            &queue,
            program.kernel("shape").expect("the kernel"),
            5,
            96,
            &[memory.device_address()],
            &[],
        );
        queue.finish().expect("no error");
        // SAFETY: in the allocation, and the queue has finished.
        let out =
            unsafe { (memory.host_address().expect("host memory") as *const [u32; 5]).read() };
        assert_eq!(out, [96, 5, 1, 1, 1], "version {version}");
        runtime
            .free(memory.device_address() as usize)
            .expect("the base");
    }
}

#[test]
fn device_allocation_gives_memory_that_does_not_overlap() {
    let device = device();
    let source = r#"
extern "C" __global__ void allocate(unsigned long long* out, unsigned size) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    char* p = (char*)malloc(size);
    if (p) for (unsigned k = 0; k < size; ++k) p[k] = (char)i;
    out[i] = (unsigned long long)p;
}
extern "C" __global__ void check(unsigned long long* out, unsigned size) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    char* p = (char*)out[i];
    unsigned long long good = p != nullptr;
    if (p) for (unsigned k = 0; k < size; ++k) good &= p[k] == (char)i;
    free(p);
    out[i] = good;
}"#;
    for version in ["4", "5"] {
        let option = format!("-mcode-object-version={version}");
        let Some(image) = code_object(&device, &[&option], source) else {
            return;
        };
        let program = Program::load(&device, &image, &[]).expect("the code object loads");
        let runtime = runtime(false);
        let memory = runtime
            .allocate_host(&device, 8 * 128, HostFlags::COHERENT)
            .expect("memory");
        let queue = queue(&device);
        for size in [24_u64, 4000] {
            let arguments = [memory.device_address(), size];
            launch(
                &queue,
                program.kernel("allocate").expect("a kernel"),
                2,
                64,
                &arguments,
                &[],
            );
            launch(
                &queue,
                program.kernel("check").expect("a kernel"),
                2,
                64,
                &arguments,
                &[],
            );
            queue.finish().expect("no error");
            // SAFETY: in the allocation, and the queue has finished.
            let out = unsafe {
                (memory.host_address().expect("host memory") as *const [u64; 128]).read()
            };
            assert_eq!(out, [1; 128], "size {size}, version {version}");
        }
        runtime
            .free(memory.device_address() as usize)
            .expect("the base");
    }
}

#[test]
fn code_that_is_no_code_object_is_refused() {
    let device = device();
    let refuse = |image: &[u8]| Program::load(&device, image, &[]).expect_err("refused");
    assert!(matches!(refuse(b""), Error::InvalidCodeObject(_)));
    assert!(matches!(
        refuse(b"not an ELF file at all, but long enough to be one....................."),
        Error::InvalidCodeObject(_)
    ));
    let Some(image) = code_object(&device, &[], ADD) else {
        return;
    };
    assert!(matches!(
        refuse(&image[..image.len() / 2]),
        Error::InvalidCodeObject(_)
    ));
}

// Programs of their own: what they do would disturb other tests. The parent runs this test program again with a name in the environment.

const CHILD: &str = "GNEISS_CLR_TEST_CHILD";

fn child(name: &str) -> Option<(String, String, bool)> {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command
        .args([
            "--exact",
            "child_program",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(CHILD, name);
    if name == "two GPUs" {
        command.env("GNEISS_GPUS", "gfx90a:2");
    }
    let output = command.output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    if err.contains("SKIPPED") {
        return None;
    }
    Some((out, err, output.status.success()))
}

#[test]
fn child_program() {
    match std::env::var(CHILD).as_deref() {
        Ok("printf") => print_from_device(),
        Ok("assert") => assert_on_device(),
        Ok("fault") => fault_on_device(),
        Ok("two GPUs") => order_over_two_devices(),
        _ => {}
    }
}

fn print_from_device() {
    let device = device();
    let source = r#"
extern "C" __global__ void hello(const char* unused, int n) {
    if (threadIdx.x % 32 == 0)
        printf("hello %d of %d: %s %5.2f %c %p %10s %i\n", (int)(threadIdx.x / 32), n, "GPU", 3.14159, 'x', (void*)0x1234, "12345678", 1);
}
extern "C" __global__ void twice(int n) { if (n == 1) printf("one %*d|%-4u|%lld %%\n", 6, 42, 7u, 1ll << 40); else printf("no argument\n"); }
"#;
    let Some(program) = program(&device, source) else {
        return;
    };
    let queue = queue(&device);
    unsafe extern "C" {
        fn puts(text: *const std::ffi::c_char) -> i32;
    }
    // SAFETY: NUL-terminated texts.
    unsafe { puts(c"before".as_ptr()) };
    launch(
        &queue,
        program.kernel("hello").expect("a kernel"),
        1,
        128,
        &[0, 4],
        &[],
    );
    queue.finish().expect("no error");
    // SAFETY: as above.
    unsafe { puts(c"between".as_ptr()) };
    launch(
        &queue,
        program.kernel("twice").expect("a kernel"),
        1,
        1,
        &[1],
        &[],
    );
    launch(
        &queue,
        program.kernel("twice").expect("a kernel"),
        1,
        1,
        &[2],
        &[],
    );
    queue.finish().expect("no error");
    // SAFETY: as above; all streams.
    unsafe {
        puts(c"after".as_ptr());
        libc::fflush(std::ptr::null_mut());
    }
}

#[test]
fn printf_takes_its_place_in_the_output_of_the_program() {
    let Some((out, err, success)) = child("printf") else {
        return;
    };
    assert!(success, "{out}{err}");
    let lines: Vec<&str> = out
        .lines()
        .skip_while(|line| !line.ends_with("before"))
        .take_while(|line| !line.starts_with("test result"))
        .collect();
    let at = |text: &str| {
        lines
            .iter()
            .position(|line| *line == text)
            .unwrap_or_else(|| panic!("no line {text:?} in {out}{err}"))
    };
    for index in 0..4 {
        let line = at(&format!(
            "hello {index} of 4: GPU  3.14 x 0x1234   12345678 1"
        ));
        assert!(line < at("between"));
    }
    assert!(at("between") < at("one     42|7   |1099511627776 %"));
    assert!(at("one     42|7   |1099511627776 %") < at("no argument"));
    assert!(at("no argument") < at("after"));
}

fn assert_on_device() {
    let device = device();
    let source = r#"extern "C" __global__ void check(int n) { assert(n == 1); }"#;
    let Some(program) = program(&device, source) else {
        return;
    };
    let queue = queue(&device);
    let kernel = program.kernel("check").expect("the kernel");
    launch(&queue, kernel, 1, 1, &[1], &[]);
    queue.finish().expect("the assertion holds");
    let event = launch(&queue, kernel, 1, 1, &[2], &[]);
    let Err(Error::Fault(fault)) = event.wait() else {
        panic!("a failed assertion is a fault")
    };
    assert_eq!(fault.kind, FaultKind::Trap, "{fault}");
}

#[test]
fn a_device_assertion_prints_and_stops_the_device() {
    let Some((out, err, success)) = child("assert") else {
        return;
    };
    assert!(success, "{out}{err}");
    assert!(
        err.contains("Device-side assertion") && err.contains("n == 1"),
        "{err}"
    );
}

fn fault_on_device() {
    let device = device();
    let source = r#"
extern "C" __global__ void poke(unsigned* p) { *p = 1; }
extern "C" __global__ void wait(volatile unsigned* flag) { while (*flag == 0) {} }"#;
    let Some(program) = program(&device, source) else {
        return;
    };
    let runtime = runtime(false);
    let flag = runtime
        .allocate_host(&device, 4, HostFlags::COHERENT)
        .expect("memory");
    // SAFETY: in the allocation.
    unsafe { (flag.host_address().expect("host memory") as *mut u32).write(0) };
    let (a, b) = (queue(&device), queue(&device));
    let other = launch(
        &b,
        program.kernel("wait").expect("a kernel"),
        1,
        1,
        &[flag.device_address()],
        &[],
    );
    let held = b.enqueue_marker(&[]).expect("a marker");
    let bad = launch(
        &a,
        program.kernel("poke").expect("a kernel"),
        1,
        64,
        &[0x10],
        &[],
    );
    let Err(Error::Fault(fault)) = bad.wait() else {
        panic!("the fault was not told")
    };
    assert_eq!(fault.kind, FaultKind::IllegalAddress, "{fault}");
    assert!(
        fault.report.contains("poke"),
        "the report names the kernel: {fault}"
    );
    for event in [other, held] {
        assert!(
            matches!(event.wait(), Err(Error::Fault(_))),
            "everything outstanding fails"
        );
    }
    assert!(matches!(a.finish(), Err(Error::Fault(_))));
    assert!(matches!(b.enqueue_marker(&[]), Err(Error::Fault(_))));
    // The device can be used again after a reset.
    device.reset();
    let _ = (a.finish(), b.finish());
    let memory = runtime
        .allocate_host(&device, 4, HostFlags::COHERENT)
        .expect("memory");
    let good = launch(
        &a,
        program.kernel("poke").expect("a kernel"),
        1,
        1,
        &[memory.device_address()],
        &[],
    );
    good.wait().expect("no error");
    // SAFETY: in the allocation.
    let seen = unsafe { (memory.host_address().expect("host memory") as *const u32).read() };
    assert_eq!(seen, 1);
}

#[test]
fn a_bad_address_fails_all_outstanding_work_and_a_reset_helps() {
    let Some((out, err, success)) = child("fault") else {
        return;
    };
    assert!(success, "{out}{err}");
}

#[test]
fn host_functions_and_callbacks_see_the_results_of_kernels() {
    let device = device();
    let source = r#"extern "C" __global__ void set(unsigned* p, unsigned v) { *p = v; }"#;
    let Some(program) = program(&device, source) else {
        return;
    };
    let kernel = program.kernel("set").expect("the kernel");
    let runtime = runtime(false);
    let memory = runtime
        .allocate_host(&device, 4, HostFlags::COHERENT)
        .expect("memory");
    let address = memory.host_address().expect("host memory");
    let queue = queue(&device);
    let seen = Arc::new(AtomicU32::new(0));
    for round in 1..=50_u32 {
        launch(
            &queue,
            kernel,
            1,
            1,
            &[memory.device_address(), round.into()],
            &[],
        );
        let note = seen.clone();
        queue
            .enqueue_host_function(
                Box::new(move |_| {
                    // SAFETY: the allocation lives until the queue has finished.
                    note.store(
                        unsafe { (address as *const u32).read_volatile() },
                        Ordering::SeqCst,
                    );
                }),
                false,
                &[],
            )
            .expect("a function");
        let user = Event::user();
        let held = launch(
            &queue,
            kernel,
            1,
            1,
            &[memory.device_address(), 0],
            std::slice::from_ref(&user),
        );
        user.set_user_status(Status::COMPLETE);
        held.wait().expect("no error");
        assert_eq!(seen.load(Ordering::SeqCst), round);
    }
    runtime
        .free(memory.device_address() as usize)
        .expect("the base");
}

fn order_over_two_devices() {
    let source = r#"
extern "C" __global__ void step(volatile unsigned long long* value, unsigned long long bit) { *value = *value * 2 + bit; }
extern "C" __global__ void hold(volatile unsigned long long* flag) { while (*flag == 0) __builtin_amdgcn_s_sleep(1); }
"#;
    for direct in [false, true] {
        let runtime = runtime(direct);
        let [first, second] = runtime.devices() else {
            panic!("two GPUs were asked for");
        };
        let (Some(one), Some(two)) = (program(first, source), program(second, source)) else {
            return;
        };
        let memory = runtime
            .allocate_host(first, 16, HostFlags::COHERENT)
            .expect("memory");
        let place = memory.host_address().expect("host memory") as *const AtomicU64;
        // SAFETY: two numbers in the allocation, which outlives the queues' work.
        let (value, flag) = unsafe { (&*place, &*place.add(1)) };
        value.store(1, Ordering::SeqCst);
        flag.store(0, Ordering::SeqCst);
        let address = memory.device_address();
        let kernel =
            |program: &Program, name: &str| program.kernel(name).expect("a kernel").clone();
        let (step, step_on_second) = (kernel(&one, "step"), kernel(&two, "step"));
        let (a, b) = (queue(first), queue(second));
        launch(&a, &kernel(&one, "hold"), 1, 1, &[address + 8], &[]);
        let before = launch(&a, &step, 1, 1, &[address, 1], &[]);
        let between = launch(&b, &step_on_second, 1, 1, &[address, 0], &[before]);
        // Direct dispatch hands this one to a worker: neither call waits.
        let after = launch(
            &a,
            &step,
            1,
            1,
            &[address, 1],
            std::slice::from_ref(&between),
        );
        assert!(!between.query().is_terminal() && !after.query().is_terminal());
        assert_eq!(value.load(Ordering::SeqCst), 1);
        flag.store(1, Ordering::SeqCst);
        after.wait().expect("no error");
        assert_eq!(value.load(Ordering::SeqCst), 0b1101);
        let user = Event::user();
        let failing = launch(&a, &step, 1, 1, &[address, 0], std::slice::from_ref(&user));
        let dependent = launch(&b, &step_on_second, 1, 1, &[address, 0], &[failing]);
        assert!(user.set_user_status(Status(-3)));
        assert!(matches!(
            dependent.wait(),
            Err(Error::CommandFailed(Status::DEPENDENCY_FAILED))
        ));
        launch(&b, &step_on_second, 1, 1, &[address, 0], &[])
            .wait()
            .expect("the queue goes on");
        assert_eq!(value.load(Ordering::SeqCst), 0b1_1010);
        let _ = a.finish();
    }
    println!("ordered over two devices");
}

#[test]
fn events_order_work_of_two_devices_and_carry_failures_across() {
    let Some((out, err, success)) = child("two GPUs") else {
        return;
    };
    assert!(
        success && out.contains("ordered over two devices"),
        "{out}{err}"
    );
}
