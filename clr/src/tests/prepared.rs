//! Kernels that are prepared once and enqueued as one command.

use super::*;
use crate::PreparedKernels;

fn prepared(f: &Fixture, kernel: &Arc<Kernel>, arguments: &[[u64; 2]]) -> PreparedKernels {
    let bytes: Vec<Vec<u8>> = arguments.iter().map(|pair| packed(pair)).collect();
    let launches: Vec<Launch<'_>> = bytes.iter().map(|bytes| one_group(kernel, bytes)).collect();
    PreparedKernels::new(&f.device, &launches).expect("launches that can be")
}

fn enqueue(queue: &HostQueue, kernels: &PreparedKernels, wait_list: &[Event]) -> Event {
    // SAFETY: the kernels use what the tests keep alive.
    unsafe { queue.enqueue_prepared(kernels, wait_list) }.expect("a launch")
}

#[test]
fn prepared_kernels_run_in_order_between_other_commands() {
    in_all_modes(|f| {
        let (queue, other) = (f.queue(), f.queue());
        let kernel = f.kernel(&DOUBLE_AND_ADD);
        let value = f.value(1);
        let place = address(&value);
        let kernels = prepared(&f, &kernel, &[[place, 1], [place, 0], [place, 1]]);
        let user = Event::user();
        launch(&queue, &kernel, &[place, 0], &[]);
        let first = enqueue(&queue, &kernels, std::slice::from_ref(&user));
        let second = enqueue(&queue, &kernels, &[]);
        launch(&other, &kernel, &[place, 0], std::slice::from_ref(&second));
        assert!(!first.query().is_terminal());
        assert!(user.set_user_status(Status::COMPLETE));
        other.finish().expect("no error");
        assert_eq!(value.load(Ordering::SeqCst), 0b1_0101_1010);
        queue.finish().expect("no error");
        assert_eq!(first.status(), Status::COMPLETE);
        assert!(queue.query() && f.device.active_queues().is_empty());
    });
}

#[test]
fn more_prepared_kernels_than_the_ring_holds() {
    let config = Config {
        aql_queue_size: 64,
        max_batch_size: 7,
        ..Config::default()
    };
    over_both(config, |f| {
        let kernel = f.kernel(&DOUBLE_AND_ADD);
        let value = f.value(0);
        // More arguments than a chunk of kernel argument memory holds, too.
        let list: Vec<[u64; 2]> = (0..3000).map(|bit| [address(&value), bit & 1]).collect();
        let kernels = prepared(&f, &kernel, &list);
        let queue = f.queue();
        let mut expected = 0_u64;
        for _ in 0..3 {
            let event = enqueue(&queue, &kernels, &[]);
            for bit in 0..3000 {
                expected = expected.wrapping_mul(2).wrapping_add(bit & 1);
            }
            event.wait().expect("no error");
            assert_eq!(value.load(Ordering::SeqCst), expected);
        }
    });
}

#[test]
fn a_fault_in_prepared_kernels_fails_their_event() {
    in_all_modes(|f| {
        let queue = f.queue();
        let good = f.kernel(&DOUBLE_AND_ADD);
        let faulty = f.faulty_kernel(2);
        let value = f.value(0);
        let bytes = packed(&[address(&value), 1]);
        let launches = [&good, &faulty, &good].map(|kernel| one_group(kernel, &bytes));
        let kernels = PreparedKernels::new(&f.device, &launches).expect("launches that can be");
        let event = enqueue(&queue, &kernels, &[]);
        assert!(event.wait().is_err());
        assert!(queue.finish().is_err());
        assert_eq!(value.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn kernels_of_another_device_and_unpacked_arguments_are_refused() {
    let (f, other) = (fixture(), fixture());
    let kernel = f.kernel(&DOUBLE_AND_ADD);
    let value = f.value(0);
    let kernels = prepared(&f, &kernel, &[[address(&value), 1]]);
    // SAFETY: nothing is launched.
    let result = unsafe { other.queue().enqueue_prepared(&kernels, &[]) };
    assert!(matches!(result, Err(Error::InvalidValue(_))));
    let unpacked = Launch {
        arguments: Arguments::Pointers(&[]),
        ..one_group(&kernel, &[])
    };
    assert!(PreparedKernels::new(&f.device, &[unpacked]).is_err());
    let none = PreparedKernels::new(&f.device, &[]).expect("nothing to refuse");
    enqueue(&f.queue(), &none, &[]).wait().expect("no error");
}
