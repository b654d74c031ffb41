//! The lock-free files of `clr/src/lockfree/`, compiled with loom's primitives: loom runs small programs over them in every interleaving that
//! the memory model allows. Nothing but tests: a crate of its own, because the files are compiled a second time.
#![cfg(test)]

#[path = "../../src/lockfree/attention.rs"]
mod attention;
#[path = "../../src/lockfree/status.rs"]
#[allow(dead_code, reason = "no model begins an event anew")]
mod status;
#[path = "../../src/lockfree/wakeup.rs"]
mod wakeup;

mod sync {
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering, fence};
}

use attention::Attention;
use loom::sync::atomic::AtomicUsize;
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;
use status::StatusCell;
use sync::{AtomicU32, Ordering};
use wakeup::Wakeup;

#[test]
fn one_of_two_ends_wins_and_what_it_did_is_seen() {
    loom::model(|| {
        let status = Arc::new((StatusCell::new(2), AtomicUsize::new(0)));
        let ender = {
            let status = status.clone();
            thread::spawn(move || {
                status.1.store(7, Ordering::Relaxed);
                status.0.advance(1);
                status.0.advance(0)
            })
        };
        let failer = {
            let status = status.clone();
            thread::spawn(move || status.0.advance(-5))
        };
        let seen = status.0.get();
        if seen == 0 {
            assert_eq!(status.1.load(Ordering::Relaxed), 7);
        }
        let (ended, failed) = (ender.join().unwrap(), failer.join().unwrap());
        assert!(ended != failed, "exactly one of them ends it");
        assert_eq!(status.0.get(), if ended { 0 } else { -5 });
        assert!(!status.0.advance(-9), "an end is final");
    });
}

/// A futex of loom's parts.
#[derive(Default)]
struct Futex {
    lock: Mutex<()>,
    woken: Condvar,
}

impl Futex {
    fn wait(&self, word: &AtomicU32, seen: u32) {
        let guard = self.lock.lock().unwrap();
        if word.load(Ordering::SeqCst) == seen {
            drop(self.woken.wait(guard).unwrap());
        }
    }

    fn wake(&self) {
        let _guard = self.lock.lock().unwrap();
        self.woken.notify_all();
    }
}

#[test]
fn a_sleeper_is_woken_by_the_end_of_what_it_waits_for() {
    loom::model(|| {
        let shared = Arc::new((StatusCell::new(2), Wakeup::new(), Futex::default()));
        let ender = {
            let shared = shared.clone();
            thread::spawn(move || {
                let (status, wakeup, futex) = &*shared;
                // First a change that is not the end, then the end.
                wakeup.notify(|_| futex.wake());
                status.advance(0);
                wakeup.notify(|_| futex.wake());
            })
        };
        let (status, wakeup, futex) = &*shared;
        loop {
            let seen = wakeup.seen();
            if status.get() <= 0 {
                break;
            }
            wakeup.sleep(
                seen,
                || status.get() <= 0,
                |word, seen| futex.wait(word, seen),
            );
        }
        ender.join().unwrap();
    });
}

#[test]
fn what_is_enqueued_while_another_thread_drains_is_not_forgotten() {
    loom::model(|| {
        struct Queue {
            attention: Attention,
            enqueued: AtomicUsize,
            drained: Mutex<usize>,
        }
        let queue = Arc::new(Queue {
            attention: Attention::new(),
            enqueued: AtomicUsize::new(0),
            drained: Mutex::new(0),
        });
        let enqueue = |queue: &Queue| {
            queue.enqueued.fetch_add(1, Ordering::Relaxed);
            queue.attention.serve(
                || queue.drained.try_lock().ok(),
                |drained| **drained = queue.enqueued.load(Ordering::Relaxed),
            );
        };
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let queue = queue.clone();
                thread::spawn(move || enqueue(&queue))
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(*queue.drained.lock().unwrap(), 2);
    });
}
