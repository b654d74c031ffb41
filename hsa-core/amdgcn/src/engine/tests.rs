//! Tests of the pool: tasks run once per wake, wakes are not lost, idle workers are woken, helpers help.

use std::{
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use super::*;

/// Counts its polls and goes on as often as it was told.
#[derive(Default)]
struct Counter {
    state: TaskState,
    inside: AtomicUsize,
    polls: AtomicU64,
    again: AtomicU64,
}

impl Task for Counter {
    fn state(&self) -> &TaskState {
        &self.state
    }

    fn poll(self: Arc<Self>, _: &Arc<Engine>) -> Poll {
        assert_eq!(
            self.inside.fetch_add(1, Ordering::SeqCst),
            0,
            "two threads poll one task"
        );
        self.polls.fetch_add(1, Ordering::SeqCst);
        let again = self
            .again
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1))
            .is_ok();
        self.inside.fetch_sub(1, Ordering::SeqCst);
        if again { Poll::Again } else { Poll::Idle }
    }
}

/// Waits for a condition; a wait that lasts a minute is a lost wake-up.
fn wait_for(mut condition: impl FnMut() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "the condition never came true"
        );
        std::thread::yield_now();
    }
}

#[test]
fn a_woken_task_runs_and_runs_again_as_often_as_it_says() {
    let engine = Engine::global();
    let task = Arc::new(Counter::default());
    task.again.store(5, Ordering::SeqCst);
    engine.wake(&(task.clone() as Arc<dyn Task>));
    wait_for(|| task.polls.load(Ordering::SeqCst) == 6);
}

#[test]
fn no_wake_is_lost_when_workers_fall_asleep() {
    let engine = Engine::global();
    let task = Arc::new(Counter::default());
    let dynamic: Arc<dyn Task> = task.clone();
    for round in 0..2000u64 {
        let before = task.polls.load(Ordering::SeqCst);
        engine.wake(&dynamic);
        // Each wake of an idle task gives exactly one poll more; vary the time that workers have to fall asleep.
        wait_for(|| task.polls.load(Ordering::SeqCst) > before);
        for _ in 0..(round * 37 % 2000) {
            std::hint::spin_loop();
        }
    }
}

#[test]
fn many_threads_wake_many_tasks() {
    let engine = Engine::global();
    let tasks: Vec<Arc<Counter>> = (0..50).map(|_| Arc::default()).collect();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    for task in &tasks {
                        engine.wake(&(task.clone() as Arc<dyn Task>));
                    }
                }
            });
        }
    });
    for task in &tasks {
        let seen = task.polls.load(Ordering::SeqCst);
        engine.wake(&(task.clone() as Arc<dyn Task>));
        wait_for(|| task.polls.load(Ordering::SeqCst) > seen);
    }
}

#[test]
fn a_helper_runs_tasks_and_leaves_when_it_is_done() {
    let engine = Engine::global();
    let task = Arc::new(Counter::default());
    task.again.store(u64::MAX, Ordering::SeqCst);
    engine.wake(&(task.clone() as Arc<dyn Task>));
    engine.help(&mut || task.polls.load(Ordering::SeqCst) > 100);
    wait_for(|| task.polls.load(Ordering::SeqCst) > 100);
    task.again.store(0, Ordering::SeqCst);
}
