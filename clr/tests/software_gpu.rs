//! The command-queue runtime over the software GPU, with kernels that hipcc built.

mod support;

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use gneiss_clr::{Error, Event, HostFlags, Program, Status};
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
    for direct in [false, true] {
        let runtime = runtime(direct);
        let device = runtime.devices()[0].clone();
        for (version, source) in [("4", by_library), ("5", by_library), ("6", by_offset)] {
            let option = format!("-mcode-object-version={version}");
            let Some(image) = code_object(&device, &[&option], source) else {
                continue;
            };
            let program = Program::load(&device, &image, &[]).expect("the code object loads");
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
            assert_eq!(
                out,
                [96, 5, 1, 1, 1],
                "version {version}, direct dispatch {direct}"
            );
            runtime
                .free(memory.device_address() as usize)
                .expect("the base");
        }
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
