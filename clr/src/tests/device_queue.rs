//! Kernels that enqueue kernels. The parents here do by hand what the device libraries' `enqueue_kernel` does.

use std::collections::HashMap;

use gneiss_fatbin::{ArgumentMetadata, KernelMetadata, Metadata, ValueKind};
use gneiss_hsa_api::hsa_executable_t;

use super::*;
use crate::{DeviceQueue, DeviceQueues, Parent};

/// Explicit arguments of the parents here; the hidden ones follow.
const EXPLICIT: u32 = 4;
const WAIT_KERNEL: u32 = 1;
const SUBMITTED: u32 = 2;

/// What device code finds in memory.
#[derive(Clone, Copy)]
struct DeviceCode {
    queue: u64,
    me: u64,
}

/// What is to be enqueued.
#[derive(Clone, Copy)]
struct Request {
    object: u64,
    arguments: [u64; 2],
    wait_for: u64,
    wants_event: bool,
    marker: bool,
}

impl DeviceCode {
    unsafe fn word<T: Copy>(at: u64) -> T {
        // SAFETY: the caller's.
        unsafe { (at as *const T).read() }
    }

    /// Takes the first free bit of a mask.
    unsafe fn take(mask: u64, count: u32) -> Option<u64> {
        (0..count).find_map(|bit| {
            // SAFETY: the mask has that many bits.
            let word = unsafe { AtomicU32::from_ptr((mask + u64::from(bit / 32) * 4) as *mut u32) };
            let taken = word.fetch_or(1 << (bit % 32), Ordering::AcqRel) >> (bit % 32) & 1;
            (taken == 0).then_some(u64::from(bit))
        })
    }

    /// Enqueues; gives the event's address. None: `CLK_ENQUEUE_FAILURE`.
    unsafe fn enqueue(self, request: Request) -> Option<u64> {
        // SAFETY: the queue is one of the runtime's, and the offsets those of `AmdVQueueHeader`, `AmdAqlWrap` and `AmdEvent`.
        unsafe {
            let slot = Self::take(Self::word(self.queue + 24), Self::word(self.queue))?;
            let mut event = 0;
            if request.wants_event {
                let index = Self::take(Self::word(self.queue + 8), Self::word(self.queue + 4))?;
                event = Self::word::<u64>(self.queue + 16) + 40 * index;
                (event as *mut [u32; 2]).write([SUBMITTED, 2]);
                ((event + 32) as *mut u64).write(0);
            }
            let wrap = self.queue + 64 + 128 * slot;
            let commands = AtomicU32::from_ptr((self.queue + 32) as *mut u32);
            ((wrap + 4) as *mut u32).write(WAIT_KERNEL);
            ((wrap + 8) as *mut u32).write(commands.fetch_add(1, Ordering::Relaxed));
            ((wrap + 12) as *mut u32).write(0);
            ((wrap + 16) as *mut [u64; 2]).write([event, self.me]);
            let list: u64 = Self::word(wrap + 32);
            let waits = u32::from(request.wait_for != 0);
            if waits != 0 {
                (list as *mut u64).write(request.wait_for);
                let references = AtomicU32::from_ptr((request.wait_for + 4) as *mut u32);
                references.fetch_add(1, Ordering::Relaxed);
            }
            ((wrap + 40) as *mut u32).write(waits);
            let packet = wrap + 64;
            ((packet + 4) as *mut [u16; 3]).write([64, 1, 1]);
            ((packet + 12) as *mut [u32; 3]).write([64, 1, 1]);
            ((packet + 24) as *mut [u32; 2]).write([0, 0]);
            ((packet + 32) as *mut u64).write(request.object);
            let arguments: u64 = Self::word(packet + 40);
            (arguments as *mut [u64; 2]).write(request.arguments);
            let children = AtomicU32::from_ptr((self.me + 12) as *mut u32);
            children.fetch_add(1, Ordering::Relaxed);
            let state = if request.marker { 3 } else { 2 };
            AtomicU32::from_ptr(wrap as *mut u32).store(state, Ordering::Release);
            Some(event)
        }
    }

    /// Takes a reference from an event that others still have.
    unsafe fn release(event: u64) {
        // SAFETY: an event's address.
        let before =
            unsafe { AtomicU32::from_ptr((event + 4) as *mut u32) }.fetch_sub(1, Ordering::AcqRel);
        assert!(before > 1, "the command's reference is left");
    }
}

unsafe fn arguments_of(block: *const u8) -> ([u64; 4], DeviceCode) {
    // SAFETY: the kernels here have four arguments and the two hidden ones.
    let words: [u64; 6] = unsafe { block.cast::<[u64; 6]>().read() };
    let code = DeviceCode {
        queue: words[4],
        me: words[5],
    };
    (std::array::from_fn(|at| words[at]), code)
}

/// Enqueues the kernel `arg 0` with the arguments `arg 1` and the number of the request, `arg 2` times; `arg 3` becomes how many there
/// was no room for.
unsafe extern "C" fn parent(block: *const u8) {
    // SAFETY: the tests pass what is described.
    unsafe {
        let ([object, value, count, refused], code) = arguments_of(block);
        for number in 0..count {
            let request = Request {
                object,
                arguments: [value, number & 1],
                wait_for: 0,
                wants_event: false,
                marker: false,
            };
            if code.enqueue(request).is_none() {
                (*(refused as *const AtomicU64)).fetch_add(1, Ordering::SeqCst);
            }
        }
    }
}

/// Enqueues the kernel `arg 0` three times, with 1, 0 and 1, each after the one before; the second through a marker.
unsafe extern "C" fn chain(block: *const u8) {
    // SAFETY: the tests pass what is described.
    unsafe {
        let ([object, value, _, _], code) = arguments_of(block);
        let mut wait_for = 0;
        for (bit, marker) in [(1, false), (0, true), (0, false), (1, false)] {
            let request = Request {
                object,
                arguments: [value, bit],
                wait_for,
                wants_event: true,
                marker,
            };
            let event = code.enqueue(request).expect("room");
            if wait_for != 0 {
                DeviceCode::release(wait_for);
            }
            wait_for = event;
        }
        DeviceCode::release(wait_for);
    }
}

fn explicit(count: u32) -> Vec<ArgumentMetadata> {
    (0..count)
        .map(|index| ArgumentMetadata::new(ValueKind::ByValue, 8 * index, 8))
        .collect()
}

/// A program of a parent and `DOUBLE_AND_ADD`, which is a block's kernel in it.
fn program(f: &Fixture, function: unsafe extern "C" fn(*const u8)) -> Arc<Program> {
    let mut args = explicit(EXPLICIT);
    args.push(ArgumentMetadata::new(ValueKind::HiddenDefaultQueue, 32, 8));
    args.push(ArgumentMetadata::new(
        ValueKind::HiddenCompletionAction,
        40,
        8,
    ));
    let kernel = |name: &str, args: Vec<ArgumentMetadata>, block: bool| KernelMetadata {
        name: name.into(),
        symbol: format!("{name}.kd"),
        kernarg_segment_size: 8 * args.len() as u32,
        args,
        kernarg_segment_align: 8,
        max_flat_workgroup_size: 1024,
        device_enqueue_symbol: block.then(|| format!("{name}.runtime_handle")),
        ..Default::default()
    };
    let metadata = Metadata {
        kernels: vec![
            kernel("parent", args, false),
            kernel("child", explicit(2), true),
        ],
        ..Default::default()
    };
    Program::assemble(
        &f.device,
        hsa_executable_t::default(),
        metadata,
        vec![
            function as *const () as u64,
            DOUBLE_AND_ADD.function as *const () as u64,
        ],
        HashMap::new(),
        Vec::new(),
    )
}

fn launch_parent(
    queue: &HostQueue,
    program: &Program,
    queues: &Arc<DeviceQueues>,
    default: Option<&DeviceQueue>,
    arguments: [u64; 4],
) -> Parent {
    let kernel = program.kernel("parent").expect("the kernel");
    assert!(
        kernel.enqueues()
            && program
                .kernel("child")
                .is_some_and(|child| child.is_block())
    );
    let bytes = packed(&arguments);
    let launch = one_group(kernel, &bytes);
    // SAFETY: the kernel and its children use what the tests keep alive.
    unsafe { queue.enqueue_parent(&launch, crate::NdRange::default(), queues, default, &[]) }
        .expect("a launch")
}

fn over_the_mock(test: impl Fn(Fixture)) {
    for config in all_modes(&Config::default()) {
        test(fixture_with(config));
    }
}

#[test]
fn a_parent_ends_when_its_children_have_ended() {
    over_the_mock(|f| {
        let queue = f.queue();
        let queues = DeviceQueues::new(&f.device).expect("device queues");
        let device_queue = queues.queue(1).expect("a device queue");
        assert_eq!(device_queue.size(), 32 * DeviceQueue::COMMAND);
        let program = program(&f, parent);
        let child = DOUBLE_AND_ADD.function as *const () as u64;
        let (value, refused) = (f.value(1), f.value(0));
        let run = |count: u64| {
            let arguments = [child, address(&value), count, address(&refused)];
            launch_parent(&queue, &program, &queues, Some(&device_queue), arguments)
        };
        run(3).family.wait().expect("no error");
        assert_eq!(value.load(Ordering::SeqCst), 0b1010);
        // More than there is room for: those with a slot run, and leave room.
        run(35);
        let last = run(1);
        last.family.wait().expect("no error");
        assert!(last.kernel.status().is_terminal());
        assert_eq!(refused.load(Ordering::SeqCst), 3);
        let shifted = (0..32).fold(0b1010_u64, |value, number| {
            value.wrapping_mul(2) + (number & 1)
        });
        assert_eq!(value.load(Ordering::SeqCst), shifted.wrapping_mul(2));
        queue.finish().expect("no error");
    });
}

#[test]
fn events_order_children_and_are_free_afterwards() {
    over_the_mock(|f| {
        let queue = f.queue();
        let queues = DeviceQueues::new(&f.device).expect("device queues");
        let device_queue = queues.queue(4096).expect("a device queue");
        let program = program(&f, chain);
        let child = DOUBLE_AND_ADD.function as *const () as u64;
        let value = f.value(1);
        for _ in 0..5 {
            value.store(1, Ordering::SeqCst);
            let arguments = [child, address(&value), 0, 0];
            launch_parent(&queue, &program, &queues, Some(&device_queue), arguments)
                .family
                .wait()
                .expect("no error");
            assert_eq!(value.load(Ordering::SeqCst), 0b1101);
        }
        // SAFETY: the header's mask has a bit for each event.
        let taken: u32 = unsafe {
            let mask = DeviceCode::word::<u64>(device_queue.address() + 8);
            (0..u64::from(DeviceQueues::EVENTS / 32))
                .map(|word| DeviceCode::word::<u32>(mask + 4 * word).count_ones())
                .sum()
        };
        assert_eq!(taken, 0);
    });
}

#[test]
fn a_request_for_an_unknown_kernel_fails_the_parent_only() {
    over_the_mock(|f| {
        let queue = f.queue();
        let queues = DeviceQueues::new(&f.device).expect("device queues");
        let device_queue = queues.queue(4096).expect("a device queue");
        let program = program(&f, parent);
        let (value, refused) = (f.value(1), f.value(0));
        let arguments = [0x1234, address(&value), 1, address(&refused)];
        let failed = launch_parent(&queue, &program, &queues, Some(&device_queue), arguments);
        assert!(matches!(failed.family.wait(), Err(Error::CommandFailed(_))));
        failed
            .kernel
            .wait()
            .expect("the parent itself has ended well");
        let add = f.kernel(&DOUBLE_AND_ADD);
        launch(&queue, &add, &[address(&value), 1], &[])
            .wait()
            .expect("the queue goes on");
        assert_eq!(value.load(Ordering::SeqCst), 3);
        for size in [0, DeviceQueue::LARGEST + 1] {
            assert!(matches!(queues.queue(size), Err(Error::InvalidValue(_))));
        }
    });
}

#[test]
fn without_a_default_queue_there_is_no_room() {
    over_the_mock(|f| {
        let queue = f.queue();
        let queues = DeviceQueues::new(&f.device).expect("device queues");
        let program = program(&f, parent);
        let child = DOUBLE_AND_ADD.function as *const () as u64;
        let (value, refused) = (f.value(1), f.value(0));
        let arguments = [child, address(&value), 2, address(&refused)];
        launch_parent(&queue, &program, &queues, None, arguments)
            .family
            .wait()
            .expect("no error");
        assert_eq!(
            (value.load(Ordering::SeqCst), refused.load(Ordering::SeqCst)),
            (1, 2)
        );
    });
}
