//! Copies, fills, rectangles, memory.

use super::*;

#[test]
fn copies_of_all_kinds_keep_the_order_of_the_queue() {
    in_all_modes(|f| {
        let queue = f.queue();
        const SIZE: usize = 1 << 20;
        let pinned = f
            .runtime
            .allocate_host(&f.device, SIZE, HostFlags::COHERENT)
            .expect("memory")
            .device_address();
        let (a, b) = (f.device_memory(SIZE), f.device_memory(SIZE));
        let source: Vec<u8> = (0..SIZE).map(|index| (index % 251) as u8).collect();
        let mut target = vec![0_u8; SIZE];
        let gate = f.value(0);
        let wait = f.kernel(&WAIT_FOR_FLAG);
        // SAFETY: everything lives until the queue has finished.
        unsafe {
            launch(&queue, &wait, &[address(&gate)], &[]);
            queue
                .enqueue_fill(pinned, &[0xaa], SIZE, &[])
                .expect("a fill");
            queue
                .enqueue_copy(pinned, source.as_ptr() as u64, SIZE, &[])
                .expect("pageable to pinned");
            queue
                .enqueue_copy(a, pinned, SIZE, &[])
                .expect("pinned to device");
            queue
                .enqueue_copy(b, a, SIZE, &[])
                .expect("device to device");
            queue
                .enqueue_fill(a, &[1, 2, 3, 4], 16, &[])
                .expect("a fill");
            queue.enqueue_copy(b + 8, a, 8, &[]).expect("a small copy");
            let last = queue
                .enqueue_copy(target.as_mut_ptr() as u64, b, SIZE, &[])
                .expect("device to pageable");
            assert!(!last.query().is_terminal());
            gate.store(1, Ordering::SeqCst);
            last.wait().expect("no error");
        }
        assert_eq!(target[..8], source[..8]);
        assert_eq!(target[8..16], [1, 2, 3, 4, 1, 2, 3, 4]);
        assert_eq!(target[16..], source[16..]);
    });
}

#[test]
fn a_pinned_copy_behind_a_kernel_does_not_block_the_caller() {
    let f = fixture_with(Config {
        direct_dispatch: true,
        ..Config::default()
    });
    let queue = f.queue();
    let pinned = f
        .runtime
        .allocate_host(&f.device, 64, HostFlags::COHERENT)
        .expect("memory");
    let device = f.device_memory(64);
    let gate = f.value(0);
    let wait = f.kernel(&WAIT_FOR_FLAG);
    launch(&queue, &wait, &[address(&gate)], &[]);
    // SAFETY: both live until the end.
    let copy =
        unsafe { queue.enqueue_copy(pinned.device_address(), device, 64, &[]) }.expect("a copy");
    assert!(!copy.query().is_terminal());
    gate.store(1, Ordering::SeqCst);
    copy.wait().expect("no error");
}

#[test]
fn copies_over_the_end_of_an_allocation_are_refused() {
    in_all_modes(|f| {
        let queue = f.queue();
        let memory = f.device_memory(100);
        let mut host = [0_u8; 200];
        // SAFETY: refused, or of size 0.
        unsafe {
            let result = queue.enqueue_copy(memory + 1, host.as_mut_ptr() as u64, 100, &[]);
            assert!(matches!(result, Err(Error::InvalidValue(_))));
            let result = queue.enqueue_copy(host.as_mut_ptr() as u64, memory, usize::MAX, &[]);
            assert!(matches!(result, Err(Error::InvalidValue(_))));
            queue
                .enqueue_copy(memory, host.as_ptr() as u64, 0, &[])
                .expect("nothing to do");
            let result = queue.enqueue_fill(memory, &[1, 2, 3], 100, &[]);
            assert!(matches!(result, Err(Error::InvalidValue(_))));
        }
        queue.finish().expect("no error");
    });
}

#[test]
fn rectangles_touch_what_they_should_and_nothing_else() {
    in_all_modes(|f| {
        let queue = f.queue();
        // 4 x 4 x 4 integers, value 16z + 4y + x; copied: column x = 3, y and z from 0 to 2.
        let source: Vec<u32> = (0..64).collect();
        let mut target = vec![133_u32; 64];
        let device = f.device_memory(8 * 4 * 4 * 4);
        let column = 12;
        let host = Rect {
            address: source.as_ptr() as u64,
            row_pitch: 16,
            slice_pitch: 64,
        };
        let pitched = Rect {
            address: device,
            row_pitch: 32,
            slice_pitch: 128,
        };
        // SAFETY: all live until the queue has finished.
        unsafe {
            queue
                .enqueue_copy_rect(
                    &CopyRect {
                        dst: pitched,
                        src: host,
                        extent: [16, 4, 4],
                    },
                    &[],
                )
                .expect("a copy");
            let dst = Rect {
                address: target.as_mut_ptr() as u64 + column,
                ..host
            };
            let src = Rect {
                address: device + column,
                ..pitched
            };
            queue
                .enqueue_copy_rect(
                    &CopyRect {
                        dst,
                        src,
                        extent: [4, 3, 3],
                    },
                    &[],
                )
                .expect("a copy");
            queue.finish().expect("no error");
        }
        for (index, value) in target.iter().enumerate() {
            let (x, y, z) = (index % 4, index / 4 % 4, index / 16);
            let copied = x == 3 && y < 3 && z < 3;
            assert_eq!(
                *value,
                if copied { index as u32 } else { 133 },
                "at {x} {y} {z}"
            );
        }
        let mut bytes = vec![0_u8; 100];
        let fill = FillRect {
            dst: Rect {
                address: bytes.as_mut_ptr() as u64 + 11,
                row_pitch: 10,
                slice_pitch: 0,
            },
            extent: [4, 3, 1],
        };
        // SAFETY: as above.
        unsafe { queue.enqueue_fill_rect(&fill, &[7], &[]) }.expect("a fill");
        queue.finish().expect("no error");
        for (index, byte) in bytes.iter().enumerate() {
            let inside = (1..4).contains(&(index / 10)) && (1..5).contains(&(index % 10));
            assert_eq!(*byte, if inside { 7 } else { 0 }, "at {index}");
        }
        let overlapping = FillRect {
            dst: Rect {
                address: 0x1000,
                row_pitch: 2,
                slice_pitch: 0,
            },
            extent: [4, 3, 1],
        };
        // SAFETY: refused.
        let result = unsafe { queue.enqueue_fill_rect(&overlapping, &[7], &[]) };
        assert!(matches!(result, Err(Error::InvalidValue(_))));
    });
}

#[test]
fn memory_is_found_by_interior_addresses_and_forgotten_when_freed() {
    in_all_modes(|f| {
        let memory = f
            .runtime
            .allocate_device(&f.device, 1000, false)
            .expect("memory");
        let base = memory.device_address() as usize;
        let (found, offset) = f.runtime.find_memory(base + 999).expect("inside");
        assert_eq!((found.id(), offset), (memory.id(), 999));
        assert!(f.runtime.find_memory(base + 1000).is_none());
        let (free, total) = f.device.memory_info();
        assert_eq!(total - free, 4096);
        assert!(matches!(
            f.runtime.free(base + 1),
            Err(Error::UnknownAddress(_))
        ));
        f.runtime.free(base).expect("the base");
        assert!(matches!(
            f.runtime.free(base),
            Err(Error::UnknownAddress(_))
        ));
        assert_eq!(f.device.memory_info(), (total, total));
        assert!(matches!(
            f.runtime.allocate_device(&f.device, usize::MAX, false),
            Err(Error::OutOfMemory { .. })
        ));
        if f.program.is_none() {
            // The mock has no fine-grained device memory.
            assert!(matches!(
                f.runtime.allocate_device(&f.device, 16, true),
                Err(Error::Unsupported(_))
            ));
        }
        let mut host = vec![0_u8; 100];
        let address = host.as_mut_ptr() as usize;
        // SAFETY: unregistered below.
        unsafe {
            f.runtime
                .register_host(&f.device, address, 100, HostFlags::MAPPED)
                .expect("a range");
            let again = f
                .runtime
                .register_host(&f.device, address + 50, 100, HostFlags::MAPPED);
            assert!(matches!(again, Err(Error::AlreadyRegistered(_))));
        }
        assert!(matches!(
            f.runtime.free(address),
            Err(Error::UnknownAddress(_))
        ));
        f.runtime.unregister_host(address).expect("registered");
        assert!(f.runtime.find_memory(address).is_none());
    });
}

#[test]
fn registered_ranges_that_overlap_are_found_by_the_nearest_start() {
    in_all_modes(|f| {
        let mut host = vec![0_u8; 200];
        let address = host.as_mut_ptr() as usize;
        let register = |start, size| {
            // SAFETY: unregistered below.
            unsafe {
                f.runtime
                    .register_host_again(&f.device, address + start, size, HostFlags::MAPPED)
            }
            .expect("a range")
        };
        let found = |at| {
            let found = f.runtime.find_memory(address + at);
            found.map(|(memory, offset)| (memory.id(), offset))
        };
        let outer = register(0, 150);
        let inner = register(20, 10);
        let last = register(100, 100);
        let id = |memory: &Arc<crate::Memory>, offset| Some((memory.id(), offset));
        assert_eq!(found(10), id(&outer, 10));
        assert_eq!(found(25), id(&inner, 5));
        assert_eq!(found(30), id(&outer, 30));
        assert_eq!(found(160), id(&last, 60));
        assert_eq!(found(200), None);
        let known = f.runtime.memory_in(address + 40, 20);
        assert!(known.len() == 1 && Arc::ptr_eq(&known[0], &outer));
        f.runtime.unregister(&outer).expect("registered");
        assert_eq!([found(10), found(30)], [None, None]);
        assert_eq!(found(25), id(&inner, 5));
        f.runtime.unregister(&inner).expect("registered");
        f.runtime.unregister(&last).expect("registered");
        assert_eq!(found(25), None);
    });
}
