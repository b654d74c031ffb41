//! Device memory that the host cannot access: staging, pinning, maps.

use super::*;
use crate::{MapAccess, MemoryKind};

/// Runs a test where the host cannot access device memory.
fn with_a_small_bar(test: impl Fn(Fixture)) {
    let config = Config {
        large_bar: false,
        ..Config::default()
    };
    in_all_modes_with(config, test);
}

#[test]
fn copies_of_memory_that_the_host_cannot_access_are_staged_or_pinned() {
    with_a_small_bar(|f| {
        let queue = f.queue();
        for size in [1_usize, 4096, (1 << 20) + 5, 5 << 20] {
            let memory = f.device_memory(size);
            assert_eq!(
                f.runtime
                    .find_memory(memory as usize)
                    .and_then(|(memory, _)| memory.host_address()),
                None
            );
            let source: Vec<u8> = (0..size).map(|index| (index % 253) as u8).collect();
            let mut target = vec![0_u8; size];
            // SAFETY: everything lives until the queue has finished.
            unsafe {
                queue
                    .enqueue_copy(memory, source.as_ptr() as u64, size, &[])
                    .expect("a write");
                queue
                    .enqueue_copy(target.as_mut_ptr() as u64, memory, size, &[])
                    .expect("a read");
            }
            queue.finish().expect("no error");
            assert!(target == source, "{size} bytes");
        }
    });
}

#[test]
fn fills_rectangles_and_values_reach_memory_that_the_host_cannot_access() {
    with_a_small_bar(|f| {
        let queue = f.queue();
        const SIZE: usize = 3 << 20;
        let memory = f.device_memory(SIZE);
        let pattern = [1_u8, 2, 3];
        let mut target = vec![0_u8; SIZE];
        let rows: Vec<u8> = (0..60).collect();
        let rect = |address: u64, row_pitch: usize| Rect {
            address,
            row_pitch,
            slice_pitch: 0,
        };
        // SAFETY: everything lives until the queue has finished.
        unsafe {
            queue
                .enqueue_fill(memory, &pattern, SIZE, &[])
                .expect("a fill");
            queue
                .enqueue_copy_rect(
                    &CopyRect {
                        dst: rect(memory + 100, 50),
                        src: rect(rows.as_ptr() as u64, 20),
                        extent: [10, 3, 1],
                    },
                    &[],
                )
                .expect("a rectangle");
            queue
                .enqueue_fill_rect(
                    &FillRect {
                        dst: rect(memory + 1000, 64),
                        extent: [8, 2, 1],
                    },
                    &[9],
                    &[],
                )
                .expect("a rectangle");
            queue
                .enqueue_write_value(memory + 2000, ValueWidth::Bits32, 0x1234_5678, &[])
                .expect("a write");
            queue
                .enqueue_wait_value(
                    memory + 2000,
                    ValueWidth::Bits32,
                    0x1234_0000,
                    0xffff_0000,
                    ValueCondition::Equal,
                    &[],
                )
                .expect("a wait");
            queue
                .enqueue_copy(target.as_mut_ptr() as u64, memory, SIZE, &[])
                .expect("a read");
        }
        queue.finish().expect("no error");
        let mut expected: Vec<u8> = (0..SIZE).map(|index| pattern[index % 3]).collect();
        for row in 0..3 {
            expected[100 + 50 * row..][..10].copy_from_slice(&rows[20 * row..][..10]);
        }
        for row in 0..2 {
            expected[1000 + 64 * row..][..8].fill(9);
        }
        expected[2000..2004].copy_from_slice(&0x1234_5678_u32.to_le_bytes());
        assert!(target == expected);
    });
}

#[test]
fn a_wait_for_a_value_that_the_host_cannot_see_ends_when_a_copy_brings_it() {
    with_a_small_bar(|f| {
        let (a, b) = (f.queue(), f.queue());
        let memory = f.device_memory(8);
        // SAFETY: the memory lives as long as the runtime.
        let waiting = unsafe {
            a.enqueue_fill(memory, &[0], 8, &[]).expect("a fill");
            a.finish().expect("no error");
            a.enqueue_wait_value(
                memory,
                ValueWidth::Bits64,
                5,
                !0,
                ValueCondition::GreaterOrEqual,
                &[],
            )
            .expect("a wait")
        };
        assert!(!waiting.query().is_terminal());
        // SAFETY: as above.
        unsafe { b.enqueue_write_value(memory, ValueWidth::Bits64, 6, &[]) }.expect("a write");
        waiting.wait().expect("no error");
        b.finish().expect("no error");
    });
}

#[test]
fn mapped_memory_is_read_and_written_where_the_host_can_and_where_it_cannot_access_it() {
    for large_bar in [true, false] {
        let f = fixture_with(Config {
            large_bar,
            ..Config::default()
        });
        let queue = f.queue();
        let memory = f
            .runtime
            .allocate_device(&f.device, 4096, false)
            .expect("memory");
        let mut target = [0_u8; 4096];
        // SAFETY: the memory lives; pointers are used while it is mapped.
        unsafe {
            queue
                .enqueue_fill(memory.device_address(), &[1], 4096, &[])
                .expect("a fill");
            let (event, mapping) = queue
                .enqueue_map(&memory, 100, 200, MapAccess::ReadWrite, &[])
                .expect("a map");
            event.wait().expect("no error");
            let bytes =
                std::slice::from_raw_parts_mut(mapping.pointer() as *mut u8, mapping.size());
            assert_eq!(bytes, [1; 200]);
            bytes[50..60].fill(2);
            queue.enqueue_unmap(mapping, &[]).expect("an unmap");
            let (event, mapping) = queue
                .enqueue_map(&memory, 4000, 96, MapAccess::WriteAll, &[])
                .expect("a map");
            event.wait().expect("no error");
            std::ptr::write_bytes(mapping.pointer() as *mut u8, 3, 96);
            queue.enqueue_unmap(mapping, &[]).expect("an unmap");
            queue
                .enqueue_copy(
                    target.as_mut_ptr() as u64,
                    memory.device_address(),
                    4096,
                    &[],
                )
                .expect("a read");
            assert!(
                queue
                    .enqueue_map(&memory, 4000, 97, MapAccess::Read, &[])
                    .is_err()
            );
        }
        queue.finish().expect("no error");
        let mut expected = [1_u8; 4096];
        expected[150..160].fill(2);
        expected[4000..].fill(3);
        assert!(target == expected, "large BAR: {large_bar}");
        f.device.synchronize().expect("no error");
        assert_eq!(
            f.runtime.allocations(MemoryKind::Host).len(),
            0,
            "the copies are freed"
        );
    }
}
