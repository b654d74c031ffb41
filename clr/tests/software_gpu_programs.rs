//! The command-queue runtime over the software GPU, in programs of their own: what they do would disturb other tests. The parent runs this
//! test program again with a name in the environment.

mod support;

use std::{
    process::Command,
    sync::atomic::{AtomicU64, Ordering},
};

use gneiss_clr::{Error, Event, FaultKind, HostFlags, Program, Status};
use support::{device, launch, program, queue, runtime};

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
