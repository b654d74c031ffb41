//! Ranges of one allocation that overlap, as sub-buffers do: whoever wrote last is seen through all of them.

use super::*;

const WRITE: Code = Code {
    function: write_all,
    name: "write_all",
    arguments: 3,
};

/// `arg 1` numbers from `arg 0` on become `arg 2`.
unsafe extern "C" fn write_all(arguments: *const u8) {
    // SAFETY: the test passes a range of memory of the mock.
    unsafe {
        let words = arguments.cast::<u64>();
        let place = words.read() as *mut u64;
        for index in 0..words.add(1).read() as usize {
            place.add(index).write(words.add(2).read());
        }
    }
}

#[test]
fn the_last_writer_of_overlapping_ranges_is_seen_through_all_of_them() {
    in_all_modes(|f| {
        const WORDS: usize = 96;
        let kernel = f.kernel(&WRITE);
        let parent = f.device_memory(8 * WORDS);
        // The parent, and two ranges that share its middle third.
        let ranges = [(0, WORDS), (0, 64), (32, 64)];
        for pair in [[f.queue(), f.queue()], {
            let one = f.queue();
            [one.clone(), one]
        }] {
            let mut expected = [0_u64; WORDS];
            let mut last: Option<Event> = None;
            for round in 0..12_usize {
                let (begin, length) = ranges[round % 3];
                let value = round as u64 + 1;
                expected[begin..begin + length].fill(value);
                let queue = &pair[round % 2];
                let waits: Vec<Event> = last.take().into_iter().collect();
                let address = parent + 8 * begin as u64;
                last = Some(if round % 4 == 3 {
                    // SAFETY: in the allocation, which lives until the end.
                    unsafe { queue.enqueue_fill(address, &value.to_le_bytes(), 8 * length, &waits) }
                        .expect("a fill")
                } else {
                    launch(queue, &kernel, &[address, length as u64, value], &waits)
                });
            }
            let mut seen = [0_u64; WORDS];
            let waits: Vec<Event> = last.into_iter().collect();
            // SAFETY: the array lives until the wait has ended.
            unsafe { pair[0].enqueue_copy(seen.as_mut_ptr() as u64, parent, 8 * WORDS, &waits) }
                .expect("a copy")
                .wait()
                .expect("no error");
            assert_eq!(seen, expected);
            for (begin, _) in ranges {
                let inside = parent as usize + 8 * begin;
                let (memory, offset) = f.runtime.find_memory(inside).expect("inside");
                assert_eq!((memory.size(), offset), (8 * WORDS, 8 * begin));
            }
        }
    });
}
