//! Tests of the command model over the mock and over the software GPU, in both dispatch modes and both ways to wait.
//!
//! This file has what the tests share.

#[path = "../../tests/support/mod.rs"]
mod support;

mod callbacks;
mod choices;
mod device_queue;
mod faults;
mod hardware;
mod model;
mod order;
mod overlap;
mod prepared;
mod staging;
mod threads;
mod transfer;

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use parking_lot::Mutex;

use crate::{
    Arguments, Config, CopyRect, Device, Error, Event, FaultKind, FillRect, HostFlags, HostQueue,
    Kernel, Launch, Program, QueueOptions, Rect, Runtime, Status, ValueCondition, ValueWidth, mock,
};

struct Fixture {
    runtime: Arc<Runtime>,
    device: Arc<Device>,
    /// The kernels as hipcc built them; none for the mock.
    program: Option<Arc<Program>>,
}

fn fixture_with(config: Config) -> Fixture {
    let runtime = mock::runtime(config);
    let device = runtime.devices()[0].clone();
    Fixture {
        runtime,
        device,
        program: None,
    }
}

/// The software GPU with the tests' kernels; none, with a word about it, without hipcc.
fn over_the_software_gpu(config: Config) -> Option<Fixture> {
    static IMAGE: OnceLock<Option<Vec<u8>>> = OnceLock::new();
    let runtime = Runtime::new(gneiss_hsa_core::api_table(), config).expect("the runtime starts");
    let device = runtime.devices().first().expect("a GPU").clone();
    let image = IMAGE
        .get_or_init(|| support::code_object(&device, &[], include_str!("kernels.hip")))
        .as_ref()?;
    let program = Program::load(&device, image, &[]).expect("the code object loads");
    Some(Fixture {
        runtime,
        device,
        program: Some(program),
    })
}

/// A kernel of the tests: a function for the mock, a name in `kernels.hip` for the software GPU.
struct Code {
    function: unsafe extern "C" fn(*const u8),
    name: &'static str,
    /// Arguments of 8 bytes.
    arguments: u32,
}

const DOUBLE_AND_ADD: Code = Code {
    function: double_and_add,
    name: "double_and_add",
    arguments: 2,
};
const WAIT_FOR_FLAG: Code = Code {
    function: wait_for_flag,
    name: "wait_for_flag",
    arguments: 1,
};

/// A number that kernels and the host see.
struct Value {
    runtime: Arc<Runtime>,
    place: usize,
}

impl std::ops::Deref for Value {
    type Target = AtomicU64;

    fn deref(&self) -> &AtomicU64 {
        // SAFETY: host memory of 8 bytes that lives as long as this, accessed atomically by the host.
        unsafe { &*(self.place as *const AtomicU64) }
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        // Frees wait for what is enqueued, as in HIP; here the test has waited, or has failed.
        let _ = self.runtime.free(self.place);
    }
}

fn fixture() -> Fixture {
    fixture_with(Config::default())
}

/// Settings in both dispatch modes and both wait modes.
fn all_modes(config: &Config) -> impl Iterator<Item = Config> {
    let modes = [(false, false), (false, true), (true, false), (true, true)];
    modes.into_iter().map(|(direct_dispatch, cpu_wait)| Config {
        direct_dispatch,
        cpu_wait,
        ..config.clone()
    })
}

/// Runs a test in both dispatch modes and both wait modes, over the mock and over the software GPU.
fn in_all_modes(test: impl Fn(Fixture)) {
    in_all_modes_with(Config::default(), test);
}

/// The same with other settings.
fn in_all_modes_with(config: Config, test: impl Fn(Fixture)) {
    for config in all_modes(&config) {
        over_both(config, &test);
    }
}

fn over_both(config: Config, test: impl Fn(Fixture)) {
    test(fixture_with(config.clone()));
    if let Some(fixture) = over_the_software_gpu(config) {
        test(fixture);
    }
}

impl Fixture {
    fn queue(&self) -> Arc<HostQueue> {
        HostQueue::new(&self.device, QueueOptions::default()).expect("a queue")
    }

    fn kernel(&self, code: &Code) -> Arc<Kernel> {
        match &self.program {
            None => mock::kernel(&self.device, code.function, code.arguments),
            Some(program) => program.kernel(code.name).expect("the kernel").clone(),
        }
    }

    /// A kernel that faults, with no or two arguments.
    fn faulty_kernel(&self, arguments: u32) -> Arc<Kernel> {
        match &self.program {
            None => mock::kernel_object(&self.device, mock::FAULT, arguments),
            Some(program) => {
                let name = ["fault", "", "fault_with_two"][arguments as usize];
                program.kernel(name).expect("the kernel").clone()
            }
        }
    }

    fn value(&self, value: u64) -> Value {
        let memory = self
            .runtime
            .allocate_host(&self.device, 8, HostFlags::COHERENT)
            .expect("memory");
        let value_of = Value {
            runtime: self.runtime.clone(),
            place: memory.host_address().expect("host memory"),
        };
        value_of.store(value, Ordering::SeqCst);
        value_of
    }

    fn device_memory(&self, size: usize) -> u64 {
        self.runtime
            .allocate_device(&self.device, size, false)
            .expect("memory")
            .device_address()
    }
}

/// Arguments of 8 bytes, packed.
fn packed(arguments: &[u64]) -> Vec<u8> {
    arguments
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

/// A launch of one group with packed arguments.
fn one_group<'a>(kernel: &'a Arc<Kernel>, arguments: &'a [u8]) -> Launch<'a> {
    Launch {
        kernel,
        grid: [64, 1, 1],
        block: [64, 1, 1],
        dynamic_shared: 0,
        arguments: Arguments::Packed(arguments),
        cooperative: false,
        any_order: false,
    }
}

fn launch(
    queue: &HostQueue,
    kernel: &Arc<Kernel>,
    arguments: &[u64],
    wait_list: &[Event],
) -> Event {
    let bytes = packed(arguments);
    // SAFETY: the kernels use what the tests keep alive.
    unsafe { queue.enqueue_kernel(&one_group(kernel, &bytes), wait_list) }.expect("a launch")
}

/// `*(arg 0)` becomes `2 * *(arg 0) + arg 1`: the result tells the order of several.
unsafe extern "C" fn double_and_add(arguments: *const u8) {
    // SAFETY: the tests pass a pointer to an AtomicU64 and a number.
    unsafe {
        let arguments = arguments.cast::<u64>();
        let place = &*(arguments.read() as *const AtomicU64);
        let value = place.load(Ordering::SeqCst);
        place.store(
            value.wrapping_mul(2).wrapping_add(arguments.add(1).read()),
            Ordering::SeqCst,
        );
    }
}

/// Waits until `*(arg 0)` is not 0.
unsafe extern "C" fn wait_for_flag(arguments: *const u8) {
    // SAFETY: the tests pass a pointer to an AtomicU64.
    unsafe {
        let place = &*(arguments.cast::<u64>().read() as *const AtomicU64);
        while place.load(Ordering::SeqCst) == 0 {
            thread::sleep(Duration::from_micros(50));
        }
    }
}

fn address(value: &AtomicU64) -> u64 {
    std::ptr::from_ref(value) as u64
}

/// Runs a test in a process of its own, for what other tests must not disturb: `name` is the test's own name, from `tests::` on.
fn in_child(name: &str, test: impl FnOnce()) {
    const CHILD: &str = "GNEISS_CLR_CHILD";
    if std::env::var_os(CHILD).is_some() {
        return test();
    }
    let output = std::process::Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", name, "--test-threads=1"])
        .env(CHILD, "1")
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    // A name that is no test's would run nothing, and pass.
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Opens when told; a host function that waits for it.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<bool>, parking_lot::Condvar)>);

impl Gate {
    fn open(&self) {
        *self.0.0.lock() = true;
        self.0.1.notify_all();
    }

    fn function(&self) -> Box<dyn FnOnce(Status) + Send> {
        let gate = self.clone();
        Box::new(move |_| {
            let mut open = gate.0.0.lock();
            while !*open {
                gate.0.1.wait(&mut open);
            }
        })
    }
}
