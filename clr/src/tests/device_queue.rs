//! Kernels that enqueue kernels.

use super::*;
use crate::DeviceQueue;

/// Takes slots of the device queue at `arg 0` and asks, `arg 3` times, for the kernel object `arg 1` with the arguments `arg 2` and the number
/// of the request; as device code does.
unsafe extern "C" fn parent(arguments: *const u8) {
    // SAFETY: the tests pass the address of a device queue and keep it alive.
    unsafe {
        let words = arguments.cast::<u64>();
        let (queue, object) = (words.read(), words.add(1).read());
        let (value, count) = (words.add(2).read(), words.add(3).read());
        for number in 0..count {
            let slot = AtomicU32::from_ptr(queue as *mut u32).fetch_add(1, Ordering::AcqRel);
            if slot >= (queue as *const u32).add(1).read() {
                continue;
            }
            let request = (queue + 64 + 256 * u64::from(slot)) as *mut u8;
            request.add(4).cast::<u32>().write(16);
            request.add(8).cast::<u64>().write(object);
            request.add(16).cast::<[u32; 3]>().write([64, 1, 1]);
            request.add(28).cast::<[u32; 3]>().write([64, 1, 1]);
            request.add(40).cast::<u32>().write(0);
            request
                .add(48)
                .cast::<[u64; 2]>()
                .write([value, number & 1]);
            AtomicU32::from_ptr(request.cast()).store(1, Ordering::Release);
        }
    }
}

const PARENT: Code = Code {
    function: parent,
    name: "parent",
    arguments: 4,
};

fn launch_parent(
    f: &Fixture,
    queue: &HostQueue,
    device_queue: &Arc<DeviceQueue>,
    child: u64,
    value: &AtomicU64,
    count: u64,
) -> Event {
    let kernel = f.kernel(&PARENT);
    let bytes = packed(&[device_queue.address(), child, address(value), count]);
    let launch = one_group(&kernel, &bytes);
    // SAFETY: the kernel and its children use what the tests keep alive.
    unsafe { queue.enqueue_parent(&launch, device_queue, &[]) }.expect("a launch")
}

#[test]
fn a_parent_ends_when_its_children_have_ended() {
    in_all_modes(|f| {
        let queue = f.queue();
        let device_queue = DeviceQueue::new(&f.device, 4).expect("a device queue");
        let child = f.kernel(&DOUBLE_AND_ADD);
        device_queue.allow(&child);
        let value = f.value(1);
        let event = launch_parent(&f, &queue, &device_queue, child.object(), &value, 3);
        event.wait().expect("no error");
        assert_eq!(value.load(Ordering::SeqCst), 0b1010);
        // More requests than there is room for: those with a slot run.
        launch_parent(&f, &queue, &device_queue, child.object(), &value, 9)
            .wait()
            .expect("no error");
        assert_eq!(value.load(Ordering::SeqCst), 0b1010_0101);
        queue.finish().expect("no error");
    });
}

#[test]
fn a_request_for_an_unknown_kernel_fails_the_parent_only() {
    in_all_modes(|f| {
        let queue = f.queue();
        let device_queue = DeviceQueue::new(&f.device, 4).expect("a device queue");
        let value = f.value(1);
        let event = launch_parent(&f, &queue, &device_queue, 0x1234, &value, 1);
        assert!(matches!(event.wait(), Err(Error::CommandFailed(_))));
        let add = f.kernel(&DOUBLE_AND_ADD);
        launch(&queue, &add, &[address(&value), 1], &[])
            .wait()
            .expect("the queue goes on");
        assert_eq!(value.load(Ordering::SeqCst), 3);
        assert!(matches!(
            DeviceQueue::new(&f.device, 0),
            Err(Error::InvalidValue(_))
        ));
    });
}
