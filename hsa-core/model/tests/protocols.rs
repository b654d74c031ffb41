//! The protocols of the HSA runtime under loom: every interleaving of a few threads, and every value that a weakly ordered load may see.

#![allow(dead_code, reason = "the models use a part of each protocol")]

mod sync {
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, Ordering};

    /// The total order of sequentially consistent operations, which loom has for fences only.
    pub(crate) fn order() {
        loom::sync::atomic::fence(Ordering::SeqCst);
    }
}

#[path = "../../src/protocol/mod.rs"]
mod protocol;

use std::sync::Arc;

use loom::{
    cell::UnsafeCell,
    sync::{
        Condvar, Mutex,
        atomic::{AtomicBool, AtomicI64, AtomicU16, AtomicU32, AtomicU64, Ordering},
    },
    thread,
};
use protocol::{handoff, places::Places, sleep::SleepWord, turn::Turn};

/// Runs a model. Threads are interrupted at most twice where they need not give way: more takes hours, and the errors that are known of
/// such protocols need no more.
fn model(body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(body);
}

/// A futex: the look at the word and going to sleep are one step for whoever wakes.
struct Futex {
    lock: Mutex<()>,
    asleep: Condvar,
}

impl Futex {
    fn new() -> Self {
        Self {
            lock: Mutex::new(()),
            asleep: Condvar::new(),
        }
    }

    fn wait(&self, word: &AtomicU32, expected: u32) {
        let guard = self.lock.lock().unwrap();
        if word.load(Ordering::SeqCst) == expected {
            drop(self.asleep.wait(guard).unwrap());
        }
    }

    fn wake(&self) {
        let _guard = self.lock.lock().unwrap();
        self.asleep.notify_all();
    }
}

/// A signal as the runtime has it.
struct Signal {
    value: AtomicI64,
    sleep: SleepWord,
    futex: Futex,
}

impl Signal {
    fn new(value: i64) -> Self {
        Self {
            value: AtomicI64::new(value),
            sleep: SleepWord::new(),
            futex: Futex::new(),
        }
    }

    fn complete(&self) {
        self.value.fetch_sub(1, Ordering::SeqCst);
        if self.sleep.watched() {
            self.sleep.bump();
            self.futex.wake();
        }
    }

    fn wait_for_zero(&self) {
        loop {
            self.sleep.enlist();
            let sequence = self.sleep.word().load(Ordering::SeqCst);
            let done = self.value.load(Ordering::SeqCst) == 0;
            if !done {
                self.futex.wait(self.sleep.word(), sequence);
            }
            self.sleep.resign(1);
            if done {
                return;
            }
        }
    }
}

#[test]
fn a_waiter_hears_of_the_last_of_two_completions() {
    model(|| {
        let signal = Arc::new(Signal::new(2));
        let writers: Vec<_> = (0..2)
            .map(|_| {
                let signal = Arc::clone(&signal);
                thread::spawn(move || signal.complete())
            })
            .collect();
        // A lost wake-up is a deadlock, which loom reports.
        signal.wait_for_zero();
        writers
            .into_iter()
            .for_each(|writer| writer.join().unwrap());
    });
}

#[test]
fn two_waiters_hear_of_one_completion() {
    model(|| {
        let signal = Arc::new(Signal::new(1));
        let other = {
            let signal = Arc::clone(&signal);
            thread::spawn(move || signal.wait_for_zero())
        };
        let writer = {
            let signal = Arc::clone(&signal);
            thread::spawn(move || signal.complete())
        };
        signal.wait_for_zero();
        other.join().unwrap();
        writer.join().unwrap();
    });
}

/// A processor that runs when it is woken, as a task of the engine.
struct Processor {
    places: Places,
    wakes: AtomicU32,
}

#[test]
fn a_stalled_processor_is_woken_by_the_dispatch_that_ends() {
    model(|| {
        let processor = Arc::new(Processor {
            places: Places::new(),
            wakes: AtomicU32::new(0),
        });
        processor.places.take(0);
        processor.places.take(1);
        let ends: Vec<_> = (0..2)
            .map(|place| {
                let processor = Arc::clone(&processor);
                thread::spawn(move || {
                    if processor.places.give(place) {
                        processor.wakes.fetch_add(1, Ordering::SeqCst);
                    }
                })
            })
            .collect();
        // The barrier bit: all must have ended.
        let went_on = processor.places.ready_or_stalled(|free| free == u64::MAX);
        ends.into_iter().for_each(|end| end.join().unwrap());
        assert!(processor.places.idle());
        // It went on, or somebody wakes it: once would do if it then finds all free; it stalls again if not.
        assert!(went_on || processor.wakes.load(Ordering::SeqCst) > 0);
    });
}

/// Slots of a ring; the models need no more.
const SIZE: u64 = 2;

struct Ring {
    headers: [AtomicU16; SIZE as usize],
    bodies: [UnsafeCell<u64>; SIZE as usize],
    write_index: AtomicU64,
    read_index: AtomicU64,
}

// SAFETY: the bodies are handed over by the headers and the read index, which is what loom checks here.
unsafe impl Sync for Ring {}

impl Ring {
    fn new() -> Self {
        Self {
            headers: [AtomicU16::new(1), AtomicU16::new(1)],
            bodies: [UnsafeCell::new(0), UnsafeCell::new(0)],
            write_index: AtomicU64::new(0),
            read_index: AtomicU64::new(0),
        }
    }

    fn produce(&self, value: u64) {
        let index = self.write_index.fetch_add(1, Ordering::Relaxed);
        while !handoff::room(&self.read_index, index, SIZE) {
            thread::yield_now();
        }
        let slot = (index % SIZE) as usize;
        // SAFETY: the slot is this producer's until it publishes the header; loom checks it.
        self.bodies[slot].with_mut(|body| unsafe { *body = value });
        handoff::publish(&self.headers[slot], 2);
    }

    fn consume(&self) -> Option<u64> {
        let index = self.read_index.load(Ordering::Relaxed);
        let slot = (index % SIZE) as usize;
        handoff::valid(&self.headers[slot])?;
        // SAFETY: the header is valid, so the producer is done; loom checks it.
        let value = self.bodies[slot].with(|body| unsafe { *body });
        handoff::give_back(&self.headers[slot], &self.read_index, index);
        Some(value)
    }
}

#[test]
fn a_packet_is_read_whole_and_once_with_two_producers() {
    model(|| {
        let ring = Arc::new(Ring::new());
        let producers: Vec<_> = [3, 5]
            .into_iter()
            .map(|value| {
                let ring = Arc::clone(&ring);
                thread::spawn(move || ring.produce(value))
            })
            .collect();
        let mut sum = 0;
        for _ in 0..2 {
            sum += loop {
                match ring.consume() {
                    Some(value) => break value,
                    None => thread::yield_now(),
                }
            };
        }
        producers
            .into_iter()
            .for_each(|producer| producer.join().unwrap());
        assert_eq!(sum, 8);
        assert_eq!(ring.consume(), None);
    });
}

#[test]
fn a_slot_is_used_again_only_after_it_was_read() {
    model(|| {
        let ring = Arc::new(Ring::new());
        let producer = {
            let ring = Arc::clone(&ring);
            // One more than there are slots.
            thread::spawn(move || (1..=3).for_each(|value| ring.produce(value)))
        };
        for expected in 1..=3 {
            let value = loop {
                match ring.consume() {
                    Some(value) => break value,
                    None => thread::yield_now(),
                }
            };
            assert_eq!(value, expected);
        }
        producer.join().unwrap();
    });
}

#[test]
fn no_request_is_lost_and_one_thread_works_at_a_time() {
    model(|| {
        let turn = Arc::new(Turn::new());
        let waiting = Arc::new(AtomicU32::new(0));
        let working = Arc::new(AtomicBool::new(false));
        let done = Arc::new(AtomicU32::new(0));
        let ask = {
            let (turn, waiting, working, done) = (turn, waiting, working, Arc::clone(&done));
            move || {
                waiting.fetch_add(1, Ordering::SeqCst);
                turn.request(|| {
                    assert!(!working.swap(true, Ordering::SeqCst), "two at a time");
                    done.fetch_add(waiting.swap(0, Ordering::SeqCst), Ordering::SeqCst);
                    working.store(false, Ordering::SeqCst);
                });
            }
        };
        let other = {
            let ask = ask.clone();
            thread::spawn(ask)
        };
        ask();
        other.join().unwrap();
        assert_eq!(done.load(Ordering::SeqCst), 2);
    });
}
