//! Recordings in the order in which threads happen to tell of things.

use std::io::Cursor;

use super::{Doer, load_from};
use crate::trace::{
    format::{CHUNK_HEADER, CHUNK_MAGIC, CHUNK_SIZE, CommandKind, EngineKind, kind},
    record::image,
};

/// A trace of one thread: time, kind, operand and words of each record.
fn trace(records: &[(u64, u16, u32, &[u64])]) -> Vec<u8> {
    let mut words = vec![u64::from(CHUNK_MAGIC), 0, 0, 0];
    for (time, kind, a, rest) in records {
        let count = 2 + rest.len() as u64;
        words.extend([u64::from(*kind) | count << 16 | u64::from(*a) << 32, *time]);
        words.extend(*rest);
    }
    assert!(words.len() * 8 > CHUNK_HEADER);
    words[1] = words.len() as u64 * 8;
    words.resize(CHUNK_SIZE / 8, 0);
    image(&[words.try_into().expect("a chunk")])
}

#[test]
fn the_end_of_a_command_may_be_told_before_its_submission() {
    let (command, copy_engine) = (1, EngineKind::Copy as u32);
    let write = CommandKind::WriteBuffer as u64;
    let enqueue: &[u64] = &[command, write, 64, 0, 0, 0, 0];
    let image = trace(&[
        (10, kind::QUEUE, 1, &[1 << 8]),
        (100, kind::ENQUEUE, 1, enqueue),
        (600, kind::DONE, 0, &[command, 201, 501]),
        (700, kind::SUBMIT, copy_engine, &[command, 0, 0]),
    ]);
    let (workload, recorded) = load_from(Cursor::new(image)).expect("a trace");
    assert!(workload.problems.is_empty(), "{:?}", workload.problems);
    let shape = workload.shapes[workload.commands[0].shape as usize];
    assert_eq!(shape.doer, Doer::Copy);
    assert_eq!(workload.commands[0].duration, 300);
    assert_eq!(recorded.makespan, 400);
}

#[test]
fn what_is_told_of_commands_that_are_not_in_the_file_is_said() {
    let image = trace(&[
        (10, kind::QUEUE, 1, &[1 << 8]),
        (700, kind::SUBMIT, EngineKind::Compute as u32, &[9, 0, 0]),
    ]);
    let (workload, _) = load_from(Cursor::new(image)).expect("a trace");
    let problem = "1 records are about commands whose enqueuing is not in the file";
    assert!(
        workload.problems.iter().any(|text| text.contains(problem)),
        "{:?}",
        workload.problems
    );
}
